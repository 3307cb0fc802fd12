/* SPDX-License-Identifier: MIT */
/*
 * What studies found, written down: a text table, JSON (docs/json.md), CSV, and one HTML page. All
 * are made of the same rows, one for each policy at each load, and of lib/tools/report.
 */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include <stdio.h>

#include "study/replay.h"
#include "study/study.h"
#include "tools/report.h"

/* The capacity of one policy at a goal. */
struct sim_capacity_found {
    const char *policy;
    uint32_t ppm;
    tied_duration_t goal_ns;
    struct sim_capacity capacity;
};

struct sim_output {
    const char *program;     /* "tied-sim run" */
    const char *command;     /* the whole command line; may be NULL */
    uint64_t started_unix_s; /* 0: not known */
    tied_duration_t wall_ns;
    const struct sim_scenario *scenario;
    /* Loads in the order given. Several of the same load are parts of a grid: the first policy of
     * all but the first of them is the baseline again, and is not shown. */
    const struct sim_study *studies;
    uint32_t studies_count;
    bool is_grid;
    const struct sim_capacity_found *found; /* of the command capacity */
    uint32_t found_count;
    const struct sim_replay *replay; /* of the command replay; else NULL */
};

/* A policy at a load. */
struct sim_point {
    const struct sim_study *study;
    uint32_t index; /* of the policy in its study */
    const struct sim_policy *policy;
    const struct sim_policy_summary *summary;
    bool is_unstable;
    /* Another row of this load has no higher p99 and no more executions (copies) per call, and less
     * of one of the two. Unstable ones are always beaten. */
    bool is_beaten, is_beaten_in_copies;
};

/* Rows of one load stand together. */
struct sim_points {
    struct sim_point *items;
    uint32_t count;
    uint32_t loads;
    uint32_t first[SIM_SWEEP_MAX + 1]; /* row of each load, and the end */
};

/* @return 0, TIED_ERR_SYSTEM (no memory, or more rows than a report holds). free () items. */
TIED_NODISCARD int sim_points_make (const struct sim_output *output, struct sim_points *out);

#define SIM_SENTENCE_MAX TI_REPORT_SENTENCE_MAX
/* What was found, for a person. @return buffer */
const char *sim_output_sentence (const struct sim_output *output,
                                 const struct sim_points *rows,
                                 char buffer[SIM_SENTENCE_MAX]);
#define SIM_SETTINGS_MAX 512
/* What was simulated, in one line. @return buffer */
const char *sim_output_settings (const struct sim_output *output, char buffer[SIM_SETTINGS_MAX]);
/* Remarks on how far the figures carry, one at a time: *cursor starts at 0. @return false: no more
 */
bool sim_output_next_note (const struct sim_output *output,
                           const struct sim_points *rows,
                           uint32_t *cursor,
                           char buffer[SIM_SETTINGS_MAX]);

/* Each writes all of it. @return 0, TIED_ERR_SYSTEM (no memory, or a write failed; see errno) */
TIED_NODISCARD int sim_output_write_text (const struct sim_output *output, FILE *file);
TIED_NODISCARD int sim_output_write_json (const struct sim_output *output, FILE *file);
TIED_NODISCARD int sim_output_write_csv (const struct sim_output *output, FILE *file);
TIED_NODISCARD int sim_output_write_html (const struct sim_output *output, FILE *file);

#endif
