/* SPDX-License-Identifier: MIT */
/* The lock, the core behind it, and how threads wait for work. */
#include "engine.h"

#include <sched.h>

#include "base/assert.h"
#include "base/util.h"
#include "zmq/clock.h"

/* A thread that answers inside its handler is about to look for the next copy itself. If it does
   not, because it goes on working after the answer, another one looks after this time. */
#define LOOK_AGAIN TIED_MS (1)
/* Timeouts of the core handled in one turn at most. */
#define TIMEOUTS_MAX 8
#define TAGS_MAX     16
/* Turns that somebody takes whose time is over while messages are left. */
#define TURNS_MAX 64
/* A quiet replica is as long without a look; to take all that is there then costs it nothing. */
#define GAP TIED_MS (100)
/* What came in a gap keeps copies from starting no longer than this, or than so many messages take:
   on a machine that is short of processors the time can be over before anything is done. */
#define CATCH_UP        TIED_MS (20)
#define CATCH_UP_FRAMES 10000

void ti_engine_read_clock (tied_replica_t *self)
{
    tied_time_t now = ti_clock_now ();

    if (now <= self->now)
        return;
    if (now - self->now > GAP)
        self->is_behind = true;
    self->now = now;
}

void ti_engine_lock (tied_replica_t *self)
{
    (void)pthread_mutex_lock (&self->lock);
    ti_engine_read_clock (self);
}

void ti_engine_unlock (tied_replica_t *self)
{
    if (self->is_draining && tied_replica_core_is_drained (self->core))
        (void)pthread_cond_broadcast (&self->changed);
    (void)pthread_mutex_unlock (&self->lock);
}

static void perform_all (tied_replica_t *self)
{
    const struct tied_replica_action *action;

    while ((action = tied_replica_core_next (self->core)) != NULL)
        ti_perform (self, action);
}

int ti_replica_step (tied_replica_t *self, const struct tied_replica_event *event)
{
    int rc = tied_replica_core_step (self->core, event, self->now);

    if (rc != 0)
        return rc;
    perform_all (self);
    for (uint32_t i = 0; i < self->follow_ups_count; i++) {
        struct tied_replica_event follow_up = self->follow_ups[i];
        if (tied_replica_core_step (self->core, &follow_up, self->now) == 0)
            perform_all (self);
    }
    self->follow_ups_count = 0;
    self->gone_count = 0;
    return 0;
}

static bool is_due (const tied_replica_t *self)
{
    return tied_replica_core_deadline (self->core) <= self->now;
}

static void receive (tied_replica_t *self, bool may_stop)
{
    if ((self->dirty & TI_DIRTY_KEYS) && ti_keys_drain (self))
        self->dirty &= ~(unsigned)TI_DIRTY_KEYS;
    if ((self->dirty & TI_DIRTY_PEERS) && ti_peers_drain (self))
        self->dirty &= ~(unsigned)TI_DIRTY_PEERS;
    if ((self->dirty & TI_DIRTY_LINKS) && ti_links_drain (self))
        self->dirty &= ~(unsigned)TI_DIRTY_LINKS;
    if ((self->dirty & TI_DIRTY_CLIENTS) && ti_clients_drain (self, may_stop))
        self->dirty &= ~(unsigned)TI_DIRTY_CLIENTS;
}

static uint64_t frames_of (const tied_replica_t *self)
{
    return self->stats.frames_client + self->stats.frames_peer;
}

/* Receive what libzmq has, which includes the cancels of the first messages. Nothing here waits, so
   it goes on after its time as far as the messages are counted. */
static void take_all (tied_replica_t *self, bool may_stop, tied_time_t until, uint64_t frames_max)
{
    uint64_t before;

    self->dirty |= TI_DIRTY_PEERS | TI_DIRTY_CLIENTS;
    do {
        before = frames_of (self);
        receive (self, may_stop);
        ti_engine_read_clock (self);
    } while ((self->dirty & (TI_DIRTY_PEERS | TI_DIRTY_CLIENTS)) && frames_of (self) != before &&
             (self->now < until || frames_of (self) < frames_max));
}

/* Receive until nothing comes. libzmq's thread may be behind as well and brings what the kernel has
   kept piece by piece, so it gets the processor in between, and each time a look afterwards. A
   queue that is full from the outset must not keep the cancels of its copies outside. */
static void catch_up (tied_replica_t *self, bool may_stop)
{
    tied_time_t until = ti_time_add (self->now, CATCH_UP);
    uint64_t frames_max = frames_of (self) + CATCH_UP_FRAMES;

    may_stop = may_stop && !ti_clients_are_held (self);
    for (;;) {
        uint64_t before = frames_of (self);
        take_all (self, may_stop, until, frames_max);
        if (frames_of (self) == before || self->now >= until)
            break;
        (void)sched_yield ();
        ti_engine_read_clock (self);
    }
    self->is_behind = false;
}

bool ti_engine_can_run (const tied_replica_t *self)
{
    return self->handling < self->options.core.workers && tied_replica_core_can_run (self->core);
}

void ti_engine_turn (tied_replica_t *self, bool may_stop)
{
    static const struct tied_replica_event timeout = {.type = TIED_REPLICA_EV_TIMEOUT, .u = {{0}}};

    if (self->is_behind)
        catch_up (self, may_stop);
    receive (self, may_stop);
    for (int i = 0; i < TIMEOUTS_MAX && is_due (self); i++)
        (void)!ti_replica_step (self, &timeout);
    if (ti_results_deadline (&self->results) <= self->now)
        ti_keys_age (self);
}

struct tied_request *ti_engine_take (tied_replica_t *self)
{
    static const struct tied_replica_event take = {.type = TIED_REPLICA_EV_TAKE, .u = {{0}}};

    self->taken = NULL;
    (void)!ti_replica_step (self, &take);
    return self->taken;
}

void ti_replica_settle (tied_replica_t *self, bool looks_again)
{
    if (looks_again) {
        if (self->waiting > 0)
            ti_engine_arm (self, self->now + LOOK_AGAIN);
        return;
    }
    ti_engine_turn (self, true);
    /* Copies that came in the meantime may expire before all that the waiters know of. */
    if (self->waiting > 0)
        ti_engine_arm (self, ti_engine_deadline (self));
    if (self->is_parked)
        (void)pthread_cond_broadcast (&self->changed);
    if ((self->dirty != 0 && self->waiting > 0) ||
        (self->waiting_workers > 0 && ti_engine_can_run (self)))
        ti_loop_kick (self->loop);
}

tied_time_t ti_engine_deadline (const tied_replica_t *self)
{
    return ti_min (tied_replica_core_deadline (self->core), ti_results_deadline (&self->results));
}

void ti_engine_arm (tied_replica_t *self, tied_time_t at)
{
    if (at >= self->armed)
        return;
    self->armed = at;
    ti_loop_arm (self->loop, at);
}

static void mark (tied_replica_t *self, uint32_t tag)
{
    if (tag == TI_TAG_CLIENTS) {
        self->dirty |= TI_DIRTY_CLIENTS;
    } else if (tag == TI_TAG_PEERS) {
        self->dirty |= TI_DIRTY_PEERS;
    } else {
        self->dirty |= TI_DIRTY_LINKS;
        self->peers[tag - TI_TAG_LINK].is_dirty = true;
    }
}

void ti_engine_wait (tied_replica_t *self, tied_time_t until, bool can_work)
{
    uint32_t tags[TAGS_MAX];
    int count;

    TI_ASSERT (self->dirty == 0);
    ti_engine_arm (self, ti_engine_deadline (self));
    self->waiting++;
    self->waiting_workers += can_work;
    ti_engine_unlock (self);
    count = ti_loop_wait (self->loop, until, tags, TAGS_MAX);
    ti_engine_lock (self);
    self->waiting--;
    self->waiting_workers -= can_work;
    if (self->armed <= self->now)
        self->armed = TIED_NEVER;
    for (int i = 0; i < count; i++)
        mark (self, tags[i]);
}

/* The helper of pull mode cannot run copies. It wakes a worker for what it has received, and keeps
   out of the loop until one has come: it would take the wake-up away from it. */
static void hand_over (tied_replica_t *self)
{
    self->is_parked = true;
    ti_loop_kick (self->loop);
    while (!self->is_stopping && self->waiting_workers > 0 && ti_engine_can_run (self))
        (void)pthread_cond_wait (&self->changed, &self->lock);
    self->is_parked = false;
}

bool ti_engine_is_flooded (tied_replica_t *self, tied_time_t until, uint32_t turns)
{
    ti_engine_read_clock (self);
    return self->now >= until && turns >= TURNS_MAX;
}

struct tied_request *ti_engine_next (tied_replica_t *self, tied_time_t until, bool can_work)
{
    bool has_looked = false; /* at the loop, also when there is no time to wait */
    uint32_t turns = 0;

    for (;;) {
        ti_engine_turn (self, can_work || self->waiting_workers > 0);
        if (self->is_stopping) {
            /* One kick wakes one thread, so each passes it on. */
            ti_loop_kick (self->loop);
            return NULL;
        }
        if (ti_engine_can_run (self)) {
            if (can_work) {
                struct tied_request *request = ti_engine_take (self);
                ti_replica_settle (self, false);
                if (request)
                    return request;
                continue;
            }
            if (self->waiting_workers > 0)
                hand_over (self);
        }
        if (self->dirty != 0) {
            if (!ti_engine_is_flooded (self, until, ++turns))
                continue;
            ti_loop_kick (self->loop);
            return NULL;
        }
        if (has_looked && self->now >= until)
            return NULL;
        ti_engine_wait (self, until, can_work);
        has_looked = true;
        if (can_work && self->is_parked)
            (void)pthread_cond_broadcast (&self->changed);
    }
}
