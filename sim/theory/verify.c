/* SPDX-License-Identifier: MIT */
/* Runs the matrix and judges it; see verify.h. */
#include "theory/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "study/pool.h"
#include "study/statistics.h"
#include "theory/student.h"
#include "theory/verify_measure.h"
#include "theory/verify_rows.h"
#include "tools/wall.h"

#include <tied/error.h>

/* Enough for an interval of Student's t that is not much wider than a normal one, and for widths
 * that are much the same with any seed. */
#define REPLICATIONS 40
#define SEED         1
/* Fewer comparisons share the 1 %, so that shorter runs give the same intervals. */
#define QUICK_SHARE 0.8

/* What the replications of a row have said so far. */
struct tally {
    struct sim_series series[SIM_CHECKS_MAX];
    uint32_t broken; /* replications in which an identity did not hold */
    uint32_t first_broken;
    char why[SIM_WHY_MAX];
};

struct matrix {
    const struct sim_verify_options *options;
    struct sim_verify *out;
    struct sim_rows rows;
    struct tally *tallies;
    uint64_t seed;
};

const char *sim_verify_verdict_name (enum sim_verify_verdict verdict)
{
    static const char *const names[SIM_VERIFY_VERDICTS] = {"ok", "OUT", "WIDE"};
    return names[verdict];
}

static int run_task (void *context, uint64_t task, struct sim_result *result, char why[SIM_WHY_MAX])
{
    const struct matrix *self = context;
    uint32_t row = (uint32_t)(task / REPLICATIONS), replication = (uint32_t)(task % REPLICATIONS);
    /* Of the name: rows are independent of each other, and each is the same in both forms and
     * whichever others are run. */
    const struct sim_run_options options = {
        .scenario = &self->rows.items[row].scenario,
        .seed =
            sim_study_seed (self->seed ^ ti_hash_text (self->rows.items[row].name), replication),
        .fault = self->options->fault};
    sim_runner *runner = self->options->runner ? self->options->runner : sim_run;
    int rc = runner (&options, result, why);
    if (rc) {
        char text[SIM_WHY_MAX];
        snprintf (text, sizeof text, "%s: %.420s", self->rows.items[row].name, why);
        memcpy (why, text, sizeof text);
    }
    return rc;
}

static bool take (void *context, uint64_t task, const struct sim_result *result)
{
    struct matrix *self = context;
    uint32_t replication = (uint32_t)(task % REPLICATIONS);
    const struct sim_row *row = &self->rows.items[task / REPLICATIONS];
    struct tally *tally = &self->tallies[task / REPLICATIONS];
    for (uint32_t i = 0; i < row->checks_count; i++)
        sim_series_add (&tally->series[i], sim_measure (row, row->checks[i].quantity, result));
    char why[SIM_WHY_MAX];
    if (!sim_measure_identities (row, result, why)) {
        if (tally->broken++ == 0)
            snprintf (tally->why, sizeof tally->why, "replication %u of %u: %.450s",
                      replication + 1, REPLICATIONS, why);
    }
    self->out->calls += result->all_calls;
    return true;
}

static void tell (void *context, uint64_t done, tied_duration_t elapsed)
{
    const struct matrix *self = context;
    self->options->progress (self->options->context, done,
                             (uint64_t)self->rows.count * REPLICATIONS, elapsed);
}

/* How far measurement and theory lie apart in standard errors, what the theory allows taken off. */
static double distance (double measured, double theory, double slack, double error)
{
    double away = fabs (measured - theory) - slack;
    if (away <= 0)
        return 0;
    return copysign (away / error, measured - theory);
}

static void judge_check (const struct sim_check *check,
                         const struct sim_series *series,
                         double limit,
                         struct sim_verify_line *line)
{
    snprintf (line->quantity, sizeof line->quantity, "%s", sim_quantity_name (check->quantity));
    line->theory = check->theory;
    line->slack = check->slack;
    line->measured = series->mean;
    double error = sqrt (series->squares / (series->count - 1) / series->count);
    line->half = limit * error;
    line->z = distance (series->mean, check->theory, check->slack, error);
    /* Not a number is not inside either. */
    if (!(fabs (line->z) <= limit))
        line->verdict = SIM_VERIFY_OUT;
    else if (check->width > 0 && !(line->half <= check->width * check->theory))
        line->verdict = SIM_VERIFY_WIDE;
}

static void judge_identities (const struct tally *tally, struct sim_verify_line *line)
{
    snprintf (line->quantity, sizeof line->quantity, "identities");
    line->theory = 0;
    line->measured = tally->broken;
    line->half = line->z = NAN;
    line->verdict = tally->broken ? SIM_VERIFY_OUT : SIM_VERIFY_OK;
    snprintf (line->note, sizeof line->note, "%s", tally->why);
}

static void judge (struct matrix *self)
{
    struct sim_verify *out = self->out;
    for (uint32_t i = 0; i < self->rows.count; i++) {
        const struct sim_row *row = &self->rows.items[i];
        for (uint32_t k = 0; k <= row->checks_count; k++) {
            struct sim_verify_line *line = &out->lines[out->lines_count++];
            snprintf (line->row, sizeof line->row, "%s", row->name);
            line->calls = row->scenario.amount.calls * REPLICATIONS;
            if (row->note)
                snprintf (line->note, sizeof line->note, "%s", row->note);
            if (k < row->checks_count)
                judge_check (&row->checks[k], &self->tallies[i].series[k], out->limit, line);
            else
                judge_identities (&self->tallies[i], line);
            out->out += line->verdict == SIM_VERIFY_OUT;
            out->wide += line->verdict == SIM_VERIFY_WIDE;
        }
    }
}

/* Only the rows that were asked for, and as long as asked for. */
static void choose (struct matrix *self)
{
    const struct sim_verify_options *options = self->options;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < self->rows.count; i++) {
        struct sim_row *row = &self->rows.items[i];
        if (options->only && !strstr (row->name, options->only)) {
            sim_scenario_deinit (&row->scenario);
            continue;
        }
        struct sim_amount *amount = &row->scenario.amount;
        double scale =
            (options->scale > 0 ? options->scale : 1) * (options->full ? 1 : QUICK_SHARE);
        amount->calls = (uint64_t)((double)amount->calls * scale) + 1;
        sim_row_warm_up (row, REPLICATIONS);
        amount->calls = amount->calls / REPLICATIONS + 1;
        self->rows.items[kept++] = *row;
    }
    self->rows.count = kept;
}

static int no_memory (char why[SIM_WHY_MAX])
{
    snprintf (why, SIM_WHY_MAX, "out of memory");
    return TIED_ERR_SYSTEM;
}

static int prepare (struct matrix *self, char why[SIM_WHY_MAX])
{
    struct sim_verify *out = self->out;
    if (!sim_rows_make (&self->rows, self->options->full))
        return no_memory (why);
    choose (self);
    if (self->rows.count == 0) {
        snprintf (
            why, SIM_WHY_MAX,
            "no row of the matrix has \"%.100s\" in its name; without --only all names are shown",
            self->options->only ? self->options->only : "");
        return TIED_ERR_ABSENT;
    }
    for (uint32_t i = 0; i < self->rows.count; i++)
        out->comparisons += self->rows.items[i].checks_count;
    out->rows = self->rows.count;
    out->replications = REPLICATIONS;
    out->seed = self->seed;
    out->limit = sim_student_quantile (
        (1 - SIM_VERIFY_CONFIDENCE) / (out->comparisons ? out->comparisons : 1), REPLICATIONS - 1);
    self->tallies = calloc (self->rows.count, sizeof *self->tallies);
    out->lines = calloc (out->comparisons + out->rows, sizeof *out->lines);
    return self->tallies && out->lines ? TIED_OK : no_memory (why);
}

static int measure (struct matrix *self, char why[SIM_WHY_MAX])
{
    const struct sim_pool pool = {.jobs = self->options->jobs ? self->options->jobs : 1,
                                  .tasks = (uint64_t)self->rows.count * REPLICATIONS,
                                  .group = 1,
                                  .context = self,
                                  .run = run_task,
                                  .take = take,
                                  .progress = self->options->progress ? tell : NULL};
    bool out_of_time;
    return sim_pool_run (&pool, &out_of_time, why);
}

int sim_verify_run (const struct sim_verify_options *options,
                    struct sim_verify *out,
                    char why[SIM_WHY_MAX])
{
    tied_time_t start = ti_wall_now ();
    *out = (struct sim_verify){.lines = NULL};
    struct matrix self = {
        .options = options, .out = out, .seed = options->seed ? options->seed : SEED};
    int rc = prepare (&self, why);
    if (rc == TIED_OK)
        rc = measure (&self, why);
    if (rc == TIED_OK)
        judge (&self);
    sim_rows_deinit (&self.rows);
    free (self.tallies);
    out->wall_ns = ti_wall_now () - start;
    if (rc)
        sim_verify_deinit (out);
    return rc;
}

void sim_verify_deinit (struct sim_verify *self)
{
    free (self->lines);
    self->lines = NULL;
    self->lines_count = 0;
}
