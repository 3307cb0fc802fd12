/* SPDX-License-Identifier: MIT */
/* The settings of a method as keys; what holds between them is checked in policy_file.c. */
#include "policy_schema.h"

#include <string.h>

#include <tied/policy.h>

#include "text/quote.h"
#include "text/units.h"

#define AT(member) offsetof (struct tied_policy, member)
#define HOUR       TIED_S (3600)
#define COPIES_MAX ((uint64_t)1 << 30) /* thousandths */

static const char *const modes[] = {[TIED_MODE_SINGLE] = "single",
                                    [TIED_MODE_TIED] = "tied",
                                    [TIED_MODE_PARK] = "park",
                                    [TIED_MODE_EXCLUSIVE] = "exclusive",
                                    [TIED_MODE_EXCLUSIVE + 1] = NULL};

static void choose_hedge (void *base, bool is_none)
{
    struct tied_policy *policy = base;
    if (is_none)
        policy->hedge = (struct tied_hedge_rule){.kind = TIED_HEDGE_RULE_NEVER};
}

static void choose_governor (void *base, bool is_none)
{
    struct tied_policy *policy = base;
    policy->is_governed = !is_none;
}

static void choose_waits (void *base, bool is_none)
{
    struct tied_policy *policy = base;
    if (is_none)
        policy->waits_count = 0;
}

static int parse_hedge (struct ti_reader *reader,
                        const struct ti_field *field,
                        const struct ti_node *node,
                        void *base)
{
    struct tied_policy *policy = base;
    char quoted[TI_QUOTE_MAX];
    size_t at = 0;
    (void)field;
    if (tied_hedge_rule_parse (node->text, &policy->hedge, &at) == 0)
        return 0;
    return ti_reader_refuse (reader, node,
                             "%s is no rule from character %zu on: write never, auto, a delay such "
                             "as 50ms, a percentile such as p95, min(p99,50ms) or max(p95,5ms)",
                             ti_quote (node->text, quoted), at + 1);
}

static void print_hedge (const void *base, char text[TI_SCHEMA_PRINT_MAX])
{
    char rule[TIED_HEDGE_TEXT_MAX];
    const struct tied_policy *policy = base;
    if (tied_hedge_rule_print (&policy->hedge, rule, sizeof rule) < 0)
        rule[0] = '\0';
    snprintf (text, TI_SCHEMA_PRINT_MAX, "%.63s", rule);
}

/* A rule of one percentile says it, too. */
static int parse_target (struct ti_reader *reader,
                         const struct ti_field *field,
                         const struct ti_node *node,
                         void *base)
{
    struct tied_policy *policy = base;
    struct tied_hedge_rule rule;
    char quoted[TI_QUOTE_MAX];
    (void)field;
    if (tied_hedge_rule_parse (node->text, &rule, NULL) == 0 && rule.count == 1 &&
        rule.terms[0].is_percentile && rule.terms[0].value >= 500000) {
        policy->target_ppm = (uint32_t)rule.terms[0].value;
        return 0;
    }
    return ti_reader_refuse (reader, node, "%s is no percentile from p50 to p99.9999",
                             ti_quote (node->text, quoted));
}

static void print_target (const void *base, char text[TI_SCHEMA_PRINT_MAX])
{
    const struct tied_policy *policy = base;
    const struct tied_hedge_rule rule = {
        .kind = TIED_HEDGE_RULE_MIN,
        .count = 1,
        .terms = {{.is_percentile = true, .value = policy->target_ppm}}};

    /* Not by printf: a host may have set a locale with another decimal point. */
    (void)!tied_hedge_rule_print (&rule, text, TI_SCHEMA_PRINT_MAX);
}

static bool parse_status (const char *text, size_t length, uint32_t *out)
{
    char copy[16];
    uint64_t value;
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy (copy, text, length);
    copy[length] = '\0';
    if (ti_parse_u64 (copy, &value) != TI_UNITS_OK || value == 0 || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static int parse_wait (struct ti_reader *reader,
                       const struct ti_field *field,
                       const struct ti_node *node,
                       void *base)
{
    struct tied_status_range range, *out = base;
    char quoted[TI_QUOTE_MAX];
    const size_t first = strcspn (node->text, "-");
    const char *last = node->text[first] ? node->text + first + 1 : node->text;
    (void)field;
    if (parse_status (node->text, first, &range.first) &&
        parse_status (last, strlen (last), &range.last) && range.first <= range.last) {
        *out = range;
        return 0;
    }
    return ti_reader_refuse (reader, node,
                             "%s is no error: write a code from 1 to 4294967295, or a range such "
                             "as 100-199",
                             ti_quote (node->text, quoted));
}

static const struct ti_field wait_fields[] = {
    {.key = "error",
     .type = TI_TYPE_CUSTOM,
     .value_text = "a code such as `503`, or a range such as `100-199`",
     .help = "application errors",
     .parse = parse_wait},
    {.key = NULL},
};

static const struct ti_field governor_fields[] = {
    {.key = "window",
     .type = TI_TYPE_DURATION,
     .offset = AT (governor.window_ns),
     .min = TIED_MS (10),
     .max = HOUR,
     .help = "shares are of what happened in this time"},
    {.key = "hold",
     .type = TI_TYPE_DURATION,
     .offset = AT (governor.hold_ns),
     .max = HOUR,
     .help = "stopped for so long before it tries again; doubles while that fails, up to 16 times"},
    {.key = "events",
     .type = TI_TYPE_U32,
     .offset = AT (governor.min_events),
     .min = 1,
     .max = 1u << 20,
     .help = "nothing is judged of fewer; of hedges, which are few, older ones count until there "
             "are so many"},
    {.key = "rejected",
     .type = TI_TYPE_PPM,
     .offset = AT (governor.rejected_ppm),
     .max = TIED_PPM,
     .help = "tied copies that were refused, of tied copies: stops ties; 0: no limit"},
    {.key = "depth",
     .type = TI_TYPE_MILLI,
     .offset = AT (governor.depth_milli),
     .max = UINT32_MAX,
     .help = "copies that a replica holds, waiting and running, mean of what replicas report; 0: "
             "no limit"},
    {.key = "errors",
     .type = TI_TYPE_PPM,
     .offset = AT (governor.error_ppm),
     .max = TIED_PPM,
     .help = "application errors, of calls; 0: no limit"},
    {.key = "duplicates",
     .type = TI_TYPE_PPM,
     .offset = AT (governor.duplicate_ppm),
     .max = TIED_PPM,
     .help = "calls that ran twice, of tied calls; 0: no limit"},
    {.key = "wins",
     .type = TI_TYPE_PPM,
     .offset = AT (governor.win_ppm),
     .max = TIED_PPM,
     .help = "hedges that won, of hedges: fewer do not pay; 0: no limit"},
    {.key = NULL},
};

const struct ti_field ti_policy_fields[] = {
    {.key = "mode",
     .type = TI_TYPE_CHOICE,
     .offset = AT (mode),
     .choices = modes,
     .help = "one copy, or two that know of each other ([protocol](protocol.md))"},
    {.key = "idempotent",
     .type = TI_TYPE_BOOL,
     .offset = AT (is_idempotent),
     .help = "may run more than once. Undeclared means one copy, whatever the rest says"},
    {.key = "stagger",
     .type = TI_TYPE_DURATION,
     .offset = AT (stagger_ns),
     .max = HOUR,
     .word = "auto",
     .help = "between the two copies of a tie; auto: from the measured delay"},
    {.key = "hedge",
     .type = TI_TYPE_CUSTOM,
     .parse = parse_hedge,
     .print = print_hedge,
     .choose = choose_hedge,
     .value_text = "`never`, `auto`, a duration, a percentile such as `p95`, `min(p99,50ms)`, "
                   "`max(...)`",
     .help = "a call that is pending for so long gets a further copy. `auto`: delay and share of "
             "calls that make the target least within extra_load, and whoever is known to run for "
             "long. "
             "`{}`: never"},
    {.key = "hedge_floor",
     .type = TI_TYPE_DURATION,
     .offset = AT (hedge_floor_ns),
     .max = HOUR,
     .help = "no hedge is earlier"},
    {.key = "hedge_ceiling",
     .type = TI_TYPE_DURATION,
     .offset = AT (hedge_ceiling_ns),
     .max = HOUR,
     .help = "no hedge is later"},
    {.key = "hedge_initial",
     .type = TI_TYPE_DURATION,
     .offset = AT (hedge_initial_ns),
     .max = HOUR,
     .help = "delay of a rule that needs samples while there are fewer than min_samples"},
    {.key = "extra_load",
     .type = TI_TYPE_PPM,
     .offset = AT (extra_load_ppm),
     .max = TIED_PPM,
     .help = "copies beyond the first, of calls: the budget of hedges, re-issues and ties that ran "
             "twice"},
    {.key = "burst",
     .type = TI_TYPE_MILLI,
     .offset = AT (burst_milli),
     .min = 1000,
     .max = COPIES_MAX,
     .help = "copies that the budget saves up at most; it begins with none"},
    {.key = "debt",
     .type = TI_TYPE_MILLI,
     .offset = AT (debt_milli),
     .max = COPIES_MAX,
     .help = "copies by which re-issues after a loss and last tries may overdraw it"},
    {.key = "target",
     .type = TI_TYPE_CUSTOM,
     .parse = parse_target,
     .print = print_target,
     .value_text = "a percentile from `p50` on",
     .help = "what `auto` makes small"},
    {.key = "min_samples",
     .type = TI_TYPE_U32,
     .offset = AT (min_samples),
     .min = 1,
     .max = 1u << 20,
     .help = "calls that must have ended in the window before a rule is trusted"},
    {.key = "min_remaining",
     .type = TI_TYPE_DURATION,
     .offset = AT (min_remaining_ns),
     .max = HOUR,
     .help = "no further copy with less time left; 0s: the client's option"},
    {.key = "canary",
     .type = TI_TYPE_PPM,
     .offset = AT (canary_ppm),
     .max = TIED_PPM,
     .help = "share of the calls that may get extra copies, drawn for each call"},
    {.key = "shadow",
     .type = TI_TYPE_BOOL,
     .offset = AT (is_shadow),
     .help = "decide and count, but send nothing extra"},
    {.key = "off",
     .type = TI_TYPE_BOOL,
     .offset = AT (is_off),
     .help = "kill switch: one copy, no hedge"},
    {.key = "waits",
     .type = TI_TYPE_LIST,
     .offset = AT (waits),
     .max = TIED_POLICY_WAITS_MAX,
     .size = sizeof (struct tied_status_range),
     .count_offset = AT (waits_count),
     .fields = wait_fields,
     .choose = choose_waits,
     .help = "application errors that do not end the call while another copy may answer"},
    {.key = "governor",
     .type = TI_TYPE_MAP,
     .fields = governor_fields,
     .none = "off",
     .choose = choose_governor,
     .help = "when ties and hedges stop by themselves. `{}`: never"},
    {.key = NULL},
};
