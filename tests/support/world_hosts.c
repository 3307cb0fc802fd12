/* SPDX-License-Identifier: MIT */
/* Replica processes of a world (world.h): start, workers, crash, restart. */
#include "world_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

void world_on_run (void *context, int replica, uint32_t slot)
{
    struct world *self = context;
    struct host *host = &self->hosts[replica];
    uint32_t index;
    struct event *event = world_new_event (self, &index);
    tied_duration_t service = ti_dist_draw (&self->options.service, ti_prng_next (&self->service));

    if (host->service_next != 0) {
        service = host->service_next;
        host->service_next = 0;
    }
    host->running++;
    event->kind = EVENT_FINISH;
    event->at = self->now + ti_max (service, 1);
    event->to = NODE_REPLICA (replica);
    event->from = NODE_NOBODY;
    event->generation = host->incarnation;
    event->slot = slot;
    world_push (self, index);
}

void world_start_replica (struct world *self, int r)
{
    struct host *host = &self->hosts[r];
    struct tied_replica_core_options options = self->options.replica;
    const size_t size = tied_replica_core_size (&options);

    if (host->memory == NULL) {
        host->memory = malloc (size);
        TI_ASSERT (host->memory != NULL);
    }
    host->incarnation++;
    options.incarnation = (uint64_t)(r + 1) << 16 | host->incarnation;
    memset (&host->node, 0, sizeof host->node);
    host->node.core = tied_replica_core_init (host->memory, size, &options);
    TI_ASSERT (host->node.core != NULL);
    free (host->slots);
    host->slots = calloc (tied_replica_core_slots (host->node.core), sizeof *host->slots);
    TI_ASSERT (host->slots != NULL);
    host->node.net = &self->net;
    host->node.slots = host->slots;
    host->node.self = r;
    host->node.incarnation = options.incarnation;
    host->node.mutations = self->options.mutations;
    host->node.check_mask = self->options.check_mask;
    host->node.conns_max = (uint32_t)ti_min (options.clients_max, NODE_CONNS_MAX);
    if (self->options.has_clock_offsets)
        host->node.offset = ti_prng_below (&self->network, TIED_S (1000));
    host->is_alive = true;
    host->running = 0;
    host->paused_until = 0;
    self->ledger.forgetful &= ~(UINT32_C (1) << r);
}

void world_add_counters (struct tied_replica_counters *sum,
                         const struct tied_replica_counters *part)
{
#define ADD(name) sum->name += part->name;
    TIED_REPLICA_COUNTER_MAP (ADD)
#undef ADD
}

void world_crash (struct world *self, int replica, bool is_silent)
{
    struct host *host = &self->hosts[replica];

    if (!host->is_alive)
        return;
    world_add_counters (&host->earlier, tied_replica_core_counters (host->node.core));
    host->is_alive = false;
    host->is_silent = is_silent;
    world_note (self, NODE_NOTE_CRASH, NODE_REPLICA (replica), NODE_NOBODY);
    for (int actor = 0; actor < NODE_ACTORS; actor++) {
        struct connection *connection = world_connection (self, actor, NODE_REPLICA (replica));
        if (!connection->is_up)
            continue;
        if (is_silent)
            connection->is_up = false;
        else
            world_disconnect (self, actor, NODE_REPLICA (replica));
    }
}

void world_connect_all (struct world *self, int r)
{
    for (uint32_t c = 0; c < self->options.clients; c++)
        world_connect (self, NODE_CLIENT ((int)c), NODE_REPLICA (r));
    for (uint32_t p = 0; p < self->options.replicas; p++) {
        if ((int)p != r)
            world_connect (self, NODE_REPLICA ((int)p), NODE_REPLICA (r));
    }
}

void world_restart (struct world *self, int replica)
{
    struct host *host = &self->hosts[replica];

    if (host->is_alive)
        return;
    if (host->is_silent) {
        for (int actor = 0; actor < NODE_ACTORS; actor++) {
            if (world_connection (self, actor, NODE_REPLICA (replica))->generation > 0)
                world_tell_link (self, actor, NODE_REPLICA (replica), false);
        }
        host->is_silent = false;
    }
    world_start_replica (self, replica);
    world_note (self, NODE_NOTE_RESTART, NODE_REPLICA (replica), NODE_NOBODY);
    world_connect_all (self, replica);
}

void world_restart_hidden (struct world *self, int replica)
{
    struct host *host = &self->hosts[replica];
    const int self_actor = NODE_REPLICA (replica);

    if (!host->is_alive)
        return;
    world_add_counters (&host->earlier, tied_replica_core_counters (host->node.core));
    world_note (self, NODE_NOTE_CRASH, self_actor, NODE_NOBODY);
    world_start_replica (self, replica);
    world_note (self, NODE_NOTE_RESTART, self_actor, NODE_NOBODY);
    for (int actor = 0; actor < NODE_ACTORS; actor++) {
        const struct connection *connection = world_connection (self, actor, self_actor);
        if (!connection->is_up)
            continue;
        if (NODE_IS_CLIENT (actor)) {
            world_schedule_link (self, actor, self_actor, false, connection->generation);
            world_schedule_link (self, actor, self_actor, true, connection->generation);
        } else {
            world_schedule_link (self, self_actor, actor, true, connection->generation);
        }
    }
}
