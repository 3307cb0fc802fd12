/* SPDX-License-Identifier: MIT */
/* The tables and sentences that a person reads on a terminal. */
#include <stdlib.h>

#include "output/internal.h"

#include <tied/error.h>

static void write_table (const struct ti_table *table, const char *title, FILE *file)
{
    if (table->rows == 0)
        return;
    fprintf (file, "\n%s\n\n", title);
    ti_table_write (table, file);
}

static void write_figures (const struct sim_report *self, struct ti_table *table, FILE *file)
{
    const struct sim_points *rows = &self->rows;
    char title[128];
    if (rows->count == 0)
        return;
    fputc ('\n', file);
    sim_fill_figures (rows, 0, rows->count, self->output->is_grid, table);
    ti_table_write (table, file);
    snprintf (title, sizeof title, "Difference to %.48s, replication by replication",
              rows->items[0].policy->name);
    sim_fill_differences (rows, 0, rows->count, table);
    write_table (table, title, file);
    sim_fill_published (self->output, rows, table);
    write_table (table, "Published figures beside ours", file);
}

static void write_notes (const struct sim_report *self, FILE *file)
{
    char line[SIM_SETTINGS_MAX];
    uint32_t cursor = 0;
    bool is_first = true;
    while (sim_output_next_note (self->output, &self->rows, &cursor, line)) {
        fprintf (file, "%snote: %s\n", is_first ? "\n" : "", line);
        is_first = false;
    }
}

int sim_output_write_text (const struct sim_output *output, FILE *file)
{
    char settings[SIM_SETTINGS_MAX], sentence[SIM_SENTENCE_MAX];
    struct ti_table *table = malloc (sizeof *table);
    struct sim_report *self = sim_report_new (output);
    if (!table || !self) {
        free (table);
        sim_report_free (self);
        return TIED_ERR_SYSTEM;
    }
    if (output->scenario->title)
        fprintf (file, "%s\n", output->scenario->title);
    fprintf (file, "%s\n", sim_output_settings (output, settings));
    write_figures (self, table, file);
    if (output->found_count > 0) {
        fputc ('\n', file);
        sim_fill_found (output, table);
        ti_table_write (table, file);
    }
    if (output->replay)
        sim_write_replay (output, table, file);
    write_notes (self, file);
    fprintf (file, "\n%s\n", ti_report_sentence (&self->report, sentence));
    free (table);
    sim_report_free (self);
    return fflush (file) != 0 || ferror (file) ? TIED_ERR_SYSTEM : TIED_OK;
}
