/* SPDX-License-Identifier: MIT */
/*
 * Threads that take copies from a replica in PULL mode and serve them, but take none while a stall
 * holds: what runs ends, all else waits in the queue, where a sibling's start or a cancel still
 * finds it. So a stall takes the workers away and leaves what they have begun alone.
 */
#ifndef APP_WORKERS_H
#define APP_WORKERS_H

#include "stall.h"
#include "work.h"

struct workers {
    tied_replica_t *replica;
    struct work *work;
    struct stall stall;
    int ended; /* eventfd: no stall is waited for any more */
    pthread_t *threads;
    uint32_t count;
};

/* The methods that work_handle () and work_echo () serve, declared for PULL. Before the start. */
TIED_NODISCARD int workers_declare (tied_replica_t *replica);
/* count threads from now on. 0, TIED_ERR_NOMEM, TIED_ERR_SYSTEM (none runs). */
TIED_NODISCARD int workers_start (struct workers *self,
                                  tied_replica_t *replica,
                                  struct work *work,
                                  const struct stall *stall,
                                  uint32_t count);
/* After the replica has stopped; they end by that. */
void workers_join (struct workers *self);

#endif
