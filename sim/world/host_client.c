/* SPDX-License-Identifier: MIT */
/* Driver of the client cores: what docs/sans-io.md asks of one, and the account of what it does. */
#include "world_internal.h"

#include "base/assert.h"

/* The core's own check costs as much as its tables are long. */
#define CHECK_EVERY 64
/* Most SEND_REQUEST actions of one step. */
#define FAILURES_MAX 64

static const struct tied_view method = {"w", 1};

static void put_body (unsigned char body[8], uint64_t call)
{
    for (int i = 0; i < 8; i++)
        body[i] = (unsigned char)(call >> (8 * i));
}

static enum world_sent send_request (struct world *self,
                                     uint32_t number,
                                     const struct tied_client_action *action,
                                     uint64_t call)
{
    const struct world_client *client = &self->clients[number];
    struct tied_message message;
    struct tied_wire_request *request = &message.u.request;
    unsigned char body[8];

    put_body (body, call);
    message.type = TIED_WIRE_REQUEST;
    request->call = action->call;
    request->copy = action->u.request.copy;
    request->method = method;
    request->remaining_us = ti_us_from_ns (action->u.request.remaining_ns);
    /* Only time left is reckoned with it. */
    request->sent_us = action->u.request.remaining_ns == TIED_NEVER ? 0 : self->now / 1000;
    request->flags = action->u.request.flags;
    request->incarnation = action->u.request.incarnation;
    request->sibling = (struct tied_view){NULL, 0};
    request->sibling_incarnation = 0;
    if (action->u.request.sibling != TIED_NO_REPLICA) {
        const struct world_name *name = &self->names[client->first + action->u.request.sibling];

        request->sibling = (struct tied_view){name->text, name->size};
        request->sibling_incarnation = action->u.request.sibling_incarnation;
    }
    request->key = (struct tied_view){NULL, 0};
    request->attempts_left = action->u.request.attempts_left;
    request->traceparent = (struct tied_view){NULL, 0};
    request->body = (struct tied_view){body, sizeof body};
    request->body_follows = false;
    return world_send_client (self, number, client->first + action->replica, &message);
}

/* False: SEND_FAILED is due. */
static bool
act_request (struct world *self, uint32_t number, const struct tied_client_action *action)
{
    struct world_call *call = world_call_at (self, action->call);
    const uint32_t replica = self->clients[number].first + action->replica;
    const uint8_t copy = action->u.request.copy;
    enum world_sent sent;

    TI_ASSERT (call->sequence == action->call.sequence && copy < WORLD_COPIES);
    call->copies++;
    world_note (self, action->call, world_actor_client (number), world_actor_replica (replica),
                "REQUEST", copy);
    sent = send_request (self, number, action, call->call);
    if (self->tells_sent && sent != WORLD_REFUSED)
        self->watch->sent (self->watch->context, ti_time_sub (self->now, self->origin), copy);
    if (sent != WORLD_REFUSED)
        self->result->copies += call->is_measured;
    if (sent == WORLD_SENT)
        return true;
    world_note (self, action->call, world_actor_client (number), world_actor_client (number),
                sent == WORLD_LOST ? "REQUEST is lost" : "cannot send", copy);
    world_call_release_copy (self, call);
    return sent == WORLD_LOST;
}

static void act_cancel (struct world *self,
                        uint32_t number,
                        const struct tied_client_action *action,
                        bool is_measured)
{
    struct tied_message message;
    const uint32_t replica = self->clients[number].first + action->replica;

    if (self->policy->keeps_losers)
        return;
    message.type = TIED_WIRE_CANCEL;
    message.u.cancel.call = action->call;
    message.u.cancel.reason = action->u.cancel.reason;
    self->result->cancels.client_sent += is_measured;
    world_note (self, action->call, world_actor_client (number), world_actor_replica (replica),
                "CANCEL", 0);
    (void)world_send_client (self, number, replica, &message);
}

static void act_probe (struct world *self, uint32_t number, const struct tied_client_action *action)
{
    struct tied_message message = {.type = TIED_WIRE_PING};

    if (action->type == TIED_CLIENT_ACT_SEND_HELLO) {
        message.type = TIED_WIRE_HELLO;
        message.u.hello = (struct tied_wire_hello){.role = TIED_WIRE_ROLE_CLIENT,
                                                   .id = {"client", 6},
                                                   .incarnation = (uint64_t)number + 1,
                                                   .time_ns = action->u.probe.time};
    } else {
        message.u.ping.time_ns = action->u.probe.time;
    }
    (void)world_send_client (self, number, self->clients[number].first + action->replica, &message);
}

/* Returns whether the call is measured: cancels for it may follow. */
static bool
act_complete (struct world *self, uint32_t number, const struct tied_client_action *action)
{
    const struct tied_client_completion *done = &action->u.completion;
    struct world_client *client = &self->clients[number];
    struct world_call *call = world_call_at (self, action->call);
    const bool is_measured = call->is_measured;

    TI_ASSERT (call->is_open && call->sequence == action->call.sequence);
    world_note (self, action->call, world_actor_client (number), world_actor_client (number),
                "ends", done->winner_copy);
    world_mix (self, self->now);
    world_mix (self, call->call << 4 | done->outcome);
    if (done->winner != TIED_NO_REPLICA)
        call->winner = done->winner_copy;
    if (is_measured) {
        if (self->submit.mode != TIED_MODE_SINGLE)
            self->result->not_sent[done->not_sent]++;
        if (self->submit.hedge_ns != TIED_HEDGE_NONE)
            self->result->not_sent[done->hedge_not_sent]++;
    }
    client->tokens[client->tokens_free++] = action->token;
    world_call_ended (self, call, done->outcome);
    return is_measured;
}

static void check (struct world_client *client)
{
    if (client->steps++ % CHECK_EVERY == 0)
        tied_client_core_check (client->core);
}

/* Feeds one event and does the actions; what could not be sent becomes the next event. */
static void step (struct world *self, uint32_t number, const struct tied_client_event *event)
{
    struct world_client *client = &self->clients[number];
    struct tied_client_event failed[FAILURES_MAX];
    uint32_t failures = 0;
    bool is_measured = false;
    const struct tied_client_action *action;
    const int rc = tied_client_core_step (client->core, event, self->now);

    TI_ASSERT (rc == 0);
    while ((action = tied_client_core_next (client->core)) != NULL) {
        switch (action->type) {
        case TIED_CLIENT_ACT_ACCEPTED:
            (void)world_call_open (self, action->call, self->submitting);
            world_note (self, action->call, world_actor_client (number),
                        world_actor_client (number), "submits", 0);
            break;
        case TIED_CLIENT_ACT_SEND_REQUEST:
            if (!act_request (self, number, action)) {
                TI_ASSERT (failures < FAILURES_MAX);
                failed[failures].type = TIED_CLIENT_EV_SEND_FAILED;
                failed[failures].replica = action->replica;
                failed[failures].u.send_failed.call = action->call;
                failed[failures].u.send_failed.copy = action->u.request.copy;
                failures++;
            }
            break;
        case TIED_CLIENT_ACT_SEND_CANCEL:
            act_cancel (self, number, action, is_measured);
            break;
        case TIED_CLIENT_ACT_SEND_HELLO:
        case TIED_CLIENT_ACT_SEND_PING:
            act_probe (self, number, action);
            break;
        case TIED_CLIENT_ACT_KEEP_REPLY: /* no bodies here */
            break;
        case TIED_CLIENT_ACT_COMPLETE:
            is_measured = act_complete (self, number, action);
            break;
        }
    }
    if (self->checks)
        check (client);
    for (uint32_t i = 0; i < failures; i++)
        step (self, number, &failed[i]);
}

static void arm (struct world *self, uint32_t number)
{
    const struct world_client *client = &self->clients[number];
    const tied_time_t deadline = tied_client_core_deadline (client->core);

    if (deadline != sim_events_timer (self->events, client->timer))
        sim_events_set_timer (self->events, client->timer, deadline);
}

void world_client_submit (struct world *self, uint32_t number, uint64_t call)
{
    struct world_client *client = &self->clients[number];
    struct tied_client_event event;

    if (client->tokens_free == 0) {
        self->result->table_overflows++;
        world_source_ended (self, call, TIED_OUTCOME_UNAVAILABLE);
        return;
    }
    event.type = TIED_CLIENT_EV_SUBMIT;
    event.u.submit = self->submit;
    event.u.submit.token = client->tokens[--client->tokens_free];
    event.u.submit.affinity = sim_key_of (&self->keys, call);
    event.u.submit.deadline = ti_time_add (self->now, self->scenario->workload.deadline_ns);
    self->submitting = call;
    step (self, number, &event);
    arm (self, number);
}

/* Links are greeted before anything is submitted. */
static void greeted (struct world *self, const struct world_client *client, uint32_t replica)
{
    struct tied_client_replica known;
    const int rc = tied_client_core_replica (client->core, replica, &known);

    TI_ASSERT (rc == 0);
    if (known.state == TIED_REPLICA_GREETED)
        self->ungreeted--;
}

static void hear_reply (const struct tied_wire_reply *reply, struct tied_client_event *event)
{
    event->type = TIED_CLIENT_EV_REPLY;
    event->u.reply.call = reply->call;
    event->u.reply.copy = reply->copy;
    event->u.reply.status = reply->status;
    event->u.reply.flags = reply->flags;
    event->u.reply.queue_ns = ti_ns_from_us (reply->queue_us);
    event->u.reply.service_ns = ti_ns_from_us (reply->service_us);
    event->u.reply.load = reply->load;
}

void world_client_receive (struct world *self, const struct sim_event *arrived)
{
    const uint32_t number = arrived->a;
    const struct world_client *client = &self->clients[number];
    struct tied_message message;
    struct tied_client_event event;
    const int rc = tied_wire_decode (arrived->bytes, arrived->size, &message, NULL);

    TI_ASSERT (rc == 0);
    event.replica = arrived->b - client->first;
    switch (message.type) {
    case TIED_WIRE_REPLY:
        hear_reply (&message.u.reply, &event);
        world_mix (self, message.u.reply.call.sequence << 8 | message.u.reply.copy);
        world_note (self, message.u.reply.call, world_actor_client (number),
                    world_actor_client (number), "gets REPLY", message.u.reply.copy);
        break;
    case TIED_WIRE_REJECT:
        event.type = TIED_CLIENT_EV_REJECT;
        event.u.reject.call = message.u.reject.call;
        event.u.reject.copy = message.u.reject.copy;
        event.u.reject.reason = message.u.reject.reason;
        event.u.reject.is_local = false;
        event.u.reject.load = message.u.reject.load;
        world_note (self, message.u.reject.call, world_actor_client (number),
                    world_actor_client (number), "gets REJECT", message.u.reject.copy);
        break;
    case TIED_WIRE_WELCOME:
        event.type = TIED_CLIENT_EV_WELCOME;
        event.u.welcome.incarnation = message.u.welcome.incarnation;
        event.u.welcome.echo = message.u.welcome.time_ns;
        event.u.welcome.id_matches = true;
        event.u.welcome.modes = message.u.welcome.modes;
        event.u.welcome.load = message.u.welcome.load;
        if (self->origin == TIED_NEVER)
            greeted (self, client, event.replica);
        break;
    case TIED_WIRE_PONG:
        event.type = TIED_CLIENT_EV_PONG;
        event.u.pong.echo = message.u.ping.time_ns;
        event.u.pong.load = message.u.ping.load;
        break;
    default:
        TI_UNREACHABLE ();
    }
    step (self, number, &event);
    arm (self, number);
}

void world_client_timer (struct world *self, uint32_t number)
{
    const struct tied_client_event event = {.type = TIED_CLIENT_EV_TIMEOUT};

    step (self, number, &event);
    arm (self, number);
}

void world_client_link (struct world *self, uint32_t number, uint32_t replica, bool is_up)
{
    const struct tied_client_event event = {.type = is_up ? TIED_CLIENT_EV_LINK_UP
                                                          : TIED_CLIENT_EV_LINK_DOWN,
                                            .replica = replica - self->clients[number].first};

    step (self, number, &event);
    arm (self, number);
}

void world_client_cancel (struct world *self, struct tied_call_id call)
{
    const struct tied_client_event event = {.type = TIED_CLIENT_EV_CANCEL, .u.cancel.call = call};
    const uint32_t number = (uint32_t)(call.epoch - 1);

    step (self, number, &event);
    arm (self, number);
}
