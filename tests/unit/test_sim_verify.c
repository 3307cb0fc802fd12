/* SPDX-License-Identifier: MIT */
/*
 * The judge of the validation matrix, over made-up replications: what is inside passes, what is
 * outside, broken or too wide does not. The matrix itself runs as `tied-sim verify`.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "engine/stream.h"
#include "theory/student.h"
#include "theory/verify.h"
#include "theory/verify_measure.h"
#include "theory/verify_rows.h"

#include <tied/error.h>

#define COUNT(a) (sizeof (a) / sizeof (a)[0])
#define ROW      "M/M/1, load 0.5"

static void student_meets_its_table (void **state)
{
    (void)state;
    static const struct {
        double beyond;
        uint32_t freedom;
        double t;
    } table[] = {{.05, 1, 12.7062},   {.05, 2, 4.30265},    {.05, 9, 2.26216},
                 {.05, 23, 2.06866},  {.01, 23, 2.80734},   {.001, 10, 4.58689},
                 {.001, 23, 3.76763}, {.0001, 1, 6366.198}, {.05, 1000, 1.962339}};
    for (size_t i = 0; i < COUNT (table); i++) {
        double t = sim_student_quantile (table[i].beyond, table[i].freedom);
        CHECK_DBL (fabs (t / table[i].t - 1), <, 3e-6);
        double beyond = sim_student_beyond (t, table[i].freedom);
        CHECK_DBL (fabs (beyond / table[i].beyond - 1), <, 1e-8);
    }
    /* Far out, where the matrix needs it: against the density's integral. */
    double t = sim_student_quantile (3e-5, 23), sum = 0;
    for (double x = t + 5e-5; x < 200; x += 1e-4)
        sum += pow (1 + x * x / 23, -12) * 1e-4;
    double factor = exp (lgamma (12) - lgamma (11.5)) / sqrt (23 * acos (-1));
    CHECK_DBL (fabs (2 * factor * sum / 3e-5 - 1), <, 1e-4);
}

/* ---- made-up replications ---- */

/* What the stub does wrong. */
static struct {
    double stretch; /* of all latencies */
    uint64_t samples;
    bool loses_a_call;
    bool is_unstable;
} plan;

static void reset_plan (void)
{
    plan.stretch = 1;
    plan.samples = 200000;
    plan.loses_a_call = plan.is_unstable = false;
}

/* M/M/1 at half load: latencies are exponential of mean 2 units. */
static int
made_up (const struct sim_run_options *options, struct sim_result *result, char why[SIM_WHY_MAX])
{
    (void)why;
    const struct sim_scenario *s = options->scenario;
    for (uint64_t i = 0; i < plan.samples; i++) {
        uint64_t random = sim_draw (options->seed, SIM_STREAM_SERVICE, i, 0);
        double share = ((double)(random >> 11) + 0.5) * 0x1p-53;
        double ns = -log (share) * 2e6 * plan.stretch;
        ti_hist_record (result->latency, (uint64_t)ns);
        result->latency_sum_ns += ns;
    }
    result->calls = s->amount.calls;
    result->executions = result->copies = result->all_calls = s->amount.calls;
    result->requests = plan.samples;
    result->outcomes[TIED_OUTCOME_OK] = s->amount.calls - plan.loses_a_call;
    result->is_unstable = plan.is_unstable;
    result->workers = 1;
    result->span_ns = 2000000;
    result->busy_ns = 1000000 + options->seed % 2000 - 1000;
    return TIED_OK;
}

static const struct sim_verify_options made_up_options = {
    .only = ROW, .jobs = 2, .runner = made_up};

static const struct sim_verify_line *line_of (const struct sim_verify *verify, const char *quantity)
{
    for (uint32_t i = 0; i < verify->lines_count; i++)
        if (strcmp (verify->lines[i].quantity, quantity) == 0)
            return &verify->lines[i];
    CHECK_STR (quantity, "a line");
    return NULL;
}

static struct sim_verify judged (void)
{
    struct sim_verify verify;
    char why[SIM_WHY_MAX] = "";
    CHECK_I64 (sim_verify_run (&made_up_options, &verify, why), ==, 0);
    CHECK_U64 (verify.rows, ==, 1);
    CHECK_U64 (verify.comparisons, ==, 6);
    CHECK_U64 (verify.lines_count, ==, 7);
    return verify;
}

static void samples_of_the_theory_pass (void **state)
{
    (void)state;
    reset_plan ();
    struct sim_verify verify = judged ();
    for (uint32_t i = 0; i < verify.lines_count; i++)
        if (verify.lines[i].verdict != SIM_VERIFY_OK)
            print_error ("%s: z %g\n", verify.lines[i].quantity, verify.lines[i].z);
    CHECK_U64 (verify.out, ==, 0);
    CHECK_U64 (verify.wide, ==, 0);
    const struct sim_verify_line *p99 = line_of (&verify, "p99");
    CHECK_DBL (fabs (p99->theory - 9.2103), <, 1e-3);
    CHECK_DBL (fabs (p99->measured - p99->theory), <, p99->half);
    sim_verify_deinit (&verify);
}

/* 1 % too long: far outside of intervals of 0.3 %. */
static void latencies_that_are_one_percent_off_are_out (void **state)
{
    (void)state;
    reset_plan ();
    plan.stretch = 1.01;
    struct sim_verify verify = judged ();
    CHECK_U64 (line_of (&verify, "mean")->verdict, ==, SIM_VERIFY_OUT);
    CHECK_DBL (line_of (&verify, "mean")->z, >, verify.limit);
    CHECK_U64 (line_of (&verify, "p50")->verdict, ==, SIM_VERIFY_OUT);
    CHECK_U64 (line_of (&verify, "utilisation")->verdict, ==, SIM_VERIFY_OK);
    CHECK_U64 (line_of (&verify, "identities")->verdict, ==, SIM_VERIFY_OK);
    CHECK_U64 (verify.out, >=, 2);
    sim_verify_deinit (&verify);
}

static void an_interval_that_says_little_is_too_wide (void **state)
{
    (void)state;
    reset_plan ();
    plan.samples = 1000;
    struct sim_verify verify = judged ();
    CHECK_U64 (line_of (&verify, "mean")->verdict, ==, SIM_VERIFY_WIDE);
    CHECK_U64 (line_of (&verify, "p99")->verdict, ==, SIM_VERIFY_WIDE);
    CHECK_U64 (line_of (&verify, "p50")->verdict, ==, SIM_VERIFY_OK);
    CHECK_U64 (verify.out, ==, 0);
    CHECK_U64 (verify.wide, ==, 2);
    sim_verify_deinit (&verify);
}

static void no_sample_at_all_is_out (void **state)
{
    (void)state;
    reset_plan ();
    plan.samples = 0;
    struct sim_verify verify = judged ();
    CHECK_U64 (line_of (&verify, "mean")->verdict, ==, SIM_VERIFY_OUT);
    CHECK_U64 (line_of (&verify, "p99.9")->verdict, ==, SIM_VERIFY_OUT);
    sim_verify_deinit (&verify);
}

static void a_lost_call_breaks_the_identities (void **state)
{
    (void)state;
    reset_plan ();
    plan.loses_a_call = true;
    struct sim_verify verify = judged ();
    const struct sim_verify_line *line = line_of (&verify, "identities");
    CHECK_U64 (line->verdict, ==, SIM_VERIFY_OUT);
    CHECK_TRUE (strstr (line->note, "calls answered: ") != NULL);
    CHECK_U64 (verify.out, ==, 1);
    sim_verify_deinit (&verify);
}

static void a_backlog_that_grows_breaks_the_identities (void **state)
{
    (void)state;
    reset_plan ();
    plan.is_unstable = true;
    struct sim_verify verify = judged ();
    CHECK_U64 (line_of (&verify, "identities")->verdict, ==, SIM_VERIFY_OUT);
    sim_verify_deinit (&verify);
}

static void any_number_of_threads_gives_the_same_bits (void **state)
{
    (void)state;
    reset_plan ();
    plan.samples = 2000;
    struct sim_verify verify[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_verify_options options = made_up_options;
        char why[SIM_WHY_MAX] = "";
        options.jobs = 1 + 3 * i;
        CHECK_I64 (sim_verify_run (&options, &verify[i], why), ==, 0);
    }
    for (uint32_t i = 0; i < verify[0].lines_count; i++) {
        const struct sim_verify_line *a = &verify[0].lines[i], *b = &verify[1].lines[i];
        CHECK_MEM (&a->measured, &b->measured, sizeof a->measured);
        CHECK_MEM (&a->half, &b->half, sizeof a->half);
        CHECK_STR (a->row, b->row);
    }
    sim_verify_deinit (&verify[0]);
    sim_verify_deinit (&verify[1]);
}

static void a_row_that_does_not_exist_is_refused (void **state)
{
    (void)state;
    struct sim_verify_options options = made_up_options;
    struct sim_verify verify;
    char why[SIM_WHY_MAX] = "";
    options.only = "M/M/1, load 17";
    CHECK_I64 (sim_verify_run (&options, &verify, why), ==, TIED_ERR_ABSENT);
    CHECK_STR (why, "no row of the matrix has \"M/M/1, load 17\" in its name; without --only all "
                    "names are shown");
}

/* ---- a replication ---- */

static void percentiles_are_not_biased_by_the_buckets (void **state)
{
    (void)state;
    struct sim_result result;
    CHECK_I64 (sim_result_init (&result), ==, 0);
    CHECK_TRUE (isnan (sim_measure_percentile (result.latency, TI_HIST_P50)));
    const uint64_t samples = 1000000;
    for (uint64_t i = 1; i <= samples; i++)
        ti_hist_record (result.latency, i * 1000);
    for (uint32_t ppm = 10000; ppm < 1000000; ppm += 97000) {
        double want = 1e9 * ppm / 1e6, got = sim_measure_percentile (result.latency, ppm);
        CHECK_DBL (fabs (got / want - 1), <, 1e-4);
    }
    sim_result_deinit (&result);
}

static void each_broken_identity_is_named (void **state)
{
    (void)state;
    static struct sim_row row = {.identities = SIM_IDENTITIES_TIED};
    struct sim_result sound;
    char why[SIM_WHY_MAX];
    CHECK_I64 (sim_result_init (&sound), ==, 0);
    row.scenario.amount.calls = 10;
    for (int i = 0; i < 10; i++)
        ti_hist_record (sound.latency, 5);
    sound.requests = sound.calls = sound.outcomes[TIED_OUTCOME_OK] = 10;
    sound.duplicates = 2;
    sound.executions = sound.cancels.sent = 12;
    sound.cancels.effective = 5;
    sound.cancels.early = 2;
    sound.cancels.moot = 1;
    sound.cancels.late = 3;
    sound.cancels.lost = 1;
    CHECK_TRUE (sim_measure_identities (&row, &sound, why));

    struct sim_result r = sound;
    r.executions++;
    r.cancels.sent++;
    r.cancels.moot++;
    CHECK_FALSE (sim_measure_identities (&row, &r, why));
    CHECK_STR (why, "executions: 13, not 12");
    r = sound;
    r.cancels.moot++;
    CHECK_FALSE (sim_measure_identities (&row, &r, why));
    CHECK_STR (why, "fates of cancels: 13, not 12");
    r = sound;
    r.cancels.late--;
    r.cancels.moot++;
    CHECK_FALSE (sim_measure_identities (&row, &r, why));
    CHECK_STR (why, "cancels too late or lost: 3, not 4");
    r = sound;
    r.cancels.sent--;
    r.cancels.moot--;
    CHECK_FALSE (sim_measure_identities (&row, &r, why));
    CHECK_STR (why, "cancels sent: 11, not 12");
    row.identities = SIM_IDENTITIES_REFUSING;
    CHECK_TRUE (sim_measure_identities (&row, &r, why));
    row.identities = SIM_IDENTITIES_ONCE;
    CHECK_FALSE (sim_measure_identities (&row, &sound, why));
    CHECK_STR (why, "executions: 12, not 10");
    row.identities = SIM_IDENTITIES_UNSTABLE;
    CHECK_FALSE (sim_measure_identities (&row, &sound, why));
    sim_result_deinit (&sound);
}

/* ---- the matrix ---- */

static void every_row_can_be_run_and_has_a_name_of_its_own (void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        struct sim_rows rows;
        CHECK_TRUE (sim_rows_make (&rows, full));
        CHECK_U64 (rows.count, >, 30);
        for (uint32_t i = 0; i < rows.count; i++) {
            const struct sim_row *row = &rows.items[i];
            CHECK_U64 (row->scenario.policies_count, ==, 1);
            CHECK_U64 (row->scenario.amount.calls, >=, 100000);
            CHECK_TRUE (sim_scenario_rate_per_s (&row->scenario) > 0);
            CHECK_TRUE (row->checks_count > 0 || row->identities >= SIM_IDENTITIES_STABLE);
            CHECK_U64 (strlen (row->name), <, sizeof row->name - 1);
            for (uint32_t k = 0; k < row->checks_count; k++) {
                CHECK_DBL (row->checks[k].theory, >, 0);
                CHECK_TRUE (isfinite (row->checks[k].theory));
            }
            for (uint32_t k = 0; k < i; k++)
                CHECK_TRUE (strcmp (row->name, rows.items[k].name) != 0);
        }
        sim_rows_deinit (&rows);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (student_meets_its_table),
        cmocka_unit_test (samples_of_the_theory_pass),
        cmocka_unit_test (latencies_that_are_one_percent_off_are_out),
        cmocka_unit_test (an_interval_that_says_little_is_too_wide),
        cmocka_unit_test (no_sample_at_all_is_out),
        cmocka_unit_test (a_lost_call_breaks_the_identities),
        cmocka_unit_test (a_backlog_that_grows_breaks_the_identities),
        cmocka_unit_test (any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test (a_row_that_does_not_exist_is_refused),
        cmocka_unit_test (percentiles_are_not_biased_by_the_buckets),
        cmocka_unit_test (each_broken_identity_is_named),
        cmocka_unit_test (every_row_can_be_run_and_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
