/* SPDX-License-Identifier: MIT */
#include "zmq/link.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Less than RECONNECT_IVL: the monitor need not be asked more often to miss no reconnect. By the
   time since it was asked, not since the last look: a thread can be held up between its reading of
   the clock and its look, and under load the looks never stop. */
#define ASK_AFTER TIED_MS (15)

static int open_monitor (struct ti_link *self, void *context)
{
    static atomic_uint_fast64_t count; /* inproc names are per context and must differ */
    char name[64];

    (void)snprintf (name, sizeof name, "inproc://tied-link-%llu",
                    (unsigned long long)atomic_fetch_add (&count, 1));
    self->monitor = ti_sock_monitor (self->sock, context, name, ZMQ_EVENT_DISCONNECTED);
    return self->monitor ? 0 : TIED_ERR_SYSTEM;
}

int ti_link_open (struct ti_link *self,
                  void *context,
                  const char *endpoint,
                  const struct ti_sock_options *options)
{
    struct ti_sock_options dealer = *options;
    int rc = TIED_ERR_SYSTEM;

    memset (self, 0, sizeof *self);
    dealer.type = ZMQ_DEALER;
    self->sock = ti_sock_new (context, &dealer);
    if (self->sock) {
        self->fd = ti_sock_fd (self->sock);
        rc = self->fd < 0 ? TIED_ERR_SYSTEM : open_monitor (self, context);
        if (rc == 0)
            rc = ti_sock_connect (self->sock, endpoint);
    }
    if (rc != 0)
        ti_link_close (self);
    return rc;
}

void ti_link_close (struct ti_link *self)
{
    if (self->sock)
        (void)zmq_socket_monitor (self->sock, NULL, 0);
    ti_sock_close (&self->monitor);
    ti_sock_close (&self->sock);
    self->fd = -1;
    self->is_up = false;
}

unsigned ti_link_update (struct ti_link *self, tied_time_t now)
{
    int events = ti_sock_events (self->sock);
    bool has_ended = events == ZMQ_POLLERR;
    bool is_up = (events & ZMQ_POLLOUT) != 0;
    bool was_up = self->is_up;
    bool is_asked = now - self->asked_at > ASK_AFTER || is_up != was_up;
    unsigned bits = (events & ZMQ_POLLIN) != 0 ? TI_LINK_READABLE : 0;

    if (has_ended)
        ti_link_close (self);
    self->is_up = is_up;
    if (is_asked)
        self->asked_at = now;
    if (is_asked && ti_sock_monitor_said (self->monitor) && was_up && is_up)
        return bits | TI_LINK_DOWN | TI_LINK_UP;
    if (was_up && !is_up)
        bits |= TI_LINK_DOWN;
    if (!was_up && is_up)
        bits |= TI_LINK_UP;
    return bits;
}

int ti_link_send (struct ti_link *self, struct tied_message *message, uint32_t inline_max)
{
    return ti_sock_send (self->sock, NULL, 0, message, inline_max);
}

enum ti_recv ti_link_recv (struct ti_link *self, struct ti_envelope *out)
{
    enum ti_recv got = ti_sock_recv (self->sock, false, out);

    return got == TI_RECV_ENDED ? TI_RECV_NONE : got; /* the next update sees to it */
}
