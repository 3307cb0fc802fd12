/* SPDX-License-Identifier: MIT */
/* The reference page of a table: one section with a table for each map, in the order of the keys.
 */
#include "schema_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "text/units.h"

#include <tied/error.h>

#define SECTIONS_MAX 32

struct section {
    char path[TI_SCHEMA_PATH_MAX];
    const struct ti_field *owner; /* NULL: the top */
    const struct ti_field *fields;
    const unsigned char *base;
    unsigned char *item; /* to be freed */
};

struct page {
    FILE *file;
    struct section sections[SECTIONS_MAX];
    uint32_t count;
};

static const char *map_of (const struct ti_field *field)
{
    const struct ti_field *item = field->type == TI_TYPE_LIST ? field->fields : field;
    if (field->type == TI_TYPE_TREE)
        return field->fields ? field->key : NULL;
    return item->type == TI_TYPE_MAP || item->type == TI_TYPE_TUPLE ? item->key : NULL;
}

static void print_choices (const char *const *choices, FILE *file)
{
    for (uint32_t i = 0; choices[i]; i++)
        fprintf (file, "%s`%s`", i ? ", " : "", choices[i]);
}

/* "a duration [0s, 1h]"; "0.7". */
static void print_type (const struct ti_field *field, FILE *file)
{
    static const char *const names[] = {
        [TI_TYPE_MAP] = "map",     [TI_TYPE_TUPLE] = "map",    [TI_TYPE_LIST] = "list",
        [TI_TYPE_WORD] = "text",   [TI_TYPE_LINE] = "text",    [TI_TYPE_BOOL] = "`true` or `false`",
        [TI_TYPE_U32] = "whole",   [TI_TYPE_U64] = "whole",    [TI_TYPE_REAL] = "number",
        [TI_TYPE_SHARE] = "share", [TI_TYPE_RATE] = "rate",    [TI_TYPE_DURATION] = "duration",
        [TI_TYPE_PPM] = "share",   [TI_TYPE_MILLI] = "number", [TI_TYPE_CHOICE] = "",
        [TI_TYPE_CUSTOM] = "",     [TI_TYPE_TREE] = ""};
    char range[TI_SCHEMA_PRINT_MAX];
    if (field->type == TI_TYPE_CHOICE) {
        print_choices (field->choices, file);
        return;
    }
    if (field->type == TI_TYPE_CUSTOM || field->type == TI_TYPE_TREE) {
        fputs (field->value_text, file);
        return;
    }
    ti_schema_print_range (field, range);
    fprintf (file, "%s%s%s", names[field->type], range[0] ? " " : "", range);
    if (field->word)
        fprintf (file, " or `%s`", field->word);
    if (field->none)
        fprintf (file, " or `%s`", field->none);
}

static void print_duration (const struct ti_field *field, uint64_t ns, FILE *file)
{
    char text[TI_UNITS_TEXT_MAX];
    fputs (ns == UINT64_MAX && field->word ? field->word : ti_format_duration (ns, text), file);
}

static void print_default (const struct ti_field *field, const void *base, FILE *file)
{
    const unsigned char *value = (const unsigned char *)base + field->offset;
    char text[TI_SCHEMA_PRINT_MAX];
    uint64_t whole = 0;
    uint32_t small = 0;
    double real = 0;
    if (field->default_text) {
        fputs (field->default_text, file);
        return;
    }
    switch (field->type) {
    case TI_TYPE_U32:
        memcpy (&small, value, sizeof small);
        fprintf (file, "%u", small);
        return;
    case TI_TYPE_U64:
        memcpy (&whole, value, sizeof whole);
        fprintf (file, "%llu", (unsigned long long)whole);
        return;
    case TI_TYPE_DURATION:
        memcpy (&whole, value, sizeof whole);
        print_duration (field, whole, file);
        return;
    case TI_TYPE_REAL:
    case TI_TYPE_SHARE:
    case TI_TYPE_RATE:
        memcpy (&real, value, sizeof real);
        fprintf (file, "%g", real);
        return;
    case TI_TYPE_PPM:
        memcpy (&small, value, sizeof small);
        fprintf (file, "%.10g%%", (double)small / 1e4);
        return;
    case TI_TYPE_MILLI:
        memcpy (&small, value, sizeof small);
        fprintf (file, "%.10g", (double)small / 1e3);
        return;
    case TI_TYPE_BOOL:
        fputs (*(const bool *)value ? "true" : "false", file);
        return;
    case TI_TYPE_CHOICE:
        memcpy (&small, value, sizeof small);
        fputs (field->choices[small], file);
        return;
    case TI_TYPE_CUSTOM:
        field->print (base, text);
        fputs (text, file);
        return;
    case TI_TYPE_LIST:
    case TI_TYPE_WORD:
    case TI_TYPE_LINE:
        fputs ("none", file);
        return;
    case TI_TYPE_MAP:
    case TI_TYPE_TUPLE:
    case TI_TYPE_TREE:
        return;
    }
}

static struct section *
add_section (struct page *page, const struct section *parent, const struct ti_field *field)
{
    const struct ti_field *item = field->type == TI_TYPE_LIST ? field->fields : field;
    TI_ASSERT (page->count < SECTIONS_MAX);
    struct section *section = &page->sections[page->count];
    const char *const parent_path = parent->path;
    struct section made = {.owner = field, .fields = item->fields, .base = parent->base};
    snprintf (made.path, sizeof made.path, "%.48s%s%.32s%s", parent_path, parent_path[0] ? "." : "",
              field->key,
              field->type == TI_TYPE_LIST   ? "[]"
              : field->type == TI_TYPE_TREE ? ".NAME"
                                            : "");
    *section = made;
    if (field->type == TI_TYPE_LIST) {
        section->item = calloc (1, field->size);
        if (!section->item)
            return NULL;
        if (field->init)
            field->init (section->item);
        section->base = section->item;
    }
    page->count++;
    return section;
}

/* What the section says above its table. */
static void print_heading (const struct section *section, FILE *file)
{
    const struct ti_field *owner = section->owner;
    if (!owner)
        return;
    const struct ti_field *item = owner->type == TI_TYPE_LIST ? owner->fields : owner;
    fprintf (file, "\n### `%s`\n\n", section->path);
    if (owner->type == TI_TYPE_LIST)
        fprintf (file, "One item of the list: %s.\n", item->help);
    if (item->short_key)
        fprintf (file, "Written without a map, the value is that of `%s`.\n", item->short_key);
    if (item->type == TI_TYPE_TUPLE) {
        fputs ("Also written as a list of its values: `[", file);
        for (const struct ti_field *field = item->fields; field->key; field++)
            fprintf (file, "%s%s", field == item->fields ? "" : ", ", field->key);
        fputs ("]`.\n", file);
    }
    if (owner->type == TI_TYPE_LIST || item->short_key || item->type == TI_TYPE_TUPLE)
        fputc ('\n', file);
}

static void print_owners (const struct section *section, const struct ti_field *field, FILE *file)
{
    if (!field->only)
        return;
    const char *separator = ". Only with ";
    for (uint32_t i = 0; section->fields->choices[i]; i++)
        if (field->only >> i & 1) {
            fprintf (file, "%s`%s`", separator, section->fields->choices[i]);
            separator = ", ";
        }
}

static int print_section (struct page *page, uint32_t index)
{
    const struct section *section = &page->sections[index];
    FILE *file = page->file;
    print_heading (section, file);
    fputs ("| key | value | default | meaning |\n|---|---|---|---|\n", file);
    for (const struct ti_field *field = section->fields; field->key; field++) {
        bool is_map = field->type == TI_TYPE_MAP || field->type == TI_TYPE_TUPLE ||
                      field->type == TI_TYPE_TREE;
        fprintf (file, "| `%s` | ", field->key);
        print_type (field, file);
        fputs (" | ", file);
        if (is_map)
            fputs ("see below", file);
        else
            print_default (field, section->base, file);
        fprintf (file, " | %s", field->help);
        print_owners (section, field, file);
        if (field->type == TI_TYPE_LIST && !map_of (field)) {
            fputs (". Each: ", file);
            print_type (field->fields, file);
        }
        fputs (" |\n", file);
        if (map_of (field) && !add_section (page, section, field))
            return TIED_ERR_SYSTEM;
    }
    return 0;
}

void ti_schema_print_title (const char *title, const char *source, FILE *file)
{
    fprintf (file, "# %s\n\n<!-- Printed from the table in %s; a test compares. -->\n\n", title,
             source);
}

void ti_schema_print_refusals (const char *introduction, const char *examples, FILE *file)
{
    fprintf (file,
             "%s with one line that says where:\n\n```\n%s```\n\n"
             "Anchors, aliases, tags, a key given twice, a second document and tabs as indent are "
             "refused.\n\n",
             introduction, examples);
}

void ti_schema_print_values (const char *more, FILE *file)
{
    fprintf (file,
             "## Values\n\n"
             "- **duration**: a number and its unit, `300ns`, `50us`, `1.5ms`, `2s`, `5m`, `1h`; 0 "
             "is `0s`.\n%s\n",
             more);
}

int ti_schema_print_tables (const struct ti_schema *schema, const void *base, FILE *file)
{
    struct page page = {.file = file, .count = 1};
    page.sections[0] = (struct section){.fields = schema->fields, .base = base};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < page.count; i++)
        rc = print_section (&page, i);
    for (uint32_t i = 0; i < page.count; i++)
        free (page.sections[i].item);
    return rc;
}
