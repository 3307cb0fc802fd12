/* SPDX-License-Identifier: MIT */
/*
 * Formulas of queueing theory that a simulation must meet. Times are multiples of the mean service
 * time, `lam` is the load of one server. Sources stand at each function. Pure; no simulation here.
 */
#ifndef SIM_THEORY_H
#define SIM_THEORY_H

#include <stdint.h>

/* P (T > t) of something. */
struct sim_theory {
    double (*tail) (const struct sim_theory *self, double t);
    double mean;
    double p[8]; /* parameters of the tail */
    uint32_t n, d;
    double *weights; /* of a mixture, or NULL; sim_theory_deinit () frees it */
};

void sim_theory_deinit (struct sim_theory *self);
/* The t with P (T > t) = 1 - ppm / 1e6, by bisection. */
double sim_theory_percentile (const struct sim_theory *self, uint32_t ppm);

/* Each fills *out; asserts on parameters out of range (they are ours). */
void sim_theory_mm1 (double lam, struct sim_theory *out);
void sim_theory_mmc (uint32_t c, double lam, struct sim_theory *out);
void sim_theory_md1 (double lam, struct sim_theory *out);
void sim_theory_mh21 (double lam, double p, double mean1, double mean2, struct sim_theory *out);
/* Cancel on start, exponential, n servers, d copies. */
void sim_theory_cos (uint32_t n, uint32_t d, double lam, struct sim_theory *out);
/* The same for n without limit. */
void sim_theory_cos_limit (uint32_t d, double lam, struct sim_theory *out);
/* Cancel on completion, independent exponential copies: finite n (mean only: tail NULL), limit. */
void sim_theory_coc (uint32_t n, uint32_t d, double lam, struct sim_theory *out);
void sim_theory_coc_limit (uint32_t d, double lam, struct sim_theory *out);
/* Backup accepted only if idle, d = 2, n without limit. */
void sim_theory_idle_backup (double lam, struct sim_theory *out);

/* Two servers, no stagger, cancels take no time: share of calls that run twice, and mean. */
double sim_theory_race_duplicates (double lam);
double sim_theory_race_mean (double lam);
/* First order of the duplicates with stagger: c (lam), per Delta / E[S]. */
double sim_theory_race_slope (double lam);
/* P (both run) when both idle and one-way delays are exponential, stagger x times their mean. */
double sim_theory_race_random (double x);

/* Hedging without queues: after h, service tail Fc. */
enum sim_theory_law {
    SIM_LAW_EXP,   /* mean 1 */
    SIM_LAW_H2,    /* .95 Exp (1) + .05 Exp (mean 10) */
    SIM_LAW_PARETO /* alpha 2, x_m .5 */
};
void sim_theory_hedge (enum sim_theory_law law, double h, struct sim_theory *out);

#endif
