/* SPDX-License-Identifier: MIT */
/*
 * Mode exclusive, what follows from lib/core/exclusive: an odd copy that a worker would take asks
 * first, and waits aside for the answer; no answer means no start. It is asked again until its time
 * runs out.
 */
#include "replica_core.h"

#include "base/assert.h"
#include "core/exclusive.h"

static void tell_claim (tied_replica_core_t *self, uint32_t slot)
{
    const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);
    const struct ti_tether *tether = ti_queue_tether (&self->queue, slot);
    struct tied_replica_action *action;

    if (!ti_replica_peer_is_up (self, copy->sibling)) {
        self->counters.claim_unsent++;
        return;
    }
    self->counters.claim_sent++;
    action = ti_replica_act (self, TIED_REPLICA_ACT_TELL_CLAIM);
    action->slot = UINT32_MAX;
    action->client = copy->client;
    action->peer = copy->sibling;
    action->call = copy->call;
    action->copy = copy->copy;
    action->age_ns = ti_time_sub (self->now, tether->born);
    action->incarnation = tether->sibling_incarnation;
}

void ti_replica_claim (tied_replica_core_t *self, uint32_t slot)
{
    ti_replica_pass_sweep (self, slot);
    ti_queue_set_aside (&self->queue, slot, TI_SLOT_CLAIMING,
                        ti_time_add (self->now, TI_CLAIM_RETRY_NS));
    tell_claim (self, slot);
}

bool ti_replica_claim_is_due (const tied_replica_core_t *self)
{
    uint32_t slot = ti_queue_aside (&self->queue, TI_SLOT_CLAIMING);

    return slot != TI_SLOT_NONE && ti_queue_tether_const (&self->queue, slot)->due <= self->now;
}

/* A replica that leaves does not wait for others longer than an answer takes. */
void ti_replica_claim_look (tied_replica_core_t *self)
{
    uint32_t slot = ti_queue_aside (&self->queue, TI_SLOT_CLAIMING);

    if (ti_queue_slot (&self->queue, slot)->u.deadline <= self->now) {
        ti_replica_expire (self, slot);
        return;
    }
    if (self->is_draining) {
        ti_replica_turn_away (self, slot, TIED_REJECT_DRAINING);
        return;
    }
    ti_queue_postpone (&self->queue, slot, ti_time_add (self->now, TI_CLAIM_RETRY_NS));
    tell_claim (self, slot);
}

static void answer (tied_replica_core_t *self, const struct ti_claim *claim, bool is_granted)
{
    struct tied_replica_action *action;

    if (is_granted)
        self->counters.claim_granted++;
    else
        self->counters.claim_denied++;
    if (!ti_replica_peer_is_up (self, claim->peer))
        return; /* it will ask again */
    action = ti_replica_act (self,
                             is_granted ? TIED_REPLICA_ACT_TELL_GRANT : TIED_REPLICA_ACT_TELL_DENY);
    action->slot = UINT32_MAX;
    action->peer = claim->peer;
    action->call = claim->call;
    action->copy = claim->copy ^ 1;
}

void ti_replica_claimed (tied_replica_core_t *self, const struct ti_claim *claim)
{
    uint32_t slot = TI_SLOT_NONE;
    enum ti_claim_verdict verdict =
        ti_exclusive_claim (&self->queue, &self->recent, claim, self->options.incarnation,
                            self->now, &self->counters, &slot);

    self->counters.claim_received++;
    if (verdict == TI_CLAIM_GRANT_QUEUED) {
        ti_replica_drop (self, slot);
        ti_exclusive_granted (&self->recent, claim, TI_NOTE_GRANTED, self->now, &self->counters);
    }
    answer (self, claim, verdict != TI_CLAIM_DENY);
}

/* This copy has the right to start: of those that wait for it or have not asked yet. */
static void give_right (tied_replica_core_t *self, uint32_t slot)
{
    struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    copy->flags |= TI_SLOT_UNTIED;
    if (copy->state == TI_SLOT_CLAIMING)
        ti_replica_return (self, slot);
}

void ti_replica_granted (tied_replica_core_t *self,
                         uint32_t peer,
                         struct tied_call_id call,
                         uint8_t sender_copy)
{
    uint32_t slot = ti_queue_find (&self->queue, call, sender_copy ^ 1);
    const struct ti_slot *copy;

    self->counters.grant_received++;
    if (slot == TI_SLOT_NONE)
        return;
    copy = ti_queue_slot (&self->queue, slot);
    if (copy->state != TI_SLOT_RUNNING && copy->sibling == peer && ti_slot_must_claim (copy))
        give_right (self, slot);
}

/* Its client hears that this copy will not run: should the owner's be lost, nothing is to be hoped
 * for from here. */
void ti_replica_denied (tied_replica_core_t *self,
                        uint32_t peer,
                        struct tied_call_id call,
                        uint8_t sender_copy)
{
    uint32_t slot = ti_queue_find (&self->queue, call, sender_copy ^ 1);
    const struct ti_slot *copy;

    self->counters.deny_received++;
    if (slot == TI_SLOT_NONE)
        return;
    copy = ti_queue_slot (&self->queue, slot);
    if (copy->state == TI_SLOT_CLAIMING && copy->sibling == peer)
        ti_replica_turn_away (self, slot, TIED_REJECT_DENIED);
}

void ti_replica_untied (tied_replica_core_t *self, uint32_t slot)
{
    const struct ti_slot *copy = ti_queue_slot (&self->queue, slot);

    if (copy->state == TI_SLOT_PARKED)
        ti_replica_unpark (self, slot);
    else if (copy->state == TI_SLOT_CLAIMING)
        give_right (self, slot);
}
