/* SPDX-License-Identifier: MIT */
/*
 * One replication of a reference policy: which one, whether it can run the scenario, and the loop
 * over arrivals and events. At equal times events come before arrivals.
 *
 * Every call and every answer takes the scenario's delay, so that percentiles can be compared with
 * those of the world: the central queue too pays both ways, only its dispatch is free. The ideal
 * policies alone know no delay at all. Messages of random delay may overtake each other. What is
 * not modelled: high-water marks, and what is lost of STARTED, which no reference sends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "reference/ref.h"

static const struct sim_ref_policy *policy_of (enum sim_policy_kind kind)
{
    switch (kind) {
    case SIM_POLICY_CENTRAL:
        return &sim_ref_central;
    case SIM_POLICY_JSQ:
        return &sim_ref_jsq;
    case SIM_POLICY_LAEDGE:
        return &sim_ref_laedge;
    case SIM_POLICY_NETCLONE:
        return &sim_ref_netclone;
    case SIM_POLICY_PREQUAL:
        return &sim_ref_prequal;
    case SIM_POLICY_PREQUAL_RIF:
        return &sim_ref_prequal_rif;
    case SIM_POLICY_C3:
        return &sim_ref_c3;
    case SIM_POLICY_IDEAL_COS:
        return &sim_ref_ideal_cos;
    case SIM_POLICY_IDEAL_COC:
        return &sim_ref_ideal_coc;
    case SIM_POLICY_SINGLE:
    case SIM_POLICY_TIED:
    case SIM_POLICY_PARK:
    case SIM_POLICY_EXCLUSIVE:
    case SIM_POLICY_HEDGE:
    case SIM_POLICY_TIED_HEDGE:
    case SIM_POLICY_CLONE:
    case SIM_POLICY_KINDS:
        return NULL;
    }
    return NULL;
}

static int sample_init (struct sim_ref_sample *self, uint32_t size)
{
    self->size = size;
    self->items = malloc ((size ? size : 1) * sizeof *self->items);
    if (!self->items)
        return TIED_ERR_SYSTEM;
    for (uint32_t i = 0; i < size; i++)
        self->items[i] = i;
    return 0;
}

static int add_lanes (struct sim_ref *ref)
{
    const bool is_constant = !ref->scenario->network.client.has_extra;
    const uint64_t shuffle =
        ref->scenario->shuffles_ties
            ? sim_draw (ref->options->seed, SIM_STREAM_SHUFFLE, UINT64_MAX, 0) | 1
            : 0;
    ref->events = sim_events_new (shuffle);
    if (!ref->events)
        return TIED_ERR_SYSTEM;
    ref->lane = is_constant ? sim_events_add_lane (ref->events) : -1;
    ref->lane_first_half = is_constant ? sim_events_add_lane (ref->events) : -1;
    ref->lane_second_half = is_constant ? sim_events_add_lane (ref->events) : -1;
    ref->lane_deadline = sim_events_add_lane (ref->events);
    return 0;
}

static int set_up (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    const struct sim_scenario *scenario = ref->scenario;
    const uint64_t seed = ref->options->seed;
    const uint32_t count = scenario->replicas.count;
    const uint32_t subset = scenario->replicas.subset;
    ref->servers_count = count;
    ref->workers = scenario->replicas.workers;
    ref->depth_max = scenario->replicas.queue_depth ? scenario->replicas.queue_depth : UINT32_MAX;
    ref->group_size = subset > 0 && subset < count ? subset : count;
    ref->calls_free = ref->copies_free = SIM_REF_NONE;
    const uint32_t d = scenario->policies[ref->options->policy].d;
    ref->d = d == 0 ? 2 : d;

    ref->choices = malloc (((size_t)scenario->clients + 1) * sizeof *ref->choices);
    if (!ref->choices || sim_ref_servers_init (ref) ||
        sample_init (&ref->sample, ref->group_size) ||
        sample_init (&ref->sample_last, count % ref->group_size) || add_lanes (ref))
        return TIED_ERR_SYSTEM;
    for (uint32_t i = 0; i <= scenario->clients; i++)
        ti_prng_seed (&ref->choices[i], sim_draw (seed, SIM_STREAM_CHOICE, i, 0));
    ref->source = sim_source_new (scenario, seed, ref->result);
    ref->speed = sim_speed_new (&scenario->replicas, seed);
    if (!ref->source || !ref->speed)
        return TIED_ERR_SYSTEM;
    return ref->policy->init ? ref->policy->init (ref, why) : 0;
}

static void tear_down (struct sim_ref *ref)
{
    if (ref->policy->deinit)
        ref->policy->deinit (ref);
    sim_speed_free (ref->speed);
    sim_source_free (ref->source);
    sim_events_free (ref->events);
    free (ref->sample.items);
    free (ref->sample_last.items);
    free (ref->choices);
    sim_ref_calls_deinit (ref);
    sim_ref_servers_deinit (ref);
}

/* Copies that the arrival of one call makes at most. */
static uint32_t copies_of_call (const struct sim_ref *ref)
{
    return ref->d <= 2 ? 2 : ref->d < ref->group_size ? ref->d : ref->group_size;
}

/* @return false: no memory */
static bool take_request (struct sim_ref *ref)
{
    struct sim_request request;
    sim_source_take (ref->source, &request);
    if (request.at > ref->now)
        ref->now = request.at;
    for (uint32_t leaf = 0; leaf < ref->scenario->workload.fan_out; leaf++) {
        if (!sim_ref_reserve (ref, 1, copies_of_call (ref)))
            return false;
        const uint64_t number = request.first_call + leaf;
        const uint32_t call = sim_ref_call_new (ref, number, &request);
        if (ref->calls[call].is_measured)
            sim_ref_span (ref);
        sim_ref_tell (ref, SIM_REF_ARRIVES, call, SIM_REF_NONE);
        if (ref->calls[call].deadline != TIED_NEVER)
            sim_ref_post (ref, ref->lane_deadline, ref->calls[call].deadline - ref->now,
                          SIM_REF_DEADLINE, call, 0, number);
        sim_ref_hold (ref, call);
        ref->policy->arrive (ref, call);
        sim_ref_release (ref, call);
    }
    return true;
}

static void enter (struct sim_ref *ref, uint32_t copy)
{
    sim_ref_tell (ref, SIM_REF_COPY, ref->copies[copy].call, copy);
    if (sim_ref_enter (ref, copy))
        return;
    if (ref->copies[copy].needs_empty_queue)
        sim_ref_copy_over (ref, copy, false); /* nobody waits for word of it */
    else
        sim_ref_send (ref, SIM_REF_ANSWER, copy, ref->copies[copy].server, 0);
}

static void answer (struct sim_ref *ref, uint32_t copy)
{
    sim_ref_tell (ref, SIM_REF_ANSWER, ref->copies[copy].call, copy);
    if (ref->policy->answer)
        ref->policy->answer (ref, copy);
    else
        sim_ref_take_answer (ref, copy);
}

static void handle (struct sim_ref *ref, const struct sim_event *event)
{
    switch ((enum sim_ref_kind)event->kind) {
    case SIM_REF_COPY:
        enter (ref, event->a);
        return;
    case SIM_REF_FINISH:
        sim_ref_finished (ref, event);
        return;
    case SIM_REF_ANSWER:
        answer (ref, event->a);
        return;
    case SIM_REF_HOP:
        sim_ref_tell (ref, SIM_REF_HOP, event->a, SIM_REF_NONE);
        ref->policy->reach (ref, event->a);
        sim_ref_release (ref, event->a);
        return;
    case SIM_REF_RESULT:
        sim_ref_tell (ref, SIM_REF_RESULT, event->a, SIM_REF_NONE);
        if (!ref->calls[event->a].has_ended)
            sim_ref_call_end (ref, event->a, TIED_OUTCOME_OK);
        sim_ref_release (ref, event->a);
        return;
    case SIM_REF_DEADLINE:
        if (ref->calls[event->a].number == event->value && !ref->calls[event->a].has_ended)
            sim_ref_call_end (ref, event->a, TIED_OUTCOME_DEADLINE);
        return;
    case SIM_REF_PROBE:
    case SIM_REF_PROBE_ANSWER:
        ref->policy->message (ref, event);
        return;
    case SIM_REF_ARRIVES:
    case SIM_REF_STARTS:
    case SIM_REF_WAITING:
    case SIM_REF_REFUSED:
    case SIM_REF_DROPPED:
    case SIM_REF_KILLED:
    case SIM_REF_ENDS:
        break;
    }
    TI_UNREACHABLE ();
}

/* Events between two looks whether the run is stopped. */
#define LOOK_EVERY 4096

static bool is_stopped (const struct sim_ref *ref)
{
    return ref->options->stop != NULL && ref->result->events % LOOK_EVERY == 0 &&
           atomic_load_explicit (ref->options->stop, memory_order_relaxed);
}

static int run (struct sim_ref *ref)
{
    while (!sim_source_is_done (ref->source) && !ref->is_endless) {
        const tied_time_t arrival = sim_source_time (ref->source);
        const tied_time_t next = sim_events_time (ref->events);
        TI_ASSERT (arrival != TIED_NEVER || next != TIED_NEVER);
        if (arrival <= next) {
            if (!take_request (ref))
                return TIED_ERR_SYSTEM;
            continue;
        }
        struct sim_event event;
        if (!sim_ref_reserve (ref, 0, ref->policy->dispatches_max))
            return TIED_ERR_SYSTEM;
        (void)sim_events_take (ref->events, &event);
        ref->now = event.at;
        ref->result->events++;
        if (is_stopped (ref))
            return TIED_ERR_TIMEOUT;
        handle (ref, &event);
    }
    return ref->is_endless ? TIED_ERR_INVAL : 0;
}

static void write_result (struct sim_ref *ref)
{
    struct sim_result *result = ref->result;
    sim_source_finish (ref->source, ref->now);
    result->busy_ns = ref->running.area_last - ref->running.area_first;
    result->depth_area = ref->waiting.area_last - ref->waiting.area_first;
    result->replicas = ref->servers_count;
    result->workers = (uint64_t)ref->servers_count * ref->workers;
    result->memory_bytes =
        ref->servers_count * (sizeof *ref->servers + sizeof *ref->load + sizeof *ref->links) +
        sim_events_bytes (ref->events) + ref->calls_size * sizeof *ref->calls +
        ref->copies_size * (sizeof *ref->copies + sizeof *ref->links);
}

/* Sets up and runs; tear it down, however it ended. */
static int attempt (struct sim_ref *ref, char why[SIM_WHY_MAX])
{
    struct sim_memory_guard guard;
    int rc;

    sim_memory_guard_enter (&guard);
    if (setjmp (guard.back) != 0)
        return TIED_ERR_SYSTEM;
    rc = set_up (ref, why);
    if (rc == 0)
        rc = run (ref);
    sim_memory_guard_leave (&guard);
    return rc;
}

int sim_reference_run (const struct sim_run_options *options,
                       struct sim_result *result,
                       char why[SIM_WHY_MAX])
{
    const struct sim_scenario *scenario = options->scenario;
    const struct sim_policy *chosen = &scenario->policies[options->policy];
    struct sim_ref ref = {.options = options,
                          .scenario = scenario,
                          .policy = policy_of (chosen->kind),
                          .result = result};
    if (!ref.policy) {
        (void)snprintf (why, SIM_WHY_MAX, "policy \"%.100s\": %s is no reference policy",
                        chosen->name, sim_policy_kind_name (chosen->kind));
        return TIED_ERR_INVAL;
    }
    int rc = attempt (&ref, why);
    if (rc == 0)
        write_result (&ref);
    if (rc == TIED_ERR_TIMEOUT)
        (void)snprintf (why, SIM_WHY_MAX, "stopped");
    if (rc == TIED_ERR_SYSTEM)
        (void)snprintf (why, SIM_WHY_MAX, "policy \"%.100s\": out of memory", chosen->name);
    if (ref.is_endless)
        (void)snprintf (
            why, SIM_WHY_MAX,
            "policy \"%.100s\": a service would never end: raise replicas.speeds, or lower "
            "what slow, vary and pause do",
            chosen->name);
    tear_down (&ref);
    return rc;
}
