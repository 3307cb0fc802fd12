/* SPDX-License-Identifier: MIT */
/* A link knows when its connection goes and comes, also when nobody looked in between. */
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <sys/time.h>

#include "proxy.h"
#include "zmq/clock.h"
#include "zmq/link.h"

#define BOUND CHECK_PATIENCE

struct fixture {
    void *context;
    void *router;
    struct ti_link link;
    char endpoint[128];
};

static const struct ti_sock_options options = {
    .type = ZMQ_ROUTER, .send_hwm = 100, .recv_hwm = 100, .frame_max = 4096};

static void bind_router (struct fixture *self, const char *endpoint)
{
    tied_time_t until = ti_clock_now () + BOUND;
    int rc;
    self->router = ti_sock_new (self->context, &options);
    CHECK_PTR (self->router, !=, NULL);
    /* The port is free again as soon as the I/O thread has closed the old listener. */
    do
        rc = ti_sock_bind (self->router, endpoint, self->endpoint, sizeof self->endpoint);
    while (rc == TIED_ERR_IN_USE && ti_clock_now () < until);
    CHECK_I64 (rc, ==, 0);
}

static int setup (void **state)
{
    struct fixture *self = calloc (1, sizeof *self);
    if (!self)
        return -1;
    *state = self;
    self->context = zmq_ctx_new ();
    /* One that stays ours while nobody listens there. */
    proxy_free_endpoint (self->endpoint);
    bind_router (self, self->endpoint);
    return ti_link_open (&self->link, self->context, self->endpoint, &options);
}

static int teardown (void **state)
{
    struct fixture *self = *state;
    ti_link_close (&self->link);
    ti_link_close (&self->link);
    ti_sock_close (&self->router);
    zmq_ctx_term (self->context);
    free (self);
    return 0;
}

/* Bits that have come until one of the wanted is among them. */
static unsigned wait_bits (struct fixture *self, unsigned wanted)
{
    struct pollfd item = {.fd = self->link.fd, .events = POLLIN, .revents = 0};
    tied_time_t until = ti_clock_now () + BOUND;
    unsigned bits = 0;
    while ((bits & wanted) == 0) {
        CHECK_U64 (ti_clock_now (), <, until);
        bits |= ti_link_update (&self->link, ti_clock_now ());
        if ((bits & wanted) == 0)
            (void)poll (&item, 1, 50);
    }
    return bits;
}

static int send_ping (struct fixture *self, uint64_t time_ns)
{
    struct tied_message message = {.type = TIED_WIRE_PING, .u.ping.time_ns = time_ns};
    return ti_link_send (&self->link, &message, 0);
}

static uint64_t receive_ping (struct fixture *self)
{
    zmq_pollitem_t item = {self->router, 0, ZMQ_POLLIN, 0};
    struct ti_envelope in;
    struct tied_message message;
    CHECK_I64 (zmq_poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
    CHECK_I64 (ti_sock_recv (self->router, true, &in), ==, TI_RECV_MESSAGE);
    CHECK_I64 (
        tied_wire_decode (zmq_msg_data (&in.header), zmq_msg_size (&in.header), &message, NULL), ==,
        0);
    ti_envelope_close (&in);
    return message.u.ping.time_ns;
}

static void link_starts_down_and_reports_up_once (void **state)
{
    struct fixture *self = *state;
    CHECK_FALSE (self->link.is_up);
    CHECK_U64 (wait_bits (self, TI_LINK_UP), ==, TI_LINK_UP);
    CHECK_TRUE (self->link.is_up);
    CHECK_U64 (ti_link_update (&self->link, ti_clock_now ()), ==, 0);
    CHECK_I64 (send_ping (self, 5), ==, 0);
    CHECK_U64 (receive_ping (self), ==, 5);
}

static void lost_connection_is_a_down_edge_and_sends_are_refused (void **state)
{
    struct fixture *self = *state;
    wait_bits (self, TI_LINK_UP);
    ti_sock_close (&self->router);
    CHECK_U64 (wait_bits (self, TI_LINK_DOWN), ==, TI_LINK_DOWN);
    CHECK_FALSE (self->link.is_up);
    CHECK_I64 (send_ping (self, 1), ==, TIED_ERR_ABSENT);
}

static void ZQ_08_link_comes_back_after_each_restart_of_the_other_side (void **state)
{
    struct fixture *self = *state;
    wait_bits (self, TI_LINK_UP);
    for (uint64_t i = 0; i < 10; i++) {
        ti_sock_close (&self->router);
        wait_bits (self, TI_LINK_DOWN);
        bind_router (self, self->endpoint);
        wait_bits (self, TI_LINK_UP);
        CHECK_I64 (send_ping (self, i), ==, 0);
        CHECK_U64 (receive_ping (self), ==, i);
    }
}

/* The link is writable when it is looked at, and writable again at the next look: only the
   monitor knows that there was another connection in between. */
static void reconnect_that_nobody_watched_is_reported_as_down_and_up (void **state)
{
    struct fixture *self = *state;
    wait_bits (self, TI_LINK_UP);
    ti_sock_close (&self->router);
    bind_router (self, self->endpoint);
    zmq_pollitem_t item = {self->router, 0, ZMQ_POLLIN, 0};
    tied_time_t until = ti_clock_now () + BOUND;
    do {
        CHECK_U64 (ti_clock_now (), <, until);
        (void)send_ping (self, 9);
    } while (zmq_poll (&item, 1, 5) == 0);
    CHECK_U64 (ti_link_update (&self->link, ti_clock_now ()) & (TI_LINK_DOWN | TI_LINK_UP), ==,
               TI_LINK_DOWN | TI_LINK_UP);
    CHECK_U64 (ti_link_update (&self->link, ti_clock_now ()), ==, 0);
}

/* Somebody who looks every millisecond, but was held up between reading the clock and looking. */
static void reconnect_is_reported_although_the_looks_seem_close_together (void **state)
{
    struct fixture *self = *state;
    wait_bits (self, TI_LINK_UP);
    tied_time_t now = ti_clock_now ();
    ti_link_update (&self->link, now);
    ti_sock_close (&self->router);
    bind_router (self, self->endpoint);
    zmq_pollitem_t item = {self->router, 0, ZMQ_POLLIN, 0};
    tied_time_t until = ti_clock_now () + BOUND;
    do {
        CHECK_U64 (ti_clock_now (), <, until);
        (void)send_ping (self, 9);
    } while (zmq_poll (&item, 1, 5) == 0);
    unsigned bits = 0;
    for (int looks = 0; looks < 100 && bits == 0; looks++) {
        now += MS (1);
        bits = ti_link_update (&self->link, now);
    }
    CHECK_U64 (bits, ==, TI_LINK_DOWN | TI_LINK_UP);
}

static void ZQ_28_message_is_not_missed_after_a_send_used_the_edge (void **state)
{
    struct fixture *self = *state;
    wait_bits (self, TI_LINK_UP);
    for (uint64_t i = 0; i < check_scale (2000); i++) {
        struct ti_envelope in;
        struct ti_envelope out;
        zmq_pollitem_t item = {self->router, 0, ZMQ_POLLIN, 0};
        struct tied_message answer = {.type = TIED_WIRE_PONG, .u.ping.time_ns = i};
        CHECK_I64 (send_ping (self, i), ==, 0);
        CHECK_I64 (zmq_poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
        CHECK_I64 (ti_sock_recv (self->router, true, &in), ==, TI_RECV_MESSAGE);
        CHECK_I64 (ti_sock_send (self->router, zmq_msg_data (&in.route), zmq_msg_size (&in.route),
                                 &answer, 0),
                   ==, 0);
        ti_envelope_close (&in);
        CHECK_I64 (send_ping (self, i), ==, 0);
        wait_bits (self, TI_LINK_READABLE);
        CHECK_I64 (ti_link_recv (&self->link, &out), ==, TI_RECV_MESSAGE);
        ti_envelope_close (&out);
        receive_ping (self);
    }
}

static void ZQ_24_close_with_an_unreachable_peer_ends_soon (void **state)
{
    struct fixture *self = *state;
    void *context = zmq_ctx_new ();
    struct ti_link links[20];
    (void)self;
    for (size_t i = 0; i < 20; i++)
        CHECK_I64 (ti_link_open (&links[i], context, "tcp://127.0.0.1:1", &options), ==, 0);
    tied_time_t before = ti_clock_now ();
    for (size_t i = 0; i < 20; i++)
        ti_link_close (&links[i]);
    zmq_ctx_term (context);
    CHECK_U64 (ti_clock_now () - before, <, CHECK_SOON);
}

static void invalid_endpoint_leaves_nothing_open (void **state)
{
    struct fixture *self = *state;
    struct ti_link link;
    CHECK_I64 (ti_link_open (&link, self->context, "warp://x", &options), ==, TIED_ERR_ENDPOINT);
    CHECK_PTR (link.sock, ==, NULL);
    CHECK_PTR (link.monitor, ==, NULL);
    ti_link_close (&link);
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

static void on_signal (int number)
{
    (void)number;
}

/* libzmq looks after its own at the beginning of nearly every function, which a signal interrupts.
   Nothing has happened then: the function only has to be called again. */
static void ZQ_21_signals_fail_no_open_no_bind_and_no_send (void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, before; /* no SA_RESTART */
    struct itimerval often = {{0, 50}, {0, 50}}, off = {{0, 0}, {0, 0}};
    const uint64_t rounds = check_scale (300);
    struct fixture *self = *state;
    uint64_t failed = 0, unsent = 0;
    sigset_t signals;

    (void)sigemptyset (&signals);
    (void)sigaddset (&signals, SIGALRM);
    (void)wait_bits (self, TI_LINK_UP);
    CHECK_I64 (sigaction (SIGALRM, &action, &before), ==, 0);
    CHECK_I64 (setitimer (ITIMER_REAL, &often, NULL), ==, 0);
    for (uint64_t i = 0; i < rounds; i++) {
        struct ti_link link;
        char endpoint[128];
        void *router = ti_sock_new (self->context, &options);

        failed += ti_link_open (&link, self->context, self->endpoint, &options) != 0;
        failed +=
            !router || ti_sock_bind (router, "tcp://127.0.0.1:*", endpoint, sizeof endpoint) != 0;
        ti_link_close (&link);
        ti_sock_close (&router);
        for (uint64_t n = 0; n < 20; n++)
            unsent += send_ping (self, n) != 0;
        CHECK_I64 (pthread_sigmask (SIG_BLOCK, &signals, NULL), ==, 0);
        for (uint64_t n = 0; unsent == 0 && n < 20; n++)
            CHECK_U64 (receive_ping (self), ==, n);
        CHECK_I64 (pthread_sigmask (SIG_UNBLOCK, &signals, NULL), ==, 0);
    }
    CHECK_I64 (setitimer (ITIMER_REAL, &off, NULL), ==, 0);
    CHECK_I64 (sigaction (SIGALRM, &before, NULL), ==, 0);
    CHECK_U64 (failed, ==, 0);
    CHECK_U64 (unsent, ==, 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        TEST (link_starts_down_and_reports_up_once),
        TEST (lost_connection_is_a_down_edge_and_sends_are_refused),
        TEST (ZQ_08_link_comes_back_after_each_restart_of_the_other_side),
        TEST (reconnect_that_nobody_watched_is_reported_as_down_and_up),
        TEST (reconnect_is_reported_although_the_looks_seem_close_together),
        TEST (ZQ_28_message_is_not_missed_after_a_send_used_the_edge),
        TEST (ZQ_24_close_with_an_unreachable_peer_ends_soon),
        TEST (invalid_endpoint_leaves_nothing_open),
        TEST (ZQ_21_signals_fail_no_open_no_bind_and_no_send),
    };
    return cmocka_run_group_tests_name ("link", tests, NULL, NULL);
}
