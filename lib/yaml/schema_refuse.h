/* SPDX-License-Identifier: MIT */
/* Refusals of keys, for the walk in schema.c. Each returns TIED_ERR_INVAL. */
#ifndef TI_SCHEMA_REFUSE_H
#define TI_SCHEMA_REFUSE_H

#include "yaml/schema.h"

/* unknown key "stager" in policies[0]: did you mean "stagger"? */
int ti_schema_refuse_unknown (struct ti_reader *reader,
                              const struct ti_field *fields,
                              const struct ti_node *node);
/* A key that has no meaning with what the map's first key selects. */
int ti_schema_refuse_uncounted (struct ti_reader *reader,
                                const struct ti_field *fields,
                                const struct ti_field *field,
                                const struct ti_node *node,
                                const void *base);

#endif
