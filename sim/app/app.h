/* SPDX-License-Identifier: MIT */
/* What the commands of tied-sim share: the values of the command line, progress, and results. */
#ifndef SIM_APP_H
#define SIM_APP_H

#include "cmd_verify.h"
#include "output/output.h"
#include "scenario/read.h"
#include "study/sweep.h"
#include "tools/cli.h"

#define APP_GRID_MAX 8
/* Percentiles that a goal can be set for. */
#define APP_GOALS 4

struct app_loads {
    double values[SIM_SWEEP_MAX];
    uint32_t count;
};

/* Of the command replay; what was not given the recording or a default says. */
struct app_replay {
    bool has_replicas, has_workers, has_load;
    uint32_t replicas, workers;
    double load, correlation;
};

struct app {
    const struct ti_cli *cli;
    char command[1024]; /* the command line as it was given, for reports */
    /* Instead of what the scenario says. */
    bool has_seed, has_replications, has_calls, has_precision, has_budget;
    uint64_t seed, calls, budget_ns;
    uint32_t replications;
    double precision;
    const char *policy_items[SIM_POLICIES_MAX];
    struct ti_strings policies;
    struct app_loads loads;
    const char *grid_items[APP_GRID_MAX];
    struct ti_strings grid;
    /* capacity */
    bool has_goal[APP_GOALS];
    uint64_t goals[APP_GOALS];
    double step;

    uint32_t jobs;
    const char *json, *csv, *report;
    bool is_quiet;
    struct sim_cmd_verify verify;
    struct app_replay replay;
    uint32_t explain_ppm;
    tied_duration_t timeline_step_ns, timeline_window_ns;
};

/* Each returns the exit code of the program. One file each. */
int app_run (struct app *app, const struct ti_cli_result *line);
int app_sweep (struct app *app, const struct ti_cli_result *line);
int app_capacity (struct app *app, const struct ti_cli_result *line);
int app_list (struct app *app, const struct ti_cli_result *line);
int app_verify (struct app *app, const struct ti_cli_result *line);
int app_replay (struct app *app, const struct ti_cli_result *line);
int app_timeline (struct app *app, const struct ti_cli_result *line);
int app_explain (struct app *app, const struct ti_cli_result *line);

/* "tied-sim: TEXT" to stderr. @return TI_EXIT_FAILED */
int app_fail (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
/* That path, or NULL: standard output, cannot be written, from errno. @return TI_EXIT_FAILED */
int app_fail_write (const char *path);

/* Whether the files that were asked for can be made, before a long run finds that they cannot; 0,
 * else the exit code after a line. */
int app_check_files (const struct app *app);

/* The scenario of the command line with what options change; 0, else the exit code after a line.
 * On success deinit it. */
int app_load (const struct app *app, const char *name, struct sim_scenario *out);

/*
 * A line on stderr: always on a terminal, else when the work takes long. Studies come one after the
 * other; what is left is estimated from those that are done.
 */
struct app_progress {
    const char *label;
    bool is_quiet, is_terminal, is_shown;
    uint32_t index, count; /* of the study */
    tied_time_t start, shown_at;
};
void app_progress_init (struct app_progress *self, const struct app *app, const char *label);
/* As sim_sweep_options.begin. */
void app_progress_begin (void *context, uint32_t index, uint32_t count);
/* As sim_study_options.progress. */
void app_progress_tell (void *context, uint64_t done, uint64_t all, tied_duration_t left);
void app_progress_end (struct app_progress *self);

/* Print to stdout, and write the files that were asked for. @return the exit code */
int app_show (const struct app *app, const struct sim_output *output);

#endif
