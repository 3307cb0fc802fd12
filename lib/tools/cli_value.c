/* SPDX-License-Identifier: MIT */
/* Values of options: text to the type that the table asks for, within its range. */
#include "cli_internal.h"

#include <string.h>

#include "base/assert.h"
#include "text/units.h"

/* In a table 0 stands for "no upper limit". */
static uint64_t upper_limit (const struct ti_cli_option *option)
{
    uint64_t widest = option->kind == TI_CLI_U32 ? UINT32_MAX : UINT64_MAX;
    return option->max ? option->max : widest;
}

static void list_choices (const struct ti_cli_option *option, char buffer[TI_CLI_RANGE_MAX])
{
    size_t at = (size_t)snprintf (buffer, TI_CLI_RANGE_MAX, "one of");
    for (const char *const *choice = option->choices; *choice; choice++) {
        size_t length = strlen (*choice);
        if (at + length + 2 > TI_CLI_RANGE_MAX)
            break;
        buffer[at++] = ' ';
        memcpy (buffer + at, *choice, length + 1);
        at += length;
    }
}

const char *ti_cli_range (const struct ti_cli_option *option, char buffer[TI_CLI_RANGE_MAX])
{
    char low[TI_UNITS_TEXT_MAX], high[TI_UNITS_TEXT_MAX];
    unsigned long long min = option->min, max = upper_limit (option);
    switch (option->kind) {
    case TI_CLI_U32:
    case TI_CLI_U64:
        snprintf (buffer, TI_CLI_RANGE_MAX, "a whole number from %llu to %llu", min, max);
        break;
    case TI_CLI_REAL:
        snprintf (buffer, TI_CLI_RANGE_MAX, "a number from %.10g to %.10g", option->real_min,
                  option->real_max);
        break;
    case TI_CLI_RATE:
        snprintf (buffer, TI_CLI_RANGE_MAX, "a rate from %.10g/s to %.10g/s, as in 500/s or 2k/s",
                  option->real_min, option->real_max);
        break;
    case TI_CLI_DURATION:
        if (option->max)
            snprintf (buffer, TI_CLI_RANGE_MAX,
                      "a duration from %s to %s, as in 250us, 5ms or 1.5s",
                      ti_format_duration (min, low), ti_format_duration (max, high));
        else
            snprintf (buffer, TI_CLI_RANGE_MAX,
                      "a duration of %s or more, as in 250us, 5ms or 1.5s",
                      ti_format_duration (min, low));
        break;
    case TI_CLI_SIZE:
        snprintf (buffer, TI_CLI_RANGE_MAX, "a size from %s to %s, as in 64B or 4KiB",
                  ti_format_size (min, low), ti_format_size (max, high));
        break;
    case TI_CLI_CHOICE:
        list_choices (option, buffer);
        break;
    case TI_CLI_STRINGS:
        if (option->choices)
            list_choices (option, buffer);
        else
            snprintf (buffer, TI_CLI_RANGE_MAX, "a text");
        break;
    case TI_CLI_ENDPOINT:
        snprintf (buffer, TI_CLI_RANGE_MAX, "an endpoint, as in tcp://127.0.0.1:5555");
        break;
    case TI_CLI_PAIRS:
        snprintf (buffer, TI_CLI_RANGE_MAX, "ID=ENDPOINT, as in a=tcp://127.0.0.1:5555");
        break;
    case TI_CLI_FLAG:
    case TI_CLI_STRING:
    case TI_CLI_OUTPUT:
    case TI_CLI_NAME:
    case TI_CLI_CUSTOM:
        snprintf (buffer, TI_CLI_RANGE_MAX, "%s", option->argument ? option->argument : "a text");
        break;
    }
    return buffer;
}

/* "PROGRAM: --rate "5x" has an unknown unit; give a rate from ..." */
static enum ti_cli_verdict refuse (const struct ti_cli *cli,
                                   const struct ti_cli_option *option,
                                   const char *text,
                                   const char *reason)
{
    char quoted[TI_QUOTE_MAX], range[TI_CLI_RANGE_MAX];
    ti_cli_error (cli, "--%s %s %s; give %s", option->name, ti_quote (text, quoted), reason,
                  ti_cli_range (option, range));
    return TI_CLI_WRONG;
}

static enum ti_cli_verdict refuse_because (const struct ti_cli *cli,
                                           const struct ti_cli_option *option,
                                           const char *text,
                                           const char *why)
{
    char quoted[TI_QUOTE_MAX];
    ti_cli_error (cli, "--%s %s: %s", option->name, ti_quote (text, quoted), why);
    return TI_CLI_WRONG;
}

static enum ti_cli_verdict
store_integer (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    uint64_t value = 0;
    int rc;
    if (option->kind == TI_CLI_DURATION)
        rc = ti_parse_duration (text, &value);
    else if (option->kind == TI_CLI_SIZE)
        rc = ti_parse_size (text, &value);
    else
        rc = ti_parse_u64 (text, &value);
    if (rc)
        return refuse (cli, option, text, ti_units_text (rc));
    if (value < option->min)
        return refuse (cli, option, text, "is too small");
    if (value > upper_limit (option))
        return refuse (cli, option, text, "is too large");
    if (option->kind == TI_CLI_U32)
        *(uint32_t *)option->value = (uint32_t)value;
    else
        *(uint64_t *)option->value = value;
    return TI_CLI_RUN;
}

static enum ti_cli_verdict
store_real (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    double value = 0;
    int rc =
        option->kind == TI_CLI_RATE ? ti_parse_rate (text, &value) : ti_parse_real (text, &value);
    if (rc)
        return refuse (cli, option, text, ti_units_text (rc));
    if (value < option->real_min)
        return refuse (cli, option, text, "is too small");
    if (value > option->real_max)
        return refuse (cli, option, text, "is too large");
    *(double *)option->value = value;
    return TI_CLI_RUN;
}

/* Index in choices, or -1 when the refusal has been printed. */
static int
find_choice (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    char reason[96];
    for (int i = 0; option->choices[i]; i++)
        if (strcmp (option->choices[i], text) == 0)
            return i;
    const char *nearest = ti_nearest (text, option->choices);
    if (nearest)
        snprintf (reason, sizeof reason, "is unknown, did you mean %.64s", nearest);
    refuse (cli, option, text, nearest ? reason : "is unknown");
    return -1;
}

static enum ti_cli_verdict
store_string (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    char why[TI_CLI_WHY_MAX] = "it is empty";
    bool is_good = *text != '\0';
    if (option->kind == TI_CLI_ENDPOINT)
        is_good = ti_endpoint_check (text, why) == 0;
    else if (option->kind == TI_CLI_NAME)
        is_good = ti_name_check (text, why) == 0;
    if (!is_good)
        return refuse_because (cli, option, text, why);
    *(const char **)option->value = text;
    return TI_CLI_RUN;
}

static enum ti_cli_verdict
store_in_strings (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    struct ti_strings *list = option->value;
    if (option->choices && find_choice (cli, option, text) < 0)
        return TI_CLI_WRONG;
    if (!*text)
        return refuse_because (cli, option, text, "it is empty");
    if (list->count == list->max) {
        ti_cli_error (cli, "--%s occurs more than %u times", option->name, (unsigned)list->max);
        return TI_CLI_WRONG;
    }
    list->items[list->count++] = text;
    return TI_CLI_RUN;
}

/* An id that was given before. */
static enum ti_cli_verdict
store_again (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    char quoted[TI_QUOTE_MAX];
    if (!option->keeps_first)
        return refuse_because (cli, option, text, "this id was given before");
    ti_cli_error (cli, "warning: --%s %s: this id was given before; the first one is kept",
                  option->name, ti_quote (text, quoted));
    return TI_CLI_RUN;
}

static enum ti_cli_verdict
store_in_pairs (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    struct ti_pairs *list = option->value;
    struct ti_pair pair;
    char why[TI_CLI_WHY_MAX];
    if (ti_pair_parse (text, &pair, why))
        return refuse_because (cli, option, text, why);
    if (pair.zone[0] && !option->takes_zone)
        return refuse_because (cli, option, text, "no zone is taken here");
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp (list->items[i].id, pair.id) == 0)
            return store_again (cli, option, text);
    if (list->count == list->max) {
        ti_cli_error (cli, "--%s occurs more than %u times", option->name, (unsigned)list->max);
        return TI_CLI_WRONG;
    }
    list->items[list->count++] = pair;
    return TI_CLI_RUN;
}

enum ti_cli_verdict
ti_cli_store (const struct ti_cli *cli, const struct ti_cli_option *option, const char *text)
{
    char why[TI_CLI_WHY_MAX] = "not accepted";
    int choice;
    switch (option->kind) {
    case TI_CLI_FLAG:
        *(bool *)option->value = true;
        return TI_CLI_RUN;
    case TI_CLI_STRING:
    case TI_CLI_OUTPUT:
    case TI_CLI_ENDPOINT:
    case TI_CLI_NAME:
        return store_string (cli, option, text);
    case TI_CLI_STRINGS:
        return store_in_strings (cli, option, text);
    case TI_CLI_CHOICE:
        choice = find_choice (cli, option, text);
        if (choice < 0)
            return TI_CLI_WRONG;
        *(uint32_t *)option->value = (uint32_t)choice;
        return TI_CLI_RUN;
    case TI_CLI_U32:
    case TI_CLI_U64:
    case TI_CLI_DURATION:
    case TI_CLI_SIZE:
        return store_integer (cli, option, text);
    case TI_CLI_REAL:
    case TI_CLI_RATE:
        return store_real (cli, option, text);
    case TI_CLI_PAIRS:
        return store_in_pairs (cli, option, text);
    case TI_CLI_CUSTOM:
        if (option->parse (option->value, text, why))
            return refuse_because (cli, option, text, why);
        return TI_CLI_RUN;
    }
    TI_UNREACHABLE ();
}
