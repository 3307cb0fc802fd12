/* SPDX-License-Identifier: MIT */
/* What tied-client advise answers to known distributions. */
#include "check.h"

#include <string.h>

#include "app/advice.h"
#include "base/prng.h"

#define FAST MS (5)
#define SLOW MS (200)

static struct advice ask (const struct advice_samples *samples, enum advice_declared declared)
{
    const struct advice_question question = {
        .samples = samples, .extra_load_ppm = 50000, .declared = declared};
    struct advice advice;
    CHECK_I64 (advice_give (&question, &advice), ==, 0);
    CHECK_I64 (tied_policy_check (&advice.policy, NULL), ==, 0);
    return advice;
}

/* Each calls with a service time, slow for one in `one_in`, and a wait, long for one in `waits_in`.
 */
static struct advice_samples
make (uint32_t count, uint32_t one_in, uint64_t slow, uint32_t waits_in, uint64_t wait)
{
    struct advice_samples samples = {.items = NULL};
    struct ti_prng prng;
    ti_prng_seed (&prng, 7);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t service = one_in && ti_prng_below (&prng, one_in) == 0
                                     ? slow
                                     : FAST + ti_prng_below (&prng, MS (1));
        const uint64_t queue = waits_in && ti_prng_below (&prng, waits_in) == 0
                                   ? wait
                                   : ti_prng_below (&prng, US (10));
        CHECK_I64 (advice_samples_add (&samples, service + queue, queue), ==, 0);
    }
    return samples;
}

static void slow_service_is_hedged_with_the_gain_of_a_hedge (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 50, SLOW, 0, 0);
    const struct advice a = ask (&samples, ADVICE_YES);
    CHECK_U64 (a.verdict, ==, ADVICE_HEDGE);
    CHECK_U64 (a.reason, ==, ADVICE_NONE);
    CHECK_U64 (a.target_ppm, ==, 999000);
    CHECK_U64 (a.p99.without_ns, >, MS (190));
    CHECK_U64 (a.p99_9.without_ns, >, MS (190));
    /* 2 % are slow: the hedge goes out after the fast ones, at 6 ms, and needs 6 ms more. */
    CHECK_U64 (a.delay_ns, <, MS (8));
    CHECK_U64 (a.p99_9.with_ns, <, MS (15));
    CHECK_U64 (a.p99.with_ns, <=, a.p99_9.with_ns);
    CHECK_U64 (a.extra_ppm, <=, 50000);
    CHECK_U64 (a.extra_ppm, >=, 15000);
    CHECK_U64 (a.waiting_ppm, <, 10000);
    CHECK_U64 (a.policy.mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (a.policy.hedge.kind, ==, TIED_HEDGE_RULE_AUTO);
    CHECK_TRUE (a.policy.is_idempotent);
    advice_samples_deinit (&samples);
}

static void long_waits_are_tied_and_run_nothing_twice (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 0, 0, 100, MS (100));
    const struct advice a = ask (&samples, ADVICE_YES);
    CHECK_U64 (a.verdict, ==, ADVICE_TIE);
    CHECK_U64 (a.policy.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (a.policy.hedge.kind, ==, TIED_HEDGE_RULE_NEVER);
    CHECK_U64 (a.extra_ppm, ==, 0);
    CHECK_U64 (a.delay_ns, ==, TIED_NEVER);
    CHECK_U64 (a.waiting_ppm, >, 900000);
    CHECK_U64 (a.p99_9.without_ns, >, MS (95));
    CHECK_U64 (a.p99_9.with_ns, <, MS (10));
    advice_samples_deinit (&samples);
}

/* 3 % wait, and 3 % are slow: neither alone, with 5 % of extra load, mends both at p99.9. */
static void both_kinds_of_slowness_want_both (void **state)
{
    (void)state;
    struct advice_samples samples = make (40000, 33, SLOW, 12, MS (150));
    const struct advice a = ask (&samples, ADVICE_YES);
    CHECK_U64 (a.verdict, ==, ADVICE_TIE_AND_HEDGE);
    CHECK_U64 (a.policy.mode, ==, TIED_MODE_TIED);
    CHECK_U64 (a.policy.hedge.kind, ==, TIED_HEDGE_RULE_AUTO);
    CHECK_U64 (a.p99_9.with_ns, <, a.p99_9.without_ns);
    advice_samples_deinit (&samples);
}

static void even_calls_gain_nothing (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 0, 0, 0, 0);
    const struct advice a = ask (&samples, ADVICE_YES);
    CHECK_U64 (a.verdict, ==, ADVICE_NEITHER);
    CHECK_U64 (a.reason, ==, ADVICE_NO_BENEFIT);
    CHECK_U64 (a.p99_9.with_ns, ==, a.p99_9.without_ns);
    CHECK_U64 (a.extra_ppm, ==, 0);
    advice_samples_deinit (&samples);
}

static void fewer_samples_than_a_percentile_needs_are_said_to_be_few (void **state)
{
    (void)state;
    struct advice_samples none = {.items = NULL},
                          few = make (ADVICE_P99_SAMPLES - 1, 20, SLOW, 0, 0);
    struct advice_samples some = make (ADVICE_P99_SAMPLES, 20, SLOW, 0, 0);
    CHECK_U64 (ask (&none, ADVICE_YES).reason, ==, ADVICE_FEW_SAMPLES);
    CHECK_U64 (ask (&few, ADVICE_YES).reason, ==, ADVICE_FEW_SAMPLES);
    CHECK_U64 (ask (&few, ADVICE_YES).verdict, ==, ADVICE_NEITHER);
    CHECK_U64 (ask (&some, ADVICE_YES).reason, ==, ADVICE_NONE);
    CHECK_U64 (ask (&some, ADVICE_YES).target_ppm, ==, 990000);
    CHECK_U64 (ask (&some, ADVICE_YES).p99_9.ppm, ==, 0);
    advice_samples_deinit (&few);
    advice_samples_deinit (&some);
}

static void calls_that_fail_are_no_reason_to_send_more (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 50, SLOW, 0, 0);
    samples.failed = 3000;
    CHECK_U64 (ask (&samples, ADVICE_YES).reason, ==, ADVICE_FAILING);
    CHECK_U64 (ask (&samples, ADVICE_YES).verdict, ==, ADVICE_NEITHER);
    samples.failed = 1000;
    CHECK_U64 (ask (&samples, ADVICE_YES).reason, ==, ADVICE_NONE);
    advice_samples_deinit (&samples);
}

static void CL_20_undeclared_means_no_second_copy_and_what_it_would_gain (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 50, SLOW, 0, 0);
    const struct advice unknown = ask (&samples, ADVICE_UNKNOWN), no = ask (&samples, ADVICE_NO);
    CHECK_U64 (unknown.verdict, ==, ADVICE_NEITHER);
    CHECK_U64 (unknown.reason, ==, ADVICE_NOT_DECLARED);
    CHECK_U64 (unknown.would, ==, ADVICE_HEDGE);
    CHECK_U64 (unknown.p99_9.with_ns, <, MS (15));
    CHECK_U64 (no.verdict, ==, ADVICE_NEITHER);
    CHECK_U64 (no.reason, ==, ADVICE_NOT_IDEMPOTENT);
    advice_samples_deinit (&samples);
}

static void what_must_not_run_twice_may_wait_in_two_queues (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 0, 0, 100, MS (100));
    const struct advice a = ask (&samples, ADVICE_NO);
    CHECK_U64 (a.verdict, ==, ADVICE_TIE);
    CHECK_U64 (a.policy.mode, ==, TIED_MODE_EXCLUSIVE);
    CHECK_TRUE (!a.policy.is_idempotent);
    CHECK_U64 (a.extra_ppm, ==, 0);
    advice_samples_deinit (&samples);
}

static void without_extra_load_nothing_is_hedged (void **state)
{
    (void)state;
    struct advice_samples samples = make (20000, 50, SLOW, 0, 0);
    const struct advice_question question = {
        .samples = &samples, .extra_load_ppm = 0, .declared = ADVICE_YES};
    struct advice advice;
    CHECK_I64 (advice_give (&question, &advice), ==, 0);
    CHECK_U64 (advice.verdict, ==, ADVICE_NEITHER);
    CHECK_U64 (advice.reason, ==, ADVICE_NO_BENEFIT);
    advice_samples_deinit (&samples);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (slow_service_is_hedged_with_the_gain_of_a_hedge),
        cmocka_unit_test (long_waits_are_tied_and_run_nothing_twice),
        cmocka_unit_test (both_kinds_of_slowness_want_both),
        cmocka_unit_test (even_calls_gain_nothing),
        cmocka_unit_test (fewer_samples_than_a_percentile_needs_are_said_to_be_few),
        cmocka_unit_test (calls_that_fail_are_no_reason_to_send_more),
        cmocka_unit_test (CL_20_undeclared_means_no_second_copy_and_what_it_would_gain),
        cmocka_unit_test (what_must_not_run_twice_may_wait_in_two_queues),
        cmocka_unit_test (without_extra_load_nothing_is_hedged),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
