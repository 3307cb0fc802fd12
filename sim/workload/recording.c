/* SPDX-License-Identifier: MIT */
/* Lines of recordings; recording_calls.c makes calls of them. */
#include "workload/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/util.h"
#include "tools/cli.h"
#include "tools/dist.h"
#include "workload/recording_rows.h"
#include "workload/trace.h"
#include "workload/trace_column.h"

#include <tied/error.h>

static const char *const time_names[] = {"t_us", "TIMESTAMP", "timestamp", "start_s", NULL};
static const char *const service_names[] = {"service_us", "service_ms", "service_ns", NULL};

#define ABSENT UINT32_MAX

/* Where the columns stand in one file. */
struct columns {
    uint32_t fields;
    uint32_t time, service, latency, call, replica, policy, outcome;
    double time_ns, service_ns, latency_ns; /* of one unit */
};

static uint32_t find (const struct sim_csv *csv, const char *name)
{
    for (uint32_t i = 0; i < csv->fields_count; i++)
        if (strcmp (csv->fields[i], name) == 0)
            return i;
    return ABSENT;
}

static uint32_t find_any (const struct sim_csv *csv, const char *const *names)
{
    for (; *names; names++)
        if (find (csv, *names) != ABSENT)
            return find (csv, *names);
    return ABSENT;
}

static int refuse_service (const struct sim_csv *csv, char why[SIM_WHY_MAX])
{
    for (uint32_t i = 0; i < csv->fields_count; i++)
        if (sim_trace_is_end_to_end (csv->fields[i]))
            return sim_csv_refuse (csv, why,
                                   "has no service time, and %.32s is end-to-end latency, which "
                                   "holds queueing and network: a replay would count them twice",
                                   csv->fields[i]);
    return sim_csv_refuse (csv, why, "has no column service_us: record with tied-replica --record");
}

static int read_heading (const struct sim_csv *csv, struct columns *out, char why[SIM_WHY_MAX])
{
    double number;

    if (sim_csv_number (csv->fields[0], &number) || csv->fields[0][0] == '#')
        return sim_csv_refuse (csv, why,
                               "has no heading; a recording begins with one that names t_us and "
                               "service_us. A log of pgbench holds end-to-end latency alone");
    *out = (struct columns){.fields = csv->fields_count,
                            .time = find_any (csv, time_names),
                            .service = find_any (csv, service_names),
                            .latency = find (csv, "latency_us"),
                            .call = find (csv, "call"),
                            .replica = find (csv, "replica"),
                            .policy = find (csv, "policy"),
                            .outcome = find (csv, "outcome"),
                            .latency_ns = 1e3};
    if (out->time == ABSENT)
        return sim_csv_refuse (csv, why, "has no column t_us: nobody knows when its calls came");
    if (out->service == ABSENT)
        return refuse_service (csv, why);
    out->time_ns = sim_trace_unit_ns (csv->fields[out->time]);
    if (out->time_ns <= 0)
        out->time_ns = 1e6; /* "timestamp": milliseconds; dates have no unit */
    out->service_ns = sim_trace_unit_ns (csv->fields[out->service]);
    return TIED_OK;
}

static int read_duration (const struct sim_csv *csv,
                          uint32_t column,
                          double unit_ns,
                          const char *name,
                          uint64_t *out,
                          char why[SIM_WHY_MAX])
{
    char quoted[TI_QUOTE_MAX];
    double value;

    if (!sim_csv_number (csv->fields[column], &value))
        return sim_csv_refuse (csv, why, "%s: %s is not a number", name,
                               ti_quote (csv->fields[column], quoted));
    if (value < 0)
        return sim_csv_refuse (csv, why, "%s: %g is negative", name, value);
    if (value * unit_ns > (double)TI_DIST_MAX_NS)
        return sim_csv_refuse (csv, why, "%s: %g is longer than 1h", name, value);
    *out = (uint64_t)(value * unit_ns + 0.5);
    return TIED_OK;
}

static int read_time (const struct sim_csv *csv,
                      const struct columns *columns,
                      uint64_t *out,
                      char why[SIM_WHY_MAX])
{
    const char *text = csv->fields[columns->time];
    char quoted[TI_QUOTE_MAX];
    double value;
    int64_t date_ns;

    if (sim_csv_number (text, &value)) {
        if (value < 0)
            return sim_csv_refuse (csv, why, "time: %g is negative", value);
        if (value * columns->time_ns > 9e18)
            return sim_csv_refuse (csv, why, "time: %g is too large", value);
        *out = (uint64_t)(value * columns->time_ns + 0.5);
        return TIED_OK;
    }
    if (sim_csv_date (text, &date_ns) && date_ns >= 0) {
        *out = (uint64_t)date_ns;
        return TIED_OK;
    }
    return sim_csv_refuse (csv, why, "time: %s is not a number", ti_quote (text, quoted));
}

/* Number of a name, which is added; ABSENT: there are too many. */
static uint32_t number_of (struct sim_recording_names *names, const char *text)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strncmp (names->items[i], text, SIM_NAME_MAX - 1) == 0)
            return i;
    if (names->count == SIM_RECORDING_NAMES_MAX)
        return ABSENT;
    (void)snprintf (names->items[names->count], SIM_NAME_MAX, "%s", text);
    return names->count++;
}

static int read_names (const struct sim_csv *csv,
                       const struct columns *columns,
                       struct sim_recording_rows *rows,
                       struct sim_recording_row *row,
                       char why[SIM_WHY_MAX])
{
    if (columns->policy != ABSENT) {
        const uint32_t policy = number_of (&rows->policies, csv->fields[columns->policy]);
        if (policy >= SIM_RECORDING_POLICIES_MAX)
            return sim_csv_refuse (csv, why, "names more than %d policies",
                                   SIM_RECORDING_POLICIES_MAX);
        row->policy = policy;
    }
    /* A call without an answer has no replica. */
    if (columns->replica != ABSENT && strcmp (csv->fields[columns->replica], "-") != 0 &&
        number_of (&rows->replicas, csv->fields[columns->replica]) == ABSENT)
        return sim_csv_refuse (csv, why, "names more than %d replicas", SIM_RECORDING_NAMES_MAX);
    return TIED_OK;
}

static int read_row (const struct sim_csv *csv,
                     const struct columns *columns,
                     struct sim_recording_rows *rows,
                     char why[SIM_WHY_MAX])
{
    struct sim_recording_row row = {.call = ti_mix (rows->count + 1), .has_run = true};
    int rc;

    if (csv->fields_count != columns->fields)
        return sim_csv_refuse (csv, why, "has %u fields, the heading has %u", csv->fields_count,
                               columns->fields);
    rc = read_time (csv, columns, &row.at, why);
    if (rc == 0)
        rc = read_duration (csv, columns->service, columns->service_ns, "service time",
                            &row.service_ns, why);
    if (rc == 0 && columns->latency != ABSENT)
        rc = read_duration (csv, columns->latency, columns->latency_ns, "latency", &row.latency_ns,
                            why);
    if (rc == 0)
        rc = read_names (csv, columns, rows, &row, why);
    if (rc != 0)
        return rc;
    if (columns->call != ABSENT)
        row.call = ti_mix (ti_hash_text (csv->fields[columns->call]));
    if (columns->outcome != ABSENT)
        row.has_run = sim_trace_has_run (csv->fields[columns->outcome]);
    row.has_latency = columns->latency != ABSENT;
    if (rows->count == SIM_TRACE_ENTRIES_MAX)
        return sim_csv_refuse (csv, why, "has more than %llu lines",
                               (unsigned long long)SIM_TRACE_ENTRIES_MAX);
    if (!sim_recording_add (rows, &row))
        return sim_trace_no_memory (csv->path, why);
    return TIED_OK;
}

static int read_file (const char *path, struct sim_recording_rows *rows, char why[SIM_WHY_MAX])
{
    struct sim_csv csv;
    struct columns columns;
    int rc = sim_csv_open (&csv, path, why);

    if (rc != 0)
        return rc;
    rc = sim_csv_next (&csv, why);
    if (rc == 0)
        rc = sim_csv_refuse (&csv, why, "is empty");
    else if (rc == 1)
        rc = read_heading (&csv, &columns, why);
    while (rc == 0 && (rc = sim_csv_next (&csv, why)) == 1) {
        /* Recordings that were put together have their headings in between. */
        rc = find (&csv, time_names[0]) != ABSENT ? read_heading (&csv, &columns, why)
                                                  : read_row (&csv, &columns, rows, why);
        if (rc != 0)
            break;
    }
    sim_csv_close (&csv);
    return rc;
}

int sim_recording_read (const char *const *paths,
                        uint32_t count,
                        struct sim_recording *out,
                        char why[SIM_WHY_MAX])
{
    struct sim_recording_rows *rows = calloc (1, sizeof *rows);
    int rc = TIED_OK;

    if (!rows)
        return sim_trace_no_memory (paths[0], why);
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = read_file (paths[i], rows, why);
    if (rc == 0)
        rc = sim_recording_join (rows, paths[0], out, why);
    free (rows->items);
    free (rows);
    return rc;
}

void sim_recording_deinit (struct sim_recording *self)
{
    sim_table_deinit (&self->times);
    sim_table_deinit (&self->service);
    sim_table_deinit (&self->latency);
}
