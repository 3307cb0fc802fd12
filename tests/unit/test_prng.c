/* SPDX-License-Identifier: MIT */
/* The generator against published outputs, and bounded draws at the edges of their ranges. */
#include "base/prng.h"
#include "check.h"

static void the_state_comes_from_splitmix64 (void **state)
{
    (void)state;
    /* First outputs of the reference splitmix64 for the seed 1234567. */
    const uint64_t want[4] = {UINT64_C (6457827717110365317), UINT64_C (3203168211198807973),
                              UINT64_C (9817491932198370423), UINT64_C (4593380528125082431)};
    struct ti_prng prng;
    ti_prng_seed (&prng, 1234567);
    for (int i = 0; i < 4; i++)
        CHECK_U64 (prng.state[i], ==, want[i]);
}

static void the_outputs_are_those_of_xoshiro256_starstar (void **state)
{
    (void)state;
    /* First outputs of the reference implementation for the state 1, 2, 3, 4. */
    const uint64_t want[] = {UINT64_C (11520),
                             UINT64_C (0),
                             UINT64_C (1509978240),
                             UINT64_C (1215971899390074240),
                             UINT64_C (1216172134540287360),
                             UINT64_C (607988272756665600),
                             UINT64_C (16172922978634559625),
                             UINT64_C (8476171486693032832)};
    struct ti_prng prng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        CHECK_U64 (ti_prng_next (&prng), ==, want[i]);
}

static void bounded_draws_stay_in_range_at_every_edge (void **state)
{
    (void)state;
    const uint64_t bounds[] = {1,
                               2,
                               3,
                               UINT32_MAX,
                               UINT64_C (1) << 32,
                               (UINT64_C (1) << 32) + 1,
                               UINT64_C (1) << 63,
                               (UINT64_C (1) << 63) + 1,
                               UINT64_MAX};
    struct ti_prng prng;
    ti_prng_seed (&prng, 3);
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
        uint64_t largest = 0;
        for (int i = 0; i < 1000; i++) {
            const uint64_t drawn = ti_prng_below (&prng, bounds[b]);
            CHECK_U64 (drawn, <, bounds[b]);
            if (drawn > largest)
                largest = drawn;
        }
        CHECK_U64 (largest, >=, bounds[b] / 2);
    }
}

static void a_draw_between_equal_or_extreme_limits_is_exact (void **state)
{
    (void)state;
    struct ti_prng prng;
    ti_prng_seed (&prng, 4);
    CHECK_U64 (ti_prng_between (&prng, 9, 9), ==, 9);
    CHECK_U64 (ti_prng_between (&prng, UINT64_MAX, UINT64_MAX), ==, UINT64_MAX);
    bool has_low = false;
    bool has_high = false;
    for (int i = 0; i < 200; i++) {
        const uint64_t drawn = ti_prng_between (&prng, UINT64_MAX - 1, UINT64_MAX);
        has_low = has_low || drawn == UINT64_MAX - 1;
        has_high = has_high || drawn == UINT64_MAX;
        CHECK_U64 (drawn, >=, UINT64_MAX - 1);
    }
    CHECK_TRUE (has_low && has_high);
    struct ti_prng other = prng;
    CHECK_U64 (ti_prng_between (&prng, 0, UINT64_MAX), ==, ti_prng_next (&other));
}

/* 3 * 2^30 values: a plain modulo of 32 bits would draw the lower third twice as often. */
static void a_bound_that_does_not_divide_the_range_is_not_biased (void **state)
{
    (void)state;
    const uint64_t bounds[] = {UINT64_C (3) << 30, UINT64_C (3) << 62};
    for (int b = 0; b < 2; b++) {
        struct ti_prng prng;
        uint64_t thirds[3] = {0, 0, 0};
        uint64_t rests[3] = {0, 0, 0};
        ti_prng_seed (&prng, 5);
        for (int i = 0; i < 30000; i++) {
            const uint64_t drawn = ti_prng_below (&prng, bounds[b]);
            thirds[drawn / (bounds[b] / 3)]++;
            rests[drawn % 3]++;
        }
        for (int i = 0; i < 3; i++) {
            CHECK_U64 (thirds[i], >, 9600);
            CHECK_U64 (thirds[i], <, 10400);
            CHECK_U64 (rests[i], >, 9600);
            CHECK_U64 (rests[i], <, 10400);
        }
    }
}

static void every_value_of_a_small_bound_is_equally_likely (void **state)
{
    (void)state;
    struct ti_prng prng;
    uint64_t seen[7] = {0};
    ti_prng_seed (&prng, 6);
    for (int i = 0; i < 70000; i++)
        seen[ti_prng_below (&prng, 7)]++;
    for (int i = 0; i < 7; i++) {
        CHECK_U64 (seen[i], >, 9600);
        CHECK_U64 (seen[i], <, 10400);
    }
}

static void a_bound_of_one_draws_nothing (void **state)
{
    (void)state;
    struct ti_prng a;
    ti_prng_seed (&a, 7);
    struct ti_prng b = a;
    CHECK_U64 (ti_prng_below (&a, 1), ==, 0);
    CHECK_MEM (&a, &b, sizeof a);
}

/* 6 x 5 x 4 x 3 outcomes, each some 1000 times: within six standard deviations. */
static void four_at_once_are_uniform_together (void **state)
{
    (void)state;
    static uint32_t seen[360];
    struct ti_prng prng;
    uint32_t drawn[4];
    ti_prng_seed (&prng, 8);
    for (int i = 0; i < 360000; i++) {
        ti_prng_four (&prng, 6, drawn);
        CHECK_TRUE (drawn[0] < 6 && drawn[1] < 5 && drawn[2] < 4 && drawn[3] < 3);
        seen[((drawn[0] * 5 + drawn[1]) * 4 + drawn[2]) * 3 + drawn[3]]++;
    }
    for (int i = 0; i < 360; i++) {
        CHECK_U64 (seen[i], >, 810);
        CHECK_U64 (seen[i], <, 1190);
    }
}

/* At the largest bound, one pair of draws of 65 536 falls where some values would be likelier. */
static void four_at_once_reject_what_would_be_biased (void **state)
{
    (void)state;
    uint32_t out[2];
    CHECK_TRUE (!ti_prng_split (0, TI_PRNG_FOUR_MAX, TI_PRNG_FOUR_MAX - 1, out));
    CHECK_TRUE (ti_prng_split (UINT32_MAX, TI_PRNG_FOUR_MAX, TI_PRNG_FOUR_MAX - 1, out));
    CHECK_U64 (out[0], ==, TI_PRNG_FOUR_MAX - 1);
    CHECK_U64 (out[1], ==, TI_PRNG_FOUR_MAX - 2);
    uint64_t rejected = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 257)
        rejected += !ti_prng_split ((uint32_t)bits, 60000, 50000, out);
    /* 2^32 - 60000 x 50000 of 2^32 */
    CHECK_U64 (rejected, >, UINT64_C (1294967296) / 257 * 99 / 100);
    CHECK_U64 (rejected, <, UINT64_C (1294967296) / 257 * 101 / 100);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_state_comes_from_splitmix64),
        cmocka_unit_test (the_outputs_are_those_of_xoshiro256_starstar),
        cmocka_unit_test (bounded_draws_stay_in_range_at_every_edge),
        cmocka_unit_test (a_draw_between_equal_or_extreme_limits_is_exact),
        cmocka_unit_test (a_bound_that_does_not_divide_the_range_is_not_biased),
        cmocka_unit_test (every_value_of_a_small_bound_is_equally_likely),
        cmocka_unit_test (a_bound_of_one_draws_nothing),
        cmocka_unit_test (four_at_once_are_uniform_together),
        cmocka_unit_test (four_at_once_reject_what_would_be_biased),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
