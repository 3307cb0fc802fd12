/* SPDX-License-Identifier: MIT */
/*
 * Hedge rules as text. Everything is integer arithmetic on the digits: there is no number that is
 * not one, and overflow is seen before it happens. A rule has one printed form: a single term
 * stands alone, a duration takes the largest unit that leaves something before the point.
 */
#include "core/hedge_rule.h"

#include <string.h>

#include "base/assert.h"

struct unit {
    const char *name;
    uint64_t ns;
};

/* "m" comes last: "ms" begins with it. */
static const struct unit units[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", UINT64_C (60000000000)},
};
#define UNITS   (sizeof units / sizeof units[0])
#define SECONDS 3 /* the last unit that is printed: minutes would need a division by 6 */

/* Digits of a duration after the point that can matter: 1 ns is 1.7e-11 m. */
#define DECIMALS_MAX 11

static bool term_is_valid (const struct tied_hedge_term *term)
{
    if (term->is_percentile)
        return term->value >= 1 && term->value < TIED_PPM;
    return term->value <= TI_HEDGE_DELAY_MAX;
}

bool ti_hedge_rule_is_valid (const struct tied_hedge_rule *rule)
{
    switch (rule->kind) {
    case TIED_HEDGE_RULE_NEVER:
    case TIED_HEDGE_RULE_AUTO:
        return rule->count == 0;
    case TIED_HEDGE_RULE_MIN:
    case TIED_HEDGE_RULE_MAX:
        if (rule->count == 0 || rule->count > TIED_HEDGE_TERMS_MAX)
            return false;
        for (uint32_t i = 0; i < rule->count; i++)
            if (!term_is_valid (&rule->terms[i]))
                return false;
        return true;
    default:
        return false;
    }
}

/* Where reading stands. A read that fails leaves `at` on the first byte that does not fit. */
struct reader {
    const char *text;
    size_t at;
};

/* A decimal number: whole + fraction / 10 ^ decimals. */
struct decimal {
    uint64_t whole;
    uint64_t fraction;
    uint32_t decimals;
};

static bool is_digit (char c)
{
    return c >= '0' && c <= '9';
}

static bool skip (struct reader *reader, const char *word)
{
    const size_t length = strlen (word);
    if (strncmp (reader->text + reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* What follows a point, zeros at the end not counted. */
static bool read_fraction (struct reader *reader, uint32_t decimals_max, struct decimal *number)
{
    uint32_t zeros = 0;
    for (; is_digit (reader->text[reader->at]); reader->at++) {
        if (reader->text[reader->at] == '0') {
            zeros++;
            continue;
        }
        if (zeros >= decimals_max || number->decimals + zeros >= decimals_max)
            return false;
        for (; zeros; zeros--, number->decimals++)
            number->fraction *= 10;
        number->fraction = number->fraction * 10 + (uint64_t)(reader->text[reader->at] - '0');
        number->decimals++;
    }
    return true;
}

/* Digits, and a point only between digits. A number that is too large or too fine does not fit
 * from its first byte on. */
static bool read_decimal (struct reader *reader, uint32_t decimals_max, struct decimal *out)
{
    const size_t start = reader->at;
    struct decimal number = {0, 0, 0};
    bool is_good = is_digit (reader->text[start]);
    for (; is_good && is_digit (reader->text[reader->at]); reader->at++) {
        number.whole = number.whole * 10 + (uint64_t)(reader->text[reader->at] - '0');
        if (number.whole > TI_HEDGE_DELAY_MAX) {
            reader->at = start;
            return false;
        }
    }
    if (is_good && skip (reader, ".")) {
        is_good = is_digit (reader->text[reader->at]);
        if (is_good && !read_fraction (reader, decimals_max, &number)) {
            reader->at = start;
            return false;
        }
    }
    *out = number;
    return is_good;
}

/* number * factor, if that is whole and at most max. */
static bool scale (struct decimal number, uint64_t factor, uint64_t max, uint64_t *out)
{
    if (number.whole > max / factor)
        return false;
    const uint64_t whole = number.whole * factor;
    /* The fraction is below 10 ^ decimals, so what is left of the factor after as many tens makes
     * no product that could wrap. */
    uint64_t divisor = 1;
    for (; number.decimals; number.decimals--) {
        if (factor % 10 == 0)
            factor /= 10;
        else
            divisor *= 10;
    }
    const uint64_t part = number.fraction * factor;
    *out = whole + part / divisor;
    return part % divisor == 0 && *out <= max;
}

static bool read_percentile (struct reader *reader, struct tied_hedge_term *out)
{
    const size_t start = reader->at;
    struct decimal percent;
    uint64_t ppm = 0;
    if (!read_decimal (reader, 4, &percent))
        return false;
    if (!scale (percent, TIED_PPM / 100, TIED_PPM - 1, &ppm) || ppm == 0) {
        reader->at = start;
        return false;
    }
    *out = (struct tied_hedge_term){.is_percentile = true, .value = ppm};
    return true;
}

static bool read_duration (struct reader *reader, struct tied_hedge_term *out)
{
    const size_t start = reader->at;
    struct decimal number;
    uint64_t ns = 0;
    if (!read_decimal (reader, DECIMALS_MAX, &number))
        return false;
    for (size_t i = 0; i < UNITS; i++) {
        if (!skip (reader, units[i].name))
            continue;
        if (!scale (number, units[i].ns, TI_HEDGE_DELAY_MAX, &ns)) {
            reader->at = start;
            return false;
        }
        *out = (struct tied_hedge_term){.is_percentile = false, .value = ns};
        return true;
    }
    return false;
}

static bool read_term (struct reader *reader, struct tied_hedge_term *out)
{
    return skip (reader, "p") ? read_percentile (reader, out) : read_duration (reader, out);
}

/* What follows "min(" or "max(", the closing parenthesis with it. */
static bool read_terms (struct reader *reader, struct tied_hedge_rule *rule)
{
    do {
        if (rule->count == TIED_HEDGE_TERMS_MAX)
            return false;
        if (!read_term (reader, &rule->terms[rule->count]))
            return false;
        rule->count++;
    } while (skip (reader, ","));
    return skip (reader, ")");
}

static bool read_rule (struct reader *reader, struct tied_hedge_rule *rule)
{
    if (skip (reader, "never")) {
        rule->kind = TIED_HEDGE_RULE_NEVER;
        return true;
    }
    if (skip (reader, "auto")) {
        rule->kind = TIED_HEDGE_RULE_AUTO;
        return true;
    }
    if (skip (reader, "max(")) {
        rule->kind = TIED_HEDGE_RULE_MAX;
        return read_terms (reader, rule);
    }
    rule->kind = TIED_HEDGE_RULE_MIN;
    if (skip (reader, "min("))
        return read_terms (reader, rule);
    rule->count = 1;
    return read_term (reader, &rule->terms[0]);
}

int tied_hedge_rule_parse (const char *text, struct tied_hedge_rule *out, size_t *out_at)
{
    struct tied_hedge_rule rule;
    struct reader reader = {text, 0};
    memset (&rule, 0, sizeof rule);
    if (!text || !out || !read_rule (&reader, &rule) || text[reader.at] != '\0') {
        if (out_at)
            *out_at = reader.at;
        return TIED_ERR_INVAL;
    }
    TI_ASSERT (ti_hedge_rule_is_valid (&rule));
    *out = rule;
    return 0;
}

/* Text that is put together; `length` goes on counting when there is no room any more. */
struct writer {
    char *buffer;
    size_t capacity;
    size_t length;
};

static void write_char (struct writer *writer, char c)
{
    if (writer->length < writer->capacity)
        writer->buffer[writer->length] = c;
    writer->length++;
}

static void write_text (struct writer *writer, const char *text)
{
    for (; *text; text++)
        write_char (writer, *text);
}

static void write_whole (struct writer *writer, uint64_t value)
{
    char digits[20];
    uint32_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (count)
        write_char (writer, digits[--count]);
}

/* value / one, where one is a power of ten, without zeros at the end. */
static void write_decimal (struct writer *writer, uint64_t value, uint64_t one)
{
    write_whole (writer, value / one);
    uint64_t rest = value % one;
    if (rest)
        write_char (writer, '.');
    for (; rest; rest %= one) {
        one /= 10;
        write_char (writer, (char)('0' + rest / one));
    }
}

static void write_term (struct writer *writer, const struct tied_hedge_term *term)
{
    if (term->is_percentile) {
        write_char (writer, 'p');
        write_decimal (writer, term->value, TIED_PPM / 100);
        return;
    }
    size_t unit = SECONDS;
    while (unit > 0 && term->value < units[unit].ns)
        unit--;
    write_decimal (writer, term->value, units[unit].ns);
    write_text (writer, units[unit].name);
}

static void write_rule (struct writer *writer, const struct tied_hedge_rule *rule)
{
    if (rule->count == 0) {
        write_text (writer, rule->kind == TIED_HEDGE_RULE_AUTO ? "auto" : "never");
        return;
    }
    const bool is_alone = rule->kind == TIED_HEDGE_RULE_MIN && rule->count == 1;
    if (!is_alone)
        write_text (writer, rule->kind == TIED_HEDGE_RULE_MAX ? "max(" : "min(");
    for (uint32_t i = 0; i < rule->count; i++) {
        if (i > 0)
            write_char (writer, ',');
        write_term (writer, &rule->terms[i]);
    }
    if (!is_alone)
        write_char (writer, ')');
}

int tied_hedge_rule_print (const struct tied_hedge_rule *rule, char *buffer, size_t capacity)
{
    struct writer writer = {buffer, buffer ? capacity : 0, 0};
    int result = TIED_ERR_INVAL;
    if (rule && ti_hedge_rule_is_valid (rule)) {
        write_rule (&writer, rule);
        result = writer.length < writer.capacity ? (int)writer.length : TIED_ERR_TOOBIG;
    }
    if (writer.capacity > 0)
        buffer[result < 0 ? 0 : result] = '\0';
    return result;
}
