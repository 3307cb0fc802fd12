/* SPDX-License-Identifier: MIT */
/*
 * Explicit-state exploration of one call, one client and two replicas with one worker each: every
 * order of deliveries between different connections (one connection keeps its order), of worker
 * starts and ends, of time-outs, and of a bounded number of faults. The states are memcpy snapshots
 * of the real cores; a state is known by a 64-bit hash, so a collision could hide one (with a
 * million states the chance of any is below one in 30 million).
 *
 * Bounded: one call; budgets of faults; heartbeats, tombstone ages and silence do not pass, because
 * they lie beyond the horizon of a call's life. A link's end is told by notification instead.
 */
#ifndef TEST_TINY_H
#define TEST_TINY_H

#include "ledger.h"

struct tiny_config {
    const char *name;
    uint32_t mode; /* enum tied_mode */
    tied_duration_t stagger_ns;
    tied_duration_t hedge_ns;
    tied_duration_t deadline_ns; /* TIED_NEVER: none, and then the call must end ok */
    int losses;                  /* messages that may vanish */
    int repeats;                 /* messages that may come twice */
    int crashes;                 /* replica crashes: its memory is lost, its links break */
    int restarts;                /* crashed replicas that come back */
    int silent_restarts;         /* a crash and restart after which messages on
                                     their way reach the new incarnation */
    int occupants;               /* copies of another client, put into a queue of one place */
    int give_ups;                /* the application cancels the call */
    uint32_t mutations;          /* enum node_mutation of both replicas and the client */
    uint32_t states_max;         /* give up beyond; 0: 1 << 24 */
};

struct tiny_result {
    uint64_t states, transitions, ends;
    uint32_t depth;
    uint64_t marks[LEDGER_MARK_COUNT];
    uint64_t outcomes[TIED_OUTCOME_COUNT];
    bool is_complete;     /* every reachable state was seen */
    char violation[192];  /* "" if no rule was broken */
    uint32_t path_length; /* steps to the violation */
};

/* Explores; on a violation the steps that lead to it go to standard error if `shows_path`. */
void tiny_explore (const struct tiny_config *config, struct tiny_result *result, bool shows_path);

#endif
