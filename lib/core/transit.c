/* SPDX-License-Identifier: MIT */
#include "transit.h"

#include "base/util.h"

/*
 * A minimum that is older than two windows (the client was silent for long) may differ by clock
 * drift alone: allow 1 / 4096, about 244 ppm, of the time beyond them. Quartz clocks stay within
 * 100 ppm. Inside the windows drift is at most 0.4 ms and goes uncorrected.
 */
#define DRIFT_SHIFT 12

/* a comes before b on the circle of 2^64 values. */
static bool is_before (uint64_t a, uint64_t b)
{
    return ((a - b) >> 63) != 0;
}

static void restart (struct ti_transit *self, uint64_t epoch, uint64_t difference, tied_time_t now)
{
    self->epoch = epoch;
    self->current_us = difference;
    self->current_at = now;
    self->windows = 1;
}

tied_duration_t
ti_transit_staleness (struct ti_transit *self, uint64_t epoch, uint64_t sent_us, tied_time_t now)
{
    uint64_t difference = now / 1000 - sent_us;
    uint64_t usual;
    tied_time_t usual_at;
    tied_duration_t age;
    tied_duration_t stale;

    if (sent_us == 0)
        return 0;
    if (self->windows == 0 || self->epoch != epoch) {
        restart (self, epoch, difference, now);
        return 0;
    }
    if (now - self->current_at >= TI_TRANSIT_WINDOW_NS) {
        self->previous_us = self->current_us;
        self->previous_at = self->current_at;
        self->current_us = difference;
        self->current_at = now;
        self->windows = 2;
    } else if (is_before (difference, self->current_us)) {
        self->current_us = difference;
    }
    usual = self->current_us;
    usual_at = self->current_at;
    if (self->windows == 2 && is_before (self->previous_us, usual)) {
        usual = self->previous_us;
        usual_at = self->previous_at;
    }
    /* Only senders that make their clock up get more than half the circle between samples. */
    if (is_before (difference, usual)) {
        restart (self, epoch, difference, now);
        return 0;
    }
    stale = ti_ns_from_us (difference - usual);
    age = now - usual_at;
    if (age > 2 * TI_TRANSIT_WINDOW_NS)
        stale -= ti_min (stale, (age - 2 * TI_TRANSIT_WINDOW_NS) >> DRIFT_SHIFT);
    return stale;
}
