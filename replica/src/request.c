/* SPDX-License-Identifier: MIT */
/* A copy in the hands of the server. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine.h"
#include "zmq/clock.h"

const void *tied_request_body (const tied_request_t *request, size_t *out_size)
{
    if (out_size)
        *out_size = request ? request->body.size : 0;
    return request ? request->body.data : NULL;
}

const char *tied_request_method (const tied_request_t *request)
{
    return request ? request->method_text : NULL;
}

struct tied_call_id tied_request_call (const tied_request_t *request)
{
    return request ? request->call : (struct tied_call_id){0, 0};
}

uint8_t tied_request_copy (const tied_request_t *request)
{
    return request ? request->copy : 0;
}

tied_duration_t tied_request_remaining (const tied_request_t *request)
{
    return request ? ti_time_sub (request->deadline, ti_clock_now ()) : 0;
}

const void *tied_request_key (const tied_request_t *request, size_t *out_size)
{
    size_t size = request ? request->key.size : 0;

    if (out_size)
        *out_size = size;
    return size > 0 ? request->key.data : NULL;
}

const char *tied_request_traceparent (const tied_request_t *request)
{
    return request && request->traceparent.size > 0 ? request->traceparent_text : NULL;
}

uint8_t tied_request_attempts_left (const tied_request_t *request)
{
    return request ? request->attempts_left : 0;
}

bool tied_request_is_cancelled (const tied_request_t *request)
{
    return request && atomic_load_explicit (&request->cancelled, memory_order_acquire) != 0;
}

int tied_request_cancel_fd (tied_request_t *request)
{
    int fd;

    if (!request)
        return TIED_ERR_INVAL;
    ti_engine_lock (request->replica);
    if (request->state != TI_REQUEST_RUNNING) {
        fd = TIED_ERR_STATE;
    } else {
        if (request->cancel_fd < 0)
            request->cancel_fd =
                eventfd (tied_request_is_cancelled (request), EFD_CLOEXEC | EFD_NONBLOCK);
        fd = request->cancel_fd < 0 ? TIED_ERR_SYSTEM : request->cancel_fd;
    }
    ti_engine_unlock (request->replica);
    return fd;
}

int tied_request_on_cancel (tied_request_t *request, tied_cancelled_fn *fn, void *arg)
{
    int rc = 0;

    if (!request || !fn)
        return TIED_ERR_INVAL;
    ti_engine_lock (request->replica);
    if (request->state != TI_REQUEST_RUNNING) {
        rc = TIED_ERR_STATE;
    } else {
        request->on_cancel = fn;
        request->on_cancel_arg = arg;
        if (tied_request_is_cancelled (request))
            fn (request, arg);
    }
    ti_engine_unlock (request->replica);
    return rc;
}

/* The answer has used the client socket: somebody has to look at what else it brought. */
static void settle_after_answer (tied_replica_t *self)
{
    bool is_serving = ti_is_serving (self);

    if (self->options.service != TIED_SERVICE_INLINE)
        ti_replica_settle (self, is_serving);
    else if (!is_serving)
        ti_loop_kick (self->loop);
}

static int answer (tied_request_t *request, uint32_t status, const void *body, size_t size)
{
    tied_replica_t *self;
    int rc = 0;

    if (!request || (!body && size > 0))
        return TIED_ERR_INVAL;
    self = request->replica;
    if (size > self->options.body_max)
        return TIED_ERR_TOOBIG;
    ti_engine_lock (self);
    if (request->state != TI_REQUEST_RUNNING) {
        rc = TIED_ERR_STATE;
    } else {
        struct tied_replica_event finish = {.type = TIED_REPLICA_EV_FINISH,
                                            .u.finish.slot = request->slot};
        request->status = status;
        request->answer = (struct tied_view){body, size};
        rc = ti_replica_step (self, &finish);
        TI_ASSERT (rc == 0);
        if (self->options.observe)
            ti_observe_finish (request);
        ti_keys_finished (self, request);
        ti_request_free (request);
        settle_after_answer (self);
    }
    ti_engine_unlock (self);
    return rc;
}

int tied_request_reply (tied_request_t *request, const void *body, size_t size)
{
    return answer (request, 0, body, size);
}

int tied_request_fail (tied_request_t *request, uint32_t status, const void *body, size_t size)
{
    if (status == 0 || status >= TIED_STATUS_KEY_REUSED)
        return TIED_ERR_INVAL;
    return answer (request, status, body, size);
}
