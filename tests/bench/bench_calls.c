/* SPDX-License-Identifier: MIT */
/*
 * Calls through client and replicas, closed loop: rate with many outstanding, latency with one.
 * The client is caller-driven; the replicas are processes of their own, inline or with a pool.
 */
#include <string.h>

#include "fleet.h"
#include "measure.h"
#include "zmq/clock.h"

struct run {
    tied_client_t *client;
    struct tied_call call;
    unsigned outstanding;
    tied_time_t start;
    tied_time_t end;
    tied_time_t last;
    uint64_t calls;
    struct bench_samples latency;
};

static void check_reply (struct tied_reply *reply)
{
    if (reply->details.outcome != TIED_OUTCOME_OK || reply->body_size != BENCH_BODY_SIZE)
        bench_fail (tied_outcome_name ((int)reply->details.outcome));
    tied_reply_release (reply);
}

static void one_at_a_time (struct run *self)
{
    struct tied_reply reply;

    do {
        tied_time_t sent = ti_clock_now ();
        if (tied_client_call (self->client, &self->call, &reply) != 0)
            bench_fail ("call");
        check_reply (&reply);
        self->last = ti_clock_now ();
        if (sent < self->start)
            continue;
        self->calls++;
        bench_samples_add (&self->latency, self->last - sent);
    } while (self->last < self->end);
}

static void many_at_once (struct run *self)
{
    struct tied_reply reply;

    self->call.to_queue = true;
    for (unsigned i = 1; i < self->outstanding; i++)
        if (tied_client_submit (self->client, &self->call, NULL) != 0)
            bench_fail ("submit");
    do {
        if (tied_client_submit (self->client, &self->call, NULL) != 0)
            bench_fail ("submit");
        if (tied_client_next (self->client, TIED_NEVER, &reply) != 0)
            bench_fail ("next");
        check_reply (&reply);
        self->last = ti_clock_now ();
        self->calls += self->last >= self->start;
    } while (self->last < self->end);
}

static void
report (struct run *self, struct bench_fleet *fleet, double replicas, double pool, double tied)
{
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    double submitted;
    double cpu = bench_cpu_self ();

    if (tied_client_stats (self->client, &stats) != 0)
        bench_fail ("stats");
    tied_client_destroy (&self->client);
    bench_fleet_end (fleet);
    submitted = (double)stats.core.submitted;
    bench_line_begin ("calls");
    bench_line_number ("replicas", replicas);
    bench_line_number ("pool", pool);
    bench_line_number ("tied", tied);
    bench_line_number ("outstanding", self->outstanding);
    bench_line_number ("calls", (double)self->calls);
    bench_line_number ("calls_s", (double)self->calls * 1e9 / (double)(self->last - self->start));
    bench_line_number ("p50_us", bench_samples_at (&self->latency, 0.5) / 1e3);
    bench_line_number ("p99_us", bench_samples_at (&self->latency, 0.99) / 1e3);
    bench_line_number ("copies_per_call", (double)stats.core.copies_sent / submitted);
    bench_line_number ("duplicates_per_call", (double)stats.core.duplicates / submitted);
    bench_line_number ("reissued", (double)stats.core.copies_reissued);
    bench_line_number ("client_cpu_us", cpu / submitted);
    bench_line_number ("server_cpu_us", bench_cpu_children () / submitted);
    bench_line_end ();
}

int main (int argc, char **argv)
{
    double replicas = 1;
    double pool = 0;
    double tied = 0;
    double outstanding = 64;
    double seconds = 0.7;
    const struct bench_arg args[] = {{"--replicas", &replicas, "replica processes"},
                                     {"--pool", &pool, "pool workers each; 0: inline"},
                                     {"--tied", &tied, "1: tied calls; 0: single copy"},
                                     {"--outstanding", &outstanding, "calls in flight"},
                                     {"--seconds", &seconds, "measured time"},
                                     {NULL, NULL, NULL}};
    static unsigned char body[BENCH_BODY_SIZE];
    struct bench_fleet_setup setup = {.fn = bench_echo};
    struct tied_client_options options;
    struct bench_fleet fleet;
    struct run run = {0};

    bench_args (argc, argv, args);
    setup.count = (uint32_t)replicas;
    tied_replica_options_init (&setup.options);
    setup.options.service = pool > 0 ? TIED_SERVICE_POOL : TIED_SERVICE_INLINE;
    setup.options.core.workers = pool > 0 ? (uint32_t)pool : 1;
    bench_fleet_start (&fleet, &setup);

    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    run.client = bench_fleet_client (&fleet, &options);
    tied_call_init (&run.call, BENCH_METHOD, body, sizeof body);
    run.call.mode = tied > 0 ? TIED_MODE_TIED : TIED_MODE_SINGLE;
    run.call.is_idempotent = true;
    run.call.timeout_ns = BENCH_CALLS_TIMEOUT;
    run.outstanding = (unsigned)outstanding;
    bench_samples_init (&run.latency, BENCH_SAMPLES_MAX);
    run.start = ti_clock_now () + BENCH_WARM_UP;
    run.end = run.start + (tied_duration_t)(seconds * 1e9);
    if (run.outstanding < 2)
        one_at_a_time (&run);
    else
        many_at_once (&run);
    report (&run, &fleet, replicas, pool, tied);
    return 0;
}
