/* SPDX-License-Identifier: MIT */
/*
 * Threads inside waiting functions: who waits for what, and who is woken when it happens. Which of
 * them polls is the seat's business.
 */
#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"

static uint32_t usable_replicas (const tied_client_t *self)
{
    uint32_t usable = 0;

    for (uint32_t i = 0; i < self->links_count; i++) {
        struct tied_client_replica replica;
        int rc = tied_client_core_replica (self->core, i, &replica);

        TI_ASSERT (rc == 0);
        usable += replica.state == TIED_REPLICA_UP;
    }
    return usable;
}

bool ti_waiter_is_satisfied (const tied_client_t *self, const struct ti_waiter *waiter)
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
        return usable_replicas (self) >= waiter->replicas;
    case TI_WAIT_GATHER:
        return waiter->open == 0 || waiter->good >= waiter->need;
    }
    TI_UNREACHABLE ();
}

bool ti_waiters_are_done (const tied_client_t *self)
{
    const struct ti_waiter *leader = self->leader;

    return leader && leader->kind == TI_WAIT_CALL && self->waiters == self->waiters_last &&
           ti_waiter_is_satisfied (self, leader);
}

void ti_waiters_enlist (tied_client_t *self, struct ti_waiter *waiter)
{
    waiter->prev = self->waiters_last;
    waiter->next = NULL;
    if (self->waiters_last)
        self->waiters_last->next = waiter;
    else
        self->waiters = waiter;
    self->waiters_last = waiter;
}

void ti_waiters_delist (tied_client_t *self, struct ti_waiter *waiter)
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
void ti_waiters_call_for_queue (tied_client_t *self)
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

void ti_waiters_call_ended (tied_client_t *self, uint32_t token)
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
    if (waiter && (waiter->kind != TI_WAIT_GATHER || ti_waiter_is_satisfied (self, waiter)))
        call_waiter (self, waiter);
    if (call->to_queue)
        ti_waiters_call_for_queue (self);
    call_kind (self, TI_WAIT_ANY);
}

void ti_waiters_replica_changed (tied_client_t *self)
{
    call_kind (self, TI_WAIT_READY);
}

void ti_waiters_wake_all (tied_client_t *self)
{
    for (struct ti_waiter *waiter = self->waiters; waiter; waiter = waiter->next)
        call_waiter (self, waiter);
    if (self->is_polling)
        ti_loop_kick (self->loop);
}

void ti_waiters_hand_over (tied_client_t *self)
{
    if (self->seat == TI_SEAT_FREE && self->waiters)
        call_waiter (self, self->waiters);
}
