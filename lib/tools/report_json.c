/* SPDX-License-Identifier: MIT */
/* The report as JSON: the shape that docs/json.md describes. Change both or neither. */
#include "report.h"

#include "json.h"

#include <tied/error.h>
#include <tied/types.h>

static void write_latency (struct ti_json *json, const struct ti_report_policy *policy)
{
    const struct ti_hist *latency = policy->latency;
    const struct {
        const char *name;
        uint64_t ns;
    } figures[] = {{"mean", ti_hist_mean (latency)},
                   {"p50", ti_report_percentile (policy, TI_HIST_P50)},
                   {"p90", ti_report_percentile (policy, TI_HIST_P90)},
                   {"p95", ti_report_percentile (policy, TI_HIST_P95)},
                   {"p99", ti_report_percentile (policy, TI_HIST_P99)},
                   {"p99_9", ti_report_percentile (policy, TI_HIST_P99_9)},
                   {"max", ti_report_percentile (policy, TI_HIST_ALL)},
                   {"min", latency->min},
                   {"p99_99", ti_report_percentile (policy, TI_HIST_P99_99)}};
    ti_json_object (json, "latency_ms");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (policy->is_unstable)
            ti_json_null (json, figures[i].name);
        else
            ti_json_ms (json, figures[i].name, figures[i].ns);
    ti_json_u64 (json, "count", latency->total);
    ti_json_u64 (json, "clamped", latency->below + latency->above);
    ti_json_end (json);
}

static void write_distribution (struct ti_json *json, const struct ti_report_policy *policy)
{
    struct ti_report_point points[TI_REPORT_POINTS_MAX];
    uint32_t count = policy->is_unstable ? 0 : ti_report_distribution (policy->latency, points);
    ti_json_inline_array (json, "distribution");
    for (uint32_t i = 0; i < count; i++) {
        ti_json_array (json, NULL);
        ti_json_real (json, NULL, points[i].share);
        ti_json_ms (json, NULL, points[i].ns);
        ti_json_end (json);
    }
    ti_json_end (json);
}

static void write_policy (struct ti_json *json, const struct ti_report *self, uint32_t index)
{
    const struct ti_report_policy *policy = &self->policies[index];
    const struct ti_report_more *more = &self->more;
    ti_json_object (json, NULL);
    ti_json_string (json, "policy", policy->policy);
    if (policy->load >= 0)
        ti_json_real (json, "load", policy->load);
    else
        ti_json_null (json, "load");
    ti_json_u64 (json, "calls", policy->calls);
    write_latency (json, policy);
    ti_json_real (json, "copies_per_call", ti_report_per_call (policy, policy->copies));
    ti_json_real (json, "executions_per_call", ti_report_per_call (policy, policy->executions));
    ti_json_u64 (json, "duplicates", policy->duplicates);
    ti_json_object (json, "outcomes");
    for (int i = 0; i < TIED_OUTCOME_COUNT; i++)
        ti_json_u64 (json, tied_outcome_name (i), policy->outcomes[i]);
    ti_json_end (json);
    ti_json_object (json, "cancels");
    ti_json_u64 (json, "sent", policy->cancels.sent);
    ti_json_u64 (json, "effective", policy->cancels.effective);
    ti_json_u64 (json, "early", policy->cancels.early);
    ti_json_u64 (json, "late", policy->cancels.late);
    if (more->cancels)
        more->cancels (more->context, json, index);
    ti_json_end (json);
    ti_json_object (json, "not_sent");
    for (int i = TIED_NOT_SENT_NONE + 1; i < TIED_NOT_SENT_COUNT; i++)
        ti_json_u64 (json, tied_not_sent_name (i), policy->not_sent[i]);
    ti_json_end (json);
    ti_json_u64 (json, "copies", policy->copies);
    ti_json_u64 (json, "executions", policy->executions);
    ti_json_ms (json, "lateness_max_ms", policy->lateness_max_ns);
    write_distribution (json, policy);
    if (more->policy)
        more->policy (more->context, json, index);
    ti_json_end (json);
}

int ti_report_write_json (const struct ti_report *self, FILE *file)
{
    char sentence[TI_REPORT_SENTENCE_MAX], version[48], seed[24];
    int major, minor, patch;
    struct ti_json json;
    tied_version (&major, &minor, &patch);
    snprintf (version, sizeof version, "%d.%d.%d", major, minor, patch);
    /* A string: many readers keep numbers as doubles, and a seed uses all 64 bits. */
    snprintf (seed, sizeof seed, "%llu", (unsigned long long)self->seed);
    ti_json_init (&json, file, 2);
    ti_json_object (&json, NULL);
    ti_json_u64 (&json, "schema", TI_REPORT_SCHEMA);
    ti_json_string (&json, "program", self->program);
    ti_json_string (&json, "version", version);
    ti_json_string (&json, "command", self->command);
    if (self->started_unix_s)
        ti_json_u64 (&json, "started_unix_s", self->started_unix_s);
    else
        ti_json_null (&json, "started_unix_s");
    ti_json_string (&json, "service", self->service);
    ti_json_string (&json, "arrivals", self->arrivals);
    ti_json_real (&json, "rate_per_s", self->rate);
    ti_json_u64 (&json, "outstanding", self->outstanding);
    ti_json_u64 (&json, "replicas", self->replicas);
    ti_json_u64 (&json, "workers", self->workers);
    ti_json_ms (&json, "duration_ms", self->duration_ns);
    ti_json_string (&json, "seed", seed);
    ti_json_string (&json, "sentence", ti_report_sentence (self, sentence));
    ti_json_array (&json, "policies");
    for (uint32_t i = 0; i < self->policies_count; i++)
        write_policy (&json, self, i);
    ti_json_end (&json);
    if (self->more.top)
        self->more.top (self->more.context, &json);
    ti_json_end (&json);
    return ti_json_finish (&json);
}
