/* SPDX-License-Identifier: MIT */
/* Copies at several servers, cancelled when one starts or when one ends; see theory.h. */
#include "theory/theory.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"

static void check (uint32_t n, uint32_t d, double lam)
{
    TI_ASSERT (lam > 0 && lam < 1 && d > 0 && d <= n);
}

/* C (j, d) / C (n, d), without factorials. */
static double choose_ratio (uint32_t j, uint32_t d, uint32_t n)
{
    if (j < d)
        return 0;
    double ratio = 1;
    for (uint32_t k = 0; k < d; k++)
        ratio *= (double)(j - k) / (double)(n - k);
    return ratio;
}

/* Rate of the requests whose servers all lie among the j that became busy first. */
static double covered_rate (uint32_t n, uint32_t d, double lam, uint32_t j)
{
    return (double)n * lam * choose_ratio (j, d, n);
}

/*
 * Cancel on start, finite n: product form (Visschers, Adan, Weiss 2012; Gardner, Righter 2018) with
 * the distributional law of Little. With i servers busy, a request whose servers are among the
 * first j, and no fewer, waits a sum of exponentials of rates theta (j) .. theta (i),
 * theta (j) = j - covered_rate (j).
 *
 * The share of the j among the requests is C (j - 1, d - 1) / C (n, d) for any i >= j. So the
 * whole mixture is one chain that goes down from i: having passed stage j it is in service with
 * probability C (j - 1, d - 1) / C (j, d) = d / j, else in stage j - 1. Its tail comes from
 * uniformisation, which adds positive numbers and does not mind equal rates.
 *
 * weights[j]: probability that the wait begins in stage j; weights[0]: that there is none. A second
 * half of the same size is room for the chain.
 */
static double cos_tail (const struct sim_theory *self, double t)
{
    uint32_t n = self->n, d = self->d;
    double lam = self->p[0], fastest = self->p[1];
    const double *start = self->weights;
    double *now = self->weights + n + 1; /* now[0] is service */
    for (uint32_t j = 0; j <= n; j++)
        now[j] = start[j];

    double mean = fastest * t, log_factorial = 0, seen = 0, tail = 0;
    for (uint32_t k = 0;; k++) {
        double poisson = exp ((k ? (double)k * log (mean) - log_factorial : 0) - mean);
        double alive = now[0];
        for (uint32_t j = d; j <= n; j++)
            alive += now[j];
        tail += poisson * alive;
        seen += poisson;
        /* What is left counts for less than 1e-13: by its mass, or because few are left alive. */
        if (alive < 1e-13 || (k > mean && (1 - seen) * alive < 1e-13 && poisson < 1e-13))
            return tail;
        double served = now[0] * (1 - 1 / fastest);
        for (uint32_t j = d; j <= n; j++) {
            double theta = (double)j - covered_rate (n, d, lam, j);
            double moves = now[j] * theta / fastest;
            now[j] -= moves;
            served += moves * (double)d / (double)j;
            /* Upward order: stage j - 1 has made its own step already. */
            if (j > d)
                now[j - 1] += moves * (1 - (double)d / (double)j);
        }
        now[0] = served;
        log_factorial += log ((double)k + 1);
    }
}

/* Weights of the numbers of busy servers, one after the other. They may be as large as e ^ n. */
static long double next_weight (long double weight, uint32_t n, uint32_t d, double lam, uint32_t i)
{
    long double open = (long double)((double)n * lam - covered_rate (n, d, lam, i - 1));
    long double alpha = (long double)(covered_rate (n, d, lam, i) / (double)i);
    return weight * open / ((long double)i * (1 - alpha));
}

void sim_theory_cos (uint32_t n, uint32_t d, double lam, struct sim_theory *out)
{
    check (n, d, lam);
    TI_ASSERT (n <= 10000);
    double *weights = calloc (2 * ((size_t)n + 1), sizeof *weights);
    TI_ASSERT (weights != NULL);
    long double sum = 1, weight = 1;
    for (uint32_t i = 1; i <= n; i++) {
        weight = next_weight (weight, n, d, lam, i);
        sum += weight;
    }
    double waiting = 0, at_most = 0, no_wait = 1, fastest = 1;
    weight = 1;
    for (uint32_t i = 1; i <= n; i++) {
        weight = next_weight (weight, n, d, lam, i);
        double share = (double)(weight / sum);
        if (i < d)
            continue;
        double rate = covered_rate (n, d, lam, i), alpha = rate / (double)i;
        at_most += alpha / (1 - alpha);
        waiting += share * at_most;
        weights[i] = share * choose_ratio (i, d, n);
        no_wait -= weights[i];
        fastest = fmax (fastest, (double)i - rate);
    }
    weights[0] = no_wait;
    *out = (struct sim_theory){.tail = cos_tail,
                               .mean = 1 + waiting / ((double)n * lam),
                               .p = {lam, fastest},
                               .n = n,
                               .d = d,
                               .weights = weights};
}

/* Hellemans, Van Houdt 2018 (least loaded of d is the same policy). p: lam ^ d. */
static double cos_limit_tail (const struct sim_theory *self, double t)
{
    double more = (double)self->d - 1;
    /* As [x + (1 - x) e ^ (more t)] ^ (-1 / more), but without an overflow. */
    return exp (-t) * pow (self->p[0] * exp (-more * t) + 1 - self->p[0], -1 / more);
}

void sim_theory_cos_limit (uint32_t d, double lam, struct sim_theory *out)
{
    check (d, d, lam);
    TI_ASSERT (d >= 2);
    double power = pow (lam, d), mean = 0, term = 1;
    for (uint32_t k = 0; term > 1e-18; k++, term *= power)
        mean += term / (1 + (double)k * ((double)d - 1));
    *out = (struct sim_theory){.tail = cos_limit_tail, .mean = mean, .p = {power}, .d = d};
}

/*
 * Gardner, Harchol-Balter, Scheller-Wolf, Velednitsky, Zbarsky 2017: the mean for finite n is
 * sum over i = d .. n of 1 / (n C (n - 1, d - 1) / C (i - 1, d - 1) - n lam).
 */
void sim_theory_coc (uint32_t n, uint32_t d, double lam, struct sim_theory *out)
{
    check (n, d, lam);
    double mean = 0;
    for (uint32_t i = d; i <= n; i++)
        mean += 1 / ((double)n / choose_ratio (i - 1, d - 1, n - 1) - (double)n * lam);
    *out = (struct sim_theory){.mean = mean, .n = n, .d = d};
}

/* p: lam. */
static double coc_limit_tail (const struct sim_theory *self, double t)
{
    double lam = self->p[0], d = self->d;
    return exp (-d * t) * pow (lam * exp (-(d - 1) * t) + 1 - lam, -d / (d - 1));
}

void sim_theory_coc_limit (uint32_t d, double lam, struct sim_theory *out)
{
    check (d, d, lam);
    TI_ASSERT (d >= 2);
    /* The integral of the tail is a hypergeometric series; for d = 2 it sums to
     * -ln (1 - lam) / lam ^ 2 - 1 / lam. */
    double mean = 0, term = 1;
    for (uint32_t k = 0; term > 1e-18; k++, term *= lam)
        mean += term / ((double)d + (double)k * ((double)d - 1));
    *out = (struct sim_theory){.tail = coc_limit_tail, .mean = mean, .p = {lam}, .d = d};
}

/* The first copy waits with probability lam ^ 2, and then as in a queue of that load. */
void sim_theory_idle_backup (double lam, struct sim_theory *out)
{
    sim_theory_mm1 (lam * lam, out);
    out->d = 2;
}
