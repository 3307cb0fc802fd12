/* SPDX-License-Identifier: MIT */
/*
 * Service times: means, shapes and tails against their formulas with fixed seeds, finite edges, and
 * specifications that are refused.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "tools/dist.h"

#define DRAWS 100000

/* Continuous ones. */
static const char *const specifications[] = {
    "exp(10ms)",
    "uniform(2ms,9ms)",
    "lognormal(10ms,20ms)",
    "lognormal(10ms,1ms)",
    "pareto(2ms,2.5)",
    "shifted(5ms,5ms)",
    "weibull(10ms,0.5)",
    "weibull(10ms,3)",
    "bounded_pareto(1ms,10s,1.1)",
    "bounded_pareto(1ms,100ms,0.5)",
    "gpareto(0s,16029ns,0.154971)",
    "gpareto(3ms,2ms,0.9)",
    "hyper(10ms,4)",
    "hyper(10ms,1)",
    "h2(0.95,1ms,10ms)",
    "h2(0.3,10ms,1ms)",
};
#define SPECIFICATIONS (sizeof specifications / sizeof specifications[0])

static struct ti_dist parse (const char *text)
{
    struct ti_dist dist;
    char why[TI_DIST_WHY_MAX] = "";
    if (ti_dist_parse (text, &dist, why)) {
        print_error ("%s: %s\n", text, why);
        CHECK_TRUE (false);
    }
    return dist;
}

static int compare_u64 (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t *draw_sorted (const struct ti_dist *dist, uint64_t seed)
{
    static uint64_t values[DRAWS];
    for (size_t i = 0; i < DRAWS; i++) {
        seed += UINT64_C (0x9e3779b97f4a7c15);
        values[i] = ti_dist_draw (dist, ti_mix (seed));
    }
    qsort (values, DRAWS, sizeof values[0], compare_u64);
    return values;
}

/* Kolmogorov and Smirnov: the largest distance of 100 000 draws is below 0.0062 in 999 of 1000. */
static void draws_follow_the_cdf (void **state)
{
    (void)state;
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        struct ti_dist dist = parse (specifications[s]);
        const uint64_t *values = draw_sorted (&dist, 11 + s);
        double distance = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            double cdf = ti_dist_cdf (&dist, values[i]);
            distance = fmax (distance, fabs (cdf - (double)i / DRAWS));
            distance = fmax (distance, fabs (cdf - (double)(i + 1) / DRAWS));
        }
        CHECK_DBL (distance, <, 0.0062);
    }
}

static void means_match_the_formulas (void **state)
{
    (void)state;
    /* Means, and variance over squared mean where it is small enough to be seen in a sample. */
    static const struct {
        const char *text;
        double mean, cv2;
    } all[] = {
        {"fixed(5ms)", 5e6, 0},
        {"exp(10ms)", 10e6, 1},
        {"uniform(2ms,9ms)", 5.5e6, 49.0 / 12 / (5.5 * 5.5)},
        {"bimodal(5ms,200ms,0.1)", 24.5e6, 0.09 * 195 * 195 / (24.5 * 24.5)},
        {"lognormal(10ms,10ms)", 10e6, 1},
        {"pareto(2ms,3)", 3e6, -1},
        {"shifted(4ms,6ms)", 10e6, 0.36},
        {"weibull(10ms,0.5)", 20e6, 5},
        {"weibull(10ms,2)", 8862269.25452758, 4 / 3.14159265358979 - 1},
        {"bounded_pareto(1ms,4ms,1)", 4e6 / 3 * 1.38629436111989, -1},
        {"bounded_pareto(1ms,4ms,2)", 2e6 * (1 - 0.25) / (1 - 0.0625), -1},
        {"bounded_pareto(1ms,4ms,0.5)", 2e6, -1},
        {"bounded_pareto(7ms,7ms,0.5)", 7e6, 0},
        {"gpareto(1ms,2ms,0.2)", 3.5e6, 6.25 / 0.6 / (3.5 * 3.5)},
        {"hyper(10ms,4)", 10e6, 4},
        {"hyper(10ms,1)", 10e6, 1},
        {"h2(0.95,1ms,10ms)", 1.45e6, 2 * (0.95 + 5) / (1.45 * 1.45) - 1},
        {"steps(1ms:0.5,2ms:0.25,10ms:0.25)", 3.5e6, 26.5 / (3.5 * 3.5) - 1},
    };
    for (size_t s = 0; s < sizeof all / sizeof all[0]; s++) {
        struct ti_dist dist = parse (all[s].text);
        const uint64_t *values = draw_sorted (&dist, 23 + s);
        double sum = 0, squares = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            sum += (double)values[i];
            squares += (double)values[i] * (double)values[i];
        }
        double mean = sum / DRAWS, cv2 = squares / DRAWS / (mean * mean) - 1;
        CHECK_DBL (fabs (ti_dist_mean (&dist) / all[s].mean - 1), <, 1e-9);
        CHECK_U64 (ti_dist_mean_ns (&dist), ==, (uint64_t)(all[s].mean + 0.5));
        CHECK_DBL (fabs (mean / all[s].mean - 1), <, 0.02);
        if (all[s].cv2 >= 0)
            CHECK_DBL (fabs (cv2 - all[s].cv2), <, 0.06 * all[s].cv2 + 1e-9);
    }
}

/* The mean is the integral of what the CDF leaves: whatever the parameters. */
static void means_are_the_integral_of_the_tail (void **state)
{
    (void)state;
    const char *const all[] = {"weibull(10ms,0.7)",
                               "bounded_pareto(1ms,10s,1.1)",
                               "bounded_pareto(1ms,10s,1)",
                               "bounded_pareto(1ms,10s,1.000001)",
                               "bounded_pareto(1ms,10s,0.3)",
                               "gpareto(1ms,2ms,0.4)",
                               "hyper(10ms,50)",
                               "lognormal(10ms,30ms)"};
    for (size_t s = 0; s < sizeof all / sizeof all[0]; s++) {
        struct ti_dist dist = parse (all[s]);
        /* In 20 000 steps of 0.15 %, by trapezes. */
        double sum = 0, x = 1, tail = 1;
        for (int i = 0; i < 20000 && x * 1.0015 < (double)TI_DIST_MAX_NS; i++) {
            double next = x * 1.0015, next_tail = 1 - ti_dist_cdf (&dist, (uint64_t)next);
            sum += (next - x) * (tail + next_tail) / 2;
            x = next;
            tail = next_tail;
        }
        CHECK_DBL (fabs (sum / ti_dist_mean (&dist) - 1), <, 1e-3);
    }
}

/* The draw at (u + 1/2) / 2^64 is the quantile: checked against closed forms, deep into the tail.
 */
static void quantiles_match_closed_forms (void **state)
{
    (void)state;
    struct ti_dist exponential = parse ("exp(10ms)"), pareto = parse ("pareto(2ms,2)");
    struct ti_dist lognormal = parse ("lognormal(10ms,20ms)");
    for (int bits = 1; bits <= 40; bits++) {
        /* u = 1 - 2^-bits, but for the half */
        uint64_t random = UINT64_MAX - (UINT64_MAX >> bits);
        double expected = 10e6 * bits * log (2);
        double drawn = (double)ti_dist_draw (&exponential, random);
        CHECK_DBL (fabs (drawn / expected - 1), <, 1e-6);
        expected = fmin (2e6 * pow (2, bits / 2.0), (double)TI_DIST_MAX_NS);
        drawn = (double)ti_dist_draw (&pareto, random);
        CHECK_DBL (fabs (drawn / expected - 1), <, 1e-6);
    }
    /* Standard normal quantiles: 0.5 -> 0, and 2^-40 below and above lie symmetric. */
    double middle = (double)ti_dist_draw (&lognormal, UINT64_C (1) << 63);
    CHECK_DBL (fabs (log (middle) - lognormal.mu), <, 1e-6);
    double low = (double)ti_dist_draw (&lognormal, UINT64_C (1) << 44);
    double high = (double)ti_dist_draw (&lognormal, UINT64_MAX - (UINT64_C (1) << 44));
    CHECK_DBL (fabs (log (low) + log (high) - 2 * lognormal.mu), <, 1e-3);
    /* The normal quantile of 1 - 2^-20 is 4.763001034. */
    high = (double)ti_dist_draw (&lognormal, UINT64_MAX - (UINT64_C (1) << 44) + 1);
    CHECK_DBL (fabs ((log (high) - lognormal.mu) / lognormal.sigma - 4.763001034), <, 1e-6);
}

static void draws_rise_with_the_random_number (void **state)
{
    (void)state;
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        struct ti_dist dist = parse (specifications[s]);
        uint64_t last = 0;
        /* Of these, each of the two exponentials for itself. */
        if (dist.kind == TI_DIST_HYPER || dist.kind == TI_DIST_H2)
            continue;
        for (uint64_t i = 0; i < 4096; i++) {
            uint64_t value = ti_dist_draw (&dist, i << 52 | i);
            CHECK_U64 (value, >=, last);
            last = value;
        }
    }
}

static void edges_of_the_random_number_are_finite_and_bounded (void **state)
{
    (void)state;
    const char *const all[] = {"fixed(0s)",
                               "fixed(1h)",
                               "exp(0s)",
                               "exp(1h)",
                               "uniform(0s,0s)",
                               "uniform(0s,1h)",
                               "bimodal(1ns,1h,0)",
                               "bimodal(1ns,1h,1)",
                               "lognormal(1ns,1h)",
                               "lognormal(1h,0s)",
                               "pareto(1ns,1.01)",
                               "pareto(1h,100)",
                               "shifted(1h,1h)",
                               "shifted(0s,0s)",
                               "weibull(1h,0.1)",
                               "weibull(1ns,100)",
                               "bounded_pareto(1ns,1h,0.01)",
                               "bounded_pareto(1ns,1h,100)",
                               "bounded_pareto(1h,1h,1)",
                               "gpareto(1h,1h,0.99)",
                               "gpareto(0s,1ns,0.001)",
                               "hyper(0s,1)",
                               "hyper(1h,1000000)",
                               "h2(0,0s,1h)",
                               "h2(1,1h,0s)",
                               "h2(0,1h,0s)",
                               "steps(0s:1)",
                               "steps(0s:0,1h:1)",
                               "steps(0s:0.9995,1h:0)"};
    const uint64_t randoms[] = {
        0, 1, 1 << 11, UINT64_MAX / 2, UINT64_MAX / 2 + 1, UINT64_MAX - (1 << 11), UINT64_MAX};
    for (size_t s = 0; s < sizeof all / sizeof all[0]; s++) {
        struct ti_dist dist = parse (all[s]);
        for (size_t i = 0; i < sizeof randoms / sizeof randoms[0]; i++) {
            CHECK_U64 (ti_dist_draw (&dist, randoms[i]), <=, TI_DIST_MAX_NS);
            double cdf = ti_dist_cdf (&dist, randoms[i]);
            CHECK_TRUE (cdf >= 0 && cdf <= 1);
        }
    }
    struct ti_dist never = parse ("bimodal(1ns,1h,0)"), always = parse ("bimodal(1ns,1h,1)");
    CHECK_U64 (ti_dist_draw (&never, UINT64_MAX), ==, 1);
    CHECK_U64 (ti_dist_draw (&always, 0), ==, TI_DIST_MAX_NS);
    /* An exponential with probability 0 is never drawn from. */
    struct ti_dist none = parse ("h2(0,1h,0s)");
    for (size_t i = 0; i < sizeof randoms / sizeof randoms[0]; i++)
        CHECK_U64 (ti_dist_draw (&none, randoms[i]), ==, 0);
    struct ti_dist exponential = parse ("exp(10ms)");
    CHECK_U64 (ti_dist_draw (&exponential, 0), ==, 0);
    CHECK_U64 (ti_dist_draw (&exponential, UINT64_MAX), <=, MS (10) * 46);
}

static void bimodal_takes_the_long_one_with_its_probability (void **state)
{
    (void)state;
    struct ti_dist dist = parse ("bimodal(5ms,200ms,0.01)");
    const uint64_t *values = draw_sorted (&dist, 5);
    uint64_t longs = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        CHECK_TRUE (values[i] == MS (5) || values[i] == MS (200));
        longs += values[i] == MS (200);
    }
    /* 1000 expected, standard deviation 31. */
    CHECK_U64 (longs, >, 870);
    CHECK_U64 (longs, <, 1130);
}

static void steps_have_their_probabilities (void **state)
{
    (void)state;
    struct ti_dist dist = parse ("steps(0s:0.1,1ms:0.2,3ms:0.3333,4ms:0.3666,90ms:0)");
    const double expected[] = {0.1, 0.2, 0.3333, 0.3667}, values[] = {0, 1, 3, 4};
    const uint64_t *draws = draw_sorted (&dist, 5);
    double below = 0;
    for (int i = 0; i < 4; i++) {
        double count = 0;
        for (size_t k = 0; k < DRAWS; k++)
            count += draws[k] == MS (values[i]);
        CHECK_DBL (fabs (count / DRAWS - expected[i]), <, 0.006);
        below += i < 3 ? expected[i] : 0.3666;
        CHECK_DBL (fabs (ti_dist_cdf (&dist, MS (values[i])) - below), <, 1e-9);
    }
    CHECK_DBL (ti_dist_cdf (&dist, MS (90)), ==, 1);
}

/* Golden: whatever the compiler, its options and the processor. */
static void draws_are_the_same_everywhere (void **state)
{
    (void)state;
    uint64_t hash = 0;
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        struct ti_dist dist = parse (specifications[s]);
        for (uint64_t i = 0; i < 10000; i++)
            hash = ti_mix (hash ^ ti_dist_draw (&dist, ti_mix (i)));
        hash = ti_mix (hash ^ ti_dist_mean_ns (&dist));
    }
    CHECK_U64 (hash, ==, UINT64_C (11826335204773637236));
}

static void services_are_read (void **state)
{
    (void)state;
    struct ti_service service;
    char why[TI_DIST_WHY_MAX];
    CHECK_I64 (ti_service_parse ("echo", &service, why), ==, 0);
    CHECK_U64 (service.kind, ==, TI_SERVICE_ECHO);
    CHECK_U64 (ti_dist_draw (&service.dist, 99), ==, 0);
    CHECK_I64 (ti_service_parse ("sleep:bimodal(5ms,200ms,0.01)", &service, why), ==, 0);
    CHECK_U64 (service.kind, ==, TI_SERVICE_SLEEP);
    CHECK_U64 (service.dist.a_ns, ==, MS (5));
    CHECK_U64 (service.dist.b_ns, ==, MS (200));
    CHECK_DBL (service.dist.p, ==, 0.01);
    CHECK_I64 (ti_service_parse ("spin:exp(250us)", &service, why), ==, 0);
    CHECK_U64 (service.kind, ==, TI_SERVICE_SPIN);
    CHECK_U64 (service.dist.kind, ==, TI_DIST_EXP);
    CHECK_U64 (service.dist.a_ns, ==, US (250));
}

static void bad_services_are_refused_in_one_line_and_leave_the_old_one (void **state)
{
    (void)state;
    char longer[5000];
    memset (longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const char *const texts[] = {"",
                                 "Echo",
                                 "echo ",
                                 "sleep",
                                 "sleep:",
                                 "sleep:exp",
                                 "sleep:exp(",
                                 "sleep:exp()",
                                 "sleep:exp(5)",
                                 "sleep:exp(5ms",
                                 "sleep:exp(5ms))",
                                 "sleep:exp(5ms) ",
                                 "sleep:exp(5ms,6ms)",
                                 "sleep:exp(-5ms)",
                                 "sleep:exp(nan)",
                                 "sleep:exp(inf)",
                                 "sleep:exp(2h)",
                                 "sleep:exp(99999999999999999999ms)",
                                 "sleep:expo(5ms)",
                                 "sleep:(5ms)",
                                 "sleep:uniform(9ms,2ms)",
                                 "sleep:uniform(9ms)",
                                 "sleep:uniform(1ms,2ms,3ms)",
                                 "sleep:uniform(1ms,2ms,3ms,4ms)",
                                 "sleep:bimodal(9ms,2ms,0.5)",
                                 "sleep:bimodal(1ms,2ms,1.5)",
                                 "sleep:bimodal(1ms,2ms,nan)",
                                 "sleep:bimodal(1ms,2ms,-0.1)",
                                 "sleep:bimodal(1ms,2ms,1ms)",
                                 "sleep:lognormal(0s,1ms)",
                                 "sleep:pareto(0s,2)",
                                 "sleep:pareto(1ms,1)",
                                 "sleep:pareto(1ms,inf)",
                                 "sleep:exp(\n)",
                                 "sleep:\x01\xff(5ms)",
                                 "sleep:shifted(5ms)",
                                 "sleep:weibull(0s,1)",
                                 "sleep:weibull(5ms,0.05)",
                                 "sleep:weibull(5ms,5ms)",
                                 "sleep:bounded_pareto(5ms,1ms,1)",
                                 "sleep:bounded_pareto(1ms,5ms,0)",
                                 "sleep:bounded_pareto(1ms,2)",
                                 "sleep:gpareto(0s,1ms,1)",
                                 "sleep:gpareto(0s,0s,0.5)",
                                 "sleep:gpareto(0s,1ms,-0.5)",
                                 "sleep:hyper(5ms,0.9)",
                                 "sleep:hyper(5ms)",
                                 "sleep:h2(1.5,1ms,2ms)",
                                 "sleep:h2(1ms,2ms,0.5)",
                                 "sleep:steps()",
                                 "sleep:steps(1ms)",
                                 "sleep:steps(1ms:)",
                                 "sleep:steps(:1)",
                                 "sleep:steps(1ms:1:1)",
                                 "sleep:steps(1ms:0.5)",
                                 "sleep:steps(1ms:0.5,2ms:0.6)",
                                 "sleep:steps(2ms:0.5,1ms:0.5)",
                                 "sleep:steps(1ms:0.5,1ms:0.5)",
                                 "sleep:steps(1ms:0.1,2ms:0.1,3ms:0.1,4ms:0.1,5ms:0.1,6ms:0.1,"
                                 "7ms:0.1,8ms:0.1,9ms:0.2)",
                                 "spin:echo",
                                 longer};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ti_service service = {.kind = TI_SERVICE_SPIN, .dist = {.a_ns = 77}};
        char why[TI_DIST_WHY_MAX] = "";
        int rc = ti_service_parse (texts[i], &service, why);
        if (rc >= 0)
            print_error ("accepted: %s\n", texts[i]);
        CHECK_I64 (rc, <, 0);
        CHECK_U64 (service.kind, ==, TI_SERVICE_SPIN);
        CHECK_U64 (service.dist.a_ns, ==, 77);
        CHECK_U64 (strlen (why), >, 10);
        CHECK_U64 (strlen (why), <, TI_DIST_WHY_MAX);
        for (const char *c = why; *c; c++)
            CHECK_TRUE (*c >= ' ' && *c <= '~');
    }
}

static void the_reason_says_what_to_write (void **state)
{
    (void)state;
    struct ti_service service;
    struct ti_pause pause;
    char why[TI_DIST_WHY_MAX];
    CHECK_I64 (ti_service_parse ("sleep:exp(5)", &service, why), <, 0);
    CHECK_STR (why, "\"5\" has no unit: write 5ms or 5s");
    CHECK_I64 (ti_service_parse ("sleep:expp(5ms)", &service, why), <, 0);
    CHECK_STR (why, "\"expp\" is not a distribution; did you mean exp?");
    CHECK_I64 (ti_service_parse ("sleep:bimodal(5ms)", &service, why), <, 0);
    CHECK_STR (why, "bimodal takes 3 values in parentheses, as in bimodal(5ms,200ms,0.01)");
    CHECK_I64 (ti_service_parse ("sleep:steps(1ms:0.5,2ms:0.4)", &service, why), <, 0);
    CHECK_STR (why, "steps(V1:P1,V2:P2,...): the probabilities sum to 0.9, not to 1");
    CHECK_I64 (ti_service_parse ("sleep:steps(1ms,2ms)", &service, why), <, 0);
    CHECK_STR (why, "steps(V1:P1,V2:P2,...): each is a duration, a colon and a probability");
    CHECK_I64 (ti_service_parse ("sleep:zipf(1ms)", &service, why), <, 0);
    CHECK_STR (why, "\"zipf\" is not one of fixed exp uniform bimodal lognormal pareto shifted "
                    "weibull bounded_pareto gpareto hyper h2 steps");
    CHECK_I64 (ti_pause_parse ("4s", &pause, why), <, 0);
    CHECK_STR (why, "a pause is a mean gap and a length, as in 4s,200ms");
}

static void pauses_are_read_and_refused (void **state)
{
    (void)state;
    struct ti_pause pause = {1, 2};
    char why[TI_DIST_WHY_MAX];
    const char *const bad[] = {"",      ",",    "4s,",   ",5ms",      "4s,0s",
                               "0s,4s", "4s,5", "4,5ms", "4s,5ms,6ms"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_I64 (ti_pause_parse (bad[i], &pause, why), <, 0);
        CHECK_U64 (pause.gap_ns, ==, 1);
    }
    CHECK_I64 (ti_pause_parse ("4s,200ms", &pause, why), ==, 0);
    CHECK_U64 (pause.gap_ns, ==, S (4));
    CHECK_U64 (pause.length_ns, ==, MS (200));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (draws_follow_the_cdf),
        cmocka_unit_test (means_match_the_formulas),
        cmocka_unit_test (means_are_the_integral_of_the_tail),
        cmocka_unit_test (quantiles_match_closed_forms),
        cmocka_unit_test (draws_rise_with_the_random_number),
        cmocka_unit_test (edges_of_the_random_number_are_finite_and_bounded),
        cmocka_unit_test (bimodal_takes_the_long_one_with_its_probability),
        cmocka_unit_test (steps_have_their_probabilities),
        cmocka_unit_test (draws_are_the_same_everywhere),
        cmocka_unit_test (services_are_read),
        cmocka_unit_test (bad_services_are_refused_in_one_line_and_leave_the_old_one),
        cmocka_unit_test (the_reason_says_what_to_write),
        cmocka_unit_test (pauses_are_read_and_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
