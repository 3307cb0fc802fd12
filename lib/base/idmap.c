/* SPDX-License-Identifier: MIT */
#include "idmap.h"

#include "assert.h"
#include "util.h"

static struct ti_idmap_entry *entries_of (struct ti_idmap *self)
{
    return TI_AT (struct ti_idmap_entry, self, self->entries);
}

static const struct ti_idmap_entry *entries_of_const (const struct ti_idmap *self)
{
    return TI_AT_CONST (struct ti_idmap_entry, self, self->entries);
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

static uint32_t slots_for (uint32_t max)
{
    uint32_t slots = 2;

    while (slots < 2 * max)
        slots *= 2;
    return slots;
}

size_t ti_idmap_size (uint32_t max)
{
    TI_ASSERT (max >= 1);
    TI_ASSERT (max <= UINT32_C (1) << 30);
    return (size_t)slots_for (max) * sizeof (struct ti_idmap_entry);
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
    self->mask = slots_for (max) - 1;
    self->count = 0;
    self->max = max;
    memset (entries, 0xff, ti_idmap_size (max));
}

void ti_idmap_insert (struct ti_idmap *self, uint32_t value)
{
    struct ti_idmap_entry *entries = entries_of (self);
    uint32_t hash = hash_of (self, *key_of (self, value));
    uint32_t at = hash & self->mask;

    TI_ASSERT (self->count < self->max);
    while (entries[at].value != TI_IDMAP_NONE)
        at = (at + 1) & self->mask;
    entries[at].hash = hash;
    entries[at].value = value;
    self->count++;
}

void ti_idmap_remove (struct ti_idmap *self, uint32_t value)
{
    struct ti_idmap_entry *entries = entries_of (self);
    uint32_t hole = hash_of (self, *key_of (self, value)) & self->mask;
    uint32_t at;

    while (entries[hole].value != value) {
        TI_ASSERT (entries[hole].value != TI_IDMAP_NONE);
        hole = (hole + 1) & self->mask;
    }
    /* Pull back every follower that the hole would cut off from its home. */
    for (at = (hole + 1) & self->mask; entries[at].value != TI_IDMAP_NONE;
         at = (at + 1) & self->mask) {
        uint32_t from_home = (at - entries[at].hash) & self->mask;
        uint32_t from_hole = (at - hole) & self->mask;

        if (from_home >= from_hole) {
            entries[hole] = entries[at];
            hole = at;
        }
    }
    entries[hole].value = TI_IDMAP_NONE;
    self->count--;
}

uint32_t ti_idmap_find_next (const struct ti_idmap *self,
                             struct tied_call_id key,
                             struct ti_idmap_cursor *cursor)
{
    const struct ti_idmap_entry *entries = entries_of_const (self);
    uint32_t at = cursor->at;

    for (;;) {
        struct ti_idmap_entry entry = entries[at & self->mask];

        if (entry.value == TI_IDMAP_NONE)
            break;
        at++;
        if (entry.hash == cursor->hash && ti_call_id_equal (*key_of (self, entry.value), key)) {
            cursor->at = at;
            return entry.value;
        }
    }
    cursor->at = at;
    return TI_IDMAP_NONE;
}

uint32_t ti_idmap_find_first (const struct ti_idmap *self,
                              struct tied_call_id key,
                              struct ti_idmap_cursor *out_cursor)
{
    out_cursor->hash = hash_of (self, key);
    out_cursor->at = out_cursor->hash & self->mask;
    return ti_idmap_find_next (self, key, out_cursor);
}

void ti_idmap_check (const struct ti_idmap *self)
{
    const struct ti_idmap_entry *entries = entries_of_const (self);
    uint32_t count = 0;
    uint32_t at;

    TI_ASSERT (self->count <= self->max);
    for (at = 0; at <= self->mask; at++) {
        uint32_t home;

        if (entries[at].value == TI_IDMAP_NONE)
            continue;
        count++;
        TI_ASSERT (entries[at].hash == hash_of (self, *key_of (self, entries[at].value)));
        for (home = entries[at].hash & self->mask; home != at; home = (home + 1) & self->mask)
            TI_ASSERT (entries[home].value != TI_IDMAP_NONE);
    }
    TI_ASSERT (count == self->count);
}
