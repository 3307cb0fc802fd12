/* SPDX-License-Identifier: MIT */
/*
 * The client side of the protocol as a value: a call's copies, stagger, deadline, winner, re-issue,
 * choice of replicas, and what is known of each replica (state, load, delay).
 *
 * Shape and rules as replica_core.h: one event in, actions out, a deadline; one owner at a time.
 * The core never sees bodies or method names: a call is a token that the driver chose, and the
 * driver keeps the bytes until COMPLETE.
 */
#ifndef TIED_CLIENT_CORE_H
#define TIED_CLIENT_CORE_H

#include <tied/error.h>
#include <tied/policy.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

typedef struct tied_client_core tied_client_core_t;

#define TIED_NO_REPLICA UINT32_MAX
/* hedge_ns: no hedge, which a struct full of zeros says too; or one together with the first copy,
 * in the same step unless that has much other work. */
#define TIED_HEDGE_NONE 0u
#define TIED_HEDGE_NOW  1u
/* mode, stagger_ns, hedge_ns: as the settings of the call's method say. */
#define TIED_MODE_POLICY    255u
#define TIED_STAGGER_POLICY (UINT64_MAX - 1)
#define TIED_HEDGE_POLICY   (UINT64_MAX - 1)
/* Copies that one call may have at most, whatever the options say. */
#define TIED_COPIES_MAX 8

enum tied_pick {
    TIED_PICK_INFORMED = 0, /* the least loaded of pick_samples, or the two least loaded, lighter
                               one first; with pick_samples 2 this is the power of two choices
                               (Mitzenmacher, 2001) */
    TIED_PICK_RANDOM = 1,
    TIED_PICK_ROUND_ROBIN = 2, /* the next usable one in order of index; of a pair that is the
                                 first, and the one after it the second. Each client begins
                                 elsewhere, as its seed says */
    TIED_PICK_AFFINITY = 3     /* by the call's key: the same replica for the same key, from every
                                  client, and another one as second; a replica that leaves moves its
                                  own keys only (rendezvous hashing; Thaler and Ravishankar, 1998).
                                  Load plays no part. A call without a key: INFORMED */
};

struct tied_client_core_options {
    size_t struct_size;          /* set by tied_client_core_options_init () */
    uint64_t epoch;              /* random, not 0: first half of every call id */
    uint64_t first_sequence;     /* default 0; the sequence wraps through all of u64 */
    uint64_t seed;               /* of the generator for choices; any value */
    uint32_t calls_max;          /* [1, 1 << 20] calls at once; default 1024 */
    uint32_t replicas_max;       /* [1, 4096] replica indices; default 64 */
    uint32_t copies_max;         /* [1, TIED_COPIES_MAX] copies per call, first ones and
                                    re-issues together; default 4. There must be room for a
                                    re-issue: below 3 no call is tied or hedged, and at 3
                                    a tied call has no hedge */
    uint32_t pick;               /* enum tied_pick; default INFORMED */
    uint32_t probation_milli;    /* 0: off (default), or [1500, 1 000 000]: a replica whose answers
                                    take so many thousandths of the median of all, or that fails
                                    half of its copies, is spared: it gets a probe now and then,
                                    and comes back slowly. At most half of them are spared */
    uint32_t pick_samples;       /* [2, 64] replicas looked at per choice; default 16 */
    tied_duration_t load_age_ns; /* [1 ms, 1 h] a load report counts as the mean of all
                                    replicas after this; until then it fades linearly;
                                    default 100 ms */
    /* TIED_STAGGER_AUTO: the mean way to the slower replica and back (PINGs, and calls less their
       time at the replica) plus 4 mean deviations, as RFC 6298 bounds a round trip; or, if that is
       more, 4 times the root of deviation x mean service time / (usable replicas - 1). */
    tied_duration_t stagger_floor_ns;   /* [0, ceiling]; default 200 us */
    tied_duration_t stagger_ceiling_ns; /* [floor, 10 s]; default 10 ms */
    tied_duration_t stagger_initial_ns; /* [floor, ceiling] at least so long while one of the two
                                           ways is not measured; default 1 ms */
    tied_duration_t min_remaining_ns; /* [0, 1 h] no further copy with less time left; default 0 */
    tied_duration_t heartbeat_ns;     /* [1 ms, 1 h] between PINGs to a replica; default 200 ms */
    uint32_t heartbeat_misses;        /* [1, 100] silent intervals until a replica is suspect;
                                         default 3 */
    uint32_t methods_max;             /* [1, 1024] methods with settings of their own, number 0
                                         among them; default 1; each takes about 160 KB */
    tied_duration_t learn_ns;         /* 0, or [10 ms, 1 h]: window of what is learned of a method's
                                         calls (Kaplan and Meier's estimate, as losers of a race are
                                         censored); 0: nothing is, and a hedge rule that needs to know
                                         has its hedge_initial_ns for ever; default 10 s */
};

/* X (name). Identity of copies: copies_sent = copies_won + copies_lost_race + copies_failed +
 * copies_rejected + copies_lost + copies_abandoned + copies in flight = copies_primary +
 * copies_tied + copies_hedged + copies_reissued. Of calls: submitted = sum of calls_* + live. A
 * call counts in not_sent_* once for copy 1 and once for its hedge. */
#define TIED_CLIENT_COUNTER_MAP(X)                                                                 \
    X (submitted)                                                                                  \
    X (calls_ok)                                                                                   \
    X (calls_app_error)                                                                            \
    X (calls_rejected)                                                                             \
    X (calls_deadline)                                                                             \
    X (calls_cancelled)                                                                            \
    X (calls_unavailable)                                                                          \
    X (calls_unimplemented)                                                                        \
    X (calls_invalid)                                                                              \
    X (copies_sent)                                                                                \
    X (copies_primary)  /* of those, number 0 */                                                   \
    X (copies_tied)     /* number 1 of a tied pair */                                              \
    X (copies_hedged)   /* sent because the others were slow, or instead of a re-issue */          \
    X (copies_reissued) /* after a loss, the last try after refusals, or at the sibling because    \
                           copy 0 had failed before copy 1 was sent */                             \
    X (copies_won)                                                                                 \
    X (copies_lost_race)                                                                           \
    X (copies_failed) /* answered with an error for which the call waits for another copy */       \
    X (copies_rejected)                                                                            \
    X (copies_lost)                                                                                \
    X (copies_abandoned)                                                                           \
    X (wins_tied)       /* calls that copy 1 won */                                                \
    X (wins_hedged)     /* calls that a hedge won */                                               \
    X (duplicates)      /* replies that say, or late replies that show, that two copies ran; not   \
                           what was sent because one had failed */                                 \
    X (late_replies)    /* for a call of this client that has ended */                             \
    X (foreign_replies) /* with another epoch, or from a replica that has no such copy */          \
    X (late_rejects)                                                                               \
    X (cancels_sent)                                                                               \
    X (not_sent_not_idempotent)                                                                    \
    X (not_sent_no_sibling)                                                                        \
    X (not_sent_answered)                                                                          \
    X (not_sent_deadline_near)                                                                     \
    X (not_sent_link_down)                                                                         \
    X (not_sent_copies_max)                                                                        \
    X (not_sent_budget)                                                                            \
    X (not_sent_governor)                                                                          \
    X (not_sent_cold)                                                                              \
    X (not_sent_no_benefit)                                                                        \
    X (not_sent_canary)                                                                            \
    X (not_sent_shadow)                                                                            \
    X (not_sent_chain_stop)                                                                        \
    X (not_sent_off)                                                                               \
    X (replicas_lost)     /* link lost, restarted under us, or suspect */                          \
    X (replicas_misnamed) /* WELCOME carries another id than configured */

struct tied_client_counters {
#define TIED_CLIENT_COUNTER_FIELD_(name) uint64_t name;
    TIED_CLIENT_COUNTER_MAP (TIED_CLIENT_COUNTER_FIELD_)
#undef TIED_CLIENT_COUNTER_FIELD_
};

/* Of one method. X (name) */
#define TIED_METHOD_COUNTER_MAP(X)                                                                 \
    X (calls)                                                                                      \
    X (eligible) /* of those, allowed to have extra copies by declaration */                       \
    X (tied)     /* calls of which both copies of a tie were sent */                               \
    X (hedged)   /* calls whose hedge was sent */                                                  \
    X (hedges_won)                                                                                 \
    X (relieved)      /* of the hedged: because a copy was known to run for long */                \
    X (duplicates)    /* tied calls that ran twice */                                              \
    X (extra_copies)  /* sent beyond the first of each call */                                     \
    X (extra_refused) /* of those, refused by their replica */                                     \
    X (shadow_tied)   /* what would have been sent, had is_shadow been off */                      \
    X (shadow_hedged)                                                                              \
    X (shadow_won) /* of those: the call was answered later than the median call would have been   \
                    */                                                                             \
    X (shadow_saved_us) /* expected to be saved by those hedges, together, microseconds */

struct tied_method_counters {
#define TIED_METHOD_COUNTER_FIELD_(name) uint64_t name;
    TIED_METHOD_COUNTER_MAP (TIED_METHOD_COUNTER_FIELD_)
#undef TIED_METHOD_COUNTER_FIELD_
    uint64_t not_sent[TIED_NOT_SENT_COUNT]; /* tied copies and hedges, by reason */
};

/* A method as the client core knows it. */
struct tied_client_method {
    struct tied_method_counters counters;
    uint64_t samples;             /* calls in the window whose end was seen */
    tied_duration_t hedge_ns;     /* delay in use; TIED_NEVER: none, because of hedge_reason */
    tied_duration_t relief_ns;    /* auto: who is known to run for so long is hedged as well;
                                     TIED_NEVER: that would relieve nobody */
    uint32_t hedge_reason;        /* enum tied_not_sent */
    uint32_t hedge_share_ppm;     /* of the calls pending at hedge_ns that are hedged */
    uint32_t target_ppm;          /* the percentile that the next four speak of: the
                                     policy's, or a lower one that auto can move */
    tied_duration_t without_ns;   /* without hedges, estimated; TIED_NEVER: not known */
    tied_duration_t predicted_ns; /* with the hedges that auto has planned; TIED_NEVER: no plan */
    tied_duration_t achieved_ns;  /* what calls took in fact; TIED_NEVER: not known */
    int64_t budget_milli;         /* thousandths of a copy saved up; below 0: overdrawn */
    uint32_t governor_state;      /* enum tied_governor_state */
    uint32_t governor_reason;     /* enum tied_governor_reason, of the last stop */
    uint64_t governor_stops;
};

enum tied_client_event_type {
    TIED_CLIENT_EV_SUBMIT = 1,
    TIED_CLIENT_EV_CANCEL, /* the application gives up a call */
    TIED_CLIENT_EV_REPLY,
    TIED_CLIENT_EV_REJECT,
    TIED_CLIENT_EV_LINK_UP, /* the link to a replica can be written */
    TIED_CLIENT_EV_LINK_DOWN,
    TIED_CLIENT_EV_WELCOME,
    TIED_CLIENT_EV_PONG,
    TIED_CLIENT_EV_SEND_FAILED, /* an action SEND_REQUEST could not be sent */
    TIED_CLIENT_EV_STOP,        /* complete every call as CANCELLED, take no more */
    TIED_CLIENT_EV_TIMEOUT
};

struct tied_client_submit {
    uint32_t token;             /* [0, calls_max), not in use: the driver's number for the call */
    uint32_t method;            /* [0, methods_max): whose settings, estimates and budget */
    uint32_t mode;              /* enum tied_mode, or TIED_MODE_POLICY */
    bool is_idempotent;         /* declared safe to run more than once; so may its method be */
    bool is_inner;              /* made while another call is handled: never hedged (chain stop) */
    uint64_t affinity;          /* AFFINITY: the key, or a hash of it; 0: none */
    uint8_t copies_max;         /* [0, TIED_COPIES_MAX] most copies of this call, fewer than the
                                   options say; 0: no limit of its own */
    tied_time_t deadline;       /* absolute; TIED_NEVER: none. In the past: DEADLINE at once */
    tied_duration_t stagger_ns; /* TIED_STAGGER_AUTO, TIED_STAGGER_POLICY, or [0, 1 h] */
    /*
     * A call that is still pending so long after its first copy was sent gets one more, the hedge:
     * untied, to an instance without a live copy of the call, in both modes, if it is idempotent
     * and copies_max has room for a re-issue besides. If all other copies are refused or lost
     * before, it goes out at once in place of the last try or the re-issue.
     * TIED_HEDGE_NONE or TIED_NEVER: none; TIED_HEDGE_NOW; a delay up to 1 h; or TIED_HEDGE_POLICY.
     * Each takes a token of the method's budget.
     */
    tied_duration_t hedge_ns;
};

struct tied_client_event {
    enum tied_client_event_type type;
    uint32_t replica; /* REPLY, REJECT, LINK_*, WELCOME, PONG, SEND_FAILED */
    union {
        struct tied_client_submit submit;
        struct {
            struct tied_call_id call;
        } cancel;
        struct {
            struct tied_call_id call;
            uint8_t copy;
            uint32_t status;
            uint32_t flags; /* enum tied_reply_flag */
            tied_duration_t queue_ns;
            tied_duration_t service_ns;
            struct tied_load load;
        } reply;
        struct {
            struct tied_call_id call;
            uint8_t copy;
            uint8_t reason; /* as on the wire */
            bool is_local;  /* the driver refuses its own SEND_REQUEST, which it has not sent: no
                               sign of life of the replica, load is not looked at */
            struct tied_load load;
        } reject;
        struct {
            uint64_t incarnation;
            tied_time_t echo; /* time of the HELLO that it answers */
            bool id_matches;  /* the id is the configured one */
            uint32_t modes;   /* as on the wire */
            struct tied_load load;
        } welcome;
        struct {
            tied_time_t echo; /* time of the PING that it answers */
            struct tied_load load;
        } pong;
        struct {
            struct tied_call_id call;
            uint8_t copy;
        } send_failed;
    } u;
};

enum tied_client_action_type {
    TIED_CLIENT_ACT_ACCEPTED = 1, /* token has this call id; first action of its SUBMIT */
    TIED_CLIENT_ACT_SEND_REQUEST,
    TIED_CLIENT_ACT_SEND_CANCEL,
    TIED_CLIENT_ACT_SEND_HELLO,
    TIED_CLIENT_ACT_SEND_PING,
    TIED_CLIENT_ACT_KEEP_REPLY, /* the body of the REPLY of this step may become the call's answer:
                                   keep it, instead of one that was kept before */
    TIED_CLIENT_ACT_COMPLETE    /* the call has ended; token may be used again once this action
                                   has been taken */
};

struct tied_client_completion {
    uint32_t outcome;        /* enum tied_outcome */
    uint32_t status;         /* APP_ERROR: the application's number; else 0 */
    uint32_t reject;         /* REJECTED, UNIMPLEMENTED: reason of the first refusal; else 0 */
    uint32_t not_sent;       /* enum tied_not_sent: why the mode's copy 1 was not sent */
    uint32_t hedge_not_sent; /* enum tied_not_sent: why the hedge that was asked for was not */
    uint32_t copies_sent;
    uint32_t winner; /* replica index, TIED_NO_REPLICA if none answered */
    uint8_t winner_copy;
    bool may_have_executed; /* false: definitely not; decides whether a caller may try again */
    bool both_ran;          /* the reply says that the sibling had started too */
    bool is_kept;           /* the answer is the reply that KEEP_REPLY spoke of */
    tied_duration_t queue_ns, service_ns; /* as the winner reports */
    tied_duration_t latency_ns;           /* submit to completion */
    tied_duration_t stagger_ns;           /* the one used; 0 in single mode */
};

struct tied_client_action {
    enum tied_client_action_type type;
    uint32_t token;   /* ACCEPTED, SEND_REQUEST, KEEP_REPLY, COMPLETE */
    uint32_t replica; /* SEND_* */
    struct tied_call_id call;
    union {
        struct {
            uint8_t copy;
            uint32_t flags;               /* enum tied_request_flag */
            uint32_t sibling;             /* replica index, TIED_NO_REPLICA if none */
            uint64_t incarnation;         /* of the replica it goes to */
            uint64_t sibling_incarnation; /* 0 if none */
            tied_duration_t remaining_ns; /* TIED_NEVER: none */
            uint8_t attempts_left;
        } request;
        struct {
            uint8_t reason; /* enum tied_cancel */
        } cancel;
        struct {
            tied_time_t time; /* HELLO, PING: to be echoed */
        } probe;
        struct tied_client_completion completion;
    } u;
};

/* A replica as the client knows it. */
enum tied_replica_state {
    TIED_REPLICA_DOWN = 0,    /* no link */
    TIED_REPLICA_GREETED = 1, /* link up, HELLO sent, no WELCOME yet */
    TIED_REPLICA_UP = 2,
    TIED_REPLICA_SUSPECT = 3, /* link up, but silent for heartbeat_misses intervals */
    TIED_REPLICA_MISNAMED = 4 /* it calls itself by another id: never used */
};

/* How a replica's answers compare with those of the others; WELL if probation is off. */
enum tied_replica_health {
    TIED_HEALTH_WELL = 0,
    TIED_HEALTH_PROBATION = 1, /* slow or failing: it gets probes */
    TIED_HEALTH_RAMP = 2       /* it comes back: gets a share that rises to all */
};

struct tied_client_replica {
    uint32_t state;  /* enum tied_replica_state */
    uint32_t health; /* enum tied_replica_health */
    uint32_t zone;   /* 0: not known */
    uint64_t incarnation;
    struct tied_load load;         /* last report */
    tied_time_t load_at;           /* when it came; 0: never */
    uint32_t in_flight;            /* own copies without an answer */
    tied_duration_t round_trip_ns; /* smoothed PING round trip; 0: not measured yet */
};

/* The functions below have the contracts of their namesakes in replica_core.h. */
TIED_EXPORT void tied_client_core_options_init (struct tied_client_core_options *options);
TIED_EXPORT TIED_NODISCARD int
tied_client_core_options_check (const struct tied_client_core_options *options,
                                const char **out_field);
TIED_EXPORT size_t tied_client_core_size (const struct tied_client_core_options *options);
TIED_EXPORT TIED_NODISCARD tied_client_core_t *
tied_client_core_init (void *memory, size_t size, const struct tied_client_core_options *options);

/**
 * Add the next replica; indices count from 0 in the order of addition. It starts DOWN.
 *
 * @return its index (>= 0), TIED_ERR_FULL (replicas_max)
 *
 * Ownership: none transferred.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_core_add_replica (tied_client_core_t *self);

/**
 * Say where a replica is: of a call's two copies, and of its hedge and its first copy, they are
 * rather in two zones. Without any zone this costs nothing.
 *
 * @param zone  0: not known
 * @return 0, TIED_ERR_INVAL (no such index)
 *
 * Ownership: none transferred.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_core_set_zone (tied_client_core_t *self, uint32_t replica, uint32_t zone);

/**
 * Give a replica the identity by which AFFINITY knows it: a hash of its id, so that all clients
 * agree, in whatever order they were told of the replicas. Default: its index.
 *
 * @return 0, TIED_ERR_INVAL (no such index)
 *
 * Ownership: none transferred.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int
tied_client_core_set_identity (tied_client_core_t *self, uint32_t replica, uint64_t identity);

/**
 * Feed one event; rules as tied_replica_core_step ().
 *
 * @return 0; TIED_ERR_INVAL (argument out of range, token in use); TIED_ERR_STATE (SUBMIT after
 * STOP); TIED_ERR_ABSENT (CANCEL of a call that has ended or never was: harmless)
 *
 * Ownership: borrows.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: no state changed, no action made.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_core_step (tied_client_core_t *self,
                                                      const struct tied_client_event *event,
                                                      tied_time_t now);
TIED_EXPORT const struct tied_client_action *tied_client_core_next (tied_client_core_t *self);
TIED_EXPORT tied_time_t tied_client_core_deadline (const tied_client_core_t *self);

/* Queries. Contract of each: thread owner, never block, cannot fail, nothing transferred. */
TIED_EXPORT const struct tied_client_counters *
tied_client_core_counters (const tied_client_core_t *self);
TIED_EXPORT uint32_t tied_client_core_live_calls (const tied_client_core_t *self);
TIED_EXPORT uint32_t tied_client_core_copies_in_flight (const tied_client_core_t *self);
/* @return 0, TIED_ERR_INVAL (no such index); *out is written on success only. */
TIED_EXPORT TIED_NODISCARD int tied_client_core_replica (const tied_client_core_t *self,
                                                         uint32_t replica,
                                                         struct tied_client_replica *out);

/**
 * Give a method other settings. They hold for calls that are submitted from now on; a delay that
 * follows from the settings also for the hedges that are due later.
 *
 * @param method  [0, methods_max); 0 is what calls get that name no method
 * @param policy  copied
 * @return 0; TIED_ERR_INVAL (no such method, or a bad field: ask tied_policy_check ())
 *
 * Ownership: borrows.
 * Thread: owner.
 * Blocking: never.
 * Callback-safe: there are no callbacks.
 * On error: nothing changed.
 */
TIED_EXPORT TIED_NODISCARD int tied_client_core_set_policy (tied_client_core_t *self,
                                                            uint32_t method,
                                                            const struct tied_policy *policy);
/* NULL: no such method. Lives as long as the core, and changes with tied_client_core_set_policy. */
TIED_EXPORT const struct tied_policy *tied_client_core_policy (const tied_client_core_t *self,
                                                               uint32_t method);
/* @return 0, TIED_ERR_INVAL (no such method); *out is written on success only. Takes time in the
 * size of a histogram: some microseconds. */
TIED_EXPORT TIED_NODISCARD int tied_client_core_method (const tied_client_core_t *self,
                                                        uint32_t method,
                                                        struct tied_client_method *out);
TIED_EXPORT void tied_client_core_check (const tied_client_core_t *self);
TIED_EXPORT uint64_t tied_client_core_hash (const tied_client_core_t *self);

TIED_END_DECLS

#endif
