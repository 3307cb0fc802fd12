/* SPDX-License-Identifier: MIT */
/*
 * Arrivals against their formulas, what is measured of a run, requests of several calls, closed
 * loops, and the rule for systems that cannot keep up, on queues whose answer is known.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/prng.h"
#include "base/util.h"
#include "engine/stream.h"
#include "workload/backlog.h"
#include "workload/demand.h"
#include "workload/open.h"
#include "workload/source.h"

struct fixture {
    struct sim_scenario scenario;
    struct sim_result result;
    struct sim_source *source;
};

static void prepare (struct fixture *f, uint64_t calls)
{
    sim_scenario_init (&f->scenario);
    f->scenario.amount.calls = calls;
    f->scenario.amount.warm_up = f->scenario.amount.cool_down = 0;
    f->scenario.workload.load = 0;
    f->scenario.workload.rate_per_s = 1000;
    CHECK_I64 (sim_result_init (&f->result), ==, 0);
}

static void start (struct fixture *f, uint64_t seed)
{
    f->source = sim_source_new (&f->scenario, seed, &f->result);
    CHECK_TRUE (f->source != NULL);
}

static void finish (struct fixture *f)
{
    sim_source_free (f->source);
    sim_result_deinit (&f->result);
    sim_scenario_deinit (&f->scenario);
}

static struct sim_request take (struct fixture *f)
{
    struct sim_request request;
    tied_time_t at = sim_source_time (f->source);
    sim_source_take (f->source, &request);
    CHECK_U64 (request.at, ==, at);
    return request;
}

/* Takes a request and ends it at once. @return its time, counted from the start of arrivals */
static uint64_t pass (struct fixture *f)
{
    struct sim_request request = take (f);
    for (uint32_t i = 0; i < f->scenario.workload.fan_out; i++)
        sim_source_ended (f->source, request.first_call + i, TIED_OUTCOME_OK, request.at);
    return request.at - SIM_SOURCE_START_NS;
}

static int compare_doubles (const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void poisson_gaps_are_exponential_with_the_rate_asked_for (void **state)
{
    enum {
        N = 100000
    };
    static double gaps[N];
    struct fixture f;
    (void)state;
    prepare (&f, N);
    start (&f, 3);
    uint64_t last = 0;
    for (int i = 0; i < N; i++) {
        uint64_t at = pass (&f);
        gaps[i] = (double)(at - last);
        last = at;
    }
    CHECK_DBL (fabs ((double)last / (N * 1e6) - 1), <, 0.01);
    qsort (gaps, N, sizeof gaps[0], compare_doubles);
    double distance = 0;
    for (int i = 0; i < N; i++)
        distance = fmax (distance, fabs (-expm1 (-gaps[i] / 1e6) - (i + 0.5) / N));
    CHECK_DBL (distance, <, 0.0062);
    finish (&f);
}

static void regular_gaps_carry_parts_of_a_nanosecond (void **state)
{
    struct fixture f;
    (void)state;
    prepare (&f, 3000000);
    f.scenario.workload.arrivals = SIM_ARRIVALS_DETERMINISTIC;
    f.scenario.workload.rate_per_s = 3e8;
    start (&f, 1);
    uint64_t at = 0;
    for (int i = 0; i < 3000000; i++)
        at = pass (&f);
    CHECK_U64 (at, >=, 9999999);
    CHECK_U64 (at, <=, 10000000);
    finish (&f);
}

/* Counts per window of the length of a mean phase: their mean, and variance over mean. */
static void count_windows (struct fixture *f, double *mean, double *dispersion)
{
    double sum = 0, squares = 0, count = 0;
    uint64_t windows = 0, window = MS (100), edge = window;
    for (uint64_t i = 0; i < f->scenario.amount.calls; i++) {
        for (uint64_t at = pass (f); at >= edge; edge += window) {
            sum += count;
            squares += count * count;
            count = 0;
            windows++;
        }
        count++;
    }
    *mean = sum / (double)windows;
    *dispersion = (squares / (double)windows - *mean * *mean) / *mean;
}

static void bursts_keep_the_mean_rate_and_are_bursts (void **state)
{
    struct fixture f;
    double mean, dispersion;
    (void)state;
    const enum sim_arrivals kinds[] = {SIM_ARRIVALS_POISSON, SIM_ARRIVALS_ON_OFF,
                                       SIM_ARRIVALS_MMPP};
    /* 100 expected in a window. Poisson: 1. On and off of 100 ms: the rate is 0 or 2000 with
     * correlation exp (-t / 50 ms): 1 + 100 x 2 (T - 1 + e^-T) / T^2 with T = 2, = 57.8. Bursts of
     * 4 to 1: rates 625 and 2500, variance 0.5625 of the mean's square; T = 100 / 80 ms. */
    const double expected[] = {1, 57.77, 1 + 56.25 * 2 * (1.25 - 1 + 0.286505) / 1.5625};
    for (int k = 0; k < 3; k++) {
        prepare (&f, 1000000);
        f.scenario.workload.arrivals = kinds[k];
        start (&f, 5);
        count_windows (&f, &mean, &dispersion);
        CHECK_DBL (fabs (mean / 100 - 1), <, 0.03);
        CHECK_DBL (fabs (dispersion / expected[k] - 1), <, 0.06);
        finish (&f);
    }
}

static void phases_far_shorter_than_the_gaps_average_out (void **state)
{
    struct fixture f;
    (void)state;
    prepare (&f, 10000);
    f.scenario.workload.arrivals = SIM_ARRIVALS_ON_OFF;
    f.scenario.workload.on_ns = f.scenario.workload.off_ns = 1;
    start (&f, 5);
    uint64_t at = 0;
    for (int i = 0; i < 10000; i++)
        at = pass (&f);
    CHECK_DBL (fabs ((double)at / 1e10 - 1), <, 0.05);
    finish (&f);
}

/* 1000 a second; then from 2 s on none, from 3 s on 2500 a second, from 5 s on 500. */
static void steps_change_the_rate_when_they_say (void **state)
{
    struct fixture f;
    (void)state;
    prepare (&f, 10000);
    f.scenario.workload.arrivals = SIM_ARRIVALS_STEPS;
    f.scenario.workload.steps_count = 3;
    f.scenario.workload.steps[0] = (struct sim_step){.from_ns = S (2), .factor = 0};
    f.scenario.workload.steps[1] = (struct sim_step){.from_ns = S (3), .factor = 2.5};
    f.scenario.workload.steps[2] = (struct sim_step){.from_ns = S (5), .factor = 0.5};
    start (&f, 5);
    uint64_t counts[4] = {0}, at = 0;
    for (int i = 0; i < 10000; i++) {
        at = pass (&f);
        counts[at < S (2) ? 0 : at < S (3) ? 1 : at < S (5) ? 2 : 3]++;
    }
    /* Within 4 standard deviations. */
    CHECK_DBL (fabs ((double)counts[0] - 2000), <, 180);
    CHECK_U64 (counts[1], ==, 0);
    CHECK_DBL (fabs ((double)counts[2] - 5000), <, 290);
    CHECK_DBL (fabs ((double)counts[3] - ((double)at / 1e9 - 5) * 500), <, 220);
    finish (&f);
}

static void recorded_times_are_shifted_to_0_repeated_and_stretched (void **state)
{
    struct fixture f;
    (void)state;
    const uint64_t times[] = {500, 600, 900, 1100};
    for (int stretched = 0; stretched < 2; stretched++) {
        prepare (&f, 9);
        f.scenario.workload.arrivals = SIM_ARRIVALS_TRACE;
        f.scenario.workload.times.count = 4;
        f.scenario.workload.times.values = malloc (sizeof times);
        memcpy (f.scenario.workload.times.values, times, sizeof times);
        /* 4 in a period of 600 + a mean gap of 200: 5 million a second. */
        f.scenario.workload.rate_per_s = stretched ? 2.5e6 : 0;
        CHECK_DBL (fabs (sim_scenario_rate_per_s (&f.scenario) - (stretched ? 2.5e6 : 5e6)), <,
                   1e-3);
        start (&f, 1);
        const uint64_t expected[] = {0, 100, 400, 600, 800, 900, 1200, 1400, 1600};
        for (int i = 0; i < 9; i++)
            CHECK_U64 (pass (&f), ==, expected[i] * (uint64_t)(1 + stretched));
        CHECK_U64 (sim_source_time (f.source), ==, TIED_NEVER);
        finish (&f);
    }
}

static void requests_are_the_same_whenever_calls_end (void **state)
{
    struct fixture a, b;
    (void)state;
    prepare (&a, 5000);
    prepare (&b, 5000);
    a.scenario.clients = b.scenario.clients = 7;
    a.scenario.workload.arrivals = b.scenario.workload.arrivals = SIM_ARRIVALS_MMPP;
    start (&a, 9);
    start (&b, 9);
    uint64_t clients[7] = {0};
    for (int i = 0; i < 5000; i++) {
        struct sim_request one = take (&a), two = take (&b);
        CHECK_U64 (one.at, ==, two.at);
        CHECK_U64 (one.client, ==, two.client);
        CHECK_U64 (one.first_call, ==, two.first_call);
        clients[one.client]++;
        sim_source_ended (a.source, one.first_call, TIED_OUTCOME_OK, one.at);
    }
    /* 714 expected, standard deviation 25. */
    for (int i = 0; i < 7; i++) {
        CHECK_U64 (clients[i], >, 600);
        CHECK_U64 (clients[i], <, 830);
    }
    finish (&a);
    finish (&b);
}

static void only_the_middle_is_measured_and_runs_until_it_has_ended (void **state)
{
    struct fixture f;
    struct sim_request requests[130];
    (void)state;
    prepare (&f, 100);
    f.scenario.amount.warm_up = 0.2;
    f.scenario.amount.cool_down = 0.1;
    f.scenario.workload.arrivals = SIM_ARRIVALS_DETERMINISTIC;
    start (&f, 1);
    for (int i = 0; i < 130; i++) {
        requests[i] = take (&f);
        CHECK_TRUE (sim_source_is_measured (f.source, requests[i].first_call) ==
                    (i >= 20 && i < 120));
    }
    CHECK_U64 (sim_source_time (f.source), ==, TIED_NEVER);
    tied_time_t now = requests[129].at;
    for (int i = 129; i >= 20; i--) {
        CHECK_FALSE (sim_source_is_done (f.source));
        uint32_t outcome = i % 10 == 0 ? TIED_OUTCOME_DEADLINE
                           : i % 2     ? TIED_OUTCOME_OK
                                       : TIED_OUTCOME_APP_ERROR;
        sim_source_ended (f.source, requests[i].first_call, outcome, now);
    }
    CHECK_TRUE (sim_source_is_done (f.source));
    sim_source_finish (f.source, now);
    const struct sim_result *r = &f.result;
    CHECK_U64 (r->requests, ==, 100);
    CHECK_U64 (r->calls, ==, 100);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_DEADLINE], ==, 10);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], ==, 50);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_APP_ERROR], ==, 40);
    CHECK_U64 (r->all_requests, ==, 130);
    CHECK_U64 (r->cut_requests, ==, 30);
    CHECK_U64 (r->span_ns, ==, MS (99));
    /* Latency counts from the intended time, for the 90 that were answered. */
    CHECK_U64 (r->latency->total, ==, 90);
    CHECK_U64 (r->latency->min, ==, MS (129 - 119));
    CHECK_U64 (r->latency->max, ==, MS (129 - 21));
    double sum = 0;
    for (int i = 20; i < 120; i++)
        if (i % 10)
            sum += (double)MS (129 - i);
    CHECK_DBL (r->latency_sum_ns, ==, sum);
    finish (&f);
}

static void a_request_ends_with_the_answer_that_is_needed (void **state)
{
    struct fixture f;
    (void)state;
    prepare (&f, 3);
    f.scenario.workload.fan_out = 5;
    f.scenario.workload.fan_out_needed = 3;
    start (&f, 1);
    struct sim_request a = take (&f), b = take (&f), c = take (&f);
    CHECK_U64 (b.first_call, ==, 5);
    CHECK_U64 (c.first_call, ==, 10);
    tied_time_t now = c.at;
    for (uint32_t i = 0; i < 5; i++) /* two may fail: the third answer is the last */
        sim_source_ended (f.source, a.first_call + i,
                          i < 2 ? TIED_OUTCOME_REJECTED : TIED_OUTCOME_OK, now + i);
    for (uint32_t i = 0; i < 5; i++) /* the third failure ends it */
        sim_source_ended (f.source, b.first_call + i,
                          i < 3 ? TIED_OUTCOME_DEADLINE : TIED_OUTCOME_OK, now + 5 + i);
    for (uint32_t i = 0; i < 3; i++)
        sim_source_ended (f.source, c.first_call + i, TIED_OUTCOME_OK, now + 10 + i);
    /* Its last two calls still run. */
    CHECK_FALSE (sim_source_is_done (f.source));
    CHECK_U64 (f.result.latency->total, ==, 2);
    for (uint32_t i = 3; i < 5; i++)
        sim_source_ended (f.source, c.first_call + i, TIED_OUTCOME_DEADLINE, now + 20 + i);
    CHECK_TRUE (sim_source_is_done (f.source));
    sim_source_finish (f.source, now + 30);
    CHECK_U64 (f.result.requests, ==, 3);
    CHECK_U64 (f.result.calls, ==, 15);
    CHECK_DBL (f.result.latency_sum_ns, ==, (double)(now + 4 - a.at + now + 12 - c.at));
    finish (&f);
}

static void a_user_sends_again_after_the_end_and_a_thought (void **state)
{
    struct fixture f;
    struct sim_request open[4];
    (void)state;
    prepare (&f, 1000);
    f.scenario.workload.arrivals = SIM_ARRIVALS_CLOSED;
    f.scenario.workload.users = 4;
    f.scenario.workload.think = (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MS (5)};
    start (&f, 1);
    for (int i = 0; i < 4; i++) {
        open[i] = take (&f);
        CHECK_U64 (open[i].at, ==, SIM_SOURCE_START_NS + MS (5));
    }
    CHECK_U64 (sim_source_time (f.source), ==, TIED_NEVER);
    tied_time_t now = open[3].at;
    for (int round = 0; round < 249; round++) {
        now += MS (1);
        for (int i = 0; i < 4; i++)
            sim_source_ended (f.source, open[3 - i].first_call, TIED_OUTCOME_OK, now + (uint64_t)i);
        for (int i = 0; i < 4; i++) {
            /* Thoughts end in the order of the answers. */
            open[i] = take (&f);
            CHECK_U64 (open[i].at, ==, now + (uint64_t)i + MS (5));
        }
        now = open[3].at;
    }
    CHECK_U64 (sim_source_time (f.source), ==, TIED_NEVER);
    for (int i = 0; i < 4; i++)
        sim_source_ended (f.source, open[i].first_call, TIED_OUTCOME_OK, now);
    CHECK_TRUE (sim_source_is_done (f.source));
    finish (&f);
}

static void the_table_of_open_requests_agrees_with_a_plain_one (void **state)
{
    enum {
        NUMBERS = 20000
    };
    static bool is_open[NUMBERS];
    struct sim_open open;
    struct ti_prng prng;
    (void)state;
    CHECK_TRUE (sim_open_init (&open));
    ti_prng_seed (&prng, 4);
    uint64_t count = 0, next = 0;
    while (next < NUMBERS) {
        uint64_t victim = ti_prng_below (&prng, next + 1);
        /* Many stay: some for the whole run, so that later numbers meet them in their slots. */
        if (victim < next && is_open[victim] && victim % 7 && ti_prng_below (&prng, 3)) {
            sim_open_remove (&open, sim_open_find (&open, victim));
            is_open[victim] = false;
            count--;
        } else {
            sim_open_add (&open, next)->user = (uint32_t)next;
            is_open[next++] = true;
            count++;
        }
    }
    CHECK_U64 (open.count, ==, count);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        const struct sim_open_request *entry = sim_open_find (&open, i);
        CHECK_TRUE ((entry != NULL) == is_open[i]);
        if (entry)
            CHECK_U64 (entry->user, ==, i);
    }
    sim_open_deinit (&open);
}

static void the_table_of_open_requests_follows_what_is_in_flight (void **state)
{
    struct sim_open open;
    (void)state;
    CHECK_TRUE (sim_open_init (&open));
    for (uint64_t i = 0; i < 1000000; i++) {
        sim_open_add (&open, i);
        /* Number 0 stays for ever. */
        if (i > 300)
            sim_open_remove (&open, sim_open_find (&open, i - 300));
    }
    CHECK_U64 (open.mask, ==, 1023);
    sim_open_deinit (&open);
}

/*
 * One server with one queue, exponential service of 1 ms (or all at once on `servers` of them, as
 * an M/M/c queue): what the backlog rule says after so many calls.
 */
static void run_queue (struct fixture *f, double load, uint64_t calls, uint64_t seed)
{
    static tied_time_t ends[1 << 20];
    uint64_t first = 0, last = 0;
    tied_time_t free_at = 0;
    prepare (f, calls);
    f->scenario.amount.warm_up = f->scenario.amount.cool_down = 0.1;
    f->scenario.workload.rate_per_s = 1000 * load;
    f->scenario.workload.service = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = MS (1)};
    start (f, seed);
    while (!sim_source_is_done (f->source)) {
        tied_time_t next = sim_source_time (f->source);
        if (first == last || next < ends[first % (1 << 20)]) {
            struct sim_request request = take (f);
            uint64_t demand = sim_demand (&f->scenario.workload, seed, last, 0, 0);
            free_at = ti_max (free_at, request.at) + demand;
            ends[last++ % (1 << 20)] = free_at;
            CHECK_U64 (last - first, <, 1 << 20);
        } else {
            sim_source_ended (f->source, first, TIED_OUTCOME_OK, ends[first % (1 << 20)]);
            first++;
        }
    }
    sim_source_finish (f->source, free_at);
}

static void expect_verdicts (double load, uint64_t calls, uint64_t seeds, bool is_unstable)
{
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct fixture f;
        run_queue (&f, load, calls, seed);
        if (f.result.is_unstable != is_unstable)
            print_error ("load %g, %" PRIu64 " calls, seed %" PRIu64 ": backlog %" PRIu64
                         " then %" PRIu64 "\n",
                         load, calls, seed, f.result.backlog_first, f.result.backlog_last);
        CHECK_TRUE (f.result.is_unstable == is_unstable);
        finish (&f);
    }
}

static void a_queue_that_keeps_up_is_never_called_unstable (void **state)
{
    (void)state;
    const double loads[] = {0.5, 0.9, 0.95};
    for (int i = 0; i < 3; i++) {
        expect_verdicts (loads[i], 300, 200, false);
        expect_verdicts (loads[i], 1000, 200, false);
        expect_verdicts (loads[i], 10000, 100, false);
        expect_verdicts (loads[i], 100000, 10, false);
    }
    expect_verdicts (0.98, 5000, 200, false);
}

static void a_queue_that_grows_is_called_unstable (void **state)
{
    (void)state;
    expect_verdicts (1.5, 1000, 100, true);
    expect_verdicts (1.5, 20000, 10, true);
    expect_verdicts (1.1, 10000, 50, true);
    /* From about 180 000 calls on. */
    expect_verdicts (1.02, 250000, 10, true);
}

/* Steps of 1 up and down: 100 of them, z = (up - down) / 10. */
static bool grows (uint64_t requests, int up)
{
    struct sim_backlog backlog;
    uint64_t segment = (requests - 1) / 100;
    sim_backlog_init (&backlog, requests);
    /* Enough to end later on. */
    sim_backlog_arrive (&backlog, 0, 1000, false);
    for (uint64_t i = 0; i < requests; i++) {
        sim_backlog_arrive (&backlog, i, 1, true);
        if (i % segment || i / segment % 100 >= (uint64_t)up)
            sim_backlog_end (&backlog, i);
        if (i % segment == 0 && i / segment % 100 >= (uint64_t)up)
            sim_backlog_end (&backlog, i);
    }
    return sim_backlog_grows (&backlog);
}

static void growth_is_judged_against_its_steps (void **state)
{
    (void)state;
    CHECK_FALSE (grows (201, 70));
    CHECK_TRUE (grows (201, 71));
    CHECK_TRUE (grows (1001, 71));
    CHECK_FALSE (grows (1001, 50));
    CHECK_FALSE (grows (1001, 0));
    CHECK_FALSE (grows (199, 100));
}

static void the_mean_and_the_backlog_are_those_of_the_queue (void **state)
{
    struct fixture f;
    (void)state;
    /* M/M/1 at 0.5: sojourn 2 ms; 1 open call, seen over two fifths of 200 000 arrivals. */
    run_queue (&f, 0.5, 200000, 8);
    CHECK_DBL (fabs (f.result.latency_sum_ns / 2e6 / 200000 - 1), <, 0.02);
    CHECK_U64 (f.result.backlog_first, ==, 1);
    CHECK_U64 (f.result.backlog_last, ==, 1);
    finish (&f);
    /* At 1.5 a third of the arrivals stay behind: 0.1 and 0.9 of the way through. */
    run_queue (&f, 1.5, 200000, 8);
    CHECK_DBL (fabs ((double)f.result.backlog_first / (200000 * 0.2 / 3) - 1), <, 0.05);
    CHECK_DBL (fabs ((double)f.result.backlog_last / (200000 * 1.0 / 3) - 1), <, 0.02);
    finish (&f);
}

static void load_is_work_over_capacity (void **state)
{
    struct fixture f;
    (void)state;
    prepare (&f, 1);
    struct sim_workload *w = &f.scenario.workload;
    f.scenario.replicas.workers = 3;
    w->rate_per_s = 0;
    w->load = 0.6;
    /* 10 replicas of 3 workers, 10 ms. */
    CHECK_DBL (fabs (sim_scenario_rate_per_s (&f.scenario) - 1800), <, 1e-6);
    w->fan_out = 4;
    CHECK_DBL (fabs (sim_scenario_rate_per_s (&f.scenario) - 450), <, 1e-6);
    w->jitter_share = 0.01;
    w->jitter_factor = 15;
    CHECK_DBL (fabs (sim_scenario_mean_service_ns (&f.scenario) - 11.4e6), <, 1e-3);
    CHECK_DBL (fabs (sim_scenario_rate_per_s (&f.scenario) - 450 / 1.14), <, 1e-6);
    w->rate_per_s = 77;
    CHECK_DBL (sim_scenario_rate_per_s (&f.scenario), ==, 77);
    w->rate_per_s = w->load = 0;
    CHECK_TRUE (sim_source_new (&f.scenario, 1, &f.result) == NULL);
    w->arrivals = SIM_ARRIVALS_TRACE;
    CHECK_TRUE (sim_source_new (&f.scenario, 1, &f.result) == NULL);
    w->arrivals = SIM_ARRIVALS_CLOSED;
    w->users = 0;
    CHECK_TRUE (sim_source_new (&f.scenario, 1, &f.result) == NULL);
    f.source = NULL;
    finish (&f);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (poisson_gaps_are_exponential_with_the_rate_asked_for),
        cmocka_unit_test (regular_gaps_carry_parts_of_a_nanosecond),
        cmocka_unit_test (bursts_keep_the_mean_rate_and_are_bursts),
        cmocka_unit_test (phases_far_shorter_than_the_gaps_average_out),
        cmocka_unit_test (steps_change_the_rate_when_they_say),
        cmocka_unit_test (recorded_times_are_shifted_to_0_repeated_and_stretched),
        cmocka_unit_test (requests_are_the_same_whenever_calls_end),
        cmocka_unit_test (only_the_middle_is_measured_and_runs_until_it_has_ended),
        cmocka_unit_test (a_request_ends_with_the_answer_that_is_needed),
        cmocka_unit_test (a_user_sends_again_after_the_end_and_a_thought),
        cmocka_unit_test (the_table_of_open_requests_agrees_with_a_plain_one),
        cmocka_unit_test (the_table_of_open_requests_follows_what_is_in_flight),
        cmocka_unit_test (a_queue_that_keeps_up_is_never_called_unstable),
        cmocka_unit_test (a_queue_that_grows_is_called_unstable),
        cmocka_unit_test (growth_is_judged_against_its_steps),
        cmocka_unit_test (the_mean_and_the_backlog_are_those_of_the_queue),
        cmocka_unit_test (load_is_work_over_capacity),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
