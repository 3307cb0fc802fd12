/* SPDX-License-Identifier: MIT */
/*
 * The commands replay and explain of tied-sim as a person runs them: what they print and write, and
 * errors of one line for recordings that are not good.
 */
#include "check.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/prng.h"
#include "process.h"

static char folder[64];
static char trace[96], json[96], json_again[96];

static int setup (void **state)
{
    (void)state;
    snprintf (folder, sizeof folder, "/tmp/tied-replay-test-XXXXXX");
    if (!mkdtemp (folder))
        return -1;
    snprintf (trace, sizeof trace, "%s/t.csv", folder);
    snprintf (json, sizeof json, "%s/a.json", folder);
    snprintf (json_again, sizeof json_again, "%s/b.json", folder);
    return 0;
}

static int teardown (void **state)
{
    unlink (trace);
    unlink (json);
    unlink (json_again);
    rmdir (folder);
    return process_teardown (state);
}

static void write_trace (const char *text)
{
    FILE *file = fopen (trace, "w");
    CHECK_TRUE (file != NULL);
    fputs (text, file);
    CHECK_I64 (fclose (file), ==, 0);
}

/* Calls of three replicas: mostly 2 ms, one in ten 30 ms, at about half load. */
static void write_recording (bool has_latency)
{
    FILE *file = fopen (trace, "w");
    struct ti_prng prng;
    uint64_t at = UINT64_C (900000000000);
    CHECK_TRUE (file != NULL);
    ti_prng_seed (&prng, 5);
    fprintf (file, "t_us,call,copy,replica,queue_us,service_us,%soutcome\n",
             has_latency ? "latency_us," : "");
    for (unsigned i = 0; i < 4000; i++) {
        at += ti_prng_below (&prng, 6000);
        fprintf (file, "%" PRIu64 ".250,a7-%x,0,%c,0.000,%s,%sexecuted\n", at, i,
                 'a' + (int)(i % 3), ti_prng_below (&prng, 10) ? "2000.000" : "30000.000",
                 has_latency ? "4321," : "");
    }
    CHECK_I64 (fclose (file), ==, 0);
}

static struct process *run (int code, const char *const arguments[])
{
    const char *argv[20] = {TIED_SIM_PROGRAM};
    for (uint32_t i = 0; arguments[i]; i++)
        argv[i + 1] = arguments[i];
    struct process *process = process_start (argv);
    int got = process_wait (process);
    if (got != code)
        print_error ("%s\n", process_errors (process));
    CHECK_I64 (got, ==, code);
    return process;
}

#define RUN(code, ...) run (code, (const char *const[]){__VA_ARGS__, NULL})

static void check_error (int code, const char *part, const char *const arguments[])
{
    struct process *process = run (code, arguments);
    const char *errors = process_errors (process);
    const char *end = strchr (errors, '\n');
    if (!strstr (errors, part))
        print_error ("%s does not say %s\n", errors, part);
    CHECK_TRUE (strstr (errors, part) != NULL);
    CHECK_TRUE (strncmp (errors, "tied-sim: ", 10) == 0);
    CHECK_TRUE (end && end[1] == '\0');
    CHECK_STR (process_output (process), "");
    process_free (&process);
}

#define CHECK_ERROR(code, part, ...)                                                               \
    check_error (code, part, (const char *const[]){__VA_ARGS__, NULL})

static void check_says (struct process *process, const char *text)
{
    if (!strstr (process_output (process), text))
        print_error ("%s\ndoes not say %s\n", process_output (process), text);
    CHECK_TRUE (strstr (process_output (process), text) != NULL);
}

static double number (const json_t *object, const char *key)
{
    const json_t *value = json_object_get (object, key);
    CHECK_TRUE (json_is_number (value));
    return json_number_value (value);
}

static void a_replay_says_what_a_hedge_is_worth_and_gives_advice (void **state)
{
    (void)state;
    write_recording (false);
    struct process *process = RUN (0, "replay", trace, "--json", json, "--quiet");
    check_says (process, "replay: 3 replicas of 1 worker");
    check_says (process, "Recorded: 4000 lines, 4000 calls");
    check_says (process, "the recording does not say: --workers");
    check_says (process, "What a hedge is worth");
    check_says (process, "\nhedge/p95 ");
    process_free (&process);
    json_error_t error;
    json_t *root = json_load_file (json, 0, &error);
    CHECK_TRUE (root != NULL);
    const json_t *replay = json_object_get (root, "replay");
    const json_t *hedges = json_object_get (replay, "hedges");
    CHECK_U64 (json_array_size (hedges), ==, 4);
    CHECK_U64 (json_array_size (json_object_get (root, "policies")), ==, 7);
    for (size_t i = 0; i < 4; i++) {
        const json_t *hedge = json_array_get (hedges, i);
        CHECK_DBL (number (hedge, "saved_mean_ms"), >=, 0);
        CHECK_DBL (number (hedge, "saved_mean_ms"), <=, number (hedge, "longer_mean_ms"));
        CHECK_DBL (number (hedge, "faster_share"), <=, 1);
    }
    /* The delay is p90 of the simulated calls; those weighed are other ones, at random replicas. */
    CHECK_DBL (number (json_array_get (hedges, 1), "pending_share"), >, 0.05);
    CHECK_DBL (number (json_array_get (hedges, 1), "pending_share"), <, 0.15);
    CHECK_TRUE (strstr (json_string_value (json_object_get (root, "sentence")), "p99") != NULL);
    json_decref (root);
}

static void any_number_of_jobs_replays_alike_and_options_count (void **state)
{
    (void)state;
    write_recording (true);
    struct process *one = RUN (0, "replay", trace, "--jobs", "1", "--quiet");
    struct process *two = RUN (0, "replay", trace, "--jobs", "2", "--quiet");
    CHECK_STR (process_output (one), process_output (two));
    check_says (one, "Measured: p50 4.32 ms, p99 4.32 ms; simulated single: p50 ");
    process_free (&one);
    process_free (&two);
    one = RUN (0, "replay", trace, "--replicas", "4", "--workers", "2", "--load", "0.25",
               "--correlation", "1", "--replications", "2", "--quiet");
    check_says (one, "replay: 4 replicas of 2 workers");
    check_says (one, "load 0.25");
    check_says (one, "2 replications of");
    process_free (&one);
    one = RUN (0, "replay", trace, "--load", "1.5", "--quiet");
    check_says (one, "UNSTABLE");
    check_says (one, "\nAdd replicas or workers first");
    process_free (&one);
}

static void a_bad_recording_is_one_line_and_its_exit_code (void **state)
{
    static const char heading[] = "t_us,call,copy,replica,queue_us,service_us,outcome\n";
    char text[256];
    (void)state;
#define WITH(line) (snprintf (text, sizeof text, "%s%s\n", heading, line), write_trace (text))
    CHECK_ERROR (1, "cannot be read", "replay", "/nonexistent/trace.csv");
    WITH ("1000,7-1,0,a,0,,executed");
    CHECK_ERROR (1, ":2: service time: \"\" is not a number", "replay", trace);
    WITH ("-1000,7-1,0,a,0,5,executed");
    CHECK_ERROR (1, ":2: time: -1000 is negative", "replay", trace);
    WITH ("1000,7-1,0,a,0,nan,executed");
    CHECK_ERROR (1, ":2: service time: \"nan\" is not a number", "replay", trace);
    WITH ("1000,7-1,0,a,0,5,executed\n2000,7-2,0,a,0,5,executed");
    CHECK_ERROR (1, "--replicas", "replay", trace);
    write_trace ("t_us,latency_us\n1,2\n");
    CHECK_ERROR (1, "end-to-end latency", "replay", trace);
    write_recording (false);
    CHECK_ERROR (2, "--replicas", "replay", trace, "--replicas", "0");
    CHECK_ERROR (2, "--workers", "replay", trace, "--workers", "0");
    CHECK_ERROR (2, "TRACE", "replay");
    CHECK_ERROR (1, "cannot write", "replay", trace, "--json", "/nonexistent/folder/file");
#undef WITH
}

static void explain_draws_the_call_and_where_its_time_went (void **state)
{
    (void)state;
    struct process *process =
        RUN (0, "explain", "demo", "--policy", "tied/random", "--percentile", "99", "--json", json);
    check_says (process, "demo: p99 of tied/random is request ");
    check_says (process, "--REQUEST 0--");
    check_says (process, ", depth ");
    check_says (process, "REPLY ");
    check_says (process, "  waited in queue ");
    check_says (process, "went to replica ");
    struct process *again =
        RUN (0, "explain", "demo", "--policy", "tied/random", "--percentile", "99");
    CHECK_STR (process_output (process), process_output (again));
    process_free (&again);
    again =
        RUN (0, "explain", "demo", "--policy", "tied/random", "--percentile", "99", "--seed", "7");
    CHECK_TRUE (strcmp (process_output (process), process_output (again)) != 0);
    process_free (&again);
    process_free (&process);
    json_error_t error;
    json_t *root = json_load_file (json, 0, &error);
    CHECK_TRUE (root != NULL);
    const json_t *parts = json_object_get (root, "parts");
    double sum = number (parts, "before_ms") + number (parts, "network_ms") +
                 number (parts, "waited_ms") + number (parts, "served_ms") +
                 number (parts, "after_ms");
    CHECK_DBL (sum - number (root, "latency_ms"), <, 1e-6);
    CHECK_DBL (sum - number (root, "latency_ms"), >, -1e-6);
    CHECK_U64 (json_array_size (json_object_get (root, "copies")), ==, 2);
    CHECK_U64 (json_array_size (json_object_get (root, "events")), >, 5);
    json_decref (root);
    process = RUN (0, "explain", "demo", "--policy", "single", "--percentile", "50");
    check_says (process, "There was no other copy.");
    process_free (&process);
}

static void what_cannot_be_explained_is_one_line_and_its_exit_code (void **state)
{
    (void)state;
    CHECK_ERROR (1, "no messages to show", "explain", "demo", "--policy", "central");
    CHECK_ERROR (1, "did you mean", "explain", "dem");
    CHECK_ERROR (2, "--percentile", "explain", "demo", "--percentile", "100");
    CHECK_ERROR (2, "--percentile", "explain", "demo", "--percentile", "0");
    CHECK_ERROR (2, "--percentile", "explain", "demo", "--percentile", "high");
    CHECK_ERROR (2, "one --policy", "explain", "demo", "--policy", "tied", "--policy", "single");
    CHECK_ERROR (2, "SCENARIO", "explain");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_replay_says_what_a_hedge_is_worth_and_gives_advice,
                                         setup, teardown),
        cmocka_unit_test_setup_teardown (any_number_of_jobs_replays_alike_and_options_count, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (a_bad_recording_is_one_line_and_its_exit_code, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (explain_draws_the_call_and_where_its_time_went, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (what_cannot_be_explained_is_one_line_and_its_exit_code,
                                         setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
