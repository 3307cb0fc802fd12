/* SPDX-License-Identifier: MIT */
/*
 * Settings per method, as a client core applies them: which of its methods a call belongs to, what
 * it leaves to the settings, and that every reason for a copy not sent moves its own counter.
 */
#include "check.h"
#include "client_rig.h"

#define METHODS 3

static void setup (struct rig *rig, uint32_t replicas)
{
    rig_init (rig);
    rig->options.methods_max = METHODS;
    rig_start (rig);
    for (uint32_t i = 0; i < replicas; i++)
        CHECK_U64 (rig_replica (rig, 100 + i), ==, i);
    rig_forget (rig);
}

/* Idempotent, and nothing but its own settings forbids a copy. */
static struct tied_policy settings (const char *rule)
{
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.is_idempotent = true;
    policy.is_governed = false;
    policy.extra_load_ppm = TIED_PPM;
    CHECK_I64 (tied_hedge_rule_parse (rule, &policy.hedge, NULL), ==, 0);
    return policy;
}

static void set (struct rig *rig, uint32_t method, const struct tied_policy *policy)
{
    CHECK_I64 (tied_client_core_set_policy (rig->core, method, policy), ==, 0);
}

/* All is left to the settings. The rig's oracle is told what the settings declare. */
static struct tied_client_submit as_method (const struct rig *rig, uint32_t method)
{
    return (struct tied_client_submit){
        .method = method,
        .mode = TIED_MODE_POLICY,
        .is_idempotent = tied_client_core_policy (rig->core, method)->is_idempotent,
        .deadline = rig->now + MS (300),
        .stagger_ns = TIED_STAGGER_POLICY,
        .hedge_ns = TIED_HEDGE_POLICY};
}

static void submit (struct rig *rig, const struct tied_client_submit *call)
{
    rig_forget (rig);
    CHECK_I64 (rig_submit (rig, call), ==, 0);
    /* When the settings' delay is over is their business. */
    rig->calls[call->token].hedge_from = 0;
}

static void advance (struct rig *rig, tied_duration_t by)
{
    rig_advance (rig, rig->now + by);
}

static uint32_t requests (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

static void answer (struct rig *rig, uint32_t n)
{
    const struct tied_client_action *a = rig_get (rig, TIED_CLIENT_ACT_SEND_REQUEST, n);
    rig_reply (rig, a->replica, a->call, a->u.request.copy, 0);
}

static struct tied_client_method look (const struct rig *rig, uint32_t method)
{
    struct tied_client_method out;
    CHECK_I64 (tied_client_core_method (rig->core, method, &out), ==, 0);
    return out;
}

static void each_method_has_settings_of_its_own (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy tied = settings ("never");
    struct tied_policy hedged = settings ("10ms");
    tied.stagger_ns = MS (2);
    hedged.mode = TIED_MODE_SINGLE;
    set (&rig, 1, &tied);
    set (&rig, 2, &hedged);
    /* 0: nothing is declared. */
    struct tied_client_submit call = as_method (&rig, 0);
    submit (&rig, &call);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 1);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    call = as_method (&rig, 1);
    submit (&rig, &call);
    advance (&rig, MS (2) - 1);
    CHECK_U64 (requests (&rig), ==, 1);
    advance (&rig, 1);
    CHECK_U64 (requests (&rig), ==, 2);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 2);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->stagger_ns, ==, MS (2));
    call = as_method (&rig, 2);
    submit (&rig, &call);
    advance (&rig, MS (10) - 1);
    CHECK_U64 (requests (&rig), ==, 1);
    advance (&rig, 1);
    CHECK_U64 (requests (&rig), ==, 2);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (look (&rig, 0).counters.calls, ==, 1);
    CHECK_U64 (look (&rig, 1).counters.tied, ==, 1);
    CHECK_U64 (look (&rig, 1).counters.hedged, ==, 0);
    CHECK_U64 (look (&rig, 2).counters.tied, ==, 0);
    CHECK_U64 (look (&rig, 2).counters.hedged, ==, 1);
    CHECK_U64 (look (&rig, 2).counters.hedges_won, ==, 1);
    rig_stop (&rig);
}

static void a_call_may_have_its_own_mode_stagger_and_hedge (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    const struct tied_policy policy = settings ("10ms");
    set (&rig, 1, &policy);
    struct tied_client_submit call = as_method (&rig, 1);
    call.mode = TIED_MODE_SINGLE;
    call.hedge_ns = TIED_HEDGE_NONE;
    submit (&rig, &call);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 1);
    answer (&rig, 0);
    call = as_method (&rig, 1);
    call.stagger_ns = MS (7);
    call.hedge_ns = MS (20);
    submit (&rig, &call);
    advance (&rig, MS (7));
    CHECK_U64 (requests (&rig), ==, 2);
    advance (&rig, MS (12));
    CHECK_U64 (requests (&rig), ==, 2);
    advance (&rig, MS (1));
    CHECK_U64 (requests (&rig), ==, 3);
    answer (&rig, 0);
    rig_stop (&rig);
}

static void methods_out_of_range_are_refused (void **state)
{
    struct rig rig;
    struct tied_client_method out;
    (void)state;
    setup (&rig, 2);
    struct tied_policy policy = settings ("never");
    struct tied_client_submit call = as_method (&rig, 0);
    call.method = METHODS;
    CHECK_I64 (rig_submit (&rig, &call), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_core_set_policy (rig.core, METHODS, &policy), ==, TIED_ERR_INVAL);
    CHECK_PTR (tied_client_core_policy (rig.core, METHODS), ==, NULL);
    CHECK_I64 (tied_client_core_method (rig.core, METHODS, &out), ==, TIED_ERR_INVAL);
    policy.burst_milli = 0;
    CHECK_I64 (tied_client_core_set_policy (rig.core, 1, &policy), ==, TIED_ERR_INVAL);
    CHECK_U64 (tied_client_core_policy (rig.core, 1)->burst_milli, ==, 10000);
    rig_stop (&rig);
}

static void one_methods_budget_is_not_anothers (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy poor = settings ("1ms");
    const struct tied_policy rich = settings ("1ms");
    poor.extra_load_ppm = 0;
    set (&rig, 1, &poor);
    set (&rig, 2, &rich);
    for (uint32_t round = 0; round < 5; round++) {
        for (uint32_t method = 1; method <= 2; method++) {
            struct tied_client_submit call = as_method (&rig, method);
            call.mode = TIED_MODE_SINGLE;
            submit (&rig, &call);
            advance (&rig, MS (1));
            CHECK_U64 (requests (&rig), ==, method);
            answer (&rig, 0);
        }
    }
    CHECK_U64 (look (&rig, 1).counters.not_sent[TIED_NOT_SENT_BUDGET], ==, 5);
    CHECK_U64 (look (&rig, 2).counters.not_sent[TIED_NOT_SENT_BUDGET], ==, 0);
    CHECK_U64 (rig_counters (&rig)->not_sent_budget, ==, 5);
    rig_stop (&rig);
}

/* After 2 ms, and then when it has been pending twice as long as before. */
static void a_hedge_without_a_token_is_asked_for_again_while_the_call_is_pending (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    struct tied_policy policy = settings ("2ms");
    policy.extra_load_ppm = TIED_PPM / 2;
    set (&rig, 1, &policy);
    struct tied_client_submit call = as_method (&rig, 1);
    call.mode = TIED_MODE_SINGLE;
    submit (&rig, &call);
    advance (&rig, MS (2));
    CHECK_U64 (requests (&rig), ==, 1);
    /* The second call pays the other half, and is answered. */
    struct tied_client_submit other = call;
    other.token++;
    submit (&rig, &other);
    answer (&rig, 0);
    advance (&rig, MS (2) - 1);
    CHECK_U64 (requests (&rig), ==, 1);
    advance (&rig, 1);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 1)->u.request.copy, ==, 2);
    answer (&rig, 1);
    const struct tied_client_action *done = rig_get (&rig, TIED_CLIENT_ACT_COMPLETE, 1);
    CHECK_U64 (done->u.completion.hedge_not_sent, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, 1);
    CHECK_U64 (rig_counters (&rig)->not_sent_budget, ==, 0);
    rig_stop (&rig);
}

static void other_settings_hold_for_the_next_call_and_for_hedges_that_are_due_later (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy policy = settings ("10ms");
    policy.mode = TIED_MODE_SINGLE;
    set (&rig, 1, &policy);
    struct tied_client_submit call = as_method (&rig, 1);
    submit (&rig, &call);
    policy.is_off = true;
    set (&rig, 1, &policy);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 1);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_OFF);
    policy = settings ("5ms");
    policy.stagger_ns = MS (1);
    set (&rig, 1, &policy);
    call = as_method (&rig, 1);
    submit (&rig, &call);
    advance (&rig, MS (5));
    CHECK_U64 (requests (&rig), ==, 3);
    answer (&rig, 0);
    rig_stop (&rig);
}

static void a_methods_min_remaining_keeps_hopeless_copies_at_home (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy policy = settings ("10ms");
    policy.min_remaining_ns = MS (295);
    policy.mode = TIED_MODE_SINGLE;
    set (&rig, 1, &policy);
    const struct tied_client_submit call = as_method (&rig, 1);
    submit (&rig, &call);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 1);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_DEADLINE_NEAR);
    rig_stop (&rig);
}

static void a_refused_hedge_of_a_pair_costs_nothing_and_asks_the_other (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    const struct tied_policy policy = settings ("10ms");
    set (&rig, 1, &policy);
    struct tied_client_submit call = as_method (&rig, 1);
    call.stagger_ns = 0;
    submit (&rig, &call);
    advance (&rig, MS (10));
    CHECK_U64 (requests (&rig), ==, 3);
    /* Copy 1's replica first: mostly copy 0 has started, and copy 1 was dropped. */
    const uint32_t first = rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 2)->replica;
    CHECK_U64 (first, ==, rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 1)->replica);
    CHECK_I64 (look (&rig, 1).budget_milli, ==, 0);
    rig_reject (&rig, first, rig.calls[0].id, 2, TIED_REJECT_DUPLICATE);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 3)->replica, ==, 1 - first);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 3)->u.request.copy, ==, 2);
    /* Both hold it: again after as much time as it has been pending, with the same token. */
    rig_reject (&rig, 1 - first, rig.calls[0].id, 2, TIED_REJECT_DUPLICATE);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_I64 (look (&rig, 1).budget_milli, ==, 1000);
    advance (&rig, MS (10) - 1);
    CHECK_U64 (requests (&rig), ==, 4);
    advance (&rig, 1);
    CHECK_U64 (requests (&rig), ==, 5);
    CHECK_I64 (look (&rig, 1).budget_milli, ==, 0);
    answer (&rig, 4);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, 1);
    rig_stop (&rig);
}

static void CL_01_without_tokens_a_refused_call_ends_at_once (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy policy = settings ("50ms");
    policy.mode = TIED_MODE_SINGLE;
    policy.extra_load_ppm = 0;
    policy.debt_milli = 0;
    set (&rig, 1, &policy);
    const struct tied_client_submit call = as_method (&rig, 1);
    submit (&rig, &call);
    advance (&rig, MS (1));
    rig_reject (&rig, rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 0)->replica, rig.calls[0].id, 0,
                TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (rig_done (&rig)->latency_ns, ==, MS (1));
    rig_stop (&rig);
}

static void CL_02_without_tokens_the_first_copy_goes_on (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy policy = settings ("50ms");
    policy.mode = TIED_MODE_SINGLE;
    policy.extra_load_ppm = 0;
    set (&rig, 1, &policy);
    const struct tied_client_submit call = as_method (&rig, 1);
    submit (&rig, &call);
    advance (&rig, MS (80));
    answer (&rig, 0);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->latency_ns, ==, MS (80));
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_BUDGET);
    CHECK_U64 (rig_counters (&rig)->not_sent_budget, ==, 1);
    rig_stop (&rig);
}

static void CL_25_a_quick_refusal_sends_the_hedge_at_once_and_charges_it (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy policy = settings ("100ms");
    policy.mode = TIED_MODE_SINGLE;
    set (&rig, 1, &policy);
    const struct tied_client_submit call = as_method (&rig, 1);
    submit (&rig, &call);
    CHECK_I64 (look (&rig, 1).budget_milli, ==, 1000);
    advance (&rig, MS (1));
    const uint32_t first = rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 0)->replica;
    rig_reject (&rig, first, rig.calls[0].id, 0, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 1)->replica, !=, first);
    CHECK_I64 (look (&rig, 1).budget_milli, ==, 0);
    CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

/* Counters that differ from what they were, beside those that every call moves. */
static uint32_t moved (const struct tied_client_counters *before,
                       const struct tied_client_counters *after)
{
    struct tied_client_counters rest = *after;
    uint32_t count = 0;
    rest.submitted = before->submitted;
    rest.calls_ok = before->calls_ok;
    rest.copies_sent = before->copies_sent;
    rest.copies_primary = before->copies_primary;
    rest.copies_won = before->copies_won;
#define COUNT_IF_MOVED(name) count += rest.name != before->name;
    TIED_CLIENT_COUNTER_MAP (COUNT_IF_MOVED)
#undef COUNT_IF_MOVED
    return count;
}

/* One story for each, and all that it moves. */
static void BE_12_each_deed_moves_its_own_counters (void **state)
{
    struct rig rig;
    struct tied_client_counters before;
    const struct tied_client_counters *now;
    (void)state;
    setup (&rig, 4);
    struct tied_policy policy = settings ("10ms");
    set (&rig, 1, &policy);
    now = rig_counters (&rig);
    struct tied_client_submit call = as_method (&rig, 1);
    /* A tie whose copy 0 wins; its loser answers late. */
    before = *now;
    call.stagger_ns = 0;
    submit (&rig, &call);
    answer (&rig, 0);
    CHECK_U64 (now->copies_tied, ==, before.copies_tied + 1);
    CHECK_U64 (now->copies_lost_race, ==, before.copies_lost_race + 1);
    CHECK_U64 (now->cancels_sent, ==, before.cancels_sent + 1);
    CHECK_U64 (now->not_sent_answered, ==, before.not_sent_answered + 1); /* its hedge */
    CHECK_U64 (moved (&before, now), ==, 4);
    before = *now;
    answer (&rig, 1);
    CHECK_U64 (now->late_replies, ==, before.late_replies + 1);
    CHECK_U64 (now->duplicates, ==, before.duplicates + 1);
    CHECK_U64 (moved (&before, now), ==, 2);
    /* Of another epoch. */
    before = *now;
    struct tied_call_id other = rig.calls[0].id;
    other.epoch++;
    rig_reply (&rig, 0, other, 0, 0);
    CHECK_U64 (now->foreign_replies, ==, before.foreign_replies + 1);
    CHECK_U64 (moved (&before, now), ==, 1);
    /* A hedge that wins. */
    before = *now;
    call = as_method (&rig, 1);
    call.mode = TIED_MODE_SINGLE;
    submit (&rig, &call);
    advance (&rig, MS (10));
    answer (&rig, 1);
    CHECK_U64 (now->copies_hedged, ==, before.copies_hedged + 1);
    CHECK_U64 (now->wins_hedged, ==, before.wins_hedged + 1);
    CHECK_U64 (now->copies_lost_race, ==, before.copies_lost_race + 1);
    CHECK_U64 (now->cancels_sent, ==, before.cancels_sent + 1);
    CHECK_U64 (moved (&before, now), ==, 4);
    /* A hedge that is refused. */
    before = *now;
    call = as_method (&rig, 1);
    call.mode = TIED_MODE_SINGLE;
    submit (&rig, &call);
    advance (&rig, MS (10));
    rig_reject (&rig, rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 1)->replica, rig.calls[0].id, 2,
                TIED_REJECT_BUSY);
    answer (&rig, 0);
    CHECK_U64 (now->copies_hedged, ==, before.copies_hedged + 1);
    CHECK_U64 (now->copies_rejected, ==, before.copies_rejected + 1);
    CHECK_U64 (moved (&before, now), ==, 2);
    CHECK_U64 (look (&rig, 1).counters.extra_refused, ==, 1);
    rig_stop (&rig);
}

/* Sum of all reasons, of the client and of the method. */
static uint64_t all_reasons (const struct rig *rig)
{
    const struct tied_client_counters *n = rig_counters (rig);
    return n->not_sent_not_idempotent + n->not_sent_no_sibling + n->not_sent_answered +
           n->not_sent_deadline_near + n->not_sent_link_down + n->not_sent_copies_max +
           n->not_sent_budget + n->not_sent_governor + n->not_sent_cold + n->not_sent_no_benefit +
           n->not_sent_canary + n->not_sent_shadow + n->not_sent_chain_stop + n->not_sent_off;
}

struct scenario {
    const char *rule;
    enum tied_not_sent reason;
    size_t counter; /* of struct tied_client_counters */
    bool is_off, is_shadow, is_inner, is_cold, is_poor, is_governed;
    uint32_t canary_ppm;
};

#define COUNTER(name) offsetof (struct tied_client_counters, name)

/* A hedge that does not go, for each of the reasons that are the settings'; the others are told by
 * the tests of the hedge itself. */
static void BE_12_each_reason_moves_its_own_counter_and_no_other (void **state)
{
    static const struct scenario scenarios[] = {
        {"5ms", TIED_NOT_SENT_OFF, COUNTER (not_sent_off), .is_off = true, .canary_ppm = TIED_PPM},
        {"5ms", TIED_NOT_SENT_CANARY, COUNTER (not_sent_canary), .canary_ppm = 0},
        {"5ms", TIED_NOT_SENT_SHADOW, COUNTER (not_sent_shadow), .is_shadow = true,
         .canary_ppm = TIED_PPM},
        {"5ms", TIED_NOT_SENT_CHAIN_STOP, COUNTER (not_sent_chain_stop), .is_inner = true,
         .canary_ppm = TIED_PPM},
        {"p99", TIED_NOT_SENT_COLD, COUNTER (not_sent_cold), .is_cold = true,
         .canary_ppm = TIED_PPM},
        {"auto", TIED_NOT_SENT_NO_BENEFIT, COUNTER (not_sent_no_benefit), .canary_ppm = TIED_PPM},
        {"5ms", TIED_NOT_SENT_BUDGET, COUNTER (not_sent_budget), .is_poor = true,
         .canary_ppm = TIED_PPM},
        {"5ms", TIED_NOT_SENT_GOVERNOR, COUNTER (not_sent_governor), .is_governed = true,
         .canary_ppm = TIED_PPM}};
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *s = &scenarios[i];
        struct rig rig;
        setup (&rig, 3);
        struct tied_policy policy = settings ("never");
        policy.mode = TIED_MODE_SINGLE;
        policy.is_governed = s->is_governed;
        policy.governor.min_events = 10;
        policy.extra_load_ppm = s->is_poor ? 0 : TIED_PPM;
        set (&rig, 1, &policy);
        for (uint32_t n = 0; n < 120; n++) {
            const struct tied_client_submit call = as_method (&rig, 1);
            submit (&rig, &call);
            advance (&rig, MS (1));
            const struct tied_client_action *a = rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 0);
            rig_fail (&rig, a->replica, a->call, 0, s->is_governed ? 9 : 0, 0);
        }
        CHECK_U64 (all_reasons (&rig), ==, 0);
        policy.is_off = s->is_off;
        policy.is_shadow = s->is_shadow;
        policy.canary_ppm = s->canary_ppm;
        policy.min_samples = s->is_cold ? 1000 : 100;
        policy.hedge_initial_ns = TIED_NEVER;
        CHECK_I64 (tied_hedge_rule_parse (s->rule, &policy.hedge, NULL), ==, 0);
        set (&rig, 1, &policy);
        struct tied_client_submit call = as_method (&rig, 1);
        call.is_inner = s->is_inner;
        submit (&rig, &call);
        advance (&rig, MS (20));
        CHECK_U64 (requests (&rig), ==, 1);
        answer (&rig, 0);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, s->reason);
        CHECK_U64 (all_reasons (&rig), ==, 1);
        CHECK_U64 (
            *(const uint64_t *)(const void *)((const char *)rig_counters (&rig) + s->counter), ==,
            1);
        CHECK_U64 (look (&rig, 1).counters.not_sent[s->reason], ==, 1);
        rig_stop (&rig);
    }
}

static void what_was_learned_is_seen_from_outside (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_policy policy = settings ("p50");
    policy.mode = TIED_MODE_SINGLE;
    policy.target_ppm = 900000;
    set (&rig, 1, &policy);
    CHECK_U64 (look (&rig, 1).hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (look (&rig, 1).hedge_reason, ==, TIED_NOT_SENT_COLD);
    for (uint32_t n = 0; n < 150; n++) {
        const struct tied_client_submit call = as_method (&rig, 1);
        submit (&rig, &call);
        advance (&rig, MS (5));
        answer (&rig, 0);
        for (uint32_t replica = 0; replica < 3; replica++)
            rig_pong (&rig, replica, (struct tied_load){0, 0, 0});
    }
    const struct tied_client_method seen = look (&rig, 1);
    CHECK_U64 (seen.counters.calls, ==, 150);
    CHECK_U64 (seen.samples + seen.counters.hedges_won, ==, 150);
    CHECK_U64 (seen.without_ns, >=, MS (5) - US (200));
    CHECK_U64 (seen.without_ns, <=, MS (5) + US (200));
    CHECK_U64 (seen.target_ppm, ==, 900000);
    CHECK_U64 (look (&rig, 0).samples, ==, 0);
    rig_stop (&rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_method_has_settings_of_its_own),
        cmocka_unit_test (a_call_may_have_its_own_mode_stagger_and_hedge),
        cmocka_unit_test (methods_out_of_range_are_refused),
        cmocka_unit_test (one_methods_budget_is_not_anothers),
        cmocka_unit_test (a_hedge_without_a_token_is_asked_for_again_while_the_call_is_pending),
        cmocka_unit_test (other_settings_hold_for_the_next_call_and_for_hedges_that_are_due_later),
        cmocka_unit_test (a_methods_min_remaining_keeps_hopeless_copies_at_home),
        cmocka_unit_test (a_refused_hedge_of_a_pair_costs_nothing_and_asks_the_other),
        cmocka_unit_test (CL_01_without_tokens_a_refused_call_ends_at_once),
        cmocka_unit_test (CL_02_without_tokens_the_first_copy_goes_on),
        cmocka_unit_test (CL_25_a_quick_refusal_sends_the_hedge_at_once_and_charges_it),
        cmocka_unit_test (BE_12_each_deed_moves_its_own_counters),
        cmocka_unit_test (BE_12_each_reason_moves_its_own_counter_and_no_other),
        cmocka_unit_test (what_was_learned_is_seen_from_outside),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
