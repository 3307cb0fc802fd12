/* SPDX-License-Identifier: MIT */
/*
 * Policies of scenarios as people write them in one word: the grammar of tools/policy_text.h with
 * the simulator's own words beside the library's modes.
 */
#ifndef SIM_POLICY_TEXT_H
#define SIM_POLICY_TEXT_H

#include "scenario/scenario.h"
#include "tools/policy_text.h"

#define SIM_POLICY_WHY_MAX TI_CLI_WHY_MAX

/* What a policy of this kind is before anything else is said of it. */
void sim_policy_init (struct sim_policy *self, enum sim_policy_kind kind);

/* @return 0 (*out is wholly set, its name is the text), TIED_ERR_INVAL (one line in why) */
TIED_NODISCARD int
sim_policy_parse (const char *text, struct sim_policy *out, char why[SIM_POLICY_WHY_MAX]);
/* As ti_hedge_parse (): sets hedge_ppm, or a rule that is a fixed delay. @return 0, TIED_ERR_INVAL
 */
TIED_NODISCARD int sim_hedge_parse (const char *text, struct sim_policy *out);

#endif
