/* SPDX-License-Identifier: MIT */
#include "policy_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "tools/cli.h"
#include "tools/units.h"

#include <tied/error.h>

#define TEXT_MAX  SIM_NAME_MAX
#define DELAY_MAX TIED_S (3600)

const char *const sim_pick_words[] = {[TIED_PICK_INFORMED] = "informed",
                                      [TIED_PICK_RANDOM] = "random",
                                      [TIED_PICK_ROUND_ROBIN] = "round-robin",
                                      NULL};

static int refuse (char *why, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static int refuse (char *why, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    vsnprintf (why, SIM_POLICY_WHY_MAX, format, args);
    va_end (args);
    return TIED_ERR_INVAL;
}

void sim_policy_init (struct sim_policy *self, enum sim_policy_kind kind)
{
    bool is_tied = kind == SIM_POLICY_TIED || kind == SIM_POLICY_TIED_HEDGE;
    bool is_hedged = kind == SIM_POLICY_HEDGE || kind == SIM_POLICY_TIED_HEDGE;
    *self = (struct sim_policy){.kind = kind,
                                .pick = is_tied ? TIED_PICK_INFORMED : TIED_PICK_RANDOM,
                                .stagger_ns = TIED_STAGGER_AUTO,
                                .hedge_ppm = is_hedged ? 950000 : 0,
                                .d = 2};
}

int sim_percentile_parse (const char *text, uint32_t *out_ppm)
{
    double percent;
    if (text[0] != 'p' || ti_parse_real (text + 1, &percent) || percent <= 0 || percent >= 100)
        return TIED_ERR_INVAL;
    double ppm = percent * 1e4;
    if (fabs (ppm - round (ppm)) > 1e-6)
        return TIED_ERR_INVAL;
    *out_ppm = (uint32_t)round (ppm);
    return 0;
}

int sim_hedge_parse (const char *text, struct sim_policy *out)
{
    uint64_t ns = 0;
    uint32_t ppm = 0;
    if (sim_percentile_parse (text, &ppm) && (ti_parse_duration (text, &ns) || ns > DELAY_MAX))
        return TIED_ERR_INVAL;
    out->hedge_ppm = ppm;
    out->hedge_ns = ppm == 0 && ns == 0 ? TIED_HEDGE_NOW : ns;
    return 0;
}

static bool takes_d (enum sim_policy_kind kind)
{
    return kind == SIM_POLICY_JSQ || kind == SIM_POLICY_IDEAL_COS || kind == SIM_POLICY_IDEAL_COC;
}

/* cos and coc are short for the ideal ones: the words of the literature. */
static int parse_kind (const char *text, struct sim_policy *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    const char *word = strcmp (text, "cos") == 0   ? "ideal-cos"
                       : strcmp (text, "coc") == 0 ? "ideal-coc"
                                                   : text;
    for (uint32_t i = 0; i < SIM_POLICY_KINDS; i++)
        if (strcmp (sim_policy_words[i], word) == 0) {
            sim_policy_init (out, (enum sim_policy_kind)i);
            return 0;
        }
    const char *nearest = ti_cli_nearest (text, sim_policy_words);
    if (nearest)
        return refuse (why, "%s is no policy: did you mean \"%s\"?", ti_cli_quote (text, quoted),
                       nearest);
    return refuse (why, "%s is no policy: write single, tied, hedge/p95, clone, central, jsq(2)...",
                   ti_cli_quote (text, quoted));
}

static int parse_d (char *text, struct sim_policy *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    size_t length = strlen (text);
    uint64_t d = 0;
    if (length == 0 || text[length - 1] != ')')
        return refuse (why, "the parenthesis is not closed: write jsq(2)");
    text[length - 1] = '\0';
    if (!takes_d (out->kind))
        return refuse (why, "%s takes no number in parentheses", sim_policy_words[out->kind]);
    if (ti_parse_u64 (text, &d) || d < 1 || d > 64)
        return refuse (why, "%s is no number from 1 to 64", ti_cli_quote (text, quoted));
    out->d = (uint32_t)d;
    return 0;
}

static int parse_stagger (const char *text, struct sim_policy *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    uint64_t ns = 0;
    if (out->kind != SIM_POLICY_TIED && out->kind != SIM_POLICY_TIED_HEDGE)
        return refuse (why, "%s has no stagger", sim_policy_words[out->kind]);
    int rc = ti_parse_duration (text, &ns);
    if (rc || ns > DELAY_MAX)
        return refuse (why, "stagger %s %s: write a duration like 1ms, up to 1h",
                       ti_cli_quote (text, quoted), rc ? ti_units_text (rc) : "is too large");
    out->stagger_ns = ns;
    return 0;
}

static int parse_word (const char *text, struct sim_policy *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    struct sim_policy policy;
    for (uint32_t i = 0; sim_pick_words[i]; i++)
        if (strcmp (sim_pick_words[i], text) == 0) {
            if (sim_policy_is_reference (out->kind))
                return refuse (why, "%s has a choice of its own", sim_policy_words[out->kind]);
            out->pick = i;
            return 0;
        }
    if (strcmp (text, "keep") == 0) {
        if (sim_policy_is_reference (out->kind) || out->kind == SIM_POLICY_SINGLE)
            return refuse (why, "%s has no losers to keep", sim_policy_words[out->kind]);
        out->keeps_losers = true;
        return 0;
    }
    if (sim_hedge_parse (text, &policy))
        return refuse (why,
                       "%s is unknown: there are random, informed, round-robin, keep, and "
                       "delays of a hedge such as 10ms or p95",
                       ti_cli_quote (text, quoted));
    if (out->kind != SIM_POLICY_HEDGE && out->kind != SIM_POLICY_TIED_HEDGE)
        return refuse (why, "%s sends no copy later: a delay belongs to hedge or tied-hedge",
                       sim_policy_words[out->kind]);
    out->hedge_ppm = policy.hedge_ppm;
    out->hedge_ns = policy.hedge_ns;
    return 0;
}

/* "+hedge:10ms", as the load tool has it, makes a hedge of single and of tied. */
static int parse_hedge (const char *text, struct sim_policy *out, char *why)
{
    char quoted[TI_CLI_QUOTE_MAX];
    static const char head[] = "hedge:";
    bool is_headed = strncmp (text, head, sizeof head - 1) == 0;
    if (out->kind != SIM_POLICY_SINGLE && out->kind != SIM_POLICY_TIED)
        return refuse (why, "a hedge is added to single or tied, not to %s",
                       sim_policy_words[out->kind]);
    if (!is_headed || sim_hedge_parse (text + sizeof head - 1, out))
        return refuse (why, "%s is unknown: write +hedge:10ms or +hedge:p95",
                       ti_cli_quote (text, quoted));
    out->kind = out->kind == SIM_POLICY_TIED ? SIM_POLICY_TIED_HEDGE : SIM_POLICY_HEDGE;
    return 0;
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

int sim_policy_parse (const char *text, struct sim_policy *out, char why[SIM_POLICY_WHY_MAX])
{
    char copy[TEXT_MAX], quoted[TI_CLI_QUOTE_MAX];
    struct sim_policy policy;
    if (strlen (text) >= sizeof copy)
        return refuse (why, "%s is too long for a policy", ti_cli_quote (text, quoted));
    memcpy (copy, text, strlen (text) + 1);
    char separator;
    char *rest = cut (copy, "(:+/", &separator);
    int rc = parse_kind (copy, &policy, why);
    if (rc == 0 && separator == '(') {
        char *piece = rest;
        rest = cut (piece, ":+/", &separator);
        rc = parse_d (piece, &policy, why);
    }
    if (rc == 0 && separator == ':') {
        char *piece = rest;
        rest = cut (piece, "+/", &separator);
        rc = parse_stagger (piece, &policy, why);
    }
    if (rc == 0 && separator == '+') {
        char *piece = rest;
        rest = cut (piece, "/", &separator);
        rc = parse_hedge (piece, &policy, why);
    }
    while (rc == 0 && separator == '/') {
        char *piece = rest;
        rest = cut (piece, "/", &separator);
        rc = parse_word (piece, &policy, why);
    }
    if (rc)
        return rc;
    memcpy (policy.name, text, strlen (text) + 1);
    *out = policy;
    return 0;
}
