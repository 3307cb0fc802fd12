/* SPDX-License-Identifier: MIT */
/*
 * Random worlds. Each seed draws a set of faults, then how strong they are, then a script of calls
 * and mishaps. Two phases: with faults, every rule of the ledger holds at every step; healed, every
 * call ends and every table empties. A failing seed is printed with the line that repeats it.
 */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/util.h"
#include "world.h"

#define SEEDS 4000

/* X (NAME, text) */
#define FAULT_MAP(X)                                                                               \
    X (LOSS, "loss")                                                                               \
    X (REPEAT, "repeat")                                                                           \
    X (REORDER, "reorder")                                                                         \
    X (CRASH, "crash")                                                                             \
    X (SILENT_CRASH, "silent-crash")                                                               \
    X (HIDDEN_RESTART, "hidden-restart")                                                           \
    X (PAUSE, "pause")                                                                             \
    X (CLOG, "clog")                                                                               \
    X (PARTITION, "partition")                                                                     \
    X (BREAK, "break")                                                                             \
    X (PIPE, "full-pipe")                                                                          \
    X (DRAIN, "drain")                                                                             \
    X (STRANGER, "stranger")                                                                       \
    X (SMALL_TABLES, "small-tables")                                                               \
    X (GIVE_UP, "give-up")

#define FAULT_ENUM(name, text) FAULT_##name,
enum fault {
    FAULT_MAP (FAULT_ENUM) FAULT_COUNT
};

struct swarm {
    uint64_t seed;
    struct ti_prng prng;
    struct world_options options;
    struct world *world;
    uint32_t faults;
    uint32_t calls;
    uint32_t submitted[NODE_CLIENTS_MAX];
    bool has_hedges;
    bool is_exclusive; /* every call is */
};

struct outcome {
    uint64_t hash;
    uint64_t marks[LEDGER_MARK_COUNT];
    uint64_t calls, starts;
    char violation[192];
};

static uint64_t seed_in_hand;

static const char *fault_text (enum fault fault)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {FAULT_MAP (TEXT)};
#undef TEXT
    return texts[fault];
}

static void print_repeat_line (uint64_t seed)
{
    (void)fprintf (stderr,
                   "seed %" PRIu64 " failed; to see it again:\n"
                   "  TIED_SWARM_SEED=%" PRIu64 " TIED_SWARM_TRACE=1 fault_swarm\n",
                   seed, seed);
}

static void on_assert (const char *expression, const char *file, int line)
{
    (void)fprintf (stderr, "assertion %s:%d: %s\n", file, line, expression);
    print_repeat_line (seed_in_hand);
}

static bool has (const struct swarm *self, enum fault fault)
{
    return (self->faults >> fault & 1) != 0;
}

static uint64_t below (struct swarm *self, uint64_t bound)
{
    return ti_prng_below (&self->prng, bound);
}

static uint64_t between (struct swarm *self, uint64_t low, uint64_t high)
{
    return ti_prng_between (&self->prng, low, high);
}

/*
 * A link that loses messages without breaking, which no transport of ours does, can leave a call
 * without a deadline waiting for good; such worlds give every call one.
 */
static bool needs_deadlines (const struct swarm *self)
{
    return has (self, FAULT_LOSS) || has (self, FAULT_REPEAT) || has (self, FAULT_REORDER) ||
           has (self, FAULT_PARTITION) || has (self, FAULT_STRANGER);
}

static void draw_options (struct swarm *self)
{
    struct world_options *options = &self->options;
    struct tied_replica_core_options *replica = &options->replica;
    struct tied_client_core_options *client = &options->client;

    world_options_init (options);
    options->seed = self->seed;
    options->clients = (uint32_t)between (self, 1, 3);
    options->replicas = (uint32_t)between (self, 2, 5);
    self->calls = (uint32_t)between (self, 1, 50);
    options->calls_per_client = self->calls;
    options->has_clock_offsets = true;
    options->has_strangers = has (self, FAULT_STRANGER);
    options->delay_low_ns = below (self, US (300));
    options->delay_high_ns =
        options->delay_low_ns + below (self, below (self, 2) ? US (50) : MS (2));
    options->peer_delay_low_ns = below (self, US (300));
    options->peer_delay_high_ns =
        options->peer_delay_low_ns + below (self, below (self, 2) ? US (50) : MS (2));
    options->service.kind = below (self, 2) ? TI_DIST_EXP : TI_DIST_FIXED;
    options->service.a_ns = between (self, US (50), MS (5));

    replica->workers = (uint32_t)between (self, 1, 3);
    replica->queue_depth = (uint32_t)1 << below (self, 7);
    replica->hedge_depth = (uint32_t)below (self, replica->queue_depth + 1);
    replica->hedge_lane = (uint32_t)below (self, 2);
    replica->recent_max = has (self, FAULT_SMALL_TABLES) ? 16 : 1024;
    replica->recent_ttl_ns = has (self, FAULT_SMALL_TABLES) ? MS (50) : S (2);
    replica->client_silence_ns = below (self, 2) ? TIED_NEVER : between (self, MS (200), S (2));
    client->copies_max = (uint32_t)between (self, 1, TIED_COPIES_MAX);
    client->pick = (uint32_t)below (self, 3);
    client->min_remaining_ns = below (self, 3) == 0 ? below (self, MS (5)) : 0;
    client->heartbeat_ns = between (self, MS (5), MS (60));
    client->heartbeat_misses = (uint32_t)between (self, 2, 4);
    client->first_sequence = 0;

    if (has (self, FAULT_LOSS)) {
        for (int type = 0; type < WORLD_TYPES; type++) {
            if (below (self, 2))
                options->loss_ppm[type] = (uint32_t)below (self, 300000);
        }
    }
    if (has (self, FAULT_REPEAT))
        options->repeat_ppm = (uint32_t)below (self, 300000);
    if (has (self, FAULT_REORDER))
        options->reorder_ppm = (uint32_t)below (self, 500000);
    if (has (self, FAULT_PIPE))
        options->pipe_max = (uint32_t)between (self, 1, 4);
}

/* Peers are trusted: a forged word of one could start an exclusive copy. */
static uint32_t draw_mode (struct swarm *self)
{
    const uint64_t draw = below (self, 10);

    if (self->is_exclusive)
        return TIED_MODE_EXCLUSIVE;
    if (draw == 0)
        return TIED_MODE_PARK;
    if (draw == 1 && !has (self, FAULT_STRANGER))
        return TIED_MODE_EXCLUSIVE;
    return draw < 4 ? TIED_MODE_SINGLE : TIED_MODE_TIED;
}

static void submit (struct swarm *self)
{
    const int client = (int)below (self, self->options.clients);
    tied_duration_t deadline = between (self, US (100), MS (200));
    tied_duration_t stagger = TIED_STAGGER_AUTO;
    tied_duration_t hedge = TIED_HEDGE_NONE;
    const uint32_t mode = draw_mode (self);
    const bool is_idempotent = below (self, 8) != 0;

    if (!needs_deadlines (self) && mode != TIED_MODE_EXCLUSIVE && below (self, 2))
        deadline = TIED_NEVER;
    if (below (self, 3) == 0)
        stagger = below (self, 2) ? 0 : below (self, MS (3));
    if (self->has_hedges && below (self, 3))
        hedge = below (self, 5) ? between (self, TIED_HEDGE_NOW, MS (20)) : TIED_HEDGE_NOW;
    (void)world_submit_hedged (self->world, client, mode, is_idempotent, deadline, stagger, hedge);
    self->submitted[client]++;
}

/* Something that nobody of this world has reason to send. */
static void inject (struct swarm *self)
{
    const int from_replica = (int)below (self, self->options.replicas);
    const int to_replica = (int)below (self, self->options.replicas);
    const int client = (int)below (self, self->options.clients);
    struct tied_message message = {0};
    unsigned char bytes[NODE_MESSAGE_MAX];
    int size;
    int from = NODE_REPLICA (from_replica);
    int to = NODE_REPLICA (to_replica);
    struct tied_call_id call = {LEDGER_EPOCH (client), below (self, self->calls + 2)};

    if (below (self, 2))
        call.epoch = below (self, 1000) + 1000;
    switch (below (self, 5)) {
    case 0:
        message.type = TIED_WIRE_STARTED;
        message.u.tie.call = call;
        message.u.tie.copy = (uint8_t)below (self, 3);
        break;
    case 1:
        message.type = TIED_WIRE_UNTIE;
        message.u.tie.call = call;
        message.u.tie.copy = (uint8_t)below (self, 3);
        break;
    case 2:
        message.type = TIED_WIRE_CANCEL;
        message.u.cancel.call = call;
        message.u.cancel.reason = (uint8_t)between (self, 1, 3);
        from = NODE_CLIENT (client);
        break;
    case 3:
        message.type = TIED_WIRE_REJECT;
        message.u.reject.call = (struct tied_call_id){7, call.sequence};
        message.u.reject.reason = TIED_REJECT_FULL;
        to = NODE_CLIENT (client);
        break;
    default:
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)below (self, 256);
        bytes[0] = (unsigned char)(0x90 + below (self, 16));
        if (below (self, 2))
            from = NODE_CLIENT (client);
        if (from != to)
            world_inject (self->world, from, to, bytes, between (self, 1, sizeof bytes));
        return;
    }
    size = tied_wire_encode (&message, bytes, sizeof bytes);
    TI_ASSERT (size > 0);
    if (from != to)
        world_inject (self->world, from, to, bytes, (size_t)size);
}

/* Two ends of some link. */
static void draw_link (struct swarm *self, int *a, int *b)
{
    *a = NODE_REPLICA ((int)below (self, self->options.replicas));
    do {
        *b = below (self, 2) ? NODE_CLIENT ((int)below (self, self->options.clients))
                             : NODE_REPLICA ((int)below (self, self->options.replicas));
    } while (*a == *b);
    if (below (self, 2)) {
        const int swap = *a;
        *a = *b;
        *b = swap;
    }
}

static void mishap (struct swarm *self)
{
    const tied_time_t now = world_now (self->world);
    const int replica = (int)below (self, self->options.replicas);
    const enum fault fault = (enum fault)below (self, FAULT_COUNT);
    int from, to;

    draw_link (self, &from, &to);
    if (!has (self, fault))
        return;
    switch (fault) {
    case FAULT_CRASH:
    case FAULT_SILENT_CRASH:
        if (world_is_alive (self->world, replica))
            world_crash (self->world, replica, fault == FAULT_SILENT_CRASH);
        else
            world_restart (self->world, replica);
        break;
    case FAULT_HIDDEN_RESTART:
        world_restart_hidden (self->world, replica);
        break;
    case FAULT_PAUSE:
        if (world_is_alive (self->world, replica))
            world_pause (self->world, replica, now + below (self, MS (300)));
        break;
    case FAULT_CLOG:
        world_clog (self->world, from, to, now + below (self, MS (100)));
        break;
    case FAULT_PARTITION:
        world_partition (self->world, from, to, below (self, 2) != 0);
        break;
    case FAULT_BREAK:
        world_break (self->world, from, to, below (self, MS (50)));
        break;
    case FAULT_DRAIN:
        if (below (self, 4) == 0)
            world_drain (self->world, replica);
        break;
    case FAULT_STRANGER:
        inject (self);
        break;
    case FAULT_GIVE_UP: {
        const int client = (int)below (self, self->options.clients);
        if (self->submitted[client] > 0)
            world_give_up (self->world, client, below (self, self->submitted[client]));
        break;
    }
    case FAULT_LOSS:
    case FAULT_REPEAT:
    case FAULT_REORDER:
    case FAULT_PIPE:
    case FAULT_SMALL_TABLES:
    case FAULT_COUNT:
        break;
    }
}

/* Nothing was lost and nothing crashed: the books of the replicas balance against the ledger's. */
static void check_calm_books (struct swarm *self)
{
    struct ledger *ledger = world_ledger (self->world);
    const struct tied_replica_counters sum = world_counters (self->world);
    const struct tied_call_id nobody = {LEDGER_EPOCH (0), 0};

    if (sum.started_unsent != 0 || sum.started_sent != sum.started_received)
        ledger_violate (ledger, "calm, and a STARTED did not arrive", nobody);
    /* A hedge tells nobody that it has started. */
    if (self->has_hedges ? sum.started_late > 2 * ledger->duplicates
                         : sum.started_late != 2 * ledger->duplicates)
        ledger_violate (ledger, "cancels too late are not twice the duplicates", nobody);
    if (sum.executed != ledger->starts || sum.finished != sum.executed)
        ledger_violate (ledger, "executions do not balance", nobody);
}

static void run_world (struct swarm *self)
{
    struct ledger *ledger = world_ledger (self->world);
    const tied_duration_t spread = between (self, MS (5), MS (400));
    tied_time_t next = WORLD_START + MS (5);
    uint32_t left = self->calls;

    world_run_until (self->world, next);
    while (left > 0 && ledger->violation[0] == '\0') {
        next += below (self, 2 * spread / (2 * self->calls) + 1);
        world_run_until (self->world, next);
        if (self->faults != 0 && below (self, 2)) {
            mishap (self);
        } else {
            submit (self);
            left--;
        }
    }
    world_run_until (self->world, world_now (self->world) + below (self, MS (20)));
    world_settle (self->world);
    if (!world_run_idle (self->world, world_now (self->world) + S (120)) &&
        ledger->violation[0] == '\0')
        ledger_violate (ledger, "healed, and after two minutes calls or copies are still there",
                        (struct tied_call_id){LEDGER_EPOCH (0), 0});
    ledger_end (ledger, self->faults == 0);
    if (ledger->violation[0] == '\0')
        world_check_empty (self->world);
    if (self->faults == 0)
        check_calm_books (self);
}

static void swarm_run (uint64_t seed, bool is_exclusive, FILE *transcript, struct outcome *outcome)
{
    struct swarm self = {0};
    const struct ledger *ledger;

    seed_in_hand = seed;
    self.seed = seed;
    ti_prng_seed (&self.prng, seed);
    /* Few faults at a time, sometimes none: many at once hide each other. */
    for (uint64_t n = below (&self, 5); n > 0; n--)
        self.faults |= UINT32_C (1) << below (&self, FAULT_COUNT);
    self.is_exclusive = is_exclusive;
    if (is_exclusive) /* peers are trusted, see draw_mode () */
        self.faults &= ~(UINT32_C (1) << FAULT_STRANGER);
    draw_options (&self);
    self.has_hedges = below (&self, 2) != 0;
    self.options.transcript = transcript;
    if (transcript != NULL) {
        for (int i = 0; i < FAULT_COUNT; i++) {
            if (has (&self, (enum fault)i))
                (void)fprintf (transcript, "%s ", fault_text ((enum fault)i));
        }
        (void)fprintf (transcript,
                       "| %u clients %u replicas %u workers queue %u hedge %u copies %u\n",
                       self.options.clients, self.options.replicas, self.options.replica.workers,
                       self.options.replica.queue_depth, self.options.replica.hedge_depth,
                       self.options.client.copies_max);
    }
    self.world = world_new (&self.options);
    run_world (&self);
    ledger = world_ledger (self.world);
    outcome->hash = world_hash (self.world);
    outcome->calls += ledger->completed;
    outcome->starts += ledger->starts;
    memcpy (outcome->violation, ledger->violation, sizeof outcome->violation);
    for (int i = 0; i < LEDGER_MARK_COUNT; i++)
        outcome->marks[i] += ledger->marks[i];
    world_free (self.world);
}

static void random_worlds_keep_every_rule (void **state)
{
    const char *wish = getenv ("TIED_SWARM_SEED");
    const char *traces = getenv ("TIED_SWARM_TRACE");
    const uint64_t seeds = wish != NULL ? 1 : check_scale (SEEDS);
    const uint64_t first = wish != NULL ? strtoull (wish, NULL, 10) : 1;
    struct outcome sum = {0};
    (void)state;

    ti_assert_handler = on_assert;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        swarm_run (seed, false, wish != NULL && traces != NULL ? stderr : NULL, &sum);
        if (sum.violation[0] != '\0') {
            print_repeat_line (seed);
            CHECK_STR (sum.violation, "");
        }
    }
    print_message ("%" PRIu64 " worlds, %" PRIu64 " calls, %" PRIu64 " executions\n", seeds,
                   sum.calls, sum.starts);
    for (int i = 0; i < LEDGER_MARK_COUNT && seeds >= SEEDS; i++) {
        if (sum.marks[i] == 0)
            print_error ("never reached: %s\n", ledger_mark_text ((enum ledger_mark)i));
        CHECK_U64 (sum.marks[i], >, 0);
    }
}

/* Loss, repetition, reordering, crash and restart, whatever comes: the ledger counts the starts. */
static void a_hundred_thousand_exclusive_calls_never_run_twice (void **state)
{
    const uint64_t calls = check_scale (100000);
    struct outcome sum = {0};
    const char *wish = getenv ("TIED_SWARM_EXCLUSIVE_SEED");
    uint64_t seed = wish != NULL ? strtoull (wish, NULL, 10) - 1 : 0;
    (void)state;

    ti_assert_handler = on_assert;
    while (sum.calls < calls) {
        swarm_run (++seed, true, wish != NULL ? stderr : NULL, &sum);
        if (sum.violation[0] != '\0') {
            (void)fprintf (stderr,
                           "seed %" PRIu64 " failed; to see it again:\n"
                           "  TIED_SWARM_EXCLUSIVE_SEED=%" PRIu64 " fault_swarm\n",
                           seed, seed);
            CHECK_STR (sum.violation, "");
        }
    }
    print_message ("%" PRIu64 " worlds, %" PRIu64 " exclusive calls, %" PRIu64 " executions\n",
                   seed, sum.calls, sum.starts);
    CHECK_U64 (sum.starts, <=, sum.calls);
    /* And they do run, unless their replicas are away. */
    CHECK_U64 (sum.starts, >, sum.calls / 2);
}

static void the_same_seed_gives_the_same_trace (void **state)
{
    const uint64_t seeds = check_scale (200);
    uint64_t all = 0;
    (void)state;

    ti_assert_handler = on_assert;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct outcome first = {0};
        struct outcome second = {0};
        swarm_run (seed, false, NULL, &first);
        swarm_run (seed, false, NULL, &second);
        if (first.hash != second.hash)
            print_repeat_line (seed);
        CHECK_U64 (first.hash, ==, second.hash);
        all = ti_mix (all ^ first.hash);
    }
    /* The same on every compiler and level of optimisation; it changes with the cores. */
    print_message ("%" PRIu64 " worlds, trace hash %016" PRIx64 "\n", seeds, all);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (random_worlds_keep_every_rule),
        cmocka_unit_test (a_hundred_thousand_exclusive_calls_never_run_twice),
        cmocka_unit_test (the_same_seed_gives_the_same_trace),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
