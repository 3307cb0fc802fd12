/* SPDX-License-Identifier: MIT */
/* Replicas that are stopped for a while (SIGSTOP), and clients that are gone. */
#include "cluster.h"
#include "occupy.h"
#include "volley.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include <tied/replica.h>

#define WAITING   20
#define GREETINGS 20

static void send_limited (struct wire_client *client, uint64_t sequence, uint64_t remaining_us)
{
    struct tied_message message = wire_request (sequence, 0, "echo", "", 0);

    message.u.request.remaining_us = remaining_us;
    message.u.request.sent_us = ti_clock_now () / 1000;
    wire_send (client, &message);
}

static void expect_expired (struct wire_client *client, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        wire_expect (client, TIED_WIRE_REJECT);
        CHECK_STR (tied_reject_name (client->in.u.reject.reason), "expired");
    }
}

/* First calls, so that the replica knows how long requests of this client take at least: any one of
   them may have waited for a processor. */
static void greet (struct wire_client *client)
{
    for (uint64_t i = 0; i < GREETINGS; i++) {
        send_limited (client, 1000 + i, UINT64_MAX);
        wire_expect (client, TIED_WIRE_REPLY);
    }
}

/* Copies in the queue whose time runs out while the process stands still. */
static void queued_copies_that_expire_while_the_replica_is_stopped_do_not_run (void **state)
{
    struct cluster cluster;
    struct wire_client blocker;
    struct wire_client client;
    uint64_t executed;
    uint64_t refused;

    (void)state;
    cluster_run (&cluster, 1, OCCUPY_SERVICE);
    wire_open (&client, cluster.nodes[0].client);
    greet (&client);
    occupy (&cluster, 0, &blocker);
    executed = cluster_stat (&cluster, 0, "executed");
    for (uint64_t i = 0; i < WAITING; i++)
        send_limited (&client, i, 150000);
    cluster_await (&cluster, 0, "received", executed + WAITING);
    /* If one of the greetings has taken long, the queue is too long for some of them. */
    refused = cluster_stat (&cluster, 0, "rejected_too_late");
    CHECK_U64 (refused, <, WAITING);
    process_stop (cluster.nodes[0].process);
    /* Their time passes; a stopped replica says nothing. */
    (void)wire_receive_within (&client, 300);
    struct tied_message cancel = wire_cancel (OCCUPY_CALL, TIED_CANCEL_CALLER);
    wire_send (&blocker, &cancel);
    process_signal (cluster.nodes[0].process, SIGCONT);
    cluster_await (&cluster, 0, "expired", WAITING - refused);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, executed);
    CHECK_U64 (cluster_stat (&cluster, 0, "depth"), ==, 0);
    wire_expect (&blocker, TIED_WIRE_REPLY);
    wire_close (&blocker);
    wire_close (&client);
    cluster_close (&cluster);
}

/* Copies that lie in the socket's buffers meanwhile and look fresh when they are read: what they
   spent on the way is known from the sender's clock. */
static void unread_copies_that_expire_while_the_replica_is_stopped_do_not_run (void **state)
{
    struct cluster cluster;
    struct wire_client client;

    (void)state;
    cluster_run (&cluster, 1, "echo");
    wire_open (&client, cluster.nodes[0].client);
    greet (&client);
    process_stop (cluster.nodes[0].process);
    for (uint64_t i = 0; i < WAITING; i++)
        send_limited (&client, i, 100000);
    CHECK_I64 (wire_receive_within (&client, 250), ==, 0);
    process_signal (cluster.nodes[0].process, SIGCONT);
    expect_expired (&client, WAITING);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, GREETINGS);
    /* It serves again, and no grudge is held. */
    greet (&client);
    wire_close (&client);
    cluster_close (&cluster);
}

/* Time passes, and the client sees to its own. */
static void pass (tied_client_t *client, tied_duration_t time)
{
    const tied_time_t until = ti_clock_now () + time;

    for (tied_time_t now = ti_clock_now (); now < until; now = ti_clock_now ())
        (void)!tied_client_poll (client, until - now);
}

/* The library's own calls: they end by their deadlines, and nothing of them runs afterwards. */
static void calls_to_a_stopped_replica_end_by_their_deadline_and_never_run (void **state)
{
    struct cluster cluster;
    struct volley volley;
    tied_client_t *client;

    (void)state;
    cluster_run (&cluster, 1, "echo");
    client = cluster_client (&cluster, NULL);
    volley_init (&volley, client, "echo", 3 * WAITING);
    volley_fire (&volley, WAITING, 1);
    volley_finish (&volley);
    process_stop (cluster.nodes[0].process);
    volley.call.timeout_ns = MS (200);
    while (volley.submitted < 2 * WAITING)
        volley_submit (&volley);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_DEADLINE], ==, WAITING);
    /* The replica knows how long they were on their way but for the usual time of a request, which
       may be long here. */
    pass (client, S (1));
    process_signal (cluster.nodes[0].process, SIGCONT);
    volley.call.timeout_ns = CHECK_PATIENCE;
    CHECK_I64 (tied_client_wait_ready (client, 1, MS (PROCESS_BOUND_MS)), ==, 0);
    volley_fire (&volley, WAITING, 1);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 2 * WAITING);
    CHECK_U64 (cluster_stat (&cluster, 0, "executed"), ==, 2 * WAITING);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* ZQ-05: silence of 3 heartbeats makes it suspect; its calls run elsewhere, new ones avoid it, and
   it is used again when it speaks. */
static void ZQ_05_a_stopped_replica_is_suspected_and_its_calls_run_elsewhere (void **state)
{
    struct cluster cluster;
    struct tied_client_options options;
    struct tied_client_replica replica;
    struct volley volley;
    tied_client_t *client;
    uint64_t copies;

    (void)state;
    cluster_run (&cluster, 2, "echo");
    tied_client_options_init (&options);
    options.core.heartbeat_ns = S (1);
    client = cluster_client (&cluster, &options);
    volley_init (&volley, client, "echo", 200);
    process_stop (cluster.nodes[1].process);
    volley_fire (&volley, 60, 60);
    volley_finish (&volley);
    tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);
    do {
        CHECK_U64 (ti_clock_now (), <, until);
        (void)!tied_client_poll (client, MS (5));
        CHECK_I64 (tied_client_replica (client, "b", &replica), ==, 0);
    } while (replica.state != TIED_REPLICA_SUSPECT);
    copies = volley.copies;
    volley_fire (&volley, 60, 1);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 120);
    CHECK_U64 (volley.copies, ==, copies + 60);
    process_signal (cluster.nodes[1].process, SIGCONT);
    CHECK_I64 (tied_client_wait_ready (client, 2, MS (PROCESS_BOUND_MS)), ==, 0);
    volley_fire (&volley, 60, 8);
    volley_finish (&volley);
    CHECK_U64 (volley.outcomes[TIED_OUTCOME_OK], ==, 180);
    volley_free (&volley);
    tied_client_destroy (&client);
    cluster_close (&cluster);
}

/* A replica in this process that gives up silent clients sooner than tied-replica does; a client
   that is merely short of a processor is not silent for so long. */
#define NAP_SILENCE S (3)

struct nap {
    tied_replica_t *replica;
    atomic_bool is_over;
    atomic_uint cancelled;
};

static void nap (tied_request_t *request, void *arg)
{
    struct nap *self = arg;
    struct pollfd item = {.fd = tied_request_cancel_fd (request), .events = POLLIN, .revents = 0};

    while (!atomic_load (&self->is_over) && poll (&item, 1, 10) == 0) {
    }
    if (tied_request_is_cancelled (request))
        atomic_fetch_add (&self->cancelled, 1);
    (void)!tied_request_reply (request, "up", 2);
}

static void echo (tied_request_t *request, void *arg)
{
    size_t size;
    const void *body = tied_request_body (request, &size);

    (void)arg;
    (void)!tied_request_reply (request, body, size);
}

static struct tied_replica_stats stats_of (tied_replica_t *replica)
{
    struct tied_replica_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_replica_stats (replica, &stats), ==, 0);
    return stats;
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        tied_time_t until_ = ti_clock_now () + MS (PROCESS_BOUND_MS);                              \
        while (!(condition)) {                                                                     \
            CHECK_U64 (ti_clock_now (), <, until_);                                                \
            (void)poll (NULL, 0, 1);                                                               \
        }                                                                                          \
    } while (0)

static void open_nap (struct nap *self, tied_duration_t silence)
{
    struct tied_replica_options options;

    memset (self, 0, sizeof *self);
    tied_replica_options_init (&options);
    options.id = "a";
    options.core.workers = 1;
    options.core.client_silence_ns = silence;
    self->replica = tied_replica_new (&options);
    CHECK_TRUE (self->replica != NULL);
    CHECK_I64 (tied_replica_bind (self->replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (self->replica, "work", nap, self), ==, 0);
    CHECK_I64 (tied_replica_handle (self->replica, "echo", echo, self), ==, 0);
    CHECK_I64 (tied_replica_start (self->replica), ==, 0);
}

static void close_nap (struct nap *self)
{
    atomic_store (&self->is_over, true);
    tied_replica_destroy (&self->replica);
}

/* The first client dies with 100 calls queued and one that runs; a second one with the same name
   comes at once. */
static void ZQ_06_ZQ_07_a_killed_clients_queue_is_purged_and_its_successor_served (void **state)
{
    struct nap self;
    char pair[128];
    struct process *first;
    struct process *second;

    (void)state;
    open_nap (&self, NAP_SILENCE);
    (void)snprintf (pair, sizeof pair, "a=%s", tied_replica_endpoint (self.replica));
    const char *const load[] = {
        TIED_CLIENT_PROGRAM, "bench", "--replica", pair,  "--policy", "single", "--duration", "60s",
        "--outstanding",     "101",   "--timeout", "60s", "--warmup", "0s",     NULL};
    const char *const call[] = {
        TIED_CLIENT_PROGRAM, "call", "--replica", pair, "--timeout", "50s", "echo", "alive", NULL};
    first = process_start (load);
    AWAIT (stats_of (self.replica).load.depth == 100);
    process_signal (first, SIGKILL);
    CHECK_I64 (process_wait (first), ==, -SIGKILL);
    second = process_start (call);
    /* It runs although nobody but the purge makes room for it. */
    CHECK_I64 (process_wait (second), ==, 0);
    CHECK_STR (process_output (second), "alive");
    struct tied_replica_stats stats = stats_of (self.replica);
    /* Dropped, or refused as long as nobody could tell that it is dead and not only silent. */
    CHECK_U64 (stats.core.dropped + stats.core.rejected, ==, 100);
    CHECK_U64 (stats.core.executed, ==, 2);
    CHECK_U64 (stats.core.clients_gone, >=, 1);
    CHECK_U64 (stats.load.depth, ==, 0);
    CHECK_U64 (atomic_load (&self.cancelled), ==, 1);
    process_free (&first);
    process_free (&second);
    close_nap (&self);
}

/* A client whose host does not drive it for long comes back on the same connection. Its copy that
   waited will not run, so it has to be told: the call has no deadline. */
static void a_client_that_was_away_for_long_learns_what_became_of_its_calls (void **state)
{
    struct nap self;
    struct tied_client_options options;
    struct tied_call call;
    struct tied_call_id running;
    struct tied_call_id waiting;
    struct tied_reply reply;
    tied_client_t *client;

    (void)state;
    open_nap (&self, NAP_SILENCE);
    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    client = tied_client_new (&options);
    CHECK_TRUE (client != NULL);
    CHECK_I64 (tied_client_add_replica (client, "a", tied_replica_endpoint (self.replica)), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, 1, MS (PROCESS_BOUND_MS)), ==, 0);
    tied_call_init (&call, "work", NULL, 0);
    call.timeout_ns = TIED_NEVER;
    call.is_idempotent = true;
    CHECK_I64 (tied_client_submit (client, &call, &running), ==, 0);
    tied_call_init (&call, "echo", "hello", 5);
    call.timeout_ns = TIED_NEVER;
    call.is_idempotent = true;
    CHECK_I64 (tied_client_submit (client, &call, &waiting), ==, 0);
    tied_time_t until = ti_clock_now () + MS (PROCESS_BOUND_MS);
    while (stats_of (self.replica).load.depth != 1) {
        CHECK_U64 (ti_clock_now (), <, until);
        CHECK_I64 (tied_client_poll (client, MS (1)), ==, 0);
    }
    AWAIT (stats_of (self.replica).core.clients_gone == 1);
    CHECK_U64 (stats_of (self.replica).core.rejected_full, ==, 1);
    CHECK_U64 (stats_of (self.replica).core.dropped, ==, 0);
    CHECK_I64 (tied_client_wait (client, waiting, MS (PROCESS_BOUND_MS), &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    tied_reply_release (&reply);
    tied_client_destroy (&client);
    close_nap (&self);
}

/* ZQ-07: one configured name, two clients at the same time. */
static void ZQ_07_two_clients_with_one_name_both_work (void **state)
{
    struct cluster cluster;
    struct tied_client_options options;
    tied_client_t *clients[2];
    struct volley volleys[2];

    (void)state;
    cluster_run (&cluster, 2, "echo");
    tied_client_options_init (&options);
    options.name = "twin";
    for (int i = 0; i < 2; i++) {
        clients[i] = cluster_client (&cluster, &options);
        volley_init (&volleys[i], clients[i], "echo", 100);
    }
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 2; i++)
            volley_submit (&volleys[i]);
    }
    for (int i = 0; i < 2; i++) {
        volley_finish (&volleys[i]);
        CHECK_U64 (volleys[i].outcomes[TIED_OUTCOME_OK], ==, 100);
        volley_free (&volleys[i]);
        tied_client_destroy (&clients[i]);
    }
    cluster_close (&cluster);
}

/* The replica's answers to it are far more than sockets and the kernel hold. */
static void RQ_19_ZQ_02_a_client_that_does_not_read_harms_nobody (void **state)
{
    enum {
        SIZE = 64 << 10,
        REQUESTS = 2000
    };
    static const unsigned char body[SIZE];
    struct tied_replica_options options;
    tied_replica_t *replica;
    struct wire_client idle;
    struct wire_client lively;

    (void)state;
    tied_replica_options_init (&options);
    options.id = "a";
    options.core.workers = 2;
    options.core.queue_depth = 4096;
    options.reply_queue = 16;
    replica = tied_replica_new (&options);
    CHECK_TRUE (replica != NULL);
    CHECK_I64 (tied_replica_bind (replica, "tcp://127.0.0.1:*"), ==, 0);
    CHECK_I64 (tied_replica_handle (replica, "echo", echo, NULL), ==, 0);
    CHECK_I64 (tied_replica_start (replica), ==, 0);

    /* Its receiving side takes little and the test never reads it. */
    const struct ti_sock_options narrow = {
        .type = ZMQ_DEALER, .send_hwm = 100000, .recv_hwm = 1, .frame_max = -1};
    memset (&idle, 0, sizeof idle);
    idle.context = zmq_ctx_new ();
    idle.sock = ti_sock_new (idle.context, &narrow);
    CHECK_I64 (ti_sock_connect (idle.sock, tied_replica_endpoint (replica)), ==, 0);
    zmq_pollitem_t item = {idle.sock, 0, ZMQ_POLLOUT, 0};
    CHECK_I64 (zmq_poll (&item, 1, WIRE_BOUND_MS), ==, 1);
    wire_open (&lively, tied_replica_endpoint (replica));
    for (uint64_t i = 0; i < REQUESTS; i++) {
        struct tied_message message = wire_request (i, 0, "echo", body, SIZE);
        int rc;
        /* The replica's pipe can be full for a moment. */
        while ((rc = ti_sock_send (idle.sock, NULL, 0, &message, 1024)) != 0) {
            CHECK_I64 (rc, ==, TIED_ERR_ABSENT);
            CHECK_I64 (zmq_poll (&item, 1, WIRE_BOUND_MS), ==, 1);
        }
        if (i % 20 == 0) {
            struct tied_message other = wire_request (100000 + i, 0, "echo", "hi", 2);
            wire_send (&lively, &other);
            wire_expect (&lively, TIED_WIRE_REPLY);
            CHECK_U64 (lively.in.u.reply.call.sequence, ==, 100000 + i);
        }
    }
    AWAIT (stats_of (replica).core.executed == REQUESTS + REQUESTS / 20);
    AWAIT (stats_of (replica).load.running == 0);
    CHECK_U64 (stats_of (replica).replies_dropped, >, 0);
    /* ZQ-02: it goes away with its pipe full. */
    wire_close (&idle);
    wire_sync (&lively);
    wire_close (&lively);
    tied_replica_destroy (&replica);
}

#define TEST(name) cmocka_unit_test_teardown (name, process_teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (queued_copies_that_expire_while_the_replica_is_stopped_do_not_run),
        TEST (unread_copies_that_expire_while_the_replica_is_stopped_do_not_run),
        TEST (calls_to_a_stopped_replica_end_by_their_deadline_and_never_run),
        TEST (ZQ_05_a_stopped_replica_is_suspected_and_its_calls_run_elsewhere),
        TEST (ZQ_06_ZQ_07_a_killed_clients_queue_is_purged_and_its_successor_served),
        TEST (a_client_that_was_away_for_long_learns_what_became_of_its_calls),
        TEST (ZQ_07_two_clients_with_one_name_both_work),
        TEST (RQ_19_ZQ_02_a_client_that_does_not_read_harms_nobody),
    };
    return cmocka_run_group_tests_name ("stopped", tests, NULL, NULL);
}
