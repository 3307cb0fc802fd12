/* SPDX-License-Identifier: MIT */
/* The invariants of the replica core, and the hash of what can change its behaviour. */
#include "replica_core.h"

#include "base/assert.h"

static void check_counters (const tied_replica_core_t *self)
{
    const struct tied_replica_counters *n = &self->counters;

    TI_ASSERT (n->received == n->executed + n->dropped + n->tombstoned + n->merged +
                                  n->duplicate_request + n->rejected + n->expired +
                                  ti_queue_waiting (&self->queue) + self->queue.parked);
    TI_ASSERT (n->executed == n->finished + self->queue.running);
    TI_ASSERT (n->rejected ==
               n->rejected_busy + n->rejected_full + n->rejected_too_late + n->rejected_draining +
                   n->rejected_not_permitted + n->rejected_unknown_method + n->rejected_stale +
                   n->rejected_too_large + n->rejected_duplicate + n->rejected_denied);
    TI_ASSERT (n->parked ==
               n->park_done + n->park_lease + n->park_lost + n->park_left + self->queue.parked);
    TI_ASSERT (n->claim_received == n->claim_granted + n->claim_denied);
    TI_ASSERT (n->claim_unseen <= n->claim_granted);
    TI_ASSERT (n->started_received ==
               n->started_effective + n->started_early + n->started_late + n->started_moot);
    TI_ASSERT (n->cancel_received == n->cancel_queued + n->cancel_running + n->cancel_unknown);
    TI_ASSERT (n->started_effective <= n->dropped + n->parked);
    TI_ASSERT (n->tombstoned + n->tombstones_evicted + n->tombstones_expired <=
               n->started_early + n->claim_unseen);
}

void tied_replica_core_check (const tied_replica_core_t *self)
{
    TI_ASSERT (ti_queue_waiting (&self->queue) + self->queue.parked <=
               self->options.queue_depth + self->options.park_max);
    TI_ASSERT (self->queue.parked <= self->options.park_max);
    TI_ASSERT (self->queue.running <= self->options.workers);
    TI_ASSERT (self->actions_taken <= self->actions_made);
    TI_ASSERT (self->actions_made <= self->actions_max);
    if (self->sweep_cursor != TI_SLOT_NONE)
        TI_ASSERT (ti_queue_slot_const (&self->queue, self->sweep_cursor)->state == TI_SLOT_QUEUED);
    TI_ASSERT (self->admit.turns <= ti_admit_turns_max (self->admit.hedge_depth));
    ti_queue_check (&self->queue);
    ti_recent_check (&self->recent);
    ti_clients_check (&self->clients, &self->queue);
    check_counters (self);
}

static uint64_t fold (uint64_t hash, uint64_t value)
{
    return ti_mix (hash + UINT64_C (0x9e3779b97f4a7c15) + value);
}

/* A time as the distance from the last step: ahead of it, or behind it. */
static uint64_t fold_time (uint64_t hash, tied_time_t now, tied_time_t t)
{
    return fold (hash, t == TIED_NEVER ? t : t - now);
}

static uint64_t hash_slot (const tied_replica_core_t *self, uint64_t hash, uint32_t index)
{
    const struct ti_tether *tether = ti_queue_tether_const (&self->queue, index);
    const struct ti_slot *slot = ti_queue_slot_const (&self->queue, index);

    hash = fold (hash, slot->call.epoch);
    hash = fold (hash, slot->call.sequence);
    hash = fold_time (hash, self->now, slot->since);
    hash = slot->state != TI_SLOT_RUNNING ? fold_time (hash, self->now, slot->u.deadline)
                                          : fold (hash, slot->u.waited);
    hash = fold (hash, (uint64_t)slot->client << 32 | slot->sibling);
    if (slot->state != TI_SLOT_RUNNING)
        hash = fold (hash, slot->merged);
    hash = fold (hash, (uint64_t)slot->copy << 24 | (uint64_t)slot->flags << 8 | slot->state);
    if (slot->flags & TI_SLOT_EXCLUSIVE) {
        hash = fold (hash, tether->sibling_incarnation);
        hash = fold_time (hash, self->now, tether->born);
    }
    if (slot->state == TI_SLOT_PARKED || slot->state == TI_SLOT_CLAIMING ||
        (slot->state == TI_SLOT_RUNNING && (slot->flags & TI_SLOT_EXCLUSIVE)))
        hash = fold_time (hash, self->now, tether->due);
    return fold (hash, index);
}

static uint64_t hash_queue (const tied_replica_core_t *self, uint64_t hash)
{
    uint32_t list;
    uint32_t i;

    for (i = ti_queue_first (&self->queue); i != TI_SLOT_NONE; i = ti_queue_after (&self->queue, i))
        hash = hash_slot (self, hash, i);
    for (list = TI_LIST_PARKED; list <= TI_LIST_CLAIMING; list++) {
        for (i = self->queue.lists[list].head; i != TI_SLOT_NONE;) {
            hash = hash_slot (self, hash, i);
            i = ti_queue_links_const (&self->queue, i)->next;
        }
    }
    for (i = 0; i < self->queue.max; i++)
        if (ti_queue_slot_const (&self->queue, i)->state == TI_SLOT_RUNNING)
            hash = hash_slot (self, hash, i);
    return fold (hash, (uint64_t)self->queue.depth << 32 | self->queue.running);
}

static uint64_t hash_recent (const tied_replica_core_t *self, uint64_t hash)
{
    uint32_t i;

    for (i = self->recent.head; i != TI_NOTE_NONE;) {
        const struct ti_note *note = ti_recent_note_const (&self->recent, i);

        hash = fold (hash, note->call.epoch);
        hash = fold (hash, note->call.sequence);
        hash = fold_time (hash, self->now, note->at);
        hash = fold (hash, (uint64_t)note->copy << 8 | note->kind);
        hash = fold (hash, (uint64_t)note->peer << 2 | (uint64_t)note->is_exclusive << 1 |
                               (uint64_t)note->is_done);
        i = note->next;
    }
    if (self->recent.forgotten_at != 0)
        hash = fold_time (hash, self->now, self->recent.forgotten_at);
    if (self->recent.forgotten_until > self->now)
        hash = fold_time (hash, self->now, self->recent.forgotten_until);
    return hash;
}

static uint64_t hash_client (const tied_replica_core_t *self, uint64_t hash, uint32_t index)
{
    const struct ti_client *client = ti_clients_get_const (&self->clients, index);
    const struct ti_transit *transit = &client->transit;
    uint32_t i;

    hash = fold (hash, (uint64_t)index << 32 | (uint64_t)client->is_silent << 16 |
                           (uint64_t)transit->windows << 8 | client->state);
    hash = fold_time (hash, self->now, client->since);
    if (transit->windows >= 1) {
        hash = fold (hash, transit->epoch);
        hash = fold (hash, transit->current_us);
        hash = fold_time (hash, self->now, transit->current_at);
    }
    if (transit->windows == 2) {
        hash = fold (hash, transit->previous_us);
        hash = fold_time (hash, self->now, transit->previous_at);
    }
    for (i = client->running.head; i != TI_SLOT_NONE;) {
        hash = fold (hash, i);
        i = ti_queue_links_const (&self->queue, i)->client_next;
    }
    return hash;
}

static uint64_t hash_clients (const tied_replica_core_t *self, uint64_t hash)
{
    uint32_t list;
    uint32_t i;

    for (i = 0; i < self->clients.max; i++)
        if (ti_clients_get_const (&self->clients, i)->state != TI_CLIENT_FREE)
            hash = hash_client (self, hash, i);
    for (list = 0; list < TI_CLIENTS_LISTS; list++) {
        for (i = self->clients.lists[list].head; i != TI_CLIENT_NONE;) {
            hash = fold (hash, i);
            i = ti_clients_get_const (&self->clients, i)->links.next;
        }
    }
    for (i = self->clients.idle.head; i != TI_CLIENT_NONE;) {
        hash = fold (hash, i);
        i = ti_clients_get_const (&self->clients, i)->idle_links.next;
    }
    return hash;
}

uint64_t tied_replica_core_hash (const tied_replica_core_t *self)
{
    uint64_t hash = fold (0, self->is_draining);
    uint32_t i;

    hash = fold (hash, self->admit.service_x8);
    hash = fold (hash, (uint64_t)self->admit.turns << 1 | self->admit.is_measured);
    hash = hash_queue (self, hash);
    hash = hash_recent (self, hash);
    hash = hash_clients (self, hash);
    for (i = 0; i < self->options.peers_max; i++)
        hash = fold (hash, ti_replica_peer_is_up (self, i));
    hash = fold (hash, self->sweep_cursor);
    if (self->queue.depth > 0)
        hash = fold_time (hash, self->now, self->sweep_earliest);
    hash = fold (hash, ti_time_sub (self->sweep_not_before, self->now));
    return fold (hash, ti_time_sub (self->age_not_before, self->now));
}
