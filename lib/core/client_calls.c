/* SPDX-License-Identifier: MIT */
/*
 * A call from submit to its end: choose replicas, send copies, and carry out what race.c decides.
 */
#include "core/client_state.h"

static struct ti_pick picker (ti_core *self)
{
    return (struct ti_pick){.replicas = TI_AT (struct ti_replica, self, self->replicas),
                            .usable = TI_AT (uint32_t, self, self->usable),
                            .usable_count = self->usable_count,
                            .rule = self->options.pick,
                            .samples = self->options.pick_samples,
                            .scale = &self->scale,
                            .prng = &self->prng,
                            .now = self->now};
}

static void send_copy (
    ti_core *self, uint32_t token, uint8_t copy, uint32_t replica, uint32_t flags, uint32_t sibling)
{
    struct ti_call *call = ti_call_at (self, token);
    struct ti_replica *r = ti_replica_at (self, replica);
    struct ti_copy *c = ti_copy_at (self, token, copy);
    ti_race_sent (&call->race, copy, (flags & TIED_REQUEST_TIED) != 0);
    *c = (struct ti_copy){r->incarnation, replica, r->generation};
    ti_links_append (ti_links_of (self), ti_replica_list (self, replica),
                     ti_copy_node (self, token, copy));
    r->in_flight++;
    self->copies_in_flight++;
    self->counters.copies_sent++;
    if (copy == 0)
        self->counters.copies_primary++;
    else if (copy == 1)
        self->counters.copies_tied++;
    else
        self->counters.copies_reissued++;
    struct tied_client_action *action = ti_emit (self, TIED_CLIENT_ACT_SEND_REQUEST);
    action->token = token;
    action->replica = replica;
    action->call = ti_call_id (self, call);
    action->u.request.copy = copy;
    action->u.request.flags =
        flags | (call->race.is_idempotent ? (uint32_t)TIED_REQUEST_IDEMPOTENT : 0);
    action->u.request.sibling = sibling;
    action->u.request.incarnation = r->incarnation;
    action->u.request.sibling_incarnation = sibling == TIED_NO_REPLICA ? 0
                                            : copy == 0                ? call->sibling_instance
                                                        : ti_copy_at (self, token, 0)->incarnation;
    action->u.request.remaining_ns = ti_time_sub (call->deadline, self->now);
    action->u.request.attempts_left = (uint8_t)(call->race.copies_max - call->race.copies_sent);
}

/* The call's one heap entry: the next of its stagger and its deadline. */
static void schedule (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    const tied_time_t due =
        call->race.is_planned ? ti_min (call->stagger_due, call->deadline) : call->deadline;
    if (due == TIED_NEVER)
        (void)ti_heap_remove (&self->heap, token);
    else if (!ti_heap_has (&self->heap, token) || ti_heap_time (&self->heap, token) != due)
        ti_heap_set (&self->heap, token, due);
}

static void wait_for_replica (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    TI_ASSERT (!call->is_waiting && call->race.alive == 0);
    call->is_waiting = true;
    ti_links_append (ti_links_of (self), ti_waiting_list (self), ti_call_node (self, token));
    schedule (self, token);
}

static bool is_deadline_near (const ti_core *self, const struct ti_call *call)
{
    return ti_time_sub (call->deadline, self->now) < self->options.min_remaining_ns;
}

/* Copy 1, as planned or, if is_alone, as the only one. Returns whether it was sent. */
static bool send_sibling (ti_core *self, uint32_t token, bool is_alone)
{
    struct ti_call *call = ti_call_at (self, token);
    TI_ASSERT (call->race.is_planned);
    call->race.is_planned = false;
    if (is_deadline_near (self, call)) {
        ti_client_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
        return false;
    }
    if (!ti_client_is_usable (self, call->sibling) ||
        ti_replica_at (self, call->sibling)->incarnation != call->sibling_instance) {
        ti_client_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
        return false;
    }
    if (is_alone)
        send_copy (self, token, 1, call->sibling, 0, TIED_NO_REPLICA);
    else
        send_copy (self, token, 1, call->sibling, TIED_REQUEST_TIED,
                   ti_copy_at (self, token, 0)->replica);
    return true;
}

static tied_duration_t stagger_of (ti_core *self, uint32_t primary, uint32_t sibling)
{
    const struct ti_stagger_limits limits = {self->options.stagger_floor_ns,
                                             self->options.stagger_ceiling_ns,
                                             self->options.stagger_initial_ns};
    return ti_delay_stagger (&limits, ti_delay_round_trip (&ti_replica_at (self, primary)->delay),
                             ti_delay_round_trip (&ti_replica_at (self, sibling)->delay));
}

/* First copies. A replica is usable. */
static void start (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    const struct ti_pick pick = picker (self);
    const bool is_pair =
        call->mode == TIED_MODE_TIED && call->race.is_idempotent && call->race.copies_max > 1;
    uint32_t primary;
    uint32_t sibling = TIED_NO_REPLICA;
    if (is_pair) {
        ti_pick_pair (&pick, &primary, &sibling);
        if (sibling == TIED_NO_REPLICA)
            ti_client_not_sent (self, call, TIED_NOT_SENT_NO_SIBLING);
    } else {
        primary = ti_pick_one (&pick, NULL);
    }
    if (sibling == TIED_NO_REPLICA) {
        send_copy (self, token, 0, primary, 0, TIED_NO_REPLICA);
        schedule (self, token);
        return;
    }
    if (call->stagger_ns == TIED_STAGGER_AUTO)
        call->stagger_ns = stagger_of (self, primary, sibling);
    call->sibling = sibling;
    call->sibling_instance = ti_replica_at (self, sibling)->incarnation;
    call->stagger_due = ti_time_add (self->now, call->stagger_ns);
    send_copy (self, token, 0, primary, TIED_REQUEST_TIED, sibling);
    call->race.is_planned = true;
    if (call->stagger_ns == 0)
        (void)send_sibling (self, token, false);
    schedule (self, token);
}

static uint64_t next_sequence (ti_core *self)
{
    /* At most half of the slots are occupied. A sequence whose slot is, is skipped for good. */
    while (ti_slot_at (self, self->next_sequence)->token != TI_NO_TOKEN)
        self->next_sequence++;
    return self->next_sequence++;
}

void ti_client_submit (ti_core *self, const struct tied_client_submit *submit)
{
    const uint32_t token = submit->token;
    struct ti_call *call = ti_call_at (self, token);
    *call = (struct ti_call){.sequence = next_sequence (self),
                             .submitted = self->now,
                             .deadline = submit->deadline,
                             .stagger_ns = submit->stagger_ns,
                             .sibling = TIED_NO_REPLICA,
                             .mode = (uint8_t)submit->mode,
                             .is_live = true};
    ti_race_init (&call->race, submit->is_idempotent, self->options.copies_max);
    *ti_slot_at (self, call->sequence) = (struct ti_slot){
        .sequence = call->sequence, .token = token, .ran_copy = TI_NO_COPY, .is_used = true};
    self->live_calls++;
    self->counters.submitted++;
    struct tied_client_action *accepted = ti_emit (self, TIED_CLIENT_ACT_ACCEPTED);
    accepted->token = token;
    accepted->call = ti_call_id (self, call);
    if (call->mode == TIED_MODE_TIED && !submit->is_idempotent)
        ti_client_not_sent (self, call, TIED_NOT_SENT_NOT_IDEMPOTENT);
    else if (call->mode == TIED_MODE_TIED && self->options.copies_max == 1)
        ti_client_not_sent (self, call, TIED_NOT_SENT_COPIES_MAX);
    if (call->deadline <= self->now) {
        if (call->mode == TIED_MODE_TIED)
            ti_client_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
        ti_client_complete (self, token, TIED_OUTCOME_DEADLINE, NULL);
    } else if (self->usable_count == 0) {
        wait_for_replica (self, token);
    } else {
        start (self, token);
    }
}

static void
add_instances (ti_core *self, uint32_t token, uint16_t copies, uint64_t *instances, uint32_t *count)
{
    for (uint8_t copy = 0; copy < self->stride; copy++)
        if (copies & TI_RACE_BIT (copy))
            instances[(*count)++] = ti_copy_at (self, token, copy)->incarnation;
}

/* Where a further copy goes: not where one could not be sent, rather not where one was refused or
 * lost. */
static uint32_t choose_again (ti_core *self, uint32_t token)
{
    const struct ti_race *race = &ti_call_at (self, token)->race;
    struct ti_pick_avoid avoid = {.soft_count = 0, .hard_count = 0};
    add_instances (self, token, race->refused | race->lost, avoid.soft, &avoid.soft_count);
    add_instances (self, token, race->unsent, avoid.hard, &avoid.hard_count);
    const struct ti_pick pick = picker (self);
    return ti_pick_one (&pick, &avoid);
}

/* A replica that holds another live copy, or was to get copy 1: there the re-issue merges. */
static uint32_t replica_to_merge (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    const uint16_t unsent = call->race.unsent;
    for (uint8_t copy = 0; copy < self->stride; copy++) {
        if (!(call->race.alive & TI_RACE_BIT (copy)))
            continue;
        const struct ti_copy *c = ti_copy_at (self, token, copy);
        bool is_full = false;
        for (uint8_t other = 0; other < self->stride; other++)
            is_full = is_full || ((unsent & TI_RACE_BIT (other)) &&
                                  ti_copy_at (self, token, other)->replica == c->replica);
        if (!is_full && ti_client_is_usable (self, c->replica) &&
            c->generation == ti_replica_at (self, c->replica)->generation)
            return c->replica;
    }
    if (call->sibling != TIED_NO_REPLICA && !(call->race.sent & TI_RACE_BIT (1)) &&
        ti_client_is_usable (self, call->sibling) &&
        ti_replica_at (self, call->sibling)->incarnation == call->sibling_instance)
        return call->sibling;
    return TIED_NO_REPLICA;
}

static void send_again (ti_core *self, uint32_t token, uint32_t replica, uint32_t flags)
{
    struct ti_race *race = &ti_call_at (self, token)->race;
    if (race->lost)
        flags |= TIED_REQUEST_REISSUE;
    send_copy (self, token, race->sent == 0 ? 0 : race->next_copy, replica, flags, TIED_NO_REPLICA);
    schedule (self, token);
}

static void finish (ti_core *self, uint32_t token)
{
    ti_client_complete (self, token, ti_race_outcome (&ti_call_at (self, token)->race), NULL);
}

/* No place for a further copy now. */
static void no_place (ti_core *self, uint32_t token, bool may_wait)
{
    if (ti_call_at (self, token)->race.alive)
        schedule (self, token);
    else if (may_wait)
        wait_for_replica (self, token);
    else
        finish (self, token);
}

static void carry_out (ti_core *self, uint32_t token, enum ti_race_next next, uint8_t reason)
{
    struct ti_call *call = ti_call_at (self, token);
    const bool is_further =
        next == TI_RACE_REROUTE || next == TI_RACE_LAST || next == TI_RACE_REISSUE;
    if (is_further && is_deadline_near (self, call)) {
        ti_client_count_not_sent (self, TIED_NOT_SENT_DEADLINE_NEAR);
        no_place (self, token, false);
        return;
    }
    uint32_t replica;
    switch (next) {
    case TI_RACE_GO_ON:
        schedule (self, token);
        return;
    case TI_RACE_REROUTE:
        replica = choose_again (self, token);
        /* A copy alone in the world: the flag lifts the limit that is meant for extra copies. */
        if (replica != TIED_NO_REPLICA)
            send_again (self, token, replica, TIED_REQUEST_LAST);
        else
            no_place (self, token, reason != TIED_REJECT_DRAINING);
        return;
    case TI_RACE_LAST:
        call->race.had_last = true;
        replica = choose_again (self, token);
        if (replica != TIED_NO_REPLICA)
            send_again (self, token, replica, TIED_REQUEST_LAST);
        else
            finish (self, token);
        return;
    case TI_RACE_REISSUE:
        replica = replica_to_merge (self, token);
        if (replica == TIED_NO_REPLICA)
            replica = choose_again (self, token);
        if (replica != TIED_NO_REPLICA)
            send_again (self, token, replica, 0);
        else
            no_place (self, token, true);
        return;
    case TI_RACE_END:
        finish (self, token);
        return;
    case TI_RACE_SEND_TIED:
        break;
    }
    TI_UNREACHABLE ();
}

static void expire (ti_core *self, uint32_t token)
{
    const bool has_left = ti_race_has_left (&ti_call_at (self, token)->race);
    ti_client_complete (self, token, has_left ? TIED_OUTCOME_DEADLINE : TIED_OUTCOME_UNAVAILABLE,
                        NULL);
}

/* A copy has just been retired: end the call if nothing may be sent for it any more. */
static bool is_over (ti_core *self, uint32_t token)
{
    if (self->is_stopped)
        ti_client_cancel (self, token);
    else if (ti_call_at (self, token)->deadline <= self->now)
        expire (self, token);
    return !ti_call_at (self, token)->is_live;
}

/* A replica that refuses a re-issue holds no other copy of the call, or it would have merged it. So
 * the copies that it was sent before are gone without an answer: dropped by a STARTED. */
static void lose_dropped (ti_core *self, uint32_t token, uint8_t refused)
{
    struct ti_race *race = &ti_call_at (self, token)->race;
    const struct ti_copy *r = ti_copy_at (self, token, refused);
    for (uint8_t copy = 0; copy < refused; copy++) {
        const struct ti_copy *c = ti_copy_at (self, token, copy);
        if (!(race->alive & TI_RACE_BIT (copy)) || c->replica != r->replica ||
            c->generation != r->generation)
            continue;
        ti_client_unlink (self, token, copy);
        ti_race_lost (race, copy);
        self->counters.copies_lost++;
    }
}

void ti_client_refused (ti_core *self, uint32_t token, uint8_t copy, uint8_t reason)
{
    struct ti_call *call = ti_call_at (self, token);
    ti_client_unlink (self, token, copy);
    ti_race_refused (&call->race, copy, reason);
    self->counters.copies_rejected++;
    if (copy >= 2)
        lose_dropped (self, token, copy);
    const struct ti_copy *c = ti_copy_at (self, token, copy);
    if (reason == TIED_REJECT_DRAINING)
        ti_client_draining (self, c->replica);
    else if (reason == TIED_REJECT_STALE &&
             ti_replica_at (self, c->replica)->incarnation == c->incarnation)
        ti_client_stale (self, c->replica);
    if (is_over (self, token))
        return;
    enum ti_race_next next = ti_race_after_refusal (&call->race, reason);
    if (next == TI_RACE_SEND_TIED && !send_sibling (self, token, true))
        next = ti_race_after_refusal (&call->race, reason);
    carry_out (self, token, next == TI_RACE_SEND_TIED ? TI_RACE_GO_ON : next, reason);
}

void ti_client_unsent (ti_core *self, uint32_t token, uint8_t copy)
{
    struct ti_call *call = ti_call_at (self, token);
    ti_client_unlink (self, token, copy);
    ti_race_unsent (&call->race, copy);
    self->counters.copies_lost++;
    if (copy == 1)
        ti_client_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
    if (is_over (self, token))
        return;
    enum ti_race_next next = ti_race_after_unsent (&call->race);
    if (next == TI_RACE_SEND_TIED && !send_sibling (self, token, true))
        next = ti_race_after_unsent (&call->race);
    carry_out (self, token, next == TI_RACE_SEND_TIED ? TI_RACE_GO_ON : next, TIED_REJECT_NONE);
}

void ti_client_won (ti_core *self, uint32_t token, const struct tied_client_event *reply)
{
    ti_client_complete (
        self, token, reply->u.reply.status == 0 ? TIED_OUTCOME_OK : TIED_OUTCOME_APP_ERROR, reply);
}

void ti_client_cancel (ti_core *self, uint32_t token)
{
    ti_client_complete (self, token, TIED_OUTCOME_CANCELLED, NULL);
}

void ti_client_timer (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    if (call->deadline <= self->now) {
        ti_client_complete (self, token,
                            ti_race_has_left (&call->race) ? TIED_OUTCOME_DEADLINE
                                                           : TIED_OUTCOME_UNAVAILABLE,
                            NULL);
        return;
    }
    TI_ASSERT (call->race.is_planned && call->stagger_due <= self->now);
    (void)send_sibling (self, token, false);
    schedule (self, token);
}

void ti_client_lose_one (ti_core *self)
{
    const uint32_t token = ti_links_of (self)[ti_doomed_list (self)].next / self->stride;
    struct ti_call *call = ti_call_at (self, token);
    for (uint8_t copy = 0; copy < self->stride; copy++) {
        const struct ti_copy *c = ti_copy_at (self, token, copy);
        if (!(call->race.alive & TI_RACE_BIT (copy)) ||
            c->generation == ti_replica_at (self, c->replica)->generation)
            continue;
        ti_client_unlink (self, token, copy);
        ti_race_lost (&call->race, copy);
        self->counters.copies_lost++;
    }
    if (is_over (self, token))
        return;
    if (call->race.is_planned && !(call->race.alive & TI_RACE_BIT (0))) {
        /* The re-issue takes the place of copy 1. */
        call->race.is_planned = false;
        ti_client_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
    }
    const enum ti_race_next next = ti_race_after_loss (&call->race);
    if (next == TI_RACE_END && call->race.is_idempotent)
        ti_client_count_not_sent (self, TIED_NOT_SENT_COPIES_MAX);
    carry_out (self, token, next, TIED_REJECT_NONE);
}

void ti_client_place_one (ti_core *self)
{
    const uint32_t node = ti_links_of (self)[ti_waiting_list (self)].next;
    const uint32_t token = node - ti_call_node (self, 0);
    struct ti_call *call = ti_call_at (self, token);
    ti_links_remove (ti_links_of (self), node);
    call->is_waiting = false;
    if (call->race.sent == 0) {
        start (self, token);
        return;
    }
    if (is_deadline_near (self, call)) {
        ti_client_count_not_sent (self, TIED_NOT_SENT_DEADLINE_NEAR);
        finish (self, token);
        return;
    }
    /* All that it avoids may have recovered since. */
    const struct ti_pick pick = picker (self);
    const uint32_t replica = ti_pick_one (&pick, NULL);
    send_again (self, token, replica, call->race.lost ? 0 : (uint32_t)TIED_REQUEST_LAST);
}
