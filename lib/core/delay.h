/* SPDX-License-Identifier: MIT */
/*
 * How long the way to one replica and back takes, measured twice: the round trip of probes (HELLO,
 * PING), which is what people are told; and the way of all messages, calls too, with how much it
 * varies, which is what the stagger is made of. A call's way is its time from sending to answer
 * less the time that the replica says it had it.
 *
 * All of it comes from the network: an echo is believed only if it names a probe that was sent
 * lately and was not answered yet; a call's way is at most the time that really passed.
 */
#ifndef TI_DELAY_H
#define TI_DELAY_H

#include <tied/types.h>

#define TI_DELAY_PROBES 8

struct ti_delay {
    uint64_t scaled;                     /* smoothed round trip of probes x 8; 0: not measured */
    uint64_t mean;                       /* smoothed way x 16; 0: not measured */
    uint64_t deviation;                  /* smoothed distance of a way from its mean x 16 */
    uint32_t next;                       /* probe that will be overwritten */
    tied_time_t probes[TI_DELAY_PROBES]; /* times of those sent and not answered; 0: free */
};

/* Forget the probes of a connection that is gone; the estimates stay. */
void ti_delay_forget_probes (struct ti_delay *self);

/* A probe that carries this time has been sent. */
void ti_delay_probe_sent (struct ti_delay *self, tied_time_t now);

/* An echo has come. Returns whether it was believed: then it counts in both measures. RFC 6298:
 * smoothed += (sample - smoothed) / 8. */
bool ti_delay_echo (struct ti_delay *self, tied_time_t echo, tied_time_t now);

/* A call has come back: so long it was on the way there and back. */
void ti_delay_call (struct ti_delay *self, tied_duration_t way);

/* Smoothed round trip of probes, 0 if not measured. */
tied_duration_t ti_delay_round_trip (const struct ti_delay *self);

/* Mean of the way there and back, 0 if not measured. */
tied_duration_t ti_delay_way (const struct ti_delay *self);

/* Mean distance of a way from that mean. */
tied_duration_t ti_delay_deviation (const struct ti_delay *self);

/* What the way stays below nearly always: mean + 4 deviations, as the timeout of RFC 6298; 0 if not
 * measured. A constant delay is met exactly, in the end. */
tied_duration_t ti_delay_bound (const struct ti_delay *self);

#endif
