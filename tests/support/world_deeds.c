/* SPDX-License-Identifier: MIT */
/* What a test does to a world (world.h). */
#include "world_internal.h"

#include "base/assert.h"
#include "base/util.h"

uint64_t world_submit_hedged (struct world *self,
                              int client,
                              uint32_t mode,
                              bool is_idempotent,
                              tied_duration_t deadline,
                              tied_duration_t stagger,
                              tied_duration_t hedge)
{
    const struct tied_client_counters *counters =
        tied_client_core_counters (self->clients[client].core);
    const uint64_t sequence = counters->submitted;
    struct tied_client_submit submit = {0};

    submit.token = (uint32_t)(sequence % self->options.client.calls_max);
    submit.mode = mode;
    submit.is_idempotent = is_idempotent;
    submit.deadline = ti_time_add (self->now, deadline);
    submit.stagger_ns = stagger;
    submit.hedge_ns = hedge;
    TI_ASSERT (node_client_submit (&self->clients[client], &submit, self->now) == 0);
    TI_ASSERT (counters->submitted == sequence + 1);
    world_after_step (self, NODE_CLIENT (client));
    return sequence;
}

uint64_t world_submit (struct world *self,
                       int client,
                       uint32_t mode,
                       bool is_idempotent,
                       tied_duration_t deadline,
                       tied_duration_t stagger)
{
    return world_submit_hedged (self, client, mode, is_idempotent, deadline, stagger,
                                TIED_HEDGE_NONE);
}

void world_give_up (struct world *self, int client, uint64_t sequence)
{
    const struct tied_call_id call = {LEDGER_EPOCH (client), sequence};

    (void)node_client_cancel (&self->clients[client], call, self->now);
    world_after_step (self, NODE_CLIENT (client));
}

void world_pause (struct world *self, int replica, tied_time_t until)
{
    struct host *host = &self->hosts[replica];

    world_note (self, NODE_NOTE_PAUSE, NODE_REPLICA (replica), NODE_NOBODY);
    host->paused_until = ti_max (host->paused_until, until);
}

void world_drain (struct world *self, int replica)
{
    if (self->hosts[replica].is_alive)
        node_replica_drain (&self->hosts[replica].node, self->now);
}

void world_clog (struct world *self, int from, int to, tied_time_t until)
{
    self->directions[from][to].clogged_until = until;
}

void world_partition (struct world *self, int from, int to, bool is_on)
{
    self->directions[from][to].is_cut = is_on;
}

void world_break (struct world *self, int a, int b, tied_duration_t down)
{
    uint32_t index;
    struct event *event;

    if (!world_connection (self, a, b)->is_up)
        return;
    world_disconnect (self, a, b);
    event = world_new_event (self, &index);
    event->kind = EVENT_CONNECT;
    event->from = a;
    event->to = b;
    event->at = self->now + down;
    world_push (self, index);
}

void world_lose_next (struct world *self, int from, int to, uint8_t type)
{
    self->directions[from][to].lose_type = type;
}

void world_delay_next (struct world *self, int from, int to, uint8_t type, tied_duration_t extra)
{
    self->directions[from][to].delay_type = type;
    self->directions[from][to].delay_extra = extra;
}

void world_service_next (struct world *self, int replica, tied_duration_t service)
{
    self->hosts[replica].service_next = service;
}

void world_inject (struct world *self, int from, int to, const void *data, size_t size)
{
    const struct connection *connection = world_connection (self, from, to);

    if (connection->is_up)
        world_schedule (self, from, to, connection->generation, self->now, data, size);
}

void world_settle (struct world *self)
{
    self->is_settled = true;
    self->options.pipe_max = 0;
    for (int from = 0; from < NODE_ACTORS; from++) {
        for (int to = 0; to < NODE_ACTORS; to++) {
            self->directions[from][to].is_cut = false;
            self->directions[from][to].lose_type = 0;
            self->directions[from][to].clogged_until =
                ti_min (self->directions[from][to].clogged_until, self->now);
        }
    }
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        self->hosts[r].paused_until = ti_min (self->hosts[r].paused_until, self->now);
        world_restart (self, (int)r);
    }
}

void world_check_empty (struct world *self)
{
    const struct tied_call_id nobody = {LEDGER_EPOCH (0), 0};

    /* Let the cancels of the last calls arrive, take the clients away, and let ties age. */
    world_run_until (self, self->now + TIED_S (1));
    for (uint32_t c = 0; c < self->options.clients; c++) {
        if (tied_client_core_live_calls (self->clients[c].core) != 0 ||
            tied_client_core_copies_in_flight (self->clients[c].core) != 0)
            ledger_violate (&self->ledger, "a client holds a call at the end", nobody);
        for (uint32_t r = 0; r < self->options.replicas; r++) {
            world_disconnect (self, NODE_CLIENT ((int)c), NODE_REPLICA ((int)r));
        }
    }
    world_run_until (self, self->now + TIED_S (1) + self->options.replica.park_lease_ns +
                               self->options.replica.recent_ttl_ns +
                               (self->options.replica.client_silence_ns == TIED_NEVER
                                    ? 0
                                    : self->options.replica.client_silence_ns));
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        struct node_replica *node = &self->hosts[r].node;
        struct tied_load load;
        if (!self->hosts[r].is_alive)
            continue;
        if (self->options.replica.client_silence_ns == TIED_NEVER) {
            for (uint32_t i = 0; i < NODE_CONNS_MAX; i++) {
                if (node->conns[i].is_used)
                    node_replica_client_gone (node, node->conns[i].client,
                                              node->conns[i].generation, self->now);
            }
        }
        load = tied_replica_core_load (node->core);
        if (load.depth != 0 || load.running != 0)
            ledger_violate (&self->ledger, "a replica holds a copy at the end", nobody);
        for (uint32_t i = 0; i < NODE_CONNS_MAX; i++) {
            if (node->conns[i].is_used)
                ledger_violate (&self->ledger, "a replica holds a client at the end", nobody);
        }
        for (uint32_t i = 0; i < tied_replica_core_slots (node->core); i++) {
            if (node->slots[i].is_used)
                ledger_violate (&self->ledger, "a slot is held at the end", nobody);
        }
        if (node_replica_deadline (node) != TIED_NEVER)
            ledger_violate (&self->ledger, "an idle replica waits for something", nobody);
    }
}
