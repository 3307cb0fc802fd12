/* SPDX-License-Identifier: MIT */
/*
 * A deterministic world in virtual time: client and replica drivers (node.h), workers with service
 * times, and links that delay, lose, repeat, reorder, clog, partition and break. Time is an integer
 * of nanoseconds and passes only here; each purpose has its own generator, so that a new draw for
 * one does not shift the others; the same options give the same trace hash.
 *
 * Every step is checked by the ledger, the cores' own check () and the drivers' accounts.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <stdio.h>

#include "ledger.h"
#include "base/prng.h"
#include "tools/dist.h"

#define WORLD_START TIED_S (1)
#define WORLD_TYPES 16

struct world_options {
    uint64_t seed;
    uint32_t clients;          /* [1, NODE_CLIENTS_MAX] */
    uint32_t replicas;         /* [1, NODE_REPLICAS_MAX] */
    uint32_t calls_per_client; /* how many the ledger has room for */
    struct tied_client_core_options client;
    struct tied_replica_core_options replica;
    tied_duration_t delay_low_ns, delay_high_ns;           /* between client and replica, one way */
    tied_duration_t peer_delay_low_ns, peer_delay_high_ns; /* between replicas */
    struct ti_dist service;
    bool has_clock_offsets; /* each node's clock has its own start */
    bool has_strangers;     /* the caller will inject messages */
    uint32_t check_mask;    /* whole-core checks when (steps & mask) == 0 */
    /* Faults, in parts per million of the messages; settle () ends them. */
    uint32_t loss_ppm[WORLD_TYPES]; /* by enum tied_wire_type */
    uint32_t repeat_ppm, reorder_ppm;
    uint32_t pipe_max;  /* messages that one direction towards a replica takes; 0: any number */
    uint32_t mutations; /* enum node_mutation */
    FILE *transcript;   /* NULL: none */
    bool hides_probes;  /* no HELLO, WELCOME, PING, PONG in the transcript */
};

struct world;

/* Defaults: 1 client, 2 replicas of 1 worker, 100 us one way, fixed (1 ms) service, no faults. */
void world_options_init (struct world_options *options);
/* Links come up at WORLD_START; run until a millisecond later to have them greeted. */
struct world *world_new (const struct world_options *options);
void world_free (struct world *self);

tied_time_t world_now (const struct world *self);
struct ledger *world_ledger (struct world *self);
struct node_client *world_client (struct world *self, int client);
struct node_replica *world_replica (struct world *self, int replica);
bool world_is_alive (const struct world *self, int replica);
uint64_t world_hash (const struct world *self);
/* Sums over all replicas and incarnations. */
struct tied_replica_counters world_counters (const struct world *self);

/* From here on notes go to this file, NULL: nowhere; times are printed since `origin`. */
void world_set_transcript (struct world *self, FILE *file, tied_time_t origin);

/* Runs everything up to and including this time. */
void world_run_until (struct world *self, tied_time_t until);
/* Runs until no call is live and no copy is queued or runs, or until `limit`: false. */
bool world_run_idle (struct world *self, tied_time_t limit);

/* Submits at the current time; the deadline is relative. Returns the sequence number. */
uint64_t world_submit_hedged (struct world *self,
                              int client,
                              uint32_t mode,
                              bool is_idempotent,
                              tied_duration_t deadline,
                              tied_duration_t stagger,
                              tied_duration_t hedge);
/* Without a hedge. */
uint64_t world_submit (struct world *self,
                       int client,
                       uint32_t mode,
                       bool is_idempotent,
                       tied_duration_t deadline,
                       tied_duration_t stagger);
void world_give_up (struct world *self, int client, uint64_t sequence);

/* The replica's process dies: memory, queue and connections are gone. Silent: nobody is told until
 * it restarts. */
void world_crash (struct world *self, int replica, bool is_silent);
void world_restart (struct world *self, int replica);
/* As behind a proxy: clients are told that the link broke, but what is under way to the replica
 * reaches the new incarnation. */
void world_restart_hidden (struct world *self, int replica);
/* Nothing happens in this replica until then: messages wait, workers stand still. */
void world_pause (struct world *self, int replica, tied_time_t until);
void world_drain (struct world *self, int replica);
/* One direction holds its messages back until then. */
void world_clog (struct world *self, int from, int to, tied_time_t until);
/* One direction loses everything while on. */
void world_partition (struct world *self, int from, int to, bool is_on);
/* The connection breaks and comes back after `down`. */
void world_break (struct world *self, int a, int b, tied_duration_t down);
/* The next message of this type in this direction is lost, or takes this much longer. */
void world_lose_next (struct world *self, int from, int to, uint8_t type);
void world_delay_next (struct world *self, int from, int to, uint8_t type, tied_duration_t extra);
/* Service time of the next copy that this replica starts. */
void world_service_next (struct world *self, int replica, tied_duration_t service);
/* Bytes as if `from` had sent them now. */
void world_inject (struct world *self, int from, int to, const void *data, size_t size);
/* No more faults from here on: crashed replicas restart, partitions and clogs end. */
void world_settle (struct world *self);
/* All calls have ended: every table is empty once the memory of ties has aged. Violations go to
 * the ledger. */
void world_check_empty (struct world *self);

#endif
