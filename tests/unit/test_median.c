/* SPDX-License-Identifier: MIT */
/* The running median against a walk over all members. */
#include "core/median.h"
#include "base/prng.h"
#include "check.h"

static uint32_t lower_median (const uint32_t *counts, uint32_t total)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < TI_MEDIAN_BUCKETS; i++) {
        seen += counts[i];
        if (seen > (total - 1) / 2)
            return i;
    }
    return UINT32_MAX;
}

static void of_two_it_is_the_smaller_of_three_the_middle (void **state)
{
    (void)state;
    struct ti_median median;
    ti_median_init (&median);
    ti_median_add (&median, 200);
    CHECK_U64 (median.bucket, ==, 200);
    ti_median_add (&median, 7);
    CHECK_U64 (median.bucket, ==, 7);
    ti_median_add (&median, 255);
    CHECK_U64 (median.bucket, ==, 200);
    ti_median_remove (&median, 7);
    CHECK_U64 (median.bucket, ==, 200);
    ti_median_remove (&median, 200);
    CHECK_U64 (median.bucket, ==, 255);
    ti_median_remove (&median, 255);
    CHECK_U64 (median.bucket, ==, 0);
    ti_median_check (&median);
}

static void it_follows_random_members (void **state)
{
    (void)state;
    struct ti_prng prng;
    const uint64_t runs = check_scale (200);
    for (uint64_t seed = 0; seed < runs; seed++) {
        struct ti_median median;
        uint32_t counts[TI_MEDIAN_BUCKETS] = {0};
        uint32_t members[64];
        uint32_t count = 0;
        ti_prng_seed (&prng, seed);
        ti_median_init (&median);
        const uint32_t range = 1 + ti_prng_below_32 (&prng, TI_MEDIAN_BUCKETS);
        for (int i = 0; i < 500; i++) {
            if (count < 64 && (count == 0 || ti_prng_below_32 (&prng, 100) < 52)) {
                members[count] = ti_prng_below_32 (&prng, range);
                counts[members[count]]++;
                ti_median_add (&median, members[count++]);
            } else {
                const uint32_t gone = ti_prng_below_32 (&prng, count);
                counts[members[gone]]--;
                ti_median_remove (&median, members[gone]);
                members[gone] = members[--count];
            }
            ti_median_check (&median);
            CHECK_U64 (median.total, ==, count);
            if (count > 0)
                CHECK_U64 (median.bucket, ==, lower_median (counts, count));
        }
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (of_two_it_is_the_smaller_of_three_the_middle),
        cmocka_unit_test (it_follows_random_members),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
