/* SPDX-License-Identifier: MIT */
/* Argument checks, dispatch and queries. Decisions are made in the files that it calls. */
#include "replica_core.h"

#include "base/assert.h"

/* Every index in the event is one that this core has. */
static bool is_valid (tied_replica_core_t *self, const struct tied_replica_event *event)
{
    const struct tied_replica_request *request = &event->u.request;

    switch (event->type) {
    case TIED_REPLICA_EV_REQUEST:
        if (request->client >= self->options.clients_max) {
            self->counters.clients_full++;
            return false;
        }
        return (request->sibling == TIED_NO_PEER || request->sibling < self->options.peers_max) &&
               request->verdict < TIED_REJECT_COUNT;
    case TIED_REPLICA_EV_CANCEL:
        return event->u.cancel.client < self->options.clients_max;
    case TIED_REPLICA_EV_CLIENT_SEEN:
        if (event->u.client.client >= self->options.clients_max) {
            self->counters.clients_full++;
            return false;
        }
        return true;
    case TIED_REPLICA_EV_CLIENT_GONE:
        return event->u.client.client < self->options.clients_max;
    case TIED_REPLICA_EV_STARTED:
    case TIED_REPLICA_EV_UNTIE:
    case TIED_REPLICA_EV_SEND_FAILED:
    case TIED_REPLICA_EV_DONE:
    case TIED_REPLICA_EV_GRANT:
    case TIED_REPLICA_EV_DENY:
        return event->u.tie.peer < self->options.peers_max;
    case TIED_REPLICA_EV_CLAIM:
        return event->u.claim.peer < self->options.peers_max;
    case TIED_REPLICA_EV_FINISH:
        return event->u.finish.slot < self->queue.max &&
               ti_queue_slot (&self->queue, event->u.finish.slot)->state == TI_SLOT_RUNNING;
    case TIED_REPLICA_EV_PEER_UP:
    case TIED_REPLICA_EV_PEER_DOWN:
        return event->u.peer.peer < self->options.peers_max;
    case TIED_REPLICA_EV_TAKE:
    case TIED_REPLICA_EV_DRAIN:
    case TIED_REPLICA_EV_TIMEOUT:
    case TIED_REPLICA_EV_CLIENTS_FULL:
        return true;
    }
    return false;
}

static void claimed (tied_replica_core_t *self, const struct tied_replica_event *event)
{
    struct ti_claim claim = {.call = event->u.claim.call,
                             .copy = event->u.claim.copy,
                             .peer = event->u.claim.peer,
                             .age_ns = event->u.claim.age_ns,
                             .incarnation = event->u.claim.incarnation};

    ti_replica_claimed (self, &claim);
}

static void dispatch (tied_replica_core_t *self, const struct tied_replica_event *event)
{
    switch (event->type) {
    case TIED_REPLICA_EV_REQUEST:
        ti_replica_request (self, &event->u.request);
        return;
    case TIED_REPLICA_EV_CANCEL:
        ti_replica_cancel (self, event->u.cancel.client, event->u.cancel.call,
                           event->u.cancel.reason);
        return;
    case TIED_REPLICA_EV_STARTED:
        ti_replica_started (self, event->u.tie.call, event->u.tie.copy);
        return;
    case TIED_REPLICA_EV_UNTIE:
        ti_replica_untie (self, event->u.tie.call, event->u.tie.copy);
        return;
    case TIED_REPLICA_EV_TAKE:
        ti_replica_take (self);
        return;
    case TIED_REPLICA_EV_FINISH:
        ti_replica_finish (self, event->u.finish.slot);
        return;
    case TIED_REPLICA_EV_CLIENT_SEEN:
        ti_replica_client_seen (self, event->u.client.client, event->u.client.epoch,
                                event->u.client.sent_us);
        return;
    case TIED_REPLICA_EV_CLIENT_GONE:
        ti_clients_leave (&self->clients, event->u.client.client);
        ti_replica_purge (self);
        return;
    case TIED_REPLICA_EV_PEER_UP:
        TI_AT (uint8_t, self, self->peers)[event->u.peer.peer] = 1;
        return;
    case TIED_REPLICA_EV_PEER_DOWN:
        TI_AT (uint8_t, self, self->peers)[event->u.peer.peer] = 0;
        ti_replica_peer_lost (self, event->u.peer.peer);
        return;
    case TIED_REPLICA_EV_SEND_FAILED:
        ti_replica_send_failed (self, event->u.tie.call, event->u.tie.copy, event->u.tie.is_untie);
        return;
    case TIED_REPLICA_EV_DRAIN:
        self->is_draining = true;
        return;
    case TIED_REPLICA_EV_TIMEOUT:
        ti_replica_timeout (self);
        return;
    case TIED_REPLICA_EV_CLIENTS_FULL:
        ti_replica_evict (self);
        return;
    case TIED_REPLICA_EV_DONE:
        ti_replica_done (self, event->u.tie.call, event->u.tie.copy);
        return;
    case TIED_REPLICA_EV_CLAIM:
        claimed (self, event);
        return;
    case TIED_REPLICA_EV_GRANT:
        ti_replica_granted (self, event->u.tie.peer, event->u.tie.call, event->u.tie.copy);
        return;
    case TIED_REPLICA_EV_DENY:
        ti_replica_denied (self, event->u.tie.peer, event->u.tie.call, event->u.tie.copy);
        return;
    }
    TI_UNREACHABLE ();
}

int tied_replica_core_step (tied_replica_core_t *self,
                            const struct tied_replica_event *event,
                            tied_time_t now)
{
    if (!self || !event)
        return TIED_ERR_INVAL;
    TI_ASSERT (self->actions_taken == self->actions_made);
    if (!is_valid (self, event))
        return TIED_ERR_INVAL;
    self->actions_made = 0;
    self->actions_taken = 0;
    self->now = ti_max (self->now, now);
    dispatch (self, event);
    return 0;
}

void tied_replica_core_expect (const tied_replica_core_t *self,
                               const struct tied_call_id *calls,
                               size_t count)
{
    if (self && calls && self->queue.depth >= TI_REPLICA_EXPECT_DEPTH)
        ti_queue_expect (&self->queue, calls, (size_t)ti_min (count, TI_QUEUE_EXPECT_MAX));
}

const struct tied_replica_action *tied_replica_core_next (tied_replica_core_t *self)
{
    if (self->actions_taken == self->actions_made)
        return NULL;
    return TI_AT (struct tied_replica_action, self, self->actions) + self->actions_taken++;
}

struct tied_load tied_replica_core_load (const tied_replica_core_t *self)
{
    return ti_replica_load (self);
}

const struct tied_replica_counters *tied_replica_core_counters (const tied_replica_core_t *self)
{
    return &self->counters;
}

bool tied_replica_core_is_drained (const tied_replica_core_t *self)
{
    return self->is_draining && self->queue.index.count == 0;
}

bool tied_replica_core_can_run (const tied_replica_core_t *self)
{
    return self->queue.depth > 0 && self->queue.running < self->options.workers;
}

uint32_t tied_replica_core_parked (const tied_replica_core_t *self)
{
    return self->queue.parked;
}

uint32_t tied_replica_core_slots (const tied_replica_core_t *self)
{
    return self->queue.max;
}
