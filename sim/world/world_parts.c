/* SPDX-License-Identifier: MIT */
/* Parts one after the other, window by window; see world_parts.h. */
#include "world/world_parts.h"

#include <stdlib.h>

/* Requests of a window for each replica: reading a part's hosts into the cache costs as much as a
 * few calls of each. */
#define CALLS_EACH 32u

bool world_make_parts (struct world *self, uint32_t timers)
{
    self->parts = calloc (self->parts_count, sizeof *self->parts);
    if (self->parts == NULL)
        return false;
    self->memory_bytes += self->parts_count * sizeof *self->parts;
    for (uint32_t i = 0; i < self->parts_count; i++) {
        struct world_part *part = &self->parts[i];

        part->events = world_make_events (self, i, timers);
        if (part->events == NULL)
            return false;
        part->origin = TIED_NEVER;
        part->messages = (uint64_t)i << 40; /* draws by number differ from part to part */
    }
    return true;
}

void world_free_parts (struct world *self)
{
    for (uint32_t i = 0; i < self->parts_count; i++) {
        sim_events_free (self->parts[i].events);
        free (self->parts[i].to_come.entries);
        free (self->parts[i].done.entries);
    }
    free (self->parts);
}

void world_enter_part (struct world *self, uint32_t number)
{
    const struct world_part *part = self->parts == NULL ? NULL : &self->parts[number];

    self->part = number;
    if (part == NULL)
        return;
    self->events = part->events;
    self->now = part->now;
    self->origin = part->origin;
    self->area_at = part->area_at;
    self->progress_at = part->progress_at;
    self->hash = part->hash;
    self->messages = part->messages;
    self->waiting = part->waiting;
    self->busy = part->busy;
    self->waiting_area = part->waiting_area;
    self->busy_area = part->busy_area;
    self->calls_unsettled = part->calls_unsettled;
}

void world_leave_part (struct world *self)
{
    struct world_part *part;

    if (self->parts == NULL)
        return;
    part = &self->parts[self->part];
    part->now = self->now;
    part->origin = self->origin;
    part->area_at = self->area_at;
    part->progress_at = self->progress_at;
    part->hash = self->hash;
    part->messages = self->messages;
    part->waiting = self->waiting;
    part->busy = self->busy;
    part->waiting_area = self->waiting_area;
    part->busy_area = self->busy_area;
    part->calls_unsettled = self->calls_unsettled;
}

/* All of them to the window's end. */
static enum world_ending run_window (struct world *self, tied_time_t to, bool *is_over)
{
    enum world_ending ending = WORLD_ENDING_WINDOW;

    *is_over = true;
    for (uint32_t i = 0; i < self->parts_count && ending == WORLD_ENDING_WINDOW; i++) {
        struct world_part *part = &self->parts[i];

        if (part->is_over)
            continue;
        world_enter_part (self, i);
        ending = world_run_part (self, part, to);
        world_leave_part (self);
        *is_over = *is_over && part->is_over;
    }
    return ending;
}

/* What the parts give together, in their order. */
static void join (struct world *self)
{
    tied_time_t last = 0;
    uint64_t hash = 0;
    uint64_t unsettled = 0;

    for (uint32_t i = 0; i < self->parts_count; i++) {
        const struct world_part *part = &self->parts[i];

        hash = ti_mix (hash) ^ part->hash;
        unsettled += part->calls_unsettled;
        last = ti_max (last, part->now - part->origin);
    }
    self->hash = hash;
    self->calls_unsettled = unsettled;
    self->origin = 0;
    self->now = last;
}

enum world_ending world_run_parts (struct world *self, uint32_t window)
{
    const uint64_t enough = (uint64_t)CALLS_EACH * self->scenario->replicas.count / self->fan_out;
    enum world_ending ending = WORLD_ENDING_WINDOW;
    bool is_over = false;

    for (uint32_t i = 0; i < self->parts_count; i++) {
        world_enter_part (self, i);
        world_greet (self);
        world_leave_part (self);
    }
    while (ending == WORLD_ENDING_WINDOW && !is_over) {
        const tied_time_t to =
            world_draw_window (self, window > 0 ? window : (uint32_t)ti_max (enough, 1));

        ending = run_window (self, to, &is_over);
        world_tell_window (self);
        is_over = is_over || to == TIED_NEVER;
    }
    if (ending != WORLD_ENDING_WINDOW)
        return ending;
    join (self);
    return WORLD_ENDING_DONE;
}

uint64_t world_parts_bytes (const struct world *self)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < self->parts_count; i++) {
        const struct world_part *part = &self->parts[i];

        bytes += sim_events_bytes (part->events);
        bytes +=
            ((uint64_t)part->to_come.capacity + part->done.capacity) * sizeof *part->done.entries;
    }
    return bytes;
}
