/* SPDX-License-Identifier: MIT */
/* The loop: waits end by descriptor, by kick and by time, and the host's fd says the same. */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "zmq/clock.h"
#include "zmq/loop.h"

#define BOUND CHECK_PATIENCE

static int setup (void **state)
{
    *state = ti_loop_new ();
    return *state ? 0 : -1;
}

static int teardown (void **state)
{
    ti_loop_t *loop = *state;
    ti_loop_destroy (&loop);
    return loop ? -1 : 0;
}

static tied_time_t bound (void)
{
    return ti_clock_now () + BOUND;
}

static bool is_readable (int fd)
{
    struct pollfd item = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll (&item, 1, 0) == 1;
}

static void wait_in_the_past_returns_at_once_without_tags (void **state)
{
    uint32_t tags[4];
    CHECK_I64 (ti_loop_wait (*state, 0, tags, 4), ==, 0);
    CHECK_I64 (ti_loop_wait (*state, ti_clock_now () - 1, tags, 4), ==, 0);
}

static void wait_ends_at_its_time_and_not_before (void **state)
{
    uint32_t tags[4];
    for (int i = 0; i < 20; i++) {
        tied_time_t until = ti_clock_now () + US (300);
        CHECK_I64 (ti_loop_wait (*state, until, tags, 4), ==, 0);
        CHECK_U64 (ti_clock_now (), >=, until);
    }
}

static void readable_fd_gives_its_tag_until_it_is_read (void **state)
{
    uint32_t tags[4] = {0};
    uint64_t value;
    int fd = eventfd (3, EFD_NONBLOCK);
    CHECK_I64 (ti_loop_add (*state, fd, UINT32_MAX), ==, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_I64 (ti_loop_wait (*state, bound (), tags, 4), ==, 1);
        CHECK_U64 (tags[0], ==, UINT32_MAX);
    }
    CHECK_I64 (read (fd, &value, sizeof value), ==, sizeof value);
    CHECK_I64 (ti_loop_wait (*state, 0, tags, 4), ==, 0);
    ti_loop_remove (*state, fd);
    close (fd);
}

static void more_ready_fds_than_capacity_come_in_several_waits (void **state)
{
    int fds[6];
    bool seen[6] = {false};
    for (uint32_t i = 0; i < 6; i++) {
        fds[i] = eventfd (1, EFD_NONBLOCK);
        CHECK_I64 (ti_loop_add (*state, fds[i], i), ==, 0);
    }
    for (int rounds = 0, left = 6; left > 0; rounds++) {
        uint32_t tags[2];
        int count = ti_loop_wait (*state, bound (), tags, 2);
        CHECK_I64 (rounds, <, 100);
        CHECK_I64 (count, <=, 2);
        for (int i = 0; i < count; i++) {
            uint64_t value;
            if (!seen[tags[i]])
                left--;
            seen[tags[i]] = true;
            (void)!read (fds[tags[i]], &value, sizeof value);
        }
    }
    for (int i = 0; i < 6; i++)
        close (fds[i]);
}

/* An edge-triggered descriptor is told once: what does not fit must wait, not vanish. */
static void edges_beyond_the_capacity_come_in_later_waits (void **state)
{
    enum {
        FDS = 9
    };
    int fds[FDS];
    bool seen[FDS] = {false};
    int left = FDS;
    for (uint32_t i = 0; i < FDS; i++) {
        fds[i] = eventfd (1, EFD_NONBLOCK);
        CHECK_I64 (ti_loop_add_edge (*state, fds[i], i), ==, 0);
    }
    for (int rounds = 0; left > 0 && rounds < 100; rounds++) {
        uint32_t tags[2];
        int count = ti_loop_wait (*state, 0, tags, 2);
        CHECK_I64 (count, <=, 2);
        for (int i = 0; i < count; i++) {
            left -= !seen[tags[i]];
            seen[tags[i]] = true;
        }
    }
    for (int i = 0; i < FDS; i++)
        close (fds[i]);
    CHECK_I64 (left, ==, 0);
}

static void adding_a_closed_fd_is_an_error (void **state)
{
    int fd = eventfd (0, 0);
    close (fd);
    CHECK_I64 (ti_loop_add (*state, fd, 1), ==, TIED_ERR_SYSTEM);
}

static void kick_before_the_wait_ends_it_once (void **state)
{
    uint32_t tags[4];
    ti_loop_kick (*state);
    ti_loop_kick (*state);
    CHECK_TRUE (is_readable (ti_loop_fd (*state)));
    CHECK_I64 (ti_loop_wait (*state, TIED_NEVER, tags, 4), ==, 0);
    CHECK_FALSE (is_readable (ti_loop_fd (*state)));
    ti_loop_kick (*state);
    CHECK_I64 (ti_loop_wait (*state, TIED_NEVER, tags, 4), ==, 0);
}

struct kicker {
    ti_loop_t *loop;
    _Atomic uint64_t asked;
    _Atomic uint64_t seen;
    uint64_t rounds;
};

static void *kick_thread (void *arg)
{
    struct kicker *self = arg;
    for (uint64_t i = 1; i <= self->rounds; i++) {
        self->asked = i;
        ti_loop_kick (self->loop);
        while (i % 4 == 0 && self->seen < i)
            sched_yield ();
    }
    return NULL;
}

/* The waiter sleeps without a time limit: a lost kick would hang the test. */
static void no_kick_is_lost_between_threads (void **state)
{
    struct kicker kicker = {.loop = *state, .rounds = check_scale (20000) / 4 * 4 + 4};
    pthread_t thread;
    uint32_t tags[4];
    CHECK_I64 (pthread_create (&thread, NULL, kick_thread, &kicker), ==, 0);
    while (kicker.seen < kicker.rounds) {
        ti_loop_wait (*state, TIED_NEVER, tags, 4);
        kicker.seen = kicker.asked;
    }
    pthread_join (thread, NULL);
}

static void armed_fd_becomes_readable_by_time_and_can_be_disarmed (void **state)
{
    uint32_t tags[4];
    struct pollfd item = {.fd = ti_loop_fd (*state), .events = POLLIN, .revents = 0};
    tied_time_t until = ti_clock_now () + MS (2);
    ti_loop_arm (*state, until);
    CHECK_I64 (poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
    CHECK_U64 (ti_clock_now (), >=, until);
    CHECK_I64 (ti_loop_wait (*state, TIED_NEVER, tags, 4), ==, 0);
    CHECK_FALSE (is_readable (item.fd));

    ti_loop_arm (*state, 1);
    CHECK_I64 (poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
    CHECK_I64 (ti_loop_wait (*state, TIED_NEVER, tags, 4), ==, 0);
    ti_loop_arm (*state, 1);
    CHECK_I64 (poll (&item, 1, CHECK_PATIENCE_MS), ==, 1);
    ti_loop_arm (*state, TIED_NEVER);
    CHECK_FALSE (is_readable (item.fd));
}

static void on_signal (int number)
{
    (void)number;
}

struct pest {
    pthread_t target;
    _Atomic bool stop;
};

static void *pest_thread (void *arg)
{
    struct pest *self = arg;
    while (!self->stop) {
        pthread_kill (self->target, SIGUSR1);
        sched_yield ();
    }
    return NULL;
}

static void ZQ_21_signals_do_not_end_a_wait (void **state)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;
    struct pest pest = {.target = pthread_self ()};
    pthread_t thread;
    uint32_t tags[4];
    CHECK_I64 (sigaction (SIGUSR1, &action, &before), ==, 0);
    CHECK_I64 (pthread_create (&thread, NULL, pest_thread, &pest), ==, 0);
    tied_time_t until = ti_clock_now () + MS (30);
    CHECK_I64 (ti_loop_wait (*state, until, tags, 4), ==, 0);
    tied_time_t ended = ti_clock_now ();
    pest.stop = true;
    pthread_join (thread, NULL);
    sigaction (SIGUSR1, &before, NULL);
    CHECK_U64 (ended, >=, until);
}

static void destroy_accepts_null (void **state)
{
    ti_loop_t *none = NULL;
    (void)state;
    ti_loop_destroy (&none);
    ti_loop_destroy (NULL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (wait_in_the_past_returns_at_once_without_tags),
        cmocka_unit_test (wait_ends_at_its_time_and_not_before),
        cmocka_unit_test (readable_fd_gives_its_tag_until_it_is_read),
        cmocka_unit_test (more_ready_fds_than_capacity_come_in_several_waits),
        cmocka_unit_test (edges_beyond_the_capacity_come_in_later_waits),
        cmocka_unit_test (adding_a_closed_fd_is_an_error),
        cmocka_unit_test (kick_before_the_wait_ends_it_once),
        cmocka_unit_test (no_kick_is_lost_between_threads),
        cmocka_unit_test (armed_fd_becomes_readable_by_time_and_can_be_disarmed),
        cmocka_unit_test (ZQ_21_signals_do_not_end_a_wait),
        cmocka_unit_test (destroy_accepts_null),
    };
    return cmocka_run_group_tests_name ("loop", tests, setup, teardown);
}
