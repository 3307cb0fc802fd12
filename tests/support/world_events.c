/* SPDX-License-Identifier: MIT */
/* The heap of events of a world (world.h), in a pool that grows. */
#include "world_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static bool is_before (const struct world *self, uint32_t a, uint32_t b)
{
    const struct event *x = &self->events[a];
    const struct event *y = &self->events[b];

    if (x->at != y->at)
        return x->at < y->at;
    if ((x->kind == EVENT_FINISH) != (y->kind == EVENT_FINISH))
        return y->kind == EVENT_FINISH;
    return x->order < y->order;
}

void world_push (struct world *self, uint32_t index)
{
    uint32_t at = self->heap_count++;

    self->events[index].order = self->order++;
    while (at > 0 && is_before (self, index, self->heap[(at - 1) / 2])) {
        self->heap[at] = self->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    self->heap[at] = index;
}

uint32_t world_pop (struct world *self)
{
    const uint32_t top = self->heap[0];
    const uint32_t moved = self->heap[--self->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= self->heap_count)
            break;
        if (child + 1 < self->heap_count &&
            is_before (self, self->heap[child + 1], self->heap[child]))
            child++;
        if (!is_before (self, self->heap[child], moved))
            break;
        self->heap[at] = self->heap[child];
        at = child;
    }
    if (self->heap_count > 0)
        self->heap[at] = moved;
    return top;
}

struct event *world_new_event (struct world *self, uint32_t *out_index)
{
    uint32_t index = self->free_head;

    if (index == NO_EVENT) {
        const uint32_t old = self->events_capacity;
        self->events_capacity = old == 0 ? 64 : old * 2;
        self->events = realloc (self->events, self->events_capacity * sizeof *self->events);
        self->heap = realloc (self->heap, self->events_capacity * sizeof *self->heap);
        TI_ASSERT (self->events != NULL && self->heap != NULL);
        for (uint32_t i = old; i < self->events_capacity; i++)
            self->events[i].next_free = i + 1 < self->events_capacity ? i + 1 : NO_EVENT;
        index = old;
    }
    self->free_head = self->events[index].next_free;
    memset (&self->events[index], 0, offsetof (struct event, bytes));
    *out_index = index;
    return &self->events[index];
}

void world_free_event (struct world *self, uint32_t index)
{
    self->events[index].next_free = self->free_head;
    self->free_head = index;
}
