/* SPDX-License-Identifier: MIT */
/*
 * Where a method's settings, estimates, budget and governor meet: what a call may have. The plan is
 * made in method_plan.c, what calls teach is in method_learn.c.
 */
#include "core/method.h"

#include "base/assert.h"
#include "base/util.h"

size_t ti_method_size (tied_duration_t window_ns)
{
    return window_ns ? 4 * ti_align (ti_latency_size ()) : 0;
}

void ti_method_init (struct ti_method *self, void *arrays, tied_duration_t window_ns)
{
    *self = (struct ti_method){.learns = window_ns != 0, .plan.relief = TI_RELIEF_NONE};
    tied_policy_init (&self->policy);
    ti_budget_init (&self->budget, &self->policy);
    ti_governor_init (&self->governor, &self->policy.governor);
    if (!self->learns)
        return;
    const size_t size = ti_align (ti_latency_size ());
    self->call_times = (size_t)((unsigned char *)arrays - (unsigned char *)self);
    self->hedge_times = self->call_times + size;
    self->answer_times = self->hedge_times + size;
    self->service_times = self->answer_times + size;
    (void)ti_latency_init (ti_method_times (self, self->call_times), window_ns);
    (void)ti_latency_init (ti_method_times (self, self->hedge_times), window_ns);
    (void)ti_latency_init (ti_method_times (self, self->answer_times), window_ns);
    (void)ti_latency_init (ti_method_times (self, self->service_times), window_ns);
}

void ti_method_change (struct ti_method *self, const struct tied_policy *policy)
{
    self->policy = *policy;
    self->plan.until = 0;
    ti_budget_change (&self->budget, policy);
    ti_governor_change (&self->governor, &policy->governor);
}

static bool draw (struct ti_prng *prng, uint32_t ppm)
{
    return ppm >= TIED_PPM || ti_prng_below (prng, TIED_PPM) < ppm;
}

/* Why this call may have no extra copies at all, whatever kind. */
static uint8_t
refusal (struct ti_method *self, const struct ti_method_verdict *verdict, struct ti_prng *prng)
{
    if (self->policy.is_off)
        return TIED_NOT_SENT_OFF;
    if (!verdict->is_idempotent && verdict->mode != TIED_MODE_EXCLUSIVE)
        return TIED_NOT_SENT_NOT_IDEMPOTENT;
    return draw (prng, self->policy.canary_ppm) ? TIED_NOT_SENT_NONE : TIED_NOT_SENT_CANARY;
}

/* What the governor said to this call, for one kind of copy: what hedges do wrong is no reason
 * against ties, and the other way round. Hedges that are refused do not win, and cost their tokens
 * all the same; but where tied copies are refused because queues are long, hedges may be what keeps
 * them from growing. */
static bool stops_ties (const struct ti_method *self, bool is_allowed)
{
    return !is_allowed && self->governor.reason != TIED_GOVERNOR_REASON_NO_GAIN;
}

static bool stops_hedges (const struct ti_method *self, bool is_allowed)
{
    return !is_allowed && self->governor.reason != TIED_GOVERNOR_REASON_DUPLICATES &&
           self->governor.reason != TIED_GOVERNOR_REASON_REJECTIONS;
}

static uint8_t judge_tie (struct ti_method *self, bool is_allowed)
{
    if (stops_ties (self, is_allowed))
        return TIED_NOT_SENT_GOVERNOR;
    if (!ti_budget_allows_tie (&self->budget))
        return TIED_NOT_SENT_BUDGET;
    if (self->policy.is_shadow) {
        self->counters.shadow_tied++;
        return TIED_NOT_SENT_SHADOW;
    }
    return TIED_NOT_SENT_NONE;
}

/* The delay that this call wishes or its method has, if there is a reason for none. */
static uint8_t judge_hedge (struct ti_method *self,
                            const struct ti_method_wish *wish,
                            bool is_allowed,
                            struct ti_prng *prng,
                            tied_duration_t *out_delay)
{
    const bool is_own = wish->hedge_ns != TIED_HEDGE_POLICY;
    const tied_duration_t own = wish->hedge_ns == TIED_HEDGE_NONE  ? TIED_NEVER
                                : wish->hedge_ns == TIED_HEDGE_NOW ? 0
                                                                   : wish->hedge_ns;
    const tied_duration_t delay = is_own ? own : self->plan.delay_ns;
    *out_delay = TIED_NEVER;
    if (delay == TIED_NEVER)
        return is_own ? TIED_NOT_SENT_NONE : self->plan.reason;
    if (wish->is_inner)
        return TIED_NOT_SENT_CHAIN_STOP;
    if (stops_hedges (self, is_allowed))
        return TIED_NOT_SENT_GOVERNOR;
    if (!is_own && !draw (prng, self->plan.probability_ppm))
        return TIED_NOT_SENT_BUDGET;
    *out_delay = delay;
    return TIED_NOT_SENT_NONE;
}

void ti_method_begin (struct ti_method *self,
                      const struct ti_method_wish *wish,
                      struct ti_prng *prng,
                      struct ti_method_scratch *scratch,
                      tied_time_t now,
                      struct ti_method_verdict *out)
{
    if (now >= self->plan.until) {
        ti_method_plan (self, scratch, now);
    }
    self->counters.calls++;
    ti_budget_earn (&self->budget);
    if (self->policy.governor.depth_milli)
        ti_governor_depth (&self->governor, wish->depth_milli, now);
    const uint32_t mode = wish->mode == TIED_MODE_POLICY ? self->policy.mode : wish->mode;
    *out = (struct ti_method_verdict){.mode = mode,
                                      .is_exclusive = mode == TIED_MODE_EXCLUSIVE,
                                      .is_idempotent =
                                          mode != TIED_MODE_EXCLUSIVE &&
                                          (wish->is_idempotent || self->policy.is_idempotent),
                                      .hedge_ns = TIED_NEVER};
    const bool wants_tie = mode != TIED_MODE_SINGLE;
    const bool wants_hedge =
        wish->hedge_ns == TIED_HEDGE_POLICY
            ? self->policy.hedge.kind != TIED_HEDGE_RULE_NEVER
            : wish->hedge_ns != TIED_HEDGE_NONE && wish->hedge_ns != TIED_NEVER;
    if (!wants_tie && !wants_hedge)
        return;
    const uint8_t against = refusal (self, out, prng);
    /* Once per call: while it probes, the governor counts who asks. */
    const bool is_allowed =
        against || !self->policy.is_governed || ti_governor_allows (&self->governor, now);
    self->counters.eligible += against == TIED_NOT_SENT_NONE;
    if (wants_tie)
        out->not_tied = against ? against : judge_tie (self, is_allowed);
    if (out->not_tied)
        out->mode = TIED_MODE_SINGLE;
    if (!wants_hedge)
        return;
    if (mode == TIED_MODE_EXCLUSIVE)
        out->not_hedged = TIED_NOT_SENT_NOT_IDEMPOTENT;
    else
        out->not_hedged =
            against ? against : judge_hedge (self, wish, is_allowed, prng, &out->hedge_ns);
    out->may_relieve = !against && mode != TIED_MODE_EXCLUSIVE &&
                       wish->hedge_ns == TIED_HEDGE_POLICY && !wish->is_inner &&
                       self->plan.relief.delay_ns != TIED_NEVER && !stops_hedges (self, is_allowed);
}

/* Where hedges relieve, others leave them half of the burst. */
static bool pay_hedge (struct ti_method *self, bool is_relief)
{
    if (is_relief)
        return ti_budget_relieve (&self->budget);
    return self->plan.relief.delay_ns == TIED_NEVER ? ti_budget_take (&self->budget)
                                                    : ti_budget_spare (&self->budget);
}

uint32_t ti_method_may_hedge (struct ti_method *self, bool is_relief)
{
    const bool is_open = !self->policy.is_governed || self->governor.state != TIED_GOVERNOR_STOPPED;
    if (self->policy.is_off)
        return TIED_NOT_SENT_OFF;
    if (stops_hedges (self, is_open))
        return TIED_NOT_SENT_GOVERNOR;
    if (!pay_hedge (self, is_relief))
        return TIED_NOT_SENT_BUDGET;
    if (!self->policy.is_shadow)
        return TIED_NOT_SENT_NONE;
    self->counters.shadow_hedged++;
    self->counters.shadow_saved_us += self->plan.benefit_ns / 1000;
    return TIED_NOT_SENT_SHADOW;
}

void ti_method_hedge_unsent (struct ti_method *self)
{
    ti_budget_return (&self->budget);
}

bool ti_method_may_send_again (struct ti_method *self)
{
    return ti_budget_overdraw (&self->budget);
}

bool ti_method_may_ask_other (struct ti_method *self)
{
    return !self->policy.is_off && ti_budget_take (&self->budget);
}

void ti_method_status (const struct ti_method *self, struct tied_client_method *out)
{
    const struct ti_method_plan *plan = &self->plan;
    const uint32_t target = plan->target_ppm ? plan->target_ppm : self->policy.target_ppm;
    *out = (struct tied_client_method){
        .counters = self->counters,
        .hedge_ns = plan->until ? plan->delay_ns : TIED_NEVER,
        .hedge_reason = plan->until ? plan->reason : TIED_NOT_SENT_COLD,
        .relief_ns = plan->relief.delay_ns,
        .hedge_share_ppm = plan->probability_ppm,
        .target_ppm = target,
        .without_ns = TIED_NEVER,
        .predicted_ns = plan->single_r.is_worth ? plan->single_r.predicted_ns : TIED_NEVER,
        .achieved_ns = TIED_NEVER,
        .budget_milli = self->budget.tokens / 1000,
        .governor_state = self->governor.state,
        .governor_reason = self->governor.reason,
        .governor_stops = self->governor.stops};
    if (!self->learns)
        return;
    out->samples = ti_latency_samples (ti_method_times (self, self->call_times));
    out->without_ns = ti_latency_percentile (ti_method_times (self, self->call_times), target);
    out->achieved_ns = ti_latency_percentile (ti_method_times (self, self->answer_times), target);
}

void ti_method_check (const struct ti_method *self)
{
    if (self->learns) {
        ti_latency_check (ti_method_times (self, self->call_times));
        ti_latency_check (ti_method_times (self, self->hedge_times));
        ti_latency_check (ti_method_times (self, self->answer_times));
        ti_latency_check (ti_method_times (self, self->service_times));
    }
    ti_budget_check (&self->budget);
    ti_governor_check (&self->governor);
    TI_ASSERT (self->counters.eligible <= self->counters.calls);
    TI_ASSERT (self->counters.hedges_won <= self->counters.hedged);
    TI_ASSERT (self->counters.relieved <= self->counters.hedged);
    TI_ASSERT (self->counters.shadow_won <= self->counters.shadow_hedged);
    TI_ASSERT (self->counters.extra_refused <= self->counters.extra_copies);
    TI_ASSERT (!tied_policy_check (&self->policy, NULL));
}
