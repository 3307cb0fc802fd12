/* SPDX-License-Identifier: MIT */
/*
 * The page of a simulation: what was found, p99 against load, extra work, distributions, tables,
 * published figures, and the scenario itself, so that it can be run again. It references nothing.
 */
#include <stdlib.h>

#include "output/internal.h"
#include "tools/html.h"

#include <tied/error.h>

/* More curves than this in one drawing cannot be told apart; variants lie close together. */
#define CURVES_MAX      SIM_POLICIES_MAX
#define CURVES_GRID_MAX 8

static void write_summary (const struct sim_report *self, FILE *file)
{
    char sentence[SIM_SENTENCE_MAX], settings[SIM_SETTINGS_MAX];
    const struct sim_scenario *scenario = self->output->scenario;
    fputs ("<h1>", file);
    ti_html_text (file, scenario->title ? scenario->title : "Latency and extra work");
    fputs ("</h1>\n<p class=\"settings\">", file);
    ti_html_text (file, sim_output_settings (self->output, settings));
    fputs ("</p>\n<p class=\"lead\">", file);
    ti_html_text (file, ti_report_sentence (&self->report, sentence));
    fputs ("</p>\n", file);
}

static uint32_t rows_at (const struct sim_points *rows, uint32_t load)
{
    return rows->first[load + 1] - rows->first[load];
}

static void write_sweep (const struct sim_report *self, FILE *file)
{
    fputs ("<section>\n<h2>p99 against load</h2>\n", file);
    ti_html_legend (&self->report, 0, rows_at (&self->rows, 0), file);
    fputs ("<div class=\"wide\">\n", file);
    sim_html_loads (&self->rows, file);
    fputs ("</div>\n<p class=\"note\">Bands are 95 % intervals. A curve ends where its policy is "
           "unstable.</p>\n</section>\n",
           file);
}

static void write_front (const struct sim_report *self, uint32_t load, FILE *file)
{
    const struct sim_points *rows = &self->rows;
    fputs ("<section>\n<h2>p99 against extra work", file);
    if (rows->loads > 1)
        fprintf (file, ", load %.4g", rows->items[rows->first[load]].study->load);
    fputs ("</h2>\n<div class=\"wide\">\n", file);
    sim_html_front (rows, rows->first[load], rows_at (rows, load), file);
    fputs ("</div>\n<p class=\"note\">The line joins the points that no other beats in both. "
           "Point at one to read it.</p>\n</section>\n",
           file);
}

static void write_distribution (const struct sim_report *self, uint32_t load, FILE *file)
{
    uint32_t first = self->rows.first[load], count = rows_at (&self->rows, load);
    fputs ("<div class=\"charts\">\n<section>\n<h2>Latency</h2>\n", file);
    ti_html_legend (&self->report, first, count, file);
    fputs ("<div class=\"wide\">\n", file);
    ti_html_curves (&self->report, first, count, file);
    fputs ("</div>\n<p class=\"readout\"></p>\n</section>\n<section>\n<h2>Extra work</h2>\n", file);
    ti_html_bars (&self->report, first, count, file);
    fputs ("</section>\n</div>\n", file);
}

static void write_charts (const struct sim_report *self, FILE *file)
{
    const struct sim_points *rows = &self->rows;
    bool is_sweep = rows->loads > 1 && !self->output->is_grid;
    if (is_sweep)
        write_sweep (self, file);
    for (uint32_t i = 0; i < rows->loads && (self->output->is_grid || !is_sweep); i++)
        if (rows_at (rows, i) > 1)
            write_front (self, i, file);
    for (uint32_t i = 0; i < rows->loads; i++) {
        if (rows_at (rows, i) > (self->output->is_grid ? CURVES_GRID_MAX : CURVES_MAX))
            continue;
        if (is_sweep)
            fprintf (file, "<details>\n<summary>Distributions at load %.4g</summary>\n",
                     rows->items[rows->first[i]].study->load);
        write_distribution (self, i, file);
        if (is_sweep)
            fputs ("</details>\n", file);
    }
}

static void
write_table (const char *title, const struct ti_table *table, const uint32_t *swatches, FILE *file)
{
    if (table->rows == 0)
        return;
    fputs ("<section>\n<h2>", file);
    ti_html_text (file, title);
    fputs ("</h2>\n", file);
    ti_html_table (table, swatches, file);
    fputs ("</section>\n", file);
}

static void write_tables (const struct sim_report *self, struct ti_table *table, FILE *file)
{
    const struct sim_points *rows = &self->rows;
    uint32_t *swatches = calloc (rows->count + 1, sizeof *swatches);
    for (uint32_t i = 0; swatches && i < rows->loads; i++)
        for (uint32_t at = rows->first[i]; at < rows->first[i + 1]; at++)
            swatches[at] = at - rows->first[i];
    sim_fill_figures (rows, 0, rows->count, self->output->is_grid, table);
    write_table ("Figures", table, swatches, file);
    free (swatches);
    sim_fill_differences (rows, 0, rows->count, table);
    write_table ("Differences to the first policy, replication by replication", table, NULL, file);
    sim_fill_published (self->output, rows, table);
    write_table ("Published figures beside ours", table, NULL, file);
    if (self->output->found_count > 0) {
        sim_fill_found (self->output, table);
        write_table ("Capacity", table, NULL, file);
    }
}

static void write_notes (const struct sim_report *self, FILE *file)
{
    char line[SIM_SETTINGS_MAX];
    uint32_t cursor = 0;
    fputs ("<section>\n<h2>How to read it</h2>\n"
           "<p class=\"note\">&#177; is the half-width of a 95 % interval (Student's t) over "
           "independent "
           "replications; figures are means over replications, max the mean of their longest "
           "requests. Policies meet the same arrivals and the same service times. Latency counts "
           "from the intended time of a request to its answer. Runs are executions started; twice "
           "counts calls that ran more than once; wasted is the share of the service whose "
           "result nobody used.</p>\n",
           file);
    while (sim_output_next_note (self->output, &self->rows, &cursor, line)) {
        fputs ("<p class=\"note\">Note: ", file);
        ti_html_text (file, line);
        fputs ("</p>\n", file);
    }
    fputs ("</section>\n", file);
}

static void write_scenario (const struct sim_scenario *scenario, FILE *file)
{
    if (!scenario->source)
        return;
    fputs ("<section>\n<h2>Scenario</h2>\n<pre id=\"scenario\">", file);
    ti_html_text (file, scenario->source);
    fputs ("</pre>\n</section>\n", file);
}

int sim_output_write_html (const struct sim_output *output, FILE *file)
{
    char title[128];
    struct ti_table *table = malloc (sizeof *table);
    struct sim_report *self = sim_report_new (output);
    if (!table || !self) {
        free (table);
        sim_report_free (self);
        return TIED_ERR_SYSTEM;
    }
    snprintf (title, sizeof title, "%.30s: %.48s", output->program, output->scenario->name);
    ti_html_begin (file, title);
    write_summary (self, file);
    write_charts (self, file);
    write_tables (self, table, file);
    write_notes (self, file);
    write_scenario (output->scenario, file);
    int rc = ti_html_end (&self->report, file);
    free (table);
    sim_report_free (self);
    if (rc == TIED_OK && (fflush (file) != 0 || ferror (file)))
        return TIED_ERR_SYSTEM;
    return rc;
}
