/* SPDX-License-Identifier: MIT */
/* The rows as a report of lib/tools: JSON and the page are written from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/internal.h"

static bool add_row (struct ti_report *report, const struct sim_point *row)
{
    const struct sim_result *sum = &row->summary->sum;
    struct ti_report_policy *policy = ti_report_add_of (report, row->policy->name, sum->latency);
    if (!policy)
        return false;
    /* As the tables have them: means over replications. */
    for (uint32_t i = 0; i < SIM_PERCENTILES; i++) {
        double ns = row->summary->percentile_ns[i].value;
        if (!isfinite (ns))
            continue;
        policy->figures[policy->figures_count].ppm = sim_percentiles[i];
        policy->figures[policy->figures_count++].ns = (uint64_t)(ns + 0.5);
    }
    policy->load = row->study->load;
    policy->is_unstable = row->is_unstable;
    policy->calls = sum->calls;
    policy->copies = sum->copies;
    policy->executions = sum->executions;
    policy->duplicates = sum->duplicates;
    memcpy (policy->outcomes, sum->outcomes, sizeof policy->outcomes);
    memcpy (policy->not_sent, sum->not_sent, sizeof policy->not_sent);
    policy->cancels.sent = sum->cancels.sent;
    policy->cancels.effective = sum->cancels.effective;
    policy->cancels.early = sum->cancels.early;
    policy->cancels.late = sum->cancels.late;
    return true;
}

static void fill_head (struct sim_report *self)
{
    const struct sim_output *output = self->output;
    const struct sim_scenario *scenario = output->scenario;
    struct ti_report *report = &self->report;
    report->program = output->program;
    report->command = output->command;
    report->arrivals = sim_arrivals_words[scenario->workload.arrivals];
    /* One rate for several loads would be wrong for all but one. */
    report->rate =
        self->rows.loads == 1 ? sim_scenario_rate_per_s (output->studies[0].scenario) : NAN;
    if (scenario->workload.arrivals == SIM_ARRIVALS_CLOSED)
        report->outstanding = scenario->workload.users;
    report->replicas = scenario->replicas.count;
    report->workers = scenario->replicas.workers;
    if (self->rows.count > 0)
        report->duration_ns = self->rows.items[0].summary->sum.span_ns;
    report->seed = scenario->amount.seed;
    report->started_unix_s = output->started_unix_s;
    if (sim_output_sentence (output, &self->rows, self->sentence)[0])
        report->sentence = self->sentence;
    report->more = sim_json_more;
    report->more.context = self;
}

struct sim_report *sim_report_new (const struct sim_output *output)
{
    struct sim_report *self = calloc (1, sizeof *self);
    if (!self)
        return NULL;
    self->output = output;
    ti_report_init (&self->report);
    bool is_good = sim_points_make (output, &self->rows) == 0;
    for (uint32_t i = 0; is_good && i < self->rows.count; i++)
        is_good = add_row (&self->report, &self->rows.items[i]);
    if (!is_good) {
        sim_report_free (self);
        return NULL;
    }
    fill_head (self);
    return self;
}

void sim_report_free (struct sim_report *self)
{
    if (!self)
        return;
    ti_report_deinit (&self->report);
    free (self->rows.items);
    free (self);
}
