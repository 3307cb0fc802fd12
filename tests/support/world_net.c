/* SPDX-License-Identifier: MIT */
/* Notes and links of a world (world.h): what is told, lost, delayed, repeated. */
#include "world_internal.h"

#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "transcript.h"

struct connection *world_connection (struct world *self, int a, int b)
{
    return a < b ? &self->connections[a][b] : &self->connections[b][a];
}

static void mix (struct world *self, uint64_t value)
{
    self->hash = ti_mix (self->hash ^ value) + UINT64_C (0x9e3779b97f4a7c15);
}

static bool is_probe (uint8_t type)
{
    return type == TIED_WIRE_HELLO || type == TIED_WIRE_WELCOME || type == TIED_WIRE_PING ||
           type == TIED_WIRE_PONG;
}

static void take_note (struct world *self, const struct node_note *note)
{
    char line[256];

    ledger_note (&self->ledger, note, self->now);
    mix (self, self->now);
    mix (self, (uint64_t)note->kind << 48 | (uint64_t)(uint16_t)note->actor << 32 |
                   (uint64_t)(uint16_t)note->other << 16 | (uint64_t)note->type << 8 | note->copy);
    mix (self, note->call.epoch << 40 ^ note->call.sequence);
    mix (self, (uint64_t)note->flags << 8 | note->reason);
    if (note->done != NULL)
        mix (self, (uint64_t)note->done->outcome << 32 | note->done->copies_sent);
    if (self->options.transcript == NULL || (self->options.hides_probes && is_probe (note->type)))
        return;
    (void)transcript_line (line, sizeof line, note, self->now, self->origin);
    (void)fprintf (self->options.transcript, "%s\n", line);
}

void world_on_note (void *context, const struct node_note *note)
{
    struct world *self = context;

    take_note (self, note);
    if (note->kind == NODE_NOTE_SENT && self->has_lost) {
        self->has_lost = false;
        take_note (self, &self->lost);
    }
}

void world_note (struct world *self, enum node_note_kind kind, int actor, int other)
{
    const struct node_note note = {
        .kind = kind, .actor = actor, .other = other, .sibling = NODE_NOBODY};
    world_on_note (self, &note);
}

/* A message that the network lost or repeated. */
static void note_message (struct world *self,
                          enum node_note_kind kind,
                          int from,
                          int to,
                          const struct tied_message *message)
{
    struct node_note note = {
        .kind = kind, .actor = from, .other = to, .type = message->type, .sibling = NODE_NOBODY};
    note.has_call = true;
    switch (message->type) {
    case TIED_WIRE_REQUEST:
        note.call = message->u.request.call;
        note.copy = message->u.request.copy;
        break;
    case TIED_WIRE_REPLY:
        note.call = message->u.reply.call;
        note.copy = message->u.reply.copy;
        break;
    case TIED_WIRE_REJECT:
        note.call = message->u.reject.call;
        note.copy = message->u.reject.copy;
        break;
    case TIED_WIRE_CANCEL:
        note.call = message->u.cancel.call;
        break;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
        note.call = message->u.tie.call;
        note.copy = message->u.tie.copy;
        break;
    default:
        note.has_call = false;
        break;
    }
    self->lost = note;
    self->has_lost = true;
}

/* ---- network ---- */

static bool draws (struct world *self, uint32_t ppm)
{
    return ppm > 0 && !self->is_settled && ti_prng_below (&self->faults, 1000000) < ppm;
}

static tied_time_t arrival (struct world *self, int from, int to, uint8_t type)
{
    struct direction *direction = &self->directions[from][to];
    const bool is_peer = !NODE_IS_CLIENT (from) && !NODE_IS_CLIENT (to);
    tied_time_t at =
        self->now +
        ti_prng_between (&self->network,
                         is_peer ? self->options.peer_delay_low_ns : self->options.delay_low_ns,
                         is_peer ? self->options.peer_delay_high_ns : self->options.delay_high_ns);

    if (direction->delay_type == type) {
        at += direction->delay_extra;
        direction->delay_type = 0;
    }
    if (draws (self, self->options.reorder_ppm))
        return at;
    at = ti_max (at, direction->last);
    direction->last = at;
    return at;
}

void world_schedule (struct world *self,
                     int from,
                     int to,
                     uint32_t generation,
                     tied_time_t at,
                     const void *data,
                     size_t size)
{
    uint32_t index;
    struct event *event = world_new_event (self, &index);

    TI_ASSERT (size <= sizeof event->bytes);
    event->at = at;
    event->kind = EVENT_MESSAGE;
    event->from = from;
    event->to = to;
    event->generation = generation;
    event->size = (uint16_t)size;
    memcpy (event->bytes, data, size);
    self->directions[from][to].under_way++;
    world_push (self, index);
}

bool world_on_send (void *context,
                    int from,
                    int to,
                    uint32_t generation,
                    const struct tied_message *message,
                    const void *data,
                    size_t size)
{
    struct world *self = context;
    struct direction *direction = &self->directions[from][to];
    const struct connection *connection = world_connection (self, from, to);

    if (self->options.pipe_max > 0 && !NODE_IS_CLIENT (to) &&
        direction->under_way >= self->options.pipe_max)
        return false;
    if (!connection->is_up || connection->generation != generation)
        return true; /* into a connection that has broken, which this end does not know yet */
    if (direction->is_cut || direction->lose_type == message->type ||
        (message->type < WORLD_TYPES && draws (self, self->options.loss_ppm[message->type]))) {
        if (direction->lose_type == message->type)
            direction->lose_type = 0;
        note_message (self, NODE_NOTE_LOSE, from, to, message);
        return true;
    }
    world_schedule (self, from, to, generation, arrival (self, from, to, message->type), data,
                    size);
    if (draws (self, self->options.repeat_ppm)) {
        note_message (self, NODE_NOTE_DUPLICATE, from, to, message);
        world_schedule (self, from, to, generation, arrival (self, from, to, message->type), data,
                        size);
    }
    return true;
}

void world_schedule_link (struct world *self, int to, int other, bool is_up, uint32_t generation)
{
    uint32_t index;
    struct event *event = world_new_event (self, &index);

    event->kind = is_up ? EVENT_LINK_UP : EVENT_LINK_DOWN;
    event->from = other;
    event->to = to;
    event->generation = generation;
    event->at = arrival (self, other, to, UINT8_MAX);
    world_push (self, index);
}

static bool is_present (const struct world *self, int actor)
{
    return NODE_IS_CLIENT (actor) || self->hosts[NODE_REPLICA_OF (actor)].is_alive;
}

/* Both ends learn of it, but a replica is never told of a client's connection. */
void world_tell_link (struct world *self, int a, int b, bool is_up)
{
    const uint32_t generation = world_connection (self, a, b)->generation;

    if (is_present (self, a) && (NODE_IS_CLIENT (a) || !NODE_IS_CLIENT (b)))
        world_schedule_link (self, a, b, is_up, generation);
    if (is_present (self, b) && (NODE_IS_CLIENT (b) || !NODE_IS_CLIENT (a)))
        world_schedule_link (self, b, a, is_up, generation);
}

void world_connect (struct world *self, int a, int b)
{
    struct connection *connection = world_connection (self, a, b);

    if (connection->is_up || !is_present (self, a) || !is_present (self, b))
        return;
    connection->is_up = true;
    connection->generation++;
    world_tell_link (self, a, b, true);
}

void world_disconnect (struct world *self, int a, int b)
{
    struct connection *connection = world_connection (self, a, b);

    if (!connection->is_up)
        return;
    world_tell_link (self, a, b, false);
    connection->is_up = false;
}
