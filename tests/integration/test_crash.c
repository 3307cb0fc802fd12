/* SPDX-License-Identifier: MIT */
/* Replicas that are killed and replicas that come back, as real processes under real calls. */
#include "cluster.h"
#include "occupy.h"
#include "proxy.h"
#include "volley.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#define BOUND MS (PROCESS_BOUND_MS)

/* The survivor was told of the start before the copy came to it, which is held on its way, so a
   tombstone waits for it and takes it. Only the re-issue, with its new number, passes. */
static void killed_starter_is_replaced_by_a_replica_that_holds_a_tombstone (void **state)
{
    struct cluster cluster;
    struct proxy *proxy;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_init (&cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "1", "--service", i == 0 ? OCCUPY_SERVICE : "echo",
                       NULL);
    for (uint32_t i = 0; i < 2; i++)
        cluster_await_links (&cluster, i, 1);
    client = cluster_client_through (&cluster, 1, &proxy);
    volley_init (&volley, client, "work", 1);
    volley.call.timeout_ns = CHECK_PATIENCE;
    volley.call.stagger_ns = 0;
    proxy_set (proxy, PROXY_TO_TARGET, PROXY_HOLD);
    volley_submit (&volley);
    cluster_await (&cluster, 1, "started_early", 1);
    CHECK_U64 (cluster_stat (&cluster, 1, "received"), ==, 0);
    proxy_set (proxy, PROXY_TO_TARGET, PROXY_PASS);
    cluster_await (&cluster, 1, "tombstoned", 1);
    CHECK_U64 (cluster_stat (&cluster, 1, "executed"), ==, 0);
    cluster_kill (&cluster, 0);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 1);
    CHECK_U64 (volley.last.winner, ==, 1);
    CHECK_U64 (volley.last.winner_copy, >=, 2);
    CHECK_U64 (cluster_stat (&cluster, 1, "executed"), ==, 1);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
    proxy_destroy (&proxy);
}

/* The same when the copy waited in the survivor's queue and was dropped from it. */
static void killed_starter_is_replaced_by_a_replica_that_dropped_its_copy (void **state)
{
    struct cluster cluster;
    struct wire_client blockers[2];
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 2, OCCUPY_SERVICE);
    for (uint32_t i = 0; i < 2; i++)
        occupy (&cluster, i, &blockers[i]);
    client = cluster_client (&cluster, NULL);
    volley_init (&volley, client, "work", 1);
    volley.call.timeout_ns = CHECK_PATIENCE;
    volley_submit (&volley);
    for (uint32_t i = 0; i < 2; i++)
        cluster_await (&cluster, i, "depth", 1);
    release (&blockers[0]);
    cluster_await (&cluster, 1, "started_effective", 1);
    CHECK_U64 (cluster_stat (&cluster, 1, "depth"), ==, 0);
    cluster_kill (&cluster, 0);
    cluster_await (&cluster, 1, "depth", 1);
    /* It runs now; a minute of work is cut short by giving up. */
    release (&blockers[1]);
    cluster_await (&cluster, 1, "executed", 2);
    CHECK_FALSE (volley_collect (&volley, 0));
    tied_client_destroy (&client);
    volley_free (&volley);
    cluster_await (&cluster, 1, "cancel_running", 2);
    cluster_close (&cluster);
}

/* RQ-20: what waited at the dead replica without a tie runs elsewhere, too. */
static void RQ_20_queued_untied_calls_of_a_killed_replica_are_issued_again (void **state)
{
    struct cluster cluster;
    struct wire_client blocker;
    struct tied_client_options options;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_init (&cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "1", "--service", OCCUPY_SERVICE, NULL);
    occupy (&cluster, 0, &blocker);
    tied_client_options_init (&options);
    options.core.pick = TIED_PICK_ROUND_ROBIN; /* also the busy one */
    client = cluster_client (&cluster, &options);
    volley_init (&volley, client, "echo", 200);
    volley.call.mode = TIED_MODE_SINGLE;
    volley.call.timeout_ns = CHECK_PATIENCE;
    while (volley.submitted < 200)
        volley_submit (&volley);
    /* Half went to the idle replica and ended, the others wait. */
    cluster_await (&cluster, 0, "depth", 1);
    wire_close (&blocker);
    cluster_kill (&cluster, 0);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 200);
    CHECK_U64 (volley.reissued, >=, 1);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

static uint64_t number (const json_t *object, const char *name)
{
    const json_t *value = json_object_get (object, name);

    CHECK_TRUE (json_is_integer (value));
    return (uint64_t)json_integer_value (value);
}

static void check_report (const char *path)
{
    json_t *report = json_load_file (path, 0, NULL);
    const json_t *policies = json_object_get (report, "policies");
    const json_t *policy = json_array_get (policies, 0);
    const json_t *outcomes = json_object_get (policy, "outcomes");
    uint64_t calls = number (policy, "calls");
    double max =
        json_number_value (json_object_get (json_object_get (policy, "latency_ms"), "max"));
    double lateness = json_number_value (json_object_get (policy, "lateness_max_ms"));
    uint64_t sum = 0;
    const char *name;
    json_t *value;

    CHECK_U64 (json_array_size (policies), ==, 1);
    json_object_foreach ((json_t *)(uintptr_t)outcomes, name, value)
    {
        sum += (uint64_t)json_integer_value (value);
    }
    CHECK_U64 (calls, >, 100);
    CHECK_U64 (sum, ==, calls);
    /* One replica of three is no reason to give up any call, nor to keep it until its deadline. */
    CHECK_U64 (number (outcomes, "ok"), ==, calls);
    CHECK_DBL (max, <, (double)CHECK_SOON / 1e6 + lateness);
    json_decref (report);
}

/* The victim dies in the middle of the measurement of `tied-client bench --policy tied`. */
static void bench_survives_a_kill (uint32_t victim)
{
    struct cluster cluster;
    struct process *bench;
    char pairs[3][80];
    char path[] = "tied-test-XXXXXX";
    int fd = mkstemp (path);

    CHECK_I64 (fd, >=, 0);
    cluster_init (&cluster, 3);
    for (uint32_t i = 0; i < 3; i++)
        cluster_start (&cluster, i, "--workers", "2", "--service", "sleep:exp(3ms)", NULL);
    for (uint32_t i = 0; i < 3; i++) {
        cluster_await_links (&cluster, i, 2);
        (void)snprintf (pairs[i], sizeof pairs[i], "%s=%s", cluster.nodes[i].id,
                        cluster.nodes[i].client);
    }
    const char *const argv[] = {
        TIED_CLIENT_PROGRAM, "bench",  "--replica", pairs[0], "--replica", pairs[1],
        "--replica",         pairs[2], "--policy",  "tied",   "--rate",    "300",
        "--duration",        "1500ms", "--warmup",  "0s",     "--slices",  "1",
        "--timeout",         "60s",    "--json",    path,     NULL};
    bench = process_start (argv);
    /* One that is slow is chosen rarely. */
    cluster_await (&cluster, victim, "executed", 1);
    cluster_kill (&cluster, victim);
    if (process_wait (bench) != 0)
        print_error ("%s\n", process_errors (bench));
    CHECK_I64 (process_wait (bench), ==, 0);
    check_report (path);
    process_free (&bench);
    (void)close (fd);
    (void)unlink (path);
    cluster_close (&cluster);
}

static void kill_of_any_of_three_replicas_during_bench_loses_no_call (void **state)
{
    (void)state;
    for (uint32_t victim = 0; victim < 3; victim++)
        bench_survives_a_kill (victim);
}

/* Nobody is left who could tell its counters, turn after turn: that is found out once. */
static void bench_of_replicas_that_all_died_ends_soon (void **state)
{
    struct cluster cluster;
    struct process *bench;
    char pairs[2][80];
    tied_time_t killed;

    (void)state;
    cluster_init (&cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "2", NULL);
    for (uint32_t i = 0; i < 2; i++) {
        cluster_await_links (&cluster, i, 1);
        (void)snprintf (pairs[i], sizeof pairs[i], "%s=%s", cluster.nodes[i].id,
                        cluster.nodes[i].client);
    }
    const char *const argv[] = {TIED_CLIENT_PROGRAM, "bench",  "--replica",  pairs[0],
                                "--replica",         pairs[1], "--policy",   "single",
                                "--outstanding",     "2",      "--duration", "1s",
                                "--warmup",          "0s",     "--slices",   "6",
                                "--timeout",         "3s",     NULL};
    bench = process_start (argv);
    cluster_await (&cluster, 0, "executed", 1);
    killed = ti_clock_now ();
    for (uint32_t i = 0; i < 2; i++)
        cluster_kill (&cluster, i);
    CHECK_I64 (process_wait (bench), ==, 0);
    /* 1 s of slices, each with up to 3 s for its last calls, and a few looks of 2 s; 12 s of looks
       if each waited as long as for a replica that lives. */
    CHECK_U64 (ti_clock_now () - killed, <, S (27));
    process_free (&bench);
    cluster_close (&cluster);
}

/* The same through the library, where each single call can be watched. */
static void kill_of_any_of_three_replicas_ends_every_call_exactly_once (void **state)
{
    (void)state;
    for (uint32_t victim = 0; victim < 3; victim++) {
        struct cluster cluster;
        struct volley volley;
        tied_client_t *client;
        uint32_t each = (uint32_t)check_scale (600) + 60;

        cluster_run (&cluster, 3, "sleep:exp(2ms)");
        client = cluster_client (&cluster, NULL);
        volley_init (&volley, client, "work", 2 * each);
        volley_fire (&volley, each, 12);
        /* With copies of the volley in its queue and in its worker. */
        cluster_kill (&cluster, victim);
        volley_fire (&volley, each, 12);
        volley_finish (&volley);
        CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 2 * each);
        volley_free (&volley);
        tied_client_destroy (&client);
        cluster_close (&cluster);
    }
}

/* Without declared idempotence a call at the dead replica ends at once, and says that it may have
   run; it never runs a second time. */
static void kill_ends_undeclared_calls_as_unavailable_and_runs_none_twice (void **state)
{
    struct cluster cluster;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 1, OCCUPY_SERVICE);
    client = cluster_client (&cluster, NULL);
    volley_init (&volley, client, "work", 5);
    volley.call.is_idempotent = false;
    volley.call.timeout_ns = CHECK_PATIENCE;
    while (volley.submitted < 5)
        volley_submit (&volley);
    cluster_await (&cluster, 0, "received", 5);
    cluster_kill (&cluster, 0);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_UNAVAILABLE], ==, 5);
    CHECK_TRUE (volley.last.may_have_executed);
    CHECK_U64 (volley.copies, ==, 5);
    CHECK_U64 (volley.last.latency_ns, <, CHECK_SOON);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* Same id, same endpoints, another incarnation, while calls go on. The volley checks each answer's
   number, so a stale or foreign one would show. */
static void restarts_under_load_deliver_no_stale_or_foreign_reply (void **state)
{
    struct cluster cluster;
    struct volley volley;
    tied_client_t *client;
    struct tied_client_replica replica;
    uint32_t rounds = (uint32_t)check_scale (400) / 100 + 1;
    uint64_t incarnation = 0;

    (void)state;
    cluster_run (&cluster, 2, "sleep:exp(2ms)");
    client = cluster_client (&cluster, NULL);
    volley_init (&volley, client, "work", rounds * 300);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t victim = round % 2;

        volley_fire (&volley, 100, 8);
        CHECK_I64 (tied_client_replica (client, cluster.nodes[victim].id, &replica), ==, 0);
        incarnation = replica.incarnation;
        cluster_kill (&cluster, victim);
        volley_fire (&volley, 100, 8);
        cluster_start (&cluster, victim, "--workers", "1", "--service", "sleep:exp(2ms)", NULL);
        volley_fire (&volley, 100, 8);
        CHECK_I64 (tied_client_wait_ready (client, 2, BOUND), ==, 0);
        CHECK_I64 (tied_client_replica (client, cluster.nodes[victim].id, &replica), ==, 0);
        CHECK_U64 (replica.incarnation, !=, incarnation);
    }
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, volley.submitted);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* ZQ-10: calls of the time while it was down end by then, and the new instance runs none of them.
 */
static void ZQ_10_a_restarted_replica_runs_nothing_from_before (void **state)
{
    struct cluster cluster;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 1, "echo");
    client = cluster_client (&cluster, NULL);
    cluster_kill (&cluster, 0);
    volley_init (&volley, client, "echo", 101);
    volley.call.timeout_ns = MS (100);
    while (volley.submitted < 100)
        volley_submit (&volley);
    volley_finish (&volley);
    /* Those that were written before the broken connection was noticed may have run. */
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_UNAVAILABLE] + volley.outcomes[TIED_OUTCOME_DEADLINE],
               ==, 100);
    cluster_start (&cluster, 0, NULL);
    CHECK_I64 (tied_client_wait_ready (client, 1, BOUND), ==, 0);
    volley.call.timeout_ns = CHECK_PATIENCE;
    volley_submit (&volley);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 1);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 1);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* ZQ-08: the link that cancels go over comes back after each restart. */
static void ZQ_08_cancels_work_again_after_each_restart_of_the_sibling (void **state)
{
    struct cluster cluster;
    struct wire_client blocker;
    uint32_t rounds = (uint32_t)check_scale (400) / 100 + 1;

    (void)state;
    cluster_run (&cluster, 2, OCCUPY_SERVICE);
    for (uint32_t round = 0; round < rounds; round++) {
        struct wire_client clients[2];

        occupy (&cluster, 1, &blocker);
        for (uint32_t i = 0; i < 2; i++)
            wire_open (&clients[i], cluster.nodes[i].client);
        struct tied_message waiting = wire_tied_request (100 + round, 1, "echo", "a");
        wire_send (&clients[1], &waiting);
        cluster_await (&cluster, 1, "depth", 1);
        struct tied_message starting = wire_tied_request (100 + round, 0, "echo", "b");
        wire_send (&clients[0], &starting);
        wire_expect (&clients[0], TIED_WIRE_REPLY);
        CHECK_U64 (clients[0].in.u.reply.flags & TIED_REPLY_SIBLING_TOLD, !=, 0);
        cluster_await (&cluster, 1, "started_effective", 1);
        wire_close (&blocker);
        for (uint32_t i = 0; i < 2; i++)
            wire_close (&clients[i]);
        uint64_t frames = cluster_stat (&cluster, 0, "frames_peer");
        cluster_kill (&cluster, 1);
        cluster_start (&cluster, 1, "--workers", "1", "--service", OCCUPY_SERVICE, NULL);
        cluster_await (&cluster, 0, "frames_peer", frames + 2);
        cluster_await_links (&cluster, 1, 1);
    }
    cluster_close (&cluster);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (killed_starter_is_replaced_by_a_replica_that_holds_a_tombstone),
        TEST (killed_starter_is_replaced_by_a_replica_that_dropped_its_copy),
        TEST (RQ_20_queued_untied_calls_of_a_killed_replica_are_issued_again),
        TEST (kill_of_any_of_three_replicas_during_bench_loses_no_call),
        TEST (bench_of_replicas_that_all_died_ends_soon),
        TEST (kill_of_any_of_three_replicas_ends_every_call_exactly_once),
        TEST (kill_ends_undeclared_calls_as_unavailable_and_runs_none_twice),
        TEST (restarts_under_load_deliver_no_stale_or_foreign_reply),
        TEST (ZQ_10_a_restarted_replica_runs_nothing_from_before),
        TEST (ZQ_08_cancels_work_again_after_each_restart_of_the_sibling),
    };
    return cmocka_run_group_tests_name ("crash", tests, NULL, NULL);
}
