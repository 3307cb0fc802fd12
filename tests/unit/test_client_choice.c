/* SPDX-License-Identifier: MIT */
/*
 * Choice of replicas as a client core makes it: zones, keys, instances with two names, and
 * probation with all that ends a copy.
 */
#include "check.h"
#include "client_rig.h"

static const struct tied_load IDLE = {0, 0, 0};

static void start (struct rig *rig, uint32_t replicas)
{
    rig_start (rig);
    for (uint32_t i = 0; i < replicas; i++)
        CHECK_U64 (rig_replica (rig, 100 + i), ==, i);
    rig_forget (rig);
}

static const struct tied_client_action *request (const struct rig *rig, uint32_t n)
{
    return rig_get (rig, TIED_CLIENT_ACT_SEND_REQUEST, n);
}

static uint32_t requests (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

static void submit (struct rig *rig, uint32_t mode, tied_duration_t hedge, uint64_t key)
{
    const struct tied_client_submit call = {.mode = mode,
                                            .is_idempotent = true,
                                            .deadline = rig->now + S (10),
                                            .hedge_ns = hedge,
                                            .affinity = key};
    rig_forget (rig);
    CHECK_I64 (rig_submit (rig, &call), ==, 0);
}

static void answer (struct rig *rig, uint32_t n, uint32_t status)
{
    const struct tied_client_action *a = request (rig, n);
    rig_fail (rig, a->replica, a->call, a->u.request.copy, status, 0);
}

static void beat (struct rig *rig, uint32_t replicas)
{
    for (uint32_t i = 0; i < replicas; i++)
        rig_pong (rig, i, IDLE);
}

static void CL_19_one_instance_under_two_names_gets_one_copy_of_a_call (void **state)
{
    static const uint32_t picks[] = {TIED_PICK_INFORMED, TIED_PICK_RANDOM, TIED_PICK_ROUND_ROBIN,
                                     TIED_PICK_AFFINITY};
    (void)state;
    for (size_t p = 0; p < sizeof picks / sizeof picks[0]; p++) {
        struct rig rig;
        rig_init (&rig);
        rig.options.pick = picks[p];
        rig_start (&rig);
        rig_replica (&rig, 100);
        rig_replica (&rig, 100); /* the same process by its other name */
        rig_replica (&rig, 101);
        for (uint64_t n = 0; n < 50; n++) {
            submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, n + 1);
            CHECK_U64 (requests (&rig), ==, 2);
            CHECK_U64 (request (&rig, 0)->u.request.incarnation, !=,
                       request (&rig, 1)->u.request.incarnation);
            answer (&rig, 0, 0);
        }
        /* With no other, there is nobody to tie it to. */
        rig_link (&rig, 2, false);
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NOW, 1);
        CHECK_U64 (requests (&rig), ==, 1);
        answer (&rig, 0, 0);
        CHECK_U64 (rig_done (&rig)->not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
        CHECK_U64 (rig_done (&rig)->hedge_not_sent, ==, TIED_NOT_SENT_NO_SIBLING);
        rig_stop (&rig);
    }
}

static void the_sibling_and_the_hedge_prefer_another_zone (void **state)
{
    struct rig rig;
    (void)state;
    rig_init (&rig);
    start (&rig, 6);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_I64 (tied_client_core_set_zone (rig.core, i, i < 2 ? 1 : 2), ==, 0);
        CHECK_U64 (rig_look (&rig, i).zone, ==, i < 2 ? 1 : 2);
    }
    CHECK_I64 (tied_client_core_set_zone (rig.core, 6, 1), ==, TIED_ERR_INVAL);
    for (uint32_t n = 0; n < 100; n++) {
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, 0);
        CHECK_TRUE ((request (&rig, 0)->replica < 2) != (request (&rig, 1)->replica < 2));
        answer (&rig, 0, 0);
        submit (&rig, TIED_MODE_SINGLE, TIED_HEDGE_NOW, 0);
        CHECK_TRUE ((request (&rig, 0)->replica < 2) != (request (&rig, 1)->replica < 2));
        answer (&rig, 0, 0);
    }
    for (uint32_t i = 2; i < 6; i++)
        rig_link (&rig, i, false);
    submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, 0);
    CHECK_U64 (requests (&rig), ==, 2);
    rig_stop (&rig);
}

static void a_key_has_its_pair_and_a_call_without_one_goes_by_load (void **state)
{
    struct rig rig;
    (void)state;
    rig_init (&rig);
    rig.options.pick = TIED_PICK_AFFINITY;
    start (&rig, 6);
    for (uint32_t i = 0; i < 6; i++)
        CHECK_I64 (tied_client_core_set_identity (rig.core, i, 1000 * i + 7), ==, 0);
    CHECK_I64 (tied_client_core_set_identity (rig.core, 6, 1), ==, TIED_ERR_INVAL);
    for (uint64_t key = 1; key <= 20; key++) {
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, key);
        const uint32_t first = request (&rig, 0)->replica;
        const uint32_t second = request (&rig, 1)->replica;
        answer (&rig, 0, 0);
        rig_pong (&rig, first, (struct tied_load){50, 1, 0});
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, key);
        CHECK_U64 (request (&rig, 0)->replica, ==, first);
        CHECK_U64 (request (&rig, 1)->replica, ==, second);
        answer (&rig, 0, 0);
        submit (&rig, TIED_MODE_SINGLE, TIED_HEDGE_NOW, key);
        CHECK_U64 (request (&rig, 0)->replica, ==, first);
        CHECK_U64 (request (&rig, 1)->replica, ==, second);
        answer (&rig, 0, 0);
        rig_pong (&rig, first, (struct tied_load){50, 1, 0});
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, 0);
        CHECK_U64 (request (&rig, 0)->replica, !=, first);
        CHECK_U64 (request (&rig, 1)->replica, !=, first);
        answer (&rig, 0, 0);
        /* Its copy 1's replica takes over. */
        rig_link (&rig, first, false);
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, key);
        CHECK_U64 (request (&rig, 0)->replica, ==, second);
        answer (&rig, 0, 0);
        rig_link (&rig, first, true);
        rig_welcome (&rig, first, 1000 + key);
        rig_pong (&rig, first, IDLE);
    }
    rig_stop (&rig);
}

enum {
    FLEET = 4,
    BAD = 2
};

static void start_with_probation (struct rig *rig)
{
    rig_init (rig);
    rig->options.probation_milli = 4000;
    rig->options.calls_max = RIG_CALLS_MAX;
    rig->options.pick = TIED_PICK_ROUND_ROBIN;
    start (rig, FLEET);
    struct tied_policy policy = *tied_client_core_policy (rig->core, 0);
    policy.waits_count = 1;
    policy.waits[0] = (struct tied_status_range){50, 50};
    CHECK_I64 (tied_client_core_set_policy (rig->core, 0, &policy), ==, 0);
}

static uint32_t health (const struct rig *rig, uint32_t replica)
{
    return rig_look (rig, replica).health;
}

/* Single calls, each ended by `end`, until so long has passed. Returns calls that BAD was given. */
static uint32_t
run (struct rig *rig, tied_duration_t duration, void (*end) (struct rig *rig, uint32_t replica))
{
    const tied_time_t until = rig->now + duration;
    uint32_t given = 0;
    while (rig->now < until) {
        submit (rig, TIED_MODE_SINGLE, TIED_HEDGE_NONE, 0);
        const uint32_t replica = request (rig, 0)->replica;
        given += replica == BAD;
        end (rig, replica);
        CHECK_U64 (tied_client_core_live_calls (rig->core), ==, 0);
        beat (rig, FLEET);
    }
    return given;
}

static void all_alike (struct rig *rig, uint32_t replica)
{
    (void)replica;
    rig_advance (rig, rig->now + MS (5));
    answer (rig, 0, 0);
}

static void bad_is_slow (struct rig *rig, uint32_t replica)
{
    rig_advance (rig, rig->now + (replica == BAD ? MS (50) : MS (5)));
    answer (rig, 0, 0);
}

static void bad_fails (struct rig *rig, uint32_t replica)
{
    rig_advance (rig, rig->now + MS (5));
    answer (rig, 0, replica == BAD ? 50 : 0);
}

/* An error that does not wait is an answer: what was asked for is not there. */
static void bad_says_no (struct rig *rig, uint32_t replica)
{
    rig_advance (rig, rig->now + MS (5));
    answer (rig, 0, replica == BAD ? 51 : 0);
}

static void bad_refuses (struct rig *rig, uint32_t replica)
{
    rig_advance (rig, rig->now + MS (5));
    if (replica != BAD) {
        answer (rig, 0, 0);
        return;
    }
    rig_reject (rig, BAD, request (rig, 0)->call, 0, TIED_REJECT_UNKNOWN_METHOD);
}

static void bad_is_given_up (struct rig *rig, uint32_t replica)
{
    rig_advance (rig, rig->now + (replica == BAD ? MS (50) : MS (5)));
    if (replica == BAD)
        CHECK_I64 (rig_cancel (rig, request (rig, 0)->call), ==, 0);
    else
        answer (rig, 0, 0);
}

static void a_slow_replica_is_spared_probed_and_comes_back_slowly (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (3), all_alike);
    for (uint32_t i = 0; i < FLEET; i++)
        CHECK_U64 (health (&rig, i), ==, TIED_HEALTH_WELL);
    run (&rig, S (10), bad_is_slow);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    /* A probe each 200 ms, instead of a quarter of the calls. */
    const uint32_t probes = run (&rig, S (5), bad_is_slow);
    CHECK_U64 (probes, >=, 15);
    CHECK_U64 (probes, <=, 26);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    /* Well again: a few good probes, then ever more calls, then its quarter. */
    run (&rig, S (1), all_alike);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_RAMP);
    const uint32_t early = run (&rig, S (2), all_alike);
    (void)run (&rig, S (5), all_alike);
    const uint32_t late = run (&rig, S (2), all_alike);
    CHECK_U64 (early, <, late);
    run (&rig, S (3), all_alike);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    const uint32_t quarter = run (&rig, S (2), all_alike);
    CHECK_U64 (quarter, >=, 99);
    CHECK_U64 (quarter, <=, 101);
    rig_stop (&rig);
}

static void a_failing_replica_is_spared_if_its_errors_are_not_acceptable (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (5), bad_says_no);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    run (&rig, S (5), bad_fails);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    rig_stop (&rig);
}

static void BE_11_refused_and_given_up_copies_say_nothing_of_their_replica (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (5), bad_refuses);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    run (&rig, S (5), bad_is_given_up);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    rig_stop (&rig);
}

/* 10000 tied calls that the same replica always loses, however long it took. */
static void BE_11_lost_races_leave_a_healthy_replica_as_it_is (void **state)
{
    struct rig rig;
    uint64_t lost = 0;
    (void)state;
    start_with_probation (&rig);
    for (uint64_t n = 0; n < check_scale (10000); n++) {
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, 0);
        CHECK_U64 (requests (&rig), ==, 2);
        rig_advance (&rig, rig.now + MS (5));
        const bool is_first_bad = request (&rig, 0)->replica == BAD;
        lost += is_first_bad || request (&rig, 1)->replica == BAD;
        answer (&rig, is_first_bad ? 1 : 0, 0);
        beat (&rig, FLEET);
    }
    CHECK_U64 (lost, >=, check_scale (10000) / 4);
    for (uint32_t i = 0; i < FLEET; i++)
        CHECK_U64 (health (&rig, i), ==, TIED_HEALTH_WELL);
    rig_stop (&rig);
}

static void BE_11_a_probe_that_loses_its_race_is_neutral_and_another_may_follow (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (10), bad_is_slow);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    uint32_t probes = 0;
    const tied_time_t until = rig.now + S (2);
    while (rig.now < until) {
        submit (&rig, TIED_MODE_TIED, TIED_HEDGE_NONE, 0);
        rig_advance (&rig, rig.now + MS (5));
        const bool is_first_bad = request (&rig, 0)->replica == BAD;
        probes += is_first_bad || (requests (&rig) > 1 && request (&rig, 1)->replica == BAD);
        answer (&rig, is_first_bad ? 1 : 0, 0);
        beat (&rig, FLEET);
    }
    /* Not one each 200 ms, but one each 30, its own 5 included. */
    CHECK_U64 (probes, >=, 40);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    rig_stop (&rig);
}

static void a_replica_that_is_lost_with_its_copies_again_and_again_is_spared (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (2), all_alike);
    for (uint32_t n = 0; n < 200 && health (&rig, BAD) == TIED_HEALTH_WELL; n++) {
        submit (&rig, TIED_MODE_SINGLE, TIED_HEDGE_NONE, 0);
        if (request (&rig, 0)->replica == BAD) {
            rig_link (&rig, BAD, false);
            rig_link (&rig, BAD, true);
            rig_welcome (&rig, BAD, 100 + BAD); /* the same process */
        }
        rig_advance (&rig, rig.now + MS (20));
        answer (&rig, requests (&rig) - 1, 0);
        beat (&rig, FLEET);
    }
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    /* Another process begins anew. */
    rig_welcome (&rig, BAD, 900);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    rig_stop (&rig);
}

/* It was restarted with many copies under way: these are lost, and the new process has failed none
 * of them. */
static void what_became_of_a_process_s_copies_is_not_held_against_the_next_one (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (2), all_alike);
    for (uint32_t held = 0; held < 30;) {
        const struct tied_client_submit call = {
            .token = held, .mode = TIED_MODE_SINGLE, .deadline = rig.now + S (10)};
        rig_forget (&rig);
        CHECK_I64 (rig_submit (&rig, &call), ==, 0);
        if (request (&rig, 0)->replica == BAD)
            held++;
        else
            answer (&rig, 0, 0);
    }
    rig_welcome (&rig, BAD, 900);
    CHECK_U64 (tied_client_core_live_calls (rig.core), ==, 0);
    CHECK_U64 (rig_counters (&rig)->calls_unavailable, ==, 30);
    rig_advance (&rig, rig.now + S (1));
    beat (&rig, FLEET);
    run (&rig, MS (100), all_alike);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    rig_stop (&rig);
}

/* It is idle, and would be the hedge's choice each time. */
static void a_spared_replica_gets_no_hedges_and_no_siblings_but_probes (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (10), bad_is_slow);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_PROBATION);
    for (uint32_t i = 0; i < FLEET; i++)
        if (i != BAD && i != 0)
            rig_link (&rig, i, false);
    uint32_t hedges = 0;
    for (uint32_t n = 0; n < 50; n++) {
        submit (&rig, n % 2 ? TIED_MODE_SINGLE : TIED_MODE_TIED,
                n % 2 ? TIED_HEDGE_NOW : TIED_HEDGE_NONE, 0);
        hedges += requests (&rig) - 1;
        answer (&rig, 0, 0);
    }
    CHECK_U64 (hedges, <=, 1);
    rig_stop (&rig);
}

static void CL_22_the_only_replica_is_used_whatever_it_is_like (void **state)
{
    struct rig rig;
    (void)state;
    start_with_probation (&rig);
    run (&rig, S (10), bad_is_slow);
    for (uint32_t i = 0; i < FLEET; i++)
        if (i != BAD)
            rig_link (&rig, i, false);
    for (uint32_t n = 0; n < 5; n++) {
        submit (&rig, TIED_MODE_SINGLE, TIED_HEDGE_NONE, 0);
        CHECK_U64 (request (&rig, 0)->replica, ==, BAD);
        answer (&rig, 0, 0);
    }
    rig_stop (&rig);
}

static void probation_is_off_unless_it_is_asked_for (void **state)
{
    struct tied_client_core_options options;
    const char *field = NULL;
    struct rig rig;
    (void)state;
    rig_init (&rig);
    rig.options.pick = TIED_PICK_ROUND_ROBIN;
    start (&rig, FLEET);
    run (&rig, S (10), bad_is_slow);
    CHECK_U64 (health (&rig, BAD), ==, TIED_HEALTH_WELL);
    rig_stop (&rig);
    tied_client_core_options_init (&options);
    options.epoch = 1;
    CHECK_U64 (options.probation_milli, ==, 0);
    options.probation_milli = 1499;
    CHECK_I64 (tied_client_core_options_check (&options, &field), ==, TIED_ERR_INVAL);
    CHECK_STR (field, "probation_milli");
    options.probation_milli = 1500;
    CHECK_I64 (tied_client_core_options_check (&options, &field), ==, 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (CL_19_one_instance_under_two_names_gets_one_copy_of_a_call),
        cmocka_unit_test (the_sibling_and_the_hedge_prefer_another_zone),
        cmocka_unit_test (a_key_has_its_pair_and_a_call_without_one_goes_by_load),
        cmocka_unit_test (a_slow_replica_is_spared_probed_and_comes_back_slowly),
        cmocka_unit_test (a_failing_replica_is_spared_if_its_errors_are_not_acceptable),
        cmocka_unit_test (BE_11_refused_and_given_up_copies_say_nothing_of_their_replica),
        cmocka_unit_test (BE_11_lost_races_leave_a_healthy_replica_as_it_is),
        cmocka_unit_test (BE_11_a_probe_that_loses_its_race_is_neutral_and_another_may_follow),
        cmocka_unit_test (a_replica_that_is_lost_with_its_copies_again_and_again_is_spared),
        cmocka_unit_test (what_became_of_a_process_s_copies_is_not_held_against_the_next_one),
        cmocka_unit_test (a_spared_replica_gets_no_hedges_and_no_siblings_but_probes),
        cmocka_unit_test (CL_22_the_only_replica_is_used_whatever_it_is_like),
        cmocka_unit_test (probation_is_off_unless_it_is_asked_for),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
