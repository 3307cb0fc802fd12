/* SPDX-License-Identifier: MIT */
/* What is known of replicas, by clients and by themselves; see prequal_pool.h. */
#include "reference/prequal_pool.h"

#include <string.h>

#include "base/assert.h"

/* 2^-0.25 of 65536. */
#define HOT_QUANTILE UINT64_C (55109)

static void forget (struct sim_prequal_pool *self, uint32_t at)
{
    self->count--;
    memmove (&self->probes[at], &self->probes[at + 1], (self->count - at) * sizeof self->probes[0]);
}

void sim_prequal_pool_add (struct sim_prequal_pool *self, const struct sim_prequal_probe *probe)
{
    uint32_t at = 0;
    while (at < self->count && self->probes[at].server != probe->server)
        at++;
    if (at < self->count)
        forget (self, at);
    else if (self->count == SIM_PREQUAL_POOL)
        forget (self, 0);
    self->probes[self->count++] = *probe;

    const uint32_t rif = probe->rif < SIM_PREQUAL_RIF_MAX ? probe->rif : SIM_PREQUAL_RIF_MAX;
    if (self->spread_count == SIM_PREQUAL_SPREAD)
        self->with_rif[self->spread[self->spread_next]]--;
    else
        self->spread_count++;
    self->spread[self->spread_next] = (uint8_t)rif;
    self->spread_next = (self->spread_next + 1) % SIM_PREQUAL_SPREAD;
    self->with_rif[rif]++;
}

void sim_prequal_pool_expire (struct sim_prequal_pool *self, tied_time_t now)
{
    while (self->count > 0 && now - self->probes[0].received > SIM_PREQUAL_AGE_NS)
        forget (self, 0);
}

uint32_t sim_prequal_pool_hot (const struct sim_prequal_pool *self)
{
    const uint64_t rank = (self->spread_count * HOT_QUANTILE + 65535) / 65536;
    uint64_t seen = 0;
    uint32_t rif = 0;
    if (self->is_by_rif)
        return 0;
    while (rif < SIM_PREQUAL_RIF_MAX && (seen += self->with_rif[rif]) < rank)
        rif++;
    return rif;
}

/* Cold before hot, then by what counts there. */
static bool
is_better (const struct sim_prequal_probe *a, const struct sim_prequal_probe *b, uint32_t hot)
{
    const bool is_a_hot = a->rif > hot;
    const bool is_b_hot = b->rif > hot;
    if (is_a_hot != is_b_hot)
        return is_b_hot;
    return is_a_hot ? a->rif < b->rif : a->latency_ns < b->latency_ns;
}

uint32_t sim_prequal_pool_use (struct sim_prequal_pool *self)
{
    TI_ASSERT (self->count > 0);
    const uint32_t hot = sim_prequal_pool_hot (self);
    uint32_t best = self->count - 1; /* of equal ones the newest */
    for (uint32_t i = best; i-- > 0;)
        if (is_better (&self->probes[i], &self->probes[best], hot))
            best = i;
    struct sim_prequal_probe *probe = &self->probes[best];
    const uint32_t server = probe->server;
    probe->rif++;
    if (--probe->uses_left == 0)
        forget (self, best);
    return server;
}

void sim_prequal_pool_shrink (struct sim_prequal_pool *self)
{
    if (self->count == 0)
        return;
    uint32_t worst = 0;
    if (self->removes_worst) {
        const uint32_t hot = sim_prequal_pool_hot (self);
        for (uint32_t i = 1; i < self->count; i++)
            if (is_better (&self->probes[worst], &self->probes[i], hot))
                worst = i;
    }
    self->removes_worst = !self->removes_worst;
    forget (self, worst);
}

void sim_prequal_history_add (struct sim_prequal_history *self, uint32_t rif, uint64_t latency_ns)
{
    self->rif[self->next] = rif;
    self->latency_ns[self->next] = latency_ns;
    self->next = (self->next + 1) % SIM_PREQUAL_HISTORY;
    self->count += self->count < SIM_PREQUAL_HISTORY;
}

static uint32_t distance (uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Adds the latencies at this distance, and finds the next larger distance. */
static uint32_t add_near (const struct sim_prequal_history *self,
                          uint32_t rif,
                          uint32_t at,
                          uint64_t sorted[SIM_PREQUAL_HISTORY],
                          uint32_t *count)
{
    uint32_t next = UINT32_MAX;
    for (uint32_t i = 0; i < self->count; i++) {
        const uint32_t away = distance (self->rif[i], rif);
        if (away > at && away < next)
            next = away;
        if (away != at)
            continue;
        uint32_t place = (*count)++;
        for (; place > 0 && sorted[place - 1] > self->latency_ns[i]; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = self->latency_ns[i];
    }
    return next;
}

uint64_t sim_prequal_history_estimate (const struct sim_prequal_history *self, uint32_t rif)
{
    uint64_t sorted[SIM_PREQUAL_HISTORY];
    uint32_t count = 0;
    for (uint32_t at = 0; count < SIM_PREQUAL_NEAR && count < self->count;)
        at = add_near (self, rif, at, sorted, &count);
    return count > 0 ? sorted[count / 2] : 0;
}
