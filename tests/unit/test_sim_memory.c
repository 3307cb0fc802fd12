/* SPDX-License-Identifier: MIT */
/* Memory that runs out in the middle of a run: who began it hears of it, and the innermost first.
 */
#include "check.h"
#include "engine/memory.h"

static int inner_fails (void)
{
    struct sim_memory_guard guard;
    sim_memory_guard_enter (&guard);
    if (setjmp (guard.back) != 0)
        return 2;
    sim_memory_failed ();
}

static int outer (bool fails_itself)
{
    struct sim_memory_guard guard;
    sim_memory_guard_enter (&guard);
    if (setjmp (guard.back) != 0)
        return 1;
    int inner = inner_fails ();
    if (fails_itself)
        sim_memory_failed ();
    sim_memory_guard_leave (&guard);
    return inner;
}

static void a_failure_goes_to_the_innermost_guard (void **state)
{
    (void)state;
    CHECK_I64 (outer (false), ==, 2);
    CHECK_I64 (outer (true), ==, 1);
    CHECK_I64 (outer (false), ==, 2);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_failure_goes_to_the_innermost_guard),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
