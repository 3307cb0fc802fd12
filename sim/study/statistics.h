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

/* t with P (|T| <= t) = 0.95 for so many degrees of freedom, >= 1; relative error below 2e-6. */
double sim_student_t (uint32_t freedom);

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
