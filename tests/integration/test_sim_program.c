/* SPDX-License-Identifier: MIT */
/*
 * tied-sim as a person runs it: results on the terminal and in files, the same for any number of
 * jobs, repeatable from the scenario that a report holds, and errors of one line.
 */
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "process.h"

static char folder[64];

static int setup (void **state)
{
    (void)state;
    snprintf (folder, sizeof folder, "/tmp/tied-sim-test-XXXXXX");
    return mkdtemp (folder) ? 0 : -1;
}

static const char *in_folder (const char *name)
{
    static char paths[4][128];
    static uint32_t next;
    char *path = paths[next++ % 4];
    snprintf (path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int teardown (void **state)
{
    static const char *const names[] = {"s.yaml", "a.json", "b.json", "a.csv", "b.csv", "a.html"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink (in_folder (names[i]));
    rmdir (folder);
    return process_teardown (state);
}

static char *read_file (const char *path)
{
    FILE *file = fopen (path, "r");
    CHECK_TRUE (file != NULL);
    char *text = calloc (1, 1 << 20);
    CHECK_TRUE (text != NULL);
    CHECK_U64 (fread (text, 1, (1 << 20) - 1, file), >, 0);
    fclose (file);
    return text;
}

static const char scenario[] = "name: small\n"
                               "title: a small one\n"
                               "load: 0.6\n"
                               "service: exp(10ms)\n"
                               "replicas: {count: 4}\n"
                               "policies: [single, tied, hedge/p95, central]\n"
                               "amount: {calls: 2000, replications: 4}\n"
                               "sweep: [0.3, 0.6]\n";

static void write_scenario (const char *text)
{
    FILE *file = fopen (in_folder ("s.yaml"), "w");
    CHECK_TRUE (file != NULL);
    fputs (text, file);
    CHECK_I64 (fclose (file), ==, 0);
}

/* Runs tied-sim with up to 12 arguments; the caller frees it. */
static struct process *run (int code, const char *const arguments[])
{
    const char *argv[14] = {TIED_SIM_PROGRAM};
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

static json_t *read_json (const char *name)
{
    char *text = read_file (in_folder (name));
    json_error_t error;
    json_t *root = json_loads (text, JSON_REJECT_DUPLICATES, &error);
    CHECK_TRUE (root != NULL);
    free (text);
    return root;
}

static void a_run_prints_a_table_and_a_sentence_and_writes_files (void **state)
{
    (void)state;
    write_scenario (scenario);
    struct process *process =
        RUN (0, "run", in_folder ("s.yaml"), "--quiet", "--json", in_folder ("a.json"), "--csv",
             in_folder ("a.csv"), "--report", in_folder ("a.html"));
    const char *output = process_output (process);
    CHECK_TRUE (strstr (output, "a small one\n") == output);
    CHECK_TRUE (strstr (output, "\ntied ") != NULL);
    CHECK_TRUE (strstr (output, "\ncentral ") != NULL);
    CHECK_TRUE (strstr (output, "Against single, tied lowered p99 from ") != NULL);
    CHECK_STR (process_errors (process), "");
    process_free (&process);
    json_t *root = read_json ("a.json");
    CHECK_U64 (json_array_size (json_object_get (root, "policies")), ==, 4);
    const json_t *hedge = json_array_get (json_object_get (root, "policies"), 2);
    CHECK_TRUE (json_is_number (json_object_get (hedge, "hedge_ms")));
    CHECK_I64 (json_integer_value (json_object_get (hedge, "calls")), ==, 8000);
    json_decref (root);
    char *page = read_file (in_folder ("a.html"));
    CHECK_TRUE (strncmp (page, "<!DOCTYPE html>", 15) == 0);
    CHECK_TRUE (strstr (page, "policies: [single, tied, hedge/p95, central]") != NULL);
    free (page);
}

static void any_number_of_jobs_writes_the_same_figures (void **state)
{
    (void)state;
    write_scenario (scenario);
    struct process *one = RUN (0, "sweep", in_folder ("s.yaml"), "--jobs", "1", "--csv",
                               in_folder ("a.csv"), "--json", in_folder ("a.json"));
    struct process *three = RUN (0, "sweep", in_folder ("s.yaml"), "--jobs", "3", "--csv",
                                 in_folder ("b.csv"), "--json", in_folder ("b.json"));
    CHECK_STR (process_output (one), process_output (three));
    process_free (&one);
    process_free (&three);
    char *a = read_file (in_folder ("a.csv")), *b = read_file (in_folder ("b.csv"));
    CHECK_STR (a, b);
    free (a);
    free (b);
    json_t *first = read_json ("a.json"), *second = read_json ("b.json");
    CHECK_STR (json_string_value (json_object_get (first, "trace_hash")),
               json_string_value (json_object_get (second, "trace_hash")));
    json_decref (first);
    json_decref (second);
}

static void the_scenario_in_a_report_gives_the_same_run (void **state)
{
    (void)state;
    write_scenario (scenario);
    struct process *process = RUN (0, "run", in_folder ("s.yaml"), "--json", in_folder ("a.json"));
    process_free (&process);
    json_t *first = read_json ("a.json");
    write_scenario (json_string_value (json_object_get (first, "scenario")));
    process = RUN (0, "run", in_folder ("s.yaml"), "--json", in_folder ("b.json"));
    process_free (&process);
    json_t *second = read_json ("b.json");
    CHECK_STR (json_string_value (json_object_get (first, "trace_hash")),
               json_string_value (json_object_get (second, "trace_hash")));
    json_decref (second);
    /* Another seed is another run. */
    process = RUN (0, "run", in_folder ("s.yaml"), "--seed", "2", "--json", in_folder ("b.json"));
    process_free (&process);
    second = read_json ("b.json");
    CHECK_TRUE (strcmp (json_string_value (json_object_get (first, "trace_hash")),
                        json_string_value (json_object_get (second, "trace_hash"))) != 0);
    json_decref (first);
    json_decref (second);
}

static void policies_and_amounts_can_be_given_instead (void **state)
{
    (void)state;
    write_scenario (scenario);
    struct process *process =
        RUN (0, "run", in_folder ("s.yaml"), "--policy", "central", "--policy", "tied:1ms/random",
             "--calls", "500", "--replications", "2", "--json", in_folder ("a.json"));
    process_free (&process);
    json_t *root = read_json ("a.json");
    const json_t *policies = json_object_get (root, "policies");
    CHECK_U64 (json_array_size (policies), ==, 2);
    CHECK_STR (json_string_value (json_object_get (json_array_get (policies, 1), "policy")),
               "tied:1ms/random");
    CHECK_I64 (json_integer_value (json_object_get (json_array_get (policies, 1), "calls")), ==,
               1000);
    json_decref (root);
}

static void capacity_is_higher_for_the_better_policy (void **state)
{
    (void)state;
    write_scenario (scenario);
    struct process *process =
        RUN (0, "capacity", in_folder ("s.yaml"), "--p99", "80ms", "--policy", "single", "--policy",
             "central", "--step", "0.05", "--json", in_folder ("a.json"));
    process_free (&process);
    json_t *root = read_json ("a.json");
    const json_t *found = json_object_get (root, "capacity");
    double loads[2];
    for (size_t i = 0; i < 2; i++)
        loads[i] = json_number_value (json_object_get (json_array_get (found, i), "load"));
    CHECK_DBL (loads[0], >, 0);
    CHECK_DBL (loads[1], >, loads[0]);
    json_decref (root);
}

static void a_grid_names_its_variants (void **state)
{
    (void)state;
    write_scenario (scenario);
    struct process *process = RUN (0, "sweep", in_folder ("s.yaml"), "--grid", "stagger=0s,2ms",
                                   "--policy", "single", "--policy", "tied");
    CHECK_TRUE (strstr (process_output (process), "\ntied stagger=2ms ") != NULL);
    CHECK_TRUE (strstr (process_output (process), "on front of") != NULL);
    process_free (&process);
}

static void presets_are_listed_printed_and_run (void **state)
{
    (void)state;
    struct process *process = RUN (0, "list");
    CHECK_TRUE (strstr (process_output (process), "\ntail-at-scale-idle ") != NULL);
    process_free (&process);
    process = RUN (0, "list", "demo");
    write_scenario (process_output (process));
    process_free (&process);
    struct process *file = RUN (0, "run", in_folder ("s.yaml"), "--calls", "300");
    struct process *preset = RUN (0, "run", "demo", "--calls", "300");
    CHECK_STR (process_output (file), process_output (preset));
    process_free (&file);
    process_free (&preset);
}

static void check_error (int code, const char *part, const char *const arguments[])
{
    struct process *process = run (code, arguments);
    const char *errors = process_errors (process);
    const char *end = strchr (errors, '\n');
    if (!strstr (errors, part))
        print_error ("%s\n", errors);
    CHECK_TRUE (strstr (errors, part) != NULL);
    CHECK_TRUE (strncmp (errors, "tied-sim: ", 10) == 0);
    CHECK_TRUE (end && end[1] == '\0');
    CHECK_STR (process_output (process), "");
    process_free (&process);
}

#define CHECK_ERROR(code, part, ...)                                                               \
    check_error (code, part, (const char *const[]){__VA_ARGS__, NULL})

static void errors_are_one_line_and_their_exit_code (void **state)
{
    (void)state;
    CHECK_ERROR (1, "did you mean", "run", "tail-at-scale-idl");
    CHECK_ERROR (1, "did you mean", "list", "dem");
    CHECK_ERROR (1, "cannot write", "run", "demo", "--json", "/nonexistent/folder/file");
    CHECK_ERROR (2, "SCENARIO", "run");
    CHECK_ERROR (2, "--policy", "run", "demo", "--policy", "nonsense");
    CHECK_ERROR (2, "given twice", "run", "demo", "--policy", "tied", "--policy", "tied");
    CHECK_ERROR (2, "--loads", "sweep", "demo", "--loads", "0.5,x");
    CHECK_ERROR (2, "0.5 is there twice", "sweep", "demo", "--loads", "0.5,0.7,0.50");
    CHECK_ERROR (2, "--grid", "sweep", "demo", "--grid", "stag=1ms");
    CHECK_ERROR (2, "no row", "verify", "--only", "nonsense");
    CHECK_ERROR (2, "goal", "capacity", "demo");
    CHECK_ERROR (2, "one goal", "capacity", "demo", "--p99", "1ms", "--p50", "1ms");
    CHECK_ERROR (2, "unknown command", "simulate");
    write_scenario ("policies: [single]\nreplicas: {count: 0}\n");
    CHECK_ERROR (1, ":2:", "run", in_folder ("s.yaml"));
    write_scenario ("policies: [single]\n");
    CHECK_ERROR (2, "no sweep", "sweep", in_folder ("s.yaml"));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_run_prints_a_table_and_a_sentence_and_writes_files,
                                         setup, teardown),
        cmocka_unit_test_setup_teardown (any_number_of_jobs_writes_the_same_figures, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (the_scenario_in_a_report_gives_the_same_run, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (policies_and_amounts_can_be_given_instead, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (capacity_is_higher_for_the_better_policy, setup, teardown),
        cmocka_unit_test_setup_teardown (a_grid_names_its_variants, setup, teardown),
        cmocka_unit_test_setup_teardown (presets_are_listed_printed_and_run, setup, teardown),
        cmocka_unit_test_setup_teardown (errors_are_one_line_and_their_exit_code, setup, teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
