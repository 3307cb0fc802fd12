/* SPDX-License-Identifier: MIT */
/* The reference page of a table (yaml/schema.h). */
#ifndef TI_SCHEMA_PAGE_H
#define TI_SCHEMA_PAGE_H

#include <stdio.h>

#include "yaml/schema.h"

/* Tables of all keys as Markdown, one section for each map, with the defaults found at base.
 * @return 0, TIED_ERR_SYSTEM (no memory) */
TIED_NODISCARD int
ti_schema_print_tables (const struct ti_schema *schema, const void *base, FILE *file);
/* "a duration [0s, 1h]"; "0.7". */
void ti_schema_print_type (const struct ti_field *field, FILE *file);
void ti_schema_print_default (const struct ti_field *field, const void *base, FILE *file);

#endif
