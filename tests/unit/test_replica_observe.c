/* SPDX-License-Identifier: MIT */
/* The observer of a replica (tied_replica_options.observe): each copy once, with its fate. */
#include "wire_client.h"

#include <semaphore.h>
#include <time.h>

#include <tied/replica.h>

#define BOUND       CHECK_PATIENCE
#define RECORDS_MAX 32

struct world {
    tied_replica_t *replica;
    struct wire_client client, peer;
    sem_t entered, leave; /* of the handler "hold" */
    /* Written under the replica's lock, read after a call that took it. */
    struct tied_copy_record records[RECORDS_MAX];
    uint32_t count;
};

static void observe (void *arg, const struct tied_copy_record *record)
{
    struct world *world = arg;
    if (world->count < RECORDS_MAX)
        world->records[world->count] = *record;
    world->count++;
}

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);
    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static void hold (tied_request_t *request, void *arg)
{
    struct world *world = arg;
    sem_post (&world->entered);
    while (sem_wait (&world->leave) != 0) {
    }
    (void)!tied_request_reply (request, NULL, 0);
}

static int setup (void **state)
{
    struct world *world = calloc (1, sizeof *world);
    struct tied_replica_options options;
    if (!world)
        return -1;
    *state = world;
    tied_replica_options_init (&options);
    options.id = "me";
    options.observe = observe;
    options.observe_arg = world;
    options.core.workers = 1;
    sem_init (&world->entered, 0, 0);
    sem_init (&world->leave, 0, 0);
    world->replica = tied_replica_new (&options);
    if (!world->replica || tied_replica_bind (world->replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_bind_peers (world->replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_add_peer (world->replica, "sister", "tcp://127.0.0.1:1") != 0 ||
        tied_replica_handle (world->replica, "echo", echo, NULL) != 0 ||
        tied_replica_handle (world->replica, "hold", hold, world) != 0 ||
        tied_replica_start (world->replica) != 0)
        return -1;
    wire_open (&world->client, tied_replica_endpoint (world->replica));
    wire_open (&world->peer, tied_replica_peer_endpoint (world->replica));
    return 0;
}

static int teardown (void **state)
{
    struct world *world = *state;
    wire_close (&world->client);
    wire_close (&world->peer);
    sem_post (&world->leave);
    tied_replica_destroy (&world->replica);
    sem_destroy (&world->entered);
    sem_destroy (&world->leave);
    free (world);
    return 0;
}

static struct tied_replica_stats stats_of (struct world *world)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};
    CHECK_I64 (tied_replica_stats (world->replica, &stats), ==, 0);
    return stats;
}

static void await (sem_t *semaphore)
{
    struct timespec limit;
    clock_gettime (CLOCK_REALTIME, &limit);
    limit.tv_sec += CHECK_PATIENCE_MS / 1000;
    CHECK_I64 (sem_timedwait (semaphore, &limit), ==, 0);
}

static void say_started (struct world *world, uint64_t sequence)
{
    struct tied_message tie = {.type = TIED_WIRE_STARTED,
                               .u.tie = {.call = {UINT64_C (0x7157), sequence}, .copy = 0}};
    wire_send (&world->peer, &tie);
    wire_sync (&world->peer);
}

static void send (struct world *world, struct tied_message message)
{
    wire_send (&world->client, &message);
    wire_sync (&world->client);
}

/* Call 2 runs until the test says otherwise, so that what comes later waits. */
static void occupy (struct world *world)
{
    struct tied_message request = wire_request (2, 0, "hold", "", 0);
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_REPLICA, "sister");
    wire_send (&world->peer, &hello);
    wire_sync (&world->peer);
    wire_send (&world->client, &request);
    await (&world->entered);
}

static const struct tied_copy_record *
record_of (struct world *world, uint64_t sequence, uint8_t copy, enum tied_fate fate)
{
    const struct tied_copy_record *found = NULL;
    for (uint32_t i = 0; i < world->count; i++) {
        const struct tied_copy_record *record = &world->records[i];
        if (record->call.sequence != sequence || record->copy != copy ||
            record->fate != (uint32_t)fate)
            continue;
        CHECK_TRUE (found == NULL);
        found = record;
    }
    if (!found)
        print_error ("no record of call %u, copy %u, %s\n", (unsigned)sequence, copy,
                     tied_fate_name ((int)fate));
    CHECK_TRUE (found != NULL);
    return found;
}

static void each_fate_is_told_once_and_the_sum_is_what_was_received (void **state)
{
    struct world *world = *state;
    struct tied_message message;
    occupy (world);
    send (world, wire_tied_request (3, 1, "echo", "sister"));
    say_started (world, 3);
    say_started (world, 4);
    send (world, wire_tied_request (4, 1, "echo", "sister"));
    send (world, wire_request (2, 0, "hold", "", 0));
    message = wire_request (2, 2, "hold", "", 0);
    message.u.request.flags |= TIED_REQUEST_REISSUE;
    send (world, message);
    message = wire_request (6, 0, "nothing", "", 0);
    wire_send (&world->client, &message);
    wire_expect (&world->client, TIED_WIRE_REJECT);
    /* Nothing has run yet: what ran for long would make this one too late. */
    message = wire_request (7, 0, "echo", "", 0);
    message.u.request.remaining_us = 20000;
    wire_send (&world->client, &message);
    wire_expect (&world->client, TIED_WIRE_REJECT);
    CHECK_U64 (world->client.in.u.reject.reason, ==, TIED_REJECT_EXPIRED);
    send (world, wire_request (8, 0, "echo", "", 0));
    send (world, wire_cancel (8, TIED_CANCEL_CALLER));
    send (world, wire_cancel (2, TIED_CANCEL_WON));
    sem_post (&world->leave);
    wire_expect (&world->client, TIED_WIRE_REPLY);
    message = wire_request (1, 0, "echo", "hi", 2);
    wire_send (&world->client, &message);
    wire_expect (&world->client, TIED_WIRE_REPLY);
    CHECK_I64 (tied_replica_stop (world->replica, BOUND), ==, 0);

    CHECK_U64 (world->count, ==, stats_of (world).core.received);
    CHECK_U64 (world->count, ==, 9);
    record_of (world, 1, 0, TIED_FATE_EXECUTED);
    record_of (world, 2, 0, TIED_FATE_CANCELLED);
    record_of (world, 2, 0, TIED_FATE_DUPLICATE);
    record_of (world, 2, 2, TIED_FATE_MERGED);
    record_of (world, 3, 1, TIED_FATE_DROPPED);
    record_of (world, 4, 1, TIED_FATE_TOMBSTONED);
    CHECK_U64 (record_of (world, 6, 0, TIED_FATE_REJECTED)->reject, ==, TIED_REJECT_UNKNOWN_METHOD);
    CHECK_U64 (record_of (world, 7, 0, TIED_FATE_EXPIRED)->reject, ==, TIED_REJECT_EXPIRED);
    CHECK_U64 (record_of (world, 8, 0, TIED_FATE_DROPPED)->reject, ==, TIED_REJECT_NONE);
}

static void times_are_those_of_the_copy_on_the_clock_of_the_machine (void **state)
{
    struct world *world = *state;
    tied_time_t before = ti_clock_now ();
    occupy (world);
    struct tied_message message = wire_request (3, 0, "echo", "", 0);
    send (world, message);
    tied_time_t between = ti_clock_now ();
    while (ti_clock_now () < between + MS (5)) {
    }
    sem_post (&world->leave);
    CHECK_I64 (tied_replica_stop (world->replica, BOUND), ==, 0);
    tied_time_t after = ti_clock_now ();
    const struct tied_copy_record *first = record_of (world, 2, 0, TIED_FATE_EXECUTED);
    const struct tied_copy_record *second = record_of (world, 3, 0, TIED_FATE_EXECUTED);
    CHECK_U64 (first->call.epoch, ==, 0x7157);
    CHECK_U64 (first->arrived_at, >=, before);
    CHECK_U64 (first->service_ns, >=, MS (5));
    CHECK_U64 (second->arrived_at, >=, first->arrived_at);
    CHECK_U64 (second->arrived_at, <=, between);
    CHECK_U64 (second->queue_ns, >=, MS (5));
    CHECK_U64 (second->arrived_at + second->queue_ns + second->service_ns, <=, after);
    CHECK_U64 (second->arrived_at + second->queue_ns, >=,
               first->arrived_at + first->queue_ns + first->service_ns);
}

static void every_fate_has_its_name (void **state)
{
    (void)state;
#define CHECK_NAME_(name, value, text) CHECK_STR (tied_fate_name (TIED_FATE_##name), text);
    TIED_FATE_MAP (CHECK_NAME_)
#undef CHECK_NAME_
    CHECK_STR (tied_fate_name (TIED_FATE_COUNT), "?");
    CHECK_STR (tied_fate_name (-1), "?");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (each_fate_is_told_once_and_the_sum_is_what_was_received,
                                         setup, teardown),
        cmocka_unit_test_setup_teardown (times_are_those_of_the_copy_on_the_clock_of_the_machine,
                                         setup, teardown),
        cmocka_unit_test (every_fate_has_its_name),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
