/* SPDX-License-Identifier: MIT */
/* Memory layout, argument checks and dispatch. Decisions are made in the files that it calls. */
#include "replica_core.h"

#include "base/assert.h"
#include "core/tie.h"

/* Big arrays start on a cache line, if the caller's memory does not move afterwards. */
#define LINE 64

TI_STATIC_ASSERT (TI_REPLICA_ACTIONS_MAX >= TI_REPLICA_COPIES_MAX, "CANCEL of every copy fits");
TI_STATIC_ASSERT (TI_REPLICA_ACTIONS_MAX >= 3 * TI_REPLICA_PURGE_MAX + 2 * TI_REPLICA_SWEEP_MAX +
                                                2 * TI_REPLICA_ASIDE_MAX,
                  "TIMEOUT fits");
TI_STATIC_ASSERT (TI_REPLICA_ACTIONS_MAX >= 3 * TI_REPLICA_TAKE_MAX + 2, "TAKE fits");

static uint32_t slots_for (const struct tied_replica_core_options *options)
{
    return options->queue_depth + options->workers + options->park_max;
}

/* A copy has at most three actions in one step, a purged client one, TAKE and FINISH two more. */
static uint32_t actions_for (const struct tied_replica_core_options *options)
{
    uint32_t slots = slots_for (options);

    return (uint32_t)ti_min (TI_REPLICA_ACTIONS_MAX, 3 * slots + TI_REPLICA_PURGE_MAX + 2);
}

struct layout {
    size_t peers;
    size_t actions;
    size_t clients;
    size_t queue;
    size_t recent;
    size_t end;
};

static size_t line_up (size_t size)
{
    return (size + LINE - 1) & ~(size_t)(LINE - 1);
}

/* Offsets from the first cache line after the struct. */
static struct layout layout_of (const struct tied_replica_core_options *options)
{
    struct layout at;

    at.peers = 0;
    at.actions = at.peers + line_up (options->peers_max);
    at.clients = at.actions + line_up (actions_for (options) * sizeof (struct tied_replica_action));
    at.queue = at.clients + line_up (ti_clients_size (options->clients_max));
    at.recent = at.queue + line_up (ti_queue_size (slots_for (options)));
    at.end = at.recent + line_up (ti_recent_size (options->recent_max));
    return at;
}

size_t tied_replica_core_size (const struct tied_replica_core_options *options)
{
    if (tied_replica_core_options_check (options, NULL) != 0)
        return 0;
    return sizeof (struct tied_replica_core) + LINE + layout_of (options).end;
}

tied_replica_core_t *
tied_replica_core_init (void *memory, size_t size, const struct tied_replica_core_options *options)
{
    tied_replica_core_t *self = memory;
    size_t needed = tied_replica_core_size (options);
    unsigned char *base = memory;
    struct layout at;
    uint64_t seed;

    if (!memory || needed == 0 || size < needed)
        return NULL;
    memset (memory, 0, needed);
    self->options = *options;
    seed = options->seed ? options->seed : options->incarnation;
    at = layout_of (options);
    base += sizeof *self;
    base += (LINE - (uintptr_t)base % LINE) % LINE;
    self->peers = (size_t)(base + at.peers - (unsigned char *)memory);
    self->actions = (size_t)(base + at.actions - (unsigned char *)memory);
    self->actions_max = actions_for (options);
    ti_admit_init (&self->admit, options);
    ti_clients_init (&self->clients, base + at.clients, options->clients_max,
                     options->client_silence_ns);
    ti_queue_init (&self->queue, base + at.queue, slots_for (options), seed);
    ti_recent_init (&self->recent, base + at.recent, options->recent_max, options->recent_ttl_ns,
                    seed);
    self->sweep_cursor = TI_SLOT_NONE;
    self->sweep_earliest = TIED_NEVER;
    return self;
}

struct tied_replica_action *ti_replica_act (tied_replica_core_t *self,
                                            enum tied_replica_action_type type)
{
    struct tied_replica_action *action;

    TI_ASSERT (self->actions_made < self->actions_max);
    action = TI_AT (struct tied_replica_action, self, self->actions) + self->actions_made++;
    *action = (struct tied_replica_action){.type = type};
    return action;
}

struct tied_load ti_replica_load (const tied_replica_core_t *self)
{
    uint32_t depth = ti_queue_waiting (&self->queue);
    uint64_t wait_us = ti_admit_wait (&self->admit, depth) / 1000;
    struct tied_load load;

    load.depth = depth;
    load.running = self->queue.running;
    load.wait_us = (uint32_t)ti_min (wait_us, UINT32_MAX);
    return load;
}

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

static void untie (tied_replica_core_t *self, struct tied_call_id call, uint8_t sender_copy)
{
    uint32_t slot =
        ti_tie_untied (&self->queue, &self->recent, call, sender_copy, self->now, &self->counters);

    self->counters.untie_received++;
    if (slot != TI_SLOT_NONE)
        ti_replica_untied (self, slot);
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
        untie (self, event->u.tie.call, event->u.tie.copy);
        return;
    case TIED_REPLICA_EV_TAKE:
        ti_replica_take (self);
        return;
    case TIED_REPLICA_EV_FINISH:
        ti_replica_finish (self, event->u.finish.slot);
        return;
    case TIED_REPLICA_EV_CLIENT_SEEN:
        ti_clients_touch (&self->clients, event->u.client.client, self->now);
        if (event->u.client.epoch != 0)
            (void)ti_transit_staleness (
                &ti_clients_get (&self->clients, event->u.client.client)->transit,
                event->u.client.epoch, event->u.client.sent_us, self->now);
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
