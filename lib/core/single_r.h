/* SPDX-License-Identifier: MIT */
/*
 * When to hedge, and how often: the delay d and probability q that make a percentile of the latency
 * least, when at most a given share of calls may get a hedge. SingleR, from Kaler, He and Elnikety,
 * "Optimal Reissue Policies for Reducing Tail Latency", SPAA 2017:
 *
 *   P(T <= t) = P(X <= t) + q P(X > t) P(Y <= t - d),   q P(X > d) <= budget
 *
 * X is what a call takes without a hedge, Y what the hedge takes from its own send. A pure function
 * of two curves; integers only.
 */
#ifndef TI_SINGLE_R_H
#define TI_SINGLE_R_H

#include "core/latency.h"

struct ti_single_r_options {
    uint32_t target_ppm;                  /* the percentile */
    uint32_t budget_ppm;                  /* hedges of calls, at most */
    tied_duration_t floor_ns, ceiling_ns; /* of d */
    /* A saving below this share of the percentile is none: noise would make hedges of it. */
    uint32_t min_saving_ppm;
    /* The percentile may be so much longer than the least one, if fewer hedges do then; never
     * more than half of what is saved is given away. */
    uint32_t slack_ppm;
};

struct ti_single_r_plan {
    bool is_worth;              /* false: do not hedge; the rest says what was best all the same */
    tied_duration_t delay_ns;   /* d */
    uint32_t probability_ppm;   /* q */
    tied_duration_t without_ns; /* the percentile without hedges; TIED_NEVER: not known */
    tied_duration_t predicted_ns; /* the percentile with them */
    uint32_t hedged_ppm;          /* calls that get one: q P(X > d) */
};

/* hedge may be NULL or have too few samples (min_hedge_samples): then Y is taken to be as X.
 * Without samples of X, or with a budget of 0, nothing is worth it, and d is the floor. */
void ti_single_r (const struct ti_single_r_options *options,
                  const struct ti_curve *call,
                  const struct ti_curve *hedge,
                  uint64_t min_hedge_samples,
                  struct ti_single_r_plan *out);

/* Of the calls that are pending at d: how much of their remaining time a copy sent then would save,
 * in the mean, counting no time past the target percentile; 0 if it would save nothing. TIED_NEVER:
 * the percentile is not known, and a copy may end before whatever comes. Used by `auto` to skip
 * what cannot help, by the advisor and by replay. hedge as above. */
tied_duration_t ti_single_r_benefit (const struct ti_curve *call,
                                     const struct ti_curve *hedge,
                                     tied_duration_t d,
                                     uint32_t target_ppm);

#endif
