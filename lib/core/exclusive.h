/* SPDX-License-Identifier: MIT */
/*
 * Mode exclusive: which of two copies may start. The replica of the even copy, the *owner*, has the
 * right; the odd copy may start only when the owner has given it away, by GRANT, or by UNTIE after
 * a refusal.
 *
 * The owner gives it away if it can prove that its own copy has not started and never will: the
 * copy waits here (and leaves), is noted as gone, or was never seen although nothing as old as the
 * call has been forgotten, and nothing that ran here and whose sibling may still start. Everything
 * else is a no. The latter does not rest on what the claim says of its age: a claim can be late,
 * and so can the odd copy be, if its client stood still between the two. What was given stays
 * given: the note answers the same claimant again. Nothing here sends or removes.
 */
#ifndef TI_EXCLUSIVE_H
#define TI_EXCLUSIVE_H

#include <tied/wire.h>

#include "core/queue.h"
#include "core/recent.h"

/* A claim is repeated after this time: an answer that takes longer was lost, or its sender was. */
#define TI_CLAIM_RETRY_NS TIED_MS (20)
/* A call may be older than its copy by what is usual on the way. */
#define TI_EXCLUSIVE_MARGIN_NS TIED_MS (100)

struct ti_claim {
    struct tied_call_id call;
    uint8_t copy; /* the claimant's */
    uint32_t peer;
    tied_duration_t age_ns;
    uint64_t incarnation; /* the owner's, as the claimant's client knew it */
};

enum ti_claim_verdict {
    TI_CLAIM_DENY,
    TI_CLAIM_GRANT_QUEUED, /* out_slot waits: remove it, then note the grant */
    TI_CLAIM_GRANT_NOTED   /* the note is written */
};

/* Judge a claim that came to the owner, whose incarnation is `incarnation`. */
enum ti_claim_verdict ti_exclusive_claim (struct ti_queue *queue,
                                          struct ti_recent *recent,
                                          const struct ti_claim *claim,
                                          uint64_t incarnation,
                                          tied_time_t now,
                                          struct tied_replica_counters *counters,
                                          uint32_t *out_slot);

/* The right to start copy `copy` of the owner went to this peer. */
void ti_exclusive_granted (struct ti_recent *recent,
                           const struct ti_claim *claim,
                           enum ti_note_kind kind,
                           tied_time_t now,
                           struct tied_replica_counters *counters);

/* This copy has run here and its note is the last one written: with its call's deadline its
 * sibling, whose clock may run slower and whose way may be longer, can start no more. */
void ti_exclusive_finished (struct ti_recent *recent,
                            const struct ti_slot *slot,
                            const struct ti_tether *tether,
                            tied_time_t now);

/* No note of a call as old as this can have been forgotten. */
bool ti_exclusive_is_covered (const struct ti_recent *recent, tied_time_t now, tied_duration_t age);

/* This waiting copy has to ask before it starts. */
static inline bool ti_slot_must_claim (const struct ti_slot *slot)
{
    return (slot->flags & (TI_SLOT_EXCLUSIVE | TI_SLOT_TIED | TI_SLOT_UNTIED)) ==
               (TI_SLOT_EXCLUSIVE | TI_SLOT_TIED) &&
           (slot->copy & 1) != 0;
}

#endif
