/* SPDX-License-Identifier: MIT */
/*
 * Requests with idempotency keys at a replica in this process (PULL), spoken by hand: one thread
 * sends, serves and looks at the answers, the replica's own thread receives.
 */
#include "wire_client.h"

#include <tied/replica.h>

struct scene {
    tied_replica_t *replica;
    struct wire_client first, second;
};

static void open_with (struct scene *scene, const struct tied_replica_options *options)
{
    memset (scene, 0, sizeof *scene);
    scene->replica = tied_replica_new (options);
    CHECK_TRUE (scene->replica != NULL);
    CHECK_I64 (tied_replica_bind (scene->replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_start (scene->replica), ==, 0);
    wire_open (&scene->first, tied_replica_endpoint (scene->replica));
    wire_open (&scene->second, tied_replica_endpoint (scene->replica));
}

static struct tied_replica_options options_of (void)
{
    struct tied_replica_options options;

    tied_replica_options_init (&options);
    options.id = "r";
    options.service = TIED_SERVICE_PULL;
    options.core.workers = 1;
    return options;
}

static void open_scene (struct scene *scene)
{
    const struct tied_replica_options options = options_of ();

    open_with (scene, &options);
}

static void close_scene (struct scene *scene)
{
    wire_close (&scene->first);
    wire_close (&scene->second);
    tied_replica_destroy (&scene->replica);
}

static void send_keyed (struct wire_client *client,
                        uint64_t sequence,
                        const char *method,
                        const char *key,
                        const char *body)
{
    struct tied_message message = wire_request (sequence, 0, method, body, strlen (body));

    message.u.request.key = (struct tied_view){key, strlen (key)};
    wire_send (client, &message);
}

static tied_request_t *take (struct scene *scene)
{
    tied_request_t *request = NULL;

    CHECK_I64 (tied_replica_next (scene->replica, CHECK_PATIENCE, &request), ==, 0);
    return request;
}

/* Nothing waits to be served. */
static void expect_idle (struct scene *scene)
{
    tied_request_t *request = NULL;

    wire_sync (&scene->first);
    wire_sync (&scene->second);
    CHECK_I64 (tied_replica_next (scene->replica, 0, &request), ==, TIED_ERR_TIMEOUT);
}

static struct tied_replica_stats stats_of (const struct scene *scene)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_stats (scene->replica, &stats), ==, 0);
    return stats;
}

static void
expect_reply (struct wire_client *client, uint64_t sequence, const char *body, uint32_t flags)
{
    wire_expect (client, TIED_WIRE_REPLY);
    CHECK_U64 (client->in.u.reply.call.sequence, ==, sequence);
    CHECK_U64 (client->in.u.reply.flags, ==, flags);
    CHECK_U64 (client->body_size, ==, strlen (body));
    CHECK_MEM (client->body, body, strlen (body));
}

static void reply_text (tied_request_t *request, const char *text)
{
    CHECK_I64 (tied_request_reply (request, text, strlen (text)), ==, 0);
}

/* One run with this key, answered with `one`. */
static void run_once (struct scene *scene)
{
    send_keyed (&scene->first, 1, "m", "k", "body");
    reply_text (take (scene), "one");
    expect_reply (&scene->first, 1, "one", 0);
}

static void a_repeated_key_is_answered_without_a_run (void **state)
{
    struct scene scene;
    size_t size;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    CHECK_MEM (tied_request_key (request, &size), "k", 1);
    CHECK_U64 (size, ==, 1);
    reply_text (request, "one");
    expect_reply (&scene.first, 1, "one", 0);
    send_keyed (&scene.first, 2, "m", "k", "body");
    expect_reply (&scene.first, 2, "one", TIED_REPLY_REPEATED);
    send_keyed (&scene.second, 3, "m", "k", "body");
    expect_reply (&scene.second, 3, "one", TIED_REPLY_REPEATED);
    expect_idle (&scene);
    CHECK_U64 (stats_of (&scene).core.received, ==, 1);
    CHECK_U64 (stats_of (&scene).results_hit, ==, 2);
    CHECK_U64 (stats_of (&scene).results_stored, ==, 1);
    close_scene (&scene);
}

static void another_method_or_key_or_none_runs (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    run_once (&scene);
    send_keyed (&scene.first, 2, "n", "k", "body");
    reply_text (take (&scene), "two");
    expect_reply (&scene.first, 2, "two", 0);
    send_keyed (&scene.first, 3, "m", "l", "body");
    reply_text (take (&scene), "three");
    expect_reply (&scene.first, 3, "three", 0);
    struct tied_message plain = wire_request (4, 0, "m", "body", 4);
    wire_send (&scene.first, &plain);
    reply_text (take (&scene), "four");
    expect_reply (&scene.first, 4, "four", 0);
    close_scene (&scene);
}

static void RQ_22_a_key_with_another_body_is_an_error_and_never_answered (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "other"); /* while it runs */
    expect_reply (&scene.second, 2, "", 0);
    CHECK_U64 (scene.second.in.u.reply.status, ==, TIED_STATUS_KEY_REUSED);
    reply_text (request, "one");
    expect_reply (&scene.first, 1, "one", 0);
    send_keyed (&scene.second, 3, "m", "k", "other"); /* and afterwards */
    expect_reply (&scene.second, 3, "", 0);
    CHECK_U64 (scene.second.in.u.reply.status, ==, TIED_STATUS_KEY_REUSED);
    expect_idle (&scene);
    CHECK_U64 (stats_of (&scene).results_reused, ==, 2);
    close_scene (&scene);
}

static void a_key_that_comes_while_the_first_runs_gets_its_result (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.first, 2, "m", "k", "body");
    send_keyed (&scene.second, 3, "m", "k", "body");
    wire_sync (&scene.second);
    wire_sync (&scene.first);
    CHECK_U64 (stats_of (&scene).results_waited, ==, 2);
    CHECK_U64 (stats_of (&scene).core.received, ==, 1);
    reply_text (request, "one");
    expect_reply (&scene.first, 1, "one", 0);
    expect_reply (&scene.first, 2, "one", TIED_REPLY_REPEATED);
    expect_reply (&scene.second, 3, "one", TIED_REPLY_REPEATED);
    expect_idle (&scene);
    close_scene (&scene);
}

/* The first waits in the queue and is cancelled there: one of those set aside takes its place. */
static void when_the_first_leaves_without_a_run_the_next_one_runs (void **state)
{
    struct scene scene;
    struct tied_message cancel = wire_cancel (1, TIED_CANCEL_CALLER);
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.second, 100, "m", "other", "");
    tied_request_t *blocker = take (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    wire_sync (&scene.first);
    send_keyed (&scene.second, 2, "m", "k", "body");
    send_keyed (&scene.second, 3, "m", "k", "body");
    wire_sync (&scene.second);
    CHECK_U64 (stats_of (&scene).results_waited, ==, 2);
    wire_send (&scene.first, &cancel);
    wire_sync (&scene.first);
    reply_text (blocker, "free");
    expect_reply (&scene.second, 100, "free", 0);
    tied_request_t *request = take (&scene);
    CHECK_U64 (tied_request_call (request).sequence, ==, 2);
    reply_text (request, "two");
    expect_reply (&scene.second, 2, "two", 0);
    expect_reply (&scene.second, 3, "two", TIED_REPLY_REPEATED);
    expect_idle (&scene);
    close_scene (&scene);
}

static void a_cancel_reaches_one_that_was_set_aside (void **state)
{
    struct scene scene;
    struct tied_message cancel = wire_cancel (2, TIED_CANCEL_CALLER);
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "body");
    send_keyed (&scene.second, 3, "m", "k", "body");
    wire_send (&scene.second, &cancel);
    wire_sync (&scene.second);
    reply_text (request, "one");
    expect_reply (&scene.second, 3, "one", TIED_REPLY_REPEATED);
    expect_idle (&scene);
    CHECK_U64 (stats_of (&scene).results_hit, ==, 1);
    close_scene (&scene);
}

static void those_set_aside_are_bounded (void **state)
{
    struct tied_replica_options options = options_of ();
    struct scene scene;
    (void)state;
    options.results_waiting = 1;
    open_with (&scene, &options);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "body");
    send_keyed (&scene.second, 3, "m", "k", "body");
    wire_expect (&scene.second, TIED_WIRE_REJECT);
    CHECK_U64 (scene.second.in.u.reject.call.sequence, ==, 3);
    CHECK_U64 (scene.second.in.u.reject.reason, ==, TIED_REJECT_FULL);
    CHECK_U64 (stats_of (&scene).results_full, ==, 1);
    reply_text (request, "one");
    expect_reply (&scene.second, 2, "one", TIED_REPLY_REPEATED);
    close_scene (&scene);
}

static void keys_of_calls_that_have_not_ended_are_bounded (void **state)
{
    struct tied_replica_options options = options_of ();
    struct scene scene;
    (void)state;
    options.results_max = 1;
    open_with (&scene, &options);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.first, 2, "m", "l", "body");
    wire_expect (&scene.first, TIED_WIRE_REJECT);
    CHECK_U64 (scene.first.in.u.reject.reason, ==, TIED_REJECT_FULL);
    reply_text (request, "one");
    expect_reply (&scene.first, 1, "one", 0);
    send_keyed (&scene.first, 3, "m", "l", "body");
    reply_text (take (&scene), "two");
    expect_reply (&scene.first, 3, "two", 0);
    CHECK_U64 (stats_of (&scene).results_evicted, ==, 1);
    close_scene (&scene);
}

static void an_error_is_a_result_too (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    CHECK_I64 (tied_request_fail (take (&scene), 17, "no", 2), ==, 0);
    expect_reply (&scene.first, 1, "no", 0);
    send_keyed (&scene.first, 2, "m", "k", "body");
    expect_reply (&scene.first, 2, "no", TIED_REPLY_REPEATED);
    CHECK_U64 (scene.first.in.u.reply.status, ==, 17);
    close_scene (&scene);
}

static void a_forgotten_answer_runs_again (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "body");
    wire_sync (&scene.second);
    CHECK_I64 (tied_request_forget (request), ==, 0);
    CHECK_I64 (tied_request_fail (request, 17, "later", 5), ==, 0);
    expect_reply (&scene.first, 1, "later", 0);
    reply_text (take (&scene), "two");
    expect_reply (&scene.second, 2, "two", 0);
    CHECK_I64 (tied_request_forget (NULL), ==, TIED_ERR_INVAL);
    close_scene (&scene);
}

/* A handler that stops early says so by an error; one that has done its work keeps it. */
static void of_a_cancelled_request_only_success_is_kept (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    for (uint64_t round = 0; round < 2; round++) {
        const bool is_done = round == 1;
        struct tied_message cancel = wire_cancel (10 * round, TIED_CANCEL_DEADLINE);
        send_keyed (&scene.first, 10 * round, "m", is_done ? "done" : "half", "body");
        tied_request_t *request = take (&scene);
        wire_send (&scene.first, &cancel);
        while (!tied_request_is_cancelled (request))
            wire_sync (&scene.first);
        if (is_done)
            reply_text (request, "paid");
        else
            CHECK_I64 (tied_request_fail (request, 9, NULL, 0), ==, 0);
        send_keyed (&scene.second, 10 * round + 1, "m", is_done ? "done" : "half", "body");
        if (!is_done)
            reply_text (take (&scene), "whole");
        expect_reply (&scene.second, 10 * round + 1, is_done ? "paid" : "whole",
                      is_done ? TIED_REPLY_REPEATED : 0);
    }
    expect_idle (&scene);
    close_scene (&scene);
}

static void a_result_too_large_to_keep_still_answers_who_waits (void **state)
{
    struct tied_replica_options options = options_of ();
    struct scene scene;
    (void)state;
    options.results_bytes = 2;
    open_with (&scene, &options);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "body");
    wire_sync (&scene.second);
    reply_text (request, "long");
    expect_reply (&scene.first, 1, "long", 0);
    expect_reply (&scene.second, 2, "long", TIED_REPLY_REPEATED);
    CHECK_U64 (stats_of (&scene).results_too_large, ==, 1);
    send_keyed (&scene.first, 3, "m", "k", "body");
    reply_text (take (&scene), "anew");
    expect_reply (&scene.first, 3, "anew", 0);
    close_scene (&scene);
}

static void RQ_23_results_go_with_time_though_nobody_asks (void **state)
{
    struct tied_replica_options options = options_of ();
    const tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;
    struct scene scene;
    (void)state;
    options.results_ttl_ns = TIED_MS (1);
    open_with (&scene, &options);
    run_once (&scene);
    while (stats_of (&scene).results_expired == 0)
        CHECK_U64 (ti_clock_now (), <, give_up);
    CHECK_U64 (stats_of (&scene).results_stored, ==, 1);
    send_keyed (&scene.first, 2, "m", "k", "other");
    reply_text (take (&scene), "two");
    expect_reply (&scene.first, 2, "two", 0);
    close_scene (&scene);
}

static void without_room_for_keys_each_request_runs (void **state)
{
    struct tied_replica_options options = options_of ();
    struct scene scene;
    (void)state;
    options.results_max = 0;
    open_with (&scene, &options);
    run_once (&scene);
    send_keyed (&scene.first, 2, "m", "k", "other");
    reply_text (take (&scene), "two");
    expect_reply (&scene.first, 2, "two", 0);
    CHECK_U64 (stats_of (&scene).results_stored, ==, 0);
    close_scene (&scene);
}

/* A re-issue of the call that is here is the core's business: it has to merge. */
static void a_re_issue_of_the_first_merges_with_it (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.second, 100, "m", "other", "");
    tied_request_t *blocker = take (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    struct tied_message again = wire_request (1, 2, "m", "body", 4);
    again.u.request.key = (struct tied_view){"k", 1};
    again.u.request.flags |= TIED_REQUEST_REISSUE;
    wire_send (&scene.first, &again);
    wire_sync (&scene.first);
    CHECK_U64 (stats_of (&scene).core.merged, ==, 1);
    CHECK_U64 (stats_of (&scene).results_waited, ==, 0);
    reply_text (blocker, "free");
    reply_text (take (&scene), "one");
    expect_reply (&scene.first, 1, "one", 0);
    close_scene (&scene);
}

static void who_is_set_aside_has_only_the_time_it_came_with (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    struct tied_message hasty = wire_request (2, 0, "m", "body", 4);
    hasty.u.request.key = (struct tied_view){"k", 1};
    hasty.u.request.remaining_us = 20000;
    wire_send (&scene.second, &hasty);
    wire_sync (&scene.second);
    const tied_time_t until = ti_clock_now () + MS (21);
    while (ti_clock_now () < until)
        wire_sync (&scene.second);
    CHECK_I64 (tied_request_forget (request), ==, 0);
    reply_text (request, "one");
    /* At once, and not after as long again in the queue. */
    CHECK_U64 (stats_of (&scene).core.expired, ==, 1);
    CHECK_U64 (stats_of (&scene).load.depth, ==, 0);
    wire_expect (&scene.second, TIED_WIRE_REJECT);
    CHECK_U64 (scene.second.in.u.reject.reason, ==, TIED_REJECT_EXPIRED);
    close_scene (&scene);
}

static void who_is_set_aside_may_vanish (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "body");
    wire_sync (&scene.second);
    wire_close (&scene.second);
    reply_text (request, "one");
    expect_reply (&scene.first, 1, "one", 0);
    /* Another one is in the middle of it when the replica ends. */
    send_keyed (&scene.first, 3, "m", "l", "body");
    request = take (&scene);
    send_keyed (&scene.first, 4, "m", "l", "body");
    wire_sync (&scene.first);
    close_scene (&scene);
}

/* A client that is given up for its silence is told of what was set aside. */
static void a_silent_client_is_refused_what_was_set_aside (void **state)
{
    struct tied_replica_options options = options_of ();
    struct scene scene;
    (void)state;
    options.core.client_silence_ns = MS (50);
    open_with (&scene, &options);
    send_keyed (&scene.first, 1, "m", "k", "body");
    tied_request_t *request = take (&scene);
    send_keyed (&scene.second, 2, "m", "k", "body");
    wire_expect (&scene.second, TIED_WIRE_REJECT);
    CHECK_U64 (scene.second.in.u.reject.reason, ==, TIED_REJECT_FULL);
    reply_text (request, "one");
    close_scene (&scene);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_repeated_key_is_answered_without_a_run),
        cmocka_unit_test (another_method_or_key_or_none_runs),
        cmocka_unit_test (RQ_22_a_key_with_another_body_is_an_error_and_never_answered),
        cmocka_unit_test (a_key_that_comes_while_the_first_runs_gets_its_result),
        cmocka_unit_test (when_the_first_leaves_without_a_run_the_next_one_runs),
        cmocka_unit_test (a_cancel_reaches_one_that_was_set_aside),
        cmocka_unit_test (those_set_aside_are_bounded),
        cmocka_unit_test (keys_of_calls_that_have_not_ended_are_bounded),
        cmocka_unit_test (an_error_is_a_result_too),
        cmocka_unit_test (a_forgotten_answer_runs_again),
        cmocka_unit_test (of_a_cancelled_request_only_success_is_kept),
        cmocka_unit_test (a_result_too_large_to_keep_still_answers_who_waits),
        cmocka_unit_test (RQ_23_results_go_with_time_though_nobody_asks),
        cmocka_unit_test (without_room_for_keys_each_request_runs),
        cmocka_unit_test (a_re_issue_of_the_first_merges_with_it),
        cmocka_unit_test (who_is_set_aside_has_only_the_time_it_came_with),
        cmocka_unit_test (who_is_set_aside_may_vanish),
        cmocka_unit_test (a_silent_client_is_refused_what_was_set_aside),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
