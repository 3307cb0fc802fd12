/* SPDX-License-Identifier: MIT */
/*
 * The optimiser of hedges against a search of every delay: on the curves that it is given, and with
 * the distribution that the curves were drawn from. The formula is written down here again, in
 * doubles.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "base/prng.h"
#include "core/single_r.h"
#include "tools/dist.h"

enum {
    SAMPLES = 100000
};

static const struct ti_single_r_options defaults = {.target_ppm = 999000,
                                                    .budget_ppm = 50000,
                                                    .floor_ns = US (10),
                                                    .ceiling_ns = S (10),
                                                    .min_saving_ppm = 50000};

static struct ti_dist dist_of (const char *text)
{
    struct ti_dist dist;
    char why[TI_DIST_WHY_MAX] = "";
    if (ti_dist_parse (text, &dist, why))
        fail_msg ("%s: %s", text, why);
    return dist;
}

/* The survival curve of evenly spaced quantiles. */
static struct ti_curve *curve_of (const char *text)
{
    const struct ti_dist dist = dist_of (text);
    struct ti_latency *latency = ti_latency_init (malloc (ti_latency_size ()), S (10));
    struct ti_curve *curve = malloc (sizeof *curve);
    for (uint64_t i = 0; i < SAMPLES; i++)
        ti_latency_ended (latency, ti_dist_draw (&dist, i * (UINT64_MAX / SAMPLES)), 0);
    ti_latency_curve (latency, curve);
    free (latency);
    return curve;
}

static double done_at (const struct ti_curve *curve, tied_duration_t t)
{
    return 1 - ti_curve_surviving (curve, t) / 1e6;
}

/* P (T <= t). */
static double reached_by (const struct ti_curve *call,
                          const struct ti_curve *hedge,
                          tied_duration_t d,
                          double q,
                          tied_duration_t t)
{
    const double x = done_at (call, t);
    return x + (t > d ? q * (1 - x) * done_at (hedge, t - d) : 0);
}

/* The least point in time with that share, by bisection over all times; TIED_NEVER: none. */
static tied_duration_t percentile_of (const struct ti_curve *call,
                                      const struct ti_curve *hedge,
                                      tied_duration_t d,
                                      double q,
                                      double share)
{
    tied_duration_t low = 0, high = S (200);
    if (reached_by (call, hedge, d, q, high) < share - 1e-12)
        return TIED_NEVER;
    while (high - low > 1) {
        const tied_duration_t middle = low + (high - low) / 2;
        if (reached_by (call, hedge, d, q, middle) < share - 1e-12)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double probability_of (const struct ti_curve *call, tied_duration_t d, double budget)
{
    const double pending = ti_curve_surviving (call, d) / 1e6;
    return pending > budget ? budget / pending : 1;
}

/* Every point of the curve and 500 others. */
static tied_duration_t best_of_all (const struct ti_single_r_options *options,
                                    const struct ti_curve *call,
                                    const struct ti_curve *hedge)
{
    const double budget = options->budget_ppm / 1e6, share = options->target_ppm / 1e6;
    const double span = (double)options->ceiling_ns / (double)options->floor_ns;
    tied_duration_t best = TIED_NEVER;
    for (uint32_t i = 0; i < call->count + 501; i++) {
        tied_duration_t d = i < call->count
                                ? call->points[i].at
                                : (tied_duration_t)((double)options->floor_ns *
                                                    pow (span, (i - call->count) / 500.0));
        if (d < options->floor_ns || d > options->ceiling_ns)
            continue;
        const tied_duration_t t =
            percentile_of (call, hedge, d, probability_of (call, d, budget), share);
        best = t < best ? t : best;
    }
    return best;
}

static void check_plan (const struct ti_single_r_options *options,
                        const struct ti_curve *call,
                        const struct ti_curve *hedge,
                        const struct ti_single_r_plan *plan)
{
    CHECK_U64 (plan->delay_ns, >=, options->floor_ns);
    CHECK_U64 (plan->delay_ns, <=, options->ceiling_ns);
    CHECK_U64 (plan->probability_ppm, <=, TIED_PPM);
    CHECK_U64 (plan->hedged_ppm, <=, options->budget_ppm);
    /* q P (X > d), the one place where the budget must hold exactly. */
    const uint64_t pending = ti_curve_surviving (call, plan->delay_ns);
    CHECK_U64 (plan->probability_ppm * pending, <=, (uint64_t)options->budget_ppm * TIED_PPM);
    CHECK_U64 (plan->without_ns, ==, ti_curve_percentile (call, options->target_ppm));
    CHECK_U64 (plan->predicted_ns, <=, plan->without_ns);
    CHECK_U64 (plan->predicted_ns, ==,
               percentile_of (call, hedge, plan->delay_ns, plan->probability_ppm / 1e6,
                              options->target_ppm / 1e6));
    if (plan->is_worth)
        CHECK_U64 (plan->predicted_ns, <, plan->without_ns);
}

static struct ti_single_r_plan plan_of (const struct ti_single_r_options *options,
                                        const struct ti_curve *call)
{
    struct ti_single_r_plan plan;
    memset (&plan, 0xa5, sizeof plan);
    ti_single_r (options, call, NULL, 0, &plan);
    check_plan (options, call, call, &plan);
    return plan;
}

static const char *const services[] = {
    "exp(10ms)",  "bimodal(5ms,200ms,0.01)", "pareto(2ms,1.5)",     "lognormal(10ms,20ms)",
    "fixed(5ms)", "uniform(1ms,10ms)",       "h2(0.99,25us,375us)", "shifted(5ms,1ms)"};

static void no_delay_on_the_curve_does_better (void **state)
{
    (void)state;
    const uint32_t budgets[] = {1000, 10000, 50000, 300000, TIED_PPM};
    const uint32_t targets[] = {900000, 990000, 999000};
    for (size_t s = 0; s < sizeof services / sizeof services[0]; s++) {
        struct ti_curve *curve = curve_of (services[s]);
        for (size_t i = 0; i < 15; i++) {
            struct ti_single_r_options options = defaults;
            options.budget_ppm = budgets[i % 5];
            options.target_ppm = targets[i / 5];
            const struct ti_single_r_plan plan = plan_of (&options, curve);
            const tied_duration_t best = best_of_all (&options, curve, curve);
            if (plan.predicted_ns > best + best / 500)
                print_error ("%s, budget %u, target %u\n", services[s], options.budget_ppm,
                             options.target_ppm);
            CHECK_U64 (plan.predicted_ns, <=, best + best / 500);
        }
        free (curve);
    }
}

/* The percentile that (d, q) really gives, from the distribution itself. */
static double true_percentile (const struct ti_dist *dist, double d, double q, double share)
{
    double low = 0, high = 100e9;
    for (int i = 0; i < 60; i++) {
        const double t = (low + high) / 2, x = ti_dist_cdf (dist, (uint64_t)t);
        const double y = t > d ? ti_dist_cdf (dist, (uint64_t)(t - d)) : 0;
        if (x + q * (1 - x) * y < share)
            low = t;
        else
            high = t;
    }
    return high;
}

static double true_best (const struct ti_dist *dist, double budget, double share)
{
    double best = HUGE_VAL;
    for (int i = 0; i <= 4000; i++) {
        const double d = 1e4 * pow (1e6, i / 4000.0);
        const double pending = 1 - ti_dist_cdf (dist, (uint64_t)d);
        const double q = pending > budget ? budget / pending : 1;
        best = fmin (best, true_percentile (dist, d, q, share));
    }
    return best;
}

static void check_against_the_truth (const char *text, const struct ti_single_r_options *options)
{
    const struct ti_dist dist = dist_of (text);
    const double share = options->target_ppm / 1e6, budget = options->budget_ppm / 1e6;
    struct ti_curve *curve = curve_of (text);
    const struct ti_single_r_plan plan = plan_of (options, curve);
    const double best = true_best (&dist, budget, share);
    const double got =
        true_percentile (&dist, (double)plan.delay_ns, plan.probability_ppm / 1e6, share);
    const double spent = plan.probability_ppm / 1e6 * (1 - ti_dist_cdf (&dist, plan.delay_ns));
    print_message (
        "%s, p%g, budget %g %%: without %.3f ms, d %.3f ms, q %.3f, predicted %.3f, true "
        "%.3f, best %.3f, hedged %.2f %%\n",
        text, share * 100, budget * 100, (double)plan.without_ns / 1e6, (double)plan.delay_ns / 1e6,
        plan.probability_ppm / 1e6, (double)plan.predicted_ns / 1e6, got / 1e6, best / 1e6,
        spent * 100);
    CHECK_TRUE (plan.is_worth);
    CHECK_DBL (got, <=, best * 1.03);
    CHECK_DBL (spent, <=, budget * 1.002);
    /* What it says is what comes, to a bucket of each curve. */
    CHECK_DBL ((double)plan.predicted_ns, <=, got * 1.04);
    CHECK_DBL ((double)plan.predicted_ns, >=, got * 0.99);
    free (curve);
}

static void the_plan_is_within_3_percent_of_the_best_that_the_distribution_allows (void **state)
{
    (void)state;
    const char *const worth[] = {"exp(10ms)", "bimodal(5ms,200ms,0.01)", "pareto(2ms,1.5)",
                                 "lognormal(10ms,20ms)", "h2(0.9,5ms,50ms)"};
    for (size_t i = 0; i < sizeof worth / sizeof worth[0]; i++) {
        check_against_the_truth (worth[i], &defaults);
        struct ti_single_r_options options = defaults;
        options.budget_ppm = 20000;
        check_against_the_truth (worth[i], &options);
    }
}

/* NetClone (SIGCOMM 2023): exponential, and one in a hundred takes 15 times as long. */
static void one_in_a_hundred_15_times_as_slow_is_hedged_as_well_as_can_be (void **state)
{
    (void)state;
    check_against_the_truth ("h2(0.99,25us,375us)", &defaults);
    check_against_the_truth ("h2(0.99,5ms,75ms)", &defaults);
    check_against_the_truth ("bimodal(5ms,75ms,0.01)", &defaults);
}

static void what_takes_the_same_time_always_is_not_hedged (void **state)
{
    (void)state;
    struct ti_curve *curve = curve_of ("fixed(5ms)");
    struct ti_single_r_options options = defaults;
    options.min_saving_ppm = 0;
    for (options.budget_ppm = 1; options.budget_ppm <= TIED_PPM; options.budget_ppm *= 10) {
        const struct ti_single_r_plan plan = plan_of (&options, curve);
        CHECK_FALSE (plan.is_worth);
        CHECK_U64 (plan.predicted_ns, ==, plan.without_ns);
    }
    for (tied_duration_t d = 0; d < MS (20); d += US (100))
        CHECK_U64 (ti_single_r_benefit (curve, NULL, d, 999000), ==, 0);
    free (curve);
}

static void a_tail_shorter_than_a_copy_is_not_hedged (void **state)
{
    (void)state;
    const char *const short_tails[] = {"uniform(1ms,10ms)", "uniform(9ms,10ms)",
                                       "shifted(20ms,1ms)"};
    for (size_t i = 0; i < sizeof short_tails / sizeof short_tails[0]; i++) {
        struct ti_curve *curve = curve_of (short_tails[i]);
        CHECK_FALSE (plan_of (&defaults, curve).is_worth);
        free (curve);
    }
    struct ti_curve *curve = curve_of ("uniform(9ms,10ms)");
    for (tied_duration_t d = MS (2); d < MS (20); d += US (100))
        CHECK_U64 (ti_single_r_benefit (curve, NULL, d, 999000), ==, 0);
    free (curve);
}

static void a_saving_below_the_least_that_counts_is_none (void **state)
{
    (void)state;
    struct ti_curve *curve = curve_of ("exp(10ms)");
    struct ti_single_r_options options = defaults;
    struct ti_single_r_plan plan = plan_of (&options, curve);
    const uint64_t saving = (plan.without_ns - plan.predicted_ns) * TIED_PPM / plan.without_ns;
    CHECK_TRUE (plan.is_worth);
    CHECK_U64 (saving, >, 100000);
    options.min_saving_ppm = (uint32_t)saving;
    CHECK_TRUE (plan_of (&options, curve).is_worth);
    options.min_saving_ppm = (uint32_t)saving + 1;
    plan = plan_of (&options, curve);
    CHECK_FALSE (plan.is_worth);
    CHECK_U64 (plan.predicted_ns, <, plan.without_ns); /* what was best all the same */
    CHECK_U64 (plan.hedged_ppm, >, 0);
    options.min_saving_ppm = TIED_PPM;
    CHECK_FALSE (plan_of (&options, curve).is_worth);
    free (curve);
}

static void of_delays_that_do_as_well_the_one_with_the_fewest_hedges_is_taken (void **state)
{
    (void)state;
    static const struct ti_curve call = {
        .count = 3,
        .samples = 1000,
        .points = {{US (1000), 40000}, {US (1001), 10000}, {MS (500), 0}}};
    static const struct ti_curve hedge = {
        .count = 2, .samples = 1000, .points = {{MS (100), 50000}, {MS (600), 0}}};
    struct ti_single_r_plan plan;
    ti_single_r (&defaults, &call, &hedge, 0, &plan);
    check_plan (&defaults, &call, &hedge, &plan);
    CHECK_TRUE (plan.is_worth);
    CHECK_U64 (plan.delay_ns, ==, US (1001));
    CHECK_U64 (plan.probability_ppm, ==, TIED_PPM);
    CHECK_U64 (plan.hedged_ppm, ==, 10000);
    CHECK_U64 (plan.predicted_ns, ==, US (101001));
}

static void the_delay_stays_between_floor_and_ceiling (void **state)
{
    (void)state;
    struct ti_curve *curve = curve_of ("exp(10ms)");
    struct ti_single_r_options options = defaults;
    const tied_duration_t free_choice = plan_of (&options, curve).delay_ns;
    options.floor_ns = free_choice + MS (5);
    CHECK_U64 (plan_of (&options, curve).delay_ns, >=, options.floor_ns);
    options.floor_ns = 0;
    options.ceiling_ns = free_choice / 2;
    CHECK_U64 (plan_of (&options, curve).delay_ns, <=, options.ceiling_ns);
    options.ceiling_ns = 0;
    CHECK_U64 (plan_of (&options, curve).delay_ns, ==, 0);
    CHECK_U64 (plan_of (&options, curve).hedged_ppm, ==, 50000);
    options.floor_ns = options.ceiling_ns = S (60);
    CHECK_U64 (plan_of (&options, curve).delay_ns, ==, S (60));
    CHECK_FALSE (plan_of (&options, curve).is_worth);
    free (curve);
}

static void without_samples_or_budget_nothing_is_worth_it (void **state)
{
    (void)state;
    struct ti_curve *curve = curve_of ("exp(10ms)");
    static struct ti_curve none;
    struct ti_single_r_options options = defaults;
    struct ti_single_r_plan plan;
    ti_single_r (&options, &none, NULL, 0, &plan);
    CHECK_FALSE (plan.is_worth);
    CHECK_U64 (plan.delay_ns, ==, options.floor_ns);
    CHECK_U64 (plan.without_ns, ==, TIED_NEVER);
    CHECK_U64 (plan.predicted_ns, ==, TIED_NEVER);
    CHECK_U64 (plan.hedged_ppm, ==, 0);
    ti_single_r (&options, &none, curve, 0, &plan);
    CHECK_FALSE (plan.is_worth);
    options.budget_ppm = 0;
    plan = plan_of (&options, curve);
    CHECK_FALSE (plan.is_worth);
    CHECK_U64 (plan.probability_ppm, ==, 0);
    CHECK_U64 (ti_single_r_benefit (&none, NULL, 0, 999000), ==, 0);
    CHECK_U64 (ti_single_r_benefit (&none, curve, 0, 999000), ==, 0);
    free (curve);
}

static void hedges_have_their_own_curve_once_it_has_enough_samples (void **state)
{
    (void)state;
    struct ti_curve *call = curve_of ("bimodal(5ms,200ms,0.01)");
    struct ti_curve *slow = curve_of ("fixed(190ms)"), *quick = curve_of ("fixed(1ms)");
    struct ti_single_r_plan plan, as_call = plan_of (&defaults, call);
    ti_single_r (&defaults, call, quick, SAMPLES, &plan);
    check_plan (&defaults, call, quick, &plan);
    CHECK_U64 (plan.predicted_ns, <, MS (7));
    ti_single_r (&defaults, call, slow, SAMPLES, &plan);
    check_plan (&defaults, call, slow, &plan);
    CHECK_FALSE (plan.is_worth);
    ti_single_r (&defaults, call, slow, SAMPLES + 1, &plan);
    CHECK_TRUE (plan.is_worth);
    CHECK_U64 (plan.predicted_ns, ==, as_call.predicted_ns);
    CHECK_U64 (ti_single_r_benefit (call, slow, MS (20), 999000), ==, 0);
    CHECK_U64 (ti_single_r_benefit (call, quick, MS (20), 999000), >, MS (170));
    free (call);
    free (slow);
    free (quick);
}

/* Hedges that work hide how long it would have taken: every slow call was cut short. To stop then
 * would bring the slow ones back. */
static void BE_04_what_hedges_cut_short_goes_on_being_hedged (void **state)
{
    (void)state;
    struct ti_latency *latency = ti_latency_init (malloc (ti_latency_size ()), S (10));
    struct ti_curve *call = malloc (sizeof *call), *hedge = curve_of ("bimodal(5ms,200ms,0.01)");
    for (int i = 0; i < 9900; i++)
        ti_latency_ended (latency, MS (5), 0);
    for (int i = 0; i < 100; i++)
        ti_latency_censored (latency, MS (11), 0);
    ti_latency_curve (latency, call);
    struct ti_single_r_plan plan;
    ti_single_r (&defaults, call, hedge, 100, &plan);
    check_plan (&defaults, call, hedge, &plan);
    CHECK_TRUE (plan.is_worth);
    CHECK_U64 (plan.without_ns, ==, TIED_NEVER);
    CHECK_U64 (plan.predicted_ns, <, MS (12));
    CHECK_U64 (ti_single_r_benefit (call, hedge, MS (6), 999000), ==, TIED_NEVER);
    struct ti_curve *quick = curve_of ("fixed(5ms)");
    ti_single_r (&defaults, call, quick, 100, &plan);
    check_plan (&defaults, call, quick, &plan);
    CHECK_TRUE (plan.is_worth);
    CHECK_U64 (plan.predicted_ns, <, MS (11));
    free (quick);
    /* Hedges that never end within the percentile do not help either. */
    struct ti_single_r_options options = defaults;
    options.budget_ppm = 100;
    ti_single_r (&options, call, hedge, 100, &plan);
    check_plan (&options, call, hedge, &plan);
    CHECK_FALSE (plan.is_worth);
    CHECK_U64 (plan.predicted_ns, ==, TIED_NEVER);
    free (latency);
    free (call);
    free (hedge);
}

/* E[R] - E[min (R, Y)]: half the mean for exponentials, whatever the time; 0.99 of what is left
 * less a quick copy for two modes. */
static void the_benefit_is_the_mean_time_saved_of_what_is_pending (void **state)
{
    (void)state;
    struct ti_curve *exponential = curve_of ("exp(10ms)");
    for (tied_duration_t d = 0; d <= MS (20); d += MS (5)) {
        const tied_duration_t benefit = ti_single_r_benefit (exponential, NULL, d, 999900);
        CHECK_U64 (benefit, >, US (4700));
        CHECK_U64 (benefit, <, US (5200));
    }
    struct ti_curve *bimodal = curve_of ("bimodal(5ms,200ms,0.01)");
    const tied_duration_t benefit = ti_single_r_benefit (bimodal, NULL, MS (6), 999900);
    CHECK_U64 (benefit, >, MS (183));
    CHECK_U64 (benefit, <, MS (193));
    /* Past the target percentile nothing counts, and nothing is pending past the end. */
    CHECK_U64 (ti_single_r_benefit (bimodal, NULL, MS (6), 980000), ==, 0);
    CHECK_U64 (ti_single_r_benefit (bimodal, NULL, MS (300), 999900), ==, 0);
    CHECK_U64 (ti_single_r_benefit (bimodal, NULL, TIED_NEVER, 999900), ==, 0);
    free (exponential);
    free (bimodal);
}

static void draw_curve (struct ti_prng *prng, struct ti_curve *curve)
{
    struct ti_latency *latency = ti_latency_init (malloc (ti_latency_size ()), S (10));
    const uint32_t values = 1 + ti_prng_below_32 (prng, 20);
    for (uint32_t i = 0; i < values; i++) {
        const uint64_t value = ti_prng_between (prng, 0, S (60) >> ti_prng_below_32 (prng, 26));
        const bool is_censored = ti_prng_below_32 (prng, 4) == 0;
        for (uint32_t n = 1 + ti_prng_below_32 (prng, 1000); n > 0; n--)
            if (is_censored)
                ti_latency_censored (latency, value, 0);
            else
                ti_latency_ended (latency, value, 0);
    }
    ti_latency_curve (latency, curve);
    free (latency);
}

static void any_two_curves_give_a_plan_within_the_budget_that_no_delay_beats (void **state)
{
    (void)state;
    static struct ti_curve call, hedge;
    struct ti_prng prng;
    ti_prng_seed (&prng, 17);
    for (uint64_t n = check_scale (500); n > 0; n--) {
        struct ti_single_r_options options = {
            .target_ppm = ti_prng_below_32 (&prng, TIED_PPM),
            .budget_ppm = ti_prng_below_32 (&prng, TIED_PPM + 1) >> ti_prng_below_32 (&prng, 20),
            .min_saving_ppm = 0};
        options.floor_ns = 1 + (ti_prng_below (&prng, S (60)) >> ti_prng_below_32 (&prng, 36));
        options.ceiling_ns = options.floor_ns + ti_prng_below (&prng, S (60));
        draw_curve (&prng, &call);
        draw_curve (&prng, &hedge);
        struct ti_single_r_plan plan;
        ti_single_r (&options, &call, &hedge, 0, &plan);
        const struct ti_curve *used = hedge.samples ? &hedge : &call;
        check_plan (&options, &call, used, &plan);
        if (options.budget_ppm == 0 || call.count == 0)
            continue;
        const tied_duration_t best = best_of_all (&options, &call, used);
        if (best != TIED_NEVER)
            CHECK_U64 (plan.predicted_ns, <=, best + best / 500 + 2);
        const tied_duration_t benefit =
            ti_single_r_benefit (&call, &hedge, plan.delay_ns, options.target_ppm);
        if (plan.without_ns != TIED_NEVER)
            CHECK_U64 (benefit, <=, plan.without_ns);
    }
}

static void at_most_half_of_what_is_saved_is_given_away (void **state)
{
    (void)state;
    struct ti_curve *call = curve_of ("exp(10ms)");
    struct ti_single_r_options options = defaults;
    struct ti_single_r_plan least, slack;
    ti_single_r (&options, call, NULL, 0, &least);
    options.slack_ppm = TIED_PPM;
    ti_single_r (&options, call, NULL, 0, &slack);
    CHECK_TRUE (least.is_worth);
    CHECK_U64 (slack.predicted_ns, >=, least.predicted_ns);
    /* As exact as the search is. */
    CHECK_U64 (slack.predicted_ns, <=,
               (least.predicted_ns + least.without_ns) / 2 + least.predicted_ns / 1024);
    CHECK_U64 (slack.hedged_ppm, <, least.hedged_ppm);
    free (call);
}

static void the_ceiling_itself_is_a_delay (void **state)
{
    (void)state;
    struct ti_curve *call = curve_of ("bimodal(5ms,200ms,0.02)");
    struct ti_single_r_options options = defaults;
    struct ti_single_r_plan plan;
    options.ceiling_ns = call->points[0].at;
    ti_single_r (&options, call, NULL, 0, &plan);
    CHECK_TRUE (plan.is_worth);
    CHECK_U64 (plan.delay_ns, ==, options.ceiling_ns);
    CHECK_U64 (plan.probability_ppm, ==, TIED_PPM);
    free (call);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (at_most_half_of_what_is_saved_is_given_away),
        cmocka_unit_test (the_ceiling_itself_is_a_delay),
        cmocka_unit_test (no_delay_on_the_curve_does_better),
        cmocka_unit_test (the_plan_is_within_3_percent_of_the_best_that_the_distribution_allows),
        cmocka_unit_test (one_in_a_hundred_15_times_as_slow_is_hedged_as_well_as_can_be),
        cmocka_unit_test (what_takes_the_same_time_always_is_not_hedged),
        cmocka_unit_test (a_tail_shorter_than_a_copy_is_not_hedged),
        cmocka_unit_test (a_saving_below_the_least_that_counts_is_none),
        cmocka_unit_test (of_delays_that_do_as_well_the_one_with_the_fewest_hedges_is_taken),
        cmocka_unit_test (the_delay_stays_between_floor_and_ceiling),
        cmocka_unit_test (without_samples_or_budget_nothing_is_worth_it),
        cmocka_unit_test (hedges_have_their_own_curve_once_it_has_enough_samples),
        cmocka_unit_test (BE_04_what_hedges_cut_short_goes_on_being_hedged),
        cmocka_unit_test (the_benefit_is_the_mean_time_saved_of_what_is_pending),
        cmocka_unit_test (any_two_curves_give_a_plan_within_the_budget_that_no_delay_beats),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
