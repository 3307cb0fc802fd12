/* SPDX-License-Identifier: MIT */
/*
 * Hedges after a fixed delay, one claim per test: when one goes out, where to, and what it does to
 * the call. Every step is also judged by the rig's oracle.
 */
#include "check.h"
#include "client_rig.h"

#define DELAY MS (10)

static void setup (struct rig *rig, uint32_t replicas)
{
    rig_init (rig);
    rig_start (rig);
    for (uint32_t i = 0; i < replicas; i++)
        CHECK_U64 (rig_replica (rig, 100 + i), ==, i);
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

static uint32_t cancels (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_CANCEL);
}

static struct tied_client_submit
make (const struct rig *rig, enum tied_mode mode, tied_duration_t hedge_ns)
{
    return (struct tied_client_submit){.mode = mode,
                                       .is_idempotent = true,
                                       .deadline = rig->now + S (1),
                                       .stagger_ns = MS (1),
                                       .hedge_ns = hedge_ns};
}

static struct tied_call_id submit (struct rig *rig, const struct tied_client_submit *submit)
{
    CHECK_I64 (rig_submit (rig, submit), ==, 0);
    return rig->calls[submit->token].id;
}

static struct tied_call_id hedged (struct rig *rig, enum tied_mode mode, tied_duration_t hedge_ns)
{
    const struct tied_client_submit call = make (rig, mode, hedge_ns);
    return submit (rig, &call);
}

static void advance (struct rig *rig, tied_duration_t by)
{
    rig_advance (rig, rig->now + by);
}

/* Answer the n-th request of the log. */
static void answer (struct rig *rig, uint32_t n)
{
    const struct tied_client_action *a = request (rig, n);
    rig_reply (rig, a->replica, a->call, a->u.request.copy, 0);
}

static void refuse (struct rig *rig, uint32_t n, enum tied_reject reason)
{
    const struct tied_client_action *a = request (rig, n);
    rig_reject (rig, a->replica, a->call, a->u.request.copy, (uint8_t)reason);
}

static void a_call_that_is_pending_after_its_delay_gets_one_copy_more (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    advance (&rig, DELAY - 1);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, rig.now + 1);
    advance (&rig, 1);
    CHECK_U64 (requests (&rig), ==, 2);
    const struct tied_client_action *hedge = request (&rig, 1);
    CHECK_U64 (hedge->u.request.copy, ==, 2);
    CHECK_U64 (hedge->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
    CHECK_U64 (hedge->u.request.sibling, ==, TIED_NO_REPLICA);
    CHECK_U64 (hedge->u.request.attempts_left, ==, 2);
    CHECK_U64 (hedge->u.request.remaining_ns, ==, S (1) - DELAY);
    advance (&rig, MS (500));
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_reissued, ==, 0);
    rig_stop (&rig);
}

static void the_first_answer_wins_and_the_loser_is_cancelled (void **state)
{
    (void)state;
    for (uint32_t winner = 0; winner < 2; winner++) {
        struct rig rig;
        setup (&rig, 3);
        hedged (&rig, TIED_MODE_SINGLE, DELAY);
        advance (&rig, DELAY);
        answer (&rig, winner);
        const struct tied_client_completion *done = rig_done (&rig);
        CHECK_U64 (done->outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (done->winner_copy, ==, winner == 0 ? 0 : 2);
        CHECK_U64 (done->copies_sent, ==, 2);
        CHECK_U64 (done->not_sent, ==, TIED_NOT_SENT_NONE);
        CHECK_U64 (done->hedge_not_sent, ==, TIED_NOT_SENT_NONE);
        CHECK_U64 (cancels (&rig), ==, 1);
        const struct tied_client_action *cancel = rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0);
        CHECK_U64 (cancel->replica, ==, request (&rig, 1 - winner)->replica);
        CHECK_U64 (cancel->u.cancel.reason, ==, TIED_CANCEL_WON);
        CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, winner);
        CHECK_U64 (rig_counters (&rig)->copies_lost_race, ==, 1);
        /* The loser's answer shows that both ran. */
        answer (&rig, 1 - winner);
        CHECK_U64 (rig_counters (&rig)->duplicates, ==, 1);
        rig_stop (&rig);
    }
}

static void an_answer_before_the_delay_saves_the_hedge (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    advance (&rig, DELAY - 1);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_ANSWERED);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NONE);
    advance (&rig, S (2));
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (cancels (&rig), ==, 0);
    CHECK_U64 (rig_counters (&rig)->not_sent_answered, ==, 1);
    rig_stop (&rig);
}

static void zero_and_never_mean_no_hedge (void **state)
{
    const tied_duration_t none[] = {TIED_HEDGE_NONE, 0, TIED_NEVER};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct rig rig;
        setup (&rig, 3);
        hedged (&rig, TIED_MODE_SINGLE, none[i]);
        advance (&rig, MS (100));
        CHECK_U64 (requests (&rig), ==, 1);
        answer (&rig, 0);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NONE);
        CHECK_U64 (rig_counters (&rig)->not_sent_answered, ==, 0);
        rig_stop (&rig);
    }
}

static void now_sends_both_in_one_step (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    hedged (&rig, TIED_MODE_SINGLE, TIED_HEDGE_NOW);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 2);
    rig_stop (&rig);
}

static void a_delay_out_of_range_is_refused (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    struct tied_client_submit call = make (&rig, TIED_MODE_SINGLE, S (3600));
    call.hedge_ns++;
    CHECK_I64 (rig_submit (&rig, &call), ==, TIED_ERR_INVAL);
    call.hedge_ns = TIED_NEVER - 2;
    CHECK_I64 (rig_submit (&rig, &call), ==, TIED_ERR_INVAL);
    call.hedge_ns = S (3600);
    CHECK_I64 (rig_submit (&rig, &call), ==, 0);
    rig_stop (&rig);
}

static void CL_02_BE_12_without_another_instance_the_first_copy_goes_on (void **state)
{
    (void)state;
    /* One replica; two names of one instance; one of two that drains. */
    for (int kind = 0; kind < 3; kind++) {
        struct rig rig;
        setup (&rig, 1);
        if (kind == 1)
            CHECK_U64 (rig_replica (&rig, 100), ==, 1);
        hedged (&rig, TIED_MODE_SINGLE, MS (2));
        const uint32_t first = request (&rig, 0)->replica;
        if (kind == 2) {
            CHECK_U64 (rig_replica (&rig, 200), ==, 1);
            rig_link (&rig, 1, false);
        }
        advance (&rig, MS (6));
        CHECK_U64 (requests (&rig), ==, 1);
        CHECK_U64 (cancels (&rig), ==, 0);
        rig_reply (&rig, first, request (&rig, 0)->call, 0, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
        CHECK_U64 (rig_counters (&rig)->not_sent_no_sibling, ==, 1);
        rig_stop (&rig);
    }
}

static void CL_03_CL_07_answer_and_hedge_in_one_round_complete_once (void **state)
{
    const struct tied_client_event timeout = {.type = TIED_CLIENT_EV_TIMEOUT};
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct rig rig;
        setup (&rig, 2);
        hedged (&rig, TIED_MODE_SINGLE, DELAY);
        rig.now += DELAY;
        if (order == 1)
            CHECK_I64 (rig_step (&rig, &timeout), ==, 0);
        answer (&rig, 0);
        CHECK_I64 (rig_step (&rig, &timeout), ==, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (requests (&rig), ==, order == 1 ? 2 : 1);
        CHECK_U64 (cancels (&rig), ==, order == 1 ? 1 : 0);
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 0);
        rig_stop (&rig);
    }
}

static void CL_08_a_delay_close_to_the_deadline_never_hangs (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    for (tied_duration_t d = MS (10) - 50; d <= MS (10) + 50; d++) {
        struct tied_client_submit call = make (&rig, TIED_MODE_SINGLE, d);
        call.deadline = rig.now + MS (10);
        submit (&rig, &call);
        advance (&rig, MS (10));
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
        CHECK_U64 (requests (&rig), ==, d < MS (10) ? 2 : 1);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==,
                   d < MS (10) ? TIED_NOT_SENT_NONE : TIED_NOT_SENT_ANSWERED);
        for (uint32_t r = 0; r < 3; r++)
            rig_pong (&rig, r, (struct tied_load){0, 0, 0});
        rig_forget (&rig);
    }
    rig_stop (&rig);
}

static void CL_11_a_refused_hedge_retires_only_itself (void **state)
{
    (void)state;
    for (uint8_t reason = 1; reason < TIED_REJECT_COUNT; reason++) {
        struct rig rig;
        setup (&rig, 3);
        hedged (&rig, TIED_MODE_SINGLE, DELAY);
        advance (&rig, DELAY);
        refuse (&rig, 1, (enum tied_reject)reason);
        advance (&rig, MS (80));
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (rig_counters (&rig)->copies_rejected, ==, 1);
        answer (&rig, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        rig_stop (&rig);
    }
}

static void CL_11_either_of_two_lost_copies_leaves_the_other (void **state)
{
    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++) {
        struct rig rig;
        setup (&rig, 3);
        hedged (&rig, TIED_MODE_SINGLE, DELAY);
        advance (&rig, DELAY);
        rig_link (&rig, request (&rig, lost)->replica, false);
        advance (&rig, MS (50));
        CHECK_U64 (requests (&rig), ==, 2);
        answer (&rig, 1 - lost);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        rig_stop (&rig);
    }
}

static void CL_14_the_delay_ends_nothing (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    struct tied_client_submit call = make (&rig, TIED_MODE_SINGLE, MS (15));
    call.deadline = rig.now + MS (100);
    submit (&rig, &call);
    advance (&rig, MS (45));
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->latency_ns, ==, MS (45));
    rig_stop (&rig);
}

static void CL_16_a_hedge_that_is_not_needed_holds_nothing (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 2);
    const tied_time_t idle_until = tied_client_core_deadline (rig.core);
    for (int i = 0; i < 10000; i++) {
        hedged (&rig, TIED_MODE_SINGLE, DELAY);
        answer (&rig, 0);
        rig_forget (&rig);
    }
    CHECK_U64 (rig_counters (&rig)->copies_sent, ==, 10000);
    CHECK_U64 (rig_counters (&rig)->not_sent_answered, ==, 10000);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, idle_until);
    rig_stop (&rig);
}

static void CL_19_a_hedge_never_goes_to_an_instance_that_has_a_copy (void **state)
{
    const uint32_t picks[] = {TIED_PICK_INFORMED, TIED_PICK_RANDOM, TIED_PICK_ROUND_ROBIN};
    (void)state;
    for (size_t p = 0; p < 3; p++) {
        struct rig rig;
        rig_init (&rig);
        rig.options.pick = picks[p];
        rig.options.pick_samples = 2;
        rig_start (&rig);
        /* Replicas 0 and 3 are one instance. */
        const uint64_t instances[] = {100, 101, 102, 100};
        for (uint32_t i = 0; i < 4; i++)
            CHECK_U64 (rig_replica (&rig, instances[i]), ==, i);
        for (int i = 0; i < 3000; i++) {
            rig_forget (&rig);
            hedged (&rig, TIED_MODE_SINGLE, MS (1));
            advance (&rig, MS (1));
            CHECK_U64 (requests (&rig), ==, 2);
            CHECK_U64 (request (&rig, 0)->u.request.incarnation, !=,
                       request (&rig, 1)->u.request.incarnation);
            answer (&rig, (uint32_t)i % 2);
        }
        CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 3000);
        rig_stop (&rig);
    }
}

static void CL_20_a_call_that_is_not_declared_idempotent_has_no_hedge (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    struct tied_client_submit call = make (&rig, TIED_MODE_SINGLE, DELAY);
    call.is_idempotent = false;
    submit (&rig, &call);
    advance (&rig, MS (500));
    CHECK_U64 (requests (&rig), ==, 1);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_U64 (rig_counters (&rig)->not_sent_not_idempotent, ==, 1);
    rig_stop (&rig);
}

static void CL_24_no_hedge_leaves_after_the_caller_gave_up (void **state)
{
    const struct tied_client_event timeout = {.type = TIED_CLIENT_EV_TIMEOUT};
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct rig rig;
        setup (&rig, 2);
        const struct tied_call_id id = hedged (&rig, TIED_MODE_SINGLE, DELAY);
        rig.now += DELAY;
        if (order == 1)
            CHECK_I64 (rig_step (&rig, &timeout), ==, 0);
        CHECK_I64 (rig_cancel (&rig, id), ==, 0);
        const uint32_t sent = requests (&rig);
        CHECK_U64 (sent, ==, order == 1 ? 2 : 1);
        CHECK_U64 (cancels (&rig), ==, sent);
        advance (&rig, S (2));
        CHECK_U64 (requests (&rig), ==, sent);
        rig_stop (&rig);
    }
}

static void CL_25_a_quick_refusal_sends_the_hedge_at_once_and_no_second_one (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    hedged (&rig, TIED_MODE_SINGLE, MS (100));
    advance (&rig, MS (1));
    refuse (&rig, 0, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 2);
    const struct tied_client_action *hedge = request (&rig, 1);
    CHECK_U64 (hedge->replica, !=, request (&rig, 0)->replica);
    CHECK_U64 (hedge->u.request.copy, ==, 2);
    CHECK_U64 (hedge->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_LAST);
    CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_reissued, ==, 0);
    advance (&rig, MS (500));
    CHECK_U64 (requests (&rig), ==, 2);
    /* It was the last try. */
    refuse (&rig, 1, TIED_REJECT_BUSY);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void a_refusal_that_every_replica_would_repeat_sends_no_hedge (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    refuse (&rig, 0, TIED_REJECT_UNKNOWN_METHOD);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNIMPLEMENTED);
    CHECK_U64 (requests (&rig), ==, 1);
    rig_stop (&rig);
}

static void a_refused_hedge_and_then_a_refused_first_copy_give_one_last_try (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    advance (&rig, DELAY);
    refuse (&rig, 1, TIED_REJECT_BUSY);
    refuse (&rig, 0, TIED_REJECT_FULL);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (request (&rig, 2)->u.request.copy, ==, 3);
    CHECK_U64 (request (&rig, 2)->u.request.flags & TIED_REQUEST_LAST, !=, 0);
    CHECK_U64 (rig_counters (&rig)->copies_reissued, ==, 1);
    refuse (&rig, 2, TIED_REJECT_FULL);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_U64 (rig_done (&rig)->reject, ==, TIED_REJECT_BUSY);
    rig_stop (&rig);
}

static void a_loss_before_the_delay_sends_the_hedge_at_once_as_a_reissue (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    hedged (&rig, TIED_MODE_SINGLE, MS (100));
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.flags, ==,
               TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_REISSUE);
    CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
    advance (&rig, MS (500));
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void a_call_that_waits_to_be_sent_again_has_no_hedge_until_then (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 1);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    rig_link (&rig, 0, false);
    advance (&rig, MS (100));
    CHECK_U64 (requests (&rig), ==, 1);
    rig_link (&rig, 0, true);
    rig_welcome (&rig, 0, 200);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, 1);
    rig_stop (&rig);
}

static void a_copy_in_place_of_one_that_did_not_run_begins_the_delay_anew (void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct rig rig;
        setup (&rig, 3);
        const struct tied_call_id id = hedged (&rig, TIED_MODE_SINGLE, DELAY);
        advance (&rig, MS (4));
        if (kind == 0)
            CHECK_I64 (rig_send_failed (&rig, request (&rig, 0)->replica, id, 0), ==, 0);
        else
            refuse (&rig, 0, TIED_REJECT_DRAINING);
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (rig_counters (&rig)->copies_reissued, ==, 1);
        advance (&rig, DELAY - 1);
        CHECK_U64 (requests (&rig), ==, 2);
        advance (&rig, 1);
        CHECK_U64 (requests (&rig), ==, 3);
        CHECK_U64 (request (&rig, 2)->replica, !=, request (&rig, 1)->replica);
        CHECK_U64 (request (&rig, 2)->replica, !=, request (&rig, 0)->replica);
        CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, 1);
        rig_stop (&rig);
    }
}

static void a_hedge_that_could_not_be_sent_leaves_the_call_alone (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    const struct tied_call_id id = hedged (&rig, TIED_MODE_SINGLE, DELAY);
    advance (&rig, DELAY);
    CHECK_I64 (rig_send_failed (&rig, request (&rig, 1)->replica, id, 2), ==, 0);
    advance (&rig, MS (100));
    CHECK_U64 (requests (&rig), ==, 2);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_LINK_DOWN);
    CHECK_U64 (rig_counters (&rig)->not_sent_link_down, ==, 1);
    rig_stop (&rig);
}

static void the_delay_counts_from_the_first_copy_not_from_the_submit (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 0);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    advance (&rig, MS (50));
    CHECK_U64 (rig_replica (&rig, 100), ==, 0);
    CHECK_U64 (rig_replica (&rig, 101), ==, 1);
    CHECK_U64 (requests (&rig), ==, 1);
    advance (&rig, DELAY - 1);
    CHECK_U64 (requests (&rig), ==, 1);
    advance (&rig, 1);
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void a_call_that_was_never_sent_says_why_it_had_no_hedge (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 0);
    hedged (&rig, TIED_MODE_SINGLE, DELAY);
    advance (&rig, S (1));
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
    rig_forget (&rig);
    struct tied_client_submit late = make (&rig, TIED_MODE_SINGLE, DELAY);
    late.deadline = rig.now;
    submit (&rig, &late);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_DEADLINE_NEAR);
    rig_stop (&rig);
}

static void min_remaining_keeps_a_hopeless_hedge_at_home (void **state)
{
    struct rig rig;
    (void)state;
    rig_init (&rig);
    rig.options.min_remaining_ns = MS (5);
    rig_start (&rig);
    rig_replica (&rig, 100);
    rig_replica (&rig, 101);
    rig_forget (&rig);
    struct tied_client_submit call = make (&rig, TIED_MODE_SINGLE, DELAY);
    call.deadline = rig.now + MS (14);
    submit (&rig, &call);
    advance (&rig, MS (12));
    CHECK_U64 (requests (&rig), ==, 1);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_DEADLINE_NEAR);
    CHECK_U64 (rig_counters (&rig)->not_sent_deadline_near, ==, 1);
    rig_stop (&rig);
}

static void CL_18_a_hedge_leaves_room_for_a_reissue (void **state)
{
    const struct {
        enum tied_mode mode;
        uint32_t copies_max;
        bool is_sent;
    } rows[] = {{TIED_MODE_SINGLE, 1, false}, {TIED_MODE_SINGLE, 2, false},
                {TIED_MODE_SINGLE, 3, true},  {TIED_MODE_TIED, 2, false},
                {TIED_MODE_TIED, 3, false},   {TIED_MODE_TIED, 4, true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rig rig;
        rig_init (&rig);
        rig.options.copies_max = rows[i].copies_max;
        rig_start (&rig);
        for (uint32_t r = 0; r < 4; r++)
            rig_replica (&rig, 100 + r);
        rig_forget (&rig);
        hedged (&rig, rows[i].mode, DELAY);
        advance (&rig, DELAY);
        CHECK_U64 (rig_counters (&rig)->copies_hedged, ==, rows[i].is_sent);
        answer (&rig, 0);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==,
                   rows[i].is_sent ? TIED_NOT_SENT_NONE : TIED_NOT_SENT_COPIES_MAX);
        rig_stop (&rig);
    }
}

static void a_reissue_may_have_taken_the_room_of_the_hedge (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 4);
    /* Copies 0 and 1, and one in place of a sent one: three of four. */
    const struct tied_call_id id = hedged (&rig, TIED_MODE_TIED, DELAY);
    advance (&rig, MS (1));
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_I64 (rig_send_failed (&rig, request (&rig, 1)->replica, id, 1), ==, 0);
    CHECK_I64 (rig_send_failed (&rig, request (&rig, 0)->replica, id, 0), ==, 0);
    CHECK_U64 (requests (&rig), ==, 3);
    advance (&rig, MS (100));
    CHECK_U64 (requests (&rig), ==, 3);
    answer (&rig, 2);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_COPIES_MAX);
    rig_stop (&rig);
}

static void a_tied_call_is_hedged_at_a_third_instance_and_completes_once (void **state)
{
    (void)state;
    for (uint32_t winner = 0; winner < 3; winner++) {
        struct rig rig;
        setup (&rig, 3);
        hedged (&rig, TIED_MODE_TIED, DELAY);
        advance (&rig, DELAY);
        CHECK_U64 (requests (&rig), ==, 3);
        for (uint32_t n = 0; n < 3; n++)
            CHECK_U64 (request (&rig, n)->u.request.copy, ==, n);
        CHECK_U64 (request (&rig, 2)->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
        CHECK_U64 (request (&rig, 2)->replica, !=, request (&rig, 0)->replica);
        CHECK_U64 (request (&rig, 2)->replica, !=, request (&rig, 1)->replica);
        answer (&rig, winner);
        CHECK_U64 (rig_done (&rig)->winner_copy, ==, winner);
        CHECK_U64 (rig_done (&rig)->copies_sent, ==, 3);
        CHECK_U64 (cancels (&rig), ==, 2);
        CHECK_U64 (rig_counters (&rig)->wins_tied, ==, winner == 1);
        CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, winner == 2);
        for (uint32_t n = 0; n < 3; n++)
            if (n != winner)
                answer (&rig, n);
        CHECK_U64 (rig_counters (&rig)->late_replies, ==, 2);
        CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 1);
        rig_stop (&rig);
    }
}

static void CL_10_a_hedge_is_cancelled_though_the_sibling_was_told (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    const struct tied_call_id id = hedged (&rig, TIED_MODE_TIED, DELAY);
    advance (&rig, DELAY);
    rig_reply (&rig, request (&rig, 0)->replica, id, 0, TIED_REPLY_SIBLING_TOLD);
    CHECK_U64 (cancels (&rig), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==,
               request (&rig, 2)->replica);
    rig_stop (&rig);
}

static void a_hedge_before_the_stagger_keeps_off_the_planned_sibling (void **state)
{
    (void)state;
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        struct rig rig;
        setup (&rig, 3);
        struct tied_client_submit call = make (&rig, TIED_MODE_TIED, MS (2));
        call.stagger_ns = MS (8);
        submit (&rig, &call);
        const uint32_t sibling = request (&rig, 0)->u.request.sibling;
        advance (&rig, MS (2));
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 2);
        CHECK_U64 (request (&rig, 1)->replica, !=, sibling);
        /* Its refusal does not bring copy 1 forward. */
        if (is_refused)
            refuse (&rig, 1, TIED_REJECT_BUSY);
        advance (&rig, MS (5));
        CHECK_U64 (requests (&rig), ==, 2);
        advance (&rig, MS (1));
        CHECK_U64 (requests (&rig), ==, 3);
        CHECK_U64 (request (&rig, 2)->u.request.copy, ==, 1);
        CHECK_U64 (request (&rig, 2)->u.request.flags & TIED_REQUEST_TIED, !=, 0);
        rig_stop (&rig);
    }
}

/* Both hold the call for long: each is asked four times, at doubling times, and no more. */
static void a_pair_that_waits_is_asked_eight_times (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, 2);
    hedged (&rig, TIED_MODE_TIED, DELAY);
    const tied_time_t end = rig.now + MS (400); /* before silence makes the replicas suspect */
    for (uint32_t seen = 2; rig.now < end; advance (&rig, MS (10)))
        for (; seen < requests (&rig); seen++)
            refuse (&rig, seen, TIED_REJECT_DUPLICATE);
    CHECK_U64 (requests (&rig), ==, 2 + 8);
    answer (&rig, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
    rig_stop (&rig);
}

/* The replica that says so holds copy 1: that one is not lost, though a copy was. */
static void a_duplicate_after_a_loss_says_that_the_other_copy_is_there (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, 2);
    hedged (&rig, TIED_MODE_TIED, DELAY);
    advance (&rig, DELAY);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (request (&rig, 2)->replica, ==, request (&rig, 1)->replica);
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 1);
    refuse (&rig, 2, TIED_REJECT_DUPLICATE);
    CHECK_U64 (rig_counters (&rig)->copies_lost, ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_rejected, ==, 1);
    answer (&rig, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->winner_copy, ==, 1);
    CHECK_U64 (rig_counters (&rig)->copies_won, ==, 1);
    rig_stop (&rig);
}

static void a_hedge_before_the_stagger_brings_the_only_other_replica_both_copies (void **state)
{
    (void)state;
    for (int is_held = 0; is_held < 2; is_held++) {
        struct rig rig;
        setup (&rig, 2);
        struct tied_client_submit call = make (&rig, TIED_MODE_TIED, MS (2));
        call.stagger_ns = MS (8);
        submit (&rig, &call);
        const uint32_t sibling = request (&rig, 0)->u.request.sibling;
        advance (&rig, MS (2));
        CHECK_U64 (requests (&rig), ==, 3);
        CHECK_U64 (request (&rig, 1)->u.request.copy, ==, 1);
        CHECK_U64 (request (&rig, 1)->u.request.flags & TIED_REQUEST_TIED, !=, 0);
        CHECK_U64 (request (&rig, 2)->u.request.copy, ==, 2);
        CHECK_U64 (request (&rig, 2)->u.request.flags & TIED_REQUEST_TIED, ==, 0);
        CHECK_U64 (request (&rig, 1)->replica, ==, sibling);
        CHECK_U64 (request (&rig, 2)->replica, ==, sibling);
        /* It holds copy 1: then the other one dropped its own. */
        if (is_held) {
            refuse (&rig, 2, TIED_REJECT_DUPLICATE);
            CHECK_U64 (requests (&rig), ==, 4);
            CHECK_U64 (request (&rig, 3)->u.request.copy, ==, 2);
            CHECK_U64 (request (&rig, 3)->replica, ==, request (&rig, 0)->replica);
        }
        advance (&rig, MS (6));
        CHECK_U64 (requests (&rig), ==, is_held ? 4 : 3);
        answer (&rig, 2 + (uint32_t)is_held);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NONE);
        CHECK_U64 (rig_counters (&rig)->wins_hedged, ==, 1);
        rig_stop (&rig);
    }
}

static void a_hedge_resolves_the_doubt_about_a_tied_copy (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    hedged (&rig, TIED_MODE_TIED, DELAY);
    advance (&rig, DELAY);
    rig_link (&rig, request (&rig, 0)->replica, false);
    advance (&rig, MS (50));
    CHECK_U64 (requests (&rig), ==, 3);
    /* Without it, the doubtful copy is not enough. */
    refuse (&rig, 2, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_U64 (request (&rig, 3)->u.request.flags & TIED_REQUEST_LAST, !=, 0);
    rig_stop (&rig);
}

static void CL_26_hedges_that_end_in_any_way_leave_none_in_flight (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig, 3);
    for (uint32_t i = 0; i < 7000; i++) {
        rig_forget (&rig);
        const struct tied_call_id id =
            hedged (&rig, i % 2 ? TIED_MODE_SINGLE : TIED_MODE_TIED, MS (2));
        advance (&rig, MS (2));
        const uint32_t last = requests (&rig) - 1;
        const uint32_t to = request (&rig, last)->replica;
        const uint8_t copy = request (&rig, last)->u.request.copy;
        switch (i % 7) {
        case 0:
            answer (&rig, last);
            break;
        case 1:
            answer (&rig, 0);
            break;
        case 2:
            refuse (&rig, last, TIED_REJECT_BUSY);
            answer (&rig, 0);
            break;
        case 3:
            rig_link (&rig, to, false);
            rig_link (&rig, to, true);
            rig_welcome (&rig, to, 1000 + i);
            answer (&rig, 0);
            break;
        case 4:
            CHECK_I64 (rig_send_failed (&rig, to, id, copy), ==, 0);
            answer (&rig, 0);
            break;
        case 5:
            CHECK_I64 (rig_cancel (&rig, id), ==, 0);
            break;
        default:
            advance (&rig, S (1));
        }
        CHECK_U64 (tied_client_core_live_calls (rig.core), ==, 0);
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 0);
        for (uint32_t r = 0; r < 3; r++) {
            CHECK_U64 (rig_look (&rig, r).in_flight, ==, 0);
            rig_pong (&rig, r, (struct tied_load){0, 0, 0});
        }
    }
    CHECK_U64 (rig_counters (&rig)->copies_hedged, >, 6000);
    rig_stop (&rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_call_that_is_pending_after_its_delay_gets_one_copy_more),
        cmocka_unit_test (the_first_answer_wins_and_the_loser_is_cancelled),
        cmocka_unit_test (an_answer_before_the_delay_saves_the_hedge),
        cmocka_unit_test (zero_and_never_mean_no_hedge),
        cmocka_unit_test (now_sends_both_in_one_step),
        cmocka_unit_test (a_delay_out_of_range_is_refused),
        cmocka_unit_test (CL_02_BE_12_without_another_instance_the_first_copy_goes_on),
        cmocka_unit_test (CL_03_CL_07_answer_and_hedge_in_one_round_complete_once),
        cmocka_unit_test (CL_08_a_delay_close_to_the_deadline_never_hangs),
        cmocka_unit_test (CL_11_a_refused_hedge_retires_only_itself),
        cmocka_unit_test (CL_11_either_of_two_lost_copies_leaves_the_other),
        cmocka_unit_test (CL_14_the_delay_ends_nothing),
        cmocka_unit_test (CL_16_a_hedge_that_is_not_needed_holds_nothing),
        cmocka_unit_test (CL_19_a_hedge_never_goes_to_an_instance_that_has_a_copy),
        cmocka_unit_test (CL_20_a_call_that_is_not_declared_idempotent_has_no_hedge),
        cmocka_unit_test (CL_24_no_hedge_leaves_after_the_caller_gave_up),
        cmocka_unit_test (CL_25_a_quick_refusal_sends_the_hedge_at_once_and_no_second_one),
        cmocka_unit_test (a_refusal_that_every_replica_would_repeat_sends_no_hedge),
        cmocka_unit_test (a_refused_hedge_and_then_a_refused_first_copy_give_one_last_try),
        cmocka_unit_test (a_loss_before_the_delay_sends_the_hedge_at_once_as_a_reissue),
        cmocka_unit_test (a_call_that_waits_to_be_sent_again_has_no_hedge_until_then),
        cmocka_unit_test (a_copy_in_place_of_one_that_did_not_run_begins_the_delay_anew),
        cmocka_unit_test (a_hedge_that_could_not_be_sent_leaves_the_call_alone),
        cmocka_unit_test (the_delay_counts_from_the_first_copy_not_from_the_submit),
        cmocka_unit_test (a_call_that_was_never_sent_says_why_it_had_no_hedge),
        cmocka_unit_test (min_remaining_keeps_a_hopeless_hedge_at_home),
        cmocka_unit_test (CL_18_a_hedge_leaves_room_for_a_reissue),
        cmocka_unit_test (a_reissue_may_have_taken_the_room_of_the_hedge),
        cmocka_unit_test (a_tied_call_is_hedged_at_a_third_instance_and_completes_once),
        cmocka_unit_test (CL_10_a_hedge_is_cancelled_though_the_sibling_was_told),
        cmocka_unit_test (a_hedge_before_the_stagger_keeps_off_the_planned_sibling),
        cmocka_unit_test (a_pair_that_waits_is_asked_eight_times),
        cmocka_unit_test (a_duplicate_after_a_loss_says_that_the_other_copy_is_there),
        cmocka_unit_test (a_hedge_before_the_stagger_brings_the_only_other_replica_both_copies),
        cmocka_unit_test (a_hedge_resolves_the_doubt_about_a_tied_copy),
        cmocka_unit_test (CL_26_hedges_that_end_in_any_way_leave_none_in_flight),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
