/* SPDX-License-Identifier: MIT */
/* One line for what is wrong, with its place. */
#include "schema_refuse.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tools/cli.h"

#define NAMES_MAX 64

static int refuse_path (
    struct sim_reader *reader, uint32_t line, uint32_t column, const char *path, char *text)
{
    return sim_document_refuse (reader->document, line, column, reader->why, "%s%s%s", path,
                                *path ? ": " : "", text);
}

int sim_reader_refuse (struct sim_reader *reader,
                       const struct sim_node *node,
                       const char *format,
                       ...)
{
    char text[SIM_DOCUMENT_WHY_MAX];
    va_list args;
    va_start (args, format);
    vsnprintf (text, sizeof text, format, args);
    va_end (args);
    return refuse_path (reader, node->line, node->column, reader->path, text);
}

/* The node of "policies[2].d", or of as much of it as the document has. */
static const struct sim_node *find_node (const struct sim_document *document, const char *path)
{
    const struct sim_node *node = document->nodes;
    while (*path) {
        char key[SIM_SCHEMA_PATH_MAX];
        size_t length = strcspn (path, ".[]");
        snprintf (key, sizeof key, "%.*s", (int)length, path);
        const struct sim_node *child = NULL;
        if (node->kind == SIM_NODE_LIST) {
            uint64_t index = strtoull (key, NULL, 10);
            child = sim_node_first (document, node);
            while (child && index--)
                child = sim_node_next (document, child);
        } else {
            child = sim_node_get (document, node, key);
        }
        if (!child)
            break;
        node = child;
        path += length;
        path += strspn (path, ".[]");
    }
    return node;
}

int sim_reader_refuse_key (struct sim_reader *reader, const char *path, const char *format, ...)
{
    char text[SIM_DOCUMENT_WHY_MAX];
    va_list args;
    va_start (args, format);
    vsnprintf (text, sizeof text, format, args);
    va_end (args);
    const struct sim_node *node = find_node (reader->document, path);
    return refuse_path (reader, node->line, node->column, path, text);
}

/* "FILE:4:5: unknown key "stager" in policies[0]: did you mean "stagger"?" */
int sim_schema_refuse_unknown (struct sim_reader *reader,
                               const struct sim_field *fields,
                               const struct sim_node *node)
{
    char quoted[TI_CLI_QUOTE_MAX], hint[128] = "";
    const char *names[NAMES_MAX + 1] = {NULL};
    uint32_t count = 0;
    for (const struct sim_field *field = fields; field->key; field++) {
        TI_ASSERT (count < NAMES_MAX);
        names[count++] = field->key;
    }
    const char *nearest = ti_cli_nearest (node->key, names);
    if (nearest) {
        snprintf (hint, sizeof hint, "did you mean \"%s\"?", nearest);
    } else {
        size_t at = (size_t)snprintf (hint, sizeof hint, "there are");
        for (uint32_t i = 0; i < count && at < sizeof hint; i++)
            at += (size_t)snprintf (hint + at, sizeof hint - at, "%s %s", i ? "," : "", names[i]);
        if (at >= sizeof hint)
            snprintf (hint, sizeof hint, "the reference page lists the keys");
    }
    return sim_document_refuse (reader->document, node->key_line, node->key_column, reader->why,
                                "unknown key %s%s%s: %s", ti_cli_quote (node->key, quoted),
                                reader->path[0] ? " in " : "", reader->path, hint);
}

int sim_schema_refuse_uncounted (struct sim_reader *reader,
                                 const struct sim_field *fields,
                                 const struct sim_field *field,
                                 const struct sim_node *node,
                                 const void *base)
{
    uint32_t number = sim_schema_selected (fields, base);
    char owners[96] = "";
    size_t at = 0;
    for (uint32_t i = 0; fields->choices[i] && at < sizeof owners; i++)
        if (field->only >> i & 1)
            at += (size_t)snprintf (owners + at, sizeof owners - at, "%s%s", at ? ", " : "",
                                    fields->choices[i]);
    return sim_document_refuse (reader->document, node->key_line, node->key_column, reader->why,
                                "%s: has no effect with %s %s, only with %s", reader->path,
                                fields->key, fields->choices[number], owners);
}
