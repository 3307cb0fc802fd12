/* SPDX-License-Identifier: MIT */
/*
 * A server with an event loop of its own: the replica is one descriptor among others in epoll, and
 * handlers run in the loop's thread. Here the loop also has a timer, and a client in another
 * thread that ends the program after its calls. Run by ctest.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <tied/client.h>
#include <tied/replica.h>

#define CALLS 100

struct caller {
    const char *endpoint;
    int done_fd;
    int answered;
};

static void *call_all (void *arg)
{
    struct caller *self = arg;
    struct tied_client_options options;
    tied_client_t *client;
    uint64_t one = 1;

    tied_client_options_init (&options);
    options.timeout_ns = TIED_S (30); /* a slow machine is no error */
    client = tied_client_new (&options);
    if (client && tied_client_add_replica (client, "a", self->endpoint) == 0 &&
        tied_client_start (client) == 0 && tied_client_wait_ready (client, 1, TIED_S (30)) == 0) {
        for (int i = 0; i < CALLS; i++) {
            struct tied_call call;
            struct tied_reply reply;
            tied_call_init (&call, "echo", "ping", 4);
            if (tied_client_call (client, &call, &reply) != 0)
                break;
            self->answered += reply.details.outcome == TIED_OUTCOME_OK;
            tied_reply_release (&reply);
        }
    }
    tied_client_destroy (&client);
    (void)!write (self->done_fd, &one, sizeof one);
    return NULL;
}

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static void watch (int epoll_fd, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl (epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        perror ("epoll_ctl");
}

static void run_loop (tied_replica_t *replica, int done_fd)
{
    int epoll_fd = epoll_create1 (EPOLL_CLOEXEC);
    int timer_fd = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec every_10_ms = {{0, 10000000}, {0, 10000000}};
    uint64_t ticks = 0;
    int ended = 0;

    (void)timerfd_settime (timer_fd, 0, &every_10_ms, NULL);
    watch (epoll_fd, tied_replica_fd (replica));
    watch (epoll_fd, timer_fd);
    watch (epoll_fd, done_fd);
    while (!ended) {
        struct epoll_event event;
        uint64_t count;
        if (epoll_wait (epoll_fd, &event, 1, -1) < 1)
            continue;
        if (event.data.fd == timer_fd && read (timer_fd, &count, sizeof count) > 0)
            ticks += count;
        else if (event.data.fd == done_fd)
            ended = 1;
        else
            (void)!tied_replica_poll (replica, 0);
    }
    printf ("%llu ticks of the loop's own timer meanwhile\n", (unsigned long long)ticks);
    close (timer_fd);
    close (epoll_fd);
}

int main (void)
{
    struct tied_replica_options options;
    struct caller caller = {.done_fd = eventfd (0, EFD_CLOEXEC)};
    tied_replica_t *replica;
    pthread_t thread;

    tied_replica_options_init (&options);
    options.id = "a";
    options.service = TIED_SERVICE_INLINE;
    replica = tied_replica_new (&options);
    if (!replica || tied_replica_bind (replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_handle (replica, "echo", echo, NULL) != 0 || tied_replica_start (replica) != 0)
        return 1;
    caller.endpoint = tied_replica_endpoint (replica);
    if (pthread_create (&thread, NULL, call_all, &caller) != 0)
        return 1;
    run_loop (replica, caller.done_fd);
    (void)pthread_join (thread, NULL);
    (void)!tied_replica_stop (replica, TIED_S (5));
    tied_replica_destroy (&replica);
    close (caller.done_fd);
    printf ("%d of %d calls answered in the event loop\n", caller.answered, CALLS);
    return caller.answered != CALLS;
}
