/* SPDX-License-Identifier: MIT */
/*
 * What stands between clients and servers and hands calls to idle ones: the set of servers with a
 * free worker, as far as it knows, and a FIFO of the calls that wait.
 */
#ifndef SIM_REF_IDLE_H
#define SIM_REF_IDLE_H

#include "reference/ref.h"

struct sim_ref_idle {
    uint32_t *busy;   /* of each server: copies that it was given and has not given back */
    uint32_t *items;  /* servers with a free worker */
    uint32_t *places; /* of each server in items, SIM_REF_NONE: not there */
    uint32_t count;
    uint32_t head, tail; /* of the calls */
    uint64_t queued;
};

/* As init and deinit of a policy whose state is nothing else. */
int sim_ref_idle_init (struct sim_ref *ref, char why[SIM_WHY_MAX]);
void sim_ref_idle_deinit (struct sim_ref *ref);
/* A random idle server, of which there is one, is given a copy of the call; `skipped` is not
 * chosen, and there is another one then. @return the copy */
uint32_t
sim_ref_idle_give (struct sim_ref_idle *self, struct sim_ref *ref, uint32_t call, uint32_t skipped);
/* The server has given a copy back. */
void sim_ref_idle_back (struct sim_ref_idle *self, const struct sim_ref *ref, uint32_t server);
/* The call waits, and is held; refused, when as many wait as all queues together may hold. */
void sim_ref_idle_queue (struct sim_ref_idle *self, struct sim_ref *ref, uint32_t call);
/* The first call that is worth running, still held; SIM_REF_NONE: none. Expired ones are dropped.
 */
uint32_t sim_ref_idle_next (struct sim_ref_idle *self, struct sim_ref *ref);

#endif
