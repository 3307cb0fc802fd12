/* SPDX-License-Identifier: MIT */
/* The counters, as a struct and as the answer of the built-in method `tied.stats`. */
#include <string.h>

#include <msgpack/pack.h>
#include <msgpack/sbuffer.h>

#include "engine.h"

static void fill_stats (tied_replica_t *self, struct tied_replica_stats *out)
{
    *out = self->stats;
    out->results_stored = self->results.stored;
    out->results_evicted = self->results.evicted;
    out->results_expired = self->results.expired;
    out->results_too_large = self->results.too_large;
    out->struct_size = sizeof *out;
    out->core = *tied_replica_core_counters (self->core);
    out->load = tied_replica_core_load (self->core);
    out->incarnation = self->options.core.incarnation;
}

static void pack_pair (msgpack_packer *packer, const char *name, uint64_t value)
{
    size_t size = strlen (name);

    (void)msgpack_pack_str (packer, size);
    (void)msgpack_pack_str_body (packer, name, size);
    (void)msgpack_pack_uint64 (packer, value);
}

#define COUNT_ONE_(name) +1
enum {
    PAIRS = TIED_REPLICA_COUNTER_MAP (COUNT_ONE_) TIED_REPLICA_IO_COUNTER_MAP (COUNT_ONE_) + 6
};
#undef COUNT_ONE_

static void
pack_stats (msgpack_packer *packer, const struct tied_replica_stats *stats, uint32_t workers)
{
    (void)msgpack_pack_map (packer, PAIRS);
#define PACK_CORE_(name) pack_pair (packer, #name, stats->core.name);
#define PACK_IO_(name)   pack_pair (packer, #name, stats->name);
    TIED_REPLICA_COUNTER_MAP (PACK_CORE_)
    TIED_REPLICA_IO_COUNTER_MAP (PACK_IO_)
#undef PACK_CORE_
#undef PACK_IO_
    pack_pair (packer, "depth", stats->load.depth);
    pack_pair (packer, "running", stats->load.running);
    pack_pair (packer, "wait_us", stats->load.wait_us);
    pack_pair (packer, "incarnation", stats->incarnation);
    pack_pair (packer, "service_ns", stats->service_ns);
    pack_pair (packer, "workers", workers);
}

void ti_report_answer (tied_replica_t *self,
                       struct ti_envelope *envelope,
                       const struct tied_wire_request *request)
{
    struct tied_replica_stats stats;
    struct tied_message message = {.type = TIED_WIRE_REPLY,
                                   .u.reply = {.call = request->call, .copy = request->copy}};
    msgpack_sbuffer buffer;
    msgpack_packer packer;

    fill_stats (self, &stats);
    msgpack_sbuffer_init (&buffer);
    msgpack_packer_init (&packer, &buffer, msgpack_sbuffer_write);
    pack_stats (&packer, &stats, self->options.core.workers);
    message.u.reply.load = stats.load;
    message.u.reply.body = (struct tied_view){buffer.data, buffer.size};
    if (ti_answer (self, self->clients_sock, envelope, &message) != 0)
        self->stats.replies_dropped++;
    msgpack_sbuffer_destroy (&buffer);
}

int tied_replica_stats (tied_replica_t *self, struct tied_replica_stats *out)
{
    struct tied_replica_stats stats;
    size_t size;

    if (!self || !out || out->struct_size < sizeof out->struct_size)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    fill_stats (self, &stats);
    ti_engine_unlock (self);
    size = out->struct_size < sizeof stats ? out->struct_size : sizeof stats;
    stats.struct_size = out->struct_size;
    memcpy (out, &stats, size);
    return 0;
}

int tied_replica_peer_stats (tied_replica_t *self, const char *id, struct tied_peer_stats *out)
{
    struct tied_peer_stats stats = {0};
    uint32_t index;
    size_t size;

    if (!self || !id || !out || out->struct_size < sizeof out->struct_size)
        return TIED_ERR_INVAL;
    ti_engine_lock (self);
    index = ti_names_find (&self->peer_names, id, strnlen (id, TIED_NAME_MAX + 1));
    if (index != TI_NAME_NONE) {
        const struct ti_peer *peer = &self->peers[index];
        stats = peer->stats;
        stats.is_up = peer->is_greeted;
        stats.is_known = peer->route != TI_ROUTE_NONE;
        stats.silent_ns = peer->heard_at ? self->now - peer->heard_at : TIED_NEVER;
    }
    ti_engine_unlock (self);
    if (index == TI_NAME_NONE)
        return TIED_ERR_ABSENT;
    size = out->struct_size < sizeof stats ? out->struct_size : sizeof stats;
    stats.struct_size = out->struct_size;
    memcpy (out, &stats, size);
    return 0;
}
