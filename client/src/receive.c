/* SPDX-License-Identifier: MIT */
/* What the links bring, turned into events of the core. */
#include <string.h>

#include "base/util.h"
#include "client_internal.h"

static void on_reply (tied_client_t *self,
                      uint32_t replica,
                      struct ti_envelope *envelope,
                      const struct tied_wire_reply *reply,
                      tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_REPLY, .replica = replica};
    struct ti_delivery delivery = {.call = reply->call, .envelope = envelope, .body = reply->body};

    if (reply->body_follows)
        delivery.body =
            (struct tied_view){zmq_msg_data (&envelope->body), zmq_msg_size (&envelope->body)};
    event.u.reply.call = reply->call;
    event.u.reply.copy = reply->copy;
    event.u.reply.status = reply->status;
    /* The copy has run, and another answer would be no shorter: to wait for one, or to have the
       call run again, would be no help. */
    if (delivery.body.size > self->options.body_max) {
        self->io.oversized++;
        delivery.body.size = 0;
        event.u.reply.status = TIED_STATUS_REPLY_TOO_LARGE;
    }
    event.u.reply.flags = reply->flags;
    delivery.is_repeated = (reply->flags & TIED_REPLY_REPEATED) != 0;
    event.u.reply.queue_ns = ti_ns_from_us (reply->queue_us);
    event.u.reply.service_ns = ti_ns_from_us (reply->service_us);
    event.u.reply.load = reply->load;
    self->delivery = &delivery;
    ti_engine_step_event (self, &event, now);
    self->delivery = NULL;
}

static void on_reject (tied_client_t *self,
                       uint32_t replica,
                       const struct tied_wire_reject *reject,
                       tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_REJECT, .replica = replica};

    event.u.reject.call = reject->call;
    event.u.reject.copy = reject->copy;
    event.u.reject.reason = reject->reason;
    event.u.reject.load = reject->load;
    ti_engine_step_event (self, &event, now);
}

static void on_welcome (tied_client_t *self,
                        uint32_t replica,
                        const struct tied_wire_welcome *welcome,
                        tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_WELCOME, .replica = replica};
    struct ti_client_link *link = &self->links[replica];

    link->body_max = welcome->body_max;
    event.u.welcome.incarnation = welcome->incarnation;
    event.u.welcome.echo = welcome->time_ns;
    event.u.welcome.id_matches = welcome->id.size == link->id_size &&
                                 memcmp (welcome->id.data, link->id, link->id_size) == 0;
    event.u.welcome.modes = welcome->modes;
    event.u.welcome.load = welcome->load;
    ti_engine_step_event (self, &event, now);
    ti_waiters_replica_changed (self);
}

static void
on_pong (tied_client_t *self, uint32_t replica, const struct tied_wire_ping *pong, tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_PONG, .replica = replica};

    event.u.pong.echo = pong->time_ns;
    event.u.pong.load = pong->load;
    ti_engine_step_event (self, &event, now);
    ti_waiters_replica_changed (self);
}

void ti_engine_on_envelope (tied_client_t *self,
                            uint32_t replica,
                            struct ti_envelope *envelope,
                            tied_time_t now)
{
    struct tied_message message;

    self->io.frames_received++;
    if (tied_wire_decode (zmq_msg_data (&envelope->header), zmq_msg_size (&envelope->header),
                          &message, NULL) != 0) {
        self->io.malformed++;
        return;
    }
    if (envelope->has_body != (message.type == TIED_WIRE_REPLY && message.u.reply.body_follows)) {
        self->io.multipart++;
        return;
    }
    switch (message.type) {
    case TIED_WIRE_REPLY:
        on_reply (self, replica, envelope, &message.u.reply, now);
        break;
    case TIED_WIRE_REJECT:
        on_reject (self, replica, &message.u.reject, now);
        break;
    case TIED_WIRE_WELCOME:
        on_welcome (self, replica, &message.u.welcome, now);
        break;
    case TIED_WIRE_PONG:
        on_pong (self, replica, &message.u.ping, now);
        break;
    default:
        self->io.misdirected++;
        break;
    }
}

void ti_engine_on_link (tied_client_t *self,
                        uint32_t replica,
                        enum tied_client_event_type type,
                        tied_time_t now)
{
    struct tied_client_event event = {.type = type, .replica = replica};

    ti_engine_step_event (self, &event, now);
    ti_waiters_replica_changed (self);
}
