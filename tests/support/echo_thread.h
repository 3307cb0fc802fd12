/* SPDX-License-Identifier: MIT */
/* A fake replica that echoes on a thread of its own, for tests whose client blocks or has threads.
 */
#ifndef TIED_TEST_ECHO_THREAD_H
#define TIED_TEST_ECHO_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "fake_replica.h"

struct echo_thread {
    struct fake_replica *replica;
    pthread_t thread;
    atomic_bool is_ending;
    atomic_bool is_silent; /* asked to hear everything and answer no request */
    atomic_bool is_quiet;  /* does so */
};

static inline void *echo_thread_run (void *arg)
{
    struct echo_thread *self = arg;

    while (!atomic_load (&self->is_ending)) {
        bool is_silent = atomic_load (&self->is_silent);

        self->replica->does_echo = !is_silent;
        atomic_store (&self->is_quiet, is_silent);
        fake_replica_wait (self->replica, 5);
    }
    return NULL;
}

static inline void echo_thread_start (struct echo_thread *self, const char *id)
{
    self->replica = fake_replica_new (id, NULL, NULL);
    atomic_init (&self->is_ending, false);
    atomic_init (&self->is_silent, false);
    atomic_init (&self->is_quiet, false);
    if (pthread_create (&self->thread, NULL, echo_thread_run, self) != 0)
        abort ();
}

/* No request is answered after this returns. */
static inline void echo_thread_silence (struct echo_thread *self)
{
    atomic_store (&self->is_silent, true);
    while (!atomic_load (&self->is_quiet))
        sched_yield ();
}

/* The replica stays for the test to look at. */
static inline void echo_thread_join (struct echo_thread *self)
{
    atomic_store (&self->is_ending, true);
    pthread_join (self->thread, NULL);
}

static inline void echo_thread_stop (struct echo_thread *self)
{
    echo_thread_join (self);
    fake_replica_destroy (&self->replica);
}

#endif
