/* SPDX-License-Identifier: MIT */
/* The table of lib/core/tie.h: what is here and what is noted, against what arrives. */
#include "core/tie.h"

#include <tied/wire.h>

#include "check.h"

struct world {
    struct ti_queue queue;
    struct ti_recent recent;
    struct tied_replica_counters counters;
    tied_time_t tombstone_at;
    max_align_t slots[64];
    max_align_t notes[128];
};

static const struct tied_call_id call = {1, 2};

static void open_world (struct world *self)
{
    memset (self, 0, sizeof *self);
    CHECK_U64 (ti_queue_size (8), <=, sizeof self->slots);
    CHECK_U64 (ti_recent_size (16), <=, sizeof self->notes);
    ti_queue_init (&self->queue, self->slots, 8, 1);
    ti_recent_init (&self->recent, self->notes, 16, S (2), 1);
}

static uint32_t hold (struct world *self, uint8_t copy, uint8_t flags)
{
    struct ti_slot slot;

    memset (&slot, 0, sizeof slot);
    slot.call = call;
    slot.copy = copy;
    slot.flags = flags;
    return ti_queue_push (&self->queue, &slot);
}

static void note (struct world *self, uint8_t copy, enum ti_note_kind kind)
{
    ti_recent_put (&self->recent, call, copy, kind, 0, &self->counters);
}

static enum ti_arrival arrive (struct world *self, uint8_t copy, uint32_t flags)
{
    struct tied_replica_request request;

    memset (&request, 0, sizeof request);
    request.call = call;
    request.copy = copy;
    request.flags = flags;
    return ti_tie_arrive (&self->queue, &self->recent, &request, true, &self->tombstone_at);
}

static enum ti_started started (struct world *self, uint8_t sender_copy, uint32_t *out_slot)
{
    return ti_tie_started (&self->queue, &self->recent, call, sender_copy, 0, &self->counters,
                           out_slot);
}

static void untie (struct world *self, uint8_t sender_copy)
{
    ti_tie_untied (&self->queue, &self->recent, call, sender_copy, 0, &self->counters);
}

static void an_unknown_copy_is_new (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    CHECK_U64 (arrive (&world, 0, 0), ==, TI_ARRIVAL_NEW);
    (void)hold (&world, 0, 0);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_NEW);
}

static void RQ_08_a_copy_that_is_here_is_a_duplicate (void **state)
{
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    slot = hold (&world, 1, 0);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_DUPLICATE);
    ti_queue_start (&world.queue, slot, 0);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_DUPLICATE);
    CHECK_U64 (arrive (&world, 1, TIED_REQUEST_REISSUE), ==, TI_ARRIVAL_DUPLICATE);
}

static void a_copy_that_was_dealt_with_is_a_duplicate (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    note (&world, 0, TI_NOTE_FINISHED);
    note (&world, 1, TI_NOTE_GONE);
    CHECK_U64 (arrive (&world, 0, 0), ==, TI_ARRIVAL_DUPLICATE);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_DUPLICATE);
}

static void RQ_11_a_tombstone_meets_its_copy_once_and_for_all (void **state)
{
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EARLY);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EARLY);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_TOMBSTONED);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_DUPLICATE);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_MOOT);
}

static void a_reissue_passes_the_tombstone_of_another_copy (void **state)
{
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EARLY);
    CHECK_U64 (arrive (&world, 2, TIED_REQUEST_REISSUE), ==, TI_ARRIVAL_NEW);
}

static void a_hedge_passes_the_tombstone_of_another_copy_and_stays (void **state)
{
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EARLY);
    CHECK_U64 (arrive (&world, 2, 0), ==, TI_ARRIVAL_NEW);
    (void)hold (&world, 2, 0);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EARLY);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_TOMBSTONED);
    CHECK_U64 (arrive (&world, 2, 0), ==, TI_ARRIVAL_DUPLICATE);
}

static void STARTED_drops_a_waiting_tied_copy_only (void **state)
{
    struct world world;
    uint32_t slot = 99;
    uint32_t tied;

    (void)state;
    open_world (&world);
    tied = hold (&world, 1, TI_SLOT_TIED);
    (void)hold (&world, 2, 0);
    (void)hold (&world, 5, TI_SLOT_TIED | TI_SLOT_UNTIED);
    CHECK_U64 (started (&world, 3, &slot), ==, TI_STARTED_MOOT);
    CHECK_U64 (started (&world, 4, &slot), ==, TI_STARTED_MOOT);
    CHECK_U64 (slot, ==, 99);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EFFECTIVE);
    CHECK_U64 (slot, ==, tied);
}

static void STARTED_after_the_start_is_late_and_noted (void **state)
{
    struct world world;
    uint32_t unused;
    uint32_t slot;

    (void)state;
    open_world (&world);
    slot = hold (&world, 0, TI_SLOT_TIED);
    ti_queue_start (&world.queue, slot, 0);
    CHECK_U64 (started (&world, 1, &unused), ==, TI_STARTED_LATE);
    CHECK_TRUE (ti_queue_slot (&world.queue, slot)->flags & TI_SLOT_SIBLING_STARTED);
    ti_queue_finish (&world.queue, slot);
    note (&world, 0, TI_NOTE_FINISHED);
    CHECK_U64 (started (&world, 1, &unused), ==, TI_STARTED_LATE);
}

static void STARTED_for_a_copy_that_is_gone_is_moot (void **state)
{
    struct world world;
    uint32_t unused;

    (void)state;
    open_world (&world);
    note (&world, 1, TI_NOTE_GONE);
    CHECK_U64 (started (&world, 0, &unused), ==, TI_STARTED_MOOT);
    CHECK_U64 (ti_recent_count (&world.recent), ==, 1);
}

static void UNTIE_is_sticky (void **state)
{
    struct world world;
    uint32_t unused;

    (void)state;
    open_world (&world);
    (void)hold (&world, 1, TI_SLOT_TIED);
    untie (&world, 0);
    CHECK_U64 (started (&world, 0, &unused), ==, TI_STARTED_MOOT);
    untie (&world, 0);
    CHECK_U64 (started (&world, 0, &unused), ==, TI_STARTED_MOOT);
}

static void UNTIE_may_come_before_its_copy (void **state)
{
    struct world world;
    uint32_t unused;

    (void)state;
    open_world (&world);
    untie (&world, 0);
    CHECK_U64 (started (&world, 0, &unused), ==, TI_STARTED_MOOT);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_NEW_UNTIED);
    CHECK_U64 (ti_recent_count (&world.recent), ==, 0);
}

/* Whoever says both is confused; running twice is better than not at all. */
static void UNTIE_lifts_a_tombstone (void **state)
{
    struct world world;
    uint32_t unused;

    (void)state;
    open_world (&world);
    CHECK_U64 (started (&world, 0, &unused), ==, TI_STARTED_EARLY);
    untie (&world, 0);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_NEW_UNTIED);
}

static void UNTIE_for_a_copy_that_is_gone_changes_nothing (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    note (&world, 1, TI_NOTE_GONE);
    untie (&world, 0);
    CHECK_U64 (arrive (&world, 1, 0), ==, TI_ARRIVAL_DUPLICATE);
}

static void a_reissue_merges_with_a_waiting_or_running_copy (void **state)
{
    struct world world;
    uint32_t unused;
    uint32_t slot;

    (void)state;
    open_world (&world);
    slot = hold (&world, 1, TI_SLOT_TIED);
    CHECK_U64 (arrive (&world, 2, TIED_REQUEST_REISSUE), ==, TI_ARRIVAL_MERGED);
    CHECK_U64 (started (&world, 0, &unused), ==, TI_STARTED_MOOT);
    ti_queue_start (&world.queue, slot, 0);
    CHECK_U64 (arrive (&world, 2, TIED_REQUEST_REISSUE), ==, TI_ARRIVAL_MERGED);
}

/* Its handler was told to stop, because the client was silent for long: it may answer with an error
   that the client, which is back, does not deserve. */
static void a_reissue_does_not_merge_with_a_copy_that_was_told_to_stop (void **state)
{
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    slot = hold (&world, 1, TI_SLOT_TIED);
    ti_queue_start (&world.queue, slot, 0);
    ti_queue_slot (&world.queue, slot)->flags |= TI_SLOT_CANCELLED;
    CHECK_U64 (arrive (&world, 2, TIED_REQUEST_REISSUE), ==, TI_ARRIVAL_NEW);
}

/* The answer of the other copy would go to somebody else. */
static void a_reissue_does_not_merge_with_a_copy_of_another_client (void **state)
{
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    slot = hold (&world, 1, TI_SLOT_TIED);
    ti_queue_slot (&world.queue, slot)->client = 5;
    CHECK_U64 (arrive (&world, 2, TIED_REQUEST_REISSUE), ==, TI_ARRIVAL_NEW);
    CHECK_U64 (started (&world, 0, &slot), ==, TI_STARTED_EFFECTIVE);
}

/* Behind a copy of its own call it would wait for the same workers. */
static void a_hedge_is_second_where_a_live_copy_of_its_call_is (void **state)
{
    static const uint32_t others[] = {TIED_REQUEST_TIED, TIED_REQUEST_LAST};
    struct world world;
    uint32_t slot;

    (void)state;
    open_world (&world);
    slot = hold (&world, 1, TI_SLOT_TIED);
    CHECK_U64 (arrive (&world, 2, 0), ==, TI_ARRIVAL_SECOND);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK_U64 (arrive (&world, 2, others[i]), ==, TI_ARRIVAL_NEW);
    CHECK_U64 (arrive (&world, 0, 0), ==, TI_ARRIVAL_NEW);
    ti_queue_start (&world.queue, slot, 0);
    CHECK_U64 (arrive (&world, 2, 0), ==, TI_ARRIVAL_SECOND);
    CHECK_U64 (ti_queue_slot (&world.queue, slot)->flags, ==, TI_SLOT_TIED);
    ti_queue_slot (&world.queue, slot)->flags |= TI_SLOT_CANCELLED;
    CHECK_U64 (arrive (&world, 2, 0), ==, TI_ARRIVAL_NEW);
    ti_queue_slot (&world.queue, slot)->flags = 0;
    ti_queue_slot (&world.queue, slot)->client = 5;
    CHECK_U64 (arrive (&world, 2, 0), ==, TI_ARRIVAL_NEW);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_unknown_copy_is_new),
        cmocka_unit_test (RQ_08_a_copy_that_is_here_is_a_duplicate),
        cmocka_unit_test (a_copy_that_was_dealt_with_is_a_duplicate),
        cmocka_unit_test (RQ_11_a_tombstone_meets_its_copy_once_and_for_all),
        cmocka_unit_test (a_reissue_passes_the_tombstone_of_another_copy),
        cmocka_unit_test (a_hedge_passes_the_tombstone_of_another_copy_and_stays),
        cmocka_unit_test (STARTED_drops_a_waiting_tied_copy_only),
        cmocka_unit_test (STARTED_after_the_start_is_late_and_noted),
        cmocka_unit_test (STARTED_for_a_copy_that_is_gone_is_moot),
        cmocka_unit_test (UNTIE_is_sticky),
        cmocka_unit_test (UNTIE_may_come_before_its_copy),
        cmocka_unit_test (UNTIE_lifts_a_tombstone),
        cmocka_unit_test (UNTIE_for_a_copy_that_is_gone_changes_nothing),
        cmocka_unit_test (a_reissue_merges_with_a_waiting_or_running_copy),
        cmocka_unit_test (a_reissue_does_not_merge_with_a_copy_that_was_told_to_stop),
        cmocka_unit_test (a_reissue_does_not_merge_with_a_copy_of_another_client),
        cmocka_unit_test (a_hedge_is_second_where_a_live_copy_of_its_call_is),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
