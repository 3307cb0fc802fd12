/* SPDX-License-Identifier: MIT */
/*
 * tied-client: call replicas from the command line, look at them, and measure policies against
 * each other under load. The commands are in app/; this file is the command line.
 */
#include <stdio.h>
#include <string.h>

#include "app/advice.h"
#include "app/app.h"
#include "text/units.h"
#include "tools/interrupt.h"
#include "tools/streams.h"

#include <tied/tied.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* enum tied_mode */
#define MODE_NAME(name, number, text) [number] = text,
static const char *const mode_names[] = {TIED_MODE_MAP (MODE_NAME) NULL};
#undef MODE_NAME
/* enum advice_declared */
static const char *const declarations[] = {"unknown", "no", "yes", NULL};
static const char *const yes_no[] = {"no", "yes", NULL};

static void set_defaults (struct app *app)
{
    memset (app, 0, sizeof *app);
    app->replicas = (struct ti_pairs){app->pairs, APP_REPLICAS_MAX, 0};
    app->policies = (struct ti_strings){app->policy_items, APP_POLICIES_MAX, 0};
    app->timeout_ns = TIED_S (1);
    app->stagger_ns = TIED_STAGGER_AUTO;
    app->mode = TIED_MODE_TIED;
    app->is_idempotent = 1;
    app->duration_ns = TIED_S (10);
    app->warmup_ns = TIED_S (1);
    app->slices = 5;
    app->body_size = 8;
    app->method = "work";
    app->seed = 1;
    app->extra_load_ppm = 50000;
}

static int run (struct app *app, const struct ti_cli_result *line)
{
    if (app->replicas.count == 0 && !app->recording)
        return ti_cli_error (app->cli, "--replica is required; give ID=ENDPOINT");
    if (strcmp (line->command->name, "call") == 0)
        return app_call (app, line);
    if (strcmp (line->command->name, "ping") == 0)
        return app_ping (app);
    if (strcmp (line->command->name, "stats") == 0)
        return app_stats (app);
    return strcmp (line->command->name, "advise") == 0 ? app_advise (app) : app_bench (app);
}

int main (int argc, char **argv)
{
    static struct app app;
    static const struct ti_cli_command commands[] = {
        {"call", "METHOD [BODY]", 1, 2,
         "make one call and print the reply's body, byte for byte; on a terminal a newline "
         "follows"},
        {"ping", "", 0, 0, "show state, round trip and load of each replica"},
        {"stats", "", 0, 0, "print the counters of each replica, one a line: REPLICA NAME VALUE"},
        {"bench", "", 0, 0, "measure policies under load, in turns over the same arrivals"},
        {"advise", "", 0, 0,
         "say whether a second copy pays for a method, and with which settings, from calls with "
         "one "
         "copy: made now, in shadow, or recorded"},
    };
    static const struct ti_cli_option options[] = {
        {.name = "replica",
         .kind = TI_CLI_PAIRS,
         .value = &app.replicas,
         .argument = "ID=ENDPOINT",
         .help = "a replica and its client endpoint; at most 64; required, but for a recording. "
                 "With ',zone=NAME' behind it, the copies of a call rather go to two zones",
         .takes_zone = true,
         .keeps_first = true},
        {.name = "timeout",
         .kind = TI_CLI_DURATION,
         .value = &app.timeout_ns,
         .argument = "DURATION",
         .help = "deadline of a call, and how long replicas may take to be reached; default 1s",
         .min = TIED_US (1),
         .max = TIED_S (3600)},
        {.name = "stagger",
         .kind = TI_CLI_DURATION,
         .value = &app.stagger_ns,
         .argument = "DURATION",
         .help = "between the copies of a tie, for policies that name none; default: measured, "
                 "from the delay to the replicas and how much it varies, and the service time",
         .commands = "bench",
         .max = TIED_S (3600)},
        {.name = "mode",
         .kind = TI_CLI_CHOICE,
         .value = &app.mode,
         .argument = "single|tied|park|exclusive",
         .help = "one copy, or two that name each other; with park the second waits until the "
                 "first has ended, with exclusive only one may start; default tied",
         .commands = "call",
         .given = &app.has_mode,
         .choices = mode_names},
        {.name = "idempotent",
         .kind = TI_CLI_CHOICE,
         .value = &app.is_idempotent,
         .argument = "yes|no",
         .help =
             "whether the method may run twice; no means one copy; default yes, unlike the library",
         .commands = "call",
         .given = &app.has_idempotent,
         .choices = yes_no},
        {.name = "key",
         .kind = TI_CLI_CUSTOM,
         .value = &app.key,
         .argument = "KEY",
         .help = "idempotency key of the call: replicas that keep results (tied-replica "
                 "--results-max) answer a key that they know without a run; default none",
         .commands = "call",
         .parse = app_parse_key},
        {.name = "policies",
         .kind = TI_CLI_STRING,
         .value = &app.policy_file,
         .argument = "FILE",
         .help = "settings of methods (docs/policy.md). A call follows them where --mode and "
                 "--idempotent do not say otherwise; bench measures them as the policy file, and "
                 "reads them anew on SIGHUP",
         .commands = "call bench"},
        {.name = "verbose",
         .letter = 'v',
         .kind = TI_CLI_FLAG,
         .value = &app.is_verbose,
         .help = "print the details of the call to standard error",
         .commands = "call"},
        {.name = "recording",
         .kind = TI_CLI_STRING,
         .value = &app.recording,
         .argument = "FILE",
         .help = "advise from what bench --record wrote, instead of calls now",
         .commands = "advise"},
        {.name = "declared",
         .kind = TI_CLI_CHOICE,
         .value = &app.declared,
         .argument = "yes|no|unknown",
         .help = "whether the method may run twice; default unknown",
         .commands = "advise",
         .choices = declarations},
        {.name = "extra-load",
         .kind = TI_CLI_CUSTOM,
         .value = &app.extra_load_ppm,
         .argument = "SHARE",
         .help = "what hedges may cost at most, of the calls; default 5%",
         .commands = "advise",
         .parse = app_parse_share},
        {.name = "rate",
         .kind = TI_CLI_RATE,
         .value = &app.rate,
         .argument = "RATE",
         .help = "open loop: Poisson arrivals per second (420, 1.5k/s); latency counts from the "
                 "intended time",
         .commands = "bench advise",
         .given = &app.has_rate,
         .real_min = 0.001,
         .real_max = 1e6},
        {.name = "outstanding",
         .kind = TI_CLI_U32,
         .value = &app.outstanding,
         .argument = "N",
         .help = "closed loop: so many calls at once",
         .commands = "bench advise",
         .given = &app.has_outstanding,
         .min = 1,
         .max = 65536},
        {.name = "duration",
         .kind = TI_CLI_DURATION,
         .value = &app.duration_ns,
         .argument = "DURATION",
         .help = "measured time of each policy; default 10s",
         .commands = "bench advise",
         .min = TIED_MS (1),
         .max = TIED_S (86400)},
        {.name = "policy",
         .kind = TI_CLI_STRINGS,
         .value = &app.policies,
         .argument = "POLICY",
         .help =
             "single, tied or tied:STAGGER, park and exclusive in the same way, and the first two "
             "with +hedge:RULE for one more copy of a call that "
             "is pending so long: single+hedge:10ms, or p95 and auto, which learn the delay and "
             "cost at most 5% of the calls unless @SHARE follows, as in tied+hedge:auto@2%; "
             "with /governed or /ungoverned, and with /random, /informed or "
             "/round-robin for the choice of replicas (tied:1ms/random); without it single is "
             "random and tied is informed; file is what --policies says; at most 8; default single "
             "and "
             "tied, or single and file. Of a recording: whose calls are looked at",
         .commands = "bench advise"},
        {.name = "method",
         .kind = TI_CLI_STRING,
         .value = &app.method,
         .argument = "METHOD",
         .help = "what to call; default work",
         .commands = "bench advise"},
        {.name = "body-size",
         .kind = TI_CLI_SIZE,
         .value = &app.body_size,
         .argument = "SIZE",
         .help = "bytes of the request's body; the first 8 hold a key from the seed, by which "
                 "tied-replica sets the service time: each policy meets the same; default 8B",
         .commands = "bench advise",
         .max = UINT64_C (8) << 20},
        {.name = "warmup",
         .kind = TI_CLI_DURATION,
         .value = &app.warmup_ns,
         .argument = "DURATION",
         .help = "unmeasured time of each policy beforehand; default 1s",
         .commands = "bench advise",
         .max = TIED_S (3600)},
        {.name = "align",
         .kind = TI_CLI_DURATION,
         .value = &app.align_ns,
         .argument = "PERIOD",
         .help = "begin each part at a multiple of PERIOD of the wall clock, so that replicas with "
                 "--pause every:PERIOD stall at the same points of each; default 0s: at once",
         .commands = "bench",
         .max = TIED_S (3600)},
        {.name = "slices",
         .kind = TI_CLI_U32,
         .value = &app.slices,
         .argument = "N",
         .help = "parts that the duration is cut into; policies take turns; default 5",
         .commands = "bench",
         .min = 1,
         .max = 1000},
        {.name = "seed",
         .kind = TI_CLI_U64,
         .value = &app.seed,
         .argument = "N",
         .help = "of the arrivals; default 1",
         .commands = "bench advise",
         .max = UINT64_MAX},
        {.name = "json",
         .kind = TI_CLI_OUTPUT,
         .value = &app.json,
         .argument = "FILE",
         .help = "write the results as JSON (docs/json.md)",
         .commands = "bench advise"},
        {.name = "record",
         .kind = TI_CLI_OUTPUT,
         .value = &app.record,
         .argument = "FILE",
         .help = "write a line of CSV to FILE for every measured call: when it should have been "
                 "sent, who answered, and its times; tied-sim replay reads it",
         .commands = "bench advise"},
        {.name = "report",
         .kind = TI_CLI_OUTPUT,
         .value = &app.report,
         .argument = "FILE",
         .help = "write the results as one HTML page",
         .commands = "bench"},
    };
    static const struct ti_cli cli = {
        .program = "tied-client",
        .summary = "Call replicas with tied requests, look at them, and measure what ties gain.",
        .options = options,
        .options_count = COUNT (options),
        .commands = commands,
        .commands_count = COUNT (commands),
    };
    struct ti_cli_result line;

    ti_streams_open ();
    set_defaults (&app);
    app.cli = &cli;
    ti_cli_keep (cli.program, argc, argv, app.command, sizeof app.command);
    switch (ti_cli_parse (&cli, argc, argv, &line)) {
    case TI_CLI_DONE:
        return ti_streams_close (cli.program, TI_EXIT_OK);
    case TI_CLI_WRONG:
        return TI_EXIT_USAGE;
    case TI_CLI_RUN:
        break;
    }
    return ti_interrupt_end (ti_streams_close (cli.program, run (&app, &line)));
}
