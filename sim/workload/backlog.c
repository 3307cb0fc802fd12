/* SPDX-License-Identifier: MIT */
/* Open calls over time and the rule for a system that cannot keep up; see backlog.h. */
#include "workload/backlog.h"

#include "base/assert.h"

#define SEGMENTS     100
#define REQUESTS_MIN 200
#define Z_MAX        4.0

void sim_backlog_init (struct sim_backlog *self, uint64_t requests)
{
    *self = (struct sim_backlog){.requests = requests,
                                 .segment = requests ? (requests - 1) / SEGMENTS : 0};
}

static void move_to (struct sim_backlog *self, tied_time_t now)
{
    TI_ASSERT (now >= self->changed);
    /* Past the last measured arrival the area is of no more use, and does no harm. */
    if (self->arrived)
        self->area += (double)self->open * (double)(now - self->changed);
    self->changed = now;
}

static void count_measured (struct sim_backlog *self, tied_time_t now)
{
    uint64_t index = self->arrived++;
    if (index == 0) {
        self->first = now;
        self->begin = self->previous = self->open;
    } else if (self->segment && index % self->segment == 0) {
        double step = (double)self->open - (double)self->previous;
        self->squares += step * step;
        self->previous = self->open;
    }
    if (index == self->requests / 5) {
        self->first_area = self->area;
        self->first_to = now;
    }
    if (index == self->requests - 1 - self->requests / 5) {
        self->last_area = -self->area;
        self->last_from = now;
    }
    self->last = now;
    if (self->arrived == self->requests)
        self->last_area += self->area;
}

void sim_backlog_arrive (struct sim_backlog *self, tied_time_t now, uint32_t calls, bool measured)
{
    move_to (self, now);
    if (measured)
        count_measured (self, now);
    self->open += calls;
}

void sim_backlog_end (struct sim_backlog *self, tied_time_t now)
{
    move_to (self, now);
    TI_ASSERT (self->open > 0);
    self->open--;
}

static uint64_t mean (double area, tied_time_t from, tied_time_t to)
{
    return to > from ? (uint64_t)(area / (double)(to - from) + 0.5) : 0;
}

uint64_t sim_backlog_first (const struct sim_backlog *self)
{
    return mean (self->first_area, self->first, self->first_to);
}

uint64_t sim_backlog_last (const struct sim_backlog *self)
{
    bool is_whole = self->arrived == self->requests;
    return is_whole ? mean (self->last_area, self->last_from, self->last) : 0;
}

bool sim_backlog_grows (const struct sim_backlog *self)
{
    if (self->arrived < REQUESTS_MIN || self->previous <= self->begin)
        return false;
    double growth = (double)(self->previous - self->begin);
    return growth * growth > Z_MAX * Z_MAX * self->squares;
}
