/* SPDX-License-Identifier: MIT */
/* Gaps of Poisson, regular, modulated and recorded arrivals; see arrivals.h. */
#include "workload/arrivals.h"

#include "base/assert.h"
#include "engine/stream.h"
#include "tools/portable.h"
#include "workload/source.h"

/* Which number of a draw: the b of its stream. */
enum draw {
    DRAW_GAP,
    DRAW_PHASE,
    DRAW_FIRST_PHASE
};

/* Phases this many times shorter than the gaps average out: what is left is Poisson, and walking
 * through them would take as many steps for each request. */
#define PHASES_PER_GAP_MAX 1000

/* Longest time that is told apart: later ones count as this, some 292 years. */
#define AT_MAX (UINT64_MAX / 2)

/* Exponential with mean 1. */
static double draw_exponential (struct sim_arrivals_state *self, enum draw draw)
{
    uint64_t random = sim_draw (self->seed, SIM_STREAM_ARRIVALS, self->draws++, draw);
    return -ti_log (((double)random + 0.5) * 0x1p-64);
}

static void enter_phase (struct sim_arrivals_state *self, int phase)
{
    self->phase = phase;
    self->phase_left_ns = self->phase_mean_ns[phase] * draw_exponential (self, DRAW_PHASE);
}

static void init_phases (struct sim_arrivals_state *self)
{
    const struct sim_workload *w = self->workload;
    bool is_on_off = w->arrivals == SIM_ARRIVALS_ON_OFF;
    double busy = (double)(is_on_off ? w->on_ns : w->burst_ns);
    double calm = (double)(is_on_off ? w->off_ns : w->calm_ns);
    double factor = is_on_off ? 0 : 1 / w->burst_factor; /* calm rate / busy rate */
    if (!(busy > 0) || !(calm > 0) || (busy + calm) * PHASES_PER_GAP_MAX < self->gap_ns) {
        self->kind = SIM_ARRIVALS_POISSON;
        return;
    }
    self->phase_mean_ns[0] = busy;
    self->phase_mean_ns[1] = calm;
    self->phase_gap_ns[0] = self->gap_ns * (busy + factor * calm) / (busy + calm);
    self->phase_gap_ns[1] = factor > 0 ? self->phase_gap_ns[0] / factor : 0;
    uint64_t random = sim_draw (self->seed, SIM_STREAM_ARRIVALS, 0, DRAW_FIRST_PHASE);
    enter_phase (self, sim_is_below (random, busy / (busy + calm)) ? 0 : 1);
}

bool sim_arrivals_init (struct sim_arrivals_state *self,
                        const struct sim_scenario *scenario,
                        uint64_t seed)
{
    const struct sim_workload *w = &scenario->workload;
    double rate = sim_scenario_rate_per_s (scenario);
    *self = (struct sim_arrivals_state){
        .workload = w, .kind = w->arrivals, .seed = seed, .at = SIM_SOURCE_START_NS};
    if (!(rate > 0))
        return false;
    self->gap_ns = 1e9 / rate;
    if (w->arrivals == SIM_ARRIVALS_ON_OFF || w->arrivals == SIM_ARRIVALS_MMPP)
        init_phases (self);
    if (w->arrivals == SIM_ARRIVALS_TRACE) {
        double recorded = sim_table_rate_per_s (&w->times);
        if (!(recorded > 0))
            return false;
        self->period_ns = sim_table_period_ns (&w->times);
        self->scale = recorded / rate;
    }
    return true;
}

/* Exponential work is used up at the rate of each phase that passes. */
static double draw_modulated (struct sim_arrivals_state *self)
{
    double work = draw_exponential (self, DRAW_GAP), gap = 0;
    for (;;) {
        double mean = self->phase_gap_ns[self->phase];
        if (mean > 0 && work * mean <= self->phase_left_ns) {
            self->phase_left_ns -= work * mean;
            return gap + work * mean;
        }
        if (mean > 0)
            work -= self->phase_left_ns / mean;
        gap += self->phase_left_ns;
        enter_phase (self, !self->phase);
    }
}

/* The same over steps. */
static double draw_stepped (struct sim_arrivals_state *self)
{
    const struct sim_workload *w = self->workload;
    double work = draw_exponential (self, DRAW_GAP) * self->gap_ns, gap = self->carry;
    const double since = (double)(self->at - SIM_SOURCE_START_NS);
    while (self->step < w->steps_count) {
        const double left = (double)w->steps[self->step].from_ns - since - gap;
        const double factor = self->step > 0 ? w->steps[self->step - 1].factor : 1;
        if (left > 0 && work <= left * factor)
            break;
        if (left > 0) {
            work -= left * factor;
            gap += left;
        }
        self->step++;
    }
    const double factor = self->step > 0 ? w->steps[self->step - 1].factor : 1;
    return gap - self->carry + work / factor;
}

/* From the beginning and not from the last one, so that nothing adds up. */
static tied_time_t next_recorded (struct sim_arrivals_state *self)
{
    const struct sim_table *times = &self->workload->times;
    double since = (double)(times->values[self->next] - times->values[0]);
    double at = (self->laps * self->period_ns + since) * self->scale;
    if (++self->next == times->count) {
        self->next = 0;
        self->laps += 1;
    }
    return SIM_SOURCE_START_NS + (at < (double)AT_MAX ? (uint64_t)(at + 0.5) : AT_MAX);
}

tied_time_t sim_arrivals_next (struct sim_arrivals_state *self)
{
    double gap = 0;
    switch (self->kind) {
    case SIM_ARRIVALS_POISSON:
        gap = self->gap_ns * draw_exponential (self, DRAW_GAP);
        break;
    case SIM_ARRIVALS_DETERMINISTIC:
        gap = self->gap_ns;
        break;
    case SIM_ARRIVALS_ON_OFF:
    case SIM_ARRIVALS_MMPP:
        gap = draw_modulated (self);
        break;
    case SIM_ARRIVALS_STEPS:
        gap = draw_stepped (self);
        break;
    case SIM_ARRIVALS_TRACE:
        return next_recorded (self);
    case SIM_ARRIVALS_CLOSED:
        TI_UNREACHABLE ();
    }
    gap += self->carry;
    if (!(gap < (double)(AT_MAX - self->at)))
        return self->at = AT_MAX;
    uint64_t whole = (uint64_t)gap;
    self->carry = gap - (double)whole;
    return self->at += whole;
}
