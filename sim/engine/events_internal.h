/* SPDX-License-Identifier: MIT */
/*
 * What the files of the queue of events share. A source is a lane, the heap or the timers: each has
 * a first event, whose key stands in the struct, and the queue chooses among those.
 */
#ifndef SIM_EVENTS_INTERNAL_H
#define SIM_EVENTS_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine/events.h"
#include "engine/memory.h"

#define SIM_EVENT_NONE UINT32_MAX
#define SIM_HEAP_START 64u
#define SIM_LINE       64u

#define SIM_RECORD_MAX ((uint32_t)sizeof (struct sim_record) + SIM_EVENT_ROOM)

/* head and tail are places where a record of any length would fit. */
struct sim_lane {
    unsigned char *bytes;
    tied_time_t latest;
    uint64_t count;
    uint32_t capacity;
    uint32_t head, tail;
};

/* `order` has the number of the item or timer in its low bits: a node is nothing but its key, and
 * four of them are a cache line. */
struct sim_key {
    tied_time_t at;
    uint64_t order;
};

#define SIM_ITEM_BITS 24
#define SIM_ITEM_MASK ((UINT64_C (1) << SIM_ITEM_BITS) - 1)
#define SIM_ORDER_MAX (UINT64_C (1) << (64 - SIM_ITEM_BITS))

struct sim_item {
    uint64_t value;
    uint32_t kind;
    uint32_t a, b;
    uint32_t next; /* free item, or the blob, or SIM_EVENT_NONE */
    uint32_t size;
};

struct sim_blob {
    uint32_t next;
    unsigned char bytes[SIM_EVENT_BYTES_MAX];
};

/* Lanes, then the heap, then the timers. */
#define SIM_SOURCES (SIM_LANES_MAX + 2)
#define SIM_HEAP    SIM_LANES_MAX
#define SIM_TIMERS  (SIM_LANES_MAX + 1)

struct sim_events {
    /* Of each; empty: TIED_NEVER. In two arrays, for a key that is written in halves and read at
     * once as a whole has to wait for both. */
    tied_time_t first_at[SIM_SOURCES];
    uint64_t first_order[SIM_SOURCES];
    struct sim_lane lanes[SIM_LANES_MAX];
    uint32_t lanes_count;
    uint32_t heap_count, heap_capacity;
    uint32_t free_item, free_blob;
    uint32_t blobs_count;
    struct sim_key *heap; /* children of i: 4 i + 1 and the next three; each four on a line */
    void *heap_block;
    struct sim_item *items; /* as many as the heap has room for */
    struct sim_blob *blobs;
    /* A tournament: a leaf is a timer, and each node above is a copy of the earlier of its two.
     * Nodes count from 1; the children of i are 2 i and 2 i + 1. The few timers play below node 3
     * and all others below node 2, so that the few have a short way to the final. The low bits of
     * `order` are the timer's number. */
    struct sim_key *timers;
    uint32_t timers_count, timers_few, timers_nodes;
    uint32_t few_leaf, other_leaf; /* added to the timer's number: its node */
    /* Taken and not set again yet: most are, and so its matches are played once. SIM_EVENT_NONE:
     * none; else the nodes above its leaf, and the first, are out of date. */
    uint32_t timer_taken;
    uint64_t order;
    uint64_t count;
    uint64_t shuffle_seed;
    _Alignas(
        struct sim_record) unsigned char room[SIM_RECORD_MAX]; /* for what goes into the heap */
};

static const struct sim_key sim_no_key = {TIED_NEVER, UINT64_MAX};

__extension__ typedef unsigned __int128 sim_wide;

/* Without a branch: which of two comes first is as good as random. */
static inline bool sim_is_before (struct sim_key a, struct sim_key b)
{
    return ((sim_wide)a.at << 64 | a.order) < ((sim_wide)b.at << 64 | b.order);
}

static inline struct sim_key sim_earlier_of (struct sim_key a, struct sim_key b)
{
    const bool is_a = sim_is_before (a, b);

    return (struct sim_key){is_a ? a.at : b.at, is_a ? a.order : b.order};
}

static inline void sim_set_first (struct sim_events *self, uint32_t source, struct sim_key key)
{
    self->first_at[source] = key.at;
    self->first_order[source] = key.order;
}

static inline void *sim_resize (void *memory, size_t count, size_t size)
{
    void *larger = realloc (memory, count * size);

    if (larger == NULL)
        sim_memory_failed ();
    return larger;
}

/* events_lanes.c */
struct sim_record *sim_lane_next (struct sim_lane *lane);
void sim_lane_post (struct sim_events *self, uint32_t number, tied_time_t at, uint64_t order);
void sim_lane_take (struct sim_events *self, uint32_t number, struct sim_event *out);
void sim_lane_peek (
    const struct sim_events *self, uint32_t number, uint32_t *kind, uint32_t *a, uint32_t *b);
/* events_heap.c */
void sim_heap_put (struct sim_events *self,
                   const struct sim_record *event,
                   tied_time_t at,
                   uint64_t order);
void sim_heap_take (struct sim_events *self, struct sim_event *out);
/* events_timers.c */
void sim_timers_take (struct sim_events *self, struct sim_event *out);
void sim_timers_settle (struct sim_events *self);
static inline uint64_t sim_events_order (struct sim_events *self)
{
    uint64_t order = self->order++;

    TI_ASSERT (order < SIM_ORDER_MAX);
    if (self->shuffle_seed != 0)
        order = ti_mix (order ^ self->shuffle_seed);
    return order << SIM_ITEM_BITS;
}

#endif
