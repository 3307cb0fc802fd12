/* SPDX-License-Identifier: MIT */
/*
 * Reads header frames: one function per message, fields in the order of the structs in
 * tied/wire.h. Accepts what docs/protocol.md allows and nothing else.
 */
#include "wire/fields.h"
#include "wire/unpack.h"

/* Fields of a later revision. On a copy: the reader has no address anywhere else. */
TI_INLINE void skip (struct ti_unpack *unpack, uint32_t count)
{
    struct ti_unpack rest = *unpack;
    ti_unpack_skip (&rest, count);
    *unpack = rest;
}

/* Long, and every message has a few. */
TI_APART static bool is_name (struct tied_view view)
{
    return ti_wire_is_name (view.data, view.size);
}

TI_INLINE struct tied_view get_name (struct ti_unpack *unpack)
{
    struct tied_view view = ti_unpack_str (unpack);
    if (!is_name (view))
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_FIELD_RANGE);
    return view;
}

TI_INLINE struct tied_view get_name_or_nil (struct ti_unpack *unpack)
{
    struct tied_view none = {NULL, 0};
    return ti_unpack_is_nil (unpack) ? none : get_name (unpack);
}

TI_INLINE struct tied_view get_key (struct ti_unpack *unpack)
{
    struct tied_view view = {NULL, 0};
    if (ti_unpack_is_nil (unpack))
        return view;
    view = ti_unpack_bin (unpack);
    if (view.size == 0 || view.size > TIED_WIRE_KEY_MAX)
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_FIELD_RANGE);
    return view;
}

TI_INLINE struct tied_view get_body (struct ti_unpack *unpack, bool *out_follows)
{
    struct tied_view view = {NULL, 0};
    *out_follows = ti_unpack_is_nil (unpack);
    if (!*out_follows)
        view = ti_unpack_bin (unpack);
    return view;
}

TI_INLINE uint64_t get_uint_not_0 (struct ti_unpack *unpack)
{
    uint64_t value = ti_unpack_uint (unpack);
    if (value == 0)
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_FIELD_RANGE);
    return value;
}

TI_INLINE uint8_t get_reason (struct ti_unpack *unpack)
{
    uint8_t value = ti_unpack_u8 (unpack);
    if (value == 0)
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_FIELD_RANGE);
    return value;
}

TI_INLINE struct tied_call_id get_call (struct ti_unpack *unpack)
{
    struct tied_call_id call;
    call.epoch = get_uint_not_0 (unpack);
    call.sequence = ti_unpack_uint (unpack);
    return call;
}

TI_INLINE struct tied_load get_load (struct ti_unpack *unpack)
{
    struct tied_load load;
    load.depth = ti_unpack_u32 (unpack);
    load.running = ti_unpack_u32 (unpack);
    load.wait_us = ti_unpack_u32 (unpack);
    return load;
}

static struct ti_unpack get_hello (struct ti_unpack unpack, struct tied_wire_hello *hello)
{
    hello->role = (uint8_t)ti_unpack_uint_max (&unpack, TIED_WIRE_ROLE_REPLICA);
    hello->id = get_name (&unpack);
    hello->incarnation = get_uint_not_0 (&unpack);
    hello->time_ns = ti_unpack_uint (&unpack);
    return unpack;
}

static struct ti_unpack
get_welcome (struct ti_unpack unpack, struct tied_wire_welcome *welcome, uint32_t count)
{
    welcome->id = get_name (&unpack);
    welcome->incarnation = get_uint_not_0 (&unpack);
    welcome->time_ns = ti_unpack_uint (&unpack);
    welcome->body_max = ti_unpack_u32 (&unpack);
    welcome->inline_max = ti_unpack_u32 (&unpack);
    welcome->queue_depth = ti_unpack_u32 (&unpack);
    welcome->workers = ti_unpack_u32 (&unpack);
    welcome->load = get_load (&unpack);
    welcome->modes = TIED_WIRE_MODES_OLD;
    if (count > TI_WIRE_COUNT_WELCOME_OLD)
        welcome->modes = ti_unpack_u32 (&unpack);
    return unpack;
}

static struct ti_unpack get_request (struct ti_unpack unpack, struct tied_wire_request *request)
{
    request->call = get_call (&unpack);
    request->copy = ti_unpack_u8 (&unpack);
    request->method = get_name (&unpack);
    request->remaining_us = ti_unpack_uint (&unpack);
    request->sent_us = ti_unpack_uint (&unpack);
    request->flags = ti_unpack_u32 (&unpack);
    request->incarnation = ti_unpack_uint (&unpack);
    request->sibling = get_name_or_nil (&unpack);
    request->sibling_incarnation = ti_unpack_uint (&unpack);
    request->key = get_key (&unpack);
    request->attempts_left = ti_unpack_u8 (&unpack);
    request->traceparent = get_name_or_nil (&unpack);
    request->body = get_body (&unpack, &request->body_follows);
    return unpack;
}

static struct ti_unpack get_reply (struct ti_unpack unpack, struct tied_wire_reply *reply)
{
    reply->call = get_call (&unpack);
    reply->copy = ti_unpack_u8 (&unpack);
    reply->status = ti_unpack_u32 (&unpack);
    reply->flags = ti_unpack_u32 (&unpack);
    reply->queue_us = ti_unpack_uint (&unpack);
    reply->service_us = ti_unpack_uint (&unpack);
    reply->load = get_load (&unpack);
    reply->body = get_body (&unpack, &reply->body_follows);
    return unpack;
}

static struct ti_unpack get_reject (struct ti_unpack unpack, struct tied_wire_reject *reject)
{
    reject->call = get_call (&unpack);
    reject->copy = ti_unpack_u8 (&unpack);
    reject->reason = get_reason (&unpack);
    reject->load = get_load (&unpack);
    return unpack;
}

static struct ti_unpack get_cancel (struct ti_unpack unpack, struct tied_wire_cancel *cancel)
{
    cancel->call = get_call (&unpack);
    cancel->reason = get_reason (&unpack);
    return unpack;
}

static struct ti_unpack get_tie (struct ti_unpack unpack, struct tied_wire_tie *tie)
{
    tie->call = get_call (&unpack);
    tie->copy = ti_unpack_u8 (&unpack);
    return unpack;
}

static struct ti_unpack get_claim (struct ti_unpack unpack, struct tied_wire_claim *claim)
{
    claim->call = get_call (&unpack);
    claim->copy = ti_unpack_u8 (&unpack);
    claim->age_us = ti_unpack_uint (&unpack);
    claim->incarnation = get_uint_not_0 (&unpack);
    return unpack;
}

static struct ti_unpack get_ping (struct ti_unpack unpack, struct tied_wire_ping *ping)
{
    ping->time_ns = ti_unpack_uint (&unpack);
    ping->load = (struct tied_load){0, 0, 0};
    return unpack;
}

static struct ti_unpack get_pong (struct ti_unpack unpack, struct tied_wire_ping *pong)
{
    pong->time_ns = ti_unpack_uint (&unpack);
    pong->load = get_load (&unpack);
    return unpack;
}

/* Elements that a message of this type has at least; 0 if there is no such type. */
TI_INLINE uint32_t count_of (uint64_t type)
{
    static const uint8_t counts[] = {
        [TIED_WIRE_HELLO] = TI_WIRE_COUNT_HELLO,
        [TIED_WIRE_WELCOME] = TI_WIRE_COUNT_WELCOME_OLD,
        [TIED_WIRE_REQUEST] = TI_WIRE_COUNT_REQUEST,
        [TIED_WIRE_REPLY] = TI_WIRE_COUNT_REPLY,
        [TIED_WIRE_REJECT] = TI_WIRE_COUNT_REJECT,
        [TIED_WIRE_CANCEL] = TI_WIRE_COUNT_CANCEL,
        [TIED_WIRE_STARTED] = TI_WIRE_COUNT_TIE,
        [TIED_WIRE_UNTIE] = TI_WIRE_COUNT_TIE,
        [TIED_WIRE_PING] = TI_WIRE_COUNT_PING,
        [TIED_WIRE_PONG] = TI_WIRE_COUNT_PONG,
        [TIED_WIRE_DONE] = TI_WIRE_COUNT_TIE,
        [TIED_WIRE_CLAIM] = TI_WIRE_COUNT_CLAIM,
        [TIED_WIRE_GRANT] = TI_WIRE_COUNT_TIE,
        [TIED_WIRE_DENY] = TI_WIRE_COUNT_TIE,
    };
    return type < sizeof counts ? counts[type] : 0;
}

/* All elements that this revision knows of the `count` that are there. */
TI_INLINE void get_fields (struct ti_unpack *unpack, struct tied_message *message, uint32_t count)
{
    switch ((enum tied_wire_type)message->type) {
    case TIED_WIRE_HELLO:
        *unpack = get_hello (*unpack, &message->u.hello);
        return;
    case TIED_WIRE_WELCOME:
        *unpack = get_welcome (*unpack, &message->u.welcome, count);
        return;
    case TIED_WIRE_REQUEST:
        *unpack = get_request (*unpack, &message->u.request);
        return;
    case TIED_WIRE_REPLY:
        *unpack = get_reply (*unpack, &message->u.reply);
        return;
    case TIED_WIRE_REJECT:
        *unpack = get_reject (*unpack, &message->u.reject);
        return;
    case TIED_WIRE_CANCEL:
        *unpack = get_cancel (*unpack, &message->u.cancel);
        return;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
    case TIED_WIRE_DONE:
    case TIED_WIRE_GRANT:
    case TIED_WIRE_DENY:
        *unpack = get_tie (*unpack, &message->u.tie);
        return;
    case TIED_WIRE_CLAIM:
        *unpack = get_claim (*unpack, &message->u.claim);
        return;
    case TIED_WIRE_PING:
        *unpack = get_ping (*unpack, &message->u.ping);
        return;
    case TIED_WIRE_PONG:
        *unpack = get_pong (*unpack, &message->u.ping);
        return;
    }
}

TI_INLINE void get_message (struct ti_unpack *unpack, struct tied_message *message)
{
    uint32_t count = ti_unpack_array (unpack);
    if (count < 2) {
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_NOT_ARRAY);
        return;
    }
    /* The version comes first: of another one we know neither types nor fields. */
    uint64_t version = ti_unpack_uint (unpack);
    if (version != TIED_WIRE_VERSION) {
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_VERSION);
        return;
    }
    uint64_t type = ti_unpack_uint (unpack);
    uint32_t known = count_of (type);
    if (known == 0) {
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_UNKNOWN_TYPE);
        return;
    }
    if (count < known) {
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_NOT_ARRAY);
        return;
    }
    message->type = (uint8_t)type;
    get_fields (unpack, message, count);
    if (type == TIED_WIRE_WELCOME && count > known)
        known = TI_WIRE_COUNT_WELCOME;
    if (count > known)
        skip (unpack, count - known);
    /* After a fault the reader stands at the end, so this finds only what is too much. */
    if (unpack->at != unpack->end)
        ti_unpack_fail (unpack, TIED_WIRE_FAULT_TRAILING);
}

int tied_wire_decode (const void *data, size_t size, struct tied_message *out, int *out_fault)
{
    static const uint8_t nothing[1];
    const uint8_t *start = data ? data : nothing;
    struct ti_unpack unpack = {.at = start, .end = start + (data ? size : 0), .fault = 0};
    struct tied_message unwanted;
    get_message (&unpack, out ? out : &unwanted);
    if (out_fault)
        *out_fault = unpack.fault;
    if (unpack.fault == TIED_WIRE_FAULT_NONE)
        return 0;
    return unpack.fault == TIED_WIRE_FAULT_VERSION ? TIED_ERR_VERSION : TIED_ERR_MALFORMED;
}
