/* SPDX-License-Identifier: MIT */
/*
 * A call's timers: what is cancelled is gone at once, what is due in the same round as a cancel
 * does no harm, and nothing comes early.
 */
#include "base/prng.h"
#include "check.h"
#include "client_rig.h"

static void setup (struct rig *rig)
{
    rig_init (rig);
    rig_start (rig);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_U64 (rig_replica (rig, 100 + i), ==, i);
    rig_forget (rig);
}

static struct tied_call_id submit (struct rig *rig, tied_duration_t stagger, tied_duration_t hedge)
{
    const struct tied_client_submit call = {.mode = TIED_MODE_TIED,
                                            .is_idempotent = true,
                                            .deadline = rig->now + MS (50),
                                            .stagger_ns = stagger,
                                            .hedge_ns = hedge};
    rig_forget (rig);
    CHECK_I64 (rig_submit (rig, &call), ==, 0);
    return rig->calls[0].id;
}

static void beat (struct rig *rig)
{
    for (uint32_t i = 0; i < 3; i++)
        rig_pong (rig, i, (struct tied_load){0, 0, 0});
}

static uint32_t requests (const struct rig *rig)
{
    return rig_count (rig, TIED_CLIENT_ACT_SEND_REQUEST);
}

/* The timer fires before the cancel, with it, or not at all. */
static void CL_04_a_cancel_and_a_due_timer_end_the_call_once_in_every_order (void **state)
{
    struct rig rig;
    struct ti_prng prng;
    uint32_t hedged = 0;
    (void)state;
    setup (&rig);
    ti_prng_seed (&prng, 3);
    for (uint64_t round = 0; round < check_scale (10000); round++) {
        const struct tied_call_id id = submit (&rig, MS (4), MS (5));
        const tied_duration_t after = MS (4) + ti_prng_below_32 (&prng, 3) * US (500);
        const bool is_timer_first = ti_prng_below_32 (&prng, 2) != 0;
        if (is_timer_first)
            rig_advance (&rig, rig.now + after);
        else
            rig.now += after;
        const uint32_t sent = requests (&rig);
        hedged += sent == 3;
        CHECK_I64 (rig_cancel (&rig, id), ==, 0);
        CHECK_I64 (rig_cancel (&rig, id), ==, TIED_ERR_ABSENT);
        rig_advance (&rig, rig.now + MS (1));
        CHECK_U64 (requests (&rig), ==, sent);
        CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_CANCELLED);
        CHECK_U64 (tied_client_core_copies_in_flight (rig.core), ==, 0);
        CHECK_U64 (tied_client_core_live_calls (rig.core), ==, 0);
        beat (&rig);
    }
    CHECK_U64 (hedged, >, 0);
    CHECK_U64 (rig.completions, ==, check_scale (10000));
    rig_stop (&rig);
}

/* No timer of an ended call stays until its time would have come: the next thing to do is a
 * heartbeat. */
static void CK_03_timers_that_are_not_needed_are_gone_at_once (void **state)
{
    struct rig rig;
    (void)state;
    setup (&rig);
    const tied_time_t idle = tied_client_core_deadline (rig.core);
    for (uint64_t round = 0; round < check_scale (10000); round++) {
        (void)submit (&rig, MS (4), MS (5));
        CHECK_U64 (tied_client_core_deadline (rig.core), ==, rig.now + MS (4));
        const struct tied_client_action *a = rig_get (&rig, TIED_CLIENT_ACT_SEND_REQUEST, 0);
        rig_reply (&rig, a->replica, a->call, 0, 0);
        CHECK_U64 (tied_client_core_deadline (rig.core), ==, idle);
    }
    rig_stop (&rig);
}

static void CK_03_a_long_deadline_is_not_early (void **state)
{
    struct rig rig;
    (void)state;
    rig_init (&rig);
    rig_start (&rig);
    const tied_time_t due = rig.now + S (2 * 3600);
    const struct tied_client_submit call = {.mode = TIED_MODE_SINGLE, .deadline = due};
    CHECK_I64 (rig_submit (&rig, &call), ==, 0);
    CHECK_U64 (tied_client_core_deadline (rig.core), ==, due);
    rig_advance (&rig, due - 1);
    CHECK_U64 (rig_count (&rig, TIED_CLIENT_ACT_COMPLETE), ==, 0);
    rig_advance (&rig, due);
    CHECK_U64 (rig_done (&rig)->outcome, ==, TIED_OUTCOME_UNAVAILABLE);
    rig_stop (&rig);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (CL_04_a_cancel_and_a_due_timer_end_the_call_once_in_every_order),
        cmocka_unit_test (CK_03_timers_that_are_not_needed_are_gone_at_once),
        cmocka_unit_test (CK_03_a_long_deadline_is_not_early),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
