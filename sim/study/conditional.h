/* SPDX-License-Identifier: MIT */
/*
 * What a hedge after d is worth to the one call that it is launched for: of the calls that are
 * still pending at d, how much longer they take, and what one more copy, sent then to another
 * replica, saves, while all else stays as it was.
 *
 * Two runs, one with hedges and one without, do not tell: the hedges of others change the queues,
 * and a call that was unlucky in one run is an ordinary one in the other, so that most of what it
 * seems to save is its return to the mean. Here the queues are those of the run without hedges;
 * what hedging does to everybody, further load included, is what the policies' own figures say.
 */
#ifndef SIM_CONDITIONAL_H
#define SIM_CONDITIONAL_H

#include "scenario/scenario.h"

/* A call and the copy that it might get; in the order of their times. */
struct sim_pending_call {
    tied_time_t at;
    uint32_t replica, other; /* of the call, of the copy: two different ones */
    tied_duration_t service_ns, other_service_ns;
};

/* Replicas are FIFO queues before workers. */
struct sim_pending_system {
    uint32_t replicas, workers;
    tied_duration_t way_ns; /* of a request, and of an answer */
    uint64_t first;         /* calls before this one warm the queues up */
};

/* Zero is the empty one. */
struct sim_conditional {
    uint64_t calls;
    uint64_t pending;     /* of those, still at d */
    uint64_t faster;      /* of those, ended earlier by the copy */
    double longer_sum_ns; /* T - d */
    double saved_sum_ns;  /* T without - T with the copy */
    uint64_t *longer;     /* T - d of each; sorted by _finish () */
    uint64_t longer_room;
};

/* May be called several times for one *self. false: no memory */
bool sim_conditional_add (struct sim_conditional *self,
                          const struct sim_pending_system *system,
                          const struct sim_pending_call *calls,
                          uint64_t count,
                          tied_duration_t delay);
void sim_conditional_finish (struct sim_conditional *self);
/* Percentile of T - d by nearest rank, after _finish (); 0: nothing was pending. */
uint64_t sim_conditional_longer (const struct sim_conditional *self, uint32_t ppm);
void sim_conditional_deinit (struct sim_conditional *self);

#endif
