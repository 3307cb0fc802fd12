/* SPDX-License-Identifier: MIT */
/*
 * Prequal ("Load is Not What You Should Balance", NSDI 2024). With each call a client sends three
 * probes to random replicas and does not wait for them: the call goes where the pool of earlier
 * answers says. A probe is answered at once with the replica's requests in flight and the latency
 * that calls had there which met as many.
 *
 * Of the paper: 3 probes a call, 16 in the pool, 1 s of age, 1 removed a call, delta 1, hot above
 * the 2^-0.25 quantile, a random replica when fewer than 2 probes are known. A probe may be used
 * (1 + delta) / ((1 - pool / replicas) probes - removed) times, the fraction drawn, and once where
 * that is less than 1 or not positive. Ours, where the paper leaves it open: a newer answer
 * replaces an older one of the same replica, the spread of RIF is that of the last 128 answers, and
 * the latency is the median of at least 5 of the replica's last 64 calls. Probes in idle times,
 * which the paper allows, are not sent.
 *
 * SIM_POLICY_PREQUAL_RIF is the same with a hot limit of 0: the fewest requests in flight, which is
 * the better choice for queues that serve one call at a time, where a latency tells of the past.
 */
#include <stdlib.h>

#include "reference/prequal_pool.h"
#include "reference/ref.h"

#define PROBES       3u
#define REMOVED      1
#define DELTA        1
#define KNOWN_MIN    2u
#define RIF_SHIFT    48 /* an answer's value: RIF above, latency below */
#define RIF_SENT_MAX UINT64_C (0xffff)
#define LATENCY_MASK ((UINT64_C (1) << RIF_SHIFT) - 1)

struct prequal {
    struct sim_prequal_pool *pools;        /* of each client */
    struct sim_prequal_history *histories; /* of each server */
};

static int init (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    (void)why;
    struct prequal *self = ref->state = calloc (1, sizeof *self);
    if (!self)
        return TIED_ERR_SYSTEM;
    self->pools = calloc (ref->scenario->clients, sizeof *self->pools);
    self->histories = calloc (ref->servers_count, sizeof *self->histories);
    return self->pools && self->histories ? 0 : TIED_ERR_SYSTEM;
}

static int init_by_rif (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    const int rc = init (ref, why);
    if (rc == 0)
        for (uint32_t i = 0; i < ref->scenario->clients; i++)
            ((struct prequal *)ref->state)->pools[i].is_by_rif = true;
    return rc;
}

static void deinit (struct sim_ref *ref)
{
    struct prequal *self = ref->state;
    if (!self)
        return;
    free (self->pools);
    free (self->histories);
    free (self);
}

/* How often an answer may be used, drawn anew for each. */
static uint32_t draw_uses (uint32_t replicas, struct ti_prng *choices)
{
    /* Numerator and denominator times the number of replicas. */
    const int64_t n = replicas;
    const int64_t above = (1 + DELTA) * n;
    const int64_t below = (n - (int64_t)SIM_PREQUAL_POOL) * (int64_t)PROBES - REMOVED * n;
    if (below <= 0)
        return 1;
    if (above <= below)
        return 1;
    const uint64_t part = ti_prng_below (choices, (uint64_t)below);
    return (uint32_t)(above / below + ((uint64_t)(above % below) > part));
}

static uint32_t choose (struct sim_ref *ref, uint32_t client)
{
    struct sim_prequal_pool *pool = &((struct prequal *)ref->state)->pools[client];
    uint32_t server;
    sim_prequal_pool_expire (pool, ref->now);
    if (pool->count >= KNOWN_MIN) {
        server = sim_prequal_pool_use (pool);
    } else {
        const struct sim_ref_sampled sampled =
            sim_ref_sample (ref, client, 1, &ref->choices[client]);
        server = sim_ref_sampled_at (&sampled, 0);
    }
    for (int i = 0; i < REMOVED; i++)
        sim_prequal_pool_shrink (pool);
    return server;
}

static void arrive (struct sim_ref *ref, uint32_t call)
{
    const uint32_t client = ref->calls[call].client;
    const uint32_t server = choose (ref, client);
    const uint32_t copy = sim_ref_copy_new (ref, call, server);
    sim_ref_send (ref, SIM_REF_COPY, copy, server, 0);

    const struct sim_ref_sampled sampled =
        sim_ref_sample (ref, client, PROBES, &ref->choices[client]);
    for (uint32_t i = 0; i < sampled.count; i++)
        sim_ref_send (ref, SIM_REF_PROBE, client, sim_ref_sampled_at (&sampled, i), 0);
    ref->result->probes += sampled.count;
}

static void finish (struct sim_ref *ref, uint32_t index)
{
    const struct sim_ref_copy *copy = &ref->copies[index];
    struct prequal *self = ref->state;
    sim_prequal_history_add (&self->histories[copy->server], copy->seen, ref->now - copy->reached);
    sim_ref_send (ref, SIM_REF_ANSWER, index, copy->server, 0);
}

static void message (struct sim_ref *ref, const struct sim_event *event)
{
    struct prequal *self = ref->state;
    const uint32_t client = event->a;
    const uint32_t server = event->b;
    if (event->kind == SIM_REF_PROBE) {
        const uint32_t rif = sim_ref_in_server (ref, server);
        const uint64_t latency = sim_prequal_history_estimate (&self->histories[server], rif);
        const uint64_t value =
            ti_min (rif, RIF_SENT_MAX) << RIF_SHIFT | ti_min (latency, LATENCY_MASK);
        sim_ref_send (ref, SIM_REF_PROBE_ANSWER, client, server, value);
        return;
    }
    const struct sim_prequal_probe probe = {
        .latency_ns = event->value & LATENCY_MASK,
        .received = ref->now,
        .server = server,
        .rif = (uint32_t)(event->value >> RIF_SHIFT),
        .uses_left = draw_uses (sim_ref_group_of (ref, client).count, &ref->choices[client]),
    };
    sim_prequal_pool_add (&self->pools[client], &probe);
}

const struct sim_ref_policy sim_ref_prequal = {
    .init = init, .deinit = deinit, .arrive = arrive, .finish = finish, .message = message};
const struct sim_ref_policy sim_ref_prequal_rif = {
    .init = init_by_rif, .deinit = deinit, .arrive = arrive, .finish = finish, .message = message};
