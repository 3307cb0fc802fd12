/* SPDX-License-Identifier: MIT */
/*
 * Files of the world outside as tables of times or durations: recordings of tied-replica and
 * tied-client, public traces in CSV, pgbench logs, plain columns of numbers, and jHiccup logs (HDR
 * histogram log V2) as pauses. Every file is hostile: bounded, and refused with file:line.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "scenario/scenario.h"
#include "study/run.h"

#define SIM_TRACE_ENTRIES_MAX UINT64_C (20000000)

enum sim_trace_use {
    SIM_TRACE_TIMES = 0, /* arrivals: since the first, not falling */
    SIM_TRACE_SERVICE,   /* service times; a column of end-to-end latency is refused */
    SIM_TRACE_PAUSES     /* start, length pairs */
};

struct sim_trace_options {
    const char *path;
    const char *column; /* of a CSV, by its heading; NULL: the one that the format implies */
    enum sim_trace_use use;
    double unit_ns; /* of one unit in the column; 0: as the format or the heading's suffix says */
};

/* @return 0 (out is the caller's to free), TIED_ERR_INVAL, TIED_ERR_SYSTEM: why has one line, as in
 * "trace.csv:12: ..." */
TIED_NODISCARD int sim_trace_read (const struct sim_trace_options *options,
                                   struct sim_table *out,
                                   char why[SIM_WHY_MAX]);
void sim_table_deinit (struct sim_table *table);

#endif
