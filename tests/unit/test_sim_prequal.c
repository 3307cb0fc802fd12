/* SPDX-License-Identifier: MIT */
/* What a client and a server of Prequal remember, and what they make of it. */
#include "check.h"

#include "reference/prequal_pool.h"

static struct sim_prequal_pool pool;

static void add (uint32_t server, uint32_t rif, uint64_t latency_ns)
{
    const struct sim_prequal_probe probe = {
        .server = server, .rif = rif, .latency_ns = latency_ns, .uses_left = 100};
    sim_prequal_pool_add (&pool, &probe);
}

static int empty (void **state)
{
    (void)state;
    pool = (struct sim_prequal_pool){.count = 0};
    return 0;
}

/* Ten answers of RIF 0 .. 9: 0.84 of them are reached with RIF 8. */
static void hot_is_above_the_quantile_of_the_answers (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        add (i, i, 0);
    CHECK_U64 (sim_prequal_pool_hot (&pool), ==, 8);
    /* The oldest answers fall out of the spread: in the end all say 3. */
    for (uint32_t i = 0; i < SIM_PREQUAL_SPREAD; i++)
        add (1, 3, 0);
    CHECK_U64 (sim_prequal_pool_hot (&pool), ==, 3);
}

static void cold_probe_of_least_latency_is_used (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        add (i, i, MS (20 - i));
    /* Server 9 would be the fastest, but is hot. */
    CHECK_U64 (sim_prequal_pool_use (&pool), ==, 8);
    /* Now it has one more in flight, 9, and is hot. */
    CHECK_U64 (sim_prequal_pool_use (&pool), ==, 7);
}

static void least_rif_is_used_when_all_are_hot (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SIM_PREQUAL_SPREAD; i++)
        add (1, 0, 0);
    pool.count = 0;
    add (2, 5, MS (1));
    add (3, 4, MS (9));
    CHECK_U64 (sim_prequal_pool_hot (&pool), ==, 0);
    CHECK_U64 (sim_prequal_pool_use (&pool), ==, 3);
}

static void probe_without_uses_left_is_forgotten (void **state)
{
    const struct sim_prequal_probe probe = {.server = 1, .uses_left = 2};
    (void)state;
    sim_prequal_pool_add (&pool, &probe);
    CHECK_U64 (sim_prequal_pool_use (&pool), ==, 1);
    CHECK_U64 (pool.count, ==, 1);
    CHECK_U64 (sim_prequal_pool_use (&pool), ==, 1);
    CHECK_U64 (pool.count, ==, 0);
}

static void newer_answer_replaces_that_of_its_server (void **state)
{
    (void)state;
    add (1, 7, 0);
    add (2, 0, 0);
    add (1, 2, 0);
    CHECK_U64 (pool.count, ==, 2);
    CHECK_U64 (pool.probes[0].server, ==, 2);
    CHECK_U64 (pool.probes[1].rif, ==, 2);
}

static void full_pool_forgets_the_oldest (void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= SIM_PREQUAL_POOL; i++)
        add (i, 0, 0);
    CHECK_U64 (pool.count, ==, SIM_PREQUAL_POOL);
    CHECK_U64 (pool.probes[0].server, ==, 1);
}

static void oldest_and_worst_are_removed_in_turn (void **state)
{
    (void)state;
    add (0, 0, MS (1));
    add (1, 0, MS (9));
    add (2, 0, MS (2));
    add (3, 0, MS (3));
    sim_prequal_pool_shrink (&pool); /* oldest: 0 */
    sim_prequal_pool_shrink (&pool); /* worst: none is hot, most latency: 1 */
    CHECK_U64 (pool.count, ==, 2);
    CHECK_U64 (pool.probes[0].server, ==, 2);
    sim_prequal_pool_shrink (&pool);
    CHECK_U64 (pool.probes[0].server, ==, 3);
    sim_prequal_pool_shrink (&pool);
    sim_prequal_pool_shrink (&pool);
    CHECK_U64 (pool.count, ==, 0);
}

static void hot_probe_of_most_rif_is_the_worst (void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SIM_PREQUAL_SPREAD; i++)
        add (0, 1, MS (50));
    add (1, 2, MS (1));
    add (2, 3, MS (1));
    pool.removes_worst = true;
    sim_prequal_pool_shrink (&pool);
    CHECK_U64 (pool.count, ==, 2);
    CHECK_U64 (pool.probes[0].server, ==, 0);
    CHECK_U64 (pool.probes[1].server, ==, 1);
}

static void probes_live_for_a_second (void **state)
{
    struct sim_prequal_probe probe = {.server = 1, .received = S (5)};
    (void)state;
    sim_prequal_pool_add (&pool, &probe);
    probe = (struct sim_prequal_probe){.server = 2, .received = S (5) + 1};
    sim_prequal_pool_add (&pool, &probe);
    sim_prequal_pool_expire (&pool, S (6));
    CHECK_U64 (pool.count, ==, 2);
    sim_prequal_pool_expire (&pool, S (6) + 1);
    CHECK_U64 (pool.count, ==, 1);
    CHECK_U64 (pool.probes[0].server, ==, 2);
}

static void estimate_is_the_median_at_the_nearest_load (void **state)
{
    struct sim_prequal_history history = {.count = 0};
    (void)state;
    CHECK_U64 (sim_prequal_history_estimate (&history, 0), ==, 0);
    for (uint64_t i = 1; i <= 5; i++) {
        sim_prequal_history_add (&history, 0, MS (6 - i));
        sim_prequal_history_add (&history, 4, MS (10 * i));
    }
    CHECK_U64 (sim_prequal_history_estimate (&history, 0), ==, MS (3));
    CHECK_U64 (sim_prequal_history_estimate (&history, 1), ==, MS (3));
    CHECK_U64 (sim_prequal_history_estimate (&history, 9), ==, MS (30));
    /* As near to both: all ten. */
    CHECK_U64 (sim_prequal_history_estimate (&history, 2), ==, MS (10));
}

static void history_forgets_the_oldest (void **state)
{
    struct sim_prequal_history history = {.count = 0};
    (void)state;
    sim_prequal_history_add (&history, 0, MS (99));
    for (uint32_t i = 0; i < SIM_PREQUAL_HISTORY; i++)
        sim_prequal_history_add (&history, 5, MS (1));
    CHECK_U64 (history.count, ==, SIM_PREQUAL_HISTORY);
    CHECK_U64 (sim_prequal_history_estimate (&history, 0), ==, MS (1));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup (hot_is_above_the_quantile_of_the_answers, empty),
        cmocka_unit_test_setup (cold_probe_of_least_latency_is_used, empty),
        cmocka_unit_test_setup (least_rif_is_used_when_all_are_hot, empty),
        cmocka_unit_test_setup (probe_without_uses_left_is_forgotten, empty),
        cmocka_unit_test_setup (newer_answer_replaces_that_of_its_server, empty),
        cmocka_unit_test_setup (full_pool_forgets_the_oldest, empty),
        cmocka_unit_test_setup (oldest_and_worst_are_removed_in_turn, empty),
        cmocka_unit_test_setup (hot_probe_of_most_rif_is_the_worst, empty),
        cmocka_unit_test_setup (probes_live_for_a_second, empty),
        cmocka_unit_test (estimate_is_the_median_at_the_nearest_load),
        cmocka_unit_test (history_forgets_the_oldest),
    };
    return cmocka_run_group_tests_name ("sim_prequal", tests, NULL, NULL);
}
