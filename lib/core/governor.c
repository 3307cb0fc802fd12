/* SPDX-License-Identifier: MIT */
/* The governor: shares over a window, three states, the hold. */
#include "core/governor.h"

#include <string.h>

#include "base/assert.h"
#include "base/util.h"

enum verdict {
    UNKNOWN, /* too few events */
    WELL,
    REACHED /* its limit */
};

/* What is a share of what; indexed by reason. Of DEPTH only the number of reports counts. */
static const struct {
    uint8_t part, whole; /* enum ti_governor_event */
} signals[TIED_GOVERNOR_REASON_COUNT] = {
    [TIED_GOVERNOR_REASON_REJECTIONS] = {TI_GOVERNOR_REJECTED, TI_GOVERNOR_EXTRA},
    [TIED_GOVERNOR_REASON_DEPTH] = {TI_GOVERNOR_REPORT, TI_GOVERNOR_REPORT},
    [TIED_GOVERNOR_REASON_ERRORS] = {TI_GOVERNOR_ERROR, TI_GOVERNOR_CALL},
    [TIED_GOVERNOR_REASON_DUPLICATES] = {TI_GOVERNOR_DUPLICATE, TI_GOVERNOR_TIED},
    [TIED_GOVERNOR_REASON_NO_GAIN] = {TI_GOVERNOR_WIN, TI_GOVERNOR_HEDGE},
};

static void set_limits (struct ti_governor *self, const struct tied_governor_limits *limits)
{
    TI_ASSERT (limits->window_ns >= TI_GOVERNOR_SLICES);
    TI_ASSERT (limits->min_events >= 1);
    self->limits = *limits;
    self->limit[TIED_GOVERNOR_REASON_REJECTIONS] = limits->rejected_ppm;
    self->limit[TIED_GOVERNOR_REASON_DEPTH] = limits->depth_milli;
    self->limit[TIED_GOVERNOR_REASON_ERRORS] = limits->error_ppm;
    self->limit[TIED_GOVERNOR_REASON_DUPLICATES] = limits->duplicate_ppm;
    self->limit[TIED_GOVERNOR_REASON_NO_GAIN] = limits->win_ppm;
}

/* Totals are below 2^34 and limits below 2^32, shares below 2^20: the products fit. */
static inline enum verdict
judge (const struct ti_governor *self, uint32_t reason, bool is_coming_back)
{
    const uint64_t limit = self->limit[reason];
    uint64_t whole = self->totals[signals[reason].whole];
    uint64_t part = self->totals[signals[reason].part];
    if (reason == TIED_GOVERNOR_REASON_NO_GAIN && whole < self->limits.min_events) {
        whole += self->older_hedges;
        part += self->older_wins;
    }
    if (limit == 0)
        return WELL;
    if (whole < self->limits.min_events)
        return UNKNOWN;
    bool is_reached;
    if (reason == TIED_GOVERNOR_REASON_NO_GAIN) {
        const uint64_t wanted = is_coming_back ? ti_min (limit * 4, 3 * TIED_PPM) : limit * 3;
        is_reached = part * TIED_PPM * 3 < wanted * whole;
    } else if (reason == TIED_GOVERNOR_REASON_DEPTH) {
        is_reached = self->depth_milli * 4 >= limit * (is_coming_back ? 3 : 4);
    } else {
        is_reached = part * TIED_PPM * 4 >= limit * (is_coming_back ? 3 : 4) * whole;
    }
    return is_reached ? REACHED : WELL;
}

static void forget (struct ti_governor *self)
{
    memset (self->counts, 0, sizeof self->counts);
    memset (self->totals, 0, sizeof self->totals);
    self->older_hedges = 0;
    self->older_wins = 0;
}

static void enter (struct ti_governor *self, enum tied_governor_state state, tied_time_t now)
{
    self->state = state;
    self->since = now;
    self->slice_at = now;
    self->probe_turn = 0;
    forget (self);
}

static void stop (struct ti_governor *self, uint32_t reason, tied_time_t now)
{
    const bool was_peace = self->state == TIED_GOVERNOR_OPEN &&
                           ti_time_sub (now, self->since) >= self->hold * TI_GOVERNOR_PEACE;
    const tied_duration_t longest = self->limits.hold_ns * TI_GOVERNOR_HOLD_MAX;
    const tied_duration_t longer = was_peace ? 0 : ti_min (2 * self->hold, longest);
    self->hold = ti_max (self->limits.hold_ns, longer);
    self->reason = reason;
    self->stops++;
    enter (self, TIED_GOVERNOR_STOPPED, now);
}

static void halve_older (struct ti_governor *self)
{
    self->older_hedges /= 2;
    self->older_wins /= 2;
}

/* A slice falls out of the window. */
static void keep_hedges (struct ti_governor *self, const uint32_t *counts, tied_time_t now)
{
    self->older_hedges += counts[TI_GOVERNOR_HEDGE];
    self->older_wins += counts[TI_GOVERNOR_WIN];
    while (self->older_hedges >= 2 * (uint64_t)self->limits.min_events)
        halve_older (self);
    if (ti_time_sub (now, self->older_at) < self->limits.window_ns * TI_GOVERNOR_PATIENCE)
        return;
    halve_older (self);
    self->older_at = now;
}

/* Let old slices fall out of the window. */
static void turn (struct ti_governor *self, tied_time_t now)
{
    const tied_duration_t length = self->limits.window_ns / TI_GOVERNOR_SLICES;
    if (ti_time_sub (now, self->slice_at) < length)
        return;
    const tied_duration_t age = now - self->slice_at;
    self->slice_at = now - age % length;
    for (uint64_t n = ti_min (age / length, TI_GOVERNOR_SLICES); n > 0; n--) {
        self->slice = (self->slice + 1) % TI_GOVERNOR_SLICES;
        uint32_t *counts = self->counts[self->slice];
        for (uint32_t event = 0; event < TI_GOVERNOR_EVENTS; event++)
            self->totals[event] -= counts[event];
        keep_hedges (self, counts, now);
        memset (counts, 0, sizeof self->counts[0]);
    }
}

/* At most one move. */
static void move (struct ti_governor *self, tied_time_t now)
{
    const tied_duration_t lasted = ti_time_sub (now, self->since);
    const bool is_probing = self->state == TIED_GOVERNOR_PROBING;
    if (self->state == TIED_GOVERNOR_STOPPED) {
        if (lasted >= self->hold)
            enter (self, TIED_GOVERNOR_PROBING, now);
        return;
    }
    if (!is_probing)
        turn (self, now);
    for (uint32_t reason = 1; reason < TIED_GOVERNOR_REASON_COUNT; reason++) {
        if (judge (self, reason, is_probing && reason == self->reason) == REACHED) {
            stop (self, reason, now);
            return;
        }
    }
    if (is_probing && (judge (self, self->reason, true) == WELL ||
                       lasted >= self->limits.window_ns * TI_GOVERNOR_PROBE))
        enter (self, TIED_GOVERNOR_OPEN, now);
}

void ti_governor_init (struct ti_governor *self, const struct tied_governor_limits *limits)
{
    memset (self, 0, sizeof *self);
    set_limits (self, limits);
}

void ti_governor_change (struct ti_governor *self, const struct tied_governor_limits *limits)
{
    const bool is_other_window = limits->window_ns != self->limits.window_ns;
    set_limits (self, limits);
    self->hold = ti_min (self->hold, limits->hold_ns * TI_GOVERNOR_HOLD_MAX);
    if (self->state != TIED_GOVERNOR_OPEN && self->limit[self->reason] == 0) {
        enter (self, TIED_GOVERNOR_OPEN, self->since);
        self->hold = 0;
    } else if (is_other_window) {
        forget (self);
    }
}

void ti_governor_count (struct ti_governor *self, enum ti_governor_event event, tied_time_t now)
{
    TI_ASSERT (event < TI_GOVERNOR_EVENTS);
    if (self->state == TIED_GOVERNOR_STOPPED)
        return;
    if (self->state == TIED_GOVERNOR_OPEN)
        turn (self, now);
    uint32_t *count = &self->counts[self->slice][event];
    if (*count < UINT32_MAX) {
        ++*count;
        self->totals[event]++;
    }
}

void ti_governor_depth (struct ti_governor *self, uint64_t depth_milli, tied_time_t now)
{
    self->depth_milli = ti_min (depth_milli, UINT32_MAX);
    ti_governor_count (self, TI_GOVERNOR_REPORT, now);
}

bool ti_governor_allows (struct ti_governor *self, tied_time_t now)
{
    bool is_allowed = false;
    move (self, now);
    switch ((enum tied_governor_state)self->state) {
    case TIED_GOVERNOR_OPEN:
        return true;
    case TIED_GOVERNOR_STOPPED:
        break;
    case TIED_GOVERNOR_PROBING:
        is_allowed = self->probe_turn == 0;
        self->probe_turn = (self->probe_turn + 1) % TI_GOVERNOR_PROBE;
        break;
    }
    self->refused += !is_allowed;
    return is_allowed;
}

void ti_governor_check (const struct ti_governor *self)
{
    TI_ASSERT (self->state <= TIED_GOVERNOR_PROBING);
    TI_ASSERT (self->reason < TIED_GOVERNOR_REASON_COUNT);
    TI_ASSERT (self->slice < TI_GOVERNOR_SLICES);
    TI_ASSERT (self->probe_turn < TI_GOVERNOR_PROBE);
    TI_ASSERT (self->hold <= self->limits.hold_ns * TI_GOVERNOR_HOLD_MAX);
    TI_ASSERT ((self->reason == TIED_GOVERNOR_REASON_NONE) == (self->stops == 0));
    TI_ASSERT (self->stops > 0 || self->state == TIED_GOVERNOR_OPEN);
    for (uint32_t event = 0; event < TI_GOVERNOR_EVENTS; event++) {
        uint64_t sum = 0;
        for (uint32_t slice = 0; slice < TI_GOVERNOR_SLICES; slice++)
            sum += self->counts[slice][event];
        TI_ASSERT (self->totals[event] == sum);
    }
}
