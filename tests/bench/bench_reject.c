/* SPDX-License-Identifier: MIT */
/*
 * How long a replica takes to refuse when all of its workers are busy and its queue is full,
 * beside a PING on the same connection: pairs in random order, both seen from a plain DEALER that
 * speaks the protocol, so that the client library's own time is not in either.
 */
#include <string.h>
#include <unistd.h>

#include <zmq.h>

#include "base/prng.h"
#include "fleet.h"
#include "measure.h"
#include "zmq/clock.h"

#define WORKERS     2
#define QUEUE_DEPTH 16
#define WARM_UP     500

static void never_ends (tied_request_t *request, void *arg)
{
    (void)request;
    (void)arg;
    for (;;)
        (void)pause ();
}

struct rig {
    void *sock;
    uint64_t sequence;
    unsigned char body[BENCH_BODY_SIZE];
};

static void send_message (struct rig *self, const struct tied_message *message)
{
    unsigned char bytes[TIED_WIRE_HEADER_MAX + BENCH_BODY_SIZE];
    int size = tied_wire_encode (message, bytes, sizeof bytes);

    if (size <= 0 || zmq_send (self->sock, bytes, (size_t)size, 0) != size)
        bench_fail ("send");
}

static void expect (struct rig *self, uint8_t type)
{
    unsigned char bytes[TIED_WIRE_HEADER_MAX];
    struct tied_message message;
    int size = zmq_recv (self->sock, bytes, sizeof bytes, 0);

    if (size <= 0 || tied_wire_decode (bytes, (size_t)size, &message, NULL) != 0)
        bench_fail ("receive");
    if (message.type != type)
        bench_fail (tied_wire_type_name (message.type));
}

static void send_request (struct rig *self)
{
    struct tied_message message;

    bench_request_message (&message, self->body);
    message.u.request.call.sequence = self->sequence++;
    message.u.request.flags = TIED_REQUEST_IDEMPOTENT;
    message.u.request.incarnation = 0;
    message.u.request.sibling = (struct tied_view){NULL, 0};
    message.u.request.sibling_incarnation = 0;
    message.u.request.remaining_us = UINT64_MAX;
    message.u.request.sent_us = ti_clock_now () / 1000;
    send_message (self, &message);
}

static uint64_t ping (struct rig *self)
{
    tied_time_t before = ti_clock_now ();
    struct tied_message message = {.type = TIED_WIRE_PING, .u.ping = {.time_ns = before}};

    send_message (self, &message);
    expect (self, TIED_WIRE_PONG);
    return ti_clock_now () - before;
}

static uint64_t refused (struct rig *self)
{
    tied_time_t before = ti_clock_now ();

    send_request (self);
    expect (self, TIED_WIRE_REJECT);
    return ti_clock_now () - before;
}

static void open_rig (struct rig *self, const char *endpoint)
{
    struct tied_message hello = {
        .type = TIED_WIRE_HELLO,
        .u.hello = {
            .role = TIED_WIRE_ROLE_CLIENT, .id = {"bench", 5}, .incarnation = 1, .time_ns = 1}};
    int none = 0;

    self->sock = zmq_socket (zmq_ctx_new (), ZMQ_DEALER);
    zmq_setsockopt (self->sock, ZMQ_LINGER, &none, sizeof none);
    if (zmq_connect (self->sock, endpoint) != 0)
        bench_fail ("connect");
    send_message (self, &hello);
    expect (self, TIED_WIRE_WELCOME);
    for (int i = 0; i < WORKERS; i++) {
        send_request (self);
        /* The worker has the copy before the next one comes: no queue has to be waited for. */
        (void)ping (self);
    }
    for (int i = 0; i < QUEUE_DEPTH; i++)
        send_request (self);
    (void)ping (self);
}

static void measure (struct rig *self, uint64_t pairs, struct ti_prng *prng)
{
    struct bench_samples pings;
    struct bench_samples rejects;

    bench_samples_init (&pings, pairs);
    bench_samples_init (&rejects, pairs);
    for (uint64_t i = 0; i < pairs; i++) {
        if (ti_prng_below (prng, 2) == 0) {
            bench_samples_add (&pings, ping (self));
            bench_samples_add (&rejects, refused (self));
        } else {
            bench_samples_add (&rejects, refused (self));
            bench_samples_add (&pings, ping (self));
        }
    }
    bench_line_begin ("reject");
    bench_line_number ("pairs", (double)pairs);
    bench_line_number ("ping_p50_us", bench_samples_at (&pings, 0.5) / 1e3);
    bench_line_number ("ping_p99_us", bench_samples_at (&pings, 0.99) / 1e3);
    bench_line_number ("reject_p50_us", bench_samples_at (&rejects, 0.5) / 1e3);
    bench_line_number ("reject_p99_us", bench_samples_at (&rejects, 0.99) / 1e3);
    bench_line_end ();
    bench_samples_free (&pings);
    bench_samples_free (&rejects);
}

int main (int argc, char **argv)
{
    double blocks = 7;
    double pairs = 5000;
    const struct bench_arg args[] = {{"--blocks", &blocks, "independent groups of pairs"},
                                     {"--pairs", &pairs, "pairs per block"},
                                     {NULL, NULL, NULL}};
    struct bench_fleet_setup setup = {.count = 1, .fn = never_ends};
    struct bench_fleet fleet;
    struct rig rig = {0};
    struct ti_prng prng;

    bench_args (argc, argv, args);
    tied_replica_options_init (&setup.options);
    setup.options.service = TIED_SERVICE_POOL;
    setup.options.core.workers = WORKERS;
    setup.options.core.queue_depth = QUEUE_DEPTH;
    setup.options.core.hedge_depth = QUEUE_DEPTH;
    bench_fleet_start (&fleet, &setup);
    open_rig (&rig, fleet.endpoints[0]);
    ti_prng_seed (&prng, ti_random_u64 ());
    for (int i = 0; i < WARM_UP; i++) {
        (void)ping (&rig);
        (void)refused (&rig);
    }
    for (int i = 0; i < (int)blocks; i++)
        measure (&rig, (uint64_t)pairs, &prng);
    bench_fleet_end (&fleet);
    return 0;
}
