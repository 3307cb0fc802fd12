/* SPDX-License-Identifier: MIT */
/* Rows of the matrix: plain queues. They prove the engine, the random numbers, the statistics. */
#include "theory/verify_rows.h"

static void mm1 (struct sim_rows *rows, double load)
{
    struct sim_row *row = sim_rows_add (rows, 1, load, "M/M/1, load %g", load);
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, SIM_POLICY_SINGLE, 1);
    sim_theory_mm1 (load, &law);
    sim_row_length (row, law.mean, load, 1, load < .9 ? 1.2 : 1.5);
    sim_row_law (row, &law, 0);
    sim_row_check (row, SIM_QUANTITY_UTILISATION, load, 0);
}

static void mmc (struct sim_rows *rows, uint32_t c, double load)
{
    struct sim_row *row = sim_rows_add (rows, 1, load, "M/M/%u, load %g", c, load);
    if (!row)
        return;
    struct sim_theory law;
    row->scenario.replicas.workers = c;
    sim_row_policy (row, SIM_POLICY_SINGLE, 1);
    sim_theory_mmc (c, load, &law);
    sim_row_length (row, law.mean, load, 1, sim_row_shared (load));
    sim_row_law (row, &law, 0);
}

static void md1 (struct sim_rows *rows, double load)
{
    struct sim_row *row = sim_rows_add (rows, 1, load, "M/D/1, load %g", load);
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, SIM_POLICY_SINGLE, 1);
    sim_row_service (row, "fixed(1ms)");
    sim_theory_md1 (load, &law);
    sim_row_length (row, law.mean, load, 0, 1.4);
    sim_row_law (row, &law, 0);
}

/* Two exponentials: a share of the executions takes `factor` times longer. */
static void mh21 (struct sim_rows *rows, double load, double share, double factor)
{
    double mean1 = 1 / (1 + share * (factor - 1)), mean2 = factor * mean1;
    double c2 = 2 * ((1 - share) * mean1 * mean1 + share * mean2 * mean2) - 1;
    struct sim_row *row = sim_rows_add (rows, 1, load, "M/H2/1 (C2 = %.3g), load %g", c2, load);
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, SIM_POLICY_SINGLE, 1);
    row->scenario.workload.jitter_share = share;
    row->scenario.workload.jitter_factor = factor;
    /* The unit of the row is the mean of both. */
    row->unit_ns = sim_scenario_mean_service_ns (&row->scenario);
    sim_theory_mh21 (load, 1 - share, mean1, mean2, &law);
    sim_row_length (row, law.mean, load, c2, 1.5);
    sim_row_law (row, &law, 0);
}

/* Ideal policies of sim/reference: the floor, and perfect information. */
static void central (struct sim_rows *rows, uint32_t n, double load)
{
    struct sim_row *row =
        sim_rows_add (rows, n, load, "central queue, n=%u, load %g (reference)", n, load);
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, SIM_POLICY_CENTRAL, 1);
    sim_theory_mmc (n, load, &law);
    sim_row_length (row, law.mean, load, 1, sim_row_shared (load));
    sim_row_law (row, &law, 0);
}

static void jsq (struct sim_rows *rows, uint32_t d, double load)
{
    struct sim_row *row =
        sim_rows_add (rows, 500, load, "shortest of %u queues, load %g (reference)", d, load);
    if (!row)
        return;
    struct sim_theory law;
    sim_row_policy (row, SIM_POLICY_JSQ, d);
    row->note = "theory for n without limit, 0.5 % allowed at n=500";
    sim_theory_jsq_limit (d, load, &law);
    sim_row_length (row, law.mean, load, 1, 1);
    sim_row_law (row, &law, 0.005);
}

void sim_rows_queues (struct sim_rows *self)
{
    mm1 (self, .5);
    mmc (self, 2, .5);
    mmc (self, 10, .7);
    /* At .5 and below the median is on the edge of those that do not wait, or among them. */
    md1 (self, .6);
    mh21 (self, .2, .1, 5);
    central (self, 10, .7);
    if (!self->full)
        return;
    mm1 (self, .7);
    mm1 (self, .9);
    mmc (self, 2, .7);
    mmc (self, 4, .5);
    mmc (self, 4, .7);
    mmc (self, 10, .9);
    md1 (self, .7);
    md1 (self, .9);
    mh21 (self, .5, .1, 5);
    mh21 (self, .7, .1, 5);
    /* .95 of mean .5 and .05 of mean 10.5. */
    mh21 (self, .3, .05, 21);
    jsq (self, 2, .5);
    jsq (self, 2, .7);
    jsq (self, 3, .7);
}
