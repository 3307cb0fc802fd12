/* SPDX-License-Identifier: MIT */
/*
 * When the client's own thread has to take the free seat. Callers that wait do the work themselves,
 * so it keeps out of their way: it looks again only GRACE after a caller was last at work.
 */
#include "base/util.h"
#include "client_internal.h"

/* Calls are under way and the callers have stopped working for so long: the thread steps in. */
#define GRACE TIED_MS (1)

/* When the thread has to take the free seat, as things are now. */
tied_time_t ti_duty_time (const tied_client_t *self)
{
    if (self->event_fd >= 0)
        return 0;
    if (tied_client_core_live_calls (self->core) > 0)
        return ti_time_add (self->caller_seen, GRACE);
    return ti_time_add (self->caller_seen, TI_CLIENT_IDLE);
}

void ti_duty_nudge (tied_client_t *self, tied_time_t now)
{
    tied_time_t duty;

    if (!self->has_thread || !self->thread_sleeps || self->waiters)
        return;
    if (tied_client_core_live_calls (self->core) == 0)
        return;
    duty = ti_max (ti_duty_time (self), now);
    if (duty < self->thread_wakes_at)
        pthread_cond_signal (&self->thread_cond);
}
