/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <tied/replica.h>

#include "text/id.h"

#define MIB (1u << 20)

void tied_replica_options_init (struct tied_replica_options *options)
{
    memset (options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->service = TIED_SERVICE_POOL;
    options->body_max = 8 * MIB;
    options->inline_max = 1024;
    options->batch_max = 64;
    options->reply_queue = 10000;
    options->queue_bytes = UINT64_C (256) * MIB;
    options->children_max = 1024;
    options->results_max = 4096;
    options->results_bytes = 16 * MIB;
    options->results_ttl_ns = TIED_S (60);
    options->results_waiting = 256;
    tied_replica_core_options_init (&options->core);
    options->core.incarnation = 0;
}

static const char *bad_field (const struct tied_replica_options *options)
{
    struct tied_replica_core_options core;
    const char *field = NULL;

    if (options->struct_size != sizeof *options)
        return "struct_size";
    if (!ti_is_id (options->id))
        return "id";
    if (options->service > TIED_SERVICE_INLINE)
        return "service";
    if (options->body_max > 64 * MIB)
        return "body_max";
    if (options->inline_max > 65536)
        return "inline_max";
    if (options->batch_max < 1 || options->batch_max > 65536)
        return "batch_max";
    if (options->reply_queue < 1 || options->reply_queue > 1u << 20)
        return "reply_queue";
    if (options->queue_bytes < options->body_max || options->queue_bytes > UINT64_C (1) << 40)
        return "queue_bytes";
    if (options->children_max < 1 || options->children_max > 1u << 20)
        return "children_max";
    if (options->results_max > 1u << 20)
        return "results_max";
    if (options->results_bytes > UINT64_C (1) << 40)
        return "results_bytes";
    if (options->results_ttl_ns < TIED_MS (1) || options->results_ttl_ns > TIED_S (86400))
        return "results_ttl_ns";
    if (options->results_waiting > 1u << 14)
        return "results_waiting";
    core = options->core;
    if (core.incarnation == 0)
        core.incarnation = 1; /* drawn at creation */
    if (tied_replica_core_options_check (&core, &field) != 0)
        return field;
    return NULL;
}

int tied_replica_options_check (const struct tied_replica_options *options, const char **out_field)
{
    const char *field = options ? bad_field (options) : "options";

    if (field && out_field)
        *out_field = field;
    return field ? TIED_ERR_INVAL : 0;
}
