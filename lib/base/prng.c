/* SPDX-License-Identifier: MIT */
/* xoshiro256** and bounded draws by rejection. */
#include "base/prng.h"

#include "base/assert.h"
#include "base/util.h"

void ti_prng_seed (struct ti_prng *self, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C (0x9e3779b97f4a7c15);
        self->state[i] = ti_mix (seed);
    }
}

uint32_t ti_prng_reject (struct ti_prng *self, uint64_t product, uint32_t bound)
{
    const uint32_t threshold = (uint32_t)(0u - bound) % bound;
    while ((uint32_t)product < threshold)
        product = (ti_prng_next (self) >> 32) * bound;
    return (uint32_t)(product >> 32);
}

uint64_t ti_prng_below (struct ti_prng *self, uint64_t bound)
{
    TI_ASSERT (bound >= 1);
    if (bound <= UINT32_MAX)
        return ti_prng_below_32 (self, (uint32_t)bound);
    uint64_t mask = bound - 1;
    for (unsigned shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    uint64_t draw = ti_prng_next (self) & mask;
    while (draw >= bound)
        draw = ti_prng_next (self) & mask;
    return draw;
}

uint64_t ti_prng_between (struct ti_prng *self, uint64_t low, uint64_t high)
{
    TI_ASSERT (low <= high);
    const uint64_t span = high - low;
    if (span == UINT64_MAX)
        return ti_prng_next (self);
    return low + ti_prng_below (self, span + 1);
}
