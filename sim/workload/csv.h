/* SPDX-License-Identifier: MIT */
/*
 * Lines of a text file cut into fields, for trace.c: bounded, no quoting beyond whole fields in
 * double quotes, commas or (without a comma in the line) blanks between fields.
 */
#ifndef SIM_CSV_H
#define SIM_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "study/run.h"

#define SIM_CSV_FIELDS_MAX 64

struct sim_csv {
    const char *path; /* borrowed */
    FILE *file;
    uint64_t line; /* number of the one that was read last, from 1 */
    char *text;
    uint32_t fields_count;
    char *fields[SIM_CSV_FIELDS_MAX]; /* NUL-terminated, valid until the next line */
};

TIED_NODISCARD int sim_csv_open (struct sim_csv *self, const char *path, char why[SIM_WHY_MAX]);
void sim_csv_close (struct sim_csv *self);
/* The next line that is not empty. @return 1; 0: end; TIED_ERR_INVAL: too long, too many fields, a
 * NUL byte; TIED_ERR_SYSTEM */
TIED_NODISCARD int sim_csv_next (struct sim_csv *self, char why[SIM_WHY_MAX]);
/* "PATH:LINE: ..." into why. @return TIED_ERR_INVAL */
int sim_csv_refuse (const struct sim_csv *self, char why[SIM_WHY_MAX], const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
/* "1.5", "-3", "1e-05", finite; false if it is anything else. */
bool sim_csv_number (const char *text, double *out);
/* "2023-11-16 18:17:03.9799600": seconds since 1970, as nanoseconds. */
bool sim_csv_date (const char *text, int64_t *out_ns);

#endif
