/* SPDX-License-Identifier: MIT */
/*
 * Recordings as the programs write them and the simulator reads them: every copy and every call has
 * its line, and the times are those of the work. An error of the file is told at the end.
 */
#include "cluster.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "workload/trace.h"

#define SERVICE_NS TIED_MS (5)

static char folder[64];
static char paths[5][96];

static int setup (void **state)
{
    static const char *const names[] = {"a.csv", "b.csv", "client.csv", "a.json", "b.json"};

    (void)state;
    (void)snprintf (folder, sizeof folder, "/tmp/tied-record-test-XXXXXX");
    if (!mkdtemp (folder))
        return -1;
    for (size_t i = 0; i < 5; i++)
        (void)snprintf (paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    return 0;
}

static int teardown (void **state)
{
    for (size_t i = 0; i < 5; i++)
        (void)unlink (paths[i]);
    (void)rmdir (folder);
    return process_teardown (state);
}

static struct sim_table read_table (const char *path, enum sim_trace_use use)
{
    const struct sim_trace_options options = {.path = path, .use = use};
    struct sim_table table = {0};
    char why[SIM_WHY_MAX] = "";

    if (sim_trace_read (&options, &table, why) != 0)
        print_error ("%s\n", why);
    CHECK_TRUE (table.values != NULL);
    return table;
}

/* Lines with this text, the heading not counted. */
static uint64_t lines_with (const char *path, const char *text)
{
    FILE *file = fopen (path, "r");
    char line[512];
    uint64_t count = 0;

    CHECK_TRUE (file != NULL);
    CHECK_TRUE (fgets (line, sizeof line, file) != NULL);
    while (fgets (line, sizeof line, file))
        count += strstr (line, text) != NULL;
    (void)fclose (file);
    return count;
}

/* All took the fixed time, and some of them hardly longer, on however busy a machine. */
static void check_service (const char *path)
{
    struct sim_table service = read_table (path, SIM_TRACE_SERVICE);
    uint64_t near = 0;

    for (uint64_t i = 0; i < service.count; i++) {
        CHECK_U64 (service.values[i], >=, SERVICE_NS);
        near += service.values[i] < 2 * SERVICE_NS;
    }
    CHECK_U64 (near, >, 0);
    sim_table_deinit (&service);
}

static void bench (struct cluster *cluster, const char *record)
{
    char a[80], b[80];
    const char *const argv[] = {TIED_CLIENT_PROGRAM,
                                "--replica",
                                a,
                                "--replica",
                                b,
                                "bench",
                                "--rate",
                                "150",
                                "--duration",
                                "600ms",
                                "--warmup",
                                "0s",
                                "--slices",
                                "2",
                                "--timeout",
                                "60s",
                                "--record",
                                record,
                                NULL};

    (void)snprintf (a, sizeof a, "a=%s", cluster->nodes[0].client);
    (void)snprintf (b, sizeof b, "b=%s", cluster->nodes[1].client);
    struct process *process = process_start (argv);
    const int code = process_wait (process);
    if (code != 0)
        print_error ("%s\n", process_errors (process));
    CHECK_I64 (code, ==, 0);
    process_free (&process);
}

/* What was recorded can be replayed. */
static void replay (const char *says, const char *first, const char *second)
{
    const char *const argv[] = {TIED_SIM_PROGRAM, "replay", "--quiet", first, second, NULL};
    struct process *process = process_start (argv);
    const int code = process_wait (process);

    if (code != 0)
        print_error ("%s\n", process_errors (process));
    CHECK_I64 (code, ==, 0);
    CHECK_TRUE (strstr (process_output (process), "2 replicas of 1 worker") != NULL);
    CHECK_TRUE (strstr (process_output (process), says) != NULL);
    process_free (&process);
}

/* What it counted until its end. */
static uint64_t counter (const char *path, const char *name)
{
    json_t *root = json_load_file (path, 0, NULL);
    const json_t *value = json_object_get (json_object_get (root, "stats"), name);
    const uint64_t count = (uint64_t)json_integer_value (value);

    CHECK_TRUE (json_is_integer (value));
    json_decref (root);
    return count;
}

static void every_copy_and_every_call_has_its_line (void **state)
{
    static struct cluster cluster;

    (void)state;
    cluster_init (&cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "1", "--service", "sleep:fixed(5ms)", "--record",
                       paths[i], "--stats", paths[3 + i], NULL);
    cluster_await_links (&cluster, 0, 1);
    cluster_await_links (&cluster, 1, 1);
    bench (&cluster, paths[2]);
    cluster_close (&cluster);
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_table times = read_table (paths[i], SIM_TRACE_TIMES);
        CHECK_U64 (times.count, ==, counter (paths[3 + i], "received"));
        CHECK_U64 (lines_with (paths[i], ",executed") + lines_with (paths[i], ",cancelled"), ==,
                   counter (paths[3 + i], "executed"));
        check_service (paths[i]);
        sim_table_deinit (&times);
    }
    struct sim_table calls = read_table (paths[2], SIM_TRACE_TIMES);
    /* Both policies met the same arrivals. */
    CHECK_U64 (lines_with (paths[2], ",single,"), ==, lines_with (paths[2], ",tied,"));
    CHECK_U64 (lines_with (paths[2], ",single,"), ==, calls.count / 2);
    CHECK_U64 (lines_with (paths[2], ",ok"), ==, calls.count);
    check_service (paths[2]);
    sim_table_deinit (&calls);
    replay ("What a hedge is worth", paths[0], paths[1]);
    replay (" under single; simulated single: p50 ", paths[2], NULL);
}

static void an_error_of_the_file_is_told_at_the_end (void **state)
{
    const char *argv[] = {TIED_REPLICA_PROGRAM, "--id",      "a",  "--bind", "tcp://127.0.0.1:*",
                          "--record",           "/dev/full", NULL, NULL};

    (void)state;
    struct process *process = process_start (argv);
    CHECK_TRUE (process_line (process) != NULL);
    process_signal (process, SIGTERM);
    CHECK_I64 (process_wait (process), ==, 1);
    CHECK_TRUE (strstr (process_errors (process), "cannot write /dev/full") != NULL);
    process_free (&process);
    argv[6] = "/nonexistent/folder/file";
    process = process_start (argv);
    CHECK_I64 (process_wait (process), ==, 1);
    CHECK_TRUE (strstr (process_errors (process), "cannot write /nonexistent") != NULL);
    process_free (&process);
}

static void a_policy_that_would_part_the_columns_is_refused (void **state)
{
    const char *argv[] = {TIED_CLIENT_PROGRAM,   "bench",    "--replica",
                          "a=tcp://127.0.0.1:1", "--policy", "tied+hedge:min(p99,50ms)",
                          "--outstanding",       "1",        "--record",
                          "/dev/null",           NULL};

    (void)state;
    struct process *process = process_start (argv);
    CHECK_I64 (process_wait (process), ==, 2);
    CHECK_TRUE (strstr (process_errors (process), "has a comma") != NULL);
    process_free (&process);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (every_copy_and_every_call_has_its_line, setup, teardown),
        cmocka_unit_test_setup_teardown (a_policy_that_would_part_the_columns_is_refused, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (an_error_of_the_file_is_told_at_the_end, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
