/* SPDX-License-Identifier: MIT */
/* The budget for extra copies, by claims and against a model that adds up everything anew. */
#include <string.h>

#include "core/budget.h"
#include "base/prng.h"
#include "check.h"

#define TOKEN ((int64_t)TIED_PPM)

static struct tied_policy
settings (uint32_t extra_load_ppm, uint32_t burst_milli, uint32_t debt_milli)
{
    struct tied_policy policy;
    memset (&policy, 0, sizeof policy);
    policy.extra_load_ppm = extra_load_ppm;
    policy.burst_milli = burst_milli;
    policy.debt_milli = debt_milli;
    return policy;
}

static struct ti_budget make (uint32_t extra_load_ppm, uint32_t burst_milli, uint32_t debt_milli)
{
    struct ti_budget budget;
    const struct tied_policy policy = settings (extra_load_ppm, burst_milli, debt_milli);
    ti_budget_init (&budget, &policy);
    ti_budget_check (&budget);
    return budget;
}

static void earn (struct ti_budget *budget, uint64_t calls)
{
    for (uint64_t i = 0; i < calls; i++)
        ti_budget_earn (budget);
    ti_budget_check (budget);
}

/* Hedges until one is refused. */
static uint64_t take_all (struct ti_budget *budget)
{
    uint64_t taken = 0;
    while (ti_budget_take (budget)) {
        taken++;
        ti_budget_check (budget);
    }
    return taken;
}

static void it_starts_empty (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM, 10000, 1000000);
    CHECK_I64 (budget.tokens, ==, 0);
    CHECK_FALSE (ti_budget_take (&budget));
    CHECK_U64 (budget.refused, ==, 1);
    CHECK_U64 (budget.spent, ==, 0);
}

/* One call, extra load 100 %: its hedge is paid for whatever has ended before. */
static void BE_01_one_active_call_gets_the_same_verdict_a_thousand_times (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM, 1000, 0);
    for (int i = 0; i < 1000; i++) {
        ti_budget_earn (&budget);
        CHECK_TRUE (ti_budget_take (&budget));
        CHECK_FALSE (ti_budget_take (&budget));
        ti_budget_check (&budget);
    }
    CHECK_U64 (budget.spent, ==, 1000);
    CHECK_U64 (budget.refused, ==, 1000);
}

/* Six calls fail together, extra load 50 %: three second copies in every order in which sends and
 * failures can follow on each other, since only the sends of first copies count. */
static void BE_01_calls_that_fail_together_get_their_share_in_any_order (void **state)
{
    (void)state;
    struct ti_prng prng;
    ti_prng_seed (&prng, 1);
    for (int round = 0; round < 1000; round++) {
        struct ti_budget budget = make (500000, 10000, 0);
        uint32_t sent = 0;
        uint32_t waiting = 0; /* failed, and no second copy yet */
        uint32_t failed = 0;
        uint32_t second = 0;
        while (sent < 6 || failed < 6) {
            if (sent < 6 && (failed == sent || ti_prng_below_32 (&prng, 2) == 0)) {
                ti_budget_earn (&budget);
                sent++;
            } else {
                failed++;
                waiting++;
            }
            if (waiting > 0 && ti_budget_take (&budget)) {
                waiting--;
                second++;
            }
        }
        second += (uint32_t)take_all (&budget);
        CHECK_U64 (second, ==, 3);
        ti_budget_check (&budget);
    }
}

static void BE_02_twenty_first_copies_at_5_percent_pay_for_one_hedge (void **state)
{
    (void)state;
    struct ti_budget budget = make (50000, 10000, 0);
    earn (&budget, 1000);
    CHECK_U64 (take_all (&budget), ==, 10);
    earn (&budget, 19);
    CHECK_U64 (take_all (&budget), ==, 0);
    earn (&budget, 1);
    CHECK_U64 (take_all (&budget), ==, 1);
    CHECK_I64 (budget.tokens, ==, 0);
}

/* Shares that are no neat part of a token, down to the smallest: n calls earn n x share. */
static void BE_02_the_smallest_share_still_earns (void **state)
{
    (void)state;
    static const uint32_t shares[] = {1, 3, 7, 100, 33333, 999999};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        struct ti_budget budget = make (shares[i], 10000, 0);
        const uint64_t needed = (TIED_PPM + shares[i] - 1) / shares[i];
        earn (&budget, needed - 1);
        CHECK_U64 (take_all (&budget), ==, 0);
        earn (&budget, 1);
        CHECK_U64 (take_all (&budget), ==, 1);
    }
    struct ti_budget budget = make (100, 10000, 0);
    earn (&budget, 10000);
    CHECK_U64 (take_all (&budget), ==, 1);
}

static void BE_02_a_quiet_day_saves_up_one_burst_and_no_more (void **state)
{
    (void)state;
    static const uint32_t bursts[] = {1000, 1500, 10000, 64000};
    for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++) {
        struct ti_budget budget = make (50000, bursts[i], 1000000);
        earn (&budget, 1000000);
        CHECK_U64 (take_all (&budget), ==, bursts[i] / 1000);
    }
}

/* 10 %, and calls that all want a hedge for a while, and then none: a window of n calls, wherever
 * it begins and ends, has at most n / 10 hedges and one burst more. */
static void BE_08_every_window_keeps_to_its_share_and_one_burst (void **state)
{
    (void)state;
    struct ti_prng prng;
    struct ti_budget budget = make (100000, 10000, 1000000);
    int64_t hedges = 0;
    int64_t lowest = 0; /* of hedges less their share, at the begin of any window until now */
    int64_t most = 0;
    uint32_t phase = 0;
    bool is_slow = false;
    ti_prng_seed (&prng, 8);
    for (int64_t calls = 1; calls <= 200000; calls++) {
        if (phase-- == 0) {
            phase = ti_prng_below_32 (&prng, 2000);
            is_slow = !is_slow;
        }
        ti_budget_earn (&budget);
        if (is_slow)
            hedges += ti_budget_take (&budget);
        const int64_t above = hedges * 10 - calls;
        lowest = above < lowest ? above : lowest;
        most = above - lowest > most ? above - lowest : most;
    }
    CHECK_I64 (most, <=, 10 * 10);
    CHECK_I64 (most, >=, 9 * 10);
}

static void a_share_of_nothing_pays_for_nothing (void **state)
{
    (void)state;
    struct ti_budget budget = make (0, 10000, 0);
    earn (&budget, 100000);
    CHECK_FALSE (ti_budget_take (&budget));
    CHECK_FALSE (ti_budget_overdraw (&budget));
    CHECK_FALSE (ti_budget_allows_tie (&budget));
    CHECK_U64 (budget.refused, ==, 3);
    CHECK_U64 (budget.earned, ==, 100000);
}

static void reissues_overdraw_down_to_the_debt_limit (void **state)
{
    (void)state;
    struct ti_budget budget = make (500000, 10000, 3000);
    for (int i = 0; i < 3; i++)
        CHECK_TRUE (ti_budget_overdraw (&budget));
    CHECK_FALSE (ti_budget_overdraw (&budget));
    CHECK_I64 (budget.tokens, ==, -3 * TOKEN);
    CHECK_U64 (budget.spent, ==, 3);
    CHECK_U64 (budget.refused, ==, 1);
    /* Half a token is not enough for one more. */
    earn (&budget, 1);
    CHECK_FALSE (ti_budget_overdraw (&budget));
    earn (&budget, 1);
    CHECK_TRUE (ti_budget_overdraw (&budget));
    ti_budget_check (&budget);
}

static void no_hedge_while_it_is_overdrawn (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM, 10000, 5000);
    for (int i = 0; i < 5; i++)
        CHECK_TRUE (ti_budget_overdraw (&budget));
    earn (&budget, 5);
    CHECK_FALSE (ti_budget_take (&budget));
    earn (&budget, 1);
    CHECK_TRUE (ti_budget_take (&budget));
}

static void ties_cost_their_duplicates (void **state)
{
    (void)state;
    struct ti_budget budget = make (50000, 10000, 1000000);
    for (int i = 0; i < 100; i++)
        CHECK_TRUE (ti_budget_allows_tie (&budget));
    CHECK_I64 (budget.tokens, ==, 0);
    ti_budget_charge (&budget);
    CHECK_I64 (budget.tokens, ==, -TOKEN);
    CHECK_U64 (budget.charged, ==, 1);
    CHECK_U64 (budget.spent, ==, 0);
    ti_budget_check (&budget);
}

/* The bucket may be a burst below nothing, as it may be one above. */
static void no_tie_below_minus_the_burst (void **state)
{
    (void)state;
    struct ti_budget budget = make (50000, 10000, 1000000);
    for (int i = 0; i < 10; i++)
        ti_budget_charge (&budget);
    CHECK_TRUE (ti_budget_allows_tie (&budget));
    ti_budget_charge (&budget);
    CHECK_FALSE (ti_budget_allows_tie (&budget));
    CHECK_U64 (budget.refused, ==, 1);
    CHECK_TRUE (ti_budget_overdraw (&budget));
    earn (&budget, 2 * 20);
    CHECK_TRUE (ti_budget_allows_tie (&budget));
    CHECK_FALSE (ti_budget_take (&budget));
}

/* With a debt limit nearer than the burst, a tie needs room for its duplicate. */
static void no_tie_whose_duplicate_could_not_be_charged (void **state)
{
    (void)state;
    struct ti_budget budget = make (500000, 10000, 2000);
    ti_budget_charge (&budget);
    CHECK_TRUE (ti_budget_allows_tie (&budget));
    ti_budget_charge (&budget);
    CHECK_FALSE (ti_budget_allows_tie (&budget));
    /* One that was on its way is counted, and takes nothing. */
    ti_budget_charge (&budget);
    CHECK_I64 (budget.tokens, ==, -2 * TOKEN);
    CHECK_U64 (budget.charged, ==, 2);
    CHECK_U64 (budget.unpaid, ==, 1);
    ti_budget_check (&budget);
    earn (&budget, 2);
    CHECK_TRUE (ti_budget_allows_tie (&budget));
}

/* Duplicates of ties took all there was: those that relieve go on, to what hedges earned and no
 * further, and others leave them half of the burst. */
static void duplicates_of_ties_do_not_keep_a_relief_from_going (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM / 2, 4000, 1000000);
    earn (&budget, 6);
    CHECK_TRUE (ti_budget_spare (&budget));
    CHECK_FALSE (ti_budget_spare (&budget));
    for (int i = 0; i < 4; i++)
        ti_budget_charge (&budget);
    CHECK_I64 (budget.tokens, ==, -2 * TOKEN);
    CHECK_FALSE (ti_budget_take (&budget));
    CHECK_TRUE (ti_budget_relieve (&budget));
    CHECK_TRUE (ti_budget_relieve (&budget));
    CHECK_FALSE (ti_budget_relieve (&budget));
    CHECK_I64 (budget.tokens, ==, -4 * TOKEN);
    ti_budget_return (&budget);
    CHECK_TRUE (ti_budget_relieve (&budget));
    /* Not below twice the burst, whatever hedges have. */
    for (int i = 0; i < 4; i++)
        ti_budget_charge (&budget);
    earn (&budget, 2);
    CHECK_I64 (budget.tokens, ==, -7 * TOKEN);
    CHECK_TRUE (ti_budget_relieve (&budget));
    ti_budget_charge (&budget);
    earn (&budget, 2);
    CHECK_I64 (budget.tokens, ==, -8 * TOKEN);
    CHECK_FALSE (ti_budget_relieve (&budget));
    ti_budget_check (&budget);
    /* Nor below the debt, where that is less. */
    budget = make (TIED_PPM / 2, 4000, 1000);
    earn (&budget, 4);
    for (int i = 0; i < 3; i++)
        ti_budget_charge (&budget);
    CHECK_I64 (budget.tokens, ==, -TOKEN);
    CHECK_FALSE (ti_budget_relieve (&budget));
    ti_budget_check (&budget);
    /* With a burst of one copy there is no half to be left. */
    budget = make (TIED_PPM, 1000, 1000);
    earn (&budget, 1);
    CHECK_TRUE (ti_budget_spare (&budget));
}

static void a_copy_that_was_not_sent_costs_nothing (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM, 2000, 1000);
    earn (&budget, 2);
    /* What hedges have is reckoned when one asks. */
    CHECK_TRUE (ti_budget_take (&budget));
    ti_budget_return (&budget);
    const struct ti_budget before = budget;
    CHECK_TRUE (ti_budget_take (&budget));
    ti_budget_return (&budget);
    CHECK_MEM (&budget, &before, sizeof budget);
    /* What was earned between does not fit any more. */
    CHECK_TRUE (ti_budget_take (&budget));
    earn (&budget, 1);
    ti_budget_return (&budget);
    CHECK_I64 (budget.tokens, ==, 2 * TOKEN);
    CHECK_U64 (budget.spent, ==, 0);
    ti_budget_check (&budget);
}

static void a_change_keeps_what_is_saved_within_the_new_limits (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM, 10000, 10000);
    earn (&budget, 8);
    struct tied_policy policy = settings (50000, 20000, 10000);
    ti_budget_change (&budget, &policy);
    CHECK_I64 (budget.tokens, ==, 8 * TOKEN);
    ti_budget_check (&budget);
    policy = settings (50000, 3000, 10000);
    ti_budget_change (&budget, &policy);
    CHECK_I64 (budget.tokens, ==, 3 * TOKEN);
    ti_budget_check (&budget);
    CHECK_U64 (take_all (&budget), ==, 3);
    for (int i = 0; i < 10; i++)
        CHECK_TRUE (ti_budget_overdraw (&budget));
    policy = settings (50000, 3000, 4000);
    ti_budget_change (&budget, &policy);
    CHECK_I64 (budget.tokens, ==, -4 * TOKEN);
    CHECK_U64 (budget.spent, ==, 13);
    ti_budget_check (&budget);
    /* The new share from now on. */
    earn (&budget, 20);
    CHECK_I64 (budget.tokens, ==, -3 * TOKEN);
}

static void the_widest_limits_do_not_overflow (void **state)
{
    (void)state;
    struct ti_budget budget = make (TIED_PPM, 1u << 30, 1u << 30);
    earn (&budget, 2000000);
    CHECK_I64 (budget.tokens, ==, INT64_C (1073741824000));
    /* 2^31 thousandths between the two limits. */
    for (uint64_t i = 0; i < 2147483; i++)
        CHECK_TRUE (ti_budget_overdraw (&budget));
    CHECK_FALSE (ti_budget_overdraw (&budget));
    ti_budget_check (&budget);
}

/*
 * Random operations against a model that keeps lists of sums in whole numbers of millionths and
 * no balance; after each: the verdict is the model's, the invariants hold, and within any settings
 * that last, extra copies are paid for by first copies, the debt and the burst at their begin.
 */
struct model {
    int64_t in, out; /* millionths */
    int64_t burst, debt, earning;
};

static int64_t balance (const struct model *model)
{
    return model->in - model->out;
}

/* What is over a limit leaves, what is below is forgiven. */
static void settle (struct model *model)
{
    if (balance (model) > model->burst)
        model->in -= balance (model) - model->burst;
    if (balance (model) < -model->debt)
        model->in += -model->debt - balance (model);
}

static bool model_pays (struct model *model, int64_t down_to)
{
    if (balance (model) < down_to + TOKEN)
        return false;
    model->out += TOKEN;
    return true;
}

static void random_operations_give_what_the_model_gives (void **state)
{
    (void)state;
    static const uint32_t loads[] = {0, 1, 100, 50000, 333333, TIED_PPM};
    static const uint32_t bursts[] = {1000, 1001, 2500, 10000, 1u << 30};
    static const uint32_t debts[] = {0, 999, 1000, 5500, 1000000, 1u << 30};
    struct ti_prng prng;
    const uint64_t runs = check_scale (300);
    for (uint64_t seed = 0; seed < runs; seed++) {
        ti_prng_seed (&prng, seed);
        struct tied_policy policy =
            settings (loads[ti_prng_below_32 (&prng, 6)], bursts[ti_prng_below_32 (&prng, 5)],
                      debts[ti_prng_below_32 (&prng, 6)]);
        struct model model = {0};
        struct ti_budget budget;
        ti_budget_init (&budget, &policy);
        model.burst = (int64_t)policy.burst_milli * 1000;
        model.debt = (int64_t)policy.debt_milli * 1000;
        model.earning = policy.extra_load_ppm;
        uint64_t first = 0; /* copies since the settings were made */
        int64_t extra = 0;  /* likewise, in millionths, those that were paid */
        int64_t saved = 0;  /* at that time */
        uint64_t refused = 0;
        const uint32_t earns = 1 + ti_prng_below_32 (&prng, 60);
        for (int i = 0; i < 3000; i++) {
            const uint32_t what = ti_prng_below_32 (&prng, 7 + earns);
            bool is_paid;
            switch (what) {
            case 0:
                is_paid = model_pays (&model, 0);
                CHECK_U64 (ti_budget_take (&budget), ==, is_paid);
                extra += is_paid ? TOKEN : 0;
                refused += !is_paid;
                break;
            case 1:
                is_paid = model_pays (&model, -model.debt);
                CHECK_U64 (ti_budget_overdraw (&budget), ==, is_paid);
                extra += is_paid ? TOKEN : 0;
                refused += !is_paid;
                break;
            case 2:
                is_paid =
                    balance (&model) >= -model.burst && balance (&model) - TOKEN >= -model.debt;
                CHECK_U64 (ti_budget_allows_tie (&budget), ==, is_paid);
                refused += !is_paid;
                break;
            case 3:
                extra += model_pays (&model, -model.debt) ? TOKEN : 0;
                ti_budget_charge (&budget);
                break;
            case 4:
                if (budget.spent > 0 && extra >= TOKEN) {
                    ti_budget_return (&budget);
                    model.out -= TOKEN;
                    extra -= TOKEN;
                    settle (&model);
                }
                break;
            case 5:
                if (ti_prng_below_32 (&prng, 20) > 0)
                    break;
                policy = settings (loads[ti_prng_below_32 (&prng, 6)],
                                   bursts[ti_prng_below_32 (&prng, 5)],
                                   debts[ti_prng_below_32 (&prng, 6)]);
                ti_budget_change (&budget, &policy);
                model.burst = (int64_t)policy.burst_milli * 1000;
                model.debt = (int64_t)policy.debt_milli * 1000;
                model.earning = policy.extra_load_ppm;
                settle (&model);
                first = 0;
                extra = 0;
                saved = budget.tokens;
                break;
            default:
                ti_budget_earn (&budget);
                model.in += model.earning;
                settle (&model);
                first++;
                break;
            }
            ti_budget_check (&budget);
            CHECK_I64 (budget.tokens, ==, balance (&model));
            CHECK_U64 (budget.refused, ==, refused);
            CHECK_I64 (extra, <=, (int64_t)first * model.earning + model.debt + saved);
        }
    }
}

int main (void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test (it_starts_empty),
        cmocka_unit_test (BE_01_one_active_call_gets_the_same_verdict_a_thousand_times),
        cmocka_unit_test (BE_01_calls_that_fail_together_get_their_share_in_any_order),
        cmocka_unit_test (BE_02_twenty_first_copies_at_5_percent_pay_for_one_hedge),
        cmocka_unit_test (BE_02_the_smallest_share_still_earns),
        cmocka_unit_test (BE_02_a_quiet_day_saves_up_one_burst_and_no_more),
        cmocka_unit_test (BE_08_every_window_keeps_to_its_share_and_one_burst),
        cmocka_unit_test (a_share_of_nothing_pays_for_nothing),
        cmocka_unit_test (reissues_overdraw_down_to_the_debt_limit),
        cmocka_unit_test (no_hedge_while_it_is_overdrawn),
        cmocka_unit_test (ties_cost_their_duplicates),
        cmocka_unit_test (no_tie_below_minus_the_burst),
        cmocka_unit_test (no_tie_whose_duplicate_could_not_be_charged),
        cmocka_unit_test (duplicates_of_ties_do_not_keep_a_relief_from_going),
        cmocka_unit_test (a_copy_that_was_not_sent_costs_nothing),
        cmocka_unit_test (a_change_keeps_what_is_saved_within_the_new_limits),
        cmocka_unit_test (the_widest_limits_do_not_overflow),
        cmocka_unit_test (random_operations_give_what_the_model_gives),
    };
    return cmocka_run_group_tests (tests, NULL, NULL);
}
