/* SPDX-License-Identifier: MIT */
/*
 * How long something takes, learned from the last few seconds: samples that ended, and samples that
 * were cut short and say only "at least so long" (censored). Percentiles and the survival curve are
 * those of Kaplan and Meier ("Nonparametric Estimation from Incomplete Observations", JASA 1958):
 * a loser that was cancelled counts neither as a short sample nor as none.
 *
 * The window is a ring of slices; the oldest slice falls out as a whole. Fixed memory, part of its
 * owner's block (found by distance), integers only, no clock: the owner says what time it is.
 */
#ifndef TI_LATENCY_H
#define TI_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/policy.h>
#include <tied/types.h>

/* Buckets are those of base/hist.h with 32 to a power of two: a percentile is exact to 1 / 32. */
#define TI_LATENCY_SLICES  5
#define TI_LATENCY_LOWEST  TIED_US (1)
#define TI_LATENCY_HIGHEST TIED_S (60)
/* No more points than this in a curve: its buckets. */
#define TI_LATENCY_POINTS_MAX 1024

struct ti_latency; /* in latency.c's part of the block; size from ti_latency_size () */

/* One point of a survival curve: `surviving` ppm of all take longer than `at`. */
struct ti_curve_point {
    tied_duration_t at;
    uint32_t surviving_ppm;
};

/* Points upward in `at`, downward in `surviving_ppm`. Past the last point the curve is flat: if
 * surviving_ppm is not 0 there, so many were cut short and it is not known how long they take. */
struct ti_curve {
    uint32_t count;
    uint64_t samples; /* that ended */
    uint64_t censored;
    struct ti_curve_point points[TI_LATENCY_POINTS_MAX];
};

size_t ti_latency_size (void);
/* window_ns: of all slices together, at least TI_LATENCY_SLICES ns. */
struct ti_latency *ti_latency_init (void *memory, tied_duration_t window_ns);

/* now must not go back. Values outside LOWEST .. HIGHEST are clamped and counted [BE-06]. */
void ti_latency_ended (struct ti_latency *self, tied_duration_t took, tied_time_t now);
void ti_latency_censored (struct ti_latency *self, tied_duration_t at_least, tied_time_t now);

/* Let old slices fall out. */
void ti_latency_turn (struct ti_latency *self, tied_time_t now);

/* Samples that ended, in the window; and those since creation that were clamped, or not taken
 * because the window held as many as it can (2 ^ 28). */
uint64_t ti_latency_samples (const struct ti_latency *self);
uint64_t ti_latency_clamped (const struct ti_latency *self);

/* The time within which ppm of all end; TIED_NEVER if that is not known, because there is no sample
 * or too much was cut short before. Takes about as long as a curve. */
tied_duration_t ti_latency_percentile (const struct ti_latency *self, uint32_t ppm);

/* Time in the number of buckets, some 10 us; to be asked a few times a second. */
void ti_latency_curve (const struct ti_latency *self, struct ti_curve *out);

/* Share in ppm that takes longer than t. */
uint32_t ti_curve_surviving (const struct ti_curve *self, tied_duration_t t);
/* As ti_latency_percentile (). */
tied_duration_t ti_curve_percentile (const struct ti_curve *self, uint32_t ppm);

/* Add the samples in other's window, which its owner has turned, to the newest slice of self, as if
 * they had come now. */
void ti_latency_merge (struct ti_latency *self, const struct ti_latency *other, tied_time_t now);

void ti_latency_check (const struct ti_latency *self);

#endif
