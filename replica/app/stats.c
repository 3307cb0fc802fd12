/* SPDX-License-Identifier: MIT */
#include "stats.h"

#include <inttypes.h>

#include "base/assert.h"
#include "tools/json.h"

static void write_counters (struct ti_json *json, tied_replica_t *replica)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    char incarnation[24];
    int rc = tied_replica_stats (replica, &stats);

    TI_ASSERT (rc == 0);
    ti_json_object (json, "stats");
#define WRITE_CORE_(name) ti_json_u64 (json, #name, stats.core.name);
#define WRITE_IO_(name)   ti_json_u64 (json, #name, stats.name);
    TIED_REPLICA_COUNTER_MAP (WRITE_CORE_)
    TIED_REPLICA_IO_COUNTER_MAP (WRITE_IO_)
#undef WRITE_CORE_
#undef WRITE_IO_
    ti_json_u64 (json, "depth", stats.load.depth);
    ti_json_u64 (json, "running", stats.load.running);
    ti_json_u64 (json, "wait_us", stats.load.wait_us);
    /* Text, as the seed of a report: all of its 64 bits are used, and few readers keep those. */
    (void)snprintf (incarnation, sizeof incarnation, "%" PRIu64, stats.incarnation);
    ti_json_string (json, "incarnation", incarnation);
    ti_json_u64 (json, "service_ns", stats.service_ns);
    ti_json_end (json);
}

static void write_peer (struct ti_json *json, tied_replica_t *replica, const char *id)
{
    struct tied_peer_stats stats = {.struct_size = sizeof stats};
    int rc = tied_replica_peer_stats (replica, id, &stats);

    TI_ASSERT (rc == 0);
    ti_json_object (json, NULL);
    ti_json_string (json, "id", id);
    ti_json_bool (json, "is_known", stats.is_known);
    if (stats.silent_ns == TIED_NEVER)
        ti_json_null (json, "silent_ms");
    else
        ti_json_ms (json, "silent_ms", stats.silent_ns);
#define WRITE_PEER_(name) ti_json_u64 (json, #name, stats.name);
    TIED_PEER_COUNTER_MAP (WRITE_PEER_)
#undef WRITE_PEER_
    ti_json_end (json);
}

int stats_write (FILE *file, tied_replica_t *replica, const char *id, const struct ti_pairs *peers)
{
    struct ti_json json;

    ti_json_init (&json, file, 2);
    ti_json_object (&json, NULL);
    ti_json_u64 (&json, "schema", 1);
    ti_json_string (&json, "id", id);
    write_counters (&json, replica);
    ti_json_array (&json, "peers");
    for (uint32_t i = 0; i < peers->count; i++)
        write_peer (&json, replica, peers->items[i].id);
    ti_json_end (&json);
    ti_json_end (&json);
    return ti_json_finish (&json);
}
