/* SPDX-License-Identifier: MIT */
/* Log-linear histogram; see hist.h for what it promises. */
#include "hist.h"

#include <string.h>

#include "assert.h"
#include "hist_index.h"
#include "util.h"

#include <tied/error.h>

#define HALF_BITS_MAX 14

static uint32_t index_of (const struct ti_hist *self, uint64_t value)
{
    return ti_hist_index (self->unit_bits, self->options.half_bits, value);
}

static struct ti_hist_bucket bucket_at (const struct ti_hist *self, uint32_t index)
{
    struct ti_hist_bucket bucket = {.count = self->counts[index]};
    ti_hist_bounds (self->unit_bits, self->options.half_bits, index, &bucket.first, &bucket.last);
    return bucket;
}

static bool options_are_valid (const struct ti_hist_options *options)
{
    return options->half_bits >= 1 && options->half_bits <= HALF_BITS_MAX && options->highest > 0 &&
           options->lowest <= options->highest && options->unit > 0 &&
           (options->unit & (options->unit - 1)) == 0 && options->unit <= options->highest;
}

static uint32_t buckets_for (const struct ti_hist_options *options)
{
    return ti_hist_index (ti_log2_floor (options->unit), options->half_bits, options->highest) + 1;
}

size_t ti_hist_size (const struct ti_hist_options *options)
{
    if (!options_are_valid (options))
        return 0;
    return sizeof (struct ti_hist) + (size_t)buckets_for (options) * sizeof (uint64_t);
}

struct ti_hist *ti_hist_init (void *memory, size_t size, const struct ti_hist_options *options)
{
    size_t needed = ti_hist_size (options);
    if (needed == 0 || size < needed || !memory)
        return NULL;
    struct ti_hist *self = memory;
    memset (self, 0, needed);
    self->options = *options;
    self->unit_bits = ti_log2_floor (options->unit);
    self->buckets = buckets_for (options);
    return self;
}

void ti_hist_reset (struct ti_hist *self)
{
    self->total = self->below = self->above = 0;
    self->min = self->max = 0;
    self->sum_low = self->sum_high = 0;
    memset (self->counts, 0, self->buckets * sizeof self->counts[0]);
}

/* (*high, *low) += value * count, which needs up to 128 bits. */
static void add_product (uint64_t *high, uint64_t *low, uint64_t value, uint64_t count)
{
    uint64_t a = value >> 32, b = value & UINT32_MAX;
    uint64_t c = count >> 32, d = count & UINT32_MAX;
    uint64_t middle = a * d + ((b * d) >> 32);
    uint64_t cross = (middle & UINT32_MAX) + b * c;
    uint64_t product_low = (cross << 32) | ((b * d) & UINT32_MAX);
    uint64_t product_high = a * c + (middle >> 32) + (cross >> 32);
    *low += product_low;
    *high += product_high + (*low < product_low);
}

void ti_hist_record (struct ti_hist *self, uint64_t value)
{
    ti_hist_record_n (self, value, 1);
}

void ti_hist_record_n (struct ti_hist *self, uint64_t value, uint64_t count)
{
    count = ti_min (count, UINT64_MAX - self->total);
    if (count == 0)
        return;
    if (value < self->options.lowest) {
        value = self->options.lowest;
        self->below += count;
    } else if (value > self->options.highest) {
        value = self->options.highest;
        self->above += count;
    }
    uint32_t index = index_of (self, value);
    TI_ASSERT (index < self->buckets);
    if (self->total == 0 || value < self->min)
        self->min = value;
    if (self->total == 0 || value > self->max)
        self->max = value;
    self->counts[index] += count;
    self->total += count;
    add_product (&self->sum_high, &self->sum_low, value, count);
}

int ti_hist_merge (struct ti_hist *self, const struct ti_hist *other)
{
    const struct ti_hist_options *a = &self->options, *b = &other->options;
    if (a->lowest != b->lowest || a->highest != b->highest || a->unit != b->unit ||
        a->half_bits != b->half_bits || other->total > UINT64_MAX - self->total)
        return TIED_ERR_INVAL;
    if (other->total == 0)
        return TIED_OK;
    self->min = self->total == 0 ? other->min : ti_min (self->min, other->min);
    self->max = self->total == 0 ? other->max : ti_max (self->max, other->max);
    for (uint32_t i = 0; i < self->buckets; i++)
        self->counts[i] += other->counts[i];
    self->total += other->total;
    self->below += other->below;
    self->above += other->above;
    self->sum_low += other->sum_low;
    self->sum_high += other->sum_high + (self->sum_low < other->sum_low);
    return TIED_OK;
}

uint64_t ti_hist_at_rank (const struct ti_hist *self, uint64_t rank)
{
    if (self->total == 0)
        return 0;
    if (rank <= 1)
        return self->min;
    if (rank >= self->total)
        return self->max;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < self->buckets; i++) {
        seen += self->counts[i];
        if (seen >= rank)
            return ti_max (self->min, ti_min (self->max, bucket_at (self, i).last));
    }
    TI_UNREACHABLE ();
}

uint64_t ti_hist_percentile (const struct ti_hist *self, uint32_t ppm)
{
    TI_ASSERT (ppm <= TI_HIST_ALL);
    /* ceil (total * ppm / 1e6) without a product that could wrap. */
    uint64_t whole = self->total / TI_HIST_ALL, rest = self->total % TI_HIST_ALL;
    uint64_t rank = whole * ppm + (rest * ppm + (TI_HIST_ALL - 1)) / TI_HIST_ALL;
    return ti_hist_at_rank (self, rank);
}

uint64_t ti_hist_count_at_or_below (const struct ti_hist *self, uint64_t value)
{
    if (value >= self->options.highest)
        return self->total;
    uint32_t last = index_of (self, value);
    uint64_t seen = 0;
    for (uint32_t i = 0; i <= last; i++)
        seen += self->counts[i];
    return seen;
}

uint64_t ti_hist_mean (const struct ti_hist *self)
{
    if (self->total == 0)
        return 0;
    /* Long division, bit by bit: the sum has 128 bits, the mean is at most max and has 64. */
    uint64_t rest = self->sum_high, quotient = 0;
    TI_ASSERT (rest < self->total);
    for (int bit = 63; bit >= 0; bit--) {
        bool carry = rest >> 63;
        rest = (rest << 1) | ((self->sum_low >> bit) & 1);
        quotient <<= 1;
        if (carry || rest >= self->total) {
            rest -= self->total;
            quotient |= 1;
        }
    }
    return quotient;
}

bool ti_hist_next (const struct ti_hist *self, uint32_t *cursor, struct ti_hist_bucket *out)
{
    while (*cursor < self->buckets) {
        uint32_t index = (*cursor)++;
        if (self->counts[index]) {
            *out = bucket_at (self, index);
            return true;
        }
    }
    return false;
}

void ti_hist_check (const struct ti_hist *self)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < self->buckets; i++)
        total += self->counts[i];
    TI_ASSERT (total == self->total);
    if (total == 0) {
        TI_ASSERT (self->min == 0 && self->max == 0);
        TI_ASSERT (self->sum_low == 0 && self->sum_high == 0);
    } else {
        TI_ASSERT (self->options.lowest <= self->min);
        TI_ASSERT (self->min <= self->max);
        TI_ASSERT (self->max <= self->options.highest);
    }
    TI_ASSERT (self->below <= total && self->above <= total - self->below);
}
