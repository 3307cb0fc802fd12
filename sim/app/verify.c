/* SPDX-License-Identifier: MIT */
/* From the command line to the command verify (cmd_verify.h). */
#include "app.h"

int app_verify (struct app *app, const struct ti_cli_result *line)
{
    (void)line;
    if (app_check_files (app))
        return TI_EXIT_FAILED;
    app->verify.seed = app->has_seed ? app->seed : 0;
    app->verify.jobs = app->jobs;
    app->verify.json_path = app->json;
    app->verify.is_quiet = app->is_quiet;
    return sim_cmd_verify (&app->verify, stdout, stderr);
}
