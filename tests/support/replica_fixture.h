/* SPDX-License-Identifier: MIT */
/*
 * One replica core for tests: events as one-line calls, the actions of the last one in an array.
 * Every step is followed by tied_replica_core_check ().
 */
#ifndef TEST_REPLICA_FIXTURE_H
#define TEST_REPLICA_FIXTURE_H

#include <tied/replica_core.h>
#include <tied/wire.h>

#include "check.h"

#define FIXTURE_ACTIONS_MAX 512
#define FIXTURE_INCARNATION UINT64_C (0x1234)

struct fixture {
    struct tied_replica_core_options options;
    tied_replica_core_t *core;
    size_t size;
    tied_time_t now;
    bool is_fast; /* no check after each step */
    struct tied_replica_action actions[FIXTURE_ACTIONS_MAX];
    uint32_t count;
};

/* Options that a test may change before fixture_open (). One worker, and peer 0 is up. */
static inline void fixture_options (struct fixture *self)
{
    memset (self, 0, sizeof *self);
    tied_replica_core_options_init (&self->options);
    self->options.incarnation = FIXTURE_INCARNATION;
    self->options.workers = 1;
    self->options.queue_depth = 64;
    self->options.hedge_depth = 64;
    self->options.recent_max = 64;
    self->options.clients_max = 8;
    self->options.peers_max = 4;
    self->options.client_silence_ns = TIED_NEVER;
    self->now = S (100);
}

static inline int fixture_try (struct fixture *self, const struct tied_replica_event *event)
{
    const struct tied_replica_action *action;
    int rc = tied_replica_core_step (self->core, event, self->now);

    self->count = 0;
    while ((action = tied_replica_core_next (self->core))) {
        CHECK_U64 (self->count, <, FIXTURE_ACTIONS_MAX);
        self->actions[self->count++] = *action;
    }
    if (!self->is_fast)
        tied_replica_core_check (self->core);
    if (rc == 0)
        CHECK_U64 (tied_replica_core_deadline (self->core), >=, self->now);
    return rc;
}

static inline void fixture_feed (struct fixture *self, const struct tied_replica_event *event)
{
    CHECK_I64 (fixture_try (self, event), ==, 0);
}

static inline void fixture_peer (struct fixture *self, uint32_t peer, bool is_up)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_PEER_UP};

    if (!is_up)
        event.type = TIED_REPLICA_EV_PEER_DOWN;
    event.u.peer.peer = peer;
    fixture_feed (self, &event);
}

static inline void fixture_open (struct fixture *self)
{
    self->size = tied_replica_core_size (&self->options);
    CHECK_U64 (self->size, >, 0);
    self->core = tied_replica_core_init (malloc (self->size), self->size, &self->options);
    CHECK_TRUE (self->core != NULL);
    if (self->options.peers_max > 0)
        fixture_peer (self, 0, true);
}

static inline void fixture_close (struct fixture *self)
{
    free (self->core);
    self->core = NULL;
}

/* A request as a client with index 0 sends it: no deadline, untied. */
static inline struct tied_replica_event fixture_request (uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_REQUEST};

    event.u.request.call.epoch = 7;
    event.u.request.call.sequence = sequence;
    event.u.request.copy = copy;
    event.u.request.remaining_ns = TIED_NEVER;
    event.u.request.sibling = TIED_NO_PEER;
    return event;
}

/* The same with a sibling at peer 0. */
static inline struct tied_replica_event fixture_tied (uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = fixture_request (sequence, copy);

    event.u.request.flags = TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_TIED;
    event.u.request.sibling = 0;
    event.u.request.sibling_named = true;
    return event;
}

static inline void fixture_send (struct fixture *self, uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = fixture_request (sequence, copy);

    fixture_feed (self, &event);
}

static inline void fixture_send_tied (struct fixture *self, uint64_t sequence, uint8_t copy)
{
    struct tied_replica_event event = fixture_tied (sequence, copy);

    fixture_feed (self, &event);
}

/* A re-issue of a call of client 0, with copy number 2. */
static inline void fixture_reissue (struct fixture *self, uint64_t sequence)
{
    struct tied_replica_event event = fixture_request (sequence, 2);

    event.u.request.flags = TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_REISSUE;
    fixture_feed (self, &event);
}

static inline void fixture_cancel (struct fixture *self, uint32_t client, uint64_t sequence)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CANCEL};

    event.u.cancel.client = client;
    event.u.cancel.call.epoch = 7;
    event.u.cancel.call.sequence = sequence;
    event.u.cancel.reason = TIED_CANCEL_WON;
    fixture_feed (self, &event);
}

/* Peer 0 says that its copy of the call started, or that it refused it. */
static inline void fixture_started (struct fixture *self, uint64_t sequence, uint8_t sender_copy)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_STARTED};

    event.u.tie.call.epoch = 7;
    event.u.tie.call.sequence = sequence;
    event.u.tie.copy = sender_copy;
    fixture_feed (self, &event);
}

static inline void fixture_untie (struct fixture *self, uint64_t sequence, uint8_t sender_copy)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_UNTIE};

    event.u.tie.call.epoch = 7;
    event.u.tie.call.sequence = sequence;
    event.u.tie.copy = sender_copy;
    fixture_feed (self, &event);
}

static inline void fixture_simple (struct fixture *self, enum tied_replica_event_type type)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_TIMEOUT};

    event.type = type;
    fixture_feed (self, &event);
}

static inline void
fixture_client (struct fixture *self, enum tied_replica_event_type type, uint32_t client)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_TIMEOUT};

    event.type = type;
    event.u.client.client = client;
    fixture_feed (self, &event);
}

/* First action of this type in the last step, NULL if there is none. */
static inline const struct tied_replica_action *fixture_find (const struct fixture *self,
                                                              enum tied_replica_action_type type)
{
    uint32_t i;

    for (i = 0; i < self->count; i++)
        if (self->actions[i].type == type)
            return &self->actions[i];
    return NULL;
}

/* The only action of the last step, which is of this type. */
static inline const struct tied_replica_action *fixture_only (const struct fixture *self,
                                                              enum tied_replica_action_type type)
{
    CHECK_U64 (self->count, ==, 1);
    CHECK_U64 (self->actions[0].type, ==, type);
    return &self->actions[0];
}

/* A worker takes; its slot, UINT32_MAX if nothing runs. */
static inline uint32_t fixture_take (struct fixture *self)
{
    const struct tied_replica_action *run;

    fixture_simple (self, TIED_REPLICA_EV_TAKE);
    run = fixture_find (self, TIED_REPLICA_ACT_RUN);
    return run ? run->slot : UINT32_MAX;
}

/* The handler of a slot ends; its REPLY. */
static inline const struct tied_replica_action *fixture_finish (struct fixture *self, uint32_t slot)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_FINISH};

    event.u.finish.slot = slot;
    fixture_feed (self, &event);
    return fixture_find (self, TIED_REPLICA_ACT_REPLY);
}

static inline void fixture_reason (const struct fixture *self, enum tied_reject reason)
{
    const struct tied_replica_action *reject = fixture_find (self, TIED_REPLICA_ACT_REJECT);

    CHECK_TRUE (reject != NULL);
    CHECK_STR (tied_reject_name (reject->reason), tied_reject_name ((int)reason));
}

static inline const struct tied_replica_counters *fixture_counters (const struct fixture *self)
{
    return tied_replica_core_counters (self->core);
}

static inline uint32_t fixture_depth (const struct fixture *self)
{
    return tied_replica_core_load (self->core).depth;
}

#endif
