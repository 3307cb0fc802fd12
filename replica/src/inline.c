/* SPDX-License-Identifier: MIT */
/* The two interfaces in which the server's own threads do the work: pull and inline. */
#include "base/util.h"
#include "engine.h"
#include "zmq/clock.h"

/* Between two handlers the sockets are looked at when so many have run, or one took so long: what
   they cancel must not run. */
#define LOOK_EVERY 16
#define LOOK_AFTER TIED_US (20)
/* While handlers are shorter than that, they take turns with the receiving in small bites, so that
   client, I/O thread and handlers work side by side instead of one after the other. */
#define BITE 4

int tied_replica_next (tied_replica_t *self,
                       tied_duration_t timeout_ns,
                       tied_request_t **out_request)
{
    struct tied_request *request = NULL;
    int rc = TIED_ERR_STATE;

    if (!self || !out_request)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    if (self->options.service == TIED_SERVICE_PULL && self->state == TI_REPLICA_RUNNING) {
        request = ti_engine_next (self, ti_time_add (self->now, timeout_ns), true);
        if (request)
            rc = 0;
        else if (!self->is_stopping)
            rc = TIED_ERR_TIMEOUT;
    }
    ti_engine_unlock (self);
    if (request)
        *out_request = request;
    return rc;
}

/* Run what can run, at most batch_max. */
static int serve_some (tied_replica_t *self)
{
    uint32_t served = 0;
    uint32_t unseen = 0;

    while (served < self->options.batch_max && ti_engine_can_run (self)) {
        struct tied_request *request = ti_engine_take (self);
        tied_time_t before = self->now;
        if (!request)
            continue;
        ti_engine_unlock (self);
        ti_serve (request);
        ti_engine_lock (self);
        served++;
        self->bite = self->now - before > LOOK_AFTER
                         ? self->options.batch_max
                         : (uint32_t)ti_min (BITE, self->options.batch_max);
        if (++unseen >= LOOK_EVERY || self->now - before > LOOK_AFTER) {
            unseen = 0;
            self->dirty |= TI_DIRTY_PEERS | TI_DIRTY_CLIENTS;
            ti_engine_turn (self, true);
        }
    }
    return (int)served;
}

static int poll_until (tied_replica_t *self, tied_time_t until)
{
    bool has_looked = false; /* at the loop, also when there is no time to wait */
    uint32_t turns = 0;
    int served = 0;

    for (;;) {
        ti_engine_turn (self, true);
        served += serve_some (self);
        if (self->is_stopping || served >= (int)self->options.batch_max)
            break;
        if (self->dirty != 0 || ti_engine_can_run (self)) {
            if (ti_engine_is_flooded (self, until, ++turns))
                break;
            continue;
        }
        if (served > 0 || (has_looked && self->now >= until))
            break;
        ti_engine_wait (self, until, true);
        has_looked = true;
    }
    if (self->dirty != 0 || ti_engine_can_run (self))
        ti_loop_kick (self->loop);
    ti_engine_arm (self, ti_engine_deadline (self));
    return served;
}

int tied_replica_poll (tied_replica_t *self, tied_duration_t timeout_ns)
{
    int rc = TIED_ERR_STATE;

    if (!self)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    if (self->options.service == TIED_SERVICE_INLINE && self->state == TI_REPLICA_RUNNING &&
        !self->is_polling) {
        self->is_polling = true;
        rc = poll_until (self, ti_time_add (self->now, timeout_ns));
        self->is_polling = false;
        /* Who stops the replica waits for this. */
        (void)pthread_cond_broadcast (&self->changed);
    }
    ti_engine_unlock (self);
    return rc;
}

int tied_replica_fd (tied_replica_t *self)
{
    if (!self)
        return TIED_ERR_INVAL;
    return self->options.service == TIED_SERVICE_INLINE ? ti_loop_fd (self->loop) : TIED_ERR_STATE;
}
