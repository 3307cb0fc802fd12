/* SPDX-License-Identifier: MIT */
/*
 * The yardstick: a DEALER-ROUTER echo over plain libzmq, client and server in separate processes.
 * One frame of as many bytes as a tied REQUEST with its body, or a 64-byte header and a 64-byte
 * body frame. The server sends back the frames it got, without copying them.
 */
#include <string.h>

#include <zmq.h>

#include "fleet.h"
#include "measure.h"
#include "zmq/clock.h"

#define FRAME_OF_TWO 64

static void serve (int channel, void *arg)
{
    char endpoint[BENCH_ENDPOINT_MAX] = {0};
    size_t size = sizeof endpoint;
    void *sock = zmq_socket (zmq_ctx_new (), ZMQ_ROUTER);
    int unbounded = 0;

    (void)arg;
    zmq_setsockopt (sock, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt (sock, ZMQ_RCVHWM, &unbounded, sizeof unbounded);
    if (zmq_bind (sock, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt (sock, ZMQ_LAST_ENDPOINT, endpoint, &size) != 0)
        bench_fail ("bind");
    bench_channel_send (channel, endpoint, sizeof endpoint);
    for (;;) {
        zmq_msg_t frame;
        zmq_msg_init (&frame);
        if (zmq_msg_recv (&frame, sock, 0) < 0)
            bench_fail ("receive");
        if (zmq_msg_send (&frame, sock, zmq_msg_more (&frame) ? ZMQ_SNDMORE : 0) < 0)
            bench_fail ("send");
    }
}

static void send_one (void *sock, const unsigned char *bytes, size_t size, int frames)
{
    for (int i = 0; i < frames; i++) {
        zmq_msg_t frame;
        zmq_msg_init_size (&frame, size);
        memcpy (zmq_msg_data (&frame), bytes, size);
        if (zmq_msg_send (&frame, sock, i + 1 < frames ? ZMQ_SNDMORE : 0) < 0)
            bench_fail ("send");
    }
}

static void recv_one (void *sock)
{
    int more;

    do {
        zmq_msg_t frame;
        zmq_msg_init (&frame);
        if (zmq_msg_recv (&frame, sock, 0) < 0)
            bench_fail ("receive");
        more = zmq_msg_more (&frame);
        zmq_msg_close (&frame);
    } while (more);
}

int main (int argc, char **argv)
{
    double frames = 1;
    double outstanding = 64;
    double seconds = 0.7;
    const struct bench_arg args[] = {{"--frames", &frames, "1 or 2"},
                                     {"--outstanding", &outstanding, "requests in flight"},
                                     {"--seconds", &seconds, "measured time"},
                                     {NULL, NULL, NULL}};
    unsigned char bytes[TIED_WIRE_HEADER_MAX + BENCH_BODY_SIZE] = {0};
    char endpoint[BENCH_ENDPOINT_MAX];
    struct tied_message message;
    struct bench_samples latency;
    size_t size = FRAME_OF_TWO;
    uint64_t calls = 0;
    uint64_t all = 0;
    int unbounded = 0;

    bench_args (argc, argv, args);
    if (frames < 2) {
        bench_request_message (&message, bytes);
        size = (size_t)tied_wire_encode (&message, bytes, sizeof bytes);
    }
    struct bench_child server = bench_fork (serve, NULL);
    bench_channel_recv (server.channel, endpoint, sizeof endpoint);
    bench_samples_init (&latency, BENCH_SAMPLES_MAX);

    void *context = zmq_ctx_new ();
    void *sock = zmq_socket (context, ZMQ_DEALER);
    zmq_setsockopt (sock, ZMQ_SNDHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt (sock, ZMQ_RCVHWM, &unbounded, sizeof unbounded);
    zmq_setsockopt (sock, ZMQ_LINGER, &unbounded, sizeof unbounded);
    if (zmq_connect (sock, endpoint) != 0)
        bench_fail ("connect");
    for (int i = 1; i < (int)outstanding; i++)
        send_one (sock, bytes, size, (int)frames);

    tied_time_t start = ti_clock_now () + BENCH_WARM_UP;
    tied_time_t end = start + (tied_duration_t)(seconds * 1e9);
    tied_time_t now;
    do {
        tied_time_t sent = ti_clock_now ();
        send_one (sock, bytes, size, (int)frames);
        recv_one (sock);
        now = ti_clock_now ();
        all++;
        if (sent < start)
            continue;
        calls++;
        if (outstanding < 2)
            bench_samples_add (&latency, now - sent);
    } while (now < end);

    double cpu = bench_cpu_self ();
    zmq_close (sock);
    zmq_ctx_term (context);
    bench_child_end (&server);
    bench_line_begin ("raw");
    bench_line_number ("frames", frames);
    bench_line_number ("frame_bytes", (double)size);
    bench_line_number ("outstanding", outstanding);
    bench_line_number ("calls", (double)calls);
    bench_line_number ("calls_s", (double)calls * 1e9 / (double)(now - start));
    bench_line_number ("p50_us", bench_samples_at (&latency, 0.5) / 1e3);
    bench_line_number ("p99_us", bench_samples_at (&latency, 0.99) / 1e3);
    bench_line_number ("client_cpu_us", cpu / (double)all);
    bench_line_number ("server_cpu_us", bench_cpu_children () / (double)all);
    bench_line_end ();
    return 0;
}
