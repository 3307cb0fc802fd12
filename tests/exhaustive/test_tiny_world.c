/* SPDX-License-Identifier: MIT */
/*
 * One tied call in the smallest world that has a race, in every order of events within the bounds
 * of tiny.h; and driver mistakes planted on purpose, which the same exploration must find.
 */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

#include "tiny.h"

#define STAGGER  MS (1)
#define DEADLINE MS (20)
#define HEDGE    MS (3)

static struct tiny_config config_make (const char *name)
{
    struct tiny_config config = {0};

    config.name = name;
    config.mode = TIED_MODE_TIED;
    config.stagger_ns = STAGGER;
    config.deadline_ns = TIED_NEVER;
    return config;
}

static void print_result (const struct tiny_config *config, const struct tiny_result *result)
{
    print_message ("%s: %" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64 " ends, depth %u\n",
                   config->name, result->states, result->transitions, result->ends, result->depth);
}

/* Every state is sound, and each of the listed marks was reached. */
static void explore (const struct tiny_config *config, const enum ledger_mark *marks, size_t count)
{
    struct tiny_result result;

    tiny_explore (config, &result, true);
    print_result (config, &result);
    CHECK_STR (result.violation, "");
    CHECK_TRUE (result.is_complete);
    CHECK_U64 (result.ends, >, 0);
    for (size_t i = 0; i < count; i++) {
        if (result.marks[marks[i]] == 0)
            print_error ("%s never reached: %s\n", config->name, ledger_mark_text (marks[i]));
        CHECK_U64 (result.marks[marks[i]], >, 0);
    }
}

/* The sanitizer runs leave the large explorations to the fast build. */
static bool is_full_scale (void)
{
    return check_scale (100) >= 100;
}

#define EXPLORE(config, ...)                                                                       \
    do {                                                                                           \
        const enum ledger_mark marks_[] = {__VA_ARGS__};                                           \
        explore (&(config), marks_, sizeof marks_ / sizeof marks_[0]);                             \
    } while (0)

static void without_faults_every_order_ends_ok (void **state)
{
    struct tiny_config config = config_make ("calm, stagger");
    (void)state;
    EXPLORE (config, LEDGER_MARK_DROPPED, LEDGER_MARK_CANCEL_BEFORE_COPY, LEDGER_MARK_BOTH_STARTED,
             LEDGER_MARK_LATE_REPLY, LEDGER_MARK_CANCEL_RUNNING);
    config.name = "calm, no stagger";
    config.stagger_ns = 0;
    EXPLORE (config, LEDGER_MARK_DROPPED, LEDGER_MARK_CANCEL_BEFORE_COPY, LEDGER_MARK_BOTH_STARTED,
             LEDGER_MARK_LATE_REPLY);
    config.name = "calm, single";
    config.mode = TIED_MODE_SINGLE;
    explore (&config, NULL, 0);
}

static void with_a_deadline_every_order_ends_by_it (void **state)
{
    struct tiny_config config = config_make ("deadline");
    (void)state;
    config.deadline_ns = DEADLINE;
    config.give_ups = 1;
    EXPLORE (config, LEDGER_MARK_DEADLINE, LEDGER_MARK_BOTH_STARTED, LEDGER_MARK_CANCEL_RUNNING,
             LEDGER_MARK_GIVEN_UP, LEDGER_MARK_LATE_REPLY);
}

static void refusals_untie_and_end_in_a_last_copy (void **state)
{
    struct tiny_config config = config_make ("full queues");
    (void)state;
    config.occupants = 2;
    EXPLORE (config, LEDGER_MARK_UNTIED, LEDGER_MARK_LAST_COPY, LEDGER_MARK_LAST_COPY_RAN,
             LEDGER_MARK_REFUSED, LEDGER_MARK_BOTH_STARTED, LEDGER_MARK_CANCEL_BEFORE_COPY);
}

static void two_losses_and_a_repeat_break_nothing (void **state)
{
    struct tiny_config config = config_make ("loss and repeat, no stagger");
    (void)state;
    config.deadline_ns = DEADLINE;
    config.losses = 2;
    config.repeats = 1;
    config.stagger_ns = 0;
    EXPLORE (config, LEDGER_MARK_BOTH_STARTED, LEDGER_MARK_CANCEL_BEFORE_COPY, LEDGER_MARK_REPEATED,
             LEDGER_MARK_DEADLINE);
    if (!is_full_scale ())
        return;
    config.name = "loss and repeat, stagger";
    config.stagger_ns = STAGGER;
    EXPLORE (config, LEDGER_MARK_BOTH_STARTED, LEDGER_MARK_CANCEL_BEFORE_COPY, LEDGER_MARK_REPEATED,
             LEDGER_MARK_DEADLINE);
}

static void a_crash_and_restart_never_cost_the_call (void **state)
{
    struct tiny_config config = config_make ("crash and restart");
    (void)state;
    config.crashes = 1;
    config.restarts = 1;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_MERGED, LEDGER_MARK_REISSUE_PASSED,
             LEDGER_MARK_LATE_REPLY, LEDGER_MARK_BOTH_STARTED);
}

/* Where a re-issue is refused, the tied copy that it should have met was dropped: a client that
 * went on waiting for that one would wait for ever. */
static void a_refused_reissue_does_not_leave_the_call_waiting (void **state)
{
    struct tiny_config config = config_make ("crash, full queue");
    (void)state;
    config.crashes = 1;
    config.occupants = 1;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_MERGED, LEDGER_MARK_REISSUE_PASSED,
             LEDGER_MARK_UNTIED, LEDGER_MARK_LAST_COPY_RAN);
    if (!is_full_scale ())
        return;
    config.name = "crash, restart, full queue";
    config.restarts = 1;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_UNTIED);
}

static void a_crash_with_loss_ends_by_the_deadline (void **state)
{
    struct tiny_config config = config_make ("crash, two losses, deadline");
    (void)state;
    config.deadline_ns = DEADLINE;
    config.crashes = 1;
    config.losses = 2;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_MERGED, LEDGER_MARK_REISSUE_PASSED,
             LEDGER_MARK_DEADLINE);
    if (!is_full_scale ())
        return;
    config.name = "crash, restart, loss, deadline";
    config.restarts = 1;
    config.losses = 1;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_DEADLINE, LEDGER_MARK_EXPIRED);
}

static void giving_up_around_a_crash_is_harmless (void **state)
{
    struct tiny_config config = config_make ("crash, giving up");
    (void)state;
    config.crashes = 1;
    config.give_ups = 1;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_GIVEN_UP, LEDGER_MARK_CANCEL_QUEUED,
             LEDGER_MARK_CANCEL_RUNNING);
}

static void a_copy_for_an_earlier_incarnation_is_refused (void **state)
{
    struct tiny_config config = config_make ("restart behind a proxy, full queue");
    (void)state;
    config.silent_restarts = 1;
    config.occupants = 1;
    EXPLORE (config, LEDGER_MARK_STALE, LEDGER_MARK_UNTIED);
}

/* ---- hedges: a copy at the other replica after a while, tied to nothing ---- */

static void a_hedge_and_its_call_end_in_every_order (void **state)
{
    struct tiny_config config = config_make ("hedge, calm");
    (void)state;
    config.mode = TIED_MODE_SINGLE;
    config.hedge_ns = HEDGE;
    EXPLORE (config, LEDGER_MARK_HEDGED, LEDGER_MARK_HEDGE_WON, LEDGER_MARK_LATE_REPLY,
             LEDGER_MARK_CANCEL_RUNNING, LEDGER_MARK_CANCEL_QUEUED);
    config.name = "hedge at once, deadline, giving up";
    config.hedge_ns = TIED_HEDGE_NOW;
    config.deadline_ns = DEADLINE;
    config.give_ups = 1;
    EXPLORE (config, LEDGER_MARK_HEDGED, LEDGER_MARK_HEDGE_WON, LEDGER_MARK_DEADLINE,
             LEDGER_MARK_GIVEN_UP);
}

static void CL_11_CL_25_refused_hedges_and_refused_first_copies_cost_no_call (void **state)
{
    struct tiny_config config = config_make ("hedge, full queues");
    (void)state;
    config.mode = TIED_MODE_SINGLE;
    config.hedge_ns = HEDGE;
    config.occupants = 2;
    EXPLORE (config, LEDGER_MARK_HEDGED, LEDGER_MARK_HEDGE_REFUSED, LEDGER_MARK_HEDGE_WON,
             LEDGER_MARK_LAST_COPY_RAN, LEDGER_MARK_REFUSED);
}

static void crashes_and_losses_around_a_hedge_cost_no_call (void **state)
{
    struct tiny_config config = config_make ("hedge, crash and restart");
    (void)state;
    config.mode = TIED_MODE_SINGLE;
    config.hedge_ns = HEDGE;
    config.crashes = 1;
    config.restarts = 1;
    EXPLORE (config, LEDGER_MARK_HEDGED, LEDGER_MARK_HEDGE_WON, LEDGER_MARK_LATE_REPLY);
    if (!is_full_scale ())
        return;
    config.name = "hedge, crash, restart, loss, deadline";
    config.deadline_ns = DEADLINE;
    config.losses = 1;
    EXPLORE (config, LEDGER_MARK_HEDGED, LEDGER_MARK_HEDGE_WON, LEDGER_MARK_DEADLINE);
}

/* Where one of the pair was refused, its replica is free for the hedge. */
/* Both of the pair hold the call, or one of them: the hedge finds out by asking. A deadline soon
 * after it, and no restart: with more time or faults there are too many orders to see them all. */
static void a_tied_call_with_a_hedge_ends_in_every_order (void **state)
{
    struct tiny_config config = config_make ("tied and hedged");
    (void)state;
    config.hedge_ns = HEDGE;
    config.deadline_ns = HEDGE + MS (1);
    EXPLORE (config, LEDGER_MARK_HEDGED, LEDGER_MARK_HEDGE_REFUSED, LEDGER_MARK_HEDGE_WON,
             LEDGER_MARK_BOTH_STARTED);
    config.name = "tied and hedged, crash";
    config.stagger_ns = 0;
    config.crashes = 1;
    EXPLORE (config, LEDGER_MARK_STARTER_CRASHED, LEDGER_MARK_MERGED, LEDGER_MARK_REISSUE_PASSED);
}

/* ---- planted mistakes ---- */

static void expect_violation (struct tiny_config *config,
                              uint32_t mutation,
                              const char *text,
                              bool is_found_without)
{
    struct tiny_result result;

    config->mutations = 0;
    tiny_explore (config, &result, true);
    CHECK_STR (result.violation, "");
    CHECK_TRUE (result.is_complete == is_found_without);
    config->mutations = mutation;
    tiny_explore (config, &result, false);
    print_result (config, &result);
    print_message ("  found after %u steps: %s\n", result.path_length, result.violation);
    CHECK_TRUE (strstr (result.violation, text) != NULL);
}

static void killing_a_running_copy_on_a_peers_word_is_found (void **state)
{
    struct tiny_config config = config_make ("mutation: kill running");
    (void)state;
    config.stagger_ns = 0;
    expect_violation (&config, NODE_KILL_RUNNING, "a call never ended", true);
}

static void throwing_early_cancels_away_is_found (void **state)
{
    struct tiny_config config = config_make ("mutation: no tombstones");
    (void)state;
    expect_violation (&config, NODE_SKIP_TOMBSTONE, "told that its sibling had", true);
}

static void not_telling_the_client_of_a_broken_link_is_found (void **state)
{
    struct tiny_config config = config_make ("mutation: link down ignored");
    (void)state;
    config.crashes = 1;
    expect_violation (&config, NODE_IGNORE_LINK_DOWN, "a call never ended", true);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_faults_every_order_ends_ok),
        cmocka_unit_test (with_a_deadline_every_order_ends_by_it),
        cmocka_unit_test (refusals_untie_and_end_in_a_last_copy),
        cmocka_unit_test (two_losses_and_a_repeat_break_nothing),
        cmocka_unit_test (a_crash_and_restart_never_cost_the_call),
        cmocka_unit_test (a_refused_reissue_does_not_leave_the_call_waiting),
        cmocka_unit_test (a_crash_with_loss_ends_by_the_deadline),
        cmocka_unit_test (giving_up_around_a_crash_is_harmless),
        cmocka_unit_test (a_copy_for_an_earlier_incarnation_is_refused),
        cmocka_unit_test (a_hedge_and_its_call_end_in_every_order),
        cmocka_unit_test (CL_11_CL_25_refused_hedges_and_refused_first_copies_cost_no_call),
        cmocka_unit_test (crashes_and_losses_around_a_hedge_cost_no_call),
        cmocka_unit_test (a_tied_call_with_a_hedge_ends_in_every_order),
        cmocka_unit_test (killing_a_running_copy_on_a_peers_word_is_found),
        cmocka_unit_test (throwing_early_cancels_away_is_found),
        cmocka_unit_test (not_telling_the_client_of_a_broken_link_is_found),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
