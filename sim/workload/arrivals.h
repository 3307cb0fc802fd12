/* SPDX-License-Identifier: MIT */
/*
 * Times of the requests of an open load, one after the other, from SIM_SOURCE_START_NS on. Closed
 * loops are in users.h. Gaps are drawn as real numbers of nanoseconds and the fraction is carried
 * into the next, so that the rate is exact however short the gaps are.
 */
#ifndef SIM_ARRIVALS_H
#define SIM_ARRIVALS_H

#include "scenario/scenario.h"

struct sim_arrivals_state {
    const struct sim_workload *workload;
    enum sim_arrivals kind;
    uint64_t seed;
    uint64_t draws; /* of gaps and phases so far */
    tied_time_t at; /* of the last request */
    double carry;   /* part of a nanosecond, [0, 1) */
    double gap_ns;  /* mean of the whole */
    /* ON_OFF, MMPP: number 0 is the busy phase. */
    double phase_gap_ns[2];  /* mean gap in each; 0: nothing arrives */
    double phase_mean_ns[2]; /* mean stay */
    double phase_left_ns;
    int phase;
    uint32_t step; /* STEPS: those that have begun */
    /* TRACE */
    uint64_t next;    /* entry */
    double scale;     /* of all times */
    double period_ns; /* of one repetition, before scaling */
    double laps;      /* repetitions done */
};

/* false: no request can be offered. */
bool sim_arrivals_init (struct sim_arrivals_state *self,
                        const struct sim_scenario *scenario,
                        uint64_t seed);
/* Time of the next request, not earlier than the last one's. */
tied_time_t sim_arrivals_next (struct sim_arrivals_state *self);

#endif
