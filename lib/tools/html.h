/* SPDX-License-Identifier: MIT */
/* The drawings of the HTML report, and the escaping they share. Internal to the report. */
#ifndef TI_HTML_H
#define TI_HTML_H

#include "report.h"

/* text with &, <, >, quotes escaped; control bytes and bytes that are not UTF-8 become U+FFFD. */
void ti_html_text (FILE *file, const char *text);

/* Inline SVG: latency on a logarithmic percentile axis, one curve for each policy. */
void ti_html_curves (const struct ti_report *self, FILE *file);

/* Inline SVG: what each policy sent and executed, as bars. */
void ti_html_bars (const struct ti_report *self, FILE *file);

/* A short piece of the curve of policy i, for legend and table. */
void ti_html_swatch (uint32_t i, FILE *file);

#endif
