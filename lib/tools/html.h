/* SPDX-License-Identifier: MIT */
/*
 * The parts of an HTML report: the page around it, escaping, tables, and the drawings that show
 * policies. The report itself (html.c) and the simulator's are put together from them.
 */
#ifndef TI_HTML_H
#define TI_HTML_H

#include "report.h"
#include "table.h"

/* text with &, <, >, quotes escaped; control bytes and bytes that are not UTF-8 become U+FFFD. */
void ti_html_text (FILE *file, const char *text);

/* Everything up to the content of the page. */
void ti_html_begin (FILE *file, const char *title);
/* The rest: command, footer, and the report as JSON with the script that reads it.
 * @return as ti_report_write_json () */
TIED_NODISCARD int ti_html_end (const struct ti_report *self, FILE *file);

/* The names of the policies [first, first + count), each with a piece of its curve. */
void ti_html_legend (const struct ti_report *self, uint32_t first, uint32_t count, FILE *file);
/* Inline SVG: latency on a logarithmic percentile axis, one curve for each of these policies. It
 * stands in a section that also holds an element of the class readout. */
void ti_html_curves (const struct ti_report *self, uint32_t first, uint32_t count, FILE *file);
/* Inline SVG: what each of these policies sent and executed, as bars. */
void ti_html_bars (const struct ti_report *self, uint32_t first, uint32_t count, FILE *file);
/* The table; swatches, if not NULL, holds the style of each row. */
void ti_html_table (const struct ti_table *table, const uint32_t *swatches, FILE *file);

/* Policy i is drawn in colour i mod TI_HTML_COLOURS, with a dash that tells it from others of that
 * colour. */
#define TI_HTML_COLOURS 8
const char *ti_html_dash (uint32_t i);
/* A short piece of the curve of policy i, for legend and table. */
void ti_html_swatch (uint32_t i, FILE *file);

#endif
