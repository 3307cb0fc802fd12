/* SPDX-License-Identifier: MIT */
/* One scalar of the document as one value of the struct, within its range. */
#include "schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "yaml/document_text.h"
#include "text/quote.h"
#include "text/units.h"

#include <tied/error.h>

static const char *const booleans[] = {"false", "true", NULL};

void ti_schema_print_range (const struct ti_field *field, char text[TI_SCHEMA_PRINT_MAX])
{
    char low[TI_UNITS_TEXT_MAX], high[TI_UNITS_TEXT_MAX];
    text[0] = '\0';
    if (field->type == TI_TYPE_DURATION)
        snprintf (text, TI_SCHEMA_PRINT_MAX, "[%.24s, %.24s]", ti_format_duration (field->min, low),
                  ti_format_duration (field->max, high));
    else if (field->type == TI_TYPE_U64 && field->max == UINT64_MAX)
        snprintf (text, TI_SCHEMA_PRINT_MAX, "[%llu, 2^64)", (unsigned long long)field->min);
    else if (field->type == TI_TYPE_U32 || field->type == TI_TYPE_U64 ||
             field->type == TI_TYPE_LIST)
        snprintf (text, TI_SCHEMA_PRINT_MAX, "[%llu, %llu]", (unsigned long long)field->min,
                  (unsigned long long)field->max);
    else if (field->type == TI_TYPE_PPM)
        snprintf (text, TI_SCHEMA_PRINT_MAX, "[%.10g%%, %.10g%%]", (double)field->min / 1e4,
                  (double)field->max / 1e4);
    else if (field->type == TI_TYPE_MILLI)
        snprintf (text, TI_SCHEMA_PRINT_MAX, "[%.10g, %.10g]", (double)field->min / 1e3,
                  (double)field->max / 1e3);
    else if (field->type == TI_TYPE_REAL || field->type == TI_TYPE_SHARE ||
             field->type == TI_TYPE_RATE)
        snprintf (text, TI_SCHEMA_PRINT_MAX, "%c%g, %g%c", field->excludes_min ? '(' : '[',
                  field->real_min, field->real_max, field->excludes_max ? ')' : ']');
}

static int
refuse_range (struct ti_reader *reader, const struct ti_field *field, const struct ti_node *node)
{
    char range[TI_SCHEMA_PRINT_MAX];
    ti_schema_print_range (field, range);
    return ti_reader_refuse (reader, node, "%.40s is out of range %s", node->text, range);
}

/* What units.h could not read. */
static int refuse_number (struct ti_reader *reader,
                          const struct ti_field *field,
                          const struct ti_node *node,
                          int error)
{
    char range[TI_SCHEMA_PRINT_MAX], quoted[TI_QUOTE_MAX];
    const char *kind =
        field->type == TI_TYPE_DURATION                               ? "a duration such as 5ms"
        : field->type == TI_TYPE_RATE                                 ? "a rate such as 500/s"
        : field->type == TI_TYPE_SHARE || field->type == TI_TYPE_PPM  ? "a number or a percentage"
        : field->type == TI_TYPE_REAL || field->type == TI_TYPE_MILLI ? "a number"
                                                                      : "a whole number";
    if (error == TI_UNITS_TOO_LARGE)
        return refuse_range (reader, field, node);
    ti_schema_print_range (field, range);
    return ti_reader_refuse (reader, node, "%s %s: give %s in %s", ti_quote (node->text, quoted),
                             ti_units_text (error), kind, range);
}

static int parse_whole (struct ti_reader *reader,
                        const struct ti_field *field,
                        const struct ti_node *node,
                        unsigned char *target)
{
    uint64_t value;
    int error = ti_parse_u64 (node->text, &value);
    if (error)
        return refuse_number (reader, field, node, error);
    if (value < field->min || value > field->max)
        return refuse_range (reader, field, node);
    if (field->type == TI_TYPE_U64) {
        memcpy (target, &value, sizeof value);
        return 0;
    }
    uint32_t small = (uint32_t)value;
    memcpy (target, &small, sizeof small);
    return 0;
}

static int parse_duration (struct ti_reader *reader,
                           const struct ti_field *field,
                           const struct ti_node *node,
                           unsigned char *target)
{
    uint64_t value = UINT64_MAX;
    if (!field->word || strcmp (node->text, field->word) != 0) {
        int error = ti_parse_duration (node->text, &value);
        if (error)
            return refuse_number (reader, field, node, error);
        if (value < field->min || value > field->max)
            return refuse_range (reader, field, node);
    }
    memcpy (target, &value, sizeof value);
    return 0;
}

/* "0.7"; "70%" if the type takes that. @return 0, enum ti_units_error */
static int parse_share (const char *text, bool takes_percent, double *out)
{
    size_t length = strlen (text);
    char copy[64];
    bool is_percent = takes_percent && length > 0 && text[length - 1] == '%';
    snprintf (copy, sizeof copy, "%.*s", (int)ti_min (length - is_percent, sizeof copy), text);
    int error = ti_parse_scientific (copy, out);
    if (is_percent)
        *out /= 100;
    return error;
}

/* A number that is stored as a whole count of its smallest step. */
static int parse_scaled (struct ti_reader *reader,
                         const struct ti_field *field,
                         const struct ti_node *node,
                         unsigned char *target)
{
    double value = 0;
    int error = parse_share (node->text, field->type == TI_TYPE_PPM, &value);
    if (error)
        return refuse_number (reader, field, node, error);
    const double scaled = value * (field->type == TI_TYPE_PPM ? 1e6 : 1e3);
    if (scaled > (double)field->max + 0.5)
        return refuse_range (reader, field, node);
    const uint64_t whole = (uint64_t)(scaled + 0.5);
    const double rest = scaled - (double)whole;
    if (rest > 1e-3 || rest < -1e-3)
        return refuse_number (reader, field, node, TI_UNITS_TOO_FINE);
    if (whole < field->min || whole > field->max)
        return refuse_range (reader, field, node);
    const uint32_t small = (uint32_t)whole;
    memcpy (target, &small, sizeof small);
    return 0;
}

static int parse_real (struct ti_reader *reader,
                       const struct ti_field *field,
                       const struct ti_node *node,
                       unsigned char *target)
{
    double value = 0;
    int error = field->type == TI_TYPE_RATE
                    ? ti_parse_rate (node->text, &value)
                    : parse_share (node->text, field->type == TI_TYPE_SHARE, &value);
    if (error)
        return refuse_number (reader, field, node, error);
    bool is_inside = (field->excludes_min ? value > field->real_min : value >= field->real_min) &&
                     (field->excludes_max ? value < field->real_max : value <= field->real_max);
    if (!is_inside)
        return refuse_range (reader, field, node);
    memcpy (target, &value, sizeof value);
    return 0;
}

static int parse_choice (struct ti_reader *reader,
                         const char *const *choices,
                         const struct ti_node *node,
                         uint32_t *out)
{
    char quoted[TI_QUOTE_MAX], list[128] = "";
    size_t at = 0;
    for (uint32_t i = 0; choices[i]; i++) {
        if (strcmp (choices[i], node->text) == 0) {
            *out = i;
            return 0;
        }
        if (at < sizeof list)
            at += (size_t)snprintf (list + at, sizeof list - at, "%s%s", i ? ", " : "", choices[i]);
    }
    const char *nearest = ti_nearest (node->text, choices);
    if (nearest)
        return ti_reader_refuse (reader, node, "%s is unknown: did you mean \"%s\"?",
                                 ti_quote (node->text, quoted), nearest);
    return ti_reader_refuse (reader, node, "%s is unknown: write one of %s",
                             ti_quote (node->text, quoted), list);
}

/* Escapes in double quotes can make what the text itself must not hold. */
static bool is_one_line (const char *text)
{
    uint32_t line, column;
    return !strpbrk (text, "\t\r\n") && !ti_text_fault (text, strlen (text), &line, &column);
}

static int parse_word (struct ti_reader *reader,
                       const struct ti_field *field,
                       const struct ti_node *node,
                       unsigned char *target)
{
    size_t length = strlen (node->text);
    if (!is_one_line (node->text))
        return ti_reader_refuse (reader, node, "one line without control characters is wanted");
    if (length >= field->size)
        return ti_reader_refuse (reader, node, "is longer than %zu bytes", field->size - 1);
    memcpy (target, node->text, length + 1);
    return 0;
}

static int parse_line (struct ti_reader *reader, const struct ti_node *node, unsigned char *target)
{
    if (!is_one_line (node->text))
        return ti_reader_refuse (reader, node, "one line without control characters is wanted");
    char *copy = strdup (node->text);
    if (!copy) {
        ti_reader_refuse (reader, node, "no memory");
        return TIED_ERR_NOMEM;
    }
    char *before;
    memcpy (&before, target, sizeof before);
    free (before);
    memcpy (target, &copy, sizeof copy);
    return 0;
}

static bool is_number (enum ti_type type)
{
    return type == TI_TYPE_U32 || type == TI_TYPE_U64 || type == TI_TYPE_REAL ||
           type == TI_TYPE_BOOL || type == TI_TYPE_MILLI;
}

int ti_schema_parse_value (struct ti_reader *reader,
                           const struct ti_field *field,
                           const struct ti_node *node,
                           void *base)
{
    unsigned char *target = (unsigned char *)base + field->offset;
    char quoted[TI_QUOTE_MAX];
    uint32_t choice = 0;
    int rc;
    if (node->kind != TI_NODE_SCALAR)
        return ti_reader_refuse (reader, node, "one value is wanted here, not a %s",
                                 node->kind == TI_NODE_MAP ? "map" : "list");
    bool is_null = strcmp (node->text, "~") == 0 || strcmp (node->text, "null") == 0;
    if (node->text[0] == '\0' || (is_null && !node->is_quoted))
        return ti_reader_refuse (reader, node, "has no value");
    if (node->is_quoted && is_number (field->type))
        return ti_reader_refuse (reader, node, "a text, not a value: write it without quotes");
    /* Inside { } and [ ] a comma ends a value, also between parentheses. */
    if (node->is_cut)
        return ti_reader_refuse (reader, node,
                                 "%s is cut at its comma: inside { } and [ ] write it in quotes",
                                 ti_quote (node->text, quoted));
    switch (field->type) {
    case TI_TYPE_WORD:
        return parse_word (reader, field, node, target);
    case TI_TYPE_LINE:
        return parse_line (reader, node, target);
    case TI_TYPE_BOOL:
        rc = parse_choice (reader, booleans, node, &choice);
        if (rc == 0)
            *(bool *)target = choice == 1;
        return rc;
    case TI_TYPE_U32:
    case TI_TYPE_U64:
        return parse_whole (reader, field, node, target);
    case TI_TYPE_REAL:
    case TI_TYPE_SHARE:
    case TI_TYPE_RATE:
        return parse_real (reader, field, node, target);
    case TI_TYPE_PPM:
    case TI_TYPE_MILLI:
        return parse_scaled (reader, field, node, target);
    case TI_TYPE_DURATION:
        return parse_duration (reader, field, node, target);
    case TI_TYPE_CHOICE:
        rc = parse_choice (reader, field->choices, node, &choice);
        if (rc == 0)
            memcpy (target, &choice, sizeof choice);
        return rc;
    case TI_TYPE_CUSTOM:
        return field->parse (reader, field, node, base);
    case TI_TYPE_MAP:
    case TI_TYPE_TUPLE:
    case TI_TYPE_LIST:
    case TI_TYPE_TREE:
        break;
    }
    TI_UNREACHABLE ();
}
