/* SPDX-License-Identifier: MIT */
/* What a replica makes of bytes that no honest peer sends: it counts them, and goes on. */
#include "wire_client.h"

#include <sched.h>
#include <semaphore.h>

#include <msgpack.h>

#include <tied/replica.h>

#include "base/prng.h"

struct world {
    tied_replica_t *replica;
    struct wire_client client; /* at the client endpoint */
    struct wire_client peer;   /* at the peer endpoint */
    sem_t leave;               /* one handler of "hold" each */
};

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);
    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

/* Waits in its handler until the test says otherwise. */
static void hold (tied_request_t *request, void *arg)
{
    sem_t *leave = arg;
    while (sem_wait (leave) != 0) {
    }
    if (tied_request_reply (request, NULL, 0) != 0)
        abort ();
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
    options.core.clients_max = 2;
    options.core.client_silence_ns = TIED_NEVER;
    sem_init (&world->leave, 0, 0);
    world->replica = tied_replica_new (&options);
    if (!world->replica || tied_replica_bind (world->replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_bind_peers (world->replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_add_peer (world->replica, "sister", "tcp://127.0.0.1:1") != 0 ||
        tied_replica_handle (world->replica, "echo", echo, NULL) != 0 ||
        tied_replica_handle (world->replica, "hold", hold, &world->leave) != 0 ||
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
    tied_replica_destroy (&world->replica);
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

static struct tied_message started (uint64_t sequence)
{
    return (struct tied_message){.type = TIED_WIRE_STARTED,
                                 .u.tie = {.call = {UINT64_C (0x7157), sequence}, .copy = 0}};
}

static void send_raw (struct wire_client *client, const void *bytes, size_t size, int flags)
{
    CHECK_I64 (zmq_send (client->sock, bytes, size, flags), ==, size);
}

static void hello_is_answered_with_who_and_what (void **state)
{
    struct world *world = *state;
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_CLIENT, "any");
    wire_send (&world->client, &hello);
    wire_expect (&world->client, TIED_WIRE_WELCOME);
    const struct tied_wire_welcome *welcome = &world->client.in.u.welcome;
    CHECK_U64 (welcome->id.size, ==, 2);
    CHECK_MEM (welcome->id.data, "me", 2);
    CHECK_U64 (welcome->time_ns, ==, 99);
    CHECK_U64 (welcome->incarnation, !=, 0);
    CHECK_U64 (welcome->incarnation, ==, stats_of (world).incarnation);
    CHECK_U64 (welcome->body_max, ==, 8 << 20);
    CHECK_U64 (welcome->workers, ==, 4);
}

static void message_of_a_peer_at_the_client_endpoint_is_misdirected (void **state)
{
    struct world *world = *state;
    struct tied_message tie = started (1);
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_REPLICA, "sister");
    struct tied_message welcome = {
        .type = TIED_WIRE_WELCOME,
        .u.welcome = {.id = {"x", 1}, .incarnation = 1, .queue_depth = 1, .workers = 1}};
    wire_send (&world->client, &tie);
    wire_send (&world->client, &hello);
    wire_send (&world->client, &welcome);
    wire_sync (&world->client);
    CHECK_U64 (stats_of (world).misdirected, ==, 3);
    CHECK_U64 (stats_of (world).core.started_received, ==, 0);
}

static void request_at_the_peer_endpoint_is_misdirected (void **state)
{
    struct world *world = *state;
    struct tied_message request = wire_request (1, 0, "echo", "", 0);
    struct tied_message cancel = wire_cancel (1, TIED_CANCEL_WON);
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_CLIENT, "sister");
    wire_send (&world->peer, &request);
    wire_send (&world->peer, &cancel);
    wire_send (&world->peer, &hello);
    wire_sync (&world->peer);
    CHECK_U64 (stats_of (world).misdirected, ==, 3);
    CHECK_U64 (stats_of (world).core.received, ==, 0);
}

static void started_counts_only_after_the_hello_of_a_known_peer (void **state)
{
    struct world *world = *state;
    struct tied_message tie = started (1);
    struct tied_message stranger = wire_hello (TIED_WIRE_ROLE_REPLICA, "nobody");
    struct tied_message sister = wire_hello (TIED_WIRE_ROLE_REPLICA, "sister");
    wire_send (&world->peer, &tie);
    wire_send (&world->peer, &stranger);
    wire_send (&world->peer, &tie);
    wire_sync (&world->peer);
    CHECK_U64 (stats_of (world).strangers, ==, 3);
    CHECK_U64 (stats_of (world).core.started_received, ==, 0);
    wire_send (&world->peer, &sister);
    wire_expect (&world->peer, TIED_WIRE_WELCOME);
    wire_send (&world->peer, &tie);
    wire_sync (&world->peer);
    CHECK_U64 (stats_of (world).strangers, ==, 3);
    CHECK_U64 (stats_of (world).core.started_early, ==, 1);
}

static void hello_over_a_new_connection_replaces_the_old_one (void **state)
{
    struct world *world = *state;
    struct wire_client second;
    struct tied_message sister = wire_hello (TIED_WIRE_ROLE_REPLICA, "sister");
    struct tied_message tie = started (1);
    wire_send (&world->peer, &sister);
    wire_expect (&world->peer, TIED_WIRE_WELCOME);
    wire_open (&second, tied_replica_peer_endpoint (world->replica));
    wire_send (&second, &sister);
    wire_expect (&second, TIED_WIRE_WELCOME);
    wire_send (&world->peer, &tie);
    wire_sync (&world->peer);
    CHECK_U64 (stats_of (world).strangers, ==, 1);
    wire_send (&second, &tie);
    wire_sync (&second);
    CHECK_U64 (stats_of (world).core.started_received, ==, 1);
    wire_close (&second);
}

static void RQ_11_cancel_before_the_copy_prevents_it_and_nothing_is_answered (void **state)
{
    struct world *world = *state;
    struct tied_message sister = wire_hello (TIED_WIRE_ROLE_REPLICA, "sister");
    struct tied_message tie = started (5);
    struct tied_message request = wire_tied_request (5, 1, "echo", "sister");
    wire_send (&world->peer, &sister);
    wire_send (&world->peer, &tie);
    wire_sync (&world->peer);
    wire_send (&world->client, &request);
    struct tied_message ping = wire_ping (1);
    wire_send (&world->client, &ping);
    wire_expect (&world->client, TIED_WIRE_PONG);
    CHECK_U64 (stats_of (world).core.tombstoned, ==, 1);
    CHECK_U64 (stats_of (world).core.executed, ==, 0);
}

static void sibling_that_is_no_peer_is_served_untied_and_counted (void **state)
{
    struct world *world = *state;
    struct tied_message request = wire_tied_request (5, 0, "echo", "nobody");
    wire_send (&world->client, &request);
    wire_expect (&world->client, TIED_WIRE_REPLY);
    CHECK_U64 (stats_of (world).core.sibling_unknown, ==, 1);
}

static void ZQ_13_frames_too_many_too_few_or_in_the_wrong_place_are_counted (void **state)
{
    struct world *world = *state;
    struct tied_message request = wire_request (1, 0, "echo", "abc", 3);
    unsigned char header[1024];
    int size = tied_wire_encode (&request, header, sizeof header);
    CHECK_I64 (size, >, 0);
    /* inline body, and a body frame as well */
    send_raw (&world->client, header, (size_t)size, ZMQ_SNDMORE);
    send_raw (&world->client, "abc", 3, 0);
    /* announced body frame that does not come */
    request.u.request.body_follows = true;
    size = tied_wire_encode (&request, header, sizeof header);
    CHECK_I64 (size, >, 0);
    send_raw (&world->client, header, (size_t)size, 0);
    /* 65 frames */
    for (int i = 0; i < 64; i++)
        send_raw (&world->client, header, (size_t)size, ZMQ_SNDMORE);
    send_raw (&world->client, header, (size_t)size, 0);
    wire_sync (&world->client);
    CHECK_U64 (stats_of (world).multipart, ==, 3);
    CHECK_U64 (stats_of (world).core.received, ==, 0);
}

static void wrong_version_and_unknown_type_are_told_apart (void **state)
{
    struct world *world = *state;
    static const unsigned char version[] = {0x93, 0x02, 0x09, 0x01};
    static const unsigned char type[] = {0x93, 0x01, 0x63, 0x01};
    send_raw (&world->client, version, sizeof version, 0);
    send_raw (&world->client, type, sizeof type, 0);
    send_raw (&world->client, "", 0, 0);
    wire_sync (&world->client);
    struct tied_replica_stats stats = stats_of (world);
    CHECK_U64 (stats.malformed, ==, 3);
    CHECK_U64 (stats.malformed_version, ==, 1);
    CHECK_U64 (stats.malformed_type, ==, 1);
}

/* Every frame is accounted for: malformed, multipart, misdirected, stranger or a message. */
static void ZQ_14_random_and_mutated_frames_leave_both_endpoints_working (void **state)
{
    struct world *world = *state;
    struct wire_client *both[] = {&world->client, &world->peer};
    struct tied_message request = wire_request (1, 0, "echo", "abc", 3);
    unsigned char original[1024];
    int size = tied_wire_encode (&request, original, sizeof original);
    struct ti_prng prng;
    uint64_t sent = 0;
    CHECK_I64 (size, >, 0);
    ti_prng_seed (&prng, 1);
    for (uint64_t i = 0; i < check_scale (5000); i++) {
        unsigned char bytes[1024];
        size_t length = (size_t)size;
        memcpy (bytes, original, length);
        if (i % 2) {
            for (uint64_t k = 0; k < 3; k++)
                bytes[ti_prng_below (&prng, length)] = (unsigned char)ti_prng_next (&prng);
        } else {
            length = ti_prng_below (&prng, 64);
            for (size_t k = 0; k < length; k++)
                bytes[k] = (unsigned char)ti_prng_next (&prng);
        }
        for (int k = 0; k < 2; k++)
            send_raw (both[k], bytes, length, 0);
        sent++;
        if (i % 500 == 0) {
            wire_sync (&world->client);
            wire_sync (&world->peer);
            sent += 1;
        }
    }
    wire_sync (&world->client);
    wire_sync (&world->peer);
    sent++;
    struct tied_replica_stats stats = stats_of (world);
    CHECK_U64 (stats.frames_client, ==, sent);
    CHECK_U64 (stats.frames_peer, ==, sent);
    CHECK_U64 (stats.malformed, >, sent / 2);
}

static void ZQ_03_reply_to_a_vanished_client_is_dropped_and_the_next_is_whole (void **state)
{
    struct world *world = *state;
    for (uint64_t i = 0; i < check_scale (20); i++) {
        struct wire_client ghost;
        struct tied_message request = wire_request (i, 0, "echo", "boo", 3);
        wire_open (&ghost, tied_replica_endpoint (world->replica));
        wire_send (&ghost, &request);
        wire_close (&ghost);
        request = wire_request (1000 + i, 0, "echo", "real", 4);
        wire_send (&world->client, &request);
        wire_expect (&world->client, TIED_WIRE_REPLY);
        CHECK_U64 (world->client.in.u.reply.call.sequence, ==, 1000 + i);
        CHECK_MEM (world->client.body, "real", 4);
    }
}

static void client_beyond_the_limit_is_told_that_the_replica_is_full (void **state)
{
    struct world *world = *state;
    struct wire_client others[2];
    struct wire_client *busy[] = {&world->client, &others[0]};
    struct tied_message request = wire_request (1, 0, "hold", "", 0);
    wire_open (&others[0], tied_replica_endpoint (world->replica));
    wire_open (&others[1], tied_replica_endpoint (world->replica));
    for (int i = 0; i < 2; i++) {
        request.u.request.call.sequence = (uint64_t)i + 1;
        wire_send (busy[i], &request);
        wire_sync (busy[i]);
    }
    CHECK_U64 (stats_of (world).core.received, ==, 2);
    request = wire_request (3, 0, "echo", "", 0);
    wire_send (&others[1], &request);
    wire_expect (&others[1], TIED_WIRE_REJECT);
    CHECK_STR (tied_reject_name (others[1].in.u.reject.reason), "full");
    CHECK_U64 (stats_of (world).clients_refused, ==, 1);
    for (int i = 0; i < 2; i++)
        sem_post (&world->leave);
    for (int i = 0; i < 2; i++)
        wire_expect (busy[i], TIED_WIRE_REPLY);
    /* Now they have nothing here. */
    wire_send (&others[1], &request);
    wire_expect (&others[1], TIED_WIRE_REPLY);
    CHECK_U64 (stats_of (world).clients_refused, ==, 1);
    wire_close (&others[0]);
    wire_close (&others[1]);
}

/* None of them says goodbye, and none is silent for long enough to be given up. */
static void clients_that_came_and_went_do_not_lock_out_the_next (void **state)
{
    struct world *world = *state;
    struct tied_message hold_it = wire_request (1, 0, "hold", "", 0);
    wire_send (&world->client, &hold_it);
    wire_sync (&world->client);
    for (uint64_t i = 0; i < check_scale (100); i++) {
        struct wire_client ghost;
        struct tied_message request = wire_request (1000 + i, 0, "echo", "boo", 3);
        wire_open (&ghost, tied_replica_endpoint (world->replica));
        wire_send (&ghost, &request);
        wire_expect (&ghost, TIED_WIRE_REPLY);
        wire_close (&ghost);
    }
    CHECK_U64 (stats_of (world).clients_refused, ==, 0);
    /* The one whose copy ran all the time kept its place. */
    sem_post (&world->leave);
    wire_expect (&world->client, TIED_WIRE_REPLY);
    CHECK_U64 (world->client.in.u.reply.call.sequence, ==, 1);
}

static void built_in_stats_are_a_map_of_all_counters (void **state)
{
    struct world *world = *state;
    struct tied_message request = wire_request (1, 0, "echo", "", 0);
    msgpack_unpacked unpacked;
    bool found = false;
    wire_send (&world->client, &request);
    wire_expect (&world->client, TIED_WIRE_REPLY);
    request = wire_request (2, 0, "tied.stats", "", 0);
    wire_send (&world->client, &request);
    wire_expect (&world->client, TIED_WIRE_REPLY);
    msgpack_unpacked_init (&unpacked);
    CHECK_I64 (msgpack_unpack_next (&unpacked, world->client.body, world->client.body_size, NULL),
               ==, MSGPACK_UNPACK_SUCCESS);
    CHECK_I64 (unpacked.data.type, ==, MSGPACK_OBJECT_MAP);
    for (uint32_t i = 0; i < unpacked.data.via.map.size; i++) {
        const msgpack_object_kv *pair = &unpacked.data.via.map.ptr[i];
        CHECK_I64 (pair->key.type, ==, MSGPACK_OBJECT_STR);
        CHECK_I64 (pair->val.type, ==, MSGPACK_OBJECT_POSITIVE_INTEGER);
        if (pair->key.via.str.size == 8 && memcmp (pair->key.via.str.ptr, "finished", 8) == 0) {
            found = true;
            CHECK_U64 (pair->val.via.u64, ==, 1);
        }
    }
    CHECK_TRUE (found);
    /* Six more than counters: a new one belongs in unit.wire_page, and so on the page. */
#define ONE_(name) +1
    CHECK_U64 (unpacked.data.via.map.size, ==,
               6 TIED_REPLICA_COUNTER_MAP (ONE_) TIED_REPLICA_IO_COUNTER_MAP (ONE_));
#undef ONE_
    msgpack_unpacked_destroy (&unpacked);
    CHECK_U64 (stats_of (world).core.received, ==, 1);
}

static void arguments_out_of_range_are_refused_without_effect (void **state)
{
    struct world *world = *state;
    struct tied_replica_options options;
    struct tied_replica_stats small = {.struct_size = 0};
    const char *field = NULL;
    tied_request_t *none;
    tied_replica_options_init (&options);
    CHECK_I64 (tied_replica_options_check (&options, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, "id");
    options.id = "no blanks";
    CHECK_I64 (tied_replica_options_check (&options, &field), ==, TIED_ERR_INVAL);
    options.id = "fine";
    CHECK_I64 (tied_replica_options_check (&options, NULL), ==, 0);
    options.batch_max = 0;
    CHECK_I64 (tied_replica_options_check (&options, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, "batch_max");
    CHECK_TRUE (tied_replica_new (&options) == NULL);
    CHECK_I64 (tied_replica_options_check (NULL, &field), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_bind (NULL, "tcp://*:*"), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_bind (world->replica, "tcp://127.0.0.1:*"), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_replica_add_peer (world->replica, "me", "tcp://127.0.0.1:1"), ==,
               TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_handle (world->replica, "tied.x", echo, NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_handle (world->replica, "late", echo, NULL), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_replica_start (world->replica), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_replica_next (world->replica, 0, &none), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_replica_poll (world->replica, 0), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_replica_fd (world->replica), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_replica_stats (world->replica, &small), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_request_reply (NULL, NULL, 0), ==, TIED_ERR_INVAL);
    CHECK_TRUE (tied_request_body (NULL, NULL) == NULL);
    tied_replica_destroy (NULL);
}

static void endpoint_in_use_is_named_by_its_code (void **state)
{
    struct world *world = *state;
    struct tied_replica_options options;
    tied_replica_options_init (&options);
    options.id = "other";
    tied_replica_t *other = tied_replica_new (&options);
    CHECK_I64 (tied_replica_bind (other, tied_replica_endpoint (world->replica)), ==,
               TIED_ERR_IN_USE);
    CHECK_I64 (tied_replica_start (other), ==, TIED_ERR_STATE);
    tied_replica_destroy (&other);
}

/* Knows `me` by its peer endpoint; nobody needs to reach it as a peer. */
static tied_replica_t *sister_of (const struct world *world)
{
    struct tied_replica_options options;
    tied_replica_options_init (&options);
    options.id = "sister";
    tied_replica_t *sister = tied_replica_new (&options);
    CHECK_TRUE (sister != NULL);
    CHECK_I64 (tied_replica_bind (sister, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_add_peer (sister, "me", tied_replica_peer_endpoint (world->replica)),
               ==, 0);
    CHECK_I64 (tied_replica_handle (sister, "echo", echo, NULL), ==, 0);
    CHECK_I64 (tied_replica_start (sister), ==, 0);
    return sister;
}

/* Tied calls to the sister, until `me` has heard of one more start. */
static void
await_word_of_sister (struct world *world, struct wire_client *client, uint64_t *sequence)
{
    uint64_t before = stats_of (world).core.started_received;
    tied_time_t end = ti_clock_now () + MS (WIRE_BOUND_MS);
    while (stats_of (world).core.started_received == before) {
        struct tied_message request = wire_request (++*sequence, 0, "echo", "x", 1);
        request.u.request.flags = TIED_REQUEST_TIED | TIED_REQUEST_IDEMPOTENT;
        request.u.request.sibling = (struct tied_view){"me", 2};
        wire_send (client, &request);
        wire_expect (client, TIED_WIRE_REPLY);
        CHECK_U64 (ti_clock_now (), <, end);
        sched_yield ();
    }
}

static void a_second_process_with_a_peers_id_does_not_silence_the_first (void **state)
{
    struct world *world = *state;
    tied_replica_t *sister = sister_of (world);
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_REPLICA, "sister");
    struct wire_client client;
    uint64_t sequence = 0;
    wire_open (&client, tied_replica_endpoint (sister));
    await_word_of_sister (world, &client, &sequence);
    wire_sync (&client);
    wire_send (&world->peer, &hello);
    wire_expect (&world->peer, TIED_WIRE_WELCOME);
    await_word_of_sister (world, &client, &sequence);
    await_word_of_sister (world, &client, &sequence);
    wire_close (&client);
    tied_replica_destroy (&sister);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (hello_is_answered_with_who_and_what),
        TEST (message_of_a_peer_at_the_client_endpoint_is_misdirected),
        TEST (request_at_the_peer_endpoint_is_misdirected),
        TEST (started_counts_only_after_the_hello_of_a_known_peer),
        TEST (hello_over_a_new_connection_replaces_the_old_one),
        TEST (a_second_process_with_a_peers_id_does_not_silence_the_first),
        TEST (RQ_11_cancel_before_the_copy_prevents_it_and_nothing_is_answered),
        TEST (sibling_that_is_no_peer_is_served_untied_and_counted),
        TEST (ZQ_13_frames_too_many_too_few_or_in_the_wrong_place_are_counted),
        TEST (wrong_version_and_unknown_type_are_told_apart),
        TEST (ZQ_14_random_and_mutated_frames_leave_both_endpoints_working),
        TEST (ZQ_03_reply_to_a_vanished_client_is_dropped_and_the_next_is_whole),
        TEST (client_beyond_the_limit_is_told_that_the_replica_is_full),
        TEST (clients_that_came_and_went_do_not_lock_out_the_next),
        TEST (built_in_stats_are_a_map_of_all_counters),
        TEST (arguments_out_of_range_are_refused_without_effect),
        TEST (endpoint_in_use_is_named_by_its_code),
    };
    return cmocka_run_group_tests_name ("replica_wire", tests, NULL, NULL);
}
