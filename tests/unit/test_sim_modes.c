/* SPDX-License-Identifier: MIT */
/*
 * Everything that the cores can do, in the simulated world: parked and exclusive copies, choice by
 * key and by zone, probation, and replicas that die. The cores check themselves at every step.
 */
#include "check.h"
#include "scenario/policy_text.h"

#include "study/run.h"
#include "workload/keys.h"
#include "workload/speed.h"

struct modes_case {
    struct sim_scenario scenario;
    struct sim_run_options options;
    struct sim_result result;
};

/* 4 replicas of 2 workers, exp(2ms), half loaded, random choice, 50 us one way. */
static void begin (struct modes_case *c, const char *policy, uint64_t calls)
{
    char why[SIM_POLICY_WHY_MAX] = "";

    memset (c, 0, sizeof *c);
    sim_scenario_init (&c->scenario);
    c->scenario.workload.service = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = MS (2)};
    c->scenario.workload.load = 0.5;
    c->scenario.workload.deadline_ns = S (1);
    c->scenario.replicas.count = 4;
    c->scenario.replicas.workers = 2;
    c->scenario.clients = 2;
    c->scenario.amount.calls = calls;
    c->scenario.policies_count = 1;
    CHECK_I64 (sim_policy_parse (policy, &c->scenario.policies[0], why), ==, 0);
    c->scenario.policies[0].pick = TIED_PICK_RANDOM;
    c->options.scenario = &c->scenario;
    c->options.seed = 1;
    c->options.checks = true;
    CHECK_I64 (sim_result_init (&c->result), ==, 0);
}

static struct sim_policy *policy (struct modes_case *c)
{
    return &c->scenario.policies[0];
}

static void dies (struct modes_case *c, tied_duration_t gap, tied_duration_t down, bool is_silent)
{
    c->scenario.replicas.crash_gap_ns = gap;
    c->scenario.replicas.crash_down_ns = down;
    c->scenario.replicas.crashes_silently = is_silent;
}

static const struct sim_result *run (struct modes_case *c)
{
    char why[SIM_WHY_MAX] = "";
    uint64_t ended = 0;
    const int rc = sim_run (&c->options, &c->result, why);

    if (rc != 0)
        print_error ("%s\n", why);
    CHECK_I64 (rc, ==, 0);
    for (uint32_t i = 0; i < TIED_OUTCOME_COUNT; i++)
        ended += c->result.outcomes[i];
    CHECK_U64 (ended, ==, c->scenario.amount.calls);
    return &c->result;
}

static void end (struct modes_case *c)
{
    sim_result_deinit (&c->result);
    sim_scenario_deinit (&c->scenario);
}

static uint64_t p (const struct modes_case *c, uint32_t ppm)
{
    return ti_hist_percentile (c->result.latency, ppm);
}

/* ---- parked and exclusive copies ---- */

/* What is aside neither runs nor waits: all else is as with a tie. */
static void parked_copies_change_nothing_while_all_replicas_live (void **state)
{
    struct modes_case tied, park;

    (void)state;
    begin (&tied, "tied:1ms", 20000);
    begin (&park, "park:1ms", 20000);
    (void)run (&tied);
    (void)run (&park);
    CHECK_U64 (park.result.outcomes[TIED_OUTCOME_OK], ==, 20000);
    CHECK_U64 (park.result.executions, ==, tied.result.executions);
    CHECK_DBL (park.result.latency_sum_ns, ==, tied.result.latency_sum_ns);
    CHECK_U64 (park.result.depth_area, ==, tied.result.depth_area);
    CHECK_U64 (park.result.cancels.effective, ==, tied.result.cancels.effective);
    end (&tied);
    end (&park);
}

/* The lease is as long as a service: many that are aside come back and run. */
static void a_lease_that_is_too_short_costs_executions (void **state)
{
    struct modes_case c, full;

    (void)state;
    begin (&c, "park:1ms", 20000);
    begin (&full, "park:1ms", 20000);
    policy (&c)->park_lease_ns = policy (&full)->park_lease_ns = MS (2);
    policy (&full)->park_max = 1;
    (void)run (&c);
    CHECK_U64 (c.result.duplicates, >, 1000);
    CHECK_U64 (c.result.outcomes[TIED_OUTCOME_OK], ==, 20000);
    /* What finds no room aside is dropped. */
    (void)run (&full);
    CHECK_U64 (full.result.duplicates, <, c.result.duplicates);
    end (&c);
    end (&full);
}

/* Missing heartbeats tell after 600 ms or more; the lease ends after 100. */
static void a_parked_copy_runs_when_its_sibling_died_in_silence (void **state)
{
    struct modes_case tied, park;

    (void)state;
    begin (&tied, "tied", 20000);
    begin (&park, "park", 20000);
    policy (&park)->park_lease_ns = MS (100);
    for (uint32_t i = 0; i < 2; i++) {
        struct modes_case *c = i ? &park : &tied;

        c->scenario.workload.service = (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MS (50)};
        dies (c, S (20), S (1), true);
        (void)run (c);
    }
    CHECK_U64 (p (&tied, 997000), >, MS (600));
    CHECK_U64 (p (&park, 997000), <, MS (300));
    end (&tied);
    end (&park);
}

/* Death, breaks, lost messages, and a stagger that lets both copies wait: whatever happens. */
static void an_exclusive_call_never_runs_twice (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct modes_case c;

        begin (&c, "exclusive:0s", 20000);
        c.options.seed = i;
        dies (&c, S (1), MS (200), i % 2 == 0);
        c.scenario.network.break_gap_ns = S (1);
        c.scenario.network.break_down_ns = MS (50);
        c.scenario.network.loss = 0.01;
        c.scenario.network.client.extra = c.scenario.network.peer.extra =
            (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = US (500)};
        c.scenario.network.client.has_extra = c.scenario.network.peer.has_extra = true;
        (void)run (&c);
        CHECK_U64 (c.result.duplicates, ==, 0);
        CHECK_U64 (c.result.executions, <=, 20000);
        CHECK_U64 (c.result.outcomes[TIED_OUTCOME_OK], >, 12000);
        CHECK_U64 (c.result.copies, >, 30000);
        end (&c);
    }
}

/* Without accidents it costs a question to the sibling, and loses nothing. */
static void exclusive_calls_all_run_while_all_replicas_live (void **state)
{
    struct modes_case c;

    (void)state;
    begin (&c, "exclusive", 20000);
    (void)run (&c);
    CHECK_U64 (c.result.outcomes[TIED_OUTCOME_OK], ==, 20000);
    CHECK_U64 (c.result.executions, ==, 20000);
    CHECK_U64 (c.result.duplicates, ==, 0);
    end (&c);
}

/* ---- replicas that die ---- */

static const char *const all_kinds[] = {"single",           "tied",  "park",           "exclusive",
                                        "single+hedge:4ms", "clone", "tied+hedge:auto"};

static void every_policy_survives_replicas_that_die (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof all_kinds / sizeof all_kinds[0]; i++) {
        const bool is_exclusive = strcmp (all_kinds[i / 2], "exclusive") == 0;
        struct modes_case a, b;

        begin (&a, all_kinds[i / 2], 8000);
        dies (&a, S (1), MS (300), i % 2 == 0);
        (void)run (&a);
        CHECK_U64 (a.result.outcomes[TIED_OUTCOME_OK], >, is_exclusive ? 5000u : 7000u);
        CHECK_U64 (a.result.outcomes[TIED_OUTCOME_OK], <, 8001);
        begin (&b, all_kinds[i / 2], 8000);
        dies (&b, S (1), MS (300), i % 2 == 0);
        b.options.checks = false;
        (void)run (&b);
        CHECK_U64 (a.result.trace_hash, ==, b.result.trace_hash);
        end (&a);
        end (&b);
    }
}

/* Half of the time dead: a single copy has half of the capacity left, and what ran is lost. */
static void what_a_replica_held_dies_with_it (void **state)
{
    struct modes_case c;

    (void)state;
    begin (&c, "single", 8000);
    c.scenario.workload.load = 0.2;
    c.scenario.workload.service = (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MS (20)};
    dies (&c, MS (100), MS (100), false);
    (void)run (&c);
    CHECK_U64 (c.result.executions, >, 8800);
    CHECK_U64 (c.result.wasted_ns, >, 0);
    CHECK_U64 (c.result.wasted_ns, <, (c.result.executions - 8000) * MS (20));
    CHECK_U64 (c.result.duplicates, >, 500);
    end (&c);
}

static void groups_of_replicas_that_die_run_one_after_the_other (void **state)
{
    uint64_t hash = 0;

    (void)state;
    for (uint32_t window = 1; window <= 1000; window *= 10) {
        struct modes_case c;

        begin (&c, "park", 4000);
        c.scenario.replicas.count = 8;
        c.scenario.replicas.subset = 4;
        dies (&c, MS (500), MS (100), false);
        c.options.window = window;
        (void)run (&c);
        if (hash == 0)
            hash = c.result.trace_hash;
        CHECK_U64 (c.result.trace_hash, ==, hash);
        end (&c);
    }
}

static void a_reference_knows_no_replica_that_dies (void **state)
{
    struct modes_case c;
    char why[SIM_WHY_MAX] = "";

    (void)state;
    begin (&c, "central", 1000);
    dies (&c, S (1), S (1), false);
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "replicas.crash") != NULL);
    end (&c);
}

/* ---- keys ---- */

static void keys_come_by_their_weights (void **state)
{
    const struct sim_keys zipf = {100, 1}, even = {4, 0}, none = {0, 1};
    struct sim_key_table table;
    uint64_t counts[101] = {0};

    (void)state;
    CHECK_TRUE (sim_keys_init (&table, &zipf, 7));
    for (uint64_t call = 0; call < 100000; call++)
        counts[sim_key_of (&table, call)]++;
    sim_keys_deinit (&table);
    /* The sum of 1 / k up to 100 is 5.187. */
    CHECK_U64 (counts[0], ==, 0);
    CHECK_DBL ((double)counts[1], >, 19278 * 0.97);
    CHECK_DBL ((double)counts[1], <, 19278 * 1.03);
    CHECK_DBL ((double)counts[2], >, 9639 * 0.96);
    CHECK_DBL ((double)counts[2], <, 9639 * 1.04);
    CHECK_U64 (counts[100], >, 130);
    CHECK_U64 (counts[100], <, 260);

    memset (counts, 0, sizeof counts);
    CHECK_TRUE (sim_keys_init (&table, &even, 7));
    for (uint64_t call = 0; call < 40000; call++)
        counts[sim_key_of (&table, call)]++;
    sim_keys_deinit (&table);
    for (uint32_t key = 1; key <= 4; key++) {
        CHECK_U64 (counts[key], >, 9700);
        CHECK_U64 (counts[key], <, 10300);
    }
    CHECK_TRUE (sim_keys_init (&table, &none, 7));
    CHECK_U64 (sim_key_of (&table, 1), ==, 0);
    sim_keys_deinit (&table);
}

/* One key is one replica: its queue is that of M/M/2 with all the load. */
static void calls_with_one_key_go_to_one_replica (void **state)
{
    struct modes_case one, many;

    (void)state;
    begin (&one, "single", 20000);
    begin (&many, "single", 20000);
    one.scenario.workload.load = many.scenario.workload.load = 0.2;
    policy (&one)->pick = policy (&many)->pick = TIED_PICK_AFFINITY;
    one.scenario.workload.keys.count = 1;
    many.scenario.workload.keys.count = 1000;
    (void)run (&one);
    (void)run (&many);
    /* At load 0.8 of one 2 / (1 - 0.64) = 5.6 ms, at 0.2 of each about 2.1, and 100 us of way. */
    CHECK_DBL (one.result.latency_sum_ns / 20000 / 1e6, >, 5);
    CHECK_DBL (many.result.latency_sum_ns / 20000 / 1e6, <, 2.5);
    end (&one);
    end (&many);
}

static void affinity_without_keys_is_refused (void **state)
{
    struct modes_case c;
    char why[SIM_WHY_MAX] = "";

    (void)state;
    begin (&c, "single", 1000);
    policy (&c)->pick = TIED_PICK_AFFINITY;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "keys") != NULL);
    end (&c);
}

/* ---- zones ---- */

static void a_zone_pauses_as_a_whole (void **state)
{
    struct sim_replicas r = {.count = 4,
                             .workers = 1,
                             .zones = 2,
                             .pauses_whole_zones = true,
                             .pause = {MS (50), MS (20)}};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_speed *speed;
        uint64_t apart = 0, both = 0;

        r.pauses_never_overlap = i == 1;
        speed = sim_speed_new (&r, 1);
        for (tied_time_t at = 0; at < S (10); at += MS (1)) {
            tied_time_t ends[4];

            for (uint32_t k = 0; k < 4; k++)
                ends[k] = sim_speed_finish (speed, k, at, US (1));
            CHECK_U64 (ends[0], ==, ends[2]);
            CHECK_U64 (ends[1], ==, ends[3]);
            apart += ends[0] != ends[1];
            both += ends[0] > at + US (1) && ends[1] > at + US (1);
        }
        CHECK_U64 (apart, >, 1000);
        if (r.pauses_never_overlap)
            CHECK_U64 (both, <, 5);
        else
            CHECK_U64 (both, >, 100);
        sim_speed_free (speed);
    }
}

/* A pair in one zone stands still together; in two zones one of them works. */
static void clients_that_know_zones_send_copies_to_two (void **state)
{
    struct modes_case known, unknown;

    (void)state;
    begin (&known, "tied:0s", 30000);
    begin (&unknown, "tied:0s", 30000);
    policy (&unknown)->ignores_zones = true;
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_scenario *s = i ? &known.scenario : &unknown.scenario;

        s->workload.load = 0.2;
        s->workload.copies = SIM_COPIES_IDENTICAL;
        s->replicas.zones = 2;
        s->replicas.pause = (struct ti_pause){S (2), MS (100)};
        s->replicas.pauses_whole_zones = true;
        s->replicas.pauses_never_overlap = true;
    }
    (void)run (&known);
    (void)run (&unknown);
    CHECK_U64 (p (&unknown, TI_HIST_P99), >, MS (30));
    CHECK_U64 (p (&known, TI_HIST_P99), <, p (&unknown, TI_HIST_P99) / 2);
    end (&known);
    end (&unknown);
}

/* ---- probation ---- */

static void a_slow_replica_on_probation_gets_few_calls (void **state)
{
    struct modes_case with, without;

    (void)state;
    begin (&with, "single", 20000);
    begin (&without, "single", 20000);
    policy (&with)->probation_milli = 2000;
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_scenario *s = i ? &with.scenario : &without.scenario;

        s->workload.load = 0.3;
        s->replicas.slow_count = 1;
        s->replicas.slow_factor = 3;
        s->replicas.slow_at_ns = 1;
    }
    (void)run (&with);
    (void)run (&without);
    CHECK_U64 (p (&without, TI_HIST_P90), >, MS (20));
    CHECK_U64 (p (&with, TI_HIST_P90), <, MS (8));
    end (&with);
    end (&without);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (parked_copies_change_nothing_while_all_replicas_live),
        cmocka_unit_test (a_lease_that_is_too_short_costs_executions),
        cmocka_unit_test (a_parked_copy_runs_when_its_sibling_died_in_silence),
        cmocka_unit_test (an_exclusive_call_never_runs_twice),
        cmocka_unit_test (exclusive_calls_all_run_while_all_replicas_live),
        cmocka_unit_test (every_policy_survives_replicas_that_die),
        cmocka_unit_test (what_a_replica_held_dies_with_it),
        cmocka_unit_test (groups_of_replicas_that_die_run_one_after_the_other),
        cmocka_unit_test (a_reference_knows_no_replica_that_dies),
        cmocka_unit_test (keys_come_by_their_weights),
        cmocka_unit_test (calls_with_one_key_go_to_one_replica),
        cmocka_unit_test (affinity_without_keys_is_refused),
        cmocka_unit_test (a_zone_pauses_as_a_whole),
        cmocka_unit_test (clients_that_know_zones_send_copies_to_two),
        cmocka_unit_test (a_slow_replica_on_probation_gets_few_calls),
    };
    return cmocka_run_group_tests_name ("sim_modes", tests, NULL, NULL);
}
