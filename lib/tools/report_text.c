/* SPDX-License-Identifier: MIT */
/* The report as cells of a table, its settings in one line, and remarks on its reach. */
#include "report_text.h"

#include <stdarg.h>
#include <string.h>

#include "text/units.h"

#include <tied/error.h>
#include <tied/types.h>

static const struct ti_table_group groups[] = {
    {"", 2}, {"latency, ms", 5}, {"per call", 2}, {"ran", 1}, {"not answered", 3}, {"cancels", 3},
};

static const char *const titles[] = {
    "policy", "calls", "p50",      "p90",      "p99",   "p99.9",     "max",   "copies",
    "runs",   "twice", "rejected", "deadline", "other", "effective", "early", "late"};

/* What is left when ok, app_error, rejected and deadline are taken away. */
static uint64_t other_outcomes (const struct ti_report_policy *policy)
{
    return policy->outcomes[TIED_OUTCOME_CANCELLED] + policy->outcomes[TIED_OUTCOME_UNAVAILABLE] +
           policy->outcomes[TIED_OUTCOME_UNIMPLEMENTED] + policy->outcomes[TIED_OUTCOME_INVALID];
}

_Static_assert(TI_REPORT_POLICIES_MAX <= TI_TABLE_ROWS_MAX, "a row for each policy");

static void put_count (struct ti_table *table, uint32_t row, uint32_t *column, uint64_t count)
{
    ti_table_put (table, row, column, "%llu", (unsigned long long)count);
}

static void put_percentiles (struct ti_table *table,
                             uint32_t row,
                             uint32_t *column,
                             const struct ti_report_policy *policy)
{
    static const uint32_t shown[] = {TI_HIST_P50, TI_HIST_P90, TI_HIST_P99, TI_HIST_P99_9,
                                     TI_HIST_ALL};
    char text[TI_UNITS_TEXT_MAX];
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!ti_report_has_latency (policy))
            ti_table_put (table, row, column, "%s",
                          i == 0 && policy->is_unstable ? "UNSTABLE" : "-");
        else
            ti_table_put (table, row, column, "%s",
                          ti_format_ms (ti_report_percentile (policy, shown[i]), text));
}

void ti_report_fill_table (const struct ti_report *self, struct ti_table *table)
{
    ti_table_init (table, groups, sizeof groups / sizeof groups[0], titles);
    for (uint32_t row = 0; row < self->policies_count; row++) {
        const struct ti_report_policy *policy = &self->policies[row];
        uint32_t column = 0;
        ti_table_put (table, row, &column, "%s", policy->policy);
        put_count (table, row, &column, policy->calls);
        put_percentiles (table, row, &column, policy);
        ti_table_put (table, row, &column, "%.3f", ti_report_per_call (policy, policy->copies));
        ti_table_put (table, row, &column, "%.3f", ti_report_per_call (policy, policy->executions));
        put_count (table, row, &column, policy->duplicates);
        put_count (table, row, &column, policy->outcomes[TIED_OUTCOME_REJECTED]);
        put_count (table, row, &column, policy->outcomes[TIED_OUTCOME_DEADLINE]);
        put_count (table, row, &column, other_outcomes (policy));
        put_count (table, row, &column, policy->cancels.effective);
        put_count (table, row, &column, policy->cancels.early);
        put_count (table, row, &column, policy->cancels.late);
    }
}

/* Append to a line; what does not fit is cut. */
static void append (char buffer[TI_REPORT_LINE_MAX], const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static void append (char buffer[TI_REPORT_LINE_MAX], const char *format, ...)
{
    size_t length = strlen (buffer);
    va_list args;
    va_start (args, format);
    vsnprintf (buffer + length, TI_REPORT_LINE_MAX - length, format, args);
    va_end (args);
}

const char *ti_report_settings (const struct ti_report *self, char buffer[TI_REPORT_LINE_MAX])
{
    char text[TI_UNITS_TEXT_MAX];
    buffer[0] = '\0';
    if (self->service)
        append (buffer, "service %.160s, ", self->service);
    append (buffer, "%u replica%s", (unsigned)self->replicas, self->replicas == 1 ? "" : "s");
    if (self->workers)
        append (buffer, " of %u worker%s", (unsigned)self->workers, self->workers == 1 ? "" : "s");
    if (self->policies_count && self->policies[0].load >= 0)
        append (buffer, ", load %.3g %%", 100 * self->policies[0].load);
    if (self->outstanding)
        append (buffer, ", closed loop with %u outstanding", (unsigned)self->outstanding);
    else
        append (buffer, ", %s arrivals at %.6g/s", self->arrivals ? self->arrivals : "open",
                self->rate);
    append (buffer, ", %s of each policy", ti_format_duration (self->duration_ns, text));
    append (buffer, ", seed %llu", (unsigned long long)self->seed);
    return buffer;
}

/* Fewer than this many samples above a percentile say little about it. */
#define SAMPLES_ABOVE_MIN 10
/* A generator that is later than this has not offered the load that it was asked for. */
#define LATENESS_NOTED_NS TIED_MS (5)

const char *ti_report_not_answered (const uint64_t outcomes[TIED_OUTCOME_COUNT],
                                    char buffer[TI_REPORT_LINE_MAX])
{
    buffer[0] = '\0';
    for (int i = 0; i < TIED_OUTCOME_COUNT; i++)
        if (i != TIED_OUTCOME_OK && i != TIED_OUTCOME_APP_ERROR && outcomes[i] > 0)
            append (buffer, "%s%llu %s", buffer[0] ? ", " : "", (unsigned long long)outcomes[i],
                    tied_outcome_name (i));
    return buffer;
}

static bool note_samples (const struct ti_report_policy *policy, char *buffer)
{
    char reasons[TI_REPORT_LINE_MAX];
    if (policy->calls == 0) {
        append (buffer, "%.64s: no call was made", policy->policy);
    } else if (policy->latency->total == 0) {
        append (buffer, "%.64s: no call was answered: %s", policy->policy,
                ti_report_not_answered (policy->outcomes, reasons));
    } else if (policy->latency->total / 1000 < SAMPLES_ABOVE_MIN) {
        append (buffer, "%.64s: fewer than %d calls lie above p99.9; read it and max with care",
                policy->policy, SAMPLES_ABOVE_MIN);
    }
    return buffer[0] != '\0';
}

static bool note_lateness (const struct ti_report_policy *policy, char *buffer)
{
    char text[TI_UNITS_TEXT_MAX];
    if (policy->lateness_max_ns > LATENESS_NOTED_NS)
        append (buffer,
                "%.64s: the generator sent up to %s ms after the intended time; latency counts "
                "from the intended time",
                policy->policy, ti_format_ms (policy->lateness_max_ns, text));
    return buffer[0] != '\0';
}

static bool note_others (const struct ti_report_policy *policy, char *buffer)
{
    char reasons[TI_REPORT_LINE_MAX];
    if (policy->latency->total > 0 && other_outcomes (policy) > 0)
        append (buffer, "%.64s: calls that were not answered: %s", policy->policy,
                ti_report_not_answered (policy->outcomes, reasons));
    return buffer[0] != '\0';
}

static bool note_looks (const struct ti_report *self, char *buffer)
{
    if (self->looks_missed > 0)
        append (buffer,
                "%u times a replica did not say what it ran: runs, twice and cancels are too low",
                (unsigned)self->looks_missed);
    return buffer[0] != '\0';
}

static bool note_remark (const struct ti_report *self, char *buffer)
{
    append (buffer, "%s", self->remark ? self->remark : "");
    return buffer[0] != '\0';
}

bool ti_report_next_note (const struct ti_report *self,
                          uint32_t *cursor,
                          char buffer[TI_REPORT_LINE_MAX])
{
    static bool (*const of_policy[]) (const struct ti_report_policy *policy,
                                      char *buffer) = {note_samples, note_others, note_lateness};
    static bool (*const of_all[]) (const struct ti_report *self, char *buffer) = {note_looks,
                                                                                  note_remark};
    const uint32_t each = sizeof of_policy / sizeof *of_policy;
    const uint32_t policies = each * self->policies_count;
    const uint32_t end = policies + sizeof of_all / sizeof *of_all;
    bool is_found = false;
    while (!is_found && *cursor < end) {
        const uint32_t at = (*cursor)++;
        buffer[0] = '\0';
        is_found = at < policies ? of_policy[at % each](&self->policies[at / each], buffer)
                                 : of_all[at - policies](self, buffer);
    }
    return is_found;
}

int ti_report_write_table (const struct ti_report *self, FILE *file)
{
    struct ti_table table;
    char line[TI_REPORT_LINE_MAX];
    uint32_t cursor = 0;
    ti_report_fill_table (self, &table);
    fprintf (file, "%s\n\n", ti_report_settings (self, line));
    ti_table_write (&table, file);
    if (ti_report_next_note (self, &cursor, line)) {
        fputc ('\n', file);
        do
            fprintf (file, "note: %s\n", line);
        while (ti_report_next_note (self, &cursor, line));
    }
    return fflush (file) != 0 || ferror (file) ? TIED_ERR_SYSTEM : TIED_OK;
}
