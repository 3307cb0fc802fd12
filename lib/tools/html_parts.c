/* SPDX-License-Identifier: MIT */
/*
 * What every HTML report consists of: head and end of the page, escaping, legend and table. No
 * address is referenced, and every tag is closed, so that strict parsers can read it too.
 */
#include "html.h"

#include <string.h>

#include "html_page.h"
#include "text/utf8.h"

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

void ti_html_begin (FILE *file, const char *title)
{
    fputs ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<title>",
           file);
    ti_html_text (file, title);
    fputs ("</title>\n<style>\n", file);
    fputs (page_colours, file);
    fputs (page_style, file);
    fputs ("</style>\n</head>\n<body>\n<main>\n", file);
}

void ti_html_legend (const struct ti_report *self, uint32_t first, uint32_t count, FILE *file)
{
    fputs ("<ul class=\"legend\">\n", file);
    for (uint32_t i = 0; i < count; i++) {
        fputs ("<li>", file);
        ti_html_swatch (i, file);
        ti_html_text (file, self->policies[first + i].policy);
        fputs ("</li>\n", file);
    }
    fputs ("</ul>\n", file);
}

/* A cell; "+-" has a sign of its own where text need not be ASCII. */
static void write_cell (FILE *file, const char *text)
{
    const char *sign = strstr (text, "+-");
    char before[TI_TABLE_NAME_MAX];
    if (!sign) {
        ti_html_text (file, text);
        return;
    }
    snprintf (before, sizeof before, "%.*s", (int)(sign - text), text);
    ti_html_text (file, before);
    fputs ("&#177;", file);
    ti_html_text (file, sign + 2);
}

void ti_html_table (const struct ti_table *table, const uint32_t *swatches, FILE *file)
{
    fputs ("<div class=\"wide\">\n<table>\n<thead>\n<tr>", file);
    for (uint32_t i = 0; i < table->groups_count; i++)
        fprintf (file, "<th colspan=\"%u\">%s</th>", (unsigned)table->groups[i].columns,
                 table->groups[i].title);
    fputs ("</tr>\n<tr>", file);
    for (uint32_t i = 0; i < table->columns; i++)
        fprintf (file, "<th>%s</th>", table->titles[i]);
    fputs ("</tr>\n</thead>\n<tbody>\n", file);
    for (uint32_t row = 0; row < table->rows; row++) {
        fputs ("<tr>", file);
        for (uint32_t i = 0; i < table->columns; i++) {
            fputs ("<td>", file);
            if (i == 0 && swatches)
                ti_html_swatch (swatches[row], file);
            write_cell (file, ti_table_cell (table, row, i));
            fputs ("</td>", file);
        }
        fputs ("</tr>\n", file);
    }
    fputs ("</tbody>\n</table>\n</div>\n", file);
}

int ti_html_end (const struct ti_report *self, FILE *file)
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
