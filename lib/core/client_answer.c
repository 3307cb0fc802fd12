/* SPDX-License-Identifier: MIT */
/*
 * A reply: it ends its call, or it is an application error that is not accepted while another copy
 * may do better. The first success wins; if all copies fail, the caller gets the error of the first
 * one, by copy number. Which errors wait is the method's setting; of an exclusive call none does,
 * for it has run.
 *
 * An error is an answer: it takes its own copy out of the race, and the one that was dropped for
 * it, and nothing else [CL-11]. It makes what was planned go sooner [CL-25], if the budget pays for
 * a second execution, and is never a reason to send the call once more [CL-18].
 */
#include "core/client_state.h"

static struct tied_client_event *kept_at (ti_core *self, uint32_t token)
{
    return TI_AT (struct tied_client_event, self, self->kept) + token;
}

/* Copies that answered, or were dropped by the one that did, are in the race no more. A dropped one
 * is as good as refused: where it was, the call has not failed. */
static void retire (ti_core *self, uint32_t token, const struct tied_client_event *reply)
{
    struct ti_race *race = &ti_call_at (self, token)->race;
    const uint16_t dropped = (uint16_t)(ti_client_dropped_by_peer (race, reply) & race->alive);
    for (uint8_t copy = 0; dropped >> copy; copy++) {
        if (!(dropped & TI_RACE_BIT (copy)))
            continue;
        ti_client_unlink (self, token, copy, TI_COPY_NEUTRAL);
        ti_race_refused (race, copy, TIED_REJECT_NONE);
        self->counters.copies_lost_race++;
    }
    if (!(race->alive & TI_RACE_BIT (reply->u.reply.copy)))
        return;
    ti_client_unlink (self, token, reply->u.reply.copy, TI_COPY_FAILED);
    ti_race_failed (race, reply->u.reply.copy);
    self->counters.copies_failed++;
}

static void keep (ti_core *self, uint32_t token, const struct tied_client_event *reply)
{
    struct ti_call *call = ti_call_at (self, token);
    if (call->kept_copy <= reply->u.reply.copy)
        return;
    call->kept_copy = reply->u.reply.copy;
    *kept_at (self, token) = *reply;
    struct tied_client_action *action = ti_emit (self, TIED_CLIENT_ACT_KEEP_REPLY);
    action->token = token;
    action->replica = reply->replica;
    action->call = ti_call_id (self, call);
}

/* The planned copy 1 is all that is left. If the other replica was told of the start, it waits for
 * the number 1 to drop it, so it gets another one. */
static void send_sibling (ti_core *self, uint32_t token, bool was_told)
{
    struct ti_call *call = ti_call_at (self, token);
    struct ti_race *race = &call->race;
    const struct ti_replica *r = ti_replica_at (self, call->sibling);
    if (!ti_method_may_ask_other (ti_method_at (self, call->method))) {
        race->is_planned = false;
        ti_client_not_sent (self, call, TIED_NOT_SENT_BUDGET);
        return;
    }
    if (!was_told) {
        (void)ti_client_send_sibling (self, token, true);
        return;
    }
    race->is_planned = false;
    ti_client_not_sent (self, call, TIED_NOT_SENT_ANSWERED);
    if (ti_race_may_send (race) && !ti_client_is_deadline_near (self, call) && r->is_usable &&
        r->incarnation == call->sibling_instance)
        ti_client_send_copy (self, token, race->next_copy, call->sibling, 0, TIED_NO_REPLICA);
}

static void go_on_without (ti_core *self, uint32_t token, const struct tied_client_event *reply)
{
    struct ti_call *call = ti_call_at (self, token);
    enum ti_race_next next = ti_race_after_failure (&call->race);
    if (next == TI_RACE_SEND_TIED) {
        send_sibling (self, token, (reply->u.reply.flags & TIED_REPLY_SIBLING_TOLD) != 0);
        next = ti_race_after_failure (&call->race);
    }
    if (next == TI_RACE_END && call->race.is_hedge_planned && !call->is_waiting) {
        ti_client_send_hedge (self, token);
        next = ti_race_after_failure (&call->race);
    }
    if (next == TI_RACE_END)
        ti_client_finish (self, token, TIED_OUTCOME_APP_ERROR);
    else
        ti_client_schedule (self, token);
}

void ti_client_answered (ti_core *self, uint32_t token, const struct tied_client_event *reply)
{
    const struct ti_call *call = ti_call_at (self, token);
    const uint32_t status = reply->u.reply.status;
    if (status == 0) {
        ti_client_complete (self, token, TIED_OUTCOME_OK, reply);
        return;
    }
    if (call->race.is_exclusive ||
        !ti_method_waits_for_others (ti_method_at_const (self, call->method), status)) {
        ti_client_complete (self, token, TIED_OUTCOME_APP_ERROR, reply);
        return;
    }
    keep (self, token, reply);
    retire (self, token, reply);
    if (self->is_stopped || call->deadline <= self->now)
        ti_client_finish (self, token, TIED_OUTCOME_APP_ERROR);
    else
        go_on_without (self, token, reply);
}

void ti_client_finish (ti_core *self, uint32_t token, uint32_t outcome)
{
    const struct ti_call *call = ti_call_at (self, token);
    if (call->kept_copy == TI_NO_COPY)
        ti_client_complete (self, token, outcome, NULL);
    else
        ti_client_complete (self, token, TIED_OUTCOME_APP_ERROR, kept_at (self, token));
}
