/* SPDX-License-Identifier: MIT */
/*
 * Calls that are made for the answer of a request. One thread does everything: it asks a replica in
 * this process (PULL) by hand, holds the request, and calls a fake replica further on. The
 * replica's own thread receives the cancels.
 */
#include "client_world.h"
#include "wire_client.h"

#include <pthread.h>

#include <tied/replica.h>

#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

struct scene {
    tied_replica_t *replica;
    struct wire_client asker;
    struct world below; /* the client of the handler, and what it calls */
};

static void open_scene (struct scene *scene, uint32_t children_max)
{
    struct tied_replica_options options;

    memset (scene, 0, sizeof *scene);
    tied_replica_options_init (&options);
    options.id = "r";
    options.service = TIED_SERVICE_PULL;
    options.children_max = children_max;
    scene->replica = tied_replica_new (&options);
    CHECK_TRUE (scene->replica != NULL);
    CHECK_I64 (tied_replica_bind (scene->replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_start (scene->replica), ==, 0);
    wire_open (&scene->asker, tied_replica_endpoint (scene->replica));
    world_open (&scene->below, 2, NULL);
}

static void close_scene (struct scene *scene)
{
    wire_close (&scene->asker);
    tied_replica_destroy (&scene->replica);
    world_close (&scene->below);
}

static tied_request_t *receive (struct scene *scene, struct tied_message *message)
{
    tied_request_t *request = NULL;

    wire_send (&scene->asker, message);
    CHECK_I64 (tied_replica_next (scene->replica, CHECK_PATIENCE, &request), ==, 0);
    return request;
}

static tied_request_t *receive_plain (struct scene *scene, uint64_t sequence)
{
    struct tied_message message = wire_request (sequence, 0, "work", "x", 1);

    return receive (scene, &message);
}

static struct tied_replica_stats stats_of (const struct scene *scene)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_stats (scene->replica, &stats), ==, 0);
    return stats;
}

static struct fake_seen *first_request (struct scene *scene)
{
    struct fake_seen *seen = fake_request (scene->below.replicas[0], 0);

    return seen ? seen : fake_request (scene->below.replicas[1], 0);
}

static uint32_t cancels (const struct scene *scene)
{
    return scene->below.replicas[0]->cancels + scene->below.replicas[1]->cancels;
}

static uint32_t requests (const struct scene *scene)
{
    return scene->below.replicas[0]->requests + scene->below.replicas[1]->requests;
}

static struct tied_call child_of (tied_request_t *request)
{
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);

    call.parent = request;
    return call;
}

static void cancel_parent (struct scene *scene, uint64_t sequence)
{
    struct tied_message cancel = wire_cancel (sequence, TIED_CANCEL_CALLER);

    wire_send (&scene->asker, &cancel);
}

/* Until it has ended; the fake replicas get their turns. */
static struct tied_reply collect (struct scene *scene, struct tied_call_id id)
{
    struct tied_reply reply;

    WORLD_UNTIL (&scene->below, tied_client_wait (scene->below.client, id, 0, &reply) == 0);
    return reply;
}

static void a_child_inherits_deadline_trace_and_copies (void **state)
{
    struct scene scene;
    struct tied_call_id id;
    (void)state;
    open_scene (&scene, 8);
    struct tied_message message = wire_request (1, 0, "work", "x", 1);
    message.u.request.remaining_us = 30000000;
    message.u.request.attempts_left = 1;
    message.u.request.traceparent = (struct tied_view){TRACE, strlen (TRACE)};
    tied_request_t *request = receive (&scene, &message);
    CHECK_STR (tied_request_traceparent (request), TRACE);
    CHECK_U64 (tied_request_attempts_left (request), ==, 1);
    struct tied_call call = child_of (request);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, 0);
    WORLD_UNTIL (&scene.below, first_request (&scene));
    const struct fake_seen *seen = first_request (&scene);
    CHECK_STR (seen->traceparent, TRACE);
    CHECK_U64 (seen->remaining_us, <=, 30000000);
    CHECK_U64 (seen->remaining_us, >, 0);
    CHECK_U64 (seen->attempts_left, ==, 1);
    CHECK_I64 (tied_request_reply (request, NULL, 0), ==, 0);
    close_scene (&scene);
}

static void what_a_child_says_itself_goes_before (void **state)
{
    struct scene scene;
    struct tied_call_id id;
    (void)state;
    open_scene (&scene, 8);
    struct tied_message message = wire_request (1, 0, "work", "x", 1);
    message.u.request.traceparent = (struct tied_view){TRACE, strlen (TRACE)};
    tied_request_t *request = receive (&scene, &message);
    struct tied_call call = child_of (request);
    call.traceparent = "own";
    call.timeout_ns = TIED_S (7);
    call.key = "k-1";
    call.key_size = 3;
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, 0);
    WORLD_UNTIL (&scene.below, first_request (&scene));
    const struct fake_seen *seen = first_request (&scene);
    CHECK_STR (seen->traceparent, "own");
    CHECK_STR (seen->key, "k-1");
    CHECK_U64 (seen->remaining_us, <=, 7000000);
    CHECK_I64 (tied_request_reply (request, NULL, 0), ==, 0);
    close_scene (&scene);
}

/* attempts_left 0: one copy, although the call is tied, idempotent and would like a hedge. */
static void a_chain_stops_where_no_copies_are_left (void **state)
{
    struct scene scene;
    struct tied_call_id id;
    (void)state;
    open_scene (&scene, 8);
    tied_request_t *request = receive_plain (&scene, 1);
    struct tied_call call = child_of (request);
    call.mode = TIED_MODE_TIED;
    call.stagger_ns = 0;
    call.hedge_ns = TIED_HEDGE_NOW;
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, 0);
    WORLD_UNTIL (&scene.below, requests (&scene) > 0);
    world_flush (&scene.below);
    CHECK_U64 (requests (&scene), ==, 1);
    struct fake_seen *seen = first_request (&scene);
    CHECK_U64 (seen->attempts_left, ==, 0);
    struct fake_replica *at =
        scene.below.replicas[fake_request (scene.below.replicas[0], 0) ? 0 : 1];
    fake_reply (at, seen, 0, "y", 1);
    struct tied_reply reply = collect (&scene, id);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (reply.details.not_sent, ==, TIED_NOT_SENT_CHAIN_STOP);
    CHECK_U64 (reply.details.hedge_not_sent, ==, TIED_NOT_SENT_CHAIN_STOP);
    tied_reply_release (&reply);
    CHECK_I64 (tied_request_reply (request, NULL, 0), ==, 0);
    close_scene (&scene);
}

static void a_cancelled_request_cancels_its_children (void **state)
{
    struct scene scene;
    struct tied_call_id ids[3];
    (void)state;
    open_scene (&scene, 8);
    tied_request_t *request = receive_plain (&scene, 1);
    struct tied_call call = child_of (request);
    struct tied_call stranger = world_call (TIED_MODE_SINGLE, true);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &ids[0]), ==, 0);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &ids[1]), ==, 0);
    CHECK_I64 (tied_client_submit (scene.below.client, &stranger, &ids[2]), ==, 0);
    WORLD_UNTIL (&scene.below, requests (&scene) == 3);
    cancel_parent (&scene, 1);
    for (int i = 0; i < 2; i++) {
        struct tied_reply reply = collect (&scene, ids[i]);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_CANCELLED);
        tied_reply_release (&reply);
    }
    WORLD_UNTIL (&scene.below, cancels (&scene) == 2);
    struct tied_reply reply;
    CHECK_I64 (tied_client_wait (scene.below.client, ids[2], 0, &reply), ==, TIED_ERR_TIMEOUT);
    CHECK_U64 (stats_of (&scene).children_cancelled, ==, 2);
    CHECK_I64 (tied_request_fail (request, 1, NULL, 0), ==, 0);
    close_scene (&scene);
}

static void CL_09_a_cancelled_request_takes_no_more_children (void **state)
{
    struct scene scene;
    struct tied_call_id id;
    struct tied_reply reply;
    (void)state;
    open_scene (&scene, 8);
    tied_request_t *request = receive_plain (&scene, 1);
    cancel_parent (&scene, 1);
    while (!tied_request_is_cancelled (request))
        wire_sync (&scene.asker);
    struct tied_call call = child_of (request);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, TIED_ERR_CANCELLED);
    CHECK_I64 (tied_client_call (scene.below.client, &call, &reply), ==, TIED_ERR_CANCELLED);
    world_flush (&scene.below);
    CHECK_U64 (requests (&scene), ==, 0);
    CHECK_U64 (world_stats (&scene.below).core.submitted, ==, 0);
    CHECK_I64 (tied_request_fail (request, 1, NULL, 0), ==, 0);
    close_scene (&scene);
}

static void children_that_have_ended_give_their_place_back (void **state)
{
    struct scene scene;
    struct tied_call_id ids[3];
    (void)state;
    open_scene (&scene, 2);
    for (uint32_t i = 0; i < 2; i++)
        scene.below.replicas[i]->does_echo = true;
    tied_request_t *request = receive_plain (&scene, 1);
    struct tied_call call = child_of (request);
    for (int i = 0; i < 50; i++) {
        CHECK_I64 (tied_client_submit (scene.below.client, &call, &ids[0]), ==, 0);
        struct tied_reply reply = collect (&scene, ids[0]);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
        tied_reply_release (&reply);
    }
    for (uint32_t i = 0; i < 2; i++)
        scene.below.replicas[i]->does_echo = false;
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &ids[0]), ==, 0);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &ids[1]), ==, 0);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &ids[2]), ==, TIED_ERR_FULL);
    CHECK_U64 (stats_of (&scene).children_refused, ==, 1);
    CHECK_I64 (tied_request_reply (request, NULL, 0), ==, 0);
    close_scene (&scene);
}

/* A call that cannot be submitted leaves no place taken, and an answered request no trace. */
static void a_failed_submit_and_an_answer_leave_nothing (void **state)
{
    struct scene scene;
    struct tied_call_id id;
    (void)state;
    open_scene (&scene, 1);
    tied_request_t *request = receive_plain (&scene, 1);
    struct tied_call call = child_of (request);
    CHECK_I64 (tied_client_stop (scene.below.client, 0), ==, 0);
    for (int i = 0; i < 3; i++)
        CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_request_reply (request, NULL, 0), ==, 0);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, TIED_ERR_STATE);
    CHECK_U64 (stats_of (&scene).children_refused, ==, 0);
    close_scene (&scene);
}

static void an_answered_request_lets_its_children_go_on (void **state)
{
    struct scene scene;
    struct tied_call_id id;
    struct tied_reply reply;
    (void)state;
    open_scene (&scene, 8);
    tied_request_t *request = receive_plain (&scene, 1);
    struct tied_call call = child_of (request);
    CHECK_I64 (tied_client_submit (scene.below.client, &call, &id), ==, 0);
    CHECK_I64 (tied_request_reply (request, NULL, 0), ==, 0);
    cancel_parent (&scene, 1);
    wire_sync (&scene.asker);
    world_flush (&scene.below);
    CHECK_I64 (tied_client_wait (scene.below.client, id, 0, &reply), ==, TIED_ERR_TIMEOUT);
    CHECK_U64 (stats_of (&scene).children_cancelled, ==, 0);
    close_scene (&scene);
}

/* ---- both locks, from both sides, at once ---- */

struct storm {
    tied_replica_t *replica;
    tied_client_t *client;
    uint32_t left;
};

/* Serves requests by calls that nobody answers: they end when the request is cancelled. */
static void *serve (void *arg)
{
    struct storm *storm = arg;
    tied_request_t *request;

    while (tied_replica_next (storm->replica, TIED_NEVER, &request) == 0) {
        struct tied_call call = world_call (TIED_MODE_SINGLE, true);
        struct tied_reply reply;

        call.parent = request;
        if (tied_client_call (storm->client, &call, &reply) == 0)
            tied_reply_release (&reply);
        (void)!tied_request_reply (request, NULL, 0);
    }
    return NULL;
}

static void CL_05_cancels_from_above_meet_calls_from_below (void **state)
{
    enum {
        SERVERS = 3,
        ROUND = 3
    };
    const uint64_t rounds = check_scale (200);
    struct tied_replica_options replica_options;
    struct tied_client_options options;
    struct fake_replica *mute = fake_replica_new ("m", NULL, NULL);
    struct wire_client asker;
    pthread_t threads[SERVERS];
    struct storm storm = {0};
    (void)state;
    tied_replica_options_init (&replica_options);
    replica_options.id = "r";
    replica_options.service = TIED_SERVICE_PULL;
    replica_options.core.workers = SERVERS;
    storm.replica = tied_replica_new (&replica_options);
    CHECK_I64 (tied_replica_bind (storm.replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_start (storm.replica), ==, 0);
    tied_client_options_init (&options);
    storm.client = tied_client_new (&options);
    CHECK_I64 (tied_client_add_replica (storm.client, "m", mute->endpoint), ==, 0);
    CHECK_I64 (tied_client_start (storm.client), ==, 0);
    for (int i = 0; i < SERVERS; i++)
        CHECK_I64 (pthread_create (&threads[i], NULL, serve, &storm), ==, 0);
    wire_open (&asker, tied_replica_endpoint (storm.replica));
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint64_t i = 0; i < ROUND; i++) {
            struct tied_message message = wire_request (round * ROUND + i, 0, "work", "x", 1);
            wire_send (&asker, &message);
        }
        fake_replica_serve (mute);
        for (uint64_t i = 0; i < ROUND; i++) {
            struct tied_message cancel = wire_cancel (round * ROUND + i, TIED_CANCEL_CALLER);
            wire_send (&asker, &cancel);
        }
        wire_sync (&asker);
    }
    /* All of them end, although nobody ever answered a child. */
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    const tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;
    do {
        wire_sync (&asker);
        fake_replica_serve (mute);
        CHECK_I64 (tied_replica_stats (storm.replica, &stats), ==, 0);
        CHECK_U64 (ti_clock_now (), <, give_up);
    } while (stats.load.depth + stats.load.running > 0);
    CHECK_U64 (stats.core.received, ==, rounds * ROUND);
    CHECK_I64 (tied_replica_stop (storm.replica, CHECK_PATIENCE), ==, 0);
    for (int i = 0; i < SERVERS; i++)
        CHECK_I64 (pthread_join (threads[i], NULL), ==, 0);
    wire_close (&asker);
    tied_replica_destroy (&storm.replica);
    tied_client_destroy (&storm.client);
    fake_replica_destroy (&mute);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_child_inherits_deadline_trace_and_copies),
        cmocka_unit_test (what_a_child_says_itself_goes_before),
        cmocka_unit_test (a_chain_stops_where_no_copies_are_left),
        cmocka_unit_test (a_cancelled_request_cancels_its_children),
        cmocka_unit_test (CL_09_a_cancelled_request_takes_no_more_children),
        cmocka_unit_test (children_that_have_ended_give_their_place_back),
        cmocka_unit_test (a_failed_submit_and_an_answer_leave_nothing),
        cmocka_unit_test (an_answered_request_lets_its_children_go_on),
        cmocka_unit_test (CL_05_cancels_from_above_meet_calls_from_below),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
