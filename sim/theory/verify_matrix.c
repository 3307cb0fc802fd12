/* SPDX-License-Identifier: MIT */
/* All rows of the comparison with theory. */
#include "theory/verify_rows.h"

bool sim_rows_make (struct sim_rows *self, bool full)
{
    *self = (struct sim_rows){.full = full};
    sim_rows_queues (self);
    sim_rows_redundancy (self);
    sim_rows_race (self);
    sim_rows_limits (self);
    return !self->is_short_of_memory;
}
