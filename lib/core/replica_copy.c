/* SPDX-License-Identifier: MIT */
/* The life of a copy from the queue on: start and end, or removal. */
#include "replica_core.h"

#include <tied/wire.h>

#include "base/assert.h"

void ti_replica_pass_sweep (tied_replica_core_t *self, uint32_t slot)
{
    if (self->sweep_cursor == slot)
        self->sweep_cursor = ti_queue_after (&self->queue, slot);
}

/* A tied or exclusive copy has come to its end. */
static void note_end (tied_replica_core_t *self, const struct ti_slot *copy, enum ti_note_kind kind)
{
    struct ti_note *note;

    if (!(copy->flags & (TI_SLOT_TIED | TI_SLOT_EXCLUSIVE)))
        return;
    note = ti_recent_put (&self->recent, copy->call, copy->copy, kind, self->now, &self->counters);
    note->is_exclusive = (copy->flags & TI_SLOT_EXCLUSIVE) != 0;
    note->peer = copy->sibling;
}

static void note_finished (tied_replica_core_t *self, uint32_t slot)
{
    const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    note_end (self, copy, TI_NOTE_FINISHED);
    if (copy->flags & TI_SLOT_EXCLUSIVE)
        ti_exclusive_finished (&self->recent, copy, ti_queue_tether (&self->queue, slot),
                               self->now);
}

/* Take a waiting copy out. Its slot keeps its contents until the next push. */
static struct ti_slot *leave_queue (tied_replica_core_t *self, uint32_t slot)
{
    struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    if (copy->state == TI_SLOT_PARKED)
        self->counters.park_left++;
    ti_replica_pass_sweep (self, slot);
    ti_clients_release (&self->clients, &self->queue, slot);
    ti_queue_remove (&self->queue, slot);
    note_end (self, copy, TI_NOTE_GONE);
    return copy;
}

void ti_replica_return (tied_replica_core_t *self, uint32_t slot)
{
    tied_time_t deadline = ti_queue_slot (&self->queue, slot)->u.deadline;

    if (self->queue.depth == 0)
        self->sweep_earliest = TIED_NEVER;
    ti_queue_return (&self->queue, slot);
    self->sweep_earliest = ti_min (self->sweep_earliest, deadline);
}

static void release (tied_replica_core_t *self, const struct ti_slot *copy, uint32_t slot)
{
    struct tied_replica_action *action = ti_replica_act (self, TIED_REPLICA_ACT_RELEASE);

    action->slot = slot;
    action->client = copy->client;
    action->call = copy->call;
    action->copy = copy->copy;
}

void ti_replica_drop (tied_replica_core_t *self, uint32_t slot)
{
    self->counters.dropped++;
    release (self, leave_queue (self, slot), slot);
}

void ti_replica_expire (tied_replica_core_t *self, uint32_t slot)
{
    const struct ti_slot *copy = leave_queue (self, slot);

    self->counters.expired++;
    ti_replica_reject (self, slot, copy->client, copy->call, copy->copy, TIED_REJECT_EXPIRED);
    release (self, copy, slot);
}

void ti_replica_turn_away (tied_replica_core_t *self, uint32_t slot, enum tied_reject reason)
{
    const struct ti_slot *copy = leave_queue (self, slot);

    ti_replica_count_rejected (self, reason);
    ti_replica_reject (self, slot, copy->client, copy->call, copy->copy, reason);
    release (self, copy, slot);
}

/* A client that was only stopped would wait for an answer that nobody makes. FULL: we have no place
 * for it any more. Its re-issue that merged waits for this copy's answer, and so it gets one, too.
 */
void ti_replica_orphan (tied_replica_core_t *self, uint32_t slot)
{
    const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    if (!ti_clients_get (&self->clients, copy->client)->is_silent) {
        ti_replica_drop (self, slot);
        return;
    }
    copy = leave_queue (self, slot);
    ti_replica_count_rejected (self, TIED_REJECT_FULL);
    ti_replica_reject (self, slot, copy->client, copy->call, copy->copy, TIED_REJECT_FULL);
    if (copy->merged != 0)
        ti_replica_reject (self, UINT32_MAX, copy->client, copy->call, copy->merged,
                           TIED_REJECT_FULL);
    release (self, copy, slot);
}

void ti_replica_flag (tied_replica_core_t *self, uint32_t slot, enum tied_cancel reason)
{
    struct ti_slot *copy = ti_queue_slot (&self->queue, slot);
    struct tied_replica_action *action;

    if (copy->flags & TI_SLOT_CANCELLED)
        return;
    copy->flags |= TI_SLOT_CANCELLED;
    ti_clients_flagged (&self->clients, &self->queue, slot);
    action = ti_replica_act (self, TIED_REPLICA_ACT_CANCEL_RUNNING);
    action->slot = slot;
    action->client = copy->client;
    action->call = copy->call;
    action->copy = copy->copy;
    action->reason = (uint8_t)reason;
}

/* The sibling hears of the start before the handler can run. Whether the link took it is known at
 * the latest when the copy ends, so started_sent is counted there. */
static void tell_sibling (tied_replica_core_t *self, struct ti_slot *copy)
{
    struct tied_replica_action *action;

    if (!ti_slot_is_droppable (copy))
        return;
    if (!ti_replica_peer_is_up (self, copy->sibling)) {
        self->counters.started_unsent++;
        return;
    }
    copy->flags |= TI_SLOT_TOLD;
    action = ti_replica_act (self, TIED_REPLICA_ACT_TELL_STARTED);
    action->slot = UINT32_MAX;
    action->client = copy->client;
    action->peer = copy->sibling;
    action->call = copy->call;
    action->copy = copy->copy;
}

static void start (tied_replica_core_t *self, uint32_t slot)
{
    struct ti_slot *copy = ti_queue_slot (&self->queue, slot);
    tied_duration_t remaining_ns = ti_time_sub (copy->u.deadline, self->now);
    struct tied_replica_action *action;

    ti_replica_pass_sweep (self, slot);
    ti_clients_started (&self->clients, &self->queue, slot);
    if (!(copy->flags & TI_SLOT_RELIEF))
        ti_admit_in_turn (&self->admit);
    if (copy->flags & TI_SLOT_EXCLUSIVE)
        ti_queue_tether (&self->queue, slot)->due = copy->u.deadline;
    ti_queue_start (&self->queue, slot, self->now);
    self->counters.executed++;
    tell_sibling (self, copy);
    action = ti_replica_act (self, TIED_REPLICA_ACT_RUN);
    action->slot = slot;
    action->client = copy->client;
    action->call = copy->call;
    action->copy = copy->copy;
    action->queue_ns = copy->u.waited;
    action->remaining_ns = remaining_ns;
}

void ti_replica_take (tied_replica_core_t *self)
{
    uint32_t bound = TI_REPLICA_TAKE_MAX;

    if (self->queue.running >= self->options.workers)
        return;
    while (self->queue.depth > 0) {
        uint32_t slot = ti_queue_first (&self->queue);
        const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);
        bool is_orphan = ti_client_is_leaving (ti_clients_get (&self->clients, copy->client));

        bool is_late = copy->u.deadline <= self->now;

        if (!is_orphan && !is_late && !ti_slot_must_claim (copy)) {
            start (self, slot);
            return;
        }
        if (bound-- == 0)
            return;
        if (is_orphan)
            ti_replica_orphan (self, slot);
        else if (is_late)
            ti_replica_expire (self, slot);
        else
            ti_replica_claim (self, slot);
    }
}

/* The sibling may forget its copy, parked or not. */
static void tell_done (tied_replica_core_t *self, const struct ti_slot *copy)
{
    struct tied_replica_action *action;

    if (!(copy->flags & TI_SLOT_PARK) || !ti_slot_is_droppable (copy))
        return;
    if (!ti_replica_peer_is_up (self, copy->sibling)) {
        self->counters.done_unsent++;
        return;
    }
    self->counters.done_sent++;
    action = ti_replica_act (self, TIED_REPLICA_ACT_TELL_DONE);
    action->slot = UINT32_MAX;
    action->client = copy->client;
    action->peer = copy->sibling;
    action->call = copy->call;
    action->copy = copy->copy;
}

void ti_replica_finish (tied_replica_core_t *self, uint32_t slot)
{
    struct ti_slot *copy = ti_queue_slot (&self->queue, slot);
    tied_duration_t service_ns = ti_time_sub (self->now, copy->since);
    struct tied_replica_action *action = ti_replica_act (self, TIED_REPLICA_ACT_REPLY);

    self->counters.finished++;
    if (copy->flags & TI_SLOT_TOLD) {
        self->counters.started_sent++;
        action->flags |= TIED_REPLY_SIBLING_TOLD;
    }
    if (copy->flags & TI_SLOT_SIBLING_STARTED)
        action->flags |= TIED_REPLY_SIBLING_STARTED;
    ti_admit_measure (&self->admit, service_ns);
    ti_clients_release (&self->clients, &self->queue, slot);
    ti_queue_finish (&self->queue, slot);
    note_finished (self, slot);
    action->slot = slot;
    action->client = copy->client;
    action->call = copy->call;
    action->copy = copy->copy;
    action->queue_ns = copy->u.waited;
    action->service_ns = service_ns;
    action->load = ti_replica_load (self);
    tell_done (self, copy);
    if (ti_clients_settle_waiting (&self->clients, copy->client)) {
        self->counters.clients_gone++;
        ti_replica_act (self, TIED_REPLICA_ACT_FORGET_CLIENT)->client = copy->client;
    }
}
