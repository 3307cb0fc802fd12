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
    uint32_t turn;
};

static struct ti_pick make (struct fleet *fleet, uint32_t count, uint32_t rule, uint32_t samples)
{
    memset (fleet, 0, sizeof *fleet);
    for (uint32_t i = 0; i < count; i++) {
        fleet->replicas[i].incarnation = 1000 + i;
        fleet->replicas[i].load_at = 1;
        fleet->usable[i] = i;
        fleet->replicas[i].is_usable = true;
    }
    ti_load_scale_init (&fleet->scale, S (1));
    ti_prng_seed (&fleet->prng, 11);
    return (struct ti_pick){.replicas = fleet->replicas,
                            .usable = fleet->usable,
                            .usable_count = count,
                            .replica_count = count,
                            .turn = &fleet->turn,
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
static void round_robin_takes_the_next_usable_one_in_turn (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 5, TIED_PICK_ROUND_ROBIN, 4);
    const uint32_t turns[] = {3, 4, 0, 1, 3, 4, 0, 1, 3};
    fleet.turn = 3;
    fleet.replicas[2].is_usable = false;
    /* It is blind to load. */
    fleet.replicas[3].load.depth = 1000;
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++)
        CHECK_U64 (ti_pick_one (&pick, NULL), ==, turns[i]);
    /* A turn that begins anywhere. */
    fleet.turn = UINT32_MAX;
    CHECK_U64 (ti_pick_one (&pick, NULL), ==, UINT32_MAX % 5);
}

static void round_robin_pairs_make_everyone_first_equally_often (void **state)
{
    (void)state;
    for (uint32_t count = 2; count < 6; count++) {
        struct fleet fleet;
        const struct ti_pick pick = make (&fleet, count, TIED_PICK_ROUND_ROBIN, 4);
        for (uint32_t i = 0; i < 3 * count; i++) {
            uint32_t a;
            uint32_t b;
            ti_pick_pair (&pick, &a, &b);
            CHECK_U64 (a, ==, i % count);
            CHECK_U64 (b, ==, (i + 1) % count);
        }
    }
}

static void CL_19_round_robin_keeps_instances_apart_and_avoids (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 4, TIED_PICK_ROUND_ROBIN, 4);
    struct ti_pick_avoid avoid = {.hard = {1002}, .hard_count = 1, .soft = {1003}, .soft_count = 1};
    uint32_t a;
    uint32_t b;
    fleet.replicas[1].incarnation = 1000;
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (a, ==, 0);
    CHECK_U64 (b, ==, 2);
    fleet.turn = 2;
    CHECK_U64 (ti_pick_one (&pick, &avoid), ==, 0);
    CHECK_U64 (fleet.turn, ==, 1);
    fleet.replicas[0].is_usable = false;
    fleet.replicas[1].is_usable = false;
    CHECK_U64 (ti_pick_one (&pick, &avoid), ==, 3);
    fleet.replicas[3].is_usable = false;
    CHECK_U64 (ti_pick_one (&pick, &avoid), ==, TIED_NO_REPLICA);
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (a, ==, 2);
    CHECK_U64 (b, ==, TIED_NO_REPLICA);
    fleet.replicas[2].is_usable = false;
    ti_pick_pair (&pick, &a, &b);
    CHECK_U64 (a, ==, TIED_NO_REPLICA);
}

/* A further copy of a call in a large fleet goes to the best of a sample, as a first one does: were
 * all of them looked at, every client would send its copies to one and the same replica. */
static void what_is_avoided_takes_no_place_in_the_sample (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, REPLICAS, TIED_PICK_INFORMED, 2);
    const struct ti_pick_avoid avoid = {.hard = {1001}, .hard_count = 1};
    uint32_t lightest = 0;
    for (uint32_t i = 1; i < REPLICAS; i++)
        fleet.replicas[i].load.depth = 10;
    for (int i = 0; i < 10000; i++)
        lightest += ti_pick_one (&pick, &avoid) == 0;
    /* 2 of 99. */
    CHECK_U64 (lightest, >, 120);
    CHECK_U64 (lightest, <, 300);
    /* Only what nobody wants is left out of the count. */
    const struct ti_pick two = make (&fleet, 3, TIED_PICK_INFORMED, 2);
    const struct ti_pick_avoid both = {.hard = {1000, 1001}, .hard_count = 2};
    for (int i = 0; i < 100; i++)
        CHECK_U64 (ti_pick_one (&two, &both), ==, 2);
}

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

/* Ten replicas that report 3 each and one of which nothing is known: were it taken for idle, every
 * client would send it all its calls until it is heard of. */
static void RQ_07_a_replica_of_which_nothing_is_known_is_no_magnet (void **state)
{
    (void)state;
    struct fleet fleet;
    struct ti_pick pick = make (&fleet, 11, TIED_PICK_INFORMED, 11);
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < 10; i++)
        fleet.replicas[i].load.depth = 3;
    fleet.replicas[10].load_at = 0;
    pick.mean = 3 * TI_LOAD_UNIT;
    for (int i = 0; i < 11000; i++)
        unknown += ti_pick_one (&pick, NULL) == 10;
    CHECK_U64 (unknown, >, 800);
    CHECK_U64 (unknown, <, 1200);
    /* Nor is it shunned: it is taken before one that is busier than the average. */
    for (uint32_t i = 0; i < 10; i++)
        fleet.replicas[i].load.depth = 4;
    for (int i = 0; i < 100; i++)
        CHECK_U64 (ti_pick_one (&pick, NULL), ==, 10);
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
        cmocka_unit_test (round_robin_takes_the_next_usable_one_in_turn),
        cmocka_unit_test (round_robin_pairs_make_everyone_first_equally_often),
        cmocka_unit_test (CL_19_round_robin_keeps_instances_apart_and_avoids),
        cmocka_unit_test (what_is_avoided_takes_no_place_in_the_sample),
        cmocka_unit_test (RQ_07_own_copies_in_flight_damp_the_flip_flop_of_late_reports),
        cmocka_unit_test (RQ_07_a_replica_of_which_nothing_is_known_is_no_magnet),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
