/* SPDX-License-Identifier: MIT */
/*
 * The formulas against the tables of their sources and against each other. A tolerance is half a
 * unit of the last digit that a table prints. Three printed figures were wrong in their last digit
 * and are corrected here: the percentiles of cancel on start with 10 servers, 2 copies, load .9
 * (confirmed by summing the mixture term by term), a copy not stopped at x = 1, and the p99 of a
 * fan-out over M/M/1 at .7.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "theory/theory.h"

#define COUNT(a) (sizeof (a) / sizeof (a)[0])

static const uint32_t ppm[] = {500000, 900000, 990000, 999000};

static void check_near (const char *what, double got, double want, double tolerance)
{
    /* A printed figure that ends in 5 may have been rounded either way. */
    if (fabs (got - want) <= tolerance * 1.0001 + 1e-12)
        return;
    print_error ("%s: %.9g instead of %.9g\n", what, got, want);
    CHECK_DBL (fabs (got - want), <=, tolerance);
}

/* Mean, p50, p90, p99, p99.9; 0: the table has no figure. The law is freed. */
static void check_law (const char *what,
                       struct sim_theory *law,
                       const double want[5],
                       double mean_tolerance,
                       double tolerance)
{
    char text[96];
    snprintf (text, sizeof text, "%s mean", what);
    if (want[0] > 0)
        check_near (text, law->mean, want[0], mean_tolerance);
    for (int i = 0; i < 4; i++) {
        snprintf (text, sizeof text, "%s percentile %d", what, i);
        if (want[1 + i] > 0)
            check_near (text, sim_theory_percentile (law, ppm[i]), want[1 + i], tolerance);
    }
    sim_theory_deinit (law);
}

/* The mean is the integral of the tail: this ties the two formulas of a law together. */
static double mean_of_tail (const struct sim_theory *law, double to)
{
    const int steps = 4000;
    double sum = 0;
    for (int i = 0; i < steps; i++)
        sum += law->tail (law, to * (i + 0.5) / steps);
    return sum * to / steps;
}

static void one_server_meets_the_textbook (void **state)
{
    (void)state;
    static const struct {
        double lam, want[5];
    } table[] = {{.3, {1.4286, 0.9902, 3.2894, 6.5788, 9.8682}},
                 {.5, {2, 1.3863, 4.6052, 9.2103, 13.8155}},
                 {.7, {3.3333, 2.3105, 7.6753, 15.3506, 23.0259}},
                 {.9, {10, 6.9315, 23.0259, 46.0517, 69.0776}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_mm1 (table[i].lam, &law);
        check_law ("M/M/1", &law, table[i].want, 5e-5, 5e-5);
    }
}

static void several_servers_meet_erlang (void **state)
{
    (void)state;
    static const struct {
        uint32_t c;
        double lam, wait, want[5];
    } table[] = {{2, .5, .333333, {1.333333, 0.9744, 2.9949, 5.6660, 8.2275}},
                 {2, .7, .576471, {1.960784, 1.4511, 4.3549, 8.2656, 12.1180}},
                 {2, .9, .852632, {5.263158, 3.7692, 11.8315, 23.3444, 34.8574}},
                 {4, .7, .428654, {1.357212, 1.0285, 2.9763, 5.4926, 7.9017}},
                 {10, .7, .221731, {1.073910, 0.7770, 2.4069, 4.7103, 7.0129}},
                 {10, .9, .668732, {1.668732, 1.3291, 3.5109, 6.2499, 8.8411}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_mmc (table[i].c, table[i].lam, &law);
        check_near ("P (wait)", law.p[0], table[i].wait, 5e-7);
        check_law ("M/M/c", &law, table[i].want, 5e-7, 5e-5);
    }
    struct sim_theory law;
    sim_theory_mmc (3, .7, &law);
    check_near ("M/M/3 mean", law.mean, 1.5470, 5e-5);
    /* c (1 - lam) = 1 divides by zero in the general form. */
    sim_theory_mmc (2, .5, &law);
    check_near ("M/M/2 at .5", law.tail (&law, 3), exp (-3) * 2, 1e-12);
    sim_theory_mmc (2, .5 + 1e-7, &law);
    check_near ("M/M/2 beside .5", law.tail (&law, 3), exp (-3) * 2, 1e-6);
}

static void fixed_service_meets_its_alternating_sum (void **state)
{
    (void)state;
    static const struct {
        double lam, beyond[3]; /* P (W > 1), P (W > 2), P (W > 5) */
    } table[] = {{.3, {.055099, .007987, .000017}},
                 {.5, {.175639, .053039, .001236}},
                 {.7, {.395874, .206328, .027276}}};
    static const double at[] = {1, 2, 5};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_md1 (table[i].lam, &law);
        for (int k = 0; k < 3; k++)
            check_near ("M/D/1", law.tail (&law, at[k] + 1), table[i].beyond[k], 5e-7);
        sim_theory_deinit (&law);
    }
    /* The sum itself, with more digits, as far as it has any. */
    for (int i = 1; i <= 9; i++) {
        double lam = i / 10.0;
        struct sim_theory law;
        sim_theory_md1 (lam, &law);
        check_near ("P (W > 0)", law.tail (&law, 1), lam, 1e-13);
        for (double t = .25; t < 14; t += .5) {
            long double sum = 0;
            for (int k = 0; k <= (int)t; k++) {
                long double x = (long double)lam * (k - (long double)t);
                sum += expl (-x) * powl (x, k) / tgammal (k + 1.0L);
            }
            check_near ("M/D/1", law.tail (&law, 1 + t), (double)(1 - (1 - lam) * sum), 1e-12);
        }
        sim_theory_deinit (&law);
    }
}

/* Far out the tail is one exponential, whose rate and factor are known. */
static void fixed_service_keeps_its_digits_far_out (void **state)
{
    (void)state;
    for (double lam = .5; lam < .96; lam += .05) {
        double eta = 3;
        for (int i = 0; i < 500; i++) {
            double value = lam * expm1 (eta) - eta, slope = lam * exp (eta) - 1;
            eta -= value / slope;
        }
        double factor = (1 - lam) / (lam * exp (eta) - 1);
        struct sim_theory law;
        sim_theory_md1 (lam, &law);
        for (double t = 8; t < 60 && exp (-eta * t) > 1e-8; t += 3.3) {
            double want = factor * exp (-eta * t);
            check_near ("M/D/1 far out", law.tail (&law, 1 + t) / want, 1, 1e-6);
        }
        sim_theory_deinit (&law);
    }
}

static void pollaczek_and_khinchine_give_the_mean_wait (void **state)
{
    (void)state;
    check_near ("fixed", sim_theory_mg1_wait (.7, 0), 1.16667, 5e-6);
    check_near ("Erlang 2", sim_theory_mg1_wait (.7, .5), 1.75, 1e-9);
    check_near ("exponential", sim_theory_mg1_wait (.7, 1), 2.33333, 5e-6);
    check_near ("4", sim_theory_mg1_wait (.7, 4), 5.83333, 5e-6);
    check_near ("10", sim_theory_mg1_wait (.7, 10), 12.83333, 5e-6);
    static const double lam[] = {.3, .5, .7}, two_point[] = {.87931, 2.05172, 4.78736};
    for (int i = 0; i < 3; i++)
        check_near ("two points", 1.45 * sim_theory_mg1_wait (lam[i], 1.82996433), two_point[i],
                    6e-6);
}

static void two_branches_meet_their_table (void **state)
{
    (void)state;
    static const struct {
        double lam, wait, want[5];
    } table[] = {{.3, 2.464286, {0, .5936, 10.969, 40.631, 70.293}},
                 {.5, 5.75, {0, 1.0074, 22.105, 59.172, 96.238}},
                 {.7, 13.41667, {0, 4.2318, 42.277, 96.797, 151.316}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_mh21 (table[i].lam, .95, .5, 10.5, &law);
        check_near ("H2 wait", law.mean - 1, table[i].wait, 5e-6);
        check_near ("H2 p50", sim_theory_percentile (&law, ppm[0]), table[i].want[1], 5e-5);
        check_near ("P (wait)", law.p[2] + law.p[3], table[i].lam, 1e-12);
        check_near ("H2 integral", mean_of_tail (&law, 900), law.mean, 2e-2);
        check_law ("H2", &law, table[i].want, 0, 5e-4);
    }
}

static void cancel_on_start_meets_its_table (void **state)
{
    (void)state;
    static const struct {
        uint32_t n, d;
        double lam, no_wait, want[5];
    } table[] = {{2, 2, .5, .66667, {1.333333, .9744, 2.9949, 5.6660, 8.2275}},
                 {3, 2, .5, .70000, {1.244444, .9179, 2.7804, 5.2202, 7.5720}},
                 {4, 2, .7, .47027, {1.582792, 1.2335, 3.4209, 6.0895, 8.5720}},
                 {5, 2, .7, .47872, {1.529543, 1.1994, 3.2909, 5.8341, 8.2192}},
                 {10, 2, .5, .73684, {1.171248, .8643, 2.6098, 4.9482, 7.2554}},
                 {10, 2, .7, .49485, {1.441524, 1.1383, 3.0794, 5.4799, 7.7976}},
                 {10, 2, .9, .18182, {2.455774, 2.1351, 4.8213, 7.7910, 10.4773}},
                 {10, 3, .7, .60766, {1.218765, .9312, 2.6443, 4.9562, 7.2590}},
                 {10, 10, .7, .77827, {1.073910, .7770, 2.4069, 4.7103, 7.0129}},
                 {20, 2, .7, 0, {1.405573}},
                 {100, 2, .7, 0, {1.380118}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        char what[64];
        snprintf (what, sizeof what, "COS %u %u %g", table[i].n, table[i].d, table[i].lam);
        sim_theory_cos (table[i].n, table[i].d, table[i].lam, &law);
        if (table[i].no_wait > 0)
            check_near (what, law.weights[0], table[i].no_wait, 5e-6);
        check_near (what, mean_of_tail (&law, 40), law.mean, 1e-4);
        check_law (what, &law, table[i].want, 5e-7, 5e-5);
    }
}

static void cancel_on_start_has_closed_forms_for_few_servers (void **state)
{
    (void)state;
    struct sim_theory law;
    for (double t = 0; t < 12; t += .7) {
        sim_theory_cos (3, 2, .5, &law);
        check_near ("3, 2", law.tail (&law, t), 2 * exp (-t) - (1 + t / 5) * exp (-1.5 * t), 1e-11);
        sim_theory_deinit (&law);
        sim_theory_cos (2, 2, .5, &law);
        check_near ("2, 2", law.tail (&law, t), exp (-t) * (1 + t / 3), 1e-11);
        sim_theory_deinit (&law);
    }
}

static void cancel_on_start_ends_in_known_queues (void **state)
{
    (void)state;
    static const double lams[] = {.1, .3, .5, .7, .9, .95};
    for (size_t i = 0; i < COUNT (lams); i++) {
        for (uint32_t n = 1; n <= 10; n += 3) {
            struct sim_theory law, one, central;
            sim_theory_cos (n, 1, lams[i], &law);
            sim_theory_mm1 (lams[i], &one);
            check_near ("d = 1 mean", law.mean, one.mean, 1e-9 * one.mean);
            for (double t = 0; t < 30; t += 3.1)
                check_near ("d = 1", law.tail (&law, t), one.tail (&one, t), 1e-10);
            sim_theory_deinit (&law);
            sim_theory_cos (n, n, lams[i], &law);
            sim_theory_mmc (n, lams[i], &central);
            check_near ("d = n mean", law.mean, central.mean, 1e-9 * central.mean);
            for (double t = 0; t < 30; t += 3.1)
                check_near ("d = n", law.tail (&law, t), central.tail (&central, t), 1e-10);
            sim_theory_deinit (&law);
        }
    }
}

static void cancel_on_start_for_many_servers_meets_its_table (void **state)
{
    (void)state;
    static const struct {
        uint32_t d;
        double lam, want[5];
    } table[] = {{2, .3, {1.04790, .7414, 2.3879, 4.6986, 7.0020}},
                 {2, .5, {1.15073, .8473, 2.5649, 4.8903, 7.1952}},
                 {2, .7, {1.37417, 1.0855, 2.9257, 5.2736, 7.5806}},
                 {2, .8, {1.59633, 1.3291, 3.2581, 5.6204, 7.9288}},
                 {2, .9, {2.05029, 1.8347, 3.8788, 6.2578, 8.5677}},
                 {2, .95, {2.57939, 2.4209, 4.5359, 6.9240, 9.2348}},
                 {3, .3, {1.00915, 0, 0, 4.6189, 0}},
                 {3, .5, {1.04510, 0, 0, 4.6719, 0}},
                 {3, .7, {1.14578, 0, 0, 4.8152, 0}},
                 {3, .8, {1.25562, 0, 0, 4.9639, 0}},
                 {3, .9, {1.48752, 0, 0, 5.2580, 0}},
                 {3, .95, {1.75948, 0, 0, 5.5789, 0}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law, finite;
        sim_theory_cos_limit (table[i].d, table[i].lam, &law);
        check_near ("integral", mean_of_tail (&law, 40), law.mean, 1e-4);
        /* The finite form tends to it. */
        sim_theory_cos (1000, table[i].d, table[i].lam, &finite);
        CHECK_DBL (finite.mean, >, law.mean);
        CHECK_DBL (finite.mean, <, law.mean * 1.005);
        check_near ("tail", finite.tail (&finite, 3) / law.tail (&law, 3), 1, 2e-2);
        sim_theory_deinit (&finite);
        check_law ("COS limit", &law, table[i].want, 5e-6, 5e-5);
    }
}

static void cancel_on_completion_meets_its_tables (void **state)
{
    (void)state;
    static const struct {
        uint32_t n, d;
        double lam, mean, tolerance;
    } finite[] = {{3, 2, .5, .888889, 5e-7},    {4, 2, .5, .850000, 5e-7},
                  {10, 2, .7, 1.101627, 5e-7},  {10, 2, .9, 2.143298, 5e-7},
                  {100, 2, .7, 1.034983, 5e-7}, {3, 2, .7, 1.3675, 5e-5},
                  {6, 2, .7, 1.1624, 5e-5},     {6, 3, .7, .8092, 5e-5},
                  {5, 1, .6, 2.5, 1e-9},        {5, 5, .6, .5, 1e-9}};
    for (size_t i = 0; i < COUNT (finite); i++) {
        struct sim_theory law;
        sim_theory_coc (finite[i].n, finite[i].d, finite[i].lam, &law);
        check_near ("COC", law.mean, finite[i].mean, finite[i].tolerance);
        CHECK_TRUE (law.tail == NULL);
        /* As a sum of geometric numbers in the system. */
        double lam = finite[i].lam, number = 0;
        for (uint32_t j = finite[i].d; j <= finite[i].n; j++) {
            double r = lam;
            for (uint32_t k = 0; k + 1 < finite[i].d; k++)
                r *= (double)(j - 1 - k) / (double)(finite[i].n - 1 - k);
            number += r / (1 - r);
        }
        check_near ("COC by number", law.mean, number / (finite[i].n * lam), 1e-9);
    }
    static const struct {
        double lam, want[5];
    } limit[] = {{.3, {.62972, .4648, 1.4083, 2.6288, 3.8010}},
                 {.5, {.77259, .6035, 1.6723, 2.9444, 4.1311}},
                 {.7, {1.02852, .8674, 2.1051, 3.4340, 4.6355}},
                 {.9, {1.73159, 1.6375, 3.1190, 4.5109, 5.7276}}};
    for (size_t i = 0; i < COUNT (limit); i++) {
        struct sim_theory law;
        sim_theory_coc_limit (3, limit[i].lam, &law);
        check_near ("d = 3 integral", mean_of_tail (&law, 30), law.mean, 1e-4);
        sim_theory_coc_limit (2, limit[i].lam, &law);
        check_near ("integral", mean_of_tail (&law, 30), law.mean, 1e-4);
        check_law ("COC limit", &law, limit[i].want, 5e-6, 5e-5);
    }
}

static void a_backup_that_needs_an_idle_server_meets_its_figures (void **state)
{
    (void)state;
    static const struct {
        double lam, want[5], digits;
    } table[] = {{.3, {1.0989, 0, 0, 5.0606, 0}, 5e-5},
                 {.5, {1.3333, 0, 0, 6.1402, 0}, 5e-5},
                 {.7, {1.9608, 0, 0, 9.0297, 0}, 5e-5},
                 {.9, {5.2632, 0, 0, 24.238, 0}, 5e-4}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_idle_backup (table[i].lam, &law);
        check_law ("idle backup", &law, table[i].want, 5e-5, table[i].digits);
    }
}

static void the_shortest_of_two_queues_meets_its_table (void **state)
{
    (void)state;
    static const struct {
        uint32_t d;
        double lam, want[5];
    } table[] = {{2, .5, {1.26569, 0, 0, 5.575, 8.181}},
                 {2, .7, {1.61445, 0, 0, 6.561, 9.366}},
                 {2, .9, {2.61406, 0, 0, 8.791, 11.932}},
                 {2, .95, {3.38305, 0, 0, 10.218, 13.531}},
                 {2, .99, {5.43200, 0, 0, 13.497, 17.147}},
                 {3, .5, {1.12524}},
                 {3, .7, {1.35684}},
                 {3, .9, {2.02786}},
                 {3, .95, {2.53513}},
                 {3, .99, {3.85785}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_jsq_limit (table[i].d, table[i].lam, &law);
        check_law ("JSQ", &law, table[i].want, 5e-6, 5e-4);
    }
}

static void fan_out_is_a_percentile_further_out (void **state)
{
    (void)state;
    /* The slowest of 100: its median and p99, for M/M/1, cancel on start and on completion. */
    static const struct {
        double lam, single[2], cos[2], coc[2];
    } table[] = {{.7, {16.58, 30.685}, {5.645, 9.879}, {3.632, 5.800}},
                 {.9, {49.75, 92.05}, {6.630, 10.866}, {4.712, 6.896}}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory laws[3];
        sim_theory_mm1 (table[i].lam, &laws[0]);
        sim_theory_cos_limit (2, table[i].lam, &laws[1]);
        sim_theory_coc_limit (2, table[i].lam, &laws[2]);
        const double *want[] = {table[i].single, table[i].cos, table[i].coc};
        for (int k = 0; k < 3; k++)
            for (int half = 0; half < 2; half++) {
                double rest = 1 - laws[k].tail (&laws[k], want[k][half]);
                double share = pow (rest, 100), tolerance = k ? 5e-4 : 5e-3;
                /* The printed time, moved by its tolerance, encloses the share. */
                double low = pow (1 - laws[k].tail (&laws[k], want[k][half] - tolerance), 100);
                double high = pow (1 - laws[k].tail (&laws[k], want[k][half] + tolerance), 100);
                double asked = half ? .99 : .5;
                CHECK_DBL (low, <=, asked);
                CHECK_DBL (high, >=, asked);
                CHECK_DBL (share, <, 1);
            }
    }
}

static void race_without_stagger_meets_its_table (void **state)
{
    (void)state;
    static const struct {
        double lam, share, digits, mean, limit;
    } table[] = {{.1, .75, 1e-9, .680556, .69048},
                 {.3, .4375, 1e-9, .995536, .35297},
                 {.5, .25, 1e-9, 1.375, .17157},
                 {.7, .125, 1e-9, 2.104167, .06483},
                 {.9, .035714, 5e-7, 5.482143, .00852}};
    for (size_t i = 0; i < COUNT (table); i++) {
        check_near ("share", sim_theory_race_duplicates (table[i].lam), table[i].share,
                    table[i].digits);
        check_near ("mean", sim_theory_race_mean (table[i].lam), table[i].mean, 5e-7);
        check_near ("limit", sim_theory_race_duplicates_limit (table[i].lam), table[i].limit, 5e-6);
    }
}

static void race_with_stagger_meets_its_figures (void **state)
{
    (void)state;
    static const double lam[] = {.3, .5, .7, .9}, want[] = {.46680, .58333, .54413, .40680};
    for (int i = 0; i < 4; i++)
        check_near ("slope", sim_theory_race_slope (lam[i]), want[i], 5e-6);
}

static void race_with_random_delays_meets_its_table (void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4, 6};
    static const double not_stopped[] = {.75, .4598, .2368, .1120, .0504, .0093};
    static const double both[] = {.5, .3679, .2030, .0996, .0458, .0087};
    for (int i = 0; i < 6; i++) {
        check_near ("not stopped", sim_theory_race_not_stopped (x[i]), not_stopped[i], 5e-5);
        check_near ("both run", sim_theory_race_random (x[i]), both[i], 5e-5);
    }
}

static void hedges_meet_their_table (void **state)
{
    (void)state;
    static const struct {
        enum sim_theory_law law;
        double h, extra, digits, want[5], mean_digits;
    } table[] = {{SIM_LAW_EXP, 2.302585, .10, 5e-7, {.95, .6931, 2.3026, 3.4539, 4.6052}, 5e-6},
                 {SIM_LAW_EXP, 2.995732, .05, 5e-7, {.975, .6931, 2.3026, 3.8005, 4.9517}, 5e-6},
                 {SIM_LAW_H2, INFINITY, 0, 1e-9, {1.45, .7393, 2.7302, 16.0945, 39.1202}, 1e-9},
                 {SIM_LAW_H2, 2, .16951, 5e-6, {1.02457, .7393, 2.3091, 3.8783, 6.8545}, 5e-6},
                 {SIM_LAW_H2, 4, .05092, 5e-6, {1.14382, .7393, 2.7302, 5.3313, 8.3019}, 5e-6},
                 {SIM_LAW_PARETO, INFINITY, 0, 1e-9, {1, .7071, 1.5811, 5.0000, 15.8114}, 1e-9},
                 {SIM_LAW_PARETO, 2.236068, .05, 5e-7, {0, .7071, 1.5811, 3.0545, 4.1439}, 0},
                 {SIM_LAW_LOGNORMAL, INFINITY, 0, 1e-9, {1, .6065, 2.1849, 6.2112, 13.3329}, 1e-9},
                 {SIM_LAW_LOGNORMAL, 3.1420, .05, 5e-6, {0, .6065, 2.1849, 4.0435, 5.6486}, 0}};
    for (size_t i = 0; i < COUNT (table); i++) {
        struct sim_theory law;
        sim_theory_hedge (table[i].law, table[i].h, &law);
        check_near ("extra", sim_theory_law_tail (table[i].law, table[i].h), table[i].extra,
                    table[i].digits);
        check_law ("hedge", &law, table[i].want, table[i].mean_digits, 5e-5);
    }
    struct sim_theory law;
    sim_theory_hedge (SIM_LAW_H2, 4, &law);
    check_near ("p95", sim_theory_percentile (&law, 950000), 4.0133, 5e-5);
    sim_theory_hedge (SIM_LAW_EXP, 2.302585, &law);
    check_near ("p95", sim_theory_percentile (&law, 950000), 2.6492, 5e-5);
    check_near ("mean", law.mean, 1 - exp (-2.302585) / 2, 1e-6);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (one_server_meets_the_textbook),
        cmocka_unit_test (several_servers_meet_erlang),
        cmocka_unit_test (fixed_service_meets_its_alternating_sum),
        cmocka_unit_test (fixed_service_keeps_its_digits_far_out),
        cmocka_unit_test (pollaczek_and_khinchine_give_the_mean_wait),
        cmocka_unit_test (two_branches_meet_their_table),
        cmocka_unit_test (cancel_on_start_meets_its_table),
        cmocka_unit_test (cancel_on_start_has_closed_forms_for_few_servers),
        cmocka_unit_test (cancel_on_start_ends_in_known_queues),
        cmocka_unit_test (cancel_on_start_for_many_servers_meets_its_table),
        cmocka_unit_test (cancel_on_completion_meets_its_tables),
        cmocka_unit_test (a_backup_that_needs_an_idle_server_meets_its_figures),
        cmocka_unit_test (the_shortest_of_two_queues_meets_its_table),
        cmocka_unit_test (fan_out_is_a_percentile_further_out),
        cmocka_unit_test (race_without_stagger_meets_its_table),
        cmocka_unit_test (race_with_stagger_meets_its_figures),
        cmocka_unit_test (race_with_random_delays_meets_its_table),
        cmocka_unit_test (hedges_meet_their_table),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
