/* SPDX-License-Identifier: MIT */
/* Rows from studies: which are shown, and which of them are beaten by others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/output.h"
#include "study/summary.h"
#include "study/sweep.h"

#include <tied/error.h>

_Static_assert(SIM_POINTS_MAX <= TI_REPORT_POLICIES_MAX, "a report holds a whole sweep");

static bool is_same_load (const struct sim_study *a, const struct sim_study *b)
{
    /* Both come from the same table of loads, bit by bit. */
    return memcmp (&a->load, &b->load, sizeof a->load) == 0;
}

static bool beats (const struct sim_point *a, const struct sim_point *b, bool by_copies)
{
    double a_p99 = a->summary->percentile_ns[SIM_AT_P99].value;
    double b_p99 = b->summary->percentile_ns[SIM_AT_P99].value;
    double a_work =
        by_copies ? a->summary->copies_per_call.value : a->summary->executions_per_call.value;
    double b_work =
        by_copies ? b->summary->copies_per_call.value : b->summary->executions_per_call.value;
    if (a->is_unstable)
        return false;
    return a_p99 <= b_p99 && a_work <= b_work && (a_p99 < b_p99 || a_work < b_work);
}

static void find_beaten (struct sim_point *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rows[i].is_beaten = rows[i].is_beaten_in_copies =
            rows[i].is_unstable || isnan (rows[i].summary->percentile_ns[SIM_AT_P99].value);
        for (uint32_t other = 0; other < count; other++) {
            rows[i].is_beaten = rows[i].is_beaten || beats (&rows[other], &rows[i], false);
            rows[i].is_beaten_in_copies =
                rows[i].is_beaten_in_copies || beats (&rows[other], &rows[i], true);
        }
    }
}

static void
add_study (struct sim_points *out, const struct sim_study *study, bool is_baseline_shown)
{
    for (uint32_t i = is_baseline_shown ? 1 : 0; i < study->policies_count; i++)
        out->items[out->count++] =
            (struct sim_point){.study = study,
                               .index = i,
                               .policy = &study->scenario->policies[i],
                               .summary = &study->policies[i],
                               .is_unstable = sim_study_is_unstable (study, i)};
}

/* Part of a grid at the load of the study before it: the baseline is shown already. */
static bool is_further (const struct sim_output *output, uint32_t study)
{
    return output->is_grid && study > 0 &&
           is_same_load (&output->studies[study], &output->studies[study - 1]);
}

int sim_points_make (const struct sim_output *output, struct sim_points *out)
{
    memset (out, 0, sizeof *out);
    uint64_t most = 0;
    for (uint32_t i = 0; i < output->studies_count; i++)
        most += output->studies[i].policies_count - is_further (output, i);
    out->items = calloc (most ? most : 1, sizeof *out->items);
    if (!out->items || most > TI_REPORT_POLICIES_MAX) {
        free (out->items);
        out->items = NULL;
        return TIED_ERR_SYSTEM;
    }
    for (uint32_t i = 0; i < output->studies_count; i++) {
        if (!is_further (output, i) && out->loads < SIM_SWEEP_MAX)
            out->first[out->loads++] = out->count;
        add_study (out, &output->studies[i], is_further (output, i));
        out->first[out->loads] = out->count;
    }
    for (uint32_t i = 0; i < out->loads; i++)
        find_beaten (&out->items[out->first[i]], out->first[i + 1] - out->first[i]);
    return TIED_OK;
}
