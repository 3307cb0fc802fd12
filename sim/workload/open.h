/* SPDX-License-Identifier: MIT */
/*
 * The requests that have calls in flight, found by number. Its size follows what is in flight, not
 * what has ever been: an open table, at most half full.
 */
#ifndef SIM_OPEN_H
#define SIM_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/types.h>

struct sim_open_request {
    uint64_t key; /* number of the request + 1; 0: free */
    tied_time_t at;
    uint32_t user;     /* of a closed loop */
    uint32_t ended;    /* of its calls */
    uint32_t answered; /* of those */
    bool has_ended;    /* the request; some of its calls may go on */
};

struct sim_open {
    struct sim_open_request *slots;
    uint64_t mask;  /* slots - 1, a power of two minus one */
    unsigned shift; /* 64 - bits of the mask */
    uint64_t count;
};

/* false: no memory */
bool sim_open_init (struct sim_open *self);
void sim_open_deinit (struct sim_open *self);
/* A new entry, all zero but for its key; the number is not in the table. Out of memory ends the
 * process through the assert handler. The pointer is good until the next add or remove. */
struct sim_open_request *sim_open_add (struct sim_open *self, uint64_t number);
/* NULL: not there. */
struct sim_open_request *sim_open_find (struct sim_open *self, uint64_t number);
void sim_open_remove (struct sim_open *self, struct sim_open_request *entry);

#endif
