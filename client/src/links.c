/* SPDX-License-Identifier: MIT */
/*
 * Looking after the links: which of them were used and need a look, and reading them, in bounded
 * pieces. What a message means is receive.c's business.
 */
#include <string.h>

#include "client_internal.h"
#include "zmq/clock.h"

/* Messages taken from one link before the others and the timers get their turn. */
#define BATCH 256

/* Take what is there, up to the bound. @return messages taken */
static uint32_t receive (tied_client_t *self, uint32_t replica, tied_time_t now)
{
    struct ti_link *link = &self->links[replica].link;
    uint32_t taken = 0;

    for (; taken < BATCH; taken++) {
        struct ti_envelope envelope;
        enum ti_recv got = ti_link_recv (link, &envelope);

        if (got == TI_RECV_NONE)
            break;
        if (got == TI_RECV_MULTIPART) {
            self->io.frames_received++;
            self->io.multipart++;
            continue;
        }
        ti_engine_on_envelope (self, replica, &envelope, now);
        ti_envelope_close (&envelope);
        /* To find out that there is no more would cost another look at the socket; the one that is
           due before the next wait tells as well. */
        if (ti_waiters_are_done (self))
            return taken + 1;
    }
    return taken;
}

/* True when the last look found nothing to read: the next edge of the descriptor will be seen. */
static bool read_link (tied_client_t *self, uint32_t replica, tied_time_t now)
{
    struct ti_link *link = &self->links[replica].link;

    for (uint32_t taken = 0;;) {
        unsigned bits = ti_link_update (link, now);

        if (bits & TI_LINK_DOWN)
            ti_engine_on_link (self, replica, TIED_CLIENT_EV_LINK_DOWN, now);
        if (bits & TI_LINK_UP)
            ti_engine_on_link (self, replica, TIED_CLIENT_EV_LINK_UP, now);
        if (!(bits & TI_LINK_READABLE))
            return true;
        if (taken >= BATCH)
            return false;
        taken += receive (self, replica, now);
    }
}

static void serve_used (tied_client_t *self, uint32_t replica, tied_time_t now)
{
    struct ti_client_link *link = &self->links[replica];
    bool is_drained;

    /* What is sent on this link meanwhile needs no mark: the last look comes after it. */
    link->is_dirty = true;
    is_drained = read_link (self, replica, now);
    link->is_dirty = false;
    if (!is_drained)
        ti_engine_mark_dirty (self, replica);
}

void ti_engine_serve (tied_client_t *self, uint32_t replica, tied_time_t now)
{
    /* Most edges bring messages. The look at the link that has to come last is then left to the
       dirty list: mostly something is sent soon, and one look serves both. */
    if (self->links[replica].link.is_up && receive (self, replica, now) > 0)
        ti_engine_mark_dirty (self, replica);
    else if (!self->links[replica].is_dirty)
        serve_used (self, replica, now);
}

void ti_engine_serve_dirty (tied_client_t *self, tied_time_t now)
{
    /* What is served may make other links dirty, and a link that has more stays dirty: one pass
       over those that are there now. */
    for (uint32_t left = self->dirty_count; left > 0; left--) {
        uint32_t replica = self->dirty[0];

        self->dirty_count--;
        memmove (self->dirty, self->dirty + 1, self->dirty_count * sizeof *self->dirty);
        self->links[replica].is_dirty = false;
        serve_used (self, replica, now);
    }
}

void ti_engine_settle (tied_client_t *self)
{
    bool is_hosted = self->host_fd >= 0;

    if (self->state != TI_CLIENT_STARTED || !(self->is_polling || is_hosted))
        return;
    if (self->dirty_count > 0)
        ti_engine_serve_dirty (self, ti_clock_now ());
    if (self->dirty_count > 0 ||
        (self->is_polling && tied_client_core_deadline (self->core) < self->poll_until))
        ti_loop_kick (self->loop);
    if (is_hosted)
        ti_loop_arm (self->loop, tied_client_core_deadline (self->core));
}

void ti_engine_leave (tied_client_t *self)
{
    ti_engine_settle (self);
    pthread_mutex_unlock (&self->lock);
}
