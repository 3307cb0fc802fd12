/* SPDX-License-Identifier: MIT */
/* The shipped cores in the simulated world: what theory says of them, and what must never change.
 */
#include "check.h"
#include "scenario/policy_text.h"

#include "study/run.h"

struct world_case {
    struct sim_scenario scenario;
    struct sim_run_options options;
    struct sim_result result;
};

/* 10 replicas of one worker, exp(1ms), half loaded, random choice, 10 us one way. */
static void begin (struct world_case *c, enum sim_policy_kind kind, uint64_t calls)
{
    memset (c, 0, sizeof *c);
    sim_scenario_init (&c->scenario);
    c->scenario.workload.service = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = MS (1)};
    c->scenario.workload.load = 0.5;
    c->scenario.network.client.fixed_ns = US (10);
    c->scenario.network.peer.fixed_ns = US (10);
    c->scenario.amount.calls = calls;
    c->scenario.policies_count = 1;
    sim_policy_init (&c->scenario.policies[0], kind);
    sim_policy_hedge_after (&c->scenario.policies[0], MS (2));
    c->scenario.policies[0].name[0] = 'p';
    c->scenario.policies[0].pick = TIED_PICK_RANDOM;
    c->options.scenario = &c->scenario;
    c->options.seed = 1;
    CHECK_I64 (sim_result_init (&c->result), ==, 0);
}

static struct sim_policy *policy (struct world_case *c)
{
    return &c->scenario.policies[0];
}

static struct sim_result *run (struct world_case *c)
{
    char why[SIM_WHY_MAX] = "";
    const int rc = sim_run (&c->options, &c->result, why);

    if (rc != 0)
        print_error ("%s\n", why);
    CHECK_I64 (rc, ==, 0);
    return &c->result;
}

static void end (struct world_case *c)
{
    sim_result_deinit (&c->result);
    sim_scenario_deinit (&c->scenario);
}

static double mean_ms (const struct sim_result *r)
{
    return r->latency_sum_ns / (double)r->latency->total / 1e6;
}

static double per_call (uint64_t count, const struct sim_result *r)
{
    return (double)count / (double)r->calls;
}

/* ---- theory ---- */

/* M/M/1 at half load: 2 x E[S], and the two delays. */
static void one_replica_is_an_M_M_1_queue (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_SINGLE, 50000);
    c.scenario.replicas.count = 1;
    r = run (&c);
    CHECK_DBL (mean_ms (r), >, 2.02 * 0.96);
    CHECK_DBL (mean_ms (r), <, 2.02 * 1.04);
    CHECK_DBL ((double)r->busy_ns / (double)r->span_ns, >, 0.48);
    CHECK_DBL ((double)r->busy_ns / (double)r->span_ns, <, 0.52);
    /* Little: 0.5 wait on average. */
    CHECK_DBL ((double)r->depth_area / (double)r->span_ns, >, 0.45);
    CHECK_DBL ((double)r->depth_area / (double)r->span_ns, <, 0.55);
    CHECK_U64 (r->executions, ==, r->calls);
    CHECK_U64 (r->copies, ==, r->calls);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], ==, 50000);
    CHECK_FALSE (r->is_unstable);
    end (&c);
}

/* Cancel on start without delays, n = 10, d = 2, load 0.5: 1.171248 x E[S]. */
static void tied_pairs_without_delay_have_the_mean_of_theory (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 40000);
    c.scenario.network.client.fixed_ns = 0;
    c.scenario.network.peer.fixed_ns = 0;
    policy (&c)->stagger_ns = 1;
    policy (&c)->hedge_depth = 1000;
    r = run (&c);
    CHECK_DBL (mean_ms (r), >, 1.171248 * 0.98);
    CHECK_DBL (mean_ms (r), <, 1.171248 * 1.02);
    CHECK_U64 (r->duplicates, ==, 0);
    CHECK_U64 (r->executions, ==, r->calls);
    CHECK_U64 (r->cancels.sent, ==, r->calls);
    CHECK_U64 (r->wasted_ns, ==, 0);
    end (&c);
}

static void tied_beats_single_on_the_same_demands (void **state)
{
    struct world_case single, tied;

    (void)state;
    begin (&single, SIM_POLICY_SINGLE, 10000);
    begin (&tied, SIM_POLICY_TIED, 10000);
    run (&single);
    run (&tied);
    CHECK_DBL (mean_ms (&tied.result), <, 0.8 * mean_ms (&single.result));
    CHECK_U64 (ti_hist_percentile (tied.result.latency, TI_HIST_P99), <,
               ti_hist_percentile (single.result.latency, TI_HIST_P99));
    end (&single);
    end (&tied);
}

/* Each lost cancel is one more execution: 1 + q. */
static void a_lost_STARTED_is_one_more_execution (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 20000);
    c.scenario.network.client.fixed_ns = 0;
    c.scenario.network.peer.fixed_ns = 0;
    c.scenario.network.loss_started = 0.2;
    policy (&c)->stagger_ns = 1;
    policy (&c)->hedge_depth = 1000;
    r = run (&c);
    CHECK_DBL (per_call (r->executions, r), >, 1.19);
    CHECK_DBL (per_call (r->executions, r), <, 1.21);
    CHECK_U64 (r->cancels.late + r->cancels.lost, ==, 2 * r->duplicates);
    CHECK_U64 (r->cancels.sent, ==, r->executions);
    end (&c);
}

/* Without a stagger two idle replicas start at once: c (lambda) x Delta / E[S] and far more. */
static void without_stagger_idle_replicas_both_start (void **state)
{
    struct world_case with, without;

    (void)state;
    begin (&with, SIM_POLICY_TIED, 10000);
    begin (&without, SIM_POLICY_TIED, 10000);
    policy (&without)->stagger_ns = 0;
    run (&with);
    run (&without);
    CHECK_DBL (per_call (with.result.duplicates, &with.result), <, 0.01);
    CHECK_DBL (per_call (without.result.duplicates, &without.result), >, 0.2);
    CHECK_U64 (without.result.cancels.late, ==, 2 * without.result.duplicates);
    CHECK_U64 (without.result.wasted_ns, >, with.result.wasted_ns);
    end (&with);
    end (&without);
}

/* ---- policies ---- */

static void clones_run_twice_unless_the_loser_is_told (void **state)
{
    struct world_case told, kept;

    (void)state;
    begin (&told, SIM_POLICY_CLONE, 10000);
    begin (&kept, SIM_POLICY_CLONE, 10000);
    told.scenario.workload.load = kept.scenario.workload.load = 0.2;
    policy (&kept)->keeps_losers = true;
    run (&told);
    run (&kept);
    CHECK_U64 (told.result.copies, ==, 20000);
    CHECK_U64 (kept.result.executions, ==, 20000);
    CHECK_U64 (kept.result.duplicates, ==, 10000);
    CHECK_U64 (kept.result.cancels.client_sent, ==, 0);
    CHECK_U64 (told.result.cancels.client_sent, ==, 10000);
    CHECK_U64 (told.result.cancels.client_running, >, 7500);
    CHECK_U64 (told.result.executions, <, 20000);
    /* A run that is told to stop costs no more than the delays. */
    CHECK_U64 (told.result.wasted_ns * 3 / 2, <, kept.result.wasted_ns);
    end (&told);
    end (&kept);
}

static void a_hedge_is_a_second_copy_of_slow_calls_only (void **state)
{
    struct world_case c, tied;

    (void)state;
    begin (&c, SIM_POLICY_HEDGE, 5000);
    run (&c);
    CHECK_DBL (per_call (c.result.copies, &c.result), >, 1.1);
    CHECK_DBL (per_call (c.result.copies, &c.result), <, 1.6);
    CHECK_U64 (c.result.not_sent[TIED_NOT_SENT_ANSWERED] + c.result.copies, ==, 10000);
    begin (&tied, SIM_POLICY_TIED_HEDGE, 5000);
    run (&tied);
    CHECK_DBL (per_call (tied.result.copies, &tied.result), >, 2.0);
    end (&c);
    end (&tied);
}

static void a_full_queue_rejects (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_SINGLE, 5000);
    c.scenario.replicas.count = 1;
    c.scenario.replicas.queue_depth = 2;
    c.scenario.workload.load = 0.9;
    r = run (&c);
    CHECK_U64 (r->rejections, >, 0);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_REJECTED], >, 0);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK] + r->outcomes[TIED_OUTCOME_REJECTED], ==, 5000);
    CHECK_U64 (r->executions, ==, r->outcomes[TIED_OUTCOME_OK]);
    end (&c);
}

static void a_deadline_ends_calls (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 5000);
    c.scenario.workload.deadline_ns = MS (1);
    c.options.checks = true;
    r = run (&c);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_DEADLINE], >, 500);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], >, 500);
    CHECK_U64 (ti_hist_percentile (r->latency, TI_HIST_ALL), <=, MS (1));
    end (&c);
}

static void closed_loops_and_fan_out_run_with_the_cores_checks (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 2000);
    c.scenario.workload.arrivals = SIM_ARRIVALS_CLOSED;
    c.scenario.workload.fan_out = 4;
    c.scenario.clients = 3;
    c.scenario.replicas.workers = 2;
    c.options.checks = true;
    r = run (&c);
    CHECK_U64 (r->requests, ==, 2000);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], ==, 8000);
    end (&c);
}

/* ---- determinism ---- */

static void the_seed_alone_decides (void **state)
{
    struct world_case a, b;

    (void)state;
    begin (&a, SIM_POLICY_TIED, 5000);
    begin (&b, SIM_POLICY_TIED, 5000);
    a.scenario.clients = b.scenario.clients = 3;
    a.scenario.network.client.has_extra = b.scenario.network.client.has_extra = true;
    a.scenario.network.client.extra = b.scenario.network.client.extra =
        (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = US (20)};
    run (&a);
    run (&b);
    CHECK_TRUE (sim_result_equal (&a.result, &b.result));
    b.options.checks = true;
    run (&b);
    CHECK_TRUE (sim_result_equal (&a.result, &b.result));
    b.options.seed = 2;
    run (&b);
    CHECK_U64 (a.result.trace_hash, !=, b.result.trace_hash);
    CHECK_FALSE (sim_result_equal (&a.result, &b.result));
    end (&a);
    end (&b);
}

static void ties_of_time_are_shuffled_by_the_seed (void **state)
{
    struct world_case a, b;

    (void)state;
    begin (&a, SIM_POLICY_TIED, 2000);
    begin (&b, SIM_POLICY_TIED, 2000);
    a.scenario.workload.service = b.scenario.workload.service =
        (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MS (1)};
    a.scenario.workload.arrivals = b.scenario.workload.arrivals = SIM_ARRIVALS_DETERMINISTIC;
    a.scenario.workload.fan_out = b.scenario.workload.fan_out = 5;
    b.scenario.shuffles_ties = true;
    run (&a);
    run (&b);
    CHECK_U64 (a.result.trace_hash, !=, b.result.trace_hash);
    a.scenario.shuffles_ties = true;
    run (&a);
    CHECK_TRUE (sim_result_equal (&a.result, &b.result));
    end (&a);
    end (&b);
}

static void ignore_end (void *context, uint64_t request, tied_time_t came, tied_duration_t latency)
{
    uint64_t *sum = context;

    (void)request;
    (void)came;
    *sum += latency;
}

/* Bursts overflow the first tables; a watched run begins with larger ones. */
static void the_size_of_tables_does_not_change_the_result (void **state)
{
    uint64_t sum = 0;
    const struct sim_watch watch = {.context = &sum, .ended = ignore_end, .call = UINT64_MAX};
    struct world_case a, b;

    (void)state;
    begin (&a, SIM_POLICY_TIED, 4000);
    begin (&b, SIM_POLICY_TIED, 4000);
    for (int i = 0; i < 2; i++) {
        struct sim_scenario *s = i == 0 ? &a.scenario : &b.scenario;

        s->workload.load = 2;
        s->replicas.count = 2;
        policy (i == 0 ? &a : &b)->hedge_depth = 1u << 20;
    }
    b.options.watch = &watch;
    run (&a);
    run (&b);
    CHECK_TRUE (a.result.is_unstable);
    CHECK_U64 (a.result.table_overflows, ==, 0);
    CHECK_U64 (a.result.rejections, ==, 0);
    CHECK_U64 (a.result.outcomes[TIED_OUTCOME_OK], ==, 4000);
    CHECK_U64 (b.result.outcomes[TIED_OUTCOME_OK], <=, 4000);
    CHECK_DBL ((double)sum, ==, b.result.latency_sum_ns);
    if (b.result.table_overflows == 0 && b.result.rejections == 0)
        CHECK_U64 (a.result.trace_hash, ==, b.result.trace_hash);
    end (&a);
    end (&b);
}

/* ---- links ---- */

/* Further copies all go to the replica that does hardly anything: no first copy ever finds that
 * queue full, and still it must be as long as the scenario says. */
static void a_queue_of_further_copies_grows_as_one_of_first_copies (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_CLONE, 300);
    c.scenario.replicas.count = 2;
    c.scenario.replicas.queue_depth = 4096;
    c.scenario.replicas.slow_count = 1;
    c.scenario.replicas.slow_factor = 1000;
    policy (&c)->pick = TIED_PICK_INFORMED;
    policy (&c)->keeps_losers = true;
    r = run (&c);
    CHECK_U64 (r->rejections, ==, 0);
    CHECK_U64 (r->copies, ==, 600);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], ==, 300);
    end (&c);
}

static void a_break_and_a_reconnect_lose_no_call (void **state)
{
    struct world_case c, whole;

    (void)state;
    begin (&c, SIM_POLICY_SINGLE, 5000);
    begin (&whole, SIM_POLICY_SINGLE, 5000);
    c.scenario.clients = whole.scenario.clients = 2;
    c.scenario.network.client.fixed_ns = whole.scenario.network.client.fixed_ns = MS (1);
    c.scenario.network.break_gap_ns = MS (100);
    c.scenario.network.break_down_ns = MS (2);
    c.options.checks = true;
    run (&c);
    run (&whole);
    CHECK_U64 (c.result.outcomes[TIED_OUTCOME_OK], ==, 5000);
    CHECK_U64 (whole.result.copies, ==, 5000);
    CHECK_U64 (c.result.copies, >, 5020); /* re-issues */
    CHECK_U64 (c.result.executions, >, 5000);
    /* Of the copies that were re-issued a good part had never arrived. */
    CHECK_U64 (5 * (c.result.copies - c.result.executions), >, c.result.copies - 5000);
    end (&c);
    end (&whole);
}

/* At most copies_max tries, then a call is given up. */
static void a_full_pipe_refuses_and_the_call_goes_elsewhere (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 5000);
    c.scenario.network.client.fixed_ns = US (300);
    c.scenario.network.high_water = 1;
    r = run (&c);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], >, 4950);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK] + r->outcomes[TIED_OUTCOME_UNAVAILABLE] +
                   r->outcomes[TIED_OUTCOME_REJECTED],
               ==, 5000);
    CHECK_U64 (r->not_sent[TIED_NOT_SENT_LINK_DOWN], >, 0);
    end (&c);
}

static void lost_messages_end_by_the_deadline (void **state)
{
    struct world_case c;
    const struct sim_result *r;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 10000);
    c.scenario.network.loss = 0.05;
    c.scenario.workload.deadline_ns = MS (50);
    r = run (&c);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_DEADLINE], >, 100);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK] + r->outcomes[TIED_OUTCOME_DEADLINE], ==, 10000);
    end (&c);
}

static void expect_next (void *context, uint64_t request, tied_time_t came, tied_duration_t latency)
{
    (void)came;
    uint64_t *next = context;

    (void)latency;
    CHECK_U64 (request, >=, *next);
    *next = request + 1;
}

/* One client, one replica of one worker: answers come in the order of the requests, although each
 * message takes another time. */
static void messages_of_one_connection_keep_their_order (void **state)
{
    uint64_t next = 0;
    const struct sim_watch watch = {.context = &next, .ended = expect_next, .call = UINT64_MAX};
    struct world_case c;

    (void)state;
    begin (&c, SIM_POLICY_SINGLE, 5000);
    c.scenario.replicas.count = 1;
    c.scenario.network.client.has_extra = true;
    c.scenario.network.client.extra = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = MS (10)};
    c.options.watch = &watch;
    run (&c);
    CHECK_U64 (c.result.outcomes[TIED_OUTCOME_OK], ==, 5000);
    CHECK_U64 (next, >, 5000);
    end (&c);
}

/* Groups of 4: a client knows no others, and so no pair crosses. */
static void groups_know_only_themselves (void **state)
{
    struct world_case all, groups;

    (void)state;
    begin (&all, SIM_POLICY_TIED, 5000);
    begin (&groups, SIM_POLICY_TIED, 5000);
    all.scenario.replicas.count = groups.scenario.replicas.count = 40;
    all.scenario.clients = groups.scenario.clients = 20;
    groups.scenario.replicas.subset = 4;
    groups.options.window = 40;
    run (&all);
    run (&groups);
    CHECK_U64 (groups.result.outcomes[TIED_OUTCOME_OK], ==, 5000);
    CHECK_U64 (groups.result.memory_bytes, <, all.result.memory_bytes);
    CHECK_U64 (groups.result.events, <, all.result.events); /* fewer probes */
    end (&all);
    end (&groups);
}

static void what_cannot_be_run_is_refused_in_words (void **state)
{
    struct world_case c;
    char why[SIM_WHY_MAX];

    (void)state;
    begin (&c, SIM_POLICY_TIED, 100);
    c.scenario.network.loss = 0.1;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "deadline") != NULL);
    c.scenario.network.loss = 0;
    c.scenario.replicas.count = 5000;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "subset") != NULL);
    c.scenario.replicas.count = 4096;
    c.scenario.clients = 4096;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "links") != NULL);
    c.scenario.replicas.count = 5000;
    c.scenario.clients = 1;
    c.scenario.replicas.subset = 10;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "groups") != NULL);
    c.scenario.replicas.subset = 0;
    c.scenario.replicas.count = 1;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "second replica") != NULL);
    c.scenario.replicas.count = 10;
    c.scenario.workload.load = 1e-12;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "raise heartbeat or load") != NULL);
    c.scenario.workload.load = 0.5;
    c.scenario.network.client.fixed_ns = TIED_S (1000000);
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "under way at once") != NULL);
    c.scenario.network.client.fixed_ns = US (10);
    policy (&c)->pick_samples = 1;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    CHECK_TRUE (strstr (why, "pick_samples") != NULL);
    c.options.policy = 1;
    CHECK_I64 (sim_run (&c.options, &c.result, why), ==, TIED_ERR_INVAL);
    end (&c);
}

/* ---- planted faults ---- */

static void planted_faults_show (void **state)
{
    struct world_case c;
    struct sim_result *r;
    double sound_mean;
    uint64_t sound_duplicates;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 8000);
    c.scenario.network.peer.fixed_ns = US (50);
    r = run (&c);
    sound_mean = mean_ms (r);
    sound_duplicates = r->duplicates;
    CHECK_U64 (r->outcomes[TIED_OUTCOME_OK], ==, 8000);
    c.options.fault = SIM_FAULT_KILL_RUNNING;
    r = run (&c);
    CHECK_U64 (r->outcomes[TIED_OUTCOME_CANCELLED], >, 0);
    c.options.fault = SIM_FAULT_IGNORE_TOMBSTONES;
    r = run (&c);
    CHECK_U64 (r->duplicates, >, 10 * sound_duplicates);
    CHECK_DBL (mean_ms (r), >, 1.02 * sound_mean);
    c.options.fault = SIM_FAULT_IGNORE_STAGGER;
    r = run (&c);
    CHECK_U64 (r->duplicates, >, 10 * sound_duplicates);
    end (&c);
}

/* ---- what is watched ---- */

#define NOTES_MAX 64

struct notes {
    struct sim_note notes[NOTES_MAX];
    uint32_t count;
};

static void keep_note (void *context, const struct sim_note *note)
{
    struct notes *self = context;

    CHECK_U64 (self->count, <, NOTES_MAX);
    self->notes[self->count++] = *note;
}

static uint32_t place_of (const struct notes *self, const char *what, uint32_t copy)
{
    for (uint32_t i = 0; i < self->count; i++)
        if (strcmp (self->notes[i].what, what) == 0 && self->notes[i].copy == copy)
            return i;
    print_error ("no note says \"%s\" of copy %u\n", what, (unsigned)copy);
    _fail (__FILE__, __LINE__);
    return 0;
}

/* Of the first note that says this. */
static uint32_t copy_of (const struct notes *self, const char *what)
{
    for (uint32_t i = 0; i < self->count; i++)
        if (strcmp (self->notes[i].what, what) == 0)
            return self->notes[i].copy;
    return UINT32_MAX;
}

static void notes_tell_the_life_of_a_call_in_order (void **state)
{
    uint32_t copy;
    struct notes notes = {.count = 0};
    const struct sim_watch watch = {.context = &notes, .call = 777, .note = keep_note};
    struct world_case c, plain;

    (void)state;
    begin (&c, SIM_POLICY_TIED, 1000);
    begin (&plain, SIM_POLICY_TIED, 1000);
    c.scenario.workload.service = plain.scenario.workload.service =
        (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MS (1)};
    c.options.watch = &watch;
    run (&c);
    run (&plain);
    CHECK_U64 (c.result.trace_hash, ==, plain.result.trace_hash);
    for (uint32_t i = 0; i < notes.count; i++) {
        CHECK_U64 (notes.notes[i].call, ==, 777);
        if (i > 0)
            CHECK_U64 (notes.notes[i].at, >=, notes.notes[i - 1].at);
    }
    CHECK_U64 (place_of (&notes, "submits", 0), ==, 0);
    CHECK_U64 (place_of (&notes, "REQUEST", 0), ==, 1);
    CHECK_I64 (notes.notes[1].from, ==, -1);
    CHECK_I64 (notes.notes[1].to, >=, 0);
    copy = copy_of (&notes, "starts");
    CHECK_U64 (place_of (&notes, "gets REQUEST", copy), <, place_of (&notes, "queues", copy));
    CHECK_U64 (place_of (&notes, "queues", copy), <, place_of (&notes, "starts", copy));
    CHECK_U64 (place_of (&notes, "STARTED", copy), <, place_of (&notes, "gets STARTED", copy));
    CHECK_U64 (place_of (&notes, "starts", copy), <, place_of (&notes, "finishes", copy));
    CHECK_U64 (place_of (&notes, "finishes", copy), <, place_of (&notes, "gets REPLY", copy));
    CHECK_U64 (place_of (&notes, "gets REPLY", copy), <, place_of (&notes, "ends", copy));
    end (&c);
    end (&plain);
}

/* ---- results ---- */

static void merged_results_are_the_sum (void **state)
{
    struct world_case a, b;
    uint64_t total, executions, span;

    (void)state;
    begin (&a, SIM_POLICY_TIED, 1000);
    begin (&b, SIM_POLICY_TIED, 500);
    b.options.seed = 2;
    run (&a);
    run (&b);
    total = a.result.latency->total;
    executions = a.result.executions;
    span = a.result.span_ns;
    CHECK_U64 (total, ==, 1000);
    sim_result_merge (&a.result, &b.result);
    CHECK_U64 (a.result.latency->total, ==, 1500);
    CHECK_U64 (a.result.executions, ==, executions + b.result.executions);
    CHECK_U64 (a.result.span_ns, ==, span + b.result.span_ns);
    CHECK_U64 (a.result.workers, ==, b.result.workers);
    end (&a);
    end (&b);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (one_replica_is_an_M_M_1_queue),
        cmocka_unit_test (tied_pairs_without_delay_have_the_mean_of_theory),
        cmocka_unit_test (tied_beats_single_on_the_same_demands),
        cmocka_unit_test (a_lost_STARTED_is_one_more_execution),
        cmocka_unit_test (without_stagger_idle_replicas_both_start),
        cmocka_unit_test (clones_run_twice_unless_the_loser_is_told),
        cmocka_unit_test (a_hedge_is_a_second_copy_of_slow_calls_only),
        cmocka_unit_test (a_full_queue_rejects),
        cmocka_unit_test (a_deadline_ends_calls),
        cmocka_unit_test (closed_loops_and_fan_out_run_with_the_cores_checks),
        cmocka_unit_test (the_seed_alone_decides),
        cmocka_unit_test (ties_of_time_are_shuffled_by_the_seed),
        cmocka_unit_test (the_size_of_tables_does_not_change_the_result),
        cmocka_unit_test (a_queue_of_further_copies_grows_as_one_of_first_copies),
        cmocka_unit_test (a_break_and_a_reconnect_lose_no_call),
        cmocka_unit_test (a_full_pipe_refuses_and_the_call_goes_elsewhere),
        cmocka_unit_test (lost_messages_end_by_the_deadline),
        cmocka_unit_test (messages_of_one_connection_keep_their_order),
        cmocka_unit_test (groups_know_only_themselves),
        cmocka_unit_test (what_cannot_be_run_is_refused_in_words),
        cmocka_unit_test (planted_faults_show),
        cmocka_unit_test (notes_tell_the_life_of_a_call_in_order),
        cmocka_unit_test (merged_results_are_the_sum),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
