/* SPDX-License-Identifier: MIT */
/*
 * The leader's seat. Whoever waits for something may take the free seat, and then polls and works
 * for everybody: answers of other threads' calls are completed on the way and their threads
 * woken. So a thread that waits for its own answer gets it without a hop through another thread.
 * When the leader has what it came for it hands the seat to a thread that still waits.
 */
#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

/* Tags taken from one wait; what does not fit stays readable. */
#define TAGS 32

static bool is_satisfied (const tied_client_t *self, const struct ti_waiter *waiter)
{
    if (self->state != TI_CLIENT_STARTED)
        return true;
    switch (waiter->kind) {
    case TI_WAIT_CALL:
        return self->calls.slots[waiter->token].state == TI_CLIENT_CALL_ENDED;
    case TI_WAIT_QUEUE:
        return self->calls.queue_count > 0;
    case TI_WAIT_ANY:
        return self->calls_ended != waiter->ended;
    case TI_WAIT_READY:
        return ti_engine_usable_replicas (self) >= waiter->replicas;
    case TI_WAIT_GATHER:
        return waiter->open == 0 || waiter->good >= waiter->need;
    }
    TI_UNREACHABLE ();
}

bool ti_seat_is_done (const tied_client_t *self)
{
    const struct ti_waiter *leader = self->leader;

    return leader && leader->kind == TI_WAIT_CALL && self->waiters == self->waiters_last &&
           is_satisfied (self, leader);
}

static void enlist (tied_client_t *self, struct ti_waiter *waiter)
{
    waiter->prev = self->waiters_last;
    waiter->next = NULL;
    if (self->waiters_last)
        self->waiters_last->next = waiter;
    else
        self->waiters = waiter;
    self->waiters_last = waiter;
}

static void delist (tied_client_t *self, struct ti_waiter *waiter)
{
    if (waiter->prev)
        waiter->prev->next = waiter->next;
    else
        self->waiters = waiter->next;
    if (waiter->next)
        waiter->next->prev = waiter->prev;
    else
        self->waiters_last = waiter->prev;
}

/* A waiter without a condition variable is running, so it will look by itself. */
static void call_waiter (tied_client_t *self, struct ti_waiter *waiter)
{
    if (waiter == self->leader) {
        if (self->is_polling)
            ti_loop_kick (self->loop);
        return;
    }
    waiter->is_called = true;
    if (waiter->has_cond)
        pthread_cond_signal (&waiter->cond);
}

/* One completion wakes one of those who wait for the queue; the leader needs no hop. */
static void call_queue_waiter (tied_client_t *self)
{
    struct ti_waiter *waiter = self->leader;

    if (!waiter || waiter->kind != TI_WAIT_QUEUE) {
        waiter = self->waiters;
        while (waiter && (waiter->kind != TI_WAIT_QUEUE || waiter->is_called))
            waiter = waiter->next;
    }
    if (waiter)
        call_waiter (self, waiter);
}

static void call_kind (tied_client_t *self, enum ti_wait_kind kind)
{
    for (struct ti_waiter *waiter = self->waiters; waiter; waiter = waiter->next) {
        if (waiter->kind == kind && !waiter->is_called)
            call_waiter (self, waiter);
    }
}

void ti_seat_call_ended (tied_client_t *self, uint32_t token)
{
    const struct ti_client_call *call = &self->calls.slots[token];
    struct ti_waiter *waiter = call->waiter;

    /* It counts also while its thread is elsewhere, as when it submits the next one. */
    if (waiter && waiter->kind == TI_WAIT_GATHER) {
        waiter->open--;
        waiter->good += call->completion.outcome == TIED_OUTCOME_OK;
    }
    if (!self->waiters)
        return;
    if (waiter && (waiter->kind != TI_WAIT_GATHER || is_satisfied (self, waiter)))
        call_waiter (self, waiter);
    if (call->to_queue)
        call_queue_waiter (self);
    call_kind (self, TI_WAIT_ANY);
}

void ti_seat_replica_changed (tied_client_t *self)
{
    call_kind (self, TI_WAIT_READY);
}

void ti_seat_wake_all (tied_client_t *self)
{
    for (struct ti_waiter *waiter = self->waiters; waiter; waiter = waiter->next)
        call_waiter (self, waiter);
    if (self->is_polling)
        ti_loop_kick (self->loop);
}

void ti_seat_hand_over (tied_client_t *self)
{
    if (self->seat == TI_SEAT_FREE && self->waiters)
        call_waiter (self, self->waiters);
}

void ti_seat_turn (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until)
{
    uint32_t tags[TAGS];
    tied_time_t now = ti_clock_now ();
    int count;

    ti_engine_serve_dirty (self, now);
    ti_engine_run_timers (self, now);
    if (waiter && is_satisfied (self, waiter))
        return;
    self->poll_until = ti_min (until, tied_client_core_deadline (self->core));
    if (self->dirty_count > 0)
        self->poll_until = now;
    self->is_polling = true;
    pthread_mutex_unlock (&self->lock);
    count = ti_loop_wait (self->loop, self->poll_until <= now ? 0 : self->poll_until, tags, TAGS);
    pthread_mutex_lock (&self->lock);
    self->is_polling = false;

    now = ti_clock_now ();
    if (waiter)
        self->caller_seen = now;
    for (int i = 0; i < count; i++)
        ti_engine_serve (self, tags[i], now);
    ti_engine_run_timers (self, now);
}

static void lead (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until)
{
    TI_ASSERT (self->seat == TI_SEAT_FREE);
    self->seat = TI_SEAT_CALLER;
    self->leader = waiter;
    ti_seat_turn (self, waiter, until);
    self->leader = NULL;
    self->seat = TI_SEAT_FREE;
}

/* Another thread polls: sleep until it calls. */
static void follow (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until)
{
    /* The client's own thread gives way; its turn ends with the kick. */
    if (self->seat == TI_SEAT_THREAD && self->is_polling)
        ti_loop_kick (self->loop);
    if (!waiter->has_cond) {
        pthread_cond_init (&waiter->cond, &self->monotonic);
        waiter->has_cond = true;
    }
    if (until == TIED_NEVER) {
        pthread_cond_wait (&waiter->cond, &self->lock);
    } else {
        struct timespec ts = {.tv_sec = (time_t)(until / TIED_S (1)),
                              .tv_nsec = (long)(until % TIED_S (1))};
        pthread_cond_timedwait (&waiter->cond, &self->lock, &ts);
    }
    waiter->is_called = false;
}

int ti_seat_wait (tied_client_t *self, struct ti_waiter *waiter, tied_time_t until, tied_time_t now)
{
    bool is_done;

    enlist (self, waiter);
    for (bool is_first = true;; is_first = false) {
        is_done = is_satisfied (self, waiter);
        if (is_done || (!is_first && until <= (now = ti_clock_now ())))
            break;
        if (self->seat == TI_SEAT_FREE)
            lead (self, waiter, until);
        else if (until > now)
            follow (self, waiter, until);
    }
    delist (self, waiter);
    if (waiter->has_cond)
        pthread_cond_destroy (&waiter->cond);
    waiter->has_cond = false;
    waiter->is_called = false;
    self->caller_seen = ti_max (self->caller_seen, now);
    /* A leader has been told of all completions that came in its turn, and takes one. */
    if (waiter->kind == TI_WAIT_QUEUE && is_done && self->calls.queue_count > 1)
        call_queue_waiter (self);
    ti_seat_hand_over (self);
    if (!self->waiters) {
        ti_thread_nudge (self, now);
        if (self->state != TI_CLIENT_STARTED)
            pthread_cond_broadcast (&self->idle);
    }
    return is_done ? 0 : TIED_ERR_TIMEOUT;
}
