/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

/* Request buffers up to here are kept for the next call of the slot; larger ones go back to the
   allocator, so that one burst of large bodies does not stay for ever. */
#define KEEP_CAPACITY 4096

static uint32_t power_of_two_from (uint32_t n)
{
    uint32_t power = 1;

    while (power < n)
        power <<= 1;
    return power;
}

int ti_client_calls_init (struct ti_client_calls *self, uint32_t max)
{
    uint32_t chains = power_of_two_from (max);

    memset (self, 0, sizeof *self);
    self->slots = calloc (max, sizeof *self->slots);
    self->chains = calloc (chains, sizeof *self->chains);
    self->queue = calloc (max, sizeof *self->queue);
    if (!self->slots || !self->chains || !self->queue) {
        ti_client_calls_deinit (self);
        return TIED_ERR_NOMEM;
    }
    self->max = max;
    self->chain_mask = chains - 1;
    for (uint32_t i = 0; i < chains; i++)
        self->chains[i] = TI_NO_TOKEN;
    for (uint32_t i = 0; i < max; i++)
        self->slots[i].next = i + 1 < max ? i + 1 : TI_NO_TOKEN;
    return 0;
}

void ti_client_calls_deinit (struct ti_client_calls *self)
{
    for (uint32_t i = 0; i < self->max; i++) {
        if (self->slots[i].has_body)
            zmq_msg_close (&self->slots[i].body);
        free (self->slots[i].bytes);
    }
    free (self->slots);
    free (self->chains);
    free (self->queue);
    memset (self, 0, sizeof *self);
}

uint32_t ti_client_calls_reserve (struct ti_client_calls *self)
{
    uint32_t token = self->free_head;

    if (token == TI_NO_TOKEN)
        return token;
    struct ti_client_call *call = &self->slots[token];

    TI_ASSERT (call->state == TI_CLIENT_CALL_FREE);
    self->free_head = call->next;
    call->state = TI_CLIENT_CALL_RESERVED;
    call->waiter = NULL;
    return token;
}

static struct tied_view append (unsigned char **at, const void *data, size_t size)
{
    struct tied_view view = {.data = *at, .size = size};

    if (size > 0)
        memcpy (*at, data, size);
    *at += size;
    return view;
}

int ti_client_call_keep (struct ti_client_call *self, const struct tied_call *call)
{
    size_t method = strlen (call->method);
    size_t trace = call->traceparent ? strlen (call->traceparent) : 0;
    size_t size = method + trace + call->key_size + call->body_size;
    unsigned char *at;

    if (size > self->capacity) {
        size_t capacity = size <= 256 ? 256 : size <= KEEP_CAPACITY ? KEEP_CAPACITY : size;
        at = malloc (capacity);
        if (!at)
            return TIED_ERR_NOMEM;
        free (self->bytes);
        self->bytes = at;
        self->capacity = capacity;
    }
    at = self->bytes;
    self->method = append (&at, call->method, method);
    self->traceparent = append (&at, call->traceparent, trace);
    self->key = append (&at, call->key, call->key_size);
    self->request = append (&at, call->body, call->body_size);
    self->user = call->user;
    self->to_queue = call->to_queue;
    return 0;
}

void ti_client_calls_accept (struct ti_client_calls *self, uint32_t token, struct tied_call_id id)
{
    struct ti_client_call *call = &self->slots[token];
    uint32_t *chain = &self->chains[id.sequence & self->chain_mask];

    TI_ASSERT (call->state == TI_CLIENT_CALL_RESERVED);
    call->state = TI_CLIENT_CALL_LIVE;
    call->id = id;
    call->next = *chain;
    *chain = token;
}

uint32_t ti_client_calls_find (const struct ti_client_calls *self, struct tied_call_id id)
{
    uint32_t token = self->chains[id.sequence & self->chain_mask];

    while (token != TI_NO_TOKEN && !ti_call_id_equal (self->slots[token].id, id))
        token = self->slots[token].next;
    return token;
}

static void unlink_id (struct ti_client_calls *self, uint32_t token)
{
    uint32_t *link = &self->chains[self->slots[token].id.sequence & self->chain_mask];

    while (*link != token) {
        TI_ASSERT (*link != TI_NO_TOKEN);
        link = &self->slots[*link].next;
    }
    *link = self->slots[token].next;
}

void ti_client_calls_release (struct ti_client_calls *self, uint32_t token)
{
    struct ti_client_call *call = &self->slots[token];

    TI_ASSERT (call->state != TI_CLIENT_CALL_FREE);
    if (call->state != TI_CLIENT_CALL_RESERVED)
        unlink_id (self, token);
    if (call->has_body)
        zmq_msg_close (&call->body);
    call->has_body = false;
    if (call->capacity > KEEP_CAPACITY) {
        free (call->bytes);
        call->bytes = NULL;
        call->capacity = 0;
    }
    call->waiter = NULL;
    call->state = TI_CLIENT_CALL_FREE;
    call->next = self->free_head;
    self->free_head = token;
}

void ti_client_calls_push (struct ti_client_calls *self, uint32_t token)
{
    TI_ASSERT (self->queue_count < self->max);
    self->queue[(uint32_t)(((uint64_t)self->queue_head + self->queue_count) % self->max)] = token;
    self->queue_count++;
}

uint32_t ti_client_calls_front (const struct ti_client_calls *self)
{
    return self->queue_count > 0 ? self->queue[self->queue_head] : TI_NO_TOKEN;
}

void ti_client_calls_pop (struct ti_client_calls *self)
{
    TI_ASSERT (self->queue_count > 0);
    self->queue_head = self->queue_head + 1 < self->max ? self->queue_head + 1 : 0;
    self->queue_count--;
}

bool ti_client_calls_is_live (const struct ti_client_calls *self, struct tied_call_id id)
{
    uint32_t token = ti_client_calls_find (self, id);

    return token != TI_NO_TOKEN && self->slots[token].state == TI_CLIENT_CALL_LIVE;
}
