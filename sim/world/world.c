/* SPDX-License-Identifier: MIT */
/*
 * The loop: arrivals and events in the order of time, until every measured call has ended and
 * nothing of it is left. A run that hits one of its tables begins again with a larger one, so that
 * results do not depend on how large they are.
 */
#include "world/world.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "engine/memory.h"
#include "tools/wall.h"
#include "world/world_parts.h"

#include <tied/error.h>

/* Events between two looks whether the run is stuck. */
#define LOOK_EVERY 4096
/* Work that stands still so long is not waited for. */
#define STANDSTILL TIED_S (86400)

/* The hosts that a part's timers belong to. */
static uint32_t client_of_timer (const struct world *self, uint32_t timer)
{
    return timer * self->parts_count + self->part;
}

static uint32_t first_replica (const struct world *self)
{
    return self->part * self->scenario->replicas.subset;
}

static void fire (struct world *self, uint32_t timer)
{
    const uint32_t first = first_replica (self);

    if (timer >= self->worker_timers)
        world_replica_service_end (self, first * self->workers + timer - self->worker_timers);
    else if (timer >= self->replica_timers)
        world_replica_timer (self, first + timer - self->replica_timers);
    else
        world_client_timer (self, client_of_timer (self, timer));
}

static void dispatch (struct world *self, const struct sim_event *event)
{
    self->now = event->at;
    world_mix (self,
               event->at ^ ((uint64_t)event->kind << 56 ^ (uint64_t)event->a << 28 ^ event->b) *
                               UINT64_C (0xd1342543de82ef95));
    if (event->kind == SIM_EVENT_TIMER) {
        fire (self, event->a);
        return;
    }
    switch ((enum world_event)event->kind) {
    case WORLD_TO_REPLICA:
        if (world_arrives (self, event))
            world_replica_receive (self, event);
        else
            world_replica_forget (self, event);
        return;
    case WORLD_TO_CLIENT:
        if (world_arrives (self, event))
            world_client_receive (self, event);
        return;
    case WORLD_TO_PEER:
        if (world_arrives (self, event))
            world_replica_hear (self, event);
        else
            world_replica_miss (self, event);
        return;
    case WORLD_LINK_UP:
        world_connect (self, event->a, event->b);
        return;
    case WORLD_LINK_BREAK:
        world_break (self, event->a, event->b, event->value);
        return;
    case WORLD_CRASH:
        world_crash (self, event->b);
        return;
    case WORLD_RESTART:
        world_restart (self, event->b);
        return;
    }
    TI_UNREACHABLE ();
}

static void arrive (struct world *self, tied_time_t at)
{
    struct sim_request request;

    self->now = at;
    sim_source_take (self->source, &request);
    world_mix (self, at);
    world_request_came (self, &request);
    world_look_for_arrival (self);
    self->progress_at = at;
    for (uint32_t leaf = 0; leaf < self->fan_out; leaf++)
        world_client_submit (self, request.client, request.first_call + leaf);
}

/* What breaks by chance does so from now on. */
static void break_later (struct world *self)
{
    const struct sim_scenario *s = self->scenario;
    const uint32_t first = first_replica (self);
    const uint32_t size = self->parts_count > 1 ? s->replicas.subset : s->replicas.count;

    for (uint32_t c = self->part; s->network.break_gap_ns > 0 && c < s->clients;
         c += self->parts_count)
        for (uint32_t i = 0; i < self->clients[c].replicas; i++)
            world_break_later (self, c, self->clients[c].first + i);
    for (uint32_t r = first; self->has_crashes && r < first + size; r++)
        world_crash_later (self, r);
}

/* Before the first arrival every client knows all its replicas: load and delays are measured. */
void world_greet (struct world *self)
{
    struct sim_event event;
    const tied_time_t limit = WORLD_START + 100 * ti_max (self->scenario->heartbeat_ns, TIED_S (1));

    self->ungreeted = 0;
    for (uint32_t c = self->part; c < self->scenario->clients; c += self->parts_count)
        self->ungreeted += self->clients[c].replicas;
    while (self->ungreeted > 0 && sim_events_time (self->events) < limit) {
        if (!sim_events_take (self->events, &event))
            break;
        self->result->events++;
        dispatch (self, &event);
    }
    self->origin = ti_time_sub (self->now, sim_source_time (self->source));
    self->area_at = self->now;
    self->progress_at = self->now;
    break_later (self);
}

/* Calls that nothing will end, for their copies are lost and they have no deadline. */
static bool is_stuck (const struct world *self)
{
    const bool is_quiet = self->busy == 0 && self->waiting == 0;

    return self->now - self->progress_at > (is_quiet ? self->patience_ns : STANDSTILL);
}

static bool is_stopped (const struct world *self)
{
    return self->stop != NULL && atomic_load_explicit (self->stop, memory_order_relaxed);
}

static void give_up (struct world *self)
{
    for (uint32_t c = self->part; c < self->scenario->clients; c += self->parts_count) {
        const struct world_client *client = &self->clients[c];

        for (uint32_t i = 0; i <= client->calls_mask; i++)
            if (client->calls[i].is_open)
                world_client_cancel (
                    self, (struct tied_call_id){(uint64_t)c + 1, client->calls[i].sequence});
    }
    self->progress_at = self->now;
}

/* What the next event needs is read into the cache while this one is worked on: in a large world
 * hardly any host is there. */
static void expect (const struct world *self)
{
    const struct world_replica *replica = NULL;
    const struct world_client *client = NULL;
    uint32_t kind, a, b;

    if (!sim_events_peek (self->events, &kind, &a, &b))
        return;
    if (kind == WORLD_TO_REPLICA || kind == WORLD_TO_PEER)
        replica = &self->replicas[b];
    else if (kind == WORLD_TO_CLIENT)
        client = &self->clients[a];
    else if (kind == SIM_EVENT_TIMER && a >= self->worker_timers)
        replica = &self->replicas[first_replica (self) + (a - self->worker_timers) / self->workers];
    else if (kind == SIM_EVENT_TIMER && a < self->replica_timers)
        client = &self->clients[client_of_timer (self, a)];
    if (replica != NULL) {
        world_fetch (replica->core, self->replica_fetch);
        world_fetch (replica->slots, 64);
    } else if (client != NULL) {
        world_fetch (client->core, self->client_fetch);
    }
}

static enum world_ending run (struct world *self)
{
    struct sim_event event;

    world_greet (self);
    world_look_for_arrival (self);
    for (;;) {
        if (self->arrival == TIED_NEVER && self->calls_unsettled == 0 &&
            sim_source_is_done (self->source))
            return WORLD_ENDING_DONE;
        self->result->events++;
        if (!sim_events_take_before (self->events, self->arrival, &event)) {
            if (self->arrival == TIED_NEVER)
                return WORLD_ENDING_DONE; /* cannot be: clients never stop to probe */
            arrive (self, self->arrival);
            if (self->result->table_overflows > 0 && self->may_grow_calls)
                return WORLD_ENDING_CALLS_FULL;
            continue;
        }
        if (self->is_large)
            expect (self);
        dispatch (self, &event);
        if (self->is_queue_full && self->may_grow_queue)
            return WORLD_ENDING_QUEUE_FULL;
        if (self->result->events % LOOK_EVERY == 0) {
            if (is_stopped (self))
                return WORLD_ENDING_STOPPED;
            if (is_stuck (self))
                give_up (self);
        }
    }
}

enum world_ending world_run_part (struct world *self, struct world_part *part, tied_time_t to)
{
    const tied_time_t limit = ti_time_add (to, self->origin);
    struct sim_event event;

    for (;;) {
        const bool has_arrival = part->to_come.next < part->to_come.count;

        self->arrival =
            has_arrival ? part->to_come.entries[part->to_come.next].at + self->origin : limit;
        if (part->is_last_known && self->calls_unsettled == 0) {
            part->is_over = true;
            return WORLD_ENDING_WINDOW;
        }
        if (!sim_events_take_before (self->events, self->arrival, &event)) {
            if (!has_arrival)
                return WORLD_ENDING_WINDOW;
            self->now = self->arrival;
            world_part_arrive (self, part);
            if (self->result->table_overflows > 0 && self->may_grow_calls)
                return WORLD_ENDING_CALLS_FULL;
            continue;
        }
        self->result->events++;
        part->steps++;
        dispatch (self, &event);
        if (self->is_queue_full && self->may_grow_queue)
            return WORLD_ENDING_QUEUE_FULL;
        if (part->steps % LOOK_EVERY == 0) {
            if (is_stopped (self))
                return WORLD_ENDING_STOPPED;
            if (is_stuck (self))
                give_up (self);
        }
    }
}

static void forget (struct sim_result *result)
{
    struct ti_hist *latency = result->latency;

    ti_hist_reset (latency);
    memset (result, 0, sizeof *result);
    result->latency = latency;
}

/* The world of one attempt, from its making to its account; deinit it, however it ended. */
static enum world_ending attempt (struct world *world,
                                  const struct sim_run_options *options,
                                  const struct world_sizes *sizes,
                                  struct sim_result *result,
                                  int *out_rc,
                                  char why[SIM_WHY_MAX])
{
    struct world_sizes larger = *sizes;
    struct sim_memory_guard guard;
    enum world_ending ending;

    sim_memory_guard_enter (&guard);
    if (setjmp (guard.back) != 0)
        return WORLD_ENDING_NO_MEMORY;
    *out_rc = world_init (world, options, sizes, result, why);
    if (*out_rc != 0) {
        sim_memory_guard_leave (&guard);
        return WORLD_ENDING_REFUSED;
    }
    world->may_grow_calls =
        options->watch == NULL && world_grow_sizes (options->scenario, false, &larger);
    larger = *sizes;
    world->may_grow_queue =
        options->watch == NULL && world_grow_sizes (options->scenario, true, &larger);
    ending = world->parts == NULL ? run (world) : world_run_parts (world, options->window);
    if (ending == WORLD_ENDING_DONE)
        world_finish_account (world);
    sim_memory_guard_leave (&guard);
    return ending;
}

int sim_world_run (const struct sim_run_options *options,
                   struct sim_result *result,
                   char why[SIM_WHY_MAX])
{
    const tied_time_t begun = ti_wall_now ();
    /* What is watched is told once: then there is one attempt, with large tables. */
    struct world_sizes sizes = world_first_sizes (options->scenario, options->watch != NULL);
    enum world_ending ending;

    do {
        struct world world = {.parts_count = 0};
        int rc = 0;

        forget (result);
        ending = attempt (&world, options, &sizes, result, &rc, why);
        if (ending != WORLD_ENDING_REFUSED)
            world_deinit (&world);
        if (ending == WORLD_ENDING_REFUSED)
            return rc;
        if (ending == WORLD_ENDING_NO_MEMORY)
            return world_out_of_memory (why);
        if (ending == WORLD_ENDING_STOPPED) {
            (void)snprintf (why, SIM_WHY_MAX, "stopped");
            return TIED_ERR_TIMEOUT;
        }
        if (ending != WORLD_ENDING_DONE)
            (void)world_grow_sizes (options->scenario, ending == WORLD_ENDING_QUEUE_FULL, &sizes);
    } while (ending != WORLD_ENDING_DONE);
    result->wall_ns = ti_wall_now () - begun;
    return 0;
}
