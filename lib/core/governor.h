/* SPDX-License-Identifier: MIT */
/*
 * Stops extra copies when they do harm or do not pay, and lets them come back.
 *
 *             a limit is passed               hold is over
 *   OPEN  ---------------------->  STOPPED  ---------------->  PROBING
 *    ^ ^                              ^                          |  |
 *    |  `------- all is well ---------+--------------------------'  |
 *    |                                `------ still passed ---------'   (hold doubles, up to 16 x)
 *
 * PROBING lets one eligible call of TI_GOVERNOR_PROBE through, until min_events were seen. Limits
 * for coming back are 3/4 of those for stopping (hysteresis), for `win` 4/3.
 * What happens to a lost race is no failure and is not reported here [BE-11]. The governor knows no
 * copy and sends nothing; a refusal changes nothing for copies that are on their way.
 */
#ifndef TI_GOVERNOR_H
#define TI_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/policy.h>
#include <tied/types.h>

#define TI_GOVERNOR_PROBE  16
#define TI_GOVERNOR_SLICES 4

enum ti_governor_event {
    TI_GOVERNOR_CALL = 0,  /* a call ended, with OK or an application error */
    TI_GOVERNOR_ERROR,     /* of those, with an application error */
    TI_GOVERNOR_EXTRA,     /* a copy beyond the first was sent */
    TI_GOVERNOR_REJECTED,  /* of those, refused by its replica */
    TI_GOVERNOR_TIED,      /* a tied call ended */
    TI_GOVERNOR_DUPLICATE, /* of those, both copies ran */
    TI_GOVERNOR_HEDGE,     /* a hedge was sent and its call has ended */
    TI_GOVERNOR_WIN,       /* of those, the hedge won */
    TI_GOVERNOR_EVENTS
};

/* enum tied_governor_state and enum tied_governor_reason are in tied/types.h. */
struct ti_governor {
    struct tied_governor_limits limits;
    tied_time_t slice_at; /* when the current slice began */
    tied_time_t until;    /* STOPPED: when it probes */
    tied_duration_t hold; /* the next one */
    uint64_t depth_milli; /* last reported mean */
    uint32_t slice;
    uint32_t probe_turn;
    uint32_t state;  /* enum tied_governor_state */
    uint32_t reason; /* enum tied_governor_reason: why it stopped last */
    uint64_t stops;
    uint64_t refused;
    uint32_t counts[TI_GOVERNOR_SLICES][TI_GOVERNOR_EVENTS];
};

void ti_governor_init (struct ti_governor *self, const struct tied_governor_limits *limits);
void ti_governor_change (struct ti_governor *self, const struct tied_governor_limits *limits);

void ti_governor_count (struct ti_governor *self, enum ti_governor_event event, tied_time_t now);
/* Mean of the copies that wait, as replicas report, in thousandths. */
void ti_governor_depth (struct ti_governor *self, uint64_t depth_milli, tied_time_t now);

/* May this call get extra copies? Moves between the states; now must not go back. */
bool ti_governor_allows (struct ti_governor *self, tied_time_t now);

void ti_governor_check (const struct ti_governor *self);

#endif
