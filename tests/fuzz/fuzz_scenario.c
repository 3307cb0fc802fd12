/* SPDX-License-Identifier: MIT */
/*
 * Fuzzer of the scenario reader: any bytes are read; what is accepted is within the bounds that the
 * engines rely on, what is refused has one line that says so. Files that the text names are looked
 * for in a folder that is not there.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/read.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static void require (bool is_true)
{
    if (!is_true)
        abort ();
}

static void check_line (const char *why)
{
    size_t length = strnlen (why, SIM_WHY_MAX);
    require (length > 0 && length < SIM_WHY_MAX);
    for (size_t i = 0; i < length; i++)
        require ((unsigned char)why[i] >= 0x20 && why[i] != 0x7f);
}

static void check_text (const char *text)
{
    require (strnlen (text, SIM_NAME_MAX) < SIM_NAME_MAX);
}

static void check_policies (const struct sim_scenario *scenario)
{
    require (scenario->policies_count >= 1 && scenario->policies_count <= SIM_POLICIES_MAX);
    for (uint32_t i = 0; i < scenario->policies_count; i++) {
        const struct sim_policy *policy = &scenario->policies[i];
        check_text (policy->name);
        require (policy->name[0] != '\0' && (unsigned)policy->kind < SIM_POLICY_KINDS);
        require (policy->pick <= TIED_PICK_ROUND_ROBIN && policy->pick_samples <= 64);
        require (policy->d >= 1 && policy->d <= 64 && policy->hedge_ppm < 1000000);
    }
    require (scenario->published_count <= SIM_PUBLISHED_MAX);
    for (uint32_t i = 0; i < scenario->published_count; i++)
        check_text (scenario->published[i].policy);
}

static void check_scenario (const struct sim_scenario *scenario)
{
    const struct sim_workload *workload = &scenario->workload;
    const struct sim_replicas *replicas = &scenario->replicas;
    check_text (scenario->name);
    check_policies (scenario);
    require (replicas->count >= 1 && replicas->count <= SIM_REPLICAS_MAX);
    require (replicas->workers >= 1 && replicas->subset <= replicas->count);
    require (replicas->speeds_count <= SIM_FACTORS_MAX && replicas->vary_count <= SIM_FACTORS_MAX);
    require (replicas->slow_count <= replicas->count && replicas->queue_depth >= 1);
    require (scenario->clients >= 1 && scenario->clients <= SIM_CLIENTS_MAX);
    require (workload->fan_out >= 1 && workload->fan_out_needed <= workload->fan_out);
    require (workload->slowdown_count <= SIM_FACTORS_MAX);
    require (workload->jitter_share >= 0 && workload->jitter_share <= 1);
    require (workload->arrivals == SIM_ARRIVALS_CLOSED || sim_scenario_rate_per_s (scenario) > 0);
    require (scenario->network.loss >= 0 && scenario->network.loss < 1);
    require (scenario->amount.calls >= 1 && scenario->amount.replications >= 1);
    require (scenario->sweep.loads_count <= SIM_SWEEP_MAX);
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    struct sim_scenario scenario;
    char why[SIM_WHY_MAX] = "";
    if (memmem (data, size, "/dev", 4) || memmem (data, size, "/proc", 5))
        return 0;
    if (sim_scenario_read_text ("/nowhere/fuzz.yaml", (const char *)data, size, &scenario, why)) {
        check_line (why);
        return 0;
    }
    check_scenario (&scenario);
    sim_scenario_deinit (&scenario);
    return 0;
}
