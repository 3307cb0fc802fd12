/* SPDX-License-Identifier: MIT */
/*
 * The replica core alone, as a driver would step it: a copy that arrives, starts (telling its
 * sibling) and finishes; and the removal of queued copies by a peer's STARTED and by a client's
 * CANCEL, in random order, from a long queue and from a short one.
 */
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "base/prng.h"
#include "measure.h"
#include "zmq/clock.h"

#include <tied/replica_core.h>
#include <tied/wire.h>

#define PEER      0
#define ROUND     1000 /* copies between two looks at the clock */
#define LONG      100000
#define SHORT     10
#define LONG_STEP 500 /* removed between two fillings of the long queue */

struct bench {
    tied_replica_core_t *core;
    tied_time_t now;
    uint64_t sequence;
    uint64_t actions;
    struct ti_prng prng;
    uint32_t *waiting; /* sequences of the queued copies, a ring of LONG from head */
    uint32_t head;
    uint32_t length;
};

static uint32_t *waiting_at (struct bench *self, uint32_t i)
{
    uint32_t at = self->head + i;

    return &self->waiting[at < LONG ? at : at - LONG];
}

static void step (struct bench *self, const struct tied_replica_event *event)
{
    if (tied_replica_core_step (self->core, event, self->now) != 0)
        bench_fail ("the core refused an event");
}

/* Take all actions; the slot of the last that named one. */
static uint32_t take_actions (struct bench *self)
{
    const struct tied_replica_action *action;
    uint32_t slot = UINT32_MAX;

    while ((action = tied_replica_core_next (self->core)) != NULL) {
        self->actions++;
        if (action->type == TIED_REPLICA_ACT_RUN)
            slot = action->slot;
    }
    return slot;
}

static struct tied_call_id call_id (uint64_t sequence)
{
    return (struct tied_call_id){.epoch = UINT64_C (0x9c1f3a77d20be645), .sequence = sequence};
}

static void arrive (struct bench *self)
{
    struct tied_replica_event event = {
        .type = TIED_REPLICA_EV_REQUEST,
        .u.request = {.client = 0,
                      .call = call_id (self->sequence++),
                      .flags = TIED_REQUEST_IDEMPOTENT | TIED_REQUEST_TIED,
                      .remaining_ns = TIED_S (100),
                      .sent_us = self->now / 1000,
                      .sibling = PEER,
                      .sibling_named = true}};

    self->now += 100;
    step (self, &event);
    (void)take_actions (self);
}

static void start_and_finish (struct bench *self)
{
    static const struct tied_replica_event take = {.type = TIED_REPLICA_EV_TAKE, .u = {{0}}};
    struct tied_replica_event finish = {.type = TIED_REPLICA_EV_FINISH, .u = {{0}}};

    self->now += 100;
    step (self, &take);
    finish.u.finish.slot = take_actions (self);
    self->now += 100;
    step (self, &finish);
    (void)take_actions (self);
}

static void open_core (struct bench *self, uint32_t queue_depth)
{
    struct tied_replica_core_options options;
    struct tied_replica_event up = {.type = TIED_REPLICA_EV_PEER_UP, .u = {{0}}};
    size_t size;
    void *memory;

    *self = (struct bench){.now = TIED_S (1)};
    tied_replica_core_options_init (&options);
    options.incarnation = 1;
    options.workers = 1;
    options.queue_depth = queue_depth;
    options.client_silence_ns = TIED_NEVER;
    size = tied_replica_core_size (&options);
    memory = malloc (size);
    if (!memory)
        bench_fail ("no memory for a core");
    self->core = tied_replica_core_init (memory, size, &options);
    self->waiting = calloc (queue_depth, sizeof *self->waiting);
    ti_prng_seed (&self->prng, 1);
    up.u.peer.peer = PEER;
    step (self, &up);
    (void)take_actions (self);
}

static void close_core (struct bench *self)
{
    tied_replica_core_check (self->core);
    free (self->core);
    free (self->waiting);
}

/* Rounds are short against the scheduler's slices: the median is free of what other programs took.
 */
static void report (const char *name, struct bench_samples *rounds, uint64_t allocations)
{
    bench_line_begin (name);
    bench_line_number ("ns", bench_samples_at (rounds, 0.5) / 1000);
    bench_line_number ("p10_ns", bench_samples_at (rounds, 0.1) / 1000);
    bench_line_number ("p90_ns", bench_samples_at (rounds, 0.9) / 1000);
    bench_line_number ("rounds", (double)rounds->count);
    bench_line_number ("allocations", (double)allocations);
    bench_line_end ();
}

static void one_copy (uint64_t copies)
{
    struct bench bench;
    struct bench_samples rounds;
    uint64_t count = copies / ROUND;

    open_core (&bench, 1024);
    bench_samples_init (&rounds, count);
    uint64_t allocations = bench_allocations ();
    for (uint64_t round = 0; round < count + count / 4; round++) {
        tied_time_t before = ti_clock_now ();
        for (int i = 0; i < ROUND; i++) {
            arrive (&bench);
            start_and_finish (&bench);
        }
        if (round >= count / 4) /* the first ones warm up */
            bench_samples_add (&rounds, (ti_clock_now () - before) * 1000 / ROUND);
    }
    report ("core_copy", &rounds, bench_allocations () - allocations);
    bench_samples_free (&rounds);
    close_core (&bench);
}

static void fill (struct bench *self, uint32_t length)
{
    while (self->length < length) {
        *waiting_at (self, self->length++) = (uint32_t)self->sequence;
        arrive (self);
    }
}

/* Victims at random are taken from the end: draw the next ones from the whole queue. */
static void shuffle_tail (struct bench *self, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *last = waiting_at (self, self->length - 1 - i);
        uint32_t *chosen =
            waiting_at (self, (uint32_t)ti_prng_below (&self->prng, self->length - i));
        uint32_t kept = *last;
        *last = *chosen;
        *chosen = kept;
    }
}

static uint64_t next_victim (struct bench *self, bool in_order)
{
    uint64_t sequence = *waiting_at (self, in_order ? 0 : self->length - 1);

    if (in_order)
        self->head = self->head + 1 < LONG ? self->head + 1 : 0;
    self->length--;
    return sequence;
}

static tied_duration_t cost_of_clock (void)
{
    tied_duration_t least = UINT64_MAX;

    for (int i = 0; i < 1000; i++) {
        tied_time_t before = ti_clock_now ();
        tied_duration_t cost = ti_clock_now () - before;
        if (cost < least)
            least = cost;
    }
    return least;
}

static void remove_one (struct bench *self, struct tied_call_id call, bool by_peer)
{
    struct tied_replica_event event = {.type = TIED_REPLICA_EV_STARTED, .u = {{0}}};

    self->now += 100;
    if (by_peer) {
        event.u.tie.peer = PEER;
        event.u.tie.call = call;
        event.u.tie.copy = 1;
    } else {
        event.type = TIED_REPLICA_EV_CANCEL;
        event.u.cancel.call = call;
        event.u.cancel.reason = TIED_CANCEL_CALLER;
    }
    step (self, &event);
    (void)take_actions (self);
}

struct removal {
    const char *name;
    uint32_t length;  /* of the queue */
    bool by_peer;     /* STARTED; else CANCEL */
    bool in_order;    /* the oldest first, as a sibling starts them; else at random */
    bool is_expected; /* the core is told of each group before, as by a driver that has received it
                       */
};

/* Tell the core of the next victims. */
static void expect (struct bench *self, bool in_order, uint32_t count)
{
    struct tied_call_id calls[TIED_REPLICA_EXPECT_MAX];

    if (count > TIED_REPLICA_EXPECT_MAX)
        count = TIED_REPLICA_EXPECT_MAX;
    for (uint32_t i = 0; i < count; i++)
        calls[i] = call_id (*waiting_at (self, in_order ? i : self->length - 1 - i));
    tied_replica_core_expect (self->core, calls, count);
}

static void removal (const struct removal *how, uint64_t count)
{
    struct bench bench;
    struct bench_samples rounds;
    uint32_t per_round = how->length < LONG_STEP ? how->length : LONG_STEP;
    tied_duration_t clock_cost = cost_of_clock ();

    open_core (&bench, LONG);
    bench_samples_init (&rounds, count);
    uint64_t allocations = bench_allocations ();
    for (uint64_t round = 0; round < count; round++) {
        fill (&bench, how->length);
        if (!how->in_order)
            shuffle_tail (&bench, per_round);
        tied_time_t before = ti_clock_now ();
        for (uint32_t i = 0; i < per_round; i++) {
            if (how->is_expected && i % TIED_REPLICA_EXPECT_MAX == 0)
                expect (&bench, how->in_order, per_round - i);
            remove_one (&bench, call_id (next_victim (&bench, how->in_order)), how->by_peer);
        }
        bench_samples_add (&rounds, (ti_clock_now () - before - clock_cost) * 1000 / per_round);
    }
    report (how->name, &rounds, bench_allocations () - allocations);
    if (tied_replica_core_counters (bench.core)->dropped != count * per_round)
        bench_fail ("not every removal removed a copy");
    bench_samples_free (&rounds);
    close_core (&bench);
}

/* The measure for a removal from a long queue: one read that depends on the read before, at random
   over as much memory as the core takes. */
static void chase (uint64_t count)
{
    struct tied_replica_core_options options;
    struct bench_samples rounds;
    struct ti_prng prng;
    uint32_t (*lines)[16];
    uint32_t *order;
    uint32_t at = 0;
    size_t number;

    tied_replica_core_options_init (&options);
    options.incarnation = 1;
    options.queue_depth = LONG;
    number = tied_replica_core_size (&options) / sizeof *lines;
    lines = calloc (number, sizeof *lines);
    order = calloc (number, sizeof *order);
    if (!lines || !order)
        bench_fail ("no memory");
    ti_prng_seed (&prng, 1);
    for (uint32_t i = 0; i < number; i++) {
        uint32_t other = (uint32_t)ti_prng_below (&prng, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < number; i++)
        lines[order[i]][0] = order[(i + 1) % number];
    bench_samples_init (&rounds, count / LONG_STEP);
    for (uint64_t round = 0; round < count / LONG_STEP; round++) {
        tied_time_t before = ti_clock_now ();
        for (int i = 0; i < LONG_STEP; i++)
            at = lines[at][0];
        bench_samples_add (&rounds, (ti_clock_now () - before) * 1000 / LONG_STEP);
    }
    if (at >= number)
        bench_fail ("chase");
    report ("core_memory_read", &rounds, 0);
    bench_samples_free (&rounds);
    free (order);
    free (lines);
}

int main (int argc, char **argv)
{
    static const struct removal removals[] = {{"core_started_of_long", LONG, true, false, false},
                                              {"core_started_of_short", SHORT, true, false, false},
                                              {"core_started_in_order", LONG, true, true, false},
                                              {"core_cancel_of_long", LONG, false, false, false},
                                              {"core_cancel_of_short", SHORT, false, false, false},
                                              {"core_expected_of_long", LONG, true, false, true},
                                              {"core_expected_of_short", SHORT, true, false, true},
                                              {"core_expected_in_order", LONG, true, true, true}};
    double copies = 3000000;
    double removed = 400000;
    const struct bench_arg args[] = {{"--copies", &copies, "copies served"},
                                     {"--removals", &removed, "copies removed"},
                                     {NULL, NULL, NULL}};

    bench_args (argc, argv, args);
    one_copy ((uint64_t)copies);
    for (size_t i = 0; i < sizeof removals / sizeof removals[0]; i++) {
        uint32_t per_round = removals[i].length < LONG_STEP ? removals[i].length : LONG_STEP;
        removal (&removals[i], (uint64_t)removed / per_round);
    }
    chase ((uint64_t)removed);
    return 0;
}
