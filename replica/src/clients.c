/* SPDX-License-Identifier: MIT */
/* What arrives at the client endpoint. Nothing here trusts a byte of it. */
#include "base/assert.h"
#include "base/util.h"
#include "engine.h"
#include "zmq/clock.h"

/* Messages handled under one reading of the clock. */
#define CLOCK_EVERY 16

bool ti_decode (tied_replica_t *self, struct ti_envelope *envelope, struct tied_message *out)
{
    int fault = TIED_WIRE_FAULT_NONE;
    bool follows;

    if (tied_wire_decode (zmq_msg_data (&envelope->header), zmq_msg_size (&envelope->header), out,
                          &fault) != 0) {
        self->stats.malformed++;
        self->stats.malformed_version += fault == TIED_WIRE_FAULT_VERSION;
        self->stats.malformed_type += fault == TIED_WIRE_FAULT_UNKNOWN_TYPE;
        return false;
    }
    follows = (out->type == TIED_WIRE_REQUEST && out->u.request.body_follows) ||
              (out->type == TIED_WIRE_REPLY && out->u.reply.body_follows);
    if (follows != envelope->has_body) {
        self->stats.multipart++;
        return false;
    }
    return true;
}

int ti_answer (tied_replica_t *self,
               void *sock,
               struct ti_envelope *to,
               struct tied_message *message)
{
    self->dirty |= sock == self->clients_sock ? TI_DIRTY_CLIENTS : TI_DIRTY_PEERS;
    return ti_sock_send (sock, zmq_msg_data (&to->route), zmq_msg_size (&to->route), message,
                         self->options.inline_max);
}

void ti_fill_welcome (tied_replica_t *self,
                      const struct tied_wire_hello *hello,
                      struct tied_message *out)
{
    *out = (struct tied_message){.type = TIED_WIRE_WELCOME,
                                 .u.welcome = {.id = {self->id, self->id_size},
                                               .incarnation = self->options.core.incarnation,
                                               .time_ns = hello->time_ns,
                                               .body_max = self->options.body_max,
                                               .inline_max = self->options.inline_max,
                                               .queue_depth = self->options.core.queue_depth,
                                               .workers = self->options.core.workers,
                                               .load = tied_replica_core_load (self->core),
                                               .modes = TIED_WIRE_MODES}};
}

/* Make room for a newcomer: most of those in a full table are long gone, and have not said so. */
static void evict (tied_replica_t *self)
{
    static const struct tied_replica_event full = {.type = TIED_REPLICA_EV_CLIENTS_FULL,
                                                   .u = {{0}}};

    (void)!ti_replica_step (self, &full);
}

/* Index of the sender; TI_ROUTE_NONE when the table is full of clients that have copies here, or
   its routing id is too long. */
static uint32_t client_of (tied_replica_t *self, struct ti_envelope *envelope)
{
    const void *route = zmq_msg_data (&envelope->route);
    size_t size = zmq_msg_size (&envelope->route);
    uint32_t client = ti_routes_find (&self->clients, route, size);

    if (client == TI_ROUTE_NONE && self->clients.count == self->clients.max && size <= TI_ROUTE_MAX)
        evict (self);
    if (client == TI_ROUTE_NONE)
        client = ti_routes_add (&self->clients, route, size);
    if (client == TI_ROUTE_NONE)
        self->stats.clients_refused++;
    return client;
}

static void client_seen (tied_replica_t *self, uint32_t client, const struct tied_wire_hello *hello)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CLIENT_SEEN,
                                       .u.client.client = client};

    if (hello) {
        event.u.client.epoch = hello->incarnation;
        event.u.client.sent_us = hello->time_ns / 1000;
    }
    if (client != TI_ROUTE_NONE)
        (void)!ti_replica_step (self, &event);
}

/* A sender without a place in the table still learns that it was refused. */
static void refuse_stranger (tied_replica_t *self,
                             struct ti_envelope *envelope,
                             const struct tied_wire_request *request)
{
    struct tied_message message = {.type = TIED_WIRE_REJECT,
                                   .u.reject = {.call = request->call,
                                                .copy = request->copy,
                                                .reason = TIED_REJECT_FULL,
                                                .load = tied_replica_core_load (self->core)}};

    if (ti_answer (self, self->clients_sock, envelope, &message) != 0)
        self->stats.rejects_dropped++;
}

static size_t body_size (struct ti_envelope *envelope, const struct tied_wire_request *request)
{
    return request->body_follows ? zmq_msg_size (&envelope->body) : request->body.size;
}

/* One copy is always taken, so that no body is too long for good. */
static bool is_out_of_bytes (const tied_replica_t *self, const struct ti_envelope *envelope)
{
    uint64_t bytes = zmq_msg_size (&envelope->header) + zmq_msg_size (&envelope->body);

    return self->bytes_held > 0 && self->bytes_held + bytes > self->options.queue_bytes;
}

static uint8_t verdict_of (tied_replica_t *self,
                           struct ti_envelope *envelope,
                           const struct tied_wire_request *request)
{
    self->arrived_method =
        ti_names_find (&self->method_names, request->method.data, request->method.size);
    if (body_size (envelope, request) > self->options.body_max)
        return TIED_REJECT_TOO_LARGE;
    /* A server that pulls need not declare its methods: then it takes them all. */
    if (self->arrived_method == TI_NAME_NONE &&
        !(self->options.service == TIED_SERVICE_PULL && self->method_names.count == 0))
        return TIED_REJECT_UNKNOWN_METHOD;
    if (is_out_of_bytes (self, envelope)) {
        self->stats.over_queue_bytes++;
        return TIED_REJECT_FULL;
    }
    return TIED_REJECT_NONE;
}

static bool is_report (const struct tied_view *method)
{
    return method->size == sizeof TI_REPORT_METHOD - 1 &&
           memcmp (method->data, TI_REPORT_METHOD, method->size) == 0;
}

/* What the key says of the request; changes the verdict. true: it is settled. */
static bool is_settled_by_key (tied_replica_t *self,
                               struct ti_envelope *envelope,
                               const struct tied_wire_request *request,
                               uint32_t client,
                               uint8_t *verdict)
{
    self->is_arrival_first = false;
    /* What the core would refuse in any case is not looked for. */
    if (request->key.size == 0 || self->results.max == 0 || request->remaining_us == 0 ||
        (*verdict != TIED_REJECT_NONE && *verdict != TIED_REJECT_FULL) ||
        (request->incarnation != 0 && request->incarnation != self->options.core.incarnation))
        return false;
    switch (ti_keys_arrive (self, envelope, request, client, *verdict == TIED_REJECT_FULL)) {
    case TI_KEY_NONE:
        return false;
    case TI_KEY_FIRST:
        self->is_arrival_first = true;
        return false;
    case TI_KEY_NO_ROOM:
        *verdict = TIED_REJECT_FULL;
        return false;
    case TI_KEY_SETTLED:
        return true;
    }
    TI_UNREACHABLE ();
}

void ti_clients_on_request (tied_replica_t *self,
                            struct ti_envelope *envelope,
                            const struct tied_wire_request *request)
{
    uint32_t client = client_of (self, envelope);
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_REQUEST};
    uint8_t verdict;

    if (is_report (&request->method) && body_size (envelope, request) <= self->options.body_max) {
        client_seen (self, client, NULL);
        ti_report_answer (self, envelope, request);
        return;
    }
    if (client == TI_ROUTE_NONE) {
        refuse_stranger (self, envelope, request);
        return;
    }
    verdict = verdict_of (self, envelope, request);
    if (is_settled_by_key (self, envelope, request, client, &verdict)) {
        client_seen (self, client, NULL);
        return;
    }
    event.u.request =
        (struct tied_replica_request){.client = client,
                                      .call = request->call,
                                      .copy = request->copy,
                                      .flags = request->flags,
                                      .incarnation = request->incarnation,
                                      .remaining_ns = ti_ns_from_us (request->remaining_us),
                                      .sent_us = request->sent_us,
                                      .sibling = TIED_NO_PEER,
                                      .sibling_named = request->sibling.size > 0,
                                      .sibling_incarnation = request->sibling_incarnation,
                                      .verdict = verdict};
    if (request->sibling.size > 0)
        event.u.request.sibling =
            ti_names_find (&self->peer_names, request->sibling.data, request->sibling.size);
    self->arrival = envelope;
    self->arrived = request;
    if (self->options.observe)
        ti_observe_request (self, &event);
    else
        (void)!ti_replica_step (self, &event);
    self->arrival = NULL;
    self->arrived = NULL;
}

static void on_cancel (tied_replica_t *self,
                       struct ti_envelope *envelope,
                       const struct tied_wire_cancel *cancel)
{
    uint32_t client = client_of (self, envelope);
    struct tied_replica_event event = {
        .type = TIED_REPLICA_EV_CANCEL,
        .u.cancel = {.client = client, .call = cancel->call, .reason = cancel->reason}};

    if (self->held_count > 0)
        ti_keys_cancel (self, envelope, cancel->call);
    if (client != TI_ROUTE_NONE)
        (void)!ti_replica_step (self, &event);
}

static void on_message (tied_replica_t *self, struct ti_envelope *envelope)
{
    struct tied_message in;
    struct tied_message out;

    if (!ti_decode (self, envelope, &in))
        return;
    switch (in.type) {
    case TIED_WIRE_REQUEST:
        ti_clients_on_request (self, envelope, &in.u.request);
        return;
    case TIED_WIRE_CANCEL:
        on_cancel (self, envelope, &in.u.cancel);
        return;
    case TIED_WIRE_HELLO:
        if (in.u.hello.role != TIED_WIRE_ROLE_CLIENT)
            break;
        client_seen (self, client_of (self, envelope), &in.u.hello);
        ti_fill_welcome (self, &in.u.hello, &out);
        if (ti_answer (self, self->clients_sock, envelope, &out) != 0)
            self->stats.pongs_dropped++;
        return;
    case TIED_WIRE_PING:
        client_seen (self, client_of (self, envelope), NULL);
        in.type = TIED_WIRE_PONG;
        in.u.ping.load = tied_replica_core_load (self->core);
        if (ti_answer (self, self->clients_sock, envelope, &in) != 0)
            self->stats.pongs_dropped++;
        return;
    default:
        break;
    }
    self->stats.misdirected++;
}

bool ti_clients_are_held (const tied_replica_t *self)
{
    return ti_engine_can_run (self) &&
           tied_replica_core_load (self->core).depth >= self->options.core.queue_depth;
}

bool ti_clients_drain (tied_replica_t *self, bool may_stop)
{
    struct ti_envelope envelope;

    if (!self->clients_sock)
        return true;
    for (uint32_t i = 0; i < self->bite; i++) {
        enum ti_recv got;
        if (may_stop && ti_clients_are_held (self))
            return false;
        got = ti_sock_recv (self->clients_sock, true, &envelope);
        if (got == TI_RECV_ENDED)
            ti_sock_close (&self->clients_sock);
        if (got == TI_RECV_NONE || got == TI_RECV_ENDED)
            return true;
        if (i % CLOCK_EVERY == CLOCK_EVERY - 1)
            ti_engine_read_clock (self);
        self->stats.frames_client++;
        if (got == TI_RECV_MULTIPART) {
            self->stats.multipart++;
            continue;
        }
        on_message (self, &envelope);
        ti_envelope_close (&envelope);
    }
    return false;
}
