/* SPDX-License-Identifier: MIT */
/*
 * Events for a replica core out of a stream of choices: the property test draws the choices, the
 * fuzzer reads them from its input. Ids come from a small world, so that they collide.
 */
#ifndef TEST_REPLICA_SCRIPT_H
#define TEST_REPLICA_SCRIPT_H

#include <string.h>

#include <tied/replica_core.h>
#include <tied/wire.h>

#define SCRIPT_INCARNATION UINT64_C (0xabcdef)
#define SCRIPT_CLIENTS     3
#define SCRIPT_PEERS       2
#define SCRIPT_SLOTS_MAX   64

/* A number in [0, n); n >= 1. */
typedef uint32_t (script_choose_fn) (void *context, uint32_t n);

struct script {
    script_choose_fn *choose;
    void *context;
    bool is_draining_allowed;
    uint8_t running[SCRIPT_SLOTS_MAX]; /* slots that run, kept by script_see () */
    struct tied_call_id call;          /* of the last REQUEST, and its copy */
    uint8_t copy;
    struct tied_call_id started_call; /* of the last STARTED, and the sender's copy */
    uint8_t started_copy;
};

static inline uint32_t script_choose (struct script *self, uint32_t n)
{
    return self->choose (self->context, n);
}

static inline void script_options (struct script *self, struct tied_replica_core_options *options)
{
    static const uint64_t silences[] = {TIED_MS (10), TIED_MS (400), TIED_S (5), TIED_NEVER};
    static const uint64_t lifetimes[] = {TIED_MS (1), TIED_MS (60), TIED_S (2), TIED_S (3600)};
    static const uint64_t waits[] = {0, TIED_MS (3), TIED_NEVER};
    static const uint64_t leases[] = {TIED_MS (1), TIED_MS (30), TIED_S (2)};

    tied_replica_core_options_init (options);
    options->incarnation = SCRIPT_INCARNATION;
    options->workers = 1 + script_choose (self, 3);
    options->queue_depth = 1 + script_choose (self, 12);
    options->hedge_depth = script_choose (self, options->queue_depth + 1);
    options->hedge_lane = script_choose (self, 2);
    options->hedge_wait_ns = waits[script_choose (self, 3)];
    options->recent_max = 16 + script_choose (self, 16);
    options->recent_ttl_ns = lifetimes[script_choose (self, 4)];
    options->clients_max = SCRIPT_CLIENTS;
    options->peers_max = SCRIPT_PEERS;
    options->client_silence_ns = silences[script_choose (self, 4)];
    options->park_max = script_choose (self, 5);
    options->park_lease_ns = leases[script_choose (self, 3)];
    self->is_draining_allowed = script_choose (self, 4) == 0;
}

/* How far time moves before the next event. */
static inline tied_duration_t script_pause (struct script *self)
{
    switch (script_choose (self, 16)) {
    case 0:
        return TIED_MS (script_choose (self, 100));
    case 1:
        return TIED_S (script_choose (self, 3));
    case 2:
        return script_choose (self, 8) == 0 ? TIED_S (10 + script_choose (self, 40)) : 0;
    case 3:
    case 4:
    case 5:
    case 6:
        return TIED_US (script_choose (self, 2000));
    default:
        return 0;
    }
}

static inline struct tied_call_id script_call (struct script *self)
{
    struct tied_call_id call;

    call.epoch = 1 + script_choose (self, 2);
    call.sequence = script_choose (self, 6);
    return call;
}

static inline void
script_request (struct script *self, struct tied_replica_request *request, tied_time_t now)
{
    static const uint8_t verdicts[] = {TIED_REJECT_UNKNOWN_METHOD, TIED_REJECT_NOT_PERMITTED,
                                       TIED_REJECT_TOO_LARGE, TIED_REJECT_FULL};
    uint32_t time_kind = script_choose (self, 8);

    request->client = script_choose (self, SCRIPT_CLIENTS);
    request->call = script_call (self);
    request->copy = (uint8_t)script_choose (self, 5);
    self->call = request->call;
    self->copy = request->copy;
    if (script_choose (self, 2) == 0)
        request->flags |= TIED_REQUEST_TIED;
    if (script_choose (self, 4) == 0)
        request->flags |= TIED_REQUEST_LAST;
    if (script_choose (self, 4) == 0)
        request->flags |= TIED_REQUEST_REISSUE;
    request->sibling_named = script_choose (self, 8) != 0;
    request->sibling =
        script_choose (self, 8) == 0 ? TIED_NO_PEER : script_choose (self, SCRIPT_PEERS);
    if (script_choose (self, 4) == 0)
        request->incarnation = SCRIPT_INCARNATION;
    else if (script_choose (self, 32) == 0)
        request->incarnation = 99;
    if (script_choose (self, 32) == 0)
        request->verdict = verdicts[script_choose (self, 4)];
    if (script_choose (self, 2) == 0)
        request->flags |= TIED_REQUEST_PARK;
    if (script_choose (self, 4) == 0) {
        request->flags |= TIED_REQUEST_EXCLUSIVE;
        if (script_choose (self, 8) != 0)
            request->incarnation = SCRIPT_INCARNATION;
        request->sibling_incarnation = script_choose (self, 8);
    }
    if (script_choose (self, 2) == 0)
        request->flags |= TIED_REQUEST_RELIEF;
    request->remaining_ns = TIED_NEVER;
    if (script_choose (self, 4) != 0)
        request->remaining_ns = TIED_MS (script_choose (self, 60));
    if (time_kind < 4)
        request->sent_us = now / 1000 - script_choose (self, 2000);
    else if (time_kind == 4)
        request->sent_us = (uint64_t)script_choose (self, UINT32_MAX) << script_choose (self, 33);
}

/* What a peer says: of any call, or of the sibling of the copy that came last. */
static inline void script_tie (struct script *self, struct tied_replica_event *event)
{
    event->u.tie.peer = script_choose (self, SCRIPT_PEERS);
    if (script_choose (self, 3) == 0) {
        event->u.tie.call = self->call;
        event->u.tie.copy = self->copy ^ 1;
    } else {
        event->u.tie.call = script_call (self);
        event->u.tie.copy = (uint8_t)script_choose (self, 5);
    }
    if (event->type == TIED_REPLICA_EV_STARTED) {
        self->started_call = event->u.tie.call;
        self->started_copy = event->u.tie.copy;
    }
    event->u.tie.is_untie =
        event->type == TIED_REPLICA_EV_SEND_FAILED && script_choose (self, 4) == 0;
}

/* A running slot, or any number if none runs. */
static inline uint32_t script_slot (struct script *self)
{
    uint32_t start = script_choose (self, SCRIPT_SLOTS_MAX);
    uint32_t i;

    for (i = 0; i < SCRIPT_SLOTS_MAX; i++)
        if (self->running[(start + i) % SCRIPT_SLOTS_MAX])
            return (start + i) % SCRIPT_SLOTS_MAX;
    return start;
}

/* What only the modes park and exclusive say. */
static inline void script_word (struct script *self, struct tied_replica_event *event)
{
    static const enum tied_replica_event_type words[] = {
        TIED_REPLICA_EV_DONE, TIED_REPLICA_EV_GRANT, TIED_REPLICA_EV_DENY, TIED_REPLICA_EV_CLAIM};

    event->type = words[script_choose (self, 4)];
    if (event->type != TIED_REPLICA_EV_CLAIM) {
        script_tie (self, event);
        if (event->type == TIED_REPLICA_EV_DONE && script_choose (self, 3) != 0) {
            event->u.tie.call = self->started_call;
            event->u.tie.copy = self->started_copy;
        }
        return;
    }
    event->u.claim.peer = script_choose (self, SCRIPT_PEERS);
    event->u.claim.call = script_call (self);
    event->u.claim.copy = (uint8_t)script_choose (self, 5);
    event->u.claim.age_ns = TIED_MS (script_choose (self, 50));
    event->u.claim.incarnation = script_choose (self, 8) == 0 ? 99 : SCRIPT_INCARNATION;
}

static inline struct tied_replica_event script_event (struct script *self, tied_time_t now)
{
    struct tied_replica_event event;

    memset (&event, 0, sizeof event);
    switch (script_choose (self, 28)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        event.type = TIED_REPLICA_EV_REQUEST;
        script_request (self, &event.u.request, now);
        return event;
    case 8:
    case 9:
        event.type = TIED_REPLICA_EV_CANCEL;
        event.u.cancel.client = script_choose (self, SCRIPT_CLIENTS);
        event.u.cancel.call = script_call (self);
        event.u.cancel.reason = (uint8_t)script_choose (self, 256);
        return event;
    case 10:
    case 11:
    case 12:
        event.type = TIED_REPLICA_EV_STARTED;
        script_tie (self, &event);
        return event;
    case 13:
        event.type = TIED_REPLICA_EV_UNTIE;
        script_tie (self, &event);
        return event;
    case 14:
        event.type = TIED_REPLICA_EV_SEND_FAILED;
        script_tie (self, &event);
        return event;
    case 15:
    case 16:
    case 17:
        event.type = TIED_REPLICA_EV_FINISH;
        event.u.finish.slot = script_slot (self);
        return event;
    case 18:
        event.type = script_choose (self, 4) == 0 ? TIED_REPLICA_EV_CLIENT_GONE
                                                  : TIED_REPLICA_EV_CLIENT_SEEN;
        event.u.client.client = script_choose (self, SCRIPT_CLIENTS);
        return event;
    case 19:
        event.type =
            script_choose (self, 3) == 0 ? TIED_REPLICA_EV_PEER_DOWN : TIED_REPLICA_EV_PEER_UP;
        event.u.peer.peer = script_choose (self, SCRIPT_PEERS);
        return event;
    case 20:
    case 21:
        event.type = TIED_REPLICA_EV_TIMEOUT;
        if (self->is_draining_allowed && script_choose (self, 64) == 0)
            event.type = TIED_REPLICA_EV_DRAIN;
        else if (script_choose (self, 8) == 0)
            event.type = TIED_REPLICA_EV_CLIENTS_FULL;
        return event;
    case 22:
    case 23:
    case 24:
        script_word (self, &event);
        return event;
    default:
        event.type = TIED_REPLICA_EV_TAKE;
        return event;
    }
}

/* Keep account of what runs. */
static inline void script_see (struct script *self, const struct tied_replica_action *action)
{
    if (action->type == TIED_REPLICA_ACT_RUN)
        self->running[action->slot] = 1;
    if (action->type == TIED_REPLICA_ACT_REPLY)
        self->running[action->slot] = 0;
}

#endif
