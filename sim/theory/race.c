/* SPDX-License-Identifier: MIT */
/*
 * Races of two copies whose cancels need time, and hedges without queues; see theory.h. The race
 * formulas were derived for this project from the workload's law G in redundancy.c.
 */
#include "theory/theory.h"

#include <math.h>
#include <stddef.h>

#include "base/assert.h"

static void check_load (double lam)
{
    TI_ASSERT (lam > 0 && lam < 1);
}

/*
 * Two servers, both copies leave at once. A call that finds both idle runs twice; any other runs
 * once. So the number of calls in the system is a birth and death chain but for the pairs of twins,
 * and the share of duplicates is the probability that it is empty.
 */
double sim_theory_race_duplicates (double lam)
{
    check_load (lam);
    double a = 2 * lam;
    return 1 / (1 + a + a * (a + 1) / (2 * (1 - lam)));
}

double sim_theory_race_mean (double lam)
{
    double a = 2 * lam, empty = sim_theory_race_duplicates (lam);
    double one = a * empty, two = a * (a + 1) * empty / 2;
    return empty / 2 + one + two * (1 / (2 * (1 - lam) * (1 - lam)) + 1 / (1 - lam));
}

/* Idle share v of a server, from the work that arrives: 1 - v = lam (1 + v ^ 2). */
double sim_theory_race_duplicates_limit (double lam)
{
    check_load (lam);
    double idle = (sqrt (1 + 4 * lam * (1 - lam)) - 1) / (2 * lam);
    return idle * idle;
}

/*
 * Both copies start within Delta of each other although the second left later: either the first
 * server's work ends just when the second copy comes to an idle server, or both works end together.
 * With the density g of the work, 2 [(1 - lam) g (0) + integral of g ^ 2].
 */
double sim_theory_race_slope (double lam)
{
    check_load (lam);
    double square = lam * lam;
    return 2 * ((1 - lam) * (lam - lam * square) + square / 2 - square * square / 3);
}

double sim_theory_race_random (double x)
{
    TI_ASSERT (x >= 0);
    return exp (-x) * (1 + x) / 2;
}

double sim_theory_race_not_stopped (double x)
{
    TI_ASSERT (x >= 0);
    return exp (-x) * (3 + 2 * x) / 4;
}

double sim_theory_law_tail (enum sim_theory_law law, double t)
{
    switch (law) {
    case SIM_LAW_EXP:
        return exp (-t);
    case SIM_LAW_H2:
        return 0.95 * exp (-t) + 0.05 * exp (-t / 10);
    case SIM_LAW_PARETO:
        return t <= 0.5 ? 1 : 0.25 / (t * t);
    case SIM_LAW_LOGNORMAL:
        return t <= 0 ? 1 : erfc ((log (t) + 0.5) / sqrt (2)) / 2;
    }
    TI_UNREACHABLE ();
}

/* The second copy draws its own service. p: law, h. */
static double hedge_tail (const struct sim_theory *self, double t)
{
    enum sim_theory_law law = (enum sim_theory_law)self->p[0];
    double h = self->p[1];
    double first = sim_theory_law_tail (law, t);
    return t < h ? first : first * sim_theory_law_tail (law, t - h);
}

/* Midpoints of [from, to]; the tail may have corners. */
static double integral (const struct sim_theory *self, double from, double to)
{
    const int steps = 20000;
    double sum = 0;
    for (int i = 0; i < steps; i++)
        sum += hedge_tail (self, from + (to - from) * (i + 0.5) / steps);
    return sum * (to - from) / steps;
}

void sim_theory_hedge (enum sim_theory_law law, double h, struct sim_theory *out)
{
    TI_ASSERT (h >= 0);
    *out = (struct sim_theory){.tail = hedge_tail, .p = {(double)law, h}, .d = 2};
    if (isinf (h)) {
        out->mean = law == SIM_LAW_H2 ? 1.45 : 1;
        return;
    }
    /* Pieces that double in length. Beyond the last one the tail is below 1e-9 even for Pareto. */
    double from = 0, to = h > 0 ? h : 1;
    while (from < 2000) {
        out->mean += integral (out, from, to);
        double length = fmax (to - from, 0.5);
        from = to;
        to = from + (from > h ? 2 * length : 0.5);
    }
}
