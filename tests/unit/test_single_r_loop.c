/* SPDX-License-Identifier: MIT */
/*
 * The estimate and the optimiser in a closed loop: what is hedged decides what is measured, and
 * what is measured decides what is hedged. Independent service times, no queues; a plan four times
 * a second from the last ten seconds, as a client makes it.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "base/prng.h"
#include "core/single_r.h"

enum {
    LOOKS_A_SECOND = 4,
    CALLS_A_LOOK = 250,
    SECONDS = 60,
    LOOKS = SECONDS * LOOKS_A_SECOND
};

static const struct ti_single_r_options options = {.target_ppm = 999000,
                                                   .budget_ppm = 50000,
                                                   .floor_ns = US (500),
                                                   .ceiling_ns = S (10),
                                                   .min_saving_ppm = 50000};

struct loop {
    struct ti_prng prng;
    struct ti_latency *call, *hedge;
    double (*draw) (struct ti_prng *);
    double scale;
    struct ti_single_r_plan plan;
    uint64_t calls, hedges;
};

static double uniform (struct ti_prng *prng)
{
    return ((double)(ti_prng_next (prng) >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential (struct ti_prng *prng)
{
    return -10e6 * log (uniform (prng));
}

/* One in a hundred takes 15 times as long. */
static double jitter (struct ti_prng *prng)
{
    const double base = uniform (prng) < 0.01 ? 75e6 : 5e6;
    return base * -log (uniform (prng));
}

/* Two modes with little spread: whatever is slow is cut short, so nobody sees how slow. */
static double modes (struct ti_prng *prng)
{
    const double base = uniform (prng) < 0.01 ? 200e6 : 5e6;
    return base * (0.95 + 0.1 * uniform (prng));
}

static double nearly_constant (struct ti_prng *prng)
{
    return 5e6 * (0.95 + 0.1 * uniform (prng));
}

static void one_call (struct loop *self, tied_time_t now)
{
    const uint64_t x = (uint64_t)(self->scale * self->draw (&self->prng));
    const uint64_t y = (uint64_t)(self->scale * self->draw (&self->prng));
    const tied_duration_t d = self->plan.delay_ns;
    const bool is_drawn = ti_prng_below_32 (&self->prng, TIED_PPM) < self->plan.probability_ppm;
    const bool is_hedged = self->plan.is_worth && x > d && is_drawn;
    self->calls++;
    self->hedges += is_hedged;
    if (is_hedged && d + y < x) {
        ti_latency_censored (self->call, d + y, now);
        ti_latency_ended (self->hedge, y, now);
        return;
    }
    ti_latency_ended (self->call, x, now);
    if (is_hedged)
        ti_latency_censored (self->hedge, x - d, now);
}

static void look (struct loop *self, tied_time_t now)
{
    static struct ti_curve call, hedge;
    ti_latency_turn (self->call, now);
    ti_latency_turn (self->hedge, now);
    ti_latency_curve (self->call, &call);
    ti_latency_curve (self->hedge, &hedge);
    if (call.samples >= 100)
        ti_single_r (&options, &call, &hedge, 100, &self->plan);
    for (int i = 0; i < CALLS_A_LOOK; i++)
        one_call (self, now);
}

static struct loop loop_new (double (*draw) (struct ti_prng *))
{
    struct loop self = {.call = ti_latency_init (malloc (ti_latency_size ()), S (10)),
                        .hedge = ti_latency_init (malloc (ti_latency_size ()), S (10)),
                        .draw = draw,
                        .scale = 1};
    ti_prng_seed (&self.prng, 19);
    return self;
}

static void loop_free (struct loop *self)
{
    free (self->call);
    free (self->hedge);
}

static tied_time_t time_of (int number)
{
    return S (1000) + (uint64_t)number * S (1) / LOOKS_A_SECOND;
}

/* Delay and verdict of the first full window are those of the last, with all that lies between. */
static void check_stands_still (double (*draw) (struct ti_prng *), const char *name)
{
    struct loop loop = loop_new (draw);
    tied_duration_t least = TIED_NEVER, most = 0;
    for (int i = 0; i < LOOKS; i++) {
        look (&loop, time_of (i));
        if (i < 10 * LOOKS_A_SECOND)
            continue;
        CHECK_TRUE (loop.plan.is_worth);
        least = loop.plan.delay_ns < least ? loop.plan.delay_ns : least;
        most = loop.plan.delay_ns > most ? loop.plan.delay_ns : most;
    }
    const double share = (double)loop.hedges / (double)loop.calls;
    print_message ("%s: delay between %.2f and %.2f ms, hedged %.2f %%\n", name,
                   (double)least / 1e6, (double)most / 1e6, share * 100);
    CHECK_DBL ((double)most, <=, (double)least * 1.2);
    CHECK_DBL (share, <=, 0.052);
    CHECK_DBL (share, >, 0);
    loop_free (&loop);
}

static void BE_04_a_plan_stands_still_although_it_shapes_what_is_measured (void **state)
{
    (void)state;
    check_stands_still (exponential, "exp(10ms)");
    check_stands_still (jitter, "exp(5ms), 1 % 15 times");
    check_stands_still (modes, "5 ms, 1 % 200 ms");
}

/* The window is ten seconds long: after that nothing is left of what was before. */
static void check_follows (double (*draw) (struct ti_prng *), const char *name)
{
    struct loop loop = loop_new (draw);
    tied_duration_t before = 0, least = TIED_NEVER, most = 0, highest = 0;
    for (int i = 0; i < LOOKS; i++) {
        const int second = i / LOOKS_A_SECOND;
        if (second == 20 && before == 0) {
            before = loop.plan.delay_ns;
            loop.scale = 2;
        }
        look (&loop, time_of (i));
        highest = second >= 20 && loop.plan.delay_ns > highest ? loop.plan.delay_ns : highest;
        if (second < 31)
            continue;
        CHECK_TRUE (loop.plan.is_worth);
        least = loop.plan.delay_ns < least ? loop.plan.delay_ns : least;
        most = loop.plan.delay_ns > most ? loop.plan.delay_ns : most;
    }
    print_message ("%s: delay %.2f ms, when all takes twice as long %.2f to %.2f, at most %.2f\n",
                   name, (double)before / 1e6, (double)least / 1e6, (double)most / 1e6,
                   (double)highest / 1e6);
    CHECK_DBL ((double)least, >=, (double)before * 1.7);
    CHECK_DBL ((double)highest, <=, (double)before * 2.4);
    CHECK_DBL ((double)most, <=, (double)least * 1.2);
    loop_free (&loop);
}

static void BE_04_a_doubled_latency_doubles_the_delay_within_a_window_and_no_further (void **state)
{
    (void)state;
    check_follows (exponential, "exp(10ms)");
    check_follows (jitter, "exp(5ms), 1 % 15 times");
    check_follows (modes, "5 ms, 1 % 200 ms");
}

/* At first the slow ones are few among those of before and look like a tail. The next look knows
 * better; until then the budget bounds what this costs, which is none of the optimiser's business.
 */
static void BE_08_calls_that_all_become_slow_are_hedged_for_one_look_at_most (void **state)
{
    (void)state;
    struct loop loop = loop_new (nearly_constant);
    for (int i = 0; i < LOOKS; i++) {
        loop.scale = i < LOOKS / 2 ? 1 : 40;
        look (&loop, time_of (i));
    }
    CHECK_U64 (loop.hedges, <=, CALLS_A_LOOK);
    CHECK_FALSE (loop.plan.is_worth);
    loop_free (&loop);
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (BE_04_a_plan_stands_still_although_it_shapes_what_is_measured),
        cmocka_unit_test (BE_04_a_doubled_latency_doubles_the_delay_within_a_window_and_no_further),
        cmocka_unit_test (BE_08_calls_that_all_become_slow_are_hedged_for_one_look_at_most),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
