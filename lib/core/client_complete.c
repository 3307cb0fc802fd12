/* SPDX-License-Identifier: MIT */
/*
 * The end of a call: one COMPLETE, then a CANCEL to every replica that may still hold a copy of it.
 * Nothing else in the core makes these two actions.
 */
#include "core/client_state.h"

/* Another incarnation has nothing to do with what became of the copies of the one before. */
TI_COLD static void tell_health (ti_core *self, const struct ti_copy *c, enum ti_copy_end end)
{
    struct ti_health *health = ti_health_of (self);
    if (end == TI_COPY_NEUTRAL || c->incarnation != ti_replica_at (self, c->replica)->incarnation)
        ti_health_neutral (health, c->replica, self->now);
    else if (end == TI_COPY_FAILED)
        ti_health_failed (health, c->replica, self->now);
    else
        ti_health_answered (health, c->replica, self->now - c->sent, self->now);
}

void ti_client_unlink (ti_core *self, uint32_t token, uint8_t copy, enum ti_copy_end end)
{
    const struct ti_copy *c = ti_copy_at (self, token, copy);
    struct ti_replica *r = ti_replica_at (self, c->replica);
    ti_links_remove (ti_links_of (self), ti_copy_node (self, token, copy));
    if (c->generation == r->generation)
        r->in_flight--;
    self->copies_in_flight--;
    if (self->options.probation_milli)
        tell_health (self, c, end);
}

void ti_client_count_not_sent (ti_core *self, uint32_t method, enum tied_not_sent reason)
{
    struct tied_client_counters *n = &self->counters;
    ti_method_at (self, method)->counters.not_sent[reason]++;
    switch (reason) {
    case TIED_NOT_SENT_NOT_IDEMPOTENT:
        n->not_sent_not_idempotent++;
        return;
    case TIED_NOT_SENT_NO_SIBLING:
        n->not_sent_no_sibling++;
        return;
    case TIED_NOT_SENT_ANSWERED:
        n->not_sent_answered++;
        return;
    case TIED_NOT_SENT_DEADLINE_NEAR:
        n->not_sent_deadline_near++;
        return;
    case TIED_NOT_SENT_LINK_DOWN:
        n->not_sent_link_down++;
        return;
    case TIED_NOT_SENT_COPIES_MAX:
        n->not_sent_copies_max++;
        return;
    case TIED_NOT_SENT_BUDGET:
        n->not_sent_budget++;
        return;
    case TIED_NOT_SENT_GOVERNOR:
        n->not_sent_governor++;
        return;
    case TIED_NOT_SENT_COLD:
        n->not_sent_cold++;
        return;
    case TIED_NOT_SENT_NO_BENEFIT:
        n->not_sent_no_benefit++;
        return;
    case TIED_NOT_SENT_CANARY:
        n->not_sent_canary++;
        return;
    case TIED_NOT_SENT_SHADOW:
        n->not_sent_shadow++;
        return;
    case TIED_NOT_SENT_CHAIN_STOP:
        n->not_sent_chain_stop++;
        return;
    case TIED_NOT_SENT_OFF:
        n->not_sent_off++;
        return;
    case TIED_NOT_SENT_NONE:
    case TIED_NOT_SENT_COUNT:
        break;
    }
    TI_UNREACHABLE ();
}

void ti_client_not_sent (ti_core *self, struct ti_call *call, enum tied_not_sent reason)
{
    if (call->not_sent != TIED_NOT_SENT_NONE)
        return;
    call->not_sent = (uint8_t)reason;
    ti_client_count_not_sent (self, call->method, reason);
}

/* A hedge that is still planned was not needed, or had no first copy to follow. */
static void drop_hedge (ti_core *self, struct ti_call *call)
{
    if (!call->race.is_hedge_planned) {
        if (call->hedge_against && !call->race.hedged)
            ti_client_hedge_not_sent (self, call, (enum tied_not_sent)call->hedge_against);
        return;
    }
    if (call->is_hedge_unpaid)
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_BUDGET);
    else
        ti_client_hedge_not_sent (
            self, call, call->race.sent ? TIED_NOT_SENT_ANSWERED : TIED_NOT_SENT_NO_SIBLING);
}

static void count_outcome (ti_core *self, uint32_t outcome)
{
    struct tied_client_counters *n = &self->counters;
    switch ((enum tied_outcome)outcome) {
    case TIED_OUTCOME_OK:
        n->calls_ok++;
        return;
    case TIED_OUTCOME_APP_ERROR:
        n->calls_app_error++;
        return;
    case TIED_OUTCOME_REJECTED:
        n->calls_rejected++;
        return;
    case TIED_OUTCOME_DEADLINE:
        n->calls_deadline++;
        return;
    case TIED_OUTCOME_CANCELLED:
        n->calls_cancelled++;
        return;
    case TIED_OUTCOME_UNAVAILABLE:
        n->calls_unavailable++;
        return;
    case TIED_OUTCOME_UNIMPLEMENTED:
        n->calls_unimplemented++;
        return;
    case TIED_OUTCOME_INVALID:
        n->calls_invalid++;
        return;
    case TIED_OUTCOME_COUNT:
        break;
    }
    TI_UNREACHABLE ();
}

static uint8_t cancel_reason (uint32_t outcome)
{
    if (outcome == TIED_OUTCOME_OK || outcome == TIED_OUTCOME_APP_ERROR)
        return TIED_CANCEL_WON;
    return outcome == TIED_OUTCOME_CANCELLED ? TIED_CANCEL_CALLER : TIED_CANCEL_DEADLINE;
}

/* The replica may still have this copy queued or running. */
static bool may_hold (ti_core *self, const struct ti_race *race, uint32_t token, uint8_t copy)
{
    const uint16_t bit = TI_RACE_BIT (copy);
    if (race->alive & bit)
        return true;
    /* Lost to silence, but the link is there and so is the instance. */
    const struct ti_copy *c = ti_copy_at (self, token, copy);
    const struct ti_replica *r = ti_replica_at (self, c->replica);
    return (race->lost & bit) && r->incarnation == c->incarnation &&
           (r->state == TIED_REPLICA_UP || r->state == TIED_REPLICA_SUSPECT);
}

/* To each replica once. The winner's own replica hears of it if it was sent a later copy, a
 * re-issue: that merged, and nothing is left, or came just after the winner had ended, and waits to
 * run. An earlier copy is not there any more, or a re-issue that wins would have merged with it. */
static void send_cancels (ti_core *self,
                          uint32_t token,
                          uint8_t reason,
                          uint32_t winner,
                          uint32_t winner_copy,
                          uint16_t dropped)
{
    const struct ti_race *race = &ti_call_at (self, token)->race;
    uint32_t told[TIED_COPIES_MAX + 1];
    uint32_t told_count = 0;
    const unsigned candidates = (unsigned)(race->alive | race->lost) & ~(unsigned)dropped;
    for (uint8_t copy = 0; candidates >> copy; copy++) {
        if (!(candidates & TI_RACE_BIT (copy)) || !may_hold (self, race, token, copy))
            continue;
        const uint32_t replica = ti_copy_at (self, token, copy)->replica;
        bool is_told = replica == winner && copy <= winner_copy;
        for (uint32_t i = 0; i < told_count; i++)
            is_told = is_told || told[i] == replica;
        if (is_told)
            continue;
        told[told_count++] = replica;
        struct tied_client_action *action = ti_emit (self, TIED_CLIENT_ACT_SEND_CANCEL);
        action->replica = replica;
        action->call = ti_call_id (self, ti_call_at (self, token));
        action->u.cancel.reason = reason;
        self->counters.cancels_sent++;
    }
}

uint16_t ti_client_dropped_by_peer (const struct ti_race *race,
                                    const struct tied_client_event *reply)
{
    const uint16_t pair = TI_RACE_BIT (0) | TI_RACE_BIT (1);
    const uint32_t flags = reply->u.reply.flags;
    const uint16_t won = TI_RACE_BIT (reply->u.reply.copy);
    if (!(flags & TIED_REPLY_SIBLING_TOLD) || (flags & TIED_REPLY_SIBLING_STARTED))
        return 0;
    return (race->tied & won) ? (uint16_t)(race->tied & pair & ~won) : 0;
}

static void fill_win (ti_core *self,
                      uint32_t token,
                      const struct tied_client_event *reply,
                      struct tied_client_completion *out)
{
    struct ti_call *call = ti_call_at (self, token);
    const uint8_t copy = reply->u.reply.copy;
    const bool was_alive = call->race.alive & TI_RACE_BIT (copy);
    struct ti_slot *slot = ti_slot_at (self, call->sequence);
    out->status = reply->u.reply.status;
    out->winner = reply->replica;
    out->winner_copy = copy;
    out->is_kept = reply == TI_AT (struct tied_client_event, self, self->kept) + token;
    out->queue_ns = reply->u.reply.queue_ns;
    out->service_ns = reply->u.reply.service_ns;
    out->both_ran = (reply->u.reply.flags & TIED_REPLY_SIBLING_STARTED) != 0 &&
                    (call->race.sent & ~TI_RACE_BIT (copy)) != 0;
    slot->ran_copy = copy;
    slot->both_ran = out->both_ran;
    if (out->both_ran) {
        self->counters.duplicates++;
        ti_method_duplicate (ti_method_at (self, call->method), self->now);
    }
    if (copy == 1)
        self->counters.wins_tied++;
    else if (call->race.hedged & TI_RACE_BIT (copy))
        self->counters.wins_hedged++;
    /* A copy that was given up before keeps the count it has. */
    if (was_alive)
        self->counters.copies_won++;
}

/* How long ago the hedge was sent; 0: there was none. */
static tied_duration_t since_hedge (ti_core *self, uint32_t token)
{
    const struct ti_race *race = &ti_call_at (self, token)->race;
    for (uint8_t copy = 2; race->hedged >> copy; copy++)
        if (race->hedged & TI_RACE_BIT (copy))
            return self->now - ti_copy_at (self, token, copy)->sent;
    return 0;
}

/* What the method learns from the end of a call. */
static void
report (ti_core *self, uint32_t token, uint32_t outcome, uint32_t won, tied_duration_t service_ns)
{
    const struct ti_call *call = ti_call_at (self, token);
    const struct ti_race *race = &call->race;
    const uint16_t pair = TI_RACE_BIT (0) | TI_RACE_BIT (1);
    const bool is_hedge = won < 16 && (race->hedged & TI_RACE_BIT (won));
    const struct ti_method_end end = {
        .outcome = outcome,
        .was_sent = race->sent != 0,
        .was_tied = (race->tied & pair) == pair,
        .was_lost = race->lost != 0,
        .was_hedged = race->hedged != 0,
        .hedge_won = is_hedge,
        .since_first = self->now - call->first_sent,
        .since_hedge = since_hedge (self, token),
        .was_relieved = call->is_relieved && (race->hedged & ~race->refused),
        .since_shadow = call->is_shadowed ? self->now - call->hedge_due : 0,
        .service_ns = service_ns,
        .ran_ns = is_hedge || won >= 16 ? ti_client_ran (self, token) : 0};
    ti_method_end (ti_method_at (self, call->method), &end, self->now);
}

static void retire_all (ti_core *self, uint32_t token, uint32_t outcome, uint32_t winner_copy)
{
    struct ti_race *race = &ti_call_at (self, token)->race;
    const bool is_won = outcome == TIED_OUTCOME_OK || outcome == TIED_OUTCOME_APP_ERROR;
    for (uint8_t copy = 0; race->alive; copy++) {
        if (!(race->alive & TI_RACE_BIT (copy)))
            continue;
        const bool has_won = is_won && copy == winner_copy;
        ti_client_unlink (self, token, copy, has_won ? TI_COPY_ANSWERED : TI_COPY_NEUTRAL);
        race->alive = (uint16_t)(race->alive & ~TI_RACE_BIT (copy));
        if (has_won)
            continue;
        if (is_won)
            self->counters.copies_lost_race++;
        else
            self->counters.copies_abandoned++;
    }
}

void ti_client_complete (ti_core *self,
                         uint32_t token,
                         uint32_t outcome,
                         const struct tied_client_event *reply)
{
    struct ti_call *call = ti_call_at (self, token);
    struct ti_slot *slot = ti_slot_at (self, call->sequence);
    TI_ASSERT (call->is_live && slot->token == token && slot->sequence == call->sequence);
    if (ti_is_pair (call) && !(call->race.sent & TI_RACE_BIT (1)))
        ti_client_not_sent (
            self, call, call->race.is_planned ? TIED_NOT_SENT_ANSWERED : TIED_NOT_SENT_NO_SIBLING);
    drop_hedge (self, call);
    struct tied_client_action *action = ti_emit (self, TIED_CLIENT_ACT_COMPLETE);
    action->token = token;
    action->call = ti_call_id (self, call);
    struct tied_client_completion *done = &action->u.completion;
    *done = (struct tied_client_completion){.outcome = outcome,
                                            .not_sent = call->not_sent,
                                            .hedge_not_sent = call->hedge_not_sent,
                                            .copies_sent = call->race.copies_sent,
                                            .winner = TIED_NO_REPLICA,
                                            .latency_ns = self->now - call->submitted};
    done->may_have_executed = reply || ti_race_may_have_executed (&call->race);
    if (call->race.tied)
        done->stagger_ns = call->stagger_ns;
    if (outcome == TIED_OUTCOME_REJECTED || outcome == TIED_OUTCOME_UNIMPLEMENTED ||
        outcome == TIED_OUTCOME_INVALID)
        done->reject = call->race.first_reject;
    uint16_t dropped = 0;
    uint32_t winner_copy = UINT32_MAX;
    if (reply) {
        fill_win (self, token, reply, done);
        dropped = ti_client_dropped_by_peer (&call->race, reply);
        winner_copy = reply->u.reply.copy;
    }
    count_outcome (self, outcome);
    report (self, token, outcome, winner_copy, done->service_ns);
    send_cancels (self, token, cancel_reason (outcome), done->winner, winner_copy, dropped);
    retire_all (self, token, outcome, winner_copy);
    ti_client_stop_waiting (self, token);
    (void)ti_heap_remove (&self->due, token);
    call->is_live = false;
    slot->token = TI_NO_TOKEN;
    self->live_calls--;
}
