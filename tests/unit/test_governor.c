/* SPDX-License-Identifier: MIT */
/* The governor, by claims; and in small worlds that answer to what it lets through. */
#include <string.h>

#include "core/governor.h"
#include "base/prng.h"
#include "base/util.h"
#include "check.h"

#define WINDOW     S (1)
#define HOLD       S (2)
#define MIN_EVENTS 50

static struct tied_governor_limits limits (void)
{
    return (struct tied_governor_limits){.window_ns = WINDOW,
                                         .hold_ns = HOLD,
                                         .min_events = MIN_EVENTS,
                                         .rejected_ppm = 500000,
                                         .depth_milli = 8000,
                                         .error_ppm = 400000,
                                         .duplicate_ppm = 200000,
                                         .win_ppm = 100000};
}

static struct ti_governor make (void)
{
    struct ti_governor governor;
    const struct tied_governor_limits all = limits ();
    ti_governor_init (&governor, &all);
    ti_governor_check (&governor);
    return governor;
}

static bool allows (struct ti_governor *governor, tied_time_t now)
{
    const bool is_allowed = ti_governor_allows (governor, now);
    ti_governor_check (governor);
    return is_allowed;
}

/* `whole` events of which `part` are of the kind that the limit is about. */
static void feed (struct ti_governor *governor,
                  enum tied_governor_reason reason,
                  uint32_t part,
                  uint32_t whole,
                  tied_time_t now)
{
    static const enum ti_governor_event wholes[] = {
        [TIED_GOVERNOR_REASON_REJECTIONS] = TI_GOVERNOR_EXTRA,
        [TIED_GOVERNOR_REASON_ERRORS] = TI_GOVERNOR_CALL,
        [TIED_GOVERNOR_REASON_DUPLICATES] = TI_GOVERNOR_TIED,
        [TIED_GOVERNOR_REASON_NO_GAIN] = TI_GOVERNOR_HEDGE,
    };
    for (uint32_t i = 0; i < whole; i++)
        ti_governor_count (governor, wholes[reason], now);
    for (uint32_t i = 0; i < part; i++)
        ti_governor_count (governor, wholes[reason] + 1, now);
    ti_governor_check (governor);
}

/* Stopped by rejections at this time. */
static struct ti_governor make_stopped (tied_time_t now)
{
    struct ti_governor governor = make ();
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, MIN_EVENTS, MIN_EVENTS, now);
    CHECK_FALSE (allows (&governor, now));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_STOPPED);
    return governor;
}

static void it_starts_open (void **state)
{
    (void)state;
    struct ti_governor governor = make ();
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_TRUE (allows (&governor, MS (i)));
    CHECK_U64 (governor.refused, ==, 0);
    CHECK_U64 (governor.reason, ==, TIED_GOVERNOR_REASON_NONE);
}

/* Each at its limit, and just on the good side of it. */
static void every_limit_stops_with_its_own_reason (void **state)
{
    (void)state;
    static const struct {
        enum tied_governor_reason reason;
        uint32_t bad, good; /* of 100 */
    } rows[] = {
        {TIED_GOVERNOR_REASON_REJECTIONS, 50, 49},
        {TIED_GOVERNOR_REASON_ERRORS, 40, 39},
        {TIED_GOVERNOR_REASON_DUPLICATES, 20, 19},
        {TIED_GOVERNOR_REASON_NO_GAIN, 9, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ti_governor governor = make ();
        feed (&governor, rows[i].reason, rows[i].good, 100, S (5));
        CHECK_TRUE (allows (&governor, S (5)));
        governor = make ();
        feed (&governor, rows[i].reason, rows[i].bad, 100, S (5));
        CHECK_FALSE (allows (&governor, S (5)));
        CHECK_U64 (governor.state, ==, TIED_GOVERNOR_STOPPED);
        CHECK_U64 (governor.reason, ==, rows[i].reason);
        CHECK_U64 (governor.stops, ==, 1);
        CHECK_U64 (governor.refused, ==, 1);
    }
}

/* Two hedges in each window: the window never has enough of them, and they are judged all the same;
 * where one comes in a hundred windows, nothing is. */
static void hedges_that_are_few_are_judged_over_more_than_one_window (void **state)
{
    (void)state;
    const struct tied_governor_limits all = limits ();
    struct ti_governor governor = make ();
    uint32_t windows = 0;
    while (governor.stops == 0 && windows < 1000) {
        feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, 0, 2, windows * all.window_ns);
        (void)allows (&governor, ++windows * all.window_ns);
    }
    CHECK_U64 (governor.reason, ==, TIED_GOVERNOR_REASON_NO_GAIN);
    CHECK_U64 (windows, >=, MIN_EVENTS / 2);
    CHECK_U64 (windows, <=, MIN_EVENTS / 2 + TI_GOVERNOR_SLICES);
    governor = make ();
    for (uint32_t i = 0; i < 1000; i++) {
        feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, i % 2, 2, i * all.window_ns);
        CHECK_TRUE (allows (&governor, (i + 1) * all.window_ns));
    }
    governor = make ();
    for (uint32_t i = 0; i < 1000; i++) {
        feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, 0, 1, 100 * i * all.window_ns);
        CHECK_TRUE (allows (&governor, (100 * i + 1) * all.window_ns));
    }
}

static void long_queues_stop_it (void **state)
{
    (void)state;
    struct ti_governor governor = make ();
    for (int i = 0; i < MIN_EVENTS; i++)
        ti_governor_depth (&governor, 7999, 0);
    CHECK_TRUE (allows (&governor, 0));
    ti_governor_depth (&governor, 8000, 0);
    CHECK_FALSE (allows (&governor, 0));
    CHECK_U64 (governor.reason, ==, TIED_GOVERNOR_REASON_DEPTH);
    /* Absurd reports do not wrap. */
    governor = make ();
    for (int i = 0; i < MIN_EVENTS; i++)
        ti_governor_depth (&governor, UINT64_C (1) << 62, 0);
    CHECK_FALSE (allows (&governor, 0));
    /* 6 is three quarters of 8: not short enough to come back. */
    CHECK_TRUE (allows (&governor, HOLD));
    for (int i = 0; i < MIN_EVENTS; i++)
        ti_governor_depth (&governor, 6000, HOLD);
    CHECK_FALSE (allows (&governor, HOLD));
    CHECK_TRUE (allows (&governor, 3 * HOLD));
    for (int i = 0; i < MIN_EVENTS; i++)
        ti_governor_depth (&governor, 5999, 3 * HOLD);
    CHECK_TRUE (allows (&governor, 3 * HOLD));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_OPEN);
}

static void nothing_is_judged_before_min_events (void **state)
{
    (void)state;
    static const enum tied_governor_reason reasons[] = {
        TIED_GOVERNOR_REASON_REJECTIONS, TIED_GOVERNOR_REASON_ERRORS,
        TIED_GOVERNOR_REASON_DUPLICATES, TIED_GOVERNOR_REASON_NO_GAIN};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        const bool is_gain = reasons[i] == TIED_GOVERNOR_REASON_NO_GAIN;
        struct ti_governor governor = make ();
        feed (&governor, reasons[i], is_gain ? 0 : MIN_EVENTS - 1, MIN_EVENTS - 1, 1);
        CHECK_TRUE (allows (&governor, 1));
        feed (&governor, reasons[i], is_gain ? 0 : 1, 1, 1);
        CHECK_FALSE (allows (&governor, 1));
    }
    struct ti_governor governor = make ();
    for (int i = 0; i < MIN_EVENTS - 1; i++)
        ti_governor_depth (&governor, 1000000, 1);
    CHECK_TRUE (allows (&governor, 1));
    ti_governor_depth (&governor, 1000000, 1);
    CHECK_FALSE (allows (&governor, 1));
}

static void the_window_slides (void **state)
{
    (void)state;
    struct ti_governor governor = make ();
    /* 40 in every window, for ever. */
    for (uint64_t i = 0; i < 1000; i++) {
        feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 1, 1, i * WINDOW / 40);
        CHECK_TRUE (allows (&governor, i * WINDOW / 40));
    }
    /* A burst falls out again. */
    governor = make ();
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 49, 49, 0);
    CHECK_TRUE (allows (&governor, WINDOW - 1));
    CHECK_U64 (governor.totals[TI_GOVERNOR_EXTRA], ==, 49);
    CHECK_TRUE (allows (&governor, WINDOW));
    CHECK_U64 (governor.totals[TI_GOVERNOR_EXTRA], ==, 0);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 49, 49, WINDOW);
    CHECK_TRUE (allows (&governor, WINDOW));
    /* What is old cannot outweigh what is new. */
    governor = make ();
    feed (&governor, TIED_GOVERNOR_REASON_ERRORS, 0, 1000, 0);
    feed (&governor, TIED_GOVERNOR_REASON_ERRORS, 60, 60, WINDOW);
    CHECK_FALSE (allows (&governor, WINDOW));
}

static void a_limit_of_0_is_off (void **state)
{
    (void)state;
    struct tied_governor_limits off = limits ();
    off.rejected_ppm = off.depth_milli = off.error_ppm = off.duplicate_ppm = off.win_ppm = 0;
    struct ti_governor governor;
    ti_governor_init (&governor, &off);
    for (int i = 0; i < 1000; i++) {
        for (int event = 0; event < TI_GOVERNOR_EVENTS; event++)
            if (event != TI_GOVERNOR_WIN)
                ti_governor_count (&governor, (enum ti_governor_event)event, 0);
        ti_governor_depth (&governor, 1000000, 0);
        CHECK_TRUE (allows (&governor, 0));
    }
}

static void it_stays_stopped_for_the_hold_then_probes (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (S (3));
    CHECK_FALSE (allows (&governor, S (3) + HOLD - 1));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_STOPPED);
    CHECK_TRUE (allows (&governor, S (3) + HOLD));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
}

static void probing_lets_one_of_sixteen_through (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (0);
    uint32_t through = 0;
    for (int i = 0; i < 16 * 20; i++)
        through += allows (&governor, HOLD);
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
    CHECK_U64 (through, ==, 20);
    CHECK_U64 (governor.refused, ==, 1 + 16 * 20 - 20);
}

static void a_probe_opens_with_min_events_that_are_well (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (0);
    (void)allows (&governor, HOLD);
    /* Over more than a window, since few come through; 36 % is below 3/4 of 50 %. */
    for (uint64_t i = 0; i < MIN_EVENTS - 1; i++)
        feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, i < 18, 1, HOLD + MS (100) * i);
    (void)allows (&governor, HOLD + S (5));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 0, 1, HOLD + S (5));
    CHECK_TRUE (allows (&governor, HOLD + S (5)));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_OPEN);
    /* It opens with nothing against it. */
    CHECK_U64 (governor.totals[TI_GOVERNOR_REJECTED], ==, 0);
    CHECK_U64 (governor.stops, ==, 1);
}

/* 40 % would never have stopped it, but does not bring it back. */
static void a_probe_fails_above_three_quarters_of_the_limit (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (0);
    (void)allows (&governor, HOLD);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 20, 50, HOLD);
    CHECK_FALSE (allows (&governor, HOLD));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_STOPPED);
    CHECK_U64 (governor.stops, ==, 2);
    /* The hold has doubled. */
    CHECK_FALSE (allows (&governor, 3 * HOLD - 1));
    CHECK_TRUE (allows (&governor, 3 * HOLD));
}

static void wins_come_back_at_four_thirds_of_the_limit_or_all (void **state)
{
    (void)state;
    static const struct {
        uint32_t limit, wins; /* wins of 60 */
        enum tied_governor_state then;
    } rows[] = {
        {100000, 7, TIED_GOVERNOR_STOPPED},
        {100000, 8, TIED_GOVERNOR_OPEN},
        {900000, 59, TIED_GOVERNOR_STOPPED},
        {900000, 60, TIED_GOVERNOR_OPEN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tied_governor_limits changed = limits ();
        struct ti_governor governor;
        changed.win_ppm = rows[i].limit;
        ti_governor_init (&governor, &changed);
        feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, 0, 60, 0);
        CHECK_FALSE (allows (&governor, 0));
        CHECK_TRUE (allows (&governor, HOLD));
        feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, rows[i].wins, 60, HOLD);
        (void)allows (&governor, HOLD);
        CHECK_U64 (governor.state, ==, rows[i].then);
    }
}

/* The others are held to their own limits, not to three quarters, and to them at once. */
static void another_signal_ends_a_probe_at_its_own_limit (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (0);
    (void)allows (&governor, HOLD);
    feed (&governor, TIED_GOVERNOR_REASON_ERRORS, 35, 100, HOLD);
    (void)allows (&governor, HOLD);
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
    feed (&governor, TIED_GOVERNOR_REASON_ERRORS, 10, 10, HOLD);
    CHECK_FALSE (allows (&governor, HOLD));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_STOPPED);
    CHECK_U64 (governor.reason, ==, TIED_GOVERNOR_REASON_ERRORS);
}

/* With too little traffic to judge, it opens after 16 windows. */
static void a_probe_never_sticks (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (0);
    (void)allows (&governor, HOLD);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 3, 3, HOLD);
    (void)allows (&governor, HOLD + 16 * WINDOW - 1);
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
    CHECK_TRUE (allows (&governor, HOLD + 16 * WINDOW));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_OPEN);
}

static void the_hold_doubles_up_to_16_times (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (0);
    tied_time_t now = 0;
    static const uint64_t holds[] = {1, 2, 4, 8, 16, 16, 16};
    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
        CHECK_FALSE (allows (&governor, now + holds[i] * HOLD - 1));
        now += holds[i] * HOLD;
        CHECK_TRUE (allows (&governor, now));
        feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 50, 50, now);
        CHECK_FALSE (allows (&governor, now));
    }
    CHECK_U64 (governor.stops, ==, 8);
}

/* Stops, comes back, stays open for a while; what the next stop holds. */
static tied_duration_t hold_after_open_for (tied_duration_t open)
{
    struct ti_governor governor = make_stopped (0);
    (void)allows (&governor, HOLD);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 0, 50, HOLD);
    CHECK_TRUE (allows (&governor, HOLD));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_OPEN);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 50, 50, HOLD + open);
    CHECK_FALSE (allows (&governor, HOLD + open));
    return governor.hold;
}

static void a_relapse_counts_as_a_failed_probe_and_peace_resets_the_hold (void **state)
{
    (void)state;
    CHECK_U64 (hold_after_open_for (0), ==, 2 * HOLD);
    CHECK_U64 (hold_after_open_for (10 * HOLD - 1), ==, 2 * HOLD);
    CHECK_U64 (hold_after_open_for (10 * HOLD), ==, HOLD);
}

static void BE_11_lost_races_are_neutral (void **state)
{
    (void)state;
    struct ti_governor governor = make ();
    const struct ti_governor before = governor;
    /* A lost race of a tied call is its end, and that of a hedged call, too: no error, no
     * rejection, no duplicate. There is no event that says who lost. */
    for (uint64_t i = 0; i < 10000; i++) {
        const tied_time_t now = i * US (100);
        CHECK_TRUE (allows (&governor, now));
        ti_governor_count (&governor, TI_GOVERNOR_EXTRA, now);
        ti_governor_count (&governor, TI_GOVERNOR_CALL, now);
        ti_governor_count (&governor, TI_GOVERNOR_TIED, now);
        ti_governor_check (&governor);
    }
    CHECK_U64 (governor.state, ==, before.state);
    CHECK_U64 (governor.stops, ==, 0);
    CHECK_U64 (governor.refused, ==, 0);
}

static void a_stopped_governor_opens_when_its_signal_is_switched_off (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (S (1));
    struct tied_governor_limits changed = limits ();
    changed.error_ppm = 0;
    ti_governor_change (&governor, &changed);
    CHECK_FALSE (allows (&governor, S (1)));
    changed.rejected_ppm = 0;
    ti_governor_change (&governor, &changed);
    CHECK_TRUE (allows (&governor, S (1)));
    CHECK_U64 (governor.reason, ==, TIED_GOVERNOR_REASON_REJECTIONS);
    /* The next stop follows on none. */
    feed (&governor, TIED_GOVERNOR_REASON_DUPLICATES, 50, 50, S (1));
    CHECK_FALSE (allows (&governor, S (1)));
    CHECK_U64 (governor.hold, ==, HOLD);
    /* While it probes, likewise. */
    governor = make_stopped (S (1));
    (void)allows (&governor, S (1) + HOLD);
    ti_governor_change (&governor, &changed);
    CHECK_TRUE (allows (&governor, S (1) + HOLD));
    CHECK_TRUE (allows (&governor, S (1) + HOLD));
}

static void a_shorter_hold_ends_a_long_stop (void **state)
{
    (void)state;
    struct tied_governor_limits changed = limits ();
    struct ti_governor governor;
    changed.hold_ns = S (3600);
    ti_governor_init (&governor, &changed);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 50, 50, 0);
    CHECK_FALSE (allows (&governor, 0));
    CHECK_FALSE (allows (&governor, S (100)));
    changed.hold_ns = S (1);
    ti_governor_change (&governor, &changed);
    ti_governor_check (&governor);
    CHECK_TRUE (allows (&governor, S (100)));
    CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
    /* No hold at all, and one again. */
    changed.hold_ns = 0;
    ti_governor_change (&governor, &changed);
    ti_governor_check (&governor);
    changed.hold_ns = S (5);
    ti_governor_change (&governor, &changed);
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 50, 50, S (100));
    CHECK_FALSE (allows (&governor, S (100)));
    CHECK_FALSE (allows (&governor, S (105) - 1));
    CHECK_TRUE (allows (&governor, S (105)));
}

static void new_limits_apply_to_what_was_counted_another_window_begins_empty (void **state)
{
    (void)state;
    struct ti_governor governor = make ();
    feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 20, 100, 0);
    CHECK_TRUE (allows (&governor, 0));
    struct tied_governor_limits changed = limits ();
    changed.window_ns = S (2);
    struct ti_governor other = governor;
    ti_governor_change (&other, &changed);
    CHECK_U64 (other.totals[TI_GOVERNOR_EXTRA], ==, 0);
    changed = limits ();
    changed.rejected_ppm = 200000;
    ti_governor_change (&governor, &changed);
    CHECK_FALSE (allows (&governor, 0));
}

static void long_silences_are_harmless_in_every_state (void **state)
{
    (void)state;
    static const tied_duration_t silences[] = {S (3600), S (1000000), UINT64_MAX / 2,
                                               UINT64_MAX - S (100)};
    for (size_t i = 0; i < sizeof silences / sizeof silences[0]; i++) {
        struct ti_governor governor = make ();
        feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 49, 49, 5);
        CHECK_TRUE (allows (&governor, silences[i]));
        feed (&governor, TIED_GOVERNOR_REASON_REJECTIONS, 49, 49, silences[i]);
        CHECK_TRUE (allows (&governor, silences[i]));
        governor = make_stopped (5);
        CHECK_TRUE (allows (&governor, silences[i]));
        CHECK_U64 (governor.state, ==, TIED_GOVERNOR_PROBING);
        governor = make_stopped (5);
        CHECK_TRUE (allows (&governor, 5 + HOLD));
        CHECK_TRUE (allows (&governor, silences[i]));
        CHECK_U64 (governor.state, ==, TIED_GOVERNOR_OPEN);
    }
}

/* A driver whose clock stands still, or is handed in late, moves nothing back. */
static void an_older_time_counts_as_now (void **state)
{
    (void)state;
    struct ti_governor governor = make_stopped (S (10));
    CHECK_FALSE (allows (&governor, S (1)));
    feed (&governor, TIED_GOVERNOR_REASON_ERRORS, 1, 1, 0);
    CHECK_TRUE (allows (&governor, S (10) + HOLD));
}

/*
 * A world of 1000 eligible calls a second with an extra copy for each that is allowed; the share of
 * those that are refused is asked of `share`, which may look at how many are sent. Counts stops and
 * what was let through.
 */
struct life {
    uint64_t stops;
    uint64_t allowed, asked;
    uint64_t opened; /* after a stop */
    tied_duration_t stopped;
};

static struct life live (uint32_t (*share) (tied_time_t now, bool is_open),
                         tied_duration_t span,
                         const struct tied_governor_limits *with)
{
    struct life life = {0};
    struct ti_governor governor;
    uint32_t carried = 0; /* rejections are spread evenly: no luck */
    ti_governor_init (&governor, with);
    for (tied_time_t now = 0; now < span; now += MS (1)) {
        const uint32_t before = governor.state;
        const bool is_allowed = allows (&governor, now);
        life.asked++;
        life.allowed += is_allowed;
        life.opened += before != governor.state && governor.state == TIED_GOVERNOR_OPEN;
        life.stopped += governor.state == TIED_GOVERNOR_STOPPED ? MS (1) : 0;
        if (is_allowed) {
            const bool is_open = governor.state == TIED_GOVERNOR_OPEN;
            ti_governor_count (&governor, TI_GOVERNOR_EXTRA, now);
            carried += share (now, is_open);
            if (carried >= TIED_PPM) {
                carried -= TIED_PPM;
                ti_governor_count (&governor, TI_GOVERNOR_REJECTED, now);
            }
        }
        ti_governor_count (&governor, TI_GOVERNOR_CALL, now);
    }
    life.stops = governor.stops;
    return life;
}

/* Between 46 % and 54 %, in waves of 3 s. */
static uint32_t hovers (tied_time_t now, bool is_open)
{
    (void)is_open;
    const uint64_t phase = now % S (3);
    return (uint32_t)(460000 + (phase < S (3) / 2 ? phase : S (3) - phase) * 80000 / (S (3) / 2));
}

/* The same by coin, so that 50 events may look better than they are. */
static uint32_t hovers_with_luck (tied_time_t now, bool is_open)
{
    return ti_mix (now) % TIED_PPM < hovers (now, is_open) ? TIED_PPM : 0;
}

static uint32_t never (tied_time_t now, bool is_open)
{
    (void)now;
    (void)is_open;
    return 0;
}

static uint32_t when_all_are_sent (tied_time_t now, bool is_open)
{
    (void)now;
    return is_open ? 900000 : 0;
}

/* Ten seconds of trouble, then none. */
static uint32_t overload (tied_time_t now, bool is_open)
{
    (void)is_open;
    return now >= S (10) && now < S (20) ? 900000 : 10000;
}

static void a_share_that_hovers_around_its_limit_does_not_flap (void **state)
{
    (void)state;
    const struct tied_governor_limits all = limits ();
    const struct life life = live (hovers, S (600), &all);
    /* It never comes back, and looks less and less often: at 2, 4, 8, 16 s, then each 32 s. */
    CHECK_U64 (life.opened, ==, 0);
    CHECK_U64 (life.stops, >=, 10);
    CHECK_U64 (life.stops, <=, 5 + 600 / 32);
    CHECK_U64 (life.allowed, <, life.asked / 40);
}

static void few_events_with_luck_open_it_in_few_of_its_holds (void **state)
{
    (void)state;
    const struct tied_governor_limits all = limits ();
    const struct life life = live (hovers_with_luck, S (6000), &all);
    CHECK_U64 (life.stops, <=, 5 + 6000 / 32);
    CHECK_U64 (life.opened * 5, <, life.stops);
}

static void without_trouble_nothing_is_refused (void **state)
{
    (void)state;
    const struct tied_governor_limits all = limits ();
    const struct life life = live (never, S (100), &all);
    CHECK_U64 (life.allowed, ==, life.asked);
    CHECK_U64 (life.stops, ==, 0);
}

/* The probe shows nothing, because one copy of sixteen does no harm. It must not swing with the
 * period of the hold: the relapse doubles it. */
static void harm_that_only_full_load_does_is_found_ever_less_often (void **state)
{
    (void)state;
    const struct tied_governor_limits all = limits ();
    const struct life life = live (when_all_are_sent, S (1000), &all);
    /* Each round: 32 s stopped, 0.8 s of probes, 50 extra copies. */
    CHECK_U64 (life.opened, <=, 5 + 1000 / 32);
    CHECK_U64 (life.opened, >=, 20);
    CHECK_U64 (life.allowed, <, life.asked / 100);
}

static void after_an_overload_it_comes_back_within_a_stated_time (void **state)
{
    (void)state;
    const struct tied_governor_limits all = limits ();
    const struct life until = live (overload, S (20), &all);
    CHECK_U64 (until.opened, ==, 0);
    CHECK_U64 (until.stops, >=, 2);
    /* Stops at 10 s for 2, 4 and 8 s with 0.8 s of probes between: open again before 28 s. */
    const struct life life = live (overload, S (100), &all);
    CHECK_U64 (life.opened, ==, 1);
    CHECK_U64 (life.stopped, <=, S (14));
    CHECK_U64 (life.allowed, >, (100 - 18) * 1000);
}

static void a_hold_of_0_still_probes (void **state)
{
    (void)state;
    struct tied_governor_limits none = limits ();
    none.hold_ns = 0;
    const struct life life = live (overload, S (100), &none);
    CHECK_U64 (life.opened, >=, 1);
    CHECK_U64 (life.allowed, >, 88 * 1000);
}

/*
 * Random events, times and limits, against a naive list of all events. After each step: invariants;
 * only moves of the drawing; a stop is justified by the events of the window; nothing lasts longer
 * than it may; a probe lets exactly its share through. At the end all signals are well, and it
 * opens within the longest hold and one probe.
 */
#define EVENTS 4000

struct story {
    struct ti_governor governor;
    tied_time_t now;
    tied_time_t at[EVENTS];
    uint8_t what[EVENTS];
    uint32_t count, base; /* base: those before the state began */
    uint64_t probes_asked, probes_allowed;
};

static uint64_t since (const struct story *story, enum ti_governor_event event, tied_time_t from)
{
    uint64_t found = 0;
    for (uint32_t i = story->count; i > story->base && story->at[i - 1] >= from; i--)
        found += story->what[i - 1] == event;
    return found;
}

static bool is_justified (const struct story *story,
                          const struct ti_governor *before,
                          tied_time_t from,
                          uint32_t reason,
                          bool is_coming_back)
{
    static const enum ti_governor_event wholes[] = {0,
                                                    TI_GOVERNOR_EXTRA,
                                                    TI_GOVERNOR_REPORT,
                                                    TI_GOVERNOR_CALL,
                                                    TI_GOVERNOR_TIED,
                                                    TI_GOVERNOR_HEDGE};
    const struct tied_governor_limits *with = &before->limits;
    const uint64_t whole = since (story, wholes[reason], from);
    const double share =
        whole ? (double)since (story, wholes[reason] + 1, from) / (double)whole : 0;
    const double less = is_coming_back ? 0.75 : 1;
    /* Older hedges are judged where the window has too few. */
    if (reason == TIED_GOVERNOR_REASON_NO_GAIN && !is_coming_back && whole < with->min_events)
        return since (story, TI_GOVERNOR_HEDGE, 0) >= with->min_events;
    if (whole < with->min_events)
        return false;
    switch (reason) {
    case TIED_GOVERNOR_REASON_REJECTIONS:
        return with->rejected_ppm > 0 && share * 1e6 > with->rejected_ppm * less - 1e-3;
    case TIED_GOVERNOR_REASON_DEPTH:
        return with->depth_milli > 0 &&
               (double)before->depth_milli > (double)with->depth_milli * less - 1e-3;
    case TIED_GOVERNOR_REASON_ERRORS:
        return with->error_ppm > 0 && share * 1e6 > with->error_ppm * less - 1e-3;
    case TIED_GOVERNOR_REASON_DUPLICATES:
        return with->duplicate_ppm > 0 && share * 1e6 > with->duplicate_ppm * less - 1e-3;
    default:
        return with->win_ppm > 0 && share * 1e6 < with->win_ppm / less + 1e-3;
    }
}

static void ask (struct story *story)
{
    const struct ti_governor before = story->governor;
    const tied_duration_t lasted = story->now - before.since;
    const bool is_allowed = allows (&story->governor, story->now);
    const struct ti_governor *after = &story->governor;
    const bool has_moved = before.state != after->state || before.stops != after->stops;
    const tied_duration_t slice = before.limits.window_ns / TI_GOVERNOR_SLICES;
    tied_time_t from = before.since;
    CHECK_U64 (after->refused - before.refused, ==, !is_allowed);
    switch (before.state) {
    case TIED_GOVERNOR_OPEN:
        CHECK_U64 (after->state, !=, TIED_GOVERNOR_PROBING);
        /* Slices are aligned to the state's begin. */
        if (lasted / slice >= 3)
            from += (lasted / slice - 3) * slice;
        if (has_moved)
            CHECK_TRUE (is_justified (story, &before, from, after->reason, false));
        break;
    case TIED_GOVERNOR_STOPPED:
        CHECK_U64 (after->state, !=, TIED_GOVERNOR_OPEN);
        CHECK_U64 (has_moved, ==, lasted >= before.hold);
        break;
    default:
        if (!has_moved)
            CHECK_U64 (lasted, <, 16 * before.limits.window_ns);
        else if (after->state == TIED_GOVERNOR_STOPPED)
            CHECK_TRUE (
                is_justified (story, &before, from, after->reason, after->reason == before.reason));
        break;
    }
    if (has_moved)
        story->base = story->count;
    if (after->state == TIED_GOVERNOR_OPEN)
        CHECK_TRUE (is_allowed);
    if (after->state == TIED_GOVERNOR_STOPPED)
        CHECK_FALSE (is_allowed);
    if (after->state != TIED_GOVERNOR_PROBING || has_moved)
        story->probes_asked = story->probes_allowed = 0;
    if (after->state == TIED_GOVERNOR_PROBING) {
        story->probes_asked++;
        story->probes_allowed += is_allowed;
        CHECK_U64 (story->probes_allowed, ==, (story->probes_asked + 15) / 16);
    }
}

static void tell (struct story *story, enum ti_governor_event event)
{
    if (story->count == EVENTS || story->governor.state == TIED_GOVERNOR_STOPPED)
        return;
    story->at[story->count] = story->now;
    story->what[story->count++] = (uint8_t)event;
    ti_governor_check (&story->governor);
}

static void random_stories_keep_the_rules_and_end_well (void **state)
{
    (void)state;
    static struct story story;
    struct ti_prng prng;
    const uint64_t runs = check_scale (400);
    uint64_t stops = 0;
    for (uint64_t seed = 0; seed < runs; seed++) {
        ti_prng_seed (&prng, seed);
        memset (&story, 0, sizeof story);
        const struct tied_governor_limits with = {
            .window_ns = MS (10) << ti_prng_below_32 (&prng, 8),
            .hold_ns = ti_prng_below_32 (&prng, 4) ? MS (10) << ti_prng_below_32 (&prng, 8) : 0,
            .min_events = 1 + ti_prng_below_32 (&prng, 40),
            .rejected_ppm = ti_prng_below_32 (&prng, 4) * 333333,
            .depth_milli = ti_prng_below_32 (&prng, 4) * 3000,
            .error_ppm = ti_prng_below_32 (&prng, 4) * 333333,
            .duplicate_ppm = ti_prng_below_32 (&prng, 4) * 333333,
            .win_ppm = ti_prng_below_32 (&prng, 4) * 333333};
        uint32_t badness[TI_GOVERNOR_EVENTS];
        for (int i = 0; i < TI_GOVERNOR_EVENTS; i++)
            badness[i] = ti_prng_below_32 (&prng, 100);
        const uint64_t step = 1 + ti_prng_below (&prng, with.window_ns / 5);
        ti_governor_init (&story.governor, &with);
        for (int i = 0; i < EVENTS / 2; i++) {
            story.now += ti_prng_below (&prng, step);
            if (ti_prng_below_32 (&prng, 500) == 0)
                story.now += ti_prng_below (&prng, 100 * with.window_ns);
            ask (&story);
            const enum ti_governor_event whole =
                (enum ti_governor_event) (2 * ti_prng_below_32 (&prng, 5));
            if (whole == TI_GOVERNOR_REPORT) {
                ti_governor_depth (&story.governor, ti_prng_below_32 (&prng, 10000), story.now);
                tell (&story, whole);
                continue;
            }
            ti_governor_count (&story.governor, whole, story.now);
            tell (&story, whole);
            if (ti_prng_below_32 (&prng, 100) < badness[whole]) {
                ti_governor_count (&story.governor, whole + 1, story.now);
                tell (&story, whole + 1);
            }
        }
        stops += story.governor.stops;
        /* All is well from now on. What was counted before may stop it once more. */
        const tied_time_t end = story.now + 2 * 16 * with.hold_ns + 3 * 16 * with.window_ns;
        while (story.now < end) {
            story.now += 1 + with.window_ns / 40;
            (void)allows (&story.governor, story.now);
            ti_governor_depth (&story.governor, 0, story.now);
            for (int event = 0; event < TI_GOVERNOR_REPORT; event++)
                if (event % 2 == 0 || event == TI_GOVERNOR_WIN)
                    ti_governor_count (&story.governor, (enum ti_governor_event)event, story.now);
        }
        CHECK_U64 (story.governor.state, ==, TIED_GOVERNOR_OPEN);
    }
    CHECK_U64 (stops, >, runs * 2);
}

/* Half of them after 64 windows, and not another half with each slice from then on. */
static void of_hedges_long_ago_half_are_remembered (void **state)
{
    (void)state;
    struct ti_governor governor = make ();
    feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, 0, 30, 0);
    ti_governor_count (&governor, TI_GOVERNOR_CALL, 2 * WINDOW);
    ti_governor_count (&governor, TI_GOVERNOR_CALL, 65 * WINDOW);
    feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, 0, MIN_EVENTS - 16, 65 * WINDOW);
    CHECK_TRUE (allows (&governor, 65 * WINDOW));
    feed (&governor, TIED_GOVERNOR_REASON_NO_GAIN, 0, 1, 65 * WINDOW);
    CHECK_FALSE (allows (&governor, 65 * WINDOW));
    CHECK_U64 (governor.reason, ==, TIED_GOVERNOR_REASON_NO_GAIN);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (it_starts_open),
        cmocka_unit_test (of_hedges_long_ago_half_are_remembered),
        cmocka_unit_test (every_limit_stops_with_its_own_reason),
        cmocka_unit_test (hedges_that_are_few_are_judged_over_more_than_one_window),
        cmocka_unit_test (long_queues_stop_it),
        cmocka_unit_test (nothing_is_judged_before_min_events),
        cmocka_unit_test (the_window_slides),
        cmocka_unit_test (a_limit_of_0_is_off),
        cmocka_unit_test (it_stays_stopped_for_the_hold_then_probes),
        cmocka_unit_test (probing_lets_one_of_sixteen_through),
        cmocka_unit_test (a_probe_opens_with_min_events_that_are_well),
        cmocka_unit_test (a_probe_fails_above_three_quarters_of_the_limit),
        cmocka_unit_test (wins_come_back_at_four_thirds_of_the_limit_or_all),
        cmocka_unit_test (another_signal_ends_a_probe_at_its_own_limit),
        cmocka_unit_test (a_probe_never_sticks),
        cmocka_unit_test (the_hold_doubles_up_to_16_times),
        cmocka_unit_test (a_relapse_counts_as_a_failed_probe_and_peace_resets_the_hold),
        cmocka_unit_test (BE_11_lost_races_are_neutral),
        cmocka_unit_test (a_stopped_governor_opens_when_its_signal_is_switched_off),
        cmocka_unit_test (a_shorter_hold_ends_a_long_stop),
        cmocka_unit_test (new_limits_apply_to_what_was_counted_another_window_begins_empty),
        cmocka_unit_test (long_silences_are_harmless_in_every_state),
        cmocka_unit_test (an_older_time_counts_as_now),
        cmocka_unit_test (a_share_that_hovers_around_its_limit_does_not_flap),
        cmocka_unit_test (few_events_with_luck_open_it_in_few_of_its_holds),
        cmocka_unit_test (without_trouble_nothing_is_refused),
        cmocka_unit_test (harm_that_only_full_load_does_is_found_ever_less_often),
        cmocka_unit_test (after_an_overload_it_comes_back_within_a_stated_time),
        cmocka_unit_test (a_hold_of_0_still_probes),
        cmocka_unit_test (random_stories_keep_the_rules_and_end_well),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
