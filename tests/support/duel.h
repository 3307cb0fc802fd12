/* SPDX-License-Identifier: MIT */
/*
 * Explicit-state exploration of one call and the cores of two replicas, under the worst network
 * there is: whatever was sent may arrive at any time, any number of times, in any order, or never.
 * A replica may lose its memory and come back as another instance, and what was meant for the first
 * then reaches the second. The client is as good as the protocol allows: it sends each copy once,
 * and sends a further one only after every copy was definitely refused.
 *
 * The search is breadth first, so the steps to a broken rule are as few as can be. States are known
 * by a 64-bit hash.
 */
#ifndef TEST_DUEL_H
#define TEST_DUEL_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/replica_core.h>

/* Mistakes planted in the replicas. */
enum duel_mutation {
    DUEL_NO_INCARNATION = 1 << 0,   /* copies and claims for another instance are taken */
    DUEL_FORGET_REFUSAL = 1 << 1,   /* a refusal leaves nothing behind */
    DUEL_FORGET_FORGETTING = 1 << 2 /* a replica does not know that it has forgotten something */
};

struct duel_config {
    const char *name;
    uint32_t flags;            /* enum tied_request_flag of the two copies */
    uint32_t restarts;         /* of each replica */
    uint32_t restarts_total;   /* of both; 0: no further limit */
    bool refuses;              /* a REQUEST may find no room */
    bool gives_up;             /* the client may cancel */
    uint32_t ticks;            /* how often time may move on, to a replica's next deadline that is
                                  less than a minute from the start */
    tied_duration_t remaining; /* time of the call */
    tied_duration_t memory;    /* recent_ttl_ns */
    tied_duration_t lease;
    uint32_t mutations;
    uint32_t executions_max; /* more break the rule */
    uint32_t finished_least; /* fewer in an end, too */
    uint64_t states_max;     /* give up beyond; 0: 1 << 22 */
};

/* Things that happened in some state. */
enum duel_mark {
    DUEL_MARK_RAN_AT_OWNER = 1 << 0,
    DUEL_MARK_RAN_AT_CLAIMANT = 1 << 1,
    DUEL_MARK_RAN_AGAIN = 1 << 2, /* a further copy, after refusals */
    DUEL_MARK_GRANTED = 1 << 3,
    DUEL_MARK_GRANTED_UNSEEN = 1 << 4,
    DUEL_MARK_DENIED = 1 << 5,
    DUEL_MARK_DROPPED = 1 << 6, /* by STARTED or a grant */
    DUEL_MARK_TOMBSTONED = 1 << 7,
    DUEL_MARK_STALE = 1 << 8,
    DUEL_MARK_EXPIRED = 1 << 9,
    DUEL_MARK_PARKED = 1 << 10,
    DUEL_MARK_REVIVED = 1 << 11,
    DUEL_MARK_DONE = 1 << 12
};

struct duel_result {
    uint64_t states, transitions;
    uint64_t ends; /* duel_wander (): executions */
    uint32_t depth;
    uint32_t marks;
    uint32_t fewest_at_end; /* executions that ended, in a state that nothing changes any more but
                               a restart: all that was sent has arrived, more than once */
    bool is_complete;
    char violation[128]; /* "" if no rule was broken */
    uint32_t steps;      /* to it */
};

/* Explores; the steps to a violation go to standard error if `shows`. */
void duel_explore (const struct duel_config *config, struct duel_result *result, bool shows);

/* Many calls, each a random walk of so many steps through the same states: further than the
 * exploration comes. states are the calls; is_complete if no rule was broken. */
void duel_wander (const struct duel_config *config,
                  uint64_t seed,
                  uint64_t calls,
                  uint32_t steps,
                  struct duel_result *result);

#endif
