/* SPDX-License-Identifier: MIT */
/* The file that --stats asks for: what a replica has counted, as JSON (docs/json.md). */
#ifndef APP_STATS_H
#define APP_STATS_H

#include <stdio.h>

#include <tied/replica.h>

#include "tools/cli.h"

/* Does not close the file. 0; TIED_ERR_SYSTEM: a write failed, see errno. */
TIED_NODISCARD int
stats_write (FILE *file, tied_replica_t *replica, const char *id, const struct ti_pairs *peers);

#endif
