/* SPDX-License-Identifier: MIT */
/*
 * The words of tied as C types: times, ids, modes, outcomes and reasons. Every list is an X-macro
 * table, so the enum, the printed names and the documents come from one place.
 */
#ifndef TIED_TYPES_H
#define TIED_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/export.h>

TIED_BEGIN_DECLS

/* A point in time in nanoseconds of a monotonic clock of the driver's choice. */
typedef uint64_t tied_time_t;
/* A length of time in nanoseconds. */
typedef uint64_t tied_duration_t;
/* Later than every time: "no deadline", "nothing to wait for". */
#define TIED_NEVER UINT64_MAX

#define TIED_US(n) ((uint64_t)(n)*1000u)
#define TIED_MS(n) ((uint64_t)(n)*1000000u)
#define TIED_S(n)  ((uint64_t)(n)*1000000000u)

/* Longest replica id, client name or method name, in bytes, without a terminating NUL. */
#define TIED_NAME_MAX 64

/* A status that no replica gives: the client's own, for a reply whose body it does not take. */
#define TIED_STATUS_REPLY_TOO_LARGE UINT32_MAX
/* A status that no handler gives: the replica's own, for an idempotency key that came before with
 * another body. Nothing was executed for it. */
#define TIED_STATUS_KEY_REUSED (UINT32_MAX - 1)

/* Longest idempotency key, in bytes. */
#define TIED_KEY_MAX 64

/* What the application asked for. Never reused: the epoch is random per client object, not 0. */
struct tied_call_id {
    uint64_t epoch;
    uint64_t sequence;
};

/* What a replica says of its queue whenever it answers. */
struct tied_load {
    uint32_t depth;   /* copies that wait in the queue */
    uint32_t running; /* copies being served */
    uint32_t wait_us; /* estimated time until a new copy starts, microseconds, saturated */
};

#define TIED_MODE_MAP(X)                                                                           \
    X (SINGLE, 0, "single") /* one copy */                                                         \
    X (TIED, 1, "tied")     /* two copies that name each other; the later start is dropped */      \
    X (PARK, 2, "park")     /* tied; what would be dropped is kept until the starter has ended */  \
    X (EXCLUSIVE, 3, "exclusive") /* tied; the second copy starts only by the first one's leave */

#define TIED_OUTCOME_MAP(X)                                                                        \
    X (OK, 0, "ok")                       /* a replica answered with status 0 */                   \
    X (APP_ERROR, 1, "app_error")         /* a replica answered with another status */             \
    X (REJECTED, 2, "rejected")           /* every copy was definitely refused: not executed */    \
    X (DEADLINE, 3, "deadline")           /* the time ran out; may have executed */                \
    X (CANCELLED, 4, "cancelled")         /* the caller gave up; may have executed */              \
    X (UNAVAILABLE, 5, "unavailable")     /* replicas were lost; may have executed */              \
    X (UNIMPLEMENTED, 6, "unimplemented") /* the replica does not know the method */               \
    X (INVALID, 7, "invalid") /* no replica takes such a call (too_large): not executed */

/* Why a replica refused a copy. Numbers are those of the wire. FULL is also said of copies that
 * waited when their client was given up as silent. NOT_PERMITTED comes from replicas with access
 * control; those of tied/replica.h have none. */
#define TIED_REJECT_MAP(X)                                                                         \
    X (BUSY, 1, "busy")                     /* an extra copy, and the queue is long enough */      \
    X (FULL, 2, "full")                     /* the queue holds queue_depth copies */               \
    X (TOO_LATE, 3, "too_late")             /* cannot start within its remaining time */           \
    X (DRAINING, 4, "draining")             /* the replica is leaving */                           \
    X (NOT_PERMITTED, 5, "not_permitted")   /* this client may not call this method */             \
    X (UNKNOWN_METHOD, 6, "unknown_method") /* no handler has this name */                         \
    X (EXPIRED, 7, "expired")               /* its time ran out in the queue; it did not run */    \
    X (STALE, 8, "stale")                   /* meant for an earlier incarnation of this replica */ \
    X (TOO_LARGE, 9, "too_large")           /* the body is over this replica's limit */            \
    X (DUPLICATE, 10, "duplicate")          /* another copy of this call waits or runs here */     \
    X (DENIED, 11, "denied") /* exclusive: no leave to start, or nobody here can get it */

/* Why a client cancels a copy. Numbers are those of the wire. */
#define TIED_CANCEL_MAP(X)                                                                         \
    X (WON, 1, "won")           /* another copy answered */                                        \
    X (DEADLINE, 2, "deadline") /* the call's time ran out */                                      \
    X (CALLER, 3, "caller")     /* the application gave up */

/* Why a copy that the mode provides for was not sent. */
#define TIED_NOT_SENT_MAP(X)                                                                       \
    X (NONE, 0, "none")                     /* every copy was sent */                              \
    X (NOT_IDEMPOTENT, 1, "not_idempotent") /* undeclared: one copy only */                        \
    X (NO_SIBLING, 2, "no_sibling")         /* no usable instance without a copy of the call */    \
    X (ANSWERED, 3, "answered")             /* the call ended before the copy was due */           \
    X (DEADLINE_NEAR, 4, "deadline_near")   /* less than min_remaining was left */                 \
    X (LINK_DOWN, 5, "link_down")           /* its replica was lost, or the pipe there is full */  \
    X (COPIES_MAX, 6, "copies_max")         /* copies_max leaves no room for it */                 \
    X (BUDGET, 7, "budget")                 /* the method's extra_load is used up */               \
    X (GOVERNOR, 8, "governor")             /* extra copies do harm or do not pay just now */      \
    X (COLD, 9, "cold")                     /* too few samples yet, and no delay for that case */  \
    X (NO_BENEFIT, 10, "no_benefit")        /* a copy sent then would not be done sooner */        \
    X (CANARY, 11, "canary")                /* not among the share of calls that may */            \
    X (SHADOW, 12, "shadow")                /* would have been sent: shadow mode sends nothing */  \
    X (CHAIN_STOP, 13, "chain_stop")        /* made inside a call that had extra copies itself */  \
    X (OFF, 14, "off")                      /* the kill switch */

#define TIED_GOVERNOR_STATE_MAP(X)                                                                 \
    X (OPEN, 0, "open")                                                                            \
    X (STOPPED, 1, "stopped")                                                                      \
    X (PROBING, 2, "probing")

/* Why the governor stopped extra copies. */
#define TIED_GOVERNOR_REASON_MAP(X)                                                                \
    X (NONE, 0, "none")                                                                            \
    X (REJECTIONS, 1, "rejections") /* too many of them are refused */                             \
    X (DEPTH, 2, "depth")           /* queues are long everywhere */                               \
    X (ERRORS, 3, "errors")         /* too many calls end with an application error */             \
    X (DUPLICATES, 4, "duplicates") /* too many tied calls run twice */                            \
    X (NO_GAIN, 5, "no_gain")       /* hedges win too rarely */

/* What became of a copy that was sent, as its client sees it. */
#define TIED_COPY_MAP(X)                                                                           \
    X (IN_FLIGHT, 0, "in_flight")                                                                  \
    X (WON, 1, "won")             /* its reply ended the call */                                   \
    X (LOST_RACE, 2, "lost_race") /* another copy answered first */                                \
    X (REJECTED, 3, "rejected")                                                                    \
    X (LOST, 4, "lost")           /* its replica or link was lost */                               \
    X (ABANDONED, 5, "abandoned") /* the call ended by deadline or by the caller */

#define TIED_ENUM_(prefix, name, value)               TIED_##prefix##_##name = (value),
#define TIED_ENUM_MODE_(name, value, text)            TIED_ENUM_ (MODE, name, value)
#define TIED_ENUM_OUTCOME_(name, value, text)         TIED_ENUM_ (OUTCOME, name, value)
#define TIED_ENUM_REJECT_(name, value, text)          TIED_ENUM_ (REJECT, name, value)
#define TIED_ENUM_CANCEL_(name, value, text)          TIED_ENUM_ (CANCEL, name, value)
#define TIED_ENUM_NOT_SENT_(name, value, text)        TIED_ENUM_ (NOT_SENT, name, value)
#define TIED_ENUM_COPY_(name, value, text)            TIED_ENUM_ (COPY, name, value)
#define TIED_ENUM_GOVERNOR_STATE_(name, value, text)  TIED_ENUM_ (GOVERNOR, name, value)
#define TIED_ENUM_GOVERNOR_REASON_(name, value, text) TIED_ENUM_ (GOVERNOR_REASON, name, value)
enum tied_mode {
    TIED_MODE_MAP (TIED_ENUM_MODE_)
};
enum tied_outcome {
    TIED_OUTCOME_MAP (TIED_ENUM_OUTCOME_) TIED_OUTCOME_COUNT
};
enum tied_reject {
    TIED_REJECT_NONE = 0,
    TIED_REJECT_MAP (TIED_ENUM_REJECT_) TIED_REJECT_COUNT
};
enum tied_cancel {
    TIED_CANCEL_NONE = 0,
    TIED_CANCEL_MAP (TIED_ENUM_CANCEL_) TIED_CANCEL_COUNT
};
enum tied_not_sent {
    TIED_NOT_SENT_MAP (TIED_ENUM_NOT_SENT_) TIED_NOT_SENT_COUNT
};
enum tied_governor_state {
    TIED_GOVERNOR_STATE_MAP (TIED_ENUM_GOVERNOR_STATE_)
};
enum tied_governor_reason {
    TIED_GOVERNOR_REASON_MAP (TIED_ENUM_GOVERNOR_REASON_) TIED_GOVERNOR_REASON_COUNT
};
enum tied_copy_fate {
    TIED_COPY_MAP (TIED_ENUM_COPY_) TIED_COPY_COUNT
};
#undef TIED_ENUM_
#undef TIED_ENUM_MODE_
#undef TIED_ENUM_OUTCOME_
#undef TIED_ENUM_REJECT_
#undef TIED_ENUM_CANCEL_
#undef TIED_ENUM_NOT_SENT_
#undef TIED_ENUM_COPY_
#undef TIED_ENUM_GOVERNOR_STATE_
#undef TIED_ENUM_GOVERNOR_REASON_

/**
 * Printed name of a value, as used in JSON and logs ("app_error"); "?" for a value outside the
 * list.
 *
 * @return a static string, never NULL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT const char *tied_mode_name (int mode);
TIED_EXPORT const char *tied_outcome_name (int outcome);
TIED_EXPORT const char *tied_reject_name (int reason);
TIED_EXPORT const char *tied_cancel_name (int reason);
TIED_EXPORT const char *tied_not_sent_name (int reason);
TIED_EXPORT const char *tied_governor_state_name (int state);
TIED_EXPORT const char *tied_governor_reason_name (int reason);
TIED_EXPORT const char *tied_copy_fate_name (int fate);

/**
 * Version of the library that is linked, as opposed to the header that was compiled.
 *
 * @param major,minor,patch  written if not NULL
 *
 * Ownership: none transferred.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT void tied_version (int *major, int *minor, int *patch);

TIED_END_DECLS

#endif
