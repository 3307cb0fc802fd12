/* SPDX-License-Identifier: MIT */
/* Refusals of keys, for the walk in schema.c. Each returns TIED_ERR_INVAL. */
#ifndef SIM_SCHEMA_REFUSE_H
#define SIM_SCHEMA_REFUSE_H

#include "scenario/schema.h"

/* unknown key "stager" in policies[0]: did you mean "stagger"? */
int sim_schema_refuse_unknown (struct sim_reader *reader,
                               const struct sim_field *fields,
                               const struct sim_node *node);
/* A key that has no meaning with what the map's first key selects. */
int sim_schema_refuse_uncounted (struct sim_reader *reader,
                                 const struct sim_field *fields,
                                 const struct sim_field *field,
                                 const struct sim_node *node,
                                 const void *base);

#endif
