/* SPDX-License-Identifier: MIT */
/* What the files of the world (world.h) share. */
#ifndef TEST_WORLD_INTERNAL_H
#define TEST_WORLD_INTERNAL_H

#include "world.h"

enum event_kind {
    EVENT_MESSAGE,
    EVENT_LINK_UP,
    EVENT_LINK_DOWN,
    EVENT_CONNECT, /* the transport tries again */
    EVENT_FINISH   /* after everything else of its time: sockets are drained first */
};

struct event {
    tied_time_t at;
    uint64_t order;
    enum event_kind kind;
    int from, to;
    uint32_t generation; /* FINISH: incarnation */
    uint32_t slot;
    uint16_t size;
    uint32_t next_free;
    unsigned char bytes[NODE_MESSAGE_MAX];
};

struct direction {
    tied_time_t last; /* nothing arrives before what was sent before */
    tied_time_t clogged_until;
    tied_duration_t delay_extra;
    uint32_t under_way;
    uint8_t delay_type, lose_type;
    bool is_cut;
};

struct connection {
    uint32_t generation;
    bool is_up;
};

struct host {
    struct node_replica node;
    struct node_slot *slots;
    void *memory;
    struct tied_replica_counters earlier; /* of dead incarnations */
    tied_time_t paused_until;
    tied_duration_t service_next;
    uint32_t incarnation;
    uint32_t running;
    bool is_alive, is_silent;
};

struct world {
    struct world_options options;
    struct node_net net;
    tied_time_t now;
    struct event *events;
    uint32_t *heap;
    uint32_t events_capacity, heap_count, free_head;
    uint64_t order;
    struct ti_prng network, service, faults;
    struct direction directions[NODE_ACTORS][NODE_ACTORS];
    struct connection connections[NODE_ACTORS][NODE_ACTORS]; /* smaller actor first */
    struct node_client clients[NODE_CLIENTS_MAX];
    struct host hosts[NODE_REPLICAS_MAX];
    struct ledger ledger;
    uint64_t hash;
    tied_time_t origin;    /* of the transcript's times */
    struct node_note lost; /* told after the note that the message was sent */
    bool has_lost;
    bool is_settled;
};

#define NO_EVENT UINT32_MAX

void world_push (struct world *self, uint32_t index);
uint32_t world_pop (struct world *self);
struct event *world_new_event (struct world *self, uint32_t *out_index);
void world_free_event (struct world *self, uint32_t index);
struct connection *world_connection (struct world *self, int a, int b);
void world_on_note (void *context, const struct node_note *note);
void world_note (struct world *self, enum node_note_kind kind, int actor, int other);
void world_schedule (struct world *self,
                     int from,
                     int to,
                     uint32_t generation,
                     tied_time_t at,
                     const void *data,
                     size_t size);
bool world_on_send (void *context,
                    int from,
                    int to,
                    uint32_t generation,
                    const struct tied_message *message,
                    const void *data,
                    size_t size);
void world_schedule_link (struct world *self, int to, int other, bool is_up, uint32_t generation);
void world_tell_link (struct world *self, int a, int b, bool is_up);
void world_connect (struct world *self, int a, int b);
void world_disconnect (struct world *self, int a, int b);
void world_on_run (void *context, int replica, uint32_t slot);
void world_start_replica (struct world *self, int r);
void world_add_counters (struct tied_replica_counters *sum,
                         const struct tied_replica_counters *part);
void world_connect_all (struct world *self, int r);
void world_after_step (struct world *self, int actor);

#endif
