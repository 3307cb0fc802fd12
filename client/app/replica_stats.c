/* SPDX-License-Identifier: MIT */
#include "replica_stats.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "zmq/clock.h"

#define METHOD "tied.stats"
/* How long one client is polled before the next gets its turn. */
#define TURN TIED_US (500)
/* For one that did not answer last time; enough for one that is back. */
#define ABSENT_TIMEOUT TIED_MS (20)

struct cursor {
    const unsigned char *at, *end;
};

struct replica_stats *replica_stats_new (uint32_t count)
{
    return calloc (count, sizeof (struct replica_stats));
}

/* Big-endian number of size bytes. */
static bool read_number (struct cursor *in, size_t size, uint64_t *out)
{
    uint64_t value = 0;

    if ((size_t)(in->end - in->at) < size)
        return false;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | *in->at++;
    *out = value;
    return true;
}

static bool read_byte (struct cursor *in, unsigned char *out)
{
    uint64_t byte;

    if (!read_number (in, 1, &byte))
        return false;
    *out = (unsigned char)byte;
    return true;
}

/* A head whose length is in its low bits (fix..fix | mask) or in size bytes after `wide`. */
static bool read_length (struct cursor *in,
                         unsigned char fix,
                         unsigned char mask,
                         unsigned char wide,
                         size_t size,
                         uint64_t *out)
{
    unsigned char head;

    if (!read_byte (in, &head))
        return false;
    if ((head & ~mask) == fix) {
        *out = head & mask;
        return true;
    }
    return head == wide && read_number (in, size, out);
}

static bool read_name (struct cursor *in, char name[TIED_NAME_MAX + 1])
{
    uint64_t size;

    if (!read_length (in, 0xa0, 0x1f, 0xd9, 1, &size) || size > TIED_NAME_MAX ||
        (uint64_t)(in->end - in->at) < size)
        return false;
    memcpy (name, in->at, size);
    name[size] = 0;
    in->at += size;
    return true;
}

static bool read_unsigned (struct cursor *in, uint64_t *out)
{
    unsigned char head;

    if (!read_byte (in, &head))
        return false;
    if (head < 0x80) {
        *out = head;
        return true;
    }
    return head >= 0xcc && head <= 0xcf && read_number (in, (size_t)1 << (head - 0xcc), out);
}

bool replica_stats_parse (struct replica_stats *self, const void *data, size_t size)
{
    struct cursor in = {.at = data, .end = (const unsigned char *)data + size};
    uint64_t count;

    memset (self, 0, sizeof *self);
    if (size == 0 || !read_length (&in, 0x80, 0x0f, 0xde, 2, &count) ||
        count > REPLICA_STATS_ITEMS_MAX)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!read_name (&in, self->items[i].name) || !read_unsigned (&in, &self->items[i].value))
            return false;
    }
    if (in.at != in.end)
        return false;
    self->count = (uint32_t)count;
    self->is_known = true;
    return true;
}

uint64_t replica_stats_get (const struct replica_stats *self, const char *name)
{
    for (uint32_t i = 0; i < self->count; i++) {
        if (strcmp (self->items[i].name, name) == 0)
            return self->items[i].value;
    }
    return 0;
}

static bool ask (tied_client_t *client, uint64_t timeout_ns)
{
    struct tied_call call;

    tied_call_init (&call, METHOD, NULL, 0);
    call.mode = TIED_MODE_SINGLE;
    call.is_idempotent = true;
    call.to_queue = true;
    call.timeout_ns = timeout_ns;
    return tied_client_submit (client, &call, NULL) == 0;
}

/* True when the call has ended. */
static bool collect (tied_client_t *client, struct replica_stats *out)
{
    struct tied_reply reply;

    if (tied_client_next (client, TURN, &reply) != 0)
        return false;
    if (reply.details.outcome == TIED_OUTCOME_OK)
        (void)replica_stats_parse (out, reply.body, reply.body_size);
    tied_reply_release (&reply);
    return true;
}

void replica_stats_read (const struct app *app,
                         struct replica_stats *out,
                         bool *is_absent,
                         uint64_t timeout_ns,
                         void (*idle) (void *arg),
                         void *arg)
{
    tied_client_t *clients[APP_REPLICAS_MAX] = {NULL};
    struct tied_client_options options;
    uint32_t pending = 0;

    app_options (app, &options);
    options.core.calls_max = 1;
    options.core.replicas_max = 1;
    for (uint32_t i = 0; i < app->replicas.count; i++) {
        bool is_brief = is_absent && is_absent[i];
        uint64_t patience = is_brief ? ti_min (ABSENT_TIMEOUT, timeout_ns) : timeout_ns;

        memset (&out[i], 0, sizeof out[i]);
        clients[i] = app_connect (app, &options, i, 1);
        if (clients[i] && ask (clients[i], patience))
            pending++;
        else
            tied_client_destroy (&clients[i]);
    }
    /* Each call ends by its deadline, so this ends. */
    while (pending > 0) {
        for (uint32_t i = 0; i < app->replicas.count; i++) {
            if (!clients[i] || !collect (clients[i], &out[i]))
                continue;
            tied_client_destroy (&clients[i]);
            pending--;
        }
        if (idle)
            idle (arg);
    }
    for (uint32_t i = 0; is_absent && i < app->replicas.count; i++)
        is_absent[i] = !out[i].is_known;
}
