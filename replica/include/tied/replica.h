/* SPDX-License-Identifier: MIT */
/*
 * The replica runtime: tied requests for a C worker server, over ZeroMQ.
 *
 *   options_init
 *        |  new
 *        v
 *   +---------+  bind, bind_peers,        start        +---------+  drain   +----------+
 *   |   NEW   |  add_peer, handle  ------------------> | RUNNING | -------> | DRAINING |
 *   +---------+  (any order)                           +---------+          +----------+
 *        |  stop                                            |  stop              |  stop
 *        v                                                  v                    v
 *   +-------------------------------------------------------------------------------+
 *   | STOPPED: every copy is answered, threads have ended, sockets are closed        |
 *   +-------------------------------------------------------------------------------+
 *   destroy from every state. A call in the wrong state returns TIED_ERR_STATE.
 *
 * Two endpoints: clients connect to one, peers (the other replicas) to the other, so a cancel never
 * waits behind requests and a client cannot speak as a peer. Requests are served by one of three
 * worker interfaces over the same queue: POOL (a handler and the replica's own threads), PULL (the
 * server's threads call tied_replica_next ()), INLINE (the handler runs in the thread that calls
 * tied_replica_poll (); an fd tells an event loop when).
 *
 * Delivery is at least once: with ties, re-issues or a crash a call can run twice. See
 * docs/protocol.md, "The cancel race".
 *
 * No function touches the host's signal handlers, environment or exit path. The threads of POOL and
 * PULL block all signals and are called tied-worker and tied-replica. After fork () the child must
 * not touch the replica; posix_spawn () and fork () followed by exec () are fine.
 */
#ifndef TIED_REPLICA_H
#define TIED_REPLICA_H

#include <tied/error.h>
#include <tied/replica_core.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

typedef struct tied_replica tied_replica_t;
/* One copy that is being served; valid from the handler's start or tied_replica_next () until it is
   answered with tied_request_reply () or tied_request_fail (). */
typedef struct tied_request tied_request_t;

/* Serves one copy. Must answer it, now or later and from any thread, exactly once. */
typedef void (tied_handler_fn) (tied_request_t *request, void *arg);
/* A running copy was cancelled; see tied_request_on_cancel () for what it may do. */
typedef void (tied_cancelled_fn) (tied_request_t *request, void *arg);

/* What became of a copy that was received; each has one fate. X (NAME, value, printed name) */
#define TIED_FATE_MAP(X)                                                                           \
    X (EXECUTED, 0, "executed")     /* ran, and its handler ended */                               \
    X (CANCELLED, 1, "cancelled")   /* the same, and it was told to stop meanwhile */              \
    X (DROPPED, 2, "dropped")       /* left the queue: its sibling started, its client cancelled   \
                                       or is gone */                                               \
    X (TOMBSTONED, 3, "tombstoned") /* its sibling's start was known before it came */             \
    X (MERGED, 4, "merged")         /* a re-issue of a call that is here already */                \
    X (DUPLICATE, 5, "duplicate")   /* the same copy again: ignored */                             \
    X (EXPIRED, 6, "expired")       /* its time ran out before it started */                       \
    X (REJECTED, 7, "rejected")     /* refused; the record says why */

#define TIED_FATE_ENUM_(name, value, text) TIED_FATE_##name = (value),
enum tied_fate {
    TIED_FATE_MAP (TIED_FATE_ENUM_) TIED_FATE_COUNT
};
#undef TIED_FATE_ENUM_

/* One copy, when its fate is known. */
struct tied_copy_record {
    struct tied_call_id call;
    uint8_t copy;
    uint8_t reject;             /* enum tied_reject: of EXPIRED and REJECTED, else 0 */
    uint32_t fate;              /* enum tied_fate */
    tied_time_t arrived_at;     /* on the clock of the machine, CLOCK_MONOTONIC */
    tied_duration_t queue_ns;   /* from arrival until it started, or left without a run */
    tied_duration_t service_ns; /* from start to answer; 0: it did not run */
};

/*
 * Observes copies: called once for each that is counted in `received`, when its fate is known, so
 * not in the order of arrival. Copies that are here when the replica is destroyed have none.
 *
 * Ownership: the record is borrowed until the function returns.
 * Thread: any of the replica's and of those that call it, one at a time.
 * Blocking: must not block: the replica stands still meanwhile, for its lock is held.
 * Callback-safe: it must not call any function of the replica or of a request (deadlock).
 * On error: has no way to fail.
 */
typedef void (tied_observe_fn) (void *arg, const struct tied_copy_record *record);

enum tied_service {
    TIED_SERVICE_POOL = 0,
    TIED_SERVICE_PULL = 1,
    TIED_SERVICE_INLINE = 2
};

struct tied_replica_options {
    size_t struct_size;   /* set by tied_replica_options_init () */
    const char *id;       /* required; 1..TIED_NAME_MAX of A-Z a-z 0-9 . _ - ; copied */
    uint32_t service;     /* enum tied_service; default POOL */
    uint32_t body_max;    /* [0, 64 MiB] largest request body, bytes; default 8 MiB */
    uint32_t inline_max;  /* [0, 64 KiB] bodies up to here share the header's frame; default 1024 */
    uint32_t batch_max;   /* [1, 65536] client messages handled before peers are looked at again;
                             default 64 */
    uint32_t reply_queue; /* [1, 1 << 20] replies queued to one client that does not read, then
                             dropped and counted; default 10000 */
    uint64_t queue_bytes; /* [body_max, 1 << 40] bytes of messages that copies here may hold,
                             waiting and running together; a further one is refused as full, unless
                             it would be the only one; default 256 MiB */
    uint32_t children_max;  /* [1, 1 << 20] live calls that name one request as their parent, see
                               tied/client.h; a further one is refused; default 1024 */
    uint32_t results_max;   /* [0, 1 << 20] idempotency keys remembered, with the results of calls
                               that have ended: a request with such a key is answered without a
                               run, see tied_request_key (); 0: none, keys are for the handlers
                               alone; default 4096 */
    uint64_t results_bytes; /* [0, 1 << 40] bodies of those results, together; default 16 MiB */
    tied_duration_t results_ttl_ns; /* [1 ms, 24 h] how long a result is kept; default 60 s */
    uint32_t results_waiting; /* [0, 16384] requests set aside because the first one with their key
                                 waits or runs; a further one is refused as full; default 256 */
    void *zmq_context; /* a context to share, so that inproc works; NULL: its own. In a shared one
                          endpoints are free again only a moment after the end, and libzmq
                          never reconnects inproc */
    tied_observe_fn *observe; /* told of every copy's fate; NULL, the default: nobody is */
    void *observe_arg;        /* handed to observe */
    struct tied_replica_core_options core; /* workers, queue_depth, hedge_depth, ...; incarnation 0
                                              (the default here): drawn from the system */
};

/* Counters of the runtime, beside those of the core. X (name) */
#define TIED_REPLICA_IO_COUNTER_MAP(X)                                                             \
    X (frames_client)     /* messages from the client endpoint */                                  \
    X (frames_peer)       /* messages from the peer endpoint */                                    \
    X (malformed)         /* not accepted by the decoder, all faults together */                   \
    X (malformed_version) /* of those: another protocol version */                                 \
    X (malformed_type)    /* of those: unknown message type */                                     \
    X (multipart)         /* too many frames, or a body frame where none belongs, or none */       \
    X (misdirected)       /* a message that does not belong on the endpoint it came to */          \
    X (strangers)         /* peer messages from a connection that is no configured peer */         \
    X (replies_dropped)   /* the client is gone or does not read */                                \
    X (rejects_dropped)                                                                            \
    X (pongs_dropped)    /* of WELCOME and PONG */                                                 \
    X (clients_refused)  /* of clients beyond clients_max that are busy, or with an overlong id */ \
    X (over_queue_bytes) /* copies that came while queue_bytes were held */                        \
    X (children_cancelled) /* calls that were cancelled with the request they were made for */     \
    X (children_refused)   /* calls beyond children_max */                                         \
    X (results_hit)        /* requests answered with the result of an earlier one with their key;  \
                              in none of the core's counters */                                    \
    X (results_waited)     /* requests set aside until the first one with their key has ended */   \
    X (results_reused)     /* requests whose key came before with another body: refused */         \
    X (results_full)       /* requests refused because of results_max or results_waiting */        \
    X (results_stored)                                                                             \
    X (results_evicted)   /* to make room for another */                                           \
    X (results_expired)   /* older than results_ttl_ns */                                          \
    X (results_too_large) /* not kept: over results_bytes alone */

struct tied_replica_stats {
    size_t struct_size;
    struct tied_replica_counters core;
#define TIED_REPLICA_IO_FIELD_(name) uint64_t name;
    TIED_REPLICA_IO_COUNTER_MAP (TIED_REPLICA_IO_FIELD_)
#undef TIED_REPLICA_IO_FIELD_
    struct tied_load load; /* now */
    uint64_t incarnation;
    uint64_t service_ns; /* time that handlers have run, all together */
};

/* Counters of one peer. What it has sent to us (started_sent there) and what came (started_received
   here) are the two ends of one way: they stay apart where something is lost. X (name) */
#define TIED_PEER_COUNTER_MAP(X)                                                                   \
    X (link_ups)       /* times that our connection to its peer endpoint came up */                \
    X (started_sent)   /* STARTED that the link took */                                            \
    X (started_unsent) /* that it did not take; none is tried while it is known to be down */      \
    X (started_received)                                                                           \
    X (untie_sent)                                                                                 \
    X (untie_unsent)                                                                               \
    X (untie_received)                                                                             \
    X (hello_sent)                                                                                 \
    X (hello_received)

struct tied_peer_stats {
    size_t struct_size;
    bool is_up;                /* our link: it takes STARTED */
    bool is_known;             /* it has said HELLO to us: its STARTED counts */
    tied_duration_t silent_ns; /* since anything came from it; TIED_NEVER: nothing has */
#define TIED_PEER_FIELD_(name) uint64_t name;
    TIED_PEER_COUNTER_MAP (TIED_PEER_FIELD_)
#undef TIED_PEER_FIELD_
};

/**
 * Fill options with the defaults; only `id` must be set afterwards.
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_replica_options_init (struct tied_replica_options *options);

/**
 * Check every field.
 *
 * @param out_field  if not NULL: name of the first bad field; written on error only
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_options_check (const struct tied_replica_options *options, const char **out_field);

/**
 * Printed name of a fate, as recordings have it ("executed"); "?" for a value outside the list.
 *
 * @return a static string, never NULL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT const char *tied_fate_name (int fate);

/**
 * Make a replica: checks options and allocates, nothing else.
 *
 * @param options  copied, id included
 * @return the replica, or NULL (invalid options: tied_replica_options_check () says which; out of
 * memory or descriptors)
 *
 * Ownership: the caller owns the replica; borrows a shared zmq_context until destroy.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: returns NULL, nothing is left behind.
 */
TIED_EXPORT TIED_NODISCARD tied_replica_t *
tied_replica_new (const struct tied_replica_options *options);

/**
 * End a replica. Copies that are queued or running are not answered: call tied_replica_stop ()
 * first. A pool thread that is still inside a handler after 2 seconds is left to itself, and the
 * last such thread frees the memory when its handler returns; requests that the server's own
 * threads hold must not be touched afterwards, and no other function may be running.
 *
 * @param self_p  may be NULL or point to NULL; is set to NULL
 *
 * Ownership: takes the replica.
 * Thread: any, but not inside a handler (asserted).
 * Blocking: up to 2 s for handlers, then up to 0.3 s for answers on their way.
 * Callback-safe: no.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_replica_destroy (tied_replica_t **self_p);

/**
 * Listen for clients. May be called more than once for several endpoints.
 *
 * @param endpoint  as for zmq_bind (): "tcp://127.0.0.1:*" picks a port
 * @return 0; TIED_ERR_IN_USE; TIED_ERR_ENDPOINT (not valid here); TIED_ERR_STATE (after start);
 * TIED_ERR_SYSTEM (no more sockets); TIED_ERR_INVAL (NULL)
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: for the name lookup, if the endpoint has a name.
 * Callback-safe: no.
 * On error: earlier endpoints stay bound.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_bind (tied_replica_t *self, const char *endpoint);

/**
 * Listen for the other replicas. Without it no sibling can tell this replica anything.
 *
 * @return as tied_replica_bind ()
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: for the name lookup, if the endpoint has a name.
 * Callback-safe: no.
 * On error: earlier endpoints stay bound.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_bind_peers (tied_replica_t *self, const char *endpoint);

/**
 * The real endpoint, with the port that was picked, of the last tied_replica_bind () or
 * tied_replica_bind_peers ().
 *
 * @return a string, NULL before the first bind
 *
 * Ownership: the string belongs to the replica.
 * Thread: any, not at the same time as a bind.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT const char *tied_replica_endpoint (const tied_replica_t *self);
TIED_EXPORT const char *tied_replica_peer_endpoint (const tied_replica_t *self);

/**
 * Add another replica. Copies that name it as the holder of their sibling are tied; connections are
 * made to configured endpoints only, never to one that a request brought.
 *
 * @param id        the peer's own id; not the id of this replica
 * @param endpoint  its peer endpoint; it need not be up
 * @return 0; TIED_ERR_EXISTS; TIED_ERR_FULL (core.peers_max); TIED_ERR_ENDPOINT; TIED_ERR_STATE
 * (after start); TIED_ERR_SYSTEM; TIED_ERR_INVAL
 *
 * Ownership: copies.
 * Thread: any.
 * Blocking: never; connecting goes on in the background.
 * Callback-safe: no.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_add_peer (tied_replica_t *self, const char *id, const char *endpoint);

/**
 * Declare a method. POOL and INLINE: with its handler. PULL: with fn NULL; a replica that pulls and
 * declares no method takes all of them. Names that begin with "tied." are built in: `tied.stats`
 * answers with a msgpack map of all counters, at once, without a place in the queue, and is not
 * counted in received.
 *
 * @param method  1..TIED_NAME_MAX bytes
 * @param arg     handed to fn
 * @return 0; TIED_ERR_EXISTS; TIED_ERR_FULL (1024 methods); TIED_ERR_STATE (after start);
 * TIED_ERR_INVAL
 *
 * Ownership: copies the name, borrows arg until destroy.
 * Thread: any; fn runs on several threads at once in POOL.
 * Blocking: never.
 * Callback-safe: no.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_handle (tied_replica_t *self, const char *method, tied_handler_fn *fn, void *arg);

/**
 * Begin to serve. POOL starts workers + 1 threads, PULL one, INLINE none. They block all signals.
 * Of POOL's one is left to refuse when all are busy: no more than core.workers are inside handlers,
 * and a handler that goes on after its answer counts until it returns.
 *
 * @return 0; TIED_ERR_STATE (started before, or no client endpoint); TIED_ERR_SYSTEM;
 * TIED_ERR_NOMEM
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: no.
 * On error: the replica is stopped; destroy it.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_start (tied_replica_t *self);

/**
 * PULL: wait for a copy to serve. The calling thread also receives, admits and refuses while it
 * waits, so there is no hop between receiving a copy and serving it.
 *
 * @param timeout_ns   0 looks once; TIED_NEVER waits until the replica stops
 * @param out_request  answer it with tied_request_reply () or tied_request_fail ()
 * @return 0; TIED_ERR_TIMEOUT; TIED_ERR_STATE (not PULL, not running, stopped meanwhile);
 * TIED_ERR_INVAL
 *
 * Ownership: the request is lent until it is answered.
 * Thread: any number at once; at most core.workers requests are out at a time.
 * Blocking: up to timeout_ns.
 * Callback-safe: yes.
 * On error: *out_request is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_next (tied_replica_t *self, tied_duration_t timeout_ns, tied_request_t **out_request);

/**
 * INLINE: receive and run handlers in the calling thread, at most batch_max of them; wait for the
 * first one up to timeout_ns.
 *
 * @return handlers run (>= 0); TIED_ERR_STATE (not INLINE, not running, another thread is inside);
 * TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: one at a time.
 * Blocking: up to timeout_ns and as long as the handlers take.
 * Callback-safe: no (TIED_ERR_STATE).
 * On error: nothing happened.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_poll (tied_replica_t *self, tied_duration_t timeout_ns);

/**
 * INLINE: a descriptor for the host's event loop, readable (level-triggered) when
 * tied_replica_poll (self, 0) has something to do, deadlines included.
 *
 * @return the descriptor; TIED_ERR_STATE (not INLINE); TIED_ERR_INVAL
 *
 * Ownership: belongs to the replica: do not read, write or close it.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_fd (tied_replica_t *self);

/**
 * Refuse new copies from now on (reason DRAINING) and finish those that are here. Asynchronous and
 * idempotent.
 *
 * @return 0; TIED_ERR_STATE (not running); TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_drain (tied_replica_t *self);

/**
 * Draining was asked for, and no copy is queued or running any more.
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail; true for NULL.
 */
TIED_EXPORT bool tied_replica_is_drained (tied_replica_t *self);

/**
 * Drain, wait until that is done, stay up to 200 ms more so that clients read the last answers, end
 * the threads and close the sockets. In INLINE the calling thread does the work that is left.
 *
 * @param timeout_ns  for the drain and the farewell
 * @return 0 (also if stopped before); TIED_ERR_TIMEOUT (copies are left: still draining, call again
 * or destroy); TIED_ERR_STATE (inside a handler: call tied_replica_drain () there);
 * TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any but a handler's.
 * Blocking: up to timeout_ns.
 * Callback-safe: no (TIED_ERR_STATE, never a deadlock).
 * On error: see above.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_stop (tied_replica_t *self, tied_duration_t timeout_ns);

/**
 * All counters and the load, of one moment.
 *
 * @param out  struct_size must be set to the size of the caller's struct: no more is written
 * @return 0; TIED_ERR_INVAL
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: *out is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_stats (tied_replica_t *self,
                                                   struct tied_replica_stats *out);

/**
 * What has been said to one peer and by it.
 *
 * @param id   of the peer, as it was added
 * @param out  struct_size must be set to the size of the caller's struct: no more is written
 * @return 0; TIED_ERR_INVAL; TIED_ERR_ABSENT: no such peer was added
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: *out is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_peer_stats (tied_replica_t *self, const char *id, struct tied_peer_stats *out);

/*
 * Requests. All functions below take a request that has not been answered yet, from any thread.
 */

/**
 * The body as the client sent it.
 *
 * @param out_size  bytes, may be NULL
 * @return the bytes, not NUL-terminated; may be NULL when the size is 0
 *
 * Ownership: lent until the request is answered.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: NULL and 0 for NULL.
 */
TIED_EXPORT const void *tied_request_body (const tied_request_t *request, size_t *out_size);

/**
 * What is known of the request: the method's name (NUL-terminated, lent until the request is
 * answered), the call's id, the copy's number, and the time that is left for an answer (TIED_NEVER:
 * no deadline; 0: it has passed).
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: NULL or zeros for NULL.
 */
TIED_EXPORT const char *tied_request_method (const tied_request_t *request);
TIED_EXPORT struct tied_call_id tied_request_call (const tied_request_t *request);
TIED_EXPORT uint8_t tied_request_copy (const tied_request_t *request);
TIED_EXPORT tied_duration_t tied_request_remaining (const tied_request_t *request);

/**
 * The idempotency key as the client sent it: 1 to TIED_KEY_MAX bytes, not NUL-terminated.
 *
 * A key belongs to the application: requests with one method and key are one piece of work, whoever
 * sends them. Unless results_max is 0, the answer to the first is kept for a while in this replica,
 * error or not, and given to those that come later (see docs/protocol.md, "Keys"). It is not kept
 * if it is an error and the request was cancelled, for then the handler may have stopped half-way,
 * or after tied_request_forget ().
 *
 * @param out_size  bytes, may be NULL; 0: none
 * @return the bytes, NULL if there is no key
 *
 * Ownership: lent until the request is answered.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: NULL and 0 for NULL.
 */
TIED_EXPORT const void *tied_request_key (const tied_request_t *request, size_t *out_size);

/**
 * Do not keep the answer of this request for its key: when the key comes again, it runs again. For
 * errors that will pass. Without a key it does nothing.
 *
 * @return 0; TIED_ERR_STATE (answered before); TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes, but not inside a tied_cancelled_fn.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_request_forget (tied_request_t *request);

/**
 * What a call that is made for this request's answer takes over if it names the request as its
 * parent (tied/client.h); for other transports. The W3C trace context (NUL-terminated, lent until
 * the request is answered; NULL: none), and how many further copies the call may have.
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: NULL or 0 for NULL.
 */
TIED_EXPORT const char *tied_request_traceparent (const tied_request_t *request);
TIED_EXPORT uint8_t tied_request_attempts_left (const tied_request_t *request);

/**
 * The client does not want the answer any more: the work may end early. The request must be
 * answered all the same.
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never; one atomic load.
 * Callback-safe: yes.
 * On error: false for NULL.
 */
TIED_EXPORT bool tied_request_is_cancelled (const tied_request_t *request);

/**
 * A descriptor that becomes and stays readable when the request is cancelled, for work that waits
 * in poll ().
 *
 * @return the descriptor; TIED_ERR_SYSTEM; TIED_ERR_STATE (answered before); TIED_ERR_INVAL
 *
 * Ownership: belongs to the request and is closed when that is answered.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes, but not inside a tied_cancelled_fn.
 * On error: nothing changed.
 */
TIED_EXPORT int tied_request_cancel_fd (tied_request_t *request);

/**
 * Have fn called when the request is cancelled, at once if it was before. fn runs under the
 * replica's lock: it must not block and must call nothing of this replica but
 * tied_request_is_cancelled (). It is meant to interrupt a query or to raise a flag.
 *
 * @return 0; TIED_ERR_STATE (answered before); TIED_ERR_INVAL
 *
 * Ownership: borrows arg until the request is answered.
 * Thread: any; fn runs on whichever thread receives the cancel.
 * Blocking: never.
 * Callback-safe: yes, but not inside a tied_cancelled_fn.
 * On error: fn will not be called.
 */
TIED_EXPORT TIED_NODISCARD int
tied_request_on_cancel (tied_request_t *request, tied_cancelled_fn *fn, void *arg);

/**
 * Answer a request, with status 0 or with an error number of the application. Inside the handler or
 * later; the request is gone afterwards. An answer that cannot be delivered (the client is gone or
 * does not read) is dropped and counted, and is no error here.
 *
 * @param status  tied_request_fail () only: not 0, and below TIED_STATUS_KEY_REUSED
 * @param body    may be NULL if size is 0
 * @param size    [0, body_max]
 * @return 0; TIED_ERR_TOOBIG (the request is still there: answer it otherwise); TIED_ERR_STATE
 * (answered before; found only as long as its place is not used again); TIED_ERR_INVAL
 *
 * Ownership: borrows body; takes the request on success.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes, but not inside a tied_cancelled_fn.
 * On error: the request is not answered.
 */
TIED_EXPORT TIED_NODISCARD int
tied_request_reply (tied_request_t *request, const void *body, size_t size);
TIED_EXPORT TIED_NODISCARD int
tied_request_fail (tied_request_t *request, uint32_t status, const void *body, size_t size);

TIED_END_DECLS

#endif
