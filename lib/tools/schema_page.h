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

/* What every such page says. "# TITLE", and that it is printed from the table in SOURCE. */
void ti_schema_print_title (const char *title, const char *source, FILE *file);
/* INTRODUCTION, then EXAMPLES of refusals, each a line, and what no file of ours may have. */
void ti_schema_print_refusals (const char *introduction, const char *examples, FILE *file);
/* The section Values: how a duration is written, then MORE items of the list. */
void ti_schema_print_values (const char *more, FILE *file);

#endif
