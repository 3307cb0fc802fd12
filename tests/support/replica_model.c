/* SPDX-License-Identifier: MIT */
#include "replica_model.h"

#include <string.h>

#include <tied/wire.h>

void model_init (struct model *self, const struct tied_replica_core_options *options)
{
    memset (self, 0, sizeof *self);
    self->options = *options;
    self->next_id = 1;
    self->earliest = TIED_NEVER;
}

static bool same (struct tied_call_id a, struct tied_call_id b)
{
    return a.epoch == b.epoch && a.sequence == b.sequence;
}

static tied_time_t later (tied_time_t t, tied_duration_t d)
{
    return t > TIED_NEVER - d ? TIED_NEVER : t + d;
}

static tied_time_t earlier_of (tied_time_t a, tied_time_t b)
{
    return a < b ? a : b;
}

static tied_time_t later_of (tied_time_t a, tied_time_t b)
{
    return a > b ? a : b;
}

uint32_t model_running (const struct model *self)
{
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < self->copies_count; i++)
        count += self->copies[i].began != 0;
    return count;
}

static uint32_t count_aside (const struct model *self, enum model_aside aside)
{
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < self->copies_count; i++)
        count += !self->copies[i].began && self->copies[i].aside == aside;
    return count;
}

uint32_t model_depth (const struct model *self)
{
    return count_aside (self, MODEL_IN_QUEUE) + count_aside (self, MODEL_CLAIMING);
}

static uint64_t wait_of (const struct model *self, uint32_t ahead)
{
    uint64_t share = (UINT64_C (1) << 20) / self->options.workers;

    return ahead * ((self->service_x8 / 8 * share) >> 20);
}

static struct tied_load load_of (const struct model *self)
{
    struct tied_load load = {model_depth (self), model_running (self), 0};
    uint64_t us = wait_of (self, model_depth (self)) / 1000;

    load.wait_us = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
    return load;
}

static struct tied_replica_action *act (struct model *self, enum tied_replica_action_type type)
{
    struct tied_replica_action *action = &self->actions[self->actions_count++];

    memset (action, 0, sizeof *action);
    action->type = type;
    return action;
}

static struct tied_replica_action *
act_on (struct model *self, enum tied_replica_action_type type, const struct model_copy *copy)
{
    struct tied_replica_action *action = act (self, type);

    action->slot = copy->slot;
    action->client = copy->client;
    action->call = copy->call;
    action->copy = copy->copy;
    return action;
}

/* Order of the queue: relief, then the first lane, then the one behind, each by arrival. */
static bool is_before (const struct model_copy *a, const struct model_copy *b)
{
    if (a->is_relief != b->is_relief)
        return a->is_relief;
    if (a->is_behind != b->is_behind)
        return !a->is_behind;
    return a->place < b->place;
}

/* First waiting copy after this one, or of all if NULL; NULL if there is none. */
static struct model_copy *next_in_queue (struct model *self, const struct model_copy *after)
{
    struct model_copy *best = NULL;
    uint32_t i;

    for (i = 0; i < self->copies_count; i++) {
        struct model_copy *copy = &self->copies[i];

        if (copy->began || copy->aside != MODEL_IN_QUEUE || (after && !is_before (after, copy)))
            continue;
        if (!best || is_before (copy, best))
            best = copy;
    }
    return best;
}

static struct model_copy *find (struct model *self, struct tied_call_id call, uint8_t number)
{
    uint32_t i;

    for (i = 0; i < self->copies_count; i++)
        if (same (self->copies[i].call, call) && self->copies[i].copy == number)
            return &self->copies[i];
    return NULL;
}

static struct model_note *find_note (struct model *self, struct tied_call_id call, uint8_t number)
{
    uint32_t i;

    for (i = 0; i < self->notes_count; i++)
        if (same (self->notes[i].call, call) && self->notes[i].copy == number)
            return &self->notes[i];
    return NULL;
}

static void remove_note (struct model *self, const struct model_note *note)
{
    size_t at = (size_t)(note - self->notes);

    self->notes_count--;
    memmove (&self->notes[at], &self->notes[at + 1],
             (self->notes_count - at) * sizeof self->notes[0]);
}

static void forget_note (struct model *self)
{
    if (self->notes[0].is_once)
        self->forgotten_at = later_of (self->forgotten_at, self->notes[0].at);
    self->forgotten_until = later_of (self->forgotten_until, self->notes[0].sibling_until);
    remove_note (self, &self->notes[0]);
}

static struct model_note *
put_note (struct model *self, struct tied_call_id call, uint8_t number, enum model_note_kind kind)
{
    struct model_note note = {.call = call, .at = self->now, .copy = number, .kind = kind};
    const struct model_note *old = find_note (self, call, number);

    if (old) {
        remove_note (self, old);
    } else if (self->notes_count == self->options.recent_max) {
        if (self->notes[0].kind == MODEL_TOMBSTONE)
            self->counters.tombstones_evicted++;
        else
            self->counters.notes_evicted++;
        forget_note (self);
    }
    self->notes[self->notes_count] = note;
    return &self->notes[self->notes_count++];
}

/* In whole milliseconds after the end, rounded up; about a quarter of a thousandth for drift. */
static tied_time_t sibling_until (const struct model *self, const struct model_copy *copy)
{
    tied_time_t until;

    if (copy->deadline == TIED_NEVER)
        return TIED_NEVER;
    until = later (copy->deadline, TIED_MS (100) + (copy->deadline - copy->born) / 4096);
    if (until <= self->now)
        return self->now;
    return self->now + (until - self->now + 999999) / 1000000 * 1000000;
}

static void put_once (struct model *self,
                      struct tied_call_id call,
                      uint8_t number,
                      enum model_note_kind kind,
                      uint32_t peer)
{
    struct model_note *note = put_note (self, call, number, kind);

    note->is_once = true;
    note->peer = peer;
}

static void pass_cursor (struct model *self, const struct model_copy *copy)
{
    const struct model_copy *next;

    if (self->cursor != copy->id)
        return;
    next = next_in_queue (self, copy);
    self->cursor = next ? next->id : 0;
}

static bool has_copies (const struct model *self, uint32_t client)
{
    uint32_t i;

    for (i = 0; i < self->copies_count; i++)
        if (self->copies[i].client == client)
            return true;
    return false;
}

static struct model_copy take_out (struct model *self, struct model_copy *copy)
{
    struct model_copy out = *copy;
    size_t at = (size_t)(copy - self->copies);

    if (!copy->began && copy->aside == MODEL_IN_QUEUE)
        pass_cursor (self, copy);
    self->counters.park_left += !copy->began && copy->aside == MODEL_PARKED;
    self->copies_count--;
    memmove (&self->copies[at], &self->copies[at + 1],
             (self->copies_count - at) * sizeof self->copies[0]);
    if (!has_copies (self, out.client))
        self->clients[out.client].idle_rank = self->next_id++;
    if (out.is_once)
        put_once (self, out.call, out.copy, out.began ? MODEL_FINISHED : MODEL_GONE, out.sibling);
    else if (out.is_tied)
        (void)put_note (self, out.call, out.copy, out.began ? MODEL_FINISHED : MODEL_GONE);
    if (out.is_once && out.began && out.copy % 2 == 0)
        self->notes[self->notes_count - 1].sibling_until = sibling_until (self, &out);
    return out;
}

static void drop (struct model *self, struct model_copy *copy)
{
    struct model_copy out = take_out (self, copy);

    self->counters.dropped++;
    act_on (self, TIED_REPLICA_ACT_RELEASE, &out);
}

static void expire (struct model *self, struct model_copy *copy)
{
    struct model_copy out = take_out (self, copy);
    struct tied_replica_action *action = act_on (self, TIED_REPLICA_ACT_REJECT, &out);

    self->counters.expired++;
    action->reason = TIED_REJECT_EXPIRED;
    action->load = load_of (self);
    act_on (self, TIED_REPLICA_ACT_RELEASE, &out);
}

static tied_time_t earliest_with (const struct model *self, tied_time_t deadline)
{
    tied_time_t earliest = count_aside (self, MODEL_IN_QUEUE) == 0 ? TIED_NEVER : self->earliest;

    return earlier_of (earliest, deadline);
}

static void
set_aside (struct model *self, struct model_copy *copy, enum model_aside aside, tied_time_t due)
{
    pass_cursor (self, copy);
    copy->aside = aside;
    copy->aside_rank = self->next_id++;
    copy->due = due;
}

/* To the head of the queue. */
static void back (struct model *self, struct model_copy *copy)
{
    self->earliest = earliest_with (self, copy->deadline);
    copy->aside = MODEL_IN_QUEUE;
    copy->is_behind = false;
    copy->is_relief = false;
    copy->place = -(int64_t)self->next_id++;
}

static void revive (struct model *self, struct model_copy *copy, uint64_t *why)
{
    ++*why;
    copy->is_untied = true;
    copy->is_revived = true;
    back (self, copy);
}

/* The one that is aside in this way for longest (or, from_end, shortest); NULL: none is. */
static struct model_copy *aside_of (struct model *self, enum model_aside aside, bool from_end)
{
    struct model_copy *best = NULL;
    uint32_t i;

    for (i = 0; i < self->copies_count; i++) {
        struct model_copy *copy = &self->copies[i];

        if (copy->began || copy->aside != aside)
            continue;
        if (!best || (copy->aside_rank > best->aside_rank) == from_end)
            best = copy;
    }
    return best;
}

static bool can_park (const struct model *self)
{
    uint32_t parked = count_aside (self, MODEL_PARKED);

    return !self->is_draining && parked < self->options.park_max &&
           model_depth (self) + parked < self->options.queue_depth + self->options.park_max;
}

static void park (struct model *self, struct model_copy *copy, tied_time_t since)
{
    const struct model_copy *last = aside_of (self, MODEL_PARKED, true);
    tied_time_t due = since + self->options.park_lease_ns;

    self->counters.parked++;
    set_aside (self, copy, MODEL_PARKED, last ? later_of (due, last->due) : due);
}

/* A copy of a client that is leaving. */
static void abandon (struct model *self, struct model_copy *copy)
{
    struct tied_replica_action *action;
    struct model_copy out;

    if (!self->clients[copy->client].may_listen) {
        drop (self, copy);
        return;
    }
    out = take_out (self, copy);
    self->counters.rejected++;
    self->counters.rejected_full++;
    action = act_on (self, TIED_REPLICA_ACT_REJECT, &out);
    action->reason = TIED_REJECT_FULL;
    action->load = load_of (self);
    if (out.merged != 0) {
        action = act_on (self, TIED_REPLICA_ACT_REJECT, &out);
        action->slot = UINT32_MAX;
        action->copy = out.merged;
        action->reason = TIED_REJECT_FULL;
        action->load = load_of (self);
    }
    act_on (self, TIED_REPLICA_ACT_RELEASE, &out);
}

static void flag (struct model *self, struct model_copy *copy, uint8_t reason)
{
    if (copy->is_cancelled)
        return;
    copy->is_cancelled = true;
    act_on (self, TIED_REPLICA_ACT_CANCEL_RUNNING, copy)->reason = reason;
}

static void enter (struct model *self, uint32_t client, enum model_client_state state)
{
    self->clients[client].state = state;
    self->clients[client].rank = self->next_id++;
}

static void touch (struct model *self, uint32_t index)
{
    struct model_client *client = &self->clients[index];

    if (client->state == MODEL_FREE)
        memset (client, 0, sizeof *client);
    client->since = self->now;
    client->may_listen = false;
    client->idle_rank = self->next_id++;
    enter (self, index, MODEL_LIVE);
}

/* Longest in this state; MODEL_CLIENTS_MAX if none is. */
static uint32_t oldest (const struct model *self, enum model_client_state state)
{
    uint32_t best = MODEL_CLIENTS_MAX;
    uint32_t i;

    for (i = 0; i < MODEL_CLIENTS_MAX; i++)
        if (self->clients[i].state == state &&
            (best == MODEL_CLIENTS_MAX || self->clients[i].rank < self->clients[best].rank))
            best = i;
    return best;
}

static tied_duration_t
staleness (struct model_client *client, uint64_t epoch, uint64_t sent_us, tied_time_t now)
{
    int64_t difference = (int64_t)(now / 1000 - sent_us);
    int pick = 0;
    uint64_t above;
    uint64_t stale;
    uint64_t age;

    if (sent_us == 0)
        return 0;
    if (client->windows == 0 || client->epoch != epoch) {
        client->windows = 1;
        client->epoch = epoch;
        client->low[0] = difference;
        client->low_at[0] = now;
        return 0;
    }
    if (now - client->low_at[0] >= TIED_S (2)) {
        client->low[1] = client->low[0];
        client->low_at[1] = client->low_at[0];
        client->low[0] = difference;
        client->low_at[0] = now;
        client->windows = 2;
    } else if ((int64_t)((uint64_t)difference - (uint64_t)client->low[0]) < 0) {
        client->low[0] = difference;
    }
    if (client->windows == 2 && (int64_t)((uint64_t)client->low[1] - (uint64_t)client->low[0]) < 0)
        pick = 1;
    above = (uint64_t)difference - (uint64_t)client->low[pick];
    if ((int64_t)above < 0) {
        client->windows = 1;
        client->low[0] = difference;
        client->low_at[0] = now;
        return 0;
    }
    stale = above > (TIED_NEVER - 1) / 1000 ? TIED_NEVER : above * 1000;
    age = now - client->low_at[pick];
    if (age > TIED_S (4)) {
        uint64_t drift = (age - TIED_S (4)) / 4096;

        stale = stale > drift ? stale - drift : 0;
    }
    return stale;
}

static bool is_once (const struct tied_replica_request *request)
{
    return (request->flags & TIED_REQUEST_EXCLUSIVE) != 0;
}

static bool is_tied (const struct tied_replica_request *request)
{
    return (request->flags & TIED_REQUEST_TIED) && request->sibling_named &&
           request->sibling != TIED_NO_PEER;
}

static void say_no (struct model *self, const struct tied_replica_request *request, uint8_t reason)
{
    struct tied_replica_counters *n = &self->counters;
    uint64_t *const counts[TIED_REJECT_COUNT] = {
        [TIED_REJECT_BUSY] = &n->rejected_busy,
        [TIED_REJECT_FULL] = &n->rejected_full,
        [TIED_REJECT_TOO_LATE] = &n->rejected_too_late,
        [TIED_REJECT_DRAINING] = &n->rejected_draining,
        [TIED_REJECT_NOT_PERMITTED] = &n->rejected_not_permitted,
        [TIED_REJECT_UNKNOWN_METHOD] = &n->rejected_unknown_method,
        [TIED_REJECT_EXPIRED] = &n->expired,
        [TIED_REJECT_STALE] = &n->rejected_stale,
        [TIED_REJECT_TOO_LARGE] = &n->rejected_too_large,
        [TIED_REJECT_DUPLICATE] = &n->rejected_duplicate,
        [TIED_REJECT_DENIED] = &n->rejected_denied,
    };
    struct tied_replica_action *action = act (self, TIED_REPLICA_ACT_REJECT);

    ++*counts[reason];
    n->rejected += reason != TIED_REJECT_EXPIRED;
    action->slot = UINT32_MAX;
    action->client = request->client;
    action->call = request->call;
    action->copy = request->copy;
    action->reason = reason;
    action->load = load_of (self);
}

static void refuse (struct model *self, const struct tied_replica_request *request, uint8_t reason)
{
    struct tied_replica_counters *n = &self->counters;
    struct tied_replica_action *action;

    say_no (self, request, reason);
    if (is_once (request))
        put_once (self, request->call, request->copy, MODEL_GONE, request->sibling);
    else if (is_tied (request))
        (void)put_note (self, request->call, request->copy, MODEL_GONE);
    if (!is_tied (request))
        return;
    if (!self->is_up[request->sibling]) {
        n->untie_unsent++;
        return;
    }
    n->untie_sent++;
    action = act (self, TIED_REPLICA_ACT_TELL_UNTIE);
    action->peer = request->sibling;
    action->call = request->call;
    action->copy = request->copy;
}

static bool asks_for_relief (const struct tied_replica_request *request)
{
    return request->copy >= 2 && (request->flags & TIED_REQUEST_RELIEF) &&
           !(request->flags & (TIED_REQUEST_TIED | TIED_REQUEST_REISSUE | TIED_REQUEST_LAST |
                               TIED_REQUEST_EXCLUSIVE));
}

static uint32_t hedge_depth_of (const struct model *self)
{
    uint32_t depth = self->options.hedge_depth;

    if (depth == 0)
        depth = self->options.workers * 4;
    return depth < self->options.queue_depth ? depth : self->options.queue_depth;
}

/* Each after two that went in their turn, but for a store of twice hedge_depth of them. */
static bool is_relief (const struct model *self, const struct tied_replica_request *request)
{
    return asks_for_relief (request) && self->saved_turns + 4 * hedge_depth_of (self) >= 2;
}

/* Copies that start before this one. */
static uint32_t ahead_of (const struct model *self, const struct tied_replica_request *request)
{
    uint32_t count = 0;

    if (!is_relief (self, request))
        return model_depth (self);
    for (uint32_t i = 0; i < self->copies_count; i++)
        count += !self->copies[i].began && self->copies[i].aside == MODEL_IN_QUEUE &&
                 self->copies[i].is_relief;
    return count;
}

/* Why the limits refuse it; TIED_REJECT_NONE if they do not. */
static uint8_t limits (const struct model *self,
                       const struct tied_replica_request *request,
                       tied_duration_t remaining,
                       bool has_right)
{
    uint32_t hedge_depth = hedge_depth_of (self);
    uint32_t depth = model_depth (self);
    uint32_t ahead = ahead_of (self, request);

    if (request->verdict != TIED_REJECT_NONE && request->verdict != TIED_REJECT_FULL)
        return request->verdict;
    if (self->is_draining)
        return TIED_REJECT_DRAINING;
    if (remaining == 0)
        return TIED_REJECT_EXPIRED;
    if (is_once (request) && (request->flags & TIED_REQUEST_TIED) && request->copy % 2 == 1 &&
        !has_right && (!is_tied (request) || request->sibling_incarnation == 0))
        return TIED_REJECT_DENIED;
    if (request->copy > 0 && !(request->flags & TIED_REQUEST_LAST) &&
        (ahead >= hedge_depth || wait_of (self, ahead) > self->options.hedge_wait_ns))
        return TIED_REJECT_BUSY;
    if (depth >= self->options.queue_depth)
        return TIED_REJECT_FULL;
    return wait_of (self, ahead) > remaining ? TIED_REJECT_TOO_LATE : request->verdict;
}

static bool merge (struct model *self, const struct tied_replica_request *request)
{
    bool is_merged = false;
    uint32_t i;

    if (!(request->flags & TIED_REQUEST_REISSUE))
        return false;
    for (i = 0; i < self->copies_count; i++) {
        struct model_copy *other = &self->copies[i];

        if (!same (other->call, request->call) || other->client != request->client)
            continue;
        if (other->began && other->is_cancelled)
            continue;
        if (!other->began && !other->is_once)
            other->is_untied = true;
        other->merged = request->copy;
        is_merged = true;
    }
    return is_merged;
}

/* A hedge that comes where a copy of its call is. */
static bool is_second (const struct model *self, const struct tied_replica_request *request)
{
    uint32_t i;

    if (request->copy < 2 ||
        (request->flags & (TIED_REQUEST_TIED | TIED_REQUEST_LAST | TIED_REQUEST_REISSUE)) != 0)
        return false;
    for (i = 0; i < self->copies_count; i++)
        if (same (self->copies[i].call, request->call) &&
            self->copies[i].client == request->client && !self->copies[i].is_cancelled &&
            self->copies[i].aside != MODEL_PARKED)
            return true;
    return false;
}

static struct model_copy *admit (struct model *self,
                                 const struct tied_replica_request *r,
                                 tied_duration_t left,
                                 tied_duration_t stale,
                                 uint32_t slot)
{
    struct model_copy copy = {0};

    copy.call = r->call;
    copy.copy = r->copy;
    copy.client = r->client;
    copy.id = self->next_id++;
    copy.place = (int64_t)copy.id;
    copy.slot = slot;
    copy.arrived = self->now;
    copy.deadline = later (self->now, left);
    copy.is_relief = is_relief (self, r);
    self->counters.relieving += copy.is_relief;
    if (copy.is_relief)
        self->saved_turns -= 2;
    copy.is_behind =
        !copy.is_relief && r->copy >= 2 && self->options.hedge_lane == TIED_HEDGE_LANE_BEHIND;
    copy.is_tied = is_tied (r);
    copy.is_once = is_once (r);
    copy.is_parking = copy.is_tied && !copy.is_once && (r->flags & TIED_REQUEST_PARK) != 0;
    copy.sibling = copy.is_tied ? r->sibling : TIED_NO_PEER;
    copy.sibling_incarnation = r->sibling_incarnation;
    copy.born = self->now > stale ? self->now - stale : 0;
    if ((r->flags & TIED_REQUEST_TIED) && r->sibling_named)
        self->counters.sibling_unknown += !copy.is_tied;
    self->earliest = earliest_with (self, copy.deadline);
    self->copies[self->copies_count++] = copy;
    act_on (self, TIED_REPLICA_ACT_ADMIT, &self->copies[self->copies_count - 1]);
    return &self->copies[self->copies_count - 1];
}

/* Parked copies that a re-issue has untied, the lowest number first in the queue. */
static void unpark_call (struct model *self, struct tied_call_id call)
{
    int number;

    for (number = 255; number >= 0; number--) {
        struct model_copy *copy = find (self, call, (uint8_t)number);

        if (copy && !copy->began && copy->aside == MODEL_PARKED && copy->is_untied)
            revive (self, copy, &self->counters.park_lost);
    }
}

/* True: the note that this copy meets ends its arrival. */
static bool meet_note (struct model *self,
                       const struct tied_replica_request *r,
                       tied_duration_t left,
                       tied_duration_t stale,
                       uint32_t slot)
{
    struct model_note *note = find_note (self, r->call, r->copy);
    const bool is_to_park = is_tied (r) && !is_once (r) && (r->flags & TIED_REQUEST_PARK) &&
                            r->verdict == TIED_REJECT_NONE && left > 0 && !self->is_draining;
    tied_time_t at;

    if (!note || note->kind == MODEL_UNTIED)
        return false;
    if (note->kind == MODEL_TOMBSTONE && !note->is_done && is_to_park && can_park (self)) {
        at = note->at;
        remove_note (self, note);
        park (self, admit (self, r, left, stale, slot), at);
    } else if (note->kind == MODEL_TOMBSTONE || note->kind == MODEL_GRANTED_UNSEEN) {
        self->counters.park_full += is_to_park && !note->is_done && !can_park (self);
        note->kind = note->kind == MODEL_TOMBSTONE ? MODEL_GONE : MODEL_GRANTED;
        self->counters.tombstoned++;
    } else {
        self->counters.duplicate_request++;
    }
    return true;
}

static bool is_covered (const struct model *self, tied_duration_t age)
{
    tied_duration_t reach = later (age, TIED_MS (100));
    tied_time_t born = self->now > reach ? self->now - reach : 0;

    return self->forgotten_at == 0 || born > self->forgotten_at;
}

static void request (struct model *self, const struct tied_replica_request *r, uint32_t slot)
{
    tied_duration_t stale;
    tied_duration_t left = r->remaining_ns;
    struct model_note *note;
    bool is_untied = false;
    uint8_t reason;

    self->counters.received++;
    touch (self, r->client);
    stale = staleness (&self->clients[r->client], r->call.epoch, r->sent_us, self->now);
    if (left != TIED_NEVER)
        left = left > stale ? left - stale : 0;
    if (r->verdict != TIED_REJECT_NONE && r->verdict != TIED_REJECT_FULL && !is_once (r)) {
        refuse (self, r, r->verdict);
        return;
    }
    if (is_once (r) && r->incarnation != self->options.incarnation) {
        say_no (self, r, TIED_REJECT_STALE);
        return;
    }
    if (r->incarnation != 0 && r->incarnation != self->options.incarnation) {
        refuse (self, r, TIED_REJECT_STALE);
        return;
    }
    if (find (self, r->call, r->copy)) {
        self->counters.duplicate_request++;
        return;
    }
    if (meet_note (self, r, left, stale, slot))
        return;
    note = find_note (self, r->call, r->copy);
    if (note) {
        remove_note (self, note);
        is_untied = true;
    }
    if (merge (self, r)) {
        self->counters.merged++;
        unpark_call (self, r->call);
        return;
    }
    if (is_second (self, r)) {
        refuse (self, r, TIED_REJECT_DUPLICATE);
        return;
    }
    if (is_once (r) && !is_covered (self, stale)) {
        say_no (self, r, TIED_REJECT_STALE);
        return;
    }
    self->counters.relief_over += asks_for_relief (r) && !is_relief (self, r);
    reason = limits (self, r, left, is_untied);
    if (reason != TIED_REJECT_NONE) {
        refuse (self, r, reason);
        return;
    }
    admit (self, r, left, stale, slot)->is_untied = is_untied;
}

static void cancel (struct model *self, uint32_t client, struct tied_call_id call, uint8_t reason)
{
    bool was_queued = false;
    bool was_running = false;
    int number;

    touch (self, client);
    self->counters.cancel_received++;
    for (number = 0; number < 256; number++) {
        struct model_copy *copy = find (self, call, (uint8_t)number);

        if (!copy || copy->client != client)
            continue;
        if (copy->began) {
            was_running = true;
            flag (self, copy, reason);
        } else {
            was_queued = true;
            drop (self, copy);
        }
    }
    self->counters.cancel_queued += was_queued;
    self->counters.cancel_running += !was_queued && was_running;
    self->counters.cancel_unknown += !was_queued && !was_running;
}

static void started (struct model *self, struct tied_call_id call, uint8_t number)
{
    struct model_copy *copy = find (self, call, number);
    const struct model_note *note = find_note (self, call, number);

    self->counters.started_received++;
    if (copy && copy->began) {
        copy->is_late = true;
        self->counters.started_late++;
    } else if (copy && copy->is_tied && !copy->is_untied && copy->aside != MODEL_PARKED) {
        self->counters.started_effective++;
        if (copy->is_parking && can_park (self)) {
            park (self, copy, self->now);
        } else {
            self->counters.park_full += copy->is_parking && !self->is_draining;
            drop (self, copy);
        }
    } else if (copy) {
        self->counters.started_moot++;
    } else if (!note) {
        self->counters.started_early++;
        (void)put_note (self, call, number, MODEL_TOMBSTONE);
    } else if (note->kind == MODEL_TOMBSTONE) {
        self->counters.started_early++;
    } else if (note->kind == MODEL_FINISHED) {
        self->counters.started_late++;
    } else {
        self->counters.started_moot++;
    }
}

static void untie (struct model *self, struct tied_call_id call, uint8_t number)
{
    struct model_copy *copy = find (self, call, number);
    const struct model_note *note = find_note (self, call, number);

    self->counters.untie_received++;
    if (copy) {
        copy->is_untied = true;
        if (!copy->began && copy->aside == MODEL_PARKED)
            revive (self, copy, &self->counters.park_lost);
        else if (!copy->began && copy->aside == MODEL_CLAIMING)
            back (self, copy);
    } else if (!note || note->kind == MODEL_TOMBSTONE)
        (void)put_note (self, call, number, MODEL_UNTIED);
}

/* ---- words of the modes park and exclusive ---- */

static void done (struct model *self, struct tied_call_id call, uint8_t number)
{
    struct model_copy *copy = find (self, call, number);
    struct model_note *note = find_note (self, call, number);

    self->counters.done_received++;
    if (!copy && note)
        note->is_done = true;
    if (!copy || copy->began || copy->merged != 0 || !copy->is_parking)
        return;
    if (copy->aside == MODEL_PARKED) {
        self->counters.park_done++;
        self->counters.park_left--;
    } else if (copy->is_untied && !copy->is_revived) {
        return;
    }
    drop (self, copy);
}

static void tell_claim (struct model *self, const struct model_copy *copy)
{
    struct tied_replica_action *action;

    if (!self->is_up[copy->sibling]) {
        self->counters.claim_unsent++;
        return;
    }
    self->counters.claim_sent++;
    action = act_on (self, TIED_REPLICA_ACT_TELL_CLAIM, copy);
    action->slot = UINT32_MAX;
    action->peer = copy->sibling;
    action->age_ns = self->now - copy->born;
    action->incarnation = copy->sibling_incarnation;
}

static bool must_ask (const struct model_copy *copy)
{
    return copy->is_once && copy->is_tied && !copy->is_untied && copy->copy % 2 == 1;
}

/* May the copy of this peer start? Ours will not then. */
static bool give (struct model *self, const struct tied_replica_event *event)
{
    const struct tied_call_id call = event->u.claim.call;
    const uint8_t number = event->u.claim.copy ^ 1;
    const uint32_t peer = event->u.claim.peer;
    struct model_copy *copy = find (self, call, number);
    const struct model_note *note = find_note (self, call, number);

    if (event->u.claim.incarnation != self->options.incarnation || number % 2 == 1)
        return false;
    if (copy) {
        if (copy->began || copy->aside != MODEL_IN_QUEUE || !copy->is_once || copy->sibling != peer)
            return false;
        drop (self, copy);
        put_once (self, call, number, MODEL_GRANTED, peer);
        return true;
    }
    if (note && (note->kind == MODEL_GRANTED || note->kind == MODEL_GRANTED_UNSEEN))
        return note->peer == peer;
    if (note && note->kind == MODEL_GONE) {
        if (!note->is_once || note->peer != peer)
            return false;
        put_once (self, call, number, MODEL_GRANTED, peer);
        return true;
    }
    if ((note && note->kind == MODEL_FINISHED) || !is_covered (self, event->u.claim.age_ns) ||
        self->now < self->forgotten_until)
        return false;
    self->counters.claim_unseen++;
    put_once (self, call, number, MODEL_GRANTED_UNSEEN, peer);
    return true;
}

static void claim (struct model *self, const struct tied_replica_event *event)
{
    struct tied_replica_action *action;
    bool is_given = give (self, event);

    self->counters.claim_received++;
    self->counters.claim_granted += is_given;
    self->counters.claim_denied += !is_given;
    if (!self->is_up[event->u.claim.peer])
        return;
    action = act (self, is_given ? TIED_REPLICA_ACT_TELL_GRANT : TIED_REPLICA_ACT_TELL_DENY);
    action->slot = UINT32_MAX;
    action->peer = event->u.claim.peer;
    action->call = event->u.claim.call;
    action->copy = event->u.claim.copy ^ 1;
}

static void turn_away (struct model *self, struct model_copy *copy, uint8_t reason)
{
    struct model_copy out = take_out (self, copy);
    struct tied_replica_action *action = act_on (self, TIED_REPLICA_ACT_REJECT, &out);

    self->counters.rejected++;
    self->counters.rejected_denied += reason == TIED_REJECT_DENIED;
    self->counters.rejected_draining += reason == TIED_REJECT_DRAINING;
    action->reason = reason;
    action->load = load_of (self);
    act_on (self, TIED_REPLICA_ACT_RELEASE, &out);
}

static void answer (struct model *self, const struct tied_replica_event *event)
{
    struct model_copy *copy = find (self, event->u.tie.call, event->u.tie.copy ^ 1);
    bool is_grant = event->type == TIED_REPLICA_EV_GRANT;

    self->counters.grant_received += is_grant;
    self->counters.deny_received += !is_grant;
    if (!copy || copy->began || copy->sibling != event->u.tie.peer)
        return;
    if (is_grant) {
        if (!must_ask (copy))
            return;
        copy->is_untied = true;
        if (copy->aside == MODEL_CLAIMING)
            back (self, copy);
        return;
    }
    if (copy->aside != MODEL_CLAIMING)
        return;
    turn_away (self, copy, TIED_REJECT_DENIED);
}

/* The last one first, so that the first one comes to stand first. */
static void lose_peer (struct model *self, uint32_t peer)
{
    uint64_t below = UINT64_MAX;

    for (;;) {
        struct model_copy *best = NULL;
        uint32_t i;

        for (i = 0; i < self->copies_count; i++) {
            struct model_copy *copy = &self->copies[i];

            if (!copy->began && copy->aside == MODEL_PARKED && copy->sibling == peer &&
                copy->aside_rank < below && (!best || copy->aside_rank > best->aside_rank))
                best = copy;
        }
        if (!best)
            return;
        below = best->aside_rank;
        revive (self, best, &self->counters.park_lost);
    }
}

static tied_time_t aside_due (struct model *self)
{
    const struct model_copy *parked = aside_of (self, MODEL_PARKED, false);
    const struct model_copy *claiming = aside_of (self, MODEL_CLAIMING, false);
    tied_time_t due = TIED_NEVER;

    if (parked)
        due = self->is_draining ? self->now : parked->due;
    if (claiming)
        due = earlier_of (due, claiming->due);
    return due;
}

static void look_aside (struct model *self)
{
    int bound;

    for (bound = 0; bound < 16 && aside_due (self) <= self->now; bound++) {
        struct model_copy *copy = aside_of (self, MODEL_PARKED, false);

        if (copy && (self->is_draining || copy->due <= self->now)) {
            if (self->is_draining || copy->deadline <= self->now)
                drop (self, copy);
            else
                revive (self, copy, &self->counters.park_lease);
            continue;
        }
        copy = aside_of (self, MODEL_CLAIMING, false);
        if (copy->deadline <= self->now) {
            expire (self, copy);
        } else if (self->is_draining) {
            turn_away (self, copy, TIED_REJECT_DRAINING);
        } else {
            copy->aside_rank = self->next_id++;
            copy->due = self->now + TIED_MS (20);
            tell_claim (self, copy);
        }
    }
}

static void begin (struct model *self, struct model_copy *copy)
{
    struct tied_replica_action *action;

    pass_cursor (self, copy);
    copy->began = self->next_id++;
    copy->started = self->now;
    if (!copy->is_relief && self->saved_turns < 0)
        self->saved_turns++;
    self->counters.executed++;
    if (copy->is_tied && !copy->is_untied) {
        if (self->is_up[copy->sibling]) {
            copy->is_told = true;
            action = act_on (self, TIED_REPLICA_ACT_TELL_STARTED, copy);
            action->slot = UINT32_MAX;
            action->peer = copy->sibling;
        } else {
            self->counters.started_unsent++;
        }
    }
    action = act_on (self, TIED_REPLICA_ACT_RUN, copy);
    action->queue_ns = self->now - copy->arrived;
    action->remaining_ns = copy->deadline == TIED_NEVER ? TIED_NEVER : copy->deadline - self->now;
}

static void take (struct model *self)
{
    int removed;

    if (model_running (self) >= self->options.workers)
        return;
    for (removed = 0;; removed++) {
        struct model_copy *copy = next_in_queue (self, NULL);
        enum model_client_state state;

        if (!copy)
            return;
        state = self->clients[copy->client].state;
        if (state != MODEL_GOING && state != MODEL_WAITING && copy->deadline > self->now &&
            !must_ask (copy)) {
            begin (self, copy);
            return;
        }
        if (removed == 32)
            return;
        if (state == MODEL_GOING || state == MODEL_WAITING)
            abandon (self, copy);
        else if (copy->deadline <= self->now)
            expire (self, copy);
        else {
            set_aside (self, copy, MODEL_CLAIMING, self->now + TIED_MS (20));
            tell_claim (self, copy);
        }
    }
}

static void forget (struct model *self, uint32_t client)
{
    self->clients[client].state = MODEL_FREE;
    self->counters.clients_gone++;
    act (self, TIED_REPLICA_ACT_FORGET_CLIENT)->client = client;
}

static void finish (struct model *self, uint32_t slot)
{
    struct tied_replica_action *action;
    struct model_copy copy;
    uint64_t sample;
    uint32_t i = 0;

    while (!self->copies[i].began || self->copies[i].slot != slot)
        i++;
    copy = take_out (self, &self->copies[i]);
    sample = earlier_of (self->now - copy.started, UINT64_C (1) << 40);
    self->service_x8 =
        self->is_measured ? self->service_x8 + sample - self->service_x8 / 8 : sample * 8;
    self->is_measured = true;
    self->counters.finished++;
    self->counters.started_sent += copy.is_told;
    action = act_on (self, TIED_REPLICA_ACT_REPLY, &copy);
    action->flags = (copy.is_told ? (uint32_t)TIED_REPLY_SIBLING_TOLD : 0) |
                    (copy.is_late ? (uint32_t)TIED_REPLY_SIBLING_STARTED : 0);
    action->queue_ns = copy.started - copy.arrived;
    action->service_ns = self->now - copy.started;
    action->load = load_of (self);
    if (copy.is_parking && !copy.is_untied) {
        if (self->is_up[copy.sibling]) {
            self->counters.done_sent++;
            action = act_on (self, TIED_REPLICA_ACT_TELL_DONE, &copy);
            action->slot = UINT32_MAX;
            action->peer = copy.sibling;
        } else {
            self->counters.done_unsent++;
        }
    }
    if (self->clients[copy.client].state == MODEL_WAITING && !has_copies (self, copy.client))
        forget (self, copy.client);
}

/* Next thing to do for a client that is going: a waiting copy by arrival, else a running one that
 * was not told, latest start first; NULL if there is none. */
static struct model_copy *next_to_purge (struct model *self, uint32_t client)
{
    struct model_copy *best = NULL;
    uint32_t i;

    for (i = 0; i < self->copies_count; i++) {
        struct model_copy *copy = &self->copies[i];

        if (copy->client != client || (copy->began && copy->is_cancelled))
            continue;
        if (!best || (!copy->began && (best->began || copy->id < best->id)) ||
            (copy->began && best->began && copy->began > best->began))
            best = copy;
    }
    return best;
}

static void purge (struct model *self)
{
    int bound;

    for (bound = 0; bound < 32; bound++) {
        uint32_t client = oldest (self, MODEL_GOING);
        struct model_copy *copy;

        if (client == MODEL_CLIENTS_MAX)
            return;
        copy = next_to_purge (self, client);
        if (copy && !copy->began)
            abandon (self, copy);
        else if (copy)
            flag (self, copy, TIED_CANCEL_CALLER);
        else if (has_copies (self, client))
            enter (self, client, MODEL_WAITING);
        else
            forget (self, client);
    }
}

/* A newcomer needs a place. */
static void evict (struct model *self)
{
    uint32_t best = MODEL_CLIENTS_MAX;
    uint32_t i;

    for (i = 0; i < MODEL_CLIENTS_MAX; i++) {
        const struct model_client *client = &self->clients[i];

        if ((client->state == MODEL_LIVE || client->state == MODEL_SUSPECT) &&
            !has_copies (self, i) &&
            (best == MODEL_CLIENTS_MAX || client->idle_rank < self->clients[best].idle_rank))
            best = i;
    }
    if (best == MODEL_CLIENTS_MAX)
        return;
    self->clients[best].state = MODEL_FREE;
    self->counters.clients_evicted++;
    act (self, TIED_REPLICA_ACT_FORGET_CLIENT)->client = best;
}

static tied_time_t client_due (const struct model *self, enum model_client_state state)
{
    tied_duration_t last = self->options.client_silence_ns / 8;
    uint32_t client = oldest (self, state);

    if (client == MODEL_CLIENTS_MAX || self->options.client_silence_ns == TIED_NEVER)
        return TIED_NEVER;
    if (state == MODEL_LIVE)
        last = self->options.client_silence_ns - last;
    return later (self->clients[client].since, last);
}

static void look (struct model *self)
{
    while (client_due (self, MODEL_SUSPECT) <= self->now) {
        uint32_t client = oldest (self, MODEL_SUSPECT);

        self->clients[client].may_listen = true;
        enter (self, client, MODEL_GOING);
    }
    while (client_due (self, MODEL_LIVE) <= self->now) {
        uint32_t client = oldest (self, MODEL_LIVE);

        self->clients[client].since = self->now;
        enter (self, client, MODEL_SUSPECT);
    }
}

static tied_time_t sweep_due (const struct model *self)
{
    if (count_aside (self, MODEL_IN_QUEUE) == 0)
        return TIED_NEVER;
    return self->cursor ? self->now : later_of (self->earliest, self->sweep_not_before);
}

static void sweep (struct model *self)
{
    int bound;

    if (sweep_due (self) > self->now)
        return;
    if (!self->cursor) {
        self->cursor = next_in_queue (self, NULL)->id;
        self->earliest = TIED_NEVER;
    }
    for (bound = 0; bound < 64 && self->cursor; bound++) {
        struct model_copy *copy = self->copies;

        while (copy->id != self->cursor)
            copy++;
        if (copy->deadline <= self->now) {
            expire (self, copy);
        } else {
            self->earliest = earlier_of (self->earliest, copy->deadline);
            pass_cursor (self, copy);
        }
    }
    if (!self->cursor)
        self->sweep_not_before = self->now + TIED_MS (50);
}

static tied_time_t age_due (const struct model *self)
{
    if (self->notes_count == 0)
        return TIED_NEVER;
    return later_of (self->notes[0].at + self->options.recent_ttl_ns, self->age_not_before);
}

static void age (struct model *self)
{
    int bound;

    if (age_due (self) > self->now)
        return;
    for (bound = 0; bound < 64 && self->notes_count > 0 &&
                    self->notes[0].at + self->options.recent_ttl_ns <= self->now;
         bound++) {
        self->counters.tombstones_expired += self->notes[0].kind == MODEL_TOMBSTONE;
        forget_note (self);
    }
    if (self->notes_count == 0 || self->notes[0].at + self->options.recent_ttl_ns > self->now)
        self->age_not_before = self->now + self->options.recent_ttl_ns / 8;
}

tied_time_t model_deadline (struct model *self)
{
    tied_time_t due = earlier_of (client_due (self, MODEL_LIVE), client_due (self, MODEL_SUSPECT));

    if (oldest (self, MODEL_GOING) != MODEL_CLIENTS_MAX)
        due = self->now;
    due = earlier_of (due, earlier_of (sweep_due (self), age_due (self)));
    due = earlier_of (due, aside_due (self));
    return later_of (due, self->now);
}

static void send_failed (struct model *self, const struct tied_replica_event *event)
{
    struct model_copy *copy = find (self, event->u.tie.call, event->u.tie.copy);

    if (event->u.tie.is_untie) {
        self->counters.untie_unsent++;
    } else if (copy && copy->is_told) {
        copy->is_told = false;
        self->counters.started_unsent++;
    }
}

void model_step (struct model *self,
                 const struct tied_replica_event *event,
                 tied_time_t now,
                 uint32_t slot)
{
    uint32_t client = event->u.client.client;

    self->now = now;
    self->actions_count = 0;
    switch (event->type) {
    case TIED_REPLICA_EV_REQUEST:
        request (self, &event->u.request, slot);
        break;
    case TIED_REPLICA_EV_CANCEL:
        cancel (self, event->u.cancel.client, event->u.cancel.call, event->u.cancel.reason);
        break;
    case TIED_REPLICA_EV_STARTED:
        started (self, event->u.tie.call, event->u.tie.copy ^ 1);
        break;
    case TIED_REPLICA_EV_UNTIE:
        untie (self, event->u.tie.call, event->u.tie.copy ^ 1);
        break;
    case TIED_REPLICA_EV_TAKE:
        take (self);
        break;
    case TIED_REPLICA_EV_FINISH:
        finish (self, event->u.finish.slot);
        break;
    case TIED_REPLICA_EV_CLIENT_SEEN:
        touch (self, client);
        break;
    case TIED_REPLICA_EV_CLIENT_GONE:
        self->clients[client].may_listen = false;
        if (self->clients[client].state == MODEL_LIVE ||
            self->clients[client].state == MODEL_SUSPECT)
            enter (self, client, MODEL_GOING);
        purge (self);
        break;
    case TIED_REPLICA_EV_PEER_UP:
    case TIED_REPLICA_EV_PEER_DOWN:
        self->is_up[event->u.peer.peer] = event->type == TIED_REPLICA_EV_PEER_UP;
        if (event->type == TIED_REPLICA_EV_PEER_DOWN)
            lose_peer (self, event->u.peer.peer);
        break;
    case TIED_REPLICA_EV_SEND_FAILED:
        send_failed (self, event);
        break;
    case TIED_REPLICA_EV_DRAIN:
        self->is_draining = true;
        break;
    case TIED_REPLICA_EV_CLIENTS_FULL:
        evict (self);
        break;
    case TIED_REPLICA_EV_DONE:
        done (self, event->u.tie.call, event->u.tie.copy ^ 1);
        break;
    case TIED_REPLICA_EV_CLAIM:
        claim (self, event);
        break;
    case TIED_REPLICA_EV_GRANT:
    case TIED_REPLICA_EV_DENY:
        answer (self, event);
        break;
    case TIED_REPLICA_EV_TIMEOUT:
        look (self);
        purge (self);
        sweep (self);
        look_aside (self);
        age (self);
        break;
    }
}
