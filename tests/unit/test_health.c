/* SPDX-License-Identifier: MIT */
/* Probation of replicas: by claims, in a small world, and at random. */
#include <string.h>

#include <tied/policy.h>

#include "core/health.h"
#include "base/prng.h"
#include "base/util.h"
#include "check.h"

#define REPLICAS 20

struct fleet {
    struct ti_health health;
    _Alignas(max_align_t) unsigned char replicas[REPLICAS * 64];
    uint32_t count;
    tied_time_t now;
};

static void make_with (struct fleet *fleet, uint32_t count, const struct ti_health_options *options)
{
    memset (fleet, 0, sizeof *fleet);
    CHECK_U64 (ti_health_size (REPLICAS), <=, sizeof fleet->replicas);
    ti_health_init (&fleet->health, fleet->replicas, REPLICAS, options);
    fleet->count = count;
    for (uint32_t i = 0; i < count; i++)
        ti_health_join (&fleet->health, i);
    ti_health_check (&fleet->health);
}

static void make (struct fleet *fleet, uint32_t count)
{
    struct ti_health_options options;
    ti_health_options_init (&options);
    make_with (fleet, count, &options);
}

/* A second of 100 copies at each replica: answered after `base` times its factor, in percent;
 * 0: failed. */
static void second (struct fleet *fleet, tied_duration_t base, const uint32_t *percent)
{
    for (int i = 0; i <= 100; i++) {
        for (uint32_t r = 0; r < fleet->count; r++) {
            if (percent[r] > 0)
                ti_health_answered (&fleet->health, r, base / 100 * percent[r], fleet->now);
            else
                ti_health_failed (&fleet->health, r, fleet->now);
        }
        fleet->now += i < 100 ? MS (10) : 0;
    }
    ti_health_check (&fleet->health);
}

static uint32_t state_of (const struct fleet *fleet, uint32_t replica)
{
    return ti_health_state_of (&fleet->health, replica);
}

/* Replica 1 of 4 is on probation. */
static void make_one_out (struct fleet *fleet)
{
    static const uint32_t percent[4] = {100, 1000, 100, 100};
    make (fleet, 4);
    second (fleet, MS (5), percent);
    CHECK_U64 (state_of (fleet, 1), ==, TI_HEALTH_PROBATION);
    CHECK_U64 (fleet->health.out, ==, 1);
}

/* A probe each 200 ms, answered at once. */
static void probe (struct fleet *fleet, uint32_t replica, tied_duration_t took)
{
    fleet->now += MS (200);
    CHECK_TRUE (ti_health_admits (&fleet->health, replica, UINT32_MAX, fleet->now));
    ti_health_sent (&fleet->health, replica, fleet->now);
    ti_health_answered (&fleet->health, replica, took, fleet->now);
    ti_health_check (&fleet->health);
}

static void all_are_well_at_first (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 5);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    for (uint32_t r = 0; r < 5; r++)
        CHECK_TRUE (ti_health_admits (&fleet.health, r, UINT32_MAX, 0));
}

static void a_replica_much_slower_than_the_median_goes_on_probation (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    for (uint32_t r = 0; r < 4; r++)
        CHECK_U64 (state_of (&fleet, r), ==, r == 1 ? TI_HEALTH_PROBATION : TI_HEALTH_WELL);
    CHECK_FALSE (ti_health_is_calm (&fleet.health));
    CHECK_U64 (fleet.health.probations, ==, 1);
}

/* Nearly four times is not four times; and all alike are alike, whatever they take. */
static void what_is_a_little_slower_or_slow_like_all_is_well (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t little[4] = {100, 390, 100, 300};
    const uint32_t all[4] = {1000, 1000, 1000, 1000};
    make (&fleet, 4);
    for (int i = 0; i < 20; i++)
        second (&fleet, MS (5), little);
    for (int i = 0; i < 20; i++)
        second (&fleet, MS (5), all);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
}

static void of_two_the_slower_one_goes (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[2] = {1000, 100};
    make (&fleet, 2);
    second (&fleet, MS (5), percent);
    second (&fleet, MS (5), percent);
    CHECK_U64 (state_of (&fleet, 0), ==, TI_HEALTH_PROBATION);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_WELL);
}

static void what_is_faster_than_the_floor_is_never_slow (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[3] = {100, 1500, 100};
    make (&fleet, 3);
    for (int i = 0; i < 5; i++)
        second (&fleet, US (60), percent);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    second (&fleet, US (100), percent);
    second (&fleet, US (100), percent);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
}

/* 5 ms, and one in fifty takes 200 ms, only at one replica. */
static void a_heavy_tail_is_not_slowness (void **state)
{
    (void)state;
    struct fleet fleet;
    struct ti_prng prng;
    ti_prng_seed (&prng, 1);
    make (&fleet, 2);
    for (int i = 0; i < 100000; i++) {
        fleet.now += MS (2);
        const bool is_long = ti_prng_below_32 (&prng, 50) == 0;
        ti_health_answered (&fleet.health, 0, is_long ? MS (200) : MS (5), fleet.now);
        ti_health_answered (&fleet.health, 1, MS (5), fleet.now);
        CHECK_TRUE (ti_health_is_calm (&fleet.health));
    }
}

/* It counts as twice what is slow. */
static void one_copy_however_long_makes_no_replica_slow (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[4] = {100, 100, 100, 100};
    make (&fleet, 4);
    second (&fleet, MS (5), percent);
    ti_health_answered (&fleet.health, 1, S (20), fleet.now);
    second (&fleet, MS (5), percent);
    second (&fleet, MS (5), percent);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_WELL);
}

/* 400 copies a second; each 4 s it stands still for 200 ms, and 80 slow copies come at once. Were
 * it judged by copies and not by time, half of the capacity would be out when it is well again. */
static void a_pause_is_over_when_it_is_noticed (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 2);
    for (uint64_t i = 0; i < 60 * 400; i++) {
        const tied_time_t at = i * US (2500);
        ti_health_answered (&fleet.health, 1, MS (5), at);
        const tied_time_t phase = at % S (4);
        if (phase >= S (1) && phase < S (1) + MS (200))
            continue;
        if (phase == S (1) + MS (200))
            for (uint64_t back = 80; back > 0; back--)
                ti_health_answered (&fleet.health, 0, MS (5) + back * US (2500), at);
        ti_health_answered (&fleet.health, 0, MS (5), at);
        CHECK_TRUE (ti_health_is_calm (&fleet.health));
    }
}

static void nothing_is_judged_on_less_than_min_samples_or_in_less_than_a_round (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 3);
    for (int i = 0; i < 40; i++) {
        ti_health_answered (&fleet.health, 0, MS (5), S ((uint64_t)i));
        ti_health_answered (&fleet.health, 2, MS (5), S ((uint64_t)i));
    }
    for (int i = 0; i < 19; i++)
        ti_health_answered (&fleet.health, 1, MS (500), S (10 * (uint64_t)i));
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    ti_health_answered (&fleet.health, 1, MS (500), S (200));
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    make (&fleet, 2);
    for (int i = 0; i < 1000; i++) {
        ti_health_answered (&fleet.health, 0, MS (5), 0);
        ti_health_failed (&fleet.health, 1, S (1) - 1);
    }
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
}

static void a_replica_that_fails_goes_on_probation (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[3] = {100, 0, 100};
    make (&fleet, 3);
    second (&fleet, MS (5), percent);
    second (&fleet, MS (5), percent);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    CHECK_U64 (fleet.health.out, ==, 1);
}

/* 30 % is below the limit; and one bad round after good ones is only half as bad. */
static void a_replica_that_fails_now_and_then_or_for_one_round_is_well (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 3);
    for (uint64_t i = 0; i < 6000; i++) {
        const bool is_bad = (i < 3000 && i % 10 < 3) || (i >= 4004 && i <= 5004 && i % 10 < 8);
        for (uint32_t r = 0; r < 3; r++) {
            if (r == 1 && is_bad)
                ti_health_failed (&fleet.health, r, MS (i));
            else
                ti_health_answered (&fleet.health, r, MS (5), MS (i));
        }
        CHECK_TRUE (ti_health_is_calm (&fleet.health));
    }
}

/* A replica that errs quickly is no fast one. */
static void quick_errors_do_not_pull_the_median_down (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 2);
    for (int i = 0; i < 400; i++) {
        const tied_time_t at = MS (10) * (uint64_t)i;
        ti_health_answered (&fleet.health, 0, MS (50), at);
        ti_health_failed (&fleet.health, 1, at);
    }
    CHECK_U64 (state_of (&fleet, 0), ==, TI_HEALTH_WELL);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
}

/* The requests are to blame, or something behind all of them. */
static void errors_that_all_give_alike_put_nobody_on_probation (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 4);
    for (int i = 0; i < 4000; i++) {
        for (uint32_t r = 0; r < 4; r++) {
            if (i % 10 < 7)
                ti_health_failed (&fleet.health, r, MS ((uint64_t)i));
            else
                ti_health_answered (&fleet.health, r, MS (5), MS ((uint64_t)i));
        }
    }
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    const uint32_t none[4] = {0, 0, 0, 0};
    for (int i = 0; i < 5; i++)
        second (&fleet, MS (5), none);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
}

static void limits_of_0_are_off (void **state)
{
    (void)state;
    struct fleet fleet;
    struct ti_health_options options;
    const uint32_t percent[4] = {100, 0, 5000, 100};
    ti_health_options_init (&options);
    options.slow_milli = 0;
    options.failed_ppm = 0;
    make_with (&fleet, 4, &options);
    for (int i = 0; i < 5; i++)
        second (&fleet, MS (5), percent);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    options.slow_milli = 4000;
    options.out_max_ppm = 0;
    make_with (&fleet, 4, &options);
    for (int i = 0; i < 5; i++)
        second (&fleet, MS (5), percent);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
}

static void BE_11_lost_races_leave_a_healthy_replica_as_it_is (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[4] = {100, 100, 100, 100};
    make (&fleet, 4);
    second (&fleet, MS (5), percent);
    const struct fleet before = fleet;
    for (int i = 0; i < 10000; i++) {
        CHECK_TRUE (ti_health_admits (&fleet.health, 2, UINT32_MAX, fleet.now));
        ti_health_sent (&fleet.health, 2, fleet.now);
        ti_health_neutral (&fleet.health, 2, fleet.now);
    }
    CHECK_MEM (&fleet, &before, sizeof fleet);
}

static void probation_admits_one_probe_per_interval (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    const tied_time_t begun = fleet.now;
    uint32_t admitted = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        fleet.now = begun + MS (i);
        if (!ti_health_admits (&fleet.health, 1, 0, fleet.now))
            continue;
        /* Asked is not sent: the choice may have taken another. */
        CHECK_TRUE (ti_health_admits (&fleet.health, 1, 0, fleet.now));
        ti_health_sent (&fleet.health, 1, fleet.now);
        admitted++;
    }
    CHECK_U64 (admitted, ==, 10);
    CHECK_U64 (fleet.health.probes, ==, 10);
    /* Not even one that is never answered keeps the next one from being sent. */
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
}

static void BE_11_a_cancelled_probe_is_neutral_and_its_slot_is_freed (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    probe (&fleet, 1, MS (5));
    probe (&fleet, 1, MS (5));
    fleet.now += MS (200);
    ti_health_sent (&fleet.health, 1, fleet.now);
    CHECK_FALSE (ti_health_admits (&fleet.health, 1, 0, fleet.now + MS (100)));
    ti_health_neutral (&fleet.health, 1, fleet.now + MS (10));
    /* Not at once, or with a hedge that always wins every call would be a probe. */
    CHECK_FALSE (ti_health_admits (&fleet.health, 1, 0, fleet.now + MS (34)));
    CHECK_TRUE (ti_health_admits (&fleet.health, 1, 0, fleet.now + MS (35)));
    ti_health_check (&fleet.health);
    /* The good ones still count: one more is enough. */
    probe (&fleet, 1, MS (5));
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_RAMP);
}

static void a_bad_probe_begins_the_count_anew (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    probe (&fleet, 1, MS (5));
    probe (&fleet, 1, MS (5));
    /* Below four times 5 ms, but not well below. */
    probe (&fleet, 1, MS (17));
    probe (&fleet, 1, MS (5));
    probe (&fleet, 1, MS (5));
    fleet.now += MS (200);
    ti_health_sent (&fleet.health, 1, fleet.now);
    ti_health_failed (&fleet.health, 1, fleet.now);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    probe (&fleet, 1, MS (5));
    probe (&fleet, 1, MS (5));
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    probe (&fleet, 1, MS (14));
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_RAMP);
    CHECK_U64 (fleet.health.returns, ==, 1);
}

/* What was under way when the probation began is no probe. */
static void only_probes_are_judged_on_probation (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    for (int i = 0; i < 100; i++)
        ti_health_answered (&fleet.health, 1, MS (5), fleet.now);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    ti_health_sent (&fleet.health, 1, fleet.now);
    for (int i = 0; i < 100; i++)
        ti_health_answered (&fleet.health, 1, MS (5), fleet.now);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
}

static double share_admitted (struct fleet *fleet, uint32_t replica)
{
    struct ti_prng prng;
    uint32_t admitted = 0;
    ti_prng_seed (&prng, 5);
    for (int i = 0; i < 20000; i++)
        admitted += ti_health_admits (&fleet->health, replica,
                                      (uint32_t)(ti_prng_next (&prng) >> 32), fleet->now);
    return admitted / 20000.0;
}

static void a_return_begins_with_little_and_ends_with_all (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    for (int i = 0; i < 3; i++)
        probe (&fleet, 1, MS (5));
    const tied_time_t begun = fleet.now;
    CHECK_FALSE (ti_health_admits (&fleet.health, 1, 0, begun));
    CHECK_DBL (share_admitted (&fleet, 1), ==, 0);
    for (uint64_t part = 1; part < 10; part++) {
        fleet.now = begun + S (part);
        CHECK_DBL (share_admitted (&fleet, 1), >, (double)part / 10 - 0.02);
        CHECK_DBL (share_admitted (&fleet, 1), <, (double)part / 10 + 0.02);
        CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_RAMP);
    }
    fleet.now = begun + S (10);
    CHECK_DBL (share_admitted (&fleet, 1), ==, 1);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    ti_health_check (&fleet.health);
}

/* Slow only under load: no probe shows it, and each relapse makes it wait longer. */
static void a_relapse_on_the_ramp_asks_for_twice_as_many_probes (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[4] = {100, 2000, 100, 100};
    static const uint32_t wanted[] = {3, 6, 12, 24, 48, 48};
    make_one_out (&fleet);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        for (uint32_t n = 0; n < wanted[i]; n++) {
            CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
            probe (&fleet, 1, MS (5));
        }
        CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_RAMP);
        second (&fleet, MS (5), percent);
    }
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    /* A ramp that was survived makes up for all. */
    for (uint32_t n = 0; n < 48; n++)
        probe (&fleet, 1, MS (5));
    fleet.now += S (10);
    CHECK_TRUE (ti_health_admits (&fleet.health, 1, UINT32_MAX, fleet.now));
    second (&fleet, MS (5), percent);
    second (&fleet, MS (5), percent);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    for (uint32_t n = 0; n < 3; n++)
        probe (&fleet, 1, MS (5));
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_RAMP);
}

static void CL_22_at_most_half_are_on_probation (void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 9; count++) {
        struct fleet fleet;
        uint32_t percent[9];
        make (&fleet, count);
        for (uint32_t r = 0; r < count; r++)
            percent[r] = r == 0 ? 100 : 2000 * r;
        for (int i = 0; i < 10; i++) {
            second (&fleet, MS (5), percent);
            CHECK_U64 (fleet.health.out, <=, count / 2);
        }
        /* One after the other: whoever is put on probation is no part of the median. */
        if (count == 2)
            CHECK_U64 (fleet.health.out, ==, 1);
    }
}

/* Two of four are on probation and the other two are lost: what is left must take all. */
static void CL_22_probation_is_suspended_where_too_few_are_left (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[4] = {100, 0, 100, 0};
    make (&fleet, 4);
    for (int i = 0; i < 3; i++)
        second (&fleet, MS (5), percent);
    if (fleet.health.out < 2)
        second (&fleet, MS (5), percent);
    CHECK_U64 (fleet.health.out, ==, 2);
    ti_health_sent (&fleet.health, 1, fleet.now);
    ti_health_sent (&fleet.health, 3, fleet.now);
    CHECK_FALSE (ti_health_admits (&fleet.health, 1, 0, fleet.now));
    ti_health_leave (&fleet.health, 0);
    ti_health_leave (&fleet.health, 0);
    ti_health_check (&fleet.health);
    CHECK_TRUE (ti_health_admits (&fleet.health, 1, 0, fleet.now));
    CHECK_TRUE (ti_health_admits (&fleet.health, 3, 0, fleet.now));
    ti_health_leave (&fleet.health, 2);
    CHECK_TRUE (ti_health_admits (&fleet.health, 1, 0, fleet.now));
    ti_health_join (&fleet.health, 0);
    ti_health_join (&fleet.health, 2);
    ti_health_join (&fleet.health, 2);
    ti_health_check (&fleet.health);
    CHECK_FALSE (ti_health_admits (&fleet.health, 1, 0, fleet.now));
}

/* No probe is ever answered: all lose their races. */
static void CL_22_probation_expires (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    const tied_time_t begun = fleet.now;
    while (fleet.now < begun + S (60)) {
        CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
        if (ti_health_admits (&fleet.health, 1, 0, fleet.now)) {
            ti_health_sent (&fleet.health, 1, fleet.now);
            ti_health_neutral (&fleet.health, 1, fleet.now);
        }
        fleet.now += MS (5);
    }
    (void)ti_health_admits (&fleet.health, 1, 0, fleet.now);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_RAMP);
    /* But not while probes are bad. */
    make_one_out (&fleet);
    for (int i = 0; i < 1000; i++)
        probe (&fleet, 1, MS (500));
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
}

static void another_process_begins_anew_a_broken_link_does_not (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    ti_health_leave (&fleet.health, 1);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    ti_health_join (&fleet.health, 1);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    ti_health_forget (&fleet.health, 1);
    ti_health_check (&fleet.health);
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_WELL);
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
    CHECK_U64 (fleet.health.members, ==, 4);
}

/* Its copies are lost each time, and it is no member when that is said. */
static void a_replica_that_is_lost_again_and_again_goes_on_probation (void **state)
{
    (void)state;
    struct fleet fleet;
    const uint32_t percent[2] = {100, 100};
    make (&fleet, 2);
    second (&fleet, MS (5), percent);
    for (int i = 0; i < 10; i++) {
        for (int n = 0; n < 100; n++)
            ti_health_answered (&fleet.health, 0, MS (5), fleet.now);
        ti_health_leave (&fleet.health, 1);
        for (int n = 0; n < 10; n++)
            ti_health_failed (&fleet.health, 1, fleet.now);
        fleet.now += MS (500);
        ti_health_check (&fleet.health);
        ti_health_join (&fleet.health, 1);
        ti_health_check (&fleet.health);
    }
    CHECK_U64 (state_of (&fleet, 1), ==, TI_HEALTH_PROBATION);
    CHECK_U64 (fleet.health.out, ==, 1);
}

/* Of the other one nothing is known yet. */
static void without_anything_to_compare_with_nothing_is_bad (void **state)
{
    (void)state;
    struct fleet fleet;
    make (&fleet, 2);
    ti_health_leave (&fleet.health, 0);
    for (uint64_t i = 0; i < 5000; i++)
        ti_health_failed (&fleet.health, 0, MS (i));
    CHECK_U64 (state_of (&fleet, 0), ==, TI_HEALTH_WELL);
    make (&fleet, 2);
    for (uint64_t i = 0; i < 5000; i++)
        ti_health_answered (&fleet.health, 0, MS (i), MS (i));
    CHECK_TRUE (ti_health_is_calm (&fleet.health));
}

static void extreme_times_do_no_harm (void **state)
{
    (void)state;
    struct fleet fleet;
    static const tied_duration_t tooks[] = {0, 1, US (1), S (60), S (3600), UINT64_MAX - 1};
    make (&fleet, 6);
    for (int i = 0; i < 4000; i++) {
        for (uint32_t r = 0; r < 6; r++) {
            ti_health_answered (&fleet.health, r, tooks[r], fleet.now);
            (void)ti_health_admits (&fleet.health, r, 0, fleet.now);
            ti_health_sent (&fleet.health, r, fleet.now);
        }
        ti_health_check (&fleet.health);
        fleet.now += i < 3900 ? MS (10) : UINT64_MAX / 200;
    }
}

/*
 * A small world: 10 replicas, 1000 calls a second for 120 s, each to the first of a random order
 * that is admitted, else to the first. Service takes 5 to 15 ms; replica 0 takes ten times that
 * from 20 s to 60 s. What it gets in each second.
 */
#define SECONDS 120
#define FLYING  512

struct flight {
    tied_time_t sent, ends;
    uint32_t replica;
};

static void a_slow_replica_is_spared_and_comes_back_slowly (void **state)
{
    (void)state;
    static struct flight flying[FLYING];
    static uint32_t got[SECONDS];
    struct fleet fleet;
    struct ti_prng prng;
    uint32_t count = 0;
    uint32_t order[10];
    make (&fleet, 10);
    ti_prng_seed (&prng, 9);
    memset (got, 0, sizeof got);
    for (tied_time_t now = 0; now < S (SECONDS); now += MS (1)) {
        for (uint32_t i = 0; i < count;) {
            if (flying[i].ends > now) {
                i++;
                continue;
            }
            ti_health_answered (&fleet.health, flying[i].replica, flying[i].ends - flying[i].sent,
                                now);
            flying[i] = flying[--count];
        }
        uint32_t chosen = UINT32_MAX;
        for (uint32_t i = 0; i < 10; i++)
            order[i] = i;
        for (uint32_t i = 0; i < 10 && chosen == UINT32_MAX; i++) {
            const uint32_t j = i + ti_prng_below_32 (&prng, 10 - i);
            const uint32_t drawn = order[j];
            order[j] = order[i];
            order[i] = drawn;
            if (ti_health_is_calm (&fleet.health) ||
                ti_health_admits (&fleet.health, drawn, (uint32_t)(ti_prng_next (&prng) >> 32),
                                  now))
                chosen = drawn;
        }
        if (chosen == UINT32_MAX)
            chosen = order[0];
        ti_health_sent (&fleet.health, chosen, now);
        got[now / S (1)] += chosen == 0;
        const tied_duration_t base = MS (5) + ti_prng_below (&prng, MS (10));
        const bool is_slow = chosen == 0 && now >= S (20) && now < S (60);
        CHECK_U64 (count, <, FLYING);
        flying[count++] = (struct flight){now, now + (is_slow ? 10 * base : base), chosen};
        if (now % MS (100) == 0)
            ti_health_check (&fleet.health);
    }
    uint32_t while_slow = 0;
    for (uint32_t t = 0; t < SECONDS; t++) {
        if (t < 20 || t > 75) {
            CHECK_U64 (got[t], >, 60);
            CHECK_U64 (got[t], <, 140);
        }
        if (t >= 25 && t < 60)
            while_slow += got[t];
    }
    /* Found within 5 s; then probes: at most 5 a second of which one in ten draws it first. */
    CHECK_U64 (while_slow, <=, 35 * 5);
    CHECK_U64 (while_slow, >, 35);
    /* Back by a ramp: a few seconds after its cure it has half of its share. */
    CHECK_U64 (got[61], <, 40);
    CHECK_U64 (got[66], >, 20);
    CHECK_U64 (got[66], <, 90);
    CHECK_U64 (fleet.health.probations, ==, 1);
    CHECK_U64 (fleet.health.returns, ==, 1);
}

/* Anything in any order: the sums hold, there is always a member that takes calls, and in the end
 * everyone comes back. */
static void random_lives_never_exclude_all_and_end_well (void **state)
{
    (void)state;
    struct ti_prng prng;
    const uint64_t runs = check_scale (200);
    uint64_t probations = 0;
    for (uint64_t seed = 0; seed < runs; seed++) {
        struct fleet fleet;
        struct ti_health_options options;
        uint32_t slow[REPLICAS];
        ti_prng_seed (&prng, seed);
        ti_health_options_init (&options);
        options.min_samples = 1 + ti_prng_below_32 (&prng, 30);
        options.round_ns = MS (1) << ti_prng_below_32 (&prng, 10);
        options.out_max_ppm = ti_prng_below_32 (&prng, TIED_PPM);
        options.probes = 1 + ti_prng_below_32 (&prng, 5);
        make_with (&fleet, 1 + ti_prng_below_32 (&prng, REPLICAS), &options);
        for (uint32_t r = 0; r < fleet.count; r++)
            slow[r] = ti_prng_below_32 (&prng, 3) ? 1 : 1 + ti_prng_below_32 (&prng, 30);
        for (int i = 0; i < 3000; i++) {
            const uint32_t r = ti_prng_below_32 (&prng, fleet.count);
            fleet.now += ti_prng_below (&prng, MS (2));
            const uint32_t before = fleet.health.out;
            switch (ti_prng_below_32 (&prng, 40)) {
            case 0:
                ti_health_leave (&fleet.health, r);
                break;
            case 1:
            case 2:
                ti_health_join (&fleet.health, r);
                break;
            case 3:
                if (ti_prng_below_32 (&prng, 10) == 0)
                    ti_health_forget (&fleet.health, r);
                break;
            case 4:
            case 5:
                ti_health_neutral (&fleet.health, r, fleet.now);
                break;
            case 6:
                slow[r] = ti_prng_below_32 (&prng, 3) ? 1 : 1 + ti_prng_below_32 (&prng, 30);
                break;
            case 7:
            case 8:
            case 9:
            case 10:
                if (ti_prng_below_32 (&prng, 20) < slow[r])
                    ti_health_failed (&fleet.health, r, fleet.now);
                break;
            default:
                if (ti_health_admits (&fleet.health, r, (uint32_t)ti_prng_next (&prng), fleet.now))
                    ti_health_sent (&fleet.health, r, fleet.now);
                ti_health_answered (&fleet.health, r, MS (2) * slow[r], fleet.now);
                if (fleet.health.out > before)
                    CHECK_U64 ((uint64_t)fleet.health.out * TIED_PPM, <=,
                               (uint64_t)fleet.health.members * options.out_max_ppm);
                break;
            }
            ti_health_check (&fleet.health);
            if (fleet.health.members > 0 && fleet.health.out == fleet.health.members)
                CHECK_TRUE (ti_health_admits (&fleet.health, r, UINT32_MAX, fleet.now));
        }
        probations += fleet.health.probations;
        for (uint32_t r = 0; r < fleet.count; r++)
            ti_health_join (&fleet.health, r);
        /* All are quick: probes, or the expiry, then the ramp. */
        const tied_time_t end = fleet.now + S (90);
        while (fleet.now < end) {
            fleet.now += MS (10);
            const uint32_t r = ti_prng_below_32 (&prng, fleet.count);
            if (ti_health_admits (&fleet.health, r, (uint32_t)ti_prng_next (&prng), fleet.now)) {
                ti_health_sent (&fleet.health, r, fleet.now);
                ti_health_answered (&fleet.health, r, MS (2), fleet.now);
            }
        }
        ti_health_check (&fleet.health);
        CHECK_TRUE (ti_health_is_calm (&fleet.health));
    }
    CHECK_U64 (probations, >, runs);
}

static void a_probe_that_is_cancelled_late_delays_no_other (void **state)
{
    (void)state;
    struct fleet fleet;
    make_one_out (&fleet);
    fleet.now += MS (200);
    ti_health_sent (&fleet.health, 1, fleet.now);
    ti_health_neutral (&fleet.health, 1, fleet.now + MS (190));
    CHECK_FALSE (ti_health_admits (&fleet.health, 1, 0, fleet.now + MS (200) - 1));
    CHECK_TRUE (ti_health_admits (&fleet.health, 1, 0, fleet.now + MS (200)));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_probe_that_is_cancelled_late_delays_no_other),
        cmocka_unit_test (all_are_well_at_first),
        cmocka_unit_test (a_replica_much_slower_than_the_median_goes_on_probation),
        cmocka_unit_test (what_is_a_little_slower_or_slow_like_all_is_well),
        cmocka_unit_test (of_two_the_slower_one_goes),
        cmocka_unit_test (what_is_faster_than_the_floor_is_never_slow),
        cmocka_unit_test (a_heavy_tail_is_not_slowness),
        cmocka_unit_test (one_copy_however_long_makes_no_replica_slow),
        cmocka_unit_test (a_pause_is_over_when_it_is_noticed),
        cmocka_unit_test (nothing_is_judged_on_less_than_min_samples_or_in_less_than_a_round),
        cmocka_unit_test (a_replica_that_fails_goes_on_probation),
        cmocka_unit_test (a_replica_that_fails_now_and_then_or_for_one_round_is_well),
        cmocka_unit_test (quick_errors_do_not_pull_the_median_down),
        cmocka_unit_test (errors_that_all_give_alike_put_nobody_on_probation),
        cmocka_unit_test (limits_of_0_are_off),
        cmocka_unit_test (BE_11_lost_races_leave_a_healthy_replica_as_it_is),
        cmocka_unit_test (probation_admits_one_probe_per_interval),
        cmocka_unit_test (BE_11_a_cancelled_probe_is_neutral_and_its_slot_is_freed),
        cmocka_unit_test (a_bad_probe_begins_the_count_anew),
        cmocka_unit_test (only_probes_are_judged_on_probation),
        cmocka_unit_test (a_return_begins_with_little_and_ends_with_all),
        cmocka_unit_test (a_relapse_on_the_ramp_asks_for_twice_as_many_probes),
        cmocka_unit_test (CL_22_at_most_half_are_on_probation),
        cmocka_unit_test (CL_22_probation_is_suspended_where_too_few_are_left),
        cmocka_unit_test (CL_22_probation_expires),
        cmocka_unit_test (another_process_begins_anew_a_broken_link_does_not),
        cmocka_unit_test (a_replica_that_is_lost_again_and_again_goes_on_probation),
        cmocka_unit_test (without_anything_to_compare_with_nothing_is_bad),
        cmocka_unit_test (extreme_times_do_no_harm),
        cmocka_unit_test (a_slow_replica_is_spared_and_comes_back_slowly),
        cmocka_unit_test (random_lives_never_exclude_all_and_end_well),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
