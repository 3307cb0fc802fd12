/* SPDX-License-Identifier: MIT */
/*
 * What tied-replica does for a living: a service time per request, drawn from a distribution (by
 * the key that the body begins with, if it has 8 bytes or more), and pauses that stall all workers
 * at once as a garbage collector would. Seeded. Stalls at fixed times are another thing (stall.h).
 */
#ifndef APP_WORK_H
#define APP_WORK_H

#include <pthread.h>

#include <tied/replica.h>

#include "base/prng.h"
#include "tools/dist.h"

struct work {
    pthread_mutex_t lock; /* guards the generators and the pause */
    struct ti_service service;
    struct ti_prng times;
    bool keys_are_own; /* see work_draw () */
    uint64_t seed;
    struct ti_pause pause; /* length 0: none */
    struct ti_prng gaps;   /* a stream of its own: pauses do not depend on the traffic */
    tied_time_t pause_begin;
    tied_time_t pause_end;
};

/* keys_are_own: the seed decides with the key, see work_draw (). */
void work_init (struct work *self,
                const struct ti_service *service,
                const struct ti_pause *pause,
                uint64_t seed,
                bool keys_are_own);

/* The service time of a request. A body of 8 bytes or more begins with a key (little-endian) that
   decides it, so that a load test can ask for the same demands again; else it is the next draw.
   With keys_are_own the key decides together with the seed: copies of one call take as long at
   replicas of one seed, and have nothing to do with each other at replicas of two. */
tied_duration_t work_draw (struct work *self, const void *body, size_t size);

/* Handlers; arg is the struct work. `work` serves as the specification says and answers with the
   request's body; a cancel cuts it short. `echo` answers at once. */
void work_handle (tied_request_t *request, void *arg);
void work_echo (tied_request_t *request, void *arg);

#endif
