/* SPDX-License-Identifier: MIT */
/* Makes a world: what its calls ask for, and when its links come up. */
#include "world/world_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include <tied/error.h>

/* A core begins with its counters and the heads of its tables; a step touches most of that. */
#define REPLICA_FETCH 1152u
#define CLIENT_FETCH  1024u

static uint32_t mode_of (enum sim_policy_kind kind)
{
    if (kind == SIM_POLICY_PARK)
        return TIED_MODE_PARK;
    if (kind == SIM_POLICY_EXCLUSIVE)
        return TIED_MODE_EXCLUSIVE;
    return sim_policy_is_tie (kind) ? TIED_MODE_TIED : TIED_MODE_SINGLE;
}

static void fill_submit (struct world *self)
{
    const struct sim_policy *policy = self->policy;

    self->submit = (struct tied_client_submit){.mode = mode_of (policy->kind)};
    /* What must not run twice is not declared to bear it. */
    self->submit.is_idempotent = self->submit.mode != TIED_MODE_EXCLUSIVE;
    self->submit.stagger_ns = self->fault == SIM_FAULT_IGNORE_STAGGER ? 0 : policy->stagger_ns;
    self->submit.hedge_ns = TIED_HEDGE_NONE;
    if (policy->kind == SIM_POLICY_CLONE)
        self->submit.hedge_ns = TIED_HEDGE_NOW;
    else if (policy->kind == SIM_POLICY_HEDGE || policy->kind == SIM_POLICY_TIED_HEDGE)
        self->submit.hedge_ns = TIED_HEDGE_POLICY;
}

static int refuse (char why[SIM_WHY_MAX], const struct sim_policy *policy, const char *text)
{
    (void)snprintf (why, SIM_WHY_MAX, "policy \"%.*s\": %s", SIM_NAME_MAX - 1, policy->name, text);
    return TIED_ERR_INVAL;
}

int world_out_of_memory (char why[SIM_WHY_MAX])
{
    (void)snprintf (why, SIM_WHY_MAX, "not enough memory for so many replicas and clients");
    return TIED_ERR_SYSTEM;
}

/* A shuffle changes the order of equal times within a lane only by having several. Else what takes
 * equally long shares a lane. */
static void make_lanes (struct world *self)
{
    const struct sim_network *network = &self->scenario->network;
    const bool is_shared = !self->scenario->shuffles_ties && !network->client.has_extra &&
                           !network->peer.has_extra &&
                           network->client.fixed_ns == network->peer.fixed_ns;

    self->lanes = self->scenario->shuffles_ties ? WORLD_LANES : 1;
    for (uint32_t i = 0; i < self->lanes; i++) {
        self->client_lanes[i] = network->client.has_extra ? -1 : sim_events_add_lane (self->events);
        self->peer_lanes[i] = self->client_lanes[i];
        if (!is_shared)
            self->peer_lanes[i] = network->peer.has_extra ? -1 : sim_events_add_lane (self->events);
    }
}

/* Clients do not all greet in the same instant, or their heartbeats would meet for ever. */
static void connect_later (struct world *self)
{
    const tied_duration_t spread = ti_min (self->scenario->heartbeat_ns, TIED_MS (500));

    for (uint32_t c = self->part; c < self->scenario->clients; c += self->parts_count) {
        for (uint32_t i = 0; i < self->clients[c].replicas; i++) {
            const uint32_t replica = self->clients[c].first + i;
            const uint64_t random = sim_draw (self->seed, SIM_STREAM_CHOICE, c, 1 + replica);
            const struct sim_event event = {
                .at = WORLD_START + random % spread, .kind = WORLD_LINK_UP, .a = c, .b = replica};

            sim_events_put (self->events, -1, &event);
        }
    }
}

/* One queue of events for each part. */
static bool make_queues (struct world *self)
{
    const struct sim_scenario *s = self->scenario;
    const uint32_t replicas = self->parts_count > 1 ? s->replicas.subset : s->replicas.count;
    uint32_t timers;

    self->replica_timers = (s->clients + self->parts_count - 1) / self->parts_count;
    self->worker_timers = self->replica_timers + (self->has_timers ? replicas : 0);
    timers = self->worker_timers + replicas * self->workers;
    if (self->parts_count > 1)
        return world_make_parts (self, timers);
    self->events = world_make_events (self, 0, timers);
    return self->events != NULL;
}

/* NULL: no memory. */
struct sim_events *world_make_events (const struct world *self, uint32_t part, uint32_t timers)
{
    const uint64_t shuffle = sim_draw (self->seed, SIM_STREAM_SHUFFLE, part, 0) | 1;
    struct sim_events *events = sim_events_new (self->scenario->shuffles_ties ? shuffle : 0);

    if (events != NULL && sim_events_add_timers (events, self->replica_timers, timers))
        return events;
    sim_events_free (events);
    return NULL;
}

static int fill (struct world *self, char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = self->scenario;
    int rc;

    if (!make_queues (self) || !world_make_groups (self) || !world_make_links (self) ||
        !world_make_conns (self))
        return world_out_of_memory (why);
    rc = world_make_replicas (self, why);
    if (rc == 0)
        rc = world_make_clients (self, why);
    if (rc != 0)
        return rc;
    self->source = sim_source_new (s, self->seed, self->result);
    if (self->source == NULL)
        return refuse (why, self->policy, "the workload offers no request");
    self->speed = sim_speed_new (&s->replicas, self->seed);
    if (self->speed == NULL || !sim_keys_init (&self->keys, &s->workload.keys, self->seed))
        return world_out_of_memory (why);
    for (uint32_t i = 0; i < self->parts_count; i++) {
        world_enter_part (self, i);
        make_lanes (self);
        connect_later (self);
        world_leave_part (self);
    }
    return 0;
}

int world_init (struct world *self,
                const struct sim_run_options *options,
                const struct world_sizes *sizes,
                struct sim_result *result,
                char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = options->scenario;
    int rc;

    *self =
        (struct world){.scenario = s,
                       .policy = &s->policies[options->policy],
                       .watch = options->watch,
                       .stop = options->stop,
                       .result = result,
                       .origin = TIED_NEVER,
                       .sizes = *sizes,
                       .is_depth_ours = (sizes->queue_depth < s->replicas.queue_depth),
                       .seed = options->seed,
                       .fault = options->fault,
                       .checks = options->checks,
                       .has_breaks = (s->network.break_gap_ns > 0 || s->replicas.crash_gap_ns > 0),
                       .has_crashes = (s->replicas.crash_gap_ns > 0),
                       .workers = s->replicas.workers,
                       .fan_out = s->workload.fan_out,
                       .groups = 1,
                       .span_first = TIED_NEVER};
    if (s->replicas.subset > 0)
        self->groups = (s->replicas.count + s->replicas.subset - 1) / s->replicas.subset;
    /* What arrives in a closed loop depends on what ended elsewhere. */
    self->parts_count =
        s->workload.arrivals == SIM_ARRIVALS_CLOSED ? 1 : (uint32_t)ti_max (self->groups, 1);
    self->replica_fetch = REPLICA_FETCH;
    self->client_fetch = CLIENT_FETCH;
    self->tells_sent = options->watch != NULL && options->watch->sent != NULL;
    self->is_watching = options->watch != NULL && options->watch->note != NULL &&
                        options->watch->call != UINT64_MAX;
    self->keeps_directions = self->has_breaks || s->network.high_water > 0 ||
                             s->network.client.has_extra || s->network.peer.has_extra;
    self->has_loss = s->network.loss > 0 || s->network.loss_started > 0;
    self->is_parking = self->policy->kind == SIM_POLICY_PARK;
    self->has_timers = self->has_breaks || s->workload.deadline_ns != TIED_NEVER ||
                       self->is_parking || self->policy->kind == SIM_POLICY_EXCLUSIVE;
    self->clients_max = (s->clients + self->groups - 1) / self->groups;
    self->conns_max = self->has_breaks ? 4 * self->clients_max + 4 : self->clients_max;
    fill_submit (self);
    self->notes_max = world_notes_max (self);
    self->patience_ns = world_patience_ns (self);
    rc = fill (self, why);
    if (rc != 0)
        world_deinit (self);
    return rc;
}

void world_deinit (struct world *self)
{
    if (self->clients != NULL)
        for (uint32_t i = 0; i < self->scenario->clients; i++)
            free (self->clients[i].calls);
    sim_source_free (self->source);
    sim_speed_free (self->speed);
    sim_keys_deinit (&self->keys);
    if (self->parts != NULL)
        world_free_parts (self);
    else
        sim_events_free (self->events);
    free (self->request_times);
    free (self->client_memory);
    free (self->replica_memory);
    for (uint32_t i = 0; i < self->blocks_count; i++)
        free (self->blocks[i]);
    self->blocks_count = 0;
}
