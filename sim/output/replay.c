/* SPDX-License-Identifier: MIT */
/* What a replay rests on, how near the model is, and the worth of a hedge at each delay. */
#include <math.h>

#include "base/util.h"
#include "output/internal.h"
#include "study/replay.h"
#include "study/summary.h"
#include "text/units.h"

static const struct ti_table_group groups[] = {
    {"", 2}, {"still pending at the delay", 4}, {"a copy launched then", 2}, {"extra work", 2}};
static const char *const titles[] = {"hedge", "delay ms", "share %",  "longer ms",    "p50",
                                     "p99",   "saved ms", "faster %", "executions %", "busy %"};

/* NaN without samples. */
static double share (uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : NAN;
}

static double mean (double sum, uint64_t count)
{
    return count ? sum / (double)count : NAN;
}

static double longer (const struct sim_conditional *found, uint32_t ppm)
{
    return found->pending ? (double)sim_conditional_longer (found, ppm) : NAN;
}

static void put (struct ti_table *table, uint32_t row, uint32_t *column, double value)
{
    if (isfinite (value))
        ti_table_put (table, row, column, "%.4g", value);
    else
        ti_table_put (table, row, column, "-");
}

/* A difference, which may be nothing or less: "+1.35". */
static void put_extra (struct ti_table *table, uint32_t row, uint32_t *column, double share)
{
    if (isfinite (share))
        ti_table_put (table, row, column, "%+.2f", 100 * share);
    else
        ti_table_put (table, row, column, "-");
}

static void fill (const struct sim_output *output, struct ti_table *table)
{
    ti_table_init (table, groups, sizeof groups / sizeof groups[0], titles);
    table->rows = SIM_REPLAY_HEDGES;
    for (uint32_t i = 0; i < SIM_REPLAY_HEDGES; i++) {
        const struct sim_replay_hedge *hedge = &output->replay->hedges[i];
        const struct sim_conditional *found = &hedge->found;
        uint32_t column = 0;

        ti_table_put (table, i, &column, "%s",
                      output->scenario->policies[SIM_REPLAY_FIRST_HEDGE + i].name);
        put (table, i, &column, (double)hedge->delay_ns / 1e6);
        put (table, i, &column, 100 * share (found->pending, found->calls));
        put (table, i, &column, mean (found->longer_sum_ns, found->pending) / 1e6);
        put (table, i, &column, longer (found, TI_HIST_P50) / 1e6);
        put (table, i, &column, longer (found, TI_HIST_P99) / 1e6);
        put (table, i, &column, mean (found->saved_sum_ns, found->pending) / 1e6);
        put (table, i, &column, 100 * share (found->faster, found->pending));
        put_extra (table, i, &column, hedge->extra_executions);
        put_extra (table, i, &column, hedge->extra_busy);
    }
}

/* The recording's own percentile, by nearest rank as everywhere. */
static uint64_t recorded (const struct sim_table *sorted, uint32_t ppm)
{
    const uint64_t rank = (sorted->count * ppm + TI_HIST_ALL - 1) / TI_HIST_ALL;

    return sorted->values[rank > 0 ? rank - 1 : 0];
}

static double simulated (const struct sim_output *output, uint32_t ppm)
{
    return sim_figure_ns (&output->studies[0].policies[0], ppm);
}

static void write_basis (const struct sim_output *output, FILE *file)
{
    const struct sim_replay *replay = output->replay;
    const struct sim_recording *recording = replay->recording;
    const double correlation = output->scenario->workload.correlation;

    fprintf (file, "\nRecorded: %llu lines", (unsigned long long)recording->lines);
    if (recording->policy[0])
        fprintf (file, " of policy %s", recording->policy);
    fprintf (file, ", %llu calls", (unsigned long long)output->scenario->workload.times.count);
    if (recording->not_run > 0)
        fprintf (file, "; %llu more did not run to their end and are left out",
                 (unsigned long long)recording->not_run);
    if (recording->cut_ns > 0)
        fprintf (file, "; %.3g s in which other policies had their turn are cut out",
                 (double)recording->cut_ns / 1e9);
    fprintf (file,
             ".\nAssumed: %u worker%s for each replica%s, %.3g us between client and replica; a "
             "further copy takes %s of the recording%s.\n",
             (unsigned)replay->workers, replay->workers == 1 ? "" : "s",
             replay->workers_are_given ? "" : " (the recording does not say: --workers)",
             (double)output->scenario->network.client.fixed_ns / 1e3,
             correlation > 0 ? "another time" : "any other time",
             correlation > 0 ? ", or the first copy's (--correlation)" : "");
}

static void write_check (const struct sim_output *output, FILE *file)
{
    const struct sim_recording *recording = output->replay->recording;
    char p50[TI_UNITS_TEXT_MAX], p99[TI_UNITS_TEXT_MAX];

    if (recording->latency.count == 0)
        return;
    fprintf (file, "Measured: p50 %s ms, p99 %s ms%s%s",
             ti_format_ms (recorded (&recording->latency, TI_HIST_P50), p50),
             ti_format_ms (recorded (&recording->latency, TI_HIST_P99), p99),
             recording->policy[0] ? " under " : "", recording->policy);
    if (output->replay->has_hedges)
        fprintf (file, "; simulated single: p50 %s ms, p99 %s ms",
                 ti_format_ms ((uint64_t)simulated (output, TI_HIST_P50), p50),
                 ti_format_ms ((uint64_t)simulated (output, TI_HIST_P99), p99));
    fputs (".\n", file);
}

void sim_write_replay (const struct sim_output *output, struct ti_table *table, FILE *file)
{
    write_basis (output, file);
    write_check (output, file);
    if (!output->replay->has_hedges)
        return;
    fputs ("\nWhat a hedge is worth\n\n", file);
    fill (output, table);
    ti_table_write (table, file);
}

static void write_hedge (const struct sim_output *output, uint32_t index, struct ti_json *json)
{
    const struct sim_replay_hedge *hedge = &output->replay->hedges[index];
    const struct sim_conditional *found = &hedge->found;

    ti_json_object (json, NULL);
    ti_json_string (json, "policy",
                    output->scenario->policies[SIM_REPLAY_FIRST_HEDGE + index].name);
    ti_json_ms (json, "delay_ms", hedge->delay_ns);
    ti_json_real (json, "pending_share", share (found->pending, found->calls));
    ti_json_real (json, "longer_mean_ms", mean (found->longer_sum_ns, found->pending) / 1e6);
    ti_json_real (json, "longer_p50_ms", longer (found, TI_HIST_P50) / 1e6);
    ti_json_real (json, "longer_p99_ms", longer (found, TI_HIST_P99) / 1e6);
    ti_json_u64 (json, "pending", found->pending);
    ti_json_real (json, "saved_mean_ms", mean (found->saved_sum_ns, found->pending) / 1e6);
    ti_json_real (json, "faster_share", share (found->faster, found->pending));
    ti_json_real (json, "extra_executions", hedge->extra_executions);
    ti_json_real (json, "extra_busy", hedge->extra_busy);
    ti_json_end (json);
}

void sim_write_replay_json (const struct sim_output *output, struct ti_json *json)
{
    const struct sim_replay *replay = output->replay;
    const struct sim_recording *recording = replay->recording;

    ti_json_object (json, "replay");
    ti_json_u64 (json, "lines", recording->lines);
    ti_json_u64 (json, "calls", output->scenario->workload.times.count);
    ti_json_u64 (json, "not_run", recording->not_run);
    ti_json_string (json, "recorded_policy", recording->policy[0] ? recording->policy : NULL);
    ti_json_bool (json, "workers_given", replay->workers_are_given);
    if (recording->latency.count > 0) {
        ti_json_ms (json, "recorded_p50_ms", recorded (&recording->latency, TI_HIST_P50));
        ti_json_ms (json, "recorded_p99_ms", recorded (&recording->latency, TI_HIST_P99));
    }
    ti_json_array (json, "hedges");
    for (uint32_t i = 0; replay->has_hedges && i < SIM_REPLAY_HEDGES; i++)
        write_hedge (output, i, json);
    ti_json_end (json);
    ti_json_end (json);
}
