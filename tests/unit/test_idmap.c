/* SPDX-License-Identifier: MIT */
#include "base/idmap.h"

#include "check.h"

#define RECORDS 64

struct record {
    struct tied_call_id call;
    uint64_t other;
};

struct world {
    struct ti_idmap map;
    struct record records[RECORDS];
    struct ti_idmap_entry entries[2 * RECORDS];
};

static void open_world (struct world *self)
{
    memset (self, 0, sizeof *self);
    CHECK_U64 (ti_idmap_size (RECORDS), ==, sizeof self->entries);
    ti_idmap_init (&self->map, self->entries, RECORDS, &self->records[0].call,
                   sizeof self->records[0], 42);
}

static void add (struct world *self, uint32_t value, uint64_t epoch, uint64_t sequence)
{
    self->records[value].call.epoch = epoch;
    self->records[value].call.sequence = sequence;
    ti_idmap_insert (&self->map, value);
}

static uint32_t find (const struct world *self, uint64_t epoch, uint64_t sequence)
{
    struct tied_call_id key = {epoch, sequence};
    struct ti_idmap_cursor cursor;

    return ti_idmap_find_first (&self->map, key, &cursor);
}

static void an_empty_map_finds_nothing (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    CHECK_U64 (find (&world, 0, 0), ==, TI_IDMAP_NONE);
    ti_idmap_check (&world.map);
}

static void both_halves_of_the_id_count (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    add (&world, 3, 1, 2);
    CHECK_U64 (find (&world, 1, 2), ==, 3);
    CHECK_U64 (find (&world, 2, 1), ==, TI_IDMAP_NONE);
    CHECK_U64 (find (&world, 1, 3), ==, TI_IDMAP_NONE);
    CHECK_U64 (find (&world, 2, 2), ==, TI_IDMAP_NONE);
}

/* CK-04: the edges of the number range are ids like any other. */
static void CK_04_ids_at_the_edges_are_ordinary (void **state)
{
    struct world world;

    (void)state;
    open_world (&world);
    add (&world, 0, 0, 0);
    add (&world, 1, UINT64_MAX, UINT64_MAX);
    add (&world, 2, UINT64_MAX, 0);
    CHECK_U64 (find (&world, 0, 0), ==, 0);
    CHECK_U64 (find (&world, UINT64_MAX, UINT64_MAX), ==, 1);
    CHECK_U64 (find (&world, UINT64_MAX, 0), ==, 2);
    ti_idmap_remove (&world.map, 1);
    CHECK_U64 (find (&world, UINT64_MAX, UINT64_MAX), ==, TI_IDMAP_NONE);
}

static void every_value_of_one_id_is_found_once (void **state)
{
    struct tied_call_id key = {5, 5};
    struct ti_idmap_cursor cursor;
    struct world world;
    uint64_t seen = 0;
    uint32_t value;
    uint32_t i;

    (void)state;
    open_world (&world);
    for (i = 0; i < RECORDS; i++)
        add (&world, i, i % 2 ? 5 : 6, 5);
    ti_idmap_remove (&world.map, 1);
    for (value = ti_idmap_find_first (&world.map, key, &cursor); value != TI_IDMAP_NONE;
         value = ti_idmap_find_next (&world.map, key, &cursor)) {
        CHECK_U64 (seen & UINT64_C (1) << value, ==, 0);
        seen |= UINT64_C (1) << value;
    }
    CHECK_U64 (seen, ==, UINT64_C (0xaaaaaaaaaaaaaaa8));
    ti_idmap_check (&world.map);
}

/* Random inserts and removals up to the brim, against a list of what is in. */
static void removal_never_hides_another_entry (void **state)
{
    bool is_in[RECORDS] = {false};
    struct world world;
    uint64_t x = 1;
    uint32_t i;
    int step;

    (void)state;
    open_world (&world);
    for (step = 0; step < 100000; step++) {
        uint32_t value;

        x = x * UINT64_C (6364136223846793005) + 1442695040888963407u;
        value = (uint32_t)(x >> 33) % RECORDS;
        if (is_in[value])
            ti_idmap_remove (&world.map, value);
        else
            add (&world, value, (x >> 20) % 3, value);
        is_in[value] = !is_in[value];
        if (step % 16 == 0)
            ti_idmap_check (&world.map);
    }
    for (i = 0; i < RECORDS; i++) {
        struct tied_call_id key = world.records[i].call;

        CHECK_U64 (find (&world, key.epoch, key.sequence), ==, is_in[i] ? i : TI_IDMAP_NONE);
    }
}

static void a_full_map_finds_and_misses (void **state)
{
    struct world world;
    uint32_t i;

    (void)state;
    open_world (&world);
    for (i = 0; i < RECORDS; i++)
        add (&world, i, 9, i);
    CHECK_U64 (world.map.count, ==, RECORDS);
    for (i = 0; i < RECORDS; i++)
        CHECK_U64 (find (&world, 9, i), ==, i);
    CHECK_U64 (find (&world, 9, RECORDS), ==, TI_IDMAP_NONE);
    for (i = 0; i < RECORDS; i++)
        ti_idmap_remove (&world.map, i);
    CHECK_U64 (world.map.count, ==, 0);
    ti_idmap_check (&world.map);
}

static void a_copy_of_the_block_is_independent (void **state)
{
    struct world world;
    struct world copy;

    (void)state;
    open_world (&world);
    add (&world, 7, 1, 1);
    copy = world;
    ti_idmap_remove (&world.map, 7);
    CHECK_U64 (find (&world, 1, 1), ==, TI_IDMAP_NONE);
    CHECK_U64 (find (&copy, 1, 1), ==, 7);
    ti_idmap_check (&copy.map);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_empty_map_finds_nothing),
        cmocka_unit_test (both_halves_of_the_id_count),
        cmocka_unit_test (CK_04_ids_at_the_edges_are_ordinary),
        cmocka_unit_test (every_value_of_one_id_is_found_once),
        cmocka_unit_test (removal_never_hides_another_entry),
        cmocka_unit_test (a_full_map_finds_and_misses),
        cmocka_unit_test (a_copy_of_the_block_is_independent),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
