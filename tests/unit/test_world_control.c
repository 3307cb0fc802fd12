/* SPDX-License-Identifier: MIT */
/*
 * The control loop through both cores when a replica says nothing any more: the delay does not
 * creep up, and a client that knows nothing yet sends its second copy all the same.
 */
#include "check.h"

#include "base/util.h"
#include "world.h"

#define SERVICE MS (5)
#define CALLS   22000
/* 200 calls a second. */
#define GAP MS (5)

static struct world *make (uint32_t replicas, uint32_t calls)
{
    struct world_options options;
    world_options_init (&options);
    options.seed = 11;
    options.replicas = replicas;
    options.calls_per_client = calls;
    options.client.calls_max = 4096;
    options.client.pick = TIED_PICK_RANDOM;
    options.client.learn_ns = S (10);
    options.replica.queue_depth = 4096;
    /* 2 % are slow, so that there is something to gain. */
    options.service =
        (struct ti_dist){.kind = TI_DIST_BIMODAL, .a_ns = SERVICE, .b_ns = 12 * SERVICE, .p = 0.02};
    options.check_mask = 0xffff;
    return world_new (&options);
}

static void set_policy (struct world *world, const char *rule)
{
    struct tied_policy policy;
    tied_policy_init (&policy);
    policy.mode = TIED_MODE_SINGLE;
    policy.is_idempotent = true;
    CHECK_I64 (tied_hedge_rule_parse (rule, &policy.hedge, NULL), ==, 0);
    CHECK_I64 (tied_client_core_set_policy (world_client (world, 0)->core, 0, &policy), ==, 0);
}

static struct tied_client_method seen (struct world *world)
{
    struct tied_client_method method;
    CHECK_I64 (tied_client_core_method (world_client (world, 0)->core, 0, &method), ==, 0);
    return method;
}

/* Both ways between the client and the replica, and between it and the others. */
static void blackhole (struct world *world, int replica, uint32_t replicas, bool is_on)
{
    world_partition (world, NODE_CLIENT (0), NODE_REPLICA (replica), is_on);
    world_partition (world, NODE_REPLICA (replica), NODE_CLIENT (0), is_on);
    for (uint32_t i = 0; i < replicas; i++)
        if ((int)i != replica) {
            world_partition (world, NODE_REPLICA ((int)i), NODE_REPLICA (replica), is_on);
            world_partition (world, NODE_REPLICA (replica), NODE_REPLICA ((int)i), is_on);
        }
}

/* One call at each gap until then. */
static void submit_until (struct world *world, tied_time_t until, uint64_t *count)
{
    while (world_now (world) < until) {
        world_run_until (world, world_now (world) + GAP);
        (void)world_submit_hedged (world, 0, TIED_MODE_POLICY, false, S (2), TIED_STAGGER_AUTO,
                                   TIED_HEDGE_POLICY);
        (*count)++;
    }
}

static uint64_t answered (struct world *world)
{
    return tied_client_core_counters (world_client (world, 0)->core)->calls_ok;
}

static void silent_for_a_minute (const char *rule)
{
    struct world *world = make (3, CALLS);
    uint64_t calls = 0;
    set_policy (world, rule);
    submit_until (world, WORLD_START + S (20), &calls);
    const tied_duration_t p99 = seen (world).without_ns;
    const uint64_t healthy = answered (world);
    CHECK_U64 (seen (world).hedge_ns, <=, 2 * p99);
    blackhole (world, 1, 3, true);
    uint64_t least = UINT64_MAX;
    for (tied_time_t second = 0; second < 60; second++) {
        const uint64_t before = answered (world);
        submit_until (world, WORLD_START + S (21) + S (second), &calls);
        least = ti_min (least, answered (world) - before);
        CHECK_U64 (seen (world).hedge_ns, <=, 2 * p99);
        CHECK_I64 (seen (world).hedge_reason, ==, TIED_NOT_SENT_NONE);
    }
    /* In each of the 60 seconds. */
    CHECK_U64 (least, >=, healthy / 20 * 6 / 10);
    blackhole (world, 1, 3, false);
    submit_until (world, WORLD_START + S (100), &calls);
    CHECK_U64 (seen (world).hedge_ns, <=, 2 * p99);
    CHECK_TRUE (world_run_idle (world, world_now (world) + S (10)));
    CHECK_U64 (calls, <=, CALLS);
    CHECK_U64 (answered (world), >=, calls * 99 / 100);
    world_free (world);
}

static void BE_04_a_replica_that_is_silent_for_a_minute_does_not_lengthen_the_delay (void **state)
{
    (void)state;
    silent_for_a_minute ("p99");
    silent_for_a_minute ("auto");
}

static void BE_05_a_fresh_client_sends_the_second_copy_at_the_initial_delay (void **state)
{
    struct world *world = make (2, 64);
    struct tied_policy policy;
    uint64_t late = 0;
    (void)state;
    tied_policy_init (&policy);
    policy.mode = TIED_MODE_SINGLE;
    policy.is_idempotent = true;
    policy.extra_load_ppm = TIED_PPM;
    policy.hedge.kind = TIED_HEDGE_RULE_AUTO;
    CHECK_I64 (tied_client_core_set_policy (world_client (world, 0)->core, 0, &policy), ==, 0);
    world_run_until (world, WORLD_START + MS (1));
    world_pause (world, 0, WORLD_START + S (60));
    for (uint32_t i = 0; i < 50; i++) {
        const tied_time_t begin = world_now (world);
        const uint64_t before = answered (world);
        (void)world_submit_hedged (world, 0, TIED_MODE_POLICY, false, S (2), TIED_STAGGER_AUTO,
                                   TIED_HEDGE_POLICY);
        /* Within the delay, a service and the ways. */
        while (answered (world) == before && world_now (world) < begin + S (1))
            world_run_until (world, world_now (world) + MS (1));
        const tied_duration_t took = world_now (world) - begin;
        CHECK_U64 (answered (world), ==, before + 1);
        CHECK_U64 (took, <, policy.hedge_initial_ns + 14 * SERVICE);
        late += took >= policy.hedge_initial_ns;
        CHECK_U64 (seen (world).hedge_ns, ==, policy.hedge_initial_ns);
    }
    CHECK_U64 (late, >=, 3);
    /* One more is sent at once when the silent replica is suspected. */
    CHECK_U64 (seen (world).counters.hedges_won, >=, late);
    CHECK_U64 (seen (world).counters.hedges_won, <=, late + 1);
    world_free (world);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (BE_04_a_replica_that_is_silent_for_a_minute_does_not_lengthen_the_delay),
        cmocka_unit_test (BE_05_a_fresh_client_sends_the_second_copy_at_the_initial_delay),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
