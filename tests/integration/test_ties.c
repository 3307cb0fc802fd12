/* SPDX-License-Identifier: MIT */
/* The cancel race between real replicas, with a proxy where the network must misbehave. */
#include "cluster.h"
#include "occupy.h"
#include "proxy.h"
#include "volley.h"

#include <stdio.h>

struct pair {
    struct cluster cluster;
    struct proxy *proxies[2];
    struct volley volley;
    tied_client_t *client;
};

static void open_volley (struct pair *pair, const char *method, uint32_t calls)
{
    pair->client = cluster_client (&pair->cluster, NULL);
    volley_init (&pair->volley, pair->client, method, calls);
}

static void close_pair (struct pair *pair)
{
    volley_free (&pair->volley);
    tied_client_destroy (&pair->client);
    cluster_close (&pair->cluster);
    for (uint32_t i = 0; i < 2; i++)
        proxy_destroy (&pair->proxies[i]);
}

static uint64_t client_counter (tied_client_t *client, uint64_t offset)
{
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    uint64_t value;

    CHECK_I64 (tied_client_stats (client, &stats), ==, 0);
    memcpy (&value, (const char *)&stats + offset, sizeof value);
    return value;
}
#define CLIENT_COUNTER(client, name)                                                               \
    client_counter ((client), offsetof (struct tied_client_stats, core.name))

/* Late replies come after the volley has ended. */
static void await_client (tied_client_t *client, uint64_t offset, uint64_t value)
{
    tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);

    while (client_counter (client, offset) < value) {
        CHECK_U64 (ti_clock_now (), <, until);
        (void)!tied_client_poll (client, MS (1));
    }
}

/* All copies of the volley have come, nothing waits or runs, and what the replicas have told each
   other has been heard: nothing changes any more, however late one of them is. */
static void settle (struct pair *pair)
{
    struct cluster *cluster = &pair->cluster;

    cluster_await_sum (cluster, "received", pair->volley.copies);
    for (uint32_t i = 0; i < 2; i++) {
        cluster_await_equal (cluster, i, "depth", 0);
        cluster_await_equal (cluster, i, "running", 0);
    }
    for (uint32_t i = 0; i < 2; i++)
        cluster_await_equal (cluster, 1 - i, "started_received",
                             cluster_stat (cluster, i, "started_sent"));
}

/* Both idle, no stagger: the two STARTEDs cross. How often they really do is up to the scheduler,
   so the test goes on until it has happened; the counts of all three must agree about it. */
static void both_start_at_once_and_every_side_counts_the_duplicate (void **state)
{
    struct pair pair = {0};
    uint64_t duplicates = 0;
    uint64_t calls;

    (void)state;
    cluster_run (&pair.cluster, 2, "sleep:fixed(20ms)");
    open_volley (&pair, "work", 400);
    pair.volley.call.stagger_ns = 0;
    while (duplicates < 3) {
        volley_submit (&pair.volley);
        volley_finish (&pair.volley);
        settle (&pair);
        duplicates = cluster_stat (&pair.cluster, 0, "started_late");
    }
    calls = pair.volley.submitted;
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, calls);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "started_late"), ==, duplicates);
    CHECK_U64 (cluster_sum (&pair.cluster, "executed"), ==, calls + duplicates);
    await_client (pair.client, offsetof (struct tied_client_stats, core.duplicates), duplicates);
    CHECK_U64 (CLIENT_COUNTER (pair.client, duplicates), ==, duplicates);
    CHECK_U64 (pair.volley.collected, ==, calls);
    close_pair (&pair);
}

/* Nobody listens where each replica believes its peer to be: no STARTED can be sent, both copies
   run, and the answer says that the sibling was not told. */
static void cancel_that_cannot_be_sent_makes_both_run_and_is_counted (void **state)
{
    struct pair pair = {0};

    (void)state;
    cluster_init (&pair.cluster, 2);
    proxy_free_endpoint (pair.cluster.seen[0][1]);
    proxy_free_endpoint (pair.cluster.seen[1][0]);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&pair.cluster, i, "--workers", "1", "--service", "sleep:fixed(1s)", NULL);
    open_volley (&pair, "work", 1);
    pair.volley.call.stagger_ns = 0;
    volley_submit (&pair.volley);
    for (uint32_t i = 0; i < 2; i++)
        cluster_await (&pair.cluster, i, "executed", 1);
    volley_finish (&pair.volley);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, 1);
    for (uint32_t i = 0; i < 2; i++) {
        cluster_await_equal (&pair.cluster, i, "running", 0);
        CHECK_U64 (cluster_stat (&pair.cluster, i, "started_unsent"), ==, 1);
        CHECK_U64 (cluster_stat (&pair.cluster, i, "executed"), ==, 1);
        CHECK_U64 (cluster_stat (&pair.cluster, i, "sibling_unknown"), ==, 0);
    }
    close_pair (&pair);
}

/* A cluster whose peer links go through proxies: what i sends to j passes proxies[j]. */
static void run_through_peer_proxies (struct pair *pair, const char *service)
{
    cluster_init (&pair->cluster, 2);
    for (uint32_t i = 0; i < 2; i++) {
        pair->proxies[i] = proxy_new (pair->cluster.nodes[i].peer);
        memcpy (pair->cluster.seen[1 - i][i], proxy_endpoint (pair->proxies[i]), 64);
    }
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&pair->cluster, i, "--workers", "1", "--service", service, NULL);
    for (uint32_t i = 0; i < 2; i++)
        cluster_await_links (&pair->cluster, i, 1);
}

/* The link takes STARTED, and the network loses it. */
static void lost_cancel_makes_both_run_and_the_call_ends_once (void **state)
{
    struct pair pair = {0};

    (void)state;
    run_through_peer_proxies (&pair, "sleep:fixed(1s)");
    open_volley (&pair, "work", 1);
    pair.volley.call.stagger_ns = 0;
    for (uint32_t i = 0; i < 2; i++)
        proxy_set (pair.proxies[i], PROXY_TO_TARGET, PROXY_SWALLOW);
    volley_submit (&pair.volley);
    for (uint32_t i = 0; i < 2; i++)
        cluster_await (&pair.cluster, i, "executed", 1);
    volley_finish (&pair.volley);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, 1);
    for (uint32_t i = 0; i < 2; i++) {
        cluster_await_equal (&pair.cluster, i, "running", 0);
        CHECK_U64 (cluster_stat (&pair.cluster, i, "started_sent"), ==, 1);
        CHECK_U64 (cluster_stat (&pair.cluster, i, "started_received"), ==, 0);
    }
    await_client (pair.client, offsetof (struct tied_client_stats, core.duplicates), 1);
    CHECK_U64 (CLIENT_COUNTER (pair.client, duplicates), ==, 1);
    close_pair (&pair);
}

/* The cancel was lost while the copy waited, and the answer says "told": the copy runs for nothing,
   its answer is discarded. */
static void lost_cancel_of_a_waiting_copy_costs_one_execution_and_no_answer (void **state)
{
    struct pair pair = {0};
    struct wire_client blockers[2];

    (void)state;
    run_through_peer_proxies (&pair, OCCUPY_SERVICE);
    for (uint32_t i = 0; i < 2; i++)
        occupy (&pair.cluster, i, &blockers[i]);
    open_volley (&pair, "echo", 1);
    proxy_set (pair.proxies[1], PROXY_TO_TARGET, PROXY_SWALLOW);
    volley_submit (&pair.volley);
    for (uint32_t i = 0; i < 2; i++)
        cluster_await (&pair.cluster, i, "depth", 1);
    release (&blockers[0]);
    volley_finish (&pair.volley);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "depth"), ==, 1);
    release (&blockers[1]);
    cluster_await (&pair.cluster, 1, "executed", 2);
    await_client (pair.client, offsetof (struct tied_client_stats, core.late_replies), 1);
    CHECK_U64 (CLIENT_COUNTER (pair.client, duplicates), ==, 1);
    CHECK_U64 (pair.volley.collected, ==, 1);
    close_pair (&pair);
}

/* The copy to one replica is on its way while the other one starts and says so. */
static void RQ_11_cancel_before_the_copy_leaves_a_tombstone_that_takes_it (void **state)
{
    struct pair pair = {0};

    (void)state;
    cluster_run (&pair.cluster, 2, "echo");
    pair.client = cluster_client_through (&pair.cluster, 1, &pair.proxies[1]);
    volley_init (&pair.volley, pair.client, "work", 1);
    proxy_set (pair.proxies[1], PROXY_TO_TARGET, PROXY_HOLD);
    pair.volley.call.stagger_ns = 0;
    volley_submit (&pair.volley);
    volley_finish (&pair.volley);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, 1);
    CHECK_U64 (pair.volley.copies, ==, 2);
    CHECK_U64 (pair.volley.last.winner, ==, 0);
    cluster_await (&pair.cluster, 1, "started_early", 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "received"), ==, 0);
    proxy_set (pair.proxies[1], PROXY_TO_TARGET, PROXY_PASS);
    cluster_await (&pair.cluster, 1, "tombstoned", 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "executed"), ==, 0);
    CHECK_U64 (cluster_stat (&pair.cluster, 0, "executed"), ==, 1);
    CHECK_U64 (CLIENT_COUNTER (pair.client, late_replies), ==, 0);
    close_pair (&pair);
}

/* Workers busy and queues full everywhere. */
static void both_copies_rejected_end_the_call_as_not_executed (void **state)
{
    struct pair pair = {0};
    struct wire_client blockers[2];
    uint64_t executed;

    (void)state;
    cluster_init (&pair.cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&pair.cluster, i, "--workers", "1", "--queue-depth", "1", "--hedge-depth",
                       "1", "--service", OCCUPY_SERVICE, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        struct tied_message filler = wire_request (2, 0, "work", "", 0);
        cluster_await_links (&pair.cluster, i, 1);
        occupy (&pair.cluster, i, &blockers[i]);
        wire_send (&blockers[i], &filler);
        cluster_await (&pair.cluster, i, "depth", 1);
    }
    executed = cluster_sum (&pair.cluster, "executed");
    open_volley (&pair, "work", 1);
    /* The reason is that of the first refusal: the second copy goes only after it. */
    pair.volley.call.stagger_ns = S (3600);
    volley_submit (&pair.volley);
    volley_finish (&pair.volley);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_REJECTED], ==, 1);
    CHECK_STR (tied_reject_name ((int)pair.volley.last.reject), "full");
    CHECK_FALSE (pair.volley.last.may_have_executed);
    CHECK_U64 (pair.volley.last.latency_ns, <, CHECK_SOON);
    CHECK_U64 (pair.volley.copies, >=, 2);
    CHECK_U64 (cluster_sum (&pair.cluster, "rejected"), ==, pair.volley.copies);
    CHECK_U64 (cluster_sum (&pair.cluster, "executed"), ==, executed);
    for (uint32_t i = 0; i < 2; i++) {
        struct tied_message cancel = wire_cancel (2, TIED_CANCEL_CALLER);
        wire_send (&blockers[i], &cancel);
        release (&blockers[i]);
    }
    close_pair (&pair);
}

/* Replicas that were never told of each other: the ids in the requests mean nothing to them. */
static void sibling_that_is_no_peer_is_served_untied_and_counted (void **state)
{
    struct pair pair = {0};
    struct wire_client client;
    struct tied_message request = wire_tied_request (1, 0, "echo", "nobody");

    (void)state;
    cluster_init (&pair.cluster, 2);
    pair.cluster.seen[0][1][0] = 0;
    pair.cluster.seen[1][0][0] = 0;
    /* No queue is too long for second copies. */
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&pair.cluster, i, "--workers", "1", "--hedge-depth", "100", "--service",
                       "sleep:fixed(100ms)", NULL);
    open_volley (&pair, "work", 10);
    pair.volley.call.stagger_ns = 0;
    volley_fire (&pair.volley, 10, 2);
    volley_finish (&pair.volley);
    settle (&pair);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, 10);
    CHECK_U64 (pair.volley.copies, ==, 20);
    wire_open (&client, pair.cluster.nodes[0].client);
    wire_send (&client, &request);
    wire_expect (&client, TIED_WIRE_REPLY);
    CHECK_U64 (client.in.u.reply.flags & TIED_REPLY_SIBLING_TOLD, ==, 0);
    wire_close (&client);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_U64 (cluster_stat (&pair.cluster, i, "sibling_unknown"), ==, i == 0 ? 11 : 10);
        CHECK_U64 (cluster_stat (&pair.cluster, i, "started_sent"), ==, 0);
    }
    close_pair (&pair);
}

/* The loser of a race still runs, with a large answer on the way to the client. */
static void CL_10_a_large_reply_arrives_whole_while_the_other_copy_is_cancelled (void **state)
{
    enum {
        SIZE = 8 << 20
    };
    struct pair pair = {0};
    struct tied_call call;
    struct tied_reply reply;
    unsigned char *body = malloc (SIZE);

    (void)state;
    CHECK_TRUE (body != NULL);
    for (uint32_t i = 0; i < SIZE; i++)
        body[i] = (unsigned char)(i * 2654435761u >> 13);
    cluster_init (&pair.cluster, 2);
    pair.cluster.seen[0][1][0] = 0;
    pair.cluster.seen[1][0][0] = 0;
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&pair.cluster, i, "--workers", "1", "--service", i ? OCCUPY_SERVICE : "echo",
                       NULL);
    pair.client = cluster_client (&pair.cluster, NULL);
    tied_call_init (&call, "work", body, SIZE);
    call.is_idempotent = true;
    call.stagger_ns = 0;
    call.timeout_ns = CHECK_PATIENCE;
    CHECK_I64 (tied_client_call (pair.client, &call, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    CHECK_STR (reply.winner_id, "a");
    CHECK_U64 (reply.body_size, ==, SIZE);
    CHECK_MEM (reply.body, body, SIZE);
    tied_reply_release (&reply);
    CHECK_U64 (CLIENT_COUNTER (pair.client, cancels_sent), ==, 1);
    cluster_await (&pair.cluster, 1, "cancel_received", 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 0, "cancel_received"), ==, 0);
    free (body);
    close_pair (&pair);
}

/* ZQ-09: replicas configured alike, both ways at once; nothing may get lost on the way. */
static void ZQ_09_RQ_12_crossing_cancels_all_arrive_and_none_is_answered (void **state)
{
    struct pair pair = {0};
    uint32_t calls = (uint32_t)check_scale (10000);
    tied_time_t begin = ti_clock_now ();
    uint64_t frames = 4; /* HELLO and WELCOME, each way */
    uint64_t seen;

    (void)state;
    cluster_run (&pair.cluster, 2, "echo");
    open_volley (&pair, "echo", calls);
    pair.volley.call.stagger_ns = 0;
    volley_fire (&pair.volley, calls, 64);
    volley_finish (&pair.volley);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, calls);
    settle (&pair);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t sent = cluster_stat (&pair.cluster, i, "started_sent");
        CHECK_U64 (cluster_stat (&pair.cluster, i, "started_unsent"), ==, 0);
        CHECK_U64 (sent, >, 0);
        CHECK_U64 (sent, <=, cluster_stat (&pair.cluster, i, "executed"));
        frames += sent + cluster_stat (&pair.cluster, i, "untie_sent");
    }
    /* On the peer links there is nothing but those and the greetings, which each side may repeat
       once a second while it has something to say. */
    while ((seen = cluster_sum (&pair.cluster, "frames_peer")) < frames)
        CHECK_U64 (ti_clock_now () - begin, <, 5 * CHECK_PATIENCE);
    CHECK_U64 (seen, <=, frames + 4 * ((ti_clock_now () - begin) / S (1)));
    CHECK_U64 (CLIENT_COUNTER (pair.client, cancels_sent), <=, 2 * (uint64_t)calls);
    close_pair (&pair);
}

/* Both peer links stand still while both replicas start and cancel as fast as they can: calls go
   on, and when the links move again all is counted. */
static void CL_05_stuck_cancel_links_do_not_stop_the_calls (void **state)
{
    struct pair pair = {0};
    uint32_t calls = (uint32_t)check_scale (10000);

    (void)state;
    run_through_peer_proxies (&pair, "echo");
    open_volley (&pair, "echo", calls);
    pair.volley.call.stagger_ns = 0;
    pair.volley.call.timeout_ns = CHECK_PATIENCE;
    for (uint32_t i = 0; i < 2; i++)
        proxy_set (pair.proxies[i], PROXY_TO_TARGET, PROXY_HOLD);
    volley_fire (&pair.volley, calls, 64);
    volley_finish (&pair.volley);
    CHECK_U64 (pair.volley.outcomes[TIED_OUTCOME_OK], ==, calls);
    for (uint32_t i = 0; i < 2; i++)
        proxy_set (pair.proxies[i], PROXY_TO_TARGET, PROXY_PASS);
    settle (&pair);
    close_pair (&pair);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (both_start_at_once_and_every_side_counts_the_duplicate),
        TEST (cancel_that_cannot_be_sent_makes_both_run_and_is_counted),
        TEST (lost_cancel_makes_both_run_and_the_call_ends_once),
        TEST (lost_cancel_of_a_waiting_copy_costs_one_execution_and_no_answer),
        TEST (RQ_11_cancel_before_the_copy_leaves_a_tombstone_that_takes_it),
        TEST (both_copies_rejected_end_the_call_as_not_executed),
        TEST (sibling_that_is_no_peer_is_served_untied_and_counted),
        TEST (CL_10_a_large_reply_arrives_whole_while_the_other_copy_is_cancelled),
        TEST (ZQ_09_RQ_12_crossing_cancels_all_arrive_and_none_is_answered),
        TEST (CL_05_stuck_cancel_links_do_not_stop_the_calls),
    };
    return cmocka_run_group_tests_name ("ties", tests, NULL, NULL);
}
