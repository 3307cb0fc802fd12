/* SPDX-License-Identifier: MIT */
/*
 * tied-sim: what policies do to latency, simulated with the cores that the library ships. The
 * commands are in app/; this file is the command line.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/assert.h"
#include "base/util.h"
#include "engine/memory.h"
#include "tools/policy_text.h"
#include "tools/interrupt.h"
#include "tools/streams.h"
#include "text/units.h"

#include <tied/error.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))
#define STUDIES      "run sweep capacity"
#define LOAD_MAX     1.5

static int parse_loads (void *value, const char *text, char *why)
{
    struct app_loads *loads = value;
    loads->count = 0;
    for (const char *at = text;; at++) {
        char number[32];
        size_t length = strcspn (at, ",");
        if (loads->count == SIM_SWEEP_MAX) {
            snprintf (why, TI_CLI_WHY_MAX, "it has more than %d loads", SIM_SWEEP_MAX);
            return TIED_ERR_INVAL;
        }
        snprintf (number, sizeof number, "%.*s", (int)ti_min (length, sizeof number), at);
        double *load = &loads->values[loads->count];
        if (length >= sizeof number || ti_parse_real (number, load) || !(*load > 0) ||
            *load > LOAD_MAX) {
            snprintf (why, TI_CLI_WHY_MAX,
                      "give loads above 0 and up to 1.5 with commas, as in 0.3,0.5,0.7");
            return TIED_ERR_INVAL;
        }
        for (uint32_t i = 0; i < loads->count; i++)
            if (fabs (loads->values[i] - *load) < 1e-9) {
                snprintf (why, TI_CLI_WHY_MAX, "load %g is there twice; give each once", *load);
                return TIED_ERR_INVAL;
            }
        loads->count++;
        at += length;
        if (*at == '\0')
            return TIED_OK;
    }
}

static int parse_percentile (void *value, const char *text, char *why)
{
    char name[32];
    if ((size_t)snprintf (name, sizeof name, "p%s", text[0] == 'p' ? text + 1 : text) <
            sizeof name &&
        ti_percentile_parse (name, value) == 0)
        return TIED_OK;
    snprintf (why, TI_CLI_WHY_MAX,
              "give a percentile above 0 and below 100 with up to 4 decimals, as in 99.9");
    return TIED_ERR_INVAL;
}

static void set_defaults (struct app *app)
{
    long processors = sysconf (_SC_NPROCESSORS_ONLN);
    memset (app, 0, sizeof *app);
    app->policies = (struct ti_strings){app->policy_items, SIM_POLICIES_MAX, 0};
    app->grid = (struct ti_strings){app->grid_items, APP_GRID_MAX, 0};
    app->jobs = processors > 0 ? (uint32_t)ti_min ((uint64_t)processors, SIM_JOBS_MAX) : 1;
    app->step = 0.01;
    app->explain_ppm = TI_HIST_P99_9;
    app->timeline_step_ns = TIED_S (1);
    app->timeline_window_ns = TIED_S (10);
    for (uint32_t i = 0; sim_fault_names[i]; i++)
        if (strcmp (sim_fault_names[i], TIED_SIM_FAULT) == 0)
            app->verify.fault = i;
}

static void print_failure (const char *expression, const char *file, int line)
{
    (void)fprintf (stderr, "tied-sim: assertion failed: %s (%s:%d)\n", expression, file, line);
}

static int run (struct app *app,
                int (*command) (struct app *app, const struct ti_cli_result *line),
                const struct ti_cli_result *line)
{
    struct sim_memory_guard guard;
    sim_memory_guard_enter (&guard);
    if (setjmp (guard.back) != 0)
        return app_fail ("out of memory");
    int rc = command (app, line);
    sim_memory_guard_leave (&guard);
    return rc;
}

int main (int argc, char **argv)
{
    static struct app app;
    /* One for each command, in the same order. */
    static int (*const runs[]) (struct app * app, const struct ti_cli_result *line) = {
        app_run,    app_sweep,    app_capacity, app_verify,
        app_replay, app_timeline, app_explain,  app_list};
    static const struct ti_cli_command commands[] = {
        {"run", "SCENARIO", 1, 1, "compare the policies of a scenario: a file, or a preset"},
        {"sweep", "SCENARIO", 1, 1,
         "the same at several loads, or over a grid of parameters with its Pareto set"},
        {"capacity", "SCENARIO", 1, 1,
         "the highest load at which each policy meets a latency goal"},
        {"verify", "", 0, 0,
         "compare the simulator with queueing theory; exit code 1 if one is out"},
        {"replay", "TRACE...", 1, SIM_RECORDING_FILES_MAX,
         "what tying or hedging would have done to a recorded load"},
        {"timeline", "SCENARIO", 1, 1,
         "latency and extra copies of one run as time passes: overload, recovery, budget"},
        {"explain", "SCENARIO", 1, 1, "the sequence diagram of the call at a percentile"},
        {"list", "[PRESET]", 0, 1, "the presets, or the text of one"},
    };
    static const struct ti_cli_option options[] = {
        {.name = "seed",
         .kind = TI_CLI_U64,
         .value = &app.seed,
         .argument = "N",
         .help = "of all random choices; default: the scenario's",
         .commands = STUDIES " verify replay timeline explain",
         .given = &app.has_seed,
         .max = UINT64_MAX},
        {.name = "replications",
         .kind = TI_CLI_U32,
         .value = &app.replications,
         .argument = "N",
         .help = "independent runs of each policy, at most so many with --precision; default: the "
                 "scenario's",
         .commands = STUDIES " replay",
         .given = &app.has_replications,
         .min = 1,
         .max = 1000},
        {.name = "calls",
         .kind = TI_CLI_U64,
         .value = &app.calls,
         .argument = "N",
         .help = "measured requests of each replication; default: the scenario's",
         .commands = STUDIES " timeline",
         .given = &app.has_calls,
         .min = 1,
         .max = UINT64_C (1000000000)},
        {.name = "precision",
         .kind = TI_CLI_REAL,
         .value = &app.precision,
         .argument = "SHARE",
         .help = "stop when the interval of p99 is narrower than this share of it on either side, "
                 "for all policies, as in 0.02; without --replications up to 200 are run",
         .commands = STUDIES,
         .given = &app.has_precision,
         .real_min = 0.0001,
         .real_max = 1},
        {.name = "budget",
         .kind = TI_CLI_DURATION,
         .value = &app.budget_ns,
         .argument = "DURATION",
         .help = "real time for each load; replications that are running then are abandoned",
         .commands = STUDIES,
         .given = &app.has_budget,
         .min = TIED_MS (1),
         .max = TIED_S (30 * 86400)},
        {.name = "policy",
         .kind = TI_CLI_STRINGS,
         .value = &app.policies,
         .argument = "POLICY",
         .help = "instead of the scenario's: the name of one of them, or a word such as single, "
                 "tied:1ms/random, hedge/p95, central (docs/scenario.md); the first is the "
                 "baseline; at most 16. explain takes one; default: the last of the scenario",
         .commands = STUDIES " timeline explain"},
        {.name = "loads",
         .kind = TI_CLI_CUSTOM,
         .value = &app.loads,
         .argument = "L1,L2,...",
         .help = "loads to run through, each once; default: the scenario's sweep",
         .commands = "sweep",
         .parse = parse_loads},
        {.name = "grid",
         .kind = TI_CLI_STRINGS,
         .value = &app.grid,
         .argument = "KEY=V1,V2,...",
         .help = "values of a parameter, all combinations of several: stagger=0s,1ms,auto "
                 "samples=2,4 load_age=5ms hedge=10ms,p95 depth=1,2",
         .commands = "sweep"},
        {.name = "p50",
         .kind = TI_CLI_DURATION,
         .value = &app.goals[0],
         .argument = "DURATION",
         .help = "the goal: p50 at most this",
         .commands = "capacity",
         .given = &app.has_goal[0],
         .min = 1},
        {.name = "p95",
         .kind = TI_CLI_DURATION,
         .value = &app.goals[1],
         .argument = "DURATION",
         .help = "the goal: p95",
         .commands = "capacity",
         .given = &app.has_goal[1],
         .min = 1},
        {.name = "p99",
         .kind = TI_CLI_DURATION,
         .value = &app.goals[2],
         .argument = "DURATION",
         .help = "the goal: p99",
         .commands = "capacity",
         .given = &app.has_goal[2],
         .min = 1},
        {.name = "p999",
         .kind = TI_CLI_DURATION,
         .value = &app.goals[3],
         .argument = "DURATION",
         .help = "the goal: p99.9",
         .commands = "capacity",
         .given = &app.has_goal[3],
         .min = 1},
        {.name = "step",
         .kind = TI_CLI_REAL,
         .value = &app.step,
         .argument = "LOAD",
         .help = "between the loads that are told apart; default 0.01",
         .commands = "capacity",
         .real_min = 0.0001,
         .real_max = 0.5},
        {.name = "replicas",
         .kind = TI_CLI_U32,
         .value = &app.replay.replicas,
         .argument = "N",
         .help = "replicas of the replay; default: as many as the recording names",
         .commands = "replay",
         .given = &app.replay.has_replicas,
         .min = 2,
         .max = SIM_REPLICAS_MAX},
        {.name = "workers",
         .kind = TI_CLI_U32,
         .value = &app.replay.workers,
         .argument = "N",
         .help = "of each replica; default 1",
         .commands = "replay",
         .given = &app.replay.has_workers,
         .min = 1,
         .max = 4096},
        {.name = "load",
         .kind = TI_CLI_REAL,
         .value = &app.replay.load,
         .argument = "LOAD",
         .help = "stretch the arrivals to this load; default: as recorded",
         .commands = "replay",
         .given = &app.replay.has_load,
         .real_min = 0.001,
         .real_max = LOAD_MAX},
        {.name = "correlation",
         .kind = TI_CLI_REAL,
         .value = &app.replay.correlation,
         .argument = "SHARE",
         .help = "share of the further copies that take as long as the first; default 0: they are "
                 "like any other call",
         .commands = "replay",
         .real_max = 1},
        {.name = "every",
         .kind = TI_CLI_DURATION,
         .value = &app.timeline_step_ns,
         .argument = "DURATION",
         .help = "a row for each step of so much virtual time; default 1s",
         .commands = "timeline",
         .min = TIED_US (1),
         .max = TIED_S (86400)},
        {.name = "window",
         .kind = TI_CLI_DURATION,
         .value = &app.timeline_window_ns,
         .argument = "DURATION",
         .help = "in which extra copies are counted, wherever it lies; default 10s",
         .commands = "timeline",
         .min = TIED_US (1),
         .max = TIED_S (86400)},
        {.name = "percentile",
         .kind = TI_CLI_CUSTOM,
         .value = &app.explain_ppm,
         .argument = "P",
         .help = "of the call to explain, above 0 and below 100; default 99.9",
         .commands = "explain",
         .parse = parse_percentile},
        {.name = "jobs",
         .letter = 'j',
         .kind = TI_CLI_U32,
         .value = &app.jobs,
         .argument = "N",
         .help = "threads; the result is the same with any number; default: the processors",
         .commands = STUDIES " verify replay",
         .min = 1,
         .max = SIM_JOBS_MAX},
        {.name = "json",
         .kind = TI_CLI_OUTPUT,
         .value = &app.json,
         .argument = "FILE",
         .help = "write the results as JSON (docs/json.md)",
         .commands = STUDIES " verify replay explain"},
        {.name = "csv",
         .kind = TI_CLI_OUTPUT,
         .value = &app.csv,
         .argument = "FILE",
         .help = "write a row for each policy at each load",
         .commands = "run sweep replay"},
        {.name = "report",
         .kind = TI_CLI_OUTPUT,
         .value = &app.report,
         .argument = "FILE",
         .help = "write the results as one HTML page, with the scenario in it",
         .commands = STUDIES " replay"},
        {.name = "full",
         .kind = TI_CLI_FLAG,
         .value = &app.verify.full,
         .help = "all rows and loads, longer runs",
         .commands = "verify"},
        {.name = "only",
         .kind = TI_CLI_STRING,
         .value = &app.verify.only,
         .argument = "TEXT",
         .help = "rows whose name contains this",
         .commands = "verify"},
        {.name = "fault",
         .kind = TI_CLI_CHOICE,
         .value = &app.verify.fault,
         .argument = "FAULT",
         .help = "plant an error, which must be found: kill-running, ignore-tombstones, "
                 "ignore-stagger; default " TIED_SIM_FAULT,
         .commands = "verify",
         .choices = sim_fault_names},
        {.name = "quiet",
         .letter = 'q',
         .kind = TI_CLI_FLAG,
         .value = &app.is_quiet,
         .help = "no progress on standard error",
         .commands = STUDIES " verify replay"},
    };
    static const struct ti_cli cli = {
        .program = "tied-sim",
        .summary = "Simulate what tied requests and other policies do to latency.",
        .epilogue = "Scenarios are described in docs/scenario.md; tied-sim list shows the presets.",
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
    ti_assert_handler = print_failure;
    switch (ti_cli_parse (&cli, argc, argv, &line)) {
    case TI_CLI_DONE:
        return ti_streams_close (cli.program, TI_EXIT_OK);
    case TI_CLI_WRONG:
        return TI_EXIT_USAGE;
    case TI_CLI_RUN:
        break;
    }
    _Static_assert(COUNT (runs) == COUNT (commands), "one for each");
    return ti_interrupt_end (
        ti_streams_close (cli.program, run (&app, runs[line.command - commands], &line)));
}
