/* SPDX-License-Identifier: MIT */
/* Driver of the replica core for virtual worlds, see node.h: one step and its actions. */
#include "node_internal.h"

#include <string.h>

#include "base/assert.h"
#include "base/util.h"

void node_replica_note (const struct node_replica *self,
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
    case TIED_WIRE_CLAIM:
        n.call = message->u.claim.call;
        n.has_call = true;
        n.copy = message->u.claim.copy;
        break;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
    case TIED_WIRE_DONE:
    case TIED_WIRE_GRANT:
    case TIED_WIRE_DENY:
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
void node_replica_send (struct node_replica *self,
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
    if (type == TIED_WIRE_CLAIM) {
        message.u.claim.call = action->call;
        message.u.claim.copy = action->copy;
        message.u.claim.age_us = ti_us_from_ns (action->age_ns);
        message.u.claim.incarnation = action->incarnation;
    }
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
    node_replica_note (self, NODE_NOTE_REPLY, NODE_NOBODY, &action->call, action->copy, 0, cause);
    if (!slot->is_killed && self->conns[action->client].is_used)
        node_replica_send (self, action->client, &message, cause);
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
    else if (action->slot == UINT32_MAX && cause == TIED_REPLICA_EV_REQUEST)
        self->account.rejected++; /* else it had merged, and is in that number */
    node_replica_note (self,
                       action->slot != UINT32_MAX && action->reason == TIED_REJECT_EXPIRED
                           ? NODE_NOTE_EXPIRE
                           : NODE_NOTE_REJECT,
                       NODE_NOBODY, &action->call, action->copy, action->reason, cause);
    if (self->conns[action->client].is_used)
        node_replica_send (self, action->client, &message, cause);
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
    node_replica_note (self, NODE_NOTE_ADMIT, NODE_NOBODY, &slot->call, slot->copy, 0,
                       TIED_REPLICA_EV_REQUEST);
}

/* RELEASE: a copy that expired or lost its client was answered just before (with `reason`), every
 * other one was dropped. */
static void act_release (struct node_replica *self,
                         const struct tied_replica_action *action,
                         uint32_t answered_slot,
                         uint8_t reason,
                         int cause,
                         int from)
{
    struct node_slot *slot = &self->slots[action->slot];

    TI_ASSERT (slot->is_used && !slot->is_running);
    if (action->slot == answered_slot && reason == TIED_REJECT_EXPIRED) {
        self->account.expired++;
    } else if (action->slot == answered_slot) {
        self->account.rejected++;
    } else {
        self->account.dropped++;
        node_replica_note (self, NODE_NOTE_DROP, from, &slot->call, slot->copy, 0, cause);
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
    node_replica_note (self, NODE_NOTE_RUN, NODE_NOBODY, &action->call, action->copy, 0, cause);
    self->net->run (self->net->context, self->self, action->slot);
}

int node_replica_step (struct node_replica *self,
                       const struct tied_replica_event *event,
                       const unsigned char *body,
                       int from,
                       tied_time_t now)
{
    struct tied_replica_event failed[64];
    size_t failures = 0;
    uint32_t answered_slot = UINT32_MAX;
    uint8_t answer = TIED_REJECT_NONE;
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
            if (action->slot != UINT32_MAX) {
                answered_slot = action->slot;
                answer = action->reason;
            }
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
        case TIED_REPLICA_ACT_TELL_DONE:
            (void)tell (self, action, TIED_WIRE_DONE, cause);
            break;
        case TIED_REPLICA_ACT_TELL_CLAIM:
            (void)tell (self, action, TIED_WIRE_CLAIM, cause);
            break;
        case TIED_REPLICA_ACT_TELL_GRANT:
            (void)tell (self, action, TIED_WIRE_GRANT, cause);
            break;
        case TIED_REPLICA_ACT_TELL_DENY:
            (void)tell (self, action, TIED_WIRE_DENY, cause);
            break;
        case TIED_REPLICA_ACT_CANCEL_RUNNING:
            /* A peer's word never touches running work. */
            TI_ASSERT (cause != TIED_REPLICA_EV_STARTED && cause != TIED_REPLICA_EV_UNTIE);
            TI_ASSERT (self->slots[action->slot].is_running);
            node_replica_note (self, NODE_NOTE_CANCEL_RUNNING, NODE_NOBODY,
                               &self->slots[action->slot].call, self->slots[action->slot].copy,
                               action->reason, cause);
            break;
        case TIED_REPLICA_ACT_REPLY:
            act_reply (self, action, cause);
            break;
        case TIED_REPLICA_ACT_RELEASE:
            act_release (self, action, answered_slot, answer, cause, from);
            break;
        case TIED_REPLICA_ACT_FORGET_CLIENT:
            TI_ASSERT (self->conns[action->client].is_used);
            node_replica_note (self, NODE_NOTE_CLIENT_FORGOTTEN,
                               NODE_CLIENT (self->conns[action->client].client), NULL, 0, 0, cause);
            memset (&self->conns[action->client], 0, sizeof self->conns[0]);
            break;
        }
    }
    TI_ASSERT (!has_told || ti_call_id_equal (told, run));
    if ((self->steps++ & self->check_mask) == 0)
        tied_replica_core_check (self->core);
    for (size_t i = 0; i < failures; i++)
        (void)node_replica_step (self, &failed[i], NULL, NODE_NOBODY, now);
    return rc;
}
