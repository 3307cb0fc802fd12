/* SPDX-License-Identifier: MIT */
/* Many threads in one client: the leader's seat passes on, every call ends once, nobody is left. */
#include "client_world.h"
#include "echo_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../client/src/client_internal.h"

#define THREADS 4
#define ROUNDS  400

struct crowd {
    tied_client_t *client;
    atomic_uint_fast64_t ok, other;
};

static tied_client_t *make_client (uint32_t drive, struct echo_thread *echoes, uint32_t count)
{
    static const char *const names[] = {"a", "b"};
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = drive;
    options.timeout_ns = CHECK_PATIENCE;
    client = tied_client_new (&options);
    CHECK_PTR (client, !=, NULL);
    for (uint32_t i = 0; i < count; i++) {
        echo_thread_start (&echoes[i], names[i]);
        CHECK_I64 (tied_client_add_replica (client, names[i], echoes[i].replica->endpoint), ==, 0);
    }
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (client, count, CHECK_PATIENCE), ==, 0);
    return client;
}

static void run_threads (struct crowd *crowd, void *(*body) (void *arg))
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK_I64 (pthread_create (&threads[i], NULL, body, crowd), ==, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join (threads[i], NULL);
}

static void
count_reply (struct crowd *crowd, struct tied_reply *reply, const void *body, size_t size)
{
    bool is_right = reply->details.outcome == TIED_OUTCOME_OK && reply->body_size == size &&
                    memcmp (reply->body, body, size) == 0;

    atomic_fetch_add (is_right ? &crowd->ok : &crowd->other, 1);
    tied_reply_release (reply);
}

static void *call_often (void *arg)
{
    struct crowd *crowd = arg;

    for (int i = 0; i < ROUNDS; i++) {
        char body[64];
        struct tied_call call;
        struct tied_reply reply;

        snprintf (body, sizeof body, "%p %d", (void *)&body, i);
        tied_call_init (&call, "work", body, strlen (body));
        call.is_idempotent = true;
        call.mode = i % 2 ? TIED_MODE_TIED : TIED_MODE_SINGLE;
        call.stagger_ns = i % 4 == 3 ? 0 : TIED_STAGGER_AUTO;
        if (tied_client_call (crowd->client, &call, &reply) == 0)
            count_reply (crowd, &reply, body, strlen (body));
        else
            atomic_fetch_add (&crowd->other, 1);
    }
    return NULL;
}

static void ZQ_18_blocking_calls_from_many_threads_all_get_their_own_answer (void **state)
{
    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct echo_thread echoes[2];
        struct crowd crowd = {.client = make_client (drive, echoes, 2)};
        struct tied_client_stats stats = {.struct_size = sizeof stats};

        run_threads (&crowd, call_often);
        CHECK_U64 (atomic_load (&crowd.ok), ==, THREADS * ROUNDS);
        CHECK_U64 (atomic_load (&crowd.other), ==, 0);
        CHECK_I64 (tied_client_stats (crowd.client, &stats), ==, 0);
        CHECK_U64 (stats.core.calls_ok, ==, THREADS * ROUNDS);
        CHECK_U64 (stats.core.submitted, ==, THREADS * ROUNDS);
        CHECK_U64 (stats.live_calls, ==, 0);
        tied_client_destroy (&crowd.client);
        echo_thread_stop (&echoes[0]);
        echo_thread_stop (&echoes[1]);
    }
}

static void *submit_and_collect (void *arg)
{
    struct crowd *crowd = arg;
    struct tied_call call = world_call (TIED_MODE_TIED, true);

    call.to_queue = true;
    for (int i = 0; i < ROUNDS; i++) {
        struct tied_reply reply;

        if (tied_client_submit (crowd->client, &call, NULL) != 0)
            atomic_fetch_add (&crowd->other, 1);
        /* Any thread's completion will do: as many are taken as were submitted. */
        else if (tied_client_next (crowd->client, CHECK_PATIENCE, &reply) != 0)
            atomic_fetch_add (&crowd->other, 1);
        else
            count_reply (crowd, &reply, "hello", 5);
    }
    return NULL;
}

static void threads_that_share_the_queue_take_each_completion_once (void **state)
{
    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct echo_thread echoes[2];
        struct crowd crowd = {.client = make_client (drive, echoes, 2)};

        run_threads (&crowd, submit_and_collect);
        CHECK_U64 (atomic_load (&crowd.ok), ==, THREADS * ROUNDS);
        CHECK_U64 (atomic_load (&crowd.other), ==, 0);
        tied_client_destroy (&crowd.client);
        echo_thread_stop (&echoes[0]);
        echo_thread_stop (&echoes[1]);
    }
}

/* CL-06: one thread submits, another cancels what it sees, and the first collects. */
struct relay {
    tied_client_t *client;
    pthread_mutex_t lock;
    struct tied_call_id id;
    uint64_t given;
    atomic_bool is_over;
};

static void *cancel_what_is_given (void *arg)
{
    struct relay *relay = arg;
    uint64_t seen = 0;

    while (!atomic_load (&relay->is_over)) {
        struct tied_call_id id;
        uint64_t given;

        pthread_mutex_lock (&relay->lock);
        id = relay->id;
        given = relay->given;
        pthread_mutex_unlock (&relay->lock);
        if (given != seen)
            (void)!tied_client_cancel (relay->client, id);
        seen = given;
    }
    return NULL;
}

static void CL_06_cancel_races_submit_and_every_call_ends_once (void **state)
{
    struct echo_thread echoes[2];
    struct relay relay = {.client = make_client (TIED_DRIVE_THREADED, echoes, 2)};
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    pthread_t canceller;
    uint64_t ok = 0;
    uint64_t cancelled = 0;

    (void)state;
    pthread_mutex_init (&relay.lock, NULL);
    atomic_init (&relay.is_over, false);
    CHECK_I64 (pthread_create (&canceller, NULL, cancel_what_is_given, &relay), ==, 0);
    for (int i = 0; i < 3000; i++) {
        struct tied_call_id id;
        struct tied_reply reply;

        CHECK_I64 (tied_client_submit (relay.client, &call, &id), ==, 0);
        pthread_mutex_lock (&relay.lock);
        relay.id = id;
        relay.given++;
        pthread_mutex_unlock (&relay.lock);
        CHECK_I64 (tied_client_wait (relay.client, id, CHECK_PATIENCE, &reply), ==, 0);
        ok += reply.details.outcome == TIED_OUTCOME_OK;
        cancelled += reply.details.outcome == TIED_OUTCOME_CANCELLED;
        tied_reply_release (&reply);
    }
    atomic_store (&relay.is_over, true);
    pthread_join (canceller, NULL);
    CHECK_U64 (ok + cancelled, ==, 3000);
    CHECK_I64 (tied_client_stats (relay.client, &stats), ==, 0);
    CHECK_U64 (stats.live_calls, ==, 0);
    CHECK_U64 (stats.core.calls_cancelled, ==, cancelled);
    pthread_mutex_destroy (&relay.lock);
    tied_client_destroy (&relay.client);
    echo_thread_stop (&echoes[0]);
    echo_thread_stop (&echoes[1]);
}

struct late_waiter {
    tied_client_t *client;
    struct tied_call_id id;
    int rc;
    uint32_t outcome;
    atomic_uint *returned;
};

static void *wait_for_id (void *arg)
{
    struct late_waiter *waiter = arg;
    struct tied_reply reply;

    waiter->rc = tied_client_wait (waiter->client, waiter->id, CHECK_PATIENCE, &reply);
    if (waiter->rc == 0) {
        waiter->outcome = reply.details.outcome;
        tied_reply_release (&reply);
    }
    atomic_fetch_add (waiter->returned, 1);
    return NULL;
}

/* Two threads wait for one call: whichever comes second is refused, the first gets the end. */
static void a_second_thread_cannot_wait_for_the_same_call (void **state)
{
    struct echo_thread echoes[1];
    tied_client_t *client = make_client (TIED_DRIVE_THREADED, echoes, 1);
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    atomic_uint returned;
    struct late_waiter waiters[2];
    pthread_t threads[2];
    int refused;

    (void)state;
    atomic_init (&returned, 0);
    echo_thread_silence (&echoes[0]);
    call.timeout_ns = 2 * CHECK_PATIENCE;
    waiters[0] = (struct late_waiter){.client = client, .returned = &returned};
    CHECK_I64 (tied_client_submit (client, &call, &waiters[0].id), ==, 0);
    waiters[1] = waiters[0];
    for (int i = 0; i < 2; i++)
        CHECK_I64 (pthread_create (&threads[i], NULL, wait_for_id, &waiters[i]), ==, 0);
    while (atomic_load (&returned) == 0)
        sched_yield ();
    CHECK_I64 (tied_client_cancel (client, waiters[0].id), ==, 0);
    for (int i = 0; i < 2; i++)
        pthread_join (threads[i], NULL);
    refused = waiters[0].rc == 0 ? 1 : 0;
    CHECK_I64 (waiters[refused].rc, ==, TIED_ERR_STATE);
    CHECK_I64 (waiters[1 - refused].rc, ==, 0);
    CHECK_U64 (waiters[1 - refused].outcome, ==, TIED_OUTCOME_CANCELLED);
    tied_client_destroy (&client);
    echo_thread_stop (&echoes[0]);
}

static void *wait_for_queue (void *arg)
{
    struct late_waiter *waiter = arg;
    struct tied_reply reply;

    waiter->rc = tied_client_next (waiter->client, TIED_NEVER, &reply);
    return NULL;
}

static void stop_sends_waiting_threads_home (void **state)
{
    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct echo_thread echoes[1];
        tied_client_t *client = make_client (drive, echoes, 1);
        struct late_waiter waiters[2] = {{.client = client}, {.client = client}};
        pthread_t threads[2];

        for (int i = 0; i < 2; i++)
            CHECK_I64 (pthread_create (&threads[i], NULL, wait_for_queue, &waiters[i]), ==, 0);
        CHECK_I64 (tied_client_stop (client, MS (100)), ==, 0);
        for (int i = 0; i < 2; i++) {
            pthread_join (threads[i], NULL);
            CHECK_I64 (waiters[i].rc, ==, TIED_ERR_STATE);
        }
        tied_client_destroy (&client);
        echo_thread_stop (&echoes[0]);
    }
}

static void *wait_for_queue_a_while (void *arg)
{
    struct late_waiter *waiter = arg;
    struct tied_reply reply;

    waiter->rc = tied_client_next (waiter->client, CHECK_PATIENCE, &reply);
    if (waiter->rc == 0)
        tied_reply_release (&reply);
    return NULL;
}

static void await_waiters (tied_client_t *client, uint32_t wanted)
{
    tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;
    uint32_t count;

    do {
        CHECK_U64 (ti_clock_now (), <, give_up);
        count = 0;
        pthread_mutex_lock (&client->lock);
        for (struct ti_waiter *waiter = client->waiters; waiter; waiter = waiter->next)
            count++;
        pthread_mutex_unlock (&client->lock);
    } while (count < wanted);
}

/* The leader takes one of two completions that came together, and the seat goes to a thread that
   does not wait for the queue: the other completion still has to reach the one that does. */
static void completions_that_come_together_wake_as_many_threads (void **state)
{
    struct echo_thread echoes[1];
    tied_client_t *client = make_client (TIED_DRIVE_CALLER, echoes, 1);
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_client_event cancel = {.type = TIED_CLIENT_EV_CANCEL};
    atomic_uint returned;
    struct late_waiter first = {.client = client}, second = {.client = client};
    struct late_waiter other = {.client = client, .returned = &returned};
    struct tied_call_id ids[2];
    pthread_t threads[3];
    tied_time_t ended;

    (void)state;
    atomic_init (&returned, 0);
    echo_thread_silence (&echoes[0]);
    call.timeout_ns = 2 * CHECK_PATIENCE;
    CHECK_I64 (tied_client_submit (client, &call, &other.id), ==, 0);
    call.to_queue = true;
    for (int i = 0; i < 2; i++)
        CHECK_I64 (tied_client_submit (client, &call, &ids[i]), ==, 0);
    CHECK_I64 (pthread_create (&threads[0], NULL, wait_for_queue_a_while, &first), ==, 0);
    await_waiters (client, 1);
    CHECK_I64 (pthread_create (&threads[1], NULL, wait_for_id, &other), ==, 0);
    await_waiters (client, 2);
    CHECK_I64 (pthread_create (&threads[2], NULL, wait_for_queue_a_while, &second), ==, 0);
    await_waiters (client, 3);
    ended = ti_clock_now ();
    pthread_mutex_lock (&client->lock);
    for (int i = 0; i < 2; i++) {
        cancel.u.cancel.call = ids[i];
        CHECK_I64 (ti_engine_step (client, &cancel, ti_clock_now ()), ==, 0);
    }
    ti_engine_settle (client);
    pthread_mutex_unlock (&client->lock);
    pthread_join (threads[0], NULL);
    pthread_join (threads[2], NULL);
    CHECK_I64 (first.rc, ==, 0);
    CHECK_I64 (second.rc, ==, 0);
    /* At the end of its time a thread that nobody woke finds the completion as well. */
    CHECK_U64 (ti_clock_now () - ended, <, CHECK_SOON);
    CHECK_I64 (tied_client_cancel (client, other.id), ==, 0);
    pthread_join (threads[1], NULL);
    tied_client_destroy (&client);
    echo_thread_stop (&echoes[0]);
}

/* Nobody waits, so the client's own thread has to: the deadline passes, the queue fills. */
static void a_threaded_client_works_while_nobody_waits (void **state)
{
    struct echo_thread echoes[1];
    tied_client_t *client = make_client (TIED_DRIVE_THREADED, echoes, 1);
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    tied_time_t give_up = ti_clock_now () + CHECK_PATIENCE;

    (void)state;
    call.to_queue = true;
    for (int i = 0; i < 10; i++)
        CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
    do {
        CHECK_I64 (tied_client_stats (client, &stats), ==, 0);
        CHECK_U64 (ti_clock_now (), <, give_up);
    } while (stats.core.calls_ok < 10);
    tied_client_destroy (&client);
    echo_thread_stop (&echoes[0]);
}

struct reloader {
    struct crowd crowd;
    const char *path;
    uint64_t loads;
    atomic_bool is_ending;
};

/* Good, good, broken; and the kill switch between. */
static void *reload_often (void *arg)
{
    static const char *const texts[] = {"methods: {work: {idempotent: true, stagger: 0s}}",
                                        "methods: {\"*\": {shadow: true}, other: {}}",
                                        "methods: {work: {mode: tide}}"};
    struct reloader *self = arg;

    /* One of each at least, however quick the calls are. */
    for (uint32_t i = 0; i < 3 || !atomic_load (&self->is_ending); i++) {
        FILE *file = fopen (self->path, "w");
        const bool is_good = i % 3 != 2;

        if (!file)
            break;
        fputs (texts[i % 3], file);
        fclose (file);
        if ((tied_client_load_policies (self->crowd.client, self->path, NULL, 0) == 0) != is_good ||
            tied_client_set_off (self->crowd.client, i % 5 == 4) != 0)
            break;
        self->loads++;
    }
    return NULL;
}

static void settings_that_change_all_the_time_lose_no_call (void **state)
{
    char path[] = "/tmp/tied-policies-XXXXXX";
    struct echo_thread echoes[2];
    struct reloader reloader = {.path = path};
    struct tied_client_stats stats = {.struct_size = sizeof stats};
    pthread_t thread;
    int fd = mkstemp (path);

    (void)state;
    CHECK_I64 (fd, >=, 0);
    close (fd);
    reloader.crowd.client = make_client (TIED_DRIVE_THREADED, echoes, 2);
    CHECK_I64 (pthread_create (&thread, NULL, reload_often, &reloader), ==, 0);
    run_threads (&reloader.crowd, call_often);
    atomic_store (&reloader.is_ending, true);
    pthread_join (thread, NULL);
    CHECK_U64 (reloader.loads, >=, 3);
    CHECK_U64 (atomic_load (&reloader.crowd.ok), ==, THREADS * ROUNDS);
    CHECK_U64 (atomic_load (&reloader.crowd.other), ==, 0);
    CHECK_I64 (tied_client_stats (reloader.crowd.client, &stats), ==, 0);
    CHECK_U64 (stats.core.calls_ok, ==, THREADS * ROUNDS);
    tied_client_destroy (&reloader.crowd.client);
    echo_thread_stop (&echoes[0]);
    echo_thread_stop (&echoes[1]);
    unlink (path);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (ZQ_18_blocking_calls_from_many_threads_all_get_their_own_answer),
        cmocka_unit_test (threads_that_share_the_queue_take_each_completion_once),
        cmocka_unit_test (CL_06_cancel_races_submit_and_every_call_ends_once),
        cmocka_unit_test (a_second_thread_cannot_wait_for_the_same_call),
        cmocka_unit_test (stop_sends_waiting_threads_home),
        cmocka_unit_test (completions_that_come_together_wake_as_many_threads),
        cmocka_unit_test (a_threaded_client_works_while_nobody_waits),
        cmocka_unit_test (settings_that_change_all_the_time_lose_no_call),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
