/* SPDX-License-Identifier: MIT */
/*
 * The report as one HTML page that needs nothing else: no address is referenced, the drawings are
 * inline SVG, and the JSON report is inside for machines. Every tag is closed, so that strict
 * parsers can read it too.
 */
#include "html.h"

#include "html_page.h"
#include "report_text.h"
#include "utf8.h"

#include <tied/error.h>
#include <tied/types.h>

void ti_html_text (FILE *file, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        size_t length = ti_utf8_length (s);
        if (length == 0 || (*s < 0x20 && *s != '\n' && *s != '\t') || *s == 0x7f) {
            fputs ("&#65533;", file);
            s++;
            continue;
        }
        if (*s == '&')
            fputs ("&amp;", file);
        else if (*s == '<')
            fputs ("&lt;", file);
        else if (*s == '>')
            fputs ("&gt;", file);
        else if (*s == '"')
            fputs ("&quot;", file);
        else if (*s == '\'')
            fputs ("&#39;", file);
        else
            fwrite (s, 1, length, file);
        s += length;
    }
}

static void write_head (const struct ti_report *self, FILE *file)
{
    fputs ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<title>",
           file);
    ti_html_text (file, self->program ? self->program : "tied");
    fputs (": latency and extra work</title>\n<style>\n", file);
    fputs (page_colours, file);
    fputs (page_style, file);
    fputs ("</style>\n</head>\n", file);
}

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
    fputs ("<div class=\"charts\">\n<section>\n<h2>Latency</h2>\n<ul class=\"legend\">\n", file);
    for (uint32_t i = 0; i < self->policies_count; i++) {
        fputs ("<li>", file);
        ti_html_swatch (i, file);
        ti_html_text (file, self->policies[i].policy);
        fputs ("</li>\n", file);
    }
    fputs ("</ul>\n", file);
    fputs ("<div class=\"wide\">\n", file);
    ti_html_curves (self, file);
    fputs ("</div>\n", file);
    fputs ("<p id=\"readout\"></p>\n</section>\n<section>\n<h2>Extra work</h2>\n", file);
    ti_html_bars (self, file);
    fputs ("</section>\n</div>\n", file);
}

static void write_table (const struct ti_report *self, FILE *file)
{
    struct ti_table table;
    char note[TI_REPORT_LINE_MAX];
    uint32_t cursor = 0;
    ti_report_fill_table (self, &table);
    fputs ("<section>\n<h2>Figures</h2>\n<div class=\"wide\">\n<table>\n<thead>\n<tr>", file);
    for (uint32_t i = 0; i < table.groups_count; i++)
        fprintf (file, "<th colspan=\"%u\">%s</th>", (unsigned)table.groups[i].columns,
                 table.groups[i].title);
    fputs ("</tr>\n<tr>", file);
    for (uint32_t i = 0; i < table.columns; i++)
        fprintf (file, "<th>%s</th>", table.titles[i]);
    fputs ("</tr>\n</thead>\n<tbody>\n", file);
    for (uint32_t row = 0; row < table.rows; row++) {
        fputs ("<tr>", file);
        for (uint32_t i = 0; i < table.columns; i++) {
            fputs ("<td>", file);
            if (i == 0)
                ti_html_swatch (row, file);
            ti_html_text (file, table.cells[row][i]);
            fputs ("</td>", file);
        }
        fputs ("</tr>\n", file);
    }
    fputs ("</tbody>\n</table>\n</div>\n", file);
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

static int write_end (const struct ti_report *self, FILE *file)
{
    int major, minor, patch;
    tied_version (&major, &minor, &patch);
    if (self->command) {
        fputs ("<section>\n<h2>Command</h2>\n<pre>", file);
        ti_html_text (file, self->command);
        fputs ("</pre>\n</section>\n", file);
    }
    fprintf (
        file,
        "<footer>tied %d.%d.%d. The figures are in this file as JSON, schema %d, in the script "
        "element named report.</footer>\n</main>\n"
        "<script type=\"application/json\" id=\"report\">\n",
        major, minor, patch, TI_REPORT_SCHEMA);
    int rc = ti_report_write_json (self, file);
    fputs ("</script>\n<script>\n", file);
    fputs (page_script, file);
    fputs ("</script>\n</body>\n</html>\n", file);
    return rc;
}

int ti_report_write_html (const struct ti_report *self, FILE *file)
{
    write_head (self, file);
    fputs ("<body>\n<main>\n", file);
    write_summary (self, file);
    write_charts (self, file);
    write_table (self, file);
    int rc = write_end (self, file);
    if (rc == TIED_OK && (fflush (file) != 0 || ferror (file)))
        return TIED_ERR_SYSTEM;
    return rc;
}
