/* SPDX-License-Identifier: MIT */
/* Makes the hosts of a world: cores with their options, and the tables of their drivers. */
#include "world_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "tools/policy_text.h"

#include <tied/error.h>

#define LINE          64u
#define PAGE          (UINT64_C (1) << 21)
#define LARGE         (UINT64_C (1) << 23)
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

static void *memory_of (struct world *self, void *memory, size_t size)
{
    if (memory != NULL)
        self->memory_bytes += size;
    return memory;
}

/* Large blocks in large pages, if the system has them: else most of the time goes into finding out
 * where memory is. */
static unsigned char *take_lines (struct world *self, size_t count, size_t stride)
{
    const size_t size = count * stride;
    unsigned char *memory;

    if (size < LARGE)
        return memory_of (self, aligned_alloc (LINE, size), size);
    memory = aligned_alloc (PAGE, (size + PAGE - 1) / PAGE * PAGE);
    if (memory != NULL)
        (void)madvise (memory, size, MADV_HUGEPAGE);
    self->is_large = true;
    return memory_of (self, memory, size);
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
    o.probation_milli = policy->probation_milli;
    o.heartbeat_ns = self->scenario->heartbeat_ns;
    if (!ti_hedge_rule_learns (&policy->settings.hedge) && !policy->settings.is_shadow)
        o.learn_ns = 0;
    return o;
}

uint64_t world_incarnation (const struct world *self, uint32_t number)
{
    return (uint64_t)self->replicas[number].life << 32 | (number + 1);
}

struct tied_replica_core_options world_replica_options (const struct world *self, uint32_t number)
{
    const struct sim_scenario *s = self->scenario;
    struct tied_replica_core_options o;

    tied_replica_core_options_init (&o);
    o.incarnation = world_incarnation (self, number);
    o.seed = sim_draw (self->seed, SIM_STREAM_CHOICE, UINT64_MAX, number);
    o.workers = self->workers;
    o.queue_depth = self->sizes.queue_depth;
    if (!self->is_parking)
        o.park_max = 0;
    else if (self->policy->park_max > 0)
        o.park_max = self->policy->park_max;
    if (self->policy->park_lease_ns > 0)
        o.park_lease_ns = self->policy->park_lease_ns;
    o.hedge_depth = self->policy->hedge_depth;
    /* Clones are not refused unless asked for. */
    if (o.hedge_depth == 0 && self->policy->kind == SIM_POLICY_CLONE)
        o.hedge_depth = o.queue_depth;
    o.hedge_depth = (uint32_t)ti_min (o.hedge_depth, o.queue_depth);
    o.recent_max = self->notes_max;
    o.clients_max = self->conns_max;
    o.peers_max = self->replicas[number].peers;
    o.client_silence_ns =
        self->has_breaks ? ti_max (TIED_S (5), SILENCE_BEATS * s->heartbeat_ns) : TIED_NEVER;
    return o;
}

/* ---- hosts ---- */

bool world_make_links (struct world *self)
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

bool world_make_conns (struct world *self)
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
        world_free_conns (self, r);
    }
    return true;
}

void world_free_conns (const struct world *self, struct world_replica *r)
{
    r->conns_free_count = 0;
    for (uint32_t k = self->conns_max; k > 0; k--) {
        r->conns[k - 1].is_used = false;
        r->conns_free[r->conns_free_count++] = k - 1;
    }
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

static void add_replica (const struct world *self, const struct world_client *c, uint32_t local)
{
    const uint32_t zones = self->scenario->replicas.zones;

    if (tied_client_core_add_replica (c->core) != (int)local)
        TI_UNREACHABLE ();
    if (zones > 0 && !self->policy->ignores_zones &&
        tied_client_core_set_zone (c->core, local, 1 + (c->first + local) % zones) != 0)
        TI_UNREACHABLE ();
}

int world_make_clients (struct world *self, char why[SIM_WHY_MAX])
{
    const uint32_t count = self->scenario->clients;
    const uint32_t calls_max = self->sizes.calls_max;
    uint32_t *tokens = take_block (self, (size_t)count * calls_max, sizeof *tokens);
    size_t stride = 0;

    if (tokens == NULL)
        return world_out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_client_core_options o = client_options (self, i);
        const char *field;

        if (tied_client_core_options_check (&o, &field) != 0)
            return bad_option (why, self->policy, "client", field);
        stride = ti_max (stride, stride_of (tied_client_core_size (&o)));
    }
    self->client_memory = take_lines (self, count, stride);
    if (self->client_memory == NULL)
        return world_out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_client_core_options o = client_options (self, i);
        struct world_client *c = &self->clients[i];

        c->core = tied_client_core_init (self->client_memory + i * stride, stride, &o);
        TI_ASSERT (c->core != NULL);
        if (tied_client_core_set_policy (c->core, 0, &self->policy->settings) != 0)
            TI_UNREACHABLE ();
        for (uint32_t k = 0; k < c->replicas; k++)
            add_replica (self, c, k);
        c->tokens = tokens + (size_t)i * calls_max;
        for (uint32_t k = calls_max; k > 0; k--)
            c->tokens[c->tokens_free++] = k - 1;
        c->calls = take (self, RING_FIRST, sizeof *c->calls);
        c->calls_mask = RING_FIRST - 1;
        if (c->calls == NULL)
            return world_out_of_memory (why);
    }
    return 0;
}

int world_make_replicas (struct world *self, char why[SIM_WHY_MAX])
{
    const uint32_t count = self->scenario->replicas.count;
    const struct tied_replica_core_options first = world_replica_options (self, 0);
    const size_t slots = (size_t)self->sizes.queue_depth + self->workers + first.park_max;
    struct world_slot *slot = take_block (self, count * slots, sizeof *slot);
    uint32_t *serves = take_block (self, (size_t)count * self->workers, sizeof *serves);
    uint32_t *idle = take_block (self, (size_t)count * self->workers, sizeof *idle);
    struct tied_call_id *held = NULL;
    size_t stride = 0;

    if (self->has_crashes)
        held = take_block (self, count * slots, sizeof *held);
    if (slot == NULL || serves == NULL || idle == NULL || (self->has_crashes && held == NULL))
        return world_out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_replica_core_options o = world_replica_options (self, i);
        const char *field;

        if (tied_replica_core_options_check (&o, &field) != 0)
            return bad_option (why, self->policy, "replica", field);
        stride = ti_max (stride, stride_of (tied_replica_core_size (&o)));
    }
    self->replica_memory = take_lines (self, count, stride);
    if (self->replica_memory == NULL)
        return world_out_of_memory (why);
    for (uint32_t i = 0; i < count; i++) {
        const struct tied_replica_core_options o = world_replica_options (self, i);
        struct world_replica *r = &self->replicas[i];

        r->core = tied_replica_core_init (self->replica_memory + i * stride, stride, &o);
        TI_ASSERT (r->core != NULL);
        r->slots = slot + i * slots;
        r->held = held == NULL ? NULL : held + i * slots;
        r->serves = serves + (size_t)i * self->workers;
        r->idle = idle + (size_t)i * self->workers;
        for (uint32_t k = 0; k < self->workers; k++)
            r->idle[k] = self->workers - 1 - k;
        if (sim_policy_is_tie (self->policy->kind))
            world_replica_peers_up (self, i);
    }
    return 0;
}

/* Who knows whom. */
bool world_make_groups (struct world *self)
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
        r->timer = self->parts_count > 1 ? i - r->first : i;
        self->names[i].size = (uint8_t)snprintf (text, sizeof text, "r%u", (unsigned)i);
        memcpy (self->names[i].text, text, sizeof self->names[i].text);
    }
    for (uint32_t i = 0; i < s->clients; i++) {
        struct world_client *c = &self->clients[i];

        c->local = i / self->groups;
        c->timer = i / self->parts_count;
        c->first = (i % self->groups) * size;
        c->replicas = (uint32_t)ti_min (size, s->replicas.count - c->first);
    }
    return true;
}
