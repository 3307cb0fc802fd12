/* SPDX-License-Identifier: MIT */
/*
 * Stalls at fixed times: of all workers, for a length, whenever the wall clock is at an offset
 * within a period. Replicas with one period and offsets that are further apart than the length
 * never stall together, whenever they were started. Nothing is drawn here and nothing is kept.
 */
#ifndef APP_STALL_H
#define APP_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/types.h>

#include "tools/cli.h"

struct stall {
    uint64_t period_ns; /* 0: no stalls */
    uint64_t offset_ns; /* [0, period) */
    uint64_t length_ns; /* (0, period) */
};

/* Whether it is meant: "every:..." */
bool stall_is_text (const char *text);
/* "every:4s+1s,200ms": period, offset (without it 0s), length. 0, or negative with one line in why
   and *out as it was. */
TIED_NODISCARD int stall_parse (const char *text, struct stall *out, char why[TI_CLI_WHY_MAX]);

/* Nanoseconds of CLOCK_REALTIME. */
uint64_t stall_clock (void);
/* Whether a stall holds at that time of the wall clock. *out_left: until it ends; else until the
   next one begins, TIED_NEVER if there are none. */
bool stall_holds (const struct stall *self, uint64_t wall_ns, tied_duration_t *out_left);

#endif
