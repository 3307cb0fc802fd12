/* SPDX-License-Identifier: MIT */
/*
 * A table of keys that fills a struct from a document: for each key its type, range, meaning, and
 * where its value is stored. The same table checks a file and prints its reference page, and the
 * defaults on that page are read from a struct that the caller has initialised, so no statement
 * stands in two places. It knows nothing of scenarios.
 *
 * Not checked here: what must hold between keys (see sim_reader_refuse_key ()).
 */
#ifndef SIM_SCHEMA_H
#define SIM_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario/document.h"

#define SIM_SCHEMA_DEPTH_MAX 8
#define SIM_SCHEMA_PATH_MAX  96
#define SIM_SCHEMA_PRINT_MAX 64

enum sim_type {
    SIM_TYPE_MAP = 0,  /* keys of its own; they fill the same struct */
    SIM_TYPE_TUPLE,    /* a map that may be written as the list of its values in their order */
    SIM_TYPE_LIST,     /* items of one kind: an array in the struct, and its count */
    SIM_TYPE_WORD,     /* char[size], not empty */
    SIM_TYPE_LINE,     /* char *, malloc'ed, NULL at first: one line */
    SIM_TYPE_BOOL,     /* bool */
    SIM_TYPE_U32,      /* uint32_t in [min, max] */
    SIM_TYPE_U64,      /* uint64_t in [min, max] */
    SIM_TYPE_REAL,     /* double between real_min and real_max */
    SIM_TYPE_SHARE,    /* the same, also as "2%" */
    SIM_TYPE_RATE,     /* the same, per second: 500, 500/s, 1.5k/s */
    SIM_TYPE_DURATION, /* uint64_t, ns, in [min, max] */
    SIM_TYPE_CHOICE,   /* an enum or uint32_t: index in choices */
    SIM_TYPE_CUSTOM    /* parse (), print () */
};

struct sim_reader;
struct sim_field;

/* Of a CUSTOM value. `base` is the struct that its map fills. @return 0, or what
 * sim_reader_refuse () returned */
typedef int (sim_parse_fn) (struct sim_reader *reader,
                            const struct sim_field *field,
                            const struct sim_node *node,
                            void *base);
/* The value as it would be written. */
typedef void (sim_print_fn) (const void *base, char text[SIM_SCHEMA_PRINT_MAX]);

struct sim_field {
    const char *key; /* NULL: end of the table */
    enum sim_type type;
    size_t offset;     /* in the struct that the map fills */
    uint64_t min, max; /* LIST: of the count */
    double real_min;   /* excluded if excludes_min */
    double real_max;   /* excluded if excludes_max */
    bool excludes_min, excludes_max;
    const char *word;               /* DURATION: stands for UINT64_MAX, as "none" */
    const char *const *choices;     /* CHOICE, and of a CUSTOM selector: ends with NULL */
    size_t size;                    /* WORD: bytes of the array; LIST: of an item */
    size_t count_offset;            /* LIST: uint32_t in the same struct */
    void (*init) (void *item);      /* LIST: defaults of an item; NULL: zeros */
    const struct sim_field *fields; /* MAP, TUPLE: the keys; LIST: one row, of the items */
    const char *short_key;    /* MAP: what stands there instead of a map is the value of this key */
    bool selects;             /* first row of a map: its number says which other rows count */
    uint64_t only;            /* bit i: with number i of the selecting row alone; 0: always */
    bool is_needed;           /* where it counts: must be given, or be not 0 already */
    const char *value_text;   /* CUSTOM: what is written, as the page says it */
    const char *default_text; /* on the page, instead of the value found in the struct */
    const char *help;         /* a phrase without a full stop at its end */
    sim_parse_fn *parse;
    sim_print_fn *print; /* NULL: default_text says it */
};

struct sim_schema {
    const char *noun; /* "a scenario" */
    const struct sim_field *fields;
};

struct sim_reader {
    const struct sim_document *document;
    void *context;                  /* the caller's, for parse () */
    char *why;                      /* SIM_DOCUMENT_WHY_MAX bytes */
    char path[SIM_SCHEMA_PATH_MAX]; /* "policies[0].stagger" */
};

/* Store everything that the document says in the struct at base; what it does not say stays as it
 * is, lists are replaced. @return 0, TIED_ERR_INVAL, TIED_ERR_SYSTEM (no memory) */
TIED_NODISCARD int
sim_schema_apply (const struct sim_schema *schema, struct sim_reader *reader, void *base);

/* "FILE:LINE:COLUMN: PATH: ..." with the position of node. @return TIED_ERR_INVAL */
int sim_reader_refuse (struct sim_reader *reader,
                       const struct sim_node *node,
                       const char *format,
                       ...) __attribute__ ((format (printf, 3, 4)));
/* The same for a path, "replicas.slow.count", after the reading: at the innermost of its keys that
 * the document has, in its map or as its short form. @return TIED_ERR_INVAL */
int sim_reader_refuse_key (struct sim_reader *reader, const char *path, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* The value of a row that is neither map nor list. */
TIED_NODISCARD int sim_schema_parse_value (struct sim_reader *reader,
                                           const struct sim_field *field,
                                           const struct sim_node *node,
                                           void *base);
/* Number of the selecting row's value. */
uint32_t sim_schema_selected (const struct sim_field *selector, const void *base);

/* Tables of all keys as Markdown, one section for each map, with the defaults found at base.
 * @return 0, TIED_ERR_SYSTEM (no memory) */
TIED_NODISCARD int
sim_schema_print_tables (const struct sim_schema *schema, const void *base, FILE *file);
/* "a duration [0s, 1h]"; "0.7". */
void sim_schema_print_type (const struct sim_field *field, FILE *file);
void sim_schema_print_range (const struct sim_field *field, char text[SIM_SCHEMA_PRINT_MAX]);
void sim_schema_print_default (const struct sim_field *field, const void *base, FILE *file);

#endif
