/* SPDX-License-Identifier: MIT */
/*
 * What the files of the world share: its hosts, its links, and the account of each call. world.c
 * runs it, world_setup.c makes it, world_links.c carries bytes, host_client.c and host_replica.c
 * are the drivers of the two cores (docs/sans-io.md), host_inbound.c is what reaches a replica,
 * world_crash.c is how one dies, and world_account.c counts.
 */
#ifndef SIM_WORLD_INTERNAL_H
#define SIM_WORLD_INTERNAL_H

#include <tied/client_core.h>
#include <tied/replica_core.h>
#include <tied/wire.h>

#include "base/util.h"
#include "engine/events.h"
#include "engine/stream.h"
#include "study/run.h"
#include "workload/demand.h"
#include "workload/keys.h"
#include "workload/source.h"
#include "workload/speed.h"

/* Links come up from here on; time 0 means "never" in the cores. */
#define WORLD_START TIED_MS (1)
/* Most copies of one call; they are numbered from 0, and number 1 may be left out. */
#define WORLD_COPIES_MAX 4
#define WORLD_COPIES     (WORLD_COPIES_MAX + 1)
#define WORLD_NO_COPY    UINT8_MAX
/* Lanes for connections between clients and replicas, and as many between replicas. */
#define WORLD_LANES (SIM_LANES_MAX / 2)

enum world_event {
    WORLD_TO_REPLICA = 1, /* a: client, b: replica, value: generation of the connection */
    WORLD_TO_CLIENT,      /* the same */
    WORLD_TO_PEER,        /* a: from, b: to, value: life of the one that it goes to */
    WORLD_LINK_UP,        /* a: client, b: replica */
    WORLD_LINK_BREAK,     /* a: client, b: replica, value: generation of the connection */
    WORLD_CRASH,          /* b: replica */
    WORLD_RESTART         /* b: replica */
};

enum world_sent {
    WORLD_SENT = 0,
    WORLD_LOST,   /* the sender does not know */
    WORLD_REFUSED /* too much is under way: the sender is told */
};

/*
 * One call from SUBMIT until nothing of it is anywhere: it has ended, no copy waits, runs or is
 * under way, no STARTED is under way. Found by its sequence, in a ring of its client. Bit n of a
 * mask stands for copy n.
 */
struct world_call {
    uint64_t sequence;
    uint64_t call; /* the source's number */
    uint64_t spent_ns[WORLD_COPIES];
    uint8_t copies;  /* on the way, waiting or running */
    uint8_t notices; /* STARTED on the way */
    uint8_t arrived; /* mask */
    uint8_t started; /* mask */
    uint8_t untold;  /* mask: its STARTED was lost */
    uint8_t winner;
    bool is_open : 1; /* has not ended */
    bool is_measured : 1;
    bool is_answered : 1; /* a reply has left */
};

/* One direction of a connection. */
struct world_direction {
    tied_time_t last; /* nothing arrives before what was sent before */
    uint32_t under_way;
};

struct world_link {
    struct world_direction to_replica, to_client;
    uint32_t generation;
    uint32_t breaks;
    bool is_up;
};

struct world_client {
    tied_client_core_t *core;
    uint32_t *tokens; /* free ones: the last was used last */
    uint32_t tokens_free;
    struct world_call *calls; /* ring by sequence */
    uint32_t calls_mask;
    uint32_t first;    /* replica 0 of this client */
    uint32_t replicas; /* how many it knows */
    uint32_t local;    /* its number among the clients of its group */
    uint32_t timer;    /* its number among the clients of its part */
    uint32_t steps;
    struct world_link *links; /* NULL: links are plain */
};

struct world_slot {
    uint64_t call; /* the source's number: the body of the request */
    tied_time_t since;
    uint32_t worker; /* while it runs */
    uint8_t copy;
    bool is_running;
    bool is_killed; /* SIM_FAULT_KILL_RUNNING */
};

/* A client's connection as a replica numbers it; only where connections break. */
struct world_conn {
    uint32_t client; /* local */
    uint32_t generation;
    bool is_used;
};

struct world_replica {
    tied_replica_core_t *core;
    struct world_slot *slots;
    uint32_t *serves; /* by worker: the slot that runs there */
    uint32_t *idle;   /* [0, workers - running): workers without one */
    uint32_t depth, running;
    uint32_t first; /* of its group */
    uint32_t peers; /* size of its group, itself included */
    uint32_t group;
    uint32_t timer; /* its number among the replicas of its part */
    uint32_t steps;
    struct world_conn *conns; /* by index; NULL: the index is the client's local number */
    uint32_t *conn_of;        /* by local number of the client: its latest index */
    uint32_t *conns_free;
    uint32_t conns_free_count;
    struct world_direction *to_peers; /* by local number; NULL: links are plain */
    uint32_t parked;                  /* of the copies that are here and do not run */
    uint32_t life;                    /* counts restarts */
    bool is_dead;
    struct tied_call_id *held; /* by slot: whose copy it holds, epoch 0: none. NULL: none dies */
};

/* Sizes of tables, of which a run that hits one makes no use: it is begun again with larger ones.
 */
struct world_sizes {
    uint32_t queue_depth; /* of each replica */
    uint32_t calls_max;   /* of each client */
};

struct world_name {
    char text[7];
    uint8_t size;
};

struct world {
    const struct sim_scenario *scenario;
    const struct sim_policy *policy;
    const struct sim_watch *watch; /* NULL: none */
    const atomic_bool *stop;       /* of the run; NULL: none */
    struct sim_result *result;
    struct sim_source *source;
    struct sim_speed *speed;
    struct sim_events *events;
    struct world_client *clients;
    struct world_replica *replicas;
    tied_time_t now;
    tied_time_t origin;  /* the source's time 0; TIED_NEVER: not all clients are greeted yet */
    tied_time_t arrival; /* of the next request; TIED_NEVER: none for now */
    struct world_sizes sizes;
    bool is_depth_ours;                  /* queue_depth is less than the scenario's */
    bool is_queue_full;                  /* it was hit */
    bool may_grow_calls, may_grow_queue; /* a table that was hit ends the attempt */
    uint64_t seed;
    uint64_t hash;
    uint64_t messages; /* numbers them */
    enum sim_fault fault;
    bool checks;
    bool is_watching; /* notes of a call are wanted */
    bool tells_sent;  /* somebody watches copies that are sent */
    bool has_breaks;  /* connections break, by themselves or because a replica dies */
    bool has_crashes;
    bool has_loss;
    bool is_parking;
    bool is_large;   /* the cores do not fit into a cache */
    bool has_timers; /* replicas have more to wait for than notes that age */
    bool keeps_directions;
    uint32_t workers; /* of each replica */
    uint32_t clients_max, conns_max;
    uint32_t groups;
    uint32_t part, parts_count;           /* the one that runs, of so many; 1: the whole world */
    struct world_part *parts;             /* NULL: there is one */
    uint32_t notes_max;                   /* of each replica */
    uint32_t replica_fetch, client_fetch; /* bytes of a core that most events touch */
    uint32_t fan_out;
    uint32_t lanes;                /* in use of each of the two; they share them out */
    int client_lanes[WORLD_LANES]; /* -1: the heap */
    int peer_lanes[WORLD_LANES];
    /* Timers of each part: of clients, of replicas (if has_timers), of all workers. */
    uint32_t replica_timers, worker_timers; /* numbers of the first */
    struct tied_client_submit submit;       /* of every call, but token, key and deadline */
    struct sim_key_table keys;
    uint64_t rejected_full_before; /* by replicas that have died */

    /* Account. */
    uint64_t waiting, busy; /* copies, workers, all replicas */
    tied_time_t area_at;    /* up to when the areas are summed */
    uint64_t waiting_area, busy_area;
    uint64_t waiting_area_first, busy_area_first; /* at the first measured arrival */
    tied_time_t span_first;                       /* TIED_NEVER: none yet */
    uint64_t calls_unsettled;                     /* measured calls in the rings */
    uint64_t calls_started;                       /* measured calls that ran at least once */
    uint64_t ungreeted;                           /* pairs of client and replica */
    uint64_t submitting;                          /* the source's number of the call in SUBMIT */
    tied_time_t progress_at;
    tied_duration_t patience_ns;
    struct tied_call_id watched; /* the watched call, once it is submitted; epoch 0: not yet */
    tied_time_t *request_times;  /* by request, where ends of requests are watched */
    uint64_t request_times_count;
    uint64_t memory_bytes;

    struct world_name *names; /* of replicas */
    unsigned char *client_memory, *replica_memory;
    void *blocks[16]; /* everything else that is to be freed */
    uint32_t blocks_count;
};

/* world_setup.c. Nothing is left behind on error. */
TIED_NODISCARD int world_init (struct world *self,
                               const struct sim_run_options *options,
                               const struct world_sizes *sizes,
                               struct sim_result *result,
                               char why[SIM_WHY_MAX]);
void world_deinit (struct world *self);
struct sim_events *world_make_events (const struct world *self, uint32_t part, uint32_t timers);
int world_out_of_memory (char why[SIM_WHY_MAX]);

/* world_hosts.c, in the order in which they are called; false: no memory. */
bool world_make_groups (struct world *self);
bool world_make_links (struct world *self);
bool world_make_conns (struct world *self);
void world_free_conns (const struct world *self, struct world_replica *r);
struct tied_replica_core_options world_replica_options (const struct world *self, uint32_t number);
/* Of its present life. */
uint64_t world_incarnation (const struct world *self, uint32_t number);
int world_make_replicas (struct world *self, char why[SIM_WHY_MAX]);
int world_make_clients (struct world *self, char why[SIM_WHY_MAX]);

/* world_sizes.c */
/* Sizes to begin with, and larger ones; false: they are as large as they may be. */
struct world_sizes world_first_sizes (const struct sim_scenario *scenario, bool is_generous);
bool world_grow_sizes (const struct sim_scenario *scenario,
                       bool is_queue,
                       struct world_sizes *sizes);
/* Notes about ties that a replica keeps; enough for all that can be under way. */
uint32_t world_notes_max (const struct world *self);
/* After so long without anything that runs or waits, nothing will end the calls that are left. */
tied_duration_t world_patience_ns (const struct world *self);

/* world_links.c. `kind`, `a` and `b` as in the event. */
enum world_sent world_send_client (struct world *self,
                                   uint32_t client,
                                   uint32_t replica,
                                   const struct tied_message *message);
enum world_sent world_send_replica (struct world *self,
                                    uint32_t replica,
                                    uint32_t client,
                                    uint32_t generation,
                                    const struct tied_message *message);
enum world_sent world_send_peer (struct world *self,
                                 uint32_t from,
                                 uint32_t to,
                                 const struct tied_message *message);
/* What has arrived leaves the direction; false: its connection is gone, and it with it. */
bool world_arrives (struct world *self, const struct sim_event *event);
void world_break_later (struct world *self, uint32_t client, uint32_t replica);
/* Unless that connection is gone already. */
void world_break (struct world *self, uint32_t client, uint32_t replica, uint64_t generation);
/* Unless it is connected, or the replica is dead. */
void world_connect (struct world *self, uint32_t client, uint32_t replica);
void world_disconnect (struct world *self, uint32_t client, uint32_t replica);
bool world_is_connected (const struct world *self, uint32_t client, uint32_t replica);

/* world_crash.c */
void world_crash_later (struct world *self, uint32_t replica);
void world_crash (struct world *self, uint32_t replica);
void world_restart (struct world *self, uint32_t replica);

/* host_client.c */
void world_client_submit (struct world *self, uint32_t client, uint64_t call);
void world_client_receive (struct world *self, const struct sim_event *event);
void world_client_timer (struct world *self, uint32_t number);
void world_client_link (struct world *self, uint32_t client, uint32_t replica, bool is_up);
/* The caller gives up. */
void world_client_cancel (struct world *self, struct tied_call_id call);

/* host_replica.c */
/* What a step did that its event alone does not say. */
struct world_done {
    bool was_admitted; /* REQUEST */
    uint32_t rejected;
    uint32_t released; /* copies that left without a run */
    uint32_t flagged;  /* copies that ran and were told to stop */
};
/* Feeds one event and does the actions, then what they made necessary. `call` is the body of a
 * REQUEST; `done` may be NULL for any other event. */
void world_replica_step (struct world *self,
                         uint32_t number,
                         const struct tied_replica_event *event,
                         uint64_t call,
                         struct world_done *done);
/* After an event: free workers take what waits, and the timer is set. */
void world_replica_settle (struct world *self, uint32_t number);
void world_replica_end_run (struct world *self, uint32_t number, uint32_t slot);
/* To the client whose index this is. */
enum world_sent world_replica_answer (struct world *self,
                                      uint32_t number,
                                      uint32_t index,
                                      const struct tied_message *message);
/* Worker w of replica r is r x workers + w. */
void world_replica_service_end (struct world *self, uint32_t worker);
void world_replica_timer (struct world *self, uint32_t replica);
/* The link from one replica to another, of a group both. */
void world_replica_peer (struct world *self, uint32_t from, uint32_t to, bool is_up);
void world_replica_peers_up (struct world *self, uint32_t replica);
/* The copy in this slot runs no more, and the core is not asked. */
void world_replica_stop_worker (struct world *self, uint32_t number, uint32_t slot);

/* host_inbound.c */
void world_replica_receive (struct world *self, const struct sim_event *event);
/* What a connection took with it. */
void world_replica_forget (struct world *self, const struct sim_event *event);
void world_replica_hear (struct world *self, const struct sim_event *event);
/* What comes from a peer finds the replica dead, or in another life. */
void world_replica_miss (struct world *self, const struct sim_event *event);

/* world_account.c */
struct world_call *world_call_open (struct world *self, struct tied_call_id id, uint64_t call);
void world_call_settle (struct world *self, struct world_call *call);
void world_call_ended (struct world *self, struct world_call *call, uint32_t outcome);
void world_source_ended (struct world *self, uint64_t call, uint32_t outcome);
/* To the source, now or after the window; `at` is its time. */
void world_tell_end (struct world *self, uint64_t call, uint32_t outcome, tied_time_t at);
void world_remember_time (struct world *self, uint64_t request, tied_time_t at);
/* Of the source, which changes when a request has come or a call has ended. */
void world_look_for_arrival (struct world *self);
void world_request_came (struct world *self, const struct sim_request *request);
void world_note_call (
    struct world *self, struct tied_call_id id, int from, int to, const char *what, uint32_t copy);
uint64_t world_rejected_full (const struct world *self);
void world_finish_account (struct world *self);

static inline void world_fetch (const void *from, size_t size)
{
    for (size_t i = 0; i < size; i += 64)
        ti_prefetch ((const unsigned char *)from + i);
}

/* Of a call that has not settled. */
static inline struct world_call *world_call_at (struct world *self, struct tied_call_id id)
{
    struct world_client *client = &self->clients[id.epoch - 1];

    return &client->calls[id.sequence & client->calls_mask];
}

static inline void world_call_release_copy (struct world *self, struct world_call *call)
{
    call->copies--;
    if (call->copies == 0 && call->notices == 0 && !call->is_open)
        world_call_settle (self, call);
}

static inline void world_call_release_notice (struct world *self, struct world_call *call)
{
    call->notices--;
    if (call->copies == 0 && call->notices == 0 && !call->is_open)
        world_call_settle (self, call);
}

static inline void world_mix (struct world *self, uint64_t value)
{
    uint64_t h = (self->hash ^ value) * UINT64_C (0x9e3779b97f4a7c15);
    self->hash = h ^ (h >> 29);
}

/* Before `waiting` or `busy` changes. */
static inline void world_sum_areas (struct world *self)
{
    const tied_duration_t passed = self->now - self->area_at;

    self->waiting_area += self->waiting * passed;
    self->busy_area += self->busy * passed;
    self->area_at = self->now;
}

static inline void world_note (
    struct world *self, struct tied_call_id id, int from, int to, const char *what, uint32_t copy)
{
    if (self->is_watching && ti_call_id_equal (id, self->watched))
        world_note_call (self, id, from, to, what, copy);
}

/* Actors in notes. */
static inline int world_actor_client (uint32_t client)
{
    return -1 - (int)client;
}

static inline int world_actor_replica (uint32_t replica)
{
    return (int)replica;
}

#endif
