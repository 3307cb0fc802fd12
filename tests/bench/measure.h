/* SPDX-License-Identifier: MIT */
/*
 * What the benchmark programs share: numeric options, samples and their percentiles, one line of
 * JSON per measurement. Comparing runs is the business of scripts/bench, not of the programs.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>

struct bench_arg {
    const char *name; /* "--seconds"; NULL ends the list */
    double *value;    /* holds the default */
    const char *help;
};

/* Options are `--name NUMBER`. Exits with 2 and one line on anything else, with 0 after --help. */
void bench_args (int argc, char **argv, const struct bench_arg *args);

/* Print a message and exit with 1. */
_Noreturn void bench_fail (const char *what);

struct bench_samples {
    uint32_t *ns; /* capped at 4.29 s */
    size_t count;
    size_t capacity; /* what does not fit is not kept */
};

void bench_samples_init (struct bench_samples *self, size_t capacity);
void bench_samples_add (struct bench_samples *self, uint64_t ns);
/* Nearest rank, p in (0, 1]; 0 without samples. Sorts. */
double bench_samples_at (struct bench_samples *self, double p);
double bench_samples_mean (const struct bench_samples *self);
void bench_samples_free (struct bench_samples *self);

/* Processor time so far, in microseconds: of this process, and of children that were waited for. It
   tells what a call costs when the machine is too busy for rates. */
double bench_cpu_self (void);
double bench_cpu_children (void);

/* {"name": "...", "key": number, ...} on one line. */
void bench_line_begin (const char *name);
void bench_line_number (const char *key, double value);
void bench_line_end (void);

#endif
