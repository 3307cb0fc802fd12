/* SPDX-License-Identifier: MIT */
/* Many requests through one replica core: nothing leaks, limits hold, overload is survived. */
#include "replica_fixture.h"

#include "base/util.h"
#include "core/replica_core.h"

static void open_fixture (struct fixture *self, uint32_t queue_depth)
{
    fixture_options (self);
    self->options.queue_depth = queue_depth;
    self->options.hedge_depth = queue_depth;
    self->options.recent_ttl_ns = MS (100);
    self->is_fast = true;
    fixture_open (self);
}

static uint32_t draw (uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
    return (uint32_t)((*state >> 32) * n >> 32);
}

/* Let the worker empty the queue; copies that ran. */
static uint64_t run_all (struct fixture *f)
{
    uint64_t ran = 0;
    uint32_t slot;

    while (tied_replica_core_can_run (f->core)) {
        slot = fixture_take (f);
        if (slot == UINT32_MAX)
            continue;
        (void)fixture_finish (f, slot);
        ran++;
    }
    return ran;
}

static void RQ_01_a_cancelled_copy_never_runs (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f, 10000);
    for (i = 0; i < 10000; i++)
        fixture_send (&f, i, 0);
    for (i = 0; i < 10000; i += 2)
        fixture_cancel (&f, 0, i);
    CHECK_U64 (fixture_depth (&f), ==, 5000);
    CHECK_U64 (run_all (&f), ==, 5000);
    tied_replica_core_check (f.core);
    fixture_close (&f);
}

static void RQ_02_a_cancelled_copy_frees_its_place_at_once (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f, 4);
    fixture_send (&f, 100, 0);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    for (i = 0; i < 4; i++)
        fixture_send (&f, i, 0);
    fixture_send (&f, 50, 0);
    fixture_reason (&f, TIED_REJECT_FULL);
    for (i = 0; i < 4; i++)
        fixture_cancel (&f, 0, i);
    fixture_send (&f, 51, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    fixture_close (&f);
}

/* A word of its client keeps no copy longer than it may be here, and time alone takes none that
 * runs. */
static void RQ_06_each_copy_has_its_own_time_whatever_else_its_client_says (void **state)
{
    struct tied_replica_event orphan, busy;
    struct fixture f;

    (void)state;
    open_fixture (&f, 1000);
    busy = fixture_request (1, 0);
    busy.u.request.remaining_ns = TIED_NEVER;
    fixture_feed (&f, &busy);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    orphan = fixture_request (2, 0);
    orphan.u.request.remaining_ns = MS (500);
    fixture_feed (&f, &orphan);
    for (uint64_t i = 0; i < 200; i++) { /* steady traffic: a copy comes and is cancelled */
        f.now += MS (5);
        fixture_send (&f, 100 + i, 0);
        fixture_cancel (&f, 0, 100 + i);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
        if (i == 80)
            CHECK_U64 (fixture_depth (&f), ==, 1);
    }
    CHECK_U64 (fixture_depth (&f), ==, 0);
    CHECK_U64 (fixture_counters (&f)->expired, ==, 1);
    f.now += S (600);
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    CHECK_U64 (tied_replica_core_load (f.core).running, ==, 1);
    fixture_close (&f);
}

/* A worker and a cancel for the same copy, in both orders. */
static void RQ_09_a_cancel_takes_no_worker_along (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f, 16);
    for (uint64_t i = 0; i < check_scale (100000); i++) {
        uint32_t slot;

        fixture_send (&f, i, 0);
        if (i % 2 == 0)
            fixture_cancel (&f, 0, i);
        slot = fixture_take (&f);
        CHECK_TRUE ((slot == UINT32_MAX) == (i % 2 == 0));
        if (slot == UINT32_MAX)
            continue;
        fixture_cancel (&f, 0, i);
        (void)fixture_finish (&f, slot);
    }
    fixture_send (&f, UINT64_MAX, 0);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    CHECK_U64 (tied_replica_core_load (f.core).running, ==, 1);
    fixture_close (&f);
}

static void RQ_13_after_a_refusal_the_next_copy_of_the_client_has_its_chance (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f, 1);
    fixture_send (&f, 1, 0);
    slot = fixture_take (&f);
    fixture_send (&f, 2, 0);
    fixture_send (&f, 3, 0);
    fixture_reason (&f, TIED_REJECT_FULL);
    fixture_cancel (&f, 0, 3); /* it was refused: nothing is there, and nothing is said */
    CHECK_U64 (f.count, ==, 0);
    (void)fixture_finish (&f, slot);
    slot = fixture_take (&f);
    CHECK_U64 (slot, !=, UINT32_MAX);
    fixture_send (&f, 4, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    fixture_cancel (&f, 0, 1); /* it has ended */
    CHECK_U64 (f.count, ==, 0);
    fixture_close (&f);
}

/* RQ-03, RQ-04: every way out, by chance; the advertised depth is the queue's own length. */
static void RQ_03_RQ_04_every_exit_returns_its_place (void **state)
{
    struct tied_replica_event event;
    uint64_t random = 1;
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f, 64);
    for (i = 0; i < 100000; i++) {
        const struct tied_replica_counters *n = fixture_counters (&f);

        f.now += US (draw (&random, 1000));
        event = fixture_tied (i, (uint8_t)draw (&random, 2));
        event.u.request.client = draw (&random, 4);
        event.u.request.remaining_ns = MS (1 + draw (&random, 40));
        event.u.request.verdict = draw (&random, 20) == 0 ? TIED_REJECT_TOO_LARGE : 0;
        fixture_feed (&f, &event);
        switch (draw (&random, 6)) {
        case 0:
            fixture_cancel (&f, draw (&random, 4), i - draw (&random, 20));
            break;
        case 1:
            fixture_started (&f, i - draw (&random, 20), (uint8_t)draw (&random, 2));
            break;
        case 2:
            if (draw (&random, 20) == 0)
                fixture_client (&f, TIED_REPLICA_EV_CLIENT_GONE, draw (&random, 4));
            break;
        case 3:
            fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
            break;
        default: {
            uint32_t slot = fixture_take (&f);

            if (slot != UINT32_MAX)
                (void)fixture_finish (&f, slot);
        }
        }
        CHECK_U64 (fixture_depth (&f), ==,
                   n->received - n->executed - n->dropped - n->tombstoned - n->merged -
                       n->duplicate_request - n->rejected - n->expired);
        if (i % 1000 == 0)
            tied_replica_core_check (f.core);
    }
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    (void)run_all (&f);
    while (tied_replica_core_deadline (f.core) != TIED_NEVER) {
        f.now = tied_replica_core_deadline (f.core);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    }
    CHECK_TRUE (tied_replica_core_is_drained (f.core));
    CHECK_U64 (fixture_counters (&f)->dropped, >, 1000);
    CHECK_U64 (fixture_counters (&f)->expired, >, 1000);
    tied_replica_core_check (f.core);
    fixture_close (&f);
}

static void RQ_10_a_million_unknown_cancels_leave_nothing (void **state)
{
    uint64_t random = 5;
    struct fixture f;
    uint64_t hash;
    uint32_t i;

    (void)state;
    open_fixture (&f, 64);
    fixture_send (&f, 1, 0);
    fixture_cancel (&f, 0, 2);
    hash = tied_replica_core_hash (f.core);
    for (i = 1; i < 1000000; i++)
        fixture_cancel (&f, 0, 1000 + draw (&random, UINT32_MAX));
    CHECK_U64 (fixture_counters (&f)->cancel_unknown, ==, 1000000);
    CHECK_U64 (tied_replica_core_hash (f.core), ==, hash);
    CHECK_U64 (run_all (&f), ==, 1);
    fixture_close (&f);
}

/* A million STARTED for calls that never come: the newest recent_max stay, the rest is counted. */
static void RQ_10_tombstones_are_bounded (void **state)
{
    const struct tied_replica_counters *n;
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f, 64);
    n = fixture_counters (&f);
    for (i = 0; i < 1000000; i++)
        fixture_started (&f, i, 0);
    CHECK_U64 (n->started_early, ==, 1000000);
    CHECK_U64 (n->tombstones_evicted, ==, 1000000 - f.options.recent_max);
    fixture_send_tied (&f, 999999, 1);
    CHECK_U64 (n->tombstoned, ==, 1);
    tied_replica_core_check (f.core);
    fixture_close (&f);
}

/* RQ-14: request and cancel in turn from one client; another one's copies keep their place. */
static void RQ_14_a_request_cancel_flood_uses_no_memory_and_harms_nobody (void **state)
{
    struct tied_replica_event event;
    struct fixture f;
    uint64_t hash;
    uint64_t i;

    (void)state;
    open_fixture (&f, 8);
    event = fixture_request (1, 0);
    event.u.request.client = 1;
    fixture_feed (&f, &event);
    fixture_send (&f, 2, 0);
    fixture_cancel (&f, 0, 2);
    hash = tied_replica_core_hash (f.core);
    for (i = 0; i < 1000000; i++) {
        fixture_send (&f, 10 + i, 0);
        fixture_cancel (&f, 0, 10 + i);
    }
    CHECK_U64 (tied_replica_core_hash (f.core), ==, hash);
    CHECK_U64 (fixture_counters (&f)->cancel_queued, ==, 1000001);
    fixture_send (&f, 5, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    (void)fixture_take (&f);
    CHECK_U64 (f.actions[0].client, ==, 1);
    fixture_close (&f);
}

/* Longest row of occupied places in the index of the queue. */
static uint32_t longest_row (const struct fixture *f)
{
    const struct ti_idmap *index = &f->core->queue.index;
    const uint32_t *entries = TI_AT_CONST (uint32_t, index, index->entries);
    uint32_t longest = 0;
    uint32_t row = 0;

    for (uint32_t i = 0; i <= index->mask; i++) {
        row = entries[i] == UINT32_MAX ? 0 : row + 1;
        longest = row > longest ? row : longest;
    }
    return longest;
}

/* Ids that fall on one place for whoever knows what the index mixes in. Every client is told the
   incarnation; the seed is nobody's business. */
static void RQ_14_ids_made_for_the_incarnation_do_not_pile_up (void **state)
{
    struct fixture f;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 1000;
    f.options.seed = UINT64_C (0x5eed5eed5eed5eed);
    f.is_fast = true;
    fixture_open (&f);
    for (uint64_t i = 0; i < 500; i++) {
        struct tied_replica_event event = fixture_request (i, 0);

        event.u.request.call.epoch =
            (0 - i * UINT64_C (0x9e3779b97f4a7c15)) ^ ti_mix (f.options.incarnation);
        fixture_feed (&f, &event);
    }
    CHECK_U64 (fixture_depth (&f), ==, 500);
    CHECK_U64 (longest_row (&f), <, 50);
    fixture_close (&f);
}

/* Known ids, unknown ones, one of them twice and more than are looked at: not a byte differs. */
static void what_is_expected_changes_nothing (void **state)
{
    struct tied_call_id calls[TIED_REPLICA_EXPECT_MAX + 2];
    struct fixture f;
    void *before;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 10000;
    f.options.hedge_depth = 10000;
    f.is_fast = true;
    fixture_open (&f);
    for (uint64_t i = 0; i < 10000; i++)
        fixture_send (&f, i, 0);
    CHECK_U64 (fixture_depth (&f), ==, 10000);
    for (size_t i = 0; i < TIED_REPLICA_EXPECT_MAX + 2; i++) {
        struct tied_replica_event event = fixture_request (i % 2 ? i * 1000 : 20000 + i, 0);
        calls[i] = event.u.request.call;
    }
    calls[3] = calls[1];
    before = malloc (f.size);
    CHECK_TRUE (before != NULL);
    memcpy (before, f.core, f.size);
    tied_replica_core_expect (f.core, calls, 0);
    tied_replica_core_expect (f.core, NULL, 0);
    for (size_t i = 1; i <= TIED_REPLICA_EXPECT_MAX + 2; i++)
        tied_replica_core_expect (f.core, calls, i);
    CHECK_I64 (memcmp (before, f.core, f.size), ==, 0);
    /* And it is the call that was expected that goes. */
    fixture_cancel (&f, 0, 1000);
    CHECK_U64 (fixture_depth (&f), ==, 9999);
    CHECK_U64 (fixture_counters (&f)->cancel_queued, ==, 1);
    free (before);
    fixture_close (&f);
}

static void RQ_15_a_cancel_does_not_wait_behind_the_queue (void **state)
{
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f, 10000);
    for (i = 0; i < 10000; i++)
        fixture_send (&f, i, 0);
    fixture_cancel (&f, 0, 9999);
    CHECK_U64 (fixture_only (&f, TIED_REPLICA_ACT_RELEASE)->call.sequence, ==, 9999);
    CHECK_U64 (fixture_depth (&f), ==, 9999);
    fixture_close (&f);
}

static void RQ_16_the_depth_limit_is_reached_and_never_passed (void **state)
{
    uint64_t random = 3;
    uint32_t deepest = 0;
    struct fixture f;
    uint64_t i;

    (void)state;
    open_fixture (&f, 8);
    for (i = 0; i < 100000; i++) {
        fixture_send (&f, i, 0);
        if (draw (&random, 10) < 4)
            fixture_cancel (&f, 0, i - draw (&random, 8));
        else if (draw (&random, 10) < 4)
            (void)run_all (&f);
        if (fixture_depth (&f) > deepest)
            deepest = fixture_depth (&f);
    }
    CHECK_U64 (deepest, ==, 8);
    CHECK_U64 (fixture_counters (&f)->rejected_full, >, 0);
    fixture_close (&f);
}

/*
 * RQ-17: twice what one worker can do, for 30 s of virtual time; each request has 100 ms, work
 * takes 10 ms. Done in time counts. Arrivals come in bursts of 1 to 4.
 */
static void RQ_17_overload_keeps_most_of_the_capacity (void **state)
{
    struct tied_replica_event event;
    tied_time_t end = S (100) + S (30);
    tied_time_t arrival = S (100);
    tied_time_t finish = TIED_NEVER;
    tied_duration_t left = 0;
    uint64_t random = 7;
    uint64_t good = 0;
    uint64_t id = 0;
    struct fixture f;
    uint32_t slot = UINT32_MAX;

    (void)state;
    open_fixture (&f, 1024);
    while (f.now < end) {
        if (finish <= arrival) {
            f.now = finish;
            good += left >= MS (10);
            (void)fixture_finish (&f, slot);
            finish = TIED_NEVER;
        } else {
            uint32_t burst = 1 + draw (&random, 4);

            f.now = arrival;
            arrival += burst * MS (5);
            while (burst-- > 0) {
                event = fixture_request (id++, 0);
                event.u.request.remaining_ns = MS (100);
                fixture_feed (&f, &event);
            }
        }
        if (finish == TIED_NEVER && (slot = fixture_take (&f)) != UINT32_MAX) {
            left = fixture_find (&f, TIED_REPLICA_ACT_RUN)->remaining_ns;
            CHECK_U64 (left, >, 0);
            finish = f.now + MS (10);
        }
    }
    CHECK_U64 (good, >=, 2100); /* 70 % of 3000 */
    fixture_close (&f);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (RQ_01_a_cancelled_copy_never_runs),
        cmocka_unit_test (RQ_02_a_cancelled_copy_frees_its_place_at_once),
        cmocka_unit_test (RQ_03_RQ_04_every_exit_returns_its_place),
        cmocka_unit_test (RQ_06_each_copy_has_its_own_time_whatever_else_its_client_says),
        cmocka_unit_test (RQ_09_a_cancel_takes_no_worker_along),
        cmocka_unit_test (RQ_13_after_a_refusal_the_next_copy_of_the_client_has_its_chance),
        cmocka_unit_test (RQ_10_a_million_unknown_cancels_leave_nothing),
        cmocka_unit_test (RQ_10_tombstones_are_bounded),
        cmocka_unit_test (RQ_14_a_request_cancel_flood_uses_no_memory_and_harms_nobody),
        cmocka_unit_test (RQ_14_ids_made_for_the_incarnation_do_not_pile_up),
        cmocka_unit_test (what_is_expected_changes_nothing),
        cmocka_unit_test (RQ_15_a_cancel_does_not_wait_behind_the_queue),
        cmocka_unit_test (RQ_16_the_depth_limit_is_reached_and_never_passed),
        cmocka_unit_test (RQ_17_overload_keeps_most_of_the_capacity),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
