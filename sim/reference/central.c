/* SPDX-License-Identifier: MIT */
/*
 * One FIFO queue before all workers: the floor for policies that run each call once and know no
 * service times. Calls and answers take the scenario's delay, a constant shift when the delay is
 * constant; the queue hands a call to a free worker in no time. Of several idle replicas it takes a
 * random one, and the call meets the demand that it has at that replica.
 */
#include "reference/idle.h"

static void dispatch (struct sim_ref *ref, uint32_t call)
{
    const uint32_t copy = sim_ref_idle_give (ref->state, ref, call, SIM_REF_NONE);
    const bool has_started = sim_ref_enter (ref, copy);
    TI_ASSERT (has_started);
}

static void arrive (struct sim_ref *ref, uint32_t call)
{
    sim_ref_hold (ref, call);
    sim_ref_send (ref, SIM_REF_HOP, call, 0, 0);
}

static void reach (struct sim_ref *ref, uint32_t call)
{
    struct sim_ref_idle *idle = ref->state;
    if (idle->count > 0)
        dispatch (ref, call);
    else
        sim_ref_idle_queue (idle, ref, call);
}

static void finish (struct sim_ref *ref, uint32_t copy)
{
    struct sim_ref_idle *idle = ref->state;
    const uint32_t server = ref->copies[copy].server;
    sim_ref_send (ref, SIM_REF_ANSWER, copy, server, 0);
    sim_ref_idle_back (idle, ref, server);
    const uint32_t call = sim_ref_idle_next (idle, ref);
    if (call == SIM_REF_NONE)
        return;
    dispatch (ref, call);
    sim_ref_release (ref, call);
}

const struct sim_ref_policy sim_ref_central = {.init = sim_ref_idle_init,
                                               .deinit = sim_ref_idle_deinit,
                                               .arrive = arrive,
                                               .reach = reach,
                                               .finish = finish,
                                               .dispatches_max = 1};
