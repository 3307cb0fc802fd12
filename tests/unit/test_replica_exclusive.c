/* SPDX-License-Identifier: MIT */
/* Mode exclusive at one replica core, as owner (copy 0) and as claimant (copy 1). Every order of
 * both together: exhaustive.exclusive. */
#include "replica_fixture.h"

#include <tied/wire.h>

#include "core/exclusive.h"

#define PEER_INCARNATION 77

static void open_fixture (struct fixture *self)
{
    fixture_options (self);
    self->options.queue_depth = 8;
    self->options.hedge_depth = 8;
    fixture_open (self);
}

static struct tied_replica_event exclusive (uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = fixture_tied (sequence, copy);

    event.u.request.flags = TIED_REQUEST_TIED | TIED_REQUEST_EXCLUSIVE;
    event.u.request.incarnation = FIXTURE_INCARNATION;
    event.u.request.sibling_incarnation = PEER_INCARNATION;
    return event;
}

static void send (struct fixture *self, uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = exclusive (sequence, copy);

    fixture_feed (self, &event);
}

static void word (struct fixture *self, enum tied_replica_event_type type, uint64_t sequence)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_GRANT};

    event.type = type;
    event.u.tie.call.epoch = 7;
    event.u.tie.call.sequence = sequence;
    fixture_feed (self, &event);
}

static void claim (struct fixture *self, uint64_t sequence, tied_duration_t age, uint64_t instance)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CLAIM};

    event.u.claim.call.epoch = 7;
    event.u.claim.call.sequence = sequence;
    event.u.claim.copy = 1;
    event.u.claim.age_ns = age;
    event.u.claim.incarnation = instance;
    fixture_feed (self, &event);
}

static const struct tied_replica_action *answer (const struct fixture *self)
{
    const struct tied_replica_action *action = fixture_find (self, TIED_REPLICA_ACT_TELL_GRANT);

    return action ? action : fixture_find (self, TIED_REPLICA_ACT_TELL_DENY);
}

static void expect_grant (const struct fixture *self, bool is_granted)
{
    CHECK_TRUE (answer (self) != NULL);
    CHECK_U64 (answer (self)->type, ==,
               is_granted ? TIED_REPLICA_ACT_TELL_GRANT : TIED_REPLICA_ACT_TELL_DENY);
    CHECK_U64 (answer (self)->copy, ==, 0);
}

/* ---- the owner ---- */

static void the_owner_starts_without_asking (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 0);
    slot = fixture_take (&f);
    CHECK_U64 (slot, !=, UINT32_MAX);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_TELL_STARTED) != NULL);
    claim (&f, 1, 0, FIXTURE_INCARNATION);
    expect_grant (&f, false);
    (void)fixture_finish (&f, slot);
    claim (&f, 1, 0, FIXTURE_INCARNATION);
    expect_grant (&f, false);
    CHECK_U64 (fixture_counters (&f)->claim_denied, ==, 2);
    fixture_close (&f);
}

static void a_waiting_copy_is_given_away_for_good (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 0);
    claim (&f, 1, 0, FIXTURE_INCARNATION);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_RELEASE);
    expect_grant (&f, true);
    CHECK_U64 (fixture_depth (&f), ==, 0);
    claim (&f, 1, S (1), FIXTURE_INCARNATION); /* the answer was lost */
    expect_grant (&f, true);
    send (&f, 1, 0);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->duplicate_request, ==, 1);
    fixture_close (&f);
}

static void a_copy_that_comes_after_its_grant_is_dropped_and_counted (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    claim (&f, 1, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, true);
    send (&f, 1, 0);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->claim_unseen, ==, 1);
    CHECK_U64 (fixture_counters (&f)->tombstoned, ==, 1);
    send (&f, 1, 0);
    CHECK_U64 (fixture_counters (&f)->duplicate_request, ==, 1);
    claim (&f, 1, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, true);
    fixture_close (&f);
}

static void a_refusal_is_remembered_and_then_given_away (void **state)
{
    struct tied_replica_event event = exclusive (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.verdict = TIED_REJECT_FULL;
    fixture_feed (&f, &event);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_TELL_UNTIE) != NULL);
    send (&f, 1, 0); /* now there would be room */
    CHECK_U64 (f.count, ==, 0);
    claim (&f, 1, 0, FIXTURE_INCARNATION); /* the UNTIE was lost */
    expect_grant (&f, true);
    fixture_close (&f);
}

/* The restarted owner cannot know what its predecessor started. */
static void what_is_meant_for_another_instance_is_refused (void **state)
{
    struct tied_replica_event event = exclusive (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    claim (&f, 1, 0, FIXTURE_INCARNATION + 1);
    expect_grant (&f, false);
    event.u.request.incarnation = FIXTURE_INCARNATION + 1;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_STALE);
    CHECK_U64 (f.count, ==, 1); /* no UNTIE: it may have run there */
    event.u.request.incarnation = 0;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_STALE);
    fixture_close (&f);
}

/* Nothing as old as the call may have been forgotten. */
static void what_was_never_seen_is_given_away_only_if_that_proves_something (void **state)
{
    struct tied_replica_event event = exclusive (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.verdict = TIED_REJECT_FULL;
    fixture_feed (&f, &event);
    f.now += f.options.recent_ttl_ns;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    claim (&f, 1, f.options.recent_ttl_ns, FIXTURE_INCARNATION);
    expect_grant (&f, false);
    claim (&f, 2, f.options.recent_ttl_ns - TI_EXCLUSIVE_MARGIN_NS, FIXTURE_INCARNATION);
    expect_grant (&f, false);
    claim (&f, 3, f.options.recent_ttl_ns - TI_EXCLUSIVE_MARGIN_NS - 1, FIXTURE_INCARNATION);
    expect_grant (&f, true);
    fixture_close (&f);
}

/* A claim may have been on its way for long, and say that its call is young. */
static void what_ran_is_denied_until_its_sibling_can_start_no_more (void **state)
{
    struct tied_replica_event event = exclusive (1, 0);
    struct fixture f;
    tied_time_t deadline;

    (void)state;
    open_fixture (&f);
    event.u.request.remaining_ns = S (10);
    deadline = f.now + S (10);
    fixture_feed (&f, &event);
    f.now += MS (5);
    (void)fixture_finish (&f, fixture_take (&f));
    f.now += f.options.recent_ttl_ns;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    CHECK_U64 (fixture_counters (&f)->notes_evicted, ==, 0);
    claim (&f, 1, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, false);
    /* 100 ms for the way and 1 / 4096 of the time for the clocks. */
    f.now = deadline + MS (100);
    claim (&f, 1, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, false);
    f.now = deadline + MS (100) + S (10) / 4096 + MS (1);
    claim (&f, 1, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, true);
    fixture_close (&f);
}

/* Who gives no deadline gets certainty at the price of grants that need one. */
static void without_a_deadline_what_ran_is_never_unseen_again (void **state)
{
    struct tied_replica_event event = exclusive (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.remaining_ns = TIED_NEVER;
    fixture_feed (&f, &event);
    (void)fixture_finish (&f, fixture_take (&f));
    f.now += f.options.recent_ttl_ns;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    f.now += S (100000);
    claim (&f, 1, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, false);
    send (&f, 2, 0); /* what waits can be given away all the same */
    claim (&f, 2, MS (1), FIXTURE_INCARNATION);
    expect_grant (&f, true);
    fixture_close (&f);
}

static void another_peer_gets_nothing (void **state)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CLAIM};
    struct fixture f;

    (void)state;
    fixture_options (&f);
    f.options.peers_max = 2;
    fixture_open (&f);
    fixture_peer (&f, 1, true);
    send (&f, 1, 0);
    event.u.claim.peer = 1;
    event.u.claim.call.epoch = 7;
    event.u.claim.call.sequence = 1;
    event.u.claim.copy = 1;
    event.u.claim.incarnation = FIXTURE_INCARNATION;
    fixture_feed (&f, &event);
    expect_grant (&f, false);
    claim (&f, 1, 0, FIXTURE_INCARNATION);
    expect_grant (&f, true);
    fixture_feed (&f, &event);
    expect_grant (&f, false);
    fixture_close (&f);
}

static void the_same_copy_is_known_whatever_is_said_of_it (void **state)
{
    struct tied_replica_event event = exclusive (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 0);
    (void)fixture_take (&f);
    event.u.request.verdict = TIED_REJECT_UNKNOWN_METHOD;
    fixture_feed (&f, &event);
    CHECK_U64 (f.count, ==, 0);
    event = exclusive (2, 0);
    event.u.request.verdict = TIED_REJECT_UNKNOWN_METHOD;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_UNKNOWN_METHOD);
    fixture_close (&f);
}

/* ---- the claimant ---- */

static void the_claimant_asks_and_the_worker_goes_on (void **state)
{
    const struct tied_replica_action *asked;
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    fixture_send (&f, 2, 0);
    f.now += MS (3);
    slot = fixture_take (&f);
    asked = fixture_find (&f, TIED_REPLICA_ACT_TELL_CLAIM);
    CHECK_TRUE (asked != NULL);
    CHECK_U64 (asked->age_ns, ==, MS (3));
    CHECK_U64 (asked->incarnation, ==, PEER_INCARNATION);
    CHECK_U64 (asked->copy, ==, 1);
    CHECK_U64 (fixture_find (&f, TIED_REPLICA_ACT_RUN)->call.sequence, ==, 2);
    CHECK_U64 (fixture_depth (&f), ==, 1); /* it still waits */
    CHECK_FALSE (tied_replica_core_can_run (f.core));
    fixture_send (&f, 3, 0);
    word (&f, TIED_REPLICA_EV_GRANT, 1);
    (void)fixture_finish (&f, slot);
    slot = fixture_take (&f);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RUN);
    CHECK_U64 (f.actions[0].call.sequence, ==, 1); /* ahead of what came later */
    word (&f, TIED_REPLICA_EV_DENY, 1);            /* late or mad: it runs */
    CHECK_TRUE (fixture_finish (&f, slot) != NULL);
    fixture_close (&f);
}

static void no_answer_means_no_start (void **state)
{
    struct tied_replica_event event = exclusive (1, 1);
    struct fixture f;
    uint32_t asked = 0;

    (void)state;
    open_fixture (&f);
    event.u.request.remaining_ns = MS (70);
    fixture_feed (&f, &event);
    for (int i = 0; i < 8; i++) {
        CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
        asked += fixture_find (&f, TIED_REPLICA_ACT_TELL_CLAIM) != NULL;
        f.now = tied_replica_core_deadline (f.core);
        if (f.now == TIED_NEVER || fixture_depth (&f) == 0)
            break;
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
        asked += fixture_find (&f, TIED_REPLICA_ACT_TELL_CLAIM) != NULL;
    }
    CHECK_U64 (asked, ==, 4); /* at 0, 20, 40 and 60 ms */
    CHECK_U64 (fixture_depth (&f), ==, 0);
    CHECK_U64 (fixture_counters (&f)->expired, ==, 1);
    fixture_close (&f);
}

static void DENY_is_told_to_the_client (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    (void)fixture_take (&f);
    word (&f, TIED_REPLICA_EV_DENY, 1);
    fixture_reason (&f, TIED_REJECT_DENIED);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_RELEASE) != NULL);
    word (&f, TIED_REPLICA_EV_GRANT, 1);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    CHECK_U64 (fixture_counters (&f)->rejected_denied, ==, 1);
    fixture_close (&f);
}

static void UNTIE_is_as_good_as_a_grant (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    fixture_untie (&f, 1, 0);
    slot = fixture_take (&f);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RUN);
    (void)fixture_finish (&f, slot);
    send (&f, 2, 1);
    (void)fixture_take (&f);
    fixture_untie (&f, 2, 0);
    slot = fixture_take (&f);
    CHECK_U64 (slot, !=, UINT32_MAX);
    (void)fixture_finish (&f, slot);
    fixture_untie (&f, 3, 0);
    send (&f, 3, 1);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    fixture_close (&f);
}

static void STARTED_drops_a_copy_that_waits_for_its_answer (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    (void)fixture_take (&f);
    fixture_started (&f, 1, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    word (&f, TIED_REPLICA_EV_GRANT, 1);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    fixture_close (&f);
}

/* Its client believes the owner lost, but that is no leave. */
static void a_reissue_gives_no_leave_to_start (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    fixture_reissue (&f, 1);
    CHECK_U64 (fixture_counters (&f)->merged, ==, 1);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    (void)fixture_only (&f, TIED_REPLICA_ACT_TELL_CLAIM);
    fixture_close (&f);
}

static void a_claim_that_nobody_could_grant_is_refused_at_once (void **state)
{
    struct tied_replica_event event = exclusive (1, 1);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.sibling = TIED_NO_PEER;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_DENIED);
    event = exclusive (2, 1);
    event.u.request.sibling_incarnation = 0;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_DENIED);
    event = exclusive (3, 1); /* alone: copy 0 was refused before this one was sent */
    event.u.request.flags = TIED_REQUEST_EXCLUSIVE;
    fixture_feed (&f, &event);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    fixture_close (&f);
}

static void a_link_that_is_down_delays_the_question (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    fixture_peer (&f, 0, false);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->claim_unsent, ==, 1);
    fixture_peer (&f, 0, true);
    f.now = tied_replica_core_deadline (f.core);
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    (void)fixture_only (&f, TIED_REPLICA_ACT_TELL_CLAIM);
    fixture_close (&f);
}

static void a_replica_that_leaves_waits_for_one_answer_only (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 1);
    (void)fixture_take (&f);
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    CHECK_FALSE (tied_replica_core_is_drained (f.core));
    f.now = tied_replica_core_deadline (f.core);
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    fixture_reason (&f, TIED_REJECT_DRAINING);
    CHECK_TRUE (tied_replica_core_is_drained (f.core));
    fixture_close (&f);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_owner_starts_without_asking),
        cmocka_unit_test (a_waiting_copy_is_given_away_for_good),
        cmocka_unit_test (a_copy_that_comes_after_its_grant_is_dropped_and_counted),
        cmocka_unit_test (a_refusal_is_remembered_and_then_given_away),
        cmocka_unit_test (what_is_meant_for_another_instance_is_refused),
        cmocka_unit_test (what_was_never_seen_is_given_away_only_if_that_proves_something),
        cmocka_unit_test (what_ran_is_denied_until_its_sibling_can_start_no_more),
        cmocka_unit_test (without_a_deadline_what_ran_is_never_unseen_again),
        cmocka_unit_test (another_peer_gets_nothing),
        cmocka_unit_test (the_same_copy_is_known_whatever_is_said_of_it),
        cmocka_unit_test (the_claimant_asks_and_the_worker_goes_on),
        cmocka_unit_test (no_answer_means_no_start),
        cmocka_unit_test (DENY_is_told_to_the_client),
        cmocka_unit_test (UNTIE_is_as_good_as_a_grant),
        cmocka_unit_test (STARTED_drops_a_copy_that_waits_for_its_answer),
        cmocka_unit_test (a_reissue_gives_no_leave_to_start),
        cmocka_unit_test (a_claim_that_nobody_could_grant_is_refused_at_once),
        cmocka_unit_test (a_link_that_is_down_delays_the_question),
        cmocka_unit_test (a_replica_that_leaves_waits_for_one_answer_only),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
