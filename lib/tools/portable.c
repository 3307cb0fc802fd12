/* SPDX-License-Identifier: MIT */
/*
 * Elementary functions from additions, multiplications and divisions; see portable.h. The build
 * forbids fused operations here (-ffp-contract=off): they would round differently where the
 * processor has them.
 */
#include "portable.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln 2 in two parts; the first has 32 bits, so its product with an exponent is exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW  0x1.a39ef35793c76p-33

#define FRACTION_BITS UINT64_C (0x000fffffffffffff)
#define EXPONENT_ONE  UINT64_C (0x3ff0000000000000)

static uint64_t bits_of (double x)
{
    uint64_t bits;
    memcpy (&bits, &x, sizeof bits);
    return bits;
}

static double from_bits (uint64_t bits)
{
    double x;
    memcpy (&x, &bits, sizeof x);
    return x;
}

/*
 * x = 2^e m with m in [sqrt (1/2), sqrt (2)), log m = 2 atanh (s) with s = (m - 1) / (m + 1). The
 * series in s^2 is economised over this range: 7 terms, error below 5e-18 of s.
 */
double ti_log (double x)
{
    uint64_t bits = bits_of (x);
    /* Adding this carries into the exponent exactly when the fraction is at or above sqrt (2). */
    uint64_t shifted = bits + (EXPONENT_ONE - UINT64_C (0x3fe6a09e667f3bcd));
    int64_t exponent = (int64_t)(shifted >> 52) - 1023;
    double m = from_bits (bits - ((uint64_t)exponent << 52));
    double f = m - 1, s = f / (2 + f), z = s * s, w = z * z;
    double even = 0.666666666666666971 +
                  w * (0.285714286262538376 + w * (0.181828924325368712 + w * 0.14617807153417325));
    double odd = 0.399999999998988905 + w * (0.222222110893794962 + w * 0.153316117220550079);
    double k = (double)exponent;
    /* 2 s = f - s f: written so that the largest part is exact. */
    double rest = s * (z * (even + z * odd)) - s * f;
    return k * LN2_HIGH + (f + (rest + k * LN2_LOW));
}

double ti_log1p (double x)
{
    double u = 1 + x;
    if (!(u > 1) && !(u < 1))
        return x;
    /* The rounding of u is undone to first order. */
    return ti_log (u) * (x / (u - 1));
}

/* x = k ln 2 + r, |r| <= ln 2 / 2; the series of e^r is economised: error below 2e-17. */
double ti_exp (double x)
{
    if (x < -708)
        return 0;
    if (x > 709)
        x = 709;
    int64_t k = (int64_t)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    double high = x - (double)k * LN2_HIGH, low = (double)k * LN2_LOW, r = high - low, z = r * r;
    double even = 0.500000000000000103 +
                  z * (0.0416666666666238205 +
                       z * (0.00138888889173670806 +
                            z * (0.0000248015210578682052 + z * 2.76202015910315488e-7)));
    double odd =
        0.166666666666666675 + z * (0.0083333333333300382 +
                                    z * (0.00019841269863171556 +
                                         z * (2.75572682769056962e-6 + z * 2.5100472505694996e-8)));
    double y = 1 + (high + (z * (even + r * odd) - low));
    return y * from_bits ((uint64_t)(k + 1023) << 52);
}

double ti_pow (double base, double exponent)
{
    return ti_exp (exponent * ti_log (base));
}

/* Stirling's series from 10 on, and the recurrence below. */
double ti_gamma (double x)
{
    double product = 1;
    while (x < 10) {
        product *= x;
        x += 1;
    }
    double i = 1 / x, z = i * i;
    double series =
        i * (1.0 / 12 -
             z * (1.0 / 360 -
                  z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * 691.0 / 360360)))));
    /* sqrt (2 pi) */
    return ti_exp ((x - 0.5) * ti_log (x) - x + series) * 2.5066282746310002 / product;
}

static double polynomial (const double c[8], double x)
{
    double sum = c[7];
    for (int i = 6; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* Wichura 1988, algorithm AS 241 (PPND16), Applied Statistics 37(3). */
double ti_normal_quantile (double p, double q)
{
    static const double middle_over[8] = {3.3871328727963666080e+0, 1.3314166789178437745e+2,
                                          1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                          4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                          3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double middle_under[8] = {
        1.0,
        4.2313330701600911252e+1,
        6.8718700749205790830e+2,
        5.3941960214247511077e+3,
        2.1213794301586595867e+4,
        3.9307895800092710610e+4,
        2.8729085735721942674e+4,
        5.2264952788528545610e+3,
    };
    static const double tail_over[8] = {1.42343711074968357734e+0, 4.63033784615654529590e+0,
                                        5.76949722146069140550e+0, 3.64784832476320460504e+0,
                                        1.27045825245236838258e+0, 2.41780725177450611770e-1,
                                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double tail_under[8] = {1.0,
                                         2.05319162663775882187e+0,
                                         1.67638483018380384940e+0,
                                         6.89767334985100004550e-1,
                                         1.48103976427480074590e-1,
                                         1.51986665636164571966e-2,
                                         5.47593808499534494600e-4,
                                         1.05075007164441684324e-9};
    static const double far_over[8] = {6.65790464350110377720e+0, 5.46378491116411436990e+0,
                                       1.78482653991729133580e+0, 2.96560571828504891230e-1,
                                       2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                       2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_under[8] = {1.0,
                                        5.99832206555887937690e-1,
                                        1.36929880922735805310e-1,
                                        1.48753612908506148525e-2,
                                        7.86869131145613259100e-4,
                                        1.84631831751005468180e-5,
                                        1.42151175831644588870e-7,
                                        2.04426310338993978564e-15};
    /* (p - q) / 2 is p - 1/2 without the rounding of either. */
    double centre = (p - q) * 0.5;
    if (centre >= -0.425 && centre <= 0.425) {
        double r = 0.180625 - centre * centre;
        return centre * polynomial (middle_over, r) / polynomial (middle_under, r);
    }
    double r = sqrt (-ti_log (p < q ? p : q));
    double x = r <= 5 ? polynomial (tail_over, r - 1.6) / polynomial (tail_under, r - 1.6)
                      : polynomial (far_over, r - 5) / polynomial (far_under, r - 5);
    return p < q ? -x : x;
}
