/* SPDX-License-Identifier: MIT */
/* Actions as they are made, and how a refusal is counted and said. */
#include "replica_core.h"

#include "base/assert.h"

struct tied_replica_action *ti_replica_act (tied_replica_core_t *self,
                                            enum tied_replica_action_type type)
{
    struct tied_replica_action *action;

    TI_ASSERT (self->actions_made < self->actions_max);
    action = TI_AT (struct tied_replica_action, self, self->actions) + self->actions_made++;
    *action = (struct tied_replica_action){.type = type};
    return action;
}

struct tied_load ti_replica_load (const tied_replica_core_t *self)
{
    uint32_t depth = ti_queue_waiting (&self->queue);
    uint64_t wait_us = ti_admit_wait (&self->admit, depth) / 1000;
    struct tied_load load;

    load.depth = depth;
    load.running = self->queue.running;
    load.wait_us = (uint32_t)ti_min (wait_us, UINT32_MAX);
    return load;
}

void ti_replica_count_rejected (tied_replica_core_t *self, enum tied_reject reason)
{
    struct tied_replica_counters *counters = &self->counters;

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
    case TIED_REJECT_DENIED:
        counters->rejected_denied++;
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
