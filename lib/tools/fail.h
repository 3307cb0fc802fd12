/* SPDX-License-Identifier: MIT */
/* What a program says when it cannot go on: one line, whatever the texts in it hold. */
#ifndef TI_FAIL_H
#define TI_FAIL_H

#include <stdarg.h>
#include <stdio.h>

/* Bytes of such a line with its NUL; what is longer is cut. */
#define TI_FAIL_MAX 1024

/*
 * "PROGRAM: TEXT\n". Names of files, replicas and methods come from outside and may hold any byte:
 * control characters become '?', so that a line stays a line and a terminal does nothing odd.
 *
 * @return TI_EXIT_FAILED
 */
int ti_fail (FILE *err, const char *program, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
int ti_fail_args (FILE *err, const char *program, const char *format, va_list args)
    __attribute__ ((format (printf, 3, 0)));

/* tied_error_text (), and what a person can do about it. */
const char *ti_fail_reason (int error);

/* "PROGRAM: cannot write PATH: REASON", the reason from errno. path NULL: standard output.
 * @return TI_EXIT_FAILED */
int ti_fail_write (FILE *err, const char *program, const char *path);

#endif
