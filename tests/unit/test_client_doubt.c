/* SPDX-License-Identifier: MIT */
/*
 * A doubtful copy: the last tied one, whose sibling's replica was lost and may have dropped it
 * before. It can still win the call, but nobody waits for it alone. Every call here ends without
 * the help of a deadline, unless the test says so.
 */
#include "check.h"
#include "client_rig.h"

static const struct tied_load IDLE = {0, 0, 0};

static void setup (struct rig *rig, uint32_t replicas, uint32_t copies_max)
{
    rig_init (rig);
    rig->options.calls_max = RIG_CALLS_MAX;
    rig->options.copies_max = copies_max;
    rig_start (rig);
    for (uint32_t i = 0; i < replicas; i++)
        rig_replica (rig, 100 + i);
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

/* A tied call whose copy 0 is lost and whose re-issue could not be sent; returns where copy 1 is.
 */
static uint32_t doubt (struct rig *rig, tied_duration_t timeout, struct tied_call_id *out_id)
{
    *out_id = rig_tied (rig, 0, 0, timeout);
    const uint32_t other = request (rig, 1)->replica;
    rig_link (rig, request (rig, 0)->replica, false);
    CHECK_U64 (requests (rig), ==, 3);
    CHECK_U64 (request (rig, 2)->replica, ==, other);
    CHECK_I64 (rig_send_failed (rig, other, *out_id, 2), ==, 0);
    return other;
}

static void CL_01_a_reissue_that_met_a_full_pipe_is_sent_at_the_next_sign_of_life (void **state)
{
    (void)state;
    struct rig rig;
    struct tied_call_id id;
    setup (&rig, 2, 4);
    const uint32_t other = doubt (&rig, TIED_NEVER, &id);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (completions (&rig), ==, 0);
    rig_pong (&rig, other, IDLE);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_U64 (request (&rig, 3)->replica, ==, other);
    CHECK_U64 (request (&rig, 3)->u.request.copy, ==, 3);
    CHECK_U64 (request (&rig, 3)->u.request.flags, ==,
               TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_REISSUE);
    rig_pong (&rig, other, IDLE);
    CHECK_U64 (requests (&rig), ==, 4);
    rig_reply (&rig, other, id, 3, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

/* The replica that comes back could take it, but a merge saves an execution. */
static void a_waiting_reissue_goes_where_it_can_merge (void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct rig rig;
        struct tied_call_id id;
        setup (&rig, 2, 4);
        rig.now += (tied_time_t)round;
        const uint32_t other = doubt (&rig, TIED_NEVER, &id);
        rig_link (&rig, 1 - other, true);
        rig_welcome (&rig, 1 - other, 900);
        CHECK_U64 (requests (&rig), ==, 4);
        CHECK_U64 (request (&rig, 3)->replica, ==, other);
        rig_stop (&rig);
    }
}

static void a_doubtful_copy_may_still_win_while_its_call_waits (void **state)
{
    (void)state;
    struct rig rig;
    struct tied_call_id id;
    setup (&rig, 2, 4);
    const uint32_t other = doubt (&rig, TIED_NEVER, &id);
    rig_reply (&rig, other, id, 1, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (rig_done (&rig)->winner_copy, ==, 1);
    rig_pong (&rig, other, IDLE);
    CHECK_U64 (requests (&rig), ==, 3);
    rig_stop (&rig);
}

static void a_waiting_call_goes_on_when_its_doubtful_copy_is_lost_or_refused (void **state)
{
    (void)state;
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        struct rig rig;
        struct tied_call_id id;
        setup (&rig, 2, 4);
        const uint32_t other = doubt (&rig, TIED_NEVER, &id);
        if (is_refused) {
            rig_reject (&rig, other, id, 1, TIED_REJECT_DRAINING);
            CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
            rig_stop (&rig);
            continue;
        }
        rig_link (&rig, other, false);
        CHECK_U64 (completions (&rig), ==, 0);
        rig_link (&rig, 1 - other, true);
        rig_welcome (&rig, 1 - other, 900);
        CHECK_U64 (requests (&rig), ==, 4);
        CHECK_U64 (request (&rig, 3)->replica, ==, 1 - other);
        rig_reply (&rig, 1 - other, id, 3, 0);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
        rig_stop (&rig);
    }
}

static void a_waiting_call_with_a_doubtful_copy_keeps_its_deadline (void **state)
{
    (void)state;
    struct rig rig;
    struct tied_call_id id;
    setup (&rig, 2, 4);
    const uint32_t other = doubt (&rig, MS (20), &id);
    rig_advance (&rig, rig.now + MS (20));
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==, other);
    rig_stop (&rig);
}

/* Too many calls for one step, and each of their sends fails: no call may use up all its copies
 * before the replica was heard again. */
static void one_sign_of_life_costs_a_waiting_call_at_most_one_copy (void **state)
{
    (void)state;
    struct rig rig;
    uint32_t sends[RIG_CALLS_MAX] = {0};
    setup (&rig, 2, TIED_COPIES_MAX);
    for (uint32_t i = 0; i < RIG_CALLS_MAX; i++)
        rig_tied (&rig, i, 0, TIED_NEVER);
    const uint32_t lost = request (&rig, 0)->replica;
    rig_forget (&rig);
    rig_link (&rig, lost, false);
    const struct tied_client_event ev = {.type = TIED_CLIENT_EV_TIMEOUT};
    for (uint32_t i = 0;; i++) {
        if (i == requests (&rig) && tied_client_core_deadline (rig.core) > rig.now)
            break;
        if (i == requests (&rig))
            CHECK_I64 (rig_step (&rig, &ev), ==, 0);
        if (i == requests (&rig))
            continue;
        const struct tied_client_action a = *request (&rig, i);
        CHECK_U64 (++sends[a.token], ==, 1);
        CHECK_I64 (rig_send_failed (&rig, a.replica, a.call, a.u.request.copy), ==, 0);
    }
    CHECK_U64 (requests (&rig), ==, RIG_CALLS_MAX);
    rig_forget (&rig);
    rig_pong (&rig, 1 - lost, IDLE);
    const uint32_t again = requests (&rig);
    CHECK_U64 (again, >, 0);
    CHECK_U64 (again, <, RIG_CALLS_MAX);
    for (uint32_t i = 0; i < requests (&rig); i++) {
        const struct tied_client_action a = *request (&rig, i);
        CHECK_U64 (++sends[a.token], ==, 2);
        CHECK_I64 (rig_send_failed (&rig, a.replica, a.call, a.u.request.copy), ==, 0);
    }
    rig_stop (&rig);
}

static void ties_need_room_for_one_reissue (void **state)
{
    (void)state;
    for (uint32_t copies_max = 1; copies_max <= 3; copies_max++) {
        struct rig rig;
        setup (&rig, 2, copies_max);
        const struct tied_call_id id = rig_tied (&rig, 0, 0, TIED_NEVER);
        CHECK_U64 (requests (&rig), ==, copies_max == 3 ? 2 : 1);
        rig_reply (&rig, request (&rig, 0)->replica, id, 0, 0);
        CHECK_U64 (rig_done (&rig)->not_sent, ==,
                   copies_max == 3 ? TIED_NOT_SENT_NONE : TIED_NOT_SENT_COPIES_MAX);
        CHECK_U64 (rig_done (&rig)->stagger_ns, ==, 0);
        rig_stop (&rig);
    }
}

static void CL_01_without_room_a_call_does_not_wait_for_a_doubtful_copy (void **state)
{
    (void)state;
    struct rig rig;
    struct tied_call_id id;
    setup (&rig, 2, 3);
    const uint32_t other = doubt (&rig, TIED_NEVER, &id);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_SEND_CANCEL), ==, 1);
    CHECK_U64 (rig_get (&rig, TIED_CLIENT_ACT_SEND_CANCEL, 0)->replica, ==, other);
    CHECK_U64 (rig_counters (&rig)->not_sent_copies_max, ==, 1);
    rig_stop (&rig);
}

/* Copy 0 is lost and copy 1 doubtful at a replica that leaves, so copy 2 is at the third. */
static struct tied_call_id doubt_elsewhere (struct rig *rig, uint32_t copies_max)
{
    setup (rig, 2, copies_max);
    const struct tied_call_id id = rig_tied (rig, 0, 0, TIED_NEVER);
    const uint32_t first = request (rig, 0)->replica;
    const uint32_t other = request (rig, 1)->replica;
    bool is_draining = false;
    while (!is_draining) {
        const struct tied_client_submit single = {.token = 1, .deadline = TIED_NEVER};
        CHECK_I64 (rig_submit (rig, &single), ==, 0);
        const struct tied_client_action a = *request (rig, requests (rig) - 1);
        is_draining = a.replica == other;
        if (is_draining)
            rig_reject (rig, other, a.call, 0, TIED_REJECT_DRAINING);
        CHECK_I64 (rig_cancel (rig, a.call), ==, 0);
    }
    const uint32_t third = rig_replica (rig, 102);
    rig_forget (rig);
    rig_link (rig, first, false);
    CHECK_U64 (requests (rig), ==, 1);
    CHECK_U64 (request (rig, 0)->u.request.copy, ==, 2);
    CHECK_U64 (request (rig, 0)->replica, ==, third);
    return id;
}

static void CL_02_a_loss_without_room_leaves_a_copy_alone_that_is_not_in_doubt (void **state)
{
    (void)state;
    struct rig rig;
    const struct tied_call_id id = doubt_elsewhere (&rig, 3);
    rig_reply (&rig, request (&rig, 0)->replica, id, 2, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void CL_01_the_loss_of_the_last_certain_copy_ends_a_call_without_room (void **state)
{
    (void)state;
    struct rig rig;
    doubt_elsewhere (&rig, 3);
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

static void CL_11_a_refused_reissue_gets_its_last_try_before_doubt_ends_the_call (void **state)
{
    (void)state;
    struct rig rig;
    const struct tied_call_id id = doubt_elsewhere (&rig, 8);
    const uint32_t third = request (&rig, 0)->replica;
    rig_reject (&rig, third, id, 2, TIED_REJECT_BUSY);
    CHECK_U64 (completions (&rig), ==, 0);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_TRUE ((request (&rig, 1)->u.request.flags & TIED_REQUEST_LAST) != 0);
    rig_reject (&rig, third, id, 3, TIED_REJECT_FULL);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

/* The replica gave us up as silent and refuses what waited: copy 1, and the re-issue that merged.
 */
static void CL_01_a_merged_reissue_that_is_refused_with_its_copy_gets_a_last_try (void **state)
{
    (void)state;
    struct rig rig;
    setup (&rig, 2, 4);
    const struct tied_call_id id = rig_tied (&rig, 0, 0, TIED_NEVER);
    const uint32_t other = request (&rig, 1)->replica;
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (request (&rig, 2)->replica, ==, other);
    rig_reject (&rig, other, id, 1, TIED_REJECT_FULL);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (completions (&rig), ==, 0);
    rig_reject (&rig, other, id, 2, TIED_REJECT_FULL);
    CHECK_U64 (requests (&rig), ==, 4);
    CHECK_U64 (request (&rig, 3)->u.request.copy, ==, 3);
    CHECK_U64 (request (&rig, 3)->u.request.flags & TIED_REQUEST_LAST, !=, 0);
    rig_reply (&rig, request (&rig, 3)->replica, id, 3, 0);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_OK);
    rig_stop (&rig);
}

static void CL_11_a_draining_refusal_leaves_a_doubtful_call_waiting (void **state)
{
    (void)state;
    struct rig rig;
    const struct tied_call_id id = doubt_elsewhere (&rig, 8);
    rig_reject (&rig, request (&rig, 0)->replica, id, 2, TIED_REJECT_DRAINING);
    CHECK_U64 (completions (&rig), ==, 0);
    CHECK_U64 (requests (&rig), ==, 1);
    rig_replica (&rig, 900);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_TRUE ((request (&rig, 1)->u.request.flags & TIED_REQUEST_REISSUE) != 0);
    rig_stop (&rig);
}

/* Too little time for another copy: the deadline ends it, and until then the doubtful one may win.
 */
static void CL_02_near_its_deadline_a_call_goes_on_with_a_doubtful_copy (void **state)
{
    (void)state;
    for (int is_answered = 0; is_answered < 2; is_answered++) {
        struct rig rig;
        rig_init (&rig);
        rig.options.min_remaining_ns = MS (5);
        rig_start (&rig);
        rig_replica (&rig, 100);
        rig_replica (&rig, 101);
        rig_forget (&rig);
        const struct tied_call_id id = rig_tied (&rig, 0, 0, MS (10));
        rig_advance (&rig, rig.now + MS (7));
        rig_link (&rig, request (&rig, 0)->replica, false);
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (completions (&rig), ==, 0);
        if (is_answered)
            rig_reply (&rig, request (&rig, 1)->replica, id, 1, 0);
        else
            rig_advance (&rig, rig.now + MS (3));
        CHECK_U64 (rig_done (&rig)->outcome, ==,
                   is_answered ? TIED_OUTCOME_OK : TIED_OUTCOME_DEADLINE);
        rig_stop (&rig);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (CL_01_a_reissue_that_met_a_full_pipe_is_sent_at_the_next_sign_of_life),
        cmocka_unit_test (a_waiting_reissue_goes_where_it_can_merge),
        cmocka_unit_test (a_doubtful_copy_may_still_win_while_its_call_waits),
        cmocka_unit_test (a_waiting_call_goes_on_when_its_doubtful_copy_is_lost_or_refused),
        cmocka_unit_test (a_waiting_call_with_a_doubtful_copy_keeps_its_deadline),
        cmocka_unit_test (one_sign_of_life_costs_a_waiting_call_at_most_one_copy),
        cmocka_unit_test (ties_need_room_for_one_reissue),
        cmocka_unit_test (CL_01_without_room_a_call_does_not_wait_for_a_doubtful_copy),
        cmocka_unit_test (CL_02_a_loss_without_room_leaves_a_copy_alone_that_is_not_in_doubt),
        cmocka_unit_test (CL_01_the_loss_of_the_last_certain_copy_ends_a_call_without_room),
        cmocka_unit_test (CL_11_a_refused_reissue_gets_its_last_try_before_doubt_ends_the_call),
        cmocka_unit_test (CL_01_a_merged_reissue_that_is_refused_with_its_copy_gets_a_last_try),
        cmocka_unit_test (CL_11_a_draining_refusal_leaves_a_doubtful_call_waiting),
        cmocka_unit_test (CL_02_near_its_deadline_a_call_goes_on_with_a_doubtful_copy),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
