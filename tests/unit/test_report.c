/* SPDX-License-Identifier: MIT */
/*
 * Reports: the JSON field by field through jansson and against its document, the table, the
 * sentence, the distribution, and the HTML page (well-formed, nothing referenced from outside).
 */
#include "check.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "tools/report.h"

#include <tied/error.h>

typedef int (writer_fn) (const struct ti_report *self, FILE *file);

/* Not inlined: gcc 12 then takes the stream's buffer for the local variable that names it. */
__attribute__ ((noinline)) static char *written (const struct ti_report *report, writer_fn *writer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream (&text, &size);
    CHECK_I64 (writer (report, file), ==, TIED_OK);
    fclose (file);
    return text;
}

/* 10 000 calls with latencies of 1 .. 10 000 x step. */
static struct ti_report_policy *add (struct ti_report *report, const char *name, uint64_t step_ns)
{
    struct ti_report_policy *policy = ti_report_add (report, name);
    CHECK_TRUE (policy != NULL);
    for (uint64_t i = 1; i <= 10000; i++)
        ti_hist_record (policy->latency, i * step_ns);
    policy->load = 0.7;
    policy->calls = 10000;
    policy->outcomes[TIED_OUTCOME_OK] = 10000;
    policy->copies = policy->executions = 10000;
    return policy;
}

static void make (struct ti_report *report)
{
    ti_report_init (report);
    report->program = "tied-client bench";
    report->command = "tied-client bench </script> & \"'\xff";
    report->service = "sleep:exp(10ms)";
    report->arrivals = "poisson";
    report->rate = 420;
    report->replicas = 3;
    report->workers = 2;
    report->duration_ns = S (15);
    report->seed = UINT64_MAX;
    report->started_unix_s = 1764518400;
    add (report, "single", US (10));
    struct ti_report_policy *tied = add (report, "tied", US (5));
    tied->outcomes[TIED_OUTCOME_OK] = 9989;
    for (int i = TIED_OUTCOME_APP_ERROR; i < TIED_OUTCOME_COUNT; i++)
        tied->outcomes[i] = 1;
    tied->outcomes[TIED_OUTCOME_REJECTED] = 5;
    tied->copies = 18700;
    tied->executions = 10031;
    tied->duplicates = 31;
    tied->cancels.sent = 10031;
    tied->cancels.effective = 8000;
    tied->cancels.early = 638;
    tied->cancels.late = 62;
    tied->lateness_max_ns = US (310);
    for (int i = 0; i < TIED_NOT_SENT_COUNT; i++)
        tied->not_sent[i] = 100 + (uint64_t)i;
}

static double number (const json_t *object, const char *key)
{
    const json_t *value = json_object_get (object, key);
    if (!json_is_number (value))
        print_error ("no number: %s\n", key);
    CHECK_TRUE (json_is_number (value));
    return json_number_value (value);
}

static void json_has_every_field_of_schema_1 (void **state)
{
    (void)state;
    struct ti_report report;
    make (&report);
    char *text = written (&report, ti_report_write_json);
    json_error_t error;
    json_t *root = json_loads (text, JSON_REJECT_DUPLICATES, &error);
    CHECK_TRUE (root != NULL);
    CHECK_TRUE (json_is_integer (json_object_get (root, "schema")));
    CHECK_DBL (number (root, "schema"), ==, 1);
    CHECK_STR (json_string_value (json_object_get (root, "seed")), "18446744073709551615");
    CHECK_STR (json_string_value (json_object_get (root, "service")), "sleep:exp(10ms)");
    CHECK_DBL (number (root, "rate_per_s"), ==, 420);
    CHECK_DBL (number (root, "duration_ms"), ==, 15000);
    const json_t *policies = json_object_get (root, "policies");
    CHECK_U64 (json_array_size (policies), ==, 2);
    const json_t *tied = json_array_get (policies, 1);
    CHECK_STR (json_string_value (json_object_get (tied, "policy")), "tied");
    CHECK_DBL (number (tied, "load"), ==, 0.7);
    CHECK_DBL (number (tied, "calls"), ==, 10000);
    CHECK_DBL (number (tied, "copies_per_call"), ==, 1.87);
    CHECK_DBL (number (tied, "executions_per_call"), ==, 1.0031);
    CHECK_TRUE (json_is_integer (json_object_get (tied, "duplicates")));
    CHECK_DBL (number (tied, "duplicates"), ==, 31);
    CHECK_DBL (number (tied, "lateness_max_ms"), ==, 0.31);
    const json_t *latency = json_object_get (tied, "latency_ms");
    const char *const names[] = {"p50", "p90", "p95", "p99", "p99_9", "p99_99"};
    const double exact[] = {25, 45, 47.5, 49.5, 49.95, 49.995};
    for (size_t i = 0; i < 6; i++) {
        CHECK_DBL (number (latency, names[i]), >=, exact[i]);
        CHECK_DBL (number (latency, names[i]), <=, exact[i] * 1.008);
    }
    CHECK_DBL (number (latency, "mean"), ==, 25.0025);
    CHECK_DBL (number (latency, "max"), ==, 50);
    CHECK_DBL (number (latency, "min"), ==, 0.005);
    CHECK_DBL (number (latency, "count"), ==, 10000);
    CHECK_DBL (number (latency, "clamped"), ==, 0);
    const json_t *outcomes = json_object_get (tied, "outcomes");
    CHECK_U64 (json_object_size (outcomes), ==, 8);
    const char *const outcome_names[] = {"ok",        "app_error",   "rejected",      "deadline",
                                         "cancelled", "unavailable", "unimplemented", "invalid"};
    const double counts[] = {9989, 1, 5, 1, 1, 1, 1, 1};
    double sum = 0;
    for (size_t i = 0; i < 8; i++) {
        CHECK_DBL (number (outcomes, outcome_names[i]), ==, counts[i]);
        sum += counts[i];
    }
    CHECK_DBL (sum, ==, number (tied, "calls"));
    const json_t *cancels = json_object_get (tied, "cancels");
    CHECK_DBL (number (cancels, "sent"), ==, 10031);
    CHECK_DBL (number (cancels, "effective"), ==, 8000);
    CHECK_DBL (number (cancels, "early"), ==, 638);
    CHECK_DBL (number (cancels, "late"), ==, 62);
    const json_t *not_sent = json_object_get (tied, "not_sent");
    CHECK_U64 (json_object_size (not_sent), ==, TIED_NOT_SENT_COUNT - 1);
    CHECK_DBL (number (not_sent, "not_idempotent"), ==, 101);
    CHECK_DBL (number (not_sent, "copies_max"), ==, 106);
    CHECK_TRUE (json_object_get (not_sent, "none") == NULL);
    const json_t *points = json_object_get (tied, "distribution");
    CHECK_U64 (json_array_size (points), ==, 4 * 24 + 2);
    const json_t *last = json_array_get (points, 4 * 24 + 1);
    CHECK_DBL (json_number_value (json_array_get (last, 0)), ==, 1);
    CHECK_DBL (json_number_value (json_array_get (last, 1)), ==, 50);
    json_decref (root);
    free (text);
    ti_report_deinit (&report);
}

static void unknown_figures_are_null_and_never_nan (void **state)
{
    (void)state;
    struct ti_report report;
    json_error_t error;
    ti_report_init (&report);
    CHECK_TRUE (ti_report_add (&report, "idle") != NULL);
    char *text = written (&report, ti_report_write_json);
    json_t *root = json_loads (text, JSON_REJECT_DUPLICATES, &error);
    CHECK_TRUE (root != NULL);
    CHECK_TRUE (json_is_null (json_object_get (root, "command")));
    CHECK_TRUE (json_is_null (json_object_get (root, "started_unix_s")));
    const json_t *policy = json_array_get (json_object_get (root, "policies"), 0);
    CHECK_TRUE (json_is_null (json_object_get (policy, "load")));
    CHECK_DBL (number (policy, "copies_per_call"), ==, 0);
    CHECK_DBL (number (json_object_get (policy, "latency_ms"), "p99"), ==, 0);
    CHECK_U64 (json_array_size (json_object_get (policy, "distribution")), ==, 0);
    json_decref (root);
    free (text);
    ti_report_deinit (&report);
}

static char *read_whole_file (const char *path)
{
    FILE *file = fopen (path, "r");
    CHECK_TRUE (file != NULL);
    char *text = calloc (1, 1 << 16);
    CHECK_TRUE (text != NULL);
    CHECK_U64 (fread (text, 1, (1 << 16) - 1, file), >, 0);
    fclose (file);
    return text;
}

/* Every key of value stands in backquotes in the document. */
static void check_keys_are_described (const char *document, const json_t *value)
{
    const char *key;
    json_t *member;
    size_t index;
    char quoted[80];
    json_array_foreach ((json_t *)(uintptr_t)value, index, member)
        check_keys_are_described (document, member);
    json_object_foreach ((json_t *)(uintptr_t)value, key, member)
    {
        snprintf (quoted, sizeof quoted, "`%s`", key);
        if (!strstr (document, quoted))
            print_error ("docs/json.md does not describe %s\n", key);
        CHECK_TRUE (strstr (document, quoted) != NULL);
        check_keys_are_described (document, member);
    }
}

static void the_document_describes_every_field_and_its_example_is_real (void **state)
{
    (void)state;
    struct ti_report report;
    json_error_t error;
    char *document = read_whole_file (TIED_SOURCE_DIR "/docs/json.md");
    char *example = strstr (document, "```json\n");
    CHECK_TRUE (example != NULL);
    example += 8;
    char *end = strstr (example, "```");
    CHECK_TRUE (end != NULL);

    ti_report_init (&report);
    report.program = "tied-client bench";
    report.command = "tied-client bench --policy tied";
    report.service = "sleep:exp(10ms)";
    report.arrivals = "poisson";
    report.rate = 420;
    report.replicas = 3;
    report.workers = 2;
    report.duration_ns = S (15);
    report.seed = 1;
    report.started_unix_s = 1764518400;
    struct ti_report_policy *tied = ti_report_add (&report, "tied");
    tied->load = 0.7;
    tied->calls = tied->outcomes[TIED_OUTCOME_OK] = tied->executions = 2;
    tied->copies = 4;
    tied->cancels.sent = 2;
    tied->cancels.effective = tied->cancels.early = 1;
    tied->lateness_max_ns = US (310);
    ti_hist_record (tied->latency, MS (5));
    ti_hist_record (tied->latency, MS (9));
    char *text = written (&report, ti_report_write_json);
    json_t *root = json_loads (text, 0, &error);
    check_keys_are_described (document, root);
    json_decref (root);
    *end = '\0';
    CHECK_STR (example, text);
    free (text);
    free (document);
    ti_report_deinit (&report);
}

static void distribution_is_a_rising_grid_that_ends_with_the_largest (void **state)
{
    (void)state;
    struct ti_report report;
    struct ti_report_point points[TI_REPORT_POINTS_MAX];
    make (&report);
    const struct ti_hist *latency = report.policies[0].latency;
    uint32_t count = ti_report_distribution (latency, points);
    CHECK_DBL (points[0].share, ==, 0);
    CHECK_U64 (points[0].ns, ==, latency->min);
    for (uint32_t i = 1; i < count; i++) {
        CHECK_DBL (points[i].share, >, points[i - 1].share);
        CHECK_U64 (points[i].ns, >=, points[i - 1].ns);
    }
    CHECK_DBL (points[24].share, ==, 0.9);
    CHECK_U64 (points[24].ns, ==, ti_hist_percentile (latency, TI_HIST_P90));
    CHECK_DBL (points[count - 1].share, ==, 1);
    CHECK_U64 (points[count - 1].ns, ==, latency->max);

    /* One sample, and more than the grid reaches. */
    struct ti_hist *other = ti_report_hist_new ();
    CHECK_U64 (ti_report_distribution (other, points), ==, 0);
    ti_hist_record (other, 5);
    CHECK_U64 (ti_report_distribution (other, points), ==, 2);
    ti_hist_record_n (other, 7, UINT64_MAX);
    CHECK_U64 (ti_report_distribution (other, points), ==, 241);
    free (other);
    ti_report_deinit (&report);
}

static void table_has_a_row_for_each_policy_within_120_columns (void **state)
{
    (void)state;
    struct ti_report report;
    make (&report);
    char *text = written (&report, ti_report_write_table);
    CHECK_TRUE (strstr (text, "service sleep:exp(10ms), 3 replicas of 2 workers, load 70 %, "
                              "poisson arrivals at 420/s, 15s of each policy, seed") != NULL);
    const char *row = strstr (text, "\ntied ");
    CHECK_TRUE (row != NULL);
    char name[16];
    double p50, p90, p99, p99_9, max, copies, runs;
    unsigned calls, twice, rejected, deadline, other, effective, early, late;
    CHECK_I64 (sscanf (row, "%15s %u %lf %lf %lf %lf %lf %lf %lf %u %u %u %u %u %u %u", name,
                       &calls, &p50, &p90, &p99, &p99_9, &max, &copies, &runs, &twice, &rejected,
                       &deadline, &other, &effective, &early, &late),
               ==, 16);
    CHECK_U64 (calls, ==, 10000);
    CHECK_DBL (p50, >=, 25);
    CHECK_DBL (p50, <=, 25.2);
    CHECK_DBL (max, ==, 50);
    CHECK_DBL (copies, ==, 1.87);
    CHECK_DBL (runs, ==, 1.003);
    CHECK_U64 (twice, ==, 31);
    CHECK_U64 (rejected, ==, 5);
    CHECK_U64 (deadline, ==, 1);
    CHECK_U64 (other, ==, 4);
    CHECK_U64 (effective, ==, 8000);
    CHECK_U64 (early, ==, 638);
    CHECK_U64 (late, ==, 62);
    const char *table = strstr (text, "\n\n");
    for (const char *line = table; *line;) {
        size_t length = strcspn (line, "\n");
        CHECK_U64 (length, <=, 120);
        line += length + (line[length] == '\n');
    }
    CHECK_TRUE (strchr (text, '\x1b') == NULL);
    free (text);
    ti_report_deinit (&report);
}

static void figures_that_rest_on_little_are_noted (void **state)
{
    (void)state;
    struct ti_report report;
    make (&report);
    for (int i = TIED_OUTCOME_CANCELLED; i < TIED_OUTCOME_COUNT; i++)
        report.policies[1].outcomes[i] = 0;
    char *text = written (&report, ti_report_write_table);
    CHECK_TRUE (strstr (text, "note:") == NULL);
    free (text);
    ti_hist_reset (report.policies[0].latency);
    ti_hist_record_n (report.policies[0].latency, MS (1), 9999);
    report.policies[1].lateness_max_ns = MS (20);
    report.looks_missed = 2;
    text = written (&report, ti_report_write_table);
    CHECK_TRUE (strstr (text, "note: single: fewer than 10 calls lie above p99.9") != NULL);
    CHECK_TRUE (strstr (text, "note: tied: the generator sent up to 20.0 ms after") != NULL);
    CHECK_TRUE (strstr (text, "note: 2 times a replica did not say what it ran") != NULL);
    CHECK_TRUE (strstr (text, "note: it was odd") == NULL);
    free (text);
    report.remark = "it was odd";
    text = written (&report, ti_report_write_table);
    CHECK_TRUE (strstr (text, "note: it was odd\n") != NULL);
    free (text);
    ti_report_deinit (&report);
}

static void what_was_not_answered_has_no_latency_and_its_reasons_are_named (void **state)
{
    (void)state;
    struct ti_report report;
    make (&report);
    struct ti_report_policy *none = ti_report_add (&report, "none");
    struct ti_report_policy *unknown = ti_report_add (&report, "unknown");
    CHECK_TRUE (none && unknown);
    unknown->calls = unknown->copies = 95;
    unknown->outcomes[TIED_OUTCOME_UNIMPLEMENTED] = 92;
    unknown->outcomes[TIED_OUTCOME_DEADLINE] = 3;
    char *text = written (&report, ti_report_write_table);
    CHECK_TRUE (strstr (text, "note: none: no call was made\n") != NULL);
    CHECK_TRUE (
        strstr (text, "note: unknown: no call was answered: 3 deadline, 92 unimplemented\n") !=
        NULL);
    CHECK_TRUE (strstr (text, "note: tied: calls that were not answered: 5 rejected, 1 deadline, 1 "
                              "cancelled, 1 unavailable, 1 unimplemented, 1 invalid\n") != NULL);
    CHECK_TRUE (strstr (text, "unknown: fewer than") == NULL);
    const char *row = strstr (text, "\nunknown ");
    CHECK_TRUE (row != NULL);
    char p50[8] = "", max[8] = "";
    CHECK_I64 (sscanf (row, " unknown 95 %7s - - - %7s 1.000", p50, max), ==, 2);
    CHECK_STR (p50, "-");
    CHECK_STR (max, "-");
    free (text);
    ti_report_deinit (&report);
}

static void the_sentence_says_gain_and_cost (void **state)
{
    (void)state;
    struct ti_report report;
    char sentence[TI_REPORT_SENTENCE_MAX];
    make (&report);
    CHECK_STR (ti_report_sentence (&report, sentence),
               "Against single, tied lowered p99 from 99.1 to 49.5 ms (50 % less) and lowered p50 "
               "from 50.1 to 25.0 ms (50 % less); it sent 1.87 copies per call and executed 0.31 % "
               "of the calls twice, and 10 calls were not answered (single: 0).");
    /* A loss is called a loss: the same run with the names exchanged. */
    report.policies[0].policy = "tied";
    report.policies[1].policy = "single";
    CHECK_STR (
        ti_report_sentence (&report, sentence),
        "Against single, tied raised p99 from 49.5 to 99.1 ms (100 % more) and raised p50 "
        "from 25.0 to 50.1 ms (100 % more); it sent 1.00 copies per call and executed 0.00 % "
        "of the calls twice, and 0 calls were not answered (single: 10).");
    report.policies_count = 1;
    CHECK_STR (ti_report_sentence (&report, sentence),
               "tied answered 10000 of 10000 calls, p50 50.1 ms and p99 99.1 ms; it sent 1.00 "
               "copies per call and executed 0.00 % of the calls twice.");
    report.policies_count = 2;
    ti_hist_reset (report.policies[1].latency);
    CHECK_TRUE (strstr (ti_report_sentence (&report, sentence), "nothing to compare") != NULL);
    ti_report_deinit (&report);
}

/* Of three policies the sentence is about tied, also when another one was better. */
static void the_sentence_is_about_tied_if_it_ran (void **state)
{
    (void)state;
    struct ti_report report;
    char sentence[TI_REPORT_SENTENCE_MAX];
    make (&report);
    report.policies[2] = report.policies[0];
    report.policies[2].policy = "tied";
    report.policies[1].policy = "single/informed";
    report.policies_count = 3;
    CHECK_TRUE (strstr (ti_report_sentence (&report, sentence),
                        "Against single, tied left p99 at 99.1 ms") == sentence);
    report.policies[2].policy = "tied:1ms";
    CHECK_TRUE (strstr (ti_report_sentence (&report, sentence),
                        "Against single, single/informed (the lowest p99 of the other 2) ") ==
                sentence);
    report.policies_count = 2;
    ti_report_deinit (&report);
}

#define DEPTH_MAX 64

/* Every tag that opens is closed in order; no '<' or '&' stands for itself outside of scripts. */
static void check_is_well_formed (const char *text)
{
    char open[DEPTH_MAX][16];
    int depth = 0;
    CHECK_TRUE (strncmp (text, "<!DOCTYPE html>\n", 16) == 0);
    for (text += 16; *text;) {
        if (*text == '&') {
            CHECK_U64 (strcspn (text, ";"), <=, 8);
            text++;
            continue;
        }
        if (*text != '<') {
            text++;
            continue;
        }
        bool is_end = text[1] == '/';
        const char *name = text + 1 + is_end;
        size_t length = strcspn (name, " />\n");
        size_t tag = strcspn (text, ">");
        CHECK_TRUE (text[tag] == '>');
        CHECK_U64 (length, <, 16);
        CHECK_U64 (length, >, 0);
        if (is_end) {
            CHECK_I64 (depth, >, 0);
            depth--;
            CHECK_U64 (strlen (open[depth]), ==, length);
            CHECK_MEM (open[depth], name, length);
        } else if (text[tag - 1] != '/') {
            CHECK_I64 (depth, <, DEPTH_MAX);
            memcpy (open[depth], name, length);
            open[depth++][length] = '\0';
        }
        text += tag + 1;
    }
    CHECK_I64 (depth, ==, 0);
}

static void html_is_well_formed_and_references_nothing (void **state)
{
    (void)state;
    struct ti_report report;
    for (uint32_t policies = 0; policies <= 18; policies++) {
        ti_report_init (&report);
        for (uint32_t i = 0; i < policies; i++)
            add (&report, i % 2 ? "<b>&\"'\x01\xff" : "a rather long name of a policy",
                 US (1 + i * i * 100));
        char *text = written (&report, ti_report_write_html);
        const char *const forbidden[] = {"http:",   "https:", "src=", "href=", "url(",
                                         "@import", "//",     "nan",  "inf,",  "<b>"};
        for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
            if (strstr (text, forbidden[i]))
                print_error ("the page contains %s\n", forbidden[i]);
            CHECK_TRUE (strstr (text, forbidden[i]) == NULL);
        }
        check_is_well_formed (text);
        free (text);
        ti_report_deinit (&report);
    }
}

static void a_full_report_refuses_one_more_and_frees_only_its_own (void **state)
{
    (void)state;
    struct ti_report report;
    struct ti_hist *shared = ti_report_hist_new ();
    ti_report_init (&report);
    CHECK_TRUE (ti_report_add (&report, "own") != NULL);
    for (uint32_t i = 1; i < TI_REPORT_POLICIES_MAX; i++)
        CHECK_TRUE (ti_report_add_of (&report, "shared", shared) != NULL);
    CHECK_PTR (ti_report_add (&report, "one too many"), ==, NULL);
    CHECK_PTR (ti_report_add_of (&report, "one too many", shared), ==, NULL);
    char *text = written (&report, ti_report_write_table);
    free (text);
    ti_report_deinit (&report);
    free (shared);
}

static void an_unstable_policy_shows_no_percentile (void **state)
{
    (void)state;
    struct ti_report report;
    json_error_t error;
    char sentence[TI_REPORT_SENTENCE_MAX];
    make (&report);
    report.policies[0].is_unstable = true;
    char *text = written (&report, ti_report_write_json);
    json_t *root = json_loads (text, JSON_REJECT_DUPLICATES, &error);
    const json_t *single = json_array_get (json_object_get (root, "policies"), 0);
    const json_t *latency = json_object_get (single, "latency_ms");
    CHECK_TRUE (json_is_null (json_object_get (latency, "p99")));
    CHECK_TRUE (json_is_null (json_object_get (latency, "mean")));
    CHECK_DBL (number (latency, "count"), ==, 10000);
    CHECK_U64 (json_array_size (json_object_get (single, "distribution")), ==, 0);
    json_decref (root);
    free (text);
    text = written (&report, ti_report_write_table);
    CHECK_TRUE (strstr (text, "UNSTABLE") != NULL);
    CHECK_TRUE (strstr (text, "99.1") == NULL);
    free (text);
    text = written (&report, ti_report_write_html);
    CHECK_TRUE (strstr (text, "class=\"curve s0\" stroke-dasharray=\"7 4\" points") == NULL);
    CHECK_TRUE (strstr (text, "class=\"curve s1\" stroke-dasharray=\"none\" points") != NULL);
    free (text);
    CHECK_STR (ti_report_sentence (&report, sentence),
               "single is unstable: its queue grows without end, so there is no percentile to "
               "compare with; tied answered 9990 of 10000 calls, p50 25.0 ms and p99 49.5 ms; it "
               "sent 1.87 copies per call and executed 0.31 % of the calls twice.");
    report.policies[1].is_unstable = true;
    CHECK_STR (ti_report_sentence (&report, sentence),
               "All policies are unstable: their queues grow without end at this load.");
    ti_report_deinit (&report);
}

static void html_holds_sentence_table_curves_and_the_json (void **state)
{
    (void)state;
    struct ti_report report;
    json_error_t error;
    make (&report);
    char *text = written (&report, ti_report_write_html);
    const char *const parts[] = {"Against single, tied lowered p99",
                                 "class=\"curve s1\"",
                                 "copies sent per call",
                                 "<td>1.870</td>",
                                 "99.9 %</text>",
                                 "sleep:exp(10ms)",
                                 "tied-client bench &lt;/script&gt; &amp; &quot;&#39;&#65533;",
                                 "prefers-color-scheme: dark"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CHECK_TRUE (strstr (text, parts[i]) != NULL);
    const char *opening = "<script type=\"application/json\" id=\"report\">";
    char *json = strstr (text, opening);
    CHECK_TRUE (json != NULL);
    json += strlen (opening);
    char *end = strstr (json, "</script>");
    CHECK_TRUE (end != NULL);
    json_t *root = json_loadb (json, (size_t)(end - json), 0, &error);
    CHECK_TRUE (root != NULL);
    CHECK_U64 (json_array_size (json_object_get (root, "policies")), ==, 2);
    json_decref (root);
    check_is_well_formed (text);
    free (text);
    ti_report_deinit (&report);
}

static int write_nothing_but_an_error (const struct ti_report *self, FILE *file)
{
    (void)self;
    fputs ("half", file);
    errno = ENOSPC;
    return TIED_ERR_SYSTEM;
}

static void saving_replaces_a_file_whole_or_not_at_all (void **state)
{
    (void)state;
    struct ti_report report;
    char directory[] = "/tmp/tied-report-XXXXXX", path[64], missing[64];
    CHECK_TRUE (mkdtemp (directory) != NULL);
    snprintf (path, sizeof path, "%s/r.json", directory);
    snprintf (missing, sizeof missing, "%s/none/r.json", directory);
    make (&report);
    CHECK_I64 (ti_report_save (&report, ti_report_write_json, path), ==, TIED_OK);
    char *first = read_whole_file (path);
    CHECK_I64 (ti_report_save (&report, write_nothing_but_an_error, path), ==, TIED_ERR_SYSTEM);
    CHECK_I64 (errno, ==, ENOSPC);
    char *second = read_whole_file (path);
    CHECK_STR (first, second);
    CHECK_I64 (ti_report_save (&report, ti_report_write_json, missing), ==, TIED_ERR_SYSTEM);
    CHECK_I64 (errno, ==, ENOENT);
    /* A device stays a device. */
    CHECK_I64 (ti_report_save (&report, ti_report_write_json, "/dev/null"), ==, TIED_OK);
    CHECK_I64 (ti_report_save (&report, ti_report_write_json, "/dev/full"), ==, TIED_ERR_SYSTEM);
    struct stat status;
    CHECK_I64 (stat ("/dev/null", &status), ==, 0);
    CHECK_TRUE (S_ISCHR (status.st_mode));
    /* Nothing is left beside the file. */
    CHECK_I64 (unlink (path), ==, 0);
    CHECK_I64 (rmdir (directory), ==, 0);
    free (first);
    free (second);
    ti_report_deinit (&report);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (json_has_every_field_of_schema_1),
        cmocka_unit_test (unknown_figures_are_null_and_never_nan),
        cmocka_unit_test (the_document_describes_every_field_and_its_example_is_real),
        cmocka_unit_test (distribution_is_a_rising_grid_that_ends_with_the_largest),
        cmocka_unit_test (table_has_a_row_for_each_policy_within_120_columns),
        cmocka_unit_test (figures_that_rest_on_little_are_noted),
        cmocka_unit_test (what_was_not_answered_has_no_latency_and_its_reasons_are_named),
        cmocka_unit_test (the_sentence_says_gain_and_cost),
        cmocka_unit_test (the_sentence_is_about_tied_if_it_ran),
        cmocka_unit_test (html_is_well_formed_and_references_nothing),
        cmocka_unit_test (a_full_report_refuses_one_more_and_frees_only_its_own),
        cmocka_unit_test (an_unstable_policy_shows_no_percentile),
        cmocka_unit_test (html_holds_sentence_table_curves_and_the_json),
        cmocka_unit_test (saving_replaces_a_file_whole_or_not_at_all),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
