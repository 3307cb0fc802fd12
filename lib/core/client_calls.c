/* SPDX-License-Identifier: MIT */
/*
 * A call's planned life: submit, choice of replicas, the copies, the stagger, the deadline. The
 * hedge is in client_hedge.c, what follows when a copy fails in client_again.c, the end in
 * client_complete.c.
 */
#include "core/client_state.h"

struct ti_pick ti_client_picker (ti_core *self, const struct ti_call *call)
{
    const bool has_no_key = self->options.pick == TIED_PICK_AFFINITY && call->affinity == 0;
    const bool is_calm = !self->options.probation_milli || ti_health_is_calm (ti_health_of (self));
    return (struct ti_pick){.replicas = TI_AT (struct ti_replica, self, self->replicas),
                            .usable = TI_AT (uint32_t, self, self->usable),
                            .usable_count = self->usable_count,
                            .replica_count = self->replica_count,
                            .turn = &self->turn,
                            .rule = has_no_key ? TIED_PICK_INFORMED : self->options.pick,
                            .samples = self->options.pick_samples,
                            .scale = &self->scale,
                            .mean = ti_load_mean (&self->mean),
                            .key = call->affinity,
                            .health = is_calm ? NULL : ti_health_of (self),
                            .has_zones = self->has_zones,
                            .prng = &self->prng,
                            .now = ti_max (self->now, 1)}; /* as reports are dated */
}

TI_COLD static void tell_health (ti_core *self, uint32_t replica)
{
    ti_health_sent (ti_health_of (self), replica, self->now);
}

void ti_client_send_copy (
    ti_core *self, uint32_t token, uint8_t copy, uint32_t replica, uint32_t flags, uint32_t sibling)
{
    struct ti_call *call = ti_call_at (self, token);
    struct ti_replica *r = ti_replica_at (self, replica);
    struct ti_copy *c = ti_copy_at (self, token, copy);
    ti_race_sent (&call->race, copy, (flags & TIED_REQUEST_TIED) != 0);
    *c = (struct ti_copy){r->incarnation, replica, r->generation, self->now};
    if (copy > 0)
        ti_method_extra (ti_method_at (self, call->method),
                         (call->race.hedged & TI_RACE_BIT (copy)) != 0, self->now);
    ti_links_append (ti_links_of (self), ti_replica_list (self, replica),
                     ti_copy_node (self, token, copy));
    r->in_flight++;
    if (self->options.probation_milli)
        tell_health (self, replica);
    self->copies_in_flight++;
    self->counters.copies_sent++;
    if (copy == 0)
        self->counters.copies_primary++;
    else if (copy == 1)
        self->counters.copies_tied++;
    else if (call->race.hedged & TI_RACE_BIT (copy))
        self->counters.copies_hedged++;
    else
        self->counters.copies_reissued++;
    struct tied_client_action *action = ti_emit (self, TIED_CLIENT_ACT_SEND_REQUEST);
    action->token = token;
    action->replica = replica;
    action->call = ti_call_id (self, call);
    action->u.request.copy = copy;
    action->u.request.flags = flags | ti_mode_flags (call, flags) |
                              (call->race.is_idempotent ? (uint32_t)TIED_REQUEST_IDEMPOTENT : 0);
    action->u.request.sibling = sibling;
    action->u.request.incarnation = r->incarnation;
    action->u.request.sibling_incarnation = sibling == TIED_NO_REPLICA ? 0
                                            : copy == 0                ? call->sibling_instance
                                                        : ti_copy_at (self, token, 0)->incarnation;
    action->u.request.remaining_ns = ti_time_sub (call->deadline, self->now);
    action->u.request.attempts_left = (uint8_t)(call->race.copies_max - call->race.copies_sent);
}

void ti_client_schedule (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    const tied_time_t due = ti_client_due (call);
    if (due == TIED_NEVER)
        (void)ti_heap_remove (&self->due, token);
    else if (!ti_heap_has (&self->due, token) || ti_heap_time (&self->due, token) != due)
        ti_heap_set (&self->due, token, due);
}

void ti_client_wait (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    TI_ASSERT (!call->is_waiting && !ti_race_is_certain (&call->race));
    call->is_waiting = true;
    ti_links_append (ti_links_of (self), ti_waiting_list (self), ti_call_node (self, token));
    ti_client_schedule (self, token);
}

void ti_client_stop_waiting (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    if (call->is_waiting)
        ti_links_remove (ti_links_of (self), ti_call_node (self, token));
    call->is_waiting = false;
}

bool ti_client_is_deadline_near (const ti_core *self, const struct ti_call *call)
{
    const tied_duration_t policy = ti_method_at_const (self, call->method)->policy.min_remaining_ns;
    return ti_time_sub (call->deadline, self->now) <
           ti_max (self->options.min_remaining_ns, policy);
}

/* Copy 1, as planned or, if is_alone, as the only one. Returns whether it was sent. */
bool ti_client_send_sibling (ti_core *self, uint32_t token, bool is_alone)
{
    struct ti_call *call = ti_call_at (self, token);
    TI_ASSERT (call->race.is_planned);
    call->race.is_planned = false;
    if (ti_client_is_deadline_near (self, call)) {
        ti_client_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
        return false;
    }
    if (!ti_client_is_usable (self, call->sibling) ||
        ti_replica_at (self, call->sibling)->incarnation != call->sibling_instance) {
        ti_client_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
        return false;
    }
    if (is_alone)
        ti_client_send_copy (self, token, 1, call->sibling, 0, TIED_NO_REPLICA);
    else
        ti_client_send_copy (self, token, 1, call->sibling, TIED_REQUEST_TIED,
                             ti_copy_at (self, token, 0)->replica);
    return true;
}

/* An older replica would take a copy of a later mode for one that is just tied. */
static bool
knows_mode (ti_core *self, const struct ti_call *call, uint32_t primary, uint32_t sibling)
{
    const uint32_t bit = TIED_WIRE_MODE_BIT (call->mode);
    const uint32_t modes =
        ti_replica_at (self, primary)->modes & ti_replica_at (self, sibling)->modes;
    return (modes & bit) != 0;
}

/* What is sent instead: a pair that is just tied, or for an exclusive call one copy alone. */
static uint32_t without_mode (ti_core *self, struct ti_call *call, uint32_t sibling)
{
    if (!call->race.is_exclusive) {
        call->mode = TIED_MODE_TIED;
        return sibling;
    }
    ti_client_not_sent (self, call, TIED_NOT_SENT_NO_SIBLING);
    return TIED_NO_REPLICA;
}

/* First copies. A replica is usable. */
void ti_client_start (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    const struct ti_pick pick = ti_client_picker (self, call);
    const bool is_pair = ti_is_pair (call) && ti_race_has_room_to_tie (&call->race);
    uint32_t primary;
    uint32_t sibling = TIED_NO_REPLICA;
    call->first_sent = self->now;
    ti_client_start_hedge_delay (self, call);
    if (is_pair) {
        ti_pick_pair (&pick, &primary, &sibling);
        if (sibling == TIED_NO_REPLICA)
            ti_client_not_sent (self, call, TIED_NOT_SENT_NO_SIBLING);
    } else {
        primary = ti_pick_one (&pick, NULL);
    }
    if (sibling != TIED_NO_REPLICA && !knows_mode (self, call, primary, sibling))
        sibling = without_mode (self, call, sibling);
    if (sibling == TIED_NO_REPLICA) {
        /* Alone it runs once as well, but should the network repeat it: who knows the mode sees. */
        if (!(ti_replica_at (self, primary)->modes & TIED_WIRE_MODE_BIT (TIED_MODE_EXCLUSIVE)))
            call->race.is_exclusive = false;
        ti_client_send_copy (self, token, 0, primary, 0, TIED_NO_REPLICA);
        ti_client_schedule (self, token);
        return;
    }
    if (call->stagger_ns == TIED_STAGGER_AUTO)
        call->stagger_ns =
            ti_stagger_of (&self->stagger, &ti_replica_at (self, primary)->delay,
                           &ti_replica_at (self, sibling)->delay, self->usable_count);
    call->sibling = sibling;
    call->sibling_instance = ti_replica_at (self, sibling)->incarnation;
    call->stagger_due = ti_time_add (self->now, call->stagger_ns);
    ti_client_send_copy (self, token, 0, primary, TIED_REQUEST_TIED, sibling);
    call->race.is_planned = true;
    if (call->stagger_ns == 0)
        (void)ti_client_send_sibling (self, token, false);
    ti_client_schedule (self, token);
}

static uint64_t next_sequence (ti_core *self)
{
    /* At most half of the slots are occupied. A sequence whose slot is, is skipped for good. */
    while (ti_slot_at (self, self->next_sequence)->token != TI_NO_TOKEN)
        self->next_sequence++;
    return self->next_sequence++;
}

static struct ti_method_verdict judge (ti_core *self, const struct tied_client_submit *submit)
{
    const struct ti_method_wish wish = {.mode = submit->mode,
                                        .is_idempotent = submit->is_idempotent,
                                        .is_inner = submit->is_inner,
                                        .depth_milli =
                                            ti_load_mean (&self->mean) * 1000 / TI_LOAD_UNIT,
                                        .hedge_ns = submit->hedge_ns};
    struct ti_method_verdict verdict;
    ti_method_begin (ti_method_at (self, submit->method), &wish, &self->prng,
                     TI_AT (struct ti_method_scratch, self, self->scratch), self->now, &verdict);
    return verdict;
}

void ti_client_submit (ti_core *self, const struct tied_client_submit *submit)
{
    const uint32_t token = submit->token;
    struct ti_call *call = ti_call_at (self, token);
    struct ti_method_verdict verdict = judge (self, submit);
    /* Only its deadline may end an exclusive pair, whose copies may be gone without a word. */
    if (verdict.mode == TIED_MODE_EXCLUSIVE && submit->deadline == TIED_NEVER) {
        verdict.mode = TIED_MODE_SINGLE;
        verdict.not_tied = TIED_NOT_SENT_NO_SIBLING;
    }
    const struct tied_policy *policy = &ti_method_at (self, submit->method)->policy;
    const uint32_t copies_max =
        submit->copies_max ? (uint32_t)ti_min (submit->copies_max, self->options.copies_max)
                           : self->options.copies_max;
    *call = (struct ti_call){.sequence = next_sequence (self),
                             .submitted = self->now,
                             .deadline = submit->deadline,
                             .stagger_ns = submit->stagger_ns == TIED_STAGGER_POLICY
                                               ? policy->stagger_ns
                                               : submit->stagger_ns,
                             .affinity = submit->affinity,
                             .relief_due = TIED_NEVER,
                             .may_relieve = verdict.may_relieve,
                             .sibling = TIED_NO_REPLICA,
                             .method = (uint16_t)submit->method,
                             .mode = (uint8_t)verdict.mode,
                             .kept_copy = TI_NO_COPY,
                             .is_live = true};
    ti_race_init (&call->race, verdict.is_idempotent, copies_max);
    call->race.is_exclusive = verdict.is_exclusive;
    *ti_slot_at (self, call->sequence) = (struct ti_slot){.sequence = call->sequence,
                                                          .token = token,
                                                          .method = (uint16_t)submit->method,
                                                          .ran_copy = TI_NO_COPY,
                                                          .is_used = true};
    self->live_calls++;
    self->counters.submitted++;
    struct tied_client_action *accepted = ti_emit (self, TIED_CLIENT_ACT_ACCEPTED);
    accepted->token = token;
    accepted->call = ti_call_id (self, call);
    if (verdict.not_tied)
        ti_client_not_sent (self, call, (enum tied_not_sent)verdict.not_tied);
    else if (ti_is_pair (call) && !ti_race_has_room_to_tie (&call->race))
        ti_client_not_sent (
            self, call, submit->copies_max ? TIED_NOT_SENT_CHAIN_STOP : TIED_NOT_SENT_COPIES_MAX);
    ti_client_plan_hedge (self, token, &verdict);
    if (call->deadline <= self->now) {
        if (ti_is_pair (call))
            ti_client_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
        ti_client_complete (self, token, TIED_OUTCOME_DEADLINE, NULL);
    } else if (self->usable_count == 0) {
        ti_client_wait (self, token);
    } else {
        ti_client_start (self, token);
    }
}

void ti_client_cancel (ti_core *self, uint32_t token)
{
    ti_client_complete (self, token, TIED_OUTCOME_CANCELLED, NULL);
}

void ti_client_expire (ti_core *self, uint32_t token)
{
    const bool has_left = ti_race_has_left (&ti_call_at (self, token)->race);
    ti_client_finish (self, token, has_left ? TIED_OUTCOME_DEADLINE : TIED_OUTCOME_UNAVAILABLE);
}

void ti_client_timer (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    if (call->deadline <= self->now) {
        ti_client_expire (self, token);
        return;
    }
    TI_ASSERT (ti_client_due (call) <= self->now);
    if (call->race.is_planned && call->stagger_due <= self->now)
        (void)ti_client_send_sibling (self, token, false);
    if (call->race.is_hedge_planned && call->hedge_due <= self->now)
        ti_client_send_hedge (self, token);
    if (call->relief_due <= self->now)
        ti_client_look_for_relief (self, token);
    ti_client_schedule (self, token);
}
