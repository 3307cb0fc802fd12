/* SPDX-License-Identifier: MIT */
/*
 * Formulas of queueing theory that a simulation must meet. Times are multiples of the mean service
 * time, `lam` is the load of one server, `n` the number of servers, `d` the copies of a request.
 * Pure; no simulation here. Queues are in queues.c, redundancy in redundancy.c, races and hedges in
 * race.c, each formula with its source.
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

/* The parameters are ours: out of range, or no memory for the weights, is asserted. One owner. */
void sim_theory_deinit (struct sim_theory *self);
/* The t with P (T > t) = 1 - ppm / 1e6, by bisection; ppm < 1e6. */
double sim_theory_percentile (const struct sim_theory *self, uint32_t ppm);

/* Each fills *out with the response time. */
void sim_theory_mm1 (double lam, struct sim_theory *out);
void sim_theory_mmc (uint32_t c, double lam, struct sim_theory *out);
void sim_theory_md1 (double lam, struct sim_theory *out);
/* Service is exponential of mean1 with probability p, else of mean2; p mean1 + (1 - p) mean2 is 1.
 */
void sim_theory_mh21 (double lam, double p, double mean1, double mean2, struct sim_theory *out);
/* Mean wait in M/G/1; c2 is the squared coefficient of variation of the service time. */
double sim_theory_mg1_wait (double lam, double c2);

/* Cancel on start, exponential, n servers, d copies. */
void sim_theory_cos (uint32_t n, uint32_t d, double lam, struct sim_theory *out);
/* The same for n without limit. */
void sim_theory_cos_limit (uint32_t d, double lam, struct sim_theory *out);
/* Cancel on completion, independent exponential copies: finite n (mean only: tail NULL), limit. */
void sim_theory_coc (uint32_t n, uint32_t d, double lam, struct sim_theory *out);
void sim_theory_coc_limit (uint32_t d, double lam, struct sim_theory *out);
/* Backup accepted only if idle, d = 2, n without limit; lam ^ 2 backups per request are refused. */
void sim_theory_idle_backup (double lam, struct sim_theory *out);
/* Join the shortest of d queues, exponential, n without limit. */
void sim_theory_jsq_limit (uint32_t d, double lam, struct sim_theory *out);

/* Two servers, no stagger, cancels take next to no time: share of calls that run twice, and mean.
 */
double sim_theory_race_duplicates (double lam);
double sim_theory_race_mean (double lam);
/* The same share for two of n servers, n without limit. */
double sim_theory_race_duplicates_limit (double lam);
/* First order of the duplicates with stagger: c (lam), per Delta / E[S]. */
double sim_theory_race_slope (double lam);
/* Both replicas idle, one-way delays exponential, stagger x times their mean: P (both run), and
 * P (the first copy's STARTED does not stop the second). */
double sim_theory_race_random (double x);
double sim_theory_race_not_stopped (double x);

/* Hedging without queues: a second copy after h, whichever is first answers. */
enum sim_theory_law {
    SIM_LAW_EXP,      /* mean 1 */
    SIM_LAW_H2,       /* .95 Exp (1) + .05 Exp (mean 10) */
    SIM_LAW_PARETO,   /* alpha 2, x_m .5 */
    SIM_LAW_LOGNORMAL /* sigma 1, mean 1 */
};
/* P (S > t): with t = h the share of requests that are hedged. */
double sim_theory_law_tail (enum sim_theory_law law, double t);
/* h INFINITY: no hedge. */
void sim_theory_hedge (enum sim_theory_law law, double h, struct sim_theory *out);

#endif
