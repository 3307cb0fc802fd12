/* SPDX-License-Identifier: MIT */
#include "core/median.h"

#include <string.h>

#include "base/assert.h"

/* Walk to the bucket of the median: no more steps than there are buckets. */
static void settle (struct ti_median *self)
{
    if (self->total == 0) {
        self->bucket = 0;
        self->below = 0;
        return;
    }
    const uint32_t rank = (self->total - 1) / 2;
    while (self->below > rank)
        self->below -= self->counts[--self->bucket];
    while (self->below + self->counts[self->bucket] <= rank)
        self->below += self->counts[self->bucket++];
}

void ti_median_init (struct ti_median *self)
{
    memset (self, 0, sizeof *self);
}

void ti_median_add (struct ti_median *self, uint32_t bucket)
{
    TI_ASSERT (bucket < TI_MEDIAN_BUCKETS);
    self->counts[bucket]++;
    self->total++;
    self->below += bucket < self->bucket;
    settle (self);
}

void ti_median_remove (struct ti_median *self, uint32_t bucket)
{
    TI_ASSERT (bucket < TI_MEDIAN_BUCKETS);
    TI_ASSERT (self->counts[bucket] > 0);
    self->counts[bucket]--;
    self->total--;
    self->below -= bucket < self->bucket;
    settle (self);
}

void ti_median_check (const struct ti_median *self)
{
    uint32_t total = 0;
    TI_ASSERT (self->bucket < TI_MEDIAN_BUCKETS);
    for (uint32_t i = 0; i < TI_MEDIAN_BUCKETS; i++) {
        if (i == self->bucket)
            TI_ASSERT (self->below == total);
        total += self->counts[i];
    }
    TI_ASSERT (self->total == total);
    if (total == 0) {
        TI_ASSERT (self->bucket == 0);
    } else {
        TI_ASSERT (self->below <= (total - 1) / 2);
        TI_ASSERT ((total - 1) / 2 < self->below + self->counts[self->bucket]);
    }
}
