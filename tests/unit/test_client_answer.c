/* SPDX-License-Identifier: MIT */
/*
 * What a reply does to its call: which application errors end it, which wait for the other copy,
 * and what is reported when all copies fail. One claim per test; every step is also judged by the
 * rig's oracle and by the core's own check.
 */
#include "base/prng.h"
#include "check.h"
#include "client_rig.h"
#include "free_policy.h"

#define WAITS 50 /* an error that waits for the other copy */
#define ENDS  60 /* one that does not */
#define TOLD  TIED_REPLY_SIBLING_TOLD
/* Before any replica is suspected for its silence. */
#define TIMEOUT MS (300)

static struct tied_policy free_with_waits (void)
{
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.extra_load_ppm = TIED_PPM;
    policy.is_governed = false;
    policy.waits_count = 1;
    policy.waits[0] = (struct tied_status_range){WAITS, WAITS + 5};
    return policy;
}

/* With tokens for a few copies beyond the first. */
static void setup (struct rig *rig, uint32_t replicas)
{
    const struct tied_policy policy = free_with_waits ();
    rig_init (rig);
    rig_start (rig);
    CHECK_I64 (tied_client_core_set_policy (rig->core, 0, &policy), ==, 0);
    for (uint32_t i = 0; i < replicas; i++)
        CHECK_U64 (rig_replica (rig, 100 + i), ==, i);
    for (uint32_t i = 0; i < 3; i++) {
        const struct tied_client_submit call = {.mode = TIED_MODE_SINGLE, .deadline = TIED_NEVER};
        CHECK_I64 (rig_submit (rig, &call), ==, 0);
        CHECK_I64 (rig_cancel (rig, rig->calls[0].id), ==, 0);
    }
    rig_forget (rig);
}

static const struct tied_client_action *request (const struct rig *rig, uint32_t n)
{
    return rig_get (rig, TIED_CLIENT_ACT_SEND_REQUEST, n);
}

static uint32_t requests (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

static uint32_t completions (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_COMPLETE);
}

static uint32_t kept (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_KEEP_REPLY);
}

static struct tied_call_id
start (struct rig *rig, enum tied_mode mode, tied_duration_t stagger, tied_duration_t hedge)
{
    const struct tied_client_submit call = {.mode = mode,
                                            .is_idempotent = true,
                                            .deadline = rig->now + TIMEOUT,
                                            .stagger_ns = stagger,
                                            .hedge_ns = hedge};
    CHECK_I64 (rig_submit (rig, &call), ==, 0);
    return rig->calls[0].id;
}

/* The n-th request of the log fails, or is answered. */
static void err (struct rig *rig, uint32_t n, uint32_t status, uint32_t flags)
{
    const struct tied_client_action *a = request (rig, n);
    rig_fail (rig, a->replica, a->call, a->u.request.copy, status, flags);
}

static void answer (struct rig *rig, uint32_t n)
{
    const struct tied_client_action *a = request (rig, n);
    rig_reply (rig, a->replica, a->call, a->u.request.copy, 0);
}

static void advance (struct rig *rig, tied_duration_t by)
{
    rig_advance (rig, rig->now + by);
}

/* The one completion: an error, this one, of that copy. */
static void check_error (const struct rig *rig, uint32_t status, uint8_t copy, bool is_kept)
{
    const struct tied_client_completion *done = rig_done (rig);
    CHECK_U64 (done->outcome, ==, TIED_OUTCOME_APP_ERROR);
    CHECK_U64 (done->status, ==, status);
    CHECK_U64 (done->winner_copy, ==, copy);
    CHECK_U64 (done->is_kept, ==, is_kept);
    CHECK_TRUE (done->may_have_executed);
}

static void an_error_that_does_not_wait_ends_the_call_at_once (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 1, ENDS, 0);
    check_error (&rig, ENDS, 1, false);
    CHECK_U64 (kept (&rig), ==, 0);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==,
               request (&rig, 0)->replica);
    CHECK_U64 (rig_counters (&rig)->copies_failed, ==, 0);
    CHECK_U64 (rig_counters (&rig)->copies_won, ==, 1);
    rig_stop (&rig);
}

static void CL_11_the_first_success_wins_whichever_copy_failed_before (void **state)
{
    (void)state;
    for (uint32_t bad = 0; bad < 2; bad++) {
        struct rig rig;
        setup (&rig, 2);
        start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
        err (&rig, bad, WAITS, 0);
        CHECK_U64 (completions (&rig), ==, 0);
        CHECK_U64 (kept (&rig), ==, 1);
        advance (&rig, MS (100));
        answer (&rig, 1 - bad);
        const struct tied_client_completion *done = rig_done (&rig);
        CHECK_U64 (done->outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (done->status, ==, 0);
        CHECK_U64 (done->winner_copy, ==, 1 - bad);
        CHECK_FALSE (done->is_kept);
        /* The one that failed has nothing left to cancel. */
        CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 0);
        CHECK_U64 (rig_counters (&rig)->copies_failed, ==, 1);
        CHECK_U64 (rig_counters (&rig)->copies_won, ==, 1);
        CHECK_U64 (rig_counters (&rig)->duplicates, ==, 0);
        rig_stop (&rig);
    }
}

static void if_all_fail_the_error_of_the_first_copy_is_reported (void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        struct rig rig;
        setup (&rig, 2);
        start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
        err (&rig, first, WAITS + first, 0);
        err (&rig, 1 - first, WAITS + 1 - first, 0);
        check_error (&rig, WAITS, 0, true);
        CHECK_U64 (rig_done (&rig)->winner, ==, request (&rig, 0)->replica);
        /* What is kept is replaced only by the error of an earlier copy. */
        CHECK_U64 (kept (&rig), ==, first == 0 ? 1 : 2);
        CHECK_U64 (rig_counters (&rig)->copies_failed, ==, 2);
        CHECK_U64 (rig_counters (&rig)->copies_won, ==, 0);
        rig_stop (&rig);
    }
}

static void an_error_that_ends_the_call_goes_before_one_that_was_kept (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    err (&rig, 1, ENDS, 0);
    check_error (&rig, ENDS, 1, false);
    rig_stop (&rig);
}

static void a_single_copy_has_nobody_to_wait_for (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_SINGLE, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    check_error (&rig, WAITS, 0, true);
    CHECK_U64 (requests (&rig), ==, 1);
    rig_stop (&rig);
}

static void only_the_ranges_of_the_method_wait (void **state)
{
    static const uint32_t statuses[] = {1, WAITS - 1, WAITS + 6, UINT32_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        struct rig rig;
        setup (&rig, 2);
        start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
        err (&rig, 0, statuses[i], 0);
        check_error (&rig, statuses[i], 0, false);
        rig_stop (&rig);
    }
}

/* It started, told its sibling, and the sibling had not: there is no other copy any more. */
static void an_error_of_the_copy_that_had_the_other_dropped_ends_the_call (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, TOLD);
    check_error (&rig, WAITS, 0, true);
    CHECK_U64 (rig_counters (&rig)->copies_failed, ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_lost_race, ==, 1);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 0);
    rig_stop (&rig);
}

static void if_the_sibling_had_started_too_its_answer_is_awaited (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, TOLD | TIED_REPLY_SIBLING_STARTED);
    CHECK_U64 (completions (&rig), ==, 0);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void CL_25_an_error_sends_the_planned_sibling_at_once (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, MS (5), TIED_HEDGE_NONE);
    advance (&rig, US (100));
    err (&rig, 0, WAITS, 0);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->replica, !=, request (&rig, 0)->replica);
    CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 1);
    CHECK_U64 (request (&rig, 1)->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
    CHECK_U64 (request (&rig, 1)->u.request.sibling, ==, TIED_NO_REPLICA);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 2);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_counters (&rig)->wins_tied, ==, 1);
    rig_stop (&rig);
}

/* There the number 1 would be dropped without an answer, and the call would wait for its deadline.
 */
static void CL_25_where_the_sibling_was_told_the_planned_copy_gets_another_number (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, MS (5), TIED_HEDGE_NONE);
    advance (&rig, US (100));
    err (&rig, 0, WAITS, TOLD);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->replica, !=, request (&rig, 0)->replica);
    CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_ANSWERED);
    CHECK_U64 (rig_counters (&rig)->copies_reissued, ==, 1);
    rig_stop (&rig);
}

static void a_second_execution_after_an_error_is_paid_for (void **state)
{
    (void)state;
    for (int was_told = 0; was_told < 2; was_told++) {
        struct rig rig;
        struct tied_policy policy = free_with_waits ();
        setup (&rig, 2);
        policy.extra_load_ppm = 0;
        policy.burst_milli = 1000;
        CHECK_I64 (tied_client_core_set_policy (rig.core, 0, &policy), ==, 0);
        const uint32_t flags = was_told ? TOLD : 0;
        start (&rig, TIED_MODE_TIED, MS (5), TIED_HEDGE_NONE);
        err (&rig, 0, WAITS, flags);
        CHECK_U64 (requests (&rig), ==, 2); /* the last token */
        answer (&rig, 1);
        rig_forget (&rig);
        start (&rig, TIED_MODE_TIED, MS (5), TIED_HEDGE_NONE);
        err (&rig, 0, WAITS, flags);
        CHECK_U64 (requests (&rig), ==, 1);
        check_error (&rig, WAITS, 0, true);
        CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_BUDGET);
        CHECK_U64 (rig_counters (&rig)->not_sent_budget, ==, 1);
        rig_stop (&rig);
    }
}

static void a_sibling_that_is_gone_cannot_be_asked (void **state)
{
    (void)state;
    for (int was_told = 0; was_told < 2; was_told++) {
        struct rig rig;
        setup (&rig, 2);
        start (&rig, TIED_MODE_TIED, MS (5), TIED_HEDGE_NONE);
        rig_link (&rig, 1 - request (&rig, 0)->replica, false);
        err (&rig, 0, WAITS, was_told ? TOLD : 0);
        CHECK_U64 (requests (&rig), ==, 1);
        check_error (&rig, WAITS, 0, true);
        rig_stop (&rig);
    }
}

static void a_restarted_sibling_is_not_the_one_that_was_meant (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, MS (5), TIED_HEDGE_NONE);
    rig_welcome (&rig, 1 - request (&rig, 0)->replica, 900);
    err (&rig, 0, WAITS, TOLD);
    CHECK_U64 (requests (&rig), ==, 1);
    check_error (&rig, WAITS, 0, true);
    rig_stop (&rig);
}

static void CL_25_an_error_of_the_only_copy_sends_the_hedge_at_once (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    start (&rig, TIED_MODE_SINGLE, 0, MS (200));
    advance (&rig, US (100));
    err (&rig, 0, WAITS, 0);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->replica, !=, request (&rig, 0)->replica);
    CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, 1);
    rig_stop (&rig);
}

static void CL_19_the_hedge_after_an_error_never_goes_where_it_came_from (void **state)
{
    struct rig rig;
    (void)state;
    /* With one replica there is no other. */
    setup (&rig, 1);
    start (&rig, TIED_MODE_SINGLE, 0, MS (200));
    err (&rig, 0, WAITS, 0);
    CHECK_U64 (requests (&rig), ==, 1);
    check_error (&rig, WAITS, 0, true);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
    rig_stop (&rig);
    /* With two, the one that dropped its copy for it. */
    for (uint32_t round = 0; round < 20; round++) {
        setup (&rig, 2);
        rig.now += round;
        start (&rig, TIED_MODE_TIED, 0, MS (200));
        /* The one that failed is idle, the other is not. */
        rig_pong (&rig, request (&rig, 1)->replica, (struct tied_load){9, 1, 0});
        err (&rig, 0, WAITS, TOLD);
        CHECK_U64 (requests (&rig), ==, 3);
        CHECK_U64 (request (&rig, 2)->replica, ==, request (&rig, 1)->replica);
        CHECK_U64 (request (&rig, 2)->u.request.copy, ==, 2);
        answer (&rig, 2);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        rig_stop (&rig);
    }
}

static void while_another_copy_lives_the_hedge_keeps_its_time (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    start (&rig, TIED_MODE_TIED, 0, MS (20));
    err (&rig, 0, WAITS, 0);
    CHECK_U64 (requests (&rig), ==, 2);
    advance (&rig, MS (19));
    CHECK_U64 (requests (&rig), ==, 2);
    advance (&rig, MS (1));
    CHECK_U64 (requests (&rig), ==, 3);
    rig_stop (&rig);
}

static void CL_18_an_error_is_never_a_reason_for_one_copy_more (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 4);
    start (&rig, TIED_MODE_TIED, MS (5), MS (200));
    err (&rig, 0, WAITS, TOLD);
    err (&rig, 1, WAITS, 0);
    CHECK_U64 (requests (&rig), ==, 3);
    err (&rig, 2, WAITS, 0);
    check_error (&rig, WAITS, 0, true);
    advance (&rig, S (2));
    CHECK_U64 (requests (&rig), ==, 3);
    rig_stop (&rig);
}

static void a_hedge_that_may_not_go_leaves_the_error (void **state)
{
    struct rig rig;
    struct tied_policy policy = free_with_waits ();
    (void)state;
    setup (&rig, 3);
    policy.is_shadow = true;
    CHECK_I64 (tied_client_core_set_policy (rig.core, 0, &policy), ==, 0);
    start (&rig, TIED_MODE_SINGLE, 0, MS (200));
    err (&rig, 0, WAITS, 0);
    CHECK_U64 (requests (&rig), ==, 1);
    check_error (&rig, WAITS, 0, true);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_SHADOW);
    rig_stop (&rig);
}

static void at_the_deadline_the_error_that_was_kept_is_reported (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 1, WAITS + 1, 0);
    advance (&rig, TIMEOUT);
    check_error (&rig, WAITS + 1, 1, true);
    /* The copy that still runs is told. */
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==,
               request (&rig, 0)->replica);
    rig_stop (&rig);
}

static void an_error_that_comes_with_the_deadline_does_not_displace_an_earlier_one (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    rig.now += TIMEOUT;
    err (&rig, 1, WAITS + 1, 0);
    check_error (&rig, WAITS, 0, true);
    rig_stop (&rig);
}

static void a_refusal_or_loss_after_an_error_ends_the_call_with_the_error (void **state)
{
    struct rig rig;
    (void)state;
    /* Refused by all: the last try is the budget's affair, the error comes if that fails, too. */
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    rig_reject (&rig, request (&rig, 1)->replica, request (&rig, 1)->call, 1,
                TIED_REJECT_UNKNOWN_METHOD);
    check_error (&rig, WAITS, 0, true);
    rig_stop (&rig);
    setup (&rig, 2);
    struct tied_policy policy = free_with_waits ();
    policy.extra_load_ppm = 0;
    policy.debt_milli = 0;
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    policy.burst_milli = 1000;
    CHECK_I64 (tied_client_core_set_policy (rig.core, 0, &policy), ==, 0);
    err (&rig, 0, WAITS, 0);
    rig_link (&rig, request (&rig, 1)->replica, false);
    CHECK_U64 (requests (&rig), ==, 3); /* a loss may be issued again: here with the last token */
    CHECK_U64 (request (&rig, 2)->replica, ==, request (&rig, 0)->replica);
    err (&rig, 2, WAITS + 2, 0);
    check_error (&rig, WAITS, 0, true);
    rig_stop (&rig);
}

static void a_caller_who_gives_up_gets_cancelled_and_not_the_error (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    const struct tied_call_id id = start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    CHECK_I64 (rig_cancel (&rig, id), ==, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_CANCELLED);
    CHECK_U64 (rig_done (&rig)->status, ==, 0);
    CHECK_FALSE (rig_done (&rig)->is_kept);
    /* Only to the one that may still hold it. */
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==,
               request (&rig, 1)->replica);
    rig_stop (&rig);
}

static void the_same_error_twice_changes_nothing (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    err (&rig, 0, WAITS, 0);
    CHECK_U64 (completions (&rig), ==, 0);
    CHECK_U64 (kept (&rig), ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_failed, ==, 1);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void CL_12_a_losers_late_error_reaches_nobody_and_is_counted (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    answer (&rig, 0);
    const uint32_t actions = rig.log_count;
    err (&rig, 1, WAITS, 0);
    err (&rig, 1, ENDS, 0);
    CHECK_U64 (rig.log_count, ==, actions);
    CHECK_U64 (rig_counters (&rig)->late_replies, ==, 2);
    CHECK_U64 (rig_counters (&rig)->copies_failed, ==, 0);
    rig_stop (&rig);
}

static void CL_12_a_losers_late_refusal_reaches_nobody_and_is_counted (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    answer (&rig, 0);
    const uint32_t actions = rig.log_count;
    for (uint32_t i = 0; i < 2; i++)
        rig_reject (&rig, request (&rig, 1)->replica, request (&rig, 1)->call, 1, TIED_REJECT_BUSY);
    CHECK_U64 (rig.log_count, ==, actions);
    CHECK_U64 (rig_counters (&rig)->late_rejects, ==, 2);
    CHECK_U64 (rig_counters (&rig)->copies_rejected, ==, 0);
    rig_stop (&rig);
}

static void an_error_keeps_the_call_waiting_only_while_a_copy_is_certain (void **state)
{
    struct rig rig;
    (void)state;
    /* Copy 0 lost, its re-issue fails: copy 1 may have been dropped, so nobody waits for it. */
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (requests (&rig), ==, 3);
    err (&rig, 2, WAITS, 0);
    check_error (&rig, WAITS, 2, true);
    rig_stop (&rig);
}

/* It has run, and its owner would say so: a second copy would be a second execution. */
static void CL_20_a_call_that_may_not_run_twice_ends_with_its_first_error (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    const struct tied_client_submit call = {
        .mode = TIED_MODE_TIED, .deadline = rig.now + S (1), .hedge_ns = MS (10)};
    CHECK_I64 (rig_submit (&rig, &call), ==, 0);
    err (&rig, 0, WAITS, 0);
    check_error (&rig, WAITS, 0, true);
    advance (&rig, S (2));
    CHECK_U64 (requests (&rig), ==, 1);
    rig_stop (&rig);
}

/* Neither the copy that is planned nor the one that waits for leave to start is asked for more. */
static void CL_20_an_exclusive_call_ends_with_its_first_error (void **state)
{
    (void)state;
    for (int is_planned = 0; is_planned < 2; is_planned++) {
        struct rig rig;
        setup (&rig, 2);
        const struct tied_client_submit call = {.mode = TIED_MODE_EXCLUSIVE,
                                                .deadline = rig.now + TIMEOUT,
                                                .stagger_ns = is_planned ? MS (5) : 0};
        CHECK_I64 (rig_submit (&rig, &call), ==, 0);
        CHECK_U64 (requests (&rig), ==, is_planned ? 1 : 2);
        err (&rig, 0, WAITS, TOLD);
        check_error (&rig, WAITS, 0, false);
        advance (&rig, TIMEOUT);
        CHECK_U64 (requests (&rig), ==, is_planned ? 1 : 2);
        rig_stop (&rig);
    }
}

/* Whatever was kept: who stops has given up. */
static void stopping_ends_calls_that_wait_with_a_kept_error (void **state)
{
    const struct tied_client_event stop = {.type = TIED_CLIENT_EV_STOP};
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    start (&rig, TIED_MODE_TIED, 0, TIED_HEDGE_NONE);
    err (&rig, 0, WAITS, 0);
    CHECK_I64 (rig_step (&rig, &stop), ==, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_CANCELLED);
    CHECK_U64 (tied_client_core_live_calls (rig.core), ==, 0);
    rig_stop (&rig);
}

/* The sum is checked by the core after each step; here it is that all of its parts occur. */
static void BE_10_copies_that_failed_are_part_of_the_sum_of_all (void **state)
{
    struct rig rig;
    struct ti_prng prng;
    (void)state;
    setup (&rig, 3);
    ti_prng_seed (&prng, 5);
    for (uint64_t round = 0; round < check_scale (4000); round++) {
        rig_forget (&rig);
        start (&rig, ti_prng_below_32 (&prng, 4) ? TIED_MODE_TIED : TIED_MODE_SINGLE,
               MS (ti_prng_below_32 (&prng, 3)), MS (ti_prng_below_32 (&prng, 3) * 4));
        for (uint32_t step = 0; step < 12 && completions (&rig) == 0; step++) {
            const uint32_t n = ti_prng_below_32 (&prng, requests (&rig));
            const struct tied_client_action *a = request (&rig, n);
            switch (ti_prng_below_32 (&prng, 6)) {
            case 0:
                answer (&rig, n);
                break;
            case 1:
            case 2:
                err (&rig, n, WAITS + n, ti_prng_below_32 (&prng, 2) ? TOLD : 0);
                break;
            case 3:
                rig_reject (&rig, a->replica, a->call, a->u.request.copy,
                            ti_prng_below_32 (&prng, 3) ? TIED_REJECT_BUSY : TIED_REJECT_DUPLICATE);
                break;
            case 4:
                rig_link (&rig, a->replica, false);
                rig_link (&rig, a->replica, true);
                rig_welcome (&rig, a->replica, 1000 + round * 16 + step);
                break;
            default:
                advance (&rig, MS (1));
                break;
            }
        }
        advance (&rig, TIMEOUT);
        for (uint32_t replica = 0; replica < 3; replica++)
            rig_pong (&rig, replica, (struct tied_load){0, 0, 0});
        CHECK_U64 (completions (&rig), ==, 1);
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 0);
    }
    const struct tied_client_counters *n = rig_counters (&rig);
    CHECK_U64 (n->copies_failed, >, 100);
    CHECK_U64 (n->copies_won, >, 100);
    CHECK_U64 (n->copies_lost_race, >, 100);
    CHECK_U64 (n->copies_rejected, >, 100);
    CHECK_U64 (n->copies_lost, >, 100);
    CHECK_U64 (n->copies_hedged, >, 100);
    CHECK_U64 (n->calls_app_error, >, 100);
    CHECK_U64 (n->copies_sent, ==,
               n->copies_won + n->copies_lost_race + n->copies_failed + n->copies_rejected +
                   n->copies_lost + n->copies_abandoned);
    rig_stop (&rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_error_that_does_not_wait_ends_the_call_at_once),
        cmocka_unit_test (CL_11_the_first_success_wins_whichever_copy_failed_before),
        cmocka_unit_test (if_all_fail_the_error_of_the_first_copy_is_reported),
        cmocka_unit_test (an_error_that_ends_the_call_goes_before_one_that_was_kept),
        cmocka_unit_test (a_single_copy_has_nobody_to_wait_for),
        cmocka_unit_test (only_the_ranges_of_the_method_wait),
        cmocka_unit_test (an_error_of_the_copy_that_had_the_other_dropped_ends_the_call),
        cmocka_unit_test (if_the_sibling_had_started_too_its_answer_is_awaited),
        cmocka_unit_test (CL_25_an_error_sends_the_planned_sibling_at_once),
        cmocka_unit_test (CL_25_where_the_sibling_was_told_the_planned_copy_gets_another_number),
        cmocka_unit_test (a_second_execution_after_an_error_is_paid_for),
        cmocka_unit_test (a_sibling_that_is_gone_cannot_be_asked),
        cmocka_unit_test (a_restarted_sibling_is_not_the_one_that_was_meant),
        cmocka_unit_test (CL_25_an_error_of_the_only_copy_sends_the_hedge_at_once),
        cmocka_unit_test (CL_19_the_hedge_after_an_error_never_goes_where_it_came_from),
        cmocka_unit_test (while_another_copy_lives_the_hedge_keeps_its_time),
        cmocka_unit_test (CL_18_an_error_is_never_a_reason_for_one_copy_more),
        cmocka_unit_test (a_hedge_that_may_not_go_leaves_the_error),
        cmocka_unit_test (at_the_deadline_the_error_that_was_kept_is_reported),
        cmocka_unit_test (an_error_that_comes_with_the_deadline_does_not_displace_an_earlier_one),
        cmocka_unit_test (a_refusal_or_loss_after_an_error_ends_the_call_with_the_error),
        cmocka_unit_test (a_caller_who_gives_up_gets_cancelled_and_not_the_error),
        cmocka_unit_test (the_same_error_twice_changes_nothing),
        cmocka_unit_test (CL_12_a_losers_late_error_reaches_nobody_and_is_counted),
        cmocka_unit_test (CL_12_a_losers_late_refusal_reaches_nobody_and_is_counted),
        cmocka_unit_test (an_error_keeps_the_call_waiting_only_while_a_copy_is_certain),
        cmocka_unit_test (CL_20_a_call_that_may_not_run_twice_ends_with_its_first_error),
        cmocka_unit_test (CL_20_an_exclusive_call_ends_with_its_first_error),
        cmocka_unit_test (stopping_ends_calls_that_wait_with_a_kept_error),
        cmocka_unit_test (BE_10_copies_that_failed_are_part_of_the_sum_of_all),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
