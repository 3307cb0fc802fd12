/* SPDX-License-Identifier: MIT */
/*
 * Settings of methods from a YAML file (docs/policy.md). What may stand in it is the table of
 * policy_schema.c and nothing else. The text is hostile: bounded, and refused with one line,
 * "FILE:LINE:COLUMN: ...". Nothing is applied here.
 */
#ifndef TI_POLICY_FILE_H
#define TI_POLICY_FILE_H

#include <tied/policy.h>

#include "yaml/document.h"
#include "yaml/schema.h"

struct ti_named_policy {
    char name[TIED_NAME_MAX + 1];
    struct tied_policy policy;
};

struct ti_policies {
    uint32_t count;                /* at least 1 */
    struct ti_named_policy *items; /* malloc'ed; number 0 is "*" */
};

/* The file as a whole: `methods` fills a struct ti_policies. */
extern const struct ti_schema ti_policy_schema;

/* max: of names, "*" among them. @return 0 (deinit it), TIED_ERR_INVAL, TIED_ERR_FULL (more names
 * than max), TIED_ERR_NOMEM: *out is unchanged, why has one line */
TIED_NODISCARD int ti_policies_read_file (const char *path,
                                          uint32_t max,
                                          struct ti_policies *out,
                                          char why[TI_DOCUMENT_WHY_MAX]);
/* The same with the text itself; name stands in messages. */
TIED_NODISCARD int ti_policies_read_text (const char *name,
                                          const char *text,
                                          size_t size,
                                          uint32_t max,
                                          struct ti_policies *out,
                                          char why[TI_DOCUMENT_WHY_MAX]);
void ti_policies_deinit (struct ti_policies *self);

#endif
