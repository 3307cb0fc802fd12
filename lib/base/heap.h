/* SPDX-License-Identifier: MIT */
/*
 * Bounded indexed priority queue of times: a 4-ary min-heap whose handles are small numbers that
 * the caller owns (node ids), each in it at most once. Equal times leave in the order in which they
 * were set. Its arrays are found by their distance from the struct, so a block that holds both can
 * be copied with memcpy. It knows no clock and calls nobody.
 */
#ifndef TI_HEAP_H
#define TI_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include <tied/types.h>

struct ti_heap {
    uint32_t count;
    uint32_t capacity;   /* node ids are [0, capacity) */
    uint64_t next_order; /* of the next set; breaks ties */
    size_t entries;      /* distance of the entries, in heap order */
    size_t places;       /* distance of id -> index in entries, UINT32_MAX: not there */
};

/* Bytes of the arrays for that many node ids. */
size_t ti_heap_size (uint32_t capacity);

/* Make an empty heap whose arrays begin `offset` bytes after self; ti_heap_size () bytes there. */
void ti_heap_init (struct ti_heap *self, uint32_t capacity, size_t offset);

/* Put id in with this time, or move it. O(log n). It goes behind others of the same time. */
void ti_heap_set (struct ti_heap *self, uint32_t id, tied_time_t time);

/* Take id out. Returns whether it was there. O(log n). */
bool ti_heap_remove (struct ti_heap *self, uint32_t id);

bool ti_heap_has (const struct ti_heap *self, uint32_t id);

/* Time of an id that is in. */
tied_time_t ti_heap_time (const struct ti_heap *self, uint32_t id);

/* Earliest time, TIED_NEVER when empty. O(1). */
tied_time_t ti_heap_top_time (const struct ti_heap *self);

/* Id of the earliest; the heap is not empty. O(1). */
uint32_t ti_heap_top (const struct ti_heap *self);

/* Assert the heap order and that both arrays agree. O(n). */
void ti_heap_check (const struct ti_heap *self);

/* Hash of the ids with their times relative to now. Up to 64 entries also of the order in which
 * equal times leave (O(n^2)); beyond, of the array's order instead. */
uint64_t ti_heap_hash (const struct ti_heap *self, tied_time_t now);

#endif
