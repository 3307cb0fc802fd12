/* SPDX-License-Identifier: MIT */
/* What others say about a copy: CANCEL, STARTED, UNTIE; and one of ours that did not go out. */
#include "replica_core.h"

#include "base/assert.h"
#include "core/tie.h"

/* The slots of a client's copies of a call, by copy number: the order must not depend on how the
 * index happens to lie in memory. */
static uint32_t find_copies (tied_replica_core_t *self,
                             struct tied_call_id call,
                             uint32_t client,
                             uint32_t found[TI_REPLICA_COPIES_MAX])
{
    struct ti_idmap_cursor cursor;
    uint32_t count = 0;
    uint32_t slot;

    for (slot = ti_idmap_find_first (&self->queue.index, call, &cursor); slot != TI_IDMAP_NONE;
         slot = ti_idmap_find_next (&self->queue.index, call, &cursor)) {
        const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);
        uint32_t at;

        if (copy->client != client)
            continue;
        TI_ASSERT (count < TI_REPLICA_COPIES_MAX);
        for (at = count; at > 0; at--) {
            if (ti_queue_slot (&self->queue, found[at - 1])->copy < copy->copy)
                break;
            found[at] = found[at - 1];
        }
        found[at] = slot;
        count++;
    }
    return count;
}

/* Only the client that sent a copy can cancel it. No note is left for a call that is not here: on
 * one connection a CANCEL cannot overtake its REQUEST, and so it can never fill a table. */
void ti_replica_cancel (tied_replica_core_t *self,
                        uint32_t client,
                        struct tied_call_id call,
                        uint8_t reason)
{
    uint32_t found[TI_REPLICA_COPIES_MAX];
    uint32_t count;
    uint32_t i;
    bool was_queued = false;

    ti_clients_touch (&self->clients, client, self->now);
    self->counters.cancel_received++;
    count = find_copies (self, call, client, found);
    for (i = 0; i < count; i++) {
        if (ti_queue_slot (&self->queue, found[i])->state != TI_SLOT_RUNNING) {
            ti_replica_drop (self, found[i]);
            was_queued = true;
        } else {
            ti_replica_flag (self, found[i], (enum tied_cancel)reason);
        }
    }
    if (was_queued)
        self->counters.cancel_queued++;
    else if (count > 0)
        self->counters.cancel_running++;
    else
        self->counters.cancel_unknown++;
}

/* The sibling of this waiting copy runs. A copy that cannot be parked is dropped, as in mode tied:
 * what is lost is a safeguard, where to leave it queued would be to run it for nothing. */
static void stand_back (tied_replica_core_t *self, uint32_t slot)
{
    if (!(ti_queue_slot (&self->queue, slot)->flags & TI_SLOT_PARK)) {
        ti_replica_drop (self, slot);
    } else if (ti_replica_can_park (self)) {
        ti_replica_park (self, slot, self->now);
    } else {
        self->counters.park_full += !self->is_draining;
        ti_replica_drop (self, slot);
    }
}

void ti_replica_started (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy)
{
    struct tied_replica_counters *counters = &self->counters;
    uint32_t slot = TI_SLOT_NONE;

    counters->started_received++;
    switch (ti_tie_started (&self->queue, &self->recent, call, sender_copy, self->now, counters,
                            &slot)) {
    case TI_STARTED_EFFECTIVE:
        counters->started_effective++;
        stand_back (self, slot);
        return;
    case TI_STARTED_EARLY:
        counters->started_early++;
        return;
    case TI_STARTED_LATE:
        counters->started_late++;
        return;
    case TI_STARTED_MOOT:
        counters->started_moot++;
        return;
    }
    TI_UNREACHABLE ();
}

/* An UNTIE that failed is lost: its receiver keeps a tie that nobody will use. A STARTED that
 * failed must not be reported to the client as told. */
void ti_replica_send_failed (tied_replica_core_t *self,
                             struct tied_call_id call,
                             uint8_t copy,
                             bool is_untie)
{
    uint32_t index;
    struct ti_slot *slot;

    if (is_untie) {
        self->counters.untie_unsent++;
        return;
    }
    index = ti_queue_find (&self->queue, call, copy);
    if (index == TI_SLOT_NONE)
        return;
    slot = ti_queue_slot (&self->queue, index);
    if (slot->flags & TI_SLOT_TOLD) {
        slot->flags &= (uint16_t)~TI_SLOT_TOLD;
        self->counters.started_unsent++;
    }
}

void ti_replica_untie (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy)
{
    uint32_t slot =
        ti_tie_untied (&self->queue, &self->recent, call, sender_copy, self->now, &self->counters);

    self->counters.untie_received++;
    if (slot != TI_SLOT_NONE)
        ti_replica_untied (self, slot);
}
