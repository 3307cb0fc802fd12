/* SPDX-License-Identifier: MIT */
/* The delays of a policy: of the second copy, and of a hedge; see policy_text.h. */
#include "policy_text.h"

#include <math.h>
#include <string.h>

#include "base/util.h"
#include "text/units.h"

int ti_percentile_parse (const char *text, uint32_t *out_ppm)
{
    double percent;
    if (text[0] != 'p' || ti_parse_real (text + 1, &percent) || percent <= 0 || percent >= 100)
        return TI_UNITS_NOT_A_NUMBER;
    double ppm = percent * 1e4;
    if (fabs (ppm - round (ppm)) > 1e-6)
        return TI_UNITS_TOO_FINE;
    *out_ppm = (uint32_t)round (ppm);
    return 0;
}

static int parse_delay (const char *text, tied_duration_t *out)
{
    uint64_t ns = 0;
    int error = ti_parse_duration (text, &ns);
    if (error == 0 && ns > TI_POLICY_DELAY_MAX)
        error = TI_UNITS_TOO_LARGE;
    if (error == 0)
        *out = ns;
    return error;
}

int ti_stagger_parse (const char *text, tied_duration_t *out)
{
    if (strcmp (text, "auto") != 0)
        return parse_delay (text, out);
    *out = TIED_STAGGER_AUTO;
    return 0;
}

int ti_hedge_parse (const char *text, struct ti_hedge *out)
{
    struct ti_hedge hedge = {.kind = TI_HEDGE_PERCENTILE};
    if (ti_percentile_parse (text, &hedge.ppm)) {
        int error = parse_delay (text, &hedge.ns);
        if (error)
            return error;
        hedge = (struct ti_hedge){.kind = TI_HEDGE_AFTER, .ns = ti_max (hedge.ns, TIED_HEDGE_NOW)};
    }
    *out = hedge;
    return 0;
}
