/* SPDX-License-Identifier: MIT */
/*
 * Load score of a replica: what it reported, fading linearly with age to the mean of what all
 * report, plus this client's own copies in flight there, which no report can know yet. A replica
 * of which nothing is known counts as an average one: if it counted as idle, every client would
 * send its calls there at once; if its last report counted for ever, one that fell silent would
 * never be tried again. Knows no replica and no choice.
 */
#ifndef TI_LOAD_H
#define TI_LOAD_H

#include <tied/types.h>

#include "base/util.h"

/* A score is in units of 1 / TI_LOAD_UNIT copies. */
#define TI_LOAD_UNIT_BITS    10
#define TI_LOAD_UNIT         (1u << TI_LOAD_UNIT_BITS)
#define TI_LOAD_MEAN_BITS    6
#define TI_LOAD_INVERSE_BITS 62

struct ti_load_scale {
    tied_duration_t age_ns; /* a report counts as the mean from this age on */
    uint64_t inverse;       /* 2^62 / age_ns: saves a division per score */
};

/* age_ns in [1, 2^62] */
void ti_load_scale_init (struct ti_load_scale *self, tied_duration_t age_ns);

/* Moving average of the reports of all replicas; all zero before the first. */
struct ti_load_mean {
    uint64_t scaled; /* the mean x 64, in 1 / TI_LOAD_UNIT copies */
};

/* A report has come: mean += (report - mean) / 64; the first that is not 0 sets the mean. A report
 * counts here as at most twice the mean and 4 copies more, so that one replica with wild figures
 * does not make up the mean of all. */
void ti_load_mean_report (struct ti_load_mean *self, const struct tied_load *load);

/* The mean, in 1 / TI_LOAD_UNIT copies. */
static inline uint64_t ti_load_mean (const struct ti_load_mean *self)
{
    return self->scaled >> TI_LOAD_MEAN_BITS;
}

static inline uint64_t ti_load_total (const struct tied_load *load)
{
    return ((uint64_t)load->depth + load->running) * TI_LOAD_UNIT;
}

/* Score; load_at is when the report came, not later than now, 0: never. Inline: a choice asks for
 * many. */
static inline uint64_t ti_load_score (const struct ti_load_scale *self,
                                      uint64_t mean,
                                      const struct tied_load *load,
                                      tied_time_t load_at,
                                      uint32_t in_flight,
                                      tied_time_t now)
{
    const uint64_t own = (uint64_t)in_flight * TI_LOAD_UNIT;
    const tied_duration_t age = now - load_at;
    if (load_at == 0 || age >= self->age_ns)
        return own + mean;
    /* age < age_ns, so the product stays below 2^62. */
    const uint64_t faded = (age * self->inverse) >> (TI_LOAD_INVERSE_BITS - TI_LOAD_UNIT_BITS);
    /* (total x (unit - faded) + mean x faded) / unit with one product less; what wraps comes back.
     */
    const uint64_t total = ti_load_total (load);
    return own + ((total * TI_LOAD_UNIT + (mean - total) * faded) >> TI_LOAD_UNIT_BITS);
}

#endif
