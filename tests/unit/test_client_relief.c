/* SPDX-License-Identifier: MIT */
/*
 * A hedge that goes because a copy is known to run for long, not because its call is late: from
 * answers to other calls the core knows what has started (core/fifo.h).
 */
#include "check.h"
#include "client_rig.h"

#define SERVICE MS (5)
#define SLOW    MS (400)
#define TOTAL   MS (700)
/* What most calls wait. */
#define WAITED (TOTAL - SERVICE)

struct bench {
    struct rig rig;
    uint32_t next; /* token to begin at */
};

static struct tied_client_method seen (const struct bench *bench)
{
    struct tied_client_method method;
    CHECK_I64 (tied_client_core_method (bench->rig.core, 0, &method), ==, 0);
    return method;
}

/* A call; its first copy is the last request of the log. */
static uint32_t submit (struct bench *bench)
{
    while (bench->rig.calls[bench->next].is_live)
        bench->next = (bench->next + 1) % bench->rig.options.calls_max;
    const uint32_t token = bench->next;
    const struct tied_client_submit call = {.token = token,
                                            .mode = TIED_MODE_POLICY,
                                            .is_idempotent = true,
                                            .deadline = bench->rig.now + S (30),
                                            .stagger_ns = TIED_STAGGER_POLICY,
                                            .hedge_ns = TIED_HEDGE_POLICY};
    rig_forget (&bench->rig);
    CHECK_I64 (rig_submit (&bench->rig, &call), ==, 0);
    bench->rig.calls[token].hedge_from = 0;
    return token;
}

static void answer (struct bench *bench, uint32_t token, uint8_t copy, tied_duration_t service)
{
    struct tied_client_event ev = {.type = TIED_CLIENT_EV_REPLY};
    const struct rig_call *call = &bench->rig.calls[token];
    const tied_duration_t own = copy < 2 ? service : SERVICE;
    ev.replica = call->replica[copy];
    ev.u.reply.call = call->id;
    ev.u.reply.copy = copy;
    ev.u.reply.service_ns = own;
    ev.u.reply.queue_ns = copy < 2 ? TOTAL - service : 0;
    CHECK_I64 (rig_step (&bench->rig, &ev), ==, 0);
}

/* One call of fifty runs for SLOW, and all take as long: latencies say nothing of a slow one. */
static void setup (struct bench *bench)
{
    struct tied_policy policy;
    *bench = (struct bench){.next = 0};
    rig_init (&bench->rig);
    bench->rig.options.learn_ns = S (100);
    bench->rig.options.calls_max = 32;
    bench->rig.options.pick = TIED_PICK_RANDOM;
    bench->rig.options.heartbeat_ns = S (1000);
    rig_start (&bench->rig);
    tied_policy_init (&policy);
    policy.mode = TIED_MODE_SINGLE;
    policy.is_idempotent = true;
    policy.hedge.kind = TIED_HEDGE_RULE_AUTO;
    policy.hedge_initial_ns = S (10);
    CHECK_I64 (tied_client_core_set_policy (bench->rig.core, 0, &policy), ==, 0);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_U64 (rig_replica (&bench->rig, 100 + i), ==, i);
    for (uint32_t i = 0; i < 400; i++) {
        const tied_duration_t service = i % 50 == 49 ? SLOW : SERVICE;
        const uint32_t token = submit (bench);
        rig_advance (&bench->rig, bench->rig.now + TOTAL);
        answer (bench, token, 0, service);
    }
    CHECK_U64 (seen (bench).counters.calls, ==, 400);
}

static uint32_t requests (const struct bench *bench)
{
    return rig_count (&bench->rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

/* Calls are submitted until one goes to this replica, the others are answered at once. */
static uint32_t submit_to (struct bench *bench, uint32_t replica)
{
    for (int i = 0; i < 100; i++) {
        const uint32_t token = submit (bench);
        if (bench->rig.calls[token].replica[0] == replica)
            return token;
        CHECK_I64 (rig_cancel (&bench->rig, bench->rig.calls[token].id), ==, 0);
    }
    fail_msg ("no call goes to replica %u", (unsigned)replica);
    return 0;
}

static void a_copy_that_is_known_to_run_for_long_is_relieved (void **state)
{
    struct bench b;
    (void)state;
    setup (&b);
    const tied_duration_t delay = seen (&b).relief_ns;
    CHECK_U64 (delay, >=, SERVICE);
    CHECK_U64 (delay, <=, SLOW / 2);
    const uint32_t slow = submit_to (&b, 0);
    const uint64_t before = seen (&b).counters.hedged;
    rig_advance (&b.rig, b.rig.now + MS (1));
    const uint32_t other = submit_to (&b, 0);
    const tied_time_t sent = b.rig.now;
    rig_forget (&b.rig);
    /* Not while it waits as long as calls do. */
    rig_advance (&b.rig, sent + WAITED + SERVICE);
    CHECK_U64 (requests (&b), ==, 0);
    answer (&b, other, 0, SERVICE);
    CHECK_U64 (requests (&b), ==, 0);
    rig_advance (&b.rig, sent + WAITED + 2 * delay + MS (2));
    CHECK_U64 (requests (&b), ==, 1);
    const struct tied_client_action *hedge = rig_get (&b.rig, TIED_CLIENT_ACT_SEND_REQUEST, 0);
    CHECK_U64 (hedge->replica, ==, 1);
    CHECK_U64 (hedge->u.request.copy, ==, 2);
    CHECK_U64 (hedge->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_RELIEF);
    answer (&b, slow, 2, SERVICE);
    CHECK_U64 (seen (&b).counters.hedged, ==, before + 1);
    CHECK_U64 (seen (&b).counters.relieved, ==, 1);
    CHECK_U64 (seen (&b).counters.hedges_won, ==, 1);
    rig_stop (&b.rig);
}

/* It has cost its token, and the other copy runs on. */
static void one_that_is_refused_is_the_only_one (void **state)
{
    struct bench b;
    (void)state;
    setup (&b);
    const tied_duration_t delay = seen (&b).relief_ns;
    const uint32_t slow = submit_to (&b, 0);
    const uint64_t before = seen (&b).counters.hedged;
    rig_advance (&b.rig, b.rig.now + MS (1));
    const uint32_t other = submit_to (&b, 0);
    const tied_time_t sent = b.rig.now;
    rig_forget (&b.rig);
    rig_advance (&b.rig, sent + WAITED + SERVICE);
    answer (&b, other, 0, SERVICE);
    rig_advance (&b.rig, sent + WAITED + 2 * delay + MS (2));
    CHECK_U64 (requests (&b), ==, 1);
    rig_reject (&b.rig, 1, b.rig.calls[slow].id, 2, TIED_REJECT_BUSY);
    rig_advance (&b.rig, sent + S (2));
    CHECK_U64 (requests (&b), ==, 1);
    answer (&b, slow, 0, SLOW);
    const struct tied_client_action *end = rig_get (&b.rig, TIED_CLIENT_ACT_COMPLETE, 1);
    CHECK_U64 (end->token, ==, slow);
    CHECK_U64 (end->u.completion.outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (end->u.completion.copies_sent, ==, 2);
    CHECK_U64 (seen (&b).counters.hedged, ==, before + 1);
    CHECK_U64 (seen (&b).counters.hedges_won, ==, 0);
    rig_stop (&b.rig);
}

static void a_copy_that_may_still_wait_is_not (void **state)
{
    struct bench b;
    (void)state;
    setup (&b);
    const uint32_t waiting = submit_to (&b, 0);
    const tied_time_t sent = b.rig.now;
    rig_forget (&b.rig);
    /* Nobody who came later has been answered, whatever happens at the other replica. */
    rig_advance (&b.rig, sent + TOTAL);
    CHECK_U64 (requests (&b), ==, 0);
    const uint32_t other = submit_to (&b, 1);
    rig_forget (&b.rig);
    rig_advance (&b.rig, b.rig.now + TOTAL);
    answer (&b, other, 0, SERVICE);
    rig_advance (&b.rig, sent + 3 * TOTAL);
    CHECK_U64 (requests (&b), ==, 0);
    answer (&b, waiting, 0, SERVICE);
    CHECK_U64 (seen (&b).counters.relieved, ==, 0);
    rig_stop (&b.rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_copy_that_is_known_to_run_for_long_is_relieved),
        cmocka_unit_test (one_that_is_refused_is_the_only_one),
        cmocka_unit_test (a_copy_that_may_still_wait_is_not),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
