/* SPDX-License-Identifier: MIT */
/*
 * The least time t that a hedge can make the target percentile is found by bisection: whether some
 * delay reaches t takes one pass over both curves with two pointers, and who reaches t reaches all
 * that is later. Both curves are steps, so only the floor and the points of X need to be tried as
 * delays: between two points as many calls are pending as at the first of them, and a later hedge
 * is done later. For each of them the probability is the greatest that the budget allows.
 *
 * Shares are parts per million and products of three of them fit into 64 bits, so inequalities are
 * compared by cross multiplication and nothing is rounded but the probability, downward.
 */
#include "core/single_r.h"

#include "base/assert.h"
#include "base/util.h"

#define ONE UINT64_C (1000000)
/* The bisection ends when t is known to one part in so many; buckets are 1 / 32 wide. */
#define PRECISION 1024

/* What is known before the search. */
struct problem {
    const struct ti_curve *call, *hedge;
    struct ti_curve_point floor;        /* the first delay that is tried */
    const struct ti_curve_point *later; /* the others: points of X up to the ceiling */
    uint32_t later_count;
    uint64_t budget;
    uint64_t tail; /* how many may take longer than the percentile */
};

static uint32_t delays (const struct problem *problem)
{
    return 1 + problem->later_count;
}

static struct ti_curve_point delay_at (const struct problem *problem, uint32_t number)
{
    return number == 0 ? problem->floor : problem->later[number - 1];
}

/* Share of Y that is done by `within`, when the points at `*place` and above are known to be later
 * than that; leaves *place so. */
static uint64_t done_within (const struct ti_curve *hedge, tied_duration_t within, uint32_t *place)
{
    while (*place > 0 && hedge->points[*place - 1].at > within)
        --*place;
    return *place == 0 ? 0 : ONE - hedge->points[*place - 1].surviving_ppm;
}

/* Is there a delay with which no more than `tail` take longer than t? */
static bool is_reached (const struct problem *problem, tied_duration_t t)
{
    const uint64_t late = ti_curve_surviving (problem->call, t);
    if (late <= problem->tail)
        return true;
    const uint64_t excess = (late - problem->tail) * ONE;
    const uint64_t gain = late * problem->budget;
    uint32_t place = problem->hedge->count;
    for (uint32_t i = 0; i < delays (problem); i++) {
        const struct ti_curve_point delay = delay_at (problem, i);
        if (delay.at >= t)
            return false;
        const uint64_t done = done_within (problem->hedge, t - delay.at, &place);
        if (done == 0)
            return false;
        /* late x probability x done >= late - tail, with probability = min (1, budget / pending) */
        if (delay.surviving_ppm <= problem->budget)
            return late * done >= excess; /* all are hedged; later delays do no better */
        if (gain * done >= excess * delay.surviving_ppm)
            return true;
    }
    return false;
}

/* The greatest probability with which hedges of so many stay within the budget. */
static uint32_t probability_of (const struct problem *problem, uint64_t pending)
{
    if (pending <= problem->budget)
        return TIED_PPM;
    return (uint32_t)(problem->budget * ONE / pending);
}

/* The delay after which most hedges are done by t; of several, that which needs the fewest. */
static struct ti_curve_point best_delay (const struct problem *problem, tied_duration_t t)
{
    struct ti_curve_point best = delay_at (problem, 0);
    uint64_t most = 0;
    uint32_t place = problem->hedge->count;
    for (uint32_t i = 0; i < delays (problem); i++) {
        const struct ti_curve_point delay = delay_at (problem, i);
        if (delay.at >= t)
            break;
        const uint64_t done = done_within (problem->hedge, t - delay.at, &place) *
                              probability_of (problem, delay.surviving_ppm);
        if (done > 0 && done >= most) {
            most = done;
            best = delay;
        }
    }
    return best;
}

/* Of the delays that reach t, as is_reached () has it, that with the fewest hedges. False: t needs
 * none. */
static bool
cheapest_delay (const struct problem *problem, tied_duration_t t, struct ti_curve_point *out)
{
    const uint64_t late = ti_curve_surviving (problem->call, t);
    uint64_t fewest = UINT64_MAX;
    uint32_t place = problem->hedge->count;
    if (late <= problem->tail)
        return false;
    for (uint32_t i = 0; i < delays (problem); i++) {
        const struct ti_curve_point delay = delay_at (problem, i);
        if (delay.at >= t)
            break;
        const uint64_t done = done_within (problem->hedge, t - delay.at, &place);
        const uint64_t probability = probability_of (problem, delay.surviving_ppm);
        if (late * done * probability < (late - problem->tail) * ONE * ONE ||
            probability * delay.surviving_ppm > fewest)
            continue;
        fewest = probability * delay.surviving_ppm;
        *out = delay;
    }
    return fewest != UINT64_MAX;
}

/* The target percentile with this delay and probability: the first point of X, or of Y after d, at
 * which few enough are left. */
static tied_duration_t
percentile_with (const struct problem *problem, tied_duration_t d, uint64_t probability)
{
    const struct ti_curve *call = problem->call, *hedge = problem->hedge;
    uint64_t late = ONE, done = 0;
    uint32_t i = 0, j = 0;
    while (i < call->count || j < hedge->count) {
        const tied_time_t next_call = i < call->count ? call->points[i].at : TIED_NEVER;
        const tied_time_t next_hedge =
            j < hedge->count ? ti_time_add (d, hedge->points[j].at) : TIED_NEVER;
        const tied_time_t t = ti_min (next_call, next_hedge);
        if (next_call == t)
            late = call->points[i++].surviving_ppm;
        if (next_hedge == t)
            done = ONE - hedge->points[j++].surviving_ppm;
        if (late <= problem->tail ||
            probability * done * late >= (late - problem->tail) * ONE * ONE)
            return t;
    }
    return TIED_NEVER;
}

/* The least t that is reached, to PRECISION; `high` is reached. */
static tied_duration_t least_reached (const struct problem *problem, tied_duration_t high)
{
    tied_duration_t low = 0;
    while (high - low > high / PRECISION + 1) {
        const tied_duration_t middle = low + (high - low) / 2;
        if (is_reached (problem, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static bool is_worth (const struct ti_single_r_options *options,
                      const struct ti_single_r_plan *plan)
{
    if (plan->predicted_ns >= plan->without_ns)
        return false;
    /* Unknown, since too many were cut short by hedges: these must go on to be known to pay. */
    if (plan->without_ns == TIED_NEVER)
        return true;
    const tied_duration_t saving = plan->without_ns - plan->predicted_ns;
    return saving * ONE >= plan->without_ns * options->min_saving_ppm;
}

/* Not more than half of what is saved. */
static tied_duration_t
slack (const struct ti_single_r_options *options, tied_duration_t least, tied_duration_t without)
{
    return ti_min (least / ONE * options->slack_ppm, ti_time_sub (without, least) / 2);
}

static const struct ti_curve *
hedge_or_call (const struct ti_curve *call, const struct ti_curve *hedge, uint64_t min_samples)
{
    return hedge && hedge->samples > 0 && hedge->samples >= min_samples ? hedge : call;
}

static struct problem problem_of (const struct ti_single_r_options *options,
                                  const struct ti_curve *call,
                                  const struct ti_curve *hedge)
{
    struct problem problem = {
        .call = call,
        .hedge = hedge,
        .floor = {options->floor_ns, ti_curve_surviving (call, options->floor_ns)},
        .later = call->points,
        .budget = options->budget_ppm,
        .tail = TIED_PPM - options->target_ppm,
    };
    const struct ti_curve_point *end = call->points + call->count;
    while (problem.later < end && problem.later->at <= options->floor_ns)
        problem.later++;
    while (end > problem.later && end[-1].at > options->ceiling_ns)
        end--;
    problem.later_count = (uint32_t)(end - problem.later);
    return problem;
}

void ti_single_r (const struct ti_single_r_options *options,
                  const struct ti_curve *call,
                  const struct ti_curve *hedge,
                  uint64_t min_hedge_samples,
                  struct ti_single_r_plan *out)
{
    TI_ASSERT (options->target_ppm < TIED_PPM);
    TI_ASSERT (options->budget_ppm <= TIED_PPM);
    TI_ASSERT (options->floor_ns <= options->ceiling_ns);
    TI_ASSERT (options->min_saving_ppm <= TIED_PPM);
    hedge = hedge_or_call (call, hedge, min_hedge_samples);
    *out = (struct ti_single_r_plan){
        .delay_ns = options->floor_ns,
        .without_ns = ti_curve_percentile (call, options->target_ppm),
        .predicted_ns = ti_curve_percentile (call, options->target_ppm),
    };
    if (call->count == 0 || hedge->count == 0 || options->budget_ppm == 0)
        return;
    const struct problem problem = problem_of (options, call, hedge);
    tied_duration_t high = out->without_ns;
    if (high == TIED_NEVER) {
        /* Whoever can reach it at all does so when every hedge is done. */
        high = delay_at (&problem, delays (&problem) - 1).at;
        high = ti_max (high, call->points[call->count - 1].at);
        high = ti_time_add (high, hedge->points[hedge->count - 1].at);
    }
    if (is_reached (&problem, high))
        high = least_reached (&problem, high);
    struct ti_curve_point best = best_delay (&problem, high);
    if (options->slack_ppm)
        (void)cheapest_delay (&problem, ti_time_add (high, slack (options, high, out->without_ns)),
                              &best);
    out->delay_ns = best.at;
    out->probability_ppm = probability_of (&problem, best.surviving_ppm);
    out->hedged_ppm =
        (uint32_t)(((uint64_t)out->probability_ppm * best.surviving_ppm + (ONE - 1)) / ONE);
    out->predicted_ns = percentile_with (&problem, out->delay_ns, out->probability_ppm);
    out->is_worth = is_worth (options, out);
}

/*
 * The mean of min (R, h) less that of min (R, Y, h), R being the rest of a call that is pending at
 * d, and h what is left until the target percentile: the area under P (R > u) P (Y <= u) up to h.
 */
tied_duration_t ti_single_r_benefit (const struct ti_curve *call,
                                     const struct ti_curve *hedge,
                                     tied_duration_t d,
                                     uint32_t target_ppm)
{
    const uint64_t pending = ti_curve_surviving (call, d);
    const tied_duration_t until = ti_curve_percentile (call, target_ppm);
    hedge = hedge_or_call (call, hedge, 0);
    if (call->count == 0 || hedge->count == 0)
        return 0;
    if (until == TIED_NEVER)
        return TIED_NEVER;
    /* If none is pending, the percentile has passed and there is no area. */
    uint64_t area = 0, late = pending, done = 0;
    tied_time_t at = d;
    uint32_t i = 0, j = 0;
    while (i < call->count && call->points[i].at <= d)
        i++;
    while (at < until) {
        const tied_time_t next_hedge =
            j < hedge->count ? ti_time_add (d, hedge->points[j].at) : TIED_NEVER;
        const tied_time_t t = ti_min (call->points[i].at, next_hedge);
        area += (ti_min (t, until) - at) * (late * done / pending);
        at = t;
        if (call->points[i].at == t)
            late = call->points[i++].surviving_ppm;
        if (next_hedge == t)
            done = ONE - hedge->points[j++].surviving_ppm;
    }
    return area / ONE;
}
