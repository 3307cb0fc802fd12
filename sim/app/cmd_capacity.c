/* SPDX-License-Identifier: MIT */
/* The command capacity: the load that each policy carries within a latency goal. */
#include <math.h>
#include <time.h>

#include "app.h"
#include "tools/wall.h"

static const uint32_t goal_ppm[APP_GOALS] = {TI_HIST_P50, TI_HIST_P95, TI_HIST_P99, TI_HIST_P99_9};

/* Index of the goal that was given, -1 after a line. */
static int find_goal (const struct app *app)
{
    int found = -1;
    for (int i = 0; i < APP_GOALS; i++) {
        if (!app->has_goal[i])
            continue;
        if (found >= 0) {
            ti_cli_error (app->cli, "capacity takes one goal; give --p99 or another one");
            return -1;
        }
        found = i;
    }
    if (found < 0)
        ti_cli_error (app->cli, "capacity needs a goal; give one such as --p99 20ms");
    return found;
}

/* Loads that the bisection tries for one policy. */
static uint32_t loads_tried (double step)
{
    return (uint32_t)ceil (log2 (1 / step));
}

/* Each load is a study; the bar counts loads over all policies. */
struct bar {
    struct app_progress progress;
    uint32_t first; /* loads of the policies before this one */
    uint32_t tried;
    uint64_t last_done;
};

static void tell (void *context, uint64_t done, uint64_t all, tied_duration_t left)
{
    struct bar *bar = context;
    if (done < bar->last_done)
        bar->tried++;
    bar->last_done = done;
    app_progress_begin (&bar->progress, bar->first + bar->tried, bar->progress.count);
    app_progress_tell (&bar->progress, done, all, left);
}

static int find_all (const struct app *app,
                     const struct sim_scenario *scenario,
                     int goal,
                     struct bar *bar,
                     struct sim_capacity_found *found)
{
    char why[SIM_WHY_MAX];
    const struct sim_study_options options = {
        .jobs = app->jobs, .step = app->step, .progress = tell, .context = bar};
    for (uint32_t i = 0; i < scenario->policies_count; i++) {
        found[i] = (struct sim_capacity_found){.policy = scenario->policies[i].name,
                                               .ppm = goal_ppm[goal],
                                               .goal_ns = app->goals[goal]};
        bar->first = i * loads_tried (app->step);
        bar->tried = 0;
        bar->last_done = 0;
        if (sim_study_capacity (scenario, &options, i, found[i].ppm, found[i].goal_ns,
                                &found[i].capacity, why))
            return app_fail ("%s: %s", scenario->name, why);
    }
    return TI_EXIT_OK;
}

int app_capacity (struct app *app, const struct ti_cli_result *line)
{
    struct sim_scenario scenario;
    struct sim_capacity_found found[SIM_POLICIES_MAX];
    struct bar bar = {.first = 0};
    uint64_t started = (uint64_t)time (NULL);
    int goal = find_goal (app);
    if (goal < 0)
        return TI_EXIT_USAGE;
    int rc = app_load (app, line->operands[0], &scenario);
    if (rc)
        return rc;
    app_progress_init (&bar.progress, app, "capacity");
    bar.progress.count = scenario.policies_count * loads_tried (app->step);
    rc = find_all (app, &scenario, goal, &bar, found);
    app_progress_end (&bar.progress);
    if (rc == TI_EXIT_OK) {
        const struct sim_output output = {.program = "tied-sim capacity",
                                          .command = app->command,
                                          .started_unix_s = started,
                                          .wall_ns = ti_wall_now () - bar.progress.start,
                                          .scenario = &scenario,
                                          .found = found,
                                          .found_count = scenario.policies_count};
        rc = app_show (app, &output);
    }
    sim_scenario_deinit (&scenario);
    return rc;
}
