/* SPDX-License-Identifier: MIT */
/*
 * The few functions that draws need, with the same bits from every compiler, library and processor:
 * additions, multiplications, divisions and square roots of doubles, which IEEE 754 rounds in one
 * way, in a fixed order. libm promises no such thing. Relative error below 1e-15 unless said.
 *
 * Finite arguments in the stated ranges only; no errno, no special values.
 */
#ifndef TI_PORTABLE_H
#define TI_PORTABLE_H

/* Natural logarithm of a normal number above 0. */
double ti_log (double x);
/* log (1 + x), x >= -1/2. */
double ti_log1p (double x);
/* e ^ x; 0 below -708, and x above 709 counts as 709. */
double ti_exp (double x);
/* base ^ exponent, base above 0; relative error about 1e-16 times the logarithm of the result. */
double ti_pow (double base, double exponent);
/* Gamma function, x in [1, 171]; relative error below 1e-12. */
double ti_gamma (double x);
/*
 * Standard normal quantile at p, where q is 1 - p with its own full precision: both tails are as
 * exact as the middle. p and q above 1e-300. Relative error below 1e-14.
 */
double ti_normal_quantile (double p, double q);

#endif
