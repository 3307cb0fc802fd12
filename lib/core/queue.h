/* SPDX-License-Identifier: MIT */
/*
 * The copies that a replica holds: slots, the FIFO of those that wait, and the index by call id.
 *
 * A slot is free, queued (in one of two lanes; the lane behind is served when the first is empty)
 * or running. Every operation is O(1). Which copies come in and go out is decided elsewhere.
 */
#ifndef TI_QUEUE_H
#define TI_QUEUE_H

#include <tied/replica_core.h>

#include "base/idmap.h"
#include "base/util.h"

#define TI_SLOT_NONE   UINT32_MAX
#define TI_QUEUE_LANES 2
/* Calls looked ahead at together. Measured: with 4 there is less to gain, with 12 or 16 no more. */
#define TI_QUEUE_EXPECT_MAX TIED_REPLICA_EXPECT_MAX

enum ti_slot_state {
    TI_SLOT_FREE = 0,
    TI_SLOT_QUEUED,
    TI_SLOT_RUNNING
};

enum ti_slot_flag {
    TI_SLOT_TIED = 1 << 0,            /* names a sibling that is a peer of ours */
    TI_SLOT_UNTIED = 1 << 1,          /* no STARTED may drop it any more; sticky */
    TI_SLOT_TOLD = 1 << 2,            /* running: STARTED was handed to the sibling's link */
    TI_SLOT_SIBLING_STARTED = 1 << 3, /* running: the sibling's STARTED came */
    TI_SLOT_CANCELLED = 1 << 4,       /* running: its cancel flag was raised */
    TI_SLOT_BEHIND = 1 << 5           /* queued in the lane behind */
};

/*
 * What a removal by call id needs comes first, so that it lies in one cache line three times of
 * four. Legal states:
 * 1. free: only links.next counts (free list).
 * 2. queued: since = arrival, u.deadline; links.prev and .next join its lane; in the index.
 * 3. running: since = start, u.waited; links.prev and .next unused; in the index.
 * In 2 and 3 links.client_prev and .client_next join the list of that state of its client.
 */
struct ti_slot {
    struct tied_call_id call;
    uint32_t client;
    uint32_t sibling; /* peer index; TIED_NO_PEER if not TIED */
    uint8_t copy;
    uint8_t state;
    uint8_t flags;
    uint8_t merged; /* the youngest re-issue that this copy answers for; 0: none */
    tied_time_t since;
    union {
        tied_time_t deadline;
        tied_duration_t waited;
    } u;
};

/* Slot n's place in its lists, in an array of its own: to unlink one of very many copies touches
 * four neighbours, and so dense an array stays in the cache where the slots do not. */
struct ti_links {
    uint32_t prev;
    uint32_t next;
    uint32_t client_prev;
    uint32_t client_next;
};

struct ti_lane {
    uint32_t head;
    uint32_t tail;
};

struct ti_queue {
    size_t slots; /* offset of struct ti_slot[max] */
    size_t links; /* offset of struct ti_links[max] */
    struct ti_idmap index;
    struct ti_lane lanes[TI_QUEUE_LANES];
    uint32_t free;
    uint32_t max;
    uint32_t depth;   /* length of both lanes */
    uint32_t running; /* slots in that state */
};

/* Bytes of the arrays for max slots; and an empty queue over such an array, which lies after self
 * in the same block. */
size_t ti_queue_size (uint32_t max);
void ti_queue_init (struct ti_queue *self, void *array, uint32_t max, uint64_t seed);

/* Put a copy at the tail of its lane; one slot is free. flags may hold TIED, UNTIED and BEHIND.
 * Only call, copy, client, sibling, since, u.deadline and flags of the template are read. */
uint32_t ti_queue_push (struct ti_queue *self, const struct ti_slot *copy);

/* The copy that starts next, TI_SLOT_NONE if none waits; and the one after a queued copy. */
uint32_t ti_queue_first (const struct ti_queue *self);
uint32_t ti_queue_after (const struct ti_queue *self, uint32_t index);

/* Free a queued slot, start a queued slot, free a running slot. */
void ti_queue_remove (struct ti_queue *self, uint32_t index);
void ti_queue_start (struct ti_queue *self, uint32_t index, tied_time_t now);
void ti_queue_finish (struct ti_queue *self, uint32_t index);

/* The slot that holds this copy, queued or running; TI_SLOT_NONE if there is none. */
uint32_t ti_queue_find (const struct ti_queue *self, struct tied_call_id call, uint8_t copy);

/* Begin to fetch what it takes to find and remove the copies of these calls, at most
 * TI_QUEUE_EXPECT_MAX of them: the misses of the group overlap. Changes nothing. */
void ti_queue_expect (const struct ti_queue *self, const struct tied_call_id *calls, size_t count);

/* Assert every invariant above; takes time in the number of slots. */
void ti_queue_check (const struct ti_queue *self);

static inline struct ti_slot *ti_queue_slot (struct ti_queue *self, uint32_t index)
{
    return TI_AT (struct ti_slot, self, self->slots) + index;
}

static inline const struct ti_slot *ti_queue_slot_const (const struct ti_queue *self,
                                                         uint32_t index)
{
    return TI_AT_CONST (struct ti_slot, self, self->slots) + index;
}

static inline struct ti_links *ti_queue_links (struct ti_queue *self, uint32_t index)
{
    return TI_AT (struct ti_links, self, self->links) + index;
}

static inline const struct ti_links *ti_queue_links_const (const struct ti_queue *self,
                                                           uint32_t index)
{
    return TI_AT_CONST (struct ti_links, self, self->links) + index;
}

/* Ties that a STARTED may still drop. */
static inline bool ti_slot_is_droppable (const struct ti_slot *slot)
{
    return (slot->flags & (TI_SLOT_TIED | TI_SLOT_UNTIED)) == TI_SLOT_TIED;
}

#endif
