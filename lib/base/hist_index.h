/* SPDX-License-Identifier: MIT */
/*
 * Which bucket a value falls into, for log-linear histograms: units below 2 ^ (half_bits + 1) have
 * a bucket each; above, there are 2 ^ half_bits for every power of two. A unit is 2 ^ unit_bits.
 * Arithmetic only; who counts what is the histogram's business (hist.h, core/latency.h).
 */
#ifndef TI_HIST_INDEX_H
#define TI_HIST_INDEX_H

#include "base/assert.h"
#include "base/util.h"

static inline uint32_t ti_log2_floor (uint64_t x)
{
    TI_ASSERT (x > 0);
    return 63u - (uint32_t)__builtin_clzll (x);
}

/* The top half_bits + 1 bits choose. */
static inline uint32_t ti_hist_index (uint32_t unit_bits, uint32_t half_bits, uint64_t value)
{
    const uint64_t units = value >> unit_bits;
    uint32_t shift = 0;
    if (units >> (half_bits + 1))
        shift = ti_log2_floor (units) - half_bits;
    return (shift << half_bits) + (uint32_t)(units >> shift);
}

/* The bucket's least and greatest value. */
static inline void ti_hist_bounds (
    uint32_t unit_bits, uint32_t half_bits, uint32_t index, uint64_t *out_first, uint64_t *out_last)
{
    uint32_t shift = 0;
    uint64_t units = index;
    if (index >> (half_bits + 1)) {
        shift = (index >> half_bits) - 1;
        units = index - ((uint64_t)shift << half_bits);
    }
    shift += unit_bits;
    *out_first = units << shift;
    *out_last = *out_first + ((UINT64_C (1) << shift) - 1);
}

#endif
