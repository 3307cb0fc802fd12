/* SPDX-License-Identifier: MIT */
/*
 * Timelines of speed against an integral by small steps, the mean speed they promise, and their
 * independence of who asks when.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "base/util.h"
#include "workload/speed.h"

#define REPLICAS 6

static struct sim_replicas plain (void)
{
    return (struct sim_replicas){.count = REPLICAS, .workers = 1, .slow_factor = 1};
}

static void a_replica_of_speed_1_takes_exactly_the_demand (void **state)
{
    struct sim_replicas replicas = plain ();
    struct sim_speed *speed = sim_speed_new (&replicas, 1);
    (void)state;
    const tied_time_t starts[] = {0, 1, UINT64_C (1) << 60};
    for (int i = 0; i < 3; i++)
        CHECK_U64 (sim_speed_finish (speed, 2, starts[i], 12345678901), ==,
                   starts[i] + 12345678901);
    CHECK_DBL (sim_speed_mean (&replicas, 2), ==, 1);
    CHECK_DBL (sim_speed_sum (&replicas), ==, REPLICAS);
    sim_speed_free (speed);
}

static void speeds_repeat_and_the_first_replicas_are_slow (void **state)
{
    struct sim_replicas replicas = plain ();
    (void)state;
    replicas.speeds_count = 2;
    replicas.speeds[0] = 1;
    replicas.speeds[1] = 4;
    replicas.slow_count = 2;
    replicas.slow_factor = 10;
    struct sim_speed *speed = sim_speed_new (&replicas, 1);
    const uint64_t expected[REPLICAS] = {MS (10), US (2500), MS (1), US (250), MS (1), US (250)};
    for (uint32_t i = 0; i < REPLICAS; i++) {
        CHECK_U64 (sim_speed_finish (speed, i, 77, MS (1)), ==, 77 + expected[i]);
        CHECK_DBL (fabs (sim_speed_mean (&replicas, i) * (double)expected[i] / 1e6 - 1), <, 1e-12);
    }
    sim_speed_free (speed);
}

/* Arrivals begin after a second. */
static void replicas_are_slow_for_a_time (void **state)
{
    struct sim_replicas replicas = plain ();
    (void)state;
    replicas.slow_count = 1;
    replicas.slow_factor = 4;
    replicas.slow_at_ns = S (2);
    replicas.slow_length_ns = S (4);
    struct sim_speed *speed = sim_speed_new (&replicas, 1);
    CHECK_U64 (sim_speed_finish (speed, 0, S (1), S (2)), ==, S (3));
    CHECK_U64 (sim_speed_finish (speed, 0, S (2), S (2)), ==, S (7));
    CHECK_U64 (sim_speed_finish (speed, 0, S (4), S (1)), ==, MS (7250));
    CHECK_U64 (sim_speed_finish (speed, 0, S (7), S (1)), ==, S (8));
    CHECK_U64 (sim_speed_finish (speed, 1, S (2), S (2)), ==, S (4));
    CHECK_DBL (sim_speed_sum (&replicas), ==, REPLICAS);
    sim_speed_free (speed);
    /* To the end. */
    replicas.slow_length_ns = 0;
    speed = sim_speed_new (&replicas, 1);
    CHECK_U64 (sim_speed_finish (speed, 0, S (2), S (2)), ==, S (7));
    CHECK_U64 (sim_speed_finish (speed, 0, S (1000), S (2)), ==, S (1008));
    sim_speed_free (speed);
}

static void work_stands_still_in_a_pause_of_the_log (void **state)
{
    /* Overlapping, touching and empty entries, out of order: [2, 5) and [8, 9) ms, period 9 ms. */
    uint64_t log[] = {MS (8), MS (1), MS (3), MS (2), MS (2), MS (1), MS (4), 0, MS (2), MS (2)};
    struct sim_replicas replicas = plain ();
    (void)state;
    replicas.pause_log = (struct sim_table){log, 10};
    CHECK_DBL (fabs (sim_speed_mean (&replicas, 0) - 5.0 / 9), <, 1e-12);
    for (uint32_t replica = 0; replica < REPLICAS; replica++) {
        /* Where the replica's time starts in the log shows in when 1 ns of work is done. */
        struct sim_speed *speed = sim_speed_new (&replicas, 7);
        uint64_t offset = 0;
        bool pauses_before = false;
        for (uint64_t at = 0; at < MS (18); at += US (1)) {
            bool pauses = sim_speed_finish (speed, replica, at, 1) > at + 1;
            if (pauses && !pauses_before) {
                uint64_t end = sim_speed_finish (speed, replica, at, 1) - 1;
                /* Only the long pause lasts over 1 ms, once it is seen from its beginning. */
                if (end - at > US (1001) && at > 0) {
                    CHECK_DBL (fabs ((double)(end - at) - 3e6), <, 1001);
                    offset = end;
                    break;
                }
            }
            pauses_before = pauses;
        }
        CHECK_U64 (offset, >, 0);
        /* At `offset` it is 5 ms in the log: 3 ms of work, a pause of 1, 2 of work, one of 3. */
        for (uint64_t lap = 1; lap < 1000; lap += 333) {
            uint64_t base = offset + lap * MS (9);
            CHECK_U64 (sim_speed_finish (speed, replica, base, MS (3)), ==, base + MS (3));
            CHECK_U64 (sim_speed_finish (speed, replica, base, MS (3) + 1), ==, base + MS (4) + 1);
            CHECK_U64 (sim_speed_finish (speed, replica, base, MS (6)), ==, base + MS (10));
            CHECK_U64 (sim_speed_finish (speed, replica, base, MS (50)), ==, base + MS (87));
        }
        sim_speed_free (speed);
    }
}

static void a_log_without_an_end_of_its_pauses_never_finishes (void **state)
{
    uint64_t log[] = {0, MS (5)};
    struct sim_replicas replicas = plain ();
    (void)state;
    replicas.pause_log = (struct sim_table){log, 2};
    struct sim_speed *speed = sim_speed_new (&replicas, 7);
    CHECK_U64 (sim_speed_finish (speed, 0, 5, 1), ==, TIED_NEVER);
    CHECK_DBL (sim_speed_mean (&replicas, 0), ==, 0);
    sim_speed_free (speed);
}

/* Everything at once: speeds, changes, pauses and a log. */
static void fill (struct sim_replicas *replicas, uint64_t log[4], bool apart)
{
    *replicas = plain ();
    replicas->speeds_count = 3;
    replicas->speeds[0] = 1;
    replicas->speeds[1] = 0.3;
    replicas->speeds[2] = 2;
    replicas->slow_count = 1;
    replicas->slow_factor = 3;
    replicas->vary_ns = MS (7);
    replicas->vary_count = 3;
    replicas->vary[0] = (struct sim_factor){1, 0.5};
    replicas->vary[1] = (struct sim_factor){6, 0.25};
    replicas->vary[2] = (struct sim_factor){0.25, 0.25};
    replicas->pause = (struct ti_pause){MS (40), MS (3)};
    replicas->pauses_never_overlap = apart;
    log[0] = MS (10);
    log[1] = MS (2);
    log[2] = MS (100);
    log[3] = MS (30);
    replicas->pause_log = (struct sim_table){log, 4};
}

/* What a replica does in each step of 10 us is read with a tiny demand; a long piece of work must
 * end when the steps add up to it. */
static void long_work_takes_as_long_as_its_pieces (void **state)
{
    enum {
        STEPS = 60000
    };
    static double done[STEPS + 1];
    uint64_t log[4];
    struct sim_replicas replicas;
    (void)state;
    for (uint32_t replica = 0; replica < REPLICAS; replica++) {
        fill (&replicas, log, replica % 2);
        struct sim_speed *speed = sim_speed_new (&replicas, 3);
        /* Work of 1000 ns at each step gives the speed there, up to pauses that begin or end. */
        for (uint64_t i = 0; i < STEPS; i++) {
            tied_time_t at = i * US (10);
            double took = (double)(sim_speed_finish (speed, replica, at, 1000) - at);
            double rate = took > 20000 ? 0 : 1000 / took;
            done[i + 1] = done[i] + rate * 10000;
        }
        sim_speed_free (speed);
        speed = sim_speed_new (&replicas, 3);
        for (uint64_t demand = MS (1); done[STEPS] > 1.1 * (double)demand; demand += MS (3)) {
            tied_time_t end = sim_speed_finish (speed, replica, 0, demand);
            double by_steps = done[end / US (10)];
            CHECK_DBL (fabs (by_steps - (double)demand), <, 2e5 + 0.01 * (double)demand);
        }
        sim_speed_free (speed);
    }
}

/* Work cut in two is done when the whole is, wherever the cut lies. */
static void work_in_two_parts_ends_when_the_whole_does (void **state)
{
    uint64_t log[4];
    struct sim_replicas replicas;
    struct ti_prng prng;
    (void)state;
    ti_prng_seed (&prng, 1);
    for (int apart = 0; apart < 2; apart++) {
        fill (&replicas, log, apart);
        struct sim_speed *speed = sim_speed_new (&replicas, 3);
        tied_time_t at[REPLICAS] = {0};
        for (int i = 0; i < 20000; i++) {
            uint32_t r = (uint32_t)ti_prng_below (&prng, REPLICAS);
            uint64_t demand = 1 + ti_prng_below (&prng, MS (20));
            uint64_t part = ti_prng_below (&prng, demand);
            tied_time_t whole = sim_speed_finish (speed, r, at[r], demand);
            tied_time_t middle = sim_speed_finish (speed, r, at[r], part);
            tied_time_t end = sim_speed_finish (speed, r, middle, demand - part);
            /* Each is rounded to a ns; at speed 0.025 half of one is 20 of work. */
            CHECK_U64 (end > whole ? end - whole : whole - end, <=, 25);
            CHECK_U64 (whole, >=, at[r]);
            at[r] = middle;
        }
        sim_speed_free (speed);
    }
}

static void answers_do_not_depend_on_who_asks_first_or_how_often (void **state)
{
    enum {
        STARTS = 300
    };
    static tied_time_t ends[REPLICAS][STARTS];
    uint64_t log[4];
    struct sim_replicas replicas;
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        fill (&replicas, log, apart);
        struct sim_speed *one = sim_speed_new (&replicas, 11), *two = sim_speed_new (&replicas, 11);
        for (uint64_t i = 0; i < STARTS; i++)
            for (uint32_t r = 0; r < REPLICAS; r++)
                ends[r][i] = sim_speed_finish (one, r, i * MS (13), MS (2) + i);
        for (uint32_t r = REPLICAS; r-- > 0;)
            for (uint64_t i = r; i < STARTS; i += 1 + r) {
                /* A longer look ahead in between. */
                (void)sim_speed_finish (two, r, i * MS (13), S (1));
                CHECK_U64 (sim_speed_finish (two, r, i * MS (13), MS (2) + i), ==, ends[r][i]);
            }
        sim_speed_free (one);
        sim_speed_free (two);
    }
}

static void the_mean_speed_is_kept_over_a_long_time (void **state)
{
    uint64_t log[4];
    struct sim_replicas replicas;
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        fill (&replicas, log, apart);
        double sum = 0;
        for (uint32_t r = 0; r < REPLICAS; r++) {
            struct sim_speed *speed = sim_speed_new (&replicas, 5);
            tied_time_t at = 0;
            for (int i = 0; i < 1000; i++)
                at = sim_speed_finish (speed, r, at, S (1));
            double mean = sim_speed_mean (&replicas, r);
            sum += mean;
            CHECK_DBL (fabs (1e12 / (double)at / mean - 1), <, 0.02);
            sim_speed_free (speed);
        }
        CHECK_DBL (fabs (sum / sim_speed_sum (&replicas) - 1), <, 1e-12);
    }
}

static int compare_pairs (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The pauses of all replicas, found by asking for 1 ns of work in steps of half a pause. */
static size_t find_pauses (const struct sim_replicas *replicas, uint64_t (*out)[2], size_t max)
{
    size_t count = 0;
    uint64_t length = replicas->pause.length_ns;
    for (uint32_t r = 0; r < replicas->count; r++) {
        struct sim_speed *speed = sim_speed_new (replicas, 21);
        uint64_t last = 0;
        for (tied_time_t at = 0; at < S (20); at += length / 2) {
            tied_time_t end = sim_speed_finish (speed, r, at, 1);
            if (end == at + 1 || end == last)
                continue;
            CHECK_U64 (count, <, max);
            last = end;
            out[count][0] = end - 1 - length;
            out[count++][1] = end - 1;
        }
        sim_speed_free (speed);
    }
    qsort (out, count, sizeof out[0], compare_pairs);
    return count;
}

static void pauses_that_must_not_overlap_do_not (void **state)
{
    static uint64_t pauses[20000][2];
    struct sim_replicas replicas = plain ();
    (void)state;
    /* Sparse; dense: 6 x 10 of every 70 ms; and more than fits, which is as many as fit. */
    const uint64_t gaps[] = {MS (990), MS (60), MS (20)};
    const double expected[] = {6 * 20 / 1.0, 6 * 20 / 0.07, 6 * 20 / 0.06};
    for (int i = 0; i < 3; i++) {
        replicas.pause = (struct ti_pause){gaps[i], MS (10)};
        replicas.pauses_never_overlap = true;
        size_t count = find_pauses (&replicas, pauses, 20000);
        for (size_t k = 1; k < count; k++)
            CHECK_U64 (pauses[k][0], >=, pauses[k - 1][1]);
        CHECK_DBL (fabs ((double)count / expected[i] - 1), <, i ? 0.05 : 0.3);
        CHECK_DBL (fabs (sim_speed_mean (&replicas, 0) - (1 - expected[i] / 6 / 20 * 0.01)), <,
                   1e-9);
        /* Without the option some do. */
        replicas.pauses_never_overlap = false;
        count = find_pauses (&replicas, pauses, 20000);
        size_t overlaps = 0;
        for (size_t k = 1; k < count; k++)
            overlaps += pauses[k][0] < pauses[k - 1][1];
        CHECK_U64 (overlaps, >, 0);
    }
}

static void gaps_between_pauses_have_their_mean_and_spread (void **state)
{
    static uint64_t pauses[20000][2];
    struct sim_replicas replicas = plain ();
    (void)state;
    replicas.count = 1;
    replicas.pause = (struct ti_pause){MS (9), MS (1)};
    double sum = 0, squares = 0;
    size_t count = find_pauses (&replicas, pauses, 20000);
    for (size_t k = 1; k < count; k++) {
        double gap = (double)(pauses[k][0] - pauses[k - 1][1]);
        sum += gap;
        squares += gap * gap;
    }
    double n = (double)(count - 1), mean = sum / n;
    /* 2000 gaps: 2.2 % of the mean, about 6 % of its squared variability, which is 1. */
    CHECK_DBL (fabs (mean / 9e6 - 1), <, 0.08);
    CHECK_DBL (fabs (squares / n / (mean * mean) - 2), <, 0.25);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_replica_of_speed_1_takes_exactly_the_demand),
        cmocka_unit_test (speeds_repeat_and_the_first_replicas_are_slow),
        cmocka_unit_test (replicas_are_slow_for_a_time),
        cmocka_unit_test (work_stands_still_in_a_pause_of_the_log),
        cmocka_unit_test (a_log_without_an_end_of_its_pauses_never_finishes),
        cmocka_unit_test (long_work_takes_as_long_as_its_pieces),
        cmocka_unit_test (work_in_two_parts_ends_when_the_whole_does),
        cmocka_unit_test (answers_do_not_depend_on_who_asks_first_or_how_often),
        cmocka_unit_test (the_mean_speed_is_kept_over_a_long_time),
        cmocka_unit_test (pauses_that_must_not_overlap_do_not),
        cmocka_unit_test (gaps_between_pauses_have_their_mean_and_spread),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
