/* SPDX-License-Identifier: MIT */
/* Groups of replicas that run one after the other: that nothing shows it. */
#include "check.h"
#include "scenario/policy_text.h"

#include "study/run.h"

struct told {
    uint64_t ends, sum, notes;
    tied_time_t noted;
};

struct parts_case {
    struct sim_scenario scenario;
    struct sim_run_options options;
    struct sim_result result;
    struct sim_watch watch;
    struct told told;
};

static void hear_end (void *context, uint64_t request, tied_time_t came, tied_duration_t latency)
{
    struct told *told = context;

    (void)came;
    told->ends++;
    /* Not a plain sum: the order counts. */
    told->sum = told->sum * 31 + (request ^ latency);
}

static void hear_note (void *context, const struct sim_note *note)
{
    struct told *told = context;

    CHECK_U64 (note->call, ==, 700);
    CHECK_U64 (note->at, >=, told->noted);
    told->noted = note->at;
    told->notes++;
}

/* 5 groups of 4 replicas, 12 clients: two groups have 3 of them. */
static void begin (struct parts_case *c)
{
    memset (c, 0, sizeof *c);
    sim_scenario_init (&c->scenario);
    c->scenario.workload.service = (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = MS (1)};
    c->scenario.workload.load = 0.6;
    c->scenario.replicas.count = 20;
    c->scenario.replicas.subset = 4;
    c->scenario.clients = 12;
    c->scenario.network.client.fixed_ns = US (50);
    c->scenario.network.peer.fixed_ns = US (50);
    c->scenario.amount.calls = 2000;
    c->scenario.policies_count = 1;
    sim_policy_init (&c->scenario.policies[0], SIM_POLICY_TIED);
    sim_policy_hedge_after (&c->scenario.policies[0], MS (2));
    c->scenario.policies[0].name[0] = 'p';
    c->scenario.policies[0].pick = TIED_PICK_RANDOM;
    c->options.scenario = &c->scenario;
    c->options.seed = 1;
    CHECK_I64 (sim_result_init (&c->result), ==, 0);
}

static void end (struct parts_case *c)
{
    sim_result_deinit (&c->result);
    sim_scenario_deinit (&c->scenario);
}

static void run (struct parts_case *c, uint32_t window)
{
    char why[SIM_WHY_MAX] = "";
    int rc;

    c->told = (struct told){0};
    c->watch =
        (struct sim_watch){.context = &c->told, .ended = hear_end, .call = 700, .note = hear_note};
    c->options.watch = &c->watch;
    c->options.window = window;
    rc = sim_run (&c->options, &c->result, why);
    if (rc != 0)
        print_error ("%s\n", why);
    CHECK_I64 (rc, ==, 0);
}

static void alter (struct sim_scenario *s, int how)
{
    switch (how) {
    case 0:
        break;
    case 1: /* draws by number of the message */
        s->network.client.has_extra = s->network.peer.has_extra = true;
        s->network.client.extra = s->network.peer.extra =
            (struct ti_dist){.kind = TI_DIST_EXP, .a_ns = US (20)};
        s->network.loss = 0.02;
        s->network.loss_started = 0.1;
        s->workload.deadline_ns = MS (40);
        break;
    case 2: /* equal times */
        s->shuffles_ties = true;
        s->workload.arrivals = SIM_ARRIVALS_DETERMINISTIC;
        s->workload.service = (struct ti_dist){.kind = TI_DIST_FIXED, .a_ns = MS (1)};
        break;
    case 3:
        s->workload.fan_out = 5;
        s->workload.fan_out_needed = 4;
        s->replicas.workers = 2;
        break;
    case 4:
        s->network.break_gap_ns = MS (500);
        s->network.break_down_ns = MS (20);
        s->policies[0].kind = SIM_POLICY_TIED_HEDGE;
        break;
    case 5: /* more than they can do, and a group of two */
        s->workload.load = 1.5;
        s->replicas.count = 18;
        break;
    case 6: /* nothing but what is measured */
        s->amount.warm_up = s->amount.cool_down = 0;
        break;
    default: /* one request is the first and the last */
        s->amount.calls = 1;
        s->amount.warm_up = 750;
        break;
    }
}

/* From windows in which each request comes alone, as if all groups had one clock, to a single one
 * in which each group runs from its begin to its end. */
static void no_result_depends_on_the_window (void **state)
{
    const uint32_t windows[] = {7, 100, 0, UINT32_MAX};

    (void)state;
    for (int how = 0; how < 8; how++) {
        struct parts_case one, other;

        begin (&one);
        begin (&other);
        alter (&one.scenario, how);
        alter (&other.scenario, how);
        run (&one, 1);
        CHECK_U64 (one.result.requests, ==, one.scenario.amount.calls);
        CHECK_U64 (one.told.notes, >, 4);
        CHECK_U64 (one.told.ends, ==, one.result.latency->total);
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
            run (&other, windows[i]);
            CHECK_U64 (one.result.trace_hash, ==, other.result.trace_hash);
            other.result.memory_bytes = one.result.memory_bytes;
            CHECK_TRUE (sim_result_equal (&one.result, &other.result));
            CHECK_U64 (one.told.sum, ==, other.told.sum);
            CHECK_U64 (one.told.notes, ==, other.told.notes);
            CHECK_U64 (one.told.noted, ==, other.told.noted);
        }
        end (&one);
        end (&other);
    }
}

/* 40 groups of one replica, random arrivals: M/M/1 each. The areas and the backlog are those of all
 * groups over one span. */
static void figures_of_all_groups_are_those_of_theory (void **state)
{
    struct parts_case c;
    const struct sim_result *r = &c.result;

    (void)state;
    begin (&c);
    c.scenario.policies[0].kind = SIM_POLICY_SINGLE;
    c.scenario.workload.load = 0.5;
    c.scenario.replicas.count = c.scenario.clients = 40;
    c.scenario.replicas.subset = 1;
    c.scenario.amount.calls = 200000;
    run (&c, 500);
    CHECK_DBL (r->latency_sum_ns / (double)r->latency->total / 1e6, >, 2.1 * 0.98);
    CHECK_DBL (r->latency_sum_ns / (double)r->latency->total / 1e6, <, 2.1 * 1.02);
    CHECK_DBL ((double)r->busy_ns / (double)r->span_ns, >, 20 * 0.98);
    CHECK_DBL ((double)r->busy_ns / (double)r->span_ns, <, 20 * 1.02);
    CHECK_DBL ((double)r->depth_area / (double)r->span_ns, >, 20 * 0.95);
    CHECK_DBL ((double)r->depth_area / (double)r->span_ns, <, 20 * 1.05);
    /* 40 queues with one call in each, and 0.1 ms on the way. */
    CHECK_U64 (r->backlog_first, >, 38);
    CHECK_U64 (r->backlog_first, <, 46);
    CHECK_U64 (r->backlog_last, >, 38);
    CHECK_U64 (r->backlog_last, <, 46);
    CHECK_FALSE (r->is_unstable);
    end (&c);
}

static void a_closed_loop_has_one_clock (void **state)
{
    struct parts_case a, b;

    (void)state;
    begin (&a);
    begin (&b);
    a.scenario.workload.arrivals = b.scenario.workload.arrivals = SIM_ARRIVALS_CLOSED;
    a.scenario.workload.users = b.scenario.workload.users = 15;
    run (&a, 1);
    run (&b, 0);
    CHECK_U64 (a.result.requests, ==, 2000);
    CHECK_TRUE (sim_result_equal (&a.result, &b.result));
    end (&a);
    end (&b);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (no_result_depends_on_the_window),
        cmocka_unit_test (figures_of_all_groups_are_those_of_theory),
        cmocka_unit_test (a_closed_loop_has_one_clock),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
