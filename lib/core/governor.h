/* SPDX-License-Identifier: MIT */
/*
 * Stops extra copies when they do harm or do not pay, and lets them come back.
 *
 *             a limit is reached              hold is over
 *   OPEN  ---------------------->  STOPPED  ---------------->  PROBING
 *    ^ ^                              ^                          |  |
 *    |  `------- all is well ---------+--------------------------'  |
 *    |                                `------ still too much -------'
 *
 * Shares are of the window while OPEN, a ring of slices; each state begins with empty counts.
 * No share is judged before min_events of what it is a share of, the depth not before as many
 * reports. Hedges are few, where calls are: of those that fell out of the window so many are
 * remembered as are wanted for a judgement, for TI_GOVERNOR_PATIENCE windows at least half. The
 * signal that stopped it has come back when it is below 3/4 of its limit (`win`: at least 4/3, or
 * all); the other signals are held to their limits themselves. So a share that hovers around its
 * limit stays stopped.
 *
 * PROBING lets one of TI_GOVERNOR_PROBE eligible calls through and ends with min_events of the
 * signal that stopped it, or earlier when another one reaches its limit. If so many do not come
 * within TI_GOVERNOR_PROBE windows, there are fewer than one window had before: it opens, since
 * little can go wrong, and min_events will stop it again.
 *
 * The first stop holds for hold_ns. A stop that follows on another one, because the probe failed
 * or because OPEN lasted less than TI_GOVERNOR_PEACE times the last hold, holds twice as long as
 * that, up to 16 x hold_ns. So a load that only the full number of extra copies makes harmful does
 * not swing with the period of the hold.
 *
 * What happens to a lost race is no failure and has no event [BE-11]. The governor knows no copy
 * and sends nothing; a refusal changes nothing for copies that are on their way. It moves only when
 * it is asked (ti_governor_allows): without eligible calls there is nothing to let through.
 */
#ifndef TI_GOVERNOR_H
#define TI_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/policy.h>
#include <tied/types.h>

#define TI_GOVERNOR_PROBE    16
#define TI_GOVERNOR_PEACE    10
#define TI_GOVERNOR_HOLD_MAX 16
#define TI_GOVERNOR_SLICES   4
#define TI_GOVERNOR_PATIENCE 64

enum ti_governor_event {
    TI_GOVERNOR_CALL = 0,  /* a call ended, with OK or an application error */
    TI_GOVERNOR_ERROR,     /* of those, with an application error */
    TI_GOVERNOR_EXTRA,     /* a tied copy was sent */
    TI_GOVERNOR_REJECTED,  /* of those, refused by its replica */
    TI_GOVERNOR_TIED,      /* a tied call ended */
    TI_GOVERNOR_DUPLICATE, /* of those, both copies ran */
    TI_GOVERNOR_HEDGE,     /* a hedge was sent and its call has ended */
    TI_GOVERNOR_WIN,       /* of those, the hedge won */
    TI_GOVERNOR_REPORT,    /* ti_governor_depth () was told of a report */
    TI_GOVERNOR_EVENTS
};

/*
 * Invariants (ti_governor_check):
 * 1. totals are the sums of the slices;
 * 2. hold <= TI_GOVERNOR_HOLD_MAX x limits.hold_ns;
 * 3. reason is NONE until the first stop, and never again; so long the state is OPEN.
 * enum tied_governor_state and enum tied_governor_reason are in tied/types.h.
 */
struct ti_governor {
    struct tied_governor_limits limits;
    uint32_t limit[TIED_GOVERNOR_REASON_COUNT]; /* of those, by reason */
    tied_time_t slice_at;                       /* when the current slice began */
    tied_time_t since;                          /* when the state began */
    tied_duration_t hold;                       /* the last stop's; 0: none to follow on */
    uint64_t depth_milli;                       /* last reported mean */
    uint32_t slice;
    uint32_t probe_turn;
    uint32_t state;  /* enum tied_governor_state */
    uint32_t reason; /* enum tied_governor_reason: why it stopped last */
    uint64_t stops;
    uint64_t refused;
    uint64_t totals[TI_GOVERNOR_EVENTS];
    uint64_t older_hedges, older_wins; /* that fell out of the window and still count */
    tied_time_t older_at;              /* when they were halved because of their age */
    uint32_t counts[TI_GOVERNOR_SLICES][TI_GOVERNOR_EVENTS]; /* each saturates */
};

void ti_governor_init (struct ti_governor *self, const struct tied_governor_limits *limits);
/* Other limits from now on. The state stays, unless the signal that stopped it was switched off;
 * a hold that is longer than the new limits allow is cut. Another window begins empty. */
void ti_governor_change (struct ti_governor *self, const struct tied_governor_limits *limits);

void ti_governor_count (struct ti_governor *self, enum ti_governor_event event, tied_time_t now);
/* A replica has reported: mean of the copies that one holds, of all replicas, in thousandths. To be
 * told of each report, as the depth is judged after min_events of them. */
void ti_governor_depth (struct ti_governor *self, uint64_t depth_milli, tied_time_t now);

/* May this call get extra copies? Moves between the states; now must not go back. */
bool ti_governor_allows (struct ti_governor *self, tied_time_t now);

void ti_governor_check (const struct ti_governor *self);

#endif
