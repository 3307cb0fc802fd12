/* SPDX-License-Identifier: MIT */
#include "stall.h"

#include <string.h>
#include <time.h>

#include <tied/error.h>

#include "text/units.h"

#define HEAD     "every:"
#define PART_MAX 32

bool stall_is_text (const char *text)
{
    return strncmp (text, HEAD, sizeof HEAD - 1) == 0;
}

static int parse_part (const char *text, size_t length, uint64_t *out, char *why)
{
    char part[PART_MAX], quoted[TI_QUOTE_MAX];
    int rc = TIED_ERR_INVAL;

    if (length >= sizeof part)
        return ti_cli_refuse (why, "a duration has fewer than %d characters", PART_MAX);
    memcpy (part, text, length);
    part[length] = '\0';
    rc = ti_parse_duration (part, out);
    if (rc)
        return ti_cli_refuse (why, "%s %s: give a duration such as 200ms or 4s",
                              ti_quote (part, quoted), ti_units_text (rc));
    if (*out > TIED_S (3600))
        return ti_cli_refuse (why, "%s is longer than 1h", ti_quote (part, quoted));
    return 0;
}

int stall_parse (const char *text, struct stall *out, char why[TI_CLI_WHY_MAX])
{
    struct stall stall = {0};
    const char *period = text + sizeof HEAD - 1;
    const char *comma = stall_is_text (text) ? strchr (period, ',') : NULL;
    size_t length;
    int rc;

    if (!comma)
        return ti_cli_refuse (why, "stalls at fixed times are a period, an offset and a length, as "
                                   "in every:4s+1s,200ms");
    length = strcspn (period, "+,");
    rc = parse_part (period, length, &stall.period_ns, why);
    if (rc == 0 && period[length] == '+')
        rc = parse_part (period + length + 1, (size_t)(comma - period) - length - 1,
                         &stall.offset_ns, why);
    if (rc == 0)
        rc = parse_part (comma + 1, strlen (comma + 1), &stall.length_ns, why);
    if (rc)
        return rc;
    if (stall.length_ns == 0 || stall.length_ns >= stall.period_ns)
        return ti_cli_refuse (why, "the length must be above 0 and below the period");
    if (stall.offset_ns >= stall.period_ns)
        return ti_cli_refuse (why, "the offset must be below the period");
    *out = stall;
    return 0;
}

uint64_t stall_clock (void)
{
    struct timespec ts;

    if (clock_gettime (CLOCK_REALTIME, &ts) != 0)
        return 0;
    return TIED_S ((uint64_t)ts.tv_sec) + (uint64_t)ts.tv_nsec;
}

bool stall_holds (const struct stall *self, uint64_t wall_ns, tied_duration_t *out_left)
{
    uint64_t since; /* the last stall began */

    *out_left = TIED_NEVER;
    if (self->period_ns == 0)
        return false;
    since = (wall_ns % self->period_ns + self->period_ns - self->offset_ns) % self->period_ns;
    if (since < self->length_ns) {
        *out_left = self->length_ns - since;
        return true;
    }
    *out_left = self->period_ns - since;
    return false;
}
