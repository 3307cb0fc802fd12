/* SPDX-License-Identifier: MIT */
/* The reference page docs/policy.md. */
#ifndef TI_POLICY_PAGE_H
#define TI_POLICY_PAGE_H

#include <stdio.h>

#include <tied/export.h>

/* @return 0, TIED_ERR_SYSTEM: no memory */
TIED_NODISCARD int ti_policy_print_page (FILE *file);

#endif
