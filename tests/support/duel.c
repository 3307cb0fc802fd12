/* SPDX-License-Identifier: MIT */
/* The search of duel.h: breadth first over snapshots of one block of memory. */
#include "duel_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "base/util.h"

#define STATES_MAX (UINT64_C (1) << 22)
#define WALK_MAX   256

/* How a state was found. */
struct origin {
    uint32_t parent;
    uint8_t step;
};

struct search {
    struct duel duel;
    struct duel_result *result;
    uint64_t *visited;
    uint64_t visited_mask;
    struct origin *origins;
    uint64_t origins_size;
    unsigned char *frontier[2]; /* blocks of this depth and of the next */
    uint32_t *numbers[2];       /* of these states */
    uint64_t frontier_size[2];
    uint64_t frontier_count[2];
};

TI_STATIC_ASSERT (STEPS <= UINT8_MAX, "a step is a byte");

static void *grow (void *array, size_t bytes)
{
    void *grown = realloc (array, bytes);
    TI_ASSERT (grown != NULL);
    return grown;
}

static void enlarge_visited (struct search *self)
{
    const uint64_t old_size = self->visited_mask + 1;
    uint64_t *old = self->visited;

    self->visited_mask = 2 * old_size - 1;
    self->visited = calloc (2 * old_size, sizeof *old);
    TI_ASSERT (self->visited != NULL);
    for (uint64_t i = 0; i < old_size; i++) {
        uint64_t at = old[i] & self->visited_mask;
        if (old[i] == 0)
            continue;
        while (self->visited[at] != 0)
            at = (at + 1) & self->visited_mask;
        self->visited[at] = old[i];
    }
    free (old);
}

static bool visit (struct search *self, uint64_t hash)
{
    uint64_t at = hash & self->visited_mask;

    while (self->visited[at] != 0) {
        if (self->visited[at] == hash)
            return false;
        at = (at + 1) & self->visited_mask;
    }
    self->visited[at] = hash;
    if (2 * (self->result->states + 1) > self->visited_mask)
        enlarge_visited (self);
    return true;
}

/* The live block is a state that is new: of the next depth. */
static void keep (struct search *self, uint32_t parent, int step)
{
    const uint64_t number = self->result->states++;
    const uint64_t at = self->frontier_count[1]++;

    if (number >= self->origins_size) {
        self->origins_size = 2 * number + 1024;
        self->origins = grow (self->origins, self->origins_size * sizeof *self->origins);
    }
    self->origins[number] = (struct origin){parent, (uint8_t)step};
    if (at >= self->frontier_size[1]) {
        self->frontier_size[1] = 2 * at + 64;
        self->frontier[1] =
            grow (self->frontier[1], self->frontier_size[1] * self->duel.block_size);
        self->numbers[1] = grow (self->numbers[1], self->frontier_size[1] * sizeof (uint32_t));
    }
    memcpy (self->frontier[1] + at * self->duel.block_size, self->duel.state,
            self->duel.block_size);
    self->numbers[1][at] = (uint32_t)number;
}

/* All of this depth is done: the next one becomes this one. */
static void descend (struct search *self)
{
    unsigned char *const blocks = self->frontier[0];
    uint32_t *const numbers = self->numbers[0];
    const uint64_t size = self->frontier_size[0];

    self->frontier[0] = self->frontier[1];
    self->numbers[0] = self->numbers[1];
    self->frontier_size[0] = self->frontier_size[1];
    self->frontier_count[0] = self->frontier_count[1];
    self->frontier[1] = blocks;
    self->numbers[1] = numbers;
    self->frontier_size[1] = size;
    self->frontier_count[1] = 0;
}

static void show (struct search *self, uint32_t parent, int step)
{
    uint8_t path[256];
    uint32_t length = 0;

    path[length++] = (uint8_t)step;
    for (uint32_t at = parent; at != 0 && length < sizeof path; at = self->origins[at].parent)
        path[length++] = self->origins[at].step;
    (void)fprintf (stderr, "%s: %s after\n", self->duel.config->name, self->result->violation);
    self->duel.prints = true;
    duel_begin (&self->duel);
    while (length > 0)
        duel_apply (&self->duel, path[--length]);
    self->duel.prints = false;
}

/* Every step from the state in the live block. False: a rule is broken. */
static bool expand (struct search *self, const unsigned char *block, uint32_t number, bool shows)
{
    struct duel *duel = &self->duel;
    const uint64_t here = duel_hash (duel);
    bool is_end = true;

    for (int step = 0; step < STEPS; step++) {
        uint64_t hash;

        memcpy (duel->state, block, duel->block_size);
        if (!duel_is_possible (duel, step))
            continue;
        self->result->transitions++;
        duel_apply (duel, step);
        self->result->marks |= duel->state->marks;
        if (duel->state->executions > duel->config->executions_max) {
            (void)snprintf (self->result->violation, sizeof self->result->violation,
                            "%u executions", duel->state->executions);
            self->result->steps = self->result->depth + 1;
            if (shows)
                show (self, number, step);
            return false;
        }
        hash = duel_hash (duel);
        if (hash != here && step < STEP_RESTART)
            is_end = false;
        if (visit (self, hash))
            keep (self, number, step);
    }
    if (is_end) {
        memcpy (duel->state, block, duel->block_size);
        self->result->ends++;
        if (duel->state->finished < self->result->fewest_at_end)
            self->result->fewest_at_end = duel->state->finished;
        if (duel->state->finished < duel->config->finished_least) {
            (void)snprintf (self->result->violation, sizeof self->result->violation,
                            "ends with %u executions", duel->state->finished);
            self->result->steps = self->result->depth;
            if (shows && number > 0)
                show (self, self->origins[number].parent, self->origins[number].step);
            return false;
        }
    }
    return true;
}

static void run (struct search *self, bool shows)
{
    struct duel *duel = &self->duel;
    const uint64_t most = duel->config->states_max != 0 ? duel->config->states_max : STATES_MAX;

    duel_begin (duel);
    (void)visit (self, duel_hash (duel));
    keep (self, 0, 0);
    for (descend (self); self->frontier_count[0] > 0; descend (self)) {
        for (uint64_t i = 0; i < self->frontier_count[0]; i++) {
            const unsigned char *block = self->frontier[0] + i * duel->block_size;

            memcpy (duel->state, block, duel->block_size);
            if (!expand (self, block, self->numbers[0][i], shows) || self->result->states >= most)
                return;
        }
        self->result->depth++;
    }
    self->result->is_complete = true;
}

static void set_options (struct duel *self)
{
    struct tied_replica_core_options *options = &self->options;

    tied_replica_core_options_init (options);
    options->incarnation = 1;
    options->workers = 1;
    options->queue_depth = 2;
    options->recent_max = 16;
    options->recent_ttl_ns = self->config->memory;
    options->clients_max = 1;
    options->peers_max = 1;
    options->client_silence_ns = TIED_NEVER;
    options->park_max = (self->config->flags & TIED_REQUEST_PARK) != 0;
    options->park_lease_ns = self->config->lease;
}

static void open_duel (struct duel *self, const struct duel_config *config)
{
    unsigned char *block;

    self->config = config;
    set_options (self);
    self->state_size = ti_align (sizeof (struct duel_state));
    self->core_size = tied_replica_core_size (&self->options);
    TI_ASSERT (self->core_size > 0);
    self->core_size = (self->core_size + 63) & ~(size_t)63;
    self->block_size = self->state_size + 2 * self->core_size;
    block = malloc (self->block_size);
    self->spare = malloc (self->core_size);
    TI_ASSERT (block != NULL && self->spare != NULL);
    self->state = (struct duel_state *)(void *)block;
    for (uint32_t r = 0; r < 2; r++)
        self->cores[r] =
            (tied_replica_core_t *)(void *)(block + self->state_size + r * self->core_size);
}

static void close_duel (struct duel *self)
{
    free (self->spare);
    free (self->state);
}

void duel_explore (const struct duel_config *config, struct duel_result *result, bool shows)
{
    struct search *self = calloc (1, sizeof *self);

    TI_ASSERT (self != NULL);
    memset (result, 0, sizeof *result);
    result->fewest_at_end = UINT32_MAX;
    self->result = result;
    open_duel (&self->duel, config);
    self->visited_mask = (UINT64_C (1) << 12) - 1;
    self->visited = calloc (self->visited_mask + 1, sizeof *self->visited);
    TI_ASSERT (self->visited != NULL);
    run (self, shows);
    free (self->visited);
    free (self->origins);
    for (int i = 0; i < 2; i++) {
        free (self->frontier[i]);
        free (self->numbers[i]);
    }
    close_duel (&self->duel);
    free (self);
}

static bool is_fault (int step)
{
    return (step >= STEP_REFUSE && step < STEP_TAKE) || step == STEP_GIVE_UP ||
           step >= STEP_RESTART;
}

/* One of the steps that are possible, a fault now and then; STEPS if there is none. */
static int choose (const struct duel *duel, struct ti_prng *prng)
{
    const bool may_fail = ti_prng_below_32 (prng, 8) == 0;
    uint32_t count = 0;
    int chosen = STEPS;

    for (int step = 0; step < STEPS; step++)
        if ((may_fail || !is_fault (step)) && duel_is_possible (duel, step) &&
            ti_prng_below_32 (prng, ++count) == 0)
            chosen = step;
    return chosen;
}

void duel_wander (const struct duel_config *config,
                  uint64_t seed,
                  uint64_t calls,
                  uint32_t steps,
                  struct duel_result *result)
{
    struct duel duel = {.config = config};
    uint8_t path[WALK_MAX];
    uint32_t length = 0;
    struct ti_prng prng;

    TI_ASSERT (steps <= WALK_MAX);
    memset (result, 0, sizeof *result);
    ti_prng_seed (&prng, seed);
    open_duel (&duel, config);
    for (; result->states < calls; result->states++) {
        length = 0;
        duel_begin (&duel);
        for (uint32_t i = 0; i < steps; i++) {
            const int step = choose (&duel, &prng);

            if (step == STEPS)
                break;
            path[length++] = (uint8_t)step;
            result->transitions++;
            duel_apply (&duel, step);
        }
        result->marks |= duel.state->marks;
        result->ends += duel.state->executions;
        if (duel.state->executions > config->executions_max) {
            (void)snprintf (result->violation, sizeof result->violation,
                            "call %llu of seed %llu: %u executions",
                            (unsigned long long)result->states, (unsigned long long)seed,
                            duel.state->executions);
            duel.prints = config->mutations == 0;
            duel_begin (&duel);
            for (uint32_t i = 0; i < length; i++)
                duel_apply (&duel, path[i]);
            break;
        }
    }
    result->is_complete = result->violation[0] == '\0';
    close_duel (&duel);
}
