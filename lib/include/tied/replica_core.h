/* SPDX-License-Identifier: MIT */
/*
 * The replica side of the protocol as a value: admission, one FIFO queue, ties, tombstones, parked
 * and exclusive copies, drain.
 *
 * It reads no clock, owns no socket or thread, allocates nothing and calls nobody back. A driver
 * feeds one event with the time, does the actions in their order, and steps again with
 * TIED_REPLICA_EV_TIMEOUT no later than the deadline. docs/sans-io.md lists the driver's duties,
 * docs/protocol.md the state table. The core never sees bodies: an admitted copy has a slot number,
 * and the driver keeps the bytes in an array of its own, indexed by slot.
 *
 * One owner at a time: the functions of one core must not run at the same time on two threads.
 */
#ifndef TIED_REPLICA_CORE_H
#define TIED_REPLICA_CORE_H

#include <tied/error.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

typedef struct tied_replica_core tied_replica_core_t;

#define TIED_NO_PEER UINT32_MAX

enum tied_hedge_lane {
    TIED_HEDGE_LANE_FIFO = 0,  /* every copy keeps its place */
    TIED_HEDGE_LANE_BEHIND = 1 /* copies with number >= 2 wait behind all others */
};

struct tied_replica_core_options {
    size_t struct_size;            /* set by tied_replica_core_options_init () */
    uint64_t incarnation;          /* random, not 0; the driver draws it */
    uint64_t seed;                 /* of the hash tables; random and known to no client, or clients
                                      can make ids that are slow to find; 0, the default: made of
                                      the incarnation, which all are told */
    uint32_t workers;              /* [1, 4096] copies served at once; default 4 */
    uint32_t queue_depth;          /* [1, 1 << 20] copies waiting at most; default 1024 */
    uint32_t hedge_depth;          /* [0, queue_depth] refuse copies > 0 from this depth on;
                                      0: 4 x workers, at least 3; default 0 */
    uint32_t hedge_lane;           /* enum tied_hedge_lane; default FIFO */
    tied_duration_t hedge_wait_ns; /* refuse copies > 0 above this wait estimate; default NEVER */
    uint32_t recent_max;           /* [16, 1 << 22] tombstones and finished ties remembered;
                                      default 16384; the oldest is evicted */
    tied_duration_t recent_ttl_ns; /* [1 ms, 1 h] how long they are remembered; default 2 s */
    uint32_t clients_max;          /* [1, 1 << 20] client indices in use at once; default 1024 */
    uint32_t peers_max;            /* [0, 4096] peer indices; default 64 */
    tied_duration_t client_silence_ns; /* [10 ms, NEVER] a client that says nothing for so long is
                                        gone; default 5 s. NEVER: only CLIENT_GONE and CLIENTS_FULL
                                        free an index */
    uint32_t park_max; /* [0, 1 << 20] copies of mode park kept for a sibling that has started;
                          default 256; beyond it they are dropped, as in mode tied */
    tied_duration_t park_lease_ns; /* [1 ms, 1 h] a parked copy goes back to the queue when its
                                      sibling has not ended after so long; default 500 ms: before
                                      a client with defaults sees a silent loss (600 ms) or gives
                                      up (1 s). Longer than nearly all executions, or slow ones
                                      run twice */
};

/* X (NAME, printed name). Every counter only grows; identities are at tied_replica_core_check ().
 */
#define TIED_REPLICA_COUNTER_MAP(X)                                                                \
    X (received)          /* REQUEST events */                                                     \
    X (relieving)         /* hedges that were queued before what waits, with RELIEF */             \
    X (relief_over)       /* that were taken for any other hedge: too many had gone first */       \
    X (executed)          /* copies handed to a worker */                                          \
    X (finished)          /* of those, ended by their handler */                                   \
    X (dropped)           /* removed from the queue by STARTED, CANCEL or CLIENT_GONE */           \
    X (tombstoned)        /* met their tombstone on arrival */                                     \
    X (merged)            /* a re-issue that found its call here already */                        \
    X (duplicate_request) /* the same copy again: ignored */                                       \
    X (rejected)          /* sum of the rejected_* counters but rejected_expired */                \
    X (expired)           /* time ran out in the queue: answered with EXPIRED, did not run */      \
    X (rejected_busy)                                                                              \
    X (rejected_full) /* queue full; or waited when its client was given up as silent */           \
    X (rejected_too_late)                                                                          \
    X (rejected_draining)                                                                          \
    X (rejected_not_permitted) /* by the driver's verdict only; that of tied/replica.h has none */ \
    X (rejected_unknown_method)                                                                    \
    X (rejected_stale)                                                                             \
    X (rejected_too_large)                                                                         \
    X (rejected_duplicate) /* a hedge that found another copy of its call here */                  \
    X (rejected_denied)    /* an exclusive copy that may not start here */                         \
    X (started_sent)       /* the link took STARTED; counted when the copy ends */                 \
    X (started_unsent)     /* STARTED wanted, but the peer's link is down or full */               \
    X (started_received)   /* = sum of the four below */                                           \
    X (started_effective)  /* dropped or parked a copy that waited */                              \
    X (started_early)      /* came before the copy: a tombstone waits for it */                    \
    X (started_late)       /* its sibling here runs or has run: a duplicate execution */           \
    X (started_moot)       /* its sibling here was refused, expired, dropped, untied or parked */  \
    X (untie_sent)         /* TELL_UNTIE actions */                                                \
    X (untie_unsent)       /* the peer's link is down, or an action could not be sent */           \
    X (untie_received)                                                                             \
    X (cancel_received)    /* = sum of the three below */                                          \
    X (cancel_queued)      /* removed at least one queued copy */                                  \
    X (cancel_running)     /* found running ones only: their flags are raised, once */             \
    X (cancel_unknown)     /* no copy of that call is here */                                      \
    X (sibling_unknown)    /* tied copy whose sibling is no peer of ours: served untied */         \
    X (tombstones_evicted) /* recent_max was hit, and the oldest note was a tombstone */           \
    X (notes_evicted)      /* the same, and it was another note */                                 \
    X (tombstones_expired)                                                                         \
    X (clients_gone)                                                                               \
    X (clients_evicted) /* by CLIENTS_FULL */                                                      \
    X (clients_full)    /* a REQUEST or CLIENT_SEEN named an index >= clients_max */               \
    X (parked)          /* copies parked = sum of the four below and those that are */             \
    X (park_done)       /* dropped: the sibling's DONE came */                                     \
    X (park_lease)      /* back in the queue: the lease ended */                                   \
    X (park_lost)       /* back in the queue: link to the sibling lost, or untied */               \
    X (park_left)       /* cancelled, without time or client, or this replica drains */            \
    X (park_full)       /* not parked but dropped or tombstoned: park_max was hit */               \
    X (done_sent)       /* TELL_DONE actions */                                                    \
    X (done_unsent)     /* the peer's link is down */                                              \
    X (done_received)                                                                              \
    X (claim_sent)     /* TELL_CLAIM actions, repeated ones among them */                          \
    X (claim_unsent)   /* the peer's link is down */                                               \
    X (claim_received) /* = the two below */                                                       \
    X (claim_granted)                                                                              \
    X (claim_denied)                                                                               \
    X (claim_unseen) /* of claim_granted: our copy had not come; it will meet the grant */         \
    X (grant_received)                                                                             \
    X (deny_received)

struct tied_replica_counters {
#define TIED_REPLICA_COUNTER_FIELD_(name) uint64_t name;
    TIED_REPLICA_COUNTER_MAP (TIED_REPLICA_COUNTER_FIELD_)
#undef TIED_REPLICA_COUNTER_FIELD_
};

enum tied_replica_event_type {
    TIED_REPLICA_EV_REQUEST = 1, /* a copy has arrived */
    TIED_REPLICA_EV_CANCEL,      /* CANCEL from a client */
    TIED_REPLICA_EV_STARTED,     /* STARTED from a known peer */
    TIED_REPLICA_EV_UNTIE,       /* UNTIE from a known peer */
    TIED_REPLICA_EV_TAKE,        /* a worker is free and takes the next copy, if there is one */
    TIED_REPLICA_EV_FINISH,      /* the handler of a slot has ended */
    TIED_REPLICA_EV_CLIENT_SEEN, /* any other message (HELLO, PING) from this client */
    TIED_REPLICA_EV_CLIENT_GONE, /* the driver knows that this client's connection is gone */
    TIED_REPLICA_EV_PEER_UP,     /* the link *to* this peer can be written */
    TIED_REPLICA_EV_PEER_DOWN,
    TIED_REPLICA_EV_SEND_FAILED,  /* an action TELL_STARTED or TELL_UNTIE could not be sent */
    TIED_REPLICA_EV_DRAIN,        /* refuse new copies from now on */
    TIED_REPLICA_EV_TIMEOUT,      /* nothing else happened until the deadline */
    TIED_REPLICA_EV_CLIENTS_FULL, /* the driver needs an index for a newcomer and none is free: the
                                     client that has had no word and no copy here for longest is
                                     forgotten; no action: each has a copy here */
    TIED_REPLICA_EV_DONE,         /* DONE from a known peer */
    TIED_REPLICA_EV_CLAIM,        /* CLAIM from a known peer */
    TIED_REPLICA_EV_GRANT,        /* GRANT from a known peer */
    TIED_REPLICA_EV_DENY          /* DENY from a known peer */
};

struct tied_replica_request {
    uint32_t client; /* [0, clients_max) the driver's index of the sender */
    struct tied_call_id call;
    uint8_t copy;
    uint32_t flags;               /* enum tied_request_flag */
    uint64_t incarnation;         /* as on the wire; 0: any */
    tied_duration_t remaining_ns; /* TIED_NEVER: none */
    uint64_t sent_us;             /* as on the wire; 0: none */
    uint32_t sibling;             /* peer index, TIED_NO_PEER when none is named or known */
    bool sibling_named;           /* the header names a sibling (known or not) */
    uint64_t sibling_incarnation; /* as on the wire; 0: unknown or none */
    uint8_t verdict;              /* enum tied_reject that the driver has found (UNKNOWN_METHOD,
                                     NOT_PERMITTED, TOO_LARGE); FULL: the driver has no room for
                                     it, should it be kept; TIED_REJECT_NONE to admit */
};

struct tied_replica_event {
    enum tied_replica_event_type type;
    union {
        struct tied_replica_request request;
        struct {
            uint32_t client;
            struct tied_call_id call;
            uint8_t reason; /* enum tied_cancel */
        } cancel;
        struct { /* STARTED, UNTIE, DONE, GRANT, DENY; SEND_FAILED repeats what the action said */
            uint32_t peer;
            struct tied_call_id call;
            uint8_t copy;  /* the sender's copy */
            bool is_untie; /* SEND_FAILED only */
        } tie;
        struct {
            uint32_t peer;
            struct tied_call_id call;
            uint8_t copy; /* the sender's copy */
            tied_duration_t age_ns;
            uint64_t incarnation; /* the instance of this replica that is meant */
        } claim;
        struct {
            uint32_t slot;
        } finish;
        struct {
            uint32_t client;
            uint64_t epoch;   /* SEEN because of HELLO: its incarnation; else 0 */
            uint64_t sent_us; /* and its time, microseconds; 0: none. The client's first REQUEST is
                                 then told from one that lay in a buffer for long */
        } client;
        struct {
            uint32_t peer;
        } peer;
    } u;
};

enum tied_replica_action_type {
    TIED_REPLICA_ACT_ADMIT = 1,      /* slot: keep the copy's bytes there until RELEASE or the end
                                        of FINISH */
    TIED_REPLICA_ACT_REJECT,         /* answer the client: REJECT */
    TIED_REPLICA_ACT_RUN,            /* hand slot to the worker that took */
    TIED_REPLICA_ACT_TELL_STARTED,   /* STARTED to peer, before the handler runs */
    TIED_REPLICA_ACT_TELL_UNTIE,     /* UNTIE to peer */
    TIED_REPLICA_ACT_CANCEL_RUNNING, /* raise the cancel flag of slot */
    TIED_REPLICA_ACT_REPLY,          /* send slot's reply with these details, then free its bytes */
    TIED_REPLICA_ACT_RELEASE,        /* slot left without running: free its bytes, answer nothing
                                        (a REJECT action came before if one is due) */
    TIED_REPLICA_ACT_FORGET_CLIENT,  /* the client index is free again; not before the last
                                       running copy of a client that is gone has ended */
    TIED_REPLICA_ACT_TELL_DONE,      /* DONE to peer; this and the next need not be sent for sure */
    TIED_REPLICA_ACT_TELL_CLAIM,     /* CLAIM to peer, with age_ns and incarnation */
    TIED_REPLICA_ACT_TELL_GRANT,     /* GRANT to peer */
    TIED_REPLICA_ACT_TELL_DENY       /* DENY to peer */
};

struct tied_replica_action {
    enum tied_replica_action_type type;
    uint32_t slot;   /* ADMIT, RUN, CANCEL_RUNNING, REPLY, RELEASE; for REJECT of an admitted copy
                        (EXPIRED, DENIED, FULL for its client's silence) its slot, else UINT32_MAX */
    uint32_t client; /* REJECT, REPLY, FORGET_CLIENT */
    uint32_t peer;   /* TELL_* */
    struct tied_call_id call;
    uint8_t copy;   /* REJECT, RUN, REPLY: this copy; TELL_*: this replica's copy */
    uint8_t reason; /* REJECT: enum tied_reject; CANCEL_RUNNING: enum tied_cancel */
    uint32_t flags; /* REPLY: enum tied_reply_flag */
    union {
        tied_duration_t queue_ns; /* RUN, REPLY: time from arrival to start */
        tied_duration_t age_ns;   /* TELL_CLAIM: how long the call is known */
    };
    union {
        tied_duration_t service_ns; /* REPLY: time from start to finish */
        uint64_t incarnation;       /* TELL_CLAIM: the peer's instance that is meant */
    };
    tied_duration_t remaining_ns; /* RUN: what is left, TIED_NEVER if there is no deadline */
    struct tied_load load;        /* REJECT, REPLY */
};

/**
 * Fill options with the defaults.
 *
 * @param options  written whole
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_replica_core_options_init (struct tied_replica_core_options *options);

/**
 * Check every field against its range.
 *
 * @param options    a filled struct
 * @param out_field  if not NULL: name of the first bad field, a static string; written on error
 * only
 * @return 0, TIED_ERR_INVAL
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: nothing else is touched.
 */
TIED_EXPORT TIED_NODISCARD int
tied_replica_core_options_check (const struct tied_replica_core_options *options,
                                 const char **out_field);

/**
 * Bytes that a core with these options takes. All of it is one block without inner pointers: a copy
 * made with memcpy is a working snapshot.
 *
 * @return bytes, 0 if the options are invalid
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: returns 0.
 */
TIED_EXPORT size_t tied_replica_core_size (const struct tied_replica_core_options *options);

/**
 * Make a core in the caller's memory.
 *
 * @param memory   aligned as malloc () aligns; zeroed here
 * @param size     at least tied_replica_core_size ()
 * @param options  copied
 * @return the core, at memory; NULL if the options are invalid or size is too small
 *
 * Ownership: the memory stays the caller's and is the core until it is freed.
 * Thread: any; the core has one owner at a time.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: memory may be partly written.
 */
TIED_EXPORT TIED_NODISCARD tied_replica_core_t *
tied_replica_core_init (void *memory, size_t size, const struct tied_replica_core_options *options);

/**
 * Feed one event. All actions of the step before must have been taken with _next ().
 *
 * @param event  borrowed until the call returns
 * @param now    not smaller than in the previous call
 * @return 0; TIED_ERR_INVAL (an index out of range, FINISH of a slot that does not run)
 *
 * Ownership: borrows.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: no state changed, no action made; clients_full may have counted it.
 */
TIED_EXPORT TIED_NODISCARD int tied_replica_core_step (tied_replica_core_t *self,
                                                       const struct tied_replica_event *event,
                                                       tied_time_t now);

/* Calls that a driver tells the core of together. */
#define TIED_REPLICA_EXPECT_MAX 8

/**
 * Say which calls the next events STARTED, UNTIE and CANCEL are about, before the first of them is
 * stepped. It only lets memory be read ahead, so that a removal from a very long queue need not
 * wait for it: it changes no state and can be left out, and the events need not come. A driver that
 * receives several messages at a time says it once for each TIED_REPLICA_EXPECT_MAX of them.
 *
 * @param calls  borrowed until the call returns; may be NULL if count is 0
 * @param count  those after the first TIED_REPLICA_EXPECT_MAX are not looked at
 *
 * Ownership: borrows.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_replica_core_expect (const tied_replica_core_t *self,
                                           const struct tied_call_id *calls,
                                           size_t count);

/**
 * Next action of the last step, oldest first.
 *
 * @return the action, or NULL when all are taken
 *
 * Ownership: borrowed until the next step.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: cannot fail.
 */
TIED_EXPORT const struct tied_replica_action *tied_replica_core_next (tied_replica_core_t *self);

/**
 * When to step with TIED_REPLICA_EV_TIMEOUT if nothing else happens.
 *
 * @return a time; TIED_NEVER when idle; may be the time of the last step when work is left over
 *
 * Ownership: none transferred.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: cannot fail.
 */
TIED_EXPORT tied_time_t tied_replica_core_deadline (const tied_replica_core_t *self);

/* Queries. Contract of each: thread owner, never block, cannot fail, nothing transferred. */
TIED_EXPORT struct tied_load tied_replica_core_load (const tied_replica_core_t *self);
TIED_EXPORT const struct tied_replica_counters *
tied_replica_core_counters (const tied_replica_core_t *self);
/* Draining was asked for, and no copy is left. */
TIED_EXPORT bool tied_replica_core_is_drained (const tied_replica_core_t *self);
/* A TAKE now would do something: a copy waits and fewer than `workers` run. It runs a copy unless
 * all that it looked at have expired; then ask again. */
TIED_EXPORT bool tied_replica_core_can_run (const tied_replica_core_t *self);
/* Copies that are parked now. They are in no part of the load. */
TIED_EXPORT uint32_t tied_replica_core_parked (const tied_replica_core_t *self);
/* Slots are numbered from 0 to this minus 1 (queue_depth + workers + park_max). */
TIED_EXPORT uint32_t tied_replica_core_slots (const tied_replica_core_t *self);

/**
 * Walk the whole structure and assert every invariant; for tests, simulators and fuzzers. Lists and
 * index agree, every table is within its bound, and of the counters:
 *
 *     received = executed + dropped + tombstoned + merged + duplicate_request + rejected + expired
 *                + load.depth + copies parked
 *     executed = finished + copies running
 *     rejected = sum of the rejected_*
 *     started_received = started_effective + started_early + started_late + started_moot
 *     cancel_received = cancel_queued + cancel_running + cancel_unknown
 *     parked = park_done + park_lease + park_lost + park_left + copies parked
 *     claim_received = claim_granted + claim_denied
 *     started_sent + started_unsent + running copies that told = starts that wanted to tell
 *
 * A request that merged and one that is a duplicate are ended by that: the copy that answers for
 * them has its own request in the sum.
 *
 * Ownership: none transferred.
 * Thread: owner.
 * Blocking: never; takes time in the size of the tables.
 * Callback-safe: there are no callbacks.
 * On error: a violated invariant aborts through the assert handler.
 */
TIED_EXPORT void tied_replica_core_check (const tied_replica_core_t *self);

/**
 * Hash of all state that can change what the core does next, times relative to the last step,
 * counters left out: two cores with the same options and hash behave alike, but for the numbers of
 * the slots that they will give to copies to come. For explorers and determinism tests.
 *
 * Ownership: none transferred.
 * Thread: owner.
 * Blocking: never; takes time in the size of the tables.
 * Callback-safe: there are no callbacks.
 * On error: cannot fail.
 */
TIED_EXPORT uint64_t tied_replica_core_hash (const tied_replica_core_t *self);

TIED_END_DECLS

#endif
