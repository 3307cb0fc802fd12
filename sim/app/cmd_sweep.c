/* SPDX-License-Identifier: MIT */
/* The commands run and sweep: studies at one load, at several, or over a grid. */
#include <string.h>
#include <time.h>

#include "app.h"
#include "tools/interrupt.h"
#include "tools/wall.h"

/* One study or several, shown. */
static int run_studies (struct app *app,
                        const char *label,
                        const struct sim_scenario *scenario,
                        const struct app_loads *loads,
                        const struct sim_grid *grid)
{
    struct sim_sweep_studies studies;
    struct app_progress progress;
    char why[SIM_WHY_MAX], program[32];
    uint64_t started = (uint64_t)time (NULL);
    app_progress_init (&progress, app, label);
    const struct sim_study_options options = {.jobs = app->jobs,
                                              .progress = app_progress_tell,
                                              .is_interrupted = ti_interrupted,
                                              .context = &progress};
    ti_interrupt_catch (true);
    const struct sim_sweep_options sweep = {.loads = loads->values,
                                            .loads_count = loads->count,
                                            .grid = grid,
                                            .begin = app_progress_begin,
                                            .context = &progress};
    int rc = sim_sweep_run (scenario, &sweep, &options, &studies, why);
    app_progress_end (&progress);
    if (rc)
        return app_fail ("%s: %s", scenario->name, why);
    /* Of several loads those that were measured are worth their table. */
    bool is_empty = true;
    for (uint32_t i = 0; i < studies.count; i++)
        is_empty = is_empty && sim_study_is_empty (&studies.studies[i], why);
    if (is_empty) {
        sim_sweep_deinit (&studies);
        return app_fail ("%s: %s", scenario->name, why);
    }
    snprintf (program, sizeof program, "tied-sim %s", label);
    const struct sim_output output = {.program = program,
                                      .command = app->command,
                                      .started_unix_s = started,
                                      .wall_ns = ti_wall_now () - progress.start,
                                      .scenario = scenario,
                                      .studies = studies.studies,
                                      .studies_count = studies.count,
                                      .is_grid = grid && !sim_grid_is_empty (grid)};
    rc = app_show (app, &output);
    sim_sweep_deinit (&studies);
    return rc;
}

int app_run (struct app *app, const struct ti_cli_result *line)
{
    struct sim_scenario scenario;
    const struct app_loads own = {.count = 0};
    int rc = app_load (app, line->operands[0], &scenario);
    if (rc)
        return rc;
    rc = run_studies (app, "run", &scenario, &own, NULL);
    sim_scenario_deinit (&scenario);
    return rc;
}

static int read_grid (const struct app *app, struct sim_grid *grid)
{
    char why[SIM_WHY_MAX];
    memset (grid, 0, sizeof *grid);
    for (uint32_t i = 0; i < app->grid.count; i++)
        if (sim_grid_add (grid, app->grid.items[i], why))
            return ti_cli_error (app->cli, "--grid %s", why);
    return 0;
}

int app_sweep (struct app *app, const struct ti_cli_result *line)
{
    struct sim_scenario scenario;
    struct sim_grid grid;
    struct app_loads loads = app->loads;
    int rc = read_grid (app, &grid);
    if (rc == 0)
        rc = app_load (app, line->operands[0], &scenario);
    if (rc)
        return rc;
    if (loads.count == 0 && sim_grid_is_empty (&grid)) {
        memcpy (loads.values, scenario.sweep.loads, sizeof loads.values);
        loads.count = scenario.sweep.loads_count;
    }
    if (loads.count == 0 && sim_grid_is_empty (&grid))
        rc = ti_cli_error (app->cli, "the scenario has no sweep; give --loads, as in "
                                     "--loads 0.3,0.5,0.7, or --grid");
    else
        rc = run_studies (app, "sweep", &scenario, &loads, &grid);
    sim_scenario_deinit (&scenario);
    return rc;
}
