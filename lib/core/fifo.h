/* SPDX-License-Identifier: MIT */
/*
 * Which copies run, told from the answers to others: a replica starts copies in the order in which
 * they came, so when one that was sent later has been answered, those before it have started, or
 * were dropped because their siblings have. A client is not told of a start, and need not be.
 *
 * Only copies that wait in order count: neither hedges, which may go before others, nor answers
 * that nothing was run for. One of these for each replica of a client; all zero at first.
 */
#ifndef TI_FIFO_H
#define TI_FIFO_H

#include <stdbool.h>

#include <tied/types.h>

#include "base/util.h"

struct ti_fifo {
    tied_time_t sent;       /* of the youngest copy that is known to have started */
    tied_time_t started;    /* when it had, at the latest */
    tied_duration_t waited; /* how long it had waited for that */
};

static inline void ti_fifo_answered (struct ti_fifo *self,
                                     tied_time_t sent,
                                     tied_duration_t queue_ns,
                                     tied_duration_t service_ns,
                                     tied_time_t now)
{
    if (sent < self->sent || service_ns == 0)
        return;
    self->sent = sent;
    self->started = ti_time_sub (now, service_ns);
    self->waited = queue_ns;
}

/* A copy that was sent then has started. */
static inline bool ti_fifo_has_started (const struct ti_fifo *self, tied_time_t sent)
{
    return sent < self->sent;
}

/* When it did, or will if it has not: as late as the last one after its sending, but not later than
 * one that came after it, nor sooner than one that came before. */
static inline tied_time_t ti_fifo_start (const struct ti_fifo *self, tied_time_t sent)
{
    const tied_time_t guess = ti_time_add (sent, self->waited);
    return sent < self->sent ? ti_min (guess, self->started) : ti_max (guess, self->started);
}

#endif
