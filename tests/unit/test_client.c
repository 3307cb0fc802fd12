/* SPDX-License-Identifier: MIT */
/* The client runtime against fake replicas: what calls put on the wire and what comes of answers.
 */
#include "client_world.h"

#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "base/util.h"

static void a_single_call_carries_body_and_details (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;
    struct fake_seen *seen;
    tied_time_t begin = ti_clock_now ();
    int marker = 0;

    (void)state;
    world_open (&world, 1, NULL);
    call.user = &marker;
    call.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    seen = fake_request (world.replicas[0], 0);
    CHECK_STR (seen->method, "work");
    CHECK_STR (seen->traceparent, call.traceparent);
    CHECK_U64 (seen->body_size, ==, 5);
    CHECK_MEM (seen->body, "hello", 5);
    CHECK_TRUE (seen->was_inline);
    CHECK_U64 (seen->copy, ==, 0);
    CHECK_U64 (seen->remaining_us, <=, call.timeout_ns / 1000);
    CHECK_U64 (seen->remaining_us + (ti_clock_now () - begin) / 1000 + 1, >=,
               call.timeout_ns / 1000);

    fake_reply (world.replicas[0], seen, 0, "answer", 6);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    CHECK_U64 (reply.body_size, ==, 6);
    CHECK_MEM (reply.body, "answer", 6);
    CHECK_PTR (reply.user, ==, &marker);
    CHECK_STR (reply.winner_id, "a");
    CHECK_U64 (reply.details.copies_sent, ==, 1);
    CHECK_U64 (reply.details.queue_ns, ==, US (7));
    CHECK_U64 (reply.details.service_ns, ==, US (11));
    CHECK_U64 (reply.details.latency_ns, >, 0);
    tied_reply_release (&reply);
    CHECK_PTR (reply.body, ==, NULL);
    tied_reply_release (&reply);
    world_close (&world);
}

static void an_application_error_keeps_its_status_and_body (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;

    (void)state;
    world_open (&world, 1, NULL);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 42, "no", 2);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_APP_ERROR);
    CHECK_U64 (reply.details.status, ==, 42);
    CHECK_MEM (reply.body, "no", 2);
    tied_reply_release (&reply);
    world_close (&world);
}

/* Both reply with an error that waits, of a size that has a frame of its own and of one that has
 * not; what arrives is the error of copy 0, whole, whichever came first. */
static void an_error_that_was_kept_arrives_with_its_body_when_all_fail (void **state)
{
    enum {
        SIZE = 100000
    };
    static unsigned char large[SIZE];
    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        large[i] = (unsigned char)(i * 7);
    for (uint32_t round = 0; round < 4; round++) {
        const uint32_t first = round % 2;
        const size_t sizes[2] = {round < 2 ? SIZE : 10, round < 2 ? 10 : SIZE};
        struct world world;
        struct tied_call call = world_call (TIED_MODE_TIED, true);
        struct tied_call_id id;
        struct tied_policy policy;
        struct tied_reply reply;
        uint32_t at[2];

        world_open (&world, 2, NULL);
        tied_policy_init (&policy);
        policy.waits_count = 1;
        policy.waits[0] = (struct tied_status_range){40, 49};
        CHECK_I64 (tied_client_set_policy (world.client, "*", &policy), ==, 0);
        call.stagger_ns = 0;
        CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
        WORLD_UNTIL (&world, world.replicas[0]->requests == 1 && world.replicas[1]->requests == 1);
        at[0] = fake_request (world.replicas[0], 0)->copy == 0 ? 0 : 1;
        at[1] = 1 - at[0];
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t copy = i == 0 ? first : 1 - first;
            struct fake_replica *replica = world.replicas[at[copy]];
            const uint32_t pings = replica->pings;
            fake_reply (replica, fake_request (replica, 0), 40 + copy, large, sizes[copy]);
            if (i == 0) {
                WORLD_UNTIL (&world, replica->pings > pings + 1);
                CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, TIED_ERR_TIMEOUT);
            }
        }
        WORLD_UNTIL (&world, world_stats (&world).core.calls_app_error == 1);
        CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_APP_ERROR);
        CHECK_U64 (reply.details.status, ==, 40);
        CHECK_U64 (reply.body_size, ==, sizes[0]);
        CHECK_MEM (reply.body, large, sizes[0]);
        CHECK_STR (reply.winner_id, world.replicas[at[0]]->id);
        tied_reply_release (&reply);
        world_close (&world);
    }
}

/* The kept body goes when the call ends in any other way: with a success, or without an answer. */
static void an_error_that_was_kept_gives_way_to_a_success_and_to_the_caller (void **state)
{
    (void)state;
    for (int is_cancelled = 0; is_cancelled < 2; is_cancelled++) {
        struct world world;
        struct tied_call call = world_call (TIED_MODE_TIED, true);
        struct tied_call_id id;
        struct tied_policy policy;
        struct tied_reply reply;

        world_open (&world, 2, NULL);
        tied_policy_init (&policy);
        policy.waits_count = 1;
        policy.waits[0] = (struct tied_status_range){40, 49};
        CHECK_I64 (tied_client_set_policy (world.client, "*", &policy), ==, 0);
        call.stagger_ns = 0;
        CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
        WORLD_UNTIL (&world, world.replicas[0]->requests == 1 && world.replicas[1]->requests == 1);
        fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 40, "error", 5);
        WORLD_UNTIL (&world, world_stats (&world).core.copies_failed == 1);
        if (is_cancelled)
            CHECK_I64 (tied_client_cancel (world.client, id), ==, 0);
        else
            fake_reply (world.replicas[1], fake_request (world.replicas[1], 0), 0, "fine", 4);
        WORLD_UNTIL (&world, tied_client_wait (world.client, id, 0, &reply) == 0);
        CHECK_U64 (reply.details.outcome, ==,
                   is_cancelled ? TIED_OUTCOME_CANCELLED : TIED_OUTCOME_OK);
        CHECK_U64 (reply.body_size, ==, is_cancelled ? 0 : 4);
        if (!is_cancelled)
            CHECK_MEM (reply.body, "fine", 4);
        tied_reply_release (&reply);
        world_close (&world);
    }
}

static void a_tied_call_sends_two_copies_that_name_each_other (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_call_id id;
    struct tied_reply reply;
    struct fake_seen *first;
    struct fake_seen *second;

    (void)state;
    world_open (&world, 2, NULL);
    call.stagger_ns = 0;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1 && world.replicas[1]->requests == 1);
    first = fake_request (world.replicas[0], 0);
    second = fake_request (world.replicas[1], 0);
    CHECK_TRUE (ti_call_id_equal (first->call, second->call));
    CHECK_U64 (first->copy + second->copy, ==, 1);
    CHECK_STR (first->sibling, "b");
    CHECK_STR (second->sibling, "a");
    CHECK_TRUE ((first->flags & second->flags & TIED_REQUEST_TIED) != 0);

    fake_reply (world.replicas[1], second, 0, "won", 3);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_STR (reply.winner_id, "b");
    CHECK_U64 (reply.details.copies_sent, ==, 2);
    CHECK_U64 (reply.details.not_sent, ==, TIED_NOT_SENT_NONE);
    tied_reply_release (&reply);
    world_close (&world);
}

static void a_hedged_call_gets_a_copy_elsewhere_and_takes_the_first_answer (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_policy policy;
    struct tied_reply reply;
    uint32_t first;

    (void)state;
    world_open (&world, 2, NULL);
    tied_policy_init (&policy);
    policy.extra_load_ppm = TIED_PPM; /* a budget begins empty, and this is the first call */
    CHECK_I64 (tied_client_set_policy (world.client, "*", &policy), ==, 0);
    call.hedge_ns = MS (2);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1 && world.replicas[1]->requests == 1);
    first = fake_request (world.replicas[0], 0)->copy == 0 ? 0 : 1;
    CHECK_U64 (fake_request (world.replicas[1 - first], 0)->copy, ==, 2);
    CHECK_U64 (fake_request (world.replicas[1 - first], 0)->flags, ==, TIED_REQUEST_IDEMPOTENT);

    fake_reply (world.replicas[1 - first], fake_request (world.replicas[1 - first], 0), 0, "won",
                3);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.winner_copy, ==, 2);
    CHECK_U64 (reply.details.hedge_not_sent, ==, TIED_NOT_SENT_NONE);
    CHECK_U64 (world_stats (&world).core.wins_hedged, ==, 1);
    WORLD_UNTIL (&world, world.replicas[first]->cancels == 1);
    CHECK_U64 (fake_cancel (world.replicas[first], 0)->reason, ==, TIED_CANCEL_WON);
    tied_reply_release (&reply);
    world_close (&world);
}

static void CL_20_undeclared_means_exactly_one_frame (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_TIED, false);
    struct tied_call_id id;
    struct tied_reply reply;
    struct fake_replica *served;

    (void)state;
    world_open (&world, 2, NULL);
    call.stagger_ns = 0;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests + world.replicas[1]->requests > 0);
    world_flush (&world);
    CHECK_U64 (world.replicas[0]->requests + world.replicas[1]->requests, ==, 1);
    served = world.replicas[world.replicas[0]->requests == 1 ? 0 : 1];
    CHECK_U64 (fake_request (served, 0)->flags & TIED_REQUEST_TIED, ==, 0);
    fake_reply (served, fake_request (served, 0), 0, NULL, 0);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.not_sent, ==, TIED_NOT_SENT_NOT_IDEMPOTENT);
    CHECK_PTR (reply.body, ==, NULL);
    CHECK_U64 (reply.body_size, ==, 0);
    tied_reply_release (&reply);
    world_close (&world);
}

static void CL_09_cancel_before_anything_was_sent_leaves_the_wire_empty (void **state)
{
    struct world world;
    struct tied_client_options options;
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_call_id id;
    struct tied_reply reply;
    struct fake_replica *replica = fake_replica_new ("a", NULL, NULL);

    (void)state;
    memset (&world, 0, sizeof world);
    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    world.client = tied_client_new (&options);
    CHECK_I64 (tied_client_add_replica (world.client, "a", replica->endpoint), ==, 0);
    CHECK_I64 (tied_client_start (world.client), ==, 0);
    /* The replica has not greeted, so there is nowhere to send to. */
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    CHECK_I64 (tied_client_cancel (world.client, id), ==, 0);
    CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_CANCELLED);
    CHECK_U64 (reply.details.copies_sent, ==, 0);
    CHECK_FALSE (reply.details.may_have_executed);
    tied_reply_release (&reply);

    world.replicas[0] = replica;
    world.count = 1;
    WORLD_UNTIL (&world, tied_client_wait_ready (world.client, 1, 0) == 0);
    world_flush (&world);
    CHECK_U64 (replica->requests, ==, 0);
    CHECK_U64 (replica->cancels, ==, 0);
    world_close (&world);
}

static void cancel_of_a_live_call_tells_the_replica_why (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;

    (void)state;
    world_open (&world, 1, NULL);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    CHECK_I64 (tied_client_cancel (world.client, id), ==, 0);
    CHECK_I64 (tied_client_cancel (world.client, id), ==, 0); /* ended: harmless */
    CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_CANCELLED);
    CHECK_I64 (tied_client_cancel (world.client, id), ==, TIED_ERR_ABSENT);
    WORLD_UNTIL (&world, world.replicas[0]->cancels == 1);
    CHECK_U64 (fake_cancel (world.replicas[0], 0)->reason, ==, TIED_CANCEL_CALLER);
    world_close (&world);
}

static void CL_17_a_late_reply_reaches_no_other_call (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id ids[2];
    struct tied_reply reply;

    (void)state;
    world_open (&world, 1, NULL);
    call.timeout_ns = MS (5);
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[0]), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    CHECK_I64 (tied_client_wait (world.client, ids[0], CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_DEADLINE);
    tied_reply_release (&reply);

    call.timeout_ns = CHECK_PATIENCE;
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[1]), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 2);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, "old", 3);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 1), 0, "new", 3);
    CHECK_I64 (tied_client_wait (world.client, ids[1], CHECK_PATIENCE, &reply), ==, 0);
    CHECK_MEM (reply.body, "new", 3);
    tied_reply_release (&reply);
    CHECK_U64 (world_stats (&world).core.late_replies, ==, 1);
    world_close (&world);
}

static void CL_10_a_large_reply_arrives_whole_and_its_sender_is_not_cancelled (void **state)
{
    enum {
        SIZE = 8 << 20
    };
    struct world world;
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_call_id id;
    struct tied_reply reply;
    unsigned char *body = malloc (SIZE);
    struct fake_seen *won;

    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        body[i] = (unsigned char)(i * 31 >> 3);
    world_open (&world, 2, NULL);
    call.stagger_ns = 0;
    call.body = body;
    call.body_size = SIZE;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1 && world.replicas[1]->requests == 1);
    won = fake_request (world.replicas[0], 0);
    CHECK_FALSE (won->was_inline);
    CHECK_U64 (won->body_size, ==, SIZE);
    CHECK_MEM (won->body, body, SIZE);
    fake_reply (world.replicas[0], won, 0, body, SIZE);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.body_size, ==, SIZE);
    CHECK_MEM (reply.body, body, SIZE);
    world_flush (&world);
    CHECK_U64 (world.replicas[0]->cancels, ==, 0);
    tied_reply_release (&reply);
    free (body);
    world_close (&world);
}

static void a_body_over_the_limit_is_refused_at_submit_and_nothing_is_sent (void **state)
{
    struct world world;
    struct tied_client_options options;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id = {1, 1};
    struct tied_reply reply = {.body_size = 99};
    char body[101] = {0};

    (void)state;
    tied_client_options_init (&options);
    options.body_max = 100;
    world_open (&world, 1, &options);
    call.body = body;
    call.body_size = 101;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, TIED_ERR_TOOBIG);
    CHECK_I64 (tied_client_call (world.client, &call, &reply), ==, TIED_ERR_TOOBIG);
    CHECK_U64 (id.epoch, ==, 1);
    CHECK_U64 (reply.body_size, ==, 99);
    CHECK_U64 (world_stats (&world).core.submitted, ==, 0);

    call.body_size = 100;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, body, 100);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.body_size, ==, 100);
    tied_reply_release (&reply);
    world_close (&world);
}

static void a_reply_over_the_limit_ends_its_call_at_once_as_executed (void **state)
{
    static const size_t sizes[] = {101, 5000}; /* beside the header, and in a frame of its own */
    struct world world;
    struct tied_client_options options;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;
    char body[5000] = {0};

    (void)state;
    tied_client_options_init (&options);
    options.body_max = 100;
    world_open (&world, 1, &options);
    call.timeout_ns = TIED_NEVER;
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
        WORLD_UNTIL (&world, world.replicas[0]->requests == i + 1);
        fake_reply (world.replicas[0], fake_request (world.replicas[0], i), 0, body, sizes[i]);
        CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_APP_ERROR);
        CHECK_U64 (reply.details.status, ==, TIED_STATUS_REPLY_TOO_LARGE);
        CHECK_TRUE (reply.details.may_have_executed);
        CHECK_STR (reply.winner_id, "a");
        CHECK_U64 (reply.body_size, ==, 0);
        tied_reply_release (&reply);
    }
    CHECK_U64 (world_stats (&world).oversized, ==, 2);
    CHECK_U64 (world_stats (&world).core.calls_app_error, ==, 2);
    /* The link lives. */
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 3);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 2), 0, body, 100);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    tied_reply_release (&reply);
    world_close (&world);
}

/* Replicas that say by a further WELCOME how long a body may be. */
static void open_with_limits (struct world *world, const uint32_t *limits, uint32_t count)
{
    world_open (world, count, NULL);
    for (uint32_t i = 0; i < count; i++) {
        world->replicas[i]->body_max = limits[i];
        fake_welcome (world->replicas[i]);
    }
    world_flush (world);
}

static void ZQ_12_a_body_over_the_replicas_limit_is_not_sent (void **state)
{
    static const uint32_t limits[] = {4};
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;

    (void)state;
    open_with_limits (&world, limits, 1);
    CHECK_I64 (tied_client_call (world.client, &call, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_INVALID);
    CHECK_U64 (reply.details.reject, ==, TIED_REJECT_TOO_LARGE);
    CHECK_FALSE (reply.details.may_have_executed);
    tied_reply_release (&reply);
    world_flush (&world);
    CHECK_U64 (world.replicas[0]->requests, ==, 0);
    CHECK_U64 (world_stats (&world).copies_too_large, ==, 1);
    CHECK_U64 (world_stats (&world).core.copies_rejected, ==, 1);
    /* What fits goes out. */
    call.body_size = 4;
    CHECK_I64 (tied_client_submit (world.client, &call, NULL), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    world_close (&world);
}

static void a_replica_that_takes_larger_bodies_gets_the_tied_call (void **state)
{
    static const uint32_t limits[2][2] = {{4, 5}, {5, 4}};

    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        struct world world;
        struct tied_call call = world_call (TIED_MODE_TIED, true);
        struct tied_call_id id;
        struct tied_reply reply;
        struct fake_replica *large;

        open_with_limits (&world, limits[round % 2], 2);
        large = world.replicas[round % 2 == 0 ? 1 : 0];
        call.stagger_ns = round < 2 ? 0 : S (3600);
        CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
        WORLD_UNTIL (&world, large->requests == 1);
        CHECK_U64 (world.replicas[0]->requests + world.replicas[1]->requests, ==, 1);
        fake_reply (large, fake_request (large, 0), 0, "yes", 3);
        CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
        CHECK_STR (reply.winner_id, large->id);
        tied_reply_release (&reply);
        world_close (&world);
    }
}

static void CL_23_calls_over_the_limit_are_refused_until_one_is_collected (void **state)
{
    struct world world;
    struct tied_client_options options;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id ids[3];
    struct tied_reply reply;

    (void)state;
    tied_client_options_init (&options);
    options.core.calls_max = 2;
    world_open (&world, 1, &options);
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[0]), ==, 0);
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[1]), ==, 0);
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[2]), ==, TIED_ERR_FULL);
    CHECK_I64 (tied_client_cancel (world.client, ids[0]), ==, 0);
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[2]), ==, TIED_ERR_FULL);
    CHECK_I64 (tied_client_wait (world.client, ids[0], 0, &reply), ==, 0);
    tied_reply_release (&reply);
    CHECK_I64 (tied_client_submit (world.client, &call, &ids[2]), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 3);
    world_close (&world);
}

static void a_wait_that_times_out_leaves_the_call_alone (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;

    (void)state;
    world_open (&world, 1, NULL);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    CHECK_I64 (tied_client_wait (world.client, id, MS (1), &reply), ==, TIED_ERR_TIMEOUT);
    CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, TIED_ERR_TIMEOUT);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, NULL, 0);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    tied_reply_release (&reply);
    CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, TIED_ERR_ABSENT);

    call.to_queue = true;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, TIED_ERR_STATE);
    world_close (&world);
}

static void the_queue_delivers_in_the_order_of_completion (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;
    int marks[3] = {0, 1, 2};

    (void)state;
    world_open (&world, 1, NULL);
    call.to_queue = true;
    for (int i = 0; i < 3; i++) {
        call.user = &marks[i];
        CHECK_I64 (tied_client_submit (world.client, &call, NULL), ==, 0);
    }
    CHECK_I64 (tied_client_next (world.client, 0, &reply), ==, TIED_ERR_TIMEOUT);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 3);
    for (uint32_t i = 3; i-- > 0;)
        fake_reply (world.replicas[0], fake_request (world.replicas[0], i), 0, "x", 1);
    for (int i = 3; i-- > 0;) {
        CHECK_I64 (tied_client_next (world.client, CHECK_PATIENCE, &reply), ==, 0);
        CHECK_PTR (reply.user, ==, &marks[i]);
        tied_reply_release (&reply);
    }
    world_close (&world);
}

/* Each kind of nonsense rises one counter by one, and the connection goes on. */
static void CL_12_nonsense_from_a_replica_is_counted_and_harmless (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;
    struct tied_message message;
    static const unsigned char bad[] = {0x93, 0xff, 0xff, 0xff, 0xff};
    const void *frames[3] = {bad, bad, bad};
    const size_t sizes[3] = {sizeof bad, sizeof bad, sizeof bad};
    const size_t empty[1] = {0};
    unsigned char header[TIED_WIRE_HEADER_MAX];
    int size;

    (void)state;
    world_open (&world, 1, NULL);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);

    fake_send_frames (world.replicas[0], 1, frames, sizes);
    fake_send_frames (world.replicas[0], 1, frames, empty);
    WORLD_UNTIL (&world, world_stats (&world).malformed == 2);
    fake_send_frames (world.replicas[0], 3, frames, sizes);
    WORLD_UNTIL (&world, world_stats (&world).multipart == 1);

    memset (&message, 0, sizeof message);
    message.type = TIED_WIRE_CANCEL;
    message.u.cancel.call = id;
    message.u.cancel.reason = TIED_CANCEL_CALLER;
    fake_send (world.replicas[0], &message);
    WORLD_UNTIL (&world, world_stats (&world).misdirected == 1);
    /* A body frame where none belongs, and none where one belongs. */
    size = tied_wire_encode (&message, header, sizeof header);
    frames[0] = header;
    fake_send_frames (world.replicas[0], 2, frames, (size_t[2]){(size_t)size, sizeof bad});
    memset (&message, 0, sizeof message);
    message.type = TIED_WIRE_REPLY;
    message.u.reply.call = id;
    message.u.reply.body_follows = true;
    size = tied_wire_encode (&message, header, sizeof header);
    fake_send_frames (world.replicas[0], 1, frames, (size_t[1]){(size_t)size});
    WORLD_UNTIL (&world, world_stats (&world).multipart == 3);

    message.u.reply.body_follows = false;
    message.u.reply.call.epoch++;
    fake_send (world.replicas[0], &message);
    message.u.reply.call.epoch--;
    message.u.reply.copy = 200;
    fake_send (world.replicas[0], &message);
    WORLD_UNTIL (&world, world_stats (&world).core.foreign_replies +
                                 world_stats (&world).core.late_replies +
                                 world_stats (&world).malformed >=
                             4);
    CHECK_I64 (tied_client_wait (world.client, id, 0, &reply), ==, TIED_ERR_TIMEOUT);

    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, "fine", 4);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_MEM (reply.body, "fine", 4);
    tied_reply_release (&reply);
    world_close (&world);
}

static void a_refusal_ends_a_single_call_with_its_reason (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;

    (void)state;
    world_open (&world, 1, NULL);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    fake_reject (world.replicas[0], fake_request (world.replicas[0], 0),
                 TIED_REJECT_UNKNOWN_METHOD);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_UNIMPLEMENTED);
    CHECK_U64 (reply.details.reject, ==, TIED_REJECT_UNKNOWN_METHOD);
    tied_reply_release (&reply);
    world_close (&world);
}

static void a_call_is_sent_again_when_its_replica_is_lost (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;
    uint32_t lost;

    (void)state;
    world_open (&world, 2, NULL);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests + world.replicas[1]->requests == 1);
    lost = world.replicas[0]->requests == 1 ? 0 : 1;
    fake_replica_destroy (&world.replicas[lost]);
    world.replicas[0] = world.replicas[1 - lost];
    world.count = 1;
    if (lost == 0)
        world.replicas[1] = NULL;
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    CHECK_U64 (fake_request (world.replicas[0], 0)->copy, >=, 2);
    CHECK_TRUE ((fake_request (world.replicas[0], 0)->flags & TIED_REQUEST_REISSUE) != 0);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, "again", 5);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    tied_reply_release (&reply);
    world_close (&world);
}

static void zones_are_named_and_the_copies_of_a_call_go_to_two (void **state)
{
    struct world world;
    struct tied_client_replica seen[4];
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_reply reply;
    struct tied_call_id id;

    (void)state;
    world_open (&world, 4, NULL);
    CHECK_I64 (tied_client_set_zone (world.client, "a", "north"), ==, 0);
    CHECK_I64 (tied_client_set_zone (world.client, "b", "north"), ==, 0);
    CHECK_I64 (tied_client_set_zone (world.client, "c", "south"), ==, 0);
    CHECK_I64 (tied_client_set_zone (world.client, "d", "north"), ==, 0);
    CHECK_I64 (tied_client_set_zone (world.client, "e", "north"), ==, TIED_ERR_ABSENT);
    CHECK_I64 (tied_client_set_zone (world.client, "a", ""), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_set_zone (world.client, NULL, "north"), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_set_zone (NULL, "a", "north"), ==, TIED_ERR_INVAL);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_I64 (tied_client_replica (world.client, world.replicas[i]->id, &seen[i]), ==, 0);
    CHECK_U64 (seen[0].zone, !=, 0);
    CHECK_U64 (seen[0].zone, ==, seen[1].zone);
    CHECK_U64 (seen[0].zone, !=, seen[2].zone);
    call.stagger_ns = 0;
    for (uint32_t n = 0; n < 10; n++) {
        const uint32_t before = world.replicas[2]->requests;
        CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
        WORLD_UNTIL (&world, world.replicas[2]->requests == before + 1);
        fake_reply (world.replicas[2], fake_request (world.replicas[2], before), 0, NULL, 0);
        WORLD_UNTIL (&world, tied_client_wait (world.client, id, 0, &reply) == 0);
        tied_reply_release (&reply);
    }
    CHECK_I64 (tied_client_set_zone (world.client, "a", NULL), ==, 0);
    CHECK_I64 (tied_client_replica (world.client, "a", &seen[0]), ==, 0);
    CHECK_U64 (seen[0].zone, ==, 0);
    world_close (&world);
}

/* Two clients that were told of them in another order. */
static void calls_with_one_affinity_go_to_one_replica_from_every_client (void **state)
{
    struct world worlds[2];
    struct tied_client_options options;
    char winners[2][8][TIED_NAME_MAX + 1];

    (void)state;
    tied_client_options_init (&options);
    options.core.pick = TIED_PICK_AFFINITY;
    for (uint32_t w = 0; w < 2; w++) {
        struct world *world = &worlds[w];
        memset (world, 0, sizeof *world);
        options.drive = TIED_DRIVE_CALLER;
        world->client = tied_client_new (&options);
        world->count = 3;
        for (uint32_t i = 0; i < 3; i++) {
            const char *const name = (const char *[]){"x", "y", "z"}[w ? 2 - i : i];
            world->replicas[i] = fake_replica_new (name, NULL, NULL);
            world->replicas[i]->does_echo = true;
            CHECK_I64 (tied_client_add_replica (world->client, name, world->replicas[i]->endpoint),
                       ==, 0);
        }
        CHECK_I64 (tied_client_start (world->client), ==, 0);
        WORLD_UNTIL (world, tied_client_wait_ready (world->client, 3, 0) == 0);
        for (uint32_t n = 0; n < 16; n++) {
            struct tied_call call = world_call (TIED_MODE_SINGLE, true);
            struct tied_call_id id;
            struct tied_reply reply;
            call.affinity = 1 + n % 8;
            CHECK_I64 (tied_client_submit (world->client, &call, &id), ==, 0);
            WORLD_UNTIL (world, tied_client_wait (world->client, id, 0, &reply) == 0);
            if (n >= 8)
                CHECK_STR (winners[w][n % 8], reply.winner_id);
            strcpy (winners[w][n % 8], reply.winner_id);
            tied_reply_release (&reply);
        }
        world_close (world);
    }
    uint32_t others = 0;
    for (uint32_t key = 0; key < 8; key++) {
        CHECK_STR (winners[0][key], winners[1][key]);
        others += strcmp (winners[0][key], winners[0][0]) != 0;
    }
    CHECK_U64 (others, >, 0);
}

static void a_replica_with_another_name_is_never_used (void **state)
{
    struct world world;
    struct tied_client_options options;
    struct tied_client_replica seen;

    (void)state;
    memset (&world, 0, sizeof world);
    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    world.client = tied_client_new (&options);
    world.replicas[0] = fake_replica_new ("other", NULL, NULL);
    world.count = 1;
    CHECK_I64 (tied_client_add_replica (world.client, "a", world.replicas[0]->endpoint), ==, 0);
    CHECK_I64 (tied_client_start (world.client), ==, 0);
    WORLD_UNTIL (&world, tied_client_replica (world.client, "a", &seen) == 0 &&
                             seen.state == TIED_REPLICA_MISNAMED);
    CHECK_I64 (tied_client_wait_ready (world.client, 1, MS (1)), ==, TIED_ERR_TIMEOUT);
    world_close (&world);
}

static void no_replica_listens_and_the_call_ends_by_its_deadline (void **state)
{
    struct tied_client_options options;
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_reply reply;
    tied_time_t begin = ti_clock_now ();
    tied_client_t *client;

    (void)state;
    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    client = tied_client_new (&options);
    CHECK_I64 (tied_client_add_replica (client, "a", "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    call.timeout_ns = MS (20);
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
    CHECK_TRUE (reply.details.outcome == TIED_OUTCOME_UNAVAILABLE ||
                reply.details.outcome == TIED_OUTCOME_DEADLINE);
    CHECK_FALSE (reply.details.may_have_executed);
    CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    tied_reply_release (&reply);
    tied_client_destroy (&client);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_single_call_carries_body_and_details),
        cmocka_unit_test (an_application_error_keeps_its_status_and_body),
        cmocka_unit_test (an_error_that_was_kept_arrives_with_its_body_when_all_fail),
        cmocka_unit_test (an_error_that_was_kept_gives_way_to_a_success_and_to_the_caller),
        cmocka_unit_test (a_tied_call_sends_two_copies_that_name_each_other),
        cmocka_unit_test (a_hedged_call_gets_a_copy_elsewhere_and_takes_the_first_answer),
        cmocka_unit_test (CL_20_undeclared_means_exactly_one_frame),
        cmocka_unit_test (CL_09_cancel_before_anything_was_sent_leaves_the_wire_empty),
        cmocka_unit_test (cancel_of_a_live_call_tells_the_replica_why),
        cmocka_unit_test (CL_17_a_late_reply_reaches_no_other_call),
        cmocka_unit_test (CL_10_a_large_reply_arrives_whole_and_its_sender_is_not_cancelled),
        cmocka_unit_test (a_body_over_the_limit_is_refused_at_submit_and_nothing_is_sent),
        cmocka_unit_test (a_reply_over_the_limit_ends_its_call_at_once_as_executed),
        cmocka_unit_test (ZQ_12_a_body_over_the_replicas_limit_is_not_sent),
        cmocka_unit_test (a_replica_that_takes_larger_bodies_gets_the_tied_call),
        cmocka_unit_test (CL_23_calls_over_the_limit_are_refused_until_one_is_collected),
        cmocka_unit_test (a_wait_that_times_out_leaves_the_call_alone),
        cmocka_unit_test (the_queue_delivers_in_the_order_of_completion),
        cmocka_unit_test (CL_12_nonsense_from_a_replica_is_counted_and_harmless),
        cmocka_unit_test (a_refusal_ends_a_single_call_with_its_reason),
        cmocka_unit_test (a_call_is_sent_again_when_its_replica_is_lost),
        cmocka_unit_test (zones_are_named_and_the_copies_of_a_call_go_to_two),
        cmocka_unit_test (calls_with_one_affinity_go_to_one_replica_from_every_client),
        cmocka_unit_test (a_replica_with_another_name_is_never_used),
        cmocka_unit_test (no_replica_listens_and_the_call_ends_by_its_deadline),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
