/* SPDX-License-Identifier: MIT */
/*
 * Many calls as one, in both drives. Two fake replicas on a thread of their own do what the method
 * of each call says: "ok", "error", "refuse", or nothing ("never").
 */
#include "client_world.h"

#include <pthread.h>
#include <stdatomic.h>

struct script {
    struct fake_replica *replicas[2];
    uint32_t looked[2];
    pthread_t thread;
    atomic_bool is_ending;
    atomic_uint requests, cancels;
};

static void obey (struct script *self, uint32_t r)
{
    struct fake_replica *replica = self->replicas[r];

    for (; self->looked[r] < replica->requests; self->looked[r]++) {
        const struct fake_seen *seen = fake_request (replica, self->looked[r]);

        if (strcmp (seen->method, "ok") == 0)
            fake_reply (replica, seen, 0, seen->body, seen->body_size);
        else if (strcmp (seen->method, "error") == 0)
            fake_reply (replica, seen, 7, NULL, 0);
        else if (strcmp (seen->method, "refuse") == 0)
            fake_reject (replica, seen, TIED_REJECT_UNKNOWN_METHOD);
    }
}

static void *play (void *arg)
{
    struct script *self = arg;

    while (!atomic_load (&self->is_ending)) {
        for (uint32_t r = 0; r < 2; r++) {
            (void)fake_replica_wait (self->replicas[r], 1);
            obey (self, r);
        }
        atomic_store (&self->requests, self->replicas[0]->requests + self->replicas[1]->requests);
        atomic_store (&self->cancels, self->replicas[0]->cancels + self->replicas[1]->cancels);
    }
    return NULL;
}

struct scene {
    struct script script;
    tied_client_t *client;
};

static void open_scene (struct scene *scene, uint32_t drive, uint32_t calls_max)
{
    static const char *const names[] = {"a", "b"};
    struct tied_client_options options;

    memset (scene, 0, sizeof *scene);
    tied_client_options_init (&options);
    options.drive = drive;
    options.timeout_ns = CHECK_PATIENCE;
    options.core.calls_max = calls_max;
    scene->client = tied_client_new (&options);
    CHECK_PTR (scene->client, !=, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        scene->script.replicas[i] = fake_replica_new (names[i], NULL, NULL);
        CHECK_I64 (
            tied_client_add_replica (scene->client, names[i], scene->script.replicas[i]->endpoint),
            ==, 0);
    }
    CHECK_I64 (pthread_create (&scene->script.thread, NULL, play, &scene->script), ==, 0);
    CHECK_I64 (tied_client_start (scene->client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (scene->client, 2, CHECK_PATIENCE), ==, 0);
}

static struct tied_client_stats stats_of (const struct scene *scene)
{
    struct tied_client_stats stats = {.struct_size = sizeof stats};

    CHECK_I64 (tied_client_stats (scene->client, &stats), ==, 0);
    return stats;
}

static void close_scene (struct scene *scene)
{
    CHECK_U64 (stats_of (scene).live_calls, ==, 0);
    tied_client_destroy (&scene->client);
    atomic_store (&scene->script.is_ending, true);
    pthread_join (scene->script.thread, NULL);
    for (uint32_t i = 0; i < 2; i++)
        fake_replica_destroy (&scene->script.replicas[i]);
}

#define MOST 64

struct fan {
    struct tied_call calls[MOST];
    struct tied_gathered out[MOST];
    struct tied_gather_options options;
    uint32_t count;
};

/* A call for each word. */
static void fan_of (struct fan *fan, const char *const *methods, uint32_t count)
{
    memset (fan, 0, sizeof *fan);
    for (uint32_t i = 0; i < count; i++) {
        tied_call_init (&fan->calls[i], methods[i], "body", 4);
        fan->calls[i].mode = TIED_MODE_SINGLE;
        fan->calls[i].user = &fan->calls[i];
    }
    fan->count = count;
    tied_gather_options_init (&fan->options);
}

#define FAN(fan, ...)                                                                              \
    do {                                                                                           \
        static const char *const methods_[] = {__VA_ARGS__};                                       \
        fan_of (fan, methods_, sizeof methods_ / sizeof *methods_);                                \
    } while (0)

static int gather (struct scene *scene, struct fan *fan)
{
    return tied_client_gather (scene->client, fan->calls, fan->count, &fan->options, fan->out);
}

static void
expect (const struct fan *fan, uint32_t i, enum tied_gather_end end, enum tied_outcome outcome)
{
    CHECK_STR (tied_gather_name ((int)fan->out[i].end), tied_gather_name ((int)end));
    CHECK_I64 (fan->out[i].error, ==, 0);
    CHECK_TRUE (fan->out[i].is_sent);
    CHECK_STR (tied_outcome_name ((int)fan->out[i].reply.details.outcome),
               tied_outcome_name ((int)outcome));
    CHECK_PTR (fan->out[i].reply.user, ==, &fan->calls[i]);
}

static void expect_not_sent (const struct fan *fan, uint32_t i, enum tied_gather_end end)
{
    CHECK_STR (tied_gather_name ((int)fan->out[i].end), tied_gather_name ((int)end));
    CHECK_FALSE (fan->out[i].is_sent);
    CHECK_PTR (fan->out[i].reply.body, ==, NULL);
}

static void release (struct fan *fan)
{
    for (uint32_t i = 0; i < fan->count; i++)
        tied_reply_release (&fan->out[i].reply);
}

static void all_are_waited_for_and_each_says_how_it_ended (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "ok", "error", "refuse", "ok");
    CHECK_I64 (gather (scene, &fan), ==, 2);
    expect (&fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    CHECK_MEM (fan.out[0].reply.body, "body", 4);
    expect (&fan, 1, TIED_GATHER_ENDED, TIED_OUTCOME_APP_ERROR);
    CHECK_U64 (fan.out[1].reply.details.status, ==, 7);
    expect (&fan, 2, TIED_GATHER_ENDED, TIED_OUTCOME_UNIMPLEMENTED);
    expect (&fan, 3, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    release (&fan);
}

static void enough_is_enough_and_the_others_are_cancelled (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "never", "ok", "error", "never", "ok");
    fan.options.need = 2;
    CHECK_I64 (gather (scene, &fan), ==, 2);
    expect (&fan, 0, TIED_GATHER_ENOUGH, TIED_OUTCOME_CANCELLED);
    expect (&fan, 1, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    expect (&fan, 3, TIED_GATHER_ENOUGH, TIED_OUTCOME_CANCELLED);
    expect (&fan, 4, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    CHECK_U64 (stats_of (scene).live_calls, ==, 0);
    release (&fan);
}

static void what_is_late_is_cancelled_and_the_rest_is_kept (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "ok", "never", "ok", "never");
    fan.options.need = 3;
    fan.options.timeout_ns = TIED_S (3); /* waited for to the end; the answers come long before */
    CHECK_I64 (gather (scene, &fan), ==, 2);
    expect (&fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    CHECK_STR (tied_gather_name ((int)fan.out[1].end), "late");
    expect (&fan, 2, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    CHECK_STR (tied_gather_name ((int)fan.out[3].end), "late");
    release (&fan);
}

/* A call's own deadline is its own matter. */
static void a_call_that_ends_by_its_own_deadline_is_not_late (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "ok", "never");
    fan.calls[1].timeout_ns = TIED_MS (20);
    fan.options.timeout_ns = CHECK_PATIENCE;
    CHECK_I64 (gather (scene, &fan), ==, 1);
    expect (&fan, 1, TIED_GATHER_ENDED, TIED_OUTCOME_DEADLINE);
    release (&fan);
}

static void a_good_canary_sends_the_rest (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "ok", "error", "ok", "ok");
    fan.options.canary = 2;
    CHECK_I64 (gather (scene, &fan), ==, 3);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_U64 (fan.out[i].end, ==, TIED_GATHER_ENDED);
    release (&fan);
}

static void a_bad_canary_stops_the_rest (struct scene *scene)
{
    const uint64_t submitted = stats_of (scene).core.submitted;
    struct fan fan;

    FAN (&fan, "ok", "refuse", "ok", "ok");
    fan.options.canary = 2;
    CHECK_I64 (gather (scene, &fan), ==, 1);
    expect (&fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    expect (&fan, 1, TIED_GATHER_ENDED, TIED_OUTCOME_UNIMPLEMENTED);
    expect_not_sent (&fan, 2, TIED_GATHER_CANARY);
    expect_not_sent (&fan, 3, TIED_GATHER_CANARY);
    CHECK_U64 (stats_of (scene).core.submitted, ==, submitted + 2);
    release (&fan);
}

static void a_canary_that_kills_its_server_stops_the_rest (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "never", "ok", "ok");
    fan.calls[0].timeout_ns = TIED_MS (20);
    fan.options.canary = 1;
    CHECK_I64 (gather (scene, &fan), ==, 0);
    expect (&fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_DEADLINE);
    expect_not_sent (&fan, 1, TIED_GATHER_CANARY);
    release (&fan);
}

static void time_that_runs_out_with_the_canary_makes_all_late (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "never", "ok");
    fan.options.canary = 1;
    fan.options.timeout_ns = TIED_MS (20);
    CHECK_I64 (gather (scene, &fan), ==, 0);
    CHECK_U64 (fan.out[0].end, ==, TIED_GATHER_LATE);
    expect_not_sent (&fan, 1, TIED_GATHER_LATE);
    release (&fan);
}

static void canaries_may_be_enough (struct scene *scene)
{
    struct fan fan;

    FAN (&fan, "ok", "never", "ok");
    fan.options.canary = 2;
    fan.options.need = 1;
    CHECK_I64 (gather (scene, &fan), ==, 1);
    expect (&fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    CHECK_U64 (fan.out[1].end, ==, TIED_GATHER_ENOUGH);
    expect_not_sent (&fan, 2, TIED_GATHER_ENOUGH);
    release (&fan);
}

/* The table holds four: others have two of them. */
static void fill_the_table (struct scene *scene)
{
    struct tied_call_id ids[2];
    struct tied_reply reply;
    struct fan fan;

    FAN (&fan, "ok", "ok", "ok");
    for (int i = 0; i < 2; i++) {
        struct tied_call call;
        tied_call_init (&call, "never", "", 0);
        CHECK_I64 (tied_client_submit (scene->client, &call, &ids[i]), ==, 0);
    }
    CHECK_I64 (gather (scene, &fan), ==, 2);
    expect (&fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
    CHECK_U64 (fan.out[2].end, ==, TIED_GATHER_FAILED);
    CHECK_I64 (fan.out[2].error, ==, TIED_ERR_FULL);
    CHECK_FALSE (fan.out[2].is_sent);
    release (&fan);
    for (int i = 0; i < 2; i++) {
        CHECK_I64 (tied_client_cancel (scene->client, ids[i]), ==, 0);
        CHECK_I64 (tied_client_wait (scene->client, ids[i], 0, &reply), ==, 0);
        tied_reply_release (&reply);
    }
}

static void long_bodies_and_tied_calls_are_gathered_too (struct scene *scene)
{
    static char body[200000];
    struct fan fan;

    FAN (&fan, "ok", "ok", "ok", "ok");
    for (uint32_t i = 0; i < 4; i++) {
        fan.calls[i].body = body;
        fan.calls[i].body_size = sizeof body;
        fan.calls[i].mode = TIED_MODE_TIED;
        fan.calls[i].is_idempotent = true;
    }
    CHECK_I64 (gather (scene, &fan), ==, 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_U64 (fan.out[i].reply.body_size, ==, sizeof body);
    release (&fan);
}

static void completions_of_the_queue_are_left_to_their_owners (struct scene *scene)
{
    struct fan fan;
    int user;

    for (uint32_t round = 0; round < 50; round++) {
        struct tied_call call;
        struct tied_reply reply;

        tied_call_init (&call, "ok", "queue", 5);
        call.to_queue = true;
        call.user = &user;
        CHECK_I64 (tied_client_submit (scene->client, &call, NULL), ==, 0);
        FAN (&fan, "ok", "error");
        CHECK_I64 (gather (scene, &fan), ==, 1);
        release (&fan);
        CHECK_I64 (tied_client_next (scene->client, CHECK_PATIENCE, &reply), ==, 0);
        CHECK_PTR (reply.user, ==, &user);
        CHECK_U64 (reply.body_size, ==, 5);
        tied_reply_release (&reply);
    }
}

static void in_both_drives (void (*test) (struct scene *scene))
{
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct scene scene;

        open_scene (&scene, drive, 5);
        test (&scene);
        close_scene (&scene);
    }
}

#define BOTH(name)                                                                                 \
    static void name##_in_both_drives (void **state)                                               \
    {                                                                                              \
        (void)state;                                                                               \
        in_both_drives (name);                                                                     \
    }
BOTH (all_are_waited_for_and_each_says_how_it_ended)
BOTH (enough_is_enough_and_the_others_are_cancelled)
BOTH (what_is_late_is_cancelled_and_the_rest_is_kept)
BOTH (a_call_that_ends_by_its_own_deadline_is_not_late)
BOTH (a_good_canary_sends_the_rest)
BOTH (a_bad_canary_stops_the_rest)
BOTH (a_canary_that_kills_its_server_stops_the_rest)
BOTH (time_that_runs_out_with_the_canary_makes_all_late)
BOTH (canaries_may_be_enough)
BOTH (long_bodies_and_tied_calls_are_gathered_too)
BOTH (completions_of_the_queue_are_left_to_their_owners)

static void calls_for_which_there_is_no_room_say_so (void **state)
{
    struct scene scene;
    (void)state;
    open_scene (&scene, TIED_DRIVE_CALLER, 4);
    fill_the_table (&scene);
    close_scene (&scene);
}

static void bad_arguments_send_nothing (void **state)
{
    struct scene scene;
    struct fan fan;
    (void)state;
    open_scene (&scene, TIED_DRIVE_CALLER, 4);
    FAN (&fan, "ok", "ok");
    CHECK_I64 (tied_client_gather (NULL, fan.calls, 2, NULL, fan.out), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_gather (scene.client, NULL, 2, NULL, fan.out), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_gather (scene.client, fan.calls, 0, NULL, fan.out), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_gather (scene.client, fan.calls, 2, NULL, NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_gather (scene.client, fan.calls, 5, NULL, fan.out), ==, TIED_ERR_FULL);
    fan.options.need = 3;
    CHECK_I64 (gather (&scene, &fan), ==, TIED_ERR_INVAL);
    fan.options.need = 0;
    fan.options.canary = 3;
    CHECK_I64 (gather (&scene, &fan), ==, TIED_ERR_INVAL);
    fan.options.canary = 0;
    fan.calls[1].to_queue = true;
    CHECK_I64 (gather (&scene, &fan), ==, TIED_ERR_INVAL);
    fan.calls[1].to_queue = false;
    CHECK_U64 (stats_of (&scene).core.submitted, ==, 0);
    CHECK_I64 (tied_client_stop (scene.client, 0), ==, 0);
    CHECK_I64 (gather (&scene, &fan), ==, TIED_ERR_STATE);
    CHECK_STR (tied_gather_name (TIED_GATHER_COUNT), "?");
    close_scene (&scene);
}

/* ---- many at once ---- */

struct crowd {
    struct scene *scene;
    atomic_uint good;
};

static void *gather_often (void *arg)
{
    struct crowd *crowd = arg;

    for (int round = 0; round < 60; round++) {
        struct fan fan;

        FAN (&fan, "ok", "never", "ok", "error", "ok");
        fan.options.need = 3;
        fan.options.canary = round % 3 == 0;
        if (gather (crowd->scene, &fan) == 3 && fan.out[1].end == TIED_GATHER_ENOUGH)
            atomic_fetch_add (&crowd->good, 1);
        release (&fan);
    }
    return NULL;
}

static void threads_gather_at_once (void **state)
{
    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct scene scene;
        struct crowd crowd = {.scene = &scene};
        pthread_t threads[3];

        open_scene (&scene, drive, 64);
        for (int i = 0; i < 3; i++)
            CHECK_I64 (pthread_create (&threads[i], NULL, gather_often, &crowd), ==, 0);
        for (int i = 0; i < 3; i++)
            pthread_join (threads[i], NULL);
        CHECK_U64 (atomic_load (&crowd.good), ==, 180);
        close_scene (&scene);
    }
}

static void *gather_for_long (void *arg)
{
    struct scene *scene = arg;
    struct fan *fan = malloc (sizeof *fan);

    FAN (fan, "ok", "never", "never");
    CHECK_I64 (gather (scene, fan), ==, 1);
    return fan;
}

static void a_client_that_stops_ends_the_gather (void **state)
{
    (void)state;
    for (uint32_t drive = TIED_DRIVE_THREADED; drive <= TIED_DRIVE_CALLER; drive++) {
        struct scene scene;
        pthread_t thread;
        void *fan;

        open_scene (&scene, drive, 64);
        CHECK_I64 (pthread_create (&thread, NULL, gather_for_long, &scene), ==, 0);
        while (stats_of (&scene).core.calls_ok < 1) {
        }
        CHECK_I64 (tied_client_stop (scene.client, 0), ==, 0);
        pthread_join (thread, &fan);
        expect (fan, 0, TIED_GATHER_ENDED, TIED_OUTCOME_OK);
        expect (fan, 1, TIED_GATHER_ENDED, TIED_OUTCOME_CANCELLED);
        expect (fan, 2, TIED_GATHER_ENDED, TIED_OUTCOME_CANCELLED);
        release (fan);
        free (fan);
        close_scene (&scene);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (all_are_waited_for_and_each_says_how_it_ended_in_both_drives),
        cmocka_unit_test (enough_is_enough_and_the_others_are_cancelled_in_both_drives),
        cmocka_unit_test (what_is_late_is_cancelled_and_the_rest_is_kept_in_both_drives),
        cmocka_unit_test (a_call_that_ends_by_its_own_deadline_is_not_late_in_both_drives),
        cmocka_unit_test (a_good_canary_sends_the_rest_in_both_drives),
        cmocka_unit_test (a_bad_canary_stops_the_rest_in_both_drives),
        cmocka_unit_test (a_canary_that_kills_its_server_stops_the_rest_in_both_drives),
        cmocka_unit_test (time_that_runs_out_with_the_canary_makes_all_late_in_both_drives),
        cmocka_unit_test (canaries_may_be_enough_in_both_drives),
        cmocka_unit_test (long_bodies_and_tied_calls_are_gathered_too_in_both_drives),
        cmocka_unit_test (completions_of_the_queue_are_left_to_their_owners_in_both_drives),
        cmocka_unit_test (calls_for_which_there_is_no_room_say_so),
        cmocka_unit_test (bad_arguments_send_nothing),
        cmocka_unit_test (threads_gather_at_once),
        cmocka_unit_test (a_client_that_stops_ends_the_gather),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
