/* SPDX-License-Identifier: MIT */
/* What the programs say to wrong command lines, occupied endpoints and bad lists of replicas. */
#include "cluster.h"
#include "proxy.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#define ARGS_MAX 20
/* It takes as long as it takes to reach a replica that is there. */
#define PATIENT "--timeout", "60s"

/* Run to the end. The texts live until process_free (). */
static struct process *run (const char *program, const char *const args[])
{
    const char *argv[ARGS_MAX + 2] = {program};
    struct process *process;
    size_t i = 0;

    for (; args[i]; i++) {
        CHECK_U64 (i, <, ARGS_MAX);
        argv[1 + i] = args[i];
    }
    argv[1 + i] = NULL;
    process = process_start (argv);
    (void)process_wait (process);
    return process;
}

static uint32_t lines_of (const char *text)
{
    uint32_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* One line on standard error that holds `named`, nothing on standard output. */
static void
check_refusal (const char *program, const char *const args[], int code, const char *named)
{
    struct process *process = run (program, args);
    const char *errors = process_errors (process);

    if (process_wait (process) != code || lines_of (errors) != 1 || !strstr (errors, named))
        print_error ("%s: exit %d, says: %s, expected: exit %d, %s\n", program,
                     process_wait (process), errors, code, named);
    CHECK_I64 (process_wait (process), ==, code);
    CHECK_U64 (lines_of (errors), ==, 1);
    CHECK_TRUE (strstr (errors, named) != NULL);
    CHECK_STR (process_output (process), "");
    process_free (&process);
}

struct refusal {
    const char *args[ARGS_MAX];
    const char *named;
};

#define REPLICA_ "--id", "a", "--bind", "tcp://127.0.0.1:*"
#define CLIENT_  "--replica", "a=tcp://127.0.0.1:1"

static void wrong_command_line_of_the_replica_is_one_line_and_exit_2 (void **state)
{
    static const struct refusal refusals[] = {
        {{REPLICA_, "--wrokers", "2", NULL}, "--wrokers"},
        {{REPLICA_, "--workers", "0", NULL}, "--workers"},
        {{REPLICA_, "--workers", "many", NULL}, "many"},
        {{REPLICA_, "--workers", NULL}, "--workers"},
        {{REPLICA_, "--queue-depth", "-1", NULL}, "--queue-depth"},
        {{REPLICA_, "--queue-depth", "4", "--hedge-depth", "5", NULL}, "--hedge-depth"},
        {{REPLICA_, "--service", "sleep:exp(10)", NULL}, "sleep:exp(10)"},
        {{REPLICA_, "--service", "dance", NULL}, "dance"},
        {{REPLICA_, "--pause", "4s", NULL}, "4s"},
        {{REPLICA_, "--pause", "every:4s,4s", NULL}, "every:4s,4s"},
        {{REPLICA_, "--pause", "every:4s,1s", "--mode", "inline", NULL}, "--mode inline"},
        {{REPLICA_, "--hedge-lane", "left", NULL}, "left"},
        {{REPLICA_, "--body-max", "65MiB", NULL}, "65MiB"},
        {{REPLICA_, "--peer", "b", NULL}, "--peer"},
        {{REPLICA_, "--peer", "a=tcp://127.0.0.1:1", NULL}, "--peer a"},
        {{REPLICA_, "--peer", "b=tcp://h:1", "--peer", "b=tcp://h:2", NULL}, "given before"},
        {{REPLICA_, "extra", NULL}, "extra"},
        {{"--id", "a b", "--bind", "tcp://127.0.0.1:*", NULL}, "a b"},
        {{"--id", "a", "--bind", "127.0.0.1", NULL}, "127.0.0.1"},
        {{"--id", "a", NULL}, "--bind"},
        {{"--bind", "tcp://127.0.0.1:*", NULL}, "--id"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal (TIED_REPLICA_PROGRAM, refusals[i].args, 2, refusals[i].named);
}

static void wrong_command_line_of_the_client_is_one_line_and_exit_2 (void **state)
{
    static const struct refusal refusals[] = {
        {{"call", CLIENT_, "--tiemout", "1s", "echo", NULL}, "--tiemout"},
        {{"call", CLIENT_, "--timeout", "1", "echo", NULL}, "--timeout"},
        {{"call", CLIENT_, "--mode", "triple", "echo", NULL}, "triple"},
        {{"call", CLIENT_, "--key", "", "echo", NULL}, "--key"},
        {{"call", CLIENT_, "--key",
          "a2345678901234567890123456789012345678901234567890123456789012345", "echo", NULL},
         "1 to 64 bytes"},
        {{"bench", CLIENT_, "--rate", "5", "--key", "k", NULL}, "--key"},
        {{"call", CLIENT_, NULL}, "METHOD"},
        {{"call", CLIENT_, "", NULL}, "METHOD"},
        {{"call", CLIENT_, "a", "b", "c", NULL}, "c"},
        {{"call", "echo", NULL}, "--replica"},
        {{"call", "--replica", "a", "echo", NULL}, "--replica"},
        {{"call", "--replica", "=tcp://127.0.0.1:1", "echo", NULL}, "--replica"},
        {{"dance", CLIENT_, NULL}, "dance"},
        {{CLIENT_, NULL}, "command"},
        {{"ping", CLIENT_, "--rate", "5", NULL}, "--rate"},
        {{"bench", CLIENT_, NULL}, "--rate"},
        {{"bench", CLIENT_, "--rate", "-5", NULL}, "-5"},
        {{"bench", CLIENT_, "--rate", "5", "--outstanding", "1", NULL}, "--outstanding"},
        {{"bench", CLIENT_, "--rate", "5", "--policy", "tide", NULL}, "tide"},
        {{"bench", CLIENT_, "--rate", "5", "--policy", "tied", "--policy", "tied", NULL}, "twice"},
        {{"bench", CLIENT_, "--outstanding", "0", NULL}, "--outstanding"},
        {{"bench", CLIENT_, "--rate", "5", "--body-size", "9MiB", NULL}, "9MiB"},
        {{"bench", CLIENT_, "--rate", "5", "--method", "a b", NULL}, "--method \"a b\""},
        {{"call", CLIENT_, "a\nb", NULL}, "METHOD"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal (TIED_CLIENT_PROGRAM, refusals[i].args, 2, refusals[i].named);
}

static void endpoint_in_use_is_named_and_exit_1 (void **state)
{
    struct cluster cluster;
    const char *const *list;
    char busy[64];

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, NULL);
    list = (const char *const[]){"--id", "b", "--bind", cluster.nodes[0].client, NULL};
    check_refusal (TIED_REPLICA_PROGRAM, list, 1, cluster.nodes[0].client);
    check_refusal (TIED_REPLICA_PROGRAM, list, 1, "in use");
    list = (const char *const[]){
        "--id", "b", "--bind", "tcp://127.0.0.1:*", "--peer-bind", cluster.nodes[0].peer, NULL};
    check_refusal (TIED_REPLICA_PROGRAM, list, 1, cluster.nodes[0].peer);
    /* One that serves keeps serving, and one endpoint for both is refused, too. */
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 0);
    proxy_free_endpoint (busy);
    list = (const char *const[]){"--id", "b", "--bind", busy, "--peer-bind", busy, NULL};
    check_refusal (TIED_REPLICA_PROGRAM, list, 1, busy);
    list = (const char *const[]){"--id", "b", "--bind", "tcp://203.0.113.7:1", NULL};
    check_refusal (TIED_REPLICA_PROGRAM, list, 1, "tcp://203.0.113.7:1");
    cluster_close (&cluster);
}

/* A stats file that cannot be written shows before anything is served. */
static void unwritable_stats_file_is_named_and_exit_1 (void **state)
{
    const char *const list[] = {REPLICA_, "--stats", "/nonexistent/stats.json", NULL};

    (void)state;
    check_refusal (TIED_REPLICA_PROGRAM, list, 1, "/nonexistent/stats.json");
}

/* Before anything is measured: the replicas do not even exist. */
static void unwritable_results_are_named_before_the_measurement (void **state)
{
    static const struct refusal refusals[] = {
        {{"bench", CLIENT_, "--rate", "5", "--json", "/nowhere/x", NULL}, "/nowhere/x: No such"},
        {{"bench", CLIENT_, "--rate", "5", "--report", "/nowhere/x", NULL}, "/nowhere/x: No such"},
        {{"bench", CLIENT_, "--rate", "5", "--record", "/nowhere/x", NULL}, "/nowhere/x: No such"},
        {{"bench", CLIENT_, "--rate", "5", "--json", "/tmp", NULL}, "/tmp: Is a directory"},
        {{"advise", CLIENT_, "--json", "/nowhere/x", NULL}, "/nowhere/x: No such"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal (TIED_CLIENT_PROGRAM, refusals[i].args, 1, refusals[i].named);
}

/* A program with its standard streams as `streams` says, in the words of the shell. */
static struct process *run_with (const char *streams, const char *const args[])
{
    const char *argv[ARGS_MAX] = {"-c", NULL};
    char script[64];
    size_t i = 0;

    (void)snprintf (script, sizeof script, "exec \"$0\" \"$@\" %s", streams);
    argv[1] = script;
    for (; args[i]; i++) {
        CHECK_U64 (i + 2, <, ARGS_MAX - 1);
        argv[i + 2] = args[i];
    }
    argv[i + 2] = NULL;
    return run ("/bin/sh", argv);
}

static void what_does_not_arrive_at_standard_output_is_an_error (void **state)
{
    struct cluster cluster;
    struct process *process;
    char pair[80];

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, NULL);
    (void)snprintf (pair, sizeof pair, "a=%s", cluster.nodes[0].client);
    const char *const lines[][8] = {{TIED_CLIENT_PROGRAM, "ping", "--replica", pair, PATIENT},
                                    {TIED_CLIENT_PROGRAM, "stats", "--replica", pair, PATIENT},
                                    {TIED_CLIENT_PROGRAM, "--help"},
                                    {TIED_CLIENT_PROGRAM, "--version"},
                                    {TIED_REPLICA_PROGRAM, "--help"},
                                    {TIED_REPLICA_PROGRAM, REPLICA_}, /* nobody heard: ready */
                                    {TIED_SIM_PROGRAM, "--version"}};
    const char *const streams[] = {">/dev/full", ">&-"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t k = 0; k < 2; k++) {
            process = run_with (streams[k], lines[i]);
            CHECK_I64 (process_wait (process), ==, 1);
            CHECK_TRUE (strstr (process_errors (process), "standard output: ") != NULL);
            process_free (&process);
        }
    }
    cluster_close (&cluster);
}

/* The first file that is opened would get the number of the stream that is closed. */
static void what_is_printed_to_a_closed_stream_gets_into_no_file (void **state)
{
    const char *const streams[] = {"2>&-", ">&- 2>&-", "<&- >&- 2>&-"};
    char path[] = "tied-test-XXXXXX", pair[80], text[256];
    struct cluster cluster;
    int fd = mkstemp (path);

    (void)state;
    CHECK_I64 (fd, >=, 0);
    (void)close (fd);
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, NULL);
    (void)snprintf (pair, sizeof pair, "a=%s", cluster.nodes[0].client);
    const char *const args[] = {
        TIED_CLIENT_PROGRAM, "bench", "--replica", pair, "--rate",   "200", "--policy", "single",
        "--duration",        "200ms", "--warmup",  "0s", "--record", path,  PATIENT,    NULL};

    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct process *process = run_with (streams[i], args);
        FILE *file = fopen (path, "r");
        uint32_t lines = 0;

        CHECK_TRUE (file != NULL);
        for (; fgets (text, sizeof text, file); lines++) {
            uint32_t commas = 0;

            for (const char *c = text; *c; c++)
                commas += *c == ',';
            CHECK_U64 (commas, ==, 8);
            if (lines == 0)
                CHECK_TRUE (strncmp (text, "t_us,", 5) == 0);
        }
        CHECK_U64 (lines, >, 1);
        (void)fclose (file);
        process_free (&process);
    }
    cluster_close (&cluster);
    (void)unlink (path);
}

static void call (struct process **out, const char *const args[], int code)
{
    *out = run (TIED_CLIENT_PROGRAM, args);
    if (process_wait (*out) != code)
        print_error ("exit %d: %s\n", process_wait (*out), process_errors (*out));
    CHECK_I64 (process_wait (*out), ==, code);
}

static void repeated_replica_id_is_a_warning_and_the_call_completes (void **state)
{
    struct cluster cluster;
    struct process *process;
    char pairs[3][80];

    (void)state;
    cluster_run (&cluster, 2, "echo");
    for (int i = 0; i < 2; i++)
        (void)snprintf (pairs[i], sizeof pairs[i], "%s=%s", cluster.nodes[i].id,
                        cluster.nodes[i].client);
    (void)snprintf (pairs[2], sizeof pairs[2], "a=tcp://127.0.0.1:1");
    call (&process,
          (const char *const[]){"call", "--replica", pairs[0], "--replica", pairs[2], "--replica",
                                pairs[1], PATIENT, "echo", "hi", NULL},
          0);
    CHECK_STR (process_output (process), "hi");
    CHECK_U64 (lines_of (process_errors (process)), ==, 1);
    CHECK_TRUE (strstr (process_errors (process), "a=tcp://127.0.0.1:1") != NULL);
    process_free (&process);
    cluster_close (&cluster);
}

static void unreachable_replica_in_the_list_does_not_harm_the_call (void **state)
{
    struct cluster cluster;
    struct process *process;
    char pairs[2][80];

    (void)state;
    cluster_run (&cluster, 1, "echo");
    (void)snprintf (pairs[0], sizeof pairs[0], "z=tcp://127.0.0.1:1");
    (void)snprintf (pairs[1], sizeof pairs[1], "a=%s", cluster.nodes[0].client);
    call (&process,
          (const char *const[]){"call", "-v", "--replica", pairs[0], "--replica", pairs[1], PATIENT,
                                "echo", "hi", NULL},
          0);
    CHECK_STR (process_output (process), "hi");
    CHECK_TRUE (strstr (process_errors (process), "winner     a") != NULL);
    CHECK_TRUE (strstr (process_errors (process), "no_sibling") != NULL);
    process_free (&process);
    cluster_close (&cluster);
}

static void unreachable_replicas_alone_give_unavailable_by_the_deadline (void **state)
{
    struct process *process;
    tied_time_t begin = ti_clock_now ();

    (void)state;
    call (&process,
          (const char *const[]){"call", "--replica", "y=tcp://127.0.0.1:1", "--replica",
                                "z=tcp://127.0.0.1:2", "--timeout", "200ms", "echo", NULL},
          1);
    CHECK_U64 (ti_clock_now () - begin, >=, MS (200));
    CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    CHECK_U64 (lines_of (process_errors (process)), ==, 1);
    CHECK_TRUE (strstr (process_errors (process), "unavailable") != NULL);
    CHECK_TRUE (strstr (process_errors (process), "not executed") != NULL);
    CHECK_TRUE (strstr (process_errors (process), "replica y at tcp://127.0.0.1:1 ") != NULL);
    process_free (&process);
}

/* A call with --key, its process to be freed. */
static struct process *call_with_key (const char *pair, const char *key, const char *body, int code)
{
    struct process *process;

    call (&process,
          (const char *const[]){"call", "-v", "--replica", pair, PATIENT, "--key", key, "echo",
                                body, NULL},
          code);
    return process;
}

static void a_key_that_comes_again_is_answered_without_a_run (void **state)
{
    struct cluster cluster;
    struct process *process;
    char pair[80];

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--service", "echo", "--results-max", "16", NULL);
    (void)snprintf (pair, sizeof pair, "a=%s", cluster.nodes[0].client);

    process = call_with_key (pair, "order 7", "hi", 0);
    CHECK_STR (process_output (process), "hi");
    CHECK_TRUE (strstr (process_errors (process), "repeated   no\n") != NULL);
    process_free (&process);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 1);

    process = call_with_key (pair, "order 7", "hi", 0);
    CHECK_STR (process_output (process), "hi");
    CHECK_TRUE (strstr (process_errors (process), "repeated   yes\n") != NULL);
    process_free (&process);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 1);
    CHECK_U64 (cluster_stat (&cluster, 0, "results_hit"), ==, 1);

    process = call_with_key (pair, "order 7", "ho", 1);
    CHECK_STR (process_output (process), "");
    CHECK_TRUE (strstr (process_errors (process),
                        "tied-client: call \"echo\": not executed: this --key came before with "
                        "another body") != NULL);
    CHECK_TRUE (strstr (process_errors (process), "42949") == NULL);
    process_free (&process);
    process = call_with_key (pair, "order 8", "hi", 0);
    CHECK_TRUE (strstr (process_errors (process), "repeated   no\n") != NULL);
    process_free (&process);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 2);
    cluster_close (&cluster);
}

static void unknown_method_is_unimplemented (void **state)
{
    struct cluster cluster;
    struct process *process;
    char pair[80];

    (void)state;
    cluster_run (&cluster, 1, "echo");
    (void)snprintf (pair, sizeof pair, "a=%s", cluster.nodes[0].client);
    call (&process, (const char *const[]){"call", "--replica", pair, PATIENT, "dance", NULL}, 1);
    CHECK_TRUE (strstr (process_errors (process), "unimplemented") != NULL);
    CHECK_TRUE (strstr (process_errors (process), "unknown_method") != NULL);
    CHECK_TRUE (strstr (process_errors (process), "not executed") != NULL);
    process_free (&process);
    CHECK_U64 (cluster_stat (&cluster, 0, "rejected_unknown_method"), ==, 1);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 0);
    cluster_close (&cluster);
}

/* SIGTERM: what is queued is finished, nothing new is taken, the counters are written, exit 0. */
static void sigterm_drains_and_writes_the_counters (void **state)
{
    struct cluster cluster;
    struct wire_client client;
    char path[] = "tied-test-XXXXXX";
    int fd = mkstemp (path);
    json_t *stats;
    json_t *peer;

    (void)state;
    CHECK_I64 (fd, >=, 0);
    cluster_init (&cluster, 2); /* the other one never starts */
    cluster_start (&cluster, 0, "--workers", "1", "--service", "sleep:fixed(40ms)", "--stats", path,
                   "--seed", "1", NULL);
    wire_open_keeping (&client, cluster.nodes[0].client);
    for (uint64_t i = 0; i < 5; i++) {
        struct tied_message message = wire_request (i, 0, "work", "hi", 2);
        wire_send (&client, &message);
    }
    cluster_await (&cluster, 0, "received", 5);
    wire_close (&cluster.nodes[0].looker);
    process_signal (cluster.nodes[0].process, SIGTERM);
    for (uint64_t i = 0; i < 5; i++) {
        wire_expect (&client, TIED_WIRE_REPLY);
        CHECK_U64 (client.in.u.reply.call.sequence, ==, i);
    }
    CHECK_I64 (process_wait (cluster.nodes[0].process), ==, 0);
    stats = json_load_file (path, 0, NULL);
    CHECK_TRUE (stats != NULL);
    CHECK_STR (json_string_value (json_object_get (stats, "id")), "a");
    CHECK_I64 (json_integer_value (json_object_get (json_object_get (stats, "stats"), "finished")),
               ==, 5);
    CHECK_I64 (json_integer_value (json_object_get (json_object_get (stats, "stats"), "depth")), ==,
               0);
    peer = json_array_get (json_object_get (stats, "peers"), 0);
    CHECK_STR (json_string_value (json_object_get (peer, "id")), "b");
    CHECK_TRUE (json_is_false (json_object_get (peer, "is_known")));
    CHECK_TRUE (json_is_null (json_object_get (peer, "silent_ms")));
    CHECK_TRUE (json_is_integer (json_object_get (peer, "started_received")));
    json_decref (stats);
    wire_close (&client);
    process_free (&cluster.nodes[0].process);
    (void)close (fd);
    (void)unlink (path);
}

static void a_closed_terminal_drains_as_well (void **state)
{
    struct cluster cluster;
    struct wire_client client;
    struct tied_message message = wire_request (1, 0, "work", "hi", 2);
    char path[] = "tied-test-XXXXXX";
    int fd = mkstemp (path);
    json_t *stats;

    (void)state;
    CHECK_I64 (fd, >=, 0);
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--service", "echo", "--stats", path, NULL);
    wire_open (&client, cluster.nodes[0].client);
    wire_send (&client, &message);
    wire_expect (&client, TIED_WIRE_REPLY);
    wire_close (&client);
    process_signal (cluster.nodes[0].process, SIGHUP);
    CHECK_I64 (process_wait (cluster.nodes[0].process), ==, 0);
    stats = json_load_file (path, 0, NULL);
    CHECK_TRUE (stats != NULL);
    CHECK_I64 (json_integer_value (json_object_get (json_object_get (stats, "stats"), "finished")),
               ==, 1);
    json_decref (stats);
    process_free (&cluster.nodes[0].process);
    (void)close (fd);
    (void)unlink (path);
}

/* It is queued and can be refused and cancelled, but nothing starts. */
static void a_replica_that_stalls_starts_nothing_but_admits (void **state)
{
    struct cluster cluster;
    struct wire_client client;
    struct timespec now;
    char pause[64];

    (void)state;
    /* From just now for most of an hour. */
    (void)clock_gettime (CLOCK_REALTIME, &now);
    snprintf (pause, sizeof pause, "every:3600s+%llus,3500s",
              (unsigned long long)((uint64_t)now.tv_sec % 3600));
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--workers", "1", "--pause", pause, "--drain-timeout", "0s", NULL);
    wire_open (&client, cluster.nodes[0].client);
    for (uint64_t i = 0; i < 3; i++) {
        struct tied_message message = wire_request (i, 0, "work", "hi", 2);
        wire_send (&client, &message);
    }
    cluster_await (&cluster, 0, "received", 3);
    CHECK_U64 (cluster_stat (&cluster, 0, "depth"), ==, 3);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 0);
    wire_close (&client);
    cluster_kill (&cluster, 0);
    cluster_close (&cluster);
}

/* Between stalls it serves, with its own threads. */
static void a_replica_between_stalls_serves (void **state)
{
    struct cluster cluster;
    struct wire_client client;
    struct timespec now;
    char pause[64];

    (void)state;
    /* It was over half an hour ago. */
    (void)clock_gettime (CLOCK_REALTIME, &now);
    snprintf (pause, sizeof pause, "every:3600s+%llus,1s",
              (unsigned long long)(((uint64_t)now.tv_sec + 1800) % 3600));
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--workers", "2", "--pause", pause, "--service", "sleep:fixed(1ms)",
                   NULL);
    wire_open (&client, cluster.nodes[0].client);
    for (uint64_t i = 0; i < 8; i++) {
        struct tied_message message = wire_request (i, 0, i % 2 ? "work" : "echo", "hi", 2);
        wire_send (&client, &message);
    }
    for (uint64_t i = 0; i < 8; i++) {
        wire_expect (&client, TIED_WIRE_REPLY);
        CHECK_U64 (client.in.u.reply.status, ==, 0);
    }
    wire_close (&client);
    cluster_stop (&cluster, 0);
    cluster_close (&cluster);
}

/* ZQ-29: the socket file of a killed replica does not keep its successor from binding. */
static void ZQ_29_killed_replica_on_ipc_restarts_at_once (void **state)
{
    char directory[] = "tied-test-XXXXXX";
    struct cluster cluster;

    (void)state;
    CHECK_TRUE (mkdtemp (directory) != NULL);
    cluster_init (&cluster, 1);
    (void)snprintf (cluster.nodes[0].client, 64, "ipc://%s/clients", directory);
    (void)snprintf (cluster.nodes[0].peer, 64, "ipc://%s/peers", directory);
    for (int i = 0; i < 3; i++) {
        tied_time_t begin = ti_clock_now ();
        cluster_start (&cluster, 0, NULL);
        CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 0);
        CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
        cluster_kill (&cluster, 0);
    }
    (void)unlink (cluster.nodes[0].client + 6);
    (void)unlink (cluster.nodes[0].peer + 6);
    CHECK_I64 (rmdir (directory), ==, 0);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (unwritable_results_are_named_before_the_measurement),
        TEST (what_does_not_arrive_at_standard_output_is_an_error),
        TEST (what_is_printed_to_a_closed_stream_gets_into_no_file),
        TEST (wrong_command_line_of_the_replica_is_one_line_and_exit_2),
        TEST (wrong_command_line_of_the_client_is_one_line_and_exit_2),
        TEST (endpoint_in_use_is_named_and_exit_1),
        TEST (unwritable_stats_file_is_named_and_exit_1),
        TEST (repeated_replica_id_is_a_warning_and_the_call_completes),
        TEST (unreachable_replica_in_the_list_does_not_harm_the_call),
        TEST (unreachable_replicas_alone_give_unavailable_by_the_deadline),
        TEST (a_key_that_comes_again_is_answered_without_a_run),
        TEST (unknown_method_is_unimplemented),
        TEST (sigterm_drains_and_writes_the_counters),
        TEST (a_closed_terminal_drains_as_well),
        TEST (a_replica_that_stalls_starts_nothing_but_admits),
        TEST (a_replica_between_stalls_serves),
        TEST (ZQ_29_killed_replica_on_ipc_restarts_at_once),
    };
    return cmocka_run_group_tests_name ("programs", tests, NULL, NULL);
}
