/* SPDX-License-Identifier: MIT */
/* The invariants of health.h. */
#include "core/health.h"

#include <tied/policy.h>

#include "base/assert.h"
#include "base/util.h"

void ti_health_check (const struct ti_health *self)
{
    uint32_t members = 0;
    uint32_t out = 0;
    uint32_t unwell = 0;
    uint32_t latencies = 0;
    uint32_t known = 0;
    const struct ti_health_replica *replicas =
        TI_AT_CONST (struct ti_health_replica, self, self->replicas);
    for (uint32_t i = 0; i < self->max; i++) {
        const struct ti_health_replica *r = &replicas[i];
        TI_ASSERT (r->state <= TI_HEALTH_RAMP);
        TI_ASSERT (r->wanted >= 1 && r->wanted <= TI_HEALTH_WANTED_MAX * self->options.probes);
        TI_ASSERT (r->good < r->wanted);
        TI_ASSERT (r->failing_ppm <= TIED_PPM);
        if (r->state == TI_HEALTH_PROBATION) {
            TI_ASSERT (!r->is_known && r->latency == 0);
            TI_ASSERT (r->answered == 0 && r->failed == 0 && r->sum == 0);
        } else {
            TI_ASSERT (!r->is_probing);
            TI_ASSERT (r->good == 0);
        }
        members += r->is_member;
        out += r->is_member && r->state == TI_HEALTH_PROBATION;
        unwell += r->is_member && r->state != TI_HEALTH_WELL;
        latencies += r->is_member && r->latency > 0;
        known += r->is_member && r->is_known;
    }
    TI_ASSERT (self->members == members);
    TI_ASSERT (self->out == out);
    TI_ASSERT (self->unwell == unwell);
    TI_ASSERT (self->latency.total == latencies);
    TI_ASSERT (self->failing.total == known);
    ti_median_check (&self->latency);
    ti_median_check (&self->failing);
}
