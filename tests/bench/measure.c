/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void print_help (const struct bench_arg *args)
{
    for (; args->name; args++)
        printf ("%-14s %s (default %g)\n", args->name, args->help, *args->value);
}

void bench_args (int argc, char **argv, const struct bench_arg *args)
{
    for (int i = 1; i < argc; i += 2) {
        const struct bench_arg *arg = args;
        char *end = NULL;

        if (strcmp (argv[i], "--help") == 0) {
            print_help (args);
            exit (0);
        }
        while (arg->name && strcmp (arg->name, argv[i]) != 0)
            arg++;
        if (!arg->name) {
            fprintf (stderr, "%s: unknown option '%s'\n", argv[0], argv[i]);
            exit (2);
        }
        if (i + 1 < argc)
            *arg->value = strtod (argv[i + 1], &end);
        if (!end || end == argv[i + 1] || *end != '\0') {
            fprintf (stderr, "%s: %s takes a number\n", argv[0], argv[i]);
            exit (2);
        }
    }
}

void bench_fail (const char *what)
{
    fprintf (stderr, "bench: %s\n", what);
    exit (1);
}

void bench_samples_init (struct bench_samples *self, size_t capacity)
{
    *self = (struct bench_samples){.capacity = capacity};
    self->ns = malloc (capacity * sizeof *self->ns);
    if (!self->ns)
        bench_fail ("no memory for samples");
    /* Touch the pages now, not while the clock runs. */
    memset (self->ns, 1, capacity * sizeof *self->ns);
}

void bench_samples_add (struct bench_samples *self, uint64_t ns)
{
    if (self->count < self->capacity)
        self->ns[self->count++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static int compare (const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;

    return (*x > *y) - (*x < *y);
}

double bench_samples_at (struct bench_samples *self, double p)
{
    size_t rank;

    if (self->count == 0)
        return 0;
    qsort (self->ns, self->count, sizeof *self->ns, compare);
    rank = (size_t)ceil (p * (double)self->count);
    return self->ns[rank > 0 ? rank - 1 : 0];
}

double bench_samples_mean (const struct bench_samples *self)
{
    double sum = 0;

    for (size_t i = 0; i < self->count; i++)
        sum += self->ns[i];
    return self->count > 0 ? sum / (double)self->count : 0;
}

void bench_samples_free (struct bench_samples *self)
{
    free (self->ns);
    *self = (struct bench_samples){0};
}

static double cpu_of (int who)
{
    struct rusage usage;

    if (getrusage (who, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double bench_cpu_self (void)
{
    return cpu_of (RUSAGE_SELF);
}

double bench_cpu_children (void)
{
    return cpu_of (RUSAGE_CHILDREN);
}

void bench_line_begin (const char *name)
{
    printf ("{\"name\": \"%s\"", name);
}

void bench_line_number (const char *key, double value)
{
    printf (", \"%s\": %.9g", key, value);
}

void bench_line_end (void)
{
    printf ("}\n");
    fflush (stdout);
}
