/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML page that needs nothing else: the drawings are inline SVG, and the JSON
 * report is inside for machines.
 */
#include "html.h"

#include "report_text.h"

#include <tied/error.h>

static void write_summary (const struct ti_report *self, FILE *file)
{
    char sentence[TI_REPORT_SENTENCE_MAX], settings[TI_REPORT_LINE_MAX];
    fputs ("<h1>Latency and extra work, policy by policy</h1>\n<p class=\"settings\">", file);
    ti_html_text (file, ti_report_settings (self, settings));
    fputs ("</p>\n<p class=\"lead\">", file);
    ti_html_text (file, ti_report_sentence (self, sentence));
    fputs ("</p>\n", file);
}

static void write_charts (const struct ti_report *self, FILE *file)
{
    uint32_t count = self->policies_count;
    fputs ("<div class=\"charts\">\n<section>\n<h2>Latency</h2>\n", file);
    ti_html_legend (self, 0, count, file);
    fputs ("<div class=\"wide\">\n", file);
    ti_html_curves (self, 0, count, file);
    fputs ("</div>\n<p class=\"readout\"></p>\n</section>\n"
           "<section>\n<h2>Extra work</h2>\n",
           file);
    ti_html_bars (self, 0, count, file);
    fputs ("</section>\n</div>\n", file);
}

static void write_table (const struct ti_report *self, FILE *file)
{
    struct ti_table table;
    uint32_t swatches[TI_REPORT_POLICIES_MAX];
    char note[TI_REPORT_LINE_MAX];
    uint32_t cursor = 0;
    ti_report_fill_table (self, &table);
    for (uint32_t i = 0; i < self->policies_count; i++)
        swatches[i] = i;
    fputs ("<section>\n<h2>Figures</h2>\n", file);
    ti_html_table (&table, swatches, file);
    while (ti_report_next_note (self, &cursor, note)) {
        fputs ("<p class=\"note\">Note: ", file);
        ti_html_text (file, note);
        fputs ("</p>\n", file);
    }
    fputs ("<p class=\"note\">Latency counts from the intended time of a call to its answer. Runs "
           "are handlers started; twice counts calls that ran twice. An effective cancel removed a "
           "waiting copy, an early one came before its copy, a late one after the "
           "start.</p>\n</section>\n",
           file);
}

int ti_report_write_html (const struct ti_report *self, FILE *file)
{
    char title[TI_REPORT_LINE_MAX];
    snprintf (title, sizeof title, "%.100s: latency and extra work",
              self->program ? self->program : "tied");
    ti_html_begin (file, title);
    write_summary (self, file);
    write_charts (self, file);
    write_table (self, file);
    int rc = ti_html_end (self, file);
    if (rc == TIED_OK && (fflush (file) != 0 || ferror (file)))
        return TIED_ERR_SYSTEM;
    return rc;
}
