/* SPDX-License-Identifier: MIT */
/* What can happen in a state of the exploration (duel.h), and its doing. */
#include "duel_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "core/replica_core.h"

static const struct tied_call_id the_call = {1, 7};

static const char *const places[] = {"the owner", "the claimant", "the client"};

/* Instances have other numbers at the two replicas. */
static uint64_t incarnation_of (uint32_t r, uint8_t instance)
{
    return 16 * (r + 1) + instance;
}

static void send (struct duel *self, const struct duel_message *message)
{
    struct duel_state *state = self->state;

    for (uint32_t i = 0; i < state->count; i++)
        if (memcmp (&state->messages[i], message, sizeof *message) == 0)
            return;
    TI_ASSERT (state->count < DUEL_MESSAGES_MAX);
    state->messages[state->count++] = *message;
}

static void send_request (struct duel *self, uint32_t to, uint8_t copy, uint32_t flags)
{
    const struct duel_message message = {.type = TIED_WIRE_REQUEST,
                                         .to = (uint8_t)to,
                                         .copy = copy,
                                         .instance = self->state->instance[to],
                                         .sibling_instance = self->state->instance[1 - to],
                                         .flags = (uint8_t)flags,
                                         .time_us = self->state->now / 1000};

    send (self, &message);
}

static void start_core (struct duel *self, uint32_t r)
{
    struct tied_replica_core_options options = self->options;
    const struct tied_replica_event up = {.type = TIED_REPLICA_EV_PEER_UP};
    struct tied_replica_event other = {.type = TIED_REPLICA_EV_REQUEST};

    options.incarnation = incarnation_of (r, self->state->instance[r]);
    self->state->running[r] = 0;
    if (tied_replica_core_init (self->cores[r], self->core_size, &options) == NULL ||
        tied_replica_core_step (self->cores[r], &up, self->state->now) != 0)
        TI_UNREACHABLE ();
    /* Something else of this client, by which the time on the way of what follows is known. */
    other.u.request.call = (struct tied_call_id){1, 1};
    other.u.request.remaining_ns = TIED_NEVER;
    other.u.request.sent_us = self->state->now / 1000;
    other.u.request.sibling = TIED_NO_PEER;
    other.u.request.verdict = TIED_REJECT_UNKNOWN_METHOD;
    if (tied_replica_core_step (self->cores[r], &other, self->state->now) != 0)
        TI_UNREACHABLE ();
    while (tied_replica_core_next (self->cores[r]) != NULL) {
    }
}

void duel_begin (struct duel *self)
{
    struct duel_state *state = self->state;

    memset (state, 0, self->block_size);
    state->now = DUEL_START;
    for (uint32_t r = 0; r < 2; r++) {
        state->instance[r] = 1;
        start_core (self, r);
    }
    send_request (self, 0, 0, self->config->flags);
    send_request (self, 1, 1, self->config->flags);
}

static void mark (struct duel *self, uint32_t r, enum duel_mark what)
{
    (void)r;
    self->state->marks |= what;
}

static void say (const struct duel *self, const char *what, uint32_t r, uint8_t copy)
{
    if (self->prints)
        (void)fprintf (stderr, "    %s %s copy %u\n", places[r], what, copy);
}

static void perform (struct duel *self, uint32_t r, const struct tied_replica_action *action)
{
    struct duel_message message = {.to = (uint8_t)(1 - r), .copy = action->copy};

    switch (action->type) {
    case TIED_REPLICA_ACT_ADMIT:
    case TIED_REPLICA_ACT_RELEASE:
    case TIED_REPLICA_ACT_CANCEL_RUNNING:
    case TIED_REPLICA_ACT_FORGET_CLIENT:
    case TIED_REPLICA_ACT_REPLY: /* an answer changes nothing here: it is late, or the last word */
        return;
    case TIED_REPLICA_ACT_RUN:
        say (self, "STARTS", r, action->copy);
        self->state->running[r] = (uint8_t)(action->slot + 1);
        self->state->executions++;
        mark (self, r,
              action->copy >= 2 ? DUEL_MARK_RAN_AGAIN
              : r == 0          ? DUEL_MARK_RAN_AT_OWNER
                                : DUEL_MARK_RAN_AT_CLAIMANT);
        return;
    case TIED_REPLICA_ACT_REJECT:
        message.type = TIED_WIRE_REJECT;
        message.to = TO_CLIENT;
        message.reason = action->reason;
        say (self, tied_reject_name (action->reason), r, action->copy);
        break;
    case TIED_REPLICA_ACT_TELL_STARTED:
        message.type = TIED_WIRE_STARTED;
        break;
    case TIED_REPLICA_ACT_TELL_UNTIE:
        message.type = TIED_WIRE_UNTIE;
        break;
    case TIED_REPLICA_ACT_TELL_DONE:
        message.type = TIED_WIRE_DONE;
        break;
    case TIED_REPLICA_ACT_TELL_GRANT:
        message.type = TIED_WIRE_GRANT;
        break;
    case TIED_REPLICA_ACT_TELL_DENY:
        message.type = TIED_WIRE_DENY;
        break;
    case TIED_REPLICA_ACT_TELL_CLAIM:
        message.type = TIED_WIRE_CLAIM;
        message.instance = (uint8_t)(action->incarnation - incarnation_of (1 - r, 0));
        message.time_us = ti_us_from_ns (action->age_ns);
        break;
    }
    send (self, &message);
}

static void note_marks (struct duel *self, const tied_replica_core_t *core)
{
    const struct tied_replica_counters *n = tied_replica_core_counters (core);
    const struct {
        uint64_t count;
        enum duel_mark mark;
    } pairs[] = {{n->claim_granted, DUEL_MARK_GRANTED},
                 {n->claim_unseen, DUEL_MARK_GRANTED_UNSEEN},
                 {n->claim_denied, DUEL_MARK_DENIED},
                 {n->dropped, DUEL_MARK_DROPPED},
                 {n->tombstoned, DUEL_MARK_TOMBSTONED},
                 {n->rejected_stale, DUEL_MARK_STALE},
                 {n->expired, DUEL_MARK_EXPIRED},
                 {n->parked, DUEL_MARK_PARKED},
                 {n->park_lease + n->park_lost, DUEL_MARK_REVIVED},
                 {n->park_done, DUEL_MARK_DONE}};

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i].count > 0)
            self->state->marks |= pairs[i].mark;
}

static void step (struct duel *self, uint32_t r, const struct tied_replica_event *event)
{
    const struct tied_replica_action *action;

    if (tied_replica_core_step (self->cores[r], event, self->state->now) != 0)
        TI_UNREACHABLE ();
    while ((action = tied_replica_core_next (self->cores[r])) != NULL)
        perform (self, r, action);
    if (self->config->mutations & DUEL_FORGET_FORGETTING)
        self->cores[r]->recent.forgotten_at = self->cores[r]->recent.forgotten_until = 0;
    tied_replica_core_check (self->cores[r]);
    note_marks (self, self->cores[r]);
}

static void request (struct duel *self, const struct duel_message *message, bool is_full)
{
    const uint32_t r = message->to;
    const bool forgets = (self->config->mutations & DUEL_FORGET_REFUSAL) != 0;
    const bool is_blind = (self->config->mutations & DUEL_NO_INCARNATION) != 0;
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_REQUEST};
    const uint64_t before = tied_replica_core_counters (self->cores[r])->rejected;

    event.u.request.call = the_call;
    event.u.request.copy = message->copy;
    event.u.request.flags = message->flags;
    event.u.request.incarnation =
        incarnation_of (r, is_blind ? self->state->instance[r] : message->instance);
    event.u.request.remaining_ns = self->config->remaining;
    event.u.request.sent_us = message->time_us;
    event.u.request.sibling = 0;
    event.u.request.sibling_named = (message->flags & TIED_REQUEST_TIED) != 0;
    event.u.request.sibling_incarnation = incarnation_of (1 - r, message->sibling_instance);
    event.u.request.verdict = is_full ? TIED_REJECT_FULL : TIED_REJECT_NONE;
    memcpy (self->spare, self->cores[r], self->core_size);
    step (self, r, &event);
    if (forgets && tied_replica_core_counters (self->cores[r])->rejected != before)
        memcpy (self->cores[r], self->spare, self->core_size);
}

static void hear (struct duel *self, const struct duel_message *message)
{
    const uint32_t r = message->to;
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_STARTED};
    uint8_t instance = message->instance;

    event.u.tie.call = the_call;
    event.u.tie.copy = message->copy;
    switch (message->type) {
    case TIED_WIRE_UNTIE:
        event.type = TIED_REPLICA_EV_UNTIE;
        break;
    case TIED_WIRE_DONE:
        event.type = TIED_REPLICA_EV_DONE;
        break;
    case TIED_WIRE_GRANT:
        event.type = TIED_REPLICA_EV_GRANT;
        break;
    case TIED_WIRE_DENY:
        event.type = TIED_REPLICA_EV_DENY;
        break;
    case TIED_WIRE_CANCEL:
        event.type = TIED_REPLICA_EV_CANCEL;
        event.u.cancel.client = 0;
        event.u.cancel.call = the_call;
        event.u.cancel.reason = TIED_CANCEL_CALLER;
        break;
    case TIED_WIRE_CLAIM:
        if (self->config->mutations & DUEL_NO_INCARNATION)
            instance = self->state->instance[r];
        event.type = TIED_REPLICA_EV_CLAIM;
        event.u.claim.peer = 0;
        event.u.claim.call = the_call;
        event.u.claim.copy = message->copy;
        event.u.claim.age_ns = ti_ns_from_us (message->time_us);
        event.u.claim.incarnation = incarnation_of (r, instance);
        break;
    default:
        break;
    }
    step (self, r, &event);
}

/* `stale` is not definite: another instance may have run what it was first sent. */
static void answer (struct duel *self, const struct duel_message *message)
{
    if (message->reason != TIED_REJECT_STALE)
        self->state->refused |= (uint8_t)(1u << message->copy);
}

static void deliver (struct duel *self, uint32_t index, bool is_full)
{
    const struct duel_message message = self->state->messages[index];

    if (self->prints)
        (void)fprintf (stderr, "  %s of copy %u reaches %s%s\n", tied_wire_type_name (message.type),
                       message.copy, places[message.to], is_full ? ", which has no room" : "");
    if (message.to == TO_CLIENT)
        answer (self, &message);
    else if (message.type == TIED_WIRE_REQUEST)
        request (self, &message, is_full);
    else
        hear (self, &message);
}

bool duel_is_possible (const struct duel *self, int step)
{
    const struct duel_state *state = self->state;
    const struct duel_config *config = self->config;
    const uint32_t number = (uint32_t)step;

    if (step < STEP_REFUSE)
        return number < state->count;
    if (step < STEP_TAKE)
        return config->refuses && number - STEP_REFUSE < state->count &&
               state->messages[step - STEP_REFUSE].type == TIED_WIRE_REQUEST;
    if (step < STEP_FINISH)
        return state->running[step - STEP_TAKE] == 0 &&
               tied_replica_core_can_run (self->cores[step - STEP_TAKE]);
    if (step < STEP_AGAIN)
        return state->running[step - STEP_FINISH] != 0;
    if (step < STEP_GIVE_UP)
        return (state->refused & 3) == 3 && !state->has_sent_again;
    if (step < STEP_TICK)
        return config->gives_up && !state->has_given_up;
    if (step < STEP_RESTART)
        return state->ticks < config->ticks &&
               tied_replica_core_deadline (self->cores[step - STEP_TICK]) < DUEL_HORIZON;
    return state->instance[step - STEP_RESTART] <= config->restarts &&
           (config->restarts_total == 0 ||
            state->instance[0] + state->instance[1] - 2u < config->restarts_total);
}

void duel_apply (struct duel *self, int step_number)
{
    struct duel_state *state = self->state;
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_TAKE};
    uint32_t r;

    if (step_number < STEP_TAKE) {
        const bool is_full = step_number >= STEP_REFUSE;
        deliver (self, (uint32_t)(step_number - (is_full ? STEP_REFUSE : STEP_DELIVER)), is_full);
    } else if (step_number < STEP_FINISH) {
        step (self, (uint32_t)(step_number - STEP_TAKE), &event);
    } else if (step_number < STEP_AGAIN) {
        r = (uint32_t)(step_number - STEP_FINISH);
        event.type = TIED_REPLICA_EV_FINISH;
        event.u.finish.slot = state->running[r] - 1u;
        state->running[r] = 0;
        state->finished++;
        if (self->prints)
            (void)fprintf (stderr, "  %s has ended\n", places[r]);
        step (self, r, &event);
    } else if (step_number < STEP_GIVE_UP) {
        state->has_sent_again = 1;
        send_request (self, (uint32_t)(step_number - STEP_AGAIN), 2, TIED_REQUEST_EXCLUSIVE);
    } else if (step_number < STEP_TICK) {
        state->has_given_up = 1;
        for (r = 0; r < 2; r++)
            send (self, &(struct duel_message){.type = TIED_WIRE_CANCEL, .to = (uint8_t)r});
    } else if (step_number < STEP_RESTART) {
        r = (uint32_t)(step_number - STEP_TICK);
        state->ticks++;
        state->now = ti_max (state->now, tied_replica_core_deadline (self->cores[r]));
        event.type = TIED_REPLICA_EV_TIMEOUT;
        if (self->prints)
            (void)fprintf (stderr, "  time passes for %s\n", places[r]);
        step (self, r, &event);
    } else {
        r = (uint32_t)(step_number - STEP_RESTART);
        if (self->prints)
            (void)fprintf (stderr, "  %s restarts\n", places[r]);
        state->instance[r]++;
        start_core (self, r);
    }
}

static uint64_t fold (uint64_t hash, uint64_t value)
{
    return ti_mix (hash + UINT64_C (0x9e3779b97f4a7c15) + value);
}

/* The set of messages, whatever the order in which they were sent. */
static uint64_t hash_messages (const struct duel_state *state)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < state->count; i++) {
        uint64_t words[2];
        memcpy (words, &state->messages[i], sizeof words);
        sum += fold (fold (1, words[0]), words[1]);
    }
    return sum;
}

uint64_t duel_hash (const struct duel *self)
{
    const struct duel_state *state = self->state;
    uint64_t hash = fold (hash_messages (state), state->now);

    for (uint32_t r = 0; r < 2; r++) {
        hash = fold (hash, tied_replica_core_hash (self->cores[r]));
        hash = fold (hash, state->now - self->cores[r]->now);
        hash = fold (hash, (uint64_t)state->instance[r] << 8 | state->running[r]);
    }
    hash = fold (hash, (uint64_t)state->finished << 40 | (uint64_t)state->executions << 32 |
                           (uint64_t)state->refused << 24 | (uint64_t)state->has_sent_again << 16 |
                           (uint64_t)state->has_given_up << 8 | state->ticks);
    return hash != 0 ? hash : 1;
}
