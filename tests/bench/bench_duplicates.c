/* SPDX-License-Identifier: MIT */
/*
 * How often both copies of a tied call run, against what the delay of the cancel predicts.
 *
 * Poisson arrivals, random pairs, the default stagger; replicas with one pool worker each and
 * exponential service times (sleeping, so that two processors carry many of them). The linker puts
 * this program between the runtime and the core: it notes when a core starts a copy and when the
 * sibling's core gets the STARTED of that start. The difference is the Delta of the prediction: a
 * call runs twice when both starts lie within it.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/prng.h"
#include "fleet.h"
#include "measure.h"
#include "zmq/clock.h"

/* What the replicas note, in memory that all processes share. */
struct note {
    _Atomic uint64_t start[2];  /* when copy 0, 1 left a queue; 0: never */
    _Atomic uint64_t effect[2]; /* when its STARTED reached the sibling's core */
};
struct notes {
    _Atomic uint64_t service_ns;
    _Atomic uint64_t services;
    uint64_t capacity;
    struct note calls[];
};

static struct notes *notes;
static double mean_ns;

int __real_tied_replica_core_step (tied_replica_core_t *self,
                                   const struct tied_replica_event *event,
                                   tied_time_t now);
int __wrap_tied_replica_core_step (tied_replica_core_t *self,
                                   const struct tied_replica_event *event,
                                   tied_time_t now);
const struct tied_replica_action *__real_tied_replica_core_next (tied_replica_core_t *self);
const struct tied_replica_action *__wrap_tied_replica_core_next (tied_replica_core_t *self);

static struct note *note_of (struct tied_call_id call, uint8_t copy)
{
    return notes && call.sequence < notes->capacity && copy < 2 ? &notes->calls[call.sequence]
                                                                : NULL;
}

int __wrap_tied_replica_core_step (tied_replica_core_t *self,
                                   const struct tied_replica_event *event,
                                   tied_time_t now)
{
    if (event->type == TIED_REPLICA_EV_STARTED) {
        struct note *note = note_of (event->u.tie.call, event->u.tie.copy);
        if (note)
            atomic_store (&note->effect[event->u.tie.copy], ti_clock_now ());
    }
    return __real_tied_replica_core_step (self, event, now);
}

/* TELL_STARTED belongs to the start of its copy, and is not sent before this returns. */
const struct tied_replica_action *__wrap_tied_replica_core_next (tied_replica_core_t *self)
{
    const struct tied_replica_action *action = __real_tied_replica_core_next (self);

    if (action && action->type == TIED_REPLICA_ACT_TELL_STARTED) {
        struct note *note = note_of (action->call, action->copy);
        if (note)
            atomic_store (&note->start[action->copy], ti_clock_now ());
    }
    return action;
}

static void sleep_until (tied_time_t until)
{
    struct timespec at = {.tv_sec = (time_t)(until / TIED_S (1)),
                          .tv_nsec = (long)(until % TIED_S (1))};

    while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
        continue;
}

static double exponential (struct ti_prng *prng, double mean)
{
    return -log1p (-(double)(ti_prng_next (prng) >> 11) * 0x1p-53) * mean;
}

static void serve (tied_request_t *request, void *arg)
{
    static struct ti_prng prng;
    static bool is_seeded;
    tied_time_t before = ti_clock_now ();

    (void)arg;
    if (!is_seeded) {
        ti_prng_seed (&prng, ti_random_u64 ());
        is_seeded = true;
    }
    sleep_until (before + (tied_duration_t)exponential (&prng, mean_ns));
    atomic_fetch_add (&notes->service_ns, ti_clock_now () - before);
    atomic_fetch_add (&notes->services, 1);
    bench_echo (request, NULL);
}

static void make_notes (uint64_t capacity)
{
    size_t size = sizeof *notes + capacity * sizeof notes->calls[0];

    notes = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED)
        bench_fail ("no shared memory");
    notes->capacity = capacity;
}

struct load {
    tied_client_t *client;
    struct tied_call call;
    uint64_t submitted;
    uint64_t failed;
    struct bench_samples lateness;
};

static bool collect (struct load *self, tied_duration_t timeout)
{
    struct tied_reply reply;

    if (tied_client_next (self->client, timeout, &reply) != 0)
        return false;
    self->failed += reply.details.outcome != TIED_OUTCOME_OK;
    tied_reply_release (&reply);
    return true;
}

static void offer (struct load *self, double per_ns, tied_duration_t duration)
{
    struct ti_prng prng;
    uint64_t collected = 0;

    ti_prng_seed (&prng, ti_random_u64 ());
    tied_time_t start = ti_clock_now ();
    tied_time_t next = start + (tied_duration_t)exponential (&prng, 1 / per_ns);
    while (next < start + duration) {
        tied_time_t now = ti_clock_now ();
        if (now < next) {
            collected += collect (self, next - now);
            continue;
        }
        bench_samples_add (&self->lateness, now - next);
        if (tied_client_submit (self->client, &self->call, NULL) != 0)
            bench_fail ("submit: too many calls in flight");
        self->submitted++;
        next += (tied_duration_t)exponential (&prng, 1 / per_ns);
    }
    while (collected < self->submitted)
        collected += collect (self, TIED_S (1));
}

/* c(load) of the first-order prediction for exponential service and many servers, per Delta/E[S].
 */
static double coefficient (double load)
{
    double square = load * load;

    return 2 * ((1 - load) * (load - load * square) + square / 2 - square * square / 3);
}

static void report (struct load *load, double replicas, double rate)
{
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    struct bench_samples delta;
    struct bench_samples gap;
    double calls = (double)load->submitted;
    double mean = (double)notes->service_ns / (double)notes->services;
    double executions = (double)notes->services;
    uint64_t duplicates = 0;

    bench_samples_init (&delta, 2 * load->submitted + 1);
    bench_samples_init (&gap, load->submitted + 1);
    for (uint64_t i = 0; i < load->submitted; i++) {
        struct note *note = &notes->calls[i];
        uint64_t a = note->start[0];
        uint64_t b = note->start[1];
        for (int copy = 0; copy < 2; copy++) {
            if (note->start[copy] != 0 && note->effect[copy] > note->start[copy])
                bench_samples_add (&delta, note->effect[copy] - note->start[copy]);
        }
        if (a != 0 && b != 0) {
            duplicates++;
            bench_samples_add (&gap, a > b ? a - b : b - a);
        }
    }
    if (tied_client_stats (load->client, &stats) != 0)
        bench_fail ("stats");
    double measured_load = rate * mean / 1e9 / replicas;
    double delta_mean = bench_samples_mean (&delta);
    double predicted = coefficient (measured_load) * delta_mean / mean;
    bench_line_begin ("duplicates");
    bench_line_number ("calls", calls);
    bench_line_number ("failed", (double)load->failed);
    bench_line_number ("duplicates", (double)duplicates);
    bench_line_number ("duplicates_per_call", (double)duplicates / calls);
    bench_line_number ("executions_per_call", executions / calls);
    bench_line_number ("predicted_per_call", predicted);
    bench_line_number ("load", measured_load);
    bench_line_number ("service_us", mean / 1e3);
    bench_line_number ("delta_mean_us", delta_mean / 1e3);
    bench_line_number ("delta_p50_us", bench_samples_at (&delta, 0.5) / 1e3);
    bench_line_number ("delta_p99_us", bench_samples_at (&delta, 0.99) / 1e3);
    bench_line_number ("cancels_timed", (double)delta.count);
    bench_line_number ("gap_mean_us", bench_samples_mean (&gap) / 1e3);
    bench_line_number ("gap_p99_us", bench_samples_at (&gap, 0.99) / 1e3);
    bench_line_number ("copies_per_call", (double)stats.core.copies_sent / calls);
    bench_line_number ("reissued", (double)stats.core.copies_reissued);
    bench_line_number ("late_p50_us", bench_samples_at (&load->lateness, 0.5) / 1e3);
    bench_line_number ("late_max_us", bench_samples_at (&load->lateness, 1) / 1e3);
    bench_line_end ();
    bench_samples_free (&delta);
    bench_samples_free (&gap);
}

int main (int argc, char **argv)
{
    static unsigned char body[BENCH_BODY_SIZE];
    double replicas = 10;
    double load_wanted = 0.5;
    double seconds = 45;
    double mean_us = 5000;
    const struct bench_arg args[] = {{"--replicas", &replicas, "replica processes"},
                                     {"--load", &load_wanted, "load of each replica"},
                                     {"--service-us", &mean_us, "mean service time"},
                                     {"--seconds", &seconds, "measured time"},
                                     {NULL, NULL, NULL}};
    struct bench_fleet_setup setup = {.fn = serve};
    struct tied_client_options options;
    struct bench_fleet fleet;
    struct load load = {0};

    bench_args (argc, argv, args);
    mean_ns = mean_us * 1e3;
    double per_ns = load_wanted * replicas / mean_ns;
    make_notes ((uint64_t)(per_ns * seconds * 1e9 * 1.2) + 10000);
    setup.count = (uint32_t)replicas;
    tied_replica_options_init (&setup.options);
    setup.options.service = TIED_SERVICE_POOL;
    setup.options.core.workers = 1;
    bench_fleet_start (&fleet, &setup);

    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    options.core.pick = TIED_PICK_RANDOM;
    options.core.calls_max = 16384;
    load.client = bench_fleet_client (&fleet, &options);
    tied_call_init (&load.call, BENCH_METHOD, body, sizeof body);
    load.call.is_idempotent = true;
    load.call.to_queue = true;
    load.call.timeout_ns = BENCH_CALLS_TIMEOUT;
    bench_samples_init (&load.lateness, notes->capacity);
    offer (&load, per_ns, (tied_duration_t)(seconds * 1e9));
    report (&load, replicas, (double)load.submitted / seconds);
    tied_client_destroy (&load.client);
    bench_fleet_end (&fleet);
    return 0;
}
