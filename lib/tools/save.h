/* SPDX-License-Identifier: MIT */
/* A file that is written whole or not at all. */
#ifndef TI_SAVE_H
#define TI_SAVE_H

#include <stdio.h>

#include <tied/export.h>

/* Writes all of it. @return 0, TIED_ERR_SYSTEM (see errno) */
typedef int (ti_writer) (const void *context, FILE *file);

/*
 * Write to path by way of a new file beside it, so that a reader sees the old one or the new one.
 * Devices and pipes are written in place.
 *
 * @return 0, TIED_ERR_SYSTEM (see errno; path is unchanged)
 */
TIED_NODISCARD int ti_save (const char *path, ti_writer *writer, const void *context);

/* Whether that can be expected to work, before a long run whose result it will be.
 * @return 0, TIED_ERR_SYSTEM (see errno) */
TIED_NODISCARD int ti_save_check (const char *path);

#endif
