/* SPDX-License-Identifier: MIT */
/* Service times of tied-replica. */
#include "app/work.h"
#include "base/util.h"
#include "check.h"

static void start_as (struct work *work, uint64_t seed, bool keys_are_own)
{
    const struct ti_service service = {.kind = TI_SERVICE_SLEEP,
                                       .dist = {.kind = TI_DIST_EXP, .a_ns = MS (10)}};
    const struct ti_pause pause = {0};

    work_init (work, &service, &pause, seed, keys_are_own);
}

static void start (struct work *work, uint64_t seed)
{
    start_as (work, seed, false);
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

static void with_own_keys_the_seed_decides_too (void **state)
{
    const unsigned char keys[2][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 9}};
    struct work a, same, other;
    (void)state;

    start_as (&a, 1, true);
    start_as (&same, 1, true);
    start_as (&other, 2, true);
    CHECK_U64 (work_draw (&a, keys[0], 8), ==, work_draw (&same, keys[0], 8));
    CHECK_U64 (work_draw (&a, keys[0], 8), ==, work_draw (&a, keys[0], 8));
    CHECK_U64 (work_draw (&a, keys[0], 8), !=, work_draw (&other, keys[0], 8));
    CHECK_U64 (work_draw (&a, keys[0], 8), !=, work_draw (&a, keys[1], 8));
}

/* Slow at one replica says nothing of the other: one in four is, one in sixteen at both. */
static void copies_with_own_keys_are_slow_independently (void **state)
{
    const struct ti_service service = {
        .kind = TI_SERVICE_SLEEP,
        .dist = {.kind = TI_DIST_BIMODAL, .a_ns = MS (1), .b_ns = MS (9), .p = 0.25}};
    const struct ti_pause pause = {0};
    struct work a, b;
    uint32_t slow = 0, both = 0;
    (void)state;

    work_init (&a, &service, &pause, 1, true);
    work_init (&b, &service, &pause, 2, true);
    for (uint64_t i = 0; i < 16000; i++) {
        const uint64_t key = ti_mix (i);
        const bool is_slow = work_draw (&a, &key, sizeof key) == MS (9);
        slow += is_slow;
        both += is_slow && work_draw (&b, &key, sizeof key) == MS (9);
    }
    CHECK_U64 (slow, >, 3800);
    CHECK_U64 (slow, <, 4200);
    CHECK_U64 (both, >, 880);
    CHECK_U64 (both, <, 1120);
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
        cmocka_unit_test (with_own_keys_the_seed_decides_too),
        cmocka_unit_test (copies_with_own_keys_are_slow_independently),
        cmocka_unit_test (without_a_key_the_seed_does),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
