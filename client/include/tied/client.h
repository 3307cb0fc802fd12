/* SPDX-License-Identifier: MIT */
/*
 * The client stub: calls to a set of replicas, tied by policy, one answer each, over ZeroMQ.
 *
 *   options_init -> new -> add_replica... -> start -> call / submit + wait / submit + next -> stop
 * -> destroy
 *
 * A client object is safe to use from any thread. Two ways to drive it: THREADED has a thread of
 * its own for timers and for answers that nobody waits for, and a caller that waits receives its
 * answer without a hop through that thread; CALLER has no thread, the library works only inside
 * tied_client_call (), _wait (), _next () and _poll ().
 */
#ifndef TIED_CLIENT_H
#define TIED_CLIENT_H

#include <tied/client_core.h>
#include <tied/error.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

typedef struct tied_client tied_client_t;

enum tied_drive {
    TIED_DRIVE_THREADED = 0,
    TIED_DRIVE_CALLER = 1
};

struct tied_client_options {
    size_t struct_size;  /* set by tied_client_options_init () */
    const char *name;    /* 1..TIED_NAME_MAX bytes, for logs of replicas; need not be unique;
                            default "client"; copied */
    uint32_t drive;      /* enum tied_drive; default THREADED */
    uint32_t body_max;   /* [0, 64 MiB] largest body sent or accepted, bytes; default 8 MiB */
    uint32_t inline_max; /* [0, 64 KiB] bodies up to here share the header's frame; default 1024 */
    tied_duration_t timeout_ns; /* [1 us, NEVER] deadline of a call that gives none; default 1 s */
    void *zmq_context;          /* a context to share, so that inproc works; NULL: its own */
    struct tied_client_core_options
        core; /* calls_max, stagger_*, pick, heartbeat_*, ...; epoch 0 and
                 seed 0 (the defaults here): drawn from the system */
};

/* One call, as the application asks for it. */
struct tied_call {
    size_t struct_size; /* set by tied_call_init () */
    const char *method; /* required, 1..TIED_NAME_MAX bytes */
    const void *body;   /* borrowed until the function returns; may be NULL if size is 0 */
    size_t body_size;   /* [0, body_max] */
    uint32_t mode;      /* enum tied_mode; default TIED */
    bool is_idempotent; /* default false: undeclared means one copy */
    bool to_queue;      /* submit: deliver through tied_client_next () instead of _wait () */
    tied_duration_t timeout_ns; /* 0: the client's; TIED_NEVER: none */
    tied_duration_t stagger_ns; /* TIED_STAGGER_AUTO (default), or [0, 1 h] */
    const char *traceparent;    /* W3C trace context, NULL: none; at most 64 bytes */
    void *user;                 /* comes back in the reply */
};

/* One answer. Release it with tied_reply_release (). */
struct tied_reply {
    size_t struct_size;
    struct tied_call_id id;
    void *user;
    const void *body; /* belongs to the reply */
    size_t body_size;
    struct tied_client_completion details; /* outcome, status, winner, copies, times, reasons */
    const char *winner_id; /* replica id, NULL if none answered; lives as long as the client */
    void *reserved;        /* the bytes behind body */
};

/* Counters of the runtime, beside those of the core. X (name) */
#define TIED_CLIENT_IO_COUNTER_MAP(X)                                                              \
    X (frames_received)                                                                            \
    X (malformed)                                                                                  \
    X (multipart)                                                                                  \
    X (misdirected)     /* a message that no replica may send to a client */                       \
    X (cancels_dropped) /* CANCEL that could not be sent */                                        \
    X (queue_overflow)  /* always 0: completions are bounded by calls_max */

struct tied_client_stats {
    size_t struct_size;
    struct tied_client_counters core;
#define TIED_CLIENT_IO_FIELD_(name) uint64_t name;
    TIED_CLIENT_IO_COUNTER_MAP (TIED_CLIENT_IO_FIELD_)
#undef TIED_CLIENT_IO_FIELD_
    uint32_t live_calls;
    uint32_t copies_in_flight;
};

TIED_EXPORT void tied_client_options_init (struct tied_client_options *options);
TIED_EXPORT TIED_NODISCARD int tied_client_options_check (const struct tied_client_options *options,
                                                          const char **out_field);
TIED_EXPORT TIED_NODISCARD tied_client_t *
tied_client_new (const struct tied_client_options *options);
TIED_EXPORT void tied_client_destroy (tied_client_t **self_p);
TIED_EXPORT TIED_NODISCARD int
tied_client_add_replica (tied_client_t *self, const char *id, const char *endpoint);
TIED_EXPORT TIED_NODISCARD int tied_client_start (tied_client_t *self);
TIED_EXPORT TIED_NODISCARD int
tied_client_wait_ready (tied_client_t *self, uint32_t replicas, tied_duration_t timeout_ns);
TIED_EXPORT void
tied_call_init (struct tied_call *call, const char *method, const void *body, size_t body_size);
TIED_EXPORT TIED_NODISCARD int
tied_client_call (tied_client_t *self, const struct tied_call *call, struct tied_reply *out);
TIED_EXPORT TIED_NODISCARD int
tied_client_submit (tied_client_t *self, const struct tied_call *call, struct tied_call_id *out_id);
TIED_EXPORT TIED_NODISCARD int tied_client_wait (tied_client_t *self,
                                                 struct tied_call_id id,
                                                 tied_duration_t timeout_ns,
                                                 struct tied_reply *out);
TIED_EXPORT TIED_NODISCARD int
tied_client_next (tied_client_t *self, tied_duration_t timeout_ns, struct tied_reply *out);
TIED_EXPORT TIED_NODISCARD int tied_client_fd (tied_client_t *self);
TIED_EXPORT TIED_NODISCARD int tied_client_poll (tied_client_t *self, tied_duration_t timeout_ns);
TIED_EXPORT TIED_NODISCARD int tied_client_cancel (tied_client_t *self, struct tied_call_id id);
TIED_EXPORT void tied_reply_release (struct tied_reply *reply);
TIED_EXPORT TIED_NODISCARD int tied_client_stop (tied_client_t *self, tied_duration_t timeout_ns);
TIED_EXPORT TIED_NODISCARD int tied_client_stats (tied_client_t *self,
                                                  struct tied_client_stats *out);
TIED_EXPORT TIED_NODISCARD int
tied_client_replica (tied_client_t *self, const char *id, struct tied_client_replica *out);

TIED_END_DECLS

#endif
