/* SPDX-License-Identifier: MIT */
/*
 * Errors that wait, between a client and two replicas that are peers of each other, all real: what
 * the sibling was told before the client hears of the error must not cost the call its answer.
 */
#include "check.h"
#include "zmq/clock.h"

#include <tied/client.h>
#include <tied/replica.h>

#define WAITS 50

struct scene {
    tied_replica_t *replicas[2];
    tied_client_t *client;
};

static tied_replica_t *open_one (const char *id)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = id;
    options.service = TIED_SERVICE_PULL;
    replica = tied_replica_new (&options);
    CHECK_TRUE (replica != NULL);
    CHECK_I64 (tied_replica_bind (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_bind_peers (replica, "tcp://127.0.0.1:*"), ==, 0);
    return replica;
}

static struct tied_peer_stats peer_of (tied_replica_t *replica, const char *id)
{
    struct tied_peer_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_peer_stats (replica, id, &stats), ==, 0);
    return stats;
}

static void open_scene (struct scene *scene)
{
    static const char *const ids[2] = {"a", "b"};
    struct tied_client_options options;
    struct tied_policy policy;
    const tied_time_t until = ti_clock_now () + CHECK_PATIENCE;

    for (int i = 0; i < 2; i++)
        scene->replicas[i] = open_one (ids[i]);
    for (int i = 0; i < 2; i++) {
        CHECK_I64 (tied_replica_add_peer (scene->replicas[i], ids[1 - i],
                                          tied_replica_peer_endpoint (scene->replicas[1 - i])),
                   ==, 0);
        CHECK_I64 (tied_replica_start (scene->replicas[i]), ==, 0);
    }
    for (int i = 0; i < 2; i++)
        while (!peer_of (scene->replicas[i], ids[1 - i]).is_up)
            CHECK_U64 (ti_clock_now (), <, until);
    tied_client_options_init (&options);
    scene->client = tied_client_new (&options);
    CHECK_TRUE (scene->client != NULL);
    for (int i = 0; i < 2; i++)
        CHECK_I64 (tied_client_add_replica (scene->client, ids[i],
                                            tied_replica_endpoint (scene->replicas[i])),
                   ==, 0);
    CHECK_I64 (tied_client_start (scene->client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (scene->client, 2, CHECK_PATIENCE), ==, 0);
    tied_policy_init (&policy);
    policy.extra_load_ppm = TIED_PPM;
    policy.waits_count = 1;
    policy.waits[0] = (struct tied_status_range){WAITS, WAITS};
    CHECK_I64 (tied_client_set_policy (scene->client, "*", &policy), ==, 0);
}

static void close_scene (struct scene *scene)
{
    tied_client_destroy (&scene->client);
    for (int i = 0; i < 2; i++)
        tied_replica_destroy (&scene->replicas[i]);
}

/* The next request at either; returns whose. */
static int take (struct scene *scene, tied_request_t **out)
{
    const tied_time_t until = ti_clock_now () + CHECK_PATIENCE;

    for (int i = 0;; i = 1 - i) {
        CHECK_U64 (ti_clock_now (), <, until);
        if (tied_replica_next (scene->replicas[i], MS (1), out) == 0)
            return i;
    }
}

static void CL_25_the_sibling_answers_though_it_was_told_to_drop_its_copy (void **state)
{
    struct scene scene;
    struct tied_call call;
    struct tied_call_id id;
    struct tied_reply reply;
    tied_request_t *request = NULL;
    const tied_time_t until = ti_clock_now () + CHECK_PATIENCE;

    (void)state;
    open_scene (&scene);
    tied_call_init (&call, "work", "x", 1);
    call.mode = TIED_MODE_TIED;
    call.is_idempotent = true;
    call.stagger_ns = S (3600);
    call.timeout_ns = CHECK_SOON;
    CHECK_I64 (tied_client_submit (scene.client, &call, &id), ==, 0);
    const int first = take (&scene, &request);
    while (peer_of (scene.replicas[1 - first], first ? "b" : "a").started_received == 0)
        CHECK_U64 (ti_clock_now (), <, until);
    CHECK_I64 (tied_request_fail (request, WAITS, "no", 2), ==, 0);
    CHECK_I64 (tied_replica_next (scene.replicas[1 - first], CHECK_SOON, &request), ==, 0);
    CHECK_I64 (tied_request_reply (request, "yes", 3), ==, 0);
    CHECK_I64 (tied_client_wait (scene.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    CHECK_STR (reply.winner_id, first ? "a" : "b");
    CHECK_MEM (reply.body, "yes", 3);
    CHECK_U64 (reply.details.copies_sent, ==, 2);
    tied_reply_release (&reply);
    close_scene (&scene);
}

/* Its copy waited there and was dropped: the error is all that comes, at once. */
static void an_error_is_not_awaited_where_the_sibling_has_dropped_its_copy (void **state)
{
    struct scene scene;
    struct tied_call call;
    struct tied_call_id id;
    struct tied_reply reply;
    tied_request_t *request = NULL;
    const tied_time_t until = ti_clock_now () + CHECK_PATIENCE;

    (void)state;
    open_scene (&scene);
    tied_call_init (&call, "work", "x", 1);
    call.mode = TIED_MODE_TIED;
    call.is_idempotent = true;
    call.stagger_ns = 0;
    call.timeout_ns = CHECK_PATIENCE;
    CHECK_I64 (tied_client_submit (scene.client, &call, &id), ==, 0);
    for (int i = 0; i < 2; i++) {
        struct tied_replica_stats stats = {.struct_size = sizeof stats};
        do {
            CHECK_U64 (ti_clock_now (), <, until);
            CHECK_I64 (tied_replica_stats (scene.replicas[i], &stats), ==, 0);
        } while (stats.core.received == 0);
    }
    const int first = take (&scene, &request);
    while (peer_of (scene.replicas[1 - first], first ? "b" : "a").started_received == 0)
        CHECK_U64 (ti_clock_now (), <, until);
    CHECK_I64 (tied_request_fail (request, WAITS, "no", 2), ==, 0);
    CHECK_I64 (tied_client_wait (scene.client, id, CHECK_SOON, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_APP_ERROR);
    CHECK_U64 (reply.details.status, ==, WAITS);
    CHECK_MEM (reply.body, "no", 2);
    CHECK_TRUE (reply.details.is_kept);
    tied_reply_release (&reply);
    close_scene (&scene);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (CL_25_the_sibling_answers_though_it_was_told_to_drop_its_copy),
        cmocka_unit_test (an_error_is_not_awaited_where_the_sibling_has_dropped_its_copy),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
