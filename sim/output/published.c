/* SPDX-License-Identifier: MIT */
/* Figures of papers beside ours. */
#include <math.h>
#include <string.h>

#include "output/internal.h"

/* The row of the policy at the load that the scenario itself gives; NULL: none. */
static const struct sim_point *
row_of (const struct sim_output *output, const struct sim_points *rows, const char *policy)
{
    double load = output->scenario->workload.load;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct sim_point *row = &rows->items[i];
        bool is_own = rows->loads == 1 || fabs (row->study->load - load) < 1e-9;
        if (is_own && strcmp (row->policy->name, policy) == 0)
            return row;
    }
    return NULL;
}

bool sim_agreement_of (const struct sim_output *output,
                       const struct sim_points *rows,
                       uint32_t index,
                       struct sim_agreement *out)
{
    const struct sim_published *published = &output->scenario->published[index];
    const struct sim_point *row = row_of (output, rows, published->policy);
    if (!row)
        return false;
    *out = (struct sim_agreement){.published = published, .ours_ms = NAN};
    if (!row->is_unstable)
        out->ours_ms = sim_figure_ns (row->summary, published->ppm) / 1e6;
    out->deviation = out->ours_ms / published->ms - 1;
    out->is_judged = published->tolerance > 0;
    out->agrees = fabs (out->deviation) <= published->tolerance;
    return true;
}
