/* SPDX-License-Identifier: MIT */
/*
 * The libzmq context behind a replica and a client: large enough when it is their own, and no trap
 * for the host when it is the host's and ends first.
 */
#include <stdio.h>
#include <zmq.h>

#include "check.h"

#include <tied/client.h>
#include <tied/replica.h>

#include "zmq/clock.h"

#define PEERS 64

static void echo (tied_request_t *request, void *arg)
{
    (void)arg;
    (void)!tied_request_reply (request, NULL, 0);
}

static void every_peer_that_the_options_allow_gets_its_link (void **state)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    (void)state;
    tied_replica_options_init (&options);
    options.id = "a";
    options.core.peers_max = PEERS;
    replica = tied_replica_new (&options);
    CHECK_I64 (tied_replica_bind (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_bind_peers (replica, "tcp://127.0.0.1:*"), ==, 0);
    for (int i = 0; i < PEERS; i++) {
        char id[16];

        (void)snprintf (id, sizeof id, "peer-%d", i);
        CHECK_I64 (tied_replica_add_peer (replica, id, "tcp://127.0.0.1:1"), ==, 0);
    }
    tied_replica_destroy (&replica);
}

static tied_replica_t *start_replica (void *context)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = "a";
    options.zmq_context = context;
    replica = tied_replica_new (&options);
    CHECK_I64 (tied_replica_bind (replica, "inproc://a"), ==, 0);
    CHECK_I64 (tied_replica_bind_peers (replica, "inproc://a-peers"), ==, 0);
    CHECK_I64 (tied_replica_add_peer (replica, "b", "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "echo", echo, NULL), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);
    return replica;
}

static tied_client_t *start_client (void *context)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.zmq_context = context;
    client = tied_client_new (&options);
    CHECK_I64 (tied_client_add_replica (client, "a", "inproc://a"), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "b", "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    return client;
}

static uint32_t outcome_of_a_call (tied_client_t *client, tied_duration_t timeout_ns)
{
    struct tied_call call;
    struct tied_reply reply;

    tied_call_init (&call, "echo", NULL, 0);
    call.timeout_ns = timeout_ns;
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
    tied_reply_release (&reply);
    return reply.details.outcome;
}

static void ZQ_24_a_shared_context_that_ends_first_does_not_hang (void **state)
{
    void *context = zmq_ctx_new ();
    tied_replica_t *replica = start_replica (context);
    tied_client_t *client = start_client (context);
    tied_time_t began;

    (void)state;
    CHECK_U64 (outcome_of_a_call (client, CHECK_PATIENCE), ==, TIED_OUTCOME_OK);
    began = ti_clock_now ();
    CHECK_I64 (zmq_ctx_term (context), ==, 0);
    CHECK_U64 (ti_clock_now () - began, <, CHECK_SOON);
    CHECK_U64 (outcome_of_a_call (client, MS (50)), !=, TIED_OUTCOME_OK);
    tied_client_destroy (&client);
    CHECK_I64 (tied_replica_stop (replica, CHECK_PATIENCE), ==, 0);
    tied_replica_destroy (&replica);
    CHECK_U64 (ti_clock_now () - began, <, CHECK_SOON);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (every_peer_that_the_options_allow_gets_its_link),
        cmocka_unit_test (ZQ_24_a_shared_context_that_ends_first_does_not_hang),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
