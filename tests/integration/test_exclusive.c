/* SPDX-License-Identifier: MIT */
/*
 * Mode exclusive through the client library and `tied-client bench`, while replicas and clients are
 * killed and stopped. The program starts itself as a replica that writes every start to a file,
 * which outlives it: no call is there twice, whatever happens, and none whose client was told that
 * it had not run. And every call ends by its deadline.
 */
#include "cluster.h"
#include "proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tied/replica.h>

#include "base/prng.h"

#define REPLICAS 3

/* What a start writes, in one go. */
struct entry {
    struct tied_call_id call;
    uint64_t copy;
};

/* ---- the program as a replica ---- */

static void on_work (tied_request_t *request, void *arg)
{
    const struct entry entry = {tied_request_call (request), tied_request_copy (request)};

    if (write (*(int *)arg, &entry, sizeof entry) != (ssize_t)sizeof entry)
        _exit (3);
    /* Long enough for others to wait meanwhile. */
    (void)poll (NULL, 0, 1 + (int)(entry.call.sequence % 3));
    (void)!tied_request_reply (request, NULL, 0);
}

/* --serve LEDGER ID CLIENTS PEERS, and for each other replica ID PEERS. */
static int serve (char **args)
{
    struct tied_replica_options options;
    tied_replica_t *replica;
    int ledger = open (args[0], O_WRONLY | O_APPEND | O_CLOEXEC);

    tied_replica_options_init (&options);
    options.id = args[1];
    options.core.workers = 2;
    options.core.hedge_depth = options.core.queue_depth; /* every copy is taken */
    replica = tied_replica_new (&options);
    if (ledger < 0 || !replica || tied_replica_bind (replica, args[2]) != 0 ||
        tied_replica_bind_peers (replica, args[3]) != 0 ||
        tied_replica_handle (replica, "work", on_work, &ledger) != 0)
        return 2;
    for (args += 4; *args; args += 2)
        if (tied_replica_add_peer (replica, args[0], args[1]) != 0)
            return 2;
    if (tied_replica_start (replica) != 0)
        return 2;
    (void)puts ("ready");
    (void)fflush (stdout);
    for (;;)
        (void)pause ();
}

/* ---- a set of them ---- */

static const char *self_path;
static const char *const ids[REPLICAS] = {"a", "b", "c"};

struct set {
    char ends[REPLICAS][2][64]; /* clients, peers */
    char ledger[32];
    struct process *processes[REPLICAS];
    bool is_stopped[REPLICAS];
    struct ti_prng prng;
};

static void start_one (struct set *self, uint32_t i)
{
    const char *argv[7 + 2 * REPLICAS] = {self_path, "--serve",        self->ledger,
                                          ids[i],    self->ends[i][0], self->ends[i][1]};
    uint32_t argc = 6;
    const char *line;

    for (uint32_t j = 0; j < REPLICAS; j++) {
        if (j == i)
            continue;
        argv[argc++] = ids[j];
        argv[argc++] = self->ends[j][1];
    }
    self->processes[i] = process_start (argv);
    line = process_line (self->processes[i]);
    CHECK_TRUE (line && strcmp (line, "ready") == 0);
}

static void kill_one (struct set *self, uint32_t i)
{
    process_signal (self->processes[i], SIGKILL);
    CHECK_I64 (process_wait (self->processes[i]), ==, -SIGKILL);
    process_free (&self->processes[i]);
    self->is_stopped[i] = false;
}

static void open_set (struct set *self, uint64_t seed)
{
    int fd;

    *self = (struct set){.ledger = "/tmp/tied-exclusive-XXXXXX"};
    ti_prng_seed (&self->prng, seed);
    fd = mkstemp (self->ledger);
    CHECK_I64 (fd, >=, 0);
    (void)close (fd);
    for (uint32_t i = 0; i < REPLICAS; i++)
        for (uint32_t k = 0; k < 2; k++)
            proxy_free_endpoint (self->ends[i][k]);
    for (uint32_t i = 0; i < REPLICAS; i++)
        start_one (self, i);
}

static void close_set (struct set *self)
{
    for (uint32_t i = 0; i < REPLICAS; i++)
        kill_one (self, i);
    (void)unlink (self->ledger);
}

/* One of: a kill and a new start; a stop; the end of a stop. */
static void make_trouble (struct set *self)
{
    const uint32_t i = ti_prng_below_32 (&self->prng, REPLICAS);

    if (self->is_stopped[i]) {
        process_signal (self->processes[i], SIGCONT);
        self->is_stopped[i] = false;
    } else if (ti_prng_below_32 (&self->prng, 2) == 0) {
        process_stop (self->processes[i]);
        self->is_stopped[i] = true;
    } else {
        kill_one (self, i);
        start_one (self, i);
    }
}

/* Somebody can answer. */
static bool is_served (const struct set *self)
{
    bool is_served = false;

    for (uint32_t i = 0; i < REPLICAS; i++)
        is_served = is_served || !self->is_stopped[i];
    return is_served;
}

static void end_trouble (struct set *self)
{
    for (uint32_t i = 0; i < REPLICAS; i++) {
        if (self->is_stopped[i])
            process_signal (self->processes[i], SIGCONT);
        self->is_stopped[i] = false;
    }
}

/* ---- the ledger ---- */

struct book {
    struct entry *entries;
    size_t count;
    uint64_t claimed;
};

static int by_call (const void *a, const void *b)
{
    const struct tied_call_id *left = a, *right = b;

    if (left->epoch != right->epoch)
        return (left->epoch > right->epoch) - (left->epoch < right->epoch);
    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

/* No call is there twice. */
static void read_book (const struct set *set, struct book *out)
{
    struct stat status;
    int fd = open (set->ledger, O_RDONLY | O_CLOEXEC);

    CHECK_I64 (fstat (fd, &status), ==, 0);
    out->count = (size_t)status.st_size / sizeof *out->entries;
    out->claimed = 0;
    out->entries = malloc ((size_t)status.st_size + 1);
    CHECK_TRUE (out->entries != NULL);
    CHECK_I64 (read (fd, out->entries, (size_t)status.st_size), ==, status.st_size);
    (void)close (fd);
    qsort (out->entries, out->count, sizeof *out->entries, by_call);
    for (size_t i = 0; i < out->count; i++) {
        const struct entry *entry = &out->entries[i];

        out->claimed += entry->copy == 1;
        if (i > 0 && by_call (entry, entry - 1) == 0) {
            print_error ("call %" PRIx64 "-%" PRIx64 " ran twice, as copies %" PRIu64
                         " and %" PRIu64 "\n",
                         entry->call.epoch, entry->call.sequence, entry[-1].copy, entry->copy);
            CHECK_TRUE (false);
        }
    }
}

static bool is_in_book (const struct book *book, struct tied_call_id call)
{
    return bsearch (&call, book->entries, book->count, sizeof *book->entries, by_call) != NULL;
}

/* ---- the library ---- */

#define CALL_TIME S (6) /* calls outlive the replicas' memory of them, which is 2 s */
#define TICK      S (5) /* scheduling of a crowded machine, not the protocol */
#define ANSWERS   4     /* between two troubles, at least */

struct end {
    struct tied_call_id id;
    bool is_ok;
    bool may_have_run;
};

struct story {
    struct set set;
    tied_client_t *client;
    struct end *ends;
    uint32_t submitted, collected;
    uint64_t outcomes[TIED_OUTCOME_COUNT];
};

static void submit (struct story *self)
{
    struct tied_call call;

    tied_call_init (&call, "work", NULL, 0);
    call.mode = TIED_MODE_EXCLUSIVE;
    call.to_queue = true;
    call.timeout_ns = CALL_TIME;
    CHECK_I64 (tied_client_submit (self->client, &call, NULL), ==, 0);
    self->submitted++;
}

static bool collect (struct story *self, tied_duration_t wait)
{
    struct tied_reply reply;

    if (tied_client_next (self->client, wait, &reply) != 0)
        return false;
    CHECK_U64 (reply.details.latency_ns, <=, CALL_TIME + TICK);
    self->outcomes[reply.details.outcome]++;
    self->ends[self->collected++] = (struct end){.id = reply.id,
                                                 .is_ok = reply.details.outcome == TIED_OUTCOME_OK,
                                                 .may_have_run = reply.details.may_have_executed};
    tied_reply_release (&reply);
    return true;
}

/* Keep so many calls going for that long, and until some have been answered if they can be. */
static void work (struct story *self, uint32_t most, uint32_t outstanding, tied_duration_t time)
{
    const tied_time_t until = ti_clock_now () + time;
    const tied_time_t give_up = until + CHECK_PATIENCE;
    const uint64_t ok = self->outcomes[TIED_OUTCOME_OK] + (is_served (&self->set) ? ANSWERS : 0);

    while (ti_clock_now () < until || self->outcomes[TIED_OUTCOME_OK] < ok) {
        CHECK_U64 (ti_clock_now (), <, give_up);
        while (self->submitted - self->collected < outstanding && self->submitted < most)
            submit (self);
        (void)collect (self, MS (5));
    }
}

static tied_client_t *make_client (const struct set *set)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.core.calls_max = 256;
    client = tied_client_new (&options);
    CHECK_TRUE (client != NULL);
    for (uint32_t i = 0; i < REPLICAS; i++)
        CHECK_I64 (tied_client_add_replica (client, ids[i], set->ends[i][0]), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, REPLICAS, CHECK_PATIENCE), ==, 0);
    return client;
}

static void CL_20_exclusive_calls_of_the_library_run_once_at_most_under_kills (void **state)
{
    const uint32_t rounds = (uint32_t)check_scale (24);
    const uint32_t most = 1 << 16;
    struct story story = {.submitted = 0};
    struct book book;

    (void)state;
    open_set (&story.set, 20261201);
    story.client = make_client (&story.set);
    story.ends = calloc (most, sizeof *story.ends);
    CHECK_TRUE (story.ends != NULL);
    for (uint32_t round = 0; round < rounds; round++) {
        make_trouble (&story.set);
        /* Now and then for longer than replicas remember. */
        work (&story, most, 24, round % 8 == 7 ? MS (2500) : MS (200));
    }
    end_trouble (&story.set);
    while (story.collected < story.submitted)
        CHECK_TRUE (collect (&story, CALL_TIME + TICK));
    CHECK_FALSE (collect (&story, 0));
    tied_client_destroy (&story.client);
    /* What still waits somewhere was cancelled or has run out of time. */
    read_book (&story.set, &book);
    for (uint32_t i = 0; i < story.collected; i++) {
        if (story.ends[i].is_ok)
            CHECK_TRUE (is_in_book (&book, story.ends[i].id));
        if (!story.ends[i].may_have_run)
            CHECK_FALSE (is_in_book (&book, story.ends[i].id));
    }
    print_message ("%u calls: %" PRIu64 " ok, %" PRIu64 " rejected, %" PRIu64 " deadline, %" PRIu64
                   " unavailable; %zu ran, %" PRIu64 " of them by leave\n",
                   story.submitted, story.outcomes[TIED_OUTCOME_OK],
                   story.outcomes[TIED_OUTCOME_REJECTED], story.outcomes[TIED_OUTCOME_DEADLINE],
                   story.outcomes[TIED_OUTCOME_UNAVAILABLE], book.count, book.claimed);
    CHECK_U64 (story.outcomes[TIED_OUTCOME_OK], >, rounds);
    free (book.entries);
    free (story.ends);
    close_set (&story.set);
}

/* ---- the program ---- */

static uint64_t entries (const struct set *set)
{
    struct stat status;

    CHECK_I64 (stat (set->ledger, &status), ==, 0);
    return (uint64_t)status.st_size / sizeof (struct entry);
}

/* Some time, and until some calls more have run if they can. */
static void let_run (const struct set *set, const struct process *bench)
{
    const uint64_t wanted = entries (set) + ANSWERS;
    const tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;

    (void)poll (NULL, 0, 300);
    while (is_served (set) && process_is_alive (bench) && entries (set) < wanted) {
        CHECK_U64 (ti_clock_now (), <, give_up);
        (void)poll (NULL, 0, 5);
    }
}

/* Clients that stand still for longer than replicas remember send the rest of what they were about
   to send when they go on. */
static void CL_20_exclusive_calls_of_bench_run_once_at_most_under_kills (void **state)
{
    const uint64_t rounds = check_scale (8);
    char pairs[REPLICAS][80], policies[] = "/tmp/tied-exclusive-XXXXXX";
    const char yaml[] = "methods: {work: {mode: exclusive}}\n";
    struct process *bench;
    struct set set;
    struct book book;
    int fd = mkstemp (policies);

    (void)state;
    CHECK_I64 (write (fd, yaml, sizeof yaml - 1), ==, sizeof yaml - 1);
    (void)close (fd);
    open_set (&set, 1202);
    for (uint32_t i = 0; i < REPLICAS; i++)
        (void)snprintf (pairs[i], sizeof pairs[i], "%s=%s", ids[i], set.ends[i][0]);
    const char *const argv[] = {
        TIED_CLIENT_PROGRAM, "bench",  "--replica",  pairs[0], "--replica", pairs[1],
        "--replica",         pairs[2], "--policies", policies, "--policy",  "file",
        "--outstanding",     "16",     "--duration", "8s",     "--warmup",  "0s",
        "--slices",          "1",      "--timeout",  "6s",     NULL};
    bench = process_start (argv);
    for (uint64_t round = 0; round < rounds && process_is_alive (bench); round++) {
        let_run (&set, bench);
        make_trouble (&set);
        if (round % 4 == 1) {
            process_stop (bench);
            (void)poll (NULL, 0, 2300);
            process_signal (bench, SIGCONT);
        }
    }
    end_trouble (&set);
    if (process_wait (bench) != 0)
        print_error ("%s\n", process_errors (bench));
    CHECK_I64 (process_wait (bench), ==, 0);
    read_book (&set, &book);
    print_message ("%zu ran, %" PRIu64 " of them by leave\n", book.count, book.claimed);
    CHECK_U64 (book.count, >=, ANSWERS);
    free (book.entries);
    process_free (&bench);
    (void)unlink (policies);
    close_set (&set);
}

int main (int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown (
            CL_20_exclusive_calls_of_the_library_run_once_at_most_under_kills, process_teardown),
        cmocka_unit_test_teardown (CL_20_exclusive_calls_of_bench_run_once_at_most_under_kills,
                                   process_teardown),
    };

    if (argc > 6 && strcmp (argv[1], "--serve") == 0)
        return serve (argv + 2);
    self_path = argv[0];
    return cmocka_run_group_tests (tests, NULL, NULL);
}
