/* SPDX-License-Identifier: MIT */
/*
 * Service times by key: the models of how copies share them, factors, tables, and published
 * workloads with their means, variabilities and quantiles.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "workload/demand.h"

#define DRAWS 1000000

static struct ti_dist parse (const char *text)
{
    struct ti_dist dist;
    char why[TI_DIST_WHY_MAX] = "";
    if (ti_dist_parse (text, &dist, why))
        print_error ("%s: %s\n", text, why);
    CHECK_TRUE (why[0] == '\0');
    return dist;
}

static struct sim_workload plain (const char *service)
{
    return (struct sim_workload){
        .service = parse (service), .cold_factor = 1, .jitter_factor = 1, .fan_out = 1};
}

static int compare_u64 (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorted demands of copies 0, and their moments. */
static uint64_t *sample (const struct sim_workload *w, double *mean, double *cv2)
{
    static uint64_t values[DRAWS];
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        values[i] = sim_demand (w, 17, i, (uint32_t)(i % 7), 0);
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    qsort (values, DRAWS, sizeof values[0], compare_u64);
    *mean = sum / DRAWS;
    *cv2 = squares / DRAWS / (*mean * *mean) - 1;
    return values;
}

static void the_same_call_and_replica_cost_the_same_in_any_order (void **state)
{
    struct sim_workload w = plain ("exp(10ms)");
    uint64_t first[100];
    (void)state;
    w.jitter_share = 0.2;
    w.jitter_factor = 15;
    for (uint64_t i = 0; i < 100; i++)
        first[i] = sim_demand (&w, 5, i, 3, 0);
    for (uint64_t i = 100; i-- > 0;) {
        CHECK_U64 (sim_demand (&w, 5, i, 3, 0), ==, first[i]);
        /* Which copy it is makes no difference, another replica or seed does. */
        CHECK_U64 (sim_demand (&w, 5, i, 3, 1), ==, first[i]);
        CHECK_U64 (sim_demand (&w, 5, i, 4, 0), !=, first[i]);
        CHECK_U64 (sim_demand (&w, 6, i, 3, 0), !=, first[i]);
    }
}

/* Pearson's correlation of two copies' demands. */
static double correlation (const struct sim_workload *w)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    enum {
        N = 200000
    };
    for (uint64_t i = 0; i < N; i++) {
        double a = (double)sim_demand (w, 8, i, 1, 0), b = (double)sim_demand (w, 8, i, 2, 1);
        x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
    }
    return (xy - x * y / N) / sqrt ((xx - x * x / N) * (yy - y * y / N));
}

static void copies_are_as_much_alike_as_asked_for (void **state)
{
    struct sim_workload w = plain ("exp(10ms)");
    (void)state;
    CHECK_DBL (fabs (correlation (&w)), <, 0.01);
    /* Both take the common draw with probability c^2. */
    w.correlation = 0.5;
    CHECK_DBL (fabs (correlation (&w) - 0.25), <, 0.015);
    w.correlation = 1;
    CHECK_DBL (correlation (&w), >, 0.999999);
    w.correlation = 0;
    w.copies = SIM_COPIES_IDENTICAL;
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_U64 (sim_demand (&w, 1, i, 0, 0), ==, sim_demand (&w, 1, i, 1, 1));
}

/* Dolly(1,12), as the S&X paper of Gardner and others uses it. */
static const double dolly[] = {0.23, 0.14, 0.09, 0.03,  0.08,  0.10,
                               0.04, 0.14, 0.12, 0.021, 0.007, 0.002};

static void slowdown_is_drawn_for_each_copy_and_size_for_the_call (void **state)
{
    struct sim_workload w = plain ("fixed(1ms)");
    double counts[13] = {0}, mean, cv2, smaller = 0;
    (void)state;
    w.copies = SIM_COPIES_SX;
    w.slowdown_count = 12;
    for (int i = 0; i < 12; i++)
        w.slowdown[i] = (struct sim_factor){i + 1, dolly[i]};
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t a = sim_demand (&w, 2, i, 0, 0), b = sim_demand (&w, 2, i, 1, 1);
        CHECK_U64 (a % MS (1), ==, 0);
        counts[a / MS (1)]++;
        smaller += (double)(a < b ? a : b);
    }
    for (int i = 0; i < 12; i++)
        CHECK_DBL (fabs (counts[i + 1] / DRAWS - dolly[i]), <, 4 * sqrt (dolly[i] / DRAWS));
    CHECK_DBL (fabs (smaller / DRAWS / 1e6 / 2.9429 - 1), <, 0.005);
    sample (&w, &mean, &cv2);
    CHECK_DBL (fabs (mean / 1e6 / 4.691 - 1), <, 0.005);
    CHECK_DBL (fabs (cv2 / 0.4340 - 1), <, 0.01);
    /* The same size under both slowdowns. */
    w.service = parse ("exp(1ms)");
    for (uint64_t i = 0; i < 1000; i++) {
        double ratio = (double)sim_demand (&w, 2, i, 0, 0) / (double)sim_demand (&w, 2, i, 1, 1);
        bool is_known = false;
        for (int a = 1; a <= 12; a++)
            for (int b = 1; b <= 12; b++)
                is_known |= fabs (ratio * b / a - 1) < 1e-3;
        CHECK_TRUE (is_known);
    }
}

static void a_cold_copy_takes_its_factor_longer (void **state)
{
    struct sim_workload w = plain ("fixed(1ms)");
    (void)state;
    w.cold_factor = 2.5;
    CHECK_U64 (sim_demand (&w, 1, 0, 0, 0), ==, MS (1));
    CHECK_U64 (sim_demand (&w, 1, 0, 0, 1), ==, US (2500));
}

static void no_demand_is_0_nor_longer_than_the_longest (void **state)
{
    struct sim_workload w = plain ("fixed(0s)");
    (void)state;
    CHECK_U64 (sim_demand (&w, 1, 0, 0, 0), ==, 1);
    w.service = parse ("fixed(1h)");
    w.cold_factor = 1e9;
    CHECK_U64 (sim_demand (&w, 1, 0, 0, 1), ==, TI_DIST_MAX_NS);
}

struct published {
    const char *service;
    double jitter_share;
    double mean_us, cv2;
    double quantiles_us[4]; /* p50, p90, p99, p99.9; 0: falls on a step */
};

/* NetClone's workloads (x 15 with probability 1 % or 0.1 %), those of ZygOS, RackSched and ETC. */
static void published_workloads_have_their_moments_and_quantiles (void **state)
{
    static const struct published all[] = {
        {"exp(25us)", 0.01, 28.5, 3.9861, {17.6, 59.5, 143.5, 863.5}},
        {"exp(25us)", 0.001, 25.35, 1.3809, {17.4, 57.8, 117.0, 195.2}},
        {"exp(50us)", 0.01, 57, 3.9861, {35.1, 119.1, 287.0, 1726.9}},
        {"exp(50us)", 0.001, 50.7, 1.3809, {34.7, 115.5, 234.0, 390.4}},
        {"bimodal(25us,250us,0.1)", 0, 47.5, 2.0194, {25, 0, 250, 250}},
        {"bimodal(25us,250us,0.1)", 0.01, 54.15, 6.5276, {25, 250, 0, 0}},
        {"bimodal(50us,500us,0.1)", 0.001, 96.33, 2.5944, {50, 0, 500, 0}},
        {"bimodal(5us,55us,0.1)", 0, 10, 2.25, {5, 0, 55, 55}},
        {"steps(5us:0.333333,50us:0.333333,500us:0.333334)", 0, 185, 1.4595, {50, 500, 500, 500}},
        {"steps(50us:0.9,780us:0.1)", 0, 123, 3.1701, {50, 0, 780, 780}},
        {"gpareto(0s,16.029us,0.154971)", 0, 18.969, 1.4492, {11.73, 44.35, 107.72, 198.27}},
        {"gpareto(0s,214.476us,0.348238)", 0, 329.07, 0, {168.1, 757.3, 2445.9, 6210.9}},
    };
    static const double ranks[] = {0.5, 0.9, 0.99, 0.999};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sim_workload w = plain (all[i].service);
        struct sim_scenario scenario;
        double mean, cv2;
        w.jitter_share = all[i].jitter_share;
        w.jitter_factor = 15;
        sim_scenario_init (&scenario);
        scenario.workload = w;
        CHECK_DBL (fabs (sim_scenario_mean_service_ns (&scenario) / 1e3 / all[i].mean_us - 1), <,
                   1e-4);
        const uint64_t *values = sample (&w, &mean, &cv2);
        CHECK_DBL (fabs (mean / 1e3 / all[i].mean_us - 1), <, 0.01);
        if (all[i].cv2 > 0)
            CHECK_DBL (fabs (cv2 / all[i].cv2 - 1), <, 0.08);
        for (int q = 0; q < 4; q++)
            if (all[i].quantiles_us[q] > 0)
                CHECK_DBL (fabs ((double)values[(size_t)(ranks[q] * DRAWS) - 1] / 1e3 /
                                     all[i].quantiles_us[q] -
                                 1),
                           <, q == 3 ? 0.06 : 0.02);
    }
}

static void jitter_hits_its_share_of_the_executions_one_by_one (void **state)
{
    struct sim_workload w = plain ("bimodal(25us,250us,0.1)");
    uint64_t both = 0, counts[4] = {0};
    (void)state;
    w.jitter_share = 0.01;
    w.jitter_factor = 15;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t a = sim_demand (&w, 9, i, 0, 0), b = sim_demand (&w, 9, i, 1, 1);
        both += a >= US (375) && b >= US (375);
        counts[a == US (25) ? 0 : a == US (250) ? 1 : a == US (375) ? 2 : 3]++;
        CHECK_TRUE (a == US (25) || a == US (250) || a == US (375) || a == US (3750));
    }
    const double expected[] = {0.891, 0.099, 0.009, 0.001};
    for (int i = 0; i < 4; i++)
        CHECK_DBL (fabs ((double)counts[i] / DRAWS - expected[i]), <,
                   4 * sqrt (expected[i] * (1 - expected[i]) / DRAWS));
    /* Two of one call: 100 expected of 10 000 each, standard deviation 10. */
    CHECK_U64 (both, >, 60);
    CHECK_U64 (both, <, 140);
}

static void a_table_is_drawn_from_or_followed (void **state)
{
    uint64_t values[] = {MS (1), MS (2), MS (3), MS (7)}, counts[8] = {0};
    struct sim_workload w = plain ("fixed(0s)");
    (void)state;
    w.service_table = (struct sim_table){values, 4};
    for (uint64_t i = 0; i < 40000; i++)
        counts[sim_demand (&w, 1, i, 0, 0) / MS (1)]++;
    for (int i = 0; i < 4; i++)
        CHECK_DBL (fabs ((double)counts[values[i] / MS (1)] - 10000), <, 400);
    /* In order: the first copy is what was recorded, a further one is drawn, or the same. */
    w.service_in_order = true;
    uint64_t same = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        CHECK_U64 (sim_demand (&w, 1, i, 5, 0), ==, values[i % 4]);
        same += sim_demand (&w, 1, i, 5, 1) == values[i % 4];
    }
    CHECK_DBL (fabs ((double)same - 1000), <, 120);
    w.copies = SIM_COPIES_IDENTICAL;
    for (uint64_t i = 0; i < 100; i++)
        CHECK_U64 (sim_demand (&w, 1, i, 5, 1), ==, values[i % 4]);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_same_call_and_replica_cost_the_same_in_any_order),
        cmocka_unit_test (copies_are_as_much_alike_as_asked_for),
        cmocka_unit_test (slowdown_is_drawn_for_each_copy_and_size_for_the_call),
        cmocka_unit_test (a_cold_copy_takes_its_factor_longer),
        cmocka_unit_test (no_demand_is_0_nor_longer_than_the_longest),
        cmocka_unit_test (published_workloads_have_their_moments_and_quantiles),
        cmocka_unit_test (jitter_hits_its_share_of_the_executions_one_by_one),
        cmocka_unit_test (a_table_is_drawn_from_or_followed),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
