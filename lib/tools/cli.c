/* SPDX-License-Identifier: MIT */
/* The loop over the command line. Values are in cli_value.c, the help in cli_help.c. */
#include "cli_internal.h"

#include <getopt.h>
#include <string.h>

#include "base/assert.h"

#include <tied/types.h>

/* getopt_long gives these for long options; below 256 are letters. */
#define FIRST_INDEX   256
#define HELP_INDEX    (FIRST_INDEX + TI_CLI_OPTIONS_MAX)
#define VERSION_INDEX (HELP_INDEX + 1)

struct run {
    const struct ti_cli *cli;
    char **argv;
    struct option long_options[TI_CLI_OPTIONS_MAX + 3];
    char letters[3 + 2 * TI_CLI_OPTIONS_MAX + 2];
    bool is_given[TI_CLI_OPTIONS_MAX];
    uint32_t operands_count; /* moved to the front of argv, after argv[0] */
};

static void build_tables (struct run *run)
{
    const struct ti_cli *cli = run->cli;
    TI_ASSERT (cli->options_count <= TI_CLI_OPTIONS_MAX);
    char *letter = run->letters;
    /* '-': operands come in their place, whatever POSIXLY_CORRECT says. ':': we print errors. */
    *letter++ = '-';
    *letter++ = ':';
    for (uint32_t i = 0; i < cli->options_count; i++) {
        const struct ti_cli_option *option = &cli->options[i];
        bool takes_value = option->kind != TI_CLI_FLAG;
        run->long_options[i].name = option->name;
        run->long_options[i].has_arg = takes_value ? required_argument : no_argument;
        run->long_options[i].val = FIRST_INDEX + (int)i;
        if (option->letter) {
            *letter++ = option->letter;
            if (takes_value)
                *letter++ = ':';
        }
    }
    *letter++ = 'h';
    run->long_options[cli->options_count] =
        (struct option){.name = "help", .has_arg = no_argument, .val = HELP_INDEX};
    run->long_options[cli->options_count + 1] =
        (struct option){.name = "version", .has_arg = no_argument, .val = VERSION_INDEX};
}

static const struct ti_cli_option *find_option (const struct run *run, int code)
{
    const struct ti_cli *cli = run->cli;
    if (code >= FIRST_INDEX && (uint32_t)(code - FIRST_INDEX) < cli->options_count)
        return &cli->options[code - FIRST_INDEX];
    for (uint32_t i = 0; i < cli->options_count; i++)
        if (cli->options[i].letter && cli->options[i].letter == code)
            return &cli->options[i];
    return NULL;
}

static enum ti_cli_verdict unknown_option (const struct run *run, const char *text)
{
    char name[64], quoted[TI_QUOTE_MAX];
    const char *names[TI_CLI_OPTIONS_MAX + 3];
    uint32_t count = run->cli->options_count + 2;
    for (uint32_t i = 0; i < count; i++)
        names[i] = run->long_options[i].name;
    names[count] = NULL;
    const char *nearest = NULL;
    if (strncmp (text, "--", 2) == 0) {
        size_t length = strcspn (text + 2, "=");
        if (length < sizeof name) {
            memcpy (name, text + 2, length);
            name[length] = '\0';
            nearest = ti_nearest (name, names);
        }
    }
    if (nearest)
        ti_cli_error (run->cli, "unknown option %s; did you mean --%s? (%s --help lists all)",
                      ti_quote (text, quoted), nearest, run->cli->program);
    else
        ti_cli_error (run->cli, "unknown option %s; %s --help lists all", ti_quote (text, quoted),
                      run->cli->program);
    return TI_CLI_WRONG;
}

static enum ti_cli_verdict needs_value (const struct run *run, const struct ti_cli_option *option)
{
    char range[TI_CLI_RANGE_MAX];
    ti_cli_error (run->cli, "--%s needs a value; give %s", option->name,
                  ti_cli_range (option, range));
    return TI_CLI_WRONG;
}

/* The element of argv that holds the option that getopt_long has just returned. */
static const char *option_text (const struct run *run)
{
    int at = optind - 1;
    if (optarg && at > 1 && run->argv[at] == optarg)
        at--;
    return run->argv[at];
}

/* getopt_long takes any unambiguous beginning of a name; we want the name. */
static bool is_abbreviated (const struct run *run, int code)
{
    if (code < FIRST_INDEX)
        return false;
    const char *text = option_text (run) + 2;
    size_t length = strcspn (text, "=");
    const char *name = NULL;
    for (uint32_t i = 0; i < run->cli->options_count + 2; i++)
        if (run->long_options[i].val == code)
            name = run->long_options[i].name;
    return name && strlen (name) != length;
}

static enum ti_cli_verdict take_option (struct run *run, int code)
{
    const struct ti_cli *cli = run->cli;
    const struct ti_cli_option *option = find_option (run, code);
    TI_ASSERT (option);
    /* "--id --bind ...": a value was forgotten, and the next option is not it. */
    if (optarg && run->argv[optind - 1] == optarg && strncmp (optarg, "--", 2) == 0)
        return needs_value (run, option);
    enum ti_cli_verdict verdict = ti_cli_store (cli, option, optarg ? optarg : "");
    if (verdict != TI_CLI_RUN)
        return verdict;
    run->is_given[option - cli->options] = true;
    if (option->given)
        *option->given = true;
    return TI_CLI_RUN;
}

/* getopt_long gave '?': no such option, or a value for one that takes none. */
static enum ti_cli_verdict refuse_option (const struct run *run)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    if (optopt == 0)
        return unknown_option (run, option_text (run));
    if (optopt < FIRST_INDEX)
        return unknown_option (run, letter);
    if (is_abbreviated (run, optopt))
        return unknown_option (run, option_text (run));
    const struct ti_cli_option *option = find_option (run, optopt);
    ti_cli_error (run->cli, "--%s takes no value",
                  option                 ? option->name
                  : optopt == HELP_INDEX ? "help"
                                         : "version");
    return TI_CLI_WRONG;
}

static enum ti_cli_verdict take_code (struct run *run, int code)
{
    const struct ti_cli *cli = run->cli;
    const struct ti_cli_option *option;
    switch (code) {
    case 1: /* an operand */
        run->argv[1 + run->operands_count++] = optarg;
        return TI_CLI_RUN;
    case ':':
        option = find_option (run, optopt);
        if (!option || is_abbreviated (run, optopt))
            return unknown_option (run, option_text (run));
        return needs_value (run, option);
    case '?':
        return refuse_option (run);
    default:
        break;
    }
    if (is_abbreviated (run, code))
        return unknown_option (run, option_text (run));
    if (code == 'h' || code == HELP_INDEX) {
        ti_cli_help (cli, cli->out ? cli->out : stdout);
        return TI_CLI_DONE;
    }
    if (code == VERSION_INDEX) {
        int major, minor, patch;
        tied_version (&major, &minor, &patch);
        fprintf (cli->out ? cli->out : stdout, "%s %d.%d.%d\n", cli->program, major, minor, patch);
        return TI_CLI_DONE;
    }
    return take_option (run, code);
}

/* Whether the option may be used with the command; command NULL: the program has none. */
static bool applies_to (const struct ti_cli_option *option, const struct ti_cli_command *command)
{
    if (!option->commands || !command)
        return true;
    size_t length = strlen (command->name);
    for (const char *word = option->commands; *word;) {
        size_t word_length = strcspn (word, " ");
        if (word_length == length && memcmp (word, command->name, length) == 0)
            return true;
        word += word_length;
        word += strspn (word, " ");
    }
    return false;
}

static enum ti_cli_verdict take_command (struct run *run, struct ti_cli_result *out)
{
    const struct ti_cli *cli = run->cli;
    char quoted[TI_QUOTE_MAX];
    const char *names[TI_CLI_OPTIONS_MAX + 1] = {NULL};
    char **operands = run->argv + 1;
    uint32_t count = run->operands_count;
    *out = (struct ti_cli_result){.command = NULL, .operands = operands, .operands_count = count};
    if (!cli->commands) {
        if (count == 0)
            return TI_CLI_RUN;
        ti_cli_error (cli, "unexpected argument %s", ti_quote (operands[0], quoted));
        return TI_CLI_WRONG;
    }
    if (count == 0) {
        ti_cli_error (cli, "no command given; %s --help lists them", cli->program);
        return TI_CLI_WRONG;
    }
    TI_ASSERT (cli->commands_count <= TI_CLI_OPTIONS_MAX);
    for (uint32_t i = 0; i < cli->commands_count; i++) {
        names[i] = cli->commands[i].name;
        if (strcmp (operands[0], names[i]) == 0)
            out->command = &cli->commands[i];
    }
    if (!out->command) {
        const char *nearest = ti_nearest (operands[0], names);
        ti_cli_error (cli, "unknown command %s; %s%s%s --help lists all",
                      ti_quote (operands[0], quoted), nearest ? "did you mean " : "",
                      nearest ? nearest : cli->program, nearest ? "?" : "");
        return TI_CLI_WRONG;
    }
    out->operands++;
    out->operands_count--;
    if (out->operands_count < out->command->operands_min) {
        ti_cli_error (cli, "%s needs %s; write %s %s %s", out->command->name,
                      out->command->operands, cli->program, out->command->name,
                      out->command->operands);
        return TI_CLI_WRONG;
    }
    if (out->operands_count > out->command->operands_max) {
        ti_cli_error (cli, "unexpected argument %s after %s",
                      ti_quote (out->operands[out->command->operands_max], quoted),
                      out->command->name);
        return TI_CLI_WRONG;
    }
    return TI_CLI_RUN;
}

static const char *output_of (const struct run *run, uint32_t index)
{
    const struct ti_cli_option *option = &run->cli->options[index];
    const bool is_output = option->kind == TI_CLI_OUTPUT && run->is_given[index];
    return is_output ? *(const char *const *)option->value : NULL;
}

/* The last one written would be all that is left; devices take any number. */
static enum ti_cli_verdict check_outputs (const struct run *run)
{
    char quoted[TI_QUOTE_MAX];
    for (uint32_t i = 1; i < run->cli->options_count; i++) {
        const char *path = output_of (run, i);
        for (uint32_t k = 0; path && k < i; k++) {
            const char *other = output_of (run, k);
            if (!other || strcmp (path, other) != 0 || strncmp (path, "/dev/", 5) == 0)
                continue;
            ti_cli_error (run->cli, "--%s %s: --%s names the same file; give each its own",
                          run->cli->options[i].name, ti_quote (path, quoted),
                          run->cli->options[k].name);
            return TI_CLI_WRONG;
        }
    }
    return TI_CLI_RUN;
}

static enum ti_cli_verdict check_options (const struct run *run,
                                          const struct ti_cli_command *command)
{
    char range[TI_CLI_RANGE_MAX];
    for (uint32_t i = 0; i < run->cli->options_count; i++) {
        const struct ti_cli_option *option = &run->cli->options[i];
        bool applies = applies_to (option, command);
        if (run->is_given[i] && !applies) {
            ti_cli_error (run->cli, "--%s has no meaning with %s; it belongs to: %s", option->name,
                          command->name, option->commands);
            return TI_CLI_WRONG;
        }
        if (option->is_required && applies && !run->is_given[i]) {
            ti_cli_error (run->cli, "--%s is required; give %s", option->name,
                          ti_cli_range (option, range));
            return TI_CLI_WRONG;
        }
    }
    return check_outputs (run);
}

enum ti_cli_verdict
ti_cli_parse (const struct ti_cli *cli, int argc, char **argv, struct ti_cli_result *out)
{
    struct run run = {.cli = cli, .argv = argv};
    build_tables (&run);
    optind = 0; /* glibc: forget an earlier command line */
    opterr = 0;
    enum ti_cli_verdict verdict;
    for (;;) {
        int code = getopt_long (argc, argv, run.letters, run.long_options, NULL);
        if (code == -1)
            break;
        verdict = take_code (&run, code);
        if (verdict != TI_CLI_RUN)
            return verdict;
    }
    for (int i = optind; i < argc; i++)
        argv[1 + run.operands_count++] = argv[i];
    struct ti_cli_result result;
    verdict = take_command (&run, &result);
    if (verdict == TI_CLI_RUN)
        verdict = check_options (&run, result.command);
    if (verdict == TI_CLI_RUN)
        *out = result;
    return verdict;
}
