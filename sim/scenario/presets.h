/* SPDX-License-Identifier: MIT */
/* The table that sim/embed_presets.cmake makes of sim/presets/<name>.yaml. */
#ifndef SIM_PRESETS_H
#define SIM_PRESETS_H

#include "scenario/read.h"

extern const struct sim_preset sim_presets[];
extern const uint32_t sim_presets_count;

#endif
