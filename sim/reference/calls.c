/* SPDX-License-Identifier: MIT */
/* Calls and copies of the reference policies: pools that only grow, ends, and what is counted. */
#include <stdlib.h>

#include "reference/ref.h"

#define POOL_FIRST 1024u

static bool grow_calls (struct sim_ref *ref)
{
    const uint32_t size = ref->calls_size ? ref->calls_size * 2 : POOL_FIRST;
    if (size >= UINT32_MAX / 4)
        return false;
    struct sim_ref_call *calls = realloc (ref->calls, size * sizeof *calls);
    if (!calls)
        return false;
    ref->calls = calls;
    for (uint32_t i = size; i-- > ref->calls_size;) {
        calls[i] = (struct sim_ref_call){.number = UINT64_MAX, .next = ref->calls_free};
        ref->calls_free = i;
    }
    ref->calls_idle += size - ref->calls_size;
    ref->calls_size = size;
    return true;
}

static bool grow_copies (struct sim_ref *ref)
{
    const uint32_t size = ref->copies_size ? ref->copies_size * 2 : POOL_FIRST;
    if (size >= UINT32_MAX / 4)
        return false;
    struct ti_link *links =
        realloc (ref->links, ((size_t)ref->servers_count + size) * sizeof *links);
    if (!links)
        return false;
    ref->links = links;
    struct sim_ref_copy *copies = realloc (ref->copies, size * sizeof *copies);
    if (!copies)
        return false;
    ref->copies = copies;
    for (uint32_t i = size; i-- > ref->copies_size;) {
        copies[i] = (struct sim_ref_copy){.next = ref->copies_free, .state = SIM_REF_OVER};
        ti_links_reset (links, ref->servers_count + i);
        ref->copies_free = i;
    }
    ref->copies_idle += size - ref->copies_size;
    ref->copies_size = size;
    return true;
}

bool sim_ref_reserve (struct sim_ref *ref, uint32_t calls, uint32_t copies)
{
    while (ref->calls_idle < calls)
        if (!grow_calls (ref))
            return false;
    while (ref->copies_idle < copies)
        if (!grow_copies (ref))
            return false;
    return true;
}

void sim_ref_calls_deinit (struct sim_ref *ref)
{
    free (ref->calls);
    free (ref->copies);
    free (ref->links);
}

uint32_t sim_ref_call_new (struct sim_ref *ref, uint64_t number, const struct sim_request *request)
{
    const uint32_t index = ref->calls_free;
    TI_ASSERT (index != SIM_REF_NONE);
    struct sim_ref_call *call = &ref->calls[index];
    ref->calls_free = call->next;
    ref->calls_idle--;
    *call = (struct sim_ref_call){
        .number = number,
        .at = request->at,
        .deadline = ti_time_add (request->at, ref->scenario->workload.deadline_ns),
        .client = request->client,
        .first = SIM_REF_NONE,
        .next = SIM_REF_NONE,
        .is_measured = sim_source_is_measured (ref->source, number),
    };
    return index;
}

void sim_ref_hold (struct sim_ref *ref, uint32_t call)
{
    ref->calls[call].open++;
}

static void free_call (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_call *call = &ref->calls[index];
    while (call->first != SIM_REF_NONE) {
        const uint32_t copy = call->first;
        call->first = ref->copies[copy].next;
        ref->copies[copy].next = ref->copies_free;
        ref->copies_free = copy;
        ref->copies_idle++;
    }
    call->number = UINT64_MAX;
    call->next = ref->calls_free;
    ref->calls_free = index;
    ref->calls_idle++;
}

void sim_ref_release (struct sim_ref *ref, uint32_t index)
{
    struct sim_ref_call *call = &ref->calls[index];
    TI_ASSERT (call->open > 0);
    if (--call->open > 0)
        return;
    if (!call->has_ended)
        sim_ref_call_end (ref, index, TIED_OUTCOME_REJECTED);
    free_call (ref, index);
}

void sim_ref_call_end (struct sim_ref *ref, uint32_t index, enum tied_outcome outcome)
{
    struct sim_ref_call *call = &ref->calls[index];
    TI_ASSERT (!call->has_ended);
    call->has_ended = true;
    sim_ref_tell (ref, SIM_REF_ENDS, index, SIM_REF_NONE);
    const struct sim_watch *watch = ref->options->watch;
    const uint64_t answered = ref->result->latency->total;
    sim_source_ended (ref->source, call->number, outcome, ref->now);
    /* The source knows which call is the last one that its request needs. Watchers hear of requests
     * that were answered. */
    if (watch && watch->ended && ref->result->latency->total > answered)
        watch->ended (watch->context, call->number / ref->scenario->workload.fan_out, call->at,
                      ref->now - call->at);
}

uint32_t sim_ref_copy_new (struct sim_ref *ref, uint32_t call_index, uint32_t server)
{
    const uint32_t index = ref->copies_free;
    TI_ASSERT (index != SIM_REF_NONE);
    TI_ASSERT (server < ref->servers_count);
    struct sim_ref_copy *copy = &ref->copies[index];
    struct sim_ref_call *call = &ref->calls[call_index];
    ref->copies_free = copy->next;
    ref->copies_idle--;
    *copy = (struct sim_ref_copy){
        .call = call_index,
        .server = server,
        .next = call->first,
        .number = call->copies++,
        .state = SIM_REF_TRAVELS,
        .sent = ref->now,
    };
    call->first = index;
    call->open++;
    ref->load[server]++;
    if (call->is_measured)
        ref->result->copies++;
    return index;
}

void sim_ref_copy_over (struct sim_ref *ref, uint32_t index, bool has_answered)
{
    struct sim_ref_copy *copy = &ref->copies[index];
    TI_ASSERT (copy->state != SIM_REF_OVER);
    copy->state = SIM_REF_OVER;
    if (ref->calls[copy->call].is_measured) {
        ref->result->served_ns += copy->service_ns;
        if (!has_answered)
            ref->result->wasted_ns += copy->service_ns;
    }
    sim_ref_release (ref, copy->call);
}

void sim_ref_take_answer (struct sim_ref *ref, uint32_t index)
{
    const struct sim_ref_copy *copy = &ref->copies[index];
    const bool is_first = !copy->is_refused && !ref->calls[copy->call].has_ended;
    if (is_first)
        sim_ref_call_end (ref, copy->call, TIED_OUTCOME_OK);
    sim_ref_copy_over (ref, index, is_first);
}
