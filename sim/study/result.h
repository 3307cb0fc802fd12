/* SPDX-License-Identifier: MIT */
/*
 * What one replication of one policy gave: counts and a histogram, no ratios. Ratios, intervals and
 * words are made where they are written (output/).
 */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hist.h"

#include <tied/types.h>

/* Of measured calls only, but for the lines that say otherwise. */
struct sim_result {
    struct ti_hist *latency; /* ns, of measured requests that were answered; half_bits 10 */
    double latency_sum_ns;   /* exact mean: sum / latency->total */
    uint64_t requests;       /* measured requests that have ended */
    uint64_t calls;          /* their calls: fan_out of each */
    uint64_t outcomes[TIED_OUTCOME_COUNT]; /* of calls */
    uint64_t copies;                       /* sent by clients */
    uint64_t executions;                   /* started */
    uint64_t duplicates;                   /* calls that started more than once */
    uint64_t rejections;                   /* copies refused */
    uint64_t not_sent[TIED_NOT_SENT_COUNT];
    uint64_t served_ns; /* service time of all executions */
    uint64_t wasted_ns; /* of it, that of executions that did not answer their call */
    struct {
        uint64_t sent, effective, early, late, moot, lost;   /* STARTED, or the reference's like */
        uint64_t client_sent, client_queued, client_running; /* CANCEL from clients */
    } cancels;

    /* Of the whole run, warm-up and cool-down included. */
    uint64_t all_calls; /* simulated */
    uint64_t all_requests;
    uint64_t cut_requests; /* not measured: warm-up and cool-down */
    uint64_t events;
    uint64_t probes;     /* questions for load that a policy sent beside its copies */
    uint64_t busy_ns;    /* time that workers were taken, in the measured span */
    uint64_t span_ns;    /* from the first measured arrival to the last one */
    uint64_t depth_area; /* ns x copies waiting, over the span, all replicas */
    uint64_t workers;    /* all replicas together */
    uint64_t replicas;
    uint64_t backlog_first, backlog_last; /* calls not ended: mean over the first and last fifth of
                                             the span */
    bool is_unstable;                     /* the backlog grows: percentiles mean nothing */
    uint64_t trace_hash;                  /* of everything that happened, in order */
    uint64_t table_overflows; /* calls that found a client's table full: ended as unavailable */
    uint64_t memory_bytes;    /* of the engine and its cores */
    uint64_t wall_ns;         /* real time; not part of what is compared */
};

/* Zero, with an empty histogram. @return 0, TIED_ERR_SYSTEM: no memory */
TIED_NODISCARD int sim_result_init (struct sim_result *self);
void sim_result_deinit (struct sim_result *self);
/* Adds b's counts and samples to a. */
void sim_result_merge (struct sim_result *a, const struct sim_result *b);
/* Everything but wall_ns is the same. */
bool sim_result_equal (const struct sim_result *a, const struct sim_result *b);

#endif
