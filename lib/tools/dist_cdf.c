/* SPDX-License-Identifier: MIT */
/*
 * Cumulative distribution functions of service times, to compare draws with; see dist.h. Nothing is
 * drawn with them, so libm will do.
 */
#include "dist.h"

#include <math.h>

#include "base/assert.h"

/* Exponential of this mean, 0: the point 0. */
static double exponential (double mean, double x)
{
    return mean > 0 ? -expm1 (-x / mean) : 1;
}

static double lognormal (const struct ti_dist *self, double x)
{
    if (!(self->sigma > 0))
        return x >= (double)self->a_ns;
    return x > 0 ? 0.5 * erfc (-(log (x) - self->mu) / (self->sigma * sqrt (2))) : 0;
}

static double bounded_pareto (const struct ti_dist *self, double x)
{
    double a = (double)self->a_ns;
    if (x >= (double)self->b_ns)
        return 1;
    return x <= a ? 0 : -expm1 (self->p * log (a / x)) / (1 - self->mu);
}

static double gpareto (const struct ti_dist *self, double x)
{
    double z = (x - (double)self->a_ns) / (double)self->b_ns;
    return z <= 0 ? 0 : -expm1 (-log1p (self->p * z) / self->p);
}

static double hyper (const struct ti_dist *self, double x)
{
    double a = (double)self->a_ns, p = self->mu;
    return p * exponential (a / (2 * p), x) + (1 - p) * exponential (a / (2 * (1 - p)), x);
}

static double steps (const struct ti_dist *self, uint64_t ns)
{
    double cdf = 0;
    for (uint32_t i = 0; i < self->steps && ns >= self->step_ns[i]; i++)
        cdf = i + 1 < self->steps ? self->step_cdf[i] : 1;
    return cdf;
}

double ti_dist_cdf (const struct ti_dist *self, uint64_t ns)
{
    double a = (double)self->a_ns, b = (double)self->b_ns, p = self->p, x = (double)ns;
    if (ns >= TI_DIST_MAX_NS)
        return 1;
    switch (self->kind) {
    case TI_DIST_FIXED:
        return ns >= self->a_ns;
    case TI_DIST_EXP:
        return exponential (a, x);
    case TI_DIST_UNIFORM:
        if (ns >= self->b_ns)
            return 1;
        return ns <= self->a_ns ? 0 : (x - a) / (b - a);
    case TI_DIST_BIMODAL:
        return (ns >= self->a_ns ? 1 - p : 0) + (ns >= self->b_ns ? p : 0);
    case TI_DIST_LOGNORMAL:
        return lognormal (self, x);
    case TI_DIST_PARETO:
        return ns <= self->a_ns ? 0 : -expm1 (p * log (a / x));
    case TI_DIST_SHIFTED:
        return ns < self->a_ns ? 0 : exponential (b, x - a);
    case TI_DIST_WEIBULL:
        return -expm1 (-pow (x / a, p));
    case TI_DIST_BOUNDED_PARETO:
        return bounded_pareto (self, x);
    case TI_DIST_GPARETO:
        return gpareto (self, x);
    case TI_DIST_HYPER:
        return hyper (self, x);
    case TI_DIST_H2:
        return p * exponential (a, x) + (1 - p) * exponential (b, x);
    case TI_DIST_STEPS:
        return steps (self, ns);
    }
    TI_UNREACHABLE ();
}
