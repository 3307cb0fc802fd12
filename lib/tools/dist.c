/* SPDX-License-Identifier: MIT */
/* Distributions of service times; see dist.h. Parsing is in dist_parse.c. */
#include "dist.h"

#include <math.h>

#include "base/assert.h"
#include "base/util.h"

/* (random + 1/2) / 2^64, never 0. Near 1 a double has no room, hence the two functions. */
static double lower (uint64_t random)
{
    return ((double)random + 0.5) * 0x1p-64;
}

/* 1 - lower (random), with its full precision when it is small; never 0. */
static double upper (uint64_t random)
{
    return lower (~random);
}

/*
 * Standard normal quantile: a rational start (Acklam 2003, relative error below 1.2e-9) and one
 * step of Halley's method. The tail is chosen by the smaller of p and q = 1 - p, so both ends are
 * exact.
 */
static double normal_quantile (double p, double q)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                               -2.759285104469687e+02, 1.383577518672690e+02,
                               -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                               -1.556989798598866e+02, 6.680131188771972e+01,
                               -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                               -2.400758277161838e+00, -2.549732539343734e+00,
                               4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    double small = p < q ? p : q;
    double x;
    if (small < 0.02425) {
        double r = sqrt (-2 * log (small));
        x = (((((c[0] * r + c[1]) * r + c[2]) * r + c[3]) * r + c[4]) * r + c[5]) /
            ((((d[0] * r + d[1]) * r + d[2]) * r + d[3]) * r + 1);
    } else {
        double r = small - 0.5, s = r * r;
        x = (((((a[0] * s + a[1]) * s + a[2]) * s + a[3]) * s + a[4]) * s + a[5]) * r /
            (((((b[0] * s + b[1]) * s + b[2]) * s + b[3]) * s + b[4]) * s + 1);
    }
    /* x is in the lower half now. */
    double error = 0.5 * erfc (-x / sqrt (2)) - small;
    double step = error * sqrt (2 * acos (-1)) * exp (x * x / 2);
    x -= step / (1 + x * step / 2);
    return p < q ? x : -x;
}

static uint64_t clamp (double ns)
{
    if (!(ns > 0))
        return 0;
    if (ns >= (double)TI_DIST_MAX_NS)
        return TI_DIST_MAX_NS;
    return (uint64_t)(ns + 0.5);
}

uint64_t ti_dist_draw (const struct ti_dist *self, uint64_t random)
{
    double a = (double)self->a_ns, b = (double)self->b_ns;
    switch (self->kind) {
    case TI_DIST_FIXED:
        return self->a_ns;
    case TI_DIST_EXP:
        return clamp (-a * log (upper (random)));
    case TI_DIST_UNIFORM:
        return clamp (a + (b - a) * lower (random));
    case TI_DIST_BIMODAL:
        return upper (random) <= self->p ? self->b_ns : self->a_ns;
    case TI_DIST_LOGNORMAL:
        return clamp (
            exp (self->mu + self->sigma * normal_quantile (lower (random), upper (random))));
    case TI_DIST_PARETO:
        return clamp (a * pow (upper (random), -1 / self->p));
    }
    TI_UNREACHABLE ();
}

uint64_t ti_dist_mean_ns (const struct ti_dist *self)
{
    double a = (double)self->a_ns, b = (double)self->b_ns;
    switch (self->kind) {
    case TI_DIST_FIXED:
    case TI_DIST_EXP:
    case TI_DIST_LOGNORMAL:
        return self->a_ns;
    case TI_DIST_UNIFORM:
        return clamp ((a + b) / 2);
    case TI_DIST_BIMODAL:
        return clamp (a + (b - a) * self->p);
    case TI_DIST_PARETO:
        return (uint64_t)(a * self->p / (self->p - 1) + 0.5);
    }
    TI_UNREACHABLE ();
}

double ti_dist_cdf (const struct ti_dist *self, uint64_t ns)
{
    double a = (double)self->a_ns, b = (double)self->b_ns, x = (double)ns;
    if (ns >= TI_DIST_MAX_NS)
        return 1;
    switch (self->kind) {
    case TI_DIST_FIXED:
        return ns >= self->a_ns;
    case TI_DIST_EXP:
        return self->a_ns ? -expm1 (-x / a) : 1;
    case TI_DIST_UNIFORM:
        if (ns >= self->b_ns)
            return 1;
        return ns <= self->a_ns ? 0 : (x - a) / (b - a);
    case TI_DIST_BIMODAL:
        return (ns >= self->a_ns ? 1 - self->p : 0) + (ns >= self->b_ns ? self->p : 0);
    case TI_DIST_LOGNORMAL:
        if (ns == 0)
            return 0;
        if (!(self->sigma > 0))
            return ns >= self->a_ns;
        return 0.5 * erfc (-(log (x) - self->mu) / (self->sigma * sqrt (2)));
    case TI_DIST_PARETO:
        return ns <= self->a_ns ? 0 : -expm1 (self->p * log (a / x));
    }
    TI_UNREACHABLE ();
}
