/* SPDX-License-Identifier: MIT */
/*
 * Messages for tests of the header codec: a message as a plain list of elements (a second statement
 * of the layout, beside encoder and decoder), comparison, and random messages from a seed.
 */
#ifndef TIED_TEST_MESSAGES_H
#define TIED_TEST_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <tied/wire.h>

#define ELEMENTS_MAX 16

enum element_kind {
    ELEMENT_UINT,
    ELEMENT_STR,
    ELEMENT_BIN,
    ELEMENT_NIL
};
struct element {
    enum element_kind kind;
    uint64_t number;
    struct tied_view bytes;
};
struct elements {
    size_t count;
    struct element at[ELEMENTS_MAX];
};

static inline void add_uint (struct elements *list, uint64_t number)
{
    list->at[list->count++] = (struct element){ELEMENT_UINT, number, {NULL, 0}};
}

static inline void add_bytes (struct elements *list, enum element_kind kind, struct tied_view bytes)
{
    list->at[list->count++] = (struct element){kind, 0, bytes};
}

/* Optional views: none is nil. */
static inline void add_option (struct elements *list, enum element_kind kind, struct tied_view view)
{
    add_bytes (list, view.size ? kind : ELEMENT_NIL, view);
}

static inline void add_load (struct elements *list, struct tied_load load)
{
    add_uint (list, load.depth);
    add_uint (list, load.running);
    add_uint (list, load.wait_us);
}

static inline void add_call (struct elements *list, struct tied_call_id call)
{
    add_uint (list, call.epoch);
    add_uint (list, call.sequence);
}

static inline void add_body (struct elements *list, struct tied_view body, bool follows)
{
    add_bytes (list, follows ? ELEMENT_NIL : ELEMENT_BIN, body);
}

static inline void add_request (struct elements *list, const struct tied_wire_request *r)
{
    add_call (list, r->call);
    add_uint (list, r->copy);
    add_bytes (list, ELEMENT_STR, r->method);
    add_uint (list, r->remaining_us);
    add_uint (list, r->sent_us);
    add_uint (list, r->flags);
    add_uint (list, r->incarnation);
    add_option (list, ELEMENT_STR, r->sibling);
    add_uint (list, r->sibling_incarnation);
    add_option (list, ELEMENT_BIN, r->key);
    add_uint (list, r->attempts_left);
    add_option (list, ELEMENT_STR, r->traceparent);
    add_body (list, r->body, r->body_follows);
}

static inline void add_reply (struct elements *list, const struct tied_wire_reply *r)
{
    add_call (list, r->call);
    add_uint (list, r->copy);
    add_uint (list, r->status);
    add_uint (list, r->flags);
    add_uint (list, r->queue_us);
    add_uint (list, r->service_us);
    add_load (list, r->load);
    add_body (list, r->body, r->body_follows);
}

static inline void add_welcome (struct elements *list, const struct tied_wire_welcome *w)
{
    add_bytes (list, ELEMENT_STR, w->id);
    add_uint (list, w->incarnation);
    add_uint (list, w->time_ns);
    add_uint (list, w->body_max);
    add_uint (list, w->inline_max);
    add_uint (list, w->queue_depth);
    add_uint (list, w->workers);
    add_load (list, w->load);
    add_uint (list, w->modes);
}

/* All elements of the message's array, version and type among them. */
static inline struct elements elements_of (const struct tied_message *message)
{
    struct elements list = {0};
    add_uint (&list, 1);
    add_uint (&list, message->type);
    switch (message->type) {
    case TIED_WIRE_HELLO:
        add_uint (&list, message->u.hello.role);
        add_bytes (&list, ELEMENT_STR, message->u.hello.id);
        add_uint (&list, message->u.hello.incarnation);
        add_uint (&list, message->u.hello.time_ns);
        break;
    case TIED_WIRE_WELCOME:
        add_welcome (&list, &message->u.welcome);
        break;
    case TIED_WIRE_REQUEST:
        add_request (&list, &message->u.request);
        break;
    case TIED_WIRE_REPLY:
        add_reply (&list, &message->u.reply);
        break;
    case TIED_WIRE_REJECT:
        add_call (&list, message->u.reject.call);
        add_uint (&list, message->u.reject.copy);
        add_uint (&list, message->u.reject.reason);
        add_load (&list, message->u.reject.load);
        break;
    case TIED_WIRE_CANCEL:
        add_call (&list, message->u.cancel.call);
        add_uint (&list, message->u.cancel.reason);
        break;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
    case TIED_WIRE_DONE:
    case TIED_WIRE_GRANT:
    case TIED_WIRE_DENY:
        add_call (&list, message->u.tie.call);
        add_uint (&list, message->u.tie.copy);
        break;
    case TIED_WIRE_CLAIM:
        add_call (&list, message->u.claim.call);
        add_uint (&list, message->u.claim.copy);
        add_uint (&list, message->u.claim.age_us);
        add_uint (&list, message->u.claim.incarnation);
        break;
    case TIED_WIRE_PING:
        add_uint (&list, message->u.ping.time_ns);
        break;
    case TIED_WIRE_PONG:
        add_uint (&list, message->u.ping.time_ns);
        add_load (&list, message->u.ping.load);
        break;
    default:
        break;
    }
    return list;
}

static inline bool element_equal (const struct element *a, const struct element *b)
{
    if (a->kind != b->kind || a->number != b->number)
        return false;
    if (a->kind != ELEMENT_STR && a->kind != ELEMENT_BIN)
        return true;
    return a->bytes.size == b->bytes.size &&
           (a->bytes.size == 0 || memcmp (a->bytes.data, b->bytes.data, a->bytes.size) == 0);
}

static inline bool message_equal (const struct tied_message *a, const struct tied_message *b)
{
    struct elements left = elements_of (a);
    struct elements right = elements_of (b);
    if (left.count != right.count)
        return false;
    for (size_t i = 0; i < left.count; i++)
        if (!element_equal (&left.at[i], &right.at[i]))
            return false;
    return true;
}

/* splitmix64: a test's numbers come from its seed alone. */
static inline uint64_t sample_next (uint64_t *state)
{
    uint64_t x = *state += UINT64_C (0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number of 0..bits bits, every width of msgpack as likely as the next, often at its edges. */
static inline uint64_t sample_uint (uint64_t *state, unsigned bits)
{
    static const uint64_t edges[] = {0,         1,      0x7f,    0x80,       0xff,
                                     0x100,     0xffff, 0x10000, 0xffffffff, UINT64_C (0x100000000),
                                     UINT64_MAX};
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C (1) << bits) - 1;
    uint64_t draw = sample_next (state);
    if (draw % 3 == 0)
        return edges[(draw >> 8) % (sizeof edges / sizeof *edges)] & mask;
    return (sample_next (state) >> (draw >> 8) % 64) & mask;
}

/* At least 1 where 0 is not allowed. */
static inline uint64_t sample_not_0 (uint64_t *state, unsigned bits)
{
    uint64_t value = sample_uint (state, bits);
    return value ? value : 1;
}

/* min..max bytes into storage, visible ones for a name. */
static inline struct tied_view
sample_bytes (uint64_t *state, uint8_t *storage, size_t min, size_t max, bool is_name)
{
    size_t size = min + (size_t)(sample_next (state) % (max - min + 1));
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)sample_next (state);
        if (is_name && (byte < 0x21 || byte == 0x7f))
            byte = 'x';
        storage[i] = byte;
    }
    return (struct tied_view){storage, size};
}

#define SAMPLE_BODY_MAX 70000
/* Where a random message's views point; reused by the next one. */
struct sample_storage {
    uint8_t name[4][TIED_NAME_MAX];
    uint8_t body[SAMPLE_BODY_MAX];
};

static inline struct tied_call_id sample_call (uint64_t *state)
{
    struct tied_call_id call = {sample_not_0 (state, 64), 0};
    call.sequence = sample_uint (state, 64);
    return call;
}

static inline struct tied_load sample_load (uint64_t *state)
{
    struct tied_load load;
    load.depth = (uint32_t)sample_uint (state, 32);
    load.running = (uint32_t)sample_uint (state, 32);
    load.wait_us = (uint32_t)sample_uint (state, 32);
    return load;
}

/* None one time in four; the lengths of the three bin forms are all met. */
static inline struct tied_view sample_body (uint64_t *state, struct sample_storage *storage)
{
    static const size_t most[] = {0, 300, 2000, SAMPLE_BODY_MAX};
    uint64_t draw = sample_next (state);
    size_t max = most[draw % 64 == 0 ? 3 : draw % 3];
    size_t size = (size_t)(sample_next (state) % (max + 1));
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = sample_next (state);
        memcpy (storage->body + i, &word, size - i < 8 ? size - i : 8);
    }
    return (struct tied_view){storage->body, size};
}

static inline void
sample_request (struct tied_wire_request *r, uint64_t *state, struct sample_storage *s)
{
    r->call = sample_call (state);
    r->copy = (uint8_t)sample_uint (state, 8);
    r->method = sample_bytes (state, s->name[0], 1, TIED_NAME_MAX, true);
    r->remaining_us = sample_uint (state, 64);
    r->sent_us = sample_uint (state, 64);
    r->flags = (uint32_t)sample_uint (state, 32);
    r->incarnation = sample_uint (state, 64);
    if (sample_next (state) % 2)
        r->sibling = sample_bytes (state, s->name[1], 1, TIED_NAME_MAX, true);
    r->sibling_incarnation = sample_uint (state, 64);
    if (sample_next (state) % 2)
        r->key = sample_bytes (state, s->name[2], 1, TIED_WIRE_KEY_MAX, false);
    r->attempts_left = (uint8_t)sample_uint (state, 8);
    if (sample_next (state) % 2)
        r->traceparent = sample_bytes (state, s->name[3], 1, TIED_WIRE_TRACEPARENT_MAX, true);
    r->body_follows = sample_next (state) % 4 == 0;
    if (!r->body_follows)
        r->body = sample_body (state, s);
}

static inline void
sample_reply (struct tied_wire_reply *r, uint64_t *state, struct sample_storage *s)
{
    r->call = sample_call (state);
    r->copy = (uint8_t)sample_uint (state, 8);
    r->status = (uint32_t)sample_uint (state, 32);
    r->flags = (uint32_t)sample_uint (state, 32);
    r->queue_us = sample_uint (state, 64);
    r->service_us = sample_uint (state, 64);
    r->load = sample_load (state);
    r->body_follows = sample_next (state) % 4 == 0;
    if (!r->body_follows)
        r->body = sample_body (state, s);
}

static inline void
sample_welcome (struct tied_wire_welcome *w, uint64_t *state, struct sample_storage *s)
{
    w->id = sample_bytes (state, s->name[0], 1, TIED_NAME_MAX, true);
    w->incarnation = sample_not_0 (state, 64);
    w->time_ns = sample_uint (state, 64);
    w->body_max = (uint32_t)sample_uint (state, 32);
    w->inline_max = (uint32_t)sample_uint (state, 32);
    w->queue_depth = (uint32_t)sample_uint (state, 32);
    w->workers = (uint32_t)sample_uint (state, 32);
    w->load = sample_load (state);
    w->modes = (uint32_t)sample_uint (state, 32);
}

/* A valid message of this type; its views point into storage. */
static inline struct tied_message
sample_message (uint8_t type, uint64_t *state, struct sample_storage *s)
{
    struct tied_message m;
    memset (&m, 0, sizeof m);
    m.type = type;
    switch (type) {
    case TIED_WIRE_HELLO:
        m.u.hello.role = (uint8_t)(sample_next (state) % 2);
        m.u.hello.id = sample_bytes (state, s->name[0], 1, TIED_NAME_MAX, true);
        m.u.hello.incarnation = sample_not_0 (state, 64);
        m.u.hello.time_ns = sample_uint (state, 64);
        break;
    case TIED_WIRE_WELCOME:
        sample_welcome (&m.u.welcome, state, s);
        break;
    case TIED_WIRE_REQUEST:
        sample_request (&m.u.request, state, s);
        break;
    case TIED_WIRE_REPLY:
        sample_reply (&m.u.reply, state, s);
        break;
    case TIED_WIRE_REJECT:
        m.u.reject.call = sample_call (state);
        m.u.reject.copy = (uint8_t)sample_uint (state, 8);
        m.u.reject.reason = (uint8_t)sample_not_0 (state, 8);
        m.u.reject.load = sample_load (state);
        break;
    case TIED_WIRE_CANCEL:
        m.u.cancel.call = sample_call (state);
        m.u.cancel.reason = (uint8_t)sample_not_0 (state, 8);
        break;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
    case TIED_WIRE_DONE:
    case TIED_WIRE_GRANT:
    case TIED_WIRE_DENY:
        m.u.tie.call = sample_call (state);
        m.u.tie.copy = (uint8_t)sample_uint (state, 8);
        break;
    case TIED_WIRE_CLAIM:
        m.u.claim.call = sample_call (state);
        m.u.claim.copy = (uint8_t)sample_uint (state, 8);
        m.u.claim.age_us = sample_uint (state, 64);
        m.u.claim.incarnation = sample_not_0 (state, 64);
        break;
    case TIED_WIRE_PING:
        m.u.ping.time_ns = sample_uint (state, 64);
        break;
    default:
        m.u.ping.time_ns = sample_uint (state, 64);
        m.u.ping.load = sample_load (state);
        break;
    }
    return m;
}

#endif
