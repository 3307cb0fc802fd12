/* SPDX-License-Identifier: MIT */
/* The command timeline: what a policy does as time passes. */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/util.h"
#include "study/hedge.h"
#include "study/timeline.h"
#include "text/units.h"

static void print_row (const struct sim_timeline_row *row, tied_duration_t from)
{
    char text[TI_UNITS_TEXT_MAX], p50[TI_UNITS_TEXT_MAX], p99[TI_UNITS_TEXT_MAX],
        p99_9[TI_UNITS_TEXT_MAX], most[TI_UNITS_TEXT_MAX];
    const uint64_t firsts = row->copies - row->extra;

    printf ("%8s %9llu %9.2f %9s %9s %9s %9s\n", ti_format_duration (from, text),
            (unsigned long long)row->requests,
            firsts > 0 ? 100.0 * (double)row->extra / (double)firsts : 0.0,
            ti_format_ms (row->p50, p50), ti_format_ms (row->p99, p99),
            ti_format_ms (row->p99_9, p99_9), ti_format_ms (row->most, most));
}

static void print (const struct sim_policy *policy,
                   const struct sim_timeline *timeline,
                   const struct sim_timeline_options *options)
{
    char window[TI_UNITS_TEXT_MAX], from[TI_UNITS_TEXT_MAX];

    printf ("%s\n%8s %9s %9s %9s %9s %9s %9s\n", policy->name, "from", "answered", "extra %",
            "p50 ms", "p99 ms", "p99.9 ms", "max ms");
    for (uint32_t i = 0; i < timeline->rows_count; i++)
        print_row (&timeline->rows[i], i * options->step_ns);
    printf ("%llu calls, %.4f copies and %.4f executions a call; at most %.3f %% extra copies in "
            "%s, from %s on\n\n",
            (unsigned long long)timeline->calls,
            (double)timeline->copies / (double)ti_max (timeline->calls, 1),
            (double)timeline->executions / (double)ti_max (timeline->calls, 1),
            100 * timeline->largest_share, ti_format_duration (options->window_ns, window),
            ti_format_duration (timeline->largest_from, from));
}

static int run_all (const struct app *app, const struct sim_scenario *scenario)
{
    char why[SIM_WHY_MAX];

    for (uint32_t i = 0; i < scenario->policies_count; i++) {
        const enum sim_policy_kind kind = scenario->policies[i].kind;
        const struct sim_timeline_options options = {.step_ns = app->timeline_step_ns,
                                                     .window_ns = app->timeline_window_ns,
                                                     .is_second_free = sim_policy_is_tie (kind)};
        struct sim_timeline timeline;
        const int rc = sim_timeline_run (scenario, i, sim_study_seed (scenario->amount.seed, 0),
                                         &options, &timeline, why);

        if (rc == 0)
            print (&scenario->policies[i], &timeline, &options);
        sim_timeline_deinit (&timeline);
        if (rc != 0)
            return app_fail ("%s: %s", scenario->name, why);
    }
    return TI_EXIT_OK;
}

int app_timeline (struct app *app, const struct ti_cli_result *line)
{
    const struct sim_study_options options = {.jobs = 1};
    struct sim_scenario scenario;
    struct sim_study *study;
    char why[SIM_WHY_MAX];
    int rc = app_load (app, line->operands[0], &scenario);

    if (rc)
        return rc;
    study = calloc (1, sizeof *study);
    if (!study)
        rc = app_fail ("out of memory");
    else if (sim_hedge_resolve (&scenario, &options, study, why))
        rc = app_fail ("%s: %s", scenario.name, why);
    else
        rc = run_all (app, &scenario);
    free (study);
    sim_scenario_deinit (&scenario);
    if (rc == TI_EXIT_OK && fflush (stdout) != 0)
        return app_fail_write (NULL);
    return rc;
}
