/* SPDX-License-Identifier: MIT */
/* From a policy in one word to a policy of a scenario. */
#include "policy_text.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

#include <tied/error.h>

TI_STATIC_ASSERT (TI_POLICY_TEXT_MAX <= SIM_NAME_MAX, "the text of a policy is its name");

/* What may follow a word of ours, by the last column of SIM_POLICY_MORE. */
enum {
    TAKES_NOTHING = TI_TAKES_NOTHING,
    TAKES_COPIES = TI_TAKES_PICK | TI_TAKES_KEEP,
    TAKES_DELAY = TAKES_COPIES | TI_TAKES_DELAY,
    TAKES_TIE = TAKES_DELAY | TI_TAKES_STAGGER,
    TAKES_D = TI_TAKES_D
};

/* cos and coc are short for the ideal ones: the words of the literature. */
#define WORD(name, text, takes)                                                                    \
    {text, SIM_POLICY_##name, TAKES_##takes == TAKES_TIE, TAKES_##takes},
static const struct ti_policy_word words[] = {SIM_POLICY_MORE (WORD) /* and these */
                                              {"cos", SIM_POLICY_IDEAL_COS, false, TAKES_D},
                                              {"coc", SIM_POLICY_IDEAL_COC, false, TAKES_D},
                                              {NULL, 0, false, 0}};
#undef WORD

static const struct ti_policy_grammar grammar = {
    .more = words,
    .takes = TI_TAKES_STAGGER | TI_TAKES_HEDGE | TI_TAKES_DELAY | TI_TAKES_PICK | TI_TAKES_KEEP |
             TI_TAKES_D | TI_TAKES_AFFINITY,
    .examples = "single, tied, single+hedge:auto, hedge/p95, clone, central, jsq(2)..."};

void sim_policy_init (struct sim_policy *self, enum sim_policy_kind kind)
{
    bool is_tied = sim_policy_is_tie (kind);
    bool is_hedged = kind == SIM_POLICY_HEDGE || kind == SIM_POLICY_TIED_HEDGE;
    *self = (struct sim_policy){.kind = kind,
                                .pick = ti_pick_default (is_tied),
                                .stagger_ns = TIED_STAGGER_AUTO,
                                .hedge_ppm = is_hedged ? 950000 : 0,
                                .d = 2};
    tied_policy_init (&self->settings);
    ti_policy_set_rule (&self->settings, &self->settings.hedge);
}

void sim_policy_hedge_after (struct sim_policy *self, tied_duration_t delay)
{
    self->hedge_ppm = 0;
    self->settings.hedge =
        (struct tied_hedge_rule){.kind = TIED_HEDGE_RULE_MIN,
                                 .count = 1,
                                 .terms[0].value = ti_min (delay, TI_POLICY_DELAY_MAX)};
    self->settings.hedge_floor_ns = 0;
    self->settings.hedge_ceiling_ns = TI_POLICY_DELAY_MAX;
}

tied_duration_t sim_policy_fixed_delay (const struct sim_policy *self)
{
    const struct tied_hedge_rule *rule = &self->settings.hedge;
    if (self->hedge_ppm > 0 || rule->count != 1 || rule->terms[0].is_percentile)
        return TIED_NEVER;
    return rule->terms[0].value;
}

static void set_hedge (struct sim_policy *self, const struct ti_hedge *hedge)
{
    if (hedge->kind == TI_HEDGE_AFTER)
        sim_policy_hedge_after (self, hedge->ns == TIED_HEDGE_NOW ? 0 : hedge->ns);
    else
        self->hedge_ppm = hedge->ppm;
}

int sim_hedge_parse (const char *text, struct sim_policy *out)
{
    struct ti_hedge hedge;
    if (ti_hedge_parse (text, &hedge))
        return TIED_ERR_INVAL;
    set_hedge (out, &hedge);
    return 0;
}

/* "+hedge:10ms" makes a hedge of single and of tied. */
static enum sim_policy_kind kind_of (const struct ti_policy_text *policy)
{
    bool is_hedged = policy->settings.hedge.kind != TIED_HEDGE_RULE_NEVER;
    if (!policy->is_mode)
        return (enum sim_policy_kind)policy->word->number;
    switch ((enum tied_mode)policy->word->number) {
    case TIED_MODE_SINGLE:
        return is_hedged ? SIM_POLICY_HEDGE : SIM_POLICY_SINGLE;
    case TIED_MODE_TIED:
        return is_hedged ? SIM_POLICY_TIED_HEDGE : SIM_POLICY_TIED;
    case TIED_MODE_PARK: /* they take no hedge */
        return SIM_POLICY_PARK;
    case TIED_MODE_EXCLUSIVE:
        return SIM_POLICY_EXCLUSIVE;
    }
    TI_UNREACHABLE ();
}

int sim_policy_parse (const char *text, struct sim_policy *out, char why[SIM_POLICY_WHY_MAX])
{
    struct ti_policy_text policy;
    int rc = ti_policy_parse (text, &grammar, &policy, why);
    if (rc)
        return rc;
    sim_policy_init (out, kind_of (&policy));
    memcpy (out->name, text, strlen (text) + 1);
    out->pick = policy.pick;
    out->stagger_ns = policy.settings.stagger_ns;
    out->settings = policy.settings;
    if (policy.is_mode)
        out->hedge_ppm = 0;
    out->keeps_losers = policy.keeps_losers;
    if (policy.hedge.kind != TI_HEDGE_NONE)
        set_hedge (out, &policy.hedge);
    if (policy.d > 0)
        out->d = policy.d;
    return 0;
}
