/* SPDX-License-Identifier: MIT */
/* The grammar of policies, with words of a program beside the library's modes. */
#include "check.h"
#include "tools/policy_text.h"
#include "text/units.h"

enum {
    FAN = 7,
    LATE = 8
};

static const struct ti_policy_word words[] = {
    {"fan", FAN, false, TI_TAKES_D | TI_TAKES_KEEP},
    {"late-tie", LATE, true, TI_TAKES_DELAY | TI_TAKES_STAGGER | TI_TAKES_PICK},
    {NULL, 0, false, 0}};

static const struct ti_policy_grammar all = {
    .more = words, .takes = UINT32_MAX, .examples = "single or fan(3)"};
static const struct ti_policy_grammar plain = {
    .takes = TI_TAKES_STAGGER | TI_TAKES_HEDGE | TI_TAKES_PICK, .examples = "single or tied"};

static struct ti_policy_text parse (const char *text, const struct ti_policy_grammar *grammar)
{
    struct ti_policy_text policy = {.d = 99};
    char why[TI_CLI_WHY_MAX] = "";
    if (ti_policy_parse (text, grammar, &policy, why)) {
        print_error ("%s: %s\n", text, why);
        CHECK_TRUE (false);
    }
    return policy;
}

static void a_word_alone_has_its_defaults (void **state)
{
    (void)state;
    struct ti_policy_text policy = parse ("tied", &plain);
    CHECK_TRUE (policy.is_mode);
    CHECK_U64 (policy.word->number, ==, TIED_MODE_TIED);
    CHECK_U64 (policy.pick, ==, TIED_PICK_INFORMED);
    CHECK_U64 (policy.settings.mode, ==, TIED_MODE_TIED);
    CHECK_TRUE (policy.settings.is_idempotent);
    CHECK_U64 (policy.settings.stagger_ns, ==, TIED_STAGGER_AUTO);
    CHECK_U64 (policy.settings.hedge.kind, ==, TIED_HEDGE_RULE_NEVER);
    CHECK_U64 (policy.settings.extra_load_ppm, ==, TIED_PPM);
    CHECK_FALSE (policy.settings.is_governed);
    CHECK_U64 (policy.hedge.kind, ==, TI_HEDGE_NONE);
    CHECK_FALSE (policy.keeps_losers);
    CHECK_U64 (policy.d, ==, 0);
    CHECK_U64 (parse ("single", &plain).pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (parse ("late-tie", &all).pick, ==, TIED_PICK_INFORMED);
    CHECK_FALSE (parse ("fan", &all).is_mode);
    CHECK_U64 (parse ("fan", &all).word->number, ==, FAN);
}

static void pieces_are_read_in_their_order (void **state)
{
    (void)state;
    struct ti_policy_text policy = parse ("tied:1ms+hedge:20ms/round-robin", &plain);
    CHECK_U64 (policy.settings.stagger_ns, ==, MS (1));
    CHECK_U64 (policy.settings.hedge.kind, ==, TIED_HEDGE_RULE_MIN);
    CHECK_U64 (policy.settings.hedge.terms[0].value, ==, MS (20));
    CHECK_U64 (policy.pick, ==, TIED_PICK_ROUND_ROBIN);
    policy = parse ("late-tie:2ms/p99.9/random", &all);
    CHECK_U64 (policy.settings.stagger_ns, ==, MS (2));
    CHECK_U64 (policy.hedge.kind, ==, TI_HEDGE_PERCENTILE);
    CHECK_U64 (policy.hedge.ppm, ==, 999000);
    CHECK_U64 (policy.pick, ==, TIED_PICK_RANDOM);
    policy = parse ("fan(64)/keep", &all);
    CHECK_U64 (policy.d, ==, 64);
    CHECK_TRUE (policy.keeps_losers);
    CHECK_U64 (parse ("tied:auto", &plain).settings.stagger_ns, ==, TIED_STAGGER_AUTO);
    CHECK_U64 (parse ("single+hedge:0s", &plain).settings.hedge.terms[0].value, ==, 0);
    /* A hedge makes losers. */
    CHECK_TRUE (parse ("single+hedge:p95/keep", &all).keeps_losers);
}

static const struct tied_policy *settings (const char *text)
{
    static struct ti_policy_text policy;
    policy = parse (text, &plain);
    CHECK_I64 (tied_policy_check (&policy.settings, NULL), ==, 0);
    return &policy.settings;
}

static void a_rule_that_is_a_delay_is_taken_at_its_word (void **state)
{
    static const char *const texts[] = {"single+hedge:10ms", "tied+hedge:min(10ms,2us)",
                                        "tied+hedge:never", "single+hedge:60m"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct tied_policy *policy = settings (texts[i]);
        CHECK_U64 (policy->extra_load_ppm, ==, TIED_PPM);
        CHECK_FALSE (policy->is_governed);
        CHECK_U64 (policy->hedge_floor_ns, ==, 0);
        CHECK_U64 (policy->hedge_ceiling_ns, ==, S (3600));
    }
    CHECK_U64 (settings ("single+hedge:10ms@5%")->extra_load_ppm, ==, 50000);
    CHECK_FALSE (settings ("single+hedge:10ms@5%")->is_governed);
    CHECK_TRUE (settings ("tied+hedge:10ms/governed")->is_governed);
}

static void a_rule_that_learns_costs_5_percent_and_is_governed (void **state)
{
    static const char *const texts[] = {"single+hedge:auto", "tied+hedge:p95",
                                        "tied:1ms+hedge:max(2ms,p99.9)/random"};
    struct tied_policy defaults;
    (void)state;
    tied_policy_init (&defaults);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct tied_policy *policy = settings (texts[i]);
        CHECK_U64 (policy->extra_load_ppm, ==, 50000);
        CHECK_TRUE (policy->is_governed);
        CHECK_U64 (policy->hedge_floor_ns, ==, defaults.hedge_floor_ns);
        CHECK_U64 (policy->hedge_ceiling_ns, ==, defaults.hedge_ceiling_ns);
    }
    CHECK_U64 (settings ("tied+hedge:auto")->hedge.kind, ==, TIED_HEDGE_RULE_AUTO);
    CHECK_U64 (settings ("tied+hedge:auto@100%/random")->extra_load_ppm, ==, TIED_PPM);
    CHECK_U64 (settings ("tied+hedge:auto@0.0001%")->extra_load_ppm, ==, 1);
    CHECK_FALSE (settings ("tied+hedge:auto/informed/ungoverned")->is_governed);
    const struct tied_policy *policy = settings ("single+hedge:min(p99,50ms)@0%");
    CHECK_U64 (policy->extra_load_ppm, ==, 0);
    CHECK_U64 (policy->hedge.kind, ==, TIED_HEDGE_RULE_MIN);
    CHECK_U64 (policy->hedge.count, ==, 2);
}

struct refusal {
    const struct ti_policy_grammar *grammar;
    const char *text;
    const char *why;
};

static void what_does_not_fit_is_refused_with_its_reason (void **state)
{
    static const struct refusal refusals[] = {
        {&plain, "", "\"\" is no policy: write single or tied"},
        {&plain, "fan", "\"fan\" is no policy: write single or tied"},
        {&plain, "tide", "\"tide\" is no policy: did you mean \"tied\"?"},
        {&all, "fam(2)", "\"fam\" is no policy: did you mean \"fan\"?"},
        {&all, "fan(2", "the parenthesis is not closed: write fan(2)"},
        {&all, "fan(65)", "\"65\" is no number from 1 to 64"},
        {&all, "tied(2)", "tied takes no number in parentheses"},
        {&plain, "single:1ms", "single has no stagger"},
        {&plain, "tied:2h", "stagger \"2h\" is too large: write a duration like 1ms, up to 1h"},
        {&plain, "tied+1ms", "\"1ms\" is unknown: write +hedge:10ms or +hedge:auto"},
        {&plain, "tied+hedge:1",
         "hedge \"1\" is no rule from its byte 2 on: write 10ms, p95, min(p99,50ms), max(...), "
         "auto or never"},
        {&all, "tied+hedge:p0",
         "hedge \"p0\" is no rule from its byte 2 on: write 10ms, p95, min(p99,50ms), max(...), "
         "auto or never"},
        {&plain, "tied+hedge:auto@5",
         "share \"5\" has no unit: write what hedges may cost as in @5%"},
        {&plain, "tied+hedge:auto@101%",
         "share \"101%\" is too large: write what hedges may cost as in @5%"},
        {&plain, "tied+hedge:auto@0.00001%",
         "share \"0.00001%\" has more decimals than its unit can hold: write what hedges may cost "
         "as in @5%"},
        {&plain, "tied+hedge:auto@",
         "share \"\" has no unit: write what hedges may cost as in @5%"},
        {&plain, "tied/governed/ungoverned", "/ungoverned is said for the second time"},
        {&all, "fan/governed", "fan has no governor"},
        {&all, "fan+hedge:1ms", "a hedge is added to single or tied, not to fan"},
        {&all, "fan/random", "fan has a choice of its own"},
        {&plain, "tied/best",
         "\"best\" is unknown: there are informed, random, round-robin, "
         "governed, ungoverned"},
        {&plain, "tied/keep",
         "\"keep\" is unknown: there are informed, random, round-robin, "
         "governed, ungoverned"},
        {&plain, "tied/10ms",
         "\"10ms\" is unknown: there are informed, random, round-robin, "
         "governed, ungoverned"},
        {&plain, "tied/",
         "\"\" is unknown: there are informed, random, round-robin, "
         "governed, ungoverned"},
        {&all, "single/keep", "single has no losers to keep"},
        {&all, "tied/10ms", "tied sends no copy later: a delay belongs to late-tie"},
        {&all, "late-tie/1ms/2ms", "/2ms is the second delay of the hedge: give one"},
        {&plain, "tied/informed/random", "/random is the second choice of replicas: give one"},
        {&plain, "tied:10000000000000000000000000000000000000000000ms",
         "\"tied:10000000000000000000000000000000000000000000ms\" is too long for a policy"}};
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct ti_policy_text policy = {.d = 99};
        char why[TI_CLI_WHY_MAX] = "";
        CHECK_I64 (ti_policy_parse (refusals[i].text, refusals[i].grammar, &policy, why), <, 0);
        CHECK_STR (why, refusals[i].why);
        CHECK_U64 (policy.d, ==, 99);
    }
}

static void a_percentile_has_up_to_four_decimals (void **state)
{
    uint32_t ppm = 7;
    (void)state;
    CHECK_I64 (ti_percentile_parse ("p99.9999", &ppm), ==, 0);
    CHECK_U64 (ppm, ==, 999999);
    CHECK_I64 (ti_percentile_parse ("p99.99999", &ppm), ==, TI_UNITS_TOO_FINE);
    CHECK_I64 (ti_percentile_parse ("p100", &ppm), <, 0);
    CHECK_I64 (ti_percentile_parse ("p", &ppm), <, 0);
    CHECK_I64 (ti_percentile_parse ("95", &ppm), <, 0);
    CHECK_U64 (ppm, ==, 999999);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_word_alone_has_its_defaults),
        cmocka_unit_test (pieces_are_read_in_their_order),
        cmocka_unit_test (a_rule_that_is_a_delay_is_taken_at_its_word),
        cmocka_unit_test (a_rule_that_learns_costs_5_percent_and_is_governed),
        cmocka_unit_test (what_does_not_fit_is_refused_with_its_reason),
        cmocka_unit_test (a_percentile_has_up_to_four_decimals),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
