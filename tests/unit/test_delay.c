/* SPDX-License-Identifier: MIT */
/* The round-trip estimate, and the way of all messages with its bound. */
#include "core/delay.h"
#include "base/util.h"
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

static void a_constant_way_is_its_own_bound (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    CHECK_U64 (ti_delay_way (&delay), ==, 0);
    CHECK_U64 (ti_delay_bound (&delay), ==, 0);
    ti_delay_call (&delay, US (250));
    /* One sample says nothing of the next. */
    CHECK_U64 (ti_delay_way (&delay), ==, US (250));
    CHECK_U64 (ti_delay_bound (&delay), ==, US (750));
    for (int i = 0; i < 400; i++)
        ti_delay_call (&delay, US (250));
    CHECK_U64 (ti_delay_way (&delay), ==, US (250));
    CHECK_U64 (ti_delay_bound (&delay), >=, US (250));
    CHECK_U64 (ti_delay_bound (&delay), <=, US (250) + 4);
}

static void probes_and_calls_count_alike_in_the_way (void **state)
{
    (void)state;
    struct ti_delay probed = {0};
    struct ti_delay called = {0};
    for (uint64_t i = 1; i < 50; i++) {
        sample (&probed, S (i), US (i));
        ti_delay_call (&called, US (i));
    }
    CHECK_U64 (ti_delay_way (&probed), ==, ti_delay_way (&called));
    CHECK_U64 (ti_delay_bound (&probed), ==, ti_delay_bound (&called));
    CHECK_U64 (ti_delay_round_trip (&called), ==, 0);
}

/* Uniform in [100, 500] us: mean 300, mean distance from it 100; 95 % are below 480. */
static void a_way_that_varies_stays_below_its_bound_nearly_always (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    unsigned above = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        const tied_duration_t way = US (100) + ti_mix (i) % US (400);
        if (i >= 100)
            above += way > ti_delay_bound (&delay);
        ti_delay_call (&delay, way);
        if (i >= 100)
            CHECK_U64 (ti_delay_bound (&delay), <, US (1200));
    }
    CHECK_U64 (above, <, 40);
}

/* 50 ms once, 250 us before and after. */
static void one_outlier_moves_the_bound_little_and_is_forgotten (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    for (int i = 0; i < 400; i++)
        ti_delay_call (&delay, US (250));
    ti_delay_call (&delay, MS (50));
    CHECK_U64 (ti_delay_bound (&delay), >, US (250));
    CHECK_U64 (ti_delay_bound (&delay), <, US (400));
    for (int i = 0; i < 100; i++)
        ti_delay_call (&delay, US (250));
    CHECK_U64 (ti_delay_bound (&delay), <, US (252));
}

static void a_way_that_has_become_longer_is_followed (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    for (int i = 0; i < 400; i++)
        ti_delay_call (&delay, US (250));
    for (int i = 0; i < 100; i++)
        ti_delay_call (&delay, MS (80));
    CHECK_U64 (ti_delay_bound (&delay), >=, MS (80));
    for (int i = 0; i < 400; i++)
        ti_delay_call (&delay, MS (80));
    CHECK_U64 (ti_delay_bound (&delay), >=, MS (80) - 20);
    CHECK_U64 (ti_delay_bound (&delay), <=, MS (80) + 20);
}

static void BE_06_absurd_ways_are_clamped (void **state)
{
    (void)state;
    struct ti_delay delay = {0};
    ti_delay_call (&delay, UINT64_MAX);
    CHECK_U64 (ti_delay_way (&delay), ==, S (3600));
    for (int i = 0; i < 100; i++)
        ti_delay_call (&delay, UINT64_MAX);
    CHECK_U64 (ti_delay_way (&delay), <=, S (3600));
    for (int i = 0; i < 1000; i++)
        ti_delay_call (&delay, 0);
    CHECK_U64 (ti_delay_way (&delay), ==, 1);
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
        cmocka_unit_test (a_constant_way_is_its_own_bound),
        cmocka_unit_test (probes_and_calls_count_alike_in_the_way),
        cmocka_unit_test (a_way_that_varies_stays_below_its_bound_nearly_always),
        cmocka_unit_test (one_outlier_moves_the_bound_little_and_is_forgotten),
        cmocka_unit_test (a_way_that_has_become_longer_is_followed),
        cmocka_unit_test (BE_06_absurd_ways_are_clamped),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
