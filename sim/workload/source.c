/* SPDX-License-Identifier: MIT */
/* Requests, their ends and what is measured of them; see source.h. */
#include "workload/source.h"

#include <stdlib.h>

#include "base/assert.h"
#include "engine/stream.h"
#include "workload/arrivals.h"
#include "workload/backlog.h"
#include "workload/open.h"
#include "workload/users.h"

struct sim_source {
    const struct sim_scenario *scenario;
    struct sim_result *result;
    uint64_t seed;
    bool is_closed;
    uint32_t fan_out, needed;
    uint64_t measured_from, measured_to,
        last;                           /* requests: [from, to) are measured, [0, last) sent */
    uint64_t next;                      /* request */
    uint64_t counted;                   /* requests */
    tied_time_t next_at;                /* open loads; TIED_NEVER: no more */
    uint64_t measured_open;             /* measured requests that have or will have calls */
    struct sim_arrivals_state arrivals; /* open loads */
    struct sim_users users;             /* closed ones */
    struct sim_open open;
    struct sim_backlog backlog;
    /* Of measured requests. */
    double latency_sum_ns;
    uint64_t requests, calls;
    uint64_t outcomes[TIED_OUTCOME_COUNT];
};

static uint64_t share_of (uint64_t calls, double share)
{
    double amount = (double)calls * share + 0.5;
    return amount < 0x1p62 ? (uint64_t)amount : UINT64_C (1) << 62;
}

struct sim_source *
sim_source_new (const struct sim_scenario *scenario, uint64_t seed, struct sim_result *result)
{
    const struct sim_workload *w = &scenario->workload;
    const struct sim_amount *amount = &scenario->amount;
    struct sim_source *self = calloc (1, sizeof *self);
    if (!self)
        return NULL;
    *self = (struct sim_source){.scenario = scenario,
                                .result = result,
                                .seed = seed,
                                .is_closed = w->arrivals == SIM_ARRIVALS_CLOSED,
                                .fan_out = w->fan_out,
                                .needed = w->fan_out_needed ? w->fan_out_needed : w->fan_out,
                                .measured_from = share_of (amount->calls, amount->warm_up),
                                .measured_open = amount->calls};
    TI_ASSERT (self->fan_out >= 1 && self->needed <= self->fan_out && scenario->clients >= 1);
    self->measured_to = self->measured_from + amount->calls;
    self->last = self->measured_to + share_of (amount->calls, amount->cool_down);
    sim_backlog_init (&self->backlog, amount->calls);
    bool has_load = self->is_closed ? sim_users_init (&self->users, w, seed, SIM_SOURCE_START_NS)
                                    : sim_arrivals_init (&self->arrivals, scenario, seed);
    if (!has_load || !sim_open_init (&self->open)) {
        sim_source_free (self);
        return NULL;
    }
    self->next_at = self->is_closed ? TIED_NEVER : sim_arrivals_next (&self->arrivals);
    return self;
}

void sim_source_free (struct sim_source *self)
{
    if (!self)
        return;
    sim_users_deinit (&self->users);
    sim_open_deinit (&self->open);
    free (self);
}

tied_time_t sim_source_time (const struct sim_source *self)
{
    if (self->next == self->last)
        return TIED_NEVER;
    return self->is_closed ? sim_users_time (&self->users) : self->next_at;
}

static bool is_measured (const struct sim_source *self, uint64_t request)
{
    return request >= self->measured_from && request < self->measured_to;
}

bool sim_source_is_measured (const struct sim_source *self, uint64_t call)
{
    return is_measured (self, call / self->fan_out);
}

static uint32_t choose_client (const struct sim_source *self, uint64_t request)
{
    uint64_t random = sim_draw (self->seed, SIM_STREAM_CLIENT, request, 0);
    return (uint32_t)(((random >> 32) * self->scenario->clients) >> 32);
}

static void draw (struct sim_source *self, tied_time_t at, struct sim_request *out)
{
    uint64_t request = self->next++;
    *out = (struct sim_request){
        .at = at, .first_call = request * self->fan_out, .client = choose_client (self, request)};
}

static void count (struct sim_source *self, const struct sim_request *request, uint32_t user)
{
    uint64_t number = request->first_call / self->fan_out;
    struct sim_open_request *entry = sim_open_add (&self->open, number);
    entry->at = request->at;
    entry->user = user;
    self->counted++;
    sim_backlog_arrive (&self->backlog, request->at, self->fan_out, is_measured (self, number));
}

void sim_source_draw (struct sim_source *self, struct sim_request *out)
{
    TI_ASSERT (!self->is_closed && sim_source_time (self) != TIED_NEVER);
    draw (self, self->next_at, out);
    self->next_at = sim_arrivals_next (&self->arrivals);
}

void sim_source_count (struct sim_source *self, const struct sim_request *request)
{
    count (self, request, 0);
}

void sim_source_take (struct sim_source *self, struct sim_request *out)
{
    if (self->is_closed) {
        TI_ASSERT (sim_source_time (self) != TIED_NEVER);
        struct sim_user user = sim_users_take (&self->users);
        draw (self, user.at, out);
        count (self, out, user.user);
    } else {
        sim_source_draw (self, out);
        sim_source_count (self, out);
    }
}

static bool is_answer (uint32_t outcome)
{
    return outcome == TIED_OUTCOME_OK || outcome == TIED_OUTCOME_APP_ERROR;
}

/* Enough answers, or too many calls without one. */
static bool has_ended (const struct sim_source *self, const struct sim_open_request *entry)
{
    uint32_t failed = entry->ended - entry->answered;
    return entry->answered >= self->needed || failed > self->fan_out - self->needed;
}

static void end_request (struct sim_source *self,
                         struct sim_open_request *entry,
                         bool measured,
                         tied_time_t now)
{
    entry->has_ended = true;
    if (self->is_closed)
        sim_users_think (&self->users, entry->user, now);
    if (!measured)
        return;
    self->requests++;
    if (entry->answered < self->needed)
        return;
    tied_duration_t latency = now - entry->at;
    ti_hist_record (self->result->latency, latency);
    self->latency_sum_ns += (double)latency;
}

void sim_source_ended (struct sim_source *self, uint64_t call, uint32_t outcome, tied_time_t now)
{
    uint64_t request = call / self->fan_out;
    bool measured = is_measured (self, request);
    struct sim_open_request *entry = sim_open_find (&self->open, request);
    TI_ASSERT (entry && outcome < TIED_OUTCOME_COUNT);
    sim_backlog_end (&self->backlog, now);
    entry->ended++;
    entry->answered += is_answer (outcome);
    if (measured) {
        self->calls++;
        self->outcomes[outcome]++;
    }
    if (!entry->has_ended && has_ended (self, entry))
        end_request (self, entry, measured, now);
    if (entry->ended == self->fan_out) {
        sim_open_remove (&self->open, entry);
        self->measured_open -= measured;
    }
}

bool sim_source_is_done (const struct sim_source *self)
{
    return self->measured_open == 0;
}

void sim_source_finish (struct sim_source *self, tied_time_t now)
{
    struct sim_result *result = self->result;
    const struct sim_backlog *backlog = &self->backlog;
    uint64_t arrived = backlog->arrived;
    TI_ASSERT (now >= backlog->changed);
    result->latency_sum_ns = self->latency_sum_ns;
    result->requests = self->requests;
    result->calls = self->calls;
    for (int outcome = 0; outcome < TIED_OUTCOME_COUNT; outcome++)
        result->outcomes[outcome] = self->outcomes[outcome];
    result->all_requests = self->counted;
    result->all_calls = self->counted * self->fan_out;
    result->cut_requests = self->counted - arrived;
    result->span_ns = arrived ? backlog->last - backlog->first : 0;
    result->backlog_first = sim_backlog_first (backlog);
    result->backlog_last = sim_backlog_last (backlog);
    result->is_unstable = !self->is_closed && sim_backlog_grows (backlog);
}
