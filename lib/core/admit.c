/* SPDX-License-Identifier: MIT */
#include "admit.h"

#include "base/util.h"

/* Longer services count as this (18 minutes): with it no product below can overflow. */
#define SERVICE_MAX_NS (UINT64_C (1) << 40)
#define SHARE_BITS     20

void ti_admit_init (struct ti_admit *self, const struct tied_replica_core_options *options)
{
    uint32_t hedge_depth = options->hedge_depth;

    if (hedge_depth == 0) {
        /* Fewer than 3 waiting copies is so short a queue that refusing there throws most of the
         * gain of a second copy away. */
        hedge_depth = (uint32_t)ti_max (4 * (uint64_t)options->workers, 3);
        hedge_depth = (uint32_t)ti_min (hedge_depth, options->queue_depth);
    }
    self->service_x8 = 0;
    self->per_copy_ns = 0;
    self->share = (UINT64_C (1) << SHARE_BITS) / options->workers;
    self->queue_depth = options->queue_depth;
    self->hedge_depth = hedge_depth;
    self->hedge_wait_ns = options->hedge_wait_ns;
    self->turns = ti_admit_turns_max (hedge_depth);
    self->is_measured = false;
}

void ti_admit_measure (struct ti_admit *self, tied_duration_t service_ns)
{
    uint64_t sample = ti_min (service_ns, SERVICE_MAX_NS);

    if (self->is_measured)
        self->service_x8 += sample - self->service_x8 / 8;
    else
        self->service_x8 = sample * 8;
    self->is_measured = true;
    self->per_copy_ns = ((self->service_x8 / 8) * self->share) >> SHARE_BITS;
}

enum tied_reject ti_admit_decide (const struct ti_admit *self,
                                  uint32_t depth,
                                  uint32_t ahead,
                                  bool is_extra,
                                  tied_duration_t remaining_ns)
{
    tied_duration_t wait_ns = ti_admit_wait (self, ahead);

    if (is_extra && (ahead >= self->hedge_depth || wait_ns > self->hedge_wait_ns))
        return TIED_REJECT_BUSY;
    if (depth >= self->queue_depth)
        return TIED_REJECT_FULL;
    if (wait_ns > remaining_ns)
        return TIED_REJECT_TOO_LATE;
    return TIED_REJECT_NONE;
}
