/* SPDX-License-Identifier: MIT */
/* A table of recorded arrivals, as a stream that repeats. */
#include "scenario/scenario.h"

double sim_table_period_ns (const struct sim_table *times)
{
    if (times->count == 0)
        return 0;
    double count = (double)times->count;
    double span = (double)(times->values[times->count - 1] - times->values[0]);
    return times->count > 1 && span > 0 ? span * count / (count - 1) : 1e9;
}

double sim_table_rate_per_s (const struct sim_table *times)
{
    return times->count ? 1e9 * (double)times->count / sim_table_period_ns (times) : 0;
}
