/* SPDX-License-Identifier: MIT */
#include "tie.h"

#include <tied/wire.h>

#include "base/assert.h"

/* It will answer its client. */
static bool is_live_for (const struct ti_slot *slot, uint32_t client)
{
    return slot->client == client && !(slot->flags & TI_SLOT_CANCELLED);
}

/* Notes of this kind let the copy in; a tombstone that it meets does what it is for. */
static enum ti_arrival meet_note (struct ti_recent *recent,
                                  uint32_t index,
                                  const struct tied_replica_request *request,
                                  bool can_park,
                                  tied_time_t *out_at)
{
    struct ti_note *note = ti_recent_note (recent, index);

    switch ((enum ti_note_kind)note->kind) {
    case TI_NOTE_TOMBSTONE:
        if (can_park && !note->is_done && (request->flags & TIED_REQUEST_PARK)) {
            *out_at = note->at;
            ti_recent_remove (recent, index);
            return TI_ARRIVAL_PARKED;
        }
        note->kind = TI_NOTE_GONE;
        return TI_ARRIVAL_TOMBSTONED;
    case TI_NOTE_GRANTED_UNSEEN:
        note->kind = TI_NOTE_GRANTED;
        return TI_ARRIVAL_TOMBSTONED;
    case TI_NOTE_UNTIED:
        ti_recent_remove (recent, index);
        return TI_ARRIVAL_NEW_UNTIED;
    case TI_NOTE_GONE:
    case TI_NOTE_FINISHED:
    case TI_NOTE_GRANTED:
        return TI_ARRIVAL_DUPLICATE;
    }
    TI_UNREACHABLE ();
}

/* A re-issue and an older copy that will answer for it. Its client believes the sibling lost; but
 * of an exclusive copy that may have run, and is not this copy's leave to start. */
static void merge (struct ti_slot *other, uint8_t copy)
{
    if (other->state != TI_SLOT_RUNNING && !(other->flags & TI_SLOT_EXCLUSIVE))
        other->flags |= TI_SLOT_UNTIED;
    other->merged = copy;
}

/* A live copy of this call from this client waits or runs here. One that is parked does neither. */
static bool has_live (const struct ti_queue *queue, struct tied_call_id call, uint32_t client)
{
    struct ti_idmap_cursor cursor;
    uint32_t slot;

    for (slot = ti_idmap_find_first (&queue->index, call, &cursor); slot != TI_IDMAP_NONE;
         slot = ti_idmap_find_next (&queue->index, call, &cursor)) {
        const struct ti_slot *other = ti_queue_slot_const (queue, slot);

        if (is_live_for (other, client) && other->state != TI_SLOT_PARKED)
            return true;
    }
    return false;
}

enum ti_arrival ti_tie_arrive (struct ti_queue *queue,
                               struct ti_recent *recent,
                               const struct tied_replica_request *request,
                               bool can_park,
                               tied_time_t *out_at)
{
    enum ti_arrival arrival = TI_ARRIVAL_NEW;
    struct ti_idmap_cursor cursor;
    bool is_merged = false;
    uint32_t index;
    uint32_t slot;

    /* First look only: a duplicate must change nothing. */
    if (ti_queue_find (queue, request->call, request->copy) != TI_SLOT_NONE)
        return TI_ARRIVAL_DUPLICATE;
    index = ti_recent_find (recent, request->call, request->copy);
    if (index != TI_NOTE_NONE)
        arrival = meet_note (recent, index, request, can_park, out_at);
    if (arrival != TI_ARRIVAL_NEW && arrival != TI_ARRIVAL_NEW_UNTIED)
        return arrival;
    if (request->flags & TIED_REQUEST_REISSUE) {
        for (slot = ti_idmap_find_first (&queue->index, request->call, &cursor);
             slot != TI_IDMAP_NONE;
             slot = ti_idmap_find_next (&queue->index, request->call, &cursor)) {
            struct ti_slot *other = ti_queue_slot (queue, slot);

            if (!is_live_for (other, request->client))
                continue;
            merge (other, request->copy);
            is_merged = true;
        }
        if (is_merged)
            return TI_ARRIVAL_MERGED;
    }
    if (ti_tie_is_hedge (request) && has_live (queue, request->call, request->client))
        return TI_ARRIVAL_SECOND;
    return arrival;
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
        if (!ti_slot_is_droppable (slot) || slot->state == TI_SLOT_PARKED)
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
    case TI_NOTE_GRANTED:
    case TI_NOTE_GRANTED_UNSEEN:
        return TI_STARTED_MOOT;
    }
    TI_UNREACHABLE ();
}

uint32_t ti_tie_untied (struct ti_queue *queue,
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
        return index;
    }
    index = ti_recent_find (recent, call, copy);
    /* Should UNTIE and a tombstone ever disagree, running twice is better than not at all. */
    if (index == TI_NOTE_NONE || ti_recent_note (recent, index)->kind == TI_NOTE_TOMBSTONE)
        ti_recent_put (recent, call, copy, TI_NOTE_UNTIED, now, counters);
    return TI_SLOT_NONE;
}
