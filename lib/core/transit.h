/* SPDX-License-Identifier: MIT */
/*
 * How much longer than usual a request was on its way, without synchronised clocks.
 *
 * The difference between our clock and the sender's clock at the send is a constant plus the time
 * on the way. The smallest difference of the last one or two windows stands for "usual"; what a
 * request has above it, it spent waiting in a buffer, for example while this process was stopped.
 *
 * A window ends at the first sample after its length, never by time alone: after a long stop the
 * first sample must still meet a minimum from before the stop.
 */
#ifndef TI_TRANSIT_H
#define TI_TRANSIT_H

#include <tied/types.h>

/* Long enough for what lies in the sockets after a stop of ours to be read, short enough not to
 * refuse a sender's calls for long after its own clock stood still, as that of a suspended machine
 * does. */
#define TI_TRANSIT_WINDOW_NS TIED_S (2)

struct ti_transit {
    uint64_t epoch;       /* of the client object whose clock this is */
    uint64_t current_us;  /* smallest difference, modulo 2^64; valid if windows >= 1 */
    uint64_t previous_us; /* valid if windows == 2 */
    tied_time_t current_at;
    tied_time_t previous_at; /* when that window began */
    uint8_t windows;
};

/*
 * Note a request and say how stale it is. Any value of sent_us is fine; 0 means none was given and
 * changes nothing. Another epoch than before starts anew: a restarted client has another clock.
 *
 * @return nanoseconds above the usual time on the way; 0 if nothing is known
 */
tied_duration_t
ti_transit_staleness (struct ti_transit *self, uint64_t epoch, uint64_t sent_us, tied_time_t now);

#endif
