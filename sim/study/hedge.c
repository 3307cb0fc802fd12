/* SPDX-License-Identifier: MIT */
/* Pilots for hedge percentiles; see hedge.h. */
#include "study/hedge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#include <tied/error.h>

/* A delay needs no more: its own error moves the figures far less than their intervals are wide. */
#define PILOT_REPLICATIONS_MAX 10

/* The scenario's own single policy that chooses as the hedging one does, else a plain one. */
/* The two choose replicas alike. */
static bool is_same_choice (const struct sim_policy *a, const struct sim_policy *b)
{
    return a->pick == b->pick &&
           (a->pick != TIED_PICK_INFORMED ||
            (a->pick_samples == b->pick_samples && a->load_age_ns == b->load_age_ns));
}

static struct sim_policy pilot_of (const struct sim_scenario *scenario,
                                   const struct sim_policy *hedging)
{
    struct sim_policy pilot = *hedging;
    for (uint32_t i = 0; i < scenario->policies_count; i++)
        if (scenario->policies[i].kind == SIM_POLICY_SINGLE &&
            is_same_choice (&scenario->policies[i], hedging))
            return scenario->policies[i];
    pilot.kind = SIM_POLICY_SINGLE;
    pilot.hedge_ppm = 0;
    return pilot;
}

static int run_pilot (const struct sim_scenario *scenario,
                      const struct sim_policy *policy,
                      const struct sim_study_options *options,
                      struct sim_study *out,
                      char why[SIM_WHY_MAX])
{
    struct sim_scenario *pilot = malloc (sizeof *pilot);
    struct sim_study_options quiet = *options;
    if (!pilot) {
        snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    *pilot = *scenario;
    pilot->policies[0] = *policy;
    pilot->policies_count = 1;
    pilot->amount.precision = 0;
    pilot->amount.replications =
        (uint32_t)ti_min (pilot->amount.replications, PILOT_REPLICATIONS_MAX);
    quiet.progress = NULL;
    int rc = sim_study_run (pilot, &quiet, out, why);
    free (pilot);
    return rc;
}

/* Policies of the same choice of replicas share a pilot: the percentile is asked of its
 * distribution. */
static int resolve_pick (struct sim_scenario *scenario,
                         uint32_t first,
                         const struct sim_study_options *options,
                         struct sim_study *out,
                         char why[SIM_WHY_MAX])
{
    struct sim_study *pilot = malloc (sizeof *pilot);
    struct sim_policy single = pilot_of (scenario, &scenario->policies[first]);
    if (!pilot) {
        snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    int rc = run_pilot (scenario, &single, options, pilot, why);
    if (rc == TIED_OK && sim_study_is_empty (pilot, why)) {
        sim_study_deinit (pilot);
        out->out_of_time = true;
        rc = TIED_ERR_TIMEOUT;
    }
    for (uint32_t i = first; rc == TIED_OK && i < scenario->policies_count; i++) {
        struct sim_policy *policy = &scenario->policies[i];
        if (policy->hedge_ppm == 0 || !is_same_choice (policy, &single))
            continue;
        sim_policy_hedge_after (
            policy, ti_hist_percentile (pilot->policies[0].sum.latency, policy->hedge_ppm));
        out->policies[i].hedge_ns = sim_policy_fixed_delay (policy);
    }
    if (rc == TIED_OK)
        sim_study_deinit (pilot);
    free (pilot);
    return rc;
}

int sim_hedge_resolve (struct sim_scenario *scenario,
                       const struct sim_study_options *options,
                       struct sim_study *out,
                       char why[SIM_WHY_MAX])
{
    int rc = TIED_OK;
    for (uint32_t i = 0; rc == TIED_OK && i < scenario->policies_count; i++)
        if (scenario->policies[i].hedge_ppm > 0)
            rc = resolve_pick (scenario, i, options, out, why);
    return rc;
}
