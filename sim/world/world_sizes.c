/* SPDX-License-Identifier: MIT */
/* How large the tables of a world are, and how long it waits for what may never come. */
#include "world_internal.h"

#include "tools/dist.h"

/* First sizes, and bounds of the larger ones: all tables together stay below about a gigabyte. */
#define QUEUE_FIRST 32u
#define CALLS_FIRST 64u
#define GROWTH      8u
#define QUEUE_SLOTS (UINT64_C (1) << 23)
#define CALLS_SLOTS (UINT64_C (1) << 21)
#define NOTES_FIRST 16u
#define NOTES_LAST  16384u /* as many as a replica keeps by default */

static bool is_bursty (const struct sim_scenario *s)
{
    return s->workload.arrivals == SIM_ARRIVALS_ON_OFF ||
           s->workload.arrivals == SIM_ARRIVALS_STEPS ||
           s->workload.arrivals == SIM_ARRIVALS_MMPP || s->workload.arrivals == SIM_ARRIVALS_TRACE;
}

/* Of the workers; no more than 0.95, whatever is offered. */
static double load_of (const struct sim_scenario *s)
{
    const double work =
        sim_scenario_rate_per_s (s) * s->workload.fan_out * sim_scenario_mean_service_ns (s) * 1e-9;
    const double load = work / sim_scenario_capacity (s);

    return load < 0.95 ? load : 0.95;
}

/* Calls at once by Little's law, were every replica a queue of its own. */
static double calls_at_once (const struct sim_scenario *s)
{
    const double load = load_of (s);

    if (s->workload.arrivals == SIM_ARRIVALS_CLOSED)
        return (double)s->workload.users * s->workload.fan_out;
    return (double)s->replicas.count * s->replicas.workers * load / (1 - load);
}

static uint32_t at_most (double value, uint64_t limit)
{
    return value < (double)limit ? (uint32_t)value : (uint32_t)limit;
}

static uint64_t queue_limit (const struct sim_scenario *s)
{
    return ti_min (s->replicas.queue_depth, ti_max (QUEUE_FIRST, QUEUE_SLOTS / s->replicas.count));
}

static uint64_t calls_limit (const struct sim_scenario *s)
{
    return ti_max (CALLS_FIRST, ti_min (UINT64_C (1) << 20, CALLS_SLOTS / s->clients));
}

/* Small tables stay in the cache, and most runs never fill them: a queue is longer than this once
 * in a thousand million arrivals, were arrivals and services memoryless. */
struct world_sizes world_first_sizes (const struct sim_scenario *s, bool is_generous)
{
    const double factor = (is_bursty (s) ? GROWTH : 1) * (is_generous ? GROWTH * GROWTH : 1);
    const double depth = 21 / (1 - load_of (s)) * factor;
    uint64_t slots = QUEUE_FIRST;
    struct world_sizes sizes;

    /* The index of the queue has room for a power of two: use all of it. */
    while ((double)slots < depth + s->replicas.workers)
        slots *= 2;
    sizes.queue_depth = (uint32_t)ti_min (slots - s->replicas.workers, queue_limit (s));
    sizes.calls_max = at_most (
        factor * (CALLS_FIRST + 4.0 * s->workload.fan_out + 4 * calls_at_once (s) / s->clients),
        calls_limit (s));
    return sizes;
}

bool world_grow_sizes (const struct sim_scenario *s, bool is_queue, struct world_sizes *sizes)
{
    uint32_t *size = is_queue ? &sizes->queue_depth : &sizes->calls_max;
    const uint64_t limit = is_queue ? queue_limit (s) : calls_limit (s);

    if (*size >= limit)
        return false;
    *size = (uint32_t)ti_min ((uint64_t)*size * GROWTH, limit);
    return true;
}

/* The most that this delay is in practice: a millionth of the messages take longer. */
static tied_duration_t longest (const struct sim_delay *delay)
{
    if (!delay->has_extra)
        return delay->fixed_ns;
    return ti_time_add (delay->fixed_ns,
                        ti_dist_draw (&delay->extra, UINT64_MAX - (UINT64_MAX >> 20)));
}

/* Notes of ties that a replica must keep: those of the time in which copy 1 or a STARTED may still
 * be under way, with a wide margin. */
uint32_t world_notes_max (const struct world *self)
{
    const struct sim_scenario *s = self->scenario;
    const double rate_per_ns = sim_scenario_capacity (s) / sim_scenario_mean_service_ns (s);
    const double each = 4 * rate_per_ns / s->replicas.count;
    tied_duration_t window = ti_time_add (longest (&s->network.client), longest (&s->network.peer));

    if (self->submit.mode == TIED_MODE_SINGLE)
        return 16;
    window = ti_time_add (window, self->policy->stagger_ns == TIED_STAGGER_AUTO
                                      ? 4 * window + TIED_US (200)
                                      : self->policy->stagger_ns);
    /* Where STARTED may be lost, the copy that it was meant for waits, starts, and tells a sibling
     * that has ended long before. What is exclusive asks for leave when it could start, and gets
     * none of an owner that has forgotten. */
    if (s->network.loss > 0 || s->network.loss_started > 0 ||
        self->submit.mode == TIED_MODE_EXCLUSIVE || self->has_crashes)
        window = ti_time_add (
            window, (tied_duration_t)(21 / (1 - load_of (s)) * sim_scenario_mean_service_ns (s)));
    return at_most (NOTES_FIRST + 8 * each * (double)window * (is_bursty (s) ? 8 : 1), NOTES_LAST);
}

tied_duration_t world_patience_ns (const struct world *self)
{
    const struct sim_scenario *s = self->scenario;
    tied_duration_t sum = ti_time_add (TIED_S (60), 100 * s->heartbeat_ns);

    sum = ti_time_add (sum, ti_max (s->network.break_down_ns, s->replicas.crash_down_ns));
    if (self->submit.hedge_ns == TIED_HEDGE_POLICY)
        sum = ti_time_add (sum, ti_min (sim_policy_fixed_delay (self->policy),
                                        self->policy->settings.hedge_ceiling_ns));
    if (s->workload.deadline_ns != TIED_NEVER)
        sum = ti_time_add (sum, s->workload.deadline_ns);
    return ti_time_add (sum,
                        4 * ti_time_add (longest (&s->network.client), longest (&s->network.peer)));
}
