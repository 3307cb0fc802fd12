/* SPDX-License-Identifier: MIT */
/*
 * Calls that are made for the answer of a request, so that they are cancelled with it. The list is
 * of ids: a call that has ended stays in it until its place is wanted. Everything here happens
 * under the replica's lock, and the client's is taken inside it; no client calls a replica with its
 * own lock held [CL-05].
 */
#include <stdlib.h>

#include <tied/client_core.h>

#include "base/assert.h"
#include "base/parent.h"
#include "base/util.h"
#include "engine.h"

#define FIRST_CAPACITY 8

/* Forget those that have ended. */
static void prune (struct tied_request *request)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < request->children_count; i++) {
        const struct ti_child *child = &request->children[i];

        if (child->ops->is_live (child->client, child->call))
            request->children[kept++] = *child;
    }
    request->children_count = kept;
}

static uint32_t places_used (const struct tied_request *request)
{
    return request->children_count + request->children_reserved;
}

/* Grows by doubling after those that have ended are gone, so a handler that makes one call after
   the other stays small, and looking costs little for each call. */
static int make_room (struct tied_request *request)
{
    uint32_t max = request->replica->options.children_max;
    struct ti_child *children;
    uint32_t capacity;

    if (places_used (request) < request->children_capacity)
        return 0;
    prune (request);
    if (places_used (request) >= max)
        return TIED_ERR_FULL;
    if (places_used (request) < (request->children_capacity + 1) / 2)
        return 0;
    capacity =
        (uint32_t)ti_min (max, ti_max (FIRST_CAPACITY, UINT64_C (2) * request->children_capacity));
    children = realloc (request->children, capacity * sizeof *children);
    if (!children)
        return places_used (request) < request->children_capacity ? 0 : TIED_ERR_NOMEM;
    request->children = children;
    request->children_capacity = capacity;
    return 0;
}

int ti_parent_reserve (struct tied_request *request, struct ti_parent_terms *out)
{
    int rc;

    ti_engine_lock (request->replica);
    if (request->state != TI_REQUEST_RUNNING)
        rc = TIED_ERR_STATE;
    else if (tied_request_is_cancelled (request))
        rc = TIED_ERR_CANCELLED;
    else
        rc = make_room (request);
    if (rc == TIED_ERR_FULL)
        request->replica->stats.children_refused++;
    if (rc == 0) {
        request->children_reserved++;
        *out = (struct ti_parent_terms){
            .deadline = request->deadline,
            .traceparent = tied_request_traceparent (request),
            .copies_max = (uint8_t)ti_min (request->attempts_left + 1u, TIED_COPIES_MAX)};
    }
    ti_engine_unlock (request->replica);
    return rc;
}

void ti_parent_forgo (struct tied_request *request)
{
    ti_engine_lock (request->replica);
    TI_ASSERT (request->children_reserved > 0);
    request->children_reserved--;
    ti_engine_unlock (request->replica);
}

static void cancel (const struct tied_request *request, const struct ti_child *child)
{
    if (child->ops->cancel (child->client, child->call))
        request->replica->stats.children_cancelled++;
}

void ti_parent_adopt (struct tied_request *request,
                      void *client,
                      struct tied_call_id call,
                      const struct ti_child_ops *ops)
{
    const struct ti_child child = {.client = client, .call = call, .ops = ops};

    ti_engine_lock (request->replica);
    TI_ASSERT (request->children_reserved > 0);
    request->children_reserved--;
    request->children[request->children_count++] = child;
    if (tied_request_is_cancelled (request))
        cancel (request, &child);
    ti_engine_unlock (request->replica);
}

void ti_children_cancel (struct tied_request *request)
{
    for (uint32_t i = 0; i < request->children_count; i++)
        cancel (request, &request->children[i]);
}

void ti_children_free (struct tied_request *request)
{
    free (request->children);
    request->children = NULL;
    request->children_count = 0;
    request->children_reserved = 0;
    request->children_capacity = 0;
}
