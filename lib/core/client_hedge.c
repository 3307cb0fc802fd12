/* SPDX-License-Identifier: MIT */
/*
 * The hedge: one further copy of a call whose others are slow, to an instance that holds none of
 * them. Here is when it may go and where to; how long its delay is, the caller has said.
 *
 * What forbids a hedge only skips it: a call never ends for the want of one [CL-02]. One that fails
 * retires only itself while another copy is alive [CL-11].
 */
#include "core/client_state.h"

void ti_client_hedge_not_sent (ti_core *self, struct ti_call *call, enum tied_not_sent reason)
{
    call->race.is_hedge_planned = false;
    if (call->hedge_not_sent != TIED_NOT_SENT_NONE)
        return;
    call->hedge_not_sent = (uint8_t)reason;
    ti_client_count_not_sent (self, reason);
}

void ti_client_plan_hedge (ti_core *self, uint32_t token, tied_duration_t hedge_ns)
{
    struct ti_call *call = ti_call_at (self, token);
    if (hedge_ns == TIED_HEDGE_NONE || hedge_ns == TIED_NEVER)
        return;
    const bool is_tied = call->mode == TIED_MODE_TIED && ti_race_has_room_to_tie (&call->race);
    if (!call->race.is_idempotent) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_NOT_IDEMPOTENT);
    } else if (!ti_race_has_room_to_hedge (&call->race, is_tied)) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_COPIES_MAX);
    } else if (call->deadline <= self->now) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
    } else {
        call->hedge_ns = hedge_ns == TIED_HEDGE_NOW ? 0 : hedge_ns;
        call->race.is_hedge_planned = true;
    }
}

void ti_client_start_hedge_delay (ti_core *self, struct ti_call *call)
{
    call->hedge_due = ti_time_add (self->now, call->hedge_ns);
}

/* Not where a copy is or will be, nor where one could not be sent [CL-19]; rather not where one was
 * refused or lost. */
static uint32_t choose (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    const struct ti_race *race = &call->race;
    struct ti_pick_avoid avoid = {.soft_count = 0, .hard_count = 0};
    ti_client_add_instances (self, token, race->refused | race->lost, avoid.soft,
                             &avoid.soft_count);
    ti_client_add_instances (self, token, race->alive | race->unsent, avoid.hard,
                             &avoid.hard_count);
    if (race->is_planned)
        avoid.hard[avoid.hard_count++] = call->sibling_instance;
    const struct ti_pick pick = ti_client_picker (self);
    return ti_pick_one (&pick, &avoid);
}

void ti_client_send_hedge (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    struct ti_race *race = &call->race;
    TI_ASSERT (race->is_hedge_planned && !call->is_waiting);
    if (ti_client_is_deadline_near (self, call)) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
        return;
    }
    if (!ti_race_may_hedge (race)) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_COPIES_MAX);
        return;
    }
    const uint32_t replica = choose (self, token);
    if (replica == TIED_NO_REPLICA) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_NO_SIBLING);
        return;
    }
    ti_race_hedge (race);
    ti_client_send_copy (self, token, race->next_copy, replica,
                         race->lost ? (uint32_t)TIED_REQUEST_REISSUE : 0, TIED_NO_REPLICA);
}
