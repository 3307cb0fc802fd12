/* SPDX-License-Identifier: MIT */
/*
 * A parked call at two replicas, in every order of events under the network of duel.h, without any
 * help of the client: as long as one of the replicas keeps its memory, the call runs to its end.
 */
#include "check.h"

#include <inttypes.h>

#include <tied/wire.h>

#include "duel.h"

static struct duel_config make (const char *name)
{
    struct duel_config config = {.name = name,
                                 .flags = TIED_REQUEST_TIED | TIED_REQUEST_PARK,
                                 .remaining = TIED_NEVER,
                                 .memory = S (3600),
                                 .lease = MS (50),
                                 .executions_max = 4,
                                 .finished_least = 1};
    return config;
}

static struct duel_result explore (const struct duel_config *config, uint32_t marks)
{
    struct duel_result result;

    duel_explore (config, &result, true);
    print_message ("%s: %" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64 " ends, depth %u\n",
                   config->name, result.states, result.transitions, result.ends, result.depth);
    CHECK_STR (result.violation, "");
    CHECK_TRUE (result.is_complete);
    CHECK_U64 (result.ends, >, 0);
    CHECK_U64 (result.marks & marks, ==, marks);
    return result;
}

static void without_faults_the_call_runs_to_its_end (void **state)
{
    struct duel_config config = make ("park, calm");
    (void)state;
    config.ticks = 3;
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT | DUEL_MARK_PARKED |
                                DUEL_MARK_DONE | DUEL_MARK_REVIVED);
}

/* Whichever replica is lost, and whenever: the other one's copy is there, or has run. */
static void RQ_20_a_lost_starter_leaves_a_copy_that_runs (void **state)
{
    struct duel_config config = make ("park, a restart of either");
    (void)state;
    config.restarts = 1;
    config.restarts_total = 1;
    config.ticks = 3;
    (void)explore (&config, DUEL_MARK_RAN_AT_OWNER | DUEL_MARK_RAN_AT_CLAIMANT | DUEL_MARK_PARKED |
                                DUEL_MARK_DONE | DUEL_MARK_REVIVED | DUEL_MARK_STALE);
}

static void refusals_cost_no_call_while_one_copy_is_taken (void **state)
{
    struct duel_config config = make ("park, refusals");
    (void)state;
    config.refuses = true;
    config.ticks = 3;
    config.finished_least = 0; /* both may be refused */
    (void)explore (&config, DUEL_MARK_PARKED | DUEL_MARK_DONE | DUEL_MARK_REVIVED);
}

/* The search finds what park is for: in mode tied the same loss costs the call. */
static void a_tied_call_is_lost_with_its_starter (void **state)
{
    struct duel_config config = make ("tied, a restart of either");
    struct duel_result result;
    (void)state;
    config.flags = TIED_REQUEST_TIED;
    config.restarts = 1;
    config.restarts_total = 1;
    duel_explore (&config, &result, false);
    CHECK_STR (result.violation, "ends with 0 executions");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_faults_the_call_runs_to_its_end),
        cmocka_unit_test (RQ_20_a_lost_starter_leaves_a_copy_that_runs),
        cmocka_unit_test (refusals_cost_no_call_while_one_copy_is_taken),
        cmocka_unit_test (a_tied_call_is_lost_with_its_starter),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
