/* SPDX-License-Identifier: MIT */
/*
 * Policies as people write them in one word. It extends what `tied-client bench --policy` takes,
 * with the same meaning: KIND[(D)][:STAGGER][+hedge:DELAY][/WORD]..., where a WORD is a way to pick
 * (random, informed, round-robin), the delay of a hedge (10ms, p95), or keep.
 */
#ifndef SIM_POLICY_TEXT_H
#define SIM_POLICY_TEXT_H

#include "scenario/scenario.h"

#define SIM_POLICY_WHY_MAX 160

/* Numbers are those of enum tied_pick; ends with NULL. */
extern const char *const sim_pick_words[];

/* What a policy of this kind is before anything else is said of it. */
void sim_policy_init (struct sim_policy *self, enum sim_policy_kind kind);

/* @return 0 (*out is wholly set, its name is the text), TIED_ERR_INVAL (one line in why) */
TIED_NODISCARD int
sim_policy_parse (const char *text, struct sim_policy *out, char why[SIM_POLICY_WHY_MAX]);
/* A percentile or a duration, 0s included: sets hedge_ppm and hedge_ns. @return 0, TIED_ERR_INVAL
 */
TIED_NODISCARD int sim_hedge_parse (const char *text, struct sim_policy *out);
/* "p95", "p99.9" -> ppm. @return 0, TIED_ERR_INVAL */
TIED_NODISCARD int sim_percentile_parse (const char *text, uint32_t *out_ppm);

#endif
