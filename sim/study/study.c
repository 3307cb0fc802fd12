/* SPDX-License-Identifier: MIT */
/* Replications of all policies, combined in the order of (replication, policy); see study.h. */
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "study/hedge.h"
#include "study/pool.h"
#include "study/summary.h"
#include "tools/wall.h"

#include <tied/error.h>

/* With a precision: the first check, and how many replications lie between checks. Few replications
 * may agree by chance, and a check after each would stop at the first such chance. */
#define FIRST_CHECK 10
#define CHECK_EVERY 5

struct collect {
    const struct sim_scenario *scenario; /* hedge percentiles resolved */
    const struct sim_study_options *options;
    struct sim_study *out;
    atomic_bool stop;
    struct sim_figures baseline; /* of the replication that is being taken */
    struct sim_summing policies[SIM_POLICIES_MAX];
};

uint64_t sim_study_seed (uint64_t seed, uint32_t replication)
{
    return ti_mix (seed ^ ti_mix ((uint64_t)replication + 1));
}

static int run_task (void *context, uint64_t task, struct sim_result *result, char why[SIM_WHY_MAX])
{
    const struct collect *self = context;
    uint32_t policies = self->scenario->policies_count;
    const struct sim_run_options options = {
        .scenario = self->scenario,
        .policy = (uint32_t)(task % policies),
        .seed = sim_study_seed (self->scenario->amount.seed, (uint32_t)(task / policies)),
        .fault = self->options->fault,
        .stop = &self->stop,
        .checks = self->options->checks};
    sim_runner *runner = self->options->runner ? self->options->runner : sim_run;
    return runner (&options, result, why);
}

static bool is_narrow (const struct collect *self, uint32_t policy)
{
    const struct sim_series *p99 = &self->policies[policy].percentile[SIM_AT_P99];
    if (p99->count == 0 || sim_study_is_unstable (self->out, policy))
        return true;
    struct sim_estimate estimate = sim_series_estimate (p99);
    return estimate.half <= self->scenario->amount.precision * estimate.value;
}

/* All policies of a replication are in. @return false: enough */
static bool check_precision (struct collect *self)
{
    uint32_t done = ++self->out->replications;
    if (!(self->scenario->amount.precision > 0))
        return true;
    if (done < FIRST_CHECK || (done - FIRST_CHECK) % CHECK_EVERY != 0)
        return true;
    bool is_enough = true;
    for (uint32_t i = 0; i < self->scenario->policies_count; i++)
        is_enough = is_enough && is_narrow (self, i);
    return !is_enough;
}

static bool take (void *context, uint64_t task, const struct sim_result *result)
{
    struct collect *self = context;
    uint32_t policy = (uint32_t)(task % self->scenario->policies_count);
    struct sim_policy_summary *summary = &self->out->policies[policy];
    struct sim_figures figures;
    sim_figures_of (result, &figures);
    if (policy == 0)
        self->baseline = figures;
    sim_summing_add (&self->policies[policy], result, self->options->ppm, &figures,
                     policy > 0 ? &self->baseline : NULL);
    sim_result_merge (&summary->sum, result);
    summary->unstable += result->is_unstable;
    return policy + 1 < self->scenario->policies_count || check_precision (self);
}

static void tell (void *context, uint64_t done, tied_duration_t elapsed)
{
    const struct collect *self = context;
    uint64_t all = (uint64_t)self->scenario->policies_count * self->scenario->amount.replications;
    double left = done ? (double)elapsed / (double)done * (double)(all - done) : 0;
    tied_duration_t budget = self->scenario->amount.budget_ns;
    if (budget && left > (double)ti_time_sub (budget, elapsed))
        left = (double)ti_time_sub (budget, elapsed);
    self->options->progress (self->options->context, done, all, (tied_duration_t)left);
}

static int collect (struct collect *self, tied_time_t start, char why[SIM_WHY_MAX])
{
    const struct sim_amount *amount = &self->scenario->amount;
    uint32_t policies = self->scenario->policies_count;
    tied_duration_t budget = amount->budget_ns;
    /* What the pilots took is gone; at least one replication is run. */
    if (budget > 0)
        budget = ti_max (1, ti_time_sub (budget, ti_wall_now () - start));
    const struct sim_pool pool = {.jobs = self->options->jobs ? self->options->jobs : 1,
                                  .tasks = (uint64_t)policies * amount->replications,
                                  .group = policies,
                                  .budget_ns = budget,
                                  .is_interrupted = self->options->is_interrupted,
                                  .stop = &self->stop,
                                  .context = self,
                                  .run = run_task,
                                  .take = take,
                                  .progress = self->options->progress ? tell : NULL};
    int rc = sim_pool_run (&pool, &self->out->out_of_time, why);
    for (uint32_t i = 0; rc == TIED_OK && i < policies; i++)
        sim_summing_finish (&self->policies[i], &self->out->policies[i]);
    return rc;
}

static double offered_load (const struct sim_scenario *scenario)
{
    const struct sim_workload *workload = &scenario->workload;
    if (workload->arrivals == SIM_ARRIVALS_CLOSED)
        return -1;
    if (workload->load > 0 && !(workload->rate_per_s > 0))
        return workload->load;
    double capacity = sim_scenario_capacity (scenario), rate = sim_scenario_rate_per_s (scenario);
    if (!(capacity > 0) || !(rate > 0))
        return -1;
    return rate * workload->fan_out * sim_scenario_mean_service_ns (scenario) / 1e9 / capacity;
}

static int init (const struct sim_scenario *scenario, struct sim_study *out, char *why)
{
    memset (out, 0, sizeof *out);
    out->scenario = scenario;
    out->load = offered_load (scenario);
    out->policies_count = scenario->policies_count;
    for (uint32_t i = 0; i < out->policies_count; i++) {
        out->policies[i].hedge_ns = TIED_NEVER;
        if (sim_result_init (&out->policies[i].sum)) {
            snprintf (why, SIM_WHY_MAX, "out of memory");
            return TIED_ERR_SYSTEM;
        }
    }
    return TIED_OK;
}

static int refuse (char *why, const char *text)
{
    snprintf (why, SIM_WHY_MAX, "%s", text);
    return TIED_ERR_INVAL;
}

int sim_study_run (const struct sim_scenario *scenario,
                   const struct sim_study_options *options,
                   struct sim_study *out,
                   char why[SIM_WHY_MAX])
{
    if (scenario->policies_count == 0 || scenario->policies_count > SIM_POLICIES_MAX)
        return refuse (why, "the scenario has no policy; name at least one under policies");
    if (scenario->amount.replications == 0)
        return refuse (why, "replications is 0; give 1 to 1000");
    if (options->jobs > SIM_JOBS_MAX)
        return refuse (why, "too many jobs; give 1 to 256");
    tied_time_t start = ti_wall_now ();
    struct sim_scenario *resolved = malloc (sizeof *resolved);
    struct collect *self = calloc (1, sizeof *self);
    int rc = init (scenario, out, why);
    if (rc == TIED_OK && (!resolved || !self)) {
        snprintf (why, SIM_WHY_MAX, "out of memory");
        rc = TIED_ERR_SYSTEM;
    }
    if (rc == TIED_OK) {
        *resolved = *scenario;
        *self = (struct collect){.scenario = resolved, .options = options, .out = out};
        rc = sim_hedge_resolve (resolved, options, out, why);
    }
    if (rc == TIED_OK)
        rc = collect (self, start, why);
    else if (rc == TIED_ERR_TIMEOUT)
        rc = TIED_OK; /* nothing was measured, and that is said */
    free (self);
    free (resolved);
    out->wall_ns = ti_wall_now () - start;
    if (rc)
        sim_study_deinit (out);
    return rc;
}

bool sim_study_is_empty (const struct sim_study *self, char why[SIM_WHY_MAX])
{
    if (self->replications > 0)
        return false;
    snprintf (why, SIM_WHY_MAX,
              "no replication was done before the time budget or an interruption ended it: raise "
              "--budget, or lower --calls");
    return true;
}

void sim_study_deinit (struct sim_study *self)
{
    for (uint32_t i = 0; i < self->policies_count; i++)
        sim_result_deinit (&self->policies[i].sum);
    self->policies_count = 0;
}

bool sim_study_is_unstable (const struct sim_study *self, uint32_t policy)
{
    return 2 * (uint64_t)self->policies[policy].unstable > self->replications;
}
