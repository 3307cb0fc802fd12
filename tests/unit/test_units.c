/* SPDX-License-Identifier: MIT */
/* Numbers with units: what is read, what is refused and why, and that printing reads back. */
#include "check.h"

#include <locale.h>
#include <math.h>

#include "base/util.h"
#include "text/units.h"

static void durations_are_read_exactly (void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {{"0s", 0},
                 {"0ms", 0},
                 {"1ns", 1},
                 {"250us", US (250)},
                 {"5ms", MS (5)},
                 {"1.5s", MS (1500)},
                 {"2m", S (120)},
                 {"1h", S (3600)},
                 {"0.1s", MS (100)},
                 {"0.000000001s", 1},
                 {"1.500000000000000000000s", MS (1500)},
                 {"0.1m", S (6)},
                 {"0.00000000025h", 900},
                 {"18446744073709551615ns", UINT64_MAX},
                 {"5124095h", UINT64_C (18446742000000000000)},
                 {"00012ms", MS (12)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t ns = 77;
        if (ti_parse_duration (cases[i].text, &ns))
            print_error ("refused: %s\n", cases[i].text);
        CHECK_U64 (ns, ==, cases[i].ns);
    }
}

static void bad_durations_are_refused_with_their_reason (void **state)
{
    (void)state;
    const struct {
        const char *text;
        int error;
    } cases[] = {{"", TI_UNITS_EMPTY},
                 {NULL, TI_UNITS_EMPTY},
                 {"5", TI_UNITS_NO_UNIT},
                 {"0", TI_UNITS_NO_UNIT},
                 {"1.5", TI_UNITS_NO_UNIT},
                 {"5 ms", TI_UNITS_BAD_UNIT},
                 {" 5ms", TI_UNITS_NOT_A_NUMBER},
                 {"5ms ", TI_UNITS_BAD_UNIT},
                 {"5msx", TI_UNITS_BAD_UNIT},
                 {"5MS", TI_UNITS_BAD_UNIT},
                 {"5d", TI_UNITS_BAD_UNIT},
                 {"1e3ms", TI_UNITS_BAD_UNIT},
                 {"0x10ms", TI_UNITS_BAD_UNIT},
                 {"-5ms", TI_UNITS_NEGATIVE},
                 {"-.5ms", TI_UNITS_NEGATIVE},
                 {"+5ms", TI_UNITS_NOT_A_NUMBER},
                 {"ms", TI_UNITS_NOT_A_NUMBER},
                 {".5s", TI_UNITS_NOT_A_NUMBER},
                 {"5.s", TI_UNITS_NOT_A_NUMBER},
                 {"1,5s", TI_UNITS_BAD_UNIT},
                 {"1.2.3s", TI_UNITS_BAD_UNIT},
                 {"0.5ns", TI_UNITS_TOO_FINE},
                 {"0.0000000001s", TI_UNITS_TOO_FINE},
                 {"0.00000000000000000000001s", TI_UNITS_TOO_FINE},
                 {"18446744073709551616ns", TI_UNITS_TOO_LARGE},
                 {"99999999999999999999999999s", TI_UNITS_TOO_LARGE},
                 {"5124096h", TI_UNITS_TOO_LARGE},
                 {"18446744073.709551616s", TI_UNITS_TOO_LARGE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t ns = 77;
        int rc = ti_parse_duration (cases[i].text, &ns);
        if (rc != cases[i].error)
            print_error ("text: %s\n", cases[i].text);
        CHECK_I64 (rc, ==, cases[i].error);
        CHECK_U64 (ns, ==, 77);
        CHECK_TRUE (ti_units_text (rc)[0] != '\0');
    }
}

static void BE_03_nan_inf_negative_and_exponents_are_refused_everywhere (void **state)
{
    (void)state;
    const char *const texts[] = {"nan", "NaN",   "inf", "infinity", "-inf",  "-1",
                                 "-0",  "1e300", "1e3", "0x1",      "1_000", "",
                                 " 1",  "1 ",    "--1", "\xff",     "."};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double real = 77;
        uint64_t whole = 77;
        CHECK_I64 (ti_parse_real (texts[i], &real), <, 0);
        CHECK_I64 (ti_parse_rate (texts[i], &real), <, 0);
        CHECK_I64 (ti_parse_u64 (texts[i], &whole), <, 0);
        CHECK_I64 (ti_parse_duration (texts[i], &whole), <, 0);
        CHECK_I64 (ti_parse_size (texts[i], &whole), <, 0);
        CHECK_DBL (real, ==, 77);
        CHECK_U64 (whole, ==, 77);
    }
}

static void numbers_of_files_have_exponents (void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } texts[] = {{"0.7", 0.7},       {".5", 0.5},    {"5e-1", 0.5},  {"1e-05", 1e-5},
                 {"2.3E+2", 230},    {"1e22", 1e22}, {".25e1", 2.5}, {"1e300", 1e300},
                 {"3.6e-7", 3.6e-7}, {"0e5", 0},     {"00.5", 0.5}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double real = 77;
        CHECK_I64 (ti_parse_scientific (texts[i].text, &real), ==, 0);
        CHECK_TRUE (fabs (real - texts[i].value) <= 1e-14 * texts[i].value);
    }
    static const char *const wrong[] = {"",   ".",    "e5",  "1e",  "1e+",  "1e--1", "-1",
                                        "+1", "1e5x", "nan", ".e1", "1.e1", "1e1.5", "1..2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double real = 77;
        CHECK_I64 (ti_parse_scientific (wrong[i], &real), <, 0);
        CHECK_DBL (real, ==, 77);
    }
    double real;
    CHECK_I64 (ti_parse_scientific ("1e301", &real), ==, TI_UNITS_TOO_LARGE);
    CHECK_I64 (ti_parse_scientific ("11e300", &real), ==, TI_UNITS_TOO_LARGE);
    CHECK_I64 (ti_parse_scientific ("1e-301", &real), ==, TI_UNITS_TOO_FINE);
}

static void reals_rates_sizes_and_integers_are_read (void **state)
{
    (void)state;
    double real = 0;
    uint64_t whole = 0;
    CHECK_I64 (ti_parse_real ("0.7", &real), ==, 0);
    CHECK_DBL (real, ==, 0.7);
    CHECK_I64 (ti_parse_real ("2.3", &real), ==, 0);
    CHECK_DBL (real, ==, 2.3);
    CHECK_I64 (ti_parse_real ("18446744073709551615", &real), ==, 0);
    CHECK_DBL (real, ==, 18446744073709551615.0);
    CHECK_I64 (ti_parse_rate ("500", &real), ==, 0);
    CHECK_DBL (real, ==, 500);
    CHECK_I64 (ti_parse_rate ("1.5k/s", &real), ==, 0);
    CHECK_DBL (real, ==, 1500);
    CHECK_I64 (ti_parse_rate ("2M", &real), ==, 0);
    CHECK_DBL (real, ==, 2e6);
    CHECK_I64 (ti_parse_rate ("90/m", &real), ==, 0);
    CHECK_DBL (real, ==, 1.5);
    CHECK_I64 (ti_parse_rate ("5/h", &real), ==, TI_UNITS_BAD_UNIT);
    CHECK_I64 (ti_parse_rate ("5kk", &real), ==, TI_UNITS_BAD_UNIT);
    CHECK_I64 (ti_parse_size ("4096", &whole), ==, 0);
    CHECK_U64 (whole, ==, 4096);
    CHECK_I64 (ti_parse_size ("1.5KiB", &whole), ==, 0);
    CHECK_U64 (whole, ==, 1536);
    CHECK_I64 (ti_parse_size ("1GB", &whole), ==, 0);
    CHECK_U64 (whole, ==, 1000000000);
    CHECK_I64 (ti_parse_size ("0.3B", &whole), ==, TI_UNITS_TOO_FINE);
    CHECK_I64 (ti_parse_size ("1TiB", &whole), ==, 0);
    CHECK_U64 (whole, ==, UINT64_C (1) << 40);
    CHECK_I64 (ti_parse_size ("17179869184GiB", &whole), ==, TI_UNITS_TOO_LARGE);
    CHECK_I64 (ti_parse_u64 ("18446744073709551615", &whole), ==, 0);
    CHECK_U64 (whole, ==, UINT64_MAX);
    CHECK_I64 (ti_parse_u64 ("18446744073709551616", &whole), ==, TI_UNITS_TOO_LARGE);
    CHECK_I64 (ti_parse_u64 ("1.0", &whole), ==, TI_UNITS_NOT_A_NUMBER);
}

static void a_printed_duration_reads_back_as_the_same_number (void **state)
{
    (void)state;
    char text[TI_UNITS_TEXT_MAX];
    uint64_t random = 5, back = 0;
    for (int i = 0; i < 20000; i++) {
        random += UINT64_C (0x9e3779b97f4a7c15);
        uint64_t ns = ti_mix (random) >> (i % 64);
        if (i % 3 == 0)
            ns -= ns % 1000000;
        if (ns == TIED_NEVER)
            continue;
        CHECK_I64 (ti_parse_duration (ti_format_duration (ns, text), &back), ==, 0);
        CHECK_U64 (back, ==, ns);
    }
}

static void durations_are_printed_in_the_unit_a_person_would_choose (void **state)
{
    (void)state;
    char text[TI_UNITS_TEXT_MAX];
    CHECK_STR (ti_format_duration (0, text), "0s");
    CHECK_STR (ti_format_duration (999, text), "999ns");
    CHECK_STR (ti_format_duration (US (250), text), "250us");
    CHECK_STR (ti_format_duration (US (1500), text), "1.5ms");
    CHECK_STR (ti_format_duration (S (90), text), "90s");
    CHECK_STR (ti_format_duration (S (120), text), "2m");
    CHECK_STR (ti_format_duration (S (3600), text), "1h");
    CHECK_STR (ti_format_duration (TIED_NEVER, text), "never");
}

static void milliseconds_have_three_significant_digits (void **state)
{
    (void)state;
    char text[TI_UNITS_TEXT_MAX];
    CHECK_STR (ti_format_ms (0, text), "0.000");
    CHECK_STR (ti_format_ms (US (312), text), "0.312");
    CHECK_STR (ti_format_ms (999499, text), "0.999");
    CHECK_STR (ti_format_ms (999500, text), "1.00");
    CHECK_STR (ti_format_ms (US (9870), text), "9.87");
    CHECK_STR (ti_format_ms (US (9996), text), "10.0");
    CHECK_STR (ti_format_ms (US (99960), text), "100");
    CHECK_STR (ti_format_ms (MS (1234), text), "1234");
    CHECK_STR (ti_format_ms (UINT64_MAX, text), "18446744073710");
}

static void sizes_are_printed_exactly (void **state)
{
    (void)state;
    char text[TI_UNITS_TEXT_MAX];
    CHECK_STR (ti_format_size (0, text), "0B");
    CHECK_STR (ti_format_size (1536, text), "1.5KiB");
    CHECK_STR (ti_format_size (UINT64_C (1) << 30, text), "1GiB");
    CHECK_STR (ti_format_size (UINT64_C (3) << 39, text), "1.5TiB");
    CHECK_STR (ti_format_size (1000001, text), "1000001B");
}

static void the_locale_does_not_matter (void **state)
{
    (void)state;
    double real = 0;
    uint64_t ns = 0;
    char text[TI_UNITS_TEXT_MAX];
    /* Any locale with a comma will do; without one the test still checks the C locale. */
    const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "C"};
    for (size_t i = 0; i < 4; i++)
        if (setlocale (LC_ALL, names[i]))
            break;
    CHECK_I64 (ti_parse_real ("0.5", &real), ==, 0);
    CHECK_DBL (real, ==, 0.5);
    CHECK_I64 (ti_parse_duration ("1.5ms", &ns), ==, 0);
    CHECK_STR (ti_format_duration (ns, text), "1.5ms");
    setlocale (LC_ALL, "C");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (durations_are_read_exactly),
        cmocka_unit_test (bad_durations_are_refused_with_their_reason),
        cmocka_unit_test (BE_03_nan_inf_negative_and_exponents_are_refused_everywhere),
        cmocka_unit_test (numbers_of_files_have_exponents),
        cmocka_unit_test (reals_rates_sizes_and_integers_are_read),
        cmocka_unit_test (a_printed_duration_reads_back_as_the_same_number),
        cmocka_unit_test (durations_are_printed_in_the_unit_a_person_would_choose),
        cmocka_unit_test (milliseconds_have_three_significant_digits),
        cmocka_unit_test (sizes_are_printed_exactly),
        cmocka_unit_test (the_locale_does_not_matter),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
