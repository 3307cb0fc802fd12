/* SPDX-License-Identifier: MIT */
/*
 * The counters of replicas, read over the wire by calling their built-in method tied.stats, which
 * answers with a msgpack map of names to unsigned integers.
 */
#ifndef TIED_CLIENT_REPLICA_STATS_H
#define TIED_CLIENT_REPLICA_STATS_H

#include "app.h"

#define REPLICA_STATS_ITEMS_MAX 128

struct replica_stats {
    bool is_known; /* the replica has answered */
    uint32_t count;
    struct {
        char name[TIED_NAME_MAX + 1];
        uint64_t value;
    } items[REPLICA_STATS_ITEMS_MAX];
};

/* An array for so many replicas, to be freed with free (); NULL: no memory. */
struct replica_stats *replica_stats_new (uint32_t count);

/*
 * Ask all replicas at once and wait for their answers. idle, if not NULL, is called at least every
 * 5 ms meanwhile. A replica that does not answer in time is not known afterwards. is_absent, if not
 * NULL, has one field a replica, written and read from one call to the next: who did not answer
 * last time is waited for only shortly, so that one that is dead does not delay each call.
 */
void replica_stats_read (const struct app *app,
                         struct replica_stats *out,
                         bool *is_absent,
                         uint64_t timeout_ns,
                         void (*idle) (void *arg),
                         void *arg);

/* 0 if there is no such counter. */
uint64_t replica_stats_get (const struct replica_stats *self, const char *name);

/* Read a map; strings and numbers only. false, and nothing is known, if it is anything else. */
bool replica_stats_parse (struct replica_stats *self, const void *data, size_t size);

#endif
