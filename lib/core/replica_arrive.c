/* SPDX-License-Identifier: MIT */
/* The arrival of a copy: it is queued, refused, or ends in a tie. */
#include "replica_core.h"

#include <tied/wire.h>

#include "base/assert.h"
#include "core/tie.h"

tied_duration_t ti_replica_client_seen (tied_replica_core_t *self,
                                        uint32_t client,
                                        uint64_t epoch,
                                        uint64_t sent_us)
{
    ti_clients_touch (&self->clients, client, self->now);
    if (epoch == 0)
        return 0;
    return ti_transit_staleness (&ti_clients_get (&self->clients, client)->transit, epoch, sent_us,
                                 self->now);
}

/* It names a sibling that is a peer of ours. */
static bool is_tied (const struct tied_replica_request *request)
{
    return (request->flags & TIED_REQUEST_TIED) != 0 && request->sibling_named &&
           request->sibling != TIED_NO_PEER;
}

static bool is_exclusive (const struct tied_replica_request *request)
{
    return (request->flags & TIED_REQUEST_EXCLUSIVE) != 0;
}

/* Its call is older than nearly all that wait here, and holds a worker elsewhere. */
static bool is_relief (const struct tied_replica_request *request)
{
    return ti_tie_is_hedge (request) && (request->flags & TIED_REQUEST_RELIEF) != 0 &&
           !is_exclusive (request);
}

static bool goes_first (const tied_replica_core_t *self, const struct tied_replica_request *request)
{
    return is_relief (request) && ti_admit_may_pass (&self->admit);
}

static void answer_no (tied_replica_core_t *self,
                       const struct tied_replica_request *request,
                       enum tied_reject reason)
{
    ti_replica_count_rejected (self, reason);
    ti_replica_reject (self, UINT32_MAX, request->client, request->call, request->copy, reason);
}

/* Answer no; the sibling of a tied copy learns that it holds the only one. That hands the right to
 * an exclusive call over, so the refusal is noted first. */
static void refuse (tied_replica_core_t *self,
                    const struct tied_replica_request *request,
                    enum tied_reject reason)
{
    struct tied_replica_action *action;
    struct ti_note *note;

    answer_no (self, request, reason);
    if (!is_tied (request) && !is_exclusive (request))
        return;
    note = ti_recent_put (&self->recent, request->call, request->copy, TI_NOTE_GONE, self->now,
                          &self->counters);
    note->is_exclusive = is_exclusive (request);
    note->peer = request->sibling;
    if (!is_tied (request))
        return;
    if (!ti_replica_peer_is_up (self, request->sibling)) {
        self->counters.untie_unsent++;
        return;
    }
    self->counters.untie_sent++;
    action = ti_replica_act (self, TIED_REPLICA_ACT_TELL_UNTIE);
    action->peer = request->sibling;
    action->call = request->call;
    action->copy = request->copy;
}

static uint16_t flags_of (const tied_replica_core_t *self,
                          const struct tied_replica_request *request)
{
    uint16_t flags = 0;

    if (is_tied (request)) {
        flags |= TI_SLOT_TIED;
        if (request->flags & TIED_REQUEST_PARK)
            flags |= TI_SLOT_PARK;
    }
    if (is_exclusive (request))
        flags = (uint16_t)((flags & ~TI_SLOT_PARK) | TI_SLOT_EXCLUSIVE);
    if (goes_first (self, request))
        flags |= TI_SLOT_RELIEF;
    else if (request->copy >= 2 && self->options.hedge_lane == TIED_HEDGE_LANE_BEHIND)
        flags |= TI_SLOT_BEHIND;
    return flags;
}

/* What an arrival brings, beside the request itself. */
struct arriving {
    tied_duration_t remaining_ns;
    tied_duration_t stale_ns; /* spent on the way beyond the usual */
};

static uint32_t admit (tied_replica_core_t *self,
                       const struct tied_replica_request *request,
                       struct arriving arriving)
{
    struct ti_slot copy = {0};
    struct tied_replica_action *action;
    uint32_t slot;

    copy.call = request->call;
    copy.copy = request->copy;
    copy.client = request->client;
    copy.since = self->now;
    copy.u.deadline = ti_time_add (self->now, arriving.remaining_ns);
    copy.flags = flags_of (self, request);
    copy.sibling = copy.flags & TI_SLOT_TIED ? request->sibling : TIED_NO_PEER;
    if (copy.sibling == TIED_NO_PEER && (request->flags & TIED_REQUEST_TIED) &&
        request->sibling_named)
        self->counters.sibling_unknown++;
    if (self->queue.depth == 0)
        self->sweep_earliest = TIED_NEVER;
    slot = ti_queue_push (&self->queue, &copy);
    if (copy.flags & TI_SLOT_EXCLUSIVE) {
        struct ti_tether *tether = ti_queue_tether (&self->queue, slot);

        tether->sibling_incarnation = request->sibling_incarnation;
        tether->born = ti_time_sub (self->now, arriving.stale_ns);
    }
    if (copy.flags & TI_SLOT_RELIEF) {
        ti_admit_passes (&self->admit);
        self->counters.relieving++;
    }
    ti_clients_queued (&self->clients, &self->queue, slot);
    self->sweep_earliest = ti_min (self->sweep_earliest, copy.u.deadline);
    action = ti_replica_act (self, TIED_REPLICA_ACT_ADMIT);
    action->slot = slot;
    action->client = request->client;
    action->call = request->call;
    action->copy = request->copy;
    return slot;
}

/* An odd exclusive copy that nobody could give leave to start. */
static bool is_unclaimable (const struct tied_replica_request *request)
{
    return is_exclusive (request) && (request->flags & TIED_REQUEST_TIED) &&
           (request->copy & 1) != 0 && (!is_tied (request) || request->sibling_incarnation == 0);
}

/* Why a copy that is new here is refused; TIED_REJECT_NONE if it is not. */
static enum tied_reject why_not (const tied_replica_core_t *self,
                                 const struct tied_replica_request *request,
                                 tied_duration_t remaining_ns,
                                 bool is_untied)
{
    bool is_extra = request->copy > 0 && !(request->flags & TIED_REQUEST_LAST);
    enum tied_reject verdict = (enum tied_reject)request->verdict;
    enum tied_reject limit;
    uint32_t depth;

    if (verdict != TIED_REJECT_NONE && verdict != TIED_REJECT_FULL)
        return verdict;
    if (self->is_draining)
        return TIED_REJECT_DRAINING;
    if (remaining_ns == 0)
        return TIED_REJECT_EXPIRED;
    if (!is_untied && is_unclaimable (request))
        return TIED_REJECT_DENIED;
    depth = ti_queue_waiting (&self->queue);
    limit = ti_admit_decide (&self->admit, depth,
                             goes_first (self, request) ? self->queue.relief : depth, is_extra,
                             remaining_ns);
    return limit != TIED_REJECT_NONE ? limit : verdict;
}

/* A copy of mode park that meets its tombstone is to be parked, if there is a place. */
static bool may_park (const tied_replica_core_t *self,
                      const struct tied_replica_request *request,
                      tied_duration_t remaining_ns)
{
    return (request->flags & (TIED_REQUEST_PARK | TIED_REQUEST_EXCLUSIVE)) == TIED_REQUEST_PARK &&
           is_tied (request) && request->verdict == TIED_REJECT_NONE && remaining_ns > 0 &&
           !self->is_draining;
}

/* What had no place is told from what its sibling needs no more. */
static void count_tombstoned (tied_replica_core_t *self,
                              const struct tied_replica_request *request,
                              bool has_no_place)
{
    const uint32_t index = ti_recent_find (&self->recent, request->call, request->copy);

    self->counters.tombstoned++;
    if (has_no_place && !ti_recent_note (&self->recent, index)->is_done)
        self->counters.park_full++;
}

void ti_replica_request (tied_replica_core_t *self, const struct tied_replica_request *request)
{
    struct tied_replica_counters *counters = &self->counters;
    bool is_once = is_exclusive (request);
    bool is_to_park;
    bool can_park;
    struct arriving arriving;
    enum ti_arrival arrival;
    tied_time_t tombstone_at = 0;
    enum tied_reject reason;
    uint32_t slot;

    counters->received++;
    arriving.stale_ns =
        ti_replica_client_seen (self, request->client, request->call.epoch, request->sent_us);
    arriving.remaining_ns = ti_time_sub (request->remaining_ns, arriving.stale_ns);
    /* FULL is for what would be kept: a re-issue that merges takes no room, and refusing it would
     * say that its call is not here. An exclusive copy is looked for before anything is said of
     * it: the same one may be here already. */
    if (request->verdict != TIED_REJECT_NONE && request->verdict != TIED_REJECT_FULL && !is_once) {
        refuse (self, request, (enum tied_reject)request->verdict);
        return;
    }
    if (request->incarnation != self->options.incarnation &&
        (request->incarnation != 0 || is_once)) {
        /* What the other instance did with an exclusive copy is not known: no UNTIE for it. */
        if (is_once)
            answer_no (self, request, TIED_REJECT_STALE);
        else
            refuse (self, request, TIED_REJECT_STALE);
        return;
    }
    is_to_park = may_park (self, request, arriving.remaining_ns);
    can_park = is_to_park && ti_replica_can_park (self);
    arrival = ti_tie_arrive (&self->queue, &self->recent, request, can_park, &tombstone_at);
    switch (arrival) {
    case TI_ARRIVAL_DUPLICATE:
        counters->duplicate_request++;
        return;
    case TI_ARRIVAL_TOMBSTONED:
        count_tombstoned (self, request, is_to_park && !can_park);
        return;
    case TI_ARRIVAL_MERGED:
        counters->merged++;
        ti_replica_unpark_call (self, request->call);
        return;
    case TI_ARRIVAL_SECOND:
        refuse (self, request, TIED_REJECT_DUPLICATE);
        return;
    case TI_ARRIVAL_PARKED:
    case TI_ARRIVAL_NEW:
    case TI_ARRIVAL_NEW_UNTIED:
        break;
    }
    /* So late that it may have run, or the leave to start it been given away, and that forgotten.
     * To say more than for another instance's copy would be to say what is not known. */
    if (is_once && !ti_exclusive_is_covered (&self->recent, self->now, arriving.stale_ns)) {
        answer_no (self, request, TIED_REJECT_STALE);
        return;
    }
    if (arrival != TI_ARRIVAL_PARKED) {
        self->counters.relief_over += is_relief (request) && !goes_first (self, request);
        reason = why_not (self, request, arriving.remaining_ns, arrival == TI_ARRIVAL_NEW_UNTIED);
        if (reason != TIED_REJECT_NONE) {
            refuse (self, request, reason);
            return;
        }
    }
    slot = admit (self, request, arriving);
    if (arrival == TI_ARRIVAL_PARKED)
        ti_replica_park (self, slot, tombstone_at);
    else if (arrival == TI_ARRIVAL_NEW_UNTIED)
        ti_queue_slot (&self->queue, slot)->flags |= TI_SLOT_UNTIED;
}
