/* SPDX-License-Identifier: MIT */
/* Drawings of many points: p99 against load with bands, and p99 against extra work. */
#include <math.h>
#include <stdlib.h>

#include "output/internal.h"
#include "study/summary.h"
#include "tools/html.h"
#include "tools/html_plot.h"

#define WIDTH  760
#define HEIGHT 420
#define LEFT   72.0
#define RIGHT  744.0
#define TOP    14.0
#define BOTTOM 364.0

/* Largest over smallest from which a linear axis would flatten the small. */
#define LINEAR_RATIO_MAX 20

static double p99_ms (const struct sim_point *row)
{
    return row->summary->percentile_ns[SIM_AT_P99].value / 1e6;
}

static double half_ms (const struct sim_point *row)
{
    double half = row->summary->percentile_ns[SIM_AT_P99].half / 1e6;
    return isfinite (half) ? half : 0;
}

static bool is_drawn (const struct sim_point *row)
{
    return !row->is_unstable && isfinite (p99_ms (row)) && p99_ms (row) > 0;
}

/* The axis of p99 for these rows. */
static struct ti_axis axis_of (const struct sim_point *rows, uint32_t count)
{
    double low = INFINITY, high = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_drawn (&rows[i])) {
            low = fmin (low, fmax (p99_ms (&rows[i]) - half_ms (&rows[i]), p99_ms (&rows[i]) / 2));
            high = fmax (high, p99_ms (&rows[i]) + half_ms (&rows[i]));
        }
    if (!(high > 0))
        return ti_axis_linear (0, 1, BOTTOM, TOP);
    return high > LINEAR_RATIO_MAX * low ? ti_axis_log (low, high, BOTTOM, TOP)
                                         : ti_axis_linear (0, high, BOTTOM, TOP);
}

static void begin (const char *title, FILE *file)
{
    fprintf (file, "<svg class=\"solo\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s</title>\n",
             WIDTH, HEIGHT, title);
}

static const char *p99_title (const struct ti_axis *axis)
{
    return axis->is_log ? "p99, ms, log scale" : "p99, ms";
}

/* The row of policy `policy` at load number `load`. */
static const struct sim_point *
row_at (const struct sim_points *rows, uint32_t load, uint32_t policy)
{
    return &rows->items[rows->first[load] + policy];
}

static void draw_band (const struct sim_points *rows,
                       uint32_t policy,
                       const struct ti_axis *x,
                       const struct ti_axis *y,
                       FILE *file)
{
    fprintf (file, "<polygon class=\"band s%u\" points=\"", (unsigned)policy % TI_HTML_COLOURS);
    for (uint32_t i = 0; i < rows->loads; i++) {
        const struct sim_point *row = row_at (rows, i, policy);
        if (is_drawn (row))
            fprintf (file, "%.1f,%.1f ", ti_axis_at (x, row->study->load),
                     ti_axis_at (y, p99_ms (row) + half_ms (row)));
    }
    for (uint32_t i = rows->loads; i-- > 0;) {
        const struct sim_point *row = row_at (rows, i, policy);
        if (is_drawn (row))
            fprintf (file, "%.1f,%.1f ", ti_axis_at (x, row->study->load),
                     ti_axis_at (y, p99_ms (row) - half_ms (row)));
    }
    fputs ("\"/>\n", file);
}

static void draw_point (
    const struct sim_point *row, uint32_t style, double x, double y, const char *class, FILE *file)
{
    char text[SIM_ESTIMATE_MAX];
    fprintf (file, "<circle class=\"%s s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", class,
             (unsigned)style % TI_HTML_COLOURS, x, y);
    ti_html_text (file, row->policy->name);
    if (row->study->load >= 0)
        fprintf (file, ", load %.4g", row->study->load);
    fprintf (file, ": p99 %s ms, %.3f executions and %.3f copies per call</title></circle>\n",
             sim_format_estimate (row->summary->percentile_ns[SIM_AT_P99], 1e-6, text),
             row->summary->executions_per_call.value, row->summary->copies_per_call.value);
}

static void draw_curve (const struct sim_points *rows,
                        uint32_t policy,
                        const struct ti_axis *x,
                        const struct ti_axis *y,
                        FILE *file)
{
    draw_band (rows, policy, x, y, file);
    fprintf (file, "<polyline class=\"curve s%u\" stroke-dasharray=\"%s\" points=\"",
             (unsigned)policy % TI_HTML_COLOURS, ti_html_dash (policy));
    for (uint32_t i = 0; i < rows->loads; i++) {
        const struct sim_point *row = row_at (rows, i, policy);
        if (is_drawn (row))
            fprintf (file, "%.1f,%.1f ", ti_axis_at (x, row->study->load),
                     ti_axis_at (y, p99_ms (row)));
    }
    fputs ("\"/>\n", file);
    for (uint32_t i = 0; i < rows->loads; i++) {
        const struct sim_point *row = row_at (rows, i, policy);
        if (is_drawn (row))
            draw_point (row, policy, ti_axis_at (x, row->study->load), ti_axis_at (y, p99_ms (row)),
                        "mark", file);
    }
}

void sim_html_loads (const struct sim_points *rows, FILE *file)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < rows->count; i++) {
        low = fmin (low, rows->items[i].study->load);
        high = fmax (high, rows->items[i].study->load);
    }
    struct ti_axis x = ti_axis_linear (low, high, LEFT, RIGHT);
    struct ti_axis y = axis_of (rows->items, rows->count);
    begin ("p99 of each policy against the load", file);
    ti_axes_draw (&x, &y, "load", p99_title (&y), file);
    for (uint32_t policy = 0; policy < rows->first[1]; policy++)
        draw_curve (rows, policy, &x, &y, file);
    fputs ("</svg>\n", file);
}

static double extra (const struct sim_point *row)
{
    return row->summary->executions_per_call.value - 1;
}

/* The points that are not beaten, from little work to much. */
static void draw_front (const struct sim_point *rows,
                        uint32_t count,
                        const struct ti_axis *x,
                        const struct ti_axis *y,
                        FILE *file)
{
    double last = -INFINITY;
    fputs ("<polyline class=\"front\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1\" "
           "stroke-dasharray=\"2 3\" points=\"",
           file);
    for (;;) {
        const struct sim_point *next = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (is_drawn (&rows[i]) && !rows[i].is_beaten && extra (&rows[i]) > last &&
                (!next || extra (&rows[i]) < extra (next)))
                next = &rows[i];
        if (!next)
            break;
        last = extra (next);
        fprintf (file, "%.1f,%.1f ", ti_axis_at (x, last), ti_axis_at (y, p99_ms (next)));
    }
    fputs ("\"/>\n", file);
}

void sim_html_front (const struct sim_points *all, uint32_t first, uint32_t count, FILE *file)
{
    const struct sim_point *rows = &all->items[first];
    double high = 0.001;
    for (uint32_t i = 0; i < count; i++)
        if (is_drawn (&rows[i]))
            high = fmax (high, extra (&rows[i]));
    struct ti_axis x = ti_axis_linear (0, high, LEFT, RIGHT);
    struct ti_axis y = axis_of (rows, count);
    begin ("p99 of each policy against the executions that it adds", file);
    ti_axes_draw (&x, &y, "executions per call beyond one", p99_title (&y), file);
    draw_front (rows, count, &x, &y, file);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_drawn (&rows[i]))
            continue;
        double at = ti_axis_at (&x, extra (&rows[i])), up = ti_axis_at (&y, p99_ms (&rows[i]));
        draw_point (&rows[i], i, at, up, rows[i].is_beaten ? "point beaten" : "point", file);
        if (count <= 12) {
            bool is_right = at > (LEFT + RIGHT) / 2;
            fprintf (file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                     is_right ? at - 6 : at + 6, up - 7, is_right ? "end" : "start");
            ti_html_text (file, rows[i].policy->name);
            fputs ("</text>\n", file);
        }
    }
    fputs ("</svg>\n", file);
}
