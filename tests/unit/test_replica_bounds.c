/* SPDX-License-Identifier: MIT */
/* What a replica in this process may hold and use at most: bytes, threads, and time in which nobody
   looked. */
#include "wire_client.h"

#include <semaphore.h>
#include <time.h>

#include <tied/replica.h>

struct gate {
    sem_t entered;
    sem_t leave;
    tied_request_t *held[4];
    uint32_t held_count;
};

struct scene {
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

/* Answers first and then goes on working. */
static void linger (tied_request_t *request, void *arg)
{
    struct gate *gate = arg;
    if (tied_request_reply (request, "early", 5) != 0)
        abort ();
    sem_post (&gate->entered);
    while (sem_wait (&gate->leave) != 0) {
    }
}

/* Answered later, by the test. */
static void hold (tied_request_t *request, void *arg)
{
    struct gate *gate = arg;
    gate->held[gate->held_count++ % 4] = request;
}

static void set_options (struct tied_replica_options *options, uint32_t service, uint32_t workers)
{
    tied_replica_options_init (options);
    options->id = "a";
    options->service = service;
    options->core.workers = workers;
}

static void open_scene (struct scene *self, const struct tied_replica_options *options)
{
    memset (self, 0, sizeof *self);
    sem_init (&self->gate.entered, 0, 0);
    sem_init (&self->gate.leave, 0, 0);
    self->replica = tied_replica_new (options);
    CHECK_TRUE (self->replica != NULL);
    CHECK_I64 (tied_replica_bind (self->replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (self->replica, "linger", linger, &self->gate), ==, 0);
    CHECK_I64 (tied_replica_handle (self->replica, "hold", hold, &self->gate), ==, 0);
    CHECK_I64 (tied_replica_start (self->replica), ==, 0);
    wire_open (&self->client, tied_replica_endpoint (self->replica));
}

static void close_scene (struct scene *self)
{
    wire_close (&self->client);
    tied_replica_destroy (&self->replica);
    sem_destroy (&self->gate.entered);
    sem_destroy (&self->gate.leave);
}

static struct tied_replica_stats stats_of (const struct scene *self)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    CHECK_I64 (tied_replica_stats (self->replica, &stats), ==, 0);
    return stats;
}

/* Until the replica has it: held, waiting or refused. */
static void send_hold (struct scene *self, uint64_t sequence, size_t size)
{
    static unsigned char body[100000];
    struct tied_message message = wire_request (sequence, 0, "hold", body, size);
    uint64_t received = stats_of (self).core.received;
    tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;
    wire_send (&self->client, &message);
    while (stats_of (self).core.received == received) {
        CHECK_I64 (tied_replica_poll (self->replica, MS (10)), >=, 0);
        CHECK_U64 (ti_clock_now (), <, give_up);
    }
}

static void expect_full (struct scene *self, uint64_t sequence)
{
    wire_expect (&self->client, TIED_WIRE_REJECT);
    CHECK_U64 (self->client.in.u.reject.call.sequence, ==, sequence);
    CHECK_STR (tied_reject_name (self->client.in.u.reject.reason), "full");
}

static void copies_over_queue_bytes_are_refused_as_full_until_one_is_answered (void **state)
{
    struct tied_replica_options options;
    struct scene scene;

    (void)state;
    set_options (&options, TIED_SERVICE_INLINE, 2);
    options.body_max = 100000;
    options.queue_bytes = 150000;
    open_scene (&scene, &options);
    send_hold (&scene, 1, 100000); /* runs */
    CHECK_U64 (scene.gate.held_count, ==, 1);
    send_hold (&scene, 2, 100000);
    expect_full (&scene, 2);
    send_hold (&scene, 3, 20000); /* runs */
    CHECK_U64 (scene.gate.held_count, ==, 2);
    send_hold (&scene, 4, 20000); /* waits */
    send_hold (&scene, 5, 20000);
    expect_full (&scene, 5);
    CHECK_U64 (stats_of (&scene).over_queue_bytes, ==, 2);
    CHECK_U64 (stats_of (&scene).core.rejected_full, ==, 2);
    CHECK_U64 (stats_of (&scene).load.depth, ==, 1);

    CHECK_I64 (tied_request_reply (scene.gate.held[0], NULL, 0), ==, 0);
    wire_expect (&scene.client, TIED_WIRE_REPLY);
    send_hold (&scene, 6, 90000);
    CHECK_U64 (stats_of (&scene).over_queue_bytes, ==, 2);
    close_scene (&scene);
}

/* A body of body_max with its header is longer than queue_bytes: alone it is taken all the same. */
static void the_only_copy_is_taken_whatever_its_size (void **state)
{
    struct tied_replica_options options;
    struct scene scene;
    const char *field = "";

    (void)state;
    set_options (&options, TIED_SERVICE_INLINE, 1);
    options.body_max = 100000;
    options.queue_bytes = 99999;
    CHECK_I64 (tied_replica_options_check (&options, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, "queue_bytes");
    options.queue_bytes = (UINT64_C (1) << 40) + 1;
    CHECK_I64 (tied_replica_options_check (&options, &field), ==, TIED_ERR_INVAL);
    options.queue_bytes = 100000;
    open_scene (&scene, &options);
    for (uint64_t i = 0; i < 3; i++) {
        send_hold (&scene, i, 100000);
        CHECK_U64 (scene.gate.held_count, ==, i + 1);
        CHECK_I64 (tied_request_reply (scene.gate.held[i], NULL, 0), ==, 0);
        wire_expect (&scene.client, TIED_WIRE_REPLY);
    }
    close_scene (&scene);
}

static void handlers_that_answer_early_leave_a_thread_to_receive (void **state)
{
    struct tied_replica_options options;
    struct scene scene;

    (void)state;
    set_options (&options, TIED_SERVICE_POOL, 2);
    open_scene (&scene, &options);
    for (uint64_t i = 0; i < 4; i++) {
        struct tied_message message = wire_request (i, 0, "linger", "", 0);
        wire_send (&scene.client, &message);
    }
    for (int i = 0; i < 2; i++) {
        await (&scene.gate.entered);
        wire_expect (&scene.client, TIED_WIRE_REPLY);
    }
    /* Both workers are at it: the other two wait, and somebody still answers. */
    for (int i = 0; i < 3; i++)
        wire_sync (&scene.client);
    CHECK_U64 (stats_of (&scene).core.executed, ==, 2);
    CHECK_U64 (stats_of (&scene).load.depth, ==, 2);
    for (int i = 0; i < 4; i++)
        sem_post (&scene.gate.leave);
    for (int i = 0; i < 2; i++) {
        wire_expect (&scene.client, TIED_WIRE_REPLY);
        await (&scene.gate.entered);
    }
    close_scene (&scene);
}

struct flood {
    struct wire_client client;
    uint32_t count;
    uint32_t ran;
};

static void count_run (tied_request_t *request, void *arg)
{
    struct flood *flood = arg;
    flood->ran++;
    (void)!tied_request_reply (request, NULL, 0);
}

/* Stands for a process that is stopped: in its time a client asks and gives up. */
static void stand_still (tied_request_t *request, void *arg)
{
    struct flood *flood = arg;
    tied_time_t until = ti_clock_now () + MS (150);
    for (uint64_t i = 1; i <= flood->count; i++) {
        struct tied_message message = wire_request (i, 0, "count", "", 0);
        wire_send (&flood->client, &message);
    }
    for (uint64_t i = 1; i <= flood->count; i++) {
        struct tied_message message = wire_cancel (i, TIED_CANCEL_CALLER);
        wire_send (&flood->client, &message);
    }
    while (ti_clock_now () < until) {
    }
    (void)!tied_request_reply (request, NULL, 0);
}

/* RQ-01 for a replica that has slept: the cancels lie behind more messages than one turn takes.
   Over inproc, so that all of them are there when the replica looks. */
static void RQ_01_cancels_that_came_while_nobody_looked_come_before_the_copies_run (void **state)
{
    const struct ti_sock_options dealer = {
        .type = ZMQ_DEALER, .send_hwm = 10000, .recv_hwm = 10000, .frame_max = -1};
    struct tied_replica_options options;
    struct flood flood = {.count = 300};
    tied_replica_t *replica;
    void *context = zmq_ctx_new ();

    (void)state;
    set_options (&options, TIED_SERVICE_INLINE, 1);
    options.zmq_context = context;
    replica = tied_replica_new (&options);
    CHECK_I64 (tied_replica_bind (replica, "inproc://flood"), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "count", count_run, &flood), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "still", stand_still, &flood), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);
    flood.client.sock = ti_sock_new (context, &dealer);
    CHECK_I64 (ti_sock_connect (flood.client.sock, "inproc://flood"), ==, 0);
    struct tied_message message = wire_request (0, 0, "still", "", 0);
    wire_send (&flood.client, &message);
    while (tied_replica_poll (replica, MS (10)) == 0) {
    }
    while (tied_replica_poll (replica, 0) > 0) {
    }
    CHECK_U64 (flood.ran, ==, 0);
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    CHECK_I64 (tied_replica_stats (replica, &stats), ==, 0);
    CHECK_U64 (stats.core.cancel_queued, ==, flood.count);
    wire_close (&flood.client);
    tied_replica_destroy (&replica);
    while (zmq_ctx_term (context) != 0 && zmq_errno () == EINTR) {
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (copies_over_queue_bytes_are_refused_as_full_until_one_is_answered),
        cmocka_unit_test (the_only_copy_is_taken_whatever_its_size),
        cmocka_unit_test (handlers_that_answer_early_leave_a_thread_to_receive),
        cmocka_unit_test (RQ_01_cancels_that_came_while_nobody_looked_come_before_the_copies_run),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
