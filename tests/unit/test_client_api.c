/* SPDX-License-Identifier: MIT */
/* Arguments of the client's functions: what is out of range is named and has no effect. */
#include "client_world.h"

#include <string.h>

#include "base/util.h"

static tied_client_t *make_client (void)
{
    struct tied_client_options options;
    tied_client_t *client;

    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    options.core.replicas_max = 2;
    client = tied_client_new (&options);
    CHECK_PTR (client, !=, NULL);
    return client;
}

static void check_names_field (struct tied_client_options options, const char *expected)
{
    const char *field = NULL;

    CHECK_I64 (tied_client_options_check (&options, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, expected);
    CHECK_PTR (tied_client_new (&options), ==, NULL);
}

#define BAD(member, value)                                                                         \
    do {                                                                                           \
        struct tied_client_options bad_;                                                           \
        tied_client_options_init (&bad_);                                                          \
        bad_.member = (value);                                                                     \
        check_names_field (bad_, #member);                                                         \
    } while (0)

static void each_bad_option_is_named (void **state)
{
    static const char too_long[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; /* 65 */
    struct tied_client_options options;
    const char *field = "unchanged";

    (void)state;
    tied_client_options_init (&options);
    CHECK_I64 (tied_client_options_check (&options, &field), ==, 0);
    CHECK_STR (field, "unchanged");
    BAD (struct_size, 0);
    BAD (struct_size, sizeof (struct tied_client_options) + 8);
    BAD (name, NULL);
    BAD (name, "");
    BAD (name, too_long);
    BAD (drive, 2);
    BAD (body_max, (64u << 20) + 1);
    BAD (inline_max, (64u << 10) + 1);
    BAD (timeout_ns, 999);
    options.core.calls_max = 0;
    check_names_field (options, "calls_max");
    CHECK_I64 (tied_client_options_check (NULL, &field), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_options_check (NULL, NULL), ==, TIED_ERR_INVAL);
    CHECK_PTR (tied_client_new (NULL), ==, NULL);
}

static void the_largest_and_smallest_options_are_taken (void **state)
{
    struct tied_client_options options;
    tied_client_t *client;

    (void)state;
    tied_client_options_init (&options);
    options.drive = TIED_DRIVE_CALLER;
    options.body_max = 0;
    options.inline_max = 0;
    options.timeout_ns = TIED_US (1);
    options.name = "x";
    options.core.calls_max = 1;
    client = tied_client_new (&options);
    CHECK_PTR (client, !=, NULL);
    tied_client_destroy (&client);
    options.body_max = 64u << 20;
    options.inline_max = 64u << 10;
    options.timeout_ns = TIED_NEVER;
    options.name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; /* 64 */
    options.core.calls_max = 1u << 16;
    client = tied_client_new (&options);
    CHECK_PTR (client, !=, NULL);
    tied_client_destroy (&client);
}

static void replicas_are_checked_when_they_are_added (void **state)
{
    tied_client_t *client = make_client ();

    (void)state;
    CHECK_I64 (tied_client_add_replica (NULL, "a", "tcp://127.0.0.1:1"), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_add_replica (client, NULL, "tcp://127.0.0.1:1"), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_add_replica (client, "", "tcp://127.0.0.1:1"), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_add_replica (client, "a b", "tcp://127.0.0.1:1"), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_add_replica (client, "a", NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_add_replica (client, "a", ""), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_add_replica (client, "a", "nonsense"), ==, TIED_ERR_ENDPOINT);
    CHECK_I64 (tied_client_add_replica (client, "a", "tcp://127.0.0.1:1"), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "a", "tcp://127.0.0.1:2"), ==, TIED_ERR_EXISTS);
    CHECK_I64 (tied_client_add_replica (client, "b", "tcp://127.0.0.1:2"), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "c", "tcp://127.0.0.1:3"), ==, TIED_ERR_FULL);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_add_replica (client, "d", "tcp://127.0.0.1:3"), ==, TIED_ERR_STATE);
    tied_client_destroy (&client);
}

static void null_arguments_are_refused_by_every_function (void **state)
{
    tied_client_t *client = make_client ();
    tied_client_t *none = NULL;
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_call_id id = {0, 0};
    struct tied_reply reply;
    struct tied_client_stats stats = {.struct_size = 0};
    struct tied_client_replica replica;

    (void)state;
    CHECK_I64 (tied_client_start (NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_wait_ready (NULL, 0, 0), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_wait_ready (client, 1, 0), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_call (NULL, &call, &reply), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_call (client, NULL, &reply), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_call (client, &call, NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_submit (NULL, &call, &id), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_submit (client, NULL, &id), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_wait (NULL, id, 0, &reply), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_wait (client, id, 0, NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_wait (client, id, 0, &reply), ==, TIED_ERR_ABSENT);
    CHECK_I64 (tied_client_next (NULL, 0, &reply), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_next (client, 0, NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_fd (NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_poll (NULL, 0), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_cancel (NULL, id), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_cancel (client, id), ==, TIED_ERR_ABSENT);
    CHECK_I64 (tied_client_stop (NULL, 0), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_stats (NULL, &stats), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_stats (client, NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_stats (client, &stats), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_replica (NULL, "a", &replica), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_replica (client, NULL, &replica), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_replica (client, "a", NULL), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_replica (client, "a", &replica), ==, TIED_ERR_ABSENT);
    tied_reply_release (NULL);
    tied_client_destroy (NULL);
    tied_client_destroy (&none);
    tied_client_destroy (&client);
    CHECK_PTR (client, ==, NULL);
}

static void check_call_refused (struct world *world, struct tied_call call)
{
    struct tied_call_id id = {7, 7};
    struct tied_reply reply = {.body_size = 99};

    CHECK_I64 (tied_client_submit (world->client, &call, &id), ==, TIED_ERR_INVAL);
    CHECK_I64 (tied_client_call (world->client, &call, &reply), ==, TIED_ERR_INVAL);
    CHECK_U64 (id.sequence, ==, 7);
    CHECK_U64 (reply.body_size, ==, 99);
}

#define BAD_CALL(member, value)                                                                    \
    do {                                                                                           \
        struct tied_call bad_ = world_call (TIED_MODE_TIED, true);                                 \
        bad_.member = (value);                                                                     \
        check_call_refused (&world, bad_);                                                         \
    } while (0)

static void a_bad_call_is_refused_and_nothing_is_sent (void **state)
{
    static const char text65[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct world world;

    (void)state;
    world_open (&world, 1, NULL);
    BAD_CALL (struct_size, 0);
    BAD_CALL (method, NULL);
    BAD_CALL (method, "");
    BAD_CALL (method, text65);
    BAD_CALL (body, NULL);
    BAD_CALL (mode, 4);
    BAD_CALL (hedge_ns, S (3600) + 1);
    BAD_CALL (stagger_ns, S (3600) + 1);
    BAD_CALL (traceparent, text65);
    world_flush (&world);
    CHECK_U64 (world.replicas[0]->requests, ==, 0);
    CHECK_U64 (world_stats (&world).core.submitted, ==, 0);
    CHECK_U64 (world_stats (&world).live_calls, ==, 0);
    world_close (&world);
}

static void functions_in_the_wrong_state_say_so (void **state)
{
    tied_client_t *client = make_client ();
    struct tied_call call = world_call (TIED_MODE_TIED, true);
    struct tied_reply reply;

    (void)state;
    CHECK_I64 (tied_client_submit (client, &call, NULL), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_call (client, &call, &reply), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_next (client, 0, &reply), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_poll (client, 0), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_wait_ready (client, 0, 0), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_start (client), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_stop (client, 0), ==, 0);
    CHECK_I64 (tied_client_stop (client, 0), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_submit (client, &call, NULL), ==, TIED_ERR_STATE);
    CHECK_I64 (tied_client_poll (client, 0), ==, TIED_ERR_STATE);
    tied_client_destroy (&client);

    client = make_client ();
    CHECK_I64 (tied_client_stop (client, 0), ==, 0);
    CHECK_I64 (tied_client_start (client), ==, TIED_ERR_STATE);
    tied_client_destroy (&client);
}

static struct fake_seen *request_of (struct fake_replica *replica, struct tied_call_id id)
{
    for (uint32_t i = 0; i < replica->seen_count; i++) {
        if (replica->seen[i].type == TIED_WIRE_REQUEST &&
            ti_call_id_equal (replica->seen[i].call, id))
            return &replica->seen[i];
    }
    return NULL;
}

/* CK-02: times at the edges of their type end the call at once, or are no deadline. */
static void CK_02_extreme_timeouts_neither_wrap_nor_spin (void **state)
{
    struct world world;
    struct tied_call call = world_call (TIED_MODE_SINGLE, true);
    struct tied_call_id id;
    struct tied_reply reply;

    (void)state;
    world_open (&world, 1, NULL);
    call.timeout_ns = 1;
    CHECK_I64 (tied_client_call (world.client, &call, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_DEADLINE);
    tied_reply_release (&reply);
    call.timeout_ns = TIED_NEVER;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    call.timeout_ns = TIED_NEVER - 1;
    CHECK_I64 (tied_client_submit (world.client, &call, &id), ==, 0);
    WORLD_UNTIL (&world, request_of (world.replicas[0], id) != NULL);
    fake_reply (world.replicas[0], request_of (world.replicas[0], id), 0, NULL, 0);
    CHECK_I64 (tied_client_wait (world.client, id, TIED_NEVER - 1, &reply), ==, 0);
    CHECK_U64 (reply.details.outcome, ==, TIED_OUTCOME_OK);
    tied_reply_release (&reply);
    world_close (&world);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (each_bad_option_is_named),
        cmocka_unit_test (the_largest_and_smallest_options_are_taken),
        cmocka_unit_test (replicas_are_checked_when_they_are_added),
        cmocka_unit_test (null_arguments_are_refused_by_every_function),
        cmocka_unit_test (a_bad_call_is_refused_and_nothing_is_sent),
        cmocka_unit_test (functions_in_the_wrong_state_say_so),
        cmocka_unit_test (CK_02_extreme_timeouts_neither_wrap_nor_spin),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
