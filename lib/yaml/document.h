/* SPDX-License-Identifier: MIT */
/*
 * A small YAML text as a tree of maps, lists and scalars, each with its line and column. It knows
 * nothing of what the keys mean (schema.h does).
 *
 * The text is hostile. Refused are: more than TI_DOCUMENT_BYTES_MAX bytes, what is not UTF-8,
 * control characters, nesting and counts beyond the bounds below, anchors, aliases and tags, a key
 * that occurs twice in a map or is no scalar, a second document, and a text without a value.
 */
#ifndef TI_DOCUMENT_H
#define TI_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tied/export.h>

#define TI_DOCUMENT_BYTES_MAX ((size_t)1 << 20)
#define TI_DOCUMENT_DEPTH_MAX 12
#define TI_DOCUMENT_NODES_MAX 20000
#define TI_DOCUMENT_KEYS_MAX  256 /* in one map */
#define TI_DOCUMENT_NAME_MAX  80  /* bytes of the name in messages, with NUL: its end counts */
/* One line of a reason, with its NUL. */
#define TI_DOCUMENT_WHY_MAX 512

enum ti_node_kind {
    TI_NODE_SCALAR = 0,
    TI_NODE_LIST,
    TI_NODE_MAP
};

struct ti_node {
    enum ti_node_kind kind;
    bool is_quoted;        /* SCALAR: in quotes, or a block of text */
    bool is_cut;           /* SCALAR: ends at a comma with a parenthesis open: "exp(1ms" */
    char *text;            /* SCALAR, never NULL, NUL-terminated and without NUL inside */
    char *key;             /* NULL: not in a map */
    uint32_t line, column; /* of the value, from 1; columns count characters */
    uint32_t key_line, key_column;
    uint32_t first, last, next; /* numbers of nodes, 0: none */
    uint32_t count;             /* children */
};

struct ti_document {
    char name[TI_DOCUMENT_NAME_MAX]; /* for messages: no control characters */
    struct ti_node *nodes;           /* number 0 is the root */
    uint32_t count, capacity;
};

/* @return 0 (deinit it), TIED_ERR_INVAL, TIED_ERR_NOMEM: why has one line */
TIED_NODISCARD int ti_document_read (const char *name,
                                     const char *text,
                                     size_t size,
                                     struct ti_document *out,
                                     char why[TI_DOCUMENT_WHY_MAX]);
void ti_document_deinit (struct ti_document *self);

/* NULL: no child, the last one, no such key. */
const struct ti_node *ti_node_first (const struct ti_document *self, const struct ti_node *node);
const struct ti_node *ti_node_next (const struct ti_document *self, const struct ti_node *node);
const struct ti_node *
ti_node_get (const struct ti_document *self, const struct ti_node *node, const char *key);

/* "NAME:LINE:COLUMN: ..." @return TIED_ERR_INVAL */
int ti_document_refuse (const struct ti_document *self,
                        uint32_t line,
                        uint32_t column,
                        char why[TI_DOCUMENT_WHY_MAX],
                        const char *format,
                        ...) __attribute__ ((format (printf, 5, 6)));

#endif
