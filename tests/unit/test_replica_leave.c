/* SPDX-License-Identifier: MIT */
/* A replica is left in peace by nobody: its host's functions end in their time all the same. */
#include "wire_client.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include <tied/replica.h>

#include "base/util.h"

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    if (tied_request_reply (request, body, size) != 0)
        abort ();
}

static tied_replica_t *start (uint32_t service)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = "a";
    options.service = service;
    replica = tied_replica_new (&options);
    CHECK_TRUE (replica != NULL);
    CHECK_I64 (tied_replica_bind (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "echo", echo, NULL), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);
    return replica;
}

/* A client that sends as fast as it is told to, whatever comes back. */
struct pest {
    char endpoint[256];
    struct tied_message message;
    long pause_ms; /* between two messages; 0: none */
    atomic_bool is_over;
    atomic_uint sent;
    pthread_t thread;
};

static void *pester (void *arg)
{
    struct pest *self = arg;
    struct wire_client client;

    wire_open (&client, self->endpoint);
    while (!atomic_load (&self->is_over)) {
        self->message.u.request.call.sequence++;
        if (ti_sock_send (client.sock, NULL, 0, &self->message, 1024) == 0)
            atomic_fetch_add (&self->sent, 1);
        if (self->pause_ms > 0)
            (void)wire_receive_within (&client, self->pause_ms);
    }
    wire_close (&client);
    return NULL;
}

static void pest_start (struct pest *self, const tied_replica_t *replica)
{
    snprintf (self->endpoint, sizeof self->endpoint, "%s", tied_replica_endpoint (replica));
    atomic_init (&self->is_over, false);
    atomic_init (&self->sent, 0);
    CHECK_I64 (pthread_create (&self->thread, NULL, pester, self), ==, 0);
}

static void pest_stop (struct pest *self)
{
    atomic_store (&self->is_over, true);
    pthread_join (self->thread, NULL);
}

static void stop_ends_although_clients_go_on_asking (void **state)
{
    tied_replica_t *replica = start (TIED_SERVICE_POOL);
    struct pest pest = {.message = wire_request (0, 0, "echo", "", 0), .pause_ms = 5};
    tied_time_t before;

    (void)state;
    pest_start (&pest, replica);
    while (atomic_load (&pest.sent) < 3)
        sched_yield ();
    before = ti_clock_now ();
    CHECK_I64 (tied_replica_stop (replica, CHECK_PATIENCE), ==, 0);
    CHECK_U64 (ti_clock_now () - before, <, CHECK_SOON);
    pest_stop (&pest);
    tied_replica_destroy (&replica);
}

static void *stop_it (void *arg)
{
    return tied_replica_stop (arg, CHECK_PATIENCE) == 0 ? arg : NULL;
}

static void threads_that_stop_at_the_same_time_all_return (void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        tied_replica_t *replica = start (TIED_SERVICE_POOL);
        pthread_t threads[3];

        for (int i = 0; i < 3; i++)
            CHECK_I64 (pthread_create (&threads[i], NULL, stop_it, replica), ==, 0);
        for (int i = 0; i < 3; i++) {
            void *result;
            CHECK_I64 (pthread_join (threads[i], &result), ==, 0);
            CHECK_PTR (result, ==, (void *)replica);
        }
        tied_replica_destroy (&replica);
    }
}

struct guest {
    tied_replica_t *replica;
    sem_t entered;
    sem_t leave;
    atomic_bool has_left;
};

/* Answers, and is not done until well after the farewell. */
static void stay (tied_request_t *request, void *arg)
{
    struct guest *guest = arg;

    sem_post (&guest->entered);
    while (sem_wait (&guest->leave) != 0) {
    }
    if (tied_request_reply (request, NULL, 0) != 0)
        abort ();
    tied_time_t until = ti_clock_now () + MS (200);
    while (ti_clock_now () < until) {
    }
    atomic_store (&guest->has_left, true);
}

/* TIED_ERR_STATE: the test itself is in there just now. */
static void *poll_once (void *arg)
{
    struct guest *guest = arg;
    int rc;

    do
        rc = tied_replica_poll (guest->replica, S (60));
    while (rc == TIED_ERR_STATE && !atomic_load (&guest->has_left));
    return rc == 1 ? arg : NULL;
}

static void stop_waits_for_a_handler_that_another_thread_is_in (void **state)
{
    struct guest guest = {.has_left = false};
    struct tied_replica_options options;
    struct tied_message message = wire_request (1, 0, "stay", "", 0);
    struct wire_client client;
    pthread_t poller;
    pthread_t stopper;
    tied_time_t before;
    void *result;

    (void)state;
    sem_init (&guest.entered, 0, 0);
    sem_init (&guest.leave, 0, 0);
    tied_replica_options_init (&options);
    options.id = "a";
    options.service = TIED_SERVICE_INLINE;
    guest.replica = tied_replica_new (&options);
    CHECK_I64 (tied_replica_bind (guest.replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (guest.replica, "stay", stay, &guest), ==, 0);
    CHECK_I64 (tied_replica_start (guest.replica), ==, 0);
    CHECK_I64 (pthread_create (&poller, NULL, poll_once, &guest), ==, 0);
    wire_open (&client, tied_replica_endpoint (guest.replica));
    wire_send (&client, &message);
    while (sem_wait (&guest.entered) != 0) {
    }
    before = ti_clock_now ();
    CHECK_I64 (tied_replica_stop (guest.replica, MS (100)), ==, TIED_ERR_TIMEOUT);
    CHECK_U64 (ti_clock_now () - before, >=, MS (100));
    CHECK_I64 (pthread_create (&stopper, NULL, stop_it, guest.replica), ==, 0);
    sem_post (&guest.leave);
    CHECK_I64 (pthread_join (stopper, &result), ==, 0);
    CHECK_PTR (result, ==, (void *)guest.replica);
    CHECK_TRUE (atomic_load (&guest.has_left));
    CHECK_I64 (pthread_join (poller, &result), ==, 0);
    CHECK_PTR (result, ==, (void *)&guest);
    wire_close (&client);
    tied_replica_destroy (&guest.replica);
    sem_destroy (&guest.entered);
    sem_destroy (&guest.leave);
}

/* The other thread has nothing to do and waits: it must not keep the one that stops. */
static void stop_ends_although_another_thread_waits_in_poll (void **state)
{
    struct guest guest = {.replica = start (TIED_SERVICE_INLINE)};
    pthread_t poller;
    tied_time_t before = ti_clock_now ();

    (void)state;
    CHECK_I64 (pthread_create (&poller, NULL, poll_once, &guest), ==, 0);
    while (tied_replica_poll (guest.replica, 0) != TIED_ERR_STATE)
        CHECK_U64 (ti_clock_now () - before, <, CHECK_PATIENCE);
    before = ti_clock_now ();
    CHECK_I64 (tied_replica_stop (guest.replica, CHECK_PATIENCE), ==, 0);
    CHECK_U64 (ti_clock_now () - before, <, CHECK_SOON);
    atomic_store (&guest.has_left, true);
    pthread_join (poller, NULL);
    tied_replica_destroy (&guest.replica);
}

/* The host of an inline replica has more to do than to listen to one client. Over inproc, so that
   the flood is there from the outset. One poll () may take what is due after a gap, which is as
   much as this machine can do in that time: so the flood grows until one of them has left
   something. */
static void poll_ends_under_a_flood_of_messages_that_start_nothing (void **state)
{
    enum {
        FLOOD = 50000,
        FLOOD_MAX = 32 * FLOOD /* in all; half of it within what a gap allows is 25 ns each */
    };
    const struct ti_sock_options dealer = {
        .type = ZMQ_DEALER, .send_hwm = FLOOD_MAX, .recv_hwm = FLOOD, .frame_max = -1};
    struct tied_replica_options options;
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    struct wire_client client = {.context = zmq_ctx_new ()};
    tied_replica_t *replica;
    uint64_t sent = 0;

    (void)state;
    tied_replica_options_init (&options);
    options.id = "a";
    options.service = TIED_SERVICE_INLINE;
    options.zmq_context = client.context;
    replica = tied_replica_new (&options);
    CHECK_TRUE (replica != NULL);
    CHECK_I64 (tied_replica_bind (replica, "inproc://flood"), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);
    client.sock = ti_sock_new (client.context, &dealer);
    CHECK_I64 (ti_sock_connect (client.sock, "inproc://flood"), ==, 0);
    for (uint64_t flood = FLOOD; stats.frames_client == sent; flood *= 2) {
        CHECK_U64 (flood, <, FLOOD_MAX);
        for (uint64_t i = 0; i < flood; i++) {
            struct tied_message message = wire_request (sent++, 0, "nobody-has-this", "", 0);
            wire_send (&client, &message);
        }
        CHECK_I64 (tied_replica_poll (replica, 0), ==, 0);
        CHECK_I64 (tied_replica_stats (replica, &stats), ==, 0);
    }
    while (stats.frames_client < sent) {
        uint64_t before = stats.frames_client;

        CHECK_I64 (tied_replica_poll (replica, 0), ==, 0);
        CHECK_I64 (tied_replica_stats (replica, &stats), ==, 0);
        CHECK_U64 (stats.frames_client, >, before);
    }
    ti_sock_close (&client.sock);
    tied_replica_destroy (&replica);
    wire_close (&client);
}

static void on_signal (int number)
{
    (void)number;
}

struct shaker {
    pthread_t target;
    atomic_bool is_over;
};

static void *shake (void *arg)
{
    struct shaker *self = arg;

    while (!atomic_load (&self->is_over)) {
        pthread_kill (self->target, SIGUSR1);
        sched_yield ();
    }
    return NULL;
}

static int count_threads (void)
{
    DIR *tasks = opendir ("/proc/self/task");
    int count = 0;

    CHECK_TRUE (tasks != NULL);
    while (readdir (tasks))
        count++;
    closedir (tasks);
    return count;
}

static void ZQ_21_destroy_under_signals_leaves_no_thread (void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    int threads = count_threads ();

    (void)state;
    CHECK_I64 (sigaction (SIGUSR1, &action, &before), ==, 0);
    for (int round = 0; round < 20; round++) {
        tied_replica_t *replica = start (TIED_SERVICE_INLINE);
        struct shaker shaker = {.target = pthread_self ()};
        pthread_t thread;

        CHECK_I64 (pthread_create (&thread, NULL, shake, &shaker), ==, 0);
        tied_replica_destroy (&replica);
        atomic_store (&shaker.is_over, true);
        pthread_join (thread, NULL);
    }
    sigaction (SIGUSR1, &before, NULL);
    /* One that was joined is to be seen there for a moment longer. */
    for (tied_time_t until = ti_clock_now () + CHECK_PATIENCE; count_threads () > threads;)
        CHECK_U64 (ti_clock_now (), <, until);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (stop_ends_although_clients_go_on_asking),
        cmocka_unit_test (threads_that_stop_at_the_same_time_all_return),
        cmocka_unit_test (stop_waits_for_a_handler_that_another_thread_is_in),
        cmocka_unit_test (stop_ends_although_another_thread_waits_in_poll),
        cmocka_unit_test (poll_ends_under_a_flood_of_messages_that_start_nothing),
        cmocka_unit_test (ZQ_21_destroy_under_signals_leaves_no_thread),
    };

    return cmocka_run_group_tests_name ("replica leaves", tests, NULL, NULL);
}
