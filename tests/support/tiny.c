/* SPDX-License-Identifier: MIT */
/* The exploration of tiny.h: depth first, over snapshots of one block of memory. */
#include "tiny.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "transcript.h"

enum {
    CHANNEL_MAX = 10, /* messages under way in one direction */
    MESSAGE_MAX = 120,
    SLOTS = 2, /* queue_depth + workers */
    DEPTH_MAX = 256
};
#define START   TIED_S (1)
#define HORIZON TIED_S (600) /* no time-out at or after this happens */

/* Directions. */
enum channel {
    C_R0,
    C_R1,
    R0_C,
    R1_C,
    R0_R1,
    R1_R0,
    CHANNELS
};

enum message_kind {
    KIND_DATA,
    KIND_LINK_UP,
    KIND_LINK_DOWN
};

struct message {
    uint32_t generation;
    uint8_t kind;
    uint8_t type; /* enum tied_wire_type */
    uint8_t size;
    unsigned char bytes[MESSAGE_MAX];
};

struct channel_state {
    uint32_t count;
    struct message at[CHANNEL_MAX];
};

/* One state of the world, cores apart: they follow it in the block. */
struct state {
    tied_time_t now;
    tied_time_t stepped[3]; /* when client, r0, r1 took their last step */
    uint32_t generation[3]; /* connections c-r0, c-r1, r0-r1 */
    uint8_t is_connected[3];
    uint8_t is_alive[2];
    uint8_t running[2]; /* slot + 1; 0: the worker is free */
    uint8_t incarnations[2];
    uint8_t losses, repeats, crashes, restarts, silent_restarts, occupants, give_ups;
    struct channel_state channels[CHANNELS];
    struct node_client client;
    struct node_replica replicas[2];
    struct node_slot slots[2][SLOTS];
    struct ledger_call call;
};

/* Steps. Faults come last: a state in which only faults are possible is an end. */
enum step_code {
    STEP_DELIVER = 0, /* + channel */
    STEP_TAKE = STEP_DELIVER + CHANNELS,
    STEP_FINISH = STEP_TAKE + 2,
    STEP_TICK = STEP_FINISH + 2,
    STEP_FAULTS = STEP_TICK + 1,
    STEP_LOSE = STEP_FAULTS,
    STEP_REPEAT = STEP_LOSE + CHANNELS,
    STEP_CRASH = STEP_REPEAT + CHANNELS,
    STEP_CRASH_LOSING = STEP_CRASH + 2, /* and what it had sent is lost too */
    STEP_RESTART = STEP_CRASH_LOSING + 2,
    STEP_SILENT_RESTART = STEP_RESTART + 2,
    STEP_OCCUPY = STEP_SILENT_RESTART + 2,
    STEP_GIVE_UP = STEP_OCCUPY + 2,
    STEPS
};

struct explorer {
    const struct tiny_config *config;
    struct tiny_result *result;
    struct ledger ledger;
    struct node_net net;
    struct tied_client_core_options client_options;
    struct tied_replica_core_options replica_options;
    size_t state_size, client_size, replica_size, block_size;
    unsigned char *block; /* live: state, client core, two replica cores */
    unsigned char *stack; /* one block per depth */
    uint8_t next[DEPTH_MAX];
    uint8_t path[DEPTH_MAX];
    uint32_t depth;
    uint64_t *visited;
    uint64_t visited_mask;
    bool prints;
    jmp_buf on_assert;
};

static struct explorer *current; /* of the assert handler */

static struct state *live (struct explorer *self)
{
    return (struct state *)(void *)self->block;
}

static void on_assert (const char *expression, const char *file, int line)
{
    const char *slash = strrchr (file, '/');
    (void)snprintf (current->ledger.violation, sizeof current->ledger.violation,
                    "assertion %s:%d: %s", slash != NULL ? slash + 1 : file, line, expression);
    longjmp (current->on_assert, 1);
}

static void on_note (void *context, const struct node_note *note)
{
    struct explorer *self = context;
    char line[256];

    ledger_note (&self->ledger, note, live (self)->now);
    if (self->prints) {
        (void)transcript_line (line, sizeof line, note, live (self)->now, START);
        (void)fprintf (stderr, "    %s\n", line);
    }
}

static enum channel channel_of (int from, int to)
{
    if (NODE_IS_CLIENT (from))
        return NODE_REPLICA_OF (to) == 0 ? C_R0 : C_R1;
    if (NODE_IS_CLIENT (to))
        return NODE_REPLICA_OF (from) == 0 ? R0_C : R1_C;
    return NODE_REPLICA_OF (from) == 0 ? R0_R1 : R1_R0;
}

/* Which connection a channel runs over. */
static int connection_of (enum channel channel)
{
    static const int connections[CHANNELS] = {0, 1, 0, 1, 2, 2};
    return connections[channel];
}

static struct message *append (struct explorer *self, enum channel channel, enum message_kind kind)
{
    struct channel_state *queue = &live (self)->channels[channel];
    struct message *message;

    TI_ASSERT (queue->count < CHANNEL_MAX);
    message = &queue->at[queue->count++];
    memset (message, 0, sizeof *message);
    message->kind = (uint8_t)kind;
    message->generation = live (self)->generation[connection_of (channel)];
    return message;
}

static bool on_send (void *context,
                     int from,
                     int to,
                     uint32_t generation,
                     const struct tied_message *message,
                     const void *data,
                     size_t size)
{
    struct explorer *self = context;
    struct state *state = live (self);
    struct message *queued;
    enum channel channel;

    if (to == NODE_CLIENT (1))
        return true; /* the occupant's client: nobody listens */
    channel = channel_of (from, to);
    if (!state->is_connected[connection_of (channel)] ||
        state->generation[connection_of (channel)] != generation)
        return true; /* into a connection that has broken, which this end does not know yet */
    TI_ASSERT (size <= MESSAGE_MAX);
    queued = append (self, channel, KIND_DATA);
    queued->type = message->type;
    queued->size = (uint8_t)size;
    memcpy (queued->bytes, data, size);
    return true;
}

static void on_run (void *context, int replica, uint32_t slot)
{
    struct state *state = live (context);
    TI_ASSERT (state->running[replica] == 0);
    state->running[replica] = (uint8_t)(slot + 1);
}

static void start_replica (struct explorer *self, int r)
{
    struct state *state = live (self);
    struct node_replica *node = &state->replicas[r];
    unsigned char *memory =
        self->block + self->state_size + self->client_size + (size_t)r * self->replica_size;
    struct tied_replica_core_options options = self->replica_options;

    state->incarnations[r]++;
    memset (node, 0, sizeof *node);
    memset (state->slots[r], 0, sizeof state->slots[r]);
    options.incarnation = (uint64_t)(r + 1) * 16 + state->incarnations[r];
    node->net = &self->net;
    node->self = r;
    node->slots = state->slots[r];
    node->incarnation = options.incarnation;
    node->mutations = self->config->mutations;
    node->conns_max = self->replica_options.clients_max;
    node->core = tied_replica_core_init (memory, self->replica_size, &options);
    TI_ASSERT (node->core != NULL);
    state->is_alive[r] = 1;
    state->running[r] = 0;
}

static void connect (struct explorer *self, int connection)
{
    struct state *state = live (self);

    state->is_connected[connection] = 1;
    state->generation[connection]++;
    if (connection == 2) {
        (void)append (self, R0_R1, KIND_LINK_UP);
        (void)append (self, R1_R0, KIND_LINK_UP);
    } else {
        (void)append (self, connection == 0 ? R0_C : R1_C, KIND_LINK_UP);
    }
}

static void deliver (struct explorer *self, enum channel channel, bool keeps)
{
    struct state *state = live (self);
    struct channel_state *queue = &state->channels[channel];
    const struct message message = queue->at[0];
    const int to_replica = channel == C_R0 || channel == R1_R0 ? 0 : 1;

    if (!keeps) {
        queue->count--;
        memmove (&queue->at[0], &queue->at[1], queue->count * sizeof queue->at[0]);
        memset (&queue->at[queue->count], 0, sizeof queue->at[0]);
    }
    if (channel == R0_C || channel == R1_C) {
        const int r = channel == R0_C ? 0 : 1;
        state->stepped[0] = state->now;
        if (message.kind != KIND_DATA)
            node_client_link (&state->client, r, message.generation, message.kind == KIND_LINK_UP,
                              state->now);
        else
            node_client_receive (&state->client, r, message.bytes, message.size, state->now);
        return;
    }
    state->stepped[1 + to_replica] = state->now;
    if (message.kind != KIND_DATA)
        node_replica_link (&state->replicas[to_replica], 1 - to_replica, message.generation,
                           message.kind == KIND_LINK_UP, state->now);
    else
        node_replica_receive (&state->replicas[to_replica],
                              channel == C_R0 || channel == C_R1 ? NODE_CLIENT (0)
                                                                 : NODE_REPLICA (1 - to_replica),
                              message.generation, message.bytes, message.size, state->now);
}

static void clear (struct channel_state *queue)
{
    memset (queue, 0, sizeof *queue);
}

static void note_replica (struct explorer *self, enum node_note_kind kind, int r)
{
    const struct node_note note = {
        .kind = kind, .actor = NODE_REPLICA (r), .other = NODE_NOBODY, .sibling = NODE_NOBODY};
    on_note (self, &note);
}

/* Takes the replica and its memory away; what was on its way to it is gone. */
static void crash (struct explorer *self, int r, bool loses_sent)
{
    struct state *state = live (self);
    const enum channel to_client = r == 0 ? R0_C : R1_C;
    const enum channel to_peer = r == 0 ? R0_R1 : R1_R0;

    note_replica (self, NODE_NOTE_CRASH, r);
    clear (&state->channels[r == 0 ? C_R0 : C_R1]);
    clear (&state->channels[r == 0 ? R1_R0 : R0_R1]);
    if (loses_sent) {
        clear (&state->channels[to_client]);
        clear (&state->channels[to_peer]);
    }
    (void)append (self, to_client, KIND_LINK_DOWN);
    if (state->is_alive[1 - r])
        (void)append (self, to_peer, KIND_LINK_DOWN);
    state->is_connected[r] = 0;
    state->is_connected[2] = 0;
    state->is_alive[r] = 0;
    state->running[r] = 0;
}

static void restart (struct explorer *self, int r)
{
    note_replica (self, NODE_NOTE_RESTART, r);
    start_replica (self, r);
    live (self)->stepped[1 + r] = live (self)->now;
    connect (self, r);
    if (live (self)->is_alive[1 - r])
        connect (self, 2);
}

/* As behind a proxy: the break is told, but messages under way reach the new incarnation. */
static void restart_silently (struct explorer *self, int r)
{
    struct state *state = live (self);

    note_replica (self, NODE_NOTE_CRASH, r);
    start_replica (self, r);
    state->stepped[1 + r] = state->now;
    node_replica_link (&state->replicas[r], 1 - r, state->generation[2], state->is_connected[2],
                       state->now);
    (void)append (self, r == 0 ? R0_C : R1_C, KIND_LINK_DOWN);
    (void)append (self, r == 0 ? R0_C : R1_C, KIND_LINK_UP);
}

/* Another client's copy takes the one place in the queue. */
static void occupy (struct explorer *self, int r)
{
    struct state *state = live (self);
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
    struct state *state = live (self);
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
    struct state *state = live (self);
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

static bool is_possible (struct explorer *self, int code)
{
    struct state *state = live (self);
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
    struct channel_state *queue = &live (self)->channels[channel];

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
        (void)fprintf (stderr, "  [%s from %s is lost]\n",
                       tied_wire_type_name (live (self)->channels[code - STEP_LOSE].at[0].type),
                       channels[code - STEP_LOSE]);
    else if (code >= STEP_REPEAT && code < STEP_CRASH)
        (void)fprintf (stderr, "  [a message from %s comes twice]\n", channels[code - STEP_REPEAT]);
    else if (code >= STEP_OCCUPY && code < STEP_GIVE_UP)
        (void)fprintf (stderr, "  [another client's copy at r%d]\n", code - STEP_OCCUPY);
    else if (code == STEP_TICK)
        (void)fprintf (stderr, "  [time passes]\n");
}

static void apply (struct explorer *self, int code)
{
    struct state *state = live (self);

    print_fault (self, code);
    if (code < STEP_TAKE) {
        deliver (self, (enum channel)code, false);
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
        deliver (self, (enum channel) (code - STEP_REPEAT), true);
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

static uint64_t hash_bytes (uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t word;

    for (; size >= 8; size -= 8, bytes += 8) {
        memcpy (&word, bytes, 8);
        hash = ti_mix (hash ^ word) + UINT64_C (0x9e3779b97f4a7c15);
    }
    word = size;
    memcpy (&word, bytes, size);
    return ti_mix (hash ^ word ^ (uint64_t)size << 56);
}

static uint64_t hash_state (struct explorer *self)
{
    const struct state *state = live (self);
    uint64_t hash = hash_bytes (1, state, offsetof (struct state, channels));

    for (int i = 0; i < CHANNELS; i++) {
        const struct channel_state *queue = &state->channels[i];
        hash = ti_mix (hash ^ queue->count);
        hash = hash_bytes (hash, queue->at, queue->count * sizeof queue->at[0]);
    }
    hash = hash_bytes (hash, state->client.links, 2 * sizeof state->client.links[0]);
    hash = ti_mix (hash ^ tied_client_core_hash (state->client.core));
    for (int r = 0; r < 2; r++) {
        const struct node_replica *node = &state->replicas[r];
        if (!state->is_alive[r])
            continue;
        hash = hash_bytes (hash, node->conns, 4 * sizeof node->conns[0]);
        hash = hash_bytes (hash, node->peers, 2 * sizeof node->peers[0]);
        hash = hash_bytes (hash, node->slots, SLOTS * sizeof node->slots[0]);
        hash = ti_mix (hash ^ tied_replica_core_hash (node->core));
    }
    /* When things happened is not part of what can still happen. */
    hash = hash_bytes (hash, &state->call.sent_to,
                       sizeof state->call - offsetof (struct ledger_call, sent_to));
    return hash != 0 ? hash : 1;
}

static void grow_visited (struct explorer *self)
{
    const uint64_t old_size = self->visited_mask + 1;
    uint64_t *old = self->visited;
    uint64_t *grown = calloc (old_size * 2, sizeof *grown);

    TI_ASSERT (grown != NULL);
    self->visited_mask = old_size * 2 - 1;
    for (uint64_t i = 0; i < old_size; i++) {
        uint64_t at = old[i] & self->visited_mask;
        if (old[i] == 0)
            continue;
        while (grown[at] != 0)
            at = (at + 1) & self->visited_mask;
        grown[at] = old[i];
    }
    free (old);
    self->visited = grown;
}

/* True if the live state is new. */
static bool visit (struct explorer *self)
{
    const uint64_t hash = hash_state (self);
    uint64_t at = hash & self->visited_mask;

    while (self->visited[at] != 0) {
        if (self->visited[at] == hash)
            return false;
        at = (at + 1) & self->visited_mask;
    }
    self->visited[at] = hash;
    self->result->states++;
    if (self->result->states * 2 > self->visited_mask)
        grow_visited (self);
    return true;
}

/* Nothing is left to happen but faults: the call has ended and nothing of it is left anywhere. */
static void check_end (struct explorer *self)
{
    struct state *state = live (self);
    const struct tied_call_id id = {LEDGER_EPOCH (0), 0};
    const bool is_calm = state->losses == 0 && self->config->deadline_ns == TIED_NEVER;

    self->result->ends++;
    if (is_calm && !state->is_alive[0] && !state->is_alive[1])
        return; /* without a deadline it waits for a replica to come back */
    ledger_end (&self->ledger, is_calm);
    if (tied_client_core_live_calls (state->client.core) != 0 ||
        tied_client_core_copies_in_flight (state->client.core) != 0)
        ledger_violate (&self->ledger, "the client still holds the call", id);
    for (int r = 0; r < 2; r++) {
        struct tied_load load;
        if (!state->is_alive[r])
            continue;
        load = tied_replica_core_load (state->replicas[r].core);
        if (load.depth != 0 || load.running != 0)
            ledger_violate (&self->ledger, "a replica still holds the call", id);
    }
    if (state->call.completions == 1)
        self->result->outcomes[state->call.outcome]++;
}

static void begin (struct explorer *self)
{
    struct state *state = live (self);
    struct tied_client_submit submit = {0};

    memset (self->block, 0, self->block_size);
    state->now = START;
    for (int i = 0; i < 3; i++)
        state->stepped[i] = START;
    state->client.net = &self->net;
    state->client.epoch = self->client_options.epoch;
    state->client.mutations = self->config->mutations;
    state->client.core = tied_client_core_init (self->block + self->state_size, self->client_size,
                                                &self->client_options);
    TI_ASSERT (state->client.core != NULL);
    for (int r = 0; r < 2; r++) {
        TI_ASSERT (tied_client_core_add_replica (state->client.core) == r);
        start_replica (self, r);
        connect (self, r);
    }
    connect (self, 2);
    for (bool is_busy = true; is_busy;) {
        is_busy = false;
        for (int i = 0; i < CHANNELS; i++) {
            while (state->channels[i].count > 0) {
                deliver (self, (enum channel)i, false);
                is_busy = true;
            }
        }
    }
    submit.mode = self->config->mode;
    submit.is_idempotent = true;
    submit.deadline = ti_time_add (START, self->config->deadline_ns);
    submit.stagger_ns = self->config->stagger_ns;
    TI_ASSERT (node_client_submit (&state->client, &submit, START) == 0);
}

static void show_path (struct explorer *self)
{
    char violation[sizeof self->ledger.violation];

    memcpy (violation, self->ledger.violation, sizeof violation);
    (void)fprintf (stderr, "%s: %s\n  after these steps:\n", self->config->name, violation);
    self->prints = true;
    if (setjmp (self->on_assert) == 0) {
        begin (self);
        for (uint32_t i = 0; i < self->result->path_length; i++)
            apply (self, self->path[i]);
    }
    self->prints = false;
}

static void search (struct explorer *self)
{
    struct tiny_result *result = self->result;
    const uint32_t states_max =
        self->config->states_max != 0 ? self->config->states_max : UINT32_C (1) << 24;

    begin (self);
    (void)visit (self);
    memcpy (self->stack, self->block, self->block_size);
    self->depth = 0;
    self->next[0] = 0;
    for (;;) {
        unsigned char *saved = self->stack + (size_t)self->depth * self->block_size;
        int code = self->next[self->depth];

        /* Here the live block is the state of this depth. */
        while (code < STEPS && !is_possible (self, code))
            code++;
        if (self->next[self->depth] == 0 && code >= STEP_FAULTS) {
            self->result->path_length = self->depth;
            check_end (self);
            if (self->ledger.violation[0] != '\0')
                return;
        }
        if (code >= STEPS) {
            if (self->depth == 0)
                break;
            self->depth--;
            memcpy (self->block, self->stack + (size_t)self->depth * self->block_size,
                    self->block_size);
            continue;
        }
        self->next[self->depth] = (uint8_t)(code + 1);
        self->path[self->depth] = (uint8_t)code;
        result->path_length = self->depth + 1;
        result->transitions++;
        apply (self, code);
        if (self->ledger.violation[0] != '\0')
            return;
        if (result->states >= states_max || self->depth + 2 >= DEPTH_MAX)
            return;
        if (visit (self)) {
            self->depth++;
            if (self->depth > result->depth)
                result->depth = self->depth;
            self->next[self->depth] = 0;
            memcpy (self->stack + (size_t)self->depth * self->block_size, self->block,
                    self->block_size);
        } else {
            memcpy (self->block, saved, self->block_size);
        }
    }
    result->is_complete = true;
}

static void set_options (struct explorer *self)
{
    struct tied_client_core_options *client = &self->client_options;
    struct tied_replica_core_options *replica = &self->replica_options;
    const char *field = NULL;

    tied_client_core_options_init (client);
    client->epoch = LEDGER_EPOCH (0);
    client->seed = 1;
    client->calls_max = 1;
    client->replicas_max = 2;
    client->pick = TIED_PICK_INFORMED;
    client->load_age_ns = TIED_S (3600);
    client->heartbeat_ns = TIED_S (3600);
    if (tied_client_core_options_check (client, &field) != 0)
        TI_UNREACHABLE ();
    tied_replica_core_options_init (replica);
    replica->incarnation = 1;
    replica->workers = 1;
    replica->queue_depth = 1;
    replica->hedge_depth = 1;
    replica->recent_max = 16;
    replica->recent_ttl_ns = TIED_S (3600);
    replica->clients_max = 4;
    replica->peers_max = 2;
    replica->client_silence_ns = TIED_NEVER;
    if (tied_replica_core_options_check (replica, &field) != 0)
        TI_UNREACHABLE ();
}

void tiny_explore (const struct tiny_config *config, struct tiny_result *result, bool shows_path)
{
    struct explorer *self = calloc (1, sizeof *self);
    ti_assert_fn *const handler = ti_assert_handler;

    TI_ASSERT (self != NULL);
    memset (result, 0, sizeof *result);
    self->config = config;
    self->result = result;
    self->net = (struct node_net){self, on_send, on_note, on_run};
    set_options (self);
    self->state_size = ti_align (sizeof (struct state));
    self->client_size = ti_align (tied_client_core_size (&self->client_options));
    self->replica_size = ti_align (tied_replica_core_size (&self->replica_options));
    self->block_size = self->state_size + self->client_size + 2 * self->replica_size;
    self->block = malloc (self->block_size);
    self->stack = malloc (self->block_size * DEPTH_MAX);
    self->visited_mask = (UINT64_C (1) << 16) - 1;
    self->visited = calloc (self->visited_mask + 1, sizeof *self->visited);
    TI_ASSERT (self->block != NULL && self->stack != NULL && self->visited != NULL);
    self->ledger.calls = &live (self)->call;
    self->ledger.clients = 1;
    self->ledger.calls_per_client = 1;
    self->ledger.memory = TIED_NEVER;
    self->ledger.repeats = config->repeats > 0;

    current = self;
    ti_assert_handler = on_assert;
    if (setjmp (self->on_assert) == 0)
        search (self);
    memcpy (result->violation, self->ledger.violation, sizeof result->violation);
    memcpy (result->marks, self->ledger.marks, sizeof result->marks);
    if (result->violation[0] != '\0' && shows_path)
        show_path (self);
    ti_assert_handler = handler;
    current = NULL;
    free (self->visited);
    free (self->stack);
    free (self->block);
    free (self);
}
