/* SPDX-License-Identifier: MIT */
/*
 * A small seeded generator for choices: xoshiro256** (Blackman, Vigna 2018), its state filled by
 * splitmix64. Same seed, same sequence, on every compiler. Not for secrets.
 */
#ifndef TI_PRNG_H
#define TI_PRNG_H

#include <stdbool.h>
#include <stdint.h>

struct ti_prng {
    uint64_t state[4]; /* never all zero */
};

/* Any seed will do, 0 too. */
void ti_prng_seed (struct ti_prng *self, uint64_t seed);

/* Next 64 random bits. Inline: a choice of replicas draws several times per call. */
static inline uint64_t ti_prng_next (struct ti_prng *self)
{
    uint64_t *s = self->state;
    const uint64_t product = s[1] * 5;
    const uint64_t result = (product << 7 | product >> 57) * 9;
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* The rest of a draw by ti_prng_below_32 () whose product lies where some are rejected. */
uint32_t ti_prng_reject (struct ti_prng *self, uint64_t product, uint32_t bound);

/* Uniform in [0, bound), bound >= 1; every value exactly equally likely. A bound of 1 draws
 * nothing. Multiply and shift (Lemire 2019): a division is needed in the rare rejected zone. */
static inline uint32_t ti_prng_below_32 (struct ti_prng *self, uint32_t bound)
{
    if (bound == 1)
        return 0;
    const uint64_t product = (ti_prng_next (self) >> 32) * bound;
    if ((uint32_t)product < bound)
        return ti_prng_reject (self, product, bound);
    return (uint32_t)(product >> 32);
}

/* So that two bounds have a product of 32 bits. */
#define TI_PRNG_FOUR_MAX 65536u

/* Two numbers of 32 random bits: what the first multiplication leaves below serves the second
 * (Brackett-Rozinsky, Lemire 2024). False: one of the few that would make some pairs likelier. */
static inline bool
ti_prng_split (uint32_t bits, uint32_t bound_a, uint32_t bound_b, uint32_t out[2])
{
    const uint64_t a = (uint64_t)bits * bound_a;
    const uint64_t b = (uint64_t)(uint32_t)a * bound_b;
    const uint32_t pairs = bound_a * bound_b;
    out[0] = (uint32_t)(a >> 32);
    out[1] = (uint32_t)(b >> 32);
    return (uint32_t)b >= pairs || (uint32_t)b >= (0u - pairs) % pairs;
}

/* Four numbers at once, the i-th uniform in [0, bound - i) whatever the others are; bound in
 * [4, TI_PRNG_FOUR_MAX]. */
static inline void ti_prng_four (struct ti_prng *self, uint32_t bound, uint32_t out[4])
{
    uint64_t bits;
    do
        bits = ti_prng_next (self);
    while (!ti_prng_split ((uint32_t)(bits >> 32), bound, bound - 1, out) ||
           !ti_prng_split ((uint32_t)bits, bound - 2, bound - 3, out + 2));
}

/* The same for any bound. */
uint64_t ti_prng_below (struct ti_prng *self, uint64_t bound);

/* Uniform in [low, high], both included, low <= high; the whole of u64 is a valid range. */
uint64_t ti_prng_between (struct ti_prng *self, uint64_t low, uint64_t high);

#endif
