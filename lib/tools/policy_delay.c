/* SPDX-License-Identifier: MIT */
/* The delays of a policy: of the second copy, and of a hedge with what it may cost; see
 * policy_text.h. */
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

int ti_share_parse (const char *text, uint32_t *out_ppm)
{
    char number[16];
    double percent = 0;
    const size_t length = strlen (text);
    if (length == 0 || text[length - 1] != '%')
        return TI_UNITS_NO_UNIT;
    if (length > sizeof number)
        return TI_UNITS_TOO_FINE;
    memcpy (number, text, length - 1);
    number[length - 1] = '\0';
    const int error = ti_parse_real (number, &percent);
    if (error)
        return error;
    if (percent > 100)
        return TI_UNITS_TOO_LARGE;
    const double ppm = percent * (TIED_PPM / 100.0);
    if (fabs (ppm - round (ppm)) > 1e-6)
        return TI_UNITS_TOO_FINE;
    *out_ppm = (uint32_t)round (ppm);
    return 0;
}

bool ti_hedge_rule_learns (const struct tied_hedge_rule *rule)
{
    for (uint32_t i = 0; i < rule->count; i++)
        if (rule->terms[i].is_percentile)
            return true;
    return rule->kind == TIED_HEDGE_RULE_AUTO;
}

void ti_policy_set_rule (struct tied_policy *policy, const struct tied_hedge_rule *rule)
{
    struct tied_policy defaults;
    tied_policy_init (&defaults);
    policy->hedge = *rule;
    policy->extra_load_ppm = defaults.extra_load_ppm;
    policy->is_governed = defaults.is_governed;
    policy->hedge_floor_ns = defaults.hedge_floor_ns;
    policy->hedge_ceiling_ns = defaults.hedge_ceiling_ns;
    if (ti_hedge_rule_learns (rule))
        return;
    policy->extra_load_ppm = TIED_PPM;
    policy->is_governed = false;
    policy->hedge_floor_ns = 0;
    policy->hedge_ceiling_ns = TI_POLICY_DELAY_MAX;
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
