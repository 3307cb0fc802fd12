/* SPDX-License-Identifier: MIT */
/*
 * Which hedges relieve the replicas: a copy that runs for long holds its worker until a hedge has
 * answered, and then it is cancelled. If what is left of it is long against an execution anew, two
 * executions make less work than one, and whoever waits behind it is served sooner.
 *
 * That depends on how long executions take and not on how long calls wait, so it is true of a full
 * system as of an idle one; SingleR (single_r.h) goes by latencies, and in full queues these say
 * that nothing helps. A pure function of a curve; integers only.
 */
#ifndef TI_RELIEF_H
#define TI_RELIEF_H

#include "core/latency.h"

struct ti_relief {
    tied_duration_t from_ns;  /* who has run for so long may be relieved; TIED_NEVER: nobody */
    tied_duration_t delay_ns; /* who has run for so long shall be */
};

#define TI_RELIEF_NONE ((struct ti_relief){TIED_NEVER, TIED_NEVER})

/*
 * service: of executions, those that were stopped for a hedge censored. budget_ppm: hedges of
 * calls, at most. before: what was found last; it holds while nobody knows how long the slow ones
 * take, because all of them are cut short.
 */
void ti_relief (const struct ti_curve *service,
                uint32_t budget_ppm,
                const struct ti_relief *before,
                struct ti_relief *out);

/*
 * The curve says what a hedge saves if it takes what any execution takes. It does not where a call
 * is slow because of what it asks for: then both run long. So that at least a quarter of these
 * hedges win is judged of a few, before they fill the workers; a time without follows, twice as
 * long each time that the next few show no better. All zero at first.
 */
struct ti_relief_trust {
    uint32_t hedges, wins; /* since the last verdict, or half of that */
    tied_time_t until;     /* none before */
    tied_duration_t hold;  /* the last one; 0: all was well since */
};

void ti_relief_ended (struct ti_relief_trust *self, bool has_won, tied_time_t now);

#endif
