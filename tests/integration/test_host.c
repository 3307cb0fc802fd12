/* SPDX-License-Identifier: MIT */
/*
 * Replica and client as guests in one process: signals, descriptors, exit and child processes are
 * the host's. Some hosts have to end to show it; those are this program again, see main ().
 */
#include "check.h"
#include "process.h"
#include "proxy.h"
#include "volley.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tied/replica.h>

#include "zmq/clock.h"

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static tied_replica_t *replica_or_null (const char *id, const char *peer)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = id;
    options.core.workers = 2;
    replica = tied_replica_new (&options);
    if (!replica)
        return NULL;
    if (tied_replica_bind (replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_bind_peers (replica, "tcp://127.0.0.1:*") != 0 ||
        (peer && tied_replica_add_peer (replica, "peer", peer) != 0) ||
        tied_replica_handle (replica, "echo", echo, NULL) != 0 || tied_replica_start (replica) != 0)
        tied_replica_destroy (&replica);
    return replica;
}

static tied_client_t *client_or_null (const char *endpoint, uint32_t drive)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = drive;
    client = tied_client_new (&options);
    if (client &&
        (tied_client_add_replica (client, "a", endpoint) != 0 || tied_client_start (client) != 0))
        tied_client_destroy (&client);
    return client;
}

struct host {
    tied_replica_t *replica;
    tied_client_t *client;
    struct volley volley;
};

static void open_host (struct host *host, uint32_t drive, uint32_t calls)
{
    host->replica = replica_or_null ("a", NULL);
    CHECK_TRUE (host->replica != NULL);
    host->client = client_or_null (tied_replica_endpoint (host->replica), drive);
    CHECK_TRUE (host->client != NULL);
    CHECK_I64 (tied_client_wait_ready (host->client, 1, MS (PROCESS_BOUND_MS)), ==, 0);
    volley_init (&host->volley, host->client, "echo", calls);
}

static void end_host (struct host *host)
{
    volley_free (&host->volley);
    tied_client_destroy (&host->client);
    tied_replica_destroy (&host->replica);
}

static void close_host (struct host *host)
{
    volley_finish (&host->volley);
    CHECK_U64 (host->volley.outcomes[TIED_OUTCOME_OK], ==, host->volley.submitted);
    end_host (host);
}

static atomic_uint signals_seen;

static void on_signal (int number)
{
    (void)number;
    atomic_fetch_add (&signals_seen, 1);
}

/* Every signal that a host may have a handler for. */
static void ZQ_20_no_signal_handler_of_the_host_is_touched (void **state)
{
    struct sigaction before[NSIG];
    struct host host;

    (void)state;
    for (int i = 1; i < NSIG; i++)
        (void)sigaction (i, NULL, &before[i]);
    open_host (&host, TIED_DRIVE_THREADED, 20);
    volley_fire (&host.volley, 20, 4);
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i < NSIG; i++) {
            struct sigaction after;
            if (sigaction (i, NULL, &after) != 0)
                continue;
            CHECK_TRUE (before[i].sa_handler == after.sa_handler);
            CHECK_I64 (before[i].sa_flags, ==, after.sa_flags);
        }
        if (round == 0)
            close_host (&host);
    }
}

static void ZQ_21_a_signal_every_millisecond_loses_no_call (void **state)
{
    struct sigaction action;
    struct sigaction before;
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    struct itimerval off = {{0, 0}, {0, 0}};
    uint32_t calls = (uint32_t)check_scale (4000) + 100;

    (void)state;
    memset (&action, 0, sizeof action);
    action.sa_handler = on_signal; /* no SA_RESTART */
    CHECK_I64 (sigaction (SIGALRM, &action, &before), ==, 0);
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct host host;
        open_host (&host, drive, calls);
        CHECK_I64 (setitimer (ITIMER_REAL, &timer, NULL), ==, 0);
        volley_fire (&host.volley, calls, 4);
        volley_finish (&host.volley);
        CHECK_I64 (setitimer (ITIMER_REAL, &off, NULL), ==, 0);
        close_host (&host);
    }
    CHECK_I64 (sigaction (SIGALRM, &before, NULL), ==, 0);
    CHECK_U64 (atomic_load (&signals_seen), >, 0);
}

static void ZQ_19_child_processes_of_a_busy_host_lose_no_call (void **state)
{
    char program[] = "/bin/true";
    char *argv[] = {program, NULL};
    uint32_t children = (uint32_t)check_scale (100);
    struct host host;

    (void)state;
    open_host (&host, TIED_DRIVE_THREADED, children * 20);
    for (uint32_t i = 0; i < children; i++) {
        pid_t child;
        int status;
        volley_fire (&host.volley, 20, 8);
        CHECK_I64 (posix_spawn (&child, program, NULL, NULL, argv, environ), ==, 0);
        CHECK_I64 (waitpid (child, &status, 0), ==, child);
        CHECK_I64 (status, ==, 0);
    }
    close_host (&host);
}

/* A host with an epoll set of its own, as event loops have: level-triggered, never a timeout. */
static void ZQ_28_an_epoll_host_never_stalls (void **state)
{
    uint32_t calls = (uint32_t)check_scale (8000);

    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct host host;
        struct epoll_event event = {.events = EPOLLIN};
        int set = epoll_create1 (EPOLL_CLOEXEC);
        open_host (&host, drive, calls);
        CHECK_I64 (epoll_ctl (set, EPOLL_CTL_ADD, tied_client_fd (host.client), &event), ==, 0);
        for (uint32_t i = 0; i < calls; i++) {
            volley_submit (&host.volley);
            while (host.volley.collected <= i) {
                int rc = epoll_wait (set, &event, 1, CHECK_PATIENCE_MS);
                CHECK_TRUE (rc == 1 || errno == EINTR);
                while (volley_collect (&host.volley, 0)) {
                }
            }
        }
        (void)close (set);
        close_host (&host);
    }
}

static void ZQ_24_destroy_with_unreachable_peers_and_replicas_ends_soon (void **state)
{
    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        char nowhere[64];
        tied_replica_t *replica;
        tied_client_t *client;
        struct tied_call call;
        tied_time_t begin;

        proxy_free_endpoint (nowhere);
        replica = replica_or_null ("a", nowhere);
        CHECK_TRUE (replica != NULL);
        client = client_or_null (nowhere, drive);
        CHECK_TRUE (client != NULL);
        tied_call_init (&call, "echo", NULL, 0);
        call.timeout_ns = CHECK_PATIENCE;
        for (int i = 0; i < 100; i++)
            CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
        begin = ti_clock_now ();
        tied_client_destroy (&client);
        tied_replica_destroy (&replica);
        CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    }
}

/* A replica that leaves gives its clients 200 ms to read its last answers. A round that takes
   longer than this stood still in that time, perhaps in all of it. */
#define ROUND MS (300)

/* ZQ-26: an answer given in the moment before the replica is destroyed still arrives. */
static void ZQ_26_answers_given_just_before_destroy_arrive (void **state)
{
    struct host host;

    (void)state;
    for (int round = 0; round < 5; round++) {
        struct tied_replica_stats stats = {.struct_size = sizeof stats};
        tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);
        open_host (&host, TIED_DRIVE_THREADED, 20);
        const tied_time_t begin = ti_clock_now ();
        for (int i = 0; i < 20; i++)
            volley_submit (&host.volley);
        do {
            CHECK_U64 (ti_clock_now (), <, until);
            CHECK_I64 (tied_replica_stats (host.replica, &stats), ==, 0);
        } while (stats.core.finished < 20);
        CHECK_I64 (tied_replica_stop (host.replica, CHECK_PATIENCE), ==, 0);
        tied_replica_destroy (&host.replica);
        if (ti_clock_now () - begin < ROUND)
            close_host (&host);
        else
            end_host (&host);
    }
}

static void RQ_21_hosts_come_and_go_many_times (void **state)
{
    (void)state;
    for (uint64_t i = 0; i < check_scale (50); i++) {
        struct host host;
        tied_time_t begin;
        open_host (&host, (uint32_t)(i % 2), 10);
        volley_fire (&host.volley, 10, 10);
        volley_finish (&host.volley);
        begin = ti_clock_now ();
        close_host (&host);
        CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
    }
}

/* Starts and stops leave no descriptor open. */
static int descriptors (void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        struct pollfd item = {.fd = fd, .events = 0, .revents = 0};
        count += poll (&item, 1, 0) == 0 || !(item.revents & POLLNVAL);
    }
    return count;
}

static void no_descriptor_is_left_open (void **state)
{
    struct host host;
    int before;

    (void)state;
    open_host (&host, TIED_DRIVE_THREADED, 10);
    close_host (&host);
    before = descriptors ();
    for (uint32_t i = 0; i < 5; i++) {
        open_host (&host, i % 2, 10);
        volley_fire (&host.volley, 10, 2);
        close_host (&host);
    }
    CHECK_I64 (descriptors (), ==, before);
}

static void *exit_thread (void *arg)
{
    (void)arg;
    exit (0);
}

/* Child: replica and client at work, and the host just ends. */
static void exit_at_work (bool from_thread)
{
    tied_replica_t *replica = replica_or_null ("a", NULL);
    tied_client_t *client =
        replica ? client_or_null (tied_replica_endpoint (replica), TIED_DRIVE_THREADED) : NULL;
    struct tied_call call;
    pthread_t thread;

    if (!client || tied_client_wait_ready (client, 1, CHECK_PATIENCE) != 0)
        _exit (3);
    tied_call_init (&call, "echo", "hi", 2);
    for (int i = 0; i < 100; i++)
        (void)!tied_client_submit (client, &call, NULL);
    if (from_thread && pthread_create (&thread, NULL, exit_thread, NULL) == 0)
        (void)pthread_join (thread, NULL);
    exit (0);
}

static struct process *again (const char *what)
{
    const char *const argv[] = {"/proc/self/exe", what, NULL};

    return process_start (argv);
}

static void ZQ_22_exit_without_destroy_ends_at_once_with_0 (void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        tied_time_t begin = ti_clock_now ();
        struct process *process = again (i == 0 ? "exit" : "exit-from-thread");
        int code = process_wait (process);
        if (code != 0)
            print_error ("%s\n", process_errors (process));
        CHECK_I64 (code, ==, 0);
        CHECK_U64 (ti_clock_now () - begin, <, CHECK_SOON);
        process_free (&process);
    }
}

/* Child: with every small number of descriptors, creation works or says no; nothing aborts. */
static void run_out_of_descriptors (void)
{
    for (rlim_t most = 3; most < 60; most++) {
        struct rlimit limit;
        tied_replica_t *replica;
        tied_client_t *client;

        (void)getrlimit (RLIMIT_NOFILE, &limit);
        limit.rlim_cur = most;
        if (setrlimit (RLIMIT_NOFILE, &limit) != 0)
            _exit (3);
        replica = replica_or_null ("a", "tcp://127.0.0.1:1");
        client = client_or_null ("tcp://127.0.0.1:1", TIED_DRIVE_THREADED);
        tied_client_destroy (&client);
        tied_replica_destroy (&replica);
    }
    _exit (0);
}

static void ZQ_17_too_few_descriptors_are_an_error_and_no_abort (void **state)
{
    struct process *process;
    int code;

    (void)state;
    process = again ("descriptors");
    code = process_wait (process);
    if (code != 0)
        print_error ("%s\n", process_errors (process));
    CHECK_I64 (code, ==, 0);
    process_free (&process);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST (ZQ_20_no_signal_handler_of_the_host_is_touched),
        TEST (ZQ_21_a_signal_every_millisecond_loses_no_call),
        TEST (ZQ_19_child_processes_of_a_busy_host_lose_no_call),
        TEST (ZQ_28_an_epoll_host_never_stalls),
        TEST (ZQ_24_destroy_with_unreachable_peers_and_replicas_ends_soon),
        TEST (ZQ_26_answers_given_just_before_destroy_arrive),
        TEST (RQ_21_hosts_come_and_go_many_times),
        TEST (no_descriptor_is_left_open),
        TEST (ZQ_22_exit_without_destroy_ends_at_once_with_0),
        TEST (ZQ_17_too_few_descriptors_are_an_error_and_no_abort),
    };

    if (argc == 2 && strcmp (argv[1], "descriptors") == 0)
        run_out_of_descriptors ();
    if (argc == 2)
        exit_at_work (strcmp (argv[1], "exit-from-thread") == 0);
    return cmocka_run_group_tests_name ("host", tests, NULL, NULL);
}
