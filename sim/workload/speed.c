/* SPDX-License-Identifier: MIT */
/* Work done over segments of constant speed; see speed.h. */
#include "workload/speed.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine/memory.h"
#include "engine/stream.h"
#include "workload/pauses.h"
#include "workload/source.h"

struct replica {
    double base; /* speed without changes and pauses */
    /* At or before the latest start; they only move on. */
    struct sim_pause_cursor drawn, logged;
};

struct sim_speed {
    const struct sim_replicas *replicas;
    uint64_t seed;
    struct sim_pauses pauses;
    bool is_constant; /* no changes, no pauses */
    bool is_stuck;    /* pauses without end */
    struct replica each[];
};

static bool is_slow_for_a_time (const struct sim_replicas *replicas)
{
    return replicas->slow_count && (replicas->slow_at_ns || replicas->slow_length_ns);
}

static double base_speed (const struct sim_replicas *replicas, uint32_t replica)
{
    double speed = replicas->speeds_count ? replicas->speeds[replica % replicas->speeds_count] : 1;
    return replica < replicas->slow_count && !is_slow_for_a_time (replicas)
               ? speed / replicas->slow_factor
               : speed;
}

static bool varies (const struct sim_replicas *replicas)
{
    return replicas->vary_ns && replicas->vary_count;
}

struct sim_speed *sim_speed_new (const struct sim_replicas *replicas, uint64_t seed)
{
    struct sim_speed *self =
        calloc (1, sizeof *self + (size_t)replicas->count * sizeof self->each[0]);
    if (!self)
        return NULL;
    self->replicas = replicas;
    self->seed = seed;
    if (!sim_pauses_init (&self->pauses, replicas, seed)) {
        free (self);
        return NULL;
    }
    self->is_constant = !varies (replicas) && !is_slow_for_a_time (replicas) &&
                        self->pauses.kind == SIM_PAUSES_NONE && self->pauses.log_count == 0;
    self->is_stuck = !(sim_pauses_working_share (&self->pauses) > 0);
    for (uint32_t i = 0; i < replicas->count; i++) {
        self->each[i].base = base_speed (replicas, i);
        sim_pauses_first (&self->pauses, i, false, &self->each[i].drawn);
        sim_pauses_first (&self->pauses, i, true, &self->each[i].logged);
    }
    return self;
}

void sim_speed_free (struct sim_speed *self)
{
    if (!self)
        return;
    sim_pauses_deinit (&self->pauses);
    free (self);
}

/* Time for this much work at this speed, to the nearest ns. */
static tied_duration_t time_for (double work, double speed)
{
    double ns = work / speed + 0.5;
    return ns < 0x1p62 ? (tied_duration_t)ns : TIED_NEVER;
}

/* What slowness makes of the speed at `at`; *until: until then, at the latest. */
static double slowed (const struct sim_replicas *r,
                      uint32_t replica,
                      double speed,
                      tied_time_t at,
                      tied_time_t *until)
{
    if (!is_slow_for_a_time (r) || replica >= r->slow_count)
        return speed;
    const tied_time_t begin = ti_time_add (SIM_SOURCE_START_NS, r->slow_at_ns);
    const tied_time_t end = r->slow_length_ns ? ti_time_add (begin, r->slow_length_ns) : TIED_NEVER;
    if (at < begin || at >= end) {
        *until = ti_min (*until, at < begin ? begin : TIED_NEVER);
        return speed;
    }
    *until = ti_min (*until, end);
    return speed / r->slow_factor;
}

/* The factor of the segment that `at` lies in; *until is its end. */
static double
varied (const struct sim_speed *self, uint32_t replica, tied_time_t at, tied_time_t *until)
{
    const struct sim_replicas *r = self->replicas;
    if (!varies (r)) {
        *until = TIED_NEVER;
        return 1;
    }
    uint64_t segment = at / r->vary_ns;
    uint64_t random = sim_draw (self->seed, SIM_STREAM_SPEED, replica, segment);
    double share = 0;
    uint32_t i = 0;
    while (i + 1 < r->vary_count && !sim_is_below (random, share += r->vary[i].share))
        i++;
    *until = ti_time_add (segment * r->vary_ns, r->vary_ns);
    return r->vary[i].factor;
}

/* The first moment from `at` on without a pause; *until is when the next one begins. */
static tied_time_t
skip_pauses (const struct sim_speed *self, struct replica *r, tied_time_t at, tied_time_t *until)
{
    for (;;) {
        sim_pauses_seek (&self->pauses, &r->drawn, at);
        sim_pauses_seek (&self->pauses, &r->logged, at);
        if (r->drawn.begin <= at && at < r->drawn.end)
            at = r->drawn.end;
        else if (r->logged.begin <= at && at < r->logged.end)
            at = r->logged.end;
        else
            break;
    }
    *until = ti_min (r->drawn.begin, r->logged.begin);
    return at;
}

tied_time_t
sim_speed_finish (struct sim_speed *self, uint32_t replica, tied_time_t start, uint64_t demand_ns)
{
    TI_ASSERT (replica < self->replicas->count);
    struct replica *r = &self->each[replica];
    bool is_plain = !(r->base > 1) && !(r->base < 1);
    if (self->is_constant)
        return ti_time_add (start, is_plain ? demand_ns : time_for ((double)demand_ns, r->base));
    if (self->is_stuck)
        return TIED_NEVER;
    sim_pauses_seek (&self->pauses, &r->drawn, start);
    sim_pauses_seek (&self->pauses, &r->logged, start);
    struct replica ahead = *r;
    tied_time_t at = start;
    double left = (double)demand_ns;
    for (;;) {
        tied_time_t pause, change;
        at = skip_pauses (self, &ahead, at, &pause);
        double speed = ahead.base * varied (self, replica, at, &change);
        tied_time_t until = ti_min (pause, change);
        speed = slowed (self->replicas, replica, speed, at, &until);
        double work = until == TIED_NEVER ? left : speed * (double)(until - at);
        if (left <= work)
            return ti_time_add (at, time_for (left, speed));
        left -= work;
        at = until;
    }
}

/* What all replicas have in common: changes and pauses. */
static double common_share (const struct sim_replicas *replicas)
{
    struct sim_pauses pauses;
    if (!sim_pauses_init (&pauses, replicas, 0))
        sim_memory_failed ();
    double share = sim_pauses_working_share (&pauses);
    sim_pauses_deinit (&pauses);
    if (!varies (replicas))
        return share;
    double factor = 0, rest = 1;
    for (uint32_t i = 0; i < replicas->vary_count; i++) {
        double part = i + 1 < replicas->vary_count ? replicas->vary[i].share : rest;
        factor += part * replicas->vary[i].factor;
        rest -= part;
    }
    return share * factor;
}

double sim_speed_mean (const struct sim_replicas *replicas, uint32_t replica)
{
    return base_speed (replicas, replica) * common_share (replicas);
}

double sim_speed_sum (const struct sim_replicas *replicas)
{
    double sum = 0;
    for (uint32_t replica = 0; replica < replicas->count; replica++)
        sum += base_speed (replicas, replica);
    return sum * common_share (replicas);
}
