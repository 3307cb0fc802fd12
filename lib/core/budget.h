/* SPDX-License-Identifier: MIT */
/*
 * What extra copies may cost: a bucket of tokens in millionths of a copy, so that a share of one
 * part per million still earns something [BE-02]. It starts empty, each first copy earns
 * extra_load, each extra copy costs one; integers only [BE-03]. Tokens come and go when copies are
 * sent, never when calls end, so no verdict depends on the order in which calls end, nor on how
 * many are active [BE-01]: n first copies pay for n x extra_load hedges, rounded down, whenever
 * they are asked for, and less only by what did not fit under the burst.
 *
 * Hedges need a whole token. Re-issues after a loss and last tries may overdraw the bucket down to
 * the debt limit, since without them a call would be lost; a tied copy costs nothing when it is
 * sent, and a token when both copies ran. While the bucket is overdrawn there are no hedges; below
 * minus the burst, or where the debt limit leaves no room for a duplicate, there are no ties.
 */
#ifndef TI_BUDGET_H
#define TI_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/policy.h>

/*
 * Invariants (ti_budget_check):
 * 1. -debt <= tokens <= burst; 0 <= hedges <= burst;
 * 2. tokens = income - spent - charged, in millionths, modulo 2^64;
 * so extra copies never exceed what first copies paid in by more than the debt limit, but for
 * duplicates of ties that were on their way when it was reached: they are in `unpaid`.
 */
struct ti_budget {
    int64_t tokens;     /* millionths */
    int64_t hedges;     /* millionths that hedges alone would have left; as of hedges_at */
    uint64_t hedges_at; /* first copies that are in it */
    int64_t burst;      /* millionths, >= TIED_PPM */
    int64_t debt;       /* millionths, >= 0 */
    uint32_t earning;   /* millionths per first copy */
    uint64_t income;    /* millionths that the bucket took in, modulo 2^64; what a smaller burst
                           took away is off, what a smaller debt limit forgave is in */
    uint64_t earned;    /* first copies */
    uint64_t spent;     /* tokens that hedges, re-issues and last tries took */
    uint64_t charged;   /* tokens for duplicates */
    uint64_t unpaid;    /* duplicates that met the debt limit */
    uint64_t refused;   /* hedges, re-issues and ties that it did not allow */
};

void ti_budget_init (struct ti_budget *self, const struct tied_policy *policy);
/* Other settings from now on; what is saved up stays, within the new limits. */
void ti_budget_change (struct ti_budget *self, const struct tied_policy *policy);

/* A first copy was sent. */
void ti_budget_earn (struct ti_budget *self);
/* Take one for a hedge, if there is one. */
bool ti_budget_take (struct ti_budget *self);
/* The same for one that relieves (relief.h): what duplicates of ties and re-issues took counts only
 * as far as twice the burst, which is more than ties go, so that they cannot keep it from going. It
 * gets no more than hedges have earned. */
bool ti_budget_relieve (struct ti_budget *self);
/* The same for one that relieves nobody where others do: half of the burst is left to those. */
bool ti_budget_spare (struct ti_budget *self);
/* Take one for a re-issue or last try, if the debt allows. */
bool ti_budget_overdraw (struct ti_budget *self);
/* Give back what a copy cost that did not leave the process. */
void ti_budget_return (struct ti_budget *self);
/* May this call be tied? Takes nothing; counts a refusal. */
bool ti_budget_allows_tie (struct ti_budget *self);
/* Both copies of a tied call ran. Stops at the debt limit. */
void ti_budget_charge (struct ti_budget *self);

void ti_budget_check (const struct ti_budget *self);

#endif
