/* SPDX-License-Identifier: MIT */
/* The bytes of a file, for documents. */
#ifndef TI_DOCUMENT_FILE_H
#define TI_DOCUMENT_FILE_H

#include <stddef.h>

#include "yaml/document.h"

/* A pipe whose writer does not come, or not come to an end, is waited for so long. */
#define TI_DOCUMENT_PATIENCE_MS 3000

/* The whole file, malloc'ed, at most TI_DOCUMENT_BYTES_MAX. @return 0, TIED_ERR_INVAL,
 * TIED_ERR_NOMEM: why has one line */
TIED_NODISCARD int ti_document_read_file (const char *path,
                                          char **out_text,
                                          size_t *out_size,
                                          char why[TI_DOCUMENT_WHY_MAX]);

#endif
