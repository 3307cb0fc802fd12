/* SPDX-License-Identifier: MIT */
/* Service times by key; see demand.h. */
#include "workload/demand.h"

#include "base/assert.h"
#include "engine/stream.h"

/* a x b / 2^64: a uniform number below b from 64 random bits. */
static uint64_t scale_down (uint64_t random, uint64_t bound)
{
    uint64_t high = (random >> 32) * bound;
    uint64_t low = (random & UINT32_MAX) * bound;
    return (high + (low >> 32)) >> 32;
}

static uint64_t draw_base (const struct sim_workload *w, uint64_t random)
{
    if (w->service_table.count) {
        TI_ASSERT (w->service_table.count <= UINT32_MAX);
        return w->service_table.values[scale_down (random, w->service_table.count)];
    }
    return ti_dist_draw (&w->service, random);
}

/* The draw that copies share. A trace has it for each call in its order. */
static uint64_t common (const struct sim_workload *w, uint64_t seed, uint64_t call)
{
    if (w->service_in_order && w->service_table.count)
        return w->service_table.values[call % w->service_table.count];
    return draw_base (w, sim_draw (seed, SIM_STREAM_SERVICE, call, SIM_STREAM_SHARED));
}

/* Of a trace the first copy is what was recorded; a further one is like any other entry. */
static uint64_t independent (
    const struct sim_workload *w, uint64_t seed, uint64_t call, uint32_t replica, uint32_t copy)
{
    if (w->service_in_order && copy == 0)
        return common (w, seed, call);
    if (w->correlation > 0 &&
        sim_is_below (sim_draw (seed, SIM_STREAM_COPY, call, replica), w->correlation))
        return common (w, seed, call);
    return draw_base (w, sim_draw (seed, SIM_STREAM_SERVICE, call, replica));
}

static double draw_slowdown (const struct sim_workload *w, uint64_t random)
{
    double share = 0;
    for (uint32_t i = 0; i + 1 < w->slowdown_count; i++)
        if (sim_is_below (random, share += w->slowdown[i].share))
            return w->slowdown[i].factor;
    return w->slowdown_count ? w->slowdown[w->slowdown_count - 1].factor : 1;
}

uint64_t sim_demand (const struct sim_workload *workload,
                     uint64_t seed,
                     uint64_t call,
                     uint32_t replica,
                     uint32_t copy)
{
    const struct sim_workload *w = workload;
    uint64_t base = 0;
    double factor = 1;
    switch (w->copies) {
    case SIM_COPIES_INDEPENDENT:
        base = independent (w, seed, call, replica, copy);
        break;
    case SIM_COPIES_SX:
        factor = draw_slowdown (w, sim_draw (seed, SIM_STREAM_SLOWDOWN, call, replica));
        base = common (w, seed, call);
        break;
    case SIM_COPIES_IDENTICAL:
        base = common (w, seed, call);
        break;
    }
    if (copy > 0)
        factor *= w->cold_factor;
    if (w->jitter_share > 0 &&
        sim_is_below (sim_draw (seed, SIM_STREAM_JITTER, call, replica), w->jitter_share))
        factor *= w->jitter_factor;
    if (factor > 1 || factor < 1) {
        double ns = (double)base * factor + 0.5;
        base = ns < (double)TI_DIST_MAX_NS ? (uint64_t)ns : TI_DIST_MAX_NS;
    }
    return base ? base : 1;
}
