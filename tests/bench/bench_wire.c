/* SPDX-License-Identifier: MIT */
/* Encoding and decoding of one REQUEST header with its body: as a client sends it, and with every
   optional field filled. */
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "fleet.h"
#include "measure.h"
#include "zmq/clock.h"

#define ROUND 1000 /* messages between two looks at the clock */

/* The optimizer must neither see through the bytes nor drop the result. */
static void opaque (void *memory)
{
    __asm__ volatile("" : : "g"(memory) : "memory");
}

static void report (const char *name, struct bench_samples *rounds, uint64_t allocations, int size)
{
    bench_line_begin (name);
    bench_line_number ("ns", bench_samples_at (rounds, 0.5) / 1000);
    bench_line_number ("p10_ns", bench_samples_at (rounds, 0.1) / 1000);
    bench_line_number ("p90_ns", bench_samples_at (rounds, 0.9) / 1000);
    bench_line_number ("rounds", (double)rounds->count);
    bench_line_number ("bytes", size);
    bench_line_number ("allocations", (double)allocations);
    bench_line_end ();
    rounds->count = 0;
}

static void
measure (const char *encode, const char *decode, struct tied_message *in, uint64_t count)
{
    unsigned char bytes[TIED_WIRE_HEADER_MAX + BENCH_BODY_SIZE];
    struct bench_samples rounds;
    struct tied_message out;
    uint64_t allocations;
    int size = 0;

    bench_samples_init (&rounds, count / ROUND);
    allocations = bench_allocations ();
    for (uint64_t round = 0; round < count / ROUND; round++) {
        tied_time_t before = ti_clock_now ();
        for (uint64_t i = 0; i < ROUND; i++) {
            in->u.request.call.sequence = i;
            opaque (in);
            size = tied_wire_encode (in, bytes, sizeof bytes);
            opaque (bytes);
        }
        bench_samples_add (&rounds, (ti_clock_now () - before) * 1000 / ROUND);
    }
    if (size <= 0)
        bench_fail ("encode");
    report (encode, &rounds, bench_allocations () - allocations, size);
    allocations = bench_allocations ();
    for (uint64_t round = 0; round < count / ROUND; round++) {
        tied_time_t before = ti_clock_now ();
        for (int i = 0; i < ROUND; i++) {
            opaque (bytes);
            if (tied_wire_decode (bytes, (size_t)size, &out, NULL) != 0)
                bench_fail ("decode");
            opaque (&out);
        }
        bench_samples_add (&rounds, (ti_clock_now () - before) * 1000 / ROUND);
    }
    report (decode, &rounds, bench_allocations () - allocations, size);
    bench_samples_free (&rounds);
}

int main (int argc, char **argv)
{
    static const char traceparent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static const char key[] = "order-20260704-0001";
    static unsigned char body[BENCH_BODY_SIZE];
    struct tied_message message;
    double count = 3000000;
    const struct bench_arg args[] = {{"--count", &count, "messages"}, {NULL, NULL, NULL}};

    bench_args (argc, argv, args);
    bench_request_message (&message, body);
    measure ("wire_encode", "wire_decode", &message, (uint64_t)count);
    message.u.request.traceparent = (struct tied_view){traceparent, sizeof traceparent - 1};
    message.u.request.key = (struct tied_view){key, sizeof key - 1};
    measure ("wire_encode_full", "wire_decode_full", &message, (uint64_t)count);
    return 0;
}
