/* SPDX-License-Identifier: MIT */
/* What was simulated, what was found, and how far it carries, in words. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "output/internal.h"
#include "study/summary.h"
#include "text/units.h"

static void append (char *buffer, size_t size, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

static void append (char *buffer, size_t size, const char *format, ...)
{
    size_t length = strlen (buffer);
    va_list args;
    va_start (args, format);
    vsnprintf (buffer + length, size - length, format, args);
    va_end (args);
}

static double p99_ms (const struct sim_point *row)
{
    return row->summary->percentile_ns[SIM_AT_P99].value / 1e6;
}

static void append_found (const struct sim_output *output, char *buffer)
{
    char ppm[SIM_PPM_MAX], goal[TI_UNITS_TEXT_MAX];
    append (buffer, SIM_SENTENCE_MAX, "With %s at most %s",
            sim_format_ppm (output->found[0].ppm, ppm),
            ti_format_duration (output->found[0].goal_ns, goal));
    for (uint32_t i = 0; i < output->found_count; i++) {
        const struct sim_capacity_found *found = &output->found[i];
        append (buffer, SIM_SENTENCE_MAX, ", %.40s ", found->policy);
        if (found->capacity.load > 0)
            append (buffer, SIM_SENTENCE_MAX, "carries load %.4g", found->capacity.load);
        else
            append (buffer, SIM_SENTENCE_MAX, "carries no load");
    }
    append (buffer, SIM_SENTENCE_MAX, ".");
}

static void append_grid (const struct sim_points *rows, char *buffer)
{
    const struct sim_point *best = NULL;
    uint32_t on_front = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct sim_point *row = &rows->items[i];
        on_front += !row->is_beaten;
        if (!row->is_unstable && isfinite (p99_ms (row)) && (!best || p99_ms (row) < p99_ms (best)))
            best = row;
    }
    append (buffer, SIM_SENTENCE_MAX,
            "Of %u points, %u have no other with both a lower p99 and fewer executions",
            (unsigned)rows->count, (unsigned)on_front);
    if (best)
        append (buffer, SIM_SENTENCE_MAX,
                "; the lowest p99 is %.4g ms, of %s, with %.3f executions per call", p99_ms (best),
                best->policy->name, best->summary->executions_per_call.value);
    append (buffer, SIM_SENTENCE_MAX, ".");
}

/* The policy that the sentence of a sweep is about: tied, else the second, else the only one. */
static uint32_t subject (const struct sim_points *rows)
{
    uint32_t count = rows->first[1] - rows->first[0];
    for (uint32_t i = 0; i < count; i++)
        if (strcmp (rows->items[i].policy->name, "tied") == 0)
            return i;
    return count > 1 ? 1 : 0;
}

/* The policy it is set against: single, else the first. */
static uint32_t against (const struct sim_points *rows)
{
    uint32_t count = rows->first[1] - rows->first[0];
    for (uint32_t i = 0; i < count; i++)
        if (strcmp (rows->items[i].policy->name, "single") == 0)
            return i;
    return 0;
}

static void append_sweep (const struct sim_points *rows, char *buffer)
{
    uint32_t from = against (rows), to = subject (rows), lower = 0, compared = 0;
    double best = INFINITY, worst = -INFINITY, best_load = 0, worst_load = 0;
    for (uint32_t i = 0; i < rows->loads; i++) {
        const struct sim_point *a = &rows->items[rows->first[i] + from];
        const struct sim_point *b = &rows->items[rows->first[i] + to];
        double change = p99_ms (b) / p99_ms (a) - 1;
        if (from == to || a->is_unstable || b->is_unstable || !isfinite (change))
            continue;
        compared++;
        lower += change < 0;
        if (change < best) {
            best = change;
            best_load = b->study->load;
        }
        if (change > worst) {
            worst = change;
            worst_load = b->study->load;
        }
    }
    if (compared == 0) {
        append (buffer, SIM_SENTENCE_MAX, "At no load were there two stable policies to compare.");
        return;
    }
    append (
        buffer, SIM_SENTENCE_MAX,
        "Against %.48s, %.48s had the lower p99 at %u of %u loads: from %+.0f %% (load %.4g) to "
        "%+.0f %% (load %.4g).",
        rows->items[from].policy->name, rows->items[to].policy->name, (unsigned)lower,
        (unsigned)compared, 100 * best, best_load, 100 * worst, worst_load);
}

const char *sim_output_sentence (const struct sim_output *output,
                                 const struct sim_points *rows,
                                 char buffer[SIM_SENTENCE_MAX])
{
    buffer[0] = '\0';
    if (output->replay)
        append (buffer, SIM_SENTENCE_MAX, "%s", output->replay->advice);
    else if (output->found_count > 0)
        append_found (output, buffer);
    else if (output->is_grid)
        append_grid (rows, buffer);
    else if (rows->loads > 1)
        append_sweep (rows, buffer);
    /* One load: the report's own sentence says it. */
    return buffer;
}

static void append_load (const struct sim_output *output, char *buffer)
{
    const struct sim_scenario *scenario = output->scenario;
    const char *arrivals = sim_arrivals_words[scenario->workload.arrivals];
    uint32_t last = output->studies_count ? output->studies_count - 1 : 0;
    if (scenario->workload.arrivals == SIM_ARRIVALS_CLOSED) {
        append (buffer, SIM_SETTINGS_MAX, ", closed loop of %u users",
                (unsigned)scenario->workload.users);
        return;
    }
    if (output->studies_count == 0)
        append (buffer, SIM_SETTINGS_MAX, ", %s arrivals", arrivals);
    else if (output->studies[0].load < output->studies[last].load ||
             output->studies[0].load > output->studies[last].load)
        append (buffer, SIM_SETTINGS_MAX, ", %s arrivals at loads %.4g to %.4g", arrivals,
                output->studies[0].load, output->studies[last].load);
    else
        append (buffer, SIM_SETTINGS_MAX, ", load %.4g, %s arrivals at %.6g/s",
                output->studies[0].load, arrivals,
                sim_scenario_rate_per_s (output->studies[0].scenario));
}

const char *sim_output_settings (const struct sim_output *output, char buffer[SIM_SETTINGS_MAX])
{
    const struct sim_scenario *scenario = output->scenario;
    const struct sim_amount *amount = &scenario->amount;
    buffer[0] = '\0';
    append (buffer, SIM_SETTINGS_MAX, "%s: %u replica%s of %u worker%s, %u client%s",
            scenario->name[0] ? scenario->name : "scenario", (unsigned)scenario->replicas.count,
            scenario->replicas.count == 1 ? "" : "s", (unsigned)scenario->replicas.workers,
            scenario->replicas.workers == 1 ? "" : "s", (unsigned)scenario->clients,
            scenario->clients == 1 ? "" : "s");
    append_load (output, buffer);
    append (buffer, SIM_SETTINGS_MAX, ", %u replication%s of %llu requests",
            output->studies_count ? (unsigned)output->studies[0].replications
                                  : (unsigned)amount->replications,
            amount->replications == 1 ? "" : "s", (unsigned long long)amount->calls);
    if (amount->warm_up > 0 || amount->cool_down > 0)
        append (buffer, SIM_SETTINGS_MAX, " (and %.3g %% before, %.3g %% after, cut)",
                100 * amount->warm_up, 100 * amount->cool_down);
    append (buffer, SIM_SETTINGS_MAX, ", seed %llu", (unsigned long long)amount->seed);
    return buffer;
}

/* Fewer than this many samples above p99.9 in a replication say little about it. */
#define SAMPLES_ABOVE_MIN 10
#define NOTES_EACH        4

/* "tied at load 0.7: "; the load of a closed loop is not known. */
static void append_row (const struct sim_point *row, char buffer[SIM_SETTINGS_MAX])
{
    append (buffer, SIM_SETTINGS_MAX, "%s", row->policy->name);
    if (row->study->load >= 0)
        append (buffer, SIM_SETTINGS_MAX, " at load %.4g", row->study->load);
    append (buffer, SIM_SETTINGS_MAX, ": ");
}

/* Note number `which` of a row. @return false: it does not apply */
static bool note_of (const struct sim_point *row, uint32_t which, char buffer[SIM_SETTINGS_MAX])
{
    const struct sim_policy_summary *summary = row->summary;
    uint32_t replications = row->study->replications;
    switch (which) {
    case 0:
        if (summary->unstable == 0)
            return false;
        append_row (row, buffer);
        append (buffer, SIM_SETTINGS_MAX, "the queue grew in %u of %u replications%s",
                (unsigned)summary->unstable, (unsigned)replications,
                row->is_unstable ? "" : "; read its percentiles with care");
        return true;
    case 1:
        if (row->is_unstable || replications == 0 ||
            summary->sum.latency->total / replications / 1000 >= SAMPLES_ABOVE_MIN)
            return false;
        append_row (row, buffer);
        append (buffer, SIM_SETTINGS_MAX, "fewer than %d requests of a replication lie above p99.9",
                SAMPLES_ABOVE_MIN);
        return true;
    case 2:
        if (summary->sum.table_overflows == 0)
            return false;
        append_row (row, buffer);
        append (buffer, SIM_SETTINGS_MAX,
                "%llu calls found the client's table full and were not sent",
                (unsigned long long)summary->sum.table_overflows);
        return true;
    default:
        if (row->index != 0 || !row->study->out_of_time)
            return false;
        if (row->study->load >= 0)
            append (buffer, SIM_SETTINGS_MAX, "load %.4g: ", row->study->load);
        append (buffer, SIM_SETTINGS_MAX,
                "the time budget, or an interruption, ended it after %u replications; another run "
                "may end elsewhere",
                (unsigned)replications);
        return true;
    }
}

bool sim_output_next_note (const struct sim_output *output,
                           const struct sim_points *rows,
                           uint32_t *cursor,
                           char buffer[SIM_SETTINGS_MAX])
{
    buffer[0] = '\0';
    while (*cursor < NOTES_EACH * rows->count) {
        uint32_t at = (*cursor)++;
        if (note_of (&rows->items[at / NOTES_EACH], at % NOTES_EACH, buffer))
            return true;
    }
    if (*cursor == NOTES_EACH * rows->count && output->studies_count > 0) {
        (*cursor)++;
        if (output->studies[0].replications < 2) {
            append (buffer, SIM_SETTINGS_MAX,
                    "with one replication there are no intervals; ask for more by --replications");
            return true;
        }
    }
    return false;
}
