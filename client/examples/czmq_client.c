/* SPDX-License-Identifier: MIT */
/*
 * An actor of czmq that answers questions by tied calls: a question is a string on its pipe, and so
 * is the answer. The client has no thread of its own; the actor's zpoller watches the pipe and the
 * client's descriptor, so many questions can be open and $TERM is heard at once.
 *
 * The two replicas are in the same program, reached over inproc in czmq's context. Run by ctest.
 */
#include <czmq.h>

#include <tied/client.h>
#include <tied/replica.h>

#define QUESTIONS 100

struct place {
    const char *id;
    const char *endpoint;
    const char *peer_endpoint;
};

static const struct place places[2] = {{"a", "inproc://a", "inproc://a-peers"},
                                       {"b", "inproc://b", "inproc://b-peers"}};

static tied_client_t *start_client (void *context)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    options.zmq_context = context;
    options.timeout_ns = TIED_S (30); /* a slow machine is no error */
    client = tied_client_new (&options);
    for (int i = 0; client && i < 2; i++) {
        if (tied_client_add_replica (client, places[i].id, places[i].endpoint) != 0)
            tied_client_destroy (&client);
    }
    if (client && tied_client_start (client) != 0)
        tied_client_destroy (&client);
    return client;
}

/* @return false: it is time to end */
static bool take_question (zsock_t *pipe, tied_client_t *client)
{
    char *text = zstr_recv (pipe);
    bool goes_on = text && strcmp (text, "$TERM") != 0;
    struct tied_call call;

    if (goes_on) {
        tied_call_init (&call, "greet", text, strlen (text));
        call.is_idempotent = true;
        call.to_queue = true;
        if (tied_client_submit (client, &call, NULL) != 0)
            zstr_send (pipe, "no answer");
    }
    zstr_free (&text);
    return goes_on;
}

static void give_answers (zsock_t *pipe, tied_client_t *client)
{
    struct tied_reply reply;

    while (tied_client_next (client, 0, &reply) == 0) {
        if (reply.details.outcome == TIED_OUTCOME_OK)
            zstr_sendf (pipe, "%.*s", (int)reply.body_size, (const char *)reply.body);
        else
            zstr_sendf (pipe, "no answer: %s", tied_outcome_name ((int)reply.details.outcome));
        tied_reply_release (&reply);
    }
}

static void answerer (zsock_t *pipe, void *context)
{
    tied_client_t *client = start_client (context);
    int fd = tied_client_fd (client);
    zpoller_t *poller = fd >= 0 ? zpoller_new (pipe, &fd, NULL) : NULL;
    bool goes_on = poller != NULL;

    /* A signal ends the program's main thread, which then sends $TERM. */
    if (poller)
        zpoller_set_nonstop (poller, true);
    zsock_signal (pipe, goes_on ? 0 : 1);
    while (goes_on) {
        void *which = zpoller_wait (poller, -1);

        if (which == pipe)
            goes_on = take_question (pipe, client);
        else
            give_answers (pipe, client);
    }
    zpoller_destroy (&poller);
    tied_client_destroy (&client);
}

static void greet (tied_request_t *request, void *arg)
{
    size_t size;
    const char *name = tied_request_body (request, &size);
    char *answer = zsys_sprintf ("hello %.*s", (int)size, name ? name : "");

    (void)arg;
    (void)!tied_request_reply (request, answer, strlen (answer));
    zstr_free (&answer);
}

static tied_replica_t *start_replica (void *context, int self, int other)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = places[self].id;
    options.zmq_context = context;
    replica = tied_replica_new (&options);
    if (replica &&
        (tied_replica_bind (replica, places[self].endpoint) != 0 ||
         tied_replica_bind_peers (replica, places[self].peer_endpoint) != 0 ||
         tied_replica_add_peer (replica, places[other].id, places[other].peer_endpoint) != 0 ||
         tied_replica_handle (replica, "greet", greet, NULL) != 0 ||
         tied_replica_start (replica) != 0))
        tied_replica_destroy (&replica);
    return replica;
}

static int ask_all (zactor_t *actor)
{
    int answered = 0;

    for (int i = 0; i < QUESTIONS; i++)
        zstr_sendf (actor, "%d", i);
    for (int i = 0; i < QUESTIONS; i++) {
        char *answer = zstr_recv (actor);

        if (!answer) /* interrupted */
            break;
        answered += strncmp (answer, "hello ", 6) == 0;
        zstr_free (&answer);
    }
    return answered;
}

int main (void)
{
    void *context = zsys_init ();
    tied_replica_t *replicas[2] = {start_replica (context, 0, 1), start_replica (context, 1, 0)};
    zactor_t *actor = zactor_new (answerer, context);
    int answered = actor && replicas[0] && replicas[1] ? ask_all (actor) : 0;

    zactor_destroy (&actor);
    for (int i = 0; i < 2; i++) {
        if (replicas[i])
            (void)!tied_replica_stop (replicas[i], TIED_S (5));
        tied_replica_destroy (&replicas[i]);
    }
    printf ("%d of %d questions answered\n", answered, QUESTIONS);
    return answered != QUESTIONS;
}
