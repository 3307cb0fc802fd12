/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "page.h"

#include <stdlib.h>
#include <string.h>

char *page_print (page_printer *printer)
{
    char *page = NULL;
    size_t size = 0;
    FILE *file = open_memstream (&page, &size);
    CHECK_TRUE (file != NULL);
    CHECK_I64 (printer (file), ==, 0);
    CHECK_I64 (fclose (file), ==, 0);
    return page;
}

static void rewrite (const char *path, const char *page)
{
    FILE *file = fopen (path, "w");
    CHECK_TRUE (file != NULL);
    fputs (page, file);
    CHECK_I64 (fclose (file), ==, 0);
}

void page_check (page_printer *printer, const char *name)
{
    char path[512];
    char *page = page_print (printer);
    size_t size = strlen (page);
    char *written = calloc (1, size + 2);
    CHECK_TRUE (written != NULL);
    snprintf (path, sizeof path, "%s/docs/%s", TIED_SOURCE_DIR, name);
    if (getenv ("TIED_REWRITE"))
        rewrite (path, page);
    FILE *file = fopen (path, "r");
    CHECK_TRUE (file != NULL);
    size_t read = fread (written, 1, size + 1, file);
    fclose (file);
    if (read != size || strcmp (page, written) != 0)
        print_error ("docs/%s is out of date: run this test with TIED_REWRITE=1\n", name);
    CHECK_STR (written, page);
    free (written);
    free (page);
}
