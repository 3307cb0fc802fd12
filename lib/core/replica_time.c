/* SPDX-License-Identifier: MIT */
/*
 * What time alone brings about: silent clients leave, waiting copies expire although no worker
 * comes for them, notes age. Each does a bounded part per step; what is left makes the deadline
 * now.
 */
#include "replica_core.h"

#include "base/assert.h"

/* One copy or client at a time, so the bound is exact. */
void ti_replica_purge (tied_replica_core_t *self)
{
    uint32_t bound;

    for (bound = TI_REPLICA_PURGE_MAX; bound > 0; bound--) {
        uint32_t index = ti_clients_going (&self->clients);
        const struct ti_client *client;

        if (index == TI_CLIENT_NONE)
            return;
        client = ti_clients_get (&self->clients, index);
        if (client->queued.head != TI_SLOT_NONE) {
            ti_replica_orphan (self, client->queued.head);
        } else if (client->running.head != TI_SLOT_NONE &&
                   !(ti_queue_slot (&self->queue, client->running.head)->flags &
                     TI_SLOT_CANCELLED)) {
            ti_replica_flag (self, client->running.head, TIED_CANCEL_CALLER);
        } else if (ti_clients_settle (&self->clients, index)) {
            self->counters.clients_gone++;
            ti_replica_act (self, TIED_REPLICA_ACT_FORGET_CLIENT)->client = index;
        }
    }
}

void ti_replica_evict (tied_replica_core_t *self)
{
    uint32_t index = ti_clients_evict (&self->clients);

    if (index == TI_CLIENT_NONE)
        return;
    self->counters.clients_evicted++;
    ti_replica_act (self, TIED_REPLICA_ACT_FORGET_CLIENT)->client = index;
}

static tied_time_t sweep_deadline (const tied_replica_core_t *self)
{
    if (self->queue.depth == 0)
        return TIED_NEVER;
    if (self->sweep_cursor != TI_SLOT_NONE)
        return self->now;
    return ti_max (self->sweep_earliest, self->sweep_not_before);
}

/* A queue whose workers are stuck must not hold dead work: those copies' clients wait. */
static void sweep (tied_replica_core_t *self)
{
    uint32_t bound;

    if (sweep_deadline (self) > self->now)
        return;
    if (self->sweep_cursor == TI_SLOT_NONE) {
        self->sweep_cursor = ti_queue_first (&self->queue);
        self->sweep_earliest = TIED_NEVER;
    }
    for (bound = TI_REPLICA_SWEEP_MAX; bound > 0 && self->sweep_cursor != TI_SLOT_NONE; bound--) {
        uint32_t slot = self->sweep_cursor;
        const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

        if (copy->u.deadline <= self->now) {
            ti_replica_expire (self, slot); /* moves the cursor on */
        } else {
            self->sweep_earliest = ti_min (self->sweep_earliest, copy->u.deadline);
            self->sweep_cursor = ti_queue_after (&self->queue, slot);
        }
    }
    if (self->sweep_cursor == TI_SLOT_NONE)
        self->sweep_not_before = ti_time_add (self->now, TI_REPLICA_SWEEP_PERIOD_NS);
}

static tied_time_t age_deadline (const tied_replica_core_t *self)
{
    tied_time_t oldest = ti_recent_deadline (&self->recent);

    return oldest == TIED_NEVER ? TIED_NEVER : ti_max (oldest, self->age_not_before);
}

static void age (tied_replica_core_t *self)
{
    if (age_deadline (self) > self->now)
        return;
    ti_recent_age (&self->recent, self->now, TI_REPLICA_AGE_MAX, &self->counters);
    if (ti_recent_deadline (&self->recent) > self->now)
        self->age_not_before = ti_time_add (self->now, self->options.recent_ttl_ns / 8);
}

static bool is_aside_due (const tied_replica_core_t *self)
{
    return ti_replica_park_is_due (self) || ti_replica_claim_is_due (self);
}

static tied_time_t aside_deadline (const tied_replica_core_t *self)
{
    tied_time_t due = TIED_NEVER;
    uint32_t claiming;
    uint32_t parked;

    if (self->queue.parked + self->queue.claiming == 0)
        return TIED_NEVER;
    if (is_aside_due (self))
        return self->now;
    parked = ti_queue_aside (&self->queue, TI_SLOT_PARKED);
    claiming = ti_queue_aside (&self->queue, TI_SLOT_CLAIMING);
    if (parked != TI_SLOT_NONE)
        due = ti_queue_tether_const (&self->queue, parked)->due;
    if (claiming != TI_SLOT_NONE)
        due = ti_min (due, ti_queue_tether_const (&self->queue, claiming)->due);
    return due;
}

static void look_aside (tied_replica_core_t *self)
{
    uint32_t bound;

    for (bound = TI_REPLICA_ASIDE_MAX; bound > 0 && is_aside_due (self); bound--) {
        if (ti_replica_park_is_due (self))
            ti_replica_park_look (self);
        else
            ti_replica_claim_look (self);
    }
}

void ti_replica_timeout (tied_replica_core_t *self)
{
    ti_clients_look (&self->clients, self->now, TI_REPLICA_LOOK_MAX);
    ti_replica_purge (self);
    sweep (self);
    look_aside (self);
    age (self);
}

tied_time_t tied_replica_core_deadline (const tied_replica_core_t *self)
{
    tied_time_t deadline = ti_clients_deadline (&self->clients);

    if (ti_clients_going (&self->clients) != TI_CLIENT_NONE)
        deadline = self->now;
    deadline = ti_min (deadline, sweep_deadline (self));
    deadline = ti_min (deadline, age_deadline (self));
    deadline = ti_min (deadline, aside_deadline (self));
    return ti_max (deadline, self->now);
}
