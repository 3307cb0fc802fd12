/* SPDX-License-Identifier: MIT */
/* One row for each policy at each load (RFC 4180). What is not known is an empty field. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/internal.h"

#include <tied/error.h>

static void write_text (FILE *file, const char *text)
{
    if (!strpbrk (text, ",\"\r\n")) {
        fputs (text, file);
        return;
    }
    fputc ('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc ('"', file);
        fputc (*text, file);
    }
    fputc ('"', file);
}

static void write_real (FILE *file, double value)
{
    fputc (',', file);
    if (isfinite (value))
        fprintf (file, "%.9g", value);
}

static void write_count (FILE *file, uint64_t count)
{
    fprintf (file, ",%llu", (unsigned long long)count);
}

static void write_estimate (FILE *file, struct sim_estimate estimate, bool is_known)
{
    write_real (file, is_known ? estimate.value / 1e6 : NAN);
    write_real (file, is_known ? estimate.half / 1e6 : NAN);
}

static void write_head (FILE *file)
{
    fputs ("scenario,policy,load,seed,replications,unstable,calls,mean_ms,mean_half_ms", file);
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        fprintf (file, ",%s_ms,%s_half_ms", sim_percentile_names[i], sim_percentile_names[i]);
    fputs (",mean_minus_ms,mean_minus_half_ms,p99_minus_ms,p99_minus_half_ms,p99_9_minus_ms,"
           "p99_9_minus_half_ms,copies_per_call,executions_per_call,duplicate_fraction,"
           "wasted_share,rejections",
           file);
    for (int i = 0; i < TIED_OUTCOME_COUNT; i++)
        fprintf (file, ",%s", tied_outcome_name (i));
    fputs (",utilisation,queue_depth_mean,cancels_sent,cancels_effective,cancels_early,"
           "cancels_late,cancels_lost,dominated,dominated_in_copies\n",
           file);
}

static void write_row (const struct sim_output *output, const struct sim_point *row, FILE *file)
{
    const struct sim_policy_summary *summary = row->summary;
    const struct sim_result *sum = &summary->sum;
    bool is_known = !row->is_unstable;
    bool has_difference = is_known && row->index > 0 && !sim_study_is_unstable (row->study, 0);
    write_text (file, output->scenario->name);
    fputc (',', file);
    write_text (file, row->policy->name);
    write_real (file, row->study->load >= 0 ? row->study->load : NAN);
    write_count (file, output->scenario->amount.seed);
    write_count (file, row->study->replications);
    write_count (file, row->is_unstable);
    write_count (file, sum->calls);
    write_estimate (file, summary->mean_ns, is_known);
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        write_estimate (file, summary->percentile_ns[i], is_known);
    write_estimate (file, summary->mean_minus_ns, has_difference);
    write_estimate (file, summary->p99_minus_ns, has_difference);
    write_estimate (file, summary->p999_minus_ns, has_difference);
    write_real (file, summary->copies_per_call.value);
    write_real (file, summary->executions_per_call.value);
    write_real (file, summary->duplicate_fraction.value);
    write_real (file, summary->wasted_share.value);
    write_count (file, sum->rejections);
    for (int i = 0; i < TIED_OUTCOME_COUNT; i++)
        write_count (file, sum->outcomes[i]);
    write_real (file, summary->utilisation.value);
    write_real (file, summary->queue_depth.value);
    write_count (file, sum->cancels.sent);
    write_count (file, sum->cancels.effective);
    write_count (file, sum->cancels.early);
    write_count (file, sum->cancels.late);
    write_count (file, sum->cancels.lost);
    write_count (file, row->is_beaten);
    write_count (file, row->is_beaten_in_copies);
    fputc ('\n', file);
}

int sim_output_write_csv (const struct sim_output *output, FILE *file)
{
    struct sim_points rows;
    if (sim_points_make (output, &rows))
        return TIED_ERR_SYSTEM;
    write_head (file);
    for (uint32_t i = 0; i < rows.count; i++)
        write_row (output, &rows.items[i], file);
    free (rows.items);
    return fflush (file) != 0 || ferror (file) ? TIED_ERR_SYSTEM : TIED_OK;
}
