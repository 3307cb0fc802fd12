/* SPDX-License-Identifier: MIT */
/* A replica in this process: its three worker interfaces, cancels, ties, drain and shutdown. */
#include "wire_client.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <semaphore.h>

#include <tied/replica.h>

#define BOUND CHECK_PATIENCE

/* A handler that says that it runs and ends when it is told to. */
struct gate {
    sem_t entered;
    sem_t leave;
    tied_request_t *held; /* by hold (): answered later */
};

struct stopper_arg {
    tied_replica_t *replica;
    _Atomic int rc;
};

struct world {
    struct stopper_arg stopper;
    tied_replica_t *replica;
    struct wire_client client;
    struct gate gate;
};

static void await (sem_t *semaphore)
{
    struct timespec limit;
    clock_gettime (CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_PATIENCE_MS / 1000;
    CHECK_I64 (sem_timedwait (semaphore, &limit), ==, 0);
}

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);
    (void)arg;
    if (tied_request_reply (request, body, size) != 0)
        abort ();
}

static void block (tied_request_t *request, void *arg)
{
    struct gate *gate = arg;
    sem_post (&gate->entered);
    while (sem_wait (&gate->leave) != 0) {
    }
    (void)!tied_request_reply (request, "done", 4);
}

static void hold (tied_request_t *request, void *arg)
{
    struct gate *gate = arg;
    gate->held = request;
    sem_post (&gate->entered);
}

static void stopper (tied_request_t *request, void *arg)
{
    struct stopper_arg *stopper = arg;
    stopper->rc = tied_replica_stop (stopper->replica, 0);
    (void)!tied_request_fail (request, 5, "no", 2);
}

static void make (struct world *world, const char *id, uint32_t service, uint32_t workers)
{
    struct tied_replica_options options;
    memset (world, 0, sizeof *world);
    sem_init (&world->gate.entered, 0, 0);
    sem_init (&world->gate.leave, 0, 0);
    tied_replica_options_init (&options);
    options.id = id;
    options.service = service;
    options.body_max = 100000;
    options.core.workers = workers;
    options.core.queue_depth = 4;
    options.core.hedge_depth = 3;
    options.core.clients_max = 2;
    world->replica = tied_replica_new (&options);
    CHECK_TRUE (world->replica != NULL);
    world->stopper.replica = world->replica;
    CHECK_I64 (tied_replica_bind (world->replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_bind_peers (world->replica, "tcp://127.0.0.1:*"), ==, 0);
    if (service == TIED_SERVICE_PULL)
        return;
    CHECK_I64 (tied_replica_handle (world->replica, "echo", echo, NULL), ==, 0);
    CHECK_I64 (tied_replica_handle (world->replica, "block", block, &world->gate), ==, 0);
    CHECK_I64 (tied_replica_handle (world->replica, "hold", hold, &world->gate), ==, 0);
    CHECK_I64 (tied_replica_handle (world->replica, "stop", stopper, &world->stopper), ==, 0);
}

static void start (struct world *world)
{
    CHECK_I64 (tied_replica_start (world->replica), ==, 0);
    wire_open (&world->client, tied_replica_endpoint (world->replica));
}

static void end (struct world *world)
{
    wire_close (&world->client);
    tied_replica_destroy (&world->replica);
    CHECK_TRUE (world->replica == NULL);
    sem_destroy (&world->gate.entered);
    sem_destroy (&world->gate.leave);
}

static void request (struct world *world, uint64_t sequence, const char *method)
{
    struct tied_message message = wire_request (sequence, 0, method, "hi", 2);
    wire_send (&world->client, &message);
}

static void expect_reply (struct world *world, uint64_t sequence, const char *body)
{
    wire_expect (&world->client, TIED_WIRE_REPLY);
    CHECK_U64 (world->client.in.u.reply.call.sequence, ==, sequence);
    CHECK_U64 (world->client.body_size, ==, strlen (body));
    CHECK_MEM (world->client.body, body, strlen (body));
}

static void expect_reject (struct world *world, uint64_t sequence, int reason)
{
    wire_expect (&world->client, TIED_WIRE_REJECT);
    CHECK_U64 (world->client.in.u.reject.call.sequence, ==, sequence);
    CHECK_STR (tied_reject_name (world->client.in.u.reject.reason), tied_reject_name (reason));
}

static struct tied_replica_stats stats_of (struct world *world)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    CHECK_I64 (tied_replica_stats (world->replica, &stats), ==, 0);
    return stats;
}

/* Until a counter, which another thread changes, has its value. */
#define AWAIT_STAT(world, field, value)                                                            \
    do {                                                                                           \
        tied_time_t until_ = ti_clock_now () + BOUND;                                              \
        while (stats_of (world).field != (value)) {                                                \
            CHECK_U64 (ti_clock_now (), <, until_);                                                \
            sched_yield ();                                                                        \
        }                                                                                          \
    } while (0)

static void pool_answers_with_small_and_large_bodies (void **state)
{
    static const size_t sizes[] = {0, 1, 1024, 1025, 100000};
    static unsigned char body[100000];
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 2);
    start (&world);
    memset (body, 'x', sizeof body);
    for (uint64_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tied_message message = wire_request (i, 0, "echo", body, sizes[i]);
        wire_send (&world.client, &message);
        wire_expect (&world.client, TIED_WIRE_REPLY);
        CHECK_U64 (world.client.in.u.reply.call.sequence, ==, i);
        CHECK_U64 (world.client.in.u.reply.status, ==, 0);
        CHECK_U64 (world.client.body_size, ==, sizes[i]);
        CHECK_MEM (world.client.body, body, sizes[i]);
    }
    CHECK_U64 (stats_of (&world).core.finished, ==, sizeof sizes / sizeof *sizes);
    CHECK_I64 (tied_replica_stop (world.replica, BOUND), ==, 0);
    end (&world);
}

static void ZQ_12_body_over_the_limit_is_answered_and_the_connection_lives (void **state)
{
    static unsigned char body[100001];
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 1);
    start (&world);
    struct tied_message message = wire_request (1, 0, "echo", body, sizeof body);
    wire_send (&world.client, &message);
    expect_reject (&world, 1, TIED_REJECT_TOO_LARGE);
    request (&world, 2, "echo");
    expect_reply (&world, 2, "hi");
    request (&world, 3, "nothing");
    expect_reject (&world, 3, TIED_REJECT_UNKNOWN_METHOD);
    message = wire_request (4, 0, "tied.stats", body, sizeof body);
    wire_send (&world.client, &message);
    expect_reject (&world, 4, TIED_REJECT_TOO_LARGE);
    end (&world);
}

static void busy_pool_goes_on_refusing_and_answering_pings (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 2);
    start (&world);
    for (uint64_t i = 0; i < 6; i++)
        request (&world, i, "block");
    await (&world.gate.entered);
    await (&world.gate.entered);
    AWAIT_STAT (&world, load.depth, 4);
    request (&world, 6, "block");
    expect_reject (&world, 6, TIED_REJECT_FULL);
    CHECK_U64 (world.client.in.u.reject.load.depth, ==, 4);
    wire_sync (&world.client);
    for (int i = 0; i < 6; i++)
        sem_post (&world.gate.leave);
    for (int i = 0; i < 6; i++)
        wire_expect (&world.client, TIED_WIRE_REPLY);
    CHECK_U64 (stats_of (&world).core.rejected_full, ==, 1);
    end (&world);
}

/* Both come in one turn of the thread that then serves the first: another one has to know when the
   second expires. */
static void copy_behind_a_stuck_handler_is_answered_when_its_time_is_over (void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct world world;
        struct tied_message first = wire_request (1, 0, "block", "", 0);
        struct tied_message second = wire_request (2, 0, "echo", "", 0);
        make (&world, "a", TIED_SERVICE_POOL, 1);
        start (&world);
        wire_sync (&world.client);
        second.u.request.remaining_us = 60000;
        wire_send (&world.client, &first);
        wire_send (&world.client, &second);
        wire_expect (&world.client, TIED_WIRE_REJECT);
        CHECK_U64 (world.client.in.u.reject.reason, ==, TIED_REJECT_EXPIRED);
        await (&world.gate.entered);
        sem_post (&world.gate.leave);
        wire_expect (&world.client, TIED_WIRE_REPLY);
        end (&world);
    }
}

static void copies_that_wait_run_on_all_workers_at_once (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 4);
    start (&world);
    for (uint64_t i = 0; i < 4; i++)
        request (&world, i, "block");
    for (int i = 0; i < 4; i++)
        await (&world.gate.entered);
    for (int i = 0; i < 4; i++)
        sem_post (&world.gate.leave);
    for (int i = 0; i < 4; i++)
        wire_expect (&world.client, TIED_WIRE_REPLY);
    end (&world);
}

static void inline_replica_serves_inside_poll_and_its_fd_says_when (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_INLINE, 1);
    start (&world);
    struct pollfd item = {.fd = tied_replica_fd (world.replica), .events = POLLIN, .revents = 0};
    CHECK_I64 (item.fd, >=, 0);
    for (uint64_t i = 0; i < check_scale (1000); i++) {
        int served = 0;
        request (&world, i, "echo");
        while (served == 0) {
            CHECK_I64 (poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
            served = tied_replica_poll (world.replica, 0);
            CHECK_I64 (served, >=, 0);
        }
        expect_reply (&world, i, "hi");
    }
    CHECK_I64 (tied_replica_poll (world.replica, 0), ==, 0);
    CHECK_I64 (tied_replica_stop (world.replica, BOUND), ==, 0);
    CHECK_I64 (tied_replica_poll (world.replica, 0), ==, TIED_ERR_STATE);
    end (&world);
}

static void inline_answer_of_another_time_is_sent_at_once (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_INLINE, 2);
    start (&world);
    request (&world, 1, "hold");
    while (!world.gate.held)
        CHECK_I64 (tied_replica_poll (world.replica, MS (100)), >=, 0);
    CHECK_STR (tied_request_method (world.gate.held), "hold");
    CHECK_U64 (tied_request_call (world.gate.held).sequence, ==, 1);
    CHECK_U64 (tied_request_remaining (world.gate.held), ==, TIED_NEVER);
    CHECK_I64 (tied_request_fail (world.gate.held, 0, NULL, 0), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_request_fail (world.gate.held, TIED_STATUS_REPLY_TOO_LARGE, NULL, 0), ==,
               TIED_ERR_INVAL);
    CHECK_I64 (tied_request_fail (world.gate.held, 7, "later", 5), ==, 0);
    CHECK_I64 (tied_request_reply (world.gate.held, NULL, 0), ==, TIED_ERR_STATE);
    expect_reply (&world, 1, "later");
    CHECK_U64 (world.client.in.u.reply.status, ==, 7);
    end (&world);
}

struct puller {
    tied_replica_t *replica;
    _Atomic uint32_t served;
    _Atomic int ended;
};

static void *pull_thread (void *arg)
{
    struct puller *self = arg;
    tied_request_t *held;
    int rc;
    while ((rc = tied_replica_next (self->replica, TIED_NEVER, &held)) == 0) {
        echo (held, NULL);
        self->served++;
    }
    self->ended = rc;
    return NULL;
}

static void pulling_threads_serve_until_the_replica_stops (void **state)
{
    struct world world;
    struct puller puller;
    pthread_t threads[3];
    (void)state;
    make (&world, "a", TIED_SERVICE_PULL, 3);
    start (&world);
    puller = (struct puller){.replica = world.replica};
    for (int i = 0; i < 3; i++)
        CHECK_I64 (pthread_create (&threads[i], NULL, pull_thread, &puller), ==, 0);
    for (uint64_t i = 0; i < check_scale (2000); i++) {
        request (&world, i, "anything");
        expect_reply (&world, i, "hi");
    }
    CHECK_U64 (puller.served, <=, check_scale (2000));
    CHECK_I64 (tied_replica_stop (world.replica, BOUND), ==, 0);
    for (int i = 0; i < 3; i++)
        pthread_join (threads[i], NULL);
    CHECK_I64 (puller.ended, ==, TIED_ERR_STATE);
    CHECK_U64 (puller.served, ==, check_scale (2000));
    end (&world);
}

static void pull_replica_refuses_while_no_thread_asks (void **state)
{
    struct world world;
    tied_request_t *first = NULL;
    tied_request_t *none = NULL;
    (void)state;
    make (&world, "a", TIED_SERVICE_PULL, 1);
    start (&world);
    for (uint64_t i = 0; i < 5; i++)
        request (&world, i, "m");
    expect_reject (&world, 4, TIED_REJECT_FULL);
    CHECK_I64 (tied_replica_next (world.replica, BOUND, &first), ==, 0);
    CHECK_U64 (tied_request_call (first).sequence, ==, 0);
    CHECK_I64 (tied_replica_next (world.replica, 0, &none), ==, TIED_ERR_TIMEOUT);
    CHECK_TRUE (none == NULL);
    request (&world, 9, "m");
    wire_sync (&world.client);
    CHECK_U64 (stats_of (&world).load.depth, ==, 4);
    CHECK_I64 (tied_request_reply (first, NULL, 0), ==, 0);
    expect_reply (&world, 0, "");
    end (&world);
}

static void on_cancelled (tied_request_t *held, void *arg)
{
    if (tied_request_is_cancelled (held))
        sem_post (arg);
}

static void cancel_reaches_the_running_handler_in_three_ways (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 1);
    start (&world);
    request (&world, 1, "hold");
    await (&world.gate.entered);
    CHECK_FALSE (tied_request_is_cancelled (world.gate.held));
    struct pollfd item = {
        .fd = tied_request_cancel_fd (world.gate.held), .events = POLLIN, .revents = 0};
    CHECK_I64 (poll (&item, 1, 0), ==, 0);
    CHECK_I64 (tied_request_on_cancel (world.gate.held, on_cancelled, &world.gate.leave), ==, 0);
    struct tied_message cancel = wire_cancel (1, TIED_CANCEL_CALLER);
    wire_send (&world.client, &cancel);
    await (&world.gate.leave);
    CHECK_I64 (poll (&item, 1, 0), ==, 1);
    CHECK_TRUE (tied_request_is_cancelled (world.gate.held));
    CHECK_I64 (tied_request_on_cancel (world.gate.held, on_cancelled, &world.gate.leave), ==, 0);
    await (&world.gate.leave);
    CHECK_U64 (stats_of (&world).core.cancel_running, ==, 1);
    CHECK_I64 (tied_request_reply (world.gate.held, NULL, 0), ==, 0);
    end (&world);
}

static void start_here_drops_the_waiting_sibling_there (void **state)
{
    struct world a;
    struct world b;
    (void)state;
    make (&a, "a", TIED_SERVICE_POOL, 1);
    make (&b, "b", TIED_SERVICE_POOL, 1);
    CHECK_I64 (tied_replica_add_peer (a.replica, "b", tied_replica_peer_endpoint (b.replica)), ==,
               0);
    CHECK_I64 (tied_replica_add_peer (b.replica, "a", tied_replica_peer_endpoint (a.replica)), ==,
               0);
    CHECK_I64 (tied_replica_add_peer (a.replica, "b", "tcp://127.0.0.1:1"), ==, TIED_ERR_EXISTS);
    start (&a);
    start (&b);
    /* The HELLO of a has arrived at b when b has bound it; a needs its own link up to send. */
    request (&b, 1, "block");
    await (&b.gate.entered);
    AWAIT_STAT (&a, frames_peer, 2);
    AWAIT_STAT (&b, frames_peer, 2);
    struct tied_message waiting = wire_tied_request (2, 1, "echo", "a");
    wire_send (&b.client, &waiting);
    AWAIT_STAT (&b, load.depth, 1);
    struct tied_message starting = wire_tied_request (2, 0, "echo", "b");
    wire_send (&a.client, &starting);
    expect_reply (&a, 2, "");
    CHECK_U64 (a.client.in.u.reply.flags & TIED_REPLY_SIBLING_TOLD, !=, 0);
    AWAIT_STAT (&b, core.started_effective, 1);
    CHECK_U64 (stats_of (&b).load.depth, ==, 0);
    CHECK_U64 (stats_of (&a).core.started_sent, ==, 1);
    sem_post (&b.gate.leave);
    expect_reply (&b, 1, "done");
    end (&a);
    end (&b);
}

static void drain_refuses_new_copies_and_finishes_old_ones (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 1);
    start (&world);
    request (&world, 1, "block");
    request (&world, 2, "echo");
    await (&world.gate.entered);
    AWAIT_STAT (&world, load.depth, 1);
    CHECK_I64 (tied_replica_drain (world.replica), ==, 0);
    CHECK_FALSE (tied_replica_is_drained (world.replica));
    request (&world, 3, "echo");
    expect_reject (&world, 3, TIED_REJECT_DRAINING);
    CHECK_I64 (tied_replica_stop (world.replica, MS (1)), ==, TIED_ERR_TIMEOUT);
    sem_post (&world.gate.leave);
    expect_reply (&world, 1, "done");
    expect_reply (&world, 2, "hi");
    CHECK_I64 (tied_replica_stop (world.replica, BOUND), ==, 0);
    CHECK_TRUE (tied_replica_is_drained (world.replica));
    CHECK_I64 (tied_replica_stop (world.replica, 0), ==, 0);
    CHECK_I64 (tied_replica_drain (world.replica), ==, TIED_ERR_STATE);
    end (&world);
}

static void *stop_thread (void *arg)
{
    CHECK_I64 (tied_replica_stop (arg, BOUND), ==, 0);
    return NULL;
}

static void *ask_thread (void *arg)
{
    for (int i = 0; i < 50; i++)
        (void)tied_replica_is_drained (arg);
    return NULL;
}

/* The last thread is made when those of the replica end: joined twice, they would be taken for it.
 */
static void several_threads_may_stop_one_replica (void **state)
{
    (void)state;
    for (uint64_t i = 0; i < check_scale (200); i++) {
        pthread_t threads[4];
        struct world world;
        make (&world, "a", i % 2 ? TIED_SERVICE_PULL : TIED_SERVICE_POOL, 2);
        CHECK_I64 (tied_replica_start (world.replica), ==, 0);
        for (int j = 0; j < 4; j++)
            CHECK_I64 (
                pthread_create (&threads[j], NULL, j < 3 ? stop_thread : ask_thread, world.replica),
                ==, 0);
        for (int j = 0; j < 4; j++)
            pthread_join (threads[j], NULL);
        tied_replica_destroy (&world.replica);
        sem_destroy (&world.gate.entered);
        sem_destroy (&world.gate.leave);
    }
}

static void RQ_24_stop_inside_a_handler_is_an_error_and_not_a_deadlock (void **state)
{
    struct world world;
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 1);
    start (&world);
    request (&world, 1, "stop");
    expect_reply (&world, 1, "no");
    CHECK_I64 (world.stopper.rc, ==, TIED_ERR_STATE);
    end (&world);
}

static void ZQ_23_destroy_with_a_stuck_handler_ends_within_its_bound (void **state)
{
    static struct world world; /* the stuck handler looks at it after the test, too */
    (void)state;
    make (&world, "a", TIED_SERVICE_POOL, 1);
    start (&world);
    request (&world, 1, "block");
    await (&world.gate.entered);
    wire_close (&world.client);
    tied_time_t before = ti_clock_now ();
    tied_replica_destroy (&world.replica);
    CHECK_U64 (ti_clock_now () - before, <, CHECK_SOON);
    sem_post (&world.gate.leave);
    /* The thread frees the replica when its handler has answered; nothing tells us when. */
}

static void RQ_21_start_and_stop_many_times_each_ends_soon (void **state)
{
    (void)state;
    for (uint64_t i = 0; i < check_scale (100); i++) {
        struct world world;
        make (&world, "a", (uint32_t)(i % 3), 3);
        CHECK_I64 (tied_replica_start (world.replica), ==, 0);
        tied_time_t before = ti_clock_now ();
        if (i % 2)
            CHECK_I64 (tied_replica_stop (world.replica, BOUND), ==, 0);
        tied_replica_destroy (&world.replica);
        CHECK_U64 (ti_clock_now () - before, <, CHECK_SOON);
        sem_destroy (&world.gate.entered);
        sem_destroy (&world.gate.leave);
    }
}

static void on_signal (int number)
{
    (void)number;
}

static void ZQ_20_signal_handlers_of_the_host_stay (void **state)
{
    struct sigaction mine = {.sa_handler = on_signal};
    struct sigaction after;
    struct world world;
    (void)state;
    CHECK_I64 (sigaction (SIGTERM, &mine, NULL), ==, 0);
    make (&world, "a", TIED_SERVICE_POOL, 1);
    start (&world);
    CHECK_I64 (sigaction (SIGTERM, NULL, &after), ==, 0);
    CHECK_TRUE (after.sa_handler == on_signal);
    CHECK_I64 (raise (SIGTERM), ==, 0);
    request (&world, 1, "echo");
    expect_reply (&world, 1, "hi");
    end (&world);
    signal (SIGTERM, SIG_DFL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (pool_answers_with_small_and_large_bodies),
        cmocka_unit_test (ZQ_12_body_over_the_limit_is_answered_and_the_connection_lives),
        cmocka_unit_test (busy_pool_goes_on_refusing_and_answering_pings),
        cmocka_unit_test (copy_behind_a_stuck_handler_is_answered_when_its_time_is_over),
        cmocka_unit_test (copies_that_wait_run_on_all_workers_at_once),
        cmocka_unit_test (inline_replica_serves_inside_poll_and_its_fd_says_when),
        cmocka_unit_test (inline_answer_of_another_time_is_sent_at_once),
        cmocka_unit_test (pulling_threads_serve_until_the_replica_stops),
        cmocka_unit_test (pull_replica_refuses_while_no_thread_asks),
        cmocka_unit_test (cancel_reaches_the_running_handler_in_three_ways),
        cmocka_unit_test (start_here_drops_the_waiting_sibling_there),
        cmocka_unit_test (drain_refuses_new_copies_and_finishes_old_ones),
        cmocka_unit_test (several_threads_may_stop_one_replica),
        cmocka_unit_test (RQ_24_stop_inside_a_handler_is_an_error_and_not_a_deadlock),
        cmocka_unit_test (ZQ_23_destroy_with_a_stuck_handler_ends_within_its_bound),
        cmocka_unit_test (RQ_21_start_and_stop_many_times_each_ends_soon),
        cmocka_unit_test (ZQ_20_signal_handlers_of_the_host_stay),
    };
    return cmocka_run_group_tests_name ("replica", tests, NULL, NULL);
}
