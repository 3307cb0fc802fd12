/* SPDX-License-Identifier: MIT */
/*
 * The oracle, for every step of every test that uses the rig:
 * 1. ACCEPTED comes first and once per SUBMIT; one COMPLETE per accepted call, none after it;
 * 2. a copy is sent only for a live call, to an UP replica and its present incarnation, each number
 *    once, never more than copies_max, and never to the sibling's own instance as sibling;
 * 3. a call that is not idempotent has at most one copy that may run or may have run;
 * 4. CANCEL goes out only with the COMPLETE of its call, once per replica, never to the winner;
 * 5. a call whose deadline has passed is ended, or the core asks for another step at once;
 * 6. may_have_executed is false exactly if no copy answered, may run or may have run;
 * 7. the core's own check holds.
 */
#include "client_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "check.h"
#include "free_policy.h"

void rig_init (struct rig *rig)
{
    memset (rig, 0, sizeof *rig);
    tied_client_core_options_init (&rig->options);
    rig->options.epoch = 7;
    rig->options.calls_max = 8;
    rig->options.replicas_max = 8;
    rig->now = MS (1);
}

void rig_start (struct rig *rig)
{
    CHECK_U64 (rig->options.calls_max, <=, RIG_CALLS_MAX);
    rig->size = tied_client_core_size (&rig->options);
    CHECK_U64 (rig->size, >, 0);
    void *memory = malloc (rig->size);
    CHECK_TRUE (memory != NULL);
    rig->core = tied_client_core_init (memory, rig->size, &rig->options);
    CHECK_TRUE (rig->core != NULL);
    set_free_policy (rig->core);
}

void rig_stop (struct rig *rig)
{
    free (rig->core);
    rig->core = NULL;
}

static bool is_of_pair (const struct rig_call *call, const struct tied_client_action *action)
{
    return call->instance[0] == action->u.request.incarnation ||
           call->instance[1] == action->u.request.incarnation;
}

/* A further copy that replaces none: not early, only one, and to no instance that has a copy. */
static void
judge_hedge (const struct rig *rig, struct rig_call *call, const struct tied_client_action *action)
{
    if (action->u.request.copy < 2 ||
        (action->u.request.flags & (TIED_REQUEST_LAST | TIED_REQUEST_REISSUE)))
        return;
    if (!call->has_failed)
        CHECK_U64 (rig->now, >=, call->hedge_from);
    /* In place of the planned copy 1 there may be another one. */
    CHECK_U64 (++call->hedges, <=, call->has_failed ? 2 : 1);
    call->hedge = action->u.request.copy;
    /* Unless it goes to one of a pair that is still one. */
    if (call->fate[0] == RIG_COPY_OUT && call->fate[1] == RIG_COPY_OUT && is_of_pair (call, action))
        return;
    for (uint32_t copy = 0; copy <= TIED_COPIES_MAX; copy++)
        if (call->fate[copy] == RIG_COPY_OUT)
            CHECK_U64 (call->instance[copy], !=, action->u.request.incarnation);
}

static void judge_send (struct rig *rig, const struct tied_client_action *action)
{
    struct rig_call *call = &rig->calls[action->token];
    const uint8_t copy = action->u.request.copy;
    const struct tied_client_replica to = rig_look (rig, action->replica);
    CHECK_TRUE (call->is_live);
    CHECK_U64 (call->id.sequence, ==, action->call.sequence);
    CHECK_U64 (copy, <=, rig->options.copies_max);
    CHECK_U64 (call->fate[copy], ==, RIG_COPY_NONE);
    CHECK_U64 (++call->sends, <=, rig->options.copies_max);
    /* A heartbeat that was due in the same step may have made it suspect just after. */
    CHECK_TRUE (to.state == TIED_REPLICA_UP || to.state == TIED_REPLICA_SUSPECT);
    CHECK_U64 (to.incarnation, ==, action->u.request.incarnation);
    CHECK_U64 (action->u.request.incarnation, !=, 0);
    const bool is_tied = (action->u.request.flags & TIED_REQUEST_TIED) != 0;
    CHECK_TRUE (is_tied == (action->u.request.sibling != TIED_NO_REPLICA));
    CHECK_TRUE (is_tied == (action->u.request.sibling_incarnation != 0));
    CHECK_U64 (action->u.request.sibling_incarnation, !=, action->u.request.incarnation);
    CHECK_TRUE (((action->u.request.flags & TIED_REQUEST_IDEMPOTENT) != 0) == call->is_idempotent);
    if (call->deadline != TIED_NEVER) {
        CHECK_U64 (call->deadline, >, rig->now);
        CHECK_U64 (action->u.request.remaining_ns, ==, call->deadline - rig->now);
    }
    /* Of an exclusive pair the replicas see to it. */
    const bool may_run_twice = call->is_idempotent || (call->is_exclusive && is_tied);
    for (uint32_t other = 0; !may_run_twice && other <= TIED_COPIES_MAX; other++)
        CHECK_U64 (call->fate[other], !=, RIG_COPY_OUT);
    judge_hedge (rig, call, action);
    call->tied += is_tied;
    call->last_copy = copy;
    call->fate[copy] = RIG_COPY_OUT;
    call->replica[copy] = action->replica;
    call->instance[copy] = action->u.request.incarnation;
}

static void judge_complete (struct rig *rig, const struct tied_client_action *action)
{
    struct rig_call *call = &rig->calls[action->token];
    /* An answer is an execution, whatever the same copy said before. */
    bool may_have = action->u.completion.winner != TIED_NO_REPLICA;
    CHECK_TRUE (call->is_live);
    CHECK_U64 (call->id.sequence, ==, action->call.sequence);
    CHECK_U64 (action->u.completion.copies_sent, ==, call->sends);
    for (uint32_t copy = 0; copy <= TIED_COPIES_MAX; copy++)
        may_have = may_have || call->fate[copy] == RIG_COPY_OUT;
    CHECK_U64 (action->u.completion.may_have_executed, ==, may_have);
    call->is_live = false;
    rig->completions++;
}

/* The winner's replica was sent a copy after the one that won. */
static bool was_sent_later (const struct rig_call *call, const struct tied_client_completion *done)
{
    for (uint32_t copy = done->winner_copy + 1u; copy <= TIED_COPIES_MAX; copy++)
        if (call->fate[copy] == RIG_COPY_OUT && call->replica[copy] == done->winner)
            return true;
    return false;
}

static void judge_cancel (const struct rig *rig, uint32_t first, uint32_t at)
{
    const struct tied_client_action *cancel = &rig->log[at];
    bool is_ended_here = false;
    for (uint32_t i = first; i < at; i++) {
        const struct tied_client_action *other = &rig->log[i];
        if (other->call.sequence != cancel->call.sequence)
            continue;
        if (other->type == TIED_CLIENT_ACT_SEND_CANCEL)
            CHECK_U64 (other->replica, !=, cancel->replica);
        if (other->type == TIED_CLIENT_ACT_COMPLETE) {
            is_ended_here = true;
            if (other->u.completion.winner == cancel->replica)
                CHECK_TRUE (was_sent_later (&rig->calls[other->token], &other->u.completion));
        }
    }
    CHECK_TRUE (is_ended_here);
}

static void judge (struct rig *rig, const struct tied_client_event *ev, uint32_t first)
{
    for (uint32_t i = first; i < rig->log_count; i++) {
        const struct tied_client_action *action = &rig->log[i];
        switch (action->type) {
        case TIED_CLIENT_ACT_ACCEPTED: {
            CHECK_U64 (ev->type, ==, TIED_CLIENT_EV_SUBMIT);
            CHECK_U64 (i, ==, first);
            CHECK_U64 (action->token, ==, ev->u.submit.token);
            struct rig_call *call = &rig->calls[action->token];
            CHECK_FALSE (call->is_live);
            *call = (struct rig_call){.is_live = true,
                                      .is_idempotent = ev->u.submit.is_idempotent &&
                                                       ev->u.submit.mode != TIED_MODE_EXCLUSIVE,
                                      .is_exclusive = ev->u.submit.mode == TIED_MODE_EXCLUSIVE,
                                      .id = action->call,
                                      .deadline = ev->u.submit.deadline,
                                      .hedge_from = TIED_NEVER};
            if (ev->u.submit.hedge_ns == TIED_HEDGE_NOW)
                call->hedge_from = rig->now;
            else if (ev->u.submit.hedge_ns != TIED_HEDGE_NONE)
                call->hedge_from = ti_time_add (rig->now, ev->u.submit.hedge_ns);
            rig->accepted++;
            break;
        }
        case TIED_CLIENT_ACT_SEND_REQUEST:
            judge_send (rig, action);
            break;
        case TIED_CLIENT_ACT_SEND_CANCEL:
            judge_cancel (rig, first, i);
            break;
        case TIED_CLIENT_ACT_KEEP_REPLY:
            CHECK_U64 (ev->type, ==, TIED_CLIENT_EV_REPLY);
            CHECK_U64 (ev->u.reply.status, !=, 0);
            CHECK_TRUE (rig->calls[action->token].is_live);
            rig->calls[action->token].has_failed = true;
            break;
        case TIED_CLIENT_ACT_COMPLETE:
            judge_complete (rig, action);
            break;
        case TIED_CLIENT_ACT_SEND_HELLO:
        case TIED_CLIENT_ACT_SEND_PING:
            CHECK_U64 (action->u.probe.time, ==, rig->now);
            break;
        }
    }
}

/* The link is down, or another instance is at its end. */
static bool is_out_of_reach (const struct rig *rig, const struct rig_call *call, uint8_t copy)
{
    struct tied_client_replica replica;
    CHECK_I64 (tied_client_core_replica (rig->core, call->replica[copy], &replica), ==, 0);
    return replica.state == TIED_REPLICA_DOWN || replica.incarnation != call->instance[copy];
}

/* The hedge met another copy of its call: its number is free again, unless it was the last copy, or
 * the pair is none any more. */
static void note_never_there (const struct rig *rig, struct rig_call *call, uint8_t copy)
{
    if (call->tied == 2 && (is_out_of_reach (rig, call, 0) || is_out_of_reach (rig, call, 1)))
        return;
    if (call->fate[0] != RIG_COPY_OUT || call->fate[1] != RIG_COPY_OUT || call->tied != 2 ||
        call->has_failed || call->hedges == 0 || call->hedge != copy || call->last_copy != copy ||
        call->deadline <= rig->now)
        return;
    call->fate[copy] = RIG_COPY_NONE;
    call->hedges--;
    call->sends--;
}

/* A refusal or a failed send that names a copy which is out makes it harmless. */
static void note_harmless (struct rig *rig, const struct tied_client_event *ev)
{
    struct tied_call_id id = ev->u.reject.call;
    uint8_t copy = ev->u.reject.copy;
    if (ev->type == TIED_CLIENT_EV_SEND_FAILED) {
        id = ev->u.send_failed.call;
        copy = ev->u.send_failed.copy;
    } else if (ev->type != TIED_CLIENT_EV_REJECT) {
        return;
    }
    for (uint32_t token = 0; token < RIG_CALLS_MAX; token++) {
        struct rig_call *call = &rig->calls[token];
        if (call->is_live && id.epoch == call->id.epoch && id.sequence == call->id.sequence &&
            copy <= TIED_COPIES_MAX && call->fate[copy] == RIG_COPY_OUT &&
            call->replica[copy] == ev->replica) {
            call->fate[copy] = RIG_COPY_HARMLESS;
            if (ev->type == TIED_CLIENT_EV_REJECT && ev->u.reject.reason == TIED_REJECT_DUPLICATE)
                note_never_there (rig, call, copy);
        }
    }
}

int rig_step (struct rig *rig, const struct tied_client_event *ev)
{
    const uint64_t rejects = rig_counters (rig)->copies_rejected;
    const uint64_t lost = rig_counters (rig)->copies_lost;
    const int rc = tied_client_core_step (rig->core, ev, rig->now);
    const uint32_t first = rig->log_count;
    const struct tied_client_action *action;
    while ((action = tied_client_core_next (rig->core)) != NULL) {
        CHECK_U64 (rig->log_count, <, RIG_LOG_MAX);
        rig->log[rig->log_count++] = *action;
    }
    /* A late refusal of a copy that was given up already does not count as one. */
    if (rig_counters (rig)->copies_rejected > rejects ||
        (ev->type == TIED_CLIENT_EV_SEND_FAILED && rig_counters (rig)->copies_lost > lost))
        note_harmless (rig, ev);
    if (rc != 0)
        CHECK_U64 (rig->log_count, ==, first);
    judge (rig, ev, first);
    uint32_t live = 0;
    for (uint32_t token = 0; token < RIG_CALLS_MAX; token++) {
        const struct rig_call *call = &rig->calls[token];
        live += call->is_live;
        if (rc == 0 && call->is_live && call->deadline <= rig->now)
            CHECK_U64 (tied_client_core_deadline (rig->core), <=, rig->now);
        if (call->is_live && call->deadline != TIED_NEVER)
            CHECK_U64 (tied_client_core_deadline (rig->core), <=,
                       call->deadline > rig->now ? call->deadline : rig->now);
    }
    CHECK_U64 (live, ==, tied_client_core_live_calls (rig->core));
    tied_client_core_check (rig->core);
    return rc;
}

void rig_advance (struct rig *rig, tied_time_t to)
{
    const struct tied_client_event ev = {.type = TIED_CLIENT_EV_TIMEOUT};
    uint32_t idle = 0;
    while (tied_client_core_deadline (rig->core) <= to) {
        const tied_time_t due = tied_client_core_deadline (rig->core);
        idle = due == rig->now ? idle + 1 : 0;
        CHECK_U64 (idle, <, 10000);
        rig->now = due;
        CHECK_I64 (rig_step (rig, &ev), ==, 0);
    }
    rig->now = to;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

void rig_link (struct rig *rig, uint32_t replica, bool is_up)
{
    const struct tied_client_event ev = {
        .type = is_up ? TIED_CLIENT_EV_LINK_UP : TIED_CLIENT_EV_LINK_DOWN, .replica = replica};
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

void rig_welcome (struct rig *rig, uint32_t replica, uint64_t incarnation)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_WELCOME, .replica = replica};
    ev.u.welcome.incarnation = incarnation;
    ev.u.welcome.id_matches = true;
    ev.u.welcome.modes = TIED_WIRE_MODES;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

uint32_t rig_replica (struct rig *rig, uint64_t incarnation)
{
    const int index = tied_client_core_add_replica (rig->core);
    CHECK_I64 (index, >=, 0);
    rig_link (rig, (uint32_t)index, true);
    rig_welcome (rig, (uint32_t)index, incarnation);
    CHECK_U64 (rig_look (rig, (uint32_t)index).state, ==, TIED_REPLICA_UP);
    return (uint32_t)index;
}

void rig_pong (struct rig *rig, uint32_t replica, struct tied_load load)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_PONG, .replica = replica};
    ev.u.pong.load = load;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

int rig_submit (struct rig *rig, const struct tied_client_submit *submit)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_SUBMIT};
    ev.u.submit = *submit;
    return rig_step (rig, &ev);
}

struct tied_call_id
rig_tied (struct rig *rig, uint32_t token, tied_duration_t stagger, tied_duration_t timeout)
{
    const struct tied_client_submit submit = {
        .token = token,
        .mode = TIED_MODE_TIED,
        .is_idempotent = true,
        .deadline = timeout == TIED_NEVER ? TIED_NEVER : rig->now + timeout,
        .stagger_ns = stagger};
    CHECK_I64 (rig_submit (rig, &submit), ==, 0);
    return rig->calls[token].id;
}

void rig_reply (
    struct rig *rig, uint32_t replica, struct tied_call_id call, uint8_t copy, uint32_t flags)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REPLY, .replica = replica};
    ev.u.reply.call = call;
    ev.u.reply.copy = copy;
    ev.u.reply.flags = flags;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

void rig_fail (struct rig *rig,
               uint32_t replica,
               struct tied_call_id call,
               uint8_t copy,
               uint32_t status,
               uint32_t flags)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REPLY, .replica = replica};
    ev.u.reply.call = call;
    ev.u.reply.copy = copy;
    ev.u.reply.status = status;
    ev.u.reply.flags = flags;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

void rig_reject (
    struct rig *rig, uint32_t replica, struct tied_call_id call, uint8_t copy, uint8_t reason)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REJECT, .replica = replica};
    ev.u.reject.call = call;
    ev.u.reject.copy = copy;
    ev.u.reject.reason = reason;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

int rig_send_failed (struct rig *rig, uint32_t replica, struct tied_call_id call, uint8_t copy)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_SEND_FAILED, .replica = replica};
    ev.u.send_failed.call = call;
    ev.u.send_failed.copy = copy;
    return rig_step (rig, &ev);
}

int rig_cancel (struct rig *rig, struct tied_call_id call)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_CANCEL};
    ev.u.cancel.call = call;
    return rig_step (rig, &ev);
}

void rig_forget (struct rig *rig)
{
    rig->log_count = 0;
}

uint32_t rig_count (const struct rig *rig, enum tied_client_action_type type)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < rig->log_count; i++)
        count += rig->log[i].type == type;
    return count;
}

const struct tied_client_action *
rig_get (const struct rig *rig, enum tied_client_action_type type, uint32_t n)
{
    for (uint32_t i = 0; i < rig->log_count; i++)
        if (rig->log[i].type == type && n-- == 0)
            return &rig->log[i];
    print_error ("no action of type %d\n", (int)type);
    _fail (__FILE__, __LINE__);
    return NULL;
}

const struct tied_client_completion *rig_done (const struct rig *rig)
{
    CHECK_U64 (rig_count (rig, TIED_CLIENT_ACT_COMPLETE), ==, 1);
    return &rig_get (rig, TIED_CLIENT_ACT_COMPLETE, 0)->u.completion;
}

const struct tied_client_counters *rig_counters (const struct rig *rig)
{
    return tied_client_core_counters (rig->core);
}

struct tied_client_replica rig_look (const struct rig *rig, uint32_t replica)
{
    struct tied_client_replica out;
    CHECK_I64 (tied_client_core_replica (rig->core, replica, &out), ==, 0);
    return out;
}
