/* SPDX-License-Identifier: MIT */
#include "recent.h"

#include "base/assert.h"

size_t ti_recent_size (uint32_t max)
{
    return ti_align ((size_t)max * sizeof (struct ti_note)) + ti_align (ti_idmap_size (max));
}

void ti_recent_init (
    struct ti_recent *self, void *array, uint32_t max, tied_duration_t ttl_ns, uint64_t seed)
{
    size_t notes_size = ti_align ((size_t)max * sizeof (struct ti_note));
    struct ti_note *notes = array;
    uint32_t i;

    TI_ASSERT ((unsigned char *)array > (unsigned char *)self);
    self->notes = (size_t)((unsigned char *)array - (unsigned char *)self);
    ti_idmap_init (&self->index, (unsigned char *)array + notes_size, max, &notes[0].call,
                   sizeof (struct ti_note), seed);
    memset (notes, 0, notes_size);
    for (i = 0; i < max; i++)
        notes[i].next = i + 1 < max ? i + 1 : TI_NOTE_NONE;
    self->ttl_ns = ttl_ns;
    self->forgotten_at = 0;
    self->forgotten_until = 0;
    self->head = TI_NOTE_NONE;
    self->tail = TI_NOTE_NONE;
    self->free = 0;
    self->max = max;
}

uint32_t ti_recent_find (const struct ti_recent *self, struct tied_call_id call, uint8_t copy)
{
    struct ti_idmap_cursor cursor;
    uint32_t index;

    if (self->index.count == 0)
        return TI_NOTE_NONE;
    index = ti_idmap_find_first (&self->index, call, &cursor);
    while (index != TI_IDMAP_NONE && ti_recent_note_const (self, index)->copy != copy)
        index = ti_idmap_find_next (&self->index, call, &cursor);
    return index;
}

static void unlink_note (struct ti_recent *self, const struct ti_note *note)
{
    if (note->prev == TI_NOTE_NONE)
        self->head = note->next;
    else
        ti_recent_note (self, note->prev)->next = note->next;
    if (note->next == TI_NOTE_NONE)
        self->tail = note->prev;
    else
        ti_recent_note (self, note->next)->prev = note->prev;
}

static void append_note (struct ti_recent *self, uint32_t index)
{
    struct ti_note *note = ti_recent_note (self, index);

    note->prev = self->tail;
    note->next = TI_NOTE_NONE;
    if (self->tail == TI_NOTE_NONE)
        self->head = index;
    else
        ti_recent_note (self, self->tail)->next = index;
    self->tail = index;
}

void ti_recent_remove (struct ti_recent *self, uint32_t index)
{
    struct ti_note *note = ti_recent_note (self, index);

    unlink_note (self, note);
    ti_idmap_remove (&self->index, index);
    note->kind = 0;
    note->next = self->free;
    self->free = index;
}

static tied_time_t alive_until (const struct ti_note *note)
{
    if (note->alive_ms == TI_NOTE_ALIVE_ALWAYS)
        return TIED_NEVER;
    return ti_time_add (note->at, TIED_MS ((uint64_t)note->alive_ms));
}

static void forget_oldest (struct ti_recent *self)
{
    const struct ti_note *note = ti_recent_note (self, self->head);

    if (note->is_exclusive)
        self->forgotten_at = ti_max (self->forgotten_at, note->at);
    if (note->is_exclusive && note->kind == TI_NOTE_FINISHED)
        self->forgotten_until = ti_max (self->forgotten_until, alive_until (note));
    ti_recent_remove (self, self->head);
}

static void evict_oldest (struct ti_recent *self, struct tied_replica_counters *counters)
{
    if (ti_recent_note (self, self->head)->kind == TI_NOTE_TOMBSTONE)
        counters->tombstones_evicted++;
    else
        counters->notes_evicted++;
    forget_oldest (self);
}

struct ti_note *ti_recent_put (struct ti_recent *self,
                               struct tied_call_id call,
                               uint8_t copy,
                               enum ti_note_kind kind,
                               tied_time_t now,
                               struct tied_replica_counters *counters)
{
    uint32_t index = ti_recent_find (self, call, copy);
    struct ti_note *note;

    if (index != TI_NOTE_NONE) {
        note = ti_recent_note (self, index);
        unlink_note (self, note);
    } else {
        if (self->free == TI_NOTE_NONE)
            evict_oldest (self, counters);
        index = self->free;
        note = ti_recent_note (self, index);
        self->free = note->next;
        note->call = call;
        note->copy = copy;
        ti_idmap_insert (&self->index, index);
    }
    note->kind = (uint8_t)kind;
    note->at = now;
    note->is_done = false;
    note->is_exclusive = false;
    note->peer = 0;
    append_note (self, index);
    return note;
}

void ti_recent_age (struct ti_recent *self,
                    tied_time_t now,
                    uint32_t bound,
                    struct tied_replica_counters *counters)
{
    while (bound-- > 0 && ti_recent_deadline (self) <= now) {
        if (ti_recent_note (self, self->head)->kind == TI_NOTE_TOMBSTONE)
            counters->tombstones_expired++;
        forget_oldest (self);
    }
}

tied_time_t ti_recent_deadline (const struct ti_recent *self)
{
    if (self->head == TI_NOTE_NONE)
        return TIED_NEVER;
    return ti_time_add (ti_recent_note_const (self, self->head)->at, self->ttl_ns);
}

void ti_recent_check (const struct ti_recent *self)
{
    uint32_t before = TI_NOTE_NONE;
    uint32_t length = 0;
    uint32_t i;

    for (i = self->head; i != TI_NOTE_NONE; i = ti_recent_note_const (self, i)->next) {
        const struct ti_note *note = ti_recent_note_const (self, i);

        TI_ASSERT (note->kind >= TI_NOTE_TOMBSTONE);
        TI_ASSERT (note->kind <= TI_NOTE_GRANTED_UNSEEN);
        TI_ASSERT (note->prev == before);
        TI_ASSERT (before == TI_NOTE_NONE || ti_recent_note_const (self, before)->at <= note->at);
        TI_ASSERT (ti_recent_find (self, note->call, note->copy) == i);
        TI_ASSERT (++length <= self->max);
        before = i;
    }
    TI_ASSERT (self->tail == before);
    TI_ASSERT (self->index.count == length);
    for (i = self->free; i != TI_NOTE_NONE; i = ti_recent_note_const (self, i)->next)
        TI_ASSERT (++length <= self->max);
    TI_ASSERT (length == self->max);
    ti_idmap_check (&self->index);
}
