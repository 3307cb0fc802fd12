/* SPDX-License-Identifier: MIT */
/* Rows of the matrix: lost cancels, refused copies, hedges. */
#include "theory/verify_rows.h"

#include <math.h>

/* Each lost cancel is one further execution, whatever the service. */
static void loss (struct sim_rows *rows, double load, double q, double mean, double p99)
{
    struct sim_row *row =
        sim_rows_add (rows, 30, load, "%g %% of the cancels lost, n=30, load %g", 100 * q, load);
    if (!row)
        return;
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    row->scenario.network.loss_started = q;
    row->scenario.amount.calls = 700000;
    sim_row_check (row, SIM_QUANTITY_EXECUTIONS, 1 + q, 0);
    sim_row_check (row, SIM_QUANTITY_DUPLICATES, q, 0);
    if (!(mean > 0))
        return;
    row->note = "mean, p99: an independent simulation of 1.5 M calls, with its error";
    sim_row_length (row, mean, load * (1 + q), 1, 1);
    sim_row_check (row, SIM_QUANTITY_MEAN, mean, 0.006 * mean);
    sim_row_check (row, SIM_QUANTITY_P99, p99, 0.008 * p99);
}

static void lossy_limit (struct sim_rows *rows, double load, double q)
{
    struct sim_row *row =
        sim_rows_add (rows, 30, load, "%g %% of the cancels lost, n=30, load %g (limit %.3g)",
                      100 * q, load, 1 / (1 + q));
    if (!row)
        return;
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    row->scenario.network.loss_started = q;
    row->identities = load < 1 / (1 + q) ? SIM_IDENTITIES_STABLE : SIM_IDENTITIES_UNSTABLE;
}

/* The second copy only to an idle server: exact, for n without limit. The cores' depth counts
 * copies that wait and cannot say this; the reference's counts those that run, too. */
static void idle_only (struct sim_rows *rows, double load)
{
    struct sim_row *row = sim_rows_add (
        rows, 200, load, "second copy only if idle, n=200, load %g (reference)", load);
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, SIM_POLICY_IDEAL_COS, 2);
    row->identities = SIM_IDENTITIES_REFUSING;
    row->scenario.policies[0].hedge_depth = 1;
    row->note = "theory for n without limit, 0.5 % allowed at n=200";
    sim_theory_idle_backup (load, &law);
    sim_row_length (row, law.mean, load, 1, 1);
    sim_row_law (row, &law, 0.005);
    sim_row_check (row, SIM_QUANTITY_REJECTS, load * load, 0.005 * load * load);
}

/* Refused where k copies are, the running one counted: k - 1 that wait. */
static void refuse (struct sim_rows *rows, uint32_t k, double mean, double p99, double rejects)
{
    struct sim_row *row =
        sim_rows_add (rows, 100, .7, "second copy refused where %u are, n=100, load 0.7", k);
    if (!row)
        return;
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    row->identities = SIM_IDENTITIES_REFUSING;
    row->scenario.policies[0].hedge_depth = k - 1;
    row->note = "oracle: an independent simulation of 1.5 M calls, with its error";
    sim_row_length (row, mean, .7, 1, 1.4);
    sim_row_check (row, SIM_QUANTITY_MEAN, mean, 0.006 * mean);
    sim_row_check (row, SIM_QUANTITY_P99, p99, 0.008 * p99);
    sim_row_check (row, SIM_QUANTITY_REJECTS, rejects, 0.01 * rejects + 5e-4);
}

/* Workers in plenty: nobody waits. */
static void hedge (struct sim_rows *rows, enum sim_theory_law kind, const char *name, double h)
{
    bool is_single = isinf (h);
    struct sim_row *row =
        is_single ? sim_rows_add (rows, 20, 0.02, "no queue, %s, no hedge", name)
                  : sim_rows_add (rows, 20, 0.02, "no queue, %s, hedge after %.4g", name, h);
    if (!row)
        return;
    struct sim_theory law;
    row->scenario.replicas.workers = 100;
    row->scenario.replicas.queue_depth = 16;
    sim_row_policy (row, is_single ? SIM_POLICY_SINGLE : SIM_POLICY_HEDGE, 2);
    if (!is_single)
        sim_policy_hedge_after (&row->scenario.policies[0],
                                (tied_duration_t)(h * row->unit_ns + 0.5));
    if (kind == SIM_LAW_H2) {
        row->scenario.workload.jitter_share = 0.05;
        row->scenario.workload.jitter_factor = 10;
    } else if (kind == SIM_LAW_PARETO) {
        sim_row_service (row, "pareto(500us,2)");
    } else if (kind == SIM_LAW_LOGNORMAL) {
        sim_row_service (row, "lognormal(1ms,1310832ns)");
    }
    sim_theory_hedge (kind, h, &law);
    row->scenario.amount.calls = kind == SIM_LAW_EXP ? 500000 : isinf (h) ? 3000000 : 800000;
    sim_row_law (row, &law, 0);
    if (!is_single)
        sim_row_check (row, SIM_QUANTITY_EXTRA, sim_theory_law_tail (kind, h), 0);
}

static void hedges (struct sim_rows *self)
{
    hedge (self, SIM_LAW_EXP, "exponential", log (10));
    hedge (self, SIM_LAW_H2, "0.05 x 10", 2);
    if (!self->full)
        return;
    hedge (self, SIM_LAW_EXP, "exponential", log (20));
    hedge (self, SIM_LAW_H2, "0.05 x 10", INFINITY);
    hedge (self, SIM_LAW_H2, "0.05 x 10", 4);
    hedge (self, SIM_LAW_PARETO, "Pareto", 2.23607);
    hedge (self, SIM_LAW_LOGNORMAL, "lognormal", 3.1420);
}

void sim_rows_limits (struct sim_rows *self)
{
    loss (self, .5, .05, 0, 0);
    loss (self, .5, .2, 0, 0);
    idle_only (self, .5);
    refuse (self, 2, 1.527, 6.44, .242);
    hedges (self);
    if (!self->full)
        return;
    loss (self, .5, .01, 0, 0);
    loss (self, .7, .01, 1.400, 5.32);
    loss (self, .7, .05, 1.475, 5.49);
    loss (self, .7, .2, 1.978, 6.59);
    lossy_limit (self, .75, .2);
    lossy_limit (self, .9, .2);
    idle_only (self, .3);
    idle_only (self, .7);
    refuse (self, 3, 1.417, 5.64, .088);
    refuse (self, 5, 1.384, 5.32, .007);
}
