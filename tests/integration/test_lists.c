/* SPDX-License-Identifier: MIT */
/* Lists of replicas that are wrong in some way, and bodies that are too large: through the library
   against real replicas. */
#include "cluster.h"
#include "free_policy.h"
#include "volley.h"

static struct tied_call idempotent (const char *method, const void *body, size_t size)
{
    struct tied_call call;

    tied_call_init (&call, method, body, size);
    call.is_idempotent = true;
    call.timeout_ns = CHECK_PATIENCE;
    return call;
}

static tied_client_t *new_client (const struct tied_client_options *options)
{
    struct tied_client_options defaults;
    tied_client_t *client;

    tied_client_options_init (&defaults);
    defaults.core.heartbeat_ns = S (10); /* who is short of a processor is not dead */
    client = tied_client_new (options ? options : &defaults);
    CHECK_TRUE (client != NULL);
    set_free_client_policy (client);
    return client;
}

static void duplicate_id_is_refused_and_calls_complete_through_the_rest (void **state)
{
    struct cluster cluster;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 2, "echo");
    client = new_client (NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_I64 (tied_client_add_replica (client, cluster.nodes[i].id, cluster.nodes[i].client),
                   ==, 0);
        CHECK_I64 (tied_client_add_replica (client, cluster.nodes[i].id, "tcp://127.0.0.1:1"), ==,
                   TIED_ERR_EXISTS);
    }
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, 2, MS (PROCESS_BOUND_MS)), ==, 0);
    volley_init (&volley, client, "echo", 50);
    volley.call.stagger_ns = 0;
    volley_fire (&volley, 50, 1);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 50);
    CHECK_U64 (volley.copies, ==, 100);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* Two names for one process: it says its own name, so the other is misnamed and never used. */
static void CL_19_two_ids_for_one_instance_are_never_tied (void **state)
{
    struct cluster cluster;
    struct tied_client_replica replica;
    struct volley volley;
    tied_client_t *client;
    tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);

    (void)state;
    cluster_run (&cluster, 1, "echo");
    client = new_client (NULL);
    CHECK_I64 (tied_client_add_replica (client, "a", cluster.nodes[0].client), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "alias", cluster.nodes[0].client), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, 1, MS (PROCESS_BOUND_MS)), ==, 0);
    do {
        CHECK_U64 (ti_clock_now (), <, until);
        (void)!tied_client_poll (client, MS (5));
        CHECK_I64 (tied_client_replica (client, "alias", &replica), ==, 0);
    } while (replica.state != TIED_REPLICA_MISNAMED);
    volley_init (&volley, client, "echo", 50);
    volley.call.stagger_ns = 0;
    volley_fire (&volley, 50, 4);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 50);
    CHECK_U64 (volley.copies, ==, 50);
    CHECK_STR (tied_not_sent_name ((int)volley.last.not_sent), "no_sibling");
    CHECK_U64 (cluster_stat (&cluster, 0, "received"), ==, 50);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* CL-02: the reachable one of two answers, with the reason why it was one copy. */
static void CL_02_an_unreachable_replica_leaves_the_other_to_answer (void **state)
{
    struct cluster cluster;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 1, "echo");
    client = new_client (NULL);
    CHECK_I64 (tied_client_add_replica (client, "z", "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "a", cluster.nodes[0].client), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    volley_init (&volley, client, "echo", 20);
    volley_fire (&volley, 20, 4);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 20);
    CHECK_U64 (volley.copies, ==, 20);
    CHECK_STR (tied_not_sent_name ((int)volley.last.not_sent), "no_sibling");
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

static void unreachable_replicas_alone_give_unavailable_at_the_deadline (void **state)
{
    struct volley volley;
    tied_client_t *client = new_client (NULL);

    (void)state;
    CHECK_I64 (tied_client_add_replica (client, "y", "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "z", "tcp://127.0.0.1:2"), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    volley_init (&volley, client, "echo", 20);
    volley.call.timeout_ns = MS (50);
    volley_fire (&volley, 20, 20);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_UNAVAILABLE], ==, 20);
    CHECK_U64 (volley.last.latency_ns, >=, MS (50));
    CHECK_FALSE (volley.last.may_have_executed);
    volley_free (&volley);
    tied_client_destroy (&client);
}

static void unknown_method_ends_as_unimplemented_and_not_executed (void **state)
{
    struct cluster cluster;
    struct tied_reply reply;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 2, "echo");
    client = cluster_client (&cluster, NULL);
    struct tied_call call = idempotent ("no-such-method", "", 0);
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
    CHECK_STR (tied_outcome_name ((int)reply.details.outcome), "unimplemented");
    CHECK_STR (tied_reject_name ((int)reply.details.reject), "unknown_method");
    CHECK_FALSE (reply.details.may_have_executed);
    tied_reply_release (&reply);
    CHECK_U64 (cluster_sum (&cluster, "executed"), ==, 0);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* The sender enforces the limit; what else is under way on the links is not touched. */
static void ZQ_12_body_over_the_limit_is_an_error_at_the_sender (void **state)
{
    enum {
        LIMIT = 64 << 10
    };
    static const unsigned char body[LIMIT + 1];
    struct cluster cluster;
    struct tied_client_options options;
    struct tied_reply reply;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 2, "echo");
    tied_client_options_init (&options);
    options.body_max = LIMIT;
    client = cluster_client (&cluster, &options);
    volley_init (&volley, client, "echo", 40);
    for (int i = 0; i < 20; i++)
        volley_submit (&volley);
    struct tied_call call = idempotent ("echo", body, LIMIT + 1);
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, TIED_ERR_TOOBIG);
    CHECK_I64 (tied_client_submit (client, &call, NULL), ==, TIED_ERR_TOOBIG);
    for (int i = 0; i < 20; i++)
        volley_submit (&volley);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 40);
    call.body_size = LIMIT;
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (reply.body_size, ==, LIMIT);
    tied_reply_release (&reply);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* A replica with a smaller limit than its client has says so, and the connection lives. */
static void body_over_the_replicas_limit_is_refused_as_too_large (void **state)
{
    static const unsigned char body[4097];
    struct cluster cluster;
    struct wire_client raw;
    struct tied_reply reply;
    tied_client_t *client;

    (void)state;
    cluster_init (&cluster, 1);
    cluster_start (&cluster, 0, "--body-max", "4KiB", NULL);
    client = cluster_client (&cluster, NULL);
    struct tied_call call = idempotent ("echo", body, 4097);
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
    CHECK_STR (tied_outcome_name ((int)reply.details.outcome), "invalid");
    CHECK_STR (tied_reject_name ((int)reply.details.reject), "too_large");
    CHECK_FALSE (reply.details.may_have_executed);
    tied_reply_release (&reply);
    call.body_size = 4096;
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    tied_reply_release (&reply);
    /* A client that knows no limits. */
    wire_open (&raw, cluster.nodes[0].client);
    struct tied_message large = wire_request (1, 0, "echo", body, 4097);
    struct tied_message small = wire_request (2, 0, "echo", body, 10);
    wire_send (&raw, &large);
    wire_send (&raw, &small);
    wire_expect (&raw, TIED_WIRE_REJECT);
    CHECK_STR (tied_reject_name (raw.in.u.reject.reason), "too_large");
    wire_expect (&raw, TIED_WIRE_REPLY);
    CHECK_U64 (raw.in.u.reply.call.sequence, ==, 2);
    wire_close (&raw);
    /* Ours has not sent what the replica had said that it does not take. */
    CHECK_U64 (cluster_stat (&cluster, 0, "rejected_too_large"), ==, 1);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (duplicate_id_is_refused_and_calls_complete_through_the_rest),
        TEST (CL_19_two_ids_for_one_instance_are_never_tied),
        TEST (CL_02_an_unreachable_replica_leaves_the_other_to_answer),
        TEST (unreachable_replicas_alone_give_unavailable_at_the_deadline),
        TEST (unknown_method_ends_as_unimplemented_and_not_executed),
        TEST (ZQ_12_body_over_the_limit_is_an_error_at_the_sender),
        TEST (body_over_the_replicas_limit_is_refused_as_too_large),
    };
    return cmocka_run_group_tests_name ("lists", tests, NULL, NULL);
}
