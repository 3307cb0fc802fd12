/* SPDX-License-Identifier: MIT */
/* The highest load at which a policy meets a latency goal; see study.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/sweep.h"

#include <tied/error.h>

#define STEP_DEFAULT 0.01
/* Below this the number of loads is no longer sensible. */
#define STEP_MIN 0.0001

static bool is_met (const struct sim_study *study, tied_duration_t goal_ns)
{
    struct sim_estimate asked = study->policies[0].asked_ns;
    double upper = isnan (asked.half) ? asked.value : asked.value + asked.half;
    /* False for NaN as well: a load at which nothing was measured meets no goal. */
    return !sim_study_is_unstable (study, 0) && upper <= (double)goal_ns;
}

static int try_load (struct sim_scenario *scenario,
                     const struct sim_study_options *options,
                     double load,
                     tied_duration_t goal_ns,
                     struct sim_capacity *best,
                     bool *met,
                     char why[SIM_WHY_MAX])
{
    struct sim_study *study = malloc (sizeof *study);
    int rc = TIED_ERR_SYSTEM;
    snprintf (why, SIM_WHY_MAX, "out of memory");
    if (study)
        rc = sim_scenario_set_load (scenario, load, why);
    if (rc == TIED_OK)
        rc = sim_study_run (scenario, options, study, why);
    if (rc == TIED_OK && sim_study_is_empty (study, why)) {
        sim_study_deinit (study);
        rc = TIED_ERR_TIMEOUT;
    }
    if (rc == TIED_OK) {
        *met = is_met (study, goal_ns);
        if (*met) {
            best->load = load;
            best->percentile_ns = study->policies[0].asked_ns;
        }
        sim_study_deinit (study);
    }
    free (study);
    return rc;
}

/* Loads are k x step. Load 1 is never met, for queues grow there. */
static int bisect (struct sim_scenario *scenario,
                   const struct sim_study_options *options,
                   tied_duration_t goal_ns,
                   struct sim_capacity *out,
                   char why[SIM_WHY_MAX])
{
    uint32_t low = 0, high = (uint32_t)ceil (1 / out->step - 1e-9);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        bool met = false;
        int rc = try_load (scenario, options, middle * out->step, goal_ns, out, &met, why);
        if (rc)
            return rc;
        if (met)
            low = middle;
        else
            high = middle;
    }
    return TIED_OK;
}

int sim_study_capacity (const struct sim_scenario *scenario,
                        const struct sim_study_options *options,
                        uint32_t policy,
                        uint32_t ppm,
                        tied_duration_t goal_ns,
                        struct sim_capacity *out,
                        char why[SIM_WHY_MAX])
{
    struct sim_study_options asking = *options;
    struct sim_scenario *alone = malloc (sizeof *alone);
    asking.ppm = ppm;
    *out = (struct sim_capacity){.load = 0,
                                 .step = options->step > 0 ? options->step : STEP_DEFAULT,
                                 .percentile_ns = {NAN, NAN}};
    if (!alone) {
        snprintf (why, SIM_WHY_MAX, "out of memory");
        return TIED_ERR_SYSTEM;
    }
    int rc = TIED_ERR_INVAL;
    if (policy >= scenario->policies_count || ppm == 0 || ppm > TI_HIST_ALL) {
        snprintf (why, SIM_WHY_MAX, "no such policy or percentile");
    } else if (out->step < STEP_MIN || out->step > 0.5) {
        snprintf (why, SIM_WHY_MAX, "the step between loads is %g; give 0.0001 to 0.5", out->step);
    } else {
        *alone = *scenario;
        alone->policies[0] = scenario->policies[policy];
        alone->policies_count = 1;
        rc = bisect (alone, &asking, goal_ns, out, why);
    }
    free (alone);
    return rc;
}
