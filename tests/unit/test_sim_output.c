/* SPDX-License-Identifier: MIT */
/*
 * What the simulator writes: text, JSON field by field through jansson and against its document,
 * CSV, and the page (well-formed, nothing referenced). The studies are made up.
 */
#include "check.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "engine/stream.h"
#include "output/internal.h"
#include "study/sweep.h"

#include <tied/error.h>

typedef int (writer_fn) (const struct sim_output *output, FILE *file);

/* Policies whose replications all have a queue that grows; by kind. */
static uint32_t unstable_kind = SIM_POLICY_KINDS;

/* Latencies of 1 .. 1000 x 0.1 ms x what the policy makes of them. */
static int
runner (const struct sim_run_options *options, struct sim_result *result, char why[SIM_WHY_MAX])
{
    const struct sim_policy *policy = &options->scenario->policies[options->policy];
    bool is_tied = policy->kind == SIM_POLICY_TIED;
    double noise = (double)(sim_draw (options->seed, SIM_STREAM_SERVICE, 0, 0) >> 11) * 0x1p-53;
    double factor = (is_tied ? 0.5 : 1) * (1 + 0.02 * noise);
    (void)why;
    if (policy->kind == SIM_POLICY_CLONE)
        factor = 0.75;
    factor += (double)policy->stagger_ns / 1e9;
    for (uint64_t i = 1; i <= 1000; i++) {
        uint64_t ns = (uint64_t)((double)US (100 * i) * factor);
        ti_hist_record (result->latency, ns);
        result->latency_sum_ns += (double)ns;
    }
    result->requests = result->calls = result->outcomes[TIED_OUTCOME_OK] = 1000;
    result->copies = is_tied ? 1990 : 1000;
    result->executions = is_tied ? 1013 : policy->kind == SIM_POLICY_CLONE ? 2000 : 1000;
    result->duplicates = result->executions - 1000;
    result->cancels.sent = 900;
    result->cancels.effective = 870;
    result->cancels.moot = 3;
    result->cancels.lost = 4;
    result->all_calls = 1200;
    result->cut_requests = 200;
    result->busy_ns = S (7);
    result->served_ns = S (7);
    result->wasted_ns = MS (70);
    result->span_ns = S (10);
    result->depth_area = S (15);
    result->workers = result->replicas = 1;
    result->trace_hash = options->seed + options->policy;
    result->wall_ns = MS (2);
    result->is_unstable = policy->kind == unstable_kind;
    return TIED_OK;
}

static char title[] = "A <title> & \"quotes\"";
static char source[] = "name: made-up\n# </script> & <b>\n";
static struct sim_scenario scenario;
static struct sim_sweep_studies sweep;
static struct sim_output output;

static void make (const double *loads, uint32_t loads_count, const struct sim_grid *grid)
{
    const struct sim_study_options options = {.jobs = 1, .runner = runner};
    const struct sim_sweep_options sweeping = {
        .loads = loads, .loads_count = loads_count, .grid = grid};
    char why[SIM_WHY_MAX];
    memset (&scenario, 0, sizeof scenario);
    snprintf (scenario.name, SIM_NAME_MAX, "made-up");
    scenario.title = title;
    scenario.source = source;
    scenario.workload.load = 0.7;
    scenario.workload.fan_out = 1;
    scenario.workload.service = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = MS (10)};
    scenario.replicas.count = 10;
    scenario.replicas.workers = 1;
    scenario.clients = 1;
    scenario.amount = (struct sim_amount){
        .calls = 1000, .warm_up = 0.1, .cool_down = 0.1, .replications = 5, .seed = UINT64_MAX};
    scenario.policies_count = 3;
    snprintf (scenario.policies[0].name, SIM_NAME_MAX, "single");
    snprintf (scenario.policies[1].name, SIM_NAME_MAX, "tied");
    scenario.policies[0].pick = scenario.policies[2].pick = TIED_PICK_RANDOM;
    scenario.policies[1].kind = SIM_POLICY_TIED;
    scenario.policies[1].pick = TIED_PICK_INFORMED;
    snprintf (scenario.policies[2].name, SIM_NAME_MAX, "clone, \"<b>\"");
    scenario.policies[2].kind = SIM_POLICY_CLONE;
    scenario.published_count = 3;
    scenario.published[0] =
        (struct sim_published){.policy = "single", .ppm = 990000, .ms = 100, .tolerance = 0.1};
    scenario.published[1] =
        (struct sim_published){.policy = "tied", .ppm = 500000, .ms = 50, .tolerance = 0.1};
    scenario.published[2] = (struct sim_published){.policy = "tied", .ppm = 0, .ms = 25};
    CHECK_I64 (sim_sweep_run (&scenario, &sweeping, &options, &sweep, why), ==, TIED_OK);
    output = (struct sim_output){.program = "tied-sim run",
                                 .command = "tied-sim run made-up.yaml",
                                 .started_unix_s = 1764518400,
                                 .wall_ns = MS (12),
                                 .scenario = &scenario,
                                 .studies = sweep.studies,
                                 .studies_count = sweep.count,
                                 .is_grid = grid != NULL};
}

/* Not inlined: gcc 12 then takes the stream's buffer for the local variable that names it. */
__attribute__ ((noinline)) static char *written (writer_fn *writer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream (&text, &size);
    CHECK_I64 (writer (&output, file), ==, TIED_OK);
    fclose (file);
    return text;
}

static double number (const json_t *object, const char *key)
{
    const json_t *value = json_object_get (object, key);
    if (!json_is_number (value))
        print_error ("no number: %s\n", key);
    CHECK_TRUE (json_is_number (value));
    return json_number_value (value);
}

static json_t *json_of (char *text)
{
    json_error_t error;
    json_t *root = json_loads (text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        print_error ("line %d: %s\n", error.line, error.text);
    CHECK_TRUE (root != NULL);
    return root;
}

static void json_has_the_report_and_what_a_simulation_adds (void **state)
{
    (void)state;
    make (NULL, 0, NULL);
    char *text = written (sim_output_write_json);
    json_t *root = json_of (text);
    CHECK_DBL (number (root, "schema"), ==, 1);
    CHECK_STR (json_string_value (json_object_get (root, "program")), "tied-sim run");
    CHECK_STR (json_string_value (json_object_get (root, "scenario")), source);
    CHECK_STR (json_string_value (json_object_get (root, "seed")), "18446744073709551615");
    CHECK_STR (json_string_value (json_object_get (root, "arrivals")), "poisson");
    CHECK_U64 (strlen (json_string_value (json_object_get (root, "trace_hash"))), ==, 16);
    CHECK_DBL (number (root, "rate_per_s"), ==, 700);
    CHECK_DBL (number (root, "replications"), ==, 5);
    CHECK_DBL (number (root, "cut_requests"), ==, 3000);
    CHECK_DBL (number (root, "wall_ms"), ==, 12);
    CHECK_TRUE (json_is_false (json_object_get (root, "out_of_time")));
    const json_t *policies = json_object_get (root, "policies");
    CHECK_U64 (json_array_size (policies), ==, 3);
    CHECK_TRUE (json_is_null (json_object_get (json_array_get (policies, 0), "minus_baseline")));
    const json_t *tied = json_array_get (policies, 1);
    CHECK_DBL (number (tied, "load"), ==, 0.7);
    CHECK_DBL (number (tied, "calls"), ==, 5000);
    CHECK_DBL (number (tied, "copies_per_call"), ==, 1.99);
    CHECK_DBL (number (tied, "executions_per_call"), ==, 1.013);
    CHECK_DBL (number (tied, "duplicate_fraction"), ==, 0.013);
    CHECK_DBL (fabs (number (tied, "utilisation") - 0.7), <, 1e-12);
    CHECK_DBL (fabs (number (tied, "queue_depth_mean") - 1.5), <, 1e-12);
    CHECK_DBL (fabs (number (tied, "wasted_share") - 0.01), <, 1e-12);
    CHECK_DBL (number (tied, "simulated_calls_per_second"), ==, 600e3);
    CHECK_TRUE (json_is_false (json_object_get (tied, "unstable")));
    CHECK_TRUE (json_is_null (json_object_get (tied, "hedge_ms")));
    const json_t *cancels = json_object_get (tied, "cancels");
    CHECK_DBL (number (cancels, "effective"), ==, 4350);
    CHECK_DBL (number (cancels, "lost"), ==, 20);
    CHECK_DBL (number (cancels, "moot"), ==, 15);
    const json_t *interval = json_object_get (json_object_get (tied, "ci95_ms"), "p99");
    double p99 = number (json_object_get (tied, "latency_ms"), "p99");
    double low = json_number_value (json_array_get (interval, 0));
    double high = json_number_value (json_array_get (interval, 1));
    CHECK_U64 (json_array_size (interval), ==, 2);
    CHECK_DBL (low, <, high);
    CHECK_DBL (low, <, p99);
    CHECK_DBL (high, >, p99);
    CHECK_DBL (fabs (p99 - (low + high) / 2), <, (high - low) / 4);
    CHECK_U64 (json_object_size (json_object_get (tied, "ci95_ms")), ==, 7);
    const json_t *minus = json_object_get (tied, "minus_baseline");
    CHECK_STR (json_string_value (json_object_get (minus, "baseline")), "single");
    CHECK_DBL (number (minus, "p99_ms"), <, -45);
    const json_t *published = json_object_get (root, "published");
    CHECK_U64 (json_array_size (published), ==, 3);
    CHECK_TRUE (json_is_true (json_object_get (json_array_get (published, 0), "agrees")));
    CHECK_TRUE (json_is_false (json_object_get (json_array_get (published, 1), "agrees")));
    CHECK_TRUE (json_is_null (json_object_get (json_array_get (published, 2), "agrees")));
    const json_t *front = json_object_get (root, "pareto");
    /* clone is slower than tied and works more. */
    CHECK_TRUE (json_is_false (json_object_get (json_array_get (front, 0), "dominated")));
    CHECK_TRUE (json_is_false (json_object_get (json_array_get (front, 1), "dominated")));
    CHECK_TRUE (json_is_true (json_object_get (json_array_get (front, 2), "dominated")));
    /* But it sends less copies: as this runner has it. */
    CHECK_TRUE (json_is_false (json_object_get (json_array_get (front, 2), "dominated_in_copies")));
    CHECK_TRUE (json_object_get (root, "sweep") == NULL);
    json_decref (root);
    free (text);
    sim_sweep_deinit (&sweep);
}

/* Where the tables have a mean over replications, nothing else has the percentile of all calls
 * together. */
static void every_writer_shows_the_mean_over_replications (void **state)
{
    (void)state;
    make (NULL, 0, NULL);
    const struct sim_policy_summary *single = &sweep.studies[0].policies[0];
    double p99_ms = single->percentile_ns[3].value / 1e6;
    double pooled_ms = (double)ti_hist_percentile (single->sum.latency, TI_HIST_P99) / 1e6;
    CHECK_TRUE (fabs (pooled_ms - p99_ms) > 0.01); /* or nothing could be told apart */
    char *text = written (sim_output_write_json), sentence[32];
    json_t *root = json_of (text);
    const json_t *policy = json_array_get (json_object_get (root, "policies"), 0);
    const json_t *latency = json_object_get (policy, "latency_ms");
    const json_t *interval = json_object_get (json_object_get (policy, "ci95_ms"), "p99");
    const json_t *published = json_array_get (json_object_get (root, "published"), 0);
    CHECK_TRUE (fabs (number (latency, "p99") - p99_ms) < 1e-5);
    CHECK_TRUE (fabs (number (latency, "max") - single->percentile_ns[5].value / 1e6) < 1e-5);
    CHECK_TRUE (fabs ((json_number_value (json_array_get (interval, 0)) +
                       json_number_value (json_array_get (interval, 1))) /
                          2 -
                      p99_ms) < 1e-5);
    CHECK_TRUE (fabs (number (published, "ours_ms") - p99_ms) < 1e-5);
    snprintf (sentence, sizeof sentence, "lowered p99 from %.3g to ", p99_ms);
    CHECK_TRUE (strstr (json_string_value (json_object_get (root, "sentence")), sentence) != NULL);
    json_decref (root);
    free (text);
    sim_sweep_deinit (&sweep);
}

static void a_sweep_has_an_entry_for_each_policy_at_each_load (void **state)
{
    (void)state;
    const double loads[] = {0.3, 0.7, 0.9};
    make (loads, 3, NULL);
    char *text = written (sim_output_write_json);
    json_t *root = json_of (text);
    const json_t *policies = json_object_get (root, "policies");
    CHECK_U64 (json_array_size (policies), ==, 9);
    for (size_t i = 0; i < 9; i++)
        CHECK_DBL (number (json_array_get (policies, i), "load"), ==, loads[i / 3]);
    const json_t *curves = json_object_get (root, "sweep");
    CHECK_U64 (json_array_size (curves), ==, 3);
    const json_t *points = json_object_get (json_array_get (curves, 1), "points");
    CHECK_U64 (json_array_size (points), ==, 3);
    CHECK_DBL (number (json_array_get (points, 2), "load"), ==, 0.9);
    CHECK_DBL (number (json_array_get (points, 2), "p99_ms"), >, 49);
    CHECK_TRUE (json_is_null (json_object_get (root, "rate_per_s")));
    CHECK_TRUE (strstr (json_string_value (json_object_get (root, "sentence")),
                        "Against single, tied had the lower p99 at 3 of 3 loads") != NULL);
    /* Published figures are for the scenario's own load. */
    CHECK_U64 (json_array_size (json_object_get (root, "published")), ==, 3);
    json_decref (root);
    free (text);
    sim_sweep_deinit (&sweep);
}

static void an_unstable_policy_has_no_percentile_anywhere (void **state)
{
    (void)state;
    unstable_kind = SIM_POLICY_TIED;
    make (NULL, 0, NULL);
    unstable_kind = SIM_POLICY_KINDS;
    char *text = written (sim_output_write_json);
    json_t *root = json_of (text);
    const json_t *tied = json_array_get (json_object_get (root, "policies"), 1);
    CHECK_TRUE (json_is_true (json_object_get (tied, "unstable")));
    CHECK_DBL (number (tied, "unstable_replications"), ==, 5);
    CHECK_TRUE (json_is_null (json_object_get (json_object_get (tied, "latency_ms"), "p99")));
    CHECK_TRUE (json_is_null (json_object_get (json_object_get (tied, "ci95_ms"), "p99")));
    CHECK_TRUE (json_is_null (json_object_get (tied, "minus_baseline")));
    CHECK_DBL (number (tied, "copies_per_call"), ==, 1.99);
    json_decref (root);
    free (text);
    text = written (sim_output_write_text);
    const char *row = strstr (text, "\ntied ");
    CHECK_TRUE (row != NULL);
    CHECK_TRUE (strstr (row, "UNSTABLE") - row < 40);
    CHECK_TRUE (strstr (text, "the queue grew in 5 of 5 replications") != NULL);
    CHECK_TRUE (strstr (text, "49.") == NULL);
    free (text);
    text = written (sim_output_write_csv);
    CHECK_TRUE (strstr (text, "tied,0.7,18446744073709551615,5,1,5000,,,,,") != NULL);
    free (text);
    sim_sweep_deinit (&sweep);
}

static void text_has_figures_differences_and_published_figures (void **state)
{
    (void)state;
    make (NULL, 0, NULL);
    char *text = written (sim_output_write_text);
    const char *const parts[] = {
        "A <title> & \"quotes\"\n",
        "made-up: 10 replicas of 1 worker, 1 client, load 0.7, poisson arrivals at 700/s, ",
        ", 5 replications of 1000 requests (and 10 % before, 10 % after, cut), seed 1844",
        "+-",
        "Difference to single, replication by replication",
        "Published figures beside ours",
        "ok (10 %)",
        "no (10 %)",
        "shown only",
        "note: single at load 0.7: fewer than 10 requests of a replication lie above p99.9",
        "\nAgainst single, tied lowered p99 from "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr (text, parts[i]))
            print_error ("missing: %s\nin: %s\n", parts[i], text);
        CHECK_TRUE (strstr (text, parts[i]) != NULL);
    }
    for (const char *c = text; *c; c++)
        CHECK_TRUE (*c == '\n' || (*c >= ' ' && *c <= '~'));
    free (text);
    sim_sweep_deinit (&sweep);
}

static void a_load_that_is_not_known_is_not_shown (void **state)
{
    (void)state;
    make (NULL, 0, NULL);
    sweep.studies[0].load = -1;
    char *text = written (sim_output_write_text);
    CHECK_TRUE (strstr (text, "note: single: fewer than 10 requests") != NULL);
    free (text);
    sim_sweep_deinit (&sweep);
}

/* Fields of one CSV line; quotes are honoured. */
static uint32_t fields_of (const char *line)
{
    uint32_t fields = 1;
    bool is_quoted = false;
    for (; *line && (*line != '\n' || is_quoted); line++) {
        is_quoted ^= *line == '"';
        fields += *line == ',' && !is_quoted;
    }
    return fields;
}

static void csv_has_the_same_columns_in_every_row (void **state)
{
    (void)state;
    const double loads[] = {0.3, 0.9};
    make (loads, 2, NULL);
    char *text = written (sim_output_write_csv);
    uint32_t lines = 0, fields = fields_of (text);
    CHECK_TRUE (
        strncmp (text, "scenario,policy,load,seed,replications,unstable,calls,mean_ms,", 62) == 0);
    CHECK_U64 (fields, >, 35);
    for (const char *line = text; *line; line = strchr (line, '\n') + 1) {
        CHECK_U64 (fields_of (line), ==, fields);
        lines++;
    }
    CHECK_U64 (lines, ==, 7);
    CHECK_TRUE (strstr (text, "\nmade-up,\"clone, \"\"<b>\"\"\",0.3,") != NULL);
    CHECK_TRUE (strstr (text, "nan") == NULL);
    CHECK_TRUE (strstr (text, "inf") == NULL);
    free (text);
    sim_sweep_deinit (&sweep);
}

#define DEPTH_MAX 64

/* Every tag that opens is closed in order. */
static void check_is_well_formed (const char *text)
{
    char open[DEPTH_MAX][16];
    int depth = 0;
    CHECK_TRUE (strncmp (text, "<!DOCTYPE html>\n", 16) == 0);
    for (text += 16; *text; text++) {
        if (*text == '&')
            CHECK_U64 (strcspn (text, ";"), <=, 8);
        if (*text != '<')
            continue;
        bool is_end = text[1] == '/';
        const char *name = text + 1 + is_end;
        size_t length = strcspn (name, " />\n"), tag = strcspn (text, ">");
        CHECK_TRUE (text[tag] == '>');
        CHECK_U64 (length, <, 16);
        if (is_end) {
            CHECK_I64 (--depth, >=, 0);
            CHECK_U64 (strlen (open[depth]), ==, length);
            CHECK_MEM (open[depth], name, length);
        } else if (text[tag - 1] != '/') {
            CHECK_I64 (depth, <, DEPTH_MAX);
            memcpy (open[depth], name, length);
            open[depth++][length] = '\0';
        }
        text += tag;
    }
    CHECK_I64 (depth, ==, 0);
}

static void check_page (const char *const *parts)
{
    char *text = written (sim_output_write_html);
    const char *const forbidden[] = {"http:",   "https:", "src=", "href=", "url(",
                                     "@import", "//",     "nan",  "inf,",  "<b>"};
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        if (strstr (text, forbidden[i]))
            print_error ("the page contains %s\n", forbidden[i]);
        CHECK_TRUE (strstr (text, forbidden[i]) == NULL);
    }
    for (; *parts; parts++) {
        if (!strstr (text, *parts))
            print_error ("the page lacks %s\n", *parts);
        CHECK_TRUE (strstr (text, *parts) != NULL);
    }
    check_is_well_formed (text);
    const char *keeps = getenv ("TIED_TEST_PAGE");
    FILE *file = keeps ? fopen (keeps, "w") : NULL;
    if (file) {
        fputs (text, file);
        fclose (file);
    }
    free (text);
}

static void the_page_is_whole_and_references_nothing (void **state)
{
    (void)state;
    static const char *const parts[] = {"A &lt;title&gt; &amp; &quot;quotes&quot;",
                                        "<pre id=\"scenario\">name: made-up",
                                        "# &lt;/script&gt; &amp; &lt;b&gt;",
                                        "class=\"curve s1\"",
                                        "p99 against extra work",
                                        "class=\"front\"",
                                        "Published figures beside ours",
                                        "prefers-color-scheme: dark",
                                        "<script type=\"application/json\" id=\"report\">",
                                        "Differences to the first policy",
                                        NULL};
    make (NULL, 0, NULL);
    check_page (parts);
    sim_sweep_deinit (&sweep);
}

static void the_page_of_a_sweep_has_bands_and_a_chart_for_each_load (void **state)
{
    (void)state;
    const double loads[] = {0.3, 0.5, 0.7, 0.9};
    static const char *const parts[] = {"p99 against load", "class=\"band s2\"",
                                        "Distributions at load 0.9", "data-first=\"9\"", NULL};
    make (loads, 4, NULL);
    check_page (parts);
    sim_sweep_deinit (&sweep);
}

static void a_grid_shows_the_baseline_once_and_its_front (void **state)
{
    (void)state;
    static struct sim_grid grid;
    char why[SIM_WHY_MAX];
    static const char *const parts[] = {"on front of", "point beaten", NULL};
    memset (&grid, 0, sizeof grid);
    CHECK_I64 (sim_grid_add (&grid, "stagger=0s,1ms,2ms,3ms,5ms,8ms", why), ==, TIED_OK);
    CHECK_I64 (sim_grid_add (&grid, "samples=2,3,4", why), ==, TIED_OK);
    make (NULL, 0, &grid);
    CHECK_U64 (sweep.count, ==, 2);
    struct sim_points rows;
    CHECK_I64 (sim_points_make (&output, &rows), ==, TIED_OK);
    /* The baseline, clone as it is, 18 of tied. */
    CHECK_U64 (rows.count, ==, 20);
    CHECK_U64 (rows.loads, ==, 1);
    uint32_t plain = 0;
    for (uint32_t i = 0; i < rows.count; i++)
        plain += strcmp (rows.items[i].policy->name, "single") == 0;
    CHECK_U64 (plain, ==, 1);
    free (rows.items);
    check_page (parts);
    char *text = written (sim_output_write_text);
    CHECK_TRUE (strstr (text, "Of 20 points, ") != NULL);
    free (text);
    sim_sweep_deinit (&sweep);
}

static void capacity_says_the_load_or_that_there_is_none (void **state)
{
    (void)state;
    const struct sim_capacity_found found[] = {
        {"single", 990000, MS (20), {0, 0.01, {NAN, NAN}}},
        {"tied", 990000, MS (20), {0.63, 0.01, {19.5e6, 0.2e6}}}};
    make (NULL, 0, NULL);
    output.studies_count = 0;
    output.found = found;
    output.found_count = 2;
    char *text = written (sim_output_write_text);
    CHECK_TRUE (strstr (text, "With p99 at most 20ms, single carries no load, tied carries load "
                              "0.63.") != NULL);
    CHECK_TRUE (strstr (text, "19.50 +-0.20") != NULL);
    free (text);
    text = written (sim_output_write_json);
    json_t *root = json_of (text);
    const json_t *second = json_array_get (json_object_get (root, "capacity"), 1);
    CHECK_DBL (number (second, "load"), ==, 0.63);
    CHECK_DBL (number (second, "goal_ms"), ==, 20);
    CHECK_U64 (json_array_size (json_object_get (root, "policies")), ==, 0);
    json_decref (root);
    free (text);
    text = written (sim_output_write_html);
    check_is_well_formed (text);
    free (text);
    sim_sweep_deinit (&sweep);
}

static void estimates_show_as_many_digits_as_they_have (void **state)
{
    (void)state;
    char text[SIM_ESTIMATE_MAX];
    CHECK_STR (sim_format_estimate ((struct sim_estimate){46.1234, 0.0341}, 1, text),
               "46.123 +-0.034");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){46.1234, 3.41}, 1, text), "46.1 +-3.4");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){46.1234, 34}, 1, text), "46 +-34");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){46.1234, NAN}, 1, text), "46.1");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){0.51234, NAN}, 1, text), "0.512");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){0, 0}, 1, text), "0.00");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){NAN, NAN}, 1, text), "-");
    CHECK_STR (sim_format_estimate ((struct sim_estimate){INFINITY, NAN}, 1, text), "-");
    CHECK_STR (sim_format_ppm (999000, text), "p99.9");
    CHECK_STR (sim_format_ppm (0, text), "mean");
}

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

static void the_document_describes_every_field (void **state)
{
    (void)state;
    const double loads[] = {0.3, 0.7};
    const struct sim_capacity_found found = {
        "tied", 990000, MS (20), {0.63, 0.01, {19.5e6, 0.2e6}}};
    static char document[1 << 16];
    FILE *file = fopen (TIED_SOURCE_DIR "/docs/json.md", "r");
    CHECK_TRUE (file != NULL);
    CHECK_U64 (fread (document, 1, sizeof document - 1, file), >, 0);
    fclose (file);
    make (loads, 2, NULL);
    output.found = &found;
    output.found_count = 1;
    char *text = written (sim_output_write_json);
    json_t *root = json_of (text);
    check_keys_are_described (document, root);
    json_decref (root);
    free (text);
    sim_sweep_deinit (&sweep);
}

static int refuse (void)
{
    FILE *full = fopen ("/dev/full", "w");
    CHECK_TRUE (full != NULL);
    int failed = sim_output_write_json (&output, full) == TIED_ERR_SYSTEM;
    failed += sim_output_write_csv (&output, full) == TIED_ERR_SYSTEM;
    failed += sim_output_write_html (&output, full) == TIED_ERR_SYSTEM;
    failed += sim_output_write_text (&output, full) == TIED_ERR_SYSTEM;
    fclose (full);
    return failed;
}

static void a_full_disk_is_an_error (void **state)
{
    (void)state;
    make (NULL, 0, NULL);
    CHECK_I64 (refuse (), ==, 4);
    sim_sweep_deinit (&sweep);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (json_has_the_report_and_what_a_simulation_adds),
        cmocka_unit_test (every_writer_shows_the_mean_over_replications),
        cmocka_unit_test (a_sweep_has_an_entry_for_each_policy_at_each_load),
        cmocka_unit_test (an_unstable_policy_has_no_percentile_anywhere),
        cmocka_unit_test (text_has_figures_differences_and_published_figures),
        cmocka_unit_test (a_load_that_is_not_known_is_not_shown),
        cmocka_unit_test (csv_has_the_same_columns_in_every_row),
        cmocka_unit_test (the_page_is_whole_and_references_nothing),
        cmocka_unit_test (the_page_of_a_sweep_has_bands_and_a_chart_for_each_load),
        cmocka_unit_test (a_grid_shows_the_baseline_once_and_its_front),
        cmocka_unit_test (capacity_says_the_load_or_that_there_is_none),
        cmocka_unit_test (estimates_show_as_many_digits_as_they_have),
        cmocka_unit_test (the_document_describes_every_field),
        cmocka_unit_test (a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
