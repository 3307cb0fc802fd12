/* SPDX-License-Identifier: MIT */
/* The histogram: error bound, ranks, clamping, merging, and the exact mean. */
#include "check.h"

#include <stdlib.h>

#include "base/hist.h"
#include "base/util.h"

#include <tied/error.h>

static const struct ti_hist_options whole_range = {
    .lowest = 0, .highest = UINT64_MAX, .unit = 1, .half_bits = 7};

static struct ti_hist *make (const struct ti_hist_options *options)
{
    size_t size = ti_hist_size (options);
    void *memory = malloc (size);
    struct ti_hist *hist = ti_hist_init (memory, size, options);
    CHECK_TRUE (hist != NULL);
    return hist;
}

static uint64_t next_random (uint64_t *state)
{
    *state += UINT64_C (0x9e3779b97f4a7c15);
    return ti_mix (*state);
}

static int compare_u64 (const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void empty_answers_zero_everywhere (void **state)
{
    (void)state;
    struct ti_hist *hist = make (&whole_range);
    struct ti_hist_bucket bucket;
    uint32_t cursor = 0;
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P99), ==, 0);
    CHECK_U64 (ti_hist_at_rank (hist, 1), ==, 0);
    CHECK_U64 (ti_hist_mean (hist), ==, 0);
    CHECK_U64 (ti_hist_count_at_or_below (hist, UINT64_MAX), ==, 0);
    CHECK_FALSE (ti_hist_next (hist, &cursor, &bucket));
    ti_hist_check (hist);
    free (hist);
}

static void BE_06_constant_samples_give_that_constant (void **state)
{
    (void)state;
    const uint64_t constants[] = {MS (5), US (300), 0, 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        struct ti_hist *hist = make (&whole_range);
        ti_hist_record_n (hist, constants[i], 1000);
        CHECK_U64 (ti_hist_percentile (hist, 0), ==, constants[i]);
        CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P95), ==, constants[i]);
        CHECK_U64 (ti_hist_percentile (hist, TI_HIST_ALL), ==, constants[i]);
        CHECK_U64 (ti_hist_mean (hist), ==, constants[i]);
        ti_hist_check (hist);
        free (hist);
    }
}

static void BE_06_out_of_range_samples_are_clamped_and_counted (void **state)
{
    (void)state;
    const struct ti_hist_options options = {
        .lowest = US (1), .highest = S (60), .unit = 1024, .half_bits = 7};
    const uint64_t samples[] = {0, US (1), S (60), S (3600), UINT64_MAX};
    struct ti_hist *hist = make (&options);
    for (size_t i = 0; i < 5; i++)
        ti_hist_record (hist, samples[i]);
    CHECK_U64 (hist->total, ==, 5);
    CHECK_U64 (hist->below, ==, 1);
    CHECK_U64 (hist->above, ==, 2);
    CHECK_U64 (hist->min, ==, US (1));
    CHECK_U64 (hist->max, ==, S (60));
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P50), ==, S (60));
    CHECK_U64 (ti_hist_percentile (hist, 400000), <=, 2047);
    CHECK_U64 (ti_hist_percentile (hist, 400000), >=, US (1));
    ti_hist_check (hist);
    free (hist);
}

static void BE_07_percentiles_of_shuffled_values_match_a_sort (void **state)
{
    (void)state;
    static uint64_t values[10000];
    uint64_t random = 7;
    struct ti_hist *hist = make (&whole_range);
    for (uint64_t i = 0; i < 10000; i++)
        values[i] = MS (i + 1);
    for (uint64_t i = 9999; i > 0; i--) {
        uint64_t j = next_random (&random) % (i + 1), kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
    for (size_t i = 0; i < 10000; i++)
        ti_hist_record (hist, values[i]);
    const uint32_t ppms[] = {1, TI_HIST_P50, TI_HIST_P95, TI_HIST_P99, TI_HIST_P99_9};
    const uint64_t exact[] = {MS (1), MS (5000), MS (9500), MS (9900), MS (9990)};
    for (size_t i = 0; i < 5; i++) {
        uint64_t value = ti_hist_percentile (hist, ppms[i]);
        CHECK_U64 (value, >=, exact[i]);
        CHECK_U64 (value, <=, exact[i] + exact[i] / 128);
    }
    CHECK_U64 (ti_hist_percentile (hist, 0), ==, MS (1));
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_ALL), ==, MS (10000));
    CHECK_U64 (ti_hist_mean (hist), ==, MS (5000) + US (500));
    free (hist);
}

/* Values of every magnitude: each rank is at or above the sample, by less than one bucket. */
static void every_rank_is_within_the_error_bound_of_a_sort (void **state)
{
    (void)state;
    static uint64_t values[1000];
    uint64_t random = 99;
    for (uint32_t half_bits = 1; half_bits <= 14; half_bits += 3) {
        struct ti_hist_options options = whole_range;
        options.half_bits = half_bits;
        struct ti_hist *hist = make (&options);
        for (size_t i = 0; i < 1000; i++) {
            values[i] = next_random (&random) >> (next_random (&random) % 64);
            ti_hist_record (hist, values[i]);
        }
        qsort (values, 1000, sizeof values[0], compare_u64);
        for (size_t i = 0; i < 1000; i++) {
            uint64_t value = ti_hist_at_rank (hist, i + 1);
            CHECK_U64 (value, >=, values[i]);
            CHECK_U64 (value - values[i], <=, values[i] >> half_bits);
        }
        ti_hist_check (hist);
        free (hist);
    }
}

static void buckets_tile_the_range_without_gap (void **state)
{
    (void)state;
    struct ti_hist *hist = make (&whole_range);
    struct ti_hist_bucket bucket;
    uint32_t cursor = 0, seen = 0;
    uint64_t expected = 0;
    ti_hist_record (hist, 0);
    /* One sample past the end of the last bucket seen, until the range is used up. */
    while (ti_hist_next (hist, &cursor, &bucket)) {
        CHECK_U64 (bucket.first, ==, expected);
        CHECK_U64 (bucket.last, >=, bucket.first);
        CHECK_U64 (bucket.count, ==, 1);
        seen++;
        expected = bucket.last + 1;
        if (bucket.last == UINT64_MAX)
            break;
        ti_hist_record (hist, expected);
    }
    CHECK_U64 (bucket.last, ==, UINT64_MAX);
    CHECK_U64 (seen, ==, hist->buckets);
    CHECK_U64 (seen, ==, 57 * 128 + 128);
    free (hist);
}

static void merge_equals_the_union (void **state)
{
    (void)state;
    struct ti_hist *a = make (&whole_range), *b = make (&whole_range), *both = make (&whole_range);
    uint64_t random = 3;
    for (int i = 0; i < 4000; i++) {
        uint64_t value = next_random (&random) >> (next_random (&random) % 64);
        ti_hist_record (i % 3 ? a : b, value);
        ti_hist_record (both, value);
    }
    CHECK_I64 (ti_hist_merge (a, b), ==, TIED_OK);
    CHECK_MEM (a, both, ti_hist_size (&whole_range));
    ti_hist_check (a);
    /* Into an empty one, and an empty one into it. */
    ti_hist_reset (b);
    CHECK_I64 (ti_hist_merge (a, b), ==, TIED_OK);
    CHECK_MEM (a, both, ti_hist_size (&whole_range));
    CHECK_I64 (ti_hist_merge (b, a), ==, TIED_OK);
    CHECK_MEM (b, both, ti_hist_size (&whole_range));
    free (a);
    free (b);
    free (both);
}

static void merge_of_other_options_is_refused_and_changes_nothing (void **state)
{
    (void)state;
    struct ti_hist_options coarse = whole_range;
    coarse.half_bits = 5;
    struct ti_hist *a = make (&whole_range), *b = make (&coarse);
    ti_hist_record (b, 5);
    CHECK_I64 (ti_hist_merge (a, b), ==, TIED_ERR_INVAL);
    CHECK_U64 (a->total, ==, 0);
    ti_hist_check (a);
    free (a);
    free (b);
}

static void mean_is_exact_beyond_64_bits (void **state)
{
    (void)state;
    struct ti_hist *hist = make (&whole_range);
    ti_hist_record_n (hist, UINT64_MAX, 3);
    CHECK_U64 (ti_hist_mean (hist), ==, UINT64_MAX);
    ti_hist_record (hist, 3);
    /* (3 (2^64 - 1) + 3) / 4 */
    CHECK_U64 (ti_hist_mean (hist), ==, UINT64_C (3) << 62);
    free (hist);
}

static void counts_saturate_instead_of_wrapping (void **state)
{
    (void)state;
    struct ti_hist *hist = make (&whole_range), *one = make (&whole_range);
    ti_hist_record_n (hist, 10, UINT64_MAX - 1);
    ti_hist_record_n (hist, 20, 100);
    ti_hist_record (hist, 30);
    CHECK_U64 (hist->total, ==, UINT64_MAX);
    CHECK_U64 (hist->max, ==, 20);
    CHECK_U64 (ti_hist_percentile (hist, TI_HIST_P99_99), ==, 10);
    CHECK_U64 (ti_hist_mean (hist), ==, 10);
    ti_hist_record (one, 1);
    CHECK_I64 (ti_hist_merge (hist, one), ==, TIED_ERR_INVAL);
    ti_hist_check (hist);
    free (hist);
    free (one);
}

static void options_out_of_range_have_no_size (void **state)
{
    (void)state;
    const struct ti_hist_options bad[] = {
        {.lowest = 2, .highest = 1, .unit = 1, .half_bits = 7},
        {.lowest = 0, .highest = 0, .unit = 1, .half_bits = 7},
        {.lowest = 0, .highest = 9, .unit = 0, .half_bits = 7},
        {.lowest = 0, .highest = 9, .unit = 3, .half_bits = 7},
        {.lowest = 0, .highest = 9, .unit = 16, .half_bits = 7},
        {.lowest = 0, .highest = 9, .unit = 1, .half_bits = 0},
        {.lowest = 0, .highest = 9, .unit = 1, .half_bits = 15},
    };
    _Alignas(max_align_t) unsigned char memory[64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_U64 (ti_hist_size (&bad[i]), ==, 0);
        CHECK_PTR (ti_hist_init (memory, sizeof memory, &bad[i]), ==, NULL);
    }
    CHECK_PTR (ti_hist_init (memory, sizeof memory, &whole_range), ==, NULL);
    CHECK_PTR (ti_hist_init (NULL, 1 << 20, &whole_range), ==, NULL);
}

static void count_at_or_below_agrees_with_the_ranks (void **state)
{
    (void)state;
    struct ti_hist *hist = make (&whole_range);
    for (uint64_t i = 1; i <= 1000; i++)
        ti_hist_record (hist, i * 1000);
    CHECK_U64 (ti_hist_count_at_or_below (hist, 0), ==, 0);
    CHECK_U64 (ti_hist_count_at_or_below (hist, ti_hist_at_rank (hist, 500)), >=, 500);
    CHECK_U64 (ti_hist_count_at_or_below (hist, ti_hist_at_rank (hist, 500)), <=, 504);
    CHECK_U64 (ti_hist_count_at_or_below (hist, UINT64_MAX), ==, 1000);
    free (hist);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (empty_answers_zero_everywhere),
        cmocka_unit_test (BE_06_constant_samples_give_that_constant),
        cmocka_unit_test (BE_06_out_of_range_samples_are_clamped_and_counted),
        cmocka_unit_test (BE_07_percentiles_of_shuffled_values_match_a_sort),
        cmocka_unit_test (every_rank_is_within_the_error_bound_of_a_sort),
        cmocka_unit_test (buckets_tile_the_range_without_gap),
        cmocka_unit_test (merge_equals_the_union),
        cmocka_unit_test (merge_of_other_options_is_refused_and_changes_nothing),
        cmocka_unit_test (mean_is_exact_beyond_64_bits),
        cmocka_unit_test (counts_saturate_instead_of_wrapping),
        cmocka_unit_test (options_out_of_range_have_no_size),
        cmocka_unit_test (count_at_or_below_agrees_with_the_ranks),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
