/* SPDX-License-Identifier: MIT */
/*
 * Recordings as a load to replay: when each call came and how long it was served. They are what
 * `tied-replica --record` and `tied-client bench --record` write, of one program or of several
 * together, or any CSV with a time and a service time in each line. Every file is hostile: bounded,
 * and refused with file:line.
 */
#ifndef SIM_RECORDING_H
#define SIM_RECORDING_H

#include "scenario/scenario.h"
#include "study/run.h"

#define SIM_RECORDING_FILES_MAX    64
#define SIM_RECORDING_POLICIES_MAX 16

/* Calls in the order of their arrival. A call with several copies came with the first of them, and
 * its service time is that of the first one that ran to its end. */
struct sim_recording {
    struct sim_table times;    /* since the first call, not falling */
    struct sim_table service;  /* of each call */
    struct sim_table latency;  /* of the calls, sorted; count 0: not recorded */
    uint64_t lines;            /* of the policy, without headings */
    uint64_t not_run;          /* calls that no line says to have run: left out */
    uint32_t replicas;         /* names in the column replica; 0: there is none */
    char policy[SIM_NAME_MAX]; /* whose lines these are: single, or the first; "": no such column */
    uint32_t policies;         /* in the column policy */
    tied_duration_t cut_ns;    /* time in which others had their turn, taken out */
};

/* @return 0 (deinit it), TIED_ERR_INVAL, TIED_ERR_SYSTEM: why has one line */
TIED_NODISCARD int sim_recording_read (const char *const *paths,
                                       uint32_t count,
                                       struct sim_recording *out,
                                       char why[SIM_WHY_MAX]);
void sim_recording_deinit (struct sim_recording *self);

#endif
