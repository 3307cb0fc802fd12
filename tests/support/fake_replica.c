/* SPDX-License-Identifier: MIT */
#include "fake_replica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "zmq/clock.h"

#define INLINE_MAX 1024

static void die (const char *what)
{
    fprintf (stderr, "fake replica: %s: %s\n", what, zmq_strerror (zmq_errno ()));
    abort ();
}

struct fake_replica *fake_replica_new (const char *id, const char *endpoint, void *context)
{
    struct fake_replica *self = calloc (1, sizeof *self);
    size_t size;
    int linger = 0;
    int mandatory = 1;

    if (!self)
        die ("memory");
    snprintf (self->id, sizeof self->id, "%s", id);
    self->incarnation = ti_random_u64 ();
    self->body_max = 1u << 26;
    self->context = context ? NULL : zmq_ctx_new ();
    self->router = zmq_socket (context ? context : self->context, ZMQ_ROUTER);
    if (!self->router)
        die ("socket");
    zmq_setsockopt (self->router, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt (self->router, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory);
    if (zmq_bind (self->router, endpoint ? endpoint : "tcp://127.0.0.1:*") != 0)
        die ("bind");
    size = sizeof self->endpoint;
    if (zmq_getsockopt (self->router, ZMQ_LAST_ENDPOINT, self->endpoint, &size) != 0)
        die ("endpoint");
    return self;
}

void fake_replica_destroy (struct fake_replica **self_p)
{
    struct fake_replica *self = *self_p;

    if (!self)
        return;
    zmq_close (self->router);
    if (self->context)
        zmq_ctx_term (self->context);
    for (uint32_t i = 0; i < self->seen_count; i++)
        free (self->seen[i].body);
    free (self);
    *self_p = NULL;
}

void fake_send_frames (struct fake_replica *self,
                       uint32_t count,
                       const void *const *data,
                       const size_t *sizes)
{
    if (zmq_send (self->router, self->route, self->route_size, ZMQ_SNDMORE) < 0)
        return; /* the client is gone */
    for (uint32_t i = 0; i < count; i++)
        zmq_send (self->router, data[i], sizes[i], i + 1 < count ? ZMQ_SNDMORE : 0);
}

void fake_send (struct fake_replica *self, struct tied_message *message)
{
    struct tied_view *body = NULL;
    const void *data[2] = {NULL, NULL};
    size_t sizes[2];
    unsigned char *buffer;
    int size;
    bool follows = false;

    if (message->type == TIED_WIRE_REPLY) {
        body = &message->u.reply.body;
        follows = body->size > INLINE_MAX;
        message->u.reply.body_follows = follows;
    }
    buffer = malloc (tied_wire_bound (message));
    size = buffer ? tied_wire_encode (message, buffer, tied_wire_bound (message)) : -1;
    if (size <= 0)
        die ("encode");
    data[0] = buffer;
    sizes[0] = (size_t)size;
    sizes[1] = 0;
    if (follows) {
        data[1] = body->data;
        sizes[1] = body->size;
    }
    fake_send_frames (self, follows ? 2 : 1, data, sizes);
    free (buffer);
}

static void copy_text (char *to, size_t capacity, struct tied_view from)
{
    size_t size = from.size < capacity - 1 ? from.size : capacity - 1;

    if (size > 0)
        memcpy (to, from.data, size);
    to[size] = 0;
}

static void see_request (struct fake_replica *self,
                         const struct tied_wire_request *request,
                         struct tied_view body)
{
    struct fake_seen *seen = &self->seen[self->seen_count];

    self->requests++;
    if (self->does_echo) {
        struct fake_seen echo = {.call = request->call, .copy = request->copy};
        fake_reply (self, &echo, 0, body.data, body.size);
        return;
    }
    if (self->seen_count == FAKE_SEEN_MAX)
        die ("too many requests");
    self->seen_count++;
    memset (seen, 0, sizeof *seen);
    seen->type = TIED_WIRE_REQUEST;
    seen->call = request->call;
    seen->copy = request->copy;
    seen->flags = request->flags;
    seen->remaining_us = request->remaining_us;
    seen->was_inline = !request->body_follows;
    copy_text (seen->method, sizeof seen->method, request->method);
    copy_text (seen->sibling, sizeof seen->sibling, request->sibling);
    copy_text (seen->traceparent, sizeof seen->traceparent, request->traceparent);
    copy_text (seen->key, sizeof seen->key, request->key);
    seen->attempts_left = request->attempts_left;
    seen->body = malloc (body.size + 1);
    if (!seen->body)
        die ("memory");
    if (body.size > 0)
        memcpy (seen->body, body.data, body.size);
    seen->body_size = body.size;
}

static void see_cancel (struct fake_replica *self, const struct tied_wire_cancel *cancel)
{
    self->cancels++;
    if (self->does_echo)
        return;
    if (self->seen_count == FAKE_SEEN_MAX)
        die ("too many cancels");
    self->seen[self->seen_count++] = (struct fake_seen){
        .type = TIED_WIRE_CANCEL, .call = cancel->call, .reason = cancel->reason};
}

static void welcome (struct fake_replica *self, uint64_t time_ns)
{
    struct tied_message message = {.type = TIED_WIRE_WELCOME};

    message.u.welcome.id = (struct tied_view){self->id, strlen (self->id)};
    message.u.welcome.incarnation = self->incarnation;
    message.u.welcome.time_ns = time_ns;
    message.u.welcome.body_max = self->body_max;
    message.u.welcome.inline_max = INLINE_MAX;
    message.u.welcome.queue_depth = 1000;
    message.u.welcome.workers = 1;
    message.u.welcome.modes = TIED_WIRE_MODES;
    fake_send (self, &message);
}

void fake_welcome (struct fake_replica *self)
{
    welcome (self, 1);
}

static void
on_message (struct fake_replica *self, const struct tied_message *message, struct tied_view body)
{
    struct tied_message pong = {.type = TIED_WIRE_PONG};

    switch (message->type) {
    case TIED_WIRE_HELLO:
        self->hellos++;
        if (!self->is_mute)
            welcome (self, message->u.hello.time_ns);
        break;
    case TIED_WIRE_PING:
        self->pings++;
        pong.u.ping.time_ns = message->u.ping.time_ns;
        if (!self->is_mute)
            fake_send (self, &pong);
        break;
    case TIED_WIRE_REQUEST:
        see_request (self, &message->u.request,
                     message->u.request.body_follows ? body : message->u.request.body);
        break;
    case TIED_WIRE_CANCEL:
        see_cancel (self, &message->u.cancel);
        break;
    default:
        die ("the client sent what it must not send");
    }
}

uint32_t fake_replica_serve (struct fake_replica *self)
{
    uint32_t handled = 0;

    for (;; handled++) {
        zmq_msg_t frames[3];
        struct tied_message message;
        struct tied_view body = {NULL, 0};
        uint32_t count = 0;
        bool has_more = true;

        for (int i = 0; i < 3; i++)
            zmq_msg_init (&frames[i]);
        while (has_more && count < 3 &&
               zmq_msg_recv (&frames[count], self->router, ZMQ_DONTWAIT) >= 0)
            has_more = zmq_msg_more (&frames[count++]) != 0;
        if (count >= 2) {
            self->route_size = zmq_msg_size (&frames[0]);
            memcpy (self->route, zmq_msg_data (&frames[0]), self->route_size);
            if (has_more || tied_wire_decode (zmq_msg_data (&frames[1]), zmq_msg_size (&frames[1]),
                                              &message, NULL) != 0)
                die ("the client sent a malformed message");
            body = (struct tied_view){zmq_msg_data (&frames[2]), zmq_msg_size (&frames[2])};
            on_message (self, &message, body);
        }
        for (int i = 0; i < 3; i++)
            zmq_msg_close (&frames[i]);
        if (count < 2)
            return handled;
    }
}

uint32_t fake_replica_wait (struct fake_replica *self, int timeout_ms)
{
    zmq_pollitem_t item = {.socket = self->router, .events = ZMQ_POLLIN};

    (void)zmq_poll (&item, 1, timeout_ms);
    return fake_replica_serve (self);
}

static struct fake_seen *find (struct fake_replica *self, uint8_t type, uint32_t n)
{
    for (uint32_t i = 0; i < self->seen_count; i++) {
        if (self->seen[i].type == type && n-- == 0)
            return &self->seen[i];
    }
    return NULL;
}

struct fake_seen *fake_request (struct fake_replica *self, uint32_t n)
{
    return find (self, TIED_WIRE_REQUEST, n);
}

struct fake_seen *fake_cancel (struct fake_replica *self, uint32_t n)
{
    return find (self, TIED_WIRE_CANCEL, n);
}

void fake_reply (struct fake_replica *self,
                 const struct fake_seen *request,
                 uint32_t status,
                 const void *body,
                 size_t size)
{
    struct tied_message message = {.type = TIED_WIRE_REPLY};

    message.u.reply.call = request->call;
    message.u.reply.copy = request->copy;
    message.u.reply.status = status;
    message.u.reply.queue_us = 7;
    message.u.reply.service_us = 11;
    message.u.reply.body = (struct tied_view){body, size};
    fake_send (self, &message);
}

void fake_reject (struct fake_replica *self, const struct fake_seen *request, uint8_t reason)
{
    struct tied_message message = {.type = TIED_WIRE_REJECT};

    message.u.reject.call = request->call;
    message.u.reject.copy = request->copy;
    message.u.reject.reason = reason;
    fake_send (self, &message);
}
