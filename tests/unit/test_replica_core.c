/* SPDX-License-Identifier: MIT */
/* One replica core: admission, order, deadlines, cancel, drain, arguments. Ties: test_replica_race;
 * many requests: test_replica_flood. */
#include "replica_fixture.h"

static void open_fixture (struct fixture *self)
{
    fixture_options (self);
    fixture_open (self);
}

static void a_copy_is_admitted_run_and_answered (void **state)
{
    const struct tied_replica_action *reply;
    const struct tied_replica_action *run;
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    slot = fixture_only (&f, TIED_REPLICA_ACT_ADMIT)->slot;
    CHECK_U64 (slot, <, tied_replica_core_slots (f.core));
    CHECK_TRUE (tied_replica_core_can_run (f.core));
    f.now += MS (5);
    CHECK_U64 (fixture_take (&f), ==, slot);
    run = fixture_only (&f, TIED_REPLICA_ACT_RUN);
    CHECK_U64 (run->queue_ns, ==, MS (5));
    CHECK_U64 (run->remaining_ns, ==, TIED_NEVER);
    CHECK_FALSE (tied_replica_core_can_run (f.core));
    f.now += MS (20);
    reply = fixture_finish (&f, slot);
    CHECK_U64 (reply->call.sequence, ==, 1);
    CHECK_U64 (reply->queue_ns, ==, MS (5));
    CHECK_U64 (reply->service_ns, ==, MS (20));
    CHECK_U64 (reply->flags, ==, 0);
    CHECK_U64 (reply->load.running, ==, 0);
    fixture_close (&f);
}

static void no_more_copies_run_than_there_are_workers (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    fixture_send (&f, 2, 0);
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
    CHECK_U64 (f.count, ==, 0);
    fixture_close (&f);
}

static void later_hedges_wait_behind_if_asked (void **state)
{
    struct fixture f;

    (void)state;
    fixture_options (&f);
    f.options.hedge_lane = TIED_HEDGE_LANE_BEHIND;
    f.options.workers = 3;
    fixture_open (&f);
    fixture_send (&f, 1, 2);
    fixture_send (&f, 2, 1);
    fixture_send (&f, 3, 0);
    (void)fixture_take (&f);
    CHECK_U64 (f.actions[0].call.sequence, ==, 2);
    (void)fixture_take (&f);
    CHECK_U64 (f.actions[0].call.sequence, ==, 3);
    (void)fixture_take (&f);
    CHECK_U64 (f.actions[0].call.sequence, ==, 1);
    fixture_close (&f);
}

static void each_refusal_says_why (void **state)
{
    struct tied_replica_event event;
    struct fixture f;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 3;
    f.options.hedge_depth = 2;
    fixture_open (&f);
    event = fixture_request (1, 0);
    event.u.request.verdict = TIED_REJECT_UNKNOWN_METHOD;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_UNKNOWN_METHOD);
    event = fixture_request (2, 0);
    event.u.request.incarnation = FIXTURE_INCARNATION + 1;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_STALE);
    event = fixture_request (3, 0);
    event.u.request.remaining_ns = 0;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_EXPIRED);
    CHECK_U64 (fixture_counters (&f)->expired, ==, 1);
    fixture_send (&f, 10, 0);
    fixture_send (&f, 11, 0);
    fixture_send (&f, 12, 1);
    fixture_reason (&f, TIED_REJECT_BUSY);
    CHECK_U64 (f.actions[0].load.depth, ==, 2);
    CHECK_U64 (f.actions[0].slot, ==, UINT32_MAX);
    event = fixture_request (13, 2);
    event.u.request.flags = TIED_REQUEST_LAST;
    fixture_feed (&f, &event);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    event = fixture_request (14, 2);
    event.u.request.flags = TIED_REQUEST_LAST;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_FULL);
    CHECK_U64 (fixture_counters (&f)->rejected, ==, 4);
    fixture_close (&f);
}

/* Its limit is that of its own lane, and the hard one. */
static void a_hedge_that_relieves_goes_first_and_where_others_are_refused (void **state)
{
    struct tied_replica_event event;
    struct fixture f;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 6;
    f.options.hedge_depth = 2;
    fixture_open (&f);
    for (uint64_t i = 0; i < 3; i++)
        fixture_send (&f, 10 + i, 0);
    fixture_send (&f, 20, 2);
    fixture_reason (&f, TIED_REJECT_BUSY);
    for (uint64_t i = 0; i < 3; i++) {
        event = fixture_request (30 + i, 2);
        event.u.request.flags = TIED_REQUEST_RELIEF;
        fixture_feed (&f, &event);
        if (i < 2)
            (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
        else
            fixture_reason (&f, TIED_REJECT_BUSY);
    }
    fixture_simple (&f, TIED_REPLICA_EV_TAKE);
    CHECK_U64 (fixture_only (&f, TIED_REPLICA_ACT_RUN)->call.sequence, ==, 30);
    fixture_send (&f, 13, 0);
    fixture_send (&f, 14, 0);
    event = fixture_request (40, 2);
    event.u.request.flags = TIED_REQUEST_RELIEF;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_FULL);
    /* A first copy has no business there. */
    event = fixture_request (41, 0);
    event.u.request.flags = TIED_REQUEST_RELIEF;
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_FULL);
    fixture_close (&f);
}

/* A copy for which no limit holds would be first without a limit. */
static void a_last_copy_relieves_nobody_and_waits_its_turn (void **state)
{
    struct tied_replica_event event;
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    event = fixture_request (2, 2);
    event.u.request.flags = TIED_REQUEST_RELIEF | TIED_REQUEST_LAST;
    fixture_feed (&f, &event);
    CHECK_U64 (fixture_counters (&f)->relieving, ==, 0);
    fixture_simple (&f, TIED_REPLICA_EV_TAKE);
    CHECK_U64 (fixture_only (&f, TIED_REPLICA_ACT_RUN)->call.sequence, ==, 1);
    fixture_close (&f);
}

/* Whoever says of every copy that it relieves gets what a client may get, and nobody starves. */
static void who_always_asks_to_go_first_gets_a_third_of_the_starts (void **state)
{
    struct tied_replica_event event;
    struct fixture f;
    uint32_t first = 0, turn = 0;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 512;
    f.options.hedge_depth = 4;
    fixture_open (&f);
    for (uint64_t i = 0; i < 200; i++)
        fixture_send (&f, i, 0);
    for (uint64_t i = 0; turn < 200; i++) {
        CHECK_U64 (i, <, 1000);
        event = fixture_request (1000 + i, 2);
        event.u.request.client = 1;
        event.u.request.flags = TIED_REQUEST_RELIEF;
        fixture_feed (&f, &event);
        event = (struct tied_replica_event){.type = TIED_REPLICA_EV_FINISH};
        event.u.finish.slot = fixture_take (&f);
        if (f.actions[0].client == 1)
            first++;
        else
            turn++;
        fixture_feed (&f, &event);
    }
    CHECK_U64 (first, <=, 2 * 4 + 200 / 2);
    CHECK_U64 (first, >=, 200 / 2);
    CHECK_U64 (fixture_counters (&f)->relieving, ==, first);
    CHECK_U64 (fixture_counters (&f)->relief_over, >=, 80);
    fixture_close (&f);
}

/* Also where no limit would refuse it, and where it is leaving: DUPLICATE tells the client more. */
static void a_hedge_where_its_call_waits_is_refused_before_all_limits (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    fixture_send (&f, 1, 2);
    fixture_reason (&f, TIED_REJECT_DUPLICATE);
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    fixture_send (&f, 1, 3);
    fixture_reason (&f, TIED_REJECT_DUPLICATE);
    CHECK_U64 (fixture_counters (&f)->rejected_duplicate, ==, 2);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    fixture_close (&f);
}

static void our_incarnation_and_none_are_welcome (void **state)
{
    struct tied_replica_event event = fixture_request (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.incarnation = FIXTURE_INCARNATION;
    fixture_feed (&f, &event);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    fixture_close (&f);
}

static void a_copy_that_cannot_start_in_time_is_refused (void **state)
{
    struct tied_replica_event event = fixture_request (3, 0);
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    slot = fixture_take (&f);
    f.now += MS (10);
    (void)fixture_finish (&f, slot);
    fixture_send (&f, 2, 0);
    CHECK_U64 (tied_replica_core_load (f.core).wait_us, ==, 10000);
    event.u.request.remaining_ns = MS (9);
    fixture_feed (&f, &event);
    fixture_reason (&f, TIED_REJECT_TOO_LATE);
    fixture_close (&f);
}

static void an_expired_copy_is_answered_and_the_next_one_runs (void **state)
{
    struct tied_replica_event event = fixture_request (1, 0);
    struct fixture f;

    (void)state;
    open_fixture (&f);
    event.u.request.remaining_ns = MS (10);
    fixture_feed (&f, &event);
    fixture_send (&f, 2, 0);
    f.now += MS (10);
    CHECK_U64 (fixture_take (&f), ==, 1);
    CHECK_U64 (f.count, ==, 3);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_REJECT);
    CHECK_U64 (f.actions[0].reason, ==, TIED_REJECT_EXPIRED);
    CHECK_U64 (f.actions[0].slot, ==, 0);
    CHECK_U64 (f.actions[1].type, ==, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (f.actions[2].call.sequence, ==, 2);
    fixture_close (&f);
}

static void a_take_answers_a_bounded_number_of_expired_copies (void **state)
{
    struct tied_replica_event event;
    struct fixture f;
    uint64_t i;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 101;
    f.options.hedge_depth = 101;
    fixture_open (&f);
    for (i = 0; i < 100; i++) {
        event = fixture_request (i, 0);
        event.u.request.remaining_ns = MS (1);
        fixture_feed (&f, &event);
    }
    fixture_send (&f, 100, 0);
    f.now += MS (1);
    for (i = 0; i < 3; i++) {
        CHECK_U64 (fixture_take (&f), ==, UINT32_MAX);
        CHECK_U64 (f.count, ==, 64);
        CHECK_TRUE (tied_replica_core_can_run (f.core));
    }
    CHECK_U64 (fixture_take (&f), !=, UINT32_MAX);
    CHECK_U64 (f.count, ==, 9);
    fixture_close (&f);
}

/* RQ-18: the time that a handler takes is not the queue's business. */
static void RQ_18_a_deadline_does_not_end_a_running_copy (void **state)
{
    struct tied_replica_event event = fixture_request (1, 0);
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    event.u.request.remaining_ns = MS (20);
    fixture_feed (&f, &event);
    slot = fixture_take (&f);
    CHECK_U64 (f.actions[0].remaining_ns, ==, MS (20));
    f.now += MS (100);
    fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
    CHECK_U64 (f.count, ==, 0);
    CHECK_TRUE (fixture_finish (&f, slot) != NULL);
    fixture_close (&f);
}

static void a_stuck_replica_sheds_expired_work_by_the_timer (void **state)
{
    struct tied_replica_event event;
    struct fixture f;
    uint64_t i;

    (void)state;
    fixture_options (&f);
    f.options.queue_depth = 500;
    f.options.hedge_depth = 500;
    fixture_open (&f);
    for (i = 0; i < 300; i++) {
        event = fixture_request (i, 0);
        event.u.request.remaining_ns = i % 2 ? MS (100) : S (9);
        fixture_feed (&f, &event);
    }
    CHECK_U64 (tied_replica_core_deadline (f.core), ==, f.now + MS (100));
    while (fixture_depth (&f) > 150) {
        f.now = tied_replica_core_deadline (f.core);
        fixture_simple (&f, TIED_REPLICA_EV_TIMEOUT);
        CHECK_U64 (f.count, <=, 128);
    }
    CHECK_U64 (f.now, ==, S (100) + MS (100));
    CHECK_U64 (fixture_counters (&f)->expired, ==, 150);
    fixture_close (&f);
}

static void only_its_own_client_cancels_a_call (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    fixture_cancel (&f, 1, 1);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->cancel_unknown, ==, 1);
    fixture_cancel (&f, 0, 1);
    (void)fixture_only (&f, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (fixture_depth (&f), ==, 0);
    CHECK_U64 (fixture_counters (&f)->cancel_queued, ==, 1);
    fixture_close (&f);
}

static void a_cancel_takes_every_copy_of_the_call (void **state)
{
    struct fixture f;
    uint8_t copy;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    CHECK_U64 (fixture_take (&f), ==, 0);
    for (copy = 10; copy > 0; copy--) {
        struct tied_replica_event event = fixture_request (1, copy);

        event.u.request.flags = TIED_REQUEST_LAST;
        fixture_feed (&f, &event);
    }
    fixture_send (&f, 2, 0);
    fixture_cancel (&f, 0, 1);
    CHECK_U64 (f.count, ==, 11);
    CHECK_U64 (f.actions[0].type, ==, TIED_REPLICA_ACT_CANCEL_RUNNING);
    CHECK_U64 (f.actions[0].reason, ==, TIED_CANCEL_WON);
    CHECK_U64 (f.actions[10].type, ==, TIED_REPLICA_ACT_RELEASE);
    CHECK_U64 (f.actions[10].copy, ==, 10);
    CHECK_U64 (fixture_depth (&f), ==, 1);
    fixture_close (&f);
}

static void the_flag_of_a_running_copy_is_raised_once (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    slot = fixture_take (&f);
    fixture_cancel (&f, 0, 1);
    CHECK_U64 (fixture_only (&f, TIED_REPLICA_ACT_CANCEL_RUNNING)->slot, ==, slot);
    fixture_cancel (&f, 0, 1);
    CHECK_U64 (f.count, ==, 0);
    CHECK_U64 (fixture_counters (&f)->cancel_running, ==, 2);
    /* RQ-08: the id stays taken until the handler has ended. */
    fixture_send (&f, 1, 0);
    CHECK_U64 (fixture_counters (&f)->duplicate_request, ==, 1);
    CHECK_TRUE (fixture_finish (&f, slot) != NULL);
    fixture_cancel (&f, 0, 1);
    CHECK_U64 (fixture_counters (&f)->cancel_unknown, ==, 1);
    fixture_close (&f);
}

/* Each moves one counter, by what its copy was doing when it came. */
static void CL_21_every_cancel_is_counted_once_by_what_it_met (void **state)
{
    struct fixture f;

    (void)state;
    open_fixture (&f);
    for (uint64_t round = 1; round <= 30; round++) {
        const struct tied_replica_counters before = *fixture_counters (&f);
        const uint32_t met = (uint32_t)(round % 3); /* queued, running, done */
        uint32_t slot = 0;

        fixture_send (&f, round, 0);
        if (met > 0)
            slot = fixture_take (&f);
        if (met == 2)
            CHECK_TRUE (fixture_finish (&f, slot) != NULL);
        fixture_cancel (&f, 0, round);
        CHECK_U64 (fixture_counters (&f)->cancel_received, ==, before.cancel_received + 1);
        CHECK_U64 (fixture_counters (&f)->cancel_queued, ==, before.cancel_queued + (met == 0));
        CHECK_U64 (fixture_counters (&f)->cancel_running, ==, before.cancel_running + (met == 1));
        CHECK_U64 (fixture_counters (&f)->cancel_unknown, ==, before.cancel_unknown + (met == 2));
        if (met == 1)
            CHECK_TRUE (fixture_finish (&f, slot) != NULL);
    }
    CHECK_U64 (fixture_depth (&f), ==, 0);
    fixture_close (&f);
}

/* RQ-11 for the client's CANCEL: it leaves nothing behind that could hit a later request. */
static void a_cancel_of_an_unknown_call_leaves_no_trace (void **state)
{
    struct fixture f;
    uint64_t hash;

    (void)state;
    open_fixture (&f);
    fixture_cancel (&f, 0, 1);
    hash = tied_replica_core_hash (f.core);
    fixture_cancel (&f, 0, 1);
    CHECK_U64 (tied_replica_core_hash (f.core), ==, hash);
    fixture_send (&f, 1, 0);
    (void)fixture_only (&f, TIED_REPLICA_ACT_ADMIT);
    fixture_close (&f);
}

static void a_draining_replica_finishes_what_it_has (void **state)
{
    struct fixture f;
    uint32_t slot;

    (void)state;
    open_fixture (&f);
    fixture_send (&f, 1, 0);
    fixture_simple (&f, TIED_REPLICA_EV_DRAIN);
    fixture_send (&f, 2, 0);
    fixture_reason (&f, TIED_REJECT_DRAINING);
    CHECK_FALSE (tied_replica_core_is_drained (f.core));
    slot = fixture_take (&f);
    CHECK_FALSE (tied_replica_core_is_drained (f.core));
    CHECK_TRUE (fixture_finish (&f, slot) != NULL);
    CHECK_TRUE (tied_replica_core_is_drained (f.core));
    fixture_close (&f);
}

/* Sockets hold what came during the stop: it has been on its way for as long. */
static void work_from_before_a_stop_does_not_run_after_it (void **state)
{
    struct tied_replica_event event;
    struct fixture f;
    tied_time_t sent;
    uint64_t i;

    (void)state;
    open_fixture (&f);
    for (i = 0; i < 3; i++) {
        event = fixture_request (i, 0);
        event.u.request.remaining_ns = MS (500);
        event.u.request.sent_us = (f.now - S (90) - US (80)) / 1000;
        fixture_feed (&f, &event);
        (void)fixture_finish (&f, fixture_take (&f));
        f.now += MS (100);
    }
    sent = f.now; /* then the process stops for 30 s */
    f.now += S (30);
    for (i = 10; i < 13; i++) {
        event = fixture_request (i, 0);
        event.u.request.remaining_ns = MS (500);
        event.u.request.sent_us = (sent + MS (i) - S (90)) / 1000;
        fixture_feed (&f, &event);
        fixture_reason (&f, TIED_REJECT_EXPIRED);
    }
    CHECK_U64 (fixture_counters (&f)->executed, ==, 3);
    fixture_close (&f);
}

static void bad_arguments_change_nothing (void **state)
{
    struct tied_replica_event event = fixture_request (1, 0);
    struct fixture f;
    uint64_t hash;

    (void)state;
    open_fixture (&f);
    hash = tied_replica_core_hash (f.core);
    CHECK_I64 (tied_replica_core_step (NULL, &event, f.now), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_core_step (f.core, NULL, f.now), ==, TIED_ERR_INVAL);
    event.u.request.sibling = f.options.peers_max;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event = fixture_request (1, 0);
    event.u.request.verdict = TIED_REJECT_COUNT;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    memset (&event, 0, sizeof event);
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event.type = TIED_REPLICA_EV_FINISH;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event.u.finish.slot = UINT32_MAX;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event.type = TIED_REPLICA_EV_STARTED;
    event.u.tie.peer = UINT32_MAX;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event.type = TIED_REPLICA_EV_PEER_UP;
    event.u.peer.peer = f.options.peers_max;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    event.type = TIED_REPLICA_EV_CANCEL;
    event.u.cancel.client = f.options.clients_max;
    CHECK_I64 (fixture_try (&f, &event), ==, TIED_ERR_INVAL);
    CHECK_U64 (tied_replica_core_hash (f.core), ==, hash);
    fixture_close (&f);
}

static void every_option_is_checked_by_name (void **state)
{
    struct tied_replica_core_options good;
    struct tied_replica_core_options bad;
    const char *field = "untouched";

    (void)state;
    tied_replica_core_options_init (&good);
    CHECK_I64 (tied_replica_core_options_check (&good, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, "incarnation");
    good.incarnation = 1;
    field = "untouched";
    CHECK_I64 (tied_replica_core_options_check (&good, &field), ==, 0);
    CHECK_STR (field, "untouched");
    CHECK_U64 (tied_replica_core_size (&good), >, 0);
#define REFUSES(name, value)                                                                       \
    bad = good;                                                                                    \
    bad.name = (value);                                                                            \
    CHECK_I64 (tied_replica_core_options_check (&bad, &field), ==, TIED_ERR_INVAL);                \
    CHECK_STR (field, #name);                                                                      \
    CHECK_U64 (tied_replica_core_size (&bad), ==, 0)
    REFUSES (struct_size, 8);
    REFUSES (workers, 0);
    REFUSES (workers, 4097);
    REFUSES (queue_depth, 0);
    REFUSES (queue_depth, (1u << 20) + 1);
    REFUSES (hedge_depth, 1025);
    REFUSES (hedge_lane, 2);
    REFUSES (recent_max, 15);
    REFUSES (recent_max, (1u << 22) + 1);
    REFUSES (recent_ttl_ns, MS (1) - 1);
    REFUSES (recent_ttl_ns, S (3600) + 1);
    REFUSES (clients_max, 0);
    REFUSES (clients_max, (1u << 20) + 1);
    REFUSES (peers_max, 4097);
    REFUSES (client_silence_ns, MS (10) - 1);
#undef REFUSES
    CHECK_I64 (tied_replica_core_options_check (NULL, NULL), ==, TIED_ERR_INVAL);
}

static void a_core_is_not_made_in_too_little_memory (void **state)
{
    struct fixture f;
    void *memory;
    size_t size;

    (void)state;
    fixture_options (&f);
    size = tied_replica_core_size (&f.options);
    memory = malloc (size);
    CHECK_TRUE (tied_replica_core_init (memory, size - 1, &f.options) == NULL);
    CHECK_TRUE (tied_replica_core_init (NULL, size, &f.options) == NULL);
    f.options.workers = 0;
    CHECK_TRUE (tied_replica_core_init (memory, size, &f.options) == NULL);
    free (memory);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_copy_is_admitted_run_and_answered),
        cmocka_unit_test (no_more_copies_run_than_there_are_workers),
        cmocka_unit_test (later_hedges_wait_behind_if_asked),
        cmocka_unit_test (each_refusal_says_why),
        cmocka_unit_test (a_hedge_that_relieves_goes_first_and_where_others_are_refused),
        cmocka_unit_test (a_last_copy_relieves_nobody_and_waits_its_turn),
        cmocka_unit_test (who_always_asks_to_go_first_gets_a_third_of_the_starts),
        cmocka_unit_test (a_hedge_where_its_call_waits_is_refused_before_all_limits),
        cmocka_unit_test (our_incarnation_and_none_are_welcome),
        cmocka_unit_test (a_copy_that_cannot_start_in_time_is_refused),
        cmocka_unit_test (an_expired_copy_is_answered_and_the_next_one_runs),
        cmocka_unit_test (a_take_answers_a_bounded_number_of_expired_copies),
        cmocka_unit_test (RQ_18_a_deadline_does_not_end_a_running_copy),
        cmocka_unit_test (a_stuck_replica_sheds_expired_work_by_the_timer),
        cmocka_unit_test (only_its_own_client_cancels_a_call),
        cmocka_unit_test (a_cancel_takes_every_copy_of_the_call),
        cmocka_unit_test (the_flag_of_a_running_copy_is_raised_once),
        cmocka_unit_test (CL_21_every_cancel_is_counted_once_by_what_it_met),
        cmocka_unit_test (a_cancel_of_an_unknown_call_leaves_no_trace),
        cmocka_unit_test (a_draining_replica_finishes_what_it_has),
        cmocka_unit_test (work_from_before_a_stop_does_not_run_after_it),
        cmocka_unit_test (bad_arguments_change_nothing),
        cmocka_unit_test (every_option_is_checked_by_name),
        cmocka_unit_test (a_core_is_not_made_in_too_little_memory),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
