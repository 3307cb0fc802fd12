/* SPDX-License-Identifier: MIT */
/* A column of a file, number by number: what trace.c finds and trace_use.c makes use of. */
#ifndef SIM_TRACE_COLUMN_H
#define SIM_TRACE_COLUMN_H

#include "workload/csv.h"

struct sim_trace_file {
    struct sim_csv csv;
    uint32_t column;
    char heading[64]; /* of the column; the file's name if it has no heading */
    uint32_t outcome; /* column of a recording that says what became of a line's copy or call */
    uint32_t fields_wanted;
    uint64_t count;
    int64_t first_date_ns;
    bool is_pgbench;
    bool is_date;      /* the numbers are seconds since the first */
    bool is_recording; /* of ours: lines stand in the order of their ends */
    bool has_first;    /* the line that is read already is data */
};

/* `column` NULL: the only one, or the first of `defaults` (ends with NULL) that is there. */
TIED_NODISCARD int sim_trace_open (struct sim_trace_file *self,
                                   const char *path,
                                   const char *column,
                                   const char *const *defaults,
                                   char why[SIM_WHY_MAX]);
/* @return 1; 0: end; TIED_ERR_*: why */
TIED_NODISCARD int sim_trace_next (struct sim_trace_file *self, double *out, char why[SIM_WHY_MAX]);
void sim_trace_close (struct sim_trace_file *self);

/* The name says that its values hold queueing and network too. */
bool sim_trace_is_end_to_end (const char *name);
/* The outcome of a line of a recording says that it ran to its end and its times are known. */
bool sim_trace_has_run (const char *outcome);
/* Of a heading with a unit as its suffix ("service_us"), 0: it has none. */
double sim_trace_unit_ns (const char *heading);

/* A growing array of 8-byte values; free () the values. */
struct sim_grow {
    void *values;
    uint64_t count, room;
};
/* Room for one more, which is counted. False: no memory. */
bool sim_grow (struct sim_grow *self);
/* @return TIED_ERR_SYSTEM */
int sim_trace_no_memory (const char *path, char why[SIM_WHY_MAX]);

#endif
