/* SPDX-License-Identifier: MIT */
/* From counts of replications to estimates; see summary.h. */
#include "study/summary.h"

#include <math.h>

const uint32_t sim_percentiles[SIM_PERCENTILES] = {TI_HIST_P50, TI_HIST_P90,   TI_HIST_P95,
                                                   TI_HIST_P99, TI_HIST_P99_9, TI_HIST_ALL};

void sim_figures_of (const struct sim_result *result, struct sim_figures *out)
{
    const struct ti_hist *latency = result->latency;
    bool is_empty = latency->total == 0;
    out->mean_ns = is_empty ? NAN : result->latency_sum_ns / (double)latency->total;
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        out->percentile_ns[i] =
            is_empty ? NAN : (double)ti_hist_percentile (latency, sim_percentiles[i]);
}

/* The percentile over all requests, in ns; INFINITY when too few of them were answered. */
static double asked_ns (const struct sim_result *result, uint32_t ppm)
{
    /* Whole millions apart, so that the product cannot overflow; rounded up as a rank is. */
    uint64_t million = TI_HIST_ALL, requests = result->requests;
    uint64_t rank = requests / million * ppm + (requests % million * ppm + million - 1) / million;
    if (rank > result->latency->total || requests == 0)
        return INFINITY;
    return (double)ti_hist_at_rank (result->latency, rank);
}

static void add_ratio (struct sim_series *series, double part, double whole)
{
    if (whole > 0)
        sim_series_add (series, part / whole);
}

static void add_difference (struct sim_series *series, double value, double baseline)
{
    if (!isnan (value) && !isnan (baseline))
        sim_series_add (series, value - baseline);
}

void sim_summing_add (struct sim_summing *self,
                      const struct sim_result *result,
                      uint32_t ppm,
                      const struct sim_figures *figures,
                      const struct sim_figures *baseline)
{
    double calls = (double)result->calls, span = (double)result->span_ns;
    if (!isnan (figures->mean_ns)) {
        sim_series_add (&self->mean, figures->mean_ns);
        for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
            sim_series_add (&self->percentile[i], figures->percentile_ns[i]);
    }
    if (ppm > 0)
        sim_series_add (&self->asked, asked_ns (result, ppm));
    add_ratio (&self->copies, (double)result->copies, calls);
    add_ratio (&self->executions, (double)result->executions, calls);
    add_ratio (&self->duplicates, (double)result->duplicates, calls);
    add_ratio (&self->utilisation, (double)result->busy_ns, span * (double)result->workers);
    add_ratio (&self->depth, (double)result->depth_area, span * (double)result->replicas);
    add_ratio (&self->wasted, (double)result->wasted_ns, (double)result->served_ns);
    if (!baseline)
        return;
    add_difference (&self->mean_minus, figures->mean_ns, baseline->mean_ns);
    add_difference (&self->p99_minus, figures->percentile_ns[SIM_AT_P99],
                    baseline->percentile_ns[SIM_AT_P99]);
    add_difference (&self->p999_minus, figures->percentile_ns[SIM_AT_P99_9],
                    baseline->percentile_ns[SIM_AT_P99_9]);
}

void sim_summing_finish (const struct sim_summing *self, struct sim_policy_summary *out)
{
    out->mean_ns = sim_series_estimate (&self->mean);
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        out->percentile_ns[i] = sim_series_estimate (&self->percentile[i]);
    out->asked_ns = sim_series_estimate (&self->asked);
    out->copies_per_call = sim_series_estimate (&self->copies);
    out->executions_per_call = sim_series_estimate (&self->executions);
    out->duplicate_fraction = sim_series_estimate (&self->duplicates);
    out->utilisation = sim_series_estimate (&self->utilisation);
    out->queue_depth = sim_series_estimate (&self->depth);
    out->wasted_share = sim_series_estimate (&self->wasted);
    out->mean_minus_ns = sim_series_estimate (&self->mean_minus);
    out->p99_minus_ns = sim_series_estimate (&self->p99_minus);
    out->p999_minus_ns = sim_series_estimate (&self->p999_minus);
}

double sim_figure_ns (const struct sim_policy_summary *self, uint32_t ppm)
{
    if (ppm == 0)
        return self->mean_ns.value;
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        if (sim_percentiles[i] == ppm)
            return self->percentile_ns[i].value;
    return NAN;
}
