/* SPDX-License-Identifier: MIT */
/* Calls: begun, and given up. */
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "wire/fields.h"
#include "zmq/clock.h"

/* Larger request bodies are copied outside the lock. */
#define COPY_UNDER_LOCK 4096
/* A call's own bound on the stagger and the hedge delay that it asks for. */
#define DELAY_LIMIT TIED_S (3600)

void tied_call_init (struct tied_call *call, const char *method, const void *body, size_t body_size)
{
    memset (call, 0, sizeof *call);
    call->struct_size = sizeof *call;
    call->method = method;
    call->body = body;
    call->body_size = body_size;
    call->mode = TIED_MODE_POLICY;
    call->stagger_ns = TIED_STAGGER_POLICY;
    call->hedge_ns = TIED_HEDGE_POLICY;
}

static int check_call (const tied_client_t *self, const struct tied_call *call)
{
    if (!self || !call || call->struct_size != sizeof *call || !call->method)
        return TIED_ERR_INVAL;
    size_t method = strnlen (call->method, TIED_NAME_MAX + 1);

    if (!ti_wire_is_name (call->method, method) || (!call->body && call->body_size > 0) ||
        (call->mode > TIED_MODE_TIED && call->mode != TIED_MODE_POLICY))
        return TIED_ERR_INVAL;
    if ((call->stagger_ns != TIED_STAGGER_AUTO && call->stagger_ns != TIED_STAGGER_POLICY &&
         call->stagger_ns > DELAY_LIMIT) ||
        (call->hedge_ns != TIED_NEVER && call->hedge_ns != TIED_HEDGE_POLICY &&
         call->hedge_ns > DELAY_LIMIT))
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
    event.u.submit.method =
        ti_client_methods_use (&self->methods, self->core, self->calls.slots[token].method);
    event.u.submit.mode = call->mode;
    event.u.submit.is_idempotent = call->is_idempotent;
    event.u.submit.deadline = ti_time_add (now, timeout);
    event.u.submit.stagger_ns = call->stagger_ns;
    event.u.submit.hedge_ns = call->hedge_ns;
    rc = ti_engine_step (self, &event, now);
    if (rc != 0) {
        ti_client_calls_release (&self->calls, token);
        return rc;
    }
    *out_token = token;
    *out_now = now;
    return 0;
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
        rc = ti_wait_for_call (self, token, TIED_NEVER, now);
        TI_ASSERT (rc == 0);
        rc = ti_wait_collect (self, token, out);
        if (rc != 0)
            ti_client_calls_release (&self->calls, token);
    }
    ti_engine_leave (self);
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
    ti_engine_leave (self);
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
    ti_engine_leave (self);
    return rc;
}
