/* SPDX-License-Identifier: MIT */
/* From the command line to the command verify (cmd_verify.h). */
#include "app.h"

static void tell (void *context, uint64_t done, uint64_t all, tied_duration_t elapsed)
{
    double left = done ? (double)elapsed / (double)done * (double)(all - done) : 0;
    app_progress_tell (context, done, all, (tied_duration_t)left);
    /* The table comes next. */
    if (done == all)
        app_progress_end (context);
}

int app_verify (struct app *app, const struct ti_cli_result *line)
{
    struct app_progress progress;
    (void)line;
    if (app_check_files (app))
        return TI_EXIT_FAILED;
    app_progress_init (&progress, app, "verify");
    app->verify.seed = app->has_seed ? app->seed : 0;
    app->verify.jobs = app->jobs;
    app->verify.json_path = app->json;
    app->verify.progress = tell;
    app->verify.context = &progress;
    int rc = sim_cmd_verify (&app->verify, stdout, stderr);
    app_progress_end (&progress);
    return rc;
}
