/* SPDX-License-Identifier: MIT */
/*
 * Driver of the replica cores and their workers. A worker takes the next copy as soon as it is free
 * and one waits, after every message. A handler that is told to stop stops at once.
 */
#include "world_internal.h"

#include "base/assert.h"

#define CHECK_EVERY 64
/* TELL_* actions and CANCEL_RUNNING actions of one step. */
#define FAILURES_MAX 4
#define ENDS_MAX     64

/* ---- clients ---- */

static uint32_t client_of (const struct world *self, const struct world_replica *r, uint32_t index)
{
    const uint32_t local = r->conns == NULL ? index : r->conns[index].client;

    return local * self->groups + r->group;
}

static uint32_t generation_of (const struct world_replica *r, uint32_t index)
{
    return r->conns == NULL ? 0 : r->conns[index].generation;
}

enum world_sent world_replica_answer (struct world *self,
                                      uint32_t number,
                                      uint32_t index,
                                      const struct tied_message *message)
{
    const struct world_replica *r = &self->replicas[number];

    return world_send_replica (self, number, client_of (self, r, index), generation_of (r, index),
                               message);
}

/* ---- actions ---- */

static void act_admit (struct world *self,
                       uint32_t number,
                       const struct tied_replica_action *action,
                       uint64_t call)
{
    struct world_replica *r = &self->replicas[number];
    struct world_slot *slot = &r->slots[action->slot];

    TI_ASSERT (!slot->is_running);
    slot->call = call;
    slot->copy = action->copy;
    slot->is_killed = false;
    if (r->held != NULL)
        r->held[action->slot] = action->call;
    world_sum_areas (self);
    self->waiting++;
    r->depth++;
    world_note (self, action->call, world_actor_replica (number), world_actor_replica (number),
                "queues", action->copy);
}

static void
act_release (struct world *self, uint32_t number, const struct tied_replica_action *action)
{
    struct world_replica *r = &self->replicas[number];

    world_sum_areas (self);
    self->waiting--;
    r->depth--;
    if (r->held != NULL)
        r->held[action->slot].epoch = 0;
    world_note (self, action->call, world_actor_replica (number), world_actor_replica (number),
                "drops", action->copy);
    world_call_release_copy (self, world_call_at (self, action->call));
}

static void
act_reject (struct world *self, uint32_t number, const struct tied_replica_action *action)
{
    const int actor = world_actor_replica (number);
    const uint32_t client = client_of (self, &self->replicas[number], action->client);
    struct tied_message message;

    if (action->reason != TIED_REJECT_EXPIRED)
        self->result->rejections += world_call_at (self, action->call)->is_measured;
    /* BUSY: a hedge depth is no larger than the queue is. */
    if ((action->reason == TIED_REJECT_FULL || action->reason == TIED_REJECT_BUSY) &&
        self->is_depth_ours && self->replicas[number].depth >= self->sizes.queue_depth)
        self->is_queue_full = true;
    world_note (self, action->call, actor, actor,
                action->reason == TIED_REJECT_EXPIRED ? "expires" : "rejects", action->copy);
    message.type = TIED_WIRE_REJECT;
    message.u.reject.call = action->call;
    message.u.reject.copy = action->copy;
    message.u.reject.reason = action->reason;
    message.u.reject.load = action->load;
    world_note (self, action->call, actor, world_actor_client (client), "REJECT", action->copy);
    (void)world_replica_answer (self, number, action->client, &message);
}

static uint32_t timer_of_worker (const struct world *self, uint32_t number, uint32_t worker)
{
    return self->worker_timers + self->replicas[number].timer * self->workers + worker;
}

static void act_run (struct world *self, uint32_t number, const struct tied_replica_action *action)
{
    struct world_replica *r = &self->replicas[number];
    struct world_slot *slot = &r->slots[action->slot];
    struct world_call *call = world_call_at (self, action->call);
    const uint64_t demand =
        sim_demand (&self->scenario->workload, self->seed, slot->call, number, action->copy);
    const tied_time_t end =
        sim_speed_finish (self->speed, number, self->now - self->origin, demand);
    world_sum_areas (self);
    self->waiting--;
    self->busy++;
    r->depth--;
    slot->worker = r->idle[self->workers - ++r->running];
    slot->since = self->now;
    slot->is_running = true;
    r->serves[slot->worker] = action->slot;
    call->started |= (uint8_t)(1u << action->copy);
    self->result->executions += call->is_measured;
    world_mix (self, self->now);
    world_mix (self, slot->call << 3 | action->copy);
    world_note (self, action->call, world_actor_replica (number), world_actor_replica (number),
                "starts", action->copy);
    sim_events_set_timer (self->events, timer_of_worker (self, number, slot->worker),
                          ti_time_add (end, self->origin));
}

/* False: SEND_FAILED is due. */
static bool act_tell (struct world *self, uint32_t number, const struct tied_replica_action *action)
{
    const bool is_untie = action->type == TIED_REPLICA_ACT_TELL_UNTIE;
    const uint32_t peer = self->replicas[number].first + action->peer;
    struct world_call *call = world_call_at (self, action->call);
    struct tied_message message;
    enum world_sent sent;

    message.type = is_untie ? TIED_WIRE_UNTIE : TIED_WIRE_STARTED;
    message.u.tie.call = action->call;
    message.u.tie.copy = action->copy;
    world_note (self, action->call, world_actor_replica (number), world_actor_replica (peer),
                is_untie ? "UNTIE" : "STARTED", action->copy);
    sent = world_send_peer (self, number, peer, &message);
    if (sent == WORLD_LOST)
        world_note (self, action->call, world_actor_replica (number), world_actor_replica (number),
                    is_untie ? "UNTIE is lost" : "STARTED is lost", action->copy);
    if (sent == WORLD_REFUSED)
        return false;
    if (is_untie)
        return true;
    self->result->cancels.sent += call->is_measured;
    if (sent == WORLD_LOST)
        call->untold |= (uint8_t)(1u << action->copy);
    else
        call->notices++;
    return true;
}

/* DONE, CLAIM and its answers: nobody is told of one that was lost. */
static void act_word (struct world *self, uint32_t number, const struct tied_replica_action *action)
{
    const uint32_t peer = self->replicas[number].first + action->peer;
    struct tied_message message;

    message.u.tie.call = action->call;
    message.u.tie.copy = action->copy;
    switch (action->type) {
    case TIED_REPLICA_ACT_TELL_DONE:
        message.type = TIED_WIRE_DONE;
        break;
    case TIED_REPLICA_ACT_TELL_CLAIM:
        message.type = TIED_WIRE_CLAIM;
        message.u.claim.call = action->call;
        message.u.claim.copy = action->copy;
        message.u.claim.age_us = ti_us_from_ns (action->age_ns);
        message.u.claim.incarnation = action->incarnation;
        break;
    case TIED_REPLICA_ACT_TELL_GRANT:
        message.type = TIED_WIRE_GRANT;
        break;
    case TIED_REPLICA_ACT_TELL_DENY:
        message.type = TIED_WIRE_DENY;
        break;
    default:
        TI_UNREACHABLE ();
    }
    world_note (self, action->call, world_actor_replica (number), world_actor_replica (peer),
                tied_wire_type_name (message.type), action->copy);
    (void)world_send_peer (self, number, peer, &message);
}

static void free_worker (struct world *self, uint32_t number, uint32_t at)
{
    struct world_replica *r = &self->replicas[number];
    struct world_slot *slot = &r->slots[at];

    world_sum_areas (self);
    self->busy--;
    r->idle[self->workers - r->running--] = slot->worker;
    slot->is_running = false;
    if (r->held != NULL)
        r->held[at].epoch = 0;
}

static void
act_reply (struct world *self, uint32_t number, const struct tied_replica_action *action)
{
    struct world_replica *r = &self->replicas[number];
    struct world_slot *slot = &r->slots[action->slot];
    struct world_call *call = world_call_at (self, action->call);
    struct tied_message message;
    struct tied_wire_reply *reply = &message.u.reply;
    const int actor = world_actor_replica (number);

    free_worker (self, number, action->slot);
    call->spent_ns[action->copy] += self->now - slot->since;
    world_mix (self, self->now);
    world_mix (self, ~(slot->call << 3 | action->copy));
    world_note (self, action->call, actor, actor, slot->is_killed ? "is killed" : "finishes",
                action->copy);
    if (!slot->is_killed) {
        message.type = TIED_WIRE_REPLY;
        reply->call = action->call;
        reply->copy = action->copy;
        reply->status = 0;
        reply->flags = action->flags;
        reply->queue_us = ti_us_from_ns (action->queue_ns);
        reply->service_us = ti_us_from_ns (action->service_ns);
        reply->load = action->load;
        reply->body = (struct tied_view){NULL, 0};
        reply->body_follows = false;
        world_note (self, action->call, actor,
                    world_actor_client (client_of (self, r, action->client)), "REPLY",
                    action->copy);
        if (world_replica_answer (self, number, action->client, &message) == WORLD_SENT)
            call->is_answered = true;
    }
    world_call_release_copy (self, call);
}

/* ---- steps ---- */

static void stop_timer (struct world *self, uint32_t number, const struct world_slot *run)
{
    sim_events_set_timer (self->events, timer_of_worker (self, number, run->worker), TIED_NEVER);
}

void world_replica_stop_worker (struct world *self, uint32_t number, uint32_t slot)
{
    stop_timer (self, number, &self->replicas[number].slots[slot]);
    free_worker (self, number, slot);
}

void world_replica_end_run (struct world *self, uint32_t number, uint32_t slot)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_FINISH, .u.finish.slot = slot};
    const struct world_slot *run = &self->replicas[number].slots[slot];

    TI_ASSERT (run->is_running);
    stop_timer (self, number, run);
    world_replica_step (self, number, &event, 0, NULL);
}

/* What is aside does not wait. */
static void count_parked (struct world *self, struct world_replica *r)
{
    const uint32_t parked = tied_replica_core_parked (r->core);

    if (parked == r->parked)
        return;
    world_sum_areas (self);
    self->waiting += (uint64_t)r->parked - parked;
    r->depth += r->parked - parked;
    r->parked = parked;
}

/* Feeds one event and does the actions, then what they made necessary. */
void world_replica_step (struct world *self,
                         uint32_t number,
                         const struct tied_replica_event *event,
                         uint64_t call,
                         struct world_done *done)
{
    struct world_replica *r = &self->replicas[number];
    struct tied_replica_event failed[FAILURES_MAX];
    uint32_t ends[ENDS_MAX];
    uint32_t failures = 0;
    uint32_t ends_count = 0;
    const struct tied_replica_action *action;
    const int rc = tied_replica_core_step (r->core, event, self->now);

    TI_ASSERT (rc == 0);
    if (self->is_parking)
        count_parked (self, r);
    while ((action = tied_replica_core_next (r->core)) != NULL) {
        switch (action->type) {
        case TIED_REPLICA_ACT_ADMIT:
            act_admit (self, number, action, call);
            done->was_admitted = true;
            break;
        case TIED_REPLICA_ACT_REJECT:
            act_reject (self, number, action);
            if (done != NULL)
                done->rejected++;
            break;
        case TIED_REPLICA_ACT_RUN:
            act_run (self, number, action);
            break;
        case TIED_REPLICA_ACT_TELL_STARTED:
        case TIED_REPLICA_ACT_TELL_UNTIE:
            if (!act_tell (self, number, action)) {
                TI_ASSERT (failures < FAILURES_MAX);
                failed[failures].type = TIED_REPLICA_EV_SEND_FAILED;
                failed[failures].u.tie.peer = action->peer;
                failed[failures].u.tie.call = action->call;
                failed[failures].u.tie.copy = action->copy;
                failed[failures].u.tie.is_untie = action->type == TIED_REPLICA_ACT_TELL_UNTIE;
                failures++;
            }
            break;
        case TIED_REPLICA_ACT_TELL_DONE:
        case TIED_REPLICA_ACT_TELL_CLAIM:
        case TIED_REPLICA_ACT_TELL_GRANT:
        case TIED_REPLICA_ACT_TELL_DENY:
            act_word (self, number, action);
            break;
        case TIED_REPLICA_ACT_CANCEL_RUNNING:
            TI_ASSERT (ends_count < ENDS_MAX);
            ends[ends_count++] = action->slot;
            if (done != NULL)
                done->flagged++;
            break;
        case TIED_REPLICA_ACT_REPLY:
            act_reply (self, number, action);
            break;
        case TIED_REPLICA_ACT_RELEASE:
            act_release (self, number, action);
            if (done != NULL)
                done->released++;
            break;
        case TIED_REPLICA_ACT_FORGET_CLIENT:
            TI_ASSERT (r->conns != NULL);
            r->conns[action->client].is_used = false;
            r->conns_free[r->conns_free_count++] = action->client;
            break;
        }
    }
    if (self->checks && r->steps++ % CHECK_EVERY == 0)
        tied_replica_core_check (r->core);
    for (uint32_t i = 0; i < failures; i++)
        world_replica_step (self, number, &failed[i], 0, NULL);
    for (uint32_t i = 0; i < ends_count; i++)
        world_replica_end_run (self, number, ends[i]);
}

/* After an event: free workers take what waits, and the timer is set. */
void world_replica_settle (struct world *self, uint32_t number)
{
    const struct tied_replica_event take = {.type = TIED_REPLICA_EV_TAKE};
    struct world_replica *r = &self->replicas[number];

    /* Of those that wait some may be aside: then nothing can run. */
    while (r->depth > 0 && r->running < self->workers && tied_replica_core_can_run (r->core))
        world_replica_step (self, number, &take, 0, NULL);
    if (self->has_timers)
        sim_events_set_timer (self->events, self->replica_timers + r->timer,
                              tied_replica_core_deadline (r->core));
}

/* ---- workers and time ---- */

void world_replica_service_end (struct world *self, uint32_t worker)
{
    const uint32_t number = worker / self->workers;
    const struct world_replica *r = &self->replicas[number];
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_FINISH,
                                             .u.finish.slot = r->serves[worker % self->workers]};

    world_replica_step (self, number, &event, 0, NULL);
    world_replica_settle (self, number);
}

void world_replica_timer (struct world *self, uint32_t number)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_TIMEOUT};

    world_replica_step (self, number, &event, 0, NULL);
    world_replica_settle (self, number);
}

void world_replica_peer (struct world *self, uint32_t from, uint32_t to, bool is_up)
{
    const struct tied_replica_event event = {.type = is_up ? TIED_REPLICA_EV_PEER_UP
                                                           : TIED_REPLICA_EV_PEER_DOWN,
                                             .u.peer.peer = to - self->replicas[from].first};

    world_replica_step (self, from, &event, 0, NULL);
}

void world_replica_peers_up (struct world *self, uint32_t number)
{
    const struct world_replica *r = &self->replicas[number];

    for (uint32_t peer = r->first; peer < r->first + r->peers; peer++)
        if (peer != number && !self->replicas[peer].is_dead)
            world_replica_peer (self, number, peer, true);
}
