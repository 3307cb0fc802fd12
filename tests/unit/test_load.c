/* SPDX-License-Identifier: MIT */
/* The load score: report, age, mean of all reports, own copies in flight. */
#include "base/util.h"
#include "core/load.h"
#include "check.h"

static uint64_t score (tied_duration_t age_max, uint32_t depth, uint32_t own, tied_duration_t age)
{
    const struct tied_load load = {depth, 0, 0};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, age_max);
    return ti_load_score (&scale, 0, &load, 1000, own, 1000 + age);
}

static uint64_t mean_of (uint32_t depth, uint32_t reports)
{
    const struct tied_load load = {depth, 0, 0};
    struct ti_load_mean mean = {0};
    for (uint32_t i = 0; i < reports; i++)
        ti_load_mean_report (&mean, &load);
    return ti_load_mean (&mean);
}

static void a_fresh_report_counts_in_full_beside_own_copies (void **state)
{
    (void)state;
    const struct tied_load load = {5, 2, 99};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (1));
    CHECK_U64 (ti_load_score (&scale, 0, &load, 7, 3, 7), ==, 10 * TI_LOAD_UNIT);
    CHECK_U64 (ti_load_score (&scale, 99 * TI_LOAD_UNIT, &load, 7, 3, 7), ==, 10 * TI_LOAD_UNIT);
}

static void a_report_fades_linearly_to_the_mean (void **state)
{
    (void)state;
    const tied_duration_t ages[] = {MS (1), S (1), S (3600)};
    for (size_t i = 0; i < sizeof ages / sizeof ages[0]; i++) {
        CHECK_U64 (score (ages[i], 8, 0, ages[i] / 4), >=, 6 * TI_LOAD_UNIT);
        CHECK_U64 (score (ages[i], 8, 0, ages[i] / 4), <=, 6 * TI_LOAD_UNIT + 8);
        CHECK_U64 (score (ages[i], 8, 0, ages[i] / 2), >=, 4 * TI_LOAD_UNIT);
        CHECK_U64 (score (ages[i], 8, 0, ages[i] / 2), <=, 4 * TI_LOAD_UNIT + 8);
        CHECK_U64 (score (ages[i], 8, 0, ages[i] - 1), <=, 16);
    }
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (1));
    const struct tied_load idle = {0, 0, 0};
    const struct tied_load busy = {6, 2, 0};
    for (uint64_t quarter = 0; quarter <= 4; quarter++) {
        const tied_time_t now = 1 + quarter * MS (250);
        const uint64_t mean = 4 * TI_LOAD_UNIT;
        const uint64_t up = ti_load_score (&scale, mean, &idle, 1, 0, now);
        const uint64_t down = ti_load_score (&scale, mean, &busy, 1, 0, now);
        CHECK_U64 (up, >=, quarter * TI_LOAD_UNIT - ti_min (4, quarter * 4));
        CHECK_U64 (up, <=, quarter * TI_LOAD_UNIT);
        CHECK_U64 (down, >=, (8 - quarter) * TI_LOAD_UNIT);
        CHECK_U64 (down, <=, (8 - quarter) * TI_LOAD_UNIT + 4);
    }
}

static void RQ_05_an_old_or_unknown_report_counts_as_the_mean (void **state)
{
    (void)state;
    const struct tied_load load = {100, 100, 0};
    const uint64_t mean = 3 * TI_LOAD_UNIT;
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (1));
    CHECK_U64 (score (S (1), 100, 2, S (1)), ==, 2 * TI_LOAD_UNIT);
    CHECK_U64 (score (S (1), 100, 2, UINT64_MAX - 1000), ==, 2 * TI_LOAD_UNIT);
    CHECK_U64 (ti_load_score (&scale, mean, &load, 1, 1, S (5)), ==, 4 * TI_LOAD_UNIT);
    CHECK_U64 (ti_load_score (&scale, mean, &load, 0, 1, 5), ==, 4 * TI_LOAD_UNIT);
}

static void the_first_report_sets_the_mean_and_the_rest_move_it_slowly (void **state)
{
    (void)state;
    CHECK_U64 (mean_of (0, 0), ==, 0);
    CHECK_U64 (mean_of (0, 1000), ==, 0);
    CHECK_U64 (mean_of (3, 1), ==, 3 * TI_LOAD_UNIT);
    CHECK_U64 (mean_of (3, 1000000), ==, 3 * TI_LOAD_UNIT);
    struct ti_load_mean mean = {0};
    const struct tied_load two = {1, 1, 7};
    const struct tied_load four = {0, 4, 7};
    ti_load_mean_report (&mean, &two);
    ti_load_mean_report (&mean, &four);
    CHECK_U64 (ti_load_mean (&mean), ==, 2 * TI_LOAD_UNIT + 2 * TI_LOAD_UNIT / 64);
    for (int i = 0; i < 10000; i++)
        ti_load_mean_report (&mean, i % 2 ? &two : &four);
    CHECK_U64 (ti_load_mean (&mean), >=, 3 * TI_LOAD_UNIT - TI_LOAD_UNIT / 32);
    CHECK_U64 (ti_load_mean (&mean), <=, 3 * TI_LOAD_UNIT + TI_LOAD_UNIT / 32);
    /* A load that rises for good is followed all the way up. */
    CHECK_U64 (mean_of (1000, 2000), >=, 999 * TI_LOAD_UNIT);
}

/* One of three that claims 2^33 copies. */
static void wild_reports_of_one_replica_do_not_make_up_the_mean (void **state)
{
    (void)state;
    const struct tied_load wild = {UINT32_MAX, UINT32_MAX, 0};
    const struct tied_load honest = {4, 1, 0};
    struct ti_load_mean mean = {0};
    for (int i = 0; i < 10000; i++)
        ti_load_mean_report (&mean, i % 3 ? &honest : &wild);
    CHECK_U64 (ti_load_mean (&mean), <, 16 * TI_LOAD_UNIT);
}

static void hostile_reports_do_not_overflow (void **state)
{
    (void)state;
    const struct tied_load load = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (3600));
    struct ti_load_mean mean = {0};
    for (int i = 0; i < 10000; i++)
        ti_load_mean_report (&mean, &load);
    CHECK_U64 (ti_load_mean (&mean), <=, UINT64_C (2) * UINT32_MAX * TI_LOAD_UNIT);
    CHECK_U64 (ti_load_mean (&mean), >, UINT64_C (1) * UINT32_MAX * TI_LOAD_UNIT);
    const uint64_t most = UINT64_C (3) * UINT32_MAX * TI_LOAD_UNIT;
    CHECK_U64 (ti_load_score (&scale, 0, &load, 1, UINT32_MAX, 1), ==, most);
    CHECK_U64 (ti_load_score (&scale, 0, &load, 1, UINT32_MAX, S (3599)), <, most);
    for (tied_time_t at = 1; at < S (4000); at += S (100)) {
        const uint64_t found =
            ti_load_score (&scale, ti_load_mean (&mean), &load, 1, UINT32_MAX, at);
        CHECK_U64 (found, <=, most);
        CHECK_U64 (found, >, most / 2);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_fresh_report_counts_in_full_beside_own_copies),
        cmocka_unit_test (a_report_fades_linearly_to_the_mean),
        cmocka_unit_test (RQ_05_an_old_or_unknown_report_counts_as_the_mean),
        cmocka_unit_test (the_first_report_sets_the_mean_and_the_rest_move_it_slowly),
        cmocka_unit_test (wild_reports_of_one_replica_do_not_make_up_the_mean),
        cmocka_unit_test (hostile_reports_do_not_overflow),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
