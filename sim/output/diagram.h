/* SPDX-License-Identifier: MIT */
/* A call that was explained, for a terminal and as JSON (docs/json.md). */
#ifndef SIM_DIAGRAM_H
#define SIM_DIAGRAM_H

#include <stdio.h>

#include "study/explain.h"

/* What it is a call of. */
struct sim_diagram {
    const struct sim_scenario *scenario;
    const struct sim_policy *policy;
    uint32_t ppm;
    const struct sim_explanation *explanation;
};

/* Each writes all of it. @return 0, TIED_ERR_SYSTEM (see errno) */
TIED_NODISCARD int sim_diagram_write_text (const struct sim_diagram *self, FILE *file);
TIED_NODISCARD int sim_diagram_write_json (const struct sim_diagram *self, FILE *file);

#endif
