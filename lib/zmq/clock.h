/* SPDX-License-Identifier: MIT */
/* The one place that reads a clock or the system's randomness for the runtimes. */
#ifndef TI_CLOCK_H
#define TI_CLOCK_H

#include <tied/types.h>

/* CLOCK_MONOTONIC in nanoseconds. */
tied_time_t ti_clock_now (void);

/* 64 random bits from the system, never 0. */
uint64_t ti_random_u64 (void);

#endif
