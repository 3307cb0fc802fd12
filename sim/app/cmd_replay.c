/* SPDX-License-Identifier: MIT */
/* The command replay: what tying or hedging would have done to a recorded load. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "base/util.h"
#include "study/replay.h"
#include "tools/wall.h"

#include <tied/error.h>

#define REPLICATIONS 5
#define TITLE_MAX    256

static int make_scenario (const struct app *app,
                          const struct ti_cli_result *line,
                          struct sim_recording *recording,
                          struct sim_scenario *out)
{
    const struct sim_replay_options options = {
        .replicas = app->replay.has_replicas ? app->replay.replicas : 0,
        .workers = app->replay.has_workers ? app->replay.workers : 1,
        .load = app->replay.has_load ? app->replay.load : 0,
        .correlation = app->replay.correlation,
        .replications = app->has_replications ? app->replications : REPLICATIONS,
        .seed = app->has_seed ? app->seed : 1};
    char why[SIM_WHY_MAX];

    if (sim_recording_read ((const char *const *)line->operands, line->operands_count, recording,
                            why))
        return app_fail ("%s", why);
    if (sim_replay_scenario (recording, &options, out, why)) {
        sim_recording_deinit (recording);
        return app_fail ("%.120s: %s", line->operands[0], why);
    }
    out->title = malloc (TITLE_MAX);
    if (out->title)
        snprintf (out->title, TITLE_MAX, "Replay of %.160s%s", line->operands[0],
                  line->operands_count > 1 ? " and others" : "");
    return TI_EXIT_OK;
}

static int run (const struct app *app,
                const struct sim_scenario *scenario,
                const struct sim_recording *recording)
{
    struct sim_study *study = malloc (sizeof *study);
    struct sim_replay replay = {.recording = recording,
                                .workers = scenario->replicas.workers,
                                .workers_are_given = app->replay.has_workers};
    struct app_progress progress;
    char why[SIM_WHY_MAX];
    uint64_t started = (uint64_t)time (NULL);

    if (!study)
        return app_fail ("out of memory");
    app_progress_init (&progress, app, "replay");
    const struct sim_study_options options = {
        .jobs = app->jobs, .progress = app_progress_tell, .context = &progress};
    int rc = sim_study_run (scenario, &options, study, why);
    if (rc == 0) {
        rc = sim_study_is_empty (study, why) ? TIED_ERR_TIMEOUT
                                             : sim_replay_run (scenario, study, &replay, why);
        if (rc)
            sim_study_deinit (study);
    }
    app_progress_end (&progress);
    if (rc) {
        free (study);
        return app_fail ("replay: %s", why);
    }
    const struct sim_output output = {.program = "tied-sim replay",
                                      .command = app->command,
                                      .started_unix_s = started,
                                      .wall_ns = ti_wall_now () - progress.start,
                                      .scenario = scenario,
                                      .studies = study,
                                      .studies_count = 1,
                                      .replay = &replay};
    rc = app_show (app, &output);
    sim_replay_deinit (&replay);
    sim_study_deinit (study);
    free (study);
    return rc;
}

int app_replay (struct app *app, const struct ti_cli_result *line)
{
    struct sim_scenario scenario;
    struct sim_recording recording;

    if (app_check_files (app))
        return TI_EXIT_FAILED;
    int rc = make_scenario (app, line, &recording, &scenario);
    if (rc)
        return rc;
    rc = run (app, &scenario, &recording);
    sim_scenario_deinit (&scenario);
    sim_recording_deinit (&recording);
    return rc;
}
