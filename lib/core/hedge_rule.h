/* SPDX-License-Identifier: MIT */
/* What the rest of the core asks of a hedge rule; its text is in <tied/policy.h>. */
#ifndef TI_HEDGE_RULE_H
#define TI_HEDGE_RULE_H

#include <stdbool.h>

#include <tied/policy.h>

/* The longest delay that a rule may name. */
#define TI_HEDGE_DELAY_MAX TIED_S (3600)

/* Every field in its range: kind, number of terms, each term in use. */
bool ti_hedge_rule_is_valid (const struct tied_hedge_rule *rule);

#endif
