/* SPDX-License-Identifier: MIT */
/* Finding a column in a file and reading it as numbers. What they are used for is in trace_use.c.
 */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>
#include <tied/replica.h>

#include "csv.h"
#include "tools/cli.h"
#include "workload/trace_column.h"

/* pgbench's log has no heading; the last two columns depend on its options. */
static const char *const pgbench_columns[] = {
    "client_id", "transaction_no", "latency_us", "script_no", "time_epoch", "time_us", "lag_us",
};
#define PGBENCH_COLUMNS     (sizeof pgbench_columns / sizeof pgbench_columns[0])
#define PGBENCH_COLUMNS_MIN 6u

static bool is_number (const char *text)
{
    double value;
    return sim_csv_number (text, &value);
}

static bool has_word (const char *text, const char *word)
{
    const size_t length = strlen (word);

    for (; *text; text++)
        if (strncasecmp (text, word, length) == 0)
            return true;
    return false;
}

bool sim_trace_is_end_to_end (const char *name)
{
    static const char *const words[] = {"latency", "response", "rtt", "elapsed", "total"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has_word (name, words[i]))
            return true;
    return false;
}

bool sim_trace_has_run (const char *outcome)
{
    return strcmp (outcome, tied_outcome_name (TIED_OUTCOME_OK)) == 0 ||
           strcmp (outcome, tied_outcome_name (TIED_OUTCOME_APP_ERROR)) == 0 ||
           strcmp (outcome, tied_fate_name (TIED_FATE_EXECUTED)) == 0;
}

double sim_trace_unit_ns (const char *heading)
{
    static const struct {
        const char *suffix;
        double ns;
    } units[] = {{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}};
    const size_t length = strlen (heading);

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t suffix = strlen (units[i].suffix);
        if (length > suffix && strcmp (heading + length - suffix, units[i].suffix) == 0)
            return units[i].ns;
    }
    return 0;
}

static int find (struct sim_trace_file *self, const char *wanted, char why[SIM_WHY_MAX])
{
    char quoted[TI_QUOTE_MAX];
    const char *names[SIM_CSV_FIELDS_MAX + 1] = {0};
    const char *nearest;

    for (uint32_t i = 0; i < self->csv.fields_count; i++)
        names[i] = self->csv.fields[i];
    for (uint32_t i = 0; i < self->csv.fields_count; i++) {
        if (strcmp (names[i], wanted) == 0) {
            self->column = i;
            (void)snprintf (self->heading, sizeof self->heading, "%s", wanted);
            return TIED_OK;
        }
    }
    nearest = ti_nearest (wanted, names);
    return sim_csv_refuse (&self->csv, why, "has no column %s%s%.64s%s", ti_quote (wanted, quoted),
                           nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                           nearest ? "\"?" : "");
}

static int
find_default (struct sim_trace_file *self, const char *const *defaults, char why[SIM_WHY_MAX])
{
    if (self->csv.fields_count == 1)
        return find (self, self->csv.fields[0], why);
    for (; defaults && *defaults; defaults++)
        for (uint32_t i = 0; i < self->csv.fields_count; i++)
            if (strcmp (self->csv.fields[i], *defaults) == 0)
                return find (self, *defaults, why);
    return sim_csv_refuse (&self->csv, why, "has %u columns: say which one with \"column\"",
                           self->csv.fields_count);
}

/* t_us and outcome together are what tied-replica and tied-client write. */
static void find_outcome (struct sim_trace_file *self)
{
    bool has_time = false;

    for (uint32_t i = 0; i < self->csv.fields_count; i++) {
        has_time = has_time || strcmp (self->csv.fields[i], "t_us") == 0;
        if (strcmp (self->csv.fields[i], "outcome") == 0) {
            self->outcome = i;
            self->is_recording = true;
        }
    }
    self->is_recording = self->is_recording && has_time;
}

/* A file without a heading: its first line is data. */
static int open_plain (struct sim_trace_file *self, const char *column, char why[SIM_WHY_MAX])
{
    const char *base = strrchr (self->csv.path, '/');

    self->has_first = true;
    self->fields_wanted = self->csv.fields_count;
    if (self->csv.fields_count == 1) {
        (void)snprintf (self->heading, sizeof self->heading, "%s",
                        base ? base + 1 : self->csv.path);
        if (column)
            return sim_csv_refuse (&self->csv, why,
                                   "has one column without a heading: leave "
                                   "\"column\" away");
        return TIED_OK;
    }
    if (self->csv.fields_count < PGBENCH_COLUMNS_MIN)
        return sim_csv_refuse (&self->csv, why,
                               "begins with a number, but is neither one column "
                               "nor a pgbench log: give the columns a heading");
    self->is_pgbench = true;
    self->fields_wanted = 0; /* "skipped" and retries change the number of fields */
    for (uint32_t i = 0; i < PGBENCH_COLUMNS; i++) {
        if (column && strcmp (column, pgbench_columns[i]) == 0) {
            self->column = i;
            (void)snprintf (self->heading, sizeof self->heading, "%s", column);
            return TIED_OK;
        }
    }
    if (column)
        return sim_csv_refuse (&self->csv, why,
                               "is a pgbench log: its columns are client_id, "
                               "transaction_no, latency_us, script_no, "
                               "time_epoch, time_us, lag_us");
    self->column = 2;
    (void)snprintf (self->heading, sizeof self->heading, "%s", pgbench_columns[2]);
    return TIED_OK;
}

int sim_trace_open (struct sim_trace_file *self,
                    const char *path,
                    const char *column,
                    const char *const *defaults,
                    char why[SIM_WHY_MAX])
{
    int rc;

    *self = (struct sim_trace_file){0};
    rc = sim_csv_open (&self->csv, path, why);
    if (rc != 0)
        return rc;
    rc = sim_csv_next (&self->csv, why);
    if (rc == 0)
        rc = sim_csv_refuse (&self->csv, why, "is empty");
    else if (rc == 1 && self->csv.fields[0][0] == '#')
        rc = sim_csv_refuse (&self->csv, why,
                             "is a histogram log: it gives pauses, not a column of numbers");
    else if (rc == 1 && is_number (self->csv.fields[0]))
        rc = open_plain (self, column, why);
    else if (rc == 1) {
        self->fields_wanted = self->csv.fields_count;
        find_outcome (self);
        rc = column ? find (self, column, why) : find_default (self, defaults, why);
    }
    if (rc != 0)
        sim_csv_close (&self->csv);
    return rc;
}

int sim_trace_next (struct sim_trace_file *self, double *out, char why[SIM_WHY_MAX])
{
    char quoted[TI_QUOTE_MAX];
    int64_t date_ns;
    const char *text;

    for (;;) {
        if (!self->has_first) {
            const int rc = sim_csv_next (&self->csv, why);
            if (rc != 1)
                return rc;
        }
        self->has_first = false;
        if (self->is_pgbench && self->csv.fields_count > 2 &&
            (strcmp (self->csv.fields[2], "skipped") == 0 ||
             strcmp (self->csv.fields[2], "failed") == 0))
            continue; /* a transaction that was not run */
        break;
    }
    if (self->fields_wanted && self->csv.fields_count != self->fields_wanted)
        return sim_csv_refuse (&self->csv, why, "has %u fields, the first line has %u",
                               self->csv.fields_count, self->fields_wanted);
    if (self->column >= self->csv.fields_count)
        return sim_csv_refuse (&self->csv, why, "has no field %u", self->column + 1);
    text = self->csv.fields[self->column];
    if (sim_csv_number (text, out)) {
        self->count++;
    } else if (sim_csv_date (text, &date_ns)) {
        if (self->count++ == 0)
            self->first_date_ns = date_ns;
        *out = (double)(date_ns - self->first_date_ns) * 1e-9;
        self->is_date = true;
    } else {
        return sim_csv_refuse (&self->csv, why, "column %.32s: %s is not a number", self->heading,
                               ti_quote (text, quoted));
    }
    if (self->count > SIM_TRACE_ENTRIES_MAX)
        return sim_csv_refuse (&self->csv, why, "has more than %llu records",
                               (unsigned long long)SIM_TRACE_ENTRIES_MAX);
    return 1;
}

void sim_trace_close (struct sim_trace_file *self)
{
    sim_csv_close (&self->csv);
}

bool sim_grow (struct sim_grow *self)
{
    if (self->count == self->room) {
        const uint64_t room = self->room ? self->room * 2 : 1024;
        void *values = realloc (self->values, room * 8);

        if (!values)
            return false;
        self->values = values;
        self->room = room;
    }
    self->count++;
    return true;
}

int sim_trace_no_memory (const char *path, char why[SIM_WHY_MAX])
{
    (void)snprintf (why, SIM_WHY_MAX, "%.160s: no memory for its records", path);
    return TIED_ERR_SYSTEM;
}
