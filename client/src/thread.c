/* SPDX-License-Identifier: MIT */
/*
 * The thread of the THREADED drive: it polls when nobody else does and somebody has to, because
 * calls are under way that no thread waits for, or because the client has been left alone (its
 * heartbeats then go on, and no processor time is used in between).
 *
 * Callers that wait do the work themselves, so this thread keeps out of their way: it looks again
 * only GRACE after a caller was last at work, and gives the seat up when a caller asks for it.
 */
#include <signal.h>

#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

/* Calls are under way and the callers have stopped working for so long: the thread steps in. */
#define GRACE TIED_MS (1)
/* Nothing is under way: the client counts as left alone after this. */
#define IDLE TIED_MS (20)

/* When the thread has to take the free seat, as things are now. */
static tied_time_t duty_time (const tied_client_t *self)
{
    if (self->event_fd >= 0)
        return 0;
    if (tied_client_core_live_calls (self->core) > 0)
        return ti_time_add (self->caller_seen, GRACE);
    return ti_time_add (self->caller_seen, IDLE);
}

static void sleep_until (tied_client_t *self, tied_time_t until)
{
    struct timespec ts = {.tv_sec = (time_t)(until / TIED_S (1)),
                          .tv_nsec = (long)(until % TIED_S (1))};

    self->thread_sleeps = true;
    self->thread_wakes_at = until;
    pthread_cond_timedwait (&self->thread_cond, &self->lock, &ts);
    self->thread_sleeps = false;
}

static void *run (void *arg)
{
    tied_client_t *self = arg;

    pthread_mutex_lock (&self->lock);
    while (self->state == TI_CLIENT_STARTED) {
        tied_time_t now = ti_clock_now ();

        if (self->seat != TI_SEAT_FREE || self->waiters) {
            sleep_until (self, ti_time_add (now, IDLE));
        } else if (duty_time (self) > now) {
            sleep_until (self, ti_min (duty_time (self), ti_time_add (now, IDLE)));
        } else {
            self->seat = TI_SEAT_THREAD;
            ti_seat_turn (self, NULL, TIED_NEVER);
            self->seat = TI_SEAT_FREE;
            ti_seat_hand_over (self);
        }
    }
    pthread_mutex_unlock (&self->lock);
    return NULL;
}

int ti_thread_start (tied_client_t *self)
{
    sigset_t all, before;
    int rc;

    /* Signals are the host's: this thread takes none of them. */
    sigfillset (&all);
    if (pthread_sigmask (SIG_SETMASK, &all, &before) != 0)
        return TIED_ERR_SYSTEM;
    rc = pthread_create (&self->thread, NULL, run, self);
    (void)pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return TIED_ERR_SYSTEM;
    self->has_thread = true;
    return 0;
}

void ti_thread_nudge (tied_client_t *self, tied_time_t now)
{
    tied_time_t duty;

    if (!self->has_thread || !self->thread_sleeps || self->waiters)
        return;
    if (tied_client_core_live_calls (self->core) == 0)
        return;
    duty = ti_max (duty_time (self), now);
    if (duty < self->thread_wakes_at)
        pthread_cond_signal (&self->thread_cond);
}
