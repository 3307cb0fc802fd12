/* SPDX-License-Identifier: MIT */
/* Memory of a replica core: its layout and creation. */
#include "replica_core.h"

#include "base/assert.h"

/* Big arrays start on a cache line, if the caller's memory does not move afterwards. */
#define LINE 64

TI_STATIC_ASSERT (TI_REPLICA_ACTIONS_MAX >= TI_REPLICA_COPIES_MAX, "CANCEL of every copy fits");
TI_STATIC_ASSERT (TI_REPLICA_ACTIONS_MAX >= 3 * TI_REPLICA_PURGE_MAX + 2 * TI_REPLICA_SWEEP_MAX +
                                                2 * TI_REPLICA_ASIDE_MAX,
                  "TIMEOUT fits");
TI_STATIC_ASSERT (TI_REPLICA_ACTIONS_MAX >= 3 * TI_REPLICA_TAKE_MAX + 2, "TAKE fits");

static uint32_t slots_for (const struct tied_replica_core_options *options)
{
    return options->queue_depth + options->workers + options->park_max;
}

/* A copy has at most three actions in one step, a purged client one, TAKE and FINISH two more. */
static uint32_t actions_for (const struct tied_replica_core_options *options)
{
    uint32_t slots = slots_for (options);

    return (uint32_t)ti_min (TI_REPLICA_ACTIONS_MAX, 3 * slots + TI_REPLICA_PURGE_MAX + 2);
}

struct layout {
    size_t peers;
    size_t actions;
    size_t clients;
    size_t queue;
    size_t recent;
    size_t end;
};

static size_t line_up (size_t size)
{
    return (size + LINE - 1) & ~(size_t)(LINE - 1);
}

/* Offsets from the first cache line after the struct. */
static struct layout layout_of (const struct tied_replica_core_options *options)
{
    struct layout at;

    at.peers = 0;
    at.actions = at.peers + line_up (options->peers_max);
    at.clients = at.actions + line_up (actions_for (options) * sizeof (struct tied_replica_action));
    at.queue = at.clients + line_up (ti_clients_size (options->clients_max));
    at.recent = at.queue + line_up (ti_queue_size (slots_for (options)));
    at.end = at.recent + line_up (ti_recent_size (options->recent_max));
    return at;
}

size_t tied_replica_core_size (const struct tied_replica_core_options *options)
{
    if (tied_replica_core_options_check (options, NULL) != 0)
        return 0;
    return sizeof (struct tied_replica_core) + LINE + layout_of (options).end;
}

tied_replica_core_t *
tied_replica_core_init (void *memory, size_t size, const struct tied_replica_core_options *options)
{
    tied_replica_core_t *self = memory;
    size_t needed = tied_replica_core_size (options);
    unsigned char *base = memory;
    struct layout at;
    uint64_t seed;

    if (!memory || needed == 0 || size < needed)
        return NULL;
    memset (memory, 0, needed);
    self->options = *options;
    seed = options->seed ? options->seed : options->incarnation;
    at = layout_of (options);
    base += sizeof *self;
    base += (LINE - (uintptr_t)base % LINE) % LINE;
    self->peers = (size_t)(base + at.peers - (unsigned char *)memory);
    self->actions = (size_t)(base + at.actions - (unsigned char *)memory);
    self->actions_max = actions_for (options);
    ti_admit_init (&self->admit, options);
    ti_clients_init (&self->clients, base + at.clients, options->clients_max,
                     options->client_silence_ns);
    ti_queue_init (&self->queue, base + at.queue, slots_for (options), seed);
    ti_recent_init (&self->recent, base + at.recent, options->recent_max, options->recent_ttl_ns,
                    seed);
    self->sweep_cursor = TI_SLOT_NONE;
    self->sweep_earliest = TIED_NEVER;
    return self;
}
