/* SPDX-License-Identifier: MIT */
/* Service times of tied-replica. */
#include "app/work.h"
#include "check.h"

static void start (struct work *work, uint64_t seed)
{
    const struct ti_service service = {.kind = TI_SERVICE_SLEEP,
                                       .dist = {.kind = TI_DIST_EXP, .a_ns = MS (10)}};
    const struct ti_pause pause = {0};

    work_init (work, &service, &pause, seed);
}

static void a_key_decides_the_time_at_every_replica (void **state)
{
    const unsigned char keys[2][9] = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4, 5, 6, 7, 9, 9}};
    struct work a, b;
    (void)state;

    start (&a, 1);
    start (&b, 2);
    CHECK_U64 (work_draw (&a, keys[0], 8), ==, work_draw (&b, keys[0], 9));
    CHECK_U64 (work_draw (&a, keys[0], 8), ==, work_draw (&a, keys[0], 8));
    CHECK_U64 (work_draw (&a, keys[0], 8), !=, work_draw (&a, keys[1], 8));
}

static void without_a_key_the_seed_does (void **state)
{
    const unsigned char body[7] = {0};
    struct work a, b, c;
    (void)state;

    start (&a, 1);
    start (&b, 1);
    start (&c, 2);
    tied_duration_t first = work_draw (&a, body, sizeof body);
    CHECK_U64 (first, ==, work_draw (&b, NULL, 0));
    CHECK_U64 (first, !=, work_draw (&c, NULL, 0));
    CHECK_U64 (first, !=, work_draw (&a, body, sizeof body));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_key_decides_the_time_at_every_replica),
        cmocka_unit_test (without_a_key_the_seed_does),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
