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

int ti_call_check (const tied_client_t *self, const struct tied_call *call)
{
    if (!self || !call || call->struct_size != sizeof *call || !call->method)
        return TIED_ERR_INVAL;
    size_t method = strnlen (call->method, TIED_NAME_MAX + 1);

    if (!ti_wire_is_name (call->method, method) || (!call->body && call->body_size > 0) ||
        (call->mode > TIED_MODE_EXCLUSIVE && call->mode != TIED_MODE_POLICY))
        return TIED_ERR_INVAL;
    if (call->key_size > TIED_KEY_MAX || (!call->key && call->key_size > 0))
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

int ti_call_submit (tied_client_t *self,
                    const struct tied_call *call,
                    const struct ti_parent_terms *terms,
                    tied_time_t until,
                    struct ti_begun *out)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_SUBMIT};
    tied_duration_t timeout = call->timeout_ns ? call->timeout_ns : self->options.timeout_ns;
    struct tied_call own = *call;
    uint32_t token;
    tied_time_t now;
    int rc;

    if (!call->traceparent)
        own.traceparent = terms->traceparent;
    rc = reserve (self, &own, &token);
    if (rc != 0)
        return rc;
    now = ti_clock_now ();
    event.u.submit.token = token;
    event.u.submit.method =
        ti_client_methods_use (&self->methods, self->core, self->calls.slots[token].method);
    event.u.submit.mode = call->mode;
    event.u.submit.is_idempotent = call->is_idempotent;
    event.u.submit.is_inner = call->parent != NULL;
    event.u.submit.copies_max = terms->copies_max;
    event.u.submit.deadline = ti_min (ti_time_add (now, timeout), ti_min (terms->deadline, until));
    event.u.submit.stagger_ns = call->stagger_ns;
    event.u.submit.hedge_ns = call->hedge_ns;
    event.u.submit.affinity = call->affinity;
    rc = ti_engine_step (self, &event, now);
    if (rc != 0) {
        ti_client_calls_release (&self->calls, token);
        return rc;
    }
    *out = (struct ti_begun){.token = token, .id = self->calls.slots[token].id, .now = now};
    return 0;
}

/* Under the lock, when the call has been submitted. The lock is released for the parent's. */
static void adopt (tied_client_t *self, const struct tied_call *call, struct tied_call_id id)
{
    if (!call->parent)
        return;
    ti_engine_leave (self);
    ti_inherit_end (self, call, id);
    pthread_mutex_lock (&self->lock);
}

/* As ti_call_submit (), from begin to end; takes the lock, and holds it when it returns 0. */
static int begin (tied_client_t *self, const struct tied_call *call, struct ti_begun *out)
{
    struct ti_parent_terms terms;
    int rc = ti_inherit_begin (call, &terms);

    if (rc != 0)
        return rc;
    pthread_mutex_lock (&self->lock);
    rc = ti_call_submit (self, call, &terms, TIED_NEVER, out);
    if (rc == 0) {
        adopt (self, call, out->id);
        return 0;
    }
    ti_engine_leave (self);
    ti_inherit_end (self, call, (struct tied_call_id){0, 0});
    return rc;
}

int tied_client_call (tied_client_t *self, const struct tied_call *call, struct tied_reply *out)
{
    struct ti_begun begun;
    int rc = out ? ti_call_check (self, call) : TIED_ERR_INVAL;

    if (rc == 0 && call->to_queue)
        rc = TIED_ERR_INVAL;
    if (rc == 0)
        rc = begin (self, call, &begun);
    if (rc != 0)
        return rc;
    ti_engine_settle (self);
    /* The call's own deadline ends the wait. */
    rc = ti_wait_for_call (self, begun.token, TIED_NEVER, begun.now);
    TI_ASSERT (rc == 0);
    rc = ti_wait_collect (self, begun.token, out);
    if (rc != 0)
        ti_client_calls_release (&self->calls, begun.token);
    ti_engine_leave (self);
    return rc;
}

int tied_client_submit (tied_client_t *self,
                        const struct tied_call *call,
                        struct tied_call_id *out_id)
{
    struct ti_begun begun;
    int rc = ti_call_check (self, call);

    if (rc == 0)
        rc = begin (self, call, &begun);
    if (rc != 0)
        return rc;
    if (out_id)
        *out_id = begun.id;
    ti_duty_nudge (self, begun.now);
    ti_engine_leave (self);
    return rc;
}

int tied_client_cancel (tied_client_t *self, struct tied_call_id id)
{
    uint32_t token;
    int rc = 0;

    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    token = ti_client_calls_find (&self->calls, id);
    if (token == TI_NO_TOKEN)
        rc = TIED_ERR_ABSENT;
    else if (self->calls.slots[token].state == TI_CLIENT_CALL_LIVE)
        ti_engine_cancel (self, token, ti_clock_now ());
    ti_engine_leave (self);
    return rc;
}
