/* SPDX-License-Identifier: MIT */
/* Student's t for whole degrees of freedom, by its finite sums; see student.h. */
#include "theory/student.h"

#include <math.h>
#include <stdbool.h>

#include "base/assert.h"

/* Abramowitz and Stegun 26.7.3 and 26.7.4: finite trigonometric sums. */
double sim_student_beyond (double t, uint32_t freedom)
{
    TI_ASSERT (t >= 0 && freedom >= 1);
    double theta = atan2 (t, sqrt (freedom)), sine = sin (theta), cosine = cos (theta);
    double square = cosine * cosine, pi = acos (-1);
    bool is_odd = freedom % 2 == 1;
    double term = is_odd ? cosine : 1, sum = 0;
    for (uint32_t k = is_odd ? 3 : 2; k <= freedom; k += 2) {
        sum += term;
        term *= square * (k - 1) / k;
    }
    double inside = is_odd ? 2 / pi * (theta + sine * sum) : sine * sum;
    return inside < 1 ? 1 - inside : 0;
}

double sim_student_quantile (double beyond, uint32_t freedom)
{
    TI_ASSERT (beyond > 0 && beyond < 1);
    double low = 0, high = 1;
    while (sim_student_beyond (high, freedom) > beyond)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (sim_student_beyond (middle, freedom) > beyond)
            low = middle;
        else
            high = middle;
    }
    return high;
}
