/* SPDX-License-Identifier: MIT */
/* What a program says of its command line: one line on standard error. */
#include "cli.h"

#include <stdarg.h>

#include "fail.h"

int ti_cli_error (const struct ti_cli *cli, const char *format, ...)
{
    va_list args;
    va_start (args, format);
    ti_fail_args (cli->err ? cli->err : stderr, cli->program, format, args);
    va_end (args);
    return TI_EXIT_USAGE;
}
