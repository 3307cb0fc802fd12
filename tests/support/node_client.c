/* SPDX-License-Identifier: MIT */
/* Driver of the client core for virtual worlds, see node.h. */
#include "node.h"

#include <string.h>

#include "base/assert.h"
#include "base/util.h"

static void note_call (const struct node_client *self,
                       enum node_note_kind kind,
                       int replica,
                       struct tied_call_id call,
                       uint8_t copy,
                       uint8_t reason)
{
    const struct node_note note = {.kind = kind,
                                   .actor = NODE_CLIENT (self->self),
                                   .other = replica < 0 ? NODE_NOBODY : NODE_REPLICA (replica),
                                   .call = call,
                                   .has_call = true,
                                   .copy = copy,
                                   .reason = reason,
                                   .sibling = NODE_NOBODY};
    self->net->note (self->net->context, &note);
}

static bool send (struct node_client *self, uint32_t replica, const struct tied_message *message)
{
    unsigned char bytes[NODE_MESSAGE_MAX];
    const int size = tied_wire_encode (message, bytes, sizeof bytes);
    struct node_note note = {.kind = NODE_NOTE_SENT,
                             .actor = NODE_CLIENT (self->self),
                             .other = NODE_REPLICA ((int)replica),
                             .type = message->type,
                             .sibling = NODE_NOBODY};

    TI_ASSERT (size > 0);
    if (message->type == TIED_WIRE_REQUEST) {
        note.call = message->u.request.call;
        note.has_call = true;
        note.copy = message->u.request.copy;
        note.flags = message->u.request.flags;
        if (message->u.request.sibling.size > 0)
            note.sibling = node_replica_named (message->u.request.sibling);
    } else if (message->type == TIED_WIRE_CANCEL) {
        note.call = message->u.cancel.call;
        note.has_call = true;
        note.reason = message->u.cancel.reason;
    }
    if (!self->links[replica].is_up ||
        !self->net->send (self->net->context, note.actor, note.other,
                          self->links[replica].generation, message, bytes, (size_t)size)) {
        note.kind = NODE_NOTE_REFUSED;
        self->net->note (self->net->context, &note);
        return false;
    }
    self->net->note (self->net->context, &note);
    return true;
}

static bool
send_request (struct node_client *self, const struct tied_client_action *action, tied_time_t local)
{
    struct tied_message message = {.type = TIED_WIRE_REQUEST};
    struct tied_wire_request *request = &message.u.request;
    unsigned char body[16];

    memcpy (body, &action->call.epoch, 8);
    memcpy (body + 8, &action->call.sequence, 8);
    request->call = action->call;
    request->copy = action->u.request.copy;
    request->method = (struct tied_view){"work", 4};
    request->remaining_us = ti_us_from_ns (action->u.request.remaining_ns);
    request->sent_us = local / 1000;
    request->flags = action->u.request.flags;
    request->incarnation = action->u.request.incarnation;
    if (action->u.request.sibling != TIED_NO_REPLICA) {
        request->sibling = node_replica_name ((int)action->u.request.sibling);
        request->sibling_incarnation = action->u.request.sibling_incarnation;
    }
    request->attempts_left = action->u.request.attempts_left;
    request->body = (struct tied_view){body, sizeof body};
    return send (self, action->replica, &message);
}

static void send_probe (struct node_client *self, const struct tied_client_action *action)
{
    struct tied_message message;

    memset (&message, 0, sizeof message);
    if (action->type == TIED_CLIENT_ACT_SEND_HELLO) {
        message.type = TIED_WIRE_HELLO;
        message.u.hello.role = TIED_WIRE_ROLE_CLIENT;
        message.u.hello.id = (struct tied_view){"client", 6};
        message.u.hello.incarnation = self->epoch;
        message.u.hello.time_ns = action->u.probe.time;
    } else {
        message.type = TIED_WIRE_PING;
        message.u.ping.time_ns = action->u.probe.time;
    }
    (void)send (self, action->replica, &message);
}

static void complete (struct node_client *self, const struct tied_client_action *action)
{
    const struct node_note note = {
        .kind = NODE_NOTE_COMPLETE,
        .actor = NODE_CLIENT (self->self),
        .other = action->u.completion.winner == TIED_NO_REPLICA
                     ? NODE_NOBODY
                     : NODE_REPLICA ((int)action->u.completion.winner),
        .call = action->call,
        .has_call = true,
        .copy = action->u.completion.winner_copy,
        .sibling = NODE_NOBODY,
        .done = &action->u.completion,
    };
    self->net->note (self->net->context, &note);
}

/* Feeds one event and does the actions; what could not be sent becomes the next event. */
static int step (struct node_client *self,
                 const struct tied_client_event *event,
                 tied_time_t now,
                 const struct tied_client_submit *submit,
                 tied_time_t deadline)
{
    const tied_time_t local = now + self->offset;
    struct tied_client_event failed[TIED_COPIES_MAX * NODE_REPLICAS_MAX];
    size_t failures = 0;
    const struct tied_client_action *action;
    const int rc = tied_client_core_step (self->core, event, local);

    while ((action = tied_client_core_next (self->core)) != NULL) {
        switch (action->type) {
        case TIED_CLIENT_ACT_ACCEPTED: {
            const struct node_note note = {.kind = NODE_NOTE_SUBMIT,
                                           .actor = NODE_CLIENT (self->self),
                                           .other = NODE_NOBODY,
                                           .call = action->call,
                                           .has_call = true,
                                           .flags = submit != NULL ? submit->mode : 0,
                                           .sibling = NODE_NOBODY,
                                           .is_hedged = submit != NULL &&
                                                        submit->hedge_ns != TIED_HEDGE_NONE &&
                                                        submit->hedge_ns != TIED_NEVER,
                                           .deadline = deadline};
            TI_ASSERT (event->type == TIED_CLIENT_EV_SUBMIT);
            self->net->note (self->net->context, &note);
            break;
        }
        case TIED_CLIENT_ACT_SEND_REQUEST:
            if (!send_request (self, action, local)) {
                TI_ASSERT (failures < sizeof failed / sizeof failed[0]);
                memset (&failed[failures], 0, sizeof failed[0]);
                failed[failures].type = TIED_CLIENT_EV_SEND_FAILED;
                failed[failures].replica = action->replica;
                failed[failures].u.send_failed.call = action->call;
                failed[failures].u.send_failed.copy = action->u.request.copy;
                failures++;
            }
            break;
        case TIED_CLIENT_ACT_SEND_CANCEL: {
            struct tied_message message = {.type = TIED_WIRE_CANCEL};
            message.u.cancel.call = action->call;
            message.u.cancel.reason = action->u.cancel.reason;
            (void)send (self, action->replica, &message);
            break;
        }
        case TIED_CLIENT_ACT_SEND_HELLO:
        case TIED_CLIENT_ACT_SEND_PING:
            send_probe (self, action);
            break;
        case TIED_CLIENT_ACT_KEEP_REPLY: /* no bodies here */
            break;
        case TIED_CLIENT_ACT_COMPLETE:
            complete (self, action);
            break;
        }
    }
    if ((self->steps++ & self->check_mask) == 0)
        tied_client_core_check (self->core);
    for (size_t i = 0; i < failures; i++)
        (void)step (self, &failed[i], now, NULL, 0);
    return rc;
}

int node_client_submit (struct node_client *self,
                        const struct tied_client_submit *submit,
                        tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_SUBMIT};

    event.u.submit = *submit;
    event.u.submit.deadline = ti_time_add (submit->deadline, self->offset);
    return step (self, &event, now, submit, submit->deadline);
}

int node_client_cancel (struct node_client *self, struct tied_call_id call, tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_CANCEL};

    note_call (self, NODE_NOTE_GIVE_UP, NODE_NOBODY, call, 0, 0);
    event.u.cancel.call = call;
    return step (self, &event, now, NULL, 0);
}

void node_client_link (
    struct node_client *self, int replica, uint32_t generation, bool is_up, tied_time_t now)
{
    struct tied_client_event event = {.type =
                                          is_up ? TIED_CLIENT_EV_LINK_UP : TIED_CLIENT_EV_LINK_DOWN,
                                      .replica = (uint32_t)replica};
    const struct node_note note = {.kind = is_up ? NODE_NOTE_LINK_UP : NODE_NOTE_LINK_DOWN,
                                   .actor = NODE_CLIENT (self->self),
                                   .other = NODE_REPLICA (replica),
                                   .sibling = NODE_NOBODY};

    self->links[replica].is_up = is_up;
    self->links[replica].generation = generation;
    self->net->note (self->net->context, &note);
    if (!is_up && (self->mutations & NODE_IGNORE_LINK_DOWN) != 0)
        return;
    if (step (self, &event, now, NULL, 0) != 0)
        TI_UNREACHABLE ();
}

void node_client_receive (
    struct node_client *self, int replica, const void *data, size_t size, tied_time_t now)
{
    struct tied_message message;
    struct tied_client_event event;
    int fault = TIED_WIRE_FAULT_NONE;

    memset (&event, 0, sizeof event);
    event.replica = (uint32_t)replica;
    if (tied_wire_decode (data, size, &message, &fault) != 0) {
        self->bad_bytes++;
        note_call (self, NODE_NOTE_BAD_BYTES, replica, (struct tied_call_id){0, 0}, 0,
                   (uint8_t)fault);
        return;
    }
    switch (message.type) {
    case TIED_WIRE_REPLY: {
        const struct tied_wire_reply *reply = &message.u.reply;
        struct node_note note = {.kind = NODE_NOTE_ANSWERED,
                                 .actor = NODE_CLIENT (self->self),
                                 .other = NODE_REPLICA (replica),
                                 .call = reply->call,
                                 .has_call = true,
                                 .copy = reply->copy,
                                 .flags = reply->flags,
                                 .sibling = NODE_NOBODY};
        /* The body of a reply is the echo of its request's: another one is a mix-up. */
        TI_ASSERT (!reply->body_follows);
        if (reply->call.epoch == self->epoch && reply->status == 0) {
            TI_ASSERT (reply->body.size == 16);
            TI_ASSERT (memcmp (reply->body.data, &reply->call.epoch, 8) == 0);
            TI_ASSERT (memcmp ((const char *)reply->body.data + 8, &reply->call.sequence, 8) == 0);
        }
        self->net->note (self->net->context, &note);
        event.type = TIED_CLIENT_EV_REPLY;
        event.u.reply.call = reply->call;
        event.u.reply.copy = reply->copy;
        event.u.reply.status = reply->status;
        event.u.reply.flags = reply->flags;
        event.u.reply.queue_ns = ti_ns_from_us (reply->queue_us);
        event.u.reply.service_ns = ti_ns_from_us (reply->service_us);
        event.u.reply.load = reply->load;
        break;
    }
    case TIED_WIRE_REJECT:
        note_call (self, NODE_NOTE_DENIED, replica, message.u.reject.call, message.u.reject.copy,
                   message.u.reject.reason);
        event.type = TIED_CLIENT_EV_REJECT;
        event.u.reject.call = message.u.reject.call;
        event.u.reject.copy = message.u.reject.copy;
        event.u.reject.reason = message.u.reject.reason;
        event.u.reject.load = message.u.reject.load;
        break;
    case TIED_WIRE_WELCOME:
        event.type = TIED_CLIENT_EV_WELCOME;
        event.u.welcome.incarnation = message.u.welcome.incarnation;
        event.u.welcome.echo = message.u.welcome.time_ns;
        event.u.welcome.id_matches = node_replica_named (message.u.welcome.id) == replica;
        event.u.welcome.modes = message.u.welcome.modes;
        event.u.welcome.load = message.u.welcome.load;
        break;
    case TIED_WIRE_PONG:
        event.type = TIED_CLIENT_EV_PONG;
        event.u.pong.echo = message.u.ping.time_ns;
        event.u.pong.load = message.u.ping.load;
        break;
    default:
        self->bad_bytes++; /* a message that no replica sends to a client */
        return;
    }
    (void)step (self, &event, now, NULL, 0);
}

void node_client_timeout (struct node_client *self, tied_time_t now)
{
    const struct tied_client_event event = {.type = TIED_CLIENT_EV_TIMEOUT};

    if (step (self, &event, now, NULL, 0) != 0)
        TI_UNREACHABLE ();
}

tied_time_t node_client_deadline (const struct node_client *self)
{
    const tied_time_t deadline = tied_client_core_deadline (self->core);
    return deadline == TIED_NEVER ? TIED_NEVER : ti_time_sub (deadline, self->offset);
}

void node_client_check (const struct node_client *self)
{
    const struct tied_client_counters *c = tied_client_core_counters (self->core);

    TI_ASSERT (c->copies_sent == c->copies_won + c->copies_lost_race + c->copies_rejected +
                                     c->copies_lost + c->copies_abandoned +
                                     tied_client_core_copies_in_flight (self->core));
    TI_ASSERT (c->submitted == c->calls_ok + c->calls_app_error + c->calls_rejected +
                                   c->calls_deadline + c->calls_cancelled + c->calls_unavailable +
                                   c->calls_unimplemented + c->calls_invalid +
                                   tied_client_core_live_calls (self->core));
}
