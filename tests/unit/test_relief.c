/* SPDX-License-Identifier: MIT */
/* Which executions are worth a hedge because that makes less work, and what tells that they run. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "core/fifo.h"
#include "core/relief.h"

#define BUDGET    50000
#define UNLIMITED TIED_PPM

static const struct ti_relief none = {TIED_NEVER, TIED_NEVER};

/* A share of all ends at each of these times; what is left over never does. */
static struct ti_curve *curve (const tied_duration_t *at, const uint32_t *ppm, uint32_t count)
{
    struct ti_curve *self = calloc (1, sizeof *self);
    uint32_t left = TIED_PPM;
    CHECK_TRUE (self != NULL);
    for (uint32_t i = 0; i < count; i++) {
        left -= ppm[i];
        self->points[i] = (struct ti_curve_point){at[i], left};
    }
    self->count = count;
    self->samples = 1000;
    return self;
}

static struct ti_relief relief (struct ti_curve *service, uint32_t budget, struct ti_relief before)
{
    struct ti_relief out;
    ti_relief (service, budget, &before, &out);
    free (service);
    return out;
}

static void a_long_execution_among_short_ones_is_relieved_as_soon_as_it_stands_out (void **state)
{
    const tied_duration_t at[] = {MS (5), MS (20), MS (200)};
    const uint32_t ppm[] = {980000, 1000, 19000};
    (void)state;
    const struct ti_relief found = relief (curve (at, ppm, 3), BUDGET, none);
    CHECK_U64 (found.from_ns, ==, MS (5));
    /* At 20 ms nine tenths of what could be saved is still there. */
    CHECK_U64 (found.delay_ns, ==, MS (20));
    CHECK_U64 (relief (curve (at, ppm, 3), 0, none).from_ns, ==, MS (5));
}

static void what_is_left_of_it_must_be_long_against_an_execution_anew (void **state)
{
    const tied_duration_t at[] = {MS (5), MS (11)};
    const uint32_t ppm[] = {980000, 20000};
    (void)state;
    CHECK_U64 (relief (curve (at, ppm, 2), BUDGET, none).from_ns, ==, TIED_NEVER);
    CHECK_U64 (relief (curve (at, ppm, 2), BUDGET, none).delay_ns, ==, TIED_NEVER);
    /* A fifth of it is saved; three tenths. */
    const tied_duration_t fifth[] = {MS (5), TIED_US (17800)}, more[] = {MS (5), MS (20)};
    CHECK_U64 (relief (curve (fifth, ppm, 2), BUDGET, none).from_ns, ==, TIED_NEVER);
    CHECK_U64 (relief (curve (more, ppm, 2), BUDGET, none).from_ns, ==, MS (5));
    /* Half of the slow ones never end, as far as is known: they are left out on both sides. */
    const uint32_t half[] = {981000, 10000};
    const tied_duration_t longer[] = {MS (5), MS (25)};
    CHECK_U64 (relief (curve (longer, half, 2), BUDGET, none).from_ns, ==, MS (5));
}

/* Candidates for the delay are a quarter apart. */
static void a_delay_is_no_finer_than_it_need_be (void **state)
{
    const tied_duration_t apart[] = {MS (5), TIED_US (6500), MS (200)};
    const tied_duration_t close[] = {MS (5), TIED_US (6000), MS (200)};
    const uint32_t ppm[] = {979000, 1000, 20000};
    (void)state;
    CHECK_U64 (relief (curve (apart, ppm, 3), BUDGET, none).delay_ns, ==, TIED_US (6500));
    CHECK_U64 (relief (curve (close, ppm, 3), BUDGET, none).delay_ns, ==, MS (5));
}

/* What would save most is more than the budget pays for. */
static void of_the_delays_within_the_budget_one_that_saves_most_is_taken (void **state)
{
    const tied_duration_t at[] = {MS (5), MS (50), MS (300)};
    const uint32_t ppm[] = {760000, 200000, 40000};
    (void)state;
    CHECK_U64 (relief (curve (at, ppm, 3), BUDGET, none).from_ns, ==, MS (5));
    CHECK_U64 (relief (curve (at, ppm, 3), BUDGET, none).delay_ns, ==, MS (50));
    CHECK_U64 (relief (curve (at, ppm, 3), UNLIMITED, none).delay_ns, ==, MS (5));
}

/* What is left of it is as long as one anew, in the mean: two that run make no less work. */
static void exponential_service_relieves_nobody (void **state)
{
    struct ti_curve *service = calloc (1, sizeof *service);
    (void)state;
    CHECK_TRUE (service != NULL);
    for (uint32_t i = 0; i < 400; i++)
        service->points[i] = (struct ti_curve_point){TIED_US (100) * (i + 1),
                                                     (uint32_t)(1e6 * exp (-0.02 * (i + 1)))};
    service->count = 400;
    CHECK_U64 (relief (service, UNLIMITED, none).from_ns, ==, TIED_NEVER);
}

/* All slow ones were cut short by hedges: to stop these would bring them back. */
static void what_was_found_holds_while_nobody_knows_how_long_the_slow_ones_take (void **state)
{
    const tied_duration_t at[] = {MS (5), MS (6)};
    const uint32_t ppm[] = {970000, 10000};
    (void)state;
    const struct ti_relief before = {MS (5), MS (25)};
    CHECK_U64 (relief (curve (at, ppm, 2), BUDGET, before).delay_ns, ==, MS (25));
    CHECK_U64 (relief (curve (at, ppm, 2), BUDGET, none).delay_ns, ==, MS (5));
    const tied_duration_t many[] = {MS (5), MS (8), MS (12)};
    const uint32_t few[] = {970000, 5000, 5000};
    CHECK_U64 (relief (curve (many, few, 3), BUDGET, none).delay_ns, ==, MS (5));
    /* More than the budget pays for: it is not what was found that holds. */
    const uint32_t most[] = {760000, 40000};
    CHECK_U64 (relief (curve (at, most, 2), BUDGET, before).delay_ns, ==, MS (5));
}

static void no_more_than_a_quarter_of_all_executions_are_outliers (void **state)
{
    const tied_duration_t at[] = {MS (5), MS (200)};
    const uint32_t most[] = {740000, 260000}, few[] = {760000, 240000};
    (void)state;
    CHECK_U64 (relief (curve (at, most, 2), BUDGET, none).from_ns, ==, TIED_NEVER);
    CHECK_U64 (relief (curve (at, few, 2), BUDGET, none).from_ns, ==, MS (5));
    /* More than the budget allows: then it is the budget that says which of them. */
    CHECK_U64 (relief (curve (at, few, 2), BUDGET, none).delay_ns, ==, MS (5));
    CHECK_U64 (relief (curve (at, few, 0), BUDGET, none).from_ns, ==, TIED_NEVER);
}

static void
hedges_of_calls_that_are_slow_by_nature_are_found_out_soon_and_seldom_tried_again (void **state)
{
    struct ti_relief_trust trust = {0};
    tied_time_t now = 0;
    uint32_t tried = 0;
    (void)state;
    /* One each 10 ms where it is allowed, for an hour. */
    for (; now < S (3600); now += MS (10))
        if (now >= trust.until) {
            ti_relief_ended (&trust, false, now);
            tried++;
        }
    CHECK_U64 (tried, <=, 4 * (7 + 3600 / 256));
    CHECK_U64 (tried, >=, 4 * 14);
    /* What was on its way when they stopped changes nothing. */
    trust = (struct ti_relief_trust){.until = S (10), .hold = S (8)};
    for (int i = 0; i < 100; i++)
        ti_relief_ended (&trust, false, S (9));
    CHECK_U64 (trust.until, ==, S (10));
    /* More than half win: on it goes, and all is forgiven. */
    for (int i = 0; i < 100; i++)
        ti_relief_ended (&trust, i % 5 < 3, S (11));
    CHECK_U64 (trust.until, ==, S (10));
    CHECK_U64 (trust.hold, ==, 0);
}

static void a_quarter_of_the_hedges_must_win_and_what_was_is_not_forgotten_at_once (void **state)
{
    struct ti_relief_trust trust = {0};
    (void)state;
    for (int i = 0; i < 200; i++)
        ti_relief_ended (&trust, i % 4 == 0, S (1));
    CHECK_U64 (trust.until, ==, 0);
    trust = (struct ti_relief_trust){0};
    for (int i = 0; i < 64; i++)
        ti_relief_ended (&trust, true, S (1));
    for (int i = 0; i < 20; i++)
        ti_relief_ended (&trust, false, S (1));
    CHECK_U64 (trust.until, ==, 0);
    /* Three that lost are no verdict, four are. */
    trust = (struct ti_relief_trust){0};
    for (int i = 0; i < 4; i++) {
        CHECK_U64 (trust.until, ==, 0);
        ti_relief_ended (&trust, false, S (1));
    }
    CHECK_U64 (trust.until, ==, S (5));
}

static void a_later_copy_that_was_answered_says_that_earlier_ones_have_started (void **state)
{
    struct ti_fifo fifo = {0};
    (void)state;
    CHECK_FALSE (ti_fifo_has_started (&fifo, MS (1)));
    CHECK_U64 (ti_fifo_start (&fifo, MS (1)), ==, MS (1));
    /* Sent at 10, waited for 3, ran for 5, two on the way. */
    ti_fifo_answered (&fifo, MS (10), MS (3), MS (5), MS (20));
    CHECK_TRUE (ti_fifo_has_started (&fifo, MS (9)));
    CHECK_FALSE (ti_fifo_has_started (&fifo, MS (10)));
    CHECK_FALSE (ti_fifo_has_started (&fifo, MS (11)));
    CHECK_U64 (ti_fifo_start (&fifo, MS (9)), ==, MS (12));
    /* Not after the one that came later, not before the one that came sooner. */
    fifo.waited = MS (30);
    CHECK_U64 (ti_fifo_start (&fifo, MS (9)), ==, MS (15));
    fifo.waited = 0;
    CHECK_U64 (ti_fifo_start (&fifo, MS (11)), ==, MS (15));
    CHECK_U64 (ti_fifo_start (&fifo, MS (21)), ==, MS (21));
    /* Neither an answer to an earlier one nor one that nothing was run for changes anything. */
    ti_fifo_answered (&fifo, MS (4), MS (1), MS (30), MS (40));
    ti_fifo_answered (&fifo, MS (30), 0, 0, MS (40));
    CHECK_U64 (fifo.sent, ==, MS (10));
    CHECK_U64 (fifo.started, ==, MS (15));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_long_execution_among_short_ones_is_relieved_as_soon_as_it_stands_out),
        cmocka_unit_test (what_is_left_of_it_must_be_long_against_an_execution_anew),
        cmocka_unit_test (a_delay_is_no_finer_than_it_need_be),
        cmocka_unit_test (of_the_delays_within_the_budget_one_that_saves_most_is_taken),
        cmocka_unit_test (exponential_service_relieves_nobody),
        cmocka_unit_test (what_was_found_holds_while_nobody_knows_how_long_the_slow_ones_take),
        cmocka_unit_test (no_more_than_a_quarter_of_all_executions_are_outliers),
        cmocka_unit_test (
            hedges_of_calls_that_are_slow_by_nature_are_found_out_soon_and_seldom_tried_again),
        cmocka_unit_test (a_quarter_of_the_hedges_must_win_and_what_was_is_not_forgotten_at_once),
        cmocka_unit_test (a_later_copy_that_was_answered_says_that_earlier_ones_have_started),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
