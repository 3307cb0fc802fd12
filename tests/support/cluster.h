/* SPDX-License-Identifier: MIT */
/*
 * A few tied-replica processes that know each other, and ways to look at them: their counters come
 * over the wire (tied.stats), read with msgpack-c. Ids are "a", "b", ...; endpoints stay the same
 * over a restart. Include it after the tests' check.h; needs TIED_REPLICA_PROGRAM.
 */
#ifndef TIED_TEST_CLUSTER_H
#define TIED_TEST_CLUSTER_H

#include <tied/client.h>

#include "process.h"
#include "proxy.h"
#include "wire_client.h"

#define CLUSTER_MAX  4
#define CLUSTER_ARGS 32

struct cluster_node {
    char id[2];
    char client[64]; /* endpoints */
    char peer[64];
    struct process *process;
    struct wire_client looker;
    uint64_t looks;
};

struct cluster {
    uint32_t count;
    struct cluster_node nodes[CLUSTER_MAX];
    char seen[CLUSTER_MAX][CLUSTER_MAX][64]; /* [i][j]: peer endpoint of j as i is told; "": not */
};

/* Choose endpoints; nothing runs yet. Change `seen` before cluster_start () to break a link. */
void cluster_init (struct cluster *self, uint32_t count);
/* Start one, with more options of tied-replica up to a NULL, and wait for its `ready` line. */
void cluster_start (struct cluster *self, uint32_t index, ...) __attribute__ ((sentinel));
/* Start all with one worker each and this --service, and wait for the links between them. */
void cluster_run (struct cluster *self, uint32_t count, const char *service);
/* Until replica index has said and heard HELLO and WELCOME on that many links. */
void cluster_await_links (struct cluster *self, uint32_t index, uint32_t links);

uint64_t cluster_stat (struct cluster *self, uint32_t index, const char *name);
/* Sum over the replicas that run. */
uint64_t cluster_sum (struct cluster *self, const char *name);
void cluster_await_sum (struct cluster *self, const char *name, uint64_t value);
/* Wait until a counter is at least that. */
void cluster_await (struct cluster *self, uint32_t index, const char *name, uint64_t value);
void cluster_await_equal (struct cluster *self, uint32_t index, const char *name, uint64_t value);

/* SIGKILL, reaped. */
void cluster_kill (struct cluster *self, uint32_t index);
/* SIGTERM; it must exit with 0. */
void cluster_stop (struct cluster *self, uint32_t index);
/* Stop those that run. */
void cluster_close (struct cluster *self);

/* A started client of all replicas that has greeted those that run. options may be NULL; then only
   long silence makes a replica suspect. */
tied_client_t *cluster_client (struct cluster *self, const struct tied_client_options *options);
/* The same with a proxy on its way to one of them; destroy it after the client. */
tied_client_t *cluster_client_through (struct cluster *self, uint32_t index, struct proxy **proxy);

#endif
