/* SPDX-License-Identifier: MIT */
/* What each call is about: a key by the number of the call, alike or by Zipf's law. */
#ifndef SIM_WORKLOAD_KEYS_H
#define SIM_WORKLOAD_KEYS_H

#include "scenario/scenario.h"

struct sim_key_table {
    uint64_t seed;
    uint32_t count; /* 0: no call has a key */
    double *sums;   /* of the weights up to each key; NULL: all alike */
};

/* False: no memory. */
bool sim_keys_init (struct sim_key_table *self, const struct sim_keys *keys, uint64_t seed);
void sim_keys_deinit (struct sim_key_table *self);
/* [1, count], 1 being the most frequent; 0: none. */
uint64_t sim_key_of (const struct sim_key_table *self, uint64_t call);

#endif
