/* SPDX-License-Identifier: MIT */
/* What can happen next in a state of the tiny world (tiny.h), and its doing. */
#include "tiny_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"

static void clear (struct channel_state *queue)
{
    memset (queue, 0, sizeof *queue);
}

static void note_replica (struct explorer *self, enum node_note_kind kind, int r)
{
    const struct node_note note = {
        .kind = kind, .actor = NODE_REPLICA (r), .other = NODE_NOBODY, .sibling = NODE_NOBODY};
    tiny_on_note (self, &note);
}

/* Takes the replica and its memory away; what was on its way to it is gone. */
static void crash (struct explorer *self, int r, bool loses_sent)
{
    struct state *state = tiny_live (self);
    const enum channel to_client = r == 0 ? R0_C : R1_C;
    const enum channel to_peer = r == 0 ? R0_R1 : R1_R0;

    note_replica (self, NODE_NOTE_CRASH, r);
    clear (&state->channels[r == 0 ? C_R0 : C_R1]);
    clear (&state->channels[r == 0 ? R1_R0 : R0_R1]);
    if (loses_sent) {
        clear (&state->channels[to_client]);
        clear (&state->channels[to_peer]);
    }
    (void)tiny_append (self, to_client, KIND_LINK_DOWN);
    if (state->is_alive[1 - r])
        (void)tiny_append (self, to_peer, KIND_LINK_DOWN);
    state->is_connected[r] = 0;
    state->is_connected[2] = 0;
    state->is_alive[r] = 0;
    state->running[r] = 0;
}

static void restart (struct explorer *self, int r)
{
    note_replica (self, NODE_NOTE_RESTART, r);
    tiny_start_replica (self, r);
    tiny_live (self)->stepped[1 + r] = tiny_live (self)->now;
    tiny_connect (self, r);
    if (tiny_live (self)->is_alive[1 - r])
        tiny_connect (self, 2);
}

/* As behind a proxy: the break is told, but messages under way reach the new incarnation. */
static void restart_silently (struct explorer *self, int r)
{
    struct state *state = tiny_live (self);

    note_replica (self, NODE_NOTE_CRASH, r);
    tiny_start_replica (self, r);
    state->stepped[1 + r] = state->now;
    node_replica_link (&state->replicas[r], 1 - r, state->generation[2], state->is_connected[2],
                       state->now);
    (void)tiny_append (self, r == 0 ? R0_C : R1_C, KIND_LINK_DOWN);
    (void)tiny_append (self, r == 0 ? R0_C : R1_C, KIND_LINK_UP);
}

/* Another client's copy takes the one place in the queue. */
static void occupy (struct explorer *self, int r)
{
    struct state *state = tiny_live (self);
    struct tied_message message = {.type = TIED_WIRE_REQUEST};
    unsigned char bytes[NODE_MESSAGE_MAX];
    unsigned char body[16] = {0};
    int size;

    message.u.request.call = (struct tied_call_id){UINT64_C (9), state->occupants};
    message.u.request.method = (struct tied_view){"work", 4};
    message.u.request.remaining_us = UINT64_MAX;
    message.u.request.body = (struct tied_view){body, sizeof body};
    size = tied_wire_encode (&message, bytes, sizeof bytes);
    TI_ASSERT (size > 0);
    state->stepped[1 + r] = state->now;
    node_replica_receive (&state->replicas[r], NODE_CLIENT (1), 1, bytes, (size_t)size, state->now);
}

/* The earliest time-out within the horizon; who: 0 client, 1 + r replica. */
static tied_time_t next_timeout (struct explorer *self, int *who)
{
    struct state *state = tiny_live (self);
    tied_time_t earliest = node_client_deadline (&state->client);

    *who = 0;
    for (int r = 0; r < 2; r++) {
        if (state->is_alive[r] && node_replica_deadline (&state->replicas[r]) < earliest) {
            earliest = node_replica_deadline (&state->replicas[r]);
            *who = 1 + r;
        }
    }
    return earliest < HORIZON ? earliest : TIED_NEVER;
}

static void tick (struct explorer *self)
{
    struct state *state = tiny_live (self);
    int who;
    const tied_time_t at = next_timeout (self, &who);

    state->now = ti_max (state->now, at);
    state->stepped[who] = state->now;
    if (who == 0)
        node_client_timeout (&state->client, state->now);
    else
        node_replica_timeout (&state->replicas[who - 1], state->now);
}

static bool may_fail (const struct channel_state *queue)
{
    if (queue->count == 0 || queue->at[0].kind != KIND_DATA)
        return false;
    return queue->at[0].type >= TIED_WIRE_REQUEST && queue->at[0].type <= TIED_WIRE_UNTIE;
}

bool tiny_is_possible (struct explorer *self, int code)
{
    struct state *state = tiny_live (self);
    const struct tiny_config *config = self->config;
    int who;

    if (code < STEP_TAKE)
        return state->channels[code].count > 0;
    if (code < STEP_FINISH)
        return state->is_alive[code - STEP_TAKE] && state->running[code - STEP_TAKE] == 0 &&
               tied_replica_core_can_run (state->replicas[code - STEP_TAKE].core);
    if (code < STEP_TICK)
        return state->running[code - STEP_FINISH] != 0;
    if (code == STEP_TICK)
        return next_timeout (self, &who) != TIED_NEVER;
    if (code < STEP_REPEAT)
        return state->losses < config->losses && may_fail (&state->channels[code - STEP_LOSE]);
    if (code < STEP_CRASH)
        return state->repeats < config->repeats && may_fail (&state->channels[code - STEP_REPEAT]);
    if (code < STEP_CRASH_LOSING)
        return state->crashes < config->crashes && state->is_alive[code - STEP_CRASH];
    if (code < STEP_RESTART)
        return state->crashes < config->crashes && state->is_alive[code - STEP_CRASH_LOSING];
    if (code < STEP_SILENT_RESTART)
        return state->restarts < config->restarts && !state->is_alive[code - STEP_RESTART];
    if (code < STEP_OCCUPY)
        return state->silent_restarts < config->silent_restarts &&
               state->is_alive[code - STEP_SILENT_RESTART];
    if (code < STEP_GIVE_UP)
        return state->occupants < config->occupants && state->is_alive[code - STEP_OCCUPY] &&
               state->call.completions == 0 &&
               tied_replica_core_load (state->replicas[code - STEP_OCCUPY].core).depth == 0;
    return state->give_ups < config->give_ups && state->call.completions == 0;
}

static void lose (struct explorer *self, enum channel channel)
{
    struct channel_state *queue = &tiny_live (self)->channels[channel];

    queue->count--;
    memmove (&queue->at[0], &queue->at[1], queue->count * sizeof queue->at[0]);
    memset (&queue->at[queue->count], 0, sizeof queue->at[0]);
}

static void print_fault (struct explorer *self, int code)
{
    static const char *const channels[CHANNELS] = {"c0 to r0", "c0 to r1", "r0 to c0",
                                                   "r1 to c0", "r0 to r1", "r1 to r0"};

    if (!self->prints)
        return;
    if (code >= STEP_LOSE && code < STEP_REPEAT)
        (void)fprintf (
            stderr, "  [%s from %s is lost]\n",
            tied_wire_type_name (tiny_live (self)->channels[code - STEP_LOSE].at[0].type),
            channels[code - STEP_LOSE]);
    else if (code >= STEP_REPEAT && code < STEP_CRASH)
        (void)fprintf (stderr, "  [a message from %s comes twice]\n", channels[code - STEP_REPEAT]);
    else if (code >= STEP_OCCUPY && code < STEP_GIVE_UP)
        (void)fprintf (stderr, "  [another client's copy at r%d]\n", code - STEP_OCCUPY);
    else if (code == STEP_TICK)
        (void)fprintf (stderr, "  [time passes]\n");
}

void tiny_apply (struct explorer *self, int code)
{
    struct state *state = tiny_live (self);

    print_fault (self, code);
    if (code < STEP_TAKE) {
        tiny_deliver (self, (enum channel)code, false);
    } else if (code < STEP_FINISH) {
        state->stepped[1 + code - STEP_TAKE] = state->now;
        node_replica_take (&state->replicas[code - STEP_TAKE], state->now);
    } else if (code < STEP_TICK) {
        const int r = code - STEP_FINISH;
        const uint32_t slot = state->running[r] - 1u;
        state->running[r] = 0;
        state->stepped[1 + r] = state->now;
        node_replica_finish (&state->replicas[r], slot, state->now);
    } else if (code == STEP_TICK) {
        tick (self);
    } else if (code < STEP_REPEAT) {
        state->losses++;
        lose (self, (enum channel) (code - STEP_LOSE));
    } else if (code < STEP_CRASH) {
        state->repeats++;
        tiny_deliver (self, (enum channel) (code - STEP_REPEAT), true);
    } else if (code < STEP_RESTART) {
        state->crashes++;
        crash (self, (code - STEP_CRASH) % 2, code >= STEP_CRASH_LOSING);
    } else if (code < STEP_SILENT_RESTART) {
        state->restarts++;
        restart (self, code - STEP_RESTART);
    } else if (code < STEP_OCCUPY) {
        state->silent_restarts++;
        restart_silently (self, code - STEP_SILENT_RESTART);
    } else if (code < STEP_GIVE_UP) {
        state->occupants++;
        occupy (self, code - STEP_OCCUPY);
    } else {
        state->give_ups++;
        state->stepped[0] = state->now;
        (void)node_client_cancel (&state->client, (struct tied_call_id){LEDGER_EPOCH (0), 0},
                                  state->now);
    }
    node_client_check (&state->client);
    for (int r = 0; r < 2; r++) {
        if (state->is_alive[r])
            node_replica_check (&state->replicas[r]);
    }
}
