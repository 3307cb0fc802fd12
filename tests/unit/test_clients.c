/* SPDX-License-Identifier: MIT */
/* Clients that fall silent, leave and come back, seen through the core and its table. */
#include "replica_fixture.h"

#define SILENCE MS (800)

static void open_fixture (struct fixture *self)
{
    fixture_options (self);
    self->options.client_silence_ns = SILENCE;
    self->options.workers = 2;
    self->options.queue_depth = 200;
    self->options.hedge_depth = 200;
    fixture_open (self);
}

static void send_from (struct fixture *self, uint32_t client, uint64_t sequence)
{
    struct tied_replica_event event = fixture_request (sequence, 0);

    event.u.request.client = client;
    fixture_feed (self, &event);
}

/* Follow the deadlines until a client is forgotten; when that was. */
static tied_time_t wait_for_forget (struct fixture *self, uint32_t client)
{
    for (;;) {
        tied_time_t deadline = tied_replica_core_deadline (self->core);
        const struct tied_replica_action *action;

        CHECK_U64 (deadline, !=, TIED_NEVER);
        self->now = deadline;
        fixture_simple (self, TIED_REPLICA_EV_TIMEOUT);
        action = fixture_find (self, TIED_REPLICA_ACT_FORGET_CLIENT);
        if (action) {
            CHECK_U64 (action->client, ==, client);
            return self->now;
        }
    }
}

static void a_silent_client_is_gone_exactly_at_the_limit (void **state)
{
    struct fixture f;
    tied_time_t last;

    (void)state;
    open_fixture (&f);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 3);
    f.now += MS (300);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 3);
    last = f.now;
    CHECK_U64 (wait_for_forget (&f, 3), ==, last + SILENCE);
    CHECK_U64 (fixture_counters (&f)->clients_gone, ==, 1);
    CHECK_U64 (tied_replica_core_deadline (f.core), ==, TIED_NEVER);
    fixture_close (&f);
}

static void a_word_in_time_keeps_the_client (void **state)
{
    struct fixture f;
    int i;

    (void)state;
    open_fixture (&f);
    send_from (&f, 1, 1);
    for (i = 0; i < 20; i++) {
        f.now += SILENCE - MS (1);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
        fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 1);
    }
    CHECK_U64 (fixture_depth (&f), ==, 1);
    CHECK_U64 (fixture_counters (&f)->clients_gone, ==, 0);
    fixture_close (&f);
}

/* After a stop the timer may be served before the sockets: nobody must be declared dead then. */
static void a_stopped_replica_does_not_blame_its_clients (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    send_from (&f, 1, 1);
    f.now += S (30);
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    f.now += MS (1);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 1);
    f.now += SILENCE / 2;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    CHECK_U64 (fixture_counters (&f)->clients_gone, ==, 0);
    fixture_close (&f);
}

static void the_queued_copies_of_a_client_go_with_it (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f);
    for (i = 0; i < 5; i++)
        send_from (&f, (uint32_t)i % 2, i);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 0);
    CHECK_U64 (f.count, ==, 4);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (f.actions[0].call.sequence, ==, 0);
    CHECK_U64 (f.actions[2].call.sequence, ==, 4);
    CHECK_U64 (f.actions[3].type, ==, TIED_REPLICA_ACT_FORGET_CLIENT);
    CHECK_U64 (fixture_depth (&f), ==, 2);
    CHECK_U64 (fixture_counters (&f)->dropped, ==, 3);
    fixture_close (&f);
}

/* It may only have been stopped: a copy that will not run must not keep it waiting for ever. */
static void the_queued_copies_of_a_silent_client_are_refused (void **state)
{
    struct fixture f;
    const struct tied_replica_action *action;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    send_from (&f, 3, 1);
    slot = fixture_only (&f, TIED_REPLICA_ACT_ADMIT)->slot;
    (void)wait_for_forget (&f, 3);
    CHECK_U64 (f.count, ==, 3);
    action = &f.actions[0];
    CHECK_U64 (action->type, ==, TIED_REPLICA_ACT_REJECT);
    CHECK_U64 (action->slot, ==, slot);
    CHECK_U64 (action->client, ==, 3);
    CHECK_U64 (action->call.sequence, ==, 1);
    CHECK_U64 (action->reason, ==, TIED_REJECT_FULL);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (f.actions[2].type, ==, TIED_REPLICA_ACT_FORGET_CLIENT);
    CHECK_U64 (fixture_counters (&f)->rejected_full, ==, 1);
    CHECK_U64 (fixture_counters (&f)->dropped, ==, 0);
    fixture_close (&f);
}

/* Nobody answers for the re-issue if its older copy is not served. */
static void a_reissue_that_merged_is_refused_with_its_copy (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send_tied (&f, 1, 1);
    fixture_reissue (&f, 1);
    CHECK_U64 (f.count, ==, 0);
    (void)wait_for_forget (&f, 0);
    CHECK_U64 (f.count, ==, 4);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_REJECT);
    CHECK_U64 (f.actions[0].copy, ==, 1);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_REJECT);
    CHECK_U64 (f.actions[1].slot, ==, UINT32_MAX);
    CHECK_U64 (f.actions[1].copy, ==, 2);
    CHECK_U64 (f.actions[1].reason, ==, TIED_REJECT_FULL);
    CHECK_U64 (f.actions[2].type, ==, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (fixture_counters (&f)->rejected, ==, 1);
    CHECK_U64 (fixture_counters (&f)->merged, ==, 1);
    fixture_close (&f);
}

/* One that is known to be unreachable is not written to, even if its silence was noticed first. */
static void a_silent_client_whose_connection_is_gone_is_told_nothing_more (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f);
    for (i = 0; i < 100; i++)
        send_from (&f, 0, i);
    do {
        f.now = tied_replica_core_deadline (f.core);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    } while (fixture_depth (&f) == 100);
    CHECK_U64 (fixture_depth (&f), ==, 68);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 0);
    CHECK_U64 (f.count, ==, 32);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_REJECT) == NULL);
    CHECK_U64 (fixture_depth (&f), ==, 36);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    CHECK_TRUE (fixture_find (&f, TIED_REPLICA_ACT_REJECT) == NULL);
    CHECK_U64 (fixture_counters (&f)->rejected_full, ==, 32);
    fixture_close (&f);
}

/* A worker that comes meanwhile answers, too. */
static void a_worker_refuses_what_a_silent_client_has_left (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f);
    for (i = 0; i < 40; i++)
        send_from (&f, 0, i);
    do {
        f.now = tied_replica_core_deadline (f.core);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    } while (fixture_depth (&f) == 40);
    CHECK_U64 (fixture_depth (&f), ==, 8);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    CHECK_U64 (fixture_depth (&f), ==, 0);
    CHECK_U64 (f.count, ==, 16);
    CHECK_U64 (fixture_counters (&f)->rejected_full, ==, 40);
    fixture_close (&f);
}

static void a_running_copy_holds_its_client_until_it_ends (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    send_from (&f, 4, 1);
    slot = fixture_take (&f);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 4);
    CHECK_U64 (fixture_only (&f, TIED_REPLICA_ACT_CANCEL_RUNNING)->slot, ==, slot);
    CHECK_U64 (f.actions[0].reason, ==, TIED_CANCEL_CALLER);
    (void)fixture_finish (&f, slot);
    CHECK_U64 (f.count, ==, 2);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_REPLY);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_FORGET_CLIENT);
    CHECK_U64 (f.actions[1].client, ==, 4);
    fixture_close (&f);
}

static void a_purge_is_bounded_and_goes_on_at_once (void **state)
{
    struct fixture f;
    uint64_t i;
    uint32_t released = 0;
    int steps = 0;

    (void)state;
    open_fixture (&f);
    for (i = 0; i < 150; i++)
        send_from (&f, 0, i);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 0);
    for (;;) {
        CHECK_U64 (f.count, <=, 32);
        released += f.count;
        if (fixture_find (&f, TIED_REPLICA_ACT_FORGET_CLIENT))
            break;
        CHECK_U64 (tied_replica_core_deadline (f.core), ==, f.now);
        /* A copy of a client that is gone must not start meanwhile. */
        if (steps++ == 1) {
            CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
            released += f.count;
        }
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    }
    CHECK_U64 (released, ==, 151);
    CHECK_U64 (fixture_counters (&f)->executed, ==, 0);
    fixture_close (&f);
}

static void a_client_that_speaks_again_is_live_again (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f);
    for (i = 0; i < 100; i++)
        send_from (&f, 0, i);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 0);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 0);
    CHECK_U64 (fixture_depth (&f), ==, 68);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    fixture_close (&f);
}

static void an_unknown_client_that_goes_changes_nothing (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, 5);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->clients_gone, ==, 0);
    fixture_close (&f);
}

static void an_index_beyond_the_table_is_refused_and_counted (void **state)
{
    struct tied_replica_event event = fixture_request (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.client = f.options.clients_max;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event.type = TIED_REPLICA_EV_CLIENT_SEEN;
    event.u.client.client = UINT32_MAX;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    CHECK_U64 (fixture_counters (&f)->clients_full, ==, 2);
    CHECK_U64 (fixture_counters (&f)->received, ==, 0);
    fixture_close (&f);
}

static void the_client_that_is_idle_for_longest_makes_room (void **state)
{
    struct fixture f;
    uint32_t slot;
    uint32_t i;

    (void)state;
    open_fixture (&f);
    fixture_simple (&f, TIED_REPLICA_EV_CLIENTS_FULL);
    CHECK_U64 (f.count, ==, 0);
    send_from (&f, 0, 1); /* runs */
    slot = fixture_take (&f);
    send_from (&f, 1, 2); /* waits, as long as two run */
    for (i = 2; i < 5; i++)
        fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, i);
    f.now += SILENCE - SILENCE / 8;
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT); /* all are suspect */
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 2);
    fixture_simple (&f, TIED_REPLICA_EV_CLIENTS_FULL);
    CHECK_U64 (f.count, ==, 1);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_FORGET_CLIENT);
    CHECK_U64 (f.actions[0].client, ==, 3);
    fixture_finish (&f, slot); /* the end of a copy counts as a word does */
    for (i = 0; i < 3; i++) {
        static const uint32_t order[] = {4, 2, 0};

        fixture_simple (&f, TIED_REPLICA_EV_CLIENTS_FULL);
        CHECK_U64 (f.count, ==, 1);
        CHECK_U64 (f.actions[0].client, ==, order[i]);
    }
    fixture_simple (&f, TIED_REPLICA_EV_CLIENTS_FULL);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    CHECK_U64 (fixture_counters (&f)->clients_evicted, ==, 4);
    CHECK_U64 (fixture_counters (&f)->clients_gone, ==, 0);
    fixture_close (&f);
}

static void without_a_limit_silence_is_for_ever (void **state)
{
    struct fixture f;

    (void)state;
    fixture_options (&f);
    fixture_open (&f);
    fixture_client (&f, TIED_REPLICA_EV_CLIENT_SEEN, 0);
    CHECK_U64 (tied_replica_core_deadline (f.core), ==, TIED_NEVER);
    fixture_close (&f);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_silent_client_is_gone_exactly_at_the_limit),
        cmocka_unit_test (a_word_in_time_keeps_the_client),
        cmocka_unit_test (a_stopped_replica_does_not_blame_its_clients),
        cmocka_unit_test (the_queued_copies_of_a_client_go_with_it),
        cmocka_unit_test (the_queued_copies_of_a_silent_client_are_refused),
        cmocka_unit_test (a_reissue_that_merged_is_refused_with_its_copy),
        cmocka_unit_test (a_silent_client_whose_connection_is_gone_is_told_nothing_more),
        cmocka_unit_test (a_worker_refuses_what_a_silent_client_has_left),
        cmocka_unit_test (a_running_copy_holds_its_client_until_it_ends),
        cmocka_unit_test (a_purge_is_bounded_and_goes_on_at_once),
        cmocka_unit_test (a_client_that_speaks_again_is_live_again),
        cmocka_unit_test (an_unknown_client_that_goes_changes_nothing),
        cmocka_unit_test (an_index_beyond_the_table_is_refused_and_counted),
        cmocka_unit_test (the_client_that_is_idle_for_longest_makes_room),
        cmocka_unit_test (without_a_limit_silence_is_for_ever),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
