/* SPDX-License-Identifier: MIT */
/* Driver of the replica core for virtual worlds, see node.h. */
#include "node.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

static const char *const replica_names[] = {"r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",
                                            "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
                                            "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23",
                                            "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};

TI_STATIC_ASSERT (sizeof replica_names / sizeof replica_names[0] == NODE_REPLICAS_MAX,
                  "one name per replica");

struct tied_view node_replica_name (int replica)
{
    return (struct tied_view){replica_names[replica], strlen (replica_names[replica])};
}

int node_replica_named (struct tied_view name)
{
    for (int i = 0; i < NODE_REPLICAS_MAX; i++) {
        if (strlen (replica_names[i]) == name.size &&
            memcmp (replica_names[i], name.data, name.size) == 0)
            return i;
    }
    return NODE_NOBODY;
}

const char *node_note_text (enum node_note_kind kind)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {NODE_NOTE_MAP (TEXT)};
#undef TEXT
    return kind < NODE_NOTE_COUNT ? texts[kind] : "?";
}

static void note (const struct node_replica *self,
                  enum node_note_kind kind,
                  int other,
                  const struct tied_call_id *call,
                  uint8_t copy,
                  uint8_t reason,
                  int cause)
{
    struct node_note n = {.kind = kind,
                          .actor = NODE_REPLICA (self->self),
                          .other = other,
                          .copy = copy,
                          .reason = reason,
                          .sibling = NODE_NOBODY,
                          .cause = cause};
    if (call != NULL) {
        n.call = *call;
        n.has_call = true;
    }
    self->net->note (self->net->context, &n);
}

static bool send (struct node_replica *self,
                  int to,
                  uint32_t generation,
                  const struct tied_message *message,
                  int cause)
{
    unsigned char bytes[NODE_MESSAGE_MAX];
    const int size = tied_wire_encode (message, bytes, sizeof bytes);
    struct node_note n = {.kind = NODE_NOTE_SENT,
                          .actor = NODE_REPLICA (self->self),
                          .other = to,
                          .type = message->type,
                          .sibling = NODE_NOBODY,
                          .cause = cause};
    bool was_sent;

    TI_ASSERT (size > 0);
    switch (message->type) {
    case TIED_WIRE_REPLY:
        n.call = message->u.reply.call;
        n.has_call = true;
        n.copy = message->u.reply.copy;
        n.flags = message->u.reply.flags;
        break;
    case TIED_WIRE_REJECT:
        n.call = message->u.reject.call;
        n.has_call = true;
        n.copy = message->u.reject.copy;
        n.reason = message->u.reject.reason;
        break;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
        n.call = message->u.tie.call;
        n.has_call = true;
        n.copy = message->u.tie.copy;
        break;
    default:
        break;
    }
    was_sent =
        self->net->send (self->net->context, n.actor, to, generation, message, bytes, (size_t)size);
    if (!was_sent)
        n.kind = NODE_NOTE_REFUSED;
    self->net->note (self->net->context, &n);
    return was_sent;
}

/* The client of an index and its connection; an index that was handed out is always in use. */
static void send_client (struct node_replica *self,
                         uint32_t client,
                         const struct tied_message *message,
                         int cause)
{
    TI_ASSERT (client < NODE_CONNS_MAX && self->conns[client].is_used);
    (void)send (self, NODE_CLIENT (self->conns[client].client), self->conns[client].generation,
                message, cause);
}

static bool
tell (struct node_replica *self, const struct tied_replica_action *action, uint8_t type, int cause)
{
    struct tied_message message = {.type = type};

    message.u.tie.call = action->call;
    message.u.tie.copy = action->copy;
    TI_ASSERT (action->peer < NODE_REPLICAS_MAX);
    if (!self->peers[action->peer].is_up)
        return false;
    return send (self, NODE_REPLICA ((int)action->peer), self->peers[action->peer].generation,
                 &message, cause);
}

static void
act_reply (struct node_replica *self, const struct tied_replica_action *action, int cause)
{
    struct node_slot *slot = &self->slots[action->slot];
    struct tied_message message = {.type = TIED_WIRE_REPLY};

    TI_ASSERT (slot->is_used && slot->is_running);
    TI_ASSERT (ti_call_id_equal (slot->call, action->call));
    message.u.reply.call = action->call;
    message.u.reply.copy = action->copy;
    message.u.reply.flags = action->flags;
    message.u.reply.queue_us = ti_us_from_ns (action->queue_ns);
    message.u.reply.service_us = ti_us_from_ns (action->service_ns);
    message.u.reply.load = action->load;
    message.u.reply.body = (struct tied_view){slot->body, sizeof slot->body};
    note (self, NODE_NOTE_REPLY, NODE_NOBODY, &action->call, action->copy, 0, cause);
    if (!slot->is_killed && self->conns[action->client].is_used)
        send_client (self, action->client, &message, cause);
    memset (slot, 0, sizeof *slot);
}

static void
act_reject (struct node_replica *self, const struct tied_replica_action *action, int cause)
{
    struct tied_message message = {.type = TIED_WIRE_REJECT};

    message.u.reject.call = action->call;
    message.u.reject.copy = action->copy;
    message.u.reject.reason = action->reason;
    message.u.reject.load = action->load;
    if (action->slot == UINT32_MAX && action->reason == TIED_REJECT_EXPIRED)
        self->account.expired++; /* its time had run out on the way */
    else if (action->slot == UINT32_MAX)
        self->account.rejected++;
    note (self, action->slot == UINT32_MAX ? NODE_NOTE_REJECT : NODE_NOTE_EXPIRE, NODE_NOBODY,
          &action->call, action->copy, action->reason, cause);
    if (self->conns[action->client].is_used)
        send_client (self, action->client, &message, cause);
}

static void act_admit (struct node_replica *self,
                       const struct tied_replica_action *action,
                       const struct tied_replica_event *event,
                       const unsigned char *body)
{
    struct node_slot *slot;

    TI_ASSERT (event->type == TIED_REPLICA_EV_REQUEST);
    TI_ASSERT (action->slot < tied_replica_core_slots (self->core));
    slot = &self->slots[action->slot];
    TI_ASSERT (!slot->is_used);
    slot->is_used = true;
    slot->call = event->u.request.call;
    slot->copy = event->u.request.copy;
    slot->client = event->u.request.client;
    memcpy (slot->body, body, sizeof slot->body);
    self->account.admitted++;
    note (self, NODE_NOTE_ADMIT, NODE_NOBODY, &slot->call, slot->copy, 0, TIED_REPLICA_EV_REQUEST);
}

/* RELEASE: an expired copy was answered just before, every other one was dropped. */
static void act_release (struct node_replica *self,
                         const struct tied_replica_action *action,
                         uint32_t expired_slot,
                         int cause,
                         int from)
{
    struct node_slot *slot = &self->slots[action->slot];

    TI_ASSERT (slot->is_used && !slot->is_running);
    if (action->slot == expired_slot) {
        self->account.expired++;
    } else {
        self->account.dropped++;
        note (self, NODE_NOTE_DROP, from, &slot->call, slot->copy, 0, cause);
    }
    memset (slot, 0, sizeof *slot);
}

static void act_run (struct node_replica *self, const struct tied_replica_action *action, int cause)
{
    struct node_slot *slot = &self->slots[action->slot];

    TI_ASSERT (cause == TIED_REPLICA_EV_TAKE);
    TI_ASSERT (slot->is_used && !slot->is_running);
    TI_ASSERT (ti_call_id_equal (slot->call, action->call));
    TI_ASSERT (action->remaining_ns > 0);
    slot->is_running = true;
    self->account.run++;
    note (self, NODE_NOTE_RUN, NODE_NOBODY, &action->call, action->copy, 0, cause);
    self->net->run (self->net->context, self->self, action->slot);
}

static int step (struct node_replica *self,
                 const struct tied_replica_event *event,
                 const unsigned char *body,
                 int from,
                 tied_time_t now)
{
    struct tied_replica_event failed[64];
    size_t failures = 0;
    uint32_t expired_slot = UINT32_MAX;
    struct tied_call_id told = {0, 0};
    struct tied_call_id run = {0, 0};
    bool has_told = false;
    const struct tied_replica_action *action;
    const int cause = (int)event->type;
    const int rc = tied_replica_core_step (self->core, event, now + self->offset);

    while ((action = tied_replica_core_next (self->core)) != NULL) {
        switch (action->type) {
        case TIED_REPLICA_ACT_ADMIT:
            act_admit (self, action, event, body);
            break;
        case TIED_REPLICA_ACT_REJECT:
            expired_slot = action->slot;
            act_reject (self, action, cause);
            break;
        case TIED_REPLICA_ACT_RUN:
            run = action->call;
            act_run (self, action, cause);
            break;
        case TIED_REPLICA_ACT_TELL_STARTED:
        case TIED_REPLICA_ACT_TELL_UNTIE: {
            const bool is_untie = action->type == TIED_REPLICA_ACT_TELL_UNTIE;
            /* STARTED is sent only by a start, and speaks of what has started. */
            if (!is_untie) {
                TI_ASSERT (cause == TIED_REPLICA_EV_TAKE && !has_told);
                has_told = true;
                told = action->call;
            }
            if (!tell (self, action, is_untie ? TIED_WIRE_UNTIE : TIED_WIRE_STARTED, cause)) {
                TI_ASSERT (failures < sizeof failed / sizeof failed[0]);
                memset (&failed[failures], 0, sizeof failed[0]);
                failed[failures].type = TIED_REPLICA_EV_SEND_FAILED;
                failed[failures].u.tie.peer = action->peer;
                failed[failures].u.tie.call = action->call;
                failed[failures].u.tie.copy = action->copy;
                failed[failures].u.tie.is_untie = is_untie;
                failures++;
            }
            break;
        }
        case TIED_REPLICA_ACT_CANCEL_RUNNING:
            /* A peer's word never touches running work. */
            TI_ASSERT (cause != TIED_REPLICA_EV_STARTED && cause != TIED_REPLICA_EV_UNTIE);
            TI_ASSERT (self->slots[action->slot].is_running);
            note (self, NODE_NOTE_CANCEL_RUNNING, NODE_NOBODY, &self->slots[action->slot].call,
                  self->slots[action->slot].copy, action->reason, cause);
            break;
        case TIED_REPLICA_ACT_REPLY:
            act_reply (self, action, cause);
            break;
        case TIED_REPLICA_ACT_RELEASE:
            act_release (self, action, expired_slot, cause, from);
            break;
        case TIED_REPLICA_ACT_FORGET_CLIENT:
            TI_ASSERT (self->conns[action->client].is_used);
            note (self, NODE_NOTE_CLIENT_FORGOTTEN,
                  NODE_CLIENT (self->conns[action->client].client), NULL, 0, 0, cause);
            memset (&self->conns[action->client], 0, sizeof self->conns[0]);
            break;
        }
    }
    TI_ASSERT (!has_told || ti_call_id_equal (told, run));
    if ((self->steps++ & self->check_mask) == 0)
        tied_replica_core_check (self->core);
    for (size_t i = 0; i < failures; i++)
        (void)step (self, &failed[i], NULL, NODE_NOBODY, now);
    return rc;
}

/* Index of a connection, handed out at its first message; UINT32_MAX when all are in use. */
static uint32_t conn_index (struct node_replica *self, int client, uint32_t generation)
{
    uint32_t vacant = UINT32_MAX;

    for (uint32_t i = 0; i < self->conns_max; i++) {
        const struct node_conn *conn = &self->conns[i];
        if (!conn->is_used) {
            if (vacant == UINT32_MAX)
                vacant = i;
        } else if (conn->client == client && conn->generation == generation) {
            return i;
        }
    }
    if (vacant != UINT32_MAX) {
        self->conns[vacant].is_used = true;
        self->conns[vacant].client = (int16_t)client;
        self->conns[vacant].generation = generation;
    }
    return vacant;
}

static void receive_request (struct node_replica *self,
                             uint32_t client,
                             const struct tied_wire_request *request,
                             int from,
                             tied_time_t now)
{
    const struct tied_replica_counters *c = tied_replica_core_counters (self->core);
    const uint64_t tombstoned = c->tombstoned;
    const uint64_t merged = c->merged;
    const uint64_t repeated = c->duplicate_request;
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_REQUEST};
    unsigned char body[16] = {0};

    event.u.request.client = client;
    event.u.request.call = request->call;
    event.u.request.copy = request->copy;
    event.u.request.flags = request->flags;
    event.u.request.incarnation = request->incarnation;
    event.u.request.remaining_ns = ti_ns_from_us (request->remaining_us);
    event.u.request.sent_us = request->sent_us;
    event.u.request.sibling = TIED_NO_PEER;
    event.u.request.sibling_named = request->sibling.size > 0;
    if (request->sibling.size > 0) {
        const int sibling = node_replica_named (request->sibling);
        if (sibling != NODE_NOBODY && sibling != self->self)
            event.u.request.sibling = (uint32_t)sibling;
    }
    if (request->body.size == sizeof body)
        memcpy (body, request->body.data, sizeof body);
    if (step (self, &event, body, from, now) != 0)
        return;
    self->account.received++;
    c = tied_replica_core_counters (self->core);
    if (c->tombstoned != tombstoned) {
        self->account.tombstoned++;
        note (self, NODE_NOTE_TOMBSTONED, from, &request->call, request->copy, 0,
              TIED_REPLICA_EV_REQUEST);
    }
    if (c->merged != merged) {
        self->account.merged++;
        note (self, NODE_NOTE_MERGED, from, &request->call, request->copy, 0,
              TIED_REPLICA_EV_REQUEST);
    }
    if (c->duplicate_request != repeated) {
        self->account.repeated++;
        note (self, NODE_NOTE_REPEATED, from, &request->call, request->copy, 0,
              TIED_REPLICA_EV_REQUEST);
    }
}

static void greet (struct node_replica *self, uint32_t client, const struct tied_message *message)
{
    struct tied_message answer;

    memset (&answer, 0, sizeof answer);
    if (message->type == TIED_WIRE_HELLO) {
        answer.type = TIED_WIRE_WELCOME;
        answer.u.welcome.id = node_replica_name (self->self);
        answer.u.welcome.incarnation = self->incarnation;
        answer.u.welcome.time_ns = message->u.hello.time_ns;
        answer.u.welcome.body_max = 1 << 20;
        answer.u.welcome.inline_max = 1024;
        answer.u.welcome.queue_depth = 1;
        answer.u.welcome.workers = 1;
        answer.u.welcome.load = tied_replica_core_load (self->core);
    } else {
        answer.type = TIED_WIRE_PONG;
        answer.u.ping.time_ns = message->u.ping.time_ns;
        answer.u.ping.load = tied_replica_core_load (self->core);
    }
    if (self->conns[client].is_used)
        send_client (self, client, &answer, 0);
}

static void receive_client (struct node_replica *self,
                            int from,
                            uint32_t generation,
                            const struct tied_message *message,
                            tied_time_t now)
{
    const uint32_t client = conn_index (self, from, generation);
    struct tied_replica_event event;

    if (client == UINT32_MAX) {
        self->conns_full++;
        return;
    }
    memset (&event, 0, sizeof event);
    switch (message->type) {
    case TIED_WIRE_REQUEST:
        receive_request (self, client, &message->u.request, from, now);
        break;
    case TIED_WIRE_CANCEL:
        note (self, NODE_NOTE_CANCELLED, from, &message->u.cancel.call, 0, message->u.cancel.reason,
              0);
        event.type = TIED_REPLICA_EV_CANCEL;
        event.u.cancel.client = client;
        event.u.cancel.call = message->u.cancel.call;
        event.u.cancel.reason = message->u.cancel.reason;
        (void)step (self, &event, NULL, from, now);
        break;
    case TIED_WIRE_HELLO:
    case TIED_WIRE_PING:
        event.type = TIED_REPLICA_EV_CLIENT_SEEN;
        event.u.client.client = client;
        (void)step (self, &event, NULL, from, now);
        greet (self, client, message);
        break;
    default:
        self->bad_bytes++; /* no client sends this */
        break;
    }
}

static bool slot_of (const struct node_replica *self, struct tied_call_id call, uint32_t *out)
{
    for (uint32_t i = 0; i < tied_replica_core_slots (self->core); i++) {
        if (self->slots[i].is_used && ti_call_id_equal (self->slots[i].call, call)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static void receive_peer (struct node_replica *self,
                          int from,
                          const struct tied_message *message,
                          tied_time_t now)
{
    struct tied_replica_event event;
    uint32_t slot;
    bool is_here;

    if (message->type != TIED_WIRE_STARTED && message->type != TIED_WIRE_UNTIE) {
        self->bad_bytes++;
        return;
    }
    memset (&event, 0, sizeof event);
    event.type =
        message->type == TIED_WIRE_STARTED ? TIED_REPLICA_EV_STARTED : TIED_REPLICA_EV_UNTIE;
    event.u.tie.peer = (uint32_t)NODE_REPLICA_OF (from);
    event.u.tie.call = message->u.tie.call;
    event.u.tie.copy = message->u.tie.copy;
    note (self, message->type == TIED_WIRE_STARTED ? NODE_NOTE_TOLD : NODE_NOTE_UNTIED, from,
          &message->u.tie.call, message->u.tie.copy, 0, 0);
    if (message->type == TIED_WIRE_STARTED && self->mutations != 0) {
        is_here = slot_of (self, message->u.tie.call, &slot);
        if (!is_here && (self->mutations & NODE_SKIP_TOMBSTONE) != 0)
            return;
        if (is_here && self->slots[slot].is_running && (self->mutations & NODE_KILL_RUNNING) != 0)
            self->slots[slot].is_killed = true;
    }
    if (message->type == TIED_WIRE_UNTIE && (self->mutations & NODE_FORGET_UNTIE) != 0)
        return;
    (void)step (self, &event, NULL, from, now);
}

void node_replica_receive (struct node_replica *self,
                           int from,
                           uint32_t generation,
                           const void *data,
                           size_t size,
                           tied_time_t now)
{
    struct tied_message message;
    int fault = TIED_WIRE_FAULT_NONE;

    if (tied_wire_decode (data, size, &message, &fault) != 0) {
        self->bad_bytes++;
        note (self, NODE_NOTE_BAD_BYTES, from, NULL, 0, (uint8_t)fault, 0);
        return;
    }
    if (NODE_IS_CLIENT (from))
        receive_client (self, from, generation, &message, now);
    else
        receive_peer (self, from, &message, now);
}

void node_replica_link (
    struct node_replica *self, int peer, uint32_t generation, bool is_up, tied_time_t now)
{
    struct tied_replica_event event = {.type = is_up ? TIED_REPLICA_EV_PEER_UP
                                                     : TIED_REPLICA_EV_PEER_DOWN};

    self->peers[peer].is_up = is_up;
    self->peers[peer].generation = generation;
    note (self, is_up ? NODE_NOTE_LINK_UP : NODE_NOTE_LINK_DOWN, NODE_REPLICA (peer), NULL, 0, 0,
          0);
    event.u.peer.peer = (uint32_t)peer;
    if (step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

void node_replica_client_gone (struct node_replica *self,
                               int client,
                               uint32_t generation,
                               tied_time_t now)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_CLIENT_GONE};

    for (uint32_t i = 0; i < NODE_CONNS_MAX; i++) {
        const struct node_conn *conn = &self->conns[i];
        if (conn->is_used && conn->client == client && conn->generation == generation) {
            event.u.client.client = i;
            (void)step (self, &event, NULL, NODE_CLIENT (client), now);
            return;
        }
    }
}

void node_replica_take (struct node_replica *self, tied_time_t now)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_TAKE};

    if (step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

void node_replica_finish (struct node_replica *self, uint32_t slot, tied_time_t now)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_FINISH};

    event.u.finish.slot = slot;
    if (step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
    /* A copy whose client is gone ends without a REPLY. */
    memset (&self->slots[slot], 0, sizeof self->slots[slot]);
}

void node_replica_drain (struct node_replica *self, tied_time_t now)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_DRAIN};

    if (step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

void node_replica_timeout (struct node_replica *self, tied_time_t now)
{
    const struct tied_replica_event event = {.type = TIED_REPLICA_EV_TIMEOUT};

    if (step (self, &event, NULL, NODE_NOBODY, now) != 0)
        TI_UNREACHABLE ();
}

tied_time_t node_replica_deadline (const struct node_replica *self)
{
    const tied_time_t deadline = tied_replica_core_deadline (self->core);
    return deadline == TIED_NEVER ? TIED_NEVER : ti_time_sub (deadline, self->offset);
}

void node_replica_check (const struct node_replica *self)
{
    const struct tied_replica_counters *c = tied_replica_core_counters (self->core);
    const struct node_account *a = &self->account;

    TI_ASSERT (c->received == a->received);
    TI_ASSERT (c->executed == a->run);
    TI_ASSERT (c->dropped == a->dropped);
    TI_ASSERT (c->expired == a->expired);
    TI_ASSERT (c->rejected == a->rejected);
    TI_ASSERT (c->tombstoned == a->tombstoned);
    TI_ASSERT (c->merged == a->merged);
    TI_ASSERT (c->duplicate_request == a->repeated);
    TI_ASSERT (c->received == c->executed + c->dropped + c->tombstoned + c->merged +
                                  c->duplicate_request + c->rejected + c->expired +
                                  tied_replica_core_load (self->core).depth);
    TI_ASSERT (c->started_received ==
               c->started_effective + c->started_early + c->started_late + c->started_moot);
    TI_ASSERT (c->cancel_received == c->cancel_queued + c->cancel_running + c->cancel_unknown);
}
