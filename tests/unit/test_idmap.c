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
    uint32_t entries[4 * RECORDS];
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

/* The n-th number from `from` on whose place in the map is that of 0: such ids pile up. */
static uint64_t colliding (const struct world *world, uint64_t from)
{
    const struct tied_call_id zero = {0, 0};
    uint32_t home = ti_idmap_expect (&world->map, zero) & world->map.mask;

    for (;; from++) {
        struct tied_call_id key = {0, from};

        if ((ti_idmap_expect (&world->map, key) & world->map.mask) == home)
            return from;
    }
}

/* An entry has five bits for its distance from its home. Those farther off ask their record. */
static void entries_far_from_their_home_are_found_and_removed (void **state)
{
    struct world world;
    uint64_t sequence = 0;
    uint32_t i;

    (void)state;
    open_world (&world);
    for (i = 0; i < RECORDS; i++) {
        sequence = colliding (&world, sequence + 1);
        add (&world, i, 0, sequence);
    }
    ti_idmap_check (&world.map);
    CHECK_U64 (find (&world, 0, colliding (&world, sequence + 1)), ==, TI_IDMAP_NONE);
    /* The first pulls all others one place back, 32 to 31 among them; and then from the middle. */
    for (i = 0; i < RECORDS; i++) {
        uint32_t value = (i * 37) % RECORDS;
        struct tied_call_id key = world.records[value].call;
        uint32_t j;

        CHECK_U64 (find (&world, key.epoch, key.sequence), ==, value);
        ti_idmap_remove (&world.map, value);
        ti_idmap_check (&world.map);
        CHECK_U64 (find (&world, key.epoch, key.sequence), ==, TI_IDMAP_NONE);
        for (j = i + 1; j < RECORDS; j++) {
            value = (j * 37) % RECORDS;
            key = world.records[value].call;
            CHECK_U64 (find (&world, key.epoch, key.sequence), ==, value);
        }
    }
}

/* At the largest size two bits of an entry are left for the hash. */
static void the_largest_record_number_is_kept_whole (void **state)
{
    const uint32_t max = UINT32_C (1) << 24;
    const size_t size = ti_idmap_size (max);
    const struct tied_call_id low = {3, 4};
    const struct tied_call_id high = {5, 6};
    unsigned char *block = malloc (sizeof (struct ti_idmap) + size + max * sizeof low);
    struct ti_idmap *map = (struct ti_idmap *)(void *)block;
    struct tied_call_id *records = (struct tied_call_id *)(void *)(block + sizeof *map + size);
    struct ti_idmap_cursor cursor;

    (void)state;
    CHECK_TRUE (block != NULL);
    ti_idmap_init (map, block + sizeof *map, max, records, sizeof low, 1);
    records[0] = low;
    records[max - 1] = high;
    ti_idmap_insert (map, 0);
    ti_idmap_insert (map, max - 1);
    CHECK_U64 (ti_idmap_find_first (map, low, &cursor), ==, 0);
    CHECK_U64 (ti_idmap_find_first (map, high, &cursor), ==, max - 1);
    ti_idmap_remove (map, max - 1);
    CHECK_U64 (ti_idmap_find_first (map, high, &cursor), ==, TI_IDMAP_NONE);
    CHECK_U64 (ti_idmap_find_first (map, low, &cursor), ==, 0);
    free (block);
}

static void a_guess_names_a_record_that_is_in (void **state)
{
    struct world world;
    uint32_t i;

    (void)state;
    open_world (&world);
    for (i = 0; i < RECORDS; i += 2)
        add (&world, i, 9, i);
    for (i = 0; i < RECORDS; i++) {
        struct tied_call_id key = {9, i};
        uint32_t value = ti_idmap_guess (&world.map, ti_idmap_expect (&world.map, key));

        if (i % 2 == 0)
            CHECK_U64 (value, ==, i);
        else
            CHECK_U64 (value, ==, TI_IDMAP_NONE);
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
        cmocka_unit_test (entries_far_from_their_home_are_found_and_removed),
        cmocka_unit_test (the_largest_record_number_is_kept_whole),
        cmocka_unit_test (a_guess_names_a_record_that_is_in),
        cmocka_unit_test (a_full_map_finds_and_misses),
        cmocka_unit_test (a_copy_of_the_block_is_independent),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
