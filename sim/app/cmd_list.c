/* SPDX-License-Identifier: MIT */
/* The command list: the presets, or the text of one. */
#include <string.h>

#include "app.h"

static int print_text (const char *name)
{
    const struct sim_preset *preset = sim_preset_find (name);
    char quoted[TI_QUOTE_MAX];
    if (preset) {
        fwrite (preset->text, 1, preset->size, stdout);
        return TI_EXIT_OK;
    }
    const char *nearest = sim_preset_nearest (name);
    ti_quote (name, quoted);
    if (nearest)
        return app_fail ("there is no preset %s, did you mean %s", quoted, nearest);
    return app_fail ("there is no preset %s; tied-sim list shows them all", quoted);
}

int app_list (struct app *app, const struct ti_cli_result *line)
{
    int rc = TI_EXIT_OK;
    (void)app;
    if (line->operands_count > 0)
        rc = print_text (line->operands[0]);
    for (uint32_t i = 0; line->operands_count == 0 && i < sim_preset_count (); i++) {
        const struct sim_preset *preset = sim_preset_get (i);
        printf ("%-24s %s\n", preset->name, preset->title);
    }
    if (rc == TI_EXIT_OK && fflush (stdout) != 0)
        return app_fail_write (NULL);
    return rc;
}
