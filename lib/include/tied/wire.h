/* SPDX-License-Identifier: MIT */
/*
 * Header codec: one message is one msgpack array, docs/protocol.md. Encoding writes into the
 * caller's buffer, decoding borrows views into the caller's bytes; neither allocates, and the
 * decoder accepts nothing that the protocol page does not allow. This module knows no state:
 * whether a message makes sense now is the cores' business.
 */
#ifndef TIED_WIRE_H
#define TIED_WIRE_H

#include <tied/error.h>
#include <tied/types.h>

TIED_BEGIN_DECLS

#define TIED_WIRE_VERSION 1

/* Most bytes that any header takes without an inline body. */
#define TIED_WIRE_HEADER_MAX 512
/* Longest idempotency key and traceparent, in bytes. */
#define TIED_WIRE_KEY_MAX         TIED_KEY_MAX
#define TIED_WIRE_TRACEPARENT_MAX 64

/* X (NAME, type number on the wire, printed name) */
#define TIED_WIRE_TYPE_MAP(X)                                                                      \
    X (HELLO, 1, "hello")                                                                          \
    X (WELCOME, 2, "welcome")                                                                      \
    X (REQUEST, 3, "request")                                                                      \
    X (REPLY, 4, "reply")                                                                          \
    X (REJECT, 5, "reject")                                                                        \
    X (CANCEL, 6, "cancel")                                                                        \
    X (STARTED, 7, "started")                                                                      \
    X (UNTIE, 8, "untie")                                                                          \
    X (PING, 9, "ping")                                                                            \
    X (PONG, 10, "pong")                                                                           \
    X (DONE, 11, "done")                                                                           \
    X (CLAIM, 12, "claim")                                                                         \
    X (GRANT, 13, "grant")                                                                         \
    X (DENY, 14, "deny")

#define TIED_WIRE_TYPE_ENUM_(name, value, text) TIED_WIRE_##name = (value),
enum tied_wire_type {
    TIED_WIRE_TYPE_MAP (TIED_WIRE_TYPE_ENUM_)
};
#undef TIED_WIRE_TYPE_ENUM_

/* Why bytes were not accepted. Each has a counter in the runtimes. X (NAME, value, printed name) */
#define TIED_WIRE_FAULT_MAP(X)                                                                     \
    X (NONE, 0, "none")                                                                            \
    X (TRUNCATED, 1, "truncated")       /* ends inside an element */                               \
    X (TRAILING, 2, "trailing")         /* bytes after the array */                                \
    X (NOT_ARRAY, 3, "not_array")       /* first object is no array, or it is too short */         \
    X (VERSION, 4, "version")           /* another protocol version */                             \
    X (UNKNOWN_TYPE, 5, "unknown_type") /* no message has this type */                             \
    X (FIELD_TYPE, 6, "field_type")     /* an element is of the wrong msgpack type */              \
    X (FIELD_RANGE, 7, "field_range")   /* an element's value or length is out of range */         \
    X (TOO_DEEP, 8, "too_deep")         /* an unknown element nests deeper than 4 */

#define TIED_WIRE_FAULT_ENUM_(name, value, text) TIED_WIRE_FAULT_##name = (value),
enum tied_wire_fault {
    TIED_WIRE_FAULT_MAP (TIED_WIRE_FAULT_ENUM_) TIED_WIRE_FAULT_COUNT
};
#undef TIED_WIRE_FAULT_ENUM_

/* A borrowed run of bytes, not NUL-terminated. data may be NULL when size is 0. */
struct tied_view {
    const void *data;
    size_t size;
};

enum tied_wire_role {
    TIED_WIRE_ROLE_CLIENT = 0,
    TIED_WIRE_ROLE_REPLICA = 1
};

enum tied_request_flag {
    TIED_REQUEST_IDEMPOTENT = 1 << 0,
    TIED_REQUEST_TIED = 1 << 1,      /* a sibling is named and shall be told */
    TIED_REQUEST_LAST = 1 << 2,      /* last copy: lifts the hedge limit, never the hard one */
    TIED_REQUEST_REISSUE = 1 << 3,   /* an earlier copy was lost: see "Re-issue" in protocol.md */
    TIED_REQUEST_PARK = 1 << 4,      /* tied: keep what STARTED would drop until DONE */
    TIED_REQUEST_EXCLUSIVE = 1 << 5, /* must not run twice: only for who announces the mode */
    TIED_REQUEST_RELIEF = 1 << 6,   /* hedge of a call whose other copy runs, and ends when this one
                                       has answered: goes before those that wait */
    TIED_REQUEST_FLAGS_KNOWN = 0x7f /* a receiver ignores the other bits */
};

enum tied_reply_flag {
    TIED_REPLY_SIBLING_TOLD = 1 << 0,    /* STARTED was handed to the sibling's link */
    TIED_REPLY_SIBLING_STARTED = 1 << 1, /* the sibling's STARTED came while this copy ran */
    TIED_REPLY_REPEATED = 1 << 2, /* nothing ran for it: the result of an earlier request with
                                     its key */
    TIED_REPLY_FLAGS_KNOWN = 0x07
};

/* Bit of a mode in the set that WELCOME announces, and the set of a replica that announces none. */
#define TIED_WIRE_MODE_BIT(mode) (UINT32_C (1) << (mode))
#define TIED_WIRE_MODES_OLD                                                                        \
    (TIED_WIRE_MODE_BIT (TIED_MODE_SINGLE) | TIED_WIRE_MODE_BIT (TIED_MODE_TIED))
/* What a replica over the cores of this library announces. */
#define TIED_WIRE_MODES                                                                            \
    (TIED_WIRE_MODES_OLD | TIED_WIRE_MODE_BIT (TIED_MODE_PARK) |                                   \
     TIED_WIRE_MODE_BIT (TIED_MODE_EXCLUSIVE))

struct tied_wire_hello {
    uint8_t role;         /* enum tied_wire_role */
    struct tied_view id;  /* 1..TIED_NAME_MAX bytes: replica id, or a name the client chose */
    uint64_t incarnation; /* replica: random per start; client: its call epoch; never 0 */
    uint64_t time_ns;     /* opaque, echoed by WELCOME */
};
struct tied_wire_welcome {
    struct tied_view id;  /* the replica's own id */
    uint64_t incarnation; /* never 0 */
    uint64_t time_ns;     /* echo of HELLO */
    uint32_t body_max;    /* largest request body, bytes */
    uint32_t inline_max;  /* largest body that it puts in the header frame, bytes */
    uint32_t queue_depth; /* hard limit of its queue, copies */
    uint32_t workers;     /* copies served at once */
    struct tied_load load;
    uint32_t modes; /* set of TIED_WIRE_MODE_BIT; TIED_WIRE_MODES_OLD if the frame ends before it */
};
struct tied_wire_request {
    struct tied_call_id call;
    uint8_t copy;                 /* 0 primary, 1 its tied copy, 2.. re-issue or hedge */
    struct tied_view method;      /* 1..TIED_NAME_MAX bytes */
    uint64_t remaining_us;        /* time left, microseconds; UINT64_MAX: none given */
    uint64_t sent_us;             /* sender's monotonic clock at the send, microseconds; see
                                     "Time spent on the way" in protocol.md; 0: not given */
    uint32_t flags;               /* enum tied_request_flag */
    uint64_t incarnation;         /* the replica incarnation it is meant for; 0: any */
    struct tied_view sibling;     /* replica id of the other copy; size 0: none */
    uint64_t sibling_incarnation; /* 0: unknown or none */
    struct tied_view key;         /* idempotency key; size 0: none */
    uint8_t attempts_left;        /* copies that a downstream call may still add */
    struct tied_view traceparent; /* W3C trace context; size 0: none */
    struct tied_view body;        /* valid if !body_follows */
    bool body_follows;            /* the body is the next frame of the message */
};
struct tied_wire_reply {
    struct tied_call_id call;
    uint8_t copy;
    uint32_t status; /* 0 ok, else the application's own error number */
    uint32_t flags;  /* enum tied_reply_flag */
    uint64_t queue_us;
    uint64_t service_us;
    struct tied_load load;
    struct tied_view body;
    bool body_follows;
};
struct tied_wire_reject {
    struct tied_call_id call;
    uint8_t copy;
    uint8_t reason; /* enum tied_reject; an unknown number is delivered as it is */
    struct tied_load load;
};
struct tied_wire_cancel {
    struct tied_call_id call;
    uint8_t reason; /* enum tied_cancel; an unknown number is delivered as it is */
};
struct tied_wire_tie { /* STARTED, UNTIE, DONE, GRANT and DENY */
    struct tied_call_id call;
    uint8_t copy; /* the sender's copy */
};
struct tied_wire_claim {
    struct tied_call_id call;
    uint8_t copy;         /* the sender's copy */
    uint64_t age_us;      /* how long the sender has known of the call, at the send */
    uint64_t incarnation; /* the owner's instance that the call was tied with, not 0 */
};
struct tied_wire_ping { /* PING; PONG adds load */
    uint64_t time_ns;   /* opaque, echoed */
    struct tied_load load;
};

struct tied_message {
    uint8_t type; /* enum tied_wire_type */
    union {
        struct tied_wire_hello hello;
        struct tied_wire_welcome welcome;
        struct tied_wire_request request;
        struct tied_wire_reply reply;
        struct tied_wire_reject reject;
        struct tied_wire_cancel cancel;
        struct tied_wire_tie tie;
        struct tied_wire_claim claim;
        struct tied_wire_ping ping;
    } u;
};

/**
 * Bytes that tied_wire_encode () may need at most for this message.
 *
 * @param message  a message whose type is in the list
 * @return an upper bound: the header's fixed part, its strings and its inline body
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: cannot fail.
 */
TIED_EXPORT size_t tied_wire_bound (const struct tied_message *message);

/**
 * Write the header frame of a message.
 *
 * @param message   fields in their documented ranges; views are read, not kept. Bytes of a name or
 * traceparent are above 0x20 and not 0x7f; reasons, and incarnations of HELLO and WELCOME, are not
 * 0
 * @param buffer    where the bytes go
 * @param capacity  bytes there; tied_wire_bound () is always enough
 * @return bytes written (> 0); TIED_ERR_INVAL (a field out of range), TIED_ERR_TOOBIG (does not
 * fit)
 *
 * Ownership: borrows.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: the buffer's contents are undefined, nothing beyond capacity is touched. They are, too,
 * after the bytes written.
 */
TIED_EXPORT TIED_NODISCARD int
tied_wire_encode (const struct tied_message *message, void *buffer, size_t capacity);

/**
 * Read a header frame. Elements beyond those known are skipped, so a later minor revision can add
 * fields; everything else that is not exactly as documented is refused.
 *
 * @param data,size  the whole first frame of a message
 * @param out        if not NULL: the message; its views point into data
 * @param out_fault  if not NULL: enum tied_wire_fault, TIED_WIRE_FAULT_NONE on success
 * @return 0; TIED_ERR_VERSION (another protocol version); TIED_ERR_MALFORMED (all other faults)
 *
 * Ownership: borrows; out borrows data.
 * Thread: any.
 * Blocking: never.
 * Callback-safe: yes.
 * On error: *out is undefined.
 */
TIED_EXPORT TIED_NODISCARD int
tied_wire_decode (const void *data, size_t size, struct tied_message *out, int *out_fault);

/* Printed names; "?" for a value outside the list. Contract as tied_outcome_name (). */
TIED_EXPORT const char *tied_wire_type_name (int type);
TIED_EXPORT const char *tied_wire_fault_name (int fault);

TIED_END_DECLS

#endif
