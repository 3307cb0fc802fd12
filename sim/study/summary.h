/* SPDX-License-Identifier: MIT */
/* What the replications of one policy say together, one after the other, in constant memory. */
#ifndef SIM_SUMMARY_H
#define SIM_SUMMARY_H

#include "study/statistics.h"
#include "study/study.h"

/* The figures of one replication that are compared between policies; NaN: no sample. */
struct sim_figures {
    double mean_ns;
    double percentile_ns[SIM_PERCENTILES];
};

struct sim_summing {
    struct sim_series mean, percentile[SIM_PERCENTILES], asked;
    struct sim_series copies, executions, duplicates, utilisation, depth, wasted;
    struct sim_series mean_minus, p99_minus, p999_minus;
};

/* Where p99 and p99.9 stand in sim_percentiles. */
#define SIM_AT_P99   3
#define SIM_AT_P99_9 4

void sim_figures_of (const struct sim_result *result, struct sim_figures *out);

/* @param baseline  the figures of the same replication of the first policy; NULL: this is it */
void sim_summing_add (struct sim_summing *self,
                      const struct sim_result *result,
                      uint32_t ppm,
                      const struct sim_figures *figures,
                      const struct sim_figures *baseline);
/* Fills the estimates; sum, hedge_ns and unstable are the caller's. */
void sim_summing_finish (const struct sim_summing *self, struct sim_policy_summary *out);

#endif
