/* SPDX-License-Identifier: MIT */
#include "fail.h"

#include <errno.h>
#include <string.h>

#include <tied/error.h>

#include "cli.h"
#include "text/quote.h"

int ti_fail_args (FILE *err, const char *program, const char *format, va_list args)
{
    char text[TI_FAIL_MAX];
    vsnprintf (text, sizeof text, format, args);
    fprintf (err, "%s: %s\n", program, ti_plain (text));
    return TI_EXIT_FAILED;
}

int ti_fail (FILE *err, const char *program, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    ti_fail_args (err, program, format, args);
    va_end (args);
    return TI_EXIT_FAILED;
}

const char *ti_fail_reason (int error)
{
    if (error == TIED_ERR_SYSTEM)
        return "the operating system or libzmq refused a resource: descriptors (ulimit -n), "
               "threads or memory";
    return tied_error_text (error);
}

int ti_fail_write (FILE *err, const char *program, const char *path)
{
    const char *reason = strerror (errno);
    return ti_fail (err, program, "cannot write %s: %s", path ? path : "to standard output",
                    reason);
}
