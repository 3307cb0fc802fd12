/* SPDX-License-Identifier: MIT */
/* The queue of events: the first of lanes, heap and timers. */
#include "engine/events_internal.h"

struct sim_events *sim_events_new (uint64_t shuffle_seed)
{
    struct sim_events *self = calloc (1, sizeof *self);

    if (self == NULL)
        return NULL;
    for (uint32_t i = 0; i < SIM_SOURCES; i++)
        sim_set_first (self, i, sim_no_key);
    self->free_item = SIM_EVENT_NONE;
    self->free_blob = SIM_EVENT_NONE;
    self->timer_taken = SIM_EVENT_NONE;
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

static inline struct sim_record *room_of (struct sim_events *self)
{
    return (struct sim_record *)(void *)self->room;
}

struct sim_record *sim_events_next (struct sim_events *self, int lane)
{
    if (lane < 0)
        return room_of (self);
    TI_ASSERT ((uint32_t)lane < self->lanes_count);
    return sim_lane_next (&self->lanes[lane]);
}

void sim_events_post (struct sim_events *self, int lane, tied_time_t at)
{
    const uint64_t order = sim_events_order (self);

    TI_ASSERT (at != TIED_NEVER);
    self->count++;
    if (lane < 0)
        sim_heap_put (self, room_of (self), at, order);
    else
        sim_lane_post (self, (uint32_t)lane, at, order);
}

void sim_events_put (struct sim_events *self, int lane, const struct sim_event *event)
{
    struct sim_record *record = sim_events_next (self, lane);

    TI_ASSERT (event->size <= SIM_EVENT_BYTES_MAX);
    record->value = event->value;
    record->kind = event->kind;
    record->a = event->a;
    record->b = event->b;
    record->size = event->size;
    if (event->size > 0)
        memcpy (record->bytes, event->bytes, event->size);
    sim_events_post (self, lane, event->at);
}

static inline struct sim_key first_key (const struct sim_events *self, uint32_t source)
{
    return (struct sim_key){self->first_at[source], self->first_order[source]};
}

/* The source that is first. */
static inline uint32_t first_of (struct sim_events *self)
{
    uint32_t first = SIM_TIMERS;
    struct sim_key key;

    if (self->timer_taken != SIM_EVENT_NONE)
        sim_timers_settle (self);
    key = first_key (self, SIM_TIMERS);
    if (self->heap_count > 0 && sim_is_before (first_key (self, SIM_HEAP), key)) {
        first = SIM_HEAP;
        key = first_key (self, SIM_HEAP);
    }
    for (uint32_t i = 0; i < self->lanes_count; i++) {
        const struct sim_key other = first_key (self, i);

        first = sim_is_before (other, key) ? i : first;
        key = sim_earlier_of (other, key);
    }
    return first;
}

tied_time_t sim_events_time (struct sim_events *self)
{
    return self->first_at[first_of (self)];
}

bool sim_events_take_before (struct sim_events *self, tied_time_t limit, struct sim_event *out)
{
    const uint32_t first = first_of (self);

    if (self->first_at[first] >= limit)
        return false;
    self->count--;
    if (first == SIM_TIMERS)
        sim_timers_take (self, out);
    else if (first == SIM_HEAP)
        sim_heap_take (self, out);
    else
        sim_lane_take (self, first, out);
    return true;
}

bool sim_events_take (struct sim_events *self, struct sim_event *out)
{
    return sim_events_take_before (self, TIED_NEVER, out);
}

bool sim_events_peek (struct sim_events *self, uint32_t *kind, uint32_t *a, uint32_t *b)
{
    const uint32_t first = first_of (self);
    const uint64_t number = self->first_order[first] & SIM_ITEM_MASK;

    if (self->count == 0)
        return false;
    if (first == SIM_TIMERS) {
        *kind = SIM_EVENT_TIMER;
        *a = (uint32_t)number;
        *b = 0;
    } else if (first == SIM_HEAP) {
        *kind = self->items[number].kind;
        *a = self->items[number].a;
        *b = self->items[number].b;
    } else {
        sim_lane_peek (self, first, kind, a, b);
    }
    return true;
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
    bytes += self->timers_nodes * sizeof *self->timers;
    bytes += self->heap_capacity * (sizeof *self->heap + sizeof *self->items);
    return bytes + self->blobs_count * sizeof *self->blobs;
}
