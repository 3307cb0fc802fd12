/* SPDX-License-Identifier: MIT */
/*
 * A czmq program that serves calls: the replica is one descriptor in its zloop, beside a timer and
 * an actor, and handlers run in the loop's thread. Both use czmq's context, so inproc endpoints
 * work between them. czmq's signal handling stays as it is: SIGINT and SIGTERM end the loop.
 *
 * The actor here is a client that ends the program after its calls. Run by ctest.
 */
#include <czmq.h>

#include <tied/client.h>
#include <tied/replica.h>

#define CALLS 100

static const char *const endpoint = "inproc://czmq-host";

static int call_all (tied_client_t *client)
{
    int answered = 0;

    for (int i = 0; i < CALLS && !zsys_interrupted; i++) {
        struct tied_call call;
        struct tied_reply reply;

        tied_call_init (&call, "echo", "ping", 4);
        if (tied_client_call (client, &call, &reply) != 0)
            break;
        answered += reply.details.outcome == TIED_OUTCOME_OK;
        tied_reply_release (&reply);
    }
    return answered;
}

/* The actor: ready signal, calls, how many were answered, then $TERM. A call ends by its deadline,
   so zactor_destroy () waits no longer than that. */
static void caller (zsock_t *pipe, void *context)
{
    struct tied_client_options options;
    tied_client_t *client;
    char *command;

    tied_client_options_init (&options);
    options.zmq_context = context;
    options.timeout_ns = TIED_S (30); /* a slow machine is no error */
    client = tied_client_new (&options);
    if (tied_client_add_replica (client, "a", endpoint) != 0 || tied_client_start (client) != 0) {
        zsock_signal (pipe, 1);
        tied_client_destroy (&client);
        return;
    }
    zsock_signal (pipe, 0);
    zstr_sendf (pipe, "%d", call_all (client));
    tied_client_destroy (&client);
    command = zstr_recv (pipe);
    zstr_free (&command);
}

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static int on_work (zloop_t *loop, zmq_pollitem_t *item, void *replica)
{
    (void)loop;
    (void)item;
    return tied_replica_poll (replica, 0) < 0 ? -1 : 0;
}

static int on_timer (zloop_t *loop, int timer_id, void *ticks)
{
    (void)loop;
    (void)timer_id;
    ++*(int *)ticks;
    return 0;
}

static int on_answered (zloop_t *loop, zsock_t *pipe, void *answered)
{
    char *text = zstr_recv (pipe);

    (void)loop;
    *(int *)answered = text ? atoi (text) : 0;
    zstr_free (&text);
    return -1;
}

/* Until the actor has ended its calls or a signal came. @return calls answered */
static int run_loop (tied_replica_t *replica, zactor_t *actor)
{
    zmq_pollitem_t item = {.fd = tied_replica_fd (replica), .events = ZMQ_POLLIN};
    zloop_t *loop = zloop_new ();
    int answered = 0;
    int ticks = 0;

    zloop_poller (loop, &item, on_work, replica);
    zloop_reader (loop, zactor_sock (actor), on_answered, &answered);
    zloop_timer (loop, 1, 0, on_timer, &ticks);
    zloop_start (loop);
    zloop_destroy (&loop);
    printf ("%d of %d calls answered in the loop, %d ticks of its timer\n", answered, CALLS, ticks);
    return answered;
}

int main (void)
{
    struct tied_replica_options options;
    tied_replica_t *replica;
    zactor_t *actor;
    int answered = 0;

    tied_replica_options_init (&options);
    options.id = "a";
    options.service = TIED_SERVICE_INLINE;
    options.zmq_context = zsys_init ();
    replica = tied_replica_new (&options);
    if (!replica || tied_replica_bind (replica, endpoint) != 0 ||
        tied_replica_bind (replica, "tcp://127.0.0.1:*") != 0 ||
        tied_replica_handle (replica, "echo", echo, NULL) != 0 || tied_replica_start (replica) != 0)
        return 1;
    printf ("serving at %s and %s\n", endpoint, tied_replica_endpoint (replica));
    actor = zactor_new (caller, options.zmq_context);
    if (actor)
        answered = run_loop (replica, actor);
    zactor_destroy (&actor);
    (void)!tied_replica_stop (replica, TIED_S (5));
    /* Whoever shares czmq's context must be gone before exit: czmq waits there for its end. */
    tied_replica_destroy (&replica);
    return answered != CALLS;
}
