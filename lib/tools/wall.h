/* SPDX-License-Identifier: MIT */
/* Real time for programs that run in virtual time: how long something took, when to say so. */
#ifndef TI_WALL_H
#define TI_WALL_H

#include <tied/types.h>

/* Nanoseconds of a clock that only goes forward. */
tied_time_t ti_wall_now (void);

#endif
