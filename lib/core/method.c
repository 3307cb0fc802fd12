/* SPDX-License-Identifier: MIT */
/* Where a method's settings, estimates, budget and governor meet. */
#include "core/method.h"

#include "base/assert.h"
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

static const struct ti_relief no_relief = {TIED_NEVER, TIED_NEVER};

static struct ti_latency *times_at (const struct ti_method *self, size_t offset)
{
    return TI_AT (struct ti_latency, (void *)(uintptr_t)self, offset);
}

size_t ti_method_size (tied_duration_t window_ns)
{
    return window_ns ? 4 * ti_align (ti_latency_size ()) : 0;
}

void ti_method_init (struct ti_method *self, void *arrays, tied_duration_t window_ns)
{
    *self = (struct ti_method){.learns = window_ns != 0, .plan.relief = no_relief};
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
    (void)ti_latency_init (times_at (self, self->call_times), window_ns);
    (void)ti_latency_init (times_at (self, self->hedge_times), window_ns);
    (void)ti_latency_init (times_at (self, self->answer_times), window_ns);
    (void)ti_latency_init (times_at (self, self->service_times), window_ns);
}

void ti_method_change (struct ti_method *self, const struct tied_policy *policy)
{
    self->policy = *policy;
    self->plan.until = 0;
    ti_budget_change (&self->budget, policy);
    ti_governor_change (&self->governor, &policy->governor);
}

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
                            : ti_latency_percentile (times_at (self, self->call_times),
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
    ti_latency_curve (times_at (self, self->call_times), &scratch->call);
    ti_latency_curve (times_at (self, self->hedge_times), &scratch->hedge);
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
    struct ti_latency *service = times_at (self, self->service_times);
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
    ti_latency_turn (times_at (self, self->call_times), now);
    ti_latency_turn (times_at (self, self->hedge_times), now);
    return ti_latency_samples (times_at (self, self->call_times)) < self->policy.min_samples;
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
                                    .relief = no_relief};
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
    ti_latency_curve (times_at (self, self->call_times), &scratch->call);
    plan->benefit_ns =
        ti_single_r_benefit (&scratch->call, NULL, plan->delay_ns, self->policy.target_ppm);
    /* Nobody knows how long the slow ones would have taken. */
    if (plan->benefit_ns == TIED_NEVER)
        plan->benefit_ns = 0;
    plan->typical_ns = ti_curve_percentile (&scratch->call, TIED_PPM / 2);
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
        make_plan (self, scratch, now);
        plan_benefit (self, scratch);
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

static void note (struct ti_method *self, enum ti_governor_event event, tied_time_t now)
{
    if (self->policy.is_governed)
        ti_governor_count (&self->governor, event, now);
}

void ti_method_extra (struct ti_method *self, bool is_hedge, tied_time_t now)
{
    self->counters.extra_copies++;
    if (!is_hedge)
        note (self, TI_GOVERNOR_EXTRA, now);
}

void ti_method_refused (struct ti_method *self, bool is_hedge, tied_time_t now)
{
    self->counters.extra_refused++;
    if (!is_hedge)
        note (self, TI_GOVERNOR_REJECTED, now);
}

void ti_method_duplicate (struct ti_method *self, tied_time_t now)
{
    self->counters.duplicates++;
    ti_budget_charge (&self->budget);
    note (self, TI_GOVERNOR_DUPLICATE, now);
}

/* What an execution takes. One that a hedge has ended took at least so long; the hedge's own time
 * is left out, or each slow call would count as a quick one as well. */
static void learn_service (struct ti_method *self, const struct ti_method_end *end, tied_time_t now)
{
    struct ti_latency *service = times_at (self, self->service_times);
    if (end->ran_ns)
        ti_latency_censored (service, end->ran_ns, now);
    else if (end->service_ns && !end->hedge_won)
        ti_latency_ended (service, end->service_ns, now);
}

/* What the call and its hedge say of X and Y. Refusals say nothing of how long anything takes. */
static void learn (struct ti_method *self, const struct ti_method_end *end, tied_time_t now)
{
    struct ti_latency *call = times_at (self, self->call_times);
    struct ti_latency *hedge = times_at (self, self->hedge_times);
    const bool is_answered =
        end->outcome == TIED_OUTCOME_OK || end->outcome == TIED_OUTCOME_APP_ERROR;
    if (!self->learns || !end->was_sent || end->outcome == TIED_OUTCOME_REJECTED ||
        end->outcome == TIED_OUTCOME_UNIMPLEMENTED || end->outcome == TIED_OUTCOME_INVALID)
        return;
    if (is_answered && !end->hedge_won && !end->was_lost)
        ti_latency_ended (call, end->since_first, now);
    else
        ti_latency_censored (call, end->since_first, now);
    if (self->policy.hedge.kind == TIED_HEDGE_RULE_AUTO)
        learn_service (self, end, now);
    if (is_answered)
        ti_latency_ended (times_at (self, self->answer_times), end->since_first, now);
    if (!end->was_hedged)
        return;
    if (end->hedge_won)
        ti_latency_ended (hedge, end->since_hedge, now);
    else
        ti_latency_censored (hedge, end->since_hedge, now);
}

void ti_method_end (struct ti_method *self, const struct ti_method_end *end, tied_time_t now)
{
    learn (self, end, now);
    if (end->was_tied) {
        self->counters.tied++;
        note (self, TI_GOVERNOR_TIED, now);
    }
    self->counters.hedged += end->was_hedged;
    if (end->was_relieved) {
        self->counters.relieved++;
        if (end->outcome != TIED_OUTCOME_CANCELLED)
            ti_relief_ended (&self->trust, end->hedge_won, now);
    }
    if (end->outcome != TIED_OUTCOME_OK && end->outcome != TIED_OUTCOME_APP_ERROR)
        return;
    note (self, TI_GOVERNOR_CALL, now);
    self->counters.shadow_won += end->since_shadow > self->plan.typical_ns;
    if (end->outcome == TIED_OUTCOME_APP_ERROR)
        note (self, TI_GOVERNOR_ERROR, now);
    if (!end->was_hedged)
        return;
    note (self, TI_GOVERNOR_HEDGE, now);
    if (end->hedge_won) {
        self->counters.hedges_won++;
        note (self, TI_GOVERNOR_WIN, now);
    }
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
    out->samples = ti_latency_samples (times_at (self, self->call_times));
    out->without_ns = ti_latency_percentile (times_at (self, self->call_times), target);
    out->achieved_ns = ti_latency_percentile (times_at (self, self->answer_times), target);
}

void ti_method_check (const struct ti_method *self)
{
    if (self->learns) {
        ti_latency_check (times_at (self, self->call_times));
        ti_latency_check (times_at (self, self->hedge_times));
        ti_latency_check (times_at (self, self->answer_times));
        ti_latency_check (times_at (self, self->service_times));
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
