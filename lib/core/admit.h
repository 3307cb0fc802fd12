/* SPDX-License-Identifier: MIT */
/*
 * Admission: may this copy wait here, and how long would it wait? Knows the queue's depth and the
 * measured service time, nothing about calls.
 */
#ifndef TI_ADMIT_H
#define TI_ADMIT_H

#include <tied/replica_core.h>

struct ti_admit {
    uint64_t service_x8;  /* moving average of the service time, eighths of ns */
    uint64_t per_copy_ns; /* wait that each queued copy adds; 0 while unmeasured */
    uint64_t share;       /* 2^20 / workers, so that no division is needed later */
    uint32_t queue_depth; /* hard limit */
    uint32_t hedge_depth; /* limit for extra copies */
    tied_duration_t hedge_wait_ns;
    uint32_t
        turns; /* copies started in their turn, less those that pay for what went before them */
    bool is_measured;
};

/* A copy that goes before others is paid by so many that start in their turn, and twice hedge_depth
 * of them in advance. An honest client asks for much less, as relief is for outliers; one that
 * always asks must not starve the others. */
#define TI_ADMIT_TURNS 2u

static inline uint32_t ti_admit_turns_max (uint32_t hedge_depth)
{
    return 2 * TI_ADMIT_TURNS * hedge_depth;
}

void ti_admit_init (struct ti_admit *self, const struct tied_replica_core_options *options);

/* Take the service time of a finished copy into the average (weight 1 / 8). */
void ti_admit_measure (struct ti_admit *self, tied_duration_t service_ns);

/* Estimated time until a copy that joins `depth` waiting ones starts. */
static inline tied_duration_t ti_admit_wait (const struct ti_admit *self, uint32_t depth)
{
    return depth * self->per_copy_ns;
}

/* One may go before what waits; one does; one has started in its turn. */
static inline bool ti_admit_may_pass (const struct ti_admit *self)
{
    return self->turns >= TI_ADMIT_TURNS;
}

static inline void ti_admit_passes (struct ti_admit *self)
{
    self->turns -= TI_ADMIT_TURNS;
}

static inline void ti_admit_in_turn (struct ti_admit *self)
{
    self->turns += self->turns < ti_admit_turns_max (self->hedge_depth);
}

/*
 * @param depth         copies that wait now
 * @param ahead         of those, the ones that start before it
 * @param is_extra      copy number > 0 and not flagged as the last one
 * @param remaining_ns  > 0; TIED_NEVER: no deadline
 * @return TIED_REJECT_NONE, _BUSY, _FULL or _TOO_LATE
 */
enum tied_reject ti_admit_decide (const struct ti_admit *self,
                                  uint32_t depth,
                                  uint32_t ahead,
                                  bool is_extra,
                                  tied_duration_t remaining_ns);

#endif
