/* SPDX-License-Identifier: MIT */
/* The one entrance: looks at what it is given, then chooses the engine. */
#include "study/run.h"

#include <stdio.h>

#include "reference/reference.h"
#include "world/world.h"

#include <tied/error.h>

/* NULL: nothing is wrong. Only what every engine needs; each adds its own. */
static const char *what_is_wrong (const struct sim_run_options *options)
{
    const struct sim_scenario *s = options->scenario;

    if (s->replicas.count < 1 || s->replicas.count > SIM_REPLICAS_MAX)
        return "replicas.count is out of range: use 1 to 16384";
    if (s->replicas.workers < 1 || s->replicas.workers > 4096)
        return "replicas.workers is out of range: use 1 to 4096";
    if (s->clients < 1 || s->clients > SIM_CLIENTS_MAX)
        return "clients is out of range: use 1 to 4096";
    if (s->amount.calls < 1)
        return "amount.calls is 0: at least one request must be measured";
    if (s->policies[options->policy].kind >= SIM_POLICY_KINDS)
        return "policy.kind is not known";
    if (s->policies[options->policy].hedge_ppm != 0)
        return "policy.hedge is a percentile that nobody has measured yet: run it as a study";
    return NULL;
}

int sim_run (const struct sim_run_options *options,
             struct sim_result *result,
             char why[SIM_WHY_MAX])
{
    const struct sim_scenario *s = options->scenario;
    const char *wrong;

    if (options->policy >= s->policies_count) {
        (void)snprintf (why, SIM_WHY_MAX, "policy %u does not exist: the scenario has %u",
                        (unsigned)options->policy, (unsigned)s->policies_count);
        return TIED_ERR_INVAL;
    }
    wrong = what_is_wrong (options);
    if (wrong != NULL) {
        (void)snprintf (why, SIM_WHY_MAX, "%s", wrong);
        return TIED_ERR_INVAL;
    }
    if (sim_policy_is_reference (s->policies[options->policy].kind))
        return sim_reference_run (options, result, why);
    return sim_world_run (options, result, why);
}
