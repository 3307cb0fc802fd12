/* SPDX-License-Identifier: MIT */
/* Replay: calls of recordings, the worth of a hedge against sums made by hand, and the advice. */
#include "check.h"
#include "scenario/policy_text.h"

#include <stdio.h>
#include <unistd.h>

#include "base/hist.h"
#include "study/explain.h"
#include "study/replay.h"

#include <tied/error.h>

/* ---- the worth of a hedge ---- */

/*
 * Replica 0 serves call 0 from 0 to 100 and call 1 from 100 to 120; replica 1 serves call 2 from 40
 * to 100. So they take 100, 110 and 60.
 */
static const struct sim_pending_call calls[] = {
    {.at = 0, .replica = 0, .other = 1, .service_ns = 100, .other_service_ns = 30},
    {.at = 10, .replica = 0, .other = 1, .service_ns = 20, .other_service_ns = 50},
    {.at = 40, .replica = 1, .other = 0, .service_ns = 60, .other_service_ns = 5},
};
static const struct sim_pending_system plain = {.replicas = 2, .workers = 1};

static struct sim_conditional weigh (const struct sim_pending_system *system, tied_duration_t delay)
{
    struct sim_conditional found = {0};
    CHECK_TRUE (sim_conditional_add (&found, system, calls, 3, delay));
    sim_conditional_finish (&found);
    return found;
}

/* Copies at 25 and 35 find replica 1 idle: they end at 55 and 85, after 55 and 75, and save 45 and
 * 35. That at 65 waits until 120 and ends after 85: too late for a call that takes 60. */
static void a_copy_saves_what_its_call_would_have_taken_longer (void **state)
{
    struct sim_conditional found = weigh (&plain, 25);
    (void)state;
    CHECK_U64 (found.calls, ==, 3);
    CHECK_U64 (found.pending, ==, 3);
    CHECK_U64 (found.faster, ==, 2);
    CHECK_DBL (found.saved_sum_ns, ==, 45 + 35);
    CHECK_DBL (found.longer_sum_ns, ==, 75 + 85 + 35);
    CHECK_U64 (sim_conditional_longer (&found, TI_HIST_P50), ==, 75);
    CHECK_U64 (sim_conditional_longer (&found, TI_HIST_P99), ==, 85);
    sim_conditional_deinit (&found);
}

/* The copy of call 1 leaves at 110 and ends at 150 on the free replica 1: no gain. */
static void only_calls_longer_than_the_delay_are_pending (void **state)
{
    struct sim_conditional found = weigh (&plain, 100);
    (void)state;
    CHECK_U64 (found.calls, ==, 3);
    CHECK_U64 (found.pending, ==, 1);
    CHECK_U64 (found.faster, ==, 0);
    CHECK_DBL (found.saved_sum_ns, ==, 0);
    CHECK_U64 (sim_conditional_longer (&found, TI_HIST_P50), ==, 10);
    sim_conditional_deinit (&found);
    found = weigh (&plain, 200);
    CHECK_U64 (found.pending, ==, 0);
    CHECK_U64 (sim_conditional_longer (&found, TI_HIST_P50), ==, 0);
    sim_conditional_deinit (&found);
}

/* The copy of call 1 comes at 40 with call 2, and waits behind it until 100. That of call 0 at 30
 * ends at 60 and saves 40; that of call 2 at 70 waits until 120 and is too late. */
static void a_copy_waits_behind_what_came_at_the_same_time (void **state)
{
    struct sim_conditional found = weigh (&plain, 30);
    (void)state;
    CHECK_U64 (found.pending, ==, 3);
    CHECK_U64 (found.faster, ==, 1);
    CHECK_DBL (found.saved_sum_ns, ==, 40);
    sim_conditional_deinit (&found);
}

/* With two workers call 1 does not wait; the calls take 110, 30 and 70 with 5 on each way. After 50
 * the copies of calls 0 and 2 leave at 50 and 90: they end after 50 + 5 + 30 + 5 = 90, saving 20,
 * and after 50 + 15 = 65, saving 5. */
static void workers_and_ways_count (void **state)
{
    const struct sim_pending_system system = {.replicas = 2, .workers = 2, .way_ns = 5};
    struct sim_conditional found = weigh (&system, 50);
    (void)state;
    CHECK_U64 (found.pending, ==, 2);
    CHECK_DBL (found.longer_sum_ns, ==, 60 + 20);
    CHECK_DBL (found.saved_sum_ns, ==, 20 + 5);
    sim_conditional_deinit (&found);
}

static void calls_that_warm_up_are_not_counted_and_rounds_add_up (void **state)
{
    const struct sim_pending_system system = {.replicas = 2, .workers = 1, .first = 1};
    struct sim_conditional found = {0};
    (void)state;
    CHECK_TRUE (sim_conditional_add (&found, &system, calls, 3, 25));
    CHECK_TRUE (sim_conditional_add (&found, &system, calls, 3, 25));
    CHECK_U64 (found.calls, ==, 4);
    CHECK_DBL (found.saved_sum_ns, ==, 2 * 35);
    sim_conditional_deinit (&found);
}

/* ---- recordings ---- */

static char path[64];

static void write_text (const char *text)
{
    snprintf (path, sizeof path, "/tmp/tied-replay-XXXXXX");
    int fd = mkstemp (path);
    CHECK_I64 (fd, >=, 0);
    CHECK_I64 (write (fd, text, strlen (text)), ==, strlen (text));
    CHECK_I64 (close (fd), ==, 0);
}

static struct sim_recording read_text (const char *text)
{
    const char *paths[] = {path};
    struct sim_recording recording;
    char why[SIM_WHY_MAX] = "";
    write_text (text);
    if (sim_recording_read (paths, 1, &recording, why) != 0)
        fail_msg ("%s", why);
    unlink (path);
    return recording;
}

static void refuses (const char *text, const char *says)
{
    const char *paths[] = {path};
    struct sim_recording recording;
    char why[SIM_WHY_MAX] = "";
    write_text (text);
    CHECK_TRUE (sim_recording_read (paths, 1, &recording, why) != 0);
    unlink (path);
    if (!strstr (why, says))
        fail_msg ("\"%s\" does not say \"%s\"", why, says);
    CHECK_TRUE (strchr (why, '\n') == NULL);
}

#define REPLICA_HEADING "t_us,call,copy,replica,queue_us,service_us,outcome\n"
#define CLIENT_HEADING  "t_us,policy,call,replica,copies,queue_us,service_us,latency_us,outcome\n"

static void copies_of_a_call_are_joined_and_what_did_not_run_is_left_out (void **state)
{
    struct sim_recording recording =
        read_text (REPLICA_HEADING "1300.000,7-2,0,a,0,90.5,executed\n"
                                   "1000.000,7-1,0,a,0,0,dropped\n" REPLICA_HEADING
                                   "1200.250,7-1,1,b,0,40,executed\n"
                                   "1250.000,7-3,0,b,0,0,rejected_full\n"
                                   "1500.000,7-4,0,c,0,10,cancelled\n");
    (void)state;
    CHECK_U64 (recording.times.count, ==, 2);
    CHECK_U64 (recording.times.values[0], ==, 0);
    CHECK_U64 (recording.times.values[1], ==, 300000);
    CHECK_U64 (recording.service.values[0], ==, 40000);
    CHECK_U64 (recording.service.values[1], ==, 90500);
    CHECK_U64 (recording.replicas, ==, 3);
    CHECK_U64 (recording.lines, ==, 5);
    CHECK_U64 (recording.not_run, ==, 2);
    CHECK_U64 (recording.latency.count, ==, 0);
    sim_recording_deinit (&recording);
}

static void of_a_clients_recording_single_is_taken_and_other_turns_are_cut_out (void **state)
{
    struct sim_recording recording =
        read_text (CLIENT_HEADING "1000,tied,7-1,a,2,0,5,7,ok\n"
                                  "2000,single,7-2,a,1,0,10,30,ok\n"
                                  "2100,single,7-3,b,1,0,20,25,app_error\n"
                                  "5000,tied,7-4,a,2,0,5,7,ok\n"
                                  "9000,single,7-5,a,1,0,30,35,ok\n"
                                  "9050,single,7-6,-,1,0,0,900,deadline\n"
                                  "9100,single,7-7,b,1,0,40,45,ok\n");
    (void)state;
    CHECK_STR (recording.policy, "single");
    CHECK_U64 (recording.policies, ==, 2);
    CHECK_U64 (recording.replicas, ==, 2);
    CHECK_U64 (recording.times.count, ==, 4);
    CHECK_U64 (recording.times.values[1], ==, US (100));
    CHECK_U64 (recording.times.values[2], ==, US (200));
    CHECK_U64 (recording.times.values[3], ==, US (300));
    CHECK_U64 (recording.cut_ns, ==, US (6800));
    CHECK_U64 (recording.not_run, ==, 1);
    CHECK_U64 (recording.latency.count, ==, 4);
    CHECK_U64 (recording.latency.values[0], ==, US (25));
    CHECK_U64 (recording.latency.values[3], ==, US (45));
    sim_recording_deinit (&recording);
}

static void a_bad_recording_is_refused_with_its_line (void **state)
{
    (void)state;
    refuses ("", "empty");
    refuses (REPLICA_HEADING, "no call");
    refuses (REPLICA_HEADING "1,7-1,0,a,0,5,executed\n", "only one call");
    refuses (REPLICA_HEADING "1,7-1,0,a,0,5,executed\n-2,7-2,0,a,0,5,executed\n", ":3: time: -2");
    refuses (REPLICA_HEADING "nan,7-1,0,a,0,5,executed\n", ":2: time: \"nan\" is not a number");
    refuses (REPLICA_HEADING ",7-1,0,a,0,5,executed\n", ":2: time: \"\" is not a number");
    refuses (REPLICA_HEADING "1,7-1,0,a,0,,executed\n", ":2: service time: \"\"");
    refuses (REPLICA_HEADING "1,7-1,0,a,0,-5,executed\n", ":2: service time: -5 is negative");
    refuses (REPLICA_HEADING "1,7-1,0,a,0,1e12,executed\n", ":2: service time: 1e+12 is longer");
    refuses (REPLICA_HEADING "1,7-1,0,a,0,5\n", ":2: has 6 fields");
    refuses ("t_us,call\n1,2\n", "no column service_us");
    refuses ("call,service_us\n1,2\n", "no column t_us");
    refuses ("t_us,latency_us,outcome\n1,2,ok\n", "latency_us is end-to-end latency");
    refuses ("0 1 20043 0 1700000000 5\n", "end-to-end latency alone");
}

/* ---- the scenario and the advice ---- */

static void the_scenario_has_the_recordings_load (void **state)
{
    const struct sim_replay_options options = {.workers = 2, .replications = 3, .seed = 9};
    struct sim_recording recording = read_text (REPLICA_HEADING "0,1,0,a,0,10,executed\n"
                                                                "20,2,0,b,0,30,executed\n"
                                                                "40,3,0,a,0,20,executed\n");
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX];
    (void)state;
    CHECK_I64 (sim_replay_scenario (&recording, &options, &scenario, why), ==, 0);
    CHECK_U64 (scenario.replicas.count, ==, 2);
    CHECK_U64 (scenario.replicas.workers, ==, 2);
    CHECK_DBL (sim_scenario_rate_per_s (&scenario), >, 49999);
    CHECK_DBL (sim_scenario_rate_per_s (&scenario), <, 50001);
    CHECK_DBL (sim_scenario_mean_service_ns (&scenario), ==, 20000);
    CHECK_TRUE (recording.times.values == NULL);
    sim_scenario_deinit (&scenario);
    sim_recording_deinit (&recording);
}

static void one_replica_is_too_few (void **state)
{
    struct sim_replay_options options = {.workers = 1, .replications = 1};
    struct sim_recording recording = read_text (REPLICA_HEADING "0,1,0,a,0,10,executed\n"
                                                                "20,2,0,a,0,30,executed\n");
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX];
    (void)state;
    CHECK_I64 (sim_replay_scenario (&recording, &options, &scenario, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "--replicas") != NULL);
    options.replicas = 2;
    CHECK_I64 (sim_replay_scenario (&recording, &options, &scenario, why), ==, 0);
    sim_scenario_deinit (&scenario);
    sim_recording_deinit (&recording);
}

/* A study in which p99, 0: unstable, and executions are as given. */
static void check_advice (const double p99_ms[7], const double executions[7], const char *says)
{
    static struct sim_scenario scenario;
    static struct sim_study study;
    static struct sim_replay replay;
    static const enum sim_policy_kind kinds[] = {
        SIM_POLICY_SINGLE, SIM_POLICY_TIED,  SIM_POLICY_HEDGE,     SIM_POLICY_HEDGE,
        SIM_POLICY_HEDGE,  SIM_POLICY_HEDGE, SIM_POLICY_TIED_HEDGE};
    memset (&study, 0, sizeof study);
    study.scenario = &scenario;
    study.replications = 5;
    study.policies_count = 7;
    for (uint32_t i = 0; i < 7; i++) {
        scenario.policies[i].kind = kinds[i];
        study.policies[i].percentile_ns[3] = (struct sim_estimate){p99_ms[i] * 1e6, 1e4};
        study.policies[i].p99_minus_ns = (struct sim_estimate){(p99_ms[i] - p99_ms[0]) * 1e6, 1e5};
        study.policies[i].executions_per_call.value = executions[i];
        study.policies[i].hedge_ns = MS (i);
        study.policies[i].unstable = p99_ms[i] > 0 ? 0 : 5;
    }
    replay.has_hedges = says[0] != 'A';
    sim_replay_advise (&study, &replay);
    if (strstr (replay.advice, says) != replay.advice)
        print_error ("%s\n", replay.advice);
    CHECK_TRUE (strstr (replay.advice, says) == replay.advice);
}

static void the_advice_is_the_cheapest_of_what_is_near_the_best (void **state)
{
    (void)state;
    check_advice ((double[]){100, 50, 49, 60, 70, 90, 48},
                  (double[]){1, 1.01, 1.4, 1.1, 1.05, 1.01, 1.1}, "Tie: p99 falls from 100 to 50");
    check_advice ((double[]){100, 95, 98, 60, 61, 90, 96},
                  (double[]){1, 1.01, 1.4, 1.1, 1.05, 1.01, 1.1}, "Hedge at 4");
    check_advice ((double[]){100, 97, 130, 99, 99, 99, 98},
                  (double[]){1, 1.01, 1.4, 1.1, 1.05, 1.01, 1.1}, "Do not hedge or tie: no policy");
    check_advice ((double[]){100, 0, 0, 0, 0, 0, 0}, (double[]){1, 2, 2, 2, 2, 2, 2},
                  "Do not hedge or tie: with further copies the queues");
    check_advice ((double[]){100, 97, 130, 99, 99, 99, 98},
                  (double[]){1, 1.01, 1.4, 1.1, 1.05, 1.01, 1.1}, "Add replicas or workers");
}

/* ---- explain ---- */

static void the_parts_of_an_explained_call_sum_to_its_latency (void **state)
{
    static struct sim_scenario scenario;
    static struct sim_explanation explanation;
    struct sim_explain_parts parts;
    char why[SIM_WHY_MAX];
    (void)state;
    sim_scenario_init (&scenario);
    scenario.amount.calls = 2000;
    sim_policy_init (&scenario.policies[0], SIM_POLICY_TIED);
    scenario.policies[0].pick = TIED_PICK_RANDOM;
    scenario.policies[1] = (struct sim_policy){.kind = SIM_POLICY_CENTRAL, .d = 2};
    scenario.policies_count = 2;
    for (uint32_t ppm = 100000; ppm < 1000000; ppm += 150000) {
        if (sim_explain (&scenario, 0, ppm, &explanation, why) != 0)
            fail_msg ("%s", why);
        CHECK_TRUE (sim_explain_parts (&explanation, &parts));
        CHECK_U64 (parts.before_ns + parts.network_ns + parts.waited_ns + parts.served_ns +
                       parts.after_ns,
                   ==, explanation.latency_ns);
        CHECK_U64 (parts.after_ns, ==, 0);
        CHECK_U64 (parts.network_ns, ==, US (100));
        CHECK_TRUE (explanation.copies[0].is_sent);
        CHECK_U64 (explanation.requests, ==, 2000);
    }
    CHECK_I64 (sim_explain (&scenario, 1, 990000, &explanation, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "no messages to show") != NULL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_copy_saves_what_its_call_would_have_taken_longer),
        cmocka_unit_test (only_calls_longer_than_the_delay_are_pending),
        cmocka_unit_test (a_copy_waits_behind_what_came_at_the_same_time),
        cmocka_unit_test (workers_and_ways_count),
        cmocka_unit_test (calls_that_warm_up_are_not_counted_and_rounds_add_up),
        cmocka_unit_test (copies_of_a_call_are_joined_and_what_did_not_run_is_left_out),
        cmocka_unit_test (of_a_clients_recording_single_is_taken_and_other_turns_are_cut_out),
        cmocka_unit_test (a_bad_recording_is_refused_with_its_line),
        cmocka_unit_test (the_scenario_has_the_recordings_load),
        cmocka_unit_test (one_replica_is_too_few),
        cmocka_unit_test (the_advice_is_the_cheapest_of_what_is_near_the_best),
        cmocka_unit_test (the_parts_of_an_explained_call_sum_to_its_latency),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
