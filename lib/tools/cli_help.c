/* SPDX-License-Identifier: MIT */
/* The text of --help, from the same table that the command line is read with. */
#include "cli_internal.h"

#include <string.h>

#define LEFT_COLUMN 32
#define WIDTH       100

/* text in the right column, broken at blanks; the cursor stands at column `at`. */
static void print_wrapped (FILE *file, size_t at, const char *text)
{
    if (at + 1 >= LEFT_COLUMN) {
        fputc ('\n', file);
        at = 0;
    }
    fprintf (file, "%*s", (int)(LEFT_COLUMN - at), "");
    at = LEFT_COLUMN;
    while (*text) {
        size_t length = strcspn (text, " ");
        if (at > LEFT_COLUMN && at + 1 + length > WIDTH) {
            fprintf (file, "\n%*s", LEFT_COLUMN, "");
            at = LEFT_COLUMN;
        } else if (at > LEFT_COLUMN) {
            fputc (' ', file);
            at++;
        }
        fwrite (text, 1, length, file);
        at += length;
        text += length;
        text += strspn (text, " ");
    }
    fputc ('\n', file);
}

static void print_option (FILE *file, const struct ti_cli_option *option)
{
    char left[96], help[640];
    char letter[5] = "    ";
    if (option->letter)
        snprintf (letter, sizeof letter, "-%c, ", option->letter);
    int at = snprintf (left, sizeof left, "  %s--%.40s%s%.40s", letter, option->name,
                       option->argument ? " " : "", option->argument ? option->argument : "");
    fputs (left, file);
    bool is_list = option->kind == TI_CLI_STRINGS || option->kind == TI_CLI_PAIRS;
    snprintf (help, sizeof help, "%s%s%s%.400s%s%s", option->commands ? "(" : "",
              option->commands ? option->commands : "", option->commands ? ") " : "", option->help,
              is_list ? "; repeatable" : "", option->is_required ? "; required" : "");
    print_wrapped (file, (size_t)at, help);
}

void ti_cli_help (const struct ti_cli *cli, FILE *file)
{
    fprintf (file, "%s: %s\n\n", cli->program, cli->summary);
    fprintf (file, "Usage: %s [OPTION]...%s\n", cli->program,
             cli->commands ? " COMMAND [ARGUMENT]..." : "");
    if (cli->commands)
        fputs ("\nCommands:\n", file);
    for (uint32_t i = 0; i < cli->commands_count; i++) {
        char left[96];
        const struct ti_cli_command *command = &cli->commands[i];
        int at = snprintf (left, sizeof left, "  %.40s%s%.40s", command->name,
                           command->operands[0] ? " " : "", command->operands);
        fputs (left, file);
        print_wrapped (file, (size_t)at, command->help);
    }
    fputs ("\nOptions:\n", file);
    for (uint32_t i = 0; i < cli->options_count; i++)
        print_option (file, &cli->options[i]);
    static const struct ti_cli_option standard[] = {
        {.name = "help", .letter = 'h', .help = "print this and exit"},
        {.name = "version", .help = "print the version and exit"},
    };
    print_option (file, &standard[0]);
    print_option (file, &standard[1]);
    fputs ("\nDurations are written 250us, 5ms, 1.5s, 2m, 1h; sizes 64B, 4KiB, 1MiB.\n"
           "Exit codes: 0 done, 1 the work failed, 2 the command line is wrong.\n",
           file);
    if (cli->epilogue)
        fprintf (file, "\n%s\n", cli->epilogue);
}
