/* SPDX-License-Identifier: MIT */
/* The rules for one call's copies: docs/protocol.md, client state table. */
#include "core/race.h"

#include <tied/client_core.h>

#include "base/assert.h"

/* The slot of number 1 may stay empty, so numbers run up to copies_max. */
TI_STATIC_ASSERT (TIED_COPIES_MAX < 16, "copy numbers fit the sets");

void ti_race_init (struct ti_race *self, bool is_idempotent, uint32_t copies_max)
{
    TI_ASSERT (copies_max >= 1 && copies_max <= TIED_COPIES_MAX);
    *self = (struct ti_race){
        .copies_max = (uint8_t)copies_max, .next_copy = 2, .is_idempotent = is_idempotent};
}

bool ti_race_may_send (const struct ti_race *self)
{
    return self->copies_sent < self->copies_max;
}

void ti_race_sent (struct ti_race *self, uint8_t copy, bool is_tied)
{
    TI_ASSERT (ti_race_may_send (self));
    TI_ASSERT (!(self->sent & TI_RACE_BIT (copy)));
    TI_ASSERT (copy <= 1 || copy == self->next_copy);
    TI_ASSERT (!is_tied || copy <= 1);
    self->sent |= TI_RACE_BIT (copy);
    self->alive |= TI_RACE_BIT (copy);
    if (is_tied)
        self->tied |= TI_RACE_BIT (copy);
    if (copy == 1)
        self->is_planned = false;
    if (copy == self->next_copy)
        self->next_copy++;
    self->copies_sent++;
}

static void retire (struct ti_race *self, uint8_t copy)
{
    TI_ASSERT (self->alive & TI_RACE_BIT (copy));
    self->alive = (uint16_t)(self->alive & ~TI_RACE_BIT (copy));
}

void ti_race_refused (struct ti_race *self, uint8_t copy, uint8_t reason)
{
    retire (self, copy);
    self->refused |= TI_RACE_BIT (copy);
    if (self->first_reject == TIED_REJECT_NONE)
        self->first_reject = reason;
}

void ti_race_lost (struct ti_race *self, uint8_t copy)
{
    retire (self, copy);
    self->lost |= TI_RACE_BIT (copy);
}

void ti_race_unsent (struct ti_race *self, uint8_t copy)
{
    retire (self, copy);
    self->unsent |= TI_RACE_BIT (copy);
}

/* Reasons that another replica would give as well, or that leave no time to ask one. */
static bool is_final (uint8_t reason)
{
    return reason == TIED_REJECT_UNKNOWN_METHOD || reason == TIED_REJECT_TOO_LARGE ||
           reason == TIED_REJECT_EXPIRED;
}

enum ti_race_next ti_race_after_refusal (const struct ti_race *self, uint8_t reason)
{
    if (self->is_planned)
        return TI_RACE_SEND_TIED;
    if (self->alive)
        return TI_RACE_GO_ON;
    if (is_final (reason) || !ti_race_may_send (self))
        return TI_RACE_END;
    if (reason == TIED_REJECT_DRAINING || reason == TIED_REJECT_STALE)
        return TI_RACE_REROUTE;
    return self->is_idempotent && !self->had_last ? TI_RACE_LAST : TI_RACE_END;
}

enum ti_race_next ti_race_after_loss (const struct ti_race *self)
{
    /* An untied copy can be dropped by nobody, and of two tied ones one will run. A single tied
     * copy may have been dropped by the STARTED of the replica that was lost. */
    const uint16_t pair = TI_RACE_BIT (0) | TI_RACE_BIT (1);
    const bool is_safe =
        (self->alive & ~self->tied) != 0 || (self->alive & self->tied & pair) == pair;
    if (is_safe)
        return TI_RACE_GO_ON;
    if (!self->is_idempotent || !ti_race_may_send (self))
        return self->alive ? TI_RACE_GO_ON : TI_RACE_END;
    return TI_RACE_REISSUE;
}

enum ti_race_next ti_race_after_unsent (const struct ti_race *self)
{
    if (self->is_planned)
        return TI_RACE_SEND_TIED;
    if (self->lost)
        return ti_race_after_loss (self);
    if (self->alive)
        return TI_RACE_GO_ON;
    return ti_race_may_send (self) ? TI_RACE_REROUTE : TI_RACE_END;
}

uint32_t ti_race_outcome (const struct ti_race *self)
{
    if (ti_race_may_have_executed (self) || self->first_reject == TIED_REJECT_NONE)
        return TIED_OUTCOME_UNAVAILABLE;
    if (self->first_reject == TIED_REJECT_UNKNOWN_METHOD)
        return TIED_OUTCOME_UNIMPLEMENTED;
    if (self->first_reject == TIED_REJECT_TOO_LARGE)
        return TIED_OUTCOME_INVALID;
    return TIED_OUTCOME_REJECTED;
}

bool ti_race_may_have_executed (const struct ti_race *self)
{
    return (self->sent & ~(self->refused | self->unsent)) != 0;
}

bool ti_race_has_left (const struct ti_race *self)
{
    return (self->sent & ~self->unsent) != 0;
}

void ti_race_check (const struct ti_race *self)
{
    unsigned numbers = 0;
    for (unsigned copy = 0; copy < 16; copy++) {
        const unsigned bit = 1u << copy;
        const int fates = !!(self->alive & bit) + !!(self->lost & bit) + !!(self->refused & bit) +
                          !!(self->unsent & bit);
        TI_ASSERT (fates == !!(self->sent & bit));
        TI_ASSERT (!(self->sent & bit) || copy < self->next_copy);
        numbers += !!(self->sent & bit);
    }
    TI_ASSERT (numbers == self->copies_sent);
    TI_ASSERT (self->copies_sent <= self->copies_max);
    TI_ASSERT ((self->tied & ~self->sent) == 0);
    TI_ASSERT ((self->tied & ~3u) == 0);
    if (self->is_planned) {
        TI_ASSERT (!(self->sent & TI_RACE_BIT (1)));
        TI_ASSERT (self->alive & TI_RACE_BIT (0));
        TI_ASSERT (self->is_idempotent);
    }
}
