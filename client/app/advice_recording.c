/* SPDX-License-Identifier: MIT */
/* Columns are found by their names in the heading; lines are bounded and hold no quotes. */
#include "advice_recording.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

#include "text/quote.h"
#include "text/units.h"

#define LINE_MAX_    1024
#define FIELDS_MAX   32
#define POLICIES_MAX 16
#define NAME_MAX_    80
/* Calls of the policy that had more than one copy: more than this share say that it is not one that
 * makes single copies. */
#define COPIES_PPM 10000u

enum column {
    POLICY,
    COPIES,
    QUEUE,
    LATENCY,
    OUTCOME,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {"policy", "copies", "queue_us", "latency_us",
                                                  "outcome"};

struct reader {
    const char *path;
    FILE *file;
    uint32_t line;
    uint32_t at[COLUMNS]; /* number of the field */
    uint32_t fields;
    char text[LINE_MAX_];
    char *field[FIELDS_MAX];
    char *why;
};

static int refuse (struct reader *self, const char *what)
{
    return ti_cli_refuse (self->why, "%.120s:%u: %s", self->path, self->line, what);
}

/* 1: a line; 0: the end; negative: it is none. */
static int next_line (struct reader *self)
{
    if (!fgets (self->text, sizeof self->text, self->file))
        return ferror (self->file)
                   ? ti_cli_refuse (self->why, "%.120s: %s", self->path, strerror (errno))
                   : 0;
    self->line++;
    if (!strchr (self->text, '\n') && !feof (self->file))
        return refuse (self, "a line longer than any of a recording");
    self->text[strcspn (self->text, "\r\n")] = '\0';
    self->fields = 0;
    for (char *at = self->text; at; self->fields++) {
        if (self->fields == FIELDS_MAX)
            return refuse (self, "more columns than a recording has");
        self->field[self->fields] = at;
        at = strchr (at, ',');
        if (at)
            *at++ = '\0';
    }
    return 1;
}

static int read_heading (struct reader *self)
{
    char what[96];
    int rc = next_line (self);
    if (rc <= 0)
        return rc ? rc : ti_cli_refuse (self->why, "%.120s: there is nothing in it", self->path);
    for (uint32_t c = 0; c < COLUMNS; c++) {
        self->at[c] = 0;
        while (self->at[c] < self->fields &&
               strcmp (self->field[self->at[c]], column_names[c]) != 0)
            self->at[c]++;
        if (self->at[c] == self->fields) {
            snprintf (what, sizeof what,
                      "no column %s: a recording of tied-client bench --record is wanted",
                      column_names[c]);
            return refuse (self, what);
        }
    }
    return 0;
}

static const char *get (const struct reader *self, enum column column)
{
    return self->at[column] < self->fields ? self->field[self->at[column]] : "";
}

/* Microseconds up to some days. */
static bool read_us (const char *text, uint64_t *out_ns)
{
    double us;
    if (ti_parse_real (text, &us) != TI_UNITS_OK || us > 1e12)
        return false;
    *out_ns = (uint64_t)llround (us * 1e3);
    return true;
}

static int open_at_lines (struct reader *self)
{
    self->line = 0;
    self->file = fopen (self->path, "r");
    if (!self->file)
        return ti_cli_refuse (self->why, "%.120s: %s", self->path, strerror (errno));
    return read_heading (self);
}

struct names {
    char items[POLICIES_MAX][NAME_MAX_];
    uint32_t count;
};

static bool has_name (const struct names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp (names->items[i], name) == 0)
            return true;
    return false;
}

static int list_policies (struct reader *self, struct names *names)
{
    int rc = open_at_lines (self);
    while (rc == 0) {
        rc = next_line (self);
        if (rc <= 0)
            break;
        rc = 0;
        const char *name = get (self, POLICY);
        if (names->count < POLICIES_MAX && strlen (name) < NAME_MAX_ && !has_name (names, name))
            snprintf (names->items[names->count++], NAME_MAX_, "%s", name);
    }
    if (self->file)
        fclose (self->file);
    self->file = NULL;
    return rc;
}

static bool makes_single_copies (const char *name)
{
    return strncmp (name, "single", 6) == 0 && !strchr (name, '+');
}

/* Whose calls are looked at; NULL after a line. */
static const char *choose (struct reader *self, const struct names *names, const char *wanted)
{
    const char *chosen = names->count == 1 ? names->items[0] : NULL;
    char quoted[TI_QUOTE_MAX];
    if (wanted && !has_name (names, wanted)) {
        ti_cli_refuse (self->why, "%.120s: no call of the policy %s", self->path,
                       ti_quote (wanted, quoted));
        return NULL;
    }
    for (uint32_t i = 0; !wanted && !chosen && i < names->count; i++)
        if (makes_single_copies (names->items[i]))
            chosen = names->items[i];
    if (!wanted && !chosen)
        ti_cli_refuse (self->why, "%.120s: %s", self->path,
                       names->count ? "calls of several policies: say which with --policy"
                                    : "there is no call in it");
    return wanted ? wanted : chosen;
}

static int take (struct reader *self, struct advice_samples *out, uint64_t *several)
{
    uint64_t copies, queue_ns, latency_ns;
    const char *outcome = get (self, OUTCOME);
    if (ti_parse_u64 (get (self, COPIES), &copies) || !read_us (get (self, QUEUE), &queue_ns) ||
        !read_us (get (self, LATENCY), &latency_ns))
        return refuse (self, "copies, queue_us and latency_us are numbers");
    *several += copies > 1;
    if (strcmp (outcome, "ok") != 0 && strcmp (outcome, "app_error") != 0) {
        out->failed++;
        return 0;
    }
    if (advice_samples_add (out, latency_ns, queue_ns) != 0)
        return ti_cli_refuse (self->why, "%.120s: out of memory", self->path);
    return 0;
}

static int read_calls (struct reader *self, const char *policy, struct advice_samples *out)
{
    uint64_t several = 0;
    int rc = open_at_lines (self);
    while (rc == 0) {
        rc = next_line (self);
        if (rc <= 0)
            break;
        rc = strcmp (get (self, POLICY), policy) == 0 ? take (self, out, &several) : 0;
    }
    const uint64_t all = out->count + out->dropped + out->failed;
    if (rc == 0 && several > all * COPIES_PPM / TIED_PPM)
        rc = ti_cli_refuse (self->why,
                            "%.120s: calls of the policy %.60s had more than one copy: record "
                            "single, to see what calls take without",
                            self->path, policy);
    return rc;
}

int advice_read_recording (const char *path,
                           const char *policy,
                           struct advice_samples *out,
                           char why[TI_CLI_WHY_MAX])
{
    static struct names names;
    struct reader reader = {.path = path, .why = why};
    *out = (struct advice_samples){.items = NULL};
    names.count = 0;
    int rc = list_policies (&reader, &names);
    const char *chosen = rc == 0 ? choose (&reader, &names, policy) : NULL;
    if (rc == 0)
        rc = chosen ? read_calls (&reader, chosen, out) : TIED_ERR_INVAL;
    if (reader.file)
        fclose (reader.file);
    if (rc)
        advice_samples_deinit (out);
    return rc;
}
