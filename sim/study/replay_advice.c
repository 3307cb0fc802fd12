/* SPDX-License-Identifier: MIT */
/* One sentence: tie, hedge at d, or neither, and why. */
#include <math.h>
#include <stdio.h>

#include "base/util.h"
#include "study/replay.h"
#include "study/summary.h"
#include "text/units.h"

/* A gain below this share of p99 is not worth another thing that can break. */
#define WORTH 0.05
/* Policies whose p99 differ by less than this are as good as each other: the cheaper one wins. */
#define ALIKE 0.1

/* Policy 0 is single. */
#define SINGLE 0u

static double p99 (const struct sim_study *study, uint32_t policy)
{
    return study->policies[policy].percentile_ns[SIM_AT_P99].value;
}

/* It is stable, and lower than single by more than chance and by enough to be worth it. */
static bool is_better (const struct sim_study *study, uint32_t policy)
{
    const struct sim_estimate minus = study->policies[policy].p99_minus_ns;
    const double half = isfinite (minus.half) ? minus.half : 0;

    return !sim_study_is_unstable (study, policy) && isfinite (minus.value) &&
           minus.value + half < 0 && -minus.value > WORTH * p99 (study, SINGLE);
}

/* The cheapest of those that are as good as the best; SINGLE: none is better. */
static uint32_t choose (const struct sim_study *study)
{
    uint32_t best = SINGLE, chosen = SINGLE;

    for (uint32_t i = 1; i < study->policies_count; i++)
        if (is_better (study, i) && (best == SINGLE || p99 (study, i) < p99 (study, best)))
            best = chosen = i;
    for (uint32_t i = 1; best != SINGLE && i < study->policies_count; i++)
        if (is_better (study, i) && p99 (study, i) <= (1 + ALIKE) * p99 (study, best) &&
            study->policies[i].executions_per_call.value <
                study->policies[chosen].executions_per_call.value)
            chosen = i;
    return chosen;
}

static void advise_against (const struct sim_study *study, struct sim_replay *self)
{
    uint32_t lowest = SINGLE;
    char ms[TI_UNITS_TEXT_MAX], single[TI_UNITS_TEXT_MAX];

    for (uint32_t i = 1; i < study->policies_count; i++)
        if (!sim_study_is_unstable (study, i) && isfinite (p99 (study, i)) &&
            (lowest == SINGLE || p99 (study, i) < p99 (study, lowest)))
            lowest = i;
    if (lowest == SINGLE) {
        (void)snprintf (self->advice, sizeof self->advice,
                        "Do not hedge or tie: with further copies the queues grow without end.");
        return;
    }
    (void)snprintf (self->advice, sizeof self->advice,
                    "Do not hedge or tie: no policy lowers p99 by more than %g %% and by more than "
                    "chance (single %s ms, lowest %s ms with %.40s).",
                    100 * WORTH, ti_format_ms ((uint64_t)p99 (study, SINGLE), single),
                    ti_format_ms ((uint64_t)p99 (study, lowest), ms),
                    study->scenario->policies[lowest].name);
}

static void advise_for (const struct sim_study *study, uint32_t chosen, struct sim_replay *self)
{
    const struct sim_policy_summary *summary = &study->policies[chosen];
    const enum sim_policy_kind kind = study->scenario->policies[chosen].kind;
    const double extra =
        summary->executions_per_call.value - study->policies[SINGLE].executions_per_call.value;
    char before[TI_UNITS_TEXT_MAX], after[TI_UNITS_TEXT_MAX], delay[TI_UNITS_TEXT_MAX];
    char what[96];

    if (kind == SIM_POLICY_TIED)
        (void)snprintf (what, sizeof what, "Tie");
    else
        (void)snprintf (what, sizeof what, "%s at %s ms",
                        kind == SIM_POLICY_HEDGE ? "Hedge" : "Tie, and hedge",
                        ti_format_ms (summary->hedge_ns, delay));
    (void)snprintf (
        self->advice, sizeof self->advice,
        "%s: p99 falls from %s to %s ms (%.0f %%) for %.1f %% more executions, the least "
        "of the policies within %g %% of the lowest p99.",
        what, ti_format_ms ((uint64_t)p99 (study, SINGLE), before),
        ti_format_ms ((uint64_t)p99 (study, chosen), after),
        100 * (p99 (study, chosen) / p99 (study, SINGLE) - 1), 100 * extra, 100 * ALIKE);
}

void sim_replay_advise (const struct sim_study *study, struct sim_replay *self)
{
    uint32_t chosen;

    if (!self->has_hedges) {
        (void)snprintf (self->advice, sizeof self->advice,
                        "Add replicas or workers first: with these the queue of single grows "
                        "without end at load %.3g, and further copies cannot help.",
                        study->load);
        return;
    }
    chosen = choose (study);
    if (chosen == SINGLE)
        advise_against (study, self);
    else
        advise_for (study, chosen, self);
}
