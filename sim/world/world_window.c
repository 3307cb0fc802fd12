/* SPDX-License-Identifier: MIT */
/* What comes to each part in a window, and what became of it; see world_parts.h. */
#include <stdlib.h>

#include "base/assert.h"
#include "engine/memory.h"
#include "world/world_parts.h"

#define ENTRIES_FIRST 64u

/* Of a tournament of the parts: leaf i is part i, and each node above is the earlier of its two.
 * Nodes count from 1. */
struct world_match {
    tied_time_t at;
    uint32_t part;
};

static void add (struct world_list *list, const struct world_entry *entry)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity == 0 ? ENTRIES_FIRST : list->capacity * 2;
        struct world_entry *larger = realloc (list->entries, capacity * sizeof *larger);

        TI_ASSERT (capacity > list->capacity);
        if (larger == NULL)
            sim_memory_failed ();
        list->entries = larger;
        list->capacity = capacity;
    }
    list->entries[list->count++] = *entry;
}

/* ---- before a window ---- */

/* The measured span begins and ends for all of them. */
static void mark_all (struct world *self, tied_time_t at, enum world_entry_kind kind)
{
    const struct world_entry mark = {.at = at, .kind = (uint16_t)kind};

    for (uint32_t i = 0; i < self->parts_count; i++)
        if (!self->parts[i].is_over)
            add (&self->parts[i].to_come, &mark);
}

static void draw_one (struct world *self)
{
    struct sim_request request;
    struct world_entry entry;
    struct world_part *part;
    bool is_measured;

    sim_source_draw (self->source, &request);
    part = &self->parts[request.client % self->parts_count];
    is_measured = sim_source_is_measured (self->source, request.first_call);
    if (is_measured && self->span_first == TIED_NEVER) {
        self->span_first = request.at;
        mark_all (self, request.at, WORLD_ENTRY_FIRST);
    }
    entry = (struct world_entry){.at = request.at,
                                 .call = request.first_call,
                                 .client = request.client,
                                 .kind = WORLD_ENTRY_REQUEST};
    if (!part->is_over)
        add (&part->to_come, &entry);
    if (is_measured && !sim_source_is_measured (self->source, request.first_call + self->fan_out))
        mark_all (self, request.at, WORLD_ENTRY_LAST);
}

/* All of one time are in one window. */
tied_time_t world_draw_window (struct world *self, uint32_t window)
{
    tied_time_t last = TIED_NEVER;

    for (uint32_t i = 0; i < self->parts_count; i++) {
        self->parts[i].to_come.next = 0;
        self->parts[i].to_come.count = 0;
        self->parts[i].done.next = 0;
        self->parts[i].done.count = 0;
    }
    for (uint64_t drawn = 0;; drawn++) {
        const tied_time_t at = sim_source_time (self->source);

        if (at == TIED_NEVER || (drawn >= window && at != last))
            return at;
        draw_one (self);
        last = at;
    }
}

/* ---- within ---- */

void world_part_arrive (struct world *self, struct world_part *part)
{
    const struct world_entry entry = part->to_come.entries[part->to_come.next++];

    if (entry.kind == WORLD_ENTRY_REQUEST) {
        self->result->events++;
        self->progress_at = self->now;
        world_mix (self, self->now);
        add (&part->done, &entry);
        for (uint32_t leaf = 0; leaf < self->fan_out; leaf++)
            world_client_submit (self, entry.client, entry.call + leaf);
        return;
    }
    world_sum_areas (self);
    if (entry.kind == WORLD_ENTRY_FIRST) {
        self->waiting_area = 0;
        self->busy_area = 0;
        return;
    }
    self->result->depth_area += self->waiting_area;
    self->result->busy_ns += self->busy_area;
    part->is_last_known = true;
}

void world_part_ended (struct world *self, uint64_t call, uint32_t outcome)
{
    const struct world_entry entry = {.at = self->now - self->origin,
                                      .call = call,
                                      .outcome = (uint16_t)outcome,
                                      .kind = WORLD_ENTRY_END};

    add (&self->parts[self->part].done, &entry);
}

/* ---- after it ---- */

static void tell (struct world *self, const struct world_entry *entry)
{
    const struct sim_request request = {entry->at, entry->call, entry->client};

    if (entry->kind == WORLD_ENTRY_END) {
        world_tell_end (self, entry->call, entry->outcome, entry->at);
        return;
    }
    world_remember_time (self, entry->call / self->fan_out, entry->at);
    sim_source_count (self->source, &request);
}

/* Plays the matches from the part's leaf up to the final: the earlier one wins, and of the same
 * time the lower part, so that the order is the same in every window. */
static void play (struct world_match *matches, uint32_t leaves, uint32_t part, tied_time_t at)
{
    struct world_match winner = {at, part};

    for (uint32_t node = leaves + part; node > 1; node /= 2) {
        const struct world_match *other = &matches[node ^ 1u];

        matches[node] = winner;
        if (other->at < winner.at || (other->at == winner.at && other->part < winner.part))
            winner = *other;
    }
    matches[1] = winner;
}

static tied_time_t next_at (const struct world_list *list)
{
    return list->next < list->count ? list->entries[list->next].at : TIED_NEVER;
}

void world_tell_window (struct world *self)
{
    uint32_t leaves = 1;
    struct world_match *matches;

    while (leaves < self->parts_count)
        leaves *= 2;
    matches = malloc (2 * (size_t)leaves * sizeof *matches);
    if (matches == NULL)
        sim_memory_failed ();
    for (uint32_t i = 0; i < 2 * leaves; i++)
        matches[i] = (struct world_match){TIED_NEVER, UINT32_MAX};
    for (uint32_t i = 0; i < self->parts_count; i++)
        play (matches, leaves, i, next_at (&self->parts[i].done));
    while (matches[1].at != TIED_NEVER) {
        const uint32_t part = matches[1].part;
        struct world_list *done = &self->parts[part].done;

        tell (self, &done->entries[done->next++]);
        play (matches, leaves, part, next_at (done));
    }
    free (matches);
}
