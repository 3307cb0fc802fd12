/* SPDX-License-Identifier: MIT */
/*
 * Drivers of the two cores for virtual worlds: bytes in, core steps, bytes out. They do what the
 * ZeroMQ runtimes do (docs/sans-io.md), with a network that is two function pointers. Everything
 * that happens is also told as a note, from which the engines make ledgers, transcripts and hashes.
 * No engine of time or order is here: see world.h and tiny.h.
 */
#ifndef TEST_NODE_H
#define TEST_NODE_H

#include <tied/client_core.h>
#include <tied/replica_core.h>
#include <tied/wire.h>

#define NODE_REPLICAS_MAX 32
#define NODE_CLIENTS_MAX  8
#define NODE_MESSAGE_MAX  192
#define NODE_CONNS_MAX    32 /* client indices that a replica hands out */
#define NODE_NOBODY       (-1)

/* Actors are small numbers: clients first, then replicas. */
#define NODE_CLIENT(i)         (i)
#define NODE_REPLICA(i)        (NODE_CLIENTS_MAX + (i))
#define NODE_IS_CLIENT(actor)  ((actor) < NODE_CLIENTS_MAX)
#define NODE_REPLICA_OF(actor) ((actor)-NODE_CLIENTS_MAX)
#define NODE_ACTORS            (NODE_CLIENTS_MAX + NODE_REPLICAS_MAX)

/* Faults planted in a driver, to show that the checks see them. */
enum node_mutation {
    NODE_MUTATION_NONE = 0,
    NODE_KILL_RUNNING = 1 << 0,     /* a peer's STARTED ends a running copy without a reply */
    NODE_SKIP_TOMBSTONE = 1 << 1,   /* a STARTED that comes before its copy is thrown away */
    NODE_IGNORE_LINK_DOWN = 1 << 2, /* the client is never told that a link broke */
    NODE_FORGET_UNTIE = 1 << 3      /* a peer's UNTIE is thrown away */
};

/* X (NAME, printed word) */
#define NODE_NOTE_MAP(X)                                                                           \
    X (SUBMIT, "submits")                                                                          \
    X (GIVE_UP, "gives up")                                                                        \
    X (SENT, "sends")                                                                              \
    X (REFUSED, "cannot send")                                                                     \
    X (ADMIT, "queues")                                                                            \
    X (REJECT, "rejects")                                                                          \
    X (TOMBSTONED, "meets tombstone of")                                                           \
    X (MERGED, "merges")                                                                           \
    X (REPEATED, "ignores repeated")                                                               \
    X (RUN, "starts")                                                                              \
    X (DROP, "drops")                                                                              \
    X (EXPIRE, "expires")                                                                          \
    X (CANCEL_RUNNING, "raises cancel flag of")                                                    \
    X (TOLD, "is told STARTED")                                                                    \
    X (UNTIED, "is told UNTIE")                                                                    \
    X (CANCELLED, "is told CANCEL")                                                                \
    X (REPLY, "finishes")                                                                          \
    X (ANSWERED, "gets REPLY")                                                                     \
    X (DENIED, "gets REJECT")                                                                      \
    X (COMPLETE, "ends")                                                                           \
    X (CLIENT_FORGOTTEN, "forgets client")                                                         \
    X (LINK_UP, "link up")                                                                         \
    X (LINK_DOWN, "link down")                                                                     \
    X (BAD_BYTES, "refuses bytes")                                                                 \
    X (CRASH, "crashes")                                                                           \
    X (RESTART, "restarts")                                                                        \
    X (PAUSE, "stops")                                                                             \
    X (RESUME, "goes on")                                                                          \
    X (LOSE, "loses")                                                                              \
    X (DUPLICATE, "doubles")

#define NODE_NOTE_ENUM_(name, text) NODE_NOTE_##name,
enum node_note_kind {
    NODE_NOTE_MAP (NODE_NOTE_ENUM_) NODE_NOTE_COUNT
};
#undef NODE_NOTE_ENUM_

struct node_note {
    enum node_note_kind kind;
    int actor; /* where it happens */
    int other; /* the far side, NODE_NOBODY if there is none */
    struct tied_call_id call;
    bool has_call;
    uint8_t copy;
    uint8_t type;         /* SENT, REFUSED, LOSE, DUPLICATE: enum tied_wire_type */
    uint8_t reason;       /* REJECT, DENIED, CANCEL_RUNNING, CANCELLED, BAD_BYTES: as on the wire */
    uint32_t flags;       /* SENT of a REQUEST, REPLY, ANSWERED: as on the wire */
    int sibling;          /* SENT of a REQUEST: replica, NODE_NOBODY if none */
    int cause;            /* replica notes: enum tied_replica_event_type of the step; 0: none */
    bool is_hedged;       /* SUBMIT: a hedge is asked for */
    tied_time_t deadline; /* SUBMIT: of the engine's clock */
    const struct tied_client_completion *done; /* COMPLETE */
};

/* What an engine offers the drivers. */
struct node_net {
    void *context;
    /* False: the link cannot take it. `generation` names the connection that the sender means. */
    bool (*send) (void *context,
                  int from,
                  int to,
                  uint32_t generation,
                  const struct tied_message *message,
                  const void *data,
                  size_t size);
    void (*note) (void *context, const struct node_note *note);
    /* A worker of the replica has this slot now; it ends with node_replica_finish (). */
    void (*run) (void *context, int replica, uint32_t slot);
};

struct node_link {
    uint32_t generation; /* of the connection, as this end knows it */
    bool is_up;
};

struct node_client {
    const struct node_net *net;
    tied_client_core_t *core;
    tied_duration_t offset; /* this node's clock is ahead of the world's by so much */
    uint64_t epoch;
    int self;
    uint32_t mutations;
    uint32_t bad_bytes;
    uint32_t check_mask; /* check the whole core when (steps & mask) == 0 */
    uint32_t steps;
    struct node_link links[NODE_REPLICAS_MAX];
};

struct node_slot {
    struct tied_call_id call;
    unsigned char body[16];
    uint32_t client;
    uint8_t copy;
    bool is_used;
    bool is_running;
    bool is_killed; /* NODE_KILL_RUNNING */
};

struct node_conn {
    uint32_t generation;
    int16_t client;
    bool is_used;
};

/* The engine's own account of a replica, to hold against the core's counters. */
struct node_account {
    uint64_t received, admitted, rejected, run, dropped, expired, tombstoned, merged, repeated;
};

struct node_replica {
    const struct node_net *net;
    tied_replica_core_t *core;
    struct node_slot *slots;
    tied_duration_t offset;
    uint64_t incarnation;
    int self;
    uint32_t mutations;
    uint32_t bad_bytes;
    uint32_t check_mask;
    uint32_t steps;
    uint32_t conns_max; /* indices that the core takes, at most NODE_CONNS_MAX */
    uint32_t conns_full;
    struct node_account account;
    struct node_conn conns[NODE_CONNS_MAX];
    struct node_link peers[NODE_REPLICAS_MAX];
};

/* Name of replica i on the wire ("r0"), and back; NODE_NOBODY for another name. */
struct tied_view node_replica_name (int replica);
int node_replica_named (struct tied_view name);
const char *node_note_text (enum node_note_kind kind);

/* Client driver. `now` is the world's time everywhere. */
int node_client_submit (struct node_client *self,
                        const struct tied_client_submit *submit,
                        tied_time_t now);
int node_client_cancel (struct node_client *self, struct tied_call_id call, tied_time_t now);
void node_client_link (
    struct node_client *self, int replica, uint32_t generation, bool is_up, tied_time_t now);
void node_client_receive (
    struct node_client *self, int replica, const void *data, size_t size, tied_time_t now);
void node_client_timeout (struct node_client *self, tied_time_t now);
tied_time_t node_client_deadline (const struct node_client *self);

/* Replica driver. */
void node_replica_receive (struct node_replica *self,
                           int from,
                           uint32_t generation,
                           const void *data,
                           size_t size,
                           tied_time_t now);
void node_replica_link (
    struct node_replica *self, int peer, uint32_t generation, bool is_up, tied_time_t now);
void node_replica_client_gone (struct node_replica *self,
                               int client,
                               uint32_t generation,
                               tied_time_t now);
/* A worker takes the next copy, if there is one. */
void node_replica_take (struct node_replica *self, tied_time_t now);
void node_replica_finish (struct node_replica *self, uint32_t slot, tied_time_t now);
void node_replica_drain (struct node_replica *self, tied_time_t now);
void node_replica_timeout (struct node_replica *self, tied_time_t now);
tied_time_t node_replica_deadline (const struct node_replica *self);
/* Aborts if the account and the core's counters disagree. */
void node_replica_check (const struct node_replica *self);
void node_client_check (const struct node_client *self);

#endif
