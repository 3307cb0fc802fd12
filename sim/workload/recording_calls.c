/* SPDX-License-Identifier: MIT */
/* Calls from the lines of recordings: copies joined, one policy chosen, others' turns cut out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/recording_rows.h"
#include "workload/trace_column.h"

#include <tied/error.h>

bool sim_recording_add (struct sim_recording_rows *self, const struct sim_recording_row *row)
{
    if (self->count == self->room) {
        const uint64_t room = self->room ? self->room * 2 : 1024;
        struct sim_recording_row *items = realloc (self->items, room * sizeof *items);

        if (!items)
            return false;
        self->items = items;
        self->room = room;
    }
    self->items[self->count++] = *row;
    return true;
}

static int compare (uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_call (const void *left, const void *right)
{
    const struct sim_recording_row *a = left, *b = right;
    const int order = compare (a->call, b->call);

    if (order != 0)
        return order;
    return a->at != b->at ? compare (a->at, b->at) : compare (a->service_ns, b->service_ns);
}

static int by_time (const void *left, const void *right)
{
    const struct sim_recording_row *a = left, *b = right;

    return a->at != b->at ? compare (a->at, b->at) : compare (a->call, b->call);
}

static int by_value (const void *left, const void *right)
{
    return compare (*(const uint64_t *)left, *(const uint64_t *)right);
}

/* One row of each call: its first arrival, and the first run. */
static void join_copies (struct sim_recording_rows *rows)
{
    uint64_t kept = 0;

    if (rows->count == 0)
        return;
    qsort (rows->items, rows->count, sizeof *rows->items, by_call);
    for (uint64_t i = 0; i < rows->count; i++) {
        const struct sim_recording_row *row = &rows->items[i];
        struct sim_recording_row *call = kept ? &rows->items[kept - 1] : NULL;

        if (!call || call->call != row->call) {
            rows->items[kept++] = *row;
        } else if (!call->has_run && row->has_run) {
            call->has_run = true;
            call->service_ns = row->service_ns;
        }
    }
    rows->count = kept;
    qsort (rows->items, rows->count, sizeof *rows->items, by_time);
}

static uint32_t choose_policy (const struct sim_recording_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp (names->items[i], "single") == 0)
            return i;
    return 0;
}

/* Time from the last call to row `i`; *was_turn: others' calls came in between. */
struct walk {
    const struct sim_recording_rows *rows;
    uint32_t policy;
    uint64_t next;
    uint64_t last_at;
    bool has_last, was_turn;
};

/* The next row of the policy that ran, in the order of time; NULL: no more. */
static const struct sim_recording_row *step (struct walk *self, uint64_t *not_run)
{
    self->was_turn = false;
    while (self->next < self->rows->count) {
        const struct sim_recording_row *row = &self->rows->items[self->next++];

        if (row->policy != self->policy)
            self->was_turn = true;
        else if (row->has_run)
            return row;
        else
            ++*not_run;
    }
    return NULL;
}

/* Mean gap between calls of the same turn. */
static uint64_t mean_gap (const struct sim_recording_rows *rows, uint32_t policy)
{
    struct walk walk = {.rows = rows, .policy = policy};
    const struct sim_recording_row *row;
    uint64_t sum = 0, gaps = 0, not_run = 0;

    while ((row = step (&walk, &not_run)) != NULL) {
        if (walk.has_last && !walk.was_turn) {
            sum += row->at - walk.last_at;
            gaps++;
        }
        walk.last_at = row->at;
        walk.has_last = true;
    }
    return gaps ? sum / gaps : 0;
}

static void fill (const struct sim_recording_rows *rows, uint32_t policy, struct sim_recording *out)
{
    const uint64_t gap = mean_gap (rows, policy);
    struct walk walk = {.rows = rows, .policy = policy};
    const struct sim_recording_row *row;
    uint64_t at = 0;

    while ((row = step (&walk, &out->not_run)) != NULL) {
        if (walk.has_last) {
            const uint64_t passed = row->at - walk.last_at;
            const bool is_cut = walk.was_turn && passed > gap;

            at += is_cut ? gap : passed;
            out->cut_ns += is_cut ? passed - gap : 0;
        }
        walk.last_at = row->at;
        walk.has_last = true;
        out->times.values[out->times.count++] = at;
        out->service.values[out->service.count++] = row->service_ns;
        if (row->has_latency)
            out->latency.values[out->latency.count++] = row->latency_ns;
    }
    if (out->latency.count > 1)
        qsort (out->latency.values, out->latency.count, sizeof (uint64_t), by_value);
}

int sim_recording_join (struct sim_recording_rows *rows,
                        const char *path,
                        struct sim_recording *out,
                        char why[SIM_WHY_MAX])
{
    const uint32_t policy = choose_policy (&rows->policies);
    struct sim_recording made = {.replicas = rows->replicas.count,
                                 .policies = rows->policies.count};

    for (uint64_t i = 0; i < rows->count; i++)
        made.lines += rows->items[i].policy == policy;
    if (rows->policies.count > 0)
        (void)snprintf (made.policy, sizeof made.policy, "%s", rows->policies.items[policy]);
    join_copies (rows);
    made.times.values = malloc ((rows->count + 1) * sizeof (uint64_t));
    made.service.values = malloc ((rows->count + 1) * sizeof (uint64_t));
    made.latency.values = malloc ((rows->count + 1) * sizeof (uint64_t));
    if (!made.times.values || !made.service.values || !made.latency.values) {
        sim_recording_deinit (&made);
        return sim_trace_no_memory (path, why);
    }
    fill (rows, policy, &made);
    if (made.times.count < 2) {
        (void)snprintf (why, SIM_WHY_MAX,
                        "%.120s: holds %s that ran to its end; a replay needs at least two", path,
                        made.times.count ? "only one call" : "no call");
        sim_recording_deinit (&made);
        return TIED_ERR_INVAL;
    }
    *out = made;
    return TIED_OK;
}
