/* SPDX-License-Identifier: MIT */
/* What all reference policies share beside calls and servers: messages, samples, the trace. */
#include "reference/ref.h"

tied_duration_t sim_ref_delay (struct sim_ref *ref)
{
    const struct sim_delay *delay = &ref->scenario->network.client;
    if (!delay->has_extra)
        return delay->fixed_ns;
    const uint64_t random = sim_draw (ref->options->seed, SIM_STREAM_NETWORK, ref->messages++, 0);
    return delay->fixed_ns + ti_dist_draw (&delay->extra, random);
}

void sim_ref_post (struct sim_ref *ref,
                   int lane,
                   tied_duration_t delay,
                   enum sim_ref_kind kind,
                   uint32_t a,
                   uint32_t b,
                   uint64_t value)
{
    const struct sim_event event = {
        .at = ti_time_add (ref->now, delay), .kind = kind, .a = a, .b = b, .value = value};
    sim_events_put (ref->events, lane, &event);
}

void sim_ref_send (
    struct sim_ref *ref, enum sim_ref_kind kind, uint32_t a, uint32_t b, uint64_t value)
{
    sim_ref_post (ref, ref->lane, sim_ref_delay (ref), kind, a, b, value);
}

struct sim_ref_group sim_ref_group_of (const struct sim_ref *ref, uint32_t client)
{
    const uint32_t groups = (ref->servers_count + ref->group_size - 1) / ref->group_size;
    const uint32_t first = client % groups * ref->group_size;
    const uint32_t rest = ref->servers_count - first;
    return (struct sim_ref_group){first, rest < ref->group_size ? rest : ref->group_size};
}

struct sim_ref_sampled
sim_ref_sample (struct sim_ref *ref, uint32_t client, uint32_t count, struct ti_prng *choices)
{
    const struct sim_ref_group group = sim_ref_group_of (ref, client);
    const struct sim_ref_sample *set =
        group.count == ref->sample.size ? &ref->sample : &ref->sample_last;
    TI_ASSERT (group.count == set->size);
    const uint32_t taken = count < set->size ? count : set->size;
    /* The order that an earlier draw left behind is as good as any other to begin with. */
    for (uint32_t i = 0; i < taken; i++) {
        const uint32_t j = i + (uint32_t)ti_prng_below (choices, set->size - i);
        const uint32_t item = set->items[j];
        set->items[j] = set->items[i];
        set->items[i] = item;
    }
    return (struct sim_ref_sampled){set->items, group.first, taken};
}

static const char *name_of (enum sim_ref_kind kind)
{
    switch (kind) {
    case SIM_REF_COPY:
        return "REQUEST";
    case SIM_REF_HOP:
        return "passes";
    case SIM_REF_ANSWER:
    case SIM_REF_RESULT:
        return "REPLY";
    case SIM_REF_DEADLINE:
        return "deadline";
    case SIM_REF_PROBE:
    case SIM_REF_PROBE_ANSWER:
        return "PROBE";
    case SIM_REF_FINISH:
        return "ends";
    case SIM_REF_ARRIVES:
        return "submits";
    case SIM_REF_STARTS:
        return "starts";
    case SIM_REF_WAITING:
        return "queues";
    case SIM_REF_REFUSED:
        return "refuses";
    case SIM_REF_DROPPED:
        return "expires";
    case SIM_REF_KILLED:
        return "drops";
    case SIM_REF_ENDS:
        return "done";
    }
    TI_UNREACHABLE ();
}

static void note (struct sim_ref *ref, enum sim_ref_kind kind, uint32_t call, uint32_t copy)
{
    const struct sim_watch *watch = ref->options->watch;
    const int client = -1 - (int)ref->calls[call].client;
    struct sim_note out = {.at = ref->now,
                           .call = ref->calls[call].number,
                           .from = client,
                           .to = client,
                           .what = name_of (kind)};
    if (copy != SIM_REF_NONE) {
        const struct sim_ref_copy *which = &ref->copies[copy];
        out.copy = which->number;
        out.from = kind == SIM_REF_COPY ? client : (int)which->server;
        out.to = kind == SIM_REF_ANSWER ? client : (int)which->server;
        if (out.from == out.to)
            out.depth = ref->servers[which->server].waiting;
    }
    watch->note (watch->context, &out);
}

void sim_ref_tell (struct sim_ref *ref, enum sim_ref_kind kind, uint32_t call, uint32_t copy)
{
    const struct sim_ref_call *which = &ref->calls[call];
    const uint64_t server = copy == SIM_REF_NONE ? UINT32_MAX : ref->copies[copy].server;
    const uint64_t what = (uint64_t)kind << 56 | server;
    ref->result->trace_hash =
        ti_mix (ref->result->trace_hash ^ ti_mix (ref->now + which->number * 0x9e3779b9u) ^ what);
    const struct sim_watch *watch = ref->options->watch;
    if (watch && watch->note && watch->call == which->number)
        note (ref, kind, call, copy);
}
