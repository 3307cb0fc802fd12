/* SPDX-License-Identifier: MIT */
/*
 * Join the shortest of d queues with perfect information: what is on its way to a server counts
 * too, and nobody's knowledge is old. d as large as the group looks at all of it.
 */
#include "reference/ref.h"

static uint32_t
least_of_all (struct sim_ref *ref, struct sim_ref_group group, struct ti_prng *choices)
{
    const uint32_t *load = ref->load + group.first;
    uint32_t least = load[0];
    for (uint32_t i = 1; i < group.count; i++)
        least = load[i] < least ? load[i] : least;
    uint32_t ties = 0;
    for (uint32_t i = 0; i < group.count; i++)
        ties += load[i] == least;
    uint64_t chosen = ti_prng_below (choices, ties);
    uint32_t at = 0;
    while (load[at] != least || chosen-- > 0)
        at++;
    return group.first + at;
}

/* The sample is in random order, so the first of the least is a fair choice between ties. */
static uint32_t least_of_some (struct sim_ref *ref, uint32_t client, struct ti_prng *choices)
{
    const struct sim_ref_sampled sampled = sim_ref_sample (ref, client, ref->d, choices);
    uint32_t best = sim_ref_sampled_at (&sampled, 0);
    for (uint32_t i = 1; i < sampled.count; i++) {
        const uint32_t server = sim_ref_sampled_at (&sampled, i);
        if (ref->load[server] < ref->load[best])
            best = server;
    }
    return best;
}

static void arrive (struct sim_ref *ref, uint32_t call)
{
    const uint32_t client = ref->calls[call].client;
    struct ti_prng *choices = &ref->choices[client];
    const struct sim_ref_group group = sim_ref_group_of (ref, client);
    const uint32_t server = ref->d >= group.count ? least_of_all (ref, group, choices)
                                                  : least_of_some (ref, client, choices);
    const uint32_t copy = sim_ref_copy_new (ref, call, server);
    sim_ref_send (ref, SIM_REF_COPY, copy, server, 0);
}

const struct sim_ref_policy sim_ref_jsq = {.arrive = arrive};
