/* SPDX-License-Identifier: MIT */
/*
 * The copies that a replica holds: slots, the FIFO of those that wait, and the index by call id.
 *
 * A slot is free, queued (in one of three lanes: relief before the first, and the lane behind is
 * served when both are empty),
 * running, or set aside: it waits for a word of its sibling's replica, in a list of its own, and no
 * worker takes it. Every operation is O(1). Which copies come in and go out is decided elsewhere.
 */
#ifndef TI_QUEUE_H
#define TI_QUEUE_H

#include <tied/replica_core.h>

#include "base/idmap.h"
#include "base/util.h"

#define TI_SLOT_NONE UINT32_MAX
/* Calls looked ahead at together. Measured: with 4 there is less to gain, with 12 or 16 no more. */
#define TI_QUEUE_EXPECT_MAX TIED_REPLICA_EXPECT_MAX

enum ti_slot_state {
    TI_SLOT_FREE = 0,
    TI_SLOT_QUEUED,
    TI_SLOT_RUNNING,
    TI_SLOT_PARKED,  /* aside: the sibling runs; kept in case that it comes to nothing */
    TI_SLOT_CLAIMING /* aside: the sibling's replica was asked whether it may start */
};

/* Lists: the three lanes, then one for each state aside. */
enum ti_queue_list {
    TI_LIST_FIRST = 0,
    TI_LIST_BEHIND,
    TI_LIST_RELIEF,
    TI_LIST_PARKED,
    TI_LIST_CLAIMING,
    TI_QUEUE_LISTS
};

enum ti_slot_flag {
    TI_SLOT_TIED = 1 << 0,            /* names a sibling that is a peer of ours */
    TI_SLOT_UNTIED = 1 << 1,          /* no STARTED may drop it any more; sticky */
    TI_SLOT_TOLD = 1 << 2,            /* running: STARTED was handed to the sibling's link */
    TI_SLOT_SIBLING_STARTED = 1 << 3, /* running: the sibling's STARTED came */
    TI_SLOT_CANCELLED = 1 << 4,       /* running: its cancel flag was raised */
    TI_SLOT_BEHIND = 1 << 5,          /* queued in the lane behind */
    TI_SLOT_PARK = 1 << 6,            /* tied, mode park */
    TI_SLOT_EXCLUSIVE = 1 << 7,       /* mode exclusive; UNTIED: it has the right to start */
    TI_SLOT_REVIVED = 1 << 8,         /* was parked, and went back to the queue */
    TI_SLOT_RELIEF = 1 << 9           /* queued in the lane before the first */
};

/*
 * What a removal by call id needs comes first, so that it lies in one cache line three times of
 * four. Legal states:
 * 1. free: only links.next counts (free list).
 * 2. queued: since = arrival, u.deadline; links.prev and .next join its lane; in the index.
 * 3. running: since = start, u.waited; links.prev and .next unused; in the index.
 * 4. aside: as queued, but links.prev and .next join the list of its state, ordered by tether.due.
 * In 2 to 4 links.client_prev and .client_next join a list of its client: of those that wait (2 and
 * 4), or of those that run.
 */
struct ti_slot {
    struct tied_call_id call;
    uint32_t client;
    uint32_t sibling; /* peer index; TIED_NO_PEER if not TIED */
    uint8_t copy;
    uint8_t state;
    uint16_t flags;
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

/* What only copies of the modes park and exclusive need: apart, so that the others' slots stay
 * small. Valid for PARK and EXCLUSIVE copies. */
struct ti_tether {
    uint64_t
        sibling_incarnation; /* the instance that holds the other copy, as the client knew it */
    tied_time_t born;        /* when the copy would have come, had it not been late on the way */
    tied_time_t due;         /* aside: when to look at it again; EXCLUSIVE and running: deadline */
};

struct ti_lane {
    uint32_t head;
    uint32_t tail;
};

struct ti_queue {
    size_t slots;   /* offset of struct ti_slot[max] */
    size_t links;   /* offset of struct ti_links[max] */
    size_t tethers; /* offset of struct ti_tether[max] */
    struct ti_idmap index;
    struct ti_lane lists[TI_QUEUE_LISTS];
    uint32_t free;
    uint32_t max;
    uint32_t depth;   /* length of the three lanes */
    uint32_t relief;  /* of the one before the first */
    uint32_t running; /* slots in that state, as the next two */
    uint32_t parked;
    uint32_t claiming;
};

/* Bytes of the arrays for max slots; and an empty queue over such an array, which lies after self
 * in the same block. */
size_t ti_queue_size (uint32_t max);
void ti_queue_init (struct ti_queue *self, void *array, uint32_t max, uint64_t seed);

/* Put a copy at the tail of its lane; one slot is free. flags may hold TIED, UNTIED, and BEHIND
 * or RELIEF.
 * Only call, copy, client, sibling, since, u.deadline and flags of the template are read. */
uint32_t ti_queue_push (struct ti_queue *self, const struct ti_slot *copy);

/* The copy that starts next, TI_SLOT_NONE if none waits; and the one after a queued copy. */
uint32_t ti_queue_first (const struct ti_queue *self);
uint32_t ti_queue_after (const struct ti_queue *self, uint32_t index);

/* Set a queued copy aside, at the end of the list of `state`; due is not before that of the one
 * that is there last. Put one that is aside at the end once more, with another due. And back to the
 * head of the first lane: it has waited longer than nearly all that wait there. */
void ti_queue_set_aside (struct ti_queue *self,
                         uint32_t index,
                         enum ti_slot_state state,
                         tied_time_t due);
void ti_queue_postpone (struct ti_queue *self, uint32_t index, tied_time_t due);
void ti_queue_return (struct ti_queue *self, uint32_t index);

/* Longest aside in this state, TI_SLOT_NONE if there is none. */
uint32_t ti_queue_aside (const struct ti_queue *self, enum ti_slot_state state);

/* Free a slot that is queued or aside, start a queued slot, free a running slot. */
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

static inline struct ti_tether *ti_queue_tether (struct ti_queue *self, uint32_t index)
{
    return TI_AT (struct ti_tether, self, self->tethers) + index;
}

static inline const struct ti_tether *ti_queue_tether_const (const struct ti_queue *self,
                                                             uint32_t index)
{
    return TI_AT_CONST (struct ti_tether, self, self->tethers) + index;
}

/* Copies that have a place of queue_depth: those that ask for leave will start here or nowhere. */
static inline uint32_t ti_queue_waiting (const struct ti_queue *self)
{
    return self->depth + self->claiming;
}

/* Ties that a STARTED may still drop. */
static inline bool ti_slot_is_droppable (const struct ti_slot *slot)
{
    return (slot->flags & (TI_SLOT_TIED | TI_SLOT_UNTIED)) == TI_SLOT_TIED;
}

#endif
