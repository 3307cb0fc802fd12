/* SPDX-License-Identifier: MIT */
/*
 * Lanes are rings of records of different length. A record never wraps: what is left at the end of
 * a ring is skipped once it could not hold the longest one, so reader and writer agree without a
 * mark. The heap moves small nodes only; what an event carries stays where it is.
 */
#include "engine/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

#define NONE       UINT32_MAX
#define RING_START 8192u /* bytes; small, so that a short lane stays in the cache */
#define HEAP_START 64u
#define LINE       64u

struct record {
    tied_time_t at;
    uint64_t order;
    uint64_t value;
    uint32_t kind;
    uint32_t a, b;
    uint32_t size;
};

#define RECORD_MAX ((uint32_t)sizeof (struct record) + SIM_EVENT_BYTES_MAX)

/* head and tail are places where a record of any length would fit. */
struct lane {
    unsigned char *bytes;
    tied_time_t latest;
    uint64_t count;
    uint32_t capacity;
    uint32_t head, tail;
};

/* `order` has the number of the item or timer in its low bits: a node is nothing but its key, and
 * four of them are a cache line. */
struct key {
    tied_time_t at;
    uint64_t order;
};

#define ITEM_BITS 24
#define ITEM_MASK ((UINT64_C (1) << ITEM_BITS) - 1)
#define ORDER_MAX (UINT64_C (1) << (64 - ITEM_BITS))

struct item {
    uint64_t value;
    uint32_t kind;
    uint32_t a, b;
    uint32_t next; /* in the list of free items, or the number of the blob; NONE: neither */
    uint32_t size;
};

struct blob {
    uint32_t next;
    unsigned char bytes[SIM_EVENT_BYTES_MAX];
};

/* Lanes, then the heap, then the timers. */
#define SOURCES (SIM_LANES_MAX + 2)
#define HEAP    SIM_LANES_MAX
#define TIMERS  (SIM_LANES_MAX + 1)

struct sim_events {
    /* Of each; empty: TIED_NEVER. In two arrays, for a key that is written in halves and read at
     * once as a whole has to wait for both. */
    tied_time_t first_at[SOURCES];
    uint64_t first_order[SOURCES];
    struct lane lanes[SIM_LANES_MAX];
    uint32_t lanes_count;
    uint32_t heap_count, heap_capacity;
    uint32_t free_item, free_blob;
    uint32_t blobs_count;
    struct key *heap; /* children of i: 4 i + 1 and the next three; each four on a line */
    void *heap_block;
    struct item *items; /* as many as the heap has room for */
    struct blob *blobs;
    /* A tournament: leaf i is timer i, and each node above is a copy of the earlier of its two.
     * Nodes count from 1; the children of i are 2 i and 2 i + 1; leaves begin at timers_leaves. The
     * low bits of `order` are the timer's number. */
    struct key *timers;
    uint32_t timers_count, timers_leaves;
    uint64_t order;
    uint64_t count;
    uint64_t shuffle_seed;
};

static const struct key no_key = {TIED_NEVER, UINT64_MAX};

__extension__ typedef unsigned __int128 wide;

/* Without a branch: which of two comes first is as good as random. */
static inline bool is_before (struct key a, struct key b)
{
    return ((wide)a.at << 64 | a.order) < ((wide)b.at << 64 | b.order);
}

static inline struct key earlier_of (struct key a, struct key b)
{
    const bool is_a = is_before (a, b);

    return (struct key){is_a ? a.at : b.at, is_a ? a.order : b.order};
}

static inline void set_first (struct sim_events *self, uint32_t source, struct key key)
{
    self->first_at[source] = key.at;
    self->first_order[source] = key.order;
}

static void *resize (void *memory, size_t count, size_t size)
{
    void *larger = realloc (memory, count * size);

    TI_ASSERT (larger != NULL);
    return larger;
}

struct sim_events *sim_events_new (uint64_t shuffle_seed)
{
    struct sim_events *self = calloc (1, sizeof *self);

    if (self == NULL)
        return NULL;
    for (uint32_t i = 0; i < SOURCES; i++)
        set_first (self, i, no_key);
    self->free_item = NONE;
    self->free_blob = NONE;
    self->shuffle_seed = shuffle_seed;
    return self;
}

void sim_events_free (struct sim_events *self)
{
    if (self == NULL)
        return;
    for (uint32_t i = 0; i < self->lanes_count; i++)
        free (self->lanes[i].bytes);
    free (self->heap_block);
    free (self->items);
    free (self->blobs);
    free (self->timers);
    free (self);
}

int sim_events_add_lane (struct sim_events *self)
{
    if (self->lanes_count == SIM_LANES_MAX)
        return -1;
    return (int)self->lanes_count++;
}

/* ---- lanes ---- */

static inline struct record *record_at (const struct lane *lane, uint32_t place)
{
    return (struct record *)(void *)(lane->bytes + place);
}

static inline uint32_t after (uint32_t capacity, uint32_t place, uint32_t size)
{
    place += (uint32_t)sizeof (struct record) + ((size + 7u) & ~7u);
    return capacity - place < RECORD_MAX ? 0 : place;
}

static inline bool has_room (const struct lane *lane)
{
    if (lane->count == 0)
        return lane->capacity > 0;
    return lane->tail > lane->head || lane->head - lane->tail >= RECORD_MAX;
}

static void grow_lane (struct lane *lane)
{
    struct lane larger = *lane;

    larger.capacity = lane->capacity == 0 ? RING_START : lane->capacity * 2;
    TI_ASSERT (larger.capacity > lane->capacity);
    larger.bytes = resize (NULL, larger.capacity, 1);
    larger.head = 0;
    larger.tail = 0;
    for (uint64_t i = 0; i < lane->count; i++) {
        const struct record *record = record_at (lane, lane->head);

        memcpy (larger.bytes + larger.tail, record, sizeof *record + record->size);
        lane->head = after (lane->capacity, lane->head, record->size);
        larger.tail = after (larger.capacity, larger.tail, record->size);
    }
    free (lane->bytes);
    *lane = larger;
}

static void
put_lane (struct sim_events *self, uint32_t number, const struct sim_event *event, uint64_t order)
{
    struct lane *lane = &self->lanes[number];
    struct record *record;

    TI_ASSERT (lane->count == 0 || event->at >= lane->latest);
    if (!has_room (lane))
        grow_lane (lane);
    record = record_at (lane, lane->tail);
    record->at = event->at;
    record->order = order;
    record->value = event->value;
    record->kind = event->kind;
    record->a = event->a;
    record->b = event->b;
    record->size = event->size;
    if (event->size > 0)
        memcpy (record + 1, event->bytes, event->size);
    lane->latest = event->at;
    if (lane->count++ == 0)
        set_first (self, number, (struct key){event->at, order});
    lane->tail = after (lane->capacity, lane->tail, event->size);
}

static void take_lane (struct sim_events *self, uint32_t number, struct sim_event *out)
{
    struct lane *lane = &self->lanes[number];
    const struct record *record = record_at (lane, lane->head);

    out->at = record->at;
    out->order = record->order;
    out->kind = record->kind;
    out->a = record->a;
    out->b = record->b;
    out->value = record->value;
    out->size = (uint16_t)record->size;
    out->bytes = (const unsigned char *)(record + 1);
    lane->head = after (lane->capacity, lane->head, record->size);
    if (--lane->count == 0) {
        set_first (self, number, no_key);
        lane->head = 0; /* begin again where the cache is warm */
        lane->tail = 0;
    } else {
        record = record_at (lane, lane->head);
        set_first (self, number, (struct key){record->at, record->order});
    }
}

/* ---- heap ---- */

static void grow_heap (struct sim_events *self)
{
    const uint32_t from = self->heap_capacity;
    const uint32_t to = from == 0 ? HEAP_START : from * 2;
    unsigned char *block;

    TI_ASSERT (to > from && to <= ITEM_MASK);
    block = aligned_alloc (LINE, (to + 2 * LINE / sizeof (struct key)) * sizeof (struct key));
    TI_ASSERT (block != NULL);
    /* Entry 0 ends a line, so that 1 begins one. */
    if (from > 0)
        memcpy (block + LINE - sizeof (struct key), self->heap, from * sizeof (struct key));
    free (self->heap_block);
    self->heap_block = block;
    self->heap = (struct key *)(void *)(block + LINE - sizeof (struct key));
    self->items = resize (self->items, to, sizeof *self->items);
    for (uint32_t i = to; i > from; i--) {
        self->items[i - 1].next = self->free_item;
        self->free_item = i - 1;
    }
    self->heap_capacity = to;
}

static uint32_t new_blob (struct sim_events *self)
{
    uint32_t number = self->free_blob;

    if (number == NONE) {
        const uint32_t from = self->blobs_count;
        const uint32_t to = from == 0 ? HEAP_START : from * 2;

        TI_ASSERT (to > from);
        self->blobs = resize (self->blobs, to, sizeof *self->blobs);
        for (uint32_t i = to; i > from; i--) {
            self->blobs[i - 1].next = self->free_blob;
            self->free_blob = i - 1;
        }
        self->blobs_count = to;
        number = self->free_blob;
    }
    self->free_blob = self->blobs[number].next;
    return number;
}

static void sift_up (struct key *heap, uint32_t place, struct key key)
{
    while (place > 0) {
        const uint32_t parent = (place - 1) / 4;

        if (!is_before (key, heap[parent]))
            break;
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = key;
}

static inline uint32_t earlier (const struct key *heap, uint32_t a, uint32_t b)
{
    return is_before (heap[b], heap[a]) ? b : a;
}

/* The hole at the top sinks to a leaf, and the last entry rises from there: it was a leaf, and
 * seldom rises far. */
static void remove_first (struct key *heap, uint32_t count)
{
    const struct key last = heap[count];
    uint32_t place = 0;

    for (;;) {
        const uint32_t child = place * 4 + 1;
        uint32_t least = child;

        if (child + 4 <= count) {
            least = earlier (heap, earlier (heap, child, child + 1),
                             earlier (heap, child + 2, child + 3));
        } else {
            if (child >= count)
                break;
            for (uint32_t i = child + 1; i < count; i++)
                least = earlier (heap, least, i);
        }
        heap[place] = heap[least];
        place = least;
    }
    sift_up (heap, place, last);
}

static void put_heap (struct sim_events *self, const struct sim_event *event, uint64_t order)
{
    struct item *item;
    uint32_t number;

    if (self->free_item == NONE)
        grow_heap (self);
    number = self->free_item;
    item = &self->items[number];
    self->free_item = item->next;
    item->value = event->value;
    item->kind = event->kind;
    item->a = event->a;
    item->b = event->b;
    item->size = event->size;
    item->next = NONE;
    if (event->size > 0) {
        item->next = new_blob (self);
        memcpy (self->blobs[item->next].bytes, event->bytes, event->size);
    }
    sift_up (self->heap, self->heap_count++, (struct key){event->at, order | number});
    set_first (self, HEAP, self->heap[0]);
}

/* The blob is free from now on, but its bytes stay until it is used again. */
static void take_heap (struct sim_events *self, struct sim_event *out)
{
    const struct key key = self->heap[0];
    const uint32_t number = (uint32_t)(key.order & ITEM_MASK);
    struct item *item = &self->items[number];

    out->at = key.at;
    out->order = key.order;
    out->kind = item->kind;
    out->a = item->a;
    out->b = item->b;
    out->value = item->value;
    out->size = (uint16_t)item->size;
    out->bytes = NULL;
    if (item->next != NONE) {
        struct blob *blob = &self->blobs[item->next];

        out->bytes = blob->bytes;
        blob->next = self->free_blob;
        self->free_blob = item->next;
    }
    item->next = self->free_item;
    self->free_item = number;
    if (--self->heap_count > 0) {
        remove_first (self->heap, self->heap_count);
        set_first (self, HEAP, self->heap[0]);
    } else {
        set_first (self, HEAP, no_key);
    }
}

/* ---- timers ---- */

bool sim_events_add_timers (struct sim_events *self, uint32_t count)
{
    uint32_t leaves = 1;

    TI_ASSERT (self->timers == NULL && count >= 1 && count <= ITEM_MASK);
    while (leaves < count)
        leaves *= 2;
    self->timers = malloc (2 * (size_t)leaves * sizeof *self->timers);
    if (self->timers == NULL)
        return false;
    self->timers_count = count;
    self->timers_leaves = leaves;
    for (uint32_t i = 0; i < 2 * leaves; i++)
        self->timers[i] = no_key;
    return true;
}

/* Plays the matches from the timer's leaf up to the final. */
static inline void play (struct sim_events *self, uint32_t timer, struct key key)
{
    struct key *timers = self->timers;

    for (uint32_t node = self->timers_leaves + timer; node > 1; node /= 2) {
        timers[node] = key;
        key = earlier_of (key, timers[node ^ 1u]);
    }
    timers[1] = key;
    set_first (self, TIMERS, key);
}

static uint64_t next_order (struct sim_events *self)
{
    uint64_t order = self->order++;

    TI_ASSERT (order < ORDER_MAX);
    if (self->shuffle_seed != 0)
        order = ti_mix (order ^ self->shuffle_seed);
    return order << ITEM_BITS;
}

void sim_events_set_timer (struct sim_events *self, uint32_t timer, tied_time_t at)
{
    TI_ASSERT (timer < self->timers_count);
    self->count -= self->timers[self->timers_leaves + timer].at != TIED_NEVER;
    self->count += at != TIED_NEVER;
    play (self, timer, at == TIED_NEVER ? no_key : (struct key){at, next_order (self) | timer});
}

tied_time_t sim_events_timer (const struct sim_events *self, uint32_t timer)
{
    TI_ASSERT (timer < self->timers_count);
    return self->timers[self->timers_leaves + timer].at;
}

static void take_timer (struct sim_events *self, struct sim_event *out)
{
    const struct key key = {self->first_at[TIMERS], self->first_order[TIMERS]};

    out->at = key.at;
    out->order = key.order;
    out->kind = SIM_EVENT_TIMER;
    out->a = (uint32_t)(key.order & ITEM_MASK);
    out->b = 0;
    out->value = 0;
    out->size = 0;
    out->bytes = NULL;
    play (self, out->a, no_key);
}

/* ---- all ---- */

void sim_events_put (struct sim_events *self, int lane, const struct sim_event *event)
{
    const uint64_t order = next_order (self);

    TI_ASSERT (event->size <= SIM_EVENT_BYTES_MAX && event->at != TIED_NEVER);
    self->count++;
    if (lane < 0) {
        put_heap (self, event, order);
    } else {
        TI_ASSERT ((uint32_t)lane < self->lanes_count);
        put_lane (self, (uint32_t)lane, event, order);
    }
}

static inline struct key first_key (const struct sim_events *self, uint32_t source)
{
    return (struct key){self->first_at[source], self->first_order[source]};
}

static inline uint32_t first_of (const struct sim_events *self)
{
    uint32_t first = is_before (first_key (self, HEAP), first_key (self, TIMERS)) ? HEAP : TIMERS;

    for (uint32_t i = 0; i < self->lanes_count; i++)
        first = is_before (first_key (self, i), first_key (self, first)) ? i : first;
    return first;
}

tied_time_t sim_events_time (const struct sim_events *self)
{
    return self->first_at[first_of (self)];
}

bool sim_events_take_before (struct sim_events *self, tied_time_t limit, struct sim_event *out)
{
    const uint32_t first = first_of (self);

    if (self->first_at[first] >= limit)
        return false;
    self->count--;
    if (first == TIMERS)
        take_timer (self, out);
    else if (first == HEAP)
        take_heap (self, out);
    else
        take_lane (self, first, out);
    return true;
}

bool sim_events_take (struct sim_events *self, struct sim_event *out)
{
    return sim_events_take_before (self, TIED_NEVER, out);
}

uint64_t sim_events_count (const struct sim_events *self)
{
    return self->count;
}

size_t sim_events_bytes (const struct sim_events *self)
{
    size_t bytes = sizeof *self;

    for (uint32_t i = 0; i < self->lanes_count; i++)
        bytes += self->lanes[i].capacity;
    bytes += 2 * (size_t)self->timers_leaves * sizeof *self->timers;
    bytes += self->heap_capacity * (sizeof *self->heap + sizeof *self->items);
    return bytes + self->blobs_count * sizeof *self->blobs;
}
