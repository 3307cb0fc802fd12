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

bool ti_race_has_room_to_tie (const struct ti_race *self)
{
    return self->copies_max >= 3;
}

bool ti_race_has_room_to_hedge (const struct ti_race *self, bool is_tied)
{
    return self->copies_max >= (is_tied ? 4 : 3);
}

bool ti_race_may_hedge (const struct ti_race *self)
{
    return self->copies_sent + self->is_planned + 2 <= self->copies_max;
}

void ti_race_hedge (struct ti_race *self)
{
    TI_ASSERT (self->is_hedge_planned && ti_race_may_send (self));
    self->is_hedge_planned = false;
    self->hedged = TI_RACE_BIT (self->next_copy);
}

bool ti_race_is_pair (const struct ti_race *self)
{
    const uint16_t pair = TI_RACE_BIT (0) | TI_RACE_BIT (1);
    return (self->tied & self->alive & pair) == pair;
}

bool ti_race_may_unhedge (const struct ti_race *self, uint8_t copy)
{
    return (self->hedged & self->alive & TI_RACE_BIT (copy)) && copy + 1 == self->next_copy &&
           ti_race_is_pair (self);
}

void ti_race_unhedge (struct ti_race *self, uint8_t copy)
{
    TI_ASSERT (ti_race_may_unhedge (self, copy));
    self->sent = (uint16_t)(self->sent & ~TI_RACE_BIT (copy));
    self->alive = (uint16_t)(self->alive & ~TI_RACE_BIT (copy));
    self->hedged = 0;
    self->next_copy--;
    self->copies_sent--;
    self->is_hedge_planned = true;
}

bool ti_race_is_certain (const struct ti_race *self)
{
    if (self->is_exclusive)
        return self->alive != 0;
    const unsigned siblings_lost = (self->lost & 1u) << 1 | (self->lost >> 1 & 1u);
    return (self->alive & ~(self->tied & siblings_lost)) != 0;
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

void ti_race_failed (struct ti_race *self, uint8_t copy)
{
    retire (self, copy);
    self->failed |= TI_RACE_BIT (copy);
}

/* Reasons that another replica would give as well, or that leave no time to ask one. */
static bool is_final (uint8_t reason)
{
    return reason == TIED_REJECT_UNKNOWN_METHOD || reason == TIED_REJECT_TOO_LARGE ||
           reason == TIED_REJECT_EXPIRED;
}

/* Copy 1 need not wait for its stagger any more. While copy 0 lives, a hedge failed. */
static bool is_sibling_due (const struct ti_race *self)
{
    return self->is_planned && !(self->alive & TI_RACE_BIT (0));
}

enum ti_race_next ti_race_after_refusal (const struct ti_race *self, uint8_t reason)
{
    if (is_sibling_due (self))
        return TI_RACE_SEND_TIED;
    if (ti_race_is_certain (self))
        return TI_RACE_GO_ON;
    if (is_final (reason) || !ti_race_may_send (self))
        return TI_RACE_END;
    if (self->is_exclusive && ti_race_may_have_executed (self))
        return TI_RACE_END;
    if (reason == TIED_REJECT_DRAINING || reason == TIED_REJECT_STALE)
        return TI_RACE_REROUTE;
    const bool may_try = self->is_idempotent || self->is_exclusive;
    return may_try && !self->had_last ? TI_RACE_LAST : TI_RACE_END;
}

/*
 * An untied copy can be dropped by nobody, and of two tied ones one will run. But a doubtful copy
 * may be gone without a trace, so none of these three rules counts on it: what would end
 * a call without live copies ends a call with a doubtful one too, as unavailable, and it may have
 * executed.
 *
 * Every call ends [CL-01]: to wait for a doubtful copy would be to wait for the deadline, or for
 * good if there is none; and a caller that is told at once can try again. That a limit or a refusal
 * alone never ends a call [CL-02, CL-11] stays true: a copy that is not in doubt keeps it alive
 * whatever is refused or not sent, what puts a copy in doubt is a loss, and while there is room and
 * time a re-issue resolves the doubt. Where only the time is missing the call goes on, since its
 * deadline is near. The price is a call that ends although its doubtful copy still waits somewhere.
 * It is rare, because a tie begins with room for a re-issue: that one must have failed as well.
 */
enum ti_race_next ti_race_after_loss (const struct ti_race *self)
{
    if (ti_race_is_certain (self))
        return TI_RACE_GO_ON;
    return self->is_idempotent && ti_race_may_send (self) ? TI_RACE_REISSUE : TI_RACE_END;
}

enum ti_race_next ti_race_after_unsent (const struct ti_race *self)
{
    if (is_sibling_due (self))
        return TI_RACE_SEND_TIED;
    if (self->lost)
        return ti_race_after_loss (self);
    if (self->alive)
        return TI_RACE_GO_ON;
    return ti_race_may_send (self) ? TI_RACE_REROUTE : TI_RACE_END;
}

/* The error is an answer: nothing is sent again for its sake, only what was planned goes sooner. */
enum ti_race_next ti_race_after_failure (const struct ti_race *self)
{
    if (is_sibling_due (self))
        return TI_RACE_SEND_TIED;
    return ti_race_is_certain (self) ? TI_RACE_GO_ON : TI_RACE_END;
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
                          !!(self->unsent & bit) + !!(self->failed & bit);
        TI_ASSERT (fates == !!(self->sent & bit));
        TI_ASSERT (!(self->sent & bit) || copy < self->next_copy);
        numbers += !!(self->sent & bit);
    }
    TI_ASSERT (numbers == self->copies_sent);
    TI_ASSERT (self->copies_sent <= self->copies_max);
    TI_ASSERT ((self->tied & ~self->sent) == 0);
    TI_ASSERT ((self->tied & ~3u) == 0);
    TI_ASSERT ((self->hedged & ~self->sent) == 0);
    TI_ASSERT ((self->hedged & 3u) == 0);
    TI_ASSERT ((self->hedged & (self->hedged - 1u)) == 0);
    if (self->is_hedge_planned)
        TI_ASSERT (self->hedged == 0 && self->is_idempotent);
    if (self->is_planned) {
        TI_ASSERT (!(self->sent & TI_RACE_BIT (1)));
        TI_ASSERT (self->alive & TI_RACE_BIT (0));
        TI_ASSERT (self->is_idempotent || self->is_exclusive);
    }
}
