/* SPDX-License-Identifier: MIT */
/* Connections of the tiny world (tiny.h), and what is under way on them. */
#include "tiny_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "transcript.h"

struct state *tiny_live (struct explorer *self)
{
    return (struct state *)(void *)self->block;
}

void tiny_on_note (void *context, const struct node_note *note)
{
    struct explorer *self = context;
    char line[256];

    ledger_note (&self->ledger, note, tiny_live (self)->now);
    if (self->prints) {
        (void)transcript_line (line, sizeof line, note, tiny_live (self)->now, START);
        (void)fprintf (stderr, "    %s\n", line);
    }
}

static enum channel channel_of (int from, int to)
{
    if (NODE_IS_CLIENT (from))
        return NODE_REPLICA_OF (to) == 0 ? C_R0 : C_R1;
    if (NODE_IS_CLIENT (to))
        return NODE_REPLICA_OF (from) == 0 ? R0_C : R1_C;
    return NODE_REPLICA_OF (from) == 0 ? R0_R1 : R1_R0;
}

/* Which connection a channel runs over. */
static int connection_of (enum channel channel)
{
    static const int connections[CHANNELS] = {0, 1, 0, 1, 2, 2};
    return connections[channel];
}

struct message *tiny_append (struct explorer *self, enum channel channel, enum message_kind kind)
{
    struct channel_state *queue = &tiny_live (self)->channels[channel];
    struct message *message;

    TI_ASSERT (queue->count < CHANNEL_MAX);
    message = &queue->at[queue->count++];
    memset (message, 0, sizeof *message);
    message->kind = (uint8_t)kind;
    message->generation = tiny_live (self)->generation[connection_of (channel)];
    return message;
}

bool tiny_on_send (void *context,
                   int from,
                   int to,
                   uint32_t generation,
                   const struct tied_message *message,
                   const void *data,
                   size_t size)
{
    struct explorer *self = context;
    struct state *state = tiny_live (self);
    struct message *queued;
    enum channel channel;

    if (to == NODE_CLIENT (1))
        return true; /* the occupant's client: nobody listens */
    channel = channel_of (from, to);
    if (!state->is_connected[connection_of (channel)] ||
        state->generation[connection_of (channel)] != generation)
        return true; /* into a connection that has broken, which this end does not know yet */
    TI_ASSERT (size <= MESSAGE_MAX);
    queued = tiny_append (self, channel, KIND_DATA);
    queued->type = message->type;
    queued->size = (uint8_t)size;
    memcpy (queued->bytes, data, size);
    return true;
}

void tiny_on_run (void *context, int replica, uint32_t slot)
{
    struct state *state = tiny_live (context);
    TI_ASSERT (state->running[replica] == 0);
    state->running[replica] = (uint8_t)(slot + 1);
}

void tiny_start_replica (struct explorer *self, int r)
{
    struct state *state = tiny_live (self);
    struct node_replica *node = &state->replicas[r];
    unsigned char *memory =
        self->block + self->state_size + self->client_size + (size_t)r * self->replica_size;
    struct tied_replica_core_options options = self->replica_options;

    state->incarnations[r]++;
    memset (node, 0, sizeof *node);
    memset (state->slots[r], 0, sizeof state->slots[r]);
    options.incarnation = (uint64_t)(r + 1) * 16 + state->incarnations[r];
    node->net = &self->net;
    node->self = r;
    node->slots = state->slots[r];
    node->incarnation = options.incarnation;
    node->mutations = self->config->mutations;
    node->conns_max = self->replica_options.clients_max;
    node->core = tied_replica_core_init (memory, self->replica_size, &options);
    TI_ASSERT (node->core != NULL);
    state->is_alive[r] = 1;
    state->running[r] = 0;
}

void tiny_connect (struct explorer *self, int connection)
{
    struct state *state = tiny_live (self);

    state->is_connected[connection] = 1;
    state->generation[connection]++;
    if (connection == 2) {
        (void)tiny_append (self, R0_R1, KIND_LINK_UP);
        (void)tiny_append (self, R1_R0, KIND_LINK_UP);
    } else {
        (void)tiny_append (self, connection == 0 ? R0_C : R1_C, KIND_LINK_UP);
    }
}

void tiny_deliver (struct explorer *self, enum channel channel, bool keeps)
{
    struct state *state = tiny_live (self);
    struct channel_state *queue = &state->channels[channel];
    const struct message message = queue->at[0];
    const int to_replica = channel == C_R0 || channel == R1_R0 ? 0 : 1;

    if (!keeps) {
        queue->count--;
        memmove (&queue->at[0], &queue->at[1], queue->count * sizeof queue->at[0]);
        memset (&queue->at[queue->count], 0, sizeof queue->at[0]);
    }
    if (channel == R0_C || channel == R1_C) {
        const int r = channel == R0_C ? 0 : 1;
        state->stepped[0] = state->now;
        if (message.kind != KIND_DATA)
            node_client_link (&state->client, r, message.generation, message.kind == KIND_LINK_UP,
                              state->now);
        else
            node_client_receive (&state->client, r, message.bytes, message.size, state->now);
        return;
    }
    state->stepped[1 + to_replica] = state->now;
    if (message.kind != KIND_DATA)
        node_replica_link (&state->replicas[to_replica], 1 - to_replica, message.generation,
                           message.kind == KIND_LINK_UP, state->now);
    else
        node_replica_receive (&state->replicas[to_replica],
                              channel == C_R0 || channel == C_R1 ? NODE_CLIENT (0)
                                                                 : NODE_REPLICA (1 - to_replica),
                              message.generation, message.bytes, message.size, state->now);
}
