/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <tied/error.h>

#include "text/units.h"
#include "workload/trace.h"

#define SECOND_NS INT64_C (1000000000)

int sim_csv_open (struct sim_csv *self, const char *path, char why[SIM_WHY_MAX])
{
    *self = (struct sim_csv){.path = path};
    self->text = malloc (SIM_TRACE_LINE_MAX);
    self->file = self->text ? fopen (path, "re") : NULL;
    if (self->file)
        return TIED_OK;
    (void)snprintf (why, SIM_WHY_MAX, "%.160s: cannot be read: %s", path, strerror (errno));
    free (self->text);
    return TIED_ERR_SYSTEM;
}

void sim_csv_close (struct sim_csv *self)
{
    if (self->file)
        (void)fclose (self->file);
    free (self->text);
    *self = (struct sim_csv){0};
}

int sim_csv_refuse (const struct sim_csv *self, char why[SIM_WHY_MAX], const char *format, ...)
{
    const int used =
        snprintf (why, SIM_WHY_MAX, "%.120s:%llu: ", self->path, (unsigned long long)self->line);
    va_list args;

    va_start (args, format);
    (void)vsnprintf (why + used, SIM_WHY_MAX - (size_t)used, format, args);
    va_end (args);
    return TIED_ERR_INVAL;
}

/* One line without its end into text. @return 1, 0: end of file, -1: too long or a NUL byte */
static int read_line (struct sim_csv *self)
{
    size_t length;

    if (!fgets (self->text, SIM_TRACE_LINE_MAX, self->file))
        return 0;
    self->line++;
    length = strlen (self->text);
    if (length == 0 || (self->text[length - 1] != '\n' && !feof (self->file)))
        return -1;
    while (length > 0 && (self->text[length - 1] == '\n' || self->text[length - 1] == '\r'))
        self->text[--length] = '\0';
    return 1;
}

static char *trim (char *text)
{
    size_t length;

    while (*text == ' ' || *text == '\t')
        text++;
    length = strlen (text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        text[--length] = '\0';
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        text[length - 1] = '\0';
        text++;
    }
    return text;
}

static bool split (struct sim_csv *self)
{
    const char *separators = strchr (self->text, ',') ? "," : " \t";
    char *rest = self->text;

    self->fields_count = 0;
    for (;;) {
        if (*separators == ' ')
            rest += strspn (rest, separators);
        if (self->fields_count == SIM_CSV_FIELDS_MAX)
            return false;
        char *end = rest + strcspn (rest, separators);
        const bool is_last = *end == '\0';

        if (*separators == ' ' && end == rest)
            return true;
        *end = '\0';
        self->fields[self->fields_count++] = trim (rest);
        if (is_last)
            return true;
        rest = end + 1;
    }
}

int sim_csv_next (struct sim_csv *self, char why[SIM_WHY_MAX])
{
    for (;;) {
        const int got = read_line (self);

        if (got == 0 && ferror (self->file)) {
            (void)snprintf (why, SIM_WHY_MAX, "%.160s: cannot be read: %s", self->path,
                            strerror (errno));
            return TIED_ERR_SYSTEM;
        }
        if (got == 0)
            return 0;
        if (got < 0)
            return sim_csv_refuse (self, why, "a line is longer than %d bytes or holds a NUL byte",
                                   SIM_TRACE_LINE_MAX - 2);
        if (self->text[strspn (self->text, " \t")] == '\0')
            continue;
        if (!split (self))
            return sim_csv_refuse (self, why, "a line has more than %d fields", SIM_CSV_FIELDS_MAX);
        return 1;
    }
}

bool sim_csv_number (const char *text, double *out)
{
    const bool is_negative = *text == '-';
    double value;

    if (ti_parse_scientific (text + (is_negative || *text == '+'), &value) != TI_UNITS_OK)
        return false;
    *out = is_negative ? -value : value;
    return true;
}

/* Digits at *text as a number; the cursor moves behind them. */
static bool take_digits (const char **text, unsigned count, unsigned max, char then, int64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < count; i++) {
        if (**text < '0' || **text > '9')
            return false;
        *out = *out * 10 + (*(*text)++ - '0');
    }
    if (*out > max)
        return false;
    if (then == '\0')
        return true;
    return *(*text)++ == then;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of (int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t m = month <= 2 ? month + 9 : month - 3;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

bool sim_csv_date (const char *text, int64_t *out_ns)
{
    int64_t year, month, day, hour, minute, second;
    int64_t fraction = 0;

    if (!take_digits (&text, 4, 9999, '-', &year) || !take_digits (&text, 2, 12, '-', &month) ||
        !take_digits (&text, 2, 31, '\0', &day) || (*text != ' ' && *text != 'T') || year < 1970 ||
        month < 1 || day < 1)
        return false;
    text++;
    if (!take_digits (&text, 2, 23, ':', &hour) || !take_digits (&text, 2, 59, ':', &minute) ||
        !take_digits (&text, 2, 60, '\0', &second))
        return false;
    if (*text == '.') {
        int64_t unit = SECOND_NS;

        for (text++; *text >= '0' && *text <= '9'; text++) {
            unit /= 10;
            fraction += (*text - '0') * unit;
        }
    }
    if (*text == 'Z')
        text++;
    if (*text)
        return false;
    *out_ns = (((days_of (year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * SECOND_NS +
              fraction;
    return true;
}
