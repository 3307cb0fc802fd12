/* SPDX-License-Identifier: MIT */
/*
 * tied-client advise with real processes: it measures, or reads what bench has recorded, and the
 * policy file that it proposes is one.
 */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "policy/policy_file.h"

static char folder[64];
static char record[96], json[96];

static int setup (void **state)
{
    (void)state;
    (void)snprintf (folder, sizeof folder, "/tmp/tied-advise-test-XXXXXX");
    if (!mkdtemp (folder))
        return -1;
    (void)snprintf (record, sizeof record, "%s/calls.csv", folder);
    (void)snprintf (json, sizeof json, "%s/advice.json", folder);
    return 0;
}

static int teardown (void **state)
{
    (void)unlink (record);
    (void)unlink (json);
    (void)rmdir (folder);
    return process_teardown (state);
}

/* Its output, until the next run. */
static const char *run (const char *const argv[])
{
    static char output[4096];
    struct process *process = process_start (argv);
    const int code = process_wait (process);

    if (code != 0)
        print_error ("%s\n", process_errors (process));
    CHECK_I64 (code, ==, 0);
    (void)snprintf (output, sizeof output, "%s", process_output (process));
    process_free (&process);
    return output;
}

static void check_proposal (const char *output, const char *method)
{
    const char *begin = strstr (output, "\nmethods:");
    char why[TI_DOCUMENT_WHY_MAX] = "";
    struct ti_policies policies;

    CHECK_TRUE (begin != NULL);
    CHECK_I64 (ti_policies_read_text ("advice", begin, strlen (begin), 16, &policies, why), ==, 0);
    CHECK_U64 (policies.count, ==, 2);
    CHECK_STR (policies.items[1].name, method);
    CHECK_U64 (policies.items[1].policy.hedge.kind, ==, TIED_HEDGE_RULE_AUTO);
    CHECK_TRUE (policies.items[1].policy.is_idempotent);
    ti_policies_deinit (&policies);
}

static void calls_are_measured_in_shadow_and_their_recording_says_the_same (void **state)
{
    static struct cluster cluster;
    char a[80], b[80];
    const char *const measure[] = {TIED_CLIENT_PROGRAM,
                                   "--replica",
                                   a,
                                   "--replica",
                                   b,
                                   "advise",
                                   "--duration",
                                   "2s",
                                   "--outstanding",
                                   "4",
                                   "--warmup",
                                   "0s",
                                   "--declared",
                                   "yes",
                                   "--timeout",
                                   "60s",
                                   "--record",
                                   record,
                                   "--json",
                                   json,
                                   NULL};
    const char *const replay[] = {TIED_CLIENT_PROGRAM, "advise", "--recording", record,
                                  "--declared",        "yes",    NULL};
    const char *const unknown[] = {TIED_CLIENT_PROGRAM, "advise", "--recording", record, NULL};
    const char *output;

    (void)state;
    cluster_init (&cluster, 2);
    for (uint32_t i = 0; i < 2; i++)
        cluster_start (&cluster, i, "--workers", "4", "--service", "sleep:bimodal(1ms,150ms,0.02)",
                       NULL);
    cluster_await_links (&cluster, 0, 1);
    cluster_await_links (&cluster, 1, 1);
    (void)snprintf (a, sizeof a, "a=%s", cluster.nodes[0].client);
    (void)snprintf (b, sizeof b, "b=%s", cluster.nodes[1].client);
    (void)run (measure);
    /* One copy of each call, and nothing else. */
    json_t *report = json_load_file (json, 0, NULL);
    CHECK_TRUE (report != NULL);
    const uint64_t samples = (uint64_t)json_integer_value (json_object_get (report, "samples"));
    CHECK_U64 (cluster_sum (&cluster, "executed"), >=, samples);
    CHECK_U64 (cluster_sum (&cluster, "executed"), <, samples + 100); /* and looks at counters */
    CHECK_TRUE (json_is_string (json_object_get (report, "answer")));
    json_decref (report);
    cluster_stop (&cluster, 0);
    cluster_stop (&cluster, 1);

    /* On a crowded machine there are fewer calls than a percentile needs: also an answer. */
    output = run (replay);
    if (samples < 1000) {
        CHECK_TRUE (strstr (output, "too few samples") != NULL);
        return;
    }
    CHECK_TRUE (strstr (output, "hedge") != NULL);
    check_proposal (output, "work");
    CHECK_TRUE (strstr (run (unknown), "not known whether work may run twice") != NULL);
    CHECK_TRUE (strstr (run (unknown), "methods:") == NULL);
}

static void what_is_no_recording_is_refused_in_one_line (void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", ": there is nothing in it"},
        {"a,b\n", ":1: no column policy"},
        {"policy,copies,queue_us,latency_us,outcome\n", "there is no call in it"},
        {"policy,copies,queue_us,latency_us,outcome\nsingle,1,x,5,ok\n",
         ":2: copies, queue_us and latency_us are numbers"},
        {"policy,copies,queue_us,latency_us,outcome\nsingle,1,5\n",
         ":2: copies, queue_us and latency_us are numbers"},
        {"policy,copies,queue_us,latency_us,outcome\ntied,2,1,5,ok\n", "more than one copy"},
        {"policy,copies,queue_us,latency_us,outcome\na,1,1,5,ok\nb,1,1,5,ok\n",
         "say which with --policy"},
    };
    const char *const argv[] = {TIED_CLIENT_PROGRAM, "advise", "--recording", record, NULL};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen (record, "w");
        CHECK_TRUE (file != NULL);
        fputs (cases[i].text, file);
        CHECK_I64 (fclose (file), ==, 0);
        struct process *process = process_start (argv);
        CHECK_I64 (process_wait (process), ==, 1);
        const char *errors = process_errors (process);
        if (!strstr (errors, cases[i].why))
            print_error ("%s\n%s\n", cases[i].text, errors);
        CHECK_TRUE (strstr (errors, cases[i].why) != NULL);
        CHECK_PTR (strchr (errors, '\n'), ==, errors + strlen (errors) - 1);
        process_free (&process);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (
            calls_are_measured_in_shadow_and_their_recording_says_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown (what_is_no_recording_is_refused_in_one_line, setup,
                                         teardown),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
