/* SPDX-License-Identifier: MIT */
#include "study/conditional.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/hist.h"
#include "base/util.h"

/* When each worker is free, of each replica a heap with the earliest on top. */
struct state {
    const struct sim_pending_system *system;
    tied_time_t *free_at;
};

static tied_time_t earliest (const struct state *self, uint32_t replica)
{
    return self->free_at[(size_t)replica * self->system->workers];
}

/* The worker that is free first is taken until `end`. */
static void take (struct state *self, uint32_t replica, tied_time_t end)
{
    tied_time_t *heap = self->free_at + (size_t)replica * self->system->workers;
    const uint32_t count = self->system->workers;
    uint32_t i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (child >= count || heap[child] >= end)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = end;
}

static tied_time_t
end_of (const struct state *self, uint32_t replica, tied_time_t at, tied_duration_t service_ns)
{
    return ti_max (earliest (self, replica), at + self->system->way_ns) + service_ns;
}

static bool add_longer (struct sim_conditional *self, uint64_t longer)
{
    if (self->pending == self->longer_room) {
        const uint64_t room = self->longer_room ? 2 * self->longer_room : 1024;
        uint64_t *larger = realloc (self->longer, room * sizeof *larger);

        if (!larger)
            return false;
        self->longer = larger;
        self->longer_room = room;
    }
    self->longer[self->pending++] = longer;
    self->longer_sum_ns += (double)longer;
    return true;
}

/* The moment of call's hedge has come: all that arrived before is in the queues. */
static bool hedge (struct sim_conditional *self,
                   const struct state *state,
                   const struct sim_pending_call *call,
                   tied_duration_t latency,
                   tied_duration_t delay)
{
    const tied_time_t end = end_of (state, call->other, call->at + delay, call->other_service_ns);
    const tied_duration_t with = end + state->system->way_ns - call->at;

    if (with < latency) {
        self->faster++;
        self->saved_sum_ns += (double)(latency - with);
    }
    return add_longer (self, latency - delay);
}

static bool walk (struct sim_conditional *self,
                  struct state *state,
                  const struct sim_pending_call *calls,
                  uint64_t count,
                  tied_duration_t *latency,
                  tied_duration_t delay)
{
    uint64_t hedged = 0; /* all hedges are as late: they come in the order of their calls */

    for (uint64_t i = 0; i <= count; i++) {
        for (; hedged < i && (i == count || calls[hedged].at + delay < calls[i].at); hedged++) {
            if (hedged < state->system->first)
                continue;
            self->calls++;
            if (latency[hedged] > delay &&
                !hedge (self, state, &calls[hedged], latency[hedged], delay))
                return false;
        }
        if (i < count) {
            const struct sim_pending_call *call = &calls[i];
            const tied_time_t end = end_of (state, call->replica, call->at, call->service_ns);

            TI_ASSERT (call->replica != call->other);
            take (state, call->replica, end);
            latency[i] = end + state->system->way_ns - call->at;
        }
    }
    return true;
}

bool sim_conditional_add (struct sim_conditional *self,
                          const struct sim_pending_system *system,
                          const struct sim_pending_call *calls,
                          uint64_t count,
                          tied_duration_t delay)
{
    struct state state = {
        .system = system,
        .free_at = calloc ((size_t)system->replicas * system->workers, sizeof *state.free_at)};
    tied_duration_t *latency = calloc (count + 1, sizeof *latency);
    const bool is_done =
        state.free_at && latency && walk (self, &state, calls, count, latency, delay);

    free (state.free_at);
    free (latency);
    return is_done;
}

static int compare (const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

void sim_conditional_finish (struct sim_conditional *self)
{
    if (self->pending > 1)
        qsort (self->longer, self->pending, sizeof *self->longer, compare);
}

uint64_t sim_conditional_longer (const struct sim_conditional *self, uint32_t ppm)
{
    const uint64_t rank = (self->pending * ppm + TI_HIST_ALL - 1) / TI_HIST_ALL;

    if (self->pending == 0)
        return 0;
    return self->longer[rank > 0 ? rank - 1 : 0];
}

void sim_conditional_deinit (struct sim_conditional *self)
{
    free (self->longer);
    self->longer = NULL;
}
