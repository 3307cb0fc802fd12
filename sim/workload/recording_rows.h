/* SPDX-License-Identifier: MIT */
/* Lines of recordings between recording.c, which reads them, and recording_calls.c. */
#ifndef SIM_RECORDING_ROWS_H
#define SIM_RECORDING_ROWS_H

#include "workload/recording.h"

#define SIM_RECORDING_NAMES_MAX 4096

struct sim_recording_names {
    char items[SIM_RECORDING_NAMES_MAX][SIM_NAME_MAX];
    uint32_t count;
};

struct sim_recording_row {
    uint64_t at; /* ns of the recording's own clock */
    uint64_t call;
    uint64_t service_ns, latency_ns;
    uint32_t policy;
    bool has_run, has_latency;
};

struct sim_recording_rows {
    struct sim_recording_row *items;
    uint64_t count, room;
    struct sim_recording_names policies, replicas;
};

/* false: no memory */
bool sim_recording_add (struct sim_recording_rows *self, const struct sim_recording_row *row);
/* Sorts the rows. @return as sim_recording_read () */
TIED_NODISCARD int sim_recording_join (struct sim_recording_rows *rows,
                                       const char *path,
                                       struct sim_recording *out,
                                       char why[SIM_WHY_MAX]);

#endif
