/* SPDX-License-Identifier: MIT */
/* Stop, destroy, exit, the host's poll and signals: the client as a guest in a process. */
#include "client_world.h"
#include "echo_thread.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zmq.h>

/* The most that tied_client_stop () gives cancels to leave the process. */
#define LEAVE MS (300)

static tied_client_t *make_client (uint32_t drive, const char *endpoint)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = drive;
    client = tied_client_new (&options);
    CHECK_PTR (client, !=, NULL);
    CHECK_I64 (tied_client_add_replica (client, "a", endpoint), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    return client;
}

static void ZQ_26_stop_cancels_every_call_and_the_replica_hears_of_it (void **state)
{
    struct echo_thread echo;
    tied_client_t *client;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id ids[50];
    struct tied_reply reply;

    (void)state;
    echo_thread_start (&echo, "a");
    echo_thread_silence (&echo);
    client = make_client (TIED_DRIVE_THREADED, echo.replica->endpoint);
    CHECK_I64 (tied_client_wait_ready (client, 1, CHECK_PATIENCE), ==, 0);
    for (int i = 0; i < 50; i++)
        CHECK_I64 (tied_client_submit (client, &call, &ids[i]), ==, 0);
    const tied_time_t begin = ti_clock_now ();
    CHECK_I64 (tied_client_stop (client, LEAVE), ==, 0);
    /* What has not left by then is given up, as on a machine that stands still just now. */
    const bool has_left = ti_clock_now () - begin < LEAVE;
    for (int i = 0; i < 50; i++) {
        CHECK_I64 (tied_client_wait (client, ids[i], 0, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_CANCELLED);
        tied_reply_release (&reply);
    }
    tied_client_destroy (&client);
    /* What arrived before the connection closed is read by now or within this wait. */
    echo_thread_join (&echo);
    for (tied_time_t end = ti_clock_now () + CHECK_PATIENCE;
         has_left && echo.replica->cancels < 50 && ti_clock_now () < end;)
        fake_replica_wait (echo.replica, 10);
    if (has_left) {
        CHECK_U64 (echo.replica->requests, ==, 50);
        CHECK_U64 (echo.replica->cancels, ==, 50);
    }
    fake_replica_destroy (&echo.replica);
}

/* Nothing waits for the connection: what a call needs of it, it waits for itself. */
static void ZQ_35_the_first_call_right_after_start_is_answered (void **state)
{
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;
    struct echo_thread echo;

    (void)state;
    call.timeout_ns = CHECK_PATIENCE;
    echo_thread_start (&echo, "a");
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        tied_client_t *client = make_client (drive, echo.replica->endpoint);

        CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
        CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
        tied_reply_release (&reply);
        tied_client_destroy (&client);
    }
    echo_thread_join (&echo);
    fake_replica_destroy (&echo.replica);
}

/* Threads of this process with that name. */
static int count_threads (const char *name)
{
    DIR *tasks = opendir ("/proc/self/task");
    int count = 0;

    CHECK_TRUE (tasks != NULL);
    for (const struct dirent *task = readdir (tasks); task; task = readdir (tasks)) {
        char path[300], comm[32] = "";
        FILE *file;

        snprintf (path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        file = fopen (path, "r");
        if (file && fgets (comm, sizeof comm, file))
            comm[strcspn (comm, "\n")] = '\0';
        if (file)
            fclose (file);
        count += strcmp (comm, name) == 0;
    }
    closedir (tasks);
    return count;
}

static void the_thread_has_a_name_of_ours_and_the_callers_keeps_its_own (void **state)
{
    tied_client_t *client = make_client (TIED_DRIVE_THREADED, "tcp://127.0.0.1:1");

    (void)state;
    for (tied_time_t end = ti_clock_now () + CHECK_PATIENCE;
         count_threads ("tied-client") == 0 && ti_clock_now () < end;)
        (void)!tied_client_poll (client, MS (1));
    CHECK_I64 (count_threads ("tied-client"), ==, 1);
    tied_client_destroy (&client);
    CHECK_I64 (count_threads ("tied-client"), ==, 0);
}

static void ZQ_24_destroy_is_quick_with_unreachable_replicas_and_live_calls (void **state)
{
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    tied_time_t begin;

    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        tied_client_t *client = make_client (drive, "tcp://127.0.0.1:1");

        for (int i = 0; i < 100; i++)
            CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
        begin = ti_clock_now ();
        tied_client_destroy (&client);
        CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    }
}

/* The replica has stopped reading, so bytes are stuck on the way. */
static void ZQ_24_destroy_is_quick_with_a_replica_that_does_not_read (void **state)
{
    enum {
        SIZE = 1 << 20
    };
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    char *body = calloc (1, SIZE);
    tied_time_t begin;

    (void)state;
    world_open (&world, 1, NULL);
    call.body = body;
    call.body_size = SIZE;
    for (int i = 0; i < 50; i++)
        CHECK_I64 (tied_client_submit (world.client, &call, NULL), ==, 0);
    begin = ti_clock_now ();
    tied_client_destroy (&world.client);
    CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    free (body);
    world_close (&world);
}

static void wait_for_child (pid_t child)
{
    int status = 0;

    for (tied_time_t end = ti_clock_now () + CHECK_PATIENCE; ti_clock_now () < end;) {
        if (waitpid (child, &status, WNOHANG) == child) {
            CHECK_TRUE (WIFEXITED (status));
            CHECK_I64 (WEXITSTATUS (status), ==, 0);
            return;
        }
        (void)poll (NULL, 0, 5);
    }
    kill (child, SIGKILL);
    waitpid (child, &status, 0);
    CHECK_TRUE (false);
}

/* The body of the child process: see main (). Never returns. */
static void exit_without_destroy (const char *endpoint)
{
    struct tied_call call;
    tied_client_t *client = make_client (TIED_DRIVE_THREADED, endpoint);

    alarm ((unsigned)(CHECK_SOON / S (1)));
    tied_call_init (&call, "work", NULL, 0);
    (void)!tied_client_wait_ready (client, 1, S (10));
    (void)!tied_client_submit (client, &call, NULL);
    exit (0);
}

static void ZQ_22_exit_without_destroy_ends_at_once (void **state)
{
    struct echo_thread echo;
    char program[] = "/proc/self/exe";
    char *argv[] = {program, NULL, NULL};
    pid_t child;

    (void)state;
    echo_thread_start (&echo, "a");
    echo_thread_silence (&echo);
    argv[1] = echo.replica->endpoint;
    CHECK_I64 (posix_spawn (&child, program, NULL, NULL, argv, environ), ==, 0);
    wait_for_child (child);
    echo_thread_stop (&echo);
}

static atomic_uint signals_seen;

static void on_signal (int number)
{
    (void)number;
    atomic_fetch_add (&signals_seen, 1);
}

static void ZQ_21_signals_every_millisecond_lose_no_call (void **state)
{
    struct echo_thread echo;
    struct sigaction action;
    struct sigaction before;
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    struct itimerval off = {{0, 0}, {0, 0}};
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;

    (void)state;
    echo_thread_start (&echo, "a");
    memset (&action, 0, sizeof action);
    action.sa_handler = on_signal; /* no SA_RESTART */
    CHECK_I64 (sigaction (SIGALRM, &action, &before), ==, 0);
    CHECK_I64 (setitimer (ITIMER_REAL, &timer, NULL), ==, 0);
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        tied_client_t *client = make_client (drive, echo.replica->endpoint);

        CHECK_I64 (tied_client_wait_ready (client, 1, CHECK_PATIENCE), ==, 0);
        for (int i = 0; i < 500 || atomic_load (&signals_seen) < 20; i++) {
            CHECK_I64 (tied_client_call (client, &call, &reply), ==, 0);
            CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
            tied_reply_release (&reply);
        }
        tied_client_destroy (&client);
    }
    CHECK_I64 (setitimer (ITIMER_REAL, &off, NULL), ==, 0);
    CHECK_I64 (sigaction (SIGALRM, &before, NULL), ==, 0);
    echo_thread_stop (&echo);
}

static void ZQ_20_the_hosts_signal_handlers_stay (void **state)
{
    struct sigaction before;
    struct sigaction after;
    tied_client_t *client;

    (void)state;
    CHECK_I64 (sigaction (SIGINT, NULL, &before), ==, 0);
    client = make_client (TIED_DRIVE_THREADED, "tcp://127.0.0.1:1");
    CHECK_I64 (sigaction (SIGINT, NULL, &after), ==, 0);
    CHECK_TRUE (before.sa_handler == after.sa_handler);
    tied_client_destroy (&client);
    CHECK_I64 (sigaction (SIGINT, NULL, &after), ==, 0);
    CHECK_TRUE (before.sa_handler == after.sa_handler);
}

static bool is_readable (int fd, int timeout_ms)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};

    return poll (&item, 1, timeout_ms) == 1 && (item.revents & POLLIN) != 0;
}

/* The host only ever polls the descriptor and collects; one stall would end the test. */
static void ZQ_28_a_host_that_polls_the_fd_misses_nothing (void **state)
{
    struct echo_thread echo;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;

    (void)state;
    echo_thread_start (&echo, "a");
    call.to_queue = true;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        tied_client_t *client = make_client (drive, echo.replica->endpoint);
        int fd = tied_client_fd (client);

        CHECK_I64 (fd, >=, 0);
        CHECK_I64 (tied_client_fd (client), ==, fd);
        CHECK_I64 (tied_client_wait_ready (client, 1, CHECK_PATIENCE), ==, 0);
        for (int i = 0; i < 3000; i++) {
            uint32_t collected = 0;

            for (int n = 0; n < 1 + i % 3; n++)
                CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
            while (collected < 1u + (uint32_t)i % 3) {
                CHECK_TRUE (is_readable (fd, CHECK_PATIENCE_MS));
                while (tied_client_next (client, 0, &reply) == 0) {
                    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
                    tied_reply_release (&reply);
                    collected++;
                }
            }
        }
        tied_client_destroy (&client);
    }
    echo_thread_stop (&echo);
}

static void the_fd_is_readable_while_completions_wait (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;
    int fd;

    (void)state;
    world_open (&world, 1, NULL);
    fd = tied_client_fd (world.client);
    call.to_queue = true;
    CHECK_I64 (tied_client_submit (world.client, &call, NULL), ==, 0);
    CHECK_I64 (tied_client_submit (world.client, &call, NULL), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 2);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, NULL, 0);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 1), 0, NULL, 0);
    WORLD_UNTIL (&world, tied_client_poll (world.client, 0) == 2);
    CHECK_TRUE (is_readable (fd, 0));
    CHECK_TRUE (is_readable (fd, 0));
    CHECK_I64 (tied_client_next (world.client, 0, &reply), ==, 0);
    CHECK_TRUE (is_readable (fd, 0));
    CHECK_I64 (tied_client_next (world.client, 0, &reply), ==, 0);
    world_close (&world);
}

/* With the CALLER drive the fd also says when a timer is due: here the call's deadline. */
static void the_fd_of_a_caller_driven_client_tells_of_deadlines (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_reply reply;
    int fd;

    (void)state;
    world_open (&world, 1, NULL);
    fd = tied_client_fd (world.client);
    call.to_queue = true;
    call.timeout_ns = MS (30);
    CHECK_I64 (tied_client_submit (world.client, &call, NULL), ==, 0);
    for (;;) {
        CHECK_TRUE (is_readable (fd, CHECK_PATIENCE_MS));
        if (tied_client_next (world.client, 0, &reply) == 0)
            break;
    }
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_DEADLINE);
    tied_reply_release (&reply);
    world_close (&world);
}

static void a_shared_context_makes_inproc_work (void **state)
{
    void *context = zmq_ctx_new ();
    struct world world;
    struct tied_client_options options;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;

    (void)state;
    memset (&world, 0, sizeof world);
    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    options.zmq_context = context;
    world.client = tied_client_new (&options);
    world.replicas[0] = fake_replica_new ("a", "inproc://replica-a", context);
    world.count = 1;
    CHECK_I64 (tied_client_add_replica (world.client, "a", "inproc://replica-a"), ==, 0);
    CHECK_I64 (tied_client_start (world.client), ==, 0);
    WORLD_UNTIL (&world, tied_client_wait_ready (world.client, 1, 0) == 0);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, world.replicas[0]->requests == 1);
    fake_reply (world.replicas[0], fake_request (world.replicas[0], 0), 0, "in", 2);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_MEM (reply.body, "in", 2);
    world_close (&world);
    CHECK_I64 (zmq_ctx_term (context), ==, 0);
    /* The bytes are the reply's own. */
    CHECK_MEM (reply.body, "in", 2);
    tied_reply_release (&reply);
}

int main (int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (ZQ_26_stop_cancels_every_call_and_the_replica_hears_of_it),
        cmocka_unit_test (ZQ_35_the_first_call_right_after_start_is_answered),
        cmocka_unit_test (the_thread_has_a_name_of_ours_and_the_callers_keeps_its_own),
        cmocka_unit_test (ZQ_24_destroy_is_quick_with_unreachable_replicas_and_live_calls),
        cmocka_unit_test (ZQ_24_destroy_is_quick_with_a_replica_that_does_not_read),
        cmocka_unit_test (ZQ_22_exit_without_destroy_ends_at_once),
        cmocka_unit_test (ZQ_21_signals_every_millisecond_lose_no_call),
        cmocka_unit_test (ZQ_20_the_hosts_signal_handlers_stay),
        cmocka_unit_test (ZQ_28_a_host_that_polls_the_fd_misses_nothing),
        cmocka_unit_test (the_fd_is_readable_while_completions_wait),
        cmocka_unit_test (the_fd_of_a_caller_driven_client_tells_of_deadlines),
        cmocka_unit_test (a_shared_context_makes_inproc_work),
    };

    if (argc == 2)
        exit_without_destroy (argv[1]);
    return cmocka_run_group_tests (tests, NULL, NULL);
}
