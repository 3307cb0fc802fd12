/* SPDX-License-Identifier: MIT */
/*
 * The validation matrix: scenarios whose answers theory knows, what the simulator measures, and
 * whether the two agree. Everything runs through sim_run (), as any other study does.
 *
 * A comparison holds when the measured mean of independent replications lies within its interval of
 * the theory, all intervals together with a confidence of 99 % (Bonferroni, Student's t). Means and
 * p99 must also be known well: half-widths below 1 % and 3 %. Beside the comparisons every row
 * counts: the identities of accounting hold exactly or not at all.
 */
#ifndef SIM_VERIFY_H
#define SIM_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "study/study.h"

#define SIM_VERIFY_CONFIDENCE 0.99
#define SIM_VERIFY_MEAN_WIDTH 0.01 /* half-width of a mean's interval / theory, at most */
#define SIM_VERIFY_P99_WIDTH  0.03

enum sim_verify_verdict {
    SIM_VERIFY_OK = 0,
    SIM_VERIFY_OUT,  /* theory is outside the interval, or an identity is broken */
    SIM_VERIFY_WIDE, /* the interval is too wide to say much */
    SIM_VERIFY_VERDICTS
};
/* "ok", "OUT", "WIDE". */
const char *sim_verify_verdict_name (enum sim_verify_verdict verdict);

/* One comparison. */
struct sim_verify_line {
    char row[80];      /* "cancel on start, n=3 d=2, load 0.5" */
    char quantity[24]; /* "p99" */
    double theory;     /* times in mean service times */
    double slack;      /* by which the theory may itself be off: an oracle that was
                          simulated, a formula of first order; 0: exact */
    double measured;   /* mean over replications */
    double half;       /* half-width of the interval around it; NaN: no statistics */
    double z;          /* (measured - theory) / standard error, slack taken off first; NaN */
    enum sim_verify_verdict verdict;
    char note[SIM_WHY_MAX]; /* what is broken; where the theory comes from; may be empty */
    uint64_t calls;         /* measured, all replications */
};

struct sim_verify_options {
    bool full;        /* all rows and loads, longer runs */
    uint64_t seed;    /* 0: 1, that of this release */
    uint32_t jobs;    /* threads; 0: 1 */
    const char *only; /* rows whose name contains it; NULL: all */
    double scale;     /* of the calls of every row, for tests; 0: 1 */
    enum sim_fault fault;
    sim_runner *runner; /* NULL: sim_run () */
    /* From time to time on the caller's thread; may be NULL. */
    void (*progress) (void *context, uint64_t done, uint64_t all, tied_duration_t elapsed);
    void *context;
};

struct sim_verify {
    struct sim_verify_line *lines;
    uint32_t lines_count;
    uint32_t rows;         /* scenarios */
    uint32_t comparisons;  /* that share the 1 % */
    uint32_t replications; /* of each row */
    double limit;          /* of |z| */
    uint32_t out, wide;    /* verdicts */
    uint64_t seed;
    uint64_t calls;          /* simulated, warm-up included */
    tied_duration_t wall_ns; /* real time */
};

/* @return as sim_run (); TIED_ERR_ABSENT when `only` leaves no row. On success deinit it. */
TIED_NODISCARD int sim_verify_run (const struct sim_verify_options *options,
                                   struct sim_verify *out,
                                   char why[SIM_WHY_MAX]);
void sim_verify_deinit (struct sim_verify *self);

#endif
