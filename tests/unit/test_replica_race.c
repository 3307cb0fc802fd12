/* SPDX-License-Identifier: MIT */
/* Ties as the core plays them: what is told to whom, and two cores that race for one call. */
#include "replica_fixture.h"

static void open_fixture (struct fixture *self)
{
    fixture_options (self);
    fixture_open (self);
}

static void STARTED_is_told_before_the_handler_runs (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    fixture_send_tied (&f, 1, 1);
    slot = fixture_take (&f);
    CHECK_U64 (f.count, ==, 2);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_TELL_STARTED);
    CHECK_U64 (f.actions[0].peer, ==, 0);
    CHECK_U64 (f.actions[0].copy, ==, 1);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_RUN);
    CHECK_U64 (fixture_finish (&f, slot)->flags, ==, TIED_REPLY_SIBLING_TOLD);
    CHECK_U64 (fixture_counters (&f)->started_sent, ==, 1);
    CHECK_U64 (fixture_counters (&f)->started_unsent, ==, 0);
    fixture_close (&f);
}

static void a_peer_that_is_down_is_not_told (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send_tied (&f, 1, 1);
    fixture_peer (&f, 0, false);
    CHECK_U64 (fixture_finish (&f, fixture_take (&f))->flags, ==, 0);
    CHECK_U64 (fixture_counters (&f)->started_sent, ==, 0);
    CHECK_U64 (fixture_counters (&f)->started_unsent, ==, 1);
    fixture_close (&f);
}

static void a_STARTED_that_could_not_be_sent_is_not_claimed (void **state)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_SEND_FAILED};
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    fixture_send_tied (&f, 1, 1);
    slot = fixture_take (&f);
    event.u.tie.call = f.actions[0].call;
    event.u.tie.copy = f.actions[0].copy;
    fixture_feed (&f, &event);
    fixture_feed (&f, &event);
    CHECK_U64 (fixture_finish (&f, slot)->flags, ==, 0);
    fixture_feed (&f, &event);
    CHECK_U64 (fixture_counters (&f)->started_sent, ==, 0);
    CHECK_U64 (fixture_counters (&f)->started_unsent, ==, 1);
    fixture_close (&f);
}

static void a_refused_tied_copy_unties_its_sibling (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    fixture_send_tied (&f, 1, 1);
    CHECK_U64 (f.count, ==, 2);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_REJECT);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_TELL_UNTIE);
    CHECK_U64 (f.actions[1].copy, ==, 1);
    fixture_send (&f, 2, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_REJECT);
    fixture_peer (&f, 0, false);
    fixture_send_tied (&f, 3, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_REJECT);
    CHECK_U64 (fixture_counters (&f)->untie_sent, ==, 1);
    CHECK_U64 (fixture_counters (&f)->untie_unsent, ==, 1);
    /* The sibling may have started before it heard of that. */
    fixture_started (&f, 1, 0);
    CHECK_U64 (fixture_counters (&f)->started_moot, ==, 1);
    fixture_close (&f);
}

static void a_sibling_that_is_no_peer_is_served_untied (void **state)
{
    struct tied_replica_event event = fixture_tied (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.sibling = TIED_NO_PEER;
    fixture_feed (&f, &event);
    CHECK_U64 (fixture_counters (&f)->sibling_unknown, ==, 1);
    fixture_started (&f, 1, 1);
    CHECK_U64 (fixture_counters (&f)->started_moot, ==, 1);
    (void)fixture_take (&f);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RUN);
    fixture_close (&f);
}

static void RQ_11_a_copy_after_its_STARTED_is_silent (void **state)
{
    struct fixture f;
    uint32_t copies;

    (void)state;
    open_fixture (&f);
    for (copies = 0; copies < 2; copies++) {
        fixture_started (&f, copies, 0);
        f.now += MS (5);
        fixture_send_tied (&f, copies, 1);
        CHECK_U64 (f.count, ==, 0);
    }
    CHECK_U64 (fixture_counters (&f)->tombstoned, ==, 2);
    CHECK_U64 (fixture_counters (&f)->executed, ==, 0);
    fixture_close (&f);
}

static void RQ_11_tombstones_of_a_dead_sibling_expire (void **state)
{
    struct fixture f;
    int steps = 0;

    (void)state;
    open_fixture (&f);
    fixture_started (&f, 1, 0);
    while (tied_replica_core_deadline (f.core) != TIED_NEVER) {
        CHECK_I64 (steps++, <, 10);
        f.now = tied_replica_core_deadline (f.core);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    }
    CHECK_U64 (f.now, <=, S (100) + f.options.recent_ttl_ns * 2);
    CHECK_U64 (fixture_counters (&f)->tombstones_expired, ==, 1);
    fixture_send_tied (&f, 1, 1);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    fixture_close (&f);
}

/* The starter may die at any time: whenever its STARTED and the re-issue come, one copy runs here.
 */
static void a_reissue_survives_STARTED_in_every_order (void **state)
{
    static const char *const orders[] = {"QRS", "QSR", "SQR", "SRQ", "RQS", "RSQ", "QTRS", "QTSR"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        uint64_t executed = 0;
        struct fixture f;
        const char *at;
        uint32_t slot;

        fixture_options (&f);
        f.options.workers = 2;
        fixture_open (&f);
        for (at = orders[i]; *at; at++) {
            if (*at == 'Q') /* copy 1, tied to copy 0 of the replica that dies */
                fixture_send_tied (&f, 1, 1);
            else if (*at == 'R')
                fixture_reissue (&f, 1);
            else if (*at == 'S')
                fixture_started (&f, 1, 0);
            else
                executed += fixture_take (&f) != UINT32_MAX;
        }
        while ((slot = fixture_take (&f)) != UINT32_MAX)
            executed++;
        CHECK_U64 (executed, ==, 1);
        fixture_close (&f);
    }
}

static void a_merged_copy_still_answers_for_the_call (void **state)
{
    const struct tied_replica_action *reply;
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send_tied (&f, 1, 1);
    fixture_reissue (&f, 1);
    CHECK_U64 (f.count, ==, 0);
    fixture_started (&f, 1, 0);
    CHECK_U64 (f.count, ==, 0);
    reply = fixture_finish (&f, fixture_take (&f));
    CHECK_U64 (reply->copy, ==, 1);
    CHECK_U64 (fixture_counters (&f)->merged, ==, 1);
    CHECK_U64 (fixture_counters (&f)->started_moot, ==, 1);
    fixture_close (&f);
}

static void a_leaving_replica_still_merges (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send_tied (&f, 1, 1);
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    fixture_reissue (&f, 1);
    CHECK_U64 (f.count, ==, 0);
    fixture_started (&f, 1, 0);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    fixture_close (&f);
}

/* Two replicas, copy i at replica i. STARTED is delivered or lost as told. */
struct race {
    struct fixture side[2];
    uint32_t slot[2];
    bool was_told[2];
};

static void open_race (struct race *self)
{
    uint8_t i;

    for (i = 0; i < 2; i++) {
        open_fixture (&self->side[i]);
        fixture_send_tied (&self->side[i], 1, i);
    }
}

static void start (struct race *self, uint8_t side)
{
    self->slot[side] = fixture_take (&self->side[side]);
    self->was_told[side] = fixture_find (&self->side[side], TIED_REPLICA_ACT_TELL_STARTED);
}

static void deliver (struct race *self, uint8_t from)
{
    CHECK_TRUE (self->was_told[from]);
    fixture_started (&self->side[1 - from], 1, from);
}

static void close_race (struct race *self)
{
    fixture_close (&self->side[0]);
    fixture_close (&self->side[1]);
}

static void the_first_start_drops_the_other_copy (void **state)
{
    struct race race;

    (void)state;
    open_race (&race);
    start (&race, 1);
    deliver (&race, 1);
    (void)fixture_only (&race.side[0], TIED_REPLICA_ACT_RELEASE);
    start (&race, 0);
    CHECK_U64 (race.slot[0], ==, UINT32_MAX);
    CHECK_U64 (fixture_counters (&race.side[0])->started_effective, ==, 1);
    CHECK_U64 (fixture_counters (&race.side[0])->dropped, ==, 1);
    CHECK_U64 (fixture_counters (&race.side[0])->executed, ==, 0);
    close_race (&race);
}

static void both_starts_run_and_are_counted_on_both_sides (void **state)
{
    uint64_t late = 0;
    struct race race;
    int ends_first;
    uint8_t i;

    (void)state;
    for (ends_first = 0; ends_first < 2; ends_first++) {
        late = 0;
        open_race (&race);
        start (&race, 0);
        start (&race, 1);
        if (ends_first) /* a late STARTED must not become a tombstone */
            CHECK_U64 (fixture_finish (&race.side[0], race.slot[0])->flags, ==,
                       TIED_REPLY_SIBLING_TOLD);
        deliver (&race, 0);
        deliver (&race, 1);
        for (i = (uint8_t)ends_first; i < 2; i++)
            CHECK_U64 (fixture_finish (&race.side[i], race.slot[i])->flags, ==,
                       TIED_REPLY_SIBLING_TOLD | TIED_REPLY_SIBLING_STARTED);
        for (i = 0; i < 2; i++) {
            late += fixture_counters (&race.side[i])->started_late;
            CHECK_U64 (fixture_counters (&race.side[i])->started_early, ==, 0);
            CHECK_U64 (fixture_counters (&race.side[i])->executed, ==, 1);
        }
        CHECK_U64 (late, ==, 2); /* two for one duplicate */
        close_race (&race);
    }
}

static void RQ_12_cancels_are_never_answered (void **state)
{
    struct race race;
    uint32_t i;
    uint8_t side;

    (void)state;
    open_race (&race);
    for (i = 0; i < 10000; i++) {
        for (side = 0; side < 2; side++) {
            race.side[side].is_fast = true;
            fixture_started (&race.side[side], 100 + i, side);
            CHECK_U64 (race.side[side].count, ==, 0);
            fixture_untie (&race.side[side], 100 + i, side);
            CHECK_U64 (race.side[side].count, ==, 0);
            fixture_cancel (&race.side[side], 0, 100 + i);
            CHECK_U64 (race.side[side].count, ==, 0);
        }
    }
    tied_replica_core_check (race.side[0].core);
    close_race (&race);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (STARTED_is_told_before_the_handler_runs),
        cmocka_unit_test (a_peer_that_is_down_is_not_told),
        cmocka_unit_test (a_STARTED_that_could_not_be_sent_is_not_claimed),
        cmocka_unit_test (a_refused_tied_copy_unties_its_sibling),
        cmocka_unit_test (a_sibling_that_is_no_peer_is_served_untied),
        cmocka_unit_test (RQ_11_a_copy_after_its_STARTED_is_silent),
        cmocka_unit_test (RQ_11_tombstones_of_a_dead_sibling_expire),
        cmocka_unit_test (a_reissue_survives_STARTED_in_every_order),
        cmocka_unit_test (a_merged_copy_still_answers_for_the_call),
        cmocka_unit_test (a_leaving_replica_still_merges),
        cmocka_unit_test (the_first_start_drops_the_other_copy),
        cmocka_unit_test (both_starts_run_and_are_counted_on_both_sides),
        cmocka_unit_test (RQ_12_cancels_are_never_answered),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
