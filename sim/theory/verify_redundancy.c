/* SPDX-License-Identifier: MIT */
/* Rows of the matrix: several copies without a race. They prove the tie and the kill of losers. */
#include "theory/verify_rows.h"

#include <stddef.h>

#define COUNT(a) (sizeof (a) / sizeof (a)[0])

/* Found by trial. */
static double length_factor (uint32_t n, uint32_t d, double load)
{
    if (d == n)
        return sim_row_shared (load);
    if (load >= .9)
        return n > 100 ? 0.4 : 0.7;
    return d < 3 ? 1.4 : 1.1;
}

/* One copy and two copies go through the cores; more is what no client of tied does. */
static void cos_row (struct sim_rows *rows, uint32_t n, uint32_t d, double load, bool reference)
{
    struct sim_row *row = sim_rows_add (rows, n, load, "cancel on start, n=%u d=%u, load %g%s", n,
                                        d, load, reference ? " (reference)" : "");
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row,
                    reference ? SIM_POLICY_IDEAL_COS
                    : d == 1  ? SIM_POLICY_SINGLE
                              : SIM_POLICY_TIED,
                    d);
    sim_theory_cos (n, d, load, &law);
    sim_row_length (row, law.mean, load, 1, length_factor (n, d, load));
    sim_row_law (row, &law, 0);
    /* A cancel takes a nanosecond: one call in a million may run twice. */
    sim_row_check (row, SIM_QUANTITY_EXECUTIONS, 1, 1e-5);
}

/* The same run against the law for n without limit, which n = 200 misses by a little. */
static void cos_limit_row (struct sim_rows *rows, double load)
{
    struct sim_row *row =
        sim_rows_add (rows, 200, load, "cancel on start, mean field, n=200 d=2, load %g", load);
    if (!row)
        return;
    struct sim_theory law, finite;
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    sim_theory_cos (200, 2, load, &finite);
    sim_theory_cos_limit (2, load, &law);
    row->note = "theory for n without limit; allowed: its distance from the exact mean at n=200";
    double slack = finite.mean / law.mean - 1;
    sim_theory_deinit (&finite);
    sim_row_length (row, law.mean, load, 1, 1.2);
    sim_row_law (row, &law, slack);
}

static void coc_row (struct sim_rows *rows, uint32_t n, uint32_t d, double load, bool reference)
{
    struct sim_row *row = sim_rows_add (rows, n, load, "cancel on completion, n=%u d=%u, load %g%s",
                                        n, d, load, reference ? " (reference)" : "");
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, reference ? SIM_POLICY_IDEAL_COC : SIM_POLICY_CLONE, d);
    row->scenario.policies[0].keeps_losers = false;
    row->scenario.policies[0].stagger_ns = 0;
    sim_theory_coc (n, d, load, &law);
    sim_row_length (row, 1 + law.mean, load, 1, load < .7 ? 0.8 : 1.1);
    sim_row_law (row, &law, 0);
    /* Killing at once costs nothing: exactly one service time for each request. */
    sim_row_check (row, SIM_QUANTITY_UTILISATION, load, 0);
}

/* Which loads a policy bears, and which not. */
static void
stability (struct sim_rows *rows, double load, bool identical, bool keeps_losers, double limit)
{
    struct sim_row *row =
        sim_rows_add (rows, 3, load, "two copies, %s%s, n=3, load %g (limit %.3g)",
                      identical ? "identical" : "independent",
                      keeps_losers ? ", none cancelled" : "", load, limit);
    if (!row)
        return;
    sim_row_policy (row, SIM_POLICY_CLONE, 2);
    row->scenario.policies[0].keeps_losers = keeps_losers;
    row->scenario.policies[0].stagger_ns = 0;
    if (identical)
        row->scenario.workload.copies = SIM_COPIES_IDENTICAL;
    row->identities = load < limit ? SIM_IDENTITIES_STABLE : SIM_IDENTITIES_UNSTABLE;
    row->scenario.amount.calls = 480000;
}

/* The quick form has each n and each d at a load that is cheap. */
static bool is_quick (uint32_t n, uint32_t d, double load)
{
    if (d == 1)
        return n == 3 && load == .3;
    if (d == 2)
        return load == .5 || (load == .7 && n >= 4);
    if (d < n)
        return n == 10 && load == .7;
    return load == (n < 10 ? .5 : .7);
}

static void cos_rows (struct sim_rows *self)
{
    static const uint32_t ns[] = {2, 3, 4, 10};
    static const double loads[] = {.3, .5, .7};
    for (size_t i = 0; i < COUNT (ns); i++) {
        uint32_t n = ns[i];
        for (uint32_t d = 1; d <= n; d++) {
            if (d > 3 && d < n)
                continue;
            for (size_t k = 0; k < COUNT (loads); k++)
                if (self->full || is_quick (n, d, loads[k]))
                    cos_row (self, n, d, loads[k], d > 2);
        }
    }
    cos_row (self, 200, 2, .7, false);
    if (!self->full)
        return;
    cos_row (self, 10, 2, .9, false);
    cos_row (self, 10, 10, .9, true);
    cos_row (self, 10, 2, .7, true);
    cos_row (self, 200, 2, .5, false);
    cos_row (self, 200, 2, .9, false);
    cos_limit_row (self, .5);
    cos_limit_row (self, .7);
}

void sim_rows_redundancy (struct sim_rows *self)
{
    cos_rows (self);
    coc_row (self, 3, 2, .5, false);
    coc_row (self, 10, 2, .5, false);
    coc_row (self, 10, 3, .5, true);
    if (self->full) {
        coc_row (self, 3, 2, .7, false);
        coc_row (self, 10, 2, .7, false);
        coc_row (self, 6, 3, .7, true);
    }
    stability (self, .6, true, false, 2.0 / 3);
    stability (self, .75, true, false, 2.0 / 3);
    stability (self, .4, false, true, .5);
    stability (self, .6, false, true, .5);
}
