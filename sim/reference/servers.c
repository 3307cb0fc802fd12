/* SPDX-License-Identifier: MIT */
/*
 * Servers of the reference policies: one FIFO queue before `workers` workers each. A copy leaves a
 * queue in O(1), wherever it stands.
 */
#include <stdlib.h>

#include "reference/ref.h"

int sim_ref_servers_init (struct sim_ref *ref)
{
    ref->servers = calloc (ref->servers_count, sizeof *ref->servers);
    ref->load = calloc (ref->servers_count, sizeof *ref->load);
    ref->links = calloc (ref->servers_count, sizeof *ref->links);
    if (!ref->servers || !ref->load || !ref->links)
        return TIED_ERR_SYSTEM;
    for (uint32_t i = 0; i < ref->servers_count; i++)
        ti_links_reset (ref->links, i);
    return 0;
}

void sim_ref_servers_deinit (struct sim_ref *ref)
{
    free (ref->servers);
    free (ref->load);
}

void sim_ref_level_add (struct sim_ref *ref, struct sim_ref_level *level, int64_t change)
{
    level->area += level->now * (ref->now - level->since);
    level->since = ref->now;
    level->now += (uint64_t)change;
}

void sim_ref_span (struct sim_ref *ref)
{
    struct sim_ref_level *const levels[] = {&ref->waiting, &ref->running};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        sim_ref_level_add (ref, levels[i], 0);
        if (!ref->has_span)
            levels[i]->area_first = levels[i]->area;
        levels[i]->area_last = levels[i]->area;
    }
    ref->has_span = true;
}

static void start (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_copy *copy = &ref->copies[index];
    struct sim_ref_call *call = &ref->calls[copy->call];
    copy->state = SIM_REF_RUNS;
    copy->started = ref->now;
    copy->run = ref->runs++;
    ref->servers[copy->server].running++;
    sim_ref_level_add (ref, &ref->running, 1);
    call->starts++;
    if (call->is_measured) {
        ref->result->executions++;
        ref->result->duplicates += call->starts == 2;
    }
    const uint64_t demand = sim_demand (&ref->scenario->workload, ref->options->seed, call->number,
                                        copy->server, copy->number);
    const tied_time_t end = sim_speed_finish (ref->speed, copy->server, ref->now, demand);
    if (end == TIED_NEVER)
        ref->is_endless = true;
    else
        sim_ref_post (ref, -1, end - ref->now, SIM_REF_FINISH, index, copy->server, copy->run);
    sim_ref_tell (ref, SIM_REF_STARTS, copy->call, index);
    if (ref->policy->start)
        ref->policy->start (ref, index);
}

static void take_out (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_server *server = &ref->servers[ref->copies[index].server];
    ti_links_remove (ref->links, ref->servers_count + index);
    server->waiting--;
    sim_ref_level_add (ref, &ref->waiting, -1);
}

/* Puts free workers to work. Copies of calls that are past their deadline are refused. */
static void start_next (struct sim_ref *ref, uint32_t server)
{
    while (ref->servers[server].running < ref->workers && ref->servers[server].waiting > 0) {
        const uint32_t index = ref->links[server].next - ref->servers_count;
        struct sim_ref_copy *copy = &ref->copies[index];
        const struct sim_ref_call *call = &ref->calls[copy->call];
        take_out (ref, index);
        if (call->deadline > ref->now) {
            start (ref, index);
            continue;
        }
        copy->is_refused = true;
        copy->state = SIM_REF_RETURNS;
        ref->load[server]--;
        if (call->is_measured)
            ref->result->rejections++;
        sim_ref_tell (ref, SIM_REF_DROPPED, copy->call, index);
        sim_ref_send (ref, SIM_REF_ANSWER, index, server, 0);
    }
}

void sim_ref_refuse (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_copy *copy = &ref->copies[index];
    copy->is_refused = true;
    copy->state = SIM_REF_RETURNS;
    ref->load[copy->server]--;
    if (ref->calls[copy->call].is_measured)
        ref->result->rejections++;
    sim_ref_tell (ref, SIM_REF_REFUSED, copy->call, index);
}

bool sim_ref_enter (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_copy *copy = &ref->copies[index];
    struct sim_ref_server *server = &ref->servers[copy->server];
    copy->reached = ref->now;
    copy->seen = server->waiting + server->running;
    if (server->running < ref->workers) {
        start (ref, index);
        return true;
    }
    if (server->waiting >= (copy->needs_empty_queue ? 1 : ref->depth_max)) {
        sim_ref_refuse (ref, index);
        return false;
    }
    copy->state = SIM_REF_WAITS;
    server->waiting++;
    sim_ref_level_add (ref, &ref->waiting, 1);
    ti_links_append (ref->links, copy->server, ref->servers_count + index);
    sim_ref_tell (ref, SIM_REF_WAITING, copy->call, index);
    return true;
}

/* The worker is free again. */
static void stop (struct sim_ref *ref, struct sim_ref_copy *copy)
{
    copy->service_ns = ref->now - copy->started;
    ref->servers[copy->server].running--;
    sim_ref_level_add (ref, &ref->running, -1);
    ref->load[copy->server]--;
}

void sim_ref_finished (struct sim_ref *ref, const struct sim_event *event)
{
    struct sim_ref_copy *copy = &ref->copies[event->a];
    if (copy->state != SIM_REF_RUNS || copy->run != event->value)
        return; /* it was killed */
    const uint32_t server = copy->server;
    copy->state = SIM_REF_RETURNS;
    stop (ref, copy);
    copy->left_waiting = ref->servers[server].waiting;
    copy->left_running = ref->servers[server].running;
    sim_ref_tell (ref, SIM_REF_FINISH, copy->call, event->a);
    if (ref->policy->finish)
        ref->policy->finish (ref, event->a);
    else
        sim_ref_send (ref, SIM_REF_ANSWER, event->a, server, 0);
    start_next (ref, server);
}

void sim_ref_cancel (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_copy *copy = &ref->copies[index];
    const uint32_t server = copy->server;
    sim_ref_tell (ref, SIM_REF_KILLED, copy->call, index);
    if (copy->state == SIM_REF_RUNS) {
        stop (ref, copy);
    } else {
        if (copy->state == SIM_REF_WAITS)
            take_out (ref, index);
        ref->load[server]--;
    }
    sim_ref_copy_over (ref, index, false);
    start_next (ref, server);
}
