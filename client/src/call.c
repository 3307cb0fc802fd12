/* SPDX-License-Identifier: MIT */
/* Calls: submit, wait, collect, cancel. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "wire/fields.h"
#include "zmq/clock.h"

/* Larger request bodies are copied outside the lock. */
#define COPY_UNDER_LOCK 4096
/* A call's own bound on the stagger that it asks for. */
#define STAGGER_LIMIT TIED_S (3600)

void tied_call_init (struct tied_call *call, const char *method, const void *body, size_t body_size)
{
    memset (call, 0, sizeof *call);
    call->struct_size = sizeof *call;
    call->method = method;
    call->body = body;
    call->body_size = body_size;
    call->mode = TIED_MODE_TIED;
    call->stagger_ns = TIED_STAGGER_AUTO;
}

static int check_call (const tied_client_t *self, const struct tied_call *call)
{
    if (!self || !call || call->struct_size != sizeof *call || !call->method)
        return TIED_ERR_INVAL;
    size_t method = strnlen (call->method, TIED_NAME_MAX + 1);

    if (!ti_wire_is_name (call->method, method) || (!call->body && call->body_size > 0) ||
        call->mode > TIED_MODE_TIED)
        return TIED_ERR_INVAL;
    if (call->stagger_ns != TIED_STAGGER_AUTO && call->stagger_ns > STAGGER_LIMIT)
        return TIED_ERR_INVAL;
    size_t trace =
        call->traceparent ? strnlen (call->traceparent, TIED_WIRE_TRACEPARENT_MAX + 1) : 0;

    if (trace > 0 && !ti_wire_is_name (call->traceparent, trace))
        return TIED_ERR_INVAL;
    return call->body_size > self->options.body_max ? TIED_ERR_TOOBIG : 0;
}

/* Under the lock; takes a token and the bytes. */
static int reserve (tied_client_t *self, const struct tied_call *call, uint32_t *out_token)
{
    uint32_t token;
    int rc;

    if (self->state != TI_CLIENT_STARTED)
        return TIED_ERR_STATE;
    token = ti_client_calls_reserve (&self->calls);
    if (token == TI_NO_TOKEN)
        return TIED_ERR_FULL;
    if (call->body_size > COPY_UNDER_LOCK)
        pthread_mutex_unlock (&self->lock);
    rc = ti_client_call_keep (&self->calls.slots[token], call);
    if (call->body_size > COPY_UNDER_LOCK)
        pthread_mutex_lock (&self->lock);
    if (rc == 0 && self->state != TI_CLIENT_STARTED)
        rc = TIED_ERR_STATE;
    if (rc != 0)
        ti_client_calls_release (&self->calls, token);
    else
        *out_token = token;
    return rc;
}

/* Under the lock: the call is on its way, or has ended already, when this returns 0. */
static int submit (tied_client_t *self,
                   const struct tied_call *call,
                   uint32_t *out_token,
                   tied_time_t *out_now)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_SUBMIT};
    tied_duration_t timeout = call->timeout_ns ? call->timeout_ns : self->options.timeout_ns;
    uint32_t token;
    tied_time_t now;
    int rc = reserve (self, call, &token);

    if (rc != 0)
        return rc;
    now = ti_clock_now ();
    event.u.submit.token = token;
    event.u.submit.mode = call->mode;
    event.u.submit.is_idempotent = call->is_idempotent;
    event.u.submit.deadline = ti_time_add (now, timeout);
    event.u.submit.stagger_ns = call->stagger_ns;
    rc = ti_engine_step (self, &event, now);
    if (rc != 0) {
        ti_client_calls_release (&self->calls, token);
        return rc;
    }
    *out_token = token;
    *out_now = now;
    return 0;
}

/* The reply of an ended call; frees its token. 0, TIED_ERR_NOMEM: the call stays as it was. */
static int collect (tied_client_t *self, uint32_t token, struct tied_reply *out)
{
    struct ti_client_call *call = &self->calls.slots[token];
    uint32_t winner = call->completion.winner;
    zmq_msg_t *frame = NULL;

    TI_ASSERT (call->state == TI_CLIENT_CALL_ENDED);
    if (call->has_body) {
        frame = malloc (sizeof *frame);
        if (!frame)
            return TIED_ERR_NOMEM;
        zmq_msg_init (frame);
        zmq_msg_move (frame, &call->body);
        zmq_msg_close (&call->body);
        call->has_body = false;
    }
    *out = (struct tied_reply){.struct_size = sizeof *out,
                               .id = call->id,
                               .user = call->user,
                               .body_size = call->body_size,
                               .details = call->completion,
                               .reserved = frame};
    if (frame)
        out->body = (const char *)zmq_msg_data (frame) + call->body_offset;
    if (winner != TIED_NO_REPLICA)
        out->winner_id = self->links[winner].id;
    ti_client_calls_release (&self->calls, token);
    return 0;
}

/* Under the lock. A call has at most one waiter. */
static int wait_for_call (tied_client_t *self, uint32_t token, tied_time_t until, tied_time_t now)
{
    struct ti_client_call *call = &self->calls.slots[token];
    struct ti_waiter waiter = {.kind = TI_WAIT_CALL, .token = token};
    int rc = 0;

    if (call->state != TI_CLIENT_CALL_ENDED) {
        call->waiter = &waiter;
        rc = ti_seat_wait (self, &waiter, until, now);
        call->waiter = NULL;
    }
    return rc;
}

/* Every function that used the engine leaves through here. */
static void leave (tied_client_t *self)
{
    ti_engine_settle (self);
    pthread_mutex_unlock (&self->lock);
}

int tied_client_call (tied_client_t *self, const struct tied_call *call, struct tied_reply *out)
{
    uint32_t token;
    tied_time_t now;
    int rc = out ? check_call (self, call) : TIED_ERR_INVAL;

    if (rc == 0 && call->to_queue)
        rc = TIED_ERR_INVAL;
    if (rc != 0)
        return rc;
    pthread_mutex_lock (&self->lock);
    rc = submit (self, call, &token, &now);
    if (rc == 0) {
        ti_engine_settle (self);
        /* The call's own deadline ends the wait. */
        rc = wait_for_call (self, token, TIED_NEVER, now);
        TI_ASSERT (rc == 0);
        rc = collect (self, token, out);
        if (rc != 0)
            ti_client_calls_release (&self->calls, token);
    }
    leave (self);
    return rc;
}

int tied_client_submit (tied_client_t *self,
                        const struct tied_call *call,
                        struct tied_call_id *out_id)
{
    uint32_t token;
    tied_time_t now;
    int rc = check_call (self, call);

    if (rc != 0)
        return rc;
    pthread_mutex_lock (&self->lock);
    rc = submit (self, call, &token, &now);
    if (rc == 0) {
        if (out_id)
            *out_id = self->calls.slots[token].id;
        ti_thread_nudge (self, now);
    }
    leave (self);
    return rc;
}

int tied_client_wait (tied_client_t *self,
                      struct tied_call_id id,
                      tied_duration_t timeout_ns,
                      struct tied_reply *out)
{
    uint32_t token;
    int rc;

    if (!self || !out)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    token = ti_client_calls_find (&self->calls, id);
    if (token == TI_NO_TOKEN) {
        rc = TIED_ERR_ABSENT;
    } else if (self->calls.slots[token].to_queue || self->calls.slots[token].waiter) {
        rc = TIED_ERR_STATE;
    } else {
        tied_time_t now = ti_clock_now ();
        rc = wait_for_call (self, token, ti_time_add (now, timeout_ns), now);
        if (rc == 0)
            rc = collect (self, token, out);
    }
    leave (self);
    return rc;
}

int tied_client_next (tied_client_t *self, tied_duration_t timeout_ns, struct tied_reply *out)
{
    struct ti_waiter waiter = {.kind = TI_WAIT_QUEUE};
    tied_time_t until = 0;
    int rc = 0;

    if (!self || !out)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    while (rc == 0 && self->calls.queue_count == 0) {
        tied_time_t now = ti_clock_now ();

        if (until == 0)
            until = ti_time_add (now, timeout_ns);
        if (self->state != TI_CLIENT_STARTED)
            rc = TIED_ERR_STATE;
        else
            rc = ti_seat_wait (self, &waiter, until, now);
    }
    if (rc == 0)
        rc = collect (self, ti_client_calls_front (&self->calls), out);
    if (rc == 0) {
        ti_client_calls_pop (&self->calls);
        ti_engine_show_queue (self);
    }
    leave (self);
    return rc;
}

int tied_client_poll (tied_client_t *self, tied_duration_t timeout_ns)
{
    struct ti_waiter waiter = {.kind = TI_WAIT_ANY};
    int rc;

    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    if (self->state != TI_CLIENT_STARTED) {
        rc = TIED_ERR_STATE;
    } else {
        tied_time_t now = ti_clock_now ();

        /* What waits in the queue ends the wait, but not the work: a host that only polls for a
           while must not starve its other calls. */
        if (self->calls.queue_count > 0)
            timeout_ns = 0;
        waiter.ended = self->calls_ended;
        (void)!ti_seat_wait (self, &waiter, ti_time_add (now, timeout_ns), now);
        rc = (int)self->calls.queue_count;
    }
    leave (self);
    return rc;
}

int tied_client_wait_ready (tied_client_t *self, uint32_t replicas, tied_duration_t timeout_ns)
{
    struct ti_waiter waiter = {.kind = TI_WAIT_READY, .replicas = replicas};
    int rc;

    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    if (replicas > self->links_count) {
        rc = TIED_ERR_INVAL;
    } else if (self->state != TI_CLIENT_STARTED) {
        rc = TIED_ERR_STATE;
    } else {
        tied_time_t now = ti_clock_now ();
        rc = ti_seat_wait (self, &waiter, ti_time_add (now, timeout_ns), now);
        if (rc == 0 && self->state != TI_CLIENT_STARTED)
            rc = TIED_ERR_STATE;
    }
    leave (self);
    return rc;
}

int tied_client_cancel (tied_client_t *self, struct tied_call_id id)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_CANCEL};
    uint32_t token;
    int rc = 0;

    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    token = ti_client_calls_find (&self->calls, id);
    if (token == TI_NO_TOKEN) {
        rc = TIED_ERR_ABSENT;
    } else if (self->calls.slots[token].state == TI_CLIENT_CALL_LIVE) {
        event.u.cancel.call = id;
        rc = ti_engine_step (self, &event, ti_clock_now ());
    }
    leave (self);
    return rc;
}

void tied_reply_release (struct tied_reply *reply)
{
    if (!reply)
        return;
    if (reply->reserved) {
        zmq_msg_close (reply->reserved);
        free (reply->reserved);
    }
    reply->reserved = NULL;
    reply->body = NULL;
    reply->body_size = 0;
}
