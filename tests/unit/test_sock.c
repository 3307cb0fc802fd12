/* SPDX-License-Identifier: MIT */
/* The socket functions against the habits of libzmq that lose, shift or block. */
#include "check.h"

#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "zmq/clock.h"
#include "zmq/sock.h"

#define BOUND_MS CHECK_PATIENCE_MS

struct fixture {
    void *context;
    void *router;
    void *dealer;
    char endpoint[128];
};

static const struct ti_sock_options router_options = {
    .type = ZMQ_ROUTER, .send_hwm = 10, .recv_hwm = 10, .frame_max = 4096};
static const struct ti_sock_options dealer_options = {
    .type = ZMQ_DEALER, .send_hwm = 10, .recv_hwm = 10, .frame_max = 4096};

static void wait_for (void *sock, int wanted)
{
    struct pollfd item = {.fd = ti_sock_fd (sock), .events = POLLIN, .revents = 0};
    tied_time_t until = ti_clock_now () + MS (BOUND_MS);
    while ((ti_sock_events (sock) & wanted) == 0) {
        CHECK_U64 (ti_clock_now (), <, until);
        (void)poll (&item, 1, 100);
    }
}

static int setup (void **state)
{
    struct fixture *self = calloc (1, sizeof *self);
    if (!self)
        return -1;
    *state = self;
    self->context = zmq_ctx_new ();
    self->router = ti_sock_new (self->context, &router_options);
    self->dealer = ti_sock_new (self->context, &dealer_options);
    if (!self->router || !self->dealer ||
        ti_sock_bind (self->router, "tcp://127.0.0.1:*", self->endpoint, sizeof self->endpoint) !=
            0)
        return -1;
    return ti_sock_connect (self->dealer, self->endpoint);
}

static int teardown (void **state)
{
    struct fixture *self = *state;
    ti_sock_close (&self->dealer);
    ti_sock_close (&self->router);
    zmq_ctx_term (self->context);
    free (self);
    return 0;
}

static struct tied_message ping (uint64_t time_ns)
{
    return (struct tied_message){.type = TIED_WIRE_PING, .u.ping.time_ns = time_ns};
}

static struct tied_message request (const void *body, size_t size)
{
    return (struct tied_message){
        .type = TIED_WIRE_REQUEST,
        .u.request = {
            .call = {7, 8}, .method = {"m", 1}, .remaining_us = UINT64_MAX, .body = {body, size}}};
}

static void receive (void *sock, bool is_router, struct ti_envelope *out)
{
    wait_for (sock, ZMQ_POLLIN);
    CHECK_I64 (ti_sock_recv (sock, is_router, out), ==, TI_RECV_MESSAGE);
}

static uint64_t decode_ping (struct ti_envelope *envelope)
{
    struct tied_message message;
    CHECK_I64 (tied_wire_decode (zmq_msg_data (&envelope->header), zmq_msg_size (&envelope->header),
                                 &message, NULL),
               ==, 0);
    CHECK_U64 (message.type, ==, TIED_WIRE_PING);
    return message.u.ping.time_ns;
}

static void say_hello (struct fixture *self, struct ti_envelope *out)
{
    struct tied_message hello = ping (1);
    wait_for (self->dealer, ZMQ_POLLOUT);
    CHECK_I64 (ti_sock_send (self->dealer, NULL, 0, &hello, 1024), ==, 0);
    receive (self->router, true, out);
    CHECK_U64 (decode_ping (out), ==, 1);
}

static void message_goes_there_and_back (void **state)
{
    struct fixture *self = *state;
    struct ti_envelope in;
    struct ti_envelope back;
    struct tied_message pong = ping (2);
    say_hello (self, &in);
    CHECK_FALSE (in.has_body);
    CHECK_I64 (ti_sock_send (self->router, zmq_msg_data (&in.route), zmq_msg_size (&in.route),
                             &pong, 1024),
               ==, 0);
    receive (self->dealer, false, &back);
    CHECK_U64 (decode_ping (&back), ==, 2);
    ti_envelope_close (&back);
    ti_envelope_close (&in);
}

static void body_is_inline_up_to_the_limit_and_a_frame_above_it (void **state)
{
    struct fixture *self = *state;
    unsigned char body[3000];
    static const size_t sizes[] = {0, 1, 1024, 1025, 3000};
    static const uint32_t limits[] = {0, 1024, 65536};
    memset (body, 'b', sizeof body);
    wait_for (self->dealer, ZMQ_POLLOUT);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            struct tied_message out = request (body, sizes[i]);
            struct tied_message in;
            struct ti_envelope envelope;
            bool follows = sizes[i] > limits[k];
            CHECK_I64 (ti_sock_send (self->dealer, NULL, 0, &out, limits[k]), ==, 0);
            receive (self->router, true, &envelope);
            CHECK_I64 (envelope.has_body, ==, follows);
            CHECK_I64 (tied_wire_decode (zmq_msg_data (&envelope.header),
                                         zmq_msg_size (&envelope.header), &in, NULL),
                       ==, 0);
            CHECK_I64 (in.u.request.body_follows, ==, follows);
            if (follows) {
                CHECK_U64 (zmq_msg_size (&envelope.body), ==, sizes[i]);
                CHECK_MEM (zmq_msg_data (&envelope.body), body, sizes[i]);
            } else {
                CHECK_U64 (in.u.request.body.size, ==, sizes[i]);
                CHECK_MEM (in.u.request.body.data, body, sizes[i]);
            }
            ti_envelope_close (&envelope);
        }
    }
}

static void ZQ_01_full_pipe_and_unknown_route_are_reported_and_nothing_is_lost (void **state)
{
    struct fixture *self = *state;
    unsigned char body[3000] = {0};
    struct ti_envelope in;
    struct ti_envelope out;
    uint64_t sent = 0;
    uint64_t received = 0;
    int rc = 0;
    say_hello (self, &in);
    while (rc == 0) {
        struct tied_message message = request (body, sizeof body);
        rc = ti_sock_send (self->router, zmq_msg_data (&in.route), zmq_msg_size (&in.route),
                           &message, 1024);
        sent += rc == 0;
        CHECK_U64 (sent, <, 1000000);
    }
    CHECK_I64 (rc, ==, TIED_ERR_FULL);
    struct tied_message message = request (body, sizeof body);
    CHECK_I64 (ti_sock_send (self->router, "nobody", 6, &message, 1024), ==, TIED_ERR_ABSENT);
    while (received < sent) {
        receive (self->dealer, false, &out);
        CHECK_TRUE (out.has_body);
        ti_envelope_close (&out);
        received++;
    }
    CHECK_I64 (ti_sock_recv (self->dealer, false, &out), ==, TI_RECV_NONE);
    ti_envelope_close (&in);
}

static void ZQ_03_failed_route_does_not_shift_the_next_message (void **state)
{
    struct fixture *self = *state;
    unsigned char body[2000] = {0};
    struct ti_envelope in;
    struct ti_envelope out;
    struct tied_message lost = request (body, sizeof body);
    struct tied_message kept = ping (77);
    say_hello (self, &in);
    CHECK_I64 (ti_sock_send (self->router, "gone", 4, &lost, 1024), ==, TIED_ERR_ABSENT);
    CHECK_I64 (ti_sock_send (self->router, zmq_msg_data (&in.route), zmq_msg_size (&in.route),
                             &kept, 1024),
               ==, 0);
    receive (self->dealer, false, &out);
    CHECK_U64 (decode_ping (&out), ==, 77);
    ti_envelope_close (&out);
    ti_envelope_close (&in);
}

static void ZQ_10_nothing_is_queued_for_a_replica_that_is_down (void **state)
{
    struct fixture *self = *state;
    void *lonely = ti_sock_new (self->context, &dealer_options);
    struct tied_message message = ping (1);
    /* Port 1 of the loopback has no listener. */
    CHECK_I64 (ti_sock_connect (lonely, "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (ti_sock_send (lonely, NULL, 0, &message, 0), ==, TIED_ERR_ABSENT);
    ti_sock_close (&lonely);
}

static void ZQ_13_message_of_many_frames_is_drained_and_the_next_one_is_whole (void **state)
{
    struct fixture *self = *state;
    static const int counts[] = {3, 4, 65, 1000};
    struct ti_envelope in;
    wait_for (self->dealer, ZMQ_POLLOUT);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int k = 0; k < counts[i]; k++)
            CHECK_I64 (zmq_send (self->dealer, "x", 1, k + 1 < counts[i] ? ZMQ_SNDMORE : 0), ==, 1);
        wait_for (self->router, ZMQ_POLLIN);
        CHECK_I64 (ti_sock_recv (self->router, true, &in), ==, TI_RECV_MULTIPART);
        say_hello (self, &in);
        ti_envelope_close (&in);
    }
}

static void empty_frames_are_messages (void **state)
{
    struct fixture *self = *state;
    struct ti_envelope in;
    wait_for (self->dealer, ZMQ_POLLOUT);
    CHECK_I64 (zmq_send (self->dealer, "", 0, ZMQ_SNDMORE), ==, 0);
    CHECK_I64 (zmq_send (self->dealer, "", 0, 0), ==, 0);
    receive (self->router, true, &in);
    CHECK_U64 (zmq_msg_size (&in.header), ==, 0);
    CHECK_TRUE (in.has_body);
    ti_envelope_close (&in);
}

static void receive_without_a_message_says_none (void **state)
{
    struct fixture *self = *state;
    struct ti_envelope in;
    CHECK_I64 (ti_sock_recv (self->router, true, &in), ==, TI_RECV_NONE);
    CHECK_I64 (ti_sock_recv (self->dealer, false, &in), ==, TI_RECV_NONE);
}

static int bind_again (struct fixture *self, const char *endpoint)
{
    char real[128];
    void *other = ti_sock_new (self->context, &router_options);
    int rc = ti_sock_bind (other, endpoint, real, sizeof real);
    ti_sock_close (&other);
    return rc;
}

static void bind_errors_are_told_apart (void **state)
{
    struct fixture *self = *state;
    CHECK_I64 (bind_again (self, self->endpoint), ==, TIED_ERR_IN_USE);
    CHECK_I64 (bind_again (self, "nonsense"), ==, TIED_ERR_ENDPOINT);
    CHECK_I64 (bind_again (self, "warp://127.0.0.1:*"), ==, TIED_ERR_ENDPOINT);
    CHECK_I64 (bind_again (self, "tcp://203.0.113.1:5555"), ==, TIED_ERR_ENDPOINT);
    CHECK_I64 (ti_sock_connect (self->dealer, "nonsense"), ==, TIED_ERR_ENDPOINT);
}

/* Names and IPv6 literals work side by side, whatever the host has; a host without IPv6 refuses. */
static void ZQ_30_localhost_means_ipv4_and_brackets_mean_ipv6 (void **state)
{
    struct fixture *self = *state;
    char endpoint[160];
    struct addrinfo *found = NULL;
    /* A container made by debootstrap has no /etc/hosts. */
    if (getaddrinfo ("localhost", NULL, NULL, &found) == 0) {
        void *dealer = ti_sock_new (self->context, &dealer_options);
        freeaddrinfo (found);
        (void)snprintf (endpoint, sizeof endpoint, "tcp://localhost:%s",
                        strrchr (self->endpoint, ':') + 1);
        CHECK_I64 (ti_sock_connect (dealer, endpoint), ==, 0);
        wait_for (dealer, ZMQ_POLLOUT);
        ti_sock_close (&dealer);
    }
    int rc = bind_again (self, "tcp://[::1]:*");
    CHECK_TRUE (rc == 0 || rc == TIED_ERR_ENDPOINT);
}

static void ZQ_11_options_read_back (void **state)
{
    struct fixture *self = *state;
    int value = -1;
    int64_t wide = -1;
    size_t size = sizeof value;
    CHECK_I64 (zmq_getsockopt (self->router, ZMQ_LINGER, &value, &size), ==, 0);
    CHECK_I64 (value, >, 0);
    CHECK_I64 (value, <=, 1000);
    CHECK_I64 (zmq_getsockopt (self->router, ZMQ_SNDHWM, &value, &size), ==, 0);
    CHECK_I64 (value, ==, 10);
    CHECK_I64 (zmq_getsockopt (self->dealer, ZMQ_IMMEDIATE, &value, &size), ==, 0);
    CHECK_I64 (value, ==, 1);
    size = sizeof wide;
    CHECK_I64 (zmq_getsockopt (self->router, ZMQ_MAXMSGSIZE, &wide, &size), ==, 0);
    CHECK_I64 (wide, ==, 4096);
}

/* Whoever reads slowly and has them set is aborted by libzmq. */
static void ZQ_04_heartbeats_of_libzmq_are_off_on_every_socket (void **state)
{
    struct fixture *self = *state;
    int value = -1;
    size_t size = sizeof value;
    CHECK_I64 (zmq_getsockopt (self->dealer, ZMQ_HEARTBEAT_IVL, &value, &size), ==, 0);
    CHECK_I64 (value, ==, 0);
    CHECK_I64 (zmq_getsockopt (self->router, ZMQ_HEARTBEAT_IVL, &value, &size), ==, 0);
    CHECK_I64 (value, ==, 0);
}

static void ZQ_31_reconnects_have_a_pace_and_a_longest_pause (void **state)
{
    struct fixture *self = *state;
    int value = -1;
    size_t size = sizeof value;
    CHECK_I64 (zmq_getsockopt (self->dealer, ZMQ_RECONNECT_IVL, &value, &size), ==, 0);
    CHECK_I64 (value, >=, 10);
    CHECK_I64 (zmq_getsockopt (self->dealer, ZMQ_RECONNECT_IVL_MAX, &value, &size), ==, 0);
    CHECK_I64 (value, >, 0);
    CHECK_I64 (value, <=, 2000);
}

static void message_that_cannot_be_encoded_is_refused_before_anything_is_sent (void **state)
{
    struct fixture *self = *state;
    struct ti_envelope in;
    struct tied_message bad = request ("", 0);
    bad.u.request.method.size = 0;
    say_hello (self, &in);
    CHECK_I64 (
        ti_sock_send (self->router, zmq_msg_data (&in.route), zmq_msg_size (&in.route), &bad, 1024),
        ==, TIED_ERR_INVAL);
    ti_envelope_close (&in);
    say_hello (self, &in);
    ti_envelope_close (&in);
}

/* A place for socket files, and the endpoint of one in it. */
struct place {
    char directory[32];
    char path[64];
    char endpoint[128];
};

static void open_place (struct place *self)
{
    (void)snprintf (self->directory, sizeof self->directory, "tied-test-XXXXXX");
    CHECK_TRUE (mkdtemp (self->directory) != NULL);
    (void)snprintf (self->path, sizeof self->path, "%s/socket", self->directory);
    (void)snprintf (self->endpoint, sizeof self->endpoint, "ipc://%s", self->path);
}

static void close_place (struct place *self)
{
    (void)unlink (self->path);
    CHECK_I64 (rmdir (self->directory), ==, 0);
}

/* libzmq would remove the socket file of the first one, which nobody could reach any more. */
static void ipc_endpoint_on_which_somebody_listens_is_in_use_and_stays_theirs (void **state)
{
    struct fixture *self = *state;
    struct place place;
    char endpoint[128];
    struct ti_envelope in;
    void *second = ti_sock_new (self->context, &router_options);
    open_place (&place);
    CHECK_I64 (ti_sock_bind (self->router, place.endpoint, endpoint, sizeof endpoint), ==, 0);
    for (int i = 0; i < 3; i++)
        CHECK_I64 (ti_sock_bind (second, place.endpoint, endpoint, sizeof endpoint), ==,
                   TIED_ERR_IN_USE);
    ti_sock_close (&self->dealer);
    self->dealer = ti_sock_new (self->context, &dealer_options);
    CHECK_I64 (ti_sock_connect (self->dealer, place.endpoint), ==, 0);
    say_hello (self, &in);
    ti_envelope_close (&in);
    ti_sock_close (&second);
    CHECK_I64 (zmq_unbind (self->router, place.endpoint), ==, 0);
    close_place (&place);
}

static void ZQ_29_socket_file_that_nobody_listens_on_is_replaced (void **state)
{
    struct fixture *self = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct place place;
    char endpoint[128];
    int left = socket (AF_UNIX, SOCK_STREAM, 0);
    open_place (&place);
    memcpy (address.sun_path, place.path, strlen (place.path));
    CHECK_I64 (bind (left, (const struct sockaddr *)&address, sizeof address), ==, 0);
    CHECK_I64 (listen (left, 1), ==, 0);
    CHECK_I64 (close (left), ==, 0);
    CHECK_I64 (ti_sock_bind (self->router, place.endpoint, endpoint, sizeof endpoint), ==, 0);
    CHECK_I64 (zmq_unbind (self->router, place.endpoint), ==, 0);
    close_place (&place);
}

static void ipc_names_without_a_file_of_their_own_are_left_to_libzmq (void **state)
{
    struct fixture *self = *state;
    void *second = ti_sock_new (self->context, &router_options);
    char name[64];
    char endpoint[128];
    (void)snprintf (name, sizeof name, "ipc://@tied-test-%ld", (long)getpid ());
    CHECK_I64 (ti_sock_bind (self->router, name, endpoint, sizeof endpoint), ==, 0);
    CHECK_I64 (ti_sock_bind (second, name, endpoint, sizeof endpoint), ==, TIED_ERR_IN_USE);
    CHECK_I64 (ti_sock_bind (self->router, "ipc://*", endpoint, sizeof endpoint), ==, 0);
    CHECK_I64 (ti_sock_bind (second, "ipc://*", endpoint, sizeof endpoint), ==, 0);
    ti_sock_close (&second);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (message_goes_there_and_back),
        TEST (body_is_inline_up_to_the_limit_and_a_frame_above_it),
        TEST (ZQ_01_full_pipe_and_unknown_route_are_reported_and_nothing_is_lost),
        TEST (ZQ_03_failed_route_does_not_shift_the_next_message),
        TEST (ZQ_10_nothing_is_queued_for_a_replica_that_is_down),
        TEST (ZQ_13_message_of_many_frames_is_drained_and_the_next_one_is_whole),
        TEST (empty_frames_are_messages),
        TEST (receive_without_a_message_says_none),
        TEST (bind_errors_are_told_apart),
        TEST (ipc_endpoint_on_which_somebody_listens_is_in_use_and_stays_theirs),
        TEST (ZQ_29_socket_file_that_nobody_listens_on_is_replaced),
        TEST (ipc_names_without_a_file_of_their_own_are_left_to_libzmq),
        TEST (ZQ_30_localhost_means_ipv4_and_brackets_mean_ipv6),
        TEST (ZQ_11_options_read_back),
        TEST (ZQ_04_heartbeats_of_libzmq_are_off_on_every_socket),
        TEST (ZQ_31_reconnects_have_a_pace_and_a_longest_pause),
        TEST (message_that_cannot_be_encoded_is_refused_before_anything_is_sent),
    };
    return cmocka_run_group_tests_name ("sock", tests, NULL, NULL);
}
