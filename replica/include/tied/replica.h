/* SPDX-License-Identifier: MIT */
/*
 * The replica runtime: tied requests for a C worker server, over ZeroMQ.
 *
 *   options_init -> new -> bind, bind_peers, add_peer, handle -> start -> (serve) -> drain -> stop
 * -> destroy
 *
 * Two endpoints: clients connect to one, peers (the other replicas) to the other, so a cancel never
 * waits behind requests and a client cannot speak as a peer. Requests are served by one of three
 * worker interfaces over the same queue: POOL (a handler and the replica's own threads), PULL (the
 * server's threads call tied_replica_next ()), INLINE (the handler runs in the thread that calls
 * tied_replica_poll (); an fd tells an event loop when).
 *
 * Delivery is at least once: with ties, re-issues or a crash a call can run twice. See
 * docs/protocol.md, "The cancel race". No function touches the host's signal handlers, environment
 * or exit path.
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
/* A running copy was cancelled; called on a thread of the replica, must not block. */
typedef void (tied_cancelled_fn) (tied_request_t *request, void *arg);

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
    void *zmq_context;    /* a context to share, so that inproc works; NULL: its own */
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
    X (pongs_dropped)     /* of WELCOME and PONG */                                                \
    X (clients_refused)   /* messages of clients beyond clients_max, or with an overlong id */

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

/**
 * Fill options with the defaults; only `id` must be set afterwards.
 *
 * Ownership: borrows.  Thread: any.  Blocking: never.  Callback-safe: yes.  On error: cannot fail.
 */
TIED_EXPORT void tied_replica_options_init (struct tied_replica_options *options);

/**
 * Check every field.
 *
 * @param out_field  if not NULL: name of the first bad field; written on error only
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: borrows.  Thread: any.  Blocking: never.  Callback-safe: yes.  On error: nothing
 * changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_options_check (const struct tied_replica_options *options, const char **out_field);

TIED_EXPORT TIED_NODISCARD tied_replica_t *
tied_replica_new (const struct tied_replica_options *options);
TIED_EXPORT void tied_replica_destroy (tied_replica_t **self_p);
TIED_EXPORT TIED_NODISCARD int tied_replica_bind (tied_replica_t *self, const char *endpoint);
TIED_EXPORT TIED_NODISCARD int tied_replica_bind_peers (tied_replica_t *self, const char *endpoint);
TIED_EXPORT const char *tied_replica_endpoint (const tied_replica_t *self);
TIED_EXPORT const char *tied_replica_peer_endpoint (const tied_replica_t *self);
TIED_EXPORT TIED_NODISCARD int
tied_replica_add_peer (tied_replica_t *self, const char *id, const char *endpoint);
TIED_EXPORT TIED_NODISCARD int
tied_replica_handle (tied_replica_t *self, const char *method, tied_handler_fn *fn, void *arg);
TIED_EXPORT TIED_NODISCARD int tied_replica_start (tied_replica_t *self);
TIED_EXPORT TIED_NODISCARD int
tied_replica_next (tied_replica_t *self, tied_duration_t timeout_ns, tied_request_t **out_request);
TIED_EXPORT TIED_NODISCARD int tied_replica_poll (tied_replica_t *self, tied_duration_t timeout_ns);
TIED_EXPORT TIED_NODISCARD int tied_replica_fd (tied_replica_t *self);
TIED_EXPORT TIED_NODISCARD int tied_replica_drain (tied_replica_t *self);
TIED_EXPORT bool tied_replica_is_drained (tied_replica_t *self);
TIED_EXPORT TIED_NODISCARD int tied_replica_stop (tied_replica_t *self, tied_duration_t timeout_ns);
TIED_EXPORT TIED_NODISCARD int tied_replica_stats (tied_replica_t *self,
                                                   struct tied_replica_stats *out);

TIED_EXPORT const void *tied_request_body (const tied_request_t *request, size_t *out_size);
TIED_EXPORT const char *tied_request_method (const tied_request_t *request);
TIED_EXPORT struct tied_call_id tied_request_call (const tied_request_t *request);
TIED_EXPORT uint8_t tied_request_copy (const tied_request_t *request);
TIED_EXPORT tied_duration_t tied_request_remaining (const tied_request_t *request);
TIED_EXPORT bool tied_request_is_cancelled (const tied_request_t *request);
TIED_EXPORT int tied_request_cancel_fd (tied_request_t *request);
TIED_EXPORT TIED_NODISCARD int
tied_request_on_cancel (tied_request_t *request, tied_cancelled_fn *fn, void *arg);
TIED_EXPORT TIED_NODISCARD int
tied_request_reply (tied_request_t *request, const void *body, size_t size);
TIED_EXPORT TIED_NODISCARD int
tied_request_fail (tied_request_t *request, uint32_t status, const void *body, size_t size);

TIED_END_DECLS

#endif
