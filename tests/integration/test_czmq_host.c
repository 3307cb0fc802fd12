/* SPDX-License-Identifier: MIT */
/*
 * A host that is a czmq program: signals, actors, contexts and the end of the process are czmq's or
 * the host's, before, while and after the library runs. czmq's state belongs to the process, so
 * each way to live and to end is a process of its own: this program with the name of a part.
 */
#include <czmq.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "check.h"

#include <tied/client.h>
#include <tied/replica.h>

#include "process.h"
#include "zmq/clock.h"

/* A host may wait so long for the library at its end. */
#define END_BOUND CHECK_SOON

/* A part ends at once, with 1, when something is not so. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf (stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);       \
            _exit (1);                                                                             \
        }                                                                                          \
    } while (0)

/* Static, so that what is left at exit is no leak. */
static tied_replica_t *replica;
static tied_client_t *client;
static volatile sig_atomic_t host_signals;

static void on_host_signal (int number)
{
    (void)number;
    host_signals++;
}

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static void open_both (void *context, const char *endpoint)
{
    struct tied_replica_options replica_options;
    struct tied_client_options client_options;

    tied_replica_options_init (&replica_options);
    replica_options.id = "a";
    replica_options.zmq_context = context;
    replica = tied_replica_new (&replica_options);
    NEED (tied_replica_bind (replica, endpoint) == 0);
    NEED (tied_replica_handle (replica, "echo", echo, NULL) == 0);
    NEED (tied_replica_start (replica) == 0);
    tied_client_options_init (&client_options);
    client_options.zmq_context = context;
    client = tied_client_new (&client_options);
    NEED (tied_client_add_replica (client, "a", tied_replica_endpoint (replica)) == 0);
    NEED (tied_client_start (client) == 0);
    NEED (tied_client_wait_ready (client, 1, TIED_S (20)) == 0);
}

static bool answers (void)
{
    struct tied_call call;
    struct tied_reply reply;
    bool is_ok;

    tied_call_init (&call, "echo", "x", 1);
    call.timeout_ns = CHECK_PATIENCE;
    NEED (tied_client_call (client, &call, &reply) == 0);
    is_ok = reply.details.outcome == TIED_OUTCOME_OK;
    tied_reply_release (&reply);
    return is_ok;
}

static void close_both (void)
{
    tied_client_destroy (&client);
    NEED (tied_replica_stop (replica, TIED_S (20)) == 0);
    tied_replica_destroy (&replica);
}

static void use_czmq (void)
{
    zsock_t *back = NULL;
    zsock_t *front = zsys_create_pipe (&back);
    char *text;

    zstr_send (front, "hello");
    text = zstr_recv (back);
    NEED (text && strcmp (text, "hello") == 0);
    zstr_free (&text);
    zsock_destroy (&front);
    zsock_destroy (&back);
}

static void handlers (struct sigaction out[2])
{
    NEED (sigaction (SIGINT, NULL, &out[0]) == 0 && sigaction (SIGTERM, NULL, &out[1]) == 0);
}

static bool same (const struct sigaction a[2], const struct sigaction b[2])
{
    return a[0].sa_handler == b[0].sa_handler && a[0].sa_flags == b[0].sa_flags &&
           a[1].sa_handler == b[1].sa_handler && a[1].sa_flags == b[1].sa_flags;
}

static void install_host_handlers (void)
{
    struct sigaction action;

    memset (&action, 0, sizeof action);
    action.sa_handler = on_host_signal;
    NEED (sigaction (SIGINT, &action, NULL) == 0 && sigaction (SIGTERM, &action, NULL) == 0);
}

/* czmq first: its handlers are its own all the time, and they work. */
static void czmq_is_first (void)
{
    struct sigaction before[2], now[2];

    use_czmq ();
    handlers (before);
    NEED (before[0].sa_handler != SIG_DFL);
    open_both (NULL, "tcp://127.0.0.1:*");
    handlers (now);
    NEED (same (before, now));
    NEED (raise (SIGTERM) == 0 && zsys_interrupted);
    NEED (answers ());
    close_both ();
    handlers (now);
    NEED (same (before, now));
}

/* The library first: what czmq finds, and gives back in the end, is what the host had set. */
static void tied_is_first (void)
{
    struct sigaction before[2], now[2];

    install_host_handlers ();
    handlers (before);
    open_both (NULL, "tcp://127.0.0.1:*");
    handlers (now);
    NEED (same (before, now));
    use_czmq ();
    NEED (raise (SIGINT) == 0 && zsys_interrupted && host_signals == 0);
    NEED (answers ());
    close_both ();
    zsys_handler_reset ();
    NEED (raise (SIGINT) == 0 && host_signals == 1);
}

/* A host that keeps its handlers from czmq keeps them from the library, too. */
static void host_keeps_signals (void)
{
    struct sigaction before[2], now[2];

    install_host_handlers ();
    zsys_handler_set (NULL);
    handlers (before);
    open_both (zsys_init (), "inproc://a");
    use_czmq ();
    NEED (raise (SIGINT) == 0 && raise (SIGTERM) == 0 && host_signals == 2);
    NEED (answers () && !zsys_interrupted);
    close_both ();
    handlers (now);
    NEED (same (before, now));
}

/* From here on the other process takes the time. */
static void leave (void)
{
    (void)printf ("leaving\n");
    (void)fflush (stdout);
}

static void all_is_destroyed (void)
{
    use_czmq ();
    open_both (NULL, "tcp://127.0.0.1:*");
    NEED (answers ());
    leave ();
    close_both ();
}

/* Nothing is destroyed, neither ours nor a socket of czmq's. */
static void nothing_is_destroyed (void)
{
    static zsock_t *volatile left;

    left = zsock_new (ZMQ_DEALER);
    NEED (left != NULL);
    open_both (NULL, "tcp://127.0.0.1:*");
    NEED (answers ());
    leave ();
}

static void *call_exit (void *arg)
{
    (void)arg;
    leave ();
    exit (0);
}

/* exit () comes from another thread while the main thread waits inside the library. */
static void another_thread_exits (void)
{
    struct tied_reply reply;
    pthread_t thread;

    use_czmq ();
    open_both (NULL, "tcp://127.0.0.1:*");
    NEED (answers ());
    NEED (pthread_create (&thread, NULL, call_exit, NULL) == 0);
    (void)!tied_client_next (client, TIED_NEVER, &reply);
    _exit (1);
}

/* czmq ends before the library: calls go on, for the context is the library's own. */
static void czmq_shuts_down_first (void)
{
    use_czmq ();
    open_both (NULL, "tcp://127.0.0.1:*");
    leave ();
    zsys_shutdown ();
    NEED (answers ());
    close_both ();
}

/* 100 calls wait for a replica that cannot be reached, in czmq's context. */
static void share_and_submit (void)
{
    struct tied_client_options options;
    struct tied_call call;

    open_both (zsys_init (), "inproc://a");
    NEED (answers ());
    tied_client_destroy (&client);
    tied_client_options_init (&options);
    options.zmq_context = zsys_init ();
    client = tied_client_new (&options);
    NEED (tied_client_add_replica (client, "a", "inproc://a") == 0);
    NEED (tied_client_add_replica (client, "b", "tcp://127.0.0.1:1") == 0);
    NEED (tied_client_start (client) == 0);
    tied_call_init (&call, "echo", "x", 1);
    call.is_idempotent = true;
    call.timeout_ns = TIED_S (60);
    call.to_queue = true;
    for (int i = 0; i < 100; i++)
        NEED (tied_client_submit (client, &call, NULL) == 0);
}

static void shared_context_client_first (void)
{
    share_and_submit ();
    leave ();
    tied_client_destroy (&client);
    tied_replica_destroy (&replica);
    zsys_shutdown ();
}

static void shared_context_replica_first (void)
{
    share_and_submit ();
    leave ();
    tied_replica_destroy (&replica);
    tied_client_destroy (&client);
    zsys_shutdown ();
}

/* czmq's hook at exit terminates its context, which waits for our sockets. */
static void shared_context_is_left (void)
{
    share_and_submit ();
    leave ();
}

struct part {
    const char *name;
    void (*run) (void);
};

#define PART(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct part parts[] = {
    PART (czmq_is_first),
    PART (tied_is_first),
    PART (host_keeps_signals),
    PART (all_is_destroyed),
    PART (nothing_is_destroyed),
    PART (another_thread_exits),
    PART (czmq_shuts_down_first),
    PART (shared_context_client_first),
    PART (shared_context_replica_first),
    PART (shared_context_is_left),
};

static int run_part (const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp (name, parts[i].name) == 0) {
            parts[i].run ();
            exit (0);
        }
    }
    return 2;
}

static void expect_success (struct process *process)
{
    int rc = process_wait (process);

    if (rc != 0)
        print_error ("%s", process_errors (process));
    CHECK_I64 (rc, ==, 0);
    process_free (&process);
}

static void part_succeeds (const char *name)
{
    const char *argv[] = {"/proc/self/exe", name, NULL};

    expect_success (process_start (argv));
}

static void part_leaves_in_time (const char *name)
{
    const char *argv[] = {"/proc/self/exe", name, NULL};
    struct process *process = process_start (argv);
    const char *line = process_line (process);
    tied_time_t left_at = ti_clock_now ();

    if (line)
        CHECK_STR (line, "leaving");
    expect_success (process);
    CHECK_TRUE (line != NULL);
    CHECK_U64 (ti_clock_now () - left_at, <, END_BOUND);
}

static void ZQ_20_handlers_that_czmq_has_set_stay_czmqs (void **state)
{
    (void)state;
    part_succeeds ("czmq_is_first");
}

static void ZQ_20_czmq_gives_back_what_the_host_had_set (void **state)
{
    (void)state;
    part_succeeds ("tied_is_first");
}

static void ZQ_20_a_host_keeps_its_signals_from_czmq_and_from_us (void **state)
{
    (void)state;
    part_succeeds ("host_keeps_signals");
}

static void ZQ_22_a_host_that_destroys_all_ends_in_time (void **state)
{
    (void)state;
    part_leaves_in_time ("all_is_destroyed");
}

static void ZQ_22_a_host_that_destroys_nothing_ends_in_time (void **state)
{
    (void)state;
    part_leaves_in_time ("nothing_is_destroyed");
}

static void ZQ_22_exit_from_another_thread_ends_in_time (void **state)
{
    (void)state;
    part_leaves_in_time ("another_thread_exits");
}

static void ZQ_22_calls_go_on_after_zsys_shutdown (void **state)
{
    (void)state;
    part_leaves_in_time ("czmq_shuts_down_first");
}

static void ZQ_24_a_shared_context_ends_in_time_whoever_goes_first (void **state)
{
    (void)state;
    part_leaves_in_time ("shared_context_client_first");
    part_leaves_in_time ("shared_context_replica_first");
}

static void ZQ_22_exit_with_a_shared_context_ends_in_time (void **state)
{
    (void)state;
    part_leaves_in_time ("shared_context_is_left");
}

int main (int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (ZQ_20_handlers_that_czmq_has_set_stay_czmqs),
        cmocka_unit_test (ZQ_20_czmq_gives_back_what_the_host_had_set),
        cmocka_unit_test (ZQ_20_a_host_keeps_its_signals_from_czmq_and_from_us),
        cmocka_unit_test (ZQ_22_a_host_that_destroys_all_ends_in_time),
        cmocka_unit_test (ZQ_22_a_host_that_destroys_nothing_ends_in_time),
        cmocka_unit_test (ZQ_22_exit_from_another_thread_ends_in_time),
        cmocka_unit_test (ZQ_22_calls_go_on_after_zsys_shutdown),
        cmocka_unit_test (ZQ_22_exit_with_a_shared_context_ends_in_time),
        cmocka_unit_test (ZQ_24_a_shared_context_ends_in_time_whoever_goes_first),
    };

    if (argc == 2)
        return run_part (argv[1]);
    return cmocka_run_group_tests (tests, NULL, process_teardown);
}
