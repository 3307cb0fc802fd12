/* SPDX-License-Identifier: MIT */
/* Integers only: the same stagger on every compiler. */
#include "core/stagger.h"

#include "base/assert.h"
#include "base/hist_index.h"
#include "base/util.h"

#define SERVICE_GAIN 64u
/* Longer ones count as so much: then 16 x their product is below 2^63. */
#define DEVIATION_MAX ((UINT64_C (1) << 28) - 1) /* 0.27 s */
#define SERVICE_MAX   ((UINT64_C (1) << 31) - 1) /* 2.1 s */

void ti_stagger_served (struct ti_stagger *self, tied_duration_t took)
{
    /* At least 1, so that a service of nothing is not taken for none. */
    const uint64_t sample = ti_max (1, ti_min (took, SERVICE_MAX));
    if (self->service == 0)
        self->service = sample * SERVICE_GAIN;
    else
        self->service =
            ti_max (SERVICE_GAIN, self->service - self->service / SERVICE_GAIN + sample);
}

tied_duration_t ti_stagger_service (const struct ti_stagger *self)
{
    return self->service / SERVICE_GAIN;
}

/* Square root to 1 in 3000, by Newton's steps from a power of two that is above it, at most twice
 * as much. */
static uint64_t root (uint64_t x)
{
    if (x == 0)
        return 0;
    uint64_t r = UINT64_C (1) << (ti_log2_floor (x) / 2 + 1);
    for (int i = 0; i < 3; i++)
        r = (r + x / r) / 2;
    return r;
}

tied_duration_t ti_stagger_of (const struct ti_stagger *self,
                               const struct ti_delay *a,
                               const struct ti_delay *b,
                               uint32_t replicas)
{
    TI_ASSERT (replicas >= 2);
    const tied_duration_t deviation =
        ti_min (ti_max (ti_delay_deviation (a), ti_delay_deviation (b)), DEVIATION_MAX);
    tied_duration_t stagger = ti_max (ti_delay_bound (a), ti_delay_bound (b));
    stagger = ti_max (stagger, root (16 * deviation * ti_stagger_service (self) / (replicas - 1)));
    if (ti_delay_way (a) == 0 || ti_delay_way (b) == 0)
        stagger = ti_max (stagger, self->initial_ns);
    return ti_max (self->floor_ns, ti_min (stagger, self->ceiling_ns));
}
