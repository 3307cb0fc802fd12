/* SPDX-License-Identifier: MIT */
/* The command explain: the sequence diagram of the call at a percentile. */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "output/diagram.h"
#include "tools/save.h"

static int write_saved (const void *context, FILE *file)
{
    return sim_diagram_write_json (context, file);
}

static int show (const struct app *app, const struct sim_diagram *diagram)
{
    int rc = TI_EXIT_OK;
    if (sim_diagram_write_text (diagram, stdout))
        rc = app_fail_write (NULL);
    if (app->json && ti_save (app->json, write_saved, diagram))
        rc = app_fail_write (app->json);
    return rc;
}

int app_explain (struct app *app, const struct ti_cli_result *line)
{
    struct sim_scenario scenario;
    struct sim_explanation *explanation;
    char why[SIM_WHY_MAX];
    if (app->policies.count > 1)
        return ti_cli_error (app->cli, "explain takes one --policy");
    int rc = app_load (app, line->operands[0], &scenario);
    if (rc)
        return rc;
    explanation = malloc (sizeof *explanation);
    uint32_t policy = scenario.policies_count - 1;
    if (!explanation)
        rc = app_fail ("out of memory");
    else if (scenario.policies_count == 0)
        rc = app_fail ("%s: the scenario has no policy; give --policy", scenario.name);
    else if (sim_explain (&scenario, policy, app->explain_ppm, explanation, why))
        rc = app_fail ("%s: %s", scenario.name, why);
    else
        rc = show (app, &(struct sim_diagram){.scenario = &scenario,
                                              .policy = &scenario.policies[policy],
                                              .ppm = app->explain_ppm,
                                              .explanation = explanation});
    free (explanation);
    sim_scenario_deinit (&scenario);
    return rc;
}
