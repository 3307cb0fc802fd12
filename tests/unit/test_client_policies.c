/* SPDX-License-Identifier: MIT */
/*
 * Settings while the client runs, through its public functions and over the wire: policy files that
 * are taken whole or not at all, the kill switch, canary and shadow mode.
 */
#include "client_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "free_policy.h"

#define CALLS 400

struct file {
    char path[64];
};

static void write_file (struct file *file, const char *text)
{
    FILE *out = fopen (file->path, "w");
    CHECK_TRUE (out != NULL);
    fputs (text, out);
    CHECK_I64 (fclose (out), ==, 0);
}

static struct file make_file (const char *text)
{
    struct file file = {.path = "/tmp/tied-policies-XXXXXX"};
    int fd = mkstemp (file.path);
    CHECK_I64 (fd, >=, 0);
    close (fd);
    write_file (&file, text);
    return file;
}

static tied_client_t *make_client (uint32_t methods_max)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    options.core.methods_max = methods_max;
    client = tied_client_new (&options);
    CHECK_PTR (client, !=, NULL);
    return client;
}

static struct tied_policy policy_of (tied_client_t *client, const char *method)
{
    struct tied_policy policy;
    CHECK_I64 (tied_client_policy (client, method, &policy), ==, 0);
    return policy;
}

static struct tied_client_method method_of (tied_client_t *client, const char *method)
{
    struct tied_client_method out;
    CHECK_I64 (tied_client_method (client, method, &out), ==, 0);
    return out;
}

static void load (tied_client_t *client, const struct file *file)
{
    char text[TIED_POLICIES_ERROR_MAX] = "unchanged";
    CHECK_I64 (tied_client_load_policies (client, file->path, text, sizeof text), ==, 0);
    CHECK_STR (text, "");
}

static void a_file_gives_methods_their_settings_and_takes_them_away (void **state)
{
    (void)state;
    struct file file = make_file ("methods: {\"*\": {extra_load: 3%}, a: {extra_load: 7%}, b: {}}");
    tied_client_t *client = make_client (8);
    struct tied_policy own;

    tied_policy_init (&own);
    own.extra_load_ppm = 500000;
    CHECK_I64 (tied_client_set_policy (client, "c", &own), ==, 0);
    load (client, &file);
    CHECK_U64 (policy_of (client, "a").extra_load_ppm, ==, 70000);
    CHECK_U64 (policy_of (client, "b").mode, ==, TIED_MODE_SINGLE);
    CHECK_U64 (policy_of (client, "c").extra_load_ppm, ==, 30000);
    CHECK_U64 (policy_of (client, "never-seen").extra_load_ppm, ==, 30000);

    write_file (&file, "methods: {\"*\": {extra_load: 4%}, b: {extra_load: 9%}}");
    load (client, &file);
    CHECK_U64 (policy_of (client, "a").extra_load_ppm, ==, 40000);
    CHECK_U64 (policy_of (client, "b").extra_load_ppm, ==, 90000);
    CHECK_U64 (policy_of (client, "b").mode, ==, TIED_MODE_TIED);

    write_file (&file, "methods: {}");
    load (client, &file);
    CHECK_U64 (policy_of (client, "a").extra_load_ppm, ==, 50000);
    CHECK_U64 (policy_of (client, "*").extra_load_ppm, ==, 50000);
    tied_client_destroy (&client);
    unlink (file.path);
}

static void a_broken_file_keeps_the_old_settings (void **state)
{
    (void)state;
    struct file file = make_file ("methods: {\"*\": {extra_load: 3%}, a: {extra_load: 7%}}");
    tied_client_t *client = make_client (8);
    char text[TIED_POLICIES_ERROR_MAX], expected[TIED_POLICIES_ERROR_MAX], small[8];

    load (client, &file);
    write_file (&file, "methods:\n  \"*\": {extra_load: 1%}\n  a: {hedge: soon}\n");
    CHECK_I64 (tied_client_load_policies (client, file.path, text, sizeof text), ==,
               TIED_ERR_INVAL);
    snprintf (expected, sizeof expected, "%s:3:14: methods.a.hedge: \"soon\" is no rule",
              file.path);
    CHECK_I64 (strncmp (text, expected, strlen (expected)), ==, 0);
    CHECK_U64 (policy_of (client, "*").extra_load_ppm, ==, 30000);
    CHECK_U64 (policy_of (client, "a").extra_load_ppm, ==, 70000);

    CHECK_I64 (tied_client_load_policies (client, file.path, small, sizeof small), ==,
               TIED_ERR_INVAL);
    CHECK_U64 (strlen (small), ==, 7);
    CHECK_I64 (tied_client_load_policies (client, file.path, NULL, 0), ==, TIED_ERR_INVAL);
    unlink (file.path);
    CHECK_I64 (tied_client_load_policies (client, file.path, text, sizeof text), ==,
               TIED_ERR_INVAL);
    CHECK_TRUE (strstr (text, "No such file") != NULL);
    CHECK_I64 (tied_client_load_policies (client, "/tmp", text, sizeof text), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_load_policies (client, "no\nsuch", text, sizeof text), ==,
               TIED_ERR_INVAL);
    CHECK_STR (text, "no?such: No such file or directory");
    CHECK_I64 (tied_client_load_policies (client, NULL, text, sizeof text), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_load_policies (NULL, "x", text, sizeof text), ==, TIED_ERR_INVAL);
    CHECK_U64 (policy_of (client, "a").extra_load_ppm, ==, 70000);
    tied_client_destroy (&client);
}

static void a_file_with_too_many_names_changes_nothing (void **state)
{
    (void)state;
    struct file file = make_file ("methods: {\"*\": {extra_load: 3%}, a: {}, b: {}}");
    tied_client_t *client = make_client (3);
    struct tied_call call;
    char text[TIED_POLICIES_ERROR_MAX];

    CHECK_I64 (tied_client_start (client), ==, 0);
    tied_call_init (&call, "c", NULL, 0);
    CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
    /* Three names fit, but "c" was used. */
    CHECK_I64 (tied_client_load_policies (client, file.path, text, sizeof text), ==, TIED_ERR_FULL);
    CHECK_TRUE (strstr (text, "methods_max") != NULL);
    CHECK_U64 (policy_of (client, "*").extra_load_ppm, ==, 50000);
    CHECK_U64 (policy_of (client, "a").mode, ==, TIED_MODE_TIED);
    write_file (&file, "methods: {a: {}, b: {}, c: {}, d: {}}");
    CHECK_I64 (tied_client_load_policies (client, file.path, text, sizeof text), ==, TIED_ERR_FULL);
    write_file (&file, "methods: {c: {extra_load: 3%}, a: {}}");
    load (client, &file);
    CHECK_U64 (policy_of (client, "c").extra_load_ppm, ==, 30000);
    tied_client_destroy (&client);
    unlink (file.path);
}

/* What was learned of a method stays; of one that no call was made of nothing was. */
static void names_that_were_never_used_make_room_for_others (void **state)
{
    (void)state;
    struct file file = make_file ("methods: {a: {extra_load: 1%}, b: {extra_load: 2%}}");
    tied_client_t *client = make_client (4);
    struct tied_client_method method;
    struct tied_policy own;
    struct tied_call call;
    char text[64];

    CHECK_I64 (tied_client_start (client), ==, 0);
    tied_call_init (&call, "b", NULL, 0);
    CHECK_I64 (tied_client_submit (client, &call, NULL), ==, 0);
    load (client, &file);
    for (int i = 0; i < 100; i++) {
        (void)snprintf (text, sizeof text, "methods: {x%d: {extra_load: 3%%}, y: {}}", i);
        write_file (&file, text);
        load (client, &file);
        (void)snprintf (text, sizeof text, "x%d", i);
        CHECK_U64 (policy_of (client, text).extra_load_ppm, ==, 30000);
        CHECK_U64 (policy_of (client, "y").mode, ==, TIED_MODE_SINGLE);
        CHECK_U64 (policy_of (client, "b").extra_load_ppm, ==, 50000);
        CHECK_U64 (method_of (client, "b").counters.calls, ==, 1);
        CHECK_I64 (tied_client_method (client, "a", &method), ==, TIED_ERR_ABSENT);
    }
    /* The same for settings that were given and taken away one by one. */
    write_file (&file, "methods: {}");
    load (client, &file);
    tied_policy_init (&own);
    for (int i = 0; i < 100; i++) {
        (void)snprintf (text, sizeof text, "z%d", i);
        CHECK_I64 (tied_client_set_policy (client, text, &own), ==, 0);
        CHECK_I64 (tied_client_reset_policy (client, text), ==, 0);
    }
    CHECK_U64 (method_of (client, "b").counters.calls, ==, 1);
    tied_client_destroy (&client);
    unlink (file.path);
}

/* One call that is answered; @return why its second copy was not sent. */
static uint32_t call_once (struct world *world, const struct tied_call *call)
{
    struct tied_call_id id;
    struct tied_reply reply;
    uint32_t not_sent;

    CHECK_I64 (tied_client_submit (world->client, call, &id), ==, 0);
    WORLD_UNTIL (world, tied_client_wait (world->client, id, 0, &reply) == 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    not_sent = reply.details.not_sent;
    tied_reply_release (&reply);
    return not_sent;
}

static uint32_t requests (const struct world *world)
{
    return world->replicas[0]->requests + world->replicas[1]->requests;
}

static void open_echoing (struct world *world)
{
    world_open (world, 2, NULL);
    world->replicas[0]->does_echo = world->replicas[1]->does_echo = true;
}

static struct tied_call tied_at_once (void)
{
    struct tied_call call = world_call (TIED_MODE_POLICY, true);
    call.stagger_ns = 0;
    return call;
}

static void the_kill_switch_reaches_every_method_at_once (void **state)
{
    (void)state;
    struct world world;
    struct tied_call call = tied_at_once ();
    struct tied_policy own;

    open_echoing (&world);
    own = free_policy ();
    CHECK_I64 (tied_client_set_policy (world.client, "work", &own), ==, 0);
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_NONE);
    WORLD_UNTIL (&world, requests (&world) == 2);

    CHECK_I64 (tied_client_set_off (world.client, true), ==, 0);
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_OFF);
    call.mode = TIED_MODE_TIED;
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_OFF);
    /* Settings that come meanwhile, and a method that was never seen. */
    CHECK_I64 (tied_client_set_policy (world.client, "work", &own), ==, 0);
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_OFF);
    CHECK_I64 (tied_client_reset_policy (world.client, "work"), ==, 0);
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_OFF);
    call.method = "other";
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_OFF);
    world_flush (&world);
    CHECK_U64 (requests (&world), ==, 2 + 5);
    CHECK_TRUE (!policy_of (world.client, "work").is_off);

    CHECK_I64 (tied_client_set_off (world.client, false), ==, 0);
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_NONE);
    CHECK_I64 (tied_client_set_off (NULL, true), ==, TIED_ERR_INVAL);
    world_close (&world);
}

static void off_of_a_method_survives_the_kill_switch (void **state)
{
    (void)state;
    struct world world;
    struct tied_call call = tied_at_once ();
    struct tied_policy own;

    open_echoing (&world);
    tied_policy_init (&own);
    own.is_off = true;
    CHECK_I64 (tied_client_set_policy (world.client, "work", &own), ==, 0);
    CHECK_I64 (tied_client_set_off (world.client, true), ==, 0);
    CHECK_I64 (tied_client_set_off (world.client, false), ==, 0);
    CHECK_TRUE (policy_of (world.client, "work").is_off);
    CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_OFF);
    world_close (&world);
}

static void a_hedge_that_is_waited_for_is_not_sent_after_the_kill_switch (void **state)
{
    (void)state;
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;
    struct tied_policy own;
    uint32_t first;

    world_open (&world, 2, NULL);
    own = free_policy ();
    CHECK_I64 (tied_client_set_policy (world.client, "*", &own), ==, 0);
    call.hedge_ns = MS (20);
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    CHECK_I64 (tied_client_set_off (world.client, true), ==, 0);
    WORLD_UNTIL (&world, requests (&world) == 1);
    WORLD_UNTIL (&world,
                 method_of (world.client, "work").counters.not_sent[TIED_NOT_SENT_OFF] == 1);
    world_flush (&world);
    CHECK_U64 (requests (&world), ==, 1);
    first = world.replicas[0]->requests ? 0 : 1;
    fake_reply (world.replicas[first], fake_request (world.replicas[first], 0), 0, "x", 1);
    CHECK_I64 (tied_client_wait (world.client, id, CHECK_PATIENCE, &reply), ==, 0);
    CHECK_U64 (reply.details.hedge_not_sent, ==, TIED_NOT_SENT_OFF);
    tied_reply_release (&reply);
    world_close (&world);
}

/* Both copies of each tie run here, which a governor would stop after the fiftieth. */
static void a_canary_lets_a_share_of_the_calls_have_extra_copies (void **state)
{
    (void)state;
    struct world world;
    struct tied_call call = tied_at_once ();
    struct file file =
        make_file ("methods: {work: {canary: 10%, extra_load: 100%, governor: off}}");
    uint32_t tied = 0;
    struct tied_client_method method;

    open_echoing (&world);
    load (world.client, &file);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t not_sent = call_once (&world, &call);
        if (not_sent != TIED_NOT_SENT_NONE)
            CHECK_U64 (not_sent, ==, TIED_NOT_SENT_CANARY);
        tied += not_sent == TIED_NOT_SENT_NONE;
    }
    world_flush (&world);
    method = method_of (world.client, "work");
    /* Binomial: 40, five standard deviations are 30. */
    CHECK_U64 (tied, >=, 10);
    CHECK_U64 (tied, <=, 70);
    CHECK_U64 (requests (&world), ==, CALLS + tied);
    CHECK_U64 (method.counters.eligible, ==, tied);
    CHECK_U64 (method.counters.not_sent[TIED_NOT_SENT_CANARY], ==, CALLS - tied);

    write_file (&file, "methods: {work: {canary: 0%, governor: off}}");
    load (world.client, &file);
    for (uint32_t i = 0; i < 20; i++)
        CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_CANARY);
    world_close (&world);
    unlink (file.path);
}

static void in_shadow_ties_are_counted_and_nothing_extra_is_sent (void **state)
{
    (void)state;
    struct world world;
    struct tied_call call = tied_at_once ();
    struct file file = make_file ("methods: {work: {shadow: true, governor: off}}");
    struct tied_client_method method;

    open_echoing (&world);
    load (world.client, &file);
    for (uint32_t i = 0; i < 50; i++)
        CHECK_U64 (call_once (&world, &call), ==, TIED_NOT_SENT_SHADOW);
    world_flush (&world);
    method = method_of (world.client, "work");
    CHECK_U64 (requests (&world), ==, 50);
    CHECK_U64 (method.counters.shadow_tied, ==, 50);
    CHECK_U64 (method.counters.tied, ==, 0);
    CHECK_U64 (method.counters.extra_copies, ==, 0);
    world_close (&world);
    unlink (file.path);
}

/* At the replica that has it. */
static void answer (struct world *world, struct tied_call_id id)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct fake_replica *replica = world->replicas[i];
        struct fake_seen *last =
            replica->requests ? fake_request (replica, replica->requests - 1) : NULL;
        if (last && ti_call_id_equal (last->call, id))
            fake_reply (replica, last, 0, "x", 1);
    }
}

/* Most calls are answered at once, a tenth after the hedge would have gone. */
static void in_shadow_hedges_are_counted_with_what_they_would_have_saved (void **state)
{
    (void)state;
    struct world world;
    struct tied_call call = world_call (TIED_MODE_POLICY, true);
    struct file file =
        make_file ("methods:\n  work: {mode: single, hedge: 3ms, shadow: true,\n"
                   "    extra_load: 100%, governor: off, min_samples: 1, target: p99}\n");
    struct tied_client_method method;

    world_open (&world, 2, NULL);
    load (world.client, &file);
    for (uint32_t i = 0; i < 200; i++) {
        struct tied_call_id id;
        struct tied_reply reply;
        const uint64_t shadowed = method_of (world.client, "work").counters.shadow_hedged;
        const uint32_t before = requests (&world);

        CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
        WORLD_UNTIL (&world, requests (&world) == before + 1);
        if (i % 10 == 9) {
            const tied_time_t until = ti_clock_now () + MS (10);
            WORLD_UNTIL (&world, ti_clock_now () >= until);
            WORLD_UNTIL (&world,
                         method_of (world.client, "work").counters.shadow_hedged == shadowed + 1);
        }
        answer (&world, id);
        WORLD_UNTIL (&world, tied_client_wait (world.client, id, 0, &reply) == 0);
        CHECK_U64 (reply.details.copies_sent, ==, 1);
        tied_reply_release (&reply);
    }
    world_flush (&world);
    method = method_of (world.client, "work");
    CHECK_U64 (requests (&world), ==, 200);
    CHECK_U64 (method.counters.shadow_hedged, >=, 20);
    CHECK_U64 (method.counters.shadow_saved_us, >, 0);
    CHECK_U64 (method.counters.shadow_won, >, 0);
    CHECK_U64 (method.counters.shadow_won, <=, method.counters.shadow_hedged);
    CHECK_U64 (method.counters.hedged, ==, 0);
    CHECK_U64 (method.counters.not_sent[TIED_NOT_SENT_SHADOW], ==, method.counters.shadow_hedged);
    world_close (&world);
    unlink (file.path);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_file_gives_methods_their_settings_and_takes_them_away),
        cmocka_unit_test (a_broken_file_keeps_the_old_settings),
        cmocka_unit_test (a_file_with_too_many_names_changes_nothing),
        cmocka_unit_test (names_that_were_never_used_make_room_for_others),
        cmocka_unit_test (the_kill_switch_reaches_every_method_at_once),
        cmocka_unit_test (off_of_a_method_survives_the_kill_switch),
        cmocka_unit_test (a_hedge_that_is_waited_for_is_not_sent_after_the_kill_switch),
        cmocka_unit_test (a_canary_lets_a_share_of_the_calls_have_extra_copies),
        cmocka_unit_test (in_shadow_ties_are_counted_and_nothing_extra_is_sent),
        cmocka_unit_test (in_shadow_hedges_are_counted_with_what_they_would_have_saved),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
