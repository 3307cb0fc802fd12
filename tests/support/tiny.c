/* SPDX-License-Identifier: MIT */
/* The exploration of tiny.h: depth first, over snapshots of one block of memory. */
#include "tiny_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/util.h"
#include "free_policy.h"

static struct explorer *current; /* of the assert handler */

static void on_assert (const char *expression, const char *file, int line)
{
    const char *slash = strrchr (file, '/');
    (void)snprintf (current->ledger.violation, sizeof current->ledger.violation,
                    "assertion %s:%d: %s", slash != NULL ? slash + 1 : file, line, expression);
    longjmp (current->on_assert, 1);
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
    const struct state *state = tiny_live (self);
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

/* True if the tiny_live state is new. */
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
    struct state *state = tiny_live (self);
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
    struct state *state = tiny_live (self);
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
    set_free_policy (state->client.core);
    for (int r = 0; r < 2; r++) {
        TI_ASSERT (tied_client_core_add_replica (state->client.core) == r);
        tiny_start_replica (self, r);
        tiny_connect (self, r);
    }
    tiny_connect (self, 2);
    for (bool is_busy = true; is_busy;) {
        is_busy = false;
        for (int i = 0; i < CHANNELS; i++) {
            while (state->channels[i].count > 0) {
                tiny_deliver (self, (enum channel)i, false);
                is_busy = true;
            }
        }
    }
    submit.mode = self->config->mode;
    submit.is_idempotent = true;
    submit.deadline = ti_time_add (START, self->config->deadline_ns);
    submit.stagger_ns = self->config->stagger_ns;
    submit.hedge_ns = self->config->hedge_ns;
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
            tiny_apply (self, self->path[i]);
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

        /* Here the tiny_live block is the state of this depth. */
        while (code < STEPS && !tiny_is_possible (self, code))
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
        tiny_apply (self, code);
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
    /* What is learned would make every state another one. */
    client->learn_ns = 0;
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
    replica->park_max = 0; /* it is no part of SLOTS */
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
    self->net = (struct node_net){self, tiny_on_send, tiny_on_note, tiny_on_run};
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
    self->ledger.calls = &tiny_live (self)->call;
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
