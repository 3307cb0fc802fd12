/* SPDX-License-Identifier: MIT */
/*
 * Command lines: what is read, and for what is wrong one line on the error stream that names the
 * option, the value and what would be accepted.
 */
#include "check.h"

#include <stdio.h>

#include "tools/cli.h"
#include "tools/dist.h"

#define ARGUMENTS_MAX 40

static const char *const policies[] = {"single", "tied", NULL};
static const char *const colours[] = {"auto", "never", NULL};

/* A program with one option of each kind, its values, and what it printed. */
struct world {
    struct ti_pair pair_items[2];
    struct ti_pairs replicas;
    const char *policy_items[2];
    struct ti_strings policy;
    const char *bind, *id, *file, *outputs[2];
    uint32_t workers, colour;
    uint64_t seed, timeout_ns, body_size;
    double load, rate;
    bool is_verbose, is_rate_given;
    struct ti_service service;
    struct ti_cli_result result;
    const char *command;
    const char *operands[ARGUMENTS_MAX];
    char *out, *err;
    size_t out_size, err_size;
};

static int parse_service (void *value, const char *text, char *why)
{
    return ti_service_parse (text, value, why);
}

static enum ti_cli_verdict run_list (struct world *world, int argc, const char *const *arguments)
{
    char *argv[ARGUMENTS_MAX + 1];
    memset (world, 0, sizeof *world);
    world->replicas.items = world->pair_items;
    world->replicas.max = 2;
    world->policy.items = world->policy_items;
    world->policy.max = 2;
    struct ti_cli_option options[] = {
        {.name = "replica",
         .letter = 'r',
         .kind = TI_CLI_PAIRS,
         .value = &world->replicas,
         .argument = "ID=ENDPOINT",
         .help = "a replica"},
        {.name = "policy",
         .kind = TI_CLI_STRINGS,
         .value = &world->policy,
         .argument = "NAME",
         .help = "a policy",
         .choices = policies},
        {.name = "bind",
         .kind = TI_CLI_ENDPOINT,
         .value = &world->bind,
         .argument = "ENDPOINT",
         .help = "where"},
        {.name = "id", .kind = TI_CLI_NAME, .value = &world->id, .argument = "ID", .help = "name"},
        {.name = "file", .kind = TI_CLI_STRING, .value = &world->file, .help = "a file"},
        {.name = "workers",
         .letter = 'w',
         .kind = TI_CLI_U32,
         .value = &world->workers,
         .argument = "N",
         .help = "threads",
         .min = 1,
         .max = 256},
        {.name = "colour",
         .kind = TI_CLI_CHOICE,
         .value = &world->colour,
         .help = "when",
         .choices = colours},
        {.name = "seed", .kind = TI_CLI_U64, .value = &world->seed, .help = "seed"},
        {.name = "timeout",
         .kind = TI_CLI_DURATION,
         .value = &world->timeout_ns,
         .help = "wait",
         .min = MS (1),
         .max = S (3600)},
        {.name = "body-size",
         .kind = TI_CLI_SIZE,
         .value = &world->body_size,
         .help = "bytes",
         .max = 1 << 20},
        {.name = "load",
         .kind = TI_CLI_REAL,
         .value = &world->load,
         .help = "share",
         .real_min = 0.01,
         .real_max = 0.99},
        {.name = "rate",
         .kind = TI_CLI_RATE,
         .value = &world->rate,
         .help = "calls",
         .commands = "bench soak",
         .given = &world->is_rate_given,
         .real_min = 1,
         .real_max = 1e6},
        {.name = "service",
         .kind = TI_CLI_CUSTOM,
         .value = &world->service,
         .help = "what",
         .parse = parse_service},
        {.name = "verbose",
         .letter = 'v',
         .kind = TI_CLI_FLAG,
         .value = &world->is_verbose,
         .help = "say more"},
        {.name = "csv", .kind = TI_CLI_OUTPUT, .value = &world->outputs[0], .help = "rows"},
        {.name = "json", .kind = TI_CLI_OUTPUT, .value = &world->outputs[1], .help = "all"},
        {.name = "must",
         .kind = TI_CLI_STRING,
         .value = &world->file,
         .argument = "FILE",
         .help = "needed",
         .commands = "soak",
         .is_required = true},
    };
    const struct ti_cli_command commands[] = {
        {"call", "METHOD [BODY]", 1, 2, "one call"},
        {"bench", "", 0, 0, "load"},
        {"soak", "", 0, 0, "load for long"},
    };
    struct ti_cli cli = {.program = "prog",
                         .summary = "does things",
                         .epilogue = "The end.",
                         .options = options,
                         .options_count = sizeof options / sizeof options[0],
                         .commands = commands,
                         .commands_count = 3};
    CHECK_I64 (argc, <=, ARGUMENTS_MAX);
    argv[0] = (char *)(uintptr_t) "prog";
    for (int i = 0; i < argc; i++)
        argv[1 + i] = (char *)(uintptr_t)arguments[i];
    argv[1 + argc] = NULL;
    cli.out = open_memstream (&world->out, &world->out_size);
    cli.err = open_memstream (&world->err, &world->err_size);
    enum ti_cli_verdict verdict = ti_cli_parse (&cli, argc + 1, argv, &world->result);
    /* The table goes out of scope, its names do not. */
    world->command = world->result.command ? world->result.command->name : NULL;
    world->result.command = NULL;
    for (uint32_t i = 0; i < world->result.operands_count; i++)
        world->operands[i] = world->result.operands[i];
    fclose (cli.out);
    fclose (cli.err);
    return verdict;
}

#define RUN(world, ...)                                                                            \
    run_list ((world), (int)(sizeof (const char *const[]){__VA_ARGS__} / sizeof (const char *)),   \
              (const char *const[]){__VA_ARGS__})

static void finish (struct world *world)
{
    free (world->out);
    free (world->err);
}

static void check_is_one_printable_line (const char *text)
{
    size_t length = strlen (text);
    CHECK_U64 (length, >, 8);
    CHECK_U64 (length, <, 600);
    CHECK_TRUE (text[length - 1] == '\n');
    for (size_t i = 0; i + 1 < length; i++)
        CHECK_TRUE (text[i] >= ' ' && text[i] <= '~');
}

static void every_kind_of_option_is_read (void **state)
{
    (void)state;
    struct world w;
    enum ti_cli_verdict verdict = RUN (
        &w, "-r", "a=tcp://h:1", "--replica=b=tcp://h:2", "bench", "--policy", "tied", "--policy",
        "single", "--bind", "tcp://*:5", "--id", "me", "--file", "x", "-w8", "--colour", "never",
        "--seed", "18446744073709551615", "--timeout", "1.5s", "--body-size", "4KiB", "--load",
        "0.7", "--rate", "2k/s", "--service", "spin:exp(1ms)", "-v");
    CHECK_U64 (verdict, ==, TI_CLI_RUN);
    CHECK_U64 (w.err_size, ==, 0);
    CHECK_U64 (w.replicas.count, ==, 2);
    CHECK_STR (w.pair_items[0].id, "a");
    CHECK_STR (w.pair_items[1].endpoint, "tcp://h:2");
    CHECK_U64 (w.policy.count, ==, 2);
    CHECK_STR (w.policy_items[0], "tied");
    CHECK_STR (w.bind, "tcp://*:5");
    CHECK_STR (w.id, "me");
    CHECK_STR (w.file, "x");
    CHECK_U64 (w.workers, ==, 8);
    CHECK_U64 (w.colour, ==, 1);
    CHECK_U64 (w.seed, ==, UINT64_MAX);
    CHECK_U64 (w.timeout_ns, ==, MS (1500));
    CHECK_U64 (w.body_size, ==, 4096);
    CHECK_DBL (w.load, ==, 0.7);
    CHECK_DBL (w.rate, ==, 2000);
    CHECK_TRUE (w.is_rate_given);
    CHECK_U64 (w.service.kind, ==, TI_SERVICE_SPIN);
    CHECK_TRUE (w.is_verbose);
    CHECK_U64 (w.result.operands_count, ==, 0);
    CHECK_STR (w.command, "bench");
    finish (&w);
}

static void the_last_of_a_repeated_option_counts (void **state)
{
    (void)state;
    struct world w;
    CHECK_U64 (RUN (&w, "bench", "--seed", "1", "--seed", "2"), ==, TI_CLI_RUN);
    CHECK_U64 (w.seed, ==, 2);
    finish (&w);
}

static void wrong_values_name_option_value_and_what_is_accepted (void **state)
{
    (void)state;
    const struct {
        const char *option, *value, *message;
    } cases[] = {
        {"--workers", "0", "--workers \"0\" is too small; give a whole number from 1 to 256"},
        {"--workers", "257", "--workers \"257\" is too large; give a whole number from 1 to 256"},
        {"--workers", "x", "--workers \"x\" is not a number; give a whole number from 1 to 256"},
        {"--workers", "", "--workers \"\" is empty; give a whole number from 1 to 256"},
        {"--workers", "-1", "--workers \"-1\" is negative; give a whole number from 1 to 256"},
        {"--seed", "18446744073709551616",
         "--seed \"18446744073709551616\" is too large; give a whole number from 0 to "
         "18446744073709551615"},
        {"--timeout", "5",
         "--timeout \"5\" has no unit; give a duration from 1ms to 1h, as in 250us, 5ms or 1.5s"},
        {"--timeout", "5d",
         "--timeout \"5d\" has an unknown unit; give a duration from 1ms to 1h, as in 250us, 5ms "
         "or "
         "1.5s"},
        {"--body-size", "2MiB",
         "--body-size \"2MiB\" is too large; give a size from 0B to 1MiB, as in 64B or 4KiB"},
        {"--load", "nan", "--load \"nan\" is not a number; give a number from 0.01 to 0.99"},
        {"--load", "1.5", "--load \"1.5\" is too large; give a number from 0.01 to 0.99"},
        {"--load", "0", "--load \"0\" is too small; give a number from 0.01 to 0.99"},
        {"--rate", "inf",
         "--rate \"inf\" is not a number; give a rate from 1/s to 1000000/s, as in 500/s or 2k/s"},
        {"--policy", "teid",
         "--policy \"teid\" is unknown, did you mean tied; give one of single tied"},
        {"--colour", "red", "--colour \"red\" is unknown; give one of auto never"},
        {"--bind", "h:1",
         "--bind \"h:1\": \"h:1\" has no transport; write it as in tcp://127.0.0.1:5555"},
        {"--id", "a b", "--id \"a b\": an id is made of A-Z a-z 0-9 . _ -"},
        {"--id", "a/b", "--id \"a/b\": an id is made of A-Z a-z 0-9 . _ -"},
        {"--replica", "\xc3\xa4=tcp://h:1",
         "--replica \"\\xc3\\xa4=tcp://h:1\": an id is made of A-Z a-z 0-9 . _ -"},
        {"--file", "", "--file \"\": it is empty"},
        {"--replica", "a",
         "--replica \"a\": it has no '='; write ID=ENDPOINT as in "
         "a=tcp://127.0.0.1:5555"},
        {"--replica", "=tcp://h:1", "--replica \"=tcp://h:1\": the id is empty"},
        {"--service", "sleep:exp(5)",
         "--service \"sleep:exp(5)\": \"5\" has no unit: write 5ms or 5s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        char expected[512];
        snprintf (expected, sizeof expected, "prog: %s\n", cases[i].message);
        CHECK_U64 (RUN (&w, "bench", cases[i].option, cases[i].value), ==, TI_CLI_WRONG);
        CHECK_STR (w.err, expected);
        check_is_one_printable_line (w.err);
        CHECK_U64 (w.out_size, ==, 0);
        finish (&w);
    }
}

static void wrong_options_and_commands_are_named (void **state)
{
    (void)state;
    const struct {
        const char *first, *second, *message;
    } cases[] = {
        {"bench", "--rat",
         "unknown option \"--rat\"; did you mean --rate? (prog --help lists all)"},
        {"bench", "--rate-x=5",
         "unknown option \"--rate-x=5\"; did you mean --rate? (prog --help lists all)"},
        {"bench", "--wrokers",
         "unknown option \"--wrokers\"; did you mean --workers? (prog --help "
         "lists all)"},
        {"bench", "--zzz", "unknown option \"--zzz\"; prog --help lists all"},
        {"bench", "-z", "unknown option \"-z\"; prog --help lists all"},
        {"bench", "-vz", "unknown option \"-z\"; prog --help lists all"},
        {"bench", "--verbose=1", "--verbose takes no value"},
        {"bench", "--help=1", "--help takes no value"},
        {"bench", "--workers", "--workers needs a value; give a whole number from 1 to 256"},
        {"bench", "-w", "--workers needs a value; give a whole number from 1 to 256"},
        {"bench", "extra", "unexpected argument \"extra\" after bench"},
        {"benhc", "-v", "unknown command \"benhc\"; did you mean bench? --help lists all"},
        {"zzzzz", "-v", "unknown command \"zzzzz\"; prog --help lists all"},
        {"call", "-v", "call needs METHOD [BODY]; write prog call METHOD [BODY]"},
        {"-v", "-v", "no command given; prog --help lists them"},
        {"soak", "-v", "--must is required; give FILE"},
        {"bench", "--must=x", "--must has no meaning with bench; it belongs to: soak"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;
        char expected[512];
        snprintf (expected, sizeof expected, "prog: %s\n", cases[i].message);
        CHECK_U64 (RUN (&w, cases[i].first, cases[i].second), ==, TI_CLI_WRONG);
        CHECK_STR (w.err, expected);
        check_is_one_printable_line (w.err);
        finish (&w);
    }
}

static void an_option_is_not_taken_for_a_value (void **state)
{
    (void)state;
    struct world w;
    CHECK_U64 (RUN (&w, "bench", "--file", "--verbose"), ==, TI_CLI_WRONG);
    CHECK_STR (w.err, "prog: --file needs a value; give a text\n");
    finish (&w);
    CHECK_U64 (RUN (&w, "bench", "--file=--verbose"), ==, TI_CLI_RUN);
    CHECK_STR (w.file, "--verbose");
    finish (&w);
}

static void no_two_outputs_are_one_file (void **state)
{
    (void)state;
    struct world w;
    CHECK_U64 (RUN (&w, "bench", "--json", "a", "--csv", "a"), ==, TI_CLI_WRONG);
    CHECK_STR (w.err, "prog: --json \"a\": --csv names the same file; give each its own\n");
    finish (&w);
    CHECK_U64 (RUN (&w, "bench", "--json", "a", "--csv", "b", "--file", "a"), ==, TI_CLI_RUN);
    CHECK_STR (w.outputs[0], "b");
    CHECK_STR (w.outputs[1], "a");
    finish (&w);
    CHECK_U64 (RUN (&w, "bench", "--json", "/dev/null", "--csv", "/dev/null"), ==, TI_CLI_RUN);
    finish (&w);
    CHECK_U64 (RUN (&w, "bench", "--json", ""), ==, TI_CLI_WRONG);
    CHECK_STR (w.err, "prog: --json \"\": it is empty\n");
    finish (&w);
}

static void operands_may_stand_anywhere_and_after_two_dashes (void **state)
{
    (void)state;
    struct world w;
    const char *const arguments[] = {"-v", "call", "--seed", "3", "Get", "--", "--body"};
    CHECK_U64 (run_list (&w, 7, arguments), ==, TI_CLI_RUN);
    CHECK_U64 (w.result.operands_count, ==, 2);
    CHECK_STR (w.command, "call");
    CHECK_STR (w.operands[0], "Get");
    CHECK_STR (w.operands[1], "--body");
    CHECK_U64 (w.seed, ==, 3);
    finish (&w);
    setenv ("POSIXLY_CORRECT", "1", 1);
    CHECK_U64 (run_list (&w, 7, arguments), ==, TI_CLI_RUN);
    CHECK_U64 (w.result.operands_count, ==, 2);
    CHECK_STR (w.command, "call");
    CHECK_STR (w.operands[0], "Get");
    CHECK_STR (w.operands[1], "--body");
    CHECK_U64 (w.seed, ==, 3);
    unsetenv ("POSIXLY_CORRECT");
    finish (&w);
}

static void lists_are_bounded_and_ids_are_unique (void **state)
{
    (void)state;
    struct world w;
    CHECK_U64 (RUN (&w, "bench", "-ra=tcp://h:1", "-ra=tcp://h:2"), ==, TI_CLI_WRONG);
    CHECK_STR (w.err, "prog: --replica \"a=tcp://h:2\": this id was given before\n");
    finish (&w);
    CHECK_U64 (RUN (&w, "bench", "-ra=tcp://h:1", "-rb=tcp://h:2", "-rc=tcp://h:3"), ==,
               TI_CLI_WRONG);
    CHECK_STR (w.err, "prog: --replica occurs more than 2 times\n");
    finish (&w);
    CHECK_U64 (RUN (&w, "bench", "--policy=tied", "--policy=tied", "--policy=tied"), ==,
               TI_CLI_WRONG);
    CHECK_STR (w.err, "prog: --policy occurs more than 2 times\n");
    finish (&w);
}

/* With keeps_first a repeated id is one line of warning, and the program goes on. */
static void a_repeated_id_may_be_a_warning (void **state)
{
    struct ti_pair items[2];
    struct ti_pairs list = {.items = items, .max = 2, .count = 0};
    const struct ti_cli_option options[] = {
        {.name = "replica",
         .kind = TI_CLI_PAIRS,
         .value = &list,
         .argument = "ID=ENDPOINT",
         .help = "One.",
         .keeps_first = true},
    };
    char *text = NULL;
    size_t size = 0;
    FILE *err = open_memstream (&text, &size);
    const struct ti_cli cli = {
        .program = "prog", .summary = "Test.", .options = options, .options_count = 1, .err = err};
    char words[][40] = {"prog",        "--replica", "a=tcp://h:1", "--replica",
                        "a=tcp://h:2", "--replica", "b=tcp://h:3"};
    char *argv[] = {words[0], words[1], words[2], words[3], words[4], words[5], words[6], NULL};
    struct ti_cli_result result;

    (void)state;
    CHECK_U64 (ti_cli_parse (&cli, 7, argv, &result), ==, TI_CLI_RUN);
    (void)fclose (err);
    CHECK_STR (text,
               "prog: warning: --replica \"a=tcp://h:2\": this id was given before; the first "
               "one is kept\n");
    CHECK_U64 (list.count, ==, 2);
    CHECK_STR (items[0].endpoint, "tcp://h:1");
    CHECK_STR (items[1].id, "b");
    free (text);
}

static void hostile_values_get_one_bounded_printable_line (void **state)
{
    (void)state;
    static char longer[100000];
    memset (longer, 'x', sizeof longer - 1);
    const char *const values[] = {
        longer, "\x1b[31m\n\r\t", "\xff\xfe\x80", "%s%n%s",        "a=b=c=d=e=", "../../x\"\\'",
        "=",    "a=://",          "(((((((((",    "sleep:(,,,,,,)"};
    const char *const options[] = {"--workers", "--seed",    "--timeout", "--body-size",
                                   "--load",    "--rate",    "--policy",  "--colour",
                                   "--bind",    "--replica", "--service"};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        struct world w;
        for (size_t o = 0; o < sizeof options / sizeof options[0]; o++) {
            CHECK_U64 (RUN (&w, "bench", options[o], values[v]), ==, TI_CLI_WRONG);
            check_is_one_printable_line (w.err);
            finish (&w);
        }
        CHECK_U64 (RUN (&w, values[v]), ==, TI_CLI_WRONG);
        check_is_one_printable_line (w.err);
        finish (&w);
    }
    struct world w;
    memcpy (longer, "--", 2);
    CHECK_U64 (RUN (&w, longer), ==, TI_CLI_WRONG);
    check_is_one_printable_line (w.err);
    finish (&w);
}

static void help_names_every_option_and_command_and_fits_100_columns (void **state)
{
    (void)state;
    struct world w;
    const char *const words[] = {
        "--replica ID=ENDPOINT", "--policy", "-w, --workers N", "--rate",
        "call METHOD [BODY]",    "bench",    "-h, --help",      "--version",
        "(bench soak) calls",    "The end."};
    CHECK_U64 (RUN (&w, "--help"), ==, TI_CLI_DONE);
    CHECK_U64 (w.err_size, ==, 0);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        CHECK_TRUE (strstr (w.out, words[i]) != NULL);
    for (const char *line = w.out; *line;) {
        size_t length = strcspn (line, "\n");
        CHECK_U64 (length, <=, 100);
        line += length + 1;
    }
    finish (&w);
    CHECK_U64 (RUN (&w, "--version"), ==, TI_CLI_DONE);
    CHECK_TRUE (strncmp (w.out, "prog ", 5) == 0);
    finish (&w);
}

static void pairs_are_read_and_refused (void **state)
{
    (void)state;
    struct ti_pair pair = {.id = "old", .endpoint = "old"};
    char why[TI_CLI_WHY_MAX], text[TI_ENDPOINT_MAX + TIED_NAME_MAX + 20];
    const char *const bad[] = {"",
                               "=",
                               "a",
                               "a=",
                               "a=h:1",
                               "=tcp://h:1",
                               "a b=tcp://h:1",
                               "-a=tcp://h:1",
                               "a=://h",
                               "a=tcp://",
                               "a=tcp://h 1",
                               "a=tcp://h",
                               "a=tcp://h:99999",
                               "a=tcp://h:5x",
                               "\x7f=tcp://h"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_I64 (ti_pair_parse (bad[i], &pair, why), <, 0);
        CHECK_STR (pair.id, "old");
    }
    CHECK_I64 (ti_pair_parse ("a=ipc:///tmp/x=y", &pair, why), ==, 0);
    CHECK_STR (pair.id, "a");
    CHECK_STR (pair.endpoint, "ipc:///tmp/x=y");
    CHECK_STR (pair.zone, "");
    CHECK_I64 (ti_pair_parse ("a=tcp://h:5,zone=north", &pair, why), ==, 0);
    CHECK_STR (pair.endpoint, "tcp://h:5");
    CHECK_STR (pair.zone, "north");
    CHECK_I64 (ti_pair_parse ("a=tcp://h:5,zone=", &pair, why), <, 0);
    CHECK_I64 (ti_pair_parse ("a=tcp://h:5,zone=a b", &pair, why), <, 0);
    CHECK_I64 (ti_pair_parse ("a=tcp://h:5,zones=a", &pair, why), <, 0);
    CHECK_I64 (ti_pair_parse ("a=,zone=b", &pair, why), <, 0);
    CHECK_STR (pair.zone, "north");
    /* Longest id and endpoint, and one byte more of each. */
    for (int extra = 0; extra < 3; extra++) {
        size_t id = TIED_NAME_MAX + (extra == 1), endpoint = TI_ENDPOINT_MAX - 1 + (extra == 2);
        memset (text, 'x', sizeof text);
        text[id] = '=';
        memcpy (text + id + 1, "ipc://", 6);
        text[id + 1 + endpoint] = '\0';
        CHECK_I64 (ti_pair_parse (text, &pair, why) == 0, ==, extra == 0);
    }
}

static void the_nearest_name_is_near (void **state)
{
    (void)state;
    const char *const names[] = {"rate", "replica", "duration", "id", NULL};
    CHECK_STR (ti_nearest ("raet", names), "rate");
    CHECK_STR (ti_nearest ("durration", names), "duration");
    CHECK_STR (ti_nearest ("dur", names), "duration");
    CHECK_STR (ti_nearest ("replicas", names), "replica");
    CHECK_STR (ti_nearest ("colour", names), NULL);
    CHECK_STR (ti_nearest ("", names), NULL);
    CHECK_STR (ti_nearest ("xx", names), NULL);
}

static void a_command_line_is_kept_as_far_as_it_fits (void **state)
{
    (void)state;
    char line[16];
    char words[][16] = {"/a/path/tool", "run", "--x", "1"};
    char *argv[] = {words[0], words[1], words[2], words[3]};
    ti_cli_keep ("tool", 4, argv, line, sizeof line);
    CHECK_STR (line, "tool run --x 1");
    ti_cli_keep ("tool", 4, argv, line, 8);
    CHECK_STR (line, "tool ru");
    ti_cli_keep ("tool", 0, argv, line, sizeof line);
    CHECK_STR (line, "");
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (a_command_line_is_kept_as_far_as_it_fits),
        cmocka_unit_test (every_kind_of_option_is_read),
        cmocka_unit_test (the_last_of_a_repeated_option_counts),
        cmocka_unit_test (wrong_values_name_option_value_and_what_is_accepted),
        cmocka_unit_test (wrong_options_and_commands_are_named),
        cmocka_unit_test (an_option_is_not_taken_for_a_value),
        cmocka_unit_test (no_two_outputs_are_one_file),
        cmocka_unit_test (operands_may_stand_anywhere_and_after_two_dashes),
        cmocka_unit_test (lists_are_bounded_and_ids_are_unique),
        cmocka_unit_test (a_repeated_id_may_be_a_warning),
        cmocka_unit_test (hostile_values_get_one_bounded_printable_line),
        cmocka_unit_test (help_names_every_option_and_command_and_fits_100_columns),
        cmocka_unit_test (pairs_are_read_and_refused),
        cmocka_unit_test (the_nearest_name_is_near),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
