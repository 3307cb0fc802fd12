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
    uint32_t next;         /* token to begin at */
    tied_duration_t total; /* that calls take but for what is slow, with their wait */
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
    ev.u.reply.queue_ns = copy < 2 && bench->total > service ? bench->total - service : 0;
    CHECK_I64 (rig_step (&bench->rig, &ev), ==, 0);
}

/* One call of fifty runs for SLOW. All calls take `total`, or their service where that is more. */
static void setup_with (struct bench *bench, tied_duration_t total)
{
    struct tied_policy policy;
    *bench = (struct bench){.total = total};
    rig_init (&bench->rig);
    bench->rig.options.learn_ns = S (100);
    bench->rig.options.calls_max = 32;
    bench->rig.options.copies_max = TIED_COPIES_MAX;
    bench->rig.options.pick = TIED_PICK_RANDOM;
    bench->rig.options.heartbeat_ns = S (1000);
    rig_start (&bench->rig);
    tied_policy_init (&policy);
    policy.mode = TIED_MODE_SINGLE;
    policy.is_idempotent = true;
    policy.hedge.kind = TIED_HEDGE_RULE_AUTO;
    policy.hedge_initial_ns = S (10);
    if (total == SERVICE)
        policy.min_samples = 390; /* no hedge before */
    CHECK_I64 (tied_client_core_set_policy (bench->rig.core, 0, &policy), ==, 0);
    for (uint32_t i = 0; i < 2; i++)
        CHECK_U64 (rig_replica (&bench->rig, 100 + i), ==, i);
    for (uint32_t i = 0; i < 400; i++) {
        const tied_duration_t service = i % 50 == 49 ? SLOW : SERVICE;
        const uint32_t token = submit (bench);
        rig_advance (&bench->rig, bench->rig.now + (total > service ? total : service));
        answer (bench, token, 0, service);
    }
    CHECK_U64 (seen (bench).counters.calls, ==, 400);
}

/* All take as long: latencies say nothing of a slow one. */
static void setup (struct bench *bench)
{
    setup_with (bench, TOTAL);
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

/* Nothing waits: a slow one is late before anybody has told that it runs. */
static void a_late_call_whose_hedge_was_refused_gets_no_other_when_it_is_known_to_run (void **state)
{
    struct bench b;
    (void)state;
    setup_with (&b, SERVICE);
    const uint32_t slow = submit_to (&b, 0);
    CHECK_U64 (seen (&b).hedge_ns, <=, SLOW / 2);
    CHECK_U64 (seen (&b).relief_ns, <=, SLOW / 2);
    rig_forget (&b.rig);
    rig_advance (&b.rig, b.rig.now + seen (&b).hedge_ns);
    CHECK_U64 (requests (&b), ==, 1);
    const struct tied_client_action *hedge = rig_get (&b.rig, TIED_CLIENT_ACT_SEND_REQUEST, 0);
    CHECK_U64 (hedge->u.request.flags, ==, TIED_REQUEST_IDEMPOTENT);
    rig_reject (&b.rig, 1, b.rig.calls[slow].id, 2, TIED_REJECT_BUSY);
    const uint32_t other = submit_to (&b, 0);
    rig_advance (&b.rig, b.rig.now + SERVICE);
    answer (&b, other, 0, SERVICE);
    rig_forget (&b.rig);
    rig_advance (&b.rig, b.rig.now + SLOW);
    CHECK_U64 (requests (&b), ==, 0);
    CHECK_U64 (seen (&b).counters.relieved, ==, 0);
    rig_stop (&b.rig);
}

/* A call to replica 0 of which it is known, `after` its sending, that it began to run `before`
 * that.
 */
static uint32_t submit_known (struct bench *bench, tied_duration_t after, tied_duration_t before)
{
    const uint32_t slow = submit_to (bench, 0);
    const tied_duration_t was = bench->total;
    rig_advance (&bench->rig, bench->rig.now + TIED_US (100));
    const uint32_t other = submit_to (bench, 0);
    bench->total = after - TIED_US (100);
    rig_advance (&bench->rig, bench->rig.now + bench->total);
    answer (bench, other, 0, before - TIED_US (100));
    bench->total = was;
    rig_forget (&bench->rig);
    return slow;
}

static void a_copy_is_relieved_as_soon_as_it_has_run_for_the_delay (void **state)
{
    struct bench b;
    (void)state;
    setup (&b);
    const tied_duration_t delay = seen (&b).relief_ns;
    const tied_time_t start = b.rig.now + TIED_US (500);
    (void)submit_known (&b, MS (1), TIED_US (500));
    rig_advance (&b.rig, start + delay - 1);
    CHECK_U64 (requests (&b), ==, 0);
    rig_advance (&b.rig, start + delay);
    CHECK_U64 (requests (&b), ==, 1);
    rig_stop (&b.rig);
}

/* It says that it had the call for longer than it was away. */
static void an_answer_that_cannot_be_true_tells_nothing_of_others (void **state)
{
    struct bench b;
    (void)state;
    setup (&b);
    const tied_duration_t delay = seen (&b).relief_ns;
    (void)submit_to (&b, 0);
    rig_advance (&b.rig, b.rig.now + TIED_US (100));
    const uint32_t other = submit_to (&b, 0);
    rig_advance (&b.rig, b.rig.now + MS (1));
    rig_forget (&b.rig);
    b.total = MS (2);
    answer (&b, other, 0, TIED_US (500));
    rig_advance (&b.rig, b.rig.now + 4 * delay);
    CHECK_U64 (requests (&b), ==, 0);
    rig_stop (&b.rig);
}

/* Another goes before it: that is no longer so much worse off. */
static void a_late_call_that_has_just_begun_to_run_is_hedged_in_its_turn (void **state)
{
    struct bench b;
    (void)state;
    setup_with (&b, SERVICE);
    const uint32_t first = submit_to (&b, 0);
    answer (&b, first, 0, SERVICE);
    const tied_time_t sent = b.rig.now;
    CHECK_U64 (seen (&b).hedge_ns, >, SERVICE);
    CHECK_U64 (seen (&b).relief_ns, >=, SERVICE);
    (void)submit_known (&b, SERVICE, TIED_US (200));
    rig_advance (&b.rig, sent + seen (&b).hedge_ns);
    CHECK_U64 (requests (&b), ==, 1);
    CHECK_U64 (rig_get (&b.rig, TIED_CLIENT_ACT_SEND_REQUEST, 0)->u.request.flags, ==,
               TIED_REQUEST_IDEMPOTENT);
    rig_stop (&b.rig);
}

/* A pair, at once. Its token is 0. */
static void submit_pair (struct bench *bench)
{
    const struct tied_client_submit call = {.token = 0,
                                            .mode = TIED_MODE_TIED,
                                            .is_idempotent = true,
                                            .deadline = bench->rig.now + S (30),
                                            .copies_max = TIED_COPIES_MAX,
                                            .hedge_ns = TIED_HEDGE_POLICY};
    rig_forget (&bench->rig);
    CHECK_I64 (rig_submit (&bench->rig, &call), ==, 0);
    bench->rig.calls[0].hedge_from = 0;
    bench->next = 1;
    CHECK_U64 (requests (bench), ==, 2);
}

/* The other copy waits, as far as anybody knows, though it would be expected to have started. */
static void of_a_pair_the_copy_that_is_known_to_run_says_since_when (void **state)
{
    (void)state;
    for (uint32_t known = 0; known < 2; known++) {
        struct bench b;
        setup (&b);
        CHECK_U64 (rig_replica (&b.rig, 102), ==, 2);
        const tied_duration_t delay = seen (&b).relief_ns;
        b.total = SERVICE + MS (1);
        for (uint32_t replica = 0; replica < 3; replica++) {
            const uint32_t quick = submit_to (&b, replica);
            rig_advance (&b.rig, b.rig.now + b.total);
            answer (&b, quick, 0, SERVICE);
        }
        b.total = TOTAL;
        b.next = 1;
        submit_pair (&b);
        rig_advance (&b.rig, b.rig.now + MS (1));
        const uint32_t other = submit_to (&b, b.rig.calls[0].replica[known]);
        const tied_time_t sent = b.rig.now;
        rig_forget (&b.rig);
        rig_advance (&b.rig, sent + TOTAL);
        answer (&b, other, 0, TIED_US (100));
        rig_advance (&b.rig, sent + TOTAL + delay - MS (2));
        CHECK_U64 (requests (&b), ==, 0);
        rig_advance (&b.rig, sent + TOTAL + 2 * delay);
        CHECK_U64 (requests (&b), ==, 1);
        CHECK_U64 (rig_get (&b.rig, TIED_CLIENT_ACT_SEND_REQUEST, 0)->u.request.flags, ==,
                   TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_RELIEF);
        rig_stop (&b.rig);
    }
}

/* What is known of the copy that is left: it has started, or its sibling has, and that is gone. */
static void what_is_left_of_a_pair_after_a_loss_is_not_known_to_run (void **state)
{
    (void)state;
    for (uint32_t lost = 0; lost < 2; lost++) {
        struct bench b;
        setup_with (&b, TOTAL);
        CHECK_U64 (rig_replica (&b.rig, 102), ==, 2);
        submit_pair (&b);
        const uint32_t left = b.rig.calls[0].replica[1 - lost];
        const uint32_t gone = b.rig.calls[0].replica[lost];
        rig_advance (&b.rig, b.rig.now + MS (1));
        const uint32_t other = submit_to (&b, left);
        const tied_time_t sent = b.rig.now;
        rig_forget (&b.rig);
        rig_link (&b.rig, gone, false);
        /* The re-issue, which merges where the copy is left. */
        CHECK_U64 (requests (&b), ==, 1);
        rig_advance (&b.rig, sent + WAITED + SERVICE);
        answer (&b, other, 0, SERVICE);
        rig_forget (&b.rig);
        rig_advance (&b.rig, sent + S (3));
        CHECK_U64 (requests (&b), ==, 0);
        CHECK_U64 (seen (&b).counters.relieved, ==, 0);
        rig_stop (&b.rig);
    }
}

static void a_copy_that_may_still_wait_is_not (void **state)
{
    struct bench b;
    (void)state;
    setup (&b);
    const uint32_t waiting = submit_to (&b, 0);
    const tied_time_t sent = b.rig.now;
    rig_forget (&b.rig);
    /* Nobody who came later has been answered, whatever happens at the other replica. It is looked
     * at now and then. */
    uint32_t looks = 0;
    while (tied_client_core_deadline (b.rig.core) <= sent + 3 * TOTAL) {
        rig_advance (&b.rig, tied_client_core_deadline (b.rig.core));
        looks++;
    }
    CHECK_U64 (looks, >=, 1);
    CHECK_U64 (looks, <=, 3 + 2 * TOTAL / (seen (&b).relief_ns / 2));
    rig_advance (&b.rig, sent + 3 * TOTAL);
    CHECK_U64 (requests (&b), ==, 0);
    const uint32_t other = submit_to (&b, 1);
    rig_forget (&b.rig);
    rig_advance (&b.rig, b.rig.now + TOTAL);
    answer (&b, other, 0, SERVICE);
    rig_advance (&b.rig, sent + 5 * TOTAL);
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
        cmocka_unit_test (
            a_late_call_whose_hedge_was_refused_gets_no_other_when_it_is_known_to_run),
        cmocka_unit_test (a_copy_is_relieved_as_soon_as_it_has_run_for_the_delay),
        cmocka_unit_test (an_answer_that_cannot_be_true_tells_nothing_of_others),
        cmocka_unit_test (a_late_call_that_has_just_begun_to_run_is_hedged_in_its_turn),
        cmocka_unit_test (of_a_pair_the_copy_that_is_known_to_run_says_since_when),
        cmocka_unit_test (what_is_left_of_a_pair_after_a_loss_is_not_known_to_run),
        cmocka_unit_test (a_copy_that_may_still_wait_is_not),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
