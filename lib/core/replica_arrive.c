/* SPDX-License-Identifier: MIT */
/* The arrival of a copy: it is queued, refused, or ends in a tie. */
#include "replica_core.h"

#include <tied/wire.h>

#include "base/assert.h"
#include "core/tie.h"

static void count_rejected (struct tied_replica_counters *counters, enum tied_reject reason)
{
    if (reason == TIED_REJECT_EXPIRED) {
        counters->expired++;
        return;
    }
    counters->rejected++;
    switch (reason) {
    case TIED_REJECT_BUSY:
        counters->rejected_busy++;
        return;
    case TIED_REJECT_FULL:
        counters->rejected_full++;
        return;
    case TIED_REJECT_TOO_LATE:
        counters->rejected_too_late++;
        return;
    case TIED_REJECT_DRAINING:
        counters->rejected_draining++;
        return;
    case TIED_REJECT_NOT_PERMITTED:
        counters->rejected_not_permitted++;
        return;
    case TIED_REJECT_UNKNOWN_METHOD:
        counters->rejected_unknown_method++;
        return;
    case TIED_REJECT_STALE:
        counters->rejected_stale++;
        return;
    case TIED_REJECT_TOO_LARGE:
        counters->rejected_too_large++;
        return;
    case TIED_REJECT_DUPLICATE:
        counters->rejected_duplicate++;
        return;
    case TIED_REJECT_NONE:
    case TIED_REJECT_EXPIRED:
    case TIED_REJECT_COUNT:
        break;
    }
    TI_UNREACHABLE ();
}

void ti_replica_reject (tied_replica_core_t *self,
                        uint32_t slot,
                        uint32_t client,
                        struct tied_call_id call,
                        uint8_t copy,
                        enum tied_reject reason)
{
    struct tied_replica_action *action = ti_replica_act (self, TIED_REPLICA_ACT_REJECT);

    action->slot = slot;
    action->client = client;
    action->call = call;
    action->copy = copy;
    action->reason = (uint8_t)reason;
    action->load = ti_replica_load (self);
}

/* It names a sibling that is a peer of ours. */
static bool is_tied (const struct tied_replica_request *request)
{
    return (request->flags & TIED_REQUEST_TIED) != 0 && request->sibling_named &&
           request->sibling != TIED_NO_PEER;
}

/* Answer no; the sibling of a tied copy learns that it holds the only one. */
static void refuse (tied_replica_core_t *self,
                    const struct tied_replica_request *request,
                    enum tied_reject reason)
{
    struct tied_replica_action *action;

    count_rejected (&self->counters, reason);
    ti_replica_reject (self, UINT32_MAX, request->client, request->call, request->copy, reason);
    if (!is_tied (request))
        return;
    ti_recent_put (&self->recent, request->call, request->copy, TI_NOTE_GONE, self->now,
                   &self->counters);
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

static void admit (tied_replica_core_t *self,
                   const struct tied_replica_request *request,
                   tied_duration_t remaining_ns,
                   bool is_untied)
{
    struct ti_slot copy = {0};
    struct tied_replica_action *action;
    uint32_t slot;

    copy.call = request->call;
    copy.copy = request->copy;
    copy.client = request->client;
    copy.since = self->now;
    copy.u.deadline = ti_time_add (self->now, remaining_ns);
    copy.sibling = TIED_NO_PEER;
    if (is_tied (request)) {
        copy.sibling = request->sibling;
        copy.flags |= TI_SLOT_TIED;
    } else if ((request->flags & TIED_REQUEST_TIED) && request->sibling_named) {
        self->counters.sibling_unknown++;
    }
    if (is_untied)
        copy.flags |= TI_SLOT_UNTIED;
    if (request->copy >= 2 && self->options.hedge_lane == TIED_HEDGE_LANE_BEHIND)
        copy.flags |= TI_SLOT_BEHIND;
    if (self->queue.depth == 0)
        self->sweep_earliest = TIED_NEVER;
    slot = ti_queue_push (&self->queue, &copy);
    ti_clients_queued (&self->clients, &self->queue, slot);
    self->sweep_earliest = ti_min (self->sweep_earliest, copy.u.deadline);
    action = ti_replica_act (self, TIED_REPLICA_ACT_ADMIT);
    action->slot = slot;
    action->client = request->client;
    action->call = request->call;
    action->copy = request->copy;
}

void ti_replica_request (tied_replica_core_t *self, const struct tied_replica_request *request)
{
    struct tied_replica_counters *counters = &self->counters;
    tied_duration_t remaining_ns = request->remaining_ns;
    bool is_extra = request->copy > 0 && !(request->flags & TIED_REQUEST_LAST);
    enum tied_reject reason;
    enum ti_arrival arrival;

    counters->received++;
    ti_clients_touch (&self->clients, request->client, self->now);
    remaining_ns = ti_time_sub (
        remaining_ns,
        ti_transit_staleness (&ti_clients_get (&self->clients, request->client)->transit,
                              request->call.epoch, request->sent_us, self->now));
    /* FULL is for what would be kept: a re-issue that merges takes no room, and refusing it would
     * say that its call is not here. */
    if (request->verdict != TIED_REJECT_NONE && request->verdict != TIED_REJECT_FULL) {
        refuse (self, request, (enum tied_reject)request->verdict);
        return;
    }
    if (request->incarnation != 0 && request->incarnation != self->options.incarnation) {
        refuse (self, request, TIED_REJECT_STALE);
        return;
    }
    arrival = ti_tie_arrive (&self->queue, &self->recent, request);
    switch (arrival) {
    case TI_ARRIVAL_DUPLICATE:
        counters->duplicate_request++;
        return;
    case TI_ARRIVAL_TOMBSTONED:
        counters->tombstoned++;
        return;
    case TI_ARRIVAL_MERGED:
        counters->merged++;
        return;
    case TI_ARRIVAL_SECOND:
        refuse (self, request, TIED_REJECT_DUPLICATE);
        return;
    case TI_ARRIVAL_NEW:
    case TI_ARRIVAL_NEW_UNTIED:
        break;
    }
    if (self->is_draining)
        reason = TIED_REJECT_DRAINING;
    else if (remaining_ns == 0)
        reason = TIED_REJECT_EXPIRED;
    else
        reason = ti_admit_decide (&self->admit, self->queue.depth, is_extra, remaining_ns);
    if (reason == TIED_REJECT_NONE)
        reason = (enum tied_reject)request->verdict;
    if (reason != TIED_REJECT_NONE)
        refuse (self, request, reason);
    else
        admit (self, request, remaining_ns, arrival == TI_ARRIVAL_NEW_UNTIED);
}
