/* SPDX-License-Identifier: MIT */
/*
 * The client core's one block: the struct, its arrays by distance, and the few steps that every
 * part shares. Internal to client_*.c.
 *
 * Invariants (tied_client_core_check):
 * 1. a token is live exactly if the slot of its sequence names it;
 * 2. every live copy is in its replica's list, or in the doomed list if its generation is old;
 * 3. a replica's in_flight is the length of its list; copies_in_flight is the sum of all;
 * 4. a waiting call has no live copy but a doubtful one (ti_race_is_certain); a live call that does
 *    not wait has one that is certain, or a doubtful one and a deadline, which was near;
 * 5. `due` holds a call while it has a deadline, a planned copy 1, or, if it does not wait, a
 *    planned hedge or a time to look whether it runs for long (ti_client_due); `beats` a replica
 *    while it has a link and is not misnamed;
 * 6. the list of usable replicas holds exactly those that are UP and not avoided.
 */
#ifndef TI_CLIENT_STATE_H
#define TI_CLIENT_STATE_H

#include <tied/client_core.h>
#include <tied/wire.h>

#include "base/assert.h"
#include "base/heap.h"
#include "base/links.h"
#include "base/prng.h"
#include "base/util.h"
#include "core/delay.h"
#include "core/load.h"
#include "core/method.h"
#include "core/pick.h"
#include "core/race.h"
#include "core/stagger.h"

#define TI_NO_TOKEN UINT32_MAX
#define TI_NO_COPY  UINT8_MAX

/* Most actions that handling one call can make: COMPLETE and a CANCEL per copy, with a margin. */
#define TI_CALL_ACTIONS_MAX (TIED_COPIES_MAX + 4u)
/* An event handles at most two calls' worth, then due work goes on while one more fits. */
#define TI_ACTIONS_MAX 64u
/* Units of due work per step; the rest is left for the next one. */
#define TI_WORK_MAX 32u
/* Tokens looked at per step while stopping. */
#define TI_SWEEP_MAX 1024u

struct ti_call {
    uint64_t sequence;
    tied_time_t submitted;
    tied_time_t deadline;
    tied_time_t stagger_due;    /* valid while copy 1 is planned */
    tied_duration_t stagger_ns; /* asked for, TIED_STAGGER_AUTO included; then the one used */
    tied_time_t hedge_due;      /* valid while the hedge is planned and a copy was sent */
    tied_duration_t hedge_ns;   /* 0: at once */
    tied_time_t relief_due;     /* when to look whether it has run for long; TIED_NEVER: not */
    tied_time_t first_sent;     /* copy 0 */
    uint64_t affinity;          /* key; 0: none */
    uint64_t sibling_instance;  /* incarnation named in copy 0's header */
    uint32_t sibling;           /* replica of copy 1, valid while it is planned */
    uint16_t method;
    uint8_t hedge_tries;    /* refused as a duplicate so often */
    uint8_t mode;           /* enum tied_mode */
    uint8_t kept_copy;      /* whose error was kept; TI_NO_COPY: none */
    uint8_t not_sent;       /* enum tied_not_sent */
    uint8_t hedge_not_sent; /* enum tied_not_sent */
    uint8_t hedge_against;  /* the same: why its latency asks for none; its run may yet */
    bool is_hedge_unpaid;   /* was refused by the budget, and is asked for again */
    bool may_relieve;       /* a hedge may go because it runs for long */
    bool is_relieved;       /* it did */
    bool is_shadowed;       /* a hedge would have gone at hedge_due */
    bool is_live;
    bool is_waiting;
    struct ti_race race;
};

struct ti_copy {
    uint64_t incarnation; /* of the replica it went to */
    uint32_t replica;
    uint32_t generation; /* of the replica when it was sent */
    tied_time_t sent;    /* when */
};

/* A call sequence -> its token while live; then, until the slot is used again, what ran. */
struct ti_slot {
    uint64_t sequence;
    uint32_t token; /* TI_NO_TOKEN: ended or never used */
    uint16_t method;
    uint8_t ran_copy; /* a copy known to have run, TI_NO_COPY: none */
    bool is_used : 1;
    bool both_ran : 1; /* a duplicate was counted */
};

struct tied_client_core {
    struct tied_client_core_options options;
    struct tied_client_counters counters;
    struct ti_prng prng;
    struct ti_load_scale scale;
    struct ti_load_mean mean;
    struct ti_stagger stagger;
    tied_time_t now;
    uint64_t next_sequence;
    uint32_t slot_mask;
    uint32_t stride; /* copy records per call */
    uint32_t replica_count;
    uint32_t usable_count;
    uint32_t live_calls;
    uint32_t copies_in_flight;
    uint32_t stop_cursor; /* next token to complete while stopping */
    uint32_t turn;        /* round robin: replica index to begin at */
    uint32_t action_count;
    uint32_t actions_taken;
    bool is_stopped;
    bool is_placing; /* a replica can take waiting calls */
    bool has_zones;  /* some replica has one */
    size_t calls;    /* ti_call [calls_max], by token */
    size_t copies;   /* ti_copy [calls_max x stride] */
    size_t slots;    /* ti_slot [slot_mask + 1] */
    size_t replicas; /* ti_replica [replicas_max] */
    size_t usable;   /* u32 [replicas_max] */
    size_t links;    /* ti_link [copies + replicas + calls + 2] */
    size_t methods;  /* methods_max times ti_method and its arrays */
    size_t method_size;
    size_t scratch; /* ti_method_scratch, if anything is learned */
    size_t kept;    /* tied_client_event [calls_max]: the error that was kept, by token */
    size_t health;  /* ti_health and its array, if probation is on */
    /* Two heaps: calls come and go at the front of a small one, and never pass the heartbeats. */
    struct ti_heap due;   /* of calls, by token */
    struct ti_heap beats; /* of replicas: the next heartbeat */
    struct tied_client_action actions[TI_ACTIONS_MAX];
};

typedef struct tied_client_core ti_core;

static inline struct ti_call *ti_call_at (ti_core *self, uint32_t token)
{
    return TI_AT (struct ti_call, self, self->calls) + token;
}

static inline struct ti_copy *ti_copy_at (ti_core *self, uint32_t token, uint8_t copy)
{
    return TI_AT (struct ti_copy, self, self->copies) + (size_t)token * self->stride + copy;
}

static inline struct ti_slot *ti_slot_at (ti_core *self, uint64_t sequence)
{
    return TI_AT (struct ti_slot, self, self->slots) + (sequence & self->slot_mask);
}

static inline struct ti_replica *ti_replica_at (ti_core *self, uint32_t replica)
{
    return TI_AT (struct ti_replica, self, self->replicas) + replica;
}

/* Only if probation is on. */
static inline struct ti_health *ti_health_of (ti_core *self)
{
    return TI_AT (struct ti_health, self, self->health);
}

static inline struct ti_method *ti_method_at (ti_core *self, uint32_t method)
{
    return TI_AT (struct ti_method, self, self->methods + method * self->method_size);
}

static inline const struct ti_method *ti_method_at_const (const ti_core *self, uint32_t method)
{
    return TI_AT_CONST (struct ti_method, self, self->methods + method * self->method_size);
}

static inline struct ti_link *ti_links_of (ti_core *self)
{
    return TI_AT (struct ti_link, self, self->links);
}

/* Nodes of the links array: copies, replicas' lists, calls, and the two single lists. */
static inline uint32_t ti_copy_node (const ti_core *self, uint32_t token, uint8_t copy)
{
    return token * self->stride + copy;
}

static inline uint32_t ti_replica_list (const ti_core *self, uint32_t replica)
{
    return self->options.calls_max * self->stride + replica;
}

static inline uint32_t ti_call_node (const ti_core *self, uint32_t token)
{
    return self->options.calls_max * self->stride + self->options.replicas_max + token;
}

static inline uint32_t ti_doomed_list (const ti_core *self)
{
    return self->options.calls_max * (self->stride + 1) + self->options.replicas_max;
}

static inline uint32_t ti_waiting_list (const ti_core *self)
{
    return ti_doomed_list (self) + 1;
}

static inline struct tied_client_action *ti_emit (ti_core *self, enum tied_client_action_type type)
{
    TI_ASSERT (self->action_count < TI_ACTIONS_MAX);
    struct tied_client_action *action = &self->actions[self->action_count++];
    action->type = type;
    action->token = TI_NO_TOKEN;
    action->replica = TIED_NO_REPLICA;
    return action;
}

static inline struct tied_call_id ti_call_id (const ti_core *self, const struct ti_call *call)
{
    return (struct tied_call_id){self->options.epoch, call->sequence};
}

/* When the call next needs a look: the next of its stagger, its hedge delay and its deadline. A
 * call that waits for a replica sends as soon as there is one, so its hedge has no time. */
static inline tied_time_t ti_client_due (const struct ti_call *call)
{
    tied_time_t due = call->deadline;
    if (call->race.is_planned)
        due = ti_min (due, call->stagger_due);
    if (call->race.is_hedge_planned && !call->is_waiting)
        due = ti_min (due, call->hedge_due);
    if (!call->is_waiting)
        due = ti_min (due, call->relief_due);
    return due;
}

/* A further call can be handled in this step. */
static inline bool ti_has_room (const ti_core *self)
{
    return self->action_count + TI_CALL_ACTIONS_MAX <= TI_ACTIONS_MAX;
}

/* Flags of every copy of a call, besides what its number says. */
static inline uint32_t ti_mode_flags (const struct ti_call *call, uint32_t flags)
{
    if (call->race.is_exclusive)
        return TIED_REQUEST_EXCLUSIVE;
    return call->mode == TIED_MODE_PARK && (flags & TIED_REQUEST_TIED) ? TIED_REQUEST_PARK : 0;
}

/* The call's mode asks for a pair of copies. */
static inline bool ti_is_pair (const struct ti_call *call)
{
    return call->mode != TIED_MODE_SINGLE;
}

/* client_calls.c: a call's planned life. Tokens are of live calls unless said otherwise. */
void ti_client_submit (ti_core *self, const struct tied_client_submit *submit);
/* First copies of a call that has none; a replica is usable. */
void ti_client_start (ti_core *self, uint32_t token);
void ti_client_cancel (ti_core *self, uint32_t token);
void ti_client_timer (ti_core *self, uint32_t token);
/* The deadline has passed. */
void ti_client_expire (ti_core *self, uint32_t token);
/* Until a replica can take a further copy or the deadline passes; no copy is certain. */
void ti_client_wait (ti_core *self, uint32_t token);
void ti_client_stop_waiting (ti_core *self, uint32_t token);
/* Set the call's one entry in `due` (ti_client_due). */
void ti_client_schedule (ti_core *self, uint32_t token);
struct ti_pick ti_client_picker (ti_core *self, const struct ti_call *call);
bool ti_client_is_deadline_near (const ti_core *self, const struct ti_call *call);
void ti_client_send_copy (ti_core *self,
                          uint32_t token,
                          uint8_t copy,
                          uint32_t replica,
                          uint32_t flags,
                          uint32_t sibling);
/* The planned copy 1, tied or, if is_alone, as the only one. Returns whether it was sent. */
bool ti_client_send_sibling (ti_core *self, uint32_t token, bool is_alone);

/* client_answer.c: a reply ends its call, or is an error that waits for the other copies. */
void ti_client_answered (ti_core *self, uint32_t token, const struct tied_client_event *reply);
/* No copy will answer any more, or the time is over: with the error that was kept, if one was. */
void ti_client_finish (ti_core *self, uint32_t token, uint32_t outcome);

/* client_hedge.c: a further copy because the others are slow. */
/* The next copy, which has to be sent right after, is the one hedge of the call. */
void ti_client_begin_hedge (struct ti_call *call, bool is_relief);
void ti_client_plan_hedge (ti_core *self, uint32_t token, const struct ti_method_verdict *verdict);
/* The copy that the delay counts from is being sent. */
void ti_client_start_hedge_delay (ti_core *self, struct ti_call *call);
/* The planned hedge, or the reason why not. */
void ti_client_send_hedge (ti_core *self, uint32_t token);
/* Its replica holds another copy of the call: this one was never there. Another is asked, or the
 * same ones later. */
void ti_client_hedge_is_duplicate (ti_core *self, uint32_t token, uint8_t copy);
/* It will not be sent, or was not: count and keep why; the first reason stays. */
void ti_client_hedge_not_sent (ti_core *self, struct ti_call *call, enum tied_not_sent reason);

/* client_relief.c: a further copy because one runs for long. */
/* The copy that the delay counts from is being sent. */
void ti_client_start_relief_delay (ti_core *self, struct ti_call *call);
/* It is time to look: the copy, or when to look again. */
void ti_client_look_for_relief (ti_core *self, uint32_t token);
/* A hedge of it that is sent now relieves its replica. */
bool ti_client_is_relief (ti_core *self, uint32_t token);
/* How long a copy of the call has run; 0: none is known to. */
tied_duration_t ti_client_ran (ti_core *self, uint32_t token);

/* client_again.c: what happens to a call when a copy of it was retired. */
void ti_client_refused (ti_core *self, uint32_t token, uint8_t copy, uint8_t reason);
void ti_client_unsent (ti_core *self, uint32_t token, uint8_t copy);
/* The first doomed copy, and all others of its call. */
void ti_client_lose_one (ti_core *self);
/* The call that waits longest goes out; a replica is usable. */
void ti_client_place_one (ti_core *self);
/* Append the instances that these copies of the call went to. */
void ti_client_add_instances (
    ti_core *self, uint32_t token, uint16_t copies, uint64_t *instances, uint32_t *count);

/* client_complete.c: the one way out. reply is NULL unless a copy has won. */
void ti_client_complete (ti_core *self,
                         uint32_t token,
                         uint32_t outcome,
                         const struct tied_client_event *reply);
/* A sibling that the sender of this reply has told, and that had not started, has dropped its
 * copy. */
uint16_t ti_client_dropped_by_peer (const struct ti_race *race,
                                    const struct tied_client_event *reply);
/* What the end of a copy says of its replica. */
enum ti_copy_end {
    TI_COPY_ANSWERED,
    TI_COPY_FAILED, /* lost with it, or answered with an error that is not accepted */
    TI_COPY_NEUTRAL /* refused, never left, given up, or lost its race [BE-11] */
};
/* Take a live copy off its list and out of the counts of copies in flight. */
void ti_client_unlink (ti_core *self, uint32_t token, uint8_t copy, enum ti_copy_end end);
/* Count, and keep for the completion, why copy 1 was not sent; the first reason stays. */
void ti_client_not_sent (ti_core *self, struct ti_call *call, enum tied_not_sent reason);
void ti_client_count_not_sent (ti_core *self, uint32_t method, enum tied_not_sent reason);

/* client_replicas.c: the replica state machine. */
void ti_client_link_up (ti_core *self, uint32_t replica);
void ti_client_link_down (ti_core *self, uint32_t replica);
void ti_client_welcome (ti_core *self, const struct tied_client_event *ev);
void ti_client_pong (ti_core *self, const struct tied_client_event *ev);
/* Anything has come from it. */
void ti_client_hear (ti_core *self, uint32_t replica, const struct tied_load *load);
void ti_client_heartbeat (ti_core *self, uint32_t replica);
/* It answered that it is another incarnation than we sent to. */
void ti_client_stale (ti_core *self, uint32_t replica);
/* It answered that it drains. */
void ti_client_draining (ti_core *self, uint32_t replica);
bool ti_client_is_usable (ti_core *self, uint32_t replica);

#endif
