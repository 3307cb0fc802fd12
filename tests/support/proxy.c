/* SPDX-License-Identifier: MIT */
#include "proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "zmq/clock.h"

#define CONNECTIONS_MAX 32
#define CHUNK           65536

struct connection {
    int fds[2]; /* [0] who connected to us, [1] the target; -1: none */
};

struct proxy {
    char endpoint[64];
    uint16_t target_port;
    int listener;
    int wake;
    atomic_int modes[2];
    atomic_bool is_over;
    pthread_t thread;
    struct connection connections[CONNECTIONS_MAX];
};

static struct sockaddr_in loopback (uint16_t port)
{
    struct sockaddr_in address;

    memset (&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
    address.sin_port = htons (port);
    return address;
}

static int bound_socket (uint16_t port)
{
    struct sockaddr_in address = loopback (port);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    CHECK_I64 (fd, >=, 0);
    (void)setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind (fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    (void)close (fd);
    return -1;
}

/* Nobody else gets the port while this process lives: a socket sits on it that does not listen.
   Shared like this it keeps from it only who asks for it alone, as the next lines do. */
static bool reserve (uint16_t port)
{
    struct sockaddr_in address = loopback (port);
    int fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    CHECK_I64 (fd, >=, 0);
    if (bind (fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0)
        return true;
    (void)close (fd);
    return false;
}

/* Below the range from which the system takes ports for connections, so that none of those can sit
   on a port that a test has chosen but not bound yet. */
void proxy_free_endpoint (char out[64])
{
    static uint64_t next;
    uint16_t port = 0;
    bool is_ours = false;

    if (next == 0)
        next = ti_clock_now () / 1000 + (uint64_t)getpid () * 131;
    for (int i = 0; i < 1000 && !is_ours; i++) {
        port = (uint16_t)(16000 + next++ % 16000);
        is_ours = reserve (port);
    }
    CHECK_TRUE (is_ours);
    (void)snprintf (out, 64, "tcp://127.0.0.1:%u", (unsigned)port);
}

static void close_connection (struct connection *connection)
{
    for (int i = 0; i < 2; i++) {
        if (connection->fds[i] >= 0)
            (void)close (connection->fds[i]);
        connection->fds[i] = -1;
    }
}

static void accept_one (struct proxy *self)
{
    struct sockaddr_in address = loopback (self->target_port);
    int on = 1;
    int fd = accept4 (self->listener, NULL, NULL, SOCK_CLOEXEC);
    int out = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct connection *place = NULL;

    for (int i = 0; i < CONNECTIONS_MAX && !place; i++)
        place = self->connections[i].fds[0] < 0 ? &self->connections[i] : NULL;
    if (fd >= 0 && out >= 0 && place &&
        connect (out, (const struct sockaddr *)&address, sizeof address) == 0) {
        (void)setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)setsockopt (out, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        *place = (struct connection){{fd, out}};
        return;
    }
    if (fd >= 0)
        (void)close (fd);
    if (out >= 0)
        (void)close (out);
}

static bool write_all (int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send (fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

static void move (struct proxy *self, struct connection *connection, int way)
{
    char chunk[CHUNK];
    ssize_t got = recv (connection->fds[way], chunk, sizeof chunk, 0);

    if (got <= 0)
        close_connection (connection);
    else if (atomic_load (&self->modes[way]) != PROXY_SWALLOW &&
             !write_all (connection->fds[1 - way], chunk, (size_t)got))
        close_connection (connection);
}

static void *run (void *arg)
{
    struct proxy *self = arg;
    struct pollfd items[2 + 2 * CONNECTIONS_MAX];

    while (!atomic_load (&self->is_over)) {
        uint64_t count;

        items[0] = (struct pollfd){.fd = self->wake, .events = POLLIN, .revents = 0};
        items[1] = (struct pollfd){.fd = self->listener, .events = POLLIN, .revents = 0};
        for (int i = 0; i < 2 * CONNECTIONS_MAX; i++) {
            bool is_held = atomic_load (&self->modes[i % 2]) == PROXY_HOLD;
            items[2 + i] = (struct pollfd){.fd = is_held ? -1 : self->connections[i / 2].fds[i % 2],
                                           .events = POLLIN,
                                           .revents = 0};
        }
        (void)poll (items, 2 + 2 * CONNECTIONS_MAX, -1);
        if (items[0].revents)
            (void)!read (self->wake, &count, sizeof count);
        for (int i = 0; i < 2 * CONNECTIONS_MAX; i++) {
            if (items[2 + i].revents && self->connections[i / 2].fds[0] >= 0 &&
                atomic_load (&self->modes[i % 2]) != PROXY_HOLD)
                move (self, &self->connections[i / 2], i % 2);
        }
        if (items[1].revents)
            accept_one (self);
    }
    return NULL;
}

struct proxy *proxy_new (const char *target)
{
    struct proxy *self = calloc (1, sizeof *self);
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    unsigned port = 0;

    CHECK_TRUE (self != NULL);
    CHECK_I64 (sscanf (target, "tcp://127.0.0.1:%u", &port), ==, 1);
    self->target_port = (uint16_t)port;
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        self->connections[i] = (struct connection){{-1, -1}};
    self->listener = bound_socket (0);
    CHECK_I64 (listen (self->listener, 16), ==, 0);
    CHECK_I64 (getsockname (self->listener, (struct sockaddr *)&address, &size), ==, 0);
    (void)snprintf (self->endpoint, sizeof self->endpoint, "tcp://127.0.0.1:%u",
                    (unsigned)ntohs (address.sin_port));
    self->wake = eventfd (0, EFD_CLOEXEC);
    CHECK_I64 (pthread_create (&self->thread, NULL, run, self), ==, 0);
    return self;
}

const char *proxy_endpoint (const struct proxy *self)
{
    return self->endpoint;
}

static void wake (struct proxy *self)
{
    uint64_t one = 1;

    (void)!write (self->wake, &one, sizeof one);
}

void proxy_set (struct proxy *self, enum proxy_way way, enum proxy_mode mode)
{
    atomic_store (&self->modes[way], (int)mode);
    wake (self);
}

void proxy_destroy (struct proxy **self_p)
{
    struct proxy *self = *self_p;

    *self_p = NULL;
    if (!self)
        return;
    atomic_store (&self->is_over, true);
    wake (self);
    (void)pthread_join (self->thread, NULL);
    for (int i = 0; i < CONNECTIONS_MAX; i++)
        close_connection (&self->connections[i]);
    (void)close (self->listener);
    (void)close (self->wake);
    free (self);
}
