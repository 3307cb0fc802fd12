/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/util.h"
#include "zmq/clock.h"

/* Added to the seed where it goes into keys: times and gaps are made of other sums. */
#define KEYS 2

/* Status of an answer that was cut short; the client has given up and will not look at it. */
#define STATUS_CANCELLED 1

/* The next pause begins an exponential gap after the end of the last one. */
static void plan_pause (struct work *self, tied_time_t from)
{
    struct ti_dist gap = {.kind = TI_DIST_EXP, .a_ns = self->pause.gap_ns};

    self->pause_begin = ti_time_add (from, ti_dist_draw (&gap, ti_prng_next (&self->gaps)));
    self->pause_end = ti_time_add (self->pause_begin, self->pause.length_ns);
}

void work_init (struct work *self,
                const struct ti_service *service,
                const struct ti_pause *pause,
                uint64_t seed,
                bool keys_are_own)
{
    memset (self, 0, sizeof *self);
    (void)pthread_mutex_init (&self->lock, NULL);
    self->service = *service;
    self->pause = *pause;
    self->seed = seed;
    self->keys_are_own = keys_are_own;
    ti_prng_seed (&self->times, seed);
    ti_prng_seed (&self->gaps, ti_mix (seed + 1));
    if (self->pause.length_ns > 0)
        plan_pause (self, ti_clock_now ());
}

tied_duration_t work_draw (struct work *self, const void *body, size_t size)
{
    const unsigned char *key = body;
    uint64_t random = 0;

    if (size >= 8) {
        for (int i = 0; i < 8; i++)
            random |= (uint64_t)key[i] << (8 * i);
        if (self->keys_are_own)
            random ^= ti_mix (self->seed + KEYS);
        return ti_dist_draw (&self->service.dist, ti_mix (random));
    }
    (void)pthread_mutex_lock (&self->lock);
    random = ti_prng_next (&self->times);
    (void)pthread_mutex_unlock (&self->lock);
    return ti_dist_draw (&self->service.dist, random);
}

/* When the pause that holds now ends; now if there is none. */
static tied_time_t end_of_pause (struct work *self, tied_time_t now)
{
    tied_time_t end = now;

    (void)pthread_mutex_lock (&self->lock);
    while (self->pause_end <= now)
        plan_pause (self, self->pause_end);
    if (self->pause_begin <= now)
        end = self->pause_end;
    (void)pthread_mutex_unlock (&self->lock);
    return end;
}

/* Wait until then, or until cancel_fd (-1: none) is readable. */
static void sleep_until (tied_time_t until, int cancel_fd)
{
    struct pollfd item = {.fd = cancel_fd, .events = POLLIN, .revents = 0};
    tied_time_t now = ti_clock_now ();

    while (now < until) {
        tied_duration_t left = until - now;
        struct timespec ts = {.tv_sec = (time_t)(left / TIED_S (1)),
                              .tv_nsec = (long)(left % TIED_S (1))};
        if (ppoll (&item, 1, &ts, NULL) > 0)
            return;
        now = ti_clock_now ();
    }
}

/* A paused process computes nothing, whatever its request's client wants. */
static void stall (struct work *self)
{
    tied_time_t now = ti_clock_now ();

    if (self->pause.length_ns > 0)
        sleep_until (end_of_pause (self, now), -1);
}

static tied_time_t cpu_time (void)
{
    struct timespec ts;

    if (clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts) != 0)
        return 0;
    return TIED_S ((uint64_t)ts.tv_sec) + (uint64_t)ts.tv_nsec;
}

/* CPU time, not wall time: what the work costs does not shrink when the machine is crowded. */
static void spin (tied_request_t *request, tied_duration_t length)
{
    tied_time_t until = cpu_time () + length;

    while (cpu_time () < until && !tied_request_is_cancelled (request)) {
    }
}

void work_handle (tied_request_t *request, void *arg)
{
    static _Thread_local bool is_exact;
    struct work *self = arg;
    size_t size;
    const void *body = tied_request_body (request, &size);

    /* Timers of a thread are late by up to 50 us unless it asks for better. */
    if (!is_exact)
        is_exact = prctl (PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
    stall (self);
    if (self->service.kind == TI_SERVICE_SLEEP)
        sleep_until (ti_clock_now () + work_draw (self, body, size),
                     tied_request_cancel_fd (request));
    else if (self->service.kind == TI_SERVICE_SPIN)
        spin (request, work_draw (self, body, size));
    stall (self);
    if (tied_request_is_cancelled (request))
        (void)!tied_request_fail (request, STATUS_CANCELLED, NULL, 0);
    else
        (void)!tied_request_reply (request, body, size);
}

void work_echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    stall (arg);
    (void)!tied_request_reply (request, body, size);
}
