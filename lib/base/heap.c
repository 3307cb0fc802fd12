/* SPDX-License-Identifier: MIT */
/* 4-ary: half the levels of a binary heap, and the four children share two cache lines. */
#include "base/heap.h"

#include "base/assert.h"
#include "base/util.h"

#define ARITY       4u
#define NOWHERE     UINT32_MAX
#define HASH_SORTED 64u

struct entry {
    tied_time_t time;
    uint64_t order;
    uint32_t id;
};

static struct entry *entries_of (struct ti_heap *self)
{
    return TI_AT (struct entry, self, self->entries);
}

static const struct entry *entries_const (const struct ti_heap *self)
{
    return TI_AT_CONST (struct entry, self, self->entries);
}

static uint32_t *places_of (struct ti_heap *self)
{
    return TI_AT (uint32_t, self, self->places);
}

static const uint32_t *places_const (const struct ti_heap *self)
{
    return TI_AT_CONST (uint32_t, self, self->places);
}

static bool is_before (const struct entry *a, const struct entry *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

size_t ti_heap_size (uint32_t capacity)
{
    return ti_align (capacity * sizeof (struct entry)) + ti_align (capacity * sizeof (uint32_t));
}

void ti_heap_init (struct ti_heap *self, uint32_t capacity, size_t offset)
{
    TI_ASSERT (capacity < NOWHERE);
    *self = (struct ti_heap){.capacity = capacity};
    self->entries = offset;
    self->places = offset + ti_align (capacity * sizeof (struct entry));
    uint32_t *places = places_of (self);
    for (uint32_t id = 0; id < capacity; id++)
        places[id] = NOWHERE;
}

static inline void
put (struct entry *entries, uint32_t *places, uint32_t index, const struct entry *entry)
{
    entries[index] = *entry;
    places[entry->id] = index;
}

/* The least of the children that begin at `first`. A whole family is judged as two pairs. */
static inline uint32_t least_of (const struct entry *entries, uint32_t first, uint32_t count)
{
    if (count - first >= ARITY) {
        const uint32_t a = first + is_before (&entries[first + 1], &entries[first]);
        const uint32_t b = first + 2 + is_before (&entries[first + 3], &entries[first + 2]);
        return is_before (&entries[b], &entries[a]) ? b : a;
    }
    uint32_t least = first;
    for (uint32_t child = first + 1; child < count; child++)
        if (is_before (&entries[child], &entries[least]))
            least = child;
    return least;
}

/* Find the place of entry from the hole at index, upwards or else downwards. */
static void settle (struct ti_heap *self, uint32_t index, const struct entry *entry)
{
    struct entry *entries = entries_of (self);
    uint32_t *places = places_of (self);
    const uint32_t count = self->count;
    const uint32_t hole = index;
    while (index > 0) {
        const uint32_t parent = (index - 1) / ARITY;
        if (!is_before (entry, &entries[parent]))
            break;
        put (entries, places, index, &entries[parent]);
        index = parent;
    }
    while (index >= hole) {
        const uint32_t first = index * ARITY + 1;
        if (first >= count)
            break;
        const uint32_t least = least_of (entries, first, count);
        if (!is_before (&entries[least], entry))
            break;
        put (entries, places, index, &entries[least]);
        index = least;
    }
    put (entries, places, index, entry);
}

void ti_heap_set (struct ti_heap *self, uint32_t id, tied_time_t time)
{
    TI_ASSERT (id < self->capacity);
    uint32_t hole = places_of (self)[id];
    if (hole == NOWHERE)
        hole = self->count++;
    const struct entry entry = {time, self->next_order++, id};
    settle (self, hole, &entry);
}

bool ti_heap_remove (struct ti_heap *self, uint32_t id)
{
    TI_ASSERT (id < self->capacity);
    const uint32_t hole = places_of (self)[id];
    if (hole == NOWHERE)
        return false;
    places_of (self)[id] = NOWHERE;
    const struct entry last = entries_of (self)[--self->count];
    if (hole != self->count)
        settle (self, hole, &last);
    return true;
}

bool ti_heap_has (const struct ti_heap *self, uint32_t id)
{
    TI_ASSERT (id < self->capacity);
    return places_const (self)[id] != NOWHERE;
}

tied_time_t ti_heap_time (const struct ti_heap *self, uint32_t id)
{
    TI_ASSERT (ti_heap_has (self, id));
    return entries_const (self)[places_const (self)[id]].time;
}

tied_time_t ti_heap_top_time (const struct ti_heap *self)
{
    return self->count ? entries_const (self)[0].time : TIED_NEVER;
}

uint32_t ti_heap_top (const struct ti_heap *self)
{
    TI_ASSERT (self->count > 0);
    return entries_const (self)[0].id;
}

void ti_heap_check (const struct ti_heap *self)
{
    const struct entry *entries = entries_const (self);
    const uint32_t *places = places_const (self);
    uint32_t present = 0;
    TI_ASSERT (self->count <= self->capacity);
    for (uint32_t i = 0; i < self->count; i++) {
        TI_ASSERT (entries[i].id < self->capacity);
        TI_ASSERT (places[entries[i].id] == i);
        TI_ASSERT (entries[i].order < self->next_order);
        if (i > 0)
            TI_ASSERT (is_before (&entries[(i - 1) / ARITY], &entries[i]));
    }
    for (uint32_t id = 0; id < self->capacity; id++)
        present += places[id] != NOWHERE;
    TI_ASSERT (present == self->count);
}

uint64_t ti_heap_hash (const struct ti_heap *self, tied_time_t now)
{
    const struct entry *entries = entries_const (self);
    uint64_t sum = self->count;
    for (uint32_t i = 0; i < self->count; i++) {
        uint64_t rank = i;
        if (self->count <= HASH_SORTED) {
            rank = 0;
            for (uint32_t j = 0; j < self->count; j++)
                rank += is_before (&entries[j], &entries[i]);
        }
        sum += ti_mix (ti_mix (rank + 1) ^ ti_mix (entries[i].time - now) ^ entries[i].id);
    }
    return ti_mix (sum);
}
