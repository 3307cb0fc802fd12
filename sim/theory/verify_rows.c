/* SPDX-License-Identifier: MIT */
/* What all rows of the matrix have in common; see verify_rows.h. */
#include "theory/verify_rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "scenario/policy_text.h"
#include "theory/verify.h"

#include <tied/error.h>

/* One unit of time. Large against the nanosecond of a message, so that this is next to nothing. */
#define UNIT_NS TIED_MS (1)
/* More than ever wait in a row that is stable. */
#define QUEUE_DEPTH 8192
/* (4.9 / 0.0085) ^ 2: half-width of an interval in standard errors / half-width wanted. */
#define CALLS_PER_VARIANCE 330000.0
#define CALLS_MIN          700000.0

void sim_rows_deinit (struct sim_rows *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        sim_scenario_deinit (&self->items[i].scenario);
    free (self->items);
    *self = (struct sim_rows){.count = 0};
}

/* Rows are handed out one at a time: the next call may move them. */
struct sim_row *sim_rows_add (struct sim_rows *self, uint32_t n, double load, const char *name, ...)
{
    if (self->count == self->size && !self->is_short_of_memory) {
        uint32_t size = self->size ? self->size * 2 : 64;
        struct sim_row *items = realloc (self->items, size * sizeof *items);
        if (items) {
            self->items = items;
            self->size = size;
        }
        self->is_short_of_memory = !items;
    }
    if (self->is_short_of_memory)
        return NULL;
    struct sim_row *row = &self->items[self->count++];
    *row = (struct sim_row){.unit_ns = (double)UNIT_NS};
    va_list arguments;
    va_start (arguments, name);
    vsnprintf (row->name, sizeof row->name, name, arguments);
    va_end (arguments);
    struct sim_scenario *s = &row->scenario;
    sim_scenario_init (s);
    snprintf (s->name, sizeof s->name, "verify");
    s->workload.load = load;
    s->workload.service = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = UNIT_NS};
    s->replicas.count = n;
    s->replicas.workers = 1;
    s->replicas.queue_depth = QUEUE_DEPTH;
    s->network.client = (struct sim_delay){.fixed_ns = 1};
    s->network.peer = (struct sim_delay){.fixed_ns = 1};
    s->heartbeat_ns = TIED_S (1);
    s->amount.calls = 500000;
    s->amount.warm_up = 0.05;
    s->amount.cool_down = 0.01;
    return row;
}

void sim_row_service (struct sim_row *row, const char *text)
{
    char why[TI_DIST_WHY_MAX];
    int rc = ti_dist_parse (text, &row->scenario.workload.service, why);
    TI_ASSERT (rc == TIED_OK);
}

/*
 * Whitt 1989: the mean wait of M/M/1 over N calls has the variance E[W] ^ 2 r / N, with
 * r = (2 + 5 b - 4 b ^ 2 + b ^ 3) / (b (1 - b) ^ 2) at load b; other service changes it about as
 * much as the wait itself, and wait and service move together. Servers that share their work are
 * taken as one: calls count, not time.
 */
void sim_row_length (struct sim_row *row, double mean, double busy, double c2, double factor)
{
    double wait = fmax (mean - 1, 0);
    double r = (2 + busy * (5 + busy * (-4 + busy))) / (busy * (1 - busy) * (1 - busy));
    double deviation = (sqrt (c2) + wait * sqrt (r * (1 + c2) / 2)) / mean;
    double calls = factor * CALLS_PER_VARIANCE * deviation * deviation;
    row->scenario.amount.calls = (uint64_t)fmax (calls, CALLS_MIN);
}

/* In units of 1 / (1 - load): the servers must be past their beginning, when all are empty. A share
 * of the calls is enough for few servers, but not for many. */
#define WARM_UP_UNITS 10

void sim_row_warm_up (struct sim_row *row, double replications)
{
    struct sim_amount *amount = &row->scenario.amount;
    double load = fmin (row->scenario.workload.load, 0.99);
    double calls = WARM_UP_UNITS * load / (1 - load) * row->scenario.replicas.count *
                   row->scenario.replicas.workers;
    amount->warm_up = fmax (amount->warm_up, calls * replications / (double)amount->calls);
}

double sim_row_shared (double load)
{
    return load < .9 ? 2 : 1.6;
}

void sim_row_policy (struct sim_row *row, enum sim_policy_kind kind, uint32_t d)
{
    struct sim_scenario *s = &row->scenario;
    s->policies_count = 1;
    sim_policy_init (&s->policies[0], kind);
    s->policies[0].pick = TIED_PICK_RANDOM;
    s->policies[0].stagger_ns = 10;
    s->policies[0].hedge_ppm = 0;
    s->policies[0].hedge_depth = s->replicas.queue_depth;
    s->policies[0].keeps_losers = true;
    s->policies[0].d = d;
    snprintf (s->policies[0].name, sizeof s->policies[0].name, "%s", sim_policy_kind_name (kind));
    row->identities = SIM_IDENTITIES_ONCE;
    if (kind == SIM_POLICY_TIED || kind == SIM_POLICY_TIED_HEDGE)
        row->identities = SIM_IDENTITIES_TIED;
    else if (kind == SIM_POLICY_CLONE || kind == SIM_POLICY_IDEAL_COC || kind == SIM_POLICY_HEDGE)
        row->identities = SIM_IDENTITIES_ANSWERED;
}

void sim_row_check (struct sim_row *row, enum sim_quantity quantity, double theory, double slack)
{
    TI_ASSERT (row->checks_count < SIM_CHECKS_MAX);
    double width = quantity == SIM_QUANTITY_MEAN  ? SIM_VERIFY_MEAN_WIDTH
                   : quantity == SIM_QUANTITY_P99 ? SIM_VERIFY_P99_WIDTH
                                                  : 0;
    row->checks[row->checks_count++] =
        (struct sim_check){.quantity = quantity, .theory = theory, .slack = slack, .width = width};
}

void sim_row_law (struct sim_row *row, struct sim_theory *law, double slack_share)
{
    static const struct {
        enum sim_quantity quantity;
        uint32_t ppm;
    } percentiles[] = {{SIM_QUANTITY_P50, 500000},
                       {SIM_QUANTITY_P90, 900000},
                       {SIM_QUANTITY_P99, 990000},
                       {SIM_QUANTITY_P99_9, 999000}};
    sim_row_check (row, SIM_QUANTITY_MEAN, law->mean, slack_share * law->mean);
    for (size_t i = 0; law->tail && i < sizeof percentiles / sizeof *percentiles; i++) {
        double at = sim_theory_percentile (law, percentiles[i].ppm);
        sim_row_check (row, percentiles[i].quantity, at, slack_share * at);
    }
    sim_theory_deinit (law);
}

const char *sim_quantity_name (enum sim_quantity quantity)
{
    static const char *const names[SIM_QUANTITIES] = {[SIM_QUANTITY_MEAN] = "mean",
                                                      [SIM_QUANTITY_P50] = "p50",
                                                      [SIM_QUANTITY_P90] = "p90",
                                                      [SIM_QUANTITY_P99] = "p99",
                                                      [SIM_QUANTITY_P99_9] = "p99.9",
                                                      [SIM_QUANTITY_DUPLICATES] = "duplicates",
                                                      [SIM_QUANTITY_EXECUTIONS] = "executions",
                                                      [SIM_QUANTITY_REJECTS] = "rejects",
                                                      [SIM_QUANTITY_EXTRA] = "extra copies",
                                                      [SIM_QUANTITY_UTILISATION] = "utilisation"};
    TI_ASSERT ((unsigned)quantity < SIM_QUANTITIES);
    return names[quantity];
}
