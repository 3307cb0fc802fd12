/* SPDX-License-Identifier: MIT */
/* The stagger: what it is made of, and its limits. */
#include "core/stagger.h"
#include "check.h"

#define FLOOR   US (200)
#define CEILING MS (10)
#define INITIAL MS (1)

static const struct ti_stagger fresh = {
    .floor_ns = FLOOR, .ceiling_ns = CEILING, .initial_ns = INITIAL};

/* A way that takes in turn the one and the other time, for long. */
static struct ti_delay way_of (tied_duration_t one, tied_duration_t other)
{
    struct ti_delay delay = {0};
    for (int i = 0; i < 500; i++)
        ti_delay_call (&delay, i % 2 ? other : one);
    return delay;
}

static struct ti_stagger served (tied_duration_t service)
{
    struct ti_stagger stagger = fresh;
    for (int i = 0; i < 1000; i++)
        ti_stagger_served (&stagger, service);
    return stagger;
}

/* Rounding leaves a few nanoseconds of a deviation. */
static void check_near (tied_duration_t stagger, tied_duration_t round_trip)
{
    CHECK_U64 (stagger, >=, round_trip);
    CHECK_U64 (stagger, <, round_trip + 4);
}

static void before_any_measurement_it_is_the_initial_one (void **state)
{
    (void)state;
    const struct ti_delay unknown = {0};
    CHECK_U64 (ti_stagger_of (&fresh, &unknown, &unknown, 2), ==, INITIAL);
}

/* It stands in for the unknown side only. */
static void one_unknown_way_takes_the_initial_one_if_that_is_longer (void **state)
{
    (void)state;
    const struct ti_delay unknown = {0};
    const struct ti_delay quick = way_of (US (300), US (300));
    const struct ti_delay slow = way_of (MS (3), MS (3));
    CHECK_U64 (ti_stagger_of (&fresh, &quick, &unknown, 2), ==, INITIAL);
    CHECK_U64 (ti_stagger_of (&fresh, &unknown, &quick, 2), ==, INITIAL);
    CHECK_U64 (ti_stagger_of (&fresh, &slow, &unknown, 2), >=, MS (3));
}

static void a_steady_way_gives_its_round_trip_whatever_the_service (void **state)
{
    (void)state;
    const struct ti_stagger slow = served (S (1));
    const struct ti_delay way = way_of (US (500), US (500));
    check_near (ti_stagger_of (&fresh, &way, &way, 2), US (500));
    check_near (ti_stagger_of (&slow, &way, &way, 2), US (500));
}

static void the_slower_of_the_two_ways_counts (void **state)
{
    (void)state;
    const struct ti_delay quick = way_of (US (300), US (300));
    const struct ti_delay slow = way_of (US (700), US (700));
    check_near (ti_stagger_of (&fresh, &quick, &slow, 3), US (700));
    check_near (ti_stagger_of (&fresh, &slow, &quick, 3), US (700));
}

static void a_way_that_varies_needs_a_longer_one (void **state)
{
    (void)state;
    const struct ti_delay steady = way_of (US (400), US (400));
    const struct ti_delay unsteady = way_of (US (300), US (500));
    const tied_duration_t stagger = ti_stagger_of (&fresh, &steady, &unsteady, 2);
    /* Mean 400, deviation 100. */
    CHECK_U64 (stagger, >, US (750));
    CHECK_U64 (stagger, <, US (850));
}

/* 4 sqrt (100 us x 10 ms / (n - 1)): 4.0, 2.83, 1.33 ms; with 100 the bound of the way decides. */
static void an_unsteady_way_to_few_replicas_takes_a_share_of_the_service (void **state)
{
    (void)state;
    const struct ti_stagger stagger = served (MS (10));
    const struct ti_delay way = way_of (US (300), US (500));
    const struct {
        uint32_t replicas;
        tied_duration_t low, high;
    } rows[] = {{2, US (3800), US (4200)},
                {3, US (2690), US (2970)},
                {10, US (1260), US (1400)},
                {100, US (750), US (850)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_U64 (ti_stagger_of (&stagger, &way, &way, rows[i].replicas), >=, rows[i].low);
        CHECK_U64 (ti_stagger_of (&stagger, &way, &way, rows[i].replicas), <=, rows[i].high);
    }
}

/* A quarter of the service: twice the share. */
static void the_share_of_a_longer_service_is_smaller (void **state)
{
    (void)state;
    const struct ti_delay way = way_of (US (50), US (70));
    const struct ti_stagger shorter = served (MS (10));
    const struct ti_stagger longer = served (MS (40));
    const tied_duration_t a = ti_stagger_of (&shorter, &way, &way, 3);
    const tied_duration_t b = ti_stagger_of (&longer, &way, &way, 3);
    CHECK_U64 (b, >=, 2 * a - a / 50);
    CHECK_U64 (b, <=, 2 * a + a / 50);
}

static void the_mean_service_moves_by_a_64th (void **state)
{
    (void)state;
    struct ti_stagger stagger = fresh;
    CHECK_U64 (ti_stagger_service (&stagger), ==, 0);
    ti_stagger_served (&stagger, 6400);
    CHECK_U64 (ti_stagger_service (&stagger), ==, 6400);
    ti_stagger_served (&stagger, 12800);
    CHECK_U64 (ti_stagger_service (&stagger), ==, 6500);
    ti_stagger_served (&stagger, 0);
    CHECK_U64 (ti_stagger_service (&stagger), ==, 6398);
}

static void BE_06_the_limits_hold_for_whatever_was_measured (void **state)
{
    (void)state;
    const tied_duration_t values[] = {0, 1, US (1), MS (5), S (60), S (3600), UINT64_MAX};
    const size_t count = sizeof values / sizeof values[0];
    for (size_t s = 0; s < count; s++) {
        const struct ti_stagger stagger = served (values[s]);
        for (size_t i = 0; i < count * count; i++) {
            const struct ti_delay a = way_of (values[i / count], values[i % count]);
            const struct ti_delay b = way_of (values[i % count], 1);
            for (uint32_t replicas = 2; replicas <= 4096; replicas *= 2) {
                const tied_duration_t got = ti_stagger_of (&stagger, &a, &b, replicas);
                CHECK_U64 (got, >=, FLOOR);
                CHECK_U64 (got, <=, CEILING);
            }
        }
    }
    const struct ti_delay nothing = way_of (0, 0);
    const struct ti_delay slow = way_of (S (3), S (3));
    CHECK_U64 (ti_stagger_of (&fresh, &nothing, &nothing, 2), ==, FLOOR);
    CHECK_U64 (ti_stagger_of (&fresh, &nothing, &slow, 2), ==, CEILING);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (before_any_measurement_it_is_the_initial_one),
        cmocka_unit_test (one_unknown_way_takes_the_initial_one_if_that_is_longer),
        cmocka_unit_test (a_steady_way_gives_its_round_trip_whatever_the_service),
        cmocka_unit_test (the_slower_of_the_two_ways_counts),
        cmocka_unit_test (a_way_that_varies_needs_a_longer_one),
        cmocka_unit_test (an_unsteady_way_to_few_replicas_takes_a_share_of_the_service),
        cmocka_unit_test (the_share_of_a_longer_service_is_smaller),
        cmocka_unit_test (the_mean_service_moves_by_a_64th),
        cmocka_unit_test (BE_06_the_limits_hold_for_whatever_was_measured),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
