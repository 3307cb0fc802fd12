/* SPDX-License-Identifier: MIT */
/* Policies of the load tool, as they are written on the command line. */
#include "app/policy.h"
#include "check.h"

struct expected {
    const char *text;
    uint32_t mode;
    uint32_t pick;
    tied_duration_t stagger_ns;
    uint32_t hedge;
};

static void each_part_means_what_it_says (void **state)
{
    static const struct expected expected[] = {
        {"single", TIED_MODE_SINGLE, TIED_PICK_RANDOM, TIED_STAGGER_AUTO, TIED_HEDGE_RULE_NEVER},
        {"single/random", TIED_MODE_SINGLE, TIED_PICK_RANDOM, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_NEVER},
        {"single/informed", TIED_MODE_SINGLE, TIED_PICK_INFORMED, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_NEVER},
        {"tied", TIED_MODE_TIED, TIED_PICK_INFORMED, TIED_STAGGER_AUTO, TIED_HEDGE_RULE_NEVER},
        {"tied/informed", TIED_MODE_TIED, TIED_PICK_INFORMED, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_NEVER},
        {"tied/random", TIED_MODE_TIED, TIED_PICK_RANDOM, TIED_STAGGER_AUTO, TIED_HEDGE_RULE_NEVER},
        {"tied/round-robin", TIED_MODE_TIED, TIED_PICK_ROUND_ROBIN, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_NEVER},
        {"tied:1ms", TIED_MODE_TIED, TIED_PICK_INFORMED, MS (1), TIED_HEDGE_RULE_NEVER},
        {"tied:0ms/random", TIED_MODE_TIED, TIED_PICK_RANDOM, 0, TIED_HEDGE_RULE_NEVER},
        {"single+hedge:10ms", TIED_MODE_SINGLE, TIED_PICK_RANDOM, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_MIN},
        {"single+hedge:0ms", TIED_MODE_SINGLE, TIED_PICK_RANDOM, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_MIN},
        {"tied:1ms+hedge:20ms/random", TIED_MODE_TIED, TIED_PICK_RANDOM, MS (1),
         TIED_HEDGE_RULE_MIN},
        {"tied+hedge:auto", TIED_MODE_TIED, TIED_PICK_INFORMED, TIED_STAGGER_AUTO,
         TIED_HEDGE_RULE_AUTO}};
    char why[TI_CLI_WHY_MAX];
    (void)state;

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct policy policy;
        CHECK_I64 (policy_parse (expected[i].text, &policy, why), ==, 0);
        CHECK_STR (policy.name, expected[i].text);
        CHECK_U64 (policy.settings.mode, ==, expected[i].mode);
        CHECK_U64 (policy.pick, ==, expected[i].pick);
        CHECK_U64 (policy.settings.stagger_ns, ==, expected[i].stagger_ns);
        CHECK_U64 (policy.settings.hedge.kind, ==, expected[i].hedge);
        CHECK_TRUE (policy.settings.is_idempotent);
    }
}

static void file_stands_for_a_policy_file (void **state)
{
    struct policy policy;
    char why[TI_CLI_WHY_MAX];

    (void)state;
    CHECK_I64 (policy_parse ("file", &policy, why), ==, 0);
    CHECK_TRUE (policy.is_of_file);
    CHECK_U64 (policy.pick, ==, TIED_PICK_INFORMED);
    CHECK_I64 (policy_parse ("tied", &policy, why), ==, 0);
    CHECK_TRUE (!policy.is_of_file);
    CHECK_I64 (policy_parse ("file:1ms", &policy, why), <, 0);
}

static void what_is_no_policy_is_refused_with_a_reason (void **state)
{
    static const char *const texts[] = {"",
                                        "hedge",
                                        "single:1ms",
                                        "tied:",
                                        "tied:5",
                                        "tied/",
                                        "tied/best",
                                        "tied:2h",
                                        "hedge:1ms",
                                        "single+hedge",
                                        "single+hedge:",
                                        "single+1ms",
                                        "single+hedge:2h",
                                        "single/random+hedge:1ms",
                                        "tied+hedge:1ms+hedge:1ms",
                                        "tied/informed/random",
                                        "single/informed:1ms"};
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char why[TI_CLI_WHY_MAX] = "";
        struct policy policy = {.name = "untouched"};
        CHECK_I64 (policy_parse (texts[i], &policy, why), <, 0);
        CHECK_STR (policy.name, "untouched");
        CHECK_TRUE (why[0] != '\0');
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_part_means_what_it_says),
        cmocka_unit_test (file_stands_for_a_policy_file),
        cmocka_unit_test (what_is_no_policy_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
