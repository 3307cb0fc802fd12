/* SPDX-License-Identifier: MIT */
/* Rows of the matrix: cancels that need time. They prove stagger, tombstones, duplicates. */
#include "theory/verify_rows.h"

#include <stddef.h>

#define COUNT(a) (sizeof (a) / sizeof (a)[0])

/* Two servers, no stagger: exact. */
static void two_servers (struct sim_rows *rows, double load)
{
    struct sim_row *row = sim_rows_add (rows, 2, load, "race without stagger, n=2, load %g", load);
    if (!row)
        return;
    double duplicates = sim_theory_race_duplicates (load), mean = sim_theory_race_mean (load);
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    row->scenario.policies[0].stagger_ns = 0;
    sim_row_check (row, SIM_QUANTITY_DUPLICATES, duplicates, 0);
    sim_row_check (row, SIM_QUANTITY_UTILISATION, load * (1 + duplicates), 0);
    row->scenario.amount.calls = 5000000;
    if (load >= .9)
        return; /* too many calls for a narrow mean */
    sim_row_length (row, 1 + mean, load * (1 + duplicates), 1, load < .7 ? 0.5 : 0.7);
    sim_row_check (row, SIM_QUANTITY_MEAN, mean, 0);
}

static struct sim_row *
add_race (struct sim_rows *rows, uint32_t n, double load, double delay, double stagger)
{
    struct sim_row *row = sim_rows_add (
        rows, n, load, "race, n=%u, cancel after %g, stagger %g, load %g", n, delay, stagger, load);
    if (!row)
        return NULL;
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    row->scenario.network.peer.fixed_ns = (tied_duration_t)(delay * row->unit_ns + 0.5);
    row->scenario.policies[0].stagger_ns = (tied_duration_t)(stagger * row->unit_ns + 0.5);
    return row;
}

/* Duplicates grow at first with c (load); the next term is -1.5 % at a delay of 0.01. */
static void slope (struct sim_rows *rows, double load)
{
    const double delay = 0.01;
    struct sim_row *row = add_race (rows, 200, load, delay, 2 * delay);
    if (!row)
        return;
    double duplicates = sim_theory_race_slope (load) * delay;
    row->note = "theory of first order, 2.5 % allowed for the rest";
    row->scenario.amount.calls = rows->full ? 6000000 : 2000000;
    sim_row_check (row, SIM_QUANTITY_DUPLICATES, duplicates, 0.025 * duplicates);
}

/* Against another simulation, whose printed figures have errors of their own. */
static void simulated (struct sim_rows *rows, double load, double stagger, double duplicates)
{
    struct sim_row *row = add_race (rows, 100, load, 0.1, stagger);
    if (!row)
        return;
    row->note = "oracle: an independent simulation of 1.5 M calls, with its error";
    sim_row_check (row, SIM_QUANTITY_DUPLICATES, duplicates, 4e-4 + 0.003 * duplicates);
    row->scenario.amount.calls = 2000000;
    if (load != .7)
        return;
    row->scenario.amount.calls = 6000000;
    sim_row_check (row, SIM_QUANTITY_MEAN, stagger > 0 ? 1.522 : 1.468, 0.008);
    sim_row_check (row, SIM_QUANTITY_P99, stagger > 0 ? 5.44 : 5.43, 0.04);
}

/*
 * Every message takes its own exponential time; both servers idle. So calls must not meet, and
 * service must be long against messages: both spoil the third digit at most.
 */
static void random_delays (struct sim_rows *rows, double x)
{
    const tied_duration_t mean_ns = TIED_US (10);
    struct sim_row *row =
        sim_rows_add (rows, 2, 1e-4, "race, random delays, stagger %g x their mean", x);
    if (!row)
        return;
    struct sim_network *network = &row->scenario.network;
    sim_row_policy (row, SIM_POLICY_TIED, 2);
    sim_row_service (row, "exp(100ms)");
    row->unit_ns = (double)TIED_MS (100);
    network->client = network->peer =
        (struct sim_delay){.has_extra = true, .extra = {.kind = TI_DIST_EXP, .a_ns = mean_ns}};
    row->scenario.policies[0].stagger_ns = (tied_duration_t)(x * (double)mean_ns);
    row->scenario.heartbeat_ns = TIED_S (3600);
    row->note = "theory for both idle and no service in between; 0.0004 allowed";
    row->scenario.amount.calls = 500000;
    sim_row_check (row, SIM_QUANTITY_DUPLICATES, sim_theory_race_random (x), 4e-4);
}

void sim_rows_race (struct sim_rows *self)
{
    static const double loads[] = {.1, .3, .5, .7, .9};
    static const double with_stagger[] = {0, .0395, .0511, .0488, .0369};
    for (size_t i = 0; i < COUNT (loads); i++)
        if (self->full || (i > 0 && i < 3))
            two_servers (self, loads[i]);
    for (size_t i = 1; i < COUNT (loads); i++)
        if (self->full || i == 2)
            slope (self, loads[i]);
    for (uint32_t x = 0; x <= 4; x++)
        if (self->full || x == 2)
            random_delays (self, x);
    if (!self->full)
        return;
    for (size_t i = 1; i < COUNT (loads); i++)
        simulated (self, loads[i], 0.2, with_stagger[i]);
    simulated (self, .7, 0, .103);
}
