/* SPDX-License-Identifier: MIT */
/*
 * The heap moves keys only; what an event carries stays where it is, and its bytes have a place of
 * their own.
 */
#include "engine/events_internal.h"

static void grow_heap (struct sim_events *self)
{
    const uint32_t from = self->heap_capacity;
    const uint32_t to = from == 0 ? SIM_HEAP_START : from * 2;
    unsigned char *block;

    TI_ASSERT (to > from && to <= SIM_ITEM_MASK);
    self->items = sim_resize (self->items, to, sizeof *self->items);
    block = aligned_alloc (SIM_LINE,
                           (to + 2 * SIM_LINE / sizeof (struct sim_key)) * sizeof (struct sim_key));
    if (block == NULL)
        sim_memory_failed ();
    /* Entry 0 ends a line, so that 1 begins one. */
    if (from > 0)
        memcpy (block + SIM_LINE - sizeof (struct sim_key), self->heap,
                from * sizeof (struct sim_key));
    free (self->heap_block);
    self->heap_block = block;
    self->heap = (struct sim_key *)(void *)(block + SIM_LINE - sizeof (struct sim_key));
    for (uint32_t i = to; i > from; i--) {
        self->items[i - 1].next = self->free_item;
        self->free_item = i - 1;
    }
    self->heap_capacity = to;
}

static uint32_t new_blob (struct sim_events *self)
{
    uint32_t number = self->free_blob;

    if (number == SIM_EVENT_NONE) {
        const uint32_t from = self->blobs_count;
        const uint32_t to = from == 0 ? SIM_HEAP_START : from * 2;

        TI_ASSERT (to > from);
        self->blobs = sim_resize (self->blobs, to, sizeof *self->blobs);
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

static void sift_up (struct sim_key *heap, uint32_t place, struct sim_key key)
{
    while (place > 0) {
        const uint32_t parent = (place - 1) / 4;

        if (!sim_is_before (key, heap[parent]))
            break;
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = key;
}

static inline uint32_t earlier (const struct sim_key *heap, uint32_t a, uint32_t b)
{
    return sim_is_before (heap[b], heap[a]) ? b : a;
}

/* The hole at the top sinks to a leaf, and the last entry rises from there: it was a leaf, and
 * seldom rises far. */
static void remove_first (struct sim_key *heap, uint32_t count)
{
    const struct sim_key last = heap[count];
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

void sim_heap_put (struct sim_events *self,
                   const struct sim_record *event,
                   tied_time_t at,
                   uint64_t order)
{
    struct sim_item *item;
    uint32_t number;

    if (self->free_item == SIM_EVENT_NONE)
        grow_heap (self);
    number = self->free_item;
    item = &self->items[number];
    self->free_item = item->next;
    item->value = event->value;
    item->kind = event->kind;
    item->a = event->a;
    item->b = event->b;
    item->size = event->size;
    item->next = SIM_EVENT_NONE;
    if (event->size > 0) {
        item->next = new_blob (self);
        memcpy (self->blobs[item->next].bytes, event->bytes, event->size);
    }
    sift_up (self->heap, self->heap_count++, (struct sim_key){at, order | number});
    sim_set_first (self, SIM_HEAP, self->heap[0]);
}

/* The blob is free from now on, but its bytes stay until it is used again. */
void sim_heap_take (struct sim_events *self, struct sim_event *out)
{
    const struct sim_key key = self->heap[0];
    const uint32_t number = (uint32_t)(key.order & SIM_ITEM_MASK);
    struct sim_item *item = &self->items[number];

    out->at = key.at;
    out->order = key.order;
    out->kind = item->kind;
    out->a = item->a;
    out->b = item->b;
    out->value = item->value;
    out->size = (uint16_t)item->size;
    out->bytes = NULL;
    if (item->next != SIM_EVENT_NONE) {
        struct sim_blob *blob = &self->blobs[item->next];

        out->bytes = blob->bytes;
        blob->next = self->free_blob;
        self->free_blob = item->next;
    }
    item->next = self->free_item;
    self->free_item = number;
    if (--self->heap_count > 0) {
        remove_first (self->heap, self->heap_count);
        sim_set_first (self, SIM_HEAP, self->heap[0]);
    } else {
        sim_set_first (self, SIM_HEAP, sim_no_key);
    }
}
