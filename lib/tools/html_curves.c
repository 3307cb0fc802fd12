/* SPDX-License-Identifier: MIT */
/*
 * Latency distributions as curves. x is log10 (1 / (1 - share)), so that 90 %, 99 % and 99.9 % are
 * equally far apart; y is milliseconds, linear unless the longest calls would flatten the rest.
 */
#include "html.h"

#include <math.h>
#include <stdbool.h>

#include "units.h"

#define WIDTH  760
#define HEIGHT 420
#define LEFT   72.0
#define RIGHT  744.0
#define TOP    14.0
#define BOTTOM 364.0

/* Longest over median from which a linear axis shows mostly empty space. */
#define LINEAR_RATIO_MAX 40

struct scale {
    bool is_log;
    double decades;   /* of the x axis */
    double low, high; /* of the y axis, ms */
    double step;      /* between ticks, linear only */
};

static const char *const dashes[TI_REPORT_POLICIES_MAX] = {"7 4", "",     "2 3",     "10 3 2 3",
                                                           "1 4", "12 4", "5 2 1 2", "3 6"};

static double to_ms (uint64_t ns)
{
    return (double)ns / 1e6;
}

static double x_of (const struct scale *scale, double share)
{
    double decades = share < 1 ? -log10 (1 - share) : scale->decades;
    return LEFT + (RIGHT - LEFT) * fmin (decades / scale->decades, 1);
}

static double y_of (const struct scale *scale, double ms)
{
    double part = scale->is_log
                      ? log (fmax (ms, scale->low) / scale->low) / log (scale->high / scale->low)
                      : ms / scale->high;
    return BOTTOM - (BOTTOM - TOP) * fmin (fmax (part, 0), 1);
}

/* The largest of 1, 2, 5 times a power of ten that is not above x. */
static double round_down (double x)
{
    double power = pow (10, floor (log10 (x)));
    double digit = x / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

static double next_round (double x)
{
    double power = pow (10, floor (log10 (x) + 1e-9));
    return x / power < 1.5 ? 2 * power : x / power < 3 ? 5 * power : 10 * power;
}

static struct scale choose_scale (const struct ti_report *self)
{
    struct scale scale = {.is_log = false, .decades = 1, .low = 0, .high = 0};
    double median = INFINITY, least = INFINITY;
    for (uint32_t i = 0; i < self->policies_count; i++) {
        const struct ti_hist *latency = self->policies[i].latency;
        if (latency->total == 0)
            continue;
        scale.decades = fmax (scale.decades, log10 ((double)latency->total));
        scale.high = fmax (scale.high, to_ms (latency->max));
        median = fmin (median, to_ms (ti_hist_percentile (latency, TI_HIST_P50)));
        least = fmin (least, to_ms (ti_hist_percentile (latency, 10000)));
    }
    scale.decades = ceil (scale.decades * 4) / 4;
    if (!(scale.high > 0))
        scale.high = 1;
    scale.is_log = scale.high > LINEAR_RATIO_MAX * median;
    if (scale.is_log) {
        scale.low = round_down (fmax (least, scale.high / 1e6));
        double top = round_down (scale.high);
        scale.high = top < scale.high ? next_round (top) : top;
    } else {
        /* The next round step above a tenth of the height leaves 4 to 10 ticks. */
        scale.step = next_round (round_down (scale.high / 10));
        scale.high = ceil (scale.high / scale.step) * scale.step;
    }
    return scale;
}

static void draw_y_tick (const struct scale *scale, double ms, FILE *file)
{
    double y = y_of (scale, ms);
    fprintf (file,
             "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
             "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
             LEFT, y, RIGHT, y, LEFT - 8, y + 4, ms);
}

static void draw_x_tick (const struct scale *scale, double share, const char *label, FILE *file)
{
    double x = x_of (scale, share);
    /* The last label may be long: it ends at the edge of the drawing. */
    bool is_last = x > RIGHT - 20;
    fprintf (file,
             "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
             "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s %%</text>\n",
             x, TOP, x, BOTTOM, is_last ? WIDTH - 2 : x, BOTTOM + 18, is_last ? "end" : "middle",
             label);
}

static void draw_axes (const struct scale *scale, FILE *file)
{
    static const char *const labels[] = {"0",     "90",     "99",      "99.9",
                                         "99.99", "99.999", "99.9999", "99.99999"};
    if (scale->is_log)
        for (double ms = scale->low; ms <= scale->high * 1.001; ms = next_round (ms))
            draw_y_tick (scale, ms, file);
    else
        for (uint32_t i = 0; i * scale->step <= scale->high * 1.001; i++)
            draw_y_tick (scale, i * scale->step, file);
    for (uint32_t i = 0; i < sizeof labels / sizeof labels[0] && i <= scale->decades; i++)
        draw_x_tick (scale, 1 - pow (10, -(double)i), labels[i], file);
    if ((RIGHT - LEFT) / scale->decades > 120)
        draw_x_tick (scale, 0.5, "50", file);
    fprintf (file,
             "<text class=\"axis\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">share of calls that "
             "took this long or less</text>\n"
             "<text class=\"axis\" transform=\"translate(16 %.1f) rotate(-90)\" "
             "text-anchor=\"middle\">latency, ms%s</text>\n",
             (LEFT + RIGHT) / 2, HEIGHT - 14, (TOP + BOTTOM) / 2,
             scale->is_log ? ", log scale" : "");
}

static void
draw_marks (const struct ti_report *self, uint32_t index, const struct scale *scale, FILE *file)
{
    static const struct {
        uint32_t ppm;
        const char *name;
    } marks[] = {
        {TI_HIST_P50, "p50"}, {TI_HIST_P90, "p90"}, {TI_HIST_P99, "p99"}, {TI_HIST_P99_9, "p99.9"}};
    char text[TI_UNITS_TEXT_MAX];
    const struct ti_report_policy *policy = &self->policies[index];
    for (uint32_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        double share = marks[i].ppm / 1e6;
        if ((1 - share) * (double)policy->latency->total < 1)
            continue;
        uint64_t ns = ti_hist_percentile (policy->latency, marks[i].ppm);
        fprintf (file, "<circle class=\"mark s%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
                 (unsigned)index, x_of (scale, share), y_of (scale, to_ms (ns)));
        ti_html_text (file, policy->policy);
        fprintf (file, " %s: %s ms</title></circle>\n", marks[i].name, ti_format_ms (ns, text));
    }
}

static void
draw_curve (const struct ti_report *self, uint32_t index, const struct scale *scale, FILE *file)
{
    struct ti_report_point points[TI_REPORT_POINTS_MAX];
    const struct ti_hist *latency = self->policies[index].latency;
    uint32_t count = ti_report_distribution (latency, points);
    if (count == 0)
        return;
    fprintf (file, "<polyline class=\"curve s%u\" stroke-dasharray=\"%s\" points=\"",
             (unsigned)index, dashes[index][0] ? dashes[index] : "none");
    for (uint32_t i = 0; i < count; i++) {
        /* The longest call is the last of `total`: it stands where one sample lies above. */
        double share = i + 1 < count ? points[i].share : 1 - 1 / (double)latency->total;
        fprintf (file, "%s%.1f,%.1f", i ? " " : "", x_of (scale, share),
                 y_of (scale, to_ms (points[i].ns)));
    }
    fputs ("\"/>\n", file);
    draw_marks (self, index, scale, file);
}

void ti_html_curves (const struct ti_report *self, FILE *file)
{
    struct scale scale = choose_scale (self);
    fprintf (file,
             "<svg id=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" data-left=\"%g\" "
             "data-right=\"%g\" data-width=\"%d\" data-decades=\"%g\">\n"
             "<title>Latency of each policy against the share of calls</title>\n",
             WIDTH, HEIGHT, LEFT, RIGHT, WIDTH, scale.decades);
    draw_axes (&scale, file);
    fprintf (file,
             "<line id=\"cursor\" x1=\"0\" y1=\"%.1f\" x2=\"0\" y2=\"%.1f\" "
             "visibility=\"hidden\"/>\n",
             TOP, BOTTOM);
    for (uint32_t i = 0; i < self->policies_count; i++)
        draw_curve (self, i, &scale, file);
    fputs ("</svg>\n", file);
}

void ti_html_swatch (uint32_t i, FILE *file)
{
    fprintf (file,
             "<svg class=\"swatch\" viewBox=\"0 0 28 10\" aria-hidden=\"true\">"
             "<line class=\"curve s%u\" stroke-dasharray=\"%s\" x1=\"0\" y1=\"5\" x2=\"28\" "
             "y2=\"5\"/></svg>",
             (unsigned)i, dashes[i][0] ? dashes[i] : "none");
}
