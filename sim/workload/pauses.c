/* SPDX-License-Identifier: MIT */
/* Drawn and recorded pauses; see pauses.h. */
#include "workload/pauses.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/util.h"
#include "engine/stream.h"
#include "tools/portable.h"

/* A slot is at least so long that one in so many has a pause: fewer, and looking for the next one
 * would take long. */
#define SLOTS_PER_PAUSE 16

static double uniform (uint64_t random)
{
    return ((double)random + 0.5) * 0x1p-64;
}

static int compare_starts (const void *a, const void *b)
{
    uint64_t x = ((const struct ti_pause *)a)->gap_ns, y = ((const struct ti_pause *)b)->gap_ns;
    return x < y ? -1 : x > y;
}

/* In the order of their starts; what overlaps or touches is one pause. */
static void tidy (struct sim_pauses *self)
{
    struct ti_pause *log = self->log;
    uint64_t kept = 0;
    qsort (log, self->log_count, sizeof *log, compare_starts);
    for (uint64_t i = 0; i < self->log_count; i++) {
        uint64_t end = ti_time_add (log[i].gap_ns, log[i].length_ns);
        if (log[i].length_ns == 0)
            continue;
        if (kept && log[i].gap_ns <= log[kept - 1].gap_ns + log[kept - 1].length_ns)
            log[kept - 1].length_ns = ti_max (end - log[kept - 1].gap_ns, log[kept - 1].length_ns);
        else
            log[kept++] = log[i];
    }
    self->log_count = kept;
    for (uint64_t i = 0; i < kept; i++)
        self->log_length_ns += log[i].length_ns;
    if (kept)
        self->log_period_ns = log[kept - 1].gap_ns + log[kept - 1].length_ns;
}

static bool copy_log (struct sim_pauses *self, const struct sim_table *table)
{
    self->log_count = table->count / 2;
    if (self->log_count == 0)
        return true;
    self->log = calloc (self->log_count, sizeof *self->log);
    if (!self->log)
        return false;
    for (uint64_t i = 0; i < self->log_count; i++)
        self->log[i] = (struct ti_pause){table->values[2 * i], table->values[2 * i + 1]};
    tidy (self);
    return true;
}

static void lay_out_slots (struct sim_pauses *self)
{
    double cycle = (double)self->pause.gap_ns + (double)self->pause.length_ns;
    double slot = cycle / SLOTS_PER_PAUSE / self->replicas;
    self->kind = SIM_PAUSES_SLOTS;
    self->slot_ns = ti_max (self->pause.length_ns, (uint64_t)slot);
    self->slot_share = (double)self->slot_ns * self->replicas / cycle;
    if (self->slot_share > 1)
        self->slot_share = 1;
}

bool sim_pauses_init (struct sim_pauses *self, const struct sim_replicas *replicas, uint64_t seed)
{
    *self =
        (struct sim_pauses){.pause = replicas->pause,
                            .seed = seed,
                            .replicas = replicas->pauses_whole_zones && replicas->zones > 0
                                            ? (uint32_t)ti_min (replicas->zones, replicas->count)
                                            : replicas->count};
    if (self->pause.gap_ns && self->pause.length_ns) {
        self->kind = SIM_PAUSES_EXPONENTIAL;
        if (replicas->pauses_never_overlap)
            lay_out_slots (self);
    }
    return copy_log (self, &replicas->pause_log);
}

void sim_pauses_deinit (struct sim_pauses *self)
{
    free (self->log);
    self->log = NULL;
}

double sim_pauses_working_share (const struct sim_pauses *self)
{
    double length = (double)self->pause.length_ns, share = 1;
    if (self->kind == SIM_PAUSES_EXPONENTIAL)
        share -= length / (length + (double)self->pause.gap_ns);
    if (self->kind == SIM_PAUSES_SLOTS)
        share -= self->slot_share * length / ((double)self->slot_ns * self->replicas);
    if (self->log_count)
        share *= 1 - (double)self->log_length_ns / (double)self->log_period_ns;
    return share;
}

static void next_exponential (const struct sim_pauses *self, struct sim_pause_cursor *cursor)
{
    uint64_t random = sim_draw (self->seed, SIM_STREAM_PAUSE, cursor->replica, cursor->next++);
    double gap = -(double)self->pause.gap_ns * ti_log (uniform (random));
    cursor->begin = ti_time_add (cursor->end, (uint64_t)(gap + 0.5));
    cursor->end = ti_time_add (cursor->begin, self->pause.length_ns);
}

static uint64_t greatest_common_divisor (uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Which slot of a frame is this replica's: r -> (factor r + shift) mod n, one to one since factor
 * and n have no common divisor. */
static uint64_t slot_of (const struct sim_pauses *self, uint32_t replica, uint64_t frame)
{
    uint64_t n = self->replicas, factor, key = UINT64_MAX;
    uint64_t shift = sim_draw (self->seed, SIM_STREAM_PAUSE, key--, frame) % n;
    do
        factor = 1 + sim_draw (self->seed, SIM_STREAM_PAUSE, key--, frame) % n;
    while (greatest_common_divisor (factor, n) != 1);
    return (factor * replica + shift) % n;
}

/* The next frame in which the replica pauses. */
static void next_slot (const struct sim_pauses *self, struct sim_pause_cursor *cursor)
{
    uint64_t frame, replica = cursor->replica;
    do
        frame = cursor->next++;
    while (!sim_is_below (sim_draw (self->seed, SIM_STREAM_PAUSE, replica, 2 * frame),
                          self->slot_share));
    uint64_t random = sim_draw (self->seed, SIM_STREAM_PAUSE, replica, 2 * frame + 1);
    uint64_t room = self->slot_ns - self->pause.length_ns;
    uint64_t slot = frame * self->replicas + slot_of (self, cursor->replica, frame);
    cursor->begin = slot * self->slot_ns + (uint64_t)(uniform (random) * (double)room);
    cursor->end = cursor->begin + self->pause.length_ns;
}

/* Where the replica's time 0 lies in the log. */
static uint64_t log_offset (const struct sim_pauses *self, uint32_t replica)
{
    uint64_t random = sim_draw (self->seed, SIM_STREAM_PAUSE, replica, UINT64_MAX);
    return (uint64_t)(uniform (random) * (double)self->log_period_ns);
}

static void next_of_log (const struct sim_pauses *self, struct sim_pause_cursor *cursor)
{
    const struct ti_pause *entry = &self->log[cursor->next];
    uint64_t offset = log_offset (self, cursor->replica);
    uint64_t begin = cursor->lap * self->log_period_ns + entry->gap_ns;
    cursor->begin = ti_time_sub (begin, offset);
    cursor->end = begin + entry->length_ns - offset;
    if (++cursor->next == self->log_count) {
        cursor->next = 0;
        cursor->lap++;
    }
}

static void next_pause (const struct sim_pauses *self, struct sim_pause_cursor *cursor)
{
    if (cursor->is_log)
        next_of_log (self, cursor);
    else if (self->kind == SIM_PAUSES_SLOTS)
        next_slot (self, cursor);
    else
        next_exponential (self, cursor);
}

void sim_pauses_first (const struct sim_pauses *self,
                       uint32_t replica,
                       bool is_log,
                       struct sim_pause_cursor *out)
{
    *out = (struct sim_pause_cursor){.replica = replica % self->replicas, .is_log = is_log};
    if (is_log ? self->log_count == 0 : self->kind == SIM_PAUSES_NONE) {
        out->begin = out->end = TIED_NEVER;
        return;
    }
    if (is_log) {
        /* The first entry that ends after the offset; the last one ends after any. */
        uint64_t low = 0, high = self->log_count - 1, offset = log_offset (self, out->replica);
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (self->log[middle].gap_ns + self->log[middle].length_ns > offset)
                high = middle;
            else
                low = middle + 1;
        }
        out->next = low;
    }
    next_pause (self, out);
}

void sim_pauses_seek (const struct sim_pauses *self,
                      struct sim_pause_cursor *cursor,
                      tied_time_t at)
{
    if (cursor->end > at)
        return;
    if (!cursor->is_log && self->kind == SIM_PAUSES_SLOTS)
        cursor->next = ti_max (cursor->next, at / (self->slot_ns * self->replicas));
    while (cursor->end <= at)
        next_pause (self, cursor);
}
