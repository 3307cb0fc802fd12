/* SPDX-License-Identifier: MIT */
/* Smoothing in fractions, so that small differences are not lost to rounding. */
#include "core/delay.h"

#include "base/util.h"

#define GAIN       8u
#define SAMPLE_MAX TIED_S (3600)
/* Calls come far more often than the acknowledgements of RFC 6298: slower than its 1/8 and 1/4. */
#define WAY_GAIN 16u
/* A process that was not scheduled for once says little about the next call: a sample counts as at
 * most so many times the bound. A way that has become longer is followed all the same, in steps. */
#define OUTLIER    2u
#define DEVIATIONS 4u

void ti_delay_forget_probes (struct ti_delay *self)
{
    for (int i = 0; i < TI_DELAY_PROBES; i++)
        self->probes[i] = 0;
}

void ti_delay_probe_sent (struct ti_delay *self, tied_time_t now)
{
    self->probes[self->next] = now;
    self->next = (self->next + 1) % TI_DELAY_PROBES;
}

/* way is in [1, SAMPLE_MAX]. */
static void add_way (struct ti_delay *self, tied_duration_t way)
{
    if (self->mean == 0) {
        /* One sample tells nothing about the next: half of it, as RFC 6298 has it. */
        self->mean = way * WAY_GAIN;
        self->deviation = way * WAY_GAIN / 2;
        return;
    }
    const tied_duration_t sample = ti_min (way, OUTLIER * ti_delay_bound (self));
    const tied_duration_t mean = ti_delay_way (self);
    const tied_duration_t distance = sample > mean ? sample - mean : mean - sample;
    self->deviation = self->deviation - self->deviation / WAY_GAIN + distance;
    self->mean = ti_max (WAY_GAIN, self->mean - mean + sample);
}

bool ti_delay_echo (struct ti_delay *self, tied_time_t echo, tied_time_t now)
{
    if (echo == 0 || echo > now)
        return false;
    int found = -1;
    for (int i = 0; i < TI_DELAY_PROBES; i++)
        if (self->probes[i] == echo)
            found = i;
    if (found < 0)
        return false;
    self->probes[found] = 0;
    /* At least 1, so that a measured round trip is never mistaken for none. */
    const uint64_t sample = ti_max (1, ti_min (now - echo, SAMPLE_MAX));
    if (self->scaled == 0)
        self->scaled = sample * GAIN;
    else
        self->scaled = ti_max (GAIN, self->scaled - self->scaled / GAIN + sample);
    add_way (self, sample);
    return true;
}

void ti_delay_call (struct ti_delay *self, tied_duration_t way)
{
    add_way (self, ti_max (1, ti_min (way, SAMPLE_MAX)));
}

tied_duration_t ti_delay_round_trip (const struct ti_delay *self)
{
    return self->scaled / GAIN;
}

tied_duration_t ti_delay_way (const struct ti_delay *self)
{
    return self->mean / WAY_GAIN;
}

tied_duration_t ti_delay_deviation (const struct ti_delay *self)
{
    return self->deviation / WAY_GAIN;
}

tied_duration_t ti_delay_bound (const struct ti_delay *self)
{
    return ti_delay_way (self) + self->deviation * DEVIATIONS / WAY_GAIN;
}
