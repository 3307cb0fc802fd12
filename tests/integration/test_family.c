/* SPDX-License-Identifier: MIT */
/*
 * A chain of real processes: a client calls a, whose handler calls b twice at once, each of whose
 * handlers calls c, which works until it is told to stop. Whatever ends the work at the top ends it
 * two levels below. The program starts itself as a replica, and as the client that is killed.
 */
#include "check.h"
#include "process.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <tied/client.h>
#include <tied/replica.h>

#include "zmq/clock.h"

/* Children of a; b and c get as many calls. */
#define FAN   2
#define TRACE "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

/* ---- the program as a replica ---- */

struct app {
    const char *id;
    tied_client_t *next; /* NULL: nobody to call */
};

/* A line for the test, in one piece. */
static void say (const char *what, const char *more)
{
    (void)printf ("%s %s\n", what, more);
    (void)fflush (stdout);
}

static void say_begin (const tied_request_t *request)
{
    const char *trace = tied_request_traceparent (request);
    const tied_duration_t left = tied_request_remaining (request);
    char text[160];

    (void)snprintf (text, sizeof text, "%" PRIu64 " %u %s",
                    left == TIED_NEVER ? left : left / TIED_MS (1),
                    tied_request_attempts_left (request), trace ? trace : "-");
    say ("began", text);
}

static void call_further (const struct app *app, tied_request_t *request)
{
    const uint32_t count = app->id[0] == 'a' ? FAN : 1;
    struct tied_call calls[FAN];
    struct tied_gathered parts[FAN];

    for (uint32_t i = 0; i < count; i++) {
        tied_call_init (&calls[i], "work", NULL, 0);
        calls[i].timeout_ns = TIED_NEVER;
        calls[i].parent = request;
    }
    const int rc = tied_client_gather (app->next, calls, count, NULL, parts);
    for (uint32_t i = 0; rc >= 0 && i < count; i++) {
        say ("child", parts[i].is_sent ? tied_outcome_name ((int)parts[i].reply.details.outcome)
                                       : tied_error_text (parts[i].error));
        tied_reply_release (&parts[i].reply);
    }
}

static void on_work (tied_request_t *request, void *arg)
{
    const struct app *app = arg;
    struct pollfd item = {.fd = tied_request_cancel_fd (request), .events = POLLIN, .revents = 0};

    say_begin (request);
    if (app->next)
        call_further (app, request);
    else
        (void)poll (&item, 1, PROCESS_BOUND_MS);
    say ("ended", tied_request_is_cancelled (request) ? "cancelled" : "alone");
    (void)!tied_request_fail (request, 1, NULL, 0);
}

static tied_client_t *client_of (const char *id, const char *endpoint)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.core.heartbeat_ns = TIED_S (1); /* who is short of a processor is not dead */
    client = tied_client_new (&options);
    if (!client || tied_client_add_replica (client, id, endpoint) != 0 ||
        tied_client_start (client) != 0)
        return NULL;
    return client;
}

/* ID [NEXT-ID NEXT-ENDPOINT] */
static int serve (int argc, char **argv)
{
    static struct app app;
    struct tied_replica_options options;
    tied_replica_t *replica;

    app.id = argv[0];
    if (argc == 3 && !(app.next = client_of (argv[1], argv[2])))
        return 2;
    tied_replica_options_init (&options);
    options.id = app.id;
    replica = tied_replica_new (&options);
    if (!replica || tied_replica_bind (replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_handle (replica, "work", on_work, &app) != 0 ||
        tied_replica_start (replica) != 0)
        return 2;
    say ("ready", tied_replica_endpoint (replica));
    for (;;)
        (void)pause ();
}

/* The program as a client that waits for good: ENDPOINT of a. */
static int ask (char **argv)
{
    tied_client_t *client = client_of ("a", argv[0]);
    struct tied_call call;
    struct tied_reply reply;

    if (!client)
        return 2;
    tied_call_init (&call, "work", NULL, 0);
    call.timeout_ns = TIED_NEVER;
    return tied_client_call (client, &call, &reply) == 0 ? 0 : 2;
}

/* ---- the tests ---- */

static const char *self_path;

enum {
    A = 0,
    B = 1,
    C = 2
};

struct chain {
    struct process *processes[3];
    char endpoints[3][64];
    tied_client_t *client;
};

static void start_one (struct chain *chain, uint32_t i)
{
    static const char *const ids[] = {"a", "b", "c"};
    const char *argv[6] = {self_path, "--serve", ids[i], NULL, NULL, NULL};
    const char *line;

    if (i < C) {
        argv[3] = ids[i + 1];
        argv[4] = chain->endpoints[i + 1];
    }
    chain->processes[i] = process_start (argv);
    line = process_line (chain->processes[i]);
    CHECK_TRUE (line && strncmp (line, "ready ", 6) == 0);
    (void)snprintf (chain->endpoints[i], sizeof chain->endpoints[i], "%s", line + 6);
}

static void open_chain (struct chain *chain)
{
    memset (chain, 0, sizeof *chain);
    for (uint32_t i = 3; i-- > 0;)
        start_one (chain, i);
    chain->client = client_of ("a", chain->endpoints[A]);
    CHECK_PTR (chain->client, !=, NULL);
    CHECK_I64 (tied_client_wait_ready (chain->client, 1, CHECK_PATIENCE), ==, 0);
}

static void close_chain (struct chain *chain)
{
    tied_client_destroy (&chain->client);
    for (uint32_t i = 0; i < 3; i++)
        if (chain->processes[i])
            process_free (&chain->processes[i]);
}

/* The next line of a replica begins so. */
static const char *expect_line (struct chain *chain, uint32_t i, const char *beginning)
{
    const char *line = process_line (chain->processes[i]);

    CHECK_TRUE (line != NULL);
    if (strncmp (line, beginning, strlen (beginning)) != 0)
        CHECK_STR (line, beginning);
    return line + strlen (beginning);
}

/* All of them work. */
static void await_work (struct chain *chain)
{
    (void)expect_line (chain, A, "began ");
    for (uint32_t n = 0; n < FAN; n++) {
        (void)expect_line (chain, B, "began ");
        (void)expect_line (chain, C, "began ");
    }
}

static void expect_end (struct chain *chain, uint32_t i, uint32_t calls, uint32_t children)
{
    uint32_t told = 0, ended = 0;

    while (told < children || ended < calls) {
        const char *line = process_line (chain->processes[i]);

        CHECK_TRUE (line != NULL);
        if (strcmp (line, "ended cancelled") == 0)
            ended++;
        else if (strcmp (line, "child cancelled") == 0 || strcmp (line, "child deadline") == 0)
            told++;
        else
            CHECK_STR (line, "a cancelled child or end");
    }
    CHECK_U64 (told, ==, children);
    CHECK_U64 (ended, ==, calls);
}

static void expect_all_ended (struct chain *chain)
{
    expect_end (chain, C, FAN, 0);
    expect_end (chain, B, FAN, FAN);
    expect_end (chain, A, 1, FAN);
}

static struct tied_call top_call (tied_duration_t timeout_ns)
{
    struct tied_call call;

    tied_call_init (&call, "work", NULL, 0);
    call.timeout_ns = timeout_ns;
    call.traceparent = TRACE;
    return call;
}

static void finish (struct chain *chain, struct tied_call_id id, enum tied_outcome outcome)
{
    struct tied_reply reply;

    CHECK_I64 (tied_client_wait (chain->client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_STR (tied_outcome_name ((int)reply.details.outcome), tied_outcome_name ((int)outcome));
    tied_reply_release (&reply);
}

static void a_cancel_at_the_top_ends_two_levels_below (void **state)
{
    struct chain chain;
    struct tied_call call = top_call (TIED_NEVER);
    struct tied_call_id id;
    (void)state;
    open_chain (&chain);
    CHECK_I64 (tied_client_submit (chain.client, &call, &id), ==, 0);
    await_work (&chain);
    CHECK_I64 (tied_client_cancel (chain.client, id), ==, 0);
    expect_all_ended (&chain);
    finish (&chain, id, TIED_OUTCOME_CANCELLED);
    close_chain (&chain);
}

static void a_client_killed_at_the_top_ends_two_levels_below (void **state)
{
    struct chain chain;
    (void)state;
    open_chain (&chain);
    const char *const argv[] = {self_path, "--ask", chain.endpoints[A], NULL};
    struct process *asker = process_start (argv);
    await_work (&chain);
    process_signal (asker, SIGKILL);
    CHECK_I64 (process_wait (asker), ==, -SIGKILL);
    process_free (&asker);
    expect_all_ended (&chain);
    close_chain (&chain);
}

static void a_replica_killed_in_the_middle_ends_what_is_below (void **state)
{
    struct chain chain;
    struct tied_call call = top_call (TIED_NEVER);
    struct tied_call_id id;
    (void)state;
    open_chain (&chain);
    CHECK_I64 (tied_client_submit (chain.client, &call, &id), ==, 0);
    await_work (&chain);
    process_signal (chain.processes[B], SIGKILL);
    CHECK_I64 (process_wait (chain.processes[B]), ==, -SIGKILL);
    expect_end (&chain, C, FAN, 0);
    for (uint32_t n = 0; n < FAN; n++)
        (void)expect_line (&chain, A, "child unavailable");
    (void)expect_line (&chain, A, "ended alone");
    finish (&chain, id, TIED_OUTCOME_APP_ERROR);
    close_chain (&chain);
}

/* Milliseconds, copies left, trace. */
static void expect_inherited (const char *line, uint64_t most_ms)
{
    uint64_t left_ms;
    unsigned copies;
    char trace[65];

    CHECK_I64 (sscanf (line, "%" SCNu64 " %u %64s", &left_ms, &copies, trace), ==, 3);
    CHECK_U64 (left_ms, <=, most_ms);
    CHECK_U64 (copies, ==, 3);
    CHECK_STR (trace, TRACE);
}

static void the_deadline_at_the_top_is_that_of_all_below (void **state)
{
    const tied_duration_t timeout = TIED_S (5); /* waited for to the end; work begins long before */
    struct chain chain;
    struct tied_reply reply;
    struct tied_call call = top_call (timeout);
    struct tied_call_id id;
    (void)state;
    open_chain (&chain);
    CHECK_I64 (tied_client_submit (chain.client, &call, &id), ==, 0);
    expect_inherited (expect_line (&chain, A, "began "), timeout / TIED_MS (1));
    for (uint32_t n = 0; n < FAN; n++) {
        expect_inherited (expect_line (&chain, B, "began "), timeout / TIED_MS (1));
        expect_inherited (expect_line (&chain, C, "began "), timeout / TIED_MS (1));
    }
    /* At the same time a's calls end, and it answers with an error: one of the two is first. */
    CHECK_I64 (tied_client_wait (chain.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_TRUE (reply.details.outcome == TIED_OUTCOME_DEADLINE ||
                reply.details.outcome == TIED_OUTCOME_APP_ERROR);
    tied_reply_release (&reply);
    expect_end (&chain, C, FAN, 0);
    close_chain (&chain);
}

int main (int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown (a_cancel_at_the_top_ends_two_levels_below, process_teardown),
        cmocka_unit_test_teardown (a_client_killed_at_the_top_ends_two_levels_below,
                                   process_teardown),
        cmocka_unit_test_teardown (a_replica_killed_in_the_middle_ends_what_is_below,
                                   process_teardown),
        cmocka_unit_test_teardown (the_deadline_at_the_top_is_that_of_all_below, process_teardown),
    };

    if (argc >= 3 && strcmp (argv[1], "--serve") == 0)
        return serve (argc - 2, argv + 2);
    if (argc == 3 && strcmp (argv[1], "--ask") == 0)
        return ask (argv + 2);
    self_path = argv[0];
    return cmocka_run_group_tests (tests, NULL, NULL);
}
