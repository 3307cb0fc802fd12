/* SPDX-License-Identifier: MIT */
/*
 * How many calls are open as time passes, over the measured span: means of the first and last fifth
 * of it, and whether the number grows without end.
 *
 * The rule. The number of open calls is read at the arrival of every hundredth of the measured
 * requests: b[0] .. b[100]. In a system that keeps up the steps b[i + 1] - b[i] undo each other; in
 * one that does not, they add up. With z = (b[100] - b[0]) / sqrt (sum of squared steps) the system
 * is unstable when z > 4.
 *
 * z needs no knowledge of the service or the arrivals, since their variability is in the steps.
 * Near saturation, and before the queue has settled, b is a random walk and z a self-normalised
 * sum: above 4 once in some 10 000 runs. One server with exponential service at load r > 1 is seen
 * nearly always from 2 (7 / (r - 1))^2 requests on: 400 at 1.5, 9 800 at 1.1, 245 000 at 1.02; half
 * of the time from 0.4 of that on. Runs of fewer than 200 requests are not judged. A burst of
 * arrivals that fills the last sixth of a run is growth as well: a run must be long against the
 * phases of its load; 20 of them are enough.
 */
#ifndef SIM_BACKLOG_H
#define SIM_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include <tied/types.h>

struct sim_backlog {
    uint64_t requests;       /* measured, in all */
    uint64_t arrived;        /* of those */
    uint64_t open;           /* calls, measured or not */
    tied_time_t first, last; /* arrivals of the first and last measured request so far */
    tied_time_t changed;     /* time of the last change */
    double area;             /* calls x ns since `first` */
    /* Of the two fifths. */
    double first_area, last_area;
    tied_time_t first_to, last_from;
    /* The rule. */
    uint64_t segment; /* requests in a step */
    uint64_t begin;   /* b[0] */
    uint64_t previous;
    double squares;
};

void sim_backlog_init (struct sim_backlog *self, uint64_t requests);
/* A request of so many calls arrives. */
void sim_backlog_arrive (struct sim_backlog *self, tied_time_t now, uint32_t calls, bool measured);
void sim_backlog_end (struct sim_backlog *self, tied_time_t now);
/* Mean of open calls over the arrivals of the first or the last fifth of the measured requests. */
uint64_t sim_backlog_first (const struct sim_backlog *self);
uint64_t sim_backlog_last (const struct sim_backlog *self);
bool sim_backlog_grows (const struct sim_backlog *self);

#endif
