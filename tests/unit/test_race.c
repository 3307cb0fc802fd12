/* SPDX-License-Identifier: MIT */
/* The rules for one call's copies, without a core: what follows a refusal, a loss, a failed send.
 */
#include <tied/client_core.h>

#include "core/race.h"
#include "check.h"

static struct ti_race fresh (bool is_idempotent, uint32_t copies_max)
{
    struct ti_race race;
    ti_race_init (&race, is_idempotent, copies_max);
    ti_race_check (&race);
    return race;
}

/* Copies 0 and 1, tied. */
static struct ti_race pair (uint32_t copies_max)
{
    struct ti_race race = fresh (true, copies_max);
    ti_race_sent (&race, 0, true);
    ti_race_sent (&race, 1, true);
    ti_race_check (&race);
    return race;
}

static void CL_11_one_refusal_of_two_goes_on (void **state)
{
    (void)state;
    for (uint8_t copy = 0; copy < 2; copy++) {
        struct ti_race race = pair (4);
        ti_race_refused (&race, copy, TIED_REJECT_BUSY);
        CHECK_U64 (ti_race_after_refusal (&race, TIED_REJECT_BUSY), ==, TI_RACE_GO_ON);
        ti_race_check (&race);
    }
}

static void CL_25_a_planned_copy_goes_out_on_refusal (void **state)
{
    (void)state;
    struct ti_race race = fresh (true, 4);
    ti_race_sent (&race, 0, true);
    race.is_planned = true;
    ti_race_check (&race);
    ti_race_refused (&race, 0, TIED_REJECT_BUSY);
    CHECK_U64 (ti_race_after_refusal (&race, TIED_REJECT_BUSY), ==, TI_RACE_SEND_TIED);
    ti_race_sent (&race, 1, false);
    CHECK_FALSE (race.is_planned);
    ti_race_check (&race);
}

static void what_follows_the_last_refusal_depends_on_reason_and_call (void **state)
{
    (void)state;
    const struct {
        uint8_t reason;
        bool is_idempotent, had_last;
        uint32_t copies_max;
        enum ti_race_next next;
    } rows[] = {
        {TIED_REJECT_BUSY, true, false, 2, TI_RACE_LAST},
        {TIED_REJECT_FULL, true, false, 2, TI_RACE_LAST},
        {TIED_REJECT_TOO_LATE, true, false, 2, TI_RACE_LAST},
        {TIED_REJECT_NOT_PERMITTED, true, false, 2, TI_RACE_LAST},
        {250, true, false, 2, TI_RACE_LAST},
        {TIED_REJECT_BUSY, true, true, 2, TI_RACE_END},
        {TIED_REJECT_BUSY, true, false, 1, TI_RACE_END},
        {TIED_REJECT_BUSY, false, false, 2, TI_RACE_END},
        {TIED_REJECT_DRAINING, true, false, 2, TI_RACE_REROUTE},
        {TIED_REJECT_DRAINING, false, false, 2, TI_RACE_REROUTE},
        {TIED_REJECT_DRAINING, true, true, 2, TI_RACE_REROUTE},
        {TIED_REJECT_DRAINING, true, false, 1, TI_RACE_END},
        {TIED_REJECT_STALE, false, false, 2, TI_RACE_REROUTE},
        {TIED_REJECT_STALE, false, false, 1, TI_RACE_END},
        {TIED_REJECT_UNKNOWN_METHOD, true, false, 2, TI_RACE_END},
        {TIED_REJECT_TOO_LARGE, true, false, 2, TI_RACE_END},
        {TIED_REJECT_EXPIRED, true, false, 2, TI_RACE_END},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ti_race race = fresh (rows[i].is_idempotent, rows[i].copies_max);
        ti_race_sent (&race, 0, false);
        ti_race_refused (&race, 0, rows[i].reason);
        race.had_last = rows[i].had_last;
        CHECK_U64 (ti_race_after_refusal (&race, rows[i].reason), ==, rows[i].next);
    }
}

static void a_lone_tied_copy_is_issued_again_because_it_may_have_been_dropped (void **state)
{
    (void)state;
    for (uint8_t copy = 0; copy < 2; copy++) {
        struct ti_race race = pair (4);
        ti_race_lost (&race, copy);
        CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_REISSUE);
        ti_race_sent (&race, 2, false);
        /* The untied one cannot be dropped. */
        CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_GO_ON);
        ti_race_lost (&race, 2);
        CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_REISSUE);
        ti_race_check (&race);
    }
}

static void two_live_tied_copies_need_no_third (void **state)
{
    (void)state;
    struct ti_race race = pair (4);
    ti_race_sent (&race, 2, false);
    ti_race_lost (&race, 2);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_GO_ON);
}

static void only_a_tied_copy_whose_sibling_was_lost_is_in_doubt (void **state)
{
    (void)state;
    for (uint8_t copy = 0; copy < 2; copy++) {
        const uint8_t sibling = copy ^ 1;
        struct ti_race race = pair (4);
        CHECK_TRUE (ti_race_is_certain (&race));
        ti_race_refused (&race, sibling, TIED_REJECT_BUSY);
        CHECK_TRUE (ti_race_is_certain (&race));
        race = pair (4);
        ti_race_unsent (&race, sibling);
        CHECK_TRUE (ti_race_is_certain (&race));
        race = pair (4);
        ti_race_lost (&race, sibling);
        CHECK_FALSE (ti_race_is_certain (&race));
        ti_race_sent (&race, 2, false);
        CHECK_TRUE (ti_race_is_certain (&race));
        ti_race_refused (&race, 2, TIED_REJECT_BUSY);
        CHECK_FALSE (ti_race_is_certain (&race));
        CHECK_U64 (ti_race_after_refusal (&race, TIED_REJECT_BUSY), ==, TI_RACE_LAST);
    }
    struct ti_race race = fresh (true, 4);
    ti_race_sent (&race, 0, true);
    CHECK_TRUE (ti_race_is_certain (&race));
    ti_race_lost (&race, 0);
    ti_race_sent (&race, 2, false);
    CHECK_TRUE (ti_race_is_certain (&race));
}

static void CL_01_at_copies_max_a_certain_copy_goes_on_and_a_doubtful_one_ends (void **state)
{
    (void)state;
    struct ti_race race = pair (3);
    ti_race_lost (&race, 0);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_REISSUE);
    ti_race_sent (&race, 2, false);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_GO_ON);
    ti_race_unsent (&race, 2);
    CHECK_U64 (ti_race_after_unsent (&race), ==, TI_RACE_END);
    CHECK_U64 (ti_race_outcome (&race), ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (ti_race_may_have_executed (&race));
}

static void a_lost_copy_of_a_call_that_is_not_idempotent_is_not_sent_again (void **state)
{
    (void)state;
    struct ti_race race = fresh (false, 4);
    ti_race_sent (&race, 0, false);
    ti_race_lost (&race, 0);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_END);
}

static void a_copy_that_never_left_is_sent_elsewhere (void **state)
{
    (void)state;
    struct ti_race race = fresh (false, 4);
    ti_race_sent (&race, 0, false);
    ti_race_unsent (&race, 0);
    CHECK_U64 (ti_race_after_unsent (&race), ==, TI_RACE_REROUTE);
    CHECK_FALSE (ti_race_has_left (&race));
    CHECK_FALSE (ti_race_may_have_executed (&race));
    race = pair (4);
    ti_race_unsent (&race, 1);
    CHECK_U64 (ti_race_after_unsent (&race), ==, TI_RACE_GO_ON);
    CHECK_TRUE (ti_race_has_left (&race));
    race = fresh (false, 1);
    ti_race_sent (&race, 0, false);
    ti_race_unsent (&race, 0);
    CHECK_U64 (ti_race_after_unsent (&race), ==, TI_RACE_END);
    CHECK_U64 (ti_race_outcome (&race), ==, TIED_OUTCOME_UNAVAILABLE);
}

static void the_first_refusal_names_the_outcome_unless_a_copy_may_have_run (void **state)
{
    (void)state;
    struct ti_race race = pair (4);
    ti_race_refused (&race, 1, TIED_REJECT_UNKNOWN_METHOD);
    ti_race_refused (&race, 0, TIED_REJECT_BUSY);
    CHECK_U64 (race.first_reject, ==, TIED_REJECT_UNKNOWN_METHOD);
    CHECK_U64 (ti_race_outcome (&race), ==, TIED_OUTCOME_UNIMPLEMENTED);
    CHECK_FALSE (ti_race_may_have_executed (&race));
    race = pair (4);
    ti_race_refused (&race, 1, TIED_REJECT_BUSY);
    ti_race_lost (&race, 0);
    CHECK_U64 (ti_race_outcome (&race), ==, TIED_OUTCOME_UNAVAILABLE);
    CHECK_TRUE (ti_race_may_have_executed (&race));
}

static void CL_18_numbers_fit_for_the_largest_copies_max (void **state)
{
    (void)state;
    struct ti_race race = fresh (true, TIED_COPIES_MAX);
    ti_race_sent (&race, 0, false);
    while (ti_race_may_send (&race))
        ti_race_sent (&race, race.next_copy, false);
    CHECK_U64 (race.copies_sent, ==, TIED_COPIES_MAX);
    CHECK_U64 (race.sent & TI_RACE_BIT (1), ==, 0);
    CHECK_U64 (race.sent & TI_RACE_BIT (TIED_COPIES_MAX), !=, 0);
    ti_race_check (&race);
}

static void CL_18_room_for_a_hedge_is_room_for_a_reissue_besides (void **state)
{
    (void)state;
    for (uint32_t copies_max = 1; copies_max <= TIED_COPIES_MAX; copies_max++) {
        struct ti_race race = fresh (true, copies_max);
        CHECK_U64 (ti_race_has_room_to_hedge (&race, false), ==, copies_max >= 3);
        CHECK_U64 (ti_race_has_room_to_hedge (&race, true), ==, copies_max >= 4);
        ti_race_sent (&race, 0, true);
        CHECK_U64 (ti_race_may_hedge (&race), ==, copies_max >= 3);
        race.is_planned = true;
        CHECK_U64 (ti_race_may_hedge (&race), ==, copies_max >= 4);
    }
}

static void CL_11_a_refused_or_unsent_hedge_leaves_a_planned_copy_its_time (void **state)
{
    (void)state;
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        struct ti_race race = fresh (true, 4);
        ti_race_sent (&race, 0, true);
        race.is_planned = true;
        race.is_hedge_planned = true;
        ti_race_check (&race);
        ti_race_hedge (&race);
        ti_race_sent (&race, race.next_copy, false);
        ti_race_check (&race);
        CHECK_FALSE (race.is_hedge_planned);
        CHECK_U64 (race.hedged, ==, TI_RACE_BIT (2));
        if (is_refused) {
            ti_race_refused (&race, 2, TIED_REJECT_BUSY);
            CHECK_U64 (ti_race_after_refusal (&race, TIED_REJECT_BUSY), ==, TI_RACE_GO_ON);
        } else {
            ti_race_unsent (&race, 2);
            CHECK_U64 (ti_race_after_unsent (&race), ==, TI_RACE_GO_ON);
        }
        CHECK_TRUE (race.is_planned);
        ti_race_check (&race);
    }
}

static void a_hedge_is_certain_whatever_becomes_of_the_pair (void **state)
{
    (void)state;
    struct ti_race race = pair (4);
    race.is_hedge_planned = true;
    ti_race_hedge (&race);
    ti_race_sent (&race, 2, false);
    ti_race_lost (&race, 0);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_GO_ON);
    ti_race_lost (&race, 1);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_GO_ON);
    ti_race_lost (&race, 2);
    CHECK_U64 (ti_race_after_loss (&race), ==, TI_RACE_REISSUE);
    ti_race_check (&race);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (CL_11_one_refusal_of_two_goes_on),
        cmocka_unit_test (CL_25_a_planned_copy_goes_out_on_refusal),
        cmocka_unit_test (what_follows_the_last_refusal_depends_on_reason_and_call),
        cmocka_unit_test (a_lone_tied_copy_is_issued_again_because_it_may_have_been_dropped),
        cmocka_unit_test (two_live_tied_copies_need_no_third),
        cmocka_unit_test (only_a_tied_copy_whose_sibling_was_lost_is_in_doubt),
        cmocka_unit_test (CL_01_at_copies_max_a_certain_copy_goes_on_and_a_doubtful_one_ends),
        cmocka_unit_test (a_lost_copy_of_a_call_that_is_not_idempotent_is_not_sent_again),
        cmocka_unit_test (a_copy_that_never_left_is_sent_elsewhere),
        cmocka_unit_test (the_first_refusal_names_the_outcome_unless_a_copy_may_have_run),
        cmocka_unit_test (CL_18_numbers_fit_for_the_largest_copies_max),
        cmocka_unit_test (CL_18_room_for_a_hedge_is_room_for_a_reissue_besides),
        cmocka_unit_test (CL_11_a_refused_or_unsent_hedge_leaves_a_planned_copy_its_time),
        cmocka_unit_test (a_hedge_is_certain_whatever_becomes_of_the_pair),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
