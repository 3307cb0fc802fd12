/* SPDX-License-Identifier: MIT */
/*
 * What is decided per method, one claim per test: no core, no replica, no copy; only wishes, ends
 * and verdicts.
 */
#include "core/method.h"

#include "base/util.h"
#include "check.h"

#define WINDOW S (10)
#define TENTH  (TIED_PPM / 10)

struct bench {
    struct ti_method *method;
    struct ti_method_scratch *scratch;
    struct ti_prng prng;
    tied_time_t now;
};

static void make_with (struct bench *bench, tied_duration_t window)
{
    const size_t own = ti_align (sizeof (struct ti_method));
    char *memory = malloc (own + ti_method_size (window));
    CHECK_TRUE (memory != NULL);
    bench->method = (struct ti_method *)(void *)memory;
    bench->scratch = malloc (sizeof *bench->scratch);
    CHECK_TRUE (bench->scratch != NULL);
    ti_prng_seed (&bench->prng, 1);
    bench->now = S (1);
    ti_method_init (bench->method, memory + own, window);
}

static void make (struct bench *bench)
{
    make_with (bench, WINDOW);
}

static void unmake (struct bench *bench)
{
    ti_method_check (bench->method);
    free (bench->method);
    free (bench->scratch);
}

static struct tied_policy settings (const char *rule)
{
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.is_idempotent = true;
    policy.extra_load_ppm = TIED_PPM;
    CHECK_I64 (tied_hedge_rule_parse (rule, &policy.hedge, NULL), ==, 0);
    return policy;
}

static void change (struct bench *bench, const struct tied_policy *policy)
{
    CHECK_I64 (tied_policy_check (policy, NULL), ==, 0);
    ti_method_change (bench->method, policy);
}

/* Of a call that wishes for what the method says, and declares nothing itself. */
static struct ti_method_verdict ask (struct bench *bench)
{
    const struct ti_method_wish wish = {.mode = TIED_MODE_POLICY, .hedge_ns = TIED_HEDGE_POLICY};
    struct ti_method_verdict verdict;
    ti_method_begin (bench->method, &wish, &bench->prng, bench->scratch, bench->now, &verdict);
    ti_method_check (bench->method);
    return verdict;
}

static struct ti_method_verdict wish (struct bench *bench, struct ti_method_wish wish)
{
    struct ti_method_verdict verdict;
    ti_method_begin (bench->method, &wish, &bench->prng, bench->scratch, bench->now, &verdict);
    ti_method_check (bench->method);
    return verdict;
}

/* Calls without a hedge that end well, each after the next millisecond of low .. high. */
static void teach (struct bench *bench, uint32_t calls, uint32_t low_ms, uint32_t high_ms)
{
    for (uint32_t i = 0; i < calls; i++) {
        const struct ti_method_end end = {.outcome = TIED_OUTCOME_OK,
                                          .was_sent = true,
                                          .since_first = MS (low_ms + i % (high_ms - low_ms + 1))};
        ti_method_end (bench->method, &end, bench->now);
    }
}

/* Later than the plan in use. */
static void age (struct bench *bench)
{
    bench->now += TI_METHOD_PLAN_NS;
}

static void nothing_is_declared_by_default_so_there_is_one_copy (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.is_idempotent = false;
    change (&b, &policy);
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (verdict.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_U64 (verdict.hedge_ns, ==, TIED_NEVER);
    CHECK_FALSE (verdict.is_idempotent);
    CHECK_U64 (b.method->counters.calls, ==, 1);
    CHECK_U64 (b.method->counters.eligible, ==, 0);
    unmake (&b);
}

static void CL_20_the_call_or_its_method_declares_it_harmless_to_run_twice (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.is_idempotent = false;
    change (&b, &policy);
    const struct ti_method_verdict own = wish (
        &b, (struct ti_method_wish){
                .mode = TIED_MODE_POLICY, .is_idempotent = true, .hedge_ns = TIED_HEDGE_POLICY});
    CHECK_U64 (own.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (own.hedge_ns, ==, MS (10));
    CHECK_TRUE (own.is_idempotent);
    policy.is_idempotent = true;
    change (&b, &policy);
    const struct ti_method_verdict methods = ask (&b);
    CHECK_U64 (methods.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (methods.hedge_ns, ==, MS (10));
    CHECK_TRUE (methods.is_idempotent);
    CHECK_U64 (b.method->counters.eligible, ==, 2);
    unmake (&b);
}

static void a_call_that_wishes_for_nothing_extra_has_no_reason_to_give (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.is_idempotent = false;
    change (&b, &policy);
    const struct ti_method_verdict verdict =
        wish (&b, (struct ti_method_wish){.mode = TIED_MODE_SINGLE, .hedge_ns = TIED_HEDGE_NONE});
    CHECK_U64 (verdict.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

static void a_calls_own_wish_goes_before_that_of_its_method (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("10ms");
    change (&b, &policy);
    struct ti_method_verdict verdict =
        wish (&b, (struct ti_method_wish){.mode = TIED_MODE_SINGLE, .hedge_ns = MS (3)});
    CHECK_U64 (verdict.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (verdict.hedge_ns, ==, MS (3));
    verdict =
        wish (&b, (struct ti_method_wish){.mode = TIED_MODE_POLICY, .hedge_ns = TIED_HEDGE_NOW});
    CHECK_U64 (verdict.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (verdict.hedge_ns, ==, 0);
    verdict = wish (&b, (struct ti_method_wish){.mode = TIED_MODE_TIED, .hedge_ns = TIED_NEVER});
    CHECK_U64 (verdict.hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

static void exclusive_needs_no_declaration_and_has_no_hedge (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.is_idempotent = false;
    policy.mode = TIED_MODE_EXCLUSIVE;
    change (&b, &policy);
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (verdict.mode, ==, TIED_MODE_EXCLUSIVE);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (verdict.hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_FALSE (verdict.is_idempotent);
    unmake (&b);
}

static void the_kill_switch_leaves_one_copy_and_holds_back_hedges_that_are_due (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    change (&b, &policy);
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (10));
    policy.is_off = true;
    change (&b, &policy);
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (verdict.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_OFF);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_OFF);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_OFF);
    CHECK_U64 (b.method->budget.spent, ==, 0);
    policy.is_off = false;
    change (&b, &policy);
    CHECK_U64 (ask (&b).mode, ==, TIED_MODE_TIED);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

static void canary_is_a_share_of_the_eligible_calls (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.canary_ppm = TENTH;
    change (&b, &policy);
    uint32_t tied = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const struct ti_method_verdict verdict = ask (&b);
        /* Both or neither: it is the call that is chosen. */
        CHECK_U64 (verdict.not_tied, ==, verdict.not_hedged);
        if (verdict.mode == TIED_MODE_TIED)
            tied++;
        else
            CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_CANARY);
    }
    CHECK_U64 (tied, >=, 850);
    CHECK_U64 (tied, <=, 1150);
    CHECK_U64 (b.method->counters.eligible, ==, tied);
    policy.canary_ppm = 0;
    change (&b, &policy);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK_U64 (ask (&b).not_tied, ==, TIED_NOT_SENT_CANARY);
    unmake (&b);
}

static void shadow_decides_and_counts_and_sends_nothing (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("5ms");
    policy.is_shadow = true;
    policy.extra_load_ppm = TIED_PPM / 2;
    change (&b, &policy);
    /* Nine of ten take 1 ms, one takes 30. */
    for (uint32_t i = 0; i < 100; i++) {
        teach (&b, 9, 1, 1);
        teach (&b, 1, 30, 30);
    }
    for (uint32_t i = 0; i < 4; i++) {
        const struct ti_method_verdict verdict = ask (&b);
        CHECK_U64 (verdict.mode, ==, TIED_MODE_SINGLE);
        CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_SHADOW);
        /* The delay runs, for whether the call is pending then is what shadow wants to know. */
        CHECK_U64 (verdict.hedge_ns, ==, MS (5));
    }
    CHECK_U64 (b.method->counters.shadow_tied, ==, 4);
    /* The budget is that of a real hedge: four calls have paid for two. */
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_SHADOW);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_SHADOW);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    CHECK_U64 (b.method->counters.shadow_hedged, ==, 2);
    /* Pending at 5 ms means 25 ms to go; a copy takes 1 ms in nine cases of ten. */
    CHECK_U64 (b.method->counters.shadow_saved_us, >=, 2 * 19000);
    CHECK_U64 (b.method->counters.shadow_saved_us, <=, 2 * 25000);
    CHECK_U64 (b.method->counters.extra_copies, ==, 0);
    /* The copy would have taken 1 ms, as most calls do. */
    static const tied_duration_t since[] = {TIED_MS (2), TIED_US (900)};
    for (int i = 0; i < 2; i++) {
        const struct ti_method_end end = {.outcome = TIED_OUTCOME_OK,
                                          .was_sent = true,
                                          .since_first = MS (5) + since[i],
                                          .since_shadow = since[i]};
        ti_method_end (b.method, &end, b.now);
        CHECK_U64 (b.method->counters.shadow_won, ==, 1);
    }
    ti_method_check (b.method);
    unmake (&b);
}

static void chain_stop_forbids_the_hedge_and_not_the_tie (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("10ms");
    change (&b, &policy);
    const struct ti_method_verdict verdict =
        wish (&b, (struct ti_method_wish){
                      .mode = TIED_MODE_POLICY, .is_inner = true, .hedge_ns = TIED_HEDGE_POLICY});
    CHECK_U64 (verdict.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_CHAIN_STOP);
    CHECK_U64 (verdict.hedge_ns, ==, TIED_NEVER);
    unmake (&b);
}

/* Settings whose governor stops on few events and holds for a second. */
static struct tied_policy governed (const char *rule)
{
    struct tied_policy policy = settings (rule);
    policy.governor.min_events = 10;
    policy.governor.hold_ns = S (1);
    return policy;
}

static void end_call (struct bench *bench, struct ti_method_end end)
{
    end.was_sent = true;
    ti_method_end (bench->method, &end, bench->now);
}

static void NO_GAIN_stops_hedges_and_leaves_ties (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = governed ("10ms");
    policy.governor.win_ppm = TIED_PPM / 2;
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++)
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK, .was_hedged = true});
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (b.method->governor.state, ==, TIED_GOVERNOR_STOPPED);
    CHECK_U64 (b.method->governor.reason, ==, TIED_GOVERNOR_REASON_NO_GAIN);
    CHECK_U64 (verdict.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_GOVERNOR);
    /* One that was planned before is held back, too, and costs nothing. */
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_GOVERNOR);
    CHECK_U64 (b.method->budget.spent, ==, 0);
    unmake (&b);
}

static void DUPLICATES_stop_ties_and_leave_hedges (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = governed ("10ms");
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++) {
        (void)ask (&b);
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK, .was_tied = true});
        if (i % 2)
            ti_method_duplicate (b.method, b.now);
    }
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (b.method->governor.reason, ==, TIED_GOVERNOR_REASON_DUPLICATES);
    CHECK_U64 (verdict.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_GOVERNOR);
    CHECK_U64 (verdict.hedge_ns, ==, MS (10));
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

static void errors_stop_both_unless_the_method_is_not_governed (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = governed ("10ms");
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++)
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_APP_ERROR});
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (b.method->governor.reason, ==, TIED_GOVERNOR_REASON_ERRORS);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_GOVERNOR);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_GOVERNOR);
    policy.is_governed = false;
    change (&b, &policy);
    CHECK_U64 (ask (&b).mode, ==, TIED_MODE_TIED);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

/* They cost their tokens and do not win; that stops them. */
static void refused_hedges_are_not_held_against_ties (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = governed ("10ms");
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++) {
        ti_method_extra (b.method, true, b.now);
        ti_method_refused (b.method, true, b.now);
    }
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (b.method->governor.state, ==, TIED_GOVERNOR_OPEN);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (b.method->counters.extra_refused, ==, 20);
    unmake (&b);
}

static void refused_tied_copies_stop_ties_and_not_hedges (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = governed ("10ms");
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++) {
        ti_method_extra (b.method, false, b.now);
        if (i % 4)
            ti_method_refused (b.method, false, b.now);
    }
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (b.method->governor.reason, ==, TIED_GOVERNOR_REASON_REJECTIONS);
    CHECK_U64 (verdict.not_tied, ==, TIED_NOT_SENT_GOVERNOR);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (ti_method_may_hedge (b.method, false), !=, TIED_NOT_SENT_GOVERNOR);
    CHECK_U64 (b.method->counters.extra_copies, ==, 20);
    CHECK_U64 (b.method->counters.extra_refused, ==, 15);
    unmake (&b);
}

static void depth_that_replicas_report_stops_both_where_it_is_limited (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = governed ("10ms");
    const struct ti_method_wish deep = {
        .mode = TIED_MODE_POLICY, .depth_milli = 9000, .hedge_ns = TIED_HEDGE_POLICY};
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++)
        CHECK_U64 (wish (&b, deep).not_tied, ==, TIED_NOT_SENT_NONE);
    policy.governor.depth_milli = 8000;
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++)
        (void)wish (&b, deep);
    CHECK_U64 (wish (&b, deep).not_tied, ==, TIED_NOT_SENT_GOVERNOR);
    CHECK_U64 (b.method->governor.reason, ==, TIED_GOVERNOR_REASON_DEPTH);
    unmake (&b);
}

/* A probing governor lets each sixteenth through; asked for the tie and again for the hedge, it
 * would let through each eighth. */
static void the_governor_is_asked_once_per_call (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = governed ("10ms");
    change (&b, &policy);
    for (uint32_t i = 0; i < 20; i++)
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_APP_ERROR});
    (void)ask (&b);
    CHECK_U64 (b.method->governor.state, ==, TIED_GOVERNOR_STOPPED);
    b.now += S (1);
    uint32_t through = 0;
    for (uint32_t i = 0; i < 10 * TI_GOVERNOR_PROBE; i++) {
        const struct ti_method_verdict verdict = ask (&b);
        CHECK_TRUE ((verdict.not_tied == TIED_NOT_SENT_NONE) ==
                    (verdict.not_hedged == TIED_NOT_SENT_NONE));
        through += verdict.not_tied == TIED_NOT_SENT_NONE;
    }
    CHECK_U64 (b.method->governor.state, ==, TIED_GOVERNOR_PROBING);
    CHECK_U64 (through, ==, 10);
    unmake (&b);
}

static void who_may_not_have_extra_copies_does_not_use_up_a_probe (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = governed ("10ms");
    policy.is_idempotent = false;
    change (&b, &policy);
    const struct ti_method_wish declared = {
        .mode = TIED_MODE_POLICY, .is_idempotent = true, .hedge_ns = TIED_HEDGE_POLICY};
    for (uint32_t i = 0; i < 20; i++)
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_APP_ERROR});
    (void)wish (&b, declared);
    b.now += S (1);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_U64 (ask (&b).not_tied, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_U64 (wish (&b, declared).not_tied, ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

static void BE_05_a_cold_method_hedges_at_the_initial_delay (void **state)
{
    static const char *const rules[] = {"p95", "auto", "max(p50,p99)"};
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct bench b;
        make (&b);
        struct tied_policy policy = settings (rules[i]);
        policy.hedge_initial_ns = MS (40);
        policy.min_samples = 50;
        change (&b, &policy);
        for (uint32_t call = 0; call < 49; call++) {
            CHECK_U64 (ask (&b).hedge_ns, ==, MS (40));
            teach (&b, 1, 2, 2);
            age (&b);
            if (call > 40)
                b.now -= TI_METHOD_PLAN_NS - 1; /* all stay within the window */
        }
        unmake (&b);
    }
}

static void BE_05_a_fixed_term_holds_from_the_first_call_on (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    change (&b, &policy);
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (10));
    /* A percentile that is not known yet is the initial delay, a term as any other. */
    policy = settings ("min(p99,10ms)");
    change (&b, &policy);
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (10));
    policy = settings ("max(p99,200ms)");
    change (&b, &policy);
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (200));
    policy = settings ("max(p99,10ms)");
    change (&b, &policy);
    CHECK_U64 (ask (&b).hedge_ns, ==, policy.hedge_initial_ns);
    unmake (&b);
}

static void without_an_initial_delay_a_cold_method_has_no_hedge_and_says_why (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("p95");
    policy.hedge_initial_ns = TIED_NEVER;
    change (&b, &policy);
    const struct ti_method_verdict cold = ask (&b);
    CHECK_U64 (cold.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (cold.hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (cold.not_hedged, ==, TIED_NOT_SENT_COLD);
    policy.hedge.kind = TIED_HEDGE_RULE_AUTO;
    policy.hedge.count = 0;
    change (&b, &policy);
    CHECK_U64 (ask (&b).not_hedged, ==, TIED_NOT_SENT_COLD);
    CHECK_I64 (tied_hedge_rule_parse ("min(p95,20ms)", &policy.hedge, NULL), ==, 0);
    change (&b, &policy);
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (20));
    CHECK_I64 (tied_hedge_rule_parse ("p95", &policy.hedge, NULL), ==, 0);
    change (&b, &policy);
    teach (&b, 1000, 5, 5);
    CHECK_U64 (ask (&b).hedge_ns, <=, MS (6));
    unmake (&b);
}

static tied_duration_t delay_of (struct bench *bench, const char *rule)
{
    struct tied_policy policy = settings (rule);
    change (bench, &policy);
    return ask (bench).hedge_ns;
}

static void rules_take_the_least_or_greatest_of_percentiles_and_delays (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    teach (&b, 1000, 1, 100);
    const tied_duration_t p50 = delay_of (&b, "p50");
    const tied_duration_t p95 = delay_of (&b, "p95");
    CHECK_U64 (p50, >=, MS (48));
    CHECK_U64 (p50, <=, MS (53));
    CHECK_U64 (p95, >=, MS (92));
    CHECK_U64 (p95, <=, MS (99));
    CHECK_U64 (delay_of (&b, "min(p50,p95)"), ==, p50);
    CHECK_U64 (delay_of (&b, "max(p50,p95)"), ==, p95);
    CHECK_U64 (delay_of (&b, "min(p95,60ms)"), ==, MS (60));
    CHECK_U64 (delay_of (&b, "max(p50,60ms,20ms)"), ==, MS (60));
    unmake (&b);
}

static void BE_06_floor_and_ceiling_hold_for_every_rule (void **state)
{
    static const char *const rules[] = {"1us", "20s", "p50", "min(p50,1us)", "max(p99,20s)"};
    struct bench b;
    (void)state;
    make (&b);
    teach (&b, 1000, 1, 100);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct tied_policy policy = settings (rules[i]);
        policy.hedge_floor_ns = MS (10);
        policy.hedge_ceiling_ns = MS (20);
        policy.hedge_initial_ns = MS (15);
        change (&b, &policy);
        const tied_duration_t delay = ask (&b).hedge_ns;
        CHECK_U64 (delay, ==, i == 0 || i == 3 ? MS (10) : MS (20));
    }
    unmake (&b);
}

static void a_percentile_that_is_no_longer_known_keeps_the_last_delay (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("p99");
    change (&b, &policy);
    teach (&b, 1000, 5, 5);
    const tied_duration_t known = ask (&b).hedge_ns;
    CHECK_U64 (known, <=, MS (6));
    /* One in ten is won by its hedge: nobody knows how long those would have taken. */
    for (uint32_t i = 0; i < 200; i++)
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK,
                                             .was_hedged = true,
                                             .hedge_won = true,
                                             .since_first = MS (7),
                                             .since_hedge = MS (1)});
    age (&b);
    CHECK_U64 (ask (&b).hedge_ns, ==, known);
    age (&b);
    CHECK_U64 (ask (&b).hedge_ns, ==, known);
    unmake (&b);
}

static void a_plan_lasts_a_quarter_of_a_second (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("p50");
    change (&b, &policy);
    teach (&b, 200, 5, 5);
    const tied_duration_t before = ask (&b).hedge_ns;
    teach (&b, 2000, 50, 50);
    b.now += TI_METHOD_PLAN_NS - 1;
    CHECK_U64 (ask (&b).hedge_ns, ==, before);
    b.now += 1;
    const tied_duration_t after = ask (&b).hedge_ns;
    CHECK_U64 (after, >=, MS (49));
    CHECK_U64 (after, <=, MS (52));
    unmake (&b);
}

static void what_is_older_than_the_window_is_forgotten (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("p50");
    policy.hedge_initial_ns = MS (77);
    change (&b, &policy);
    teach (&b, 200, 5, 5);
    CHECK_U64 (ask (&b).hedge_ns, <=, MS (6));
    b.now += 2 * WINDOW;
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (77));
    unmake (&b);
}

static void other_settings_keep_what_was_learned_saved_and_stopped (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = governed ("10ms");
    change (&b, &policy);
    teach (&b, 1000, 5, 5);
    for (uint32_t i = 0; i < 3; i++)
        (void)ask (&b);
    for (uint32_t i = 0; i < 2000; i++)
        end_call (&b,
                  (struct ti_method_end){.outcome = TIED_OUTCOME_APP_ERROR, .since_first = MS (5)});
    CHECK_U64 (ask (&b).not_tied, ==, TIED_NOT_SENT_GOVERNOR);
    policy = governed ("p50");
    policy.mode = TIED_MODE_SINGLE;
    change (&b, &policy);
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_I64 (seen.budget_milli, ==, 4000);
    CHECK_U64 (seen.samples, ==, 3000);
    CHECK_U64 (seen.governor_state, ==, TIED_GOVERNOR_STOPPED);
    CHECK_U64 (seen.counters.calls, ==, 4);
    CHECK_U64 (ask (&b).not_hedged, ==, TIED_NOT_SENT_GOVERNOR);
    /* And the plan is made anew at once. */
    CHECK_U64 (b.method->plan.delay_ns, <=, MS (6));
    unmake (&b);
}

static void a_hedge_costs_a_token_and_gives_it_back_if_it_was_never_there (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("10ms");
    change (&b, &policy);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    (void)ask (&b);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    ti_method_hedge_unsent (b.method);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    unmake (&b);
}

static void BE_02_a_small_share_pays_for_a_hedge_in_the_end (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.extra_load_ppm = 100; /* one in ten thousand */
    change (&b, &policy);
    for (uint32_t i = 0; i < 9999; i++)
        (void)ask (&b);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    (void)ask (&b);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    unmake (&b);
}

static void reissues_overdraw_and_hedges_wait_until_that_is_paid (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("10ms");
    policy.debt_milli = 3000;
    policy.burst_milli = 1000;
    change (&b, &policy);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_TRUE (ti_method_may_send_again (b.method));
    CHECK_FALSE (ti_method_may_send_again (b.method));
    /* That deep in debt there are no ties; above minus one burst there are. */
    const struct ti_method_verdict poor = ask (&b);
    CHECK_U64 (poor.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (poor.not_tied, ==, TIED_NOT_SENT_BUDGET);
    CHECK_U64 (ask (&b).mode, ==, TIED_MODE_TIED);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    (void)ask (&b);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_BUDGET);
    (void)ask (&b);
    CHECK_U64 (ti_method_may_hedge (b.method, false), ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

static void a_tie_costs_nothing_but_the_duplicate_that_it_causes (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("never");
    change (&b, &policy);
    (void)ask (&b);
    ti_method_extra (b.method, false, b.now);
    end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK, .was_tied = true});
    CHECK_I64 (b.method->budget.tokens, ==, TIED_PPM);
    ti_method_duplicate (b.method, b.now);
    CHECK_I64 (b.method->budget.tokens, ==, 0);
    CHECK_U64 (b.method->counters.tied, ==, 1);
    CHECK_U64 (b.method->counters.duplicates, ==, 1);
    unmake (&b);
}

/* What X and Y are learned from, seen as the median of one kind of end among none else. */
static void BE_04_a_hedge_neither_shortens_nor_lengthens_what_is_learned (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("p50");
    change (&b, &policy);
    teach (&b, 1000, 10, 10);
    const tied_duration_t before = delay_of (&b, "p90");
    /* A hedge that lost: the call took what it took. One that won: at least so long. */
    for (uint32_t i = 0; i < 60; i++) {
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK,
                                             .was_hedged = true,
                                             .since_first = MS (10),
                                             .since_hedge = MS (2)});
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK,
                                             .was_hedged = true,
                                             .hedge_won = true,
                                             .since_first = MS (1),
                                             .since_hedge = US (100)});
    }
    CHECK_U64 (delay_of (&b, "p90"), ==, before);
    unmake (&b);
}

static void ends_that_say_nothing_of_time_teach_nothing (void **state)
{
    static const struct ti_method_end ends[] = {
        {.outcome = TIED_OUTCOME_REJECTED, .was_sent = true, .since_first = US (10)},
        {.outcome = TIED_OUTCOME_UNIMPLEMENTED, .was_sent = true, .since_first = US (10)},
        {.outcome = TIED_OUTCOME_INVALID, .was_sent = true, .since_first = US (10)},
        {.outcome = TIED_OUTCOME_OK, .was_sent = false, .since_first = US (10)}};
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("p50");
    change (&b, &policy);
    teach (&b, 100, 10, 10);
    for (uint32_t i = 0; i < 1000; i++)
        ti_method_end (b.method, &ends[i % 4], b.now);
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.samples, ==, 100);
    ti_latency_curve (TI_AT (struct ti_latency, b.method, b.method->call_times), &b.scratch->call);
    CHECK_U64 (b.scratch->call.censored, ==, 0);
    unmake (&b);
}

static void what_was_given_up_or_lost_took_at_least_so_long (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("p90");
    policy.hedge_initial_ns = MS (70);
    change (&b, &policy);
    teach (&b, 100, 10, 10);
    for (uint32_t i = 0; i < 50; i++) {
        end_call (&b,
                  (struct ti_method_end){.outcome = TIED_OUTCOME_DEADLINE, .since_first = MS (30)});
        end_call (&b, (struct ti_method_end){
                          .outcome = TIED_OUTCOME_OK, .was_lost = true, .since_first = MS (30)});
    }
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.samples, ==, 100);
    /* Half took more than 30 ms, so p90 is not known. */
    CHECK_U64 (ask (&b).hedge_ns, ==, MS (70));
    unmake (&b);
}

static void a_hedged_call_counts_as_hedged_however_it_ends (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK, .was_hedged = true});
    end_call (&b, (struct ti_method_end){
                      .outcome = TIED_OUTCOME_OK, .was_hedged = true, .hedge_won = true});
    end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_DEADLINE, .was_hedged = true});
    end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK});
    CHECK_U64 (b.method->counters.hedged, ==, 3);
    CHECK_U64 (b.method->counters.hedges_won, ==, 1);
    unmake (&b);
}

static void auto_finds_the_tail_and_says_what_it_saves (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("auto");
    policy.extra_load_ppm = 50000;
    policy.target_ppm = 990000;
    change (&b, &policy);
    /* Two in a hundred take 100 ms instead of 5. */
    for (uint32_t i = 0; i < 50; i++) {
        teach (&b, 98, 4, 6);
        teach (&b, 2, 100, 100);
    }
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (verdict.hedge_ns, >=, MS (3));
    CHECK_U64 (verdict.hedge_ns, <=, MS (20));
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.without_ns, >=, MS (95));
    CHECK_U64 (seen.predicted_ns, <=, MS (20));
    CHECK_U64 (seen.achieved_ns, >=, MS (95));
    CHECK_U64 (seen.hedge_reason, ==, TIED_NOT_SENT_NONE);
    unmake (&b);
}

/* A target that nothing moves is no reason to give up what is moved beside it. */
static void auto_aims_lower_where_the_target_cannot_be_moved (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("auto");
    policy.extra_load_ppm = 50000;
    policy.target_ppm = 999000;
    change (&b, &policy);
    /* Two in a hundred take 200 ms, and so do 6 % of the hedges: 1.2 in a thousand calls do. */
    for (uint32_t i = 0; i < 100; i++) {
        teach (&b, 98, 5, 5);
        teach (&b, 2, 200, 200);
    }
    for (uint32_t i = 0; i < 100; i++)
        end_call (&b, (struct ti_method_end){.outcome = TIED_OUTCOME_OK,
                                             .was_sent = true,
                                             .was_hedged = true,
                                             .hedge_won = true,
                                             .since_first = i < 6 ? MS (206) : MS (11),
                                             .since_hedge = i < 6 ? MS (200) : MS (5)});
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (verdict.hedge_ns, <=, MS (20));
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.hedge_reason, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (seen.target_ppm, ==, 998000);
    CHECK_U64 (seen.without_ns, >=, MS (190));
    CHECK_U64 (seen.predicted_ns, <=, MS (20));
    unmake (&b);
}

/* 1 % take 200 ms, the others 5 to 10: how many hedges auto plans with these. */
static uint32_t planned (uint32_t duplicates)
{
    struct bench b;
    make (&b);
    struct tied_policy policy = settings ("auto");
    policy.extra_load_ppm = 50000;
    change (&b, &policy);
    (void)ask (&b);
    for (uint32_t i = 0; i < 50; i++) {
        teach (&b, 99, 5, 10);
        teach (&b, 1, 200, 200);
    }
    for (uint32_t i = 1; i < 1000; i++)
        (void)ask (&b);
    for (uint32_t i = 0; i < duplicates; i++)
        ti_method_duplicate (b.method, b.now);
    b.now += TI_METHOD_PLAN_NS;
    CHECK_U64 (ask (&b).not_hedged, !=, TIED_NOT_SENT_NO_BENEFIT);
    const uint32_t share = b.method->plan.single_r.hedged_ppm;
    unmake (&b);
    return share;
}

static void auto_plans_with_what_duplicates_of_ties_leave (void **state)
{
    (void)state;
    CHECK_U64 (planned (0), <=, 45000);
    /* 3.5 % of the calls ran twice. */
    CHECK_U64 (planned (35), <=, 15000);
    CHECK_U64 (planned (35), >, 5000);
}

static void auto_hedges_the_share_that_it_has_planned (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("auto");
    policy.extra_load_ppm = 50000;
    policy.target_ppm = 900000;
    change (&b, &policy);
    /* Twelve in a hundred take 100 ms: more than may be hedged, so it is some of them. */
    for (uint32_t i = 0; i < 20; i++) {
        teach (&b, 88, 4, 6);
        teach (&b, 12, 100, 100);
    }
    uint32_t hedged = 0;
    for (uint32_t i = 0; i < 10000; i++) {
        const struct ti_method_verdict verdict = ask (&b);
        hedged += verdict.hedge_ns != TIED_NEVER;
        if (verdict.hedge_ns == TIED_NEVER)
            CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_BUDGET);
    }
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.hedge_share_ppm, >, 0);
    CHECK_U64 (seen.hedge_share_ppm, <, TIED_PPM / 2);
    CHECK_U64 (hedged, >=, seen.hedge_share_ppm / 100 * 8 / 10);
    CHECK_U64 (hedged, <=, seen.hedge_share_ppm / 100 * 12 / 10);
    unmake (&b);
}

static void auto_does_not_hedge_what_a_copy_cannot_help (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    const struct tied_policy policy = settings ("auto");
    change (&b, &policy);
    teach (&b, 1000, 10, 10);
    const struct ti_method_verdict verdict = ask (&b);
    CHECK_U64 (verdict.hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (verdict.not_hedged, ==, TIED_NOT_SENT_NO_BENEFIT);
    CHECK_U64 (verdict.mode, ==, TIED_MODE_TIED);
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.hedge_ns, ==, TIED_NEVER);
    CHECK_U64 (seen.hedge_reason, ==, TIED_NOT_SENT_NO_BENEFIT);
    CHECK_U64 (seen.predicted_ns, ==, TIED_NEVER);
    unmake (&b);
}

static void a_method_that_learns_nothing_has_the_initial_delay_for_ever (void **state)
{
    struct bench b;
    (void)state;
    make_with (&b, 0);
    CHECK_U64 (ti_method_size (0), ==, 0);
    const struct tied_policy policy = settings ("p95");
    change (&b, &policy);
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_U64 (ask (&b).hedge_ns, ==, policy.hedge_initial_ns);
        teach (&b, 1, 5, 5);
        b.now += MS (1);
    }
    struct tied_client_method seen;
    ti_method_status (b.method, &seen);
    CHECK_U64 (seen.samples, ==, 0);
    CHECK_U64 (seen.without_ns, ==, TIED_NEVER);
    unmake (&b);
}

static void the_errors_that_wait_are_those_of_the_ranges (void **state)
{
    struct bench b;
    (void)state;
    make (&b);
    struct tied_policy policy = settings ("never");
    CHECK_FALSE (ti_method_waits_for_others (b.method, 7));
    policy.waits_count = 2;
    policy.waits[0] = (struct tied_status_range){5, 7};
    policy.waits[1] = (struct tied_status_range){100, 100};
    policy.waits[2] = (struct tied_status_range){8, 8}; /* not in use */
    change (&b, &policy);
    CHECK_FALSE (ti_method_waits_for_others (b.method, 4));
    CHECK_TRUE (ti_method_waits_for_others (b.method, 5));
    CHECK_TRUE (ti_method_waits_for_others (b.method, 7));
    CHECK_FALSE (ti_method_waits_for_others (b.method, 8));
    CHECK_TRUE (ti_method_waits_for_others (b.method, 100));
    CHECK_FALSE (ti_method_waits_for_others (b.method, 101));
    unmake (&b);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (nothing_is_declared_by_default_so_there_is_one_copy),
        cmocka_unit_test (CL_20_the_call_or_its_method_declares_it_harmless_to_run_twice),
        cmocka_unit_test (a_call_that_wishes_for_nothing_extra_has_no_reason_to_give),
        cmocka_unit_test (a_calls_own_wish_goes_before_that_of_its_method),
        cmocka_unit_test (exclusive_needs_no_declaration_and_has_no_hedge),
        cmocka_unit_test (the_kill_switch_leaves_one_copy_and_holds_back_hedges_that_are_due),
        cmocka_unit_test (canary_is_a_share_of_the_eligible_calls),
        cmocka_unit_test (shadow_decides_and_counts_and_sends_nothing),
        cmocka_unit_test (chain_stop_forbids_the_hedge_and_not_the_tie),
        cmocka_unit_test (NO_GAIN_stops_hedges_and_leaves_ties),
        cmocka_unit_test (DUPLICATES_stop_ties_and_leave_hedges),
        cmocka_unit_test (errors_stop_both_unless_the_method_is_not_governed),
        cmocka_unit_test (refused_tied_copies_stop_ties_and_not_hedges),
        cmocka_unit_test (refused_hedges_are_not_held_against_ties),
        cmocka_unit_test (depth_that_replicas_report_stops_both_where_it_is_limited),
        cmocka_unit_test (the_governor_is_asked_once_per_call),
        cmocka_unit_test (who_may_not_have_extra_copies_does_not_use_up_a_probe),
        cmocka_unit_test (BE_05_a_cold_method_hedges_at_the_initial_delay),
        cmocka_unit_test (BE_05_a_fixed_term_holds_from_the_first_call_on),
        cmocka_unit_test (without_an_initial_delay_a_cold_method_has_no_hedge_and_says_why),
        cmocka_unit_test (rules_take_the_least_or_greatest_of_percentiles_and_delays),
        cmocka_unit_test (BE_06_floor_and_ceiling_hold_for_every_rule),
        cmocka_unit_test (a_percentile_that_is_no_longer_known_keeps_the_last_delay),
        cmocka_unit_test (a_plan_lasts_a_quarter_of_a_second),
        cmocka_unit_test (what_is_older_than_the_window_is_forgotten),
        cmocka_unit_test (other_settings_keep_what_was_learned_saved_and_stopped),
        cmocka_unit_test (a_hedge_costs_a_token_and_gives_it_back_if_it_was_never_there),
        cmocka_unit_test (BE_02_a_small_share_pays_for_a_hedge_in_the_end),
        cmocka_unit_test (reissues_overdraw_and_hedges_wait_until_that_is_paid),
        cmocka_unit_test (a_tie_costs_nothing_but_the_duplicate_that_it_causes),
        cmocka_unit_test (BE_04_a_hedge_neither_shortens_nor_lengthens_what_is_learned),
        cmocka_unit_test (ends_that_say_nothing_of_time_teach_nothing),
        cmocka_unit_test (what_was_given_up_or_lost_took_at_least_so_long),
        cmocka_unit_test (a_hedged_call_counts_as_hedged_however_it_ends),
        cmocka_unit_test (auto_finds_the_tail_and_says_what_it_saves),
        cmocka_unit_test (auto_aims_lower_where_the_target_cannot_be_moved),
        cmocka_unit_test (auto_plans_with_what_duplicates_of_ties_leave),
        cmocka_unit_test (auto_hedges_the_share_that_it_has_planned),
        cmocka_unit_test (auto_does_not_hedge_what_a_copy_cannot_help),
        cmocka_unit_test (a_method_that_learns_nothing_has_the_initial_delay_for_ever),
        cmocka_unit_test (the_errors_that_wait_are_those_of_the_ranges),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
