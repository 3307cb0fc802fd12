/* SPDX-License-Identifier: MIT */
#include "tie.h"

#include <tied/wire.h>

#include "base/assert.h"

/* It will answer its client. */
static bool is_live_for (const struct ti_slot *slot, uint32_t client)
{
    return slot->client == client && !(slot->flags & TI_SLOT_CANCELLED);
}

static bool is_hedge (const struct tied_replica_request *request)
{
    return request->copy >= 2 &&
           (request->flags & (TIED_REQUEST_TIED | TIED_REQUEST_REISSUE | TIED_REQUEST_LAST)) == 0;
}

/* A live copy of this call from this client waits or runs here. */
static bool has_live (const struct ti_queue *queue, struct tied_call_id call, uint32_t client)
{
    struct ti_idmap_cursor cursor;
    uint32_t slot = ti_idmap_find_first (&queue->index, call, &cursor);

    while (slot != TI_IDMAP_NONE && !is_live_for (ti_queue_slot_const (queue, slot), client))
        slot = ti_idmap_find_next (&queue->index, call, &cursor);
    return slot != TI_IDMAP_NONE;
}

enum ti_arrival ti_tie_arrive (struct ti_queue *queue,
                               struct ti_recent *recent,
                               const struct tied_replica_request *request)
{
    bool is_reissue = (request->flags & TIED_REQUEST_REISSUE) != 0;
    struct ti_idmap_cursor cursor;
    bool is_merged = false;
    uint32_t index;
    uint32_t slot;

    /* First look only: a duplicate must change nothing. */
    if (ti_queue_find (queue, request->call, request->copy) != TI_SLOT_NONE)
        return TI_ARRIVAL_DUPLICATE;
    index = ti_recent_find (recent, request->call, request->copy);
    if (index != TI_NOTE_NONE) {
        struct ti_note *note = ti_recent_note (recent, index);

        if (note->kind == TI_NOTE_TOMBSTONE) {
            note->kind = TI_NOTE_GONE;
            return TI_ARRIVAL_TOMBSTONED;
        }
        if (note->kind != TI_NOTE_UNTIED)
            return TI_ARRIVAL_DUPLICATE;
        ti_recent_remove (recent, index);
    }
    if (is_reissue) {
        for (slot = ti_idmap_find_first (&queue->index, request->call, &cursor);
             slot != TI_IDMAP_NONE;
             slot = ti_idmap_find_next (&queue->index, request->call, &cursor)) {
            struct ti_slot *other = ti_queue_slot (queue, slot);

            if (!is_live_for (other, request->client))
                continue;
            if (other->state == TI_SLOT_QUEUED)
                other->flags |= TI_SLOT_UNTIED;
            other->merged = request->copy;
            is_merged = true;
        }
        if (is_merged)
            return TI_ARRIVAL_MERGED;
    }
    if (is_hedge (request) && has_live (queue, request->call, request->client))
        return TI_ARRIVAL_SECOND;
    return index != TI_NOTE_NONE ? TI_ARRIVAL_NEW_UNTIED : TI_ARRIVAL_NEW;
}

enum ti_started ti_tie_started (struct ti_queue *queue,
                                struct ti_recent *recent,
                                struct tied_call_id call,
                                uint8_t sender_copy,
                                tied_time_t now,
                                struct tied_replica_counters *counters,
                                uint32_t *out_slot)
{
    uint8_t copy = sender_copy ^ 1;
    uint32_t index = ti_queue_find (queue, call, copy);

    if (index != TI_SLOT_NONE) {
        struct ti_slot *slot = ti_queue_slot (queue, index);

        if (slot->state == TI_SLOT_RUNNING) {
            slot->flags |= TI_SLOT_SIBLING_STARTED;
            return TI_STARTED_LATE;
        }
        if (!ti_slot_is_droppable (slot))
            return TI_STARTED_MOOT;
        *out_slot = index;
        return TI_STARTED_EFFECTIVE;
    }
    index = ti_recent_find (recent, call, copy);
    if (index == TI_NOTE_NONE) {
        ti_recent_put (recent, call, copy, TI_NOTE_TOMBSTONE, now, counters);
        return TI_STARTED_EARLY;
    }
    switch ((enum ti_note_kind)ti_recent_note (recent, index)->kind) {
    case TI_NOTE_TOMBSTONE:
        return TI_STARTED_EARLY;
    case TI_NOTE_FINISHED:
        return TI_STARTED_LATE;
    case TI_NOTE_UNTIED:
    case TI_NOTE_GONE:
        return TI_STARTED_MOOT;
    }
    TI_UNREACHABLE ();
}

void ti_tie_untied (struct ti_queue *queue,
                    struct ti_recent *recent,
                    struct tied_call_id call,
                    uint8_t sender_copy,
                    tied_time_t now,
                    struct tied_replica_counters *counters)
{
    uint8_t copy = sender_copy ^ 1;
    uint32_t index = ti_queue_find (queue, call, copy);

    if (index != TI_SLOT_NONE) {
        ti_queue_slot (queue, index)->flags |= TI_SLOT_UNTIED;
        return;
    }
    index = ti_recent_find (recent, call, copy);
    /* Should UNTIE and a tombstone ever disagree, running twice is better than not at all. */
    if (index == TI_NOTE_NONE || ti_recent_note (recent, index)->kind == TI_NOTE_TOMBSTONE)
        ti_recent_put (recent, call, copy, TI_NOTE_UNTIED, now, counters);
}
