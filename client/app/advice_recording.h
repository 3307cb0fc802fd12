/* SPDX-License-Identifier: MIT */
/* Samples for advice from the CSV that tied-client bench --record writes. */
#ifndef TIED_CLIENT_ADVICE_RECORDING_H
#define TIED_CLIENT_ADVICE_RECORDING_H

#include "advice.h"
#include "tools/cli.h"

/* policy: whose calls; NULL: of the one policy there is, or else of the one that makes single
 * copies. 0, or negative and one line in why: then nothing is left in *out. */
TIED_NODISCARD int advice_read_recording (const char *path,
                                          const char *policy,
                                          struct advice_samples *out,
                                          char why[TI_CLI_WHY_MAX]);

#endif
