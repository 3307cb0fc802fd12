/* SPDX-License-Identifier: MIT */
/*
 * What must hold between the values of a scenario so that it can be run, and ends in a time that
 * somebody can wait for. Ranges of single values are in the schema's table; here are those that a
 * program can get past, and what depends on several. Each is written once, whoever gave the
 * scenario: the reader adds the place in the file, sim_run () the policy.
 */
#ifndef SIM_LIMITS_H
#define SIM_LIMITS_H

#include "scenario/scenario.h"

/* Replicas that a client knows: as the client core bounds it. */
#define SIM_KNOWN_MAX   4096u
#define SIM_WORKERS_MAX 4096u

#define SIM_WRONG_PATH_MAX 96
#define SIM_WRONG_TEXT_MAX 160

struct sim_wrong {
    char path[SIM_WRONG_PATH_MAX]; /* the key that says it, "replicas.subset" */
    char text[SIM_WRONG_TEXT_MAX]; /* what is wrong with it */
};

/* Each returns true when something is, and says what it found first. */

/* For any policy. */
bool sim_scenario_is_wrong (const struct sim_scenario *self, struct sim_wrong *out);
/* For this policy of it, which must exist. */
bool sim_policy_is_wrong (const struct sim_scenario *self, uint32_t policy, struct sim_wrong *out);
/* The same, of what may change after the scenario was read (the policies that are run, load,
 * amount): the network is nothing for this policy, or a replication would take longer than anyone
 * waits. */
bool sim_policy_cannot_run (const struct sim_scenario *self,
                            uint32_t policy,
                            struct sim_wrong *out);

#endif
