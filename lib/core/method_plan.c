/* SPDX-License-Identifier: MIT */
/* A method's plan: the delay of hedges, from what was learned, the rule and the budget. */
#include "core/method.h"

#include "base/util.h"

/* A hedge that is predicted to shorten the target percentile by less than this is not worth one. */
#define MIN_SAVING_PPM 20000u
/* Where the target percentile cannot be moved, the tail of calls that may be late is doubled so
 * often, and then more must be saved. */
#define LOWER_TARGETS        4
#define MIN_SAVING_LOWER_PPM 100000u
/* auto plans with a tenth less than is left for hedges: a share that is right on average is passed
 * in half of all windows. */
#define PLANNED_PPM 900000u
/* So much of the percentile is given away for fewer hedges: near the least one it is flat, and what
 * is not spent is there when slow calls come in a burst. */
#define SLACK_PPM 70000u
/* What duplicates take from the budget is known from so many plans, the last ones most. */
#define DUPLICATES_MEMORY 16u

static bool needs_samples (const struct tied_hedge_rule *rule)
{
    if (rule->kind == TIED_HEDGE_RULE_AUTO)
        return true;
    for (uint32_t i = 0; i < rule->count; i++)
        if (rule->terms[i].is_percentile)
            return true;
    return false;
}

/* While nothing is known a percentile is hedge_initial_ns, so min (p99, 50ms) is never more than
 * 50 ms. One that is not known because too many calls were cut short before it is later than any
 * other term. */
static tied_duration_t apply_terms (const struct ti_method *self, bool is_cold)
{
    const struct tied_hedge_rule *rule = &self->policy.hedge;
    tied_duration_t delay = rule->kind == TIED_HEDGE_RULE_MIN ? TIED_NEVER : 0;
    for (uint32_t i = 0; i < rule->count; i++) {
        const struct tied_hedge_term *term = &rule->terms[i];
        tied_duration_t value = term->value;
        if (term->is_percentile)
            value = is_cold ? self->policy.hedge_initial_ns
                            : ti_latency_percentile (ti_method_times (self, self->call_times),
                                                     (uint32_t)term->value);
        delay = rule->kind == TIED_HEDGE_RULE_MIN ? ti_min (delay, value) : ti_max (delay, value);
    }
    return delay;
}

static tied_duration_t clamp (const struct ti_method *self, tied_duration_t delay)
{
    return ti_max (self->policy.hedge_floor_ns, ti_min (delay, self->policy.hedge_ceiling_ns));
}

/* To be told each time that a plan is made. */
static void watch_duplicates (struct ti_method *self)
{
    struct ti_method_duplicates *seen = &self->duplicates;
    seen->calls += self->counters.calls - seen->calls_before;
    seen->copies += (self->counters.duplicates - seen->copies_before) * TIED_PPM;
    seen->calls -= seen->calls / DUPLICATES_MEMORY;
    seen->copies -= seen->copies / DUPLICATES_MEMORY;
    seen->calls_before = self->counters.calls;
    seen->copies_before = self->counters.duplicates;
}

/* What duplicates of ties leave of extra_load for hedges. Re-issues do not count: they are rare, or
 * a replica is silent, and then hedges are what helps. */
static uint32_t hedges_ppm (const struct ti_method *self)
{
    const struct ti_method_duplicates *seen = &self->duplicates;
    const uint32_t all = self->policy.extra_load_ppm;
    const uint64_t share = seen->calls ? seen->copies / seen->calls : 0;
    return (uint32_t)ti_max (ti_time_sub (all, share), all / 8);
}

/*
 * With 2 % of slow calls p99.9 becomes fast when no more than 5 % of the hedges are slow, too: a
 * few slow ones more in the window, and a hedge that shortens 19 of 20 slow calls is predicted to
 * be worth nothing. So if the target is not moved, the next lower one that is counts.
 */
static void aim_lower (struct ti_method *self,
                       const struct ti_method_scratch *scratch,
                       struct ti_single_r_options options)
{
    struct ti_method_plan *plan = &self->plan;
    uint32_t tail = TIED_PPM - options.target_ppm;
    options.min_saving_ppm = MIN_SAVING_LOWER_PPM;
    for (uint32_t i = 0; i < LOWER_TARGETS && !plan->single_r.is_worth; i++) {
        struct ti_single_r_plan lower;
        tail *= 2;
        if (tail > TIED_PPM / 2)
            return;
        options.target_ppm = TIED_PPM - tail;
        ti_single_r (&options, &scratch->call, &scratch->hedge, TI_METHOD_HEDGE_SAMPLES, &lower);
        if (!lower.is_worth)
            continue;
        plan->single_r = lower;
        plan->target_ppm = options.target_ppm;
    }
}

static void plan_auto (struct ti_method *self, struct ti_method_scratch *scratch)
{
    const struct tied_policy *policy = &self->policy;
    struct ti_method_plan *plan = &self->plan;
    struct ti_single_r_options options = {
        .target_ppm = policy->target_ppm,
        .budget_ppm = (uint32_t)((uint64_t)hedges_ppm (self) * PLANNED_PPM / TIED_PPM),
        .floor_ns = policy->hedge_floor_ns,
        .ceiling_ns = policy->hedge_ceiling_ns,
        .min_saving_ppm = MIN_SAVING_PPM,
        .slack_ppm = SLACK_PPM};
    ti_latency_curve (ti_method_times (self, self->call_times), &scratch->call);
    ti_latency_curve (ti_method_times (self, self->hedge_times), &scratch->hedge);
    ti_single_r (&options, &scratch->call, &scratch->hedge, TI_METHOD_HEDGE_SAMPLES,
                 &plan->single_r);
    plan->target_ppm = options.target_ppm;
    aim_lower (self, scratch, options);
    plan->delay_ns = plan->single_r.is_worth ? plan->single_r.delay_ns : TIED_NEVER;
    plan->probability_ppm = plan->single_r.is_worth ? plan->single_r.probability_ppm : 0;
    plan->reason = plan->single_r.is_worth ? TIED_NOT_SENT_NONE : TIED_NOT_SENT_NO_BENEFIT;
}

/* Whom a hedge relieves, unless the last ones have shown that it does not (relief.h). */
static void plan_relief (struct ti_method *self,
                         const struct ti_relief *before,
                         struct ti_method_scratch *scratch,
                         tied_time_t now)
{
    struct ti_latency *service = ti_method_times (self, self->service_times);
    ti_latency_turn (service, now);
    if (now < self->trust.until)
        return;
    if (ti_latency_samples (service) < self->policy.min_samples)
        return;
    ti_latency_curve (service, &scratch->call);
    ti_relief (&scratch->call, hedges_ppm (self), before, &self->plan.relief);
}

/* So many calls were cut short, or have not ended, that nobody knows what a hedge would save: a
 * replica is silent, and hedges are what helps. */
static void keep_delay (struct ti_method *self, tied_duration_t before)
{
    self->plan.delay_ns = before;
    self->plan.probability_ppm = before == TIED_NEVER ? 0 : TIED_PPM;
    self->plan.reason = before == TIED_NEVER ? TIED_NOT_SENT_COLD : TIED_NOT_SENT_NONE;
}

static bool is_cold (struct ti_method *self, tied_time_t now)
{
    if (!needs_samples (&self->policy.hedge))
        return false;
    if (!self->learns)
        return true;
    ti_latency_turn (ti_method_times (self, self->call_times), now);
    ti_latency_turn (ti_method_times (self, self->hedge_times), now);
    return ti_latency_samples (ti_method_times (self, self->call_times)) < self->policy.min_samples;
}

/* The delay that the rule gives now. Until something is known, and while it is not known any more
 * because nearly all calls are cut short, that is hedge_initial_ns [BE-05]. */
static void make_plan (struct ti_method *self, struct ti_method_scratch *scratch, tied_time_t now)
{
    const struct tied_policy *policy = &self->policy;
    struct ti_method_plan *plan = &self->plan;
    const tied_duration_t before = plan->until && plan->reason == TIED_NOT_SENT_NONE
                                       ? plan->delay_ns
                                       : policy->hedge_initial_ns;
    const struct ti_relief relief_before = plan->relief;
    *plan = (struct ti_method_plan){.until = ti_time_add (now, TI_METHOD_PLAN_NS),
                                    .delay_ns = TIED_NEVER,
                                    .probability_ppm = TIED_PPM,
                                    .typical_ns = TIED_NEVER,
                                    .relief = TI_RELIEF_NONE};
    if (policy->hedge.kind == TIED_HEDGE_RULE_NEVER)
        return;
    const bool cold = is_cold (self, now);
    if (cold)
        plan->until = ti_time_add (now, TI_METHOD_COLD_NS);
    watch_duplicates (self);
    if (policy->hedge.kind == TIED_HEDGE_RULE_AUTO && !cold) {
        plan_auto (self, scratch);
        plan_relief (self, &relief_before, scratch, now);
        if (plan->reason == TIED_NOT_SENT_NO_BENEFIT && plan->single_r.without_ns == TIED_NEVER)
            keep_delay (self, before);
        return;
    }
    tied_duration_t delay = policy->hedge.kind == TIED_HEDGE_RULE_AUTO ? policy->hedge_initial_ns
                                                                       : apply_terms (self, cold);
    if (delay == TIED_NEVER && !cold)
        delay = before;
    if (delay == TIED_NEVER)
        plan->reason = TIED_NOT_SENT_COLD;
    else
        plan->delay_ns = clamp (self, delay);
}

/* What a hedge would save on average, for shadow mode. */
static void plan_benefit (struct ti_method *self, struct ti_method_scratch *scratch)
{
    struct ti_method_plan *plan = &self->plan;
    if (!self->policy.is_shadow || !self->learns || plan->delay_ns == TIED_NEVER)
        return;
    ti_latency_curve (ti_method_times (self, self->call_times), &scratch->call);
    plan->benefit_ns =
        ti_single_r_benefit (&scratch->call, NULL, plan->delay_ns, self->policy.target_ppm);
    /* Nobody knows how long the slow ones would have taken. */
    if (plan->benefit_ns == TIED_NEVER)
        plan->benefit_ns = 0;
    plan->typical_ns = ti_curve_percentile (&scratch->call, TIED_PPM / 2);
}

void ti_method_plan (struct ti_method *self, struct ti_method_scratch *scratch, tied_time_t now)
{
    make_plan (self, scratch, now);
    plan_benefit (self, scratch);
}
