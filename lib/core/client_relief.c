/* SPDX-License-Identifier: MIT */
/*
 * A hedge that relieves: of a call that is known to run, and has run for so long that a copy anew
 * makes less work than what is left of it (relief.h). It goes to the head of the queue, since its
 * call is older than what waits there, and it is not refused where queues are long, since that is
 * where it is wanted. When it goes is reckoned from the start, not from the sending: in full queues
 * every call is late, and hedges of those that wait would only spend the budget.
 *
 * Whether a call runs is told by the answers to others (fifo.h). Where none tell, since few calls
 * go there or the replica stands still, nothing is sent, and the hedge of client_hedge.c is all.
 */
#include "core/client_state.h"

/* A call that has not started is not looked at again sooner. */
#define LOOK_MIN TIED_MS (1)

static const struct ti_relief *plan_of (ti_core *self, const struct ti_call *call)
{
    return &ti_method_at (self, call->method)->plan.relief;
}

void ti_client_start_relief_delay (ti_core *self, struct ti_call *call)
{
    TI_ASSERT (call->race.is_idempotent);
    call->relief_due = ti_time_add (self->now, plan_of (self, call)->delay_ns);
}

/* Of the first copies that may run: does one, and since when; if none does, when will one. After a
 * loss nobody knows: what is left of a pair may have been dropped for the one that is gone. */
static bool has_started (ti_core *self, uint32_t token, tied_time_t *out_start)
{
    const struct ti_race *race = &ti_call_at (self, token)->race;
    bool is_started = false;
    *out_start = TIED_NEVER;
    if (race->lost)
        return false;
    for (uint8_t copy = 0; copy <= 1; copy++) {
        if (!(race->alive & TI_RACE_BIT (copy)))
            continue;
        const struct ti_copy *c = ti_copy_at (self, token, copy);
        const struct ti_fifo *fifo = &ti_replica_at (self, c->replica)->fifo;
        const bool is_this = ti_fifo_has_started (fifo, c->sent);
        const tied_time_t start = ti_fifo_start (fifo, c->sent);
        if (is_this && !is_started)
            *out_start = TIED_NEVER;
        if (is_this >= is_started)
            *out_start = ti_min (*out_start, start);
        is_started = is_started || is_this;
    }
    return is_started;
}

tied_duration_t ti_client_ran (ti_core *self, uint32_t token)
{
    tied_time_t start;
    return has_started (self, token, &start) ? ti_time_sub (self->now, start) : 0;
}

bool ti_client_is_relief (ti_core *self, uint32_t token)
{
    const tied_duration_t from = plan_of (self, ti_call_at (self, token))->from_ns;
    return from != TIED_NEVER && ti_client_ran (self, token) >= from;
}

void ti_client_look_for_relief (ti_core *self, uint32_t token)
{
    struct ti_call *call = ti_call_at (self, token);
    const tied_duration_t delay = plan_of (self, call)->delay_ns;
    tied_time_t start;
    call->relief_due = TIED_NEVER;
    const bool is_started = has_started (self, token, &start);
    if (!is_started || ti_time_add (start, delay) > self->now) {
        call->relief_due = ti_time_add (start, delay);
        if (!is_started)
            call->relief_due =
                ti_max (call->relief_due, ti_time_add (self->now, ti_max (LOOK_MIN, delay / 2)));
        return;
    }
    call->race.is_hedge_planned = true;
    ti_client_send_hedge (self, token);
}
