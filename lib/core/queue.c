/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include "base/assert.h"

static enum ti_queue_list list_of (const struct ti_slot *slot)
{
    switch ((enum ti_slot_state)slot->state) {
    case TI_SLOT_QUEUED:
        if (slot->flags & TI_SLOT_RELIEF)
            return TI_LIST_RELIEF;
        return slot->flags & TI_SLOT_BEHIND ? TI_LIST_BEHIND : TI_LIST_FIRST;
    case TI_SLOT_PARKED:
        return TI_LIST_PARKED;
    case TI_SLOT_CLAIMING:
        return TI_LIST_CLAIMING;
    case TI_SLOT_FREE:
    case TI_SLOT_RUNNING:
        break;
    }
    TI_UNREACHABLE ();
}

/* Number of slots that wait in the state of this one. */
static uint32_t *count_of (struct ti_queue *self, const struct ti_slot *slot)
{
    if (slot->state == TI_SLOT_QUEUED)
        return &self->depth;
    return slot->state == TI_SLOT_PARKED ? &self->parked : &self->claiming;
}

static void leave_list (struct ti_queue *self, uint32_t index)
{
    const struct ti_slot *slot = ti_queue_slot (self, index);
    const struct ti_links *links = ti_queue_links (self, index);
    struct ti_lane *list = &self->lists[list_of (slot)];

    if (links->prev == TI_SLOT_NONE)
        list->head = links->next;
    else
        ti_queue_links (self, links->prev)->next = links->next;
    if (links->next == TI_SLOT_NONE)
        list->tail = links->prev;
    else
        ti_queue_links (self, links->next)->prev = links->prev;
    --*count_of (self, slot);
    self->relief -= slot->state == TI_SLOT_QUEUED && (slot->flags & TI_SLOT_RELIEF) != 0;
}

static void join_tail (struct ti_queue *self, uint32_t index)
{
    const struct ti_slot *slot = ti_queue_slot (self, index);
    struct ti_links *links = ti_queue_links (self, index);
    struct ti_lane *list = &self->lists[list_of (slot)];

    links->prev = list->tail;
    links->next = TI_SLOT_NONE;
    if (list->tail == TI_SLOT_NONE)
        list->head = index;
    else
        ti_queue_links (self, list->tail)->next = index;
    list->tail = index;
    ++*count_of (self, slot);
    self->relief += slot->state == TI_SLOT_QUEUED && (slot->flags & TI_SLOT_RELIEF) != 0;
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

static size_t tethers_size (uint32_t max)
{
    return ti_align ((size_t)max * sizeof (struct ti_tether));
}

/* Slots, links, tethers, index. */
static size_t arrays_size (uint32_t max)
{
    return slots_size (max) + links_size (max) + tethers_size (max);
}

size_t ti_queue_size (uint32_t max)
{
    return arrays_size (max) + ti_align (ti_idmap_size (max));
}

void ti_queue_init (struct ti_queue *self, void *array, uint32_t max, uint64_t seed)
{
    unsigned char *base = array;
    struct ti_slot *slots = array;
    uint32_t i;

    TI_ASSERT (base > (unsigned char *)self);
    memset (array, 0, arrays_size (max));
    self->slots = (size_t)(base - (unsigned char *)self);
    self->links = self->slots + slots_size (max);
    self->tethers = self->links + links_size (max);
    base += arrays_size (max);
    ti_idmap_init (&self->index, base, max, &slots[0].call, sizeof (struct ti_slot), seed);
    for (i = 0; i < TI_QUEUE_LISTS; i++) {
        self->lists[i].head = TI_SLOT_NONE;
        self->lists[i].tail = TI_SLOT_NONE;
    }
    for (i = 0; i < max; i++)
        ti_queue_links (self, i)->next = i + 1 < max ? i + 1 : TI_SLOT_NONE;
    self->free = 0;
    self->max = max;
    self->depth = 0;
    self->relief = 0;
    self->running = 0;
    self->parked = 0;
    self->claiming = 0;
}

uint32_t ti_queue_push (struct ti_queue *self, const struct ti_slot *copy)
{
    uint32_t index = self->free;
    struct ti_slot *slot;

    TI_ASSERT (index != TI_SLOT_NONE);
    slot = ti_queue_slot (self, index);
    self->free = ti_queue_links (self, index)->next;
    *slot = *copy;
    slot->state = TI_SLOT_QUEUED;
    join_tail (self, index);
    ti_idmap_insert (&self->index, index);
    return index;
}

static uint32_t first_or_behind (const struct ti_queue *self)
{
    return self->lists[TI_LIST_FIRST].head != TI_SLOT_NONE ? self->lists[TI_LIST_FIRST].head
                                                           : self->lists[TI_LIST_BEHIND].head;
}

uint32_t ti_queue_first (const struct ti_queue *self)
{
    if (self->relief)
        return self->lists[TI_LIST_RELIEF].head;
    return first_or_behind (self);
}

uint32_t ti_queue_after (const struct ti_queue *self, uint32_t index)
{
    const struct ti_slot *slot = ti_queue_slot_const (self, index);
    uint32_t next = ti_queue_links_const (self, index)->next;

    if (next != TI_SLOT_NONE || (slot->flags & TI_SLOT_BEHIND))
        return next;
    return slot->flags & TI_SLOT_RELIEF ? first_or_behind (self) : self->lists[TI_LIST_BEHIND].head;
}

void ti_queue_set_aside (struct ti_queue *self,
                         uint32_t index,
                         enum ti_slot_state state,
                         tied_time_t due)
{
    struct ti_slot *slot = ti_queue_slot (self, index);

    TI_ASSERT (slot->state == TI_SLOT_QUEUED);
    TI_ASSERT (state == TI_SLOT_PARKED || state == TI_SLOT_CLAIMING);
    leave_list (self, index);
    slot->state = (uint8_t)state;
    ti_queue_tether (self, index)->due = due;
    join_tail (self, index);
}

void ti_queue_postpone (struct ti_queue *self, uint32_t index, tied_time_t due)
{
    TI_ASSERT (ti_queue_slot (self, index)->state != TI_SLOT_QUEUED);
    leave_list (self, index);
    ti_queue_tether (self, index)->due = due;
    join_tail (self, index);
}

void ti_queue_return (struct ti_queue *self, uint32_t index)
{
    struct ti_lane *lane = &self->lists[TI_LIST_FIRST];
    struct ti_slot *slot = ti_queue_slot (self, index);
    struct ti_links *links = ti_queue_links (self, index);

    TI_ASSERT (slot->state != TI_SLOT_QUEUED);
    leave_list (self, index);
    slot->state = TI_SLOT_QUEUED;
    slot->flags &= (uint16_t) ~(TI_SLOT_BEHIND | TI_SLOT_RELIEF);
    links->prev = TI_SLOT_NONE;
    links->next = lane->head;
    if (lane->head == TI_SLOT_NONE)
        lane->tail = index;
    else
        ti_queue_links (self, lane->head)->prev = index;
    lane->head = index;
    self->depth++;
}

uint32_t ti_queue_aside (const struct ti_queue *self, enum ti_slot_state state)
{
    return self->lists[state == TI_SLOT_PARKED ? TI_LIST_PARKED : TI_LIST_CLAIMING].head;
}

void ti_queue_remove (struct ti_queue *self, uint32_t index)
{
    leave_list (self, index);
    release (self, index);
}

void ti_queue_start (struct ti_queue *self, uint32_t index, tied_time_t now)
{
    struct ti_slot *slot = ti_queue_slot (self, index);

    TI_ASSERT (slot->state == TI_SLOT_QUEUED);
    leave_list (self, index);
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

/* Length of a list whose links and states are right. */
static uint32_t check_list (const struct ti_queue *self, enum ti_queue_list list)
{
    uint32_t before = TI_SLOT_NONE;
    uint32_t length = 0;
    uint32_t at;

    for (at = self->lists[list].head; at != TI_SLOT_NONE;) {
        TI_ASSERT (list_of (ti_queue_slot_const (self, at)) == list);
        TI_ASSERT (ti_queue_links_const (self, at)->prev == before);
        TI_ASSERT (++length <= self->max);
        if (before != TI_SLOT_NONE && list >= TI_LIST_PARKED)
            TI_ASSERT (ti_queue_tether_const (self, before)->due <=
                       ti_queue_tether_const (self, at)->due);
        before = at;
        at = ti_queue_links_const (self, at)->next;
    }
    TI_ASSERT (self->lists[list].tail == before);
    return length;
}

void ti_queue_check (const struct ti_queue *self)
{
    uint32_t states[TI_SLOT_CLAIMING + 1] = {0};
    uint32_t free_length = 0;
    uint32_t i;

    for (i = 0; i < self->max; i++) {
        const struct ti_slot *slot = ti_queue_slot_const (self, i);

        states[slot->state]++;
        if (slot->state != TI_SLOT_FREE)
            TI_ASSERT (ti_queue_find (self, slot->call, slot->copy) == i);
    }
    for (i = self->free; i != TI_SLOT_NONE; i = ti_queue_links_const (self, i)->next) {
        TI_ASSERT (ti_queue_slot_const (self, i)->state == TI_SLOT_FREE);
        TI_ASSERT (++free_length <= self->max);
    }
    TI_ASSERT (states[TI_SLOT_QUEUED] == self->depth);
    TI_ASSERT (states[TI_SLOT_RUNNING] == self->running);
    TI_ASSERT (states[TI_SLOT_PARKED] == self->parked);
    TI_ASSERT (states[TI_SLOT_CLAIMING] == self->claiming);
    TI_ASSERT (check_list (self, TI_LIST_RELIEF) == self->relief);
    TI_ASSERT (check_list (self, TI_LIST_FIRST) + check_list (self, TI_LIST_BEHIND) +
                   self->relief ==
               self->depth);
    TI_ASSERT (check_list (self, TI_LIST_PARKED) == self->parked);
    TI_ASSERT (check_list (self, TI_LIST_CLAIMING) == self->claiming);
    TI_ASSERT (states[TI_SLOT_FREE] == free_length);
    TI_ASSERT (self->index.count + free_length == self->max);
    ti_idmap_check (&self->index);
}
