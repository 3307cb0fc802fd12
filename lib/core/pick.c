/* SPDX-License-Identifier: MIT */
/*
 * Samples are drawn by shuffling the front of the list, so they are distinct, their order is random
 * and equal scores are broken at random by taking the first. The turn of round robin goes by index,
 * because the list has no order that lasts; each choice moves it behind its first replica, so that
 * in pairs, too, every replica is the first as often as the others.
 */
#include "core/pick.h"

#include "base/assert.h"
#include "base/util.h"

#define LOOKS_MAX 64u
/* How little a replica is wanted: the sum of what is held against it. */
#define DISLIKE_ZONE   1u /* the first copy's */
#define DISLIKE_HEALTH 2u
#define DISLIKE_SOFT   4u /* a copy was refused or lost there */
#define DISLIKE_NEVER  8u
/* A place among the usable ones; a score has 45 bits at most (load.h). */
#define RANK_BITS 16

TI_STATIC_ASSERT (1u << RANK_BITS <= TI_PRNG_FOUR_MAX, "four can be drawn");

static inline void swap (uint32_t *a, uint32_t *b)
{
    const uint32_t was = *a;
    *a = *b;
    *b = was;
}

/* Draw the i-th sample. */
static inline uint32_t draw (const struct ti_pick *self, uint32_t i)
{
    uint32_t *at = self->usable + i;
    swap (at, at + ti_prng_below_32 (self->prng, self->usable_count - i));
    return *at;
}

/* The first `count` samples, four at a time while there are as many. */
static inline void draw_all (const struct ti_pick *self, uint32_t count)
{
    struct ti_prng prng = *self->prng;
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        uint32_t *at = self->usable + i;
        uint32_t further[4];
        ti_prng_four (&prng, self->usable_count - i, further);
        swap (at, at + further[0]);
        swap (at + 1, at + 1 + further[1]);
        swap (at + 2, at + 2 + further[2]);
        swap (at + 3, at + 3 + further[3]);
    }
    *self->prng = prng;
    for (; i < count; i++)
        (void)draw (self, i);
}

static inline uint64_t score (const struct ti_pick *self, const struct ti_replica *r)
{
    if (self->rule == TIED_PICK_RANDOM)
        return 0;
    return ti_load_score (self->scale, self->mean, &r->load, r->load_at, r->in_flight, self->now);
}

/* The score of sample i, and i, so that of equal ones the first drawn is the lighter. */
static inline uint64_t rank (const struct ti_pick *self, uint32_t i)
{
    return score (self, &self->replicas[self->usable[i]]) << RANK_BITS | i;
}

static uint64_t instance (const struct ti_pick *self, uint32_t replica)
{
    return self->replicas[replica].incarnation;
}

/* The replica of a rank; UINT64_MAX: none. */
static uint32_t sample (const struct ti_pick *self, uint64_t ranked)
{
    return ranked == UINT64_MAX ? TIED_NO_REPLICA
                                : self->usable[ranked & ((UINT64_C (1) << RANK_BITS) - 1)];
}

/* The n-th replica from the turn on; n < replica_count. */
static uint32_t in_turn (const struct ti_pick *self, uint32_t n)
{
    return (uint32_t)(((uint64_t)*self->turn % self->replica_count + n) % self->replica_count);
}

static void take_turn (const struct ti_pick *self, uint32_t replica)
{
    if (replica != TIED_NO_REPLICA)
        *self->turn = replica + 1;
}

static void next_pair (const struct ti_pick *self, uint32_t *out_first, uint32_t *out_second)
{
    *out_first = TIED_NO_REPLICA;
    *out_second = TIED_NO_REPLICA;
    for (uint32_t n = 0; n < self->replica_count && *out_second == TIED_NO_REPLICA; n++) {
        const uint32_t replica = in_turn (self, n);
        if (!self->replicas[replica].is_usable)
            continue;
        if (*out_first == TIED_NO_REPLICA)
            *out_first = replica;
        else if (instance (self, replica) != instance (self, *out_first))
            *out_second = replica;
    }
    take_turn (self, *out_first);
}

/* The lightest sample that is another instance than `first`; if there is none among them, the first
 * that is drawn further. UINT64_MAX: there is none at all. */
static uint64_t other_instance (const struct ti_pick *self, uint32_t first, uint32_t samples)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < self->usable_count && (i < samples || best == UINT64_MAX); i++) {
        const uint32_t drawn = i < samples ? self->usable[i] : draw (self, i);
        if (instance (self, drawn) != instance (self, first))
            best = ti_min (best, rank (self, i));
    }
    return best;
}

/* Two of the samples, without a branch on which is lighter: that is as good as random. */
static void lightest_pair (const struct ti_pick *self, uint32_t *out_first, uint32_t *out_second)
{
    const uint32_t wanted = self->rule == TIED_PICK_RANDOM ? 2 : self->samples;
    const uint32_t samples = (uint32_t)ti_min (wanted, self->usable_count);
    uint64_t first = UINT64_MAX;
    uint64_t second = UINT64_MAX;
    TI_ASSERT (self->usable_count <= 1u << RANK_BITS);
    draw_all (self, samples);
    for (uint32_t i = 0; i < samples; i++) {
        const uint64_t ranked = rank (self, i);
        second = ti_min (second, ti_max (first, ranked));
        first = ti_min (first, ranked);
    }
    *out_first = sample (self, first);
    *out_second = sample (self, second);
    if (*out_second == TIED_NO_REPLICA ||
        instance (self, *out_first) != instance (self, *out_second))
        return;
    second = other_instance (self, *out_first, samples);
    *out_second = sample (self, second);
    if (second < first) {
        *out_second = *out_first;
        *out_first = sample (self, second);
    }
}

static bool contains (const uint64_t *instances, uint32_t count, uint64_t wanted)
{
    for (uint32_t i = 0; i < count; i++)
        if (instances[i] == wanted)
            return true;
    return false;
}

static bool is_admitted (const struct ti_pick *self, uint32_t replica)
{
    return !self->health ||
           ti_health_admits (self->health, replica, (uint32_t)ti_prng_next (self->prng), self->now);
}

static uint32_t
dislike (const struct ti_pick *self, const struct ti_pick_avoid *avoid, uint32_t replica)
{
    const uint64_t id = instance (self, replica);
    uint32_t sum = 0;
    if (avoid && contains (avoid->hard, avoid->hard_count, id))
        return DISLIKE_NEVER;
    if (!is_admitted (self, replica)) {
        if (avoid && avoid->is_spared)
            return DISLIKE_NEVER;
        sum = DISLIKE_HEALTH;
    }
    if (!avoid)
        return sum;
    if (contains (avoid->soft, avoid->soft_count, id))
        sum += DISLIKE_SOFT;
    if (avoid->zone != 0 && self->replicas[replica].zone == avoid->zone)
        sum += DISLIKE_ZONE;
    return sum;
}

static uint32_t next_one (const struct ti_pick *self, const struct ti_pick_avoid *avoid)
{
    uint32_t best = TIED_NO_REPLICA;
    uint32_t best_dislike = DISLIKE_NEVER;
    for (uint32_t n = 0; n < self->replica_count && best_dislike > 0; n++) {
        const uint32_t replica = in_turn (self, n);
        if (!self->replicas[replica].is_usable)
            continue;
        const uint32_t disliked = dislike (self, avoid, replica);
        if (disliked < best_dislike) {
            best = replica;
            best_dislike = disliked;
        }
    }
    take_turn (self, best);
    return best;
}

/* The weight of a replica for the key, as good as random and the same for all clients. */
static uint64_t weight (const struct ti_pick *self, uint32_t replica)
{
    return ti_mix (ti_mix (self->key) ^ self->replicas[replica].identity);
}

/* The heaviest of the least disliked; of equal ones the first by number. */
static uint32_t heaviest (const struct ti_pick *self, const struct ti_pick_avoid *avoid)
{
    uint32_t best = TIED_NO_REPLICA;
    uint32_t best_dislike = DISLIKE_NEVER;
    uint64_t best_weight = 0;
    for (uint32_t replica = 0; replica < self->replica_count; replica++) {
        if (!self->replicas[replica].is_usable)
            continue;
        const uint32_t disliked = dislike (self, avoid, replica);
        const uint64_t own = weight (self, replica);
        if (disliked < best_dislike ||
            (disliked == best_dislike && own > best_weight && best != TIED_NO_REPLICA)) {
            best = replica;
            best_dislike = disliked;
            best_weight = own;
        }
    }
    return best;
}

static uint32_t lightest_one (const struct ti_pick *self, const struct ti_pick_avoid *avoid)
{
    const uint32_t samples = self->rule == TIED_PICK_RANDOM ? 1 : self->samples;
    uint32_t sampled = 0;
    uint32_t best = TIED_NO_REPLICA;
    uint32_t best_dislike = DISLIKE_NEVER;
    uint64_t best_score = UINT64_MAX;
    for (uint32_t i = 0; i < self->usable_count && i < LOOKS_MAX && sampled < samples; i++) {
        const uint32_t drawn = draw (self, i);
        const uint32_t disliked = dislike (self, avoid, drawn);
        if (disliked == DISLIKE_NEVER)
            continue;
        sampled += disliked == 0;
        const uint64_t drawn_score = score (self, &self->replicas[drawn]);
        if (disliked < best_dislike || (disliked == best_dislike && drawn_score < best_score)) {
            best = drawn;
            best_dislike = disliked;
            best_score = drawn_score;
        }
    }
    return best;
}

/* One after the other, each with all that speaks against it. In turn, the pair is one turn. */
static void careful_pair (const struct ti_pick *self, uint32_t *out_first, uint32_t *out_second)
{
    *out_second = TIED_NO_REPLICA;
    *out_first = ti_pick_one (self, NULL);
    if (*out_first == TIED_NO_REPLICA)
        return;
    const uint32_t turn = *self->turn;
    const struct ti_pick_avoid avoid = {.zone = self->replicas[*out_first].zone,
                                        .is_spared = true,
                                        .hard = {instance (self, *out_first)},
                                        .hard_count = 1};
    *out_second = ti_pick_one (self, &avoid);
    *self->turn = turn;
}

void ti_pick_pair (const struct ti_pick *self, uint32_t *out_first, uint32_t *out_second)
{
    if (self->has_zones || self->health || self->rule == TIED_PICK_AFFINITY)
        careful_pair (self, out_first, out_second);
    else if (self->rule == TIED_PICK_ROUND_ROBIN)
        next_pair (self, out_first, out_second);
    else
        lightest_pair (self, out_first, out_second);
}

uint32_t ti_pick_one (const struct ti_pick *self, const struct ti_pick_avoid *avoid)
{
    if (self->rule == TIED_PICK_ROUND_ROBIN)
        return next_one (self, avoid);
    if (self->rule == TIED_PICK_AFFINITY)
        return heaviest (self, avoid);
    return lightest_one (self, avoid);
}
