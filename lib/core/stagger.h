/* SPDX-License-Identifier: MIT */
/*
 * How long copy 1 of a tied pair waits after copy 0. Two things make both copies run:
 *
 * - Copy 0 finds an idle replica and starts at once, but its STARTED comes after copy 1 has started
 *   as well. So the stagger is as long as the way there and back nearly ever takes: the bound of
 *   delay.h. On a steady network that is the round trip, twice the one-way delay of Dean and
 *   Barroso, "The Tail at Scale", CACM 56(2), 2013.
 * - Both copies wait, and their turns come within the flight of one STARTED. A call that ran twice
 *   ends at both replicas at the same time; where there are few of them the next call often waits
 *   at the same two, and so starts twice as well. What keeps two copies of a call from standing at
 *   the same place of two queues is a stagger that is not short against a service; what it costs is
 *   latency of the calls that must wait. So: 4 sqrt (deviation x service / (replicas - 1)). It
 *   grows with how unsteady the way is, it is a small part of a service that is long against that,
 *   and it vanishes among many replicas.
 *
 * The greater of the two, within the limits. Knows no replica and no call.
 */
#ifndef TI_STAGGER_H
#define TI_STAGGER_H

#include <tied/types.h>

#include "core/delay.h"

struct ti_stagger {
    uint64_t service;         /* smoothed service time x 64; 0: none was told yet */
    tied_duration_t floor_ns; /* in [0, ceiling] */
    tied_duration_t ceiling_ns;
    tied_duration_t initial_ns; /* at least so long while one of the two ways is not measured */
};

/* An answer has come that took so long to make: mean += (took - mean) / 64. */
void ti_stagger_served (struct ti_stagger *self, tied_duration_t took);

/* Mean service time, 0 if not known. */
tied_duration_t ti_stagger_service (const struct ti_stagger *self);

/* Of a pair at the replicas that these ways lead to, out of so many (at least 2) that can be used.
 */
tied_duration_t ti_stagger_of (const struct ti_stagger *self,
                               const struct ti_delay *a,
                               const struct ti_delay *b,
                               uint32_t replicas);

#endif
