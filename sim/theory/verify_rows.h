/* SPDX-License-Identifier: MIT */
/* The rows of the validation matrix; see verify.h. */
#ifndef SIM_VERIFY_ROWS_H
#define SIM_VERIFY_ROWS_H

#include "scenario/scenario.h"
#include "theory/theory.h"

/* What is measured in a replication; times in units of the row. */
enum sim_quantity {
    SIM_QUANTITY_MEAN = 0,
    SIM_QUANTITY_P50,
    SIM_QUANTITY_P90,
    SIM_QUANTITY_P99,
    SIM_QUANTITY_P99_9,
    SIM_QUANTITY_DUPLICATES,  /* calls that ran twice / calls */
    SIM_QUANTITY_EXECUTIONS,  /* / calls */
    SIM_QUANTITY_REJECTS,     /* copies refused / calls */
    SIM_QUANTITY_EXTRA,       /* copies / calls - 1 */
    SIM_QUANTITY_UTILISATION, /* of the workers */
    SIM_QUANTITIES
};
const char *sim_quantity_name (enum sim_quantity quantity);

/* What must hold exactly in every replication. */
enum sim_identities {
    SIM_IDENTITIES_ONCE = 0, /* every call is answered and has run exactly once */
    SIM_IDENTITIES_TIED,     /* a copy that starts sends one STARTED, and so on */
    SIM_IDENTITIES_REFUSING, /* the same, but a copy whose sibling was refused is alone */
    SIM_IDENTITIES_ANSWERED, /* every call is answered */
    SIM_IDENTITIES_STABLE,   /* the backlog does not grow; nothing else is looked at */
    SIM_IDENTITIES_UNSTABLE  /* it does */
};

#define SIM_CHECKS_MAX 8

struct sim_check {
    enum sim_quantity quantity;
    double theory, slack;
    double width; /* half-width of the interval / theory, at most; 0: any */
};

struct sim_row {
    char name[80];
    const char *note; /* where the theory comes from, when it is not exact; NULL */
    struct sim_scenario scenario;
    double unit_ns; /* mean service time */
    enum sim_identities identities;
    struct sim_check checks[SIM_CHECKS_MAX];
    uint32_t checks_count;
};

struct sim_rows {
    struct sim_row *items;
    uint32_t count, size;
    bool full;
    bool is_short_of_memory; /* the list is not complete */
};

/* All rows of the quick or the full form. false: no memory. Free it in both cases. */
bool sim_rows_make (struct sim_rows *self, bool full);
void sim_rows_deinit (struct sim_rows *self);

/* For the files that make rows. NULL: no memory, nothing more will be added. The row is a Poisson
 * stream to n servers at that load, exponential service, times of messages next to nothing. The
 * name is formatted. */
struct sim_row *sim_rows_add (struct sim_rows *self, uint32_t n, double load, const char *name, ...)
    __attribute__ ((format (printf, 4, 5)));
/* Its only policy, and what follows for the identities. */
void sim_row_policy (struct sim_row *row, enum sim_policy_kind kind, uint32_t d);
/* "exp(1ms)" and its like, instead of exponential; the unit of time stays. */
void sim_row_service (struct sim_row *row, const char *text);
void sim_row_check (struct sim_row *row, enum sim_quantity quantity, double theory, double slack);
/* Mean and, if the theory has them, percentiles; the law is freed. slack_share: of each figure. */
void sim_row_law (struct sim_row *row, struct sim_theory *law, double slack_share);
/* Calls for intervals that are narrow enough, from what theory says of the variance of a mean.
 * busy: load with all duplicates; c2: of the service; factor: found by trial, about 1. */
void sim_row_length (struct sim_row *row, double mean, double busy, double c2, double factor);
/* The factor for several workers behind one queue, and for d = n: at low loads it is large. */
double sim_row_shared (double load);

/* Once the length is known: its warm-up, at the beginning of each replication. */
void sim_row_warm_up (struct sim_row *row, double replications);

/* The parts of the matrix. */
void sim_rows_queues (struct sim_rows *self);     /* verify_queues.c */
void sim_rows_redundancy (struct sim_rows *self); /* verify_redundancy.c */
void sim_rows_race (struct sim_rows *self);       /* verify_race.c */
void sim_rows_limits (struct sim_rows *self);     /* verify_limits.c: loss, refusal, hedges */

#endif
