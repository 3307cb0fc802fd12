/* SPDX-License-Identifier: MIT */
/* The waiting functions, and how the reply of an ended call is collected. */
#include <stdlib.h>

#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

int ti_wait_collect (tied_client_t *self, uint32_t token, struct tied_reply *out)
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
                               .is_repeated = call->is_repeated,
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

int ti_wait_for_call (tied_client_t *self, uint32_t token, tied_time_t until, tied_time_t now)
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
        rc = ti_wait_for_call (self, token, ti_time_add (now, timeout_ns), now);
        if (rc == 0)
            rc = ti_wait_collect (self, token, out);
    }
    ti_engine_leave (self);
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
        rc = ti_wait_collect (self, ti_client_calls_front (&self->calls), out);
    if (rc == 0) {
        ti_client_calls_pop (&self->calls);
        ti_engine_show_queue (self);
    }
    ti_engine_leave (self);
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
    ti_engine_leave (self);
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
    ti_engine_leave (self);
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
