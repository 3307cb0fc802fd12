/* SPDX-License-Identifier: MIT */
/* Integer fade and mean: the same result on every compiler. */
#include "core/load.h"

#include "base/assert.h"
#include "base/util.h"

#define INVERSE_BITS 62
#define UNIT_BITS    10
#define MEAN_BITS    6
#define MEAN_MARGIN  (4u * TI_LOAD_UNIT)

TI_STATIC_ASSERT (TI_LOAD_UNIT == 1u << UNIT_BITS, "the unit is a power of two");

void ti_load_scale_init (struct ti_load_scale *self, tied_duration_t age_ns)
{
    TI_ASSERT (age_ns >= 1 && age_ns <= UINT64_C (1) << INVERSE_BITS);
    self->age_ns = age_ns;
    self->inverse = (UINT64_C (1) << INVERSE_BITS) / age_ns;
}

static uint64_t total (const struct tied_load *load)
{
    return ((uint64_t)load->depth + load->running) * TI_LOAD_UNIT;
}

void ti_load_mean_report (struct ti_load_mean *self, const struct tied_load *load)
{
    const uint64_t mean = ti_load_mean (self);
    const uint64_t report = ti_min (total (load), 2 * mean + MEAN_MARGIN);
    if (self->scaled == 0)
        self->scaled = report << MEAN_BITS;
    else
        self->scaled = self->scaled - mean + report;
}

uint64_t ti_load_mean (const struct ti_load_mean *self)
{
    return self->scaled >> MEAN_BITS;
}

uint64_t ti_load_score (const struct ti_load_scale *self,
                        uint64_t mean,
                        const struct tied_load *load,
                        tied_time_t load_at,
                        uint32_t in_flight,
                        tied_time_t now)
{
    const uint64_t own = (uint64_t)in_flight * TI_LOAD_UNIT;
    const tied_duration_t age = ti_time_sub (now, load_at);
    if (load_at == 0 || age >= self->age_ns)
        return own + mean;
    /* age < age_ns, so the product stays below 2^62. */
    const uint64_t faded = (age * self->inverse) >> (INVERSE_BITS - UNIT_BITS);
    return own + ((total (load) * (TI_LOAD_UNIT - faded) + mean * faded) >> UNIT_BITS);
}
