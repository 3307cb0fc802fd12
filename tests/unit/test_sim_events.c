/* SPDX-License-Identifier: MIT */
/* The simulator's queue of events against a naive list. */
#include "check.h"

#include "base/prng.h"
#include "engine/events.h"

#define MODEL_MAX 4096

struct model_event {
    tied_time_t at;
    uint64_t order; /* of scheduling */
    int lane;
    uint16_t size;
    bool is_taken;
};

struct model {
    struct model_event events[MODEL_MAX];
    uint64_t count;
};

static void fill (unsigned char *bytes, uint64_t order, uint16_t size)
{
    for (uint16_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(order * 7 + i);
}

static void
put (struct sim_events *events, struct model *model, tied_time_t at, int lane, uint16_t size)
{
    unsigned char bytes[SIM_EVENT_BYTES_MAX];
    const struct sim_event event = {.at = at,
                                    .kind = 3,
                                    .a = (uint32_t)model->count,
                                    .b = ~(uint32_t)model->count,
                                    .value = model->count << 33,
                                    .size = size,
                                    .bytes = bytes};

    fill (bytes, model->count, size);
    model->events[model->count] = (struct model_event){at, model->count, lane, size, false};
    model->count++;
    sim_events_put (events, lane, &event);
}

/* The first of those that are left; UINT64_MAX: none. */
static uint64_t first (const struct model *model)
{
    uint64_t best = UINT64_MAX;

    for (uint64_t i = 0; i < model->count; i++)
        if (!model->events[i].is_taken &&
            (best == UINT64_MAX || model->events[i].at < model->events[best].at))
            best = i;
    return best;
}

static void take (struct sim_events *events, struct model *model)
{
    unsigned char bytes[SIM_EVENT_BYTES_MAX];
    const uint64_t want = first (model);
    struct sim_event event;
    uint32_t kind, a, b;

    if (want == UINT64_MAX) {
        CHECK_FALSE (sim_events_peek (events, &kind, &a, &b));
        CHECK_U64 (sim_events_time (events), ==, TIED_NEVER);
        CHECK_FALSE (sim_events_take (events, &event));
        return;
    }
    CHECK_U64 (sim_events_time (events), ==, model->events[want].at);
    CHECK_TRUE (sim_events_peek (events, &kind, &a, &b));
    CHECK_U64 (kind, ==, 3);
    CHECK_U64 (a, ==, want);
    CHECK_TRUE (sim_events_take (events, &event));
    CHECK_U64 (event.a, ==, want);
    CHECK_U64 (event.at, ==, model->events[want].at);
    CHECK_U64 (event.b, ==, ~(uint32_t)want);
    CHECK_U64 (event.value, ==, want << 33);
    CHECK_U64 (event.kind, ==, 3);
    CHECK_U64 (event.size, ==, model->events[want].size);
    fill (bytes, want, event.size);
    if (event.size > 0)
        CHECK_MEM (event.bytes, bytes, event.size);
    model->events[want].is_taken = true;
}

/* Random puts and takes; lanes of constant delay, so that they never fall. */
static void lanes_and_heap_give_the_order_of_a_sorted_list (void **state)
{
    struct sim_events *events = sim_events_new (0);
    struct model *model = calloc (1, sizeof *model);
    struct ti_prng prng;
    tied_time_t now = 0;
    const tied_duration_t delays[3] = {0, 50, 1000};
    int lanes[3];

    (void)state;
    ti_prng_seed (&prng, 1);
    for (int i = 0; i < 3; i++)
        lanes[i] = sim_events_add_lane (events);
    while (model->count < MODEL_MAX) {
        const uint64_t what = ti_prng_below (&prng, 9);
        const uint16_t size = (uint16_t)(ti_prng_below (&prng, 3) == 0
                                             ? 0
                                             : ti_prng_between (&prng, 1, SIM_EVENT_BYTES_MAX));

        if (what < 3)
            put (events, model, now + delays[what], lanes[what], size);
        else if (what < 5)
            put (events, model, now + ti_prng_below (&prng, 2000), -1, size);
        else if (first (model) != UINT64_MAX) {
            now = model->events[first (model)].at;
            take (events, model);
        }
    }
    while (sim_events_count (events) > 0)
        take (events, model);
    take (events, model);
    free (model);
    sim_events_free (events);
}

/* Many under way, so that rings and heap grow while they are in use. */
static void a_growing_ring_keeps_what_it_holds (void **state)
{
    struct sim_events *events = sim_events_new (0);
    struct model *model = calloc (1, sizeof *model);
    const int lane = sim_events_add_lane (events);

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        put (events, model, i, lane, (uint16_t)(i % (SIM_EVENT_BYTES_MAX + 1)));
        put (events, model, 2000 - i, -1, (uint16_t)(i % 100));
        if (i % 3 == 0)
            take (events, model);
    }
    CHECK_U64 (sim_events_bytes (events), >, 50000);
    while (sim_events_count (events) > 0)
        take (events, model);
    free (model);
    sim_events_free (events);
}

static void there_are_so_many_lanes_and_no_more (void **state)
{
    struct sim_events *events = sim_events_new (0);

    (void)state;
    for (int i = 0; i < SIM_LANES_MAX; i++)
        CHECK_I64 (sim_events_add_lane (events), ==, i);
    CHECK_I64 (sim_events_add_lane (events), ==, -1);
    sim_events_free (events);
}

/* Order in which 8 events of one time leave, as a number; some in a lane, which keeps theirs. */
static uint64_t order_of (uint64_t seed, bool uses_lane)
{
    struct sim_events *events = sim_events_new (seed);
    const int lane = sim_events_add_lane (events);
    struct sim_event event = {.at = 5, .kind = 1};
    uint64_t order = 0;
    uint32_t in_lane = 0;

    for (event.a = 0; event.a < 8; event.a++)
        sim_events_put (events, uses_lane && event.a % 2 == 0 ? lane : -1, &event);
    event.at = 4;
    event.a = 9;
    sim_events_put (events, -1, &event);
    CHECK_TRUE (sim_events_take (events, &event));
    CHECK_U64 (event.a, ==, 9); /* an earlier time stays earlier */
    while (sim_events_take (events, &event)) {
        order = order << 4 | event.a;
        if (uses_lane && event.a % 2 == 0) {
            CHECK_U64 (event.a, >=, in_lane);
            in_lane = event.a;
        }
    }
    sim_events_free (events);
    return order;
}

static void a_shuffle_changes_the_order_of_equal_times_by_its_seed_alone (void **state)
{
    (void)state;
    CHECK_U64 (order_of (0, false), ==, 0x01234567);
    CHECK_U64 (order_of (7, false), !=, 0x01234567);
    CHECK_U64 (order_of (7, false), ==, order_of (7, false));
    CHECK_U64 (order_of (7, false), !=, order_of (8, false));
    CHECK_U64 (order_of (7, true), ==, order_of (7, true));
    CHECK_U64 (order_of (7, true), !=, order_of (9, true));
}

/* A timer has its latest time alone, and equal times leave in the order in which they were set. */
static void play_timers (uint32_t few)
{
    enum {
        TIMERS = 37
    };
    struct sim_events *events = sim_events_new (0);
    tied_time_t at[TIMERS];
    uint64_t order[TIMERS];
    struct ti_prng prng;
    struct sim_event event;
    uint64_t next = 0;
    tied_time_t now = 0;

    ti_prng_seed (&prng, 3);
    CHECK_TRUE (sim_events_add_timers (events, few, TIMERS));
    for (int i = 0; i < TIMERS; i++)
        at[i] = TIED_NEVER;
    for (int round = 0; round < 5000; round++) {
        const uint32_t timer = (uint32_t)ti_prng_below (&prng, TIMERS);
        uint32_t want = 0;

        if (round % 3 != 0) {
            at[timer] = round % 7 == 0 ? TIED_NEVER : now + ti_prng_below (&prng, 20);
            order[timer] = next++;
            sim_events_set_timer (events, timer, at[timer]);
            CHECK_U64 (sim_events_timer (events, timer), ==, at[timer]);
            continue;
        }
        for (uint32_t i = 1; i < TIMERS; i++)
            if (at[i] < at[want] ||
                (at[i] == at[want] && at[i] != TIED_NEVER && order[i] < order[want]))
                want = i;
        CHECK_U64 (sim_events_time (events), ==, at[want]);
        CHECK_TRUE (sim_events_take (events, &event) == (at[want] != TIED_NEVER));
        if (at[want] == TIED_NEVER)
            continue;
        CHECK_U64 (event.kind, ==, SIM_EVENT_TIMER);
        CHECK_U64 (event.a, ==, want);
        now = at[want];
        at[want] = TIED_NEVER;
    }
    sim_events_free (events);
}

static void timers_leave_in_order_and_only_at_their_latest_time (void **state)
{
    (void)state;
    play_timers (0);
    play_timers (1);
    play_timers (5);
    play_timers (36);
    play_timers (37);
}

static void what_comes_at_or_after_a_limit_stays (void **state)
{
    struct sim_events *events = sim_events_new (0);
    struct sim_event event = {.at = 10, .kind = 1};

    (void)state;
    sim_events_put (events, -1, &event);
    CHECK_FALSE (sim_events_take_before (events, 10, &event));
    CHECK_U64 (sim_events_count (events), ==, 1);
    CHECK_TRUE (sim_events_take_before (events, 11, &event));
    CHECK_FALSE (sim_events_take_before (events, TIED_NEVER, &event));
    sim_events_free (events);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (lanes_and_heap_give_the_order_of_a_sorted_list),
        cmocka_unit_test (a_growing_ring_keeps_what_it_holds),
        cmocka_unit_test (timers_leave_in_order_and_only_at_their_latest_time),
        cmocka_unit_test (what_comes_at_or_after_a_limit_stays),
        cmocka_unit_test (there_are_so_many_lanes_and_no_more),
        cmocka_unit_test (a_shuffle_changes_the_order_of_equal_times_by_its_seed_alone),
    };

    return cmocka_run_group_tests (tests, NULL, NULL);
}
