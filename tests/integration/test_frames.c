/* SPDX-License-Identifier: MIT */
/*
 * Messages that no honest client or peer sends, one by one, against both endpoints of a real
 * replica: each is counted for what it is, and nobody else is harmed.
 */
#include "occupy.h"
#include "scene.h"

static void send_bytes (struct wire_client *self, const char *bytes, size_t size)
{
    struct tied_view frame = {bytes, size};

    send_frames (self, &frame, 1);
}

static void malformed_frames_and_other_versions_are_counted_apart (void **state)
{
    struct scene scene;

    (void)state;
    open_scene (&scene, "echo", "4KiB");
    for (int i = 0; i < 2; i++) {
        struct wire_client *self = i == 0 ? &scene.client : &scene.peer;
        uint64_t malformed = stat_of (&scene, "malformed");
        uint64_t version = stat_of (&scene, "malformed_version");
        uint64_t type = stat_of (&scene, "malformed_type");

        send_bytes (self, "", 0);
        send_bytes (self, "\xc1", 1);
        send_bytes (self, "GET / HTTP/1.1\r\n\r\n", 18);
        send_bytes (self, "\xdd\xff\xff\xff\xff", 5);     /* MP-01 */
        send_bytes (self, "\x92\x01\x09", 3);             /* too short for PING */
        send_bytes (self, "\x93\x01\x09\x05\x05", 5);     /* MP-04: a byte too many */
        send_bytes (self, "\x93\x02\x09\x05", 4);         /* version 2 */
        send_bytes (self, "\x93\xcd\x03\xe8\x09\x05", 6); /* version 1000 */
        send_bytes (self, "\x93\x01\x0f\x05", 4);         /* type 15 */
        send_bytes (self, "\x93\x01\xcc\xff\x05", 5);     /* type 255 */
        wire_sync (self);
        CHECK_U64 (stat_of (&scene, "malformed"), ==, malformed + 10);
        CHECK_U64 (stat_of (&scene, "malformed_version"), ==, version + 2);
        CHECK_U64 (stat_of (&scene, "malformed_type"), ==, type + 2);
        check_alive (&scene);
    }
    close_scene (&scene);
}

static void ZQ_13_message_of_65_frames_is_counted_once_and_nothing_is_shifted (void **state)
{
    struct scene scene;
    struct tied_view frames[SCENE_FRAMES_MAX];
    struct tied_message hello;

    (void)state;
    open_scene (&scene, "echo", "4KiB");
    for (int i = 0; i < SCENE_FRAMES_MAX; i++)
        frames[i] = (struct tied_view){"\x93\x01\x09\x05", 4};
    for (int i = 0; i < 2; i++) {
        struct wire_client *self = i == 0 ? &scene.client : &scene.peer;
        uint64_t multipart = stat_of (&scene, "multipart");
        send_frames (self, frames, SCENE_FRAMES_MAX);
        send_frames (self, frames, 3);
        send_frames (self, frames, 2); /* a body that the header has not announced */
        wire_sync (self);
        CHECK_U64 (stat_of (&scene, "multipart"), ==, multipart + 3);
    }
    hello = wire_hello (TIED_WIRE_ROLE_CLIENT, "c");
    wire_send (&scene.client, &hello);
    wire_expect (&scene.client, TIED_WIRE_WELCOME);
    check_alive (&scene);
    close_scene (&scene);
}

/* libzmq drops the connection of who sends such a frame; nobody else notices. */
static void oversized_frame_costs_its_sender_the_connection_and_nobody_else (void **state)
{
    static char bytes[4 << 20];
    struct scene scene;
    size_t memory;
    uint64_t received;

    (void)state;
    open_scene (&scene, "echo", "4KiB");
    check_alive (&scene);
    received = stat_of (&scene, "received");
    memory = process_memory (process_pid (scene.cluster.nodes[0].process));
    for (int i = 0; i < 20; i++) {
        struct tied_view frame = {bytes, sizeof bytes};
        zmq_pollitem_t item = {scene.client.sock, 0, ZMQ_POLLOUT, 0};
        CHECK_I64 (zmq_poll (&item, 1, WIRE_BOUND_MS), ==, 1);
        send_frames (&scene.client, &frame, 1);
        check_alive (&scene);
    }
    CHECK_U64 (stat_of (&scene, "received"), ==, received + 20);
    if (PROCESS_MEMORY_IS_MEANINGFUL)
        CHECK_U64 (process_memory (process_pid (scene.cluster.nodes[0].process)), <,
                   memory + SCENE_FLAT);
    close_scene (&scene);
}

static void peer_messages_at_the_client_endpoint_do_nothing (void **state)
{
    struct scene scene;
    struct wire_client blocker;
    uint64_t misdirected;

    (void)state;
    open_scene (&scene, OCCUPY_SERVICE, "4KiB");
    occupy (&scene.cluster, 0, &blocker);
    struct tied_message waiting = wire_tied_request (1, 0, "echo", "b");
    wire_send (&scene.client, &waiting);
    cluster_await (&scene.cluster, 0, "depth", 1);
    misdirected = stat_of (&scene, "misdirected");
    struct tied_message started = {.type = TIED_WIRE_STARTED,
                                   .u.tie = {.call = waiting.u.request.call, .copy = 1}};
    struct tied_message untie = {.type = TIED_WIRE_UNTIE, .u.tie = started.u.tie};
    struct tied_message reply = {.type = TIED_WIRE_REPLY,
                                 .u.reply = {.call = waiting.u.request.call}};
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_REPLICA, "b");
    wire_send (&scene.client, &hello);
    wire_send (&scene.client, &started);
    wire_send (&scene.client, &untie);
    wire_send (&scene.client, &reply);
    wire_sync (&scene.client);
    CHECK_U64 (stat_of (&scene, "misdirected"), ==, misdirected + 4);
    CHECK_U64 (stat_of (&scene, "depth"), ==, 1);
    release (&blocker);
    wire_expect (&scene.client, TIED_WIRE_REPLY);
    CHECK_U64 (scene.client.in.u.reply.call.sequence, ==, 1);
    close_scene (&scene);
}

static void requests_and_strangers_at_the_peer_endpoint_do_nothing (void **state)
{
    struct scene scene;
    struct wire_client blocker;

    (void)state;
    open_scene (&scene, OCCUPY_SERVICE, "4KiB");
    occupy (&scene.cluster, 0, &blocker);
    struct tied_message waiting = wire_tied_request (1, 0, "echo", "b");
    wire_send (&scene.client, &waiting);
    cluster_await (&scene.cluster, 0, "depth", 1);
    struct tied_message request = wire_request (2, 0, "echo", "", 0);
    struct tied_message cancel = wire_cancel (1, TIED_CANCEL_CALLER);
    struct tied_message as_client = wire_hello (TIED_WIRE_ROLE_CLIENT, "b");
    struct tied_message unknown = wire_hello (TIED_WIRE_ROLE_REPLICA, "mallory");
    struct tied_message started = {.type = TIED_WIRE_STARTED,
                                   .u.tie = {.call = waiting.u.request.call, .copy = 1}};
    wire_send (&scene.peer, &request);
    wire_send (&scene.peer, &cancel);
    wire_send (&scene.peer, &as_client);
    wire_send (&scene.peer, &unknown);
    wire_send (&scene.peer, &started);
    wire_sync (&scene.peer);
    CHECK_U64 (stat_of (&scene, "misdirected"), ==, 3);
    CHECK_U64 (stat_of (&scene, "strangers"), ==, 2);
    CHECK_U64 (stat_of (&scene, "started_received"), ==, 0);
    CHECK_U64 (stat_of (&scene, "depth"), ==, 1);
    /* The same from the configured peer does drop it. */
    struct tied_message known = wire_hello (TIED_WIRE_ROLE_REPLICA, "b");
    wire_send (&scene.peer, &known);
    wire_expect (&scene.peer, TIED_WIRE_WELCOME);
    wire_send (&scene.peer, &started);
    cluster_await (&scene.cluster, 0, "started_effective", 1);
    CHECK_U64 (stat_of (&scene, "depth"), ==, 0);
    release (&blocker);
    close_scene (&scene);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (malformed_frames_and_other_versions_are_counted_apart),
        TEST (ZQ_13_message_of_65_frames_is_counted_once_and_nothing_is_shifted),
        TEST (oversized_frame_costs_its_sender_the_connection_and_nobody_else),
        TEST (peer_messages_at_the_client_endpoint_do_nothing),
        TEST (requests_and_strangers_at_the_peer_endpoint_do_nothing),
    };
    return cmocka_run_group_tests_name ("frames", tests, NULL, NULL);
}
