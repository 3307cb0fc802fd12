/* SPDX-License-Identifier: MIT */
/*
 * The two cores against queueing theory: n replicas with one worker each, Poisson arrivals,
 * exponential service of mean 10 ms, so that a start or a cancel in the wrong place shows as a
 * number. The formulas stand at each test; seeds are fixed, tolerances are about 4 deviations.
 */
#include "check.h"

#include <stdio.h>

#include "world.h"

#define MEAN MS (10)

struct setting {
    uint32_t replicas;
    double load;           /* arrivals per replica and mean service */
    tied_duration_t delay; /* one way, all links */
    tied_duration_t stagger;
    uint32_t cancel_loss_ppm; /* of STARTED */
    uint32_t calls;
};

struct figures {
    double duplicates; /* extra executions per call */
    double mean;       /* response time, in mean services */
};

/* Sums the latencies of completed calls from the client's own report. */
static double sum_latency (struct world *world, uint32_t calls, tied_duration_t both_ways)
{
    struct ledger *ledger = world_ledger (world);
    double sum = 0;

    for (uint32_t i = 0; i < calls; i++) {
        const struct ledger_call *c = &ledger->calls[i];
        sum += (double)(c->ended - (c->submitted - 1)) - (double)both_ways;
    }
    return sum;
}

static struct figures measure (const struct setting *setting, uint64_t seed)
{
    struct world_options options;
    struct world *world;
    struct ti_prng arrivals;
    const struct ti_dist gap = {.kind = TI_DIST_EXP,
                                .a_ns =
                                    (uint64_t)((double)MEAN / (setting->load * setting->replicas))};
    struct figures figures;
    tied_time_t next;

    world_options_init (&options);
    options.seed = seed;
    options.replicas = setting->replicas;
    options.calls_per_client = setting->calls;
    options.client.calls_max = 4096;
    options.client.pick = TIED_PICK_RANDOM;
    options.client.heartbeat_ns = S (3600);
    options.client.stagger_floor_ns = 0;
    options.replica.queue_depth = 4096;
    options.replica.hedge_depth = 4096;
    options.replica.recent_max = 4096;
    options.replica.client_silence_ns = TIED_NEVER;
    options.delay_low_ns = options.delay_high_ns = setting->delay;
    options.peer_delay_low_ns = options.peer_delay_high_ns = setting->delay;
    options.service.kind = TI_DIST_EXP;
    options.service.a_ns = MEAN;
    options.check_mask = 0xffff;
    options.loss_ppm[TIED_WIRE_STARTED] = setting->cancel_loss_ppm;
    if (setting->cancel_loss_ppm > 0)
        options.loss_ppm[TIED_WIRE_CANCEL] = 1000000; /* STARTED is the model's only cancel */
    world = world_new (&options);
    ti_prng_seed (&arrivals, seed + 1);
    next = WORLD_START + MS (1);
    for (uint32_t i = 0; i < setting->calls; i++) {
        next += ti_dist_draw (&gap, ti_prng_next (&arrivals));
        world_run_until (world, next);
        (void)world_submit (world, 0, TIED_MODE_TIED, true, TIED_NEVER, setting->stagger);
    }
    CHECK_TRUE (world_run_idle (world, world_now (world) + S (600)));
    ledger_end (world_ledger (world), setting->cancel_loss_ppm == 0);
    CHECK_STR (world_ledger (world)->violation, "");
    figures.duplicates = (double)world_ledger (world)->duplicates / setting->calls;
    figures.mean =
        sum_latency (world, setting->calls, 2 * setting->delay) / setting->calls / (double)MEAN;
    print_message ("n %u load %.2f delay %.3f stagger %.3f loss %.2f: %.4f duplicates, mean %.4f\n",
                   setting->replicas, setting->load, (double)setting->delay / (double)MEAN,
                   (double)setting->stagger / (double)MEAN, setting->cancel_loss_ppm / 1e6,
                   figures.duplicates, figures.mean);
    world_free (world);
    return figures;
}

static double far (double a, double b)
{
    return a > b ? a - b : b - a;
}

/*
 * n = 2, no stagger, cancels with next to no delay: both run exactly when a call finds both
 * replicas idle. a = 2 load, duplicates = pi0 = 1 / (1 + a + a (a + 1) / (2 (1 - load))), and
 * E[T] = pi0 / 2 + pi1 + pi2 (1 / (2 (1 - load)^2) + 1 / (1 - load)) with pi1 = a pi0,
 * pi2 = a (a + 1) pi0 / 2. At load 1/2: 1/4 and 1.375.
 */
static void without_stagger_idle_pairs_run_twice (void **state)
{
    const struct setting setting = {.replicas = 2, .load = 0.5, .delay = US (1), .calls = 100000};
    struct figures figures;
    (void)state;
    figures = measure (&setting, 11);
    CHECK_DBL (far (figures.duplicates, 0.25), <, 0.01);
    CHECK_DBL (far (figures.mean, 1.375), <, 0.04);
}

/* n = 2, two copies, next to no delay, a stagger above it: the central queue M/M/2, whose mean is
 * 1 / (1 - load^2), and nothing runs twice. */
static void with_a_stagger_the_pair_is_one_central_queue (void **state)
{
    const struct setting setting = {
        .replicas = 2, .load = 0.5, .delay = US (1), .stagger = US (5), .calls = 100000};
    struct figures figures;
    (void)state;
    figures = measure (&setting, 12);
    CHECK_DBL (figures.duplicates, <, 0.001);
    CHECK_DBL (far (figures.mean, 1.0 / 0.75), <, 0.03 / 0.75);
}

/* The same with random pairs of n replicas, exact: n = 3 at load 1/2 gives 1.244444, n = 10 at load
 * 0.7 gives 1.441524. */
static void random_pairs_wait_as_the_product_form_says (void **state)
{
    struct setting setting = {
        .replicas = 3, .load = 0.5, .delay = US (1), .stagger = US (5), .calls = 100000};
    struct figures figures;
    (void)state;
    figures = measure (&setting, 15);
    CHECK_DBL (far (figures.mean, 1.244444), <, 0.025);
    setting.replicas = 10;
    setting.load = 0.7;
    figures = measure (&setting, 16);
    CHECK_DBL (far (figures.mean, 1.441524), <, 0.03);
}

/*
 * Many replicas, stagger above the delay D: duplicates per call are c D / E[S] to first order, with
 * c = 2 ((1 - load) (load - load^3) + load^2 / 2 - load^4 / 3), which is 0.5441 at load 0.7.
 */
static void with_a_stagger_duplicates_grow_with_the_delay (void **state)
{
    const struct setting setting = {
        .replicas = 30, .load = 0.7, .delay = MEAN / 20, .stagger = MEAN / 10, .calls = 100000};
    struct figures figures;
    (void)state;
    figures = measure (&setting, 13);
    CHECK_DBL (figures.duplicates, >, 0.80 * 0.5441 / 20);
    CHECK_DBL (figures.duplicates, <, 1.15 * 0.5441 / 20);
}

/* Each STARTED that is lost with probability q costs exactly one execution: 1 + q per call. */
static void each_lost_cancel_costs_one_execution (void **state)
{
    const struct setting setting = {.replicas = 6,
                                    .load = 0.5,
                                    .delay = US (1),
                                    .stagger = US (5),
                                    .cancel_loss_ppm = 200000,
                                    .calls = 100000};
    struct figures figures;
    (void)state;
    figures = measure (&setting, 14);
    CHECK_DBL (far (figures.duplicates, 0.2), <, 0.008);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (without_stagger_idle_pairs_run_twice),
        cmocka_unit_test (with_a_stagger_the_pair_is_one_central_queue),
        cmocka_unit_test (random_pairs_wait_as_the_product_form_says),
        cmocka_unit_test (with_a_stagger_duplicates_grow_with_the_delay),
        cmocka_unit_test (each_lost_cancel_costs_one_execution),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
