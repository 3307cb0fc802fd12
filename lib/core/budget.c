/* SPDX-License-Identifier: MIT */
/* The bucket of tokens. All limits are below 2^41 millionths, so no sum of two can overflow. */
#include "core/budget.h"

#include <string.h>

#include "base/assert.h"
#include "base/util.h"

#define TOKEN ((int64_t)TIED_PPM)

/* Millionths from thousandths. */
static int64_t from_milli (uint32_t milli)
{
    return (int64_t)milli * (TOKEN / 1000);
}

/* All that changes tokens but for a copy's price goes through here, so that income stays true. */
static void set_tokens (struct ti_budget *self, int64_t tokens)
{
    if (tokens > self->burst)
        tokens = self->burst;
    if (tokens < -self->debt)
        tokens = -self->debt;
    self->income += (uint64_t)tokens - (uint64_t)self->tokens;
    self->tokens = tokens;
}

/* Pay for one copy if at least `floor` is left then. */
static bool pay (struct ti_budget *self, uint64_t *account, int64_t floor)
{
    if (self->tokens - TOKEN < floor)
        return false;
    self->tokens -= TOKEN;
    ++*account;
    return true;
}

/* What hedges have earned is reckoned when it is asked for: calls pay no time for it. */
static void reckon_hedges (struct ti_budget *self)
{
    const uint64_t calls = ti_min (self->earned - self->hedges_at, UINT32_MAX);
    self->hedges_at = self->earned;
    self->hedges =
        (int64_t)ti_min ((uint64_t)self->hedges + calls * self->earning, (uint64_t)self->burst);
}

static bool pay_or_refuse (struct ti_budget *self, int64_t floor)
{
    const bool is_paid = pay (self, &self->spent, floor);
    self->refused += !is_paid;
    return is_paid;
}

void ti_budget_init (struct ti_budget *self, const struct tied_policy *policy)
{
    memset (self, 0, sizeof *self);
    ti_budget_change (self, policy);
}

void ti_budget_change (struct ti_budget *self, const struct tied_policy *policy)
{
    TI_ASSERT (policy->burst_milli >= 1000);
    TI_ASSERT (policy->extra_load_ppm <= TIED_PPM);
    reckon_hedges (self);
    self->earning = policy->extra_load_ppm;
    self->burst = from_milli (policy->burst_milli);
    self->debt = from_milli (policy->debt_milli);
    set_tokens (self, self->tokens);
    self->hedges = self->hedges < self->burst ? self->hedges : self->burst;
}

void ti_budget_earn (struct ti_budget *self)
{
    self->earned++;
    set_tokens (self, self->tokens + self->earning);
}

static bool pay_hedge (struct ti_budget *self, int64_t floor)
{
    reckon_hedges (self);
    if (self->hedges < TOKEN)
        floor = INT64_MAX;
    if (!pay_or_refuse (self, floor))
        return false;
    self->hedges -= TOKEN;
    return true;
}

bool ti_budget_take (struct ti_budget *self)
{
    return pay_hedge (self, 0);
}

bool ti_budget_relieve (struct ti_budget *self)
{
    return pay_hedge (self, self->debt < 2 * self->burst ? -self->debt : -2 * self->burst);
}

bool ti_budget_spare (struct ti_budget *self)
{
    const int64_t half = self->burst / 2;
    return pay_hedge (self, half < self->burst - TOKEN ? half : self->burst - TOKEN);
}

bool ti_budget_overdraw (struct ti_budget *self)
{
    return pay_or_refuse (self, -self->debt);
}

void ti_budget_return (struct ti_budget *self)
{
    TI_ASSERT (self->spent > 0);
    self->spent--;
    /* As if it had never been taken; what came in since may now be over the burst. */
    self->tokens += TOKEN;
    set_tokens (self, self->tokens);
    reckon_hedges (self);
    self->hedges = self->hedges + TOKEN < self->burst ? self->hedges + TOKEN : self->burst;
}

bool ti_budget_allows_tie (struct ti_budget *self)
{
    const bool is_allowed = self->tokens >= -self->burst && self->tokens - TOKEN >= -self->debt;
    self->refused += !is_allowed;
    return is_allowed;
}

void ti_budget_charge (struct ti_budget *self)
{
    if (!pay (self, &self->charged, -self->debt))
        self->unpaid++;
}

void ti_budget_check (const struct ti_budget *self)
{
    TI_ASSERT (self->burst >= TOKEN);
    TI_ASSERT (self->debt >= 0);
    TI_ASSERT (self->hedges >= 0 && self->hedges <= self->burst);
    TI_ASSERT (self->tokens <= self->burst);
    TI_ASSERT (self->tokens >= -self->debt);
    TI_ASSERT (self->earning <= TIED_PPM);
    TI_ASSERT ((uint64_t)self->tokens ==
               self->income - (self->spent + self->charged) * (uint64_t)TOKEN);
}
