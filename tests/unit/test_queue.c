/* SPDX-License-Identifier: MIT */
#include "core/queue.h"

#include "check.h"

struct world {
    struct ti_queue queue;
    max_align_t array[];
};

static struct world *open_world (uint32_t max)
{
    struct world *self = calloc (1, sizeof *self + ti_queue_size (max));

    CHECK_TRUE (self != NULL);
    ti_queue_init (&self->queue, self->array, max, 1);
    return self;
}

static uint32_t push (struct world *self, uint64_t sequence, uint8_t copy, uint16_t flags)
{
    struct ti_slot slot;

    memset (&slot, 0, sizeof slot);
    slot.call.epoch = 1;
    slot.call.sequence = sequence;
    slot.copy = copy;
    slot.flags = flags;
    slot.since = MS (10);
    return ti_queue_push (&self->queue, &slot);
}

static uint64_t pop (struct world *self)
{
    uint32_t first = ti_queue_first (&self->queue);
    uint64_t sequence = ti_queue_slot (&self->queue, first)->call.sequence;

    ti_queue_remove (&self->queue, first);
    ti_queue_check (&self->queue);
    return sequence;
}

static void copies_leave_in_the_order_of_arrival (void **state)
{
    struct world *world = open_world (4);
    uint64_t i;

    (void)state;
    for (i = 0; i < 4; i++)
        (void)push (world, i, 0, 0);
    for (i = 0; i < 4; i++)
        CHECK_U64 (pop (world), ==, i);
    CHECK_U64 (ti_queue_first (&world->queue), ==, TI_SLOT_NONE);
    free (world);
}

static void the_lane_behind_waits_for_the_first_one (void **state)
{
    struct world *world = open_world (4);

    (void)state;
    (void)push (world, 1, 2, TI_SLOT_BEHIND);
    (void)push (world, 2, 0, 0);
    (void)push (world, 3, 2, TI_SLOT_BEHIND);
    (void)push (world, 4, 0, 0);
    CHECK_U64 (pop (world), ==, 2);
    CHECK_U64 (pop (world), ==, 4);
    CHECK_U64 (pop (world), ==, 1);
    CHECK_U64 (pop (world), ==, 3);
    free (world);
}

static void the_lane_of_relief_goes_before_the_first_one (void **state)
{
    struct world *world = open_world (5);

    (void)state;
    (void)push (world, 1, 2, TI_SLOT_BEHIND);
    (void)push (world, 2, 0, 0);
    (void)push (world, 3, 2, TI_SLOT_RELIEF);
    (void)push (world, 4, 2, TI_SLOT_RELIEF);
    CHECK_U64 (world->queue.relief, ==, 2);
    CHECK_U64 (world->queue.depth, ==, 4);
    CHECK_U64 (pop (world), ==, 3);
    (void)push (world, 5, 2, TI_SLOT_RELIEF);
    CHECK_U64 (pop (world), ==, 4);
    CHECK_U64 (pop (world), ==, 5);
    CHECK_U64 (world->queue.relief, ==, 0);
    CHECK_U64 (pop (world), ==, 2);
    CHECK_U64 (pop (world), ==, 1);
    free (world);
}

/* Whoever walks over all that wait meets each of them. */
static void a_walk_goes_through_all_three_lanes (void **state)
{
    static const uint32_t lanes[] = {TI_SLOT_RELIEF, 0, TI_SLOT_BEHIND};

    (void)state;
    for (uint32_t mask = 0; mask < 8; mask++) {
        struct world *world = open_world (3);
        uint32_t expected = 0, found = 0;

        for (uint32_t i = 0; i < 3; i++)
            if (mask & 1u << i) {
                (void)push (world, i, 2, (uint16_t)lanes[i]);
                expected++;
            }
        for (uint32_t at = ti_queue_first (&world->queue); at != TI_SLOT_NONE;
             at = ti_queue_after (&world->queue, at))
            found++;
        CHECK_U64 (found, ==, expected);
        free (world);
    }
}

static void removal_from_the_middle_keeps_the_others_in_order (void **state)
{
    struct world *world = open_world (3);
    uint32_t middle;

    (void)state;
    (void)push (world, 1, 0, 0);
    middle = push (world, 2, 0, 0);
    (void)push (world, 3, 0, 0);
    CHECK_U64 (ti_queue_after (&world->queue, middle), !=, TI_SLOT_NONE);
    ti_queue_remove (&world->queue, middle);
    ti_queue_check (&world->queue);
    CHECK_U64 (world->queue.depth, ==, 2);
    CHECK_U64 (pop (world), ==, 1);
    CHECK_U64 (pop (world), ==, 3);
    free (world);
}

static void a_started_copy_is_found_but_does_not_wait (void **state)
{
    struct tied_call_id call = {1, 9};
    struct world *world = open_world (2);
    uint32_t slot = push (world, 9, 1, 0);

    (void)state;
    ti_queue_start (&world->queue, slot, MS (25));
    ti_queue_check (&world->queue);
    CHECK_U64 (world->queue.depth, ==, 0);
    CHECK_U64 (world->queue.running, ==, 1);
    CHECK_U64 (ti_queue_slot (&world->queue, slot)->u.waited, ==, MS (15));
    CHECK_U64 (ti_queue_find (&world->queue, call, 1), ==, slot);
    CHECK_U64 (ti_queue_find (&world->queue, call, 0), ==, TI_SLOT_NONE);
    ti_queue_finish (&world->queue, slot);
    ti_queue_check (&world->queue);
    CHECK_U64 (ti_queue_find (&world->queue, call, 1), ==, TI_SLOT_NONE);
    free (world);
}

static void copies_of_one_call_are_told_apart (void **state)
{
    struct tied_call_id call = {1, 5};
    struct world *world = open_world (3);
    uint32_t a = push (world, 5, 0, 0);
    uint32_t b = push (world, 5, 1, 0);

    (void)state;
    CHECK_U64 (ti_queue_find (&world->queue, call, 0), ==, a);
    CHECK_U64 (ti_queue_find (&world->queue, call, 1), ==, b);
    ti_queue_remove (&world->queue, a);
    CHECK_U64 (ti_queue_find (&world->queue, call, 0), ==, TI_SLOT_NONE);
    CHECK_U64 (ti_queue_find (&world->queue, call, 1), ==, b);
    free (world);
}

static void every_slot_can_be_used_again (void **state)
{
    struct world *world = open_world (3);
    uint32_t slot;
    uint64_t i;

    (void)state;
    for (i = 0; i < 100; i++) {
        (void)push (world, 3 * i, 0, 0);
        (void)push (world, 3 * i + 1, 0, TI_SLOT_BEHIND);
        slot = push (world, 3 * i + 2, 0, 0);
        ti_queue_start (&world->queue, slot, MS (20));
        ti_queue_finish (&world->queue, slot);
        CHECK_U64 (pop (world), ==, 3 * i);
        CHECK_U64 (pop (world), ==, 3 * i + 1);
        CHECK_U64 (world->queue.depth + world->queue.running, ==, 0);
    }
    free (world);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (copies_leave_in_the_order_of_arrival),
        cmocka_unit_test (the_lane_behind_waits_for_the_first_one),
        cmocka_unit_test (the_lane_of_relief_goes_before_the_first_one),
        cmocka_unit_test (a_walk_goes_through_all_three_lanes),
        cmocka_unit_test (removal_from_the_middle_keeps_the_others_in_order),
        cmocka_unit_test (a_started_copy_is_found_but_does_not_wait),
        cmocka_unit_test (copies_of_one_call_are_told_apart),
        cmocka_unit_test (every_slot_can_be_used_again),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
