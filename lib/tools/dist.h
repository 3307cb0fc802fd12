/* SPDX-License-Identifier: MIT */
/*
 * How long a service takes: a distribution of durations, drawn by inverse CDF from one u64 of the
 * caller's generator, so that the same seed gives the same services in the replica program and in
 * the simulator. It holds no generator and no state. Draws and means have the same bits from every
 * compiler and on every processor (portable.h).
 */
#ifndef TI_DIST_H
#define TI_DIST_H

#include <stddef.h>
#include <stdint.h>

#include <tied/export.h>

/* Longest duration that a specification may name and that a draw may give: 1 hour. */
#define TI_DIST_MAX_NS UINT64_C (3600000000000)
/* Why a specification was refused: long enough for every text. */
#define TI_DIST_WHY_MAX 160

enum ti_dist_kind {
    TI_DIST_FIXED = 0,      /* fixed(T) */
    TI_DIST_EXP,            /* exp(MEAN) */
    TI_DIST_UNIFORM,        /* uniform(LOW,HIGH) */
    TI_DIST_BIMODAL,        /* bimodal(SHORT,LONG,P): LONG with probability P */
    TI_DIST_LOGNORMAL,      /* lognormal(MEAN,SD): mean and deviation of the durations themselves */
    TI_DIST_PARETO,         /* pareto(MIN,ALPHA): alpha in [1.01, 100] */
    TI_DIST_SHIFTED,        /* shifted(OFFSET,MEAN): OFFSET + exponential of this mean */
    TI_DIST_WEIBULL,        /* weibull(SCALE,SHAPE): shape in [0.1, 100] */
    TI_DIST_BOUNDED_PARETO, /* bounded_pareto(MIN,MAX,ALPHA): alpha in [0.01, 100] */
    TI_DIST_GPARETO, /* gpareto(LOC,SCALE,SHAPE): generalised Pareto, shape in [0.001, 0.99] */
    TI_DIST_HYPER,   /* hyper(MEAN,CV2): two exponentials, each half of the work; CV2 in [1, 1e6] */
    TI_DIST_H2,      /* h2(P,MEAN1,MEAN2): exponential of MEAN1 with probability P, else of MEAN2 */
    TI_DIST_STEPS    /* steps(V1:P1,V2:P2,...): rising values with these probabilities */
};

#define TI_DIST_STEPS_MAX 8

/* Filled by ti_dist_parse (). FIXED, EXP, UNIFORM, BIMODAL, PARETO, SHIFTED and H2 may be filled by
 * hand as well: nothing in them is computed. */
struct ti_dist {
    enum ti_dist_kind kind;
    uint64_t a_ns, b_ns; /* the durations of the specification, in its order; b may be unused */
    double p;            /* P, ALPHA, SHAPE, CV2 */
    double mu, sigma;    /* LOGNORMAL: of the logarithm in ns. BOUNDED_PARETO: mu is (MIN / MAX) ^
                            ALPHA. HYPER: mu is the probability of the shorter exponential */
    uint32_t steps;      /* STEPS: values */
    uint64_t step_ns[TI_DIST_STEPS_MAX];
    double step_cdf[TI_DIST_STEPS_MAX]; /* probability of this value or a smaller one */
};

enum ti_service_kind {
    TI_SERVICE_ECHO = 0, /* answer at once with the body of the request */
    TI_SERVICE_SLEEP,    /* wait without the CPU */
    TI_SERVICE_SPIN      /* keep a CPU busy */
};

struct ti_service {
    enum ti_service_kind kind;
    struct ti_dist dist; /* SLEEP, SPIN; fixed(0s) for ECHO */
};

/* A stall of all workers for length_ns, at exponential gaps of mean gap_ns. */
struct ti_pause {
    uint64_t gap_ns, length_ns;
};

/*
 * Read "exp(10ms)" and its like.
 *
 * @param why  at least TI_DIST_WHY_MAX bytes: on error one line without newline, as in
 *             "exp(5): \"5\" has no unit: write 5ms or 5s"
 * @return 0, TIED_ERR_INVAL (out is unchanged)
 */
TIED_NODISCARD int ti_dist_parse (const char *text, struct ti_dist *out, char *why);
/* "echo", "sleep:DIST", "spin:DIST". */
TIED_NODISCARD int ti_service_parse (const char *text, struct ti_service *out, char *why);
/* "4s,200ms": mean gap, length. */
TIED_NODISCARD int ti_pause_parse (const char *text, struct ti_pause *out, char *why);

/* The value at (random + 1/2) / 2^64 of the distribution: finite, at most TI_DIST_MAX_NS. HYPER and
 * H2 are not inverted: where the number lies chooses the exponential, and the value in that. */
uint64_t ti_dist_draw (const struct ti_dist *self, uint64_t random);
/* Mean of the distribution, the cap of a draw left out of account; ns. */
double ti_dist_mean (const struct ti_dist *self);
uint64_t ti_dist_mean_ns (const struct ti_dist *self);
/* Share of the draws at or below ns, in [0, 1]. */
double ti_dist_cdf (const struct ti_dist *self, uint64_t ns);

#endif
