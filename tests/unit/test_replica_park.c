/* SPDX-License-Identifier: MIT */
/* Mode park at one replica core: what STARTED sets aside, and what brings it back or ends it. */
#include "replica_fixture.h"

#include <tied/client_core.h>
#include <tied/wire.h>

#define LEASE MS (100)

static void open_fixture (struct fixture *self)
{
    fixture_options (self);
    self->options.queue_depth = 8;
    self->options.hedge_depth = 8;
    self->options.park_max = 3;
    self->options.park_lease_ns = LEASE;
    fixture_open (self);
}

static struct tied_replica_event parking (uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = fixture_tied (sequence, copy);

    event.u.request.flags |= TIED_REQUEST_PARK;
    return event;
}

static void send (struct fixture *self, uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = parking (sequence, copy);

    fixture_feed (self, &event);
}

/* Copy 1 of the call waits, and its sibling's STARTED comes. */
static void park (struct fixture *self, uint64_t sequence)
{
    send (self, sequence, 1);
    fixture_started (self, sequence, 0);
    CHECK_U64 (self->count, ==, 0);
}

static void done (struct fixture *self, uint64_t sequence, uint8_t sender_copy)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_DONE};

    event.u.tie.call.epoch = 7;
    event.u.tie.call.sequence = sequence;
    event.u.tie.copy = sender_copy;
    fixture_feed (self, &event);
}

static void STARTED_parks_and_DONE_forgets (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    CHECK_U64 (tied_replica_core_parked (f.core), ==, 1);
    CHECK_U64 (fixture_depth (&f), ==, 0);
    CHECK_FALSE (tied_replica_core_can_run (f.core));
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    fixture_started (&f, 1, 0); /* once more: it keeps its lease */
    CHECK_U64 (fixture_counters (&f)->started_moot, ==, 1);
    done (&f, 1, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (fixture_counters (&f)->park_done, ==, 1);
    CHECK_U64 (fixture_counters (&f)->dropped, ==, 1);
    send (&f, 1, 1); /* the same copy again */
    CHECK_U64 (f.count, ==, 0);
    fixture_close (&f);
}

/* The client is silent all the time. */
static void the_sibling_completes_within_lease_and_service (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    fixture_send (&f, 2, 0);
    CHECK_U64 (tied_replica_core_deadline (f.core), ==, f.now + LEASE);
    f.now += LEASE;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    CHECK_U64 (fixture_counters (&f)->park_lease, ==, 1);
    slot = fixture_take (&f);
    CHECK_U64 (slot, !=, UINT32_MAX);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RUN); /* nobody is told: it is the only one */
    CHECK_U64 (f.actions[0].call.sequence, ==, 1); /* ahead of what came later */
    f.now += MS (10);
    CHECK_TRUE (fixture_finish (&f, slot) != NULL);
    CHECK_U64 (f.count, ==, 1);
    fixture_close (&f);
}

static void RQ_20_a_lost_link_brings_all_its_copies_back_in_their_order (void **state)
{
    struct fixture f;
    uint64_t sequence;

    (void)state;
    open_fixture (&f);
    for (sequence = 1; sequence <= 3; sequence++)
        park (&f, sequence);
    fixture_send (&f, 4, 0);
    fixture_peer (&f, 0, false);
    CHECK_U64 (tied_replica_core_parked (f.core), ==, 0);
    CHECK_U64 (fixture_counters (&f)->park_lost, ==, 3);
    for (sequence = 1; sequence <= 4; sequence++) {
        uint32_t slot = fixture_take (&f);

        CHECK_U64 (f.actions[0].call.sequence, ==, sequence);
        (void)fixture_finish (&f, slot);
    }
    fixture_close (&f);
}

static void UNTIE_and_a_reissue_bring_a_copy_back (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    fixture_untie (&f, 1, 0);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    park (&f, 2);
    fixture_reissue (&f, 2);
    CHECK_U64 (fixture_counters (&f)->merged, ==, 1);
    CHECK_U64 (fixture_depth (&f), ==, 2);
    done (&f, 2, 0); /* its client has asked again: it did not get that answer */
    CHECK_U64 (fixture_depth (&f), ==, 2);
    CHECK_U64 (fixture_counters (&f)->park_lost, ==, 2);
    fixture_close (&f);
}

static void RQ_11_a_copy_that_meets_its_tombstone_is_parked (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_started (&f, 1, 0);
    f.now += MS (40);
    send (&f, 1, 1);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    CHECK_U64 (tied_replica_core_parked (f.core), ==, 1);
    CHECK_U64 (tied_replica_core_deadline (f.core), ==, f.now + LEASE - MS (40));
    fixture_started (&f, 2, 0); /* here DONE is faster than the copy, too */
    done (&f, 2, 0);
    send (&f, 2, 1);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->tombstoned, ==, 1);
    fixture_close (&f);
}

static void DONE_ends_a_copy_that_went_back_too_early (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    f.now += LEASE;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    fixture_started (&f, 1, 0);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    done (&f, 1, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    fixture_close (&f);
}

static void a_start_tells_STARTED_and_its_end_tells_DONE (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    send (&f, 1, 0);
    slot = fixture_take (&f);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_TELL_STARTED) != NULL);
    (void)fixture_finish (&f, slot);
    CHECK_U64 (f.count, ==, 2);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_TELL_DONE);
    CHECK_U64 (f.actions[1].copy, ==, 0);
    fixture_send_tied (&f, 2, 0);
    slot = fixture_take (&f);
    (void)fixture_finish (&f, slot);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_TELL_DONE) == NULL);
    send (&f, 3, 0);
    slot = fixture_take (&f);
    fixture_peer (&f, 0, false);
    (void)fixture_finish (&f, slot);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_TELL_DONE) == NULL);
    CHECK_U64 (fixture_counters (&f)->done_sent, ==, 1);
    CHECK_U64 (fixture_counters (&f)->done_unsent, ==, 1);
    fixture_close (&f);
}

static void CANCEL_and_a_lost_client_take_parked_copies_along (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    fixture_cancel (&f, 0, 1);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (fixture_counters (&f)->cancel_queued, ==, 1);
    park (&f, 2);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 0);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_RELEASE) != NULL);
    CHECK_U64 (fixture_counters (&f)->park_left, ==, 2);
    CHECK_U64 (tied_replica_core_parked (f.core), ==, 0);
    fixture_close (&f);
}

/* Also with a full queue, for what was parked goes back there. */
static void parked_copies_are_bounded (void **state)
{
    struct fixture f;
    uint64_t sequence;

    (void)state;
    open_fixture (&f);
    for (sequence = 1; sequence <= 3; sequence++)
        park (&f, sequence);
    send (&f, 4, 1);
    fixture_started (&f, 4, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (fixture_counters (&f)->park_full, ==, 1);
    fixture_started (&f, 31, 0); /* nor is there a place for one that comes later than the cancel */
    send (&f, 31, 1);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->tombstoned, ==, 1);
    CHECK_U64 (fixture_counters (&f)->park_full, ==, 2);
    fixture_started (&f, 32, 0); /* one whose sibling has ended wants none */
    done (&f, 32, 0);
    send (&f, 32, 1);
    CHECK_U64 (fixture_counters (&f)->tombstoned, ==, 2);
    CHECK_U64 (fixture_counters (&f)->park_full, ==, 2);
    for (sequence = 10; sequence < 18; sequence++)
        fixture_send (&f, sequence, 0);
    CHECK_U64 (fixture_depth (&f), ==, 8);
    fixture_peer (&f, 0, false);
    fixture_peer (&f, 0, true);
    CHECK_U64 (fixture_depth (&f), ==, 11);
    fixture_started (&f, 5, 0);
    send (&f, 5, 1); /* no slot is left for it */
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->tombstoned, ==, 3);
    fixture_send (&f, 20, 0);
    fixture_reason (&f, TIED_REJECT_FULL);
    tied_replica_core_check (f.core);
    fixture_close (&f);
}

static void out_of_time_it_leaves_in_silence (void **state)
{
    struct tied_replica_event event = parking (1, 1);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.remaining_ns = MS (30);
    fixture_feed (&f, &event);
    fixture_started (&f, 1, 0);
    f.now += LEASE;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (fixture_counters (&f)->park_left, ==, 1);
    CHECK_U64 (fixture_counters (&f)->expired, ==, 0);
    fixture_close (&f);
}

static void a_replica_that_leaves_keeps_nothing_for_others (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    CHECK_FALSE (tied_replica_core_is_drained (f.core));
    CHECK_U64 (tied_replica_core_deadline (f.core), ==, f.now);
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    CHECK_TRUE (tied_replica_core_is_drained (f.core));
    fixture_close (&f);
}

/* A hedge shall run here and now, which the parked copy does not. */
static void a_parked_copy_does_not_refuse_a_hedge (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    park (&f, 1);
    fixture_send (&f, 1, 2);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    fixture_close (&f);
}

/* Nothing is changed by anybody: then a lease ends before the client has seen a silent loss itself,
 * and with time left for the copy (timeout_ns of tied/client.h is 1 s). */
static void by_default_the_lease_ends_before_the_client_sees_a_loss (void **state)
{
    struct tied_replica_core_options replica;
    struct tied_client_core_options client;

    (void)state;
    tied_replica_core_options_init (&replica);
    tied_client_core_options_init (&client);
    CHECK_U64 (replica.park_lease_ns, <, client.heartbeat_misses * client.heartbeat_ns);
    CHECK_U64 (replica.park_lease_ns, <=, S (1) / 2);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (STARTED_parks_and_DONE_forgets),
        cmocka_unit_test (the_sibling_completes_within_lease_and_service),
        cmocka_unit_test (RQ_20_a_lost_link_brings_all_its_copies_back_in_their_order),
        cmocka_unit_test (UNTIE_and_a_reissue_bring_a_copy_back),
        cmocka_unit_test (RQ_11_a_copy_that_meets_its_tombstone_is_parked),
        cmocka_unit_test (DONE_ends_a_copy_that_went_back_too_early),
        cmocka_unit_test (a_start_tells_STARTED_and_its_end_tells_DONE),
        cmocka_unit_test (CANCEL_and_a_lost_client_take_parked_copies_along),
        cmocka_unit_test (parked_copies_are_bounded),
        cmocka_unit_test (out_of_time_it_leaves_in_silence),
        cmocka_unit_test (a_replica_that_leaves_keeps_nothing_for_others),
        cmocka_unit_test (a_parked_copy_does_not_refuse_a_hedge),
        cmocka_unit_test (by_default_the_lease_ends_before_the_client_sees_a_loss),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
