/* SPDX-License-Identifier: MIT */
/* The loop of a world (world.h): events, free workers, time-outs, in this order at each instant. */
#include "world_internal.h"

#include "base/assert.h"
#include "base/util.h"

/* Free workers take copies once all messages of this instant are in. */
static void dispatch (struct world *self)
{
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        struct host *host = &self->hosts[r];
        if (!host->is_alive || host->paused_until > self->now)
            continue;
        while (tied_replica_core_can_run (host->node.core)) {
            const uint32_t before = host->running;
            node_replica_take (&host->node, self->now);
            if (host->running == before && !tied_replica_core_can_run (host->node.core))
                break; /* what waited had expired */
        }
        TI_ASSERT (host->running <= self->options.replica.workers);
    }
}

void world_after_step (struct world *self, int actor)
{
    if (NODE_IS_CLIENT (actor)) {
        node_client_check (&self->clients[actor]);
    } else {
        const struct host *host = &self->hosts[NODE_REPLICA_OF (actor)];
        node_replica_check (&host->node);
        if (tied_replica_core_counters (host->node.core)->tombstones_evicted > 0)
            self->ledger.forgetful |= UINT32_C (1) << NODE_REPLICA_OF (actor);
    }
}

static void deliver_link (struct world *self, const struct event *event)
{
    const bool is_up = event->kind == EVENT_LINK_UP;

    if (NODE_IS_CLIENT (event->to))
        node_client_link (&self->clients[event->to], NODE_REPLICA_OF (event->from),
                          event->generation, is_up, self->now);
    else
        node_replica_link (&self->hosts[NODE_REPLICA_OF (event->to)].node,
                           NODE_REPLICA_OF (event->from), event->generation, is_up, self->now);
}

static void deliver_message (struct world *self, const struct event *event)
{
    const struct connection *connection = world_connection (self, event->from, event->to);

    if (!connection->is_up || connection->generation != event->generation)
        return; /* died with its connection */
    if (NODE_IS_CLIENT (event->to))
        node_client_receive (&self->clients[event->to], NODE_REPLICA_OF (event->from), event->bytes,
                             event->size, self->now);
    else
        node_replica_receive (&self->hosts[NODE_REPLICA_OF (event->to)].node, event->from,
                              event->generation, event->bytes, event->size, self->now);
}

static void handle (struct world *self, uint32_t index)
{
    struct event event = self->events[index];
    struct host *host = NODE_IS_CLIENT (event.to) ? NULL : &self->hosts[NODE_REPLICA_OF (event.to)];
    tied_time_t held = 0;

    if (host != NULL && host->is_alive)
        held = host->paused_until;
    if (event.kind == EVENT_MESSAGE && event.from >= 0)
        held = ti_max (held, self->directions[event.from][event.to].clogged_until);
    if (event.kind != EVENT_CONNECT && held > self->now) {
        self->events[index].at = held;
        world_push (self, index);
        return;
    }
    world_free_event (self, index);
    if (event.kind == EVENT_MESSAGE)
        self->directions[event.from][event.to].under_way--;
    if (event.kind == EVENT_CONNECT) {
        world_connect (self, event.from, event.to);
        return;
    }
    if (host != NULL && !host->is_alive)
        return;
    switch (event.kind) {
    case EVENT_MESSAGE:
        deliver_message (self, &event);
        break;
    case EVENT_LINK_UP:
    case EVENT_LINK_DOWN:
        deliver_link (self, &event);
        break;
    case EVENT_FINISH:
        if (event.generation != host->incarnation)
            return;
        host->running--;
        node_replica_finish (&host->node, event.slot, self->now);
        break;
    case EVENT_CONNECT:
        break;
    }
    world_after_step (self, event.to);
}

/* The earliest time-out of a core that can act on it. */
static tied_time_t next_timeout (struct world *self, int *out_actor)
{
    tied_time_t earliest = TIED_NEVER;

    for (uint32_t c = 0; c < self->options.clients; c++) {
        const tied_time_t at = node_client_deadline (&self->clients[c]);
        if (at < earliest) {
            earliest = at;
            *out_actor = NODE_CLIENT ((int)c);
        }
    }
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        const struct host *host = &self->hosts[r];
        tied_time_t at;
        if (!host->is_alive)
            continue;
        at = node_replica_deadline (&host->node);
        if (at == TIED_NEVER)
            continue;
        at = ti_max (at, host->paused_until);
        if (at < earliest) {
            earliest = at;
            *out_actor = NODE_REPLICA ((int)r);
        }
    }
    return earliest;
}

static void timeout (struct world *self, int actor)
{
    if (NODE_IS_CLIENT (actor))
        node_client_timeout (&self->clients[actor], self->now);
    else
        node_replica_timeout (&self->hosts[NODE_REPLICA_OF (actor)].node, self->now);
    world_after_step (self, actor);
}

/* One event or time-out, or the jump to the next one; false when there is none before `until`. */
static bool step (struct world *self, tied_time_t until)
{
    int actor = NODE_NOBODY;
    tied_time_t at;

    if (self->heap_count > 0 && self->events[self->heap[0]].at <= self->now) {
        handle (self, world_pop (self));
        return true;
    }
    dispatch (self);
    at = next_timeout (self, &actor);
    if (at <= self->now) {
        timeout (self, actor);
        return true;
    }
    if (self->heap_count > 0)
        at = ti_min (at, self->events[self->heap[0]].at);
    if (at > until)
        return false;
    self->now = at;
    return true;
}

void world_run_until (struct world *self, tied_time_t until)
{
    while (self->ledger.violation[0] == '\0' && step (self, until))
        ;
    if (self->ledger.violation[0] == '\0' && until != TIED_NEVER)
        self->now = ti_max (self->now, until);
}

static bool is_idle (struct world *self)
{
    for (uint32_t c = 0; c < self->options.clients; c++) {
        if (tied_client_core_live_calls (self->clients[c].core) != 0)
            return false;
    }
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        const struct host *host = &self->hosts[r];
        struct tied_load load;
        if (!host->is_alive)
            continue;
        load = tied_replica_core_load (host->node.core);
        if (load.depth != 0 || load.running != 0)
            return false;
    }
    return true;
}

bool world_run_idle (struct world *self, tied_time_t limit)
{
    while (self->ledger.violation[0] == '\0') {
        if (is_idle (self))
            return true;
        if (!step (self, limit))
            return is_idle (self);
    }
    return false;
}
