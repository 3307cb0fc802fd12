/* SPDX-License-Identifier: MIT */
/*
 * Inside of a replica: the engine that joins the core, the sockets and the threads.
 *
 * ONE LOCK (engine lock) guards the core, the sockets and every table below. All socket operations
 * are DONTWAIT, so nothing blocks while it is held; waiting happens outside it. The rule about
 * sockets: a ZMQ_FD tells of new commands once, and any use of the socket may take them away. So
 * whoever has used a socket marks it dirty, and does not leave the lock before the dirty ones are
 * drained, or the loop is kicked so that another thread drains them (ti_replica_settle ()).
 *
 * THREADS. Whoever calls ti_engine_next () receives, admits, rejects, and takes a copy if one can
 * run: there is no hop between receiving, serving and answering. Idle threads wait in the same
 * epoll set, whose descriptors are edge-triggered: the kernel wakes one of them (the last that came
 * to wait) for each edge, and none while no command arrives. With all workers busy the thread
 * beyond them still waits there, so admission and rejection go on. A thread that leaves with a copy
 * while more could run kicks the loop, which wakes one more. docs: ARCHITECTURE.md, "Threads".
 */
#ifndef TI_ENGINE_H
#define TI_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include <tied/replica.h>
#include <tied/wire.h>

#include "names.h"
#include "results.h"
#include "routes.h"
#include "zmq/link.h"
#include "zmq/loop.h"
#include "zmq/sock.h"

/* Methods at most. */
#define TI_METHODS_MAX 1024
/* Events that the actions of one step may cause. A step has 256 actions at most; those that find a
   client gone are at most TI_GONE_MAX at once, and each can lead to as many sends that fail. */
#define TI_GONE_MAX       4
#define TI_FOLLOW_UPS_MAX 2048
/* After its last answer a replica that stops stays for this time: a client's socket that learns of
   the closed connection before the application has read the answer throws the answer away. */
#define TI_GOODBYE TIED_MS (200)
/* Who speaks to a peer repeats HELLO after this time: a second process with this replica's id,
   started by mistake, may have taken the place there and be gone again. */
#define TI_HELLO_AGAIN TIED_S (1)
/* A thread of ours that does not end in this time after destroy is left to itself. */
#define TI_DESTROY_BOUND TIED_S (2)

enum ti_replica_state {
    TI_REPLICA_NEW = 0,
    TI_REPLICA_RUNNING,
    TI_REPLICA_STOPPED /* threads have ended, sockets are closed */
};

/* Sockets that may hold input nobody has looked at. */
enum ti_dirty {
    TI_DIRTY_CLIENTS = 1 << 0,
    TI_DIRTY_PEERS = 1 << 1,
    TI_DIRTY_LINKS = 1 << 2, /* those with peer.is_dirty */
    TI_DIRTY_ALL = 7,
    TI_DIRTY_KEYS = 1 << 3 /* no socket: requests that were set aside are due */
};

/* Tags of the loop: link i has TI_TAG_LINK + i. */
enum ti_tag {
    TI_TAG_CLIENTS = 0,
    TI_TAG_PEERS = 1,
    TI_TAG_LINK = 2
};

struct ti_child_ops;

struct ti_method {
    tied_handler_fn *fn;
    void *arg;
};

struct ti_peer {
    struct ti_link link; /* to its peer endpoint */
    bool is_dirty;
    bool is_greeted; /* HELLO was sent over the present connection: the core knows it as up */
    tied_time_t greeted_at; /* the last HELLO */
    uint32_t route; /* its connection to our peer endpoint, TI_ROUTE_NONE: none has said HELLO */
    tied_time_t heard_at;         /* last message from it, on either connection; 0: none yet */
    struct tied_peer_stats stats; /* the counters; the rest is filled by the query */
};

/* A call made for the answer of a request; see base/parent.h. */
struct ti_child {
    void *client;
    struct tied_call_id call;
    const struct ti_child_ops *ops;
};

enum ti_request_state {
    TI_REQUEST_FREE = 0,
    TI_REQUEST_QUEUED, /* admitted */
    TI_REQUEST_RUNNING /* handed out */
};

/* A slot of the core and the bytes of the copy in it. */
struct tied_request {
    tied_replica_t *replica;
    uint32_t slot;
    enum ti_request_state state;
    uint32_t method; /* index in names, TI_NAME_NONE: pull mode without declared methods */
    uint8_t copy;
    uint8_t reject; /* enum tied_reject it leaves the queue for, 0: none */
    struct tied_call_id call;
    tied_time_t arrived_at, started_at;
    zmq_msg_t header;
    zmq_msg_t body_frame;
    size_t bytes;                 /* of the two; counted in bytes_held */
    struct tied_view body;        /* into one of the two */
    struct tied_view method_name; /* into header */
    char method_text[TIED_NAME_MAX + 1];
    tied_time_t deadline; /* TIED_NEVER: none */
    /* Cancelling: the reason, 0 while not cancelled; the others under the lock. */
    atomic_uint cancelled;
    int cancel_fd; /* -1: not asked for */
    tied_cancelled_fn *on_cancel;
    void *on_cancel_arg;
    uint32_t client;                   /* index */
    uint32_t result;                   /* the entry of its key, TI_RESULT_NONE */
    bool is_forgotten;                 /* its answer is not kept */
    struct tied_view key, traceparent; /* into header; size 0: none */
    char traceparent_text[TIED_WIRE_TRACEPARENT_MAX + 1];
    uint8_t attempts_left;
    /* Calls made for its answer, and places kept for some that are being submitted. */
    struct ti_child *children;
    uint32_t children_count, children_reserved, children_capacity;
    /* The answer, while FINISH is stepped. */
    uint32_t status;
    struct tied_view answer;
};

struct tied_replica {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* drained, or a pull helper may look again */
    struct tied_replica_options options;
    char id[TIED_NAME_MAX + 1];
    size_t id_size;
    enum ti_replica_state state;
    bool is_draining;
    bool is_stopping; /* threads leave; one thread is in ti_replica_halt (), or was */

    tied_replica_core_t *core;
    struct tied_request *slots; /* of the core */
    uint32_t slots_count;
    uint64_t bytes_held;                     /* by all slots in use */
    struct tied_request *taken;              /* by the last TAKE */
    struct ti_envelope *arrival;             /* being stepped: ADMIT takes its frames */
    const struct tied_wire_request *arrived; /* its header */
    uint32_t arrived_method;                 /* its method's index */
    bool is_arrival_settled;                 /* it was kept, or its fate is told */
    bool is_arrival_first;                   /* of arrived_key: admitted, it is the holder */
    struct ti_result_key arrived_key;
    struct ti_results results;
    struct ti_held *held_first, *held_last; /* set aside, keys.c; oldest first */
    uint32_t held_count;
    tied_time_t held_since; /* one of them arrives anew: since when it waits; else 0 */
    struct tied_replica_event follow_ups[TI_FOLLOW_UPS_MAX];
    uint32_t follow_ups_count;
    uint32_t gone_count;     /* CLIENT_GONE among them */
    tied_time_t answered_at; /* last REPLY; refusals go on for as long as clients ask */
    tied_time_t now;         /* last clock reading, never goes back */
    bool is_behind;          /* nobody has read it for long: see ti_engine_read_clock () */

    void *context;
    bool owns_context;
    void *clients_sock; /* ROUTER */
    void *peers_sock;   /* ROUTER, NULL: no peer endpoint */
    char clients_endpoint[256];
    char peers_endpoint[256];
    ti_loop_t *loop;
    unsigned dirty; /* enum ti_dirty */

    struct ti_routes clients; /* index = client index of the core */
    struct ti_routes peer_routes;
    uint32_t *route_peer; /* peer_routes index -> peer index */
    struct ti_names peer_names;
    struct ti_peer *peers; /* as many as peer_names */
    struct ti_names method_names;
    struct ti_method *methods; /* as many as method_names */

    uint32_t waiting;         /* threads inside ti_loop_wait () */
    uint32_t waiting_workers; /* of those, such as can run copies */
    bool is_parked;           /* the pull helper waits for a worker to take what it has received */
    uint32_t handling;        /* POOL: threads inside handlers, also of copies answered already */
    uint32_t bite;            /* client messages received in one go: batch_max, or INLINE_BITE */
    bool is_polling;          /* INLINE: a thread is inside tied_replica_poll () */
    tied_time_t armed;        /* time that the loop's timer is set to */

    pthread_t *threads;
    uint32_t threads_count;
    uint32_t threads_alive; /* of those, such as have not left */
    atomic_uint references; /* the owner and each running thread; the last one frees */

    struct tied_replica_stats stats; /* its core and load fields are filled by the query */
};

/* engine.c: the lock, the core, waiting. All with the lock held, except _lock. */
void ti_engine_lock (tied_replica_t *self);
/* Read the clock. If much time has passed since somebody last did, the process may have been
   stopped or its machine have stood still: then the next turn takes all that has come in the
   meantime, because the cancels of what waits may be the last of it. */
void ti_engine_read_clock (tied_replica_t *self);
/* Unlock; wakes whoever waits for the drain when it is complete. */
void ti_engine_unlock (tied_replica_t *self);
/* Feed an event, perform what follows. Errors of the core (misuse) are returned. */
TIED_NODISCARD int ti_replica_step (tied_replica_t *self, const struct tied_replica_event *event);
/* Receive and handle what is there, peers first, clients at most batch_max; due timeouts. What is
   left over stays marked in self->dirty. may_stop: leave clients' messages where they are when the
   queue is full and a worker could take from it, instead of refusing them. */
void ti_engine_turn (tied_replica_t *self, bool may_stop);
/* A copy waits and may start: the core has a place for it and, in POOL, so have the threads. A
   handler that goes on after its answer has no place in the core any more, but still its thread. */
bool ti_engine_can_run (const tied_replica_t *self);
/* Take the next copy, NULL if none runs. */
struct tied_request *ti_engine_take (tied_replica_t *self);
/* Before unlocking after a use of sockets: drain, and wake one thread if there is more to do.
   looks_again: the caller itself is about to look for work and to drain; if it does not, because a
   handler goes on after its answer, the loop's timer sends another thread soon. */
void ti_replica_settle (tied_replica_t *self, bool looks_again);
/* Work until a copy can be handed out (returned), `until` has come or the replica stops (NULL). */
struct tied_request *ti_engine_next (tied_replica_t *self, tied_time_t until, bool can_work);
/* Wait for the loop, unlocked meanwhile, and mark what it reports. */
void ti_engine_wait (tied_replica_t *self, tied_time_t until, bool can_work);
/* Messages are left; read the clock. true: the caller's time is over and it has looked often
   enough: a flood of messages that start nothing must not keep it. */
bool ti_engine_is_flooded (tied_replica_t *self, tied_time_t until, uint32_t turns);
/* When somebody has to look even if nothing happens. */
tied_time_t ti_engine_deadline (const tied_replica_t *self);
/* Have the loop wake a waiter at this time. */
void ti_engine_arm (tied_replica_t *self, tied_time_t at);

/* perform.c: the actions of the core. */
void ti_perform (tied_replica_t *self, const struct tied_replica_action *action);
void ti_request_free (struct tied_request *request);

/* clients.c, peers.c: what arrives. true: drained; false: the bound was reached first. */
bool ti_clients_drain (tied_replica_t *self, bool may_stop);
/* The queue is full and a worker could take from it. */
bool ti_clients_are_held (const tied_replica_t *self);
bool ti_peers_drain (tied_replica_t *self);
bool ti_links_drain (tied_replica_t *self);
void ti_fill_welcome (tied_replica_t *self,
                      const struct tied_wire_hello *hello,
                      struct tied_message *out);
/* client_of () knows the sender, or it is refused. */
void ti_clients_on_request (tied_replica_t *self,
                            struct ti_envelope *envelope,
                            const struct tied_wire_request *request);
/* Decode, counting what is wrong; has_body must fit the message. */
bool ti_decode (tied_replica_t *self, struct ti_envelope *envelope, struct tied_message *out);
/* true: HELLO is in the pipe to this peer, ahead of all that follows. */
bool ti_peer_greet (tied_replica_t *self, struct ti_peer *peer);
/* PONG, WELCOME: straight back to the connection that asked. */
int ti_answer (tied_replica_t *self,
               void *sock,
               struct ti_envelope *to,
               struct tied_message *message);

/* keys.c: requests with an idempotency key, if results_max is not 0. */
enum ti_key_verdict {
    TI_KEY_NONE = 0, /* let it through; its key is another copy's business */
    TI_KEY_FIRST,    /* let it through; if it is admitted its result is for all with the key */
    TI_KEY_NO_ROOM,  /* refuse it as full, if it would be kept */
    TI_KEY_SETTLED   /* answered, or set aside with its frames */
};
enum ti_key_verdict ti_keys_arrive (tied_replica_t *self,
                                    struct ti_envelope *envelope,
                                    const struct tied_wire_request *request,
                                    uint32_t client,
                                    bool is_out_of_bytes);
/* The FIRST that has just arrived has this slot. */
void ti_keys_admitted (tied_replica_t *self, struct tied_request *request);
/* It leaves without a run; its handler has answered. */
void ti_keys_left (tied_replica_t *self, struct tied_request *request);
void ti_keys_finished (tied_replica_t *self, struct tied_request *request);
/* What a CANCEL and the end of a client mean for those that were set aside. */
void ti_keys_cancel (tied_replica_t *self, struct ti_envelope *from, struct tied_call_id call);
void ti_keys_forget_client (tied_replica_t *self, const struct ti_route *route);
/* Let those that are due arrive anew. true: all of them. */
bool ti_keys_drain (tied_replica_t *self);
void ti_keys_age (tied_replica_t *self);
void ti_keys_deinit (tied_replica_t *self);

/* children.c */
void ti_children_cancel (struct tied_request *request);
void ti_children_free (struct tied_request *request);

/* observe.c: what options.observe is told; called only if it is set. */
/* Step REQUEST, whose message is `arrived`. */
void ti_observe_request (tied_replica_t *self, const struct tied_replica_event *event);
void ti_observe_reject (tied_replica_t *self, const struct tied_replica_action *action);
/* The copy leaves the queue without a run. */
void ti_observe_release (const struct tied_request *request);
/* Its handler has answered. */
void ti_observe_finish (const struct tied_request *request);

/* report.c. Answer the built-in method: a msgpack map of all counters. */
void ti_report_answer (tied_replica_t *self,
                       struct ti_envelope *envelope,
                       const struct tied_wire_request *request);
#define TI_REPORT_METHOD "tied.stats"

/* stop.c: threads leave, then the sockets close. */
void ti_replica_halt (tied_replica_t *self);

/* serve.c */
/* Run the handler, outside the lock. */
void ti_serve (struct tied_request *request);
/* The calling thread is inside a handler of this replica. */
bool ti_is_serving (const tied_replica_t *self);
TIED_NODISCARD int ti_threads_start (tied_replica_t *self);
/* true: all have ended and were joined by then. */
bool ti_threads_join (tied_replica_t *self, tied_time_t until);
void ti_replica_unref (tied_replica_t *self);

#endif
