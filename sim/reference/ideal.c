/* SPDX-License-Identifier: MIT */
/*
 * d copies to distinct servers in a world without delays: what theory calls redundancy-d.
 *
 * Cancel on start: the first copy that starts takes the others out of their queues at the same
 * instant, so each call runs once; of several idle servers one starts. Cancel on completion: all
 * may run, and the first that ends stops the others at once. With a hedge_depth, a copy after the
 * first is refused by a server where so many wait or run.
 */
#include "reference/ref.h"

static void arrive (struct sim_ref *ref, uint32_t call)
{
    const uint32_t client = ref->calls[call].client;
    const struct sim_ref_sampled sampled =
        sim_ref_sample (ref, client, ref->d, &ref->choices[client]);
    for (uint32_t i = 0; i < sampled.count; i++)
        (void)sim_ref_copy_new (ref, call, sim_ref_sampled_at (&sampled, i));
    const uint32_t limit = ref->scenario->policies[ref->options->policy].hedge_depth;
    bool is_first = true;
    /* Newest first: as random an order as any. A start may end the others' travel. */
    for (uint32_t copy = ref->calls[call].first; copy != SIM_REF_NONE;
         copy = ref->copies[copy].next) {
        if (ref->copies[copy].state != SIM_REF_TRAVELS)
            continue;
        const uint32_t there = sim_ref_in_server (ref, ref->copies[copy].server);
        const bool is_refused = !is_first && limit > 0 && there >= limit;
        if (is_refused)
            sim_ref_refuse (ref, copy);
        if (is_refused || !sim_ref_enter (ref, copy))
            sim_ref_copy_over (ref, copy, false);
        is_first = false;
    }
}

/* All other copies of the call, whatever they are doing. @return how many that was */
static uint32_t cancel_others (struct sim_ref *ref, uint32_t winner)
{
    const uint32_t call = ref->copies[winner].call;
    uint32_t cancelled = 0;
    for (uint32_t copy = ref->calls[call].first; copy != SIM_REF_NONE;
         copy = ref->copies[copy].next) {
        if (copy == winner || ref->copies[copy].state == SIM_REF_OVER)
            continue;
        sim_ref_cancel (ref, copy);
        cancelled++;
    }
    return cancelled;
}

static void start_cos (struct sim_ref *ref, uint32_t copy)
{
    const struct sim_ref_call *call = &ref->calls[ref->copies[copy].call];
    const uint32_t others = call->copies - 1;
    const uint32_t cancelled = cancel_others (ref, copy);
    if (!call->is_measured)
        return;
    ref->result->cancels.sent += others;
    ref->result->cancels.effective += cancelled;
    ref->result->cancels.moot += others - cancelled; /* refused before */
}

static void finish_coc (struct sim_ref *ref, uint32_t winner)
{
    const uint32_t call = ref->copies[winner].call;
    if (ref->calls[call].is_measured) {
        for (uint32_t copy = ref->calls[call].first; copy != SIM_REF_NONE;
             copy = ref->copies[copy].next) {
            const enum sim_ref_state state = ref->copies[copy].state;
            ref->result->cancels.client_sent += copy != winner;
            ref->result->cancels.client_queued += state == SIM_REF_WAITS;
            ref->result->cancels.client_running += state == SIM_REF_RUNS;
        }
    }
    (void)cancel_others (ref, winner);
    sim_ref_take_answer (ref, winner);
}

const struct sim_ref_policy sim_ref_ideal_cos = {
    .arrive = arrive, .start = start_cos, .finish = sim_ref_take_answer};
const struct sim_ref_policy sim_ref_ideal_coc = {.arrive = arrive, .finish = finish_coc};
