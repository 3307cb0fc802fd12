/* SPDX-License-Identifier: MIT */
/*
 * Mode park: a copy whose sibling has started is kept, for the case that nothing comes of that. It
 * goes back to the queue when the sibling's replica is lost, has untied it or has not said DONE
 * within the lease; it leaves for good with DONE.
 */
#include "replica_core.h"

#include "base/assert.h"

bool ti_replica_can_park (const tied_replica_core_t *self)
{
    const struct ti_queue *queue = &self->queue;

    /* Those that went back to the queue may fill it beyond its depth, out of the same slots. */
    return !self->is_draining && queue->parked < self->options.park_max &&
           ti_queue_waiting (queue) + queue->parked <
               self->options.queue_depth + self->options.park_max;
}

/* The list is in the order of its times, so a lease that began earlier than it was put there may
 * end a little later, with the one before. */
void ti_replica_park (tied_replica_core_t *self, uint32_t slot, tied_time_t since)
{
    uint32_t last = self->queue.lists[TI_LIST_PARKED].tail;
    tied_time_t due = ti_time_add (since, self->options.park_lease_ns);

    if (last != TI_SLOT_NONE)
        due = ti_max (due, ti_queue_tether (&self->queue, last)->due);
    ti_replica_pass_sweep (self, slot);
    ti_queue_set_aside (&self->queue, slot, TI_SLOT_PARKED, due);
    self->counters.parked++;
}

/* Back to the queue: nobody can drop it any more. */
static void revive (tied_replica_core_t *self, uint32_t slot, uint64_t *why)
{
    struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    ++*why;
    copy->flags |= TI_SLOT_UNTIED | TI_SLOT_REVIVED;
    ti_replica_return (self, slot);
}

void ti_replica_unpark (tied_replica_core_t *self, uint32_t slot)
{
    revive (self, slot, &self->counters.park_lost);
}

/* The one that waits longest comes to stand first, so the last one goes back first. */
void ti_replica_peer_lost (tied_replica_core_t *self, uint32_t peer)
{
    uint32_t slot = self->queue.lists[TI_LIST_PARKED].tail;

    while (slot != TI_SLOT_NONE) {
        uint32_t before = ti_queue_links (&self->queue, slot)->prev;

        if (ti_queue_slot (&self->queue, slot)->sibling == peer)
            ti_replica_unpark (self, slot);
        slot = before;
    }
}

/* The parked copy of this call with the highest number that a re-issue has untied. */
static uint32_t last_untied (tied_replica_core_t *self, struct tied_call_id call)
{
    struct ti_idmap_cursor cursor;
    uint32_t last = TI_SLOT_NONE;
    uint32_t slot;

    for (slot = ti_idmap_find_first (&self->queue.index, call, &cursor); slot != TI_IDMAP_NONE;
         slot = ti_idmap_find_next (&self->queue.index, call, &cursor)) {
        const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

        if (copy->state == TI_SLOT_PARKED && (copy->flags & TI_SLOT_UNTIED) &&
            (last == TI_SLOT_NONE || copy->copy > ti_queue_slot (&self->queue, last)->copy))
            last = slot;
    }
    return last;
}

/* By number, the lowest comes to stand first: not as the index happens to lie in memory. */
void ti_replica_unpark_call (tied_replica_core_t *self, struct tied_call_id call)
{
    uint32_t slot;

    while ((slot = last_untied (self, call)) != TI_SLOT_NONE)
        ti_replica_unpark (self, slot);
}

/* The first parked copy's lease has ended, or nobody shall come back to this replica. */
bool ti_replica_park_is_due (const tied_replica_core_t *self)
{
    uint32_t slot = ti_queue_aside (&self->queue, TI_SLOT_PARKED);

    return slot != TI_SLOT_NONE &&
           (self->is_draining || ti_queue_tether_const (&self->queue, slot)->due <= self->now);
}

/* Out of time it leaves in silence: its client has the same deadline, and another copy that may
 * have run. */
void ti_replica_park_look (tied_replica_core_t *self)
{
    uint32_t slot = ti_queue_aside (&self->queue, TI_SLOT_PARKED);

    if (self->is_draining || ti_queue_slot (&self->queue, slot)->u.deadline <= self->now)
        ti_replica_drop (self, slot);
    else
        revive (self, slot, &self->counters.park_lease);
}

/* The sibling has ended. That also makes a copy needless that went back to the queue too early, or
 * that no STARTED had reached; not one that its client asked for again. */
void ti_replica_done (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy)
{
    uint8_t copy = sender_copy ^ 1;
    uint32_t index = ti_queue_find (&self->queue, call, copy);
    const struct ti_slot *slot;

    self->counters.done_received++;
    if (index == TI_SLOT_NONE) {
        index = ti_recent_find (&self->recent, call, copy);
        if (index != TI_NOTE_NONE)
            ti_recent_note (&self->recent, index)->is_done = true;
        return;
    }
    slot = ti_queue_slot (&self->queue, index);
    if (slot->state == TI_SLOT_RUNNING || slot->merged != 0 || !(slot->flags & TI_SLOT_PARK))
        return;
    if (slot->state == TI_SLOT_PARKED) {
        self->counters.park_done++;
        self->counters.park_left--; /* which the drop counts */
    } else if (!ti_slot_is_droppable (slot) && !(slot->flags & TI_SLOT_REVIVED)) {
        return;
    }
    ti_replica_drop (self, index);
}
