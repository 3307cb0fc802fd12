/* SPDX-License-Identifier: MIT */
/*
 * The hedge: one further copy of a call whose others are slow, to an instance that holds none of
 * them. Here is when it may go and where to; how long its delay is, the caller or its method has
 * said.
 *
 * With no instance but those of a tied pair it goes to one of these two. One of them has started
 * the call by then, and the other has dropped its copy and can run it anew; which is which the
 * client is not told. It asks copy 1's replica first, for mostly copy 0 starts. A replica that
 * holds the call refuses as a duplicate, and then the hedge was never there: the other one is
 * asked. If both hold it, the call still waits in both queues, where a third copy is no use: it is
 * asked again after as much time as it has been pending. A stagger that is longer than the delay
 * ends with it: copy 1 goes first, so that there is a pair.
 *
 * One for which the budget has no token is put off by as much time as the call has been pending:
 * few are still pending then, and those are the ones that need it.
 *
 * What else forbids a hedge only skips it: a call never ends for the want of one [CL-02]. One that
 * fails retires only itself while another copy is alive [CL-11].
 */
#include "core/client_state.h"

/* Times that the two replicas of a pair are asked: with a delay of 10 ms after 10, 20, 40 and 80.
 */
#define TRIES_MAX 8
/* For which there was no token is asked for again no sooner. */
#define AGAIN_MIN TIED_MS (1)

void ti_client_hedge_not_sent (ti_core *self, struct ti_call *call, enum tied_not_sent reason)
{
    call->race.is_hedge_planned = false;
    call->relief_due = TIED_NEVER;
    call->may_relieve = false;
    if (call->hedge_not_sent != TIED_NOT_SENT_NONE)
        return;
    call->hedge_not_sent = (uint8_t)reason;
    ti_client_count_not_sent (self, call->method, reason);
}

void ti_client_plan_hedge (ti_core *self, uint32_t token, const struct ti_method_verdict *verdict)
{
    struct ti_call *call = ti_call_at (self, token);
    const bool is_tied = ti_is_pair (call) && ti_race_has_room_to_tie (&call->race);
    if (verdict->not_hedged && verdict->may_relieve) {
        call->hedge_against = verdict->not_hedged;
        return;
    }
    if (verdict->not_hedged) {
        ti_client_hedge_not_sent (self, call, (enum tied_not_sent)verdict->not_hedged);
        return;
    }
    if (verdict->hedge_ns == TIED_NEVER)
        return;
    TI_ASSERT (call->race.is_idempotent);
    if (!ti_race_has_room_to_hedge (&call->race, is_tied)) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_COPIES_MAX);
    } else if (call->deadline <= self->now) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_DEADLINE_NEAR);
    } else {
        call->hedge_ns = verdict->hedge_ns;
        call->race.is_hedge_planned = true;
    }
}

void ti_client_start_hedge_delay (ti_core *self, struct ti_call *call)
{
    call->hedge_due = ti_time_add (self->now, call->hedge_ns);
    if (call->may_relieve)
        ti_client_start_relief_delay (self, call);
}

/* Of a tied pair that is still one: the replica to ask, or TIED_NO_REPLICA. */
static uint32_t choose_of_pair (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    if (!ti_race_is_pair (&call->race) || call->hedge_tries >= TRIES_MAX)
        return TIED_NO_REPLICA;
    const struct ti_copy *c = ti_copy_at (self, token, call->hedge_tries % 2 == 0 ? 1 : 0);
    return ti_client_is_usable (self, c->replica) ? c->replica : TIED_NO_REPLICA;
}

/* Not where a copy is or will be, nor where one has failed or could not be sent [CL-19]; rather not
 * where one was refused or lost. */
static uint32_t choose (ti_core *self, uint32_t token)
{
    const struct ti_call *call = ti_call_at (self, token);
    const struct ti_race *race = &call->race;
    struct ti_pick_avoid avoid = {.soft_count = 0, .hard_count = 0};
    ti_client_add_instances (self, token, race->refused | race->lost, avoid.soft,
                             &avoid.soft_count);
    ti_client_add_instances (self, token, race->alive | race->unsent | race->failed, avoid.hard,
                             &avoid.hard_count);
    if (race->is_planned)
        avoid.hard[avoid.hard_count++] = call->sibling_instance;
    avoid.is_spared = true;
    avoid.zone = ti_replica_at (self, ti_copy_at (self, token, 0)->replica)->zone;
    const struct ti_pick pick = ti_client_picker (self, call);
    return ti_pick_one (&pick, &avoid);
}

/* Whether it runs is of no interest any more, also if this one is refused. */
void ti_client_begin_hedge (struct ti_call *call, bool is_relief)
{
    ti_race_hedge (&call->race);
    call->is_relieved = is_relief;
    call->relief_due = TIED_NEVER;
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
    uint32_t replica = choose (self, token);
    if (replica == TIED_NO_REPLICA && race->is_planned)
        (void)ti_client_send_sibling (self, token, false);
    if (replica == TIED_NO_REPLICA)
        replica = choose_of_pair (self, token);
    if (replica == TIED_NO_REPLICA) {
        ti_client_hedge_not_sent (self, call, TIED_NOT_SENT_NO_SIBLING);
        return;
    }
    const bool is_relief = ti_client_is_relief (self, token);
    const uint32_t against = ti_method_may_hedge (ti_method_at (self, call->method), is_relief);
    if (against == TIED_NOT_SENT_BUDGET && race->alive) {
        call->is_hedge_unpaid = true;
        call->hedge_due = ti_time_add (self->now, ti_max (AGAIN_MIN, self->now - call->first_sent));
        return;
    }
    if (against == TIED_NOT_SENT_SHADOW) {
        call->is_shadowed = true;
        call->hedge_due = self->now;
    }
    if (against) {
        ti_client_hedge_not_sent (self, call, (enum tied_not_sent)against);
        return;
    }
    ti_client_begin_hedge (call, is_relief);
    const uint32_t relief = is_relief ? (uint32_t)TIED_REQUEST_RELIEF : 0;
    const uint32_t again = race->lost ? (uint32_t)TIED_REQUEST_REISSUE : 0;
    ti_client_send_copy (self, token, race->next_copy, replica, relief | again, TIED_NO_REPLICA);
}

void ti_client_hedge_is_duplicate (ti_core *self, uint32_t token, uint8_t copy)
{
    struct ti_call *call = ti_call_at (self, token);
    ti_method_hedge_unsent (ti_method_at (self, call->method));
    ti_race_unhedge (&call->race, copy);
    call->hedge_tries++;
    /* The other one now; after both have been asked, later. */
    call->hedge_due = call->hedge_tries % 2 == 1
                          ? self->now
                          : ti_time_add (self->now, ti_time_sub (self->now, call->first_sent));
    if (call->hedge_due == self->now)
        ti_client_send_hedge (self, token);
    ti_client_schedule (self, token);
}
