/* SPDX-License-Identifier: MIT */
/*
 * Requests with an idempotency key: answered from what is kept (results.h), set aside while the
 * first one with their key waits or runs, or let through to the core, which knows no keys.
 *
 * A request that is set aside is its envelope: the core has not seen it. When the first one ends it
 * is answered with the same result. When that leaves without a result, those that were set aside
 * arrive anew, as if they had been sent later: one of them becomes the first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine.h"

/* Results that are forgotten for their age in one turn. */
#define AGE_MOST 64

/* Set aside. */
struct ti_held {
    struct ti_held *prev, *next;
    struct ti_envelope envelope;
    struct tied_call_id call;
    uint8_t copy;
    uint32_t result; /* entry whose holder it waits for; TI_RESULT_NONE: it is due */
    tied_time_t since;
    size_t bytes; /* counted in bytes_held */
};

static void unlink_held (tied_replica_t *self, struct ti_held *held)
{
    if (held->prev)
        held->prev->next = held->next;
    else
        self->held_first = held->next;
    if (held->next)
        held->next->prev = held->prev;
    else
        self->held_last = held->prev;
    self->held_count--;
    self->bytes_held -= held->bytes;
}

static void free_held (struct ti_held *held)
{
    ti_envelope_close (&held->envelope);
    free (held);
}

/* The envelope's frames move. */
static bool hold (tied_replica_t *self,
                  struct ti_envelope *envelope,
                  const struct tied_wire_request *request,
                  uint32_t result)
{
    struct ti_held *held;

    if (self->held_count >= self->options.results_waiting)
        return false;
    held = calloc (1, sizeof *held);
    if (!held)
        return false;
    held->call = request->call;
    held->copy = request->copy;
    held->result = result;
    held->since = self->held_since ? self->held_since : self->now;
    held->bytes = zmq_msg_size (&envelope->header) + zmq_msg_size (&envelope->body);
    held->envelope = *envelope;
    zmq_msg_init (&held->envelope.route);
    zmq_msg_move (&held->envelope.route, &envelope->route);
    zmq_msg_init (&held->envelope.header);
    zmq_msg_move (&held->envelope.header, &envelope->header);
    zmq_msg_init (&held->envelope.body);
    zmq_msg_move (&held->envelope.body, &envelope->body);
    held->prev = self->held_last;
    if (self->held_last)
        self->held_last->next = held;
    else
        self->held_first = held;
    self->held_last = held;
    self->held_count++;
    self->bytes_held += held->bytes;
    self->stats.results_waited++;
    return true;
}

static void answer (tied_replica_t *self,
                    struct ti_envelope *to,
                    struct tied_call_id call,
                    uint8_t copy,
                    uint32_t status,
                    struct tied_view body)
{
    struct tied_message message = {.type = TIED_WIRE_REPLY,
                                   .u.reply = {.call = call,
                                               .copy = copy,
                                               .status = status,
                                               .load = tied_replica_core_load (self->core),
                                               .body = body}};

    if (status != TIED_STATUS_KEY_REUSED)
        message.u.reply.flags = TIED_REPLY_REPEATED;
    self->answered_at = self->now;
    if (!self->clients_sock || ti_answer (self, self->clients_sock, to, &message) != 0)
        self->stats.replies_dropped++;
}

/* What the core has to see itself: it is a matter of the holder's own call, which may merge with
   the holder, be the same copy again, or be refused beside it. */
static bool is_of_holder (const tied_replica_t *self,
                          uint32_t client,
                          const struct tied_wire_request *request,
                          uint32_t result)
{
    const struct tied_request *holder = &self->slots[self->results.items[result].holder];

    return holder->client == client && ti_call_id_equal (holder->call, request->call) &&
           (holder->copy == request->copy || request->copy >= 2);
}

enum ti_key_verdict ti_keys_arrive (tied_replica_t *self,
                                    struct ti_envelope *envelope,
                                    const struct tied_wire_request *request,
                                    uint32_t client,
                                    bool is_out_of_bytes)
{
    struct tied_view body = request->body;
    const struct ti_result *item;
    uint32_t index = TI_RESULT_NONE;

    if (request->body_follows)
        body = (struct tied_view){zmq_msg_data (&envelope->body), zmq_msg_size (&envelope->body)};
    self->arrived_key = ti_results_key (&self->results, request->method, request->key, body);
    switch (ti_results_look (&self->results, &self->arrived_key, self->now, &index)) {
    case TI_RESULT_NEW:
        return TI_KEY_FIRST;
    case TI_RESULT_FULL:
        self->stats.results_full++;
        return TI_KEY_NO_ROOM;
    case TI_RESULT_STORED:
        item = &self->results.items[index];
        self->stats.results_hit++;
        answer (self, envelope, request->call, request->copy, item->status,
                (struct tied_view){item->body, item->body_size});
        return TI_KEY_SETTLED;
    case TI_RESULT_PENDING:
        if (is_of_holder (self, client, request, index))
            return TI_KEY_NONE;
        if (!is_out_of_bytes && hold (self, envelope, request, index))
            return TI_KEY_SETTLED;
        self->stats.results_full++;
        return TI_KEY_NO_ROOM;
    case TI_RESULT_REUSED:
        self->stats.results_reused++;
        answer (self, envelope, request->call, request->copy, TIED_STATUS_KEY_REUSED,
                (struct tied_view){NULL, 0});
        return TI_KEY_SETTLED;
    }
    TI_UNREACHABLE ();
}

void ti_keys_admitted (tied_replica_t *self, struct tied_request *request)
{
    request->result = ti_results_claim (&self->results, &self->arrived_key, request->slot);
}

/* Those that wait for this entry are due. */
static void release (tied_replica_t *self, uint32_t result)
{
    for (struct ti_held *held = self->held_first; held; held = held->next) {
        if (held->result != result)
            continue;
        held->result = TI_RESULT_NONE;
        self->dirty |= TI_DIRTY_KEYS;
    }
}

void ti_keys_left (tied_replica_t *self, struct tied_request *request)
{
    if (request->result == TI_RESULT_NONE)
        return;
    ti_results_drop (&self->results, request->result);
    release (self, request->result);
    request->result = TI_RESULT_NONE;
}

void ti_keys_finished (tied_replica_t *self, struct tied_request *request)
{
    const uint32_t result = request->result;

    if (result == TI_RESULT_NONE)
        return;
    /* A handler that stops early because of a cancel has no result. */
    if (request->is_forgotten || (request->status != 0 && tied_request_is_cancelled (request))) {
        ti_keys_left (self, request);
        return;
    }
    request->result = TI_RESULT_NONE;
    ti_results_store (&self->results, result, request->status, request->answer, self->now);
    for (struct ti_held *held = self->held_first, *next; held; held = next) {
        next = held->next;
        if (held->result != result)
            continue;
        self->stats.results_hit++;
        answer (self, &held->envelope, held->call, held->copy, request->status, request->answer);
        unlink_held (self, held);
        free_held (held);
    }
}

static bool is_from (struct ti_held *held, const void *route, size_t size)
{
    return zmq_msg_size (&held->envelope.route) == size &&
           memcmp (zmq_msg_data (&held->envelope.route), route, size) == 0;
}

void ti_keys_cancel (tied_replica_t *self, struct ti_envelope *from, struct tied_call_id call)
{
    for (struct ti_held *held = self->held_first, *next; held; held = next) {
        next = held->next;
        if (!ti_call_id_equal (held->call, call) ||
            !is_from (held, zmq_msg_data (&from->route), zmq_msg_size (&from->route)))
            continue;
        unlink_held (self, held);
        free_held (held);
    }
}

void ti_keys_forget_client (tied_replica_t *self, const struct ti_route *route)
{
    for (struct ti_held *held = self->held_first, *next; held; held = next) {
        struct tied_message message = {.type = TIED_WIRE_REJECT,
                                       .u.reject = {.call = held->call,
                                                    .copy = held->copy,
                                                    .reason = TIED_REJECT_FULL,
                                                    .load = tied_replica_core_load (self->core)}};
        next = held->next;
        if (!is_from (held, route->bytes, route->size))
            continue;
        if (!self->clients_sock ||
            ti_answer (self, self->clients_sock, &held->envelope, &message) != 0)
            self->stats.rejects_dropped++;
        unlink_held (self, held);
        free_held (held);
    }
}

/* It comes as if it had been sent later. */
static void arrive_anew (tied_replica_t *self, struct ti_held *held)
{
    tied_duration_t waited_us = ti_time_sub (self->now, held->since) / 1000;
    struct tied_message in;

    if (ti_decode (self, &held->envelope, &in)) {
        struct tied_wire_request *request = &in.u.request;

        if (request->remaining_us != UINT64_MAX)
            request->remaining_us = ti_time_sub (request->remaining_us, waited_us);
        if (request->sent_us != 0)
            request->sent_us += waited_us;
        self->held_since = held->since;
        ti_clients_on_request (self, &held->envelope, request);
        self->held_since = 0;
    }
    free_held (held);
}

bool ti_keys_drain (tied_replica_t *self)
{
    uint32_t taken = 0;

    if (!self->clients_sock)
        return true;
    for (struct ti_held *held = self->held_first, *next; held; held = next) {
        next = held->next;
        if (held->result != TI_RESULT_NONE)
            continue;
        if (taken++ == self->options.batch_max)
            return false;
        unlink_held (self, held);
        arrive_anew (self, held);
        /* What that has changed may have been in the list. */
        next = self->held_first;
    }
    return true;
}

void ti_keys_age (tied_replica_t *self)
{
    ti_results_age (&self->results, self->now, AGE_MOST);
}

void ti_keys_deinit (tied_replica_t *self)
{
    for (struct ti_held *held = self->held_first, *next; held; held = next) {
        next = held->next;
        free_held (held);
    }
    self->held_first = NULL;
    self->held_last = NULL;
    ti_results_deinit (&self->results);
}

int tied_request_forget (tied_request_t *request)
{
    int rc = 0;

    if (!request)
        return TIED_ERR_INVAL;
    ti_engine_lock (request->replica);
    if (request->state == TI_REQUEST_RUNNING)
        request->is_forgotten = true;
    else
        rc = TIED_ERR_STATE;
    ti_engine_unlock (request->replica);
    return rc;
}
