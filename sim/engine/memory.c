/* SPDX-License-Identifier: MIT */
#include "engine/memory.h"

#include "base/assert.h"

static _Thread_local struct sim_memory_guard *innermost;

void sim_memory_guard_enter (struct sim_memory_guard *self)
{
    self->outer = innermost;
    innermost = self;
}

void sim_memory_guard_leave (struct sim_memory_guard *self)
{
    TI_ASSERT (innermost == self);
    innermost = self->outer;
}

void sim_memory_failed (void)
{
    struct sim_memory_guard *guard = innermost;

    TI_ASSERT (guard != NULL && "memory");
    innermost = guard->outer;
    longjmp (guard->back, 1);
}
