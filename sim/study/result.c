/* SPDX-License-Identifier: MIT */
#include "study/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

#include <tied/error.h>

/* Longer latencies, above 4.8 hours, count as this. */
#define LATENCY_MAX_NS (UINT64_C (1) << 44)

int sim_result_init (struct sim_result *self)
{
    const struct ti_hist_options options = {0, LATENCY_MAX_NS, 1, 10};
    const size_t size = ti_hist_size (&options);
    void *memory = malloc (size);

    memset (self, 0, sizeof *self);
    if (memory == NULL)
        return TIED_ERR_SYSTEM;
    self->latency = ti_hist_init (memory, size, &options);
    TI_ASSERT (self->latency != NULL);
    return 0;
}

void sim_result_deinit (struct sim_result *self)
{
    free (self->latency);
    memset (self, 0, sizeof *self);
}

static void add_all (uint64_t *a, const uint64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] += b[i];
}

void sim_result_merge (struct sim_result *a, const struct sim_result *b)
{
    const int rc = ti_hist_merge (a->latency, b->latency);

    TI_ASSERT (rc == 0);
    a->latency_sum_ns += b->latency_sum_ns;
    a->requests += b->requests;
    a->calls += b->calls;
    add_all (a->outcomes, b->outcomes, TIED_OUTCOME_COUNT);
    a->copies += b->copies;
    a->executions += b->executions;
    a->duplicates += b->duplicates;
    a->rejections += b->rejections;
    add_all (a->not_sent, b->not_sent, TIED_NOT_SENT_COUNT);
    a->served_ns += b->served_ns;
    a->wasted_ns += b->wasted_ns;
    a->cancels.sent += b->cancels.sent;
    a->cancels.effective += b->cancels.effective;
    a->cancels.early += b->cancels.early;
    a->cancels.late += b->cancels.late;
    a->cancels.moot += b->cancels.moot;
    a->cancels.lost += b->cancels.lost;
    a->cancels.client_sent += b->cancels.client_sent;
    a->cancels.client_queued += b->cancels.client_queued;
    a->cancels.client_running += b->cancels.client_running;
    a->all_calls += b->all_calls;
    a->all_requests += b->all_requests;
    a->cut_requests += b->cut_requests;
    a->events += b->events;
    a->probes += b->probes;
    a->busy_ns += b->busy_ns;
    a->span_ns += b->span_ns;
    a->depth_area += b->depth_area;
    a->workers = ti_max (a->workers, b->workers);
    a->replicas = ti_max (a->replicas, b->replicas);
    a->backlog_first += b->backlog_first;
    a->backlog_last += b->backlog_last;
    a->is_unstable = a->is_unstable || b->is_unstable;
    a->trace_hash = ti_mix (a->trace_hash) ^ b->trace_hash;
    a->table_overflows += b->table_overflows;
    a->memory_bytes = ti_max (a->memory_bytes, b->memory_bytes);
    a->wall_ns += b->wall_ns;
}

static bool is_hist_equal (const struct ti_hist *a, const struct ti_hist *b)
{
    return a->buckets == b->buckets && a->total == b->total && a->below == b->below &&
           a->above == b->above && a->min == b->min && a->max == b->max &&
           a->sum_low == b->sum_low && a->sum_high == b->sum_high &&
           memcmp (a->counts, b->counts, a->buckets * sizeof a->counts[0]) == 0;
}

bool sim_result_equal (const struct sim_result *a, const struct sim_result *b)
{
    return is_hist_equal (a->latency, b->latency) &&
           memcmp (&a->latency_sum_ns, &b->latency_sum_ns, sizeof a->latency_sum_ns) == 0 &&
           a->requests == b->requests && a->calls == b->calls &&
           memcmp (a->outcomes, b->outcomes, sizeof a->outcomes) == 0 && a->copies == b->copies &&
           a->executions == b->executions && a->duplicates == b->duplicates &&
           a->rejections == b->rejections &&
           memcmp (a->not_sent, b->not_sent, sizeof a->not_sent) == 0 &&
           a->served_ns == b->served_ns && a->wasted_ns == b->wasted_ns &&
           memcmp (&a->cancels, &b->cancels, sizeof a->cancels) == 0 &&
           a->all_calls == b->all_calls && a->all_requests == b->all_requests &&
           a->cut_requests == b->cut_requests && a->events == b->events && a->probes == b->probes &&
           a->busy_ns == b->busy_ns && a->span_ns == b->span_ns && a->depth_area == b->depth_area &&
           a->workers == b->workers && a->replicas == b->replicas &&
           a->backlog_first == b->backlog_first && a->backlog_last == b->backlog_last &&
           a->is_unstable == b->is_unstable && a->trace_hash == b->trace_hash &&
           a->table_overflows == b->table_overflows && a->memory_bytes == b->memory_bytes;
}
