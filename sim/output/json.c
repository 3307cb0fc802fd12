/* SPDX-License-Identifier: MIT */
/* What a simulation adds to the JSON report; docs/json.md describes it. Change both or neither. */
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "output/internal.h"
#include "study/summary.h"

#include <tied/error.h>

/* [low, high] in ms; null: not known. */
static void write_interval (struct ti_json *json, const char *key, struct sim_estimate estimate)
{
    if (!isfinite (estimate.value) || !isfinite (estimate.half)) {
        ti_json_null (json, key);
        return;
    }
    ti_json_inline_array (json, key);
    ti_json_real (json, NULL, (estimate.value - estimate.half) / 1e6);
    ti_json_real (json, NULL, (estimate.value + estimate.half) / 1e6);
    ti_json_end (json);
}

static void write_intervals (struct ti_json *json, const struct sim_point *row)
{
    const struct sim_estimate none = {NAN, NAN};
    const struct sim_policy_summary *summary = row->summary;
    ti_json_object (json, "ci95_ms");
    write_interval (json, "mean", row->is_unstable ? none : summary->mean_ns);
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        write_interval (json, sim_percentile_names[i],
                        row->is_unstable ? none : summary->percentile_ns[i]);
    ti_json_end (json);
}

static void write_difference (struct ti_json *json, const struct sim_point *row)
{
    const struct sim_policy_summary *summary = row->summary;
    if (row->index == 0 || row->is_unstable || sim_study_is_unstable (row->study, 0)) {
        ti_json_null (json, "minus_baseline");
        return;
    }
    ti_json_object (json, "minus_baseline");
    ti_json_string (json, "baseline", row->study->scenario->policies[0].name);
    ti_json_real (json, "mean_ms", summary->mean_minus_ns.value / 1e6);
    ti_json_real (json, "p99_ms", summary->p99_minus_ns.value / 1e6);
    ti_json_real (json, "p99_9_ms", summary->p999_minus_ns.value / 1e6);
    ti_json_object (json, "ci95_ms");
    write_interval (json, "mean", summary->mean_minus_ns);
    write_interval (json, "p99", summary->p99_minus_ns);
    write_interval (json, "p99_9", summary->p999_minus_ns);
    ti_json_end (json);
    ti_json_end (json);
}

static void write_policy (const void *context, struct ti_json *json, uint32_t index)
{
    const struct sim_report *self = context;
    const struct sim_point *row = &self->rows.items[index];
    const struct sim_policy_summary *summary = row->summary;
    const struct sim_result *sum = &summary->sum;
    ti_json_bool (json, "unstable", row->is_unstable);
    ti_json_u64 (json, "unstable_replications", summary->unstable);
    ti_json_u64 (json, "replications", row->study->replications);
    write_intervals (json, row);
    write_difference (json, row);
    ti_json_real (json, "duplicate_fraction",
                  ti_report_per_call (&self->report.policies[index], sum->duplicates));
    ti_json_real (json, "utilisation", summary->utilisation.value);
    ti_json_real (json, "queue_depth_mean", summary->queue_depth.value);
    ti_json_real (json, "wasted_share", summary->wasted_share.value);
    ti_json_u64 (json, "rejections", sum->rejections);
    ti_json_u64 (json, "cut_requests", sum->cut_requests);
    if (summary->hedge_ns == TIED_NEVER)
        ti_json_null (json, "hedge_ms");
    else
        ti_json_ms (json, "hedge_ms", summary->hedge_ns);
    ti_json_u64 (json, "simulated_calls", sum->all_calls);
    ti_json_real (json, "simulated_calls_per_second",
                  (double)sum->all_calls * 1e9 / (double)sum->wall_ns);
}

static void write_cancels (const void *context, struct ti_json *json, uint32_t index)
{
    const struct sim_report *self = context;
    const struct sim_result *sum = &self->rows.items[index].summary->sum;
    ti_json_u64 (json, "moot", sum->cancels.moot);
    ti_json_u64 (json, "lost", sum->cancels.lost);
    ti_json_u64 (json, "client_sent", sum->cancels.client_sent);
    ti_json_u64 (json, "client_queued", sum->cancels.client_queued);
    ti_json_u64 (json, "client_running", sum->cancels.client_running);
}

/* Of all rows in their order, so that one number says whether two runs were the same. */
static uint64_t trace_hash (const struct sim_points *rows)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        hash = ti_mix (hash ^ rows->items[i].summary->sum.trace_hash);
    return hash;
}

static void write_published (const struct sim_report *self, struct ti_json *json)
{
    char ppm[SIM_PPM_MAX];
    ti_json_array (json, "published");
    for (uint32_t i = 0; i < self->output->scenario->published_count; i++) {
        struct sim_agreement agreement;
        if (!sim_agreement_of (self->output, &self->rows, i, &agreement))
            continue;
        ti_json_object (json, NULL);
        ti_json_string (json, "policy", agreement.published->policy);
        ti_json_string (json, "figure", sim_format_ppm (agreement.published->ppm, ppm));
        ti_json_real (json, "published_ms", agreement.published->ms);
        ti_json_real (json, "ours_ms", agreement.ours_ms);
        ti_json_real (json, "deviation", agreement.deviation);
        if (agreement.is_judged) {
            ti_json_real (json, "tolerance", agreement.published->tolerance);
            ti_json_bool (json, "agrees", agreement.agrees);
        } else {
            ti_json_null (json, "tolerance");
            ti_json_null (json, "agrees");
        }
        ti_json_end (json);
    }
    ti_json_end (json);
}

/* One curve for each policy, by its place among those of a load. */
static void write_sweep (const struct sim_points *rows, struct ti_json *json)
{
    ti_json_array (json, "sweep");
    for (uint32_t policy = 0; policy < rows->first[1]; policy++) {
        ti_json_object (json, NULL);
        ti_json_string (json, "policy", rows->items[policy].policy->name);
        ti_json_array (json, "points");
        for (uint32_t i = 0; i < rows->loads; i++) {
            const struct sim_point *row = &rows->items[rows->first[i] + policy];
            struct sim_estimate p99 = row->summary->percentile_ns[SIM_AT_P99];
            if (row->is_unstable)
                p99 = (struct sim_estimate){NAN, NAN};
            ti_json_object (json, NULL);
            ti_json_real (json, "load", row->study->load);
            ti_json_bool (json, "unstable", row->is_unstable);
            ti_json_real (json, "p99_ms", p99.value / 1e6);
            write_interval (json, "ci95_ms", p99);
            ti_json_real (json, "executions_per_call", row->summary->executions_per_call.value);
            ti_json_real (json, "copies_per_call", row->summary->copies_per_call.value);
            ti_json_end (json);
        }
        ti_json_end (json);
        ti_json_end (json);
    }
    ti_json_end (json);
}

static void write_front (const struct sim_points *rows, struct ti_json *json)
{
    ti_json_array (json, "pareto");
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct sim_point *row = &rows->items[i];
        double p99 = row->is_unstable ? NAN : row->summary->percentile_ns[SIM_AT_P99].value;
        ti_json_object (json, NULL);
        ti_json_string (json, "policy", row->policy->name);
        ti_json_real (json, "load", row->study->load >= 0 ? row->study->load : NAN);
        ti_json_real (json, "p99_ms", p99 / 1e6);
        ti_json_real (json, "extra_executions", row->summary->executions_per_call.value - 1);
        ti_json_real (json, "extra_copies", row->summary->copies_per_call.value - 1);
        ti_json_bool (json, "dominated", row->is_beaten);
        ti_json_bool (json, "dominated_in_copies", row->is_beaten_in_copies);
        ti_json_end (json);
    }
    ti_json_end (json);
}

static void write_found (const struct sim_output *output, struct ti_json *json)
{
    char ppm[SIM_PPM_MAX];
    ti_json_array (json, "capacity");
    for (uint32_t i = 0; i < output->found_count; i++) {
        const struct sim_capacity_found *found = &output->found[i];
        ti_json_object (json, NULL);
        ti_json_string (json, "policy", found->policy);
        ti_json_string (json, "figure", sim_format_ppm (found->ppm, ppm));
        ti_json_ms (json, "goal_ms", found->goal_ns);
        ti_json_real (json, "load", found->capacity.load);
        ti_json_real (json, "step", found->capacity.step);
        ti_json_real (json, "value_ms", found->capacity.percentile_ns.value / 1e6);
        write_interval (json, "ci95_ms", found->capacity.percentile_ns);
        ti_json_end (json);
    }
    ti_json_end (json);
}

static void write_top (const void *context, struct ti_json *json)
{
    const struct sim_report *self = context;
    const struct sim_output *output = self->output;
    char hash[24];
    uint64_t cut = 0;
    bool is_out_of_time = false;
    for (uint32_t i = 0; i < self->rows.count; i++)
        cut += self->rows.items[i].summary->sum.cut_requests;
    for (uint32_t i = 0; i < output->studies_count; i++)
        is_out_of_time = is_out_of_time || output->studies[i].out_of_time;
    snprintf (hash, sizeof hash, "%016llx", (unsigned long long)trace_hash (&self->rows));
    ti_json_string (json, "scenario_name", output->scenario->name);
    ti_json_string (json, "title", output->scenario->title);
    ti_json_string (json, "scenario", output->scenario->source);
    ti_json_u64 (json, "replications",
                 output->studies_count ? output->studies[0].replications
                                       : output->scenario->amount.replications);
    ti_json_u64 (json, "cut_requests", cut);
    ti_json_string (json, "trace_hash", hash);
    ti_json_bool (json, "out_of_time", is_out_of_time);
    ti_json_ms (json, "wall_ms", output->wall_ns);
    write_published (self, json);
    if (self->rows.loads > 1 && !output->is_grid)
        write_sweep (&self->rows, json);
    if (self->rows.count > 1)
        write_front (&self->rows, json);
    if (output->found_count > 0)
        write_found (output, json);
    if (output->replay)
        sim_write_replay_json (output, json);
}

const struct ti_report_more sim_json_more = {
    .top = write_top, .policy = write_policy, .cancels = write_cancels};

int sim_output_write_json (const struct sim_output *output, FILE *file)
{
    struct sim_report *self = sim_report_new (output);
    if (!self)
        return TIED_ERR_SYSTEM;
    int rc = ti_report_write_json (&self->report, file);
    sim_report_free (self);
    return rc;
}
