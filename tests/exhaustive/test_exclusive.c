/* SPDX-License-Identifier: MIT */
/*
 * An exclusive call at two replicas, in every order of events under the network of duel.h: it never
 * runs twice. And mistakes planted on purpose, with which it does, within a few steps.
 */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

#include <tied/wire.h>

#include "duel.h"

#define EXCLUSIVE (TIED_REQUEST_TIED | TIED_REQUEST_EXCLUSIVE)

static struct duel_config make (const char *name)
{
    struct duel_config config = {.name = name,
                                 .flags = EXCLUSIVE,
                                 .remaining = TIED_NEVER,
                                 .memory = S (3600),
                                 .lease = S (2),
                                 .executions_max = 1};
    return config;
}

static void print_result (const struct duel_config *config, const struct duel_result *result)
{
    print_message ("%s: %" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64 " ends, depth %u\n",
                   config->name, result->states, result->transitions, result->ends, result->depth);
}

/* No rule is broken, and all of these marks were reached. */
static struct duel_result explore (const struct duel_config *config, uint32_t marks)
{
    struct duel_result result;

    duel_explore (config, &result, true);
    print_result (config, &result);
    CHECK_STR (result.violation, "");
    CHECK_TRUE (result.is_complete);
    CHECK_U64 (result.marks & marks, ==, marks);
    return result;
}

/* The ends are those states that nothing changes any more, however often all is delivered. */
static void without_faults_an_exclusive_call_runs_exactly_once (void **state)
{
    struct duel_config config = make ("exclusive, calm");
    (void)state;
    const struct duel_result result =
        explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT | DUEL_MARK_GRANTED |
                              DUEL_MARK_GRANTED_UNSEEN | DUEL_MARK_DENIED | DUEL_MARK_DROPPED |
                              DUEL_MARK_TOMBSTONED);
    CHECK_U64 (result.ends, >, 0);
    CHECK_U64 (result.fewest_at_end, ==, 1);
}

static void refusals_hand_the_right_on_and_never_double_it (void **state)
{
    struct duel_config config = make ("exclusive, refusals");
    (void)state;
    config.refuses = true;
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT |
                                DUEL_MARK_RAN_AGAIN | DUEL_MARK_GRANTED | DUEL_MARK_DENIED);
}

static void a_restart_of_each_side_never_makes_two (void **state)
{
    struct duel_config config = make ("exclusive, a restart of each");
    (void)state;
    config.restarts = 1;
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT | DUEL_MARK_DENIED |
                                DUEL_MARK_STALE);
}

static void refusals_and_restarts_together_never_make_two (void **state)
{
    struct duel_config config = make ("exclusive, refusals, a restart of each, giving up");
    (void)state;
    config.restarts = 1;
    config.refuses = true;
    config.gives_up = check_scale (100) >= 100;
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT |
                                DUEL_MARK_RAN_AGAIN | DUEL_MARK_STALE);
}

/* Claims are repeated, copies expire, and what was done is forgotten meanwhile. */
static void time_that_passes_never_makes_two (void **state)
{
    struct duel_config config = make ("exclusive, time and refusals");
    (void)state;
    config.refuses = true;
    config.ticks = 3;
    config.remaining = MS (30);
    config.memory = MS (5);
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT | DUEL_MARK_EXPIRED |
                                DUEL_MARK_STALE | DUEL_MARK_DENIED);
}

/* What was said long ago proves nothing about now: the owner may have run its copy and forgotten it
   since. */
static void a_claim_that_comes_late_never_makes_two (void **state)
{
    struct duel_config config = make ("exclusive, claims that come late");
    (void)state;
    config.ticks = 3;
    config.memory = MS (300);
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT |
                                DUEL_MARK_GRANTED_UNSEEN | DUEL_MARK_DENIED);
    config.name = "the same with a deadline";
    config.remaining = MS (500);
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT |
                                DUEL_MARK_GRANTED_UNSEEN | DUEL_MARK_DENIED);
}

/* Longer than a search goes: repeated claims, several restarts, memories that are too short. */
static void a_hundred_thousand_calls_run_at_most_once_each (void **state)
{
    struct duel_config config = make ("exclusive, at random");
    struct duel_result result;
    (void)state;
    config.restarts = 3;
    config.refuses = true;
    config.gives_up = true;
    config.ticks = 12;
    config.remaining = MS (60);
    config.memory = MS (5);
    duel_wander (&config, 1, check_scale (100000), 60, &result);
    print_result (&config, &result);
    CHECK_STR (result.violation, "");
    CHECK_TRUE (result.is_complete);
    CHECK_U64 (result.marks & (DUEL_MARK_RAN_AGAIN | DUEL_MARK_GRANTED_UNSEEN | DUEL_MARK_STALE),
               ==, DUEL_MARK_RAN_AGAIN | DUEL_MARK_GRANTED_UNSEEN | DUEL_MARK_STALE);
    CHECK_U64 (result.ends, >, result.states / 3);
    config.mutations = DUEL_NO_INCARNATION;
    duel_wander (&config, 1, 10000, 60, &result);
    CHECK_TRUE (strstr (result.violation, "2 executions") != NULL);
}

/* ---- planted mistakes ---- */

static void expect_two (struct duel_config *config, uint32_t mutation, uint32_t most_steps)
{
    struct duel_result result;

    config->mutations = mutation;
    duel_explore (config, &result, false);
    print_result (config, &result);
    print_message ("  found after %u steps: %s\n", result.steps, result.violation);
    CHECK_STR (result.violation, "2 executions");
    CHECK_U64 (result.steps, <=, most_steps);
}

static void taking_what_was_meant_for_another_instance_is_found (void **state)
{
    struct duel_config config = make ("mutation: no incarnation check");
    (void)state;
    config.restarts = 1;
    expect_two (&config, DUEL_NO_INCARNATION, 6);
}

static void forgetting_a_refusal_is_found (void **state)
{
    struct duel_config config = make ("mutation: refusal forgotten");
    (void)state;
    config.refuses = true;
    expect_two (&config, DUEL_FORGET_REFUSAL, 6);
}

static void not_knowing_what_was_forgotten_is_found (void **state)
{
    struct duel_config config = make ("mutation: forgetting forgotten");
    (void)state;
    config.ticks = 2;
    config.memory = MS (5);
    config.remaining = MS (30);
    expect_two (&config, DUEL_FORGET_FORGETTING, 8);
}

/* The search itself: two copies that are merely tied do run twice. */
static void a_tied_call_runs_twice_within_four_steps (void **state)
{
    struct duel_config config = make ("tied");
    (void)state;
    config.flags = TIED_REQUEST_TIED;
    expect_two (&config, 0, 4);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_faults_an_exclusive_call_runs_exactly_once),
        cmocka_unit_test (refusals_hand_the_right_on_and_never_double_it),
        cmocka_unit_test (a_restart_of_each_side_never_makes_two),
        cmocka_unit_test (refusals_and_restarts_together_never_make_two),
        cmocka_unit_test (time_that_passes_never_makes_two),
        cmocka_unit_test (a_claim_that_comes_late_never_makes_two),
        cmocka_unit_test (a_hundred_thousand_calls_run_at_most_once_each),
        cmocka_unit_test (taking_what_was_meant_for_another_instance_is_found),
        cmocka_unit_test (forgetting_a_refusal_is_found),
        cmocka_unit_test (not_knowing_what_was_forgotten_is_found),
        cmocka_unit_test (a_tied_call_runs_twice_within_four_steps),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
