/* SPDX-License-Identifier: MIT */
/*
 * One slice of load. Open loop: arrivals come from a seeded Poisson process whatever the answers
 * do, and a latency counts from the time at which its call should have been sent, so a generator
 * that is late hides nothing. Closed loop: a number of calls at once, each counted from its submit.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/util.h"
#include "bench.h"
#include "zmq/clock.h"

/* A signal is looked for at least this often. */
#define LOOK_EVERY TIED_MS (50)
/* Clients of the policies whose turn it is not are looked after this often while there is no rest.
 */
#define IDLE_EVERY TIED_MS (1)

void bench_idle (struct bench *self)
{
    bench_reload (self);
    for (uint32_t i = 0; i < APP_POLICIES_MAX; i++) {
        if (self->policies[i].client)
            (void)!tied_client_poll (self->policies[i].client, 0);
    }
}

/* Exponential gap with the given mean, from 53 random bits. */
static tied_duration_t draw_gap (struct ti_prng *prng, double rate)
{
    double u = ((double)(ti_prng_next (prng) >> 11) + 0.5) * 0x1p-53;

    return (tied_duration_t)(-log (u) * 1e9 / rate);
}

static bool is_answer (uint32_t outcome)
{
    return outcome == TIED_OUTCOME_OK || outcome == TIED_OUTCOME_APP_ERROR;
}

static void count (struct bench_policy *policy,
                   const struct tied_client_completion *details,
                   tied_duration_t lateness)
{
    struct ti_report_policy *result = policy->result;

    result->calls++;
    result->outcomes[details->outcome]++;
    result->copies += details->copies_sent;
    if (details->not_sent != TIED_NOT_SENT_NONE)
        result->not_sent[details->not_sent]++;
    if (details->hedge_not_sent != TIED_NOT_SENT_NONE)
        result->not_sent[details->hedge_not_sent]++;
    if (is_answer (details->outcome))
        ti_hist_record (result->latency, lateness + details->latency_ns);
    result->lateness_max_ns = ti_max (result->lateness_max_ns, lateness);
}

static void record (struct bench *self,
                    const struct bench_policy *policy,
                    const struct tied_reply *reply,
                    const struct bench_call *call)
{
    const struct tied_client_completion *details = &reply->details;
    char intended[TI_RECORDING_US_MAX], queue[TI_RECORDING_US_MAX], service[TI_RECORDING_US_MAX];
    char latency[TI_RECORDING_US_MAX], id[TI_RECORDING_CALL_MAX];

    if (!self->recording.file)
        return;
    ti_recording_put (&self->recording, "%s,%s,%s,%s,%u,%s,%s,%s,%s",
                      ti_recording_us (call->intended, intended), policy->policy.name,
                      ti_recording_call (reply->id, id), reply->winner_id ? reply->winner_id : "-",
                      (unsigned)details->copies_sent, ti_recording_us (details->queue_ns, queue),
                      ti_recording_us (details->service_ns, service),
                      ti_recording_us (call->lateness + details->latency_ns, latency),
                      tied_outcome_name ((int)details->outcome));
}

/* Memory that is short costs samples. */
static void keep (struct bench *self, const struct tied_reply *reply, const struct bench_call *call)
{
    if (!self->samples)
        return;
    if (!is_answer (reply->details.outcome))
        self->samples->failed++;
    else if (advice_samples_add (self->samples, call->lateness + reply->details.latency_ns,
                                 reply->details.queue_ns) != 0)
        self->samples->dropped++;
}

static void end_call (struct bench *self,
                      struct bench_policy *policy,
                      struct tied_reply *reply,
                      bool is_measured)
{
    const struct bench_call *call = reply->user;

    if (is_measured) {
        count (policy, &reply->details, call->lateness);
        record (self, policy, reply, call);
        keep (self, reply, call);
    }
    self->calls_free[self->calls_free_count++] = (uint32_t)(call - self->calls);
    self->in_flight--;
    tied_reply_release (reply);
}

/*
 * Wait until a client has work. Those whose turn it is not do theirs at once: an answer to a PING
 * that is read late would be taken for a slow network, and lengthen their stagger.
 */
static void wait_for_all (struct bench *self, tied_time_t until)
{
    struct pollfd items[APP_POLICIES_MAX];
    const tied_duration_t left = ti_min (ti_time_sub (until, ti_clock_now ()), TIED_S (1));
    const struct timespec ts = {.tv_sec = (time_t)(left / TIED_S (1)),
                                .tv_nsec = (long)(left % TIED_S (1))};
    nfds_t count = 0;

    for (uint32_t i = 0; i < APP_POLICIES_MAX; i++)
        if (self->policies[i].client)
            items[count++] =
                (struct pollfd){.fd = tied_client_fd (self->policies[i].client), .events = POLLIN};
    if (ppoll (items, count, &ts, NULL) > 0)
        bench_idle (self);
}

/* Take completions until none is there; waits for the first one until then. */
static void
collect (struct bench *self, struct bench_policy *policy, tied_time_t until, bool is_measured)
{
    struct tied_reply reply;
    tied_duration_t wait = ti_min (ti_time_sub (until, ti_clock_now ()), LOOK_EVERY);

    bench_reload (self);
    if (self->policies_count > 1 && tied_client_poll (policy->client, 0) == 0) {
        wait_for_all (self, until);
        wait = 0;
    }
    if (tied_client_next (policy->client, wait, &reply) == 0)
        end_call (self, policy, &reply, is_measured);
}

/* The replicas of the load tests take the service time from the key, so that each policy meets the
   same demands. */
static void write_key (struct bench *self)
{
    uint64_t key = ti_mix (self->next_key++);

    for (uint64_t i = 0; i < 8 && i < self->app->body_size; i++)
        self->body[i] = (unsigned char)(key >> (8 * i));
}

static int submit (struct bench *self, struct bench_policy *policy, tied_time_t intended)
{
    struct tied_call call;
    struct bench_call *in_flight = &self->calls[self->calls_free[self->calls_free_count - 1]];
    int rc;

    write_key (self);
    tied_call_init (&call, self->app->method, self->body, (size_t)self->app->body_size);
    call.to_queue = true;
    call.user = in_flight;
    in_flight->intended = intended;
    in_flight->lateness = ti_time_sub (ti_clock_now (), intended);
    rc = tied_client_submit (policy->client, &call, NULL);
    if (rc != 0)
        return app_fail ("cannot submit: %s", tied_error_text (rc));
    self->calls_free_count--;
    self->in_flight++;
    return 0;
}

struct slice {
    struct bench *bench;
    struct bench_policy *policy;
    struct ti_prng prng;
    tied_time_t begin, end;
    tied_time_t arrival; /* the next one; closed loop: not used */
    bool is_measured;
};

/* Whether another call is due; open loop: at what time it should have been sent. */
static bool is_due (const struct slice *slice, tied_time_t now, tied_time_t *out_intended)
{
    const struct bench *bench = slice->bench;

    if (bench->calls_free_count == 0)
        return false;
    if (bench->app->has_rate) {
        *out_intended = slice->arrival;
        return slice->arrival <= now && slice->arrival < slice->end;
    }
    *out_intended = now;
    return now < slice->end && bench->in_flight < bench->app->outstanding;
}

static int drive (struct slice *slice)
{
    struct bench *bench = slice->bench;
    tied_time_t idle_at = slice->begin + IDLE_EVERY;
    uint64_t done_before = bench->done_ns;
    int rc = 0;

    for (tied_time_t now = ti_clock_now (); rc == 0 && now < slice->end; now = ti_clock_now ()) {
        if (ti_interrupted ())
            slice->end = now;
        tied_time_t intended;

        while (rc == 0 && is_due (slice, now, &intended)) {
            rc = submit (bench, slice->policy, intended);
            if (bench->app->has_rate)
                slice->arrival += draw_gap (&slice->prng, bench->app->rate);
        }
        collect (bench, slice->policy,
                 ti_min (slice->end, bench->app->has_rate ? slice->arrival : TIED_NEVER),
                 slice->is_measured);
        if (now >= idle_at) {
            bench_idle (bench);
            idle_at = now + IDLE_EVERY;
            bench->done_ns = done_before + (now - slice->begin);
            if (slice->is_measured && isatty (STDERR_FILENO))
                bench_show (bench, slice->policy, now);
        }
    }
    bench->done_ns = done_before + (slice->end - slice->begin);
    return rc;
}

int bench_slice (struct bench *self,
                 struct bench_policy *policy,
                 uint64_t seed,
                 tied_duration_t duration_ns,
                 bool is_measured)
{
    struct slice slice = {.bench = self, .policy = policy, .is_measured = is_measured};
    int rc;

    ti_prng_seed (&slice.prng, seed);
    self->next_key = seed;
    slice.begin = ti_clock_now ();
    slice.end = slice.begin + duration_ns;
    slice.arrival = slice.begin;
    if (self->app->has_rate)
        slice.arrival += draw_gap (&slice.prng, self->app->rate);
    rc = drive (&slice);
    if (is_measured)
        policy->measured_ns += slice.end - slice.begin;
    /* Arrivals that this program could not send in time are still sent: they count as late. */
    while (rc == 0 && self->app->has_rate && slice.arrival < slice.end) {
        if (self->calls_free_count > 0) {
            rc = submit (self, policy, slice.arrival);
            slice.arrival += draw_gap (&slice.prng, self->app->rate);
        } else {
            collect (self, policy, TIED_NEVER, is_measured);
        }
    }
    /* Every call ends by its deadline, so this ends. */
    while (rc == 0 && self->in_flight > 0)
        collect (self, policy, TIED_NEVER, is_measured);
    return rc;
}
