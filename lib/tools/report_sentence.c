/* SPDX-License-Identifier: MIT */
/* What was gained and what it cost, in one sentence made of the figures of the run. */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "text/units.h"

#include <tied/types.h>

/* Smaller changes are called none: a histogram bucket alone is 0.8 % wide. */
#define CHANGE_MIN 0.01

static void append (char buffer[TI_REPORT_SENTENCE_MAX], const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static void append (char buffer[TI_REPORT_SENTENCE_MAX], const char *format, ...)
{
    size_t length = strlen (buffer);
    va_list args;
    va_start (args, format);
    vsnprintf (buffer + length, TI_REPORT_SENTENCE_MAX - length, format, args);
    va_end (args);
}

static const struct ti_report_policy *named (const struct ti_report *self, const char *name)
{
    for (uint32_t i = 0; i < self->policies_count; i++)
        if (strcmp (self->policies[i].policy, name) == 0)
            return &self->policies[i];
    return NULL;
}

static const struct ti_report_policy *baseline (const struct ti_report *self)
{
    const struct ti_report_policy *single = named (self, "single");
    return single ? single : &self->policies[0];
}

static uint64_t not_answered (const struct ti_report_policy *policy)
{
    uint64_t answered =
        policy->outcomes[TIED_OUTCOME_OK] + policy->outcomes[TIED_OUTCOME_APP_ERROR];
    return policy->calls > answered ? policy->calls - answered : 0;
}

/* "lowered p99 from 98.2 to 53.1 ms (46 % less)" */
static void append_change (char *buffer,
                           const char *name,
                           uint32_t ppm,
                           const struct ti_report_policy *from,
                           const struct ti_report_policy *to)
{
    char before_text[TI_UNITS_TEXT_MAX], after_text[TI_UNITS_TEXT_MAX];
    uint64_t before = ti_report_percentile (from, ppm);
    uint64_t after = ti_report_percentile (to, ppm);
    ti_format_ms (before, before_text);
    ti_format_ms (after, after_text);
    double change = before ? (double)after / (double)before - 1 : 0;
    if (fabs (change) < CHANGE_MIN)
        append (buffer, "left %s at %s ms", name, after_text);
    else
        append (buffer, "%s %s from %s to %s ms (%.0f %% %s)", change < 0 ? "lowered" : "raised",
                name, before_text, after_text, 100 * fabs (change), change < 0 ? "less" : "more");
}

static void append_cost (char *buffer, const struct ti_report_policy *policy)
{
    append (buffer, "it sent %.2f copies per call and executed %.2f %% of the calls twice",
            ti_report_per_call (policy, policy->copies),
            100 * ti_report_per_call (policy, policy->duplicates));
}

/* The policy to set against the first: the one called tied, else the one with the lowest p99. */
static const struct ti_report_policy *
other (const struct ti_report *self, const struct ti_report_policy *from, bool *out_is_best)
{
    const struct ti_report_policy *tied = named (self, "tied");
    *out_is_best = !tied || tied == from;
    if (!*out_is_best)
        return tied;
    const struct ti_report_policy *best = NULL;
    uint64_t best_p99 = 0;
    for (uint32_t i = 0; i < self->policies_count; i++) {
        const struct ti_report_policy *policy = &self->policies[i];
        uint64_t p99 =
            policy->is_unstable ? UINT64_MAX : ti_report_percentile (policy, TI_HIST_P99);
        if (policy == from || (best && p99 >= best_p99))
            continue;
        best = policy;
        best_p99 = p99;
    }
    return best;
}

static void
append_comparison (char *buffer, const struct ti_report *self, const struct ti_report_policy *from)
{
    bool is_best;
    const struct ti_report_policy *to = other (self, from, &is_best);
    append (buffer, "Against %.64s, %.64s ", from->policy, to->policy);
    if (is_best && self->policies_count > 2)
        append (buffer, "(the lowest p99 of the other %u) ", (unsigned)self->policies_count - 1);
    append_change (buffer, "p99", TI_HIST_P99, from, to);
    append (buffer, " and ");
    append_change (buffer, "p50", TI_HIST_P50, from, to);
    append (buffer, "; ");
    append_cost (buffer, to);
    if (not_answered (from) || not_answered (to))
        append (buffer, ", and %llu calls were not answered (%.64s: %llu)",
                (unsigned long long)not_answered (to), from->policy,
                (unsigned long long)not_answered (from));
}

static void append_alone (char *buffer, const struct ti_report_policy *policy)
{
    char p50[TI_UNITS_TEXT_MAX], p99[TI_UNITS_TEXT_MAX];
    append (buffer, "%.64s answered %llu of %llu calls, p50 %s ms and p99 %s ms; ", policy->policy,
            (unsigned long long)(policy->calls - not_answered (policy)),
            (unsigned long long)policy->calls,
            ti_format_ms (ti_report_percentile (policy, TI_HIST_P50), p50),
            ti_format_ms (ti_report_percentile (policy, TI_HIST_P99), p99));
    append_cost (buffer, policy);
}

/* The first policy with percentiles, tied before others; NULL: none. */
static const struct ti_report_policy *stable (const struct ti_report *self)
{
    const struct ti_report_policy *tied = named (self, "tied");
    if (tied && !tied->is_unstable)
        return tied;
    for (uint32_t i = 0; i < self->policies_count; i++)
        if (!self->policies[i].is_unstable)
            return &self->policies[i];
    return NULL;
}

/* @return false: the policies that the sentence is about are stable */
static bool append_unstable (char *buffer, const struct ti_report *self)
{
    if (self->policies_count == 0)
        return false;
    bool is_best;
    const struct ti_report_policy *from = baseline (self);
    const struct ti_report_policy *to =
        self->policies_count > 1 ? other (self, from, &is_best) : NULL;
    if (!from->is_unstable && !(to && to->is_unstable))
        return false;
    if (!stable (self)) {
        append (buffer, "All policies are unstable: their queues grow without end at this load.");
        return true;
    }
    append (buffer,
            "%.64s is unstable: its queue grows without end, so there is no percentile to compare "
            "with; ",
            from->is_unstable ? from->policy : to->policy);
    append_alone (buffer, stable (self));
    append (buffer, ".");
    return true;
}

const char *ti_report_sentence (const struct ti_report *self, char buffer[TI_REPORT_SENTENCE_MAX])
{
    buffer[0] = '\0';
    if (self->sentence) {
        append (buffer, "%s", self->sentence);
        return buffer;
    }
    bool has_answers = self->policies_count > 0;
    if (append_unstable (buffer, self))
        return buffer;
    for (uint32_t i = 0; i < self->policies_count; i++)
        has_answers = has_answers && self->policies[i].latency->total > 0;
    if (!has_answers) {
        append (buffer, "Not every policy had an answered call, so there is nothing to compare.");
        return buffer;
    }
    const struct ti_report_policy *from = baseline (self);
    if (self->policies_count == 1)
        append_alone (buffer, from);
    else
        append_comparison (buffer, self, from);
    append (buffer, ".");
    return buffer;
}
