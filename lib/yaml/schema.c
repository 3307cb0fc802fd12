/* SPDX-License-Identifier: MIT */
/* The walk over document and table, with a stack of its own. Single values are in schema_value.c,
 * what it says when something is wrong in schema_refuse.c. */
#include "schema.h"

#include <string.h>

#include "base/assert.h"
#include "schema_refuse.h"

#include <tied/error.h>

/* A map, tuple or list that is being read. */
struct frame {
    const struct ti_field *field;
    const struct ti_field *fields;
    const struct ti_node *node;
    const struct ti_node *next; /* child to read */
    unsigned char *base;        /* struct that a map fills; first item of a list */
    uint32_t index;
    size_t path_length;
    bool is_list; /* of items, or a tuple written as one */
};

struct walk {
    struct ti_reader *reader;
    struct frame frames[TI_SCHEMA_DEPTH_MAX];
    uint32_t depth;
};

static const struct ti_field *find_field (const struct ti_field *fields, const char *key)
{
    while (fields->key && strcmp (fields->key, key) != 0)
        fields++;
    return fields->key ? fields : NULL;
}

static bool
is_counted (const struct ti_field *fields, const struct ti_field *field, const void *base)
{
    if (field->only == 0 || !fields->selects)
        return true;
    uint32_t number = ti_schema_selected (fields, base);
    return number < 64 && (field->only >> number & 1);
}

static bool is_small (enum ti_type type)
{
    return type == TI_TYPE_U32 || type == TI_TYPE_CHOICE || type == TI_TYPE_PPM ||
           type == TI_TYPE_MILLI;
}

static bool is_zero (const struct ti_field *field, const unsigned char *base)
{
    static const unsigned char zeros[8];
    size_t size = field->type == TI_TYPE_WORD   ? 1
                  : field->type == TI_TYPE_BOOL ? sizeof (bool)
                  : is_small (field->type)      ? 4
                                                : 8;
    if (field->type == TI_TYPE_TREE)
        return true;
    if (field->type == TI_TYPE_LIST)
        return memcmp (base + field->count_offset, zeros, sizeof (uint32_t)) == 0;
    return memcmp (base + field->offset, zeros, size) == 0;
}

/* Keys that a map (or what stands for it) needs and nobody gave. */
static int check_needed (struct walk *walk,
                         const struct ti_field *fields,
                         const struct ti_node *node,
                         const unsigned char *base)
{
    for (const struct ti_field *field = fields; field->key; field++) {
        if (!field->is_needed || !is_counted (fields, field, base) ||
            ti_node_get (walk->reader->document, node, field->key))
            continue;
        if (field->selects || !is_zero (field, base))
            continue;
        if (field->only == 0)
            return ti_reader_refuse (walk->reader, node, "\"%s\" is missing", field->key);
        return ti_reader_refuse (walk->reader, node, "\"%s\" is missing: %s %s needs it",
                                 field->key, fields->key,
                                 fields->choices[ti_schema_selected (fields, base)]);
    }
    return 0;
}

static void append_path (struct ti_reader *reader, size_t length, const char *key, uint32_t index)
{
    if (key)
        snprintf (reader->path + length, sizeof reader->path - length, "%s%s", length ? "." : "",
                  key);
    else
        snprintf (reader->path + length, sizeof reader->path - length, "[%u]", index);
}

static void push (struct walk *walk,
                  const struct ti_field *field,
                  const struct ti_field *fields,
                  const struct ti_node *node,
                  unsigned char *base,
                  bool is_list)
{
    TI_ASSERT (walk->depth < TI_SCHEMA_DEPTH_MAX);
    walk->frames[walk->depth++] =
        (struct frame){.field = field,
                       .fields = fields,
                       .node = node,
                       .next = ti_node_first (walk->reader->document, node),
                       .base = base,
                       .path_length = strlen (walk->reader->path),
                       .is_list = is_list};
}

static int begin_list (struct walk *walk,
                       const struct ti_field *field,
                       const struct ti_node *node,
                       unsigned char *base)
{
    char range[TI_SCHEMA_PRINT_MAX];
    if (node->kind != TI_NODE_LIST)
        return ti_reader_refuse (walk->reader, node, "a list is wanted: write [...]");
    if (node->count < field->min || node->count > field->max) {
        ti_schema_print_range (field, range);
        return ti_reader_refuse (walk->reader, node, "%u items are out of range %s", node->count,
                                 range);
    }
    memcpy (base + field->count_offset, &node->count, sizeof node->count);
    push (walk, field, field->fields, node, base + field->offset, true);
    return 0;
}

/* The selecting key of a map is read before the others: they depend on it. */
static int begin_map (struct walk *walk,
                      const struct ti_field *field,
                      const struct ti_field *fields,
                      const struct ti_node *node,
                      unsigned char *base)
{
    push (walk, field, fields, node, base, false);
    const struct ti_node *child =
        fields->selects ? ti_node_get (walk->reader->document, node, fields->key) : NULL;
    if (!child && fields->selects && fields->is_needed)
        return ti_reader_refuse (walk->reader, node, "\"%s\" is missing", fields->key);
    if (!child)
        return 0;
    size_t length = strlen (walk->reader->path);
    append_path (walk->reader, length, fields->key, 0);
    int rc = ti_schema_parse_value (walk->reader, fields, child, base);
    walk->reader->path[length] = '\0';
    return rc;
}

static int begin_tuple (struct walk *walk,
                        const struct ti_field *field,
                        const struct ti_node *node,
                        unsigned char *base)
{
    uint32_t count = 0;
    while (field->fields[count].key)
        count++;
    if (node->count != count)
        return ti_reader_refuse (walk->reader, node, "%u values are wanted here, not %u", count,
                                 node->count);
    push (walk, field, field->fields, node, base, true);
    return 0;
}

static bool says_none (const struct ti_field *field, const struct ti_node *node)
{
    if (node->kind == TI_NODE_SCALAR)
        return field->none && strcmp (node->text, field->none) == 0;
    return node->kind == TI_NODE_MAP && node->count == 0;
}

static int begin (struct walk *walk,
                  const struct ti_field *field,
                  const struct ti_node *node,
                  unsigned char *base)
{
    if (field->choose) {
        const bool is_none = says_none (field, node);
        field->choose (base, is_none);
        if (is_none)
            return 0;
    }
    if (field->type == TI_TYPE_TREE)
        return field->parse (walk->reader, field, node, base);
    if (field->type == TI_TYPE_LIST)
        return begin_list (walk, field, node, base);
    if (field->type == TI_TYPE_TUPLE && node->kind == TI_NODE_LIST)
        return begin_tuple (walk, field, node, base);
    if (field->type != TI_TYPE_MAP && field->type != TI_TYPE_TUPLE)
        return ti_schema_parse_value (walk->reader, field, node, base);
    if (node->kind == TI_NODE_MAP)
        return begin_map (walk, field, field->fields, node, base);
    if (!field->short_key)
        return ti_reader_refuse (walk->reader, node, "%s of values is wanted here",
                                 field->type == TI_TYPE_TUPLE ? "a list" : "a map");
    const struct ti_field *value = find_field (field->fields, field->short_key);
    TI_ASSERT (value != NULL);
    if (value->type == TI_TYPE_LIST)
        return begin_list (walk, value, node, base);
    int rc = ti_schema_parse_value (walk->reader, value, node, base);
    return rc ? rc : check_needed (walk, field->fields, node, base);
}

static int step_list (struct walk *walk, struct frame *frame, const struct ti_node *child)
{
    append_path (walk->reader, frame->path_length, NULL, frame->index);
    uint32_t index = frame->index++;
    if (frame->field->type == TI_TYPE_TUPLE)
        return begin (walk, &frame->fields[index], child, frame->base);
    unsigned char *item = frame->base + index * frame->field->size;
    memset (item, 0, frame->field->size);
    if (frame->field->init)
        frame->field->init (item);
    return begin (walk, frame->fields, child, item);
}

static int step_map (struct walk *walk, struct frame *frame, const struct ti_node *child)
{
    const struct ti_field *field = find_field (frame->fields, child->key);
    if (!field)
        return ti_schema_refuse_unknown (walk->reader, frame->fields, child);
    if (field->selects)
        return 0;
    append_path (walk->reader, frame->path_length, child->key, 0);
    if (!is_counted (frame->fields, field, frame->base))
        return ti_schema_refuse_uncounted (walk->reader, frame->fields, field, child, frame->base);
    return begin (walk, field, child, frame->base);
}

static int run (struct walk *walk)
{
    struct ti_reader *reader = walk->reader;
    int rc = 0;
    while (rc == 0 && walk->depth > 0) {
        struct frame *frame = &walk->frames[walk->depth - 1];
        const struct ti_node *child = frame->next;
        reader->path[frame->path_length] = '\0';
        if (!child) {
            if (!frame->is_list)
                rc = check_needed (walk, frame->fields, frame->node, frame->base);
            walk->depth--;
            continue;
        }
        frame->next = ti_node_next (reader->document, child);
        rc = frame->is_list ? step_list (walk, frame, child) : step_map (walk, frame, child);
    }
    return rc;
}

int ti_schema_apply_to (const struct ti_field *fields,
                        struct ti_reader *reader,
                        const struct ti_node *map,
                        void *base)
{
    struct walk walk = {.reader = reader};
    const size_t length = strlen (reader->path);
    if (map->kind != TI_NODE_MAP)
        return ti_reader_refuse (reader, map, "a map of values is wanted here");
    int rc = begin_map (&walk, NULL, fields, map, base);
    if (rc == 0)
        rc = run (&walk);
    reader->path[length] = '\0';
    return rc;
}

int ti_schema_apply (const struct ti_schema *schema, struct ti_reader *reader, void *base)
{
    const struct ti_node *root = reader->document->nodes;
    reader->path[0] = '\0';
    if (root->kind != TI_NODE_MAP)
        return ti_reader_refuse (reader, root, "%s is a map of keys and values: write key: value",
                                 schema->noun);
    return ti_schema_apply_to (schema->fields, reader, root, base);
}
