/* SPDX-License-Identifier: MIT */
/* What copies and ends of calls teach a method, and tell its governor; and its counters. */
#include "core/method.h"

#include "base/util.h"

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
    struct ti_latency *service = ti_method_times (self, self->service_times);
    if (end->ran_ns)
        ti_latency_censored (service, end->ran_ns, now);
    else if (end->service_ns && !end->hedge_won)
        ti_latency_ended (service, end->service_ns, now);
}

/* What the call and its hedge say of X and Y. Refusals say nothing of how long anything takes. */
static void learn (struct ti_method *self, const struct ti_method_end *end, tied_time_t now)
{
    struct ti_latency *call = ti_method_times (self, self->call_times);
    struct ti_latency *hedge = ti_method_times (self, self->hedge_times);
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
        ti_latency_ended (ti_method_times (self, self->answer_times), end->since_first, now);
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
