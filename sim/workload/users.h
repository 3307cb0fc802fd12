/* SPDX-License-Identifier: MIT */
/*
 * Users of a closed loop: each thinks, sends a request, waits for its end, and thinks again. Who
 * sends next is the top of a heap of those that think.
 */
#ifndef SIM_USERS_H
#define SIM_USERS_H

#include "scenario/scenario.h"

struct sim_users {
    const struct ti_dist *think;
    uint64_t seed;
    struct sim_user *thinking; /* heap by (at, user) */
    uint32_t count;            /* in the heap */
    uint32_t *rounds;          /* of each user: thoughts begun */
};

struct sim_user {
    tied_time_t at; /* sends then */
    uint32_t user;
};

/* All users begin to think at `start`. false: no memory, or no users */
bool sim_users_init (struct sim_users *self,
                     const struct sim_workload *workload,
                     uint64_t seed,
                     tied_time_t start);
void sim_users_deinit (struct sim_users *self);
/* TIED_NEVER: all wait. */
tied_time_t sim_users_time (const struct sim_users *self);
/* Takes the one who sends next; there is one. */
struct sim_user sim_users_take (struct sim_users *self);
/* The request of this user has ended. */
void sim_users_think (struct sim_users *self, uint32_t user, tied_time_t now);

#endif
