/* SPDX-License-Identifier: MIT */
/*
 * Lanes: rings of records of different length. A record never wraps: what is left at the end of a
 * ring is skipped once it could not hold the longest one, so reader and writer agree without a
 * mark.
 */
#include "engine/events_internal.h"

#define RING_START 8192u /* bytes; small, so that a short lane stays in the cache */

static inline struct sim_record *record_at (const struct sim_lane *lane, uint32_t place)
{
    return (struct sim_record *)(void *)(lane->bytes + place);
}

static inline uint32_t after (uint32_t capacity, uint32_t place, uint32_t size)
{
    place += (uint32_t)sizeof (struct sim_record) + ((size + 7u) & ~7u);
    return capacity - place < SIM_RECORD_MAX ? 0 : place;
}

static inline bool has_room (const struct sim_lane *lane)
{
    if (lane->count == 0)
        return lane->capacity > 0;
    return lane->tail > lane->head || lane->head - lane->tail >= SIM_RECORD_MAX;
}

TI_COLD static void grow_lane (struct sim_lane *lane)
{
    struct sim_lane larger = *lane;

    larger.capacity = lane->capacity == 0 ? RING_START : lane->capacity * 2;
    TI_ASSERT (larger.capacity > lane->capacity);
    larger.bytes = sim_resize (NULL, larger.capacity, 1);
    larger.head = 0;
    larger.tail = 0;
    for (uint64_t i = 0; i < lane->count; i++) {
        const struct sim_record *record = record_at (lane, lane->head);

        memcpy (larger.bytes + larger.tail, record, sizeof *record + record->size);
        lane->head = after (lane->capacity, lane->head, record->size);
        larger.tail = after (larger.capacity, larger.tail, record->size);
    }
    free (lane->bytes);
    *lane = larger;
}

/* Where there is room for the longest. */
struct sim_record *sim_lane_next (struct sim_lane *lane)
{
    if (!has_room (lane))
        grow_lane (lane);
    return record_at (lane, lane->tail);
}

void sim_lane_post (struct sim_events *self, uint32_t number, tied_time_t at, uint64_t order)
{
    struct sim_lane *lane = &self->lanes[number];
    struct sim_record *record = record_at (lane, lane->tail);

    TI_ASSERT (lane->count == 0 || at >= lane->latest);
    record->at = at;
    record->order = order;
    lane->latest = at;
    if (lane->count++ == 0)
        sim_set_first (self, number, (struct sim_key){at, order});
    lane->tail = after (lane->capacity, lane->tail, record->size);
}

void sim_lane_take (struct sim_events *self, uint32_t number, struct sim_event *out)
{
    struct sim_lane *lane = &self->lanes[number];
    const struct sim_record *record = record_at (lane, lane->head);

    out->at = record->at;
    out->order = record->order;
    out->kind = record->kind;
    out->a = record->a;
    out->b = record->b;
    out->value = record->value;
    out->size = (uint16_t)record->size;
    out->bytes = record->bytes;
    lane->head = after (lane->capacity, lane->head, record->size);
    if (--lane->count == 0) {
        sim_set_first (self, number, sim_no_key);
        lane->head = 0; /* begin again where the cache is warm */
        lane->tail = 0;
    } else {
        record = record_at (lane, lane->head);
        sim_set_first (self, number, (struct sim_key){record->at, record->order});
    }
}

void sim_lane_peek (
    const struct sim_events *self, uint32_t number, uint32_t *kind, uint32_t *a, uint32_t *b)
{
    const struct sim_lane *lane = &self->lanes[number];
    const struct sim_record *record = record_at (lane, lane->head);

    *kind = record->kind;
    *a = record->a;
    *b = record->b;
}
