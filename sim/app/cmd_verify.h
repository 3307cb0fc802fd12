/* SPDX-License-Identifier: MIT */
/* `tied-sim verify`: theory against measured, as a table and as JSON. */
#ifndef SIM_CMD_VERIFY_H
#define SIM_CMD_VERIFY_H

#include <stdio.h>

#include "theory/verify.h"

struct sim_cmd_verify {
    bool full;
    uint64_t seed;         /* 0: that of the release */
    uint32_t jobs;         /* 0: 1 */
    uint32_t fault;        /* enum sim_fault */
    const char *only;      /* rows whose name contains it; NULL: all */
    double scale;          /* of the length of all rows; 0: 1 */
    const char *json_path; /* NULL: none */
    /* As sim_verify_options.progress; NULL: none. */
    void (*progress) (void *context, uint64_t done, uint64_t all, tied_duration_t elapsed);
    void *context;
};

/* Names of enum sim_fault in its order, as an option takes them; ends with NULL. */
extern const char *const sim_fault_names[];

/* @return TI_EXIT_OK; TI_EXIT_FAILED: something is out, or an error was printed to err;
 * TI_EXIT_USAGE: `only` leaves no row */
int sim_cmd_verify (const struct sim_cmd_verify *command, FILE *out, FILE *err);

#endif
