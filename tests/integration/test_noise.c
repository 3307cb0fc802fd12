/* SPDX-License-Identifier: MIT */
/*
 * Noise against both endpoints of a real replica: random and mutated messages by the thousand,
 * connections that are not ZeroMQ at all. Each message is accounted for; memory stays flat.
 */
#include "messages.h"
#include "scene.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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

    return draw < 14   ? 1
           : draw < 19 ? 2
                       : 3 + (uint32_t)(sample_next (seed) % (SCENE_FRAMES_MAX - 2));
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
        struct tied_view frames[SCENE_FRAMES_MAX + 1];
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
        CHECK_U64 (process_memory (pid), <, memory + SCENE_FLAT);
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

/* Until the other side has closed the connection, which it does at what it cannot read or at the
   end of it: libzmq is done with it then. (4.3.4 aborts if a connection of ZMTP 1 is made in the
   moment in which its socket is closed.) */
static void await_end (int fd)
{
    char bytes[256];
    struct pollfd item = {.fd = fd, .events = POLLIN, .revents = 0};

    do
        CHECK_I64 (poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
    while (recv (fd, bytes, sizeof bytes, 0) > 0);
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
    (void)shutdown (fd, SHUT_WR);
    await_end (fd);
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
        TEST (ZQ_15_ten_thousand_random_and_mutated_messages_to_the_client_endpoint),
        TEST (ZQ_15_ten_thousand_random_and_mutated_messages_to_the_peer_endpoint),
        TEST (ZQ_14_junk_connections_reach_no_handler),
        TEST (ZQ_17_two_hundred_idle_connections_leave_calls_alone),
    };
    return cmocka_run_group_tests_name ("noise", tests, NULL, NULL);
}
