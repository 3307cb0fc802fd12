/* SPDX-License-Identifier: MIT */
/*
 * Round-trip estimate of one replica from its probes (HELLO, PING), and the stagger made of it.
 * An echo comes from the network and is believed only if it names a probe that was sent lately and
 * was not answered yet.
 */
#ifndef TI_DELAY_H
#define TI_DELAY_H

#include <tied/types.h>

#define TI_DELAY_PROBES 8

struct ti_delay {
    uint64_t scaled;                     /* smoothed round trip x 8; 0: not measured */
    uint32_t next;                       /* probe that will be overwritten */
    tied_time_t probes[TI_DELAY_PROBES]; /* times of those sent and not answered; 0: free */
};

struct ti_stagger_limits {
    tied_duration_t floor_ns;
    tied_duration_t ceiling_ns;
    tied_duration_t initial_ns; /* stands in for what is not measured */
};

/* Forget the probes of a connection that is gone; the estimate stays. */
void ti_delay_forget_probes (struct ti_delay *self);

/* A probe that carries this time has been sent. */
void ti_delay_probe_sent (struct ti_delay *self, tied_time_t now);

/* An echo has come. Returns whether it was believed. RFC 6298: smoothed += (sample - smoothed) / 8.
 */
bool ti_delay_echo (struct ti_delay *self, tied_time_t echo, tied_time_t now);

/* Smoothed round trip, 0 if not measured. */
tied_duration_t ti_delay_round_trip (const struct ti_delay *self);

/* Twice the one-way delay of the slower of two replicas, within the limits. */
tied_duration_t ti_delay_stagger (const struct ti_stagger_limits *limits,
                                  tied_duration_t round_trip_a,
                                  tied_duration_t round_trip_b);

#endif
