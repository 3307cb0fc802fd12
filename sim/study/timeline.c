/* SPDX-License-Identifier: MIT */
/* Collects what a run tells, and sorts it into rows; see timeline.h. */
#include "study/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "workload/source.h"

#include <tied/error.h>

/* Pairs of a time and a number, as they came. */
struct pair {
    uint64_t at, value;
};

struct list {
    struct pair *items;
    uint64_t count, room;
};

struct telling {
    struct list ends;  /* when a request came, and its latency */
    struct list sends; /* when a copy was sent, and its number */
    bool is_full;      /* no memory */
};

static void add (struct telling *self, struct list *list, uint64_t at, uint64_t value)
{
    if (list->count == list->room) {
        const uint64_t room = list->room ? 2 * list->room : 4096;
        struct pair *items = realloc (list->items, room * sizeof *items);

        if (!items) {
            self->is_full = true;
            return;
        }
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = (struct pair){ti_time_sub (at, SIM_SOURCE_START_NS), value};
}

static void hear_end (void *context, uint64_t request, tied_time_t came, tied_duration_t latency)
{
    struct telling *self = context;

    (void)request;
    add (self, &self->ends, came, latency);
}

static void hear_sent (void *context, tied_time_t at, uint32_t copy)
{
    struct telling *self = context;

    add (self, &self->sends, at, copy);
}

static int compare (const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->at != b->at)
        return a->at > b->at ? 1 : -1;
    return (a->value > b->value) - (a->value < b->value);
}

static int compare_values (const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    return (a->value > b->value) - (a->value < b->value);
}

static void sort (struct list *list)
{
    if (list->count > 0)
        qsort (list->items, list->count, sizeof *list->items, compare);
}

/* Of values in order. */
static uint64_t percentile (const struct pair *items, uint64_t count, uint32_t ppm)
{
    const uint64_t rank = ((uint64_t)ppm * count + TIED_PPM - 1) / TIED_PPM;

    return items[ti_max (rank, 1) - 1].value;
}

static void fill_row (struct sim_timeline_row *row, struct pair *items, uint64_t count)
{
    row->requests = count;
    if (count == 0)
        return;
    qsort (items, count, sizeof *items, compare_values);
    row->p50 = percentile (items, count, 500000);
    row->p99 = percentile (items, count, 990000);
    row->p99_9 = percentile (items, count, 999000);
    row->most = items[count - 1].value;
}

static bool is_extra (const struct pair *sent, const struct sim_timeline_options *options)
{
    return sent->value > (options->is_second_free ? 1 : 0);
}

/* The windows (t - window, t] with an extra copy at t. */
static void find_largest (const struct list *sends,
                          const struct sim_timeline_options *options,
                          struct sim_timeline *out)
{
    uint64_t first = 0, firsts = 0, extras = 0;

    for (uint64_t i = 0; i < sends->count; i++) {
        const struct pair *sent = &sends->items[i];

        firsts += sent->value == 0;
        extras += is_extra (sent, options);
        for (; ti_time_add (sends->items[first].at, options->window_ns) <= sent->at; first++) {
            firsts -= sends->items[first].value == 0;
            extras -= is_extra (&sends->items[first], options);
        }
        if (!is_extra (sent, options) || sent->at < options->window_ns || firsts == 0)
            continue;
        const double share = (double)extras / (double)firsts;
        if (share > out->largest_share) {
            out->largest_share = share;
            out->largest_from = sent->at - options->window_ns;
        }
    }
}

static int make_rows (struct telling *told,
                      const struct sim_timeline_options *options,
                      struct sim_timeline *out,
                      char why[SIM_WHY_MAX])
{
    uint64_t last = 0, begin = 0;

    if (told->ends.count > 0)
        last = told->ends.items[told->ends.count - 1].at / options->step_ns + 1;
    if (last > SIM_TIMELINE_ROWS_MAX) {
        (void)snprintf (why, SIM_WHY_MAX, "%llu rows, more than %d: give longer steps",
                        (unsigned long long)last, SIM_TIMELINE_ROWS_MAX);
        return TIED_ERR_INVAL;
    }
    out->rows = calloc (last + 1, sizeof *out->rows);
    if (!out->rows)
        return TIED_ERR_SYSTEM;
    out->rows_count = (uint32_t)last;
    for (uint64_t i = 0; i < told->sends.count; i++) {
        const struct pair *sent = &told->sends.items[i];
        const uint64_t row = sent->at / options->step_ns;

        if (row >= last)
            continue;
        out->rows[row].copies++;
        out->rows[row].extra += is_extra (sent, options);
    }
    for (uint64_t row = 0; row < last; row++) {
        uint64_t end = begin;

        while (end < told->ends.count && told->ends.items[end].at / options->step_ns == row)
            end++;
        fill_row (&out->rows[row], told->ends.items + begin, end - begin);
        begin = end;
    }
    return 0;
}

int sim_timeline_run (const struct sim_scenario *scenario,
                      uint32_t policy,
                      uint64_t seed,
                      const struct sim_timeline_options *options,
                      struct sim_timeline *out,
                      char why[SIM_WHY_MAX])
{
    struct telling told = {.is_full = false};
    const struct sim_watch watch = {
        .context = &told, .ended = hear_end, .sent = hear_sent, .call = UINT64_MAX};
    const struct sim_run_options run = {
        .scenario = scenario, .policy = policy, .seed = seed, .watch = &watch};
    struct sim_result result;
    int rc = sim_result_init (&result);

    *out = (struct sim_timeline){.rows = NULL};
    (void)snprintf (why, SIM_WHY_MAX, "out of memory");
    if (rc != 0)
        return TIED_ERR_SYSTEM;
    rc = sim_run (&run, &result, why);
    if (rc == 0 && told.is_full)
        rc = TIED_ERR_SYSTEM;
    if (rc == 0) {
        sort (&told.ends);
        sort (&told.sends);
        out->calls = result.calls;
        out->copies = result.copies;
        out->executions = result.executions;
        find_largest (&told.sends, options, out);
        rc = make_rows (&told, options, out, why);
    }
    sim_result_deinit (&result);
    free (told.ends.items);
    free (told.sends.items);
    return rc;
}

void sim_timeline_deinit (struct sim_timeline *self)
{
    free (self->rows);
    *self = (struct sim_timeline){.rows = NULL};
}

tied_duration_t sim_timeline_worst_p99 (const struct sim_timeline *self, uint32_t from, uint32_t to)
{
    tied_duration_t worst = 0;

    for (uint32_t i = from; i < to && i < self->rows_count; i++)
        worst = ti_max (worst, self->rows[i].p99);
    return worst;
}

uint32_t
sim_timeline_calm_from (const struct sim_timeline *self, uint32_t from, tied_duration_t limit)
{
    uint32_t calm = from;

    for (uint32_t i = from; i < self->rows_count; i++)
        if (self->rows[i].p99 > limit)
            calm = i + 1;
    return calm;
}
