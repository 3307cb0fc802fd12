/* SPDX-License-Identifier: MIT */
/* The peer endpoint of a replica: nothing that comes there is left lying, and all is counted. */
#include "wire_client.h"

#include <tied/replica.h>

struct scene {
    void *context;
    tied_replica_t *replica;
    struct wire_client client;
    struct wire_client peer;
    bool has_interfered;
};

static struct tied_replica_stats stats_of (struct scene *scene)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_stats (scene->replica, &stats), ==, 0);
    return stats;
}

static void say (struct scene *scene, struct tied_message message)
{
    wire_send (&scene->peer, &message);
}

static struct tied_message started (uint64_t sequence)
{
    return (struct tied_message){.type = TIED_WIRE_STARTED,
                                 .u.tie = {.call = {UINT64_C (0x7157), sequence}, .copy = 0}};
}

static void stay_until (tied_time_t until)
{
    while (ti_clock_now () < until) {
    }
}

/* Runs copy 1 while the sibling of copy 2 starts and its replica says HELLO once more. It takes so
   long that the replica looks at its sockets before it goes on, and that libzmq looks at what its
   threads report at the next send. */
static void serve (tied_request_t *request, void *arg)
{
    struct scene *scene = arg;

    if (tied_request_call (request).sequence == 1) {
        say (scene, started (2));
        say (scene, wire_hello (TIED_WIRE_ROLE_REPLICA, "sister"));
        stay_until (ti_clock_now () + MS (10));
    }
    if (tied_request_reply (request, NULL, 0) != 0)
        abort ();
}

/* Copy 2 is dropped: the replica has received all that was there and is handling it. */
static void interfere (void *arg, const struct tied_copy_record *record)
{
    struct scene *scene = arg;

    if (record->fate != TIED_FATE_DROPPED || scene->has_interfered)
        return;
    scene->has_interfered = true;
    say (scene, started (3));
}

static void connect_to (struct scene *scene, struct wire_client *client, const char *endpoint)
{
    const struct ti_sock_options dealer = {
        .type = ZMQ_DEALER, .send_hwm = 1000, .recv_hwm = 1000, .frame_max = -1};

    client->sock = ti_sock_new (scene->context, &dealer);
    CHECK_TRUE (client->sock != NULL);
    CHECK_I64 (ti_sock_connect (client->sock, endpoint), ==, 0);
}

static int setup (void **state)
{
    struct scene *scene = calloc (1, sizeof *scene);
    struct tied_replica_options options;

    if (!scene)
        return -1;
    *state = scene;
    scene->context = zmq_ctx_new ();
    tied_replica_options_init (&options);
    options.id = "me";
    options.service = TIED_SERVICE_INLINE;
    options.zmq_context = scene->context;
    options.observe = interfere;
    options.observe_arg = scene;
    scene->replica = tied_replica_new (&options);
    if (!scene->replica || tied_replica_bind (scene->replica, "inproc://clients") != 0 ||
        tied_replica_bind_peers (scene->replica, "inproc://peers") != 0 ||
        tied_replica_add_peer (scene->replica, "sister", "tcp://127.0.0.1:1") != 0 ||
        tied_replica_handle (scene->replica, "serve", serve, scene) != 0 ||
        tied_replica_start (scene->replica) != 0)
        return -1;
    connect_to (scene, &scene->client, "inproc://clients");
    connect_to (scene, &scene->peer, "inproc://peers");
    return 0;
}

static int teardown (void **state)
{
    struct scene *scene = *state;

    wire_close (&scene->client);
    wire_close (&scene->peer);
    tied_replica_destroy (&scene->replica);
    zmq_ctx_term (scene->context);
    free (scene);
    return 0;
}

/* The answer to HELLO is a use of the socket, and takes away the word that a message has come. Over
   inproc and in one thread, so that it comes just then. */
static void ZQ_28_what_comes_while_a_peer_is_answered_is_seen (void **state)
{
    struct scene *scene = *state;

    say (scene, wire_hello (TIED_WIRE_ROLE_REPLICA, "sister"));
    for (uint64_t sequence = 1; sequence <= 2; sequence++) {
        struct tied_message request = wire_tied_request (sequence, 1, "serve", "sister");
        wire_send (&scene->client, &request);
    }
    for (int i = 0; i < 10; i++)
        CHECK_I64 (tied_replica_poll (scene->replica, 0), >=, 0);
    CHECK_TRUE (scene->has_interfered);
    CHECK_U64 (stats_of (scene).core.executed, ==, 1);
    CHECK_U64 (stats_of (scene).core.started_effective, ==, 1);
    CHECK_U64 (stats_of (scene).core.started_early, ==, 1);
    wire_expect (&scene->peer, TIED_WIRE_WELCOME);
    wire_expect (&scene->peer, TIED_WIRE_WELCOME);
}

static struct tied_peer_stats peer_of (tied_replica_t *replica, const char *id)
{
    struct tied_peer_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_peer_stats (replica, id, &stats), ==, 0);
    return stats;
}

static void counters_of_a_peer_that_only_speaks (void **state)
{
    struct scene *scene = *state;
    struct tied_message untie = {.type = TIED_WIRE_UNTIE,
                                 .u.tie = {.call = {UINT64_C (0x7157), 9}, .copy = 0}};
    struct tied_peer_stats stats = peer_of (scene->replica, "sister");

    CHECK_FALSE (stats.is_known);
    CHECK_U64 (stats.silent_ns, ==, TIED_NEVER);
    say (scene, started (5)); /* nobody knows whose word this is */
    say (scene, wire_hello (TIED_WIRE_ROLE_REPLICA, "sister"));
    say (scene, started (6));
    say (scene, started (7));
    say (scene, untie);
    CHECK_I64 (tied_replica_poll (scene->replica, 0), ==, 0);
    stats = peer_of (scene->replica, "sister");
    CHECK_TRUE (stats.is_known);
    CHECK_FALSE (stats.is_up);
    CHECK_U64 (stats.silent_ns, <, CHECK_PATIENCE);
    CHECK_U64 (stats.hello_received, ==, 1);
    CHECK_U64 (stats.started_received, ==, 2);
    CHECK_U64 (stats.untie_received, ==, 1);
    CHECK_U64 (stats.link_ups + stats.hello_sent + stats.started_sent + stats.started_unsent +
                   stats.untie_sent + stats.untie_unsent,
               ==, 0);
    CHECK_U64 (stats_of (scene).strangers, ==, 1);
}

static void peer_stats_write_no_more_than_asked_for_and_know_their_peers (void **state)
{
    struct scene *scene = *state;
    struct tied_peer_stats stats;

    memset (&stats, 0xee, sizeof stats);
    stats.struct_size = offsetof (struct tied_peer_stats, silent_ns);
    CHECK_I64 (tied_replica_peer_stats (scene->replica, "sister", &stats), ==, 0);
    CHECK_U64 (stats.struct_size, ==, offsetof (struct tied_peer_stats, silent_ns));
    CHECK_FALSE (stats.is_known);
    CHECK_U64 (stats.silent_ns, ==, UINT64_C (0xeeeeeeeeeeeeeeee));
    CHECK_I64 (tied_replica_peer_stats (scene->replica, "me", &stats), ==, TIED_ERR_ABSENT);
    CHECK_I64 (tied_replica_peer_stats (scene->replica, "", &stats), ==, TIED_ERR_ABSENT);
    CHECK_I64 (tied_replica_peer_stats (scene->replica, NULL, &stats), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_peer_stats (scene->replica, "sister", NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_replica_peer_stats (NULL, "sister", &stats), ==, TIED_ERR_INVAL);
    stats.struct_size = 0;
    CHECK_I64 (tied_replica_peer_stats (scene->replica, "sister", &stats), ==, TIED_ERR_INVAL);
}

static void run_at_once (tied_request_t *request, void *arg)
{
    (void)arg;
    if (tied_request_reply (request, NULL, 0) != 0)
        abort ();
}

static tied_replica_t *open_one (const char *id)
{
    struct tied_replica_options options;
    tied_replica_t *replica;

    tied_replica_options_init (&options);
    options.id = id;
    replica = tied_replica_new (&options);
    CHECK_TRUE (replica != NULL);
    CHECK_I64 (tied_replica_bind (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_bind_peers (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "run", run_at_once, NULL), ==, 0);
    return replica;
}

static void start_beside (tied_replica_t *replica, const char *id, tied_replica_t *other)
{
    const char *endpoint = tied_replica_peer_endpoint (other);

    CHECK_I64 (tied_replica_add_peer (replica, id, endpoint), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);
}

static void what_one_has_sent_the_other_has_received (void **state)
{
    enum {
        CALLS = 100
    };
    tied_replica_t *a = open_one ("a");
    tied_replica_t *b = open_one ("b");
    struct tied_peer_stats stats;
    struct wire_client client;
    tied_time_t until = ti_clock_now () + CHECK_PATIENCE;

    (void)state;
    start_beside (a, "b", b);
    start_beside (b, "a", a);
    wire_open (&client, tied_replica_endpoint (a));
    while (!peer_of (a, "b").is_up || !peer_of (b, "a").is_known)
        CHECK_U64 (ti_clock_now (), <, until);
    for (uint64_t i = 0; i < CALLS; i++) {
        struct tied_message request = wire_tied_request (i, 0, "run", "b");
        wire_send (&client, &request);
        wire_expect (&client, TIED_WIRE_REPLY);
    }
    stats = peer_of (a, "b");
    CHECK_U64 (stats.started_sent, ==, CALLS);
    CHECK_U64 (stats.started_unsent, ==, 0);
    CHECK_U64 (stats.link_ups, ==, 1);
    CHECK_U64 (stats.hello_sent, >=, 1);
    while (peer_of (b, "a").started_received < CALLS)
        CHECK_U64 (ti_clock_now (), <, until);
    stats = peer_of (b, "a");
    CHECK_U64 (stats.started_received, ==, CALLS);
    CHECK_U64 (stats.hello_received, >=, 1);
    CHECK_U64 (stats.started_sent, ==, 0);
    wire_close (&client);
    tied_replica_destroy (&a);
    tied_replica_destroy (&b);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown (ZQ_28_what_comes_while_a_peer_is_answered_is_seen, setup,
                                         teardown),
        cmocka_unit_test_setup_teardown (counters_of_a_peer_that_only_speaks, setup, teardown),
        cmocka_unit_test_setup_teardown (
            peer_stats_write_no_more_than_asked_for_and_know_their_peers, setup, teardown),
        cmocka_unit_test (what_one_has_sent_the_other_has_received),
    };

    return cmocka_run_group_tests_name ("replica peers", tests, NULL, NULL);
}
