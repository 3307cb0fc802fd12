/* SPDX-License-Identifier: MIT */
/*
 * What happens to a call when one of its copies is refused, lost or could not be sent: race.c
 * decides, this file finds the replica and sends.
 */
#include "core/client_state.h"

void ti_client_add_instances (
    ti_core *self, uint32_t token, uint16_t copies, uint64_t *instances, uint32_t *count)
{
    for (uint8_t copy = 0; copy < self->stride; copy++)
        if (copies & TI_RACE_BIT (copy))
            instances[(*count)++] = ti_copy_at (self, token, copy)->incarnation;
}

/* Where a further copy goes: not where one could not be sent, rather not where one was refused or
 * lost or has failed. */
static uint32_t choose_again (ti_core *self, uint32_t token)
{
    const struct ti_race *race = &ti_call_at (self, token)->race;
    struct ti_pick_avoid avoid = {.soft_count = 0, .hard_count = 0};
    ti_client_add_instances (self, token, race->refused | race->lost | race->failed, avoid.soft,
                             &avoid.soft_count);
    ti_client_add_instances (self, token, race->unsent, avoid.hard, &avoid.hard_count);
    const struct ti_pick pick = ti_client_picker (self, ti_call_at (self, token));
    return ti_pick_one (&pick, &avoid);
}

/* A replica that holds another live copy, or was to get copy 1: there the re-issue merges. Not
 * one for which a copy in unsent was meant. */
static uint32_t replica_to_merge (ti_core *self, uint32_t token, uint16_t unsent)
{
    const struct ti_call *call = ti_call_at (self, token);
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

/*
 * A copy that takes over because all others have failed is the hedge, if that is still to come: a
 * refusal or a loss shortens its delay to nothing [CL-25], and costs no copy more than without one.
 * A copy that replaces one which surely has not run begins the call anew, its delay too.
 */
static void
send_again (ti_core *self, uint32_t token, uint32_t replica, uint32_t flags, bool is_replacement)
{
    struct ti_call *call = ti_call_at (self, token);
    struct ti_race *race = &call->race;
    if (race->lost)
        flags |= TIED_REQUEST_REISSUE;
    if (race->is_hedge_planned && is_replacement)
        ti_client_start_hedge_delay (self, call);
    else if (race->is_hedge_planned)
        ti_client_begin_hedge (call, false);
    ti_client_send_copy (self, token, race->sent == 0 ? 0 : race->next_copy, replica, flags,
                         TIED_NO_REPLICA);
    ti_client_schedule (self, token);
}

/* The budget lets the call have a re-issue or its last try. */
static bool may_send_again (ti_core *self, uint32_t token)
{
    const uint32_t method = ti_call_at (self, token)->method;
    if (ti_method_may_send_again (ti_method_at (self, method)))
        return true;
    ti_client_count_not_sent (self, method, TIED_NOT_SENT_BUDGET);
    return false;
}

static void finish (ti_core *self, uint32_t token)
{
    ti_client_finish (self, token, ti_race_outcome (&ti_call_at (self, token)->race));
}

/* Too late for a further copy. A doubtful one may win until the deadline, which is near. */
static void no_time (ti_core *self, uint32_t token)
{
    ti_client_count_not_sent (self, ti_call_at (self, token)->method, TIED_NOT_SENT_DEADLINE_NEAR);
    if (ti_call_at (self, token)->race.alive)
        ti_client_schedule (self, token);
    else
        finish (self, token);
}

/* No place for a further copy now. A call with a doubtful one waits in any case: it could win. */
static void no_place (ti_core *self, uint32_t token, bool may_wait)
{
    if (!may_wait && !ti_call_at (self, token)->race.alive) {
        finish (self, token);
        return;
    }
    ti_client_wait (self, token);
    /* Others would meet the same full pipe and use up their copies; so let all wait for the next
     * sign of life, which is no more than a heartbeat away. */
    self->is_placing = false;
}

/* reason: of the refusal that it follows; TIED_REJECT_NONE after a loss or a failed send. */
static void carry_out (ti_core *self, uint32_t token, enum ti_race_next next, uint8_t reason)
{
    struct ti_call *call = ti_call_at (self, token);
    const bool is_further =
        next == TI_RACE_REROUTE || next == TI_RACE_LAST || next == TI_RACE_REISSUE;
    /* It may have waited with a doubtful copy, which is now gone. */
    ti_client_stop_waiting (self, token);
    if (is_further && ti_client_is_deadline_near (self, call)) {
        no_time (self, token);
        return;
    }
    if ((next == TI_RACE_LAST || next == TI_RACE_REISSUE) && !may_send_again (self, token)) {
        finish (self, token);
        return;
    }
    uint32_t replica;
    switch (next) {
    case TI_RACE_GO_ON:
        ti_client_schedule (self, token);
        return;
    case TI_RACE_REROUTE:
        replica = choose_again (self, token);
        /* A copy alone in the world: the flag lifts the limit that is meant for extra copies. */
        if (replica != TIED_NO_REPLICA)
            send_again (self, token, replica, TIED_REQUEST_LAST, true);
        else
            no_place (self, token, reason != TIED_REJECT_DRAINING);
        return;
    case TI_RACE_LAST:
        call->race.had_last = true;
        replica = choose_again (self, token);
        if (replica != TIED_NO_REPLICA)
            send_again (self, token, replica, TIED_REQUEST_LAST, false);
        else
            no_place (self, token, false);
        return;
    case TI_RACE_REISSUE:
        replica = replica_to_merge (self, token, call->race.unsent);
        if (replica == TIED_NO_REPLICA)
            replica = choose_again (self, token);
        if (replica != TIED_NO_REPLICA)
            send_again (self, token, replica, 0, false);
        else
            no_place (self, token, true);
        return;
    case TI_RACE_END:
        if (reason == TIED_REJECT_NONE && call->race.is_idempotent)
            ti_client_count_not_sent (self, call->method, TIED_NOT_SENT_COPIES_MAX);
        finish (self, token);
        return;
    case TI_RACE_SEND_TIED:
        break;
    }
    TI_UNREACHABLE ();
}

/* A copy has just been retired: end the call if nothing may be sent for it any more. */
static bool is_over (ti_core *self, uint32_t token)
{
    if (self->is_stopped)
        ti_client_cancel (self, token);
    else if (ti_call_at (self, token)->deadline <= self->now)
        ti_client_expire (self, token);
    return !ti_call_at (self, token)->is_live;
}

/* Copy 0 was lost before copy 1 was sent: the re-issue takes its place, if there is one. */
static void drop_plan (ti_core *self, struct ti_call *call)
{
    if (!call->race.is_planned || (call->race.alive & TI_RACE_BIT (0)))
        return;
    call->race.is_planned = false;
    ti_client_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
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
        ti_client_unlink (self, token, copy, TI_COPY_NEUTRAL);
        ti_race_lost (race, copy);
        self->counters.copies_lost++;
    }
}

/* Two instances may have been sent it, and the earlier one may have run it: no answer, but a loss.
 */
static void exclusive_is_stale (ti_core *self, uint32_t token, uint8_t copy)
{
    struct ti_call *call = ti_call_at (self, token);
    const struct ti_copy *c = ti_copy_at (self, token, copy);
    ti_race_lost (&call->race, copy);
    self->counters.copies_lost++;
    if (ti_replica_at (self, c->replica)->incarnation == c->incarnation)
        ti_client_stale (self, c->replica);
    if (is_over (self, token))
        return;
    drop_plan (self, call);
    carry_out (self, token, ti_race_after_loss (&call->race), TIED_REJECT_NONE);
}

/* Reasons that say how much there is to do, and not what the copy is. */
static bool is_overload (uint8_t reason)
{
    return reason == TIED_REJECT_BUSY || reason == TIED_REJECT_FULL ||
           reason == TIED_REJECT_TOO_LATE;
}

void ti_client_refused (ti_core *self, uint32_t token, uint8_t copy, uint8_t reason)
{
    struct ti_call *call = ti_call_at (self, token);
    ti_client_unlink (self, token, copy, TI_COPY_NEUTRAL);
    if (call->race.is_exclusive && reason == TIED_REJECT_STALE) {
        exclusive_is_stale (self, token, copy);
        return;
    }
    self->counters.copies_rejected++;
    if (reason == TIED_REJECT_DUPLICATE && ti_race_may_unhedge (&call->race, copy) &&
        call->deadline > self->now && !self->is_stopped) {
        ti_client_hedge_is_duplicate (self, token, copy);
        return;
    }
    const bool is_reissue = copy >= 2 && call->race.lost != 0;
    ti_race_refused (&call->race, copy, reason);
    if (copy > 0 && is_overload (reason))
        ti_method_refused (ti_method_at (self, call->method),
                           (call->race.hedged & TI_RACE_BIT (copy)) != 0, self->now);
    if (is_reissue && reason != TIED_REJECT_DUPLICATE)
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
    if (next == TI_RACE_SEND_TIED && !ti_client_send_sibling (self, token, true))
        next = ti_race_after_refusal (&call->race, reason);
    carry_out (self, token, next == TI_RACE_SEND_TIED ? TI_RACE_GO_ON : next, reason);
}

void ti_client_unsent (ti_core *self, uint32_t token, uint8_t copy)
{
    struct ti_call *call = ti_call_at (self, token);
    ti_client_unlink (self, token, copy, TI_COPY_NEUTRAL);
    ti_race_unsent (&call->race, copy);
    self->counters.copies_lost++;
    if (copy == 1)
        ti_client_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
    else if (call->race.hedged & TI_RACE_BIT (copy))
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_LINK_DOWN);
    if (call->race.hedged & TI_RACE_BIT (copy))
        ti_method_hedge_unsent (ti_method_at (self, call->method));
    if (is_over (self, token))
        return;
    enum ti_race_next next = ti_race_after_unsent (&call->race);
    if (next == TI_RACE_SEND_TIED && !ti_client_send_sibling (self, token, true))
        next = ti_race_after_unsent (&call->race);
    carry_out (self, token, next == TI_RACE_SEND_TIED ? TI_RACE_GO_ON : next, TIED_REJECT_NONE);
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
        ti_client_unlink (self, token, copy, TI_COPY_FAILED);
        ti_race_lost (&call->race, copy);
        self->counters.copies_lost++;
    }
    if (is_over (self, token))
        return;
    drop_plan (self, call);
    carry_out (self, token, ti_race_after_loss (&call->race), TIED_REJECT_NONE);
}

void ti_client_place_one (ti_core *self)
{
    const uint32_t node = ti_links_of (self)[ti_waiting_list (self)].next;
    const uint32_t token = node - ti_call_node (self, 0);
    struct ti_call *call = ti_call_at (self, token);
    ti_client_stop_waiting (self, token);
    if (call->race.sent == 0) {
        ti_client_start (self, token);
        return;
    }
    if (ti_client_is_deadline_near (self, call)) {
        no_time (self, token);
        return;
    }
    /* All that it avoids may have recovered since. */
    const struct ti_pick pick = ti_client_picker (self, call);
    uint32_t replica = call->race.alive ? replica_to_merge (self, token, 0) : TIED_NO_REPLICA;
    if (replica == TIED_NO_REPLICA)
        replica = ti_pick_one (&pick, NULL);
    const bool is_replacement = call->race.lost == 0;
    send_again (self, token, replica, is_replacement ? (uint32_t)TIED_REQUEST_LAST : 0,
                is_replacement);
}
