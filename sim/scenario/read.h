/* SPDX-License-Identifier: MIT */
/*
 * Scenarios from YAML (JSON is YAML): files, texts, and the presets that the program carries. What
 * may stand in them is the table of scenario_schema.c and nothing else; docs/scenario.md is printed
 * from it. The text is hostile: bounded, and refused with one line, "FILE:LINE:COLUMN: ...".
 */
#ifndef SIM_SCENARIO_READ_H
#define SIM_SCENARIO_READ_H

#include <stddef.h>
#include <stdio.h>

#include "scenario/scenario.h"
#include "study/run.h"

#define SIM_SCENARIO_BYTES_MAX ((size_t)1 << 20)
/* A scenario, what it extends, what that extends... */
#define SIM_EXTENDS_MAX 8

/*
 * Each returns 0 (*out is filled, deinit it), TIED_ERR_INVAL or TIED_ERR_NOMEM (*out is
 * unchanged, `why` has one line). Files that a scenario names are relative to its own file.
 */
TIED_NODISCARD int
sim_scenario_read_file (const char *path, struct sim_scenario *out, char why[SIM_WHY_MAX]);
/* `name` stands in messages, and its folder is where the text's files are looked for. */
TIED_NODISCARD int sim_scenario_read_text (const char *name,
                                           const char *text,
                                           size_t size,
                                           struct sim_scenario *out,
                                           char why[SIM_WHY_MAX]);
/* A preset by its name, else a file. */
TIED_NODISCARD int
sim_scenario_load (const char *preset_or_path, struct sim_scenario *out, char why[SIM_WHY_MAX]);

struct sim_preset {
    const char *name;
    const char *title; /* one line */
    const char *text;  /* NUL-terminated YAML */
    size_t size;       /* without the NUL */
};

/* In the order of their names. */
uint32_t sim_preset_count (void);
const struct sim_preset *sim_preset_get (uint32_t index);
/* NULL: no such preset. */
const struct sim_preset *sim_preset_find (const char *name);
/* The preset that `name` was probably meant to be, NULL: none is near. */
const char *sim_preset_nearest (const char *name);

/* The reference page docs/scenario.md. @return 0, TIED_ERR_SYSTEM: no memory */
TIED_NODISCARD int sim_schema_print_markdown (FILE *file);

#endif
