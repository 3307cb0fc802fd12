/* SPDX-License-Identifier: MIT */
/* What the client core does in the modes park and exclusive (docs/protocol.md, Park, Exclusive). */
#include "client_rig.h"

#include "base/util.h"
#include "check.h"

#define DEADLINE MS (50)
#define STAGGER  MS (1)

static void greet (struct rig *rig, uint32_t replica, uint64_t incarnation, uint32_t modes)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_WELCOME, .replica = replica};

    rig_link (rig, replica, true);
    ev.u.welcome.incarnation = incarnation;
    ev.u.welcome.id_matches = true;
    ev.u.welcome.modes = modes;
    CHECK_I64 (rig_step (rig, &ev), ==, 0);
}

static void setup (struct rig *rig, uint32_t second_modes)
{
    rig_init (rig);
    rig->options.pick = TIED_PICK_ROUND_ROBIN;
    rig_start (rig);
    CHECK_I64 (tied_client_core_add_replica (rig->core), ==, 0);
    CHECK_I64 (tied_client_core_add_replica (rig->core), ==, 1);
    greet (rig, 0, 11, TIED_WIRE_MODES);
    greet (rig, 1, 12, second_modes);
    rig_forget (rig);
}

static void submit (struct rig *rig, uint32_t mode, tied_duration_t timeout)
{
    const struct tied_client_submit call = {.mode = mode,
                                            .is_idempotent = mode != TIED_MODE_EXCLUSIVE,
                                            .deadline = ti_time_add (rig->now, timeout),
                                            .stagger_ns = STAGGER};

    CHECK_I64 (rig_submit (rig, &call), ==, 0);
}

static const struct tied_client_action *request (struct rig *rig, uint32_t n)
{
    return rig_get (rig, TIED_CLIENT_ACT_SEND_REQUEST, n);
}

static uint32_t requests (struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

static void refuse (struct rig *rig, uint32_t n, uint8_t reason)
{
    const struct tied_client_action sent = *request (rig, n);

    rig_reject (rig, sent.replica, sent.call, sent.u.request.copy, reason);
}

static void both_copies_say_their_mode (void **state)
{
    static const uint32_t modes[] = {TIED_MODE_PARK, TIED_MODE_EXCLUSIVE};
    static const uint32_t flags[] = {TIED_REQUEST_PARK, TIED_REQUEST_EXCLUSIVE};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig rig;

        setup (&rig, TIED_WIRE_MODES);
        submit (&rig, modes[i], DEADLINE);
        rig_advance (&rig, rig.now + STAGGER);
        CHECK_U64 (requests (&rig), ==, 2);
        for (uint32_t n = 0; n < 2; n++) {
            CHECK_U64 (request (&rig, n)->u.request.copy, ==, n);
            CHECK_U64 (request (&rig, n)->u.request.flags & ~(uint32_t)TIED_REQUEST_IDEMPOTENT, ==,
                       TIED_REQUEST_TIED | flags[i]);
            CHECK_U64 (request (&rig, n)->u.request.incarnation, !=, 0);
            CHECK_U64 (request (&rig, n)->u.request.sibling_incarnation, !=, 0);
        }
        rig_stop (&rig);
    }
}

static void an_older_replica_gets_a_tied_pair_instead_of_a_parked_one (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, 0);
    submit (&rig, TIED_MODE_PARK, DEADLINE);
    rig_advance (&rig, rig.now + STAGGER);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 0)->u.request.flags & TIED_REQUEST_PARK, ==, 0);
    CHECK_U64 (request (&rig, 1)->u.request.flags & TIED_REQUEST_PARK, ==, 0);
    rig_stop (&rig);
}

static void an_exclusive_call_is_one_copy_where_a_replica_does_not_know_the_mode (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, 0);
    submit (&rig, TIED_MODE_EXCLUSIVE, DEADLINE);
    rig_advance (&rig, rig.now + 2 * STAGGER);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (request (&rig, 0)->u.request.flags & TIED_REQUEST_TIED, ==, 0);
    CHECK_TRUE (((request (&rig, 0)->u.request.flags & TIED_REQUEST_EXCLUSIVE) != 0) ==
                (request (&rig, 0)->replica == 0));
    rig_stop (&rig);
}

static void a_refused_owner_leaves_the_other_copy_alone (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, TIED_WIRE_MODES);
    submit (&rig, TIED_MODE_EXCLUSIVE, DEADLINE);
    refuse (&rig, 0, TIED_REJECT_BUSY);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.flags, ==, TIED_REQUEST_EXCLUSIVE);
    /* Refused as well: nothing has run, so there is one more try. */
    refuse (&rig, 1, TIED_REJECT_FULL);
    CHECK_U64 (requests (&rig), ==, 3);
    CHECK_U64 (request (&rig, 2)->u.request.flags, ==, TIED_REQUEST_EXCLUSIVE | TIED_REQUEST_LAST);
    refuse (&rig, 2, TIED_REJECT_FULL);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_REJECTED);
    CHECK_FALSE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

/* Whatever becomes of the replicas, nothing is sent again while a copy may have run. */
static void CL_20_a_lost_copy_is_waited_for_and_never_sent_again (void **state)
{
    struct rig rig;

    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++) {
        setup (&rig, TIED_WIRE_MODES);
        submit (&rig, TIED_MODE_EXCLUSIVE, DEADLINE);
        rig_advance (&rig, rig.now + STAGGER);
        rig_link (&rig, request (&rig, lost)->replica, false);
        CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
        rig_advance (&rig, rig.now + DEADLINE);
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_DEADLINE);
        CHECK_TRUE (rig_done (&rig)->may_have_executed);
        rig_stop (&rig);
    }
}

/* The refused one has not run, but the lost one may have: nothing is tried again, whatever the
 * reason of the refusal. */
static void CL_20_a_refusal_after_a_loss_ends_an_exclusive_call (void **state)
{
    static const uint8_t reasons[] = {TIED_REJECT_BUSY, TIED_REJECT_DRAINING};

    (void)state;
    for (size_t i = 0; i < sizeof reasons; i++) {
        struct rig rig;

        setup (&rig, TIED_WIRE_MODES);
        CHECK_I64 (tied_client_core_add_replica (rig.core), ==, 2);
        greet (&rig, 2, 13, TIED_WIRE_MODES);
        submit (&rig, TIED_MODE_EXCLUSIVE, DEADLINE);
        rig_advance (&rig, rig.now + 2 * STAGGER);
        CHECK_U64 (requests (&rig), ==, 2);
        rig_link (&rig, request (&rig, 0)->replica, false);
        CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
        refuse (&rig, 1, reasons[i]);
        CHECK_U64 (requests (&rig), ==, 2);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
        CHECK_TRUE (rig_done (&rig)->may_have_executed);
        rig_stop (&rig);
    }
}

static void stale_counts_as_lost (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, TIED_WIRE_MODES);
    submit (&rig, TIED_MODE_EXCLUSIVE, DEADLINE);
    rig_advance (&rig, rig.now + STAGGER);
    refuse (&rig, 1, TIED_REJECT_DENIED);
    refuse (&rig, 0, TIED_REJECT_STALE);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    rig_stop (&rig);
}

static void an_exclusive_call_is_never_hedged (void **state)
{
    struct tied_client_submit call = {.mode = TIED_MODE_EXCLUSIVE,
                                      .is_idempotent = true,
                                      .stagger_ns = STAGGER,
                                      .hedge_ns = MS (2)};
    struct rig rig;

    (void)state;
    setup (&rig, TIED_WIRE_MODES);
    call.deadline = rig.now + DEADLINE;
    CHECK_I64 (rig_submit (&rig, &call), ==, 0);
    rig_advance (&rig, rig.now + DEADLINE);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    rig_stop (&rig);
}

/* Its copies can be gone without a word, so only a deadline can end a pair. */
static void without_a_deadline_an_exclusive_call_is_one_copy (void **state)
{
    struct rig rig;

    (void)state;
    setup (&rig, TIED_WIRE_MODES);
    submit (&rig, TIED_MODE_EXCLUSIVE, TIED_NEVER);
    rig_advance (&rig, rig.now + 2 * STAGGER);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (request (&rig, 0)->u.request.flags, ==, TIED_REQUEST_EXCLUSIVE);
    rig_link (&rig, request (&rig, 0)->replica, false);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    rig_stop (&rig);
}

/* What stops its second copy does not make it a call that may be forgotten to run once. */
static void an_exclusive_call_that_may_not_be_tied_stays_exclusive (void **state)
{
    struct tied_policy policy;
    struct rig rig;

    (void)state;
    tied_policy_init (&policy);
    policy.is_off = true;
    setup (&rig, TIED_WIRE_MODES);
    CHECK_I64 (tied_client_core_set_policy (rig.core, 0, &policy), ==, 0);
    submit (&rig, TIED_MODE_EXCLUSIVE, DEADLINE);
    rig_advance (&rig, rig.now + 2 * STAGGER);
    CHECK_U64 (requests (&rig), ==, 1);
    CHECK_U64 (request (&rig, 0)->u.request.flags, ==, TIED_REQUEST_EXCLUSIVE);
    /* Refused it has not run: it gets its last try, as with two copies that are refused. */
    refuse (&rig, 0, TIED_REJECT_FULL);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (request (&rig, 1)->u.request.flags, ==, TIED_REQUEST_EXCLUSIVE | TIED_REQUEST_LAST);
    rig_link (&rig, request (&rig, 1)->replica, false);
    CHECK_U64 (requests (&rig), ==, 2);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (rig_done (&rig)->may_have_executed);
    CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_OFF);
    rig_stop (&rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (both_copies_say_their_mode),
        cmocka_unit_test (an_older_replica_gets_a_tied_pair_instead_of_a_parked_one),
        cmocka_unit_test (an_exclusive_call_is_one_copy_where_a_replica_does_not_know_the_mode),
        cmocka_unit_test (a_refused_owner_leaves_the_other_copy_alone),
        cmocka_unit_test (CL_20_a_lost_copy_is_waited_for_and_never_sent_again),
        cmocka_unit_test (CL_20_a_refusal_after_a_loss_ends_an_exclusive_call),
        cmocka_unit_test (stale_counts_as_lost),
        cmocka_unit_test (an_exclusive_call_is_never_hedged),
        cmocka_unit_test (without_a_deadline_an_exclusive_call_is_one_copy),
        cmocka_unit_test (an_exclusive_call_that_may_not_be_tied_stays_exclusive),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
