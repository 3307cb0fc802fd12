/* SPDX-License-Identifier: MIT */
/*
 * Samples are drawn by shuffling the front of the list, so they are distinct, their order is random
 * and equal scores are broken at random by taking the first.
 */
#include "core/pick.h"

#include "base/assert.h"

#define LOOKS_MAX 64u

/* Draw the i-th sample. */
static uint32_t draw (const struct ti_pick *self, uint32_t i)
{
    uint32_t *usable = self->usable;
    const uint32_t j = i + (uint32_t)ti_prng_below (self->prng, self->usable_count - i);
    const uint32_t drawn = usable[j];
    usable[j] = usable[i];
    usable[i] = drawn;
    return drawn;
}

static uint64_t score (const struct ti_pick *self, uint32_t replica)
{
    const struct ti_replica *r = &self->replicas[replica];
    if (self->rule == TIED_PICK_RANDOM)
        return 0;
    return ti_load_score (self->scale, &r->load, r->load_at, r->in_flight, self->now);
}

static uint64_t instance (const struct ti_pick *self, uint32_t replica)
{
    return self->replicas[replica].incarnation;
}

void ti_pick_pair (const struct ti_pick *self, uint32_t *out_first, uint32_t *out_second)
{
    const uint32_t samples = self->rule == TIED_PICK_RANDOM ? 2 : self->samples;
    uint32_t first = TIED_NO_REPLICA;
    uint32_t second = TIED_NO_REPLICA;
    uint64_t first_score = UINT64_MAX;
    uint64_t second_score = UINT64_MAX;
    for (uint32_t i = 0; i < self->usable_count; i++) {
        if (i >= samples && second != TIED_NO_REPLICA)
            break;
        const uint32_t drawn = draw (self, i);
        const uint64_t drawn_score = score (self, drawn);
        if (first == TIED_NO_REPLICA) {
            first = drawn;
            first_score = drawn_score;
        } else if (instance (self, drawn) == instance (self, first)) {
            continue;
        } else if (drawn_score < first_score) {
            second = first;
            second_score = first_score;
            first = drawn;
            first_score = drawn_score;
        } else if (drawn_score < second_score) {
            second = drawn;
            second_score = drawn_score;
        }
    }
    *out_first = first;
    *out_second = second;
}

static bool contains (const uint64_t *instances, uint32_t count, uint64_t wanted)
{
    for (uint32_t i = 0; i < count; i++)
        if (instances[i] == wanted)
            return true;
    return false;
}

uint32_t ti_pick_one (const struct ti_pick *self, const struct ti_pick_avoid *avoid)
{
    uint32_t samples = self->rule == TIED_PICK_RANDOM ? 1 : self->samples;
    if (avoid)
        samples = LOOKS_MAX;
    uint32_t best = TIED_NO_REPLICA;
    bool best_is_soft = true;
    uint64_t best_score = UINT64_MAX;
    for (uint32_t i = 0; i < self->usable_count && i < samples; i++) {
        const uint32_t drawn = draw (self, i);
        const uint64_t id = instance (self, drawn);
        if (avoid && contains (avoid->hard, avoid->hard_count, id))
            continue;
        const bool is_soft = avoid && contains (avoid->soft, avoid->soft_count, id);
        const uint64_t drawn_score = score (self, drawn);
        if (best == TIED_NO_REPLICA || (best_is_soft && !is_soft) ||
            (best_is_soft == is_soft && drawn_score < best_score)) {
            best = drawn;
            best_is_soft = is_soft;
            best_score = drawn_score;
        }
    }
    return best;
}
