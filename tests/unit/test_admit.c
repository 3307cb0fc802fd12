/* SPDX-License-Identifier: MIT */
#include "core/admit.h"

#include "check.h"

static struct ti_admit make (uint32_t workers, uint32_t queue_depth, uint32_t hedge_depth)
{
    struct tied_replica_core_options options;
    struct ti_admit admit;

    tied_replica_core_options_init (&options);
    options.workers = workers;
    options.queue_depth = queue_depth;
    options.hedge_depth = hedge_depth;
    ti_admit_init (&admit, &options);
    return admit;
}

static void nothing_is_estimated_before_the_first_measurement (void **state)
{
    struct ti_admit admit = make (1, 100, 100);

    (void)state;
    CHECK_U64 (ti_admit_wait (&admit, 99), ==, 0);
    CHECK_U64 (ti_admit_decide (&admit, 99, 99, false, 1), ==, TIED_REJECT_NONE);
}

static void the_first_measurement_counts_whole_and_later_ones_an_eighth (void **state)
{
    struct ti_admit admit = make (1, 100, 100);

    (void)state;
    ti_admit_measure (&admit, MS (8));
    CHECK_U64 (ti_admit_wait (&admit, 1), ==, MS (8));
    ti_admit_measure (&admit, MS (16));
    CHECK_U64 (ti_admit_wait (&admit, 1), ==, MS (9));
    CHECK_U64 (ti_admit_wait (&admit, 10), ==, MS (90));
}

static void workers_share_the_wait (void **state)
{
    struct ti_admit admit = make (4, 100, 100);

    (void)state;
    ti_admit_measure (&admit, MS (8));
    CHECK_U64 (ti_admit_wait (&admit, 10), ==, MS (20));
}

static void the_average_follows_down_to_zero (void **state)
{
    struct ti_admit admit = make (1, 100, 100);
    int i;

    (void)state;
    ti_admit_measure (&admit, S (1));
    for (i = 0; i < 300; i++)
        ti_admit_measure (&admit, 0);
    CHECK_U64 (ti_admit_wait (&admit, 1), <=, 1);
}

/* The longest service, the deepest queue: the estimate is large, not wrapped. */
static void the_estimate_does_not_wrap (void **state)
{
    struct ti_admit admit = make (1, 1 << 20, 1 << 20);
    int i;

    (void)state;
    for (i = 0; i < 100; i++)
        ti_admit_measure (&admit, TIED_NEVER);
    CHECK_U64 (ti_admit_wait (&admit, 1 << 20), >=, S (3600));
    CHECK_U64 (ti_admit_wait (&admit, 1 << 20), >, ti_admit_wait (&admit, (1 << 20) - 1));
    CHECK_U64 (ti_admit_decide (&admit, 1000, 1000, false, S (3600)), ==, TIED_REJECT_TOO_LATE);
}

static void RQ_16_limits_are_exact (void **state)
{
    struct ti_admit admit = make (1, 8, 5);

    (void)state;
    CHECK_U64 (ti_admit_decide (&admit, 7, 7, false, 1), ==, TIED_REJECT_NONE);
    CHECK_U64 (ti_admit_decide (&admit, 8, 8, false, 1), ==, TIED_REJECT_FULL);
    CHECK_U64 (ti_admit_decide (&admit, 4, 4, true, 1), ==, TIED_REJECT_NONE);
    CHECK_U64 (ti_admit_decide (&admit, 5, 5, true, 1), ==, TIED_REJECT_BUSY);
    CHECK_U64 (ti_admit_decide (&admit, 8, 8, true, 1), ==, TIED_REJECT_BUSY);
}

static void the_wait_limit_concerns_extra_copies_only (void **state)
{
    struct ti_admit admit = make (1, 100, 100);

    (void)state;
    admit.hedge_wait_ns = MS (20);
    ti_admit_measure (&admit, MS (10));
    CHECK_U64 (ti_admit_decide (&admit, 2, 2, true, TIED_NEVER), ==, TIED_REJECT_NONE);
    CHECK_U64 (ti_admit_decide (&admit, 3, 3, true, TIED_NEVER), ==, TIED_REJECT_BUSY);
    CHECK_U64 (ti_admit_decide (&admit, 3, 3, false, TIED_NEVER), ==, TIED_REJECT_NONE);
}

static void a_copy_that_cannot_start_in_time_is_refused (void **state)
{
    struct ti_admit admit = make (1, 100, 100);

    (void)state;
    ti_admit_measure (&admit, MS (10));
    CHECK_U64 (ti_admit_decide (&admit, 3, 3, false, MS (30)), ==, TIED_REJECT_NONE);
    CHECK_U64 (ti_admit_decide (&admit, 3, 3, false, MS (30) - 1), ==, TIED_REJECT_TOO_LATE);
}

static void the_default_hedge_depth_follows_the_workers (void **state)
{
    struct ti_admit few = make (1, 100, 0);
    struct ti_admit many = make (8, 100, 0);
    struct ti_admit capped = make (8, 2, 0);

    (void)state;
    CHECK_U64 (few.hedge_depth, ==, 4);
    CHECK_U64 (many.hedge_depth, ==, 32);
    CHECK_U64 (capped.hedge_depth, ==, 2);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (nothing_is_estimated_before_the_first_measurement),
        cmocka_unit_test (the_first_measurement_counts_whole_and_later_ones_an_eighth),
        cmocka_unit_test (workers_share_the_wait),
        cmocka_unit_test (the_average_follows_down_to_zero),
        cmocka_unit_test (the_estimate_does_not_wrap),
        cmocka_unit_test (RQ_16_limits_are_exact),
        cmocka_unit_test (the_wait_limit_concerns_extra_copies_only),
        cmocka_unit_test (a_copy_that_cannot_start_in_time_is_refused),
        cmocka_unit_test (the_default_hedge_depth_follows_the_workers),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
