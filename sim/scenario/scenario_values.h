/* SPDX-License-Identifier: MIT */
/* Values of a scenario that have a grammar of their own, for the table in scenario_schema.c. */
#ifndef SIM_SCENARIO_VALUES_H
#define SIM_SCENARIO_VALUES_H

#include "yaml/schema.h"

ti_parse_fn sim_parse_dist, sim_parse_extra, sim_parse_file, sim_parse_policy_kind, sim_parse_hedge,
    sim_parse_ppm, sim_parse_milli, sim_parse_probation, sim_parse_target, sim_parse_percentile,
    sim_parse_ms, sim_parse_extends;
void sim_published_init (void *item);
void sim_policy_item_init (void *item);

#endif
