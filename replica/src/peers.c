/* SPDX-License-Identifier: MIT */
/*
 * What arrives at the peer endpoint, and the links to the peers' own. A peer speaks to our endpoint
 * over its link and we to its endpoint over ours: two connections, so that who connects first and
 * who restarts does not matter.
 */
#include "base/util.h"
#include "engine.h"

/* Messages of one socket handled in a turn. */
#define BATCH 256

/* Messages received before the first of them is handled, so that the core can be told what they
   are about. */
struct bite {
    struct ti_envelope envelopes[TIED_REPLICA_EXPECT_MAX];
    struct tied_message messages[TIED_REPLICA_EXPECT_MAX];
    uint32_t count;
};

static void bind_route (tied_replica_t *self, uint32_t peer, struct ti_envelope *envelope)
{
    const void *bytes = zmq_msg_data (&envelope->route);
    size_t size = zmq_msg_size (&envelope->route);
    uint32_t route = ti_routes_find (&self->peer_routes, bytes, size);

    /* The connection may have spoken for another peer before; the last HELLO counts. */
    if (route != TI_ROUTE_NONE && self->route_peer[route] != peer) {
        self->peers[self->route_peer[route]].route = TI_ROUTE_NONE;
        ti_routes_remove (&self->peer_routes, route);
        route = TI_ROUTE_NONE;
    }
    if (route == TI_ROUTE_NONE) {
        if (self->peers[peer].route != TI_ROUTE_NONE)
            ti_routes_remove (&self->peer_routes, self->peers[peer].route);
        route = ti_routes_add (&self->peer_routes, bytes, size);
    }
    self->peers[peer].route = route;
    if (route != TI_ROUTE_NONE)
        self->route_peer[route] = peer;
    else
        self->stats.strangers++;
}

static void
on_hello (tied_replica_t *self, struct ti_envelope *envelope, const struct tied_wire_hello *hello)
{
    uint32_t peer = ti_names_find (&self->peer_names, hello->id.data, hello->id.size);
    struct tied_message out;

    if (peer == TI_NAME_NONE) {
        self->stats.strangers++;
        return;
    }
    self->peers[peer].heard_at = self->now;
    self->peers[peer].stats.hello_received++;
    bind_route (self, peer, envelope);
    ti_fill_welcome (self, hello, &out);
    if (ti_answer (self, self->peers_sock, envelope, &out) != 0)
        self->stats.pongs_dropped++;
}

/* Which peer speaks; TI_NAME_NONE, counted: nobody who has said HELLO as one. */
static uint32_t speaker (tied_replica_t *self, struct ti_envelope *envelope)
{
    uint32_t route = ti_routes_find (&self->peer_routes, zmq_msg_data (&envelope->route),
                                     zmq_msg_size (&envelope->route));

    if (route == TI_ROUTE_NONE) {
        self->stats.strangers++;
        return TI_NAME_NONE;
    }
    self->peers[self->route_peer[route]].heard_at = self->now;
    return self->route_peer[route];
}

static void on_tie (tied_replica_t *self,
                    struct ti_envelope *envelope,
                    enum tied_replica_event_type type,
                    const struct tied_wire_tie *tie)
{
    uint32_t peer = speaker (self, envelope);
    struct tied_replica_event event = {
        .type = type, .u.tie = {.peer = peer, .call = tie->call, .copy = tie->copy}};

    if (peer == TI_NAME_NONE)
        return;
    if (type == TIED_REPLICA_EV_STARTED)
        self->peers[peer].stats.started_received++;
    if (type == TIED_REPLICA_EV_UNTIE)
        self->peers[peer].stats.untie_received++;
    (void)!ti_replica_step (self, &event);
}

static void
on_claim (tied_replica_t *self, struct ti_envelope *envelope, const struct tied_wire_claim *claim)
{
    uint32_t peer = speaker (self, envelope);
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CLAIM,
                                       .u.claim = {.peer = peer,
                                                   .call = claim->call,
                                                   .copy = claim->copy,
                                                   .age_ns = ti_ns_from_us (claim->age_us),
                                                   .incarnation = claim->incarnation}};

    if (peer != TI_NAME_NONE)
        (void)!ti_replica_step (self, &event);
}

static void
on_peer_message (tied_replica_t *self, struct ti_envelope *envelope, struct tied_message *in)
{
    switch (in->type) {
    case TIED_WIRE_STARTED:
        on_tie (self, envelope, TIED_REPLICA_EV_STARTED, &in->u.tie);
        return;
    case TIED_WIRE_UNTIE:
        on_tie (self, envelope, TIED_REPLICA_EV_UNTIE, &in->u.tie);
        return;
    case TIED_WIRE_DONE:
        on_tie (self, envelope, TIED_REPLICA_EV_DONE, &in->u.tie);
        return;
    case TIED_WIRE_GRANT:
        on_tie (self, envelope, TIED_REPLICA_EV_GRANT, &in->u.tie);
        return;
    case TIED_WIRE_DENY:
        on_tie (self, envelope, TIED_REPLICA_EV_DENY, &in->u.tie);
        return;
    case TIED_WIRE_CLAIM:
        on_claim (self, envelope, &in->u.claim);
        return;
    case TIED_WIRE_HELLO:
        if (in->u.hello.role != TIED_WIRE_ROLE_REPLICA)
            break;
        on_hello (self, envelope, &in->u.hello);
        return;
    case TIED_WIRE_PING:
        in->type = TIED_WIRE_PONG;
        in->u.ping.load = tied_replica_core_load (self->core);
        if (ti_answer (self, self->peers_sock, envelope, in) != 0)
            self->stats.pongs_dropped++;
        return;
    default:
        break;
    }
    self->stats.misdirected++;
}

/* Take what is there, as far as a bite goes. TI_RECV_MESSAGE: there may be more. */
static enum ti_recv receive (tied_replica_t *self, struct bite *out)
{
    out->count = 0;
    for (int i = 0; i < TIED_REPLICA_EXPECT_MAX; i++) {
        struct ti_envelope *envelope = &out->envelopes[out->count];
        enum ti_recv got = ti_sock_recv (self->peers_sock, true, envelope);

        if (got == TI_RECV_NONE || got == TI_RECV_ENDED)
            return got;
        self->stats.frames_peer++;
        if (got == TI_RECV_MULTIPART)
            self->stats.multipart++;
        else if (ti_decode (self, envelope, &out->messages[out->count]))
            out->count++;
        else
            ti_envelope_close (envelope);
    }
    return TI_RECV_MESSAGE;
}

static void handle (tied_replica_t *self, struct bite *bite)
{
    struct tied_call_id calls[TIED_REPLICA_EXPECT_MAX];
    size_t count = 0;

    for (uint32_t i = 0; i < bite->count; i++) {
        const struct tied_message *in = &bite->messages[i];
        if (in->type == TIED_WIRE_STARTED || in->type == TIED_WIRE_UNTIE ||
            in->type == TIED_WIRE_DONE)
            calls[count++] = in->u.tie.call;
    }
    tied_replica_core_expect (self->core, calls, count);
    for (uint32_t i = 0; i < bite->count; i++) {
        on_peer_message (self, &bite->envelopes[i], &bite->messages[i]);
        ti_envelope_close (&bite->envelopes[i]);
    }
}

bool ti_peers_drain (tied_replica_t *self)
{
    struct bite bite;

    if (!self->peers_sock)
        return true;
    for (int i = 0; i < BATCH; i += TIED_REPLICA_EXPECT_MAX) {
        enum ti_recv got;

        self->dirty &= ~(unsigned)TI_DIRTY_PEERS;
        got = receive (self, &bite);
        handle (self, &bite);
        if (got == TI_RECV_ENDED) {
            ti_sock_close (&self->peers_sock);
            return true;
        }
        /* Nothing was left when the bite was taken. But an answer to one of it (WELCOME, PONG) is
           a use of the socket, and takes away the word of what has come since. */
        if (got == TI_RECV_NONE && !(self->dirty & TI_DIRTY_PEERS))
            return true;
    }
    self->dirty |= TI_DIRTY_PEERS;
    return false;
}

/* Over a link a peer only answers: WELCOME to our HELLO. */
static void
on_link_message (tied_replica_t *self, struct ti_peer *peer, struct ti_envelope *envelope)
{
    struct tied_message in;

    if (!ti_decode (self, envelope, &in))
        return;
    peer->heard_at = self->now;
    if (in.type != TIED_WIRE_WELCOME && in.type != TIED_WIRE_PONG)
        self->stats.misdirected++;
}

static bool read_link (tied_replica_t *self, struct ti_peer *peer)
{
    struct ti_envelope envelope;

    for (int i = 0; i < BATCH; i++) {
        enum ti_recv got = ti_link_recv (&peer->link, &envelope);
        if (got == TI_RECV_NONE)
            return true;
        self->stats.frames_peer++;
        if (got == TI_RECV_MULTIPART) {
            self->stats.multipart++;
            continue;
        }
        on_link_message (self, peer, &envelope);
        ti_envelope_close (&envelope);
    }
    return false;
}

static void peer_event (tied_replica_t *self, uint32_t peer, enum tied_replica_event_type type)
{
    struct tied_replica_event event = {.type = type, .u.peer.peer = peer};

    (void)!ti_replica_step (self, &event);
}

bool ti_peer_greet (tied_replica_t *self, struct ti_peer *peer)
{
    struct tied_message hello = {.type = TIED_WIRE_HELLO,
                                 .u.hello = {.role = TIED_WIRE_ROLE_REPLICA,
                                             .id = {self->id, self->id_size},
                                             .incarnation = self->options.core.incarnation,
                                             .time_ns = self->now}};

    peer->greeted_at = self->now;
    if (ti_link_send (&peer->link, &hello, 0) != 0)
        return false;
    peer->stats.hello_sent++;
    return true;
}

/* True: nothing is left to look at. */
static bool look_at_link (tied_replica_t *self, uint32_t index)
{
    struct ti_peer *peer = &self->peers[index];
    unsigned bits = ti_link_update (&peer->link, self->now);

    if ((bits & TI_LINK_DOWN) && peer->is_greeted) {
        peer->is_greeted = false;
        peer_event (self, index, TIED_REPLICA_EV_PEER_DOWN);
    }
    if ((bits & TI_LINK_UP) && ti_peer_greet (self, peer)) {
        peer->is_greeted = true;
        peer->stats.link_ups++;
        peer_event (self, index, TIED_REPLICA_EV_PEER_UP);
    }
    /* The HELLO was a use of the socket: look again. */
    return (!(bits & TI_LINK_READABLE) || read_link (self, peer)) && !(bits & TI_LINK_UP);
}

bool ti_links_drain (tied_replica_t *self)
{
    bool is_drained = true;

    for (uint32_t i = 0; i < self->peer_names.count; i++) {
        if (!self->peers[i].is_dirty)
            continue;
        self->peers[i].is_dirty = false;
        if (!look_at_link (self, i))
            self->peers[i].is_dirty = true;
    }
    /* What the core did meanwhile may have used links that had their turn. */
    for (uint32_t i = 0; i < self->peer_names.count; i++)
        is_drained = is_drained && !self->peers[i].is_dirty;
    return is_drained;
}
