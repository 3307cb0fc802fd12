/* SPDX-License-Identifier: MIT */
/* A page of docs/ that a table prints: what stands there is what is printed. Include it after
 * check.h. */
#ifndef TIED_TEST_PAGE_H
#define TIED_TEST_PAGE_H

#include <stdio.h>

typedef int (page_printer) (FILE *file);

/* The page as it is printed; free () it. */
char *page_print (page_printer *printer);
/* It is what docs/NAME says. TIED_REWRITE=1 in the environment writes that file first. */
void page_check (page_printer *printer, const char *name);

#endif
