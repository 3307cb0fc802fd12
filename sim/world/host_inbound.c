/* SPDX-License-Identifier: MIT */
/* What reaches a replica from outside: requests, cancels and probes of clients, words of peers. */
#include "world_internal.h"

#include "base/assert.h"

/* The heads of the core's tables, on the way while the message is decoded. */
#define FETCH_FROM 512u
#define FETCH_SIZE 448u

static inline void fetch (const struct world *self, uint32_t number)
{
    world_fetch ((const unsigned char *)self->replicas[number].core + FETCH_FROM, FETCH_SIZE);
}

/* ---- clients ---- */

/* The replica's index for a connection, from its first message on; UINT32_MAX: there is none. */
static uint32_t
conn_index (struct world *self, uint32_t number, uint32_t client, uint32_t generation)
{
    struct world_replica *r = &self->replicas[number];
    const uint32_t local = self->clients[client].local;
    const struct tied_replica_event full = {.type = TIED_REPLICA_EV_CLIENTS_FULL};
    uint32_t index;

    if (r->conns == NULL)
        return local;
    index = r->conn_of[local];
    if (index != UINT32_MAX && r->conns[index].is_used && r->conns[index].client == local &&
        r->conns[index].generation == generation)
        return index;
    if (r->conns_free_count == 0)
        world_replica_step (self, number, &full, 0, NULL);
    if (r->conns_free_count == 0)
        return UINT32_MAX;
    index = r->conns_free[--r->conns_free_count];
    r->conns[index] = (struct world_conn){local, generation, true};
    r->conn_of[local] = index;
    return index;
}

/* ---- what comes from clients ---- */

static uint64_t get_body (struct tied_view body)
{
    const unsigned char *bytes = body.data;
    uint64_t call = 0;

    TI_ASSERT (body.size == 8);
    for (int i = 0; i < 8; i++)
        call |= (uint64_t)bytes[i] << (8 * i);
    return call;
}

/* "r17" is replica 17; its peer index counts from the first of the group. */
static uint32_t peer_named (const struct world_replica *r, struct tied_view name)
{
    const char *text = name.data;
    uint32_t number = 0;

    if (name.size == 0)
        return TIED_NO_PEER;
    for (size_t i = 1; i < name.size; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    TI_ASSERT (number >= r->first && number - r->first < r->peers);
    return number - r->first;
}

static void receive_request (struct world *self,
                             uint32_t number,
                             uint32_t index,
                             const struct tied_wire_request *request)
{
    const struct world_replica *r = &self->replicas[number];
    struct world_call *call = world_call_at (self, request->call);
    const struct tied_call_id id = request->call;
    const uint8_t copy = request->copy;
    const uint64_t body = get_body (request->body);
    struct tied_replica_event event;
    struct world_done done = {.was_admitted = false};

    TI_ASSERT (call->sequence == id.sequence && call->call == body);
    event.type = TIED_REPLICA_EV_REQUEST;
    event.u.request.client = index;
    event.u.request.call = id;
    event.u.request.copy = copy;
    event.u.request.flags = request->flags;
    event.u.request.incarnation = request->incarnation;
    event.u.request.remaining_ns = ti_ns_from_us (request->remaining_us);
    event.u.request.sent_us = request->sent_us;
    event.u.request.sibling = peer_named (r, request->sibling);
    event.u.request.sibling_named = request->sibling.size > 0;
    event.u.request.sibling_incarnation = request->sibling_incarnation;
    event.u.request.verdict = TIED_REJECT_NONE;
    call->arrived |= (uint8_t)(1u << copy);
    world_note (self, id, world_actor_replica (number), world_actor_replica (number),
                "gets REQUEST", copy);
    world_replica_step (self, number, &event, body, &done);
    if (done.was_admitted)
        return;
    if (done.rejected == 0) /* it met its tombstone, or its call is here already */
        world_note (self, id, world_actor_replica (number), world_actor_replica (number), "ignores",
                    copy);
    world_call_release_copy (self, call);
}

static void receive_cancel (struct world *self,
                            uint32_t number,
                            uint32_t index,
                            const struct tied_wire_cancel *cancel)
{
    const bool is_measured = world_call_at (self, cancel->call)->is_measured;
    struct tied_replica_event event;
    struct world_done done = {.was_admitted = false};

    event.type = TIED_REPLICA_EV_CANCEL;
    event.u.cancel.client = index;
    event.u.cancel.call = cancel->call;
    event.u.cancel.reason = cancel->reason;
    world_note (self, event.u.cancel.call, world_actor_replica (number),
                world_actor_replica (number), "gets CANCEL", 0);
    world_replica_step (self, number, &event, 0, &done);
    /* If a copy was here, the account of its call was, too. */
    if (done.released > 0)
        self->result->cancels.client_queued += is_measured;
    else if (done.flagged > 0)
        self->result->cancels.client_running += is_measured;
}

static void
greet (struct world *self, uint32_t number, uint32_t index, const struct tied_message *message)
{
    const struct world_replica *r = &self->replicas[number];
    const struct world_name *name = &self->names[number];
    struct tied_message reply = {.type = TIED_WIRE_PONG};

    if (message->type == TIED_WIRE_HELLO) {
        reply.type = TIED_WIRE_WELCOME;
        reply.u.welcome =
            (struct tied_wire_welcome){.id = {name->text, name->size},
                                       .incarnation = world_incarnation (self, number),
                                       .time_ns = message->u.hello.time_ns,
                                       .body_max = 8,
                                       .inline_max = 8,
                                       .queue_depth = self->scenario->replicas.queue_depth,
                                       .workers = self->workers,
                                       .load = tied_replica_core_load (r->core),
                                       .modes = TIED_WIRE_MODES};
    } else {
        reply.u.ping.time_ns = message->u.ping.time_ns;
        reply.u.ping.load = tied_replica_core_load (r->core);
    }
    (void)world_replica_answer (self, number, index, &reply);
}

void world_replica_receive (struct world *self, const struct sim_event *arrived)
{
    const uint32_t number = arrived->b;
    const uint32_t index = conn_index (self, number, arrived->a, (uint32_t)arrived->value);
    struct tied_message message;
    struct tied_replica_event event;
    int rc;

    fetch (self, number);
    rc = tied_wire_decode (arrived->bytes, arrived->size, &message, NULL);
    TI_ASSERT (rc == 0);
    if (index == UINT32_MAX) {
        world_replica_forget (self, arrived);
        return;
    }
    switch (message.type) {
    case TIED_WIRE_REQUEST:
        receive_request (self, number, index, &message.u.request);
        break;
    case TIED_WIRE_CANCEL:
        receive_cancel (self, number, index, &message.u.cancel);
        break;
    case TIED_WIRE_HELLO:
    case TIED_WIRE_PING:
        event.type = TIED_REPLICA_EV_CLIENT_SEEN;
        event.u.client.client = index;
        event.u.client.epoch = 0;
        if (message.type == TIED_WIRE_HELLO) {
            event.u.client.epoch = message.u.hello.incarnation;
            event.u.client.sent_us = message.u.hello.time_ns / 1000;
        }
        world_replica_step (self, number, &event, 0, NULL);
        greet (self, number, index, &message);
        break;
    default:
        TI_UNREACHABLE ();
    }
    world_replica_settle (self, number);
}

void world_replica_forget (struct world *self, const struct sim_event *arrived)
{
    struct tied_message message;
    const int rc = tied_wire_decode (arrived->bytes, arrived->size, &message, NULL);

    TI_ASSERT (rc == 0);
    if (message.type == TIED_WIRE_REQUEST)
        world_call_release_copy (self, world_call_at (self, message.u.request.call));
}

/* ---- what comes from peers ---- */

static void kill_running (struct world *self, uint32_t number, struct tied_call_id id, uint8_t copy)
{
    struct world_replica *r = &self->replicas[number];
    struct world_call *call = world_call_at (self, id);
    const uint64_t wanted = call->call;

    for (uint32_t i = 0; i < tied_replica_core_slots (r->core); i++) {
        struct world_slot *slot = &r->slots[i];

        if (!slot->is_running || slot->call != wanted || slot->copy != copy)
            continue;
        slot->is_killed = true;
        world_replica_end_run (self, number, i);
    }
    /* Both are gone: nobody will answer. */
    if (call->copies == 0 && call->is_open && !call->is_answered)
        world_client_cancel (self, id);
}

/* DONE, CLAIM and its answers. False: it is none of these. */
static bool
hear_word (struct world *self, uint32_t number, uint32_t peer, const struct tied_message *message)
{
    struct tied_replica_event event;

    event.u.tie.peer = peer;
    event.u.tie.call = message->u.tie.call;
    event.u.tie.copy = message->u.tie.copy;
    switch (message->type) {
    case TIED_WIRE_DONE:
        event.type = TIED_REPLICA_EV_DONE;
        break;
    case TIED_WIRE_GRANT:
        event.type = TIED_REPLICA_EV_GRANT;
        break;
    case TIED_WIRE_DENY:
        event.type = TIED_REPLICA_EV_DENY;
        break;
    case TIED_WIRE_CLAIM:
        event.type = TIED_REPLICA_EV_CLAIM;
        event.u.claim.peer = peer;
        event.u.claim.call = message->u.claim.call;
        event.u.claim.copy = message->u.claim.copy;
        event.u.claim.age_ns = ti_ns_from_us (message->u.claim.age_us);
        event.u.claim.incarnation = message->u.claim.incarnation;
        break;
    default:
        return false;
    }
    world_replica_step (self, number, &event, 0, NULL);
    world_replica_settle (self, number);
    return true;
}

/* As if it had been lost on its way. */
void world_replica_miss (struct world *self, const struct sim_event *arrived)
{
    struct tied_message message;
    struct world_call *call;
    const int rc = tied_wire_decode (arrived->bytes, arrived->size, &message, NULL);

    TI_ASSERT (rc == 0);
    if (message.type != TIED_WIRE_STARTED)
        return;
    call = world_call_at (self, message.u.tie.call);
    call->untold |= (uint8_t)(1u << message.u.tie.copy);
    world_call_release_notice (self, call);
}

void world_replica_hear (struct world *self, const struct sim_event *arrived)
{
    const uint32_t number = arrived->b;
    const struct world_replica *r = &self->replicas[number];
    const struct tied_replica_counters *c = tied_replica_core_counters (r->core);
    const uint64_t early = c->started_early, late = c->started_late, moot = c->started_moot;
    struct tied_message message;
    struct tied_replica_event event;
    struct world_call *call;
    uint8_t copy;
    bool is_untie, is_measured;
    int rc;

    fetch (self, number);
    rc = tied_wire_decode (arrived->bytes, arrived->size, &message, NULL);
    TI_ASSERT (rc == 0);
    is_untie = message.type == TIED_WIRE_UNTIE;
    copy = message.u.tie.copy;
    if (hear_word (self, number, arrived->a - r->first, &message))
        return;
    event.type = is_untie ? TIED_REPLICA_EV_UNTIE : TIED_REPLICA_EV_STARTED;
    event.u.tie.peer = arrived->a - r->first;
    event.u.tie.call = message.u.tie.call;
    event.u.tie.copy = copy;
    world_note (self, event.u.tie.call, world_actor_replica (number), world_actor_replica (number),
                is_untie ? "gets UNTIE" : "gets STARTED", copy);
    if (is_untie) {
        world_replica_step (self, number, &event, 0, NULL);
        world_replica_settle (self, number);
        return;
    }
    call = world_call_at (self, event.u.tie.call);
    is_measured = call->is_measured;
    if (self->fault == SIM_FAULT_IGNORE_TOMBSTONES && (call->arrived & 1u << (copy ^ 1u)) == 0) {
        self->result->cancels.early += is_measured;
    } else {
        world_replica_step (self, number, &event, 0, NULL);
        self->result->cancels.early += is_measured && c->started_early != early;
        self->result->cancels.late += is_measured && c->started_late != late;
        self->result->cancels.moot += is_measured && c->started_moot != moot;
        self->result->cancels.effective += is_measured && c->started_early == early &&
                                           c->started_late == late && c->started_moot == moot;
        if (self->fault == SIM_FAULT_KILL_RUNNING)
            kill_running (self, number, event.u.tie.call, copy ^ 1u);
    }
    world_call_release_notice (self, call);
    world_replica_settle (self, number);
}
