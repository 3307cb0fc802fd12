/* SPDX-License-Identifier: MIT */
/* The round-trip estimate and the stagger. */
#include "core/delay.h"
#include "check.h"

static void sample (struct ti_delay *delay, tied_time_t at, tied_duration_t round_trip)
{
    ti_delay_probe_sent (delay, at);
    CHECK_TRUE (ti_delay_echo (delay, at, at + round_trip));
}

static void the_first_sample_is_the_estimate (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    CHECK_U64 (ti_delay_round_trip (&delay), ==, 0);
    sample (&delay, 10, US (125));
    CHECK_U64 (ti_delay_round_trip (&delay), ==, US (125));
}

static void each_sample_moves_the_estimate_by_an_eighth (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    sample (&delay, 1, 800);
    sample (&delay, 10000, 1600);
    CHECK_U64 (ti_delay_round_trip (&delay), ==, 900);
    sample (&delay, 20000, 100);
    CHECK_U64 (ti_delay_round_trip (&delay), ==, 800);
}

static void a_constant_delay_is_met_exactly (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    sample (&delay, 1, MS (80));
    for (uint64_t i = 1; i < 400; i++)
        sample (&delay, i * S (1), 12345);
    CHECK_U64 (ti_delay_round_trip (&delay), >=, 12344);
    CHECK_U64 (ti_delay_round_trip (&delay), <=, 12346);
}

static void a_delay_of_nothing_is_measured_and_not_unknown (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    for (uint64_t i = 1; i < 100; i++) {
        sample (&delay, i, 0);
        CHECK_U64 (ti_delay_round_trip (&delay), ==, 1);
    }
}

static void only_echoes_of_recent_unanswered_probes_are_believed (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    CHECK_FALSE (ti_delay_echo (&delay, 0, 100));
    CHECK_FALSE (ti_delay_echo (&delay, 50, 100));
    for (uint64_t i = 0; i <= TI_DELAY_PROBES; i++)
        ti_delay_probe_sent (&delay, 100 + i);
    CHECK_FALSE (ti_delay_echo (&delay, 100, 200));
    CHECK_FALSE (ti_delay_echo (&delay, 101, 100));
    CHECK_FALSE (ti_delay_echo (&delay, UINT64_MAX, 200));
    CHECK_TRUE (ti_delay_echo (&delay, 101, 200));
    CHECK_FALSE (ti_delay_echo (&delay, 101, 200));
    ti_delay_forget_probes (&delay);
    CHECK_FALSE (ti_delay_echo (&delay, 102, 200));
    CHECK_U64 (ti_delay_round_trip (&delay), ==, 99);
}

static void a_very_late_echo_is_capped (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    sample (&delay, 1, UINT64_MAX - 2);
    CHECK_U64 (ti_delay_round_trip (&delay), ==, S (3600));
    sample (&delay, 2, UINT64_MAX - 3);
    CHECK_U64 (ti_delay_round_trip (&delay), ==, S (3600));
}

static void the_stagger_is_the_slower_round_trip_clamped (void **state)
{
    (void)state;
    const struct ti_stagger_limits limits = {US (200), MS (10), MS (1)};
    CHECK_U64 (ti_delay_stagger (&limits, 0, 0), ==, MS (1));
    CHECK_U64 (ti_delay_stagger (&limits, US (300), US (700)), ==, US (700));
    CHECK_U64 (ti_delay_stagger (&limits, US (700), US (300)), ==, US (700));
    CHECK_U64 (ti_delay_stagger (&limits, 1, 1), ==, US (200));
    CHECK_U64 (ti_delay_stagger (&limits, UINT64_MAX, 1), ==, MS (10));
    /* One side unknown: the initial value stands in for it. */
    CHECK_U64 (ti_delay_stagger (&limits, US (300), 0), ==, MS (1));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_first_sample_is_the_estimate),
        cmocka_unit_test (each_sample_moves_the_estimate_by_an_eighth),
        cmocka_unit_test (a_constant_delay_is_met_exactly),
        cmocka_unit_test (a_delay_of_nothing_is_measured_and_not_unknown),
        cmocka_unit_test (only_echoes_of_recent_unanswered_probes_are_believed),
        cmocka_unit_test (a_very_late_echo_is_capped),
        cmocka_unit_test (the_stagger_is_the_slower_round_trip_clamped),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
