/* SPDX-License-Identifier: MIT */
/*
 * Actors of czmq that make tied calls: zactor_destroy () returns in bounded time while a call is
 * pending, and the library and czmq meet at inproc endpoints of one context.
 */
#include <czmq.h>

#include <stdatomic.h>

#include "check.h"

#include <tied/client.h>
#include <tied/replica.h>

#include "free_policy.h"
#include "volley.h"
#include "zmq/clock.h"

#define PATIENCE TIED_S (20)

/* What a destroyed actor, client or context may take; the machine may be crowded. */
#define DESTROY_BOUND CHECK_SOON

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static tied_replica_t *new_replica (const char *id, uint32_t service, const char *endpoint)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = id;
    options.service = service;
    options.core.workers = 1;
    options.zmq_context = zsys_init ();
    replica = tied_replica_new (&options);
    CHECK_TRUE (replica != NULL);
    CHECK_I64 (tied_replica_bind (replica, endpoint), ==, 0);
    return replica;
}

/* It takes calls and nobody pulls them. An endpoint of its own each time: in a shared context that
   of a closed socket is free a moment later. */
static tied_replica_t *silent_replica (const char *endpoint)
{
    tied_replica_t *replica = new_replica ("a", TIED_SERVICE_PULL, endpoint);

    CHECK_I64 (tied_replica_start (replica), ==, 0);
    return replica;
}

static tied_client_t *new_client (uint32_t drive)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = drive;
    options.zmq_context = zsys_init ();
    client = tied_client_new (&options);
    CHECK_TRUE (client != NULL);
    return client;
}

static tied_client_t *client_of_silence (uint32_t drive, const char *endpoint)
{
    tied_client_t *client = new_client (drive);

    CHECK_I64 (tied_client_add_replica (client, "a", endpoint), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, 1, PATIENCE), ==, 0);
    return client;
}

static uint64_t received (tied_replica_t *replica)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_stats (replica, &stats), ==, 0);
    return stats.core.received;
}

/* The call has arrived, so it is pending. */
static void await_call (tied_replica_t *replica)
{
    tied_time_t until = ti_clock_now () + PATIENCE;

    while (received (replica) == 0)
        CHECK_U64 (ti_clock_now (), <, until);
}

struct asker {
    tied_client_t *client;
    tied_duration_t timeout_ns;
    atomic_int outcome; /* of the call; -1: none */
};

/* Makes one call, waits for it in the library, and looks at its pipe only then. */
static void blocking_asker (zsock_t *pipe, void *arg)
{
    struct asker *self = arg;
    struct tied_call call;
    struct tied_reply reply;
    char *command;

    zsock_signal (pipe, 0);
    tied_call_init (&call, "never", NULL, 0);
    call.timeout_ns = self->timeout_ns;
    if (tied_client_call (self->client, &call, &reply) == 0) {
        atomic_store (&self->outcome, (int)reply.details.outcome);
        tied_reply_release (&reply);
    }
    command = zstr_recv (pipe);
    zstr_free (&command);
}

/* Makes one call and watches its pipe and the client. */
static void polling_asker (zsock_t *pipe, void *arg)
{
    struct asker *self = arg;
    int fd = tied_client_fd (self->client);
    zpoller_t *poller = zpoller_new (pipe, &fd, NULL);
    struct tied_call call;
    struct tied_reply reply;

    zpoller_set_nonstop (poller, true);
    tied_call_init (&call, "never", NULL, 0);
    call.timeout_ns = self->timeout_ns;
    call.to_queue = true;
    (void)!tied_client_submit (self->client, &call, NULL);
    zsock_signal (pipe, 0);
    while (zpoller_wait (poller, -1) != pipe) {
        while (tied_client_next (self->client, 0, &reply) == 0)
            tied_reply_release (&reply);
    }
    zpoller_destroy (&poller);
}

static void destroy_in_time (zactor_t **actor)
{
    tied_time_t began = ti_clock_now ();

    zactor_destroy (actor);
    CHECK_U64 (ti_clock_now () - began, <, DESTROY_BOUND);
}

static void ZQ_23_an_actor_that_polls_ends_at_once (void **state)
{
    tied_replica_t *replica = silent_replica ("inproc://polls");
    struct asker asker = {client_of_silence (TIED_DRIVE_CALLER, "inproc://polls"), TIED_S (60), -1};
    zactor_t *actor = zactor_new (polling_asker, &asker);

    (void)state;
    await_call (replica);
    destroy_in_time (&actor);
    tied_client_destroy (&asker.client);
    tied_replica_destroy (&replica);
}

static void ZQ_23_an_actor_that_waits_in_a_call_ends_by_its_deadline (void **state)
{
    tied_replica_t *replica = silent_replica ("inproc://waits");
    struct asker asker = {client_of_silence (TIED_DRIVE_CALLER, "inproc://waits"), TIED_MS (300),
                          -1};
    zactor_t *actor = zactor_new (blocking_asker, &asker);

    (void)state;
    await_call (replica);
    destroy_in_time (&actor);
    /* By its own clock, or by that of the replica if its word comes first. */
    CHECK_TRUE (atomic_load (&asker.outcome) == TIED_OUTCOME_DEADLINE ||
                atomic_load (&asker.outcome) == TIED_OUTCOME_REJECTED);
    tied_client_destroy (&asker.client);
    tied_replica_destroy (&replica);
}

static void ZQ_23_stopping_the_client_frees_an_actor_that_waits_in_a_call (void **state)
{
    tied_replica_t *replica = silent_replica ("inproc://stops");
    struct asker asker = {client_of_silence (TIED_DRIVE_THREADED, "inproc://stops"), TIED_S (60),
                          -1};
    zactor_t *actor = zactor_new (blocking_asker, &asker);

    (void)state;
    await_call (replica);
    CHECK_I64 (tied_client_stop (asker.client, 0), ==, 0);
    destroy_in_time (&actor);
    CHECK_I64 (atomic_load (&asker.outcome), ==, TIED_OUTCOME_CANCELLED);
    tied_client_destroy (&asker.client);
    tied_replica_destroy (&replica);
}

/* Two replicas and a client over inproc alone. */
static void calls_are_tied_over_inproc (void **state)
{
    static const char *const ids[2] = {"a", "b"};
    static const char *const endpoints[2] = {"inproc://a", "inproc://b"};
    static const char *const peers[2] = {"inproc://a-peers", "inproc://b-peers"};
    tied_replica_t *replicas[2];
    tied_client_t *client = new_client (TIED_DRIVE_THREADED);
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    struct volley volley;
    uint64_t told = 0;

    (void)state;
    set_free_client_policy (client);
    for (int i = 0; i < 2; i++) {
        replicas[i] = new_replica (ids[i], TIED_SERVICE_POOL, endpoints[i]);
        CHECK_I64 (tied_replica_bind_peers (replicas[i], peers[i]), ==, 0);
        CHECK_I64 (tied_replica_add_peer (replicas[i], ids[1 - i], peers[1 - i]), ==, 0);
        CHECK_I64 (tied_replica_handle (replicas[i], "echo", echo, NULL), ==, 0);
        CHECK_I64 (tied_replica_start (replicas[i]), ==, 0);
        CHECK_I64 (tied_client_add_replica (client, ids[i], endpoints[i]), ==, 0);
    }
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, 2, PATIENCE), ==, 0);
    volley_init (&volley, client, "echo", 1000);
    volley.call.stagger_ns = 0;
    volley_fire (&volley, 1000, 50);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 1000);
    volley_free (&volley);
    tied_client_destroy (&client);
    for (int i = 0; i < 2; i++) {
        CHECK_I64 (tied_replica_stop (replicas[i], PATIENCE), ==, 0);
        CHECK_I64 (tied_replica_stats (replicas[i], &stats), ==, 0);
        told += stats.core.started_effective + stats.core.started_early;
        tied_replica_destroy (&replicas[i]);
    }
    CHECK_U64 (told, >, 0);
}

/* A socket of czmq's at our endpoint: what it says is no message of ours, and is counted. */
static void czmqs_own_sockets_reach_inproc_endpoints (void **state)
{
    tied_replica_t *replica = silent_replica ("inproc://silent");
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    zsock_t *dealer = zsock_new_dealer (">inproc://silent");
    tied_time_t until = ti_clock_now () + PATIENCE;

    (void)state;
    CHECK_TRUE (dealer != NULL);
    CHECK_I64 (zstr_send (dealer, "hello"), ==, 0);
    while (stats.malformed == 0) {
        CHECK_I64 (tied_replica_stats (replica, &stats), ==, 0);
        CHECK_U64 (ti_clock_now (), <, until);
    }
    CHECK_U64 (stats.malformed, ==, 1);
    zsock_destroy (&dealer);
    tied_replica_destroy (&replica);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (ZQ_23_an_actor_that_polls_ends_at_once),
        cmocka_unit_test (ZQ_23_an_actor_that_waits_in_a_call_ends_by_its_deadline),
        cmocka_unit_test (ZQ_23_stopping_the_client_frees_an_actor_that_waits_in_a_call),
        cmocka_unit_test (calls_are_tied_over_inproc),
        cmocka_unit_test (czmqs_own_sockets_reach_inproc_endpoints),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
