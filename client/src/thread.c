/* SPDX-License-Identifier: MIT */
/*
 * The thread of the THREADED drive: it polls when nobody else does and somebody has to, because
 * calls are under way that no thread waits for, or because the client has been left alone (its
 * heartbeats then go on, and no processor time is used in between).
 *
 * It gives the seat up when a caller asks for it. When it has to take it says duty.c.
 */
#include <signal.h>
#include <sys/prctl.h>

#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

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

    (void)prctl (PR_SET_NAME, "tied-client");
    pthread_mutex_lock (&self->lock);
    while (self->state == TI_CLIENT_STARTED) {
        tied_time_t now = ti_clock_now ();

        if (self->seat != TI_SEAT_FREE || self->waiters) {
            sleep_until (self, ti_time_add (now, TI_CLIENT_IDLE));
        } else if (ti_duty_time (self) > now) {
            sleep_until (self, ti_min (ti_duty_time (self), ti_time_add (now, TI_CLIENT_IDLE)));
        } else {
            self->seat = TI_SEAT_THREAD;
            ti_seat_turn (self, NULL, TIED_NEVER);
            self->seat = TI_SEAT_FREE;
            ti_waiters_hand_over (self);
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
