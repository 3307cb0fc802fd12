/* SPDX-License-Identifier: MIT */
/* Running means and their intervals; see statistics.h. */
#include "study/statistics.h"

#include <math.h>

#include "theory/student.h"

/* Outside of an interval lies the truth in so many cases. */
#define BEYOND 0.05

void sim_series_add (struct sim_series *self, double value)
{
    self->count++;
    if (isinf (value))
        self->has_infinite = true;
    if (self->has_infinite)
        return;
    double delta = value - self->mean;
    self->mean += delta / self->count;
    self->squares += delta * (value - self->mean);
}

struct sim_estimate sim_series_estimate (const struct sim_series *self)
{
    struct sim_estimate estimate = {NAN, NAN};
    if (self->count == 0)
        return estimate;
    estimate.value = self->has_infinite ? INFINITY : self->mean;
    if (self->count < 2 || self->has_infinite)
        return estimate;
    double variance = self->squares / (self->count - 1);
    estimate.half = sim_student_quantile (BEYOND, self->count - 1) * sqrt (variance / self->count);
    return estimate;
}
