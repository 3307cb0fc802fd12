/* SPDX-License-Identifier: MIT */
/* The grid's axes from text, and the variants that they make of a policy; see grid.h. */
#include "study/grid.h"

#include <stdio.h>
#include <string.h>

#include "scenario/policy_text.h"
#include "text/units.h"

#include <tied/error.h>

static const char *const keys[SIM_GRID_KEYS] = {"stagger", "samples", "load_age", "hedge", "depth"};

/* Each axis adds a blank, its key, a sign and its value. */
_Static_assert(SIM_VARIANT_MAX >=
                   SIM_NAME_MAX + SIM_GRID_KEYS * (sizeof "load_age" + 1 +
                                                   sizeof ((struct sim_grid_value *)0)->text),
               "no name of a variant is cut");

/* One value of an axis; text ends with NUL. @return what is wrong, NULL: nothing */
static const char *parse_value (enum sim_grid_key key, const char *text, struct sim_grid_value *out)
{
    int rc;
    snprintf (out->text, sizeof out->text, "%s", text);
    out->is_percentile = false;
    if (key == SIM_GRID_SAMPLES || key == SIM_GRID_DEPTH) {
        uint64_t least = key == SIM_GRID_SAMPLES ? 2 : 1,
                 most = key == SIM_GRID_SAMPLES ? 64 : 65536;
        if (ti_parse_u64 (text, &out->value) || out->value < least || out->value > most)
            return key == SIM_GRID_SAMPLES ? "give whole numbers from 2 to 64"
                                           : "give whole numbers from 1 to 65536";
        return NULL;
    }
    if (key == SIM_GRID_STAGGER)
        return ti_stagger_parse (text, &out->value) ? "give durations as in 0s or 1ms, or auto"
                                                    : NULL;
    if (key == SIM_GRID_HEDGE) {
        struct sim_policy hedged;
        sim_policy_init (&hedged, SIM_POLICY_SINGLE);
        if (sim_hedge_parse (text, &hedged))
            return "give durations as in 5ms, or percentiles as in p95";
        out->is_percentile = hedged.hedge_ppm > 0;
        out->value = out->is_percentile ? hedged.hedge_ppm : sim_policy_fixed_delay (&hedged);
        return NULL;
    }
    rc = ti_parse_duration (text, &out->value);
    return rc || out->value > TIED_S (3600) ? "give durations as in 5ms" : NULL;
}

static int refuse (char *why, const char *text, const char *reason)
{
    snprintf (why, SIM_WHY_MAX, "%.100s: %s", text, reason);
    return TIED_ERR_INVAL;
}

/* 1ms is also 1000us. */
static bool is_there (const struct sim_grid_value *values, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (values[i].value == values[index].value &&
            values[i].is_percentile == values[index].is_percentile)
            return true;
    return false;
}

int sim_grid_add (struct sim_grid *self, const char *text, char why[SIM_WHY_MAX])
{
    const char *equals = strchr (text, '=');
    uint32_t key = 0;
    while (equals && key < SIM_GRID_KEYS &&
           (strlen (keys[key]) != (size_t)(equals - text) ||
            strncmp (text, keys[key], strlen (keys[key])) != 0))
        key++;
    if (!equals || key == SIM_GRID_KEYS)
        return refuse (why, text,
                       "give KEY=V1,V2,... with a key of stagger samples load_age hedge depth");
    if (self->count[key] > 0)
        return refuse (why, text, "this key is given twice; list all its values at once");
    for (const char *at = equals + 1;; at++) {
        char value[16];
        size_t length = strcspn (at, ",");
        if (self->count[key] == SIM_GRID_VALUES_MAX)
            return refuse (why, text, "too many values; give at most 16");
        if (length == 0 || length >= sizeof value)
            return refuse (why, text, "a value is empty or too long");
        memcpy (value, at, length);
        value[length] = '\0';
        const char *wrong =
            parse_value ((enum sim_grid_key)key, value, &self->values[key][self->count[key]]);
        if (wrong)
            return refuse (why, text, wrong);
        if (is_there (self->values[key], self->count[key]))
            return refuse (why, text, "a value is there twice; give each once");
        self->count[key]++;
        at += length;
        if (*at == '\0')
            return TIED_OK;
    }
}

bool sim_grid_is_empty (const struct sim_grid *self)
{
    for (uint32_t key = 0; key < SIM_GRID_KEYS; key++)
        if (self->count[key] > 0)
            return false;
    return true;
}

static bool applies (uint32_t key, const struct sim_policy *policy)
{
    bool is_tied = sim_policy_is_tie (policy->kind);
    bool is_hedged = policy->kind == SIM_POLICY_HEDGE || policy->kind == SIM_POLICY_TIED_HEDGE;
    if (sim_policy_is_reference (policy->kind))
        return false;
    switch ((enum sim_grid_key)key) {
    case SIM_GRID_STAGGER:
        return is_tied;
    case SIM_GRID_SAMPLES:
    case SIM_GRID_LOAD_AGE:
        return policy->pick == TIED_PICK_INFORMED;
    case SIM_GRID_HEDGE:
        return is_hedged;
    case SIM_GRID_DEPTH:
        return policy->kind != SIM_POLICY_SINGLE;
    case SIM_GRID_KEYS:
        break;
    }
    return false;
}

static void set (uint32_t key, const struct sim_grid_value *value, struct sim_policy *policy)
{
    size_t length = strlen (policy->name);
    snprintf (policy->name + length, sizeof policy->name - length, " %s=%s", keys[key],
              value->text);
    switch ((enum sim_grid_key)key) {
    case SIM_GRID_STAGGER:
        policy->stagger_ns = value->value;
        break;
    case SIM_GRID_SAMPLES:
        policy->pick_samples = (uint32_t)value->value;
        break;
    case SIM_GRID_LOAD_AGE:
        policy->load_age_ns = value->value;
        break;
    case SIM_GRID_HEDGE:
        if (value->is_percentile)
            policy->hedge_ppm = (uint32_t)value->value;
        else
            sim_policy_hedge_after (policy, value->value);
        break;
    case SIM_GRID_DEPTH:
        policy->hedge_depth = (uint32_t)value->value;
        break;
    case SIM_GRID_KEYS:
        break;
    }
}

/* Combination number `index` of the policy, the last axis fastest. @return false: no more */
static bool variant (const struct sim_grid *self,
                     const struct sim_policy *policy,
                     uint64_t index,
                     struct sim_policy *out)
{
    uint64_t combinations = 1;
    for (uint32_t key = 0; key < SIM_GRID_KEYS; key++)
        if (self->count[key] > 0 && applies (key, policy))
            combinations *= self->count[key];
    if (index >= combinations)
        return false;
    *out = *policy;
    for (uint32_t key = 0; key < SIM_GRID_KEYS; key++) {
        if (self->count[key] == 0 || !applies (key, policy))
            continue;
        combinations /= self->count[key];
        set (key, &self->values[key][index / combinations], out);
        index %= combinations;
    }
    return true;
}

uint32_t sim_grid_variants (const struct sim_grid *self,
                            const struct sim_scenario *scenario,
                            struct sim_policy out[SIM_GRID_VARIANTS_MAX])
{
    uint32_t count = 0;
    struct sim_policy made;
    for (uint32_t i = 0; i < scenario->policies_count; i++)
        for (uint64_t n = 0; variant (self, &scenario->policies[i], n, &made); n++) {
            if (i == 0 && strcmp (made.name, scenario->policies[0].name) == 0)
                continue;
            if (count == SIM_GRID_VARIANTS_MAX)
                return UINT32_MAX;
            out[count++] = made;
        }
    return count;
}
