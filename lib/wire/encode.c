/* SPDX-License-Identifier: MIT */
/*
 * Writes header frames: one function per message, fields in the order of the structs in
 * tied/wire.h. Refuses what the decoder would refuse, so nothing that we send is malformed.
 */
#include <limits.h>

#include "wire/fields.h"
#include "wire/pack.h"

#define UINT_MAX_BYTES 9 /* marker and eight bytes */
#define STR_MAX_BYTES  2 /* marker and length of up to 255 bytes */
#define BIN_MAX_BYTES  5 /* marker and four bytes of length */

/* Long, and every message has a few. */
TI_APART static bool is_name (struct tied_view view)
{
    return ti_wire_is_name (view.data, view.size);
}

TI_INLINE void put_name (struct ti_pack *pack, struct tied_view view)
{
    if (is_name (view))
        ti_pack_str (pack, view.data, (uint8_t)view.size);
    else
        pack->is_invalid = true;
}

TI_INLINE void put_name_or_nil (struct ti_pack *pack, struct tied_view view)
{
    if (view.size == 0)
        ti_pack_nil (pack);
    else
        put_name (pack, view);
}

TI_INLINE void put_key (struct ti_pack *pack, struct tied_view view)
{
    if (view.size == 0) {
        ti_pack_nil (pack);
    } else if (view.size > TIED_WIRE_KEY_MAX || !view.data) {
        pack->is_invalid = true;
    } else {
        ti_pack_bin_head (pack, (uint32_t)view.size);
        ti_pack_bytes (pack, view.data, view.size);
    }
}

/* The header ends here; the body's bytes are copied when it is known whether they fit. */
TI_INLINE void put_body_head (struct ti_pack *pack, struct tied_view view, bool follows)
{
    if (follows)
        ti_pack_nil (pack);
    else if (view.size > 0 && !view.data)
        pack->is_invalid = true;
    else
        ti_pack_bin_head (pack, (uint32_t)ti_min (view.size, UINT32_MAX));
}

/* For fields of which one value or more is not allowed. */
TI_INLINE void put_uint_if (struct ti_pack *pack, bool is_valid, uint64_t value)
{
    pack->is_invalid |= !is_valid;
    ti_pack_uint (pack, value);
}

TI_INLINE void put_start (struct ti_pack *pack, uint16_t count, uint8_t type)
{
    ti_pack_array (pack, count);
    ti_pack_uint (pack, TIED_WIRE_VERSION);
    ti_pack_uint (pack, type);
}

TI_INLINE void put_call (struct ti_pack *pack, struct tied_call_id call)
{
    put_uint_if (pack, call.epoch != 0, call.epoch);
    ti_pack_uint (pack, call.sequence);
}

TI_INLINE void put_load (struct ti_pack *pack, struct tied_load load)
{
    ti_pack_uint (pack, load.depth);
    ti_pack_uint (pack, load.running);
    ti_pack_uint (pack, load.wait_us);
}

static struct ti_pack put_hello (struct ti_pack pack, const struct tied_wire_hello *hello)
{
    put_start (&pack, TI_WIRE_COUNT_HELLO, TIED_WIRE_HELLO);
    put_uint_if (&pack, hello->role <= TIED_WIRE_ROLE_REPLICA, hello->role);
    put_name (&pack, hello->id);
    put_uint_if (&pack, hello->incarnation != 0, hello->incarnation);
    ti_pack_uint (&pack, hello->time_ns);
    return pack;
}

static struct ti_pack put_welcome (struct ti_pack pack, const struct tied_wire_welcome *welcome)
{
    put_start (&pack, TI_WIRE_COUNT_WELCOME, TIED_WIRE_WELCOME);
    put_name (&pack, welcome->id);
    put_uint_if (&pack, welcome->incarnation != 0, welcome->incarnation);
    ti_pack_uint (&pack, welcome->time_ns);
    ti_pack_uint (&pack, welcome->body_max);
    ti_pack_uint (&pack, welcome->inline_max);
    ti_pack_uint (&pack, welcome->queue_depth);
    ti_pack_uint (&pack, welcome->workers);
    put_load (&pack, welcome->load);
    ti_pack_uint (&pack, welcome->modes);
    return pack;
}

static struct ti_pack put_request (struct ti_pack pack, const struct tied_wire_request *request)
{
    put_start (&pack, TI_WIRE_COUNT_REQUEST, TIED_WIRE_REQUEST);
    put_call (&pack, request->call);
    ti_pack_uint (&pack, request->copy);
    put_name (&pack, request->method);
    ti_pack_uint (&pack, request->remaining_us);
    ti_pack_uint (&pack, request->sent_us);
    ti_pack_uint (&pack, request->flags);
    ti_pack_uint (&pack, request->incarnation);
    put_name_or_nil (&pack, request->sibling);
    ti_pack_uint (&pack, request->sibling_incarnation);
    put_key (&pack, request->key);
    ti_pack_uint (&pack, request->attempts_left);
    put_name_or_nil (&pack, request->traceparent);
    put_body_head (&pack, request->body, request->body_follows);
    return pack;
}

static struct ti_pack put_reply (struct ti_pack pack, const struct tied_wire_reply *reply)
{
    put_start (&pack, TI_WIRE_COUNT_REPLY, TIED_WIRE_REPLY);
    put_call (&pack, reply->call);
    ti_pack_uint (&pack, reply->copy);
    ti_pack_uint (&pack, reply->status);
    ti_pack_uint (&pack, reply->flags);
    ti_pack_uint (&pack, reply->queue_us);
    ti_pack_uint (&pack, reply->service_us);
    put_load (&pack, reply->load);
    put_body_head (&pack, reply->body, reply->body_follows);
    return pack;
}

static struct ti_pack put_reject (struct ti_pack pack, const struct tied_wire_reject *reject)
{
    put_start (&pack, TI_WIRE_COUNT_REJECT, TIED_WIRE_REJECT);
    put_call (&pack, reject->call);
    ti_pack_uint (&pack, reject->copy);
    put_uint_if (&pack, reject->reason != TIED_REJECT_NONE, reject->reason);
    put_load (&pack, reject->load);
    return pack;
}

static struct ti_pack put_cancel (struct ti_pack pack, const struct tied_wire_cancel *cancel)
{
    put_start (&pack, TI_WIRE_COUNT_CANCEL, TIED_WIRE_CANCEL);
    put_call (&pack, cancel->call);
    put_uint_if (&pack, cancel->reason != TIED_CANCEL_NONE, cancel->reason);
    return pack;
}

static struct ti_pack put_tie (struct ti_pack pack, const struct tied_wire_tie *tie, uint8_t type)
{
    put_start (&pack, TI_WIRE_COUNT_TIE, type);
    put_call (&pack, tie->call);
    ti_pack_uint (&pack, tie->copy);
    return pack;
}

static struct ti_pack put_claim (struct ti_pack pack, const struct tied_wire_claim *claim)
{
    put_start (&pack, TI_WIRE_COUNT_CLAIM, TIED_WIRE_CLAIM);
    put_call (&pack, claim->call);
    ti_pack_uint (&pack, claim->copy);
    ti_pack_uint (&pack, claim->age_us);
    put_uint_if (&pack, claim->incarnation != 0, claim->incarnation);
    return pack;
}

static struct ti_pack put_ping (struct ti_pack pack, const struct tied_wire_ping *ping)
{
    put_start (&pack, TI_WIRE_COUNT_PING, TIED_WIRE_PING);
    ti_pack_uint (&pack, ping->time_ns);
    return pack;
}

static struct ti_pack put_pong (struct ti_pack pack, const struct tied_wire_ping *pong)
{
    put_start (&pack, TI_WIRE_COUNT_PONG, TIED_WIRE_PONG);
    ti_pack_uint (&pack, pong->time_ns);
    put_load (&pack, pong->load);
    return pack;
}

TI_INLINE struct ti_pack put_message (struct ti_pack pack, const struct tied_message *message)
{
    switch ((enum tied_wire_type)message->type) {
    case TIED_WIRE_HELLO:
        return put_hello (pack, &message->u.hello);
    case TIED_WIRE_WELCOME:
        return put_welcome (pack, &message->u.welcome);
    case TIED_WIRE_REQUEST:
        return put_request (pack, &message->u.request);
    case TIED_WIRE_REPLY:
        return put_reply (pack, &message->u.reply);
    case TIED_WIRE_REJECT:
        return put_reject (pack, &message->u.reject);
    case TIED_WIRE_CANCEL:
        return put_cancel (pack, &message->u.cancel);
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
    case TIED_WIRE_DONE:
    case TIED_WIRE_GRANT:
    case TIED_WIRE_DENY:
        return put_tie (pack, &message->u.tie, message->type);
    case TIED_WIRE_CLAIM:
        return put_claim (pack, &message->u.claim);
    case TIED_WIRE_PING:
        return put_ping (pack, &message->u.ping);
    case TIED_WIRE_PONG:
        return put_pong (pack, &message->u.ping);
    }
    pack.is_invalid = true;
    return pack;
}

/* What follows the header in the same frame. */
TI_INLINE struct tied_view inline_body (const struct tied_message *message)
{
    struct tied_view none = {NULL, 0};
    if (message->type == TIED_WIRE_REQUEST && !message->u.request.body_follows)
        return message->u.request.body;
    if (message->type == TIED_WIRE_REPLY && !message->u.reply.body_follows)
        return message->u.reply.body;
    return none;
}

int tied_wire_encode (const struct tied_message *message, void *buffer, size_t capacity)
{
    if (!message || (!buffer && capacity > 0))
        return TIED_ERR_INVAL;
    /* A header is written where the longest would fit. */
    uint8_t scratch[TIED_WIRE_HEADER_MAX];
    const bool is_roomy = capacity >= sizeof scratch;
    uint8_t *start = is_roomy ? buffer : scratch;
    const struct ti_pack pack = put_message ((struct ti_pack){start, false}, message);
    if (pack.is_invalid)
        return TIED_ERR_INVAL;
    const struct tied_view body = inline_body (message);
    const size_t size = (size_t)(pack.at - start);
    /* The length is returned as an int. */
    const size_t room = (size_t)ti_min (capacity, INT_MAX);
    if (size > room || body.size > room - size)
        return TIED_ERR_TOOBIG;
    if (!is_roomy)
        memcpy (buffer, scratch, size);
    ti_copy ((uint8_t *)buffer + size, body.data, body.size);
    return (int)(size + body.size);
}

/* Every element at its widest; version and type take one byte each, an array head at most three. */
static size_t bound_of (unsigned uints, unsigned strs)
{
    return 5 + (size_t)uints * UINT_MAX_BYTES + (size_t)strs * STR_MAX_BYTES;
}

size_t tied_wire_bound (const struct tied_message *message)
{
    if (!message)
        return 0;
    const struct tied_wire_request *request = &message->u.request;
    const struct tied_wire_reply *reply = &message->u.reply;
    switch ((enum tied_wire_type)message->type) {
    case TIED_WIRE_HELLO:
        return bound_of (3, 1) + message->u.hello.id.size;
    case TIED_WIRE_WELCOME:
        return bound_of (10, 1) + message->u.welcome.id.size;
    case TIED_WIRE_REQUEST:
        return bound_of (9, 4) + request->method.size + request->sibling.size + request->key.size +
               request->traceparent.size + BIN_MAX_BYTES +
               (request->body_follows ? 0 : request->body.size);
    case TIED_WIRE_REPLY:
        return bound_of (10, 0) + BIN_MAX_BYTES + (reply->body_follows ? 0 : reply->body.size);
    case TIED_WIRE_REJECT:
        return bound_of (7, 0);
    case TIED_WIRE_CANCEL:
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
    case TIED_WIRE_DONE:
    case TIED_WIRE_GRANT:
    case TIED_WIRE_DENY:
        return bound_of (3, 0);
    case TIED_WIRE_CLAIM:
        return bound_of (5, 0);
    case TIED_WIRE_PING:
        return bound_of (1, 0);
    case TIED_WIRE_PONG:
        return bound_of (4, 0);
    default:
        return 0;
    }
}
