/* SPDX-License-Identifier: MIT */
#include "exclusive.h"

#include "base/assert.h"

bool ti_exclusive_is_covered (const struct ti_recent *recent, tied_time_t now, tied_duration_t age)
{
    tied_time_t born = ti_time_sub (now, ti_time_add (age, TI_EXCLUSIVE_MARGIN_NS));

    return recent->forgotten_at == 0 || born > recent->forgotten_at;
}

void ti_exclusive_granted (struct ti_recent *recent,
                           const struct ti_claim *claim,
                           enum ti_note_kind kind,
                           tied_time_t now,
                           struct tied_replica_counters *counters)
{
    struct ti_note *note =
        ti_recent_put (recent, claim->call, claim->copy ^ 1, kind, now, counters);

    note->is_exclusive = true;
    note->peer = claim->peer;
}

/* Parts of a time by which two clocks may differ, see transit.c. */
#define DRIFT_SHIFT 12

void ti_exclusive_finished (struct ti_recent *recent,
                            const struct ti_slot *slot,
                            const struct ti_tether *tether,
                            tied_time_t now)
{
    struct ti_note *note = ti_recent_note (recent, recent->tail);
    tied_duration_t life = ti_time_sub (tether->due, tether->born);
    tied_time_t until = ti_time_add (tether->due, TI_EXCLUSIVE_MARGIN_NS + (life >> DRIFT_SHIFT));
    uint64_t alive_ms = (ti_time_sub (until, now) + TIED_MS (1) - 1) / TIED_MS (1);

    TI_ASSERT (note->kind == TI_NOTE_FINISHED && ti_call_id_equal (note->call, slot->call));
    if ((slot->copy & 1) != 0)
        alive_ms = 0; /* nobody asks for leave of a claimant */
    else if (tether->due == TIED_NEVER)
        alive_ms = TI_NOTE_ALIVE_ALWAYS;
    note->alive_ms = (uint32_t)ti_min (alive_ms, TI_NOTE_ALIVE_ALWAYS);
}

/* The copy is not here. */
static enum ti_claim_verdict judge_note (struct ti_recent *recent,
                                         const struct ti_claim *claim,
                                         tied_time_t now,
                                         struct tied_replica_counters *counters)
{
    uint32_t index = ti_recent_find (recent, claim->call, claim->copy ^ 1);
    const struct ti_note *note;

    if (index != TI_NOTE_NONE) {
        note = ti_recent_note (recent, index);
        switch ((enum ti_note_kind)note->kind) {
        case TI_NOTE_GRANTED:
        case TI_NOTE_GRANTED_UNSEEN:
            return note->peer == claim->peer ? TI_CLAIM_GRANT_NOTED : TI_CLAIM_DENY;
        case TI_NOTE_GONE:
            if (!note->is_exclusive || note->peer != claim->peer)
                return TI_CLAIM_DENY;
            ti_exclusive_granted (recent, claim, TI_NOTE_GRANTED, now, counters);
            return TI_CLAIM_GRANT_NOTED;
        case TI_NOTE_FINISHED:
            return TI_CLAIM_DENY;
        case TI_NOTE_TOMBSTONE:
        case TI_NOTE_UNTIED:
            break;
        }
    }
    if (!ti_exclusive_is_covered (recent, now, claim->age_ns) || now < recent->forgotten_until)
        return TI_CLAIM_DENY;
    counters->claim_unseen++;
    ti_exclusive_granted (recent, claim, TI_NOTE_GRANTED_UNSEEN, now, counters);
    return TI_CLAIM_GRANT_NOTED;
}

enum ti_claim_verdict ti_exclusive_claim (struct ti_queue *queue,
                                          struct ti_recent *recent,
                                          const struct ti_claim *claim,
                                          uint64_t incarnation,
                                          tied_time_t now,
                                          struct tied_replica_counters *counters,
                                          uint32_t *out_slot)
{
    const struct ti_slot *slot;
    uint32_t index;

    /* Another instance cannot know what its predecessor started; an owner does not ask. */
    if (claim->incarnation != incarnation || (claim->copy & 1) == 0)
        return TI_CLAIM_DENY;
    index = ti_queue_find (queue, claim->call, claim->copy ^ 1);
    if (index == TI_SLOT_NONE)
        return judge_note (recent, claim, now, counters);
    slot = ti_queue_slot (queue, index);
    if (slot->state != TI_SLOT_QUEUED || !(slot->flags & TI_SLOT_EXCLUSIVE) ||
        slot->sibling != claim->peer)
        return TI_CLAIM_DENY;
    *out_slot = index;
    return TI_CLAIM_GRANT_QUEUED;
}
