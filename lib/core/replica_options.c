/* SPDX-License-Identifier: MIT */
#include <tied/replica_core.h>

#include "base/util.h"

#define COUNT_MAX (UINT32_C (1) << 20)

void tied_replica_core_options_init (struct tied_replica_core_options *options)
{
    memset (options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->workers = 4;
    options->queue_depth = 1024;
    options->hedge_depth = 0;
    options->hedge_lane = TIED_HEDGE_LANE_FIFO;
    options->hedge_wait_ns = TIED_NEVER;
    options->recent_max = 16384;
    options->recent_ttl_ns = TIED_S (2);
    options->clients_max = 1024;
    options->peers_max = 64;
    options->client_silence_ns = TIED_S (5);
    options->park_max = 256;
    options->park_lease_ns = TIED_MS (500);
}

static bool is_within (uint64_t value, uint64_t low, uint64_t high)
{
    return low <= value && value <= high;
}

/* Name of the first field out of its range, NULL if all are in. */
static const char *bad_field (const struct tied_replica_core_options *options)
{
    if (options->struct_size != sizeof *options)
        return "struct_size";
    if (options->incarnation == 0)
        return "incarnation";
    if (!is_within (options->workers, 1, 4096))
        return "workers";
    if (!is_within (options->queue_depth, 1, COUNT_MAX))
        return "queue_depth";
    if (!is_within (options->hedge_depth, 0, options->queue_depth))
        return "hedge_depth";
    if (!is_within (options->hedge_lane, TIED_HEDGE_LANE_FIFO, TIED_HEDGE_LANE_BEHIND))
        return "hedge_lane";
    if (!is_within (options->recent_max, 16, 4 * (uint64_t)COUNT_MAX))
        return "recent_max";
    if (!is_within (options->recent_ttl_ns, TIED_MS (1), TIED_S (3600)))
        return "recent_ttl_ns";
    if (!is_within (options->clients_max, 1, COUNT_MAX))
        return "clients_max";
    if (!is_within (options->peers_max, 0, 4096))
        return "peers_max";
    if (!is_within (options->client_silence_ns, TIED_MS (10), TIED_NEVER))
        return "client_silence_ns";
    if (!is_within (options->park_max, 0, COUNT_MAX))
        return "park_max";
    if (!is_within (options->park_lease_ns, TIED_MS (1), TIED_S (3600)))
        return "park_lease_ns";
    return NULL;
}

int tied_replica_core_options_check (const struct tied_replica_core_options *options,
                                     const char **out_field)
{
    const char *field = options ? bad_field (options) : "options";

    if (!field)
        return 0;
    if (out_field)
        *out_field = field;
    return TIED_ERR_INVAL;
}
