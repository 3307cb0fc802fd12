/* SPDX-License-Identifier: MIT */
/*
 * The tie between two copies of a call: what an arriving copy, a STARTED and an UNTIE mean, given
 * the copies that are here and the notes about those that are not. Copies n and n ^ 1 are siblings.
 */
#ifndef TI_TIE_H
#define TI_TIE_H

#include <tied/wire.h>

#include "core/queue.h"
#include "core/recent.h"

/* A further copy of a call that has others elsewhere. */
static inline bool ti_tie_is_hedge (const struct tied_replica_request *request)
{
    return request->copy >= 2 &&
           (request->flags & (TIED_REQUEST_TIED | TIED_REQUEST_REISSUE | TIED_REQUEST_LAST)) == 0;
}

enum ti_arrival {
    TI_ARRIVAL_NEW,        /* go on to admission */
    TI_ARRIVAL_NEW_UNTIED, /* go on; its sibling has said that this is the only copy */
    TI_ARRIVAL_DUPLICATE,  /* this very copy is here, or has been dealt with: ignore */
    TI_ARRIVAL_TOMBSTONED, /* its sibling started before it came: drop it in silence */
    TI_ARRIVAL_MERGED,     /* a re-issue, and another copy of its call will answer: ignore */
    TI_ARRIVAL_SECOND,     /* a hedge, and another copy of its call is here: refuse */
    TI_ARRIVAL_PARKED      /* its sibling has started, and this one is to be kept for a while */
};

/*
 * Judge an arriving copy. A tombstone that it meets becomes a note that the copy is gone, so that
 * the same copy does not pass a second time. A re-issue unties every queued copy of its call; only
 * copies of the same client count, for another client would get the answer, and none whose handler
 * was told to stop: the client was silent for long then, and is back. A hedge behind a copy of its
 * own call would wait for the same workers, or run beside it at the same replica: it is worth
 * nothing here, and its client can send it elsewhere. Not if it is the last copy: then nobody else
 * is left to answer, whatever is here.
 *
 * can_park: there is a place for a copy of mode park that meets its tombstone. out_at is written if
 * PARKED: when the tombstone was made.
 */
enum ti_arrival ti_tie_arrive (struct ti_queue *queue,
                               struct ti_recent *recent,
                               const struct tied_replica_request *request,
                               bool can_park,
                               tied_time_t *out_at);

enum ti_started {
    TI_STARTED_EFFECTIVE, /* out_slot waits and must be dropped or parked */
    TI_STARTED_EARLY,     /* a tombstone waits for the copy */
    TI_STARTED_LATE,      /* the copy runs or has run */
    TI_STARTED_MOOT       /* the copy was refused, expired, dropped, untied or parked */
};

/* The sibling's copy `sender_copy` runs. A tombstone that is there already counts as EARLY again.
 * out_slot is written if EFFECTIVE. */
enum ti_started ti_tie_started (struct ti_queue *queue,
                                struct ti_recent *recent,
                                struct tied_call_id call,
                                uint8_t sender_copy,
                                tied_time_t now,
                                struct tied_replica_counters *counters,
                                uint32_t *out_slot);

/* The sibling will never run its copy `sender_copy`: ours is the only one. Its slot if it waits or
 * runs here, else TI_SLOT_NONE. */
uint32_t ti_tie_untied (struct ti_queue *queue,
                        struct ti_recent *recent,
                        struct tied_call_id call,
                        uint8_t sender_copy,
                        tied_time_t now,
                        struct tied_replica_counters *counters);

#endif
