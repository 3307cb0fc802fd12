/* SPDX-License-Identifier: MIT */
/*
 * LAEDGE ("When to Hedge in Interactive Services", NSDI 2021): a coordinator between clients and
 * servers. Two or more servers with a free worker: two copies; one: one copy; none: the call waits
 * at the coordinator. The first answer wins, the other is dropped when it comes; the loser is not
 * killed. The coordinator is a host of its own: client to coordinator and coordinator to server
 * each take the scenario's delay, and it learns of a free worker when the answer passes.
 */
#include "reference/idle.h"

static uint32_t dispatch (struct sim_ref *ref, uint32_t call, uint32_t skipped)
{
    const uint32_t copy = sim_ref_idle_give (ref->state, ref, call, skipped);
    const uint32_t server = ref->copies[copy].server;
    sim_ref_send (ref, SIM_REF_COPY, copy, server, 0);
    return server;
}

static void arrive (struct sim_ref *ref, uint32_t call)
{
    sim_ref_hold (ref, call);
    sim_ref_send (ref, SIM_REF_HOP, call, 0, 0);
}

static void reach (struct sim_ref *ref, uint32_t call)
{
    struct sim_ref_idle *idle = ref->state;
    const uint32_t servers = idle->count;
    if (servers == 0) {
        sim_ref_idle_queue (idle, ref, call);
        return;
    }
    const uint32_t first = dispatch (ref, call, SIM_REF_NONE);
    if (servers > 1)
        (void)dispatch (ref, call, first);
}

static void answer (struct sim_ref *ref, uint32_t copy)
{
    struct sim_ref_idle *idle = ref->state;
    const uint32_t call = ref->copies[copy].call;
    const uint32_t server = ref->copies[copy].server;
    const bool is_first = !ref->copies[copy].is_refused && !ref->calls[call].is_answered;
    if (is_first) {
        ref->calls[call].is_answered = true;
        sim_ref_hold (ref, call);
        sim_ref_send (ref, SIM_REF_RESULT, call, 0, 0);
    }
    sim_ref_copy_over (ref, copy, is_first);
    sim_ref_idle_back (idle, ref, server);
    const uint32_t next = sim_ref_idle_next (idle, ref);
    if (next == SIM_REF_NONE)
        return;
    (void)dispatch (ref, next, SIM_REF_NONE);
    sim_ref_release (ref, next);
}

const struct sim_ref_policy sim_ref_laedge = {.init = sim_ref_idle_init,
                                              .deinit = sim_ref_idle_deinit,
                                              .arrive = arrive,
                                              .reach = reach,
                                              .answer = answer,
                                              .dispatches_max = 2};
