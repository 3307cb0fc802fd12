/* SPDX-License-Identifier: MIT */
/*
 * A server whose own threads ask for work, when they are free and for as long as they like. The
 * main thread plays the clients: it sends a few requests with the stub. Run by ctest.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tied/client.h>
#include <tied/replica.h>

#define CALLS 100

static void *serve (void *arg)
{
    tied_replica_t *replica = arg;
    tied_request_t *request;

    /* Ends with TIED_ERR_STATE when the replica stops. */
    while (tied_replica_next (replica, TIED_NEVER, &request) == 0) {
        size_t size;
        const void *body = tied_request_body (request, &size);
        (void)!tied_request_reply (request, body, size);
    }
    return NULL;
}

static int call_all (const char *endpoint)
{
    struct tied_client_options options;
    tied_client_t *client;
    int answered = 0;

    tied_client_options_init (&options);
    options.timeout_ns = TIED_S (30); /* a slow machine is no error */
    client = tied_client_new (&options);
    if (!client)
        return 0;
    if (tied_client_add_replica (client, "a", endpoint) == 0 && tied_client_start (client) == 0 &&
        tied_client_wait_ready (client, 1, TIED_S (30)) == 0) {
        for (int i = 0; i < CALLS; i++) {
            struct tied_call call;
            struct tied_reply reply;
            tied_call_init (&call, "echo", "ping", 4);
            if (tied_client_call (client, &call, &reply) != 0)
                break;
            answered += reply.details.outcome == TIED_OUTCOME_OK;
            tied_reply_release (&reply);
        }
    }
    tied_client_destroy (&client);
    return answered;
}

int main (void)
{
    struct tied_replica_options options;
    tied_replica_t *replica;
    pthread_t threads[2];
    int answered = 0;

    tied_replica_options_init (&options);
    options.id = "a";
    options.service = TIED_SERVICE_PULL;
    options.core.workers = 2;
    replica = tied_replica_new (&options);
    if (!replica || tied_replica_bind (replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_start (replica) != 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        if (pthread_create (&threads[i], NULL, serve, replica) != 0)
            return 1;
    }
    answered = call_all (tied_replica_endpoint (replica));
    (void)!tied_replica_stop (replica, TIED_S (5));
    for (int i = 0; i < 2; i++)
        (void)pthread_join (threads[i], NULL);
    tied_replica_destroy (&replica);
    printf ("%d of %d calls answered by threads that pull\n", answered, CALLS);
    return answered != CALLS;
}
