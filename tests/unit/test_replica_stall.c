/* SPDX-License-Identifier: MIT */
/* Stalls of tied-replica at fixed times. */
#include "app/stall.h"
#include "check.h"

static void period_offset_and_length_are_read (void **state)
{
    struct stall stall;
    char why[TI_CLI_WHY_MAX];
    (void)state;

    CHECK_I64 (stall_parse ("every:4s+1s,200ms", &stall, why), ==, 0);
    CHECK_U64 (stall.period_ns, ==, S (4));
    CHECK_U64 (stall.offset_ns, ==, S (1));
    CHECK_U64 (stall.length_ns, ==, MS (200));
    CHECK_I64 (stall_parse ("every:1s,1ms", &stall, why), ==, 0);
    CHECK_U64 (stall.period_ns, ==, S (1));
    CHECK_U64 (stall.offset_ns, ==, 0);
    CHECK_U64 (stall.length_ns, ==, MS (1));
    CHECK_TRUE (stall_is_text ("every:"));
    CHECK_TRUE (!stall_is_text ("4s,200ms"));
}

static void what_is_no_stall_is_refused_with_a_reason (void **state)
{
    static const char *const texts[] = {
        "", "4s,200ms", "every:", "every:4s", "every:4s+1s", "every:,200ms", "every:4s,",
        /* no unit, not in the period, too long */
        "every:4s+1,200ms", "every:4s+,200ms", "every:4s+4s,200ms", "every:4s+1s+1s,200ms",
        "every:4s,4s", "every:4s,0s", "every:0s,0s", "every:2h,1s", "every:4s,200ms,1s",
        "every:00000000000000000000000000000000000004s,1s"};
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct stall stall = {.period_ns = 7};
        char why[TI_CLI_WHY_MAX] = "";
        CHECK_I64 (stall_parse (texts[i], &stall, why), <, 0);
        CHECK_U64 (stall.period_ns, ==, 7);
        CHECK_TRUE (why[0] != '\0');
    }
}

static void a_stall_holds_from_its_offset_for_its_length (void **state)
{
    const struct stall stall = {.period_ns = S (4), .offset_ns = S (1), .length_ns = MS (200)};
    const uint64_t then = S (4) * 400000000;
    tied_duration_t left;
    (void)state;

    CHECK_TRUE (!stall_holds (&stall, then, &left));
    CHECK_U64 (left, ==, S (1));
    CHECK_TRUE (!stall_holds (&stall, then + S (1) - 1, &left));
    CHECK_U64 (left, ==, 1);
    CHECK_TRUE (stall_holds (&stall, then + S (1), &left));
    CHECK_U64 (left, ==, MS (200));
    CHECK_TRUE (stall_holds (&stall, then + MS (1199), &left));
    CHECK_U64 (left, ==, MS (1));
    CHECK_TRUE (!stall_holds (&stall, then + MS (1200), &left));
    CHECK_U64 (left, ==, MS (3800));
}

static void a_stall_may_reach_into_the_next_period (void **state)
{
    const struct stall stall = {.period_ns = S (4), .offset_ns = MS (3900), .length_ns = MS (200)};
    tied_duration_t left;
    (void)state;

    CHECK_TRUE (stall_holds (&stall, S (8), &left));
    CHECK_U64 (left, ==, MS (100));
    CHECK_TRUE (!stall_holds (&stall, S (8) + MS (100), &left));
    CHECK_U64 (left, ==, MS (3800));
}

static void half_a_period_apart_they_never_hold_together (void **state)
{
    const struct stall a = {.period_ns = S (4), .offset_ns = S (1), .length_ns = MS (200)};
    const struct stall b = {.period_ns = S (4), .offset_ns = S (3), .length_ns = MS (200)};
    uint32_t held = 0;
    (void)state;

    for (uint64_t at = 0; at < S (8); at += MS (10)) {
        tied_duration_t left;
        const bool is_a = stall_holds (&a, at, &left), is_b = stall_holds (&b, at, &left);
        CHECK_TRUE (!is_a || !is_b);
        held += is_a || is_b;
    }
    CHECK_U64 (held, ==, 80); /* four of 200 ms */
}

static void without_a_period_none_holds (void **state)
{
    const struct stall none = {0};
    tied_duration_t left;
    (void)state;

    CHECK_TRUE (!stall_holds (&none, S (5), &left));
    CHECK_U64 (left, ==, TIED_NEVER);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (period_offset_and_length_are_read),
        cmocka_unit_test (what_is_no_stall_is_refused_with_a_reason),
        cmocka_unit_test (a_stall_holds_from_its_offset_for_its_length),
        cmocka_unit_test (a_stall_may_reach_into_the_next_period),
        cmocka_unit_test (half_a_period_apart_they_never_hold_together),
        cmocka_unit_test (without_a_period_none_holds),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
