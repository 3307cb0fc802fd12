/* SPDX-License-Identifier: MIT */
/* Axes of drawings: which values get a tick, and where a value stands. */
#ifndef TI_HTML_PLOT_H
#define TI_HTML_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One axis: values from low to high stand between two coordinates of the drawing. */
struct ti_axis {
    double low, high;
    double from, to; /* coordinates of low and high */
    double step;     /* between ticks, linear only */
    bool is_log;
};

/* A linear axis with round ends that holds [low, high], and some 4 to 10 ticks. */
struct ti_axis ti_axis_linear (double low, double high, double from, double to);
/* A logarithmic one; 0 < low <= high. */
struct ti_axis ti_axis_log (double low, double high, double from, double to);
/* The coordinate; values beyond the ends stand at the ends. */
double ti_axis_at (const struct ti_axis *self, double value);
/* The ticks one by one: *cursor starts at 0. @return false: no more */
bool ti_axis_tick (const struct ti_axis *self, uint32_t *cursor, double *out);

/* Grid and numbers of both axes, and what they are called; texts are ours, not escaped. */
void ti_axes_draw (const struct ti_axis *x,
                   const struct ti_axis *y,
                   const char *x_title,
                   const char *y_title,
                   FILE *file);

#endif
