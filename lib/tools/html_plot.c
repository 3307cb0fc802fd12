/* SPDX-License-Identifier: MIT */
/* Round numbers, axes and their ticks; see html_plot.h. */
#include "html_plot.h"

#include <math.h>

/* The largest of 1, 2, 5 times a power of ten that is not above x; x > 0. */
static double round_down (double x)
{
    double power = pow (10, floor (log10 (x)));
    double digit = x / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

/* The next one above such a number. */
static double round_next (double x)
{
    double power = pow (10, floor (log10 (x) + 1e-9));
    return x / power < 1.5 ? 2 * power : x / power < 3 ? 5 * power : 10 * power;
}

struct ti_axis ti_axis_linear (double low, double high, double from, double to)
{
    struct ti_axis axis = {.from = from, .to = to};
    if (!(high > low))
        high = low + 1;
    /* The next round step above a tenth of the length leaves 4 to 10 ticks. */
    axis.step = round_next (round_down ((high - low) / 10));
    axis.low = floor (low / axis.step + 1e-9) * axis.step;
    axis.high = ceil (high / axis.step - 1e-9) * axis.step;
    return axis;
}

struct ti_axis ti_axis_log (double low, double high, double from, double to)
{
    struct ti_axis axis = {.from = from, .to = to, .is_log = true};
    double top = round_down (high);
    axis.low = round_down (low);
    axis.high = top < high ? round_next (top) : top;
    if (!(axis.high > axis.low))
        axis.high = round_next (axis.low);
    return axis;
}

double ti_axis_at (const struct ti_axis *self, double value)
{
    double part = self->is_log
                      ? log (fmax (value, self->low) / self->low) / log (self->high / self->low)
                      : (value - self->low) / (self->high - self->low);
    return self->from + (self->to - self->from) * fmin (fmax (part, 0), 1);
}

bool ti_axis_tick (const struct ti_axis *self, uint32_t *cursor, double *out)
{
    double value = self->low + *cursor * self->step;
    if (self->is_log) {
        value = self->low;
        for (uint32_t i = 0; i < *cursor; i++)
            value = round_next (value);
    }
    if (value > self->high + 1e-3 * (self->is_log ? self->high : self->step))
        return false;
    (*cursor)++;
    *out = value;
    return true;
}

void ti_axes_draw (const struct ti_axis *x,
                   const struct ti_axis *y,
                   const char *x_title,
                   const char *y_title,
                   FILE *file)
{
    double value;
    for (uint32_t cursor = 0; ti_axis_tick (y, &cursor, &value);) {
        double at = ti_axis_at (y, value);
        fprintf (file,
                 "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
                 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
                 x->from, at, x->to, at, x->from - 8, at + 4, value);
    }
    for (uint32_t cursor = 0; ti_axis_tick (x, &cursor, &value);) {
        double at = ti_axis_at (x, value);
        fprintf (file,
                 "<line class=\"grid\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
                 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.6g</text>\n",
                 at, y->from, at, y->to, at, y->from + 18, fabs (value) < 1e-12 ? 0 : value);
    }
    fprintf (file,
             "<text class=\"axis\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n"
             "<text class=\"axis\" transform=\"translate(16 %.1f) rotate(-90)\" "
             "text-anchor=\"middle\">%s</text>\n",
             (x->from + x->to) / 2, y->from + 42, x_title, (y->from + y->to) / 2, y_title);
}
