/* SPDX-License-Identifier: MIT */
/* Makes a world: which tables it needs, and how large. Nothing runs here. */
#include "world_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#include <tied/error.h>

#define LINE          64u
#define WORKERS_MAX   (UINT64_C (1) << 20)
#define RING_FIRST    64u
#define SILENCE_BEATS 10u

/* ---- memory ---- */

static void *take (struct world *self, size_t count, size_t size)
{
    void *memory = calloc (count > 0 ? count : 1, size);

    if (memory != NULL)
        self->memory_bytes += count * size;
    return memory;
}

/* One to be freed with the world. */
static void *take_block (struct world *self, size_t count, size_t size)
{
    void *memory = take (self, count, size);

    TI_ASSERT (self->blocks_count < sizeof self->blocks / sizeof self->blocks[0]);
    if (memory != NULL)
        self->blocks[self->blocks_count++] = memory;
    return memory;
}

/* Blocks of this size one after the other, of which no two begin in the same set of a cache. */
static size_t stride_of (size_t size)
{
    const size_t lines = (size + LINE - 1) / LINE;

    return (lines | 1) * LINE;
}

static unsigned char *take_lines (struct world *self, size_t count, size_t stride)
{
    unsigned char *memory = aligned_alloc (LINE, count * stride);

    if (memory != NULL)
        self->memory_bytes += count * stride;
    return memory;
}

/* ---- what is asked of the cores ---- */

static bool is_tied (enum sim_policy_kind kind)
{
    return kind == SIM_POLICY_TIED || kind == SIM_POLICY_TIED_HEDGE;
}

static void fill_submit (struct world *self)
{
    const struct sim_policy *policy = self->policy;

    self->submit = (struct tied_client_submit){.is_idempotent = true};
    self->submit.mode = is_tied (policy->kind) ? TIED_MODE_TIED : TIED_MODE_SINGLE;
    self->submit.stagger_ns = self->fault == SIM_FAULT_IGNORE_STAGGER ? 0 : policy->stagger_ns;
    self->submit.hedge_ns = TIED_HEDGE_NONE;
    if (policy->kind == SIM_POLICY_CLONE)
        self->submit.hedge_ns = TIED_HEDGE_NOW;
    else if (policy->kind == SIM_POLICY_HEDGE || policy->kind == SIM_POLICY_TIED_HEDGE)
        self->submit.hedge_ns = ti_max (policy->hedge_ns, TIED_HEDGE_NOW);
}

static struct tied_client_core_options client_options (const struct world *self, uint32_t number)
{
    const struct sim_policy *policy = self->policy;
    struct tied_client_core_options o;

    tied_client_core_options_init (&o);
    o.epoch = (uint64_t)number + 1;
    o.seed = sim_draw (self->seed, SIM_STREAM_CHOICE, number, 0);
    o.calls_max = self->sizes.calls_max;
    o.replicas_max = self->clients[number].replicas;
    o.copies_max = WORLD_COPIES_MAX;
    o.pick = policy->pick;
    if (policy->pick_samples != 0)
        o.pick_samples = policy->pick_samples;
    if (policy->load_age_ns != 0)
        o.load_age_ns = policy->load_age_ns;
    o.heartbeat_ns = self->scenario->heartbeat_ns;
    return o;
}

static struct tied_replica_core_options replica_options (const struct world *self, uint32_t number)
{
    const struct sim_scenario *s = self->scenario;
    struct tied_replica_core_options o;

    tied_replica_core_options_init (&o);
    o.incarnation = (uint64_t)number + 1;
    o.seed = sim_draw (self->seed, SIM_STREAM_CHOICE, UINT64_MAX, number);
    o.workers = self->workers;
    o.queue_depth = self->sizes.queue_depth;
    o.hedge_depth = self->policy->hedge_depth;
    /* Clones are not refused unless asked for; else the core's default, for the queue of the
     * scenario and not for ours. */
    if (o.hedge_depth == 0 && self->policy->kind == SIM_POLICY_CLONE)
        o.hedge_depth = o.queue_depth;
    else if (o.hedge_depth == 0)
        o.hedge_depth = (uint32_t)ti_max (4 * (uint64_t)self->workers, 3);
    o.hedge_depth = (uint32_t)ti_min (o.hedge_depth, o.queue_depth);
    o.recent_max = world_notes_max (self);
    o.clients_max = self->conns_max;
    o.peers_max = self->replicas[number].peers;
    o.client_silence_ns =
        self->has_breaks ? ti_max (TIED_S (5), SILENCE_BEATS * s->heartbeat_ns) : TIED_NEVER;
    return o;
}

static int refuse (char why[SIM_WHY_MAX], const struct sim_policy *policy, const char *text)
{
    (void)snprintf (why, SIM_WHY_MAX, "policy \"%s\": %s", policy->name, text);
    return TIED_ERR_INVAL;
}

static int check (const struct world *self, char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = self->scenario;
    const uint32_t known = s->replicas.subset > 0
                               ? (uint32_t)ti_min (s->replicas.subset, s->replicas.count)
                               : s->replicas.count;

    if (known > 4096)
        return refuse (why, self->policy,
                       "a client cannot know more than 4096 replicas: set replicas.subset");
    if ((uint64_t)s->replicas.count * s->replicas.workers > WORKERS_MAX)
        return refuse (why, self->policy, "more than 1048576 workers: lower replicas.workers");
    if (self->groups > s->clients)
        return refuse (why, self->policy,
                       "more groups of replicas than clients: raise replicas.subset or clients");
    if (s->network.loss > 0 && s->workload.deadline_ns == TIED_NEVER)
        return refuse (why, self->policy,
                       "network.loss needs workload.deadline: nothing else ends a call whose "
                       "request is lost");
    if ((is_tied (self->policy->kind) || self->submit.hedge_ns != TIED_HEDGE_NONE) && known < 2)
        return refuse (why, self->policy, "a second copy needs a second replica");
    return 0;
}

/* ---- hosts ---- */

static bool make_links (struct world *self)
{
    const struct sim_scenario *s = self->scenario;
    uint64_t links = 0;
    uint64_t peers = 0;
    struct world_link *link;
    struct world_direction *direction;

    if (!self->keeps_directions)
        return true;
    for (uint32_t i = 0; i < s->clients; i++)
        links += self->clients[i].replicas;
    for (uint32_t i = 0; i < s->replicas.count; i++)
        peers += self->replicas[i].peers;
    link = take_block (self, links, sizeof *link);
    direction = take_block (self, peers, sizeof *direction);
    if (link == NULL || direction == NULL)
        return false;
    for (uint32_t i = 0; i < s->clients; i++) {
        self->clients[i].links = link;
        link += self->clients[i].replicas;
    }
    for (uint32_t i = 0; i < s->replicas.count; i++) {
        self->replicas[i].to_peers = direction;
        direction += self->replicas[i].peers;
    }
    return true;
}

static bool make_conns (struct world *self)
{
    const uint32_t count = self->scenario->replicas.count;
    struct world_conn *conns;
    uint32_t *conn_of, *conns_free;

    if (!self->has_breaks)
        return true;
    conns = take_block (self, (size_t)count * self->conns_max, sizeof *conns);
    conns_free = take_block (self, (size_t)count * self->conns_max, sizeof *conns_free);
    conn_of = take_block (self, (size_t)count * self->clients_max, sizeof *conn_of);
    if (conns == NULL || conns_free == NULL || conn_of == NULL)
        return false;
    memset (conn_of, 0xff, (size_t)count * self->clients_max * sizeof *conn_of);
    for (uint32_t i = 0; i < count; i++) {
        struct world_replica *r = &self->replicas[i];

        r->conns = conns + (size_t)i * self->conns_max;
        r->conns_free = conns_free + (size_t)i * self->conns_max;
        r->conn_of = conn_of + (size_t)i * self->clients_max;
        for (uint32_t k = self->conns_max; k > 0; k--)
            r->conns_free[r->conns_free_count++] = k - 1;
    }
    return true;
}

static int out_of_memory (char why[SIM_WHY_MAX])
{
    (void)snprintf (why, SIM_WHY_MAX, "not enough memory for so many replicas and clients");
    return TIED_ERR_SYSTEM;
}

static int bad_option (char why[SIM_WHY_MAX],
                       const struct sim_policy *policy,
                       const char *who,
                       const char *field)
{
    (void)snprintf (why, SIM_WHY_MAX, "policy \"%s\": %s of the %s is out of its range",
                    policy->name, field, who);
    return TIED_ERR_INVAL;
}

static int make_clients (struct world *self, char why[SIM_WHY_MAX])
{
    const uint32_t count = self->scenario->clients;
    const uint32_t calls_max = self->sizes.calls_max;
    uint32_t *tokens = take_block (self, (size_t)count * calls_max, sizeof *tokens);
    size_t stride = 0;

    if (tokens == NULL)
        return out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_client_core_options o = client_options (self, i);
        const char *field;

        if (tied_client_core_options_check (&o, &field) != 0)
            return bad_option (why, self->policy, "client", field);
        stride = ti_max (stride, stride_of (tied_client_core_size (&o)));
    }
    self->client_memory = take_lines (self, count, stride);
    if (self->client_memory == NULL)
        return out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_client_core_options o = client_options (self, i);
        struct world_client *c = &self->clients[i];

        c->core = tied_client_core_init (self->client_memory + i * stride, stride, &o);
        TI_ASSERT (c->core != NULL);
        for (uint32_t k = 0; k < c->replicas; k++)
            if (tied_client_core_add_replica (c->core) != (int)k)
                TI_UNREACHABLE ();
        c->tokens = tokens + (size_t)i * calls_max;
        for (uint32_t k = calls_max; k > 0; k--)
            c->tokens[c->tokens_free++] = k - 1;
        c->calls = take (self, RING_FIRST, sizeof *c->calls);
        c->calls_mask = RING_FIRST - 1;
        if (c->calls == NULL)
            return out_of_memory (why);
    }
    return 0;
}

static int make_replicas (struct world *self, char why[SIM_WHY_MAX])
{
    const uint32_t count = self->scenario->replicas.count;
    const size_t slots = self->sizes.queue_depth + self->workers;
    struct world_slot *slot = take_block (self, count * slots, sizeof *slot);
    uint32_t *serves = take_block (self, (size_t)count * self->workers, sizeof *serves);
    uint32_t *idle = take_block (self, (size_t)count * self->workers, sizeof *idle);
    size_t stride = 0;

    if (slot == NULL || serves == NULL || idle == NULL)
        return out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_replica_core_options o = replica_options (self, i);
        const char *field;

        if (tied_replica_core_options_check (&o, &field) != 0)
            return bad_option (why, self->policy, "replica", field);
        stride = ti_max (stride, stride_of (tied_replica_core_size (&o)));
    }
    self->replica_memory = take_lines (self, count, stride);
    if (self->replica_memory == NULL)
        return out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_replica_core_options o = replica_options (self, i);
        struct world_replica *r = &self->replicas[i];

        r->core = tied_replica_core_init (self->replica_memory + i * stride, stride, &o);
        TI_ASSERT (r->core != NULL);
        r->slots = slot + i * slots;
        r->serves = serves + (size_t)i * self->workers;
        r->idle = idle + (size_t)i * self->workers;
        for (uint32_t k = 0; k < self->workers; k++)
            r->idle[k] = self->workers - 1 - k;
        if (is_tied (self->policy->kind))
            world_replica_peers_up (self, i);
    }
    return 0;
}

/* Who knows whom. */
static bool make_groups (struct world *self)
{
    const struct sim_scenario *s = self->scenario;
    const uint32_t size = s->replicas.subset > 0 ? s->replicas.subset : s->replicas.count;

    self->clients = take_block (self, s->clients, sizeof *self->clients);
    self->replicas = take_block (self, s->replicas.count, sizeof *self->replicas);
    self->names = take_block (self, s->replicas.count, sizeof *self->names);
    if (self->clients == NULL || self->replicas == NULL || self->names == NULL)
        return false;
    for (uint32_t i = 0; i < s->replicas.count; i++) {
        struct world_replica *r = &self->replicas[i];
        char text[16] = {0};

        r->group = i / size;
        r->first = r->group * size;
        r->peers = (uint32_t)ti_min (size, s->replicas.count - r->first);
        self->names[i].size = (uint8_t)snprintf (text, sizeof text, "r%u", (unsigned)i);
        memcpy (self->names[i].text, text, sizeof self->names[i].text);
    }
    for (uint32_t i = 0; i < s->clients; i++) {
        struct world_client *c = &self->clients[i];

        c->local = i / self->groups;
        c->first = (i % self->groups) * size;
        c->replicas = (uint32_t)ti_min (size, s->replicas.count - c->first);
        self->ungreeted += c->replicas;
    }
    return true;
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

    for (uint32_t c = 0; c < self->scenario->clients; c++) {
        for (uint32_t i = 0; i < self->clients[c].replicas; i++) {
            const uint32_t replica = self->clients[c].first + i;
            const uint64_t random = sim_draw (self->seed, SIM_STREAM_CHOICE, c, 1 + replica);
            const struct sim_event event = {
                .at = WORLD_START + random % spread, .kind = WORLD_LINK_UP, .a = c, .b = replica};

            sim_events_put (self->events, -1, &event);
        }
    }
}

static int fill (struct world *self, char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = self->scenario;
    const uint64_t shuffle = sim_draw (self->seed, SIM_STREAM_SHUFFLE, 0, 0) | 1;
    int rc;

    self->events = sim_events_new (s->shuffles_ties ? shuffle : 0);
    self->replica_timers = s->clients;
    self->worker_timers = s->clients + (self->has_timers ? s->replicas.count : 0);
    if (self->events == NULL ||
        !sim_events_add_timers (self->events,
                                self->worker_timers + s->replicas.count * self->workers) ||
        !make_groups (self) || !make_links (self) || !make_conns (self))
        return out_of_memory (why);
    rc = make_replicas (self, why);
    if (rc == 0)
        rc = make_clients (self, why);
    if (rc != 0)
        return rc;
    self->source = sim_source_new (s, self->seed, self->result);
    if (self->source == NULL)
        return refuse (why, self->policy, "the workload offers no request");
    self->speed = sim_speed_new (&s->replicas, self->seed);
    if (self->speed == NULL)
        return out_of_memory (why);
    make_lanes (self);
    connect_later (self);
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

    *self = (struct world){
        .scenario = s,
        .policy = &s->policies[options->policy],
        .watch = options->watch,
        .result = result,
        .origin = TIED_NEVER,
        .sizes = *sizes,
        .is_depth_ours = sizes->queue_depth<s->replicas.queue_depth, .seed = options->seed,
                                            .fault = options->fault, .checks = options->checks,
                                            .has_breaks = s->network.break_gap_ns> 0,
        .workers = s->replicas.workers,
        .fan_out = s->workload.fan_out,
        .groups = 1,
        .span_first = TIED_NEVER};
    if (s->replicas.subset > 0)
        self->groups = (s->replicas.count + s->replicas.subset - 1) / s->replicas.subset;
    self->is_watching = options->watch != NULL && options->watch->note != NULL &&
                        options->watch->call != UINT64_MAX;
    self->keeps_directions = self->has_breaks || s->network.high_water > 0 ||
                             s->network.client.has_extra || s->network.peer.has_extra;
    self->has_timers = self->has_breaks || s->workload.deadline_ns != TIED_NEVER;
    self->clients_max = (s->clients + self->groups - 1) / self->groups;
    self->conns_max = self->has_breaks ? 4 * self->clients_max + 4 : self->clients_max;
    fill_submit (self);
    self->patience_ns = world_patience_ns (self);
    rc = check (self, why);
    if (rc == 0)
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
    sim_events_free (self->events);
    free (self->request_times);
    free (self->client_memory);
    free (self->replica_memory);
    for (uint32_t i = 0; i < self->blocks_count; i++)
        free (self->blocks[i]);
    self->blocks_count = 0;
}
