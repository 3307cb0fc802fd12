/* SPDX-License-Identifier: MIT */
/*
 * Load score of a replica: what it reported, fading linearly to nothing with age, plus this
 * client's own copies in flight there, which no report can know yet. An unknown or old report
 * counts nothing, so a replica that fell silent is tried again. Knows no replica and no choice.
 */
#ifndef TI_LOAD_H
#define TI_LOAD_H

#include <tied/types.h>

/* A score is in units of 1 / TI_LOAD_UNIT copies. */
#define TI_LOAD_UNIT 1024u

struct ti_load_scale {
    tied_duration_t age_ns; /* a report counts for nothing from this age on */
    uint64_t inverse;       /* 2^62 / age_ns: saves a division per score */
};

/* age_ns in [1, 2^62] */
void ti_load_scale_init (struct ti_load_scale *self, tied_duration_t age_ns);

/* Score; load_at is when the report came, 0: never. */
uint64_t ti_load_score (const struct ti_load_scale *self,
                        const struct tied_load *load,
                        tied_time_t load_at,
                        uint32_t in_flight,
                        tied_time_t now);

#endif
