/* SPDX-License-Identifier: MIT */
/*
 * Scenarios that are read: every key reaches its field, short forms mean what their maps mean,
 * documents extend each other, the presets are valid, and the reference page is what the table
 * prints. What is refused is in test_sim_scenario_errors.c.
 *
 * TIED_REWRITE=1 writes docs/scenario.md anew.
 */
#include "check.h"
#include "page.h"

#include <stdio.h>
#include <unistd.h>

#include "scenario/policy_text.h"
#include "scenario/read.h"

static struct sim_scenario read_text (const char *text)
{
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX] = "";
    if (sim_scenario_read_text ("test.yaml", text, strlen (text), &scenario, why)) {
        print_error ("%s\n", why);
        CHECK_TRUE (false);
    }
    return scenario;
}

/* Together with the texts below it has every key: see every_key_of_the_page_is_tested. */
static const char *const all_keys =
    "extends: demo\n"
    "name: all\n"
    "title: everything there is\n"
    "arrivals: {kind: mmpp, factor: 8, burst: 30ms, calm: 1s}\n"
    "rate: 1.5k/s\n"
    "fan_out: {calls: 10, needed: 9}\n"
    "deadline: 2s\n"
    "service: {dist: \"bimodal(1ms,10ms,0.1)\"}\n"
    "copies: {kind: sx, slowdown: [[1, .5], {factor: 2, share: 50%}]}\n"
    "cold: 1.5\n"
    "jitter: {share: 1%, factor: 15}\n"
    "replicas:\n"
    "  count: 20\n"
    "  workers: 3\n"
    "  subset: 5\n"
    "  speeds: [1, 1, 0.5]\n"
    "  slow: {count: 2, factor: 3}\n"
    "  vary: {every: 100ms, factors: [[1, 0.25], [6, 0.75]]}\n"
    "  pause: {gap: 4s, length: 200ms, never_overlap: true}\n"
    "  queue_depth: 77\n"
    "clients: 4\n"
    "heartbeat: 100ms\n"
    "network:\n"
    "  {delay: 50us, peer_delay: 40us, extra: exp(20us), peer_extra: none, loss: 0.001,\n"
    "   loss_started: 1e-2, breaks: {gap: 60s, down: 100ms}, high_water: 1000}\n"
    "policies:\n"
    "  - single\n"
    "  - {stagger: 1ms, name: k6, kind: tied, pick: random, samples: 6, load_age: 200ms,\n"
    "     hedge_depth: 5}\n"
    "  - {name: both, kind: \"tied-hedge:1ms/p95\", hedge: 10ms, keep_losers: true}\n"
    "  - {name: queues, kind: jsq, d: 3}\n"
    "  - {name: loop, kind: \"single+hedge:auto@3%\", extra_load: 2%, governed: false, "
    "depth_limit: 7.5,\n"
    "     canary: "
    "50%,\n"
    "     shadow: true, target: p99, min_samples: 500, initial: 20ms, floor: 100us}\n"
    "published: [{policy: k6, percentile: p99.9, value: 42.5ms, within: 10%}]\n"
    "amount: {calls: 30000, warm_up: 0.2, cool_down: 5%, replications: 3, precision: 2%,\n"
    "         budget: 60s, seed: 18446744073709551615}\n"
    "sweep: {loads: [0.3, 1.5]}\n"
    "shuffle_ties: true\n";

static const char *const other_arrivals =
    "arrivals: {kind: on_off, on: 1s, off: 3s}\npolicies: [single]\nload: 0.3\ncorrelation: 30%\n";
static const char *const stepped =
    "arrivals: {kind: steps, steps: [[20s, 2.4], {from: 30s, factor: 1}]}\npolicies: [single]\n"
    "replicas: {count: 3, slow: {count: 1, factor: 1000, at: 10s, length: 60s}}\n";
/* Replicas that die, zones, keys, and the policies of their own. */
static const char *const modes =
    "replicas: {count: 6, zones: 3, crash: {gap: 20s, down: 2s, silent: true},\n"
    "           pause: {gap: 9s, length: 200ms, whole_zones: true}}\n"
    "keys: {count: 1000, skew: 0.9}\n"
    "policies:\n"
    "  - park\n"
    "  - {name: short, kind: \"park:2ms/random\", park_lease: 50ms, park_max: 10}\n"
    "  - {kind: exclusive, ignore_zones: true}\n"
    "  - {name: key, kind: single/affinity, probation: 2.5}\n"
    "  - {name: key2, kind: tied, pick: affinity}\n";
static const char *const closed_loop =
    "arrivals: {kind: closed, users: 12, think: fixed(5ms)}\npolicies: [single]\n";
/* Files are tested in files_are_found_beside_the_scenario. */
static const char *const files = "arrivals: {kind: trace, file: times.csv, column: at, unit: 1ms}\n"
                                 "service: {table: costs.csv, column: cost, unit: 1us, "
                                 "in_order: true}\n"
                                 "replicas: {count: 2, pause: {log: pauses.hlog}}\n"
                                 "policies: [single]\n";

static void workload_keys_reach_their_fields (void **state)
{
    (void)state;
    struct sim_scenario s = read_text (all_keys);
    const struct sim_workload *w = &s.workload;
    CHECK_STR (s.name, "all");
    CHECK_STR (s.title, "everything there is");
    CHECK_STR (s.source, all_keys);
    CHECK_U64 (w->arrivals, ==, SIM_ARRIVALS_MMPP);
    CHECK_DBL (w->burst_factor, ==, 8);
    CHECK_U64 (w->burst_ns, ==, MS (30));
    CHECK_U64 (w->calm_ns, ==, S (1));
    CHECK_DBL (w->rate_per_s, ==, 1500);
    CHECK_DBL (w->load, ==, 0);
    CHECK_U64 (w->fan_out, ==, 10);
    CHECK_U64 (w->fan_out_needed, ==, 9);
    CHECK_U64 (w->deadline_ns, ==, S (2));
    CHECK_U64 (w->service.kind, ==, TI_DIST_BIMODAL);
    CHECK_U64 (w->service.b_ns, ==, MS (10));
    CHECK_U64 (w->copies, ==, SIM_COPIES_SX);
    CHECK_U64 (w->slowdown_count, ==, 2);
    CHECK_DBL (w->slowdown[1].factor, ==, 2);
    CHECK_DBL (w->slowdown[1].share, ==, 0.5);
    CHECK_DBL (w->cold_factor, ==, 1.5);
    CHECK_DBL (w->jitter_share, ==, 0.01);
    CHECK_DBL (w->jitter_factor, ==, 15);
    sim_scenario_deinit (&s);
    s = read_text (other_arrivals);
    CHECK_U64 (s.workload.arrivals, ==, SIM_ARRIVALS_ON_OFF);
    CHECK_U64 (s.workload.on_ns, ==, S (1));
    CHECK_U64 (s.workload.off_ns, ==, S (3));
    CHECK_DBL (s.workload.load, ==, 0.3);
    CHECK_DBL (s.workload.correlation, ==, 0.3);
    CHECK_STR (s.name, "test");
    sim_scenario_deinit (&s);
    s = read_text (stepped);
    CHECK_U64 (s.workload.arrivals, ==, SIM_ARRIVALS_STEPS);
    CHECK_U64 (s.workload.steps_count, ==, 2);
    CHECK_U64 (s.workload.steps[0].from_ns, ==, S (20));
    CHECK_DBL (s.workload.steps[0].factor, ==, 2.4);
    CHECK_U64 (s.workload.steps[1].from_ns, ==, S (30));
    CHECK_U64 (s.replicas.slow_at_ns, ==, S (10));
    CHECK_U64 (s.replicas.slow_length_ns, ==, S (60));
    /* It is a matter of time, so the load is that of all three. */
    CHECK_DBL (sim_scenario_capacity (&s), ==, 3);
    sim_scenario_deinit (&s);
    s = read_text (closed_loop);
    CHECK_U64 (s.workload.arrivals, ==, SIM_ARRIVALS_CLOSED);
    CHECK_U64 (s.workload.users, ==, 12);
    CHECK_U64 (s.workload.think.kind, ==, TI_DIST_FIXED);
    CHECK_U64 (s.workload.think.a_ns, ==, MS (5));
    sim_scenario_deinit (&s);
}

static void replica_and_network_keys_reach_their_fields (void **state)
{
    (void)state;
    struct sim_scenario s = read_text (all_keys);
    const struct sim_replicas *r = &s.replicas;
    const struct sim_network *n = &s.network;
    CHECK_U64 (r->count, ==, 20);
    CHECK_U64 (r->workers, ==, 3);
    CHECK_U64 (r->subset, ==, 5);
    CHECK_U64 (r->speeds_count, ==, 3);
    CHECK_DBL (r->speeds[2], ==, 0.5);
    CHECK_U64 (r->slow_count, ==, 2);
    CHECK_DBL (r->slow_factor, ==, 3);
    CHECK_U64 (r->vary_ns, ==, MS (100));
    CHECK_U64 (r->vary_count, ==, 2);
    CHECK_DBL (r->vary[1].factor, ==, 6);
    CHECK_DBL (r->vary[1].share, ==, 0.75);
    CHECK_U64 (r->pause.gap_ns, ==, S (4));
    CHECK_U64 (r->pause.length_ns, ==, MS (200));
    CHECK_TRUE (r->pauses_never_overlap);
    CHECK_U64 (r->queue_depth, ==, 77);
    CHECK_U64 (s.clients, ==, 4);
    CHECK_U64 (s.heartbeat_ns, ==, MS (100));
    CHECK_U64 (n->client.fixed_ns, ==, US (50));
    CHECK_U64 (n->peer.fixed_ns, ==, US (40));
    CHECK_TRUE (n->client.has_extra);
    CHECK_U64 (n->client.extra.a_ns, ==, US (20));
    CHECK_FALSE (n->peer.has_extra);
    CHECK_DBL (n->loss, ==, 0.001);
    CHECK_DBL (n->loss_started, ==, 0.01);
    CHECK_U64 (n->break_gap_ns, ==, S (60));
    CHECK_U64 (n->break_down_ns, ==, MS (100));
    CHECK_U64 (n->high_water, ==, 1000);
    CHECK_TRUE (s.shuffles_ties);
    sim_scenario_deinit (&s);
}

static void modes_zones_and_keys_reach_their_fields (void **state)
{
    (void)state;
    struct sim_scenario s = read_text (modes);
    CHECK_U64 (s.replicas.zones, ==, 3);
    CHECK_TRUE (s.replicas.pauses_whole_zones);
    CHECK_U64 (s.replicas.crash_gap_ns, ==, S (20));
    CHECK_U64 (s.replicas.crash_down_ns, ==, S (2));
    CHECK_TRUE (s.replicas.crashes_silently);
    CHECK_U64 (s.workload.keys.count, ==, 1000);
    CHECK_DBL (s.workload.keys.skew, ==, 0.9);
    CHECK_U64 (s.policies[0].kind, ==, SIM_POLICY_PARK);
    CHECK_STR (s.policies[0].name, "park");
    CHECK_U64 (s.policies[0].pick, ==, TIED_PICK_INFORMED);
    CHECK_U64 (s.policies[0].park_max, ==, 0);
    CHECK_U64 (s.policies[1].kind, ==, SIM_POLICY_PARK);
    CHECK_U64 (s.policies[1].stagger_ns, ==, MS (2));
    CHECK_U64 (s.policies[1].pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (s.policies[1].park_lease_ns, ==, MS (50));
    CHECK_U64 (s.policies[1].park_max, ==, 10);
    CHECK_U64 (s.policies[2].kind, ==, SIM_POLICY_EXCLUSIVE);
    CHECK_TRUE (s.policies[2].ignores_zones);
    CHECK_U64 (s.policies[3].kind, ==, SIM_POLICY_SINGLE);
    CHECK_U64 (s.policies[3].pick, ==, TIED_PICK_AFFINITY);
    CHECK_U64 (s.policies[3].probation_milli, ==, 2500);
    CHECK_U64 (s.policies[4].pick, ==, TIED_PICK_AFFINITY);
    sim_scenario_deinit (&s);
}

static void policy_and_amount_keys_reach_their_fields (void **state)
{
    (void)state;
    struct sim_scenario s = read_text (all_keys);
    CHECK_U64 (s.policies_count, ==, 5);
    const struct sim_policy *tied = &s.policies[1], *both = &s.policies[2];
    CHECK_STR (tied->name, "k6");
    CHECK_U64 (tied->kind, ==, SIM_POLICY_TIED);
    CHECK_U64 (tied->pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (tied->pick_samples, ==, 6);
    CHECK_U64 (tied->load_age_ns, ==, MS (200));
    CHECK_U64 (tied->stagger_ns, ==, MS (1));
    CHECK_U64 (tied->hedge_depth, ==, 5);
    CHECK_STR (both->name, "both");
    CHECK_U64 (both->kind, ==, SIM_POLICY_TIED_HEDGE);
    CHECK_U64 (both->stagger_ns, ==, MS (1));
    CHECK_U64 (sim_policy_fixed_delay (both), ==, MS (10));
    CHECK_U64 (both->hedge_ppm, ==, 0);
    CHECK_TRUE (both->keeps_losers);
    CHECK_U64 (s.policies[3].kind, ==, SIM_POLICY_JSQ);
    CHECK_U64 (s.policies[3].d, ==, 3);
    CHECK_U64 (s.published_count, ==, 1);
    CHECK_STR (s.published[0].policy, "k6");
    CHECK_U64 (s.published[0].ppm, ==, 999000);
    CHECK_DBL (s.published[0].ms, ==, 42.5);
    CHECK_DBL (s.published[0].tolerance, ==, 0.1);
    CHECK_U64 (s.amount.calls, ==, 30000);
    CHECK_DBL (s.amount.warm_up, ==, 0.2);
    CHECK_DBL (s.amount.cool_down, ==, 0.05);
    CHECK_U64 (s.amount.replications, ==, 3);
    CHECK_DBL (s.amount.precision, ==, 0.02);
    CHECK_U64 (s.amount.budget_ns, ==, S (60));
    CHECK_U64 (s.amount.seed, ==, UINT64_MAX);
    CHECK_U64 (s.sweep.loads_count, ==, 2);
    CHECK_DBL (s.sweep.loads[1], ==, 1.5);
    sim_scenario_deinit (&s);
}

static void settings_of_a_policy_reach_the_clients (void **state)
{
    (void)state;
    struct sim_scenario s = read_text (all_keys);
    const struct sim_policy *loop = &s.policies[4];
    const struct tied_policy *settings = &loop->settings;
    CHECK_U64 (loop->kind, ==, SIM_POLICY_HEDGE);
    CHECK_U64 (loop->hedge_ppm, ==, 0);
    CHECK_U64 (sim_policy_fixed_delay (loop), ==, TIED_NEVER);
    CHECK_U64 (settings->hedge.kind, ==, TIED_HEDGE_RULE_AUTO);
    CHECK_U64 (settings->extra_load_ppm, ==, 20000);
    CHECK_FALSE (settings->is_governed);
    CHECK_U64 (settings->governor.depth_milli, ==, 7500);
    CHECK_U64 (settings->canary_ppm, ==, 500000);
    CHECK_TRUE (settings->is_shadow);
    CHECK_U64 (settings->target_ppm, ==, 990000);
    CHECK_U64 (settings->min_samples, ==, 500);
    CHECK_U64 (settings->hedge_initial_ns, ==, MS (20));
    CHECK_U64 (settings->hedge_floor_ns, ==, US (100));
    CHECK_I64 (tied_policy_check (settings, NULL), ==, 0);
    sim_scenario_deinit (&s);
}

static struct sim_policy parse_policy (const char *text)
{
    struct sim_policy policy;
    char why[SIM_POLICY_WHY_MAX] = "";
    if (sim_policy_parse (text, &policy, why)) {
        print_error ("%s: %s\n", text, why);
        CHECK_TRUE (false);
    }
    CHECK_STR (policy.name, text);
    return policy;
}

static void policies_are_written_in_one_word (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SIM_POLICY_KINDS; i++)
        CHECK_U64 (parse_policy (sim_policy_words[i]).kind, ==, i);
    CHECK_U64 (parse_policy ("single").pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (parse_policy ("single/round-robin").pick, ==, TIED_PICK_ROUND_ROBIN);
    CHECK_U64 (parse_policy ("tied").pick, ==, TIED_PICK_INFORMED);
    CHECK_U64 (parse_policy ("tied").stagger_ns, ==, TIED_STAGGER_AUTO);
    struct sim_policy policy = parse_policy ("tied:1ms/random");
    CHECK_U64 (policy.pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (policy.stagger_ns, ==, MS (1));
    CHECK_U64 (parse_policy ("hedge").hedge_ppm, ==, 950000);
    policy = parse_policy ("hedge/10ms/informed/keep");
    CHECK_U64 (sim_policy_fixed_delay (&policy), ==, MS (10));
    CHECK_U64 (policy.hedge_ppm, ==, 0);
    CHECK_U64 (policy.pick, ==, TIED_PICK_INFORMED);
    CHECK_TRUE (policy.keeps_losers);
    CHECK_U64 (parse_policy ("tied-hedge:0s/p99.9").hedge_ppm, ==, 999000);
    /* As the load tool has them. */
    policy = parse_policy ("tied:1ms+hedge:20ms/random");
    CHECK_U64 (policy.kind, ==, SIM_POLICY_TIED_HEDGE);
    CHECK_U64 (policy.stagger_ns, ==, MS (1));
    CHECK_U64 (sim_policy_fixed_delay (&policy), ==, MS (20));
    CHECK_U64 (policy.pick, ==, TIED_PICK_RANDOM);
    policy = parse_policy ("single+hedge:0s");
    CHECK_U64 (policy.kind, ==, SIM_POLICY_HEDGE);
    CHECK_U64 (sim_policy_fixed_delay (&policy), ==, 0);
    policy = parse_policy ("tied+hedge:p95@4%/random/governed");
    CHECK_U64 (policy.kind, ==, SIM_POLICY_TIED_HEDGE);
    CHECK_U64 (policy.hedge_ppm, ==, 0);
    CHECK_U64 (policy.settings.extra_load_ppm, ==, 40000);
    CHECK_TRUE (policy.settings.is_governed);
    CHECK_U64 (parse_policy ("single+hedge:never").kind, ==, SIM_POLICY_SINGLE);
    CHECK_TRUE (parse_policy ("clone/keep").keeps_losers);
    CHECK_FALSE (parse_policy ("clone").keeps_losers);
    CHECK_U64 (parse_policy ("jsq").d, ==, 2);
    CHECK_U64 (parse_policy ("jsq(5)").d, ==, 5);
    CHECK_U64 (parse_policy ("cos(3)").kind, ==, SIM_POLICY_IDEAL_COS);
    CHECK_U64 (parse_policy ("coc(2)").kind, ==, SIM_POLICY_IDEAL_COC);
}

static void a_value_stands_for_its_map (void **state)
{
    (void)state;
    struct sim_scenario a = read_text ("arrivals: deterministic\nfan_out: 3\nservice: exp(2ms)\n"
                                       "copies: identical\nreplicas: 7\nsweep: [0.5]\n"
                                       "policies: [tied/random]\n");
    struct sim_scenario b =
        read_text ("{\"arrivals\": {\"kind\": \"deterministic\"}, \"fan_out\": {\"calls\": 3}, "
                   "\"service\": {\"dist\": \"exp(2ms)\"}, \"copies\": {\"kind\": \"identical\"}, "
                   "\"replicas\": {\"count\": 7}, \"sweep\": {\"loads\": [5e-1]}, "
                   "\"policies\": [{\"kind\": \"tied/random\"}]}");
    free (a.source);
    free (b.source);
    a.source = b.source = NULL;
    CHECK_U64 (a.workload.arrivals, ==, SIM_ARRIVALS_DETERMINISTIC);
    CHECK_U64 (a.workload.fan_out, ==, 3);
    CHECK_U64 (a.workload.service.a_ns, ==, MS (2));
    CHECK_U64 (a.workload.copies, ==, SIM_COPIES_IDENTICAL);
    CHECK_U64 (a.replicas.count, ==, 7);
    CHECK_DBL (a.sweep.loads[0], ==, 0.5);
    CHECK_U64 (a.policies[0].pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (a.workload.arrivals, ==, b.workload.arrivals);
    CHECK_U64 (a.workload.fan_out, ==, b.workload.fan_out);
    CHECK_U64 (a.workload.service.a_ns, ==, b.workload.service.a_ns);
    CHECK_U64 (a.workload.copies, ==, b.workload.copies);
    CHECK_U64 (a.replicas.count, ==, b.replicas.count);
    CHECK_DBL (a.sweep.loads[0], ==, b.sweep.loads[0]);
    CHECK_MEM (&a.policies[0], &b.policies[0], sizeof a.policies[0]);
    sim_scenario_deinit (&a);
    sim_scenario_deinit (&b);
}

static void what_is_not_said_has_its_default (void **state)
{
    (void)state;
    struct sim_scenario read = read_text ("policies: [single]\n"), fresh;
    struct ti_dist dist;
    char why[TI_DIST_WHY_MAX];
    sim_scenario_init (&fresh);
    /* The page says these two in words. */
    CHECK_I64 (ti_dist_parse ("exp(10ms)", &dist, why), ==, 0);
    CHECK_U64 (fresh.workload.service.kind, ==, dist.kind);
    CHECK_U64 (fresh.workload.service.a_ns, ==, dist.a_ns);
    CHECK_U64 (fresh.workload.think.kind, ==, dist.kind);
    CHECK_U64 (fresh.workload.think.a_ns, ==, dist.a_ns);
    CHECK_DBL (read.workload.load, ==, fresh.workload.load);
    CHECK_U64 (read.replicas.count, ==, fresh.replicas.count);
    CHECK_U64 (read.network.peer.fixed_ns, ==, fresh.network.peer.fixed_ns);
    CHECK_U64 (read.amount.calls, ==, fresh.amount.calls);
    sim_scenario_deinit (&read);
    sim_scenario_deinit (&fresh);
}

static void delays_between_replicas_follow_those_of_clients (void **state)
{
    (void)state;
    struct sim_scenario s =
        read_text ("network: {delay: 3ms, extra: exp(1ms)}\npolicies: [single]\n");
    CHECK_U64 (s.network.peer.fixed_ns, ==, MS (3));
    CHECK_TRUE (s.network.peer.has_extra);
    CHECK_U64 (s.network.peer.extra.a_ns, ==, MS (1));
    sim_scenario_deinit (&s);
}

static void a_scenario_extends_a_preset_key_by_key (void **state)
{
    (void)state;
    struct sim_scenario s = read_text ("extends: demo\nreplicas: {workers: 5}\nrate: 100/s\n");
    CHECK_STR (s.name, "test");
    CHECK_U64 (s.replicas.count, ==, 3);
    CHECK_U64 (s.replicas.workers, ==, 5);
    CHECK_DBL (s.workload.load, ==, 0);
    CHECK_DBL (s.workload.rate_per_s, ==, 100);
    CHECK_U64 (s.policies_count, ==, 3);
    sim_scenario_deinit (&s);
    s = read_text ("extends: demo\npolicies: [central]\n");
    CHECK_U64 (s.policies_count, ==, 1);
    CHECK_U64 (s.policies[0].kind, ==, SIM_POLICY_CENTRAL);
    sim_scenario_deinit (&s);
}

static void published_figures_belong_to_the_published_scenario (void **state)
{
    (void)state;
    struct sim_scenario s = read_text ("extends: tail-at-scale-idle\namount: {calls: 1000}\n");
    CHECK_U64 (s.published_count, ==, 8);
    sim_scenario_deinit (&s);
    s = read_text ("extends: tail-at-scale-idle\npolicies: [single, central]\n");
    CHECK_U64 (s.published_count, ==, 4);
    CHECK_STR (s.published[3].policy, "single");
    sim_scenario_deinit (&s);
    s = read_text ("extends: tail-at-scale-idle\nload: 0.9\n");
    CHECK_U64 (s.published_count, ==, 0);
    sim_scenario_deinit (&s);
}

static void write_file (const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf (path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen (path, "w");
    CHECK_TRUE (file != NULL);
    fputs (text, file);
    CHECK_I64 (fclose (file), ==, 0);
}

static void files_are_found_beside_the_scenario (void **state)
{
    (void)state;
    static const char *const names[] = {"times.csv", "costs.csv", "pauses.hlog", "base.yaml",
                                        "top.yaml"};
    char folder[] = "/tmp/tied-scenario-XXXXXX", path[256], why[SIM_WHY_MAX] = "";
    struct sim_scenario s;
    CHECK_TRUE (mkdtemp (folder) != NULL);
    write_file (folder, "times.csv", "at\n10\n12\n17\n");
    write_file (folder, "costs.csv", "cost\n100\n300\n");
    write_file (folder, "base.yaml",
                "arrivals: {kind: trace, file: times.csv, column: at, unit: 1ms}\n"
                "service: {table: costs.csv, column: cost, unit: 1us, in_order: true}\n"
                "policies: [single]\n");
    write_file (folder, "top.yaml", "extends: base.yaml\nreplicas: 2\n");
    snprintf (path, sizeof path, "%s/top.yaml", folder);
    int rc = sim_scenario_load (path, &s, why);
    if (rc)
        print_error ("%s\n", why);
    CHECK_I64 (rc, ==, 0);
    CHECK_STR (s.name, "top");
    CHECK_U64 (s.replicas.count, ==, 2);
    CHECK_U64 (s.workload.times.count, ==, 3);
    CHECK_U64 (s.workload.times.values[2], ==, MS (7));
    CHECK_U64 (s.workload.service_table.count, ==, 2);
    CHECK_U64 (s.workload.service_table.values[1], ==, US (300));
    CHECK_TRUE (s.workload.service_in_order);
    /* A trace keeps its own times unless a load is given beside it. */
    CHECK_DBL (s.workload.load, ==, 0);
    sim_scenario_deinit (&s);
    write_file (folder, "top.yaml", "extends: base.yaml\nload: 0.4\nservice: exp(1ms)\n");
    CHECK_I64 (sim_scenario_load (path, &s, why), ==, 0);
    CHECK_U64 (s.workload.service_table.count, ==, 0);
    CHECK_FALSE (s.workload.service_in_order);
    CHECK_DBL (s.workload.load, ==, 0.4);
    sim_scenario_deinit (&s);
    write_file (folder, "costs.csv", "cost\n100\nabc\n");
    write_file (folder, "top.yaml", "extends: base.yaml\n");
    CHECK_I64 (sim_scenario_load (path, &s, why), <, 0);
    CHECK_TRUE (strstr (why, "base.yaml:2:18: ") != NULL && strstr (why, "costs.csv:3:") != NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf (path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink (path);
    }
    CHECK_I64 (rmdir (folder), ==, 0);
}

static void all_presets_are_valid (void **state)
{
    (void)state;
    CHECK_U64 (sim_preset_count (), >=, 19);
    for (uint32_t i = 0; i < sim_preset_count (); i++) {
        const struct sim_preset *preset = sim_preset_get (i);
        struct sim_scenario s;
        char why[SIM_WHY_MAX] = "";
        if (sim_scenario_load (preset->name, &s, why)) {
            print_error ("%s\n", why);
            CHECK_TRUE (false);
        }
        CHECK_STR (s.name, preset->name);
        CHECK_STR (s.title, preset->title);
        CHECK_U64 (strlen (preset->text), ==, preset->size);
        CHECK_PTR (sim_preset_find (preset->name), ==, preset);
        sim_scenario_deinit (&s);
    }
    CHECK_STR (sim_preset_nearest ("tail-at-scale-idel"), "tail-at-scale-idle");
    CHECK_PTR (sim_preset_find ("nothing"), ==, NULL);
}

static void the_headline_preset_is_the_published_model (void **state)
{
    (void)state;
    struct sim_scenario s;
    char why[SIM_WHY_MAX];
    CHECK_I64 (sim_scenario_load ("tail-at-scale-idle", &s, why), ==, 0);
    CHECK_U64 (s.replicas.count, ==, 30);
    CHECK_U64 (s.network.client.fixed_ns, ==, 0);
    CHECK_U64 (s.network.peer.fixed_ns, ==, US (250));
    CHECK_U64 (s.policies[1].stagger_ns, ==, MS (1));
    CHECK_U64 (s.policies[1].pick, ==, TIED_PICK_RANDOM);
    CHECK_U64 (s.policies[2].stagger_ns, ==, 0);
    /* 30 x 0.346 / 17.84 ms */
    CHECK_DBL (sim_scenario_rate_per_s (&s), >, 581.8);
    CHECK_DBL (sim_scenario_rate_per_s (&s), <, 581.9);
    sim_scenario_deinit (&s);
}

static void the_reference_page_is_what_the_table_prints (void **state)
{
    (void)state;
    page_check (sim_schema_print_markdown, "scenario.md");
}

static void examples_on_the_page_are_valid (void **state)
{
    (void)state;
    char *page = page_print (sim_schema_print_markdown);
    uint32_t count = 0;
    for (char *at = strstr (page, "```yaml\n"); at; at = strstr (at, "```yaml\n")) {
        at += strlen ("```yaml\n");
        char *end = strstr (at, "```");
        CHECK_TRUE (end != NULL);
        *end = '\0';
        struct sim_scenario s = read_text (at);
        sim_scenario_deinit (&s);
        at = end + 1;
        count++;
    }
    CHECK_U64 (count, >=, 2);
    free (page);
}

static bool has_key (const char *text, const char *key, size_t length)
{
    for (const char *at = strstr (text, key); at; at = strstr (at + 1, key))
        if (at[length] == ':' && (at == text || strchr (" {\n", at[-1])))
            return true;
    return false;
}

/* A key that nobody reads here would be tested by nobody. */
static void every_key_of_the_page_is_tested (void **state)
{
    (void)state;
    const char *const texts[] = {all_keys, other_arrivals, stepped, modes, closed_loop, files};
    char *page = page_print (sim_schema_print_markdown), *rest = NULL;
    bool is_table = false;
    uint32_t count = 0;
    char *tables = strstr (page, "\n## Keys\n");
    CHECK_TRUE (tables != NULL);
    for (char *line = strtok_r (tables, "\n", &rest); line; line = strtok_r (NULL, "\n", &rest)) {
        char key[64];
        is_table = strncmp (line, "| key |", 7) == 0 || (is_table && line[0] == '|');
        if (!is_table || sscanf (line, "| `%60[a-z_]`", key) != 1)
            continue;
        bool is_tested = false;
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
            is_tested = is_tested || has_key (texts[i], key, strlen (key));
        if (!is_tested)
            print_error ("key %s is in no test\n", key);
        CHECK_TRUE (is_tested);
        count++;
    }
    CHECK_U64 (count, >=, 80);
    free (page);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (workload_keys_reach_their_fields),
        cmocka_unit_test (settings_of_a_policy_reach_the_clients),
        cmocka_unit_test (replica_and_network_keys_reach_their_fields),
        cmocka_unit_test (modes_zones_and_keys_reach_their_fields),
        cmocka_unit_test (policy_and_amount_keys_reach_their_fields),
        cmocka_unit_test (policies_are_written_in_one_word),
        cmocka_unit_test (a_value_stands_for_its_map),
        cmocka_unit_test (what_is_not_said_has_its_default),
        cmocka_unit_test (delays_between_replicas_follow_those_of_clients),
        cmocka_unit_test (a_scenario_extends_a_preset_key_by_key),
        cmocka_unit_test (published_figures_belong_to_the_published_scenario),
        cmocka_unit_test (files_are_found_beside_the_scenario),
        cmocka_unit_test (all_presets_are_valid),
        cmocka_unit_test (the_headline_preset_is_the_published_model),
        cmocka_unit_test (the_reference_page_is_what_the_table_prints),
        cmocka_unit_test (examples_on_the_page_are_valid),
        cmocka_unit_test (every_key_of_the_page_is_tested),
    };
    return cmocka_run_group_tests_name ("sim_scenario", tests, NULL, NULL);
}
