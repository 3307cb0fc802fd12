/* SPDX-License-Identifier: MIT */
#include "workers.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

int workers_declare (tied_replica_t *replica)
{
    int rc = tied_replica_handle (replica, "work", NULL, NULL);

    return rc ? rc : tied_replica_handle (replica, "echo", NULL, NULL);
}

static void sit_out (const struct workers *self, tied_duration_t left)
{
    struct pollfd item = {.fd = self->ended, .events = POLLIN, .revents = 0};
    struct timespec ts = {.tv_sec = (time_t)(left / TIED_S (1)),
                          .tv_nsec = (long)(left % TIED_S (1))};

    (void)ppoll (&item, 1, &ts, NULL);
}

static void *serve (void *arg)
{
    struct workers *self = arg;
    int rc = 0;

    (void)prctl (PR_SET_NAME, "work");
    (void)prctl (PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    while (rc == 0 || rc == TIED_ERR_TIMEOUT) {
        tied_request_t *request;
        tied_duration_t left;

        if (stall_holds (&self->stall, stall_clock (), &left)) {
            sit_out (self, left);
            left = 0;
        }
        rc = tied_replica_next (self->replica, left, &request);
        if (rc == 0 && strcmp (tied_request_method (request), "work") == 0)
            work_handle (request, self->work);
        else if (rc == 0)
            work_echo (request, self->work);
    }
    return NULL;
}

int workers_start (struct workers *self,
                   tied_replica_t *replica,
                   struct work *work,
                   const struct stall *stall,
                   uint32_t count)
{
    sigset_t all, before;
    int rc = 0;

    *self = (struct workers){.replica = replica, .work = work, .stall = *stall};
    self->ended = eventfd (0, EFD_CLOEXEC);
    self->threads = calloc (count, sizeof *self->threads);
    if (self->ended < 0 || !self->threads)
        rc = TIED_ERR_NOMEM;
    (void)sigfillset (&all);
    (void)pthread_sigmask (SIG_SETMASK, &all, &before);
    while (rc == 0 && self->count < count) {
        rc = pthread_create (&self->threads[self->count], NULL, serve, self);
        self->count += rc == 0;
    }
    (void)pthread_sigmask (SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return 0;
    (void)!tied_replica_stop (replica, 0);
    workers_join (self);
    return rc == TIED_ERR_NOMEM ? rc : TIED_ERR_SYSTEM;
}

void workers_join (struct workers *self)
{
    const uint64_t one = 1;

    if (self->count > 0)
        (void)!write (self->ended, &one, sizeof one);
    for (uint32_t i = 0; i < self->count; i++)
        (void)pthread_join (self->threads[i], NULL);
    if (self->threads && self->ended >= 0)
        (void)close (self->ended);
    free (self->threads);
    *self = (struct workers){0};
}
