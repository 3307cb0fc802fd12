/* SPDX-License-Identifier: MIT */
/*
 * The n-th thing that the libraries ask the system for is refused: memory, a message, a socket, a
 * descriptor, a thread. Once, after which all must go on as if nothing had been; or from then on.
 * For every n until nothing is refused any more.
 *
 * One replica that serves with threads and one client, in this process. Every function either does
 * its work or says why not; a call ends in any way, but it ends; nothing crashes, and the address
 * sanitizer finds nothing that was left. What libzmq itself asks for is not refused: it aborts.
 */
#include "check.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <pthread.h>
#include <zmq.h>

#include <tied/client.h>
#include <tied/replica.h>

#include "zmq/clock.h"

/* More bytes than a header on the stack has room for, and fewer than are sent on their own. */
#define INLINE_SIZE 9000
#define LARGE_SIZE  100000

enum refusal {
    NEVER,
    ONCE,
    ON_AND_ON
};

static atomic_uint refusal;
static atomic_long asked;   /* since it was armed */
static atomic_long refused; /* of those */
static long nth;            /* the first one that is refused */

static bool is_refused (void)
{
    long number;

    if (refusal == NEVER)
        return false;
    number = atomic_fetch_add (&asked, 1) + 1;
    if (number < nth || (number > nth && refusal == ONCE))
        return false;
    refused++;
    errno = ENOMEM;
    return true;
}

static void arm (enum refusal how, long number)
{
    nth = number;
    asked = 0;
    refused = 0;
    refusal = how;
}

/* The linker gives calls of NAME to __wrap_NAME, which it wants to be visible if a shared library
   calls NAME as well. */
#define VISIBLE __attribute__ ((visibility ("default")))
#define REFUSABLE(type, name, parameters, arguments, nothing)                                      \
    type __real_##name parameters;                                                                 \
    VISIBLE type __wrap_##name parameters;                                                         \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return is_refused () ? (nothing) : __real_##name arguments;                                \
    }

REFUSABLE (void *, malloc, (size_t size), (size), NULL)
REFUSABLE (void *, calloc, (size_t count, size_t size), (count, size), NULL)
REFUSABLE (void *, realloc, (void *old, size_t size), (old, size), NULL)
REFUSABLE (char *, strdup, (const char *text), (text), NULL)
REFUSABLE (void *, zmq_ctx_new, (void), (), NULL)
REFUSABLE (void *, zmq_socket, (void *context, int type), (context, type), NULL)
REFUSABLE (int, zmq_msg_init_size, (zmq_msg_t * frame, size_t size), (frame, size), -1)
REFUSABLE (int, eventfd, (unsigned int value, int flags), (value, flags), -1)
REFUSABLE (int, epoll_create1, (int flags), (flags), -1)
REFUSABLE (int, timerfd_create, (int clock, int flags), (clock, flags), -1)

/* This one returns its error. */
int __real_pthread_create (pthread_t *out, const pthread_attr_t *how, void *(*fn) (void *), void *);
int __wrap_pthread_create (pthread_t *out, const pthread_attr_t *how, void *(*fn) (void *), void *);
int __wrap_pthread_create (pthread_t *out, const pthread_attr_t *how, void *(*fn) (void *), void *a)
{
    return is_refused () ? EAGAIN : __real_pthread_create (out, how, fn, a);
}

struct scene {
    tied_replica_t *replica;
    tied_client_t *client;
    char policies[64];
    bool is_whole; /* both were made and have started */
};

static unsigned char bytes[LARGE_SIZE];

/* Makes a call of its own for the answer, which is as long as the request. */
static void serve_work (tied_request_t *request, void *arg)
{
    struct scene *scene = arg;
    struct tied_call call;
    struct tied_reply reply;
    size_t size = 0;

    (void)tied_request_body (request, &size);
    (void)tied_request_cancel_fd (request);
    tied_call_init (&call, "leaf", NULL, 0);
    call.parent = request;
    if (tied_client_call (scene->client, &call, &reply) == 0)
        tied_reply_release (&reply);
    CHECK_I64 (tied_request_reply (request, bytes, size), ==, 0);
}

static void serve_leaf (tied_request_t *request, void *arg)
{
    (void)arg;
    CHECK_I64 (tied_request_reply (request, "x", 1), ==, 0);
}

static int open_replica (struct scene *scene)
{
    struct tied_replica_options options;
    int rc;

    tied_replica_options_init (&options);
    options.id = "a";
    options.inline_max = INLINE_SIZE;
    options.core.workers = 2;
    scene->replica = tied_replica_new (&options);
    if (!scene->replica)
        return TIED_ERR_NOMEM;
    rc = tied_replica_bind (scene->replica, "tcp://127.0.0.1:*");
    if (rc == 0)
        rc = tied_replica_bind_peers (scene->replica, "tcp://127.0.0.1:*");
    if (rc == 0)
        rc = tied_replica_add_peer (scene->replica, "b", "tcp://127.0.0.1:1");
    if (rc == 0)
        rc = tied_replica_handle (scene->replica, "work", serve_work, scene);
    if (rc == 0)
        rc = tied_replica_handle (scene->replica, "leaf", serve_leaf, scene);
    return rc;
}

static int open_client (struct scene *scene, uint32_t drive)
{
    struct tied_client_options options;
    char why[TIED_POLICIES_ERROR_MAX];
    int rc;

    tied_client_options_init (&options);
    options.drive = drive;
    options.inline_max = INLINE_SIZE;
    options.timeout_ns = MS (200);
    scene->client = tied_client_new (&options);
    if (!scene->client)
        return TIED_ERR_NOMEM;
    rc = tied_client_load_policies (scene->client, scene->policies, why, sizeof why);
    if (rc != 0) {
        CHECK_I64 (rc, ==, TIED_ERR_NOMEM);
        CHECK_U64 (strlen (why), >, 0);
    }
    if (rc == 0)
        rc = tied_client_add_replica (scene->client, "a", tied_replica_endpoint (scene->replica));
    if (rc == 0)
        rc = tied_client_set_zone (scene->client, "a", "z");
    if (rc == 0)
        rc = tied_client_start (scene->client);
    return rc;
}

/* 0, or a code that belongs to a lack: of the arguments nothing is wrong. */
static void check_code (int rc)
{
    if (rc < 0)
        CHECK_TRUE (rc == TIED_ERR_NOMEM || rc == TIED_ERR_SYSTEM || rc == TIED_ERR_TIMEOUT ||
                    rc == TIED_ERR_ENDPOINT);
}

static void call_once (struct scene *scene, size_t size, const char *key)
{
    struct tied_call call;
    struct tied_reply reply;
    int rc;

    tied_call_init (&call, "work", bytes, size);
    call.is_idempotent = true;
    call.key = key;
    call.key_size = key ? strlen (key) : 0;
    rc = tied_client_call (scene->client, &call, &reply);
    check_code (rc);
    if (rc == 0)
        tied_reply_release (&reply);
}

static void call_by_queue (struct scene *scene)
{
    struct tied_call call;
    struct tied_reply reply;
    int rc;

    check_code (tied_client_fd (scene->client));
    tied_call_init (&call, "leaf", bytes, INLINE_SIZE);
    call.to_queue = true;
    rc = tied_client_submit (scene->client, &call, NULL);
    check_code (rc);
    if (rc != 0)
        return;
    /* What could not be collected may be so again. */
    do
        rc = tied_client_next (scene->client, CHECK_PATIENCE, &reply);
    while (rc == TIED_ERR_NOMEM && refusal == ONCE);
    if (rc == 0)
        tied_reply_release (&reply);
    else
        CHECK_I64 (rc, ==, TIED_ERR_NOMEM);
}

static void call_many (struct scene *scene)
{
    struct tied_call calls[3];
    struct tied_gathered out[3];
    int rc;

    for (int i = 0; i < 3; i++)
        tied_call_init (&calls[i], "leaf", bytes, i == 2 ? LARGE_SIZE : 10);
    rc = tied_client_gather (scene->client, calls, 3, NULL, out);
    check_code (rc);
    for (int i = 0; rc >= 0 && i < 3; i++)
        tied_reply_release (&out[i].reply);
}

/* Everything that takes something of the system. */
static void use (struct scene *scene, uint32_t drive)
{
    int rc = open_replica (scene);

    check_code (rc);
    if (rc == 0)
        check_code (rc = open_client (scene, drive));
    if (rc == 0)
        check_code (rc = tied_replica_start (scene->replica));
    if (rc != 0)
        return;
    scene->is_whole = true;
    check_code (tied_client_wait_ready (scene->client, 1, MS (200)));
    call_once (scene, INLINE_SIZE, "k");
    call_once (scene, INLINE_SIZE, "k");
    call_once (scene, LARGE_SIZE, NULL);
    call_by_queue (scene);
    call_many (scene);
}

/* Refused once, and over: the next calls are as good as any. */
static void go_on (struct scene *scene)
{
    struct tied_call call;
    struct tied_reply reply;

    CHECK_I64 (tied_client_wait_ready (scene->client, 1, CHECK_PATIENCE), ==, 0);
    for (int i = 0; i < 3; i++) {
        tied_call_init (&call, "work", bytes, i == 2 ? LARGE_SIZE : INLINE_SIZE);
        call.timeout_ns = CHECK_PATIENCE;
        CHECK_I64 (tied_client_call (scene->client, &call, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
        CHECK_U64 (reply.body_size, ==, call.body_size);
        CHECK_MEM (reply.body, bytes, call.body_size);
        tied_reply_release (&reply);
    }
}

/* What came to the replica was well formed. */
static void check_bytes (struct scene *scene)
{
    struct tied_replica_stats replica = {.struct_size = sizeof replica};
    struct tied_client_stats client = {.struct_size = sizeof client};

    CHECK_I64 (tied_replica_stats (scene->replica, &replica), ==, 0);
    CHECK_U64 (replica.malformed + replica.multipart + replica.misdirected, ==, 0);
    CHECK_I64 (tied_client_stats (scene->client, &client), ==, 0);
    CHECK_U64 (client.malformed + client.multipart + client.misdirected, ==, 0);
}

static long run (enum refusal how, long number, uint32_t drive, const char *policies)
{
    struct scene scene = {.replica = NULL};

    snprintf (scene.policies, sizeof scene.policies, "%s", policies);
    arm (how, number);
    use (&scene, drive);
    if (how != ON_AND_ON)
        refusal = NEVER;
    if (how != ON_AND_ON && scene.is_whole)
        go_on (&scene);
    if (scene.is_whole)
        check_bytes (&scene);
    tied_replica_destroy (&scene.replica);
    tied_client_destroy (&scene.client);
    refusal = NEVER;
    return refused;
}

/* Threads take the same things in another order, so a run without a refusal may be chance. */
static void run_all (enum refusal how, uint32_t drive)
{
    char path[] = "/tmp/tied-scarce.XXXXXX";
    static const char text[] = "methods:\n  '*': {}\n  work: {mode: tied, hedge: auto}\n";
    int fd = mkstemp (path);
    int quiet = 0;
    long number;

    CHECK_I64 (fd, >=, 0);
    CHECK_I64 (write (fd, text, sizeof text - 1), ==, (int64_t)sizeof text - 1);
    close (fd);
    for (number = 1; quiet < 3; number++)
        quiet = run (how, number, drive, path) > 0 ? 0 : quiet + 1;
    CHECK_I64 (number, >, 60);
    unlink (path);
}

static void one_refusal_is_told_and_all_goes_on (void **state)
{
    (void)state;
    run_all (ONCE, TIED_DRIVE_THREADED);
    run_all (ONCE, TIED_DRIVE_CALLER);
}

static void with_nothing_left_every_function_returns_and_nothing_is_lost (void **state)
{
    (void)state;
    run_all (ON_AND_ON, TIED_DRIVE_THREADED);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (one_refusal_is_told_and_all_goes_on),
        cmocka_unit_test (with_nothing_left_every_function_returns_and_nothing_is_lost),
    };

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    return cmocka_run_group_tests (tests, NULL, NULL);
}
