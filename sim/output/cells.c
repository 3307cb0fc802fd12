/* SPDX-License-Identifier: MIT */
/* Figures as cells of tables, for the text and for the page. */
#include <math.h>
#include <string.h>

#include "output/internal.h"
#include "study/summary.h"
#include "text/units.h"

const char *const sim_percentile_names[SIM_PERCENTILES] = {"p50", "p90",   "p95",
                                                           "p99", "p99_9", "max"};

const char *
sim_format_estimate (struct sim_estimate estimate, double factor, char buffer[SIM_ESTIMATE_MAX])
{
    double value = estimate.value * factor, half = estimate.half * factor;
    if (!isfinite (value)) {
        snprintf (buffer, SIM_ESTIMATE_MAX, "-");
        return buffer;
    }
    /* Two digits of the half-width, or three of a value that stands alone. */
    bool has_half = isfinite (half) && half > 0;
    double size = has_half ? half : fabs (value) / 10;
    double decimals = size > 0 ? 1 - floor (log10 (size)) : 2;
    int shown = (int)fmin (fmax (decimals, 0), 5);
    if (has_half)
        snprintf (buffer, SIM_ESTIMATE_MAX, "%.*f +-%.*f", shown, value, shown, half);
    else
        snprintf (buffer, SIM_ESTIMATE_MAX, "%.*f", shown, value);
    return buffer;
}

const char *sim_format_ppm (uint32_t ppm, char buffer[SIM_PPM_MAX])
{
    if (ppm == 0 || ppm >= TI_HIST_ALL)
        snprintf (buffer, SIM_PPM_MAX, "%s", ppm == 0 ? "mean" : "max");
    else
        snprintf (buffer, SIM_PPM_MAX, "p%.6g", ppm / 1e4);
    return buffer;
}

static void put_estimate (struct ti_table *table,
                          uint32_t row,
                          uint32_t *column,
                          struct sim_estimate estimate,
                          double factor)
{
    char text[SIM_ESTIMATE_MAX];
    ti_table_put (table, row, column, "%s", sim_format_estimate (estimate, factor, text));
}

/* With so many decimals. */
static void
put_fixed (struct ti_table *table, uint32_t row, uint32_t *column, int decimals, double value)
{
    if (isfinite (value))
        ti_table_put (table, row, column, "%.*f", decimals, value);
    else
        ti_table_put (table, row, column, "-");
}

/* With four significant digits. */
static void put_short (struct ti_table *table, uint32_t row, uint32_t *column, double value)
{
    if (isfinite (value))
        ti_table_put (table, row, column, "%.4g", value);
    else
        ti_table_put (table, row, column, "-");
}

static void put_load (struct ti_table *table, uint32_t row, uint32_t *column, double load)
{
    put_short (table, row, column, load < 0 ? NAN : load);
}

static void put_percentiles (struct ti_table *table,
                             uint32_t row,
                             uint32_t *column,
                             const struct sim_point *shown)
{
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++)
        if (shown->is_unstable)
            ti_table_put (table, row, column, "%s", i == 0 ? "UNSTABLE" : "-");
        else
            put_estimate (table, row, column, shown->summary->percentile_ns[i], 1e-6);
}

void sim_fill_figures (const struct sim_points *rows,
                       uint32_t first,
                       uint32_t count,
                       bool shows_front,
                       struct ti_table *table)
{
    static const struct ti_table_group groups[] = {
        {"", 2}, {"latency, ms", 6}, {"per call", 2}, {"%", 3}, {"calls", 2}, {"on front of", 2}};
    static const char *const titles[] = {"policy", "load",     "p50",    "p90",  "p95",   "p99",
                                         "p99.9",  "max",      "copies", "runs", "twice", "wasted",
                                         "busy",   "rejected", "failed", "runs", "copies"};
    ti_table_init (table, groups, shows_front ? 6 : 5, titles);
    for (uint32_t i = 0; i < count && i < TI_TABLE_ROWS_MAX; i++) {
        const struct sim_point *row = &rows->items[first + i];
        const struct sim_policy_summary *summary = row->summary;
        const uint64_t *outcomes = summary->sum.outcomes;
        uint64_t rejected = outcomes[TIED_OUTCOME_REJECTED];
        uint64_t answered = outcomes[TIED_OUTCOME_OK] + outcomes[TIED_OUTCOME_APP_ERROR];
        uint32_t column = 0;
        ti_table_put (table, i, &column, "%s", row->policy->name);
        put_load (table, i, &column, row->study->load);
        put_percentiles (table, i, &column, row);
        put_fixed (table, i, &column, 3, summary->copies_per_call.value);
        put_fixed (table, i, &column, 3, summary->executions_per_call.value);
        put_fixed (table, i, &column, 2, 100 * summary->duplicate_fraction.value);
        put_fixed (table, i, &column, 2, 100 * summary->wasted_share.value);
        put_fixed (table, i, &column, 1, 100 * summary->utilisation.value);
        ti_table_put (table, i, &column, "%llu", (unsigned long long)rejected);
        ti_table_put (table, i, &column, "%llu",
                      (unsigned long long)(summary->sum.calls - answered - rejected));
        if (shows_front) {
            ti_table_put (table, i, &column, "%s", row->is_beaten ? "" : "yes");
            ti_table_put (table, i, &column, "%s", row->is_beaten_in_copies ? "" : "yes");
        }
    }
}

void sim_fill_differences (const struct sim_points *rows,
                           uint32_t first,
                           uint32_t count,
                           struct ti_table *table)
{
    static const struct ti_table_group groups[] = {{"", 2}, {"difference, ms", 3}};
    static const char *const titles[] = {"policy", "load", "mean", "p99", "p99.9"};
    uint32_t at = 0;
    ti_table_init (table, groups, 2, titles);
    for (uint32_t i = first; i < first + count && at < TI_TABLE_ROWS_MAX; i++) {
        const struct sim_point *row = &rows->items[i];
        uint32_t column = 0;
        if (row->index == 0)
            continue;
        bool is_unstable = row->is_unstable || sim_study_is_unstable (row->study, 0);
        const struct sim_estimate none = {NAN, NAN};
        ti_table_put (table, at, &column, "%s", row->policy->name);
        put_load (table, at, &column, row->study->load);
        put_estimate (table, at, &column, is_unstable ? none : row->summary->mean_minus_ns, 1e-6);
        put_estimate (table, at, &column, is_unstable ? none : row->summary->p99_minus_ns, 1e-6);
        put_estimate (table, at, &column, is_unstable ? none : row->summary->p999_minus_ns, 1e-6);
        at++;
    }
}

void sim_fill_published (const struct sim_output *output,
                         const struct sim_points *rows,
                         struct ti_table *table)
{
    static const struct ti_table_group groups[] = {{"", 2}, {"ms", 2}, {"", 2}};
    static const char *const titles[] = {"policy", "figure",    "published",
                                         "ours",   "deviation", "agrees"};
    uint32_t at = 0;
    ti_table_init (table, groups, 3, titles);
    for (uint32_t i = 0; i < output->scenario->published_count; i++) {
        struct sim_agreement agreement;
        char ppm[SIM_PPM_MAX], verdict[32];
        uint32_t column = 0;
        if (!sim_agreement_of (output, rows, i, &agreement))
            continue;
        const struct sim_published *published = agreement.published;
        snprintf (verdict, sizeof verdict, "%s (%.3g %%)", agreement.agrees ? "ok" : "no",
                  100 * published->tolerance);
        ti_table_put (table, at, &column, "%s", published->policy);
        ti_table_put (table, at, &column, "%s", sim_format_ppm (published->ppm, ppm));
        put_short (table, at, &column, published->ms);
        put_short (table, at, &column, agreement.ours_ms);
        if (isfinite (agreement.deviation))
            ti_table_put (table, at, &column, "%+.1f %%", 100 * agreement.deviation);
        else
            ti_table_put (table, at, &column, "-");
        ti_table_put (table, at++, &column, "%s", agreement.is_judged ? verdict : "shown only");
    }
}

void sim_fill_found (const struct sim_output *output, struct ti_table *table)
{
    static const struct ti_table_group groups[] = {{"", 4}, {"at that load, ms", 1}};
    static const char *const titles[] = {"policy", "goal", "highest load", "next fails",
                                         "percentile"};
    ti_table_init (table, groups, 2, titles);
    for (uint32_t i = 0; i < output->found_count && i < TI_TABLE_ROWS_MAX; i++) {
        const struct sim_capacity_found *found = &output->found[i];
        char ppm[SIM_PPM_MAX], goal[TI_UNITS_TEXT_MAX];
        uint32_t column = 0;
        ti_table_put (table, i, &column, "%s", found->policy);
        ti_table_put (table, i, &column, "%s <= %s", sim_format_ppm (found->ppm, ppm),
                      ti_format_duration (found->goal_ns, goal));
        put_short (table, i, &column, found->capacity.load > 0 ? found->capacity.load : NAN);
        put_short (table, i, &column, found->capacity.load + found->capacity.step);
        put_estimate (table, i, &column, found->capacity.percentile_ns, 1e-6);
    }
}
