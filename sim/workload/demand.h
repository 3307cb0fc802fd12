/* SPDX-License-Identifier: MIT */
/*
 * What one execution of a call costs at speed 1, drawn by key (engine/stream.h): the same for every
 * policy. Knows nothing of queues or time.
 */
#ifndef SIM_DEMAND_H
#define SIM_DEMAND_H

#include "scenario/scenario.h"

/* @return ns, at least 1 */
uint64_t sim_demand (const struct sim_workload *workload,
                     uint64_t seed,
                     uint64_t call,
                     uint32_t replica,
                     uint32_t copy);

#endif
