/* SPDX-License-Identifier: MIT */
#include "zmq/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "zmq/clock.h"

/* Tags of the loop's own descriptors; those of the user are below 1 << 32. */
#define TAG_WAKE  (UINT64_C (1) << 32)
#define TAG_TIMER (UINT64_C (1) << 33)

#define EVENTS_MAX 64

struct ti_loop {
    int epoll_fd;
    int wake_fd;
    int timer_fd;
    /* A kick is on its way: further ones need not write. Cleared by the waiter *after* it has read
       the eventfd, so that a kick in between is one that the waiter is already answering. */
    atomic_bool is_kicked;
    _Atomic tied_time_t armed; /* what timer_fd is set to; NEVER again when it has fired */
};

static int watch (struct ti_loop *self, int fd, uint64_t tag, uint32_t how)
{
    struct epoll_event event = {.events = EPOLLIN | how, .data.u64 = tag};

    return epoll_ctl (self->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : TIED_ERR_SYSTEM;
}

ti_loop_t *ti_loop_new (void)
{
    struct ti_loop *self = calloc (1, sizeof *self);

    if (!self)
        return NULL;
    atomic_init (&self->is_kicked, false);
    atomic_init (&self->armed, TIED_NEVER);
    self->epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    self->timer_fd = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (self->epoll_fd < 0 || self->wake_fd < 0 || self->timer_fd < 0 ||
        watch (self, self->wake_fd, TAG_WAKE, EPOLLET) != 0 ||
        watch (self, self->timer_fd, TAG_TIMER, EPOLLET) != 0)
        ti_loop_destroy (&self);
    return self;
}

void ti_loop_destroy (ti_loop_t **self_p)
{
    if (!self_p || !*self_p)
        return;
    struct ti_loop *self = *self_p;

    *self_p = NULL;
    if (self->timer_fd >= 0)
        close (self->timer_fd);
    if (self->wake_fd >= 0)
        close (self->wake_fd);
    if (self->epoll_fd >= 0)
        close (self->epoll_fd);
    free (self);
}

int ti_loop_add (ti_loop_t *self, int fd, uint32_t tag)
{
    return watch (self, fd, tag, 0);
}

int ti_loop_add_edge (ti_loop_t *self, int fd, uint32_t tag)
{
    return watch (self, fd, tag, EPOLLET);
}

void ti_loop_remove (ti_loop_t *self, int fd)
{
    struct epoll_event unused = {0};

    (void)epoll_ctl (self->epoll_fd, EPOLL_CTL_DEL, fd, &unused);
}

static struct timespec timespec_of (tied_duration_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / UINT64_C (1000000000)),
                             .tv_nsec = (long)(ns % UINT64_C (1000000000))};
}

/* For kernels before 5.11: the epoll descriptor is itself pollable, and ppoll counts nanoseconds.
 */
static int
wait_by_ppoll (int epoll_fd, struct epoll_event *events, int capacity, tied_duration_t ns)
{
    struct pollfd item = {.fd = epoll_fd, .events = POLLIN, .revents = 0};
    struct timespec ts = timespec_of (ns);
    int rc = ppoll (&item, 1, ns == TIED_NEVER ? NULL : &ts, NULL);

    return rc <= 0 ? rc : epoll_wait (epoll_fd, events, capacity, 0);
}

static int wait_events (int epoll_fd, struct epoll_event *events, int capacity, tied_duration_t ns)
{
    static atomic_bool has_no_pwait2;

    if (ns == 0 || ns == TIED_NEVER)
        return epoll_wait (epoll_fd, events, capacity, ns == 0 ? 0 : -1);
    if (!atomic_load_explicit (&has_no_pwait2, memory_order_relaxed)) {
        struct timespec ts = timespec_of (ns);
        int rc = epoll_pwait2 (epoll_fd, events, capacity, &ts, NULL);
        if (rc >= 0 || (errno != ENOSYS && errno != EPERM))
            return rc;
        atomic_store_explicit (&has_no_pwait2, true, memory_order_relaxed);
    }
    return wait_by_ppoll (epoll_fd, events, capacity, ns);
}

static void take_kick (struct ti_loop *self)
{
    uint64_t count;

    (void)!read (self->wake_fd, &count, sizeof count);
    atomic_exchange_explicit (&self->is_kicked, false, memory_order_acq_rel);
}

static void take_timer (struct ti_loop *self)
{
    uint64_t count;

    (void)!read (self->timer_fd, &count, sizeof count);
    atomic_store (&self->armed, TIED_NEVER);
}

int ti_loop_wait (ti_loop_t *self, tied_time_t until, uint32_t *out_tags, int capacity)
{
    struct epoll_event events[EVENTS_MAX];
    int count;
    int tags = 0;

    /* No more than can be handed out: an edge that was taken here and not handed out would never
       come again. */
    if (capacity > EVENTS_MAX)
        capacity = EVENTS_MAX;
    do {
        tied_duration_t ns =
            until == TIED_NEVER || until == 0 ? until : ti_time_sub (until, ti_clock_now ());
        count = wait_events (self->epoll_fd, events, capacity, ns);
    } while (count < 0 && errno == EINTR);

    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 == TAG_WAKE)
            take_kick (self);
        else if (events[i].data.u64 == TAG_TIMER)
            take_timer (self);
        else
            out_tags[tags++] = (uint32_t)events[i].data.u64;
    }
    return tags;
}

void ti_loop_kick (ti_loop_t *self)
{
    uint64_t one = 1;
    int saved = errno;

    if (!atomic_exchange_explicit (&self->is_kicked, true, memory_order_acq_rel))
        (void)!write (self->wake_fd, &one, sizeof one);
    errno = saved;
}

int ti_loop_fd (const ti_loop_t *self)
{
    return self->epoll_fd;
}

void ti_loop_arm (ti_loop_t *self, tied_time_t until)
{
    struct itimerspec when = {0};

    if (atomic_exchange (&self->armed, until) == until)
        return;
    /* All zeros disarms, so a time in the distant past becomes one nanosecond. */
    if (until != TIED_NEVER)
        when.it_value = timespec_of (until ? until : 1);
    (void)timerfd_settime (self->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}
