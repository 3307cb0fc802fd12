/* SPDX-License-Identifier: MIT */
/* What may stand in a policy file, as tables of keys (yaml/schema.h). */
#ifndef TI_POLICY_SCHEMA_H
#define TI_POLICY_SCHEMA_H

#include "yaml/schema.h"

/* Of a method: fills a struct tied_policy. */
extern const struct ti_field ti_policy_fields[];

#endif
