/* SPDX-License-Identifier: MIT */
/*
 * The protocol's stories as transcripts with virtual times, one file each beside this one. They
 * are read by people first: a difference is a change of behaviour to be explained.
 */
#include "check.h"

#include "story.h"

#define NONE TIED_NEVER

static uint64_t tied_call (struct story *story, tied_duration_t deadline, tied_duration_t stagger)
{
    return world_submit (story->world, 0, TIED_MODE_TIED, true, deadline, stagger);
}

static uint64_t single_call (struct story *story)
{
    return world_submit (story->world, 0, TIED_MODE_SINGLE, true, NONE, 0);
}

static int primary_of (struct story *story, uint64_t sequence)
{
    const struct tied_call_id call = {LEDGER_EPOCH (0), sequence};
    return ledger_find (world_ledger (story->world), call)->pair[0] - 1;
}

static void run_for (struct story *story, tied_duration_t duration)
{
    world_run_until (story->world, world_now (story->world) + duration);
}

/* Each replica runs one call of its own, replica 0 for so long, replica 1 for so long. */
static void occupy (struct story *story, tied_duration_t first, tied_duration_t second)
{
    story_say (story, "Both replicas are busy.");
    world_service_next (story->world, 0, first);
    world_service_next (story->world, 1, second);
    (void)single_call (story);
    (void)single_call (story);
    run_for (story, US (200));
}

static void a_normal_tie (void **state)
{
    struct story story;
    (void)state;
    story_init (&story);
    story_begin (&story, "Both copies wait; the replica that is free first drops the other copy.");
    occupy (&story, MS (3), MS (6));
    story_say (&story, "A tied call.");
    (void)tied_call (&story, NONE, MS (1));
    story_end (&story, "normal_tie");
}

static void a_cancel_overtakes_its_copy (void **state)
{
    struct story story;
    (void)state;
    story_init (&story);
    story_begin (&story,
                 "The primary starts at once: its STARTED waits for copy 1 as a tombstone.");
    (void)tied_call (&story, NONE, MS (1));
    story_end (&story, "cancel_overtakes");
}

static void both_start_at_once (void **state)
{
    struct story story;
    (void)state;
    story_init (&story);
    story_begin (&story, "No stagger, both replicas idle: both start within a cancel's flight.");
    (void)tied_call (&story, NONE, 0);
    story_end (&story, "both_start");
}

static void the_primary_rejects (void **state)
{
    struct story story;
    uint64_t call;
    (void)state;
    story_init (&story);
    story_begin (&story, "The primary is draining: copy 1 goes out at once, untied.");
    call = tied_call (&story, NONE, MS (1));
    world_drain (story.world, primary_of (&story, call));
    story_end (&story, "primary_rejects");
}

static void an_untie_frees_the_sibling (void **state)
{
    struct story story;
    uint64_t call;
    (void)state;
    story_init (&story);
    story_begin (&story, "No stagger, and the primary refuses: its UNTIE frees copy 1.");
    occupy (&story, MS (3), MS (3));
    story_say (&story, "A tied call.");
    call = tied_call (&story, NONE, 0);
    world_drain (story.world, primary_of (&story, call));
    story_end (&story, "untie");
}

static void both_reject_then_the_last_copy_runs (void **state)
{
    struct story story;
    (void)state;
    story_init (&story);
    story.options.replica.queue_depth = 1;
    story.options.replica.hedge_depth = 1;
    story_begin (&story, "Both queues are full: one last copy, and a place is free by then.");
    occupy (&story, US (650), US (650));
    story_say (&story, "And both queues fill.");
    (void)single_call (&story);
    (void)single_call (&story);
    run_for (&story, US (200));
    story_say (&story, "A tied call.");
    (void)tied_call (&story, NONE, MS (1));
    story_end (&story, "last_copy");
}

static void the_starter_dies_and_the_reissue_passes_the_tombstone (void **state)
{
    struct story story;
    uint64_t call;
    (void)state;
    story_init (&story);
    story_begin (&story,
                 "The starter dies; copy 1 was dropped; a new number passes the tombstone.");
    call = tied_call (&story, NONE, MS (1));
    run_for (&story, MS (3));
    world_crash (story.world, primary_of (&story, call), false);
    story_end (&story, "starter_dies");
}

static void a_reissue_merges (void **state)
{
    struct story story;
    uint64_t call;
    (void)state;
    story_init (&story);
    story_begin (&story, "The primary dies while both copies wait: the re-issue meets copy 1.");
    occupy (&story, MS (6), MS (6));
    story_say (&story, "A tied call.");
    call = tied_call (&story, NONE, MS (1));
    run_for (&story, MS (2));
    world_crash (story.world, primary_of (&story, call), false);
    story_end (&story, "reissue_merges");
}

static void a_deadline_ends_the_call (void **state)
{
    struct story story;
    (void)state;
    story_init (&story);
    story_begin (&story, "Both copies wait longer than the caller will.");
    occupy (&story, MS (8), MS (9));
    story_say (&story, "A tied call with 4 ms.");
    (void)tied_call (&story, MS (4), MS (1));
    story_end (&story, "deadline");
}

static void a_restart_under_load_delivers_nothing_stale (void **state)
{
    struct story story;
    uint64_t call;
    int primary;
    (void)state;
    story_init (&story);
    story_begin (&story, "The primary restarts with work in hand: its successor knows none of it.");
    occupy (&story, MS (6), MS (6));
    story_say (&story, "A tied call.");
    call = tied_call (&story, NONE, MS (1));
    run_for (&story, MS (2));
    primary = primary_of (&story, call);
    world_crash (story.world, primary, false);
    run_for (&story, US (50));
    world_restart (story.world, primary);
    run_for (&story, US (500));
    story_say (&story, "Another tied call uses both replicas again.");
    (void)tied_call (&story, NONE, MS (1));
    story_end (&story, "restart");
}

static void a_stopped_replica_answers_too_late (void **state)
{
    struct story story;
    uint64_t call;
    (void)state;
    story_init (&story);
    story.options.client.heartbeat_ns = MS (20);
    story.options.client.heartbeat_misses = 2;
    story_begin (&story, "The starter is stopped: silence counts as loss, its late reply as late.");
    call = tied_call (&story, NONE, MS (1));
    run_for (&story, MS (2));
    world_pause (story.world, primary_of (&story, call), world_now (story.world) + MS (200));
    story_end (&story, "stopped");
}

static void a_lost_cancel_runs_twice (void **state)
{
    struct story story;
    uint64_t call;
    int primary;
    (void)state;
    story_init (&story);
    story_begin (&story, "A STARTED is lost: the sibling runs too, and both sides count it.");
    call = tied_call (&story, NONE, MS (1));
    primary = primary_of (&story, call);
    world_lose_next (story.world, NODE_REPLICA (primary), NODE_REPLICA (1 - primary),
                     TIED_WIRE_STARTED);
    story_end (&story, "lost_cancel");
}

static void a_hedge_beats_a_slow_replica (void **state)
{
    struct story story;
    (void)state;
    story_init (&story);
    story_begin (&story, "A single call meets a slow replica: the hedge answers, the first copy "
                         "is told to stop.");
    world_service_next (story.world, 1, MS (20)); /* which this seed chooses first */
    world_service_next (story.world, 0, MS (1));
    (void)world_submit_hedged (story.world, 0, TIED_MODE_SINGLE, true, NONE, 0, MS (5));
    story_end (&story, "hedge");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_normal_tie),
        cmocka_unit_test (a_cancel_overtakes_its_copy),
        cmocka_unit_test (both_start_at_once),
        cmocka_unit_test (the_primary_rejects),
        cmocka_unit_test (an_untie_frees_the_sibling),
        cmocka_unit_test (both_reject_then_the_last_copy_runs),
        cmocka_unit_test (the_starter_dies_and_the_reissue_passes_the_tombstone),
        cmocka_unit_test (a_reissue_merges),
        cmocka_unit_test (a_deadline_ends_the_call),
        cmocka_unit_test (a_restart_under_load_delivers_nothing_stale),
        cmocka_unit_test (a_stopped_replica_answers_too_late),
        cmocka_unit_test (a_lost_cancel_runs_twice),
        cmocka_unit_test (a_hedge_beats_a_slow_replica),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
