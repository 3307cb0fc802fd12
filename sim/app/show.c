/* SPDX-License-Identifier: MIT */
/* Results to the terminal and to files. */
#include <string.h>

#include "app.h"
#include "tools/save.h"

typedef int (writer_fn) (const struct sim_output *output, FILE *file);

struct saving {
    const struct sim_output *output;
    writer_fn *writer;
};

static int write_saved (const void *context, FILE *file)
{
    const struct saving *saving = context;
    return saving->writer (saving->output, file);
}

static int save (const struct sim_output *output, writer_fn *writer, const char *path)
{
    const struct saving saving = {output, writer};
    if (!path || ti_save (path, write_saved, &saving) == 0)
        return TI_EXIT_OK;
    return app_fail_write (path);
}

int app_show (const struct app *app, const struct sim_output *output)
{
    int rc = TI_EXIT_OK;
    if (sim_output_write_text (output, stdout))
        rc = app_fail_write (NULL);
    /* Each file is written even if another one cannot be: the run was long. */
    if (save (output, sim_output_write_json, app->json))
        rc = TI_EXIT_FAILED;
    if (save (output, sim_output_write_csv, app->csv))
        rc = TI_EXIT_FAILED;
    if (save (output, sim_output_write_html, app->report))
        rc = TI_EXIT_FAILED;
    return rc;
}
