/* SPDX-License-Identifier: MIT */
/* The command `verify`; see cmd_verify.h. What is compared is decided in theory/. */
#include "cmd_verify.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <tied/error.h>
#include <tied/version.h>

#include "tools/cli.h"
#include "tools/fail.h"
#include "tools/json.h"
#include "tools/save.h"

const char *const sim_fault_names[] = {"none", "kill-running", "ignore-tombstones",
                                       "ignore-stagger", NULL};

/* Five digits, and columns that do not move. */
static const char *number (double value, char text[16])
{
    if (!isfinite (value))
        return "-";
    int digits = fabs (value) >= 1 ? 4 - (int)log10 (fabs (value)) : 5;
    snprintf (text, 16, "%.*f", digits < 0 ? 0 : digits, value);
    return text;
}

static void write_line (const struct sim_verify_line *line, bool is_first, FILE *out)
{
    char theory[16], measured[16], half[16];
    if (is_first)
        fprintf (out, "%s\n", line->row);
    if (isnan (line->half)) {
        fprintf (out, "  %-13s%53s%s", line->quantity, "", sim_verify_verdict_name (line->verdict));
    } else {
        fprintf (out, "  %-13s%11s%11s%11s%8.2f%%%8.2f   %s", line->quantity,
                 number (line->theory, theory), number (line->measured, measured),
                 number (line->half, half), 100 * line->half / line->theory, line->z,
                 sim_verify_verdict_name (line->verdict));
        if (line->slack > 0)
            fprintf (out, " (+- %s)", number (line->slack, theory));
    }
    if (isnan (line->half) && line->verdict != SIM_VERIFY_OK)
        fprintf (out, ": %s", line->note);
    fputc ('\n', out);
}

static void write_table (const struct sim_verify *verify, FILE *out)
{
    fprintf (out, "%-15s%11s%11s%11s%9s%8s   %s\n", "", "theory", "measured", "half-width", "", "z",
             "verdict");
    const char *row = "";
    for (uint32_t i = 0; i < verify->lines_count; i++) {
        const struct sim_verify_line *line = &verify->lines[i];
        bool is_first = strcmp (row, line->row) != 0;
        write_line (line, is_first, out);
        row = line->row;
    }
    double seconds = (double)verify->wall_ns / 1e9;
    fprintf (out,
             "\n%" PRIu32 " comparisons in %" PRIu32 " rows of %" PRIu32
             " replications; |z| <= %.2f, together with a confidence of %g %%; seed %" PRIu64 "\n",
             verify->comparisons, verify->rows, verify->replications, verify->limit,
             100 * SIM_VERIFY_CONFIDENCE, verify->seed);
    fprintf (out, "%.1f M calls in %.1f s\n", (double)verify->calls / 1e6, seconds);
    if (verify->out + verify->wide == 0)
        fprintf (out, "all agree with theory\n");
    else
        fprintf (out, "%" PRIu32 " out, %" PRIu32 " too wide\n", verify->out, verify->wide);
}

static void write_json_line (const struct sim_verify_line *line, struct ti_json *json)
{
    ti_json_object (json, NULL);
    ti_json_string (json, "row", line->row);
    ti_json_string (json, "quantity", line->quantity);
    ti_json_real (json, "theory", line->theory);
    ti_json_real (json, "slack", line->slack);
    ti_json_real (json, "measured", line->measured);
    ti_json_real (json, "half_width", line->half);
    ti_json_real (json, "z", line->z);
    ti_json_string (json, "verdict", sim_verify_verdict_name (line->verdict));
    ti_json_u64 (json, "calls", line->calls);
    ti_json_string (json, "note", line->note[0] ? line->note : NULL);
    ti_json_end (json);
}

struct saving {
    const struct sim_verify *verify;
    const struct sim_cmd_verify *command;
};

static int write_json (const void *context, FILE *file)
{
    const struct saving *saving = context;
    const struct sim_verify *verify = saving->verify;
    struct ti_json json;
    char seed[24], version[48];
    int major, minor, patch;
    tied_version (&major, &minor, &patch);
    snprintf (version, sizeof version, "%d.%d.%d", major, minor, patch);
    snprintf (seed, sizeof seed, "%" PRIu64, verify->seed);
    ti_json_init (&json, file, 2);
    ti_json_object (&json, NULL);
    ti_json_u64 (&json, "schema", 1);
    ti_json_string (&json, "program", "tied-sim verify");
    ti_json_string (&json, "version", version);
    ti_json_string (&json, "form", saving->command->full ? "full" : "quick");
    ti_json_string (&json, "seed", seed);
    ti_json_real (&json, "confidence", SIM_VERIFY_CONFIDENCE);
    ti_json_u64 (&json, "comparisons", verify->comparisons);
    ti_json_u64 (&json, "replications", verify->replications);
    ti_json_real (&json, "z_limit", verify->limit);
    ti_json_u64 (&json, "out", verify->out);
    ti_json_u64 (&json, "wide", verify->wide);
    ti_json_u64 (&json, "simulated_calls", verify->calls);
    ti_json_ms (&json, "duration_ms", verify->wall_ns);
    ti_json_array (&json, "lines");
    for (uint32_t i = 0; i < verify->lines_count; i++)
        write_json_line (&verify->lines[i], &json);
    ti_json_end (&json);
    ti_json_end (&json);
    return ti_json_finish (&json);
}

static int
save_json (const struct sim_verify *verify, const struct sim_cmd_verify *command, FILE *err)
{
    const struct saving saving = {verify, command};
    if (ti_save (command->json_path, write_json, &saving) == 0)
        return TI_EXIT_OK;
    return ti_fail_write (err, "tied-sim", command->json_path);
}

int sim_cmd_verify (const struct sim_cmd_verify *command, FILE *out, FILE *err)
{
    const struct sim_verify_options options = {.full = command->full,
                                               .seed = command->seed,
                                               .jobs = command->jobs,
                                               .only = command->only,
                                               .scale = command->scale,
                                               .fault = (enum sim_fault)command->fault,
                                               .progress = command->progress,
                                               .context = command->context};
    struct sim_verify verify;
    char why[SIM_WHY_MAX];
    int rc = sim_verify_run (&options, &verify, why);
    if (rc) {
        ti_fail (err, "tied-sim", "%s", why);
        return rc == TIED_ERR_ABSENT ? TI_EXIT_USAGE : TI_EXIT_FAILED;
    }
    write_table (&verify, out);
    if (command->fault != SIM_FAULT_NONE)
        fprintf (out, "with the planted error %s\n", sim_fault_names[command->fault]);
    rc = verify.out + verify.wide ? TI_EXIT_FAILED : TI_EXIT_OK;
    if (fflush (out) != 0 || ferror (out))
        rc = ti_fail_write (err, "tied-sim", NULL);
    if (command->json_path && save_json (&verify, command, err))
        rc = TI_EXIT_FAILED;
    sim_verify_deinit (&verify);
    return rc;
}
