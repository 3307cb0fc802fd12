/* SPDX-License-Identifier: MIT */
/*
 * Replications on several threads whose results are taken in the order of their numbers, one at a
 * time, so that what is made of them does not depend on the number of threads. Memory is bounded: a
 * thread that is too far ahead of the oldest unfinished task waits.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "study/study.h"

struct sim_pool {
    uint32_t jobs;
    uint64_t tasks;
    uint64_t group;            /* tasks that are begun together or not at all; divides `tasks` */
    tied_duration_t budget_ns; /* no group but the first is begun after it; 0: none */
    bool (*is_interrupted) (void); /* true: the budget is spent; NULL: never */
    atomic_bool *stop; /* set when the budget is spent; NULL: what runs then ends as it does */
    void *context;
    /* On any thread, several at once. @return 0, or an error and its line in why; TIED_ERR_TIMEOUT:
     * abandoned because of `stop` */
    int (*run) (void *context, uint64_t task, struct sim_result *result, char why[SIM_WHY_MAX]);
    /* In the order of tasks, one at a time, when all of the group are done: a group of which one
     * was abandoned is left out, and all after it. @return false: this was the last that counts */
    bool (*take) (void *context, uint64_t task, const struct sim_result *result);
    /* On the caller's thread, from time to time: tasks taken, since the start; may be NULL. */
    void (*progress) (void *context, uint64_t done, tied_duration_t elapsed);
};

/*
 * @param out_of_time  set true when the budget ended it
 * @return 0, the error of the first task in order that failed, TIED_ERR_SYSTEM (memory, threads)
 */
TIED_NODISCARD int
sim_pool_run (const struct sim_pool *pool, bool *out_of_time, char why[SIM_WHY_MAX]);

#endif
