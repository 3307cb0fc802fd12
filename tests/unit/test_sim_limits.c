/* SPDX-License-Identifier: MIT */
/* Limits between the values of a scenario: what cannot be run, and what would not end. */
#include "check.h"
#include "scenario/limits.h"
#include "scenario/policy_text.h"
#include "study/run.h"

static void begin (struct sim_scenario *s, const char *policy)
{
    char why[SIM_POLICY_WHY_MAX];
    sim_scenario_init (s);
    CHECK_I64 (sim_policy_parse (policy, &s->policies[0], why), ==, 0);
    s->policies_count = 1;
}

/* The path and the beginning of the text. */
static void refuses (const struct sim_scenario *s, const char *expected)
{
    struct sim_wrong wrong = {.path = ""};
    char line[sizeof wrong + 4];
    bool is_wrong = sim_scenario_is_wrong (s, &wrong) || sim_policy_is_wrong (s, 0, &wrong) ||
                    sim_policy_cannot_run (s, 0, &wrong);
    CHECK_TRUE (is_wrong);
    snprintf (line, sizeof line, "%s: %s", wrong.path, wrong.text);
    if (strncmp (line, expected, strlen (expected)) != 0)
        CHECK_STR (line, expected);
}

static void accepts (const struct sim_scenario *s)
{
    struct sim_wrong wrong;
    CHECK_FALSE (sim_scenario_is_wrong (s, &wrong));
    CHECK_FALSE (sim_policy_is_wrong (s, 0, &wrong));
    CHECK_FALSE (sim_policy_cannot_run (s, 0, &wrong));
}

static void what_does_not_fit_together_is_refused (void **state)
{
    struct sim_scenario s;
    (void)state;
    begin (&s, "tied");
    accepts (&s);
    s.replicas.count = 1;
    refuses (&s, "replicas: a second copy needs a second replica");
    s.replicas.count = 4096;
    s.clients = 4096;
    refuses (&s, "clients: more than 4194304 links");
    s.replicas.count = 4097;
    s.clients = 1;
    refuses (&s, "replicas: a client knows at most 4096 replicas");
    s.replicas.subset = 4097;
    refuses (&s, "replicas: a client knows");
    s.replicas.subset = 8;
    refuses (&s, "replicas.subset: 513 groups but 1 clients");
    s.replicas.subset = 0;
    s.replicas.count = 300;
    s.replicas.workers = 4096;
    refuses (&s, "replicas.workers: more than 1048576 of all replicas together");
    s.replicas.workers = 4097;
    refuses (&s, "replicas.workers: 4097 is out of range: give 1 to 4096");
    s.replicas.workers = 1;
    s.network.loss = 0.01;
    refuses (&s, "network.loss: needs a deadline");
    s.workload.deadline_ns = S (1);
    accepts (&s);
    begin (&s, "jsq(3)");
    s.replicas.count = 2;
    refuses (&s, "policies[0]: d is 3, but there are 2 replicas");
    s.replicas.count = 3;
    accepts (&s);
    s.network.loss = 0.01;
    refuses (&s, "network.loss: 0.01: reference policies know no lost message");
    s.network.loss = 0;
    s.network.break_gap_ns = S (1);
    refuses (&s, "network.breaks: reference policies know no connections");
}

/* Each is within the ranges of its keys. */
static void BE_what_would_not_end_is_refused_with_the_bound (void **state)
{
    struct sim_scenario s;
    (void)state;
    /* Ten milliseconds of work take 10 000 pauses of an hour. */
    begin (&s, "tied");
    s.replicas.pause = (struct ti_pause){.gap_ns = US (1), .length_ns = S (3600)};
    refuses (&s, "heartbeat: ");
    s.workload.rate_per_s = 100;
    refuses (&s, "heartbeat: ");
    s.workload.arrivals = SIM_ARRIVALS_CLOSED;
    refuses (&s, "heartbeat: ");
    begin (&s, "central");
    s.replicas.pause = (struct ti_pause){.gap_ns = US (1), .length_ns = S (3600)};
    s.workload.rate_per_s = 100;
    refuses (&s, "amount.calls: a replication takes ");
    begin (&s, "central");
    s.replicas.pause = (struct ti_pause){.gap_ns = US (1), .length_ns = US (1000)};
    refuses (&s, "replicas: ");
    /* A pause log that never ends. */
    uint64_t log[] = {0, S (10)};
    begin (&s, "central");
    s.workload.rate_per_s = 100;
    s.replicas.pause_log = (struct sim_table){.values = log, .count = 2};
    refuses (&s, "amount.calls: a replication takes inf years");
    /* Every call a million times as long, at a rate that does not follow. */
    begin (&s, "single");
    s.workload.jitter_share = 1;
    s.workload.jitter_factor = 1e6;
    s.workload.rate_per_s = 1000;
    s.amount.calls = 1000000;
    refuses (&s, "heartbeat: ");
    begin (&s, "central");
    s.replicas.vary_ns = US (1);
    s.replicas.vary[0] = (struct sim_factor){.factor = 1e-6, .share = 1};
    s.replicas.vary_count = 1;
    refuses (&s, "replicas: ");
    begin (&s, "central");
    s.workload.fan_out = 10000;
    s.amount.calls = 1000000000;
    refuses (&s, "amount.calls: 1.2e+13 calls in a replication, more than 1e+10");
    /* And what is merely large is not. */
    begin (&s, "tied");
    s.workload.load = 1.5;
    s.amount.calls = 10000000;
    s.replicas.pause = (struct ti_pause){.gap_ns = S (4), .length_ns = MS (200)};
    accepts (&s);
}

static void a_run_says_which_policy_and_which_key (void **state)
{
    struct sim_scenario s;
    struct sim_result result = {.latency = NULL};
    char why[SIM_WHY_MAX] = "";
    const struct sim_run_options options = {.scenario = &s, .seed = 1};
    (void)state;
    begin (&s, "tied:1ms");
    s.replicas.count = 1;
    CHECK_I64 (sim_run (&options, &result, why), <, 0);
    CHECK_STR (why, "policy \"tied:1ms\": replicas: a second copy needs a second replica");
    s.clients = 0;
    CHECK_I64 (sim_run (&options, &result, why), <, 0);
    CHECK_STR (why, "clients: 0 is out of range: give 1 to 4096");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (what_does_not_fit_together_is_refused),
        cmocka_unit_test (BE_what_would_not_end_is_refused_with_the_bound),
        cmocka_unit_test (a_run_says_which_policy_and_which_key),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
