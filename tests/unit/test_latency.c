/* SPDX-License-Identifier: MIT */
/*
 * The window of latencies: range and units, turns, Kaplan-Meier by hand, against a sort, and
 * against the two estimators that one would write first, on races whose truth is known.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "base/prng.h"
#include "core/latency.h"

/* A window of five seconds turns every second. */
#define WINDOW S (5)
#define START  S (1000)

static struct ti_latency *make (void)
{
    void *memory = malloc (ti_latency_size ());
    CHECK_TRUE (memory != NULL);
    memset (memory, 0xa5, ti_latency_size ());
    return ti_latency_init (memory, WINDOW);
}

static struct ti_curve *curve_of (const struct ti_latency *latency)
{
    static struct ti_curve curve;
    memset (&curve, 0xa5, sizeof curve);
    ti_latency_curve (latency, &curve);
    return &curve;
}

/* Percentiles by both ways; they must agree. */
static tied_duration_t percentile (const struct ti_latency *latency, uint32_t ppm)
{
    const tied_duration_t direct = ti_latency_percentile (latency, ppm);
    CHECK_U64 (ti_curve_percentile (curve_of (latency), ppm), ==, direct);
    return direct;
}

static void check_curve (const struct ti_latency *latency)
{
    const struct ti_curve *curve = curve_of (latency);
    CHECK_U64 (curve->count, <=, TI_LATENCY_POINTS_MAX);
    CHECK_U64 (curve->samples, ==, ti_latency_samples (latency));
    for (uint32_t i = 0; i < curve->count; i++) {
        CHECK_U64 (curve->points[i].surviving_ppm, <=, TIED_PPM);
        CHECK_U64 (curve->points[i].at, <=, TI_LATENCY_HIGHEST);
        CHECK_U64 (curve->points[i].at, >=, TI_LATENCY_LOWEST);
        if (i > 0) {
            CHECK_U64 (curve->points[i].at, >, curve->points[i - 1].at);
            CHECK_U64 (curve->points[i].surviving_ppm, <, curve->points[i - 1].surviving_ppm);
        }
    }
}

static void without_samples_nothing_is_known (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    ti_latency_check (latency);
    CHECK_U64 (ti_latency_samples (latency), ==, 0);
    CHECK_U64 (ti_latency_clamped (latency), ==, 0);
    CHECK_U64 (percentile (latency, 0), ==, TIED_NEVER);
    CHECK_U64 (percentile (latency, 500000), ==, TIED_NEVER);
    CHECK_U64 (percentile (latency, TIED_PPM), ==, TIED_NEVER);
    CHECK_U64 (curve_of (latency)->count, ==, 0);
    CHECK_U64 (ti_curve_surviving (curve_of (latency), MS (1)), ==, TIED_PPM);
    free (latency);
}

static void BE_06_a_constant_of_5_ms_gives_that (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    for (int i = 0; i < 1000; i++)
        ti_latency_ended (latency, MS (5), START);
    const uint32_t ppms[] = {0, 1, 500000, 950000, 999999, TIED_PPM};
    for (size_t i = 0; i < sizeof ppms / sizeof ppms[0]; i++) {
        CHECK_U64 (percentile (latency, ppms[i]), >=, US (4500));
        CHECK_U64 (percentile (latency, ppms[i]), <=, MS (6));
    }
    CHECK_U64 (ti_latency_clamped (latency), ==, 0);
    ti_latency_check (latency);
    free (latency);
}

static void BE_06_a_constant_of_a_third_of_a_millisecond_is_no_whole_one (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    for (int i = 0; i < 1000; i++)
        ti_latency_ended (latency, US (300), START);
    CHECK_U64 (percentile (latency, 950000), >=, US (200));
    CHECK_U64 (percentile (latency, 950000), <=, US (500));
    free (latency);
}

static void BE_06_what_is_out_of_range_is_clamped_and_counted (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    const uint64_t samples[] = {0, US (1), S (60), S (3600), UINT64_MAX};
    for (size_t i = 0; i < 5; i++)
        ti_latency_ended (latency, samples[i], START);
    CHECK_U64 (ti_latency_samples (latency), ==, 5);
    CHECK_U64 (ti_latency_clamped (latency), ==, 3);
    CHECK_U64 (percentile (latency, 200000), >=, US (1));
    CHECK_U64 (percentile (latency, 400000), <, 1100);
    CHECK_U64 (percentile (latency, 600000), ==, S (60));
    CHECK_U64 (percentile (latency, TIED_PPM), ==, S (60));
    for (size_t i = 0; i < 5; i++)
        ti_latency_censored (latency, samples[i], START);
    CHECK_U64 (ti_latency_clamped (latency), ==, 6);
    check_curve (latency);
    ti_latency_check (latency);
    free (latency);
}

/* At most one bucket above the sample, 1 / 32, over the whole range. */
static void BE_06_every_magnitude_is_exact_to_a_bucket (void **state)
{
    (void)state;
    struct ti_prng prng;
    ti_prng_seed (&prng, 3);
    struct ti_latency *latency = make ();
    for (uint64_t i = 0; i < check_scale (5000); i++) {
        const uint64_t top = S (60) >> ti_prng_below_32 (&prng, 25);
        const uint64_t value = ti_prng_between (&prng, US (1), top);
        ti_latency_turn (latency, START + i * 2 * WINDOW);
        ti_latency_ended (latency, value, START + i * 2 * WINDOW);
        CHECK_U64 (ti_latency_percentile (latency, 500000), >=, value);
        CHECK_U64 (ti_latency_percentile (latency, 500000), <=, value + value / 32);
    }
    CHECK_U64 (ti_latency_clamped (latency), ==, 0);
    free (latency);
}

static void BE_07_percentiles_of_shuffled_values_match_a_sort (void **state)
{
    (void)state;
    static uint64_t values[10000];
    struct ti_prng prng;
    ti_prng_seed (&prng, 7);
    struct ti_latency *latency = make ();
    for (uint64_t i = 0; i < 10000; i++)
        values[i] = MS (i + 1);
    for (uint32_t i = 9999; i > 0; i--) {
        const uint32_t j = ti_prng_below_32 (&prng, i + 1);
        const uint64_t kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }
    for (size_t i = 0; i < 10000; i++)
        ti_latency_ended (latency, values[i], START);
    const uint32_t ppms[] = {1, 500000, 950000, 990000, 999000, 999900, TIED_PPM};
    const uint64_t exact[] = {MS (1),    MS (5000), MS (9500), MS (9900),
                              MS (9990), MS (9999), MS (10000)};
    for (size_t i = 0; i < sizeof ppms / sizeof ppms[0]; i++) {
        CHECK_U64 (percentile (latency, ppms[i]), >=, exact[i]);
        CHECK_U64 (percentile (latency, ppms[i]), <=, exact[i] + exact[i] / 32);
    }
    check_curve (latency);
    free (latency);
}

/*
 * Ten samples, * for censored: 1 2* 3 3 5* 6 8* 9 10 12*
 *   after 1: 9/10. at risk then 9, less 2* = 8; after 3, 3: 9/10 * 6/8 = 27/40.
 *   less 5* = 5; after 6: 27/40 * 4/5 = 27/50. less 8* = 3; after 9: 27/50 * 2/3 = 9/25.
 *   after 10: 9/25 * 1/2 = 9/50, and 12* leaves it there.
 */
static void kaplan_meier_is_as_by_hand (void **state)
{
    (void)state;
    const uint64_t ended[] = {1, 3, 3, 6, 9, 10}, censored[] = {2, 5, 8, 12};
    const uint64_t at[] = {1, 3, 6, 9, 10};
    const uint32_t surviving[] = {900000, 675000, 540000, 360000, 180000};
    struct ti_latency *latency = make ();
    for (size_t i = 0; i < 6; i++)
        ti_latency_ended (latency, MS (ended[i]), START);
    for (size_t i = 0; i < 4; i++)
        ti_latency_censored (latency, MS (censored[i]), START);
    const struct ti_curve *curve = curve_of (latency);
    CHECK_U64 (curve->samples, ==, 6);
    CHECK_U64 (curve->censored, ==, 4);
    CHECK_U64 (curve->count, ==, 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK_U64 (curve->points[i].at, >=, MS (at[i]));
        CHECK_U64 (curve->points[i].at, <=, MS (at[i]) + MS (at[i]) / 32);
        CHECK_U64 (curve->points[i].surviving_ppm, ==, surviving[i]);
        CHECK_U64 (ti_curve_surviving (curve, curve->points[i].at), ==, surviving[i]);
        CHECK_U64 (ti_curve_surviving (curve, curve->points[i].at - 1), ==,
                   i ? surviving[i - 1] : TIED_PPM);
    }
    CHECK_U64 (ti_curve_surviving (curve, TIED_NEVER), ==, 180000);
    CHECK_U64 (percentile (latency, 100000) / MS (1), ==, 1);
    CHECK_U64 (percentile (latency, 100001) / MS (1), ==, 3);
    CHECK_U64 (percentile (latency, 820000) / MS (1), ==, 10);
    CHECK_U64 (percentile (latency, 820001), ==, TIED_NEVER);
    ti_latency_check (latency);
    free (latency);
}

static void what_ends_and_is_cut_short_in_one_bucket_was_at_risk_until_its_end (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    ti_latency_censored (latency, MS (5), START);
    ti_latency_ended (latency, MS (5), START);
    ti_latency_ended (latency, MS (7), START);
    CHECK_U64 (curve_of (latency)->points[0].surviving_ppm, ==, 666667);
    CHECK_U64 (curve_of (latency)->points[1].surviving_ppm, ==, 0);
    free (latency);
}

static void the_first_of_millions_is_found_by_both_ways (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    ti_latency_ended (latency, MS (1), START);
    for (int i = 0; i < 3000000; i++)
        ti_latency_ended (latency, MS (5), START);
    CHECK_U64 (percentile (latency, 0) / MS (1), ==, 1);
    CHECK_U64 (percentile (latency, 1) / MS (1), ==, 5);
    check_curve (latency);
    free (latency);
}

static void samples_that_were_all_cut_short_say_nothing_of_an_end (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    for (int i = 0; i < 1000; i++)
        ti_latency_censored (latency, MS (5), START);
    CHECK_U64 (ti_latency_samples (latency), ==, 0);
    CHECK_U64 (percentile (latency, 1), ==, TIED_NEVER);
    CHECK_U64 (percentile (latency, TIED_PPM), ==, TIED_NEVER);
    CHECK_U64 (curve_of (latency)->count, ==, 0);
    CHECK_U64 (curve_of (latency)->censored, ==, 1000);
    ti_latency_check (latency);
    free (latency);
}

static void one_short_sample_among_the_cut_ones_moves_no_percentile_to_it (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    for (int i = 0; i < 999; i++)
        ti_latency_censored (latency, MS (50), START);
    ti_latency_ended (latency, MS (1), START);
    CHECK_U64 (percentile (latency, 1000) / MS (1), ==, 1);
    CHECK_U64 (percentile (latency, 1001), ==, TIED_NEVER);
    free (latency);
}

static void a_slice_falls_out_as_a_whole (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    /* One sample at each end of a slice, each slice with a value of its own. */
    for (uint64_t i = 0; i < 5; i++) {
        ti_latency_ended (latency, MS (i + 1), START + S (i));
        ti_latency_censored (latency, MS (i + 1), START + S (i + 1) - 1);
        CHECK_U64 (ti_latency_samples (latency), ==, i + 1);
    }
    for (uint64_t i = 5; i < 10; i++) {
        ti_latency_turn (latency, START + S (i) - 1);
        CHECK_U64 (ti_latency_samples (latency), ==, 10 - i);
        CHECK_U64 (percentile (latency, 1) / MS (1), ==, i - 4);
        ti_latency_turn (latency, START + S (i));
        ti_latency_check (latency);
        CHECK_U64 (ti_latency_samples (latency), ==, 9 - i);
        CHECK_U64 (curve_of (latency)->censored, ==, 9 - i);
    }
    CHECK_U64 (percentile (latency, 1), ==, TIED_NEVER);
    free (latency);
}

static void a_long_silence_empties_the_window (void **state)
{
    (void)state;
    struct ti_latency *latency = make ();
    for (uint64_t i = 0; i < 5; i++)
        ti_latency_ended (latency, MS (1), START + S (i));
    ti_latency_ended (latency, MS (9), START + S (4) + WINDOW);
    CHECK_U64 (ti_latency_samples (latency), ==, 1);
    CHECK_U64 (percentile (latency, 500000) / MS (1), ==, 9);
    ti_latency_check (latency);
    ti_latency_turn (latency, UINT64_MAX - 1);
    CHECK_U64 (ti_latency_samples (latency), ==, 0);
    ti_latency_check (latency);
    ti_latency_ended (latency, MS (9), UINT64_MAX - 1);
    CHECK_U64 (ti_latency_samples (latency), ==, 1);
    ti_latency_check (latency);
    free (latency);
}

static void the_shortest_window_works (void **state)
{
    (void)state;
    struct ti_latency *latency = ti_latency_init (malloc (ti_latency_size ()), TI_LATENCY_SLICES);
    for (uint64_t now = 0; now < 100; now++) {
        ti_latency_ended (latency, MS (1), now);
        CHECK_U64 (ti_latency_samples (latency), ==, now < 5 ? now + 1 : 5);
        ti_latency_check (latency);
    }
    free (latency);
}

static void merging_equals_having_seen_both (void **state)
{
    (void)state;
    struct ti_prng prng;
    ti_prng_seed (&prng, 11);
    struct ti_latency *a = make (), *b = make (), *both = make ();
    uint64_t young = 0;
    for (int i = 0; i < 5000; i++) {
        struct ti_latency *one = ti_prng_below_32 (&prng, 3) ? a : b;
        const uint64_t value = ti_prng_between (&prng, US (10), MS (100));
        const uint64_t now = START + (uint64_t)i * US (900);
        if (ti_prng_below_32 (&prng, 4)) {
            ti_latency_ended (one, value, now);
            ti_latency_ended (both, value, now);
            young += one == a && now >= START + S (4);
        } else {
            ti_latency_censored (one, value, now);
            ti_latency_censored (both, value, now);
        }
    }
    ti_latency_merge (a, b, START + US (4500900));
    ti_latency_check (a);
    CHECK_U64 (ti_latency_samples (a), ==, ti_latency_samples (both));
    CHECK_U64 (ti_latency_clamped (a), ==, 0);
    for (uint32_t ppm = 0; ppm <= TIED_PPM; ppm += 1000)
        CHECK_U64 (ti_latency_percentile (a, ppm), ==, ti_latency_percentile (both, ppm));
    /* What was merged counts as new. */
    const uint64_t from_b = ti_latency_samples (b);
    ti_latency_turn (a, START + S (8));
    CHECK_U64 (ti_latency_samples (a), ==, from_b + young);
    free (a);
    free (b);
    free (both);
}

/* By doubling one into the other until the window is full. */
static void a_full_window_takes_no_more_and_counts_that (void **state)
{
    (void)state;
    struct ti_latency *a = make (), *b = make ();
    for (int i = 0; i < 100; i++)
        ti_latency_ended (a, MS (1), START);
    ti_latency_censored (a, MS (2), START);
    for (int i = 0; i < 32; i++) {
        ti_latency_merge (b, a, START);
        ti_latency_merge (a, b, START);
        ti_latency_check (a);
    }
    const uint64_t samples = ti_latency_samples (a), clamped = ti_latency_clamped (a);
    CHECK_U64 (samples, >, 1u << 27);
    CHECK_U64 (clamped, >, 0);
    CHECK_U64 (percentile (a, 900000) / MS (1), ==, 1);
    ti_latency_ended (a, MS (1), START);
    ti_latency_censored (a, MS (1), START);
    CHECK_U64 (ti_latency_samples (a), ==, samples);
    CHECK_U64 (ti_latency_clamped (a), ==, clamped + 2);
    ti_latency_turn (a, START + 2 * WINDOW);
    ti_latency_ended (a, MS (1), START + 2 * WINDOW);
    CHECK_U64 (ti_latency_samples (a), ==, 1);
    ti_latency_check (a);
    free (a);
    free (b);
}

static void a_copy_of_the_block_is_a_snapshot (void **state)
{
    (void)state;
    struct ti_latency *latency = make (), *copy = malloc (ti_latency_size ());
    for (uint64_t i = 0; i < 3000; i++)
        ti_latency_ended (latency, US (i), START + i * MS (1));
    memcpy (copy, latency, ti_latency_size ());
    ti_latency_turn (latency, START + S (100));
    ti_latency_check (copy);
    CHECK_U64 (ti_latency_samples (copy), ==, 3000);
    CHECK_U64 (ti_latency_samples (latency), ==, 0);
    ti_latency_turn (copy, START + S (100));
    CHECK_MEM (copy, latency, ti_latency_size ());
    free (latency);
    free (copy);
}

/* Random walks: totals, curve and both percentiles agree at every look. */
static void any_sequence_keeps_the_invariants (void **state)
{
    (void)state;
    struct ti_prng prng;
    ti_prng_seed (&prng, 5);
    struct ti_latency *latency = make ();
    uint64_t now = 0;
    for (uint64_t i = check_scale (20000); i > 0; i--) {
        const uint64_t value = ti_prng_next (&prng) >> ti_prng_below_32 (&prng, 64);
        switch (ti_prng_below_32 (&prng, 8)) {
        case 0:
            now += ti_prng_below (&prng, S (3));
            break;
        case 1:
            now += ti_prng_below (&prng, MS (100));
            break;
        case 2:
        case 3:
            ti_latency_censored (latency, value, now);
            break;
        default:
            ti_latency_ended (latency, value, now);
        }
        ti_latency_turn (latency, now);
        if (i % 16 == 0) {
            ti_latency_check (latency);
            check_curve (latency);
            (void)percentile (latency, ti_prng_below_32 (&prng, TIED_PPM + 1));
        }
    }
    free (latency);
}

/* A race with a known truth: the first copy takes X; one that is pending at d is raced by a copy
 * that takes Y, an independent draw of the same; the loser is cancelled. */
enum {
    RACES = 100000
};

struct estimates {
    uint64_t truth, kaplan_meier, without_losers, losers_as_samples;
};

static double uniform (struct ti_prng *prng)
{
    return ((double)(ti_prng_next (prng) >> 11) + 0.5) / 9007199254740992.0;
}

static uint64_t exponential (struct ti_prng *prng)
{
    return (uint64_t)(-10e6 * log (uniform (prng)));
}

/* 95 % about 5 ms, 5 % about 200 ms. */
static uint64_t bimodal (struct ti_prng *prng)
{
    const double base = uniform (prng) < 0.05 ? 200e6 : 5e6;
    return (uint64_t)(base * (0.9 + 0.2 * uniform (prng)));
}

static int compare (const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static struct estimates
race (uint64_t (*draw) (struct ti_prng *), tied_duration_t d, uint32_t ppm, const char *name)
{
    static uint64_t truth[RACES];
    struct ti_prng prng;
    struct ti_latency *survival = make (), *dropping = make (), *counting = make ();
    ti_prng_seed (&prng, 13);
    for (size_t i = 0; i < RACES; i++) {
        const uint64_t x = draw (&prng), y = draw (&prng);
        truth[i] = x;
        if (x <= d || x <= d + y) {
            ti_latency_ended (survival, x, START);
            ti_latency_ended (dropping, x, START);
            ti_latency_ended (counting, x, START);
        } else {
            ti_latency_censored (survival, d + y, START);
            ti_latency_ended (counting, d + y, START);
        }
    }
    qsort (truth, RACES, sizeof truth[0], compare);
    const struct estimates result = {
        .truth = truth[(uint64_t)RACES * ppm / TIED_PPM - 1],
        .kaplan_meier = percentile (survival, ppm),
        .without_losers = percentile (dropping, ppm),
        .losers_as_samples = percentile (counting, ppm),
    };
    print_message ("%s p%g: truth %.1f ms, Kaplan-Meier %.1f, losers dropped %.1f, losers taken as "
                   "samples %.1f\n",
                   name, ppm / 1e4, (double)result.truth / 1e6, (double)result.kaplan_meier / 1e6,
                   (double)result.without_losers / 1e6, (double)result.losers_as_samples / 1e6);
    free (survival);
    free (dropping);
    free (counting);
    return result;
}

static void check_race (struct estimates e)
{
    CHECK_U64 (e.kaplan_meier, >=, e.truth - e.truth / 20);
    CHECK_U64 (e.kaplan_meier, <=, e.truth + e.truth / 20);
    CHECK_U64 (e.without_losers, <, e.truth * 3 / 4);
    CHECK_U64 (e.losers_as_samples, <, e.truth * 3 / 4);
}

static void BE_04_cancelled_losers_bend_no_percentile_of_an_exponential_service (void **state)
{
    (void)state;
    check_race (race (exponential, MS (5), 950000, "exp(10ms), d 5 ms, "));
    check_race (race (exponential, MS (5), 990000, "exp(10ms), d 5 ms, "));
    check_race (race (exponential, MS (1), 990000, "exp(10ms), d 1 ms, "));
}

static void BE_04_cancelled_losers_bend_no_percentile_of_a_bimodal_service (void **state)
{
    (void)state;
    check_race (race (bimodal, MS (6), 960000, "5 % of 200 ms, d 6 ms, "));
    check_race (race (bimodal, MS (10), 990000, "5 % of 200 ms, d 10 ms, "));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_samples_nothing_is_known),
        cmocka_unit_test (BE_06_a_constant_of_5_ms_gives_that),
        cmocka_unit_test (BE_06_a_constant_of_a_third_of_a_millisecond_is_no_whole_one),
        cmocka_unit_test (BE_06_what_is_out_of_range_is_clamped_and_counted),
        cmocka_unit_test (BE_06_every_magnitude_is_exact_to_a_bucket),
        cmocka_unit_test (BE_07_percentiles_of_shuffled_values_match_a_sort),
        cmocka_unit_test (kaplan_meier_is_as_by_hand),
        cmocka_unit_test (what_ends_and_is_cut_short_in_one_bucket_was_at_risk_until_its_end),
        cmocka_unit_test (the_first_of_millions_is_found_by_both_ways),
        cmocka_unit_test (samples_that_were_all_cut_short_say_nothing_of_an_end),
        cmocka_unit_test (one_short_sample_among_the_cut_ones_moves_no_percentile_to_it),
        cmocka_unit_test (a_slice_falls_out_as_a_whole),
        cmocka_unit_test (a_long_silence_empties_the_window),
        cmocka_unit_test (the_shortest_window_works),
        cmocka_unit_test (merging_equals_having_seen_both),
        cmocka_unit_test (a_full_window_takes_no_more_and_counts_that),
        cmocka_unit_test (a_copy_of_the_block_is_a_snapshot),
        cmocka_unit_test (any_sequence_keeps_the_invariants),
        cmocka_unit_test (BE_04_cancelled_losers_bend_no_percentile_of_an_exponential_service),
        cmocka_unit_test (BE_04_cancelled_losers_bend_no_percentile_of_a_bimodal_service),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
