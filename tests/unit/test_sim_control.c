/* SPDX-License-Identifier: MIT */
/*
 * The control loop in the simulator, small: `auto` against fixed delays, its budget, an overload
 * and its end, ties beside hedges, and what a loop must not do when latency jumps. The full figures
 * are in docs/performance.md; here fewer calls and wider tolerances show that they still hold.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "base/util.h"
#include "scenario/policy_text.h"
#include "scenario/read.h"
#include "study/timeline.h"

#define WINDOW S (10)
/* One row for all. */
#define ONE_ROW S (100000)

static struct sim_scenario load (const char *text)
{
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX] = "";
    if (sim_scenario_read_text ("test.yaml", text, strlen (text), &scenario, why))
        fail_msg ("%s", why);
    return scenario;
}

static struct sim_timeline
run (const struct sim_scenario *scenario, uint32_t policy, tied_duration_t step)
{
    const enum sim_policy_kind kind = scenario->policies[policy].kind;
    const struct sim_timeline_options options = {.step_ns = step,
                                                 .window_ns = WINDOW,
                                                 .is_second_free = kind == SIM_POLICY_TIED ||
                                                                   kind == SIM_POLICY_TIED_HEDGE};
    struct sim_timeline timeline;
    char why[SIM_WHY_MAX] = "";
    if (sim_timeline_run (scenario, policy, 1, &options, &timeline, why))
        fail_msg ("%s", why);
    return timeline;
}

/* The whole run as one row. */
static struct sim_timeline_row whole (const struct sim_scenario *scenario, uint32_t policy)
{
    struct sim_timeline timeline = run (scenario, policy, ONE_ROW);
    const struct sim_timeline_row row = timeline.rows[0];
    CHECK_U64 (timeline.rows_count, ==, 1);
    sim_timeline_deinit (&timeline);
    return row;
}

static void auto_finds_what_the_best_fixed_delay_reaches_and_keeps_to_its_budget (void **state)
{
    struct sim_scenario scenario = load ("extends: auto-jitter\n"
                                         "policies: [\"single+hedge:auto@5%\", "
                                         "\"single+hedge:17ms@5%\"]\n"
                                         "amount: {calls: 100000}\n");
    const tied_duration_t delays[] = {MS (14), MS (16), MS (17), MS (18), MS (20), MS (24)};
    tied_duration_t best = TIED_NEVER;
    (void)state;
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        sim_policy_hedge_after (&scenario.policies[1], delays[i]);
        best = ti_min (best, whole (&scenario, 1).p99_9);
    }
    struct sim_timeline timeline = run (&scenario, 0, ONE_ROW);
    CHECK_U64 (timeline.rows[0].p99_9, <=, best * 11 / 10);
    CHECK_DBL (timeline.largest_share, >, 0.03);
    CHECK_DBL (timeline.largest_share, <=, 0.05);
    sim_timeline_deinit (&timeline);
    sim_scenario_deinit (&scenario);
}

/* Load 0.6, 1.2 from 10 s to 20 s; rows are seconds. */
static const char overload[] =
    "extends: overload-steps\n"
    "arrivals: {kind: steps, steps: [[10s, 2], [20s, 1]]}\n"
    "replicas: {count: 4, workers: 4}\n"
    "policies:\n"
    "  - {name: naive, kind: \"single+hedge:20ms\", hedge_depth: 1048576, keep_losers: true}\n"
    "  - {name: governed, kind: \"single+hedge:20ms/governed\", hedge_depth: 1048576,\n"
    "     keep_losers: true, depth_limit: 16}\n"
    "  - {name: budget, kind: \"single+hedge:20ms@5%\", hedge_depth: 1048576, keep_losers: true}\n"
    "  - single+hedge:auto@5%\n"
    "  - tied+hedge:auto@5%\n"
    "amount: {calls: 110000, warm_up: 0, cool_down: 0}\n";

static void an_overload_ends_with_its_cause_where_something_stops_the_hedges (void **state)
{
    struct sim_scenario scenario = load (overload);
    (void)state;
    for (uint32_t i = 0; i < scenario.policies_count; i++) {
        struct sim_timeline timeline = run (&scenario, i, S (1));
        /* Twice the worst second before, or what one copy has: calls wait at load 0.6. */
        const tied_duration_t normal =
            ti_max (MS (150), 2 * sim_timeline_worst_p99 (&timeline, 1, 10));
        const uint32_t calm = sim_timeline_calm_from (&timeline, 10, normal);
        CHECK_U64 (timeline.rows_count, >, 45);
        if (i == 0)
            CHECK_U64 (calm, ==, timeline.rows_count);
        else
            CHECK_U64 (calm, <=, 30);
        sim_timeline_deinit (&timeline);
    }
    sim_scenario_deinit (&scenario);
}

static void a_tie_with_a_hedge_is_no_worse_than_the_better_of_the_two (void **state)
{
    const char *const presets[] = {"hedge-queueing", "hedge-service", "hedge-mixed"};
    (void)state;
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        char text[128];
        (void)snprintf (text, sizeof text, "extends: %s\namount: {calls: 60000}\n", presets[i]);
        struct sim_scenario scenario = load (text);
        CHECK_STR (scenario.policies[1].name, "tied");
        CHECK_STR (scenario.policies[2].name, "single+hedge:auto@5%");
        CHECK_STR (scenario.policies[3].name, "tied+hedge:auto@5%");
        const tied_duration_t tied = whole (&scenario, 1).p99, hedged = whole (&scenario, 2).p99,
                              both = whole (&scenario, 3).p99;
        CHECK_U64 (both, <=, ti_min (tied, hedged) * 105 / 100);
        sim_scenario_deinit (&scenario);
    }
}

/*
 * 2 % of the executions take 200 ms: 111 % of what the replicas can do, and 66 % where the slow
 * ones are hedged in time. Whoever comes into full queues has to find the way out of them, although
 * every call is late there and the latencies say that a hedge is no help.
 */
static void slow_executions_above_capacity_are_hedged_out_of_full_queues (void **state)
{
    struct sim_scenario scenario =
        load ("rate: 1000\n"
              "service: \"bimodal(5ms,200ms,0.02)\"\n"
              "replicas: {count: 2, workers: 4}\n"
              "network: {delay: 60us}\n"
              "policies: [single, \"single+hedge:auto@5%\", \"tied+hedge:auto@5%\"]\n"
              "amount: {calls: 20000, warm_up: 0, cool_down: 0}\n");
    (void)state;
    for (uint32_t i = 0; i < scenario.policies_count; i++) {
        struct sim_timeline timeline = run (&scenario, i, S (1));
        CHECK_U64 (timeline.rows_count, >=, 19);
        const tied_duration_t worst = sim_timeline_worst_p99 (&timeline, 3, 19);
        if (i == 0)
            CHECK_U64 (worst, >, MS (500));
        else
            CHECK_U64 (worst, <=, MS (100));
        CHECK_DBL (timeline.largest_share, <=, 0.05);
        sim_timeline_deinit (&timeline);
    }
    /* 100 ms of all workers' time at once: 1.5 x the load for 3 s, and full queues behind it. */
    sim_scenario_deinit (&scenario);
    scenario = load ("rate: 900\n"
                     "arrivals: {kind: steps, steps: [[5s, 2], [8s, 1]]}\n"
                     "service: \"bimodal(5ms,200ms,0.02)\"\n"
                     "replicas: {count: 2, workers: 4}\n"
                     "network: {delay: 60us}\n"
                     "policies: [\"single+hedge:auto@5%\", \"tied+hedge:auto@5%\"]\n"
                     "amount: {calls: 22000, warm_up: 0, cool_down: 0}\n");
    for (uint32_t i = 0; i < scenario.policies_count; i++) {
        struct sim_timeline timeline = run (&scenario, i, S (1));
        CHECK_U64 (timeline.rows_count, >, 19);
        CHECK_U64 (sim_timeline_worst_p99 (&timeline, 5, 8), >, MS (150));
        CHECK_U64 (sim_timeline_calm_from (&timeline, 8, MS (60)), <=, 16);
        sim_timeline_deinit (&timeline);
    }
    sim_scenario_deinit (&scenario);
}

/* A call is slow because of what it asks for: a copy anew is as slow, and its hedge wins nothing
 * and holds a worker for as long. To find that out costs some of p99, 8 % over forty runs; without
 * an end to the trials it was fourteen times as much. */
static void calls_that_are_slow_by_nature_do_not_fill_the_queues_with_hedges (void **state)
{
    struct sim_scenario scenario = load ("rate: 750\n"
                                         "service: \"bimodal(5ms,200ms,0.02)\"\n"
                                         "copies: identical\n"
                                         "replicas: {count: 2, workers: 4}\n"
                                         "policies: [tied, \"tied+hedge:auto@5%\"]\n"
                                         "amount: {calls: 60000}\n");
    (void)state;
    const tied_duration_t tied = whole (&scenario, 0).p99, both = whole (&scenario, 1).p99;
    CHECK_U64 (both, <=, tied * 5 / 4);
    sim_scenario_deinit (&scenario);
}

/* 5 ms become 205 ms at both replicas; the workers are many enough for that. */
static void BE_08_all_calls_become_slow_at_once_and_are_not_all_hedged (void **state)
{
    struct sim_scenario scenario =
        load ("rate: 1000\n"
              "service: exp(5ms)\n"
              "replicas: {count: 2, workers: 400, slow: {count: 2, factor: 41, at: 15s}}\n"
              "policies: [\"single+hedge:auto@10%\", \"single+hedge:p95@10%\", "
              "\"single+hedge:20ms@10%\"]\n"
              "amount: {calls: 40000, warm_up: 0, cool_down: 0}\n");
    (void)state;
    for (uint32_t i = 0; i < scenario.policies_count; i++) {
        const struct sim_timeline_options options = {.step_ns = S (1), .window_ns = S (1)};
        struct sim_timeline timeline;
        char why[SIM_WHY_MAX] = "";
        CHECK_I64 (sim_timeline_run (&scenario, i, 1, &options, &timeline, why), ==, 0);
        /* The budget, and the ten copies that it may have saved up. */
        CHECK_DBL (timeline.largest_share, <=, 0.11 + 0.002);
        CHECK_U64 (timeline.rows[14].p99, <, MS (60));
        CHECK_U64 (timeline.rows[17].p99, >, MS (500));
        sim_timeline_deinit (&timeline);
    }
    sim_scenario_deinit (&scenario);
}

static void BE_09_at_90_percent_hedging_answers_as_many_in_time (void **state)
{
    struct sim_scenario scenario = load ("load: 0.9\n"
                                         "service: exp(5ms)\n"
                                         "jitter: {share: 1%, factor: 15}\n"
                                         "deadline: 100ms\n"
                                         "replicas: {count: 10, workers: 4}\n"
                                         "policies: [single, \"single+hedge:auto\", "
                                         "\"single+hedge:p95\", tied, \"tied+hedge:auto\"]\n"
                                         "amount: {calls: 100000}\n");
    (void)state;
    const uint64_t single = whole (&scenario, 0).requests, tied = whole (&scenario, 3).requests;
    CHECK_U64 (whole (&scenario, 1).requests, >=, single);
    CHECK_U64 (whole (&scenario, 2).requests, >=, single);
    CHECK_U64 (tied, >=, single);
    /* Hardly any call is late with a tie: what a hedge changes is noise. */
    CHECK_U64 (whole (&scenario, 4).requests, >=, tied - tied / 1000);
    sim_scenario_deinit (&scenario);
}

/* Seconds of a share of hedges above twice, or below half, of what it is in the end. */
static uint32_t swings (const struct sim_timeline *timeline, uint32_t from)
{
    uint64_t extra = 0, copies = 0;
    uint32_t count = 0;
    for (uint32_t i = from; i < timeline->rows_count - 1; i++) {
        extra += timeline->rows[i].extra;
        copies += timeline->rows[i].copies;
    }
    const double mean = (double)extra / (double)copies;
    for (uint32_t i = from; i < timeline->rows_count - 1; i++) {
        const double share = (double)timeline->rows[i].extra / (double)timeline->rows[i].copies;
        count += share > 2 * mean || share < mean / 2;
    }
    return count;
}

static void BE_04_a_sudden_doubling_of_latency_settles_and_does_not_swing (void **state)
{
    struct sim_scenario scenario = load (
        "rate: 1000\n"
        "service: exp(5ms)\n"
        "jitter: {share: 1%, factor: 15}\n"
        "replicas: {count: 4, workers: 10, slow: {count: 4, factor: 2, at: 20s}}\n"
        "policies: [\"single+hedge:auto@5%\", \"single+hedge:p95@10%\", \"tied+hedge:auto@5%\"]\n"
        "amount: {calls: 70000, warm_up: 0, cool_down: 0}\n");
    (void)state;
    for (uint32_t i = 0; i < scenario.policies_count; i++) {
        struct sim_timeline timeline = run (&scenario, i, S (1));
        /* One window of 10 s after the step it has learned all there is. */
        const tied_duration_t later = sim_timeline_worst_p99 (&timeline, 31, 69),
                              before = sim_timeline_worst_p99 (&timeline, 10, 20);
        CHECK_U64 (timeline.rows_count, >, 65);
        CHECK_U64 (swings (&timeline, 31), <=, 1);
        CHECK_U64 (later, <=, before * 3);
        CHECK_DBL (timeline.largest_share, <=, 0.1);
        sim_timeline_deinit (&timeline);
    }
    sim_scenario_deinit (&scenario);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (auto_finds_what_the_best_fixed_delay_reaches_and_keeps_to_its_budget),
        cmocka_unit_test (an_overload_ends_with_its_cause_where_something_stops_the_hedges),
        cmocka_unit_test (a_tie_with_a_hedge_is_no_worse_than_the_better_of_the_two),
        cmocka_unit_test (slow_executions_above_capacity_are_hedged_out_of_full_queues),
        cmocka_unit_test (calls_that_are_slow_by_nature_do_not_fill_the_queues_with_hedges),
        cmocka_unit_test (BE_08_all_calls_become_slow_at_once_and_are_not_all_hedged),
        cmocka_unit_test (BE_09_at_90_percent_hedging_answers_as_many_in_time),
        cmocka_unit_test (BE_04_a_sudden_doubling_of_latency_settles_and_does_not_swing),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
