/* SPDX-License-Identifier: MIT */
/* Looking up presets. */
#include "presets.h"

#include <string.h>

#include "base/assert.h"
#include "tools/cli.h"

#define NAMES_MAX 64

uint32_t sim_preset_count (void)
{
    return sim_presets_count;
}

const struct sim_preset *sim_preset_get (uint32_t index)
{
    TI_ASSERT (index < sim_presets_count);
    return &sim_presets[index];
}

const struct sim_preset *sim_preset_find (const char *name)
{
    for (uint32_t i = 0; i < sim_presets_count; i++)
        if (strcmp (sim_presets[i].name, name) == 0)
            return &sim_presets[i];
    return NULL;
}

const char *sim_preset_nearest (const char *name)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    for (uint32_t i = 0; i < sim_presets_count && i < NAMES_MAX; i++)
        names[i] = sim_presets[i].name;
    return ti_nearest (name, names);
}
