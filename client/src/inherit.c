/* SPDX-License-Identifier: MIT */
/*
 * A call that is made for the answer of a request: what it takes over, and that it ends with it.
 * The request belongs to a replica, whose lock comes before ours: nothing here is called with ours
 * held, but the two functions that the replica calls.
 */
#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

static bool cancel_child (void *client, struct tied_call_id id)
{
    tied_client_t *self = client;
    bool is_live;

    pthread_mutex_lock (&self->lock);
    is_live = ti_client_calls_is_live (&self->calls, id);
    if (is_live)
        ti_engine_cancel (self, ti_client_calls_find (&self->calls, id), ti_clock_now ());
    ti_engine_leave (self);
    return is_live;
}

static bool is_live_child (void *client, struct tied_call_id id)
{
    tied_client_t *self = client;
    bool is_live;

    pthread_mutex_lock (&self->lock);
    is_live = ti_client_calls_is_live (&self->calls, id);
    pthread_mutex_unlock (&self->lock);
    return is_live;
}

static const struct ti_child_ops ops = {.cancel = cancel_child, .is_live = is_live_child};

int ti_inherit_begin (const struct tied_call *call, struct ti_parent_terms *out)
{
    *out = (struct ti_parent_terms){.deadline = TIED_NEVER, .traceparent = NULL, .copies_max = 0};
    return call->parent ? ti_parent_reserve (call->parent, out) : 0;
}

void ti_inherit_end (tied_client_t *self, const struct tied_call *call, struct tied_call_id id)
{
    if (call->parent && id.epoch != 0)
        ti_parent_adopt (call->parent, self, id, &ops);
    else if (call->parent)
        ti_parent_forgo (call->parent);
}
