/* SPDX-License-Identifier: MIT */
/*
 * Means of independent replications with the half-width of their 95 % interval (Student's t). Pure
 * arithmetic: the same values in the same order give the same bits.
 */
#ifndef SIM_STATISTICS_H
#define SIM_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "study/study.h"

/* A growing sample: Welford's mean and sum of squares. Zero is the empty one. */
struct sim_series {
    uint32_t count;
    bool has_infinite; /* an infinite value came: the mean is infinite */
    double mean, squares;
};

void sim_series_add (struct sim_series *self, double value);
/* Empty: both NaN. One value, or an infinite one: half is NaN. */
struct sim_estimate sim_series_estimate (const struct sim_series *self);

#endif
