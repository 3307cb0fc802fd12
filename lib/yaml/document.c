/* SPDX-License-Identifier: MIT */
/* The tree of a YAML text, built from the events of libyaml with our own bounds. */
#include "document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "document_text.h"
#include "text/quote.h"

#include <tied/error.h>

/* A bound as text. */
#define TEXT_(number) #number
#define TEXT(number)  TEXT_ (number)

struct builder {
    struct ti_document *document;
    const char *text;
    size_t size;
    char *why;
    yaml_parser_t parser;
    uint32_t stack[TI_DOCUMENT_DEPTH_MAX]; /* maps and lists that are open, by number */
    uint32_t depth;
    char *key; /* of the value that comes next, in a map */
    yaml_mark_t key_mark;
    bool has_root;
    size_t seen, seen_bytes; /* characters and bytes of the text, see behind () */
};

static uint32_t from_one (size_t index)
{
    return index >= TI_DOCUMENT_BYTES_MAX ? (uint32_t)TI_DOCUMENT_BYTES_MAX : (uint32_t)(index + 1);
}

static int refuse_at (struct builder *self, yaml_mark_t mark, const char *what)
{
    return ti_document_refuse (self->document, from_one (mark.line), from_one (mark.column),
                               self->why, "%s", what);
}

static int no_memory (struct builder *self)
{
    snprintf (self->why, TI_DOCUMENT_WHY_MAX, "%s: no memory", self->document->name);
    return TIED_ERR_NOMEM;
}

/* The end of a long name says more than its beginning. */
static void set_name (struct ti_document *self, const char *name)
{
    size_t length = strlen (name);
    bool is_cut = length >= TI_DOCUMENT_NAME_MAX;
    snprintf (self->name, TI_DOCUMENT_NAME_MAX, "%s%s", is_cut ? "..." : "",
              is_cut ? name + length - (TI_DOCUMENT_NAME_MAX - 4) : name);
    ti_plain (self->name);
}

static int refuse_syntax (struct builder *self)
{
    const yaml_parser_t *parser = &self->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory (self);
    uint32_t line = from_one (parser->problem_mark.line);
    uint32_t column = from_one (parser->problem_mark.column);
    if (parser->error == YAML_READER_ERROR)
        ti_text_position (self->text, self->size, parser->problem_offset, &line, &column);
    if (ti_text_is_tab (self->text, self->size, line, column))
        return ti_document_refuse (self->document, line, column, self->why,
                                   "a tab: indent with blanks");
    if (parser->context && strstr (parser->context, "scanning an alias"))
        return ti_document_refuse (self->document, from_one (parser->context_mark.line),
                                   from_one (parser->context_mark.column), self->why,
                                   "an alias: what begins with * is written in quotes, \"*\"");
    return ti_document_refuse (self->document, line, column, self->why, "not YAML: %s%s%s",
                               parser->context ? parser->context : "", parser->context ? ": " : "",
                               parser->problem ? parser->problem : "it cannot be read");
}

static char *copy_scalar (const yaml_event_t *event)
{
    size_t length = event->data.scalar.length;
    char *copy = malloc (length + 1);
    if (copy) {
        memcpy (copy, event->data.scalar.value, length);
        copy[length] = '\0';
    }
    return copy;
}

/* Anchors, aliases and tags: what a file of settings has no use for, and a bomb needs. */
static int check_plainness (struct builder *self, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return refuse_at (self, event->start_mark, "an alias: write the value out");
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (memchr (event->data.scalar.value, 0, event->data.scalar.length))
            return refuse_at (self, event->start_mark, "a text with a NUL inside");
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor)
        return refuse_at (self, event->start_mark, "an anchor: there are no aliases here");
    if (tag)
        return refuse_at (self, event->start_mark, "a tag: the key decides what its value is");
    return 0;
}

static int take_key (struct builder *self, const yaml_event_t *event)
{
    struct ti_document *document = self->document;
    const struct ti_node *map = &document->nodes[self->stack[self->depth - 1]];
    char quoted[TI_QUOTE_MAX];
    uint32_t line, column;
    if (event->type != YAML_SCALAR_EVENT)
        return refuse_at (self, event->start_mark, "a key is one word");
    /* The file has none, but an escape in quotes makes one, and keys are printed. */
    if (ti_text_fault ((const char *)event->data.scalar.value, event->data.scalar.length, &line,
                       &column))
        return refuse_at (self, event->start_mark, "a key with a control character inside");
    if (map->count == TI_DOCUMENT_KEYS_MAX)
        return refuse_at (self, event->start_mark,
                          "more than " TEXT (TI_DOCUMENT_KEYS_MAX) " keys in one map");
    self->key = copy_scalar (event);
    self->key_mark = event->start_mark;
    if (!self->key)
        return no_memory (self);
    const struct ti_node *twin = ti_node_get (document, map, self->key);
    if (twin)
        return ti_document_refuse (document, from_one (event->start_mark.line),
                                   from_one (event->start_mark.column), self->why,
                                   "key %s is there twice: first in line %u",
                                   ti_quote (self->key, quoted), twin->key_line);
    return 0;
}

static int add_node (struct builder *self, yaml_mark_t mark, uint32_t *out)
{
    struct ti_document *document = self->document;
    if (document->count == TI_DOCUMENT_NODES_MAX)
        return refuse_at (self, mark,
                          "more than " TEXT (TI_DOCUMENT_NODES_MAX) " values in one file");
    if (document->count == document->capacity) {
        uint32_t capacity = document->capacity ? document->capacity * 2 : 64;
        struct ti_node *nodes = realloc (document->nodes, capacity * sizeof *nodes);
        if (!nodes)
            return no_memory (self);
        document->nodes = nodes;
        document->capacity = capacity;
    }
    uint32_t number = document->count++;
    struct ti_node *node = &document->nodes[number];
    *node = (struct ti_node){.line = from_one (mark.line), .column = from_one (mark.column)};
    *out = number;
    if (self->depth == 0) {
        self->has_root = true;
        return 0;
    }
    struct ti_node *parent = &document->nodes[self->stack[self->depth - 1]];
    if (parent->count++)
        document->nodes[parent->last].next = number;
    else
        parent->first = number;
    parent->last = number;
    if (parent->kind == TI_NODE_MAP) {
        node->key = self->key;
        node->key_line = from_one (self->key_mark.line);
        node->key_column = from_one (self->key_mark.column);
        self->key = NULL;
    }
    return 0;
}

/* The character at this place of the text, blanks left out. Places only grow. */
static char behind (struct builder *self, size_t index)
{
    while (self->seen < index && self->seen_bytes < self->size) {
        size_t length = ti_text_character (self->text, self->size, self->seen_bytes);
        self->seen_bytes += length ? length : 1;
        self->seen++;
    }
    size_t at = self->seen_bytes;
    while (at < self->size && self->text[at] == ' ')
        at++;
    return at < self->size ? self->text[at] : '\0';
}

static int take_value (struct builder *self, const yaml_event_t *event)
{
    uint32_t number = 0;
    int rc = add_node (self, event->start_mark, &number);
    if (rc)
        return rc;
    struct ti_node *node = &self->document->nodes[number];
    if (event->type == YAML_SCALAR_EVENT) {
        node->is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node->text = copy_scalar (event);
        if (!node->text)
            return no_memory (self);
        node->is_cut = !node->is_quoted && strchr (node->text, '(') && !strchr (node->text, ')') &&
                       behind (self, event->end_mark.index) == ',';
        return 0;
    }
    node->kind = event->type == YAML_MAPPING_START_EVENT ? TI_NODE_MAP : TI_NODE_LIST;
    if (self->depth == TI_DOCUMENT_DEPTH_MAX)
        return refuse_at (self, event->start_mark,
                          "maps and lists are nested deeper than " TEXT (TI_DOCUMENT_DEPTH_MAX));
    self->stack[self->depth++] = number;
    return 0;
}

static int take_event (struct builder *self, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: {
        int rc = check_plainness (self, event);
        if (rc)
            return rc;
        bool is_in_map = self->depth > 0 &&
                         self->document->nodes[self->stack[self->depth - 1]].kind == TI_NODE_MAP;
        if (is_in_map && !self->key)
            return take_key (self, event);
        return take_value (self, event);
    }
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        self->depth--;
        return 0;
    case YAML_DOCUMENT_START_EVENT:
        if (self->has_root)
            return refuse_at (self, event->start_mark, "a second document: a file has one");
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return 0;
    }
    return 0;
}

static int build (struct builder *self)
{
    for (bool is_done = false; !is_done;) {
        yaml_event_t event;
        if (!yaml_parser_parse (&self->parser, &event))
            return refuse_syntax (self);
        int rc = take_event (self, &event);
        is_done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete (&event);
        if (rc)
            return rc;
    }
    const struct ti_node *root = self->document->nodes;
    if (!self->has_root ||
        (root->kind == TI_NODE_SCALAR && !root->is_quoted && root->text[0] == '\0'))
        return ti_document_refuse (self->document, 1, 1, self->why, "there is nothing in it");
    return 0;
}

/* libyaml compares each tag directive with all before it: a file of them would take minutes. */
static int check_directives (struct builder *self)
{
    uint32_t line, column;
    const char *found = memmem (self->text, self->size, "%TAG", 4);
    if (!found)
        return 0;
    ti_text_position (self->text, self->size, (size_t)(found - self->text), &line, &column);
    return ti_document_refuse (self->document, line, column, self->why,
                               "a %%TAG directive: there are no tags here");
}

int ti_document_read (const char *name,
                      const char *text,
                      size_t size,
                      struct ti_document *out,
                      char why[TI_DOCUMENT_WHY_MAX])
{
    struct ti_document document = {.nodes = NULL};
    struct builder self = {.document = &document, .text = text, .size = size, .why = why};
    set_name (&document, name);
    if (size > TI_DOCUMENT_BYTES_MAX) {
        snprintf (why, TI_DOCUMENT_WHY_MAX, "%s: is larger than 1 MiB", document.name);
        return TIED_ERR_INVAL;
    }
    uint32_t line, column;
    const char *fault = ti_text_fault (text, size, &line, &column);
    if (fault)
        return ti_document_refuse (&document, line, column, why, "%s", fault);
    /* Some editors begin a file with a mark. libyaml takes it for the first character of the text
     * when it is told the encoding, and must be told: it would guess UTF-16 from two bytes. */
    if (size >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0) {
        self.text = text += 3;
        self.size = size -= 3;
    }
    int rc = check_directives (&self);
    if (rc)
        return rc;
    if (!yaml_parser_initialize (&self.parser))
        return no_memory (&self);
    yaml_parser_set_encoding (&self.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string (&self.parser, (const unsigned char *)text, size);
    rc = build (&self);
    yaml_parser_delete (&self.parser);
    free (self.key);
    if (rc)
        ti_document_deinit (&document);
    else
        *out = document;
    return rc;
}
