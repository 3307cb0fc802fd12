/* SPDX-License-Identifier: MIT */
/* Student's t and running means; see statistics.h. */
#include "study/statistics.h"

#include <math.h>

#include "base/assert.h"

/* The normal quantile that t tends to. */
#define Z_975 1.9599639845400545

/* Exact to the digits given; the expansion below is not good enough for so few. */
static const double small_t[] = {12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836,
                                 2.446911851,  2.364624252, 2.306004135, 2.262157163, 2.228138852,
                                 2.200985160,  2.178812830, 2.160368656, 2.144786688, 2.131449546,
                                 2.119905299,  2.109815578, 2.100922040, 2.093024054, 2.085963447};
#define SMALL_COUNT (sizeof small_t / sizeof *small_t)

double sim_student_t (uint32_t freedom)
{
    TI_ASSERT (freedom >= 1);
    if (freedom <= SMALL_COUNT)
        return small_t[freedom - 1];
    /* Cornish and Fisher's expansion in 1 / freedom (Abramowitz and Stegun 26.7.5). */
    double n = freedom, z = Z_975, z2 = z * z;
    double g1 = z * (z2 + 1) / 4;
    double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n;
}

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
    estimate.half = sim_student_t (self->count - 1) * sqrt (variance / self->count);
    return estimate;
}
