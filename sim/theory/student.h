/* SPDX-License-Identifier: MIT */
/* Quantiles of Student's t for any level: a matrix of hundreds of comparisons needs levels far
 * beyond those of the tables. */
#ifndef SIM_STUDENT_H
#define SIM_STUDENT_H

#include <stdint.h>

/* P (|T| > t) for so many degrees of freedom, >= 1. */
double sim_student_beyond (double t, uint32_t freedom);
/* The t with P (|T| > t) = beyond, in (0, 1). */
double sim_student_quantile (double beyond, uint32_t freedom);

#endif
