/* SPDX-License-Identifier: MIT */
/*
 * A client that speaks the protocol by hand: one DEALER, messages out and in. What it knows of a
 * replica is only its endpoint, so tests say exactly what goes over the wire. Waits are bounded.
 */
#ifndef TIED_TEST_WIRE_CLIENT_H
#define TIED_TEST_WIRE_CLIENT_H

#include "check.h"

#include <stdio.h>

#include <zmq.h>

#include <tied/wire.h>

#include "zmq/clock.h"
#include "zmq/sock.h"

#define WIRE_BOUND_MS CHECK_PATIENCE_MS

struct wire_client {
    void *context;
    void *sock;
    struct ti_envelope envelope; /* of the last received message */
    struct tied_message in;
    const void *body; /* of the last REPLY */
    size_t body_size;
    bool has_envelope;
    uint64_t syncs;
};

static inline void wire_connect (struct wire_client *self, const char *endpoint, int is_immediate)
{
    const struct ti_sock_options options = {
        .type = ZMQ_DEALER, .send_hwm = 100000, .recv_hwm = 100000, .frame_max = -1};

    memset (self, 0, sizeof *self);
    self->context = zmq_ctx_new ();
    self->sock = ti_sock_new (self->context, &options);
    CHECK_TRUE (self->sock != NULL);
    CHECK_I64 (zmq_setsockopt (self->sock, ZMQ_IMMEDIATE, &is_immediate, sizeof is_immediate), ==,
               0);
    CHECK_I64 (ti_sock_connect (self->sock, endpoint), ==, 0);
    zmq_pollitem_t item = {self->sock, 0, ZMQ_POLLOUT, 0};
    CHECK_I64 (zmq_poll (&item, 1, WIRE_BOUND_MS), ==, 1);
}

static inline void wire_open (struct wire_client *self, const char *endpoint)
{
    wire_connect (self, endpoint, 1);
}

/* What has come is read also when the connection has ended meanwhile: libzmq drops it for a socket
   with ZMQ_IMMEDIATE, as the library's are. */
static inline void wire_open_keeping (struct wire_client *self, const char *endpoint)
{
    wire_connect (self, endpoint, 0);
}

static inline void wire_close (struct wire_client *self)
{
    if (self->has_envelope)
        ti_envelope_close (&self->envelope);
    self->has_envelope = false;
    ti_sock_close (&self->sock);
    if (self->context)
        zmq_ctx_term (self->context);
    self->context = NULL;
}

static inline void wire_send (struct wire_client *self, struct tied_message *message)
{
    CHECK_I64 (ti_sock_send (self->sock, NULL, 0, message, 1024), ==, 0);
}

/* Type of the next message, 0 if none came in time. */
static inline int wire_receive_within (struct wire_client *self, long timeout_ms)
{
    zmq_pollitem_t item = {self->sock, 0, ZMQ_POLLIN, 0};

    if (self->has_envelope)
        ti_envelope_close (&self->envelope);
    self->has_envelope = false;
    if (zmq_poll (&item, 1, timeout_ms) < 1)
        return 0;
    CHECK_I64 (ti_sock_recv (self->sock, false, &self->envelope), ==, TI_RECV_MESSAGE);
    self->has_envelope = true;
    CHECK_I64 (tied_wire_decode (zmq_msg_data (&self->envelope.header),
                                 zmq_msg_size (&self->envelope.header), &self->in, NULL),
               ==, 0);
    if (self->in.type == TIED_WIRE_REPLY) {
        bool follows = self->in.u.reply.body_follows;
        CHECK_I64 (follows, ==, self->envelope.has_body);
        self->body = follows ? zmq_msg_data (&self->envelope.body) : self->in.u.reply.body.data;
        self->body_size =
            follows ? zmq_msg_size (&self->envelope.body) : self->in.u.reply.body.size;
    }
    return self->in.type;
}

static inline void wire_expect (struct wire_client *self, int type)
{
    CHECK_STR (tied_wire_type_name (wire_receive_within (self, WIRE_BOUND_MS)),
               tied_wire_type_name (type));
}

static inline struct tied_message
wire_request (uint64_t sequence, uint8_t copy, const char *method, const void *body, size_t size)
{
    return (struct tied_message){.type = TIED_WIRE_REQUEST,
                                 .u.request = {.call = {UINT64_C (0x7157), sequence},
                                               .copy = copy,
                                               .method = {method, strlen (method)},
                                               .remaining_us = UINT64_MAX,
                                               .flags = TIED_REQUEST_IDEMPOTENT,
                                               .body = {body, size}}};
}

static inline struct tied_message
wire_tied_request (uint64_t sequence, uint8_t copy, const char *method, const char *sibling)
{
    struct tied_message message = wire_request (sequence, copy, method, "", 0);

    message.u.request.flags |= TIED_REQUEST_TIED;
    message.u.request.sibling = (struct tied_view){sibling, strlen (sibling)};
    return message;
}

static inline struct tied_message wire_cancel (uint64_t sequence, uint8_t reason)
{
    return (struct tied_message){
        .type = TIED_WIRE_CANCEL,
        .u.cancel = {.call = {UINT64_C (0x7157), sequence}, .reason = reason}};
}

static inline struct tied_message wire_hello (uint8_t role, const char *id)
{
    return (struct tied_message){
        .type = TIED_WIRE_HELLO,
        .u.hello = {.role = role, .id = {id, strlen (id)}, .incarnation = 1, .time_ns = 99}};
}

static inline struct tied_message wire_ping (uint64_t time_ns)
{
    return (struct tied_message){.type = TIED_WIRE_PING, .u.ping = {.time_ns = time_ns}};
}

/* All that was sent before has been handled: the answer comes after it on the same connection. What
   was sent may have been PINGs, whose answers may still be on their way: only ours counts. */
static inline void wire_sync (struct wire_client *self)
{
    uint64_t token = UINT64_C (0x5e17c00000000000) + ++self->syncs;
    struct tied_message ping = wire_ping (token);

    wire_send (self, &ping);
    do
        CHECK_I64 (wire_receive_within (self, WIRE_BOUND_MS), !=, 0);
    while (self->in.type != TIED_WIRE_PONG || self->in.u.ping.time_ns != token);
}

#endif
