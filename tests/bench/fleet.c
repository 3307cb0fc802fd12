/* SPDX-License-Identifier: MIT */
#include "fleet.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

struct addresses {
    char client[BENCH_ENDPOINT_MAX];
    char peer[BENCH_ENDPOINT_MAX];
};

static uint32_t self_number;

struct bench_child bench_fork (void (*body) (int channel, void *arg), void *arg)
{
    struct bench_child child;
    int ends[2];
    pid_t parent = getpid ();

    if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        bench_fail ("no socket pair");
    fflush (NULL);
    child.pid = fork ();
    if (child.pid < 0)
        bench_fail ("no process");
    if (child.pid == 0) {
        (void)prctl (PR_SET_PDEATHSIG, SIGKILL);
        if (getppid () != parent)
            _exit (1);
        close (ends[0]);
        body (ends[1], arg);
        _exit (1);
    }
    close (ends[1]);
    child.channel = ends[0];
    return child;
}

void bench_child_end (struct bench_child *self)
{
    (void)kill (self->pid, SIGKILL);
    while (waitpid (self->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    close (self->channel);
}

void bench_channel_send (int channel, const void *data, size_t size)
{
    if (send (channel, data, size, MSG_NOSIGNAL) != (ssize_t)size)
        bench_fail ("a process does not listen");
}

void bench_channel_recv (int channel, void *data, size_t size)
{
    if (recv (channel, data, size, 0) != (ssize_t)size)
        bench_fail ("a server process has ended early");
}

uint32_t bench_fleet_self (void)
{
    return self_number;
}

static void replica_name (char *out, size_t capacity, uint32_t number)
{
    snprintf (out, capacity, "r%u", number);
}

static void check (int rc, const char *what)
{
    if (rc != 0)
        bench_fail (what);
}

static void replica_body (int channel, void *arg)
{
    const struct bench_fleet_setup *setup = arg;
    struct tied_replica_options options = setup->options;
    struct addresses mine = {{0}, {0}};
    struct addresses all[BENCH_REPLICAS_MAX];
    char name[16];
    tied_replica_t *replica;
    char ready = 1;

    replica_name (name, sizeof name, self_number);
    options.id = name;
    replica = tied_replica_new (&options);
    if (!replica)
        bench_fail ("no replica");
    check (tied_replica_bind (replica, "tcp://127.0.0.1:*"), "bind");
    check (tied_replica_bind_peers (replica, "tcp://127.0.0.1:*"), "bind_peers");
    snprintf (mine.client, sizeof mine.client, "%s", tied_replica_endpoint (replica));
    snprintf (mine.peer, sizeof mine.peer, "%s", tied_replica_peer_endpoint (replica));
    bench_channel_send (channel, &mine, sizeof mine);
    bench_channel_recv (channel, all, sizeof all);
    for (uint32_t i = 0; i < setup->count; i++) {
        replica_name (name, sizeof name, i);
        if (i != self_number)
            check (tied_replica_add_peer (replica, name, all[i].peer), "add_peer");
    }
    check (tied_replica_handle (replica, BENCH_METHOD, setup->fn, setup->arg), "handle");
    check (tied_replica_start (replica), "start");
    bench_channel_send (channel, &ready, sizeof ready);
    if (options.service == TIED_SERVICE_INLINE) {
        while (tied_replica_poll (replica, TIED_NEVER) >= 0)
            continue;
    }
    for (;;)
        (void)pause ();
}

void bench_fleet_start (struct bench_fleet *self, const struct bench_fleet_setup *setup)
{
    struct bench_fleet_setup copy = *setup;
    struct addresses all[BENCH_REPLICAS_MAX];
    char ready;

    memset (all, 0, sizeof all);
    self->count = setup->count;
    for (uint32_t i = 0; i < self->count; i++) {
        self_number = i;
        self->children[i] = bench_fork (replica_body, &copy);
    }
    for (uint32_t i = 0; i < self->count; i++) {
        bench_channel_recv (self->children[i].channel, &all[i], sizeof all[i]);
        memcpy (self->endpoints[i], all[i].client, sizeof self->endpoints[i]);
    }
    for (uint32_t i = 0; i < self->count; i++)
        bench_channel_send (self->children[i].channel, all, sizeof all);
    for (uint32_t i = 0; i < self->count; i++)
        bench_channel_recv (self->children[i].channel, &ready, sizeof ready);
}

void bench_fleet_end (struct bench_fleet *self)
{
    for (uint32_t i = 0; i < self->count; i++)
        bench_child_end (&self->children[i]);
    self->count = 0;
}

tied_client_t *bench_fleet_client (const struct bench_fleet *self,
                                   const struct tied_client_options *options)
{
    tied_client_t *client = tied_client_new (options);
    char name[16];

    if (!client)
        bench_fail ("no client");
    for (uint32_t i = 0; i < self->count; i++) {
        replica_name (name, sizeof name, i);
        check (tied_client_add_replica (client, name, self->endpoints[i]), "add_replica");
    }
    check (tied_client_start (client), "client start");
    check (tied_client_wait_ready (client, self->count, TIED_S (10)), "replicas are not ready");
    return client;
}

void bench_echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

void bench_request_message (struct tied_message *out, const void *body)
{
    *out = (struct tied_message){
        .type = TIED_WIRE_REQUEST,
        .u.request = {.call = {.epoch = UINT64_C (0x9c1f3a77d20be645), .sequence = 123456},
                      .copy = 0,
                      .method = {BENCH_METHOD, sizeof BENCH_METHOD - 1},
                      .remaining_us = 1000000,
                      .sent_us = UINT64_C (86400000000),
                      .flags = TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_TIED,
                      .incarnation = UINT64_C (0xd1b54a32d192ed03),
                      .sibling = {"r1", 2},
                      .sibling_incarnation = UINT64_C (0x8cb92ba72f3d8dd7),
                      .attempts_left = 2,
                      .body = {body, BENCH_BODY_SIZE}}};
}
