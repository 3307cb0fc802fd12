/* SPDX-License-Identifier: MIT */
/*
 * A table of keys that fills a struct from a document: for each key its type, range, meaning, and
 * where its value is stored. The same table checks a file and prints its reference page, and the
 * defaults on that page are read from a struct that the caller has initialised, so no statement
 * stands in two places. It knows nothing of scenarios.
 *
 * Not checked here: what must hold between keys (see ti_reader_refuse_key ()).
 */
#ifndef TI_SCHEMA_H
#define TI_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "yaml/document.h"

#define TI_SCHEMA_DEPTH_MAX 8
#define TI_SCHEMA_PATH_MAX  96
#define TI_SCHEMA_PRINT_MAX 64

enum ti_type {
    TI_TYPE_MAP = 0,  /* keys of its own; they fill the same struct */
    TI_TYPE_TUPLE,    /* a map that may be written as the list of its values in their order */
    TI_TYPE_LIST,     /* items of one kind: an array in the struct, and its count */
    TI_TYPE_WORD,     /* char[size], not empty */
    TI_TYPE_LINE,     /* char *, malloc'ed, NULL at first: one line */
    TI_TYPE_BOOL,     /* bool */
    TI_TYPE_U32,      /* uint32_t in [min, max] */
    TI_TYPE_U64,      /* uint64_t in [min, max] */
    TI_TYPE_REAL,     /* double between real_min and real_max */
    TI_TYPE_SHARE,    /* the same, also as "2%" */
    TI_TYPE_RATE,     /* the same, per second: 500, 500/s, 1.5k/s */
    TI_TYPE_DURATION, /* uint64_t, ns, in [min, max] */
    TI_TYPE_CHOICE,   /* an enum or uint32_t: index in choices */
    TI_TYPE_PPM,      /* uint32_t, parts per million in [min, max]: 0.05 or "5%" */
    TI_TYPE_MILLI,    /* uint32_t, thousandths in [min, max]: 2.5 */
    TI_TYPE_CUSTOM,   /* parse (), print () */
    TI_TYPE_TREE      /* whatever stands there: parse (); keys of the document are free in it */
};

struct ti_reader;
struct ti_field;

/* Of a CUSTOM value or a TREE. `base` is the struct that its map fills. @return 0, or what
 * ti_reader_refuse () returned */
typedef int (ti_parse_fn) (struct ti_reader *reader,
                           const struct ti_field *field,
                           const struct ti_node *node,
                           void *base);
/* The value as it would be written. */
typedef void (ti_print_fn) (const void *base, char text[TI_SCHEMA_PRINT_MAX]);

struct ti_field {
    const char *key; /* NULL: end of the table */
    enum ti_type type;
    size_t offset;     /* in the struct that the map fills */
    uint64_t min, max; /* LIST: of the count */
    double real_min;   /* excluded if excludes_min */
    double real_max;   /* excluded if excludes_max */
    bool excludes_min, excludes_max;
    const char *word;              /* DURATION: stands for UINT64_MAX, as "none" */
    const char *const *choices;    /* CHOICE, and of a CUSTOM selector: ends with NULL */
    size_t size;                   /* WORD: bytes of the array; LIST: of an item */
    size_t count_offset;           /* LIST: uint32_t in the same struct */
    void (*init) (void *item);     /* LIST: defaults of an item; NULL: zeros */
    const struct ti_field *fields; /* MAP, TUPLE: the keys; LIST: one row, of the items */
    const char *short_key; /* MAP: what stands there instead of a map is the value of this key */
    const char *none;      /* a word that says the same as {}, see choose; NULL: none does */
    /* The value may be {}, which means none of it: then this is called with true and that is all;
     * else with false, before the value is read. NULL: {} is nothing special. */
    void (*choose) (void *base, bool is_none);
    bool selects;             /* first row of a map: its number says which other rows count */
    uint64_t only;            /* bit i: with number i of the selecting row alone; 0: always */
    bool is_needed;           /* where it counts: must be given, or be not 0 already */
    const char *value_text;   /* CUSTOM, TREE: what is written, as the page says it */
    const char *default_text; /* on the page, instead of the value found in the struct */
    const char *help;         /* a phrase without a full stop at its end */
    ti_parse_fn *parse;
    ti_print_fn *print; /* NULL: default_text says it */
};

struct ti_schema {
    const char *noun; /* "a scenario" */
    const struct ti_field *fields;
};

struct ti_reader {
    const struct ti_document *document;
    void *context;                 /* the caller's, for parse () */
    char *why;                     /* TI_DOCUMENT_WHY_MAX bytes */
    char path[TI_SCHEMA_PATH_MAX]; /* "policies[0].stagger" */
};

/* Store everything that the document says in the struct at base; what it does not say stays as it
 * is, lists are replaced. @return 0, TIED_ERR_INVAL, TIED_ERR_NOMEM */
TIED_NODISCARD int
ti_schema_apply (const struct ti_schema *schema, struct ti_reader *reader, void *base);

/* The same for a map inside the document, whose path is that of the reader. */
TIED_NODISCARD int ti_schema_apply_to (const struct ti_field *fields,
                                       struct ti_reader *reader,
                                       const struct ti_node *map,
                                       void *base);

/* "FILE:LINE:COLUMN: PATH: ..." with the position of node. @return TIED_ERR_INVAL */
int ti_reader_refuse (struct ti_reader *reader, const struct ti_node *node, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
/* The same for a path, "replicas.slow.count", after the reading: at the innermost of its keys that
 * the document has, in its map or as its short form. @return TIED_ERR_INVAL */
int ti_reader_refuse_key (struct ti_reader *reader, const char *path, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* The value of a row that is neither map nor list. */
TIED_NODISCARD int ti_schema_parse_value (struct ti_reader *reader,
                                          const struct ti_field *field,
                                          const struct ti_node *node,
                                          void *base);
/* Number of the selecting row's value. */
static inline uint32_t ti_schema_selected (const struct ti_field *selector, const void *base)
{
    uint32_t number;
    memcpy (&number, (const unsigned char *)base + selector->offset, sizeof number);
    return number;
}

void ti_schema_print_range (const struct ti_field *field, char text[TI_SCHEMA_PRINT_MAX]);

#endif
