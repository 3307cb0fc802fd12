/* SPDX-License-Identifier: MIT */
/*
 * Command line of a program, driven by a table: long and short options, --help, --version,
 * commands, typed values with ranges, and errors of one line that name the option, the value and
 * what would be accepted. Abbreviated options are refused, so that a new option breaks no script.
 *
 * Exit codes of our programs: 0 done, 1 the work failed, 2 the command line is wrong.
 */
#ifndef TI_CLI_H
#define TI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tied/export.h>
#include <tied/types.h>

#include "text/quote.h"

#define TI_EXIT_OK     0
#define TI_EXIT_FAILED 1
#define TI_EXIT_USAGE  2

/* Bytes of an endpoint with its NUL: what libzmq itself accepts for an ipc path is shorter. */
#define TI_ENDPOINT_MAX 256
/* Bytes of a reason with its NUL. */
#define TI_CLI_WHY_MAX 256
/* Options in one table, --help and --version not counted. */
#define TI_CLI_OPTIONS_MAX 64

/* "ID=ENDPOINT", and ",zone=NAME" where the option takes_zone */
struct ti_pair {
    char id[TIED_NAME_MAX + 1];
    char endpoint[TI_ENDPOINT_MAX];
    char zone[TIED_NAME_MAX + 1]; /* empty: none */
};

struct ti_pairs {
    struct ti_pair *items; /* the caller's, max of them */
    uint32_t max;
    uint32_t count;
};

/* Views into argv, in the order given. */
struct ti_strings {
    const char **items; /* the caller's, max of them */
    uint32_t max;
    uint32_t count;
};

/* What an option takes, and the type that its `value` points to. */
enum ti_cli_kind {
    TI_CLI_FLAG = 0, /* bool: nothing to take, sets true */
    TI_CLI_STRING,   /* const char *; not empty */
    TI_CLI_OUTPUT,   /* the same, a file that is written: no two options name one */
    TI_CLI_STRINGS,  /* struct ti_strings: repeatable; if choices is set, each is one of them */
    TI_CLI_CHOICE,   /* uint32_t: index in choices */
    TI_CLI_U32,      /* uint32_t in [min, max] */
    TI_CLI_U64,      /* uint64_t in [min, max] */
    TI_CLI_REAL,     /* double in [real_min, real_max] */
    TI_CLI_RATE,     /* double, per second, in [real_min, real_max] */
    TI_CLI_DURATION, /* uint64_t, ns, in [min, max] */
    TI_CLI_SIZE,     /* uint64_t, bytes, in [min, max] */
    TI_CLI_ENDPOINT, /* const char *: something://something */
    TI_CLI_NAME,     /* const char *: an id as in a pair */
    TI_CLI_PAIRS,    /* struct ti_pairs: repeatable; an id may occur once, see keeps_first */
    TI_CLI_CUSTOM    /* parse (value, text, why) */
};

/* @return 0, or negative with one line in why (TI_CLI_WHY_MAX bytes), without newline */
typedef int (ti_cli_parse_fn) (void *value, const char *text, char *why);

struct ti_cli_option {
    const char *name; /* without dashes: "bind" */
    char letter;      /* 0: none */
    enum ti_cli_kind kind;
    void *value;          /* holds the default beforehand; a list starts empty */
    const char *argument; /* as help shows it: "ENDPOINT"; NULL for a flag */
    const char *help;     /* one sentence; says the default */
    const char *commands; /* "bench ping": only with these commands; NULL: with all */
    bool is_required;     /* with the commands above */
    bool keeps_first;     /* PAIRS: an id that is given again is a warning, not an error */
    bool takes_zone;      /* PAIRS: ",zone=NAME" may follow */
    bool *given;          /* set true when the option occurs; may be NULL */
    uint64_t min, max;
    double real_min, real_max;
    const char *const *choices; /* ends with NULL */
    ti_cli_parse_fn *parse;
};

struct ti_cli_command {
    const char *name;
    const char *operands; /* as help shows them: "METHOD [BODY]"; "" for none */
    uint32_t operands_min, operands_max;
    const char *help;
};

struct ti_cli {
    const char *program;  /* "tied-client" */
    const char *summary;  /* one sentence */
    const char *epilogue; /* help ends with this; may be NULL */
    const struct ti_cli_option *options;
    uint32_t options_count;
    const struct ti_cli_command *commands; /* NULL: the program takes no command and no operand */
    uint32_t commands_count;
    FILE *out, *err; /* NULL: stdout, stderr */
};

struct ti_cli_result {
    const struct ti_cli_command *command; /* NULL if the table has none */
    char **operands;                      /* views into argv, the command itself left out */
    uint32_t operands_count;
};

enum ti_cli_verdict {
    TI_CLI_RUN = 0,  /* go on */
    TI_CLI_DONE = 1, /* help or version was printed: exit with TI_EXIT_OK */
    TI_CLI_WRONG = 2 /* an error was printed: exit with TI_EXIT_USAGE */
};

/*
 * Read the command line into the table's values. The last of a repeated option counts, lists
 * collect. argv is permuted. Uses getopt_long, hence one thread at a time.
 */
TIED_NODISCARD enum ti_cli_verdict
ti_cli_parse (const struct ti_cli *cli, int argc, char **argv, struct ti_cli_result *out);

void ti_cli_help (const struct ti_cli *cli, FILE *file);

/*
 * "PROGRAM: TEXT\n" to cli->err, see fail.h. What the text quotes from outside may be of any
 * length: pass it through ti_quote () first. @return TI_EXIT_USAGE
 */
int ti_cli_error (const struct ti_cli *cli, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The command line as it was given, for a report; before ti_cli_parse (), which permutes argv. What
 * does not fit is cut. */
void ti_cli_keep (const char *program, int argc, char **argv, char *buffer, size_t size);

/* One line into why, as the parsers below do. @return TIED_ERR_INVAL */
int ti_cli_refuse (char why[TI_CLI_WHY_MAX], const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The parsers behind the kinds, for use elsewhere. @return 0, or negative and a line in why */
TIED_NODISCARD int ti_pair_parse (const char *text, struct ti_pair *out, char *why);
TIED_NODISCARD int ti_name_check (const char *text, char *why);
TIED_NODISCARD int ti_endpoint_check (const char *text, char *why);

#endif
