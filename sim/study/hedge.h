/* SPDX-License-Identifier: MIT */
/*
 * Hedge delays that a scenario gives as a percentile of `single`: found by a pilot, which runs
 * single on the same workload with the seeds of the first replications.
 */
#ifndef SIM_HEDGE_H
#define SIM_HEDGE_H

#include "study/study.h"

/* Makes a fixed rule of hedge_ppm and clears it in the scenario's policies, and fills hedge_ns of
 * *out. */
TIED_NODISCARD int sim_hedge_resolve (struct sim_scenario *scenario,
                                      const struct sim_study_options *options,
                                      struct sim_study *out,
                                      char why[SIM_WHY_MAX]);

#endif
