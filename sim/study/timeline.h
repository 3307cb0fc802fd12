/* SPDX-License-Identifier: MIT */
/*
 * One replication of one policy over time: a row for each step of virtual time with the latency of
 * the requests that came in it and the extra copies sent in it, and the largest share of extra
 * copies in any window. For what a sum over the whole run hides: an overload and its end, a budget.
 */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include "scenario/scenario.h"
#include "study/run.h"

#define SIM_TIMELINE_ROWS_MAX 10000

struct sim_timeline_row {
    uint64_t requests;                     /* measured ones that came and were answered, ever */
    uint64_t copies, extra;                /* sent, and those of them beyond the first of a call */
    tied_duration_t p50, p99, p99_9, most; /* 0: no request */
};

struct sim_timeline_options {
    tied_duration_t step_ns, window_ns;
    bool is_second_free; /* of a tie the second copy is no extra one */
};

struct sim_timeline {
    struct sim_timeline_row *rows; /* from the first arrivals on */
    uint32_t rows_count;
    /* Of the windows that end with an extra copy and lie after the first arrivals. */
    double largest_share;               /* extra copies, of first copies */
    tied_duration_t largest_from;       /* when that window begins */
    uint64_t calls, copies, executions; /* of the measured requests */
};

/* The hedge percentiles of the scenario are resolved. @return as sim_run () */
TIED_NODISCARD int sim_timeline_run (const struct sim_scenario *scenario,
                                     uint32_t policy,
                                     uint64_t seed,
                                     const struct sim_timeline_options *options,
                                     struct sim_timeline *out,
                                     char why[SIM_WHY_MAX]);
void sim_timeline_deinit (struct sim_timeline *self);

/* The highest p99 of the rows [from, to). */
tied_duration_t
sim_timeline_worst_p99 (const struct sim_timeline *self, uint32_t from, uint32_t to);
/* The first row from `from` on since when p99 of no row is above the limit; rows_count: there is
 * none. */
uint32_t
sim_timeline_calm_from (const struct sim_timeline *self, uint32_t from, tied_duration_t limit);

#endif
