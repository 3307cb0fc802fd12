/* SPDX-License-Identifier: MIT */
/* A copy runs: it is taken from the queue and started, and it ends. */
#include "replica_core.h"

#include <tied/wire.h>

#include "base/assert.h"

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

static void note_finished (tied_replica_core_t *self, uint32_t slot)
{
    const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    ti_replica_note_end (self, copy, TI_NOTE_FINISHED);
    if (copy->flags & TI_SLOT_EXCLUSIVE)
        ti_exclusive_finished (&self->recent, copy, ti_queue_tether (&self->queue, slot),
                               self->now);
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
