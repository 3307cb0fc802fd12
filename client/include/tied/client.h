/* SPDX-License-Identifier: MIT */
/*
 * The client stub: calls to a set of replicas, tied by policy, one answer each, over ZeroMQ.
 *
 *   options_init -> new -> add_replica... -> start -> call / submit + wait / submit + next -> stop
 * -> destroy
 *
 *   NEW --start--> STARTED --stop--> STOPPED --destroy-->
 *    |                                 ^
 *    +--------------stop---------------+
 *
 * A client object is safe to use from any thread. Two ways to drive it: THREADED has a thread of
 * its own for timers and for answers that nobody waits for, and a caller that waits receives its
 * answer without a hop through that thread; CALLER has no thread, the library works only inside
 * tied_client_call (), _wait (), _next (), _poll () and _wait_ready (). Be in one of them every few
 * hundred milliseconds while calls are open: heartbeats go out there, and a replica gives up a
 * client that is silent for its client_silence_ns (5 s unless configured). It then refuses the
 * copies that wait and tells the handlers of the others to stop.
 *
 * A call that was submitted counts against calls_max until its reply has been collected, by
 * tied_client_wait () or, with to_queue, by tied_client_next (). Each call ends exactly once, by
 * its deadline at the latest, whatever becomes of the replicas. A negative return value says that a
 * *function* could not do its work; how a *call* ended is in reply.details.outcome.
 *
 * In THREADED mode a thread that submits and then neither waits nor asks for tied_client_fd () may
 * see the library's thread take over up to 1 ms after a waiting function was last at work.
 *
 * What the library does not do: it installs no signal handler, blocks all signals in its thread
 * (which is called tied-client), and registers nothing to run at exit. After fork () the child must
 * not touch the client; posix_spawn () and fork () followed by exec () are fine.
 */
#ifndef TIED_CLIENT_H
#define TIED_CLIENT_H

#include <tied/client_core.h>
#include <tied/error.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

typedef struct tied_client tied_client_t;
struct tied_request;

enum tied_drive {
    TIED_DRIVE_THREADED = 0,
    TIED_DRIVE_CALLER = 1
};

struct tied_client_options {
    size_t struct_size;  /* set by tied_client_options_init () */
    const char *name;    /* 1..TIED_NAME_MAX bytes, for logs of replicas; need not be unique;
                            default "client"; copied */
    uint32_t drive;      /* enum tied_drive; default THREADED */
    uint32_t body_max;   /* [0, 64 MiB] largest body sent or accepted, bytes; default 8 MiB. A
                            replica may take less: then a call ends as invalid. A reply over it
                            ends its call as app_error, TIED_STATUS_REPLY_TOO_LARGE, without body */
    uint32_t inline_max; /* [0, 64 KiB] bodies up to here share the header's frame; default 1024 */
    tied_duration_t timeout_ns; /* [1 us, NEVER] deadline of a call that gives none; default 1 s */
    void *zmq_context;          /* a context to share, so that inproc works; NULL: its own. libzmq
                                   never reconnects inproc */
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
    uint32_t mode;      /* enum tied_mode, or TIED_MODE_POLICY (default): the method's */
    bool is_idempotent; /* declared safe to run more than once; so may its method be. Default false:
                           undeclared means one copy */
    bool to_queue;      /* submit: deliver through tied_client_next () instead of _wait () */
    tied_duration_t timeout_ns; /* 0: the client's; TIED_NEVER: none */
    tied_duration_t stagger_ns; /* TIED_STAGGER_POLICY (default), TIED_STAGGER_AUTO, or [0, 1 h] */
    tied_duration_t hedge_ns;   /* pending for so long, an idempotent call gets one more copy at an
                                   instance that has none: TIED_HEDGE_POLICY (default), _NONE, _NOW,
                                   or a delay up to 1 h; see struct tied_client_submit */
    const char *traceparent;    /* W3C trace context, NULL: none, or the parent's; at most 64
                                   bytes */
    const void *key;            /* idempotency key: calls with the same method and key have the same
                                   body and the same result, whoever makes them; see
                                   docs/protocol.md, "Keys" */
    size_t key_size;            /* [0, TIED_KEY_MAX]; 0, the default: none */
    uint64_t affinity;          /* options.core.pick AFFINITY: what the call is about, a number or a
                                   hash: calls with the same one go to the same replica; 0: none */
    struct tied_request *parent; /* the request (tied/replica.h) for whose answer the call is made,
                                    NULL: none. The call takes over its deadline if that is earlier,
                                    its traceparent if it has none of its own, and the number of
                                    copies that are left to it; it is not tied or hedged beyond that
                                    (chain stop); and it is cancelled when the request is. The
                                    request must not be answered before the function returns, nor
                                    the client be destroyed before the request is answered */
    void *user;                  /* comes back in the reply */
};

/* One answer. Release it with tied_reply_release (). */
struct tied_reply {
    size_t struct_size;
    struct tied_call_id id;
    void *user;
    const void *body; /* belongs to the reply */
    size_t body_size;
    struct tied_client_completion details; /* outcome, status, winner, copies, times, reasons */
    bool is_repeated;      /* nothing ran for it: the result of an earlier call with the same key */
    const char *winner_id; /* replica id, NULL if none answered; lives as long as the client */
    void *reserved;        /* the bytes behind body */
};

/* How a call of a gather ended, beside its outcome. X (NAME, value, printed name) */
#define TIED_GATHER_MAP(X)                                                                         \
    X (ENDED, 0, "ended")   /* by itself, see reply.details.outcome */                             \
    X (ENOUGH, 1, "enough") /* not waited for: enough others had succeeded. Cancelled if it had    \
                               been sent */                                                        \
    X (LATE, 2, "late")     /* the gather's time was over. Cancelled if it had been sent */        \
    X (CANARY, 3, "canary") /* not sent, because a canary ended badly */                           \
    X (FAILED, 4, "failed") /* `error` says why: it could not be submitted, or there was no memory \
                               for its reply */

#define TIED_GATHER_ENUM_(name, value, text) TIED_GATHER_##name = (value),
enum tied_gather_end {
    TIED_GATHER_MAP (TIED_GATHER_ENUM_) TIED_GATHER_COUNT
};
#undef TIED_GATHER_ENUM_

struct tied_gather_options {
    size_t struct_size;         /* set by tied_gather_options_init () */
    uint32_t need;              /* [0, count] calls that have to succeed (outcome ok) for the gather
                                   to be done; 0, the default: it waits for the end of all */
    uint32_t canary;            /* [0, count] calls that go first; the others are sent when all of
                                   these have ended with ok or app_error; default 0: none */
    tied_duration_t timeout_ns; /* after this time it waits for no more, and no call takes longer;
                                   TIED_NEVER, the default: each call has its own alone */
};

/* What became of one call of a gather. Release its reply with tied_reply_release (). */
struct tied_gathered {
    uint32_t end;            /* enum tied_gather_end */
    int error;               /* FAILED: TIED_ERR_*; else 0 */
    bool is_sent;            /* it was submitted: reply says how it ended, unless FAILED */
    struct tied_reply reply; /* zeros if it was not */
    uint32_t reserved;
};

/* Counters of the runtime, beside those of the core. X (name) */
#define TIED_CLIENT_IO_COUNTER_MAP(X)                                                              \
    X (frames_received)                                                                            \
    X (malformed)                                                                                  \
    X (multipart)                                                                                  \
    X (misdirected) /* a message that no replica may send to a client */                           \
    X (oversized)   /* a reply whose body is over body_max: its body is dropped, its call ends */  \
    X (cancels_dropped)  /* CANCEL that could not be sent */                                       \
    X (copies_too_large) /* not sent: the body is over what the replica says that it takes; among  \
                            the copies_sent and copies_rejected of the core */

struct tied_client_stats {
    size_t struct_size; /* set by the caller to sizeof (struct tied_client_stats) */
    struct tied_client_counters core;
#define TIED_CLIENT_IO_FIELD_(name) uint64_t name;
    TIED_CLIENT_IO_COUNTER_MAP (TIED_CLIENT_IO_FIELD_)
#undef TIED_CLIENT_IO_FIELD_
    uint32_t live_calls;
    uint32_t copies_in_flight;
};

/**
 * Fill options with the defaults; all of them can stay.
 *
 * @param options  written whole
 *
 * Ownership: borrows; name points to a static string.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_client_options_init (struct tied_client_options *options);

/**
 * Check every field against its range.
 *
 * @param options    a filled struct
 * @param out_field  if not NULL: name of the first bad field, a static string; fields of `core` by
 * their own name; written on error only
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing else is touched.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_options_check (const struct tied_client_options *options,
                                                          const char **out_field);

/**
 * Make a client; all of its tables are allocated here.
 *
 * @param options  copied
 * @return the client, NULL if the options are invalid or the system gives no memory or descriptor
 *
 * Ownership: the caller owns the client; a zmq_context that was given stays the caller's and must
 * outlive it.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing is left.
 */
TIED_EXPORT TIED_NODISCARD tied_client_t *
tied_client_new (const struct tied_client_options *options);

/**
 * Stop the client if it runs, as tied_client_stop () with 300 ms, and free it. Completions that
 * were not collected are lost; replies that were collected stay valid.
 *
 * @param self_p  NULL and a pointer to NULL are accepted; *self_p becomes NULL
 *
 * Ownership: takes the client.
 * Thread: any, while no other thread is inside a function of this client.
 * Blocking: up to about 300 ms, for cancels on their way to replicas that do not read.
 * Callback-safe: there are no callbacks.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_client_destroy (tied_client_t **self_p);

/**
 * Name one replica. The connection is made and kept by the library; an address that nobody listens
 * at is no error.
 *
 * @param id        1..TIED_NAME_MAX of A-Z a-z 0-9 . _ - : must be what the replica calls itself
 * @param endpoint  its client endpoint, a ZeroMQ string: "tcp://10.0.0.7:5555"
 * @return 0; TIED_ERR_INVAL; TIED_ERR_EXISTS (the id was added before); TIED_ERR_FULL
 * (replicas_max); TIED_ERR_ENDPOINT; TIED_ERR_STATE (after start); TIED_ERR_SYSTEM
 *
 * Ownership: copies.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_add_replica (tied_client_t *self, const char *id, const char *endpoint);

/**
 * Say in which zone a replica is, for example a rack or a data centre. The two copies of a tied
 * call, and a first copy and its hedge, go rather to two zones.
 *
 * @param zone  1..TIED_NAME_MAX of A-Z a-z 0-9 . _ -; NULL: not known, as before the first call
 * @return 0; TIED_ERR_INVAL; TIED_ERR_ABSENT (no such replica)
 *
 * Ownership: copies.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_set_zone (tied_client_t *self, const char *id, const char *zone);

/**
 * Begin: from here on calls are taken, and the THREADED drive has its thread. A client without
 * replicas starts, too; its calls end as unavailable.
 *
 * @return 0; TIED_ERR_INVAL; TIED_ERR_STATE (started or stopped before); TIED_ERR_SYSTEM (no
 * thread)
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_start (tied_client_t *self);

/**
 * Wait until at least so many replicas can be used. Nobody needs this to make calls: it is for
 * programs that want to say that a replica cannot be reached, and for tests. While only one replica
 * has answered, a tied call goes out as one copy: a program whose first call shall have two waits
 * for two.
 *
 * @param replicas    [0, number added]
 * @param timeout_ns  0: look once; TIED_NEVER: no bound
 * @return 0; TIED_ERR_TIMEOUT; TIED_ERR_INVAL; TIED_ERR_STATE (not started, or stopped meanwhile)
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: up to timeout_ns; the thread may work for other threads' calls meanwhile.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_wait_ready (tied_client_t *self, uint32_t replicas, tied_duration_t timeout_ns);

/**
 * Fill a call with the defaults: as the method's settings say, the client's timeout, not declared
 * idempotent, no key, no parent.
 *
 * @param call  written whole
 *
 * Ownership: borrows; method and body must live until the call has been submitted.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void
tied_call_init (struct tied_call *call, const char *method, const void *body, size_t body_size);

/**
 * Make a call and wait for its end, which is at its deadline at the latest. With a timeout of
 * TIED_NEVER it may be never.
 *
 * @param call  to_queue must be false
 * @param out   written when 0 is returned; give it to tied_reply_release ()
 * @return 0: the call ended, see out->details.outcome; TIED_ERR_INVAL; TIED_ERR_TOOBIG (body_max);
 * TIED_ERR_FULL (calls_max; or children_max of the parent); TIED_ERR_STATE (not started, or
 * stopped; or the parent is answered); TIED_ERR_CANCELLED (the parent is cancelled); TIED_ERR_NOMEM
 *
 * Ownership: borrows the call; the reply is the caller's.
 * Thread: any.
 * Blocking: until the call ends; the thread may work for other threads' calls meanwhile.
 * Callback-safe: there are no callbacks.
 * On error: nothing was sent and *out is unchanged; but with TIED_ERR_NOMEM the call may have run
 * and its reply is lost.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_call (tied_client_t *self, const struct tied_call *call, struct tied_reply *out);

/**
 * Begin a call. Its first copy is sent before this returns. Collect its reply with
 * tied_client_wait (), or with tied_client_next () when to_queue is set.
 *
 * @param out_id  written when 0 is returned; may be NULL
 * @return 0; TIED_ERR_INVAL; TIED_ERR_TOOBIG (body_max); TIED_ERR_FULL (calls_max are live or not
 * collected; or children_max of the parent are live); TIED_ERR_STATE (not started, or stopped; or
 * the parent is answered); TIED_ERR_CANCELLED (the parent is cancelled); TIED_ERR_NOMEM
 *
 * Ownership: copies what the call points to; user is only passed through.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing was sent, *out_id is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_submit (tied_client_t *self, const struct tied_call *call, struct tied_call_id *out_id);

/**
 * Wait for the end of one call and collect its reply. A timeout ends only this wait: the call goes
 * on and can be waited for again.
 *
 * @param timeout_ns  0: look once; TIED_NEVER: until the call ends
 * @param out         written when 0 is returned; give it to tied_reply_release ()
 * @return 0: the call ended, see out->details.outcome; TIED_ERR_TIMEOUT; TIED_ERR_ABSENT (never
 * submitted, or collected before); TIED_ERR_STATE (the call goes to the queue, or another thread
 * waits for it); TIED_ERR_INVAL; TIED_ERR_NOMEM (may be collected again)
 *
 * Ownership: the reply is the caller's.
 * Thread: any; one thread per call.
 * Blocking: up to timeout_ns; the thread may work for other threads' calls meanwhile.
 * Callback-safe: there are no callbacks.
 * On error: *out is unchanged, the call stays as it is.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_wait (tied_client_t *self,
                                                 struct tied_call_id id,
                                                 tied_duration_t timeout_ns,
                                                 struct tied_reply *out);

/**
 * Collect the oldest completion of the queue. After tied_client_stop () it still hands out what is
 * left.
 *
 * @param timeout_ns  0: look once; TIED_NEVER: no bound
 * @param out         written when 0 is returned; give it to tied_reply_release ()
 * @return 0; TIED_ERR_TIMEOUT (none came in time); TIED_ERR_STATE (not started; or stopped and the
 * queue is empty); TIED_ERR_INVAL; TIED_ERR_NOMEM (may be collected again)
 *
 * Ownership: the reply is the caller's.
 * Thread: any; a completion goes to one of the threads that wait.
 * Blocking: up to timeout_ns; the thread may work for other threads' calls meanwhile.
 * Callback-safe: there are no callbacks.
 * On error: *out is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_next (tied_client_t *self, tied_duration_t timeout_ns, struct tied_reply *out);

/**
 * A descriptor for the host's own poll, readable (level-triggered) while tied_client_next () would
 * find a completion, and with the CALLER drive also while there is work: then call tied_client_next
 * () or tied_client_poll () with timeout 0 until nothing comes. Never read from it.
 *
 * @return the descriptor (>= 0), the same one each time; TIED_ERR_INVAL; TIED_ERR_SYSTEM
 *
 * Ownership: the client's; it is closed by tied_client_destroy ().
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_fd (tied_client_t *self);

/**
 * Work until a call ends, a completion is in the queue, or the time is over.
 *
 * @param timeout_ns  0: do what is due and return; TIED_NEVER: no bound
 * @return completions in the queue (>= 0); TIED_ERR_INVAL; TIED_ERR_STATE (not started, or stopped)
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: up to timeout_ns.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_poll (tied_client_t *self, tied_duration_t timeout_ns);

/**
 * Give up a call. It ends as cancelled before this returns, and its replicas are told; one of them
 * may execute it all the same. Its reply has to be collected as always.
 *
 * @return 0: the call has ended, now or before; TIED_ERR_ABSENT (never submitted, or collected
 * before); TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any, also while another thread waits for the call.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_cancel (tied_client_t *self, struct tied_call_id id);

/**
 * Fill the options of a gather with the defaults: wait for the end of all calls.
 *
 * @param options  written whole
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_gather_options_init (struct tied_gather_options *options);

/**
 * Make several calls at once and wait until all have ended, or enough have succeeded, or the time
 * is over. Calls that are not waited for any more are cancelled, so when this returns each of them
 * has ended, and `out` says how. Other calls of the client go on meanwhile, queue included.
 *
 * @param calls    count of them; to_queue must be false
 * @param count    [1, calls_max]
 * @param options  NULL: the defaults
 * @param out      count of them; each is written when a number is returned
 * @return how many have succeeded (outcome ok), of which the caller judges whether they are enough;
 * TIED_ERR_INVAL (options, or a call); TIED_ERR_TOOBIG (a body over body_max); TIED_ERR_FULL (count
 * over calls_max); TIED_ERR_STATE (not started, or stopped)
 *
 * Ownership: borrows; the replies are the caller's.
 * Thread: any.
 * Blocking: until then; the thread may work for other threads' calls meanwhile.
 * Callback-safe: there are no callbacks.
 * On error: nothing was sent and *out is unchanged.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_gather (tied_client_t *self,
                                                   const struct tied_call *calls,
                                                   uint32_t count,
                                                   const struct tied_gather_options *options,
                                                   struct tied_gathered *out);

/**
 * Printed name of an end ("enough"); "?" for a value outside the list.
 *
 * @return a static string, never NULL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT const char *tied_gather_name (int end);

/**
 * Free the bytes behind a reply.
 *
 * @param reply  NULL, a zeroed struct and a released reply are accepted; body becomes NULL
 *
 * Ownership: takes the bytes, not the struct.
 * Thread: any; works after tied_client_destroy ().
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_reply_release (struct tied_reply *reply);

/**
 * Take no more calls, end the live ones as cancelled, tell their replicas, close the connections.
 * Waiting functions of other threads return; completions can still be collected.
 *
 * @param timeout_ns  how long cancels may take to leave the process, at most 300 ms; with a
 * zmq_context that was given they leave until that is terminated
 * @return 0, also when the client was stopped before; TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: up to timeout_ns, 300 ms at most, plus the time the other threads take to leave.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_stop (tied_client_t *self, tied_duration_t timeout_ns);

/**
 * Counters since creation, taken together: the identities of TIED_CLIENT_COUNTER_MAP hold.
 *
 * @param out  its struct_size must say sizeof; that many bytes are written
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_stats (tied_client_t *self,
                                                  struct tied_client_stats *out);

/**
 * What the client knows of a replica: state, incarnation, load, round trip.
 *
 * @param out  written when 0 is returned
 * @return 0; TIED_ERR_ABSENT (no such id); TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_replica (tied_client_t *self, const char *id, struct tied_client_replica *out);

/**
 * Give a method settings of its own, or change them while calls are made. A method that has none
 * inherits those of "*", which are tied_policy_init ()'s until they are set. Calls that were
 * submitted keep what they have.
 *
 * @param method  a method name, or "*"
 * @param policy  copied
 * @return 0; TIED_ERR_INVAL (a name or field out of range, see tied_policy_check ()); TIED_ERR_FULL
 * (methods_max names have settings or were used)
 *
 * Ownership: copies.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_set_policy (tied_client_t *self, const char *method, const struct tied_policy *policy);

/**
 * Take a method's own settings away: it inherits those of "*" again. What was learned of it stays.
 *
 * @return 0; TIED_ERR_ABSENT (no such method, or "*"); TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_reset_policy (tied_client_t *self, const char *method);

/**
 * The settings that a call of this method would have now; see also tied_client_set_off ().
 *
 * @param method  a method name, or "*"; one that was never used has those of "*"
 * @param out     written when 0 is returned
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_policy (tied_client_t *self, const char *method, struct tied_policy *out);

/**
 * What the calls of a method have shown: counters, the hedge delay in use and why, budget,
 * governor, and the target percentile without hedges, as planned and as measured.
 *
 * @param method  a method name; "*": calls of all methods that have no number of their own
 * @param out     written when 0 is returned
 * @return 0; TIED_ERR_ABSENT (it was never used and has no settings); TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: some microseconds under the client's lock.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_method (tied_client_t *self, const char *method, struct tied_client_method *out);

/**
 * The kill switch: while it is on, every call has one copy, whatever its method's settings or the
 * call itself say; a hedge that a live call waits for is not sent. Settings that change meanwhile
 * are kept and count afterwards; tied_client_policy () shows them without the switch.
 *
 * @param is_off  true: no extra copies from now on; false: as the settings say
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_set_off (tied_client_t *self, bool is_off);

/* Bytes that hold any error of tied_client_load_policies () whole. */
#define TIED_POLICIES_ERROR_MAX 512

/**
 * Take the settings of all methods from a YAML file (docs/policy.md), also while calls are made:
 * all of it, or nothing. Afterwards the settings are those of the file: a method that it does not
 * name inherits from "*", and "*", if it is not there, has tied_policy_init ()'s. Calls that were
 * submitted keep what they have, and what was learned of methods stays.
 *
 * @param error_text  if not NULL: error_size bytes; one line without newline, "FILE:LINE:COLUMN:
 * ...", empty on success; TIED_POLICIES_ERROR_MAX is always enough
 * @return 0; TIED_ERR_INVAL (no such file, or it is wrong); TIED_ERR_FULL (more than methods_max
 * names, those of methods that were used among them); TIED_ERR_NOMEM
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: as long as reading the file takes, and no longer than 3 s if it is a pipe;
 * calls go on meanwhile.
 * Callback-safe: there are no callbacks.
 * On error: all settings are what they were.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_load_policies (tied_client_t *self,
                                                          const char *path,
                                                          char *error_text,
                                                          size_t error_size);

TIED_END_DECLS

#endif
