/* SPDX-License-Identifier: MIT */
/*
 * The leader's seat. Whoever waits for something may take the free seat, and then polls and works
 * for everybody: answers of other threads' calls are completed on the way and their threads
 * woken. So a thread that waits for its own answer gets it without a hop through another thread.
 * When the leader has what it came for it hands the seat to a thread that still waits.
 */
#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

/* Tags taken from one wait; what does not fit stays readable. */
#define TAGS 32

void ti_seat_turn (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until)
{
    uint32_t tags[TAGS];
    tied_time_t now = ti_clock_now ();
    int count;

    ti_engine_serve_dirty (self, now);
    ti_engine_run_timers (self, now);
    if (waiter && ti_waiter_is_satisfied (self, waiter))
        return;
    self->poll_until = ti_min (until, tied_client_core_deadline (self->core));
    if (self->dirty_count > 0)
        self->poll_until = now;
    self->is_polling = true;
    pthread_mutex_unlock (&self->lock);
    count = ti_loop_wait (self->loop, self->poll_until <= now ? 0 : self->poll_until, tags, TAGS);
    pthread_mutex_lock (&self->lock);
    self->is_polling = false;

    now = ti_clock_now ();
    if (waiter)
        self->caller_seen = now;
    for (int i = 0; i < count; i++)
        ti_engine_serve (self, tags[i], now);
    ti_engine_run_timers (self, now);
}

static void lead (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until)
{
    TI_ASSERT (self->seat == TI_SEAT_FREE);
    self->seat = TI_SEAT_CALLER;
    self->leader = waiter;
    ti_seat_turn (self, waiter, until);
    self->leader = NULL;
    self->seat = TI_SEAT_FREE;
}

/* Another thread polls: sleep until it calls. */
static void follow (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until)
{
    /* The client's own thread gives way; its turn ends with the kick. */
    if (self->seat == TI_SEAT_THREAD && self->is_polling)
        ti_loop_kick (self->loop);
    if (!waiter->has_cond) {
        pthread_cond_init (&waiter->cond, &self->monotonic);
        waiter->has_cond = true;
    }
    if (until == TIED_NEVER) {
        pthread_cond_wait (&waiter->cond, &self->lock);
    } else {
        struct timespec ts = {.tv_sec = (time_t)(until / TIED_S (1)),
                              .tv_nsec = (long)(until % TIED_S (1))};
        pthread_cond_timedwait (&waiter->cond, &self->lock, &ts);
    }
    waiter->is_called = false;
}

int ti_seat_wait (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until, tied_time_t now)
{
    bool is_done;

    ti_waiters_enlist (self, waiter);
    for (bool is_first = true;; is_first = false) {
        is_done = ti_waiter_is_satisfied (self, waiter);
        if (is_done || (!is_first && until <= (now = ti_clock_now ())))
            break;
        if (self->seat == TI_SEAT_FREE)
            lead (self, waiter, until);
        else if (until > now)
            follow (self, waiter, until);
    }
    ti_waiters_delist (self, waiter);
    if (waiter->has_cond)
        pthread_cond_destroy (&waiter->cond);
    waiter->has_cond = false;
    waiter->is_called = false;
    self->caller_seen = ti_max (self->caller_seen, now);
    /* A leader has been told of all completions that came in its turn, and takes one. */
    if (waiter->kind == TI_WAIT_QUEUE && is_done && self->calls.queue_count > 1)
        ti_waiters_call_for_queue (self);
    ti_waiters_hand_over (self);
    if (!self->waiters) {
        ti_duty_nudge (self, now);
        if (self->state != TI_CLIENT_STARTED)
            pthread_cond_broadcast (&self->idle);
    }
    return is_done ? 0 : TIED_ERR_TIMEOUT;
}
