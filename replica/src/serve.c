/* SPDX-License-Identifier: MIT */
/* The threads of a replica, and the call of a handler. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "engine.h"

static _Thread_local const tied_replica_t *serving;

bool ti_is_serving (const tied_replica_t *self)
{
    return serving == self;
}

void ti_serve (struct tied_request *request)
{
    tied_replica_t *self = request->replica;
    const struct ti_method *method = &self->methods[request->method];
    const tied_replica_t *outer = serving;

    serving = self;
    method->fn (request, method->arg);
    serving = outer;
}

/* The last thing a thread does with the lock held. */
static void leave (tied_replica_t *self)
{
    self->threads_alive--;
    (void)pthread_cond_broadcast (&self->changed);
    ti_engine_unlock (self);
    ti_replica_unref (self);
}

static void *worker (void *arg)
{
    tied_replica_t *self = arg;
    struct tied_request *request;

    (void)prctl (PR_SET_NAME, "tied-worker");
    ti_engine_lock (self);
    while ((request = ti_engine_next (self, TIED_NEVER, true)) != NULL) {
        self->handling++;
        ti_engine_unlock (self);
        ti_serve (request);
        ti_engine_lock (self);
        self->handling--;
    }
    leave (self);
    return NULL;
}

/* Pull mode: admits and rejects while all of the server's threads are busy. */
static void *helper (void *arg)
{
    tied_replica_t *self = arg;

    (void)prctl (PR_SET_NAME, "tied-replica");
    ti_engine_lock (self);
    (void)ti_engine_next (self, TIED_NEVER, false);
    leave (self);
    return NULL;
}

int ti_threads_start (tied_replica_t *self)
{
    uint32_t wanted = 0;
    void *(*body) (void *) = worker;
    sigset_t all;
    sigset_t before;
    int rc = 0;

    if (self->options.service == TIED_SERVICE_POOL)
        wanted = self->options.core.workers + 1; /* one is left to refuse when all are busy */
    if (self->options.service == TIED_SERVICE_PULL) {
        wanted = 1;
        body = helper;
    }
    if (wanted == 0)
        return 0;
    self->threads = calloc (wanted, sizeof *self->threads);
    if (!self->threads)
        return TIED_ERR_NOMEM;
    /* Signals belong to the host: our threads inherit a mask that blocks all of them. */
    (void)sigfillset (&all);
    (void)pthread_sigmask (SIG_SETMASK, &all, &before);
    ti_engine_lock (self); /* none gets to work before all are counted */
    while (rc == 0 && self->threads_count < wanted) {
        rc = pthread_create (&self->threads[self->threads_count], NULL, body, self);
        if (rc == 0) {
            atomic_fetch_add (&self->references, 1);
            self->threads_alive++;
            self->threads_count++;
        }
    }
    ti_engine_unlock (self);
    (void)pthread_sigmask (SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : TIED_ERR_SYSTEM;
}

bool ti_threads_join (tied_replica_t *self, tied_time_t until)
{
    struct timespec limit = {.tv_sec = (time_t)(until / TIED_S (1)),
                             .tv_nsec = (long)(until % TIED_S (1))};
    bool all;

    ti_engine_lock (self);
    /* In INLINE the thread to wait for is the host's own, inside tied_replica_poll (). */
    while ((self->threads_alive > 0 || self->is_polling) &&
           pthread_cond_timedwait (&self->changed, &self->lock, &limit) == 0) {
    }
    all = self->threads_alive == 0;
    ti_engine_unlock (self);
    for (uint32_t i = 0; i < self->threads_count; i++)
        (void)(all ? pthread_join (self->threads[i], NULL) : pthread_detach (self->threads[i]));
    return all;
}
