/* SPDX-License-Identifier: MIT */
/* One study after the other, over loads and over a grid; see sweep.h. */
#include "study/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#include <tied/error.h>

/* Variants of one study, beside the baseline. */
#define VARIANTS_EACH (SIM_POLICIES_MAX - 1)

int sim_scenario_set_load (struct sim_scenario *scenario, double load, char why[SIM_WHY_MAX])
{
    struct sim_workload *workload = &scenario->workload;
    if (workload->arrivals == SIM_ARRIVALS_CLOSED) {
        snprintf (why, SIM_WHY_MAX,
                  "a load cannot be set: arrivals of this scenario are those of a closed loop");
        return TIED_ERR_INVAL;
    }
    workload->load = load;
    workload->rate_per_s = 0;
    return TIED_OK;
}

static int fail (char *why, int rc, const char *text)
{
    snprintf (why, SIM_WHY_MAX, "%s", text);
    return rc;
}

/* The policies of study `part` of those that share a load. */
static void set_policies (struct sim_scenario *scenario,
                          const struct sim_policy *variants,
                          uint32_t variants_count,
                          uint32_t part)
{
    uint32_t first = part * VARIANTS_EACH;
    uint32_t count = (uint32_t)ti_min (variants_count - first, VARIANTS_EACH);
    for (uint32_t i = 0; i < count; i++)
        scenario->policies[1 + i] = variants[first + i];
    scenario->policies_count = 1 + count;
}

static int run_all (const struct sim_scenario *scenario,
                    const struct sim_sweep_options *sweep,
                    const struct sim_study_options *options,
                    const struct sim_policy *variants,
                    uint32_t variants_count,
                    struct sim_sweep_studies *out,
                    char why[SIM_WHY_MAX])
{
    uint32_t parts = variants ? (variants_count + VARIANTS_EACH - 1) / VARIANTS_EACH : 1;
    uint32_t loads = sweep->loads_count ? sweep->loads_count : 1;
    uint32_t each = variants ? 1 + variants_count : scenario->policies_count;
    if (parts * loads > SIM_STUDIES_MAX || each * loads > SIM_POINTS_MAX)
        return fail (why, TIED_ERR_INVAL,
                     "loads x variants are more than 512, or than 64 studies of 15 variants; give "
                     "fewer of them");
    out->studies = calloc (parts * loads, sizeof *out->studies);
    out->scenarios = calloc (parts * loads, sizeof *out->scenarios);
    if (!out->studies || !out->scenarios)
        return fail (why, TIED_ERR_SYSTEM, "out of memory");
    for (uint32_t i = 0; i < parts * loads; i++) {
        struct sim_scenario *own = &out->scenarios[i];
        int rc = TIED_OK;
        *own = *scenario;
        if (sweep->loads_count)
            rc = sim_scenario_set_load (own, sweep->loads[i / parts], why);
        if (variants)
            set_policies (own, variants, variants_count, i % parts);
        if (sweep->begin)
            sweep->begin (sweep->context, i, parts * loads);
        if (rc == TIED_OK)
            rc = sim_study_run (own, options, &out->studies[i], why);
        if (rc)
            return rc;
        out->count++;
        if (options->is_interrupted && options->is_interrupted ())
            break;
    }
    return TIED_OK;
}

int sim_sweep_run (const struct sim_scenario *scenario,
                   const struct sim_sweep_options *sweep,
                   const struct sim_study_options *options,
                   struct sim_sweep_studies *out,
                   char why[SIM_WHY_MAX])
{
    struct sim_policy *variants = NULL;
    uint32_t variants_count = 0;
    int rc = TIED_OK;
    memset (out, 0, sizeof *out);
    if (scenario->policies_count == 0)
        return fail (why, TIED_ERR_INVAL, "the scenario has no policy; name at least one");
    if (sweep->grid && !sim_grid_is_empty (sweep->grid)) {
        variants = calloc (SIM_GRID_VARIANTS_MAX, sizeof *variants);
        if (!variants)
            return fail (why, TIED_ERR_SYSTEM, "out of memory");
        variants_count = sim_grid_variants (sweep->grid, scenario, variants);
        if (variants_count == UINT32_MAX)
            rc = fail (why, TIED_ERR_INVAL,
                       "the grid has more than 256 variants; give fewer values");
        else if (variants_count == 0)
            rc = fail (why, TIED_ERR_INVAL, "no policy of the scenario has what the grid changes");
    }
    if (rc == TIED_OK)
        rc = run_all (scenario, sweep, options, variants, variants_count, out, why);
    free (variants);
    if (rc)
        sim_sweep_deinit (out);
    return rc;
}

void sim_sweep_deinit (struct sim_sweep_studies *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        sim_study_deinit (&self->studies[i]);
    free (self->studies);
    free (self->scenarios);
    memset (self, 0, sizeof *self);
}
