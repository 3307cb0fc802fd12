/* SPDX-License-Identifier: MIT */
/*
 * tied-replica: a ready replica to try and to measure with. It serves `work`, which takes as long
 * as --service says, and `echo`; SIGTERM, SIGINT or SIGHUP drains it. What the work is lies in
 * app/work.c.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <tied/replica.h>

#include "app/stats.h"
#include "app/work.h"
#include "app/workers.h"
#include "tools/cli.h"
#include "tools/fail.h"
#include "tools/recording.h"
#include "tools/streams.h"
#include "zmq/clock.h"

#define PEERS_MAX 64

enum mode {
    MODE_POOL = 0,
    MODE_INLINE = 1
};
static const char *const modes[] = {"pool", "inline", NULL};
static const char *const lanes[] = {"fifo", "behind", NULL};

/* One of the two, or none. */
struct pause {
    struct ti_pause drawn;
    struct stall fixed;
};

struct app {
    struct tied_replica_options options;
    const char *bind;
    const char *peer_bind;
    const char *stats_path;
    const char *record_path;
    struct ti_recording recording;
    struct ti_pair pairs[PEERS_MAX];
    struct ti_pairs peers;
    struct ti_service service;
    struct pause pause;
    struct work work;
    struct workers workers;
    uint64_t seed;
    bool has_seed;
    uint64_t body_max;
    uint64_t drain_ns;
    uint32_t mode;
    tied_replica_t *replica;
    FILE *stats;
    int signals; /* signalfd of those that end it */
};

static int parse_service (void *value, const char *text, char *why)
{
    return ti_service_parse (text, value, why);
}

static int parse_pause (void *value, const char *text, char *why)
{
    struct pause pause = {0};
    int rc = stall_is_text (text) ? stall_parse (text, &pause.fixed, why)
                                  : ti_pause_parse (text, &pause.drawn, why);

    if (rc == 0)
        *(struct pause *)value = pause;
    return rc;
}

static enum ti_cli_verdict read_options (struct app *app, int argc, char **argv)
{
    struct tied_replica_core_options *core = &app->options.core;
    const struct ti_cli_option options[] = {
        {.name = "id",
         .kind = TI_CLI_NAME,
         .value = &app->options.id,
         .argument = "ID",
         .help = "name of this replica, as its peers and clients know it",
         .is_required = true},
        {.name = "bind",
         .kind = TI_CLI_ENDPOINT,
         .value = &app->bind,
         .argument = "ENDPOINT",
         .help = "where clients connect; tcp://127.0.0.1:* picks a port",
         .is_required = true},
        {.name = "peer-bind",
         .kind = TI_CLI_ENDPOINT,
         .value = &app->peer_bind,
         .argument = "ENDPOINT",
         .help = "where the other replicas connect; without it nobody can tell this one anything"},
        {.name = "peer",
         .kind = TI_CLI_PAIRS,
         .value = &app->peers,
         .argument = "ID=ENDPOINT",
         .help = "another replica and its peer endpoint; at most 64"},
        {.name = "workers",
         .kind = TI_CLI_U32,
         .value = &core->workers,
         .argument = "N",
         .help = "requests served at once; default 4",
         .min = 1,
         .max = 4096},
        {.name = "queue-depth",
         .kind = TI_CLI_U32,
         .value = &core->queue_depth,
         .argument = "N",
         .help = "requests that may wait; more are refused; default 1024",
         .min = 1,
         .max = 1 << 20},
        {.name = "hedge-depth",
         .kind = TI_CLI_U32,
         .value = &core->hedge_depth,
         .argument = "N",
         .help = "extra copies are refused from this queue length on; default 0: 4 for each "
                 "worker, at least 3",
         .min = 0,
         .max = 1 << 20},
        {.name = "hedge-lane",
         .kind = TI_CLI_CHOICE,
         .value = &core->hedge_lane,
         .argument = "fifo|behind",
         .help = "place of later copies: in their turn, or behind all others; default fifo",
         .choices = lanes},
        {.name = "recent-ttl",
         .kind = TI_CLI_DURATION,
         .value = &core->recent_ttl_ns,
         .argument = "DURATION",
         .help = "how long a sibling's word about a copy that has not come is kept; default 2s",
         .min = TIED_MS (1),
         .max = TIED_S (3600)},
        {.name = "client-silence",
         .kind = TI_CLI_DURATION,
         .value = &core->client_silence_ns,
         .argument = "DURATION",
         .help = "a client that says nothing for so long is given up, and its requests with it; "
                 "default 5s",
         .min = TIED_MS (10),
         .max = TIED_S (3600)},
        {.name = "park-max",
         .kind = TI_CLI_U32,
         .value = &core->park_max,
         .argument = "N",
         .help = "copies of mode park kept for a sibling that has started; default 256",
         .min = 0,
         .max = 1 << 20},
        {.name = "park-lease",
         .kind = TI_CLI_DURATION,
         .value = &core->park_lease_ns,
         .argument = "DURATION",
         .help = "after this time without an end of the sibling a parked copy runs all the same; "
                 "default 500ms",
         .min = TIED_MS (1),
         .max = TIED_S (3600)},
        {.name = "results-max",
         .kind = TI_CLI_U32,
         .value = &app->options.results_max,
         .argument = "N",
         .help = "idempotency keys remembered, with the results of requests that have ended; 0: "
                 "none; default 4096",
         .min = 0,
         .max = 1 << 20},
        {.name = "results-bytes",
         .kind = TI_CLI_SIZE,
         .value = &app->options.results_bytes,
         .argument = "SIZE",
         .help = "bodies of those results, together; default 16MiB",
         .min = 0,
         .max = UINT64_C (1) << 40},
        {.name = "results-ttl",
         .kind = TI_CLI_DURATION,
         .value = &app->options.results_ttl_ns,
         .argument = "DURATION",
         .help = "how long a result is kept; default 60s",
         .min = TIED_MS (1),
         .max = TIED_S (86400)},
        {.name = "mode",
         .kind = TI_CLI_CHOICE,
         .value = &app->mode,
         .argument = "pool|inline",
         .help = "a pool of threads, or all in one thread; default pool",
         .choices = modes},
        {.name = "service",
         .kind = TI_CLI_CUSTOM,
         .value = &app->service,
         .argument = "SPEC",
         .help = "what `work` does: echo, sleep:DIST or spin:DIST; default echo",
         .parse = parse_service},
        {.name = "pause",
         .kind = TI_CLI_CUSTOM,
         .value = &app->pause,
         .argument = "MEAN,LENGTH",
         .help = "stall all workers for LENGTH at exponential gaps of mean MEAN; or "
                 "every:PERIOD+OFFSET,LENGTH: no worker takes anything for LENGTH whenever the "
                 "wall clock is OFFSET past a multiple of PERIOD; default none",
         .parse = parse_pause},
        {.name = "seed",
         .kind = TI_CLI_U64,
         .value = &app->seed,
         .argument = "N",
         .help = "of service times and pauses, also of the times that keys decide: replicas with "
                 "one seed take as long for the copies of a call, replicas with two do not; "
                 "default drawn from the system, and keys alone decide",
         .given = &app->has_seed,
         .min = 0,
         .max = UINT64_MAX},
        {.name = "body-max",
         .kind = TI_CLI_SIZE,
         .value = &app->body_max,
         .argument = "SIZE",
         .help = "largest request body; default 8MiB",
         .min = 0,
         .max = 64 << 20},
        {.name = "drain-timeout",
         .kind = TI_CLI_DURATION,
         .value = &app->drain_ns,
         .argument = "DURATION",
         .help = "how long SIGTERM lets queued requests finish; default 10s",
         .min = 0,
         .max = TIED_S (3600)},
        {.name = "stats",
         .kind = TI_CLI_OUTPUT,
         .value = &app->stats_path,
         .argument = "FILE",
         .help = "write all counters as JSON to FILE at the end"},
        {.name = "record",
         .kind = TI_CLI_OUTPUT,
         .value = &app->record_path,
         .argument = "FILE",
         .help = "write a line of CSV to FILE for every copy that was received: when it came, how "
                 "long it waited and was served, and what became of it; tied-sim replay reads it"},
    };
    const struct ti_cli cli = {
        .program = "tied-replica",
        .summary = "A replica that serves `work` and `echo` over ZeroMQ.",
        .epilogue =
            "DIST is fixed(T), exp(MEAN), shifted(OFFSET,MEAN), uniform(LOW,HIGH), "
            "bimodal(SHORT,LONG,P),\nlognormal(MEAN,SD), weibull(SCALE,SHAPE), "
            "pareto(MIN,ALPHA), bounded_pareto(MIN,MAX,ALPHA),\n"
            "gpareto(LOC,SCALE,SHAPE), hyper(MEAN,CV2), h2(P,MEAN1,MEAN2) or "
            "steps(V1:P1,V2:P2,...).\nOne line `ready id=ID clients=ENDPOINT "
            "peers=ENDPOINT pid=N` on stdout says that requests are\nserved. SIGTERM, SIGINT "
            "and SIGHUP drain: exit 0.",
        .options = options,
        .options_count = sizeof options / sizeof *options};
    struct ti_cli_result result;
    const char *field = NULL;
    enum ti_cli_verdict verdict = ti_cli_parse (&cli, argc, argv, &result);

    if (verdict != TI_CLI_RUN)
        return verdict;
    app->options.body_max = (uint32_t)app->body_max;
    app->options.service = app->mode == MODE_INLINE ? TIED_SERVICE_INLINE : TIED_SERVICE_POOL;
    if (app->pause.fixed.period_ns > 0) {
        if (app->mode == MODE_INLINE) {
            (void)ti_cli_error (&cli, "--pause every:... needs workers: leave out --mode inline");
            return TI_CLI_WRONG;
        }
        app->options.service = TIED_SERVICE_PULL;
    }
    if (core->hedge_depth > core->queue_depth) {
        (void)ti_cli_error (&cli, "--hedge-depth %u: must be in [0, %u], the queue depth",
                            core->hedge_depth, core->queue_depth);
        return TI_CLI_WRONG;
    }
    if (tied_replica_options_check (&app->options, &field) != 0) {
        (void)ti_cli_error (&cli, "option for %s is out of range", field);
        return TI_CLI_WRONG;
    }
    for (uint32_t i = 0; i < app->peers.count; i++) {
        if (strcmp (app->pairs[i].id, app->options.id) == 0) {
            (void)ti_cli_error (&cli, "--peer %s: this is the id of the replica itself",
                                app->pairs[i].id);
            return TI_CLI_WRONG;
        }
    }
    return TI_CLI_RUN;
}

static int fail (const char *what, const char *subject, const char *why)
{
    return ti_fail (stderr, "tied-replica", "%s %s: %s", what, subject, why);
}

/* Before any thread exists, so that all inherit the mask and only the signalfd sees the signals. */
static int take_signals (struct app *app)
{
    struct sigaction hangup;
    sigset_t set;

    (void)sigemptyset (&set);
    (void)sigaddset (&set, SIGTERM);
    (void)sigaddset (&set, SIGINT);
    /* The terminal is closed; under nohup nobody minds. */
    if (sigaction (SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        (void)sigaddset (&set, SIGHUP);
    (void)sigprocmask (SIG_BLOCK, &set, NULL);
    app->signals = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return app->signals >= 0 ? 0 : fail ("cannot watch", "signals", strerror (errno));
}

/* Inside the replica's lock: a line in memory, and now and then a write of 64 KiB. */
static void record (void *arg, const struct tied_copy_record *copy)
{
    struct app *app = arg;
    char arrived[TI_RECORDING_US_MAX], queue[TI_RECORDING_US_MAX], service[TI_RECORDING_US_MAX];
    char call[TI_RECORDING_CALL_MAX];
    bool is_rejected = copy->fate == TIED_FATE_REJECTED;

    ti_recording_put (&app->recording, "%s,%s,%u,%s,%s,%s,%s%s%s",
                      ti_recording_us (copy->arrived_at, arrived),
                      ti_recording_call (copy->call, call), copy->copy, app->options.id,
                      ti_recording_us (copy->queue_ns, queue),
                      ti_recording_us (copy->service_ns, service), tied_fate_name ((int)copy->fate),
                      is_rejected ? "_" : "", is_rejected ? tied_reject_name (copy->reject) : "");
}

static int set_up (struct app *app)
{
    const bool is_pull = app->options.service == TIED_SERVICE_PULL;
    int rc;

    if (app->record_path) {
        app->options.observe = record;
        app->options.observe_arg = app;
    }
    app->replica = tied_replica_new (&app->options);
    if (!app->replica)
        return fail ("cannot create", "replica", "out of memory or descriptors (ulimit -n)");
    rc = tied_replica_bind (app->replica, app->bind);
    if (rc != 0)
        return fail ("cannot bind", app->bind, ti_fail_reason (rc));
    rc = app->peer_bind ? tied_replica_bind_peers (app->replica, app->peer_bind) : 0;
    if (rc != 0)
        return fail ("cannot bind", app->peer_bind, ti_fail_reason (rc));
    for (uint32_t i = 0; i < app->peers.count; i++) {
        rc = tied_replica_add_peer (app->replica, app->pairs[i].id, app->pairs[i].endpoint);
        if (rc != 0)
            return fail ("cannot connect", app->pairs[i].endpoint, ti_fail_reason (rc));
    }
    work_init (&app->work, &app->service, &app->pause.drawn, app->seed, app->has_seed);
    rc = is_pull ? workers_declare (app->replica)
                 : tied_replica_handle (app->replica, "work", work_handle, &app->work);
    if (rc == 0 && !is_pull)
        rc = tied_replica_handle (app->replica, "echo", work_echo, &app->work);
    if (rc == 0)
        rc = tied_replica_start (app->replica);
    if (rc == 0 && is_pull)
        rc = workers_start (&app->workers, app->replica, &app->work, &app->pause.fixed,
                            app->options.core.workers);
    return rc == 0 ? 0 : fail ("cannot start", app->options.id, ti_fail_reason (rc));
}

static void serve_until_signal (struct app *app)
{
    struct pollfd items[2] = {{.fd = app->signals, .events = POLLIN, .revents = 0},
                              {.fd = -1, .events = POLLIN, .revents = 0}};
    bool is_inline = app->mode == MODE_INLINE;

    if (is_inline)
        items[1].fd = tied_replica_fd (app->replica);
    while (poll (items, 2, -1) < 0 || !(items[0].revents & POLLIN)) {
        if (is_inline)
            (void)!tied_replica_poll (app->replica, 0);
    }
}

static int write_stats (struct app *app)
{
    int rc;

    if (!app->stats)
        return 0;
    rc = stats_write (app->stats, app->replica, app->options.id, &app->peers);
    if (fclose (app->stats) != 0)
        rc = TIED_ERR_SYSTEM;
    app->stats = NULL;
    return rc == 0 ? 0 : ti_fail_write (stderr, "tied-replica", app->stats_path);
}

/* A replica that has not stopped may still record; what it has recorded is written at exit. */
static int finish_recording (struct app *app, bool is_stopped)
{
    if (!is_stopped || ti_recording_close (&app->recording) == 0)
        return 0;
    return ti_fail_write (stderr, "tied-replica", app->record_path);
}

static int run (struct app *app)
{
    const char *peers;
    int rc;

    /* Opened first: a wrong path shows now and not after a long measurement. */
    if (app->stats_path && !(app->stats = fopen (app->stats_path, "w")))
        return ti_fail_write (stderr, "tied-replica", app->stats_path);
    if (app->record_path && ti_recording_open (&app->recording, app->record_path,
                                               "t_us,call,copy,replica,queue_us,service_us,"
                                               "outcome") != 0)
        return ti_fail_write (stderr, "tied-replica", app->record_path);
    if (take_signals (app) != 0 || set_up (app) != 0)
        return TI_EXIT_FAILED;
    peers = tied_replica_peer_endpoint (app->replica);
    (void)printf ("ready id=%s clients=%s peers=%s pid=%ld\n", app->options.id,
                  tied_replica_endpoint (app->replica), peers ? peers : "-", (long)getpid ());
    /* Whoever has started it waits for that line. */
    if (fflush (stdout) != 0 || ferror (stdout))
        return ti_fail_write (stderr, "tied-replica", NULL);
    serve_until_signal (app);
    rc = tied_replica_stop (app->replica, app->drain_ns);
    workers_join (&app->workers);
    if (rc != 0)
        (void)fail ("not drained", app->options.id, ti_fail_reason (rc));
    if (finish_recording (app, rc == 0) != 0)
        rc = TI_EXIT_FAILED;
    if (write_stats (app) != 0)
        rc = TI_EXIT_FAILED;
    return rc == 0 ? TI_EXIT_OK : TI_EXIT_FAILED;
}

int main (int argc, char **argv)
{
    static struct app app;
    int rc;

    ti_streams_open ();
    tied_replica_options_init (&app.options);
    app.peers = (struct ti_pairs){.items = app.pairs, .max = PEERS_MAX, .count = 0};
    app.seed = ti_random_u64 ();
    app.body_max = app.options.body_max;
    app.drain_ns = TIED_S (10);
    app.signals = -1;
    switch (read_options (&app, argc, argv)) {
    case TI_CLI_DONE:
        return ti_streams_close ("tied-replica", TI_EXIT_OK);
    case TI_CLI_WRONG:
        return TI_EXIT_USAGE;
    case TI_CLI_RUN:
        break;
    }
    rc = run (&app);
    tied_replica_destroy (&app.replica);
    if (app.signals >= 0)
        (void)close (app.signals);
    return rc;
}
