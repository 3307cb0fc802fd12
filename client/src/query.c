/* SPDX-License-Identifier: MIT */
/* What can be asked of a client object: its descriptor, its counters, its replicas. */
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

static int open_event_fd (tied_client_t *self)
{
    int fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0)
        return TIED_ERR_SYSTEM;
    self->event_fd = fd;
    ti_engine_show_queue (self);
    return 0;
}

/* The loop's own descriptor reports work to do, the event completions to collect: the host gets
   one descriptor for both. */
static int open_host_fd (tied_client_t *self)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd = epoll_create1 (EPOLL_CLOEXEC);

    if (fd >= 0 && epoll_ctl (fd, EPOLL_CTL_ADD, self->event_fd, &event) == 0 &&
        epoll_ctl (fd, EPOLL_CTL_ADD, ti_loop_fd (self->loop), &event) == 0) {
        self->host_fd = fd;
        return 0;
    }
    if (fd >= 0)
        close (fd);
    return TIED_ERR_SYSTEM;
}

int tied_client_fd (tied_client_t *self)
{
    bool is_caller;
    int rc = 0;

    if (!self)
        return TIED_ERR_INVAL;
    is_caller = self->options.drive == TIED_DRIVE_CALLER;
    pthread_mutex_lock (&self->lock);
    if (self->event_fd < 0)
        rc = open_event_fd (self);
    if (rc == 0 && is_caller && self->host_fd < 0)
        rc = open_host_fd (self);
    if (rc == 0) {
        rc = is_caller ? self->host_fd : self->event_fd;
        if (self->state == TI_CLIENT_STARTED)
            ti_engine_settle (self);
    }
    pthread_mutex_unlock (&self->lock);
    return rc;
}

static void fill_stats (const tied_client_t *self, struct tied_client_stats *out)
{
    out->core = *tied_client_core_counters (self->core);
#define TIED_CLIENT_IO_COPY_(name) out->name = self->io.name;
    TIED_CLIENT_IO_COUNTER_MAP (TIED_CLIENT_IO_COPY_)
#undef TIED_CLIENT_IO_COPY_
    out->live_calls = tied_client_core_live_calls (self->core);
    out->copies_in_flight = tied_client_core_copies_in_flight (self->core);
}

int tied_client_stats (tied_client_t *self, struct tied_client_stats *out)
{
    struct tied_client_stats stats;
    size_t size;

    if (!self || !out || out->struct_size < sizeof out->struct_size)
        return TIED_ERR_INVAL;
    memset (&stats, 0, sizeof stats);
    size = ti_min (out->struct_size, sizeof stats);
    stats.struct_size = out->struct_size;
    pthread_mutex_lock (&self->lock);
    fill_stats (self, &stats);
    pthread_mutex_unlock (&self->lock);
    memcpy (out, &stats, size);
    return 0;
}

int tied_client_replica (tied_client_t *self, const char *id, struct tied_client_replica *out)
{
    const struct ti_client_link *link;
    int rc = TIED_ERR_ABSENT;

    if (!self || !id || !out)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    link = ti_client_find_link (self, id);
    if (link)
        rc = tied_client_core_replica (self->core, (uint32_t)(link - self->links), out);
    pthread_mutex_unlock (&self->lock);
    return rc;
}
