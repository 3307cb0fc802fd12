/* SPDX-License-Identifier: MIT */
/* Reads a policy from left to right, a piece at a time; see policy_text.h. */
#include "policy_text.h"

#include <stdio.h>
#include <string.h>

#include "text/units.h"

#include <tied/error.h>

/* Names for a near miss. */
#define NAMES_MAX 32

const char *const ti_pick_words[] = {[TIED_PICK_INFORMED] = "informed",
                                     [TIED_PICK_RANDOM] = "random",
                                     [TIED_PICK_ROUND_ROBIN] = "round-robin",
                                     [TIED_PICK_AFFINITY] = "affinity",
                                     NULL};

/* Of each mode of the library: one that is new does not compile before it stands here. */
enum {
    TAKES_SINGLE = TI_TAKES_HEDGE | TI_TAKES_PICK,
    TAKES_TIED = TI_TAKES_STAGGER | TI_TAKES_HEDGE | TI_TAKES_PICK | TI_TAKES_KEEP,
    TAKES_PARK = TI_TAKES_STAGGER | TI_TAKES_PICK,
    TAKES_EXCLUSIVE = TI_TAKES_STAGGER | TI_TAKES_PICK
};

#define MODE(name, number, text) {text, number, (number) != TIED_MODE_SINGLE, TAKES_##name},
static const struct ti_policy_word modes[] = {TIED_MODE_MAP (MODE){NULL, 0, false, 0}};
#undef MODE

uint32_t ti_pick_default (bool is_tied)
{
    return is_tied ? TIED_PICK_INFORMED : TIED_PICK_RANDOM;
}

/* What is being read. */
struct reading {
    const struct ti_policy_grammar *grammar;
    struct ti_policy_text policy;
    bool has_pick, has_governor;
    char *why;
};

static bool can (const struct reading *self, uint32_t what)
{
    return (self->grammar->takes & what) != 0;
}

/* May the word be followed by it, in this program? */
static bool takes (const struct reading *self, uint32_t what)
{
    return can (self, what) && (self->policy.word->takes & what) != 0;
}

static const struct ti_policy_word *find (const struct ti_policy_word *words, const char *name)
{
    for (; words && words->name; words++)
        if (strcmp (words->name, name) == 0)
            return words;
    return NULL;
}

static void add_names (const struct ti_policy_word *words, const char **names, uint32_t *count)
{
    for (; words && words->name && *count < NAMES_MAX; words++)
        names[(*count)++] = words->name;
}

static int parse_word (struct reading *self, const char *text)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    char quoted[TI_QUOTE_MAX];
    uint32_t count = 0;
    const struct ti_policy_word *word = find (modes, text);

    self->policy.is_mode = word != NULL;
    if (!word)
        word = find (self->grammar->more, text);
    if (word) {
        self->policy.word = word;
        self->policy.pick = ti_pick_default (word->is_tied);
        if (self->policy.is_mode)
            self->policy.settings.mode = word->number;
        return 0;
    }
    ti_quote (text, quoted);
    add_names (modes, names, &count);
    add_names (self->grammar->more, names, &count);
    const char *nearest = ti_nearest (text, names);
    if (nearest)
        return ti_cli_refuse (self->why, "%s is no policy: did you mean \"%s\"?", quoted, nearest);
    return ti_cli_refuse (self->why, "%s is no policy: write %s", quoted, self->grammar->examples);
}

static int parse_d (struct reading *self, char *text)
{
    char quoted[TI_QUOTE_MAX];
    size_t length = strlen (text);
    uint64_t d = 0;
    if (!takes (self, TI_TAKES_D))
        return ti_cli_refuse (self->why, "%s takes no number in parentheses",
                              self->policy.word->name);
    if (length == 0 || text[length - 1] != ')')
        return ti_cli_refuse (self->why, "the parenthesis is not closed: write %s(2)",
                              self->policy.word->name);
    text[length - 1] = '\0';
    if (ti_parse_u64 (text, &d) || d < 1 || d > TI_POLICY_D_MAX)
        return ti_cli_refuse (self->why, "%s is no number from 1 to %d", ti_quote (text, quoted),
                              TI_POLICY_D_MAX);
    self->policy.d = (uint32_t)d;
    return 0;
}

static int parse_stagger (struct reading *self, const char *text)
{
    char quoted[TI_QUOTE_MAX];
    if (!takes (self, TI_TAKES_STAGGER))
        return ti_cli_refuse (self->why, "%s has no stagger", self->policy.word->name);
    int error = ti_stagger_parse (text, &self->policy.settings.stagger_ns);
    if (error)
        return ti_cli_refuse (self->why, "stagger %s %s: write a duration like 1ms, up to 1h",
                              ti_quote (text, quoted), ti_units_text (error));
    return 0;
}

/* A PART that is one: of a hedge that the program makes itself. */
static int set_delay (struct reading *self, const struct ti_hedge *hedge, const char *text)
{
    if (self->policy.hedge.kind != TI_HEDGE_NONE)
        return ti_cli_refuse (self->why, "/%.40s is the second delay of the hedge: give one", text);
    self->policy.hedge = *hedge;
    return 0;
}

/* "auto@5%" */
static int set_rule (struct reading *self, char *text)
{
    char quoted[TI_QUOTE_MAX];
    struct tied_hedge_rule rule;
    char *share = strchr (text, '@');
    size_t at = 0;
    if (share)
        *share++ = '\0';
    if (tied_hedge_rule_parse (text, &rule, &at))
        return ti_cli_refuse (self->why,
                              "hedge %s is no rule from its byte %zu on: write 10ms, p95, "
                              "min(p99,50ms), max(...), auto or never",
                              ti_quote (text, quoted), at + 1);
    ti_policy_set_rule (&self->policy.settings, &rule);
    const int error = share ? ti_share_parse (share, &self->policy.settings.extra_load_ppm) : 0;
    if (error)
        return ti_cli_refuse (self->why, "share %s %s: write what hedges may cost as in @5%%",
                              ti_quote (share, quoted), ti_units_text (error));
    return 0;
}

/* "single, tied" */
static const char *name_those (uint32_t what, const struct ti_policy_word *words, char list[64])
{
    size_t at = 0;
    list[0] = '\0';
    for (; words && words->name && at < 64; words++)
        if (words->takes & what)
            at += (size_t)snprintf (list + at, 64 - at, "%s%s", at ? " or " : "", words->name);
    return list;
}

/* "+hedge:10ms" */
static int parse_hedge (struct reading *self, char *text)
{
    static const char head[] = "hedge:";
    char quoted[TI_QUOTE_MAX], list[64];
    if (!takes (self, TI_TAKES_HEDGE))
        return ti_cli_refuse (self->why, "a hedge is added to %s, not to %s",
                              name_those (TI_TAKES_HEDGE, modes, list), self->policy.word->name);
    if (strncmp (text, head, sizeof head - 1) != 0)
        return ti_cli_refuse (self->why, "%s is unknown: write +hedge:10ms or +hedge:auto",
                              ti_quote (text, quoted));
    return set_rule (self, text + sizeof head - 1);
}

static int parse_pick (struct reading *self, uint32_t pick)
{
    if (!takes (self, TI_TAKES_PICK))
        return ti_cli_refuse (self->why, "%s has a choice of its own", self->policy.word->name);
    if (self->has_pick)
        return ti_cli_refuse (self->why, "/%s is the second choice of replicas: give one",
                              ti_pick_words[pick]);
    self->has_pick = true;
    self->policy.pick = pick;
    return 0;
}

static int parse_governor (struct reading *self, bool is_governed)
{
    const char *word = is_governed ? "governed" : "ungoverned";
    if (!takes (self, TI_TAKES_HEDGE))
        return ti_cli_refuse (self->why, "%s has no governor", self->policy.word->name);
    if (self->has_governor)
        return ti_cli_refuse (self->why, "/%s is said for the second time", word);
    self->has_governor = true;
    self->policy.settings.is_governed = is_governed;
    return 0;
}

static int parse_keep (struct reading *self)
{
    const struct ti_policy_text *policy = &self->policy;
    if (!(policy->word->takes & TI_TAKES_KEEP) &&
        policy->settings.hedge.kind == TIED_HEDGE_RULE_NEVER)
        return ti_cli_refuse (self->why, "%s has no losers to keep", policy->word->name);
    self->policy.keeps_losers = true;
    return 0;
}

/* Can calls of this program be sent there? */
static bool has_pick (const struct reading *self, uint32_t pick)
{
    return pick != TIED_PICK_AFFINITY || can (self, TI_TAKES_AFFINITY);
}

static int refuse_part (const struct reading *self, const char *text)
{
    char quoted[TI_QUOTE_MAX], list[64] = "";
    size_t at = 0;
    for (uint32_t i = 0; ti_pick_words[i] && at < sizeof list; i++)
        if (has_pick (self, i))
            at += (size_t)snprintf (list + at, sizeof list - at, "%s%s", i ? ", " : "",
                                    ti_pick_words[i]);
    return ti_cli_refuse (self->why, "%s is unknown: there are %s%s%s%s", ti_quote (text, quoted),
                          list, can (self, TI_TAKES_HEDGE) ? ", governed, ungoverned" : "",
                          can (self, TI_TAKES_KEEP) ? ", keep" : "",
                          can (self, TI_TAKES_DELAY) ? ", and delays of a hedge such as 10ms or p95"
                                                     : "");
}

/* What follows a stroke. */
static int parse_part (struct reading *self, const char *text)
{
    struct ti_hedge hedge;
    char list[64];
    for (uint32_t i = 0; ti_pick_words[i]; i++)
        if (has_pick (self, i) && strcmp (ti_pick_words[i], text) == 0)
            return parse_pick (self, i);
    if (strcmp (text, "governed") == 0 || strcmp (text, "ungoverned") == 0)
        return parse_governor (self, text[0] == 'g');
    if (strcmp (text, "keep") == 0 && can (self, TI_TAKES_KEEP))
        return parse_keep (self);
    if (!can (self, TI_TAKES_DELAY) || ti_hedge_parse (text, &hedge))
        return refuse_part (self, text);
    if (!takes (self, TI_TAKES_DELAY))
        return ti_cli_refuse (self->why, "%s sends no copy later: a delay belongs to %s",
                              self->policy.word->name,
                              name_those (TI_TAKES_DELAY, self->grammar->more, list));
    return set_delay (self, &hedge, text);
}

/* The end of the piece that begins at text: where one of the separators of the rest stands. */
static char *cut (char *text, const char *separators, char *out_separator)
{
    char *end = text + strcspn (text, separators);
    *out_separator = *end;
    if (!*end)
        return end;
    *end = '\0';
    return end + 1;
}

static int parse_pieces (struct reading *self, char *text)
{
    char separator;
    char *rest = cut (text, "(:+/", &separator);
    int rc = parse_word (self, text);
    if (rc == 0 && separator == '(') {
        char *piece = rest;
        rest = cut (piece, ":+/", &separator);
        rc = parse_d (self, piece);
    }
    if (rc == 0 && separator == ':') {
        char *piece = rest;
        rest = cut (piece, "+/", &separator);
        rc = parse_stagger (self, piece);
    }
    if (rc == 0 && separator == '+') {
        char *piece = rest;
        rest = cut (piece, "/", &separator);
        rc = parse_hedge (self, piece);
    }
    while (rc == 0 && separator == '/') {
        char *piece = rest;
        rest = cut (piece, "/", &separator);
        rc = parse_part (self, piece);
    }
    return rc;
}

/* One copy, and no hedge: nothing that costs anything. */
static void start (struct tied_policy *settings)
{
    const struct tied_hedge_rule never = {.kind = TIED_HEDGE_RULE_NEVER};
    tied_policy_init (settings);
    ti_policy_set_rule (settings, &never);
    settings->mode = TIED_MODE_SINGLE;
    settings->is_idempotent = true;
}

int ti_policy_parse (const char *text,
                     const struct ti_policy_grammar *grammar,
                     struct ti_policy_text *out,
                     char why[TI_CLI_WHY_MAX])
{
    char copy[TI_POLICY_TEXT_MAX], quoted[TI_QUOTE_MAX];
    struct reading self = {.grammar = grammar, .why = why};
    size_t length = strlen (text);
    start (&self.policy.settings);
    if (length >= sizeof copy)
        return ti_cli_refuse (why, "%s is too long for a policy", ti_quote (text, quoted));
    memcpy (copy, text, length + 1);
    int rc = parse_pieces (&self, copy);
    if (rc == 0)
        *out = self.policy;
    return rc;
}
