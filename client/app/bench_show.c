/* SPDX-License-Identifier: MIT */
/* How far a bench is: one line that is written over on a terminal. */
#include <stdio.h>
#include <unistd.h>

#include "bench.h"

#define SHOW_EVERY TIED_MS (500)

double bench_done (const struct bench *self)
{
    return self->total_ns ? (double)self->done_ns / (double)self->total_ns : 0;
}

void bench_show (struct bench *self, const struct bench_policy *policy, tied_time_t now)
{
    const struct ti_report_policy *result = policy->result;
    bool is_terminal = isatty (STDERR_FILENO) != 0;

    if (is_terminal && now - self->shown_at < SHOW_EVERY)
        return;
    self->shown_at = now;
    fprintf (stderr, "%s%3.0f %%  %-16s %llu calls, ", is_terminal ? "\r" : "",
             100 * bench_done (self), policy->policy.name, (unsigned long long)result->calls);
    if (ti_report_has_latency (result))
        fprintf (stderr, "p50 %.2f ms, p99 %.2f ms",
                 (double)ti_report_percentile (result, TI_HIST_P50) / 1e6,
                 (double)ti_report_percentile (result, TI_HIST_P99) / 1e6);
    else
        fputs ("none answered", stderr);
    fputs (is_terminal ? "\033[K" : "\n", stderr);
    fflush (stderr);
}

void bench_show_end (struct bench *self)
{
    (void)self;
    if (isatty (STDERR_FILENO))
        fputs ("\r\033[K", stderr);
}
