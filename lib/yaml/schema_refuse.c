/* SPDX-License-Identifier: MIT */
/* One line for what is wrong, with its place. */
#include "schema_refuse.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "text/quote.h"

#define NAMES_MAX 64

static int
refuse_path (struct ti_reader *reader, uint32_t line, uint32_t column, const char *path, char *text)
{
    return ti_document_refuse (reader->document, line, column, reader->why, "%s%s%s", path,
                               *path ? ": " : "", text);
}

int ti_reader_refuse (struct ti_reader *reader, const struct ti_node *node, const char *format, ...)
{
    char text[TI_DOCUMENT_WHY_MAX];
    va_list args;
    va_start (args, format);
    vsnprintf (text, sizeof text, format, args);
    va_end (args);
    return refuse_path (reader, node->line, node->column, reader->path, text);
}

/* The node of "policies[2].d", or of as much of it as the document has. */
static const struct ti_node *find_node (const struct ti_document *document, const char *path)
{
    const struct ti_node *node = document->nodes;
    while (*path) {
        char key[TI_SCHEMA_PATH_MAX];
        size_t length = strcspn (path, ".[]");
        snprintf (key, sizeof key, "%.*s", (int)length, path);
        const struct ti_node *child = NULL;
        if (node->kind == TI_NODE_LIST) {
            uint64_t index = strtoull (key, NULL, 10);
            child = ti_node_first (document, node);
            while (child && index--)
                child = ti_node_next (document, child);
        } else {
            child = ti_node_get (document, node, key);
        }
        if (!child)
            break;
        node = child;
        path += length;
        path += strspn (path, ".[]");
    }
    return node;
}

int ti_reader_refuse_key (struct ti_reader *reader, const char *path, const char *format, ...)
{
    char text[TI_DOCUMENT_WHY_MAX];
    va_list args;
    va_start (args, format);
    vsnprintf (text, sizeof text, format, args);
    va_end (args);
    const struct ti_node *node = find_node (reader->document, path);
    return refuse_path (reader, node->line, node->column, path, text);
}

/* "FILE:4:5: unknown key "stager" in policies[0]: did you mean "stagger"?" */
int ti_schema_refuse_unknown (struct ti_reader *reader,
                              const struct ti_field *fields,
                              const struct ti_node *node)
{
    char quoted[TI_QUOTE_MAX], hint[128] = "";
    const char *names[NAMES_MAX + 1] = {NULL};
    uint32_t count = 0;
    for (const struct ti_field *field = fields; field->key; field++) {
        TI_ASSERT (count < NAMES_MAX);
        names[count++] = field->key;
    }
    const char *nearest = ti_nearest (node->key, names);
    if (nearest) {
        snprintf (hint, sizeof hint, "did you mean \"%s\"?", nearest);
    } else {
        size_t at = (size_t)snprintf (hint, sizeof hint, "there are");
        for (uint32_t i = 0; i < count && at < sizeof hint; i++)
            at += (size_t)snprintf (hint + at, sizeof hint - at, "%s %s", i ? "," : "", names[i]);
        if (at >= sizeof hint)
            snprintf (hint, sizeof hint, "the reference page lists the keys");
    }
    return ti_document_refuse (reader->document, node->key_line, node->key_column, reader->why,
                               "unknown key %s%s%s: %s", ti_quote (node->key, quoted),
                               reader->path[0] ? " in " : "", reader->path, hint);
}

int ti_schema_refuse_uncounted (struct ti_reader *reader,
                                const struct ti_field *fields,
                                const struct ti_field *field,
                                const struct ti_node *node,
                                const void *base)
{
    uint32_t number = ti_schema_selected (fields, base);
    char owners[96] = "";
    size_t at = 0;
    for (uint32_t i = 0; fields->choices[i] && at < sizeof owners; i++)
        if (field->only >> i & 1)
            at += (size_t)snprintf (owners + at, sizeof owners - at, "%s%s", at ? ", " : "",
                                    fields->choices[i]);
    return ti_document_refuse (reader->document, node->key_line, node->key_column, reader->why,
                               "%s: has no effect with %s %s, only with %s", reader->path,
                               fields->key, fields->choices[number], owners);
}
