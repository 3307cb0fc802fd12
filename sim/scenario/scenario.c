/* SPDX-License-Identifier: MIT */
/* Words and defaults of a scenario, and the load that it offers; see scenario.h. */
#include "scenario/scenario.h"

#include <stdlib.h>

#include "base/assert.h"
#include "workload/speed.h"

const char *const sim_arrivals_words[] = {
    [SIM_ARRIVALS_POISSON] = "poisson", [SIM_ARRIVALS_DETERMINISTIC] = "deterministic",
    [SIM_ARRIVALS_ON_OFF] = "on_off",   [SIM_ARRIVALS_MMPP] = "mmpp",
    [SIM_ARRIVALS_TRACE] = "trace",     [SIM_ARRIVALS_CLOSED] = "closed",
    [SIM_ARRIVALS_STEPS] = "steps",     NULL,
};

#define POLICY_WORD(name, text, takes) [SIM_POLICY_##name] = (text),
const char *const sim_policy_words[] = {
    SIM_POLICY_MODES (POLICY_WORD) SIM_POLICY_MORE (POLICY_WORD)[SIM_POLICY_KINDS] = NULL,
};
#undef POLICY_WORD

void sim_scenario_init (struct sim_scenario *self)
{
    *self = (struct sim_scenario){
        .workload = {.arrivals = SIM_ARRIVALS_POISSON,
                     .load = 0.7,
                     .on_ns = TIED_MS (100),
                     .off_ns = TIED_MS (100),
                     .burst_factor = 4,
                     .burst_ns = TIED_MS (100),
                     .calm_ns = TIED_MS (400),
                     .users = 10,
                     .think = {.kind = TI_DIST_EXP, .a_ns = TIED_MS (10)},
                     .fan_out = 1,
                     .deadline_ns = TIED_NEVER,
                     .service = {.kind = TI_DIST_EXP, .a_ns = TIED_MS (10)},
                     .cold_factor = 1,
                     .jitter_factor = 1},
        .replicas = {.count = 10, .workers = 1, .slow_factor = 1, .queue_depth = 1u << 20},
        .clients = 1,
        .heartbeat_ns = TIED_MS (200),
        .network = {.client = {.fixed_ns = TIED_US (50)}, .peer = {.fixed_ns = TIED_US (50)}},
        .amount = {
            .calls = 100000, .warm_up = 0.1, .cool_down = 0.1, .replications = 10, .seed = 1}};
}

void sim_scenario_deinit (struct sim_scenario *self)
{
    free (self->title);
    free (self->source);
    free (self->workload.times.values);
    free (self->workload.service_table.values);
    free (self->replicas.pause_log.values);
    *self = (struct sim_scenario){.clients = 0};
}

static double mean_factor (const struct sim_factor *factors, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += factors[i].factor * factors[i].share;
    return count ? sum : 1;
}

static double mean_of_table (const struct sim_table *table)
{
    double sum = 0;
    for (uint64_t i = 0; i < table->count; i++)
        sum += (double)table->values[i];
    return sum / (double)table->count;
}

double sim_scenario_mean_service_ns (const struct sim_scenario *self)
{
    const struct sim_workload *w = &self->workload;
    double mean =
        w->service_table.count ? mean_of_table (&w->service_table) : ti_dist_mean (&w->service);
    if (w->copies == SIM_COPIES_SX)
        mean *= mean_factor (w->slowdown, w->slowdown_count);
    return mean * (1 + w->jitter_share * (w->jitter_factor - 1));
}

double sim_scenario_capacity (const struct sim_scenario *self)
{
    return sim_speed_sum (&self->replicas) * self->replicas.workers;
}

double sim_scenario_rate_per_s (const struct sim_scenario *self)
{
    const struct sim_workload *w = &self->workload;
    if (w->arrivals == SIM_ARRIVALS_CLOSED)
        return 0;
    if (w->rate_per_s > 0)
        return w->rate_per_s;
    if (w->load > 0) {
        double mean_s = sim_scenario_mean_service_ns (self) * 1e-9;
        double work_s = mean_s * w->fan_out;
        return work_s > 0 ? w->load * sim_scenario_capacity (self) / work_s : 0;
    }
    return w->arrivals == SIM_ARRIVALS_TRACE ? sim_table_rate_per_s (&w->times) : 0;
}

bool sim_policy_is_reference (enum sim_policy_kind kind)
{
    return kind >= SIM_POLICY_CENTRAL;
}

bool sim_policy_is_tie (enum sim_policy_kind kind)
{
    return kind == SIM_POLICY_TIED || kind == SIM_POLICY_TIED_HEDGE || kind == SIM_POLICY_PARK ||
           kind == SIM_POLICY_EXCLUSIVE;
}

const char *sim_policy_kind_name (enum sim_policy_kind kind)
{
    TI_ASSERT ((unsigned)kind < SIM_POLICY_KINDS);
    return sim_policy_words[kind];
}
