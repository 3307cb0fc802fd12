/* SPDX-License-Identifier: MIT */
/*
 * Probation of replicas. Whatever changes what a replica adds to the sums over all is done between
 * hide () and show (), so the sums cannot drift from it.
 */
#include "core/health.h"

#include <string.h>

#include <tied/policy.h>

#include "base/assert.h"
#include "base/util.h"

#define TOOK_MAX TIED_S (3600)
/* A probe without a verdict: the next one may go after this part of probe_ns. */
#define RETRY 8u
/* Latencies in buckets of 1/8 from 16 units of 1024 ns on, one unit each below; failing shares in
 * 1/64. */
#define UNIT_BITS    10
#define HALF_BITS    3
#define FAILING_BITS 14

static struct ti_health_replica *at (struct ti_health *self, uint32_t replica)
{
    TI_ASSERT (replica < self->max);
    return TI_AT (struct ti_health_replica, self, self->replicas) + replica;
}

static uint32_t latency_bucket (tied_duration_t latency)
{
    const uint64_t units = latency >> UNIT_BITS;
    if (units >> (HALF_BITS + 1) == 0)
        return (uint32_t)units;
    const uint32_t shift = 63u - (uint32_t)__builtin_clzll (units) - HALF_BITS;
    return (shift << HALF_BITS) + (uint32_t)(units >> shift);
}

/* The longest latency of a bucket. */
static tied_duration_t latency_in (uint32_t bucket)
{
    uint32_t shift = 0;
    uint64_t units = bucket;
    if (bucket >> (HALF_BITS + 1)) {
        shift = (bucket >> HALF_BITS) - 1;
        units = bucket - (shift << HALF_BITS);
    }
    return ((units + 1) << (shift + UNIT_BITS)) - 1;
}

static void hide (struct ti_health *self, const struct ti_health_replica *r)
{
    if (!r->is_member)
        return;
    self->members--;
    self->unwell -= r->state != TI_HEALTH_WELL;
    self->out -= r->state == TI_HEALTH_PROBATION;
    if (r->latency > 0)
        ti_median_remove (&self->latency, latency_bucket (r->latency));
    if (r->is_known)
        ti_median_remove (&self->failing, r->failing_ppm >> FAILING_BITS);
}

static void show (struct ti_health *self, const struct ti_health_replica *r)
{
    if (!r->is_member)
        return;
    self->members++;
    self->unwell += r->state != TI_HEALTH_WELL;
    self->out += r->state == TI_HEALTH_PROBATION;
    if (r->latency > 0)
        ti_median_add (&self->latency, latency_bucket (r->latency));
    if (r->is_known)
        ti_median_add (&self->failing, r->failing_ppm >> FAILING_BITS);
}

static void begin_round (struct ti_health_replica *r)
{
    r->sum = 0;
    r->answered = 0;
    r->failed = 0;
}

/* A state begins with nothing known of the replica; but WELL goes on with the rounds of RAMP. */
static void enter (struct ti_health *self,
                   struct ti_health_replica *r,
                   enum ti_health_state state,
                   tied_time_t now)
{
    hide (self, r);
    r->state = (uint8_t)state;
    r->since = now;
    r->good = 0;
    r->is_probing = false;
    if (state != TI_HEALTH_WELL) {
        r->at = now;
        r->latency = 0;
        r->is_known = false;
        r->failing_ppm = 0;
    }
    show (self, r);
}

/* How many of so many members may be on probation. */
static uint32_t out_max (const struct ti_health *self, uint32_t members)
{
    return (uint32_t)((uint64_t)members * self->options.out_max_ppm / TIED_PPM);
}

/* As slow as this is slow; NEVER while there is nothing to compare with. Compared with itself alone
 * a replica is as usual. */
static tied_duration_t slow_limit (const struct ti_health *self)
{
    if (self->options.slow_milli == 0 || self->latency.total == 0)
        return TIED_NEVER;
    const tied_duration_t usual = latency_in (self->latency.bucket);
    return ti_max (usual * self->options.slow_milli / 1000, self->options.slow_floor_ns);
}

static bool is_failing (const struct ti_health *self, const struct ti_health_replica *r)
{
    if (self->options.failed_ppm == 0 || self->failing.total == 0)
        return false;
    const uint32_t usual = ((self->failing.bucket + 1) << FAILING_BITS) - 1;
    return r->failing_ppm >= self->options.failed_ppm && r->failing_ppm >= 2 * usual;
}

/* What time alone brings about. */
static void advance (struct ti_health *self, struct ti_health_replica *r, tied_time_t now)
{
    const tied_duration_t age = ti_time_sub (now, r->since);
    if (r->state == TI_HEALTH_PROBATION && age >= self->options.expire_ns) {
        enter (self, r, TI_HEALTH_RAMP, now);
        self->returns++;
    } else if (r->state == TI_HEALTH_RAMP && age >= self->options.ramp_ns) {
        enter (self, r, TI_HEALTH_WELL, now);
        r->wanted = (uint16_t)self->options.probes;
    }
}

static void condemn (struct ti_health *self, struct ti_health_replica *r, tied_time_t now)
{
    /* One that is no member just now will be one again. */
    if (self->out >= out_max (self, self->members + !r->is_member))
        return;
    if (r->state == TI_HEALTH_RAMP)
        r->wanted = (uint16_t)ti_min (2 * r->wanted, TI_HEALTH_WANTED_MAX * self->options.probes);
    enter (self, r, TI_HEALTH_PROBATION, now);
    self->probations++;
}

static void end_round (struct ti_health *self, struct ti_health_replica *r, tied_time_t now)
{
    const uint32_t samples = r->answered + r->failed;
    const uint32_t failing = (uint32_t)((uint64_t)r->failed * TIED_PPM / samples);
    hide (self, r);
    r->failing_ppm = r->is_known ? (r->failing_ppm + failing + 1) / 2 : failing;
    r->is_known = true;
    if (r->answered > 0) {
        const tied_duration_t mean = ti_max (r->sum / r->answered, 1);
        r->latency = r->latency > 0 ? (r->latency + mean) / 2 : mean;
    }
    begin_round (r);
    show (self, r);
    if ((r->latency > 0 && r->latency >= slow_limit (self)) || is_failing (self, r))
        condemn (self, r, now);
}

static void
judge_probe (struct ti_health *self, struct ti_health_replica *r, bool is_good, tied_time_t now)
{
    if (!r->is_probing)
        return;
    r->is_probing = false;
    if (!is_good) {
        r->good = 0;
        r->since = now;
    } else if (++r->good >= r->wanted) {
        enter (self, r, TI_HEALTH_RAMP, now);
        self->returns++;
    }
}

/* A copy is counted; its round ends when it is long enough. */
static void
count (struct ti_health *self, struct ti_health_replica *r, uint32_t *kind, tied_time_t now)
{
    if (r->answered + r->failed == 0)
        r->at = now;
    if (*kind < UINT32_MAX / 2)
        ++*kind;
    if (r->answered + r->failed >= self->options.min_samples &&
        ti_time_sub (now, r->at) >= self->options.round_ns)
        end_round (self, r, now);
}

void ti_health_options_init (struct ti_health_options *options)
{
    *options = (struct ti_health_options){.round_ns = TIED_S (1),
                                          .min_samples = 20,
                                          .slow_milli = 4000,
                                          .slow_floor_ns = TIED_MS (1),
                                          .failed_ppm = 500000,
                                          .out_max_ppm = 500000,
                                          .probe_ns = TIED_MS (200),
                                          .probes = 3,
                                          .ramp_ns = TIED_S (10),
                                          .expire_ns = TIED_S (60)};
}

size_t ti_health_size (uint32_t max)
{
    return ti_align ((size_t)max * sizeof (struct ti_health_replica));
}

void ti_health_init (struct ti_health *self,
                     void *array,
                     uint32_t max,
                     const struct ti_health_options *options)
{
    TI_ASSERT ((unsigned char *)array > (unsigned char *)self);
    TI_ASSERT (options->min_samples >= 1 && options->probes >= 1 && options->probes <= 1000);
    TI_ASSERT (options->round_ns >= 1 && options->ramp_ns >= 1 && options->probe_ns >= 1);
    TI_ASSERT (options->out_max_ppm < TIED_PPM && options->slow_milli <= 1000000);
    memset (self, 0, sizeof *self);
    memset (array, 0, ti_health_size (max));
    self->options = *options;
    self->replicas = (size_t)((unsigned char *)array - (unsigned char *)self);
    self->max = max;
    ti_median_init (&self->latency);
    ti_median_init (&self->failing);
    for (uint32_t i = 0; i < max; i++)
        at (self, i)->wanted = (uint16_t)options->probes;
}

void ti_health_join (struct ti_health *self, uint32_t replica)
{
    struct ti_health_replica *r = at (self, replica);
    hide (self, r);
    r->is_member = true;
    show (self, r);
}

void ti_health_leave (struct ti_health *self, uint32_t replica)
{
    struct ti_health_replica *r = at (self, replica);
    hide (self, r);
    r->is_member = false;
}

void ti_health_forget (struct ti_health *self, uint32_t replica)
{
    struct ti_health_replica *r = at (self, replica);
    hide (self, r);
    *r = (struct ti_health_replica){.is_member = r->is_member,
                                    .wanted = (uint16_t)self->options.probes};
    show (self, r);
}

bool ti_health_admits (struct ti_health *self, uint32_t replica, uint32_t random, tied_time_t now)
{
    struct ti_health_replica *r = at (self, replica);
    advance (self, r, now);
    if (self->out > out_max (self, self->members))
        return true;
    switch ((enum ti_health_state)r->state) {
    case TI_HEALTH_WELL:
        return true;
    case TI_HEALTH_PROBATION:
        return now >= r->at;
    case TI_HEALTH_RAMP:
        /* Ages are below 2^42 here. */
        return random >> 12 < (ti_time_sub (now, r->since) << 20) / self->options.ramp_ns;
    }
    TI_UNREACHABLE ();
}

void ti_health_sent (struct ti_health *self, uint32_t replica, tied_time_t now)
{
    struct ti_health_replica *r = at (self, replica);
    if (r->state != TI_HEALTH_PROBATION)
        return;
    r->is_probing = true;
    r->at = ti_time_add (now, self->options.probe_ns);
    self->probes++;
}

void ti_health_answered (struct ti_health *self,
                         uint32_t replica,
                         tied_duration_t took,
                         tied_time_t now)
{
    struct ti_health_replica *r = at (self, replica);
    advance (self, r, now);
    if (r->state == TI_HEALTH_PROBATION) {
        /* It is no part of the median itself. Good is well below what condemns, or the next round
         * would condemn it again. */
        const tied_duration_t limit = slow_limit (self);
        judge_probe (self, r, limit == TIED_NEVER || took < limit - limit / 4, now);
        return;
    }
    const tied_duration_t limit = ti_min (slow_limit (self), TOOK_MAX / 2);
    r->sum = ti_time_add (r->sum, ti_min (took, 2 * limit));
    count (self, r, &r->answered, now);
}

void ti_health_failed (struct ti_health *self, uint32_t replica, tied_time_t now)
{
    struct ti_health_replica *r = at (self, replica);
    advance (self, r, now);
    if (r->state == TI_HEALTH_PROBATION)
        judge_probe (self, r, false, now);
    else
        count (self, r, &r->failed, now);
}

void ti_health_neutral (struct ti_health *self, uint32_t replica, tied_time_t now)
{
    struct ti_health_replica *r = at (self, replica);
    if (!r->is_probing)
        return;
    r->is_probing = false;
    r->at = ti_min (r->at, ti_time_add (now, self->options.probe_ns / RETRY));
}

enum ti_health_state ti_health_state_of (const struct ti_health *self, uint32_t replica)
{
    TI_ASSERT (replica < self->max);
    return (enum ti_health_state)TI_AT_CONST (struct ti_health_replica, self,
                                              self->replicas)[replica]
        .state;
}
