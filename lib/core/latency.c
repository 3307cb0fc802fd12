/* SPDX-License-Identifier: MIT */
/*
 * Counts by bucket, for each slice and for the whole window, so that a percentile adds up nothing.
 *
 * The survival curve of Kaplan and Meier: of those that are at risk when a bucket begins, the share
 * that end in it is taken off what survives; those that are cut short in it leave the risk after
 * it. Between two buckets with censored samples the product collapses to (still at risk) / (at risk
 * after the last of them), so it is rounded only where something was cut short, and without
 * censored samples the curve is the exact one.
 */
#include "core/latency.h"

#include <string.h>

#include "base/assert.h"
#include "base/hist_index.h"
#include "base/util.h"

#define HALF_BITS 5
/* The buckets of LOWEST and HIGHEST with a unit of 1 ns; ti_latency_init () asserts them. */
#define FIRST   190u
#define LAST    1015u
#define BUCKETS (LAST - FIRST + 1)

/* What survives is a fraction of WHOLE; its product with a count of samples fits into 64 bits. */
#define WHOLE       (UINT64_C (1) << 36)
#define SAMPLES_MAX ((UINT32_C (1) << 28) - 1)

struct cell {
    uint32_t ended;
    uint32_t censored;
};

/*
 * Invariants (ti_latency_check):
 * 1. window is the sum of the slices, cell by cell; ended and censored are the sums of its cells.
 * 2. ended + censored <= SAMPLES_MAX.
 * 3. current < TI_LATENCY_SLICES; slice_ns > 0; slice_end is slice_ns after slice_at.
 */
struct ti_latency {
    tied_duration_t slice_ns;
    tied_time_t slice_at; /* when the current slice began; a multiple of slice_ns */
    tied_time_t slice_end;
    uint64_t clamped;
    uint32_t current;
    uint32_t ended, censored;
    struct cell window[BUCKETS];
    struct cell slices[TI_LATENCY_SLICES][BUCKETS];
};

TI_STATIC_ASSERT (BUCKETS <= TI_LATENCY_POINTS_MAX, "a curve has room for every bucket");

size_t ti_latency_size (void)
{
    return ti_align (sizeof (struct ti_latency));
}

struct ti_latency *ti_latency_init (void *memory, tied_duration_t window_ns)
{
    struct ti_latency *self = memory;
    TI_ASSERT (window_ns >= TI_LATENCY_SLICES);
    TI_ASSERT (ti_hist_index (0, HALF_BITS, TI_LATENCY_LOWEST) == FIRST);
    TI_ASSERT (ti_hist_index (0, HALF_BITS, TI_LATENCY_HIGHEST) == LAST);
    memset (self, 0, ti_latency_size ());
    self->slice_ns = window_ns / TI_LATENCY_SLICES;
    self->slice_end = self->slice_ns;
    return self;
}

static void forget_slice (struct ti_latency *self, uint32_t slice)
{
    for (uint32_t i = 0; i < BUCKETS; i++) {
        const struct cell cell = self->slices[slice][i];
        self->window[i].ended -= cell.ended;
        self->window[i].censored -= cell.censored;
        self->ended -= cell.ended;
        self->censored -= cell.censored;
    }
    memset (self->slices[slice], 0, sizeof self->slices[slice]);
}

TI_COLD static void turn (struct ti_latency *self, tied_time_t now)
{
    const uint64_t steps = (now - self->slice_at) / self->slice_ns;
    self->slice_at += steps * self->slice_ns;
    self->slice_end = ti_time_add (self->slice_at, self->slice_ns);
    for (uint64_t i = 0; i < ti_min (steps, TI_LATENCY_SLICES); i++) {
        self->current = (self->current + 1) % TI_LATENCY_SLICES;
        forget_slice (self, self->current);
    }
}

void ti_latency_turn (struct ti_latency *self, tied_time_t now)
{
    TI_ASSERT (now >= self->slice_at);
    if (now >= self->slice_end)
        turn (self, now);
}

/* Room for one more sample now? If not, it is counted as one that is not as it was. */
TI_INLINE bool begin_sample (struct ti_latency *self, tied_time_t now)
{
    ti_latency_turn (self, now);
    if (self->ended + self->censored < SAMPLES_MAX)
        return true;
    self->clamped++;
    return false;
}

TI_INLINE uint32_t bucket_of (struct ti_latency *self, tied_duration_t duration)
{
    const tied_duration_t inside =
        ti_max (TI_LATENCY_LOWEST, ti_min (duration, TI_LATENCY_HIGHEST));
    self->clamped += inside != duration;
    return ti_hist_index (0, HALF_BITS, inside) - FIRST;
}

void ti_latency_ended (struct ti_latency *self, tied_duration_t took, tied_time_t now)
{
    if (!begin_sample (self, now))
        return;
    const uint32_t bucket = bucket_of (self, took);
    self->slices[self->current][bucket].ended++;
    self->window[bucket].ended++;
    self->ended++;
}

void ti_latency_censored (struct ti_latency *self, tied_duration_t at_least, tied_time_t now)
{
    if (!begin_sample (self, now))
        return;
    const uint32_t bucket = bucket_of (self, at_least);
    self->slices[self->current][bucket].censored++;
    self->window[bucket].censored++;
    self->censored++;
}

uint64_t ti_latency_samples (const struct ti_latency *self)
{
    return self->ended;
}

uint64_t ti_latency_clamped (const struct ti_latency *self)
{
    return self->clamped;
}

/* A walk along the survival curve, upward. */
struct walk {
    uint32_t bucket; /* next to look at */
    uint32_t at_risk;
    uint64_t anchor; /* what survived, of WHOLE, when at_risk was anchor_at_risk */
    uint32_t anchor_at_risk;
};

static struct walk walk_from_start (const struct ti_latency *self)
{
    const uint32_t total = self->ended + self->censored;
    return (struct walk){.at_risk = total, .anchor = WHOLE, .anchor_at_risk = total};
}

static uint64_t walk_surviving (const struct walk *walk)
{
    return walk->anchor * walk->at_risk / walk->anchor_at_risk;
}

/* The next bucket in which something ended; false at the end, *out is then unchanged. Parts per
 * million are rounded up, so that a percentile is that of the nearest rank. */
static bool walk_next (struct walk *walk, const struct ti_latency *self, struct ti_curve_point *out)
{
    while (walk->bucket < BUCKETS && walk->at_risk > 0) {
        const struct cell cell = self->window[walk->bucket++];
        if (cell.ended == 0 && cell.censored == 0)
            continue;
        walk->at_risk -= cell.ended;
        const uint64_t surviving = walk_surviving (walk);
        if (cell.censored) {
            walk->at_risk -= cell.censored;
            walk->anchor = surviving;
            walk->anchor_at_risk = walk->at_risk;
        }
        if (cell.ended == 0)
            continue;
        uint64_t first, last;
        ti_hist_bounds (0, HALF_BITS, FIRST + walk->bucket - 1, &first, &last);
        out->at = ti_min (last, TI_LATENCY_HIGHEST);
        out->surviving_ppm = (uint32_t)((surviving * TIED_PPM + (WHOLE - 1)) / WHOLE);
        return true;
    }
    return false;
}

tied_duration_t ti_latency_percentile (const struct ti_latency *self, uint32_t ppm)
{
    struct walk walk = walk_from_start (self);
    struct ti_curve_point point;
    TI_ASSERT (ppm <= TIED_PPM);
    while (walk_next (&walk, self, &point))
        if (point.surviving_ppm <= TIED_PPM - ppm)
            return point.at;
    return TIED_NEVER;
}

void ti_latency_curve (const struct ti_latency *self, struct ti_curve *out)
{
    struct walk walk = walk_from_start (self);
    struct ti_curve_point point;
    uint32_t before = TIED_PPM + 1;
    out->samples = self->ended;
    out->censored = self->censored;
    out->count = 0;
    while (walk_next (&walk, self, &point)) {
        /* So few of so many that no millionth went. */
        if (point.surviving_ppm == before)
            continue;
        out->points[out->count++] = point;
        before = point.surviving_ppm;
    }
}

/* Points at or before t. */
static uint32_t points_until (const struct ti_curve *self, tied_duration_t t)
{
    uint32_t low = 0, high = self->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (self->points[middle].at <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t ti_curve_surviving (const struct ti_curve *self, tied_duration_t t)
{
    const uint32_t count = points_until (self, t);
    return count == 0 ? TIED_PPM : self->points[count - 1].surviving_ppm;
}

tied_duration_t ti_curve_percentile (const struct ti_curve *self, uint32_t ppm)
{
    uint32_t low = 0, high = self->count;
    TI_ASSERT (ppm <= TIED_PPM);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (self->points[middle].surviving_ppm > TIED_PPM - ppm)
            low = middle + 1;
        else
            high = middle;
    }
    return low == self->count ? TIED_NEVER : self->points[low].at;
}

/* As many of count as there is room for. */
static uint32_t take (struct ti_latency *self, uint32_t count)
{
    const uint32_t room = SAMPLES_MAX - self->ended - self->censored;
    const uint32_t taken = (uint32_t)ti_min (count, room);
    self->clamped += count - taken;
    return taken;
}

void ti_latency_merge (struct ti_latency *self, const struct ti_latency *other, tied_time_t now)
{
    ti_latency_turn (self, now);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        const struct cell from = other->window[i];
        const uint32_t ended = take (self, from.ended);
        self->ended += ended;
        const uint32_t censored = take (self, from.censored);
        self->censored += censored;
        self->window[i].ended += ended;
        self->window[i].censored += censored;
        self->slices[self->current][i].ended += ended;
        self->slices[self->current][i].censored += censored;
    }
}

void ti_latency_check (const struct ti_latency *self)
{
    uint64_t ended = 0, censored = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        uint64_t cell_ended = 0, cell_censored = 0;
        for (uint32_t slice = 0; slice < TI_LATENCY_SLICES; slice++) {
            cell_ended += self->slices[slice][i].ended;
            cell_censored += self->slices[slice][i].censored;
        }
        TI_ASSERT (self->window[i].ended == cell_ended);
        TI_ASSERT (self->window[i].censored == cell_censored);
        ended += cell_ended;
        censored += cell_censored;
    }
    TI_ASSERT (self->ended == ended);
    TI_ASSERT (self->censored == censored);
    TI_ASSERT (ended + censored <= SAMPLES_MAX);
    TI_ASSERT (self->current < TI_LATENCY_SLICES);
    TI_ASSERT (self->slice_ns > 0);
    TI_ASSERT (self->slice_end == ti_time_add (self->slice_at, self->slice_ns));
}
