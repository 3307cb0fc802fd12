/* SPDX-License-Identifier: MIT */
/* What the parts of the command line module share: the loop, the values, the help. */
#ifndef TI_CLI_INTERNAL_H
#define TI_CLI_INTERNAL_H

#include "cli.h"

/*
 * Store text as the value of option. Errors are printed.
 * @return TI_CLI_RUN, TI_CLI_WRONG
 */
enum ti_cli_verdict
ti_cli_store (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text);

#define TI_CLI_RANGE_MAX 320
/* What the option accepts: "a duration from 1us to 10s, as in 5ms". @return buffer */
const char *ti_cli_range (const struct ti_cli_option *option, char buffer[TI_CLI_RANGE_MAX]);

#endif
