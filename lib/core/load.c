/* SPDX-License-Identifier: MIT */
/* Integer fade and mean: the same result on every compiler. */
#include "core/load.h"

#include "base/assert.h"
#include "base/util.h"

#define MEAN_MARGIN (4u * TI_LOAD_UNIT)

void ti_load_scale_init (struct ti_load_scale *self, tied_duration_t age_ns)
{
    TI_ASSERT (age_ns >= 1 && age_ns <= UINT64_C (1) << TI_LOAD_INVERSE_BITS);
    self->age_ns = age_ns;
    self->inverse = (UINT64_C (1) << TI_LOAD_INVERSE_BITS) / age_ns;
}

void ti_load_mean_report (struct ti_load_mean *self, const struct tied_load *load)
{
    const uint64_t mean = ti_load_mean (self);
    const uint64_t report = ti_min (ti_load_total (load), 2 * mean + MEAN_MARGIN);
    if (self->scaled == 0)
        self->scaled = report << TI_LOAD_MEAN_BITS;
    else
        self->scaled = self->scaled - mean + report;
}
