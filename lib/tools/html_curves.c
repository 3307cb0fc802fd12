/* SPDX-License-Identifier: MIT */
/*
 * Latency distributions as curves. x is log10 (1 / (1 - share)), so that 90 %, 99 % and 99.9 % are
 * equally far apart; y is milliseconds, linear unless the longest calls would flatten the rest.
 */
#include "html.h"

#include <math.h>
#include <stdbool.h>

#include "html_plot.h"
#include "text/units.h"

#define WIDTH  760
#define HEIGHT 420
#define LEFT   72.0
#define RIGHT  744.0
#define TOP    14.0
#define BOTTOM 364.0

/* Longest over median from which a linear axis shows mostly empty space. */
#define LINEAR_RATIO_MAX 40

/* Which policies are drawn, and on which axes. */
struct chart {
    const struct ti_report *report;
    uint32_t first, count;
    double decades;   /* of the x axis */
    struct ti_axis y; /* ms */
};

static double to_ms (uint64_t ns)
{
    return (double)ns / 1e6;
}

static double x_of (const struct chart *self, double share)
{
    double decades = share < 1 ? -log10 (1 - share) : self->decades;
    return LEFT + (RIGHT - LEFT) * fmin (decades / self->decades, 1);
}

static double y_of (const struct chart *self, uint64_t ns)
{
    return ti_axis_at (&self->y, to_ms (ns));
}

static void choose_axes (struct chart *self)
{
    double median = INFINITY, least = INFINITY, high = 0, decades = 1;
    for (uint32_t i = 0; i < self->count; i++) {
        const struct ti_report_policy *policy = &self->report->policies[self->first + i];
        const struct ti_hist *latency = policy->latency;
        if (!ti_report_has_latency (policy))
            continue;
        decades = fmax (decades, log10 ((double)latency->total));
        high = fmax (high, to_ms (latency->max));
        median = fmin (median, to_ms (ti_hist_percentile (latency, TI_HIST_P50)));
        least = fmin (least, to_ms (ti_hist_percentile (latency, 10000)));
    }
    self->decades = ceil (decades * 4) / 4;
    if (!(high > 0))
        high = 1;
    if (high > LINEAR_RATIO_MAX * median)
        self->y = ti_axis_log (fmax (least, high / 1e6), high, BOTTOM, TOP);
    else
        self->y = ti_axis_linear (0, high, BOTTOM, TOP);
}

static void draw_y_tick (const struct chart *self, double ms, FILE *file)
{
    double y = ti_axis_at (&self->y, ms);
    fprintf (file,
             "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
             "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
             LEFT, y, RIGHT, y, LEFT - 8, y + 4, ms);
}

static void draw_x_tick (const struct chart *self, double share, const char *label, FILE *file)
{
    double x = x_of (self, share);
    /* The last label may be long: it ends at the edge of the drawing. */
    bool is_last = x > RIGHT - 20;
    fprintf (file,
             "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
             "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s %%</text>\n",
             x, TOP, x, BOTTOM, is_last ? WIDTH - 2 : x, BOTTOM + 18, is_last ? "end" : "middle",
             label);
}

static void draw_axes (const struct chart *self, FILE *file)
{
    static const char *const labels[] = {"0",     "90",     "99",      "99.9",
                                         "99.99", "99.999", "99.9999", "99.99999"};
    double ms;
    for (uint32_t cursor = 0; ti_axis_tick (&self->y, &cursor, &ms);)
        draw_y_tick (self, ms, file);
    for (uint32_t i = 0; i < sizeof labels / sizeof labels[0] && i <= self->decades; i++)
        draw_x_tick (self, 1 - pow (10, -(double)i), labels[i], file);
    if ((RIGHT - LEFT) / self->decades > 120)
        draw_x_tick (self, 0.5, "50", file);
    fprintf (file,
             "<text class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">share of calls that "
             "took this long or less</text>\n"
             "<text class=\"axis\" transform=\"translate(16 %.1f) rotate(-90)\" "
             "text-anchor=\"middle\">latency, ms%s</text>\n",
             (LEFT + RIGHT) / 2, HEIGHT - 14, (TOP + BOTTOM) / 2,
             self->y.is_log ? ", log scale" : "");
}

static void draw_marks (const struct chart *self, uint32_t index, FILE *file)
{
    static const struct {
        uint32_t ppm;
        const char *name;
    } marks[] = {
        {TI_HIST_P50, "p50"}, {TI_HIST_P90, "p90"}, {TI_HIST_P99, "p99"}, {TI_HIST_P99_9, "p99.9"}};
    char text[TI_UNITS_TEXT_MAX];
    const struct ti_report_policy *policy = &self->report->policies[self->first + index];
    for (uint32_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        double share = marks[i].ppm / 1e6;
        if ((1 - share) * (double)policy->latency->total < 1)
            continue;
        uint64_t ns = ti_hist_percentile (policy->latency, marks[i].ppm);
        fprintf (file, "<circle class=\"mark s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
                 (unsigned)index % TI_HTML_COLOURS, x_of (self, share), y_of (self, ns));
        ti_html_text (file, policy->policy);
        fprintf (file, " %s: %s ms</title></circle>\n", marks[i].name, ti_format_ms (ns, text));
    }
}

static void draw_curve (const struct chart *self, uint32_t index, FILE *file)
{
    struct ti_report_point points[TI_REPORT_POINTS_MAX];
    const struct ti_hist *latency = self->report->policies[self->first + index].latency;
    uint32_t count = ti_report_distribution (latency, points);
    fprintf (file, "<polyline class=\"curve s%u\" stroke-dasharray=\"%s\" points=\"",
             (unsigned)index % TI_HTML_COLOURS, ti_html_dash (index));
    for (uint32_t i = 0; i < count; i++) {
        /* The longest call is the last of `total`: it stands where one sample lies above. */
        double share = i + 1 < count ? points[i].share : 1 - 1 / (double)latency->total;
        fprintf (file, "%s%.1f,%.1f", i ? " " : "", x_of (self, share), y_of (self, points[i].ns));
    }
    fputs ("\"/>\n", file);
    draw_marks (self, index, file);
}

void ti_html_curves (const struct ti_report *self, uint32_t first, uint32_t count, FILE *file)
{
    struct chart chart = {.report = self, .first = first, .count = count};
    choose_axes (&chart);
    fprintf (file,
             "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" data-left=\"%g\" "
             "data-right=\"%g\" data-width=\"%d\" data-decades=\"%g\" data-first=\"%u\" "
             "data-count=\"%u\">\n"
             "<title>Latency of each policy against the share of calls</title>\n",
             WIDTH, HEIGHT, LEFT, RIGHT, WIDTH, chart.decades, (unsigned)first, (unsigned)count);
    draw_axes (&chart, file);
    fprintf (file,
             "<line class=\"cursor\" x1=\"0\" y1=\"%.1f\" x2=\"0\" y2=\"%.1f\" "
             "visibility=\"hidden\"/>\n",
             TOP, BOTTOM);
    for (uint32_t i = 0; i < count; i++)
        if (ti_report_has_latency (&self->policies[first + i]))
            draw_curve (&chart, i, file);
    fputs ("</svg>\n", file);
}
