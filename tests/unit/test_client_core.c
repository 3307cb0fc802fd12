/* SPDX-License-Identifier: MIT */
/*
 * The client core, one claim per test: copies of a call, its end, refusals. What concerns the state
 * of replicas is in test_client_replicas.c. Every step is also judged by the rig's oracle.
 */
#include "check.h"
#include "client_rig.h"

static const struct tied_load IDLE = {0, 0, 0};

static struct rig *setup_with (struct rig *rig, uint32_t replicas)
{
    rig_init (rig);
    rig_start (rig);
    for (uint32_t i = 0; i < replicas; i++)
        CHECK_U64 (rig_replica (rig, 100 + i), ==, i);
    rig_forget (rig);
    return rig;
}

static const struct tied_client_action *request (const struct rig *rig, uint32_t n)
{
    return rig_get (rig, TIED_CLIENT_ACT_SEND_REQUEST, n);
}

static uint32_t requests (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

static uint32_t cancels (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_CANCEL);
}

static struct tied_call_id single (struct rig *rig, uint32_t token, bool is_idempotent)
{
    const struct tied_client_submit submit = {.token = token,
                                              .mode = TIED_MODE_SINGLE,
                                              .is_idempotent = is_idempotent,
                                              .deadline = rig->now + S (1),
                                              .stagger_ns = TIED_STAGGER_AUTO};
    CHECK_I64 (rig_submit (rig, &submit), ==, 0);
    return rig->calls[token].id;
}

static void the_two_copies_name_each_other (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    rig_tied (&rig, 0, MS (1), S (1));
    CHECK_U64 (requests (&rig), ==, 1);
    rig_advance (&rig, rig.now + MS (1));
    CHECK_U64 (requests (&rig), ==, 2);
    const struct tied_client_action *a = request (&rig, 0);
    const struct tied_client_action *b = request (&rig, 1);
    CHECK_U64 (a->u.request.copy, ==, 0);
    CHECK_U64 (b->u.request.copy, ==, 1);
    CHECK_U64 (a->u.request.sibling, ==, b->replica);
    CHECK_U64 (b->u.request.sibling, ==, a->replica);
    CHECK_U64 (a->u.request.sibling_incarnation, ==, b->u.request.incarnation);
    CHECK_U64 (b->u.request.sibling_incarnation, ==, a->u.request.incarnation);
    CHECK_U64 (a->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_TIED);
    CHECK_U64 (b->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_TIED);
    CHECK_U64 (a->u.request.remaining_ns - b->u.request.remaining_ns, ==, MS (1));
    CHECK_U64 (a->u.request.attempts_left, ==, 3);
    rig_stop (&rig);
}

static void stagger_zero_sends_both_at_once (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    rig_tied (&rig, 0, 0, S (1));
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.flags & TIED_REQUEST_TIED, !=, 0);
    rig_stop (&rig);
}

static void an_answer_before_the_stagger_saves_the_second_copy (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (5), S (1));
    rig_advance (&rig, rig.now + MS (2));
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    const struct tied_client_completion *done = rig_done (&rig);
    CHECK_U64 (done->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (done->not_sent, ==, TIED_NOT_SENT_ANSWERED);
    CHECK_U64 (done->latency_ns, ==, MS (2));
    CHECK_U64 (done->stagger_ns, ==, MS (5));
    rig_advance (&rig, rig.now + MS (10));
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (cancels (&rig), ==, 0);
    CHECK_U64 (rig_counters (&rig)->not_sent_answered, ==, 1);
    rig_stop (&rig);
}

static void CL_01_rejected_primary_with_no_target_ends_at_once (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.copies_max = 1;
    rig_start (&rig);
    rig_replica (&rig, 100);
    const tied_time_t submitted = rig.now;
    const struct tied_call_id id = rig_tied (&rig, 0, MS (50), S (15));
    rig_advance (&rig, rig.now + MS (1));
    rig_reject (&rig, 0, id, 0, TIED_REJECT_BUSY);
    const struct tied_client_completion *done = rig_done (&rig);
    CHECK_U64 (done->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (done->reject, ==, TIED_REJECT_BUSY);
    CHECK_FALSE (done->may_have_executed);
    CHECK_U64 (rig.now - submitted, <, MS (10));
    rig_stop (&rig);
}

static void CL_01_draining_only_replica_ends_the_call_at_once (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 1);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (50), S (15));
    rig_reject (&rig, 0, id, 0, TIED_REJECT_DRAINING);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (rig_done (&rig)->reject, ==, TIED_REJECT_DRAINING);
    rig_stop (&rig);
}

static void CL_02_no_second_replica_leaves_the_first_copy_alone (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 1);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (2), S (1));
    CHECK_U64 (request (&rig, 0)->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
    rig_advance (&rig, rig.now + MS (6));
    CHECK_U64 (requests (&rig), ==, 1);
    rig_reply (&rig, 0, id, 0, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
    CHECK_U64 (cancels (&rig), ==, 0);
    CHECK_U64 (rig_counters (&rig)->not_sent_no_sibling, ==, 1);
    rig_stop (&rig);
}

static void CL_02_a_sibling_lost_before_the_stagger_only_skips_the_send (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 3);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (2), S (1));
    rig_link (&rig, request (&rig, 0)->u.request.sibling, false);
    rig_advance (&rig, rig.now + MS (6));
    CHECK_U64 (requests (&rig), ==, 1);
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_LINK_DOWN);
    rig_stop (&rig);
}

static void CL_02_a_sibling_that_restarted_is_not_the_sibling_any_more (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    rig_tied (&rig, 0, MS (2), S (1));
    rig_welcome (&rig, request (&rig, 0)->u.request.sibling, 900);
    rig_advance (&rig, rig.now + MS (3));
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_counters (&rig)->not_sent_link_down, ==, 1);
    rig_stop (&rig);
}

/* The winner comes in the same step in which the stagger is due, before or after it. */
static void CL_03_CL_07_reply_and_stagger_in_one_round_complete_once (void **state)
{
    (void)state;
    for (int timer_first = 0; timer_first < 2; timer_first++) {
        struct rig rig;
        setup_with (&rig, 2);
        const struct tied_call_id id = rig_tied (&rig, 0, MS (2), S (1));
        if (timer_first)
            rig_advance (&rig, rig.now + MS (2));
        else
            rig.now += MS (2);
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (requests (&rig), ==, timer_first ? 2 : 1);
        CHECK_U64 (cancels (&rig), ==, timer_first ? 1 : 0);
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 0);
        rig_stop (&rig);
    }
}

static void CL_06_submit_and_cancel_many_times_leave_nothing (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    for (uint32_t i = 0; i < 20000; i++) {
        const struct tied_call_id id = rig_tied (&rig, i % 8, i % 2 ? 0 : MS (1), S (1));
        CHECK_I64 (rig_cancel (&rig, id), ==, 0);
        CHECK_I64 (rig_cancel (&rig, id), ==, TIED_ERR_ABSENT);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_CANCELLED);
        rig_forget (&rig);
    }
    CHECK_U64 (tied_client_core_live_calls (rig.core), ==, 0);
    CHECK_U64 (rig_counters (&rig)->calls_cancelled, ==, 20000);
    rig_stop (&rig);
}

static void CL_08_stagger_close_to_the_deadline_never_hangs (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    for (uint32_t i = 0; i < 2001; i++) {
        const tied_duration_t stagger = MS (9) + i * US (1);
        rig_tied (&rig, 0, stagger, MS (10));
        rig_advance (&rig, rig.now + MS (10));
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
        CHECK_U64 (requests (&rig), ==, stagger < MS (10) ? 2 : 1);
        rig_forget (&rig);
        rig_pong (&rig, 0, IDLE);
        rig_pong (&rig, 1, IDLE);
    }
    rig_stop (&rig);
}

static void CL_09_a_cancel_while_no_replica_is_usable_sends_nothing (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 0);
    CHECK_I64 (tied_client_core_add_replica (rig.core), ==, 0);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (1), S (1));
    CHECK_I64 (rig_cancel (&rig, id), ==, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_CANCELLED);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    rig_link (&rig, 0, true);
    rig_welcome (&rig, 0, 100);
    rig_advance (&rig, rig.now + MS (5));
    CHECK_U64 (requests (&rig), ==, 0);
    CHECK_U64 (cancels (&rig), ==, 0);
    rig_stop (&rig);
}

static void CL_10_the_loser_is_cancelled_and_the_winner_is_not (void **state)
{
    (void)state;
    for (uint8_t winner = 0; winner < 2; winner++) {
        struct rig rig;
        setup_with (&rig, 2);
        const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
        rig_reply (&rig, request (&rig, winner)->replica, id, winner, 0);
        CHECK_U64 (rig_done (&rig)->winner_copy, ==, winner);
        CHECK_U64 (cancels (&rig), ==, 1);
        const struct tied_client_action *cancel = rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0);
        CHECK_U64 (cancel->replica, ==, request (&rig, 1u - winner)->replica);
        CHECK_U64 (cancel->u.cancel.reason, ==, TIED_CANCEL_WON);
        CHECK_U64 (rig_counters (&rig)->wins_tied, ==, winner);
        CHECK_U64 (rig_counters (&rig)->copies_lost_race, ==, 1);
        rig_stop (&rig);
    }
}

static void CL_10_no_cancel_where_a_peer_has_dropped_the_copy (void **state)
{
    (void)state;
    const struct {
        uint32_t flags;
        uint32_t cancels;
    } rows[] = {{TIED_REPLY_SIBLING_TOLD, 0},
                {TIED_REPLY_SIBLING_STARTED, 1},
                {TIED_REPLY_SIBLING_TOLD | TIED_REPLY_SIBLING_STARTED, 1},
                {0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig rig;
        setup_with (&rig, 2);
        const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, rows[i].flags);
        CHECK_U64 (cancels (&rig), ==, rows[i].cancels);
        CHECK_U64 (rig_counters (&rig)->copies_lost_race, ==, 1);
        rig_stop (&rig);
    }
}

/* A re-issue that came just after the older copy had ended did not merge: it waits to run. */
static void CL_10_a_reissue_at_the_winners_own_replica_is_cancelled (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    const uint32_t other = request (&rig, 1)->replica;
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (request (&rig, 2)->replica, ==, other);
    rig_reply (&rig, other, id, 1, 0);
    CHECK_U64 (rig_done (&rig)->winner_copy, ==, 1);
    CHECK_U64 (cancels (&rig), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==, other);
    rig_stop (&rig);
}

/* Had the older copy been there, the re-issue would have merged: then it would not have answered.
 */
static void CL_10_a_reissue_that_wins_leaves_nothing_to_cancel_at_its_replica (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    const uint32_t other = request (&rig, 1)->replica;
    rig_link (&rig, request (&rig, 0)->replica, false);
    rig_reply (&rig, other, id, 2, 0);
    CHECK_U64 (rig_done (&rig)->winner_copy, ==, 2);
    CHECK_U64 (cancels (&rig), ==, 0);
    rig_stop (&rig);
}

static void CL_11_a_refused_second_copy_does_not_end_the_call (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (10), S (1));
    rig_advance (&rig, rig.now + MS (12));
    rig_reject (&rig, request (&rig, 1)->replica, id, 1, TIED_REJECT_BUSY);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    rig_advance (&rig, rig.now + MS (88));
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->latency_ns, ==, MS (100));
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void CL_11_a_lost_replica_does_not_end_a_call_that_the_other_may_answer (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    const uint32_t other = request (&rig, 1)->replica;
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    rig_reply (&rig, other, id, 1, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void CL_14_the_stagger_is_no_deadline (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (15), MS (100));
    rig_advance (&rig, rig.now + MS (45));
    rig_reply (&rig, request (&rig, 1)->replica, id, 1, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->latency_ns, ==, MS (45));
    rig_stop (&rig);
}

static void CL_15_the_first_cause_of_an_end_is_the_one_reported (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, MS (10));
    rig_advance (&rig, rig.now + MS (10));
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    CHECK_U64 (cancels (&rig), ==, 2);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->u.cancel.reason, ==,
               TIED_CANCEL_DEADLINE);
    rig.now += MS (1);
    CHECK_I64 (rig_cancel (&rig, id), ==, TIED_ERR_ABSENT);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_abandoned, ==, 2);
    rig_stop (&rig);
}

static void CL_16_a_second_copy_that_is_not_sent_holds_nothing (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    for (uint32_t i = 0; i < 10000; i++) {
        const struct tied_call_id id = rig_tied (&rig, 0, MS (5), S (1));
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 1);
        CHECK_U64 (rig_look (&rig, request (&rig, 0)->u.request.sibling).in_flight, ==, 0);
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
        rig_forget (&rig);
    }
    CHECK_U64 (rig_counters (&rig)->copies_sent, ==, 10000);
    rig_stop (&rig);
}

static void CL_17_a_late_reply_answers_no_other_call (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 1);
    const struct tied_call_id a = rig_tied (&rig, 0, 0, MS (5));
    rig_advance (&rig, rig.now + MS (5));
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
    rig_forget (&rig);
    const struct tied_call_id b = rig_tied (&rig, 0, 0, MS (5));
    CHECK_U64 (a.sequence, !=, b.sequence);
    rig_reply (&rig, 0, a, 0, 0);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    CHECK_U64 (rig_counters (&rig)->late_replies, ==, 1);
    rig_reply (&rig, 0, b, 0, 0);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_COMPLETE, 0)->call.sequence, ==, b.sequence);
    CHECK_U64 (rig_counters (&rig)->duplicates, ==, 0);
    rig_stop (&rig);
}

static void CL_17_foreign_answers_are_counted_and_do_nothing (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 3);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (5), S (1));
    const uint32_t primary = request (&rig, 0)->replica;
    struct tied_call_id other_epoch = id;
    struct tied_call_id not_yet = id;
    other_epoch.epoch++;
    not_yet.sequence++;
    rig_reply (&rig, primary, other_epoch, 0, 0);
    rig_reply (&rig, primary, not_yet, 0, 0);
    rig_reply (&rig, (primary + 1) % 3, id, 0, 0);
    rig_reply (&rig, primary, id, 1, 0);
    rig_reply (&rig, primary, id, 255, 0);
    rig_reject (&rig, (primary + 1) % 3, id, 0, TIED_REJECT_FULL);
    CHECK_U64 (rig_counters (&rig)->foreign_replies, ==, 6);
    CHECK_I64 (rig_cancel (&rig, other_epoch), ==, TIED_ERR_ABSENT);
    CHECK_I64 (rig_cancel (&rig, not_yet), ==, TIED_ERR_ABSENT);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 1);
    rig_stop (&rig);
}

static void CL_18_copies_per_call_never_exceed_the_maximum (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.copies_max = 3;
    rig_start (&rig);
    for (uint32_t i = 0; i < 4; i++)
        rig_replica (&rig, 100 + i);
    rig_forget (&rig);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    rig_reject (&rig, request (&rig, 0)->replica, id, 0, TIED_REJECT_BUSY);
    rig_reject (&rig, request (&rig, 1)->replica, id, 1, TIED_REJECT_DRAINING);
    rig_reject (&rig, request (&rig, 2)->replica, id, 2, TIED_REJECT_DRAINING);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (rig_done (&rig)->reject, ==, TIED_REJECT_BUSY);
    rig_stop (&rig);
}

static void CL_19_the_second_copy_never_goes_to_the_same_instance (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 100); /* the same process under a second index */
    rig_replica (&rig, 101);
    rig_forget (&rig);
    for (uint32_t i = 0; i < 10000; i++) {
        const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (request (&rig, 0)->u.request.incarnation, !=,
                   request (&rig, 1)->u.request.incarnation);
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
        rig_forget (&rig);
    }
    rig_link (&rig, 2, false);
    rig_tied (&rig, 0, 0, S (1));
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_counters (&rig)->not_sent_no_sibling, ==, 1);
    rig_stop (&rig);
}

static void CL_20_a_call_that_is_not_declared_idempotent_has_one_copy (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 3);
    const struct tied_client_submit submit = {.token = 0,
                                              .mode = TIED_MODE_TIED,
                                              .is_idempotent = false,
                                              .deadline = rig.now + MS (100),
                                              .stagger_ns = 0};
    CHECK_I64 (rig_submit (&rig, &submit), ==, 0);
    rig_advance (&rig, rig.now + MS (100));
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (request (&rig, 0)->u.request.flags, ==, 0);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_U64 (rig_counters (&rig)->not_sent_not_idempotent, ==, 1);
    rig_stop (&rig);
}

static void CL_22_the_first_call_after_refusals_stop_succeeds (void **state)
{
    (void)state;
    const uint8_t reasons[] = {TIED_REJECT_FULL, TIED_REJECT_DRAINING};
    for (size_t r = 0; r < sizeof reasons; r++) {
        struct rig rig;
        setup_with (&rig, 3);
        const tied_time_t end = rig.now + S (2);
        while (rig.now < end) {
            const struct tied_call_id id = rig_tied (&rig, 0, MS (1), MS (20));
            for (uint32_t i = 0; i < requests (&rig) && rig.calls[0].is_live; i++)
                rig_reject (&rig, request (&rig, i)->replica, id, request (&rig, i)->u.request.copy,
                            reasons[r]);
            rig_advance (&rig, rig.now + MS (20));
            for (uint32_t i = 0; i < 3; i++)
                rig_pong (&rig, i, IDLE);
            rig_forget (&rig);
        }
        /* A replica that said it drains and did not leave is tried again after a while. */
        for (int i = 0; i < 8; i++) {
            rig_advance (&rig, rig.now + MS (200));
            for (uint32_t k = 0; k < 3; k++)
                rig_pong (&rig, k, IDLE);
        }
        rig_forget (&rig);
        const struct tied_call_id id = rig_tied (&rig, 0, MS (1), S (1));
        CHECK_U64 (requests (&rig), ==, 1);
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        rig_stop (&rig);
    }
}

static void CL_24_no_copy_leaves_after_the_caller_gave_up (void **state)
{
    (void)state;
    for (int timer_first = 0; timer_first < 2; timer_first++) {
        struct rig rig;
        setup_with (&rig, 2);
        const struct tied_call_id id = rig_tied (&rig, 0, MS (2), S (1));
        if (timer_first)
            rig_advance (&rig, rig.now + MS (2));
        else
            rig.now += MS (2);
        CHECK_I64 (rig_cancel (&rig, id), ==, 0);
        const uint32_t sent = requests (&rig);
        CHECK_U64 (sent, ==, timer_first ? 2 : 1);
        CHECK_U64 (cancels (&rig), ==, sent);
        CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->u.cancel.reason, ==,
                   TIED_CANCEL_CALLER);
        rig_advance (&rig, rig.now + MS (10));
        CHECK_U64 (requests (&rig), ==, sent);
        rig_stop (&rig);
    }
}

static void CL_25_a_quick_refusal_sends_the_second_copy_at_once (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, MS (100), S (1));
    rig_advance (&rig, rig.now + MS (1));
    rig_reject (&rig, request (&rig, 0)->replica, id, 0, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 1);
    CHECK_U64 (request (&rig, 1)->replica, !=, request (&rig, 0)->replica);
    /* The primary will never start, so nobody is there to be told. */
    CHECK_U64 (request (&rig, 1)->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
    CHECK_U64 (rig_counters (&rig)->copies_tied, ==, 1);
    rig_advance (&rig, rig.now + MS (200));
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void CL_26_every_way_to_lose_a_copy_ends_its_count (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    for (uint32_t i = 0; i < 20000; i++) {
        const struct tied_call_id id = rig_tied (&rig, 0, 0, MS (50));
        const uint32_t a = request (&rig, 0)->replica;
        const uint32_t b = request (&rig, 1)->replica;
        switch (i % 5) {
        case 0:
            rig_reply (&rig, a, id, 0, 0);
            break;
        case 1:
            rig_reply (&rig, b, id, 1, TIED_REPLY_SIBLING_TOLD);
            break;
        case 2:
            rig_reject (&rig, b, id, 1, TIED_REJECT_BUSY);
            rig_reply (&rig, a, id, 0, 0);
            break;
        case 3:
            rig_link (&rig, b, false);
            rig_link (&rig, b, true);
            rig_welcome (&rig, b, 100 + b);
            rig_reply (&rig, a, id, 0, 0);
            break;
        default:
            CHECK_I64 (rig_send_failed (&rig, b, id, 1), ==, 0);
            rig_advance (&rig, rig.now + MS (50));
            rig_pong (&rig, 0, IDLE);
            rig_pong (&rig, 1, IDLE);
        }
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 0);
        CHECK_U64 (rig_look (&rig, a).in_flight + rig_look (&rig, b).in_flight, ==, 0);
        rig_forget (&rig);
    }
    rig_stop (&rig);
}

static void CL_27_two_executions_complete_once_and_count_one_duplicate (void **state)
{
    (void)state;
    for (int says_so = 0; says_so < 2; says_so++) {
        struct rig rig;
        setup_with (&rig, 2);
        for (uint32_t i = 0; i < 1000; i++) {
            const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
            const uint32_t flags =
                says_so ? TIED_REPLY_SIBLING_TOLD | TIED_REPLY_SIBLING_STARTED : 0;
            rig_reply (&rig, request (&rig, 0)->replica, id, 0, flags);
            CHECK_U64 (rig_done (&rig)->both_ran, ==, says_so);
            rig_reply (&rig, request (&rig, 1)->replica, id, 1, flags);
            CHECK_U64 (rig_counters (&rig)->duplicates, ==, i + 1);
            rig_reply (&rig, request (&rig, 1)->replica, id, 1, flags);
            rig_reply (&rig, request (&rig, 0)->replica, id, 0, flags);
            CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 1);
            CHECK_U64 (rig_counters (&rig)->duplicates, ==, i + 1);
            rig_forget (&rig);
        }
        CHECK_U64 (rig_counters (&rig)->late_replies, ==, 3000);
        CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 0);
        rig_stop (&rig);
    }
}

static void a_repeated_reply_of_the_winner_is_no_duplicate_execution (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    CHECK_U64 (rig_counters (&rig)->duplicates, ==, 0);
    CHECK_U64 (rig_counters (&rig)->late_replies, ==, 1);
    rig_stop (&rig);
}

static void CK_02_deadlines_at_the_edges_end_at_once_or_never (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const tied_time_t past[] = {0, 1, rig.now - 1, rig.now};
    struct tied_client_submit submit = {.mode = TIED_MODE_TIED, .is_idempotent = true};
    for (size_t i = 0; i < sizeof past / sizeof past[0]; i++) {
        submit.deadline = past[i];
        CHECK_I64 (rig_submit (&rig, &submit), ==, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
        CHECK_FALSE (rig_done (&rig)->may_have_executed);
        CHECK_U64 (requests (&rig), ==, 0);
        rig_forget (&rig);
    }
    submit.deadline = TIED_NEVER;
    CHECK_I64 (rig_submit (&rig, &submit), ==, 0);
    CHECK_U64 (request (&rig, 0)->u.request.remaining_ns, ==, TIED_NEVER);
    submit.deadline = TIED_NEVER - 1;
    submit.token = 1;
    CHECK_I64 (rig_submit (&rig, &submit), ==, 0);
    CHECK_U64 (tied_client_core_deadline (rig.core), >, rig.now);
    /* One nanosecond left is time, not none. */
    submit.deadline = rig.now + 1;
    submit.token = 2;
    CHECK_I64 (rig_submit (&rig, &submit), ==, 0);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, rig.now + 1);
    rig_stop (&rig);
}

static void CK_04_call_ids_stay_unique_over_the_edges_of_32_and_64_bits (void **state)
{
    (void)state;
    const uint64_t firsts[] = {UINT64_MAX - 2, UINT32_MAX - UINT64_C (2)};
    for (size_t f = 0; f < 2; f++) {
        struct rig rig;
        rig_init (&rig);
        rig.options.first_sequence = firsts[f];
        rig_start (&rig);
        rig_replica (&rig, 100);
        rig_forget (&rig);
        struct tied_call_id ids[10];
        for (uint32_t i = 0; i < 10; i++) {
            ids[i] = rig_tied (&rig, i % 8, 0, S (1));
            CHECK_U64 (ids[i].sequence, ==, firsts[f] + i);
            if (i >= 7)
                rig_reply (&rig, 0, ids[i - 7], 0, 0);
        }
        for (uint32_t i = 3; i < 10; i++) {
            rig_forget (&rig);
            rig_reply (&rig, 0, ids[i], 0, 0);
            CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_COMPLETE, 0)->token, ==, i % 8);
        }
        rig_reply (&rig, 0, ids[0], 0, 0);
        CHECK_U64 (rig_counters (&rig)->late_replies, ==, 1);
        CHECK_U64 (rig_counters (&rig)->foreign_replies, ==, 0);
        rig_stop (&rig);
    }
}

/* A long call keeps its slot; the sequence that would fall on it is left out. */
static void CK_04_a_sequence_whose_slot_is_taken_is_skipped (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.calls_max = 2;
    rig_start (&rig);
    rig_replica (&rig, 100);
    const struct tied_call_id old = rig_tied (&rig, 0, 0, TIED_NEVER);
    for (uint32_t i = 0; i < 12; i++) {
        rig_forget (&rig);
        const struct tied_call_id id = rig_tied (&rig, 1, 0, S (1));
        CHECK_U64 (id.sequence % 4, !=, old.sequence % 4);
        rig_reply (&rig, 0, id, 0, 0);
    }
    rig_forget (&rig);
    rig_reply (&rig, 0, old, 0, 0);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_COMPLETE, 0)->token, ==, 0);
    rig_stop (&rig);
}

static void an_application_error_is_an_answer (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 2);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REPLY,
                                   .replica = request (&rig, 1)->replica};
    ev.u.reply.call = id;
    ev.u.reply.copy = 1;
    ev.u.reply.status = 17;
    ev.u.reply.queue_ns = 5;
    ev.u.reply.service_ns = 6;
    CHECK_I64 (rig_step (&rig, &ev), ==, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_APP_ERROR);
    CHECK_U64 (rig_done (&rig)->status, ==, 17);
    CHECK_U64 (rig_done (&rig)->queue_ns, ==, 5);
    CHECK_U64 (rig_done (&rig)->service_ns, ==, 6);
    CHECK_U64 (cancels (&rig), ==, 1);
    rig_stop (&rig);
}

static void all_refused_gives_one_last_try_and_then_the_first_reason (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 3);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, S (1));
    rig_reject (&rig, request (&rig, 0)->replica, id, 0, TIED_REJECT_FULL);
    rig_reject (&rig, request (&rig, 1)->replica, id, 1, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 3);
    const struct tied_client_action *last = request (&rig, 2);
    CHECK_U64 (last->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_LAST);
    CHECK_U64 (last->u.request.copy, ==, 2);
    CHECK_U64 (last->replica, !=, request (&rig, 0)->replica);
    CHECK_U64 (last->replica, !=, request (&rig, 1)->replica);
    rig_reject (&rig, last->replica, id, 2, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (rig_done (&rig)->reject, ==, TIED_REJECT_FULL);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    CHECK_U64 (rig_counters (&rig)->copies_rejected, ==, 3);
    rig_stop (&rig);
}

static void reasons_that_another_replica_would_repeat_are_not_tried_again (void **state)
{
    (void)state;
    const struct {
        uint8_t reason;
        uint32_t outcome;
    } rows[] = {{TIED_REJECT_UNKNOWN_METHOD, TIED_OUTCOME_UNIMPLEMENTED},
                {TIED_REJECT_TOO_LARGE, TIED_OUTCOME_INVALID},
                {TIED_REJECT_EXPIRED, TIED_OUTCOME_REJECTED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig rig;
        setup_with (&rig, 3);
        const struct tied_call_id id = single (&rig, 0, true);
        rig_reject (&rig, request (&rig, 0)->replica, id, 0, rows[i].reason);
        CHECK_U64 (requests (&rig), ==, 1);
        CHECK_U64 (rig_done (&rig)->outcome, ==, rows[i].outcome);
        CHECK_U64 (rig_done (&rig)->reject, ==, rows[i].reason);
        CHECK_FALSE (rig_done (&rig)->may_have_executed);
        rig_stop (&rig);
    }
}

static void a_busy_refusal_ends_a_call_that_is_not_idempotent (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 3);
    const struct tied_call_id id = single (&rig, 0, false);
    rig_reject (&rig, request (&rig, 0)->replica, id, 0, TIED_REJECT_FULL);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

static void draining_sends_every_kind_of_call_elsewhere (void **state)
{
    (void)state;
    for (int is_idempotent = 0; is_idempotent < 2; is_idempotent++) {
        struct rig rig;
        setup_with (&rig, 2);
        const struct tied_call_id id = single (&rig, 0, is_idempotent);
        rig_reject (&rig, request (&rig, 0)->replica, id, 0, TIED_REJECT_DRAINING);
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (request (&rig, 1)->replica, !=, request (&rig, 0)->replica);
        rig_reply (&rig, request (&rig, 1)->replica, id, 2, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        /* The next call does not ask the replica that leaves. */
        const uint32_t leaving = request (&rig, 0)->replica;
        rig_forget (&rig);
        single (&rig, 0, is_idempotent);
        CHECK_U64 (request (&rig, 0)->replica, !=, leaving);
        rig_stop (&rig);
    }
}

static void min_remaining_keeps_a_hopeless_copy_at_home (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.min_remaining_ns = MS (5);
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    rig_forget (&rig);
    rig_tied (&rig, 0, MS (6), MS (10));
    rig_advance (&rig, rig.now + MS (7));
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_counters (&rig)->not_sent_deadline_near, ==, 1);
    rig_advance (&rig, rig.now + MS (3));
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_DEADLINE_NEAR);
    rig_forget (&rig);
    rig_tied (&rig, 0, MS (5), MS (10));
    rig_advance (&rig, rig.now + MS (7));
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void copies_max_of_one_is_single_mode_with_a_reason (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.copies_max = 1;
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    rig_forget (&rig);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, MS (10));
    CHECK_U64 (requests (&rig), ==, 1);
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_COPIES_MAX);
    CHECK_U64 (rig_done (&rig)->stagger_ns, ==, 0);
    rig_stop (&rig);
}

static void stop_ends_every_call_and_takes_no_more (void **state)
{
    (void)state;
    struct rig rig;
    rig_init (&rig);
    rig.options.calls_max = RIG_CALLS_MAX;
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    for (uint32_t i = 0; i < RIG_CALLS_MAX; i++)
        rig_tied (&rig, i, i % 2 ? 0 : MS (1), S (1));
    rig_forget (&rig);
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_STOP};
    CHECK_I64 (rig_step (&rig, &ev), ==, 0);
    CHECK_U64 (tied_client_core_live_calls (rig.core), >, 0);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, rig.now);
    rig_advance (&rig, rig.now);
    CHECK_U64 (tied_client_core_live_calls (rig.core), ==, 0);
    CHECK_U64 (rig_counters (&rig)->calls_cancelled, ==, RIG_CALLS_MAX);
    CHECK_U64 (requests (&rig), ==, 0);
    ev.type = TIED_CLIENT_EV_SUBMIT;
    CHECK_I64 (rig_step (&rig, &ev), ==, TIED_ERR_STATE);
    rig_stop (&rig);
}

static void misuse_is_refused_and_changes_nothing (void **state)
{
    (void)state;
    struct rig rig;
    setup_with (&rig, 1);
    rig_tied (&rig, 3, 0, S (1));
    const uint64_t before = tied_client_core_hash (rig.core);
    const struct tied_client_submit good = {.token = 4, .deadline = TIED_NEVER};
    struct tied_client_submit bad = good;
    bad.token = 8;
    CHECK_I64 (rig_submit (&rig, &bad), ==, TIED_ERR_INVAL);
    bad.token = 3;
    CHECK_I64 (rig_submit (&rig, &bad), ==, TIED_ERR_INVAL);
    bad = good;
    bad.mode = 4;
    CHECK_I64 (rig_submit (&rig, &bad), ==, TIED_ERR_INVAL);
    bad = good;
    bad.stagger_ns = S (3600) + 1;
    CHECK_I64 (rig_submit (&rig, &bad), ==, TIED_ERR_INVAL);
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_LINK_UP, .replica = 1};
    CHECK_I64 (rig_step (&rig, &ev), ==, TIED_ERR_INVAL);
    ev.type = (enum tied_client_event_type)99;
    CHECK_I64 (rig_step (&rig, &ev), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_core_step (rig.core, NULL, rig.now), ==, TIED_ERR_INVAL);
    ev.type = TIED_CLIENT_EV_TIMEOUT;
    CHECK_I64 (tied_client_core_step (rig.core, &ev, rig.now - 1), ==, TIED_ERR_INVAL);
    struct tied_client_replica out;
    CHECK_I64 (tied_client_core_replica (rig.core, 1, &out), ==, TIED_ERR_INVAL);
    CHECK_U64 (tied_client_core_hash (rig.core), ==, before);
    rig_stop (&rig);
}

static void each_option_out_of_range_is_named (void **state)
{
    (void)state;
    struct tied_client_core_options good;
    tied_client_core_options_init (&good);
    const char *field = NULL;
    CHECK_I64 (tied_client_core_options_check (&good, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, "epoch");
    good.epoch = 1;
    CHECK_I64 (tied_client_core_options_check (&good, &field), ==, 0);
#define BAD(name, value)                                                                           \
    do {                                                                                           \
        struct tied_client_core_options bad = good;                                                \
        bad.name = (value);                                                                        \
        CHECK_I64 (tied_client_core_options_check (&bad, &field), ==, TIED_ERR_INVAL);             \
        CHECK_STR (field, #name);                                                                  \
        CHECK_U64 (tied_client_core_size (&bad), ==, 0);                                           \
    } while (0)
    BAD (struct_size, sizeof good - 1);
    BAD (calls_max, 0);
    BAD (calls_max, (1u << 20) + 1);
    BAD (replicas_max, 0);
    BAD (replicas_max, 4097);
    BAD (copies_max, 0);
    BAD (copies_max, TIED_COPIES_MAX + 1);
    BAD (pick, 4);
    BAD (pick_samples, 1);
    BAD (pick_samples, 65);
    BAD (load_age_ns, MS (1) - 1);
    BAD (load_age_ns, S (3600) + 1);
    BAD (stagger_floor_ns, good.stagger_ceiling_ns + 1);
    BAD (stagger_ceiling_ns, S (10) + 1);
    BAD (stagger_initial_ns, good.stagger_floor_ns - 1);
    BAD (stagger_initial_ns, good.stagger_ceiling_ns + 1);
    BAD (min_remaining_ns, S (3600) + 1);
    BAD (heartbeat_ns, MS (1) - 1);
    BAD (heartbeat_ns, S (3600) + 1);
    BAD (heartbeat_misses, 0);
    BAD (heartbeat_misses, 101);
#undef BAD
    unsigned char small[64];
    CHECK_TRUE (tied_client_core_init (small, sizeof small, &good) == NULL);
    CHECK_TRUE (tied_client_core_init (NULL, 1 << 30, &good) == NULL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_two_copies_name_each_other),
        cmocka_unit_test (stagger_zero_sends_both_at_once),
        cmocka_unit_test (an_answer_before_the_stagger_saves_the_second_copy),
        cmocka_unit_test (CL_01_rejected_primary_with_no_target_ends_at_once),
        cmocka_unit_test (CL_01_draining_only_replica_ends_the_call_at_once),
        cmocka_unit_test (CL_02_no_second_replica_leaves_the_first_copy_alone),
        cmocka_unit_test (CL_02_a_sibling_lost_before_the_stagger_only_skips_the_send),
        cmocka_unit_test (CL_02_a_sibling_that_restarted_is_not_the_sibling_any_more),
        cmocka_unit_test (CL_03_CL_07_reply_and_stagger_in_one_round_complete_once),
        cmocka_unit_test (CL_06_submit_and_cancel_many_times_leave_nothing),
        cmocka_unit_test (CL_08_stagger_close_to_the_deadline_never_hangs),
        cmocka_unit_test (CL_09_a_cancel_while_no_replica_is_usable_sends_nothing),
        cmocka_unit_test (CL_10_the_loser_is_cancelled_and_the_winner_is_not),
        cmocka_unit_test (CL_10_no_cancel_where_a_peer_has_dropped_the_copy),
        cmocka_unit_test (CL_10_a_reissue_at_the_winners_own_replica_is_cancelled),
        cmocka_unit_test (CL_10_a_reissue_that_wins_leaves_nothing_to_cancel_at_its_replica),
        cmocka_unit_test (CL_11_a_refused_second_copy_does_not_end_the_call),
        cmocka_unit_test (CL_11_a_lost_replica_does_not_end_a_call_that_the_other_may_answer),
        cmocka_unit_test (CL_14_the_stagger_is_no_deadline),
        cmocka_unit_test (CL_15_the_first_cause_of_an_end_is_the_one_reported),
        cmocka_unit_test (CL_16_a_second_copy_that_is_not_sent_holds_nothing),
        cmocka_unit_test (CL_17_a_late_reply_answers_no_other_call),
        cmocka_unit_test (CL_17_foreign_answers_are_counted_and_do_nothing),
        cmocka_unit_test (CL_18_copies_per_call_never_exceed_the_maximum),
        cmocka_unit_test (CL_19_the_second_copy_never_goes_to_the_same_instance),
        cmocka_unit_test (CL_20_a_call_that_is_not_declared_idempotent_has_one_copy),
        cmocka_unit_test (CL_22_the_first_call_after_refusals_stop_succeeds),
        cmocka_unit_test (CL_24_no_copy_leaves_after_the_caller_gave_up),
        cmocka_unit_test (CL_25_a_quick_refusal_sends_the_second_copy_at_once),
        cmocka_unit_test (CL_26_every_way_to_lose_a_copy_ends_its_count),
        cmocka_unit_test (CL_27_two_executions_complete_once_and_count_one_duplicate),
        cmocka_unit_test (a_repeated_reply_of_the_winner_is_no_duplicate_execution),
        cmocka_unit_test (CK_02_deadlines_at_the_edges_end_at_once_or_never),
        cmocka_unit_test (CK_04_call_ids_stay_unique_over_the_edges_of_32_and_64_bits),
        cmocka_unit_test (CK_04_a_sequence_whose_slot_is_taken_is_skipped),
        cmocka_unit_test (an_application_error_is_an_answer),
        cmocka_unit_test (all_refused_gives_one_last_try_and_then_the_first_reason),
        cmocka_unit_test (reasons_that_another_replica_would_repeat_are_not_tried_again),
        cmocka_unit_test (a_busy_refusal_ends_a_call_that_is_not_idempotent),
        cmocka_unit_test (draining_sends_every_kind_of_call_elsewhere),
        cmocka_unit_test (min_remaining_keeps_a_hopeless_copy_at_home),
        cmocka_unit_test (copies_max_of_one_is_single_mode_with_a_reason),
        cmocka_unit_test (stop_ends_every_call_and_takes_no_more),
        cmocka_unit_test (misuse_is_refused_and_changes_nothing),
        cmocka_unit_test (each_option_out_of_range_is_named),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
