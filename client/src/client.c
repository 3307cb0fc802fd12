/* SPDX-License-Identifier: MIT */
/* Life of a client object: creation, replicas, start, stop, end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/util.h"
#include "client_internal.h"
#include "text/id.h"
#include "zmq/clock.h"
#include "zmq/panic.h"

/* Frames up to here are read, so that a body over body_max is one dropped message and not a dropped
   connection; what is larger than any valid message is libzmq's to refuse. */
#define FRAME_MAX ((INT64_C (64) << 20) + TIED_WIRE_HEADER_MAX)
/* Copies and control messages that may wait for one replica's connection: each live call can have
   a request and a cancel there. */
#define HWM_BASE 1000
/* stop () in destroy (). */
#define DESTROY_NS TIED_MS (300)

static bool make_context (tied_client_t *self)
{
    int sockets = (int)(self->options.core.replicas_max * TI_LINK_SOCKETS + 64);

    self->context = self->options.zmq_context;
    if (self->context)
        return true;
    self->context = zmq_ctx_new ();
    self->owns_context = self->context != NULL;
    return self->context && zmq_ctx_set (self->context, ZMQ_MAX_SOCKETS, sockets) == 0;
}

static bool make_tables (tied_client_t *self)
{
    const struct tied_client_core_options *core = &self->options.core;
    size_t core_size = tied_client_core_size (core);

    self->failures_max = core->calls_max * core->copies_max;
    self->failures = calloc (self->failures_max, sizeof *self->failures);
    self->links = calloc (core->replicas_max, sizeof *self->links);
    self->dirty = calloc (core->replicas_max, sizeof *self->dirty);
    self->core_memory = malloc (core_size);
    if (!self->failures || !self->links || !self->dirty || !self->core_memory)
        return false;
    self->core = tied_client_core_init (self->core_memory, core_size, core);
    return self->core && ti_client_methods_init (&self->methods, core->methods_max) == 0 &&
           ti_client_calls_init (&self->calls, core->calls_max) == 0;
}

static void free_client (tied_client_t *self)
{
    for (uint32_t i = 0; i < self->links_count; i++)
        ti_link_close (&self->links[i].link);
    if (self->owns_context)
        while (zmq_ctx_term (self->context) != 0 && zmq_errno () == EINTR)
            continue;
    if (self->host_fd >= 0)
        close (self->host_fd);
    if (self->event_fd >= 0)
        close (self->event_fd);
    ti_loop_destroy (&self->loop);
    ti_client_calls_deinit (&self->calls);
    ti_client_methods_deinit (&self->methods);
    free (self->failures);
    free (self->links);
    free (self->dirty);
    free (self->core_memory);
    pthread_cond_destroy (&self->thread_cond);
    pthread_cond_destroy (&self->idle);
    pthread_condattr_destroy (&self->monotonic);
    pthread_mutex_destroy (&self->lock);
    free (self);
}

tied_client_t *tied_client_new (const struct tied_client_options *options)
{
    tied_client_t *self = calloc (1, sizeof *self);

    if (!self)
        return NULL;
    ti_panic_install ();
    if (ti_client_options_import (options, &self->options) != 0) {
        free (self);
        return NULL;
    }
    memcpy (self->name, self->options.name, strlen (self->options.name));
    self->options.name = self->name;
    self->event_fd = -1;
    self->host_fd = -1;
    pthread_mutex_init (&self->lock, NULL);
    pthread_condattr_init (&self->monotonic);
    pthread_condattr_setclock (&self->monotonic, CLOCK_MONOTONIC);
    pthread_cond_init (&self->thread_cond, &self->monotonic);
    pthread_cond_init (&self->idle, &self->monotonic);
    self->loop = ti_loop_new ();
    if (!self->loop || !make_tables (self) || !make_context (self)) {
        free_client (self);
        return NULL;
    }
    return self;
}

struct ti_client_link *ti_client_find_link (tied_client_t *self, const char *id)
{
    for (uint32_t i = 0; i < self->links_count; i++) {
        if (strcmp (self->links[i].id, id) == 0)
            return &self->links[i];
    }
    return NULL;
}

static uint32_t high_water_mark (const tied_client_t *self)
{
    return HWM_BASE + 2 * self->options.core.calls_max;
}

static int add_link (tied_client_t *self, const char *id, const char *endpoint)
{
    struct ti_sock_options options = {.type = ZMQ_DEALER,
                                      .send_hwm = high_water_mark (self),
                                      .recv_hwm = high_water_mark (self),
                                      .frame_max = FRAME_MAX};
    struct ti_client_link *link = &self->links[self->links_count];
    int rc;

    if (self->links_count == self->options.core.replicas_max)
        return TIED_ERR_FULL;
    rc = ti_link_open (&link->link, self->context, endpoint, &options);
    if (rc != 0)
        return rc;
    rc = ti_loop_add (self->loop, link->link.fd, self->links_count);
    if (rc != 0) {
        ti_link_close (&link->link);
        return rc;
    }
    link->body_max = UINT32_MAX;
    link->id_size = strlen (id);
    memcpy (link->id, id, link->id_size);
    rc = tied_client_core_add_replica (self->core);
    TI_ASSERT (rc == (int)self->links_count);
    /* Of the id, so that all clients send a key to the same replica. */
    rc = tied_client_core_set_identity (self->core, self->links_count, ti_hash_text (id));
    TI_ASSERT (rc == 0);
    ti_engine_mark_dirty (self, self->links_count);
    self->links_count++;
    return 0;
}

int tied_client_add_replica (tied_client_t *self, const char *id, const char *endpoint)
{
    int rc;

    if (!self || !ti_is_id (id) || !endpoint || !*endpoint)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    if (self->state != TI_CLIENT_NEW)
        rc = TIED_ERR_STATE;
    else if (ti_client_find_link (self, id))
        rc = TIED_ERR_EXISTS;
    else
        rc = add_link (self, id, endpoint);
    pthread_mutex_unlock (&self->lock);
    return rc;
}

int tied_client_set_zone (tied_client_t *self, const char *id, const char *zone)
{
    const struct ti_client_link *link;
    uint32_t number = 0;
    int rc = TIED_ERR_ABSENT;

    if (!self || !id || (zone && !ti_is_id (zone)))
        return TIED_ERR_INVAL;
    /* Two names with the same number would be one zone, which is only a wish not granted. */
    if (zone)
        number = (uint32_t)ti_max (ti_hash_text (zone) >> 32, 1);
    pthread_mutex_lock (&self->lock);
    link = ti_client_find_link (self, id);
    if (link)
        rc = tied_client_core_set_zone (self->core, (uint32_t)(link - self->links), number);
    pthread_mutex_unlock (&self->lock);
    return rc;
}

int tied_client_start (tied_client_t *self)
{
    int rc = 0;

    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    if (self->state != TI_CLIENT_NEW) {
        rc = TIED_ERR_STATE;
    } else {
        /* The thread waits for the lock, so it sees the new state. */
        self->state = TI_CLIENT_STARTED;
        if (self->options.drive == TIED_DRIVE_THREADED)
            rc = ti_thread_start (self);
        if (rc != 0)
            self->state = TI_CLIENT_NEW;
    }
    pthread_mutex_unlock (&self->lock);
    return rc;
}

/* Wait until nobody is inside a waiting function and the thread has gone. */
static void empty_the_house (tied_client_t *self)
{
    bool has_thread = self->has_thread;

    ti_waiters_wake_all (self);
    self->has_thread = false;
    if (has_thread) {
        pthread_cond_signal (&self->thread_cond);
        pthread_mutex_unlock (&self->lock);
        pthread_join (self->thread, NULL);
        pthread_mutex_lock (&self->lock);
    }
    while (self->waiters || self->seat != TI_SEAT_FREE)
        pthread_cond_wait (&self->idle, &self->lock);
}

/* Closing hands the rest of what was sent to libzmq, which keeps trying for the linger time; the
   end of the context waits for it. */
static void close_links (tied_client_t *self, tied_duration_t timeout_ns)
{
    int linger_ms = (int)(ti_min (timeout_ns, DESTROY_NS) / TIED_MS (1));

    for (uint32_t i = 0; i < self->links_count; i++) {
        struct ti_link *link = &self->links[i].link;

        ti_loop_remove (self->loop, link->fd);
        (void)zmq_setsockopt (link->sock, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
        ti_link_close (link);
    }
    if (self->owns_context) {
        while (zmq_ctx_term (self->context) != 0 && zmq_errno () == EINTR)
            continue;
        self->owns_context = false;
    }
}

static void shut_down (tied_client_t *self, tied_duration_t timeout_ns)
{
    struct tied_client_event event = {.type = TIED_CLIENT_EV_STOP};
    tied_time_t now = ti_clock_now ();
    int rc;

    self->state = TI_CLIENT_STOPPING;
    rc = ti_engine_step (self, &event, now);
    TI_ASSERT (rc == 0);
    /* The core ends a bounded number of calls per step. */
    while (tied_client_core_live_calls (self->core) > 0)
        ti_engine_run_timers (self, now);
    empty_the_house (self);
    close_links (self, timeout_ns);
    self->state = TI_CLIENT_STOPPED;
    pthread_cond_broadcast (&self->idle);
}

int tied_client_stop (tied_client_t *self, tied_duration_t timeout_ns)
{
    if (!self)
        return TIED_ERR_INVAL;
    pthread_mutex_lock (&self->lock);
    switch (self->state) {
    case TI_CLIENT_NEW:
        close_links (self, 0);
        self->state = TI_CLIENT_STOPPED;
        break;
    case TI_CLIENT_STARTED:
        shut_down (self, timeout_ns);
        break;
    case TI_CLIENT_STOPPING:
    case TI_CLIENT_STOPPED:
        while (self->state != TI_CLIENT_STOPPED)
            pthread_cond_wait (&self->idle, &self->lock);
        break;
    }
    pthread_mutex_unlock (&self->lock);
    return 0;
}

void tied_client_destroy (tied_client_t **self_p)
{
    if (!self_p || !*self_p)
        return;
    (void)!tied_client_stop (*self_p, DESTROY_NS);
    free_client (*self_p);
    *self_p = NULL;
}
