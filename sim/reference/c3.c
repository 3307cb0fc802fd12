/* SPDX-License-Identifier: MIT */
/*
 * C3 ("Cutting Tail Latency in Cloud Data Stores via Adaptive Replica Selection", NSDI 2015): each
 * client ranks the replicas that it knows by R - S + q^3 S and sends to the lowest. R and S are
 * smoothed response and service times, q = 1 + own outstanding calls x clients + smoothed queue.
 * Service time and queue come with each answer; the newest one weighs 0.9.
 *
 * The queue is what waits or runs when the answer leaves, and only clients of the same group count.
 * A replica that has not answered yet is taken for one of the client's mean service time.
 *
 * Left out is C3's rate control. Its constants are rates for each 20 ms of one data store, and the
 * loads here reach from microseconds to seconds; ranking alone is what other systems took over.
 *
 * Scores are doubles of IEEE arithmetic, one operation a statement, so that every compiler finds
 * the same order.
 */
#include <stdio.h>
#include <stdlib.h>

#include "reference/ref.h"

#define NEW_TENTHS  9   /* weight of the newest */
#define QUEUE_SCALE 256 /* queues are kept in parts of this */
#define PAIRS_MAX   (UINT64_C (1) << 25)

/* What a client knows of a replica. */
struct c3_known {
    uint64_t response_ns, service_ns; /* service 0: nothing yet */
    uint32_t queue;
    uint32_t outstanding;
};

struct c3 {
    uint64_t *service_ns;   /* of each client, over all its replicas; 0: nothing yet */
    struct c3_known *known; /* clients x group */
    double *scores;         /* of each of these; 0: never tried */
    double rivals;          /* clients of one group */
};

static int init (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    const uint64_t clients = ref->scenario->clients;
    const uint64_t groups = (ref->servers_count + ref->group_size - 1) / ref->group_size;
    if (clients * ref->group_size > PAIRS_MAX) {
        (void)snprintf (why, SIM_WHY_MAX,
                        "C3 keeps figures of each replica at each client: %llu clients x %llu "
                        "replicas are more than %llu pairs: use fewer, or replicas.subset",
                        (unsigned long long)clients, (unsigned long long)ref->group_size,
                        (unsigned long long)PAIRS_MAX);
        return TIED_ERR_INVAL;
    }
    struct c3 *self = ref->state = calloc (1, sizeof *self);
    if (!self)
        return TIED_ERR_SYSTEM;
    self->service_ns = calloc (clients, sizeof *self->service_ns);
    self->known = calloc (clients * ref->group_size, sizeof *self->known);
    self->rivals = (double)((clients + groups - 1) / groups);
    self->scores = calloc (clients * ref->group_size, sizeof *self->scores);
    return self->service_ns && self->known && self->scores ? 0 : TIED_ERR_SYSTEM;
}

static void deinit (struct sim_ref *ref)
{
    struct c3 *self = ref->state;
    if (!self)
        return;
    free (self->service_ns);
    free (self->known);
    free (self->scores);
    free (self);
}

static void rank (struct c3 *self, uint32_t client, size_t at)
{
    const struct c3_known *known = &self->known[at];
    const bool is_known = known->service_ns > 0;
    const uint64_t mean = ti_max (self->service_ns[client], 1);
    const double service = (double)(is_known ? known->service_ns : mean);
    const double own = (double)known->outstanding * self->rivals;
    const double reported = (double)known->queue / QUEUE_SCALE;
    const double others = 1 + own;
    const double queue = others + reported;
    const double square = queue * queue;
    const double cube = square * queue;
    const double work = cube * service;
    const double network = is_known ? (double)known->response_ns - service : 0;
    self->scores[at] = network + work;
}

static double score_of (double score, double untried)
{
    return score > 0 ? score : untried;
}

/* The lowest score; of equal ones a random one. */
static uint32_t choose (struct sim_ref *ref, uint32_t client, struct sim_ref_group group)
{
    const struct c3 *self = ref->state;
    const double *scores = &self->scores[(size_t)client * ref->group_size];
    const double untried = (double)self->service_ns[client];
    double least = score_of (scores[0], untried);
    uint32_t ties = 0, at = 0;
    for (uint32_t i = 1; i < group.count; i++) {
        const double score = score_of (scores[i], untried);
        least = score < least ? score : least;
    }
    for (uint32_t i = 0; i < group.count; i++)
        ties += score_of (scores[i], untried) <= least;
    for (uint64_t skipped = ti_prng_below (&ref->choices[client], ties);; at++)
        if (score_of (scores[at], untried) <= least && skipped-- == 0)
            return at;
}

static void arrive (struct sim_ref *ref, uint32_t call)
{
    const uint32_t client = ref->calls[call].client;
    struct c3 *self = ref->state;
    const struct sim_ref_group group = sim_ref_group_of (ref, client);
    const uint32_t chosen = choose (ref, client, group);
    const size_t at = (size_t)client * ref->group_size + chosen;
    self->known[at].outstanding++;
    rank (self, client, at);
    const uint32_t copy = sim_ref_copy_new (ref, call, group.first + chosen);
    sim_ref_send (ref, SIM_REF_COPY, copy, group.first + chosen, 0);
}

static uint64_t smooth (uint64_t old, uint64_t sample)
{
    return (old * (10 - NEW_TENTHS) + sample * NEW_TENTHS) / 10;
}

static void answer (struct sim_ref *ref, uint32_t index)
{
    const struct sim_ref_copy *copy = &ref->copies[index];
    const uint32_t client = ref->calls[copy->call].client;
    struct c3 *self = ref->state;
    const struct sim_ref_group group = sim_ref_group_of (ref, client);
    const size_t at = (size_t)client * ref->group_size + (copy->server - group.first);
    struct c3_known *known = &self->known[at];
    known->outstanding--;
    if (!copy->is_refused) {
        const uint64_t response = ref->now - copy->sent;
        const uint64_t service = copy->service_ns > 0 ? copy->service_ns : 1;
        const uint32_t left = copy->left_waiting + copy->left_running;
        const uint32_t queue =
            (left < UINT32_MAX / QUEUE_SCALE / 16 ? left : 0xfffff) * QUEUE_SCALE;
        const bool is_known = known->service_ns > 0;
        known->response_ns = is_known ? smooth (known->response_ns, response) : response;
        known->service_ns = is_known ? ti_max (smooth (known->service_ns, service), 1) : service;
        known->queue = is_known ? (uint32_t)smooth (known->queue, queue) : queue;
        uint64_t *mean = &self->service_ns[client];
        *mean = *mean > 0 ? (*mean * 9 + service) / 10 : service;
    }
    rank (self, client, at);
    sim_ref_take_answer (ref, index);
}

const struct sim_ref_policy sim_ref_c3 = {
    .init = init, .deinit = deinit, .arrive = arrive, .answer = answer};
