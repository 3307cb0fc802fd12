/* SPDX-License-Identifier: MIT */
/*
 * What became of each copy, for whoever observes. The core says it in actions and, of copies that
 * it neither keeps nor answers, in its counters alone. Nothing here decides anything.
 */
#include "base/assert.h"
#include "base/util.h"
#include "engine.h"

const char *tied_fate_name (int fate)
{
#define CASE_(name, value, text)                                                                   \
    case (value):                                                                                  \
        return text;
    switch (fate) {
        TIED_FATE_MAP (CASE_)
    default:
        return "?";
    }
#undef CASE_
}

static void tell (const tied_replica_t *self, const struct tied_copy_record *record)
{
    self->options.observe (self->options.observe_arg, record);
}

/* Of the copy that has just arrived, and does not stay. */
static void tell_arrival (tied_replica_t *self, enum tied_fate fate, uint8_t reject)
{
    const struct tied_copy_record record = {.call = self->arrived->call,
                                            .copy = self->arrived->copy,
                                            .reject = reject,
                                            .fate = fate,
                                            .arrived_at = self->now};

    TI_ASSERT (!self->is_arrival_settled);
    self->is_arrival_settled = true;
    tell (self, &record);
}

static enum tied_fate fate_of_reason (uint8_t reason)
{
    return reason == TIED_REJECT_EXPIRED ? TIED_FATE_EXPIRED : TIED_FATE_REJECTED;
}

void ti_observe_request (tied_replica_t *self, const struct tied_replica_event *event)
{
    const struct tied_replica_counters *now = tied_replica_core_counters (self->core);
    const uint64_t received = now->received;
    const uint64_t tombstoned = now->tombstoned;
    const uint64_t merged = now->merged;

    self->is_arrival_settled = false;
    (void)!ti_replica_step (self, event);
    if (self->is_arrival_settled || now->received == received)
        return;
    if (now->tombstoned != tombstoned)
        tell_arrival (self, TIED_FATE_TOMBSTONED, TIED_REJECT_NONE);
    else if (now->merged != merged)
        tell_arrival (self, TIED_FATE_MERGED, TIED_REJECT_NONE);
    else
        tell_arrival (self, TIED_FATE_DUPLICATE, TIED_REJECT_NONE);
}

void ti_observe_reject (tied_replica_t *self, const struct tied_replica_action *action)
{
    if (action->slot != UINT32_MAX) {
        self->slots[action->slot].reject = action->reason;
        return;
    }
    /* Else it answers a re-issue that merged long ago. */
    if (self->arrived && !self->is_arrival_settled && self->arrived->copy == action->copy &&
        ti_call_id_equal (self->arrived->call, action->call))
        tell_arrival (self, fate_of_reason (action->reason), action->reason);
}

void ti_observe_release (const struct tied_request *request)
{
    const tied_replica_t *self = request->replica;
    const struct tied_copy_record record = {
        .call = request->call,
        .copy = request->copy,
        .reject = request->reject,
        .fate = request->reject ? fate_of_reason (request->reject) : TIED_FATE_DROPPED,
        .arrived_at = request->arrived_at,
        .queue_ns = ti_time_sub (self->now, request->arrived_at)};

    tell (self, &record);
}

void ti_observe_finish (const struct tied_request *request)
{
    const tied_replica_t *self = request->replica;
    const struct tied_copy_record record = {
        .call = request->call,
        .copy = request->copy,
        .fate = tied_request_is_cancelled (request) ? TIED_FATE_CANCELLED : TIED_FATE_EXECUTED,
        .arrived_at = request->arrived_at,
        .queue_ns = ti_time_sub (request->started_at, request->arrived_at),
        .service_ns = ti_time_sub (self->now, request->started_at)};

    tell (self, &record);
}
