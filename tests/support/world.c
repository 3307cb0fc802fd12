/* SPDX-License-Identifier: MIT */
/* Options, creation and queries of a world (world.h). */
#include "world_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "free_policy.h"

void world_options_init (struct world_options *options)
{
    memset (options, 0, sizeof *options);
    options->seed = 1;
    options->clients = 1;
    options->replicas = 2;
    options->calls_per_client = 64;
    tied_client_core_options_init (&options->client);
    options->client.epoch = 1;
    options->client.calls_max = 64;
    options->client.replicas_max = NODE_REPLICAS_MAX;
    tied_replica_core_options_init (&options->replica);
    options->replica.incarnation = 1;
    options->replica.workers = 1;
    options->replica.queue_depth = 64;
    options->replica.recent_max = 1024;
    options->replica.clients_max = NODE_CONNS_MAX;
    options->replica.peers_max = NODE_REPLICAS_MAX;
    options->delay_low_ns = options->delay_high_ns = TIED_US (100);
    options->peer_delay_low_ns = options->peer_delay_high_ns = TIED_US (100);
    options->service.kind = TI_DIST_FIXED;
    options->service.a_ns = TIED_MS (1);
    options->hides_probes = true;
}

struct world *world_new (const struct world_options *options)
{
    struct world *self = calloc (1, sizeof *self);

    TI_ASSERT (self != NULL);
    self->options = *options;
    self->net = (struct node_net){self, world_on_send, world_on_note, world_on_run};
    self->now = WORLD_START;
    self->origin = WORLD_START;
    self->free_head = NO_EVENT;
    ti_prng_seed (&self->network, ti_mix (options->seed ^ UINT64_C (0x6e657477)));
    ti_prng_seed (&self->service, ti_mix (options->seed ^ UINT64_C (0x73657276)));
    ti_prng_seed (&self->faults, ti_mix (options->seed ^ UINT64_C (0x6661756c)));
    self->ledger.clients = options->clients;
    self->ledger.calls_per_client = options->calls_per_client;
    self->ledger.memory = options->replica.recent_ttl_ns;
    self->ledger.repeats = options->repeat_ppm > 0 || options->reorder_ppm > 0;
    self->ledger.is_stranger_about = options->has_strangers;
    self->ledger.calls =
        calloc ((size_t)options->clients * options->calls_per_client, sizeof *self->ledger.calls);
    TI_ASSERT (self->ledger.calls != NULL);
    for (uint32_t c = 0; c < options->clients; c++) {
        struct node_client *node = &self->clients[c];
        struct tied_client_core_options client = options->client;
        void *memory;

        client.epoch = LEDGER_EPOCH (c);
        client.seed = ti_mix (options->seed ^ c);
        memory = malloc (tied_client_core_size (&client));
        TI_ASSERT (memory != NULL);
        node->net = &self->net;
        node->epoch = client.epoch;
        node->self = (int)c;
        node->mutations = options->mutations;
        node->check_mask = options->check_mask;
        if (options->has_clock_offsets)
            node->offset = ti_prng_below (&self->network, TIED_S (1000));
        node->core = tied_client_core_init (memory, tied_client_core_size (&client), &client);
        TI_ASSERT (node->core != NULL);
        set_free_policy (node->core);
        for (uint32_t r = 0; r < options->replicas; r++)
            TI_ASSERT (tied_client_core_add_replica (node->core) == (int)r);
    }
    for (uint32_t r = 0; r < options->replicas; r++)
        world_start_replica (self, (int)r);
    for (uint32_t r = 0; r < options->replicas; r++)
        world_connect_all (self, (int)r);
    return self;
}

void world_free (struct world *self)
{
    if (self == NULL)
        return;
    for (uint32_t c = 0; c < self->options.clients; c++)
        free (self->clients[c].core);
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        free (self->hosts[r].memory);
        free (self->hosts[r].slots);
    }
    free (self->ledger.calls);
    free (self->events);
    free (self->heap);
    free (self);
}

tied_time_t world_now (const struct world *self)
{
    return self->now;
}

struct ledger *world_ledger (struct world *self)
{
    return &self->ledger;
}

struct node_client *world_client (struct world *self, int client)
{
    return &self->clients[client];
}

struct node_replica *world_replica (struct world *self, int replica)
{
    return &self->hosts[replica].node;
}

bool world_is_alive (const struct world *self, int replica)
{
    return self->hosts[replica].is_alive;
}

void world_set_transcript (struct world *self, FILE *file, tied_time_t origin)
{
    self->options.transcript = file;
    self->origin = origin;
}

uint64_t world_hash (const struct world *self)
{
    return self->hash;
}

struct tied_replica_counters world_counters (const struct world *self)
{
    struct tied_replica_counters sum = {0};

    for (uint32_t r = 0; r < self->options.replicas; r++) {
        world_add_counters (&sum, &self->hosts[r].earlier);
        if (self->hosts[r].is_alive)
            world_add_counters (&sum, tied_replica_core_counters (self->hosts[r].node.core));
    }
    return sum;
}
