/* SPDX-License-Identifier: MIT */
/*
 * Links in virtual time, with the semantics of the transport: order within a connection and none
 * across, a pipe that may be full, and a connection that breaks and comes back in silence. Where
 * every message of a kind takes the same time and nothing breaks, a link has no state at all.
 */
#include "world_internal.h"

#include <string.h>

#include "base/assert.h"
#include "tools/dist.h"

static struct world_link *link_of (const struct world *self, uint32_t client, uint32_t replica)
{
    const struct world_client *c = &self->clients[client];

    return c->links == NULL ? NULL : &c->links[replica - c->first];
}

static bool is_lost (const struct world *self, uint64_t number, uint8_t type)
{
    const struct sim_network *network = &self->scenario->network;

    if (network->loss > 0 &&
        sim_is_below (sim_draw (self->seed, SIM_STREAM_LOSS, number, 0), network->loss))
        return true;
    return type == TIED_WIRE_STARTED && network->loss_started > 0 &&
           sim_is_below (sim_draw (self->seed, SIM_STREAM_LOSS, number, 1), network->loss_started);
}

/* Messages of one connection arrive in the order in which they were sent. A shuffle must not find
 * two of them at the same time. */
static tied_time_t arrival (struct world *self,
                            struct world_direction *direction,
                            const struct sim_delay *delay,
                            uint64_t number)
{
    tied_time_t at = self->now + delay->fixed_ns;

    if (!delay->has_extra)
        return at;
    at += ti_dist_draw (&delay->extra, sim_draw (self->seed, SIM_STREAM_NETWORK, number, 0));
    at = ti_max (at, direction->last + (self->scenario->shuffles_ties ? 1 : 0));
    direction->last = at;
    return at;
}

/* A message on its way: `kind`, `a` and `b` as in the event. */
struct trip {
    enum world_event kind;
    uint32_t a, b;
    uint32_t generation;
};

static enum world_sent send (struct world *self,
                             struct trip trip,
                             struct world_direction *direction,
                             const struct sim_delay *delay,
                             const int lanes[WORLD_LANES],
                             const struct tied_message *message)
{
    const uint64_t number = self->messages++;
    struct sim_record *record;
    uint32_t lane = 0;
    int size;

    if (self->has_loss && is_lost (self, number, message->type))
        return WORLD_LOST;
    if (self->lanes > 1) /* equal times of one lane keep their order: spread the connections */
        lane = (uint32_t)(ti_mix ((uint64_t)trip.a << 32 | trip.b) % self->lanes);
    record = sim_events_next (self->events, lanes[lane]);
    size = tied_wire_encode (message, record->bytes, SIM_EVENT_ROOM);
    TI_ASSERT (size > 0 && size <= SIM_EVENT_BYTES_MAX);
    record->value = trip.generation;
    record->kind = trip.kind;
    record->a = trip.a;
    record->b = trip.b;
    record->size = (uint32_t)size;
    if (direction != NULL)
        direction->under_way++;
    sim_events_post (self->events, lanes[lane], arrival (self, direction, delay, number));
    return WORLD_SENT;
}

static bool is_full (const struct world *self, const struct world_direction *direction)
{
    const uint32_t high_water = self->scenario->network.high_water;

    return high_water > 0 && direction->under_way >= high_water;
}

enum world_sent world_send_client (struct world *self,
                                   uint32_t client,
                                   uint32_t replica,
                                   const struct tied_message *message)
{
    struct world_link *link = link_of (self, client, replica);
    struct trip trip = {WORLD_TO_REPLICA, client, replica, 0};

    if (link != NULL) {
        if (!link->is_up || is_full (self, &link->to_replica))
            return WORLD_REFUSED;
        trip.generation = link->generation;
    }
    return send (self, trip, link == NULL ? NULL : &link->to_replica,
                 &self->scenario->network.client, self->client_lanes, message);
}

/* Towards a client nothing is refused: a replica could do nothing about it. */
enum world_sent world_send_replica (struct world *self,
                                    uint32_t replica,
                                    uint32_t client,
                                    uint32_t generation,
                                    const struct tied_message *message)
{
    struct world_link *link = link_of (self, client, replica);
    struct trip trip = {WORLD_TO_CLIENT, client, replica, 0};

    if (link != NULL) {
        if (!link->is_up || link->generation != generation)
            return WORLD_LOST;
        trip.generation = generation;
    }
    return send (self, trip, link == NULL ? NULL : &link->to_client,
                 &self->scenario->network.client, self->client_lanes, message);
}

enum world_sent
world_send_peer (struct world *self, uint32_t from, uint32_t to, const struct tied_message *message)
{
    const struct world_replica *replica = &self->replicas[from];
    struct world_direction *direction =
        replica->to_peers == NULL ? NULL : &replica->to_peers[to - replica->first];
    const struct trip trip = {WORLD_TO_PEER, from, to, self->replicas[to].life};

    if (direction != NULL && is_full (self, direction))
        return WORLD_REFUSED;
    return send (self, trip, direction, &self->scenario->network.peer, self->peer_lanes, message);
}

bool world_arrives (struct world *self, const struct sim_event *event)
{
    struct world_link *link;

    if (!self->keeps_directions)
        return true;
    if (event->kind == WORLD_TO_PEER) {
        const struct world_replica *replica = &self->replicas[event->a];

        replica->to_peers[event->b - replica->first].under_way--;
        return !self->replicas[event->b].is_dead && self->replicas[event->b].life == event->value;
    }
    link = link_of (self, event->a, event->b);
    if (link->generation != event->value)
        return false;
    if (event->kind == WORLD_TO_CLIENT) {
        link->to_client.under_way--;
        return true;
    }
    link->to_replica.under_way--;
    return !self->replicas[event->b].is_dead;
}

/* ---- breaks ---- */

void world_break_later (struct world *self, uint32_t client, uint32_t replica)
{
    struct world_link *link = link_of (self, client, replica);
    const struct ti_dist gap = {.kind = TI_DIST_EXP, .a_ns = self->scenario->network.break_gap_ns};
    const uint64_t connection = (uint64_t)client << 32 | replica;
    const struct sim_event event = {
        .at = self->now + ti_dist_draw (&gap, sim_draw (self->seed, SIM_STREAM_BREAK, connection,
                                                        link->breaks++)),
        .kind = WORLD_LINK_BREAK,
        .a = client,
        .b = replica,
        .value = link->generation};

    sim_events_put (self->events, -1, &event);
}

void world_break (struct world *self, uint32_t client, uint32_t replica, uint64_t generation)
{
    struct world_link *link = link_of (self, client, replica);
    const struct sim_event event = {.at = self->now + self->scenario->network.break_down_ns,
                                    .kind = WORLD_LINK_UP,
                                    .a = client,
                                    .b = replica};

    if (!link->is_up || link->generation != generation) /* its replica has died */
        return;
    sim_events_put (self->events, -1, &event);
    world_disconnect (self, client, replica);
}

void world_disconnect (struct world *self, uint32_t client, uint32_t replica)
{
    struct world_link *link = link_of (self, client, replica);

    link->is_up = false;
    link->generation++;
    link->to_replica = (struct world_direction){0, 0};
    link->to_client = (struct world_direction){0, 0};
    world_client_link (self, client, replica, false);
}

bool world_is_connected (const struct world *self, uint32_t client, uint32_t replica)
{
    return link_of (self, client, replica)->is_up;
}

void world_connect (struct world *self, uint32_t client, uint32_t replica)
{
    struct world_link *link = link_of (self, client, replica);

    if (link != NULL) {
        if (link->is_up || self->replicas[replica].is_dead)
            return;
        link->is_up = true;
    }
    world_client_link (self, client, replica, true);
    if (self->scenario->network.break_gap_ns > 0 && self->origin != TIED_NEVER)
        world_break_later (self, client, replica);
}
