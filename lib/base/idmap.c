/* SPDX-License-Identifier: MIT */
#include "idmap.h"

#include "assert.h"
#include "util.h"

/*
 * An entry, from the top: some of the hash's top bits, FAR_BITS of distance from its home, the
 * value. FAR stands for that distance and all above; then only the record's id tells where the home
 * is.
 */
#define FAR_BITS 5
#define FAR      ((UINT32_C (1) << FAR_BITS) - 1)
#define EMPTY    UINT32_MAX
/* Leaves two bits for the hash. */
#define VALUES_MAX (UINT32_C (1) << 24)
/* Up to this many places a table is at most a quarter full, beyond it half: steps are fewer in a
 * sparse one, but a large one should rather stay in the cache. */
#define SPARSE_MAX (UINT32_C (1) << 16)

static uint32_t *entries_of (struct ti_idmap *self)
{
    return TI_AT (uint32_t, self, self->entries);
}

static const uint32_t *entries_of_const (const struct ti_idmap *self)
{
    return TI_AT_CONST (uint32_t, self, self->entries);
}

static const struct tied_call_id *key_of (const struct ti_idmap *self, uint32_t value)
{
    return TI_AT_CONST (struct tied_call_id, self, self->keys + (size_t)value * self->stride);
}

/* One multiplication joins the halves: epochs are random, sequences are neighbours. */
static uint32_t hash_of (const struct ti_idmap *self, struct tied_call_id key)
{
    uint64_t x = key.sequence * UINT64_C (0x9e3779b97f4a7c15) + (key.epoch ^ self->seed);

    return (uint32_t)(ti_mix (x) >> 32);
}

static uint32_t value_of (const struct ti_idmap *self, uint32_t entry)
{
    return entry & ((UINT32_C (1) << self->value_bits) - 1);
}

/* A distance as it stands in an entry. */
static uint32_t distance_bits (const struct ti_idmap *self, uint32_t distance)
{
    return (distance < FAR ? distance : FAR) << self->value_bits;
}

/* An entry without its value. */
static uint32_t tag_of (const struct ti_idmap *self, uint32_t hash, uint32_t distance)
{
    return (hash & UINT32_MAX << (self->value_bits + FAR_BITS)) | distance_bits (self, distance);
}

/* How far the entry at this place lies from its home. */
static uint32_t distance_of (const struct ti_idmap *self, uint32_t entry, uint32_t at)
{
    uint32_t distance = entry >> self->value_bits & FAR;

    if (distance == FAR)
        distance = (at - hash_of (self, *key_of (self, value_of (self, entry)))) & self->mask;
    return distance;
}

static uint32_t places_for (uint32_t max)
{
    uint32_t places = 4;

    while (places < 2 * max || (places < 4 * max && places < SPARSE_MAX))
        places *= 2;
    return places;
}

size_t ti_idmap_size (uint32_t max)
{
    TI_ASSERT (max >= 1);
    TI_ASSERT (max <= VALUES_MAX);
    return (size_t)places_for (max) * sizeof (uint32_t);
}

void ti_idmap_init (struct ti_idmap *self,
                    void *entries,
                    uint32_t max,
                    const struct tied_call_id *keys,
                    size_t stride,
                    uint64_t seed)
{
    const unsigned char *base = (const unsigned char *)self;

    TI_ASSERT ((const unsigned char *)entries > base);
    TI_ASSERT ((const unsigned char *)keys > base);
    TI_ASSERT (stride >= sizeof (struct tied_call_id));
    TI_ASSERT (stride <= UINT32_MAX);
    self->entries = (size_t)((const unsigned char *)entries - base);
    self->keys = (size_t)((const unsigned char *)keys - base);
    self->seed = ti_mix (seed);
    self->stride = (uint32_t)stride;
    self->mask = places_for (max) - 1;
    self->count = 0;
    self->max = max;
    /* The greatest number that fits is no value, so that no entry looks empty. */
    self->value_bits = 1;
    while (UINT32_C (1) << self->value_bits <= max)
        self->value_bits++;
    memset (entries, 0xff, ti_idmap_size (max));
}

void ti_idmap_insert (struct ti_idmap *self, uint32_t value)
{
    uint32_t *entries = entries_of (self);
    uint32_t hash = hash_of (self, *key_of (self, value));
    uint32_t distance = 0;

    TI_ASSERT (self->count < self->max);
    TI_ASSERT (value < self->max);
    while (entries[(hash + distance) & self->mask] != EMPTY)
        distance++;
    entries[(hash + distance) & self->mask] = tag_of (self, hash, distance) | value;
    self->count++;
}

void ti_idmap_remove (struct ti_idmap *self, uint32_t value)
{
    uint32_t *entries = entries_of (self);
    uint32_t hole = hash_of (self, *key_of (self, value)) & self->mask;
    uint32_t entry;
    uint32_t at;

    while (value_of (self, entries[hole]) != value) {
        TI_ASSERT (entries[hole] != EMPTY);
        hole = (hole + 1) & self->mask;
    }
    /* Pull back every follower that the hole would cut off from its home. */
    for (at = (hole + 1) & self->mask; (entry = entries[at]) != EMPTY; at = (at + 1) & self->mask) {
        uint32_t from_home = distance_of (self, entry, at);
        uint32_t from_hole = (at - hole) & self->mask;

        if (from_home >= from_hole) {
            entries[hole] =
                (entry & ~(FAR << self->value_bits)) | distance_bits (self, from_home - from_hole);
            hole = at;
        }
    }
    entries[hole] = EMPTY;
    self->count--;
}

uint32_t ti_idmap_find_next (const struct ti_idmap *self,
                             struct tied_call_id key,
                             struct ti_idmap_cursor *cursor)
{
    const uint32_t *entries = entries_of_const (self);
    uint32_t distance = cursor->distance;
    uint32_t entry;

    while ((entry = entries[(cursor->hash + distance) & self->mask]) != EMPTY) {
        uint32_t value = entry ^ tag_of (self, cursor->hash, distance);

        distance++;
        /* With another tag it is too large for a value. */
        if (value < self->max && ti_call_id_equal (*key_of (self, value), key)) {
            cursor->distance = distance;
            return value;
        }
    }
    cursor->distance = distance;
    return TI_IDMAP_NONE;
}

uint32_t ti_idmap_find_first (const struct ti_idmap *self,
                              struct tied_call_id key,
                              struct ti_idmap_cursor *out_cursor)
{
    out_cursor->hash = hash_of (self, key);
    out_cursor->distance = 0;
    return ti_idmap_find_next (self, key, out_cursor);
}

uint32_t ti_idmap_expect (const struct ti_idmap *self, struct tied_call_id key)
{
    uint32_t hash = hash_of (self, key);

    ti_prefetch (&entries_of_const (self)[hash & self->mask]);
    return hash;
}

uint32_t ti_idmap_guess (const struct ti_idmap *self, uint32_t hash)
{
    const uint32_t *entries = entries_of_const (self);
    uint32_t distance;

    for (distance = 0; distance < FAR; distance++) {
        uint32_t entry = entries[(hash + distance) & self->mask];
        uint32_t value = entry ^ tag_of (self, hash, distance);

        if (entry == EMPTY)
            break;
        if (value < self->max)
            return value;
    }
    return TI_IDMAP_NONE;
}

void ti_idmap_check (const struct ti_idmap *self)
{
    const uint32_t *entries = entries_of_const (self);
    uint32_t count = 0;
    uint32_t at;

    TI_ASSERT (self->count <= self->max);
    for (at = 0; at <= self->mask; at++) {
        uint32_t value = value_of (self, entries[at]);
        uint32_t hash;
        uint32_t home;

        if (entries[at] == EMPTY)
            continue;
        count++;
        TI_ASSERT (value < self->max);
        hash = hash_of (self, *key_of (self, value));
        TI_ASSERT ((entries[at] ^ value) == tag_of (self, hash, (at - hash) & self->mask));
        for (home = hash & self->mask; home != at; home = (home + 1) & self->mask)
            TI_ASSERT (entries[home] != EMPTY);
    }
    TI_ASSERT (count == self->count);
}
