/* SPDX-License-Identifier: MIT */
/*
 * The engine that runs the shipped cores: client and replica hosts, links that carry encoded
 * headers, workers, virtual time. No policy is here: what a client or replica decides, it decides
 * in lib/core. The reference policies are in sim/reference.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "study/run.h"

/* As sim_run (), for a policy that is not a reference. */
TIED_NODISCARD int sim_world_run (const struct sim_run_options *options,
                                  struct sim_result *result,
                                  char why[SIM_WHY_MAX]);

#endif
