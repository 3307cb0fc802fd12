/* SPDX-License-Identifier: MIT */
/*
 * The reference policies against queueing theory, and against small loads that can be followed by
 * hand. Service has mean 10 ms; figures of theory are multiples of it. Seeds are fixed; tolerances
 * are about 3 standard deviations of the mean, found from ten seeds.
 */
#include "check.h"

#include <stdio.h>

#include "reference/reference.h"
#include "workload/demand.h"

#include <tied/error.h>

#define MEAN MS (10)

struct setting {
    enum sim_policy_kind kind;
    uint32_t d;
    uint32_t replicas, workers;
    double load;
    uint64_t calls;
};

static void make (struct sim_scenario *scenario, const struct setting *setting)
{
    sim_scenario_init (scenario);
    scenario->replicas.count = setting->replicas;
    scenario->replicas.workers = setting->workers ? setting->workers : 1;
    scenario->workload.load = setting->load;
    scenario->network.client.fixed_ns = 0;
    scenario->amount.calls = setting->calls;
    scenario->policies[0] = (struct sim_policy){.kind = setting->kind, .d = setting->d};
    scenario->policies_count = 1;
}

/* Service of 10 ms for requests at these times, none of them left out. */
static void make_by_hand (struct sim_scenario *scenario,
                          enum sim_policy_kind kind,
                          uint32_t replicas,
                          const uint64_t *times_ms,
                          uint64_t count)
{
    make (scenario, &(struct setting){.kind = kind, .replicas = replicas, .calls = count});
    struct sim_workload *workload = &scenario->workload;
    workload->arrivals = SIM_ARRIVALS_TRACE;
    workload->load = 0;
    workload->service = (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MEAN};
    workload->times.values = malloc (count * sizeof *workload->times.values);
    CHECK_PTR (workload->times.values, !=, NULL);
    for (uint64_t i = 0; i < count; i++)
        workload->times.values[i] = MS (times_ms[i]);
    workload->times.count = count;
    scenario->amount.warm_up = 0;
    scenario->amount.cool_down = 0;
}

static void run_watched (const struct sim_scenario *scenario,
                         uint64_t seed,
                         const struct sim_watch *watch,
                         struct sim_result *result)
{
    char why[SIM_WHY_MAX] = "";
    const struct sim_run_options options = {.scenario = scenario, .seed = seed, .watch = watch};
    CHECK_I64 (sim_result_init (result), ==, 0);
    CHECK_I64 (sim_reference_run (&options, result, why), ==, 0);
    CHECK_STR (why, "");
}

static void run (const struct sim_scenario *scenario, uint64_t seed, struct sim_result *result)
{
    run_watched (scenario, seed, NULL, result);
}

static double mean_of (const struct sim_result *result)
{
    return result->latency_sum_ns / (double)result->latency->total / (double)MEAN;
}

static double percentile_of (const struct sim_result *result, uint32_t ppm)
{
    return (double)ti_hist_percentile (result->latency, ppm) / (double)MEAN;
}

/* What every run without refusals must satisfy. */
static void check_accounts (const struct sim_result *result)
{
    CHECK_U64 (result->requests, ==, result->latency->total);
    CHECK_U64 (result->outcomes[TIED_OUTCOME_OK], ==, result->calls);
    CHECK_U64 (result->executions, >=, result->calls);
    CHECK_U64 (result->executions, <=, result->copies);
    CHECK_U64 (result->busy_ns, <=, result->span_ns * result->workers);
    CHECK_U64 (result->wasted_ns, <=, result->served_ns);
}

struct want {
    double mean, within; /* a share of the mean */
};

static void check_mean (const struct setting *setting, struct want want)
{
    struct sim_scenario scenario;
    struct sim_result result;
    make (&scenario, setting);
    run (&scenario, 1, &result);
    check_accounts (&result);
    const double mean = mean_of (&result);
    CHECK_DBL (mean, >, want.mean * (1 - want.within));
    CHECK_DBL (mean, <, want.mean * (1 + want.within));
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

/* ---- theory ---- */

static void one_server_is_m_m_1 (void **state)
{
    (void)state;
    const enum sim_policy_kind kinds[] = {SIM_POLICY_JSQ, SIM_POLICY_IDEAL_COS,
                                          SIM_POLICY_IDEAL_COC, SIM_POLICY_CENTRAL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        check_mean (&(struct setting){kinds[i], 1, 1, 1, .5, 200000}, (struct want){2, .025});
}

static void random_choice_is_m_m_1_at_each_of_ten (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_JSQ, 1, 10, 1, .7, 300000});
    run (&scenario, 1, &result);
    check_accounts (&result);
    CHECK_DBL (mean_of (&result), >, 3.3333 * .97);
    CHECK_DBL (mean_of (&result), <, 3.3333 * 1.03);
    CHECK_DBL (percentile_of (&result, TI_HIST_P99), >, 15.35 * .96);
    CHECK_DBL (percentile_of (&result, TI_HIST_P99), <, 15.35 * 1.04);
    /* Busy for the load, and by Little's law as many waiting as rate x wait. */
    const double span = (double)result.span_ns;
    CHECK_DBL ((double)result.busy_ns / span / 10, >, .7 * .99);
    CHECK_DBL ((double)result.busy_ns / span / 10, <, .7 * 1.01);
    const double waiting = (double)result.depth_area / span / 10;
    CHECK_DBL (waiting, >, .7 * 2.3333 * .97);
    CHECK_DBL (waiting, <, .7 * 2.3333 * 1.03);
    CHECK_U64 (result.wasted_ns, ==, 0);
    CHECK_U64 (result.duplicates, ==, 0);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

static void central_queue_is_m_m_c (void **state)
{
    (void)state;
    check_mean (&(struct setting){SIM_POLICY_CENTRAL, 0, 2, 1, .5, 200000},
                (struct want){1.333333, .01});
    check_mean (&(struct setting){SIM_POLICY_CENTRAL, 0, 4, 1, .7, 200000},
                (struct want){1.357212, .01});
    check_mean (&(struct setting){SIM_POLICY_CENTRAL, 0, 10, 1, .9, 300000},
                (struct want){1.668732, .03});
}

static void central_queue_counts_workers_and_not_replicas (void **state)
{
    (void)state;
    check_mean (&(struct setting){SIM_POLICY_CENTRAL, 0, 2, 5, .7, 200000},
                (struct want){1.073910, .01});
    /* And a server of two workers is M/M/2. */
    check_mean (&(struct setting){SIM_POLICY_JSQ, 1, 3, 2, .7, 300000},
                (struct want){1.960784, .02});
}

static void cancel_on_start_meets_its_exact_means (void **state)
{
    (void)state;
    check_mean (&(struct setting){SIM_POLICY_IDEAL_COS, 2, 3, 1, .5, 300000},
                (struct want){1.244444, .01});
    check_mean (&(struct setting){SIM_POLICY_IDEAL_COS, 3, 10, 1, .7, 300000},
                (struct want){1.218765, .01});
    check_mean (&(struct setting){SIM_POLICY_IDEAL_COS, 10, 10, 1, .7, 300000},
                (struct want){1.073910, .01});
}

static void cancel_on_start_meets_its_percentiles_and_runs_once (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_IDEAL_COS, 2, 10, 1, .7, 300000});
    run (&scenario, 1, &result);
    check_accounts (&result);
    CHECK_DBL (percentile_of (&result, TI_HIST_P50), >, 1.1383 * .99);
    CHECK_DBL (percentile_of (&result, TI_HIST_P50), <, 1.1383 * 1.01);
    CHECK_DBL (percentile_of (&result, TI_HIST_P99), >, 5.4799 * .98);
    CHECK_DBL (percentile_of (&result, TI_HIST_P99), <, 5.4799 * 1.02);
    CHECK_U64 (result.executions, ==, result.calls);
    CHECK_U64 (result.copies, ==, 2 * result.calls);
    CHECK_U64 (result.cancels.sent, ==, result.calls);
    CHECK_U64 (result.cancels.effective, ==, result.calls);
    CHECK_U64 (result.wasted_ns, ==, 0);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

static void cancel_on_completion_meets_its_exact_means (void **state)
{
    (void)state;
    check_mean (&(struct setting){SIM_POLICY_IDEAL_COC, 2, 3, 1, .5, 300000},
                (struct want){.888889, .01});
    check_mean (&(struct setting){SIM_POLICY_IDEAL_COC, 2, 10, 1, .7, 300000},
                (struct want){1.101627, .015});
    check_mean (&(struct setting){SIM_POLICY_IDEAL_COC, 3, 3, 1, .5, 300000},
                (struct want){1 / (3 * .5), .01});
}

/* Independent exponential copies cost exactly one service of server time for each call. */
static void cancel_on_completion_costs_no_server_time (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_IDEAL_COC, 2, 10, 1, .7, 200000});
    run (&scenario, 1, &result);
    check_accounts (&result);
    const double busy = (double)result.busy_ns / (double)result.span_ns / 10;
    CHECK_DBL (busy, >, .7 * .99);
    CHECK_DBL (busy, <, .7 * 1.01);
    CHECK_U64 (result.wasted_ns, >, 0);
    CHECK_U64 (result.cancels.client_sent, ==, result.calls);
    CHECK_U64 (result.cancels.client_queued + result.cancels.client_running, ==, result.calls);
    CHECK_U64 (result.cancels.client_running, ==, result.duplicates);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

/* n = 3, d = 2: the load that identical copies stand ends at 2/3, that of independent ones at 1. */
static void identical_copies_diverge_above_two_thirds (void **state)
{
    const struct {
        enum sim_copies copies;
        double load;
        bool is_unstable;
    } cases[] = {{SIM_COPIES_IDENTICAL, .6, false},
                 {SIM_COPIES_IDENTICAL, .72, true},
                 {SIM_COPIES_INDEPENDENT, .72, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_scenario scenario;
        struct sim_result result;
        make (&scenario, &(struct setting){SIM_POLICY_IDEAL_COC, 2, 3, 1, cases[i].load, 200000});
        scenario.workload.copies = cases[i].copies;
        run (&scenario, 1, &result);
        CHECK_I64 (result.is_unstable, ==, cases[i].is_unstable);
        if (cases[i].copies == SIM_COPIES_IDENTICAL && !cases[i].is_unstable) {
            CHECK_DBL (mean_of (&result), >, 5.99 * .9);
            CHECK_DBL (mean_of (&result), <, 5.99 * 1.1);
        }
        sim_result_deinit (&result);
        sim_scenario_deinit (&scenario);
    }
}

static void shortest_of_two_meets_the_mean_field (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_JSQ, 2, 200, 1, .7, 300000});
    run (&scenario, 1, &result);
    check_accounts (&result);
    CHECK_DBL (mean_of (&result), >, 1.6144 * .99);
    CHECK_DBL (mean_of (&result), <, 1.6144 * 1.01);
    CHECK_DBL (percentile_of (&result, TI_HIST_P99), >, 6.561 * .98);
    CHECK_DBL (percentile_of (&result, TI_HIST_P99), <, 6.561 * 1.02);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

/* The more is looked at, the better; all of them is still worse than one common queue. */
static void shortest_of_all_lies_between_three_and_the_central_queue (void **state)
{
    const struct setting settings[] = {{SIM_POLICY_JSQ, 3, 20, 1, .9, 300000},
                                       {SIM_POLICY_JSQ, 20, 20, 1, .9, 300000},
                                       {SIM_POLICY_CENTRAL, 0, 20, 1, .9, 300000}};
    double means[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sim_scenario scenario;
        struct sim_result result;
        make (&scenario, &settings[i]);
        run (&scenario, 1, &result);
        means[i] = mean_of (&result);
        sim_result_deinit (&result);
        sim_scenario_deinit (&scenario);
    }
    CHECK_DBL (means[1], <, means[0] * .9);
    CHECK_DBL (means[2], <, means[1] * .95);
}

/* M/M/1/4: one runs, three wait. */
static void full_queue_refuses_as_m_m_1_k_says (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_JSQ, 1, 1, 1, .7, 200000});
    scenario.replicas.queue_depth = 3;
    run (&scenario, 1, &result);
    const double refused = (double)result.rejections / (double)result.calls;
    CHECK_DBL (refused, >, .086582 * .97);
    CHECK_DBL (refused, <, .086582 * 1.03);
    CHECK_U64 (result.outcomes[TIED_OUTCOME_REJECTED], ==, result.rejections);
    CHECK_DBL (mean_of (&result), >, 2.06948 * .98);
    CHECK_DBL (mean_of (&result), <, 2.06948 * 1.02);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

/* ---- by hand ---- */

/* Copies go out in twos until a server says that its queue is not empty. The clone of the third
 * call finds a queue and is dropped. */
static void netclone_sends_one_copy_when_a_server_is_busy (void **state)
{
    const uint64_t times[] = {0, 1, 2, 11};
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make_by_hand (&scenario, SIM_POLICY_NETCLONE, 2, times, 4);
    run (&scenario, 1, &result);
    CHECK_U64 (result.copies, ==, 2 + 2 + 2 + 1);
    CHECK_U64 (result.rejections, ==, 1);
    CHECK_U64 (result.executions, ==, 6);
    CHECK_U64 (result.duplicates, ==, 2);
    CHECK_U64 (result.wasted_ns, ==, 2 * MEAN);
    CHECK_U64 (result.outcomes[TIED_OUTCOME_OK], ==, 4);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

static void laedge_sends_as_many_copies_as_servers_are_idle (void **state)
{
    const uint64_t times[] = {0, 1, 2};
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make_by_hand (&scenario, SIM_POLICY_LAEDGE, 3, times, 3);
    run (&scenario, 1, &result);
    CHECK_U64 (result.copies, ==, 2 + 1 + 1);
    CHECK_U64 (result.duplicates, ==, 1);
    CHECK_U64 (result.wasted_ns, ==, MEAN);
    CHECK_DBL (result.latency_sum_ns, ==, (double)(MS (10) + MS (10) + MS (18)));
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
    make_by_hand (&scenario, SIM_POLICY_LAEDGE, 2, times, 1);
    run (&scenario, 1, &result);
    CHECK_U64 (result.copies, ==, 2);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

static void delays_are_those_of_the_way (void **state)
{
    /* In one-way delays. LAEDGE's coordinator is a host of its own; ideals know no way. */
    const struct {
        enum sim_policy_kind kind;
        uint64_t ways;
    } cases[] = {{SIM_POLICY_CENTRAL, 2},   {SIM_POLICY_JSQ, 2},      {SIM_POLICY_LAEDGE, 4},
                 {SIM_POLICY_NETCLONE, 2},  {SIM_POLICY_PREQUAL, 2},  {SIM_POLICY_C3, 2},
                 {SIM_POLICY_IDEAL_COS, 0}, {SIM_POLICY_IDEAL_COC, 0}};
    const uint64_t times[] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_scenario scenario;
        struct sim_result result;
        make_by_hand (&scenario, cases[i].kind, 4, times, 1);
        scenario.network.client.fixed_ns = US (51);
        run (&scenario, 1, &result);
        CHECK_DBL (result.latency_sum_ns, ==, (double)(MEAN + cases[i].ways * US (51)));
        sim_result_deinit (&result);
        sim_scenario_deinit (&scenario);
    }
}

static void of_two_idle_servers_one_starts (void **state)
{
    const uint64_t times[] = {0};
    struct sim_scenario scenario;
    struct sim_result result;
    (void)state;
    make_by_hand (&scenario, SIM_POLICY_IDEAL_COS, 2, times, 1);
    run (&scenario, 1, &result);
    CHECK_U64 (result.executions, ==, 1);
    CHECK_U64 (result.cancels.effective, ==, 1);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

/* The second call starts in time and ends too late, the third would start too late, and the fourth
 * finds an idle server for that. */
static void call_past_its_deadline_is_not_started (void **state)
{
    const uint64_t times[] = {0, 1, 2, 25};
    const enum sim_policy_kind kinds[] = {SIM_POLICY_CENTRAL, SIM_POLICY_JSQ, SIM_POLICY_LAEDGE,
                                          SIM_POLICY_IDEAL_COS};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sim_scenario scenario;
        struct sim_result result;
        make_by_hand (&scenario, kinds[i], 1, times, 4);
        scenario.workload.deadline_ns = MS (15);
        run (&scenario, 1, &result);
        CHECK_U64 (result.outcomes[TIED_OUTCOME_OK], ==, 2);
        CHECK_U64 (result.outcomes[TIED_OUTCOME_DEADLINE], ==, 2);
        CHECK_DBL (result.latency_sum_ns, ==, (double)(2 * MEAN));
        CHECK_U64 (result.executions, ==, 3);
        sim_result_deinit (&result);
        sim_scenario_deinit (&scenario);
    }
}

/* ---- the balancers of papers ---- */

static double p99_of (enum sim_policy_kind kind, uint32_t d, uint32_t clients, double *mean)
{
    struct sim_scenario scenario;
    struct sim_result result;
    make (&scenario, &(struct setting){kind, d, 100, 1, .7, 150000});
    scenario.clients = clients;
    scenario.network.client.fixed_ns = US (50);
    run (&scenario, 1, &result);
    check_accounts (&result);
    CHECK_U64 (result.executions, ==, result.calls);
    if (kind == SIM_POLICY_PREQUAL)
        CHECK_U64 (result.probes, ==, 3 * result.all_calls);
    const double p99 = percentile_of (&result, TI_HIST_P99);
    *mean = mean_of (&result);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
    return p99;
}

static void prequal_and_c3_beat_random_choice (void **state)
{
    const uint32_t clients[] = {1, 20};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double random_mean, prequal_mean, c3_mean, best_mean;
        const double random = p99_of (SIM_POLICY_JSQ, 1, clients[i], &random_mean);
        const double prequal = p99_of (SIM_POLICY_PREQUAL, 0, clients[i], &prequal_mean);
        const double c3 = p99_of (SIM_POLICY_C3, 0, clients[i], &c3_mean);
        const double best = p99_of (SIM_POLICY_CENTRAL, 0, clients[i], &best_mean);
        print_message ("%u clients, mean/p99: random %.3f/%.2f prequal %.3f/%.2f c3 %.3f/%.2f "
                       "central %.3f/%.2f\n",
                       clients[i], random_mean, random, prequal_mean, prequal, c3_mean, c3,
                       best_mean, best);
        CHECK_DBL (prequal, <, .6 * random);
        CHECK_DBL (c3, <, .6 * random);
        CHECK_DBL (prequal_mean, >, best_mean);
        CHECK_DBL (c3_mean, >, best_mean);
    }
}

static void netclone_clones_less_the_more_is_to_do (void **state)
{
    double shares[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sim_scenario scenario;
        struct sim_result result;
        make (&scenario, &(struct setting){SIM_POLICY_NETCLONE, 0, 6, 1, i ? .7 : .1, 100000});
        run (&scenario, 1, &result);
        check_accounts (&result);
        shares[i] = (double)(result.copies - result.calls) / (double)result.calls;
        sim_result_deinit (&result);
        sim_scenario_deinit (&scenario);
    }
    CHECK_DBL (shares[0], >, .6);
    CHECK_DBL (shares[1], <, .3);
}

/* ---- fairness with the world ---- */

struct seen {
    uint64_t started_at, ended_at;
    int server, client;
    unsigned int starts;
};

static void see (void *context, const struct sim_note *note)
{
    struct seen *seen = context;
    if (strcmp (note->what, "starts") == 0) {
        seen->started_at = note->at;
        seen->server = note->to;
        seen->starts++;
    } else if (strcmp (note->what, "ends") == 0) {
        seen->ended_at = note->at;
    } else if (strcmp (note->what, "submits") == 0) {
        seen->client = -1 - note->from;
    }
}

/* For each policy that runs a call once: what a call costs is the draw of (call, replica). */
static void demands_are_the_draws_of_call_and_replica (void **state)
{
    const enum sim_policy_kind kinds[] = {SIM_POLICY_CENTRAL, SIM_POLICY_JSQ, SIM_POLICY_PREQUAL,
                                          SIM_POLICY_C3};
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct sim_scenario scenario;
        make (&scenario, &(struct setting){kinds[kind], 2, 5, 1, .7, 200});
        for (uint64_t call = 100; call < 110; call++) {
            struct sim_result result;
            struct seen seen = {.server = -1};
            const struct sim_watch watch = {.context = &seen, .call = call, .note = see};
            run_watched (&scenario, 7, &watch, &result);
            CHECK_U64 (seen.starts, ==, 1);
            CHECK_I64 (seen.server, >=, 0);
            CHECK_U64 (seen.ended_at - seen.started_at, ==,
                       sim_demand (&scenario.workload, 7, call, (uint32_t)seen.server, 0));
            sim_result_deinit (&result);
        }
        sim_scenario_deinit (&scenario);
    }
}

static void clients_stay_within_their_group (void **state)
{
    const enum sim_policy_kind kinds[] = {SIM_POLICY_JSQ, SIM_POLICY_NETCLONE, SIM_POLICY_PREQUAL,
                                          SIM_POLICY_C3};
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        struct sim_scenario scenario;
        make (&scenario, &(struct setting){kinds[kind], 2, 10, 1, .7, 200});
        scenario.replicas.subset = 4; /* groups of 4, 4 and 2 */
        scenario.clients = 6;
        unsigned int groups = 0;
        for (uint64_t call = 100; call < 130; call++) {
            struct sim_result result;
            struct seen seen = {.server = -1};
            const struct sim_watch watch = {.context = &seen, .call = call, .note = see};
            run_watched (&scenario, 7, &watch, &result);
            CHECK_I64 (seen.server / 4, ==, seen.client % 3);
            groups |= 1u << (seen.server / 4);
            sim_result_deinit (&result);
        }
        CHECK_U64 (groups, ==, 7);
        sim_scenario_deinit (&scenario);
    }
}

/* A request of four calls ends with the last of them, or with the third if three are enough. */
static void fan_out_takes_the_slowest_or_enough (void **state)
{
    double means[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sim_scenario scenario;
        struct sim_result result;
        make (&scenario, &(struct setting){SIM_POLICY_JSQ, 100, 100, 1, .05, 30000});
        scenario.workload.fan_out = 4;
        scenario.workload.fan_out_needed = i ? 3 : 0;
        run (&scenario, 1, &result);
        CHECK_U64 (result.requests, ==, 30000);
        CHECK_U64 (result.calls, ==, 120000);
        means[i] = mean_of (&result);
        sim_result_deinit (&result);
        sim_scenario_deinit (&scenario);
    }
    /* No queues at such a load: harmonic numbers. */
    CHECK_DBL (means[0], >, 2.0833 * .99);
    CHECK_DBL (means[0], <, 2.0833 * 1.01);
    CHECK_DBL (means[1], >, 1.0833 * .99);
    CHECK_DBL (means[1], <, 1.0833 * 1.01);
}

static void same_seed_gives_the_same_result (void **state)
{
    (void)state;
    for (int kind = SIM_POLICY_CENTRAL; kind < SIM_POLICY_KINDS; kind++) {
        struct sim_scenario scenario;
        struct sim_result first, again, other;
        make (&scenario, &(struct setting){(enum sim_policy_kind)kind, 2, 10, 1, .8, 5000});
        scenario.clients = 4;
        scenario.workload.deadline_ns = MS (200);
        scenario.replicas.queue_depth = 20;
        scenario.network.client =
            (struct sim_delay){.fixed_ns = US (50),
                               .extra = {.kind = TI_DIST_EXP, .a_ns = US (20)},
                               .has_extra = true};
        run (&scenario, 3, &first);
        run (&scenario, 3, &again);
        run (&scenario, 4, &other);
        CHECK_TRUE (sim_result_equal (&first, &again));
        CHECK_U64 (first.trace_hash, !=, other.trace_hash);
        CHECK_U64 (first.trace_hash, !=, 0);
        sim_result_deinit (&first);
        sim_result_deinit (&again);
        sim_result_deinit (&other);
        sim_scenario_deinit (&scenario);
    }
}

struct sum {
    uint64_t count, latency;
};

static void add (void *context, uint64_t request, tied_time_t came, tied_duration_t latency)
{
    struct sum *sum = context;
    (void)request;
    (void)came;
    sum->count++;
    sum->latency += latency;
}

static void watcher_hears_of_every_measured_request (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    struct sum sum = {0};
    const struct sim_watch watch = {.context = &sum, .ended = add, .call = UINT64_MAX};
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_LAEDGE, 0, 10, 1, .7, 2000});
    scenario.workload.fan_out = 2;
    run_watched (&scenario, 1, &watch, &result);
    CHECK_U64 (sum.count, ==, 2000);
    CHECK_DBL ((double)sum.latency, ==, result.latency_sum_ns);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

static void what_it_cannot_run_is_refused_with_the_reason (void **state)
{
    struct sim_scenario scenario;
    struct sim_result result;
    char why[SIM_WHY_MAX] = "";
    struct sim_run_options options = {.scenario = &scenario, .seed = 1};
    (void)state;
    make (&scenario, &(struct setting){SIM_POLICY_JSQ, 2, 10, 1, .7, 100});
    (void)snprintf (scenario.policies[0].name, sizeof scenario.policies[0].name, "shortest");
    CHECK_I64 (sim_result_init (&result), ==, 0);
    scenario.network.loss = .01;
    CHECK_I64 (sim_run (&options, &result, why), ==, TIED_ERR_INVAL);
    CHECK_PTR (strstr (why, "shortest"), !=, NULL);
    CHECK_PTR (strstr (why, "0.01"), !=, NULL);
    scenario.network.loss = 0;
    scenario.network.break_gap_ns = S (1);
    CHECK_I64 (sim_run (&options, &result, why), ==, TIED_ERR_INVAL);
    CHECK_PTR (strstr (why, "breaks"), !=, NULL);
    scenario.network.break_gap_ns = 0;
    scenario.policies[0].kind = SIM_POLICY_C3;
    scenario.clients = 4096;
    scenario.replicas.count = 16384;
    CHECK_I64 (sim_reference_run (&options, &result, why), ==, TIED_ERR_INVAL);
    CHECK_PTR (strstr (why, "subset"), !=, NULL);
    make (&scenario, &(struct setting){SIM_POLICY_CENTRAL, 0, 2, 1, 0, 100});
    scenario.workload.rate_per_s = 100;
    scenario.replicas.speeds[0] = 1e-12;
    scenario.replicas.speeds_count = 1;
    CHECK_I64 (sim_reference_run (&options, &result, why), ==, TIED_ERR_INVAL);
    CHECK_PTR (strstr (why, "never end"), !=, NULL);
    sim_result_deinit (&result);
    sim_scenario_deinit (&scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (one_server_is_m_m_1),
        cmocka_unit_test (random_choice_is_m_m_1_at_each_of_ten),
        cmocka_unit_test (central_queue_is_m_m_c),
        cmocka_unit_test (central_queue_counts_workers_and_not_replicas),
        cmocka_unit_test (cancel_on_start_meets_its_exact_means),
        cmocka_unit_test (cancel_on_start_meets_its_percentiles_and_runs_once),
        cmocka_unit_test (cancel_on_completion_meets_its_exact_means),
        cmocka_unit_test (cancel_on_completion_costs_no_server_time),
        cmocka_unit_test (identical_copies_diverge_above_two_thirds),
        cmocka_unit_test (shortest_of_two_meets_the_mean_field),
        cmocka_unit_test (shortest_of_all_lies_between_three_and_the_central_queue),
        cmocka_unit_test (full_queue_refuses_as_m_m_1_k_says),
        cmocka_unit_test (netclone_sends_one_copy_when_a_server_is_busy),
        cmocka_unit_test (laedge_sends_as_many_copies_as_servers_are_idle),
        cmocka_unit_test (delays_are_those_of_the_way),
        cmocka_unit_test (of_two_idle_servers_one_starts),
        cmocka_unit_test (call_past_its_deadline_is_not_started),
        cmocka_unit_test (prequal_and_c3_beat_random_choice),
        cmocka_unit_test (netclone_clones_less_the_more_is_to_do),
        cmocka_unit_test (demands_are_the_draws_of_call_and_replica),
        cmocka_unit_test (clients_stay_within_their_group),
        cmocka_unit_test (fan_out_takes_the_slowest_or_enough),
        cmocka_unit_test (same_seed_gives_the_same_result),
        cmocka_unit_test (watcher_hears_of_every_measured_request),
        cmocka_unit_test (what_it_cannot_run_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests_name ("sim_reference", tests, NULL, NULL);
}
