/* SPDX-License-Identifier: MIT */
/*
 * The modes park and exclusive between real processes, spoken by hand: what the client library adds
 * is no part of this. For the kills the program starts itself as a replica that writes every start
 * to a file, which outlives it.
 */
#include "cluster.h"
#include "occupy.h"
#include "proxy.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tied/replica.h>

static uint64_t greet (struct wire_client *client)
{
    struct tied_message hello = wire_hello (TIED_WIRE_ROLE_CLIENT, "test");

    wire_send (client, &hello);
    wire_expect (client, TIED_WIRE_WELCOME);
    CHECK_U64 (client->in.u.welcome.modes, ==, TIED_WIRE_MODES);
    return client->in.u.welcome.incarnation;
}

/* A pair of tied-replica, and a connection to each. */
struct pair {
    struct cluster cluster;
    struct wire_client clients[2];
    uint64_t incarnations[2];
};

static void open_pair (struct pair *pair, const char *service)
{
    memset (pair, 0, sizeof *pair);
    cluster_run (&pair->cluster, 2, service);
    for (uint32_t i = 0; i < 2; i++) {
        wire_open (&pair->clients[i], pair->cluster.nodes[i].client);
        pair->incarnations[i] = greet (&pair->clients[i]);
    }
}

static void close_pair (struct pair *pair)
{
    for (uint32_t i = 0; i < 2; i++)
        wire_close (&pair->clients[i]);
    cluster_close (&pair->cluster);
}

/* Copy i goes to replica i, and names the other one. */
static void
send_copy (struct pair *pair, uint32_t i, uint64_t sequence, const char *method, uint32_t flags)
{
    struct tied_message message =
        wire_tied_request (sequence, (uint8_t)i, method, pair->cluster.nodes[1 - i].id);

    message.u.request.flags = TIED_REQUEST_TIED | flags;
    message.u.request.incarnation = pair->incarnations[i];
    message.u.request.sibling_incarnation = pair->incarnations[1 - i];
    wire_send (&pair->clients[i], &message);
}

static void RQ_20_a_parked_copy_runs_when_its_starter_is_killed (void **state)
{
    struct pair pair;
    (void)state;
    open_pair (&pair, "sleep:fixed(60s)");
    send_copy (&pair, 0, 1, "work", TIED_REQUEST_PARK);
    cluster_await (&pair.cluster, 1, "started_early", 1);
    send_copy (&pair, 1, 1, "echo", TIED_REQUEST_PARK);
    cluster_await (&pair.cluster, 1, "parked", 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "executed"), ==, 0);
    cluster_kill (&pair.cluster, 0);
    wire_expect (&pair.clients[1], TIED_WIRE_REPLY);
    CHECK_U64 (pair.clients[1].in.u.reply.copy, ==, 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "park_lost"), ==, 1);
    close_pair (&pair);
}

static void DONE_frees_the_parked_copy (void **state)
{
    struct pair pair;
    struct wire_client blocker;
    (void)state;
    open_pair (&pair, "sleep:fixed(60s)");
    occupy (&pair.cluster, 1, &blocker);
    send_copy (&pair, 1, 1, "echo", TIED_REQUEST_PARK);
    wire_sync (&pair.clients[1]);
    send_copy (&pair, 0, 1, "echo", TIED_REQUEST_PARK);
    wire_expect (&pair.clients[0], TIED_WIRE_REPLY);
    CHECK_U64 (pair.clients[0].in.u.reply.flags, ==, TIED_REPLY_SIBLING_TOLD);
    cluster_await (&pair.cluster, 1, "park_done", 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "parked"), ==, 1);
    release (&blocker);
    close_pair (&pair);
}

static void the_claimant_runs_what_waits_at_the_owner (void **state)
{
    struct pair pair;
    struct wire_client blocker;
    (void)state;
    open_pair (&pair, "sleep:fixed(60s)");
    occupy (&pair.cluster, 0, &blocker);
    send_copy (&pair, 0, 1, "echo", TIED_REQUEST_EXCLUSIVE);
    wire_sync (&pair.clients[0]);
    send_copy (&pair, 1, 1, "echo", TIED_REQUEST_EXCLUSIVE);
    wire_expect (&pair.clients[1], TIED_WIRE_REPLY);
    /* Asked again, it says the same. */
    CHECK_U64 (cluster_stat (&pair.cluster, 0, "claim_granted"), >=, 1);
    CHECK_U64 (cluster_stat (&pair.cluster, 0, "claim_denied"), ==, 0);
    CHECK_U64 (cluster_stat (&pair.cluster, 0, "dropped"), ==, 1);
    release (&blocker);
    close_pair (&pair);
}

static void no_start_without_an_answer_and_none_after_a_denial (void **state)
{
    struct pair pair;
    (void)state;
    open_pair (&pair, "sleep:fixed(60s)");
    process_stop (pair.cluster.nodes[0].process);
    send_copy (&pair, 1, 1, "echo", TIED_REQUEST_EXCLUSIVE);
    cluster_await (&pair.cluster, 1, "claim_sent", 2);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "executed"), ==, 0);
    cluster_kill (&pair.cluster, 0);
    cluster_start (&pair.cluster, 0, "--workers", "1", NULL);
    wire_expect (&pair.clients[1], TIED_WIRE_REJECT);
    CHECK_U64 (pair.clients[1].in.u.reject.reason, ==, TIED_REJECT_DENIED);
    CHECK_U64 (cluster_stat (&pair.cluster, 1, "executed"), ==, 0);
    close_pair (&pair);
}

/* ---- kill -9 under load, and a ledger ---- */

/* What a start writes, in one go. */
struct entry {
    uint64_t sequence;
    uint64_t copy;
};

static void on_work (tied_request_t *request, void *arg)
{
    const struct entry entry = {tied_request_call (request).sequence, tied_request_copy (request)};

    if (write (*(int *)arg, &entry, sizeof entry) != (ssize_t)sizeof entry)
        _exit (3);
    /* Long enough for others to wait meanwhile. */
    for (tied_time_t end = ti_clock_now () + TIED_US (500); ti_clock_now () < end;) {
    }
    (void)!tied_request_reply (request, NULL, 0);
}

static const char *self_path;

/* The program as a replica: --serve ID CLIENTS PEERS PEER-ID PEER-ENDPOINT LEDGER. */
static int serve (char **args)
{
    struct tied_replica_options options;
    tied_replica_t *replica;
    int ledger = open (args[5], O_WRONLY | O_APPEND | O_CLOEXEC);

    tied_replica_options_init (&options);
    options.id = args[0];
    options.core.workers = 2;
    options.core.hedge_depth = options.core.queue_depth; /* every copy is taken */
    replica = tied_replica_new (&options);
    if (ledger < 0 || !replica || tied_replica_bind (replica, args[1]) != 0 ||
        tied_replica_bind_peers (replica, args[2]) != 0 ||
        tied_replica_add_peer (replica, args[3], args[4]) != 0 ||
        tied_replica_handle (replica, "work", on_work, &ledger) != 0 ||
        tied_replica_start (replica) != 0)
        return 2;
    (void)puts ("ready");
    (void)fflush (stdout);
    for (;;)
        (void)pause ();
}

#define BATCH  150
#define ROUNDS 8

struct duel {
    char ends[2][2][64]; /* [replica][0: clients, 1: peers] */
    char ledger[64];
    struct process *processes[2];
    struct wire_client clients[2];
    uint64_t incarnations[2];
    uint64_t next;
    uint64_t answered;
    uint64_t refused;
};

static const char *const ids[] = {"a", "b"};

static void start_one (struct duel *self, uint32_t i)
{
    const char *const argv[] = {self_path,
                                "--serve",
                                ids[i],
                                self->ends[i][0],
                                self->ends[i][1],
                                ids[1 - i],
                                self->ends[1 - i][1],
                                self->ledger,
                                NULL};
    const char *line;

    self->processes[i] = process_start (argv);
    line = process_line (self->processes[i]);
    CHECK_TRUE (line && strcmp (line, "ready") == 0);
    wire_open (&self->clients[i], self->ends[i][0]);
    self->incarnations[i] = greet (&self->clients[i]);
}

static void kill_one (struct duel *self, uint32_t i)
{
    process_signal (self->processes[i], SIGKILL);
    CHECK_I64 (process_wait (self->processes[i]), ==, -SIGKILL);
    process_free (&self->processes[i]);
    wire_close (&self->clients[i]);
}

static void
send_exclusive (struct duel *self, uint32_t i, uint64_t sequence, const uint64_t incarnations[2])
{
    struct tied_message message = wire_tied_request (sequence, (uint8_t)i, "work", ids[1 - i]);

    message.u.request.flags = TIED_REQUEST_TIED | TIED_REQUEST_EXCLUSIVE;
    message.u.request.incarnation = incarnations[i];
    message.u.request.sibling_incarnation = incarnations[1 - i];
    message.u.request.remaining_us = 10000000;
    wire_send (&self->clients[i], &message);
}

/* A batch whose copies reach the two replicas in either order, some of them twice. */
static void send_batch (struct duel *self, const uint64_t incarnations[2])
{
    for (uint32_t n = 0; n < BATCH; n++) {
        const uint64_t sequence = self->next++;
        const uint32_t first = n % 2;

        send_exclusive (self, first, sequence, incarnations);
        send_exclusive (self, 1 - first, sequence, incarnations);
        if (n % 5 == 0)
            send_exclusive (self, first, sequence, incarnations);
    }
}

/* The next answer of a replica; false if there is none for a while. */
static bool take_answer (struct duel *self, uint32_t i, long timeout_ms)
{
    const int type = wire_receive_within (&self->clients[i], timeout_ms);

    self->answered += type == TIED_WIRE_REPLY;
    self->refused += type == TIED_WIRE_REJECT;
    return type != 0;
}

/* Until one of the two counts has grown so much, however long that takes. */
static void await_answers (struct duel *self, const uint64_t *count, uint64_t more)
{
    const uint64_t wanted = *count + more;
    const tied_time_t until = ti_clock_now () + CHECK_PATIENCE;

    for (uint32_t i = 0; *count < wanted; i = 1 - i) {
        CHECK_U64 (ti_clock_now (), <, until);
        while (*count < wanted && take_answer (self, i, 1)) {
        }
    }
}

/* What is there, and what else comes soon. */
static void drain_answers (struct duel *self)
{
    for (uint32_t i = 0; i < 2; i++) {
        while (take_answer (self, i, 200)) {
        }
    }
}

static int by_sequence (const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

/* No call is there twice. How many are; and how many of these ran at the claimant. */
static uint64_t read_ledger (const char *path, uint64_t *out_claimed)
{
    struct stat status;
    int fd = open (path, O_RDONLY | O_CLOEXEC);
    CHECK_I64 (fstat (fd, &status), ==, 0);
    const size_t count = (size_t)status.st_size / sizeof (struct entry);
    struct entry *entries = malloc ((size_t)status.st_size + 1);
    CHECK_TRUE (entries != NULL);
    CHECK_I64 (read (fd, entries, (size_t)status.st_size), ==, status.st_size);
    (void)close (fd);
    qsort (entries, count, sizeof *entries, by_sequence);
    *out_claimed = 0;
    for (size_t i = 0; i < count; i++) {
        *out_claimed += entries[i].copy == 1;
        if (i > 0)
            CHECK_U64 (entries[i].sequence, !=, entries[i - 1].sequence);
    }
    free (entries);
    return count;
}

static void exclusive_calls_run_at_most_once_under_kills (void **state)
{
    struct duel duel = {.ledger = "/tmp/tied-modes-XXXXXX", .next = 1};
    uint64_t claimed;
    (void)state;
    const int fd = mkstemp (duel.ledger);
    CHECK_I64 (fd, >=, 0);
    (void)close (fd);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++)
            proxy_free_endpoint (duel.ends[i][k]);
    for (uint32_t i = 0; i < 2; i++)
        start_one (&duel, i);
    const uint64_t rounds = check_scale (ROUNDS);
    for (uint64_t round = 0; round < rounds; round++) {
        const uint32_t victim = round % 2;
        const uint64_t old[2] = {duel.incarnations[0], duel.incarnations[1]};

        /* Each of these calls runs, and so it does not matter how quickly. */
        send_batch (&duel, duel.incarnations);
        await_answers (&duel, &duel.answered, BATCH / 4 * (1 + round % 3));
        kill_one (&duel, victim);
        start_one (&duel, victim);
        duel.next -= BATCH / 3; /* the last ones once more, as a network might: for who was there */
        send_batch (&duel, old);
        await_answers (&duel, &duel.refused, BATCH / 2); /* the new one has no part in these */
    }
    drain_answers (&duel);
    const uint64_t executed = read_ledger (duel.ledger, &claimed);
    print_message ("%" PRIu64 " calls, %" PRIu64 " ran, %" PRIu64 " of them by leave; %" PRIu64
                   " replies, %" PRIu64 " refusals\n",
                   duel.next - 1, executed, claimed, duel.answered, duel.refused);
    CHECK_U64 (executed, >=, rounds * BATCH / 4);
    if (rounds == ROUNDS) /* a run of few rounds may meet none */
        CHECK_U64 (claimed, >, 0);
    CHECK_U64 (duel.refused, >, 0);
    for (uint32_t i = 0; i < 2; i++)
        kill_one (&duel, i);
    (void)unlink (duel.ledger);
}

int main (int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown (RQ_20_a_parked_copy_runs_when_its_starter_is_killed,
                                   process_teardown),
        cmocka_unit_test_teardown (DONE_frees_the_parked_copy, process_teardown),
        cmocka_unit_test_teardown (the_claimant_runs_what_waits_at_the_owner, process_teardown),
        cmocka_unit_test_teardown (no_start_without_an_answer_and_none_after_a_denial,
                                   process_teardown),
        cmocka_unit_test_teardown (exclusive_calls_run_at_most_once_under_kills, process_teardown),
    };

    if (argc == 8 && strcmp (argv[1], "--serve") == 0)
        return serve (argv + 2);
    self_path = argv[0];
    return cmocka_run_group_tests (tests, NULL, NULL);
}
