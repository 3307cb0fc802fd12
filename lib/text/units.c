/* SPDX-License-Identifier: MIT */
/*
 * Reading numbers with units; units_format.c writes them. Everything is integer arithmetic on the
 * digits, so the result does not depend on the locale and overflow is seen before it happens.
 */
#include "units.h"

#include <stdbool.h>
#include <string.h>

#include "base/util.h"

/* A decimal number split at its point: value = whole + fraction / 10 ^ decimals. */
struct decimal {
    uint64_t whole;
    uint64_t fraction;
    uint32_t decimals; /* at most DECIMALS_MAX */
};

/* Finer than the finest part of the largest unit: 1 ns is 2.8e-13 h. */
#define DECIMALS_MAX 15

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit duration_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C (60000000000)},
    {"h", UINT64_C (3600000000000)},
};

static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"KiB", UINT64_C (1) << 10},
    {"MiB", UINT64_C (1) << 20},
    {"GiB", UINT64_C (1) << 30},
    {"TiB", UINT64_C (1) << 40},
};

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

const char *ti_units_text (int error)
{
    switch (error) {
#define TEXT_CASE(name, value, text)                                                               \
    case TI_UNITS_##name:                                                                          \
        return text;
        TI_UNITS_MAP (TEXT_CASE)
#undef TEXT_CASE
    default:
        return "is fine";
    }
}

static bool is_digit (char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with at most one point, which must stand between digits. *rest is what follows. */
static int scan_decimal (const char *text, struct decimal *out, const char **rest)
{
    struct decimal number = {0, 0, 0};
    if (!text || !*text)
        return TI_UNITS_EMPTY;
    if (text[0] == '-' && (is_digit (text[1]) || text[1] == '.'))
        return TI_UNITS_NEGATIVE;
    if (!is_digit (*text))
        return TI_UNITS_NOT_A_NUMBER;
    for (; is_digit (*text); text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (number.whole > (UINT64_MAX - digit) / 10)
            return TI_UNITS_TOO_LARGE;
        number.whole = number.whole * 10 + digit;
    }
    if (*text == '.') {
        text++;
        if (!is_digit (*text))
            return TI_UNITS_NOT_A_NUMBER;
        for (uint32_t zeros = 0; is_digit (*text); text++) {
            /* Zeros at the end say nothing, however many there are. */
            if (*text == '0') {
                zeros++;
                continue;
            }
            if (zeros >= DECIMALS_MAX || number.decimals + zeros + 1 > DECIMALS_MAX)
                return TI_UNITS_TOO_FINE;
            for (; zeros; zeros--, number.decimals++)
                number.fraction *= 10;
            number.fraction = number.fraction * 10 + (uint64_t)(*text - '0');
            number.decimals++;
        }
    }
    *out = number;
    *rest = text;
    return TI_UNITS_OK;
}

/* number * factor, which must be whole. */
static int scale (struct decimal number, uint64_t factor, uint64_t *out)
{
    uint64_t power = 1;
    for (uint32_t i = 0; i < number.decimals; i++)
        power *= 10;
    /*
     * fraction * factor / power: cancel factors of ten first, then the product fits because
     * fraction < power <= 10 ^ 15 and what is left of factor must hold all that is left of power.
     */
    uint64_t rest_factor = factor;
    while (power > 1 && power % 2 == 0 && rest_factor % 2 == 0) {
        power /= 2;
        rest_factor /= 2;
    }
    while (power > 1 && power % 5 == 0 && rest_factor % 5 == 0) {
        power /= 5;
        rest_factor /= 5;
    }
    /* The fraction has no zero at its end, but may itself be even or a multiple of five. */
    uint64_t fraction = number.fraction;
    while (power % 2 == 0 && fraction && fraction % 2 == 0) {
        power /= 2;
        fraction /= 2;
    }
    while (power % 5 == 0 && fraction && fraction % 5 == 0) {
        power /= 5;
        fraction /= 5;
    }
    if (fraction && power > 1)
        return TI_UNITS_TOO_FINE;
    if (number.whole > UINT64_MAX / factor)
        return TI_UNITS_TOO_LARGE;
    uint64_t result = number.whole * factor;
    /* What remains of the fraction is less than one unit, hence less than factor. */
    uint64_t part = fraction * rest_factor;
    if (result > UINT64_MAX - part)
        return TI_UNITS_TOO_LARGE;
    *out = result + part;
    return TI_UNITS_OK;
}

static const struct unit *find_unit (const struct unit *units, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp (units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

static int
parse_scaled (const char *text, const struct unit *units, size_t units_count, uint64_t *out)
{
    struct decimal number;
    const char *rest;
    int rc = scan_decimal (text, &number, &rest);
    if (rc)
        return rc;
    const struct unit *unit = find_unit (units, units_count, rest);
    if (!unit)
        return *rest ? TI_UNITS_BAD_UNIT : TI_UNITS_NO_UNIT;
    return scale (number, unit->factor, out);
}

int ti_parse_u64 (const char *text, uint64_t *out)
{
    struct decimal number;
    const char *rest;
    int rc = scan_decimal (text, &number, &rest);
    if (rc)
        return rc;
    if (*rest || strchr (text, '.'))
        return TI_UNITS_NOT_A_NUMBER;
    *out = number.whole;
    return TI_UNITS_OK;
}

static double to_real (struct decimal number)
{
    uint64_t power = 1;
    for (uint32_t i = 0; i < number.decimals; i++)
        power *= 10;
    /* One division of two exact numbers rounds once, so "2.3" is the 2.3 of a C compiler. */
    if (number.whole < (UINT64_C (1) << 53) / power)
        return (double)(number.whole * power + number.fraction) / (double)power;
    return (double)number.whole + (double)number.fraction / (double)power;
}

int ti_parse_real (const char *text, double *out)
{
    struct decimal number;
    const char *rest;
    int rc = scan_decimal (text, &number, &rest);
    if (rc)
        return rc;
    if (*rest)
        return TI_UNITS_NOT_A_NUMBER;
    *out = to_real (number);
    return TI_UNITS_OK;
}

#define EXPONENT_MAX 300
/* 10 ^ this is a double without an error. */
#define EXACT_MAX 22

static double shift (double value, uint64_t exponent, bool is_negative)
{
    while (exponent > 0) {
        uint64_t step = ti_min (exponent, EXACT_MAX);
        double power = 1;
        for (uint64_t i = 0; i < step; i++)
            power *= 10;
        value = is_negative ? value / power : value * power;
        exponent -= step;
    }
    return value;
}

int ti_parse_scientific (const char *text, double *out)
{
    char mantissa[64];
    size_t length = strcspn (text, "eE");
    const char *power = text + length;
    uint64_t exponent = 0;
    double value = 0;

    if (length + 2 > sizeof mantissa)
        return TI_UNITS_NOT_A_NUMBER;
    mantissa[0] = '0';
    memcpy (mantissa + 1, text, length);
    mantissa[length + 1] = '\0';
    int error = ti_parse_real (mantissa + (text[0] != '.'), &value);
    if (error)
        return error;
    bool is_negative = power[0] && power[1] == '-';
    if (*power) {
        power += 1 + (is_negative || power[1] == '+');
        if (ti_parse_u64 (power, &exponent))
            return TI_UNITS_NOT_A_NUMBER;
        if (exponent > EXPONENT_MAX)
            return is_negative ? TI_UNITS_TOO_FINE : TI_UNITS_TOO_LARGE;
    }
    value = shift (value, exponent, is_negative);
    if (value > 1e301)
        return TI_UNITS_TOO_LARGE;
    *out = value;
    return TI_UNITS_OK;
}

int ti_parse_duration (const char *text, uint64_t *out_ns)
{
    return parse_scaled (text, duration_units, COUNT (duration_units), out_ns);
}

int ti_parse_size (const char *text, uint64_t *out_bytes)
{
    return parse_scaled (text, size_units, COUNT (size_units), out_bytes);
}

int ti_parse_rate (const char *text, double *out_per_second)
{
    struct decimal number;
    const char *rest;
    int rc = scan_decimal (text, &number, &rest);
    if (rc)
        return rc;
    double rate = to_real (number);
    if (*rest == 'k' || *rest == 'M')
        rate *= *rest++ == 'k' ? 1e3 : 1e6;
    if (strcmp (rest, "/m") == 0)
        rate /= 60;
    else if (*rest && strcmp (rest, "/s") != 0)
        return TI_UNITS_BAD_UNIT;
    *out_per_second = rate;
    return TI_UNITS_OK;
}
