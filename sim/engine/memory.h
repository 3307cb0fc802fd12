/* SPDX-License-Identifier: MIT */
/*
 * Memory that cannot be had in the middle of a step. The queue of events and the tables of a world
 * grow while a core's actions are carried out, many calls deep; rather than test each of them at
 * every event, what fails there goes back to where the run was begun, which frees all of it and
 * returns an error. Nothing is half written: who grows keeps what it had until it has more.
 *
 *     struct sim_memory_guard guard;
 *     sim_memory_guard_enter (&guard);
 *     if (setjmp (guard.back) != 0)
 *         return ...;                    the guard is left already
 *     ...
 *     sim_memory_guard_leave (&guard);
 *
 * In a function of its own, whose variables are not used after the jump. Guards nest, and each
 * thread has its own.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <setjmp.h>

#include "base/util.h"

struct sim_memory_guard {
    jmp_buf back;
    struct sim_memory_guard *outer;
};

void sim_memory_guard_enter (struct sim_memory_guard *self);
void sim_memory_guard_leave (struct sim_memory_guard *self);
/* To the innermost guard of this thread. Without one: an assertion. */
TI_COLD _Noreturn void sim_memory_failed (void);

#endif
