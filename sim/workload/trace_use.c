/* SPDX-License-Identifier: MIT */
/* Columns of files as arrivals, service times and pauses. */
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

#include "tools/cli.h"
#include "workload/hlog.h"
#include "workload/trace.h"
#include "workload/trace_column.h"

static const char *const times_defaults[] = {"t_us", "TIMESTAMP", "timestamp", "start_s", NULL};
static const char *const service_defaults[] = {"service_us", "service_ms", "service_ns", NULL};

static bool push (struct sim_grow *self, uint64_t value)
{
    if (!sim_grow (self))
        return false;
    ((uint64_t *)self->values)[self->count - 1] = value;
    return true;
}

/*
 * Requests of one rounded time stamp are spread evenly up to the next one: a trace rounded to steps
 * would else arrive in bursts that its system never saw.
 */
static void spread_steps (uint64_t *times, uint64_t count)
{
    uint64_t first = 0;

    while (first < count) {
        uint64_t next = first + 1;
        while (next < count && times[next] == times[first])
            next++;
        if (next < count) {
            const uint64_t step = (times[next] - times[first]) / (next - first);
            for (uint64_t i = first; i < next; i++)
                times[i] += (i - first) * step;
        }
        first = next;
    }
}

static int unit_of (const struct sim_trace_options *options,
                    const struct sim_trace_file *file,
                    double *out,
                    char why[SIM_WHY_MAX])
{
    char quoted[TI_QUOTE_MAX];

    *out = options->unit_ns;
    if (*out == 0)
        *out = sim_trace_unit_ns (file->heading);
    /* Mooncake's traces: milliseconds since the start. */
    if (*out == 0 && options->use == SIM_TRACE_TIMES && strcmp (file->heading, "timestamp") == 0)
        *out = 1e6;
    if (*out != 0)
        return TIED_OK;
    (void)snprintf (why, SIM_WHY_MAX,
                    "%.120s: the unit of %s is not known: give \"unit\", as in 1ms", options->path,
                    ti_quote (file->heading, quoted));
    return TIED_ERR_INVAL;
}

static int refuse_end_to_end (const struct sim_trace_options *options,
                              const struct sim_trace_file *file,
                              char why[SIM_WHY_MAX])
{
    char quoted[TI_QUOTE_MAX];

    (void)snprintf (why, SIM_WHY_MAX,
                    "%.80s: %s is end-to-end latency, which holds queueing and network: as service "
                    "time it would be counted twice; use a column of service times",
                    options->path, ti_quote (file->heading, quoted));
    return TIED_ERR_INVAL;
}

static int add (const struct sim_trace_options *options,
                const struct sim_trace_file *file,
                double value,
                double unit_ns,
                struct sim_grow *values,
                char why[SIM_WHY_MAX])
{
    const double ns = value * unit_ns;

    if (value < 0)
        return sim_csv_refuse (&file->csv, why, "column %.32s: %g is negative", file->heading,
                               value);
    if (ns > 9e18)
        return sim_csv_refuse (&file->csv, why, "column %.32s: %g is too large", file->heading,
                               value);
    if (options->use == SIM_TRACE_SERVICE && ns > (double)TI_DIST_MAX_NS)
        return sim_csv_refuse (&file->csv, why, "column %.32s: %g is longer than 1h", file->heading,
                               value);
    if (options->use == SIM_TRACE_TIMES && !file->is_recording && values->count > 0 &&
        (uint64_t)(ns + 0.5) < ((const uint64_t *)values->values)[values->count - 1])
        return sim_csv_refuse (&file->csv, why,
                               "column %.32s: %.17g is before the time of the line above: sort the "
                               "file by time",
                               file->heading, value);
    if (!push (values, (uint64_t)(ns + 0.5)))
        return sim_trace_no_memory (options->path, why);
    return TIED_OK;
}

static int compare_times (const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int read_values (const struct sim_trace_options *options,
                        struct sim_trace_file *file,
                        struct sim_grow *values,
                        char why[SIM_WHY_MAX])
{
    double unit_ns = 0;
    double value;
    int rc;

    if (options->use == SIM_TRACE_SERVICE && sim_trace_is_end_to_end (file->heading))
        return refuse_end_to_end (options, file, why);
    while ((rc = sim_trace_next (file, &value, why)) == 1) {
        /* What was dropped or refused has no service time. */
        if (options->use == SIM_TRACE_SERVICE && file->is_recording &&
            !sim_trace_has_run (file->csv.fields[file->outcome]))
            continue;
        if (unit_ns == 0 && file->is_date)
            unit_ns = 1e9;
        if (unit_ns == 0 && (rc = unit_of (options, file, &unit_ns, why)) != 0)
            return rc;
        rc = add (options, file, value, unit_ns, values, why);
        if (rc != 0)
            return rc;
    }
    if (rc == 0 && options->use == SIM_TRACE_TIMES && file->is_recording && values->count > 0)
        qsort (values->values, values->count, sizeof (uint64_t), compare_times);
    return rc;
}

/* A line is written when its transaction ends: it began, or was due, latency_us before. */
static int read_pgbench_times (const struct sim_trace_options *options,
                               struct sim_trace_file *file,
                               struct sim_grow *values,
                               char why[SIM_WHY_MAX])
{
    double latency_us, epoch_s, time_us;
    int rc;

    while ((rc = sim_trace_next (file, &latency_us, why)) == 1) {
        if (file->csv.fields_count < 6 || !sim_csv_number (file->csv.fields[4], &epoch_s) ||
            !sim_csv_number (file->csv.fields[5], &time_us) || epoch_s < 0 || epoch_s > 9e9 ||
            time_us < 0 || time_us >= 1e6 || latency_us < 0 || latency_us > epoch_s * 1e6)
            return sim_csv_refuse (
                &file->csv, why,
                "is no line of a pgbench log: client, transaction, microseconds, "
                "script, seconds since 1970, microseconds");
        if (!push (values, (uint64_t)epoch_s * 1000000000u + (uint64_t)(time_us * 1e3) -
                               (uint64_t)(latency_us * 1e3)))
            return sim_trace_no_memory (options->path, why);
    }
    if (rc == 0 && values->count > 0)
        qsort (values->values, values->count, sizeof (uint64_t), compare_times);
    return rc;
}

static int read_column (const struct sim_trace_options *options,
                        struct sim_grow *values,
                        char why[SIM_WHY_MAX])
{
    struct sim_trace_file file;
    const char *column = options->column;
    int rc =
        sim_trace_open (&file, options->path, column,
                        options->use == SIM_TRACE_TIMES ? times_defaults : service_defaults, why);

    if (rc != 0)
        return rc;
    if (file.is_pgbench && options->use == SIM_TRACE_TIMES && !column)
        rc = read_pgbench_times (options, &file, values, why);
    else
        rc = read_values (options, &file, values, why);
    if (rc == 0 && options->use == SIM_TRACE_TIMES && strcmp (file.heading, "timestamp") == 0)
        spread_steps (values->values, values->count);
    sim_trace_close (&file);
    return rc;
}

/*
 * The two agree to the digits of the log: a line whose histogram says otherwise was damaged, or is
 * of another kind of log.
 */
static int check_largest (const struct sim_csv *csv,
                          const struct sim_hlog_interval *interval,
                          const struct ti_hist *hist,
                          char why[SIM_WHY_MAX])
{
    const uint64_t apart =
        hist->max > interval->max_ns ? hist->max - interval->max_ns : interval->max_ns - hist->max;

    if (apart <= interval->max_ns / 32 + TIED_US (64))
        return 1;
    return sim_csv_refuse (csv, why,
                           "the largest value is %.3f ms, and %.3f ms in the histogram beside it",
                           (double)interval->max_ns * 1e-6, (double)hist->max * 1e-6);
}

static int read_pauses (const struct sim_trace_options *options,
                        struct sim_grow *values,
                        char why[SIM_WHY_MAX])
{
    struct sim_csv csv;
    struct sim_hlog_interval interval;
    uint64_t last_end = 0;
    const struct ti_hist_options bounds = {.highest = UINT64_MAX, .unit = 1, .half_bits = 4};
    struct ti_hist *hist = malloc (ti_hist_size (&bounds));
    int rc;

    if (!hist)
        return sim_trace_no_memory (options->path, why);
    hist = ti_hist_init (hist, ti_hist_size (&bounds), &bounds);
    rc = sim_csv_open (&csv, options->path, why);
    if (rc != 0) {
        free (hist);
        return rc;
    }
    while ((rc = sim_csv_next (&csv, why)) == 1) {
        ti_hist_reset (hist);
        rc = sim_hlog_line (&csv, &interval, hist, why);
        if (rc == 1)
            rc = check_largest (&csv, &interval, hist, why);
        if (rc < 0)
            break;
        if (rc == 0 || interval.max_ns < SIM_HLOG_PAUSE_MIN_NS)
            continue;
        if (interval.start_ns < last_end)
            interval.start_ns = last_end;
        last_end = interval.start_ns + interval.max_ns;
        if (!push (values, interval.start_ns) || !push (values, interval.max_ns)) {
            rc = sim_trace_no_memory (options->path, why);
            break;
        }
        if (values->count > SIM_TRACE_ENTRIES_MAX) {
            rc = sim_csv_refuse (&csv, why, "has more than %llu pauses",
                                 (unsigned long long)SIM_TRACE_ENTRIES_MAX / 2);
            break;
        }
    }
    sim_csv_close (&csv);
    free (hist);
    return rc;
}

int sim_trace_read (const struct sim_trace_options *options,
                    struct sim_table *out,
                    char why[SIM_WHY_MAX])
{
    struct sim_grow values = {0};
    uint64_t *times;
    int rc = options->use == SIM_TRACE_PAUSES ? read_pauses (options, &values, why)
                                              : read_column (options, &values, why);

    if (rc == 0 && values.count == 0) {
        (void)snprintf (why, SIM_WHY_MAX, "%.160s: holds no %s", options->path,
                        options->use == SIM_TRACE_PAUSES ? "pauses of 1ms or more" : "records");
        rc = TIED_ERR_INVAL;
    }
    if (rc != 0) {
        free (values.values);
        return rc;
    }
    times = values.values;
    if (options->use == SIM_TRACE_TIMES) {
        const uint64_t first = times[0];
        for (uint64_t i = 0; i < values.count; i++)
            times[i] -= first;
    }
    *out = (struct sim_table){values.values, values.count};
    return TIED_OK;
}

void sim_table_deinit (struct sim_table *table)
{
    free (table->values);
    *table = (struct sim_table){0};
}
