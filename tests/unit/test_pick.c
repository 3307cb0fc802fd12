/* SPDX-License-Identifier: MIT */
/* The choice of replicas, without a core; and a small simulation of many clients (RQ-07). */
#include <string.h>

#include "core/pick.h"
#include "check.h"

#define REPLICAS 100

struct fleet {
    struct ti_replica replicas[REPLICAS];
    uint32_t usable[REPLICAS];
    struct ti_load_scale scale;
    struct ti_prng prng;
};

static struct ti_pick make (struct fleet *fleet, uint32_t count, uint32_t rule, uint32_t samples)
{
    memset (fleet, 0, sizeof *fleet);
    for (uint32_t i = 0; i < count; i++) {
        fleet->replicas[i].incarnation = 1000 + i;
        fleet->replicas[i].load_at = 1;
        fleet->usable[i] = i;
    }
    ti_load_scale_init (&fleet->scale, S (1));
    ti_prng_seed (&fleet->prng, 11);
    return (struct ti_pick){.replicas = fleet->replicas,
                            .usable = fleet->usable,
                            .usable_count = count,
                            .rule = rule,
                            .samples = samples,
                            .scale = &fleet->scale,
                            .prng = &fleet->prng,
                            .now = 1};
}

static void the_two_lightest_are_taken_lighter_one_first (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 6, TIED_PICK_INFORMED, 6);
    const uint32_t depths[6] = {9, 4, 7, 2, 8, 5};
    for (uint32_t i = 0; i < 6; i++)
        fleet.replicas[i].load.depth = depths[i];
    for (int i = 0; i < 1000; i++) {
        uint32_t a;
        uint32_t b;
        ti_pick_pair (&pick, &a, &b);
        CHECK_U64 (a, ==, 3);
        CHECK_U64 (b, ==, 1);
        CHECK_U64 (ti_pick_one (&pick, NULL), ==, 3);
    }
    /* Own copies in flight count like reported ones. */
    fleet.replicas[3].in_flight = 3;
    uint32_t a;
    uint32_t b;
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (a, ==, 1);
    CHECK_U64 (ti_pick_one (&pick, NULL), ==, 1);
}

static void equal_loads_are_broken_evenly (void **state)
{
    (void)state;
    const uint32_t rules[] = {TIED_PICK_INFORMED, TIED_PICK_RANDOM};
    for (size_t r = 0; r < 2; r++) {
        struct fleet fleet;
        const struct ti_pick pick = make (&fleet, 5, rules[r], 3);
        uint32_t pairs[5][5] = {{0}};
        for (int i = 0; i < 20000; i++) {
            uint32_t a;
            uint32_t b;
            ti_pick_pair (&pick, &a, &b);
            pairs[a][b]++;
        }
        for (uint32_t a = 0; a < 5; a++)
            for (uint32_t b = 0; b < 5; b++) {
                CHECK_U64 (pairs[a][b], >=, a == b ? 0 : 850);
                CHECK_U64 (pairs[a][b], <=, a == b ? 0 : 1150);
            }
    }
}

static void random_ignores_load (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 2, TIED_PICK_RANDOM, 4);
    fleet.replicas[0].load.depth = 1000;
    uint32_t first = 0;
    uint32_t one = 0;
    for (int i = 0; i < 2000; i++) {
        uint32_t a;
        uint32_t b;
        ti_pick_pair (&pick, &a, &b);
        first += a == 0;
        one += ti_pick_one (&pick, NULL) == 0;
    }
    CHECK_U64 (first, >, 800);
    CHECK_U64 (first, <, 1200);
    CHECK_U64 (one, >, 800);
    CHECK_U64 (one, <, 1200);
}

static void samples_are_distinct_and_cover_all_replicas (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, REPLICAS, TIED_PICK_INFORMED, 4);
    bool seen[REPLICAS] = {false};
    for (int i = 0; i < 5000; i++) {
        uint32_t a;
        uint32_t b;
        ti_pick_pair (&pick, &a, &b);
        CHECK_U64 (a, !=, b);
        seen[a] = true;
    }
    for (uint32_t i = 0; i < REPLICAS; i++)
        CHECK_TRUE (seen[i]);
    /* The list is still a permutation. */
    uint64_t sum = 0;
    for (uint32_t i = 0; i < REPLICAS; i++)
        sum += fleet.usable[i];
    CHECK_U64 (sum, ==, REPLICAS * (REPLICAS - 1) / 2);
}

static void too_few_replicas_give_what_there_is (void **state)
{
    (void)state;
    struct fleet fleet;
    struct ti_pick pick = make (&fleet, 1, TIED_PICK_INFORMED, 4);
    uint32_t a;
    uint32_t b;
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (a, ==, 0);
    CHECK_U64 (b, ==, TIED_NO_REPLICA);
    pick.usable_count = 0;
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (a, ==, TIED_NO_REPLICA);
    CHECK_U64 (b, ==, TIED_NO_REPLICA);
    CHECK_U64 (ti_pick_one (&pick, NULL), ==, TIED_NO_REPLICA);
}

/* All but one index are the same process: it is found however small the sample is. */
static void CL_19_one_instance_under_many_indices_is_one_instance (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 50, TIED_PICK_INFORMED, 2);
    for (uint32_t i = 0; i < 49; i++)
        fleet.replicas[i].incarnation = 1;
    for (int i = 0; i < 2000; i++) {
        uint32_t a;
        uint32_t b;
        ti_pick_pair (&pick, &a, &b);
        CHECK_TRUE ((a == 49) != (b == 49));
    }
    fleet.replicas[49].incarnation = 1;
    uint32_t a;
    uint32_t b;
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (b, ==, TIED_NO_REPLICA);
}

static void avoided_instances_are_last_or_never (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 3, TIED_PICK_INFORMED, 2);
    fleet.replicas[2].load.depth = 50;
    struct ti_pick_avoid avoid = {.soft = {1000}, .soft_count = 1, .hard = {1001}, .hard_count = 1};
    for (int i = 0; i < 500; i++)
        CHECK_U64 (ti_pick_one (&pick, &avoid), ==, 2);
    avoid.hard[avoid.hard_count++] = 1002;
    for (int i = 0; i < 500; i++)
        CHECK_U64 (ti_pick_one (&pick, &avoid), ==, 0);
    avoid.hard[avoid.hard_count++] = 1000;
    CHECK_U64 (ti_pick_one (&pick, &avoid), ==, TIED_NO_REPLICA);
}

/*
 * 2 replicas that serve 20 copies per ms each, load 0.9, reports 20 ms old. A client that looks
 * only at the report sends all to one side until the report changes; one that adds its own copies
 * does not. With many clients each knows only its share of what is on the way; there the test asks
 * for no more than that the swing is bounded.
 */
#define CLIENTS 50
#define LAG     20
struct swing {
    double most;  /* largest depth over the mean depth */
    double apart; /* mean difference of the two depths over the mean depth */
};

static struct swing simulate (uint32_t clients, bool counts_own)
{
    static struct fleet fleets[CLIENTS];
    static uint32_t sent[2][CLIENTS][2000];
    struct ti_pick picks[CLIENTS];
    uint32_t depth[2] = {0, 0};
    uint32_t history[2][LAG] = {{0}};
    double sum = 0;
    double most = 0;
    double apart = 0;
    memset (sent, 0, sizeof sent);
    for (uint32_t c = 0; c < clients; c++) {
        picks[c] = make (&fleets[c], 2, TIED_PICK_INFORMED, 2);
        ti_prng_seed (&fleets[c].prng, c);
    }
    for (uint32_t ms = 0; ms < 2000; ms++) {
        for (uint32_t c = 0; c < clients; c++) {
            for (uint32_t r = 0; r < 2; r++) {
                fleets[c].replicas[r].load.depth = history[r][ms % LAG];
                /* What left within the lag is not in the report yet. */
                uint32_t own = 0;
                for (uint32_t back = 1; back <= LAG && back <= ms; back++)
                    own += sent[r][c][ms - back];
                fleets[c].replicas[r].in_flight = counts_own ? own : 0;
            }
        }
        for (uint32_t r = 0; r < 2; r++)
            history[r][ms % LAG] = depth[r];
        /* 36 calls per ms over all clients, 40 served: load 0.9. */
        for (uint32_t n = 0; n < 36; n++) {
            const uint32_t c = (ms * 36 + n) % clients;
            const uint32_t chosen = ti_pick_one (&picks[c], NULL);
            sent[chosen][c][ms]++;
            depth[chosen]++;
            fleets[c].replicas[chosen].in_flight += counts_own;
        }
        if (ms >= 200)
            apart += depth[0] > depth[1] ? depth[0] - depth[1] : depth[1] - depth[0];
        for (uint32_t r = 0; r < 2; r++) {
            if (ms >= 200) {
                sum += depth[r];
                most = depth[r] > most ? depth[r] : most;
            }
            depth[r] -= depth[r] < 20 ? depth[r] : 20;
        }
    }
    const double mean = sum / (2.0 * 1800.0);
    return (struct swing){most / mean, apart / 1800.0 / mean};
}

static void RQ_07_own_copies_in_flight_damp_the_flip_flop_of_late_reports (void **state)
{
    (void)state;
    CHECK_DBL (simulate (CLIENTS, true).most, <, 2.5);
    const struct swing with = simulate (1, true);
    const struct swing without = simulate (1, false);
    CHECK_DBL (with.most, <, 2.5);
    CHECK_DBL (without.apart, >, 1.0);
    CHECK_DBL (with.apart, <, without.apart / 3);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_two_lightest_are_taken_lighter_one_first),
        cmocka_unit_test (equal_loads_are_broken_evenly),
        cmocka_unit_test (random_ignores_load),
        cmocka_unit_test (samples_are_distinct_and_cover_all_replicas),
        cmocka_unit_test (too_few_replicas_give_what_there_is),
        cmocka_unit_test (CL_19_one_instance_under_many_indices_is_one_instance),
        cmocka_unit_test (avoided_instances_are_last_or_never),
        cmocka_unit_test (RQ_07_own_copies_in_flight_damp_the_flip_flop_of_late_reports),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
