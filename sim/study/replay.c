/* SPDX-License-Identifier: MIT */
/* The scenario of a recording, and what a hedge at each delay is worth. */
#include "study/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "engine/stream.h"
#include "scenario/policy_text.h"
#include "workload/arrivals.h"
#include "workload/demand.h"

#include <tied/error.h>

#define WARM_UP   0.1
#define COOL_DOWN 0.05
/* Calls that hedges are weighed with, over all rounds. */
#define CALLS_MAX 10000000u

static const char *const policies[] = {"single",    "tied",      "hedge/p50",     "hedge/p90",
                                       "hedge/p95", "hedge/p99", "tied-hedge/p95"};
#define POLICIES (sizeof policies / sizeof policies[0])

static int no_memory (char why[SIM_WHY_MAX])
{
    (void)snprintf (why, SIM_WHY_MAX, "out of memory");
    return TIED_ERR_SYSTEM;
}

static int add_policies (struct sim_scenario *scenario, char why[SIM_WHY_MAX])
{
    char text[SIM_POLICY_WHY_MAX];

    for (size_t i = 0; i < POLICIES; i++) {
        if (sim_policy_parse (policies[i], &scenario->policies[i], text) != 0) {
            (void)snprintf (why, SIM_WHY_MAX, "%s", text);
            return TIED_ERR_INVAL;
        }
    }
    scenario->policies_count = POLICIES;
    return TIED_OK;
}

static int check_replicas (const struct sim_recording *recording,
                           const struct sim_replay_options *options,
                           char why[SIM_WHY_MAX])
{
    if (options->replicas > 1)
        return TIED_OK;
    if (options->replicas == 0 && recording->replicas > 1)
        return TIED_OK;
    (void)snprintf (why, SIM_WHY_MAX,
                    options->replicas == 0 && recording->replicas == 0
                        ? "the recording names no replicas: give --replicas"
                        : "a tie needs two replicas and there is one: give the recordings of the "
                          "others as well, or --replicas");
    return TIED_ERR_INVAL;
}

int sim_replay_scenario (struct sim_recording *recording,
                         const struct sim_replay_options *options,
                         struct sim_scenario *out,
                         char why[SIM_WHY_MAX])
{
    const uint64_t calls = recording->times.count;
    struct sim_scenario scenario;
    int rc = check_replicas (recording, options, why);

    if (rc != 0)
        return rc;
    sim_scenario_init (&scenario);
    rc = add_policies (&scenario, why);
    if (rc != 0)
        return rc;
    (void)snprintf (scenario.name, sizeof scenario.name, "replay");
    scenario.replicas.count = options->replicas ? options->replicas : recording->replicas;
    scenario.replicas.workers = options->workers;
    scenario.workload.arrivals = SIM_ARRIVALS_TRACE;
    scenario.workload.load = options->load;
    scenario.workload.rate_per_s = 0;
    scenario.workload.correlation = options->correlation;
    scenario.workload.service_in_order = true;
    scenario.workload.times = recording->times;
    scenario.workload.service_table = recording->service;
    recording->times = recording->service = (struct sim_table){NULL, 0};
    scenario.amount.warm_up = WARM_UP;
    scenario.amount.cool_down = COOL_DOWN;
    scenario.amount.calls = ti_max (1, (uint64_t)((double)calls / (1 + WARM_UP + COOL_DOWN)));
    scenario.amount.replications = options->replications;
    scenario.amount.seed = options->seed;
    *out = scenario;
    return TIED_OK;
}

/* The calls as single sends them, at random, and where one more copy of each would go. */
static void
fill_calls (const struct sim_scenario *scenario, uint64_t seed, struct sim_pending_call *out)
{
    const struct sim_workload *workload = &scenario->workload;
    const struct sim_table *times = &workload->times;
    const uint32_t replicas = scenario->replicas.count;
    const double slower = sim_table_rate_per_s (times) / sim_scenario_rate_per_s (scenario);

    for (uint64_t i = 0; i < times->count; i++) {
        const uint64_t random = sim_draw (seed, SIM_STREAM_CHOICE, i, 0);
        const uint32_t replica = (uint32_t)(((random >> 32) * replicas) >> 32);
        const uint32_t step = (uint32_t)(((random & UINT32_MAX) * (replicas - 1)) >> 32);
        const uint32_t other = (replica + 1 + step) % replicas;

        out[i] = (struct sim_pending_call){
            .at = (tied_time_t)((double)(times->values[i] - times->values[0]) * slower),
            .replica = replica,
            .other = other,
            .service_ns = sim_demand (workload, seed, i, replica, 0),
            .other_service_ns = sim_demand (workload, seed, i, other, 1)};
    }
}

static int
weigh_hedges (const struct sim_scenario *scenario, struct sim_replay *out, char why[SIM_WHY_MAX])
{
    const uint64_t count = scenario->workload.times.count;
    const struct sim_pending_system system = {.replicas = scenario->replicas.count,
                                              .workers = scenario->replicas.workers,
                                              .way_ns = scenario->network.client.fixed_ns,
                                              .first = (uint64_t)((double)count * WARM_UP)};
    const uint64_t rounds = ti_min (ti_max (1, CALLS_MAX / count), scenario->amount.replications);
    struct sim_pending_call *calls = malloc (count * sizeof *calls);
    bool is_done = calls != NULL;

    for (uint32_t round = 0; is_done && round < rounds; round++) {
        fill_calls (scenario, sim_study_seed (scenario->amount.seed, round), calls);
        for (uint32_t i = 0; is_done && i < SIM_REPLAY_HEDGES; i++)
            is_done = sim_conditional_add (&out->hedges[i].found, &system, calls, count,
                                           out->hedges[i].delay_ns);
    }
    free (calls);
    for (uint32_t i = 0; is_done && i < SIM_REPLAY_HEDGES; i++)
        sim_conditional_finish (&out->hedges[i].found);
    return is_done ? TIED_OK : no_memory (why);
}

static void compare_work (const struct sim_study *study, struct sim_replay *out)
{
    const struct sim_policy_summary *single = &study->policies[0];

    for (uint32_t i = 0; i < SIM_REPLAY_HEDGES; i++) {
        const struct sim_policy_summary *hedge = &study->policies[SIM_REPLAY_FIRST_HEDGE + i];

        out->hedges[i].delay_ns = hedge->hedge_ns;
        out->hedges[i].extra_executions =
            hedge->executions_per_call.value - single->executions_per_call.value;
        out->hedges[i].extra_busy = hedge->utilisation.value / single->utilisation.value - 1;
    }
}

int sim_replay_run (const struct sim_scenario *scenario,
                    const struct sim_study *study,
                    struct sim_replay *out,
                    char why[SIM_WHY_MAX])
{
    int rc = TIED_OK;

    memset (out->hedges, 0, sizeof out->hedges);
    compare_work (study, out);
    out->has_hedges = !sim_study_is_unstable (study, 0);
    if (out->has_hedges)
        rc = weigh_hedges (scenario, out, why);
    if (rc != 0)
        sim_replay_deinit (out);
    else
        sim_replay_advise (study, out);
    return rc;
}

void sim_replay_deinit (struct sim_replay *self)
{
    for (uint32_t i = 0; i < SIM_REPLAY_HEDGES; i++)
        sim_conditional_deinit (&self->hedges[i].found);
}
