/* SPDX-License-Identifier: MIT */
/* Smoothing in eighths, so that small differences are not lost to rounding. */
#include "core/delay.h"

#include "base/util.h"

#define GAIN       8u
#define SAMPLE_MAX TIED_S (3600)

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
    return true;
}

tied_duration_t ti_delay_round_trip (const struct ti_delay *self)
{
    return self->scaled / GAIN;
}

tied_duration_t ti_delay_stagger (const struct ti_stagger_limits *limits,
                                  tied_duration_t round_trip_a,
                                  tied_duration_t round_trip_b)
{
    const tied_duration_t a = round_trip_a ? round_trip_a : limits->initial_ns;
    const tied_duration_t b = round_trip_b ? round_trip_b : limits->initial_ns;
    return ti_max (limits->floor_ns, ti_min (ti_max (a, b), limits->ceiling_ns));
}
