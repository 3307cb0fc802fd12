/* SPDX-License-Identifier: MIT */
/*
 * Many replications of all policies of a scenario, what they say together, and with what certainty.
 * Policies of one replication meet the same arrivals and demands, so their difference is paired.
 * The order in which results are combined is fixed: any number of jobs gives the same bits.
 */
#ifndef SIM_STUDY_H
#define SIM_STUDY_H

#include "scenario/scenario.h"
#include "study/result.h"
#include "study/run.h"

#define SIM_PERCENTILES 6                               /* p50 p90 p95 p99 p99.9 max */
extern const uint32_t sim_percentiles[SIM_PERCENTILES]; /* ppm */

/* A mean over replications and the half-width of its 95 % interval (Student's t); half is NaN with
 * one replication. */
struct sim_estimate {
    double value;
    double half;
};

struct sim_policy_summary {
    struct sim_result sum; /* all replications merged; wall_ns summed */
    struct sim_estimate mean_ns;
    struct sim_estimate percentile_ns[SIM_PERCENTILES];
    struct sim_estimate copies_per_call, executions_per_call, duplicate_fraction, utilisation;
    struct sim_estimate queue_depth;  /* copies waiting at one replica, mean over time */
    struct sim_estimate wasted_share; /* wasted_ns / served_ns */
    /* The percentile options.ppm over all requests, those without an answer counted as endless:
       infinite when too few were answered. Not set without options.ppm. */
    struct sim_estimate asked_ns;
    /* This policy minus the baseline (the scenario's first), replication by replication. */
    struct sim_estimate mean_minus_ns, p99_minus_ns, p999_minus_ns;
    tied_duration_t hedge_ns; /* used, when the scenario gives a percentile; else TIED_NEVER */
    uint32_t unstable;        /* replications that were */
};

/* The mean over replications of a percentile of sim_percentiles, or of the mean (ppm 0): what is
 * shown everywhere; ns, NaN: no sample, or no such percentile. */
double sim_figure_ns (const struct sim_policy_summary *self, uint32_t ppm);

struct sim_study {
    const struct sim_scenario *scenario;
    double load;           /* offered; negative: not known (closed loop) */
    uint32_t replications; /* done */
    bool out_of_time;
    tied_duration_t wall_ns; /* real time of it all */
    uint32_t policies_count;
    struct sim_policy_summary policies[SIM_POLICIES_MAX];
};

#define SIM_JOBS_MAX 256

/* sim_run (), or what takes its place in a test; called on several threads at once. */
typedef int (sim_runner) (const struct sim_run_options *options,
                          struct sim_result *result,
                          char why[SIM_WHY_MAX]);

struct sim_study_options {
    uint32_t jobs;      /* threads, [1, SIM_JOBS_MAX]; 0: 1 */
    sim_runner *runner; /* NULL: sim_run () */
    uint32_t ppm;       /* of asked_ns; 0: not asked */
    double step;        /* of capacity, between loads; 0: 0.01 */
    /* From time to time on the caller's thread: done of all tasks, ns of real time left by
     * estimate; may be NULL. */
    void (*progress) (void *context, uint64_t done, uint64_t all, tied_duration_t left);
    void *context;
    /* Asked from time to time: true ends it like a budget that is spent. NULL: it runs on. */
    bool (*is_interrupted) (void);
    enum sim_fault fault;
    bool checks;
};

/*
 * The amount says when it ends: after its replications; with a precision, at the first check, after
 * 10, 15, 20... of them, that finds p99 of every stable policy narrow enough; or when the budget of
 * real time is spent. Replications that are running then are abandoned: only whole ones count, and
 * there may be none (sim_study_is_empty ()). Only the budget depends on the machine.
 *
 * @return as sim_run (). On success deinit it.
 */
TIED_NODISCARD int sim_study_run (const struct sim_scenario *scenario,
                                  const struct sim_study_options *options,
                                  struct sim_study *out,
                                  char why[SIM_WHY_MAX]);
/* Nothing was measured; why says the reason. */
bool sim_study_is_empty (const struct sim_study *self, char why[SIM_WHY_MAX]);
void sim_study_deinit (struct sim_study *self);
/* More than half of the replications were unstable: its percentiles mean nothing. */
bool sim_study_is_unstable (const struct sim_study *self, uint32_t policy);
/* Seed of a replication, the same for all policies and loads. */
uint64_t sim_study_seed (uint64_t seed, uint32_t replication);

/*
 * The highest load at which the policy's p99 (or another percentile) is at most goal_ns, by
 * bisection over the multiples of options.step below 1. A load is met when the upper end of the
 * interval is at most the goal and the policy is stable; requests without an answer count as
 * endless, so that rejecting does not help.
 */
struct sim_capacity {
    double load;                       /* 0: not even at the lowest load tried */
    double step;                       /* load + step failed */
    struct sim_estimate percentile_ns; /* at load */
};
TIED_NODISCARD int sim_study_capacity (const struct sim_scenario *scenario,
                                       const struct sim_study_options *options,
                                       uint32_t policy,
                                       uint32_t ppm,
                                       tied_duration_t goal_ns,
                                       struct sim_capacity *out,
                                       char why[SIM_WHY_MAX]);

#endif
