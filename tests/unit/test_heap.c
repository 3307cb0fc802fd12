/* SPDX-License-Identifier: MIT */
/* The indexed heap against a naive model: an array searched for its least (time, order). */
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/prng.h"
#include "base/util.h"
#include "check.h"

#define NODES 40

struct box {
    struct ti_heap heap;
    max_align_t arrays[NODES * 4];
};

static void make (struct box *box, uint32_t capacity)
{
    CHECK_U64 (ti_heap_size (capacity), <=, sizeof box->arrays);
    ti_heap_init (&box->heap, capacity, offsetof (struct box, arrays));
}

static void an_empty_heap_has_nothing_to_wait_for (void **state)
{
    (void)state;
    struct box box;
    make (&box, NODES);
    CHECK_U64 (ti_heap_top_time (&box.heap), ==, TIED_NEVER);
    CHECK_FALSE (ti_heap_remove (&box.heap, 3));
    CHECK_FALSE (ti_heap_has (&box.heap, 3));
    ti_heap_check (&box.heap);
}

static void equal_times_leave_in_the_order_in_which_they_were_set (void **state)
{
    (void)state;
    struct box box;
    make (&box, NODES);
    for (uint32_t id = 0; id < NODES; id++)
        ti_heap_set (&box.heap, (id * 7) % NODES, 5);
    /* Set again: behind all others. */
    ti_heap_set (&box.heap, 0, 5);
    for (uint32_t i = 1; i <= NODES; i++) {
        CHECK_U64 (ti_heap_top (&box.heap), ==, (i % NODES * 7) % NODES);
        CHECK_TRUE (ti_heap_remove (&box.heap, ti_heap_top (&box.heap)));
        ti_heap_check (&box.heap);
    }
}

static void an_update_moves_a_node_both_ways (void **state)
{
    (void)state;
    struct box box;
    make (&box, NODES);
    for (uint32_t id = 0; id < NODES; id++)
        ti_heap_set (&box.heap, id, 100 + id);
    ti_heap_set (&box.heap, 20, 1);
    CHECK_U64 (ti_heap_top (&box.heap), ==, 20);
    CHECK_U64 (ti_heap_time (&box.heap, 20), ==, 1);
    ti_heap_set (&box.heap, 20, TIED_NEVER);
    CHECK_U64 (ti_heap_top (&box.heap), ==, 0);
    CHECK_U64 (box.heap.count, ==, NODES);
    ti_heap_check (&box.heap);
}

static void random_operations_agree_with_a_naive_model (void **state)
{
    (void)state;
    struct box box;
    struct ti_prng prng;
    uint64_t times[NODES];
    uint64_t orders[NODES];
    bool is_in[NODES] = {false};
    uint64_t order = 0;
    make (&box, NODES);
    ti_prng_seed (&prng, 1);
    for (uint64_t i = 0; i < check_scale (200000); i++) {
        const uint32_t id = (uint32_t)ti_prng_below (&prng, NODES);
        if (ti_prng_below (&prng, 3)) {
            times[id] = ti_prng_below (&prng, 20);
            orders[id] = order++;
            is_in[id] = true;
            ti_heap_set (&box.heap, id, times[id]);
        } else {
            CHECK_U64 (ti_heap_remove (&box.heap, id), ==, is_in[id]);
            is_in[id] = false;
        }
        uint32_t least = NODES;
        uint32_t count = 0;
        for (uint32_t j = 0; j < NODES; j++) {
            if (!is_in[j])
                continue;
            count++;
            if (least == NODES || times[j] < times[least] ||
                (times[j] == times[least] && orders[j] < orders[least]))
                least = j;
        }
        CHECK_U64 (box.heap.count, ==, count);
        if (count)
            CHECK_U64 (ti_heap_top (&box.heap), ==, least);
        ti_heap_check (&box.heap);
    }
}

static void a_copy_of_the_block_is_a_heap (void **state)
{
    (void)state;
    struct box a;
    struct box b;
    memset (&a, 0, sizeof a);
    make (&a, NODES);
    for (uint32_t id = 0; id < NODES; id++)
        ti_heap_set (&a.heap, id, 1000 - id);
    memcpy (&b, &a, sizeof a);
    memset (&a, 0xff, sizeof a);
    CHECK_U64 (ti_heap_top (&b.heap), ==, NODES - 1);
    ti_heap_check (&b.heap);
}

static void the_hash_depends_on_order_and_not_on_history_or_absolute_time (void **state)
{
    (void)state;
    struct box a;
    struct box b;
    make (&a, NODES);
    make (&b, NODES);
    for (uint32_t id = 0; id < 10; id++)
        ti_heap_set (&a.heap, id, 100);
    for (uint32_t id = 20; id < 30; id++)
        ti_heap_set (&b.heap, id, id);
    for (uint32_t id = 20; id < 30; id++)
        CHECK_TRUE (ti_heap_remove (&b.heap, id));
    for (uint32_t id = 0; id < 10; id++)
        ti_heap_set (&b.heap, id, 150);
    CHECK_U64 (ti_heap_hash (&a.heap, 50), ==, ti_heap_hash (&b.heap, 100));
    ti_heap_set (&b.heap, 4, 150);
    CHECK_U64 (ti_heap_hash (&a.heap, 50), !=, ti_heap_hash (&b.heap, 100));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (an_empty_heap_has_nothing_to_wait_for),
        cmocka_unit_test (equal_times_leave_in_the_order_in_which_they_were_set),
        cmocka_unit_test (an_update_moves_a_node_both_ways),
        cmocka_unit_test (random_operations_agree_with_a_naive_model),
        cmocka_unit_test (a_copy_of_the_block_is_a_heap),
        cmocka_unit_test (the_hash_depends_on_order_and_not_on_history_or_absolute_time),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
