/* SPDX-License-Identifier: MIT */
/*
 * Files of the world outside as tables of times or durations: recordings of tied-replica and
 * tied-client, public traces in CSV, pgbench logs, plain columns of numbers, and jHiccup logs (HDR
 * histogram log) as pauses. Every file is hostile: bounded, and refused with file:line.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "scenario/scenario.h"
#include "study/run.h"

/* Records of a file at most; a table of this many takes 160 MB. */
#define SIM_TRACE_ENTRIES_MAX UINT64_C (20000000)
/* Bytes of a line at most. */
#define SIM_TRACE_LINE_MAX 65536

enum sim_trace_use {
    SIM_TRACE_TIMES = 0, /* arrivals: since the first, not falling */
    SIM_TRACE_SERVICE,   /* service times; a column of end-to-end latency is refused */
    SIM_TRACE_PAUSES     /* start, length pairs; from a jHiccup log only */
};

struct sim_trace_options {
    const char *path;
    const char *column; /* of a CSV, by its heading; NULL: the one that the format implies */
    enum sim_trace_use use;
    double unit_ns; /* of one unit in the column; 0: as the heading's suffix or the format says */
};

/* @return 0 (out is the caller's to free), TIED_ERR_INVAL, TIED_ERR_SYSTEM: why has one line, as in
 * "trace.csv:12: ..." */
TIED_NODISCARD int sim_trace_read (const struct sim_trace_options *options,
                                   struct sim_table *out,
                                   char why[SIM_WHY_MAX]);
void sim_table_deinit (struct sim_table *table);

struct sim_numbers {
    double *values;
    uint64_t count;
};

/*
 * A column as it stands: numbers in the column's own unit, dates as seconds since the first one.
 * `column` NULL: the only one. Lines of a pgbench log have the columns of its manual page.
 */
TIED_NODISCARD int sim_trace_column (const char *path,
                                     const char *column,
                                     struct sim_numbers *out,
                                     char why[SIM_WHY_MAX]);
/*
 * How much slower than the median each record was: value / median of a duration, median / value
 * where more is faster (a heading with "per").
 */
TIED_NODISCARD int sim_trace_slowdown (const char *path,
                                       const char *column,
                                       struct sim_numbers *out,
                                       char why[SIM_WHY_MAX]);
void sim_numbers_deinit (struct sim_numbers *numbers);

#endif
