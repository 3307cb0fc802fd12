/* SPDX-License-Identifier: MIT */
/* The engine of world.h: one heap of events, links, workers, and the loop over the cores. */
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "transcript.h"

enum event_kind {
    EVENT_MESSAGE,
    EVENT_LINK_UP,
    EVENT_LINK_DOWN,
    EVENT_CONNECT, /* the transport tries again */
    EVENT_FINISH   /* after everything else of its time: sockets are drained first */
};

struct event {
    tied_time_t at;
    uint64_t order;
    enum event_kind kind;
    int from, to;
    uint32_t generation; /* FINISH: incarnation */
    uint32_t slot;
    uint16_t size;
    uint32_t next_free;
    unsigned char bytes[NODE_MESSAGE_MAX];
};

struct direction {
    tied_time_t last; /* nothing arrives before what was sent before */
    tied_time_t clogged_until;
    tied_duration_t delay_extra;
    uint32_t under_way;
    uint8_t delay_type, lose_type;
    bool is_cut;
};

struct connection {
    uint32_t generation;
    bool is_up;
};

struct host {
    struct node_replica node;
    struct node_slot *slots;
    void *memory;
    struct tied_replica_counters earlier; /* of dead incarnations */
    tied_time_t paused_until;
    tied_duration_t service_next;
    uint32_t incarnation;
    uint32_t running;
    bool is_alive, is_silent;
};

struct world {
    struct world_options options;
    struct node_net net;
    tied_time_t now;
    struct event *events;
    uint32_t *heap;
    uint32_t events_capacity, heap_count, free_head;
    uint64_t order;
    struct ti_prng network, service, faults;
    struct direction directions[NODE_ACTORS][NODE_ACTORS];
    struct connection connections[NODE_ACTORS][NODE_ACTORS]; /* smaller actor first */
    struct node_client clients[NODE_CLIENTS_MAX];
    struct host hosts[NODE_REPLICAS_MAX];
    struct ledger ledger;
    uint64_t hash;
    tied_time_t origin;    /* of the transcript's times */
    struct node_note lost; /* told after the note that the message was sent */
    bool has_lost;
    bool is_settled;
};

#define NO_EVENT UINT32_MAX

static struct connection *connection_of (struct world *self, int a, int b)
{
    return a < b ? &self->connections[a][b] : &self->connections[b][a];
}

/* ---- heap ---- */

static bool is_before (const struct world *self, uint32_t a, uint32_t b)
{
    const struct event *x = &self->events[a];
    const struct event *y = &self->events[b];

    if (x->at != y->at)
        return x->at < y->at;
    if ((x->kind == EVENT_FINISH) != (y->kind == EVENT_FINISH))
        return y->kind == EVENT_FINISH;
    return x->order < y->order;
}

static void push (struct world *self, uint32_t index)
{
    uint32_t at = self->heap_count++;

    self->events[index].order = self->order++;
    while (at > 0 && is_before (self, index, self->heap[(at - 1) / 2])) {
        self->heap[at] = self->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    self->heap[at] = index;
}

static uint32_t pop (struct world *self)
{
    const uint32_t top = self->heap[0];
    const uint32_t moved = self->heap[--self->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= self->heap_count)
            break;
        if (child + 1 < self->heap_count &&
            is_before (self, self->heap[child + 1], self->heap[child]))
            child++;
        if (!is_before (self, self->heap[child], moved))
            break;
        self->heap[at] = self->heap[child];
        at = child;
    }
    if (self->heap_count > 0)
        self->heap[at] = moved;
    return top;
}

static struct event *new_event (struct world *self, uint32_t *out_index)
{
    uint32_t index = self->free_head;

    if (index == NO_EVENT) {
        const uint32_t old = self->events_capacity;
        self->events_capacity = old == 0 ? 64 : old * 2;
        self->events = realloc (self->events, self->events_capacity * sizeof *self->events);
        self->heap = realloc (self->heap, self->events_capacity * sizeof *self->heap);
        TI_ASSERT (self->events != NULL && self->heap != NULL);
        for (uint32_t i = old; i < self->events_capacity; i++)
            self->events[i].next_free = i + 1 < self->events_capacity ? i + 1 : NO_EVENT;
        index = old;
    }
    self->free_head = self->events[index].next_free;
    memset (&self->events[index], 0, offsetof (struct event, bytes));
    *out_index = index;
    return &self->events[index];
}

static void free_event (struct world *self, uint32_t index)
{
    self->events[index].next_free = self->free_head;
    self->free_head = index;
}

/* ---- notes ---- */

static void mix (struct world *self, uint64_t value)
{
    self->hash = ti_mix (self->hash ^ value) + UINT64_C (0x9e3779b97f4a7c15);
}

static bool is_probe (uint8_t type)
{
    return type == TIED_WIRE_HELLO || type == TIED_WIRE_WELCOME || type == TIED_WIRE_PING ||
           type == TIED_WIRE_PONG;
}

static void take_note (struct world *self, const struct node_note *note)
{
    char line[256];

    ledger_note (&self->ledger, note, self->now);
    mix (self, self->now);
    mix (self, (uint64_t)note->kind << 48 | (uint64_t)(uint16_t)note->actor << 32 |
                   (uint64_t)(uint16_t)note->other << 16 | (uint64_t)note->type << 8 | note->copy);
    mix (self, note->call.epoch << 40 ^ note->call.sequence);
    mix (self, (uint64_t)note->flags << 8 | note->reason);
    if (note->done != NULL)
        mix (self, (uint64_t)note->done->outcome << 32 | note->done->copies_sent);
    if (self->options.transcript == NULL || (self->options.hides_probes && is_probe (note->type)))
        return;
    (void)transcript_line (line, sizeof line, note, self->now, self->origin);
    (void)fprintf (self->options.transcript, "%s\n", line);
}

static void on_note (void *context, const struct node_note *note)
{
    struct world *self = context;

    take_note (self, note);
    if (note->kind == NODE_NOTE_SENT && self->has_lost) {
        self->has_lost = false;
        take_note (self, &self->lost);
    }
}

static void note_event (struct world *self, enum node_note_kind kind, int actor, int other)
{
    const struct node_note note = {
        .kind = kind, .actor = actor, .other = other, .sibling = NODE_NOBODY};
    on_note (self, &note);
}

/* A message that the network lost or repeated. */
static void note_message (struct world *self,
                          enum node_note_kind kind,
                          int from,
                          int to,
                          const struct tied_message *message)
{
    struct node_note note = {
        .kind = kind, .actor = from, .other = to, .type = message->type, .sibling = NODE_NOBODY};
    note.has_call = true;
    switch (message->type) {
    case TIED_WIRE_REQUEST:
        note.call = message->u.request.call;
        note.copy = message->u.request.copy;
        break;
    case TIED_WIRE_REPLY:
        note.call = message->u.reply.call;
        note.copy = message->u.reply.copy;
        break;
    case TIED_WIRE_REJECT:
        note.call = message->u.reject.call;
        note.copy = message->u.reject.copy;
        break;
    case TIED_WIRE_CANCEL:
        note.call = message->u.cancel.call;
        break;
    case TIED_WIRE_STARTED:
    case TIED_WIRE_UNTIE:
        note.call = message->u.tie.call;
        note.copy = message->u.tie.copy;
        break;
    default:
        note.has_call = false;
        break;
    }
    self->lost = note;
    self->has_lost = true;
}

/* ---- network ---- */

static bool draws (struct world *self, uint32_t ppm)
{
    return ppm > 0 && !self->is_settled && ti_prng_below (&self->faults, 1000000) < ppm;
}

static tied_time_t arrival (struct world *self, int from, int to, uint8_t type)
{
    struct direction *direction = &self->directions[from][to];
    const bool is_peer = !NODE_IS_CLIENT (from) && !NODE_IS_CLIENT (to);
    tied_time_t at =
        self->now +
        ti_prng_between (&self->network,
                         is_peer ? self->options.peer_delay_low_ns : self->options.delay_low_ns,
                         is_peer ? self->options.peer_delay_high_ns : self->options.delay_high_ns);

    if (direction->delay_type == type) {
        at += direction->delay_extra;
        direction->delay_type = 0;
    }
    if (draws (self, self->options.reorder_ppm))
        return at;
    at = ti_max (at, direction->last);
    direction->last = at;
    return at;
}

static void schedule (struct world *self,
                      int from,
                      int to,
                      uint32_t generation,
                      tied_time_t at,
                      const void *data,
                      size_t size)
{
    uint32_t index;
    struct event *event = new_event (self, &index);

    TI_ASSERT (size <= sizeof event->bytes);
    event->at = at;
    event->kind = EVENT_MESSAGE;
    event->from = from;
    event->to = to;
    event->generation = generation;
    event->size = (uint16_t)size;
    memcpy (event->bytes, data, size);
    self->directions[from][to].under_way++;
    push (self, index);
}

static bool on_send (void *context,
                     int from,
                     int to,
                     uint32_t generation,
                     const struct tied_message *message,
                     const void *data,
                     size_t size)
{
    struct world *self = context;
    struct direction *direction = &self->directions[from][to];
    const struct connection *connection = connection_of (self, from, to);

    if (self->options.pipe_max > 0 && !NODE_IS_CLIENT (to) &&
        direction->under_way >= self->options.pipe_max)
        return false;
    if (!connection->is_up || connection->generation != generation)
        return true; /* into a connection that has broken, which this end does not know yet */
    if (direction->is_cut || direction->lose_type == message->type ||
        (message->type < WORLD_TYPES && draws (self, self->options.loss_ppm[message->type]))) {
        if (direction->lose_type == message->type)
            direction->lose_type = 0;
        note_message (self, NODE_NOTE_LOSE, from, to, message);
        return true;
    }
    schedule (self, from, to, generation, arrival (self, from, to, message->type), data, size);
    if (draws (self, self->options.repeat_ppm)) {
        note_message (self, NODE_NOTE_DUPLICATE, from, to, message);
        schedule (self, from, to, generation, arrival (self, from, to, message->type), data, size);
    }
    return true;
}

static void schedule_link (struct world *self, int to, int other, bool is_up, uint32_t generation)
{
    uint32_t index;
    struct event *event = new_event (self, &index);

    event->kind = is_up ? EVENT_LINK_UP : EVENT_LINK_DOWN;
    event->from = other;
    event->to = to;
    event->generation = generation;
    event->at = arrival (self, other, to, UINT8_MAX);
    push (self, index);
}

static bool is_present (const struct world *self, int actor)
{
    return NODE_IS_CLIENT (actor) || self->hosts[NODE_REPLICA_OF (actor)].is_alive;
}

/* Both ends learn of it, but a replica is never told of a client's connection. */
static void tell_link (struct world *self, int a, int b, bool is_up)
{
    const uint32_t generation = connection_of (self, a, b)->generation;

    if (is_present (self, a) && (NODE_IS_CLIENT (a) || !NODE_IS_CLIENT (b)))
        schedule_link (self, a, b, is_up, generation);
    if (is_present (self, b) && (NODE_IS_CLIENT (b) || !NODE_IS_CLIENT (a)))
        schedule_link (self, b, a, is_up, generation);
}

static void connect_actors (struct world *self, int a, int b)
{
    struct connection *connection = connection_of (self, a, b);

    if (connection->is_up || !is_present (self, a) || !is_present (self, b))
        return;
    connection->is_up = true;
    connection->generation++;
    tell_link (self, a, b, true);
}

static void disconnect_actors (struct world *self, int a, int b)
{
    struct connection *connection = connection_of (self, a, b);

    if (!connection->is_up)
        return;
    tell_link (self, a, b, false);
    connection->is_up = false;
}

/* ---- replicas ---- */

static void on_run (void *context, int replica, uint32_t slot)
{
    struct world *self = context;
    struct host *host = &self->hosts[replica];
    uint32_t index;
    struct event *event = new_event (self, &index);
    tied_duration_t service = ti_dist_draw (&self->options.service, ti_prng_next (&self->service));

    if (host->service_next != 0) {
        service = host->service_next;
        host->service_next = 0;
    }
    host->running++;
    event->kind = EVENT_FINISH;
    event->at = self->now + ti_max (service, 1);
    event->to = NODE_REPLICA (replica);
    event->from = NODE_NOBODY;
    event->generation = host->incarnation;
    event->slot = slot;
    push (self, index);
}

static void start_replica (struct world *self, int r)
{
    struct host *host = &self->hosts[r];
    struct tied_replica_core_options options = self->options.replica;
    const size_t size = tied_replica_core_size (&options);

    if (host->memory == NULL) {
        host->memory = malloc (size);
        TI_ASSERT (host->memory != NULL);
    }
    host->incarnation++;
    options.incarnation = (uint64_t)(r + 1) << 16 | host->incarnation;
    memset (&host->node, 0, sizeof host->node);
    host->node.core = tied_replica_core_init (host->memory, size, &options);
    TI_ASSERT (host->node.core != NULL);
    free (host->slots);
    host->slots = calloc (tied_replica_core_slots (host->node.core), sizeof *host->slots);
    TI_ASSERT (host->slots != NULL);
    host->node.net = &self->net;
    host->node.slots = host->slots;
    host->node.self = r;
    host->node.incarnation = options.incarnation;
    host->node.mutations = self->options.mutations;
    host->node.check_mask = self->options.check_mask;
    host->node.conns_max = (uint32_t)ti_min (options.clients_max, NODE_CONNS_MAX);
    if (self->options.has_clock_offsets)
        host->node.offset = ti_prng_below (&self->network, TIED_S (1000));
    host->is_alive = true;
    host->running = 0;
    host->paused_until = 0;
    self->ledger.forgetful &= ~(UINT32_C (1) << r);
}

static void add_counters (struct tied_replica_counters *sum,
                          const struct tied_replica_counters *part)
{
#define ADD(name) sum->name += part->name;
    TIED_REPLICA_COUNTER_MAP (ADD)
#undef ADD
}

void world_crash (struct world *self, int replica, bool is_silent)
{
    struct host *host = &self->hosts[replica];

    if (!host->is_alive)
        return;
    add_counters (&host->earlier, tied_replica_core_counters (host->node.core));
    host->is_alive = false;
    host->is_silent = is_silent;
    note_event (self, NODE_NOTE_CRASH, NODE_REPLICA (replica), NODE_NOBODY);
    for (int actor = 0; actor < NODE_ACTORS; actor++) {
        struct connection *connection = connection_of (self, actor, NODE_REPLICA (replica));
        if (!connection->is_up)
            continue;
        if (is_silent)
            connection->is_up = false;
        else
            disconnect_actors (self, actor, NODE_REPLICA (replica));
    }
}

static void connect_all (struct world *self, int r)
{
    for (uint32_t c = 0; c < self->options.clients; c++)
        connect_actors (self, NODE_CLIENT ((int)c), NODE_REPLICA (r));
    for (uint32_t p = 0; p < self->options.replicas; p++) {
        if ((int)p != r)
            connect_actors (self, NODE_REPLICA ((int)p), NODE_REPLICA (r));
    }
}

void world_restart (struct world *self, int replica)
{
    struct host *host = &self->hosts[replica];

    if (host->is_alive)
        return;
    if (host->is_silent) {
        for (int actor = 0; actor < NODE_ACTORS; actor++) {
            if (connection_of (self, actor, NODE_REPLICA (replica))->generation > 0)
                tell_link (self, actor, NODE_REPLICA (replica), false);
        }
        host->is_silent = false;
    }
    start_replica (self, replica);
    note_event (self, NODE_NOTE_RESTART, NODE_REPLICA (replica), NODE_NOBODY);
    connect_all (self, replica);
}

void world_restart_hidden (struct world *self, int replica)
{
    struct host *host = &self->hosts[replica];
    const int self_actor = NODE_REPLICA (replica);

    if (!host->is_alive)
        return;
    add_counters (&host->earlier, tied_replica_core_counters (host->node.core));
    note_event (self, NODE_NOTE_CRASH, self_actor, NODE_NOBODY);
    start_replica (self, replica);
    note_event (self, NODE_NOTE_RESTART, self_actor, NODE_NOBODY);
    for (int actor = 0; actor < NODE_ACTORS; actor++) {
        const struct connection *connection = connection_of (self, actor, self_actor);
        if (!connection->is_up)
            continue;
        if (NODE_IS_CLIENT (actor)) {
            schedule_link (self, actor, self_actor, false, connection->generation);
            schedule_link (self, actor, self_actor, true, connection->generation);
        } else {
            schedule_link (self, self_actor, actor, true, connection->generation);
        }
    }
}

/* Free workers take copies once all messages of this instant are in. */
static void dispatch (struct world *self)
{
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        struct host *host = &self->hosts[r];
        if (!host->is_alive || host->paused_until > self->now)
            continue;
        while (tied_replica_core_can_run (host->node.core)) {
            const uint32_t before = host->running;
            node_replica_take (&host->node, self->now);
            if (host->running == before && !tied_replica_core_can_run (host->node.core))
                break; /* what waited had expired */
        }
        TI_ASSERT (host->running <= self->options.replica.workers);
    }
}

static void after_step (struct world *self, int actor)
{
    if (NODE_IS_CLIENT (actor)) {
        node_client_check (&self->clients[actor]);
    } else {
        const struct host *host = &self->hosts[NODE_REPLICA_OF (actor)];
        node_replica_check (&host->node);
        if (tied_replica_core_counters (host->node.core)->tombstones_evicted > 0)
            self->ledger.forgetful |= UINT32_C (1) << NODE_REPLICA_OF (actor);
    }
}

/* ---- events ---- */

static void deliver_link (struct world *self, const struct event *event)
{
    const bool is_up = event->kind == EVENT_LINK_UP;

    if (NODE_IS_CLIENT (event->to))
        node_client_link (&self->clients[event->to], NODE_REPLICA_OF (event->from),
                          event->generation, is_up, self->now);
    else
        node_replica_link (&self->hosts[NODE_REPLICA_OF (event->to)].node,
                           NODE_REPLICA_OF (event->from), event->generation, is_up, self->now);
}

static void deliver_message (struct world *self, const struct event *event)
{
    const struct connection *connection = connection_of (self, event->from, event->to);

    if (!connection->is_up || connection->generation != event->generation)
        return; /* died with its connection */
    if (NODE_IS_CLIENT (event->to))
        node_client_receive (&self->clients[event->to], NODE_REPLICA_OF (event->from), event->bytes,
                             event->size, self->now);
    else
        node_replica_receive (&self->hosts[NODE_REPLICA_OF (event->to)].node, event->from,
                              event->generation, event->bytes, event->size, self->now);
}

static void handle (struct world *self, uint32_t index)
{
    struct event event = self->events[index];
    struct host *host = NODE_IS_CLIENT (event.to) ? NULL : &self->hosts[NODE_REPLICA_OF (event.to)];
    tied_time_t held = 0;

    if (host != NULL && host->is_alive)
        held = host->paused_until;
    if (event.kind == EVENT_MESSAGE && event.from >= 0)
        held = ti_max (held, self->directions[event.from][event.to].clogged_until);
    if (event.kind != EVENT_CONNECT && held > self->now) {
        self->events[index].at = held;
        push (self, index);
        return;
    }
    free_event (self, index);
    if (event.kind == EVENT_MESSAGE)
        self->directions[event.from][event.to].under_way--;
    if (event.kind == EVENT_CONNECT) {
        connect_actors (self, event.from, event.to);
        return;
    }
    if (host != NULL && !host->is_alive)
        return;
    switch (event.kind) {
    case EVENT_MESSAGE:
        deliver_message (self, &event);
        break;
    case EVENT_LINK_UP:
    case EVENT_LINK_DOWN:
        deliver_link (self, &event);
        break;
    case EVENT_FINISH:
        if (event.generation != host->incarnation)
            return;
        host->running--;
        node_replica_finish (&host->node, event.slot, self->now);
        break;
    case EVENT_CONNECT:
        break;
    }
    after_step (self, event.to);
}

/* The earliest time-out of a core that can act on it. */
static tied_time_t next_timeout (struct world *self, int *out_actor)
{
    tied_time_t earliest = TIED_NEVER;

    for (uint32_t c = 0; c < self->options.clients; c++) {
        const tied_time_t at = node_client_deadline (&self->clients[c]);
        if (at < earliest) {
            earliest = at;
            *out_actor = NODE_CLIENT ((int)c);
        }
    }
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        const struct host *host = &self->hosts[r];
        tied_time_t at;
        if (!host->is_alive)
            continue;
        at = node_replica_deadline (&host->node);
        if (at == TIED_NEVER)
            continue;
        at = ti_max (at, host->paused_until);
        if (at < earliest) {
            earliest = at;
            *out_actor = NODE_REPLICA ((int)r);
        }
    }
    return earliest;
}

static void timeout (struct world *self, int actor)
{
    if (NODE_IS_CLIENT (actor))
        node_client_timeout (&self->clients[actor], self->now);
    else
        node_replica_timeout (&self->hosts[NODE_REPLICA_OF (actor)].node, self->now);
    after_step (self, actor);
}

/* One event or time-out, or the jump to the next one; false when there is none before `until`. */
static bool step (struct world *self, tied_time_t until)
{
    int actor = NODE_NOBODY;
    tied_time_t at;

    if (self->heap_count > 0 && self->events[self->heap[0]].at <= self->now) {
        handle (self, pop (self));
        return true;
    }
    dispatch (self);
    at = next_timeout (self, &actor);
    if (at <= self->now) {
        timeout (self, actor);
        return true;
    }
    if (self->heap_count > 0)
        at = ti_min (at, self->events[self->heap[0]].at);
    if (at > until)
        return false;
    self->now = at;
    return true;
}

void world_run_until (struct world *self, tied_time_t until)
{
    while (self->ledger.violation[0] == '\0' && step (self, until))
        ;
    if (self->ledger.violation[0] == '\0' && until != TIED_NEVER)
        self->now = ti_max (self->now, until);
}

static bool is_idle (struct world *self)
{
    for (uint32_t c = 0; c < self->options.clients; c++) {
        if (tied_client_core_live_calls (self->clients[c].core) != 0)
            return false;
    }
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        const struct host *host = &self->hosts[r];
        struct tied_load load;
        if (!host->is_alive)
            continue;
        load = tied_replica_core_load (host->node.core);
        if (load.depth != 0 || load.running != 0)
            return false;
    }
    return true;
}

bool world_run_idle (struct world *self, tied_time_t limit)
{
    while (self->ledger.violation[0] == '\0') {
        if (is_idle (self))
            return true;
        if (!step (self, limit))
            return is_idle (self);
    }
    return false;
}

/* ---- life cycle ---- */

void world_options_init (struct world_options *options)
{
    memset (options, 0, sizeof *options);
    options->seed = 1;
    options->clients = 1;
    options->replicas = 2;
    options->calls_per_client = 64;
    tied_client_core_options_init (&options->client);
    options->client.epoch = 1;
    options->client.calls_max = 64;
    options->client.replicas_max = NODE_REPLICAS_MAX;
    tied_replica_core_options_init (&options->replica);
    options->replica.incarnation = 1;
    options->replica.workers = 1;
    options->replica.queue_depth = 64;
    options->replica.recent_max = 1024;
    options->replica.clients_max = NODE_CONNS_MAX;
    options->replica.peers_max = NODE_REPLICAS_MAX;
    options->delay_low_ns = options->delay_high_ns = TIED_US (100);
    options->peer_delay_low_ns = options->peer_delay_high_ns = TIED_US (100);
    options->service.kind = TI_DIST_FIXED;
    options->service.a_ns = TIED_MS (1);
    options->hides_probes = true;
}

struct world *world_new (const struct world_options *options)
{
    struct world *self = calloc (1, sizeof *self);

    TI_ASSERT (self != NULL);
    self->options = *options;
    self->net = (struct node_net){self, on_send, on_note, on_run};
    self->now = WORLD_START;
    self->origin = WORLD_START;
    self->free_head = NO_EVENT;
    ti_prng_seed (&self->network, ti_mix (options->seed ^ UINT64_C (0x6e657477)));
    ti_prng_seed (&self->service, ti_mix (options->seed ^ UINT64_C (0x73657276)));
    ti_prng_seed (&self->faults, ti_mix (options->seed ^ UINT64_C (0x6661756c)));
    self->ledger.clients = options->clients;
    self->ledger.calls_per_client = options->calls_per_client;
    self->ledger.memory = options->replica.recent_ttl_ns;
    self->ledger.repeats = options->repeat_ppm > 0 || options->reorder_ppm > 0;
    self->ledger.is_stranger_about = options->has_strangers;
    self->ledger.calls =
        calloc ((size_t)options->clients * options->calls_per_client, sizeof *self->ledger.calls);
    TI_ASSERT (self->ledger.calls != NULL);
    for (uint32_t c = 0; c < options->clients; c++) {
        struct node_client *node = &self->clients[c];
        struct tied_client_core_options client = options->client;
        void *memory;

        client.epoch = LEDGER_EPOCH (c);
        client.seed = ti_mix (options->seed ^ c);
        memory = malloc (tied_client_core_size (&client));
        TI_ASSERT (memory != NULL);
        node->net = &self->net;
        node->epoch = client.epoch;
        node->self = (int)c;
        node->mutations = options->mutations;
        node->check_mask = options->check_mask;
        if (options->has_clock_offsets)
            node->offset = ti_prng_below (&self->network, TIED_S (1000));
        node->core = tied_client_core_init (memory, tied_client_core_size (&client), &client);
        TI_ASSERT (node->core != NULL);
        for (uint32_t r = 0; r < options->replicas; r++)
            TI_ASSERT (tied_client_core_add_replica (node->core) == (int)r);
    }
    for (uint32_t r = 0; r < options->replicas; r++)
        start_replica (self, (int)r);
    for (uint32_t r = 0; r < options->replicas; r++)
        connect_all (self, (int)r);
    return self;
}

void world_free (struct world *self)
{
    if (self == NULL)
        return;
    for (uint32_t c = 0; c < self->options.clients; c++)
        free (self->clients[c].core);
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        free (self->hosts[r].memory);
        free (self->hosts[r].slots);
    }
    free (self->ledger.calls);
    free (self->events);
    free (self->heap);
    free (self);
}

tied_time_t world_now (const struct world *self)
{
    return self->now;
}

struct ledger *world_ledger (struct world *self)
{
    return &self->ledger;
}

struct node_client *world_client (struct world *self, int client)
{
    return &self->clients[client];
}

struct node_replica *world_replica (struct world *self, int replica)
{
    return &self->hosts[replica].node;
}

bool world_is_alive (const struct world *self, int replica)
{
    return self->hosts[replica].is_alive;
}

void world_set_transcript (struct world *self, FILE *file, tied_time_t origin)
{
    self->options.transcript = file;
    self->origin = origin;
}

uint64_t world_hash (const struct world *self)
{
    return self->hash;
}

struct tied_replica_counters world_counters (const struct world *self)
{
    struct tied_replica_counters sum = {0};

    for (uint32_t r = 0; r < self->options.replicas; r++) {
        add_counters (&sum, &self->hosts[r].earlier);
        if (self->hosts[r].is_alive)
            add_counters (&sum, tied_replica_core_counters (self->hosts[r].node.core));
    }
    return sum;
}

/* ---- what a test does to the world ---- */

uint64_t world_submit (struct world *self,
                       int client,
                       uint32_t mode,
                       bool is_idempotent,
                       tied_duration_t deadline,
                       tied_duration_t stagger)
{
    const struct tied_client_counters *counters =
        tied_client_core_counters (self->clients[client].core);
    const uint64_t sequence = counters->submitted;
    struct tied_client_submit submit = {0};

    submit.token = (uint32_t)(sequence % self->options.client.calls_max);
    submit.mode = mode;
    submit.is_idempotent = is_idempotent;
    submit.deadline = ti_time_add (self->now, deadline);
    submit.stagger_ns = stagger;
    TI_ASSERT (node_client_submit (&self->clients[client], &submit, self->now) == 0);
    TI_ASSERT (counters->submitted == sequence + 1);
    after_step (self, NODE_CLIENT (client));
    return sequence;
}

void world_give_up (struct world *self, int client, uint64_t sequence)
{
    const struct tied_call_id call = {LEDGER_EPOCH (client), sequence};

    (void)node_client_cancel (&self->clients[client], call, self->now);
    after_step (self, NODE_CLIENT (client));
}

void world_pause (struct world *self, int replica, tied_time_t until)
{
    struct host *host = &self->hosts[replica];

    note_event (self, NODE_NOTE_PAUSE, NODE_REPLICA (replica), NODE_NOBODY);
    host->paused_until = ti_max (host->paused_until, until);
}

void world_drain (struct world *self, int replica)
{
    if (self->hosts[replica].is_alive)
        node_replica_drain (&self->hosts[replica].node, self->now);
}

void world_clog (struct world *self, int from, int to, tied_time_t until)
{
    self->directions[from][to].clogged_until = until;
}

void world_partition (struct world *self, int from, int to, bool is_on)
{
    self->directions[from][to].is_cut = is_on;
}

void world_break (struct world *self, int a, int b, tied_duration_t down)
{
    uint32_t index;
    struct event *event;

    if (!connection_of (self, a, b)->is_up)
        return;
    disconnect_actors (self, a, b);
    event = new_event (self, &index);
    event->kind = EVENT_CONNECT;
    event->from = a;
    event->to = b;
    event->at = self->now + down;
    push (self, index);
}

void world_lose_next (struct world *self, int from, int to, uint8_t type)
{
    self->directions[from][to].lose_type = type;
}

void world_delay_next (struct world *self, int from, int to, uint8_t type, tied_duration_t extra)
{
    self->directions[from][to].delay_type = type;
    self->directions[from][to].delay_extra = extra;
}

void world_service_next (struct world *self, int replica, tied_duration_t service)
{
    self->hosts[replica].service_next = service;
}

void world_inject (struct world *self, int from, int to, const void *data, size_t size)
{
    const struct connection *connection = connection_of (self, from, to);

    if (connection->is_up)
        schedule (self, from, to, connection->generation, self->now, data, size);
}

void world_settle (struct world *self)
{
    self->is_settled = true;
    self->options.pipe_max = 0;
    for (int from = 0; from < NODE_ACTORS; from++) {
        for (int to = 0; to < NODE_ACTORS; to++) {
            self->directions[from][to].is_cut = false;
            self->directions[from][to].lose_type = 0;
            self->directions[from][to].clogged_until =
                ti_min (self->directions[from][to].clogged_until, self->now);
        }
    }
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        self->hosts[r].paused_until = ti_min (self->hosts[r].paused_until, self->now);
        world_restart (self, (int)r);
    }
}

void world_check_empty (struct world *self)
{
    const struct tied_call_id nobody = {LEDGER_EPOCH (0), 0};

    /* Let the cancels of the last calls arrive, take the clients away, and let ties age. */
    world_run_until (self, self->now + TIED_S (1));
    for (uint32_t c = 0; c < self->options.clients; c++) {
        if (tied_client_core_live_calls (self->clients[c].core) != 0 ||
            tied_client_core_copies_in_flight (self->clients[c].core) != 0)
            ledger_violate (&self->ledger, "a client holds a call at the end", nobody);
        for (uint32_t r = 0; r < self->options.replicas; r++) {
            disconnect_actors (self, NODE_CLIENT ((int)c), NODE_REPLICA ((int)r));
        }
    }
    world_run_until (self, self->now + TIED_S (1) + self->options.replica.recent_ttl_ns +
                               (self->options.replica.client_silence_ns == TIED_NEVER
                                    ? 0
                                    : self->options.replica.client_silence_ns));
    for (uint32_t r = 0; r < self->options.replicas; r++) {
        struct node_replica *node = &self->hosts[r].node;
        struct tied_load load;
        if (!self->hosts[r].is_alive)
            continue;
        if (self->options.replica.client_silence_ns == TIED_NEVER) {
            for (uint32_t i = 0; i < NODE_CONNS_MAX; i++) {
                if (node->conns[i].is_used)
                    node_replica_client_gone (node, node->conns[i].client,
                                              node->conns[i].generation, self->now);
            }
        }
        load = tied_replica_core_load (node->core);
        if (load.depth != 0 || load.running != 0)
            ledger_violate (&self->ledger, "a replica holds a copy at the end", nobody);
        for (uint32_t i = 0; i < NODE_CONNS_MAX; i++) {
            if (node->conns[i].is_used)
                ledger_violate (&self->ledger, "a replica holds a client at the end", nobody);
        }
        for (uint32_t i = 0; i < tied_replica_core_slots (node->core); i++) {
            if (node->slots[i].is_used)
                ledger_violate (&self->ledger, "a slot is held at the end", nobody);
        }
        if (node_replica_deadline (node) != TIED_NEVER)
            ledger_violate (&self->ledger, "an idle replica waits for something", nobody);
    }
}
