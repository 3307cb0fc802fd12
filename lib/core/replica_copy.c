/* SPDX-License-Identifier: MIT */
/* Copies that wait: back to the queue, and out of it without a run. What is said to one that runs.
 */
#include "replica_core.h"

#include <tied/wire.h>

#include "base/assert.h"

void ti_replica_pass_sweep (tied_replica_core_t *self, uint32_t slot)
{
    if (self->sweep_cursor == slot)
        self->sweep_cursor = ti_queue_after (&self->queue, slot);
}

void ti_replica_note_end (tied_replica_core_t *self,
                          const struct ti_slot *copy,
                          enum ti_note_kind kind)
{
    struct ti_note *note;

    if (!(copy->flags & (TI_SLOT_TIED | TI_SLOT_EXCLUSIVE)))
        return;
    note = ti_recent_put (&self->recent, copy->call, copy->copy, kind, self->now, &self->counters);
    note->is_exclusive = (copy->flags & TI_SLOT_EXCLUSIVE) != 0;
    note->peer = copy->sibling;
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
    ti_replica_note_end (self, copy, TI_NOTE_GONE);
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
