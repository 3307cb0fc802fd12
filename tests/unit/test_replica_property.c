/* SPDX-License-Identifier: MIT */
/*
 * The replica core against tests/support/replica_model.c: random worlds, random events, every
 * action, counter, load and deadline compared after every step. And snapshots: a copy of the block
 * must behave as the original does.
 */
#include "check.h"
#include "replica_model.h"
#include "replica_script.h"

#define ROUNDS 400
#define STEPS  1000

static uint32_t draw (void *context, uint32_t n)
{
    uint64_t *state = context;
    uint64_t x = *state += UINT64_C (0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C (0x94d049bb133111eb);
    return (uint32_t)(((x ^ (x >> 31)) >> 32) * n >> 32);
}

struct subject {
    struct tied_replica_core_options options;
    struct script script;
    uint64_t random;
    tied_replica_core_t *core;
    size_t size;
    tied_time_t now;
    struct tied_replica_action actions[MODEL_ACTIONS_MAX];
    uint32_t count;
};

static void open_subject (struct subject *self, uint64_t seed)
{
    memset (self, 0, sizeof *self);
    self->random = seed;
    self->script.choose = draw;
    self->script.context = &self->random;
    script_options (&self->script, &self->options);
    self->size = tied_replica_core_size (&self->options);
    self->core = tied_replica_core_init (malloc (self->size), self->size, &self->options);
    CHECK_TRUE (self->core != NULL);
    self->now = S (1000);
}

static int feed (struct subject *self, const struct tied_replica_event *event)
{
    const struct tied_replica_action *action;
    int rc = tied_replica_core_step (self->core, event, self->now);

    self->count = 0;
    while ((action = tied_replica_core_next (self->core))) {
        self->actions[self->count++] = *action;
        script_see (&self->script, action);
    }
    return rc;
}

/* Time moves by chance, or to the deadline. */
static struct tied_replica_event next_event (struct subject *self)
{
    tied_time_t deadline = tied_replica_core_deadline (self->core);
    struct tied_replica_event event;

    if (deadline != TIED_NEVER && script_choose (&self->script, 16) == 0) {
        memset (&event, 0, sizeof event);
        event.type = TIED_REPLICA_EV_TIMEOUT;
        self->now = deadline;
        return event;
    }
    self->now += script_pause (&self->script);
    return script_event (&self->script, self->now);
}

static void check_action (const struct tied_replica_action *a, const struct tied_replica_action *b)
{
    CHECK_U64 (a->type, ==, b->type);
    CHECK_U64 (a->slot, ==, b->slot);
    CHECK_U64 (a->client, ==, b->client);
    CHECK_U64 (a->peer, ==, b->peer);
    CHECK_U64 (a->call.epoch, ==, b->call.epoch);
    CHECK_U64 (a->call.sequence, ==, b->call.sequence);
    CHECK_U64 (a->copy, ==, b->copy);
    CHECK_U64 (a->reason, ==, b->reason);
    CHECK_U64 (a->flags, ==, b->flags);
    CHECK_U64 (a->queue_ns, ==, b->queue_ns);
    CHECK_U64 (a->service_ns, ==, b->service_ns);
    CHECK_U64 (a->remaining_ns, ==, b->remaining_ns);
    CHECK_U64 (a->load.depth, ==, b->load.depth);
    CHECK_U64 (a->load.running, ==, b->load.running);
    CHECK_U64 (a->load.wait_us, ==, b->load.wait_us);
    CHECK_U64 (a->age_ns, ==, b->age_ns);
    CHECK_U64 (a->incarnation, ==, b->incarnation);
}

static void check_counters (const struct tied_replica_counters *a,
                            const struct tied_replica_counters *b)
{
#define COMPARE(name) CHECK_U64 (a->name, ==, b->name);
    TIED_REPLICA_COUNTER_MAP (COMPARE)
#undef COMPARE
}

static void compare_step (struct subject *self, struct model *model)
{
    struct tied_replica_event event = next_event (self);
    uint32_t i;

    if (feed (self, &event) != 0) {
        CHECK_U64 (event.type, ==, TIED_REPLICA_EV_FINISH);
        return;
    }
    model_step (model, &event, self->now, self->count > 0 ? self->actions[0].slot : 0);
    CHECK_U64 (self->count, ==, model->actions_count);
    for (i = 0; i < self->count; i++)
        check_action (&self->actions[i], &model->actions[i]);
    check_counters (tied_replica_core_counters (self->core), &model->counters);
    CHECK_U64 (tied_replica_core_deadline (self->core), ==, model_deadline (model));
    CHECK_U64 (tied_replica_core_load (self->core).depth, ==, model_depth (model));
    CHECK_U64 (tied_replica_core_load (self->core).running, ==, model_running (model));
    tied_replica_core_check (self->core);
}

static void add_counters (struct tied_replica_counters *sum,
                          const struct tied_replica_counters *part)
{
#define ADD(name) sum->name += part->name;
    TIED_REPLICA_COUNTER_MAP (ADD)
#undef ADD
}

/* A run that never reached a path proves nothing about it. */
static void every_path_was_taken (const struct tied_replica_counters *sum)
{
#define REACHED(name)                                                                              \
    if (strcmp (#name, "clients_full") != 0)                                                       \
        CHECK_U64 (sum->name, >, 20);
    TIED_REPLICA_COUNTER_MAP (REACHED)
#undef REACHED
}

static void core_does_what_the_naive_model_does (void **state)
{
    struct tied_replica_counters sum;
    struct subject subject;
    struct model model;
    uint64_t seed;
    int step;

    (void)state;
    memset (&sum, 0, sizeof sum);
    for (seed = 1; seed <= ROUNDS; seed++) {
        open_subject (&subject, seed);
        model_init (&model, &subject.options);
        for (step = 0; step < STEPS; step++)
            compare_step (&subject, &model);
        add_counters (&sum, tied_replica_core_counters (subject.core));
        free (subject.core);
    }
    every_path_was_taken (&sum);
}

static void snapshot_by_memcpy_behaves_as_the_original (void **state)
{
    struct subject subject;
    struct subject other;
    uint64_t seed;
    int step;

    (void)state;
    for (seed = 1001; seed <= 1040; seed++) {
        open_subject (&subject, seed);
        for (step = 0; step < 300; step++) {
            struct tied_replica_event event = next_event (&subject);

            (void)feed (&subject, &event);
        }
        other = subject;
        other.core = memcpy (malloc (subject.size), subject.core, subject.size);
        for (step = 0; step < 300; step++) {
            struct tied_replica_event event = next_event (&subject);
            uint32_t i;

            other.now = subject.now;
            CHECK_I64 (feed (&subject, &event), ==, feed (&other, &event));
            CHECK_U64 (subject.count, ==, other.count);
            for (i = 0; i < subject.count; i++)
                check_action (&subject.actions[i], &other.actions[i]);
            CHECK_U64 (tied_replica_core_hash (subject.core), ==,
                       tied_replica_core_hash (other.core));
        }
        check_counters (tied_replica_core_counters (subject.core),
                        tied_replica_core_counters (other.core));
        free (subject.core);
        free (other.core);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (core_does_what_the_naive_model_does),
        cmocka_unit_test (snapshot_by_memcpy_behaves_as_the_original),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
