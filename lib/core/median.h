/* SPDX-License-Identifier: MIT */
/*
 * The median of one number per member while the numbers change: members are counted in buckets, and
 * the bucket of the median moves with each of them, mostly by nothing. Knows no member and no
 * number; the owner turns numbers into buckets and takes out what it has put in.
 *
 * Of an even number of members it is the lower one, so of two the smaller.
 */
#ifndef TI_MEDIAN_H
#define TI_MEDIAN_H

#include <stdint.h>

#define TI_MEDIAN_BUCKETS 256

/*
 * Invariants (ti_median_check):
 * 1. total is the sum of counts, below that of the buckets before `bucket`;
 * 2. total > 0: below <= (total - 1) / 2 < below + counts[bucket]; else bucket is 0.
 */
struct ti_median {
    uint32_t total;
    uint32_t bucket; /* where the median is */
    uint32_t below;
    uint32_t counts[TI_MEDIAN_BUCKETS];
};

void ti_median_init (struct ti_median *self);
/* bucket < TI_MEDIAN_BUCKETS */
void ti_median_add (struct ti_median *self, uint32_t bucket);
void ti_median_remove (struct ti_median *self, uint32_t bucket);

void ti_median_check (const struct ti_median *self);

#endif
