/* SPDX-License-Identifier: MIT */
/* The one entrance: looks at what it is given, then chooses the engine. */
#include "study/run.h"

#include <stdio.h>

#include "reference/reference.h"
#include "scenario/limits.h"
#include "world/world.h"

#include <tied/error.h>

/* What scenarios that no reader has checked may be, and what may have changed since. */
static int check (const struct sim_run_options *options, char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = options->scenario;
    struct sim_wrong wrong;

    if (sim_scenario_is_wrong (s, &wrong)) {
        (void)snprintf (why, SIM_WHY_MAX, "%s: %s", wrong.path, wrong.text);
        return TIED_ERR_INVAL;
    }
    if (sim_policy_is_wrong (s, options->policy, &wrong) ||
        sim_policy_cannot_run (s, options->policy, &wrong)) {
        (void)snprintf (why, SIM_WHY_MAX, "policy \"%.*s\": %s: %s", SIM_NAME_MAX - 1,
                        s->policies[options->policy].name, wrong.path, wrong.text);
        return TIED_ERR_INVAL;
    }
    return 0;
}

int sim_run (const struct sim_run_options *options,
             struct sim_result *result,
             char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = options->scenario;
    int rc;

    if (options->policy >= s->policies_count) {
        (void)snprintf (why, SIM_WHY_MAX, "policy %u does not exist: the scenario has %u",
                        (unsigned)options->policy, (unsigned)s->policies_count);
        return TIED_ERR_INVAL;
    }
    if (s->policies[options->policy].kind >= SIM_POLICY_KINDS) {
        (void)snprintf (why, SIM_WHY_MAX, "policy.kind is not known");
        return TIED_ERR_INVAL;
    }
    if (s->policies[options->policy].hedge_ppm != 0) {
        (void)snprintf (why, SIM_WHY_MAX,
                        "policy.hedge is a percentile that nobody has measured yet: run it as a "
                        "study");
        return TIED_ERR_INVAL;
    }
    rc = check (options, why);
    if (rc != 0)
        return rc;
    if (sim_policy_is_reference (s->policies[options->policy].kind))
        return sim_reference_run (options, result, why);
    return sim_world_run (options, result, why);
}
