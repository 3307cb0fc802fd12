/* SPDX-License-Identifier: MIT */
/* What reaches a replica from outside, see node.h: messages, links, workers, time. */
#include "node_internal.h"

#include <string.h>

#include "base/assert.h"
#include "base/util.h"

/* Index of a connection, handed out at its first message; UINT32_MAX when all are in use. */
static uint32_t conn_index (struct node_replica *self, int client, uint32_t generation)
{
    uint32_t vacant = UINT32_MAX;

    for (uint32_t i = 0; i < self->conns_max; i++) {
        const struct node_conn *conn = &self->conns[i];
        if (!conn->is_used) {
            if (vacant == UINT32_MAX)
                vacant = i;
        } else if (conn->client == client && conn->generation == generation) {
            return i;
        }
    }
    if (vacant != UINT32_MAX) {
        self->conns[vacant].is_used = true;
        self->conns[vacant].client = (int16_t)client;
        self->conns[vacant].generation = generation;
    }
    return vacant;
}

static void receive_request (struct node_replica *self,
                             uint32_t client,
                             const struct tied_wire_request *request,
                             int from,
                             tied_time_t now)
{
    const struct tied_replica_counters *c = tied_replica_core_counters (self->core);
    const uint64_t tombstoned = c->tombstoned;
    const uint64_t merged = c->merged;
    const uint64_t repeated = c->duplicate_request;
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_REQUEST};
    unsigned char body[16] = {0};

    event.u.request.client = client;
    event.u.request.call = request->call;
    event.u.request.copy = request->copy;
    event.u.request.flags = request->flags;
    event.u.request.incarnation = request->incarnation;
    event.u.request.remaining_ns = ti_ns_from_us (request->remaining_us);
    event.u.request.sent_us = request->sent_us;
    event.u.request.sibling = TIED_NO_PEER;
    event.u.request.sibling_named = request->sibling.size > 0;
    event.u.request.sibling_incarnation = request->sibling_incarnation;
    if (request->sibling.size > 0) {
        const int sibling = node_replica_named (request->sibling);
        if (sibling != NODE_NOBODY && sibling != self->self)
            event.u.request.sibling = (uint32_t)sibling;
    }
    if (request->body.size == sizeof body)
        memcpy (body, request->body.data, sizeof body);
    if (node_replica_step (self, &event, body, from, now) != 0)
        return;
    self->account.received++;
    c = tied_replica_core_counters (self->core);
    if (c->tombstoned != tombstoned) {
        self->account.tombstoned++;
        node_replica_note (self, NODE_NOTE_TOMBSTONED, from, &request->call, request->copy, 0,
                           TIED_REPLICA_EV_REQUEST);
    }
    if (c->merged != merged) {
        self->account.merged++;
        node_replica_note (self, NODE_NOTE_MERGED, from, &request->call, request->copy, 0,
                           TIED_REPLICA_EV_REQUEST);
    }
    if (c->duplicate_request != repeated) {
        self->account.repeated++;
        node_replica_note (self, NODE_NOTE_REPEATED, from, &request->call, request->copy, 0,
                           TIED_REPLICA_EV_REQUEST);
    }
}

static void greet (struct node_replica *self, uint32_t client, const struct tied_message *message)
{
    struct tied_message answer;

    memset (&answer, 0, sizeof answer);
    if (message->type == TIED_WIRE_HELLO) {
        answer.type = TIED_WIRE_WELCOME;
        answer.u.welcome.id = node_replica_name (self->self);
        answer.u.welcome.incarnation = self->incarnation;
        answer.u.welcome.time_ns = message->u.hello.time_ns;
        answer.u.welcome.body_max = 1 << 20;
        answer.u.welcome.inline_max = 1024;
        answer.u.welcome.queue_depth = 1;
        answer.u.welcome.workers = 1;
        answer.u.welcome.load = tied_replica_core_load (self->core);
        answer.u.welcome.modes = TIED_WIRE_MODES;
    } else {
        answer.type = TIED_WIRE_PONG;
        answer.u.ping.time_ns = message->u.ping.time_ns;
        answer.u.ping.load = tied_replica_core_load (self->core);
    }
    if (self->conns[client].is_used)
        node_replica_send (self, client, &answer, 0);
}

static void receive_client (struct node_replica *self,
                            int from,
                            uint32_t generation,
                            const struct tied_message *message,
                            tied_time_t now)
{
    const uint32_t client = conn_index (self, from, generation);
    struct tied_replica_event event;

    if (client == UINT32_MAX) {
        self->conns_full++;
        return;
    }
    memset (&event, 0, sizeof event);
    switch (message->type) {
    case TIED_WIRE_REQUEST:
        receive_request (self, client, &message->u.request, from, now);
        break;
    case TIED_WIRE_CANCEL:
        node_replica_note (self, NODE_NOTE_CANCELLED, from, &message->u.cancel.call, 0,
                           message->u.cancel.reason, 0);
        event.type = TIED_REPLICA_EV_CANCEL;
        event.u.cancel.client = client;
        event.u.cancel.call = message->u.cancel.call;
        event.u.cancel.reason = message->u.cancel.reason;
        (void)node_replica_step (self, &event, NULL, from, now);
        break;
    case TIED_WIRE_HELLO:
    case TIED_WIRE_PING:
        event.type = TIED_REPLICA_EV_CLIENT_SEEN;
        event.u.client.client = client;
        event.u.client.epoch = 0;
        if (message->type == TIED_WIRE_HELLO) {
            event.u.client.epoch = message->u.hello.incarnation;
            event.u.client.sent_us = message->u.hello.time_ns / 1000;
        }
        (void)node_replica_step (self, &event, NULL, from, now);
        greet (self, client, message);
        break;
    default:
        self->bad_bytes++; /* no client sends this */
        break;
    }
}

static bool slot_of (const struct node_replica *self, struct tied_call_id call, uint32_t *out)
{
    for (uint32_t i = 0; i < tied_replica_core_slots (self->core); i++) {
        if (self->slots[i].is_used && ti_call_id_equal (self->slots[i].call, call)) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* DONE, CLAIM and its answers. False: it is none of these. */
static bool receive_word (struct node_replica *self,
                          int from,
                          const struct tied_message *message,
                          tied_time_t now)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_DONE};

    event.u.tie.peer = (uint32_t)NODE_REPLICA_OF (from);
    event.u.tie.call = message->u.tie.call;
    event.u.tie.copy = message->u.tie.copy;
    switch (message->type) {
    case TIED_WIRE_DONE:
        break;
    case TIED_WIRE_GRANT:
        event.type = TIED_REPLICA_EV_GRANT;
        break;
    case TIED_WIRE_DENY:
        event.type = TIED_REPLICA_EV_DENY;
        break;
    case TIED_WIRE_CLAIM:
        event.type = TIED_REPLICA_EV_CLAIM;
        event.u.claim.peer = (uint32_t)NODE_REPLICA_OF (from);
        event.u.claim.call = message->u.claim.call;
        event.u.claim.copy = message->u.claim.copy;
        event.u.claim.age_ns = ti_ns_from_us (message->u.claim.age_us);
        event.u.claim.incarnation = message->u.claim.incarnation;
        break;
    default:
        return false;
    }
    (void)node_replica_step (self, &event, NULL, from, now);
    return true;
}

static void receive_peer (struct node_replica *self,
                          int from,
                          const struct tied_message *message,
                          tied_time_t now)
{
    struct tied_replica_event event;
    uint32_t slot;
    bool is_here;

    if (receive_word (self, from, message, now))
        return;
    if (message->type != TIED_WIRE_STARTED && message->type != TIED_WIRE_UNTIE) {
        self->bad_bytes++;
        return;
    }
    memset (&event, 0, sizeof event);
    event.type =
        message->type == TIED_WIRE_STARTED ? TIED_REPLICA_EV_STARTED : TIED_REPLICA_EV_UNTIE;
    event.u.tie.peer = (uint32_t)NODE_REPLICA_OF (from);
    event.u.tie.call = message->u.tie.call;
    event.u.tie.copy = message->u.tie.copy;
    node_replica_note (self, message->type == TIED_WIRE_STARTED ? NODE_NOTE_TOLD : NODE_NOTE_UNTIED,
                       from, &message->u.tie.call, message->u.tie.copy, 0, 0);
    if (message->type == TIED_WIRE_STARTED && self->mutations != 0) {
        is_here = slot_of (self, message->u.tie.call, &slot);
        if (!is_here && (self->mutations & NODE_SKIP_TOMBSTONE) != 0)
            return;
        if (is_here && self->slots[slot].is_running && (self->mutations & NODE_KILL_RUNNING) != 0)
            self->slots[slot].is_killed = true;
    }
    if (message->type == TIED_WIRE_UNTIE && (self->mutations & NODE_FORGET_UNTIE) != 0)
        return;
    (void)node_replica_step (self, &event, NULL, from, now);
}

void node_replica_receive (struct node_replica *self,
                           int from,
                           uint32_t generation,
                           const void *data,
                           size_t size,
                           tied_time_t now)
{
    struct tied_message message;
    int fault = TIED_WIRE_FAULT_NONE;

    if (tied_wire_decode (data, size, &message, &fault) != 0) {
        self->bad_bytes++;
        node_replica_note (self, NODE_NOTE_BAD_BYTES, from, NULL, 0, (uint8_t)fault, 0);
        return;
    }
    if (NODE_IS_CLIENT (from))
        receive_client (self, from, generation, &message, now);
    else
        receive_peer (self, from, &message, now);
}

void node_replica_link (
    struct node_replica *self, int peer, uint32_t generation, bool is_up, tied_time_t now)
{
    struct tied_replica_event event = {.type = is_up ? TIED_REPLICA_EV_PEER_UP
                                                     : TIED_REPLICA_EV_PEER_DOWN};

    self->peers[peer].is_up = is_up;
    self->peers[peer].generation = generation;
    node_replica_note (self, is_up ? NODE_NOTE_LINK_UP : NODE_NOTE_LINK_DOWN, NODE_REPLICA (peer),
                       NULL, 0, 0, 0);
    event.u.peer.peer = (uint32_t)peer;
    if (node_replica_step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

void node_replica_client_gone (struct node_replica *self,
                               int client,
                               uint32_t generation,
                               tied_time_t now)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CLIENT_GONE};

    for (uint32_t i = 0; i < NODE_CONNS_MAX; i++) {
        const struct node_conn *conn = &self->conns[i];
        if (conn->is_used && conn->client == client && conn->generation == generation) {
            event.u.client.client = i;
            (void)node_replica_step (self, &event, NULL, NODE_CLIENT (client), now);
            return;
        }
    }
}

void node_replica_take (struct node_replica *self, tied_time_t now)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_TAKE};

    if (node_replica_step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

void node_replica_finish (struct node_replica *self, uint32_t slot, tied_time_t now)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_FINISH};

    event.u.finish.slot = slot;
    if (node_replica_step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
    /* A copy whose client is gone ends without a REPLY. */
    memset (&self->slots[slot], 0, sizeof self->slots[slot]);
}

void node_replica_drain (struct node_replica *self, tied_time_t now)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_DRAIN};

    if (node_replica_step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

void node_replica_timeout (struct node_replica *self, tied_time_t now)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_TIMEOUT};

    if (node_replica_step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

tied_time_t node_replica_deadline (const struct node_replica *self)
{
    const tied_time_t deadline = tied_replica_core_deadline (self->core);
    return deadline == TIED_NEVER ? TIED_NEVER : ti_time_sub (deadline, self->offset);
}

void node_replica_check (const struct node_replica *self)
{
    const struct tied_replica_counters *c = tied_replica_core_counters (self->core);
    const struct node_account *a = &self->account;

    TI_ASSERT (c->received == a->received);
    TI_ASSERT (c->executed == a->run);
    TI_ASSERT (c->dropped == a->dropped);
    TI_ASSERT (c->expired == a->expired);
    TI_ASSERT (c->rejected == a->rejected);
    TI_ASSERT (c->tombstoned == a->tombstoned);
    TI_ASSERT (c->merged == a->merged);
    TI_ASSERT (c->duplicate_request == a->repeated);
    TI_ASSERT (c->received == c->executed + c->dropped + c->tombstoned + c->merged +
                                  c->duplicate_request + c->rejected + c->expired +
                                  tied_replica_core_load (self->core).depth +
                                  tied_replica_core_parked (self->core));
    TI_ASSERT (c->started_received ==
               c->started_effective + c->started_early + c->started_late + c->started_moot);
    TI_ASSERT (c->cancel_received == c->cancel_queued + c->cancel_running + c->cancel_unknown);
}
