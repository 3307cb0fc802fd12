/* SPDX-License-Identifier: MIT */
#include "document_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

int ti_document_read_file (const char *path,
                           char **out_text,
                           size_t *out_size,
                           char why[TI_DOCUMENT_WHY_MAX])
{
    FILE *file = fopen (path, "rb");
    char *text = file ? malloc (TI_DOCUMENT_BYTES_MAX + 1) : NULL;
    if (!text) {
        snprintf (why, TI_DOCUMENT_WHY_MAX, "%.160s: %s", path, strerror (file ? ENOMEM : errno));
        int rc = file ? TIED_ERR_SYSTEM : TIED_ERR_INVAL;
        if (file)
            fclose (file);
        return rc;
    }
    size_t size = fread (text, 1, TI_DOCUMENT_BYTES_MAX + 1, file);
    int error = ferror (file) ? errno : 0;
    fclose (file);
    if (error || size > TI_DOCUMENT_BYTES_MAX) {
        snprintf (why, TI_DOCUMENT_WHY_MAX, "%.160s: %s", path,
                  error ? strerror (error) : "is larger than 1 MiB");
        free (text);
        return TIED_ERR_INVAL;
    }
    *out_text = text;
    *out_size = size;
    return 0;
}
