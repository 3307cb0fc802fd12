/* SPDX-License-Identifier: MIT */
/*
 * Studies of one scenario at several loads, or of variants of its policies over a grid of
 * parameters. All use the same seeds, so that neighbours differ by what was changed alone.
 */
#ifndef SIM_SWEEP_H
#define SIM_SWEEP_H

#include "study/grid.h"
#include "study/study.h"

/* Of one sweep: SIM_SWEEP_MAX loads, or a grid at some of them. */
#define SIM_STUDIES_MAX 64
/* Of one sweep: policies at each load, all loads together. */
#define SIM_POINTS_MAX 512

struct sim_sweep_studies {
    struct sim_study *studies;
    struct sim_scenario *scenarios; /* of each study; they share what the given one owns */
    uint32_t count;
};

struct sim_sweep_options {
    const double *loads; /* count 0: the scenario's own load */
    uint32_t loads_count;
    const struct sim_grid *grid; /* NULL or without axes: none */
    /* Before each study: which one of how many; may be NULL. */
    void (*begin) (void *context, uint32_t index, uint32_t count);
    void *context;
};

/*
 * Without a grid one study for each load. With a grid the variants of all policies come in studies
 * of SIM_POLICIES_MAX, each of which has the scenario's first policy unchanged as its first.
 *
 * @return as sim_study_run (). On success deinit it; the scenario must live as long.
 */
TIED_NODISCARD int sim_sweep_run (const struct sim_scenario *scenario,
                                  const struct sim_sweep_options *sweep,
                                  const struct sim_study_options *options,
                                  struct sim_sweep_studies *out,
                                  char why[SIM_WHY_MAX]);
void sim_sweep_deinit (struct sim_sweep_studies *self);

/* The load to offer from now on. @return 0, TIED_ERR_INVAL (arrivals that have no load) */
TIED_NODISCARD int
sim_scenario_set_load (struct sim_scenario *scenario, double load, char why[SIM_WHY_MAX]);

#endif
