/* SPDX-License-Identifier: MIT */
/* Parameters of policies to run through, all combinations: "stagger=0s,1ms" and "samples=2,4". */
#ifndef SIM_GRID_H
#define SIM_GRID_H

#include "scenario/scenario.h"
#include "study/run.h"

#define SIM_GRID_VALUES_MAX   16
#define SIM_GRID_VARIANTS_MAX 256

enum sim_grid_key {
    SIM_GRID_STAGGER = 0, /* a duration, or auto: tied policies */
    SIM_GRID_SAMPLES,     /* replicas looked at: policies that choose by load */
    SIM_GRID_LOAD_AGE,    /* a duration: the same */
    SIM_GRID_HEDGE,       /* a duration, or p95: policies that hedge */
    SIM_GRID_DEPTH,       /* hedge depth: policies that send several copies */
    SIM_GRID_KEYS
};

struct sim_grid_value {
    uint64_t value; /* ns or a number; HEDGE with is_percentile: ppm */
    bool is_percentile;
    char text[16];
};

/* Axes without values are left alone. */
struct sim_grid {
    struct sim_grid_value values[SIM_GRID_KEYS][SIM_GRID_VALUES_MAX];
    uint32_t count[SIM_GRID_KEYS];
};

/* Adds "KEY=V1,V2,...". @return 0, TIED_ERR_INVAL */
TIED_NODISCARD int sim_grid_add (struct sim_grid *self, const char *text, char why[SIM_WHY_MAX]);
bool sim_grid_is_empty (const struct sim_grid *self);

/*
 * The variants of all policies of the scenario, in a fixed order: each policy with every
 * combination of the axes that apply to it; one to which none applies as it is, but for the first,
 * which is the baseline anyway. The name of a variant tells its values.
 *
 * @return how many; UINT32_MAX: more than SIM_GRID_VARIANTS_MAX
 */
uint32_t sim_grid_variants (const struct sim_grid *self,
                            const struct sim_scenario *scenario,
                            struct sim_policy out[SIM_GRID_VARIANTS_MAX]);

#endif
