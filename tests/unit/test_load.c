/* SPDX-License-Identifier: MIT */
/* The load score: report, age, own copies in flight. */
#include "core/load.h"
#include "check.h"

static uint64_t score (tied_duration_t age_max, uint32_t depth, uint32_t own, tied_duration_t age)
{
    const struct tied_load load = {depth, 0, 0};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, age_max);
    return ti_load_score (&scale, &load, 1000, own, 1000 + age);
}

static void a_fresh_report_counts_in_full_beside_own_copies (void **state)
{
    (void)state;
    const struct tied_load load = {5, 2, 99};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (1));
    CHECK_U64 (ti_load_score (&scale, &load, 7, 3, 7), ==, 10 * TI_LOAD_UNIT);
}

static void a_report_fades_linearly (void **state)
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
}

static void RQ_05_an_old_or_unknown_report_leaves_only_own_copies (void **state)
{
    (void)state;
    const struct tied_load load = {100, 100, 0};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (1));
    CHECK_U64 (score (S (1), 100, 2, S (1)), ==, 2 * TI_LOAD_UNIT);
    CHECK_U64 (score (S (1), 100, 2, UINT64_MAX - 1000), ==, 2 * TI_LOAD_UNIT);
    CHECK_U64 (ti_load_score (&scale, &load, 0, 1, 5), ==, TI_LOAD_UNIT);
}

static void hostile_reports_do_not_overflow (void **state)
{
    (void)state;
    const struct tied_load load = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (3600));
    const uint64_t most = ti_load_score (&scale, &load, 1, UINT32_MAX, 1);
    CHECK_U64 (most, ==, UINT64_C (3) * UINT32_MAX * TI_LOAD_UNIT);
    CHECK_U64 (ti_load_score (&scale, &load, 1, UINT32_MAX, S (3599)), <, most);
}

static void a_report_from_the_future_counts_as_fresh (void **state)
{
    (void)state;
    const struct tied_load load = {4, 0, 0};
    struct ti_load_scale scale;
    ti_load_scale_init (&scale, S (1));
    CHECK_U64 (ti_load_score (&scale, &load, 500, 0, 400), ==, 4 * TI_LOAD_UNIT);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_fresh_report_counts_in_full_beside_own_copies),
        cmocka_unit_test (a_report_fades_linearly),
        cmocka_unit_test (RQ_05_an_old_or_unknown_report_leaves_only_own_copies),
        cmocka_unit_test (hostile_reports_do_not_overflow),
        cmocka_unit_test (a_report_from_the_future_counts_as_fresh),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
