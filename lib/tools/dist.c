/* SPDX-License-Identifier: MIT */
/* Draws and means of service times; see dist.h. Parsing is in dist_parse.c, the CDF in dist_cdf.c.
 */
#include "dist.h"

#include "base/assert.h"
#include "base/util.h"
#include "portable.h"

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

static uint64_t clamp (double ns)
{
    if (!(ns > 0))
        return 0;
    if (ns >= (double)TI_DIST_MAX_NS)
        return TI_DIST_MAX_NS;
    return (uint64_t)(ns + 0.5);
}

/* Exponential of mean1 below p, of mean2 above, by the same number: above is where it is exact. */
static double draw_mixture (double p, double mean1, double mean2, double q)
{
    double rest = 1 - p;
    if (q < rest || !(p > 0))
        return -mean2 * ti_log (q / rest);
    double share = (q - rest) / p;
    return share > 0 ? -mean1 * ti_log (share) : mean1 * 45;
}

/* Exponential to a power; the start of the distribution must be as exact as its tail. */
static double draw_weibull (double scale, double shape, uint64_t random)
{
    double e = random >> 63 ? -ti_log (upper (random)) : -ti_log1p (-lower (random));
    return scale * ti_pow (e, 1 / shape);
}

static uint64_t draw_step (const struct ti_dist *self, double u)
{
    uint32_t i = 0;
    while (i + 1 < self->steps && u >= self->step_cdf[i])
        i++;
    return self->step_ns[i];
}

uint64_t ti_dist_draw (const struct ti_dist *self, uint64_t random)
{
    double a = (double)self->a_ns, b = (double)self->b_ns, p = self->p, q = upper (random);
    switch (self->kind) {
    case TI_DIST_FIXED:
        return self->a_ns;
    case TI_DIST_EXP:
        return clamp (-a * ti_log (q));
    case TI_DIST_UNIFORM:
        return clamp (a + (b - a) * lower (random));
    case TI_DIST_BIMODAL:
        return q <= p ? self->b_ns : self->a_ns;
    case TI_DIST_LOGNORMAL:
        return clamp (ti_exp (self->mu + self->sigma * ti_normal_quantile (lower (random), q)));
    case TI_DIST_PARETO:
        return clamp (a * ti_pow (q, -1 / p));
    case TI_DIST_SHIFTED:
        return clamp (a - b * ti_log (q));
    case TI_DIST_WEIBULL:
        return clamp (draw_weibull (a, p, random));
    case TI_DIST_BOUNDED_PARETO:
        return clamp (a * ti_pow (self->mu + q * (1 - self->mu), -1 / p));
    case TI_DIST_GPARETO:
        return clamp (a + b * ((ti_pow (q, -p) - 1) / p));
    case TI_DIST_HYPER:
        return clamp (draw_mixture (self->mu, a / (2 * self->mu), a / (2 * (1 - self->mu)), q));
    case TI_DIST_H2:
        return clamp (draw_mixture (p, a, b, q));
    case TI_DIST_STEPS:
        return draw_step (self, lower (random));
    }
    TI_UNREACHABLE ();
}

static double mean_of_steps (const struct ti_dist *self)
{
    double sum = 0, below = 0;
    for (uint32_t i = 0; i < self->steps; i++) {
        double cdf = i + 1 < self->steps ? self->step_cdf[i] : 1;
        sum += (double)self->step_ns[i] * (cdf - below);
        below = cdf;
    }
    return sum;
}

/* MIN x alpha / (1 - h) x integral of y^-alpha from 1 to MAX / MIN. */
static double mean_of_bounded_pareto (const struct ti_dist *self)
{
    double span = ti_log ((double)self->b_ns / (double)self->a_ns), x = (1 - self->p) * span;
    double integral = span;
    if (x > 1e-4 || x < -1e-4)
        integral = (ti_exp (x) - 1) / (1 - self->p);
    else
        integral *= 1 + x / 2 + x * x / 6;
    return (double)self->a_ns * self->p / (1 - self->mu) * integral;
}

double ti_dist_mean (const struct ti_dist *self)
{
    double a = (double)self->a_ns, b = (double)self->b_ns, p = self->p;
    switch (self->kind) {
    case TI_DIST_FIXED:
    case TI_DIST_EXP:
    case TI_DIST_LOGNORMAL:
    case TI_DIST_HYPER:
        return a;
    case TI_DIST_UNIFORM:
        return (a + b) / 2;
    case TI_DIST_BIMODAL:
        return a + (b - a) * p;
    case TI_DIST_PARETO:
        return a * p / (p - 1);
    case TI_DIST_SHIFTED:
        return a + b;
    case TI_DIST_WEIBULL:
        return a * ti_gamma (1 + 1 / p);
    case TI_DIST_BOUNDED_PARETO:
        return self->b_ns > self->a_ns ? mean_of_bounded_pareto (self) : a;
    case TI_DIST_GPARETO:
        return a + b / (1 - p);
    case TI_DIST_H2:
        return p * a + (1 - p) * b;
    case TI_DIST_STEPS:
        return mean_of_steps (self);
    }
    TI_UNREACHABLE ();
}

uint64_t ti_dist_mean_ns (const struct ti_dist *self)
{
    return (uint64_t)(ti_dist_mean (self) + 0.5);
}
