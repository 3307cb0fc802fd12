/* SPDX-License-Identifier: MIT */
/* How a replica leaves: drain, farewell, halt. */
#include <time.h>

#include "base/util.h"
#include "engine.h"
#include "zmq/clock.h"

static void close_sockets (tied_replica_t *self)
{
    for (uint32_t i = 0; i < self->peer_names.count; i++) {
        self->peers[i].is_greeted = false;
        ti_link_close (&self->peers[i].link);
    }
    ti_sock_close (&self->clients_sock);
    ti_sock_close (&self->peers_sock);
    self->dirty = 0;
    self->state = TI_REPLICA_STOPPED;
}

/* Threads leave, then the sockets close. Threads are joined once: who comes later waits. */
void ti_replica_halt (tied_replica_t *self)
{
    ti_engine_lock (self);
    if (self->is_stopping) {
        while (self->state != TI_REPLICA_STOPPED)
            (void)pthread_cond_wait (&self->changed, &self->lock);
        ti_engine_unlock (self);
        return;
    }
    self->is_stopping = true;
    (void)pthread_cond_broadcast (&self->changed);
    ti_loop_kick (self->loop);
    ti_engine_unlock (self);
    (void)ti_threads_join (self, ti_clock_now () + TI_DESTROY_BOUND);
    ti_engine_lock (self);
    close_sockets (self);
    (void)pthread_cond_broadcast (&self->changed);
    ti_engine_unlock (self);
}

static void begin_drain (tied_replica_t *self)
{
    static const struct tied_replica_event drain = {.type = TIED_REPLICA_EV_DRAIN, .u = {{0}}};

    if (self->is_draining)
        return;
    self->is_draining = true;
    (void)!ti_replica_step (self, &drain);
    ti_replica_settle (self, false);
    ti_loop_kick (self->loop);
}

int tied_replica_drain (tied_replica_t *self)
{
    int rc = TIED_ERR_STATE;

    if (!self)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    if (self->state == TI_REPLICA_RUNNING) {
        begin_drain (self);
        rc = 0;
    }
    ti_engine_unlock (self);
    return rc;
}

bool tied_replica_is_drained (tied_replica_t *self)
{
    bool is_drained;

    if (!self)
        return true;
    ti_engine_lock (self);
    is_drained = tied_replica_core_is_drained (self->core);
    ti_engine_unlock (self);
    return is_drained;
}

/* Drained, and the last answers have had time to be read. The latter is a courtesy, so it does not
   outlast the caller's patience. */
static bool is_ready_to_leave (tied_replica_t *self, tied_time_t until)
{
    bool is_ready;

    ti_engine_lock (self);
    is_ready = tied_replica_core_is_drained (self->core) &&
               self->now >= ti_min (until, ti_time_add (self->answered_at, TI_GOODBYE));
    ti_engine_unlock (self);
    return is_ready;
}

/* With the lock held. */
static void wait_for_change (tied_replica_t *self, tied_time_t until)
{
    struct timespec limit = {.tv_sec = (time_t)(until / TIED_S (1)),
                             .tv_nsec = (long)(until % TIED_S (1))};

    (void)(until == TIED_NEVER ? pthread_cond_wait (&self->changed, &self->lock)
                               : pthread_cond_timedwait (&self->changed, &self->lock, &limit));
    ti_engine_read_clock (self);
}

/* Another thread is inside tied_replica_poll () and does the work, perhaps in a handler: give it
   time, a little at once, for it may also wait there when all is done. false: the replica is
   stopped. */
static bool await_poller (tied_replica_t *self, tied_time_t until)
{
    bool is_running;

    ti_engine_lock (self);
    if (self->is_polling && self->now < until)
        wait_for_change (self, ti_min (until, ti_time_add (self->now, TIED_MS (10))));
    is_running = self->state == TI_REPLICA_RUNNING;
    ti_engine_unlock (self);
    return is_running;
}

/* Inline mode has nobody else to do the work that is left. */
static void work_off (tied_replica_t *self, tied_time_t until)
{
    tied_time_t now = ti_clock_now ();

    while (!is_ready_to_leave (self, until) && now < until) {
        if (tied_replica_poll (self, ti_min (until - now, TIED_MS (10))) < 0 &&
            !await_poller (self, until))
            return;
        now = ti_clock_now ();
    }
}

static void await_end (tied_replica_t *self, tied_time_t until)
{
    ti_engine_lock (self);
    while (self->now < until) {
        bool is_drained = tied_replica_core_is_drained (self->core);
        tied_time_t leave = ti_time_add (self->answered_at, TI_GOODBYE);
        tied_time_t wake = ti_min (until, is_drained ? leave : TIED_NEVER);

        if (is_drained && self->now >= leave)
            break;
        wait_for_change (self, wake);
    }
    ti_engine_unlock (self);
}

int tied_replica_stop (tied_replica_t *self, tied_duration_t timeout_ns)
{
    enum ti_replica_state state;
    tied_time_t until = ti_time_add (ti_clock_now (), timeout_ns);

    if (!self)
        return TIED_ERR_INVAL;
    if (ti_is_serving (self))
        return TIED_ERR_STATE;
    ti_engine_lock (self);
    state = self->state;
    if (state == TI_REPLICA_RUNNING)
        begin_drain (self);
    ti_engine_unlock (self);
    if (state == TI_REPLICA_RUNNING) {
        if (self->options.service == TIED_SERVICE_INLINE)
            work_off (self, until);
        else
            await_end (self, until);
        if (!tied_replica_is_drained (self))
            return TIED_ERR_TIMEOUT;
    }
    if (state != TI_REPLICA_STOPPED)
        ti_replica_halt (self);
    return 0;
}
