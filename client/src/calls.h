/* SPDX-License-Identifier: MIT */
/*
 * The calls that a client holds, indexed by the core's token: the bytes of the request until the
 * call ends, and its completion until somebody collects it.
 *
 * All of it is allocated at creation but the request bytes. A call holds its token from submit
 * until its reply is collected, so the table bounds completions as well as live calls. It knows no
 * lock, no socket and no policy: the engine's owner uses it under the engine's lock.
 */
#ifndef TI_CLIENT_CALLS_H
#define TI_CLIENT_CALLS_H

#include <zmq.h>

#include <tied/client.h>
#include <tied/wire.h>

#define TI_NO_TOKEN UINT32_MAX

struct ti_waiter;

enum ti_client_call_state {
    TI_CLIENT_CALL_FREE = 0,
    TI_CLIENT_CALL_RESERVED, /* has a token, is not known to the core yet */
    TI_CLIENT_CALL_LIVE,
    TI_CLIENT_CALL_ENDED /* completion is valid, not collected yet */
};

struct ti_client_call {
    enum ti_client_call_state state;
    bool to_queue;
    bool is_repeated;         /* ENDED: the answer is an earlier one's with the same key */
    bool has_body;            /* ENDED: body holds the frame with the reply's bytes */
    uint32_t next;            /* FREE: free list; else chain of the id lookup */
    struct tied_call_id id;   /* LIVE, ENDED */
    struct ti_waiter *waiter; /* the thread that waits for it, NULL */
    void *user;
    unsigned char *bytes; /* method, traceparent, key and body of the request, one after another */
    size_t capacity;      /* of bytes */
    struct tied_view method, traceparent, key, request; /* into bytes */
    struct tied_client_completion completion;
    size_t body_offset, body_size; /* within body */
    zmq_msg_t body;
};

struct ti_client_calls {
    struct ti_client_call *slots;
    uint32_t max;
    uint32_t free_head;
    uint32_t *chains; /* first token by sequence & chain_mask */
    uint32_t chain_mask;
    uint32_t *queue; /* ring of max tokens that ended and go to tied_client_next () */
    uint32_t queue_head, queue_count;
};

/* 0, TIED_ERR_NOMEM. On error nothing is left. */
TIED_NODISCARD int ti_client_calls_init (struct ti_client_calls *self, uint32_t max);
void ti_client_calls_deinit (struct ti_client_calls *self);

/* A free token in state RESERVED, TI_NO_TOKEN when all are taken. */
uint32_t ti_client_calls_reserve (struct ti_client_calls *self);
/* Keep one copy of what the call sends. Touches this slot alone, so a RESERVED call needs no lock.
   0, TIED_ERR_NOMEM. */
TIED_NODISCARD int ti_client_call_keep (struct ti_client_call *self, const struct tied_call *call);
/* RESERVED becomes LIVE under this id. */
void ti_client_calls_accept (struct ti_client_calls *self, uint32_t token, struct tied_call_id id);
/* Token of a LIVE or ENDED call, TI_NO_TOKEN. */
uint32_t ti_client_calls_find (const struct ti_client_calls *self, struct tied_call_id id);
/* It was submitted and has not ended. */
bool ti_client_calls_is_live (const struct ti_client_calls *self, struct tied_call_id id);
/* Whatever state: the token is free afterwards, a body that was not taken is closed. */
void ti_client_calls_release (struct ti_client_calls *self, uint32_t token);

void ti_client_calls_push (struct ti_client_calls *self, uint32_t token);
/* The oldest, which stays in the ring; TI_NO_TOKEN when it is empty. */
uint32_t ti_client_calls_front (const struct ti_client_calls *self);
void ti_client_calls_pop (struct ti_client_calls *self);

#endif
