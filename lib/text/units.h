/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people write them on a command line: durations, sizes, rates, fractions. The whole
 * text must be the number: no blanks, no sign, no exponent, no "inf" or "nan", and '.' is the
 * decimal point in every locale. What does not fit is refused, never rounded to the limit.
 */
#ifndef TI_UNITS_H
#define TI_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include <tied/export.h>

#define TI_UNITS_MAP(X)                                                                            \
    X (EMPTY, -1, "is empty")                                                                      \
    X (NOT_A_NUMBER, -2, "is not a number")                                                        \
    X (NEGATIVE, -3, "is negative")                                                                \
    X (NO_UNIT, -4, "has no unit")                                                                 \
    X (BAD_UNIT, -5, "has an unknown unit")                                                        \
    X (TOO_LARGE, -6, "is too large")                                                              \
    X (TOO_FINE, -7, "has more decimals than its unit can hold")

#define TI_UNITS_ENUM_(name, value, text) TI_UNITS_##name = (value),
enum ti_units_error {
    TI_UNITS_OK = 0,
    TI_UNITS_MAP (TI_UNITS_ENUM_)
};
#undef TI_UNITS_ENUM_

/* What is wrong, to follow the quoted text: "\"5\" has no unit". Never NULL. */
const char *ti_units_text (int error);

/*
 * Each returns TI_UNITS_OK or one of the errors above; *out is written on success only. text may be
 * of any length.
 */

/* Decimal digits only. */
TIED_NODISCARD int ti_parse_u64 (const char *text, uint64_t *out);
/* "0.7", "3", "12.25": finite and not negative. */
TIED_NODISCARD int ti_parse_real (const char *text, double *out);
/* What files write: also ".5", "1e-3", "2.5E+7"; exponents up to 300. */
TIED_NODISCARD int ti_parse_scientific (const char *text, double *out);
/* "250us", "5ms", "1.5s", "2m", "1h", "300ns". A number alone is refused, 0 as well. */
TIED_NODISCARD int ti_parse_duration (const char *text, uint64_t *out_ns);
/* Bytes: "4096", "64B", "1KiB", "2MiB", "1GiB", "1kB", "1MB", "1GB". */
TIED_NODISCARD int ti_parse_size (const char *text, uint64_t *out_bytes);
/* Per second: "500", "500/s", "1.5k/s", "2M/s", "90/m". */
TIED_NODISCARD int ti_parse_rate (const char *text, double *out_per_second);

/* Long enough for what the functions below write. */
#define TI_UNITS_TEXT_MAX 48

/*
 * A short text that ti_parse_duration () reads back as the same number: "1.5ms", "90s", "0s".
 * TIED_NEVER gives "never". @return buffer
 */
const char *ti_format_duration (uint64_t ns, char buffer[TI_UNITS_TEXT_MAX]);
/* For tables: three significant digits in milliseconds, "0.312", "9.87", "98.7", "1234". */
const char *ti_format_ms (uint64_t ns, char buffer[TI_UNITS_TEXT_MAX]);
/* "512B", "1KiB", "1.5MiB" when exact to three decimals, else plain bytes. */
const char *ti_format_size (uint64_t bytes, char buffer[TI_UNITS_TEXT_MAX]);

#endif
