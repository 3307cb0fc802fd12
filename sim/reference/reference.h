/* SPDX-License-Identifier: MIT */
/*
 * Policies to compare with, which no part of tied offers: ideal queues and the balancers of papers.
 * Servers are plain FIFO queues with workers. Calls and answers take the scenario's delay between
 * client and replica, those of the central queue too, so that percentiles compare; what a client
 * knows is as old as its policy's messages make it. Only the ideal policies (IDEAL_*) know no
 * delay. Arrivals and demands are those of the world, draw by draw.
 */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "study/run.h"

/* As sim_run (), for a reference policy. */
TIED_NODISCARD int sim_reference_run (const struct sim_run_options *options,
                                      struct sim_result *result,
                                      char why[SIM_WHY_MAX]);

#endif
