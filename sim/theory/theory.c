/* SPDX-License-Identifier: MIT */
/* What all laws have in common: percentiles and the end of life; see theory.h. */
#include "theory/theory.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"

void sim_theory_deinit (struct sim_theory *self)
{
    free (self->weights);
    self->weights = NULL;
}

double sim_theory_percentile (const struct sim_theory *self, uint32_t ppm)
{
    TI_ASSERT (self->tail && ppm < 1000000);
    double rest = (1e6 - (double)ppm) / 1e6;
    double low = 0, high = 1;
    while (self->tail (self, high) > rest) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 200 && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            break;
        if (self->tail (self, middle) > rest)
            low = middle;
        else
            high = middle;
        /* A tail may be a sum of thousands of terms: no more steps than its digits are worth. */
        if (high - low < 1e-13 * high)
            break;
    }
    return high;
}
