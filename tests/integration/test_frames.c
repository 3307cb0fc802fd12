/* SPDX-License-Identifier: MIT */
/*
 * Bytes that no honest client or peer sends, against both endpoints of a real replica: each is
 * counted for what it is, the process and everybody else's calls are unharmed, memory stays flat.
 */
#include "cluster.h"
#include "messages.h"
#include "occupy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define FRAMES_MAX 65
/* What a heap may move by, with its arenas and the sockets' buffers. */
#define FLAT (6u << 20)

struct scene {
    struct cluster cluster;
    struct wire_client client; /* to the client endpoint */
    struct wire_client peer;   /* to the peer endpoint; no peer is configured there but "b" */
    struct wire_client lively; /* an honest client */
    uint64_t calls;
};

static void open_scene (struct scene *scene, const char *service, const char *body_max)
{
    memset (scene, 0, sizeof *scene);
    cluster_init (&scene->cluster, 2);
    cluster_start (&scene->cluster, 0, "--workers", "1", "--service", service, "--body-max",
                   body_max, NULL);
    wire_open (&scene->client, scene->cluster.nodes[0].client);
    wire_open (&scene->peer, scene->cluster.nodes[0].peer);
    wire_open (&scene->lively, scene->cluster.nodes[0].client);
}

static void close_scene (struct scene *scene)
{
    wire_close (&scene->client);
    wire_close (&scene->peer);
    wire_close (&scene->lively);
    cluster_close (&scene->cluster);
}

static uint64_t stat_of (struct scene *scene, const char *name)
{
    return cluster_stat (&scene->cluster, 0, name);
}

/* Somebody else's call. */
static void check_alive (struct scene *scene)
{
    struct tied_message message = wire_request (1000000 + scene->calls++, 0, "echo", "hi", 2);

    message.u.request.call.epoch = 4711;
    wire_send (&scene->lively, &message);
    wire_expect (&scene->lively, TIED_WIRE_REPLY);
    CHECK_U64 (scene->lively.in.u.reply.call.sequence, ==, message.u.request.call.sequence);
    CHECK_U64 (scene->lively.in.u.reply.status, ==, 0);
    CHECK_TRUE (process_is_alive (scene->cluster.nodes[0].process));
}

/* Answers are of no interest, but must not pile up. */
static void skip_answers (struct wire_client *self)
{
    zmq_msg_t frame;

    zmq_msg_init (&frame);
    while (zmq_msg_recv (&frame, self->sock, ZMQ_DONTWAIT) >= 0) {
    }
    zmq_msg_close (&frame);
}

static void send_frames (struct wire_client *self, const struct tied_view *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int more = i + 1 < count ? ZMQ_SNDMORE : 0;
        while (zmq_send (self->sock, frames[i].data, frames[i].size, more | ZMQ_DONTWAIT) < 0) {
            zmq_pollitem_t item = {self->sock, 0, ZMQ_POLLOUT, 0};
            CHECK_I64 (errno, ==, EAGAIN);
            skip_answers (self);
            CHECK_I64 (zmq_poll (&item, 1, WIRE_BOUND_MS), ==, 1);
        }
    }
    skip_answers (self);
}

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
        send_bytes (self, "\x93\x01\x0b\x05", 4);         /* type 11 */
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
    struct tied_view frames[FRAMES_MAX];
    struct tied_message hello;

    (void)state;
    open_scene (&scene, "echo", "4KiB");
    for (int i = 0; i < FRAMES_MAX; i++)
        frames[i] = (struct tied_view){"\x93\x01\x09\x05", 4};
    for (int i = 0; i < 2; i++) {
        struct wire_client *self = i == 0 ? &scene.client : &scene.peer;
        uint64_t multipart = stat_of (&scene, "multipart");
        send_frames (self, frames, FRAMES_MAX);
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
        CHECK_U64 (process_memory (process_pid (scene.cluster.nodes[0].process)), <, memory + FLAT);
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

/* What a message should be counted as; written from the protocol page, section 13. */
struct tally {
    uint64_t sent, malformed, multipart, misdirected, strangers;
    uint64_t requests, cancels, others; /* accepted */
};

static void expect_at_clients (struct tally *tally, const struct tied_message *in)
{
    switch (in->type) {
    case TIED_WIRE_REQUEST:
        tally->requests++;
        break;
    case TIED_WIRE_CANCEL:
        tally->cancels++;
        break;
    case TIED_WIRE_PING:
        tally->others++;
        break;
    case TIED_WIRE_HELLO:
        tally->others += in->u.hello.role == TIED_WIRE_ROLE_CLIENT;
        tally->misdirected += in->u.hello.role != TIED_WIRE_ROLE_CLIENT;
        break;
    default:
        tally->misdirected++;
    }
}

static void expect_at_peers (struct tally *tally, const struct tied_message *in)
{
    switch (in->type) {
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
        tally->strangers++;
        break;
    case TIED_WIRE_PING:
        tally->others++;
        break;
    case TIED_WIRE_HELLO:
        tally->strangers += in->u.hello.role == TIED_WIRE_ROLE_REPLICA;
        tally->misdirected += in->u.hello.role != TIED_WIRE_ROLE_REPLICA;
        break;
    default:
        tally->misdirected++;
    }
}

static void
expect (struct tally *tally, const struct tied_view *frames, uint32_t count, bool is_client)
{
    struct tied_message in;
    bool follows;

    tally->sent++;
    if (count > 2) {
        tally->multipart++;
        return;
    }
    if (tied_wire_decode (frames[0].data, frames[0].size, &in, NULL) != 0) {
        tally->malformed++;
        return;
    }
    follows = (in.type == TIED_WIRE_REQUEST && in.u.request.body_follows) ||
              (in.type == TIED_WIRE_REPLY && in.u.reply.body_follows);
    if (follows != (count == 2))
        tally->multipart++;
    else if (is_client)
        expect_at_clients (tally, &in);
    else
        expect_at_peers (tally, &in);
}

/* A valid message, or one with some bytes changed, cut or added, or plain noise. */
static size_t
make_frame (uint64_t *seed, struct sample_storage *storage, unsigned char *out, size_t capacity)
{
    uint8_t type = (uint8_t)(1 + sample_next (seed) % 10);
    struct tied_message message = sample_message (type, seed, storage);
    size_t size;
    int rc;

    if (sample_next (seed) % 8 == 0) {
        size = sample_next (seed) % 200;
        for (size_t i = 0; i < size; i++)
            out[i] = (unsigned char)sample_next (seed);
        return size;
    }
    if (type == TIED_WIRE_REQUEST && sample_next (seed) % 2 == 0) {
        message.u.request.method = (struct tied_view){"echo", 4};
        message.u.request.incarnation = 0;
        message.u.request.remaining_us = UINT64_MAX;
    }
    if (type == TIED_WIRE_REQUEST && message.u.request.body.size > 2000)
        message.u.request.body.size = 2000;
    if (type == TIED_WIRE_REPLY && message.u.reply.body.size > 2000)
        message.u.reply.body.size = 2000;
    rc = tied_wire_encode (&message, out, capacity - 8);
    CHECK_I64 (rc, >, 0);
    size = (size_t)rc;
    switch (sample_next (seed) % 5) {
    case 0:
        size = sample_next (seed) % (size + 1);
        break;
    case 1:
        for (uint64_t i = sample_next (seed) % 8; i > 0; i--)
            out[size++] = (unsigned char)sample_next (seed);
        break;
    case 2:
    case 3:
        for (uint64_t i = 1 + sample_next (seed) % 4; i > 0; i--)
            out[sample_next (seed) % size] = (unsigned char)sample_next (seed);
        break;
    default:
        break;
    }
    return size;
}

static uint32_t draw_count (uint64_t *seed)
{
    uint64_t draw = sample_next (seed) % 20;

    return draw < 14 ? 1 : draw < 19 ? 2 : 3 + (uint32_t)(sample_next (seed) % (FRAMES_MAX - 2));
}

/* Ten thousand to each endpoint; memory after the second thousand and at the end. */
static void flood (struct scene *scene, bool is_client)
{
    static struct sample_storage storage;
    static unsigned char bytes[1 << 17];
    struct wire_client *self = is_client ? &scene->client : &scene->peer;
    pid_t pid = process_pid (scene->cluster.nodes[0].process);
    uint64_t seed = is_client ? 1 : 2;
    uint64_t count = check_scale (10000);
    size_t memory = 0;
    struct tally tally = {0};
    struct tally before = {.malformed = stat_of (scene, "malformed"),
                           .multipart = stat_of (scene, "multipart"),
                           .misdirected = stat_of (scene, "misdirected"),
                           .strangers = stat_of (scene, "strangers"),
                           .requests = stat_of (scene, "received"),
                           .cancels = stat_of (scene, "cancel_received")};
    uint64_t calls = scene->calls;

    for (uint64_t i = 0; i < count; i++) {
        struct tied_view frames[FRAMES_MAX + 1];
        uint32_t frames_count = draw_count (&seed);
        frames[0] = (struct tied_view){bytes, make_frame (&seed, &storage, bytes, sizeof bytes)};
        for (uint32_t n = 1; n < frames_count; n++)
            frames[n] = (struct tied_view){"body", 4};
        send_frames (self, frames, frames_count);
        expect (&tally, frames, frames_count, is_client);
        if (i % 100 == 0)
            check_alive (scene);
        if (i == count / 5) {
            wire_sync (self);
            memory = process_memory (pid);
        }
    }
    wire_sync (self);
    check_alive (scene);
    if (PROCESS_MEMORY_IS_MEANINGFUL)
        CHECK_U64 (process_memory (pid), <, memory + FLAT);
    CHECK_U64 (stat_of (scene, "malformed") - before.malformed, ==, tally.malformed);
    CHECK_U64 (stat_of (scene, "multipart") - before.multipart, ==, tally.multipart);
    CHECK_U64 (stat_of (scene, "misdirected") - before.misdirected, ==, tally.misdirected);
    CHECK_U64 (stat_of (scene, "strangers") - before.strangers, ==, tally.strangers);
    CHECK_U64 (stat_of (scene, "received") - before.requests, ==,
               tally.requests + scene->calls - calls);
    CHECK_U64 (stat_of (scene, "cancel_received") - before.cancels, ==, tally.cancels);
    CHECK_U64 (tally.malformed + tally.multipart + tally.misdirected + tally.strangers +
                   tally.requests + tally.cancels + tally.others,
               ==, tally.sent);
    if (count >= 1000) {
        CHECK_U64 (tally.malformed, >, count / 10);
        CHECK_U64 (tally.multipart, >, count / 20);
        CHECK_U64 (is_client ? tally.requests : tally.strangers, >, count / 50);
    }
}

static void ZQ_15_ten_thousand_random_and_mutated_messages_to_the_client_endpoint (void **state)
{
    struct scene scene;

    (void)state;
    open_scene (&scene, "echo", "1MiB");
    flood (&scene, true);
    close_scene (&scene);
}

static void ZQ_15_ten_thousand_random_and_mutated_messages_to_the_peer_endpoint (void **state)
{
    struct scene scene;

    (void)state;
    open_scene (&scene, "echo", "1MiB");
    flood (&scene, false);
    close_scene (&scene);
}

/* Not ZeroMQ at all: what a port scan or a lost browser sends. */
static void junk (const char *endpoint, uint64_t *seed, bool is_zmtp_1)
{
    struct sockaddr_in address;
    unsigned char bytes[256];
    size_t size = sample_next (seed) % sizeof bytes;
    unsigned port = 0;
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_I64 (sscanf (endpoint, "tcp://127.0.0.1:%u", &port), ==, 1);
    CHECK_I64 (fd, >=, 0);
    memset (&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    address.sin_port = htons ((uint16_t)port);
    CHECK_I64 (connect (fd, (const struct sockaddr *)&address, sizeof address), ==, 0);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)sample_next (seed);
    if (is_zmtp_1) {
        memcpy (bytes, "\x01\x00\x04\x00\x43\x41\x4e", 7);
        size = 7;
    }
    if (size > 0)
        (void)!send (fd, bytes, size, MSG_NOSIGNAL);
    (void)close (fd);
}

static void ZQ_14_junk_connections_reach_no_handler (void **state)
{
    struct scene scene;
    uint64_t seed = 14;
    uint64_t count = check_scale (400);
    uint64_t executed;

    (void)state;
    open_scene (&scene, "echo", "4KiB");
    check_alive (&scene);
    executed = stat_of (&scene, "received");
    for (uint64_t i = 0; i < count; i++) {
        junk (scene.cluster.nodes[0].client, &seed, i % 4 == 0);
        junk (scene.cluster.nodes[0].peer, &seed, i % 4 == 0);
        if (i % 100 == 0)
            check_alive (&scene);
    }
    /* Some pass for messages of an old ZMTP, and are seen for what they are. */
    cluster_await (&scene.cluster, 0, "malformed", 1);
    check_alive (&scene);
    CHECK_U64 (stat_of (&scene, "received"), ==, executed + scene.calls - 1);
    CHECK_U64 (stat_of (&scene, "started_received"), ==, 0);
    close_scene (&scene);
}

/* ZQ-17: connections that do nothing. */
static void ZQ_17_two_hundred_idle_connections_leave_calls_alone (void **state)
{
    struct scene scene;
    int fds[200];
    unsigned port = 0;
    struct sockaddr_in address;

    (void)state;
    open_scene (&scene, "echo", "4KiB");
    CHECK_I64 (sscanf (scene.cluster.nodes[0].client, "tcp://127.0.0.1:%u", &port), ==, 1);
    memset (&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    address.sin_port = htons ((uint16_t)port);
    for (int i = 0; i < 200; i++) {
        fds[i] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK_I64 (connect (fds[i], (const struct sockaddr *)&address, sizeof address), ==, 0);
    }
    for (int i = 0; i < 50; i++)
        check_alive (&scene);
    for (int i = 0; i < 200; i++)
        (void)close (fds[i]);
    check_alive (&scene);
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
        TEST (ZQ_15_ten_thousand_random_and_mutated_messages_to_the_client_endpoint),
        TEST (ZQ_15_ten_thousand_random_and_mutated_messages_to_the_peer_endpoint),
        TEST (ZQ_14_junk_connections_reach_no_handler),
        TEST (ZQ_17_two_hundred_idle_connections_leave_calls_alone),
    };
    return cmocka_run_group_tests_name ("frames", tests, NULL, NULL);
}
