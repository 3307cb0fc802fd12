/* SPDX-License-Identifier: MIT */
/*
 * The engine: steps the core and does what it wants. Everything here runs under the client's lock
 * and nothing blocks. Who looks at the links, and who polls and waits, is the business of links.c
 * and seat.c.
 */
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

/* Steps for timers before the links get their turn. */
#define TIMER_STEPS 256

static int send_message (tied_client_t *self, uint32_t replica, struct tied_message *message)
{
    struct ti_client_link *link = &self->links[replica];

    if (!link->link.is_up)
        return TIED_ERR_ABSENT;
    ti_engine_mark_dirty (self, replica);
    return ti_link_send (&link->link, message, self->options.inline_max);
}

static int
send_request (tied_client_t *self, const struct tied_client_action *action, tied_time_t now)
{
    const struct ti_client_call *call = &self->calls.slots[action->token];
    struct tied_message message = {.type = TIED_WIRE_REQUEST};
    struct tied_wire_request *request = &message.u.request;

    request->call = action->call;
    request->copy = action->u.request.copy;
    request->method = call->method;
    request->remaining_us = ti_us_from_ns (action->u.request.remaining_ns);
    request->sent_us = ti_max (now / 1000, 1);
    request->flags = action->u.request.flags;
    request->incarnation = action->u.request.incarnation;
    if (action->u.request.sibling != TIED_NO_REPLICA) {
        const struct ti_client_link *sibling = &self->links[action->u.request.sibling];
        request->sibling = (struct tied_view){sibling->id, sibling->id_size};
        request->sibling_incarnation = action->u.request.sibling_incarnation;
    }
    request->attempts_left = action->u.request.attempts_left;
    request->key = call->key;
    request->traceparent = call->traceparent;
    request->body = call->request;
    return send_message (self, action->replica, &message);
}

void ti_engine_mark_dirty (tied_client_t *self, uint32_t replica)
{
    struct ti_client_link *link = &self->links[replica];

    if (link->is_dirty)
        return;
    link->is_dirty = true;
    self->dirty[self->dirty_count++] = replica;
}

static void send_cancel (tied_client_t *self, const struct tied_client_action *action)
{
    struct tied_message message = {.type = TIED_WIRE_CANCEL};

    message.u.cancel.call = action->call;
    message.u.cancel.reason = action->u.cancel.reason;
    if (send_message (self, action->replica, &message) != 0)
        self->io.cancels_dropped++;
}

/* HELLO and PING need no report of failure: the core asks again. */
static void send_probe (tied_client_t *self, const struct tied_client_action *action)
{
    struct tied_message message = {.type = TIED_WIRE_PING};

    if (action->type == TIED_CLIENT_ACT_SEND_HELLO) {
        message.type = TIED_WIRE_HELLO;
        message.u.hello.role = TIED_WIRE_ROLE_CLIENT;
        message.u.hello.id = (struct tied_view){self->name, strlen (self->name)};
        message.u.hello.incarnation = self->options.core.epoch;
        message.u.hello.time_ns = action->u.probe.time;
    } else {
        message.u.ping.time_ns = action->u.probe.time;
    }
    (void)!send_message (self, action->replica, &message);
}

static void
note_failure (tied_client_t *self, const struct tied_client_action *action, bool is_too_large)
{
    uint64_t at = (uint64_t)self->failures_head + self->failures_count;

    /* The ring has a place for every copy that can be in flight. */
    TI_ASSERT (self->failures_count < self->failures_max);
    self->failures[at % self->failures_max] =
        (struct ti_send_failure){.call = action->call,
                                 .replica = action->replica,
                                 .copy = action->u.request.copy,
                                 .is_too_large = is_too_large};
    self->failures_count++;
}

/* A body that the replica would refuse stays here: one far above its limit would cost the
   connection, and with it every other call there. */
static void
send_or_note (tied_client_t *self, const struct tied_client_action *action, tied_time_t now)
{
    if (self->calls.slots[action->token].request.size > self->links[action->replica].body_max) {
        self->io.copies_too_large++;
        note_failure (self, action, true);
    } else if (send_request (self, action, now) != 0) {
        note_failure (self, action, false);
    }
}

/* The frame that holds the body moves into the slot; nothing is copied. Bytes of a small message
   live inside zmq_msg_t itself, so the place of the body is kept as an offset. */
static void take_body (tied_client_t *self, struct ti_client_call *call)
{
    struct ti_delivery *delivery = self->delivery;
    struct ti_envelope *envelope = delivery->envelope;
    zmq_msg_t *frame = envelope->has_body ? &envelope->body : &envelope->header;

    call->is_repeated = delivery->is_repeated;
    if (delivery->body.size == 0)
        return;
    call->body_offset =
        (size_t)((const char *)delivery->body.data - (const char *)zmq_msg_data (frame));
    call->body_size = delivery->body.size;
    zmq_msg_init (&call->body);
    zmq_msg_move (&call->body, frame);
    call->has_body = true;
}

void ti_engine_show_queue (tied_client_t *self)
{
    uint64_t value = 1;
    bool is_wanted = self->calls.queue_count > 0;

    if (self->event_fd < 0 || is_wanted == self->is_event_set)
        return;
    if (is_wanted)
        (void)!write (self->event_fd, &value, sizeof value);
    else
        (void)!read (self->event_fd, &value, sizeof value);
    self->is_event_set = is_wanted;
}

static void drop_body (struct ti_client_call *call)
{
    if (call->has_body)
        zmq_msg_close (&call->body);
    call->has_body = false;
    call->is_repeated = false;
    call->body_size = 0;
}

static void keep (tied_client_t *self, const struct tied_client_action *action)
{
    struct ti_client_call *call = &self->calls.slots[action->token];

    TI_ASSERT (call->state == TI_CLIENT_CALL_LIVE && self->delivery);
    drop_body (call);
    take_body (self, call);
}

static void complete (tied_client_t *self, const struct tied_client_action *action)
{
    struct ti_client_call *call = &self->calls.slots[action->token];
    uint32_t outcome = action->u.completion.outcome;

    TI_ASSERT (call->state == TI_CLIENT_CALL_LIVE);
    call->state = TI_CLIENT_CALL_ENDED;
    call->completion = action->u.completion;
    if (!call->completion.is_kept) {
        drop_body (call);
        if ((outcome == TIED_OUTCOME_OK || outcome == TIED_OUTCOME_APP_ERROR) && self->delivery &&
            ti_call_id_equal (self->delivery->call, call->id))
            take_body (self, call);
    }
    if (call->to_queue) {
        ti_client_calls_push (&self->calls, action->token);
        ti_engine_show_queue (self);
    }
    self->calls_ended++;
    ti_waiters_call_ended (self, action->token);
}

static void do_actions (tied_client_t *self, tied_time_t now)
{
    const struct tied_client_action *action;

    while ((action = tied_client_core_next (self->core)) != NULL) {
        switch (action->type) {
        case TIED_CLIENT_ACT_ACCEPTED:
            ti_client_calls_accept (&self->calls, action->token, action->call);
            break;
        case TIED_CLIENT_ACT_SEND_REQUEST:
            send_or_note (self, action, now);
            break;
        case TIED_CLIENT_ACT_SEND_CANCEL:
            send_cancel (self, action);
            break;
        case TIED_CLIENT_ACT_SEND_HELLO:
        case TIED_CLIENT_ACT_SEND_PING:
            send_probe (self, action);
            break;
        case TIED_CLIENT_ACT_KEEP_REPLY:
            keep (self, action);
            break;
        case TIED_CLIENT_ACT_COMPLETE:
            complete (self, action);
            break;
        }
    }
}

static void report_failures (tied_client_t *self, tied_time_t now)
{
    while (self->failures_count > 0) {
        struct ti_send_failure failure = self->failures[self->failures_head];
        struct tied_client_event event = {.replica = failure.replica};

        self->failures_head =
            self->failures_head + 1 < self->failures_max ? self->failures_head + 1 : 0;
        self->failures_count--;
        if (failure.is_too_large) {
            event.type = TIED_CLIENT_EV_REJECT;
            event.u.reject.call = failure.call;
            event.u.reject.copy = failure.copy;
            event.u.reject.reason = TIED_REJECT_TOO_LARGE;
            event.u.reject.is_local = true;
        } else {
            event.type = TIED_CLIENT_EV_SEND_FAILED;
            event.u.send_failed.call = failure.call;
            event.u.send_failed.copy = failure.copy;
        }
        if (tied_client_core_step (self->core, &event, now) == 0)
            do_actions (self, now);
    }
}

int ti_engine_step (tied_client_t *self, const struct tied_client_event *event, tied_time_t now)
{
    int rc = tied_client_core_step (self->core, event, now);

    if (rc != 0)
        return rc;
    do_actions (self, now);
    report_failures (self, now);
    return 0;
}

/* For events that the network made: what the core cannot take is the sender's mistake. */
void ti_engine_step_event (tied_client_t *self,
                           const struct tied_client_event *event,
                           tied_time_t now)
{
    if (ti_engine_step (self, event, now) != 0)
        self->io.malformed++;
}

void ti_engine_run_timers (tied_client_t *self, tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_TIMEOUT};

    /* The core handles a bounded number of timers per step and then says "at once" again. */
    for (int i = 0; i < TIMER_STEPS && tied_client_core_deadline (self->core) <= now; i++) {
        ti_engine_step_event (self, &event, now);
        ti_waiters_replica_changed (self);
    }
}

void ti_engine_cancel (tied_client_t *self, uint32_t token, tied_time_t now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_CANCEL};
    int rc;

    event.u.cancel.call = self->calls.slots[token].id;
    rc = ti_engine_step (self, &event, now);
    TI_ASSERT (rc == 0);
}
