/* SPDX-License-Identifier: MIT */
/*
 * Histogram of u64 values with a bounded relative error in fixed memory: linear up to
 * 2 ^ (half_bits + 1) units, then 2 ^ half_bits buckets for every power of two. The layout is that
 * of HdrHistogram with the same lowest value and the same number of sub-buckets.
 *
 * It keeps counts, not samples: a percentile is exact to one bucket (1 / 128 with half_bits 7).
 * It is one block of the caller's memory without pointers, never allocates, and knows no unit; the
 * caller names the unit where it names the variable (latency_ns).
 */
#ifndef TI_HIST_H
#define TI_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/export.h>

/* Parts per million of the samples: TI_HIST_P99_9 and so on, up to TI_HIST_ALL. */
#define TI_HIST_P50    500000u
#define TI_HIST_P90    900000u
#define TI_HIST_P95    950000u
#define TI_HIST_P99    990000u
#define TI_HIST_P99_9  999000u
#define TI_HIST_P99_99 999900u
#define TI_HIST_ALL    1000000u

struct ti_hist_options {
    uint64_t lowest;    /* [0, highest]; samples below count as this, and in `below` */
    uint64_t highest;   /* [1, UINT64_MAX]; samples above count as this, and in `above` */
    uint64_t unit;      /* a power of two: values are told apart by at best this much; 1: all */
    uint32_t half_bits; /* [1, 14]: error below 1 / 2 ^ half_bits; 7 means below 0.8 % */
};

/*
 * Invariants, asserted by ti_hist_check ():
 * 1. total is the sum of counts[0 .. buckets - 1].
 * 2. total > 0: options.lowest <= min <= max <= options.highest. total == 0: min, max, sum are 0.
 * 3. below + above <= total.
 */
struct ti_hist {
    struct ti_hist_options options;
    uint32_t unit_bits;
    uint32_t buckets;
    uint64_t total;        /* samples recorded, clamped ones with them */
    uint64_t below, above; /* of those, clamped to lowest, to highest */
    uint64_t min, max;     /* exact, after clamping */
    uint64_t sum_low, sum_high;
    uint64_t counts[];
};

/* Samples that cannot be told apart: from first to last, both included. */
struct ti_hist_bucket {
    uint64_t first, last;
    uint64_t count;
};

/* Bytes needed for these options; 0 if they are out of range. */
size_t ti_hist_size (const struct ti_hist_options *options);

/* An empty histogram in memory, aligned for any type; NULL if options or size are not good. */
struct ti_hist *ti_hist_init (void *memory, size_t size, const struct ti_hist_options *options);

/* Forget all samples; the options stay. */
void ti_hist_reset (struct ti_hist *self);

void ti_hist_record (struct ti_hist *self, uint64_t value);
/* count times the same value. Counts saturate: past UINT64_MAX samples nothing is added. */
void ti_hist_record_n (struct ti_hist *self, uint64_t value, uint64_t count);

/*
 * Add all samples of other to self: the result equals one histogram that saw both.
 * @return 0, TIED_ERR_INVAL (other options: nothing changed)
 */
TIED_NODISCARD int ti_hist_merge (struct ti_hist *self, const struct ti_hist *other);

/*
 * Percentile by nearest rank: the smallest recorded value with at least ppm / 1e6 of all samples at
 * or below it, as the largest value of its bucket but never above max nor below min. ppm 0 gives
 * min, TI_HIST_ALL gives max exactly. 0 when empty. ppm <= TI_HIST_ALL.
 */
uint64_t ti_hist_percentile (const struct ti_hist *self, uint32_t ppm);

/* The same for the rank itself, 1 .. total; 0 counts as 1, more than total as total. */
uint64_t ti_hist_at_rank (const struct ti_hist *self, uint64_t rank);

/* How many samples lie in the bucket of value or below. */
uint64_t ti_hist_count_at_or_below (const struct ti_hist *self, uint64_t value);

/* Exact mean of the recorded values, rounded down; 0 when empty. */
uint64_t ti_hist_mean (const struct ti_hist *self);

/*
 * Walk the buckets that hold samples, upward. *cursor starts at 0.
 * @return false when there are no more; *out is then unchanged
 */
bool ti_hist_next (const struct ti_hist *self, uint32_t *cursor, struct ti_hist_bucket *out);

void ti_hist_check (const struct ti_hist *self);

#endif
