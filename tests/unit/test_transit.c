/* SPDX-License-Identifier: MIT */
/* Times on the sender's clock are given in microseconds; ours is ahead of it by OFFSET. */
#include "core/transit.h"

#include "check.h"

#define OFFSET_US UINT64_C (5000000000)
#define EPOCH     3

static tied_time_t local (uint64_t sender_us)
{
    return (sender_us + OFFSET_US) * 1000;
}

/* A request sent at sender_us that was on its way for delay_us. */
static tied_duration_t
arrive (struct ti_transit *self, uint64_t epoch, uint64_t sender_us, uint64_t delay_us)
{
    return ti_transit_staleness (self, epoch, sender_us, local (sender_us + delay_us));
}

static void the_usual_time_on_the_way_is_not_stale (void **state)
{
    struct ti_transit transit = {0};
    uint64_t t;

    (void)state;
    for (t = 1; t < 30000000; t += 1000000)
        CHECK_U64 (arrive (&transit, EPOCH, t, 150), ==, 0);
}

static void what_is_above_the_smallest_is_stale (void **state)
{
    struct ti_transit transit = {0};

    (void)state;
    CHECK_U64 (arrive (&transit, EPOCH, 1000, 200), ==, 0);
    CHECK_U64 (arrive (&transit, EPOCH, 2000, 700), ==, US (500));
    CHECK_U64 (arrive (&transit, EPOCH, 3000, 100), ==, 0);
    CHECK_U64 (arrive (&transit, EPOCH, 4000, 700), ==, US (600));
}

static void no_time_given_changes_nothing (void **state)
{
    struct ti_transit transit = {0};

    (void)state;
    CHECK_U64 (arrive (&transit, EPOCH, 1000, 200), ==, 0);
    CHECK_U64 (ti_transit_staleness (&transit, EPOCH, 0, local (1500)), ==, 0);
    CHECK_U64 (ti_transit_staleness (&transit, EPOCH + 1, 0, local (1600)), ==, 0);
    CHECK_U64 (arrive (&transit, EPOCH, 2000, 300), ==, US (100));
}

/* However long this process was stopped, the first request read after it meets an old minimum. */
static void a_long_stop_does_not_make_old_requests_look_fresh (void **state)
{
    struct ti_transit transit = {0};
    uint64_t stop_us;

    (void)state;
    for (stop_us = 1000000; stop_us < 1000000000; stop_us *= 10) {
        uint64_t i;
        uint64_t t;

        memset (&transit, 0, sizeof transit);
        for (t = 1; t <= 5000001; t += 1000000)
            CHECK_U64 (arrive (&transit, EPOCH, t, 100), ==, 0);
        /* Sent during the stop, read right after it. */
        for (i = 0; i < 10; i++) {
            tied_duration_t stale = arrive (&transit, EPOCH, t + i, stop_us);
            uint64_t drift = stop_us / 4096;

            CHECK_U64 (stale, >=, US (stop_us - 100 - drift));
            CHECK_U64 (stale, <=, US (stop_us));
        }
    }
}

/* 100 ppm either way, over a day of steady traffic: never more than two windows of drift. */
static void CK_01_drift_does_not_add_up (void **state)
{
    struct ti_transit fast = {0};
    struct ti_transit slow = {0};
    uint64_t t;

    (void)state;
    for (t = 1; t < UINT64_C (86400000000); t += 500000) {
        uint64_t skew = t / 10000;

        CHECK_U64 (ti_transit_staleness (&slow, EPOCH, t, local (t + 100 + skew)), <=, MS (3));
        CHECK_U64 (ti_transit_staleness (&fast, EPOCH, t + skew, local (t + 100)), ==, 0);
    }
}

static void a_silent_hour_of_drift_is_forgiven (void **state)
{
    struct ti_transit transit = {0};
    uint64_t hour = UINT64_C (3600000000);

    (void)state;
    CHECK_U64 (arrive (&transit, EPOCH, 1, 100), ==, 0);
    CHECK_U64 (arrive (&transit, EPOCH, hour, 100 + hour / 10000), ==, 0);
}

static void a_restarted_client_starts_anew (void **state)
{
    struct ti_transit transit = {0};

    (void)state;
    CHECK_U64 (arrive (&transit, EPOCH, 900000000, 100), ==, 0);
    /* Its machine was rebooted: the clock begins at 1, and looks 900 s late. */
    CHECK_U64 (ti_transit_staleness (&transit, EPOCH + 1, 1, local (900100000)), ==, 0);
    CHECK_U64 (ti_transit_staleness (&transit, EPOCH + 1, 1001, local (900101300)), ==, US (300));
}

static void a_later_route_is_learned_within_two_windows (void **state)
{
    struct ti_transit transit = {0};
    uint64_t t;

    (void)state;
    for (t = 1; t < 5000000; t += 100000)
        (void)arrive (&transit, EPOCH, t, 100);
    CHECK_U64 (arrive (&transit, EPOCH, t, 900), ==, US (800));
    for (; t < 30000000; t += 100000)
        (void)arrive (&transit, EPOCH, t, 900);
    CHECK_U64 (arrive (&transit, EPOCH, t, 900), ==, 0);
}

/* The sender's machine was suspended: its clock stood still, and all that it sends from now on
 * looks that late. Its calls must not be refused for long. */
static void CK_01_a_sender_whose_clock_stood_still_is_believed_again_soon (void **state)
{
    struct ti_transit transit = {0};
    uint64_t t;
    uint64_t end;

    (void)state;
    for (t = 1; t < 30000000; t += 100000)
        (void)arrive (&transit, EPOCH, t, 100);
    CHECK_U64 (arrive (&transit, EPOCH, t, 60000100), >=, S (59));
    for (end = t + 4200000; t < end; t += 100000)
        (void)arrive (&transit, EPOCH, t, 60000100);
    CHECK_U64 (arrive (&transit, EPOCH, t, 60000100), ==, 0);
}

/* What lies in the sockets after a stop of ours may take a while to be read. */
static void a_burst_after_a_stop_is_stale_to_its_end (void **state)
{
    struct ti_transit transit = {0};
    uint64_t sent = 5000000;
    uint64_t read;
    uint64_t t;

    (void)state;
    for (t = 1; t < sent; t += 100000)
        (void)arrive (&transit, EPOCH, t, 100);
    for (read = sent + 30000000; read < sent + 31900000; read += 1000)
        CHECK_U64 (ti_transit_staleness (&transit, EPOCH, sent, local (read)), >=, S (29));
}

/* Made-up clocks harm only their sender, and are forgotten. Watch for wrapped results by UBSan. */
static void hostile_clocks_are_harmless (void **state)
{
    static const uint64_t clocks[] = {1, UINT64_MAX, UINT64_MAX / 2, UINT64_C (1) << 63, 12345, 2};
    struct ti_transit transit = {0};
    uint64_t t;
    size_t i;

    (void)state;
    for (t = 1; t < 1000; t++)
        for (i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
            (void)ti_transit_staleness (&transit, EPOCH, clocks[(i + t) % 6], local (t * 100000));
    /* Then it becomes honest: within two windows all is well. */
    for (t = 100000000; t < 130000000; t += 100000)
        (void)arrive (&transit, EPOCH, t, 100);
    CHECK_U64 (arrive (&transit, EPOCH, t, 150), ==, US (50));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_usual_time_on_the_way_is_not_stale),
        cmocka_unit_test (what_is_above_the_smallest_is_stale),
        cmocka_unit_test (no_time_given_changes_nothing),
        cmocka_unit_test (a_long_stop_does_not_make_old_requests_look_fresh),
        cmocka_unit_test (CK_01_drift_does_not_add_up),
        cmocka_unit_test (a_silent_hour_of_drift_is_forgiven),
        cmocka_unit_test (a_restarted_client_starts_anew),
        cmocka_unit_test (a_later_route_is_learned_within_two_windows),
        cmocka_unit_test (CK_01_a_sender_whose_clock_stood_still_is_believed_again_soon),
        cmocka_unit_test (a_burst_after_a_stop_is_stale_to_its_end),
        cmocka_unit_test (hostile_clocks_are_harmless),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
