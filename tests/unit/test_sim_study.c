/* SPDX-License-Identifier: MIT */
/*
 * Studies over a runner that makes figures up: intervals, pairing, stopping, jobs, unstable
 * policies, hedge delays, sweeps, grids and capacity, without an engine.
 */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/util.h"
#include "engine/stream.h"
#include "study/pool.h"
#include "study/statistics.h"
#include "study/sweep.h"
#include "tools/wall.h"

#include <tied/error.h>

#define SAMPLES 1000

/* How the made-up runner behaves; set before a study. */
static struct {
    double noise;            /* of the latencies of a replication, relative */
    uint64_t unstable_below; /* replications with seed % 100 below this */
    uint32_t fails_policy;   /* this one cannot run; UINT32_MAX: all can */
    uint32_t work_us;        /* so long a run takes */
    double answered;         /* share of the requests */
} mood;
static _Atomic uint32_t runs;

static void set_mood (void)
{
    memset (&mood, 0, sizeof mood);
    mood.noise = 0.1;
    mood.fails_policy = UINT32_MAX;
    mood.answered = 1;
    runs = 0;
}

/* Latency of sample i: (i + 1) us x policy's factor x noise of the replication / (1 - load). */
static int
runner (const struct sim_run_options *options, struct sim_result *result, char why[SIM_WHY_MAX])
{
    const struct sim_policy *policy = &options->scenario->policies[options->policy];
    runs++;
    for (tied_time_t end = ti_wall_now () + US (mood.work_us); ti_wall_now () < end;)
        continue;
    if (options->policy == mood.fails_policy) {
        snprintf (why, SIM_WHY_MAX, "policy %s cannot", policy->name);
        return TIED_ERR_INVAL;
    }
    CHECK_U64 (policy->hedge_ppm, ==, 0);
    double u = (double)(sim_draw (options->seed, SIM_STREAM_SERVICE, 0, 0) >> 11) * 0x1p-53;
    /* A part of the noise is each policy's own. */
    double own =
        (double)(sim_draw (options->seed, SIM_STREAM_COPY, options->policy, 0) >> 11) * 0x1p-53;
    double factor = 1 + mood.noise * (u - 0.5) + mood.noise / 50 * (own - 0.5);
    factor *= policy->kind == SIM_POLICY_TIED ? 0.5 : 1;
    factor *= 1 + policy->pick_samples / 100.0;
    factor /= 1 - options->scenario->workload.load;
    for (uint64_t i = 1; i <= SAMPLES; i++) {
        uint64_t ns = (uint64_t)((double)US (i) * factor);
        if ((double)i > mood.answered * SAMPLES)
            continue;
        ti_hist_record (result->latency, ns);
        result->latency_sum_ns += (double)ns;
    }
    result->requests = result->calls = SAMPLES;
    result->copies = policy->kind == SIM_POLICY_TIED ? 2 * SAMPLES : SAMPLES;
    result->executions = SAMPLES + (policy->kind == SIM_POLICY_TIED ? 10 : 0);
    result->duplicates = result->executions - SAMPLES;
    result->busy_ns = MS (700);
    result->served_ns = MS (700);
    result->wasted_ns = MS (7);
    result->span_ns = S (1);
    result->depth_area = S (20);
    result->workers = 1;
    result->replicas = 10;
    result->trace_hash = sim_draw (options->seed, SIM_STREAM_LOSS, options->policy, 0);
    result->is_unstable = options->seed % 100 < mood.unstable_below;
    result->wall_ns = US (1);
    return TIED_OK;
}

static const struct sim_study_options plain = {.jobs = 1, .runner = runner};

static void make (struct sim_scenario *scenario, uint32_t replications)
{
    memset (scenario, 0, sizeof *scenario);
    scenario->workload.load = 0.5;
    scenario->workload.fan_out = 1;
    scenario->amount.replications = replications;
    scenario->amount.seed = 42;
    scenario->policies_count = 2;
    snprintf (scenario->policies[0].name, SIM_NAME_MAX, "single");
    scenario->policies[0].pick = TIED_PICK_RANDOM;
    snprintf (scenario->policies[1].name, SIM_NAME_MAX, "tied");
    scenario->policies[1].kind = SIM_POLICY_TIED;
    scenario->policies[1].pick = TIED_PICK_INFORMED;
    set_mood ();
}

static struct sim_scenario scenario;
static struct sim_study study, other;
static char why[SIM_WHY_MAX];

static void run (struct sim_study *out, uint32_t jobs)
{
    struct sim_study_options options = plain;
    options.jobs = jobs;
    why[0] = '\0';
    int rc = sim_study_run (&scenario, &options, out, why);
    CHECK_STR (why, "");
    CHECK_I64 (rc, ==, TIED_OK);
}

static void figures_are_means_over_replications (void **state)
{
    (void)state;
    make (&scenario, 12);
    run (&study, 1);
    CHECK_U64 (study.replications, ==, 12);
    CHECK_U64 (runs, ==, 24);
    CHECK_DBL (study.load, ==, 0.5);
    const struct sim_policy_summary *tied = &study.policies[1];
    CHECK_U64 (tied->sum.calls, ==, 12 * SAMPLES);
    CHECK_U64 (tied->sum.latency->total, ==, 12 * SAMPLES);
    /* p99 of 1 .. 1000 us is 990 us; x 0.5 / (1 - 0.5). */
    CHECK_DBL (fabs (tied->percentile_ns[3].value / 990e3 - 1), <, 0.05);
    CHECK_DBL (fabs (tied->percentile_ns[5].value / 1000e3 - 1), <, 0.05);
    CHECK_DBL (tied->percentile_ns[3].half, >, 0);
    CHECK_DBL (fabs (tied->mean_ns.value / 500.5e3 - 1), <, 0.05);
    CHECK_DBL (tied->copies_per_call.value, ==, 2);
    CHECK_DBL (tied->copies_per_call.half, ==, 0);
    CHECK_DBL (fabs (tied->executions_per_call.value - 1.01), <, 1e-12);
    CHECK_DBL (fabs (tied->duplicate_fraction.value - 0.01), <, 1e-12);
    CHECK_DBL (fabs (tied->utilisation.value - 0.7), <, 1e-12);
    CHECK_DBL (fabs (tied->queue_depth.value - 2), <, 1e-12);
    CHECK_DBL (fabs (tied->wasted_share.value - 0.01), <, 1e-12);
    CHECK_TRUE (isnan (study.policies[0].p99_minus_ns.value));
    CHECK_U64 (tied->hedge_ns, ==, TIED_NEVER);
    sim_study_deinit (&study);
}

/* The noise of a replication is in both policies: their difference is known better than either. */
static void a_paired_difference_has_less_spread_than_its_parts (void **state)
{
    (void)state;
    make (&scenario, 10);
    run (&study, 1);
    const struct sim_policy_summary *single = &study.policies[0], *tied = &study.policies[1];
    double difference = tied->percentile_ns[3].value - single->percentile_ns[3].value;
    CHECK_DBL (fabs (tied->p99_minus_ns.value - difference), <, 1e-3);
    double apart = hypot (tied->percentile_ns[3].half, single->percentile_ns[3].half);
    CHECK_DBL (tied->p99_minus_ns.half, <, apart / 1.5);
    CHECK_DBL (tied->p99_minus_ns.half, >, 0);
    CHECK_DBL (tied->mean_minus_ns.value, <, 0);
    CHECK_DBL (tied->p999_minus_ns.value, <, tied->p99_minus_ns.value);
    sim_study_deinit (&study);
}

static void check_same (const struct sim_study *a, const struct sim_study *b)
{
    CHECK_U64 (a->replications, ==, b->replications);
    for (uint32_t i = 0; i < a->policies_count; i++) {
        const struct sim_policy_summary *x = &a->policies[i], *y = &b->policies[i];
        CHECK_TRUE (sim_result_equal (&x->sum, &y->sum));
        CHECK_MEM (&x->mean_ns, &y->mean_ns, sizeof x->mean_ns);
        CHECK_MEM (x->percentile_ns, y->percentile_ns, sizeof x->percentile_ns);
        CHECK_MEM (&x->p99_minus_ns, &y->p99_minus_ns, sizeof x->p99_minus_ns);
        CHECK_MEM (&x->utilisation, &y->utilisation, sizeof x->utilisation);
        CHECK_U64 (x->unstable, ==, y->unstable);
        CHECK_U64 (x->hedge_ns, ==, y->hedge_ns);
    }
}

static void any_number_of_jobs_gives_the_same_bits (void **state)
{
    (void)state;
    make (&scenario, 40);
    scenario.policies[2] = scenario.policies[1];
    scenario.policies[2].kind = SIM_POLICY_HEDGE;
    scenario.policies[2].hedge_ppm = 950000;
    scenario.policies_count = 3;
    mood.unstable_below = 20;
    run (&study, 1);
    for (uint32_t jobs = 2; jobs <= 9; jobs += 7) {
        mood.work_us = 50;
        run (&other, jobs);
        check_same (&study, &other);
        sim_study_deinit (&other);
    }
    scenario.amount.precision = 0.0145;
    sim_study_deinit (&study);
    run (&study, 1);
    CHECK_U64 (study.replications, >, 10);
    CHECK_U64 (study.replications, <, 40);
    run (&other, 8);
    check_same (&study, &other);
    sim_study_deinit (&study);
    sim_study_deinit (&other);
}

static void replications_have_seeds_of_their_own_that_policies_share (void **state)
{
    (void)state;
    for (uint32_t i = 1; i < 100; i++)
        CHECK_U64 (sim_study_seed (1, i), !=, sim_study_seed (1, i - 1));
    CHECK_U64 (sim_study_seed (1, 0), !=, sim_study_seed (2, 0));
    /* With no noise of its own, tied is half of single in each replication. */
    make (&scenario, 6);
    run (&study, 1);
    CHECK_DBL (fabs (study.policies[1].mean_ns.value / study.policies[0].mean_ns.value - 0.5), <,
               0.002);
    sim_study_deinit (&study);
}

static void a_precision_stops_early_and_never_before_ten (void **state)
{
    (void)state;
    make (&scenario, 1000);
    scenario.amount.precision = 0.5;
    run (&study, 1);
    CHECK_U64 (study.replications, ==, 10);
    sim_study_deinit (&study);
    /* Not reached: all replications are run. */
    make (&scenario, 23);
    scenario.amount.precision = 1e-6;
    run (&study, 1);
    CHECK_U64 (study.replications, ==, 23);
    CHECK_FALSE (study.out_of_time);
    sim_study_deinit (&study);
    /* Reached at a multiple of five, and the reached width is below what was asked. */
    make (&scenario, 1000);
    scenario.amount.precision = 0.01;
    run (&study, 1);
    CHECK_U64 (study.replications, <, 1000);
    CHECK_U64 (study.replications % 5, ==, 0);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_DBL (study.policies[i].percentile_ns[3].half, <=,
                   0.01 * study.policies[i].percentile_ns[3].value);
    sim_study_deinit (&study);
}

static void an_unstable_policy_does_not_hold_up_a_precision (void **state)
{
    (void)state;
    make (&scenario, 100);
    scenario.amount.precision = 1e-9;
    mood.unstable_below = 100;
    run (&study, 1);
    CHECK_U64 (study.replications, ==, 10);
    CHECK_TRUE (sim_study_is_unstable (&study, 0));
    sim_study_deinit (&study);
}

static void unstable_means_more_than_half_of_the_replications (void **state)
{
    (void)state;
    make (&scenario, 4);
    run (&study, 1);
    study.policies[0].unstable = 2;
    CHECK_FALSE (sim_study_is_unstable (&study, 0));
    study.policies[0].unstable = 3;
    CHECK_TRUE (sim_study_is_unstable (&study, 0));
    sim_study_deinit (&study);
}

static void out_of_time_ends_after_a_whole_replication (void **state)
{
    (void)state;
    make (&scenario, 1000);
    scenario.amount.budget_ns = MS (40);
    mood.work_us = 2000;
    run (&study, 3);
    CHECK_TRUE (study.out_of_time);
    CHECK_U64 (study.replications, >=, 1);
    CHECK_U64 (study.replications, <, 1000);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_U64 (study.policies[i].sum.calls, ==, SAMPLES * (uint64_t)study.replications);
    sim_study_deinit (&study);
    /* A budget that is nothing still gives one replication. */
    make (&scenario, 1000);
    scenario.amount.budget_ns = 1;
    run (&study, 1);
    CHECK_U64 (study.replications, ==, 1);
    CHECK_TRUE (isnan (study.policies[0].mean_ns.half));
    sim_study_deinit (&study);
}

/* As an engine does that looks now and then whether it is to stop. */
static int
endless (const struct sim_run_options *options, struct sim_result *result, char text[SIM_WHY_MAX])
{
    bool is_quick = options->policy == 0 || options->seed == sim_study_seed (1, 0);
    while (!is_quick && !atomic_load (options->stop))
        continue;
    for (int i = 1; i <= 10; i++)
        ti_hist_record (result->latency, MS (i));
    result->requests = result->calls = 10;
    snprintf (text, SIM_WHY_MAX, "stopped");
    return is_quick ? TIED_OK : TIED_ERR_TIMEOUT;
}

static void a_replication_that_is_abandoned_does_not_count_at_all (void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 5; jobs += 2) {
        const struct sim_study_options options = {.jobs = jobs, .runner = endless};
        make (&scenario, 1000);
        scenario.amount.seed = 1;
        scenario.amount.budget_ns = MS (20);
        CHECK_I64 (sim_study_run (&scenario, &options, &study, why), ==, TIED_OK);
        CHECK_TRUE (study.out_of_time);
        CHECK_U64 (study.replications, ==, 1);
        for (uint32_t i = 0; i < 2; i++)
            CHECK_U64 (study.policies[i].sum.calls, ==, 10);
        CHECK_FALSE (sim_study_is_empty (&study, why));
        sim_study_deinit (&study);
        /* Not even one. */
        scenario.amount.seed = 2;
        CHECK_I64 (sim_study_run (&scenario, &options, &study, why), ==, TIED_OK);
        CHECK_TRUE (study.out_of_time);
        CHECK_TRUE (sim_study_is_empty (&study, why));
        CHECK_TRUE (strstr (why, "raise --budget") != NULL);
        CHECK_U64 (study.policies[0].sum.calls, ==, 0);
        sim_study_deinit (&study);
    }
}

static atomic_uint begun;

static bool is_a_third_begun (void)
{
    return atomic_load (&begun) > 4;
}

/* Two replications of two policies end at once, a third one only when it is stopped. */
static int two_and_no_more (const struct sim_run_options *options,
                            struct sim_result *result,
                            char text[SIM_WHY_MAX])
{
    const bool is_quick =
        options->seed == sim_study_seed (1, 0) || options->seed == sim_study_seed (1, 1);
    atomic_fetch_add (&begun, 1);
    while (!is_quick && !atomic_load (options->stop))
        continue;
    for (int i = 1; i <= 10; i++)
        ti_hist_record (result->latency, MS (i));
    result->requests = result->calls = 10;
    snprintf (text, SIM_WHY_MAX, "stopped");
    return is_quick ? TIED_OK : TIED_ERR_TIMEOUT;
}

static void an_interruption_is_like_a_budget_that_is_spent (void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 3; jobs += 2) {
        const struct sim_study_options options = {
            .jobs = jobs, .runner = two_and_no_more, .is_interrupted = is_a_third_begun};
        make (&scenario, 1000);
        scenario.amount.seed = 1;
        atomic_store (&begun, 0);
        CHECK_I64 (sim_study_run (&scenario, &options, &study, why), ==, TIED_OK);
        CHECK_TRUE (study.out_of_time);
        CHECK_U64 (study.replications, <=, 2);
        if (jobs == 1)
            CHECK_U64 (study.replications, ==, 2);
        for (uint32_t i = 0; i < 2; i++)
            CHECK_U64 (study.policies[i].sum.calls, ==, 10 * (uint64_t)study.replications);
        sim_study_deinit (&study);
    }
}

static void no_study_is_begun_after_an_interruption (void **state)
{
    (void)state;
    const double loads[] = {0.3, 0.5, 0.7};
    const struct sim_study_options options = {
        .jobs = 1, .runner = two_and_no_more, .is_interrupted = is_a_third_begun};
    const struct sim_sweep_options sweep = {.loads = loads, .loads_count = 3};
    struct sim_sweep_studies studies;
    make (&scenario, 1000);
    scenario.amount.seed = 1;
    atomic_store (&begun, 0);
    CHECK_I64 (sim_sweep_run (&scenario, &sweep, &options, &studies, why), ==, TIED_OK);
    CHECK_U64 (studies.count, ==, 1);
    CHECK_U64 (studies.studies[0].replications, ==, 2);
    sim_sweep_deinit (&studies);
}

static void the_first_error_is_reported_whatever_the_jobs (void **state)
{
    (void)state;
    for (uint32_t jobs = 1; jobs <= 8; jobs += 7) {
        make (&scenario, 50);
        mood.fails_policy = 1;
        struct sim_study_options options = plain;
        options.jobs = jobs;
        CHECK_I64 (sim_study_run (&scenario, &options, &study, why), ==, TIED_ERR_INVAL);
        CHECK_STR (why, "policy tied cannot");
        CHECK_U64 (runs, <, 100);
    }
    make (&scenario, 0);
    CHECK_I64 (sim_study_run (&scenario, &plain, &study, why), ==, TIED_ERR_INVAL);
    make (&scenario, 1);
    scenario.policies_count = 0;
    CHECK_I64 (sim_study_run (&scenario, &plain, &study, why), ==, TIED_ERR_INVAL);
}

static void a_hedge_percentile_is_that_of_single (void **state)
{
    (void)state;
    make (&scenario, 5);
    scenario.policies[1].kind = SIM_POLICY_HEDGE;
    scenario.policies[1].pick = TIED_PICK_RANDOM;
    scenario.policies[1].hedge_ppm = 950000;
    /* As the scenario's own single chooses. */
    scenario.policies[0].pick_samples = 7;
    run (&study, 1);
    CHECK_U64 (study.policies[1].hedge_ns, ==,
               ti_hist_percentile (study.policies[0].sum.latency, 950000));
    CHECK_U64 (study.policies[0].hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (scenario.policies[1].hedge_ppm, ==, 950000);
    /* 5 of the pilot, 10 of the study. */
    CHECK_U64 (runs, ==, 15);
    sim_study_deinit (&study);
}

static uint64_t told_done, told_all;

static void tell (void *context, uint64_t done, uint64_t all, tied_duration_t left)
{
    (void)left;
    CHECK_PTR (context, ==, &told_done);
    CHECK_U64 (done, >=, told_done);
    CHECK_U64 (done, <=, all);
    told_done = done;
    told_all = all;
}

static void progress_ends_with_everything_done (void **state)
{
    (void)state;
    struct sim_study_options options = plain;
    make (&scenario, 7);
    options.progress = tell;
    options.context = &told_done;
    CHECK_I64 (sim_study_run (&scenario, &options, &study, why), ==, TIED_OK);
    CHECK_U64 (told_done, ==, 14);
    CHECK_U64 (told_all, ==, 14);
    sim_study_deinit (&study);
}

/* 1000 us x 0.99 / (1 - load) <= 4 ms until load 0.7525, and the noise is symmetric. */
static void capacity_is_the_last_load_that_meets_the_goal (void **state)
{
    (void)state;
    struct sim_capacity capacity;
    struct sim_study_options options = plain;
    make (&scenario, 10);
    mood.noise = 0.0001;
    CHECK_I64 (sim_study_capacity (&scenario, &options, 0, 990000, MS (4), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (fabs (capacity.load - 0.75), <, 1e-9);
    CHECK_DBL (capacity.step, ==, 0.01);
    CHECK_DBL (capacity.percentile_ns.value, <=, 4e6);
    options.step = 0.001;
    CHECK_I64 (sim_study_capacity (&scenario, &options, 0, 990000, MS (4), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (fabs (capacity.load - 0.752), <, 0.0011);
    /* tied is twice as fast. */
    options.step = 0;
    CHECK_I64 (sim_study_capacity (&scenario, &options, 1, 990000, MS (4), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (fabs (capacity.load - 0.87), <, 1e-9);
    /* Not even the lowest. */
    CHECK_I64 (sim_study_capacity (&scenario, &options, 0, 990000, US (1), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (capacity.load, ==, 0);
}

/* The mean meets the goal at 0.75 but the upper end of its wide interval does not. */
static void capacity_counts_the_upper_end_of_the_interval (void **state)
{
    (void)state;
    struct sim_capacity capacity;
    make (&scenario, 10);
    mood.noise = 0.5;
    CHECK_I64 (sim_study_capacity (&scenario, &plain, 0, 990000, MS (4), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (capacity.percentile_ns.value + capacity.percentile_ns.half, <=, 4e6);
    CHECK_DBL (capacity.load, <, 0.74);
    CHECK_DBL (capacity.load, >, 0.5);
}

static void calls_without_an_answer_and_unstable_loads_meet_no_goal (void **state)
{
    (void)state;
    struct sim_capacity capacity;
    make (&scenario, 10);
    mood.answered = 0.98;
    CHECK_I64 (sim_study_capacity (&scenario, &plain, 0, 990000, S (9), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (capacity.load, ==, 0);
    CHECK_I64 (sim_study_capacity (&scenario, &plain, 0, 950000, S (9), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (capacity.load, >, 0.9);
    make (&scenario, 10);
    mood.unstable_below = 100;
    CHECK_I64 (sim_study_capacity (&scenario, &plain, 0, 990000, S (9), &capacity, why), ==,
               TIED_OK);
    CHECK_DBL (capacity.load, ==, 0);
    scenario.workload.arrivals = SIM_ARRIVALS_CLOSED;
    CHECK_I64 (sim_study_capacity (&scenario, &plain, 0, 990000, S (9), &capacity, why), ==,
               TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "closed loop") != NULL);
}

static void a_sweep_has_a_study_for_each_load (void **state)
{
    (void)state;
    struct sim_sweep_studies sweep;
    const double loads[] = {0.3, 0.6, 0.9};
    const struct sim_sweep_options options = {.loads = loads, .loads_count = 3};
    make (&scenario, 3);
    scenario.workload.load = 0;
    scenario.workload.rate_per_s = 100;
    CHECK_I64 (sim_sweep_run (&scenario, &options, &plain, &sweep, why), ==, TIED_OK);
    CHECK_U64 (sweep.count, ==, 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_DBL (sweep.studies[i].load, ==, loads[i]);
    /* The same seeds: the latencies differ by the load alone. */
    CHECK_DBL (fabs (sweep.studies[2].policies[0].mean_ns.value /
                         sweep.studies[0].policies[0].mean_ns.value -
                     7),
               <, 1e-3);
    sim_sweep_deinit (&sweep);
}

static void a_grid_makes_all_combinations_and_keeps_the_baseline (void **state)
{
    (void)state;
    static struct sim_grid grid;
    struct sim_sweep_studies sweep;
    const struct sim_sweep_options options = {.grid = &grid};
    memset (&grid, 0, sizeof grid);
    make (&scenario, 2);
    CHECK_I64 (sim_grid_add (&grid, "stagger=auto,0s,1ms,2ms", why), ==, TIED_OK);
    CHECK_I64 (sim_grid_add (&grid, "samples=2,3,4,8,16", why), ==, TIED_OK);
    CHECK_I64 (sim_sweep_run (&scenario, &options, &plain, &sweep, why), ==, TIED_OK);
    /* 20 variants of tied, 15 in the first study; to single no axis applies. */
    CHECK_U64 (sweep.count, ==, 2);
    CHECK_U64 (sweep.studies[0].policies_count, ==, 16);
    CHECK_U64 (sweep.studies[1].policies_count, ==, 6);
    CHECK_STR (sweep.scenarios[0].policies[0].name, "single");
    CHECK_STR (sweep.scenarios[1].policies[0].name, "single");
    CHECK_STR (sweep.scenarios[0].policies[1].name, "tied stagger=auto samples=2");
    CHECK_STR (sweep.scenarios[1].policies[5].name, "tied stagger=2ms samples=16");
    CHECK_U64 (sweep.scenarios[1].policies[5].stagger_ns, ==, MS (2));
    CHECK_U64 (sweep.scenarios[1].policies[5].pick_samples, ==, 16);
    CHECK_U64 (sweep.scenarios[0].policies[1].stagger_ns, ==, TIED_STAGGER_AUTO);
    sim_sweep_deinit (&sweep);
    /* Nothing to change, and too much to change. */
    scenario.policies_count = 1;
    CHECK_I64 (sim_sweep_run (&scenario, &options, &plain, &sweep, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "no policy") != NULL);
    make (&scenario, 2);
    CHECK_I64 (sim_grid_add (&grid, "depth=1,2,3,4,5,6,7,8,9,10,11,12,13,14", why), ==, TIED_OK);
    CHECK_I64 (sim_sweep_run (&scenario, &options, &plain, &sweep, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "256") != NULL);
}

static void a_variant_is_named_by_all_its_values (void **state)
{
    (void)state;
    static struct sim_grid grid;
    static struct sim_policy variants[SIM_GRID_VARIANTS_MAX];
    static const char *const axes[] = {"stagger=1234567.8us", "samples=16", "load_age=12345678.9us",
                                       "hedge=123456.789012ms", "depth=65535,65536"};
    memset (&grid, 0, sizeof grid);
    make (&scenario, 1);
    scenario.policies_count = 1;
    scenario.policies[0].kind = SIM_POLICY_TIED_HEDGE;
    scenario.policies[0].pick = TIED_PICK_INFORMED;
    memset (scenario.policies[0].name, 'x', SIM_NAME_MAX - 1);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_I64 (sim_grid_add (&grid, axes[i], why), ==, TIED_OK);
    CHECK_U64 (sim_grid_variants (&grid, &scenario, variants), ==, 2);
    CHECK_TRUE (strstr (variants[0].name, "x stagger=1234567.8us samples=16 ") != NULL);
    CHECK_TRUE (strstr (variants[0].name, " hedge=123456.789012ms depth=65535") != NULL);
    CHECK_TRUE (strcmp (variants[0].name, variants[1].name) != 0);
}

/* Said before anything is run: no report could show them all. */
static void more_points_than_a_report_holds_are_refused (void **state)
{
    (void)state;
    static struct sim_grid grid;
    struct sim_sweep_studies sweep;
    const double loads[] = {0.3, 0.6, 0.9};
    const struct sim_sweep_options options = {.loads = loads, .loads_count = 3, .grid = &grid};
    memset (&grid, 0, sizeof grid);
    make (&scenario, 2);
    CHECK_I64 (sim_grid_add (&grid, "stagger=0s,1ms,2ms,3ms,4ms,5ms,6ms,7ms,8ms,9ms,10ms", why), ==,
               TIED_OK);
    CHECK_I64 (sim_grid_add (&grid, "samples=2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", why), ==,
               TIED_OK);
    CHECK_I64 (sim_sweep_run (&scenario, &options, &plain, &sweep, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "512") != NULL);
}

static void a_malformed_grid_is_refused (void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "stagger",
                                        "stagger=",
                                        "stagger=1",
                                        "staggers=1ms",
                                        "samples=1",
                                        "samples=x",
                                        "samples=2,,3",
                                        "hedge=p100",
                                        "hedge=p",
                                        "hedge=pnan",
                                        "depth=0",
                                        "load_age=-",
                                        "=1ms",
                                        "stag=1ms",
                                        "samples=65",
                                        "hedge=p0",
                                        "stagger=2h",
                                        "samples=2,",
                                        "samples=2,4,2",
                                        "stagger=1ms,1000us",
                                        "depth=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
    static struct sim_grid grid;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset (&grid, 0, sizeof grid);
        why[0] = '\0';
        if (sim_grid_add (&grid, wrong[i], why) == TIED_OK)
            print_error ("accepted: %s\n", wrong[i]);
        CHECK_I64 (sim_grid_add (&grid, wrong[i], why), ==, TIED_ERR_INVAL);
        CHECK_U64 (strlen (why), >, 10);
        CHECK_TRUE (strchr (why, '\n') == NULL);
    }
    memset (&grid, 0, sizeof grid);
    CHECK_I64 (sim_grid_add (&grid, "hedge=p95,p99.9,5ms", why), ==, TIED_OK);
    CHECK_U64 (grid.values[SIM_GRID_HEDGE][1].value, ==, 999000);
    CHECK_TRUE (grid.values[SIM_GRID_HEDGE][1].is_percentile);
    CHECK_I64 (sim_grid_add (&grid, "hedge=p95", why), ==, TIED_ERR_INVAL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (figures_are_means_over_replications),
        cmocka_unit_test (a_paired_difference_has_less_spread_than_its_parts),
        cmocka_unit_test (any_number_of_jobs_gives_the_same_bits),
        cmocka_unit_test (replications_have_seeds_of_their_own_that_policies_share),
        cmocka_unit_test (a_precision_stops_early_and_never_before_ten),
        cmocka_unit_test (an_unstable_policy_does_not_hold_up_a_precision),
        cmocka_unit_test (unstable_means_more_than_half_of_the_replications),
        cmocka_unit_test (out_of_time_ends_after_a_whole_replication),
        cmocka_unit_test (a_replication_that_is_abandoned_does_not_count_at_all),
        cmocka_unit_test (an_interruption_is_like_a_budget_that_is_spent),
        cmocka_unit_test (no_study_is_begun_after_an_interruption),
        cmocka_unit_test (the_first_error_is_reported_whatever_the_jobs),
        cmocka_unit_test (a_hedge_percentile_is_that_of_single),
        cmocka_unit_test (progress_ends_with_everything_done),
        cmocka_unit_test (capacity_is_the_last_load_that_meets_the_goal),
        cmocka_unit_test (capacity_counts_the_upper_end_of_the_interval),
        cmocka_unit_test (calls_without_an_answer_and_unstable_loads_meet_no_goal),
        cmocka_unit_test (a_sweep_has_a_study_for_each_load),
        cmocka_unit_test (a_grid_makes_all_combinations_and_keeps_the_baseline),
        cmocka_unit_test (a_variant_is_named_by_all_its_values),
        cmocka_unit_test (more_points_than_a_report_holds_are_refused),
        cmocka_unit_test (a_malformed_grid_is_refused),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
