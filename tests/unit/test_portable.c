/* SPDX-License-Identifier: MIT */
/*
 * Our elementary functions against libm's in long double over many values, and bits that must not
 * change with the compiler, its options or the processor.
 */
#include "check.h"

#include <math.h>

#include "base/prng.h"
#include "tools/portable.h"

#define VALUES 300000

static double uniform (struct ti_prng *prng)
{
    return ((double)(ti_prng_next (prng) >> 1) + 0.5) * 0x1p-63;
}

/* A number near 1, or of any size. */
static double any_positive (struct ti_prng *prng)
{
    switch (ti_prng_below (prng, 4)) {
    case 0:
        return uniform (prng);
    case 1:
        return 1 + (uniform (prng) - 0.5) * ldexp (1, -(int)ti_prng_below (prng, 50));
    default:
        return ldexp (0.5 + uniform (prng) / 2, (int)ti_prng_below (prng, 2040) - 1020);
    }
}

static double error (double ours, long double exact)
{
    if (exact < 0 || exact > 0)
        return fabs ((double)((ours - exact) / exact));
    return fabs (ours);
}

static void logarithm_agrees_with_libm (void **state)
{
    struct ti_prng prng;
    (void)state;
    ti_prng_seed (&prng, 1);
    for (int i = 0; i < VALUES; i++) {
        double x = any_positive (&prng), small = uniform (&prng) - 0.5;
        CHECK_DBL (error (ti_log (x), logl (x)), <, 5e-16);
        CHECK_DBL (error (ti_log1p (x), log1pl (x)), <, 5e-16);
        small = ldexp (small, -(int)ti_prng_below (&prng, 60));
        CHECK_DBL (error (ti_log1p (small), log1pl (small)), <, 5e-16);
    }
    CHECK_DBL (ti_log (1), ==, 0);
    CHECK_DBL (ti_log1p (0), ==, 0);
}

static void exponential_and_power_agree_with_libm (void **state)
{
    struct ti_prng prng;
    (void)state;
    ti_prng_seed (&prng, 2);
    for (int i = 0; i < VALUES; i++) {
        double x = (uniform (&prng) - 0.5) * (i % 2 ? 1416 : 2);
        CHECK_DBL (error (ti_exp (x), expl (x)), <, 5e-16);
        /* Powers as draws take them: the result up to an hour in ns. */
        double base = uniform (&prng), exponent = -29 / -ti_log (base) * uniform (&prng);
        CHECK_DBL (error (ti_pow (base, exponent), powl (base, exponent)), <, 1e-14);
    }
    CHECK_DBL (ti_exp (0), ==, 1);
    CHECK_DBL (ti_exp (-800), ==, 0);
    CHECK_DBL (ti_exp (1e300), ==, ti_exp (709));
}

static void gamma_agrees_with_libm (void **state)
{
    (void)state;
    for (double x = 1; x <= 171; x += 0.0078125)
        CHECK_DBL (error (ti_gamma (x), tgammal (x)), <, 1e-12);
}

/* P (X <= x) of what is returned must be p: the error in x is the error in p over the density. */
static void normal_quantile_agrees_with_libm (void **state)
{
    struct ti_prng prng;
    (void)state;
    ti_prng_seed (&prng, 3);
    for (int i = 0; i < VALUES; i++) {
        double p = ldexp (uniform (&prng), -1 - (int)ti_prng_below (&prng, 64));
        double q = 1 - p;
        double z = ti_normal_quantile (p, q);
        long double miss = erfcl (-(long double)z / sqrtl (2)) / 2 - (long double)p;
        long double density = expl (-(long double)z * z / 2) / sqrtl (2 * acosl (-1));
        /* q is rounded: near the middle, where z is near 0, that shows. */
        CHECK_DBL (fabs ((double)(miss / density)), <, 1e-14 * fabs (z) + 2e-16);
        CHECK_DBL (ti_normal_quantile (q, p), ==, -z);
    }
    CHECK_DBL (ti_normal_quantile (0.5, 0.5), ==, 0);
}

static uint64_t bits_of (double x)
{
    uint64_t bits;
    memcpy (&bits, &x, sizeof bits);
    return bits;
}

/* Golden: any compiler, any options, any processor. */
static void bits_are_the_same_everywhere (void **state)
{
    struct ti_prng prng;
    uint64_t hash = 0;
    (void)state;
    ti_prng_seed (&prng, 4);
    for (int i = 0; i < 100000; i++) {
        double u = uniform (&prng), by_40 = 40 * u, by_10 = 10 * u;
        const double results[] = {ti_log (u),           ti_log1p (u - 0.25),
                                  ti_exp (by_40 - 20),  ti_pow (u, -0.4),
                                  ti_gamma (1 + by_10), ti_normal_quantile (u, 1 - u)};
        for (size_t k = 0; k < sizeof results / sizeof results[0]; k++)
            hash = (hash ^ bits_of (results[k])) * UINT64_C (0x100000001b3);
    }
    CHECK_U64 (hash, ==, UINT64_C (454231983726097320));
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (logarithm_agrees_with_libm),
        cmocka_unit_test (exponential_and_power_agree_with_libm),
        cmocka_unit_test (gamma_agrees_with_libm),
        cmocka_unit_test (normal_quantile_agrees_with_libm),
        cmocka_unit_test (bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
