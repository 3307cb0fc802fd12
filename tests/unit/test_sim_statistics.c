/* SPDX-License-Identifier: MIT */
/* Student's t and means with intervals, against values worked out apart from the code. */
#include "check.h"

#include <math.h>

#include "base/prng.h"
#include "study/statistics.h"
#include "theory/student.h"

/* Two-sided 95 % of published tables, to their last digit. */
static void student_t_is_that_of_the_tables (void **state)
{
    static const struct {
        uint32_t freedom;
        double t;
    } known[] = {{1, 12.7062},   {2, 4.30265},   {5, 2.57058},     {9, 2.26216},  {10, 2.22814},
                 {19, 2.09302},  {20, 2.08596},  {21, 2.07961},    {24, 2.06390}, {29, 2.04523},
                 {30, 2.04227},  {40, 2.02108},  {60, 2.00030},    {80, 1.99006}, {100, 1.98397},
                 {120, 1.97993}, {999, 1.96234}, {100000, 1.95999}};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        CHECK_DBL (fabs (sim_student_quantile (0.05, known[i].freedom) - known[i].t), <,
                   6e-5 * known[i].t / 2);
    for (uint32_t freedom = 2; freedom < 2000; freedom++)
        CHECK_DBL (sim_student_quantile (0.05, freedom), <,
                   sim_student_quantile (0.05, freedom - 1));
}

static void a_mean_has_the_interval_of_its_sample (void **state)
{
    (void)state;
    struct sim_series series = {0};
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    for (size_t i = 0; i < 8; i++)
        sim_series_add (&series, values[i]);
    struct sim_estimate estimate = sim_series_estimate (&series);
    CHECK_DBL (estimate.value, ==, 5);
    /* Sum of squares 32; t of 7 degrees of freedom. */
    CHECK_DBL (fabs (estimate.half - 2.364624252 * sqrt (32.0 / 7 / 8)), <, 1e-8);
}

static void values_far_from_zero_keep_their_spread (void **state)
{
    (void)state;
    struct sim_series series = {0};
    for (int i = 0; i < 4; i++)
        sim_series_add (&series, 1e15 + i);
    CHECK_DBL (fabs (sim_series_estimate (&series).half - 3.182446305 * sqrt (5.0 / 3 / 4)), <,
               1e-9);
}

static void without_a_second_value_there_is_no_interval (void **state)
{
    (void)state;
    struct sim_series series = {0};
    CHECK_TRUE (isnan (sim_series_estimate (&series).value));
    sim_series_add (&series, 3);
    CHECK_DBL (sim_series_estimate (&series).value, ==, 3);
    CHECK_TRUE (isnan (sim_series_estimate (&series).half));
}

static void one_infinite_value_makes_the_mean_infinite (void **state)
{
    (void)state;
    struct sim_series series = {0};
    sim_series_add (&series, 3);
    sim_series_add (&series, INFINITY);
    sim_series_add (&series, 3);
    CHECK_TRUE (isinf (sim_series_estimate (&series).value));
    CHECK_TRUE (isnan (sim_series_estimate (&series).half));
}

/* Of 4000 intervals from 5 normal values each, 95 % hold the true mean: +-1.1 % is 3 sigma. */
static void an_interval_holds_the_truth_in_95_of_100_cases (void **state)
{
    (void)state;
    struct ti_prng prng;
    uint32_t held = 0, tries = 4000;
    ti_prng_seed (&prng, 7);
    for (uint32_t i = 0; i < tries; i++) {
        struct sim_series series = {0};
        for (int n = 0; n < 5; n++) {
            double sum = -6;
            for (int part = 0; part < 12; part++)
                sum += (double)(ti_prng_next (&prng) >> 11) * 0x1p-53;
            sim_series_add (&series, 10 + sum);
        }
        struct sim_estimate estimate = sim_series_estimate (&series);
        held += fabs (estimate.value - 10) <= estimate.half;
    }
    CHECK_DBL (held / (double)tries, >, 0.939);
    CHECK_DBL (held / (double)tries, <, 0.961);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (student_t_is_that_of_the_tables),
        cmocka_unit_test (a_mean_has_the_interval_of_its_sample),
        cmocka_unit_test (values_far_from_zero_keep_their_spread),
        cmocka_unit_test (without_a_second_value_there_is_no_interval),
        cmocka_unit_test (one_infinite_value_makes_the_mean_infinite),
        cmocka_unit_test (an_interval_holds_the_truth_in_95_of_100_cases),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
