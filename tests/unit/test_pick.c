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

static struct ti_pick make_affine (struct fleet *fleet, uint32_t count)
{
    const struct ti_pick pick = make (fleet, count, TIED_PICK_AFFINITY, 4);
    for (uint32_t i = 0; i < count; i++)
        fleet->replicas[i].identity = UINT64_C (0xabcdef) * (i + 1);
    return pick;
}

static void affinity_sends_a_key_to_the_same_pair_whatever_the_load_and_the_order (void **state)
{
    struct fleet fleet;
    struct fleet other;
    (void)state;
    struct ti_pick pick = make_affine (&fleet, 20);
    struct ti_pick elsewhere = make_affine (&other, 20);
    /* Another client that knows them in the opposite order, and other loads. */
    for (uint32_t i = 0; i < 20; i++) {
        other.replicas[i].identity = fleet.replicas[19 - i].identity;
        other.replicas[i].load.depth = i * 7 % 5;
    }
    for (uint64_t key = 1; key <= 1000; key++) {
        uint32_t first, second, first_there, second_there;
        pick.key = elsewhere.key = key;
        ti_pick_pair (&pick, &first, &second);
        ti_pick_pair (&elsewhere, &first_there, &second_there);
        CHECK_U64 (first_there, ==, 19 - first);
        CHECK_U64 (second_there, ==, 19 - second);
        CHECK_U64 (first, !=, second);
        CHECK_U64 (ti_pick_one (&pick, NULL), ==, first);
    }
}

static void affinity_spreads_the_keys_evenly (void **state)
{
    uint32_t firsts[20] = {0};
    uint32_t seconds[20] = {0};
    struct fleet fleet;
    (void)state;
    struct ti_pick pick = make_affine (&fleet, 20);
    for (uint64_t key = 1; key <= 20000; key++) {
        uint32_t first, second;
        pick.key = key;
        ti_pick_pair (&pick, &first, &second);
        firsts[first]++;
        seconds[second]++;
    }
    /* 1000 each; 6 standard deviations are 185. */
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_U64 (firsts[i], >=, 815);
        CHECK_U64 (firsts[i], <=, 1185);
        CHECK_U64 (seconds[i], >=, 815);
        CHECK_U64 (seconds[i], <=, 1185);
    }
}

static void when_a_replica_leaves_only_its_own_keys_move_and_to_their_siblings (void **state)
{
    enum {
        KEYS = 5000,
        GONE = 7
    };
    struct fleet fleet;
    (void)state;
    struct ti_pick pick = make_affine (&fleet, 20);
    for (uint64_t key = 1; key <= KEYS; key++) {
        uint32_t first, second, first_then, second_then;
        pick.key = key;
        fleet.replicas[GONE].is_usable = true;
        ti_pick_pair (&pick, &first, &second);
        fleet.replicas[GONE].is_usable = false;
        ti_pick_pair (&pick, &first_then, &second_then);
        CHECK_U64 (first_then, ==, first == GONE ? second : first);
        if (first != GONE && second != GONE)
            CHECK_U64 (second_then, ==, second);
        CHECK_U64 (second_then, !=, GONE);
    }
}

static void affinity_avoids_what_other_rules_avoid (void **state)
{
    struct fleet fleet;
    (void)state;
    struct ti_pick pick = make_affine (&fleet, 6);
    for (uint64_t key = 1; key <= 500; key++) {
        uint32_t first, second;
        pick.key = key;
        ti_pick_pair (&pick, &first, &second);
        const struct ti_pick_avoid hard = {.hard = {fleet.replicas[first].incarnation},
                                           .hard_count = 1};
        const struct ti_pick_avoid soft = {.soft = {fleet.replicas[first].incarnation},
                                           .soft_count = 1};
        CHECK_U64 (ti_pick_one (&pick, &hard), ==, second);
        CHECK_U64 (ti_pick_one (&pick, &soft), ==, second);
    }
    fleet.replicas[0].is_usable = false;
    for (uint32_t i = 1; i < 6; i++)
        fleet.replicas[i].incarnation = 5;
    uint32_t first, second;
    ti_pick_pair (&pick, &first, &second);
    CHECK_U64 (first, !=, TIED_NO_REPLICA);
    CHECK_U64 (second, ==, TIED_NO_REPLICA);
    for (uint32_t i = 1; i < 6; i++)
        fleet.replicas[i].is_usable = false;
    ti_pick_pair (&pick, &first, &second);
    CHECK_U64 (first, ==, TIED_NO_REPLICA);
    CHECK_U64 (second, ==, TIED_NO_REPLICA);
}

static const uint32_t RULES[] = {TIED_PICK_INFORMED, TIED_PICK_RANDOM, TIED_PICK_ROUND_ROBIN,
                                 TIED_PICK_AFFINITY};

static void a_pair_spans_two_zones_if_there_are_two (void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof RULES / sizeof RULES[0]; r++) {
        struct fleet fleet;
        struct ti_pick pick = make (&fleet, 12, RULES[r], 4);
        uint32_t firsts[12] = {0};
        pick.has_zones = true;
        for (uint32_t i = 0; i < 12; i++) {
            fleet.replicas[i].zone = 1 + (i >= 3);
            fleet.replicas[i].identity = i;
            /* What is near is light, so that it is the zone that decides. */
            fleet.replicas[i].load.depth = i < 3 ? 0 : 20 + i;
        }
        for (uint64_t n = 0; n < 1000; n++) {
            uint32_t first, second;
            pick.key = n + 1;
            ti_pick_pair (&pick, &first, &second);
            CHECK_U64 (fleet.replicas[first].zone, !=, fleet.replicas[second].zone);
            firsts[first]++;
        }
        if (RULES[r] == TIED_PICK_ROUND_ROBIN)
            for (uint32_t i = 0; i < 12; i++)
                CHECK_U64 (firsts[i], >=, 83);
    }
}

static void zones_are_a_wish_and_no_condition (void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof RULES / sizeof RULES[0]; r++) {
        struct fleet fleet;
        struct ti_pick pick = make (&fleet, 6, RULES[r], 4);
        pick.has_zones = true;
        for (uint32_t i = 0; i < 6; i++)
            fleet.replicas[i].zone = i < 5 ? 3 : 0;
        fleet.replicas[5].is_usable = false;
        fleet.usable[5] = 0;
        pick.usable_count = 5;
        for (uint64_t n = 0; n < 200; n++) {
            uint32_t first, second;
            pick.key = n + 1;
            ti_pick_pair (&pick, &first, &second);
            CHECK_U64 (first, !=, TIED_NO_REPLICA);
            CHECK_U64 (second, !=, TIED_NO_REPLICA);
            CHECK_U64 (first, !=, second);
        }
    }
}

static void a_zone_that_is_not_known_is_like_any_other (void **state)
{
    struct fleet fleet;
    (void)state;
    struct ti_pick pick = make (&fleet, 3, TIED_PICK_INFORMED, 3);
    pick.has_zones = true;
    fleet.replicas[2].zone = 1;
    fleet.replicas[2].load.depth = 50;
    for (uint32_t n = 0; n < 100; n++) {
        uint32_t first, second;
        ti_pick_pair (&pick, &first, &second);
        CHECK_U64 (first, !=, 2);
        CHECK_U64 (second, !=, 2);
    }
}

/* One of 6 on probation, with a probe on its way. */
static struct ti_health *make_unwell (struct ti_pick *pick, uint32_t bad)
{
    struct ti_health_options options;
    struct ti_health *health = malloc (sizeof *health + ti_health_size (6));
    CHECK_TRUE (health != NULL);
    ti_health_options_init (&options);
    ti_health_init (health, health + 1, 6, &options);
    for (uint32_t i = 0; i < 6; i++)
        ti_health_join (health, i);
    for (tied_time_t now = MS (1); now <= S (5); now += MS (10))
        for (uint32_t i = 0; i < 6; i++)
            ti_health_answered (health, i, i == bad ? MS (100) : MS (5), now);
    CHECK_U64 (ti_health_state_of (health, bad), ==, TI_HEALTH_PROBATION);
    ti_health_sent (health, bad, S (5));
    pick->health = health;
    pick->now = S (5) + 1;
    return health;
}

static void a_spared_replica_is_taken_only_by_a_call_that_has_no_other (void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof RULES / sizeof RULES[0]; r++) {
        struct fleet fleet;
        struct ti_pick pick = make (&fleet, 6, RULES[r], 4);
        for (uint32_t i = 0; i < 6; i++) {
            fleet.replicas[i].identity = i;
            fleet.replicas[i].load.depth = i == 4 ? 0 : 10;
        }
        struct ti_health *health = make_unwell (&pick, 4);
        for (uint64_t n = 0; n < 300; n++) {
            uint32_t first, second;
            pick.key = n + 1;
            ti_pick_pair (&pick, &first, &second);
            CHECK_U64 (first, !=, 4);
            CHECK_U64 (second, !=, 4);
            CHECK_U64 (second, !=, TIED_NO_REPLICA);
            CHECK_U64 (ti_pick_one (&pick, NULL), !=, 4);
        }
        /* Two are left: the good one first, and no tie with the bad one, which is idle and would
         * have the good one's copy dropped. */
        for (uint32_t i = 0; i < 6; i++)
            fleet.replicas[i].is_usable = i == 3 || i == 4;
        fleet.usable[0] = 3;
        fleet.usable[1] = 4;
        pick.usable_count = 2;
        uint32_t first, second;
        ti_pick_pair (&pick, &first, &second);
        CHECK_U64 (first, ==, 3);
        CHECK_U64 (second, ==, TIED_NO_REPLICA);
        struct ti_pick_avoid avoid = {.hard = {fleet.replicas[3].incarnation}, .hard_count = 1};
        CHECK_U64 (ti_pick_one (&pick, &avoid), ==, 4);
        avoid.is_spared = true;
        CHECK_U64 (ti_pick_one (&pick, &avoid), ==, TIED_NO_REPLICA);
        fleet.replicas[3].is_usable = false;
        fleet.usable[0] = 4;
        pick.usable_count = 1;
        ti_pick_pair (&pick, &first, &second);
        CHECK_U64 (first, ==, 4);
        free (health);
    }
}

static void a_probe_that_is_due_comes_first_and_its_pair_is_a_good_one (void **state)
{
    struct fleet fleet;
    (void)state;
    struct ti_pick pick = make (&fleet, 6, TIED_PICK_INFORMED, 6);
    for (uint32_t i = 0; i < 6; i++)
        fleet.replicas[i].load.depth = i == 4 ? 0 : 10;
    struct ti_health *health = make_unwell (&pick, 4);
    pick.now = S (5) + health->options.probe_ns;
    for (uint32_t i = 0; i < 6; i++)
        fleet.replicas[i].load_at = pick.now;
    uint32_t first, second;
    ti_pick_pair (&pick, &first, &second);
    CHECK_U64 (first, ==, 4);
    CHECK_U64 (second, !=, TIED_NO_REPLICA);
    free (health);
}

/* Both samples are one instance: the other is drawn further, and is the lighter one. */
static void a_lighter_one_that_is_drawn_further_goes_first (void **state)
{
    (void)state;
    struct fleet fleet;
    const struct ti_pick pick = make (&fleet, 3, TIED_PICK_INFORMED, 2);
    fleet.replicas[1].incarnation = fleet.replicas[0].incarnation;
    fleet.replicas[0].load.depth = 5;
    fleet.replicas[1].load.depth = 5;
    for (int i = 0; i < 100; i++) {
        uint32_t a;
        uint32_t b;
        ti_pick_pair (&pick, &a, &b);
        CHECK_U64 (a, ==, 2);
        CHECK_U64 (b, <=, 1);
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (the_two_lightest_are_taken_lighter_one_first),
        cmocka_unit_test (a_lighter_one_that_is_drawn_further_goes_first),
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
        cmocka_unit_test (affinity_sends_a_key_to_the_same_pair_whatever_the_load_and_the_order),
        cmocka_unit_test (affinity_spreads_the_keys_evenly),
        cmocka_unit_test (when_a_replica_leaves_only_its_own_keys_move_and_to_their_siblings),
        cmocka_unit_test (affinity_avoids_what_other_rules_avoid),
        cmocka_unit_test (a_pair_spans_two_zones_if_there_are_two),
        cmocka_unit_test (zones_are_a_wish_and_no_condition),
        cmocka_unit_test (a_zone_that_is_not_known_is_like_any_other),
        cmocka_unit_test (a_spared_replica_is_taken_only_by_a_call_that_has_no_other),
        cmocka_unit_test (a_probe_that_is_due_comes_first_and_its_pair_is_a_good_one),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
