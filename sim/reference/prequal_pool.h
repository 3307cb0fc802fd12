/* SPDX-License-Identifier: MIT */
/*
 * What a client of Prequal knows: a pool of probe answers, and how requests in flight (RIF) are
 * spread over the replicas by the answers of late. And what a server knows: how long calls took
 * that met so many others. Pure; no messages here.
 */
#ifndef SIM_PREQUAL_POOL_H
#define SIM_PREQUAL_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/types.h>

#define SIM_PREQUAL_POOL    16u
#define SIM_PREQUAL_AGE_NS  UINT64_C (1000000000)
#define SIM_PREQUAL_SPREAD  128u /* answers that tell the spread of RIF */
#define SIM_PREQUAL_RIF_MAX 255u /* larger ones count as this in the spread */
#define SIM_PREQUAL_HISTORY 64u  /* calls that a server remembers */
#define SIM_PREQUAL_NEAR    5u   /* of these, so many with the nearest RIF tell the latency */

struct sim_prequal_probe {
    uint64_t latency_ns;
    tied_time_t received;
    uint32_t server, rif;
    uint32_t uses_left; /* at least 1 */
};

struct sim_prequal_pool {
    struct sim_prequal_probe probes[SIM_PREQUAL_POOL]; /* oldest first */
    uint32_t count;
    bool is_by_rif;     /* what is not idle is hot */
    bool removes_worst; /* next time; else the oldest */
    uint8_t spread[SIM_PREQUAL_SPREAD];
    uint32_t spread_count, spread_next;
    uint16_t with_rif[SIM_PREQUAL_RIF_MAX + 1];
};

/* An answer has come: it takes the place of an older one of the same server, else of the oldest if
 * the pool is full. */
void sim_prequal_pool_add (struct sim_prequal_pool *self, const struct sim_prequal_probe *probe);
/* Forgets what is older than SIM_PREQUAL_AGE_NS. */
void sim_prequal_pool_expire (struct sim_prequal_pool *self, tied_time_t now);
/* RIF above this is hot: the 2^-0.25 quantile of the spread; 0 if is_by_rif. */
uint32_t sim_prequal_pool_hot (const struct sim_prequal_pool *self);
/*
 * The cold probe of least latency, or if all are hot the one of least RIF. It is used: one more is
 * in flight at that server by what the client knows, and a probe without uses left is forgotten.
 * @return the server; the pool is not empty
 */
uint32_t sim_prequal_pool_use (struct sim_prequal_pool *self);
/* Forgets the oldest, or, every other time, the worst: the hot one of most RIF, or if none is hot
 * the one of most latency. */
void sim_prequal_pool_shrink (struct sim_prequal_pool *self);

struct sim_prequal_history {
    uint32_t rif[SIM_PREQUAL_HISTORY];
    uint64_t latency_ns[SIM_PREQUAL_HISTORY];
    uint32_t count, next;
};

void sim_prequal_history_add (struct sim_prequal_history *self, uint32_t rif, uint64_t latency_ns);
/* Median of the latencies seen with the RIF nearest to this one; 0: none yet. */
uint64_t sim_prequal_history_estimate (const struct sim_prequal_history *self, uint32_t rif);

#endif
