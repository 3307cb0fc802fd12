/* SPDX-License-Identifier: MIT */
/* More work than a replica can do: refusals are exact and quick, cancels do not wait in line, and
   memory does not grow. */
#include "cluster.h"
#include "occupy.h"

#include <unistd.h>

#define FLAT (6u << 20)

static int by_size (const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static uint64_t median (uint64_t *samples, size_t count)
{
    qsort (samples, count, sizeof *samples, by_size);
    return samples[count / 2];
}

static void ZQ_33_of_a_burst_exactly_the_limit_is_taken_and_all_others_are_told (void **state)
{
    enum {
        WORKERS = 2,
        DEPTH = 8,
        BURST = 1000
    };
    struct cluster cluster;
    struct wire_client client;

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--workers", "2", "--queue-depth", "8", "--service", OCCUPY_SERVICE,
                   NULL);
    wire_open (&client, cluster.nodes[0].client);
    for (uint64_t i = 0; i < BURST; i++) {
        struct tied_message message = wire_request (i, 0, "work", "", 0);
        wire_send (&client, &message);
    }
    for (uint64_t i = 0; i < BURST - DEPTH - WORKERS; i++) {
        wire_expect (&client, TIED_WIRE_REJECT);
        CHECK_STR (tied_reject_name (client.in.u.reject.reason), "full");
        CHECK_U64 (client.in.u.reject.load.depth, ==, DEPTH);
    }
    CHECK_U64 (cluster_stat (&cluster, 0, "received"), ==, BURST);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, WORKERS);
    CHECK_U64 (cluster_stat (&cluster, 0, "depth"), ==, DEPTH);
    CHECK_U64 (cluster_stat (&cluster, 0, "rejected_full"), ==, BURST - DEPTH - WORKERS);
    for (uint64_t i = 0; i < BURST; i++) {
        struct tied_message cancel = wire_cancel (i, TIED_CANCEL_CALLER);
        wire_send (&client, &cancel);
    }
    wire_expect (&client, TIED_WIRE_REPLY);
    wire_expect (&client, TIED_WIRE_REPLY);
    wire_sync (&client);
    CHECK_U64 (cluster_stat (&cluster, 0, "depth"), ==, 0);
    wire_close (&client);
    cluster_close (&cluster);
}

/* Same connection, same moment: PING, then a hedge, many times; medians, and their ratio. */
static void busy_replica_refuses_a_hedge_within_two_ping_round_trips (void **state)
{
    enum {
        ROUNDS = 1000
    };
    static uint64_t pings[ROUNDS];
    static uint64_t refusals[ROUNDS];
    struct cluster cluster;
    struct wire_client client;
    struct wire_client blockers[2];
    size_t rounds = (size_t)check_scale (ROUNDS);

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--workers", "2", "--hedge-depth", "1", "--service", OCCUPY_SERVICE,
                   NULL);
    for (uint32_t i = 0; i < 2; i++) {
        struct tied_message work = wire_request (OCCUPY_CALL + i, 0, "work", "", 0);
        wire_open (&blockers[i], cluster.nodes[0].client);
        wire_send (&blockers[i], &work);
        cluster_await (&cluster, 0, "executed", i + 1);
    }
    wire_open (&client, cluster.nodes[0].client);
    struct tied_message waiting = wire_request (1, 0, "echo", "", 0);
    wire_send (&client, &waiting);
    cluster_await (&cluster, 0, "depth", 1);
    for (size_t i = 0; i < rounds; i++) {
        struct tied_message ping = wire_ping (i);
        struct tied_message hedge = wire_request (10 + i, 2, "echo", "", 0);
        tied_time_t begin = ti_clock_now ();

        wire_send (&client, &ping);
        wire_expect (&client, TIED_WIRE_PONG);
        tied_time_t middle = ti_clock_now ();
        wire_send (&client, &hedge);
        wire_expect (&client, TIED_WIRE_REJECT);
        tied_time_t end = ti_clock_now ();
        CHECK_STR (tied_reject_name (client.in.u.reject.reason), "busy");
        pings[i] = middle - begin;
        refusals[i] = end - middle;
    }
    uint64_t ping = median (pings, rounds);
    uint64_t refusal = median (refusals, rounds);
    print_message ("median ping %" PRIu64 " us, refusal %" PRIu64 " us\n", ping / 1000,
                   refusal / 1000);
    CHECK_U64 (refusal, <, 2 * ping);
    for (uint32_t i = 0; i < 2; i++) {
        struct tied_message cancel = wire_cancel (OCCUPY_CALL + i, TIED_CANCEL_CALLER);
        wire_send (&blockers[i], &cancel);
    }
    wire_expect (&client, TIED_WIRE_REPLY);
    wire_close (&client);
    for (uint32_t i = 0; i < 2; i++)
        wire_close (&blockers[i]);
    cluster_close (&cluster);
}

/* Nothing ahead of it in the queue can run, so the cancel would wait for a minute in line. */
static void RQ_15_a_cancel_overtakes_ten_thousand_queued_requests (void **state)
{
    struct cluster cluster;
    struct wire_client blocker;
    struct wire_client client;
    uint64_t count = check_scale (10000);
    uint64_t before;
    tied_time_t begin;

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--workers", "1", "--queue-depth", "20000", "--service",
                   OCCUPY_SERVICE, NULL);
    occupy (&cluster, 0, &blocker);
    wire_open (&client, cluster.nodes[0].client);
    for (uint64_t i = 0; i < count; i++) {
        struct tied_message message = wire_request (100000 + i, 0, "echo", "", 0);
        wire_send (&client, &message);
    }
    cluster_await (&cluster, 0, "depth", count);
    before = cluster_stat (&cluster, 0, "dropped");
    begin = ti_clock_now ();
    struct tied_message cancel = wire_cancel (100000 + count - 1, TIED_CANCEL_CALLER);
    wire_send (&client, &cancel);
    cluster_await (&cluster, 0, "dropped", before + 1);
    CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    CHECK_U64 (cluster_stat (&cluster, 0, "depth"), ==, count - 1);
    release (&blocker);
    for (uint64_t i = 0; i < count - 1; i++) {
        wire_expect (&client, TIED_WIRE_REPLY);
        CHECK_U64 (client.in.u.reply.call.sequence, ==, 100000 + i);
    }
    wire_close (&client);
    cluster_close (&cluster);
}

/* Requests come as fast as one client can send them, and keep coming until the peer's word has been
   heard. */
static void ZQ_27_a_peers_cancel_is_heard_in_the_middle_of_a_flood (void **state)
{
    enum {
        BATCH = 200
    };
    /* A tombstone lasts for 2 s, so its copy must not be longer on the way through the flood. */
    const uint64_t ahead = check_scale (2000);
    struct cluster cluster;
    struct wire_client client;
    struct wire_client peer;
    uint64_t sent = 0;
    uint64_t answered = 0;

    (void)state;
    cluster_init (&cluster, 2);
    cluster_start (&cluster, 0, "--workers", "1", "--queue-depth", "20000", NULL);
    wire_open (&client, cluster.nodes[0].client);
    wire_open (&peer, cluster.nodes[0].peer);
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_REPLICA, "b");
    wire_send (&peer, &hello);
    wire_expect (&peer, TIED_WIRE_WELCOME);
    for (uint64_t round = 1; round <= check_scale (20) + 1; round++) {
        struct tied_message tied = wire_tied_request (round, 0, "echo", "b");
        struct tied_message started = {.type = TIED_WIRE_STARTED,
                                       .u.tie = {.call = tied.u.request.call, .copy = 1}};
        tied_time_t begin = ti_clock_now ();
        wire_send (&peer, &started);
        do {
            CHECK_U64 (ti_clock_now () - begin, <, CHECK_PATIENCE);
            for (int i = 0; i < BATCH; i++) {
                struct tied_message message = wire_request (1000 + sent++, 0, "echo", "hi", 2);
                wire_send (&client, &message);
            }
            for (; answered + ahead < sent; answered++)
                wire_expect (&client, TIED_WIRE_REPLY);
        } while (cluster_stat (&cluster, 0, "started_early") < round);
        /* Its copy comes in the same flood and does not run. */
        wire_send (&client, &tied);
    }
    for (; answered < sent; answered++) {
        wire_expect (&client, TIED_WIRE_REPLY);
        CHECK_U64 (client.in.u.reply.call.sequence, >=, 1000);
    }
    wire_sync (&client);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, sent);
    CHECK_U64 (cluster_stat (&cluster, 0, "tombstoned"), ==, check_scale (20) + 1);
    wire_close (&client);
    wire_close (&peer);
    cluster_close (&cluster);
}

/* One client does nothing but begin calls and give them up. */
static void RQ_14_a_flood_of_requests_and_cancels_harms_no_other_client (void **state)
{
    enum {
        BATCH = 50
    };
    struct cluster cluster;
    struct wire_client flood;
    struct wire_client lively;
    uint64_t pairs = check_scale (50000);
    uint64_t *waits = calloc (pairs / BATCH + 1, sizeof *waits);
    uint64_t calls = 0;
    size_t memory = 0;
    pid_t pid;

    (void)state;
    CHECK_TRUE (waits != NULL);
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--workers", "2", "--service", OCCUPY_SERVICE, NULL);
    pid = process_pid (cluster.nodes[0].process);
    wire_open (&flood, cluster.nodes[0].client);
    wire_open (&lively, cluster.nodes[0].client);
    for (uint64_t i = 0; i < pairs; i++) {
        struct tied_message work = wire_request (i, 0, "work", "", 0);
        struct tied_message cancel = wire_cancel (i, TIED_CANCEL_CALLER);
        wire_send (&flood, &work);
        wire_send (&flood, &cancel);
        if (i % BATCH == 0) {
            struct tied_message call = wire_request (1000000 + calls++, 0, "echo", "hi", 2);
            tied_time_t begin = ti_clock_now ();
            call.u.request.call.epoch = 4711;
            wire_send (&lively, &call);
            wire_expect (&lively, TIED_WIRE_REPLY);
            CHECK_U64 (lively.in.u.reply.status, ==, 0);
            waits[calls - 1] = ti_clock_now () - begin;
            CHECK_U64 (waits[calls - 1], <, CHECK_SOON);
            /* Replies of handlers that were told to stop. */
            while (wire_receive_within (&flood, 0) != 0) {
            }
        }
        if (i == pairs / 5)
            memory = process_memory (pid);
    }
    wire_sync (&flood);
    CHECK_U64 (median (waits, calls), <, S (1));
    free (waits);
    CHECK_U64 (cluster_stat (&cluster, 0, "cancel_received"), ==, pairs);
    CHECK_U64 (cluster_stat (&cluster, 0, "rejected"), ==, 0);
    cluster_await_equal (&cluster, 0, "running", 0);
    CHECK_U64 (cluster_stat (&cluster, 0, "depth"), ==, 0);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed") + cluster_stat (&cluster, 0, "dropped"), ==,
               pairs + calls);
    if (PROCESS_MEMORY_IS_MEANINGFUL)
        CHECK_U64 (process_memory (pid), <, memory + FLAT);
    wire_close (&flood);
    wire_close (&lively);
    cluster_close (&cluster);
}

/* Every call runs twice (the replicas do not know each other), so each has a late answer. Both
   sides' memory after a quarter and at the end. */
static void CL_13_ZQ_32_calls_and_late_replies_leave_no_memory_behind (void **state)
{
    static const unsigned char body[4096];
    struct cluster cluster;
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    tied_client_t *client;
    uint64_t calls = check_scale (20000);
    size_t memory[3] = {0};

    (void)state;
    cluster_init (&cluster, 2);
    cluster.seen[0][1][0] = 0;
    cluster.seen[1][0][0] = 0;
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "1", NULL);
    client = cluster_client (&cluster, NULL);
    uint64_t live = 0;
    uint64_t copies = 0;
    for (uint64_t begun = 0, ended = 0; ended < calls;) {
        struct tied_call call;
        struct tied_reply reply;
        tied_call_init (&call, "echo", body, sizeof body);
        call.is_idempotent = true;
        call.stagger_ns = 0;
        call.to_queue = true;
        call.timeout_ns = CHECK_PATIENCE;
        for (; live < 3 && begun < calls; live++, begun++)
            CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
        CHECK_I64 (tied_client_next (client, CHECK_PATIENCE, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (reply.body_size, ==, sizeof body);
        copies += reply.details.copies_sent;
        tied_reply_release (&reply);
        ended++;
        live--;
        /* What is on its way to a replica that is slow is no leak. */
        if (ended % 256 == 0)
            cluster_await_sum (&cluster, "received", copies);
        if (ended == calls / 4 + 1) {
            memory[0] = process_memory (getpid ());
            for (uint32_t i = 0; i < 2; i++)
                memory[1 + i] = process_memory (process_pid (cluster.nodes[i].process));
        }
    }
    CHECK_I64 (tied_client_stats (client, &stats), ==, 0);
    CHECK_U64 (stats.live_calls, ==, 0);
    if (calls >= 1000)
        CHECK_U64 (stats.core.late_replies, >, calls / 10);
    if (PROCESS_MEMORY_IS_MEANINGFUL) {
        CHECK_U64 (process_memory (getpid ()), <, memory[0] + FLAT);
        for (uint32_t i = 0; i < 2; i++)
            CHECK_U64 (process_memory (process_pid (cluster.nodes[i].process)), <,
                       memory[1 + i] + FLAT);
    }
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (ZQ_33_of_a_burst_exactly_the_limit_is_taken_and_all_others_are_told),
        TEST (busy_replica_refuses_a_hedge_within_two_ping_round_trips),
        TEST (RQ_15_a_cancel_overtakes_ten_thousand_queued_requests),
        TEST (ZQ_27_a_peers_cancel_is_heard_in_the_middle_of_a_flood),
        TEST (RQ_14_a_flood_of_requests_and_cancels_harms_no_other_client),
        TEST (CL_13_ZQ_32_calls_and_late_replies_leave_no_memory_behind),
    };
    return cmocka_run_group_tests_name ("overload", tests, NULL, NULL);
}
