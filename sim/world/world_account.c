/* SPDX-License-Identifier: MIT */
/* The account of calls: what became of each copy and STARTED, until nothing of a call is left. */
#include "world/world_parts.h"

#include <stdlib.h>

#include "base/assert.h"
#include "engine/memory.h"

/* ---- the ring of calls ---- */

static void grow_ring (struct world *self, struct world_client *client)
{
    const uint32_t old_count = client->calls_mask + 1;
    const uint32_t mask = old_count * 2 - 1;
    struct world_call *ring = calloc ((size_t)mask + 1, sizeof *ring);

    TI_ASSERT (mask > client->calls_mask);
    if (ring == NULL)
        sim_memory_failed ();
    for (uint32_t i = 0; i < old_count; i++) {
        const struct world_call *call = &client->calls[i];

        if (call->is_open || call->copies > 0 || call->notices > 0)
            ring[call->sequence & mask] = *call;
    }
    free (client->calls);
    client->calls = ring;
    client->calls_mask = mask;
    self->memory_bytes += (uint64_t)old_count * sizeof *ring;
}

struct world_call *world_call_open (struct world *self, struct tied_call_id id, uint64_t number)
{
    struct world_client *client = &self->clients[id.epoch - 1];
    struct world_call *call = world_call_at (self, id);

    while (call->is_open || call->copies > 0 || call->notices > 0) {
        grow_ring (self, client);
        call = world_call_at (self, id);
    }
    *call = (struct world_call){.sequence = id.sequence,
                                .call = number,
                                .winner = WORLD_NO_COPY,
                                .is_open = true,
                                .is_measured = sim_source_is_measured (self->source, number)};
    self->calls_unsettled += call->is_measured;
    if (self->is_watching && number == self->watch->call)
        self->watched = id;
    return call;
}

/* A STARTED that was lost counts as that only if the sibling ran: else there was nothing to stop.
 */
void world_call_settle (struct world *self, struct world_call *call)
{
    struct sim_result *result = self->result;

    if (!call->is_measured)
        return;
    self->calls_unsettled--;
    for (uint8_t copy = 0; copy < WORLD_COPIES; copy++) {
        result->served_ns += call->spent_ns[copy];
        if (copy != call->winner)
            result->wasted_ns += call->spent_ns[copy];
        if ((call->untold & 1u << copy) == 0)
            continue;
        if ((call->started & 1u << (copy ^ 1u)) != 0)
            result->cancels.lost++;
        else
            result->cancels.moot++;
    }
    if (call->started != 0)
        self->calls_started++;
    if ((call->started & (call->started - 1)) != 0)
        result->duplicates++;
}

void world_call_ended (struct world *self, struct world_call *call, uint32_t outcome)
{
    const uint64_t number = call->call;

    call->is_open = false;
    if (call->copies == 0 && call->notices == 0)
        world_call_settle (self, call);
    world_source_ended (self, number, outcome);
}

/* ---- requests ---- */

void world_source_ended (struct world *self, uint64_t call, uint32_t outcome)
{
    self->progress_at = self->now;
    if (self->parts != NULL) {
        world_part_ended (self, call, outcome);
        return;
    }
    world_tell_end (self, call, outcome, self->now - self->origin);
    world_look_for_arrival (self);
}

void world_tell_end (struct world *self, uint64_t call, uint32_t outcome, tied_time_t at)
{
    const uint64_t answered = self->result->latency->total;

    sim_source_ended (self->source, call, outcome, at);
    if (self->request_times != NULL && self->result->latency->total != answered) {
        const uint64_t request = call / self->fan_out;

        self->watch->ended (self->watch->context, request, self->request_times[request],
                            at - self->request_times[request]);
    }
}

void world_look_for_arrival (struct world *self)
{
    self->arrival = TIED_NEVER;
    if (!sim_source_is_done (self->source))
        self->arrival = ti_time_add (sim_source_time (self->source), self->origin);
}

void world_remember_time (struct world *self, uint64_t request, tied_time_t at)
{
    if (self->watch == NULL || self->watch->ended == NULL)
        return;
    if (request >= self->request_times_count) {
        const uint64_t count = 2 * request + 1024;
        tied_time_t *larger = realloc (self->request_times, count * sizeof *larger);

        if (larger == NULL)
            sim_memory_failed ();
        self->request_times = larger;
        self->request_times_count = count;
    }
    self->request_times[request] = at;
}

/* The span goes from the first measured arrival to the last one, which is the last that came. Both
 * areas are read at each, for nobody knows which is the last. */
void world_request_came (struct world *self, const struct sim_request *request)
{
    struct sim_result *result = self->result;

    world_remember_time (self, request->first_call / self->fan_out, request->at);
    if (!sim_source_is_measured (self->source, request->first_call))
        return;
    world_sum_areas (self);
    if (self->span_first == TIED_NEVER) {
        self->span_first = self->now;
        self->waiting_area_first = self->waiting_area;
        self->busy_area_first = self->busy_area;
    }
    result->depth_area = self->waiting_area - self->waiting_area_first;
    result->busy_ns = self->busy_area - self->busy_area_first;
}

/* ---- notes ---- */

void world_note_call (
    struct world *self, struct tied_call_id id, int from, int to, const char *what, uint32_t copy)
{
    struct sim_note note = {.at = self->now - self->origin,
                            .call = self->watch->call,
                            .from = from,
                            .to = to,
                            .what = what,
                            .copy = copy};

    (void)id;
    if (from == to && from >= 0)
        note.depth = self->replicas[from].depth;
    self->watch->note (self->watch->context, &note);
}

/* ---- the end ---- */

/* Nothing can be lost, refused or given up but STARTED: then copies 0 and 1 are all there are. */
static bool is_exact (const struct world *self)
{
    const struct sim_network *network = &self->scenario->network;

    return self->policy->kind == SIM_POLICY_TIED && self->fault == SIM_FAULT_NONE &&
           network->loss <= 0 && !self->has_breaks && network->high_water == 0 &&
           self->scenario->workload.deadline_ns == TIED_NEVER && self->calls_unsettled == 0 &&
           self->result->outcomes[TIED_OUTCOME_CANCELLED] == 0;
}

uint64_t world_rejected_full (const struct world *self)
{
    uint64_t count = self->rejected_full_before;

    for (uint32_t i = 0; i < self->scenario->replicas.count; i++)
        count += tied_replica_core_counters (self->replicas[i].core)->rejected_full;
    return count;
}

static uint64_t notes_forgotten (const struct world *self)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < self->scenario->replicas.count; i++) {
        const struct tied_replica_counters *c = tied_replica_core_counters (self->replicas[i].core);

        count += c->tombstones_evicted + c->tombstones_expired;
    }
    return count;
}

void world_finish_account (struct world *self)
{
    struct sim_result *r = self->result;

    sim_source_finish (self->source, self->now - self->origin);
    r->workers = (uint64_t)self->scenario->replicas.count * self->workers;
    r->replicas = self->scenario->replicas.count;
    r->trace_hash = self->hash;
    r->memory_bytes = self->memory_bytes + (self->parts != NULL ? world_parts_bytes (self)
                                                                : sim_events_bytes (self->events));
    if (r->table_overflows > 0 || (self->is_depth_ours && world_rejected_full (self) > 0))
        r->is_unstable = true;
    if (!is_exact (self))
        return;
    /* The identities of a pair: each cancel has one fate, each double two cancels in vain. */
    TI_ASSERT (r->executions == self->calls_started + r->duplicates);
    TI_ASSERT (r->cancels.sent == r->cancels.effective + r->cancels.early + r->cancels.late +
                                      r->cancels.moot + r->cancels.lost);
    if (notes_forgotten (self) > 0 || self->keeps_directions)
        return;
    /* Where a STARTED was lost, its sibling's may come after the note of what ended was evicted. */
    TI_ASSERT (r->cancels.late + r->cancels.lost <= 2 * r->duplicates);
    if (self->scenario->network.loss_started <= 0)
        TI_ASSERT (r->cancels.late == 2 * r->duplicates);
}
