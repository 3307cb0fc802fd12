/* SPDX-License-Identifier: MIT */
/* What tied-client bench has measured: printed, written to files, and judged. */
#include <stdio.h>

#include "bench.h"
#include "tools/report_text.h"

/* Offered work over the capacity of all workers, from what services took on average. */
static void fill_loads (struct bench *self)
{
    uint64_t workers = 0;
    uint32_t known = 0;

    for (uint32_t i = 0; i < self->app->replicas.count; i++) {
        workers += replica_stats_get (&self->after[i], "workers");
        known += self->after[i].is_known;
    }
    /* Capacity is only known when every replica has answered at the end. */
    self->report.workers = known ? (uint32_t)(workers / known) : 0;
    if (known < self->app->replicas.count)
        return;
    for (uint32_t i = 0; i < self->policies_count; i++) {
        struct bench_policy *policy = &self->policies[i];
        struct ti_report_policy *result = policy->result;

        if (workers == 0 || policy->service_ns == 0 || result->executions == 0 ||
            policy->measured_ns == 0)
            continue;
        result->load = (double)policy->service_ns / (double)result->executions *
                       (double)result->calls / (double)policy->measured_ns / (double)workers;
    }
}

static int save (const struct bench *self,
                 int (*write) (const struct ti_report *report, FILE *file),
                 const char *path)
{
    if (!path || ti_report_save (&self->report, write, path) == 0)
        return TI_EXIT_OK;
    return app_fail_write (path);
}

int bench_report (struct bench *self)
{
    char sentence[TI_REPORT_SENTENCE_MAX];
    int rc;

    fill_loads (self);
    if (ti_interrupted ()) {
        (void)snprintf (self->remark, sizeof self->remark,
                        "interrupted after %.0f %% of the run: policies may have had unequal turns",
                        100 * bench_done (self));
        self->report.remark = self->remark;
    }
    if (ti_report_write_table (&self->report, stdout) != 0)
        return app_fail_write (NULL);
    printf ("\n%s\n", ti_report_sentence (&self->report, sentence));
    fflush (stdout);
    rc = save (self, ti_report_write_json, self->app->json);
    if (rc == TI_EXIT_OK)
        rc = save (self, ti_report_write_html, self->app->report);
    return rc;
}

int bench_check_answers (const struct bench *self)
{
    uint64_t outcomes[TIED_OUTCOME_COUNT] = {0}, calls = 0;
    char quoted[TI_QUOTE_MAX], reasons[TI_REPORT_LINE_MAX];

    for (uint32_t i = 0; i < self->policies_count; i++) {
        calls += self->policies[i].result->calls;
        for (size_t n = 0; n < TIED_OUTCOME_COUNT; n++)
            outcomes[n] += self->policies[i].result->outcomes[n];
    }
    if (calls == 0 && ti_interrupted ())
        return app_fail ("interrupted before a call was measured");
    if (calls == 0 || outcomes[TIED_OUTCOME_OK] + outcomes[TIED_OUTCOME_APP_ERROR] > 0)
        return TI_EXIT_OK;
    return app_fail ("no call of %s was answered: %s", ti_quote (self->app->method, quoted),
                     ti_report_not_answered (outcomes, reasons));
}
