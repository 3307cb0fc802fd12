/* SPDX-License-Identifier: MIT */
/* Hedge rules as text: what is read, where reading stops, and that printing is its inverse. */
#include "check.h"

#include "base/prng.h"
#include "core/hedge_rule.h"

static struct tied_hedge_rule parsed (const char *text)
{
    struct tied_hedge_rule rule;
    size_t at = 4711;
    const int result = tied_hedge_rule_parse (text, &rule, &at);
    if (result)
        print_error ("refused: \"%s\" at %zu\n", text, at);
    CHECK_I64 (result, ==, 0);
    CHECK_U64 (at, ==, 4711);
    CHECK_TRUE (ti_hedge_rule_is_valid (&rule));
    return rule;
}

static void check_prints (const char *text, const char *printed)
{
    const struct tied_hedge_rule rule = parsed (text);
    char buffer[TIED_HEDGE_TEXT_MAX];
    const int length = tied_hedge_rule_print (&rule, buffer, sizeof buffer);
    CHECK_STR (buffer, printed);
    CHECK_I64 (length, ==, strlen (printed));
}

static void check_refused (const char *text, size_t where)
{
    struct tied_hedge_rule rule, before;
    size_t at = 4711;
    memset (&rule, 0x5a, sizeof rule);
    memcpy (&before, &rule, sizeof before);
    const int result = tied_hedge_rule_parse (text, &rule, &at);
    if (result == 0 || at != where)
        print_error ("\"%s\": result %d, at %zu\n", text ? text : "(null)", result, at);
    CHECK_I64 (result, ==, TIED_ERR_INVAL);
    CHECK_U64 (at, ==, where);
    CHECK_MEM (&rule, &before, sizeof rule);
    CHECK_I64 (tied_hedge_rule_parse (text, &rule, NULL), ==, TIED_ERR_INVAL);
}

static void check_duration (const char *text, uint64_t ns)
{
    const struct tied_hedge_rule rule = parsed (text);
    CHECK_U64 (rule.kind, ==, TIED_HEDGE_RULE_MIN);
    CHECK_U64 (rule.count, ==, 1);
    CHECK_FALSE (rule.terms[0].is_percentile);
    CHECK_U64 (rule.terms[0].value, ==, ns);
}

static void check_percentile (const char *text, uint64_t ppm)
{
    const struct tied_hedge_rule rule = parsed (text);
    CHECK_U64 (rule.kind, ==, TIED_HEDGE_RULE_MIN);
    CHECK_U64 (rule.count, ==, 1);
    CHECK_TRUE (rule.terms[0].is_percentile);
    CHECK_U64 (rule.terms[0].value, ==, ppm);
}

static void words_are_rules_without_terms (void **state)
{
    (void)state;
    CHECK_U64 (parsed ("never").kind, ==, TIED_HEDGE_RULE_NEVER);
    CHECK_U64 (parsed ("never").count, ==, 0);
    CHECK_U64 (parsed ("auto").kind, ==, TIED_HEDGE_RULE_AUTO);
    CHECK_U64 (parsed ("auto").count, ==, 0);
}

static void BE_06_a_duration_is_nanoseconds_whatever_its_unit (void **state)
{
    (void)state;
    check_duration ("0ns", 0);
    check_duration ("0s", 0);
    check_duration ("1ns", 1);
    check_duration ("1us", 1000);
    check_duration ("50ms", MS (50));
    check_duration ("0050ms", MS (50));
    check_duration ("1.5ms", US (1500));
    check_duration ("1.500000000000000000000ms", US (1500));
    check_duration ("0.000000001s", 1);
    check_duration ("2.123456789s", UINT64_C (2123456789));
    check_duration ("1m", S (60));
    check_duration ("0.05m", S (3));
    check_duration ("0.00000000005m", 3);
    check_duration ("60m", S (3600));
    check_duration ("3600s", S (3600));
    check_duration ("3600000000000ns", S (3600));
}

static void a_percentile_is_parts_per_million (void **state)
{
    (void)state;
    check_percentile ("p50", 500000);
    check_percentile ("p95", 950000);
    check_percentile ("p99.9", 999000);
    check_percentile ("p99.90", 999000);
    check_percentile ("p99.9999", 999999);
    check_percentile ("p0.0001", 1);
    check_percentile ("p1", 10000);
}

static void terms_are_kept_in_their_order (void **state)
{
    (void)state;
    struct tied_hedge_rule rule = parsed ("min(p99,50ms)");
    CHECK_U64 (rule.kind, ==, TIED_HEDGE_RULE_MIN);
    CHECK_U64 (rule.count, ==, 2);
    CHECK_TRUE (rule.terms[0].is_percentile);
    CHECK_U64 (rule.terms[0].value, ==, 990000);
    CHECK_FALSE (rule.terms[1].is_percentile);
    CHECK_U64 (rule.terms[1].value, ==, MS (50));
    rule = parsed ("max(1ms,p90,2s,p99)");
    CHECK_U64 (rule.kind, ==, TIED_HEDGE_RULE_MAX);
    CHECK_U64 (rule.count, ==, 4);
    CHECK_U64 (rule.terms[3].value, ==, 990000);
}

static void BE_03_what_is_not_a_number_is_refused_at_its_first_byte (void **state)
{
    (void)state;
    const char *const words[] = {"nan",  "NaN",  "inf",  "-inf",   "-1",   "-1ms",
                                 "+1ms", "pnan", "pinf", "p-1",    "p+95", ".5ms",
                                 "p.5",  "ms",   "%",    "0x10ms", "1e300"};
    const size_t where[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        check_refused (words[i], where[i]);
    check_refused ("1e300ms", 1);
    check_refused ("p1e300", 2);
    check_refused ("p9e1", 2);
    check_refused ("1.ms", 2);
    check_refused ("1.5.5ms", 3);
    check_refused ("p99.", 4);
    check_refused ("1,5ms", 1);
}

static void BE_03_what_is_out_of_range_is_refused_at_its_first_digit (void **state)
{
    (void)state;
    check_refused ("p0", 1);
    check_refused ("p0.0", 1);
    check_refused ("p100", 1);
    check_refused ("p100.0", 1);
    check_refused ("p1000", 1);
    check_refused ("p99.99999", 1);
    check_refused ("p99.000000000000000000000001", 1);
    check_refused ("3600.000000001s", 0);
    check_refused ("61m", 0);
    check_refused ("3600000000001ns", 0);
    check_refused ("3601s", 0);
    check_refused ("3600000000000m", 0);
    check_refused ("307445734562m", 0); /* 10 ms, if the product wrapped */
    check_refused ("0.5ns", 0);
    check_refused ("0.0000001us", 0);
    check_refused ("0.00000000001m", 0);
    check_refused ("18446744073709551616ns", 0);
    check_refused ("99999999999999999999999999999999999999999999999999ms", 0);
    check_refused ("p99999999999999999999999999999999999999999999999999", 1);
    check_refused ("0.00000000000000000000000000000000000000000000000001s", 0);
    check_refused ("min(1ms,61m)", 8);
    check_refused ("min(1ms,p0)", 9);
}

static void a_number_needs_one_of_the_units (void **state)
{
    (void)state;
    check_refused ("0", 1);
    check_refused ("50", 2);
    check_refused ("50MS", 2);
    check_refused ("50 ms", 2);
    check_refused ("50h", 2);
    check_refused ("50x", 2);
    check_refused ("50min", 3);
    check_refused ("p95ms", 3);
    check_refused ("p95%", 3);
}

static void empty_and_too_many_terms_are_refused_where_they_stand (void **state)
{
    (void)state;
    check_refused (NULL, 0);
    check_refused ("", 0);
    check_refused ("p", 1);
    check_refused ("min", 0);
    check_refused ("min(", 4);
    check_refused ("min()", 4);
    check_refused ("min(,1ms)", 4);
    check_refused ("min(1ms,)", 8);
    check_refused ("min(1ms,,2ms)", 8);
    check_refused ("max(1ms", 7);
    check_refused ("max(1ms;2ms)", 7);
    check_refused ("min(1ms,2ms,3ms,4ms,5ms)", 20);
    check_refused ("min(never)", 4);
    check_refused ("min(auto,1ms)", 4);
    check_refused ("min(max(1ms),2ms)", 4);
}

static void trailing_bytes_are_refused_where_they_begin (void **state)
{
    (void)state;
    check_refused ("never ", 5);
    check_refused ("neverx", 5);
    check_refused ("auto(1ms)", 4);
    check_refused ("50ms ", 4);
    check_refused (" 50ms", 0);
    check_refused ("50ms,60ms", 4);
    check_refused ("min(1ms))", 8);
    check_refused ("min(1ms,2ms)x", 12);
    check_refused ("min(1ms, 2ms)", 8);
    check_refused ("NEVER", 0);
    check_refused ("p95p", 3);
}

static void a_rule_has_one_printed_form (void **state)
{
    (void)state;
    check_prints ("never", "never");
    check_prints ("auto", "auto");
    check_prints ("min(50ms)", "50ms");
    check_prints ("max(50ms)", "max(50ms)");
    check_prints ("0050.50ms", "50.5ms");
    check_prints ("0s", "0ns");
    check_prints ("999ns", "999ns");
    check_prints ("1000ns", "1us");
    check_prints ("1500us", "1.5ms");
    check_prints ("1m", "60s");
    check_prints ("60m", "3600s");
    check_prints ("3599999999999ns", "3599.999999999s");
    check_prints ("p99.90", "p99.9");
    check_prints ("p0.0001", "p0.0001");
    check_prints ("p99.0001", "p99.0001");
    check_prints ("min(p99,0.05s)", "min(p99,50ms)");
    check_prints ("max(p50,p95.5,1m,1001ns)", "max(p50,p95.5,60s,1.001us)");
}

static void the_longest_text_fits_and_every_shorter_buffer_is_told_so (void **state)
{
    (void)state;
    const char *text = "max(3599.999999999s,3599.999999999s,3599.999999999s,3599.999999999s)";
    const struct tied_hedge_rule rule = parsed (text);
    const size_t length = strlen (text);
    char buffer[TIED_HEDGE_TEXT_MAX];
    CHECK_U64 (length, <, TIED_HEDGE_TEXT_MAX);
    CHECK_I64 (tied_hedge_rule_print (&rule, buffer, length + 1), ==, length);
    CHECK_STR (buffer, text);
    for (size_t capacity = 1; capacity <= length; capacity++) {
        memset (buffer, 'x', sizeof buffer);
        CHECK_I64 (tied_hedge_rule_print (&rule, buffer, capacity), ==, TIED_ERR_TOOBIG);
        CHECK_STR (buffer, "");
        CHECK_U64 (buffer[capacity], ==, 'x');
    }
    buffer[0] = 'x';
    CHECK_I64 (tied_hedge_rule_print (&rule, buffer, 0), ==, TIED_ERR_TOOBIG);
    CHECK_U64 (buffer[0], ==, 'x');
    CHECK_I64 (tied_hedge_rule_print (&rule, NULL, 0), ==, TIED_ERR_TOOBIG);
}

static void what_is_no_rule_is_not_printed (void **state)
{
    (void)state;
    struct tied_hedge_rule rule = {.kind = 4};
    char buffer[TIED_HEDGE_TEXT_MAX] = "x";
    CHECK_I64 (tied_hedge_rule_print (&rule, buffer, sizeof buffer), ==, TIED_ERR_INVAL);
    CHECK_STR (buffer, "");
    CHECK_I64 (tied_hedge_rule_print (NULL, buffer, sizeof buffer), ==, TIED_ERR_INVAL);
    rule = (struct tied_hedge_rule){.kind = TIED_HEDGE_RULE_MIN, .count = 5};
    CHECK_I64 (tied_hedge_rule_print (&rule, buffer, sizeof buffer), ==, TIED_ERR_INVAL);
}

static void check_same (const struct tied_hedge_rule *a, const struct tied_hedge_rule *b)
{
    CHECK_U64 (a->kind, ==, b->kind);
    CHECK_U64 (a->count, ==, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        CHECK_U64 (a->terms[i].is_percentile, ==, b->terms[i].is_percentile);
        CHECK_U64 (a->terms[i].value, ==, b->terms[i].value);
    }
}

/* Values of every magnitude. */
static void reading_undoes_printing_for_any_rule (void **state)
{
    (void)state;
    struct ti_prng prng;
    ti_prng_seed (&prng, 1);
    for (uint64_t n = check_scale (100000); n > 0; n--) {
        struct tied_hedge_rule rule = {.kind = ti_prng_below_32 (&prng, 4)}, again;
        char buffer[TIED_HEDGE_TEXT_MAX];
        if (rule.kind == TIED_HEDGE_RULE_MIN || rule.kind == TIED_HEDGE_RULE_MAX)
            rule.count = 1 + ti_prng_below_32 (&prng, TIED_HEDGE_TERMS_MAX);
        for (uint32_t i = 0; i < rule.count; i++) {
            const uint64_t bound = UINT64_C (1) << ti_prng_below_32 (&prng, 42);
            const uint64_t value = ti_prng_below (&prng, bound);
            const bool is_percentile = ti_prng_below_32 (&prng, 2);
            rule.terms[i].is_percentile = is_percentile;
            rule.terms[i].value =
                is_percentile ? 1 + value % (TIED_PPM - 1) : value % (TI_HEDGE_DELAY_MAX + 1);
        }
        CHECK_I64 (tied_hedge_rule_print (&rule, buffer, sizeof buffer), >, 0);
        CHECK_I64 (tied_hedge_rule_parse (buffer, &again, NULL), ==, 0);
        check_same (&rule, &again);
    }
}

/* Strings from pieces of the grammar: whatever is accepted is valid and has a printed form that
 * means the same; whatever is refused names a byte inside the text or its end. */
static void any_text_is_read_or_refused_within_its_bounds (void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "min(", "max(", ")", ",", "p",  "ms", "us", "ns", "s", "m", "0",   "1",    "9",
        "99",   ".",    "5", "-", "e9", "",   " ",  "(",  "x", "~", "nan", "auto", "never"};
    struct ti_prng prng;
    uint64_t accepted = 0;
    ti_prng_seed (&prng, 2);
    for (uint64_t n = check_scale (300000); n > 0; n--) {
        char text[80] = "";
        for (uint32_t i = 1 + ti_prng_below_32 (&prng, 12); i > 0; i--)
            strcat (text, pieces[ti_prng_below_32 (&prng, sizeof pieces / sizeof pieces[0])]);
        /* On the heap and of its exact size, so that a sanitizer sees a read beyond it. */
        const size_t size = strlen (text) + 1;
        char *copy = malloc (size);
        CHECK_TRUE (copy != NULL);
        memcpy (copy, text, size);
        struct tied_hedge_rule rule, again;
        size_t at = 0;
        if (tied_hedge_rule_parse (copy, &rule, &at) == 0) {
            char buffer[TIED_HEDGE_TEXT_MAX];
            accepted++;
            CHECK_TRUE (ti_hedge_rule_is_valid (&rule));
            CHECK_I64 (tied_hedge_rule_print (&rule, buffer, sizeof buffer), >, 0);
            CHECK_I64 (tied_hedge_rule_parse (buffer, &again, NULL), ==, 0);
            check_same (&rule, &again);
        } else {
            CHECK_U64 (at, <, size);
        }
        free (copy);
    }
    CHECK_U64 (accepted, >, 0);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (words_are_rules_without_terms),
        cmocka_unit_test (BE_06_a_duration_is_nanoseconds_whatever_its_unit),
        cmocka_unit_test (a_percentile_is_parts_per_million),
        cmocka_unit_test (terms_are_kept_in_their_order),
        cmocka_unit_test (BE_03_what_is_not_a_number_is_refused_at_its_first_byte),
        cmocka_unit_test (BE_03_what_is_out_of_range_is_refused_at_its_first_digit),
        cmocka_unit_test (a_number_needs_one_of_the_units),
        cmocka_unit_test (empty_and_too_many_terms_are_refused_where_they_stand),
        cmocka_unit_test (trailing_bytes_are_refused_where_they_begin),
        cmocka_unit_test (a_rule_has_one_printed_form),
        cmocka_unit_test (the_longest_text_fits_and_every_shorter_buffer_is_told_so),
        cmocka_unit_test (what_is_no_rule_is_not_printed),
        cmocka_unit_test (reading_undoes_printing_for_any_rule),
        cmocka_unit_test (any_text_is_read_or_refused_within_its_bounds),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
