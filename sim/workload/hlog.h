/* SPDX-License-Identifier: MIT */
/*
 * jHiccup logs: HdrHistogram interval logs of version 1.2 and 1.3, with V2 histograms. For pauses
 * the largest value of each interval is used: the histograms are filled in for missed wake-ups, so
 * they tell what arrivals met, not how many pauses there were.
 */
#ifndef SIM_HLOG_H
#define SIM_HLOG_H

#include <stdbool.h>

#include "base/hist.h"
#include "workload/csv.h"

/* Shorter ones are the scheduler's, not a pause of the system. */
#define SIM_HLOG_PAUSE_MIN_NS UINT64_C (1000000)

struct sim_hlog_interval {
    uint64_t start_ns, length_ns, max_ns;
};

/*
 * One line of data, read by csv. If hist is not NULL the samples of its histogram are added to it,
 * each at the largest value of its bucket.
 * @return 1; 0: no data (comment, heading); TIED_ERR_INVAL: why
 */
TIED_NODISCARD int sim_hlog_line (const struct sim_csv *csv,
                                  struct sim_hlog_interval *out,
                                  struct ti_hist *hist,
                                  char why[SIM_WHY_MAX]);

#endif
