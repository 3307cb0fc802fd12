/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include "base/assert.h"

static struct ti_lane *lane_of (struct ti_queue *self, const struct ti_slot *slot)
{
    return &self->lanes[(slot->flags & TI_SLOT_BEHIND) != 0];
}

static void unlink_from_lane (struct ti_queue *self, uint32_t index)
{
    const struct ti_slot *slot = ti_queue_slot (self, index);
    const struct ti_links *links = ti_queue_links (self, index);
    struct ti_lane *lane = lane_of (self, slot);

    TI_ASSERT (slot->state == TI_SLOT_QUEUED);
    if (links->prev == TI_SLOT_NONE)
        lane->head = links->next;
    else
        ti_queue_links (self, links->prev)->next = links->next;
    if (links->next == TI_SLOT_NONE)
        lane->tail = links->prev;
    else
        ti_queue_links (self, links->next)->prev = links->prev;
    self->depth--;
}

static void release (struct ti_queue *self, uint32_t index)
{
    ti_idmap_remove (&self->index, index);
    ti_queue_slot (self, index)->state = TI_SLOT_FREE;
    ti_queue_links (self, index)->next = self->free;
    self->free = index;
}

static size_t slots_size (uint32_t max)
{
    return ti_align ((size_t)max * sizeof (struct ti_slot));
}

static size_t links_size (uint32_t max)
{
    return ti_align ((size_t)max * sizeof (struct ti_links));
}

/* Slots, links, index. */
size_t ti_queue_size (uint32_t max)
{
    return slots_size (max) + links_size (max) + ti_align (ti_idmap_size (max));
}

void ti_queue_init (struct ti_queue *self, void *array, uint32_t max, uint64_t seed)
{
    unsigned char *base = array;
    struct ti_slot *slots = array;
    uint32_t i;

    TI_ASSERT (base > (unsigned char *)self);
    memset (array, 0, slots_size (max) + links_size (max));
    self->slots = (size_t)(base - (unsigned char *)self);
    self->links = self->slots + slots_size (max);
    base += slots_size (max) + links_size (max);
    ti_idmap_init (&self->index, base, max, &slots[0].call, sizeof (struct ti_slot), seed);
    for (i = 0; i < TI_QUEUE_LANES; i++) {
        self->lanes[i].head = TI_SLOT_NONE;
        self->lanes[i].tail = TI_SLOT_NONE;
    }
    for (i = 0; i < max; i++)
        ti_queue_links (self, i)->next = i + 1 < max ? i + 1 : TI_SLOT_NONE;
    self->free = 0;
    self->max = max;
    self->depth = 0;
    self->running = 0;
}

uint32_t ti_queue_push (struct ti_queue *self, const struct ti_slot *copy)
{
    uint32_t index = self->free;
    struct ti_links *links;
    struct ti_slot *slot;
    struct ti_lane *lane;

    TI_ASSERT (index != TI_SLOT_NONE);
    slot = ti_queue_slot (self, index);
    links = ti_queue_links (self, index);
    lane = lane_of (self, copy);
    self->free = links->next;
    *slot = *copy;
    slot->state = TI_SLOT_QUEUED;
    links->prev = lane->tail;
    links->next = TI_SLOT_NONE;
    if (lane->tail == TI_SLOT_NONE)
        lane->head = index;
    else
        ti_queue_links (self, lane->tail)->next = index;
    lane->tail = index;
    self->depth++;
    ti_idmap_insert (&self->index, index);
    return index;
}

uint32_t ti_queue_first (const struct ti_queue *self)
{
    return self->lanes[0].head != TI_SLOT_NONE ? self->lanes[0].head : self->lanes[1].head;
}

uint32_t ti_queue_after (const struct ti_queue *self, uint32_t index)
{
    uint32_t next = ti_queue_links_const (self, index)->next;

    if (next == TI_SLOT_NONE && !(ti_queue_slot_const (self, index)->flags & TI_SLOT_BEHIND))
        return self->lanes[1].head;
    return next;
}

void ti_queue_remove (struct ti_queue *self, uint32_t index)
{
    unlink_from_lane (self, index);
    release (self, index);
}

void ti_queue_start (struct ti_queue *self, uint32_t index, tied_time_t now)
{
    struct ti_slot *slot = ti_queue_slot (self, index);

    unlink_from_lane (self, index);
    slot->state = TI_SLOT_RUNNING;
    slot->u.waited = ti_time_sub (now, slot->since);
    slot->since = now;
    self->running++;
}

void ti_queue_finish (struct ti_queue *self, uint32_t index)
{
    TI_ASSERT (ti_queue_slot (self, index)->state == TI_SLOT_RUNNING);
    self->running--;
    release (self, index);
}

uint32_t ti_queue_find (const struct ti_queue *self, struct tied_call_id call, uint8_t copy)
{
    struct ti_idmap_cursor cursor;
    uint32_t index = ti_idmap_find_first (&self->index, call, &cursor);

    while (index != TI_IDMAP_NONE && ti_queue_slot_const (self, index)->copy != copy)
        index = ti_idmap_find_next (&self->index, call, &cursor);
    return index;
}

/* Each loop waits for what the one before has begun to fetch, and for all of the group at once. */
void ti_queue_expect (const struct ti_queue *self, const struct tied_call_id *calls, size_t count)
{
    uint32_t found[TI_QUEUE_EXPECT_MAX];
    size_t i;

    TI_ASSERT (count <= TI_QUEUE_EXPECT_MAX);
    for (i = 0; i < count; i++)
        found[i] = ti_idmap_expect (&self->index, calls[i]);
    for (i = 0; i < count; i++) {
        found[i] = ti_idmap_guess (&self->index, found[i]);
        if (found[i] == TI_IDMAP_NONE)
            continue;
        ti_prefetch (ti_queue_slot_const (self, found[i]));
        ti_prefetch (ti_queue_links_const (self, found[i]));
    }
    for (i = 0; i < count; i++) {
        const struct ti_links *links;

        if (found[i] == TI_IDMAP_NONE)
            continue;
        links = ti_queue_links_const (self, found[i]);
        if (links->prev != TI_SLOT_NONE)
            ti_prefetch (ti_queue_links_const (self, links->prev));
        if (links->next != TI_SLOT_NONE)
            ti_prefetch (ti_queue_links_const (self, links->next));
    }
}

void ti_queue_check (const struct ti_queue *self)
{
    uint32_t lane_length = 0;
    uint32_t running = 0;
    uint32_t queued = 0;
    uint32_t free_length = 0;
    uint32_t i;

    for (i = 0; i < self->max; i++) {
        const struct ti_slot *slot = ti_queue_slot_const (self, i);

        queued += slot->state == TI_SLOT_QUEUED;
        running += slot->state == TI_SLOT_RUNNING;
        if (slot->state != TI_SLOT_FREE)
            TI_ASSERT (ti_queue_find (self, slot->call, slot->copy) == i);
    }
    for (i = 0; i < TI_QUEUE_LANES; i++) {
        uint32_t before = TI_SLOT_NONE;
        uint32_t at = self->lanes[i].head;

        while (at != TI_SLOT_NONE) {
            const struct ti_slot *slot = ti_queue_slot_const (self, at);

            TI_ASSERT (slot->state == TI_SLOT_QUEUED);
            TI_ASSERT (ti_queue_links_const (self, at)->prev == before);
            TI_ASSERT (((slot->flags & TI_SLOT_BEHIND) != 0) == (i == 1));
            TI_ASSERT (++lane_length <= self->max);
            before = at;
            at = ti_queue_links_const (self, at)->next;
        }
        TI_ASSERT (self->lanes[i].tail == before);
    }
    for (i = self->free; i != TI_SLOT_NONE; i = ti_queue_links_const (self, i)->next) {
        TI_ASSERT (ti_queue_slot_const (self, i)->state == TI_SLOT_FREE);
        TI_ASSERT (++free_length <= self->max);
    }
    TI_ASSERT (queued == self->depth);
    TI_ASSERT (lane_length == self->depth);
    TI_ASSERT (running == self->running);
    TI_ASSERT (queued + running + free_length == self->max);
    TI_ASSERT (self->index.count == queued + running);
    ti_idmap_check (&self->index);
}
