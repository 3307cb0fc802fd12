/* SPDX-License-Identifier: MIT */
/* What the core wants done, done. */
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine.h"

static void follow_up (tied_replica_t *self, const struct tied_replica_event *event)
{
    TI_ASSERT (self->follow_ups_count < TI_FOLLOW_UPS_MAX);
    self->follow_ups[self->follow_ups_count++] = *event;
}

static void send_to_client (tied_replica_t *self,
                            uint32_t client,
                            struct tied_message *message,
                            uint64_t *dropped)
{
    const struct ti_route *route = &self->clients.items[client];
    int rc = TIED_ERR_ABSENT;

    if (self->clients_sock && route->size > 0) {
        rc = ti_sock_send (self->clients_sock, route->bytes, route->size, message,
                           self->options.inline_max);
        self->dirty |= TI_DIRTY_CLIENTS;
        /* One that is not told now is found gone at the next send, or by its silence. */
        if (rc == TIED_ERR_ABSENT && self->gone_count < TI_GONE_MAX) {
            self->gone_count++;
            follow_up (self, &(struct tied_replica_event){.type = TIED_REPLICA_EV_CLIENT_GONE,
                                                          .u.client.client = client});
        }
    }
    if (rc != 0)
        ++*dropped;
}

/* A small zmq_msg_t holds its bytes in itself, so views move with it. */
static void move_frame (zmq_msg_t *to, zmq_msg_t *from, struct tied_view *views[], size_t count)
{
    const unsigned char *before = zmq_msg_data (from);

    zmq_msg_init (to);
    zmq_msg_move (to, from);
    const unsigned char *after = zmq_msg_data (to);
    for (size_t i = 0; i < count; i++) {
        if (views[i]->data)
            views[i]->data = after + ((const unsigned char *)views[i]->data - before);
    }
}

static void admit (tied_replica_t *self, const struct tied_replica_action *action)
{
    struct tied_request *request = &self->slots[action->slot];
    const struct tied_wire_request *arrived = self->arrived;
    struct ti_envelope *from = self->arrival;

    TI_ASSERT (arrived != NULL);
    TI_ASSERT (request->state == TI_REQUEST_FREE);
    request->state = TI_REQUEST_QUEUED;
    request->call = arrived->call;
    request->copy = arrived->copy;
    request->reject = TIED_REJECT_NONE;
    request->arrived_at = self->now;
    self->is_arrival_settled = true;
    request->method = self->arrived_method;
    request->method_name = arrived->method;
    request->body = arrived->body;
    request->client = action->client;
    request->result = TI_RESULT_NONE;
    request->is_forgotten = false;
    if (self->is_arrival_first)
        ti_keys_admitted (self, request);
    request->key = arrived->key;
    request->traceparent = arrived->traceparent;
    request->attempts_left = arrived->attempts_left;
    request->bytes = zmq_msg_size (&from->header) + zmq_msg_size (&from->body);
    self->bytes_held += request->bytes;
    if (arrived->body_follows) {
        struct tied_view *views[] = {&request->method_name, &request->key, &request->traceparent};
        move_frame (&request->header, &from->header, views, 3);
        zmq_msg_init (&request->body_frame);
        zmq_msg_move (&request->body_frame, &from->body);
        request->body.data = zmq_msg_data (&request->body_frame);
        request->body.size = zmq_msg_size (&request->body_frame);
    } else {
        struct tied_view *views[] = {&request->method_name, &request->key, &request->traceparent,
                                     &request->body};
        move_frame (&request->header, &from->header, views, 4);
        zmq_msg_init (&request->body_frame);
    }
}

static void run (tied_replica_t *self, const struct tied_replica_action *action)
{
    struct tied_request *request = &self->slots[action->slot];

    TI_ASSERT (request->state == TI_REQUEST_QUEUED);
    request->state = TI_REQUEST_RUNNING;
    request->started_at = self->now;
    request->deadline = ti_time_add (self->now, action->remaining_ns);
    memcpy (request->method_text, request->method_name.data, request->method_name.size);
    request->method_text[request->method_name.size] = '\0';
    if (request->traceparent.size > 0)
        memcpy (request->traceparent_text, request->traceparent.data, request->traceparent.size);
    request->traceparent_text[request->traceparent.size] = '\0';
    atomic_store_explicit (&request->cancelled, 0, memory_order_relaxed);
    self->taken = request;
}

static void cancel_running (tied_replica_t *self, const struct tied_replica_action *action)
{
    struct tied_request *request = &self->slots[action->slot];
    uint64_t one = 1;

    TI_ASSERT (request->state == TI_REQUEST_RUNNING);
    atomic_store (&request->cancelled, action->reason ? action->reason : 1u);
    if (request->cancel_fd >= 0)
        (void)!write (request->cancel_fd, &one, sizeof one);
    if (request->on_cancel)
        request->on_cancel (request, request->on_cancel_arg);
    ti_children_cancel (request);
}

void ti_request_free (struct tied_request *request)
{
    TI_ASSERT (request->state != TI_REQUEST_FREE);
    request->state = TI_REQUEST_FREE;
    request->replica->bytes_held -= request->bytes;
    zmq_msg_close (&request->header);
    zmq_msg_close (&request->body_frame);
    if (request->cancel_fd >= 0)
        close (request->cancel_fd);
    request->cancel_fd = -1;
    request->on_cancel = NULL;
    ti_children_free (request);
}

static void fill_word (const struct tied_replica_action *action, struct tied_message *out)
{
    *out = (struct tied_message){.u.tie = {.call = action->call, .copy = action->copy}};
    switch (action->type) {
    case TIED_REPLICA_ACT_TELL_UNTIE:
        out->type = TIED_WIRE_UNTIE;
        return;
    case TIED_REPLICA_ACT_TELL_DONE:
        out->type = TIED_WIRE_DONE;
        return;
    case TIED_REPLICA_ACT_TELL_GRANT:
        out->type = TIED_WIRE_GRANT;
        return;
    case TIED_REPLICA_ACT_TELL_DENY:
        out->type = TIED_WIRE_DENY;
        return;
    case TIED_REPLICA_ACT_TELL_CLAIM:
        *out = (struct tied_message){.type = TIED_WIRE_CLAIM,
                                     .u.claim = {.call = action->call,
                                                 .copy = action->copy,
                                                 .age_us = ti_us_from_ns (action->age_ns),
                                                 .incarnation = action->incarnation}};
        return;
    default:
        out->type = TIED_WIRE_STARTED;
        return;
    }
}

static void
count_told (struct tied_peer_stats *stats, enum tied_replica_action_type type, bool is_sent)
{
    if (type == TIED_REPLICA_ACT_TELL_STARTED)
        ++*(is_sent ? &stats->started_sent : &stats->started_unsent);
    if (type == TIED_REPLICA_ACT_TELL_UNTIE)
        ++*(is_sent ? &stats->untie_sent : &stats->untie_unsent);
}

/* Of the words only a STARTED and an UNTIE are missed: a claim is repeated, an answer to it asked
   for again, and without DONE there is the lease. */
static void tell_peer (tied_replica_t *self, const struct tied_replica_action *action)
{
    bool is_untie = action->type == TIED_REPLICA_ACT_TELL_UNTIE;
    bool is_missed = is_untie || action->type == TIED_REPLICA_ACT_TELL_STARTED;
    struct ti_peer *peer = &self->peers[action->peer];
    struct tied_message message;
    int rc = TIED_ERR_ABSENT;

    TI_ASSERT (action->peer < self->peer_names.count);
    fill_word (action, &message);
    /* Nothing goes before HELLO: the peer would not know whose word it is. */
    if (peer->is_greeted) {
        if (self->now - peer->greeted_at >= TI_HELLO_AGAIN)
            (void)ti_peer_greet (self, peer);
        rc = ti_link_send (&peer->link, &message, 0);
        peer->is_dirty = true;
        self->dirty |= TI_DIRTY_LINKS;
    }
    count_told (&peer->stats, action->type, rc == 0);
    if (rc != 0 && is_missed)
        follow_up (self, &(struct tied_replica_event){.type = TIED_REPLICA_EV_SEND_FAILED,
                                                      .u.tie = {.peer = action->peer,
                                                                .call = action->call,
                                                                .copy = action->copy,
                                                                .is_untie = is_untie}});
}

static void reject (tied_replica_t *self, const struct tied_replica_action *action)
{
    struct tied_message message = {.type = TIED_WIRE_REJECT,
                                   .u.reject = {.call = action->call,
                                                .copy = action->copy,
                                                .reason = action->reason,
                                                .load = action->load}};

    if (self->options.observe)
        ti_observe_reject (self, action);
    send_to_client (self, action->client, &message, &self->stats.rejects_dropped);
}

static void reply (tied_replica_t *self, const struct tied_replica_action *action)
{
    struct tied_request *request = &self->slots[action->slot];
    struct tied_message message = {.type = TIED_WIRE_REPLY,
                                   .u.reply = {.call = action->call,
                                               .copy = action->copy,
                                               .status = request->status,
                                               .flags = action->flags,
                                               .queue_us = ti_us_from_ns (action->queue_ns),
                                               .service_us = ti_us_from_ns (action->service_ns),
                                               .load = action->load,
                                               .body = request->answer}};

    self->stats.service_ns += action->service_ns;
    self->answered_at = self->now;
    send_to_client (self, action->client, &message, &self->stats.replies_dropped);
}

void ti_perform (tied_replica_t *self, const struct tied_replica_action *action)
{
    switch (action->type) {
    case TIED_REPLICA_ACT_ADMIT:
        admit (self, action);
        return;
    case TIED_REPLICA_ACT_REJECT:
        reject (self, action);
        return;
    case TIED_REPLICA_ACT_RUN:
        run (self, action);
        return;
    case TIED_REPLICA_ACT_TELL_STARTED:
    case TIED_REPLICA_ACT_TELL_UNTIE:
    case TIED_REPLICA_ACT_TELL_DONE:
    case TIED_REPLICA_ACT_TELL_CLAIM:
    case TIED_REPLICA_ACT_TELL_GRANT:
    case TIED_REPLICA_ACT_TELL_DENY:
        tell_peer (self, action);
        return;
    case TIED_REPLICA_ACT_CANCEL_RUNNING:
        cancel_running (self, action);
        return;
    case TIED_REPLICA_ACT_REPLY:
        reply (self, action);
        return;
    case TIED_REPLICA_ACT_RELEASE:
        if (self->options.observe)
            ti_observe_release (&self->slots[action->slot]);
        ti_keys_left (self, &self->slots[action->slot]);
        ti_request_free (&self->slots[action->slot]);
        return;
    case TIED_REPLICA_ACT_FORGET_CLIENT:
        if (self->held_count > 0)
            ti_keys_forget_client (self, &self->clients.items[action->client]);
        ti_routes_remove (&self->clients, action->client);
        return;
    }
    TI_UNREACHABLE ();
}
