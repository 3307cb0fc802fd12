/* SPDX-License-Identifier: MIT */
#include "core/recent.h"

#include "check.h"

#define MAX 16
#define TTL MS (100)

struct world {
    struct ti_recent recent;
    struct tied_replica_counters counters;
    max_align_t array[512];
};

static void open_world (struct world *self)
{
    memset (self, 0, sizeof *self);
    CHECK_U64 (ti_recent_size (MAX), <=, sizeof self->array);
    ti_recent_init (&self->recent, self->array, MAX, TTL, 1);
}

static void put (struct world *self, uint64_t sequence, enum ti_note_kind kind, tied_time_t now)
{
    struct tied_call_id call = {1, sequence};

    ti_recent_put (&self->recent, call, 0, kind, now, &self->counters);
    ti_recent_check (&self->recent);
}

/* Kind of the note, 0 if there is none. */
static int kind_of (const struct world *self, uint64_t sequence, uint8_t copy)
{
    struct tied_call_id call = {1, sequence};
    uint32_t index = ti_recent_find (&self->recent, call, copy);

    return index == TI_NOTE_NONE ? 0 : ti_recent_note_const (&self->recent, index)->kind;
}

static void a_note_concerns_one_copy (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    put (&world, 1, TI_NOTE_TOMBSTONE, 0);
    CHECK_I64 (kind_of (&world, 1, 0), ==, TI_NOTE_TOMBSTONE);
    CHECK_I64 (kind_of (&world, 1, 1), ==, 0);
    CHECK_I64 (kind_of (&world, 2, 0), ==, 0);
}

static void a_second_note_replaces_the_first_and_is_young_again (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    put (&world, 1, TI_NOTE_TOMBSTONE, 0);
    put (&world, 2, TI_NOTE_TOMBSTONE, MS (10));
    put (&world, 1, TI_NOTE_FINISHED, MS (20));
    CHECK_U64 (ti_recent_count (&world.recent), ==, 2);
    CHECK_I64 (kind_of (&world, 1, 0), ==, TI_NOTE_FINISHED);
    CHECK_U64 (ti_recent_deadline (&world.recent), ==, MS (10) + TTL);
}

static void RQ_10_the_oldest_note_makes_room_and_is_counted (void **state)
{
    struct world world;
    uint64_t i;

    (void)state;
    open_world (&world);
    put (&world, 0, TI_NOTE_TOMBSTONE, 0);
    for (i = 1; i < 1000; i++)
        put (&world, i, TI_NOTE_FINISHED, i);
    CHECK_U64 (ti_recent_count (&world.recent), ==, MAX);
    CHECK_U64 (world.counters.tombstones_evicted, ==, 1);
    CHECK_U64 (world.counters.notes_evicted, ==, 1000 - MAX - 1);
    CHECK_I64 (kind_of (&world, 1000 - MAX - 1, 0), ==, 0);
    CHECK_I64 (kind_of (&world, 1000 - MAX, 0), ==, TI_NOTE_FINISHED);
}

/* RQ-23: a note that nobody asks for goes away all the same. */
static void RQ_23_notes_age_without_being_looked_up (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    put (&world, 1, TI_NOTE_TOMBSTONE, 0);
    put (&world, 2, TI_NOTE_GONE, MS (50));
    ti_recent_age (&world.recent, TTL - 1, 10, &world.counters);
    CHECK_U64 (ti_recent_count (&world.recent), ==, 2);
    ti_recent_age (&world.recent, TTL, 10, &world.counters);
    CHECK_I64 (kind_of (&world, 1, 0), ==, 0);
    CHECK_I64 (kind_of (&world, 2, 0), ==, TI_NOTE_GONE);
    ti_recent_age (&world.recent, MS (50) + TTL, 10, &world.counters);
    CHECK_U64 (ti_recent_count (&world.recent), ==, 0);
    CHECK_U64 (world.counters.tombstones_expired, ==, 1);
    CHECK_U64 (ti_recent_deadline (&world.recent), ==, TIED_NEVER);
    ti_recent_check (&world.recent);
}

static void ageing_removes_no_more_than_its_bound (void **state)
{
    struct world world;
    uint64_t i;

    (void)state;
    open_world (&world);
    for (i = 0; i < 10; i++)
        put (&world, i, TI_NOTE_GONE, 0);
    ti_recent_age (&world.recent, S (1), 4, &world.counters);
    CHECK_U64 (ti_recent_count (&world.recent), ==, 6);
}

static void a_removed_note_leaves_the_others_in_order (void **state)
{
    struct tied_call_id call = {1, 1};
    struct world world;

    (void)state;
    open_world (&world);
    put (&world, 0, TI_NOTE_GONE, 0);
    put (&world, 1, TI_NOTE_GONE, MS (1));
    put (&world, 2, TI_NOTE_GONE, MS (2));
    ti_recent_remove (&world.recent, ti_recent_find (&world.recent, call, 0));
    ti_recent_check (&world.recent);
    ti_recent_age (&world.recent, TTL, 1, &world.counters);
    CHECK_U64 (ti_recent_deadline (&world.recent), ==, MS (2) + TTL);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_note_concerns_one_copy),
        cmocka_unit_test (a_second_note_replaces_the_first_and_is_young_again),
        cmocka_unit_test (RQ_10_the_oldest_note_makes_room_and_is_counted),
        cmocka_unit_test (RQ_23_notes_age_without_being_looked_up),
        cmocka_unit_test (ageing_removes_no_more_than_its_bound),
        cmocka_unit_test (a_removed_note_leaves_the_others_in_order),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
