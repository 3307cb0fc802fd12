/* SPDX-License-Identifier: MIT */
/*
 * A policy file that changes under load, with real processes: 1 000 calls a second, SIGHUP, and
 * what each call of the recording shows of the settings that it was made with.
 */
#include "cluster.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "zmq/clock.h"

#define ONE           "methods: {work: {idempotent: true, mode: single}}\n"
#define TWO           "methods: {work: {idempotent: true, stagger: 0s, extra_load: 100%, governor: off}}\n"
#define BAD           "methods:\n  work: {mode: tide}\n"
#define RATE          1000
#define LOOK_EVERY_MS 5

static char folder[64];
static char policies[96], record[96], json[96];

static int setup (void **state)
{
    (void)state;
    (void)snprintf (folder, sizeof folder, "/tmp/tied-reload-test-XXXXXX");
    if (!mkdtemp (folder))
        return -1;
    (void)snprintf (policies, sizeof policies, "%s/policies.yaml", folder);
    (void)snprintf (record, sizeof record, "%s/calls.csv", folder);
    (void)snprintf (json, sizeof json, "%s/report.json", folder);
    return 0;
}

static int teardown (void **state)
{
    (void)unlink (policies);
    (void)unlink (record);
    (void)unlink (json);
    (void)rmdir (folder);
    return process_teardown (state);
}

static void write_policies (const char *text)
{
    FILE *file = fopen (policies, "w");

    CHECK_TRUE (file != NULL);
    fputs (text, file);
    CHECK_I64 (fclose (file), ==, 0);
}

/* Errors are looked at until the text is among them; it comes when it comes. */
static void await_error (struct process *process, const char *text)
{
    const tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;

    while (!strstr (process_errors (process), text)) {
        if (!process_is_alive (process) || ti_clock_now () > give_up) {
            print_error ("never: %s\n%s\n", text, process_errors (process));
            fail ();
        }
        (void)poll (NULL, 0, LOOK_EVERY_MS);
    }
}

static uint32_t count_of (const char *text, const char *part)
{
    uint32_t count = 0;

    for (const char *at = text; (at = strstr (at, part)); at++)
        count++;
    return count;
}

static void await_slices (struct process *process, uint32_t more)
{
    const uint32_t before = count_of (process_errors (process), " calls, p50");
    const tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;

    while (count_of (process_errors (process), " calls, p50") < before + more) {
        CHECK_TRUE (process_is_alive (process) && ti_clock_now () < give_up);
        (void)poll (NULL, 0, LOOK_EVERY_MS);
    }
}

static uint64_t now_us (void)
{
    return ti_clock_now () / 1000;
}

struct line {
    uint64_t at_us; /* when it was to be made, which it was then or later */
    uint64_t end_us;
    unsigned copies;
    char outcome[32];
};

static bool read_line (FILE *file, struct line *out)
{
    char text[512], *field[9];
    uint32_t count = 0;

    if (!fgets (text, sizeof text, file))
        return false;
    text[strcspn (text, "\n")] = '\0';
    for (char *at = text; at && count < 9; count++) {
        field[count] = at;
        at = strchr (at, ',');
        if (at)
            *at++ = '\0';
    }
    CHECK_U64 (count, ==, 9);
    out->at_us = strtoull (field[0], NULL, 10);
    out->end_us = out->at_us + strtoull (field[7], NULL, 10);
    out->copies = (unsigned)strtoul (field[4], NULL, 10);
    (void)snprintf (out->outcome, sizeof out->outcome, "%s", field[8]);
    return true;
}

static void a_reload_under_load_loses_no_call_and_counts_from_then_on (void **state)
{
    static struct cluster cluster;
    char a[80], b[80], why[256];
    const char *const argv[] = {TIED_CLIENT_PROGRAM,
                                "--replica",
                                a,
                                "--replica",
                                b,
                                "bench",
                                "--rate",
                                "1000",
                                "--duration",
                                "4s",
                                "--warmup",
                                "0s",
                                "--slices",
                                "8",
                                "--timeout",
                                "60s",
                                "--policy",
                                "file",
                                "--policies",
                                policies,
                                "--record",
                                record,
                                "--json",
                                json,
                                NULL};
    uint64_t asked_us, told_us, lines = 0, before = 0, after = 0, alone = 0, again = 0;
    struct line line;

    (void)state;
    cluster_init (&cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "4", "--service", "sleep:fixed(1ms)", NULL);
    cluster_await_links (&cluster, 0, 1);
    cluster_await_links (&cluster, 1, 1);
    (void)snprintf (a, sizeof a, "a=%s", cluster.nodes[0].client);
    (void)snprintf (b, sizeof b, "b=%s", cluster.nodes[1].client);

    write_policies (ONE);
    struct process *process = process_start (argv);
    await_slices (process, 1);
    write_policies (TWO);
    asked_us = now_us ();
    process_signal (process, SIGHUP);
    await_error (process, "tied-client: policies reloaded\n");
    told_us = now_us ();
    write_policies (BAD);
    process_signal (process, SIGHUP);
    (void)snprintf (why, sizeof why,
                    "%s:2:16: methods.work.mode: \"tide\" is unknown: did you mean \"tied\"?\n",
                    policies);
    await_error (process, why);
    const int code = process_wait (process);
    if (code != 0)
        print_error ("%s\n", process_errors (process));
    CHECK_I64 (code, ==, 0);
    process_free (&process);

    FILE *file = fopen (record, "r");
    CHECK_TRUE (file != NULL);
    CHECK_TRUE (fscanf (file, "%*[^\n]\n") == 0);
    while (read_line (file, &line)) {
        lines++;
        CHECK_STR (line.outcome, "ok");
        if (line.end_us < asked_us) {
            before++;
            again += line.copies > 1;
        } else if (line.at_us > told_us) {
            after++;
            alone += line.copies == 1;
        }
    }
    CHECK_I64 (fclose (file), ==, 0);
    CHECK_U64 (before, >, RATE / 4);
    CHECK_U64 (after, >, RATE / 2);
    /* One copy each, but for those whose replica seemed lost for a moment. */
    CHECK_U64 (again, <, before / 2);

    json_t *report = json_load_file (json, 0, NULL);
    CHECK_TRUE (report != NULL);
    json_t *policy = json_array_get (json_object_get (report, "policies"), 0);
    json_t *settings = json_object_get (policy, "settings");
    json_t *method = json_object_get (policy, "method");
    json_t *not_sent = json_object_get (policy, "not_sent");
    /* Two copies each, but for calls with only one replica to go to, and for those that pay for
       others that were made anew. */
    CHECK_U64 (alone, <=,
               (uint64_t)(json_integer_value (json_object_get (not_sent, "no_sibling")) +
                          json_integer_value (json_object_get (not_sent, "budget"))));
    CHECK_U64 (alone, <, after / 2);
    CHECK_U64 ((uint64_t)json_integer_value (json_object_get (policy, "calls")), ==, lines);
    CHECK_U64 ((uint64_t)json_integer_value (json_object_get (method, "calls")), ==, lines);
    CHECK_U64 ((uint64_t)json_integer_value (json_object_get (report, "policy_reloads")), ==, 1);
    CHECK_U64 ((uint64_t)json_integer_value (json_object_get (report, "policy_reload_errors")), ==,
               1);
    CHECK_STR (json_string_value (json_object_get (settings, "mode")), "tied");
    CHECK_TRUE (json_is_true (json_object_get (settings, "idempotent")));
    json_decref (report);
    cluster_stop (&cluster, 0);
    cluster_stop (&cluster, 1);
}

static void run_refused (const char *text, const char *expected)
{
    const char *const argv[] = {TIED_CLIENT_PROGRAM,
                                "--replica",
                                "a=tcp://127.0.0.1:1",
                                "call",
                                "work",
                                "--policies",
                                policies,
                                NULL};

    write_policies (text);
    struct process *process = process_start (argv);
    CHECK_I64 (process_wait (process), ==, 1);
    if (!strstr (process_errors (process), expected))
        print_error ("%s\n", process_errors (process));
    CHECK_TRUE (strstr (process_errors (process), expected) != NULL);
    process_free (&process);
}

static void a_file_that_is_wrong_at_the_start_ends_the_program (void **state)
{
    (void)state;
    run_refused (BAD, ":2:16: methods.work.mode: \"tide\" is unknown");
    run_refused ("methods: {*: {}}", "is written in quotes");
}

/* 256 and "*"; the library alone takes as many as its option says. */
static void a_file_may_have_as_many_methods_as_the_page_says (void **state)
{
    char *text = calloc (257, 64);
    int size = sprintf (text, "methods:\n");

    (void)state;
    for (int i = 0; i < 256; i++)
        size += sprintf (text + size, "  m%d: {idempotent: true}\n", i);
    run_refused (text, "call \"work\": unavailable, not executed");
    (void)sprintf (text + size, "  more: {idempotent: true}\n");
    run_refused (text, ":258:3: more than 256 keys in one map");
    free (text);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (a_reload_under_load_loses_no_call_and_counts_from_then_on,
                                         setup, teardown),
        cmocka_unit_test_setup_teardown (a_file_that_is_wrong_at_the_start_ends_the_program, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (a_file_may_have_as_many_methods_as_the_page_says, setup,
                                         teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
