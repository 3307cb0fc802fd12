/* SPDX-License-Identifier: MIT */
/*
 * Many calls as one. Each is a call like any other; one waiter counts their ends. What the gather
 * does not wait for any more it cancels, so that no call of it outlives the function.
 */
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "client_internal.h"
#include "zmq/clock.h"

struct gather {
    tied_client_t *client;
    const struct tied_call *calls;
    struct tied_gathered *out; /* reserved: the token of a call that is sent */
    uint32_t count;
    uint32_t canary;
    tied_time_t until;
    struct ti_waiter waiter;
};

void tied_gather_options_init (struct tied_gather_options *options)
{
    *options =
        (struct tied_gather_options){.struct_size = sizeof *options, .timeout_ns = TIED_NEVER};
}

const char *tied_gather_name (int end)
{
#define CASE_(name, value, text)                                                                   \
    case (value):                                                                                  \
        return text;
    switch (end) {
        TIED_GATHER_MAP (CASE_)
    default:
        return "?";
    }
#undef CASE_
}

static int check (const tied_client_t *self,
                  const struct tied_call *calls,
                  uint32_t count,
                  const struct tied_gather_options *options,
                  const struct tied_gathered *out)
{
    if (!self || !calls || !out || count == 0)
        return TIED_ERR_INVAL;
    if (options && (options->struct_size != sizeof *options || options->need > count ||
                    options->canary > count))
        return TIED_ERR_INVAL;
    if (count > self->options.core.calls_max)
        return TIED_ERR_FULL;
    for (uint32_t i = 0; i < count; i++) {
        int rc = ti_call_check (self, &calls[i]);

        if (rc == 0 && calls[i].to_queue)
            rc = TIED_ERR_INVAL;
        if (rc != 0)
            return rc;
    }
    return 0;
}

static void fail (struct tied_gathered *part, int error)
{
    part->end = TIED_GATHER_FAILED;
    part->error = error;
}

/* With the lock held, which is released for a parent's and for long bodies. */
static void submit (struct gather *self, uint32_t i)
{
    tied_client_t *client = self->client;
    const struct tied_call *call = &self->calls[i];
    struct tied_gathered *part = &self->out[i];
    struct ti_parent_terms terms;
    struct ti_begun begun = {.id = {0, 0}};
    int rc;

    if (call->parent)
        ti_engine_leave (client);
    rc = ti_inherit_begin (call, &terms);
    if (call->parent)
        pthread_mutex_lock (&client->lock);
    if (rc != 0) {
        fail (part, rc);
        return;
    }
    rc = ti_call_submit (client, call, &terms, self->until, &begun);
    if (rc != 0) {
        fail (part, rc);
    } else {
        struct ti_client_call *slot = &client->calls.slots[begun.token];

        part->is_sent = true;
        part->reserved = begun.token;
        if (slot->state == TI_CLIENT_CALL_ENDED) {
            self->waiter.good += slot->completion.outcome == TIED_OUTCOME_OK;
        } else {
            slot->waiter = &self->waiter;
            self->waiter.open++;
        }
    }
    if (call->parent) {
        ti_engine_leave (client);
        ti_inherit_end (client, call, begun.id);
        pthread_mutex_lock (&client->lock);
    }
}

static bool has_enough (const struct gather *self)
{
    return self->waiter.good >= self->waiter.need;
}

/* Send those from first to last, and wait. */
static void run (struct gather *self, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last && !has_enough (self); i++)
        submit (self, i);
    ti_engine_settle (self->client);
    if (self->waiter.open > 0 && !has_enough (self))
        (void)!ti_seat_wait (self->client, &self->waiter, self->until, ti_clock_now ());
}

/* All canaries have ended, and none of them badly. */
static bool is_well (const struct gather *self)
{
    for (uint32_t i = 0; i < self->canary; i++) {
        const struct tied_gathered *part = &self->out[i];
        const struct ti_client_call *call = &self->client->calls.slots[part->reserved];

        if (!part->is_sent || call->state != TI_CLIENT_CALL_ENDED ||
            (call->completion.outcome != TIED_OUTCOME_OK &&
             call->completion.outcome != TIED_OUTCOME_APP_ERROR))
            return false;
    }
    return true;
}

/* Why a call is not sent, or not waited for. */
static enum tied_gather_end why (const struct gather *self, bool is_late)
{
    if (has_enough (self))
        return TIED_GATHER_ENOUGH;
    return is_late ? TIED_GATHER_LATE : TIED_GATHER_CANARY;
}

/* End and collect one call that was sent. */
static void collect (struct gather *self, struct tied_gathered *part, bool is_late)
{
    tied_client_t *client = self->client;
    struct ti_client_call *call = &client->calls.slots[part->reserved];

    call->waiter = NULL;
    if (call->state == TI_CLIENT_CALL_LIVE) {
        part->end = why (self, is_late);
        ti_engine_cancel (client, part->reserved, ti_clock_now ());
    } else if (is_late && call->completion.outcome == TIED_OUTCOME_DEADLINE) {
        part->end = TIED_GATHER_LATE; /* the gather's deadline was the call's */
    }
    if (ti_wait_collect (client, part->reserved, &part->reply) != 0) {
        ti_client_calls_release (&client->calls, part->reserved);
        fail (part, TIED_ERR_NOMEM);
    }
}

/* With the lock held. */
static int gather (struct gather *self)
{
    uint32_t sent = self->count;
    uint32_t good = 0;
    bool is_late;

    if (self->client->state != TI_CLIENT_STARTED)
        return TIED_ERR_STATE;
    memset (self->out, 0, self->count * sizeof *self->out);
    if (self->canary > 0)
        run (self, 0, self->canary);
    if (self->canary > 0 && !(is_well (self) && !has_enough (self)))
        sent = self->canary;
    else
        run (self, self->canary, self->count);
    is_late = self->until <= ti_clock_now ();
    for (uint32_t i = 0; i < self->count; i++) {
        struct tied_gathered *part = &self->out[i];

        if (part->is_sent)
            collect (self, part, is_late);
        else if (part->error == 0)
            part->end = i < sent ? TIED_GATHER_ENOUGH : why (self, is_late);
        good += part->is_sent && part->end == TIED_GATHER_ENDED &&
                part->reply.details.outcome == TIED_OUTCOME_OK;
    }
    return (int)good;
}

int tied_client_gather (tied_client_t *self,
                        const struct tied_call *calls,
                        uint32_t count,
                        const struct tied_gather_options *options,
                        struct tied_gathered *out)
{
    struct gather state = {.client = self, .calls = calls, .out = out, .count = count};
    struct tied_gather_options own;
    int rc = check (self, calls, count, options, out);

    if (rc != 0)
        return rc;
    tied_gather_options_init (&own);
    if (options)
        own = *options;
    state.canary = own.canary;
    state.until = ti_time_add (ti_clock_now (), own.timeout_ns);
    state.waiter.kind = TI_WAIT_GATHER;
    state.waiter.need = own.need ? own.need : UINT32_MAX;
    pthread_mutex_lock (&self->lock);
    rc = gather (&state);
    ti_engine_leave (self);
    return rc;
}
