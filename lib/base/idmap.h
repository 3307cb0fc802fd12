/* SPDX-License-Identifier: MIT */
/*
 * Index from a call id to the numbers of the records that carry it. Bounded, open addressing with
 * linear probing, deletion by shifting back, so that no tombstones pile up inside and a lookup
 * costs the same after a million removals. One id may have several values (copies of one call).
 *
 * The index holds no ids of its own: an entry is a record number, its distance from the place where
 * its hash would have it, and as much of the hash as is left of 32 bits. The id is compared in the
 * record, which the caller is about to touch anyway. That keeps sixteen entries in a cache line. A
 * record's id must therefore not change while it is in the index.
 *
 * The seed spreads accidental patterns. It is no defence against an adversary who picks ids to
 * collide: what such a one can cost is bounded by `max` steps per operation.
 */
#ifndef TI_IDMAP_H
#define TI_IDMAP_H

#include <tied/types.h>

/* No such value; never stored. */
#define TI_IDMAP_NONE UINT32_MAX

/* Both arrays are found by their distance from the struct, so a memcpy of the block is a copy. */
struct ti_idmap {
    size_t entries; /* offset of uint32_t[mask + 1] */
    size_t keys;    /* offset of the first record's id */
    uint64_t seed;
    uint32_t stride;     /* bytes from one record's id to the next */
    uint32_t mask;       /* places minus 1: a power of two minus 1, at least 2 * max - 1 */
    uint32_t value_bits; /* of an entry, the low ones; all of them set: the entry is empty */
    uint32_t count;
    uint32_t max;
};

/* Where a search stands. Any insert or remove ends it. */
struct ti_idmap_cursor {
    uint32_t hash;
    uint32_t distance; /* of the next place to look at, from the first */
};

/* Bytes of the entry array for at most max values; max in [1, 1 << 24]. */
size_t ti_idmap_size (uint32_t max);

/*
 * Make it empty. entries (ti_idmap_size () bytes) and keys lie after self in the same block;
 * record n's id is at keys + n * stride.
 */
void ti_idmap_init (struct ti_idmap *self,
                    void *entries,
                    uint32_t max,
                    const struct tied_call_id *keys,
                    size_t stride,
                    uint64_t seed);

/* Add record `value` under the id that it carries. Fewer than max are in; the pair is not. */
void ti_idmap_insert (struct ti_idmap *self, uint32_t value);

/* Remove record `value`, which is in. */
void ti_idmap_remove (struct ti_idmap *self, uint32_t value);

/* A record with this id, then the next one; TI_IDMAP_NONE at the end. Order is not defined. */
uint32_t ti_idmap_find_first (const struct ti_idmap *self,
                              struct tied_call_id key,
                              struct ti_idmap_cursor *out_cursor);
uint32_t ti_idmap_find_next (const struct ti_idmap *self,
                             struct tied_call_id key,
                             struct ti_idmap_cursor *cursor);

/*
 * A search in two halves, for who has other work between: begin to fetch the place where it starts,
 * then name the record that it will look at first, without looking: most likely the one that is
 * searched for. TI_IDMAP_NONE: none, or it lies far off.
 */
uint32_t ti_idmap_expect (const struct ti_idmap *self, struct tied_call_id key);
uint32_t ti_idmap_guess (const struct ti_idmap *self, uint32_t hash);

/* Assert the invariants: every entry is reachable from its home, count and bounds hold. */
void ti_idmap_check (const struct ti_idmap *self);

#endif
