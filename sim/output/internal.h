/* SPDX-License-Identifier: MIT */
/* What the writers share: the report behind JSON and HTML, cells of tables, published figures. */
#ifndef SIM_OUTPUT_INTERNAL_H
#define SIM_OUTPUT_INTERNAL_H

#include "output/output.h"
#include "tools/json.h"
#include "tools/table.h"

/* What a report needs to live as long as it does. */
struct sim_report {
    const struct sim_output *output;
    struct sim_points rows;
    struct ti_report report;
    char sentence[SIM_SENTENCE_MAX];
};

/* A report of all rows; NULL: no memory. */
struct sim_report *sim_report_new (const struct sim_output *output);
void sim_report_free (struct sim_report *self);

/* The fields that JSON has beside those of every report. */
extern const struct ti_report_more sim_json_more;

/* "p50"... "p99_9", "max". */
extern const char *const sim_percentile_names[SIM_PERCENTILES];

#define SIM_ESTIMATE_MAX 40
/* "46.12 +-0.34": as many decimals as the half-width has use for; value x factor. "-": not known.
 * @return buffer */
const char *
sim_format_estimate (struct sim_estimate estimate, double factor, char buffer[SIM_ESTIMATE_MAX]);
#define SIM_PPM_MAX 16
/* "p99.9", "mean" for 0, "max". @return buffer */
const char *sim_format_ppm (uint32_t ppm, char buffer[SIM_PPM_MAX]);

/* Figures of rows [first, first + count) as cells. */
void sim_fill_figures (const struct sim_points *rows,
                       uint32_t first,
                       uint32_t count,
                       bool shows_front,
                       struct ti_table *table);
/* The difference of each policy to the baseline; rows of baselines are left out. */
void sim_fill_differences (const struct sim_points *rows,
                           uint32_t first,
                           uint32_t count,
                           struct ti_table *table);
void sim_fill_published (const struct sim_output *output,
                         const struct sim_points *rows,
                         struct ti_table *table);
void sim_fill_found (const struct sim_output *output, struct ti_table *table);

/* replay.c: what the command replay says beside the figures. */
void sim_write_replay (const struct sim_output *output, struct ti_table *table, FILE *file);
void sim_write_replay_json (const struct sim_output *output, struct ti_json *json);

/* A published figure beside ours. */
struct sim_agreement {
    const struct sim_published *published;
    double ours_ms;   /* NaN: unstable or without a sample */
    double deviation; /* ours / published - 1 */
    bool is_judged;   /* it has a tolerance */
    bool agrees;
};
/* @return false: no row has this policy at the scenario's own load */
bool sim_agreement_of (const struct sim_output *output,
                       const struct sim_points *rows,
                       uint32_t published,
                       struct sim_agreement *out);

/* Inline SVG of the page. */
void sim_html_loads (const struct sim_points *rows, FILE *file);
void sim_html_front (const struct sim_points *rows, uint32_t first, uint32_t count, FILE *file);

#endif
