/* SPDX-License-Identifier: MIT */
/*
 * NetClone (SIGCOMM 2023): a switch on the way, half-way by our choice, picks two servers at random
 * for each call. If both were idle by what their latest answers said, both get a copy; else the
 * first one alone. No copy is cancelled: the switch drops the slower answer. A server says with
 * each answer whether its queue is empty, and drops a clone that finds the queue not empty.
 *
 * With groups of replicas the two come from the client's group. The switch adds no delay.
 */
#include <stdlib.h>

#include "reference/ref.h"

/* Delay of one message to the switch, and from there. */
static tied_duration_t first_half (struct sim_ref *ref, tied_duration_t *rest)
{
    const tied_duration_t delay = sim_ref_delay (ref);
    *rest = delay - delay / 2;
    return delay / 2;
}

static int init (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    (void)why;
    ref->state = calloc (ref->servers_count, sizeof (bool)); /* is busy, of each server */
    return ref->state ? 0 : TIED_ERR_SYSTEM;
}

static void deinit (struct sim_ref *ref)
{
    free (ref->state);
}

static void arrive (struct sim_ref *ref, uint32_t call)
{
    const tied_duration_t delay = first_half (ref, &ref->calls[call].rest);
    sim_ref_hold (ref, call);
    sim_ref_post (ref, ref->lane_first_half, delay, SIM_REF_HOP, call, 0, 0);
}

static void reach (struct sim_ref *ref, uint32_t call)
{
    const bool *is_busy = ref->state;
    const struct sim_ref_sampled sampled =
        sim_ref_sample (ref, ref->calls[call].client, 2, sim_ref_between (ref));
    bool is_cloned = sampled.count == 2;
    for (uint32_t i = 0; i < sampled.count; i++)
        is_cloned = is_cloned && !is_busy[sim_ref_sampled_at (&sampled, i)];
    for (uint32_t i = 0; i < (is_cloned ? 2u : 1u); i++) {
        const uint32_t server = sim_ref_sampled_at (&sampled, i);
        const uint32_t copy = sim_ref_copy_new (ref, call, server);
        ref->copies[copy].needs_empty_queue = i == 1;
        sim_ref_post (ref, ref->lane_second_half, ref->calls[call].rest, SIM_REF_COPY, copy, server,
                      0);
    }
}

static void finish (struct sim_ref *ref, uint32_t copy)
{
    const tied_duration_t delay = first_half (ref, &ref->copies[copy].rest);
    sim_ref_post (ref, ref->lane_first_half, delay, SIM_REF_ANSWER, copy, ref->copies[copy].server,
                  0);
}

static void answer (struct sim_ref *ref, uint32_t index)
{
    const struct sim_ref_copy *copy = &ref->copies[index];
    struct sim_ref_call *call = &ref->calls[copy->call];
    bool *is_busy = ref->state;
    const bool is_first = !copy->is_refused && !call->is_answered;
    if (!copy->is_refused)
        is_busy[copy->server] = copy->left_waiting > 0;
    if (is_first) {
        call->is_answered = true;
        sim_ref_hold (ref, copy->call);
        sim_ref_post (ref, ref->lane_second_half, copy->rest, SIM_REF_RESULT, copy->call, 0, 0);
    }
    sim_ref_copy_over (ref, index, is_first);
}

const struct sim_ref_policy sim_ref_netclone = {.init = init,
                                                .deinit = deinit,
                                                .arrive = arrive,
                                                .reach = reach,
                                                .finish = finish,
                                                .answer = answer,
                                                .dispatches_max = 2};
