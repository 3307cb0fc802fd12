/* SPDX-License-Identifier: MIT */
/* Queues without redundancy, and choice of the shortest one; see theory.h. */
#include "theory/theory.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"

static void check_load (double lam)
{
    TI_ASSERT (lam > 0 && lam < 1);
}

/* Textbook. p: 1 - lam. */
static double mm1_tail (const struct sim_theory *self, double t)
{
    return exp (-self->p[0] * t);
}

void sim_theory_mm1 (double lam, struct sim_theory *out)
{
    check_load (lam);
    *out = (struct sim_theory){
        .tail = mm1_tail, .mean = 1 / (1 - lam), .p = {1 - lam}, .n = 1, .d = 1};
}

/* Erlang C, textbook. p: probability of waiting, rate at which the wait ends. */
static double mmc_tail (const struct sim_theory *self, double t)
{
    double wait = self->p[0], theta = self->p[1];
    if (fabs (theta - 1) < 1e-9)
        return exp (-t) * (1 + wait * t);
    return (1 - wait) * exp (-t) + wait * (theta * exp (-t) - exp (-theta * t)) / (theta - 1);
}

void sim_theory_mmc (uint32_t c, double lam, struct sim_theory *out)
{
    check_load (lam);
    TI_ASSERT (c > 0);
    double offered = (double)c * lam, theta = (double)c - offered, blocked = 1;
    for (uint32_t k = 1; k <= c; k++)
        blocked = offered * blocked / ((double)k + offered * blocked);
    double wait = blocked / (1 - lam + lam * blocked);
    *out = (struct sim_theory){
        .tail = mmc_tail, .mean = 1 + wait / theta, .p = {wait, theta}, .n = c, .d = c};
}

/*
 * M/D/1. The textbook's sum for P (W <= t) alternates and loses digits as t grows. This one has
 * positive terms only (Franx 2001, for one server):
 *   P (W <= t) = e ^ (-lam u) sum over j < k of Q (k - 1 - j) (lam u) ^ j / j!,
 * where k = floor (t) + 1, u = k - t, and Q (m) = P (at most m + 1 requests in the system).
 * weights: Q.
 */
static double md1_tail (const struct sim_theory *self, double t)
{
    if (t < 1)
        return 1;
    double wait = t - 1;
    if (wait >= (double)self->n)
        return 0;
    uint32_t k = (uint32_t)wait + 1;
    double x = self->p[0] * ((double)k - wait);
    double term = exp (-x), sum = 0;
    for (uint32_t j = 0; j < k; j++) {
        sum += self->weights[k - 1 - j] * term;
        term *= x / (double)(j + 1);
    }
    return sum < 1 ? 1 - sum : 0;
}

/*
 * Probabilities of the number in an M/D/1 system, by balance across each level, which adds and
 * never subtracts: p[j] a[0] = p[0] P (A >= j) + sum over 1 <= i < j of p[i] P (A > j - i), where A
 * are the arrivals during a service.
 */
static void md1_levels (double lam, uint32_t count, double *level)
{
    double *above = malloc (((size_t)count + 2) * sizeof *above);
    TI_ASSERT (above != NULL);
    /* above[m] = P (A > m); summed from the far end, so that small ones keep their digits. */
    for (uint32_t m = 0; m <= count + 1; m++) {
        double term = exp (-lam + (double)(m + 1) * log (lam) - lgamma ((double)m + 2)), sum = 0;
        for (uint32_t k = m + 2; term > sum * 1e-18 && term > 0; k++) {
            sum += term;
            term *= lam / (double)k;
        }
        above[m] = sum;
    }
    level[0] = 1 - lam;
    for (uint32_t j = 1; j <= count; j++) {
        double up = level[0] * above[j - 1];
        for (uint32_t i = 1; i < j; i++)
            up += level[i] * above[j - i];
        level[j] = up * exp (lam);
    }
    free (above);
}

void sim_theory_md1 (double lam, struct sim_theory *out)
{
    check_load (lam);
    /* The wait's tail falls about as e ^ (-2 (1 - lam) t): far enough for 1e-16. */
    uint32_t count = (uint32_t)(40 / (1 - lam)) + 20;
    double *weights = malloc (((size_t)count + 2) * sizeof *weights);
    TI_ASSERT (weights != NULL);
    md1_levels (lam, count + 1, weights);
    double sum = weights[0];
    for (uint32_t m = 0; m <= count; m++) {
        sum += weights[m + 1];
        weights[m] = sum;
    }
    *out = (struct sim_theory){.tail = md1_tail,
                               .mean = 1 + sim_theory_mg1_wait (lam, 0),
                               .p = {lam},
                               .n = count,
                               .d = 1,
                               .weights = weights};
}

/* Pollaczek and Khinchine. */
double sim_theory_mg1_wait (double lam, double c2)
{
    check_load (lam);
    return lam * (1 + c2) / (2 * (1 - lam));
}

/*
 * M/G/1 with a hyperexponential service of two branches: the transform of the wait has two poles.
 * p: x1, x2, a1, a2 (P (W > t) = a1 e ^ (-x1 t) + a2 e ^ (-x2 t)), share and rates of the branches.
 */
static double mh21_tail (const struct sim_theory *self, double t)
{
    const double *p = self->p;
    double sum = 0;
    for (int branch = 0; branch < 2; branch++) {
        double share = branch ? 1 - p[4] : p[4], rate = branch ? p[6] : p[5];
        double tail = exp (-rate * t);
        for (int i = 0; i < 2; i++) {
            /* (e ^ (-x t) - e ^ (-rate t)) / (rate - x), also when the two are close. */
            double slower = fmin (p[i], rate), gap = fabs (rate - p[i]);
            double ratio = gap * t < 1e-9 ? t : -expm1 (-gap * t) / gap;
            tail += p[2 + i] * rate * exp (-slower * t) * ratio;
        }
        sum += share * tail;
    }
    return sum;
}

void sim_theory_mh21 (double lam, double p, double mean1, double mean2, struct sim_theory *out)
{
    check_load (lam);
    TI_ASSERT (p > 0 && p < 1 && fabs (p * mean1 + (1 - p) * mean2 - 1) < 1e-9);
    double mu1 = 1 / mean1, mu2 = 1 / mean2;
    double b = mu1 + mu2 - lam, c = mu1 * mu2 - lam * (p * mu2 + (1 - p) * mu1);
    double root = sqrt (b * b - 4 * c);
    double x2 = (b + root) / 2, x1 = c / x2;
    double a1 = (1 - lam) * (mu1 - x1) * (mu2 - x1) / ((x2 - x1) * x1);
    double a2 = (1 - lam) * (mu1 - x2) * (mu2 - x2) / ((x1 - x2) * x2);
    double second = 2 * (p * mean1 * mean1 + (1 - p) * mean2 * mean2);
    *out = (struct sim_theory){.tail = mh21_tail,
                               .mean = 1 + sim_theory_mg1_wait (lam, second - 1),
                               .p = {x1, x2, a1, a2, p, mu1, mu2},
                               .n = 1,
                               .d = 1};
}

/* Share of the servers with at least k requests: lam ^ ((d ^ k - 1) / (d - 1)). */
static double jsq_share (uint32_t d, double lam, uint32_t k)
{
    double exponent = 0;
    for (uint32_t i = 0; i < k; i++)
        exponent = exponent * d + 1;
    return pow (lam, exponent);
}

/* Mitzenmacher 2001. p: lam. */
static double jsq_tail (const struct sim_theory *self, double t)
{
    double sum = 0;
    for (uint32_t j = 0;; j++) {
        double share = pow (jsq_share (self->d, self->p[0], j), self->d);
        if (share < 1e-18)
            return sum;
        double log_poisson = j == 0 ? -t : -t + (double)j * log (t) - lgamma ((double)j + 1);
        sum += share * (t > 0 ? exp (log_poisson) : (double)(j == 0));
    }
}

void sim_theory_jsq_limit (uint32_t d, double lam, struct sim_theory *out)
{
    check_load (lam);
    TI_ASSERT (d >= 2);
    double mean = 0, term = 1;
    /* lam ^ ((d ^ k - d) / (d - 1)) is the d-th power of the share with k - 1. */
    for (uint32_t k = 0; term > 1e-18; k++) {
        mean += term;
        term = pow (jsq_share (d, lam, k + 1), d);
    }
    *out = (struct sim_theory){.tail = jsq_tail, .mean = mean, .p = {lam}, .d = d};
}
