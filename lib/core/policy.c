/* SPDX-License-Identifier: MIT */
/* The settings of a method: defaults and ranges, in the order of the header. */
#include <tied/policy.h>

#include "core/hedge_rule.h"

#define LONG TIED_S (3600)

void tied_policy_init (struct tied_policy *policy)
{
    *policy = (struct tied_policy){
        .struct_size = sizeof *policy,
        .mode = TIED_MODE_TIED,
        .canary_ppm = TIED_PPM,
        .stagger_ns = TIED_STAGGER_AUTO,
        .hedge = {.kind = TIED_HEDGE_RULE_NEVER},
        .hedge_floor_ns = TIED_US (500),
        .hedge_ceiling_ns = TIED_S (10),
        .hedge_initial_ns = TIED_MS (100),
        .min_samples = 100,
        .target_ppm = 999000,
        .extra_load_ppm = 50000,
        .burst_milli = 10000,
        .debt_milli = 1000000,
        .governor =
            {
                .window_ns = TIED_S (1),
                .hold_ns = TIED_S (1),
                .min_events = 50,
                .rejected_ppm = 500000,
                .error_ppm = 500000,
                .duplicate_ppm = 200000,
                .win_ppm = 10000,
            },
        .is_governed = true,
    };
}

static bool is_in (uint64_t value, uint64_t low, uint64_t high)
{
    return value >= low && value <= high;
}

static bool is_mode (uint32_t mode)
{
#define IS_THIS_(name, value, text)                                                                \
    if (mode == (value))                                                                           \
        return true;
    TIED_MODE_MAP (IS_THIS_)
#undef IS_THIS_
    return false;
}

static const char *bad_limit (const struct tied_governor_limits *g)
{
    if (!is_in (g->window_ns, TIED_MS (10), LONG))
        return "governor.window_ns";
    if (!is_in (g->hold_ns, 0, LONG))
        return "governor.hold_ns";
    if (!is_in (g->min_events, 1, 1u << 20))
        return "governor.min_events";
    if (!is_in (g->rejected_ppm, 0, TIED_PPM))
        return "governor.rejected_ppm";
    if (!is_in (g->error_ppm, 0, TIED_PPM))
        return "governor.error_ppm";
    if (!is_in (g->duplicate_ppm, 0, TIED_PPM))
        return "governor.duplicate_ppm";
    if (!is_in (g->win_ppm, 0, TIED_PPM))
        return "governor.win_ppm";
    return NULL;
}

static bool waits_are_valid (const struct tied_policy *p)
{
    for (uint32_t i = 0; i < p->waits_count; i++)
        if (p->waits[i].first == 0 || p->waits[i].first > p->waits[i].last)
            return false;
    return true;
}

static const char *bad_hedge (const struct tied_policy *p)
{
    if (!ti_hedge_rule_is_valid (&p->hedge))
        return "hedge";
    if (!is_in (p->hedge_ceiling_ns, 0, LONG))
        return "hedge_ceiling_ns";
    if (!is_in (p->hedge_floor_ns, 0, p->hedge_ceiling_ns))
        return "hedge_floor_ns";
    if (p->hedge_initial_ns != TIED_NEVER &&
        !is_in (p->hedge_initial_ns, p->hedge_floor_ns, p->hedge_ceiling_ns))
        return "hedge_initial_ns";
    if (!is_in (p->min_samples, 1, 1u << 20))
        return "min_samples";
    if (!is_in (p->target_ppm, 500000, TIED_PPM - 1))
        return "target_ppm";
    return NULL;
}

static const char *first_bad_field (const struct tied_policy *p)
{
    if (p->struct_size != sizeof *p)
        return "struct_size";
    if (!is_mode (p->mode))
        return "mode";
    if (!is_in (p->canary_ppm, 0, TIED_PPM))
        return "canary_ppm";
    if (p->stagger_ns != TIED_STAGGER_AUTO && p->stagger_ns > LONG)
        return "stagger_ns";
    const char *bad = bad_hedge (p);
    if (bad)
        return bad;
    if (!is_in (p->extra_load_ppm, 0, TIED_PPM))
        return "extra_load_ppm";
    if (!is_in (p->burst_milli, 1000, 1u << 30))
        return "burst_milli";
    if (!is_in (p->debt_milli, 0, 1u << 30))
        return "debt_milli";
    if (!is_in (p->min_remaining_ns, 0, LONG))
        return "min_remaining_ns";
    bad = bad_limit (&p->governor);
    if (bad)
        return bad;
    if (!is_in (p->waits_count, 0, TIED_POLICY_WAITS_MAX))
        return "waits_count";
    if (!waits_are_valid (p))
        return "waits";
    return NULL;
}

int tied_policy_check (const struct tied_policy *policy, const char **out_field)
{
    const char *bad = policy ? first_bad_field (policy) : "policy";
    if (!bad)
        return 0;
    if (out_field)
        *out_field = bad;
    return TIED_ERR_INVAL;
}
