/* SPDX-License-Identifier: MIT */
/*
 * Policy files: what they say is what the settings are, what is absent is inherited, and what is
 * wrong is refused with one line that says where. TIED_REWRITE=1 writes docs/policy.md anew.
 */
#include "check.h"
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "policy/policy_file.h"
#include "tools/policy_page.h"

#define MAX 16

static struct ti_policies read_text (const char *text)
{
    struct ti_policies policies;
    char why[TI_DOCUMENT_WHY_MAX] = "";
    if (ti_policies_read_text ("t.yaml", text, strlen (text), MAX, &policies, why) != 0) {
        print_error ("%s\n", why);
        fail ();
    }
    return policies;
}

static const struct tied_policy *find (const struct ti_policies *policies, const char *name)
{
    for (uint32_t i = 0; i < policies->count; i++)
        if (strcmp (policies->items[i].name, name) == 0)
            return &policies->items[i].policy;
    print_error ("no %s\n", name);
    fail ();
    return NULL;
}

static void check_hedge (const struct tied_policy *policy, const char *expected)
{
    char text[TIED_HEDGE_TEXT_MAX];
    CHECK_I64 (tied_hedge_rule_print (&policy->hedge, text, sizeof text), >, 0);
    CHECK_STR (text, expected);
}

static void every_key_is_stored_where_it_belongs (void **state)
{
    (void)state;
    struct ti_policies policies =
        read_text ("methods:\n"
                   "  search:\n"
                   "    mode: park\n"
                   "    idempotent: true\n"
                   "    stagger: 2ms\n"
                   "    hedge: min(p99,50ms)\n"
                   "    hedge_floor: 1ms\n"
                   "    hedge_ceiling: 4s\n"
                   "    hedge_initial: 30ms\n"
                   "    extra_load: 2.5%\n"
                   "    burst: 2.5\n"
                   "    debt: 7\n"
                   "    target: p99.99\n"
                   "    min_samples: 200\n"
                   "    min_remaining: 3ms\n"
                   "    canary: 0.1\n"
                   "    shadow: true\n"
                   "    off: true\n"
                   "    waits: [503, 100-199]\n"
                   "    governor: {window: 2s, hold: 3s, events: 20, rejected: 10%, depth: 1.5,\n"
                   "               errors: 20%, duplicates: 30%, wins: 0.1%}\n");
    const struct tied_policy *p = find (&policies, "search");
    CHECK_U64 (p->mode, ==, TIED_MODE_PARK);
    CHECK_TRUE (p->is_idempotent && p->is_shadow && p->is_off && p->is_governed);
    CHECK_U64 (p->stagger_ns, ==, TIED_MS (2));
    check_hedge (p, "min(p99,50ms)");
    CHECK_U64 (p->hedge_floor_ns, ==, TIED_MS (1));
    CHECK_U64 (p->hedge_ceiling_ns, ==, TIED_S (4));
    CHECK_U64 (p->hedge_initial_ns, ==, TIED_MS (30));
    CHECK_U64 (p->extra_load_ppm, ==, 25000);
    CHECK_U64 (p->burst_milli, ==, 2500);
    CHECK_U64 (p->debt_milli, ==, 7000);
    CHECK_U64 (p->target_ppm, ==, 999900);
    CHECK_U64 (p->min_samples, ==, 200);
    CHECK_U64 (p->min_remaining_ns, ==, TIED_MS (3));
    CHECK_U64 (p->canary_ppm, ==, 100000);
    CHECK_U64 (p->waits_count, ==, 2);
    CHECK_U64 (p->waits[0].first, ==, 503);
    CHECK_U64 (p->waits[0].last, ==, 503);
    CHECK_U64 (p->waits[1].first, ==, 100);
    CHECK_U64 (p->waits[1].last, ==, 199);
    CHECK_U64 (p->governor.window_ns, ==, TIED_S (2));
    CHECK_U64 (p->governor.hold_ns, ==, TIED_S (3));
    CHECK_U64 (p->governor.min_events, ==, 20);
    CHECK_U64 (p->governor.rejected_ppm, ==, 100000);
    CHECK_U64 (p->governor.depth_milli, ==, 1500);
    CHECK_U64 (p->governor.error_ppm, ==, 200000);
    CHECK_U64 (p->governor.duplicate_ppm, ==, 300000);
    CHECK_U64 (p->governor.win_ppm, ==, 1000);
    ti_policies_deinit (&policies);
}

static void what_is_absent_is_inherited_wherever_the_star_stands (void **state)
{
    (void)state;
    struct ti_policies policies = read_text ("methods:\n"
                                             "  a: {extra_load: 1%}\n"
                                             "  \"*\": {hedge: p95, extra_load: 3%, waits: [1],\n"
                                             "        governor: {hold: 9s}}\n"
                                             "  b: {hedge: auto, governor: {window: 2s}}\n");
    const struct tied_policy *a = find (&policies, "a"), *b = find (&policies, "b");
    struct tied_policy defaults;
    tied_policy_init (&defaults);
    CHECK_STR (policies.items[0].name, "*");
    CHECK_U64 (policies.count, ==, 3);
    check_hedge (a, "p95");
    CHECK_U64 (a->extra_load_ppm, ==, 10000);
    CHECK_U64 (a->waits_count, ==, 1);
    check_hedge (b, "auto");
    CHECK_U64 (b->extra_load_ppm, ==, 30000);
    CHECK_U64 (b->governor.hold_ns, ==, TIED_S (9));
    CHECK_U64 (b->governor.window_ns, ==, TIED_S (2));
    CHECK_U64 (b->min_samples, ==, defaults.min_samples);
    ti_policies_deinit (&policies);
}

static void an_empty_map_means_none (void **state)
{
    (void)state;
    struct ti_policies policies =
        read_text ("methods:\n"
                   "  \"*\": {hedge: p95, idempotent: true, waits: [1], governor: off}\n"
                   "  none: {}\n"
                   "  parts: {hedge: {}, waits: {}, governor: {}}\n"
                   "  list: {waits: []}\n"
                   "  governed: {governor: {hold: 2s}}\n");
    const struct tied_policy *none = find (&policies, "none"), *parts = find (&policies, "parts");
    CHECK_U64 (none->mode, ==, TIED_MODE_SINGLE);
    CHECK_TRUE (!none->is_idempotent);
    check_hedge (none, "never");
    CHECK_TRUE (parts->is_idempotent && !parts->is_governed);
    CHECK_U64 (parts->mode, ==, TIED_MODE_TIED);
    CHECK_U64 (parts->waits_count, ==, 0);
    check_hedge (parts, "never");
    CHECK_U64 (find (&policies, "list")->waits_count, ==, 0);
    CHECK_TRUE (!find (&policies, "list")->is_governed);
    CHECK_TRUE (find (&policies, "governed")->is_governed);
    ti_policies_deinit (&policies);
}

static void no_methods_are_the_defaults (void **state)
{
    (void)state;
    struct ti_policies policies = read_text ("\xef\xbb\xbfmethods: {}\n");
    struct tied_policy defaults;
    tied_policy_init (&defaults);
    CHECK_U64 (policies.count, ==, 1);
    CHECK_U64 (policies.items[0].policy.extra_load_ppm, ==, defaults.extra_load_ppm);
    ti_policies_deinit (&policies);
}

static void delays_that_are_not_given_give_way (void **state)
{
    (void)state;
    struct ti_policies policies = read_text ("methods:\n"
                                             "  low: {hedge_ceiling: 100us}\n"
                                             "  high: {hedge_floor: 20s}\n"
                                             "  mid: {hedge_ceiling: 50ms}\n");
    const struct tied_policy *low = find (&policies, "low"), *high = find (&policies, "high");
    CHECK_U64 (low->hedge_floor_ns, ==, TIED_US (100));
    CHECK_U64 (low->hedge_initial_ns, ==, TIED_US (100));
    CHECK_U64 (high->hedge_ceiling_ns, ==, TIED_S (20));
    CHECK_U64 (high->hedge_initial_ns, ==, TIED_S (20));
    CHECK_U64 (find (&policies, "mid")->hedge_initial_ns, ==, TIED_MS (50));
    ti_policies_deinit (&policies);
}

struct refusal {
    const char *text, *why;
};

#define M "methods:\n  m: "

static const struct refusal refusals[] = {
    {"", "t.yaml:1:1: there is nothing in it"},
    {"nothing", "t.yaml:1:1: a policy file is a map of keys and values: write key: value"},
    {"{}", "t.yaml:1:1: \"methods\" is missing"},
    {"method: {}", "t.yaml:1:1: unknown key \"method\": did you mean \"methods\"?"},
    {"methods: [a]", "t.yaml:1:10: methods: a map of methods is wanted here: NAME: {...}"},
    {M "5", "t.yaml:2:6: methods.m: a map of values is wanted here"},
    {"methods:\n  *: {}\n", "t.yaml:2:3: an alias: what begins with * is written in quotes, \"*\""},
    {"methods: {\"a b\": {}}", "t.yaml:1:11: \"a b\" is no method: a name has 1 to 64 bytes, no "
                               "blank and no control character"},
    {"methods: {m: {}, m: {}}", "t.yaml:1:18: key \"m\" is there twice: first in line 1"},
    {M "{hegde: p95}", "t.yaml:2:7: unknown key \"hegde\" in methods.m: did you mean \"hedge\"?"},
    {M "{governor: {hlod: 1s}}",
     "t.yaml:2:18: unknown key \"hlod\" in methods.m.governor: did you mean \"hold\"?"},
    {M "{mode: tide}", "t.yaml:2:13: methods.m.mode: \"tide\" is unknown: did you mean \"tied\"?"},
    {M "{idempotent: yes}", "t.yaml:2:19: methods.m.idempotent: \"yes\" is unknown: write one of "
                            "false, true"},
    {M "{extra_load: 120%}", "t.yaml:2:19: methods.m.extra_load: 120% is out of range [0%, 100%]"},
    {M "{extra_load: 5}", "t.yaml:2:19: methods.m.extra_load: 5 is out of range [0%, 100%]"},
    {M "{extra_load: 0.0000001}",
     "t.yaml:2:19: methods.m.extra_load: \"0.0000001\" has more decimals than its unit can hold: "
     "give a number or a percentage in [0%, 100%]"},
    {M "{extra_load: -1%}",
     "t.yaml:2:19: methods.m.extra_load: \"-1%\" is negative: give a number or a percentage in "
     "[0%, 100%]"},
    {M "{extra_load: .nan}",
     "t.yaml:2:19: methods.m.extra_load: \".nan\" is not a number: give a number or a percentage "
     "in [0%, 100%]"},
    {M "{burst: 0.5}", "t.yaml:2:14: methods.m.burst: 0.5 is out of range [1, 1073741.824]"},
    {M "{stagger: 2h}", "t.yaml:2:16: methods.m.stagger: 2h is out of range [0s, 1h]"},
    {M "{stagger: 5}", "t.yaml:2:16: methods.m.stagger: \"5\" has no unit: give a duration such "
                       "as 5ms in [0s, 1h]"},
    {M "{hedge: p101}",
     "t.yaml:2:14: methods.m.hedge: \"p101\" is no rule from character 2 on: write never, auto, a "
     "delay such as 50ms, a percentile such as p95, min(p99,50ms) or max(p95,5ms)"},
    {M "{hedge: min(p99,50ms)}", "t.yaml:2:14: methods.m.hedge: \"min(p99\" is cut at its comma: "
                                 "inside { } and [ ] write it in quotes"},
    {M "{hedge: [p95]}", "t.yaml:2:14: methods.m.hedge: one value is wanted here, not a list"},
    {M "{hedge: {a: 1}}", "t.yaml:2:14: methods.m.hedge: one value is wanted here, not a map"},
    {M "{target: p40}",
     "t.yaml:2:15: methods.m.target: \"p40\" is no percentile from p50 to p99.9999"},
    {M "{target: 5ms}",
     "t.yaml:2:15: methods.m.target: \"5ms\" is no percentile from p50 to p99.9999"},
    {M "{waits: [199-100]}",
     "t.yaml:2:15: methods.m.waits[0]: \"199-100\" is no error: write a code from 1 to 4294967295, "
     "or a range such as 100-199"},
    {M "{waits: [0]}", "t.yaml:2:15: methods.m.waits[0]: \"0\" is no error: write a code from 1 to "
                       "4294967295, or a range such as 100-199"},
    {M "{waits: [1,2,3,4,5,6,7,8,9]}",
     "t.yaml:2:14: methods.m.waits: 9 items are out of range [0, 8]"},
    {M "{hedge_floor: 2s, hedge_ceiling: 1s}",
     "t.yaml:2:20: methods.m: hedge_floor is 2s, above hedge_ceiling 1s"},
    {M "{hedge_initial: 11s}",
     "t.yaml:2:22: methods.m: hedge_initial is 11s, above hedge_ceiling 10s"},
    {M "{hedge_initial: 1us}",
     "t.yaml:2:22: methods.m: hedge_initial is 1us, below hedge_floor 500us"},
    {M "{governor: on}", "t.yaml:2:17: methods.m.governor: a map of values is wanted here"},
    {M "&a {}", "t.yaml:2:6: an anchor: there are no aliases here"},
    {M "!!map {}", "t.yaml:2:6: a tag: the key decides what its value is"},
    {M "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
     "t.yaml:2:16: maps and lists are nested deeper than 12"},
    {M "{mode: \"a\\0b\"}", "t.yaml:2:13: a text with a NUL inside"},
};

static void what_is_wrong_is_refused_with_its_place (void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        char why[TI_DOCUMENT_WHY_MAX] = "";
        struct ti_policies policies = {.count = 77, .items = NULL};
        int rc = ti_policies_read_text ("t.yaml", refusals[i].text, strlen (refusals[i].text), MAX,
                                        &policies, why);
        if (rc != TIED_ERR_INVAL || strcmp (why, refusals[i].why) != 0)
            print_error ("%s\n", refusals[i].text);
        CHECK_STR (why, refusals[i].why);
        CHECK_I64 (rc, ==, TIED_ERR_INVAL);
        CHECK_U64 (policies.count, ==, 77);
    }
}

static void a_NUL_and_a_mark_in_the_middle_are_refused (void **state)
{
    (void)state;
    static const char nul[] = "methods: {}\n\0";
    static const char mark[] = "methods: \xef\xbb\xbf{}\n";
    char why[TI_DOCUMENT_WHY_MAX];
    struct ti_policies policies;
    CHECK_I64 (ti_policies_read_text ("t.yaml", nul, sizeof nul - 1, MAX, &policies, why), ==,
               TIED_ERR_INVAL);
    CHECK_STR (why, "t.yaml:2:1: a NUL byte: this is no text");
    CHECK_I64 (ti_policies_read_text ("t.yaml", mark, sizeof mark - 1, MAX, &policies, why), ==,
               TIED_ERR_INVAL);
    CHECK_STR (why, "t.yaml:1:10: a byte order mark in the middle of the text");
}

/* What an error quotes from a file reaches a terminal. */
static void a_control_character_that_an_escape_makes_is_refused (void **state)
{
    static const char *const texts[] = {"methods: {\"\\u009b31m\": {idempotent: 1}}",
                                        "methods: {\"\\e[31m\": {idempotent: 1}}",
                                        "methods: {\"\\x7f\": {}}"};
    char why[TI_DOCUMENT_WHY_MAX];
    struct ti_policies policies;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_I64 (
            ti_policies_read_text ("t.yaml", texts[i], strlen (texts[i]), MAX, &policies, why), ==,
            TIED_ERR_INVAL);
        CHECK_TRUE (strstr (why, "a key with a control character inside") != NULL);
    }
}

static void no_more_names_than_there_may_be (void **state)
{
    (void)state;
    static const char text[] = "methods: {a: {}, b: {}, c: {}}";
    static const char star[] = "methods: {a: {}, \"*\": {}, b: {}}";
    char why[TI_DOCUMENT_WHY_MAX];
    struct ti_policies policies;
    CHECK_I64 (ti_policies_read_text ("t.yaml", text, sizeof text - 1, 3, &policies, why), ==,
               TIED_ERR_FULL);
    CHECK_STR (why, "t.yaml:1:25: \"c\" is one method more than the 3 that there may be, \"*\" "
                    "among them (methods_max)");
    CHECK_I64 (ti_policies_read_text ("t.yaml", star, sizeof star - 1, 3, &policies, why), ==, 0);
    CHECK_U64 (policies.count, ==, 3);
    ti_policies_deinit (&policies);
}

/* 64 bytes are a name, and its path is said as far as it fits. */
static void long_names_are_bounded (void **state)
{
    (void)state;
    char name[TIED_NAME_MAX + 2], text[256], why[TI_DOCUMENT_WHY_MAX];
    struct ti_policies policies;
    memset (name, 'n', sizeof name);
    name[TIED_NAME_MAX + 1] = '\0';
    snprintf (text, sizeof text, "methods: {%s: {}}", name);
    CHECK_I64 (ti_policies_read_text ("t.yaml", text, strlen (text), MAX, &policies, why), ==,
               TIED_ERR_INVAL);
    name[TIED_NAME_MAX] = '\0';
    snprintf (text, sizeof text, "methods: {%s: {governor: {rejected: 2}}}", name);
    CHECK_I64 (ti_policies_read_text ("t.yaml", text, strlen (text), MAX, &policies, why), ==,
               TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "governor.rejected: 2 is out of range") != NULL);
}

static void mutations_are_read_or_refused_with_one_line (void **state)
{
    (void)state;
    static const char seed[] = "methods:\n  \"*\": {hedge: \"min(p99,50ms)\", waits: [1, 5-9]}\n"
                               "  m:\n    governor: {hold: 2s, wins: 1%}\n    extra_load: 5%\n";
    uint64_t x = 7;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof seed], why[TI_DOCUMENT_WHY_MAX] = "";
        struct ti_policies policies;
        memcpy (text, seed, sizeof seed);
        for (int i = 0; i < 1 + round % 4; i++) {
            x = ti_mix (x);
            text[x % (sizeof seed - 1)] = (char)(x >> 32);
        }
        int rc =
            ti_policies_read_text ("t.yaml", text, sizeof seed - 1 - x % 7, MAX, &policies, why);
        if (rc == 0) {
            for (uint32_t i = 0; i < policies.count; i++)
                CHECK_I64 (tied_policy_check (&policies.items[i].policy, NULL), ==, 0);
            ti_policies_deinit (&policies);
            continue;
        }
        CHECK_TRUE (strlen (why) > 0 && !strpbrk (why, "\n\r"));
    }
}

static void the_reference_page_is_what_the_table_prints (void **state)
{
    (void)state;
    page_check (ti_policy_print_page, "policy.md");
}

static void the_example_on_the_page_is_valid (void **state)
{
    (void)state;
    char *page = page_print (ti_policy_print_page);
    char *begin = strstr (page, "```yaml\n");
    CHECK_TRUE (begin != NULL);
    begin += strlen ("```yaml\n");
    *strstr (begin, "```") = '\0';
    struct ti_policies policies = read_text (begin);
    CHECK_U64 (policies.count, ==, 5);
    CHECK_TRUE (find (&policies, "search")->is_idempotent);
    ti_policies_deinit (&policies);
    free (page);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (every_key_is_stored_where_it_belongs),
        cmocka_unit_test (what_is_absent_is_inherited_wherever_the_star_stands),
        cmocka_unit_test (an_empty_map_means_none),
        cmocka_unit_test (no_methods_are_the_defaults),
        cmocka_unit_test (delays_that_are_not_given_give_way),
        cmocka_unit_test (what_is_wrong_is_refused_with_its_place),
        cmocka_unit_test (a_NUL_and_a_mark_in_the_middle_are_refused),
        cmocka_unit_test (a_control_character_that_an_escape_makes_is_refused),
        cmocka_unit_test (no_more_names_than_there_may_be),
        cmocka_unit_test (long_names_are_bounded),
        cmocka_unit_test (mutations_are_read_or_refused_with_one_line),
        cmocka_unit_test (the_reference_page_is_what_the_table_prints),
        cmocka_unit_test (the_example_on_the_page_is_valid),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
